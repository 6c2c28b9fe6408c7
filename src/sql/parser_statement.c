/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: which one begins here, splitting a script, and the entry points of the parser. */
#include "sql/parser_int.h"
#include "sql/sql.h"

bool tg_parse_at_end(const tg_parser *parser)
{
    tg_token_kind kind = tg_parse_kind(parser, 0);
    return kind == TG_TOK_END || kind == TG_TOK_SEMICOLON;
}

tg_code tg_parse_rest(tg_parser *parser, tg_str *out_text)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_at_end(parser)) {
        *out_text = (tg_str){"", 0};
        return TG_OK;
    }
    while (!tg_parse_at_end(parser)) {
        if (tg_parse_kind(parser, 0) == TG_TOK_ERROR) {
            return tg_parse_fail(parser, NULL);
        }
        tg_parse_advance(parser);
    }
    *out_text = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    return TG_OK;
}

tg_code tg_parse_skip_paren(tg_parser *parser)
{
    size_t depth = 0;
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    while (depth > 0 || tg_parse_kind(parser, 0) != TG_TOK_RIGHT_PAREN) {
        tg_token_kind kind = tg_parse_kind(parser, 0);
        if (kind == TG_TOK_ERROR || tg_parse_at_end(parser)) {
            return tg_parse_fail(parser, "')'");
        }
        depth += kind == TG_TOK_LEFT_PAREN;
        depth -= kind == TG_TOK_RIGHT_PAREN;
        tg_parse_advance(parser);
    }
    tg_parse_advance(parser);
    return TG_OK;
}

tg_code tg_parse_query_text(tg_parser *parser, tg_query **out_query, tg_str *out_text)
{
    TG_TRY(tg_parse_query(parser, out_query));
    *out_text = tg_parse_text(parser, (*out_query)->span);
    return TG_OK;
}

tg_code tg_parse_predicate(tg_parser *parser, const char *what, tg_expr **out_expr,
                           tg_str *out_text)
{
    size_t offset = tg_parse_offset(parser);
    bool is_missing =
        tg_parse_at_end(parser) ||
        (tg_parse_word(parser, 0) == TG_KW_BY && tg_parse_word(parser, 1) == TG_KW_NAME) ||
        tg_parse_is_query_start(parser, 0);
    if (is_missing) {
        (void)tg_parse_fail(parser, "a predicate");
        return tg_error_hint(parser->err, "%s needs a predicate; it says which rows are replaced.",
                             what);
    }
    TG_TRY(tg_parse_expr(parser, out_expr));
    *out_text = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    return TG_OK;
}

/* ---- one statement --------------------------------------------------------------------------- */

static tg_code parse_explain(tg_parser *parser, tg_stmt *stmt)
{
    static const tg_keyword LEVELS[] = {TG_KW_EXTENDED, TG_KW_FORMATTED, TG_KW_LOGICAL,
                                        TG_KW_CODEGEN, TG_KW_COST};
    stmt->kind = TG_STMT_EXPLAIN;
    tg_parse_advance(parser);
    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(*LEVELS); i++) {
        if (tg_parse_accept(parser, LEVELS[i])) {
            stmt->object_word = tg_str_from(tg_keyword_text(LEVELS[i]));
        }
    }
    TG_TRY(tg_parse_enter(parser));
    TG_TRY(tg_parse_statement(parser, &stmt->inner));
    tg_parse_leave(parser);
    return TG_OK;
}

