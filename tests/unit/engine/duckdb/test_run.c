/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs on real tables: what is replaced, what is kept, what is read, and what is left when it
 * fails.
 */
#include <unistd.h>

#include "engine/duckdb/duckdb_int.h"
#include "unit/engine/duckdb/lab.h"

/* A table of seven days with ten rows each, one file per day when partitioned, else one file. */
static const char week[] = "SELECT date_add(DATE'2024-01-01', CAST(id DIV 10 AS INT)) AS d, "
                           "CAST(id AS INT) AS v FROM json.`ids-70`";

static tg_run_result make_week(lab *l, bool is_partitioned)
{
    return lab_run(l, &(lab_write){.table = "t",
                                   .query = week,
                                   .is_append = true,
                                   .partition_by = is_partitioned ? "d" : NULL});
}

static const char per_day[] =
    "SELECT CAST(d AS STRING) AS d, count(*), sum(v) FROM t GROUP BY d ORDER BY d";

/* ---- creating and appending ------------------------------------------------------------------ */

static void create_with_rows(void **state)
{
    lab *l = *state;
    tg_run_result result = make_week(l, false);
    assert_int_equal(result.committed_version, 0);
    assert_int_equal(result.output_rows, 70);
    assert_int_equal(result.files_added, 1);
    assert_true(result.bytes_added > 0);
    assert_str(
        lab_rows(l,
                 "SELECT count(*), sum(v), CAST(min(d) AS STRING), CAST(max(d) AS STRING) FROM t"),
        "70|2415|2024-01-01|2024-01-07");
    assert_int_equal(lab_snapshot(l, "t")->file_count, 1);
}

static void append_adds(void **state)
{
    lab *l = *state;
    make_week(l, true);
    tg_run_result result =
        lab_append(l, "t", "SELECT 1000 AS v, DATE'2024-01-07' AS d UNION ALL SELECT 1001, NULL");
    assert_int_equal(result.committed_version, 1);
    assert_int_equal(result.output_rows, 2);
    assert_int_equal(result.files_added, 2);
    assert_str(lab_rows(l, "SELECT count(*), count(d), max(v) FROM t"), "72|71|1001");
    assert_str(lab_rows(l, "SELECT v FROM t WHERE d IS NULL"), "1001");
    assert_str(lab_rows(l, "SELECT count(*) FROM t VERSION AS OF 0"), "70");
}

static void nothing_is_no_commit(void **state)
{
    lab *l = *state;
    make_week(l, false);
    tg_run_result result = lab_append(l, "t", "SELECT * FROM t WHERE v < 0");
    assert_int_equal(result.committed_version, -1);
    assert_int_equal(lab_snapshot(l, "t")->version, 0);
    assert_int_equal(lab_files_on_disk(l, "t"), 1);
}

static void append_reading_itself(void **state)
{
    lab *l = *state;
    make_week(l, false);
    lab_append(l, "t", "SELECT d, v + 100 AS v FROM t");
    assert_str(lab_rows(l, "SELECT count(*), max(v) FROM t"), "140|169");
}

/* ---- replacing ------------------------------------------------------------------------------- */

/* Whole partitions go without being read: their files could be gone. */
static void replace_whole_files_unread(void **state)
{
    lab *l = *state;
    make_week(l, true);
    const tg_delta_snapshot *before = lab_snapshot(l, "t");
    for (size_t i = 0; i < before->file_count; i++) {
        if (tg_str_starts(before->files[i].partition_values[0].text, TG_S("2024-01-03")) ||
            tg_str_starts(before->files[i].partition_values[0].text, TG_S("2024-01-04"))) {
            assert_int_equal(unlink(tg_str_cstr(l->arena, tg_path_join(l->arena, lab_path(l, "t"),
                                                                       before->files[i].path))),
                             0);
        }
    }
    tg_run_result result = lab_replace(l, "t", "d BETWEEN DATE'2024-01-03' AND DATE'2024-01-04'",
                                       "SELECT DATE'2024-01-03' AS d, 7 AS v");
    assert_int_equal(result.output_rows, 1);
    assert_int_equal(result.deleted_rows, 20);
    assert_int_equal(result.rows_deleted, 20);
    assert_int_equal(result.rows_written, 1);
    assert_int_equal(result.files_removed, 2);
    assert_str(lab_rows(l, per_day), "2024-01-01|10|45;2024-01-02|10|145;2024-01-03|1|7;2024-01-05|"
                                     "10|445;2024-01-06|10|545;2024-01-07|10|645");
}

