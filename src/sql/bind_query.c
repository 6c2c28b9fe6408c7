/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: WITH, set operations, ORDER BY and LIMIT around a body; and the entry points of the
 * binder. */
#include "sql/bind_int.h"

/* ---- set operations -------------------------------------------------------------------------- */

/* Casts both sides to the types that a set operation gives and numbers the result's columns. */
static tg_code bind_set_op(tg_binder *b, const tg_query_body *body, tg_rel *left, tg_rel *right,
                           tg_rel **out, tg_error *err)
{
    static const char *const NAMES[] = {"UNION", "INTERSECT", "EXCEPT"};
    if (left->column_count != right->column_count) {
        return tg_fn_at(body->span, err,
                        TG_ERR(err, NUM_COLUMNS_MISMATCH,
                               "%s needs the same number of columns on both sides, not %zu and %zu",
                               NAMES[body->op], left->column_count, right->column_count));
    }
    size_t count = left->column_count;
    tg_bexpr **left_exprs = TG_NEW_ARRAY(b->arena, tg_bexpr *, count),
             **right_exprs = TG_NEW_ARRAY(b->arena, tg_bexpr *, count);
    tg_column *columns = TG_NEW_ARRAY(b->arena, tg_column, count);
    tg_column *left_columns = TG_NEW_ARRAY(b->arena, tg_column, count),
              *right_columns = TG_NEW_ARRAY(b->arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *pair[2] = {tg_bexpr_column(b->arena, &left->columns[i], body->span),
                             tg_bexpr_column(b->arena, &right->columns[i], body->span)};
        const tg_type *type = tg_sql_renamed_type(b->arena, pair[0]->type, pair[1]->type);
        for (size_t side = 0; side < 2 && type; side++) {
            TG_TRY(tg_sql_cast(&b->fn, pair[side], type, TG_CAST_IMPLICIT, body->span, &pair[side],
                               err));
        }
        if (!type && !tg_sql_common_type(b->arena, pair[0]->type, pair[1]->type)) {
            return tg_fn_at(body->span, err,
                            TG_ERR(err, INCOMPATIBLE_COLUMN_TYPE,
                                   "%s cannot match column %zu: %.*s and %.*s", NAMES[body->op],
                                   i + 1, TG_SARG(tg_type_text(b->arena, pair[0]->type)),
                                   TG_SARG(tg_type_text(b->arena, pair[1]->type))));
        }
        if (!type) {
            TG_TRY(tg_sql_unify(&b->fn, pair, 2, body->span, NAMES[body->op], &type, err));
        }
        left_exprs[i] = pair[0];
        right_exprs[i] = pair[1];
        bool nullable = left->columns[i].nullable || right->columns[i].nullable;
        columns[i] = tg_bind_column(b, left->columns[i].name, type, nullable);
        left_columns[i] = tg_bind_column(b, left->columns[i].name, type, nullable);
        right_columns[i] = tg_bind_column(b, left->columns[i].name, type, nullable);
        if ((body->op != TG_UNION || !body->all) && !tg_type_is_orderable(type)) {
            return tg_fn_at(body->span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE,
                                   "%s cannot compare values of type %.*s", NAMES[body->op],
                                   TG_SARG(tg_type_text(b->arena, type))));
        }
    }
    tg_rel *rel = TG_NEW(b->arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_SET_OP,
                    .span = body->span,
                    .columns = columns,
                    .column_count = count,
                    .op = body->op,
                    .all = body->all};
    rel->input = tg_sql_rel_project(b->arena, left, left_exprs, left_columns, count);
    rel->right = tg_sql_rel_project(b->arena, right, right_exprs, right_columns, count);
    *out = rel;
    return TG_OK;
}

static tg_code bind_plain_body(tg_binder *b, const tg_query_body *body, const tg_query_env *env,
                               tg_rel **out, tg_error *err);

