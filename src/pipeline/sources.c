/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an update reads. Tables that it does not write are pinned when it starts; a table that it
 * writes is seen by its readers at its flow's own commit, or at its start version when that flow
 * had nothing to do or was not selected (design 4.2). Every identity is asked for once per update,
 * every table described once per version.
 *
 * Flows that run at the same time share what is kept here, so the calls below take source_lock, and
 * what they keep lies in source_arena. It is read without the lock where nobody can write it any
 * more: a target's version once its flow has ended, a table once somebody described it.
 */
#include "pipeline/graph_int.h"
#include "pipeline/update_int.h"

/* ---- pins that are given --------------------------------------------------------------------- */

/* NULL: the newest version is wanted. */
static const tg_pin *given_pin(const tg_update *u, tg_str path)
{
    for (size_t i = 0; i < u->options->pin_count; i++) {
        if (tg_str_eq(u->options->pins[i].path, path)) {
            return &u->options->pins[i];
        }
    }
    return NULL;
}

/* Is the source at a given version still what it was? code: of asking for its identity. */
static tg_code check_given(const tg_update *u, const tg_pin *given, tg_str name, tg_code code,
                           const tg_pin *found, tg_error *err)
{
    bool is_gone = code == TG_NOT_FOUND;
    if (!given || (code != TG_OK && !is_gone)) {
        return code;
    }
    if (!is_gone && found->digest.high == given->digest.high &&
        found->digest.low == given->digest.low) {
        return TG_OK;
    }
    tg_error_clear(err);
    if (given->version < 0) {
        (void)TG_ERR(err, TIDEGATE_PINNED_SOURCE_GONE,
                     "the files of source %.*s are not those that the work was begun with",
                     TG_SARG(name));
    } else {
        (void)TG_ERR(err, TIDEGATE_PINNED_SOURCE_GONE,
                     "version %lld of source %.*s, which the work was begun with, is %s",
                     (long long)given->version, TG_SARG(name),
                     is_gone ? "gone" : "another one now: the table was made anew");
    }
    return u->options->pin_remedy ? tg_error_hint(err, "%s", u->options->pin_remedy) : err->code;
}

/* ---- externals ------------------------------------------------------------------------------- */

static tg_code external_not_found(tg_update *u, const tg_external *external, tg_error *err)
{
    bool is_damaged = err && err->cls == TG_E_DELTA_LOG_FILE_NOT_FOUND; /* there is a table */
    if (!external->location.is_managed || is_damaged) {
        /* the engine's words say what is missing */
        return tg_error_at(err, external->name->span);
    }
    TG_VEC(tg_str) names = {0};
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        TG_VEC_PUSH(u->arena, &names, u->graph->datasets[i]->name);
    }
    tg_error_clear(err);
    return tg_catalog_not_found(&u->catalog, external->name, names.items, names.count, err);
}

static tg_code pin_external(tg_update *u, size_t index, tg_error *err)
{
    const tg_external *external = &u->graph->externals[index];
    tg_source *source = &u->externals[index];
    const tg_engine *engine = u->context->engine;
    const tg_pin *given = given_pin(u, external->location.path);
    tg_code code =
        engine->identity(engine->self, external->location.format, external->location.path,
                         given ? given->version : -1, u->arena, &source->pin, err);
    if (code == TG_NOT_FOUND && !given) {
        return external_not_found(u, external, err);
    }
    code = check_given(u, given, external->location.full_name, code, &source->pin, err);
    if (code != TG_OK) {
        (void)tg_error_at(err, external->name->span);
        return tg_error_context(err, "while reading %.*s", TG_SARG(external->location.full_name));
    }
    source->pin.name = external->location.full_name;
    source->pin.path = external->location.path;
    source->pin.table = NULL;
    source->is_pinned = true;
    return TG_OK;
}

tg_code tg_update_pin_external(tg_update *u, size_t index)
{
    tg_source *source = &u->externals[index];
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (source->is_pinned || source->failure != TG_OK) {
        return source->failure;
    }
    source->failure = pin_external(u, index, &err);
    /* What is wrong elsewhere may be the definition of the table. */
    bool may_exist = u->graph->may_lack_names && source->failure == TG_NOT_FOUND &&
                     u->graph->externals[index].location.is_managed;
    if (source->failure != TG_OK && !may_exist) {
        tg_update_fail(u, u->graph->externals[index].file, &err);
    }
    return source->failure;
}

