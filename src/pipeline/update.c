/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One update: clock and zone, selection, pins, analysis of all selected flows, then the flows in
 * the graph's order (workers.c). Nothing is written before the analysis of everything has
 * succeeded, but for the storage folder and the event log.
 */
#include "pipeline/update_int.h"

void tg_update_fail(tg_update *u, const tg_source_file *file, tg_error *err)
{
    tg_error_locate(err, file->shown_name, file->text);
    tg_diags_add(u->diags, err);
}

int64_t tg_update_elapsed_ms(const tg_update *u, int64_t since_ns)
{
    return (u->context->env->monotonic_ns(u->context->env->self) - since_ns) / 1000000;
}

/* ---- setting up ------------------------------------------------------------------------------ */

static tg_code set_clock(tg_update *u, tg_error *err)
{
    bool is_option = u->options->timezone.len > 0;
    tg_str zone = is_option ? u->options->timezone : u->graph->spec->timezone;
    const char *place = is_option ? "in --timezone" : "in `timezone` of the pipeline spec";
    const tg_engine *engine = u->context->engine;
    TG_TRY_CTX(tg_zone_load(zone, u->arena, &u->zone, err), err, "%s", place);
    TG_TRY_CTX(engine->check_zone(engine->self, u->zone, err), err, "%s", place);
    u->now_us = u->context->env->now_us(u->context->env->self);
    if (u->options->now.len) {
        TG_TRY_CTX(tg_clock_parse(u->options->now, u->zone, u->arena, &u->now_us, err), err,
                   "in --now");
    }
    u->result->now_us = u->now_us;
    u->result->zone_name = tg_zone_name(u->zone);
    return TG_OK;
}

static tg_code open_log(tg_update *u, tg_error *err)
{
    const tg_spec *spec = u->graph->spec;
    const tg_update_context *context = u->context;
    bool writes = !u->options->is_dry_run;
    char update_id[37];
    context->env->uuid(context->env->self, update_id);
    u->result->update_id = u->options->update_id.len
                               ? u->options->update_id
                               : tg_str_copy(u->arena, tg_str_from(update_id));
    TG_TRY(tg_spec_pipeline_id(spec, context->fs, context->env, writes, u->arena,
                               &u->result->pipeline_id, err));
    const tg_event_origin origin = {.pipeline_id = u->result->pipeline_id,
                                    .pipeline_name = spec->name,
                                    .update_id = u->result->update_id,
                                    .catalog_name = spec->catalog,
                                    .schema_name = spec->schema};
    TG_TRY(tg_eventlog_open(context->fs, context->env, writes ? spec->storage : (tg_str){0},
                            &origin, u->options->sink, u->arena, &u->log, err));
    u->result->event_path = tg_eventlog_path(u->log);
    return TG_OK;
}

static void free_arena(void *arena)
{
    tg_arena_free(arena);
}

/* Its memory goes with the update's. */
static tg_arena *arena_of_its_own(tg_update *u)
{
    tg_arena *arena = tg_arena_new();
    tg_arena_defer(u->arena, free_arena, arena);
    return arena;
}

static void set_up_runs(tg_update *u)
{
    const tg_graph *graph = u->graph;
    (void)pthread_mutex_init(&u->source_lock, NULL);
    u->source_arena = arena_of_its_own(u);
    u->externals = TG_NEW_ARRAY(u->arena, tg_source, graph->external_count);
    u->targets = TG_NEW_ARRAY(u->arena, tg_target, graph->dataset_count);
    u->runs = TG_NEW_ARRAY(u->arena, tg_flow_run, graph->flow_count);
    u->flow_results = TG_NEW_ARRAY(u->arena, tg_flow_result, graph->flow_count);
    for (size_t i = 0; i < graph->flow_count; i++) {
        u->flow_results[i] = (tg_flow_result){.flow = graph->flows[i],
                                              .status = TG_FLOW_QUEUED,
                                              .committed_version = -1,
                                              .output_rows = -1,
                                              .deleted_rows = -1,
                                              .rows_to_delete = -1,
                                              .rows_to_insert = -1,
                                              .source_rows_read = -1};
        u->runs[i] = (tg_flow_run){.update = u,
                                   .flow = graph->flows[i],
                                   .arena = arena_of_its_own(u),
                                   .engine = u->context->engine,
                                   .target = &u->targets[graph->flows[i]->dataset->index],
                                   .result = &u->flow_results[i]};
        u->runs[i].plan_arena = u->runs[i].arena;
    }
    u->result->flows = u->flow_results;
    u->result->flow_count = graph->flow_count;
}

static void announce_flows(tg_update *u)
{
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        tg_flow_run *run = &u->runs[i];
        tg_update_event_flow(u, run, run->is_selected ? TG_FLOW_QUEUED : TG_FLOW_EXCLUDED, NULL);
    }
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void analyse(tg_update *u)
{
    u->is_analysing = true;
    tg_update_pin_externals(u);
    for (size_t i = 0; i < u->graph->flow_count && !tg_env_is_cancelled(u->context->env); i++) {
        if (u->runs[i].is_selected) {
            tg_flow_analyse(u, &u->runs[i]);
        }
    }
    tg_update_analyse_views(u);
    u->is_analysing = false;
}

