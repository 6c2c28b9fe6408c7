/* SPDX-License-Identifier: Apache-2.0 */
/* What tests can script: foreign commits, lost races, failures, sources. The contract is in tests/conformance. */
#include "engine/fake/fake_engine.h"
#include "support/test.h"

typedef struct fixture {
    tg_arena *arena;
    tg_engine *engine;
    tg_error error;
    tg_program program; /* records a state on top of version 0 of /t */
    tg_step commit;
    int calls;
    size_t winner_count;
} fixture;

static int setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    fixture *f = TG_NEW(arena, fixture);
    f->arena = arena;
    f->engine = tg_engine_fake_new();
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, 1);
    fields[0] = (tg_field){.name = TG_S("a"), .type = tg_type_of(TG_TYPE_INT), .nullable = true};
    tg_table_facts facts = {.table_id = TG_S("id-1"), .schema = {fields, 1}};
    tg_fake_add_table(f->engine, TG_S("/t"), &facts);
    f->commit.kind = TG_STEP_COMMIT;
    f->program = (tg_program){
        .target = {.name = TG_S("t"),
                   .path = TG_S("/t"),
                   .table_id = TG_S("id-1"),
                   .schema = facts.schema},
        .steps = &f->commit,
        .step_count = 1,
        .operation = TG_S("WRITE"),
        .app_id = TG_S("app"),
        .is_state_only = true,
    };
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    f->engine->close(f->engine->self);
    tg_error_dispose(&f->error);
    tg_arena_free(f->arena);
    return 0;
}

static tg_code count_winners(void *self, int64_t read_version, const tg_commit_fact *winners,
                             size_t winner_count, tg_arena *arena, tg_str *out_state,
                             bool *out_rerun, tg_error *err)
{
    (void)read_version, (void)winners, (void)arena, (void)err;
    fixture *f = self;
    f->calls++;
    f->winner_count = winner_count;
    *out_state = TG_S("state");
    *out_rerun = false;
    return TG_OK;
}

static tg_code run(fixture *f, tg_run_result *out_result)
{
    tg_commit_hooks hooks = {.before_attempt = count_winners, .self = f};
    return f->engine->run(f->engine->self, &f->program, &hooks, f->arena, out_result, &f->error);
}

static void runs_are_recorded(void **state)
{
    fixture *f = *state;
    tg_fake_set_result(f->engine, 5, 3);
    tg_run_result result;
    assert_ok(run(f, &result), &f->error);
    assert_int_equal(result.output_rows, 5);
    assert_int_equal(result.deleted_rows, 3);
    assert_int_equal(tg_fake_run_count(f->engine), 1);
    const tg_fake_run *recorded = tg_fake_run_at(f->engine, 0);
    assert_ptr_equal(recorded->program, &f->program);
    assert_int_equal(recorded->committed_version, 1);
    assert_str(recorded->text, "target t @ 0\ncommit WRITE, state only\n");
}

static void scripted_failure(void **state)
{
    fixture *f = *state;
    tg_fake_fail_next_run(f->engine, TG_E_DIVIDE_BY_ZERO, "division by zero");
    tg_run_result result;
    assert_int_equal(run(f, &result), TG_EXECUTION);
    assert_error_class(&f->error, "DIVIDE_BY_ZERO");
    assert_int_equal(tg_fake_run_at(f->engine, 0)->committed_version, -1);
    assert_ok(run(f, &result), &f->error);
}

static void scripted_race(void **state)
{
    fixture *f = *state;
    tg_commit_fact winners[] = {{.changes_data = true, .hull = tg_region_all()}, {0}};
    tg_fake_lose_next_race(f->engine, winners, 2);
    tg_run_result result;
    assert_ok(run(f, &result), &f->error);
    assert_int_equal(result.attempts, 2);
    assert_int_equal(result.committed_version, 3);
    assert_int_equal(f->calls, 2);
    assert_int_equal(f->winner_count, 2);
    tg_commit_fact *facts;
    size_t count;
    assert_ok(f->engine->commits_since(f->engine->self, TG_S("/t"), 0, 3, TG_S("app"),
                                       tg_zone_utc(), f->arena, &facts, &count, &f->error),
              &f->error);
    assert_int_equal(count, 3);
    assert_true(facts[0].changes_data);
    assert_str(facts[2].state, "state");
}

static void without_hooks_data_is_conflict(void **state)
{
    fixture *f = *state;
    tg_commit_fact fact = {.changes_data = true, .hull = tg_region_all()};
    assert_int_equal(tg_fake_add_commit(f->engine, TG_S("/t"), &fact), 1);
    tg_run_result result;
    assert_int_equal(
        f->engine->run(f->engine->self, &f->program, NULL, f->arena, &result, &f->error),
        TG_CONFLICT);
}

static void forgotten_state(void **state)
{
    fixture *f = *state;
    tg_run_result result;
    assert_ok(run(f, &result), &f->error);
    tg_fake_forget_commit(f->engine, TG_S("/t"), 1);
    tg_state_facts found;
    assert_ok(f->engine->table_state(f->engine->self, TG_S("/t"), TG_S("app"), 1, f->arena, &found,
                                     &f->error),
              &f->error);
    assert_true(found.has_txn);
    assert_int_equal(found.state_version, -1);
}

static void sources_change(void **state)
{
    fixture *f = *state;
    tg_fake_add_source(f->engine, TG_S("/s.csv"), f->program.target.schema);
    tg_pin before, after;
    assert_ok(f->engine->identity(f->engine->self, TG_FORMAT_CSV, TG_S("/s.csv"), -1, f->arena,
                                  &before, &f->error),
              &f->error);
    tg_fake_add_source(f->engine, TG_S("/s.csv"), f->program.target.schema);
    assert_ok(f->engine->identity(f->engine->self, TG_FORMAT_CSV, TG_S("/s.csv"), -1, f->arena,
                                  &after, &f->error),
              &f->error);
    assert_memory_not_equal(&before.digest, &after.digest, sizeof before.digest);
}

static void recreated_table(void **state)
{
    fixture *f = *state;
    tg_pin before, after;
    assert_ok(f->engine->identity(f->engine->self, TG_FORMAT_DELTA, TG_S("/t"), 0, f->arena,
                                  &before, &f->error),
              &f->error);
    tg_fake_recreate_table(f->engine, TG_S("/t"), TG_S("id-2"));
    assert_ok(f->engine->identity(f->engine->self, TG_FORMAT_DELTA, TG_S("/t"), 0, f->arena, &after,
                                  &f->error),
              &f->error);
    assert_memory_not_equal(&before.digest, &after.digest, sizeof before.digest);
    tg_run_result result;
    assert_int_equal(run(f, &result), TG_CONFLICT);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(runs_are_recorded), TEST(scripted_failure),
        TEST(scripted_race),     TEST(without_hooks_data_is_conflict),
        TEST(forgotten_state),   TEST(sources_change),
        TEST(recreated_table),
    };
    return cmocka_run_group_tests_name("fake", tests, NULL, NULL);
}
