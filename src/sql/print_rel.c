/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relations as DuckDB's or Spark's SQL: one nested SELECT per node, columns named "c<id>". Ids are
 * unique in a query, so no name needs a qualifier and an outer reference simply names its column.
 * The engine's optimiser flattens the nesting and pushes filters and projections into the scans.
 */
#include "sql/sql_int.h"

static void put(tg_print_context *ctx, const char *text)
{
    tg_buf_addz(ctx->out, text);
}

static bool is_spark(const tg_print_context *ctx)
{
    return ctx->options->dialect == TG_DIALECT_SPARK;
}

static void put_name(tg_print_context *ctx, tg_str name)
{
    if (is_spark(ctx)) {
        tg_sql_print_ident(name, ctx->out);
    } else {
        tg_print_duckdb_ident(name, ctx->out);
    }
}

static void put_id(tg_print_context *ctx, uint32_t id)
{
    tg_buf_addf(ctx->out, "c%u", id);
}

static void put_columns(tg_print_context *ctx, const tg_rel *rel)
{
    for (size_t i = 0; i < rel->column_count; i++) {
        put(ctx, i > 0 ? ", " : "");
        put_id(ctx, rel->columns[i].id);
    }
    if (rel->column_count == 0) {
        put(ctx, "1 AS c0");
    }
}

/* (query) as a FROM item. */
static tg_code put_from(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    put(ctx, "(");
    TG_TRY(tg_print_query(ctx, rel, err));
    put(ctx, ")");
    return TG_OK;
}

static tg_code put_exprs(tg_print_context *ctx, tg_bexpr *const *exprs, const tg_column *columns,
                         size_t count, tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        put(ctx, i > 0 ? ", " : "");
        TG_TRY(tg_print_expr(ctx, exprs[i], err));
        put(ctx, " AS ");
        put_id(ctx, columns[i].id);
    }
    if (count == 0) {
        put(ctx, "1 AS c0");
    }
    return TG_OK;
}

/* What DISTINCT and set operations compare: columns as group keys, named as the columns of to. */
static tg_code put_keys(tg_print_context *ctx, const tg_rel *rel, const tg_rel *to, tg_error *err)
{
    for (size_t i = 0; i < rel->column_count; i++) {
        put(ctx, i > 0 ? ", " : "");
        TG_TRY(
            tg_print_group_key(ctx, tg_bexpr_column(ctx->arena, &rel->columns[i], rel->span), err));
        put(ctx, " AS ");
        put_id(ctx, to->columns[i].id);
    }
    if (rel->column_count == 0) {
        put(ctx, "1 AS c0");
    }
    return TG_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Where a scan stands in tg_sql_scans order; a scan that is shared between places stands nowhere
 * (SIZE_MAX): nothing is known of it. */
static size_t scan_index(const tg_print_context *ctx, const tg_rel *scan)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < ctx->scan_count; i++) {
        if (ctx->scans[i] == scan) {
            if (found != SIZE_MAX) {
                return SIZE_MAX;
            }
            found = i;
        }
    }
    return found;
}

static tg_code print_scan(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    put(ctx, "SELECT ");
    for (size_t i = 0; i < rel->column_count; i++) {
        put(ctx, i > 0 ? ", " : "");
        put_name(ctx, rel->table->schema.fields[rel->scan_fields[i]].name);
        put(ctx, " AS ");
        put_id(ctx, rel->columns[i].id);
    }
    put(ctx, rel->column_count == 0 ? "1 AS c0 FROM " : " FROM ");
    return ctx->options->scan(ctx->options->self, rel, scan_index(ctx, rel), ctx->out, err);
}

static tg_code print_values(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    put(ctx, "SELECT ");
    put_columns(ctx, rel);
    put(ctx, " FROM (VALUES ");
    for (size_t i = 0; i < rel->row_count; i++) {
        put(ctx, i > 0 ? ", (" : "(");
        for (size_t j = 0; j < rel->column_count; j++) {
            put(ctx, j > 0 ? ", " : "");
            TG_TRY(tg_print_expr(ctx, rel->rows[i][j], err));
        }
        put(ctx, ")");
    }
    put(ctx, ") AS v(");
    put_columns(ctx, rel);
    put(ctx, ")");
    return TG_OK;
}

static tg_code print_project(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    put(ctx, "SELECT ");
    TG_TRY(put_exprs(ctx, rel->exprs, rel->columns, rel->column_count, err));
    if (rel->input->kind == TG_R_ONE_ROW) {
        return TG_OK;
    }
    put(ctx, " FROM ");
    return put_from(ctx, rel->input, err);
}

