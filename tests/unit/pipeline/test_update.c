/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates against the fake engine: what is planned and run, what readers see, what stops before
 * anything is touched.
 */
#include "tidegate/version.h"
#include "support/test.h"

#include "engine/fake/fake_engine.h"
#include "fs/fs.h"
#include "pipeline/pipeline.h"

typedef struct fixture {
    void (*at_start)(struct fixture *f); /* called once, when a flow of the run is STARTING */
    tg_arena *arena;
    tg_str folder;
    tg_engine *engine;
    volatile sig_atomic_t cancelled;
    tg_env env;
    /* of the last run */
    tg_diags diags;
    tg_update_result result;
    tg_code code;
    tg_buf messages; /* of its events, one per line */
} fixture;

static const char spec_text[] =
    "name: test\nstorage: storage\nlibraries:\n  - glob: {include: \"src/**\"}\n";

static void write_file(fixture *f, const char *relative, const char *text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str path = tg_path_join(f->arena, f->folder, tg_str_from(relative));
    assert_ok(tg_fs_make_folders(tg_fs_local(), tg_path_dirname(path), &err), &err);
    assert_ok(tg_fs_write_replace(tg_fs_local(), path, tg_str_from(text), &err), &err);
}

static tg_str table_path(fixture *f, const char *name)
{
    return tg_path_join(f->arena, f->folder,
                        tg_str_printf(f->arena, "warehouse/main/default/%s", name));
}

