/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: names, operators, special forms, subqueries. Calls are in bind_call.c. */
#include "sql/bind_int.h"

/* ---- names ----------------------------------------------------------------------------------- */

static tg_code fields_of(const tg_expr_ctx *ctx, tg_bexpr *base, const tg_name *name, size_t used,
                         tg_bexpr **out, tg_error *err)
{
    for (size_t i = used; i < name->count; i++) {
        TG_TRY(tg_bind_field(ctx->b, base, &name->parts[i], name->span, &base, err));
    }
    *out = base;
    return TG_OK;
}

static tg_bexpr *lambda_variable(const tg_expr_ctx *ctx, const tg_name *name)
{
    for (const tg_lambda_frame *frame = ctx->lambdas; frame; frame = frame->next) {
        for (size_t i = 0; i < frame->count; i++) {
            if (tg_str_ieq(frame->names[i].text, name->parts[0].text)) {
                tg_bexpr *var = TG_NEW(ctx->b->arena, tg_bexpr);
                *var = (tg_bexpr){.kind = TG_B_LAMBDA_VAR,
                                  .type = frame->columns[i].type,
                                  .nullable = frame->columns[i].nullable,
                                  .span = name->span,
                                  .column_id = frame->columns[i].id};
                return var;
            }
        }
    }
    return NULL;
}

/* The item that an alias names; NULL when none or more than one does. */
static const tg_bind_item *find_item(const tg_expr_ctx *ctx, const tg_name *name)
{
    const tg_bind_item *found = NULL;
    for (size_t i = 0; ctx->sel && i < ctx->sel->items.count; i++) {
        const tg_bind_item *item = &ctx->sel->items.items[i];
        bool may = item->has_alias || ctx->aliases == TG_ALIAS_OUTPUT;
        if (may && item->expr && tg_str_ieq(item->name, name->parts[0].text)) {
            if (found && !tg_sql_bexpr_equal(found->expr, item->expr)) {
                return NULL;
            }
            found = item;
        }
    }
    return found;
}

static tg_code bind_alias(const tg_expr_ctx *ctx, const tg_name *name, tg_bexpr **out,
                          bool *out_found, tg_error *err)
{
    const tg_bind_item *item = ctx->aliases == TG_ALIAS_NONE ? NULL : find_item(ctx, name);
    *out_found = item != NULL;
    if (item && ctx->in_window && ctx->aliases == TG_ALIAS_LATERAL) {
        return tg_fn_at(
            name->span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE,
                   "a window function cannot use %.*s, an alias of the same select list",
                   TG_SARG(tg_bind_name_text(ctx->b->arena, name))));
    }
    return item ? fields_of(ctx, item->expr, name, 1, out, err) : TG_OK;
}

static tg_code bind_in_scope(const tg_expr_ctx *ctx, const tg_name *name, const tg_scope *scope,
                             bool is_outer, tg_bexpr **out, bool *out_found, tg_error *err)
{
    size_t matches, first = 0, used = 0;
    tg_bind_scope_find(scope, name->parts, name->count, &matches, &first, &used);
    *out_found = matches > 0;
    if (matches == 0) {
        return TG_OK;
    }
    if (matches > 1) {
        return tg_fn_at(name->span, err,
                        TG_ERR(err, AMBIGUOUS_REFERENCE,
                               "reference %.*s is ambiguous: %zu columns have this name",
                               TG_SARG(tg_bind_name_text(ctx->b->arena, name)), matches));
    }
    tg_bexpr *column = tg_bexpr_column(ctx->b->arena, &scope->columns[first].column, name->span);
    column->is_outer = is_outer;
    return fields_of(ctx, column, name, used, out, err);
}

