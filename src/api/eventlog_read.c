/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates and their events for people: from event files, which need no engine, and from the
 * event-log table where the file was folded.
 */
#include <stdlib.h>

#include <yyjson.h>

#include "api/eventlog_int.h"

struct tg_api_events {
    tg_api *api;
    tg_str update_id;
    tg_str path;             /* of the file; empty: its events come from the table */
    tg_event_reader *reader; /* of the file */
    const tg_str *lines;     /* from the table */
    size_t line_count, next_line;
    tg_arena *scratch; /* of the newest record from the table */
};

/* ---- the table ------------------------------------------------------------------------------- */

/* What makes a JSON line again, in the order of the columns below. */
static const char *const ORIGIN[] = {
    "pipeline_id", "pipeline_type", "pipeline_name", "update_id",    "table_id",
    "flow_id",     "flow_name",     "dataset_name",  "catalog_name", "schema_name"};
enum {
    ORIGIN_COUNT = sizeof(ORIGIN) / sizeof(*ORIGIN),
    AT_ID = 0,
    AT_INSTANCE,
    AT_SEQ_NO,
    AT_TIME,
    AT_MESSAGE,
    AT_LEVEL,
    AT_MATURITY,
    AT_DETAILS,
    AT_TYPE,
    AT_FATAL,
    AT_ERROR_CLASS,
    AT_ERROR_MESSAGE,
    AT_ORIGIN
};
static const char SELECT[] =
    "SELECT id, sequence.data_plane_id.instance, sequence.data_plane_id.seq_no, "
    "unix_micros(timestamp), message, level, maturity_level, details, event_type, error.fatal, "
    "get(error.exceptions, 0).class_name, get(error.exceptions, 0).message";

static void add_cell(tg_result *row, size_t column, const char *key, tg_json_out *out)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    if (tg_result_cell_text(row, column, &text)) {
        tg_json_kstr(out, key, tg_buf_str(&text));
    }
}

static void add_raw(tg_result *row, size_t column, const char *key, tg_json_out *out)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_keyz(out, key);
    if (tg_result_cell_text(row, column, &text) && text.len > 0) {
        tg_json_raw(out, tg_buf_str(&text));
    } else {
        tg_json_null(out);
    }
}

/* The details of a row; and what they keep of its error, which in a file stands there. */
typedef struct row_details {
    struct yyjson_val *root, *error; /* NULL: none, or damaged */
} row_details;

static row_details read_details(tg_result *row, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_auto_buf tg_buf type = TG_BUF_INIT;
    row_details details = {0};
    if (tg_result_cell_text(row, AT_DETAILS, &text) && tg_result_cell_text(row, AT_TYPE, &type) &&
        tg_json_parse(tg_buf_take(&text, arena), TG_JSON_RAW_NUMBERS, arena, &details.root, NULL) ==
            TG_OK) {
        details.error =
            tg_json_get(tg_json_get(details.root, tg_buf_cstr(&type)), TG_EVENT_ERROR_KEY);
    }
    return details;
}

static void add_value(tg_json_out *out, struct yyjson_val *value)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_add_value(&text, value);
    tg_json_raw(out, tg_buf_str(&text));
}

static void add_error(tg_result *row, const row_details *details, tg_json_out *out)
{
    tg_auto_buf tg_buf fatal = TG_BUF_INIT;
    tg_json_keyz(out, "error");
    if (!tg_result_cell_text(row, AT_FATAL, &fatal)) {
        tg_json_null(out);
        return;
    }
    tg_json_object(out);
    tg_json_kbool(out, "fatal", tg_str_eq(tg_buf_str(&fatal), TG_S("true")));
    tg_json_keyz(out, "exceptions");
    tg_json_array(out);
    tg_json_object(out);
    add_cell(row, AT_ERROR_CLASS, "class_name", out);
    add_cell(row, AT_ERROR_MESSAGE, "message", out);
    for (size_t i = 0; i < TG_EVENT_ERROR_KEY_COUNT; i++) {
        struct yyjson_val *one = tg_json_get(details->error, TG_EVENT_ERROR_KEYS[i]);
        if (one) {
            tg_json_keyz(out, TG_EVENT_ERROR_KEYS[i]);
            add_value(out, one);
        }
    }
    tg_json_keyz(out, "stack");
    tg_json_array(out);
    tg_json_end_array(out);
    tg_json_end_object(out);
    tg_json_end_array(out);
    tg_json_end_object(out);
}

