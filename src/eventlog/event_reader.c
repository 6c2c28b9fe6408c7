/* SPDX-License-Identifier: Apache-2.0 */
/* Event files: which there are, and reading one piece by piece. */
#include <stdlib.h>

#include "eventlog/eventlog_int.h"

enum { PIECE_BYTES = 1 << 16 };

struct tg_event_reader {
    const tg_fs *fs;
    tg_str path;
    int64_t offset; /* of what stands behind pending */
    tg_buf pending; /* read and not given yet; the front up to taken was given */
    size_t taken;
    size_t line_number; /* of the newest line */
    bool skips_rest;    /* the line is longer than lines may be: all up to its end is dropped */
    tg_arena *scratch;  /* of the newest record */
    size_t damaged_count, first_damaged_line;
};

static void dispose(void *object)
{
    tg_event_reader *reader = object;
    tg_buf_dispose(&reader->pending);
    tg_arena_free(reader->scratch);
}

tg_event_reader *tg_event_reader_new(const tg_fs *fs, tg_str path, tg_arena *arena)
{
    tg_event_reader *reader = TG_NEW(arena, tg_event_reader);
    *reader =
        (tg_event_reader){.fs = fs, .path = tg_str_copy(arena, path), .scratch = tg_arena_new()};
    tg_arena_defer(arena, dispose, reader);
    return reader;
}

static void note_damage(tg_event_reader *reader)
{
    if (reader->damaged_count++ == 0) {
        reader->first_damaged_line = reader->line_number;
    }
}

/* What was given makes room; *out_got: the file had more. */
static tg_code read_more(tg_event_reader *reader, bool *out_got, tg_error *err)
{
    tg_buf *pending = &reader->pending;
    if (reader->taken > 0) {
        pending->len -= reader->taken;
        memmove(pending->ptr, pending->ptr + reader->taken, pending->len);
        reader->taken = 0;
    }
    size_t before = pending->len;
    TG_TRY(tg_fs_read_part(reader->fs, reader->path, reader->offset, PIECE_BYTES, pending, err));
    *out_got = pending->len > before;
    reader->offset += (int64_t)(pending->len - before);
    return TG_OK;
}

/* The next whole line, without its line feed. */
static tg_code next_line(tg_event_reader *reader, tg_str *out_line, bool *out_has, tg_error *err)
{
    for (size_t from = reader->taken;;) {
        tg_str text = tg_buf_str(&reader->pending);
        size_t end = tg_str_find(text, TG_S("\n"), from);
        if (end != SIZE_MAX) {
            *out_line = tg_str_sub(text, reader->taken, end);
            *out_has = true;
            reader->taken = end + 1;
            reader->line_number++;
            return TG_OK;
        }
        if (text.len - reader->taken > TG_LIMIT_EVENT_BYTES) {
            reader->skips_rest = true;
            reader->taken = text.len;
        }
        from = text.len - reader->taken; /* where the new bytes will stand */
        bool got;
        TG_TRY(read_more(reader, &got, err));
        if (!got) {
            *out_has = false;
            return TG_OK;
        }
    }
}

tg_code tg_event_reader_next(tg_event_reader *reader, tg_event_record *out, bool *out_has_event,
                             tg_error *err)
{
    for (;;) {
        tg_str line;
        TG_TRY(next_line(reader, &line, out_has_event, err));
        if (!*out_has_event) {
            return TG_OK;
        }
        tg_arena_reset(reader->scratch);
        bool is_whole = !reader->skips_rest;
        reader->skips_rest = false;
        if (is_whole && tg_event_parse(line, reader->scratch, out, NULL) == TG_OK) {
            return TG_OK;
        }
        note_damage(reader);
    }
}

bool tg_event_reader_warning(const tg_event_reader *reader, tg_error *out_warning)
{
    if (reader->damaged_count == 0) {
        return false;
    }
    (void)TG_ERR(out_warning, TIDEGATE_EVENT_LOG_DAMAGED,
                 "%zu line%s of the event file %.*s %s no events and %s left out; the first is "
                 "line %zu",
                 reader->damaged_count, reader->damaged_count == 1 ? "" : "s",
                 TG_SARG(reader->path), reader->damaged_count == 1 ? "is" : "are",
                 reader->damaged_count == 1 ? "was" : "were", reader->first_damaged_line);
    return true;
}