static tg_code bind_name(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    const tg_name *name = &expr->name;
    bool found = false;
    tg_bexpr *var = lambda_variable(ctx, name);
    if (var) {
        return fields_of(ctx, var, name, 1, out, err);
    }
    bool alias_first = ctx->aliases == TG_ALIAS_OUTPUT && !ctx->in_aggregate;
    if (alias_first) {
        TG_TRY(bind_alias(ctx, name, out, &found, err));
    }
    if (!found && ctx->scope) {
        TG_TRY(bind_in_scope(ctx, name, ctx->scope, false, out, &found, err));
    }
    if (!found && !alias_first) {
        TG_TRY(bind_alias(ctx, name, out, &found, err));
    }
    for (const tg_scope *scope = ctx->scope ? ctx->scope->parent : NULL; !found && scope;
         scope = scope->parent) {
        TG_TRY(bind_in_scope(ctx, name, scope, true, out, &found, err));
    }
    if (found) {
        return TG_OK;
    }
    TG_VEC(tg_str) names = {0};
    for (size_t i = 0; ctx->sel && i < ctx->sel->items.count; i++) {
        TG_VEC_PUSH(ctx->b->arena, &names, ctx->sel->items.items[i].name);
    }
    return tg_bind_unresolved(ctx->b, ctx->scope, name, names.items, names.count, err);
}

/*
 * CURRENT_DATE and its kin without parentheses are names first (Spark: literal functions): a column
 * of that name in reach is meant, before the function, and the function before an alias.
 */
static tg_code bind_word(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    const tg_name *name = &expr->call->name;
    bool found = false;
    tg_bexpr *var = lambda_variable(ctx, name);
    if (var) {
        return fields_of(ctx, var, name, 1, out, err);
    }
    if (ctx->aliases == TG_ALIAS_OUTPUT && !ctx->in_aggregate) {
        TG_TRY(bind_alias(ctx, name, out, &found, err));
    }
    if (!found && ctx->scope) {
        TG_TRY(bind_in_scope(ctx, name, ctx->scope, false, out, &found, err));
    }
    return found ? TG_OK : tg_bind_call(ctx, expr, out, err);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const char *operator_name(tg_op op)
{
    static const char *const NAMES[] = {
        [TG_OP_NEGATE] = "negative",
        [TG_OP_PLUS] = "positive",
        [TG_OP_NOT] = "not",
        [TG_OP_BIT_NOT] = "~",
        [TG_OP_ADD] = "+",
        [TG_OP_SUB] = "-",
        [TG_OP_MUL] = "*",
        [TG_OP_DIV] = "/",
        [TG_OP_MOD] = "%",
        [TG_OP_INT_DIV] = "div",
        [TG_OP_CONCAT] = "||",
        [TG_OP_BIT_AND] = "&",
        [TG_OP_BIT_OR] = "|",
        [TG_OP_BIT_XOR] = "^",
        [TG_OP_SHIFT_LEFT] = "<<",
        [TG_OP_SHIFT_RIGHT] = ">>",
        [TG_OP_SHIFT_RIGHT_UNSIGNED] = ">>>",
        [TG_OP_EQ] = "=",
        [TG_OP_NE] = "<>",
        [TG_OP_LT] = "<",
        [TG_OP_LE] = "<=",
        [TG_OP_GT] = ">",
        [TG_OP_GE] = ">=",
        [TG_OP_EQ_NULL_SAFE] = "<=>",
        [TG_OP_AND] = "and",
        [TG_OP_OR] = "or",
    };
    return NAMES[op];
}

typedef TG_VEC(const tg_expr *) expr_list;

/* The operands of a chain a AND b AND c (or OR), left to right. */
static void flatten(tg_arena *arena, const tg_expr *expr, tg_op op, expr_list *out)
{
    while (expr->kind == TG_EXPR_BINARY && expr->op == op) {
        TG_VEC_PUSH(arena, out, expr->args[1]);
        expr = expr->args[0];
    }
    TG_VEC_PUSH(arena, out, expr);
    for (size_t i = 0; i < out->count / 2; i++) {
        const tg_expr *swap = out->items[i];
        out->items[i] = out->items[out->count - 1 - i];
        out->items[out->count - 1 - i] = swap;
    }
}

/* Joins bound terms pairwise, so that the tree is as flat as it can be. */
static tg_code join_terms(tg_binder *b, const char *function, tg_bexpr **terms, size_t count,
                          tg_span span, tg_bexpr **out, tg_error *err)
{
    while (count > 1) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i += 2) {
            if (i + 1 < count) {
                tg_bexpr *args[2] = {terms[i], terms[i + 1]};
                TG_TRY(tg_bind_apply(b, function, args, 2, span, &terms[kept], err));
            } else {
                terms[kept] = terms[i];
            }
            kept++;
        }
        count = kept;
    }
    *out = terms[0];
    return TG_OK;
}

