/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event-log table: where it is, its columns (those of the Databricks event log), and events as
 * lines of just these columns, which the engine reads as JSON.
 */
#include <yyjson.h>

#include "api/eventlog_int.h"

enum { PIECE_BYTES = 1 << 20 };

const char *const TG_EVENT_ERROR_KEYS[TG_EVENT_ERROR_KEY_COUNT] = {"error_class", "sql_state",
                                                                   "detail", "hint", "place"};

static const char COLUMNS[] =
    "id STRING, sequence STRUCT<data_plane_id: STRUCT<instance: STRING, seq_no: BIGINT>, "
    "control_plane_seq_no: BIGINT>, origin STRUCT<cloud: STRING, region: STRING, org_id: BIGINT, "
    "user_id: BIGINT, pipeline_id: STRING, pipeline_type: STRING, pipeline_name: STRING, "
    "cluster_id: STRING, update_id: STRING, maintenance_id: STRING, table_id: STRING, "
    "table_name: STRING, flow_id: STRING, flow_name: STRING, batch_id: BIGINT, request_id: STRING, "
    "uc_resource_id: STRING, dataset_name: STRING, sink_name: STRING, catalog_name: STRING, "
    "schema_name: STRING, materialization_name: STRING, operation_id: STRING, flow_attempt_id: "
    "STRING, source_name: STRING, uc_table_id: STRING, ingestion_source_type: STRING, "
    "uc_parent_table_id: STRING>, timestamp TIMESTAMP, message STRING, level STRING, "
    "maturity_level STRING, error STRUCT<fatal: BOOLEAN, exceptions: ARRAY<STRUCT<class_name: "
    "STRING, message: STRING, stack: ARRAY<STRUCT<declaring_class: STRING, method_name: STRING, "
    "file_name: STRING, line_number: BIGINT>>>>>, details STRING, event_type STRING";

static const char PREFIX[] = "event_log_";

bool tg_event_table_is_name(tg_str table_name)
{
    enum { ID_LEN = 36 };
    tg_str prefix = TG_S(PREFIX);
    if (!tg_str_istarts(table_name, prefix) || table_name.len != prefix.len + ID_LEN) {
        return false;
    }
    for (size_t i = 0; i < ID_LEN; i++) {
        char c = table_name.ptr[prefix.len + i];
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? c != '_' : !strchr("0123456789abcdefABCDEF", c)) {
            return false;
        }
    }
    return true;
}

/* As the vendor's hidden table: dashes of the id become underscores. */
static tg_str table_name(tg_arena *arena, tg_str pipeline_id)
{
    char *name = tg_arena_printf(arena, "%s%.*s", PREFIX, TG_SARG(pipeline_id));
    for (char *c = name; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
    return tg_str_from(name);
}

tg_code tg_event_table_find(tg_api *api, tg_arena *arena, tg_event_table *out, bool *out_exists,
                            tg_error *err)
{
    const tg_spec *spec = api->spec;
    *out = (tg_event_table){0};
    TG_TRY(tg_spec_pipeline_id(spec, api->fs, api->env, /* create= */ false, arena,
                               &out->pipeline_id, err));
    *out_exists = out->pipeline_id.len > 0;
    TG_TRY(tg_sql_parse_columns(TG_S(COLUMNS), arena, &out->schema, err));
    if (!*out_exists) {
        return TG_OK;
    }
    tg_ident *parts = TG_NEW_ARRAY(arena, tg_ident, 3);
    /* The file's own: one log for all environments, as all of them share the storage's event files. */
    parts[0].text = spec->declared_catalog.len ? spec->declared_catalog : spec->catalog;
    parts[1].text = spec->declared_schema.len ? spec->declared_schema : spec->schema;
    parts[2].text = table_name(arena, out->pipeline_id);
    const tg_name name = {.parts = parts, .count = 3};
    return tg_catalog_locate(&api->catalog, &name, arena, &out->location, err);
}

/* ---- events as lines ------------------------------------------------------------------------- */

static void add_as(const tg_type *type, yyjson_val *value, tg_json_out *out);

static void add_fields(const tg_field *fields, size_t count, yyjson_val *value, tg_json_out *out)
{
    tg_json_object(out);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *member = yyjson_obj_getn(value, fields[i].name.ptr, fields[i].name.len);
        if (member && !yyjson_is_null(member)) {
            tg_json_key(out, fields[i].name);
            add_as(fields[i].type, member, out);
        }
    }
    tg_json_end_object(out);
}

static void add_items(const tg_type *type, yyjson_val *value, tg_json_out *out)
{
    size_t i, count;
    yyjson_val *item;
    tg_json_array(out);
    yyjson_arr_foreach(value, i, count, item)
    {
        add_as(type, item, out);
    }
    tg_json_end_array(out);
}

