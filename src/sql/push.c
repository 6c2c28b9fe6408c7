/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of each scan can matter: filters followed down to the scans, for pruning files.
 *
 * A condition travels with the columns it names. It passes a projection where they are plain
 * columns, a filter, a sort, a distinct, a window where they are partition keys, an aggregate where
 * they are group keys, both sides of a set operation, and the sides of a join that are not padded
 * with NULLs; equal keys of an inner join carry it to the other side. What cannot pass is dropped:
 * a region that is too large only reads more files. Correlated subqueries, limits: nothing passes.
 */
#include "sql/tree.h"

/* Conditions are lists of terms over columns of a relation (by id), all of which must be TRUE. */
typedef struct push_run {
    tg_arena *arena;
    const tg_zone *zone;
    const tg_rel **scans;
    tg_region *regions;
    bool *seen;
    size_t count;
} push_run;

static void push(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions, int depth);

/* ---- conditions ------------------------------------------------------------------------------ */

static void add_conjuncts(push_run *run, tg_bexpr_vec *list, const tg_bexpr *condition)
{
    tg_bexpr_vec terms = {0};
    if (!condition) {
        return;
    }
    tg_sql_conjuncts(run->arena, condition, &terms);
    for (size_t i = 0; i < terms.count; i++) {
        if (!tg_sql_bexpr_has_subquery(terms.items[i]) && !tg_sql_bexpr_is_random(terms.items[i])) {
            TG_VEC_PUSH(run->arena, list, terms.items[i]);
        }
    }
}

typedef struct column_test {
    const tg_rel *rel;
    bool all_inside;
} column_test;

static void test_column(void *self, const tg_bexpr *expr)
{
    column_test *test = self;
    if (expr->kind == TG_B_COLUMN &&
        (expr->is_outer || !tg_sql_rel_column(test->rel, expr->column_id))) {
        test->all_inside = false;
    }
}

static bool uses_only(const tg_bexpr *expr, const tg_rel *rel)
{
    column_test test = {.rel = rel, .all_inside = true};
    tg_sql_bexpr_visit(expr, test_column, &test);
    return test.all_inside;
}

/* Column id -> column id below, for nodes that pass columns on under new ids. */
typedef struct renaming {
    const tg_column *from;
    tg_bexpr *const *to;
    size_t count;
    bool failed;
} renaming;

static tg_bexpr *rename_column(void *self, tg_bexpr *expr)
{
    renaming *names = self;
    if (expr->kind != TG_B_COLUMN) {
        return NULL;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (names->from[i].id == expr->column_id) {
            names->failed =
                names->failed || names->to[i]->kind != TG_B_COLUMN || names->to[i]->is_outer;
            return names->to[i];
        }
    }
    return expr;
}

/* Conditions in terms of the columns below; those that name anything else are left out. */
static void rename_conditions(push_run *run, const tg_bexpr_vec *conditions, const tg_column *from,
                              tg_bexpr *const *to, size_t count, const tg_rel *below,
                              tg_bexpr_vec *out)
{
    for (size_t i = 0; i < conditions->count; i++) {
        renaming names = {.from = from, .to = to, .count = count};
        tg_bexpr *renamed =
            tg_sql_bexpr_map(run->arena, conditions->items[i], rename_column, &names);
        if (!names.failed && uses_only(renamed, below)) {
            TG_VEC_PUSH(run->arena, out, renamed);
        }
    }
}

