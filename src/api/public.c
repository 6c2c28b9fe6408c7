/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of include/tidegate: arguments checked, internal errors turned into tg_failure. */
#include "api/api.h"
#include "tidegate/tidegate.h"

struct tg_failure {
    tg_arena *arena;
    const char *cls, *sqlstate, *message, *text;
};

struct tg_session {
    tg_api *api;
    tg_arena *arena;
};

struct tg_rows {
    tg_result *result;
    tg_arena *arena;
    tg_buf row;
};

/* ---- errors ---------------------------------------------------------------------------------- */

static tg_status fail(tg_failure **out, tg_status status, const tg_error *first, tg_str text)
{
    if (out) {
        tg_arena *arena = tg_arena_new();
        tg_failure *failure = TG_NEW(arena, tg_failure);
        failure->arena = arena;
        failure->cls = tg_arena_strdup(arena, tg_error_name(first));
        failure->sqlstate = tg_arena_strdup(arena, first->sqlstate);
        failure->message = tg_arena_strdup(arena, first->message ? first->message : "");
        failure->text = tg_str_cstr(arena, text);
        *out = failure;
    }
    return status;
}

static tg_status fail_error(tg_failure **out, tg_status status, const tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_error_print(err, &text);
    return fail(out, status, err, tg_buf_str(&text));
}

static tg_status fail_diags(tg_failure **out, tg_status status, const tg_diags *diags)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    const tg_error *first = NULL;
    for (size_t i = 0; i < diags->count; i++) {
        if (!diags->is_warning[i]) {
            first = first ? first : &diags->items[i];
            tg_error_print(&diags->items[i], &text);
        }
    }
    tg_auto_error tg_error unknown = TG_ERROR_INIT;
    if (!first) {
        (void)TG_ERR(&unknown, INTERNAL_ERROR, "the call failed without a message");
        first = &unknown;
    }
    return fail(out, status, first, tg_buf_str(&text));
}

static tg_status usage(tg_failure **out, const char *message)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION, "%s", message);
    return fail_error(out, TG_STATUS_USAGE, &err);
}

const char *tg_failure_class(const tg_failure *failure)
{
    return failure->cls;
}

const char *tg_failure_sqlstate(const tg_failure *failure)
{
    return failure->sqlstate;
}

const char *tg_failure_message(const tg_failure *failure)
{
    return failure->message;
}

const char *tg_failure_text(const tg_failure *failure)
{
    return failure->text;
}

void tg_failure_free(tg_failure *failure)
{
    if (failure) {
        tg_arena_free(failure->arena);
    }
}

