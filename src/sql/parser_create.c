/* SPDX-License-Identifier: Apache-2.0 */
/* CREATE: datasets of pipelines, tables, views, schemas; their columns and constraints. */
#include "sql/parser_int.h"

/* ---- constraints ----------------------------------------------------------------------------- */

static tg_code parse_expectation(tg_parser *parser, tg_constraint *out)
{
    out->kind = TG_CONSTRAINT_EXPECT;
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    size_t offset = tg_parse_offset(parser);
    TG_TRY(tg_parse_expr(parser, &out->expect));
    out->expect_text = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    if (!tg_parse_accept2(parser, TG_KW_ON, TG_KW_VIOLATION)) {
        return TG_OK;
    }
    if (tg_parse_accept2(parser, TG_KW_DROP, TG_KW_ROW)) {
        out->on_violation = TG_VIOLATION_DROP;
        return TG_OK;
    }
    if (tg_parse_accept2(parser, TG_KW_FAIL, TG_KW_UPDATE)) {
        out->on_violation = TG_VIOLATION_FAIL;
        return TG_OK;
    }
    (void)tg_parse_at(parser, TG_KW_DROP);
    (void)tg_parse_at(parser, TG_KW_FAIL);
    return tg_parse_fail(parser, "DROP ROW or FAIL UPDATE");
}

/* Keys and checks are informational here: their text is kept, up to the comma or parenthesis that
 * ends them. */
static tg_code skip_constraint(tg_parser *parser)
{
    while (!tg_parse_at_end(parser) && tg_parse_kind(parser, 0) != TG_TOK_COMMA &&
           tg_parse_kind(parser, 0) != TG_TOK_RIGHT_PAREN) {
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            TG_TRY(tg_parse_skip_paren(parser));
        } else if (tg_parse_kind(parser, 0) == TG_TOK_ERROR) {
            return tg_parse_fail(parser, NULL);
        } else {
            tg_parse_advance(parser);
        }
    }
    return TG_OK;
}

/* [CONSTRAINT name] EXPECT | PRIMARY KEY | FOREIGN KEY | CHECK ... */
static tg_code parse_constraint(tg_parser *parser, tg_constraint *out)
{
    size_t offset = tg_parse_offset(parser);
    *out = (tg_constraint){0};
    if (tg_parse_accept(parser, TG_KW_CONSTRAINT)) {
        TG_TRY(tg_parse_ident(parser, "the name of the constraint", &out->name));
    }
    if (tg_parse_accept(parser, TG_KW_EXPECT)) {
        TG_TRY(parse_expectation(parser, out));
    } else if (tg_parse_accept2(parser, TG_KW_PRIMARY, TG_KW_KEY)) {
        out->kind = TG_CONSTRAINT_PRIMARY_KEY;
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            TG_TRY(tg_parse_ident_list(parser, "a column name", &out->columns, &out->column_count));
        }
        TG_TRY(skip_constraint(parser));
    } else if (tg_parse_accept2(parser, TG_KW_FOREIGN, TG_KW_KEY)) {
        out->kind = TG_CONSTRAINT_FOREIGN_KEY;
        TG_TRY(tg_parse_ident_list(parser, "a column name", &out->columns, &out->column_count));
        TG_TRY(skip_constraint(parser));
    } else if (tg_parse_accept(parser, TG_KW_CHECK)) {
        out->kind = TG_CONSTRAINT_CHECK;
        TG_TRY(skip_constraint(parser));
    } else {
        return tg_parse_fail(parser, "EXPECT, PRIMARY KEY, FOREIGN KEY or CHECK");
    }
    out->span = tg_parse_span_from(parser, offset);
    out->text = tg_parse_text(parser, out->span);
    return TG_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef TG_VEC(tg_constraint) constraint_list;

/* Behind GENERATED, which stands at offset. */
static tg_code parse_generated(tg_parser *parser, size_t offset, tg_column_def *column)
{
    if (!tg_parse_accept(parser, TG_KW_ALWAYS)) {
        TG_TRY(tg_parse_expect(parser, TG_KW_BY));
        TG_TRY(tg_parse_expect(parser, TG_KW_DEFAULT));
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_AS));
    if (tg_parse_accept(parser, TG_KW_IDENTITY)) {
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            TG_TRY(skip_constraint(parser));
        }
        column->identity = tg_parse_text(parser, tg_parse_span_from(parser, offset));
        return TG_OK;
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_TRY(tg_parse_expr(parser, &column->generated));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}

