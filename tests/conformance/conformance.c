/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of level 2: facts, states, commits, races. See conformance.h. */
#include "conformance/conformance.h"

#include <pthread.h>

static const char table_id[] = "7a1c2f9e-0000-4000-8000-000000000001";
static const char app_text[] = "tidegate/7a1c2f9e/main.default.f";
static const tg_str app = {app_text, sizeof app_text - 1};

/* A call that must fail: with this code, and with a message. */
static void assert_fails(tg_code code, tg_code expected, tg_error *err)
{
    assert_int_equal(code, expected);
    assert_int_equal(err->code, expected);
    assert_true(err->message && err->message[0]);
    tg_error_clear(err);
}

/* ---- programs -------------------------------------------------------------------------------- */

static tg_schema two_columns(tg_arena *arena)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, 2);
    fields[0] = (tg_field){.name = TG_S("d"), .type = tg_type_of(TG_TYPE_DATE), .nullable = true};
    fields[1] =
        (tg_field){.name = TG_S("Amount"), .type = tg_type_decimal(arena, 12, 2), .nullable = true};
    return (tg_schema){fields, 2};
}

static tg_schema three_columns(tg_arena *arena)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, 3);
    tg_schema two = two_columns(arena);
    fields[0] = two.fields[0];
    fields[1] = two.fields[1];
    fields[2] =
        (tg_field){.name = TG_S("note"), .type = tg_type_of(TG_TYPE_STRING), .nullable = true};
    return (tg_schema){fields, 3};
}

static tg_program *new_program(conformance *c, int64_t read_version, const char *operation)
{
    tg_step *steps = TG_NEW_ARRAY(c->arena, tg_step, 1);
    steps[0].kind = TG_STEP_COMMIT;
    tg_program *program = TG_NEW(c->arena, tg_program);
    program->target.name = TG_S("main.default.t");
    program->target.path = c->path;
    program->target.read_version = read_version;
    program->target.table_id = tg_str_from(table_id);
    program->target.schema = two_columns(c->arena);
    program->steps = steps;
    program->step_count = 1;
    program->operation = tg_str_from(operation);
    program->zone = tg_zone_utc();
    program->now_us = INT64_C(1700000000000000);
    return program;
}

static tg_program *create_program(conformance *c)
{
    tg_program *program = new_program(c, -1, "CREATE TABLE");
    tg_str *partitions = TG_NEW_ARRAY(c->arena, tg_str, 1);
    partitions[0] = TG_S("d");
    tg_property *properties = TG_NEW_ARRAY(c->arena, tg_property, 1);
    properties[0] = (tg_property){.key = TG_S("owner.team"), .value = TG_S("tide")};
    program->target.partition_columns = partitions;
    program->target.partition_count = 1;
    program->target.properties = properties;
    program->target.property_count = 1;
    program->target.comment = TG_S("a table");
    return program;
}

/* Without hooks; must succeed. */
static tg_run_result run_ok(conformance *c, const tg_program *program)
{
    tg_run_result result;
    assert_ok(c->engine->run(c->engine->self, program, NULL, c->arena, &result, &c->error),
              &c->error);
    return result;
}

static void create_table(conformance *c)
{
    assert_int_equal(run_ok(c, create_program(c)).committed_version, 0);
}

static tg_pin identity_at(conformance *c, int64_t version)
{
    tg_pin pin;
    assert_ok(c->engine->identity(c->engine->self, TG_FORMAT_DELTA, c->path, version, c->arena,
                                  &pin, &c->error),
              &c->error);
    return pin;
}

static tg_table_facts facts_now(conformance *c)
{
    tg_table_facts facts;
    assert_ok(c->engine->table_facts(c->engine->self, c->path, c->arena, &facts, &c->error),
              &c->error);
    return facts;
}