const char *tg_version(void)
{
    return TG_VERSION_STRING;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* As take_request: older headers lack the fields at the end. */
static bool take_options(const tg_session_options *options, tg_session_options *out)
{
    memset(out, 0, sizeof(*out));
    if (!options) {
        return true;
    }
    if (options->struct_size < offsetof(tg_session_options, catalog)) {
        return false;
    }
    memcpy(out, options, options->struct_size < sizeof(*out) ? options->struct_size : sizeof(*out));
    return true;
}

tg_status tg_session_open(const tg_session_options *options, tg_session **out_session,
                          tg_failure **err)
{
    tg_session_options taken;
    if (!out_session || !take_options(options, &taken)) {
        return usage(err, "out_session must be given and options.struct_size must be set");
    }
    if (taken.spec && taken.warehouse) {
        return usage(err, "spec and warehouse exclude each other");
    }
    tg_arena *arena = tg_arena_new();
    tg_api_options inner = {
        .spec = tg_str_from(taken.spec),
        .warehouse = tg_str_from(taken.warehouse),
        .now = tg_str_from(taken.now),
        .timezone = tg_str_from(taken.timezone),
        .catalog = tg_str_from(taken.catalog),
        .schema = tg_str_from(taken.schema),
    };
    tg_auto_error tg_error folder_err = TG_ERROR_INIT;
    if (tg_fs_real_path(tg_fs_local(), TG_S("."), arena, &inner.folder, &folder_err) != TG_OK) {
        tg_arena_free(arena);
        return fail_error(err, TG_STATUS_FAILED, &folder_err);
    }
    tg_diags diags = TG_DIAGS_INIT;
    tg_session *session = TG_NEW(arena, tg_session);
    session->arena = arena;
    tg_code code = tg_api_open(&inner, &session->api, &diags);
    tg_status status = TG_STATUS_OK;
    if (code != TG_OK) {
        status =
            fail_diags(err, (tg_status)tg_api_status(code, /* nothing_touched= */ true), &diags);
        tg_arena_free(arena);
    } else {
        *out_session = session;
    }
    tg_diags_dispose(&diags);
    return status;
}

void tg_session_close(tg_session *session)
{
    if (session) {
        tg_api_close(session->api);
        tg_arena_free(session->arena);
    }
}

void tg_session_cancel(tg_session *session)
{
    tg_api_cancel(session->api);
}

/* ---- statements ------------------------------------------------------------------------------ */

tg_status tg_session_execute(tg_session *session, const char *sql, tg_rows **out_rows,
                             tg_failure **err)
{
    if (!session || !sql || !out_rows) {
        return usage(err, "session, sql and out_rows must be given");
    }
    tg_api_begin(session->api);
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    tg_result *result;
    tg_str text = tg_str_from(sql);
    tg_code code = tg_api_execute(session->api, text, /* file= */ NULL, text, 0, &result, &inner);
    if (code != TG_OK) {
        return fail_error(err, (tg_status)tg_api_status(code, /* nothing_touched= */ false),
                          &inner);
    }
    tg_arena *arena = tg_arena_new();
    tg_rows *rows = TG_NEW(arena, tg_rows);
    rows->arena = arena;
    rows->result = result;
    *out_rows = rows;
    return TG_STATUS_OK;
}

size_t tg_rows_column_count(const tg_rows *rows)
{
    return rows->result->schema.count;
}

const char *tg_rows_column_name(const tg_rows *rows, size_t column)
{
    return tg_str_cstr(rows->arena, rows->result->schema.fields[column].name);
}

const char *tg_rows_column_type(const tg_rows *rows, size_t column)
{
    return tg_str_cstr(rows->arena,
                       tg_type_text(rows->arena, rows->result->schema.fields[column].type));
}

const char *tg_rows_next_json(tg_rows *rows, tg_status *out_status, tg_failure **err)
{
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    bool has_row = false;
    tg_code code = tg_result_next(rows->result, &has_row, &inner);
    if (code != TG_OK || !has_row) {
        tg_status status = code == TG_OK
                               ? TG_STATUS_OK
                               : fail_error(err, (tg_status)tg_api_status(code, false), &inner);
        if (out_status) {
            *out_status = status;
        }
        return NULL;
    }
    tg_buf_clear(&rows->row);
    tg_result_row_json(rows->result, &rows->row);
    if (out_status) {
        *out_status = TG_STATUS_OK;
    }
    return tg_buf_cstr(&rows->row);
}

void tg_rows_close(tg_rows *rows)
{
    if (rows) {
        tg_result_close(rows->result);
        tg_buf_dispose(&rows->row);
        tg_arena_free(rows->arena);
    }
}

/* ---- updates --------------------------------------------------------------------------------- */

static void forward_event(void *self, const tg_event *event, tg_str json_line)
{
    (void)event;
    const tg_update_request *request = self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    request->on_event(request->context, tg_str_cstr(scratch, json_line));
}

/* Who was built with an older header gives a shorter request: what it lacks has its default. */
static bool take_request(const tg_update_request *request, tg_update_request *out)
{
    if (!request || request->struct_size < offsetof(tg_update_request, replace_where_overrides)) {
        return false;
    }
    memset(out, 0, sizeof(*out));
    memcpy(out, request, request->struct_size < sizeof(*out) ? request->struct_size : sizeof(*out));
    return true;
}

static const tg_str *take_names(const char *const *names, size_t count, tg_arena *arena)
{
    tg_str *taken = TG_NEW_ARRAY(arena, tg_str, count);
    for (size_t i = 0; i < count; i++) {
        taken[i] = tg_str_from(names[i]);
    }
    return taken;
}

static const tg_override *take_overrides(const tg_update_request *request, tg_arena *arena)
{
    size_t count = request->replace_where_override_count;
    tg_override *overrides = TG_NEW_ARRAY(arena, tg_override, count);
    for (size_t i = 0; i < count; i++) {
        const tg_predicate_override *given = &request->replace_where_overrides[i];
        overrides[i] = (tg_override){
            .flow = tg_str_trim(tg_str_from(given->flow_name)),
            .predicate = tg_str_trim(tg_str_from(given->predicate_override)),
            .origin = tg_arena_printf(arena, "replace_where_overrides[%zu]", i),
        };
    }
    return overrides;
}

/* NULL: no flow failed. */
static const tg_error *first_flow_error(const tg_update_result *result)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        if (result->flows[i].error) {
            return result->flows[i].error;
        }
    }
    return NULL;
}

