/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate restore: a table goes back to an earlier version. */
#include "cli/cli.h"

static tg_code read_request(const tg_cli *cli, tg_api_restore_request *out, tg_error *err)
{
    int given =
        cli->given[TG_OPT_VERSION] + cli->given[TG_OPT_TIMESTAMP] + cli->given[TG_OPT_UPDATE];
    if (given != 1) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION,
                "%s of --version, --timestamp and --update tells where to go back to",
                given ? "only one" : "one");
    }
    out->by_version = cli->given[TG_OPT_VERSION];
    out->by_timestamp = cli->given[TG_OPT_TIMESTAMP];
    out->timestamp_text = cli->value[TG_OPT_TIMESTAMP];
    out->update_id = tg_str_trim(cli->value[TG_OPT_UPDATE]);
    if (out->by_version &&
        (!tg_str_to_i64(cli->value[TG_OPT_VERSION], &out->version) || out->version < 0)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "--version takes the number of a version, not '%.*s'",
                TG_SARG(cli->value[TG_OPT_VERSION]));
    }
    if (cli->given[TG_OPT_UPDATE] && out->update_id.len == 0) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "--update takes the id of an update");
    }
    return TG_OK;
}

static void print_json(const tg_api_restored *restored)
{
    tg_auto_buf tg_buf line = TG_BUF_INIT;
    tg_json_out out;
    const tg_restore_result *done = &restored->done;
    tg_json_begin(&out, &line);
    tg_json_object(&out);
    tg_json_kstr(&out, "table", restored->table);
    tg_json_ki64(&out, "version", restored->version);
    if (done->committed_version < 0) {
        tg_json_knull(&out, "committed_version");
    } else {
        tg_json_ki64(&out, "committed_version", done->committed_version);
    }
    tg_json_ki64(&out, "num_files_removed", done->removed_files);
    tg_json_ki64(&out, "num_files_restored", done->restored_files);
    tg_json_ki64(&out, "num_files", done->files_after);
    tg_json_ki64(&out, "num_bytes", done->bytes_after);
    tg_json_end_object(&out);
    printf("%s\n", tg_buf_cstr(&line));
}

static void print_text(const tg_api_restored *restored)
{
    const tg_restore_result *done = &restored->done;
    if (done->committed_version < 0) {
        printf("%.*s is as it was at version %lld; nothing was written\n", TG_SARG(restored->table),
               (long long)restored->version);
        return;
    }
    printf("restored %.*s to version %lld, as version %lld (%lld file%s removed, %lld added "
           "again)\n",
           TG_SARG(restored->table), (long long)restored->version,
           (long long)done->committed_version, (long long)done->removed_files,
           done->removed_files == 1 ? "" : "s", (long long)done->restored_files);
}

/* What was asked for does not exist or is not to be had, else it went wrong. */
static int status_of(tg_code code)
{
    return tg_api_status(code, code == TG_NOT_FOUND || code == TG_INVALID_ARGUMENT ||
                                   code == TG_UNSUPPORTED);
}

static int restore(tg_cli *cli, tg_api *api, tg_api_restore_request *request)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (request->by_timestamp &&
        tg_api_instant(api, request->timestamp_text, &request->timestamp_us, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_api_restored restored;
    tg_code code = tg_api_restore(api, request, cli->arena, &restored, &err);
    if (code != TG_OK) {
        tg_error_locate(&err, "TABLE", cli->arguments.items[0]);
        tg_cli_print_error(&err);
        return status_of(code);
    }
    if (cli->given[TG_OPT_JSON_OBJECT]) {
        print_json(&restored);
    } else {
        print_text(&restored);
    }
    return TG_STATUS_OK;
}

int tg_cmd_restore(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_api_restore_request request = {0};
    tg_name name;
    if (read_request(cli, &request, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    if (tg_sql_parse_name(cli->arguments.items[0], cli->arena, &name, &err) != TG_OK) {
        tg_error_locate(&err, "TABLE", cli->arguments.items[0]);
        tg_cli_print_error(&err);
        return TG_STATUS_USAGE;
    }
    request.name = &name;
    tg_api *api;
    int status = tg_cli_open(cli, /* need_spec= */ false, &api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    status = restore(cli, api, &request);
    tg_cli_close(api);
    return status;
}