/* A program on top of the table as it is, which changes nothing but what the caller then sets. */
static tg_program *program_on(conformance *c, const char *operation)
{
    tg_table_facts facts = facts_now(c);
    tg_program *program = new_program(c, facts.version, operation);
    program->target.schema = facts.schema;
    program->target.partition_columns = facts.partition_columns;
    program->target.partition_count = facts.partition_count;
    program->target.properties = facts.properties;
    program->target.property_count = facts.property_count;
    program->target.comment = facts.comment;
    return program;
}

static tg_program *state_program(conformance *c)
{
    tg_program *program = program_on(c, "STREAMING UPDATE");
    program->is_state_only = true;
    program->app_id = app;
    return program;
}

/* A metadata commit with one more property, or one more column. */
static tg_program *alter_program(conformance *c, bool adds_column)
{
    tg_program *program = program_on(c, adds_column ? "ADD COLUMNS" : "SET TBLPROPERTIES");
    program->target.changes_metadata = true;
    if (adds_column) {
        program->target.schema = three_columns(c->arena);
    } else {
        tg_property *properties =
            TG_NEW_ARRAY(c->arena, tg_property, program->target.property_count + 1);
        memcpy(properties, program->target.properties,
               program->target.property_count * sizeof *properties);
        properties[program->target.property_count] =
            (tg_property){.key = TG_S("more"), .value = TG_S("1")};
        program->target.properties = properties;
        program->target.property_count++;
    }
    return program;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

/* What a hook does and what it saw. */
typedef struct script {
    conformance *c;
    tg_program *rival; /* run by the first call, so that the attempt is lost */
    bool rerun_after_race, fails;
    int calls;
    int64_t read_version; /* of the last call */
    size_t winner_count;
    tg_commit_fact winner; /* last one of the last call */
} script;

static tg_code scripted(void *self, int64_t read_version, const tg_commit_fact *winners,
                        size_t winner_count, tg_arena *arena, tg_str *out_state, bool *out_rerun,
                        tg_error *err)
{
    script *s = self;
    s->calls++;
    s->read_version = read_version;
    s->winner_count = winner_count;
    if (winner_count) {
        s->winner = winners[winner_count - 1];
    }
    if (s->fails) {
        TG_FAIL(err, TIDEGATE_IO, "the hook fails");
    }
    if (s->calls == 1 && s->rival) {
        tg_run_result result;
        TG_TRY(s->c->engine->run(s->c->engine->self, s->rival, NULL, arena, &result, err));
    }
    *out_state = tg_str_printf(arena, "{\"call\":%d}", s->calls);
    *out_rerun = s->calls > 1 && s->rerun_after_race;
    return TG_OK;
}

static tg_code run_scripted(script *s, const tg_program *program, tg_run_result *out_result,
                            tg_error *err)
{
    tg_commit_hooks hooks = {.before_attempt = scripted, .self = s};
    return s->c->engine->run(s->c->engine->self, program, &hooks, s->c->arena, out_result, err);
}

/* ---- tests: tables --------------------------------------------------------------------------- */

static void absent_table(void **state)
{
    conformance *c = *state;
    assert_false(facts_now(c).exists);
    tg_pin pin;
    assert_fails(c->engine->identity(c->engine->self, TG_FORMAT_DELTA, c->path, -1, c->arena, &pin,
                                     &c->error),
                 TG_NOT_FOUND, &c->error);
    const tg_table *table;
    assert_fails(c->engine->describe(c->engine->self, TG_FORMAT_DELTA, c->path, -1, NULL, 0,
                                     TG_S("t"), c->arena, &table, &c->error),
                 TG_NOT_FOUND, &c->error);
    assert_fails(c->engine->drop(c->engine->self, c->path, &c->error), TG_NOT_FOUND, &c->error);
}

static void target_is_checked_without_a_table(void **state)
{
    conformance *c = *state;
    tg_program_target target = new_program(c, -1, "CREATE TABLE")->target;
    tg_str columns[] = {TG_S("Amount"), TG_S("missing")};
    target.partition_columns = columns;
    target.partition_count = 1;
    assert_ok(c->engine->check_target(c->engine->self, &target, &c->error), &c->error);
    target.partition_count = 2;
    assert_fails(c->engine->check_target(c->engine->self, &target, &c->error), TG_INVALID_ARGUMENT,
                 &c->error);
    assert_false(facts_now(c).exists);
}

static void zones_of_regions(void **state)
{
    conformance *c = *state;
    static const char *const names[] = {"UTC", "Asia/Kolkata", "GMT+2", "Z"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const tg_zone *zone;
        assert_ok(tg_zone_load(tg_str_from(names[i]), c->arena, &zone, &c->error), &c->error);
        assert_ok(c->engine->check_zone(c->engine->self, zone, &c->error), &c->error);
    }
}

static void create_gives_facts(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_table_facts facts = facts_now(c);
    assert_true(facts.exists);
    assert_int_equal(facts.version, 0);
    assert_str(facts.table_id, table_id);
    assert_int_equal(facts.schema.count, 2);
    assert_str(facts.schema.fields[1].name, "Amount");
    assert_true(tg_type_equal(facts.schema.fields[1].type, tg_type_decimal(c->arena, 12, 2)));
    assert_int_equal(facts.partition_count, 1);
    assert_str(facts.partition_columns[0], "d");
    assert_int_equal(facts.property_count, 1);
    assert_str(facts.properties[0].value, "tide");
    assert_str(facts.comment, "a table");
}

static void describe_and_identity_agree(void **state)
{
    conformance *c = *state;
    create_table(c);
    const tg_table *table;
    assert_ok(c->engine->describe(c->engine->self, TG_FORMAT_DELTA, c->path, -1, NULL, 0,
                                  TG_S("main.default.t"), c->arena, &table, &c->error),
              &c->error);
    assert_int_equal(table->version, 0);
    assert_int_equal(table->schema.count, 2);
    assert_int_equal(table->partition_count, 1);
    assert_str(table->name, "main.default.t");
    tg_pin newest = identity_at(c, -1), first = identity_at(c, 0);
    assert_int_equal(newest.version, 0);
    assert_memory_equal(&newest.digest, &first.digest, sizeof newest.digest);
    tg_table_facts facts = facts_now(c);
    assert_memory_equal(&newest.digest, &facts.digest, sizeof newest.digest);
}

static void digests_differ_by_version(void **state)
{
    conformance *c = *state;
    create_table(c);
    (void)run_ok(c, alter_program(c, false));
    tg_pin a = identity_at(c, 0), b = identity_at(c, 1);
    assert_memory_not_equal(&a.digest, &b.digest, sizeof a.digest);
}

static void missing_version(void **state)
{
    conformance *c = *state;
    create_table(c);
    const tg_table *table;
    assert_fails(c->engine->describe(c->engine->self, TG_FORMAT_DELTA, c->path, 7, NULL, 0,
                                     TG_S("t"), c->arena, &table, &c->error),
                 TG_NOT_FOUND, &c->error);
}

static void create_twice_is_conflict(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_run_result result;
    assert_fails(
        c->engine->run(c->engine->self, create_program(c), NULL, c->arena, &result, &c->error),
        TG_CONFLICT, &c->error);
    assert_int_equal(facts_now(c).version, 0);
}

static void drop_removes(void **state)
{
    conformance *c = *state;
    create_table(c);
    assert_ok(c->engine->drop(c->engine->self, c->path, &c->error), &c->error);
    assert_false(facts_now(c).exists);
    create_table(c);
    assert_int_equal(facts_now(c).version, 0);
}

/* ---- tests: definitions ---------------------------------------------------------------------- */

static tg_commit_fact only_commit(conformance *c, int64_t from, int64_t to, tg_str app_id)
{
    tg_commit_fact *facts;
    size_t count;
    assert_ok(c->engine->commits_since(c->engine->self, c->path, from, to, app_id, tg_zone_utc(),
                                       c->arena, &facts, &count, &c->error),
              &c->error);
    assert_int_equal(count, 1);
    return facts[0];
}

static void property_is_no_schema_change(void **state)
{
    conformance *c = *state;
    create_table(c);
    assert_int_equal(run_ok(c, alter_program(c, false)).committed_version, 1);
    assert_int_equal(facts_now(c).property_count, 2);
    tg_commit_fact fact = only_commit(c, 0, 1, app);
    assert_false(fact.changes_schema);
    assert_false(fact.changes_data);
    assert_true(tg_region_is_none(fact.hull));
}

static void new_column_is_schema_change(void **state)
{
    conformance *c = *state;
    create_table(c);
    (void)run_ok(c, alter_program(c, true));
    assert_int_equal(facts_now(c).schema.count, 3);
    tg_commit_fact fact = only_commit(c, 0, 1, app);
    assert_true(fact.changes_schema);
    assert_true(tg_region_is_all(fact.hull));
    const tg_table *before;
    assert_ok(c->engine->describe(c->engine->self, TG_FORMAT_DELTA, c->path, 0, NULL, 0, TG_S("t"),
                                  c->arena, &before, &c->error),
              &c->error);
    assert_int_equal(before->schema.count, 2);
}

/* ---- tests: states --------------------------------------------------------------------------- */

static tg_state_facts state_at(conformance *c, tg_str app_id, int64_t version)
{
    tg_state_facts found;
    assert_ok(c->engine->table_state(c->engine->self, c->path, app_id, version, c->arena, &found,
                                     &c->error),
              &c->error);
    return found;
}

static void state_commit(void **state)
{
    conformance *c = *state;
    create_table(c);
    script s = {.c = c};
    tg_run_result result;
    assert_ok(run_scripted(&s, state_program(c), &result, &c->error), &c->error);
    assert_int_equal(result.committed_version, 1);
    assert_int_equal(result.attempts, 1);
    assert_int_equal(result.files_added + result.files_removed, 0);
    assert_int_equal(s.read_version, 0);
    assert_int_equal(s.winner_count, 0);

    tg_state_facts found = state_at(c, app, 1);
    assert_true(found.has_txn);
    assert_int_equal(found.state_version, 1);
    assert_str(found.state, "{\"call\":1}");
    assert_false(state_at(c, app, 0).has_txn);
    assert_false(state_at(c, TG_S("tidegate/other"), 1).has_txn);

    tg_commit_fact fact = only_commit(c, 0, 1, app);
    assert_false(fact.changes_data || fact.changes_schema || fact.is_missing);
    assert_str(fact.app_id, app_text);
    assert_str(fact.state, "{\"call\":1}");
    fact = only_commit(c, 0, 1, TG_S("tidegate/other"));
    assert_int_equal(fact.app_id.len + fact.state.len, 0);
}

static void newest_state_wins(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_run_result result;
    for (int i = 0; i < 3; i++) {
        script s = {.c = c, .calls = i * 10};
        assert_ok(run_scripted(&s, state_program(c), &result, &c->error), &c->error);
    }
    tg_state_facts found = state_at(c, app, 3);
    assert_int_equal(found.state_version, 3);
    assert_str(found.state, "{\"call\":21}");
    assert_str(state_at(c, app, 2).state, "{\"call\":11}");
}

static void commits_since_is_a_range(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_run_result result;
    for (int i = 0; i < 3; i++) {
        script s = {.c = c};
        assert_ok(run_scripted(&s, state_program(c), &result, &c->error), &c->error);
    }
    tg_commit_fact *facts;
    size_t count;
    assert_ok(c->engine->commits_since(c->engine->self, c->path, 1, 3, app, tg_zone_utc(), c->arena,
                                       &facts, &count, &c->error),
              &c->error);
    assert_int_equal(count, 2);
    assert_int_equal(facts[0].version, 2);
    assert_int_equal(facts[1].version, 3);
    assert_ok(c->engine->commits_since(c->engine->self, c->path, 3, 3, app, tg_zone_utc(), c->arena,
                                       &facts, &count, &c->error),
              &c->error);
    assert_int_equal(count, 0);
}

/* ---- tests: races ---------------------------------------------------------------------------- */

static void lost_race_is_rebased(void **state)
{
    conformance *c = *state;
    create_table(c);
    script s = {.c = c, .rival = alter_program(c, false)};
    tg_run_result result;
    assert_ok(run_scripted(&s, state_program(c), &result, &c->error), &c->error);
    assert_int_equal(result.committed_version, 2);
    assert_int_equal(result.attempts, 2);
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.read_version, 1);
    assert_int_equal(s.winner_count, 1);
    assert_int_equal(s.winner.version, 1);
    assert_false(s.winner.changes_data);
    tg_state_facts found = state_at(c, app, 2);
    assert_int_equal(found.state_version, 2);
    assert_str(found.state, "{\"call\":2}");
}