static tg_code bind_chain(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                          tg_error *err)
{
    expr_list terms = {0};
    tg_expr_ctx inner = *ctx;
    inner.is_conjunct = ctx->is_conjunct && expr->op == TG_OP_AND;
    flatten(ctx->b->arena, expr, expr->op, &terms);
    tg_bexpr **bound = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, terms.count);
    for (size_t i = 0; i < terms.count; i++) {
        TG_TRY(tg_bind_expr(&inner, terms.items[i], &bound[i], err));
    }
    return join_terms(ctx->b, operator_name(expr->op), bound, terms.count, expr->span, out, err);
}

/* Chains of one arithmetic operator are left-deep: bound bottom up in a loop. */
static tg_code bind_binary(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                           tg_error *err)
{
    if (expr->op == TG_OP_AND || expr->op == TG_OP_OR) {
        return bind_chain(ctx, expr, out, err);
    }
    expr_list spine = {0};
    const tg_expr *node = expr;
    while (node->kind == TG_EXPR_BINARY && node->op != TG_OP_AND && node->op != TG_OP_OR) {
        TG_VEC_PUSH(ctx->b->arena, &spine, node);
        node = node->args[0];
    }
    if (spine.count > TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "an expression has more than %d operators in a row",
                               (int)TG_LIMIT_EXPRESSION_DEPTH));
    }
    tg_bexpr *left;
    TG_TRY(tg_bind_expr(ctx, node, &left, err));
    for (size_t i = spine.count; i-- > 0;) {
        tg_bexpr *args[2] = {left, NULL};
        TG_TRY(tg_bind_expr(ctx, spine.items[i]->args[1], &args[1], err));
        TG_TRY(tg_bind_apply(ctx->b, operator_name(spine.items[i]->op), args, 2,
                             spine.items[i]->span, &left, err));
    }
    *out = left;
    return TG_OK;
}

static tg_code negate_if(const tg_expr_ctx *ctx, bool negated, tg_span span, tg_bexpr **expr,
                         tg_error *err)
{
    return negated ? tg_bind_apply(ctx->b, "not", (tg_bexpr *[]){*expr}, 1, span, expr, err)
                   : TG_OK;
}

static tg_code bind_args(const tg_expr_ctx *ctx, tg_expr *const *args, size_t count,
                         tg_bexpr ***out, tg_error *err)
{
    *out = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(tg_bind_expr(ctx, args[i], &(*out)[i], err));
    }
    return TG_OK;
}

static tg_code bind_special(const tg_expr_ctx *ctx, const tg_expr *expr, const char *function,
                            tg_bexpr **out, tg_error *err)
{
    tg_bexpr **args;
    TG_TRY(bind_args(ctx, expr->args, expr->arg_count, &args, err));
    TG_TRY(tg_bind_apply(ctx->b, function, args, expr->arg_count, expr->span, out, err));
    return negate_if(ctx, expr->negated, expr->span, out, err);
}

static tg_code bind_is(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    static const char *const NAMES[] = {"isnull", "is_true", "is_false", "isnull", "<=>"};
    tg_bexpr **args;
    TG_TRY(bind_args(ctx, expr->args, expr->arg_count, &args, err));
    if (expr->is == TG_IS_UNKNOWN) {
        TG_TRY(tg_sql_cast(&ctx->b->fn, args[0], tg_type_of(TG_TYPE_BOOLEAN), TG_CAST_IMPLICIT,
                           expr->span, &args[0], err));
    }
    TG_TRY(tg_bind_apply(ctx->b, NAMES[expr->is], args, expr->arg_count, expr->span, out, err));
    bool negated = expr->is == TG_IS_DISTINCT_FROM ? !expr->negated : expr->negated;
    return negate_if(ctx, negated, expr->span, out, err);
}

