/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: the actions of a version, newest first (Delta protocol, "Action Reconciliation").
 *
 * Newest first, because then the first sight of a file, transaction, metadata or protocol decides,
 * and who found what it wants can stop. Within a commit the last line comes first, so that the
 * order of lines counts as it was written.
 *
 * A version can be put together in several ways: from all commits, or from a checkpoint and the
 * commits after it. All give the same table. Small logs are read from their commits even where
 * there is a checkpoint: that is faster than waking an engine for Parquet. When one way fails (a
 * damaged checkpoint, a file that log cleanup took away meanwhile) the next is tried.
 */
#include "delta/delta_int.h"

/* One way to put a version together. */
typedef struct replay_way {
    const tg_delta_checkpoint *checkpoint; /* NULL: none, the commits go down to version 0 */
    int64_t low;                           /* oldest commit to read */
} replay_way;

enum { WAYS_MAX = 4 };

/* Commits alone are preferred up to so many files and bytes. */
static const struct {
    int64_t files_max, bytes_max;
} preference[] = {
    [TG_REPLAY_STATE] = {100, INT64_C(4) * 1024 * 1024},
    [TG_REPLAY_HEAD] = {1000, INT64_MAX},
    [TG_REPLAY_TXN] = {INT64_MAX, INT64_MAX},
};

/* ---- lines ----------------------------------------------------------------------------------- */

static tg_code damaged(tg_str path, const char *unit, size_t number, tg_error *reason,
                       tg_error *err)
{
    if (reason->cls != TG_E_TIDEGATE_DELTA_LOG_INVALID &&
        reason->cls != TG_E_TIDEGATE_INVALID_JSON) {
        (void)tg_error_context(reason, "while reading %s %zu of '%.*s'", unit, number,
                               TG_SARG(path));
        return tg_error_pass(reason, err);
    }
    TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "Delta log file `%.*s` is damaged at %s %zu: %s",
            TG_SARG(path), unit, number, reason->message);
}

static size_t line_number(tg_str text, size_t offset)
{
    size_t number = 1;
    for (size_t i = 0; i < offset; i++) {
        number += text.ptr[i] == '\n';
    }
    return number;
}

/*
 * Where the line that ends at end begins. In steps: sanitizers look at all bytes that memrchr is
 * given, for each line again.
 */
static size_t line_start(tg_str text, size_t end)
{
    enum { STEP_BYTES = 4096 };
    while (end) {
        size_t from = end > STEP_BYTES ? end - STEP_BYTES : 0;
        const char *newline = memrchr(text.ptr + from, '\n', end - from);
        if (newline) {
            return (size_t)(newline - text.ptr) + 1;
        }
        end = from;
    }
    return 0;
}

tg_code tg_delta_text_visit(tg_str text, tg_str path, tg_str table_path,
                            const tg_delta_visitor *visitor, bool *out_stop, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    bool is_empty = true;
    bool stop = false;
    size_t end = text.len;
    while (!stop) {
        size_t start = line_start(text, end);
        tg_str line = tg_str_trim(tg_str_sub(text, start, end));
        if (line.len) {
            is_empty = false;
            tg_delta_action action;
            tg_auto_error tg_error reason = TG_ERROR_INIT;
            tg_arena_reset(arena);
            if (tg_delta_action_parse(line, visitor->wanted, table_path, arena, &action, &reason) !=
                TG_OK) {
                return damaged(path, "line", line_number(text, start), &reason, err);
            }
            if (action.kind) {
                TG_TRY(visitor->action(visitor->self, &action, &stop, err));
            }
        }
        if (!start) {
            break;
        }
        end = start - 1;
    }
    if (is_empty) {
        /* Commits are written whole: this one lost its content, for example to a power cut. */
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "Delta log file `%.*s` is damaged: it is empty",
                TG_SARG(path));
    }
    *out_stop = stop;
    return TG_OK;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

typedef struct checkpoint_reader {
    const tg_delta_visitor *visitor;
    const tg_delta_log *log;
    tg_str name;     /* that is read, for messages */
    tg_arena *names; /* of sidecars */
    tg_arena *arena; /* of one row */
    TG_VEC(tg_str) sidecars;
    size_t row;
    bool stop;
} checkpoint_reader;

/* The path of a sidecar: a name in the folder of sidecars, or a whole path. */
static tg_code keep_sidecar(checkpoint_reader *reader, tg_str encoded, tg_error *err)
{
    tg_str path;
    if (!tg_delta_path_decode(encoded, reader->log->folder, reader->names, &path) ||
        tg_path_has_scheme(path)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "sidecar \"%.*s\" of checkpoint `%.*s` is no file",
                TG_SARG(encoded), TG_SARG(reader->name));
    }
    if (tg_str_eq(tg_path_basename(path), path)) {
        path = tg_path_join(reader->names, TG_S("_sidecars"), path);
    }
    tg_str full = tg_path_join(reader->names, reader->log->folder, path);
    TG_VEC_PUSH(reader->names, &reader->sidecars, tg_str_copy(reader->names, full));
    return TG_OK;
}

