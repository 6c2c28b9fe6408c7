/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SELECT: items, GROUP BY, HAVING, QUALIFY, ORDER BY. All expressions are bound over FROM's columns
 * first; then what GROUP BY computes is replaced by its columns, and the relations are stacked:
 * aggregate, having, windows, qualify, projection, distinct, sort.
 */
#include "sql/bind_int.h"

typedef struct select_run {
    tg_binder *b;
    tg_bind_select_state sel;
    tg_expr_ctx ctx;
    tg_bexpr *having, *qualify;
    tg_bsort *order;
    size_t order_count;
} select_run;

/* ---- items ----------------------------------------------------------------------------------- */

static tg_code bind_item(select_run *run, const tg_select_item *item, tg_error *err)
{
    tg_expr_ctx ctx = run->ctx;
    ctx.clause = "the select list";
    ctx.allow_aggregates = true;
    ctx.allow_windows = true;
    ctx.aliases = TG_ALIAS_LATERAL;
    if (item->expr->kind == TG_EXPR_STAR) {
        tg_bind_expansions columns = {0};
        TG_TRY(tg_bind_star(&ctx, item->expr, &columns, err));
        for (size_t i = 0; i < columns.count; i++) {
            tg_bind_item bound = {.expr = columns.items[i].expr,
                                  .name = columns.items[i].name,
                                  .span = item->expr->span};
            TG_VEC_PUSH(run->b->arena, &run->sel.items, bound);
        }
        return TG_OK;
    }
    if (item->alias_count > 0) {
        return tg_fn_at(item->expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "several aliases for one expression are not available"));
    }
    tg_bind_item bound = {.span = item->expr->span, .has_alias = item->alias.text.len > 0};
    bound.name = bound.has_alias ? item->alias.text : tg_bind_shown_name(run->b->arena, item->expr);
    TG_TRY(tg_bind_expr(&ctx, item->expr, &bound.expr, err));
    TG_VEC_PUSH(run->b->arena, &run->sel.items, bound);
    return TG_OK;
}

/* ---- GROUP BY -------------------------------------------------------------------------------- */

static void add_group(select_run *run, tg_bexpr *expr, tg_str name)
{
    for (size_t i = 0; i < run->sel.groups.count; i++) {
        if (tg_sql_bexpr_equal(run->sel.groups.items[i].expr, expr)) {
            return;
        }
    }
    tg_bind_slot slot = {.expr = expr,
                         .column = tg_bind_column(run->b, name, expr->type, expr->nullable)};
    TG_VEC_PUSH(run->b->arena, &run->sel.groups, slot);
}

static tg_code check_group_type(select_run *run, const tg_bexpr *expr, tg_span span, tg_error *err)
{
    if (!tg_type_is_orderable(expr->type)) {
        return tg_fn_at(span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "a value of type %.*s cannot be grouped",
                               TG_SARG(tg_type_text(run->b->arena, expr->type))));
    }
    return TG_OK;
}

/* An alias brings a window function to places that are computed before it. */
static tg_code refuse_window(const select_run *run, const tg_bexpr *expr, const char *place,
                             tg_span span, tg_error *err)
{
    if (tg_bind_uses_any(expr, &run->sel.window_ids)) {
        return tg_fn_at(
            span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE, "a window function cannot stand in %s", place));
    }
    return TG_OK;
}

