/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, walking and copying bound trees.
 *
 * Recursion: the binder bounds the depth of what it builds (TG_LIMIT_EXPRESSION_DEPTH) and keeps
 * AND and OR balanced, so the walkers here may recurse.
 */
#include "sql/tree.h"

/* ---- making ---------------------------------------------------------------------------------- */

tg_rel *tg_sql_rel_filter(tg_arena *arena, tg_rel *input, tg_bexpr *condition)
{
    tg_rel *rel = TG_NEW(arena, tg_rel);
    rel->kind = TG_R_FILTER;
    rel->span = condition->span;
    rel->columns = input->columns;
    rel->column_count = input->column_count;
    rel->input = input;
    rel->condition = condition;
    return rel;
}

tg_rel *tg_sql_rel_project(tg_arena *arena, tg_rel *input, tg_bexpr **exprs,
                           const tg_column *columns, size_t count)
{
    tg_rel *rel = TG_NEW(arena, tg_rel);
    rel->kind = TG_R_PROJECT;
    rel->span = input->span;
    rel->input = input;
    rel->exprs = exprs;
    rel->expr_count = count;
    rel->columns = columns;
    rel->column_count = count;
    return rel;
}

tg_rel *tg_sql_rel_select(tg_arena *arena, tg_rel *input, const tg_column *columns, size_t count)
{
    tg_bexpr **exprs = TG_NEW_ARRAY(arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        exprs[i] = tg_bexpr_column(arena, &columns[i], input->span);
    }
    return tg_sql_rel_project(arena, input, exprs, columns, count);
}

static tg_bexpr *conjunction(tg_arena *arena, const tg_function *and_function, tg_bexpr **terms,
                             size_t count)
{
    if (count == 1) {
        return terms[0];
    }
    size_t half = (count + 1) / 2;
    tg_bexpr *call = TG_NEW(arena, tg_bexpr);
    call->kind = TG_B_CALL;
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->function = and_function;
    call->args = TG_NEW_ARRAY(arena, tg_bexpr *, 2);
    call->args[0] = conjunction(arena, and_function, terms, half);
    call->args[1] = conjunction(arena, and_function, terms + half, count - half);
    call->arg_count = 2;
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    call->span = call->args[0]->span;
    return call;
}

tg_bexpr *tg_sql_conjunction(tg_arena *arena, tg_bexpr **terms, size_t count)
{
    return count == 0 ? NULL : conjunction(arena, tg_function_find(TG_S("and")), terms, count);
}

void tg_sql_conjuncts(tg_arena *arena, const tg_bexpr *expr, tg_bexpr_vec *out_terms)
{
    if (tg_sql_is_call(expr, "and")) {
        for (size_t i = 0; i < expr->arg_count; i++) {
            tg_sql_conjuncts(arena, expr->args[i], out_terms);
        }
        return;
    }
    TG_VEC_PUSH(arena, out_terms, (tg_bexpr *)(uintptr_t)expr);
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool tg_sql_is_call(const tg_bexpr *expr, const char *function_name)
{
    return expr->kind == TG_B_CALL && strcmp(expr->function->name, function_name) == 0;
}

static bool sorts_equal(const tg_bsort *a, size_t a_count, const tg_bsort *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (a[i].descending != b[i].descending || a[i].nulls_first != b[i].nulls_first ||
            !tg_sql_bexpr_equal(a[i].expr, b[i].expr)) {
            return false;
        }
    }
    return true;
}

static bool optional_equal(const tg_bexpr *a, const tg_bexpr *b)
{
    return a == b || (a && b && tg_sql_bexpr_equal(a, b));
}