static void own_winner_carries_its_state(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_program *rival = state_program(c);
    script s = {.c = c, .rival = rival};
    tg_run_result result;
    /* The rival runs without hooks: its state is empty, but it is a commit of the same flow. */
    assert_ok(run_scripted(&s, state_program(c), &result, &c->error), &c->error);
    assert_str(s.winner.app_id, app_text);
    assert_int_equal(result.committed_version, 2);
}

static void rerun_is_conflict(void **state)
{
    conformance *c = *state;
    create_table(c);
    script s = {.c = c, .rival = alter_program(c, false), .rerun_after_race = true};
    tg_run_result result;
    assert_fails(run_scripted(&s, state_program(c), &result, &c->error), TG_CONFLICT, &c->error);
    assert_int_equal(facts_now(c).version, 1);
    assert_false(state_at(c, app, 1).has_txn);
}

static void schema_winner_is_conflict(void **state)
{
    conformance *c = *state;
    create_table(c);
    script s = {.c = c, .rival = alter_program(c, true)};
    tg_run_result result;
    assert_fails(run_scripted(&s, state_program(c), &result, &c->error), TG_CONFLICT, &c->error);
    assert_int_equal(s.calls, 1); /* answered by the engine itself */
    assert_int_equal(facts_now(c).version, 1);
}

