/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripted engine: a map from paths to commit lists, and level 2 of the interface over it.
 *
 * Siblings share one fake_engine behind one lock, which a thread may take again: hooks of a run
 * commit to the same engine.
 */
#include "engine/fake/fake_engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* One version of a table: what it was after the commit, and the commit as the planner sees it. */
typedef struct fake_commit {
    tg_table_facts facts;
    tg_commit_fact fact; /* app_id and state as committed, whoever asks */
} fake_commit;

typedef struct fake_table {
    tg_schema schema; /* of sources that are not Delta */
    tg_digest digest;
    TG_VEC(fake_commit) commits;
} fake_table;

typedef struct fake_engine {
    tg_engine base;
    tg_arena *arena;
    tg_map tables;
    uint64_t next_digest; /* every commit and every change of a source has its own */
    pthread_mutex_t lock; /* of everything but is_cancelled */
    size_t engine_count;  /* siblings, this one included */
    size_t meeting_size, meeting_count;
    pthread_cond_t met;
    atomic_bool is_cancelled;
    tg_error_class fail_class;
    const char *fail_message;
    const tg_commit_fact *winners;
    size_t winner_count;
    int64_t output_rows, deleted_rows;
    TG_VEC(tg_fake_run) runs;
} fake_engine;

static pthread_mutex_t *take(fake_engine *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    return &fake->lock;
}

static void release(pthread_mutex_t **lock)
{
    (void)pthread_mutex_unlock(*lock);
}

/* Until the end of the scope. */
#define HOLD(fake) pthread_mutex_t *held __attribute__((cleanup(release), unused)) = take((fake))

static tg_digest new_digest(fake_engine *fake)
{
    return (tg_digest){.high = UINT64_C(0x7469646567617465), .low = ++fake->next_digest};
}

static fake_engine *fake_of(const tg_engine *engine)
{
    return engine->self;
}

static fake_table *find_table(const fake_engine *fake, tg_str path)
{
    return tg_map_get(&fake->tables, path);
}

static fake_commit *last_commit(const fake_table *table)
{
    return &table->commits.items[table->commits.count - 1];
}

static tg_table_facts copy_facts(tg_arena *arena, const tg_table_facts *facts)
{
    tg_table_facts copy = *facts;
    copy.table_id = tg_str_copy(arena, facts->table_id);
    copy.schema = tg_schema_copy(arena, facts->schema);
    copy.comment = tg_str_copy(arena, facts->comment);
    tg_str *columns = TG_NEW_ARRAY(arena, tg_str, facts->partition_count);
    for (size_t i = 0; i < facts->partition_count; i++) {
        columns[i] = tg_str_copy(arena, facts->partition_columns[i]);
    }
    copy.partition_columns = columns;
    tg_property *properties = TG_NEW_ARRAY(arena, tg_property, facts->property_count);
    for (size_t i = 0; i < facts->property_count; i++) {
        properties[i].key = tg_str_copy(arena, facts->properties[i].key);
        properties[i].value = tg_str_copy(arena, facts->properties[i].value);
    }
    copy.properties = properties;
    return copy;
}

static int64_t push_commit(fake_engine *fake, fake_table *table, const tg_table_facts *facts,
                           const tg_commit_fact *fact)
{
    fake_commit commit = {.facts = copy_facts(fake->arena, facts), .fact = *fact};
    commit.facts.exists = true;
    commit.facts.version = (int64_t)table->commits.count;
    commit.facts.digest = new_digest(fake);
    commit.fact.version = commit.facts.version;
    commit.fact.app_id = tg_str_copy(fake->arena, fact->app_id);
    commit.fact.state = tg_str_copy(fake->arena, fact->state);
    TG_VEC_PUSH(fake->arena, &table->commits, commit);
    return commit.facts.version;
}

static fake_table *new_table(fake_engine *fake, tg_str path)
{
    fake_table *table = TG_NEW(fake->arena, fake_table);
    (void)tg_map_put(&fake->tables, tg_str_copy(fake->arena, path), table);
    return table;
}

/* ---- script ---------------------------------------------------------------------------------- */