void tg_update_pin_externals(tg_update *u)
{
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        for (size_t j = 0; u->runs[i].is_selected && j < flow->external_count; j++) {
            (void)!tg_update_pin_external(u, flow->externals[j]);
        }
    }
}

/* ---- tables of the pipeline ------------------------------------------------------------------ */

static void see_version(tg_target *target, int64_t version, tg_digest digest, bool is_known)
{
    target->as_source.pin.version = version;
    target->as_source.pin.digest = digest;
    target->as_source.pin.table = NULL;
    target->as_source.is_pinned = is_known;
}

static tg_code load_target(const tg_flow_run *run, const tg_dataset *dataset, tg_error *err)
{
    tg_update *u = run->update;
    tg_target *target = &u->targets[dataset->index];
    if (target->has_facts) {
        return TG_OK;
    }
    const tg_engine *engine = run->engine;
    TG_TRY_CTX(engine->table_facts(engine->self, dataset->location.path, u->source_arena,
                                   &target->facts, err),
               err, "while reading %.*s", TG_SARG(dataset->full_name));
    if (!target->facts.exists) {
        TG_TRY(tg_update_check_no_view(u, dataset, err));
    }
    target->has_facts = true;
    target->as_source.pin =
        (tg_pin){.name = dataset->full_name, .path = dataset->location.path, .version = -1};
    const tg_pin *given = given_pin(u, dataset->location.path);
    if (given) {
        see_version(target, given->version, given->digest, false);
    } else if (target->facts.exists) {
        see_version(target, target->facts.version, target->facts.digest, true);
    }
    return TG_OK;
}

tg_code tg_update_load_target(const tg_flow_run *run, const tg_dataset *dataset, tg_error *err)
{
    (void)pthread_mutex_lock(&run->update->source_lock);
    tg_code code = load_target(run, dataset, err);
    (void)pthread_mutex_unlock(&run->update->source_lock);
    return code;
}

void tg_update_target_changed(tg_update *u, tg_target *target, int64_t version)
{
    (void)pthread_mutex_lock(&u->source_lock);
    see_version(target, version, (tg_digest){0}, false); /* its digest is read when a reader asks */
    (void)pthread_mutex_unlock(&u->source_lock);
}

static tg_code pin_target(const tg_flow_run *run, const tg_dataset *dataset, tg_error *err)
{
    tg_update *u = run->update;
    TG_TRY(load_target(run, dataset, err));
    tg_target *target = &u->targets[dataset->index];
    if (target->as_source.is_pinned || (u->is_analysing && target->will_change)) {
        return TG_OK;
    }
    if (target->as_source.pin.version < 0) {
        (void)TG_ERR(err, TABLE_OR_VIEW_NOT_FOUND,
                     "table `%.*s` does not exist yet: its flow has not run",
                     TG_SARG(dataset->full_name));
        return u->options->tells_intervals
                   ? tg_error_hint(err, "Write: tidegate run")
                   : tg_error_hint(err, "Select `%.*s` too.", TG_SARG(dataset->name));
    }
    const tg_engine *engine = run->engine;
    tg_pin pin = {0};
    tg_code code = engine->identity(engine->self, TG_FORMAT_DELTA, dataset->location.path,
                                    target->as_source.pin.version, u->source_arena, &pin, err);
    TG_TRY_CTX(
        check_given(u, given_pin(u, dataset->location.path), dataset->full_name, code, &pin, err),
        err, "while reading %.*s", TG_SARG(dataset->full_name));
    see_version(target, pin.version, pin.digest, true);
    return TG_OK;
}

/*
 * What readers will see. A plan has no run to wait for: a table that will change is taken to be one
 * version further, with a digest that no recorded piece has.
 */
static tg_pin pin_of_target(const tg_update *u, const tg_target *target)
{
    tg_pin pin = target->as_source.pin;
    if (u->options->is_plan && u->is_analysing && target->will_change) {
        pin.version++;
        pin.digest = (tg_digest){0};
        pin.table = NULL;
    }
    return pin;
}

static tg_code collect_pins(const tg_flow_run *run, tg_pin *pins, tg_error *err)
{
    const tg_update *u = run->update;
    const tg_flow *flow = run->flow;
    for (size_t i = 0; i < flow->external_count; i++) {
        *pins++ = u->externals[flow->externals[i]].pin;
    }
    for (size_t i = 0; i < flow->upstream_count; i++) {
        TG_TRY(pin_target(run, flow->upstream[i], err));
        *pins++ = pin_of_target(u, &u->targets[flow->upstream[i]->index]);
    }
    return TG_OK;
}