static void add_details(tg_result *row, const row_details *details, tg_json_out *out)
{
    tg_auto_buf tg_buf type = TG_BUF_INIT;
    if (!details->error || !tg_result_cell_text(row, AT_TYPE, &type)) {
        add_raw(row, AT_DETAILS, "details", out);
        return;
    }
    size_t i, count;
    yyjson_val *key, *value;
    tg_json_keyz(out, "details");
    tg_json_object(out);
    tg_json_key(out, tg_buf_str(&type));
    tg_json_object(out);
    yyjson_obj_foreach(tg_json_get(details->root, tg_buf_cstr(&type)), i, count, key, value)
    {
        if (!tg_str_eq(tg_json_text(key), TG_S(TG_EVENT_ERROR_KEY))) {
            tg_json_key(out, tg_json_text(key));
            add_value(out, value);
        }
    }
    tg_json_end_object(out);
    tg_json_end_object(out);
}

/* A row of the table as the line that it once was in a file. */
static tg_str line_of(tg_result *row, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_auto_buf tg_buf time = TG_BUF_INIT;
    tg_json_out out;
    int64_t us = 0;
    const row_details details = read_details(row, arena);
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    add_cell(row, AT_ID, "id", &out);
    tg_json_keyz(&out, "sequence");
    tg_json_object(&out);
    tg_json_keyz(&out, "data_plane_id");
    tg_json_object(&out);
    add_cell(row, AT_INSTANCE, "instance", &out);
    add_raw(row, AT_SEQ_NO, "seq_no", &out);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_json_keyz(&out, "origin");
    tg_json_object(&out);
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        add_cell(row, AT_ORIGIN + i, ORIGIN[i], &out);
    }
    tg_json_end_object(&out);
    if (tg_result_cell_text(row, AT_TIME, &time) && tg_str_to_i64(tg_buf_str(&time), &us)) {
        tg_json_kstr(&out, "timestamp", tg_instant_text(arena, us));
    }
    add_cell(row, AT_MESSAGE, "message", &out);
    add_cell(row, AT_LEVEL, "level", &out);
    add_cell(row, AT_MATURITY, "maturity_level", &out);
    add_error(row, &details, &out);
    add_details(row, &details, &out);
    add_cell(row, AT_TYPE, "event_type", &out);
    tg_json_end_object(&out);
    return tg_buf_take(&text, arena);
}

typedef TG_VEC(tg_str) line_list;

/* The lines of the events that meet a condition, update by update, in their order. */
static tg_code read_table(tg_api *api, const char *condition, tg_arena *arena, line_list *out,
                          tg_error *err)
{
    tg_event_table table;
    tg_table_facts facts = {0};
    bool has_pipeline;
    TG_TRY(tg_event_table_find(api, arena, &table, &has_pipeline, err));
    if (has_pipeline) {
        TG_TRY(
            api->engine->table_facts(api->engine->self, table.location.path, arena, &facts, err));
    }
    if (!facts.exists) {
        return TG_OK;
    }
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_auto_buf tg_buf from = TG_BUF_INIT;
    tg_buf_addz(&sql, SELECT);
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        tg_buf_addf(&sql, ", origin.%s", ORIGIN[i]);
    }
    tg_buf_addz(&from, "delta.");
    tg_buf_addq(&from, table.location.path, '`');
    tg_buf_addf(&sql, " FROM %s WHERE ", tg_buf_cstr(&from));
    for (const char *c = condition; *c; c++) { /* @ is the table */
        tg_buf_addz(&sql, *c == '@' ? tg_buf_cstr(&from) : (char[]){*c, '\0'});
    }
    tg_buf_addz(&sql, " ORDER BY origin.update_id, timestamp, sequence.data_plane_id.seq_no");
    tg_result *rows;
    TG_TRY_CTX(tg_api_execute(api, tg_buf_str(&sql), NULL, tg_buf_str(&sql), 0, &rows, err), err,
               "while reading the event log");
    tg_code code;
    for (bool has_row;;) {
        code = tg_result_next(rows, &has_row, err);
        if (code != TG_OK || !has_row) {
            break;
        }
        TG_VEC_PUSH(arena, out, line_of(rows, arena));
    }
    tg_result_close(rows);
    return code;
}

