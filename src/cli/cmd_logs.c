/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate logs: the events of one update, as `databricks pipelines logs` has them. */
#include <time.h>
#include <yyjson.h>

#include "cli/cli.h"

typedef struct log_filter {
    const tg_str *levels, *types;
    size_t level_count, type_count;
    int64_t start_us, end_us;
} log_filter;

typedef struct log_print {
    tg_arena *arena;
    log_filter filter;
    bool as_json;
    size_t limit;         /* SIZE_MAX: all */
    TG_VEC(tg_str) texts; /* kept until the end when only the last ones are wanted */
    size_t seen;          /* events of the update, printed or not */
    tg_str state;         /* of the update */
    int64_t last_us;
} log_print;

/* ---- choosing -------------------------------------------------------------------------------- */

static tg_code read_levels(tg_cli *cli, log_filter *filter, tg_error *err)
{
    tg_str *items;
    TG_TRY(tg_cli_list(cli, TG_OPT_LEVEL, &items, &filter->level_count, err));
    tg_str names[TG_LEVEL_COUNT_];
    for (size_t i = 0; i < TG_LEVEL_COUNT_; i++) {
        names[i] = tg_str_from(tg_event_level_name((tg_event_level)i));
    }
    for (size_t i = 0; i < filter->level_count; i++) {
        items[i] = tg_str_upper(cli->arena, items[i]);
        if (!tg_str_is_in(items[i], names, TG_LEVEL_COUNT_)) {
            TG_ERR(err, TIDEGATE_INVALID_OPTION,
                   "unknown level '%.*s': INFO, WARN, ERROR or METRICS", TG_SARG(items[i]));
            tg_str near = tg_str_nearest(items[i], names, TG_LEVEL_COUNT_);
            return near.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near))
                            : TG_INVALID_ARGUMENT;
        }
    }
    filter->levels = items;
    return TG_OK;
}

static tg_code read_types(tg_cli *cli, log_filter *filter, tg_error *err)
{
    tg_str *items;
    TG_TRY(tg_cli_list(cli, TG_OPT_EVENT_TYPE, &items, &filter->type_count, err));
    for (size_t i = 0; i < filter->type_count; i++) {
        const char *why;
        if (!tg_event_type_find(items[i], &why)) {
            TG_ERR(err, TIDEGATE_INVALID_OPTION, "unknown event type '%.*s'", TG_SARG(items[i]));
            tg_str near = tg_event_type_nearest(items[i]);
            return near.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near))
                            : tg_error_hint(err, "docs/event-log.md lists the event types.");
        }
        if (why) { /* scripts for Databricks may ask for it */
            fprintf(stderr, "note: tidegate writes no %.*s events: %s\n", TG_SARG(items[i]), why);
        }
    }
    filter->types = items;
    return TG_OK;
}

