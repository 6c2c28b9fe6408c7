/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tidegate run, dry-run and plan. For people: Spark's console lines ("<timestamp>: <message>") on
 * standard error, a summary table on standard output. With --json: events, then one summary object,
 * on standard output and nothing else there.
 */
#include "cli/cli.h"

void tg_cli_on_event(void *self, const tg_event *event, tg_str json_line)
{
    const bool *as_json = self;
    if (*as_json) {
        printf("%.*s\n", TG_SARG(json_line));
        fflush(stdout); /* who reads it through a pipe follows the update */
    } else {
        tg_cli_say("%s%.*s", event->level == TG_LEVEL_WARN ? "WARN: " : "",
                   TG_SARG(event->message));
    }
}

/* ---- summary for people ---------------------------------------------------------------------- */

static const char *number(tg_arena *arena, int64_t value)
{
    return value < 0 ? "-" : tg_arena_printf(arena, "%lld", (long long)value);
}

static void print_flow(tg_arena *arena, const tg_flow_result *flow, int width)
{
    printf(" %-*.*s  %-10s  %-23s  %10s  %10s  %8s  %7s ms\n", width,
           TG_SARG(flow->flow->full_name), tg_flow_status_name(flow->status),
           flow->technique ? flow->technique : "-", number(arena, flow->rows_written),
           number(arena, flow->rows_deleted), number(arena, flow->committed_version),
           number(arena, flow->duration_ms));
    for (size_t i = 0; i < flow->warning_count; i++) {
        printf(" %-*s    WARN: %.*s\n", width, "", TG_SARG(flow->warnings[i]));
    }
    if (flow->is_full_refresh && flow->committed_version > 0) {
        printf(" %-*s    reset; to undo it: tidegate restore %.*s --version %lld\n", width, "",
               TG_SARG(flow->flow->dataset->full_name), (long long)flow->committed_version - 1);
    }
    for (size_t i = 0; i < flow->piece_count; i++) {
        if (flow->pieces[i].reason) {
            printf(" %-*s    %s because of %s: %.*s\n", width, "", flow->pieces[i].treatment,
                   flow->pieces[i].reason, TG_SARG(flow->pieces[i].where));
        }
    }
}

static void print_summary(const tg_update_result *result)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    size_t width = 4;
    for (size_t i = 0; i < result->flow_count; i++) {
        size_t len = result->flows[i].flow->full_name.len;
        width = len > width ? len : width;
    }
    printf(" %-*s  %-10s  %-23s  %10s  %10s  %8s  %10s\n", (int)width, "flow", "status",
           "technique", "written", "removed", "version", "time");
    for (size_t i = 0; i < result->flow_count; i++) {
        print_flow(arena, &result->flows[i], (int)width);
    }
    printf("update %.*s is %s (clock %.*s, zone %.*s, %lld ms)\n", TG_SARG(result->update_id),
           tg_update_state_name(result->state), TG_SARG(tg_instant_text(arena, result->now_us)),
           TG_SARG(result->zone_name), (long long)result->duration_ms);
}

static void print_programs(const tg_update_result *result, FILE *to)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        const tg_flow_result *flow = &result->flows[i];
        if (flow->program.len > 0) {
            fprintf(to, "-- refresh program of %.*s\n%.*s\n", TG_SARG(flow->flow->full_name),
                    TG_SARG(flow->program));
        }
    }
}

static void print_flow_errors(const tg_update_result *result)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        if (result->flows[i].error) {
            tg_cli_print_error(result->flows[i].error);
        }
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Persisted views: what became of them, or would. */
static void print_views(const tg_update_result *result)
{
    for (size_t i = 0; i < result->view_count && !result->is_validation_failure; i++) {
        printf(" view %.*s: %s\n", TG_SARG(result->views[i].view->full_name),
               result->views[i].status);
    }
}

/* Tables that are there and not in the files any more: none should find out by old rows. */
static void print_inactive(const tg_update_result *result)
{
    for (size_t i = 0; i < result->inactive_count; i++) {
        const tg_inactive_dataset *one = &result->inactive[i];
        printf(" %.*s %s: the pipeline does not define it any more; it is kept, not refreshed\n",
               TG_SARG(one->dataset_name), one->since.len ? "is inactive" : "will be inactive");
    }
}

static void print_result(const tg_update_result *result, bool as_json, bool is_dry_run, int status)
{
    if (as_json) {
        if (result->update_id.len > 0) {
            tg_auto_buf tg_buf line = TG_BUF_INIT;
            tg_update_result_json(result, &line);
            printf("%s\n", tg_buf_cstr(&line));
        }
        print_programs(result, stderr);
        return;
    }
    print_programs(result, stdout);
    print_views(result);
    if (result->is_plan) {
        print_inactive(result);
        if (result->flow_count > 0 && !result->is_validation_failure) {
            tg_cli_print_plan(result);
        }
        return;
    }
    print_inactive(result);
    if (is_dry_run) {
        if (status == TG_STATUS_OK) {
            printf("%zu flow%s resolved and validated; nothing was written\n", result->flow_count,
                   result->flow_count == 1 ? "" : "s");
        }
        return;
    }
    if (result->flow_count > 0 && !result->is_validation_failure) {
        print_summary(result);
    }
    if (status == TG_STATUS_CANCELLED) {
        fprintf(stderr,
                "interrupted; finished flows are committed. Go on with: tidegate retry %.*s\n",
                TG_SARG(result->update_id));
    }
}