static tg_code see_action(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    checkpoint_reader *reader = self;
    if (action->kind == TG_ACTION_SIDECAR) {
        return keep_sidecar(reader, action->sidecar, err);
    }
    return reader->visitor->action(reader->visitor->self, action, out_stop, err);
}

static tg_code read_row(void *self, tg_str json, tg_error *err)
{
    checkpoint_reader *reader = self;
    reader->row++;
    if (reader->stop) {
        return TG_OK;
    }
    tg_delta_action action;
    tg_auto_error tg_error reason = TG_ERROR_INIT;
    tg_arena_reset(reader->arena);
    tg_str line = tg_str_trim(json);
    if (tg_delta_action_parse(line, reader->visitor->wanted | TG_ACTION_SIDECAR,
                              reader->log->table_path, reader->arena, &action, &reason) != TG_OK) {
        return damaged(reader->name, "row", reader->row, &reason, err);
    }
    return action.kind ? see_action(reader, &action, &reader->stop, err) : TG_OK;
}

static tg_code read_parquet(checkpoint_reader *reader, const tg_str *paths, size_t count,
                            tg_error *err)
{
    const tg_delta *delta = reader->log->delta;
    const tg_parquet *parquet = NULL;
    reader->name = tg_path_basename(paths[0]);
    reader->row = 0;
    if (!delta->parquet) {
        TG_FAIL(err, UNSUPPORTED_FEATURE,
                "checkpoint `%.*s` cannot be read: no engine for Parquet is at hand",
                TG_SARG(paths[0]));
    }
    TG_TRY(delta->parquet(delta->parquet_self, &parquet, err));
    TG_TRY_CTX(parquet->read_actions(parquet->self, paths, count, read_row, reader, err), err,
               "while reading checkpoint '%.*s'", TG_SARG(paths[0]));
    return TG_OK;
}

/* The top file of a V2 checkpoint that is JSON. */
static tg_code read_json(checkpoint_reader *reader, tg_str path, tg_arena *scratch, tg_error *err)
{
    tg_str text;
    reader->name = tg_path_basename(path);
    TG_TRY(tg_delta_commit_file_read(reader->log->delta, path, scratch, &text, err));
    const tg_delta_visitor visitor = {.self = reader,
                                      .wanted = reader->visitor->wanted | TG_ACTION_SIDECAR,
                                      .action = see_action};
    return tg_delta_text_visit(text, path, reader->log->table_path, &visitor, &reader->stop, err);
}

static tg_code visit_checkpoint(const tg_delta_log *log, const tg_delta_checkpoint *checkpoint,
                                const tg_delta_visitor *visitor, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_arena tg_arena *row_arena = tg_arena_new();
    checkpoint_reader reader = {
        .visitor = visitor, .log = log, .names = scratch, .arena = row_arena};
    tg_str *paths = TG_NEW_ARRAY(scratch, tg_str, checkpoint->name_count);
    for (size_t i = 0; i < checkpoint->name_count; i++) {
        paths[i] = tg_path_join(scratch, log->folder, checkpoint->names[i]);
    }
    TG_TRY(tg_str_ends(paths[0], TG_S(".json"))
               ? read_json(&reader, paths[0], scratch, err)
               : read_parquet(&reader, paths, checkpoint->name_count, err));
    /* Sidecars hold files only. */
    bool wants_files = visitor->wanted & (TG_ACTION_ADD | TG_ACTION_REMOVE);
    return reader.sidecars.count && wants_files && !reader.stop
               ? read_parquet(&reader, reader.sidecars.items, reader.sidecars.count, err)
               : TG_OK;
}

/* ---- ways ------------------------------------------------------------------------------------ */

/*
 * Lowest version from which commits go up to version without a gap; version + 1 when its own commit
 * is gone.
 */
static int64_t commits_reach(const tg_delta_log *log, int64_t version)
{
    ptrdiff_t i = tg_delta_log_find_commit(log, version);
    if (i < 0) {
        return version + 1;
    }
    while (i > 0 && log->commits[i - 1] == log->commits[i] - 1) {
        i--;
    }
    return log->commits[i];
}