/* A table of somebody else: a INT, d DATE. */
static void add_table(fixture *f, const char *name, const tg_property *properties,
                      size_t property_count)
{
    tg_field *fields = TG_NEW_ARRAY(f->arena, tg_field, 2);
    fields[0] = (tg_field){.name = TG_S("a"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    fields[1] = (tg_field){.name = TG_S("d"), .type = tg_type_of(TG_TYPE_DATE), .nullable = true};
    const tg_table_facts facts = {.exists = true,
                                  .table_id = TG_S("11111111-1111-4111-8111-111111111111"),
                                  .schema = {fields, 2},
                                  .properties = properties,
                                  .property_count = property_count};
    tg_str path = table_path(f, name);
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(
        tg_fs_make_folders(tg_fs_local(), tg_path_join(f->arena, path, TG_S("_delta_log")), &err),
        &err);
    tg_fake_add_table(f->engine, path, &facts);
}

static void change_table(fixture *f, const char *name)
{
    const tg_commit_fact fact = {.changes_data = true, .hull = tg_region_all()};
    (void)tg_fake_add_commit(f->engine, table_path(f, name), &fact);
}

static int set_up(void **state)
{
    tg_arena *arena = tg_arena_new();
    fixture *f = TG_NEW(arena, fixture);
    f->arena = arena;
    f->folder = tg_str_from(tg_test_folder(arena));
    f->engine = tg_engine_fake_new();
    f->env = *tg_env_system();
    f->env.cancelled = &f->cancelled;
    write_file(f, "spark-pipeline.yml", spec_text);
    add_table(f, "src", NULL, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    f->engine->close(f->engine->self);
    tg_diags_dispose(&f->diags);
    tg_buf_dispose(&f->messages);
    tg_arena_free(f->arena);
    return 0;
}

static void hear(void *self, const tg_event *event, tg_str json_line)
{
    fixture *f = self;
    (void)json_line;
    tg_buf_addf(&f->messages, "%.*s\n", TG_SARG(event->message));
    void (*at_start)(fixture *) = f->at_start;
    if (at_start && tg_str_ends(event->message, TG_S(" is STARTING."))) {
        f->at_start = NULL;
        at_start(f);
    }
}

static void run_with(fixture *f, tg_update_options options)
{
    tg_diags_dispose(&f->diags);
    tg_buf_clear(&f->messages);
    f->diags = (tg_diags)TG_DIAGS_INIT;
    const tg_event_sink sink = {.event = hear, .self = f};
    options.sink = &sink;
    options.now = options.now.len ? options.now : TG_S("2024-03-05T12:00:00Z");
    const tg_spec *spec;
    const tg_graph *graph;
    f->code = tg_spec_load(tg_fs_local(), (tg_str){0}, f->folder, f->arena, &spec, &f->diags);
    if (f->code == TG_OK) {
        f->code = tg_graph_build(spec, tg_fs_local(), f->arena, &graph, &f->diags);
    }
    assert_ok(f->code, f->diags.count ? &f->diags.items[0] : NULL);
    const tg_update_context context = {.fs = tg_fs_local(), .env = &f->env, .engine = f->engine};
    f->code = tg_update_run(&context, graph, &options, f->arena, &f->result, &f->diags);
    assert_int_equal(f->code == TG_OK, f->diags.error_count == 0);
}

static void run_all(fixture *f)
{
    run_with(f, (tg_update_options){0});
    assert_ok(f->code, f->diags.count ? &f->diags.items[0] : NULL);
}

static void run_some(fixture *f, const char *name)
{
    tg_str selection = tg_str_from(name);
    run_with(f, (tg_update_options){.refresh = &selection, .refresh_count = 1});
}

static const tg_flow_result *result_of(fixture *f, const char *name)
{
    for (size_t i = 0; i < f->result.flow_count; i++) {
        if (tg_str_eq(f->result.flows[i].flow->dataset->name, tg_str_from(name))) {
            return &f->result.flows[i];
        }
    }
    fail_msg("no flow writes %s", name);
    return NULL;
}

static void check(fixture *f, const char *name, tg_flow_status status, const char *technique,
                  int64_t version)
{
    const tg_flow_result *result = result_of(f, name);
    assert_string_equal(tg_flow_status_name(result->status), tg_flow_status_name(status));
    if (technique) {
        assert_string_equal(result->technique, technique);
    } else {
        assert_null(result->technique);
    }
    assert_int_equal(result->committed_version, version);
}

static void check_error(fixture *f, const char *class_name, const char *hint)
{
    assert_int_not_equal(f->code, TG_OK);
    assert_true(f->result.is_validation_failure);
    assert_error_class(&f->diags.items[0], class_name);
    if (hint) {
        assert_string_equal(f->diags.items[0].hint, hint);
    }
}

static const char daily[] =
    "CREATE STREAMING TABLE daily FLOW REPLACE WHERE d >= date_sub(current_date(), 3) BY NAME\n"
    "SELECT d, count(*) AS n FROM src GROUP BY ALL;\n";
static const char total[] = "CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS n FROM daily;\n";

/* ---- plain runs ------------------------------------------------------------------------------ */

static void test_first_run_then_nothing(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_COMPLETED);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    assert_string_equal(result_of(f, "daily")->issues[0].issue_type, "CHANGE_SET_MISSING");
    assert_int_equal(tg_fake_run_count(f->engine), 1);
    bool exists = false;
    assert_true(tg_fs_exists(tg_fs_local(), f->result.event_path, &exists, NULL) == TG_OK &&
                exists);

    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
    assert_int_equal(tg_fake_run_count(f->engine), 1);

    change_table(f, "src");
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 1);
    assert_string_equal(result_of(f, "daily")->issues[0].issue_type, "DATA_HAS_CHANGED");
}

static void test_foreign_change_in_the_window(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_all(f);
    change_table(f, "daily");
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 2);
    assert_string_equal(result_of(f, "daily")->issues[0].issue_type,
                        "EXTERNAL_CHANGE_IN_REPLACE_WINDOW");
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static void test_messages(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_all(f);
    tg_str id = tg_str_sub(f->result.update_id, 0, 6);
    const char *expected = tg_arena_printf(
        f->arena,
        "Update %1$.6s started by USER_ACTION.\n"
        "a user started an update of pipeline test.\n"
        "Runtime details: tidegate " TG_VERSION_STRING ".\n"
        "Update %1$.6s is INITIALIZING.\n"
        "Dataflow graph created: 1 dataset, 1 flow.\n"
        "Dataset 'main.default.daily' defined as a streaming table.\n"
        "Flow 'main.default.daily' defined as REPLACE_WHERE.\n"
        "Flow main.default.daily is QUEUED.\n"
        "Update %1$.6s is SETTING_UP_TABLES.\n"
        "Update %1$.6s is RUNNING.\n"
        "Flow main.default.daily is PLANNING.\n"
        "Flow 'main.default.daily' has been planned to be executed as COMPLETE_REPLACE_WHERE.\n"
        "Flow main.default.daily is STARTING.\n"
        "Flow main.default.daily is RUNNING.\n"
        "Flow main.default.daily has COMPLETED.\n"
        "Update %1$.6s is COMPLETED.\n",
        id.ptr);
    assert_str(tg_buf_str(&f->messages), expected);
}

static void test_readers_see_the_commit(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", tg_arena_printf(f->arena, "%s%s", total, daily));
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    check(f, "total", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
    check(f, "total", TG_FLOW_COMPLETED, "NO_OP", -1);
    assert_int_equal(tg_fake_run_count(f->engine), 2);
    change_table(f, "src");
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 1);
    check(f, "total", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 1);
    const tg_program *program = tg_fake_run_at(f->engine, 3)->program;
    assert_int_equal(program->steps[0].kind, TG_STEP_PIN);
    assert_int_equal(program->steps[0].pin->version, 1);
}

static void test_views_are_expanded(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               "CREATE TEMPORARY VIEW v AS SELECT a FROM src WHERE a > 1;\n"
               "CREATE MATERIALIZED VIEW m AS SELECT a FROM v;\n");
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "NO_OP", -1);
    write_file(f, "src/a.sql",
               "CREATE TEMPORARY VIEW v AS SELECT a FROM src WHERE a > 2;\n"
               "CREATE MATERIALIZED VIEW m AS SELECT a FROM v;\n");
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 1);
}