static tg_code read_override_file(tg_cli *cli, tg_str path, tg_override **out_overrides,
                                  size_t *out_count, tg_error *err)
{
    tg_str text;
    TG_TRY(tg_fs_read(tg_fs_local(), path, TG_LIMIT_OVERRIDE_FILE_BYTES, cli->arena, &text, err));
    return tg_overrides_from_json(text, tg_str_cstr(cli->arena, path), cli->arena, out_overrides,
                                  out_count, err);
}

/* Prints what is wrong; the exit status. */
static int read_overrides(tg_cli *cli, tg_update_options *options)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    TG_VEC(tg_override) all = {0};
    for (size_t i = 0; i < cli->values[TG_OPT_REPLACE_WHERE].count; i++) {
        tg_override override;
        if (tg_override_parse(cli->values[TG_OPT_REPLACE_WHERE].items[i], "--replace-where",
                              &override, &err) != TG_OK) {
            return tg_cli_usage(&err, cli->command);
        }
        TG_VEC_PUSH(cli->arena, &all, override);
    }
    for (size_t i = 0; i < cli->values[TG_OPT_REPLACE_WHERE_OVERRIDES].count; i++) {
        tg_override *overrides;
        size_t count;
        tg_str path = cli->values[TG_OPT_REPLACE_WHERE_OVERRIDES].items[i];
        tg_code code = read_override_file(cli, path, &overrides, &count, &err);
        if (code != TG_OK) {
            (void)tg_error_context(&err, "in --replace-where-overrides");
            tg_cli_print_error(&err);
            return tg_api_status(code, /* nothing_touched= */ true);
        }
        for (size_t j = 0; j < count; j++) {
            TG_VEC_PUSH(cli->arena, &all, overrides[j]);
        }
    }
    options->overrides = all.items;
    options->override_count = all.count;
    return TG_STATUS_OK;
}

static tg_code read_selection(tg_cli *cli, tg_update_options *options, tg_error *err)
{
    tg_str *names;
    TG_TRY(tg_cli_list(cli, TG_OPT_REFRESH, &names, &options->refresh_count, err));
    options->refresh = names;
    TG_TRY(tg_cli_list(cli, TG_OPT_FULL_REFRESH, &names, &options->full_refresh_count, err));
    options->full_refresh = names;
    TG_TRY(tg_cli_list(cli, TG_OPT_ALLOW_RESET, &names, &options->allow_reset_count, err));
    options->allow_reset = names;
    options->allow_shrink = cli->given[TG_OPT_ALLOW_SHRINK];
    options->allow_clock_back = cli->given[TG_OPT_ALLOW_CLOCK_BACK];
    options->full_refresh_all = cli->given[TG_OPT_FULL_REFRESH_ALL];
    return tg_update_check_options(options, err);
}

int tg_cli_update(tg_api *api, const tg_update_options *options, bool as_json)
{
    tg_diags diags = TG_DIAGS_INIT;
    tg_update_result result;
    int status = tg_api_update(api, options, &result, &diags);
    tg_cli_print_diags(&diags);
    if (diags.error_count == 0) {
        print_flow_errors(&result);
    }
    print_result(&result, as_json, options->is_dry_run, status);
    tg_diags_dispose(&diags);
    return status;
}

static int update(tg_cli *cli, bool is_dry_run)
{
    bool as_json = cli->given[TG_OPT_JSON];
    tg_event_sink sink = {.event = tg_cli_on_event, .self = &as_json};
    bool is_plan = cli->command == TG_COMMAND_PLAN;
    tg_update_options options = {.is_dry_run = is_dry_run,
                                 .is_plan = is_plan,
                                 .counts_rows = is_plan,
                                 .explain = cli->given[TG_OPT_EXPLAIN],
                                 .sink = &sink};
    tg_param *params;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (read_selection(cli, &options, &err) != TG_OK ||
        tg_cli_params(cli, &params, &options.param_count, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    options.params = params;
    tg_str *adopt;
    if (tg_cli_list(cli, TG_OPT_ADOPT, &adopt, &options.adopt_count, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    options.adopt = adopt;
    int status = read_overrides(cli, &options);
    if (status != TG_STATUS_OK) {
        return status;
    }
    tg_api *api;
    if (!as_json) {
        tg_cli_say("Loading pipeline spec%s%.*s", cli->given[TG_OPT_SPEC] ? " from " : "",
                   TG_SARG(cli->value[TG_OPT_SPEC]));
    }
    status = tg_cli_open(cli, /* need_spec= */ true, &api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    const tg_spec *spec = tg_api_spec(api);
    if (!as_json) {
        tg_cli_say("Creating dataflow graph of %.*s", TG_SARG(spec->name));
        tg_cli_say("Registering graph elements from %.*s", TG_SARG(spec->folder));
        for (size_t i = 0; i < spec->library_count; i++) {
            tg_cli_say("Found %zu files matching %.*s", spec->libraries[i].file_count,
                       TG_SARG(spec->libraries[i].include));
        }
        tg_cli_say("Starting %s", is_plan ? "plan" : is_dry_run ? "dry run" : "run");
    }
    status = tg_cli_update(api, &options, as_json);
    tg_cli_close(api);
    return status;
}

int tg_cmd_run(tg_cli *cli)
{
    return update(cli, /* is_dry_run= */ false);
}

int tg_cmd_dry_run(tg_cli *cli)
{
    return update(cli, /* is_dry_run= */ true);
}

int tg_cmd_plan(tg_cli *cli)
{
    return update(cli, /* is_dry_run= */ true);
}