/* One file, cut in two: the rows that stay are written again, apart from the new ones. */
static void replace_part_of_a_file(void **state)
{
    lab *l = *state;
    make_week(l, false);
    tg_run_result result =
        lab_replace(l, "t", "d >= DATE'2024-01-06'",
                    "SELECT DATE'2024-01-06' AS d, 1 AS v UNION ALL SELECT DATE'2024-01-07', 2");
    assert_int_equal(result.output_rows, 2);
    assert_int_equal(result.deleted_rows, 20);
    assert_int_equal(result.rows_deleted, 70);
    assert_int_equal(result.rows_written, 52);
    assert_int_equal(result.files_added, 2);
    assert_int_equal(result.files_removed, 1);
    assert_str(lab_rows(l, "SELECT count(*), sum(v) FROM t WHERE d >= DATE'2024-01-06'"), "2|3");
    assert_str(lab_rows(l, "SELECT count(*), sum(v) FROM t WHERE d < DATE'2024-01-06'"), "50|1225");
    /* The edge lies between files now: the same again rewrites nothing. */
    result = lab_replace(l, "t", "d >= DATE'2024-01-06'", "SELECT DATE'2024-01-06' AS d, 3 AS v");
    assert_int_equal(result.rows_written, 1);
    assert_int_equal(result.files_removed, 1);
}

/*
 * Rows of the query outside the window are not written; a NULL is never in the window, old or new.
 */
static void only_the_window(void **state)
{
    lab *l = *state;
    make_week(l, false);
    lab_append(l, "t", "SELECT CAST(NULL AS DATE) AS d, -5 AS v");
    tg_run_result result = lab_replace(l, "t", "d = DATE'2024-01-02'",
                                       "SELECT d, v FROM VALUES (DATE'2024-01-02', 1), "
                                       "(DATE'2024-01-03', 2), (CAST(NULL AS DATE), 3) AS x(d, v)");
    assert_int_equal(result.output_rows, 1);
    assert_int_equal(result.deleted_rows, 10);
    assert_str(lab_rows(l, "SELECT count(*), count(d) FROM t"), "62|61");
    assert_str(lab_rows(l, "SELECT v FROM t WHERE d IS NULL OR d = DATE'2024-01-02' ORDER BY v"),
               "-5;1");
}

/* Statistics cannot tell, the rows can: a file without a hit stays as it is. */
static void untouched_when_no_row_is_hit(void **state)
{
    lab *l = *state;
    make_week(l, false);
    lab_append(l, "t",
               "SELECT DATE'2024-01-01' AS d, 1000 AS v UNION ALL SELECT DATE'2024-01-07', 2000");
    tg_str path = lab_snapshot(l, "t")->files[0].path;
    tg_run_result result =
        lab_replace(l, "t", "v = 1500", "SELECT DATE'2024-01-05' AS d, 1500 AS v");
    assert_int_equal(result.files_removed, 0);
    assert_int_equal(result.deleted_rows, 0);
    assert_int_equal(lab_snapshot(l, "t")->file_count, 3);
    assert_non_null(path.ptr);
}

static void opaque_predicate(void **state)
{
    lab *l = *state;
    make_week(l, false);
    tg_run_result result = lab_replace(l, "t", "v % 2 = 0", NULL);
    assert_int_equal(result.deleted_rows, 35);
    assert_int_equal(result.rows_written, 35);
    assert_str(lab_rows(l, "SELECT count(*), min(v), max(v) FROM t"), "35|1|69");
}

static void replace_everything(void **state)
{
    lab *l = *state;
    make_week(l, true);
    tg_run_result result = lab_replace(l, "t", NULL, "SELECT DATE'2025-01-01' AS d, 1 AS v");
    assert_int_equal(result.deleted_rows, 70);
    assert_int_equal(result.files_removed, 7);
    assert_str(lab_rows(l, "SELECT CAST(d AS STRING), v FROM t"), "2025-01-01|1");
}