static tg_code bind_group(select_run *run, const tg_expr *expr, tg_error *err)
{
    int64_t position;
    tg_bexpr *bound;
    if (tg_bind_is_ordinal(expr, &position)) {
        if (position < 1 || (size_t)position > run->sel.items.count) {
            return tg_fn_at(expr->span, err,
                            TG_ERR(err, GROUP_BY_POS_OUT_OF_RANGE,
                                   "GROUP BY position %lld is not in the select list (1 to %zu)",
                                   (long long)position, run->sel.items.count));
        }
        bound = run->sel.items.items[position - 1].expr;
        if (tg_bind_uses_any(bound, &run->sel.aggregate_ids) ||
            tg_bind_uses_any(bound, &run->sel.window_ids)) {
            return tg_fn_at(expr->span, err,
                            TG_ERR(err, GROUP_BY_POS_AGGREGATE,
                                   "GROUP BY position %lld holds an aggregate",
                                   (long long)position));
        }
    } else {
        tg_expr_ctx ctx = run->ctx;
        ctx.clause = "GROUP BY";
        ctx.aliases = TG_ALIAS_GROUP;
        TG_TRY(tg_bind_expr(&ctx, expr, &bound, err));
        if (tg_bind_uses_any(bound, &run->sel.aggregate_ids)) {
            return tg_fn_at(
                expr->span, err,
                TG_ERR(err, GROUP_BY_AGGREGATE, "GROUP BY cannot hold an aggregate function"));
        }
        TG_TRY(refuse_window(run, bound, "GROUP BY", expr->span, err));
    }
    TG_TRY(check_group_type(run, bound, expr->span, err));
    add_group(run, bound, tg_bind_shown_name(run->b->arena, expr));
    return TG_OK;
}

/* They bring columns of their own to the select list, which is bound first: refused before it. */
static tg_code refuse_time_windows(const tg_select *select, tg_error *err)
{
    for (size_t i = 0; i < select->group_count; i++) {
        const tg_expr *expr = select->group_by[i];
        tg_str name = expr->kind == TG_EXPR_CALL && expr->call->name.count == 1
                          ? expr->call->name.parts[0].text
                          : TG_S("");
        if (tg_str_ieq(name, TG_S("window")) || tg_str_ieq(name, TG_S("session_window"))) {
            return tg_fn_at(expr->span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE,
                                   "GROUP BY %.*s(...) is not available in this release",
                                   TG_SARG(name)));
        }
    }
    return TG_OK;
}

static tg_code bind_groups(select_run *run, const tg_select *select, tg_error *err)
{
    switch (select->group_kind) {
    case TG_GROUP_NONE:
        return TG_OK;
    case TG_GROUP_ALL:
        for (size_t i = 0; i < run->sel.items.count; i++) {
            const tg_bind_item *item = &run->sel.items.items[i];
            if (!tg_bind_uses_any(item->expr, &run->sel.aggregate_ids)) {
                TG_TRY(refuse_window(run, item->expr, "GROUP BY ALL", item->span, err));
                TG_TRY(check_group_type(run, item->expr, item->span, err));
                add_group(run, item->expr, item->name);
            }
        }
        return TG_OK;
    case TG_GROUP_EXPRS:
        for (size_t i = 0; i < select->group_count; i++) {
            TG_TRY(bind_group(run, select->group_by[i], err));
        }
        return TG_OK;
    case TG_GROUP_ROLLUP:
    case TG_GROUP_CUBE:
    case TG_GROUP_SETS:
    case TG_GROUP_MIXED:
        break;
    }
    return tg_fn_at(select->span, err,
                    TG_ERR(err, UNSUPPORTED_FEATURE,
                           "ROLLUP, CUBE and GROUPING SETS are not available in this release"));
}

/* ---- replacing what the aggregation computes ------------------------------------------------- */

static tg_bexpr *replace_group(void *self, tg_bexpr *expr)
{
    const select_run *run = self;
    if (expr->kind == TG_B_LITERAL) {
        return expr;
    }
    for (size_t i = 0; i < run->sel.groups.count; i++) {
        const tg_bind_slot *slot = &run->sel.groups.items[i];
        bool same_column = expr->kind == TG_B_COLUMN && slot->expr->kind == TG_B_COLUMN &&
                           expr->column_id == slot->expr->column_id;
        if (same_column || (expr->kind != TG_B_COLUMN && tg_sql_bexpr_equal(slot->expr, expr))) {
            tg_bexpr *column = tg_bexpr_column(run->b->arena, &slot->column, expr->span);
            column->is_outer = same_column && expr->is_outer;
            return column;
        }
    }
    return NULL;
}