void tg_fake_add_table(tg_engine *engine, tg_str path, const tg_table_facts *facts)
{
    fake_engine *fake = fake_of(engine);
    fake_table *table = new_table(fake, path);
    tg_commit_fact created = {.hull = tg_region_none()};
    (void)push_commit(fake, table, facts, &created);
}

void tg_fake_add_source(tg_engine *engine, tg_str path, tg_schema schema)
{
    fake_engine *fake = fake_of(engine);
    fake_table *table = find_table(fake, path);
    if (!table) {
        table = new_table(fake, path);
    }
    table->schema = tg_schema_copy(fake->arena, schema);
    table->digest = new_digest(fake);
}

int64_t tg_fake_add_commit(tg_engine *engine, tg_str path, const tg_commit_fact *fact)
{
    fake_engine *fake = fake_of(engine);
    fake_table *table = find_table(fake, path);
    tg_assert(table && table->commits.count);
    return push_commit(fake, table, &last_commit(table)->facts, fact);
}

void tg_fake_forget_commit(tg_engine *engine, tg_str path, int64_t version)
{
    fake_table *table = find_table(fake_of(engine), path);
    tg_assert(table && version >= 0 && (size_t)version < table->commits.count);
    table->commits.items[version].fact.is_missing = true;
}

void tg_fake_recreate_table(tg_engine *engine, tg_str path, tg_str table_id)
{
    fake_engine *fake = fake_of(engine);
    fake_table *table = find_table(fake, path);
    tg_assert(table);
    for (size_t i = 0; i < table->commits.count; i++) {
        fake_commit *commit = &table->commits.items[i];
        commit->facts.table_id = tg_str_copy(fake->arena, table_id);
        commit->facts.digest = new_digest(fake);
        commit->fact.app_id = commit->fact.state = TG_S("");
    }
}

void tg_fake_set_capabilities(tg_engine *engine, uint32_t capabilities)
{
    engine->capabilities = capabilities;
}

void tg_fake_fail_next_run(tg_engine *engine, tg_error_class cls, const char *message)
{
    fake_engine *fake = fake_of(engine);
    fake->fail_class = cls;
    fake->fail_message = tg_arena_strdup(fake->arena, message);
}

void tg_fake_lose_next_race(tg_engine *engine, const tg_commit_fact *winners, size_t count)
{
    fake_engine *fake = fake_of(engine);
    fake->winners = tg_arena_memdup(fake->arena, winners, count * sizeof *winners);
    fake->winner_count = count;
}

void tg_fake_set_result(tg_engine *engine, int64_t output_rows, int64_t deleted_rows)
{
    fake_engine *fake = fake_of(engine);
    fake->output_rows = output_rows;
    fake->deleted_rows = deleted_rows;
}

void tg_fake_meet_in_run(tg_engine *engine, size_t count)
{
    fake_of(engine)->meeting_size = count;
    fake_of(engine)->meeting_count = 0;
}

size_t tg_fake_run_count(const tg_engine *engine)
{
    return fake_of(engine)->runs.count;
}

const tg_fake_run *tg_fake_run_at(const tg_engine *engine, size_t index)
{
    tg_assert(index < fake_of(engine)->runs.count);
    return &fake_of(engine)->runs.items[index];
}

/* ---- level 1 --------------------------------------------------------------------------------- */

static tg_code no_query(tg_error *err)
{
    return TG_ERR(err, UNSUPPORTED_FEATURE, "the fake engine runs no queries");
}

static tg_code fake_query(void *self, const tg_engine_context *context, const tg_rel *rel,
                          struct ArrowArrayStream *out_stream, tg_error *err)
{
    (void)self, (void)context, (void)rel, (void)out_stream;
    return no_query(err);
}

static tg_code fake_fetch_error(void *self, struct ArrowArrayStream *stream, tg_error *err)
{
    (void)self, (void)stream;
    return no_query(err);
}

static tg_code fake_explain(void *self, const tg_engine_context *context, const tg_rel *rel,
                            tg_buf *out, tg_error *err)
{
    (void)self, (void)context, (void)rel, (void)out;
    return no_query(err);
}

