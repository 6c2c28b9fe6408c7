/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESTORE: an earlier version becomes the newest one again, by a commit like any other.
 *
 * A file that both versions have is left alone: added and removed in one commit it would mean nothing
 * to readers of the change feed. With another deletion vector it is removed with the one and added
 * with the other. What the table is now is read again after each lost race, so that
 * whatever was committed before the restore is undone by it, and nothing that came after.
 */
#include "delta/delta_int.h"

typedef struct restorer {
    const tg_delta *delta;
    tg_str table_path;
    const tg_delta_restore_options *options;
    tg_arena *arena;
    const tg_delta_snapshot *now, *then;
    TG_VEC(tg_delta_add) adds;
    TG_VEC(tg_delta_remove) removes;
    tg_delta_metadata metadata; /* that the table shall have */
    tg_delta_protocol protocol;
    bool has_same_partitioning;
    tg_delta_restore_result *result;
} restorer;

/* ---- what differs ---------------------------------------------------------------------------- */

static void remove_file(restorer *r, const tg_delta_add *file)
{
    tg_delta_remove remove = {.path = file->path,
                              .encoded_path = file->encoded_path,
                              .partition_values = file->partition_values,
                              .size_bytes = file->size_bytes,
                              .data_change = true,
                              .stats = file->stats,
                              .dv = file->dv};
    if (!r->has_same_partitioning) {
        remove.partition_values = NULL; /* they are of columns that the table will not have */
        remove.size_bytes = -1;
    }
    TG_VEC_PUSH(r->arena, &r->removes, remove);
    r->result->removed_files++;
    r->result->removed_bytes += file->size_bytes;
}

static void add_file(restorer *r, const tg_delta_add *file)
{
    tg_delta_add add = *file;
    add.data_change = true;
    TG_VEC_PUSH(r->arena, &r->adds, add);
    r->result->restored_files++;
    r->result->restored_bytes += file->size_bytes;
}

/* Both lists are in path order. */
static void compare_files(restorer *r)
{
    size_t i = 0, j = 0;
    while (i < r->now->file_count && j < r->then->file_count) {
        int order = tg_str_cmp(r->now->files[i].path, r->then->files[j].path);
        bool is_same = order == 0 && tg_delta_dv_equal(r->now->files[i].dv, r->then->files[j].dv);
        if (order <= 0 && !is_same) {
            remove_file(r, &r->now->files[i]);
        }
        if (order >= 0 && !is_same) {
            add_file(r, &r->then->files[j]);
        }
        i += order <= 0;
        j += order >= 0;
    }
    for (; i < r->now->file_count; i++) {
        remove_file(r, &r->now->files[i]);
    }
    for (; j < r->then->file_count; j++) {
        add_file(r, &r->then->files[j]);
    }
    r->result->files_after = (int64_t)r->then->file_count;
    for (j = 0; j < r->then->file_count; j++) {
        r->result->bytes_after += r->then->files[j].size_bytes;
    }
}

static bool is_kept(const restorer *r, tg_str key)
{
    for (size_t i = 0; i < r->options->kept_key_count; i++) {
        if (tg_str_ieq(r->options->kept_keys[i], key)) {
            return true;
        }
    }
    return false;
}

static void take_properties(restorer *r, const tg_delta_metadata *from, bool kept_ones,
                            tg_str *keys, tg_str *values)
{
    for (size_t i = 0; i < from->config_count; i++) {
        if (is_kept(r, from->config_keys[i]) == kept_ones) {
            keys[r->metadata.config_count] = from->config_keys[i];
            values[r->metadata.config_count++] = from->config_values[i];
        }
    }
}

