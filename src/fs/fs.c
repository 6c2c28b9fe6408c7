/* SPDX-License-Identifier: Apache-2.0 */
/* The interface as functions, and what is built on it: existence, patterns. */
#include <stdlib.h>

#include "fs/fs.h"

tg_code tg_fs_read(const tg_fs *fs, tg_str path, size_t max_bytes, tg_arena *arena,
                   tg_str *out_bytes, tg_error *err)
{
    return fs->read(fs->self, path, max_bytes, arena, out_bytes, err);
}

tg_code tg_fs_list(const tg_fs *fs, tg_str folder, bool with_details, tg_arena *arena,
                   tg_fs_entry **out_entries, size_t *out_count, tg_error *err)
{
    return fs->list(fs->self, folder, with_details, arena, out_entries, out_count, err);
}

tg_code tg_fs_stat(const tg_fs *fs, tg_str path, tg_fs_entry *out_entry, tg_error *err)
{
    return fs->stat(fs->self, path, out_entry, err);
}

tg_code tg_fs_write_new(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err)
{
    return fs->write_new(fs->self, path, bytes, err);
}

tg_code tg_fs_write_replace(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err)
{
    return fs->write_replace(fs->self, path, bytes, err);
}

tg_code tg_fs_append(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err)
{
    return fs->append(fs->self, path, bytes, err);
}

tg_code tg_fs_rename(const tg_fs *fs, tg_str from, tg_str to, tg_error *err)
{
    return fs->rename(fs->self, from, to, err);
}

tg_code tg_fs_fsync_file(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->fsync_file(fs->self, path, err);
}

tg_code tg_fs_fsync_folder(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->fsync_folder(fs->self, path, err);
}

tg_code tg_fs_make_folders(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->make_folders(fs->self, path, err);
}

tg_code tg_fs_real_path(const tg_fs *fs, tg_str path, tg_arena *arena, tg_str *out_path,
                        tg_error *err)
{
    return fs->real_path(fs->self, path, arena, out_path, err);
}

tg_code tg_fs_remove(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->remove(fs->self, path, err);
}

tg_code tg_fs_remove_tree(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->remove_tree(fs->self, path, err);
}

tg_code tg_fs_read_part(const tg_fs *fs, tg_str path, int64_t offset, size_t max_bytes, tg_buf *out,
                        tg_error *err)
{
    return fs->read_part(fs->self, path, offset, max_bytes, out, err);
}

tg_code tg_fs_take_lock(const tg_fs *fs, tg_str path, tg_arena *arena, tg_fs_lock **out_lock,
                        tg_error *err)
{
    return fs->lock(fs->self, path, arena, out_lock, err);
}

tg_code tg_fs_is_locked(const tg_fs *fs, tg_str path, bool *out_is_locked, tg_error *err)
{
    return fs->is_locked(fs->self, path, out_is_locked, err);
}

void tg_fs_unlock(const tg_fs *fs, tg_fs_lock *lock)
{
    fs->unlock(fs->self, lock);
}

tg_code tg_fs_exists(const tg_fs *fs, tg_str path, bool *out_exists, tg_error *err)
{
    tg_fs_entry entry;
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    tg_code code = tg_fs_stat(fs, path, &entry, &inner);
    if (code == TG_OK || code == TG_NOT_FOUND) {
        *out_exists = code == TG_OK;
        return TG_OK;
    }
    return tg_error_pass(&inner, err);
}

/* ---- patterns -------------------------------------------------------------------------------- */

typedef TG_VEC(tg_str) path_list;

typedef struct glob_run {
    const tg_fs *fs;
    int flags;
    tg_arena *arena;
    path_list found;
    const tg_str *parts; /* of the pattern */
    size_t part_count;
} glob_run;

static bool is_hidden(tg_str name)
{
    return name.len > 0 && (name.ptr[0] == '.' || name.ptr[0] == '_');
}

static tg_code add_file(glob_run *run, tg_str path, tg_error *err)
{
    if (run->found.count >= TG_LIMIT_GLOB_FILES) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "a pattern matches more than %d files",
                TG_LIMIT_GLOB_FILES);
    }
    TG_VEC_PUSH(run->arena, &run->found, path);
    return TG_OK;
}

static tg_code walk(glob_run *run, tg_str folder, size_t part, int depth, tg_error *err);

