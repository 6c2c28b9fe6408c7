/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persisted views of a pipeline: a file each, owned as tables are. A view has no rows, so that there
 * is nothing to refresh: its file has the definition, or is written anew. One whose file has it
 * already costs one read, no binding and no engine.
 */
#include "pipeline/properties.h"
#include "pipeline/update_int.h"

/* ---- owners ---------------------------------------------------------------------------------- */

static tg_code not_owned(const tg_update *u, const tg_dataset *dataset, const char *what,
                         tg_str owner, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_TABLE_NOT_OWNED, "%s `%.*s` exists already and %s", what,
                 TG_SARG(dataset->full_name),
                 owner.len ? "belongs to another pipeline" : "was not made by this pipeline");
    (void)tg_error_at(err, dataset->stmt->name.span);
    if (owner.len) {
        (void)tg_error_detail(
            err, "Its pipeline has the id %.*s, this one %.*s.", TG_SARG(owner),
            TG_SARG(u->result->pipeline_id.len ? u->result->pipeline_id : TG_S("none yet")));
    }
    return tg_error_hint(err, "Choose another name or warehouse, or drop the %s.", what);
}

static tg_code kind_changed(const tg_dataset *dataset, const char *was, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_DATASET_KIND_CHANGED,
                 "`%.*s` was made as a %s and cannot become a %s", TG_SARG(dataset->full_name), was,
                 tg_dataset_kind_name(dataset->kind));
    (void)tg_error_at(err, dataset->stmt->name.span);
    return tg_error_hint(err, "Remove %.*s first, or give the definition another name.",
                         TG_SARG(dataset->location.path));
}

static bool is_mine(const tg_update *u, tg_str owner)
{
    return owner.len > 0 && tg_str_eq(owner, u->result->pipeline_id);
}

tg_code tg_update_check_no_view(tg_update *u, const tg_dataset *dataset, tg_error *err)
{
    const tg_view *view;
    TG_TRY(tg_view_load(&u->catalog, &dataset->location, u->arena, &view, err));
    if (!view) {
        return TG_OK;
    }
    return is_mine(u, view->pipeline_id) ? kind_changed(dataset, "view", err)
                                         : not_owned(u, dataset, "view", view->pipeline_id, err);
}

/* A table stands where the view should be. */
static tg_code check_no_table(tg_update *u, const tg_dataset *dataset, tg_error *err)
{
    const tg_engine *engine = u->context->engine;
    tg_table_facts facts;
    TG_TRY(engine->table_facts(engine->self, dataset->location.path, u->arena, &facts, err));
    if (!facts.exists) {
        return TG_OK;
    }
    tg_str owner = tg_property_get(facts.properties, facts.property_count, "tidegate.pipelineId");
    return is_mine(u, owner) ? kind_changed(dataset, "table", err)
                             : not_owned(u, dataset, "table", owner, err);
}

static tg_code load_published(tg_update *u, tg_view_run *run, tg_error *err)
{
    const tg_dataset *dataset = run->dataset;
    const tg_view *found;
    TG_TRY(tg_view_load(&u->catalog, &dataset->location, u->arena, &found, err));
    if (!found) {
        return check_no_table(u, dataset, err);
    }
    if (!is_mine(u, found->pipeline_id)) {
        return not_owned(u, dataset, "view", found->pipeline_id, err);
    }
    run->exists = true;
    run->is_equal =
        tg_str_eq(tg_view_to_json(found, u->arena), tg_view_to_json(&run->view, u->arena));
    return TG_OK;
}

/* ---- analysis -------------------------------------------------------------------------------- */

