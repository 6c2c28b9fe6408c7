/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: scalar functions, lambdas, aggregates and window functions (put aside in the select's
 * lists), stars. */
#include "sql/bind_int.h"

/* ---- applying functions ---------------------------------------------------------------------- */

tg_code tg_bind_apply_function(tg_binder *b, const tg_function *function, tg_bexpr **args,
                               size_t count, tg_span span, tg_bexpr **out, tg_error *err)
{
    TG_TRY(tg_function_apply(&b->fn, function, args, count, span, out, err));
    if (function->volatility == TG_VOL_TIME) {
        b->has_time_function = true;
        b->time_function = b->time_function ? b->time_function : function->name;
    } else if (function->volatility == TG_VOL_RANDOM) {
        b->random_count++;
        b->random_function = b->random_function ? b->random_function : function->name;
    }
    return TG_OK;
}

tg_code tg_bind_apply(tg_binder *b, const char *name, tg_bexpr **args, size_t count, tg_span span,
                      tg_bexpr **out, tg_error *err)
{
    const tg_function *function = tg_function_find(tg_str_from(name));
    if (!function) {
        return tg_fn_at(span, err, TG_ERR(err, UNSUPPORTED_FEATURE, "%s is not available", name));
    }
    return tg_bind_apply_function(b, function, args, count, span, out, err);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static tg_code bind_lambda(const tg_expr_ctx *ctx, const tg_expr *lambda,
                           const tg_type *const *types, tg_bexpr **out, tg_error *err)
{
    tg_column *columns = TG_NEW_ARRAY(ctx->b->arena, tg_column, lambda->param_count);
    uint32_t *params = TG_NEW_ARRAY(ctx->b->arena, uint32_t, lambda->param_count);
    for (size_t i = 0; i < lambda->param_count; i++) {
        columns[i] = tg_bind_column(ctx->b, lambda->params[i].text, types[i], true);
        params[i] = columns[i].id;
    }
    tg_lambda_frame frame = {.names = lambda->params,
                             .columns = columns,
                             .count = lambda->param_count,
                             .next = ctx->lambdas};
    tg_expr_ctx inner = *ctx;
    inner.lambdas = &frame;
    tg_bexpr *body;
    TG_TRY(tg_bind_expr(&inner, lambda->args[0], &body, err));
    tg_bexpr *expr = TG_NEW(ctx->b->arena, tg_bexpr);
    *expr = (tg_bexpr){.kind = TG_B_LAMBDA,
                       .type = body->type,
                       .nullable = body->nullable,
                       .span = lambda->span,
                       .arg_count = 1,
                       .params = params,
                       .param_count = lambda->param_count};
    expr->args = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, 1);
    expr->args[0] = body;
    *out = expr;
    return TG_OK;
}

/* count(t.*) would count the rows without NULLs; Spark refuses it, as most people mean count(*). */
static tg_code refuse_count_of_table(const tg_expr_ctx *ctx, const tg_expr *expr, tg_error *err)
{
    const tg_name *table = &expr->args[0]->name;
    bool is_count =
        expr->call->name.count == 1 && tg_str_ieq(expr->call->name.parts[0].text, TG_S("count"));
    if (!is_count || expr->arg_count != 1 || table->count == 0) {
        return TG_OK;
    }
    for (size_t i = 0; ctx->scope && i < ctx->scope->count; i++) {
        if (tg_bind_qualifier_matches(&ctx->scope->columns[i], table->parts, table->count)) {
            return tg_fn_at(
                expr->args[0]->span, err,
                TG_ERR(err, INVALID_USAGE_OF_STAR_IN_COUNT,
                       "count(%.*s.*) is not allowed; use count(*), or name the columns",
                       TG_SARG(tg_bind_name_text(ctx->b->arena, table))));
        }
    }
    return TG_OK;
}

/*
 * Arguments in order. Lambdas follow when the types of all others are known; a * stands for any
 * number of arguments, so their places count among what is bound, not among what is written.
 */
