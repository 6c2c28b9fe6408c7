/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit: one new file in the log, put there only if no other writer was faster (Delta
 * protocol, "Delta Log Entries").
 *
 * Order on disk: data files and their folders were fsynced before
 * (tg_delta_sync_files); write_new writes and fsyncs a temporary file, links it to the version's
 * name and fsyncs the folder. So a version is there whole or not at all.
 *
 * Who loses the race reads the winners, asks whether the change still stands, and tries the next
 * version. When the system's answer is unclear (an error after the link, a link that was repeated
 * by a network file system), the txnId in the log tells whose version it is.
 */
#include "delta/delta_int.h"

typedef TG_VEC(const tg_delta_commit *) winner_vec;

typedef struct committer {
    const tg_delta *delta;
    tg_str table_path, log_folder;
    tg_delta_change *change;
    const tg_delta_commit_options *options;
    tg_arena *arena;
    tg_arena *attempt; /* of the attempt: what it decided goes when the next one begins */
    char txn_id[37];
    int64_t version; /* that is tried */
    winner_vec winners;
} committer;

/* ---- who has the version? -------------------------------------------------------------------- */

typedef struct owner {
    tg_str mine;
    bool is_mine;
} owner;

static tg_code compare_owner(void *self, const tg_delta_action *action, bool *out_stop,
                             tg_error *err)
{
    owner *o = self;
    (void)err;
    o->is_mine = o->is_mine || tg_str_eq(action->info.txn_id, o->mine);
    *out_stop = o->is_mine;
    return TG_OK;
}

/* Is the version's file ours? out_exists false: there is none. */
static tg_code look_at_version(const committer *c, bool *out_exists, bool *out_is_mine,
                               tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_str text;
    tg_str path = tg_delta_commit_path(c->log_folder, c->version, scratch);
    tg_code code = tg_delta_commit_file_read(c->delta, path, scratch, &text, &local);
    *out_exists = code != TG_NOT_FOUND;
    *out_is_mine = false;
    if (code == TG_NOT_FOUND) {
        return TG_OK;
    }
    if (code != TG_OK) {
        return tg_error_pass(&local, err);
    }
    bool stop;
    owner o = {.mine = tg_str_from(c->txn_id)};
    tg_delta_visitor visitor = {
        .self = &o, .wanted = TG_ACTION_COMMIT_INFO, .action = compare_owner};
    TG_TRY(tg_delta_text_visit(text, path, c->table_path, &visitor, &stop, err));
    *out_is_mine = o.is_mine;
    return TG_OK;
}

/* ---- winners --------------------------------------------------------------------------------- */

/* Reads the commits from c->version up to the newest, and moves c->version behind them. */
static tg_code read_winners(committer *c, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const tg_delta_snapshot *snapshot = c->options->snapshot;
    const tg_str *keys = tg_delta_partition_keys(c->arena, &snapshot->metadata);
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(c->delta, c->table_path, scratch, &log, err));
    int64_t latest = tg_delta_log_latest(&log);
    if (latest < c->version - 1) {
        TG_FAIL(err, DELTA_VERSION_NOT_FOUND,
                "version %lld of Delta table `%.*s`, which this write was made from, is gone",
                (long long)c->version - 1, TG_SARG(c->table_path));
    }
    while (c->version <= latest) {
        const tg_delta_commit *winner;
        tg_auto_error tg_error local = TG_ERROR_INIT;
        tg_code code =
            tg_delta_commit_read(c->delta, c->table_path, c->version, keys,
                                 snapshot->metadata.partition_count, c->arena, &winner, &local);
        if (code == TG_NOT_FOUND) {
            (void)TG_ERR(
                err, DELTA_CONCURRENT_WRITE,
                "version %lld of Delta table `%.*s` was committed and its log cleaned up meanwhile",
                (long long)c->version, TG_SARG(c->table_path));
            return tg_error_hint(err, "Run it again.");
        }
        if (code != TG_OK) {
            return tg_error_pass(&local, err);
        }
        TG_VEC_PUSH(c->arena, &c->winners, winner);
        c->version++;
    }
    return TG_OK;
}

