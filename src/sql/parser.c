/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's core: moving over tokens, judging words by what follows, and telling what is wrong.
 */
#include "sql/parser_int.h"

tg_code tg_parser_init(tg_parser *parser, tg_str text, tg_arena *arena, tg_error *err)
{
    tg_tokens tokens;
    TG_TRY(tg_lexer_run(text, arena, &tokens, err));
    *parser = (tg_parser){
        .text = text, .arena = arena, .tokens = tokens.items, .count = tokens.count, .err = err};
    return TG_OK;
}

/* ---- moving ---------------------------------------------------------------------------------- */

const tg_token *tg_parse_peek(const tg_parser *parser, size_t ahead)
{
    size_t last = parser->count - 1;
    return &parser->tokens[ahead > last - parser->pos ? last : parser->pos + ahead];
}

tg_token_kind tg_parse_kind(const tg_parser *parser, size_t ahead)
{
    return (tg_token_kind)tg_parse_peek(parser, ahead)->kind;
}

tg_keyword tg_parse_word(const tg_parser *parser, size_t ahead)
{
    const tg_token *token = tg_parse_peek(parser, ahead);
    return token->kind == TG_TOK_WORD ? (tg_keyword)token->keyword : TG_KW_NONE;
}

void tg_parse_advance(tg_parser *parser)
{
    if (parser->pos + 1 < parser->count) {
        parser->pos++;
    }
}

static void remember_wanted(tg_parser *parser, tg_keyword keyword)
{
    if (parser->wanted_pos != parser->pos) {
        parser->wanted_pos = parser->pos;
        parser->wanted_count = 0;
    }
    if (parser->wanted_count < TG_PARSE_WANTED_MAX) {
        parser->wanted[parser->wanted_count++] = keyword;
    }
}

bool tg_parse_at(tg_parser *parser, tg_keyword keyword)
{
    if (tg_parse_word(parser, 0) == keyword) {
        return true;
    }
    remember_wanted(parser, keyword);
    return false;
}

bool tg_parse_accept(tg_parser *parser, tg_keyword keyword)
{
    if (!tg_parse_at(parser, keyword)) {
        return false;
    }
    tg_parse_advance(parser);
    return true;
}

bool tg_parse_accept2(tg_parser *parser, tg_keyword first, tg_keyword second)
{
    if (!tg_parse_at(parser, first) || tg_parse_word(parser, 1) != second) {
        return false;
    }
    tg_parse_advance(parser);
    tg_parse_advance(parser);
    return true;
}

bool tg_parse_accept_token(tg_parser *parser, tg_token_kind kind)
{
    if (tg_parse_kind(parser, 0) != kind) {
        return false;
    }
    tg_parse_advance(parser);
    return true;
}

tg_code tg_parse_expect(tg_parser *parser, tg_keyword keyword)
{
    return tg_parse_accept(parser, keyword) ? TG_OK
                                            : tg_parse_fail(parser, tg_keyword_text(keyword));
}

tg_code tg_parse_expect_token(tg_parser *parser, tg_token_kind kind, const char *what)
{
    return tg_parse_accept_token(parser, kind) ? TG_OK : tg_parse_fail(parser, what);
}

bool tg_parse_at_name(const tg_parser *parser, size_t ahead)
{
    tg_token_kind kind = tg_parse_kind(parser, ahead);
    return kind == TG_TOK_WORD || kind == TG_TOK_QUOTED;
}

size_t tg_parse_offset(const tg_parser *parser)
{
    return tg_parse_peek(parser, 0)->offset;
}

tg_span tg_parse_span_from(const tg_parser *parser, size_t offset)
{
    size_t end = offset;
    if (parser->pos > 0) {
        const tg_token *last = &parser->tokens[parser->pos - 1];
        end = (size_t)last->offset + last->len;
    }
    return (tg_span){(uint32_t)offset, end > offset ? (uint32_t)(end - offset) : 0};
}