static tg_code bind_args(const tg_expr_ctx *ctx, const tg_expr *expr, const tg_function *function,
                         tg_bexpr ***out_args, size_t *out_count, tg_error *err)
{
    TG_VEC(tg_bexpr *) args = {0};
    TG_VEC(size_t) lambdas = {0};
    if (expr->call->star) {
        /* count(*) is count(1) */
        tg_value one = tg_value_int(tg_type_of(TG_TYPE_INT), 1);
        TG_VEC_PUSH(ctx->b->arena, &args, tg_bexpr_literal(ctx->b->arena, one, expr->span));
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        tg_bexpr *arg = NULL;
        if (expr->args[i]->kind == TG_EXPR_STAR) {
            tg_bind_expansions columns = {0};
            TG_TRY(refuse_count_of_table(ctx, expr, err));
            TG_TRY(tg_bind_star(ctx, expr->args[i], &columns, err));
            for (size_t j = 0; j < columns.count; j++) {
                TG_VEC_PUSH(ctx->b->arena, &args, columns.items[j].expr);
            }
            continue;
        }
        if (expr->args[i]->kind == TG_EXPR_LAMBDA) {
            TG_VEC_PUSH(ctx->b->arena, &lambdas, args.count);
        } else {
            TG_TRY(tg_bind_expr(ctx, expr->args[i], &arg, err));
        }
        TG_VEC_PUSH(ctx->b->arena, &args, arg);
    }
    for (size_t i = 0, next = 0; next < lambdas.count; i++) {
        const tg_expr *lambda = expr->args[i];
        if (lambda->kind != TG_EXPR_LAMBDA) {
            continue;
        }
        size_t at = lambdas.items[next++];
        const tg_type **types = TG_NEW_ARRAY(ctx->b->arena, const tg_type *, lambda->param_count);
        TG_TRY(tg_function_lambda_types(&ctx->b->fn, function, args.items, at, lambda->param_count,
                                        lambda->span, types, err));
        TG_TRY(bind_lambda(ctx, lambda, types, &args.items[at], err));
    }
    *out_args = args.items;
    *out_count = args.count;
    return TG_OK;
}

/* struct(a, b AS x, t.c): the names are arguments of named_struct. */
static tg_code bind_struct(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                           tg_error *err)
{
    TG_VEC(tg_bexpr *) args = {0};
    for (size_t i = 0; i < expr->arg_count; i++) {
        const tg_expr *arg = expr->args[i];
        tg_bind_expansions parts = {0};
        if (arg->kind == TG_EXPR_STAR) {
            TG_TRY(tg_bind_star(ctx, arg, &parts, err));
        } else {
            tg_bind_expansion part = {0};
            TG_TRY(tg_bind_expr(ctx, arg, &part.expr, err));
            if (expr->call->arg_aliases && expr->call->arg_aliases[i].text.len > 0) {
                part.name = expr->call->arg_aliases[i].text;
            } else if (arg->kind == TG_EXPR_NAME) {
                part.name = arg->name.parts[arg->name.count - 1].text;
            } else if (arg->kind == TG_EXPR_FIELD) {
                part.name = arg->field.text;
            } else {
                part.name = tg_str_printf(ctx->b->arena, "col%zu", args.count / 2 + 1);
            }
            TG_VEC_PUSH(ctx->b->arena, &parts, part);
        }
        for (size_t j = 0; j < parts.count; j++) {
            TG_VEC_PUSH(
                ctx->b->arena, &args,
                tg_bexpr_literal(ctx->b->arena,
                                 tg_value_bytes(tg_type_of(TG_TYPE_STRING), parts.items[j].name),
                                 arg->span));
            TG_VEC_PUSH(ctx->b->arena, &args, parts.items[j].expr);
        }
    }
    return tg_bind_apply(ctx->b, "named_struct", args.items, args.count, expr->span, out, err);
}

/* ---- aggregates and windows ------------------------------------------------------------------ */

static tg_bexpr *slot_column(const tg_expr_ctx *ctx, tg_bind_slots *slots, tg_idset *ids,
                             tg_bexpr *expr, tg_str name)
{
    for (size_t i = 0; i < slots->count; i++) {
        if (tg_sql_bexpr_equal(slots->items[i].expr, expr)) {
            return tg_bexpr_column(ctx->b->arena, &slots->items[i].column, expr->span);
        }
    }
    tg_bind_slot slot = {.expr = expr,
                         .column = tg_bind_column(ctx->b, name, expr->type, expr->nullable)};
    TG_VEC_PUSH(ctx->b->arena, slots, slot);
    tg_idset_add(ids, slot.column.id);
    return tg_bexpr_column(ctx->b->arena, &slot.column, expr->span);
}

