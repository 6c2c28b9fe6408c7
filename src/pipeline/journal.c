/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing the journals of backfills. */
#include "pipeline/journal.h"

#include <yyjson.h>

enum { FORMAT = 1, NAME_BYTES_MAX = 180, MAX_BYTES = 256 * 1024 * 1024 };

struct tg_journal {
    const tg_fs *fs;
    tg_str folder, path, stem;
    tg_fs_lock *lock;
    bool needs_line_feed; /* the last line was cut short */
};

static const char *const STATUS_NAMES[] = {[TG_CHUNK_PENDING] = "PENDING",
                                           [TG_CHUNK_COMPLETED] = "COMPLETED",
                                           [TG_CHUNK_COVERED] = "COVERED",
                                           [TG_CHUNK_FAILED] = "FAILED"};

const char *tg_chunk_status_name(tg_chunk_status status)
{
    return STATUS_NAMES[status];
}

/* ---- names ----------------------------------------------------------------------------------- */

static tg_str folder_of(const tg_spec *spec, tg_arena *arena)
{
    return tg_path_join(arena, spec->storage, TG_S("backfill"));
}

/* A flow's name as a file's: what is not a letter, digit, '_' or '.' is escaped. */
static tg_str stem_of(tg_str flow, tg_arena *arena)
{
    tg_auto_buf tg_buf name = TG_BUF_INIT;
    for (size_t i = 0; i < flow.len; i++) {
        unsigned char c = (unsigned char)flow.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || (c == '.' && i > 0);
        if (is_plain) {
            tg_buf_addc(&name, (char)c);
        } else {
            tg_buf_addf(&name, "%%%02X", c);
        }
    }
    if (name.len > NAME_BYTES_MAX) { /* file systems have limits */
        tg_str digest = tg_digest_text(arena, tg_digest_of(flow));
        return tg_str_printf(arena, "%.*s~%.*s", NAME_BYTES_MAX - 40, tg_buf_cstr(&name),
                             TG_SARG(digest));
    }
    return tg_buf_take(&name, arena);
}

static tg_str journal_path(tg_str folder, tg_str stem, tg_arena *arena)
{
    return tg_path_join(arena, folder, tg_str_printf(arena, "%.*s.open.jsonl", TG_SARG(stem)));
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool parse_digest(tg_str text, tg_digest *out)
{
    uint64_t half[2] = {0, 0};
    for (size_t i = 0; i < 32 && text.len == 32; i++) {
        char c = text.ptr[i];
        bool is_digit = c >= '0' && c <= '9', is_letter = c >= 'a' && c <= 'f';
        if (!is_digit && !is_letter) {
            return false;
        }
        half[i / 16] = half[i / 16] << 4 | (uint64_t)(is_digit ? c - '0' : c - 'a' + 10);
    }
    *out = (tg_digest){.high = half[0], .low = half[1]};
    return text.len == 32;
}

static bool read_pins(yyjson_val *array, tg_arena *arena, tg_backfill_head *head)
{
    if (!yyjson_is_arr(array)) {
        return false;
    }
    tg_pin *pins = TG_NEW_ARRAY(arena, tg_pin, yyjson_arr_size(array));
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, count, item)
    {
        pins[index] = (tg_pin){.name = tg_json_get_str(item, "name", TG_S("")),
                               .path = tg_json_get_str(item, "path", TG_S("")),
                               .version = tg_json_get_i64(item, "version", -1)};
        if (!pins[index].path.len ||
            !parse_digest(tg_json_get_str(item, "digest", TG_S("")), &pins[index].digest)) {
            return false;
        }
    }
    head->pins = pins;
    head->pin_count = yyjson_arr_size(array);
    return true;
}

static void read_params(yyjson_val *object, tg_arena *arena, tg_backfill_head *head)
{
    if (!yyjson_is_obj(object)) {
        return; /* there were none, or an older version wrote it */
    }
    tg_param *params = TG_NEW_ARRAY(arena, tg_param, yyjson_obj_size(object));
    size_t index, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, index, count, key, value)
    {
        params[index] = (tg_param){.name = tg_json_text(key),
                                   .value = tg_json_text(value),
                                   .origin = "the backfill that is gone on with"};
    }
    head->params = params;
    head->param_count = yyjson_obj_size(object);
}

