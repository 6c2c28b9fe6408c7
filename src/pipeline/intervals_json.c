/* SPDX-License-Identifier: Apache-2.0 */
/* The object of tidegate intervals --json: a contract with users' scripts. */
#include "pipeline/pipeline.h"

static void add_piece(tg_json_out *out, const tg_piece *piece)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    if (piece) {
        tg_json_kstr(out, "computed_at", tg_instant_text(scratch, piece->clock_us));
    } else {
        tg_json_knull(out, "computed_at");
    }
    tg_json_keyz(out, "sources");
    tg_json_array(out);
    for (size_t i = 0; piece && i < piece->source_count; i++) {
        const tg_source_identity *source = &piece->sources[i];
        tg_json_object(out);
        tg_json_kstr(out, "name", source->name);
        if (source->version >= 0) {
            tg_json_ki64(out, "version", source->version);
        } else {
            tg_json_knull(out, "version"); /* files that are no Delta table */
        }
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

static void add_interval(tg_json_out *out, const tg_plan_interval *interval)
{
    tg_json_object(out);
    tg_json_kstr(out, "where", interval->where);
    tg_json_kstrz(out, "status", interval->status);
    tg_json_kstrz(out, "reason", interval->reason);
    if (interval->place == TG_PLACE_PARTLY) {
        tg_json_knull(out, "in_window");
    } else {
        tg_json_kbool(out, "in_window", interval->place == TG_PLACE_WINDOW);
    }
    add_piece(out, interval->piece);
    tg_json_end_object(out);
}

void tg_flow_intervals_json(const tg_update_result *result, const tg_flow_result *flow, tg_buf *buf)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    tg_json_kstr(&out, "flow_name", flow->flow->full_name);
    tg_json_kstr(&out, "dataset_name", flow->flow->dataset->full_name);
    tg_json_kstr(&out, "pipeline_name", result->pipeline_name);
    tg_json_kstr(&out, "now", tg_instant_text(scratch, result->now_us));
    tg_json_kstr(&out, "timezone", result->zone_name);
    if (flow->target_version >= 0) {
        tg_json_ki64(&out, "version", flow->target_version);
    } else {
        tg_json_knull(&out, "version");
    }
    if (flow->window.len) {
        tg_json_kstr(&out, "window", flow->window);
    } else {
        tg_json_knull(&out, "window");
    }
    tg_json_keyz(&out, "intervals");
    tg_json_array(&out);
    for (size_t i = 0; i < flow->interval_count; i++) {
        add_interval(&out, &flow->intervals[i]);
    }
    tg_json_end_array(&out);
    tg_json_end_object(&out);
}
