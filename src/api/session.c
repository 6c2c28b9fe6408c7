/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: where names point, which clock and zone hold, which engine runs. Opening one loads no engine library.
 */
#include "api/eventlog_int.h"
#include "tidegate/tidegate.h"

/* Names of two parts would become one folder with a dot in its name: nobody means that. */
static tg_code check_default(tg_str name, const char *what, tg_error *err)
{
    if (tg_utf8_valid_len(name) != name.len || tg_str_find(name, TG_S("."), 0) != SIZE_MAX ||
        tg_str_find(name, TG_S("`"), 0) != SIZE_MAX) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "`%.*s` is not the name of a %s", TG_SARG(name),
                     what);
        return tg_error_hint(err, "Give each part by itself: --catalog NAME --schema NAME.");
    }
    return TG_OK;
}

static tg_code check_defaults(const tg_api_options *options, tg_error *err)
{
    TG_TRY(check_default(options->catalog, "catalog", err));
    return check_default(options->schema, "schema", err);
}

static tg_code load_spec(const tg_api_options *options, tg_api *api, tg_diags *diags)
{
    const tg_spec_options as = {
        .catalog = options->catalog, .schema = options->schema, .is_strict = options->strict_spec};
    if (options->warehouse.len > 0) {
        return TG_OK;
    }
    if (options->spec.len == 0 && !options->find_spec) {
        return TG_OK;
    }
    if (options->spec.len > 0 || options->need_spec) {
        return tg_spec_load_as(api->fs, options->spec, options->folder, &as, api->arena, &api->spec,
                               diags);
    }
    tg_diags quiet = TG_DIAGS_INIT;
    tg_code code =
        tg_spec_load_as(api->fs, TG_S(""), options->folder, &as, api->arena, &api->spec, &quiet);
    bool is_missing =
        code != TG_OK && quiet.count > 0 && quiet.items[0].cls == TG_E_PIPELINE_SPEC_FILE_NOT_FOUND;
    if (!is_missing) {
        for (size_t i = 0; i < quiet.count; i++) {
            (quiet.is_warning[i] ? tg_diags_add_warning : tg_diags_add)(diags, &quiet.items[i]);
        }
    }
    tg_diags_dispose(&quiet);
    return is_missing ? TG_OK : code;
}

static tg_code set_up_catalog(const tg_api_options *options, tg_api *api, tg_error *err)
{
    if (api->spec) {
        api->catalog = tg_spec_catalog(api->spec, api->fs);
    } else {
        tg_str warehouse = options->warehouse.len ? options->warehouse : TG_S("warehouse");
        api->catalog = (tg_catalog){.fs = api->fs,
                                    .base_folder = tg_str_copy(api->arena, options->folder),
                                    .current_catalog = TG_S("main"),
                                    .current_schema = TG_S("default")};
        TG_TRY(
            tg_path_resolve(warehouse, options->folder, api->arena, &api->catalog.warehouse, err));
    }
    if (options->catalog.len) {
        api->catalog.current_catalog = tg_str_copy(api->arena, options->catalog);
    }
    if (options->schema.len) {
        api->catalog.current_schema = tg_str_copy(api->arena, options->schema);
    }
    return TG_OK;
}

static tg_code set_up_time(const tg_api_options *options, tg_api *api, tg_error *err)
{
    tg_str zone = options->timezone;
    if (zone.len == 0) {
        zone = api->spec ? api->spec->timezone : TG_S("UTC");
    }
    TG_TRY(tg_zone_load(zone, api->arena, &api->zone, err));
    api->zone_text = tg_str_copy(api->arena, options->timezone);
    api->now_text = tg_str_copy(api->arena, options->now);
    if (options->now.len > 0) {
        TG_TRY(tg_clock_parse(options->now, api->zone, api->arena, &api->now_us, err));
        api->has_now = true;
    }
    return TG_OK;
}