/*
 * What a dry run found out: windows, programs where they are asked for, plans where it is one. No
 * flow has run, so that none is told to be completed.
 */
static void keep_analysis(tg_update *u)
{
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        u->flow_results[i].window = u->runs[i].plan.window;
        tg_flow_keep_program(u, &u->runs[i]);
        if (u->options->is_plan && u->runs[i].is_selected) {
            tg_flow_forecast(u, &u->runs[i]);
        }
    }
}

static void finish(tg_update *u)
{
    bool is_stopped = tg_env_is_cancelled(u->context->env);
    const tg_error *first = NULL;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow_result *result = &u->flow_results[i];
        u->result->failed_count += result->status == TG_FLOW_FAILED;
        u->result->skipped_count += result->status == TG_FLOW_SKIPPED;
        is_stopped = is_stopped || result->status == TG_FLOW_STOPPED;
        first = first ? first : result->error;
    }
    tg_update_state state = u->result->failed_count ? TG_UPDATE_FAILED
                            : is_stopped            ? TG_UPDATE_CANCELED
                                                    : TG_UPDATE_COMPLETED;
    u->result->duration_ms = tg_update_elapsed_ms(u, u->started_ns);
    tg_update_event_state(u, state, state == TG_UPDATE_FAILED ? first : NULL);
}

/* Exit status 4 means that nothing is wrong but what a guard refuses. */
static tg_code worst_code(const tg_diags *diags, tg_code first)
{
    for (size_t i = 0; i < diags->count; i++) {
        if (!diags->is_warning[i] && diags->items[i].code != TG_GUARD) {
            return diags->items[i].code;
        }
    }
    return first;
}

static tg_code end_in_analysis(tg_update *u)
{
    tg_auto_error tg_error first = TG_ERROR_INIT;
    tg_code code = worst_code(u->diags, tg_diags_first(u->diags, &first));
    u->result->is_validation_failure = true;
    u->result->duration_ms = tg_update_elapsed_ms(u, u->started_ns);
    tg_update_event_state(u, TG_UPDATE_FAILED, tg_error_is_set(&first) ? &first : NULL);
    return code;
}

static tg_code run_phases(tg_update *u)
{
    size_t errors = u->diags->error_count;
    tg_update_event_start(u);
    tg_update_event_definitions(u);
    announce_flows(u);
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_eventlog_flush(u->log, &err) !=
        TG_OK) { /* a storage that cannot be written stops it here */
        tg_diags_add(u->diags, &err);
        return end_in_analysis(u);
    }
    analyse(u);
    if (u->diags->error_count > errors || u->graph->is_partial) {
        return end_in_analysis(u);
    }
    tg_update_find_inactive(u);
    if (u->options->is_dry_run) {
        keep_analysis(u);
    } else {
        tg_update_event_state(u, TG_UPDATE_SETTING_UP_TABLES, NULL);
        if (tg_update_publish_views(u) != TG_OK) {
            return end_in_analysis(u);
        }
        tg_update_event_state(u, TG_UPDATE_RUNNING, NULL);
        tg_update_run_with_retries(u);
    }
    finish(u);
    return TG_OK;
}

static tg_code run_update(tg_update *u)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_code code = set_clock(u, &err);
    if (code == TG_OK) {
        TG_TRY(tg_update_select(u));
        TG_TRY(tg_update_apply_overrides(u));
        TG_TRY(tg_update_check_adopt(u));
        code = open_log(u, &err);
    }
    if (code != TG_OK) {
        tg_diags_add(u->diags, &err);
        return code;
    }
    u->result->is_validation_failure = false;
    code = run_phases(u);
    if (tg_eventlog_close(u->log, &err) != TG_OK && !u->has_log_warning && code == TG_OK) {
        tg_diags_add_warning(u->diags, &err);
    }
    return code;
}

tg_code tg_update_run(const tg_update_context *context, const tg_graph *graph,
                      const tg_update_options *options, tg_arena *arena,
                      tg_update_result *out_result, tg_diags *diags)
{
    *out_result = (tg_update_result){.pipeline_name = graph->spec->name,
                                     .state = TG_UPDATE_FAILED,
                                     .is_dry_run = options->is_dry_run,
                                     .is_plan = options->is_plan,
                                     .is_validation_failure = true};
    tg_update u = {.context = context,
                   .graph = graph,
                   .options = options,
                   .arena = arena,
                   .diags = diags,
                   .result = out_result,
                   .catalog = tg_spec_catalog(graph->spec, context->fs),
                   .started_ns = context->env->monotonic_ns(context->env->self)};
    set_up_runs(&u);
    tg_code code = run_update(&u);
    (void)pthread_mutex_destroy(&u.source_lock);
    return code;
}