/* A value where a type is wanted; null where it has another one. Objects as strings are JSON. */
static void add_as(const tg_type *type, yyjson_val *value, tg_json_out *out)
{
    int64_t number;
    if (type->kind == TG_TYPE_STRUCT && yyjson_is_obj(value)) {
        add_fields(type->fields, type->field_count, value, out);
    } else if (type->kind == TG_TYPE_ARRAY && yyjson_is_arr(value)) {
        add_items(type->element, value, out);
    } else if (type->kind == TG_TYPE_BIGINT && tg_json_to_i64(value, &number)) {
        tg_json_i64(out, number);
    } else if (type->kind == TG_TYPE_BOOLEAN && yyjson_is_bool(value)) {
        tg_json_bool(out, yyjson_get_bool(value));
    } else if (type->kind == TG_TYPE_STRING && yyjson_is_str(value)) {
        tg_json_str(out, tg_json_text(value));
    } else if (type->kind == TG_TYPE_STRING) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        tg_json_add_value(&text, value);
        tg_json_str(out, tg_buf_str(&text));
    } else {
        tg_json_null(out);
    }
}

/* What the vendor's columns have no place for; NULL: nothing. */
static yyjson_val *exception_of(const tg_event_record *event)
{
    yyjson_val *first = yyjson_arr_get_first(tg_json_get(event->error, "exceptions"));
    for (size_t i = 0; i < TG_EVENT_ERROR_KEY_COUNT; i++) {
        if (tg_json_get(first, TG_EVENT_ERROR_KEYS[i])) {
            return first;
        }
    }
    return NULL;
}

static void add_raw(tg_json_out *out, yyjson_val *value)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_add_value(&text, value);
    tg_json_raw(out, tg_buf_str(&text));
}

/* {"<event type>": {..., "error": {sql_state, detail, hint, place}}} as text */
static void add_details(const tg_event_record *event, yyjson_val *exception, tg_json_out *out)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out details;
    size_t i, count;
    yyjson_val *key, *value;
    tg_json_begin(&details, &text);
    tg_json_object(&details);
    tg_json_key(&details, event->event_type);
    tg_json_object(&details);
    yyjson_obj_foreach(event->details, i, count, key, value)
    {
        tg_json_key(&details, tg_json_text(key));
        add_raw(&details, value);
    }
    tg_json_key(&details, TG_S(TG_EVENT_ERROR_KEY));
    tg_json_object(&details);
    for (size_t k = 0; k < TG_EVENT_ERROR_KEY_COUNT; k++) {
        yyjson_val *one = tg_json_get(exception, TG_EVENT_ERROR_KEYS[k]);
        if (one) {
            tg_json_keyz(&details, TG_EVENT_ERROR_KEYS[k]);
            add_raw(&details, one);
        }
    }
    tg_json_end_object(&details);
    tg_json_end_object(&details);
    tg_json_end_object(&details);
    tg_json_str(out, tg_buf_str(&text));
}

void tg_event_table_line(const tg_event_table *table, const tg_event_record *event, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_json_out json;
    yyjson_val *exception = exception_of(event);
    tg_json_begin(&json, out);
    tg_json_object(&json);
    for (size_t i = 0; i < table->schema.count; i++) {
        const tg_field *field = &table->schema.fields[i];
        tg_json_key(&json, field->name);
        yyjson_val *value = yyjson_obj_getn(event->root, field->name.ptr, field->name.len);
        if (field->type->kind == TG_TYPE_TIMESTAMP) {
            tg_json_str(&json, tg_instant_text(scratch, event->timestamp_us));
        } else if (!value || yyjson_is_null(value)) {
            tg_json_null(&json);
        } else if (exception && event->details && tg_str_eq(field->name, TG_S("details"))) {
            add_details(event, exception, &json);
        } else {
            add_as(field->type, value, &json);
        }
    }
    tg_json_end_object(&json);
    tg_buf_addc(out, '\n');
}

/* ---- files of such lines --------------------------------------------------------------------- */

static tg_code copy_file(tg_api *api, const tg_event_table *table, tg_str from, tg_str to,
                         tg_buf *pending, size_t *events, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_event_reader *reader = tg_event_reader_new(api->fs, from, scratch);
    for (;;) {
        tg_event_record event;
        bool has_event;
        TG_TRY(tg_event_reader_next(reader, &event, &has_event, err));
        if (!has_event) {
            return TG_OK;
        }
        tg_event_table_line(table, &event, pending);
        ++*events;
        if (pending->len > PIECE_BYTES) {
            TG_TRY(tg_fs_append(api->fs, to, tg_buf_str(pending), err));
            tg_buf_clear(pending);
        }
    }
}

tg_code tg_event_table_copy(tg_api *api, const tg_event_table *table, const tg_event_file *files,
                            size_t count, tg_str to_path, size_t *out_events, tg_error *err)
{
    tg_auto_buf tg_buf pending = TG_BUF_INIT;
    *out_events = 0;
    for (size_t i = 0; i < count; i++) {
        tg_auto_error tg_error problem = TG_ERROR_INIT;
        tg_code code =
            copy_file(api, table, files[i].path, to_path, &pending, out_events, &problem);
        if (code != TG_OK && code != TG_NOT_FOUND) {
            return tg_error_pass(&problem, err);
        }
    }
    return tg_fs_append(api->fs, to_path, tg_buf_str(&pending), err);
}

tg_table *tg_event_table_of_lines(const tg_event_table *table, tg_str path, tg_arena *arena)
{
    tg_table *lines = TG_NEW(arena, tg_table);
    *lines = (tg_table){.name = path,
                        .format = TG_FORMAT_JSON,
                        .path = path,
                        .schema = table->schema,
                        .version = -1};
    return lines;
}