static void failing_hook_commits_nothing(void **state)
{
    conformance *c = *state;
    create_table(c);
    script s = {.c = c, .fails = true};
    tg_run_result result;
    assert_fails(run_scripted(&s, state_program(c), &result, &c->error), TG_IO, &c->error);
    assert_int_equal(facts_now(c).version, 0);
}

static void other_table_id_is_conflict(void **state)
{
    conformance *c = *state;
    create_table(c);
    tg_program *program = state_program(c);
    program->target.table_id = TG_S("7a1c2f9e-0000-4000-8000-00000000dead");
    script s = {.c = c};
    tg_run_result result;
    assert_fails(run_scripted(&s, program, &result, &c->error), TG_CONFLICT, &c->error);
    assert_int_equal(facts_now(c).version, 0);
}

/* ---- tests: siblings -------------------------------------------------------------------------- */

static bool has_siblings(conformance *c)
{
    return c->engine->capabilities & TG_ENGINE_SIBLINGS;
}

static tg_engine *sibling_of(conformance *c)
{
    tg_engine *sibling;
    assert_ok(c->engine->sibling(c->engine->self, &sibling, &c->error), &c->error);
    assert_string_equal(sibling->name, c->engine->name);
    assert_int_equal(sibling->capabilities, c->engine->capabilities);
    return sibling;
}