typedef struct id_search {
    const tg_idset *set;
    bool found;
} id_search;

static void search_id(void *self, const tg_bexpr *expr)
{
    id_search *search = self;
    search->found =
        search->found || (expr->kind == TG_B_COLUMN && tg_idset_has(search->set, expr->column_id));
}

bool tg_bind_uses_any(const tg_bexpr *expr, const tg_idset *set)
{
    id_search search = {.set = set};
    tg_sql_bexpr_visit(expr, search_id, &search);
    return search.found;
}

/*
 * An alias of the select list may bring an aggregate or a window function into another one, where
 * its text could not stand. Both lists are computed at once, so neither can use what is in them.
 */
static tg_code refuse_nested(const tg_expr_ctx *ctx, const tg_bexpr *call, tg_error *err)
{
    bool is_aggregate = call->kind == TG_B_AGGREGATE;
    if (is_aggregate && tg_bind_uses_any(call, &ctx->sel->aggregate_ids)) {
        return tg_fn_at(
            call->span, err,
            TG_ERR(err, NESTED_AGGREGATE_FUNCTION,
                   "aggregate function %s cannot take the alias of another aggregate function",
                   call->function->name));
    }
    if (tg_bind_uses_any(call, &ctx->sel->window_ids)) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "%s function %s cannot take the alias of a window function",
                               is_aggregate ? "aggregate" : "window", call->function->name));
    }
    return TG_OK;
}

static tg_code check_aggregate_place(const tg_expr_ctx *ctx, const tg_expr *expr,
                                     const tg_function *function, tg_error *err)
{
    if (ctx->in_aggregate) {
        return tg_fn_at(
            expr->span, err,
            TG_ERR(err, NESTED_AGGREGATE_FUNCTION,
                   "aggregate function %s cannot stand inside another aggregate function",
                   function->name));
    }
    if (ctx->sel && ctx->allow_aggregates) {
        return TG_OK;
    }
    if (ctx->clause && strcmp(ctx->clause, "GROUP BY") == 0) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, GROUP_BY_AGGREGATE,
                               "aggregate function %s cannot stand in GROUP BY", function->name));
    }
    return tg_fn_at(expr->span, err,
                    TG_ERR(err, INVALID_WHERE_CONDITION, "aggregate function %s cannot stand in %s",
                           function->name, ctx->clause ? ctx->clause : "this place"));
}

static tg_code bind_filter(const tg_expr_ctx *ctx, const tg_call *call, tg_bexpr *aggregate,
                           tg_error *err)
{
    if (!call->filter) {
        return TG_OK;
    }
    tg_expr_ctx inner = *ctx;
    inner.clause = "FILTER";
    inner.no_subqueries = true;
    return tg_bind_condition(&inner, call->filter, &aggregate->filter, err);
}

static tg_code bind_aggregate_args(const tg_expr_ctx *ctx, const tg_expr *expr,
                                   const tg_function *function, tg_bexpr **out, tg_error *err)
{
    tg_expr_ctx inner = *ctx;
    inner.in_aggregate = true;
    inner.allow_windows = false;
    const tg_call *call = expr->call;
    tg_bexpr **args;
    size_t count;
    TG_TRY(bind_args(&inner, expr, function, &args, &count, err));
    tg_bsort *order = NULL;
    if (call->within_group_count > 0) {
        TG_TRY(
            tg_bind_sort_items(&inner, call->within_group, call->within_group_count, &order, err));
        bool takes_value = function->max_args < 0 || (int)count < function->max_args;
        bool keeps_order = tg_str_eq(tg_str_from(function->name), TG_S("listagg")) ||
                           tg_str_eq(tg_str_from(function->name), TG_S("string_agg"));
        if (takes_value && !keeps_order) {
            return tg_fn_at(expr->span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE, "%s WITHIN GROUP is not available",
                                   function->name));
        }
    }
    TG_TRY(tg_bind_apply_function(ctx->b, function, args, count, expr->span, out, err));
    (*out)->kind = TG_B_AGGREGATE;
    (*out)->distinct = call->distinct;
    (*out)->ignore_nulls = call->ignore_nulls;
    (*out)->order_by = order;
    (*out)->order_count = call->within_group_count;
    return bind_filter(&inner, call, *out, err);
}

/*
 * Spark gives these the rows as a subquery's ORDER BY left them. The engine promises no order, so
 * the value would be another one now and then.
 */
