/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region of a predicate holds every row for which the predicate is TRUE: random predicates over
 * small domains with NULL, by brute force. A region without opaque conditions that is no upper
 * bound holds no other row. TIDEGATE_SEED and TIDEGATE_PAIRS choose others.
 */
#include <stdlib.h>

#include "sql/sql.h"
#include "support/test.h"

enum { COLUMNS = 6, ROWS_PER_PREDICATE = 64, VALUES_MAX = 4, DEPTH_MAX = 4 };
enum { COL_A, COL_S, COL_D, COL_F, COL_X, COL_TS };

static uint64_t state;

static unsigned roll(unsigned sides)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)((state >> 33) % sides);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* One of a few values of a column's type; rows and literals take from the same ones. */
static tg_value some_value(tg_schema schema, int column)
{
    static const double DOUBLES[] = {-0.0, 0.0, 1.5, -1.5, 1.0 / 0.0, 0.0 / 0.0};
    static const tg_str STRINGS[] = {{"", 0}, {"a", 1}, {"ab", 2}, {"b", 1}, {"B", 1}};
    const tg_type *type = schema.fields[column].type;
    const int64_t day = 19813; /* 2024-03-31: summer time begins in Berlin */
    switch (column) {
    case COL_A:
        return tg_value_int(type, (int64_t)roll(6) - 1);
    case COL_S:
        return tg_value_bytes(type, STRINGS[roll(5)]);
    case COL_D:
        return tg_value_int(type, day + (int64_t)roll(4) - 2);
    case COL_F:
        return tg_value_bool(roll(2));
    case COL_X:
        return tg_value_double(type, DOUBLES[roll(6)]);
    default: /* each half hour around three midnights, and a microsecond before it */
        return tg_value_int(type, (day + (int64_t)roll(3) - 1) * TG_US_PER_DAY +
                                      ((int64_t)roll(8) - 5) * 1800 * TG_US_PER_SECOND -
                                      (int64_t)roll(2));
    }
}

/* ---- predicates ------------------------------------------------------------------------------ */

typedef enum truth { IS_FALSE, IS_TRUE, IS_NULL } truth;

typedef enum kind {
    CONSTANT,
    COMPARE,
    COMPARE_COLUMNS,
    COMPARE_SUM, /* a + 1 op value */
    COMPARE_DAY, /* CAST(ts AS DATE) op value */
    BETWEEN,
    IN,
    NULL_TEST,
    NULL_SAFE,
    FLAG,
    IS_TRUE_TEST,
    NOT,
    AND,
    OR
} kind;

typedef struct predicate {
    kind kind;
    int column, op;
    bool negated, swapped;
    tg_value values[VALUES_MAX];
    size_t count;
    truth constant;
    const struct predicate *left, *right;
} predicate;

static const char *const OPS[] = {"=", "<>", "<", "<=", ">", ">="};

static tg_value maybe_null(tg_schema schema, int column)
{
    return roll(8) == 0 ? tg_value_null(schema.fields[column].type) : some_value(schema, column);
}

static const predicate *make(tg_schema schema, int depth, tg_arena *arena)
{
    predicate *p = TG_NEW(arena, predicate);
    bool is_leaf = depth >= DEPTH_MAX || roll(3) == 0;
    p->kind = is_leaf ? (kind)roll(NOT) : (kind)(NOT + roll(3));
    p->column = (int)roll(COLUMNS);
    p->op = (int)roll(6);
    p->negated = roll(2);
    p->swapped = roll(2);
    p->constant = (truth)roll(3);
    p->count = p->kind == IN ? 1 + roll(VALUES_MAX) : p->kind == BETWEEN ? 2 : 1;
    p->column = p->kind == COMPARE_SUM                       ? COL_A
                : p->kind == COMPARE_DAY                     ? COL_D
                : p->kind == FLAG || p->kind == IS_TRUE_TEST ? COL_F
                                                             : p->column;
    for (size_t i = 0; i < p->count; i++) {
        p->values[i] = maybe_null(schema, p->column);
    }
    if (!is_leaf) {
        p->left = make(schema, depth + 1, arena);
        p->right = p->kind == NOT ? NULL : make(schema, depth + 1, arena);
    }
    return p;
}

static void write_sides(const predicate *p, const char *left, tg_arena *arena, tg_buf *out)
{
    tg_str value = tg_value_literal(arena, p->values[0]);
    const char *op = p->kind == NULL_SAFE ? "<=>" : OPS[p->op];
    if (p->swapped) {
        tg_buf_addf(out, "%.*s %s %s", TG_SARG(value), op, left);
    } else {
        tg_buf_addf(out, "%s %s %.*s", left, op, TG_SARG(value));
    }
}

