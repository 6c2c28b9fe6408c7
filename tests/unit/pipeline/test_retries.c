/* SPDX-License-Identifier: Apache-2.0 */
/* Failures that time mends are tried again, within limits; others are not. */
#include "support/test.h"

#include "engine/fake/fake_engine.h"
#include "fs/fs.h"
#include "pipeline/pipeline.h"
#include "pipeline/update_int.h"

/* An engine whose first runs fail, a clock that makes waiting short, and what was told. */
static struct {
    tg_engine *engine;
    tg_code (*run)(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                   tg_arena *arena, tg_run_result *out_result, tg_error *err);
    tg_error_class cls;
    int failures, tries, looks, warnings, queued;
    int64_t ns;
    volatile sig_atomic_t cancelled;
    int cancel_at; /* the look at the clock that cancels; 0: none */
} world;

static tg_code fail_some(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                         tg_arena *arena, tg_run_result *out_result, tg_error *err)
{
    world.tries++;
    if (world.failures > 0) {
        world.failures--;
        return tg_error_set(err, world.cls, __FILE__, __LINE__, "not now");
    }
    return world.run(self, program, hooks, arena, out_result, err);
}

/* Ten seconds pass between two looks. */
static int64_t jump(void *self)
{
    (void)self;
    world.looks++;
    if (world.cancel_at && world.tries >= world.cancel_at) {
        world.cancelled = 1;
    }
    return world.ns += INT64_C(10000000000);
}

static void listen(void *self, const tg_event *event, tg_str line)
{
    (void)self;
    bool is_retry = event->type == TG_EVENT_FLOW_WARNING;
    world.warnings += is_retry;
    world.queued += event->type == TG_EVENT_FLOW_PROGRESS &&
                    tg_str_find(line, TG_S("\"QUEUED\""), 0) != SIZE_MAX;
    if (is_retry) {
        assert_true(tg_str_find(line, TG_S("\"kind\":\"RETRIED\""), 0) != SIZE_MAX);
        assert_true(tg_str_find(event->message, TG_S("not now"), 0) != SIZE_MAX);
        assert_int_equal(event->level, TG_LEVEL_WARN);
    }
}

static void write_file(tg_arena *arena, tg_str folder, const char *name, const char *text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str path = tg_path_join(arena, folder, tg_str_from(name));
    assert_ok(tg_fs_make_folders(tg_fs_local(), tg_path_dirname(path), &err), &err);
    assert_ok(tg_fs_write_replace(tg_fs_local(), path, tg_str_from(text), &err), &err);
}