static tg_code refuse_dropped_order(const tg_expr_ctx *ctx, const tg_bexpr *call, tg_error *err)
{
    static const char *const NAMES[] = {"collect_list", "array_agg",  "first",   "first_value",
                                        "last",         "last_value", "listagg", "string_agg"};
    bool takes_order = call->order_count == 0 && !(call->window && call->window->order_count > 0);
    bool depends = false;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        depends = depends || strcmp(call->function->name, NAMES[i]) == 0;
    }
    const tg_rel *rel = ctx->sel->rel;
    while ((rel->kind == TG_R_FILTER || rel->kind == TG_R_PROJECT) && !rel->drops_order) {
        rel = rel->input;
    }
    if (!depends || !takes_order || !rel->drops_order) {
        return TG_OK;
    }
    TG_ERR(err, UNSUPPORTED_FEATURE, "%s cannot follow the ORDER BY of a subquery",
           call->function->name);
    (void)tg_error_hint(err, "Order its values: array_sort(collect_list(x)), string_agg(x, ',') "
                             "WITHIN GROUP (ORDER BY x), min_by(x, key), max_by(x, key).");
    return tg_error_span(err, call->span.offset, call->span.len);
}

static tg_code bind_aggregate(const tg_expr_ctx *ctx, const tg_expr *expr,
                              const tg_function *function, tg_bexpr **out, tg_error *err)
{
    TG_TRY(check_aggregate_place(ctx, expr, function, err));
    tg_bexpr *aggregate;
    TG_TRY(bind_aggregate_args(ctx, expr, function, &aggregate, err));
    TG_TRY(refuse_nested(ctx, aggregate, err));
    TG_TRY(refuse_dropped_order(ctx, aggregate, err));
    *out = slot_column(ctx, &ctx->sel->aggregates, &ctx->sel->aggregate_ids, aggregate,
                       tg_bind_shown_name(ctx->b->arena, expr));
    return TG_OK;
}

static tg_code find_window(const tg_expr_ctx *ctx, const tg_window_spec *spec,
                           const tg_window_spec **out_base, tg_error *err)
{
    *out_base = NULL;
    if (spec->base.text.len == 0) {
        return TG_OK;
    }
    for (size_t i = 0; ctx->sel->ast && i < ctx->sel->ast->window_count; i++) {
        if (tg_str_ieq(ctx->sel->ast->windows[i].name.text, spec->base.text)) {
            *out_base = ctx->sel->ast->windows[i].spec;
            if ((*out_base)->base.text.len > 0) {
                return tg_fn_at(
                    spec->span, err,
                    TG_ERR(err, UNSUPPORTED_FEATURE,
                           "a window that is built on another named window is not available"));
            }
            return TG_OK;
        }
    }
    return tg_fn_at(spec->span, err,
                    TG_ERR(err, MISSING_WINDOW_SPECIFICATION, "no WINDOW clause defines `%.*s`",
                           TG_SARG(spec->base.text)));
}

static tg_code bind_frame(const tg_expr_ctx *ctx, const tg_window_spec *spec, tg_bwindow *window,
                          tg_error *err)
{
    const tg_frame_bound *bounds[2] = {&spec->frame_start, &spec->frame_end};
    tg_bexpr **offsets[2] = {&window->start_offset, &window->end_offset};
    window->frame = spec->frame;
    window->start = spec->frame_start.kind;
    window->end = spec->frame_end.kind;
    for (int i = 0; i < 2 && spec->frame != TG_FRAME_NONE; i++) {
        if (bounds[i]->offset) {
            TG_TRY(tg_bind_expr(ctx, bounds[i]->offset, offsets[i], err));
        }
    }
    return TG_OK;
}

static tg_code bind_window_spec(const tg_expr_ctx *ctx, const tg_window_spec *spec,
                                const tg_bwindow **out, tg_error *err)
{
    const tg_window_spec *base;
    TG_TRY(find_window(ctx, spec, &base, err));
    const tg_window_spec *partition = base && base->partition_count > 0 ? base : spec;
    const tg_window_spec *order = spec->order_count == 0 && base ? base : spec;
    const tg_window_spec *frame = spec->frame == TG_FRAME_NONE && base ? base : spec;
    tg_bwindow *window = TG_NEW(ctx->b->arena, tg_bwindow);
    window->partition_count = partition->partition_count;
    window->partition_by = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, partition->partition_count);
    for (size_t i = 0; i < partition->partition_count; i++) {
        TG_TRY(tg_bind_expr(ctx, partition->partition_by[i], &window->partition_by[i], err));
    }
    window->order_count = order->order_count;
    TG_TRY(tg_bind_sort_items(ctx, order->order_by, order->order_count, &window->order_by, err));
    TG_TRY(bind_frame(ctx, frame, window, err));
    *out = window;
    return TG_OK;
}

