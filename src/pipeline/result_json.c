/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of an update as one JSON object: the last line of --json, a contract with users'
 * scripts (design 3.1).
 */
#include "pipeline/update_int.h"

const char *tg_flow_status_name(tg_flow_status status)
{
    static const char *const names[] = {
        [TG_FLOW_QUEUED] = "QUEUED",       [TG_FLOW_PLANNING] = "PLANNING",
        [TG_FLOW_STARTING] = "STARTING",   [TG_FLOW_RUNNING] = "RUNNING",
        [TG_FLOW_COMPLETED] = "COMPLETED", [TG_FLOW_FAILED] = "FAILED",
        [TG_FLOW_SKIPPED] = "SKIPPED",     [TG_FLOW_STOPPED] = "STOPPED",
        [TG_FLOW_EXCLUDED] = "EXCLUDED",
    };
    return names[status];
}

const char *tg_update_state_name(tg_update_state state)
{
    static const char *const names[] = {
        [TG_UPDATE_INITIALIZING] = "INITIALIZING",
        [TG_UPDATE_SETTING_UP_TABLES] = "SETTING_UP_TABLES",
        [TG_UPDATE_RUNNING] = "RUNNING",
        [TG_UPDATE_COMPLETED] = "COMPLETED",
        [TG_UPDATE_FAILED] = "FAILED",
        [TG_UPDATE_CANCELED] = "CANCELED",
    };
    return names[state];
}

static void add_count(tg_json_out *out, const char *key, int64_t value)
{
    if (value >= 0) {
        tg_json_ki64(out, key, value);
    } else {
        tg_json_knull(out, key);
    }
}

static void add_text(tg_json_out *out, const char *key, tg_str value)
{
    if (value.len) {
        tg_json_kstr(out, key, value);
    } else {
        tg_json_knull(out, key);
    }
}

static void add_error(tg_json_out *out, const tg_error *error)
{
    tg_json_keyz(out, "error");
    if (!error) {
        tg_json_null(out);
        return;
    }
    tg_json_object(out);
    tg_json_kstrz(out, "error_class", tg_error_name(error));
    tg_json_kstrz(out, "sql_state", error->sqlstate);
    tg_json_kstrz(out, "message", error->message);
    tg_json_kstrz(out, "detail", error->detail);
    tg_json_kstrz(out, "hint", error->hint);
    tg_json_kstrz(out, "file", error->place.line ? error->place.file : NULL);
    add_count(out, "line", error->place.line ? error->place.line : -1);
    add_count(out, "column", error->place.line ? error->place.column : -1);
    tg_json_end_object(out);
}

void tg_pieces_json(tg_json_out *out, const tg_flow_result *result)
{
    tg_json_keyz(out, "pieces");
    tg_json_array(out);
    for (size_t i = 0; i < result->piece_count; i++) {
        tg_json_object(out);
        tg_json_kstr(out, "where", result->pieces[i].where);
        tg_json_kstrz(out, "treatment", result->pieces[i].treatment);
        tg_json_kstrz(out, "reason", result->pieces[i].reason);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

static void add_warnings(tg_json_out *out, const tg_flow_result *result)
{
    tg_json_keyz(out, "warnings");
    tg_json_array(out);
    for (size_t i = 0; i < result->warning_count; i++) {
        tg_json_str(out, result->warnings[i]);
    }
    tg_json_end_array(out);
}

static void add_flow(tg_json_out *out, const tg_flow_result *result, bool is_plan)
{
    tg_json_object(out);
    tg_json_kstr(out, "flow_name", result->flow->full_name);
    tg_json_kstr(out, "dataset_name", result->flow->dataset->full_name);
    tg_json_kstrz(out, "status", tg_flow_status_name(result->status));
    tg_json_kbool(out, "full_refresh", result->is_full_refresh);
    tg_json_kstrz(out, "technique", result->technique);
    tg_json_keyz(out, "fallback_reasons");
    tg_json_array(out);
    for (size_t i = 0; i < result->issue_count; i++) {
        tg_json_strz(out, result->issues[i].issue_type);
    }
    tg_json_end_array(out);
    tg_pieces_json(out, result);
    add_text(out, "window", result->window);
    if (is_plan) {
        add_count(out, "num_rows_to_delete", result->rows_to_delete);
        add_count(out, "num_rows_to_insert", result->rows_to_insert);
        tg_json_kbool(out, "is_estimate", result->is_estimate);
    }
    add_count(out, "committed_version", result->committed_version);
    add_count(out, "num_output_rows", result->output_rows);
    add_count(out, "num_deleted_rows", result->deleted_rows);
    add_count(out, "num_rows_physically_written", result->rows_written);
    add_count(out, "num_rows_physically_deleted", result->rows_deleted);
    add_count(out, "num_files_added", result->files_added);
    add_count(out, "num_files_removed", result->files_removed);
    add_count(out, "num_source_rows_read", result->source_rows_read);
    if (result->lint_count > 0) {
        tg_lints_json(out, result);
    }
    tg_json_ki64(out, "duration_ms", result->duration_ms);
    add_warnings(out, result);
    add_error(out, result->error);
    tg_json_end_object(out);
}

static void add_views(tg_json_out *out, const tg_update_result *result)
{
    tg_json_keyz(out, "views");
    tg_json_array(out);
    for (size_t i = 0; i < result->view_count; i++) {
        tg_json_object(out);
        tg_json_kstr(out, "dataset_name", result->views[i].view->full_name);
        tg_json_kstrz(out, "status", result->views[i].status);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

static void add_inactive(tg_json_out *out, const tg_update_result *result)
{
    tg_json_keyz(out, "inactive_datasets");
    tg_json_array(out);
    for (size_t i = 0; i < result->inactive_count; i++) {
        tg_json_object(out);
        tg_json_kstr(out, "dataset_name", result->inactive[i].dataset_name);
        add_text(out, "since", result->inactive[i].since);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

void tg_update_result_json(const tg_update_result *result, tg_buf *buf)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    add_text(&out, "update_id", result->update_id);
    tg_json_kstr(&out, "pipeline_name", result->pipeline_name);
    tg_json_kstrz(&out, "state", tg_update_state_name(result->state));
    tg_json_kstr(&out, "now", tg_instant_text(scratch, result->now_us));
    tg_json_kstr(&out, "timezone", result->zone_name);
    tg_json_ki64(&out, "duration_ms", result->duration_ms);
    tg_json_keyz(&out, "flows");
    tg_json_array(&out);
    for (size_t i = 0; i < result->flow_count; i++) {
        add_flow(&out, &result->flows[i], result->is_plan);
    }
    tg_json_end_array(&out);
    if (result->view_count > 0) {
        add_views(&out, result);
    }
    if (result->inactive_count > 0) {
        add_inactive(&out, result);
    }
    tg_json_end_object(&out);
}