static bool read_head(yyjson_val *root, tg_arena *arena, tg_backfill_head *head)
{
    yyjson_val *object = tg_json_get(root, "backfill");
    bool has_zone;
    if (!object || tg_json_get_i64(object, "format", 0) != FORMAT) {
        return false;
    }
    *head = (tg_backfill_head){.id = tg_json_get_str(object, "id", TG_S("")),
                               .flow = tg_json_get_str(object, "flow_name", TG_S("")),
                               .column = tg_json_get_str(object, "column", TG_S("")),
                               .from = tg_json_get_str(object, "from", TG_S("")),
                               .to = tg_json_get_str(object, "to", TG_S("")),
                               .every = tg_json_get_str(object, "every", TG_S("")),
                               .timezone = tg_json_get_str(object, "timezone", TG_S("")),
                               .catalog = tg_json_get_str(object, "catalog", TG_S("")),
                               .schema = tg_json_get_str(object, "schema", TG_S("")),
                               .chunk_count = tg_json_get_i64(object, "chunks", 0),
                               .only_missing = tg_json_get_bool(object, "missing", false)};
    read_params(tg_json_get(object, "parameters"), arena, head);
    return head->id.len && head->flow.len && head->chunk_count > 0 &&
           head->chunk_count <= TG_LIMIT_BACKFILL_CHUNKS && head->column.len && head->from.len &&
           head->to.len && head->every.len && head->timezone.len &&
           tg_timestamp_parse(tg_json_get_str(object, "now", TG_S("")), arena, &head->now_us,
                              &has_zone) &&
           parse_digest(tg_json_get_str(object, "definition", TG_S("")), &head->definition) &&
           read_pins(tg_json_get(object, "sources"), arena, head);
}

static bool read_record(yyjson_val *root, tg_chunk_record *records, size_t room)
{
    int64_t chunk = tg_json_get_i64(root, "chunk", -1);
    tg_str status = tg_json_get_str(root, "status", TG_S(""));
    if (chunk < 0) {
        return false;
    }
    for (size_t i = TG_CHUNK_COMPLETED; i <= TG_CHUNK_FAILED; i++) {
        if (!tg_str_eq(status, tg_str_from(STATUS_NAMES[i]))) {
            continue;
        }
        if ((uint64_t)chunk < room) {
            records[chunk] = (tg_chunk_record){
                .status = (tg_chunk_status)i,
                .update_id = tg_json_get_str(root, "update_id", TG_S("")),
                .committed_version = tg_json_get_i64(root, "committed_version", -1),
                .rows_written = tg_json_get_i64(root, "num_rows_physically_written", -1),
                .error = tg_json_get_str(root, "error", TG_S(""))};
        }
        return true;
    }
    return false;
}

static tg_code damaged(tg_str path, int64_t line, tg_error *err)
{
    tg_error_clear(err);
    (void)TG_ERR(err, TIDEGATE_INVALID_JSON, "%.*s is damaged: line %lld is none of a backfill's",
                 TG_SARG(path), (long long)line);
    return tg_error_hint(err, "Begin the backfill anew by --restart.");
}

static tg_code read_lines(tg_str text, tg_str path, tg_arena *arena, tg_backfill_head *head,
                          tg_chunk_record *records, size_t room, tg_error *err)
{
    int64_t line = 0;
    for (size_t at = 0; at < text.len;) {
        size_t end = tg_str_find(text, TG_S("\n"), at);
        if (end == SIZE_MAX) {
            break; /* a crash cut it short */
        }
        line++;
        struct yyjson_val *root;
        tg_str json = tg_str_sub(text, at, end);
        at = end + 1;
        if (line > 1 && tg_json_parse(json, 0, arena, &root, NULL) != TG_OK) {
            continue; /* cut short, and gone on with behind it */
        }
        bool is_good = line == 1 ? tg_json_parse(json, 0, arena, &root, err) == TG_OK &&
                                       read_head(root, arena, head)
                                 : read_record(root, records, room);
        if (!is_good) {
            return damaged(path, line, err);
        }
    }
    return line ? TG_OK : damaged(path, 1, err);
}

