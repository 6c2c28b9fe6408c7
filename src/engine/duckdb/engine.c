/* SPDX-License-Identifier: Apache-2.0 */
/* The engine object and the instance that siblings share: table of functions, start and end. */
#include "engine/duckdb/duckdb_int.h"

/* Only a flag, so that it may be called from anywhere; the watcher acts on it. */
static void cancel_engine(void *self)
{
    tg_duckdb_engine *engine = self;
    atomic_fetch_add(&engine->instance->cancel_count, 1);
}

/*
 * The log goes first and as a whole: it is renamed, so that a crash leaves a table or no table,
 * never one with half its files.
 */
static tg_code drop_table(void *self, tg_str path, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    bool exists;
    TG_TRY(tg_delta_exists(&engine->delta, path, &exists, err));
    if (!exists) {
        TG_FAIL(err, DELTA_TABLE_NOT_FOUND, "there is no Delta table at \"%.*s\"", TG_SARG(path));
    }
    char id[37];
    engine->env->uuid(engine->env->self, id);
    tg_str log = tg_path_join(scratch, path, TG_S("_delta_log"));
    tg_str dead = tg_path_join(scratch, path, tg_str_printf(scratch, ".dropped-%s", id));
    TG_TRY(tg_fs_rename(engine->fs, log, dead, err));
    return tg_fs_remove_tree(engine->fs, path, err);
}

/* ---- start and end --------------------------------------------------------------------------- */

static void close_instance(tg_duckdb_instance *instance)
{
    tg_duckdb_watcher_stop(instance);
    if (instance->database) {
        tg_duckdb.close(&instance->database);
    }
    (void)pthread_mutex_destroy(&instance->lock);
    tg_arena_free(instance->arena); /* instance and engines lie in it */
}

static void close_engine(void *self)
{
    tg_duckdb_engine *engine = self;
    tg_duckdb_instance *instance = engine->instance;
    tg_duckdb_watcher_leave(engine);
    (void)pthread_mutex_lock(&instance->lock);
    bool is_last = --instance->engine_count == 0;
    (void)pthread_mutex_unlock(&instance->lock);
    if (is_last) {
        close_instance(instance);
    }
}

static tg_code new_sibling(void *self, tg_engine **out_engine, tg_error *err);

/* Its memory is the instance's: engines are few and small. */
static tg_engine *new_engine(tg_duckdb_instance *instance, const tg_env *env, const tg_fs *fs)
{
    (void)pthread_mutex_lock(&instance->lock);
    tg_duckdb_engine *engine = TG_NEW(instance->arena, tg_duckdb_engine);
    instance->engine_count++;
    (void)pthread_mutex_unlock(&instance->lock);
    engine->env = env;
    engine->fs = fs;
    engine->instance = instance;
    atomic_store(&engine->seen_cancels, atomic_load(&instance->cancel_count));
    engine->delta = (tg_delta){
        .fs = engine->fs, .env = engine->env, .parquet = tg_duckdb_parquet, .parquet_self = engine};
    engine->base = (tg_engine){
        .struct_size = sizeof(tg_engine),
        .name = "duckdb",
        .capabilities = TG_ENGINE_STATE_REBASE | TG_ENGINE_SIBLINGS,
        .self = engine,
        .query = tg_duckdb_query,
        .fetch_error = tg_duckdb_fetch_error,
        .explain = tg_duckdb_explain,
        .cancel = cancel_engine,
        .sibling = new_sibling,
        .describe = tg_duckdb_describe,
        .describe_changes = tg_duckdb_describe_changes,
        .version_at = tg_duckdb_version_at,
        .identity = tg_duckdb_identity,
        .table_facts = tg_duckdb_table_facts,
        .table_state = tg_duckdb_table_state,
        .commits_since = tg_duckdb_commits_since,
        .check_target = tg_duckdb_check_target,
        .check_zone = tg_duckdb_check_zone,
        .run = tg_duckdb_run_program,
        .find_commit = tg_duckdb_find_commit,
        .restore = tg_duckdb_restore,
        .missing_files = tg_duckdb_missing_files,
        .detail = tg_duckdb_detail,
        .history = tg_duckdb_history,
        .partitions = tg_duckdb_partitions,
        .optimize = tg_duckdb_optimize,
        .vacuum = tg_duckdb_vacuum,
        .drop = drop_table,
        .close = close_engine,
    };
    tg_duckdb_watcher_join(engine);
    return &engine->base;
}

static tg_code new_sibling(void *self, tg_engine **out_engine, tg_error *err)
{
    (void)err;
    tg_duckdb_engine *engine = self;
    *out_engine = new_engine(engine->instance, engine->env, engine->fs);
    return TG_OK;
}

tg_engine *tg_engine_duckdb_new(const tg_engine_duckdb_options *options)
{
    tg_arena *arena = tg_arena_new();
    tg_duckdb_instance *instance = TG_NEW(arena, tg_duckdb_instance);
    instance->arena = arena;
    instance->threads = options->threads;
    instance->share = options->share;
    instance->memory_limit = tg_str_copy(arena, options->memory_limit);
    instance->temp_folder = tg_str_copy(arena, options->temp_folder);
    (void)pthread_mutex_init(&instance->lock, NULL);
    tg_duckdb_watcher_init(instance);
    return new_engine(instance, options->env ? options->env : tg_env_system(),
                      options->fs ? options->fs : tg_fs_local());
}

bool tg_engine_duckdb_is_loaded(void)
{
    return tg_duckdb_api_is_loaded();
}