static tg_code parse_kind(tg_parser *parser, tg_stmt *stmt)
{
    if (tg_parse_is_query_start(parser, 0) || tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        stmt->kind = TG_STMT_QUERY;
        return tg_parse_query_text(parser, &stmt->query, &stmt->query_text);
    }
    switch (tg_parse_word(parser, 0)) {
    case TG_KW_CREATE:
        tg_parse_advance(parser);
        return tg_parse_create(parser, stmt);
    case TG_KW_APPLY:
        return tg_parse_apply_changes(parser, stmt);
    case TG_KW_INSERT:
        return tg_parse_insert(parser, stmt);
    case TG_KW_EXPLAIN:
        return parse_explain(parser, stmt);
    case TG_KW_SELECT:
    case TG_KW_VALUES:
        tg_parse_advance(parser);
        return tg_parse_fail(parser, "an expression");
    default: {
        bool known;
        TG_TRY(tg_parse_command(parser, stmt, &known));
        if (known) {
            return TG_OK;
        }
        /* for "did you mean" */
        static const tg_keyword STARTS[] = {
            TG_KW_SELECT,  TG_KW_CREATE,   TG_KW_INSERT, TG_KW_DELETE, TG_KW_UPDATE,
            TG_KW_SHOW,    TG_KW_DESCRIBE, TG_KW_DROP,   TG_KW_WITH,   TG_KW_REFRESH,
            TG_KW_EXPLAIN, TG_KW_VALUES,   TG_KW_SET,    TG_KW_USE};
        for (size_t i = 0; i < sizeof(STARTS) / sizeof(*STARTS); i++) {
            (void)tg_parse_at(parser, STARTS[i]);
        }
        return tg_parse_fail(parser, "a statement");
    }
    }
}

/* Fills stmt, also in part when it fails. */
static tg_code parse_into(tg_parser *parser, tg_stmt *stmt)
{
    size_t offset = tg_parse_offset(parser);
    TG_TRY(parse_kind(parser, stmt));
    stmt->span = tg_parse_span_from(parser, offset);
    stmt->text = tg_parse_text(parser, stmt->span);
    return TG_OK;
}

tg_code tg_parse_statement(tg_parser *parser, tg_stmt **out_stmt)
{
    tg_stmt *stmt = TG_NEW(parser->arena, tg_stmt);
    TG_TRY(parse_into(parser, stmt));
    *out_stmt = stmt;
    return TG_OK;
}

/* ---- scripts --------------------------------------------------------------------------------- */

/* Behind the next semicolon outside parentheses of tokens; false at the end. */
static bool skip_statement(tg_parser *parser)
{
    while (tg_parse_kind(parser, 0) != TG_TOK_SEMICOLON) {
        if (tg_parse_kind(parser, 0) == TG_TOK_END) {
            return false;
        }
        tg_parse_advance(parser);
    }
    tg_parse_advance(parser);
    return true;
}

/* Does a statement with an error define a table or view whose name is known? */
static bool names_dataset(const tg_stmt *stmt)
{
    bool is_dataset = stmt->kind == TG_STMT_CREATE_STREAMING_TABLE ||
                      stmt->kind == TG_STMT_CREATE_MATERIALIZED_VIEW ||
                      stmt->kind == TG_STMT_CREATE_VIEW;
    return is_dataset && stmt->name.count > 0;
}

void tg_sql_parse_file(tg_str text, const char *file, tg_arena *arena, tg_stmt_list *out_stmts,
                       tg_diags *diags)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_parser parser;
    TG_VEC(tg_stmt *) stmts = {0}, broken = {0};
    *out_stmts = (tg_stmt_list){.has_unknown = true};
    if (tg_parser_init(&parser, text, arena, &err) != TG_OK) {
        tg_error_locate(&err, file, text);
        tg_diags_add(diags, &err);
        return;
    }
    out_stmts->has_unknown = false;
    while (tg_parse_kind(&parser, 0) != TG_TOK_END) {
        if (tg_parse_accept_token(&parser, TG_TOK_SEMICOLON)) {
            continue;
        }
        tg_stmt *stmt = TG_NEW(arena, tg_stmt);
        parser.depth = 0;
        tg_code code = parse_into(&parser, stmt);
        if (code == TG_OK && !tg_parse_at_end(&parser)) {
            code = tg_parse_fail(&parser, "';' or the end of the statement");
        }
        if (code == TG_OK) {
            TG_VEC_PUSH(arena, &stmts, stmt);
        } else {
            tg_error_locate(&err, file, text);
            tg_diags_add(diags, &err);
            tg_error_clear(&err);
            if (names_dataset(stmt)) {
                TG_VEC_PUSH(arena, &broken, stmt);
            }
            out_stmts->has_unknown = out_stmts->has_unknown ||
                                     !(names_dataset(stmt) || stmt->kind == TG_STMT_CREATE_FLOW);
        }
        if (!skip_statement(&parser)) {
            break;
        }
    }
    out_stmts->items = stmts.items;
    out_stmts->count = stmts.count;
    out_stmts->broken = broken.items;
    out_stmts->broken_count = broken.count;
}