tg_str tg_parse_token_text(const tg_parser *parser, const tg_token *token)
{
    return tg_str_sub(parser->text, token->offset, (size_t)token->offset + token->len);
}

tg_str tg_parse_text(const tg_parser *parser, tg_span span)
{
    return tg_str_copy(parser->arena,
                       tg_str_sub(parser->text, span.offset, (size_t)span.offset + span.len));
}

/* ---- judging --------------------------------------------------------------------------------- */

size_t tg_parse_after_paren(const tg_parser *parser, size_t open)
{
    size_t depth = 0;
    for (size_t i = open; i + 1 < parser->count; i++) {
        if (parser->tokens[i].kind == TG_TOK_LEFT_PAREN) {
            depth++;
        } else if (parser->tokens[i].kind == TG_TOK_RIGHT_PAREN && --depth == 0) {
            return i + 1;
        } else if (parser->tokens[i].kind == TG_TOK_SEMICOLON) {
            break;
        }
    }
    return parser->count - 1;
}

bool tg_parse_is_query_start(const tg_parser *parser, size_t ahead)
{
    switch (tg_parse_word(parser, ahead)) {
    case TG_KW_SELECT:
    case TG_KW_FROM:
        return tg_parse_word_is_clause(parser, ahead);
    case TG_KW_WITH:
    case TG_KW_TABLE:
        return tg_parse_at_name(parser, ahead + 1);
    case TG_KW_VALUES:
        switch (tg_parse_kind(parser, ahead + 1)) {
        case TG_TOK_LEFT_PAREN:
        case TG_TOK_WORD:
        case TG_TOK_QUOTED:
        case TG_TOK_STRING:
        case TG_TOK_MINUS:
            return true;
        default:
            return tg_parse_is_number(tg_parse_kind(parser, ahead + 1));
        }
    default:
        return false;
    }
}

/* Does the token at index go on with, or close, a query in parentheses? */
static bool goes_on_with_query(const tg_parser *parser, size_t index)
{
    const tg_token *token = &parser->tokens[index];
    if (token->kind != TG_TOK_WORD) {
        return false;
    }
    switch ((tg_keyword)token->keyword) {
    case TG_KW_UNION:
    case TG_KW_INTERSECT:
    case TG_KW_EXCEPT:
    case TG_KW_MINUS:
    case TG_KW_ORDER:
    case TG_KW_SORT:
    case TG_KW_CLUSTER:
    case TG_KW_DISTRIBUTE:
    case TG_KW_LIMIT:
    case TG_KW_OFFSET:
        return true;
    default:
        return false;
    }
}

bool tg_parse_paren_is_query(const tg_parser *parser, size_t ahead)
{
    size_t levels = 0;
    while (levels <= TG_LIMIT_EXPRESSION_DEPTH &&
           tg_parse_kind(parser, ahead + levels) == TG_TOK_LEFT_PAREN) {
        levels++;
    }
    if (levels == 0 || !tg_parse_is_query_start(parser, ahead + levels)) {
        return false;
    }
    /* The innermost level is a query; each level around it is one too unless something else stands
     * beside the inner one. */
    for (size_t level = levels - 1; level > 0; level--) {
        size_t after = tg_parse_after_paren(parser, parser->pos + ahead + level);
        if (parser->tokens[after].kind != TG_TOK_RIGHT_PAREN &&
            !goes_on_with_query(parser, after)) {
            return false;
        }
    }
    return true;
}

/* Can the token ahead only follow a complete operand? Then the word before it is a name. */
static bool follows_operand(const tg_parser *parser, size_t ahead)
{
    switch (tg_parse_kind(parser, ahead)) {
    case TG_TOK_END:
    case TG_TOK_SEMICOLON:
    case TG_TOK_COMMA:
    case TG_TOK_RIGHT_PAREN:
    case TG_TOK_RIGHT_BRACKET:
    case TG_TOK_DOT:
    case TG_TOK_DOUBLE_COLON:
    case TG_TOK_EQ:
    case TG_TOK_NULL_SAFE_EQ:
    case TG_TOK_NE:
    case TG_TOK_LT:
    case TG_TOK_LE:
    case TG_TOK_GT:
    case TG_TOK_GE:
    case TG_TOK_SLASH:
    case TG_TOK_PERCENT:
    case TG_TOK_CONCAT:
        return true;
    case TG_TOK_WORD:
        return tg_parse_word(parser, ahead) == TG_KW_FROM ||
               tg_parse_word(parser, ahead) == TG_KW_AS;
    default:
        return false;
    }
}

