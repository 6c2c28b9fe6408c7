/* SPDX-License-Identifier: Apache-2.0 */
/* One event as one JSON object: the fields of the Databricks event log, in its order. */
#include "eventlog/eventlog_int.h"

const char *tg_event_level_name(tg_event_level level)
{
    static const char *const NAMES[] = {[TG_LEVEL_INFO] = "INFO",
                                        [TG_LEVEL_WARN] = "WARN",
                                        [TG_LEVEL_ERROR] = "ERROR",
                                        [TG_LEVEL_METRICS] = "METRICS"};
    tg_assert((unsigned)level < TG_LEVEL_COUNT_);
    return NAMES[level];
}

static void add_place(const tg_place *place, tg_json_out *out)
{
    if (place->line == 0) {
        return;
    }
    tg_json_keyz(out, "place");
    tg_json_object(out);
    tg_json_kstrz(out, "file", place->file);
    tg_json_ki64(out, "line", place->line);
    tg_json_ki64(out, "column", place->column);
    tg_json_end_object(out);
}

/*
 * {"fatal":..,"exceptions":[{"class_name","message","error_class","sql_state","stack":[]}]}, with
 * file and line when known.
 */
static void add_error(const tg_error *error, bool is_fatal, tg_json_out *out)
{
    tg_json_object(out);
    tg_json_kbool(out, "fatal", is_fatal);
    tg_json_keyz(out, "exceptions");
    tg_json_array(out);
    tg_json_object(out);
    tg_json_kstrz(out, "class_name", tg_error_name(error));
    tg_json_kstrz(out, "message", error->message);
    tg_json_kstrz(out, "error_class", tg_error_name(error));
    tg_json_kstrz(out, "sql_state", error->sqlstate);
    if (error->detail) {
        tg_json_kstrz(out, "detail", error->detail);
    }
    if (error->hint) {
        tg_json_kstrz(out, "hint", error->hint);
    }
    add_place(&error->place, out);
    tg_json_keyz(out, "stack");
    tg_json_array(out);
    tg_json_end_array(out);
    tg_json_end_object(out);
    tg_json_end_array(out);
    tg_json_end_object(out);
}

static void add_known(tg_json_out *out, const char *key, tg_str value)
{
    if (value.len) {
        tg_json_kstr(out, key, value);
    }
}

static void add_origin(const tg_event *event, const tg_event_origin *origin, tg_json_out *out)
{
    tg_json_keyz(out, "origin");
    tg_json_object(out);
    add_known(out, "pipeline_id", origin->pipeline_id);
    tg_json_kstrz(out, "pipeline_type", "WORKSPACE");
    add_known(out, "pipeline_name", origin->pipeline_name);
    add_known(out, "update_id", origin->update_id);
    add_known(out, "table_id", event->table_id);
    add_known(out, "flow_id", event->flow_id);
    add_known(out, "flow_name", event->flow_name);
    add_known(out, "dataset_name", event->dataset_name);
    add_known(out, "catalog_name", origin->catalog_name);
    add_known(out, "schema_name", origin->schema_name);
    tg_json_end_object(out);
}

void tg_event_json(const tg_event *event, const tg_event_origin *origin, const char *id,
                   const char *instance, int64_t seq_no, tg_arena *scratch, tg_buf *buf)
{
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    tg_json_kstrz(&out, "id", id);
    tg_json_keyz(&out, "sequence");
    tg_json_object(&out);
    tg_json_keyz(&out, "data_plane_id");
    tg_json_object(&out);
    tg_json_kstrz(&out, "instance", instance);
    tg_json_ki64(&out, "seq_no", seq_no);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    add_origin(event, origin, &out);
    tg_json_kstr(&out, "timestamp", tg_instant_text(scratch, event->timestamp_us));
    tg_json_kstr(&out, "message", event->message);
    tg_json_kstrz(&out, "level", tg_event_level_name(event->level));
    tg_json_kstrz(&out, "maturity_level", event->is_evolving ? "EVOLVING" : "STABLE");
    tg_json_keyz(&out, "error");
    if (event->error) {
        add_error(event->error, event->is_fatal, &out);
    } else {
        tg_json_null(&out);
    }
    tg_json_keyz(&out, "details");
    tg_json_object(&out);
    tg_json_keyz(&out, tg_event_type_name(event->type));
    tg_json_raw(&out, event->details.len ? event->details : TG_S("{}"));
    tg_json_end_object(&out);
    tg_json_kstrz(&out, "event_type", tg_event_type_name(event->type));
    tg_json_end_object(&out);
}