/* share: of how many sessions of this process that work at the same time it is one. */
static void set_up_engine(tg_api *api, int share)
{
    tg_engine_duckdb_options options = {.env = &api->own_env, .fs = api->fs, .share = share};
    if (api->spec) {
        options.threads = (int)api->spec->threads;
        options.memory_limit = api->spec->memory_limit;
    }
    api->engine = tg_engine_duckdb_new(&options);
}

tg_code tg_api_open(const tg_api_options *options, tg_api **out_api, tg_diags *diags)
{
    tg_arena *arena = tg_arena_new();
    tg_api *api = TG_NEW(arena, tg_api);
    api->arena = arena;
    api->fs = options->fs ? options->fs : tg_fs_local();
    api->env = options->env ? options->env : tg_env_system();
    api->own_env = *api->env;
    api->own_env.cancelled = &api->cancelled;
    api->permissions = options->permissions;
    api->program = tg_str_copy(arena, options->program);
    const char *update_id = api->env->getenv(api->env->self, TG_UPDATE_ID_VARIABLE);
    if (update_id && strlen(update_id) == 36 && !strpbrk(update_id, "/.")) {
        api->update_id = tg_str_copy(arena, tg_str_from(update_id));
    }
    tg_map_init_ignore_case(&api->views, arena);
    tg_error err = TG_ERROR_INIT;
    tg_code code = check_defaults(options, &err);
    if (code == TG_OK) {
        code = load_spec(options, api, diags);
    }
    if (code == TG_OK) {
        code = set_up_catalog(options, api, &err);
    }
    if (code == TG_OK) {
        code = set_up_time(options, api, &err);
    }
    if (code != TG_OK) {
        if (tg_error_is_set(&err)) {
            tg_diags_add(diags, &err);
        }
        tg_error_dispose(&err);
        tg_arena_free(arena);
        return code;
    }
    set_up_engine(api, 1);
    *out_api = api;
    return TG_OK;
}

tg_api *tg_api_fork(const tg_api *api, int share)
{
    tg_arena *arena = tg_arena_new();
    tg_api *twin = TG_NEW(arena, tg_api);
    *twin = *api;
    twin->arena = arena;
    twin->cancelled = 0;
    twin->own_env.cancelled = &twin->cancelled;
    tg_map_init_ignore_case(&twin->views, arena);
    set_up_engine(twin, share);
    return twin;
}

void tg_api_close(tg_api *api)
{
    if (!api) {
        return;
    }
    api->engine->close(api->engine->self);
    tg_arena_free(api->arena);
}

/* The engine looks at the flag too. Its own would outlive the call where that needs no engine. */
void tg_api_cancel(tg_api *api)
{
    __atomic_store_n(&api->cancelled, 1, __ATOMIC_RELAXED);
}

bool tg_api_is_cancelled(const tg_api *api)
{
    return api->cancelled != 0;
}

void tg_api_begin(tg_api *api)
{
    __atomic_store_n(&api->cancelled, 0, __ATOMIC_RELAXED);
}

const tg_spec *tg_api_spec(const tg_api *api)
{
    return api->spec;
}

int tg_api_status(tg_code code, bool nothing_touched)
{
    switch (code) {
    case TG_OK:
        return TG_STATUS_OK;
    case TG_GUARD:
        return TG_STATUS_GUARD;
    case TG_CANCELLED:
        return TG_STATUS_CANCELLED;
    default:
        return nothing_touched ? TG_STATUS_VALIDATION : TG_STATUS_FAILED;
    }
}

/* What is wrong with the flows that do not depend on the errors found so far. */
static void check_rest(tg_api *api, const tg_update_context *context, const tg_graph *graph,
                       const tg_update_options *options, tg_diags *diags)
{
    tg_update_options analysis = {
        .is_dry_run = true, .now = options->now, .timezone = options->timezone};
    tg_update_result result = {0};
    (void)!tg_update_run(context, graph, &analysis, api->arena, &result, diags);
}

