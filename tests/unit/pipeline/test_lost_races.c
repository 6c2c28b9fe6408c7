/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A refresh that loses one race after the other keeps nothing of the plans that lost: it may lose
 * hundreds beside a busy writer.
 */
#include "support/test.h"

#include "engine/fake/fake_engine.h"
#include "fs/fs.h"
#include "pipeline/pipeline.h"

enum { RACES = 6 };

/* The runs of the fake engine, each of which loses to a commit in its window. */
static struct {
    tg_engine *engine;
    tg_code (*run)(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                   tg_arena *arena, tg_run_result *out_result, tg_error *err);
    int lost, alive, most; /* alive: runs whose memory was not given back */
} busy;

static void give_back(void *object)
{
    (void)object;
    busy.alive--;
}

static tg_code lose(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                    tg_arena *arena, tg_run_result *out_result, tg_error *err)
{
    const tg_commit_fact rival = {.changes_data = true, .hull = tg_region_all()};
    busy.alive++;
    busy.most = busy.alive > busy.most ? busy.alive : busy.most;
    tg_arena_defer(arena, give_back, NULL);
    if (busy.lost < RACES && program->target.read_version >= 0) {
        busy.lost++;
        tg_fake_lose_next_race(busy.engine, &rival, 1);
    }
    return busy.run(self, program, hooks, arena, out_result, err);
}

/* Another process does the same work first. */
static tg_code be_beaten(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                         tg_arena *arena, tg_run_result *out_result, tg_error *err)
{
    TG_TRY(busy.run(self, program, hooks, arena, out_result, err));
    TG_FAIL(err, TIDEGATE_SOURCE_CHANGED, "somebody was faster");
}

static void write_file(tg_arena *arena, tg_str folder, const char *name, const char *text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str path = tg_path_join(arena, folder, tg_str_from(name));
    assert_ok(tg_fs_make_folders(tg_fs_local(), tg_path_dirname(path), &err), &err);
    assert_ok(tg_fs_write_replace(tg_fs_local(), path, tg_str_from(text), &err), &err);
}

static void add_source(tg_arena *arena, tg_str folder)
{
    const tg_field field = {.name = TG_S("a"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    const tg_table_facts facts = {.exists = true,
                                  .table_id = TG_S("11111111-1111-4111-8111-111111111111"),
                                  .schema = {&field, 1}};
    tg_str path = tg_path_join(arena, folder, TG_S("warehouse/main/default/src"));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str log = tg_path_join(arena, path, TG_S("_delta_log"));
    assert_ok(tg_fs_make_folders(tg_fs_local(), log, &err), &err);
    tg_fake_add_table(busy.engine, path, &facts);
}

/* A pipeline's folder, and an engine that has its source. */
static tg_str begin(tg_arena *arena)
{
    tg_str folder = tg_str_from(tg_test_folder(arena));
    busy.engine = tg_engine_fake_new();
    busy.run = busy.engine->run;
    write_file(arena, folder, "spark-pipeline.yml",
               "name: test\nstorage: storage\nlibraries:\n  - glob: {include: \"src/**\"}\n");
    add_source(arena, folder);
    return folder;
}

static void update(tg_arena *arena, tg_str folder, const char *window, tg_update_result *result)
{
    tg_diags diags = TG_DIAGS_INIT;
    const tg_spec *spec;
    const tg_graph *graph;
    const tg_update_options options = {.now = TG_S("2024-03-05T12:00:00Z"), .explain = true};
    const tg_update_context context = {
        .fs = tg_fs_local(), .env = tg_env_system(), .engine = busy.engine};
    write_file(arena, folder, "src/a.sql",
               tg_arena_printf(arena,
                               "CREATE STREAMING TABLE t FLOW REPLACE WHERE %s BY NAME "
                               "SELECT * FROM src",
                               window));
    assert_ok(tg_spec_load(tg_fs_local(), (tg_str){0}, folder, arena, &spec, &diags), NULL);
    assert_ok(tg_graph_build(spec, tg_fs_local(), arena, &graph, &diags), NULL);
    assert_ok(tg_update_run(&context, graph, &options, arena, result, &diags),
              diags.count ? &diags.items[0] : NULL);
    tg_diags_dispose(&diags);
}

static void test_plans_that_lost_are_given_back(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_update_result result;
    tg_str folder = begin(arena);
    busy.engine->run = lose;
    update(arena, folder, "a = 1", &result);
    update(arena, folder, "a = 2", &result);
    const tg_flow_result *flow = &result.flows[0];
    assert_int_equal(busy.lost, RACES);
    assert_int_equal(flow->committed_version, RACES + 1);
    assert_str(flow->window, "a = 2"); /* of the last plan, and readable after all */
    assert_true(flow->program.len > 0);
    assert_string_equal(flow->pieces[0].treatment, "RECOMPUTE");
    assert_in_range(busy.most, 1, 3); /* the first update's, the first of this one, the last */
    busy.engine->close(busy.engine->self);
}

static void test_nothing_is_left_to_do_after_a_lost_race(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_update_result result;
    tg_str folder = begin(arena);
    update(arena, folder, "a = 1", &result);
    busy.engine->run = be_beaten;
    update(arena, folder, "a = 2", &result);
    const tg_flow_result *flow = &result.flows[0];
    assert_string_equal(flow->technique, "NO_OP");
    assert_int_equal(flow->committed_version, -1);
    assert_int_equal(flow->program.len,
                     0); /* the plan that lost is gone, and its program with it */
    busy.engine->close(busy.engine->self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_that_lost_are_given_back),
        cmocka_unit_test(test_nothing_is_left_to_do_after_a_lost_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