static tg_bexpr *mapped(select_run *run, tg_bexpr *expr)
{
    return expr ? tg_sql_bexpr_map(run->b->arena, expr, replace_group, run) : NULL;
}

/* A column of FROM that is left over is neither grouped nor aggregated. */
typedef struct leftover_search {
    const tg_rel *from;
    const tg_bexpr *found;
} leftover_search;

static void search_leftover(void *self, const tg_bexpr *expr)
{
    leftover_search *search = self;
    if (!search->found && expr->kind == TG_B_COLUMN &&
        tg_sql_rel_column(search->from, expr->column_id)) {
        search->found = expr;
    }
}

static tg_code check_leftover(select_run *run, const tg_bexpr *expr, tg_error *err)
{
    leftover_search search = {.from = run->sel.rel};
    if (expr) {
        tg_sql_bexpr_visit(expr, search_leftover, &search);
    }
    if (!search.found) {
        return TG_OK;
    }
    const tg_column *column = tg_sql_rel_column(run->sel.rel, search.found->column_id);
    if (run->sel.groups.count == 0 && run->sel.ast->group_kind == TG_GROUP_NONE) {
        TG_ERR(err, MISSING_GROUP_BY,
               "the query has no GROUP BY, but column `%.*s` stands beside an aggregate function",
               TG_SARG(column->name));
    } else {
        TG_ERR(err, MISSING_AGGREGATION,
               "column `%.*s` is neither grouped nor inside an aggregate function",
               TG_SARG(column->name));
    }
    (void)tg_error_hint(
        err, "Add it to GROUP BY, or wrap it in first() or any_value() when any value will do.");
    return tg_error_span(err, search.found->span.offset, search.found->span.len);
}

static tg_code replace_all(select_run *run, tg_error *err)
{
    for (size_t i = 0; i < run->sel.items.count; i++) {
        tg_bind_item *item = &run->sel.items.items[i];
        item->expr = mapped(run, item->expr);
        TG_TRY(check_leftover(run, item->expr, err));
    }
    for (size_t i = 0; i < run->sel.windows.count; i++) {
        tg_bind_slot *window = &run->sel.windows.items[i];
        window->expr = mapped(run, window->expr);
        TG_TRY(check_leftover(run, window->expr, err));
    }
    run->having = mapped(run, run->having);
    run->qualify = mapped(run, run->qualify);
    TG_TRY(check_leftover(run, run->having, err));
    TG_TRY(check_leftover(run, run->qualify, err));
    for (size_t i = 0; i < run->order_count; i++) {
        run->order[i].expr = mapped(run, run->order[i].expr);
        TG_TRY(check_leftover(run, run->order[i].expr, err));
    }
    return TG_OK;
}

/* ---- HAVING, QUALIFY, ORDER BY --------------------------------------------------------------- */

static tg_code bind_later_conditions(select_run *run, const tg_select *select, tg_error *err)
{
    tg_expr_ctx ctx = run->ctx;
    ctx.aliases = TG_ALIAS_OUTPUT;
    ctx.allow_aggregates = true;
    if (select->having) {
        ctx.clause = "HAVING";
        TG_TRY(tg_bind_condition(&ctx, select->having, &run->having, err));
        TG_TRY(refuse_window(run, run->having, "HAVING", select->having->span, err));
    }
    if (select->qualify) {
        ctx.clause = "QUALIFY";
        ctx.allow_windows = true;
        TG_TRY(tg_bind_condition(&ctx, select->qualify, &run->qualify, err));
    }
    return TG_OK;
}

