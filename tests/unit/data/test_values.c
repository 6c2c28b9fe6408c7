/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, casts, literals and Delta's text forms. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "data/data.h"

static tg_arena *arena;

static void doubles_are_shortest(void **unused)
{
    (void)unused;
    assert_str(tg_double_text(arena, 0.1, false), "0.1");
    assert_str(tg_double_text(arena, 1e16, false), "1e+16");
    assert_str(tg_double_text(arena, 123456789012345680.0, false), "1.2345678901234568e+17");
    assert_str(tg_double_text(arena, 1e15, false), "1000000000000000.0");
    assert_str(tg_double_text(arena, 0.0001, false), "0.0001");
    assert_str(tg_double_text(arena, 0.00012, false), "0.00012");
    assert_str(tg_double_text(arena, 0.00001, false), "1e-05");
    assert_str(tg_double_text(arena, -0.0, false), "-0.0");
    assert_str(tg_double_text(arena, 100.25, false), "100.25");
    assert_str(tg_double_text(arena, 5e-324, false), "5e-324");
    assert_str(tg_double_text(arena, 1.7976931348623157e308, false), "1.7976931348623157e+308");
    assert_str(tg_double_text(arena, (double)0.1f, true), "0.1");
    assert_str(tg_double_text(arena, (double)16777216.0f, true), "16777216.0");
    assert_str(tg_double_text(arena, (double)NAN, false), "NaN");
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++) {
        double value, back;
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        uint64_t bits = state ^ (state >> 29);
        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value)) {
            assert_true(tg_str_to_double(tg_double_text(arena, value, false), &back));
            assert_true(back == value);
        }
    }
}

static void decimals_are_exact(void **unused)
{
    tg_int128 v;

    (void)unused;
    assert_true(tg_decimal_parse(TG_S("-12.30"), 2, &v) && v == -1230);
    assert_true(tg_decimal_parse(TG_S("1.5E-1"), 2, &v) && v == 15);
    assert_true(tg_decimal_parse(TG_S("1E2"), 0, &v) && v == 100);
    assert_true(tg_decimal_parse(TG_S("12.300"), 1, &v) && v == 123);
    assert_true(tg_decimal_parse(TG_S("0E-90000"), 1, &v) && v == 0);
    assert_false(tg_decimal_parse(TG_S("12.34"), 1, &v));
    assert_false(tg_decimal_parse(TG_S(""), 1, &v));
    assert_false(tg_decimal_parse(TG_S("."), 1, &v));
    assert_false(tg_decimal_parse(TG_S("1e"), 1, &v));
    assert_false(tg_decimal_parse(TG_S("1 "), 1, &v));
    assert_true(tg_decimal_parse(TG_S("99999999999999999999999999999999999999"), 0, &v));
    assert_str(tg_decimal_text(arena, v, 0), "99999999999999999999999999999999999999");
    assert_false(tg_decimal_parse(TG_S("100000000000000000000000000000000000000"), 0, &v));
    assert_str(tg_decimal_text(arena, -5, 3), "-0.005");
    assert_str(tg_decimal_text(arena, 0, 2), "0.00");
    assert_str(tg_decimal_text(arena, 12, 0), "12");
}

static tg_value number(tg_type_kind kind, int64_t value)
{
    return tg_value_int(tg_type_of(kind), value);
}

static void literals_read_back(void **unused)
{
    (void)unused;
    assert_str(tg_value_literal(arena, number(TG_TYPE_TINYINT, 12)), "12Y");
    assert_str(tg_value_literal(arena, number(TG_TYPE_INT, INT32_MIN)),
               "CAST('-2147483648' AS INT)");
    assert_str(tg_value_literal(arena, number(TG_TYPE_DATE, 19723)), "DATE'2024-01-01'");
    assert_str(tg_value_literal(arena, number(TG_TYPE_TIMESTAMP, 19723 * TG_US_PER_DAY)),
               "TIMESTAMP'2024-01-01T00:00:00Z'");
    assert_str(
        tg_value_literal(arena, number(TG_TYPE_TIMESTAMP_NTZ, 19723 * TG_US_PER_DAY + 500000)),
        "TIMESTAMP_NTZ'2024-01-01T00:00:00.5'");
    assert_str(tg_value_literal(
                   arena, tg_value_bytes(tg_type_of(TG_TYPE_STRING), TG_S("it's \\ \n\0001"))),
               "'it\\'s \\\\ \\n\\u00001'");
    assert_str(tg_value_literal(arena, tg_value_decimal(tg_type_decimal(arena, 10, 2), 150)),
               "1.50BD");
    assert_str(tg_value_literal(arena, tg_value_null(tg_type_of(TG_TYPE_INT))),
               "CAST(NULL AS INT)");
    assert_str(tg_value_literal(arena, tg_value_double(tg_type_of(TG_TYPE_DOUBLE), (double)NAN)),
               "CAST('NaN' AS DOUBLE)");
    const tg_type *ds = tg_type_interval(arena, TG_FIELD_DAY, TG_FIELD_SECOND);
    assert_str(tg_value_literal(arena, tg_value_int(ds, -(TG_US_PER_DAY + 3723500000))),
               "INTERVAL '-1 01:02:03.5' DAY TO SECOND");
    assert_str(tg_value_literal(
                   arena, tg_value_int(tg_type_interval(arena, TG_FIELD_YEAR, TG_FIELD_MONTH), 14)),
               "INTERVAL '1-2' YEAR TO MONTH");
}