static void test_property_change_is_a_commit(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", "CREATE MATERIALIZED VIEW m AS SELECT a FROM src;\n");
    run_all(f);
    write_file(
        f, "src/a.sql",
        "CREATE MATERIALIZED VIEW m TBLPROPERTIES ('quality' = 'gold') AS SELECT a FROM src;\n");
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "NO_OP", 1);
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "NO_OP", -1);
}

/* A definition, and what it makes of a table that is there already. */
static void define_and_run(fixture *f, const char *sql, int64_t version)
{
    write_file(f, "src/a.sql", sql);
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "NO_OP", version);
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static tg_table_facts facts_of(fixture *f, const char *name)
{
    tg_table_facts facts;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(f->engine->table_facts(f->engine->self, table_path(f, name), f->arena, &facts, &err),
              &err);
    return facts;
}

static void test_comments_follow_the_definition(void **state)
{
    fixture *f = *state;
    write_file(
        f, "src/a.sql",
        "CREATE MATERIALIZED VIEW m (a COMMENT 'one', d) COMMENT 'rows' AS SELECT * FROM src");
    run_all(f);
    check(f, "m", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    assert_str(facts_of(f, "m").comment, "rows");
    define_and_run(
        f,
        "CREATE MATERIALIZED VIEW m (a COMMENT 'two', d COMMENT 'day') COMMENT 'more rows' "
        "AS SELECT * FROM src",
        1);
    assert_str(facts_of(f, "m").comment, "more rows");
    assert_str(facts_of(f, "m").schema.fields[0].comment, "two");
    assert_str(facts_of(f, "m").schema.fields[1].comment, "day");
    define_and_run(f, "CREATE MATERIALIZED VIEW m (a, d COMMENT 'day') AS SELECT * FROM src", 2);
    assert_str(facts_of(f, "m").comment, "");
    assert_str(facts_of(f, "m").schema.fields[0].comment, "");
    /* without a list of columns the definition says nothing about theirs */
    define_and_run(f, "CREATE MATERIALIZED VIEW m AS SELECT * FROM src", -1);
    assert_str(facts_of(f, "m").schema.fields[1].comment, "day");
}

static void test_comments_of_a_window(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               "CREATE STREAMING TABLE m (a, d) FLOW REPLACE WHERE d >= '2024-01-01' BY NAME "
               "SELECT * FROM src");
    run_all(f);
    define_and_run(f,
                   "CREATE STREAMING TABLE m (a, d COMMENT 'day') FLOW REPLACE WHERE d >= "
                   "'2024-01-01' BY NAME SELECT * FROM src",
                   1);
    assert_str(facts_of(f, "m").schema.fields[1].comment, "day");
}

/* ---- selection ------------------------------------------------------------------------------- */