static bool needs_order(const char *name)
{
    static const char *const NAMES[] = {"row_number", "rank",  "dense_rank", "percent_rank",
                                        "cume_dist",  "ntile", "lag",        "lead"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return true;
        }
    }
    return false;
}

static tg_code bind_window(const tg_expr_ctx *ctx, const tg_expr *expr, const tg_function *function,
                           tg_bexpr **out, tg_error *err)
{
    if (!ctx->sel || !ctx->allow_windows || ctx->in_window || ctx->in_aggregate) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, INVALID_WHERE_CONDITION,
                               "window function %s cannot stand in %s", function->name,
                               ctx->in_window      ? "another window function"
                               : ctx->in_aggregate ? "an aggregate function"
                               : ctx->clause       ? ctx->clause
                                                   : "this place"));
    }
    if (expr->call->distinct) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, DISTINCT_WINDOW_FUNCTION_UNSUPPORTED,
                               "window function %s cannot be DISTINCT", function->name));
    }
    tg_expr_ctx inner = *ctx;
    inner.in_window = true;
    const tg_bwindow *window;
    tg_bexpr **args, *call;
    size_t count;
    TG_TRY(bind_window_spec(&inner, expr->call->over, &window, err));
    if (needs_order(function->name) && window->order_count == 0) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, WINDOW_FUNCTION_MISSING_ORDER_BY,
                               "window function %s needs an ORDER BY in its OVER clause",
                               function->name));
    }
    TG_TRY(bind_args(&inner, expr, function, &args, &count, err));
    TG_TRY(tg_bind_apply_function(ctx->b, function, args, count, expr->span, &call, err));
    call->kind = TG_B_WINDOW;
    call->window = window;
    call->ignore_nulls = expr->call->ignore_nulls;
    TG_TRY(bind_filter(&inner, expr->call, call, err));
    TG_TRY(refuse_nested(ctx, call, err));
    TG_TRY(refuse_dropped_order(ctx, call, err));
    *out = slot_column(ctx, &ctx->sel->windows, &ctx->sel->window_ids, call,
                       tg_bind_shown_name(ctx->b->arena, expr));
    return TG_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tg_code find_function(const tg_expr_ctx *ctx, const tg_expr *expr, const tg_function **out,
                             tg_error *err)
{
    const tg_call *call = expr->call;
    tg_str name = tg_str_lower(ctx->b->arena, call->name.parts[call->name.count - 1].text);
    *out = call->name.count == 1 ? tg_function_find(name) : NULL;
    bool is_word =
        name.len > 0 && ((name.ptr[0] >= 'a' && name.ptr[0] <= 'z') || name.ptr[0] == '_');
    if (*out && is_word && !tg_str_eq(name, TG_S("is_true")) &&
        !tg_str_eq(name, TG_S("is_false")) && !tg_str_eq(name, TG_S("struct_row"))) {
        return TG_OK;
    }
    TG_ERR(err, UNRESOLVED_ROUTINE, "function %.*s is not known or not available in this release",
           TG_SARG(tg_bind_name_text(ctx->b->arena, &call->name)));
    tg_str near = tg_function_nearest(name);
    if (near.len > 0) {
        (void)tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near));
    }
    return tg_error_span(err, call->name.span.offset, call->name.span.len);
}

static tg_code refuse_call_forms(const tg_expr *expr, const tg_function *function, tg_error *err)
{
    const tg_call *call = expr->call;
    if (call->arg_names) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "named arguments are not available"));
    }
    if (function->cls == TG_FN_SCALAR &&
        (call->distinct || call->filter || call->within_group_count > 0)) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "function %s takes no DISTINCT, FILTER or WITHIN GROUP",
                               function->name));
    }
    if (function->cls == TG_FN_SCALAR && call->over) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "function %s cannot have an OVER clause",
                               function->name));
    }
    if (function->cls == TG_FN_WINDOW && !call->over) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE,
                               "window function %s needs an OVER clause", function->name));
    }
    if (function->cls == TG_FN_GENERATOR) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "generator function %s is not available here", function->name));
    }
    return TG_OK;
}

