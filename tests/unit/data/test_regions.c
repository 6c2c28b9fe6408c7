/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions against brute force: random predicates over tiny domains with NULLs (an INT, a DOUBLE
 * with NaN, a STRING, two opaque conditions). Every row is tried; a region must hold exactly the
 * predicate's rows, or more when it says that it is an upper bound. A proof (contains, not meets)
 * that the rows contradict is a failure; proofs that were missed are counted, and may not be many.
 *
 *   TIDEGATE_SEED=7 TIDEGATE_PAIRS=1000000 property_regions
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>

#include <cmocka.h>

#include "data/data.h"

enum { INTS = 6, DOUBLES = 6, STRINGS = 5, ROWS = INTS * DOUBLES * STRINGS };

/* The last of each list is NULL. */
static const int64_t ints[INTS - 1] = {-1, 0, 1, 2, 3};
static const double doubles[DOUBLES - 1] = {-INFINITY, -0.0, 0.5, 1.0, NAN};
static const char *const strings[STRINGS - 1] = {"", "10", "9", "a"};

typedef struct rows {
    bool in[ROWS];
} rows;

typedef struct predicate {
    rows set;
    tg_region region;
} predicate;

static uint64_t state;

static unsigned pick(unsigned bound)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((state >> 33) % bound);
}

/* Column column of row as a value; false for NULL. */
static bool cell(int row, int column, tg_value *out)
{
    int i = column == 0 ? row % INTS : column == 1 ? row / INTS % DOUBLES : row / INTS / DOUBLES;

    if (column == 0 && i < INTS - 1) {
        *out = tg_value_int(tg_type_of(TG_TYPE_INT), ints[i]);
    } else if (column == 1 && i < DOUBLES - 1) {
        *out = tg_value_double(tg_type_of(TG_TYPE_DOUBLE), doubles[i]);
    } else if (column == 2 && i < STRINGS - 1) {
        *out = tg_value_bytes(tg_type_of(TG_TYPE_STRING), tg_str_from(strings[i]));
    } else {
        return false;
    }
    return true;
}

static bool interval_holds(const tg_interval *interval, tg_value value)
{
    int low = interval->has_low ? tg_value_cmp(value, interval->low) : 1;
    int high = interval->has_high ? tg_value_cmp(value, interval->high) : -1;

    return (low > 0 || (low == 0 && !interval->low_open)) &&
           (high < 0 || (high == 0 && !interval->high_open));
}

static bool opaque_holds(tg_str text, int row)
{
    return tg_str_eq(text, TG_S("f(x)")) ? row % 7 < 3 : row % 5 < 2;
}

static const tg_str column_names[] = {{"a", 1}, {"d", 1}, {"s", 1}};
static const tg_type_kind column_kinds[] = {TG_TYPE_INT, TG_TYPE_DOUBLE, TG_TYPE_STRING};

static tg_value any_constant(int column)
{
    tg_value value;

    while (!cell((int)pick(ROWS), column, &value)) {
    }
    return value;
}

static predicate leaf(tg_arena *arena)
{
    predicate p = {0};
    int column = (int)pick(3);
    const tg_type *type = tg_type_of(column_kinds[column]);
    unsigned kind = pick(10);
    tg_interval interval = {
        .has_low = pick(3) > 0, .has_high = pick(3) > 0, .low_open = pick(2), .high_open = pick(2)};
    tg_str text = pick(2) ? TG_S("f(x)") : TG_S("g(x)");

    interval.low = any_constant(column);
    interval.high = any_constant(column);
    if (pick(3) == 0) {
        interval = (tg_interval){
            .has_low = true, .has_high = true, .low = interval.low, .high = interval.low};
    }
    if (kind == 0) {
        p.region = tg_region_opaque(arena, text);
    } else if (kind <= 2) {
        p.region = tg_region_null(arena, column_names[column], type, kind == 1);
    } else {
        p.region = tg_region_interval(arena, column_names[column], type, interval);
    }
    for (int row = 0; row < ROWS; row++) {
        tg_value value;
        bool known = cell(row, column, &value);
        p.set.in[row] = kind == 0   ? opaque_holds(text, row)
                        : kind <= 2 ? known == (kind == 2)
                                    : known && interval_holds(&interval, value);
    }
    return p;
}