static void keep_inside(push_run *run, const tg_bexpr_vec *conditions, const tg_rel *below,
                        tg_bexpr_vec *out)
{
    for (size_t i = 0; i < conditions->count; i++) {
        if (uses_only(conditions->items[i], below)) {
            TG_VEC_PUSH(run->arena, out, conditions->items[i]);
        }
    }
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* left.a = right.b of an inner join: what holds for one side's key holds for the other's. */
static void add_equal_keys(push_run *run, const tg_rel *join, const tg_bexpr_vec *conditions,
                           const tg_rel *side, const tg_rel *other, tg_bexpr_vec *out)
{
    tg_bexpr_vec terms = {0};
    if (!join->condition) {
        return;
    }
    tg_sql_conjuncts(run->arena, join->condition, &terms);
    for (size_t i = 0; i < terms.count; i++) {
        const tg_bexpr *term = terms.items[i];
        if (!tg_sql_is_call(term, "=") || term->args[0]->kind != TG_B_COLUMN ||
            term->args[1]->kind != TG_B_COLUMN ||
            !tg_type_equal(term->args[0]->type, term->args[1]->type)) {
            continue;
        }
        tg_bexpr *mine = term->args[0], *theirs = term->args[1];
        if (!uses_only(mine, side)) {
            tg_bexpr *swap = mine;
            mine = theirs;
            theirs = swap;
        }
        if (!uses_only(mine, side) || !uses_only(theirs, other)) {
            continue;
        }
        tg_column from = {.id = theirs->column_id};
        rename_conditions(run, conditions, &from, &mine, 1, side, out);
    }
}

static void push_join(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions, int depth)
{
    bool inner = rel->join == TG_JOIN_INNER || rel->join == TG_JOIN_CROSS;
    bool semi = rel->join == TG_JOIN_LEFT_SEMI;
    bool left_kept = inner || semi || rel->join == TG_JOIN_LEFT || rel->join == TG_JOIN_LEFT_ANTI;
    bool right_kept = inner || rel->join == TG_JOIN_RIGHT;
    tg_bexpr_vec left = {0}, right = {0}, all = {0};
    /* The join condition filters only the sides whose unmatched rows are dropped. */
    for (size_t i = 0; i < conditions->count; i++) {
        TG_VEC_PUSH(run->arena, &all, conditions->items[i]);
    }
    if (inner || semi) {
        add_conjuncts(run, &all, rel->condition);
    }
    if (left_kept) {
        keep_inside(run, inner || semi ? &all : conditions, rel->input, &left);
    }
    if (right_kept) {
        keep_inside(run, inner ? &all : conditions, rel->right, &right);
    }
    if (!inner && !right_kept && rel->join != TG_JOIN_FULL) {
        /* rows of the right side that fail a condition of ON match nothing */
        tg_bexpr_vec on = {0};
        add_conjuncts(run, &on, rel->condition);
        keep_inside(run, &on, rel->right, &right);
    }
    if (inner) {
        add_equal_keys(run, rel, &all, rel->input, rel->right, &left);
        add_equal_keys(run, rel, &all, rel->right, rel->input, &right);
    } else if (rel->join == TG_JOIN_LEFT || semi) {
        add_equal_keys(run, rel, &left, rel->right, rel->input, &right);
    }
    push(run, rel->input, &left, depth);
    push(run, rel->right, &right, depth);
}

/* ---- other nodes ----------------------------------------------------------------------------- */

static size_t scan_at(const push_run *run, const tg_rel *scan)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->scans[i] == scan && !run->seen[i]) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void push_scan(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions)
{
    size_t at = scan_at(run, rel);
    if (at == SIZE_MAX) {
        return;
    }
    run->seen[at] = true;
    /* the predicate's columns are 1 + index in the table's schema */
    tg_bexpr **fields = TG_NEW_ARRAY(run->arena, tg_bexpr *, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        tg_column column = rel->columns[i];
        column.id = (uint32_t)rel->scan_fields[i] + 1;
        fields[i] = tg_bexpr_column(run->arena, &column, rel->span);
    }
    tg_region region = tg_region_all();
    for (size_t i = 0; i < conditions->count; i++) {
        renaming names = {.from = rel->columns, .to = fields, .count = rel->column_count};
        tg_bexpr *renamed =
            tg_sql_bexpr_map(run->arena, conditions->items[i], rename_column, &names);
        renamed = tg_sql_fold(renamed, run->zone, run->arena);
        region = tg_region_and(run->arena, region,
                               tg_sql_region(renamed, rel->table->schema, run->zone, run->arena));
    }
    run->regions[at] = region;
}

