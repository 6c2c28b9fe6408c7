/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of files from statistics and partition values: exact where they are known, unknown where
 * in doubt.
 */
#include "delta_test.h"

static tg_arena *arena;

static const tg_field fields[] = {
    {.name = {"Id", 2}, .nullable = true},    {.name = {"price", 5}, .nullable = true},
    {.name = {"ratio", 5}, .nullable = true}, {.name = {"at", 2}, .nullable = true},
    {.name = {"day", 3}, .nullable = true},   {.name = {"name", 4}, .nullable = true},
};

static tg_delta_snapshot snapshot_of(void)
{
    static const tg_str partition = {"day", 3};
    tg_field *columns = tg_arena_memdup(arena, fields, sizeof(fields));
    columns[0].type = tg_type_of(TG_TYPE_BIGINT);
    columns[1].type = tg_type_decimal(arena, 20, 2);
    columns[2].type = tg_type_of(TG_TYPE_DOUBLE);
    columns[3].type = tg_type_of(TG_TYPE_TIMESTAMP);
    columns[4].type = tg_type_of(TG_TYPE_DATE);
    columns[5].type = tg_type_of(TG_TYPE_STRING);
    return (tg_delta_snapshot){.metadata = {.schema = {columns, TG_COUNT(fields)},
                                            .partition_columns = &partition,
                                            .partition_count = 1}};
}

static tg_column_bounds bounds_of(const char *stats, const tg_delta_partition_value *day,
                                  const char *column)
{
    tg_delta_snapshot snapshot = snapshot_of();
    tg_delta_add file = {.stats = tg_str_from(stats), .partition_values = day};
    tg_str name = tg_str_from(column);
    const tg_type *type =
        snapshot.metadata.schema.fields[tg_schema_find(snapshot.metadata.schema, name)].type;
    tg_column_bounds bounds;
    tg_delta_file_bounds(&snapshot, &file, tg_zone_utc(), &name, &type, 1, arena, &bounds);
    return bounds;
}

#define STATS(min, max, nulls)                                                                     \
    "{\"numRecords\":10,\"minValues\":{" min "},\"maxValues\":{" max "},\"nullCount\":{" nulls "}" \
    "}"

static void test_numbers(void **state)
{
    (void)state;
    tg_column_bounds b =
        bounds_of(STATS("\"Id\":-5", "\"Id\":9223372036854775807", "\"Id\":2"), NULL, "id");
    assert_true(b.has_min && b.has_max);
    assert_int_equal(b.min.as.i64, -5);
    assert_true(b.max.as.i64 == INT64_MAX); /* a double would round it */
    assert_int_equal(b.null_count, 2);
    assert_int_equal(b.record_count, 10);
    b = bounds_of(STATS("\"price\":1.50", "\"price\":123456789012345678.99", "\"price\":0"), NULL,
                  "price");
    assert_true(b.has_min && b.min.as.decimal == 150);
    assert_true(b.has_max && b.max.as.decimal >= (tg_int128)INT64_C(1234567890123456789) * 10 + 9);
    b = bounds_of(STATS("\"ratio\":1.5", "\"ratio\":2.5", "\"ratio\":0"), NULL, "ratio");
    assert_true(b.has_min && b.has_max && b.max.as.f64 == 2.5);
}

static void test_times(void **state)
{
    (void)state;
    tg_column_bounds b = bounds_of(STATS("\"at\":\"1970-01-01T00:00:01.000Z\"",
                                         "\"at\":\"1970-01-01T00:00:02.000Z\"", "\"at\":0"),
                                   NULL, "at");
    assert_int_equal(b.min.as.i64, 1000000);
    assert_true(b.max.as.i64 >= 2000999); /* written maxima may be cut to milliseconds */
}

