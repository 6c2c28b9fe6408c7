/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as text: what tg_sql_print_region writes means the same region again, for every type. */
#include "support/test.h"

#include <math.h>

#include "sql/sql.h"

static tg_arena *arena;
static const tg_zone *zone;

static int set_up(void **state)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)state;
    arena = tg_arena_new();
    assert_ok(tg_zone_load(TG_S("America/New_York"), arena, &zone, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

static void check(tg_region region, tg_schema schema)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_sql_print_region(region, &out);
    tg_str text = tg_buf_str(&out);
    tg_expr *expr;
    tg_bexpr *bound;
    bool has_time, is_stable;
    const tg_bind_options options = {.zone = zone};
    assert_ok(tg_sql_parse_expression(text, arena, &expr, &err), &err);
    assert_ok(tg_sql_bind_predicate(expr, schema, NULL, 0, &options, arena, &bound, &has_time,
                                    &is_stable, &err),
              &err);
    tg_region meant = tg_sql_region(tg_sql_fold(bound, zone, arena), schema, zone, arena);
    if (meant.is_upper_bound || !tg_region_contains(meant, region) ||
        !tg_region_contains(region, meant)) {
        fail_msg("%.*s of %.*s means %.*s", TG_SARG(text), TG_SARG(tg_region_text(arena, region)),
                 TG_SARG(tg_region_text(arena, meant)));
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

enum { VALUES = 5 };

static tg_value decimal_value(const tg_type *type, int64_t unscaled)
{
    return (tg_value){.type = type, .as.decimal = unscaled};
}

/* Ascending values of a type. */
static void values_of(const tg_type *type, tg_value out[VALUES])
{
    static const char *const texts[VALUES] = {"", "a'b", "a\\b\n", "z`\"", "\xC3\xA9"};
    static const double doubles[VALUES] = {-INFINITY, -1.5e-300, 0, 1e22, NAN};
    static const int64_t numbers[VALUES] = {-128, -1, 0, 1, 127};
    static const int64_t days[VALUES] = {-719162, -1, 0, 19723, 2932896};
    for (int i = 0; i < VALUES; i++) {
        switch (type->kind) {
        case TG_TYPE_STRING:
        case TG_TYPE_BINARY:
            out[i] = tg_value_bytes(type, tg_str_from(texts[i]));
            break;
        case TG_TYPE_FLOAT:
        case TG_TYPE_DOUBLE:
            out[i] = tg_value_double(type, type->kind == TG_TYPE_FLOAT ? (double)(float)doubles[i]
                                                                       : doubles[i]);
            break;
        case TG_TYPE_DECIMAL:
            out[i] = decimal_value(type, numbers[i] * 7);
            break;
        case TG_TYPE_DATE:
            out[i] = tg_value_int(type, days[i]);
            break;
        case TG_TYPE_TIMESTAMP:
        case TG_TYPE_TIMESTAMP_NTZ:
            out[i] = tg_value_int(type, days[i] * TG_US_PER_DAY + (i == 2 ? 1 : 0));
            break;
        default:
            out[i] = tg_value_int(type, numbers[i]);
            break;
        }
    }
}

static tg_field column_of(const tg_type *type)
{
    return (tg_field){.name = TG_S("odd `name`"), .type = type, .nullable = true};
}

static void check_type(const tg_type *type)
{
    tg_field fields[] = {{.name = TG_S("n"), .type = tg_type_of(TG_TYPE_INT), .nullable = true},
                         column_of(type)};
    const tg_schema schema = {.fields = fields, .count = 2};
    tg_value values[VALUES];
    values_of(type, values);
    tg_region points = tg_region_none();
    tg_region none = tg_region_null(arena, fields[1].name, type, true);
    tg_region n = tg_region_null(arena, fields[0].name, fields[0].type, false);
    check(none, schema);
    check(tg_region_null(arena, fields[1].name, type, false), schema);
    for (int low = -1; low < VALUES; low++) {
        for (int high = low < 0 ? 0 : low; high <= VALUES; high++) {
            for (unsigned open = 0; open < 4; open++) {
                tg_interval interval = {.has_low = low >= 0,
                                        .has_high = high < VALUES,
                                        .low_open = open & 1,
                                        .high_open = open & 2};
                interval.low = values[low < 0 ? 0 : low];
                interval.high = values[high < VALUES ? high : 0];
                tg_region region = tg_region_interval(arena, fields[1].name, type, interval);
                check(region, schema);
                check(tg_region_or(arena, region, none), schema);
                check(tg_region_or(arena, n, region), schema);
                check(tg_region_and(arena, n, region), schema);
                check(tg_region_minus(arena, tg_region_all(), region), schema);
            }
        }
        if (low >= 0) {
            tg_interval point = {
                .has_low = true, .has_high = true, .low = values[low], .high = values[low]};
            points =
                tg_region_or(arena, points, tg_region_interval(arena, fields[1].name, type, point));
            check(points, schema);
            check(tg_region_minus(arena, n, points), schema);
        }
    }
}

static void every_type(void **state)
{
    (void)state;
    static const tg_type_kind kinds[] = {TG_TYPE_TINYINT,   TG_TYPE_SMALLINT,     TG_TYPE_INT,
                                         TG_TYPE_BIGINT,    TG_TYPE_FLOAT,        TG_TYPE_DOUBLE,
                                         TG_TYPE_STRING,    TG_TYPE_BINARY,       TG_TYPE_DATE,
                                         TG_TYPE_TIMESTAMP, TG_TYPE_TIMESTAMP_NTZ};
    for (size_t i = 0; i < TG_COUNT(kinds); i++) {
        check_type(tg_type_of(kinds[i]));
    }
    check_type(tg_type_decimal(arena, 9, 2));
    check_type(tg_type_decimal(arena, 38, 0));
}

static void booleans_and_opaque_conditions(void **state)
{
    (void)state;
    const tg_type *boolean = tg_type_of(TG_TYPE_BOOLEAN), *integer = tg_type_of(TG_TYPE_INT);
    tg_field fields[] = {{.name = TG_S("b"), .type = boolean, .nullable = true},
                         {.name = TG_S("n"), .type = integer, .nullable = true}};
    const tg_schema schema = {.fields = fields, .count = 2};
    tg_interval yes = {
        .has_low = true, .has_high = true, .low = tg_value_bool(true), .high = tg_value_bool(true)};
    tg_region is_true = tg_region_interval(arena, TG_S("b"), boolean, yes);
    tg_region odd = tg_region_opaque(arena, TG_S("(n % 2) = 1"));
    tg_region even = tg_region_opaque(arena, TG_S("NOT ((n % 2) = 1)"));
    check(is_true, schema);
    check(tg_region_minus(arena, tg_region_all(), is_true), schema);
    check(odd, schema);
    check(even, schema);
    check(tg_region_and(arena, odd, is_true), schema);
    check(tg_region_or(arena, tg_region_and(arena, even, is_true), odd), schema);
    check(tg_region_all(), schema);
    check(tg_region_none(), schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(booleans_and_opaque_conditions, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