static void write_text(const predicate *p, tg_arena *arena, tg_buf *out)
{
    static const char *const NAMES[] = {"a", "s", "d", "f", "x", "ts"};
    static const char *const CONSTANTS[] = {"FALSE", "TRUE", "NULL"};
    const char *name = NAMES[p->column], *no = p->negated ? "NOT " : "";
    tg_buf_addz(out, "(");
    switch (p->kind) {
    case CONSTANT:
        tg_buf_addz(out, CONSTANTS[p->constant]);
        break;
    case COMPARE:
    case NULL_SAFE:
        write_sides(p, name, arena, out);
        break;
    case COMPARE_COLUMNS:
        tg_buf_addf(out, "%s %s %s", name, OPS[p->op], name);
        break;
    case COMPARE_SUM:
        write_sides(p, "a + 1", arena, out);
        break;
    case COMPARE_DAY:
        write_sides(p, "CAST(ts AS DATE)", arena, out);
        break;
    case BETWEEN:
        tg_buf_addf(out, "%s %sBETWEEN %.*s AND %.*s", name, no,
                    TG_SARG(tg_value_literal(arena, p->values[0])),
                    TG_SARG(tg_value_literal(arena, p->values[1])));
        break;
    case IN:
        tg_buf_addf(out, "%s %sIN (", name, no);
        for (size_t i = 0; i < p->count; i++) {
            tg_buf_addz(out, i > 0 ? ", " : "");
            tg_buf_adds(out, tg_value_literal(arena, p->values[i]));
        }
        tg_buf_addz(out, ")");
        break;
    case NULL_TEST:
        tg_buf_addf(out, "%s IS %sNULL", name, no);
        break;
    case FLAG:
        tg_buf_addf(out, "%sf", no);
        break;
    case IS_TRUE_TEST:
        tg_buf_addf(out, "f IS %sTRUE", no);
        break;
    case NOT:
        tg_buf_addz(out, "NOT ");
        write_text(p->left, arena, out);
        break;
    case AND:
    case OR:
        write_text(p->left, arena, out);
        tg_buf_addz(out, p->kind == AND ? " AND " : " OR ");
        write_text(p->right, arena, out);
        break;
    }
    tg_buf_addz(out, ")");
}

/* ---- their meaning --------------------------------------------------------------------------- */

static truth truth_if(bool holds)
{
    return holds ? IS_TRUE : IS_FALSE;
}

static truth not(truth a)
{
    return a == IS_NULL ? IS_NULL : truth_if(a == IS_FALSE);
}

static truth and (truth a, truth b)
{
    if (a == IS_FALSE || b == IS_FALSE) {
        return IS_FALSE;
    }
    return a == IS_NULL || b == IS_NULL ? IS_NULL : IS_TRUE;
}