static void test_partition(void **state)
{
    (void)state;
    tg_delta_partition_value day = {false, TG_S("1970-01-03")};
    tg_column_bounds b = bounds_of("", &day, "DAY");
    assert_true(b.has_min && b.min.as.i64 == 2 && b.max.as.i64 == 2);
    assert_int_equal(b.null_count, 0);
    day = (tg_delta_partition_value){true, TG_S("")};
    b = bounds_of(STATS("", "", ""), &day, "day");
    assert_false(b.has_min);
    assert_int_equal(b.null_count, b.record_count);
    day = (tg_delta_partition_value){false, TG_S("no date")};
    b = bounds_of("", &day, "day");
    assert_false(b.has_min || b.has_max || b.null_count >= 0);
    b = bounds_of("", NULL, "day");
    assert_false(b.has_min || b.has_max || b.null_count >= 0);
}

static void test_unknown(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"numRecords\":-1}",
        "{\"numRecords\":\"1\",\"minValues\":7,\"maxValues\":[],\"nullCount\":null}",
        STATS("\"id\":1", "\"id\":1",
              "\"id\":1"), /* names are the table's: this is another column */
        STATS("\"Id\":\"x\"", "\"Id\":{}", "\"Id\":1.5"),
    };
    (void)state;
    for (size_t i = 0; i < TG_COUNT(texts); i++) {
        tg_column_bounds b = bounds_of(texts[i], NULL, "id");
        assert_false(b.has_min || b.has_max || b.null_count >= 0);
    }
    /* Wide bounds: the count of NULLs is only sure when it is none or all. */
    tg_column_bounds b =
        bounds_of("{\"numRecords\":9,\"nullCount\":{\"Id\":3},\"tightBounds\":false}", NULL, "id");
    assert_int_equal(b.null_count, -1);
    b = bounds_of("{\"numRecords\":9,\"nullCount\":{\"Id\":9},\"tightBounds\":false}", NULL, "id");
    assert_int_equal(b.null_count, 9);
}

static void test_records(void **state)
{
    (void)state;
    assert_int_equal(tg_delta_file_records(TG_S("{\"numRecords\":12}")), 12);
    assert_int_equal(tg_delta_file_records(TG_S("")), -1);
    assert_int_equal(tg_delta_file_records(TG_S("{\"numRecords\":1e3}")), -1);
}

static void test_region(void **state)
{
    (void)state;
    tg_delta_snapshot snapshot = snapshot_of();
    tg_delta_partition_value day = {false, TG_S("1970-01-03")};
    tg_delta_add file = {.stats = TG_S(STATS("\"Id\":3", "\"Id\":5", "\"Id\":0")),
                         .partition_values = &day};
    tg_region region = tg_delta_file_region(&snapshot, &file, tg_zone_utc(), arena);
    const tg_type *type = tg_type_of(TG_TYPE_BIGINT);
    tg_interval inside = {.has_low = true,
                          .has_high = true,
                          .low = tg_value_int(type, 5),
                          .high = tg_value_int(type, 9)};
    tg_interval outside = {.has_low = true,
                           .has_high = true,
                           .low = tg_value_int(type, 6),
                           .high = tg_value_int(type, 9)};
    assert_true(tg_region_meets(region, tg_region_interval(arena, TG_S("id"), type, inside)));
    assert_false(tg_region_meets(region, tg_region_interval(arena, TG_S("id"), type, outside)));
}

/* Many writers leave NaN out of their maxima: a file is never proven to have none. */
static void test_nan(void **state)
{
    (void)state;
    tg_delta_snapshot snapshot = snapshot_of();
    const tg_type *type = tg_type_of(TG_TYPE_DOUBLE);
    tg_delta_add file = {.stats = TG_S(STATS("\"ratio\":1.5", "\"ratio\":2.5", "\"ratio\":0"))};
    tg_region region = tg_delta_file_region(&snapshot, &file, tg_zone_utc(), arena);
    tg_interval above = {.has_low = true, .low = tg_value_double(type, 3)};
    assert_true(tg_region_meets(region, tg_region_interval(arena, TG_S("ratio"), type, above)));
}

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_partition), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_records),   cmocka_unit_test(test_region),
        cmocka_unit_test(test_nan),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