/* ---- which files there are ------------------------------------------------------------------- */

static void warn(tg_diags *warnings, tg_str path, const char *why)
{
    tg_error warning = TG_ERROR_INIT;
    (void)TG_ERR(&warning, TIDEGATE_EVENT_LOG_DAMAGED, "%.*s is not read as an event file: %s",
                 TG_SARG(path), why);
    tg_diags_add_warning(warnings, &warning);
}

/*
 * Looks at the beginning of a file. *out_is_event_file false: it is none, or there is nothing in it
 * yet. What goes away meanwhile was folded into the table.
 */
static tg_code look_at(const tg_fs *fs, tg_str path, tg_event_file *file, bool *out_is_event_file,
                       tg_diags *warnings, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_error tg_error problem = TG_ERROR_INIT;
    tg_event_reader *reader = tg_event_reader_new(fs, path, scratch);
    tg_event_record first;
    *out_is_event_file = false;
    bool has_event;
    tg_code code = tg_event_reader_next(reader, &first, &has_event, &problem);
    if (code == TG_NOT_FOUND) {
        return TG_OK;
    }
    if (code == TG_IO) { /* one that may not be read is left out as a damaged one is */
        warn(warnings, path, problem.message);
        return TG_OK;
    }
    if (code != TG_OK) {
        return tg_error_pass(&problem, err);
    }
    if (!has_event) {
        if (reader->damaged_count > 0) {
            warn(warnings, path, "it has no line that is an event");
        }
        return TG_OK; /* its first line is being written, or was torn */
    }
    if (!tg_str_eq(first.update_id, file->update_id)) {
        warn(warnings, path,
             tg_arena_printf(scratch, "it holds events of update %.*s", TG_SARG(first.update_id)));
        return TG_OK;
    }
    file->started_us = first.timestamp_us;
    *out_is_event_file = true;
    return TG_OK;
}

static int newest_first(const void *a, const void *b)
{
    const tg_event_file *left = a;
    const tg_event_file *right = b;
    if (left->started_us != right->started_us) {
        return left->started_us > right->started_us ? -1 : 1;
    }
    return tg_str_cmp(left->update_id, right->update_id);
}

tg_code tg_event_files(const tg_fs *fs, tg_str storage, tg_arena *arena, tg_event_file **out_files,
                       size_t *out_count, tg_diags *warnings, tg_error *err)
{
    *out_files = NULL;
    *out_count = 0;
    tg_str folder = tg_path_join(arena, storage, TG_S(TG_EVENT_FOLDER));
    bool exists;
    TG_TRY(tg_fs_exists(fs, folder, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_fs_entry *entries;
    size_t entry_count;
    TG_TRY_CTX(tg_fs_list(fs, folder, /* with_details= */ true, arena, &entries, &entry_count, err),
               err, "while listing the event files");
    TG_VEC(tg_event_file) files = {0};
    for (size_t i = 0; i < entry_count; i++) {
        tg_str name = entries[i].name;
        tg_event_file file = {.path = tg_path_join(arena, folder, name),
                              .size_bytes = entries[i].size_bytes};
        if (name.ptr[0] == '.') {
            continue; /* what is being folded */
        }
        if (entries[i].is_folder || !tg_str_ends(name, TG_S(TG_EVENT_SUFFIX))) {
            warn(warnings, file.path, "its name is not that of one, <update id>.jsonl");
            continue;
        }
        file.update_id = tg_str_sub(name, 0, name.len - strlen(TG_EVENT_SUFFIX));
        bool is_event_file;
        TG_TRY(look_at(fs, file.path, &file, &is_event_file, warnings, err));
        if (is_event_file) {
            TG_VEC_PUSH(arena, &files, file);
        }
    }
    if (files.count > 0) {
        qsort(files.items, files.count, sizeof(*files.items), newest_first);
    }
    *out_files = files.items;
    *out_count = files.count;
    return TG_OK;
}

tg_code tg_event_file_has_writer(const tg_fs *fs, tg_str path, bool *out_has_writer, tg_error *err)
{
    tg_auto_error tg_error problem = TG_ERROR_INIT;
    tg_code code = tg_fs_is_locked(fs, path, out_has_writer, &problem);
    if (code == TG_NOT_FOUND) {
        *out_has_writer = false;
        return TG_OK;
    }
    return code == TG_OK ? TG_OK : tg_error_pass(&problem, err);
}
