/* SPDX-License-Identifier: Apache-2.0 */
/* AUTO CDC's clauses: cut apart at the words that begin one, then each judged by itself. */
#include "pipeline/cdc.h"

#include "sql/sql.h"
#include "sql/token.h"

typedef enum content { CONTENT_NONE, CONTENT_EXPRESSION, CONTENT_LIST, CONTENT_STORAGE } content;

enum { WORDS_MAX = 4 };
static const struct {
    const char *words[WORDS_MAX];
    content content;
    bool may_be_empty; /* IGNORE NULL UPDATES [ON list] */
} clauses[] = {
    {{"IGNORE", "NULL", "UPDATES", "ON"}, CONTENT_LIST, false},
    {{"IGNORE", "NULL", "UPDATES", NULL}, CONTENT_NONE, true},
    {{"APPLY", "AS", "DELETE", "WHEN"}, CONTENT_EXPRESSION, false},
    {{"APPLY", "AS", "TRUNCATE", "WHEN"}, CONTENT_EXPRESSION, false},
    {{"SYSTEM", "SEQUENCE", "BY", NULL}, CONTENT_EXPRESSION, false},
    {{"SEQUENCE", "BY", NULL, NULL}, CONTENT_EXPRESSION, false},
    {{"COLUMNS", "TO", "UPDATE", NULL}, CONTENT_EXPRESSION, false},
    {{"COLUMNS", NULL, NULL, NULL}, CONTENT_LIST, false},
    {{"STORED", "AS", NULL, NULL}, CONTENT_STORAGE, false},
    {{"TRACK", "HISTORY", "ON", NULL}, CONTENT_LIST, false},
    {{"WHERE", NULL, NULL, NULL}, CONTENT_EXPRESSION, false},
};
enum {
    CLAUSE_TRUNCATE = 3,
    CLAUSE_SEQUENCE = 5,
    CLAUSE_HISTORY = 9,
    CLAUSE_COUNT = sizeof(clauses) / sizeof(*clauses)
};

typedef struct scan {
    tg_str text;
    const tg_token *tokens;
    size_t count; /* without END */
    bool seen[CLAUSE_COUNT];
    size_t places[CLAUSE_COUNT]; /* tokens */
    bool is_scd2;
    tg_arena *arena;
} scan;

static tg_str token_text(const scan *s, size_t at)
{
    return at < s->count
               ? tg_str_sub(s->text, s->tokens[at].offset, s->tokens[at].offset + s->tokens[at].len)
               : TG_S("");
}

static bool is_word(const scan *s, size_t at, const char *word)
{
    return tg_str_ieq(token_text(s, at), tg_str_from(word));
}

static tg_code fail_at(const scan *s, size_t at, const char *expected, tg_error *err)
{
    tg_str near = token_text(s, at);
    TG_ERR(err, PARSE_SYNTAX_ERROR, "syntax error at or near %s%.*s%s",
           near.len ? "'" : "the end of the flow", TG_SARG(near), near.len ? "'" : "");
    (void)tg_error_detail(err, "Expected %s.", expected);
    return at < s->count ? tg_error_span(err, s->tokens[at].offset, s->tokens[at].len)
                         : tg_error_span(err, s->text.len ? s->text.len - 1 : 0, 1);
}

/* The clause that begins at a token, and the first token behind its words; CLAUSE_COUNT: none. */
static size_t clause_at(const scan *s, size_t at, size_t *out_next)
{
    for (size_t i = 0; i < CLAUSE_COUNT; i++) {
        size_t words = 0;
        while (words < WORDS_MAX && clauses[i].words[words] &&
               is_word(s, at + words, clauses[i].words[words])) {
            words++;
        }
        if (words == WORDS_MAX || !clauses[i].words[words]) {
            *out_next = at + words;
            return i;
        }
    }
    return CLAUSE_COUNT;
}

/* Up to the next clause outside of parentheses. */
static size_t clause_end(const scan *s, size_t from)
{
    int depth = 0;
    size_t ignored;
    for (size_t i = from; i < s->count; i++) {
        depth += is_word(s, i, "(") - is_word(s, i, ")");
        if (depth == 0 && i > from && clause_at(s, i, &ignored) < CLAUSE_COUNT) {
            return i;
        }
    }
    return s->count;
}

/* ---- contents -------------------------------------------------------------------------------- */

static tg_code check_expression(const scan *s, size_t from, size_t end, tg_error *err)
{
    size_t start = s->tokens[from].offset;
    const tg_token *last = &s->tokens[end - 1];
    tg_expr *expr;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    if (tg_sql_parse_expression(tg_str_sub(s->text, start, last->offset + last->len), s->arena,
                                &expr, &local) == TG_OK) {
        return TG_OK;
    }
    if (local.has_span) {
        (void)tg_error_span(&local, start + local.span_offset, local.span_len);
    }
    return tg_error_pass(&local, err);
}