static truth compare(tg_value a, int op, tg_value b)
{
    if (a.is_null || b.is_null) {
        return IS_NULL;
    }
    int order = tg_value_cmp(a, b);
    const bool holds[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    return truth_if(holds[op]);
}

static truth eval(const predicate *p, const tg_value *row, const tg_zone *zone);

static truth eval_in(const predicate *p, tg_value value)
{
    truth found = IS_FALSE;
    for (size_t i = 0; i < p->count; i++) {
        found = not(and(not(found), not(compare(value, 0, p->values[i]))));
    }
    return found;
}

/* The left side of a comparison. */
static tg_value left_side(const predicate *p, const tg_value *row, const tg_zone *zone)
{
    tg_value value = row[p->column];
    if (p->kind == COMPARE_SUM && !value.is_null) {
        value.as.i64++;
    }
    if (p->kind == COMPARE_DAY) {
        int64_t us = row[COL_TS].is_null ? 0 : tg_zone_local_us(zone, row[COL_TS].as.i64);
        value = row[COL_TS].is_null
                    ? tg_value_null(p->values[0].type)
                    : tg_value_int(p->values[0].type, us / TG_US_PER_DAY); /* after 1970 */
    }
    return value;
}

static truth eval(const predicate *p, const tg_value *row, const tg_zone *zone)
{
    tg_value value = row[p->column];
    truth result = IS_NULL;
    switch (p->kind) {
    case CONSTANT:
        return p->constant;
    case COMPARE:
    case COMPARE_SUM:
    case COMPARE_DAY:
        value = left_side(p, row, zone);
        return p->swapped ? compare(p->values[0], p->op, value)
                          : compare(value, p->op, p->values[0]);
    case COMPARE_COLUMNS:
        return compare(value, p->op, value);
    case BETWEEN:
        result = and(compare(value, 5, p->values[0]), compare(value, 3, p->values[1]));
        return p->negated ? not(result) : result;
    case IN:
        result = eval_in(p, value);
        return p->negated ? not(result) : result;
    case NULL_TEST:
        return truth_if(value.is_null != p->negated);
    case NULL_SAFE:
        return value.is_null || p->values[0].is_null
                   ? truth_if(value.is_null && p->values[0].is_null)
                   : compare(value, 0, p->values[0]);
    case FLAG:
        result = value.is_null ? IS_NULL : truth_if(value.as.boolean);
        return p->negated ? not(result) : result;
    case IS_TRUE_TEST:
        return truth_if((!value.is_null && value.as.boolean) != p->negated);
    case NOT:
        return not(eval(p->left, row, zone));
    case AND:
        return and(eval(p->left, row, zone), eval(p->right, row, zone));
    case OR:
        break;
    }
    return not(and(not(eval(p->left, row, zone)), not(eval(p->right, row, zone))));
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool in_interval(const tg_interval *interval, tg_value value)
{
    int low = interval->has_low ? tg_value_cmp(value, interval->low) : 1;
    int high = interval->has_high ? tg_value_cmp(value, interval->high) : -1;
    return (low > 0 || (low == 0 && !interval->low_open)) &&
           (high < 0 || (high == 0 && !interval->high_open));
}

static bool in_domain(const tg_domain *domain, tg_value value)
{
    if (value.is_null) {
        return domain->allows_null;
    }
    for (size_t i = 0; i < domain->interval_count; i++) {
        if (in_interval(&domain->intervals[i], value)) {
            return true;
        }
    }
    return false;
}

static bool in_box(const tg_box *box, const tg_value *row, tg_schema schema)
{
    for (size_t i = 0; i < box->domain_count; i++) {
        ptrdiff_t column = tg_schema_find(schema, box->domains[i].column);
        assert_true(column >= 0);
        if (!in_domain(&box->domains[i], row[column])) {
            return false;
        }
    }
    return true;
}

/* Opaque conditions may hold. */
static bool in_region(tg_region region, const tg_value *row, tg_schema schema)
{
    for (size_t i = 0; i < region.box_count; i++) {
        if (in_box(&region.boxes[i], row, schema)) {
            return true;
        }
    }
    return false;
}

static bool is_exact(tg_region region)
{
    for (size_t i = 0; i < region.box_count; i++) {
        if (region.boxes[i].opaque_count > 0) {
            return false;
        }
    }
    return !region.is_upper_bound;
}

/* ---- the property ---------------------------------------------------------------------------- */

typedef struct counts {
    unsigned long pairs, hits, exact;
} counts;

static tg_region region_of(tg_str text, tg_schema schema, const tg_zone *zone, tg_arena *arena)
{
    tg_bind_options options = {.zone = zone};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_expr *expr;
    tg_bexpr *bound;
    bool has_time, is_deterministic;
    assert_ok(tg_sql_parse_expression(text, arena, &expr, &err), &err);
    assert_ok(tg_sql_bind_predicate(expr, schema, NULL, 0, &options, arena, &bound, &has_time,
                                    &is_deterministic, &err),
              &err);
    return tg_sql_region(tg_sql_fold(bound, zone, arena), schema, zone, arena);
}

static void check_predicate(tg_schema schema, const tg_zone *zone, unsigned long seed, counts *n)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    const predicate *p = make(schema, 0, arena);
    write_text(p, arena, &text);
    tg_region region = region_of(tg_buf_str(&text), schema, zone, arena);
    bool exact = is_exact(region);
    for (int i = 0; i < ROWS_PER_PREDICATE; i++) {
        tg_value row[COLUMNS];
        for (int j = 0; j < COLUMNS; j++) {
            row[j] = maybe_null(schema, j);
        }
        bool holds = eval(p, row, zone) == IS_TRUE;
        bool inside = in_region(region, row, schema);
        n->pairs++;
        n->hits += holds;
        n->exact += exact;
        if ((holds && !inside) || (exact && inside && !holds)) {
            for (int j = 0; j < COLUMNS; j++) {
                print_error("%.*s = %.*s\n", TG_SARG(schema.fields[j].name),
                            TG_SARG(tg_value_literal(arena, row[j])));
            }
            fail_msg("seed %lu, pair %lu: the row is %s the region\n  %.*s\n  of %.*s", seed,
                     n->pairs, inside ? "in" : "not in", TG_SARG(tg_region_text(arena, region)),
                     TG_SARG(tg_buf_str(&text)));
        }
    }
}

static unsigned long number_from(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void test_regions_hold_what_is_true(void **unused)
{
    (void)unused;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    unsigned long seed = number_from("TIDEGATE_SEED", 20240331);
    unsigned long pairs = number_from("TIDEGATE_PAIRS", 200000);
    const tg_zone *berlin;
    tg_schema schema;
    counts n = {0};
    state = seed;
    assert_ok(tg_zone_load(TG_S("Europe/Berlin"), arena, &berlin, NULL), NULL);
    assert_ok(
        tg_sql_parse_columns(TG_S("a INT, s STRING, d DATE, f BOOLEAN, x DOUBLE, ts TIMESTAMP"),
                             arena, &schema, NULL),
        NULL);
    while (n.pairs < pairs) {
        check_predicate(schema, roll(2) ? berlin : tg_zone_utc(), seed, &n);
    }
    print_message("seed %lu: %lu pairs, %lu TRUE, %lu of exact regions\n", seed, n.pairs, n.hits,
                  n.exact);
    assert_true(n.hits > n.pairs / 10 && n.exact > n.pairs / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regions_hold_what_is_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