static void siblings_are_declared(void **state)
{
    conformance *c = *state;
    tg_engine *sibling = NULL;
    if (has_siblings(c)) {
        sibling = sibling_of(c);
        sibling->close(sibling->self);
    } else {
        assert_fails(c->engine->sibling(c->engine->self, &sibling, &c->error), TG_UNSUPPORTED,
                     &c->error);
    }
}

/* Both ways, and after the engine that it came from was closed. */
static void siblings_see_each_others_commits(void **state)
{
    conformance *c = *state;
    if (!has_siblings(c)) {
        return;
    }
    tg_engine *first = c->engine, *second = sibling_of(c);
    create_table(c);
    c->engine = second;
    assert_int_equal(facts_now(c).version, 0);
    assert_int_equal(run_ok(c, state_program(c)).committed_version, 1);
    first->close(first->self);
    assert_int_equal(facts_now(c).version, 1);
    assert_int_equal(run_ok(c, alter_program(c, true)).committed_version, 2);
}

/* A thread with an engine of its own, which commits states to a table again and again. */
typedef struct committer {
    conformance c;
    pthread_t thread;
} committer;

enum { COMMITTERS = 4, COMMITS = 2 }; /* no checkpoint: none of this needs a library */

static void *commit_states(void *argument)
{
    conformance *c = argument;
    for (int i = 0; i < COMMITS; i++) {
        script s = {.c = c};
        tg_run_result result;
        if (run_scripted(&s, state_program(c), &result, &c->error) != TG_OK) {
            return c;
        }
    }
    return NULL;
}