static tg_code bind_like(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    static const char *const NAMES[] = {"like", "ilike", "rlike"};
    tg_bexpr **args, *escape = NULL;
    TG_TRY(bind_args(ctx, expr->args, expr->arg_count, &args, err));
    if (expr->escape) {
        TG_TRY(tg_bind_expr(ctx, expr->escape, &escape, err));
    }
    size_t count = expr->arg_count - 1;
    tg_bexpr **terms = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *pair[3] = {args[0], args[i + 1], escape};
        TG_TRY(tg_bind_apply(ctx->b, NAMES[expr->like], pair, escape ? 3 : 2, expr->span, &terms[i],
                             err));
        /* NOT LIKE ANY means: some pattern does not match */
        TG_TRY(negate_if(ctx, expr->negated, expr->span, &terms[i], err));
    }
    return join_terms(ctx->b, expr->quantifier == TG_QUANT_ANY ? "or" : "and", terms, count,
                      expr->span, out, err);
}

static tg_code bind_case(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    tg_bexpr **args;
    TG_TRY(bind_args(ctx, expr->args, expr->arg_count, &args, err));
    if (!expr->has_operand) {
        return tg_bind_apply(ctx->b, "case", args, expr->arg_count, expr->span, out, err);
    }
    size_t pairs_end = expr->arg_count - expr->has_else;
    for (size_t i = 1; i + 1 < pairs_end; i += 2) {
        tg_bexpr *pair[2] = {args[0], args[i]};
        TG_TRY(tg_bind_apply(ctx->b, "=", pair, 2, expr->span, &args[i], err));
    }
    return tg_bind_apply(ctx->b, "case", args + 1, expr->arg_count - 1, expr->span, out, err);
}

/* TIMESTAMP'..' without a zone: local time of the session. */
static tg_code bind_typed_literal(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                                  tg_error *err)
{
    tg_str text = expr->args[0]->literal.as.bytes;
    int64_t us, days;
    bool has_zone;
    if (expr->type->kind == TG_TYPE_TIMESTAMP &&
        tg_timestamp_parse(text, ctx->b->arena, &us, &has_zone)) {
        us = has_zone ? us : tg_zone_to_us(ctx->b->options->zone, us);
        ctx->b->fn.used_zone = true;
        *out = tg_bexpr_literal(ctx->b->arena, tg_value_int(expr->type, us), expr->span);
        return TG_OK;
    }
    if (expr->type->kind == TG_TYPE_DATE && tg_date_parse(text, &days)) {
        *out = tg_bexpr_literal(ctx->b->arena, tg_value_int(expr->type, days), expr->span);
        return TG_OK;
    }
    tg_bexpr *arg;
    TG_TRY(tg_bind_expr(ctx, expr->args[0], &arg, err));
    return tg_sql_cast(&ctx->b->fn, arg, expr->type, TG_CAST_ANSI, expr->span, out, err);
}

static tg_code bind_cast(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    if (expr->is_typed_literal) {
        return bind_typed_literal(ctx, expr, out, err);
    }
    tg_bexpr *arg;
    TG_TRY(tg_bind_expr(ctx, expr->args[0], &arg, err));
    TG_TRY(tg_sql_cast(&ctx->b->fn, arg, expr->type, expr->is_try ? TG_CAST_TRY : TG_CAST_ANSI,
                       expr->span, out, err));
    if ((*out)->is_foldable_int_literal) {
        *out = tg_arena_memdup(ctx->b->arena, *out, sizeof(**out));
        (*out)->is_foldable_int_literal = false;
    }
    return TG_OK;
}