bool tg_parse_word_is_clause(const tg_parser *parser, size_t ahead)
{
    tg_keyword next = tg_parse_word(parser, ahead + 1);
    switch (tg_parse_word(parser, ahead)) {
    case TG_KW_FROM:
        return tg_parse_kind(parser, ahead + 1) != TG_TOK_DOT;
    case TG_KW_SELECT:
    case TG_KW_WHERE:
    case TG_KW_HAVING:
    case TG_KW_QUALIFY:
    case TG_KW_ON:
    case TG_KW_LIMIT:
    case TG_KW_OFFSET:
    case TG_KW_WHEN:
    case TG_KW_THEN:
    case TG_KW_ELSE:
    case TG_KW_AND:
    case TG_KW_OR:
    case TG_KW_BY:
        return !follows_operand(parser, ahead + 1);
    case TG_KW_IS:
    case TG_KW_LIKE:
    case TG_KW_ILIKE:
    case TG_KW_RLIKE:
    case TG_KW_REGEXP:
    case TG_KW_BETWEEN:
    case TG_KW_JOIN:
    case TG_KW_INTO:
    case TG_KW_SET:
        return !follows_operand(parser, ahead + 1) &&
               tg_parse_kind(parser, ahead + 1) != TG_TOK_LEFT_PAREN;
    case TG_KW_ORDER:
    case TG_KW_GROUP:
    case TG_KW_SORT:
    case TG_KW_CLUSTER:
    case TG_KW_DISTRIBUTE:
        return next == TG_KW_BY;
    case TG_KW_WINDOW:
        return tg_parse_at_name(parser, ahead + 1) && tg_parse_word(parser, ahead + 2) == TG_KW_AS;
    case TG_KW_LATERAL:
        return next == TG_KW_VIEW;
    case TG_KW_UNION:
    case TG_KW_EXCEPT:
    case TG_KW_INTERSECT:
    case TG_KW_MINUS:
        return next == TG_KW_ALL || next == TG_KW_DISTINCT || next == TG_KW_BY ||
               tg_parse_is_query_start(parser, ahead + 1) ||
               tg_parse_paren_is_query(parser, ahead + 1);
    default:
        return false;
    }
}

/* ---- failing --------------------------------------------------------------------------------- */

enum { SHOWN_TOKEN_BYTES = 40, SLIP_BYTES_MIN = 3 };

/* "did you mean": a word near one that would fit here, or the word before when it was taken as an
 * alias. */
static void hint_nearest_word(tg_parser *parser)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    bool may_be_slip =
        token->kind == TG_TOK_WORD && token->keyword == TG_KW_NONE && token->len >= SLIP_BYTES_MIN;
    if (may_be_slip && parser->wanted_pos == parser->pos && parser->wanted_count > 0) {
        tg_str candidates[TG_PARSE_WANTED_MAX];
        for (size_t i = 0; i < parser->wanted_count; i++) {
            candidates[i] = tg_str_from(tg_keyword_text(parser->wanted[i]));
        }
        tg_str word = tg_parse_token_text(parser, token);
        tg_str near = tg_str_nearest(word, candidates, parser->wanted_count);
        if (near.len > 0 && !tg_str_ieq(near, word)) {
            (void)tg_error_hint(parser->err, "Did you mean %.*s?", TG_SARG(near));
            return;
        }
    }
    if (parser->alias_end == 0 || parser->alias_end != parser->pos) {
        return;
    }
    static const tg_str clauses[] = {
        {"FROM", 4},      {"WHERE", 5},   {"GROUP", 5},   {"HAVING", 6}, {"ORDER", 5},
        {"LIMIT", 5},     {"UNION", 5},   {"JOIN", 4},    {"LEFT", 4},   {"RIGHT", 5},
        {"INNER", 5},     {"CROSS", 5},   {"QUALIFY", 7}, {"WINDOW", 6}, {"EXCEPT", 6},
        {"INTERSECT", 9}, {"LATERAL", 7}, {"SET", 3},     {"VALUES", 6}, {"SELECT", 6},
    };
    const tg_token *alias = &parser->tokens[parser->pos - 1];
    tg_str word = tg_parse_token_text(parser, alias);
    tg_str near = alias->kind == TG_TOK_WORD
                      ? tg_str_nearest(word, clauses, sizeof(clauses) / sizeof(clauses[0]))
                      : TG_S("");
    if (near.len > 0) {
        (void)tg_error_hint(parser->err, "'%.*s' was taken as an alias. Did you mean %.*s?",
                            TG_SARG(word), TG_SARG(near));
    }
}