static void test_selection(void **state)
{
    fixture *f = *state;
    write_file(
        f, "src/a.sql",
        tg_arena_printf(f->arena, "%s%sCREATE TEMPORARY VIEW v AS SELECT 1 AS a;\n", daily, total));
    run_some(f, "total");
    check_error(f, "TABLE_OR_VIEW_NOT_FOUND", "Select `daily` too.");
    assert_int_equal(tg_fake_run_count(f->engine), 0);
    run_some(f, "daily");
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    check(f, "total", TG_FLOW_EXCLUDED, NULL, -1);
    change_table(f, "src");
    run_some(f, "main.default.TOTAL");
    check(f, "daily", TG_FLOW_EXCLUDED, NULL, -1);
    check(f, "total", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    run_some(f, "dialy");
    check_error(f, "TIDEGATE_UNKNOWN_SELECTION", "Did you mean `daily`?");
    run_some(f, "v");
    check_error(f, "TIDEGATE_UNKNOWN_SELECTION", "Select the tables that read it.");
}

static void test_ambiguous_selection(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               "CREATE MATERIALIZED VIEW x.m AS SELECT a FROM src;\nCREATE MATERIALIZED VIEW y.m "
               "AS SELECT a FROM src;\n"
               "CREATE STREAMING TABLE t;\nCREATE FLOW fill AS INSERT INTO t BY NAME REPLACE WHERE "
               "a > 1 SELECT a FROM src;\n");
    run_some(f, "m");
    check_error(f, "TIDEGATE_UNKNOWN_SELECTION", "Write `main.x.m` or `main.y.m`.");
    run_some(f, "y.m");
    assert_int_equal(tg_fake_run_count(f->engine), 1);
    run_some(f, "fill");
    check(f, "t", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void test_failure_skips_readers(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               tg_arena_printf(f->arena,
                               "%s%sCREATE MATERIALIZED VIEW other AS SELECT a FROM src;\n", daily,
                               total));
    tg_fake_fail_next_run(f->engine, TG_E_DIVIDE_BY_ZERO, "division by zero");
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_FAILED);
    assert_false(f->result.is_validation_failure);
    check(f, "daily", TG_FLOW_FAILED, "COMPLETE_REPLACE_WHERE", -1);
    check(f, "total", TG_FLOW_SKIPPED, NULL, -1);
    check(f, "other", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    assert_error_class(result_of(f, "daily")->error, "DIVIDE_BY_ZERO");
    assert_int_equal(f->result.failed_count, 1);
    assert_int_equal(f->result.skipped_count, 1);
    run_all(f);
    check(f, "total", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
}

static void test_failures_have_a_place(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", tg_arena_printf(f->arena, "\n\n%s", daily));
    tg_fake_fail_next_run(f->engine, TG_E_TIDEGATE_ENGINE_ERROR, "no more");
    run_all(f);
    const tg_error *err = result_of(f, "daily")->error;
    assert_string_equal(err->place.file, "src/a.sql");
    assert_int_equal(err->place.line, 3);
    assert_int_equal(err->place.column, 24);
}

static void test_analysis_stops_everything(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               "CREATE MATERIALIZED VIEW good AS SELECT a FROM src;\n"
               "CREATE MATERIALIZED VIEW bad AS SELECT a FROM scr;\n"
               "CREATE MATERIALIZED VIEW worse AS\n  SELECT b FROM src;\n"
               "CREATE MATERIALIZED VIEW below AS SELECT * FROM worse;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "TABLE_OR_VIEW_NOT_FOUND", "Did you mean `src`?");
    assert_int_equal(f->diags.error_count, 2);
    assert_error_class(&f->diags.items[1], "UNRESOLVED_COLUMN.WITH_SUGGESTION");
    assert_string_equal(f->diags.items[1].place.file, "src/a.sql");
    assert_int_equal(f->diags.items[1].place.line, 4);
    assert_int_equal(f->diags.items[1].place.column, 10);
    assert_int_equal(tg_fake_run_count(f->engine), 0);
    assert_int_equal(f->result.state, TG_UPDATE_FAILED);
}

static void test_predicate_errors(void **state)
{
    fixture *f = *state;
    write_file(
        f, "src/a.sql",
        "CREATE STREAMING TABLE t FLOW REPLACE WHERE dd > 1 BY NAME SELECT a, d FROM src;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "UNRESOLVED_COLUMN.WITH_SUGGESTION", NULL);
    assert_int_equal(f->diags.items[0].place.column, 45);
    write_file(f, "src/a.sql",
               "CREATE STREAMING TABLE t FLOW REPLACE WHERE a + 1 BY NAME SELECT a, d FROM src;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", NULL);
}

static void test_owner(void **state)
{
    fixture *f = *state;
    static const tg_property other[] = {{.key = {"tidegate.pipelineId", 19},
                                         .value = {"22222222-2222-4222-8222-222222222222", 36}}};
    add_table(f, "foreign_made", NULL, 0);
    add_table(f, "other_pipeline", other, 1);
    write_file(f, "src/a.sql",
               "CREATE MATERIALIZED VIEW foreign_made AS SELECT a FROM src;\n"
               "CREATE MATERIALIZED VIEW other_pipeline AS SELECT a FROM src;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "TIDEGATE_TABLE_NOT_OWNED", NULL);
    assert_int_equal(f->diags.error_count, 2);
    assert_string_equal(
        f->diags.items[0].message,
        "table `main.default.foreign_made` exists already and was not made by this pipeline");
    assert_string_equal(
        f->diags.items[1].message,
        "table `main.default.other_pipeline` exists already and belongs to another pipeline");
    assert_int_equal(f->diags.items[1].place.line, 2);
}

static void test_kind_change(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", "CREATE MATERIALIZED VIEW t AS SELECT a FROM src;\n");
    run_all(f);
    write_file(f, "src/a.sql",
               "CREATE STREAMING TABLE t FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM src;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "TIDEGATE_DATASET_KIND_CHANGED", NULL);
}

static void test_declared_columns(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", "CREATE MATERIALIZED VIEW t (a INT) AS SELECT a FROM src;\n");
    run_all(f);
    run_all(f);
    check(f, "t", TG_FLOW_COMPLETED, "NO_OP", -1);
    /* A view follows its query; the type is in the definition, though not in the query. */
    write_file(f, "src/a.sql", "CREATE MATERIALIZED VIEW t (a STRING) AS SELECT a FROM src;\n");
    run_all(f);
    check(f, "t", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 1);
    run_all(f);
    check(f, "t", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static void test_declared_columns_of_a_window(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql",
               "CREATE STREAMING TABLE t (a INT) FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM "
               "src;\n");
    run_all(f);
    write_file(f, "src/a.sql",
               "\nCREATE STREAMING TABLE t (a STRING) FLOW REPLACE WHERE a > 1 BY NAME SELECT a "
               "FROM src;\n");
    run_with(f, (tg_update_options){0});
    check_error(f, "DELTA_FAILED_TO_MERGE_FIELDS", NULL);
    assert_int_equal(f->diags.items[0].place.line, 2); /* at the name: the planner knows no place */
    assert_int_equal(f->diags.items[0].place.column, 24);
}

static void test_bad_clock(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_with(f, (tg_update_options){.now = TG_S("tomorow")});
    check_error(f, "TIDEGATE_INVALID_OPTION", NULL);
    run_with(f, (tg_update_options){.timezone = TG_S("Europe/Lisbn")});
    check_error(f, "INVALID_TIMEZONE", NULL);
    run_with(f, (tg_update_options){.now = TG_S("2024-03-05 01:00:00"),
                                    .timezone = TG_S("Asia/Tokyo"),
                                    .is_dry_run = true});
    assert_int_equal(f->code, TG_OK);
    assert_str(tg_instant_text(f->arena, f->result.now_us), "2024-03-04T16:00:00.000000Z");
}

static void test_damaged_identity(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    write_file(f, "storage/pipeline.json", "{\"pipeline_id\":");
    run_with(f, (tg_update_options){0});
    assert_int_equal(f->code, TG_INVALID_DATA);
    assert_error_class(&f->diags.items[0], "TIDEGATE_INVALID_JSON");
    assert_int_equal(tg_fake_run_count(f->engine), 0);
}

static void test_log_cannot_be_written(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    write_file(f, "storage/events", "a file where the folder should be");
    run_with(f, (tg_update_options){0});
    assert_int_not_equal(f->code, TG_OK);
    assert_int_equal(tg_fake_run_count(f->engine), 0);
}

/* ---- races, cancelling, dry runs ------------------------------------------------------------- */

static void test_lost_race(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_all(f);
    change_table(f, "src");
    const tg_commit_fact winner = {.changes_data = true, .hull = tg_region_all()};
    tg_fake_lose_next_race(f->engine, &winner, 1);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 2);
}

static void test_race_that_does_not_matter(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    run_all(f);
    change_table(f, "src");
    const tg_commit_fact winner = {.changes_data = false, .hull = tg_region_none()};
    tg_fake_lose_next_race(f->engine, &winner, 1);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 2);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static tg_flow_state state_of(fixture *f, const char *name, tg_str *out_app_id)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_table_facts facts;
    tg_state_facts found;
    tg_flow_state state;
    tg_str path = table_path(f, name);
    assert_ok(f->engine->table_facts(f->engine->self, path, f->arena, &facts, &err), &err);
    tg_str flow_name = tg_str_printf(f->arena, "main.default.%s", name);
    tg_str app_id = tg_flow_app_id(f->arena, facts.table_id, flow_name);
    assert_ok(f->engine->table_state(f->engine->self, path, app_id, facts.version, f->arena, &found,
                                     &err),
              &err);
    assert_true(tg_flow_state_from_json(found.state, f->arena, &state));
    *out_app_id = app_id;
    return state;
}

/* The state that the flow's newest commit carries, as if it had been made from read_version. */
static tg_commit_fact same_flow_commit(fixture *f, const char *name, int64_t read_version)
{
    tg_str app_id;
    tg_flow_state state = state_of(f, name, &app_id);
    state.read_version = read_version;
    return (tg_commit_fact){.changes_data = true,
                            .app_id = app_id,
                            .state = tg_flow_state_to_json(&state, f->arena),
                            .hull = tg_region_all()};
}

/*
 * Another update pins a newer version of src than the one that is STARTING, and wins with one piece
 * over it.
 */
static void win_with_newer_source(fixture *f, const char *where, uint64_t other_digest)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_pin pin;
    tg_str app_id;
    tg_flow_state state = state_of(f, "daily", &app_id);
    change_table(f, "src");
    assert_ok(f->engine->identity(f->engine->self, TG_FORMAT_DELTA, table_path(f, "src"), -1,
                                  f->arena, &pin, &err),
              &err);
    tg_source_identity source = state.pieces[0].sources[0];
    source.version = pin.version;
    source.digest = pin.digest;
    source.digest.low += other_digest;
    tg_piece piece = state.pieces[0];
    piece.where = tg_str_from(where);
    piece.sources = &source;
    state.pieces = &piece;
    state.piece_count = 1;
    state.window = state.advanced = piece.where;
    state.read_version = 0;
    const tg_commit_fact winner = {.changes_data = true,
                                   .app_id = app_id,
                                   .state = tg_flow_state_to_json(&state, f->arena),
                                   .hull = tg_region_all()};
    tg_fake_lose_next_race(f->engine, &winner, 1);
}

static void win_whole_window(fixture *f)
{
    win_with_newer_source(f, "d >= DATE'2024-03-02'", 0);
}

static void win_part_of_window(fixture *f)
{
    win_with_newer_source(f, "d >= DATE'2024-03-04'", 0);
}

static void win_from_another_table(fixture *f)
{
    win_with_newer_source(f, "d >= DATE'2024-03-02'", 1);
}

static void run_daily_against(fixture *f, void (*at_start)(fixture *))
{
    write_file(f, "src/a.sql", daily);
    run_all(f);
    change_table(f, "src");
    f->at_start = at_start;
    run_all(f);
    assert_null(f->at_start);
}

static void test_overtaken_by_newer_sources(void **state)
{
    fixture *f = *state;
    run_daily_against(f, win_whole_window);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
    run_all(f); /* the next update pins what the winner saw */
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static void test_overtaken_in_part(void **state)
{
    fixture *f = *state;
    run_daily_against(f, win_part_of_window);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 2);
    tg_str app_id;
    tg_flow_state after = state_of(f, "daily", &app_id);
    assert_str(after.window, "d >= DATE'2024-03-02'");
    assert_str(after.advanced, "d >= DATE'2024-03-02' AND d <= DATE'2024-03-03'");
    assert_int_equal(after.piece_count, 2);
    assert_true(tg_str_eq(after.pieces[0].where, after.advanced));
    assert_int_equal(after.pieces[0].sources[0].version, 1);
    assert_str(after.pieces[1].where, "d >= DATE'2024-03-04'");
    assert_int_equal(after.pieces[1].sources[0].version, 2);
    assert_int_equal(result_of(f, "daily")->piece_count, 2);
    assert_string_equal(result_of(f, "daily")->pieces[0].treatment, "NO_OP");
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 3);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
}

static void test_not_overtaken_by_another_table(void **state)
{
    fixture *f = *state;
    run_daily_against(f, win_from_another_table);
    check(f, "daily", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 2);
}

/* ---- pieces beside the window ---------------------------------------------------------------- */

static void run_window(fixture *f, const char *predicate, const char *technique, int64_t version)
{
    write_file(f, "src/a.sql",
               tg_arena_printf(f->arena,
                               "CREATE STREAMING TABLE t FLOW REPLACE WHERE %s BY NAME "
                               "SELECT * FROM src",
                               predicate));
    run_all(f);
    check(f, "t", TG_FLOW_COMPLETED, technique, version);
}

static tg_region a_is(fixture *f, int64_t value)
{
    const tg_type *type = tg_type_of(TG_TYPE_INT);
    const tg_interval interval = {.has_low = true,
                                  .has_high = true,
                                  .low = tg_value_int(type, value),
                                  .high = tg_value_int(type, value)};
    return tg_region_interval(f->arena, TG_S("a"), type, interval);
}

static void test_pieces_beside_the_window_are_carried(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    run_window(f, "a = 2", "COMPLETE_REPLACE_WHERE", 1);
    run_window(f, "a = 1", "NO_OP", -1);
    run_window(f, "a IN (1, 2)", "NO_OP", -1);
    tg_commit_fact foreign = {.changes_data = true, .hull = a_is(f, 3)};
    (void)tg_fake_add_commit(f->engine, table_path(f, "t"), &foreign);
    run_window(f, "a IN (1, 2)", "NO_OP", -1);
    foreign.hull = a_is(f, 1);
    (void)tg_fake_add_commit(f->engine, table_path(f, "t"), &foreign); /* 3: in a carried piece */
    run_window(f, "a = 2", "NO_OP", -1);
    run_window(f, "a = 4", "COMPLETE_REPLACE_WHERE", 4);
    run_window(f, "a = 2", "NO_OP", -1);
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 5);
}

static tg_commit_fact disjoint_winner(fixture *f, tg_piece pieces[2])
{
    tg_str app_id;
    tg_flow_state winner = state_of(f, "t", &app_id);
    pieces[0] = pieces[1] = winner.pieces[0];
    pieces[0].where = TG_S("a = 7");
    winner.pieces = pieces;
    winner.piece_count = 2;
    winner.window = winner.advanced = pieces[0].where;
    winner.read_version = 0;
    return (tg_commit_fact){
        .app_id = app_id, .state = tg_flow_state_to_json(&winner, f->arena), .hull = {0}};
}

static void test_a_loser_keeps_what_the_winner_recorded(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    tg_piece pieces[2];
    const tg_commit_fact winner = disjoint_winner(f, pieces);
    tg_fake_lose_next_race(f->engine, &winner, 1);
    run_window(f, "a = 2", "COMPLETE_REPLACE_WHERE", 2);
    run_window(f, "a IN (1, 2, 7)", "NO_OP", -1);
}

static void test_a_loser_forgets_what_a_later_winner_changed(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    tg_piece pieces[2];
    const tg_commit_fact winners[2] = {disjoint_winner(f, pieces),
                                       {.changes_data = true, .hull = a_is(f, 1)}};
    tg_fake_lose_next_race(f->engine, winners, 2);
    run_window(f, "a = 2", "COMPLETE_REPLACE_WHERE", 3);
    run_window(f, "a IN (2, 7)", "NO_OP", -1);
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 4);
}

