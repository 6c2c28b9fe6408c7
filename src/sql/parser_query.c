/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: WITH, SELECT, set operations (INTERSECT binds tighter), ORDER BY and LIMIT. */
#include "sql/parser_int.h"
#include "sql/sql.h"

/* ---- SELECT ---------------------------------------------------------------------------------- */

static tg_code parse_lateral_view(tg_parser *parser, tg_lateral_view *out)
{
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    tg_parse_advance(parser);
    *out = (tg_lateral_view){.outer = tg_parse_accept(parser, TG_KW_OUTER)};
    size_t call_offset = tg_parse_offset(parser);
    tg_name name;
    TG_TRY(tg_parse_name(parser, "a generator function", &name));
    if (tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        return tg_parse_fail(parser, "'('");
    }
    TG_TRY(tg_parse_call(parser, name, call_offset, &out->call));
    if (tg_parse_at_name(parser, 0) && !tg_parse_word_is_clause(parser, 0) &&
        tg_parse_word(parser, 0) != TG_KW_AS) {
        out->table_alias = tg_parse_take_ident(parser);
    }
    TG_VEC(tg_ident) columns = {0};
    if (tg_parse_accept(parser, TG_KW_AS)) {
        do {
            tg_ident column;
            TG_TRY(tg_parse_ident(parser, "a column name", &column));
            TG_VEC_PUSH(parser->arena, &columns, column);
        } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    }
    out->column_aliases = columns.items;
    out->column_alias_count = columns.count;
    out->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

static tg_code parse_lateral_views(tg_parser *parser, tg_select *select)
{
    TG_VEC(tg_lateral_view) views = {0};
    while (tg_parse_word(parser, 0) == TG_KW_LATERAL && tg_parse_word(parser, 1) == TG_KW_VIEW) {
        tg_lateral_view view;
        TG_TRY(parse_lateral_view(parser, &view));
        TG_VEC_PUSH(parser->arena, &views, view);
    }
    select->lateral_views = views.items;
    select->lateral_view_count = views.count;
    return TG_OK;
}

/* One set of GROUPING SETS, or an element of ROLLUP and CUBE: an expression, or a ROW of any number
 * of columns. */
static tg_code parse_grouping_set(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN &&
        tg_parse_kind(parser, 1) == TG_TOK_RIGHT_PAREN) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        *out_expr = tg_parse_new_expr(parser, TG_EXPR_ROW, offset, NULL, 0);
        return TG_OK;
    }
    return tg_parse_expr(parser, out_expr);
}

/* ROLLUP (..), CUBE (..), GROUPING SETS (..) at the current token? */
static tg_group_kind grouping_kind(const tg_parser *parser)
{
    bool paren = tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN;
    switch (tg_parse_word(parser, 0)) {
    case TG_KW_ROLLUP:
        return paren ? TG_GROUP_ROLLUP : TG_GROUP_NONE;
    case TG_KW_CUBE:
        return paren ? TG_GROUP_CUBE : TG_GROUP_NONE;
    case TG_KW_GROUPING:
        return tg_parse_word(parser, 1) == TG_KW_SETS &&
                       tg_parse_kind(parser, 2) == TG_TOK_LEFT_PAREN
                   ? TG_GROUP_SETS
                   : TG_GROUP_NONE;
    default:
        return TG_GROUP_NONE;
    }
}