static tg_str stat(tg_value value, bool is_max)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;

    return tg_value_to_stat(value, is_max, &out) ? tg_buf_take(&out, arena) : TG_S("left out");
}

static tg_value text(const char *s)
{
    return tg_value_bytes(tg_type_of(TG_TYPE_STRING), tg_str_from(s));
}

static void bounds_are_written_outwards(void **unused)
{
    (void)unused;
    assert_str(stat(number(TG_TYPE_TIMESTAMP, -1), false), "\"1969-12-31T23:59:59.999Z\"");
    assert_str(stat(number(TG_TYPE_TIMESTAMP, -1), true), "\"1970-01-01T00:00:00.000Z\"");
    assert_str(stat(number(TG_TYPE_TIMESTAMP_NTZ, 1000), true), "\"1970-01-01T00:00:00.001\"");
    assert_str(stat(number(TG_TYPE_TIMESTAMP, INT64_MAX), true), "left out");
    assert_str(stat(tg_value_double(tg_type_of(TG_TYPE_DOUBLE), 0.0), false), "-0.0");
    assert_str(stat(tg_value_double(tg_type_of(TG_TYPE_DOUBLE), (double)INFINITY), true),
               "left out");
    assert_str(stat(text("12345678901234567890123456789012x"), false),
               "\"12345678901234567890123456789012\"");
    assert_str(stat(text("12345678901234567890123456789012x"), true),
               "\"12345678901234567890123456789012\x7F\"");
    assert_str(stat(text("12345678901234567890123456789012\xC3\xA9z"), true),
               "\"12345678901234567890123456789012\xF4\x8F\xBF\xBF\"");
    assert_str(stat(text("12345678901234567890123456789012"), true),
               "\"12345678901234567890123456789012\"");
    assert_str(stat(tg_value_decimal(tg_type_decimal(arena, 38, 2), 123), true), "1.23");
}

static void bounds_are_read_wide(void **unused)
{
    tg_value v;

    (void)unused;
    assert_true(tg_value_from_stat(TG_S("2024-01-01T00:00:00.123Z"), true,
                                   tg_type_of(TG_TYPE_TIMESTAMP), true, arena, &v));
    assert_true(v.as.i64 == 19723 * TG_US_PER_DAY + 123999);
    assert_true(tg_value_from_stat(TG_S("2024-01-01T02:00:00.000+02:00"), true,
                                   tg_type_of(TG_TYPE_TIMESTAMP), false, arena, &v));
    assert_true(v.as.i64 == 19723 * TG_US_PER_DAY - 59 * TG_US_PER_SECOND);
    assert_false(tg_value_from_stat(TG_S("2024-01-01T00:00:00"), true,
                                    tg_type_of(TG_TYPE_TIMESTAMP), false, arena, &v));
    const tg_type *wide = tg_type_decimal(arena, 38, 2);
    assert_true(tg_value_from_stat(TG_S("100000000000000000000"), false, wide, true, arena, &v));
    assert_true(v.as.decimal >= (tg_int128)1000000000000000000 * 10000 + 1);
    assert_false(
        tg_value_from_stat(TG_S("300"), false, tg_type_of(TG_TYPE_TINYINT), true, arena, &v));
}

