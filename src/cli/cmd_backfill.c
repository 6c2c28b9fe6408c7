/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate backfill: chunks of a range, told as they end; without FLOW: what is not finished. */
#include "cli/cli.h"

#include "api/backfill.h"

typedef struct teller {
    const tg_cli *cli;
    bool as_json;
} teller;

/* What names the work again; parameters stand in the journal. */
static const char *command_line(const tg_cli *cli, tg_str flow)
{
    static const struct {
        tg_option_id option;
        const char *name;
    } KEPT[] = {{TG_OPT_SPEC, "spec"}, {TG_OPT_CATALOG, "catalog"}, {TG_OPT_SCHEMA, "schema"}};
    const char *line = tg_arena_printf(cli->arena, "tidegate backfill %.*s", TG_SARG(flow));
    for (size_t i = 0; i < sizeof(KEPT) / sizeof(*KEPT); i++) {
        if (cli->given[KEPT[i].option]) {
            line = tg_arena_printf(cli->arena, "%s --%s %.*s", line, KEPT[i].name,
                                   TG_SARG(cli->value[KEPT[i].option]));
        }
    }
    return line;
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void on_event(void *self, const tg_event *event, tg_str json_line)
{
    const teller *t = self;
    if (t->as_json) {
        printf("%.*s\n", TG_SARG(json_line));
        fflush(stdout); /* who reads it through a pipe follows the update */
    } else if (event->level == TG_LEVEL_WARN) {
        tg_cli_say("WARN: %.*s", TG_SARG(event->message));
    }
}

static void tell_begin(const tg_backfill_result *result)
{
    tg_auto_buf tg_buf sources = TG_BUF_INIT;
    const tg_backfill_head *head = &result->head;
    for (size_t i = 0; i < head->pin_count; i++) {
        tg_buf_addz(&sources, i ? ", " : "");
        tg_buf_adds(&sources, head->pins[i].name);
        if (head->pins[i].version >= 0) {
            tg_buf_addf(&sources, " version %lld", (long long)head->pins[i].version);
        }
    }
    tg_cli_say("%s %.*s by `%.*s`, [%.*s, %.*s) every %.*s in zone %.*s, from %s",
               result->is_resumed ? "Going on with the backfill of" : "Backfilling",
               TG_SARG(head->flow), TG_SARG(head->column), TG_SARG(result->chunks[0].from),
               TG_SARG(result->chunks[result->chunk_count - 1].to), TG_SARG(head->every),
               TG_SARG(head->timezone), sources.len ? tg_buf_cstr(&sources) : "no table");
    size_t done = result->completed_count + result->covered_count;
    if (done) {
        tg_cli_say("%zu of %zu chunks are done already (%zu of them up to date)", done,
                   result->chunk_count, result->covered_count);
    }
}

static void on_progress(void *self, const tg_backfill_result *result, size_t index,
                        const tg_error *error)
{
    const teller *t = self;
    if (t->as_json) {
        if (error) {
            tg_cli_print_error(error);
        }
        return;
    }
    if (index == SIZE_MAX) {
        tell_begin(result);
        return;
    }
    const tg_backfill_chunk_result *chunk = &result->chunks[index];
    const tg_chunk_record *record = &chunk->record;
    size_t left = result->pending_count;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    if (error) {
        tg_cli_say("chunk %zu of %zu [%.*s, %.*s) failed (%zu left)", index + 1,
                   result->chunk_count, TG_SARG(chunk->from), TG_SARG(chunk->to), left);
        tg_cli_print_error(error);
        return;
    }
    const char *what = record->committed_version < 0
                           ? "has nothing to change"
                           : tg_arena_printf(scratch, "is version %lld, %lld rows written",
                                             (long long)record->committed_version,
                                             (long long)record->rows_written);
    tg_cli_say("chunk %zu of %zu [%.*s, %.*s) %s, %lld ms (%zu left)", index + 1,
               result->chunk_count, TG_SARG(chunk->from), TG_SARG(chunk->to), what,
               (long long)chunk->duration_ms, left);
}

/* ---- at the end ------------------------------------------------------------------------------ */

static void print_end(const tg_cli *cli, const tg_backfill_result *result)
{
    const char *again = command_line(cli, cli->arguments.items[0]);
    printf("backfill of %.*s is %s: %zu of %zu chunks computed, %zu up to date, %zu failed, %zu "
           "left\n",
           TG_SARG(result->head.flow), result->state, result->completed_count, result->chunk_count,
           result->covered_count, result->failed_count, result->pending_count);
    if (strcmp(result->state, "CANCELED") == 0) {
        fprintf(stderr, "interrupted; finished chunks are committed. Go on with: %s\n", again);
    } else if (result->failed_count > 0 || result->pending_count > 0) {
        fprintf(stderr, "run again what is not done, over the same sources: %s\n", again);
    }
}

static void print_result(const tg_cli *cli, const tg_backfill_result *result, bool as_json)
{
    if (!result->state) {
        return;
    }
    if (!as_json) {
        print_end(cli, result);
        return;
    }
    tg_auto_buf tg_buf line = TG_BUF_INIT;
    tg_backfill_result_json(result, &line);
    printf("%s\n", tg_buf_cstr(&line));
    if (strcmp(result->state, "CANCELED") == 0) {
        fprintf(stderr, "interrupted; finished chunks are committed. Go on with: %s\n",
                command_line(cli, cli->arguments.items[0]));
    }
}

/* ---- what is open ---------------------------------------------------------------------------- */

static void print_open(const tg_cli *cli, const tg_open_backfill *open)
{
    const tg_backfill_head *head = &open->head;
    printf("%.*s by `%.*s` from %.*s to %.*s every %.*s: %lld of %lld chunks done, %lld failed. Go "
           "on with: %s\n",
           TG_SARG(head->flow), TG_SARG(head->column), TG_SARG(head->from), TG_SARG(head->to),
           TG_SARG(head->every), (long long)open->done_count, (long long)head->chunk_count,
           (long long)open->failed_count, command_line(cli, head->flow));
}

static void print_open_json(const tg_open_backfill *open)
{
    tg_auto_buf tg_buf line = TG_BUF_INIT;
    const tg_backfill_head *head = &open->head;
    tg_json_out out;
    tg_json_begin(&out, &line);
    tg_json_object(&out);
    tg_json_kstr(&out, "backfill_id", head->id);
    tg_json_kstr(&out, "flow_name", head->flow);
    tg_json_kstr(&out, "column", head->column);
    tg_json_kstr(&out, "from", head->from);
    tg_json_kstr(&out, "to", head->to);
    tg_json_kstr(&out, "every", head->every);
    tg_json_ki64(&out, "num_chunks", head->chunk_count);
    tg_json_ki64(&out, "num_done", open->done_count);
    tg_json_ki64(&out, "num_failed", open->failed_count);
    tg_json_end_object(&out);
    printf("%s\n", tg_buf_cstr(&line));
}

static int list_open(tg_cli *cli, tg_api *api)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_open_backfill *items;
    size_t count;
    tg_code code = tg_api_open_backfills(api, cli->arena, &items, &count, &err);
    if (code != TG_OK) {
        tg_cli_print_error(&err);
        return tg_api_status(code, /* nothing_touched= */ true);
    }
    for (size_t i = 0; i < count; i++) {
        if (cli->given[TG_OPT_JSON_BACKFILL]) {
            print_open_json(&items[i]);
        } else {
            print_open(cli, &items[i]);
        }
    }
    if (!count && !cli->given[TG_OPT_JSON_BACKFILL]) {
        printf("no backfill is open\n");
    }
    return TG_STATUS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static tg_code read_request(const tg_cli *cli, tg_backfill_request *out, tg_error *err)
{
    static const tg_option_id OF_FLOW[] = {TG_OPT_FROM,    TG_OPT_TO,      TG_OPT_EVERY,
                                           TG_OPT_COLUMN,  TG_OPT_MISSING, TG_OPT_JOBS,
                                           TG_OPT_RESTART, TG_OPT_PARAM};
    out->from = cli->value[TG_OPT_FROM];
    out->to = cli->value[TG_OPT_TO];
    out->every = cli->value[TG_OPT_EVERY];
    out->column = cli->value[TG_OPT_COLUMN];
    out->only_missing = cli->given[TG_OPT_MISSING];
    out->restart = cli->given[TG_OPT_RESTART];
    if (cli->given[TG_OPT_JOBS] && (!tg_str_to_i64(cli->value[TG_OPT_JOBS], &out->jobs) ||
                                    out->jobs < 1 || out->jobs > TG_LIMIT_BACKFILL_JOBS)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "--jobs takes a number from 1 to %d, not '%.*s'",
                TG_LIMIT_BACKFILL_JOBS, TG_SARG(cli->value[TG_OPT_JOBS]));
    }
    if (cli->given[TG_OPT_EVERY]) {
        tg_backfill_step step;
        TG_TRY(tg_backfill_step_parse(out->every, &step, err));
    }
    for (size_t i = 0; cli->arguments.count == 0 && i < sizeof(OF_FLOW) / sizeof(*OF_FLOW); i++) {
        if (cli->given[OF_FLOW[i]]) {
            TG_FAIL(err, TIDEGATE_INVALID_OPTION, "FLOW is missing");
        }
    }
    return TG_OK;
}

int tg_cmd_backfill(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    teller t = {.cli = cli, .as_json = cli->given[TG_OPT_JSON_BACKFILL]};
    const tg_event_sink sink = {.event = on_event, .self = &t};
    tg_backfill_request request = {.sink = &sink, .progress = on_progress, .self = &t};
    tg_param *params;
    if (read_request(cli, &request, &err) != TG_OK ||
        tg_cli_params(cli, &params, &request.param_count, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_api *api;
    int status = tg_cli_open(cli, /* need_spec= */ true, &api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    if (cli->arguments.count == 0) {
        status = list_open(cli, api);
        tg_cli_close(api);
        return status;
    }
    request.flow = cli->arguments.items[0];
    request.params = params;
    tg_diags diags = TG_DIAGS_INIT;
    tg_backfill_result result;
    status = tg_api_backfill(api, &request, &result, &diags);
    tg_cli_print_diags(&diags);
    print_result(cli, &result, t.as_json);
    tg_diags_dispose(&diags);
    tg_cli_close(api);
    return status;
}