static const tg_param *take_parameters(const tg_update_request *request, tg_arena *arena)
{
    tg_param *params = TG_NEW_ARRAY(arena, tg_param, request->parameter_count);
    for (size_t i = 0; i < request->parameter_count; i++) {
        params[i] = (tg_param){.name = tg_str_from(request->parameters[i].name),
                               .value = tg_str_from(request->parameters[i].value),
                               .origin = "parameters"};
    }
    return params;
}

tg_status tg_session_update(tg_session *session, const tg_update_request *request,
                            const char **out_summary, tg_failure **err)
{
    tg_update_request taken;
    if (!session || !take_request(request, &taken) || !out_summary) {
        return usage(err, "session, request with struct_size, and out_summary must be given");
    }
    if (!tg_api_spec(session->api)) {
        return usage(err, "the session has no pipeline: open it with a spec");
    }
    *out_summary = NULL;
    tg_api_begin(session->api);
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_event_sink sink = {.event = forward_event, .self = &taken};
    tg_update_options options = {
        .is_dry_run = taken.dry_run != 0,
        .refresh = take_names(taken.refresh, taken.refresh_count, arena),
        .refresh_count = taken.refresh_count,
        .full_refresh = take_names(taken.full_refresh, taken.full_refresh_count, arena),
        .full_refresh_count = taken.full_refresh_count,
        .full_refresh_all = taken.full_refresh_all != 0,
        .allow_reset = take_names(taken.allow_reset, taken.allow_reset_count, arena),
        .allow_reset_count = taken.allow_reset_count,
        .allow_shrink = taken.allow_shrink != 0,
        .allow_clock_back = taken.allow_clock_back != 0,
        .overrides = take_overrides(&taken, arena),
        .override_count = taken.replace_where_override_count,
        .params = take_parameters(&taken, arena),
        .param_count = taken.parameter_count,
        .adopt = take_names(taken.adopt, taken.adopt_count, arena),
        .adopt_count = taken.adopt_count,
        .cause = "API_CALL",
        .sink = taken.on_event ? &sink : NULL};
    tg_update_result result;
    tg_diags diags = TG_DIAGS_INIT;
    tg_status status = (tg_status)tg_api_update(session->api, &options, &result, &diags);
    if (result.update_id.len > 0) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        tg_update_result_json(&result, &text);
        *out_summary = tg_str_cstr(session->arena, tg_buf_str(&text));
    }
    const tg_error *flow_error = diags.error_count ? NULL : first_flow_error(&result);
    if (flow_error) {
        (void)fail_error(err, status, flow_error);
    } else if (status != TG_STATUS_OK) {
        (void)fail_diags(err, status, &diags);
    }
    tg_diags_dispose(&diags);
    return status;
}