static void delete_by_partition_needs_no_library(void **state)
{
    lab *l = *state;
    make_week(l, true);
    const tg_program *program =
        lab_program(l, &(lab_write){.table = "t", .where = "d < DATE'2024-01-03'"});
    tg_engine *other = tg_engine_duckdb_new(&(tg_engine_duckdb_options){0});
    tg_run_result result;
    assert_ok(other->run(other->self, program, NULL, l->arena, &result, &l->error), &l->error);
    assert_null(((tg_duckdb_engine *)other->self)->instance->database);
    other->close(other->self);
    assert_int_equal(result.deleted_rows, 20);
    assert_int_equal(result.rows_written, 0);
    assert_str(lab_rows(l, "SELECT count(*) FROM t"), "50");
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void new_column_reads_null(void **state)
{
    lab *l = *state;
    make_week(l, false);
    lab_run(l, &(lab_write){.table = "t",
                            .columns = "d DATE, v INT, note STRING",
                            .where = "d = DATE'2024-01-07'",
                            .query = "SELECT DATE'2024-01-07' AS d, 5 AS v, 'new' AS note"});
    assert_str(lab_rows(l, "SELECT count(*), count(note), max(note) FROM t"), "61|1|new");
    assert_int_equal(lab_snapshot(l, "t")->metadata.schema.count, 3);
    assert_str(lab_rows(l, "SELECT count(*) FROM t WHERE note IS NULL"), "60");
}

static void not_null_is_kept(void **state)
{
    lab *l = *state;
    lab_run(l, &(lab_write){.table = "t",
                            .columns = "a INT NOT NULL, s STRUCT<x: INT> NOT NULL",
                            .is_append = true,
                            .query = "SELECT 1 AS a, named_struct('x', 1) AS s"});
    static const char *const bad[] = {"SELECT CAST(NULL AS INT) AS a, named_struct('x', 1) AS s",
                                      "SELECT 1 AS a, NULL AS s"};
    for (size_t i = 0; i < TG_COUNT(bad); i++) {
        assert_int_equal(
            lab_run_fail(l, &(lab_write){.table = "t", .query = bad[i], .is_append = true}),
            TG_EXECUTION);
        assert_error_class(&l->error, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    }
    assert_int_equal(lab_snapshot(l, "t")->version, 0);
    assert_int_equal(lab_files_on_disk(l, "t"), 1);
}

static void not_null_inside(void **state)
{
    lab *l = *state;
    lab_run(l, &(lab_write){.table = "t",
                            .columns = "a ARRAY<STRUCT<x: INT NOT NULL, `y-z`: STRING>>, "
                                       "m MAP<STRING, STRUCT<x: INT NOT NULL>>",
                            .is_append = true,
                            .query = "SELECT array(named_struct('x', 1, 'y-z', 'q'), NULL) AS a, "
                                     "map('k', named_struct('x', 1)) AS m"});
    static const char *const bad[] = {
        "SELECT array(named_struct('x', 1, 'y-z', 'q'), "
        "named_struct('x', CAST(NULL AS INT), 'y-z', 'q')) AS a",
        "SELECT map('k', NULL, 'l', named_struct('x', CAST(NULL AS INT))) AS m",
    };
    static const char *const good[] = {
        "SELECT array(named_struct('x', 1, 'y-z', CAST(NULL AS STRING))) AS a",
        "SELECT map('k', NULL, 'l', named_struct('x', 2)) AS m",
        "SELECT NULL AS a, NULL AS m",
    };
    for (size_t i = 0; i < TG_COUNT(bad); i++) {
        assert_int_equal(
            lab_run_fail(l, &(lab_write){.table = "t", .query = bad[i], .is_append = true}),
            TG_EXECUTION);
        assert_error_class(&l->error, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    }
    for (size_t i = 0; i < TG_COUNT(good); i++) {
        lab_append(l, "t", good[i]);
    }
    assert_str(lab_rows(l, "SELECT count(*), count(a), count(m) FROM t"), "4|2|2");
}

/* ---- failures and races ---------------------------------------------------------------------- */

static void failure_changes_nothing(void **state)
{
    lab *l = *state;
    make_week(l, true);
    lab_write write = {.table = "t",
                       .where = "d <= DATE'2024-01-03'",
                       .query = "SELECT d, CAST(v DIV (v - 15) AS INT) AS v FROM t"};
    assert_int_equal(lab_run_fail(l, &write), TG_EXECUTION);
    assert_error_class(&l->error, "DIVIDE_BY_ZERO");
    assert_int_equal(lab_snapshot(l, "t")->version, 0);
    assert_int_equal(lab_files_on_disk(l, "t"), 7);
}

static void failed_create_leaves_no_folder(void **state)
{
    lab *l = *state;
    lab_write write = {
        .table = "n", .query = "SELECT 1 DIV id AS v FROM json.`ids-3`", .is_append = true};
    assert_int_equal(lab_run_fail(l, &write), TG_EXECUTION);
    assert_int_not_equal(access(tg_str_cstr(l->arena, lab_path(l, "n")), F_OK), 0);
}

/* What a hook does in its first call: another writer is faster. */
typedef struct rival {
    lab *l;
    const tg_program *program;
    int calls;
    tg_region hull;
    bool changes_data;
} rival;

static tg_code run_rival(void *self, int64_t read_version, const tg_commit_fact *winners,
                         size_t winner_count, tg_arena *arena, tg_str *out_state, bool *out_rerun,
                         tg_error *err)
{
    (void)read_version;
    rival *r = self;
    if (r->calls++ == 0) {
        tg_run_result result;
        TG_TRY(r->l->engine->run(r->l->engine->self, r->program, NULL, arena, &result, err));
    }
    if (winner_count) {
        r->hull = winners[0].hull;
        r->changes_data = winners[0].changes_data;
    }
    *out_state = TG_S("{}");
    *out_rerun = false;
    return TG_OK;
}

static void disjoint_winner_is_rebased(void **state)
{
    lab *l = *state;
    make_week(l, true);
    rival r = {.l = l,
               .program =
                   lab_program(l, &(lab_write){.table = "t", .where = "d = DATE'2024-01-01'"})};
    tg_commit_hooks hooks = {.before_attempt = run_rival, .self = &r};
    tg_run_result result = lab_run(l, &(lab_write){.table = "t",
                                                   .where = "d = DATE'2024-01-02'",
                                                   .query = "SELECT DATE'2024-01-02' AS d, 1 AS v",
                                                   .hooks = &hooks,
                                                   .app_id = "flow"});
    assert_int_equal(result.attempts, 2);
    assert_int_equal(result.committed_version, 2);
    assert_true(r.changes_data);
    tg_interval first = {.has_low = true,
                         .has_high = true,
                         .low = tg_value_int(tg_type_of(TG_TYPE_DATE), 19723),
                         .high = tg_value_int(tg_type_of(TG_TYPE_DATE), 19723)};
    tg_interval second = first;
    second.low.as.i64 = second.high.as.i64 = 19724;
    assert_true(
        tg_region_meets(r.hull, tg_region_interval(l->arena, TG_S("d"), first.low.type, first)));
    assert_false(
        tg_region_meets(r.hull, tg_region_interval(l->arena, TG_S("d"), first.low.type, second)));
    assert_str(lab_rows(l, "SELECT count(*) FROM t"), "51");
}

/* The winner removed a file that this attempt removes: its kept rows would come back. */
static void same_file_is_conflict(void **state)
{
    lab *l = *state;
    make_week(l, false);
    rival r = {.l = l,
               .program =
                   lab_program(l, &(lab_write){.table = "t", .where = "d = DATE'2024-01-01'"})};
    tg_commit_hooks hooks = {.before_attempt = run_rival, .self = &r};
    lab_write write = {.table = "t",
                       .where = "d = DATE'2024-01-02'",
                       .query = "SELECT DATE'2024-01-02' AS d, 1 AS v",
                       .hooks = &hooks,
                       .app_id = "flow"};
    assert_int_equal(lab_run_fail(l, &write), TG_CONFLICT);
    assert_int_equal(r.calls, 1);
    assert_str(lab_rows(l, "SELECT count(*) FROM t"), "60");
    assert_int_equal(lab_files_on_disk(l, "t"), 2); /* the old one and the rival's */
}

static void changed_source_is_conflict(void **state)
{
    lab *l = *state;
    make_week(l, false);
    tg_pin pin;
    assert_ok(l->engine->identity(l->engine->self, TG_FORMAT_DELTA, lab_path(l, "t"), -1, l->arena,
                                  &pin, &l->error),
              &l->error);
    pin.digest.low++;
    tg_program *program =
        (tg_program *)(uintptr_t)lab_program(l, &(lab_write){.table = "t", .where = "v = 1"});
    tg_step steps[] = {{.kind = TG_STEP_PIN, .pin = &pin}, program->steps[0], program->steps[1]};
    program->steps = steps;
    program->step_count = 3;
    tg_run_result result;
    assert_int_equal(l->engine->run(l->engine->self, program, NULL, l->arena, &result, &l->error),
                     TG_CONFLICT);
    assert_error_class(&l->error, "TIDEGATE_SOURCE_CHANGED");
}

/* Many commits: checkpoints are written, and read back when the commits before are gone. */
static void checkpoints(void **state)
{
    lab *l = *state;
    make_week(l, true);
    for (int i = 0; i < 10; i++) {
        lab_append(l, "t", tg_arena_printf(l->arena, "SELECT DATE'2024-02-01' AS d, %d AS v", i));
    }
    tg_str log = tg_path_join(l->arena, lab_path(l, "t"), TG_S("_delta_log"));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(unlink(tg_arena_printf(l->arena, "%.*s/%020d.json", TG_SARG(log), i)), 0);
    }
    assert_str(lab_rows(l, "SELECT count(*), sum(v) FROM t"), "80|2460");
    lab_replace(l, "t", "d = DATE'2024-02-01'", "SELECT DATE'2024-02-01' AS d, 1 AS v");
    assert_str(lab_rows(l, "SELECT count(*), sum(v) FROM t"), "71|2416");
}

/* ---- a commit that is visible, and an error all the same --------------------------------------- */

static tg_code bad_fsync_folder(void *self, tg_str path, tg_error *err)
{
    (void)self;
    if (tg_str_ends(path, TG_S("_delta_log"))) {
        TG_FAIL(err, TIDEGATE_IO, "the disk is bad");
    }
    return tg_fs_fsync_folder(tg_fs_local(), path, err);
}

static tg_code bad_write_new(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    (void)self;
    TG_TRY(tg_fs_write_new(tg_fs_local(), path, bytes, err));
    return bad_fsync_folder(self, tg_path_dirname(path), err);
}

static void visible_files_stay(void **state)
{
    lab *l = *state;
    tg_fs fs = *tg_fs_local();
    fs.write_new = bad_write_new;
    fs.fsync_folder = bad_fsync_folder;
    tg_engine *good = l->engine;
    make_week(l, true);
    l->engine = tg_engine_duckdb_new(&(tg_engine_duckdb_options){.fs = &fs});
    assert_int_equal(lab_run_fail(l, &(lab_write){.table = "t",
                                                  .query = "SELECT DATE'2024-01-03' AS d, 7 AS v",
                                                  .where = "d = DATE'2024-01-03'"}),
                     TG_IO);
    assert_non_null(strstr(l->error.detail, "Version 1 is committed"));
    assert_int_equal(
        lab_run_fail(l, &(lab_write){.table = "new", .query = "SELECT 1 AS a", .is_append = true}),
        TG_IO);
    l->engine->close(l->engine->self);
    l->engine = good;
    tg_error_clear(&l->error);
    assert_str(lab_rows(l, "SELECT count(*), sum(v) FROM t"), "61|2177");
    assert_str(lab_rows(l, "SELECT * FROM new"), "1");
}

/* What was a folder, or a link to one, before a CREATE that fails is still there. */
static void failed_create_keeps_what_was_there(void **state)
{
    lab *l = *state;
    assert_ok(tg_fs_make_folders(tg_fs_local(), lab_path(l, "there"), NULL), NULL);
    assert_int_equal(symlink("there", tg_str_cstr(l->arena, lab_path(l, "link"))), 0);
    assert_int_equal(lab_run_fail(l, &(lab_write){.table = "link",
                                                  .query = "SELECT CAST('x' AS INT) AS a",
                                                  .is_append = true}),
                     TG_EXECUTION);
    bool exists;
    assert_ok(tg_fs_exists(tg_fs_local(), lab_path(l, "link"), &exists, NULL), NULL);
    assert_true(exists);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, lab_setup, lab_teardown)
    const struct CMUnitTest tests[] = {
        TEST(create_with_rows),
        TEST(append_adds),
        TEST(nothing_is_no_commit),
        TEST(append_reading_itself),
        TEST(replace_whole_files_unread),
        TEST(replace_part_of_a_file),
        TEST(only_the_window),
        TEST(untouched_when_no_row_is_hit),
        TEST(opaque_predicate),
        TEST(replace_everything),
        TEST(delete_by_partition_needs_no_library),
        TEST(new_column_reads_null),
        TEST(not_null_is_kept),
        TEST(not_null_inside),
        TEST(failure_changes_nothing),
        TEST(failed_create_leaves_no_folder),
        TEST(failed_create_keeps_what_was_there),
        TEST(visible_files_stay),
        TEST(disjoint_winner_is_rebased),
        TEST(same_file_is_conflict),
        TEST(changed_source_is_conflict),
        TEST(checkpoints),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