static tg_code bind_order(select_run *run, const tg_bind_order *order, tg_error *err)
{
    tg_expr_ctx ctx = run->ctx;
    ctx.clause = "ORDER BY";
    ctx.aliases = TG_ALIAS_OUTPUT;
    ctx.allow_aggregates = true;
    ctx.allow_windows = true;
    if (tg_bind_is_order_by_all(&ctx, order->items, order->count)) {
        run->order_count = run->sel.items.count;
        run->order = TG_NEW_ARRAY(run->b->arena, tg_bsort, run->order_count);
        for (size_t i = 0; i < run->order_count; i++) {
            TG_TRY(tg_bind_sort_by(&ctx, &order->items[0], run->sel.items.items[i].expr,
                                   &run->order[i], err));
        }
        return TG_OK;
    }
    run->order = TG_NEW_ARRAY(run->b->arena, tg_bsort, order->count);
    run->order_count = order->count;
    for (size_t i = 0; i < order->count; i++) {
        const tg_sort_item *item = &order->items[i];
        size_t position;
        TG_TRY(tg_bind_order_position(item, run->sel.items.count, &position, err));
        tg_assert(position <= run->sel.items.count);
        if (position > 0) {
            TG_TRY(tg_bind_sort_by(&ctx, item, run->sel.items.items[position - 1].expr,
                                   &run->order[i], err));
        } else {
            TG_TRY(tg_bind_sort_item(&ctx, item, &run->order[i], err));
        }
    }
    return TG_OK;
}

/* ---- stacking -------------------------------------------------------------------------------- */

static void stack_aggregate(select_run *run)
{
    size_t groups = run->sel.groups.count, count = groups + run->sel.aggregates.count;
    tg_bexpr **exprs = TG_NEW_ARRAY(run->b->arena, tg_bexpr *, count);
    tg_column *columns = TG_NEW_ARRAY(run->b->arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        const tg_bind_slot *slot =
            i < groups ? &run->sel.groups.items[i] : &run->sel.aggregates.items[i - groups];
        exprs[i] = slot->expr;
        columns[i] = slot->column;
    }
    tg_rel *rel = TG_NEW(run->b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_AGGREGATE,
                    .span = run->sel.ast->span,
                    .columns = columns,
                    .column_count = count,
                    .input = run->sel.rel,
                    .exprs = exprs,
                    .expr_count = count,
                    .group_count = groups,
                    .is_global = groups == 0};
    run->sel.rel = rel;
}

static void stack_windows(select_run *run)
{
    const tg_rel *input = run->sel.rel;
    size_t count = run->sel.windows.count;
    tg_column *columns = TG_NEW_ARRAY(run->b->arena, tg_column, input->column_count + count);
    tg_bexpr **exprs = TG_NEW_ARRAY(run->b->arena, tg_bexpr *, count);
    tg_copy_bytes(columns, input->columns, input->column_count * sizeof(*columns));
    for (size_t i = 0; i < count; i++) {
        columns[input->column_count + i] = run->sel.windows.items[i].column;
        exprs[i] = run->sel.windows.items[i].expr;
    }
    tg_rel *rel = TG_NEW(run->b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_WINDOW,
                    .span = run->sel.ast->span,
                    .columns = columns,
                    .column_count = input->column_count + count,
                    .input = run->sel.rel,
                    .exprs = exprs,
                    .expr_count = count};
    run->sel.rel = rel;
}