static void test_a_commit_of_metadata_keeps_the_pieces(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    run_window(f, "a = 2", "COMPLETE_REPLACE_WHERE", 1);
    write_file(f, "src/a.sql",
               "CREATE STREAMING TABLE t COMMENT 'new' FLOW REPLACE WHERE a = 2 BY NAME "
               "SELECT * FROM src");
    run_all(f);
    check(f, "t", TG_FLOW_COMPLETED, "NO_OP", 2);
    run_window(f, "a = 1", "NO_OP", 3); /* the comment goes */
    run_window(f, "a IN (1, 2)", "NO_OP", -1);
}

static void test_overtaken_by_the_same_work(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", tg_arena_printf(f->arena, "%s%s", daily, total));
    run_all(f);
    const tg_commit_fact winner = same_flow_commit(f, "daily", 1);
    change_table(f, "daily"); /* version 1: somebody's DML in the window */
    tg_fake_lose_next_race(f->engine, &winner, 1);
    run_all(f);
    check(f, "daily", TG_FLOW_COMPLETED, "NO_OP", -1);
    check(f, "total", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 1);
    const tg_program *program =
        tg_fake_run_at(f->engine, tg_fake_run_count(f->engine) - 1)->program;
    assert_int_equal(program->steps[0].pin->version, 2);
}