static tg_code parse_grouping(tg_parser *parser, tg_group_kind kind, tg_expr_vec *out_sets)
{
    tg_parse_advance(parser);
    if (kind == TG_GROUP_SETS) {
        tg_parse_advance(parser);
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    do {
        tg_expr *set;
        TG_TRY(parse_grouping_set(parser, &set));
        TG_VEC_PUSH(parser->arena, out_sets, set);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'");
}

/* GROUP BY a, b WITH ROLLUP: the older spelling. */
static tg_group_kind parse_group_suffix(tg_parser *parser)
{
    if (tg_parse_accept2(parser, TG_KW_WITH, TG_KW_ROLLUP)) {
        return TG_GROUP_ROLLUP;
    }
    return tg_parse_accept2(parser, TG_KW_WITH, TG_KW_CUBE) ? TG_GROUP_CUBE : TG_GROUP_EXPRS;
}

static tg_code parse_group_by(tg_parser *parser, tg_select *select)
{
    tg_token_kind next = tg_parse_kind(parser, 1);
    if (tg_parse_word(parser, 0) == TG_KW_ALL && next != TG_TOK_COMMA && next != TG_TOK_DOT) {
        tg_parse_advance(parser);
        select->group_kind = TG_GROUP_ALL;
        return TG_OK;
    }
    static const char *const NAMES[] = {
        [TG_GROUP_ROLLUP] = "rollup", [TG_GROUP_CUBE] = "cube", [TG_GROUP_SETS] = "grouping sets"};
    tg_expr_vec exprs = {0};
    tg_group_kind only = TG_GROUP_NONE;
    do {
        size_t offset = tg_parse_offset(parser);
        tg_group_kind kind = grouping_kind(parser);
        tg_expr *expr;
        if (kind != TG_GROUP_NONE) {
            tg_expr_vec sets = {0};
            TG_TRY(parse_grouping(parser, kind, &sets));
            expr = tg_parse_new_call(parser, NAMES[kind], offset, sets.items, sets.count);
        } else {
            TG_TRY(tg_parse_expr(parser, &expr));
        }
        only = exprs.count == 0                                 ? kind
               : kind == TG_GROUP_NONE && only == TG_GROUP_NONE ? TG_GROUP_NONE
                                                                : TG_GROUP_MIXED;
        TG_VEC_PUSH(parser->arena, &exprs, expr);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    select->group_kind = only == TG_GROUP_NONE ? parse_group_suffix(parser) : only;
    bool is_single = only == TG_GROUP_ROLLUP || only == TG_GROUP_CUBE || only == TG_GROUP_SETS;
    select->group_by = is_single ? exprs.items[0]->args : exprs.items;
    select->group_count = is_single ? exprs.items[0]->arg_count : exprs.count;
    return TG_OK;
}

static tg_code parse_windows(tg_parser *parser, tg_select *select)
{
    TG_VEC(tg_named_window) windows = {0};
    tg_map seen;
    tg_map_init_ignore_case(&seen, parser->arena);
    do {
        tg_named_window window;
        TG_TRY(tg_parse_ident(parser, "the name of a window", &window.name));
        if (tg_map_put(&seen, window.name.text, parser)) {
            (void)TG_ERR(parser->err, REPETITIVE_WINDOW_DEFINITION,
                         "the window `%.*s` is defined twice", TG_SARG(window.name.text));
            return tg_error_span(parser->err, window.name.span.offset, window.name.span.len);
        }
        TG_TRY(tg_parse_expect(parser, TG_KW_AS));
        TG_TRY(tg_parse_window_spec(parser, &window.spec));
        TG_VEC_PUSH(parser->arena, &windows, window);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    select->windows = windows.items;
    select->window_count = windows.count;
    return TG_OK;
}

static bool accept_window_clause(tg_parser *parser)
{
    if (tg_parse_word(parser, 0) != TG_KW_WINDOW || !tg_parse_word_is_clause(parser, 0)) {
        return false;
    }
    tg_parse_advance(parser);
    return true;
}

static tg_code parse_select_items(tg_parser *parser, tg_select *select)
{
    TG_VEC(tg_select_item) items = {0};
    do {
        tg_select_item item;
        if (items.count > 0 && tg_parse_word(parser, 0) == TG_KW_FROM) {
            return tg_parse_fail(parser, "a column behind ','");
        }
        TG_TRY(tg_parse_select_item(parser, &item));
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    select->items = items.items;
    select->item_count = items.count;
    return TG_OK;
}

/* Behind FROM: LATERAL VIEW, WHERE, GROUP BY, HAVING, QUALIFY, WINDOW. */
static tg_code parse_select_end(tg_parser *parser, tg_select *select)
{
    TG_TRY(parse_lateral_views(parser, select));
    if (tg_parse_accept(parser, TG_KW_WHERE)) {
        TG_TRY(tg_parse_expr(parser, &select->where));
    }
    if (tg_parse_accept2(parser, TG_KW_GROUP, TG_KW_BY)) {
        TG_TRY(parse_group_by(parser, select));
    }
    if (tg_parse_accept(parser, TG_KW_HAVING)) {
        TG_TRY(tg_parse_expr(parser, &select->having));
    }
    if (tg_parse_accept(parser, TG_KW_QUALIFY)) {
        TG_TRY(tg_parse_expr(parser, &select->qualify));
    }
    if (accept_window_clause(parser)) {
        TG_TRY(parse_windows(parser, select));
    }
    if (!select->qualify && tg_parse_accept(parser, TG_KW_QUALIFY)) {
        TG_TRY(tg_parse_expr(parser, &select->qualify));
    }
    return TG_OK;
}

static tg_code parse_select(tg_parser *parser, tg_relation *from, tg_query_body **out_body)
{
    size_t offset = tg_parse_offset(parser);
    tg_select *select = TG_NEW(parser->arena, tg_select);
    TG_TRY(tg_parse_expect(parser, TG_KW_SELECT));
    while (tg_parse_accept_token(parser, TG_TOK_HINT)) {
        /* hints advise an optimiser: kept in the text, no meaning here */
    }
    bool all = tg_parse_word(parser, 0) == TG_KW_ALL && tg_parse_kind(parser, 1) != TG_TOK_COMMA &&
               tg_parse_kind(parser, 1) != TG_TOK_DOT;
    bool distinct =
        tg_parse_word(parser, 0) == TG_KW_DISTINCT && tg_parse_kind(parser, 1) != TG_TOK_COMMA;
    if (all || distinct) {
        tg_parse_advance(parser);
    }
    select->distinct = distinct;
    TG_TRY(parse_select_items(parser, select));
    select->from = from;
    if (!from && tg_parse_accept(parser, TG_KW_FROM)) {
        TG_TRY(tg_parse_from(parser, &select->from));
    }
    TG_TRY(parse_select_end(parser, select));
    select->span = tg_parse_span_from(parser, offset);
    tg_query_body *body = TG_NEW(parser->arena, tg_query_body);
    *body = (tg_query_body){.kind = TG_BODY_SELECT, .span = select->span, .select = select};
    *out_body = body;
    return TG_OK;
}

/* ---- VALUES and other bodies ----------------------------------------------------------------- */

/* (a, b) and struct(a, b), also with aliases, are the columns of a row, as in Spark. */
static bool is_row(const tg_expr *expr)
{
    if (expr->kind == TG_EXPR_ROW) {
        return true;
    }
    const tg_call *call = expr->kind == TG_EXPR_CALL ? expr->call : NULL;
    return call && call->name.count == 1 && !call->name.parts[0].quoted &&
           tg_keyword_find(call->name.parts[0].text) == TG_KW_STRUCT && expr->arg_count > 0 &&
           !call->distinct && !call->arg_names && !call->filter && !call->over &&
           call->within_group_count == 0 && !call->ignore_nulls && !call->respect_nulls;
}

/* (a, b), a, or (a): the columns of one row. */
static tg_code parse_row(tg_parser *parser, tg_expr ***out_row, size_t *out_len)
{
    tg_expr_vec row = {0};
    tg_expr *expr;
    TG_TRY(tg_parse_expr(parser, &expr));
    if (is_row(expr)) {
        *out_row = expr->args;
        *out_len = expr->arg_count;
        return TG_OK;
    }
    TG_VEC_PUSH(parser->arena, &row, expr);
    *out_row = row.items;
    *out_len = 1;
    return TG_OK;
}

tg_code tg_parse_values(tg_parser *parser, tg_query_body **out_body)
{
    size_t offset = tg_parse_offset(parser);
    TG_TRY(tg_parse_expect(parser, TG_KW_VALUES));
    TG_VEC(tg_expr **) rows = {0};
    TG_VEC(size_t) lens = {0};
    do {
        tg_expr **row;
        size_t len;
        TG_TRY(parse_row(parser, &row, &len));
        TG_VEC_PUSH(parser->arena, &rows, row);
        TG_VEC_PUSH(parser->arena, &lens, len);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    tg_query_body *body = TG_NEW(parser->arena, tg_query_body);
    *body = (tg_query_body){.kind = TG_BODY_VALUES,
                            .span = tg_parse_span_from(parser, offset),
                            .rows = rows.items,
                            .row_count = rows.count,
                            .row_lens = lens.items};
    *out_body = body;
    return TG_OK;
}

/* VALUES rows [alias (columns)] as a query of its own: the alias names the columns. */
static tg_code parse_values_query(tg_parser *parser, tg_query_body **out_body)
{
    tg_query_body *values;
    tg_ident alias = {0};
    const tg_ident *columns = NULL;
    size_t column_count = 0;
    TG_TRY(tg_parse_values(parser, &values));
    TG_TRY(tg_parse_table_alias(parser, &alias, &columns, &column_count));
    *out_body = values;
    if (alias.text.len == 0 && column_count == 0) {
        return TG_OK;
    }
    tg_query *query = TG_NEW(parser->arena, tg_query);
    *query = (tg_query){.span = values->span, .body = values};
    tg_relation *from = TG_NEW(parser->arena, tg_relation);
    *from = (tg_relation){.kind = TG_REL_VALUES,
                          .span = values->span,
                          .alias = alias,
                          .column_aliases = columns,
                          .column_alias_count = column_count,
                          .query = query};
    tg_expr *star = tg_parse_new_expr(parser, TG_EXPR_STAR, values->span.offset, NULL, 0);
    *out_body = tg_sql_select_star(parser->arena, star, from, values->span)->body;
    return TG_OK;
}

static tg_code parse_from_first(tg_parser *parser, tg_query_body **out_body)
{
    tg_relation *from;
    tg_parse_advance(parser);
    TG_TRY(tg_parse_from(parser, &from));
    return parse_select(parser, from, out_body);
}

static tg_code parse_body_primary(tg_parser *parser, tg_query_body **out_body)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        tg_query *query;
        TG_TRY(tg_parse_paren_query(parser, &query));
        tg_query_body *body = TG_NEW(parser->arena, tg_query_body);
        *body = (tg_query_body){
            .kind = TG_BODY_QUERY, .span = tg_parse_span_from(parser, offset), .query = query};
        *out_body = body;
        return TG_OK;
    }
    switch (tg_parse_word(parser, 0)) {
    case TG_KW_VALUES:
        return parse_values_query(parser, out_body);
    case TG_KW_TABLE: {
        tg_name name;
        tg_parse_advance(parser);
        TG_TRY(tg_parse_name(parser, "a table name", &name));
        tg_query_body *body = TG_NEW(parser->arena, tg_query_body);
        *body = (tg_query_body){
            .kind = TG_BODY_TABLE, .span = tg_parse_span_from(parser, offset), .table = name};
        *out_body = body;
        return TG_OK;
    }
    case TG_KW_FROM:
        return parse_from_first(parser, out_body);
    default:
        return parse_select(parser, NULL, out_body);
    }
}

/* ---- set operations -------------------------------------------------------------------------- */

static bool accept_set_op(tg_parser *parser, bool intersect, tg_set_op *out_op)
{
    tg_keyword word = tg_parse_word(parser, 0);
    if (intersect ? word != TG_KW_INTERSECT
                  : word != TG_KW_UNION && word != TG_KW_EXCEPT && word != TG_KW_MINUS) {
        return false;
    }
    *out_op = word == TG_KW_INTERSECT ? TG_INTERSECT : word == TG_KW_UNION ? TG_UNION : TG_EXCEPT;
    tg_parse_advance(parser);
    return true;
}

static tg_code parse_set_level(tg_parser *parser, bool intersect, tg_query_body **out_body)
{
    tg_query_body *left;
    TG_TRY(intersect ? parse_body_primary(parser, &left) : parse_set_level(parser, true, &left));
    tg_set_op op;
    while (accept_set_op(parser, intersect, &op)) {
        tg_query_body *body = TG_NEW(parser->arena, tg_query_body);
        *body = (tg_query_body){.kind = TG_BODY_SET_OP, .op = op, .left = left};
        body->all = tg_parse_accept(parser, TG_KW_ALL);
        if (!body->all) {
            (void)tg_parse_accept(parser, TG_KW_DISTINCT);
        }
        if (tg_parse_word(parser, 0) == TG_KW_BY) {
            return tg_parse_fail(parser, "a query"); /* UNION BY NAME is not in Spark's SQL */
        }
        TG_TRY(intersect ? parse_body_primary(parser, &body->right)
                         : parse_set_level(parser, true, &body->right));
        body->span = tg_parse_span_from(parser, left->span.offset);
        left = body;
    }
    *out_body = left;
    return TG_OK;
}

/* ---- the query ------------------------------------------------------------------------------- */

static tg_code parse_ctes(tg_parser *parser, tg_query *query)
{
    TG_VEC(tg_cte) ctes = {0};
    query->recursive = tg_parse_word(parser, 0) == TG_KW_RECURSIVE && tg_parse_at_name(parser, 1) &&
                       tg_parse_word(parser, 1) != TG_KW_AS;
    if (query->recursive) {
        tg_parse_advance(parser);
    }
    do {
        tg_cte cte = {0};
        TG_TRY(tg_parse_ident(parser, "the name of a common table expression", &cte.name));
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN && !tg_parse_paren_is_query(parser, 0)) {
            TG_TRY(tg_parse_ident_list(parser, "a column name", &cte.column_aliases,
                                       &cte.column_alias_count));
        }
        (void)tg_parse_accept(parser, TG_KW_AS);
        TG_TRY(tg_parse_paren_query(parser, &cte.query));
        TG_VEC_PUSH(parser->arena, &ctes, cte);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    query->ctes = ctes.items;
    query->cte_count = ctes.count;
    return TG_OK;
}

static tg_code parse_sort_like(tg_parser *parser, tg_query *query)
{
    if (tg_parse_accept2(parser, TG_KW_ORDER, TG_KW_BY)) {
        return tg_parse_sort_items(parser, &query->order_by, &query->order_count);
    }
    static const tg_keyword WORDS[] = {TG_KW_CLUSTER, TG_KW_DISTRIBUTE, TG_KW_SORT};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (tg_parse_accept2(parser, WORDS[i], TG_KW_BY)) {
            query->is_sort_by = true;
            TG_TRY(tg_parse_sort_items(parser, &query->order_by, &query->order_count));
        }
    }
    return TG_OK;
}

static tg_code parse_organization(tg_parser *parser, tg_query *query)
{
    TG_TRY(parse_sort_like(parser, query));
    if (query->body->kind == TG_BODY_SELECT && query->body->select->window_count == 0 &&
        accept_window_clause(parser)) {
        TG_TRY(parse_windows(parser, query->body->select));
    }
    if (tg_parse_accept(parser, TG_KW_LIMIT)) {
        if (tg_parse_word(parser, 0) == TG_KW_ALL) {
            tg_parse_advance(parser);
        } else {
            TG_TRY(tg_parse_expr(parser, &query->limit));
        }
    }
    if (tg_parse_accept(parser, TG_KW_OFFSET)) {
        TG_TRY(tg_parse_expr(parser, &query->offset));
    }
    return TG_OK;
}

tg_code tg_parse_query(tg_parser *parser, tg_query **out_query)
{
    size_t offset = tg_parse_offset(parser);
    tg_query *query = TG_NEW(parser->arena, tg_query);
    TG_TRY(tg_parse_enter(parser));
    if (tg_parse_accept(parser, TG_KW_WITH)) {
        TG_TRY(parse_ctes(parser, query));
    }
    TG_TRY(parse_set_level(parser, false, &query->body));
    TG_TRY(parse_organization(parser, query));
    tg_parse_leave(parser);
    query->span = tg_parse_span_from(parser, offset);
    *out_query = query;
    return TG_OK;
}

tg_code tg_parse_paren_query(tg_parser *parser, tg_query **out_query)
{
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_TRY(tg_parse_query(parser, out_query));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}
