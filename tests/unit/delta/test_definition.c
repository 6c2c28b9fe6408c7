/* SPDX-License-Identifier: Apache-2.0 */
/* New tables: which definitions Delta takes, and the protocol they need. */
#include "delta_test.h"

static tg_arena *arena;

static tg_schema schema_of(const char *first, const tg_type *first_type, const char *second,
                           const tg_type *second_type)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, 2);
    fields[0] = (tg_field){.name = tg_str_from(first), .type = first_type, .nullable = true};
    fields[1] = (tg_field){.name = tg_str_from(second), .type = second_type, .nullable = true};
    return (tg_schema){fields, 2};
}

static void check(tg_schema schema, const char *partition, const char *key, const char *value,
                  const char *expected)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str column = tg_str_from(partition);
    tg_property property = {.key = tg_str_from(key), .value = tg_str_from(value)};
    tg_code code =
        tg_delta_check_definition(schema, &column, partition != NULL, &property, key != NULL, &err);
    if (expected) {
        assert_int_not_equal(code, TG_OK);
        assert_error_class(&err, expected);
    } else {
        assert_ok(code, &err);
    }
}

static void test_columns(void **state)
{
    static const char *const bad[] = {"a b", "a,b",  "a;b",  "a{b", "a}b", "a(b",
                                      "a)b", "a\nb", "a\tb", "a=b", ""};
    const tg_type *number = tg_type_of(TG_TYPE_INT);
    (void)state;
    check(schema_of("a.b-c", number, "\xc3\xa9", number), NULL, NULL, NULL, NULL);
    for (size_t i = 0; i < TG_COUNT(bad); i++) {
        check(schema_of("x", number, bad[i], number), NULL, NULL, NULL,
              "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES");
    }
    check(schema_of("a", number, "A", number), NULL, NULL, NULL, "DELTA_DUPLICATE_COLUMNS_FOUND");
    tg_schema inner = schema_of("ok", number, "not ok", number);
    const tg_type *deep =
        tg_type_array(arena, tg_type_struct(arena, inner.fields, inner.count), true);
    check(schema_of("x", number, "y", deep), NULL, NULL, NULL,
          "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES");
    check(schema_of("x", number, "y", tg_type_of(TG_TYPE_VOID)), NULL, NULL, NULL,
          "UNSUPPORTED_DATATYPE");
    check(schema_of("x", number, "y", tg_type_of(TG_TYPE_VARIANT)), NULL, NULL, NULL,
          "UNSUPPORTED_DATATYPE");
    check(schema_of("x", number, "y", tg_type_interval(arena, TG_FIELD_DAY, TG_FIELD_DAY)), NULL,
          NULL, NULL, "UNSUPPORTED_DATATYPE");
}

static void test_partitions(void **state)
{
    const tg_type *number = tg_type_of(TG_TYPE_INT);
    (void)state;
    check(schema_of("a", number, "b", number), "B", NULL, NULL, NULL);
    check(schema_of("a", number, "b", number), "c", NULL, NULL, "DELTA_PARTITION_COLUMN_NOT_FOUND");
    check(schema_of("a", number, "b", tg_type_of(TG_TYPE_BINARY)), "b", NULL, NULL,
          "DELTA_INVALID_PARTITION_COLUMN_TYPE");
    check(schema_of("a", number, "b", tg_type_array(arena, number, true)), "b", NULL, NULL,
          "DELTA_INVALID_PARTITION_COLUMN_TYPE");
    tg_schema one = {schema_of("a", number, "b", number).fields, 1};
    check(one, "a", NULL, NULL, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION");
}

static void test_properties(void **state)
{
    static const struct {
        const char *key, *value, *expected;
    } cases[] = {
        {"delta.appendOnly", "true", NULL},
        {"delta.appendOnly", "yes", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.checkpointInterval", "7", NULL},
        {"delta.checkpointInterval", "0", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.logRetentionDuration", "interval 30 days", NULL},
        {"delta.logRetentionDuration", "1 week 2 days", NULL},
        {"delta.logRetentionDuration", "interval 1 month", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.deletedFileRetentionDuration", "7", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.enableChangeDataFeed", "true", "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"},
        {"delta.enableChangeDataFeed", "false", NULL},
        {"delta.columnMapping.mode", "none", NULL},
        {"delta.columnMapping.mode", "name", NULL},
        {"delta.columnMapping.mode", "uuid", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.constraints.c", "a > 0", NULL}, /* the engine keeps it */
        {"delta.targetFileSize", "128mb", NULL},
        {"delta.targetFileSize", "1 GB", NULL},
        {"delta.targetFileSize", "104857600", NULL},
        {"delta.targetFileSize", "0", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.targetFileSize", "mb", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.targetFileSize", "9999999999gb", "TIDEGATE_INVALID_TABLE_PROPERTY"},
        {"delta.feature.deletionVectors", "supported", "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"},
        {"my.own", "anything", NULL},
    };
    const tg_type *number = tg_type_of(TG_TYPE_INT);
    (void)state;
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        check(schema_of("a", number, "b", number), NULL, cases[i].key, cases[i].value,
              cases[i].expected);
    }
}

static void test_intervals(void **state)
{
    int64_t ms;
    (void)state;
    assert_true(tg_delta_interval_parse(TG_S("interval 7 days"), &ms) &&
                ms == 7 * INT64_C(86400000));
    assert_true(tg_delta_interval_parse(TG_S(" INTERVAL 1 week 1 hour "), &ms) &&
                ms == 7 * INT64_C(86400000) + 3600000);
    assert_true(tg_delta_interval_parse(TG_S("interval 5 milliseconds"), &ms) && ms == 5);
    static const char *const bad[] = {"",
                                      "interval",
                                      "interval 1",
                                      "interval -1 days",
                                      "interval x days",
                                      "interval 1 years",
                                      "interval 9223372036854775807 weeks",
                                      "interval 1 days 2"};
    for (size_t i = 0; i < TG_COUNT(bad); i++) {
        assert_false(tg_delta_interval_parse(tg_str_from(bad[i]), &ms));
    }
}

static void test_protocol(void **state)
{
    const tg_type *number = tg_type_of(TG_TYPE_INT);
    tg_delta_protocol protocol;
    tg_property properties[] = {{.key = TG_S("delta.appendOnly"), .value = TG_S("true")}};
    (void)state;
    tg_schema plain = schema_of("a", number, "b", number);
    assert_ok(tg_delta_protocol_for(plain, properties, 1, arena, &protocol, NULL), NULL);
    assert_int_equal(protocol.min_reader_version, 1);
    assert_int_equal(protocol.min_writer_version, 2);
    assert_int_equal(protocol.writer_feature_count, 0);
    const tg_type *deep = tg_type_array(arena, tg_type_of(TG_TYPE_TIMESTAMP_NTZ), true);
    assert_ok(tg_delta_protocol_for(schema_of("a", number, "b", deep), properties, 1, arena,
                                    &protocol, NULL),
              NULL);
    assert_int_equal(protocol.min_reader_version, 3);
    assert_int_equal(protocol.min_writer_version, 7);
    assert_str(protocol.reader_features[0], "timestampNtz");
    assert_int_equal(protocol.writer_feature_count, 2);
    assert_str(protocol.writer_features[1], "appendOnly");
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
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_protocol),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