static void partition_values_round_trip(void **unused)
{
    static const struct {
        tg_type_kind kind;
        const char *in, *out;
    } cases[] = {
        {TG_TYPE_INT, "-5", "-5"},
        {TG_TYPE_BOOLEAN, "TRUE", "true"},
        {TG_TYPE_DATE, "2024-02-29", "2024-02-29"},
        {TG_TYPE_TIMESTAMP, "2024-01-01 10:00:00", "2024-01-01T10:00:00.000000Z"},
        {TG_TYPE_STRING, "a/b%", "a/b%"},
        {TG_TYPE_TIMESTAMP_NTZ, "2024-01-01 10:00:00.5", "2024-01-01 10:00:00.5"},
        {TG_TYPE_DOUBLE, "NaN", "NaN"},
    };
    tg_value v;
    bool is_null;

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(tg_value_from_partition(tg_str_from(cases[i].in), false,
                                                 tg_type_of(cases[i].kind), NULL, arena, &v, NULL),
                         TG_OK);
        assert_str(tg_value_to_partition(arena, v, &is_null), cases[i].out);
        assert_false(is_null);
    }
    assert_int_equal(
        tg_value_from_partition(TG_S(""), false, tg_type_of(TG_TYPE_INT), NULL, arena, &v, NULL),
        TG_OK);
    assert_true(v.is_null);
    assert_int_equal(
        tg_value_from_partition(TG_S("x"), false, tg_type_of(TG_TYPE_INT), NULL, arena, &v, NULL),
        TG_INVALID_DATA);
    assert_int_equal(tg_value_from_partition(TG_S("5881580-07-12"), false, tg_type_of(TG_TYPE_DATE),
                                             NULL, arena, &v, NULL),
                     TG_INVALID_DATA);
    assert_false(
        tg_value_from_stat(TG_S("5881580-07-12"), true, tg_type_of(TG_TYPE_DATE), true, arena, &v));
    assert_int_equal(tg_value_from_partition(TG_S("x"), false, tg_type_of(TG_TYPE_BINARY), NULL,
                                             arena, &v, NULL),
                     TG_UNSUPPORTED);
}

static void schemas_round_trip(void **unused)
{
    const char *json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":false,"
        "\"metadata\":{\"comment\":\"x\",\"k\":[1,2.50]}},"
        "{\"name\":\"b\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":{\"type\":"
        "\"array\",\"elementType\":\"decimal(10,2)\","
        "\"containsNull\":true},\"valueContainsNull\":false},\"nullable\":true,\"metadata\":{}}]}";
    tg_schema schema;
    tg_auto_error tg_error err = TG_ERROR_INIT;

    (void)unused;
    assert_int_equal(tg_schema_from_json(tg_str_from(json), arena, &schema, &err), TG_OK);
    assert_str(tg_schema_to_json(arena, schema), json);
    assert_str(tg_type_text(arena, schema.fields[1].type), "map<string,array<decimal(10,2)>>");
    assert_str(schema.fields[0].comment, "x");
    assert_int_equal(
        tg_schema_from_json(
            TG_S("{\"type\":\"struct\",\"fields\":[{\"name\":\"g\",\"type\":\"geometry\"}]}"),
            arena, &schema, &err),
        TG_UNSUPPORTED);
    assert_non_null(strstr(err.message, "geometry"));
}

/* A writer that leaves NaN out of its statistics (Parquet's rule) must not hide the row. */
static void nan_is_above_a_finite_maximum(void **unused)
{
    tg_str column = TG_S("d");
    const tg_type *type = tg_type_of(TG_TYPE_DOUBLE);
    tg_column_bounds b = {.has_min = true,
                          .has_max = true,
                          .min = tg_value_double(type, 0),
                          .max = tg_value_double(type, 50),
                          .null_count = 0,
                          .record_count = 3};
    tg_region file = tg_region_of_bounds(arena, &column, &type, &b, 1);
    tg_region above = tg_region_interval(
        arena, column, type,
        (tg_interval){.has_low = true, .low_open = true, .low = tg_value_double(type, 100)});
    tg_region below = tg_region_interval(
        arena, column, type,
        (tg_interval){.has_high = true, .high_open = true, .high = tg_value_double(type, 100)});

    (void)unused;
    assert_true(tg_region_meets(file, above));
    assert_false(tg_region_contains(below, file));
}

/* The column's type changed: nothing can be compared, nothing is proven, nothing aborts. */
static void other_types_prove_nothing(void **unused)
{
    const tg_type *two = tg_type_decimal(arena, 10, 2), *three = tg_type_decimal(arena, 10, 3);
    tg_region a = tg_region_interval(
        arena, TG_S("x"), two, (tg_interval){.has_low = true, .low = tg_value_decimal(two, 100)});
    tg_region b =
        tg_region_interval(arena, TG_S("x"), three,
                           (tg_interval){.has_low = true, .low = tg_value_decimal(three, 2000)});

    (void)unused;
    assert_true(tg_region_meets(a, b));
    assert_false(tg_region_contains(a, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_shortest),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(literals_read_back),
        cmocka_unit_test(bounds_are_written_outwards),
        cmocka_unit_test(bounds_are_read_wide),
        cmocka_unit_test(partition_values_round_trip),
        cmocka_unit_test(schemas_round_trip),
        cmocka_unit_test(nan_is_above_a_finite_maximum),
        cmocka_unit_test(other_types_prove_nothing),
    };
    arena = tg_arena_new();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tg_arena_free(arena);
    return failed;
}