tg_code tg_update_collect_pins(tg_flow_run *run, tg_error *err)
{
    size_t count = run->flow->external_count + run->flow->upstream_count;
    tg_pin *pins = TG_NEW_ARRAY(run->arena, tg_pin, count);
    (void)pthread_mutex_lock(&run->update->source_lock);
    tg_code code = collect_pins(run, pins, err);
    (void)pthread_mutex_unlock(&run->update->source_lock);
    TG_TRY(code);
    run->input.pins = pins;
    run->input.pin_count = count;
    return TG_OK;
}

/* ---- names ----------------------------------------------------------------------------------- */

static tg_code describe(const tg_flow_run *run, const tg_location *location, tg_source *source,
                        const tg_table **out, tg_error *err)
{
    if (!source->pin.table) {
        const tg_engine *engine = run->engine;
        TG_TRY_CTX(engine->describe(engine->self, location->format, location->path,
                                    source->pin.version, location->options, location->option_count,
                                    location->full_name, run->update->source_arena,
                                    &source->pin.table, err),
                   err, "while reading %.*s", TG_SARG(location->full_name));
    }
    *out = source->pin.table;
    if ((*out)->needs_refresh) {
        (void)TG_ERR(err, STREAMING_TABLE_NEEDS_REFRESH,
                     "streaming table `%.*s` was never refreshed: it holds nothing yet",
                     TG_SARG(location->full_name));
        return tg_error_hint(err, "Give it a flow: CREATE FLOW f AS INSERT INTO %.*s BY NAME ...",
                             TG_SARG(location->full_name));
    }
    return TG_OK;
}

/* A table as it will be: enough to bind against. */
static const tg_table *forecast_table(const tg_flow_run *run, const tg_dataset *dataset)
{
    const tg_target *target = &run->update->targets[dataset->index];
    tg_table *table = TG_NEW(run->arena, tg_table);
    *table = (tg_table){.name = dataset->full_name,
                        .format = TG_FORMAT_DELTA,
                        .path = dataset->location.path,
                        .schema = target->forecast,
                        .version = target->as_source.pin.version};
    return table;
}

static tg_code resolve_table(const tg_flow_run *run, const tg_dataset *dataset, tg_resolved *out,
                             tg_error *err)
{
    tg_update *u = run->update;
    TG_TRY(pin_target(run, dataset, err));
    tg_target *target = &u->targets[dataset->index];
    if (u->is_analysing && target->will_change) {
        *out = (tg_resolved){.table = forecast_table(run, dataset)};
        return TG_OK;
    }
    *out = (tg_resolved){0};
    return describe(run, &dataset->location, &target->as_source, &out->table, err);
}

static tg_code resolve_input(const tg_flow_run *run, const tg_input *input, tg_resolved *out,
                             tg_error *err)
{
    const tg_update *u = run->update;
    if (input->dataset) {
        return resolve_table(run, input->dataset, out, err);
    }
    *out = (tg_resolved){0};
    return describe(run, &u->graph->externals[input->external].location,
                    &u->externals[input->external], &out->table, err);
}

tg_code tg_update_resolve(void *self, const tg_relation *relation, tg_arena *arena,
                          tg_resolved *out, tg_error *err)
{
    (void)arena;
    const tg_flow_run *run = self;
    tg_update *u = run->update;
    const tg_input *input =
        tg_map_get(&u->graph->inputs_by_name, tg_graph_input_key(&relation->name));
    if (!input) {
        return tg_catalog_not_found(&u->catalog, &relation->name, NULL, 0, err);
    }
    const tg_dataset *dataset = input->dataset;
    if (dataset && tg_dataset_is_view(dataset)) {
        *out = (tg_resolved){.view = dataset->query,
                             .view_name = dataset->full_name,
                             .view_text = dataset->file->text,
                             .view_file = dataset->file->shown_name,
                             .view_zone = dataset->zone};
        return TG_OK;
    }
    (void)pthread_mutex_lock(&u->source_lock);
    tg_code code = resolve_input(run, input, out, err);
    (void)pthread_mutex_unlock(&u->source_lock);
    return code;
}