static void choose_metadata(restorer *r)
{
    const tg_delta_metadata *now = &r->now->metadata, *then = &r->then->metadata;
    size_t most = now->config_count + then->config_count;
    tg_str *keys = TG_NEW_ARRAY(r->arena, tg_str, most);
    tg_str *values = TG_NEW_ARRAY(r->arena, tg_str, most);
    r->metadata = *then;
    r->metadata.id = now->id;
    r->metadata.created_time_ms = now->created_time_ms;
    r->metadata.config_count = 0;
    take_properties(r, then, /* kept_ones= */ false, keys, values);
    take_properties(r, now, /* kept_ones= */ true, keys, values);
    r->metadata.config_keys = keys;
    r->metadata.config_values = values;
    tg_delta_mapping_keep_highest(now, &r->metadata, r->arena);
}

static bool has_properties_of(const tg_delta_metadata *a, const tg_delta_metadata *b)
{
    for (size_t i = 0; i < b->config_count; i++) {
        tg_str value = tg_delta_property(a, b->config_keys[i]);
        if (!value.ptr || !tg_str_eq(value, b->config_values[i])) {
            return false;
        }
    }
    return a->config_count == b->config_count;
}

static bool has_partitioning_of(const tg_delta_metadata *a, const tg_delta_metadata *b)
{
    for (size_t i = 0; i < a->partition_count && i < b->partition_count; i++) {
        if (!tg_str_eq(a->partition_columns[i], b->partition_columns[i])) {
            return false;
        }
    }
    return a->partition_count == b->partition_count;
}

static bool changes_metadata(const restorer *r)
{
    const tg_delta_metadata *now = &r->now->metadata, *then = &r->metadata;
    return !tg_str_eq(now->schema_string, then->schema_string) ||
           !tg_str_eq(now->name, then->name) || !tg_str_eq(now->description, then->description) ||
           !r->has_same_partitioning || !has_properties_of(now, then);
}

/* ---- the protocol ---------------------------------------------------------------------------- */

static const tg_str *join_features(restorer *r, const tg_str *a, size_t a_count, const tg_str *b,
                                   size_t b_count, size_t *out_count)
{
    tg_str *all = TG_NEW_ARRAY(r->arena, tg_str, a_count + b_count);
    size_t count = a_count;
    tg_copy_bytes(all, a, a_count * sizeof(*all));
    for (size_t i = 0; i < b_count; i++) {
        if (!tg_str_is_in(b[i], a, a_count)) {
            all[count++] = b[i];
        }
    }
    *out_count = count;
    return all;
}

/*
 * What the old version needed as well as what the table has now: others may have read the newer
 * protocol already, and files of both stay readable. True: it is another one than now.
 */