static bool is_wanted(const log_filter *filter, const tg_event_record *event)
{
    return (filter->level_count == 0 ||
            tg_str_is_in(event->level, filter->levels, filter->level_count)) &&
           (filter->type_count == 0 ||
            tg_str_is_in(event->event_type, filter->types, filter->type_count)) &&
           event->timestamp_us >= filter->start_us && event->timestamp_us <= filter->end_us;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void add_exceptions(struct yyjson_val *error, tg_str message, tg_buf *out)
{
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(tg_json_get(error, "exceptions"), i, count, item)
    {
        tg_str cls = tg_json_get_str(item, "class_name", TG_S(""));
        tg_str text = tg_json_get_str(item, "message", TG_S(""));
        tg_str hint = tg_json_get_str(item, "hint", TG_S(""));
        struct yyjson_val *place = tg_json_get(item, "place");
        bool is_told = text.len > 0 && tg_str_find(message, text, 0) != SIZE_MAX;
        tg_buf_addf(out, "    [%.*s]%s%.*s\n", TG_SARG(cls), is_told ? "" : " ",
                    is_told ? 0 : (int)text.len, text.ptr);
        if (place) {
            tg_str file = tg_json_get_str(place, "file", TG_S(""));
            tg_buf_addf(out, "    at %.*s:%lld:%lld\n", TG_SARG(file),
                        (long long)tg_json_get_i64(place, "line", 0),
                        (long long)tg_json_get_i64(place, "column", 0));
        }
        if (hint.len > 0) {
            tg_buf_addf(out, "    hint: %.*s\n", TG_SARG(hint));
        }
    }
}

static tg_str text_of(const log_print *print, const tg_event_record *event)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    if (print->as_json) {
        tg_buf_addf(&out, "%.*s\n", TG_SARG(event->line));
        return tg_buf_take(&out, print->arena);
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_addf(&out, "%.*s  %-7.*s  %-20.*s  %.*s\n",
                TG_SARG(tg_instant_text(scratch, event->timestamp_us)), TG_SARG(event->level),
                TG_SARG(event->event_type), TG_SARG(event->message));
    if (event->error) {
        add_exceptions(event->error, event->message, &out);
    }
    return tg_buf_take(&out, print->arena);
}

static void take(log_print *print, const tg_event_record *event)
{
    print->seen++;
    print->last_us = event->timestamp_us;
    if (tg_str_eq(event->event_type, tg_str_from(tg_event_type_name(TG_EVENT_UPDATE_PROGRESS)))) {
        print->state =
            tg_str_copy(print->arena, tg_json_get_str(event->details, "state", TG_S("")));
    }
    if (!is_wanted(&print->filter, event)) {
        return;
    }
    tg_str text = text_of(print, event);
    if (print->limit == SIZE_MAX) {
        printf("%.*s", TG_SARG(text));
    } else {
        TG_VEC_PUSH(print->arena, &print->texts, text);
    }
}

static void print_last(const log_print *print)
{
    size_t count = print->texts.count;
    for (size_t i = count > print->limit ? count - print->limit : 0; i < count; i++) {
        printf("%.*s", TG_SARG(print->texts.items[i]));
    }
}

static bool is_ended(const log_print *print)
{
    return tg_str_eq(print->state, TG_S("COMPLETED")) || tg_str_eq(print->state, TG_S("FAILED")) ||
           tg_str_eq(print->state, TG_S("CANCELED"));
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct log_run {
    tg_api *api;
    tg_arena *arena;
    tg_str update_id;
    tg_api_events *events;
    tg_diags warnings;
    log_print print;
} log_run;

static tg_code open_events(log_run *run, tg_error *err)
{
    return tg_api_events_open(run->api, run->update_id, run->arena, &run->events, &run->warnings,
                              err);
}

/* All events that are there. */
static tg_code drain_file(log_run *run, tg_error *err)
{
    for (;;) {
        tg_event_record event;
        bool has_event;
        TG_TRY(tg_api_events_next(run->events, &event, &has_event, err));
        if (!has_event) {
            return TG_OK;
        }
        take(&run->print, &event);
    }
}

/* A file that was folded while it was read goes on in the table, behind what was seen. */
static tg_code drain(log_run *run, tg_error *err)
{
    tg_auto_error tg_error problem = TG_ERROR_INIT;
    tg_code code = drain_file(run, &problem);
    if (code != TG_NOT_FOUND) {
        return code == TG_OK ? TG_OK : tg_error_pass(&problem, err);
    }
    run->update_id = tg_str_copy(run->arena, tg_api_events_update_id(run->events));
    TG_TRY(open_events(run, err));
    for (size_t i = 0; i < run->print.seen; i++) {
        tg_event_record event;
        bool has_event;
        TG_TRY(tg_api_events_next(run->events, &event, &has_event, err));
    }
    return drain_file(run, err);
}

static void say_how_it_stands(const log_run *run, bool has_writer)
{
    if (is_ended(&run->print)) {
        return;
    }
    tg_str id = tg_api_events_update_id(run->events);
    tg_str time = tg_instant_text(run->arena, run->print.last_us);
    fflush(stdout);
    if (has_writer) {
        fprintf(stderr, "update %.*s goes on; --follow prints what comes\n", TG_SARG(id));
        return;
    }
    fprintf(
        stderr,
        "the writer of update %.*s died after %.*s (killed, or the machine stopped); each table "
        "is as it was or as its flow committed it. Go on with: tidegate run\n",
        TG_SARG(id), TG_SARG(time));
}

static void wait_a_little(void)
{
    struct timespec pause = {.tv_nsec = 200000000};
    (void)nanosleep(&pause, NULL);
}

/* Until the update has ended, or nobody is there to end it, or Ctrl-C. */
static tg_code follow(log_run *run, bool *has_writer, tg_error *err)
{
    while (!is_ended(&run->print) && !tg_api_is_cancelled(run->api)) {
        /* first the lock, then what was written before it went */
        TG_TRY(tg_api_events_has_writer(run->events, has_writer, err));
        TG_TRY(drain(run, err));
        if (!*has_writer) {
            return TG_OK;
        }
        fflush(stdout);
        if (!is_ended(&run->print)) {
            wait_a_little();
        }
    }
    return TG_OK;
}

static tg_code print_events(tg_cli *cli, log_run *run, tg_error *err)
{
    TG_TRY(open_events(run, err));
    if (!run->events) {
        fprintf(stderr, "pipeline %.*s has no updates yet\n", TG_SARG(tg_api_spec(run->api)->name));
        return TG_OK;
    }
    bool has_writer;
    TG_TRY(tg_api_events_has_writer(run->events, &has_writer, err));
    TG_TRY(drain(run, err));
    print_last(&run->print);
    run->print.limit = SIZE_MAX;
    if (cli->given[TG_OPT_FOLLOW]) {
        TG_TRY(follow(run, &has_writer, err));
    }
    tg_error warning = TG_ERROR_INIT;
    if (tg_api_events_warning(run->events, &warning)) {
        tg_diags_add_warning(&run->warnings, &warning);
    }
    if (!tg_api_is_cancelled(run->api)) {
        say_how_it_stands(run, has_writer);
    }
    return TG_OK;
}

static int logs(tg_cli *cli, tg_api *api, log_run *run)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_cli_time_range(cli, api, &run->print.filter.start_us, &run->print.filter.end_us, &err) !=
        TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_code code = print_events(cli, run, &err);
    fflush(stdout);
    tg_cli_print_diags(&run->warnings);
    tg_diags_dispose(&run->warnings);
    if (code != TG_OK) {
        tg_cli_print_error(&err);
        return tg_api_status(code, /* nothing_touched= */ true);
    }
    return tg_api_is_cancelled(api) ? TG_STATUS_CANCELLED : TG_STATUS_OK;
}

int tg_cmd_logs(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    log_run run = {.arena = cli->arena, .update_id = cli->value[TG_OPT_UPDATE_ID]};
    run.print = (log_print){
        .arena = cli->arena, .as_json = cli->given[TG_OPT_JSON_LINES], .limit = SIZE_MAX};
    if (read_levels(cli, &run.print.filter, &err) != TG_OK ||
        read_types(cli, &run.print.filter, &err) != TG_OK ||
        tg_cli_number(cli, SIZE_MAX, &run.print.limit, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    int status = tg_cli_open(cli, /* need_spec= */ true, &run.api);
    if (status != TG_STATUS_OK) {
        return status;
    }
    status = logs(cli, run.api, &run);
    tg_cli_close(run.api);
    return status;
}