static void fake_cancel(void *self)
{
    fake_engine *fake = self;
    atomic_store(&fake->is_cancelled, true);
}

/* ---- level 2: facts -------------------------------------------------------------------------- */

/* The commit of a version (-1: the newest) of a Delta table. */
static tg_code find_commit(const fake_engine *fake, tg_str path, int64_t version,
                           const fake_commit **out, tg_error *err)
{
    const fake_table *table = find_table(fake, path);
    if (!table || !table->commits.count) {
        TG_FAIL(err, DELTA_TABLE_NOT_FOUND, "there is no Delta table at \"%.*s\"", TG_SARG(path));
    }
    if (version >= (int64_t)table->commits.count) {
        TG_FAIL(err, DELTA_VERSION_NOT_FOUND,
                "table \"%.*s\" has no version %lld: the newest is %zu", TG_SARG(path),
                (long long)version, table->commits.count - 1);
    }
    *out = version < 0 ? last_commit(table) : &table->commits.items[version];
    return TG_OK;
}

static tg_code fake_describe(void *self, tg_table_format format, tg_str path, int64_t version,
                             const tg_property *options, size_t option_count, tg_str name,
                             tg_arena *arena, const tg_table **out_table, tg_error *err)
{
    HOLD(self);
    tg_table *table = TG_NEW(arena, tg_table);
    *table = (tg_table){.name = name,
                        .format = format,
                        .path = path,
                        .version = -1,
                        .options = options,
                        .option_count = option_count};
    if (format == TG_FORMAT_DELTA) {
        const fake_commit *commit;
        TG_TRY(find_commit(self, path, version, &commit, err));
        table->version = commit->facts.version;
        table->schema = commit->facts.schema;
        table->partition_columns = commit->facts.partition_columns;
        table->partition_count = commit->facts.partition_count;
    } else {
        const fake_table *source = find_table(self, path);
        if (!source) {
            TG_FAIL(err, PATH_NOT_FOUND, "there is no file at \"%.*s\"", TG_SARG(path));
        }
        table->schema = source->schema;
    }
    *out_table = table;
    return TG_OK;
}

/* Version v was committed v seconds after 1970. */
static tg_code fake_version_at(void *self, tg_str path, int64_t timestamp_ms, int64_t *out_version,
                               tg_error *err)
{
    HOLD(self);
    const fake_commit *commit;
    int64_t newest;
    TG_TRY(find_commit(self, path, -1, &commit, err));
    newest = commit->facts.version;
    if (timestamp_ms < 0 || timestamp_ms / 1000 > newest) {
        TG_FAIL(err, DELTA_VERSION_NOT_FOUND, "table \"%.*s\" has no version at that time",
                TG_SARG(path));
    }
    *out_version = timestamp_ms / 1000;
    return TG_OK;
}

static tg_code fake_identity(void *self, tg_table_format format, tg_str path, int64_t version,
                             tg_arena *arena, tg_pin *out_pin, tg_error *err)
{
    HOLD(self);
    (void)arena;
    tg_pin pin = {.path = path, .version = -1};
    if (format == TG_FORMAT_DELTA) {
        const fake_commit *commit;
        TG_TRY(find_commit(self, path, version, &commit, err));
        pin.version = commit->facts.version;
        pin.digest = commit->facts.digest;
    } else {
        const fake_table *source = find_table(self, path);
        if (!source) {
            TG_FAIL(err, PATH_NOT_FOUND, "there is no file at \"%.*s\"", TG_SARG(path));
        }
        pin.digest = source->digest;
    }
    *out_pin = pin;
    return TG_OK;
}

static tg_code fake_table_facts(void *self, tg_str path, tg_arena *arena, tg_table_facts *out_facts,
                                tg_error *err)
{
    HOLD(self);
    (void)arena, (void)err;
    const fake_table *table = find_table(self, path);
    *out_facts =
        table && table->commits.count ? last_commit(table)->facts : (tg_table_facts){.version = -1};
    return TG_OK;
}

static bool is_of(const fake_commit *commit, tg_str app_id)
{
    return app_id.len && tg_str_eq(commit->fact.app_id, app_id);
}