/* ---- one update ------------------------------------------------------------------------------ */

static bool is_id_text(tg_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        if (!strchr("0123456789abcdefABCDEF-", id.ptr[i])) {
            return false;
        }
    }
    return id.len > 0;
}

static tg_code ambiguous(tg_str id, tg_error *err)
{
    TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "more than one update has an id that begins with '%.*s'",
           TG_SARG(id));
    return tg_error_hint(err, "Give more of the id; tidegate history lists them.");
}

static tg_code find_file(const tg_event_file *files, size_t count, tg_str id,
                         const tg_event_file **out, tg_error *err)
{
    *out = NULL;
    if (id.len == 0) {
        *out = count > 0 ? &files[0] : NULL;
        return TG_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (tg_str_istarts(files[i].update_id, id)) {
            if (*out) {
                return ambiguous(id, err);
            }
            *out = &files[i];
        }
    }
    return TG_OK;
}

/* The newest update of all, or the one whose id begins so. */
static tg_code from_table(tg_api_events *events, tg_str id, tg_arena *arena, tg_error *err)
{
    static const char NEWEST[] =
        "origin.update_id = (SELECT max_by(origin.update_id, timestamp) FROM @)";
    line_list lines = {0};
    const char *condition = id.len == 0
                                ? NEWEST
                                : tg_arena_printf(arena, "lower(origin.update_id) LIKE '%.*s%%'",
                                                  TG_SARG(tg_str_lower(arena, id)));
    TG_TRY(read_table(events->api, condition, arena, &lines, err));
    for (size_t i = 0; i < lines.count; i++) {
        tg_event_record event;
        TG_TRY(tg_event_parse(lines.items[i], arena, &event, err));
        if (events->update_id.len > 0 && !tg_str_eq(events->update_id, event.update_id)) {
            return ambiguous(id, err);
        }
        events->update_id = event.update_id;
    }
    events->lines = lines.items;
    events->line_count = lines.count;
    return TG_OK;
}

static void free_scratch(void *object)
{
    tg_arena_free(object);
}

tg_code tg_api_events_open(tg_api *api, tg_str update_id, tg_arena *arena,
                           tg_api_events **out_events, tg_diags *warnings, tg_error *err)
{
    *out_events = NULL;
    tg_event_file *files;
    size_t count;
    const tg_event_file *file = NULL;
    TG_TRY(tg_event_files(api->fs, api->spec->storage, arena, &files, &count, warnings, err));
    TG_TRY(find_file(files, count, update_id, &file, err));
    tg_api_events *events = TG_NEW(arena, tg_api_events);
    events->api = api;
    if (file) {
        events->update_id = file->update_id;
        events->path = file->path;
        events->reader = tg_event_reader_new(api->fs, file->path, arena);
    } else if (update_id.len == 0 || is_id_text(update_id)) {
        events->scratch = tg_arena_new();
        tg_arena_defer(arena, free_scratch, events->scratch);
        TG_TRY(from_table(events, update_id, arena, err));
    }
    if (events->update_id.len > 0) {
        *out_events = events;
        return TG_OK;
    }
    if (update_id.len == 0) {
        return TG_OK;
    }
    TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "no update has the id '%.*s'", TG_SARG(update_id));
    return tg_error_hint(err, "tidegate history lists the updates.");
}

tg_code tg_api_events_next(tg_api_events *events, tg_event_record *out, bool *out_has_event,
                           tg_error *err)
{
    if (events->reader) {
        return tg_event_reader_next(events->reader, out, out_has_event, err);
    }
    *out_has_event = events->next_line < events->line_count;
    if (!*out_has_event) {
        return TG_OK;
    }
    tg_arena_reset(events->scratch);
    return tg_event_parse(events->lines[events->next_line++], events->scratch, out, err);
}

tg_str tg_api_events_update_id(const tg_api_events *events)
{
    return events->update_id;
}

tg_code tg_api_events_has_writer(const tg_api_events *events, bool *out_has_writer, tg_error *err)
{
    *out_has_writer = false;
    return events->reader
               ? tg_event_file_has_writer(events->api->fs, events->path, out_has_writer, err)
               : TG_OK;
}