/* a, b or (a, b) */
static tg_code check_names(const scan *s, size_t from, size_t end, tg_error *err)
{
    bool has_parentheses = is_word(s, from, "(");
    size_t at = from + has_parentheses;
    for (;; at += 2) {
        if (at >= end ||
            (s->tokens[at].kind != TG_TOK_WORD && s->tokens[at].kind != TG_TOK_QUOTED)) {
            return fail_at(s, at, "a column name", err);
        }
        if (at + 1 >= end || !is_word(s, at + 1, ",")) {
            break;
        }
    }
    at++;
    if (has_parentheses && !(at < end && is_word(s, at, ")"))) {
        return fail_at(s, at, "',' or ')'", err);
    }
    at += has_parentheses;
    return at == end ? TG_OK : fail_at(s, at, "the next clause", err);
}

static tg_code check_list(const scan *s, size_t from, size_t end, tg_error *err)
{
    if (!is_word(s, from, "*")) {
        return check_names(s, from, end, err);
    }
    if (from + 2 >= end || !is_word(s, from + 1, "EXCEPT") || !is_word(s, from + 2, "(")) {
        return fail_at(s, from + 1, "EXCEPT (columns)", err);
    }
    return check_names(s, from + 2, end, err);
}

static tg_code check_storage(scan *s, size_t from, size_t end, tg_error *err)
{
    bool is_bitemporal = end - from == 1 && is_word(s, from, "BITEMPORAL");
    bool is_scd = end - from == 3 && is_word(s, from, "SCD") && is_word(s, from + 1, "TYPE");
    s->is_scd2 = is_bitemporal || (is_scd && is_word(s, from + 2, "2"));
    if (s->is_scd2 || (is_scd && is_word(s, from + 2, "1"))) {
        return TG_OK;
    }
    size_t at = from;
    if (is_word(s, from, "SCD")) {
        at = is_word(s, from + 1, "TYPE") ? from + 2 : from + 1;
        at += is_word(s, at, "1") || is_word(s, at, "2");
    }
    return fail_at(s, at, "SCD TYPE 1, SCD TYPE 2 or BITEMPORAL", err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tg_code check_clause(scan *s, size_t *at, tg_error *err)
{
    size_t from;
    size_t clause = clause_at(s, *at, &from);
    if (clause == CLAUSE_COUNT) {
        return fail_at(s, *at,
                       "SEQUENCE BY, APPLY AS DELETE WHEN, APPLY AS TRUNCATE WHEN, IGNORE NULL "
                       "UPDATES, COLUMNS, STORED AS or TRACK HISTORY ON",
                       err);
    }
    if (s->seen[clause]) {
        TG_ERR(err, DUPLICATE_CLAUSES, "the clause %s is given twice",
               tg_str_cstr(s->arena, token_text(s, *at)));
        (void)tg_error_hint(err, "Remove one of them.");
        return tg_error_span(err, s->tokens[*at].offset, s->tokens[*at].len);
    }
    s->seen[clause] = true;
    s->places[clause] = *at;
    if (clauses[clause].may_be_empty) {
        *at = from;
        return TG_OK;
    }
    size_t end = clause_end(s, from);
    *at = end;
    if (from >= s->count) {
        return fail_at(s, from, "the rest of the clause", err);
    }
    switch (clauses[clause].content) {
    case CONTENT_EXPRESSION:
        return check_expression(s, from, end, err);
    case CONTENT_LIST:
        return check_list(s, from, end, err);
    case CONTENT_STORAGE:
        return check_storage(s, from, end, err);
    case CONTENT_NONE:
        break;
    }
    return TG_OK;
}

static tg_code check_together(const scan *s, const tg_flow_spec *flow, tg_error *err)
{
    if (flow->kind == TG_FLOW_AUTO_CDC && !s->seen[CLAUSE_SEQUENCE]) {
        TG_ERR(err, AUTOCDC_MISSING_SEQUENCE_BY, "an AUTO CDC flow needs SEQUENCE BY");
        return tg_error_hint(err, "Name the column that orders the changes of a key.");
    }
    if (s->seen[CLAUSE_HISTORY] && !s->is_scd2) {
        return fail_at(s, s->places[CLAUSE_HISTORY], "STORED AS SCD TYPE 2 with TRACK HISTORY",
                       err);
    }
    if (s->seen[CLAUSE_TRUNCATE] && s->is_scd2) {
        return fail_at(s, s->places[CLAUSE_TRUNCATE], "STORED AS SCD TYPE 1 with APPLY AS TRUNCATE",
                       err);
    }
    return TG_OK;
}

tg_code tg_cdc_check(const tg_flow_spec *flow, tg_arena *arena, tg_error *err)
{
    tg_tokens tokens;
    TG_TRY(tg_lexer_run(flow->cdc_text, arena, &tokens, err));
    scan s = {.text = flow->cdc_text,
              .tokens = tokens.items,
              .count = tokens.count ? tokens.count - 1 : 0,
              .arena = arena};
    for (size_t at = 0; at < s.count;) {
        if (tokens.items[at].kind == TG_TOK_ERROR) {
            return tg_lexer_fail(s.text, tokens.items[at], err);
        }
        TG_TRY(check_clause(&s, &at, err));
    }
    return check_together(&s, flow, err);
}