static tg_code fake_table_state(void *self, tg_str path, tg_str app_id, int64_t version,
                                tg_arena *arena, tg_state_facts *out_state, tg_error *err)
{
    HOLD(self);
    (void)arena;
    tg_state_facts state = {.state_version = -1};
    const fake_commit *newest;
    TG_TRY(find_commit(self, path, version, &newest, err));
    const fake_table *table = find_table(self, path);
    for (int64_t v = newest->facts.version; v >= 0 && !state.has_txn; v--) {
        const fake_commit *commit = &table->commits.items[v];
        if (is_of(commit, app_id)) {
            state.has_txn = true;
            if (!commit->fact.is_missing) {
                state.state_version = v;
                state.state = commit->fact.state;
            }
        }
    }
    *out_state = state;
    return TG_OK;
}

/* A commit as one app sees it. */
static tg_commit_fact seen_by(const fake_commit *commit, tg_str app_id)
{
    tg_commit_fact fact = commit->fact;
    if (fact.is_missing) {
        return (tg_commit_fact){
            .version = fact.version, .is_missing = true, .hull = tg_region_all()};
    }
    if (!is_of(commit, app_id)) {
        fact.app_id = fact.state = TG_S("");
    }
    return fact;
}

static tg_code fake_commits_since(void *self, tg_str path, int64_t from, int64_t to, tg_str app_id,
                                  const tg_zone *zone, tg_arena *arena,
                                  tg_commit_fact **out_commits, size_t *out_count, tg_error *err)
{
    HOLD(self);
    (void)zone;
    const fake_commit *newest;
    TG_TRY(find_commit(self, path, to, &newest, err));
    const fake_table *table = find_table(self, path);
    size_t count = to > from ? (size_t)(to - from) : 0;
    tg_commit_fact *facts = TG_NEW_ARRAY(arena, tg_commit_fact, count);
    for (size_t i = 0; i < count; i++) {
        facts[i] = seen_by(&table->commits.items[from + 1 + (int64_t)i], app_id);
    }
    *out_commits = facts;
    *out_count = count;
    return TG_OK;
}

/* ---- level 2: programs ----------------------------------------------------------------------- */

static tg_commit_fact fact_of_program(const fake_engine *fake, const tg_program *program,
                                      tg_str state)
{
    tg_commit_fact fact = {.app_id = program->app_id, .state = state, .hull = tg_region_none()};
    for (size_t i = 0; i < program->step_count; i++) {
        const tg_step *step = &program->steps[i];
        if (step->kind == TG_STEP_REPLACE || step->kind == TG_STEP_APPEND) {
            bool is_known = step->kind == TG_STEP_REPLACE && step->predicate;
            fact.changes_data = !program->is_state_only;
            fact.hull =
                is_known ? tg_region_or(fake->arena, fact.hull, step->region) : tg_region_all();
        }
    }
    return fact;
}

/* Name or type of a column, or the partitioning; what conformance asks of commit facts. */
static bool is_same_layout(const tg_table_facts *a, const tg_table_facts *b)
{
    tg_type row_a = {
        .kind = TG_TYPE_STRUCT, .fields = a->schema.fields, .field_count = a->schema.count};
    tg_type row_b = {
        .kind = TG_TYPE_STRUCT, .fields = b->schema.fields, .field_count = b->schema.count};
    return tg_type_equal(&row_a, &row_b) && a->partition_count == b->partition_count;
}

static tg_table_facts facts_of_target(const tg_program_target *target)
{
    return (tg_table_facts){
        .exists = true,
        .table_id = target->table_id,
        .schema = target->schema,
        .partition_columns = target->partition_columns,
        .partition_count = target->partition_count,
        .properties = target->properties,
        .property_count = target->property_count,
        .comment = target->comment,
    };
}

static tg_code lost(const tg_program *program, tg_error *err)
{
    return TG_ERR(err, DELTA_METADATA_CHANGED,
                  "table %.*s was changed by another writer at the same time",
                  TG_SARG(program->target.name));
}

/*
 * One attempt on top of read_version: what the hooks say; without hooks any change of data is a
 * conflict.
 */
