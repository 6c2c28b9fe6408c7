/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an update tells while it runs: events in the vendor's words (reference/databricks-
 * semantics.md 5, anchors.md 3.6).
 */
#include "pipeline/update_int.h"

#include <unistd.h>

#include "tidegate/version.h"

enum { SHORT_ID_LEN = 6 };

static void emit(tg_update *u, tg_event *event, tg_buf *details)
{
    event->details = tg_buf_str(details);
    tg_eventlog_write(u->log, event);
}

static void emit_of_flow(tg_update *u, const tg_flow_run *run, tg_event *event, tg_buf *details)
{
    if (run->worker) {
        event->details = tg_buf_str(details);
        tg_worker_tell(run, event);
    } else {
        emit(u, event, details);
    }
}

void tg_update_flush(tg_update *u)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_eventlog_flush(u->log, &err) != TG_OK && !u->has_log_warning) {
        u->has_log_warning = true;
        tg_diags_add_warning(u->diags, &err);
    }
}

void tg_flow_flush(tg_flow_run *run)
{
    if (run->worker) {
        tg_worker_flush(run);
    } else {
        tg_update_flush(run->update);
    }
}

/* ---- the update ------------------------------------------------------------------------------ */

static void add_strings(tg_json_out *out, const char *key, const tg_str *items, size_t count)
{
    tg_json_keyz(out, key);
    tg_json_array(out);
    for (size_t i = 0; i < count; i++) {
        tg_json_str(out, items[i]);
    }
    tg_json_end_array(out);
}

/* In the shape of the vendor's request, as it can be sent again. */
static void add_overrides(tg_json_out *out, const tg_update_options *options)
{
    tg_json_keyz(out, "replace_where_overrides");
    tg_json_array(out);
    for (size_t i = 0; i < options->override_count; i++) {
        tg_json_object(out);
        tg_json_kstr(out, "flow_name", options->overrides[i].flow);
        tg_json_kstr(out, "predicate_override", options->overrides[i].predicate);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

/* NULL where the environment does not tell. */
static const char *user_name(const tg_update *u)
{
    const tg_env *env = u->context->env;
    if (!env->getenv) {
        return NULL;
    }
    const char *name = env->getenv(env->self, "USER");
    return name && *name ? name : env->getenv(env->self, "LOGNAME");
}

/* What :name was bound to, the spec's values included. */
static void add_parameters(tg_json_out *out, const tg_spec *spec)
{
    tg_json_keyz(out, "parameters");
    tg_json_object(out);
    for (size_t i = 0; i < spec->parameter_count; i++) {
        bool is_given = false;
        for (size_t j = 0; j < spec->param_count; j++) {
            is_given = is_given || tg_str_eq(spec->params[j].name, spec->parameters[i].key);
        }
        if (!is_given) {
            tg_json_key(out, spec->parameters[i].key);
            tg_json_str(out, spec->parameters[i].value);
        }
    }
    for (size_t i = 0; i < spec->param_count; i++) {
        tg_json_key(out, spec->params[i].name);
        tg_json_str(out, spec->params[i].value);
    }
    tg_json_end_object(out);
}

static void emit_create_update(tg_update *u, const char *cause)
{
    const tg_spec *spec = u->graph->spec;
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "run_as", user_name(u));
    tg_json_kstrz(&out, "cause", cause);
    tg_json_kbool(&out, "full_refresh", u->options->full_refresh_all);
    tg_json_kbool(&out, "validate_only", u->options->is_dry_run);
    add_strings(&out, "refresh_selection", u->options->refresh, u->options->refresh_count);
    add_strings(&out, "full_refresh_selection", u->options->full_refresh,
                u->options->full_refresh_count);
    if (u->options->override_count > 0) {
        add_overrides(&out, u->options);
    }
    if (u->options->retry_of.len > 0) {
        tg_json_kstr(&out, "retry_of", u->options->retry_of);
    }
    if (spec->param_count > 0 || spec->parameter_count > 0) {
        add_parameters(&out, spec);
    }
    tg_json_kstr(&out, "now", tg_instant_text(u->arena, u->now_us));
    tg_json_kstr(&out, "timezone", tg_zone_name(u->zone));
    tg_json_keyz(&out, "config");
    tg_json_object(&out);
    tg_json_kstr(&out, "name", spec->name);
    tg_json_kstr(&out, "storage", spec->storage);
    tg_json_kstr(&out, "catalog", spec->catalog);
    tg_json_kstr(&out, "schema", spec->schema);
    tg_json_keyz(&out, "configuration");
    tg_json_object(&out);
    for (size_t i = 0; i < spec->configuration_count; i++) {
        tg_json_key(&out, spec->configuration[i].key);
        tg_json_str(&out, spec->configuration[i].value);
    }
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_str id = tg_str_sub(u->result->update_id, 0, SHORT_ID_LEN);
    tg_event event = {
        .type = TG_EVENT_CREATE_UPDATE,
        .message = tg_str_printf(u->arena, "Update %.*s started by %s.", TG_SARG(id), cause)};
    emit(u, &event, &details);
}

static void emit_user_action(tg_update *u)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "action", "START");
    tg_json_kstrz(&out, "user_name", user_name(u));
    tg_json_ki64(&out, "user_id", (int64_t)getuid());
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_USER_ACTION,
                      .message =
                          tg_str_printf(u->arena, "a user started an update of pipeline %.*s.",
                                        TG_SARG(u->graph->spec->name))};
    emit(u, &event, &details);
}

