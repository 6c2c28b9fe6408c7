/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that a query names and the markers of parameters in it, in order of appearance, also
 * inside subqueries of its expressions.
 */
#include "sql/sql.h"

/* Names of common table expressions in sight. */
typedef struct cte_scope {
    const tg_cte *ctes;
    size_t count; /* those defined so far */
    const struct cte_scope *outer;
} cte_scope;

typedef struct visitor {
    void (*fn)(void *ctx, const tg_relation *table);            /* may be NULL */
    tg_code (*rename)(void *ctx, tg_name *name, tg_error *err); /* instead of fn */
    void (*on_parameter)(void *ctx, tg_expr *marker);           /* may be NULL */
    void *ctx;
    tg_arena *arena; /* for spines */
    tg_code *code;   /* rename: the first error, after which nothing is renamed */
    tg_error *err;
} visitor;

static void visit_table(const visitor *v, const tg_relation *table, const tg_name *name)
{
    if (v->fn) {
        v->fn(v->ctx, table);
    } else if (v->rename && *v->code == TG_OK) {
        *v->code = v->rename(v->ctx, (tg_name *)(uintptr_t)name, v->err); /* the caller's tree */
    }
}

/*
 * Long chains (a AND b ..., joins, unions) are left-deep: their spine is collected in a loop, then
 * walked from its deepest node up, so that neither the stack grows nor the order changes.
 */

static void visit_query(const visitor *v, const tg_query *query, const cte_scope *scope);
static void visit_expr(const visitor *v, const tg_expr *expr, const cte_scope *scope);

static bool is_cte(const tg_name *name, const cte_scope *scope)
{
    for (; name->count == 1 && scope; scope = scope->outer) {
        for (size_t i = 0; i < scope->count; i++) {
            if (tg_str_ieq(scope->ctes[i].name.text, name->parts[0].text)) {
                return true;
            }
        }
    }
    return false;
}

static void visit_exprs(const visitor *v, tg_expr *const *exprs, size_t count,
                        const cte_scope *scope)
{
    for (size_t i = 0; i < count; i++) {
        visit_expr(v, exprs[i], scope);
    }
}

static void visit_sort(const visitor *v, const tg_sort_item *items, size_t count,
                       const cte_scope *scope)
{
    for (size_t i = 0; i < count; i++) {
        visit_expr(v, items[i].expr, scope);
    }
}

static void visit_window(const visitor *v, const tg_window_spec *spec, const cte_scope *scope)
{
    visit_exprs(v, spec->partition_by, spec->partition_count, scope);
    visit_sort(v, spec->order_by, spec->order_count, scope);
    visit_expr(v, spec->frame_start.offset, scope);
    visit_expr(v, spec->frame_end.offset, scope);
}

static void visit_operand(const visitor *v, const tg_expr *expr, const cte_scope *scope)
{
    if (expr->kind == TG_EXPR_PARAMETER && v->on_parameter) {
        v->on_parameter(v->ctx, (tg_expr *)(uintptr_t)expr); /* the caller's tree may be changed */
        return;
    }
    visit_exprs(v, expr->args, expr->arg_count, scope);
    visit_expr(v, expr->escape, scope);
    if (expr->query) {
        visit_query(v, expr->query, scope);
    }
    if (expr->kind == TG_EXPR_CALL) {
        visit_expr(v, expr->call->filter, scope);
        visit_sort(v, expr->call->within_group, expr->call->within_group_count, scope);
        if (expr->call->over) {
            visit_window(v, expr->call->over, scope);
        }
    }
}

static void visit_expr(const visitor *v, const tg_expr *expr, const cte_scope *scope)
{
    TG_VEC(const tg_expr *) spine = {0};
    while (expr && expr->kind == TG_EXPR_BINARY) {
        TG_VEC_PUSH(v->arena, &spine, expr);
        expr = expr->args[0];
    }
    if (expr) {
        visit_operand(v, expr, scope);
    }
    for (size_t i = spine.count; i-- > 0;) {
        visit_expr(v, spine.items[i]->args[1], scope);
    }
}

static void visit_source(const visitor *v, const tg_relation *relation, const cte_scope *scope)
{
    if (relation->kind == TG_REL_TABLE && !is_cte(&relation->name, scope)) {
        visit_table(v, relation, &relation->name);
    }
    visit_expr(v, relation->version, scope);
    visit_expr(v, relation->timestamp, scope);
    if (relation->query) {
        visit_query(v, relation->query, scope);
    }
    visit_expr(v, relation->call, scope);
}