tg_code tg_bind_call(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    const tg_call *call = expr->call;
    if (call->name.count == 1 && tg_str_ieq(call->name.parts[0].text, TG_S("struct")) &&
        !call->over) {
        return bind_struct(ctx, expr, out, err);
    }
    const tg_function *function;
    TG_TRY(find_function(ctx, expr, &function, err));
    TG_TRY(refuse_call_forms(expr, function, err));
    if (call->over) {
        return bind_window(ctx, expr, function, out, err);
    }
    if (function->cls == TG_FN_AGGREGATE) {
        return bind_aggregate(ctx, expr, function, out, err);
    }
    tg_bexpr **args;
    size_t count;
    TG_TRY(bind_args(ctx, expr, function, &args, &count, err));
    return tg_bind_apply_function(ctx->b, function, args, count, expr->span, out, err);
}

/* ---- stars ----------------------------------------------------------------------------------- */

static bool is_excepted(const tg_expr *star, const tg_scope_column *column)
{
    for (size_t i = 0; i < star->except_count; i++) {
        const tg_name *name = &star->except[i];
        if (tg_str_ieq(name->parts[name->count - 1].text, column->column.name) &&
            tg_bind_qualifier_matches(column, name->parts, name->count - 1)) {
            return true;
        }
    }
    return false;
}

/* s.*: the fields of a struct column. */
static tg_code expand_struct(const tg_expr_ctx *ctx, const tg_expr *star, tg_bind_expansions *out,
                             tg_error *err)
{
    tg_expr name = {.kind = TG_EXPR_NAME, .span = star->span, .name = star->name};
    tg_bexpr *base;
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    if (tg_bind_expr(ctx, &name, &base, &inner) != TG_OK || base->type->kind != TG_TYPE_STRUCT) {
        return tg_fn_at(star->span, err,
                        TG_ERR(err, CANNOT_RESOLVE_STAR_EXPAND,
                               "%.*s.* names no relation and no struct",
                               TG_SARG(tg_bind_name_text(ctx->b->arena, &star->name))));
    }
    for (size_t i = 0; i < base->type->field_count; i++) {
        tg_ident field = {.text = base->type->fields[i].name};
        tg_bind_expansion part = {.name = field.text};
        TG_TRY(tg_bind_field(ctx->b, base, &field, star->span, &part.expr, err));
        TG_VEC_PUSH(ctx->b->arena, out, part);
    }
    return TG_OK;
}

tg_code tg_bind_star(const tg_expr_ctx *ctx, const tg_expr *star, tg_bind_expansions *out,
                     tg_error *err)
{
    bool any = false;
    for (size_t i = 0; ctx->scope && i < ctx->scope->count; i++) {
        const tg_scope_column *column = &ctx->scope->columns[i];
        bool in = star->name.count > 0
                      ? tg_bind_qualifier_matches(column, star->name.parts, star->name.count)
                      : column->in_star;
        any = any || in;
        if (!in || is_excepted(star, column)) {
            continue;
        }
        tg_bind_expansion part = {.expr =
                                      tg_bexpr_column(ctx->b->arena, &column->column, star->span),
                                  .name = column->column.name};
        TG_VEC_PUSH(ctx->b->arena, out, part);
    }
    if (!any && star->name.count > 0) {
        return expand_struct(ctx, star, out, err);
    }
    for (size_t i = 0; i < star->except_count; i++) {
        size_t matches = 0, first, used;
        const tg_name *name = &star->except[i];
        tg_bind_scope_find(ctx->scope, name->parts, name->count, &matches, &first, &used);
        if (matches == 0) {
            return tg_bind_unresolved(ctx->b, ctx->scope, name, NULL, 0, err);
        }
        if (used != name->count) {
            return tg_fn_at(
                name->span, err,
                TG_ERR(err, UNSUPPORTED_FEATURE, "EXCEPT of a struct field is not available"));
        }
    }
    if (!any) {
        return tg_fn_at(star->span, err,
                        TG_ERR(err, CANNOT_RESOLVE_STAR_EXPAND, "'*' needs a FROM clause"));
    }
    return TG_OK;
}