/* An entry against pattern part number part. */
static tg_code visit(glob_run *run, tg_str folder, const tg_fs_entry *entry, size_t part, int depth,
                     tg_error *err)
{
    tg_str pattern = run->parts[part];
    bool is_last = part + 1 == run->part_count;
    tg_str path = tg_path_join(run->arena, folder, entry->name);
    if ((run->flags & TG_GLOB_SKIP_HIDDEN) && is_hidden(entry->name)) {
        return TG_OK;
    }
    if (tg_str_eq(pattern, TG_S("**"))) {
        if (entry->is_folder) {
            return walk(run, path, part, depth + 1, err);
        }
        return is_last ? add_file(run, path, err) : TG_OK;
    }
    if (!tg_glob_match_name(pattern, entry->name)) {
        return TG_OK;
    }
    if (is_last) {
        return entry->is_folder ? TG_OK : add_file(run, path, err);
    }
    return entry->is_folder ? walk(run, path, part + 1, depth + 1, err) : TG_OK;
}

static tg_code walk(glob_run *run, tg_str folder, size_t part, int depth, tg_error *err)
{
    if (depth > TG_LIMIT_FOLDER_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "folders are nested deeper than %d levels at %.*s",
                TG_LIMIT_FOLDER_DEPTH, TG_SARG(folder));
    }
    tg_fs_entry *entries;
    size_t count;
    tg_code code =
        tg_fs_list(run->fs, folder, /* with_details= */ false, run->arena, &entries, &count, err);
    if (code == TG_NOT_FOUND) {
        tg_error_clear(err);
        return TG_OK;
    }
    TG_TRY(code);
    /* "**" may also stand for no folder at all: the next part starts here. */
    if (tg_str_eq(run->parts[part], TG_S("**")) && part + 1 < run->part_count) {
        TG_TRY(walk(run, folder, part + 1, depth, err));
    }
    for (size_t i = 0; i < count; i++) {
        TG_TRY(visit(run, folder, &entries[i], part, depth, err));
    }
    return TG_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return tg_str_cmp(*(const tg_str *)a, *(const tg_str *)b);
}

static void sort_unique(path_list *list)
{
    if (list->count < 2) {
        return;
    }
    qsort(list->items, list->count, sizeof(*list->items), by_bytes);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (!tg_str_eq(list->items[i], list->items[kept - 1])) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

/* The folder in front of the first pattern part, and the parts from there. */
static tg_str split_pattern(tg_str pattern, tg_arena *arena, glob_run *run)
{
    TG_VEC(tg_str) parts = {0};
    tg_str folder = tg_path_is_absolute(pattern) ? TG_S("/") : TG_S(".");
    for (size_t from = 0; from < pattern.len;) {
        size_t slash = tg_str_find(pattern, TG_S("/"), from);
        size_t to = slash == SIZE_MAX ? pattern.len : slash;
        tg_str part = tg_str_sub(pattern, from, to);
        from = to + 1;
        if (part.len == 0) {
            continue;
        }
        if (parts.count == 0 && !tg_glob_is_pattern(part) && slash != SIZE_MAX) {
            folder = tg_path_join(arena, tg_str_eq(folder, TG_S(".")) ? TG_S("") : folder, part);
        } else {
            TG_VEC_PUSH(arena, &parts, part);
        }
    }
    run->parts = parts.items;
    run->part_count = parts.count;
    return folder;
}

tg_code tg_fs_glob(const tg_fs *fs, tg_str pattern, int flags, tg_arena *arena, tg_str **out_paths,
                   size_t *out_count, tg_error *err)
{
    glob_run run = {.fs = fs, .flags = flags, .arena = arena};
    tg_auto_error tg_error own = TG_ERROR_INIT;
    err = err ? err : &own;
    if (!tg_glob_is_pattern(pattern)) {
        tg_fs_entry entry;
        tg_code code = tg_fs_stat(fs, pattern, &entry, err);
        if (code == TG_NOT_FOUND) {
            tg_error_clear(err);
        } else {
            TG_TRY(code);
            if (!entry.is_folder) {
                TG_TRY(add_file(&run, tg_str_copy(arena, pattern), err));
            }
        }
    } else {
        tg_str folder = split_pattern(pattern, arena, &run);
        tg_assert(run.parts); /* at least the part that makes it a pattern */
        TG_TRY(walk(&run, folder, 0, 0, err));
        sort_unique(&run.found);
    }
    *out_paths = run.found.items;
    *out_count = run.found.count;
    return TG_OK;
}