static tg_code bind_interval(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                             tg_error *err)
{
    static const struct {
        const char *unit;
        const char *function;
        int position, factor;
    } UNITS[] = {{"YEAR", "make_ym_interval", 0, 1},  {"MONTH", "make_ym_interval", 1, 1},
                 {"WEEK", "make_dt_interval", 0, 7},  {"DAY", "make_dt_interval", 0, 1},
                 {"HOUR", "make_dt_interval", 1, 1},  {"MINUTE", "make_dt_interval", 2, 1},
                 {"SECOND", "make_dt_interval", 3, 1}};
    tg_str unit = expr->call->name.parts[0].text;
    if (tg_str_ends(unit, TG_S("S"))) {
        unit.len--;
    }
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(*UNITS); i++) {
        if (!tg_str_ieq(unit, tg_str_from(UNITS[i].unit))) {
            continue;
        }
        tg_bexpr *count;
        TG_TRY(tg_bind_expr(ctx, expr->args[0], &count, err));
        tg_bexpr *factor = tg_bexpr_literal(
            ctx->b->arena, tg_value_int(tg_type_of(TG_TYPE_INT), UNITS[i].factor), expr->span);
        if (UNITS[i].factor != 1) {
            TG_TRY(tg_bind_apply(ctx->b, "*", (tg_bexpr *[]){count, factor}, 2, expr->span, &count,
                                 err));
        }
        tg_bexpr *args[4];
        for (int j = 0; j < UNITS[i].position; j++) {
            args[j] = tg_bexpr_literal(ctx->b->arena, tg_value_int(tg_type_of(TG_TYPE_INT), 0),
                                       expr->span);
        }
        args[UNITS[i].position] = count;
        return tg_bind_apply(ctx->b, UNITS[i].function, args, (size_t)UNITS[i].position + 1,
                             expr->span, out, err);
    }
    return tg_fn_at(expr->span, err,
                    TG_ERR(err, UNSUPPORTED_FEATURE,
                           "an interval of computed %.*s is not available",
                           TG_SARG(expr->call->name.parts[0].text)));
}

/* ---- subqueries ------------------------------------------------------------------------------ */

static tg_code bind_subquery_rel(const tg_expr_ctx *ctx, const tg_query *query, tg_rel **out,
                                 tg_error *err)
{
    if (ctx->no_subqueries) {
        return tg_fn_at(query->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE, "a subquery cannot stand here"));
    }
    tg_query_env env = {.ctes = ctx->env ? ctx->env->ctes : NULL, .outer = ctx->scope};
    return tg_bind_query(ctx->b, query, &env, /* keep_order= */ false, out, err);
}

static tg_bexpr *subquery_expr(const tg_expr_ctx *ctx, tg_bexpr_kind kind, tg_rel *rel,
                               const tg_type *type, bool nullable, tg_span span)
{
    tg_bexpr *expr = TG_NEW(ctx->b->arena, tg_bexpr);
    *expr = (tg_bexpr){.kind = kind, .type = type, .nullable = nullable, .span = span, .rel = rel};
    return expr;
}

static tg_code bind_scalar_subquery(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                                    tg_error *err)
{
    tg_rel *rel;
    TG_TRY(bind_subquery_rel(ctx, expr->query, &rel, err));
    if (rel->column_count != 1) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN,
                               "a subquery used as a value must give one column, not %zu",
                               rel->column_count));
    }
    *out = subquery_expr(ctx, TG_B_SUBQUERY, rel, rel->columns[0].type, true, expr->span);
    return TG_OK;
}

static tg_code bind_exists(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                           tg_error *err)
{
    tg_rel *rel;
    TG_TRY(bind_subquery_rel(ctx, expr->query, &rel, err));
    *out = subquery_expr(ctx, TG_B_EXISTS, rel, tg_type_of(TG_TYPE_BOOLEAN), false, expr->span);
    (*out)->negated = expr->negated;
    return TG_OK;
}

static tg_code bind_in_query(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                             tg_error *err)
{
    if (!ctx->is_conjunct) {
        /* As a value Spark gives FALSE where SQL gives NULL: its plan decides, so it is refused. */
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "IN (subquery) as a value is not available; use it as a condition "
                               "of WHERE or HAVING"));
    }
    tg_rel *rel;
    const tg_expr *left = expr->args[0];
    bool is_row = left->kind == TG_EXPR_ROW;
    size_t count = is_row ? left->arg_count : 1;
    tg_bexpr **args;
    TG_TRY(bind_args(ctx, is_row ? left->args : expr->args, count, &args, err));
    TG_TRY(bind_subquery_rel(ctx, expr->query, &rel, err));
    if (rel->column_count != count) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, IN_SUBQUERY_LENGTH_MISMATCH,
                               "IN compares %zu columns with the %zu of the subquery", count,
                               rel->column_count));
    }
    tg_bexpr **exprs = TG_NEW_ARRAY(ctx->b->arena, tg_bexpr *, count);
    tg_column *columns = TG_NEW_ARRAY(ctx->b->arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *pair[2] = {args[i], tg_bexpr_column(ctx->b->arena, &rel->columns[i], expr->span)};
        const tg_type *type;
        TG_TRY(tg_sql_unify(&ctx->b->fn, pair, 2, expr->span, "IN", &type, err));
        args[i] = pair[0];
        exprs[i] = pair[1];
        columns[i] = tg_bind_column(ctx->b, rel->columns[i].name, type, rel->columns[i].nullable);
    }
    rel = tg_sql_rel_project(ctx->b->arena, rel, exprs, columns, count);
    *out = subquery_expr(ctx, TG_B_IN_QUERY, rel, tg_type_of(TG_TYPE_BOOLEAN), true, expr->span);
    (*out)->args = args;
    (*out)->arg_count = count;
    (*out)->negated = expr->negated;
    return TG_OK;
}