/* Pins what the view reads, also through views. An input that failed was told already. */
static bool pin_inputs(tg_update *u, const tg_dataset *view, bool *seen)
{
    bool all = true;
    seen[view->index] = true;
    for (size_t i = 0; i < view->input_count; i++) {
        const tg_dataset *dataset = view->inputs[i].dataset;
        if (!dataset) {
            all = tg_update_pin_external(u, view->inputs[i].external) == TG_OK && all;
        } else if (tg_dataset_is_view(dataset)) {
            all = (seen[dataset->index] || pin_inputs(u, dataset, seen)) && all;
        } else if (dataset->flow) {
            const tg_flow_result *writer = &u->flow_results[dataset->flow->index];
            all = writer->status != TG_FLOW_FAILED && all;
        }
    }
    return all;
}

static tg_code bind(tg_update *u, const tg_dataset *dataset, tg_error *err)
{
    tg_flow_run reader = {.update = u, .arena = u->arena, .engine = u->context->engine};
    const tg_resolver resolver = {.resolve = tg_update_resolve, .self = &reader};
    const tg_bind_options options = {
        .resolver = &resolver, .now_us = u->now_us, .zone = u->zone, .in_flow = true};
    tg_bound_query bound;
    tg_schema schema;
    TG_TRY(tg_sql_bind_query(dataset->query, &options, u->arena, &bound, err));
    return tg_sql_output_schema(bound.rel, u->arena, &schema, err);
}

static tg_code analyse(tg_update *u, tg_view_run *run, tg_error *err)
{
    const tg_dataset *dataset = run->dataset;
    run->view = tg_view_of(dataset->stmt, &dataset->scope, dataset->full_name,
                           tg_zone_name(u->zone), u->result->pipeline_id, u->arena);
    TG_TRY(load_published(u, run, err));
    bool *seen = TG_NEW_ARRAY(u->arena, bool, u->graph->dataset_count);
    if (run->is_equal || !pin_inputs(u, dataset, seen)) {
        return TG_OK;
    }
    return bind(u, dataset, err);
}

static void keep_results(tg_update *u)
{
    tg_view_result *results = TG_NEW_ARRAY(u->arena, tg_view_result, u->view_count);
    for (size_t i = 0; i < u->view_count; i++) {
        const tg_view_run *run = &u->views[i];
        results[i] = (tg_view_result){.view = run->dataset,
                                      .status = !run->exists    ? "CREATED"
                                                : run->is_equal ? "UNCHANGED"
                                                                : "REPLACED"};
    }
    u->result->views = results;
    u->result->view_count = u->view_count;
}

void tg_update_analyse_views(tg_update *u)
{
    for (size_t i = 0; i < u->view_count && !tg_env_is_cancelled(u->context->env); i++) {
        const tg_dataset *dataset = u->views[i].dataset;
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (dataset->reads_broken || analyse(u, &u->views[i], &err) == TG_OK) {
            continue;
        }
        (void)tg_error_context(&err, "while analysing view %.*s", TG_SARG(dataset->full_name));
        if (!err.has_span && err.place.line == 0) {
            (void)tg_error_at(&err, dataset->stmt->name.span);
        }
        tg_update_fail(u, dataset->file, &err);
    }
    keep_results(u);
}

/* ---- publishing ------------------------------------------------------------------------------ */

/*
 * A definition that is found to be right is told to be published, so it must outlive a power failure
 * too: its writer may have died between giving the file its name and fsyncing the folder.
 */
static tg_code publish(tg_update *u, const tg_view_run *run, tg_error *err)
{
    const tg_location *location = &run->dataset->location;
    return run->is_equal ? tg_fs_fsync_folder(u->context->fs, tg_path_dirname(location->path), err)
                         : tg_view_store(&u->catalog, location, &run->view, run->exists, err);
}

tg_code tg_update_publish_views(tg_update *u)
{
    for (size_t i = 0; i < u->view_count; i++) {
        const tg_view_run *run = &u->views[i];
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (publish(u, run, &err) == TG_OK) {
            continue;
        }
        (void)tg_error_context(&err, "while publishing view %.*s",
                               TG_SARG(run->dataset->full_name));
        (void)tg_error_at(&err, run->dataset->stmt->name.span);
        tg_code code = err.code;
        tg_update_fail(u, run->dataset->file, &err);
        return code;
    }
    return TG_OK;
}