tg_code tg_parse_fail_(tg_parser *parser, const char *expected)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    if (token->kind == TG_TOK_ERROR) {
        return tg_lexer_fail(parser->text, *token, parser->err);
    }
    if (token->kind == TG_TOK_END || token->kind == TG_TOK_SEMICOLON) {
        size_t end = tg_parse_span_from(parser, 0).len;
        (void)TG_ERR(parser->err, PARSE_SYNTAX_ERROR, "syntax error at the end of the statement");
        if (expected) {
            (void)tg_error_detail(parser->err, "Expected %s.", expected);
        }
        hint_nearest_word(parser);
        return tg_error_span(parser->err, end > 0 ? end - 1 : token->offset, 1);
    }
    tg_str shown = tg_parse_token_text(parser, token);
    bool is_long = shown.len > SHOWN_TOKEN_BYTES;
    if (is_long) {
        shown.len = tg_utf8_valid_len(tg_str_sub(shown, 0, SHOWN_TOKEN_BYTES));
    }
    (void)TG_ERR(parser->err, PARSE_SYNTAX_ERROR, "syntax error at or near '%.*s%s'",
                 TG_SARG(shown), is_long ? "..." : "");
    if (expected) {
        (void)tg_error_detail(parser->err, "Expected %s.", expected);
    }
    if (token->kind == TG_TOK_PIPE_ARROW) {
        (void)tg_error_hint(parser->err, "Pipe syntax (|>) is not available; write a SELECT.");
    } else {
        hint_nearest_word(parser);
    }
    return tg_error_span(parser->err, token->offset, token->len);
}

tg_code tg_parse_unsupported_(tg_parser *parser, size_t offset, const char *what)
{
    tg_span span = tg_parse_span_from(parser, offset);
    (void)TG_ERR(parser->err, UNSUPPORTED_FEATURE, "%s is not available", what);
    return tg_error_span(parser->err, span.offset, span.len > 0 ? span.len : 1);
}

tg_code tg_parse_fail_precision_(tg_parser *parser, tg_span span, int64_t precision)
{
    (void)TG_ERR(parser->err, DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION,
                 "decimal precision %lld is larger than the maximum of %d", (long long)precision,
                 (int)TG_PARSE_DECIMAL_DIGITS_MAX);
    return tg_error_span(parser->err, span.offset, span.len);
}

tg_code tg_parse_enter(tg_parser *parser)
{
    if (parser->depth >= TG_LIMIT_EXPRESSION_DEPTH) {
        (void)TG_ERR(parser->err, TIDEGATE_LIMIT_EXCEEDED,
                     "SQL is nested deeper than the limit of %d levels",
                     (int)TG_LIMIT_EXPRESSION_DEPTH);
        return tg_error_span(parser->err, tg_parse_offset(parser), 1);
    }
    parser->depth++;
    return TG_OK;
}

void tg_parse_leave(tg_parser *parser)
{
    parser->depth--;
}