/* One property of a column; *out_found false when none begins here. */
static tg_code parse_column_property(tg_parser *parser, tg_column_def *column,
                                     constraint_list *constraints, bool *out_found)
{
    size_t offset = tg_parse_offset(parser);
    *out_found = true;
    if (tg_parse_accept2(parser, TG_KW_NOT, TG_KW_NULL)) {
        column->not_null = true;
        return TG_OK;
    }
    if (tg_parse_accept(parser, TG_KW_COMMENT)) {
        return tg_parse_string(parser, "a comment", &column->comment);
    }
    if (tg_parse_accept(parser, TG_KW_DEFAULT)) {
        return tg_parse_expr(parser, &column->default_value);
    }
    if (tg_parse_accept(parser, TG_KW_GENERATED)) {
        return parse_generated(parser, offset, column);
    }
    if (tg_parse_accept(parser, TG_KW_MASK)) {
        TG_TRY(skip_constraint(parser));
        column->mask = tg_parse_text(parser, tg_parse_span_from(parser, offset));
        return TG_OK;
    }
    tg_keyword word = tg_parse_word(parser, 0);
    if (word == TG_KW_CONSTRAINT ||
        (word == TG_KW_PRIMARY && tg_parse_word(parser, 1) == TG_KW_KEY)) {
        tg_constraint constraint;
        TG_TRY(parse_constraint(parser, &constraint));
        TG_VEC_PUSH(parser->arena, constraints, constraint);
        return TG_OK;
    }
    *out_found = false;
    return TG_OK;
}

static bool at_column_end(const tg_parser *parser)
{
    tg_token_kind kind = tg_parse_kind(parser, 0);
    return kind == TG_TOK_COMMA || kind == TG_TOK_RIGHT_PAREN;
}

static tg_code parse_column(tg_parser *parser, tg_column_def *out, constraint_list *constraints)
{
    size_t offset = tg_parse_offset(parser);
    *out = (tg_column_def){0};
    TG_TRY(tg_parse_ident(parser, "a column name", &out->name));
    bool found;
    TG_TRY(parse_column_property(parser, out, constraints, &found));
    if (!found && !at_column_end(parser)) {
        TG_TRY(tg_parse_type(parser, &out->type));
        found = true;
    }
    while (found && !at_column_end(parser)) {
        TG_TRY(parse_column_property(parser, out, constraints, &found));
    }
    out->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

/* ( column definitions and constraints ) */
static tg_code parse_column_defs(tg_parser *parser, tg_stmt *stmt)
{
    TG_VEC(tg_column_def) columns = {0};
    constraint_list constraints = {0};
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    do {
        tg_keyword word = tg_parse_word(parser, 0), next = tg_parse_word(parser, 1);
        bool is_constraint =
            (word == TG_KW_CONSTRAINT && tg_parse_at_name(parser, 1)) ||
            ((word == TG_KW_PRIMARY || word == TG_KW_FOREIGN) && next == TG_KW_KEY);
        if (is_constraint) {
            tg_constraint constraint;
            TG_TRY(parse_constraint(parser, &constraint));
            TG_VEC_PUSH(parser->arena, &constraints, constraint);
        } else {
            tg_column_def column;
            TG_TRY(parse_column(parser, &column, &constraints));
            TG_VEC_PUSH(parser->arena, &columns, column);
        }
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    stmt->columns = columns.items;
    stmt->column_count = columns.count;
    stmt->constraints = constraints.items;
    stmt->constraint_count = constraints.count;
    return TG_OK;
}

/* ---- CREATE ---------------------------------------------------------------------------------- */

static tg_code parse_header(tg_parser *parser, tg_stmt *stmt, const char *what)
{
    if (tg_parse_word(parser, 0) == TG_KW_IF && tg_parse_word(parser, 1) == TG_KW_NOT &&
        tg_parse_word(parser, 2) == TG_KW_EXISTS) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        stmt->if_not_exists = true;
    }
    TG_TRY(tg_parse_name(parser, what, &stmt->name));
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN && !tg_parse_paren_is_query(parser, 0)) {
        TG_TRY(parse_column_defs(parser, stmt));
    }
    return tg_parse_clauses(parser, stmt);
}

static tg_flow_spec *query_flow(tg_parser *parser, tg_flow_kind kind, tg_query *query, tg_str text)
{
    tg_flow_spec *flow = TG_NEW(parser->arena, tg_flow_spec);
    *flow = (tg_flow_spec){.kind = kind, .span = query->span, .query = query, .query_text = text};
    return flow;
}

static tg_code parse_streaming_table(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_STREAMING_TABLE;
    if (stmt->or_replace) {
        (void)TG_ERR(parser->err, STREAMING_TABLE_CREATE_OR_REPLACE,
                     "CREATE OR REPLACE STREAMING TABLE is not allowed");
        (void)tg_error_hint(parser->err, "Write CREATE OR REFRESH STREAMING TABLE.");
        return tg_error_span(parser->err, tg_parse_offset(parser), 1);
    }
    TG_TRY(parse_header(parser, stmt, "the name of the streaming table"));
    if (tg_parse_accept(parser, TG_KW_FLOW)) {
        return tg_parse_inline_flow(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_AS)) {
        tg_query *query;
        tg_str text;
        TG_TRY(tg_parse_query_text(parser, &query, &text));
        stmt->flow = query_flow(parser, TG_FLOW_APPEND, query, text);
        return TG_OK;
    }
    return tg_parse_at_end(parser)
               ? TG_OK
               : tg_parse_fail(parser, "a clause, AS, FLOW or the end of the statement");
}

