/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of one update at the same time, against the fake engine: who begins when, and who is told. */
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

/* ---- several flows at the same time ----------------------------------------------------------- */

static void run_at_once(fixture *f, int limit)
{
    tg_fake_set_capabilities(f->engine, TG_ENGINE_STATE_REBASE | TG_ENGINE_SIBLINGS);
    write_file(
        f, "spark-pipeline.yml",
        tg_arena_printf(f->arena, "%stidegate: {max_parallel_flows: %d}\n", spec_text, limit));
}

static const char two_days[] =
    "CREATE STREAMING TABLE a FLOW REPLACE WHERE d >= current_date() BY NAME SELECT d FROM src;\n"
    "CREATE STREAMING TABLE b FLOW REPLACE WHERE d >= current_date() BY NAME SELECT d FROM src;\n"
    "CREATE MATERIALIZED VIEW c AS SELECT a.d FROM a JOIN b USING (d);\n";

/* Neither run ends before both have begun; what reads from them comes behind. */
static void test_flows_run_at_once(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", two_days);
    run_at_once(f, 2);
    tg_fake_meet_in_run(f->engine, 2);
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_COMPLETED);
    check(f, "a", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    check(f, "b", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    check(f, "c", TG_FLOW_COMPLETED, "COMPLETE_RECOMPUTE", 0);
    size_t c_starts =
        tg_str_find(tg_buf_str(&f->messages), TG_S("Flow main.default.c is PLANNING"), 0);
    for (const char *name = "ab"; *name; name++) {
        const char *ends = tg_arena_printf(f->arena, "Flow main.default.%c has COMPLETED.", *name);
        size_t end = tg_str_find(tg_buf_str(&f->messages), tg_str_from(ends), 0);
        assert_true(end < c_starts && c_starts != SIZE_MAX);
    }
    run_all(f);
    check(f, "a", TG_FLOW_COMPLETED, "NO_OP", -1);
    check(f, "c", TG_FLOW_COMPLETED, "NO_OP", -1);
    assert_int_equal(tg_fake_run_count(f->engine), 3);
}

/* The events of each flow come in its own order, whole and by the thread that runs the update. */
static void test_events_of_flows_at_once(void **state)
{
    fixture *f = *state;
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    for (int i = 0; i < 12; i++) {
        tg_buf_addf(&sql,
                    "CREATE STREAMING TABLE t%02d FLOW REPLACE WHERE d >= current_date() BY NAME "
                    "SELECT d FROM src;\n",
                    i);
    }
    write_file(f, "src/a.sql", tg_buf_cstr(&sql));
    run_at_once(f, 4);
    run_all(f);
    for (int i = 0; i < 12; i++) {
        static const char *const steps[] = {"is QUEUED", "is PLANNING", "is STARTING", "is RUNNING",
                                            "has COMPLETED"};
        size_t from = 0;
        for (size_t j = 0; j < sizeof(steps) / sizeof(*steps); j++) {
            const char *line =
                tg_arena_printf(f->arena, "Flow main.default.t%02d %s.\n", i, steps[j]);
            from = tg_str_find(tg_buf_str(&f->messages), tg_str_from(line), from);
            assert_int_not_equal(from, SIZE_MAX);
        }
    }
}

/* One fails: its reader is skipped, the others go on. */
static void test_failure_beside_others(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", two_days);
    run_at_once(f, 4);
    tg_fake_meet_in_run(f->engine, 2);
    tg_fake_fail_next_run(f->engine, TG_E_TIDEGATE_ENGINE_ERROR, "no more");
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_FAILED);
    assert_int_equal(f->result.failed_count, 1);
    assert_int_equal(f->result.skipped_count, 1);
    bool a_failed = result_of(f, "a")->status == TG_FLOW_FAILED; /* whichever was the first */
    check(f, a_failed ? "b" : "a", TG_FLOW_COMPLETED, "COMPLETE_REPLACE_WHERE", 0);
    check(f, "c", TG_FLOW_SKIPPED, NULL, -1);
    assert_non_null(result_of(f, a_failed ? "a" : "b")->error);
}

static void cancel_now(fixture *f)
{
    __atomic_store_n(&f->cancelled, 1, __ATOMIC_RELAXED);
}

/* What has begun ends by itself; what reads from it is stopped. */
static void test_cancelled_beside_others(void **state)
{
    fixture *f = *state;
    write_file(f, "src/a.sql", two_days);
    run_at_once(f, 2);
    f->at_start = cancel_now;
    run_all(f);
    assert_int_equal(f->result.state, TG_UPDATE_CANCELED);
    check(f, "c", TG_FLOW_STOPPED, NULL, -1);
    for (const char *name = "ab"; *name; name++) {
        tg_flow_status status = result_of(f, (const char[]){*name, 0})->status;
        assert_true(status == TG_FLOW_COMPLETED || status == TG_FLOW_STOPPED);
    }
}

int main(void)
{
#define WORKERS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WORKERS_TEST(test_flows_run_at_once),
        WORKERS_TEST(test_events_of_flows_at_once),
        WORKERS_TEST(test_failure_beside_others),
        WORKERS_TEST(test_cancelled_beside_others),
    };
    return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