static tg_code attempt(const tg_program *program, const tg_commit_hooks *hooks,
                       const fake_table *table, int64_t read_version, tg_arena *arena,
                       tg_str *out_state, tg_error *err)
{
    size_t count = (size_t)(read_version - program->target.read_version);
    tg_commit_fact *winners = TG_NEW_ARRAY(arena, tg_commit_fact, count);
    bool any_data = false;
    for (size_t i = 0; i < count; i++) {
        winners[i] = seen_by(&table->commits.items[program->target.read_version + 1 + (int64_t)i],
                             program->app_id);
        any_data = any_data || winners[i].changes_data;
        if (winners[i].changes_schema) {
            return lost(program, err);
        }
    }
    bool rerun = !hooks && any_data;
    if (hooks) {
        TG_TRY(hooks->before_attempt(hooks->self, read_version, winners, count, arena, out_state,
                                     &rerun, err));
    }
    return rerun ? lost(program, err) : TG_OK;
}

static tg_code run_attempts(fake_engine *fake, const tg_program *program,
                            const tg_commit_hooks *hooks, tg_arena *arena, tg_fake_run *run,
                            tg_error *err)
{
    const tg_program_target *target = &program->target;
    fake_table *table = find_table(fake, target->path);
    if ((target->read_version < 0) != (!table || !table->commits.count)) {
        return lost(program, err);
    }
    if (!table) {
        table = new_table(fake, target->path);
    } else if (!tg_str_eq(last_commit(table)->facts.table_id, target->table_id)) {
        return lost(program, err);
    }
    tg_str state = TG_S("");
    int64_t read_version = target->read_version;
    run->attempts = 1;
    TG_TRY(attempt(program, hooks, table, read_version, arena, &state, err));
    for (size_t i = 0; i < fake->winner_count; i++) {
        (void)push_commit(fake, table, &last_commit(table)->facts, &fake->winners[i]);
    }
    fake->winner_count = 0;
    if ((int64_t)table->commits.count - 1 > read_version) {
        run->attempts++;
        read_version = (int64_t)table->commits.count - 1;
        TG_TRY(attempt(program, hooks, table, read_version, arena, &state, err));
    }
    tg_table_facts facts = target->read_version < 0 || target->changes_metadata
                               ? facts_of_target(target)
                               : last_commit(table)->facts;
    tg_commit_fact fact = fact_of_program(fake, program, state);
    if (target->read_version >= 0 && !is_same_layout(&facts, &last_commit(table)->facts)) {
        fact.changes_schema = true;
        fact.hull = tg_region_all();
    }
    run->committed_version = push_commit(fake, table, &facts, &fact);
    return TG_OK;
}

/* Knows of partitioning only: enough for what is built on top. */
static tg_code fake_check_zone(void *self, const tg_zone *zone, tg_error *err)
{
    (void)self;
    (void)zone;
    (void)err;
    return TG_OK;
}

static tg_code fake_check_target(void *self, const tg_program_target *target, tg_error *err)
{
    (void)self;
    for (size_t i = 0; i < target->partition_count; i++) {
        if (tg_schema_find(target->schema, target->partition_columns[i]) < 0) {
            TG_FAIL(err, DELTA_PARTITION_COLUMN_NOT_FOUND,
                    "partition column `%.*s` is not a column of the table",
                    TG_SARG(target->partition_columns[i]));
        }
    }
    return TG_OK;
}

/* Waits for the others of a meeting, if there is one. */
static tg_code meet(fake_engine *fake, tg_error *err)
{
    enum { PATIENCE_SECONDS = 60 };
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    fake->meeting_count++;
    (void)pthread_cond_broadcast(&fake->met);
    while (fake->meeting_count < fake->meeting_size) {
        if (pthread_cond_timedwait(&fake->met, &fake->lock, &until) == ETIMEDOUT) {
            TG_FAIL(err, INTERNAL_ERROR, "%zu runs were to meet, %zu came", fake->meeting_size,
                    fake->meeting_count);
        }
    }
    return TG_OK;
}

