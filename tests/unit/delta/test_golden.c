/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of tables that Spark and Databricks wrote: each is loaded or refused for the right
 * reason, and where all files have statistics, their rows are as many as the table is known to
 * have. Skipped where the tables are not at hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "delta_test.h"

typedef struct refusal {
    const char *error; /* NULL: must load */
    bool is_possible;  /* loading is right as well: the feature may have no live file */
} refusal;

/* What a table's note of features says about being refused. */
static refusal expected_refusal(yyjson_val *expected)
{
    static const struct {
        const char *feature;
        refusal refusal;
    } refusals[] = {
        {"metadata:no-schema", {"DELTA_SCHEMA_NOT_SET", false}},
        {"no-log", {"DELTA_TABLE_NOT_FOUND", false}},
        {"variantType-preview", {"DELTA_UNSUPPORTED_FEATURES_FOR_READ", false}},
    };
    const char *error = yyjson_get_str(tg_json_get(expected, "error"));
    if (error && strstr(error, "corrupt log")) {
        return (refusal){"DELTA_STATE_RECOVER_ERROR", false};
    }
    size_t index, count;
    yyjson_val *feature;
    yyjson_arr_foreach(tg_json_get(expected, "features"), index, count, feature)
    {
        for (size_t i = 0; i < TG_COUNT(refusals); i++) {
            if (strcmp(yyjson_get_str(feature), refusals[i].feature) == 0) {
                return refusals[i].refusal;
            }
        }
    }
    return (refusal){0};
}

/* Live rows by statistics, or -1 when a file has none. */
static int64_t rows_of(const tg_delta_snapshot *snapshot)
{
    int64_t rows = 0;
    for (size_t i = 0; i < snapshot->file_count; i++) {
        int64_t records = tg_delta_live_records(&snapshot->files[i]);
        if (records < 0) {
            return -1;
        }
        rows += records;
    }
    return rows;
}

static int check_version(const tg_delta *delta, const char *name, tg_str path, int64_t version,
                         yyjson_val *block, refusal refused, tg_arena *arena)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *snapshot;
    tg_code code = tg_delta_snapshot_load(delta, path, version, arena, &snapshot, &err);
    if (code != TG_OK) {
        bool is_needed = refused.error && strcmp(refused.error, tg_error_name(&err)) == 0;
        /*
         * Tables whose commits were cleaned up need their checkpoint, and Parquet is not at hand
         * here.
         */
        bool is_checkpoint = strcmp(tg_error_name(&err), "UNSUPPORTED_FEATURE") == 0 ||
                             strstr(err.message, "checkpoint");
        if (is_needed || is_checkpoint) {
            return 0;
        }
        print_error("%s version %lld: refused with %s: %s\n", name, (long long)version,
                    tg_error_name(&err), err.message);
        return 1;
    }
    if (refused.error && version < 0 && !refused.is_possible) {
        print_error("%s: loaded, but must be refused with %s\n", name, refused.error);
        return 1;
    }
    int64_t known = tg_json_get_i64(block, "row_count", -1);
    int64_t rows = rows_of(snapshot);
    if (known >= 0 && rows >= 0 && rows != known) {
        print_error("%s version %lld: %lld rows by statistics, %lld are known\n", name,
                    (long long)version, (long long)rows, (long long)known);
        return 1;
    }
    return 0;
}

static int check_table(const tg_delta *delta, tg_str folder, const char *name)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str text;
    yyjson_val *expected;
    tg_str path = tg_path_join(arena, folder, tg_str_from(name));
    assert_ok(tg_fs_read(delta->fs, tg_path_join(arena, path, TG_S("expected.json")), 1 << 28,
                         arena, &text, NULL),
              NULL);
    assert_ok(tg_json_parse(text, 0, arena, &expected, NULL), NULL);
    refusal refused = expected_refusal(expected);
    path = tg_path_join(arena, path, TG_S("table"));
    yyjson_val *versions = tg_json_get(expected, "versions");
    int failures =
        check_version(delta, name, path, -1, tg_json_get(versions, "latest"), refused, arena);
    size_t index, count;
    yyjson_val *key, *block;
    yyjson_obj_foreach(versions, index, count, key, block)
    {
        int64_t version;
        if (tg_str_to_i64(tg_str_from(yyjson_get_str(key)), &version)) {
            failures += check_version(delta, name, path, version, block, refused, arena);
        }
    }
    return failures;
}

static void test_all(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const char *golden = getenv("TIDEGATE_GOLDEN");
    tg_delta delta = {.fs = tg_fs_local(), .env = tg_env_system()};
    tg_str folder = golden ? tg_str_printf(arena, "%s/delta", golden) : TG_S("/no/such/folder");
    tg_fs_entry *entries;
    size_t count;
    if (tg_fs_list(delta.fs, folder, false, arena, &entries, &count, NULL) != TG_OK) {
        print_message("skipped: no golden tables at %.*s\n", TG_SARG(folder));
        skip();
    }
    int failures = 0, tables = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].is_folder) {
            tables++;
            failures += check_table(&delta, folder, tg_str_cstr(arena, entries[i].name));
        }
    }
    assert_int_equal(failures, 0);
    assert_true(tables > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