static bool commits_are_cheap(const tg_delta_log *log, int64_t version, tg_delta_replay_for purpose)
{
    if (version >= preference[purpose].files_max) {
        return false;
    }
    if (preference[purpose].bytes_max == INT64_MAX) {
        return true;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    int64_t bytes = 0;
    for (int64_t v = version; v >= 0 && bytes <= preference[purpose].bytes_max; v--) {
        tg_fs_entry entry;
        if (tg_fs_stat(log->delta->fs, tg_delta_commit_path(log->folder, v, scratch), &entry,
                       NULL) != TG_OK) {
            return false;
        }
        bytes += entry.size_bytes;
    }
    return bytes <= preference[purpose].bytes_max;
}

/* Best way first. */
static size_t find_ways(const tg_delta_log *log, int64_t version, tg_delta_replay_for purpose,
                        replay_way ways[WAYS_MAX])
{
    int64_t reach = commits_reach(log, version);
    size_t count = 0;
    bool has_commits = reach == 0;
    bool commits_first = has_commits && commits_are_cheap(log, version, purpose);
    if (commits_first) {
        ways[count++] = (replay_way){NULL, 0};
    }
    size_t room = has_commits && !commits_first ? WAYS_MAX - 1 : WAYS_MAX;
    for (size_t i = log->checkpoint_count; i-- > 0 && count < room;) {
        const tg_delta_checkpoint *checkpoint = &log->checkpoints[i];
        if (checkpoint->version > version || checkpoint->version + 1 < reach) {
            continue;
        }
        /*
         * Commits below the checkpoint say nothing new, but one of them may let the visitor stop.
         */
        int64_t low = checkpoint->version + 1;
        if (purpose != TG_REPLAY_STATE) {
            int64_t far = version >= preference[purpose].files_max
                              ? version - preference[purpose].files_max + 1
                              : 0;
            far = far < reach ? reach : far;
            low = far < low ? far : low;
        }
        ways[count++] = (replay_way){checkpoint, low};
    }
    if (has_commits && !commits_first) {
        ways[count++] = (replay_way){NULL, 0};
    }
    return count;
}

static tg_code no_way(const tg_delta_log *log, int64_t version, tg_error *err)
{
    int64_t reach = commits_reach(log, version);
    bool has_older = (log->commit_count && log->commits[0] < reach) ||
                     (log->checkpoint_count && log->checkpoints[0].version < reach);
    if (has_older) {
        (void)TG_ERR(err, DELTA_VERSIONS_NOT_CONTIGUOUS,
                     "the log of Delta table `%.*s` lacks version %lld", TG_SARG(log->table_path),
                     (long long)reach - 1);
        return tg_error_hint(err,
                             "Restore the missing file %020lld.json, or read an older version.",
                             (long long)reach - 1);
    }
    if (reach > version) {
        int64_t oldest = log->commit_count ? log->commits[0] : tg_delta_log_latest(log);
        (void)TG_ERR(err, DELTA_VERSION_NOT_FOUND, "Delta table `%.*s` no longer has version %lld",
                     TG_SARG(log->table_path), (long long)version);
        return tg_error_hint(err, "The oldest commit file left is of version %lld.",
                             (long long)oldest);
    }
    TG_FAIL(err, DELTA_TRUNCATED_TRANSACTION_LOG,
            "the log of Delta table `%.*s` begins with version %lld and has no checkpoint for what "
            "was before",
            TG_SARG(log->table_path), (long long)reach);
}

static tg_code go(const tg_delta_log *log, int64_t version, replay_way way,
                  const tg_delta_visitor *visitor, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (int64_t v = version; v >= way.low; v--) {
        if (tg_env_is_cancelled(log->delta->env)) {
            TG_FAIL(err, TIDEGATE_CANCELLED, "interrupted");
        }
        bool stop = false;
        tg_str text;
        tg_arena_reset(arena);
        tg_str path = tg_delta_commit_path(log->folder, v, arena);
        TG_TRY(tg_delta_commit_file_read(log->delta, path, arena, &text, err));
        TG_TRY(tg_delta_text_visit(text, path, log->table_path, visitor, &stop, err));
        if (stop) {
            return TG_OK;
        }
    }
    return way.checkpoint ? visit_checkpoint(log, way.checkpoint, visitor, err) : TG_OK;
}

tg_code tg_delta_replay(const tg_delta_log *log, int64_t version, tg_delta_replay_for purpose,
                        const tg_delta_visitor *visitor, tg_error *err)
{
    replay_way ways[WAYS_MAX];
    size_t count = find_ways(log, version, purpose, ways);
    if (!count) {
        return no_way(log, version, err);
    }
    tg_auto_error tg_error first = TG_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_auto_error tg_error local = TG_ERROR_INIT;
        visitor->reset(visitor->self);
        tg_code code = go(log, version, ways[i], visitor, &local);
        if (code == TG_OK) {
            return TG_OK;
        }
        if (i == 0 || code == TG_CANCELLED) {
            tg_error_move(&first, &local);
        }
        if (code == TG_CANCELLED) {
            break;
        }
    }
    return tg_error_pass(&first, err);
}
