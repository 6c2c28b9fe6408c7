/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate intervals: what is recorded of one flow's table, as ranges. */
#include "cli/cli.h"

static void print_interval(tg_arena *arena, const tg_plan_interval *interval)
{
    static const char *const PLACES[] = {[TG_PLACE_OUTSIDE] = "outside the window",
                                         [TG_PLACE_WINDOW] = "in the window",
                                         [TG_PLACE_PARTLY] = "partly in the window"};
    printf(" %-7s  [%.*s] %s", interval->status, TG_SARG(interval->where), PLACES[interval->place]);
    if (interval->reason) {
        printf(", because of %s", interval->reason);
    }
    printf("\n");
    if (!interval->piece) {
        return;
    }
    printf("          computed at clock %.*s",
           TG_SARG(tg_instant_text(arena, interval->piece->clock_us)));
    for (size_t i = 0; i < interval->piece->source_count; i++) {
        const tg_source_identity *source = &interval->piece->sources[i];
        printf("%s %.*s", i == 0 ? " from" : ",", TG_SARG(source->name));
        if (source->version >= 0) {
            printf(" version %lld", (long long)source->version);
        }
    }
    printf("\n");
}

static void print_flow(const tg_update_result *result, const tg_flow_result *flow)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    if (flow->target_version >= 0) {
        printf("%.*s at version %lld", TG_SARG(flow->flow->full_name),
               (long long)flow->target_version);
    } else {
        printf("%.*s, whose table does not exist yet", TG_SARG(flow->flow->full_name));
    }
    printf(", window [%.*s] (clock %.*s, zone %.*s)\n",
           TG_SARG(flow->window.len ? flow->window : TG_S("true")),
           TG_SARG(tg_instant_text(arena, result->now_us)), TG_SARG(result->zone_name));
    for (size_t i = 0; i < flow->interval_count; i++) {
        print_interval(arena, &flow->intervals[i]);
    }
}

static void print_result(const tg_update_result *result, bool as_json)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        const tg_flow_result *flow = &result->flows[i];
        if (!flow->technique) {
            continue; /* another flow */
        }
        if (as_json) {
            tg_auto_buf tg_buf line = TG_BUF_INIT;
            tg_flow_intervals_json(result, flow, &line);
            printf("%s\n", tg_buf_cstr(&line));
        } else {
            print_flow(result, flow);
        }
    }
}

int tg_cmd_intervals(tg_cli *cli)
{
    tg_update_options options = {.is_dry_run = true,
                                 .is_plan = true,
                                 .tells_intervals = true,
                                 .refresh = cli->arguments.items,
                                 .refresh_count = 1,
                                 .selection_name = "FLOW"};
    tg_param *params;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_cli_params(cli, &params, &options.param_count, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    options.params = params;
    tg_api *api;
    int status = tg_cli_open(cli, /* need_spec= */ true, &api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    tg_diags diags = TG_DIAGS_INIT;
    tg_update_result result;
    status = tg_api_update(api, &options, &result, &diags);
    tg_cli_print_diags(&diags);
    if (status == TG_STATUS_OK) {
        print_result(&result, cli->given[TG_OPT_JSON_OBJECT]);
    }
    tg_diags_dispose(&diags);
    tg_cli_close(api);
    return status;
}
