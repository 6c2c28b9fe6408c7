/* SPDX-License-Identifier: Apache-2.0 */
/* Calls through the interface, and what is built on it alone. */
#include "fs/fs.h"

#include <stdlib.h>

tg_code tg_fs_read(const tg_fs *fs, tg_str path, size_t max_bytes, tg_arena *arena, tg_str *out_bytes, tg_error *err)
{
    return fs->read(fs->self, path, max_bytes, arena, out_bytes, err);
}

tg_code tg_fs_list(const tg_fs *fs, tg_str folder, bool with_details, tg_arena *arena, tg_fs_entry **out_entries,
                   size_t *out_count, tg_error *err)
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

tg_code tg_fs_real_path(const tg_fs *fs, tg_str path, tg_arena *arena, tg_str *out_path, tg_error *err)
{
    return fs->real_path(fs->self, path, arena, out_path, err);
}

tg_code tg_fs_remove(const tg_fs *fs, tg_str path, tg_error *err)
{
    return fs->remove(fs->self, path, err);
}

tg_code tg_fs_exists(const tg_fs *fs, tg_str path, bool *out_exists, tg_error *err)
{
    tg_fs_entry entry;
    tg_code code = tg_fs_stat(fs, path, &entry, err);

    if (code == TG_NOT_FOUND) {
        if (err) {
            tg_error_clear(err);
        }
        *out_exists = false;
        return TG_OK;
    }
    TG_TRY(code);
    *out_exists = true;
    return TG_OK;
}

/* ---- patterns ----------------------------------------------------------------------------------------------------- */

typedef struct globbing {
    const tg_fs *fs;
    const tg_str *parts; /* of the pattern */
    size_t part_count;
    int flags;
    tg_arena *arena, *scratch;
    tg_error *err;
    TG_VEC(tg_str) found;
} globbing;

static tg_code glob_add(globbing *g, tg_str path)
{
    if (g->found.count == TG_LIMIT_GLOB_FILES) {
        tg_error *err = g->err;
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "a pattern matches more than %d files", TG_LIMIT_GLOB_FILES);
    }
    TG_VEC_PUSH(g->arena, &g->found, tg_str_copy(g->arena, path));
    return TG_OK;
}

static bool glob_skips(const globbing *g, tg_str name)
{
    return (g->flags & TG_GLOB_SKIP_HIDDEN) && (name.ptr[0] == '.' || name.ptr[0] == '_');
}

static tg_code glob_folder(globbing *g, tg_str folder, size_t index, int depth);

/* What an entry that a pattern part matched means for the parts behind it. */
static tg_code glob_entry(globbing *g, const tg_fs_entry *entry, tg_str path, size_t index, int depth)
{
    bool is_last = index + 1 == g->part_count;

    if (tg_str_eq(g->parts[index], TG_S("**"))) {
        if (entry->is_folder) {
            return glob_folder(g, path, index, depth + 1);
        }
        return is_last ? glob_add(g, path) : TG_OK;
    }
    if (!tg_glob_match_name(g->parts[index], entry->name)) {
        return TG_OK;
    }
    if (is_last) {
        return entry->is_folder ? TG_OK : glob_add(g, path);
    }
    return entry->is_folder ? glob_folder(g, path, index + 1, depth + 1) : TG_OK;
}

/* The part is plain text: no listing. */
static tg_code glob_plain(globbing *g, tg_str folder, size_t index, int depth)
{
    tg_str path = tg_path_join(g->scratch, folder, g->parts[index]);
    tg_fs_entry entry;
    tg_code code = tg_fs_stat(g->fs, path, &entry, g->err);

    if (code == TG_NOT_FOUND) {
        if (g->err) {
            tg_error_clear(g->err);
        }
        return TG_OK;
    }
    TG_TRY(code);
    if (index + 1 < g->part_count) {
        return entry.is_folder ? glob_folder(g, path, index + 1, depth + 1) : TG_OK;
    }
    return entry.is_folder ? TG_OK : glob_add(g, path);
}

static tg_code glob_folder(globbing *g, tg_str folder, size_t index, int depth)
{
    tg_error *err = g->err;
    tg_fs_entry *entries;
    size_t count;
    tg_code code;

    if (depth > TG_LIMIT_FOLDER_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "folder `%.*s` is nested deeper than %d levels below its pattern",
                TG_SARG(folder), TG_LIMIT_FOLDER_DEPTH);
    }
    if (!tg_glob_is_pattern(g->parts[index])) {
        return glob_plain(g, folder, index, depth);
    }
    if (tg_str_eq(g->parts[index], TG_S("**")) && index + 1 < g->part_count) {
        TG_TRY(glob_folder(g, folder, index + 1, depth + 1)); /* no folder in between */
    }
    code = tg_fs_list(g->fs, folder.len ? folder : TG_S("."), false, g->scratch, &entries, &count, err);
    if (code == TG_NOT_FOUND) {
        if (err) {
            tg_error_clear(err);
        }
        return TG_OK;
    }
    TG_TRY(code);
    for (size_t i = 0; i < count; i++) {
        if (!glob_skips(g, entries[i].name)) {
            TG_TRY(glob_entry(g, &entries[i], tg_path_join(g->scratch, folder, entries[i].name), index, depth));
        }
    }
    return TG_OK;
}

static int by_text(const void *a, const void *b)
{
    return tg_str_cmp(*(const tg_str *)a, *(const tg_str *)b);
}

tg_code tg_fs_glob(const tg_fs *fs, tg_str pattern, int flags, tg_arena *arena, tg_str **out_paths, size_t *out_count,
                   tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    globbing g = {.fs = fs, .flags = flags, .arena = arena, .scratch = scratch, .err = err};
    TG_VEC(tg_str) parts = {0};
    tg_str path = tg_path_normalize(scratch, pattern);
    bool absolute = tg_path_is_absolute(path);
    size_t from = absolute ? 1 : 0;
    size_t kept = 0;

    while (from < path.len) {
        size_t to = tg_str_find(path, TG_S("/"), from);
        to = to == SIZE_MAX ? path.len : to;
        if (!(parts.count && tg_str_eq(parts.items[parts.count - 1], TG_S("**")) &&
              tg_str_eq(tg_str_sub(path, from, to), TG_S("**")))) {
            TG_VEC_PUSH(scratch, &parts, tg_str_sub(path, from, to));
        }
        from = to + 1;
    }
    if (parts.count) {
        g.parts = parts.items;
        g.part_count = parts.count;
        TG_TRY(glob_folder(&g, absolute ? TG_S("/") : TG_S(""), 0, 0));
    }
    if (g.found.count) {
        qsort(g.found.items, g.found.count, sizeof(tg_str), by_text);
    }
    for (size_t i = 0; i < g.found.count; i++) { /* several "**" may lead to one file twice */
        if (kept == 0 || !tg_str_eq(g.found.items[kept - 1], g.found.items[i])) {
            g.found.items[kept++] = g.found.items[i];
        }
    }
    *out_paths = g.found.items;
    *out_count = kept;
    return TG_OK;
}