static void push_set_op(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions, int depth)
{
    const tg_rel *sides[2] = {rel->input, rel->right};
    for (int side = 0; side < 2; side++) {
        tg_bexpr **to = TG_NEW_ARRAY(run->arena, tg_bexpr *, rel->column_count);
        tg_bexpr_vec below = {0};
        for (size_t i = 0; i < rel->column_count; i++) {
            to[i] = tg_bexpr_column(run->arena, &sides[side]->columns[i], rel->span);
        }
        rename_conditions(run, conditions, rel->columns, to, rel->column_count, sides[side],
                          &below);
        push(run, sides[side], &below, depth);
    }
}

/* Is a condition only about keys that split the rows into groups that do not see each other? */
static void keep_partition_keys(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions,
                                tg_bexpr_vec *out)
{
    for (size_t i = 0; i < conditions->count; i++) {
        bool passes = uses_only(conditions->items[i], rel->input);
        for (size_t w = 0; w < rel->expr_count && passes; w++) {
            const tg_bwindow *window = rel->exprs[w]->window;
            size_t count = 0;
            tg_column *keys = TG_NEW_ARRAY(run->arena, tg_column, window->partition_count);
            for (size_t k = 0; k < window->partition_count; k++) {
                if (window->partition_by[k]->kind == TG_B_COLUMN) {
                    keys[count++] = (tg_column){.id = window->partition_by[k]->column_id};
                }
            }
            tg_rel keys_only = {.columns = keys, .column_count = count};
            passes = uses_only(conditions->items[i], &keys_only);
        }
        if (passes) {
            TG_VEC_PUSH(run->arena, out, conditions->items[i]);
        }
    }
}

static void push(push_run *run, const tg_rel *rel, const tg_bexpr_vec *conditions, int depth)
{
    tg_bexpr_vec below = {0};
    if (depth > 2 * TG_LIMIT_EXPRESSION_DEPTH) {
        return; /* the scans below keep the whole table */
    }
    depth++;
    switch (rel->kind) {
    case TG_R_SCAN:
        push_scan(run, rel, conditions);
        return;
    case TG_R_PROJECT:
        rename_conditions(run, conditions, rel->columns, rel->exprs, rel->column_count, rel->input,
                          &below);
        break;
    case TG_R_FILTER:
        keep_inside(run, conditions, rel->input, &below);
        add_conjuncts(run, &below, rel->condition);
        break;
    case TG_R_AGGREGATE:
        if (rel->group_count > 0) {
            rename_conditions(run, conditions, rel->columns, rel->exprs, rel->group_count,
                              rel->input, &below);
        }
        break;
    case TG_R_WINDOW:
        keep_partition_keys(run, rel, conditions, &below);
        break;
    case TG_R_SORT:
    case TG_R_DISTINCT:
        keep_inside(run, conditions, rel->input, &below);
        break;
    case TG_R_LIMIT:
        break;
    case TG_R_JOIN:
        push_join(run, rel, conditions, depth);
        return;
    case TG_R_SET_OP:
        push_set_op(run, rel, conditions, depth);
        return;
    case TG_R_VALUES:
    case TG_R_ONE_ROW:
        return;
    }
    push(run, rel->input, &below, depth);
}

void tg_sql_scan_regions(const tg_rel *rel, const tg_zone *zone, tg_arena *arena,
                         tg_region **out_regions, size_t *out_count)
{
    push_run run = {.arena = arena, .zone = zone};
    tg_sql_scans(rel, arena, &run.scans, &run.count);
    run.regions = TG_NEW_ARRAY(arena, tg_region, run.count);
    run.seen = TG_NEW_ARRAY(arena, bool, run.count);
    for (size_t i = 0; i < run.count; i++) {
        run.regions[i] =
            tg_region_all(); /* scans inside subqueries are never reached: they keep it */
    }
    tg_bexpr_vec none = {0};
    push(&run, rel, &none, 0);
    *out_regions = run.regions;
    *out_count = run.count;
}