void tg_sql_split(tg_str text, tg_arena *arena, tg_span **out_spans, size_t *out_count)
{
    TG_VEC(tg_span) spans = {0};
    tg_tokens tokens;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_lexer_run(text, arena, &tokens, &err) != TG_OK) {
        /* too large or not UTF-8: one piece, whose parsing tells what is wrong */
        TG_VEC_PUSH(arena, &spans,
                    ((tg_span){0, (uint32_t)(text.len > UINT32_MAX ? UINT32_MAX : text.len)}));
        *out_spans = spans.items;
        *out_count = spans.count;
        return;
    }
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < tokens.count; i++) {
        const tg_token *token = &tokens.items[i];
        bool ends = token->kind == TG_TOK_SEMICOLON || token->kind == TG_TOK_END;
        if (!ends && first == SIZE_MAX) {
            first = i;
        }
        if (ends && first != SIZE_MAX) {
            const tg_token *last = &tokens.items[i - 1];
            uint32_t from = tokens.items[first].offset;
            TG_VEC_PUSH(arena, &spans, ((tg_span){from, last->offset + last->len - from}));
            first = SIZE_MAX;
        }
    }
    *out_spans = spans.items;
    *out_count = spans.count;
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* The whole text must have been read. */
static tg_code finish(tg_parser *parser, const char *expected)
{
    while (tg_parse_kind(parser, 0) == TG_TOK_SEMICOLON) {
        tg_parse_advance(parser);
    }
    return tg_parse_kind(parser, 0) == TG_TOK_END ? TG_OK : tg_parse_fail(parser, expected);
}

tg_code tg_sql_parse_statement(tg_str text, tg_arena *arena, tg_stmt **out_stmt, tg_error *err)
{
    tg_parser parser;
    tg_stmt *stmt;
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    TG_TRY(tg_parse_statement(&parser, &stmt));
    TG_TRY(finish(&parser, "the end of the statement"));
    *out_stmt = stmt;
    return TG_OK;
}

tg_code tg_sql_parse_query(tg_str text, tg_arena *arena, tg_query **out_query, tg_error *err)
{
    tg_parser parser;
    tg_query *query;
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    TG_TRY(tg_parse_query(&parser, &query));
    TG_TRY(finish(&parser, "the end of the query"));
    *out_query = query;
    return TG_OK;
}

tg_code tg_sql_parse_expression(tg_str text, tg_arena *arena, tg_expr **out_expr, tg_error *err)
{
    tg_parser parser;
    tg_expr *expr;
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    TG_TRY(tg_parse_expr(&parser, &expr));
    if (tg_parse_kind(&parser, 0) != TG_TOK_END) {
        return tg_parse_fail(&parser, "the end of the expression");
    }
    *out_expr = expr;
    return TG_OK;
}

tg_code tg_sql_parse_type(tg_str text, tg_arena *arena, const tg_type **out_type, tg_error *err)
{
    tg_parser parser;
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    TG_TRY(tg_parse_type(&parser, out_type));
    return tg_parse_kind(&parser, 0) == TG_TOK_END ? TG_OK
                                                   : tg_parse_fail(&parser, "the end of the type");
}

tg_code tg_sql_parse_name(tg_str text, tg_arena *arena, tg_name *out_name, tg_error *err)
{
    tg_parser parser;
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    TG_TRY(tg_parse_name(&parser, "a name", out_name));
    return tg_parse_kind(&parser, 0) == TG_TOK_END ? TG_OK
                                                   : tg_parse_fail(&parser, "the end of the name");
}

tg_code tg_sql_parse_columns(tg_str text, tg_arena *arena, tg_schema *out_schema, tg_error *err)
{
    tg_parser parser;
    TG_VEC(tg_field) fields = {0};
    TG_TRY(tg_parser_init(&parser, text, arena, err));
    do {
        tg_field field;
        TG_TRY(tg_parse_field(&parser, /* colon_allowed= */ true, &field));
        TG_VEC_PUSH(arena, &fields, field);
    } while (tg_parse_accept_token(&parser, TG_TOK_COMMA));
    if (tg_parse_kind(&parser, 0) != TG_TOK_END) {
        return tg_parse_fail(&parser, "',' or the end of the columns");
    }
    *out_schema = (tg_schema){.fields = fields.items, .count = fields.count};
    return TG_OK;
}
