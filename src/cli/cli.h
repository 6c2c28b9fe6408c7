/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: options, commands, terminal output. Owns no rules: those are behind api.
 *
 * Exit statuses: 0 success, 1 failed or partly failed, 2 usage, 3 validation (no table was touched),
 * 4 refused by a guard, 130 interrupted. Results and events go to standard output, messages for
 * people to standard error.
 */
#ifndef TG_CLI_CLI_H
#define TG_CLI_CLI_H

#include <stdio.h>

#include "api/api.h"
#include "tidegate/tidegate.h"

typedef enum tg_command_id {
#define TG_COMMAND(id, name, arguments, summary, description) TG_COMMAND_##id,
#include "cli/options.def"
#undef TG_COMMAND
    TG_COMMAND_COUNT_,
    TG_COMMAND_NONE = TG_COMMAND_COUNT_
} tg_command_id;

typedef enum tg_option_id {
#define TG_OPTION(id, name, letter, value, commands, doc) TG_OPT_##id,
#include "cli/options.def"
#undef TG_OPTION
    TG_OPT_COUNT_
} tg_option_id;

/* What was given on the command line. Texts are the process's own. */
typedef struct tg_cli {
    tg_arena *arena;
    tg_command_id command;
    bool given[TG_OPT_COUNT_];
    tg_str value[TG_OPT_COUNT_];          /* the last one given */
    TG_VEC(tg_str) values[TG_OPT_COUNT_]; /* all of them, in order */
    TG_VEC(tg_str) arguments;             /* what is no option */
} tg_cli;

/* Fills cli from argv behind the program's name. Errors: TIDEGATE_INVALID_OPTION with the nearest
 * name. */
TG_CHECKED tg_code tg_cli_parse(tg_cli *cli, int argc, char **argv, tg_error *err);
/* Splits "A,B" of repeatable lists into names; TIDEGATE_INVALID_OPTION for an empty one. */
TG_CHECKED tg_code tg_cli_list(tg_cli *cli, tg_option_id option, tg_str **out_items,
                               size_t *out_count, tg_error *err);

/* --start-time and --end-time, both included; all times where they are not given. */
TG_CHECKED tg_code tg_cli_time_range(tg_cli *cli, tg_api *api, int64_t *out_start_us,
                                     int64_t *out_end_us, tg_error *err);
/* --number: a whole number from 1 on; fallback where it is not given. */
TG_CHECKED tg_code tg_cli_number(const tg_cli *cli, size_t fallback, size_t *out_number,
                                 tg_error *err);
/* --param; TIDEGATE_INVALID_OPTION for one that is not NAME=VALUE. */
TG_CHECKED tg_code tg_cli_params(tg_cli *cli, tg_param **out_params, size_t *out_count,
                                 tg_error *err);

/* Prints a usage error and returns the exit status 2. */
int tg_cli_usage(const tg_error *err, tg_command_id command);
void tg_cli_help(tg_command_id command, FILE *to);
/* The man page, in mdoc's plain man macros. */
void tg_cli_man(FILE *to);

/* Opens the session of a command; prints what went wrong. Status 0 and *out_api, or the exit
 * status. */
int tg_cli_open(tg_cli *cli, bool need_spec, tg_api **out_api);
/* Ctrl-C stops nothing from here on, as all is done; asked twice, it ends output that nobody reads. */
void tg_cli_close(tg_api *api);
/* A console line on standard error: "<time>: <message>". */
void tg_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One error, or all of a list, on standard error. */
void tg_cli_print_error(const tg_error *err);
void tg_cli_print_diags(const tg_diags *diags);
typedef enum tg_format {
    TG_FORMAT_OUT_TABLE,
    TG_FORMAT_OUT_CSV,
    TG_FORMAT_OUT_JSON,
    TG_FORMAT_OUT_ROWS
} tg_format;
TG_CHECKED tg_code tg_cli_format(const tg_cli *cli, tg_format *out_format, tg_error *err);
/* Prints all rows of a result; statement counts from 1 (rows format). An error while reading ends
 * it. */
TG_CHECKED tg_code tg_cli_print_result(tg_result *result, tg_format format, size_t statement,
                                       FILE *to, tg_error *err);
/* The line of --format rows for a statement that failed. */
void tg_cli_print_failed_rows(const tg_error *err, size_t statement, FILE *to);

/* Runs an update and tells what came of it, as tidegate run does; the exit status. */
int tg_cli_update(tg_api *api, const tg_update_options *options, bool as_json);
/* A sink: events as JSON lines, or for people. self: a bool, whether as JSON. */
void tg_cli_on_event(void *self, const tg_event *event, tg_str json_line);
/* What a plan found out, for people. */
void tg_cli_print_plan(const tg_update_result *result);

int tg_cmd_init(tg_cli *cli);
int tg_cmd_run(tg_cli *cli);
int tg_cmd_dry_run(tg_cli *cli);
int tg_cmd_plan(tg_cli *cli);
int tg_cmd_intervals(tg_cli *cli);
int tg_cmd_backfill(tg_cli *cli);
int tg_cmd_retry(tg_cli *cli);
int tg_cmd_restore(tg_cli *cli);
int tg_cmd_logs(tg_cli *cli);
int tg_cmd_history(tg_cli *cli);
int tg_cmd_sql(tg_cli *cli);
int tg_cmd_show(tg_cli *cli);

#endif