static predicate random_predicate(tg_arena *arena, int depth)
{
    if (depth == 0 || pick(4) == 0) {
        return leaf(arena);
    }
    predicate a = random_predicate(arena, depth - 1);
    predicate b = random_predicate(arena, depth - 1);
    predicate p = {0};
    unsigned op = pick(5);

    p.region = op < 2   ? tg_region_and(arena, a.region, b.region)
               : op < 4 ? tg_region_or(arena, a.region, b.region)
                        : tg_region_minus(arena, a.region, b.region);
    for (int row = 0; row < ROWS; row++) {
        p.set.in[row] = op < 2   ? a.set.in[row] && b.set.in[row]
                        : op < 4 ? a.set.in[row] || b.set.in[row]
                                 : a.set.in[row] && !b.set.in[row];
    }
    return p;
}

static bool box_holds(const tg_box *box, int row)
{
    for (size_t i = 0; i < box->domain_count; i++) {
        const tg_domain *domain = &box->domains[i];
        int column = domain->column.ptr[0] == 'a' ? 0 : domain->column.ptr[0] == 'd' ? 1 : 2;
        tg_value value;
        bool inside = false;
        if (!cell(row, column, &value)) {
            inside = domain->allows_null;
        } else {
            for (size_t k = 0; k < domain->interval_count && !inside; k++) {
                inside = interval_holds(&domain->intervals[k], value);
            }
        }
        if (!inside) {
            return false;
        }
    }
    for (size_t i = 0; i < box->opaque_count; i++) {
        if (!opaque_holds(box->opaques[i], row)) {
            return false;
        }
    }
    return true;
}

static bool region_holds(tg_region region, int row)
{
    for (size_t i = 0; i < region.box_count; i++) {
        if (box_holds(&region.boxes[i], row)) {
            return true;
        }
    }
    return false;
}

static void check_set(tg_arena *arena, const predicate *p, unsigned long pair)
{
    for (int row = 0; row < ROWS; row++) {
        bool held = region_holds(p->region, row);
        if (p->set.in[row] != held && !(held && p->region.is_upper_bound)) {
            fail_msg("pair %lu, row %d: predicate says %d, region %s", pair, row, p->set.in[row],
                     tg_region_text(arena, p->region).ptr);
        }
    }
}

/* What is left lies in a and shares no row with b. */
static unsigned long check_without(tg_arena *arena, const predicate *a, const predicate *b,
                                   unsigned long pair, unsigned long *out_possible)
{
    tg_region rest = tg_region_without(arena, a->region, b->region);
    unsigned long kept = 0;
    for (int row = 0; row < ROWS; row++) {
        bool held = region_holds(rest, row);
        if (rest.is_upper_bound ? b->region.box_count > 0
                                : held && (!a->set.in[row] || b->set.in[row])) {
            fail_msg("pair %lu, row %d: %s without %s gives %s", pair, row,
                     tg_region_text(arena, a->region).ptr, tg_region_text(arena, b->region).ptr,
                     tg_region_text(arena, rest).ptr);
        }
        kept += held;
        *out_possible += a->set.in[row] && !b->set.in[row];
    }
    return kept;
}

static unsigned long number_from(const char *name, unsigned long fallback)
{
    const tg_env *env = tg_env_system();
    const char *text = env->getenv(env->self, name);
    int64_t value;

    return text && tg_str_to_i64(tg_str_from(text), &value) ? (unsigned long)value : fallback;
}

