/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicates as regions: the set of rows where the predicate is TRUE (reference/delta-and-ivm.md
 * 6). For NOT the set where the operand is FALSE is needed; a row may be in neither (NULL). Only the
 * set that was asked for is computed: where a long OR is FALSE is an intersection of unions, whose
 * boxes multiply. What has no comparison form is an opaque condition, named by its canonical text:
 * TRUE and FALSE of it are two different, unrelated names.
 */
#include "sql/functions.h"

typedef struct region_run {
    tg_arena *arena;
    tg_schema schema;
    const tg_zone *zone;
} region_run;

static tg_region opaque(const region_run *run, const tg_bexpr *expr, bool wanted)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_predicate(expr, run->schema, &text);
    tg_str name = tg_buf_str(&text);
    return tg_region_opaque(run->arena,
                            wanted ? tg_str_copy(run->arena, name)
                                   : tg_str_printf(run->arena, "NOT (%.*s)", TG_SARG(name)));
}

/* ---- columns and constants ------------------------------------------------------------------- */

typedef struct operand {
    const tg_bexpr *column; /* a plain column */
    bool through_date;      /* CAST(column AS DATE) of a timestamp */
} operand;

static bool as_column(const tg_bexpr *expr, operand *out)
{
    *out = (operand){0};
    if (expr->kind == TG_B_CAST && expr->type->kind == TG_TYPE_DATE &&
        expr->args[0]->kind == TG_B_COLUMN &&
        (expr->args[0]->type->kind == TG_TYPE_TIMESTAMP ||
         expr->args[0]->type->kind == TG_TYPE_TIMESTAMP_NTZ)) {
        *out = (operand){.column = expr->args[0], .through_date = true};
        return true;
    }
    /* to_date(ts) and date(ts) bind to casts or calls; a cast that widens keeps the order, so its
     * column can be compared instead */
    if (expr->kind == TG_B_COLUMN) {
        out->column = expr;
    }
    return out->column && !tg_type_is_nested(expr->type) && tg_type_is_orderable(expr->type);
}

static tg_region within(region_run *run, const tg_bexpr *column, tg_interval interval)
{
    return tg_region_interval(run->arena, run->schema.fields[column->column_id - 1].name,
                              column->type, interval);
}

static tg_region above(region_run *run, const tg_bexpr *column, tg_value low, bool open)
{
    return within(run, column, (tg_interval){.has_low = true, .low = low, .low_open = open});
}

static tg_region below(region_run *run, const tg_bexpr *column, tg_value high, bool open)
{
    return within(run, column, (tg_interval){.has_high = true, .high = high, .high_open = open});
}

static tg_region exactly(region_run *run, const tg_bexpr *column, tg_value value)
{
    return within(run, column,
                  (tg_interval){.has_low = true, .has_high = true, .low = value, .high = value});
}

static tg_region null_is(region_run *run, const tg_bexpr *column, bool is_null)
{
    return tg_region_null(run->arena, run->schema.fields[column->column_id - 1].name, column->type,
                          is_null);
}

/* The first instant of a day for a timestamp column; days at the edge of time are left alone. */
static bool day_start(region_run *run, const tg_type *type, int64_t day, tg_value *out)
{
    if (day < -700000 || day > 2900000) {
        return false;
    }
    int64_t us = day * TG_US_PER_DAY;
    if (type->kind == TG_TYPE_TIMESTAMP) {
        us = tg_zone_to_us(run->zone, us);
        /* A day that does not begin at midnight (a gap or an overlap there) is not certain: no
         * region. */
        if (tg_zone_local_us(run->zone, us) != day * TG_US_PER_DAY ||
            tg_zone_local_us(run->zone, us - 1) >= day * TG_US_PER_DAY) {
            return false;
        }
    }
    *out = tg_value_int(type, us);
    return true;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

typedef enum comparison { CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE } comparison;

static comparison comparison_of(const char *name)
{
    static const char *const NAMES[] = {"", "=", "<>", "<", "<=", ">", ">="};
    for (int i = 1; i < 7; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            return (comparison)i;
        }
    }
    return CMP_NONE;
}

static comparison swapped(comparison cmp)
{
    static const comparison SWAPPED[] = {CMP_NONE, CMP_EQ, CMP_NE, CMP_GT, CMP_GE, CMP_LT, CMP_LE};
    return SWAPPED[cmp];
}

