/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder _delta_log: which versions and checkpoints there are, and when a version was written.
 *
 * The folder is always listed, so `_last_checkpoint` tells nothing new and is not read: a missing,
 * stale or damaged one cannot matter. Names that are not commits or checkpoints (.crc, .tmp,
 * compacted logs, foreign files) are passed over; compacted logs because they only repeat commits.
 */
#include <stdlib.h>

#include "delta/delta_int.h"

enum { VERSION_DIGITS = 20, PART_DIGITS = 10, UUID_LEN = 36, ANCHOR_COMMITS = 100 };

typedef enum name_kind {
    NAME_OTHER,
    NAME_COMMIT,
    NAME_CHECKPOINT,
    NAME_MULTI_PART,
    NAME_V2
} name_kind;

typedef TG_VEC(int64_t) version_vec;

/* ---- names ----------------------------------------------------------------------------------- */

static bool are_digits(tg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

static bool parse_version(tg_str text, int64_t *out)
{
    return text.len == VERSION_DIGITS && are_digits(text) && tg_str_to_i64(text, out);
}

static name_kind classify(tg_str name, int64_t *out_version)
{
    if (name.len <= VERSION_DIGITS ||
        !parse_version(tg_str_sub(name, 0, VERSION_DIGITS), out_version)) {
        return NAME_OTHER;
    }
    tg_str rest = tg_str_sub(name, VERSION_DIGITS, name.len);
    if (tg_str_eq(rest, TG_S(".json"))) {
        return NAME_COMMIT;
    }
    if (tg_str_eq(rest, TG_S(".checkpoint.parquet"))) {
        return NAME_CHECKPOINT;
    }
    tg_str prefix = TG_S(".checkpoint.");
    if (!tg_str_starts(rest, prefix)) {
        return NAME_OTHER;
    }
    rest = tg_str_sub(rest, prefix.len, rest.len);
    if (rest.len == (size_t)2 * PART_DIGITS + sizeof(".") - 1 + sizeof(".parquet") - 1 &&
        tg_str_ends(rest, TG_S(".parquet")) && rest.ptr[PART_DIGITS] == '.' &&
        are_digits(tg_str_sub(rest, 0, PART_DIGITS))) {
        return NAME_MULTI_PART;
    }
    bool is_v2 = rest.len > UUID_LEN && rest.ptr[8] == '-' &&
                 (tg_str_ends(rest, TG_S(".parquet")) || tg_str_ends(rest, TG_S(".json")));
    return is_v2 ? NAME_V2 : NAME_OTHER;
}

tg_str tg_delta_log_folder(tg_str table_folder, tg_arena *arena)
{
    return tg_path_join(arena, table_folder, TG_S("_delta_log"));
}

tg_str tg_delta_commit_path(tg_str log_folder, int64_t version, tg_arena *arena)
{
    return tg_str_printf(arena, "%.*s/%020lld.json", TG_SARG(log_folder), (long long)version);
}

tg_str tg_delta_checkpoint_path(tg_str log_folder, int64_t version, tg_arena *arena)
{
    return tg_str_printf(arena, "%.*s/%020lld.checkpoint.parquet", TG_SARG(log_folder),
                         (long long)version);
}

tg_code tg_delta_table_folder(const tg_delta *delta, tg_str table_path, tg_arena *arena,
                              tg_str *out, tg_error *err)
{
    if (tg_path_is_absolute(table_path)) {
        *out = tg_path_normalize(arena, table_path);
        return TG_OK;
    }
    tg_str here;
    TG_TRY(tg_fs_real_path(delta->fs, TG_S("."), arena, &here, err));
    *out = tg_path_normalize(arena, tg_path_join(arena, here, table_path));
    return TG_OK;
}

/* ---- listing --------------------------------------------------------------------------------- */

static int compare_versions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

tg_code tg_delta_log_list(const tg_delta *delta, tg_str table_path, tg_arena *arena,
                          tg_delta_log *out, tg_error *err)
{
    tg_delta_log log = {.delta = delta, .multi_part_checkpoint = -1, .v2_checkpoint = -1};
    TG_TRY(tg_delta_table_folder(delta, table_path, arena, &log.table_path, err));
    log.folder = tg_delta_log_folder(log.table_path, arena);

    tg_fs_entry *entries = NULL;
    size_t count = 0;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_code code = tg_fs_list(delta->fs, log.folder, false, arena, &entries, &count, &local);
    if (code != TG_OK && code != TG_NOT_FOUND) {
        return tg_error_pass(&local, err);
    }
    version_vec commits = {0};
    version_vec checkpoints = {0};
    for (size_t i = 0; i < count && code == TG_OK; i++) {
        int64_t version;
        switch (classify(entries[i].name, &version)) {
        case NAME_COMMIT:
            TG_VEC_PUSH(arena, &commits, version);
            break;
        case NAME_CHECKPOINT:
            TG_VEC_PUSH(arena, &checkpoints, version);
            break;
        case NAME_MULTI_PART:
            log.multi_part_checkpoint =
                version > log.multi_part_checkpoint ? version : log.multi_part_checkpoint;
            break;
        case NAME_V2:
            log.v2_checkpoint = version > log.v2_checkpoint ? version : log.v2_checkpoint;
            break;
        case NAME_OTHER:
            break;
        }
    }
    if (commits.count) {
        qsort(commits.items, commits.count, sizeof(int64_t), compare_versions);
    }
    if (checkpoints.count) {
        qsort(checkpoints.items, checkpoints.count, sizeof(int64_t), compare_versions);
    }
    log.commits = commits.items;
    log.commit_count = commits.count;
    log.checkpoints = checkpoints.items;
    log.checkpoint_count = checkpoints.count;
    *out = log;
    return TG_OK;
}

int64_t tg_delta_log_latest(const tg_delta_log *log)
{
    int64_t latest = log->commit_count ? log->commits[log->commit_count - 1] : -1;
    int64_t checkpoint = log->checkpoint_count ? log->checkpoints[log->checkpoint_count - 1] : -1;
    latest = checkpoint > latest ? checkpoint : latest;
    latest = log->multi_part_checkpoint > latest ? log->multi_part_checkpoint : latest;
    return log->v2_checkpoint > latest ? log->v2_checkpoint : latest;
}

tg_code tg_delta_log_resolve(const tg_delta_log *log, int64_t version, int64_t *out_version,
                             tg_error *err)
{
    int64_t latest = tg_delta_log_latest(log);
    if (latest < 0) {
        TG_FAIL(err, DELTA_TABLE_NOT_FOUND, "no Delta table at `%.*s`: %.*s has no version",
                TG_SARG(log->table_path), TG_SARG(log->folder));
    }
    if (version > latest || version < -1) {
        (void)TG_ERR(err, DELTA_VERSION_NOT_FOUND, "Delta table `%.*s` has no version %lld",
                     TG_SARG(log->table_path), (long long)version);
        return tg_error_hint(err, "The latest version is %lld.", (long long)latest);
    }
    *out_version = version < 0 ? latest : version;
    return TG_OK;
}

ptrdiff_t tg_delta_log_find_commit(const tg_delta_log *log, int64_t version)
{
    const int64_t *found = log->commit_count ? bsearch(&version, log->commits, log->commit_count,
                                                       sizeof(version), compare_versions)
                                             : NULL;
    return found ? found - log->commits : -1;
}

tg_code tg_delta_exists(const tg_delta *delta, tg_str table_path, bool *out_exists, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    *out_exists = tg_delta_log_latest(&log) >= 0;
    return TG_OK;
}

tg_code tg_delta_latest_version(const tg_delta *delta, tg_str table_path, int64_t *out_version,
                                tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    return tg_delta_log_resolve(&log, -1, out_version, err);
}

/* ---- times ----------------------------------------------------------------------------------- */

static tg_code file_time(const tg_delta_log *log, tg_str path, int64_t *out_ms, tg_error *err)
{
    tg_fs_entry entry;
    TG_TRY(tg_fs_stat(log->delta->fs, path, &entry, err));
    *out_ms = entry.mtime_ms;
    return TG_OK;
}

/*
 * File times made monotonic from commits[first] on: a version is at least a millisecond younger
 * than the one before. Calls it for [first, last]; out has one slot per version.
 */
static tg_code monotonic_times(const tg_delta_log *log, size_t first, size_t last,
                               tg_arena *scratch, int64_t *out, tg_error *err)
{
    for (size_t i = first; i <= last; i++) {
        int64_t ms;
        TG_TRY(
            file_time(log, tg_delta_commit_path(log->folder, log->commits[i], scratch), &ms, err));
        int64_t floor_ms = i > first ? out[i - first - 1] + 1 : INT64_MIN;
        out[i - first] = ms > floor_ms ? ms : floor_ms;
    }
    return TG_OK;
}

tg_code tg_delta_log_timestamp(const tg_delta_log *log, int64_t version, int64_t *out_ms,
                               tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    ptrdiff_t position = tg_delta_log_find_commit(log, version);
    if (position < 0) {
        /* Only a checkpoint is left of it. */
        tg_auto_error tg_error local = TG_ERROR_INIT;
        tg_code code =
            file_time(log, tg_delta_checkpoint_path(log->folder, version, scratch), out_ms, &local);
        if (code == TG_NOT_FOUND) {
            *out_ms = 0;
            return TG_OK;
        }
        return code == TG_OK ? TG_OK : tg_error_pass(&local, err);
    }
    size_t last = (size_t)position;
    size_t first = last > ANCHOR_COMMITS ? last - ANCHOR_COMMITS : 0;
    int64_t *times = TG_NEW_ARRAY(scratch, int64_t, last - first + 1);
    TG_TRY(monotonic_times(log, first, last, scratch, times, err));
    *out_ms = times[last - first];
    return TG_OK;
}

tg_code tg_delta_version_at(const tg_delta *delta, tg_str table_path, int64_t timestamp_ms,
                            int64_t *out_version, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const tg_delta_snapshot *latest;
    TG_TRY(tg_delta_metadata_load(delta, table_path, -1, scratch, &latest, err));
    if (tg_delta_property_is_true(&latest->metadata, TG_S("delta.enableInCommitTimestamps"))) {
        (void)TG_ERR(err, DELTA_UNSUPPORTED_FEATURES_FOR_READ,
                     "cannot look up a version of Delta table `%.*s` by time: it keeps in-commit "
                     "timestamps (inCommitTimestamp)",
                     TG_SARG(latest->table_path));
        return tg_error_hint(err, "Give the version by number (VERSION AS OF).");
    }
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    if (!log.commit_count) {
        TG_FAIL(err, DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION,
                "Delta table `%.*s` has no commit files to look up a time in",
                TG_SARG(log.table_path));
    }
    int64_t *times = TG_NEW_ARRAY(scratch, int64_t, log.commit_count);
    TG_TRY(monotonic_times(&log, 0, log.commit_count - 1, scratch, times, err));
    if (timestamp_ms < times[0]) {
        TG_FAIL(
            err, DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION,
            "timestamp %.*s is before the earliest version of Delta table `%.*s`, which is of %.*s",
            TG_SARG(tg_instant_text(scratch, timestamp_ms * 1000)), TG_SARG(log.table_path),
            TG_SARG(tg_instant_text(scratch, times[0] * 1000)));
    }
    size_t i = log.commit_count - 1;
    while (times[i] > timestamp_ms) {
        i--;
    }
    *out_version = log.commits[i];
    return TG_OK;
}

/* ---- commit files ---------------------------------------------------------------------------- */

tg_code tg_delta_commit_file_read(const tg_delta *delta, tg_str path, tg_arena *arena,
                                  tg_str *out_text, tg_error *err)
{
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_code code = tg_fs_read(delta->fs, path, TG_LIMIT_LOG_FILE_BYTES, arena, out_text, &local);
    if (code == TG_NOT_FOUND) {
        (void)TG_ERR(err, DELTA_LOG_FILE_NOT_FOUND, "Delta log file `%.*s` cannot be found",
                     TG_SARG(path));
        return tg_error_hint(
            err, "It may have been removed by log cleanup (delta.logRetentionDuration).");
    }
    return code == TG_OK ? TG_OK : tg_error_pass(&local, err);
}

tg_code tg_delta_commit_digest(const tg_delta *delta, tg_str table_path, int64_t version,
                               tg_digest *out_digest, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str folder;
    TG_TRY(tg_delta_table_folder(delta, table_path, scratch, &folder, err));
    tg_str text;
    tg_str path = tg_delta_commit_path(tg_delta_log_folder(folder, scratch), version, scratch);
    TG_TRY(tg_delta_commit_file_read(delta, path, scratch, &text, err));
    *out_digest = tg_digest_of(text);
    return TG_OK;
}