static void run_override(fixture *f, const char *predicate, const char *technique, int64_t version)
{
    const tg_override override = {
        .flow = TG_S("t"), .predicate = tg_str_from(predicate), .origin = "test"};
    run_with(f, (tg_update_options){.overrides = &override, .override_count = 1});
    assert_ok(f->code, f->diags.count ? &f->diags.items[0] : NULL);
    check(f, "t", TG_FLOW_COMPLETED, technique, version);
    assert_string_equal(result_of(f, "t")->issues[0].issue_type, "REPLACE_WHERE_BACKFILL");
}

static void test_an_override_is_of_one_update(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    run_override(f, "a = 2", "COMPLETE_REPLACE_WHERE", 1);
    const tg_program *program = tg_fake_run_at(f->engine, 1)->program;
    assert_str(program->parameters[1].value, "a = 2");
    run_window(f, "a = 1", "NO_OP", -1);
    run_override(f, "a = 1", "COMPLETE_REPLACE_WHERE", 2);
    run_window(f, "a IN (1, 2)", "NO_OP", -1);
}

static void test_an_override_survives_a_lost_race(void **state)
{
    fixture *f = *state;
    run_window(f, "a = 1", "COMPLETE_REPLACE_WHERE", 0);
    const tg_commit_fact winner = {.changes_data = true, .hull = tg_region_all()};
    tg_fake_lose_next_race(f->engine, &winner, 1);
    run_override(f, "a = 2", "COMPLETE_REPLACE_WHERE", 2);
    assert_str(
        tg_fake_run_at(f->engine, tg_fake_run_count(f->engine) - 1)->program->parameters[1].value,
        "a = 2");
    run_window(f, "a = 2", "NO_OP", -1);
}