/* Under the vendor's key, and under the one that a query of its documentation reads. */
static void emit_runtime_details(tg_update *u)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "dbr_version", "tidegate-" TG_VERSION_STRING);
    tg_json_keyz(&out, "runtime_version");
    tg_json_object(&out);
    tg_json_kstrz(&out, "dbr_version", "tidegate-" TG_VERSION_STRING);
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_RUNTIME_DETAILS,
                      .message = TG_S("Runtime details: tidegate " TG_VERSION_STRING ".")};
    emit(u, &event, &details);
}

void tg_update_event_start(tg_update *u)
{
    const char *cause = u->options->cause ? u->options->cause : "USER_ACTION";
    emit_create_update(u, cause);
    if (strcmp(cause, "USER_ACTION") == 0) {
        emit_user_action(u);
    }
    emit_runtime_details(u);
    tg_update_event_state(u, TG_UPDATE_INITIALIZING, NULL);
}

void tg_update_event_state(tg_update *u, tg_update_state state, const tg_error *error)
{
    u->result->state = state;
    const char *name = tg_update_state_name(state);
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "state", name);
    if (state == TG_UPDATE_CANCELED) {
        tg_json_kstrz(&out, "cancellation_cause", "USER_ACTION");
    }
    tg_json_end_object(&out);
    /* The cause stands in the message too: "the update failed" alone sends people looking. */
    tg_str id = tg_str_sub(u->result->update_id, 0, SHORT_ID_LEN);
    tg_str message =
        error ? tg_str_printf(u->arena, "Update %.*s is %s: %s.", TG_SARG(id), name, error->message)
              : tg_str_printf(u->arena, "Update %.*s is %s.", TG_SARG(id), name);
    tg_event event = {.type = TG_EVENT_UPDATE_PROGRESS,
                      .level = state == TG_UPDATE_FAILED ? TG_LEVEL_ERROR : TG_LEVEL_INFO,
                      .message = message,
                      .error = error,
                      .is_fatal = error != NULL};
    emit(u, &event, &details);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void emit_dataset(tg_update *u, const tg_dataset *dataset)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "dataset_type", tg_dataset_kind_event_name(dataset->kind));
    tg_json_ki64(&out, "num_flows", dataset->kind == TG_DATASET_VIEW ? 0 : 1);
    tg_json_keyz(&out, "expectations");
    tg_json_array(&out);
    tg_json_end_array(&out);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_DATASET_DEFINITION,
                      .dataset_name = dataset->full_name,
                      .message = tg_str_printf(u->arena, "Dataset '%.*s' defined as a %s.",
                                               TG_SARG(dataset->full_name),
                                               tg_dataset_kind_name(dataset->kind))};
    emit(u, &event, &details);
}