/* The output column that an order expression equals, or -1. */
static ptrdiff_t output_of(const select_run *run, const tg_bexpr *expr)
{
    for (size_t i = 0; i < run->sel.items.count; i++) {
        if (tg_sql_bexpr_equal(run->sel.items.items[i].expr, expr)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* Projection to the items, and behind them what only the order needs. */
static tg_code stack_project(select_run *run, const tg_select *select, tg_bind_body *out,
                             tg_error *err)
{
    size_t visible = run->sel.items.count;
    tg_bexpr **exprs = TG_NEW_ARRAY(run->b->arena, tg_bexpr *, visible + run->order_count);
    tg_column *columns = TG_NEW_ARRAY(run->b->arena, tg_column, visible + run->order_count);
    size_t count = visible;
    for (size_t i = 0; i < visible; i++) {
        const tg_bind_item *item = &run->sel.items.items[i];
        exprs[i] = item->expr;
        columns[i] = tg_bind_column(run->b, item->name, item->expr->type, item->expr->nullable);
    }
    for (size_t i = 0; i < run->order_count; i++) {
        ptrdiff_t at = output_of(run, run->order[i].expr);
        if (at < 0 && select->distinct) {
            return tg_fn_at(select->span, err,
                            TG_ERR(err, DISTINCT_ORDER_BY,
                                   "ORDER BY of SELECT DISTINCT can only use output columns"));
        }
        if (at < 0) {
            at = (ptrdiff_t)count++;
            exprs[at] = run->order[i].expr;
            columns[at] =
                tg_bind_column(run->b, TG_S("order"), exprs[at]->type, exprs[at]->nullable);
        }
        run->order[i].expr = tg_bexpr_column(run->b->arena, &columns[at], run->order[i].expr->span);
    }
    tg_rel *rel = tg_sql_rel_project(run->b->arena, run->sel.rel, exprs, columns, count);
    if (select->distinct) {
        for (size_t i = 0; i < visible; i++) {
            TG_TRY(check_group_type(run, exprs[i], run->sel.items.items[i].span, err));
        }
        rel = tg_bind_over(run->b, TG_R_DISTINCT, rel, select->span);
    }
    if (run->order_count > 0) {
        rel = tg_bind_over(run->b, TG_R_SORT, rel, select->span);
        rel->order_by = run->order;
        rel->order_count = run->order_count;
    }
    *out = (tg_bind_body){.rel = rel, .visible = visible};
    return TG_OK;
}

tg_code tg_bind_select(tg_binder *b, const tg_select *select, const tg_query_env *env,
                       const tg_bind_order *order, tg_bind_body *out, tg_error *err)
{
    select_run run = {.b = b};
    run.sel.ast = select;
    run.sel.aggregate_ids.arena = b->arena;
    run.sel.window_ids.arena = b->arena;
    if (select->from) {
        tg_bind_source source;
        TG_TRY(tg_bind_from(b, select->from, env, &source, err));
        run.sel.rel = source.rel;
        run.sel.scope = source.scope;
    } else {
        run.sel.rel = tg_bind_one_row(b, select->span);
        run.sel.scope = tg_bind_scope_of(b, run.sel.rel, env->outer, NULL, 0);
    }
    if (select->lateral_view_count > 0) {
        return tg_fn_at(
            select->lateral_views[0].span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE, "LATERAL VIEW is not available in this release"));
    }
    run.ctx = (tg_expr_ctx){.b = b, .scope = run.sel.scope, .env = env, .sel = &run.sel};
    if (select->where) {
        tg_expr_ctx where = run.ctx;
        where.clause = "WHERE";
        tg_bexpr *condition;
        TG_TRY(tg_bind_condition(&where, select->where, &condition, err));
        run.sel.rel = tg_sql_rel_filter(b->arena, run.sel.rel, condition);
    }
    TG_TRY(refuse_time_windows(select, err));
    for (size_t i = 0; i < select->item_count; i++) {
        TG_TRY(bind_item(&run, &select->items[i], err));
    }
    TG_TRY(bind_groups(&run, select, err));
    TG_TRY(bind_later_conditions(&run, select, err));
    if (order) {
        TG_TRY(bind_order(&run, order, err));
    }
    bool is_grouped =
        select->group_kind != TG_GROUP_NONE || run.sel.aggregates.count > 0 || select->having;
    if (is_grouped) {
        TG_TRY(replace_all(&run, err));
        stack_aggregate(&run);
        if (run.having) {
            run.sel.rel = tg_sql_rel_filter(b->arena, run.sel.rel, run.having);
        }
    }
    if (run.sel.windows.count > 0) {
        stack_windows(&run);
    }
    if (run.qualify) {
        run.sel.rel = tg_sql_rel_filter(b->arena, run.sel.rel, run.qualify);
    }
    return stack_project(&run, select, out, err);
}
