/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VACUUM: files in a table's folder that no version within the retention refers to, and that are old
 * enough (Delta protocol and Delta's VACUUM).
 *
 * Order: the folder is listed first, then the log is read. A file of a version that is committed in
 * between is in the list and in the log; a file that is written later is in neither. What is being
 * written and not committed yet is kept by its age alone. Hidden names (_*, .*) are never touched but
 * for _change_data and folders of partition columns; neither are symbolic links, nor folders that are
 * Delta tables of their own.
 */
#include <stdlib.h>

#include "delta/delta_int.h"

typedef struct found_file {
    tg_str path; /* relative to the table */
    int64_t size_bytes, mtime_ms;
    bool is_folder; /* an empty one */
} found_file;

typedef struct vacuum {
    const tg_delta *delta;
    tg_arena *arena;
    const tg_delta_metadata *metadata;
    tg_str folder;
    int64_t cutoff_ms;
    TG_VEC(found_file) found;
    tg_map seen, kept; /* file keys; paths that stay */
    int64_t folders;
} vacuum;

/* ---- the folder ------------------------------------------------------------------------------ */

static bool is_partition_folder(const vacuum *v, tg_str name)
{
    for (size_t i = 0; i < v->metadata->partition_count; i++) {
        tg_str column = v->metadata->partition_columns[i];
        if (name.len > column.len && name.ptr[column.len] == '=' &&
            tg_str_ieq(tg_str_sub(name, 0, column.len), column)) {
            return true;
        }
    }
    return false;
}

static bool is_passed_over(const vacuum *v, tg_str parent, const tg_fs_entry *entry)
{
    bool is_hidden = entry->name.ptr[0] == '_' || entry->name.ptr[0] == '.';
    bool is_change_data =
        !parent.len && entry->is_folder && tg_str_eq(entry->name, TG_S("_change_data"));
    return entry->is_link || (is_hidden && !is_change_data &&
                              !(entry->is_folder && is_partition_folder(v, entry->name)));
}

static bool is_table(const tg_fs_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].is_folder && tg_str_eq(entries[i].name, TG_S("_delta_log"))) {
            return true;
        }
    }
    return false;
}

/* parent: relative to the table, empty for the table itself. */
static tg_code list_folder(vacuum *v, tg_str parent, int64_t mtime_ms, int depth, tg_error *err)
{
    tg_fs_entry *entries;
    size_t count;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_str path = parent.len ? tg_path_join(v->arena, v->folder, parent) : v->folder;
    if (depth > TG_LIMIT_FOLDER_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "`%.*s` lies more than %d folders deep",
                TG_SARG(path), TG_LIMIT_FOLDER_DEPTH);
    }
    tg_code code = tg_fs_list(v->delta->fs, path, true, v->arena, &entries, &count, &local);
    if (code == TG_NOT_FOUND) {
        return TG_OK; /* somebody else cleans up too */
    }
    if (code != TG_OK) {
        return tg_error_pass(&local, err);
    }
    if (parent.len && is_table(entries, count)) {
        return TG_OK;
    }
    v->folders++;
    if (parent.len && !count) {
        TG_VEC_PUSH(v->arena, &v->found,
                    ((found_file){.path = parent, .mtime_ms = mtime_ms, .is_folder = true}));
    }
    for (size_t i = 0; i < count; i++) {
        const tg_fs_entry *entry = &entries[i];
        if (is_passed_over(v, parent, entry)) {
            continue;
        }
        tg_str child = parent.len ? tg_path_join(v->arena, parent, entry->name)
                                  : tg_str_copy(v->arena, entry->name);
        if (entry->is_folder) {
            TG_TRY(list_folder(v, child, entry->mtime_ms, depth + 1, err));
        } else {
            TG_VEC_PUSH(v->arena, &v->found,
                        ((found_file){.path = child,
                                      .size_bytes = entry->size_bytes,
                                      .mtime_ms = entry->mtime_ms}));
        }
    }
    return TG_OK;
}

/* ---- the log --------------------------------------------------------------------------------- */

/* A vector whose file cannot be told ends VACUUM: anything could be that file. */
static tg_code keep(vacuum *v, const tg_delta_file_action *file, tg_error *err)
{
    (void)tg_map_put(&v->kept, tg_str_copy(v->arena, file->path), v);
    if (file->dv && file->dv->storage != 'i') {
        tg_str path;
        TG_TRY(tg_delta_dv_file(v->folder, file->dv, v->arena, &path, err));
        (void)tg_map_put(&v->kept, path, v);
    }
    return TG_OK;
}

/* Newest first: of each file (path and deletion vector) the first action decides. */
static tg_code look_at_action(void *self, const tg_delta_action *action, bool *out_stop,
                              tg_error *err)
{
    vacuum *v = self;
    (void)out_stop;
    const tg_delta_file_action *file = &action->file;
    tg_str key = tg_str_printf(v->arena, "%.*s\n%.*s", TG_SARG(file->path), TG_SARG(file->dv_id));
    if (tg_map_has(&v->seen, key)) {
        return TG_OK;
    }
    (void)tg_map_put(&v->seen, key, v);
    if (action->kind == TG_ACTION_ADD || file->time_ms >= v->cutoff_ms) {
        return keep(v, file, err);
    }
    return TG_OK;
}