/* ---- one expression -------------------------------------------------------------------------- */

static tg_code bind_literal(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out)
{
    *out = tg_bexpr_literal(ctx->b->arena, expr->literal, expr->span);
    (*out)->is_foldable_int_literal = tg_type_is_integer(expr->literal.type);
    return TG_OK;
}

static tg_code bind_field_access(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                                 tg_error *err)
{
    tg_bexpr *base;
    TG_TRY(tg_bind_expr(ctx, expr->args[0], &base, err));
    return tg_bind_field(ctx->b, base, &expr->field, expr->span, out, err);
}

static tg_code bind_kind(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    switch (expr->kind) {
    case TG_EXPR_LITERAL:
        return bind_literal(ctx, expr, out);
    case TG_EXPR_NAME:
        return bind_name(ctx, expr, out, err);
    case TG_EXPR_STAR:
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, INVALID_USAGE_OF_STAR, "'*' cannot stand in an expression"));
    case TG_EXPR_UNARY:
        return bind_special(ctx, expr, operator_name(expr->op), out, err);
    case TG_EXPR_BINARY:
        return bind_binary(ctx, expr, out, err);
    case TG_EXPR_IS:
        return bind_is(ctx, expr, out, err);
    case TG_EXPR_BETWEEN:
        return bind_special(ctx, expr, "between", out, err);
    case TG_EXPR_IN_LIST:
        return bind_special(ctx, expr, "in", out, err);
    case TG_EXPR_IN_QUERY:
        return bind_in_query(ctx, expr, out, err);
    case TG_EXPR_EXISTS:
        return bind_exists(ctx, expr, out, err);
    case TG_EXPR_SUBQUERY:
        return bind_scalar_subquery(ctx, expr, out, err);
    case TG_EXPR_LIKE:
        return bind_like(ctx, expr, out, err);
    case TG_EXPR_CASE:
        return bind_case(ctx, expr, out, err);
    case TG_EXPR_CAST:
        return bind_cast(ctx, expr, out, err);
    case TG_EXPR_CALL:
        return expr->call->no_parens ? bind_word(ctx, expr, out, err)
                                     : tg_bind_call(ctx, expr, out, err);
    case TG_EXPR_SUBSCRIPT:
        return bind_special(ctx, expr, "element", out, err);
    case TG_EXPR_FIELD:
        return bind_field_access(ctx, expr, out, err);
    case TG_EXPR_ROW:
        return bind_special(ctx, expr, "struct_row", out, err);
    case TG_EXPR_INTERVAL:
        return bind_interval(ctx, expr, out, err);
    case TG_EXPR_LAMBDA:
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, INVALID_LAMBDA_FUNCTION_CALL,
                               "a lambda can only be an argument of a higher-order function"));
    case TG_EXPR_PARAMETER:
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "parameters in SQL are bound in the source files of a pipeline "
                               "only"));
    case TG_EXPR_KIND_COUNT_:
        break;
    }
    return tg_fn_at(expr->span, err, TG_ERR(err, INTERNAL_ERROR, "unknown kind of expression"));
}

tg_code tg_bind_expr(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err)
{
    tg_expr_ctx inner = *ctx;
    inner.is_conjunct =
        ctx->is_conjunct &&
        (expr->kind == TG_EXPR_IN_QUERY || (expr->kind == TG_EXPR_BINARY && expr->op == TG_OP_AND));
    TG_TRY(tg_bind_enter(ctx->b, expr->span, err));
    TG_TRY(bind_kind(&inner, expr, out, err));
    tg_bind_leave(ctx->b);
    return TG_OK;
}