static comparison inverse(comparison cmp)
{
    static const comparison INVERSE[] = {CMP_NONE, CMP_NE, CMP_EQ, CMP_GE, CMP_GT, CMP_LE, CMP_LT};
    return INVERSE[cmp];
}

static tg_region compare_column(region_run *run, const tg_bexpr *column, comparison cmp,
                                tg_value value)
{
    switch (cmp) {
    case CMP_EQ:
        return exactly(run, column, value);
    case CMP_NE:
        return tg_region_or(run->arena, below(run, column, value, true),
                            above(run, column, value, true));
    case CMP_LT:
        return below(run, column, value, true);
    case CMP_LE:
        return below(run, column, value, false);
    case CMP_GT:
        return above(run, column, value, true);
    case CMP_GE:
    case CMP_NONE:
        break;
    }
    return above(run, column, value, false);
}

/* CAST(ts AS DATE) op day, as bounds of ts. */
static bool compare_day(region_run *run, const tg_bexpr *column, comparison cmp, int64_t day,
                        tg_region *out)
{
    tg_value from, to;
    if (!day_start(run, column->type, day, &from) || !day_start(run, column->type, day + 1, &to)) {
        return false;
    }
    tg_region inside =
        tg_region_and(run->arena, above(run, column, from, false), below(run, column, to, true));
    tg_region before = below(run, column, from, true), after = above(run, column, to, false);
    switch (cmp) {
    case CMP_EQ:
        *out = inside;
        break;
    case CMP_NE:
        *out = tg_region_or(run->arena, before, after);
        break;
    case CMP_LT:
        *out = before;
        break;
    case CMP_LE:
        *out = below(run, column, to, true);
        break;
    case CMP_GT:
        *out = after;
        break;
    case CMP_GE:
    case CMP_NONE:
        *out = above(run, column, from, false);
        break;
    }
    return true;
}

/* Two sides as a column and a constant of its type, whichever stands left; false: they are not. */
static bool as_column_and_literal(const tg_bexpr *left, const tg_bexpr *right, operand *out_column,
                                  tg_value *out_literal, bool *out_is_swapped)
{
    *out_is_swapped = left->kind == TG_B_LITERAL;
    const tg_bexpr *column = *out_is_swapped ? right : left;
    const tg_bexpr *literal = *out_is_swapped ? left : right;
    *out_literal = literal->literal;
    return literal->kind == TG_B_LITERAL && as_column(column, out_column) &&
           tg_type_equal(column->type, literal->type);
}

static tg_region compare(region_run *run, const tg_bexpr *expr, bool wanted, comparison cmp,
                         const tg_bexpr *left, const tg_bexpr *right)
{
    operand column;
    tg_value literal;
    bool is_swapped;
    if (!as_column_and_literal(left, right, &column, &literal, &is_swapped)) {
        return opaque(run, expr, wanted);
    }
    if (literal.is_null) {
        return tg_region_none(); /* a comparison with NULL is NULL for every row */
    }
    cmp = is_swapped ? swapped(cmp) : cmp;
    cmp = wanted ? cmp : inverse(cmp);
    if (column.through_date) {
        tg_region result;
        return compare_day(run, column.column, cmp, literal.as.i64, &result)
                   ? result
                   : opaque(run, expr, wanted);
    }
    return compare_column(run, column.column, cmp, literal);
}

static tg_region null_safe_equal(region_run *run, const tg_bexpr *expr, bool wanted)
{
    operand column;
    tg_value literal;
    bool is_swapped;
    if (!as_column_and_literal(expr->args[0], expr->args[1], &column, &literal, &is_swapped) ||
        column.through_date) {
        return opaque(run, expr, wanted);
    }
    if (literal.is_null) {
        return null_is(run, column.column, wanted);
    }
    return wanted ? exactly(run, column.column, literal)
                  : tg_region_or(run->arena, compare_column(run, column.column, CMP_NE, literal),
                                 null_is(run, column.column, true));
}

static tg_region is_null(region_run *run, const tg_bexpr *expr, bool wanted, bool negated)
{
    const tg_bexpr *arg = expr->args[0];
    if (arg->kind != TG_B_COLUMN || tg_type_is_nested(arg->type) ||
        !tg_type_is_orderable(arg->type)) {
        return opaque(run, expr, wanted);
    }
    return null_is(run, arg, wanted != negated);
}