static void emit_flow_definition(tg_update *u, const tg_flow *flow)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_keyz(&out, "input_datasets");
    tg_json_array(&out);
    for (size_t i = 0; i < flow->input_count; i++) {
        const tg_input *input = &flow->inputs[i];
        tg_json_object(&out);
        tg_json_kstr(&out, "name",
                     input->dataset ? input->dataset->full_name
                                    : u->graph->externals[input->external].location.full_name);
        tg_json_end_object(&out);
    }
    tg_json_end_array(&out);
    tg_json_kstr(&out, "output_dataset", flow->dataset->full_name);
    tg_json_kstrz(&out, "flow_type", tg_flow_kind_event_name(flow->kind));
    if (flow->spec->predicate_text.len) {
        tg_json_kstr(&out, "replace_where", flow->spec->predicate_text);
    }
    tg_json_kstr(&out, "comment", flow->stmt->clauses.comment);
    tg_json_kstrz(&out, "language", "SQL");
    tg_json_kbool(&out, "once", false);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_FLOW_DEFINITION,
                      .flow_name = flow->event_name,
                      .dataset_name = flow->dataset->full_name,
                      .message = tg_str_printf(u->arena, "Flow '%.*s' defined as %s.",
                                               TG_SARG(flow->event_name),
                                               tg_flow_kind_event_name(flow->kind))};
    emit(u, &event, &details);
}

static void emit_graph(tg_update *u)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_ki64(&out, "num_datasets", (int64_t)u->graph->dataset_count);
    tg_json_ki64(&out, "num_flows", (int64_t)u->graph->flow_count);
    tg_json_end_object(&out);
    tg_event event = {
        .type = TG_EVENT_GRAPH_CREATED,
        .is_evolving = true,
        .message = tg_str_printf(u->arena, "Dataflow graph created: %zu dataset%s, %zu flow%s.",
                                 u->graph->dataset_count, u->graph->dataset_count == 1 ? "" : "s",
                                 u->graph->flow_count, u->graph->flow_count == 1 ? "" : "s")};
    emit(u, &event, &details);
}

void tg_update_event_definitions(tg_update *u)
{
    emit_graph(u);
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        if (!u->graph->datasets[i]->found) {
            emit_dataset(u, u->graph->datasets[i]);
        }
    }
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        emit_flow_definition(u, u->graph->flows[i]);
    }
}

/* ---- planning -------------------------------------------------------------------------------- */

/* The pipeline page of the vendor knows one coarse code where its event log knows three. */
static bool has_legacy_type(const char *issue_type)
{
    return strcmp(issue_type, "STALE_TARGET_DATA_IN_WINDOW") == 0 ||
           strcmp(issue_type, "CANNOT_PUSH_PREDICATE") == 0 ||
           strcmp(issue_type, "REPLACE_WHERE_BACKFILL") == 0;
}