static tg_code print_filter(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    put(ctx, "SELECT ");
    put_columns(ctx, rel);
    put(ctx, " FROM ");
    TG_TRY(put_from(ctx, rel->input, err));
    put(ctx, " WHERE ");
    return tg_print_condition(ctx, rel->condition, err);
}

static tg_code print_join(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    static const char *const WORDS[] = {" JOIN ",       " CROSS JOIN ", " LEFT JOIN ",
                                        " RIGHT JOIN ", " FULL JOIN ",  " SEMI JOIN ",
                                        " ANTI JOIN "};
    tg_join_kind kind = rel->join == TG_JOIN_CROSS && rel->condition ? TG_JOIN_INNER : rel->join;
    put(ctx, "SELECT ");
    put_columns(ctx, rel);
    put(ctx, " FROM ");
    TG_TRY(put_from(ctx, rel->input, err));
    put(ctx, WORDS[kind]);
    TG_TRY(put_from(ctx, rel->right, err));
    if (kind == TG_JOIN_CROSS) {
        return TG_OK;
    }
    put(ctx, " ON ");
    if (!rel->condition) {
        put(ctx, "TRUE");
        return TG_OK;
    }
    return tg_print_condition(ctx, rel->condition, err);
}

tg_code tg_print_enter_doubling(tg_print_context *ctx, tg_error *err)
{
    if (++ctx->doubling_depth > TG_LIMIT_DOUBLING_DEPTH) {
        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
               "aggregations, subqueries and lambdas are nested deeper than %d levels",
               TG_LIMIT_DOUBLING_DEPTH);
        return tg_error_hint(err, "Put a part of the query into a table or materialized view.");
    }
    return TG_OK;
}

static tg_code print_aggregate(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    TG_TRY(tg_print_enter_doubling(ctx, err));
    put(ctx, "SELECT ");
    for (size_t i = 0; i < rel->group_count; i++) {
        TG_TRY(tg_print_group_key(ctx, rel->exprs[i], err));
        put(ctx, " AS ");
        put_id(ctx, rel->columns[i].id);
        put(ctx, i + 1 < rel->column_count ? ", " : "");
    }
    if (rel->is_global && rel->column_count == 0) {
        put(ctx, "count(*) AS c0"); /* SELECT 1 FROM t HAVING ...: one row, also of no rows */
    } else if (rel->column_count == 0 || rel->group_count < rel->column_count) {
        TG_TRY(put_exprs(ctx, rel->exprs + rel->group_count, rel->columns + rel->group_count,
                         rel->column_count - rel->group_count, err));
    }
    put(ctx, " FROM ");
    TG_TRY(put_from(ctx, rel->input, err));
    for (size_t i = 0; i < rel->group_count; i++) {
        tg_buf_addf(ctx->out, i > 0 ? ", %zu" : " GROUP BY %zu", i + 1);
    }
    ctx->doubling_depth--;
    return TG_OK;
}

static tg_code print_window(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    size_t inputs = rel->column_count - rel->expr_count;
    put(ctx, "SELECT ");
    put_columns(ctx, rel->input);
    put(ctx, ", ");
    TG_TRY(put_exprs(ctx, rel->exprs, rel->columns + inputs, rel->expr_count, err));
    put(ctx, " FROM ");
    return put_from(ctx, rel->input, err);
}

static tg_code print_set_op(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    static const char *const WORDS[] = {" UNION ", " INTERSECT ", " EXCEPT "};
    const tg_rel *sides[2] = {rel->input, rel->right};
    for (int side = 0; side < 2; side++) {
        put(ctx, side > 0 ? WORDS[rel->op] : "");
        put(ctx, side > 0 && rel->all ? "ALL " : "");
        put(ctx, "(SELECT ");
        for (size_t i = 0; rel->op == TG_UNION && rel->all && i < rel->column_count; i++) {
            put(ctx, i > 0 ? ", " : "");
            put_id(ctx, sides[side]->columns[i].id);
            put(ctx, " AS ");
            put_id(ctx, rel->columns[i].id);
        }
        if (rel->op != TG_UNION || !rel->all) {
            TG_TRY(put_keys(ctx, sides[side], rel, err));
        }
        put(ctx, " FROM ");
        TG_TRY(put_from(ctx, sides[side], err));
        put(ctx, ")");
    }
    return TG_OK;
}