static tg_str begin(tg_arena *arena, const char *configuration)
{
    tg_str folder = tg_str_from(tg_test_folder(arena));
    memset(&world, 0, sizeof(world));
    world.engine = tg_engine_fake_new();
    world.run = world.engine->run;
    world.engine->run = fail_some;
    tg_fake_set_capabilities(world.engine, 0); /* one flow after the other */
    write_file(arena, folder, "spark-pipeline.yml",
               tg_arena_printf(arena,
                               "name: test\nstorage: storage\nconfiguration: {%s}\n"
                               "libraries:\n  - glob: {include: \"src/**\"}\n",
                               configuration));
    write_file(arena, folder, "src/a.sql",
               "CREATE STREAMING TABLE t FLOW REPLACE WHERE a > 0 BY NAME SELECT a FROM src;\n"
               "CREATE STREAMING TABLE below FLOW REPLACE WHERE a > 0 BY NAME SELECT a FROM t;\n");
    const tg_field field = {.name = TG_S("a"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    const tg_table_facts facts = {.exists = true,
                                  .table_id = TG_S("11111111-1111-4111-8111-111111111111"),
                                  .schema = {&field, 1}};
    tg_str path = tg_path_join(arena, folder, TG_S("warehouse/main/default/src"));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str log = tg_path_join(arena, path, TG_S("_delta_log"));
    assert_ok(tg_fs_make_folders(tg_fs_local(), log, &err), &err);
    tg_fake_add_table(world.engine, path, &facts);
    return folder;
}

static void update(tg_arena *arena, tg_str folder, const char *cause, tg_update_result *result)
{
    tg_diags diags = TG_DIAGS_INIT;
    const tg_spec *spec;
    const tg_graph *graph;
    const tg_event_sink sink = {.event = listen};
    const tg_update_options options = {
        .now = TG_S("2024-03-05T12:00:00Z"), .cause = cause, .sink = &sink};
    tg_env env = *tg_env_system();
    env.monotonic_ns = jump;
    env.cancelled = &world.cancelled;
    const tg_update_context context = {.fs = tg_fs_local(), .env = &env, .engine = world.engine};
    assert_ok(tg_spec_load(tg_fs_local(), (tg_str){0}, folder, arena, &spec, &diags),
              diags.count ? &diags.items[0] : NULL);
    assert_ok(tg_graph_build(spec, tg_fs_local(), arena, &graph, &diags), NULL);
    assert_ok(tg_update_run(&context, graph, &options, arena, result, &diags),
              diags.count ? &diags.items[0] : NULL);
    tg_diags_dispose(&diags);
    world.engine->close(world.engine->self);
}

typedef struct retry_case {
    const char *configuration, *cause;
    tg_error_class cls;
    int failures; /* of the first runs */
    int tries;    /* of both flows */
    int warnings;
    tg_flow_status first, second;
} retry_case;

static const retry_case CASES[] = {
    /* twice more, by default */
    {"", NULL, TG_E_TIDEGATE_IO, 0, 2, 0, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
    {"", NULL, TG_E_TIDEGATE_IO, 1, 3, 1, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
    {"", NULL, TG_E_TIDEGATE_IO, 2, 4, 2, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
    {"", NULL, TG_E_TIDEGATE_IO, 3, 3, 2, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    /* never what fails in the same way again */
    {"", NULL, TG_E_DIVIDE_BY_ZERO, 1, 1, 0, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    {"", "API_CALL", TG_E_DIVIDE_BY_ZERO, 1, 1, 0, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    {"", "API_CALL", TG_E_TIDEGATE_WINDOW_SHRINKS, 1, 1, 0, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    /* as the pipeline says, without regard to case */
    {"pipelines.maxFlowRetryAttempts: '0'", NULL, TG_E_TIDEGATE_IO, 1, 1, 0, TG_FLOW_FAILED,
     TG_FLOW_SKIPPED},
    {"pipelines.maxflowretryattempts: '4'", NULL, TG_E_TIDEGATE_IO, 4, 6, 4, TG_FLOW_COMPLETED,
     TG_FLOW_COMPLETED},
    {"pipelines.maxFlowRetryAttempts: '4'", NULL, TG_E_TIDEGATE_IO, 5, 5, 4, TG_FLOW_FAILED,
     TG_FLOW_SKIPPED},
    /* an update that nobody waits for: five times more, each with three tries */
    {"", "API_CALL", TG_E_TIDEGATE_IO, 3, 5, 3, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
    {"", "API_CALL", TG_E_TIDEGATE_IO, 17, 19, 17, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
    {"", "API_CALL", TG_E_TIDEGATE_IO, 18, 18, 17, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    {"pipelines.numUpdateRetryAttempts: '0'", "API_CALL", TG_E_TIDEGATE_IO, 3, 3, 2, TG_FLOW_FAILED,
     TG_FLOW_SKIPPED},
    {"", "USER_ACTION", TG_E_TIDEGATE_IO, 3, 3, 2, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    {"", "RETRY_ON_FAILURE", TG_E_TIDEGATE_IO, 3, 3, 2, TG_FLOW_FAILED, TG_FLOW_SKIPPED},
    {"pipelines.numUpdateRetryAttempts: '1', pipelines.maxFlowRetryAttempts: '0'", "USER_ACTION",
     TG_E_TIDEGATE_IO, 1, 3, 1, TG_FLOW_COMPLETED, TG_FLOW_COMPLETED},
};

static void test_how_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const retry_case *c = &CASES[i];
        tg_auto_arena tg_arena *arena = tg_arena_new();
        tg_update_result result;
        tg_str folder = begin(arena, c->configuration);
        world.cls = c->cls;
        world.failures = c->failures;
        update(arena, folder, c->cause, &result);
        if (world.tries != c->tries || world.warnings != c->warnings ||
            result.flows[0].status != c->first || result.flows[1].status != c->second) {
            fail_msg("case %zu: %d tries, %d warnings, %s, %s", i, world.tries, world.warnings,
                     tg_flow_status_name(result.flows[0].status),
                     tg_flow_status_name(result.flows[1].status));
        }
        bool is_failed = c->first == TG_FLOW_FAILED;
        assert_int_equal(result.state, is_failed ? TG_UPDATE_FAILED : TG_UPDATE_COMPLETED);
        assert_int_equal(result.flows[0].committed_version, is_failed ? -1 : 0);
        assert_true((result.flows[0].error != NULL) == is_failed);
        assert_int_equal(result.flows[0].warning_count, (size_t)c->warnings);
    }
}

/* The second flow fails: the first one is done, and stays so. */
static void test_what_is_done_is_not_run_again(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_update_result result;
    tg_str folder = begin(arena, "pipelines.maxFlowRetryAttempts: '0'");
    world.cls = TG_E_TIDEGATE_IO;
    world.failures = 1;
    update(arena, folder, "API_CALL", &result);
    assert_int_equal(result.state, TG_UPDATE_COMPLETED);
    assert_int_equal(world.tries, 3);  /* failed, again, the one below */
    assert_int_equal(world.queued, 4); /* both, when the update began and when it was retried */
    assert_int_equal(result.flows[0].committed_version, 0);
}

static void test_cancelled_while_it_waits(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_update_result result;
    tg_str folder = begin(arena, "");
    world.cls = TG_E_TIDEGATE_IO;
    world.failures = 100;
    world.cancel_at = 2;
    update(arena, folder, "API_CALL", &result);
    assert_int_equal(world.tries, 2);
    assert_int_equal(result.state, TG_UPDATE_CANCELED);
    assert_int_equal(result.flows[0].status, TG_FLOW_STOPPED);
}

static void test_what_time_mends(void **state)
{
    (void)state;
    static const struct {
        tg_error_class cls;
        bool is_retryable;
    } classes[] = {
        {TG_E_TIDEGATE_IO, true},
        {TG_E_DELTA_CONCURRENT_APPEND, true}, /* races lost beyond the limit */
        {TG_E_DELTA_MAX_COMMIT_RETRIES_EXCEEDED, true},
        {TG_E_TIDEGATE_SOURCE_CHANGED, false},
        {TG_E_TIDEGATE_DEFINITION_CHANGED, false},
        {TG_E_TIDEGATE_ENGINE_NOT_FOUND, false},
        {TG_E_DIVIDE_BY_ZERO, false},
        {TG_E_UNSUPPORTED_FEATURE, false},
        {TG_E_TIDEGATE_TABLE_NOT_OWNED, false},
        {TG_E_TIDEGATE_RESET_LOSES_ROWS, false},
        {TG_E_TIDEGATE_OUT_OF_MEMORY, false},
        {TG_E_PATH_NOT_FOUND, false},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)tg_error_set(&err, classes[i].cls, __FILE__, __LINE__, "not now");
        assert_int_equal(tg_is_retryable(&err), classes[i].is_retryable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_often),
        cmocka_unit_test(test_what_is_done_is_not_run_again),
        cmocka_unit_test(test_cancelled_while_it_waits),
        cmocka_unit_test(test_what_time_mends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