static void visit_relation(const visitor *v, const tg_relation *relation, const cte_scope *scope)
{
    TG_VEC(const tg_relation *) spine = {0};
    while (relation && relation->left) { /* joins, PIVOT, UNPIVOT */
        TG_VEC_PUSH(v->arena, &spine, relation);
        relation = relation->left;
    }
    if (relation) {
        visit_source(v, relation, scope);
    }
    for (size_t i = spine.count; i-- > 0;) {
        visit_relation(v, spine.items[i]->right, scope);
        visit_expr(v, spine.items[i]->on, scope);
    }
}

static void visit_select(const visitor *v, const tg_select *select, const cte_scope *scope)
{
    visit_relation(v, select->from, scope);
    for (size_t i = 0; i < select->item_count; i++) {
        visit_expr(v, select->items[i].expr, scope);
    }
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        visit_expr(v, select->lateral_views[i].call, scope);
    }
    visit_expr(v, select->where, scope);
    visit_exprs(v, select->group_by, select->group_count, scope);
    visit_expr(v, select->having, scope);
    visit_expr(v, select->qualify, scope);
    for (size_t i = 0; i < select->window_count; i++) {
        visit_window(v, select->windows[i].spec, scope);
    }
}

static void visit_term(const visitor *v, const tg_query_body *body, const cte_scope *scope)
{
    switch (body->kind) {
    case TG_BODY_SELECT:
        visit_select(v, body->select, scope);
        break;
    case TG_BODY_VALUES:
        for (size_t i = 0; i < body->row_count; i++) {
            visit_exprs(v, body->rows[i], body->row_lens[i], scope);
        }
        break;
    case TG_BODY_SET_OP: /* taken apart by visit_body */
        break;
    case TG_BODY_QUERY:
        visit_query(v, body->query, scope);
        break;
    case TG_BODY_TABLE: {
        tg_relation table = {.kind = TG_REL_TABLE, .span = body->span, .name = body->table};
        if (!is_cte(&body->table, scope)) {
            visit_table(v, &table, &body->table);
        }
        break;
    }
    }
}

static void visit_body(const visitor *v, const tg_query_body *body, const cte_scope *scope)
{
    TG_VEC(const tg_query_body *) spine = {0};
    while (body->kind == TG_BODY_SET_OP) {
        TG_VEC_PUSH(v->arena, &spine, body);
        body = body->left;
    }
    visit_term(v, body, scope);
    for (size_t i = spine.count; i-- > 0;) {
        visit_body(v, spine.items[i]->right, scope);
    }
}

static void visit_query(const visitor *v, const tg_query *query, const cte_scope *scope)
{
    cte_scope own = {.ctes = query->ctes, .outer = scope};
    for (size_t i = 0; i < query->cte_count; i++) {
        own.count = query->recursive ? query->cte_count : i; /* a CTE sees those before it */
        visit_query(v, query->ctes[i].query, &own);
    }
    own.count = query->cte_count;
    visit_body(v, query->body, &own);
    visit_sort(v, query->order_by, query->order_count, &own);
    visit_expr(v, query->limit, &own);
    visit_expr(v, query->offset, &own);
}

void tg_sql_visit_tables(const tg_query *query, void (*fn)(void *ctx, const tg_relation *table),
                         void *ctx)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    visitor v = {.fn = fn, .ctx = ctx, .arena = arena};
    visit_query(&v, query, NULL);
}

void tg_sql_visit_parameters(tg_query *query, tg_expr *expr, void (*fn)(void *ctx, tg_expr *marker),
                             void *ctx)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    visitor v = {.on_parameter = fn, .ctx = ctx, .arena = arena};
    if (query) {
        visit_query(&v, query, NULL);
    }
    visit_expr(&v, expr, NULL);
}

tg_code tg_sql_rename_tables(tg_query *query,
                             tg_code (*fn)(void *ctx, tg_name *name, tg_error *err), void *ctx,
                             tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_code code = TG_OK;
    visitor v = {.rename = fn, .ctx = ctx, .arena = arena, .code = &code, .err = err};
    visit_query(&v, query, NULL);
    return code;
}