/* FROM, ORDER BY and LIMIT behind a select list: of a LIMIT, a SORT, or a LIMIT over a SORT. */
static tg_code print_ordered(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    const tg_rel *limit = rel->kind == TG_R_LIMIT ? rel : NULL;
    const tg_rel *below = limit ? limit->input : rel;
    const tg_rel *sort = below->kind == TG_R_SORT ? below : NULL;
    put(ctx, " FROM ");
    TG_TRY(put_from(ctx, sort ? sort->input : below, err));
    if (sort) {
        TG_TRY(tg_print_order(ctx, sort->order_by, sort->order_count, err));
    }
    if (limit && limit->limit) {
        put(ctx, " LIMIT ");
        TG_TRY(tg_print_expr(ctx, limit->limit, err));
    }
    if (limit && limit->offset) {
        put(ctx, " OFFSET ");
        TG_TRY(tg_print_expr(ctx, limit->offset, err));
    }
    return TG_OK;
}

static tg_code print_node(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    switch (rel->kind) {
    case TG_R_SCAN:
        return print_scan(ctx, rel, err);
    case TG_R_VALUES:
        return print_values(ctx, rel, err);
    case TG_R_ONE_ROW:
        put(ctx, "SELECT 1 AS c0");
        return TG_OK;
    case TG_R_PROJECT:
        return print_project(ctx, rel, err);
    case TG_R_FILTER:
        return print_filter(ctx, rel, err);
    case TG_R_JOIN:
        return print_join(ctx, rel, err);
    case TG_R_AGGREGATE:
        return print_aggregate(ctx, rel, err);
    case TG_R_WINDOW:
        return print_window(ctx, rel, err);
    case TG_R_SORT:
    case TG_R_LIMIT:
        put(ctx, "SELECT ");
        put_columns(ctx, rel);
        return print_ordered(ctx, rel, err);
    case TG_R_DISTINCT:
        put(ctx, "SELECT DISTINCT ");
        TG_TRY(put_keys(ctx, rel->input, rel, err));
        put(ctx, " FROM ");
        return put_from(ctx, rel->input, err);
    case TG_R_SET_OP:
        return print_set_op(ctx, rel, err);
    }
    return TG_OK;
}

tg_code tg_print_query(tg_print_context *ctx, const tg_rel *rel, tg_error *err)
{
    if (++ctx->depth > 2 * TG_LIMIT_EXPRESSION_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "the query is nested too deeply");
    }
    TG_TRY(print_node(ctx, rel, err));
    ctx->depth--;
    return TG_OK;
}

/* ---- whole queries --------------------------------------------------------------------------- */

static void default_column(void *self, uint32_t id, tg_buf *out)
{
    (void)self;
    tg_buf_addf(out, "c%u", id);
}

static bool is_plain_select(const tg_rel *rel)
{
    for (size_t i = 0; rel->kind == TG_R_PROJECT && i < rel->column_count; i++) {
        if (rel->exprs[i]->kind != TG_B_COLUMN) {
            return false;
        }
    }
    return rel->kind == TG_R_PROJECT;
}

static void put_result_name(tg_print_context *ctx, const tg_rel *rel, size_t index, bool numbered)
{
    if (numbered) {
        tg_buf_addf(ctx->out, is_spark(ctx) ? "c%zu" : "\"c%zu\"", index);
    } else {
        put_name(ctx, rel->columns[index].name);
    }
}

tg_code tg_sql_print_rel(const tg_rel *rel, const tg_print_options *options, bool numbered_output,
                         tg_buf *out, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_print_context ctx = {
        .options = options, .out = out, .arena = arena, .column_text = default_column};
    const tg_rel **scans;
    tg_sql_scans(rel, arena, &scans, &ctx.scan_count);
    ctx.scans = scans;
    /* The order must stand outermost: a projection of plain columns on top of it moves into its
     * select list. */
    bool projects =
        is_plain_select(rel) && (rel->input->kind == TG_R_SORT || rel->input->kind == TG_R_LIMIT);
    const tg_rel *below = projects ? rel->input : rel;
    put(&ctx, "SELECT ");
    for (size_t i = 0; i < rel->column_count; i++) {
        put(&ctx, i > 0 ? ", " : "");
        put_id(&ctx, projects ? rel->exprs[i]->column_id : rel->columns[i].id);
        put(&ctx, " AS ");
        put_result_name(&ctx, rel, i, numbered_output);
    }
    if (rel->column_count == 0) {
        put(&ctx, "1 AS c0");
    }
    if (below->kind == TG_R_SORT || below->kind == TG_R_LIMIT) {
        return print_ordered(&ctx, below, err);
    }
    put(&ctx, " FROM ");
    return put_from(&ctx, below, err);
}

tg_code tg_sql_print_bexpr(const tg_bexpr *expr, const tg_print_options *options,
                           void (*column_text)(void *self, uint32_t id, tg_buf *out), void *self,
                           tg_buf *out, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_print_context ctx = {.options = options,
                            .out = out,
                            .arena = arena,
                            .column_text = column_text,
                            .column_self = self};
    return tg_print_expr(&ctx, expr, err);
}
