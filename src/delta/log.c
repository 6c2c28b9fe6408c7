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

/* A name as what it is. */
typedef struct log_name {
    enum { NAME_OTHER, NAME_COMMIT, NAME_CHECKPOINT } what;
    int64_t version;
    tg_delta_checkpoint_kind kind;
    int64_t part, parts; /* of a multi-part checkpoint, counted from 1 */
    tg_str name;
} log_name;

typedef TG_VEC(log_name) name_vec;
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

/* <10 digits>.<10 digits>.parquet */
static bool parse_parts(tg_str rest, log_name *out)
{
    const size_t digits = PART_DIGITS;
    return rest.len == 2 * digits + sizeof(".") - 1 + sizeof(".parquet") - 1 &&
           rest.ptr[digits] == '.' && tg_str_ends(rest, TG_S(".parquet")) &&
           are_digits(tg_str_sub(rest, 0, digits)) &&
           are_digits(tg_str_sub(rest, digits + 1, 2 * digits + 1)) &&
           tg_str_to_i64(tg_str_sub(rest, 0, digits), &out->part) &&
           tg_str_to_i64(tg_str_sub(rest, digits + 1, 2 * digits + 1), &out->parts) &&
           out->part >= 1 && out->part <= out->parts;
}

static log_name classify(tg_str name)
{
    const log_name other = {.name = name};
    log_name found = other;
    if (name.len <= VERSION_DIGITS ||
        !parse_version(tg_str_sub(name, 0, VERSION_DIGITS), &found.version)) {
        return other;
    }
    tg_str rest = tg_str_sub(name, VERSION_DIGITS, name.len);
    if (tg_str_eq(rest, TG_S(".json"))) {
        found.what = NAME_COMMIT;
        return found;
    }
    found.what = NAME_CHECKPOINT;
    if (tg_str_eq(rest, TG_S(".checkpoint.parquet"))) {
        found.kind = TG_CHECKPOINT_CLASSIC;
        return found;
    }
    tg_str prefix = TG_S(".checkpoint.");
    if (!tg_str_starts(rest, prefix)) {
        return other;
    }
    rest = tg_str_sub(rest, prefix.len, rest.len);
    if (parse_parts(rest, &found)) {
        found.kind = TG_CHECKPOINT_MULTI_PART;
        return found;
    }
    bool is_v2 = rest.len > UUID_LEN && rest.ptr[8] == '-' &&
                 (tg_str_ends(rest, TG_S(".parquet")) || tg_str_ends(rest, TG_S(".json")));
    found.kind = TG_CHECKPOINT_V2;
    return is_v2 ? found : other;
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

/* By version, then kind; parts of one set together and in order. */
static int compare_names(const void *a, const void *b)
{
    const log_name *x = a, *y = b;
    if (x->version != y->version) {
        return x->version < y->version ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->parts != y->parts) {
        return x->parts < y->parts ? -1 : 1;
    }
    return x->part != y->part ? (x->part < y->part ? -1 : 1) : tg_str_cmp(x->name, y->name);
}

/* Names of checkpoints, sorted, as checkpoints; sets that lack a part are left out. */
static void gather_checkpoints(const name_vec *names, tg_arena *arena, tg_delta_log *log)
{
    TG_VEC(tg_delta_checkpoint) found = {0};
    for (size_t i = 0; i < names->count;) {
        const log_name *first = &names->items[i];
        size_t count = 1;
        if (first->kind == TG_CHECKPOINT_MULTI_PART) {
            while (i + count < names->count && first[count].version == first->version &&
                   first[count].kind == first->kind && first[count].parts == first->parts) {
                count++;
            }
        }
        if (first->kind != TG_CHECKPOINT_MULTI_PART || (int64_t)count == first->parts) {
            tg_str *copy = TG_NEW_ARRAY(arena, tg_str, count);
            for (size_t j = 0; j < count; j++) {
                copy[j] = first[j].name;
            }
            TG_VEC_PUSH(arena, &found,
                        ((tg_delta_checkpoint){first->version, first->kind, copy, count}));
        }
        i += count;
    }
    log->checkpoints = found.items;
    log->checkpoint_count = found.count;
}

tg_code tg_delta_log_list(const tg_delta *delta, tg_str table_path, tg_arena *arena,
                          tg_delta_log *out, tg_error *err)
{
    tg_delta_log log = {.delta = delta};
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
    name_vec checkpoints = {0};
    for (size_t i = 0; i < count && code == TG_OK; i++) {
        log_name name = classify(entries[i].name);
        if (name.what == NAME_COMMIT) {
            TG_VEC_PUSH(arena, &commits, name.version);
        } else if (name.what == NAME_CHECKPOINT) {
            TG_VEC_PUSH(arena, &checkpoints, name);
        }
    }
    if (commits.count) {
        qsort(commits.items, commits.count, sizeof(int64_t), compare_versions);
    }
    if (checkpoints.count) {
        qsort(checkpoints.items, checkpoints.count, sizeof(log_name), compare_names);
    }
    log.commits = commits.items;
    log.commit_count = commits.count;
    gather_checkpoints(&checkpoints, arena, &log);
    *out = log;
    return TG_OK;
}

int64_t tg_delta_log_latest(const tg_delta_log *log)
{
    int64_t latest = log->commit_count ? log->commits[log->commit_count - 1] : -1;
    int64_t checkpoint =
        log->checkpoint_count ? log->checkpoints[log->checkpoint_count - 1].version : -1;
    return checkpoint > latest ? checkpoint : latest;
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
        tg_code code = TG_NOT_FOUND;
        for (size_t i = 0; i < log->checkpoint_count && code == TG_NOT_FOUND; i++) {
            if (log->checkpoints[i].version == version) {
                tg_str path = tg_path_join(scratch, log->folder, log->checkpoints[i].names[0]);
                code = file_time(log, path, out_ms, &local);
            }
        }
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
