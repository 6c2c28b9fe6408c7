/* SPDX-License-Identifier: Apache-2.0 */
/* One line of an event file as a record. */
#include <yyjson.h>

#include "eventlog/eventlog_int.h"

static tg_code not_an_event(const char *lacks, tg_error *err)
{
    TG_FAIL(err, TIDEGATE_INVALID_JSON, "the line is no event: it has no %s", lacks);
}

static tg_code parse_time(tg_str text, int64_t *out_us, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    bool has_zone;
    return tg_timestamp_parse(text, scratch, out_us, &has_zone) && has_zone
               ? TG_OK
               : not_an_event("timestamp", err);
}

tg_code tg_event_parse(tg_str line, tg_arena *arena, tg_event_record *out, tg_error *err)
{
    struct yyjson_val *root;
    TG_TRY(tg_json_parse(line, TG_JSON_RAW_NUMBERS, arena, &root, err));
    struct yyjson_val *origin = tg_json_get(root, "origin");
    *out = (tg_event_record){
        .line = line,
        .root = root,
        .id = tg_json_get_str(root, "id", TG_S("")),
        .event_type = tg_json_get_str(root, "event_type", TG_S("")),
        .level = tg_json_get_str(root, "level", TG_S("")),
        .message = tg_json_get_str(root, "message", TG_S("")),
        .pipeline_id = tg_json_get_str(origin, "pipeline_id", TG_S("")),
        .pipeline_name = tg_json_get_str(origin, "pipeline_name", TG_S("")),
        .update_id = tg_json_get_str(origin, "update_id", TG_S("")),
        .flow_name = tg_json_get_str(origin, "flow_name", TG_S("")),
        .dataset_name = tg_json_get_str(origin, "dataset_name", TG_S("")),
    };
    if (out->id.len == 0 || out->event_type.len == 0 || out->update_id.len == 0) {
        return not_an_event(out->id.len == 0           ? "id"
                            : out->event_type.len == 0 ? "event_type"
                                                       : "origin.update_id",
                            err);
    }
    TG_TRY(parse_time(tg_json_get_str(root, "timestamp", TG_S("")), &out->timestamp_us, err));
    struct yyjson_val *details = tg_json_get(root, "details");
    out->details = yyjson_obj_getn(details, out->event_type.ptr, out->event_type.len);
    struct yyjson_val *error = tg_json_get(root, "error");
    out->error = yyjson_is_obj(error) ? error : NULL;
    return TG_OK;
}