static bool lists_equal(tg_bexpr *const *a, size_t a_count, tg_bexpr *const *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!tg_sql_bexpr_equal(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool windows_equal(const tg_bwindow *a, const tg_bwindow *b)
{
    if (!a || !b) {
        return a == b;
    }
    return a->frame == b->frame && a->start == b->start && a->end == b->end &&
           lists_equal(a->partition_by, a->partition_count, b->partition_by, b->partition_count) &&
           sorts_equal(a->order_by, a->order_count, b->order_by, b->order_count) &&
           optional_equal(a->start_offset, b->start_offset) &&
           optional_equal(a->end_offset, b->end_offset);
}

static bool lambdas_equal(const tg_bexpr *a, const tg_bexpr *b)
{
    /* Variables have ids of their own, so equal lambdas written twice differ; nothing but a missed
     * reuse comes of it. */
    return a->param_count == b->param_count &&
           (a->param_count == 0 ||
            memcmp(a->params, b->params, a->param_count * sizeof(*a->params)) == 0);
}

bool tg_sql_bexpr_equal(const tg_bexpr *a, const tg_bexpr *b)
{
    if (a == b) {
        return true;
    }
    if (a->kind != b->kind || a->rel != b->rel || !tg_type_equal(a->type, b->type)) {
        return false;
    }
    if (a->kind == TG_B_LITERAL) {
        return tg_value_same(a->literal, b->literal) &&
               a->is_foldable_int_literal == b->is_foldable_int_literal;
    }
    if (a->function && a->function->volatility == TG_VOL_RANDOM) {
        return false;
    }
    return a->column_id == b->column_id && a->function == b->function &&
           a->field_index == b->field_index && a->distinct == b->distinct &&
           a->ignore_nulls == b->ignore_nulls && a->negated == b->negated &&
           (a->kind != TG_B_CAST ||
            (a->cast_mode == TG_CAST_TRY) == (b->cast_mode == TG_CAST_TRY)) &&
           lambdas_equal(a, b) && optional_equal(a->filter, b->filter) &&
           windows_equal(a->window, b->window) &&
           sorts_equal(a->order_by, a->order_count, b->order_by, b->order_count) &&
           lists_equal(a->args, a->arg_count, b->args, b->arg_count);
}

static void find_random(void *self, const tg_bexpr *expr)
{
    if (expr->function && expr->function->volatility == TG_VOL_RANDOM) {
        *(bool *)self = true;
    }
}

bool tg_sql_bexpr_is_random(const tg_bexpr *expr)
{
    bool found = false;
    tg_sql_bexpr_visit(expr, find_random, &found);
    return found;
}

static void find_subquery(void *self, const tg_bexpr *expr)
{
    if (expr->rel) {
        *(bool *)self = true;
    }
}

bool tg_sql_bexpr_has_subquery(const tg_bexpr *expr)
{
    bool found = false;
    tg_sql_bexpr_visit(expr, find_subquery, &found);
    return found;
}

const tg_column *tg_sql_rel_column(const tg_rel *rel, uint32_t id)
{
    for (size_t i = 0; i < rel->column_count; i++) {
        if (rel->columns[i].id == id) {
            return &rel->columns[i];
        }
    }
    return NULL;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Calls fn for every expression directly held by expr (arguments, filter, orders, window parts);
 * not for subqueries. */
static void for_children(const tg_bexpr *expr, void (*fn)(void *self, const tg_bexpr *child),
                         void *self)
{
    for (size_t i = 0; i < expr->arg_count; i++) {
        fn(self, expr->args[i]);
    }
    if (expr->filter) {
        fn(self, expr->filter);
    }
    for (size_t i = 0; i < expr->order_count; i++) {
        fn(self, expr->order_by[i].expr);
    }
    const tg_bwindow *window = expr->window;
    if (!window) {
        return;
    }
    for (size_t i = 0; i < window->partition_count; i++) {
        fn(self, window->partition_by[i]);
    }
    for (size_t i = 0; i < window->order_count; i++) {
        fn(self, window->order_by[i].expr);
    }
    if (window->start_offset) {
        fn(self, window->start_offset);
    }
    if (window->end_offset) {
        fn(self, window->end_offset);
    }
}

/* Calls fn for every expression directly held by rel. */
static void for_rel_exprs(const tg_rel *rel, void (*fn)(void *self, const tg_bexpr *expr),
                          void *self)
{
    for (size_t i = 0; i < rel->row_count; i++) {
        for (size_t j = 0; j < rel->column_count; j++) {
            fn(self, rel->rows[i][j]);
        }
    }
    for (size_t i = 0; i < rel->expr_count; i++) {
        fn(self, rel->exprs[i]);
    }
    if (rel->condition) {
        fn(self, rel->condition);
    }
    for (size_t i = 0; i < rel->order_count; i++) {
        fn(self, rel->order_by[i].expr);
    }
    if (rel->limit) {
        fn(self, rel->limit);
    }
    if (rel->offset) {
        fn(self, rel->offset);
    }
}

typedef struct visitor {
    void (*on_rel)(void *self, const tg_rel *rel);
    void (*on_expr)(void *self, const tg_bexpr *expr);
    void *self;
} visitor;

static void visit_rel(void *self, const tg_rel *rel);

static void visit_expr(void *self, const tg_bexpr *expr)
{
    const visitor *v = self;
    if (v->on_expr) {
        v->on_expr(v->self, expr);
    }
    for_children(expr, visit_expr, self);
    if (expr->rel) {
        visit_rel(self, expr->rel);
    }
}

static void visit_rel(void *self, const tg_rel *rel)
{
    const visitor *v = self;
    /* Inputs come before expressions: scans are counted in the order in which they are read. */
    if (v->on_rel) {
        v->on_rel(v->self, rel);
    }
    if (rel->input) {
        visit_rel(self, rel->input);
    }
    if (rel->right) {
        visit_rel(self, rel->right);
    }
    for_rel_exprs(rel, visit_expr, self);
}

void tg_sql_bexpr_visit(const tg_bexpr *expr, void (*fn)(void *self, const tg_bexpr *expr),
                        void *self)
{
    visitor v = {.on_expr = fn, .self = self};
    visit_expr(&v, expr);
}

void tg_sql_rel_visit(const tg_rel *rel, void (*on_rel)(void *self, const tg_rel *rel),
                      void (*on_expr)(void *self, const tg_bexpr *expr), void *self)
{
    visitor v = {.on_rel = on_rel, .on_expr = on_expr, .self = self};
    visit_rel(&v, rel);
}

/* ---- copying --------------------------------------------------------------------------------- */

typedef struct mapper {
    tg_arena *arena;
    tg_bexpr_mapper fn;
    void *self;
} mapper;

static tg_bexpr *map_expr(const mapper *m, tg_bexpr *expr);

/* The same array when nothing in it changed, so that callers see by the pointer whether to copy. */
static tg_bexpr **map_list(const mapper *m, tg_bexpr **exprs, size_t count)
{
    tg_bexpr **out = exprs;
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *mapped = map_expr(m, exprs[i]);
        if (mapped != exprs[i] && out == exprs) {
            out = tg_arena_memdup(m->arena, exprs, count * sizeof(tg_bexpr *));
        }
        if (out != exprs) {
            out[i] = mapped;
        }
    }
    return out;
}

static tg_bsort *map_sorts(const mapper *m, tg_bsort *sorts, size_t count)
{
    tg_bsort *out = sorts;
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *mapped = map_expr(m, sorts[i].expr);
        if (mapped != sorts[i].expr && out == sorts) {
            out = tg_arena_memdup(m->arena, sorts, count * sizeof(*sorts));
        }
        if (out != sorts) {
            out[i].expr = mapped;
        }
    }
    return out;
}

static tg_bexpr *map_optional(const mapper *m, tg_bexpr *expr)
{
    return expr ? map_expr(m, expr) : NULL;
}

static const tg_bwindow *map_window(const mapper *m, const tg_bwindow *window)
{
    if (!window) {
        return NULL;
    }
    tg_bwindow changed = *window;
    changed.partition_by = map_list(m, window->partition_by, window->partition_count);
    changed.order_by = map_sorts(m, window->order_by, window->order_count);
    changed.start_offset = map_optional(m, window->start_offset);
    changed.end_offset = map_optional(m, window->end_offset);
    if (changed.partition_by == window->partition_by && changed.order_by == window->order_by &&
        changed.start_offset == window->start_offset && changed.end_offset == window->end_offset) {
        return window;
    }
    return tg_arena_memdup(m->arena, &changed, sizeof(changed));
}

static tg_rel *map_rel(const mapper *m, tg_rel *rel);

static tg_bexpr *map_expr(const mapper *m, tg_bexpr *expr)
{
    tg_bexpr *replaced = m->fn(m->self, expr);
    if (replaced) {
        return replaced;
    }
    tg_bexpr **args = map_list(m, expr->args, expr->arg_count);
    tg_bexpr *filter = map_optional(m, expr->filter);
    tg_bsort *order_by = map_sorts(m, expr->order_by, expr->order_count);
    const tg_bwindow *window = map_window(m, expr->window);
    tg_rel *rel = expr->rel ? map_rel(m, expr->rel) : NULL;
    if (args == expr->args && filter == expr->filter && order_by == expr->order_by &&
        window == expr->window && rel == expr->rel) {
        return expr;
    }
    tg_bexpr *copy = tg_arena_memdup(m->arena, expr, sizeof(*expr));
    copy->args = args;
    copy->filter = filter;
    copy->order_by = order_by;
    copy->window = window;
    copy->rel = rel;
    return copy;
}

static tg_bexpr ***map_rows(const mapper *m, const tg_rel *rel)
{
    tg_bexpr ***out = rel->rows;
    for (size_t i = 0; i < rel->row_count; i++) {
        tg_bexpr **row = map_list(m, rel->rows[i], rel->column_count);
        if (row != rel->rows[i] && out == rel->rows) {
            out = tg_arena_memdup(m->arena, rel->rows, rel->row_count * sizeof(*rel->rows));
        }
        if (out != rel->rows) {
            out[i] = row;
        }
    }
    return out;
}

static tg_rel *map_rel(const mapper *m, tg_rel *rel)
{
    tg_rel changed = *rel;
    changed.input = rel->input ? map_rel(m, rel->input) : NULL;
    changed.right = rel->right ? map_rel(m, rel->right) : NULL;
    changed.rows = map_rows(m, rel);
    changed.exprs = map_list(m, rel->exprs, rel->expr_count);
    changed.condition = map_optional(m, rel->condition);
    changed.order_by = map_sorts(m, rel->order_by, rel->order_count);
    changed.limit = map_optional(m, rel->limit);
    changed.offset = map_optional(m, rel->offset);
    if (changed.input == rel->input && changed.right == rel->right && changed.rows == rel->rows &&
        changed.exprs == rel->exprs && changed.condition == rel->condition &&
        changed.order_by == rel->order_by && changed.limit == rel->limit &&
        changed.offset == rel->offset) {
        return rel;
    }
    return tg_arena_memdup(m->arena, &changed, sizeof(changed));
}

tg_bexpr *tg_sql_bexpr_map(tg_arena *arena, tg_bexpr *expr, tg_bexpr_mapper fn, void *self)
{
    mapper m = {.arena = arena, .fn = fn, .self = self};
    return map_expr(&m, expr);
}

/* ---- sets of column ids ---------------------------------------------------------------------- */

void tg_idset_add(tg_idset *set, uint32_t id)
{
    size_t word = id / 64;
    if (word >= set->word_count) {
        size_t count = word + 1 > set->word_count * 2 ? word + 1 : set->word_count * 2;
        set->words = tg_arena_realloc(set->arena, set->words, set->word_count * sizeof(*set->words),
                                      count * sizeof(*set->words));
        set->word_count = count;
    }
    set->words[word] |= UINT64_C(1) << (id % 64);
}

bool tg_idset_has(const tg_idset *set, uint32_t id)
{
    size_t word = id / 64;
    return word < set->word_count && (set->words[word] >> (id % 64) & 1) != 0;
}