/* a UNION b UNION c ... is left-deep: bound in a loop. */
static tg_code bind_set_chain(tg_binder *b, const tg_query_body *body, const tg_query_env *env,
                              tg_rel **out, tg_error *err)
{
    TG_VEC(const tg_query_body *) spine = {0};
    while (body->kind == TG_BODY_SET_OP) {
        TG_VEC_PUSH(b->arena, &spine, body);
        body = body->left;
    }
    if (spine.count > TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_fn_at(body->span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "the query has more than %d set operations in a row",
                               (int)TG_LIMIT_EXPRESSION_DEPTH));
    }
    tg_rel *left, *right;
    TG_TRY(bind_plain_body(b, body, env, &left, err));
    for (size_t i = spine.count; i-- > 0;) {
        TG_TRY(bind_plain_body(b, spine.items[i]->right, env, &right, err));
        TG_TRY(bind_set_op(b, spine.items[i], left, right, &left, err));
    }
    *out = left;
    return TG_OK;
}

static tg_code bind_plain_body(tg_binder *b, const tg_query_body *body, const tg_query_env *env,
                               tg_rel **out, tg_error *err)
{
    tg_bind_body bound;
    TG_TRY(tg_bind_enter(b, body->span, err));
    tg_code code = TG_OK;
    switch (body->kind) {
    case TG_BODY_SELECT:
        code = tg_bind_select(b, body->select, env, NULL, &bound, err);
        *out = code == TG_OK ? bound.rel : NULL;
        break;
    case TG_BODY_VALUES:
        code = tg_bind_values(b, body, env, out, err);
        break;
    case TG_BODY_SET_OP:
        code = bind_set_chain(b, body, env, out, err);
        break;
    case TG_BODY_QUERY:
        code = tg_bind_query(b, body->query, env, /* keep_order= */ false, out, err);
        break;
    case TG_BODY_TABLE:
        code = tg_bind_table_name(b, &body->table, body->span, env, out, err);
        break;
    }
    tg_bind_leave(b);
    return code;
}

/* ---- order and limit ------------------------------------------------------------------------- */

static tg_code sort_output(tg_binder *b, const tg_query *query, const tg_query_env *env,
                           tg_rel **rel, tg_error *err)
{
    tg_scope *scope = tg_bind_scope_of(b, *rel, env->outer, NULL, 0);
    tg_expr_ctx ctx = {.b = b, .scope = scope, .env = env, .clause = "ORDER BY"};
    bool by_all = tg_bind_is_order_by_all(&ctx, query->order_by, query->order_count);
    size_t count = by_all ? (*rel)->column_count : query->order_count;
    tg_bsort *sorts = TG_NEW_ARRAY(b->arena, tg_bsort, count);
    for (size_t i = 0; i < count; i++) {
        const tg_sort_item *item = &query->order_by[by_all ? 0 : i];
        size_t position = i + 1;
        if (!by_all) {
            TG_TRY(tg_bind_order_position(item, (*rel)->column_count, &position, err));
        }
        if (position > 0) {
            tg_bexpr *column =
                tg_bexpr_column(b->arena, &(*rel)->columns[position - 1], item->span);
            TG_TRY(tg_bind_sort_by(&ctx, item, column, &sorts[i], err));
        } else {
            TG_TRY(tg_bind_sort_item(&ctx, item, &sorts[i], err));
        }
    }
    *rel = tg_bind_over(b, TG_R_SORT, *rel, query->span);
    (*rel)->order_by = sorts;
    (*rel)->order_count = count;
    return TG_OK;
}