static void test_a_wrong_override_stops_everything(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    tg_override overrides[2] = {
        {.flow = TG_S("daily"), .predicate = TG_S("n = 1 AND m = 2"), .origin = "test"},
        {.flow = TG_S("dayly"), .predicate = TG_S("n = 1"), .origin = "test"}};
    run_with(f, (tg_update_options){.overrides = overrides, .override_count = 1});
    check_error(f, "INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION", NULL);
    assert_string_equal(f->diags.items[0].place.file, "test");
    assert_int_equal(f->diags.items[0].place.column, 11);
    run_with(f, (tg_update_options){.overrides = overrides, .override_count = 2});
    check_error(f, "INVALID_REPLACE_WHERE_OVERRIDE.FLOW_NOT_FOUND", "Did you mean `daily`?");
    assert_int_equal(tg_fake_run_count(f->engine), 0);
}

static void test_cancelled(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    f->cancelled = 1;
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_CANCELED);
    check(f, "daily", TG_FLOW_STOPPED, NULL, -1);
    assert_int_equal(tg_fake_run_count(f->engine), 0);
}

static void test_dry_run(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", tg_arena_printf(f->arena, "%s%s", daily, total));
    run_with(f, (tg_update_options){.is_dry_run = true});
    assert_int_equal(f->code, TG_OK);
    assert_int_equal(f->result.state, TG_UPDATE_COMPLETED);
    assert_int_equal(tg_fake_run_count(f->engine), 0);
    assert_int_equal(f->result.event_path.len, 0);
    bool exists = true;
    assert_int_equal(tg_fs_exists(tg_fs_local(), tg_path_join(f->arena, f->folder, TG_S("storage")),
                                  &exists, NULL),
                     TG_OK);
    assert_false(exists);
}