tg_code tg_bind_condition(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                          tg_error *err)
{
    tg_expr_ctx inner = *ctx;
    inner.is_conjunct = true;
    TG_TRY(tg_bind_expr(&inner, expr, out, err));
    if ((*out)->type->kind == TG_TYPE_VOID) {
        return tg_sql_cast(&ctx->b->fn, *out, tg_type_of(TG_TYPE_BOOLEAN), TG_CAST_IMPLICIT,
                           expr->span, out, err);
    }
    if ((*out)->type->kind != TG_TYPE_BOOLEAN) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN,
                               "%s must be a boolean condition, but it is %.*s", ctx->clause,
                               TG_SARG(tg_type_text(ctx->b->arena, (*out)->type))));
    }
    return TG_OK;
}

/* ---- orders ---------------------------------------------------------------------------------- */

tg_code tg_bind_sort_by(const tg_expr_ctx *ctx, const tg_sort_item *item, tg_bexpr *expr,
                        tg_bsort *out, tg_error *err)
{
    if (!tg_type_is_orderable(expr->type)) {
        return tg_fn_at(item->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_INVALID_ORDERING_TYPE,
                               "a value of type %.*s has no order",
                               TG_SARG(tg_type_text(ctx->b->arena, expr->type))));
    }
    bool nulls_first =
        item->nulls == TG_NULLS_DEFAULT ? !item->descending : item->nulls == TG_NULLS_FIRST;
    *out = (tg_bsort){.expr = expr, .descending = item->descending, .nulls_first = nulls_first};
    return TG_OK;
}

tg_code tg_bind_sort_item(const tg_expr_ctx *ctx, const tg_sort_item *item, tg_bsort *out,
                          tg_error *err)
{
    tg_bexpr *expr;
    TG_TRY(tg_bind_expr(ctx, item->expr, &expr, err));
    return tg_bind_sort_by(ctx, item, expr, out, err);
}

bool tg_bind_is_order_by_all(const tg_expr_ctx *ctx, const tg_sort_item *items, size_t count)
{
    const tg_expr *expr = count == 1 ? items[0].expr : NULL;
    if (!expr || expr->kind != TG_EXPR_NAME || expr->name.count != 1 ||
        !tg_str_ieq(expr->name.parts[0].text, TG_S("all"))) {
        return false;
    }
    tg_bexpr *column;
    tg_auto_error tg_error none = TG_ERROR_INIT;
    int depth = ctx->b->depth;
    bool is_column = tg_bind_expr(ctx, expr, &column, &none) == TG_OK;
    ctx->b->depth = depth; /* an error leaves it where it was */
    return !is_column;
}

tg_code tg_bind_sort_items(const tg_expr_ctx *ctx, const tg_sort_item *items, size_t count,
                           tg_bsort **out, tg_error *err)
{
    tg_bsort *sorts = TG_NEW_ARRAY(ctx->b->arena, tg_bsort, count);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(tg_bind_sort_item(ctx, &items[i], &sorts[i], err));
    }
    *out = sorts;
    return TG_OK;
}

bool tg_bind_is_ordinal(const tg_expr *expr, int64_t *out)
{
    bool is = expr->kind == TG_EXPR_LITERAL && !expr->literal.is_null &&
              expr->literal.type->kind == TG_TYPE_INT;
    *out = is ? expr->literal.as.i64 : 0;
    return is;
}

tg_code tg_bind_order_position(const tg_sort_item *item, size_t output_count, size_t *out,
                               tg_error *err)
{
    int64_t position;
    if (!tg_bind_is_ordinal(item->expr, &position)) {
        *out = 0;
        return TG_OK;
    }
    if (position < 1 || (size_t)position > output_count) {
        return tg_fn_at(item->span, err,
                        TG_ERR(err, ORDER_BY_POS_OUT_OF_RANGE,
                               "ORDER BY position %lld is not in the select list (1 to %zu)",
                               (long long)position, output_count));
    }
    *out = (size_t)position;
    return TG_OK;
}