static tg_code decide(committer *c, tg_error *err)
{
    const tg_delta_commit_options *options = c->options;
    const tg_delta_commit *const *winners = c->winners.items;
    size_t count = c->winners.count;
    TG_TRY(tg_delta_check_final_conflicts(c->table_path, c->change, options->snapshot, winners,
                                          count, err));
    if (!options->before_attempt) {
        return tg_delta_check_conflicts(c->table_path, c->change, options->snapshot, options->zone,
                                        winners, count, c->attempt, err);
    }
    tg_conflict_verdict verdict = TG_VERDICT_RETRY;
    TG_TRY(options->before_attempt(options->self, c->version, winners, count, c->change, c->attempt,
                                   &verdict, err));
    if (verdict == TG_VERDICT_RERUN) {
        (void)TG_ERR(err, DELTA_CONCURRENT_WRITE,
                     "Delta table `%.*s` was changed by another writer at the same time",
                     TG_SARG(c->table_path));
        return tg_error_hint(err, "Run it again: it will see the other writer's rows.");
    }
    return TG_OK;
}

/* ---- attempts -------------------------------------------------------------------------------- */

/*
 * Whatever failed came after the link; what may be missing is that the folder was fsynced. If that
 * fails again, the version stands all the same: its readers have seen it.
 */
static tg_code sync_version(const committer *c, tg_error *err)
{
    if (tg_fs_fsync_folder(c->delta->fs, c->log_folder, err) == TG_OK) {
        return TG_OK;
    }
    (void)tg_error_detail(err,
                          "Version %lld is committed and can be read, but it may not survive a "
                          "power failure.",
                          (long long)c->version);
    return tg_error_hint(err, "Look at the table before running it again.");
}

static tg_code put_version(committer *c, bool *out_done, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_error tg_error local = TG_ERROR_INIT;
    const tg_env *env = c->delta->env;
    tg_delta_attempt attempt = {
        .read_version = c->options->read_version,
        .now_ms = env->now_us(env->self) / 1000,
        .txn_id = tg_str_from(c->txn_id),
        .metadata = c->change->metadata ? c->change->metadata : &c->options->snapshot->metadata,
    };
    tg_str text = tg_delta_change_text(c->change, &attempt, scratch);
    tg_str path = tg_delta_commit_path(c->log_folder, c->version, scratch);
    *out_done = false;
    c->change->may_be_visible = true;
    tg_code code = tg_fs_write_new(c->delta->fs, path, text, &local);
    if (code == TG_OK) {
        *out_done = true;
        return TG_OK;
    }
    bool exists;
    if (look_at_version(c, &exists, out_done, err) != TG_OK) {
        return tg_error_detail(err, "Whether version %lld was committed is not known.",
                               (long long)c->version);
    }
    /* A name that was taken and cannot be read is one more answer that is not clear. */
    c->change->may_be_visible = *out_done || (!exists && code == TG_ALREADY_EXISTS);
    if (*out_done) {
        return sync_version(c, err);
    }
    return exists ? TG_OK : tg_error_pass(&local, err);
}

static tg_code create_first(committer *c, tg_error *err)
{
    bool exists;
    bool done = false;
    TG_TRY(tg_delta_exists(c->delta, c->table_path, &exists, err));
    if (!exists) {
        if (c->options->before_attempt) {
            TG_TRY(decide(c, err));
        }
        TG_TRY(tg_fs_make_folders(c->delta->fs, c->log_folder, err));
        TG_TRY(put_version(c, &done, err));
    }
    if (!done) {
        TG_FAIL(err, DELTA_TABLE_ALREADY_EXISTS, "Delta table `%.*s` exists already",
                TG_SARG(c->table_path));
    }
    return TG_OK;
}

