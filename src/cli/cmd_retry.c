/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate retry: what an update left unfinished, as it was asked for then. */
#include "cli/cli.h"

static void tell_nothing(const tg_retry *retry, bool as_json)
{
    FILE *to = as_json ? stderr : stdout;
    if (retry->update) {
        fprintf(to, "nothing failed in update %.*s (it is %.*s)\n",
                TG_SARG(retry->update->update_id), TG_SARG(retry->update->state));
    } else {
        fprintf(to, "nothing to retry: no update left a flow that was not refreshed since\n");
    }
}

/* Told in any case: who meant such an update looks for it in vain otherwise. */
static void tell_refused(const tg_retry *retry)
{
    for (size_t i = 0; i < retry->refused_count; i++) {
        const tg_logged_update *update = retry->refused[i];
        fprintf(stderr,
                "note: update %.*s is passed over: it was refused for what was asked of it\n"
                "      [%.*s] %.*s\n",
                TG_SARG(update->update_id), TG_SARG(update->error_class),
                TG_SARG(update->error_message));
    }
}

/* One environment's failure does not hide another's. */
static void tell_others(const tg_retry *retry)
{
    for (size_t i = 0; i < retry->other_count; i++) {
        const tg_logged_update *update = retry->others[i];
        fprintf(stderr,
                "note: update %.*s of environment %.*s.%.*s is left unfinished too\n"
                "      retry it by: tidegate retry %.*s\n",
                TG_SARG(update->update_id), TG_SARG(update->catalog), TG_SARG(update->schema),
                TG_SARG(update->update_id));
    }
}

static void tell_begin(const tg_retry *retry)
{
    const tg_logged_update *update = retry->update;
    tg_cli_say("Retrying update %.*s with its clock %.*s and zone %.*s in environment %.*s.%.*s",
               TG_SARG(update->update_id), TG_SARG(update->now), TG_SARG(update->timezone),
               TG_SARG(update->catalog), TG_SARG(update->schema));
    for (size_t i = 0; i < retry->table_count; i++) {
        tg_cli_say("Selected %.*s", TG_SARG(retry->tables[i]));
    }
    for (size_t i = 0; i < retry->done_count; i++) {
        tg_cli_say("Flow %.*s was refreshed by a later update: it is left alone",
                   TG_SARG(retry->done[i]));
    }
}

static int retry_update(tg_cli *cli, tg_api *api)
{
    bool as_json = cli->given[TG_OPT_JSON];
    const tg_event_sink sink = {.event = tg_cli_on_event, .self = &as_json};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_diags warnings = TG_DIAGS_INIT;
    tg_retry retry;
    tg_update_options options = {.explain = cli->given[TG_OPT_EXPLAIN], .sink = &sink};
    const tg_retry_request request = {
        .id = cli->arguments.count ? tg_str_trim(cli->arguments.items[0]) : (tg_str){0},
        .catalog = cli->value[TG_OPT_CATALOG],
        .schema = cli->value[TG_OPT_SCHEMA],
        .allow_clock_back = cli->given[TG_OPT_ALLOW_CLOCK_BACK]};
    tg_code code = tg_api_retry_options(api, &request, &retry, &options, &warnings, &err);
    tg_cli_print_diags(&warnings);
    tg_diags_dispose(&warnings);
    if (code != TG_OK) {
        tg_cli_print_error(&err);
        return tg_api_status(code, /* nothing_touched= */ true);
    }
    tell_refused(&retry);
    tell_others(&retry);
    if (!retry.table_count) {
        tell_nothing(&retry, as_json);
        return TG_STATUS_OK;
    }
    if (!as_json) {
        tell_begin(&retry);
    }
    return tg_cli_update(api, &options, as_json);
}

int tg_cmd_retry(tg_cli *cli)
{
    if (cli->arguments.count && tg_str_trim(cli->arguments.items[0]).len == 0) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION, "UPDATE_ID is empty");
        return tg_cli_usage(&err, cli->command);
    }
    tg_api *api;
    int status = tg_cli_open(cli, /* need_spec= */ true, &api);
    if (status == TG_STATUS_OK) {
        status = retry_update(cli, api);
        tg_cli_close(api);
    }
    return status;
}