static tg_code parse_materialized_view(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_MATERIALIZED_VIEW;
    TG_TRY(parse_header(parser, stmt, "the name of the materialized view"));
    TG_TRY(tg_parse_expect(parser, TG_KW_AS));
    tg_query *query;
    tg_str text;
    TG_TRY(tg_parse_query_text(parser, &query, &text));
    stmt->flow = query_flow(parser, TG_FLOW_COMPLETE, query, text);
    return TG_OK;
}

static tg_code parse_view(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_VIEW;
    TG_TRY(parse_header(parser, stmt, "the name of the view"));
    TG_TRY(tg_parse_expect(parser, TG_KW_AS));
    return tg_parse_query_text(parser, &stmt->query, &stmt->query_text);
}

static tg_code parse_table(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_TABLE;
    TG_TRY(parse_header(parser, stmt, "the name of the table"));
    size_t offset = tg_parse_offset(parser);
    (void)(tg_parse_accept(parser, TG_KW_SHALLOW) || tg_parse_accept(parser, TG_KW_DEEP));
    if (tg_parse_accept(parser, TG_KW_CLONE)) {
        (void)tg_parse_unsupported(parser, offset, "CLONE");
        return tg_error_hint(parser->err, "Copy the rows: CREATE TABLE ... AS SELECT * FROM ...");
    }
    if (tg_parse_accept(parser, TG_KW_AS) || tg_parse_is_query_start(parser, 0)) {
        return tg_parse_query_text(parser, &stmt->query, &stmt->query_text);
    }
    return TG_OK;
}

static tg_code parse_schema(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_SCHEMA;
    return parse_header(parser, stmt, "the name of the schema");
}

/* CREATE with words that tidegate does not run: kept as text. */
static tg_code parse_other(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_OTHER;
    stmt->object_word = TG_S("CREATE");
    return tg_parse_rest(parser, &stmt->rest);
}

/* CREATE [TEMPORARY] LIVE TABLE|VIEW: the older spelling of materialized and temporary views. */
static tg_code parse_live(tg_parser *parser, tg_stmt *stmt)
{
    tg_parse_advance(parser);
    if (tg_parse_accept(parser, TG_KW_VIEW)) {
        stmt->is_temporary = true;
        return parse_view(parser, stmt);
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_TABLE));
    return parse_materialized_view(parser, stmt);
}

static void parse_modifiers(tg_parser *parser, tg_stmt *stmt)
{
    if (tg_parse_accept2(parser, TG_KW_OR, TG_KW_REFRESH)) {
        stmt->or_refresh = true;
    } else if (tg_parse_accept2(parser, TG_KW_OR, TG_KW_REPLACE)) {
        stmt->or_replace = true;
    }
    if (tg_parse_accept(parser, TG_KW_PRIVATE)) {
        stmt->is_private = true;
    } else if (tg_parse_accept(parser, TG_KW_TEMPORARY) || tg_parse_accept(parser, TG_KW_TEMP)) {
        stmt->is_temporary = true;
    }
}

tg_code tg_parse_create(tg_parser *parser, tg_stmt *stmt)
{
    parse_modifiers(parser, stmt);
    if (tg_parse_accept2(parser, TG_KW_STREAMING, TG_KW_TABLE)) {
        return parse_streaming_table(parser, stmt);
    }
    if (tg_parse_word(parser, 0) == TG_KW_STREAMING && tg_parse_word(parser, 1) == TG_KW_LIVE) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        TG_TRY(tg_parse_expect(parser, TG_KW_TABLE));
        return parse_streaming_table(parser, stmt);
    }
    if (tg_parse_accept2(parser, TG_KW_MATERIALIZED, TG_KW_VIEW)) {
        return parse_materialized_view(parser, stmt);
    }
    if (tg_parse_at(parser, TG_KW_LIVE)) {
        return parse_live(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_VIEW)) {
        return parse_view(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_TABLE)) {
        return parse_table(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_FLOW)) {
        return tg_parse_create_flow(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_SCHEMA) || tg_parse_accept(parser, TG_KW_DATABASE)) {
        return parse_schema(parser, stmt);
    }
    if (tg_parse_word(parser, 0) == TG_KW_FUNCTION || tg_parse_word(parser, 0) == TG_KW_CATALOG ||
        tg_parse_word(parser, 0) == TG_KW_EXTERNAL) {
        return parse_other(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_STREAMING)) { /* the second word is at fault */
        return tg_parse_expect(parser, TG_KW_TABLE);
    }
    if (tg_parse_accept(parser, TG_KW_MATERIALIZED)) {
        return tg_parse_expect(parser, TG_KW_VIEW);
    }
    return tg_parse_fail(parser, "STREAMING TABLE, MATERIALIZED VIEW, VIEW, TABLE, FLOW or SCHEMA");
}