static tg_code bind_count(tg_binder *b, const tg_expr *expr, const char *clause, tg_bexpr **out,
                          tg_error *err)
{
    if (!expr) {
        *out = NULL;
        return TG_OK;
    }
    tg_expr_ctx ctx = {.b = b, .clause = clause, .no_subqueries = true};
    TG_TRY(tg_bind_expr(&ctx, expr, out, err));
    *out = tg_sql_fold(*out, b->options->zone, b->arena);
    if ((*out)->kind != TG_B_LITERAL || !tg_type_is_integer((*out)->type) ||
        (*out)->literal.is_null) {
        return tg_fn_at(
            expr->span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE, "%s takes a constant whole number", clause));
    }
    if ((*out)->literal.as.i64 < 0) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, INVALID_LIMIT_LIKE,
                               "%s takes a number that is not negative, not %lld", clause,
                               (long long)(*out)->literal.as.i64));
    }
    return TG_OK;
}

static tg_code bind_limit(tg_binder *b, const tg_query *query, tg_rel **rel, tg_error *err)
{
    if (!query->limit && !query->offset) {
        return TG_OK;
    }
    tg_rel *limit = tg_bind_over(b, TG_R_LIMIT, *rel, query->span);
    TG_TRY(bind_count(b, query->limit, "LIMIT", &limit->limit, err));
    TG_TRY(bind_count(b, query->offset, "OFFSET", &limit->offset, err));
    *rel = limit;
    return TG_OK;
}

static tg_query_env with_ctes(tg_binder *b, const tg_query *query, const tg_query_env *env)
{
    tg_query_env inner = *env;
    for (size_t i = 0; i < query->cte_count; i++) {
        tg_cte_frame *frame = TG_NEW(b->arena, tg_cte_frame);
        *frame = (tg_cte_frame){.cte = &query->ctes[i], .next = inner.ctes, .outer = env->outer};
        inner.ctes = frame;
    }
    return inner;
}

static tg_code bind_body(tg_binder *b, const tg_query *query, const tg_query_env *env,
                         bool keep_order, tg_rel **out, size_t *out_visible, tg_error *err)
{
    bool wants_order = query->order_count > 0 && !query->is_sort_by;
    bool keeps = wants_order && (keep_order || query->limit || query->offset);
    if (query->body->kind == TG_BODY_SELECT) {
        tg_bind_order order = {.items = query->order_by, .count = query->order_count};
        tg_bind_body body;
        TG_TRY(
            tg_bind_select(b, query->body->select, env, wants_order ? &order : NULL, &body, err));
        *out = body.rel;
        *out_visible = body.visible;
        if (!keeps && body.rel->kind == TG_R_SORT) {
            *out = body.rel->input; /* checked, and of no consequence but for aggregates */
            (*out)->drops_order = true;
        }
        return TG_OK;
    }
    TG_TRY(bind_plain_body(b, query->body, env, out, err));
    *out_visible = (*out)->column_count;
    if (wants_order) {
        tg_rel *rel = *out;
        TG_TRY(sort_output(b, query, env, &rel, err));
        *out = keeps ? rel : tg_arena_memdup(b->arena, *out, sizeof(**out));
        (*out)->drops_order = !keeps;
    }
    return TG_OK;
}

tg_code tg_bind_query(tg_binder *b, const tg_query *query, const tg_query_env *env, bool keep_order,
                      tg_rel **out, tg_error *err)
{
    if (query->recursive) {
        return tg_fn_at(
            query->span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE,
                   "recursive common table expressions are not available in this release"));
    }
    TG_TRY(tg_bind_enter(b, query->span, err));
    tg_query_env inner = with_ctes(b, query, env);
    size_t visible;
    TG_TRY(bind_body(b, query, &inner, keep_order, out, &visible, err));
    TG_TRY(bind_limit(b, query, out, err));
    if (visible < (*out)->column_count) {
        *out = tg_sql_rel_select(b->arena, *out, (*out)->columns, visible);
    }
    tg_bind_leave(b);
    return TG_OK;
}

/* ---- entry points ---------------------------------------------------------------------------- */

static void init_binder(tg_binder *b, const tg_bind_options *options, tg_arena *arena)
{
    *b = (tg_binder){.options = options, .arena = arena, .next_id = 1};
    b->fn = (tg_fn_context){.arena = arena,
                            .now_us = options->now_us,
                            .zone = options->zone ? options->zone : tg_zone_utc()};
}