/* ---- logic ----------------------------------------------------------------------------------- */

static tg_region where_is(region_run *run, const tg_bexpr *expr, bool wanted, int depth);

/* AND is TRUE where both are, FALSE where one is; OR the other way round. */
static tg_region combine(region_run *run, bool is_both, tg_region a, tg_region b)
{
    return is_both ? tg_region_and(run->arena, a, b) : tg_region_or(run->arena, a, b);
}

/* Halves, so that a long list is not copied for each of its values. */
static tg_region in_values(region_run *run, const tg_bexpr *expr, bool wanted, size_t from,
                           size_t to)
{
    if (to - from == 1) {
        return compare(run, expr, wanted, CMP_EQ, expr->args[0], expr->args[from]);
    }
    size_t middle = from + (to - from) / 2;
    return combine(run, !wanted, in_values(run, expr, wanted, from, middle),
                   in_values(run, expr, wanted, middle, to));
}

static tg_region in_list(region_run *run, const tg_bexpr *expr, bool wanted)
{
    for (size_t i = 1; i < expr->arg_count; i++) {
        if (expr->args[i]->kind != TG_B_LITERAL) {
            return opaque(run, expr, wanted);
        }
    }
    /* x IN (a, NULL): TRUE where x = a, else NULL; so NOT IN is never TRUE */
    return expr->arg_count > 1 ? in_values(run, expr, wanted, 1, expr->arg_count)
           : wanted            ? tg_region_none()
                               : tg_region_all();
}

static tg_region between(region_run *run, const tg_bexpr *expr, bool wanted)
{
    return combine(run, wanted, compare(run, expr, wanted, CMP_GE, expr->args[0], expr->args[1]),
                   compare(run, expr, wanted, CMP_LE, expr->args[0], expr->args[2]));
}

static tg_region call_region(region_run *run, const tg_bexpr *expr, bool wanted, int depth)
{
    const char *name = expr->function->name;
    comparison cmp = expr->arg_count == 2 ? comparison_of(name) : CMP_NONE;
    bool is_and = strcmp(name, "and") == 0;
    if (is_and || strcmp(name, "or") == 0) {
        return combine(run, is_and == wanted, where_is(run, expr->args[0], wanted, depth + 1),
                       where_is(run, expr->args[1], wanted, depth + 1));
    }
    if (strcmp(name, "not") == 0) {
        return where_is(run, expr->args[0], !wanted, depth + 1);
    }
    if (cmp != CMP_NONE) {
        return compare(run, expr, wanted, cmp, expr->args[0], expr->args[1]);
    }
    if (strcmp(name, "<=>") == 0 || strcmp(name, "equal_null") == 0) {
        return null_safe_equal(run, expr, wanted);
    }
    if (strcmp(name, "between") == 0) {
        return between(run, expr, wanted);
    }
    if (strcmp(name, "in") == 0) {
        return in_list(run, expr, wanted);
    }
    if (strcmp(name, "isnull") == 0 || strcmp(name, "isnotnull") == 0) {
        return is_null(run, expr, wanted, strcmp(name, "isnotnull") == 0);
    }
    return opaque(run, expr, wanted);
}

/* Where the predicate is TRUE (wanted) or FALSE. */
static tg_region where_is(region_run *run, const tg_bexpr *expr, bool wanted, int depth)
{
    if (depth > TG_LIMIT_EXPRESSION_DEPTH) {
        return opaque(run, expr, wanted);
    }
    if (expr->kind == TG_B_LITERAL && expr->type->kind == TG_TYPE_BOOLEAN) {
        bool is_wanted = !expr->literal.is_null && expr->literal.as.boolean == wanted;
        return is_wanted ? tg_region_all() : tg_region_none();
    }
    if (expr->kind == TG_B_COLUMN && expr->type->kind == TG_TYPE_BOOLEAN) {
        return exactly(run, expr, tg_value_bool(wanted));
    }
    return expr->kind == TG_B_CALL ? call_region(run, expr, wanted, depth)
                                   : opaque(run, expr, wanted);
}

tg_region tg_sql_region(const tg_bexpr *predicate, tg_schema schema, const tg_zone *zone,
                        tg_arena *arena)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    region_run run = {.arena = scratch, .schema = schema, .zone = zone ? zone : tg_zone_utc()};
    return tg_region_copy(arena, where_is(&run, predicate, true, 0));
}