bool tg_api_events_warning(const tg_api_events *events, tg_error *out_warning)
{
    return events->reader && tg_event_reader_warning(events->reader, out_warning);
}

/* ---- all updates ----------------------------------------------------------------------------- */

typedef TG_VEC(tg_past_update) past_list;

static tg_code take_files(tg_api *api, const tg_api_history_options *options, tg_arena *arena,
                          past_list *list, tg_diags *warnings, tg_error *err)
{
    tg_event_file *files;
    size_t count;
    TG_TRY(tg_event_files(api->fs, api->spec->storage, arena, &files, &count, warnings, err));
    for (size_t i = 0; i < count && list->count < options->limit; i++) {
        if (files[i].started_us < options->start_us || files[i].started_us > options->end_us) {
            continue;
        }
        tg_past_update past = {0};
        tg_auto_error tg_error problem = TG_ERROR_INIT;
        tg_code code =
            tg_logged_update_read(api->fs, &files[i], arena, &past.update, warnings, &problem);
        if (code == TG_NOT_FOUND) {
            continue; /* folded meanwhile: the table has it */
        }
        if (code != TG_OK) {
            return tg_error_pass(&problem, err);
        }
        TG_TRY(tg_event_file_has_writer(api->fs, files[i].path, &past.is_running, err));
        past.is_running = past.is_running && !past.update->is_ended;
        TG_VEC_PUSH(arena, list, past);
    }
    return TG_OK;
}

static bool is_in(const past_list *list, size_t count, tg_str update_id)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(list->items[i].update->update_id, update_id)) {
            return true;
        }
    }
    return false;
}

static tg_code take_table(tg_api *api, const tg_api_history_options *options, tg_arena *arena,
                          past_list *list, tg_error *err)
{
    /* As many more as are wanted: those that stand in files too are left out below. */
    const char *condition = tg_arena_printf(
        arena,
        "event_type IN ('create_update', 'update_progress', 'flow_progress', "
        "'planning_information') AND origin.update_id IN (SELECT u FROM (SELECT origin.update_id "
        "AS u, min(timestamp) AS s FROM @ GROUP BY origin.update_id) WHERE s >= "
        "timestamp_micros(%lld) AND s <= timestamp_micros(%lld) ORDER BY s DESC LIMIT %zu)",
        (long long)options->start_us, (long long)options->end_us, options->limit);
    line_list lines = {0};
    TG_TRY(read_table(api, condition, arena, &lines, err));
    size_t from_files = list->count;
    tg_update_gatherer *gatherer = NULL;
    tg_str current = TG_S("");
    for (size_t i = 0; i < lines.count; i++) {
        tg_event_record event;
        TG_TRY(tg_event_parse(lines.items[i], arena, &event, err));
        if (!tg_str_eq(event.update_id, current)) {
            current = event.update_id;
            gatherer = is_in(list, from_files, current) ? NULL : tg_update_gatherer_new(arena);
            if (gatherer) {
                const tg_logged_update *update = tg_update_gatherer_result(gatherer);
                TG_VEC_PUSH(arena, list, (tg_past_update){.update = update});
            }
        }
        if (gatherer) {
            tg_update_gatherer_add(gatherer, &event);
            (void)tg_update_gatherer_result(gatherer);
        }
    }
    return TG_OK;
}

static int newest_first(const void *a, const void *b)
{
    const tg_logged_update *left = ((const tg_past_update *)a)->update;
    const tg_logged_update *right = ((const tg_past_update *)b)->update;
    if (left->started_us != right->started_us) {
        return left->started_us > right->started_us ? -1 : 1;
    }
    return tg_str_cmp(left->update_id, right->update_id);
}

tg_code tg_api_history(tg_api *api, const tg_api_history_options *options, tg_arena *arena,
                       tg_past_update **out_updates, size_t *out_count, tg_diags *warnings,
                       tg_error *err)
{
    past_list list = {0};
    TG_TRY(take_files(api, options, arena, &list, warnings, err));
    if (list.count < options->limit) {
        TG_TRY(take_table(api, options, arena, &list, err));
    }
    if (list.count > 0) {
        qsort(list.items, list.count, sizeof(*list.items), newest_first);
    }
    *out_updates = list.items;
    *out_count = list.count < options->limit ? list.count : options->limit;
    return TG_OK;
}