tg_code tg_sql_bind_query(const tg_query *query, const tg_bind_options *options, tg_arena *arena,
                          tg_bound_query *out_query, tg_error *err)
{
    tg_binder b;
    tg_query_env env = {0};
    tg_rel *rel;
    init_binder(&b, options, arena);
    TG_TRY(tg_bind_query(&b, query, &env, /* keep_order= */ true, &rel, err));
    *out_query = (tg_bound_query){
        .rel = rel,
        .tables = b.tables.items,
        .table_count = b.tables.count,
        .has_time_function = b.has_time_function,
        .is_deterministic = b.random_count == 0,
        .depends_on_order = tg_sql_depends_on_order(rel),
        .uses_zone = b.fn.used_zone,
        .time_function = b.time_function,
        .random_function = b.random_function,
    };
    return TG_OK;
}

tg_code tg_sql_bind_predicate(const tg_expr *expr, tg_schema schema, const tg_str *aliases,
                              size_t alias_count, const tg_bind_options *options, tg_arena *arena,
                              tg_bexpr **out_expr, bool *out_has_time_function,
                              bool *out_is_deterministic, tg_error *err)
{
    tg_binder b;
    init_binder(&b, options, arena);
    tg_scope scope = {.count = schema.count};
    /* Every alias may stand before every column: which relation a column came from does not matter
     * for the output. */
    size_t copies = alias_count > 0 ? alias_count : 1;
    scope.columns = TG_NEW_ARRAY(arena, tg_scope_column, schema.count * copies);
    scope.count = 0;
    for (size_t a = 0; a < copies; a++) {
        for (size_t i = 0; i < schema.count; i++) {
            tg_column column = {.id = (uint32_t)i + 1,
                                .name = schema.fields[i].name,
                                .type = schema.fields[i].type,
                                .nullable = true};
            scope.columns[scope.count++] =
                (tg_scope_column){.column = column,
                                  .qualifier = alias_count > 0 ? &aliases[a] : NULL,
                                  .qualifier_count = alias_count > 0,
                                  .in_star = a == 0};
        }
    }
    b.next_id = (uint32_t)schema.count + 1;
    tg_expr_ctx ctx = {.b = &b, .scope = &scope, .clause = "a predicate", .no_subqueries = true};
    TG_TRY(tg_bind_condition(&ctx, expr, out_expr, err));
    *out_has_time_function = b.has_time_function;
    *out_is_deterministic = b.random_count == 0;
    return TG_OK;
}

typedef TG_VEC(tg_str) name_list;

static void add_alias(tg_arena *arena, const tg_relation *relation, name_list *names)
{
    tg_str name = relation->alias.text;
    if (name.len == 0 && relation->kind == TG_REL_TABLE) {
        name = relation->name.parts[relation->name.count - 1].text;
    }
    if (name.len > 0) {
        TG_VEC_PUSH(arena, names, name);
    }
}

void tg_sql_query_aliases(const tg_query *query, tg_arena *arena, tg_str **out_names,
                          size_t *out_count)
{
    name_list names = {0};
    const tg_query_body *body = query->body;
    while (body->kind == TG_BODY_SET_OP || body->kind == TG_BODY_QUERY) {
        body = body->kind == TG_BODY_SET_OP ? body->left : body->query->body;
    }
    const tg_relation *relation = body->kind == TG_BODY_SELECT ? body->select->from : NULL;
    while (relation && relation->kind == TG_REL_JOIN) {
        if (relation->right->kind != TG_REL_JOIN) {
            add_alias(arena, relation->right, &names);
        }
        relation = relation->left;
    }
    if (relation) {
        add_alias(arena, relation, &names);
    }
    *out_names = names.items;
    *out_count = names.count;
}