static void forget(void *self)
{
    vacuum *v = self;
    tg_map_init(&v->seen, v->arena);
    tg_map_init(&v->kept, v->arena);
}

static tg_code read_log(vacuum *v, tg_error *err)
{
    tg_delta_log log;
    int64_t version;
    const tg_delta_visitor visitor = {.self = v,
                                      .wanted = TG_ACTION_ADD | TG_ACTION_REMOVE,
                                      .action = look_at_action,
                                      .reset = forget};
    forget(v);
    TG_TRY(tg_delta_log_list(v->delta, v->folder, v->arena, &log, err));
    TG_TRY(tg_delta_log_resolve(&log, -1, &version, err));
    return tg_delta_replay(&log, version, TG_REPLAY_STATE, &visitor, err);
}

/* ---- deciding and deleting ------------------------------------------------------------------- */

static tg_code check_retention(const tg_delta_vacuum_options *options, int64_t wanted_ms,
                               tg_str table_path, tg_error *err)
{
    if (!options->checks_retention || options->retain_ms < 0 || options->retain_ms >= wanted_ms) {
        return TG_OK;
    }
    const int64_t hour = 3600000;
    (void)TG_ERR(err, TIDEGATE_VACUUM_RETENTION_TOO_SHORT,
                 "are you sure you would like to vacuum files with such a low retention period? "
                 "Delta table `%.*s` keeps removed files for %lld hours",
                 TG_SARG(table_path), (long long)(wanted_ms / hour));
    return tg_error_hint(
        err, "Readers and writers that run now, and refreshes that read an older version, may need "
             "these files. If you are sure that there are none: SET "
             "spark.databricks.delta.retentionDurationCheck.enabled = false");
}

static int compare_found(const void *a, const void *b)
{
    return tg_str_cmp(((const found_file *)a)->path, ((const found_file *)b)->path);
}

static bool goes(const vacuum *v, const found_file *file)
{
    return file->mtime_ms >= 0 && file->mtime_ms < v->cutoff_ms &&
           (file->is_folder || !tg_map_has(&v->kept, file->path));
}

static tg_code remove_file(const vacuum *v, const found_file *file, tg_error *err)
{
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str path = tg_path_join(scratch, v->folder, file->path);
    if (tg_env_is_cancelled(v->delta->env)) {
        TG_FAIL(err, TIDEGATE_CANCELLED, "VACUUM was interrupted; it can be run again");
    }
    if (file->is_folder) { /* the slash: a file of that name is left alone; filled meanwhile: stays */
        (void)tg_fs_remove(v->delta->fs, tg_str_printf(scratch, "%.*s/", TG_SARG(path)), NULL);
        return TG_OK;
    }
    tg_code code = tg_fs_remove(v->delta->fs, path, &local);
    return code == TG_OK || code == TG_NOT_FOUND ? TG_OK : tg_error_pass(&local, err);
}

static tg_code remove_found(vacuum *v, bool dry_run, tg_delta_vacuum_result *out, tg_error *err)
{
    TG_VEC(tg_str) files = {0};
    if (v->found.count) {
        qsort(v->found.items, v->found.count, sizeof(*v->found.items), compare_found);
    }
    /* Backwards: what lies in a folder goes before it. */
    for (size_t i = 0; i < v->found.count; i++) {
        if (goes(v, &v->found.items[i]) && !v->found.items[i].is_folder) {
            TG_VEC_PUSH(v->arena, &files, v->found.items[i].path);
            out->bytes += v->found.items[i].size_bytes;
        }
    }
    for (size_t i = v->found.count; i-- > 0 && !dry_run;) {
        if (goes(v, &v->found.items[i])) {
            TG_TRY(remove_file(v, &v->found.items[i], err));
        }
    }
    out->files = files.items;
    out->file_count = files.count;
    out->folders = v->folders;
    return TG_OK;
}

tg_code tg_delta_vacuum(const tg_delta *delta, tg_str table_path,
                        const tg_delta_vacuum_options *options, tg_arena *arena,
                        tg_delta_vacuum_result *out_result, tg_error *err)
{
    const tg_delta_snapshot *table;
    TG_TRY(tg_delta_metadata_load(delta, table_path, -1, arena, &table, err));
    TG_TRY(tg_delta_check_writable(table->table_path, &table->protocol, &table->metadata, err));
    int64_t wanted_ms = tg_delta_tombstone_retention_ms(&table->metadata);
    TG_TRY(check_retention(options, wanted_ms, table->table_path, err));
    int64_t retain_ms = options->retain_ms < 0 ? wanted_ms : options->retain_ms;
    vacuum v = {.delta = delta,
                .arena = arena,
                .metadata = &table->metadata,
                .folder = table->table_path,
                .cutoff_ms = delta->env->now_us(delta->env->self) / 1000};
    if (__builtin_sub_overflow(v.cutoff_ms, retain_ms, &v.cutoff_ms)) {
        v.cutoff_ms = INT64_MIN;
    }
    *out_result = (tg_delta_vacuum_result){0};
    TG_TRY(list_folder(&v, TG_S(""), -1, 0, err));
    TG_TRY(read_log(&v, err));
    return remove_found(&v, options->dry_run, out_result, err);
}