static void add_issues(tg_json_out *out, const tg_flow_result *result)
{
    tg_json_keyz(out, "incrementalization_issues");
    tg_json_array(out);
    for (size_t i = 0; i < result->issue_count; i++) {
        const tg_plan_issue *issue = &result->issues[i];
        tg_json_object(out);
        tg_json_kstrz(out, "issue_type", issue->issue_type);
        tg_json_kbool(out, "prevent_incrementalization", true);
        if (issue->expression) {
            tg_json_kstrz(out, "expression_name", issue->expression);
        }
        if (issue->sub_type) {
            bool is_random = strcmp(issue->issue_type, "PLAN_NOT_DETERMINISTIC") == 0;
            tg_json_kstrz(out,
                          is_random ? "plan_not_deterministic_sub_type"
                                    : "plan_not_incrementalizable_sub_type",
                          issue->sub_type);
        }
        if (has_legacy_type(issue->issue_type)) {
            tg_json_kstrz(out, "legacy_issue_type", "UNSUPPORTED_REPLACE_WHERE_PREDICATE");
        }
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

/* The target's, also of one that this update makes; empty while it is not known. */
static tg_str table_id(const tg_flow_run *run)
{
    return run->input.target.exists ? run->input.target.table_id : run->input.new_table_id;
}

/* The same as long as the table and the flow are the same. */
static tg_str flow_id(const tg_flow_run *run)
{
    tg_str table = table_id(run);
    if (table.len == 0) {
        return (tg_str){0};
    }
    tg_digest digest = tg_digest_of(tg_flow_app_id(run->arena, table, run->flow->full_name));
    tg_str hex = tg_digest_text(run->arena, digest);
    return tg_str_printf(run->arena, "%.8s-%.4s-%.4s-%.4s-%.12s", hex.ptr, hex.ptr + 8,
                         hex.ptr + 12, hex.ptr + 16, hex.ptr + 20);
}

static void add_technique(const tg_flow_run *run, tg_json_out *out, const char *technique,
                          bool is_chosen)
{
    tg_json_object(out);
    tg_json_kstr(out, "maintenance_type",
                 tg_str_printf(run->arena, "MAINTENANCE_TYPE_%s", technique));
    tg_json_kbool(out, "is_applicable", true);
    tg_json_kbool(out, "is_chosen", is_chosen);
    if (is_chosen) {
        add_issues(out, run->result);
    }
    tg_json_end_object(out);
}

static void add_target(const tg_flow_run *run, tg_json_out *out)
{
    tg_json_keyz(out, "target_table_information");
    tg_json_object(out);
    tg_json_kstr(out, "table_name", run->flow->dataset->full_name);
    if (table_id(run).len > 0) {
        tg_json_kstr(out, "table_id", table_id(run));
    }
    tg_json_kbool(out, "is_row_id_enabled", false);
    tg_json_end_object(out);
}

void tg_update_event_planning(tg_update *u, tg_flow_run *run)
{
    const tg_flow_result *result = run->result;
    /* computing all anew is always a candidate */
    const char *complete =
        run->flow->kind == TG_FLOW_COMPLETE ? "COMPLETE_RECOMPUTE" : "COMPLETE_REPLACE_WHERE";
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_keyz(&out, "technique_information");
    tg_json_array(&out);
    add_technique(run, &out, result->technique, true);
    if (strcmp(result->technique, complete) != 0) {
        add_technique(run, &out, complete, false);
    }
    tg_json_end_array(&out);
    tg_json_keyz(&out, "source_table_information");
    tg_json_array(&out);
    for (size_t i = 0; i < run->input.pin_count; i++) {
        const tg_pin *pin = &run->input.pins[i];
        tg_json_object(&out);
        tg_json_kstr(&out, "table_name", pin->name);
        tg_json_key(&out, TG_S("version"));
        if (pin->version >= 0) {
            tg_json_i64(&out, pin->version);
        } else {
            tg_json_null(&out);
        }
        if (pin->table && pin->table->format == TG_FORMAT_DELTA) {
            add_strings(&out, "partition_columns", pin->table->partition_columns,
                        pin->table->partition_count);
        }
        tg_json_end_object(&out);
    }
    tg_json_end_array(&out);
    add_target(run, &out);
    if (result->window.len) {
        tg_json_kstr(&out, "window", result->window);
    }
    tg_pieces_json(&out, result); /* our own key */
    if (result->lint_count > 0) {
        tg_lints_json(&out, result);
    }
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_PLANNING_INFORMATION,
                      .flow_name = run->flow->event_name,
                      .flow_id = flow_id(run),
                      .dataset_name = run->flow->dataset->full_name,
                      .table_id = table_id(run),
                      .message = tg_str_printf(run->arena,
                                               "Flow '%.*s' has been planned to be executed as %s.",
                                               TG_SARG(run->flow->event_name), result->technique)};
    emit_of_flow(u, run, &event, &details);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static tg_str flow_message(const tg_flow_run *run, tg_flow_status status, const tg_error *error)
{
    tg_str name = run->flow->event_name;
    switch (status) {
    case TG_FLOW_COMPLETED:
        return tg_str_printf(run->arena, "Flow %.*s has COMPLETED.", TG_SARG(name));
    case TG_FLOW_FAILED:
        return error ? tg_str_printf(run->arena, "Flow '%.*s' has FAILED: %s.", TG_SARG(name),
                                     error->message)
                     : tg_str_printf(run->arena, "Flow '%.*s' has FAILED.", TG_SARG(name));
    case TG_FLOW_SKIPPED:
        return tg_str_printf(run->arena, "Flow '%.*s' SKIPPED due to upstream failure(s).",
                             TG_SARG(name));
    case TG_FLOW_STOPPED:
        return tg_str_printf(run->arena, "Flow '%.*s' has STOPPED.", TG_SARG(name));
    case TG_FLOW_EXCLUDED:
        return tg_str_printf(run->arena, "Flow '%.*s' is EXCLUDED.", TG_SARG(name));
    case TG_FLOW_QUEUED:
    case TG_FLOW_PLANNING:
    case TG_FLOW_STARTING:
    case TG_FLOW_RUNNING:
        break;
    }
    return tg_str_printf(run->arena, "Flow %.*s is %s.", TG_SARG(name),
                         tg_flow_status_name(status));
}

/* Keys are absent when a number is not known, as in the vendor's log. */
static void add_metric(tg_json_out *out, const char *key, int64_t value)
{
    if (value >= 0) {
        tg_json_ki64(out, key, value);
    }
}

static void add_metrics(tg_json_out *out, const tg_flow_result *result)
{
    tg_json_keyz(out, "metrics");
    tg_json_object(out);
    add_metric(out, "num_output_rows", result->output_rows);
    add_metric(out, "num_deleted_rows", result->deleted_rows);
    add_metric(out, "num_output_bytes", result->output_bytes);
    add_metric(out, "num_rows_physically_written", result->rows_written);
    add_metric(out, "num_rows_physically_deleted", result->rows_deleted);
    add_metric(out, "num_files_added", result->files_added);
    add_metric(out, "num_files_removed", result->files_removed);
    add_metric(out, "num_source_rows_read", result->source_rows_read);
    add_metric(out, "execution_duration_ms", result->duration_ms);
    add_metric(out, "committed_version", result->committed_version);
    tg_json_end_object(out);
}

void tg_update_event_flow(tg_update *u, tg_flow_run *run, tg_flow_status status,
                          const tg_error *error)
{
    run->result->status = status;
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "status", tg_flow_status_name(status));
    if (status == TG_FLOW_COMPLETED) {
        add_metrics(&out, run->result);
    }
    tg_json_end_object(&out);
    bool is_early = status == TG_FLOW_QUEUED || status == TG_FLOW_PLANNING;
    tg_event event = {.type = TG_EVENT_FLOW_PROGRESS,
                      .level = status == TG_FLOW_FAILED    ? TG_LEVEL_ERROR
                               : status == TG_FLOW_SKIPPED ? TG_LEVEL_WARN
                                                           : TG_LEVEL_INFO,
                      .flow_name = run->flow->event_name,
                      .flow_id = is_early ? (tg_str){0} : flow_id(run),
                      .dataset_name = run->flow->dataset->full_name,
                      .table_id = is_early ? (tg_str){0} : table_id(run),
                      .message = flow_message(run, status, error),
                      .error = error,
                      .is_fatal = false};
    emit_of_flow(u, run, &event, &details);
}

void tg_update_event_reset(tg_update *u, const tg_flow_run *run)
{
    tg_str table = run->flow->dataset->full_name;
    int64_t before = run->result->committed_version - 1; /* whoever won a race before it included */
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "status", "RESET");
    tg_json_ki64(&out, "version_before", before);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_DATASET_LIFE_CYCLE,
                      .flow_name = run->flow->event_name,
                      .flow_id = flow_id(run),
                      .dataset_name = table,
                      .message = tg_str_printf(run->arena,
                                               "Table '%.*s' was reset; its rows before can be had "
                                               "back: tidegate restore %.*s --version %lld",
                                               TG_SARG(table), TG_SARG(table), (long long)before)};
    emit_of_flow(u, run, &event, &details);
}

void tg_update_event_warning(tg_update *u, tg_flow_run *run, const char *kind, tg_str message)
{
    tg_flow_result *result = run->result;
    tg_str *warnings = TG_NEW_ARRAY(run->arena, tg_str, result->warning_count + 1);
    tg_copy_bytes(warnings, result->warnings, result->warning_count * sizeof(*warnings));
    warnings[result->warning_count++] = message;
    result->warnings = warnings;
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "kind", kind);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_FLOW_WARNING,
                      .level = TG_LEVEL_WARN,
                      .flow_name = run->flow->event_name,
                      .flow_id = flow_id(run),
                      .dataset_name = run->flow->dataset->full_name,
                      .message = message};
    emit_of_flow(u, run, &event, &details);
}
