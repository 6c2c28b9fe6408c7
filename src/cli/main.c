/* SPDX-License-Identifier: Apache-2.0 */
/* The program: dispatches to commands, turns Ctrl-C into a cancelled session. */
#include "cli/cli.h"

#include <signal.h>
#include <unistd.h>

static tg_api *volatile running; /* for the signal handler only */

static void on_interrupt(int number)
{
    (void)number;
    tg_api *api = running;
    if (api) {
        tg_api_cancel(api);
    } else {
        _exit(TG_STATUS_CANCELLED);
    }
}

void tg_cli_print_error(const tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_error_print(err, &text);
    fprintf(stderr, "%s", tg_buf_cstr(&text));
}

void tg_cli_print_diags(const tg_diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        fprintf(stderr, "%s", diags->is_warning[i] ? "warning: " : "");
        tg_cli_print_error(&diags->items[i]);
    }
    if (diags->error_count > TG_LIMIT_DIAGNOSTICS) {
        fprintf(stderr, "... and %zu more errors\n", diags->error_count - TG_LIMIT_DIAGNOSTICS);
    }
}

int tg_cli_open(tg_cli *cli, bool need_spec, tg_api **out_api)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (cli->given[TG_OPT_SPEC] && cli->given[TG_OPT_WAREHOUSE]) {
        (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION, "--spec and --warehouse exclude each other");
        return tg_cli_usage(&err, cli->command);
    }
    tg_api_options options = {
        .spec = cli->value[TG_OPT_SPEC],
        .find_spec = !cli->given[TG_OPT_WAREHOUSE],
        .need_spec = need_spec,
        .warehouse = cli->value[TG_OPT_WAREHOUSE],
        .now = cli->value[TG_OPT_NOW],
        .timezone = cli->value[TG_OPT_TIMEZONE],
        .catalog = cli->value[TG_OPT_CATALOG],
        .schema = cli->value[TG_OPT_SCHEMA],
        .strict_spec = cli->given[TG_OPT_STRICT_SPEC],
    };
    tg_update_options *permissions = TG_NEW(cli->arena, tg_update_options);
    tg_str *adopt, *allow_reset;
    if (tg_cli_list(cli, TG_OPT_ADOPT, &adopt, &permissions->adopt_count, &err) != TG_OK ||
        tg_cli_list(cli, TG_OPT_ALLOW_RESET, &allow_reset, &permissions->allow_reset_count, &err) !=
            TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    permissions->adopt = adopt;
    permissions->allow_reset = allow_reset;
    permissions->allow_shrink = cli->given[TG_OPT_ALLOW_SHRINK];
    permissions->allow_clock_back = cli->given[TG_OPT_ALLOW_CLOCK_BACK];
    options.permissions = permissions;
    if (tg_fs_real_path(tg_fs_local(), TG_S("/proc/self/exe"), cli->arena, &options.program,
                        NULL) != TG_OK) {
        options.program = (tg_str){0}; /* REFRESH ... ASYNC tells that it is missing */
    }
    if (tg_fs_real_path(tg_fs_local(), TG_S("."), cli->arena, &options.folder, &err) != TG_OK) {
        tg_cli_print_error(&err);
        return TG_STATUS_FAILED;
    }
    tg_diags diags = TG_DIAGS_INIT;
    tg_code code = tg_api_open(&options, out_api, &diags);
    tg_cli_print_diags(&diags);
    bool is_usage = diags.error_count > 0 &&
                    (diags.items[0].cls == TG_E_TIDEGATE_INVALID_OPTION ||
                     diags.items[0].cls == TG_E_INVALID_TIMEZONE) &&
                    !diags.items[0].place.file;
    tg_diags_dispose(&diags);
    if (code != TG_OK) {
        return is_usage ? TG_STATUS_USAGE : tg_api_status(code, /* nothing_touched= */ true);
    }
    running = *out_api;
    /* Output that waits for its reader is not cut by an interrupt; a prompt that waits is. */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = cli->command == TG_COMMAND_SQL ? 0 : SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return TG_STATUS_OK;
}

static void on_late_interrupt(int number)
{
    (void)number;
}

void tg_cli_close(tg_api *api)
{
    /* Nothing is left to be stopped: what was done is told whole, with its own exit status. Whoever
     * asks twice ends a reader that does not read on. */
    struct sigaction action = {.sa_handler = on_late_interrupt,
                               .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    running = NULL; /* before: the handler must not meet a session that goes away */
    tg_api_close(api);
}

static int dispatch(tg_cli *cli)
{
    switch (cli->command) {
    case TG_COMMAND_INIT:
        return tg_cmd_init(cli);
    case TG_COMMAND_RUN:
        return tg_cmd_run(cli);
    case TG_COMMAND_DRY_RUN:
        return tg_cmd_dry_run(cli);
    case TG_COMMAND_PLAN:
        return tg_cmd_plan(cli);
    case TG_COMMAND_INTERVALS:
        return tg_cmd_intervals(cli);
    case TG_COMMAND_BACKFILL:
        return tg_cmd_backfill(cli);
    case TG_COMMAND_RETRY:
        return tg_cmd_retry(cli);
    case TG_COMMAND_RESTORE:
        return tg_cmd_restore(cli);
    case TG_COMMAND_LOGS:
        return tg_cmd_logs(cli);
    case TG_COMMAND_HISTORY:
        return tg_cmd_history(cli);
    case TG_COMMAND_SQL:
        return tg_cmd_sql(cli);
    case TG_COMMAND_SHOW:
        return tg_cmd_show(cli);
    case TG_COMMAND_COUNT_:
        break;
    }
    tg_cli_help(TG_COMMAND_NONE, stderr);
    return TG_STATUS_USAGE;
}

/* An answer that did not arrive is a failure; what was lost in an earlier flush counts too. */
static int check_output(int status)
{
    bool is_lost = fflush(stdout) != 0;
    if ((is_lost || ferror(stdout)) && status == TG_STATUS_OK) {
        fprintf(stderr, "tidegate: could not write to standard output\n");
        return TG_STATUS_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("tidegate " TG_VERSION_STRING "\n");
        return check_output(TG_STATUS_OK);
    }
    if (argc == 2 && strcmp(argv[1], "--man") == 0) {
        tg_cli_man(stdout);
        return check_output(TG_STATUS_OK);
    }
    signal(SIGPIPE, SIG_DFL); /* a closed pipe ends us quietly, as other tools */
    tg_cli cli = {.arena = tg_arena_new()};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int status;
    if (tg_cli_parse(&cli, argc, argv, &err) != TG_OK) {
        status = tg_cli_usage(&err, cli.command);
    } else if (cli.given[TG_OPT_HELP]) {
        tg_cli_help(cli.command, stdout);
        status = TG_STATUS_OK;
    } else {
        status = dispatch(&cli);
    }
    status = check_output(status);
    tg_arena_free(cli.arena);
    return status;
}