static tg_code win(committer *c, tg_error *err)
{
    for (int attempts = 0; attempts < TG_LIMIT_COMMIT_ATTEMPTS; attempts++) {
        bool done;
        if (tg_env_is_cancelled(c->delta->env)) {
            TG_FAIL(err, TIDEGATE_CANCELLED, "interrupted before Delta table `%.*s` was written",
                    TG_SARG(c->table_path));
        }
        TG_TRY(read_winners(c, err));
        tg_arena_reset(c->attempt);
        TG_TRY(decide(c, err));
        TG_TRY(put_version(c, &done, err));
        if (done) {
            return TG_OK;
        }
    }
    (void)TG_ERR(err, DELTA_MAX_COMMIT_RETRIES_EXCEEDED,
                 "could not commit to Delta table `%.*s`: %d attempts lost against other writers",
                 TG_SARG(c->table_path), TG_LIMIT_COMMIT_ATTEMPTS);
    return tg_error_hint(err, "Run it again when fewer writers are busy with the table.");
}

static void free_arena(void *arena)
{
    tg_arena_free(arena);
}

static void write_checkpoint(const committer *c, tg_error *out_warning)
{
    const tg_delta_metadata *metadata =
        c->change->metadata ? c->change->metadata : &c->options->snapshot->metadata;
    bool is_due = c->version > 0 && c->version % tg_delta_checkpoint_interval(metadata) == 0;
    if (c->delta->parquet && is_due &&
        tg_delta_checkpoint_write_at(c->delta, c->table_path, c->version, out_warning) != TG_OK) {
        (void)tg_error_hint(out_warning,
                            "The commit itself succeeded; a later one writes a checkpoint.");
    }
}

tg_code tg_delta_commit_change(const tg_delta *delta, tg_str table_path, tg_delta_change *change,
                               const tg_delta_commit_options *options, tg_arena *arena,
                               int64_t *out_version, tg_error *out_warning, tg_error *err)
{
    committer c = {.delta = delta,
                   .change = change,
                   .options = options,
                   .arena = arena,
                   .attempt = tg_arena_new(),
                   .version = options->read_version + 1};
    tg_arena_defer(arena, free_arena, c.attempt); /* the caller's change points into it */
    tg_assert((options->read_version < 0) == (options->snapshot == NULL));
    change->may_be_visible = false;
    TG_TRY(tg_delta_table_folder(delta, table_path, arena, &c.table_path, err));
    c.log_folder = tg_delta_log_folder(c.table_path, arena);
    delta->env->uuid(delta->env->self, c.txn_id);
    TG_TRY(tg_delta_check_change(c.table_path, change, options->snapshot, err));
    TG_TRY(options->snapshot ? win(&c, err) : create_first(&c, err));
    *out_version = c.version;
    write_checkpoint(&c, out_warning);
    return TG_OK;
}

/* ---- data files ------------------------------------------------------------------------------ */

tg_code tg_delta_sync_files(const tg_delta *delta, tg_str table_path, const tg_str *paths,
                            size_t count, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str table;
    tg_map folders;
    tg_map_init(&folders, scratch);
    TG_TRY(tg_delta_table_folder(delta, table_path, scratch, &table, err));
    for (size_t i = 0; i < count; i++) {
        tg_str path = tg_path_join(scratch, table, paths[i]);
        TG_TRY(tg_fs_fsync_file(delta->fs, path, err));
        /*
         * Every folder from the file up to the table's, each once; of a file elsewhere only its
         * own.
         */
        tg_str inside;
        tg_str folder = tg_path_dirname(path);
        while (!tg_map_has(&folders, folder)) {
            (void)tg_map_put(&folders, folder, scratch);
            TG_TRY(tg_fs_fsync_folder(delta->fs, folder, err));
            if (!tg_path_relative(table, folder, &inside) || !inside.len) {
                break;
            }
            folder = tg_path_dirname(folder);
        }
    }
    return TG_OK;
}