/* Did nothing go wrong but what a guard refused? */
static bool is_only_guarded(const tg_update_result *result)
{
    bool is_only = result->failed_count > 0;
    for (size_t i = 0; i < result->flow_count; i++) {
        const tg_flow_result *flow = &result->flows[i];
        is_only = is_only && (flow->status != TG_FLOW_FAILED ||
                              (flow->error && flow->error->code == TG_GUARD));
    }
    return is_only;
}

enum { RETRY_UPDATES = 1000 }; /* older ones are not asked what is left of them */

tg_code tg_api_retry_options(tg_api *api, const tg_retry_request *request, tg_retry *out_retry,
                             tg_update_options *out_options, tg_diags *warnings, tg_error *err)
{
    const tg_api_history_options all = {
        .limit = RETRY_UPDATES, .start_us = 0, .end_us = api->own_env.now_us(api->own_env.self)};
    tg_past_update *past;
    size_t count;
    TG_TRY(tg_api_history(api, &all, api->arena, &past, &count, warnings, err));
    TG_TRY(tg_retry_plan(past, count, request, api->arena, out_retry, err));
    if (!out_retry->update) {
        return TG_OK;
    }
    out_options->selection_name = "the update that is retried";
    out_options->refresh = out_retry->tables;
    out_options->refresh_count = out_retry->table_count;
    out_options->overrides = out_retry->overrides;
    out_options->override_count = out_retry->override_count;
    out_options->params = out_retry->params;
    out_options->param_count = out_retry->param_count;
    out_options->now = out_retry->update->now;
    out_options->timezone = out_retry->update->timezone;
    out_options->catalog = out_retry->update->catalog;
    out_options->schema = out_retry->update->schema;
    out_options->cause = "RETRY_ON_FAILURE";
    out_options->retry_of = out_retry->update->update_id;
    out_options->allow_clock_back = request->allow_clock_back;
    return TG_OK;
}

int tg_api_update(tg_api *api, const tg_update_options *options, tg_update_result *out_result,
                  tg_diags *diags)
{
    const tg_graph *graph;
    memset(out_result, 0, sizeof(*out_result));
    tg_update_options with_time = *options;
    with_time.now = options->now.len ? options->now : api->now_text;
    with_time.timezone = options->timezone.len ? options->timezone : api->zone_text;
    const tg_spec *spec;
    tg_code code =
        tg_spec_with_params(tg_spec_in(api->spec, options->catalog, options->schema, api->arena),
                            options->params, options->param_count, api->arena, &spec, diags);
    if (code != TG_OK) {
        return diags->items[0].cls == TG_E_TIDEGATE_INVALID_OPTION
                   ? TG_STATUS_USAGE
                   : tg_api_status(code, /* nothing_touched= */ true);
    }
    code = tg_graph_build(spec, api->fs, api->arena, &graph, diags);
    tg_update_context context = {.fs = api->fs, .env = &api->own_env, .engine = api->engine};
    if (code != TG_OK) {
        int status = tg_api_status(code, /* nothing_touched= */ true);
        if (graph) {
            check_rest(api, &context, graph, &with_time, diags);
        }
        tg_diags_sort(diags);
        return status;
    }
    code = tg_update_run(&context, graph, &with_time, api->arena, out_result, diags);
    /* An update with nothing to do has not loaded the library, and does not for this. */
    if (!options->is_dry_run && tg_engine_duckdb_is_loaded()) {
        tg_event_files_fold(api, out_result->update_id, diags);
    }
    if (code != TG_OK) {
        return tg_api_status(code, out_result->is_validation_failure);
    }
    switch (out_result->state) {
    case TG_UPDATE_COMPLETED:
        return TG_STATUS_OK;
    case TG_UPDATE_CANCELED:
        return TG_STATUS_CANCELLED;
    default:
        return is_only_guarded(out_result) ? TG_STATUS_GUARD : TG_STATUS_FAILED;
    }
}