tg_code tg_journal_read(const tg_spec *spec, const tg_fs *fs, tg_str flow, tg_arena *arena,
                        const tg_backfill_head **out_head, tg_chunk_record *records, size_t room,
                        tg_error *err)
{
    tg_str path = journal_path(folder_of(spec, arena), stem_of(flow, arena), arena);
    bool exists;
    *out_head = NULL;
    for (size_t i = 0; i < room; i++) {
        records[i] = (tg_chunk_record){.committed_version = -1, .rows_written = -1};
    }
    TG_TRY(tg_fs_exists(fs, path, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_str text;
    TG_TRY(tg_fs_read(fs, path, MAX_BYTES, arena, &text, err));
    tg_backfill_head *head = TG_NEW(arena, tg_backfill_head);
    TG_TRY(read_lines(text, path, arena, head, records, room, err));
    if (!tg_str_eq(head->flow, flow)) { /* also one that was put there by hand */
        return damaged(path, 1, err);
    }
    *out_head = head;
    return TG_OK;
}

static tg_code read_open(const tg_fs *fs, tg_str path, tg_arena *arena, tg_open_backfill *out,
                         tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_chunk_record *records = TG_NEW_ARRAY(scratch, tg_chunk_record, TG_LIMIT_BACKFILL_CHUNKS);
    tg_str text;
    TG_TRY(tg_fs_read(fs, path, MAX_BYTES, arena, &text, err));
    TG_TRY(read_lines(text, path, arena, &out->head, records, TG_LIMIT_BACKFILL_CHUNKS, err));
    for (size_t i = 0; i < TG_LIMIT_BACKFILL_CHUNKS; i++) {
        out->done_count +=
            records[i].status == TG_CHUNK_COMPLETED || records[i].status == TG_CHUNK_COVERED;
        out->failed_count += records[i].status == TG_CHUNK_FAILED;
    }
    return TG_OK;
}

tg_code tg_journal_list(const tg_spec *spec, const tg_fs *fs, tg_arena *arena,
                        tg_open_backfill **out_items, size_t *out_count, tg_error *err)
{
    tg_str pattern = tg_path_join(arena, folder_of(spec, arena), TG_S("*.open.jsonl"));
    tg_str *paths;
    TG_TRY(tg_fs_glob(fs, pattern, TG_GLOB_PLAIN, arena, &paths, out_count, err));
    *out_items = TG_NEW_ARRAY(arena, tg_open_backfill, *out_count);
    for (size_t i = 0; i < *out_count; i++) {
        TG_TRY(read_open(fs, paths[i], arena, &(*out_items)[i], err));
    }
    return TG_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

tg_code tg_journal_open(const tg_spec *spec, const tg_fs *fs, tg_str flow, tg_arena *arena,
                        tg_journal **out_journal, tg_error *err)
{
    tg_journal *journal = TG_NEW(arena, tg_journal);
    journal->fs = fs;
    journal->folder = folder_of(spec, arena);
    journal->stem = stem_of(flow, arena);
    journal->path = journal_path(journal->folder, journal->stem, arena);
    TG_TRY_CTX(tg_fs_make_folders(fs, journal->folder, err), err,
               "while opening the journal of the backfill");
    tg_str lock = tg_path_join(arena, journal->folder,
                               tg_str_printf(arena, "%.*s.lock", TG_SARG(journal->stem)));
    TG_TRY_CTX(tg_fs_take_lock(fs, lock, arena, &journal->lock, err), err,
               "while opening the journal of the backfill");
    if (!journal->lock) {
        (void)TG_ERR(err, TIDEGATE_BACKFILL_OPEN,
                     "another process is backfilling flow %.*s at this moment", TG_SARG(flow));
        return tg_error_hint(err, "Wait until it is done. tidegate backfill tells how far it is.");
    }
    tg_str text;
    bool exists;
    tg_code code = tg_fs_exists(fs, journal->path, &exists, err);
    if (code == TG_OK && exists) {
        code = tg_fs_read(fs, journal->path, MAX_BYTES, arena, &text, err);
        journal->needs_line_feed = code == TG_OK && !tg_str_ends(text, TG_S("\n"));
    }
    if (code != TG_OK) {
        tg_journal_close(journal);
        return code;
    }
    *out_journal = journal;
    return TG_OK;
}

static void write_head(const tg_backfill_head *head, tg_buf *buf)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    tg_json_keyz(&out, "backfill");
    tg_json_object(&out);
    tg_json_ki64(&out, "format", FORMAT);
    tg_json_kstr(&out, "id", head->id);
    tg_json_kstr(&out, "flow_name", head->flow);
    tg_json_kstr(&out, "column", head->column);
    tg_json_kstr(&out, "from", head->from);
    tg_json_kstr(&out, "to", head->to);
    tg_json_kstr(&out, "every", head->every);
    tg_json_ki64(&out, "chunks", head->chunk_count);
    tg_json_kbool(&out, "missing", head->only_missing);
    tg_json_kstr(&out, "now", tg_instant_text(scratch, head->now_us));
    tg_json_kstr(&out, "timezone", head->timezone);
    tg_json_kstr(&out, "catalog", head->catalog);
    tg_json_kstr(&out, "schema", head->schema);
    tg_json_keyz(&out, "parameters");
    tg_json_object(&out);
    for (size_t i = 0; i < head->param_count; i++) {
        tg_json_kstr(&out, tg_str_cstr(scratch, head->params[i].name), head->params[i].value);
    }
    tg_json_end_object(&out);
    tg_json_kstr(&out, "definition", tg_digest_text(scratch, head->definition));
    tg_json_keyz(&out, "sources");
    tg_json_array(&out);
    for (size_t i = 0; i < head->pin_count; i++) {
        const tg_pin *pin = &head->pins[i];
        tg_json_object(&out);
        tg_json_kstr(&out, "name", pin->name);
        tg_json_kstr(&out, "path", pin->path);
        tg_json_ki64(&out, "version", pin->version);
        tg_json_kstr(&out, "digest", tg_digest_text(scratch, pin->digest));
        tg_json_end_object(&out);
    }
    tg_json_end_array(&out);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_buf_addc(buf, '\n');
}

static void write_record(size_t chunk, const tg_chunk_record *record, tg_buf *buf)
{
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    tg_json_ki64(&out, "chunk", (int64_t)chunk);
    tg_json_kstrz(&out, "status", STATUS_NAMES[record->status]);
    if (record->update_id.len) {
        tg_json_kstr(&out, "update_id", record->update_id);
    }
    if (record->committed_version >= 0) {
        tg_json_ki64(&out, "committed_version", record->committed_version);
    }
    if (record->rows_written >= 0) {
        tg_json_ki64(&out, "num_rows_physically_written", record->rows_written);
    }
    if (record->error.len) {
        tg_json_kstr(&out, "error", record->error);
    }
    tg_json_end_object(&out);
    tg_buf_addc(buf, '\n');
}

tg_code tg_journal_begin(tg_journal *journal, const tg_backfill_head *head, tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    write_head(head, &text);
    journal->needs_line_feed = false;
    TG_TRY_CTX(tg_fs_write_replace(journal->fs, journal->path, tg_buf_str(&text), err), err,
               "while writing the journal of the backfill");
    return TG_OK;
}

tg_code tg_journal_add(tg_journal *journal, const size_t *chunks, const tg_chunk_record *records,
                       size_t count, tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addz(&text, journal->needs_line_feed ? "\n" : "");
    for (size_t i = 0; i < count; i++) {
        write_record(chunks[i], &records[i], &text);
    }
    if (!text.len) {
        return TG_OK;
    }
    journal->needs_line_feed = true; /* until it is known that all of it is there */
    TG_TRY_CTX(tg_fs_append(journal->fs, journal->path, tg_buf_str(&text), err), err,
               "while writing the journal of the backfill");
    journal->needs_line_feed = false;
    TG_TRY_CTX(tg_fs_fsync_file(journal->fs, journal->path, err), err,
               "while writing the journal of the backfill");
    return TG_OK;
}

tg_code tg_journal_finish(tg_journal *journal, tg_str id, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str done = tg_path_join(
        scratch, journal->folder,
        tg_str_printf(scratch, "%.*s.%.*s.jsonl", TG_SARG(journal->stem), TG_SARG(id)));
    TG_TRY_CTX(tg_fs_rename(journal->fs, journal->path, done, err), err,
               "while closing the journal of the backfill");
    return TG_OK;
}

void tg_journal_close(tg_journal *journal)
{
    if (journal) {
        tg_fs_unlock(journal->fs, journal->lock);
        journal->lock = NULL;
    }
}
