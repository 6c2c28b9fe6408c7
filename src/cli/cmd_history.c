/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate history: the updates of a pipeline, newest first. */
#include "cli/cli.h"

enum { DEFAULT_COUNT = 10 };

typedef struct flow_counts {
    size_t ok, failed, skipped, excluded, stopped, unfinished;
} flow_counts;

static flow_counts count_flows(const tg_logged_update *update)
{
    flow_counts counts = {0};
    for (size_t i = 0; i < update->flow_count; i++) {
        tg_str status = update->flows[i].status;
        size_t *count = tg_str_eq(status, TG_S("COMPLETED"))  ? &counts.ok
                        : tg_str_eq(status, TG_S("FAILED"))   ? &counts.failed
                        : tg_str_eq(status, TG_S("SKIPPED"))  ? &counts.skipped
                        : tg_str_eq(status, TG_S("EXCLUDED")) ? &counts.excluded
                        : tg_str_eq(status, TG_S("STOPPED"))  ? &counts.stopped
                                                              : &counts.unfinished;
        ++*count;
    }
    return counts;
}

static void add_texts(tg_json_out *out, const char *key, const tg_str *items, size_t count)
{
    if (count > 0) {
        tg_json_kstrs(out, key, items, count);
    }
}

static void add_flows(const tg_logged_update *update, tg_json_out *out)
{
    tg_json_keyz(out, "flows");
    tg_json_array(out);
    for (size_t i = 0; i < update->flow_count; i++) {
        const tg_logged_flow *flow = &update->flows[i];
        tg_json_object(out);
        tg_json_kstr(out, "flow_name", flow->flow_name);
        tg_json_kstr(out, "dataset_name", flow->dataset_name);
        tg_json_kstr(out, "status", flow->status);
        tg_json_kstrz(out, "technique", flow->technique.len ? flow->technique.ptr : NULL);
        if (flow->committed_version >= 0) {
            tg_json_ki64(out, "committed_version", flow->committed_version);
        } else {
            tg_json_knull(out, "committed_version");
        }
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}

/* The names of the vendor's REST answer, then ours. */
static void print_json(tg_arena *arena, const tg_past_update *past)
{
    const tg_logged_update *update = past->update;
    flow_counts counts = count_flows(update);
    tg_auto_buf tg_buf line = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &line);
    tg_json_object(&out);
    tg_json_kstr(&out, "update_id", update->update_id);
    tg_json_kstr(&out, "pipeline_id", update->pipeline_id);
    tg_json_kstr(&out, "state", update->state);
    tg_json_kstr(&out, "cause", update->cause);
    tg_json_ki64(&out, "creation_time", update->started_us / 1000);
    tg_json_kbool(&out, "full_refresh", update->full_refresh);
    add_texts(&out, "refresh_selection", update->refresh_selection, update->refresh_count);
    add_texts(&out, "full_refresh_selection", update->full_refresh_selection,
              update->full_refresh_count);
    tg_json_kbool(&out, "validate_only", update->validate_only);
    tg_json_kstr(&out, "start_time", tg_instant_text(arena, update->started_us));
    tg_json_kbool(&out, "is_running", past->is_running);
    tg_json_kbool(&out, "is_ended", update->is_ended);
    tg_json_ki64(&out, "duration_ms", (update->last_us - update->started_us) / 1000);
    tg_json_kstr(&out, "now", update->now);
    tg_json_kstr(&out, "timezone", update->timezone);
    tg_json_kstrz(&out, "retry_of", update->retry_of.len ? update->retry_of.ptr : NULL);
    tg_json_ki64(&out, "num_flows_completed", (int64_t)counts.ok);
    tg_json_ki64(&out, "num_flows_failed", (int64_t)counts.failed);
    tg_json_ki64(&out, "num_flows_skipped", (int64_t)counts.skipped);
    tg_json_ki64(&out, "num_flows_excluded", (int64_t)counts.excluded);
    add_flows(update, &out);
    tg_json_keyz(&out, "error");
    if (update->error_message.len > 0) {
        tg_json_object(&out);
        tg_json_kstr(&out, "error_class", update->error_class);
        tg_json_kstr(&out, "message", update->error_message);
        tg_json_end_object(&out);
    } else {
        tg_json_null(&out);
    }
    tg_json_end_object(&out);
    printf("%s\n", tg_buf_cstr(&line));
}

static void print_row(tg_arena *arena, const tg_past_update *past)
{
    const tg_logged_update *update = past->update;
    flow_counts counts = count_flows(update);
    bool is_dead = !update->is_ended && !past->is_running;
    const char *flows =
        tg_arena_printf(arena, "%zu/%zu/%zu", counts.ok, counts.failed, counts.skipped);
    printf(" %-36.*s  %-27.*s  %-12.*s  %10lld ms  %-16.*s  %s\n", TG_SARG(update->update_id),
           TG_SARG(tg_instant_text(arena, update->started_us)),
           TG_SARG(is_dead ? TG_S("DIED") : update->state),
           (long long)((update->last_us - update->started_us) / 1000), TG_SARG(update->cause),
           flows);
    if (is_dead) {
        printf("   its writer died while it was %.*s\n", TG_SARG(update->state));
    }
    if (update->error_message.len > 0) {
        printf("   [%.*s] %.*s\n", TG_SARG(update->error_class), TG_SARG(update->error_message));
    }
}

static void print_updates(tg_cli *cli, const tg_api *api, const tg_past_update *updates,
                          size_t count)
{
    bool as_json = cli->given[TG_OPT_JSON_LINES];
    if (count == 0 && !as_json) {
        bool is_narrowed = cli->given[TG_OPT_START_TIME] || cli->given[TG_OPT_END_TIME];
        fprintf(stderr, "pipeline %.*s has no updates %s\n", TG_SARG(tg_api_spec(api)->name),
                is_narrowed ? "between these times" : "yet");
        return;
    }
    if (!as_json) {
        printf(" %-36s  %-27s  %-12s  %13s  %-16s  %s\n", "update", "start", "state", "duration",
               "cause", "flows ok/failed/skipped");
    }
    for (size_t i = 0; i < count; i++) {
        (as_json ? print_json : print_row)(cli->arena, &updates[i]);
    }
}

static int history(tg_cli *cli, tg_api *api, tg_api_history_options *options)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_cli_time_range(cli, api, &options->start_us, &options->end_us, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_diags warnings = TG_DIAGS_INIT;
    tg_past_update *updates;
    size_t count;
    tg_code code = tg_api_history(api, options, cli->arena, &updates, &count, &warnings, &err);
    if (code == TG_OK) {
        print_updates(cli, api, updates, count);
    }
    fflush(stdout);
    tg_cli_print_diags(&warnings);
    tg_diags_dispose(&warnings);
    if (code != TG_OK) {
        tg_cli_print_error(&err);
        return tg_api_status(code, /* nothing_touched= */ true);
    }
    return TG_STATUS_OK;
}

int tg_cmd_history(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_api_history_options options = {0};
    if (tg_cli_number(cli, DEFAULT_COUNT, &options.limit, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_api *api;
    int status = tg_cli_open(cli, /* need_spec= */ true, &api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    status = history(cli, api, &options);
    tg_cli_close(api);
    return status;
}