static bool choose_protocol(restorer *r)
{
    const tg_delta_protocol *now = &r->now->protocol, *then = &r->then->protocol;
    tg_delta_protocol joined = *now;
    if (then->min_reader_version > joined.min_reader_version) {
        joined.min_reader_version = then->min_reader_version;
    }
    if (then->min_writer_version > joined.min_writer_version) {
        joined.min_writer_version = then->min_writer_version;
    }
    joined.reader_features =
        join_features(r, now->reader_features, now->reader_feature_count, then->reader_features,
                      then->reader_feature_count, &joined.reader_feature_count);
    joined.writer_features =
        join_features(r, now->writer_features, now->writer_feature_count, then->writer_features,
                      then->writer_feature_count, &joined.writer_feature_count);
    if (joined.min_writer_version == 7 &&
        (then->min_writer_version < 7 || now->min_writer_version < 7) &&
        tg_delta_property_is_true(&r->metadata, TG_S("delta.appendOnly"))) {
        /* Legacy versions imply it; with named features it must be named when it is used. */
        const tg_str name = TG_S("appendOnly");
        joined.writer_features =
            join_features(r, joined.writer_features, joined.writer_feature_count, &name, 1,
                          &joined.writer_feature_count);
    }
    r->protocol = joined;
    return joined.min_reader_version != now->min_reader_version ||
           joined.min_writer_version != now->min_writer_version ||
           joined.reader_feature_count != now->reader_feature_count ||
           joined.writer_feature_count != now->writer_feature_count;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static tg_code check_append_only(const restorer *r, tg_error *err)
{
    if (!r->removes.count ||
        !tg_delta_property_is_true(&r->now->metadata, TG_S("delta.appendOnly"))) {
        return TG_OK;
    }
    (void)TG_ERR(err, DELTA_CANNOT_MODIFY_APPEND_ONLY,
                 "cannot restore Delta table `%.*s`: it only allows appends, and rows that came "
                 "after version %lld would go",
                 TG_SARG(r->table_path), (long long)r->then->version);
    return tg_error_hint(err, "Set its table property delta.appendOnly to false if this is meant.");
}

static tg_code find_missing(const tg_delta *delta, tg_str table_path, const tg_delta_add *files,
                            size_t count, size_t *out_count, tg_str *out_first, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    *out_count = 0;
    *out_first = (tg_str){0};
    for (size_t i = 0; i < count; i++) {
        bool exists;
        TG_TRY(tg_fs_exists(delta->fs, tg_path_join(scratch, table_path, files[i].path), &exists,
                            err));
        *out_first = !exists && !*out_count ? files[i].path : *out_first;
        *out_count += !exists;
    }
    return TG_OK;
}

static tg_code check_files(const restorer *r, tg_error *err)
{
    size_t missing;
    tg_str first;
    TG_TRY(find_missing(r->delta, r->now->table_path, r->adds.items, r->adds.count, &missing,
                        &first, err));
    if (!missing) {
        return TG_OK;
    }
    (void)TG_ERR(err, TIDEGATE_RESTORE_FILES_MISSING,
                 "cannot restore Delta table `%.*s` to version %lld: %zu of the %zu data files "
                 "that it would need again are gone, the first is `%.*s`",
                 TG_SARG(r->table_path), (long long)r->then->version, missing, r->adds.count,
                 TG_SARG(first));
    (void)tg_error_detail(err, "VACUUM removes data files that no version within its retention "
                               "needs. Nothing was written.");
    return tg_error_hint(err,
                         "Restore a newer version whose files are still there, put the files back, "
                         "or compute the rows again: tidegate run");
}

/* ---- the commit ------------------------------------------------------------------------------ */

static tg_property number(restorer *r, const char *key, int64_t value)
{
    return (tg_property){.key = tg_str_from(key),
                         .value = tg_str_printf(r->arena, "%lld", (long long)value)};
}

static tg_code commit(restorer *r, bool has_protocol, bool has_metadata, tg_error *out_warning,
                      tg_error *err)
{
    tg_property parameters[2];
    size_t parameter_count = 1;
    parameters[0] = number(r, "version", r->options->version);
    if (r->options->timestamp.len) {
        parameters[parameter_count++] =
            (tg_property){.key = TG_S("timestamp"), .value = r->options->timestamp};
    }
    const tg_property metrics[] = {
        number(r, "tableSizeAfterRestore", r->result->bytes_after),
        number(r, "numOfFilesAfterRestore", r->result->files_after),
        number(r, "numRemovedFiles", r->result->removed_files),
        number(r, "numRestoredFiles", r->result->restored_files),
        number(r, "removedFilesSize", r->result->removed_bytes),
        number(r, "restoredFilesSize", r->result->restored_bytes),
    };
    const tg_region everything = tg_region_all();
    tg_delta_change change = {.protocol = has_protocol ? &r->protocol : NULL,
                              .metadata = has_metadata ? &r->metadata : NULL,
                              .adds = r->adds.items,
                              .add_count = r->adds.count,
                              .adds_are_restored = true,
                              .removes = r->removes.items,
                              .remove_count = r->removes.count,
                              .operation = TG_S("RESTORE"),
                              .parameters = parameters,
                              .parameter_count = parameter_count,
                              .metrics = metrics,
                              .metric_count = sizeof(metrics) / sizeof(*metrics),
                              .read_region = &everything};
    const tg_delta_commit_options options = {
        .read_version = r->now->version, .snapshot = r->now, .zone = r->options->zone};
    return tg_delta_commit_change(r->delta, r->table_path, &change, &options, r->arena,
                                  &r->result->committed_version, out_warning, err);
}

static tg_code attempt(const tg_delta *delta, tg_str table_path,
                       const tg_delta_restore_options *options, tg_arena *arena,
                       tg_delta_restore_result *out_result, tg_error *out_warning, tg_error *err)
{
    *out_result = (tg_delta_restore_result){.committed_version = -1};
    restorer r = {.delta = delta, .options = options, .arena = arena, .result = out_result};
    TG_TRY(tg_delta_table_folder(delta, table_path, arena, &r.table_path, err));
    TG_TRY(tg_delta_snapshot_load(delta, table_path, -1, arena, &r.now, err));
    TG_TRY(tg_delta_snapshot_load(delta, table_path, options->version, arena, &r.then, err));
    r.has_same_partitioning = has_partitioning_of(&r.now->metadata, &r.then->metadata);
    choose_metadata(&r);
    compare_files(&r);
    bool has_metadata = changes_metadata(&r);
    bool has_protocol = choose_protocol(&r);
    if (!has_metadata && !has_protocol && !r.adds.count && !r.removes.count) {
        return TG_OK;
    }
    TG_TRY(check_append_only(&r, err));
    TG_TRY(check_files(&r, err));
    return commit(&r, has_protocol, has_metadata, out_warning, err);
}

tg_code tg_delta_restore(const tg_delta *delta, tg_str table_path,
                         const tg_delta_restore_options *options, tg_arena *arena,
                         tg_delta_restore_result *out_result, tg_error *out_warning, tg_error *err)
{
    for (int attempts = 1;; attempts++) {
        tg_auto_error tg_error local = TG_ERROR_INIT;
        tg_code code = attempt(delta, table_path, options, arena, out_result, out_warning, &local);
        bool is_again = code == TG_CONFLICT && attempts < TG_LIMIT_COMMIT_ATTEMPTS &&
                        !tg_env_is_cancelled(delta->env);
        if (!is_again) {
            return code == TG_OK ? TG_OK : tg_error_pass(&local, err);
        }
    }
}

tg_code tg_delta_missing_files(const tg_delta *delta, tg_str table_path, int64_t version,
                               tg_arena *arena, size_t *out_count, tg_str *out_first, tg_error *err)
{
    const tg_delta_snapshot *snapshot;
    TG_TRY(tg_delta_snapshot_load(delta, table_path, version, arena, &snapshot, err));
    return find_missing(delta, snapshot->table_path, snapshot->files, snapshot->file_count,
                        out_count, out_first, err);
}

tg_code tg_delta_find_commit(const tg_delta *delta, tg_str table_path,
                             bool (*is_wanted)(void *self, tg_str user_metadata), void *self,
                             int64_t *out_version, tg_error *err)
{
    tg_auto_arena tg_arena *names = tg_arena_new();
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, names, &log, err));
    *out_version = -1;
    for (size_t i = 0; i < log.commit_count && *out_version < 0; i++) {
        tg_auto_error tg_error local = TG_ERROR_INIT;
        const tg_delta_commit *commit;
        tg_arena_reset(scratch);
        tg_code code = tg_delta_commit_read(delta, table_path, log.commits[i], NULL, 0, scratch,
                                            &commit, &local);
        if (code == TG_NOT_FOUND) {
            continue; /* cleaned up while we looked */
        }
        if (code != TG_OK) {
            return tg_error_pass(&local, err);
        }
        if (commit->user_metadata.len && is_wanted(self, commit->user_metadata)) {
            *out_version = commit->version;
        }
    }
    return TG_OK;
}