static void siblings_commit_at_the_same_time(void **state)
{
    conformance *c = *state;
    if (!has_siblings(c)) {
        return;
    }
    create_table(c);
    committer committers[COMMITTERS];
    for (size_t i = 0; i < COMMITTERS; i++) {
        committers[i].c =
            (conformance){.engine = sibling_of(c), .arena = tg_arena_new(), .path = c->path};
        assert_int_equal(
            pthread_create(&committers[i].thread, NULL, commit_states, &committers[i].c), 0);
    }
    for (size_t i = 0; i < COMMITTERS; i++) {
        void *failed;
        conformance *other = &committers[i].c;
        (void)pthread_join(committers[i].thread, &failed);
        assert_ok(failed ? other->error.code : TG_OK, &other->error);
        other->engine->close(other->engine->self);
        tg_arena_free(other->arena);
    }
    assert_int_equal(facts_now(c).version, COMMITTERS * COMMITS);
}

int run_conformance(const char *name, int (*setup)(void **state), int (*teardown)(void **state))
{
#define CONFORMANCE_TEST(function)                 \
    {                                              \
#function, function, setup, teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        CONFORMANCE_TEST(absent_table),
        CONFORMANCE_TEST(target_is_checked_without_a_table),
        CONFORMANCE_TEST(zones_of_regions),
        CONFORMANCE_TEST(create_gives_facts),
        CONFORMANCE_TEST(describe_and_identity_agree),
        CONFORMANCE_TEST(digests_differ_by_version),
        CONFORMANCE_TEST(missing_version),
        CONFORMANCE_TEST(create_twice_is_conflict),
        CONFORMANCE_TEST(drop_removes),
        CONFORMANCE_TEST(property_is_no_schema_change),
        CONFORMANCE_TEST(new_column_is_schema_change),
        CONFORMANCE_TEST(state_commit),
        CONFORMANCE_TEST(newest_state_wins),
        CONFORMANCE_TEST(commits_since_is_a_range),
        CONFORMANCE_TEST(lost_race_is_rebased),
        CONFORMANCE_TEST(own_winner_carries_its_state),
        CONFORMANCE_TEST(rerun_is_conflict),
        CONFORMANCE_TEST(schema_winner_is_conflict),
        CONFORMANCE_TEST(failing_hook_commits_nothing),
        CONFORMANCE_TEST(other_table_id_is_conflict),
        CONFORMANCE_TEST(siblings_are_declared),
        CONFORMANCE_TEST(siblings_see_each_others_commits),
        CONFORMANCE_TEST(siblings_commit_at_the_same_time),
    };
#undef CONFORMANCE_TEST
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