static void proofs_agree_with_rows(void **unused)
{
    unsigned long seed = number_from("TIDEGATE_SEED", 20240101);
    unsigned long pairs = number_from("TIDEGATE_PAIRS", 200000);
    unsigned long inside = 0, inside_proven = 0, apart = 0, apart_proven = 0;
    unsigned long kept = 0, possible = 0;
    tg_arena *arena = tg_arena_new();

    (void)unused;
    state = seed;
    print_message("seed %lu, %lu pairs\n", seed, pairs);
    for (unsigned long pair = 0; pair < pairs; pair++) {
        predicate a = random_predicate(arena, (int)pick(4));
        predicate b = random_predicate(arena, (int)pick(4));
        bool b_in_a = true;
        bool disjoint = true;
        check_set(arena, &a, pair);
        check_set(arena, &b, pair);
        for (int row = 0; row < ROWS; row++) {
            b_in_a = b_in_a && (!b.set.in[row] || a.set.in[row]);
            disjoint = disjoint && !(a.set.in[row] && b.set.in[row]);
        }
        bool proven = tg_region_contains(a.region, b.region);
        bool proven_apart = !tg_region_meets(a.region, b.region);
        if ((proven && !b_in_a) || (proven_apart && !disjoint)) {
            fail_msg("seed %lu, pair %lu: wrong proof (%s) of\n  a: %s\n  b: %s", seed, pair,
                     proven && !b_in_a ? "a contains b" : "a and b are disjoint",
                     tg_region_text(arena, a.region).ptr, tg_region_text(arena, b.region).ptr);
        }
        kept += check_without(arena, &a, &b, pair, &possible);
        inside += b_in_a;
        inside_proven += b_in_a && proven;
        apart += disjoint;
        apart_proven += disjoint && proven_apart;
        tg_arena_reset(arena);
    }
    print_message("contained: %lu of %lu proven (%.2f %%); disjoint: %lu of %lu proven (%.2f %%)\n",
                  inside_proven, inside, 100.0 * (double)inside_proven / (double)inside,
                  apart_proven, apart, 100.0 * (double)apart_proven / (double)apart);
    print_message("rows left without another region: %lu of %lu kept (%.2f %%)\n", kept, possible,
                  100.0 * (double)kept / (double)possible);
    if (pairs >= 10000) {
        assert_true(inside_proven * 100 >= inside * 90);
        assert_true(apart_proven * 100 >= apart * 90);
        assert_true(kept * 100 >= possible * 88);
    }
    tg_arena_free(arena);
}

static tg_region equal_to(tg_arena *arena, const char *column, tg_value value)
{
    const tg_interval interval = {.has_low = true, .has_high = true, .low = value, .high = value};
    return tg_region_interval(arena, tg_str_copy(arena, tg_str_from(column)), value.type, interval);
}

/* Whatever it was made of may go: names, types, texts. */
static void copies_stand_alone(void **unused)
{
    (void)unused;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_arena *made = tg_arena_new();
    tg_str text = tg_str_copy(made, TG_S("a text"));
    tg_value price = tg_value_decimal(tg_type_decimal(made, 9, 2), 1250);
    tg_region region = equal_to(made, "s", tg_value_bytes(tg_type_of(TG_TYPE_STRING), text));
    region = tg_region_and(made, region, equal_to(made, "price", price));
    region =
        tg_region_and(made, region, tg_region_opaque(made, tg_str_copy(made, TG_S("rand() < 1"))));
    region = tg_region_or(made, region,
                          tg_region_null(made, TG_S("s"), tg_type_of(TG_TYPE_STRING), true));
    tg_str before = tg_region_text(arena, region);
    tg_region copy = tg_region_copy(arena, region);
    tg_arena_free(made);
    tg_str after = tg_region_text(arena, copy);
    assert_string_equal(before.ptr, after.ptr);
    assert_int_equal(copy.box_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(proofs_agree_with_rows),
                                       cmocka_unit_test(copies_stand_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