static tg_code fake_run(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                        tg_arena *arena, tg_run_result *out_result, tg_error *err)
{
    fake_engine *fake = self;
    HOLD(fake);
    TG_TRY(meet(fake, err));
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_program_print(program, arena, &text);
    tg_fake_run run = {.program = program,
                       .text = tg_str_copy(fake->arena, tg_buf_str(&text)),
                       .committed_version = -1};
    tg_code code = TG_OK;
    if (fake->fail_class != TG_E_NONE) {
        code = tg_error_set(err, fake->fail_class, __FILE__, __LINE__, "%s", fake->fail_message);
        fake->fail_class = TG_E_NONE;
    } else if (atomic_exchange(&fake->is_cancelled, false)) {
        code = TG_ERR(err, TIDEGATE_CANCELLED, "interrupted");
    } else if (hooks && hooks->before_commit && !program->is_state_only) {
        const tg_run_result counts = {.committed_version = -1,
                                      .output_rows = fake->output_rows,
                                      .deleted_rows = fake->deleted_rows};
        code = hooks->before_commit(hooks->self, &counts, err);
    }
    if (code == TG_OK) {
        code = run_attempts(fake, program, hooks, arena, &run, err);
    }
    TG_VEC_PUSH(fake->arena, &fake->runs, run);
    TG_TRY(code);
    *out_result = (tg_run_result){
        .committed_version = run.committed_version,
        .output_rows = fake->output_rows,
        .deleted_rows = fake->deleted_rows,
        .rows_written = fake->output_rows,
        .rows_deleted = fake->deleted_rows,
        .source_rows_read = -1,
        .attempts = run.attempts,
    };
    return TG_OK;
}

static tg_code fake_drop(void *self, tg_str path, tg_error *err)
{
    HOLD(self);
    fake_engine *fake = self;
    const fake_commit *commit;
    TG_TRY(find_commit(fake, path, -1, &commit, err));
    (void)tg_map_remove(&fake->tables, path);
    return TG_OK;
}

static void fake_close(void *self)
{
    fake_engine *fake = self;
    (void)pthread_mutex_lock(&fake->lock);
    bool is_last = --fake->engine_count == 0;
    (void)pthread_mutex_unlock(&fake->lock);
    if (is_last) {
        (void)pthread_mutex_destroy(&fake->lock);
        (void)pthread_cond_destroy(&fake->met);
        tg_arena_free(fake->arena); /* fake lies in it */
    }
}

static tg_code fake_sibling(void *self, tg_engine **out_engine, tg_error *err)
{
    fake_engine *fake = self;
    HOLD(fake);
    if (!(fake->base.capabilities & TG_ENGINE_SIBLINGS)) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "this engine has no siblings");
    }
    tg_engine *sibling = TG_NEW(fake->arena, tg_engine);
    *sibling = fake->base; /* the same self: there is nothing that is a sibling's own */
    fake->engine_count++;
    *out_engine = sibling;
    return TG_OK;
}

static void init_lock(fake_engine *fake)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&fake->lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    (void)pthread_cond_init(&fake->met, NULL);
}

tg_engine *tg_engine_fake_new(void)
{
    tg_arena *arena = tg_arena_new();
    fake_engine *fake = TG_NEW(arena, fake_engine);
    fake->arena = arena;
    fake->engine_count = 1;
    init_lock(fake);
    tg_map_init(&fake->tables, arena);
    fake->base = (tg_engine){
        .struct_size = sizeof(tg_engine),
        .name = "fake",
        .capabilities = TG_ENGINE_STATE_REBASE,
        .self = fake,
        .query = fake_query,
        .fetch_error = fake_fetch_error,
        .explain = fake_explain,
        .cancel = fake_cancel,
        .sibling = fake_sibling,
        .describe = fake_describe,
        .version_at = fake_version_at,
        .identity = fake_identity,
        .table_facts = fake_table_facts,
        .table_state = fake_table_state,
        .commits_since = fake_commits_since,
        .check_target = fake_check_target,
        .check_zone = fake_check_zone,
        .run = fake_run,
        .drop = fake_drop,
        .close = fake_close,
    };
    return &fake->base;
}
