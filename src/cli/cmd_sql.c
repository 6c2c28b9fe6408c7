/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate sql and tidegate show. */
#include "cli/cli.h"

typedef struct sql_run {
    tg_api *api;
    tg_format format;
    bool keep_going;
    size_t statement, failed_count;
    int status;
} sql_run;

static tg_code run_statement(sql_run *run, tg_str source, const char *file, tg_span span,
                             tg_error *err)
{
    tg_result *result;
    TG_TRY(tg_api_execute(run->api, tg_str_sub(source, span.offset, span.offset + span.len), file,
                          source, span.offset, &result, err));
    tg_code code = tg_cli_print_result(result, run->format, run->statement, stdout, err);
    if (code == TG_OK && result->note) {
        fflush(stdout);
        fprintf(stderr, "note: %s\n", result->note);
    }
    tg_result_close(result);
    return code;
}

/* False: stop. */
static bool report(sql_run *run, tg_code code, const tg_error *err)
{
    run->failed_count++;
    if (run->format == TG_FORMAT_OUT_ROWS) {
        tg_cli_print_failed_rows(err, run->statement, stdout);
    }
    fflush(stdout);
    if (run->format != TG_FORMAT_OUT_ROWS || !run->keep_going) {
        tg_cli_print_error(err);
    }
    run->status = tg_api_status(code, /* nothing_touched= */ false);
    return run->keep_going && code != TG_CANCELLED;
}

static bool run_text(sql_run *run, tg_arena *arena, tg_str source, const char *file)
{
    tg_span *spans;
    size_t count;
    tg_sql_split(source, arena, &spans, &count);
    for (size_t i = 0; i < count; i++) {
        run->statement++;
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_code code = run_statement(run, source, file, spans[i], &err);
        if (code != TG_OK && !report(run, code, &err)) {
            return false;
        }
        fflush(stdout);
    }
    return true;
}

static tg_code read_stdin(tg_arena *arena, tg_str *out_text, tg_error *err)
{
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    char chunk[1 << 16];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), stdin)) > 0) {
        tg_buf_add(&buf, chunk, got);
        if (buf.len > TG_LIMIT_STATEMENT_BYTES) {
            TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "standard input is larger than %d bytes",
                    TG_LIMIT_STATEMENT_BYTES);
        }
    }
    *out_text = tg_buf_take(&buf, arena);
    return TG_OK;
}

static tg_code read_source(tg_cli *cli, tg_str *out_text, const char **out_file, tg_error *err)
{
    tg_str path = cli->value[TG_OPT_FILE];
    if (!cli->given[TG_OPT_FILE] || tg_str_eq(path, TG_S("-"))) {
        *out_file = "<stdin>";
        return read_stdin(cli->arena, out_text, err);
    }
    *out_file = tg_str_cstr(cli->arena, path);
    return tg_fs_read(tg_fs_local(), path, TG_LIMIT_STATEMENT_BYTES, cli->arena, out_text, err);
}

int tg_cmd_sql(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    sql_run run = {.keep_going = cli->given[TG_OPT_KEEP_GOING]};
    if (cli->given[TG_OPT_EXECUTE] && cli->given[TG_OPT_FILE]) {
        (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION, "-e and -f exclude each other");
        return tg_cli_usage(&err, cli->command);
    }
    if (tg_cli_format(cli, &run.format, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_str text = {0};
    const char *file = NULL;
    if (!cli->given[TG_OPT_EXECUTE]) {
        tg_code code = read_source(cli, &text, &file, &err);
        if (code != TG_OK) {
            tg_cli_print_error(&err);
            return tg_api_status(code, /* nothing_touched= */ true);
        }
    }
    int status = tg_cli_open(cli, /* need_spec= */ false, &run.api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    if (cli->given[TG_OPT_EXECUTE]) {
        for (size_t i = 0; i < cli->values[TG_OPT_EXECUTE].count; i++) {
            if (!run_text(&run, cli->arena, cli->values[TG_OPT_EXECUTE].items[i], "-e")) {
                break;
            }
        }
    } else {
        (void)run_text(&run, cli->arena, text, file);
    }
    if (run.failed_count > 0 && run.keep_going && run.format != TG_FORMAT_OUT_ROWS) {
        fprintf(stderr, "%zu of %zu statements failed\n", run.failed_count, run.statement);
    }
    tg_cli_close(run.api);
    return run.status;
}

int tg_cmd_show(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    sql_run run = {.statement = 1};
    int64_t limit = 10;
    if (tg_cli_format(cli, &run.format, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    if (cli->given[TG_OPT_LIMIT] &&
        (!tg_str_to_i64(cli->value[TG_OPT_LIMIT], &limit) || limit < 0 || limit > INT32_MAX)) {
        (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION, "--limit takes a number of rows, not '%.*s'",
                     TG_SARG(cli->value[TG_OPT_LIMIT]));
        return tg_cli_usage(&err, cli->command);
    }
    tg_name name;
    if (tg_sql_parse_name(cli->arguments.items[0], cli->arena, &name, &err) != TG_OK) {
        tg_error_locate(&err, "TABLE", cli->arguments.items[0]);
        tg_cli_print_error(&err);
        return TG_STATUS_USAGE;
    }
    int status = tg_cli_open(cli, /* need_spec= */ false, &run.api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    tg_str sql = tg_str_printf(cli->arena, "SELECT * FROM %.*s LIMIT %lld",
                               TG_SARG(cli->arguments.items[0]), (long long)limit);
    if (run_text(&run, cli->arena, sql, "TABLE")) {
        tg_str since = tg_api_inactive_since(run.api, cli->arguments.items[0], cli->arena);
        if (since.len > 0) {
            fprintf(stderr,
                    "note: %.*s is inactive since %.*s: its pipeline does not define it any more\n",
                    TG_SARG(cli->arguments.items[0]), TG_SARG(since));
        }
    }
    tg_cli_close(run.api);
    return run.status;
}