/* The flows below a table that will change are planned as the run will plan them. */
static void test_plan(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", tg_arena_printf(f->arena, "%s%s", daily, total));
    for (int round = 0; round < 2; round++) {
        run_with(f, (tg_update_options){.is_dry_run = true, .is_plan = true});
        assert_int_equal(f->code, TG_OK);
        assert_int_equal(f->result.flow_count, 2);
        const char *technique[2], *reason[2];
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(f->result.flows[i].status, TG_FLOW_QUEUED);
            assert_int_equal(f->result.flows[i].rows_to_delete, -1);
            assert_int_equal(f->result.flows[i].is_estimate, i == 1);
            assert_int_equal(f->result.flows[i].issue_count, 1);
            technique[i] = f->result.flows[i].technique;
            reason[i] = f->result.flows[i].issues[0].issue_type;
        }
        assert_int_equal(tg_fake_run_count(f->engine), 2 * round);
        run_all(f);
        for (size_t i = 0; i < 2; i++) {
            assert_string_equal(f->result.flows[i].technique, technique[i]);
            assert_int_equal(f->result.flows[i].issue_count, 1);
            assert_string_equal(f->result.flows[i].issues[0].issue_type, reason[i]);
        }
        change_table(f, "src");
    }
    assert_string_equal(f->result.flows[1].issues[0].issue_type, "DATA_HAS_CHANGED");
}

static void test_summary(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", daily);
    tg_fake_set_result(f->engine, 7, 0);
    run_all(f);
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_update_result_json(&f->result, &text);
    struct yyjson_val *root;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(tg_json_parse(tg_buf_str(&text), 0, f->arena, &root, &err), &err);
    assert_str(tg_json_get_str(root, "state", TG_S("")), "COMPLETED");
    assert_str(tg_json_get_str(root, "now", TG_S("")), "2024-03-05T12:00:00.000000Z");
    assert_non_null(strstr(tg_buf_cstr(&text), "\"num_output_rows\":7,\"num_deleted_rows\":0"));
    assert_non_null(strstr(tg_buf_cstr(&text), "\"window\":\"d >= DATE'2024-03-02'\""));
    assert_non_null(strstr(tg_buf_cstr(&text), "\"fallback_reasons\":[\"CHANGE_SET_MISSING\"]"));
}

#define UPDATE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UPDATE_TEST(test_first_run_then_nothing),
        UPDATE_TEST(test_foreign_change_in_the_window),
        UPDATE_TEST(test_messages),
        UPDATE_TEST(test_readers_see_the_commit),
        UPDATE_TEST(test_views_are_expanded),
        UPDATE_TEST(test_property_change_is_a_commit),
        UPDATE_TEST(test_comments_follow_the_definition),
        UPDATE_TEST(test_comments_of_a_window),
        UPDATE_TEST(test_selection),
        UPDATE_TEST(test_ambiguous_selection),
        UPDATE_TEST(test_failure_skips_readers),
        UPDATE_TEST(test_failures_have_a_place),
        UPDATE_TEST(test_analysis_stops_everything),
        UPDATE_TEST(test_predicate_errors),
        UPDATE_TEST(test_owner),
        UPDATE_TEST(test_kind_change),
        UPDATE_TEST(test_declared_columns),
        UPDATE_TEST(test_declared_columns_of_a_window),
        UPDATE_TEST(test_bad_clock),
        UPDATE_TEST(test_damaged_identity),
        UPDATE_TEST(test_log_cannot_be_written),
        UPDATE_TEST(test_lost_race),
        UPDATE_TEST(test_race_that_does_not_matter),
        UPDATE_TEST(test_overtaken_by_the_same_work),
        UPDATE_TEST(test_overtaken_by_newer_sources),
        UPDATE_TEST(test_overtaken_in_part),
        UPDATE_TEST(test_not_overtaken_by_another_table),
        UPDATE_TEST(test_pieces_beside_the_window_are_carried),
        UPDATE_TEST(test_a_loser_keeps_what_the_winner_recorded),
        UPDATE_TEST(test_a_loser_forgets_what_a_later_winner_changed),
        UPDATE_TEST(test_a_commit_of_metadata_keeps_the_pieces),
        UPDATE_TEST(test_an_override_is_of_one_update),
        UPDATE_TEST(test_an_override_survives_a_lost_race),
        UPDATE_TEST(test_a_wrong_override_stops_everything),
        UPDATE_TEST(test_cancelled),
        UPDATE_TEST(test_dry_run),
        UPDATE_TEST(test_plan),
        UPDATE_TEST(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
