/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting: what each flow writes and reads, in which order they run, and the rules that need no
 * table. The order of the checks is Spark's (reference/anchors.md 3.8), so that the same mistake
 * gives the same first error.
 */
#include "pipeline/graph_int.h"

/* ---- targets --------------------------------------------------------------------------------- */

static tg_code target_not_found(tg_graph_builder *b, const tg_registered_flow *r, tg_str full_name,
                                tg_error *err)
{
    TG_VEC(tg_str) names = {0};
    for (size_t i = 0; i < b->datasets.count; i++) {
        if (!tg_dataset_is_view(b->datasets.items[i].dataset)) {
            TG_VEC_PUSH(b->arena, &names, b->datasets.items[i].dataset->name);
        }
    }
    tg_str word = r->target->parts[r->target->count - 1].text;
    tg_str nearest = tg_str_nearest(word, names.items, names.count);
    (void)TG_ERR(err, TIDEGATE_FLOW_TARGET_NOT_FOUND,
                 "the target `%.*s` of flow `%.*s` is not defined in this pipeline",
                 TG_SARG(full_name), TG_SARG(r->flow->event_name));
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest));
    } else {
        (void)tg_error_hint(err, "Define it with CREATE STREAMING TABLE %.*s.", TG_SARG(word));
    }
    return tg_error_at(err, r->target->span);
}

/* May a definition that does not parse be the one with this name? */
static bool is_unknown(tg_graph_builder *b, const tg_catalog *scope, const tg_name *name)
{
    tg_location location;
    return b->has_unknown || (tg_catalog_locate(scope, name, b->arena, &location, NULL) == TG_OK &&
                              tg_map_has(&b->broken_names, location.full_name));
}

static tg_code find_target(tg_graph_builder *b, const tg_registered_flow *r, const tg_dataset **out,
                           tg_error *err)
{
    tg_location location;
    TG_TRY(tg_catalog_locate(&r->scope, r->target, b->arena, &location, err));
    const tg_dataset *dataset = tg_map_get(&b->graph->names, location.full_name);
    if (!dataset) {
        return target_not_found(b, r, location.full_name, err);
    }
    *out = dataset;
    return TG_OK;
}

static bool link_targets(tg_graph_builder *b)
{
    bool all_found = true;
    for (size_t i = 0; i < b->flows.count; i++) {
        tg_registered_flow *r = &b->flows.items[i];
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (r->target && find_target(b, r, &r->flow->dataset, &err) != TG_OK) {
            all_found = false;
            if (!is_unknown(b, &r->scope, r->target)) {
                tg_graph_fail_with(b, r->flow->file, &err);
            }
        }
    }
    return all_found;
}

/* Gives each table its flow; a second one is reported by check_flow_counts. */
static void attach_flows(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->flows.count; i++) {
        tg_flow *flow = b->flows.items[i].flow;
        flow->index = i; /* for now: order_flows gives the final one */
        if (flow->dataset) {
            tg_dataset *dataset = b->datasets.items[flow->dataset->index].dataset;
            dataset->flow = dataset->flow ? dataset->flow : flow;
        }
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct input_visit {
    tg_graph_builder *b;
    const tg_source_file *file;
    const tg_catalog *scope;
    TG_VEC(tg_input) inputs;
    bool reads_broken;
    bool is_found; /* the query is a view's of the warehouse: it knows no temporary view */
} input_visit;

static size_t external_index(tg_graph_builder *b, const tg_location *location, const tg_name *name,
                             const tg_source_file *file)
{
    size_t *known = tg_map_get(&b->external_names, location->full_name);
    if (!known) {
        known = TG_NEW(b->arena, size_t);
        *known = b->externals.count;
        (void)tg_map_put(&b->external_names, location->full_name, known);
        TG_VEC_PUSH(b->arena, &b->externals,
                    (tg_external){.location = *location, .name = name, .file = file});
    }
    return *known;
}

/*
 * A view of the warehouse that this pipeline does not define takes part as if it did: its query
 * stands for its name, with what names meant where it was written. It belongs to no file of the
 * pipeline. False: it cannot be used, which was reported.
 */
static bool find_persisted(tg_graph_builder *b, const input_visit *visit,
                           const tg_location *location, const tg_name *name, tg_dataset **out)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_view *view;
    const tg_zone *zone;
    *out = NULL;
    if (tg_view_load(visit->scope, location, b->arena, &view, &err) != TG_OK ||
        (view && tg_zone_load(view->timezone, b->arena, &zone, &err) != TG_OK)) {
        (void)tg_error_at(&err, name->span);
        tg_graph_fail_with(b, visit->file, &err);
        return false;
    }
    if (!view) {
        return true;
    }
    tg_source_file *file = TG_NEW(b->arena, tg_source_file);
    *file = (tg_source_file){.shown_name =
                                 tg_arena_printf(b->arena, "view %.*s", TG_SARG(view->full_name)),
                             .path = location->path,
                             .text = view->text};
    tg_dataset *dataset = TG_NEW(b->arena, tg_dataset);
    *dataset = (tg_dataset){.kind = TG_DATASET_VIEW,
                            .full_name = view->full_name,
                            .name = name->parts[name->count - 1].text,
                            .file = file,
                            .location = *location,
                            .found = view,
                            .query = view->query,
                            .scope = tg_view_scope(visit->scope, view),
                            .zone = zone,
                            .index = b->datasets.count};
    (void)tg_map_put(&b->graph->names, view->full_name, dataset);
    TG_VEC_PUSH(b->arena, &b->datasets, (tg_registered_dataset){dataset, dataset->scope});
    *out = dataset;
    return true;
}

/*
 * A name of one part is a temporary view's, if there is one; else it is qualified where it stands.
 * In a view that others see it never is.
 */
static void visit_input(void *ctx, const tg_relation *table)
{
    input_visit *visit = ctx;
    tg_graph_builder *b = visit->b;
    if (table->version || table->timestamp) {
        tg_graph_fail(b, visit->file, table->span, TG_E_UNSUPPORTED_FEATURE,
                      "Flows read the version that the update pins.",
                      "time travel in a flow is not available yet");
        visit->reads_broken = true;
        return;
    }
    tg_name *name = TG_NEW(b->arena, tg_name);
    *name = table->name;
    tg_input input = {.name = name, .file = visit->file, .is_stream = table->is_stream};
    if (name->count == 1 && !visit->is_found &&
        tg_map_has(&b->broken_names, tg_str_lower(b->arena, name->parts[0].text))) {
        visit->reads_broken = true;
        return;
    }
    if (name->count == 1 && !visit->is_found) {
        input.dataset = tg_map_get(&b->graph->names, tg_str_lower(b->arena, name->parts[0].text));
    }
    if (!input.dataset) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_location location;
        if (tg_catalog_locate(visit->scope, name, b->arena, &location, &err) != TG_OK) {
            tg_graph_fail_with(b, visit->file, &err);
            visit->reads_broken = true;
            return;
        }
        input.dataset = tg_map_get(&b->graph->names, location.full_name);
        if (tg_map_has(&b->broken_names, location.full_name)) {
            visit->reads_broken = true;
            return;
        }
        tg_dataset *found = NULL;
        if (!input.dataset && !find_persisted(b, visit, &location, name, &found)) {
            visit->reads_broken = true;
            return;
        }
        input.dataset = found ? found : input.dataset;
        if (!input.dataset) {
            input.external = external_index(b, &location, name, visit->file);
        }
    }
    TG_VEC_PUSH(b->arena, &visit->inputs, input);
}

/* From a place in a query to what stands there. */
static void remember(tg_graph_builder *b, const tg_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)tg_map_put(&b->graph->inputs_by_name, tg_graph_input_key(inputs[i].name),
                         tg_arena_memdup(b->arena, &inputs[i], sizeof(inputs[i])));
    }
}

/* Returns whether the query reads what it cannot: a definition that does not parse, a name refused here. */
static bool collect(tg_graph_builder *b, const tg_query *query, const tg_source_file *file,
                    const tg_catalog *scope, bool is_found, const tg_input **out, size_t *out_count)
{
    input_visit visit = {.b = b, .file = file, .scope = scope, .is_found = is_found};
    tg_sql_visit_tables(query, visit_input, &visit);
    remember(b, visit.inputs.items, visit.inputs.count);
    *out = visit.inputs.items;
    *out_count = visit.inputs.count;
    return visit.reads_broken;
}

/* From a dataset on: views that are found on the way stand at the end of the list. */
static size_t link_views(tg_graph_builder *b, size_t from)
{
    for (; from < b->datasets.count; from++) {
        tg_dataset *dataset = b->datasets.items[from].dataset;
        tg_catalog scope = b->datasets.items[from].scope; /* the list may move */
        if (tg_dataset_is_view(dataset)) {
            dataset->reads_broken =
                collect(b, dataset->query, dataset->file, &scope, dataset->found != NULL,
                        &dataset->inputs, &dataset->input_count);
        }
    }
    return from;
}

static void set_datasets(tg_graph_builder *b)
{
    b->graph->dataset_count = b->datasets.count;
    b->graph->datasets = TG_NEW_ARRAY(b->arena, tg_dataset *, b->datasets.count);
    for (size_t i = 0; i < b->datasets.count; i++) {
        b->graph->datasets[i] = b->datasets.items[i].dataset;
    }
}

static void link_inputs(tg_graph_builder *b)
{
    size_t linked = link_views(b, 0);
    for (size_t i = 0; i < b->flows.count; i++) {
        tg_flow *flow = b->flows.items[i].flow;
        flow->reads_broken = collect(b, flow->spec->query, flow->file, &b->flows.items[i].scope,
                                     /* is_found= */ false, &flow->inputs, &flow->input_count);
        tg_str *aliases;
        tg_sql_query_aliases(flow->spec->query, b->arena, &aliases, &flow->alias_count);
        flow->aliases = aliases;
    }
    (void)link_views(b, linked);
    set_datasets(b);
    b->graph->externals = b->externals.items;
    b->graph->external_count = b->externals.count;
}

static void inputs_of(const tg_dataset *dataset, const tg_input **out, size_t *out_count)
{
    bool is_view = tg_dataset_is_view(dataset);
    *out = is_view ? dataset->inputs : dataset->flow ? dataset->flow->inputs : NULL;
    *out_count = is_view ? dataset->input_count : dataset->flow ? dataset->flow->input_count : 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

typedef enum color { COLOR_NEW, COLOR_OPEN, COLOR_DONE } color;
typedef struct frame {
    const tg_dataset *dataset;
    size_t next;
} frame;

static void report_cycle(tg_graph_builder *b, const frame *stack, size_t depth,
                         const tg_input *back)
{
    size_t start = depth;
    while (start > 0 && stack[start - 1].dataset != back->dataset) {
        start--;
    }
    tg_auto_buf tg_buf path = TG_BUF_INIT;
    for (size_t i = start > 0 ? start - 1 : 0; i < depth; i++) {
        tg_buf_addf(&path, "%.*s reads ", TG_SARG(stack[i].dataset->full_name));
    }
    tg_buf_adds(&path, back->dataset->full_name);
    tg_graph_fail(b, back->file, back->name->span, TG_E_CIRCULAR_DEPENDENCY,
                  "Take one of the reads out; a flow may not read its own target either.",
                  "circular dependency: %.*s", TG_SARG(tg_buf_str(&path)));
}

/* Depth-first, in order of definition; flows come out behind what they read. */
static void order_flows(tg_graph_builder *b)
{
    size_t count = b->datasets.count;
    color *colors = TG_NEW_ARRAY(b->arena, color, count);
    frame *stack = TG_NEW_ARRAY(b->arena, frame, count);
    TG_VEC(tg_flow *) ordered = {0};
    for (size_t root = 0; root < count; root++) {
        size_t depth = 0;
        if (colors[root] == COLOR_NEW) {
            colors[root] = COLOR_OPEN;
            stack[depth++] = (frame){b->datasets.items[root].dataset, 0};
        }
        while (depth > 0) {
            frame *top = &stack[depth - 1];
            const tg_input *inputs;
            size_t input_count;
            inputs_of(top->dataset, &inputs, &input_count);
            if (top->next == input_count) {
                colors[top->dataset->index] = COLOR_DONE;
                if (top->dataset->flow) {
                    TG_VEC_PUSH(b->arena, &ordered, b->flows.items[top->dataset->flow->index].flow);
                }
                depth--;
                continue;
            }
            const tg_input *input = &inputs[top->next++];
            if (input->dataset && colors[input->dataset->index] == COLOR_OPEN) {
                report_cycle(b, stack, depth, input);
            } else if (input->dataset && colors[input->dataset->index] == COLOR_NEW) {
                colors[input->dataset->index] = COLOR_OPEN;
                stack[depth++] = (frame){input->dataset, 0};
            }
        }
    }
    b->graph->flows = ordered.items;
    b->graph->flow_count = ordered.count;
    for (size_t i = 0; i < ordered.count; i++) {
        ordered.items[i]->index = i;
    }
}

/* ---- what a flow reads through views --------------------------------------------------------- */

typedef struct closure {
    tg_graph_builder *b;
    size_t mark;     /* of this flow: visited[i] == mark */
    size_t *visited; /* per dataset */
    size_t *visited_externals;
} closure;

static void close_flow(closure *c, tg_flow *flow)
{
    tg_arena *arena = c->b->arena;
    TG_VEC(const tg_dataset *) views = {0};
    TG_VEC(const tg_dataset *) upstream = {0};
    TG_VEC(size_t) externals = {0};
    c->mark++;
    const tg_input *inputs = flow->inputs;
    size_t input_count = flow->input_count;
    for (size_t next_view = 0;;) {
        for (size_t i = 0; i < input_count; i++) {
            const tg_dataset *dataset = inputs[i].dataset;
            size_t *visited =
                dataset ? &c->visited[dataset->index] : &c->visited_externals[inputs[i].external];
            if (*visited == c->mark) {
                continue;
            }
            *visited = c->mark;
            if (!dataset) {
                TG_VEC_PUSH(arena, &externals, inputs[i].external);
            } else if (tg_dataset_is_view(dataset)) {
                TG_VEC_PUSH(arena, &views, dataset);
            } else {
                TG_VEC_PUSH(arena, &upstream, dataset);
            }
        }
        if (next_view == views.count) {
            break;
        }
        inputs = views.items[next_view]->inputs;
        input_count = views.items[next_view++]->input_count;
    }
    flow->views = views.items;
    flow->view_count = views.count;
    flow->upstream = upstream.items;
    flow->upstream_count = upstream.count;
    flow->externals = externals.items;
    flow->external_count = externals.count;
}

static void close_flows(tg_graph_builder *b)
{
    closure c = {.b = b,
                 .visited = TG_NEW_ARRAY(b->arena, size_t, b->datasets.count),
                 .visited_externals = TG_NEW_ARRAY(b->arena, size_t, b->externals.count)};
    for (size_t i = 0; i < b->flows.count; i++) {
        close_flow(&c, b->flows.items[i].flow);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void check_flow_counts(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->flows.count; i++) {
        const tg_flow *flow = b->flows.items[i].flow;
        const tg_dataset *dataset = flow->dataset;
        if (!dataset) {
            continue;
        }
        tg_span span =
            b->flows.items[i].target ? b->flows.items[i].target->span : flow->stmt->name.span;
        if (dataset->kind != TG_DATASET_STREAMING_TABLE && !flow->is_implicit) {
            tg_graph_fail(
                b, flow->file, span, TG_E_MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES,
                "Make the target a streaming table, or put the query into its definition.",
                "flow `%.*s` cannot write the %s `%.*s`: its query is part of its definition",
                TG_SARG(flow->event_name), tg_dataset_kind_name(dataset->kind),
                TG_SARG(dataset->full_name));
        } else if (dataset->flow != flow) {
            tg_graph_fail(b, flow->file, span,
                          TG_E_UNSUPPORTED_FEATURE_MULTI_FLOW_REPLACE_WHERE_TARGET,
                          "Join the queries with UNION ALL in one flow, or give each flow a table.",
                          "table `%.*s` is written by two flows, `%.*s` and `%.*s`; a REPLACE "
                          "WHERE flow must be the only one",
                          TG_SARG(dataset->full_name), TG_SARG(dataset->flow->event_name),
                          TG_SARG(flow->event_name));
        }
    }
}

static void check_datasets_have_flows(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->datasets.count; i++) {
        const tg_dataset *dataset = b->datasets.items[i].dataset;
        if (!tg_dataset_is_view(dataset) && !dataset->flow) {
            tg_graph_fail(
                b, dataset->file, dataset->stmt->name.span, TG_E_PIPELINE_DATASET_WITHOUT_FLOW,
                "Add FLOW REPLACE WHERE ... BY NAME query to it, or a CREATE FLOW that writes it.",
                "no flow writes the %s `%.*s`", tg_dataset_kind_name(dataset->kind),
                TG_SARG(dataset->full_name));
        }
    }
}

static void check_stream(tg_graph_builder *b, tg_flow *flow, const tg_input *input)
{
    if (!input->is_stream) {
        return;
    }
    bool is_view = flow->kind == TG_FLOW_COMPLETE;
    flow->reads_broken = true; /* its query is refused here: analysed, it would be once more */
    tg_graph_fail(
        b, input->file, input->name->span,
        is_view ? TG_E_INVALID_FLOW_QUERY_TYPE_STREAM_MV : TG_E_REPLACE_WHERE_WITH_STREAMING_SOURCE,
        "Leave STREAM out: the flow reads the table as it is.", "%s `%.*s` reads a stream",
        is_view ? "materialized view" : "REPLACE WHERE flow", TG_SARG(flow->event_name));
}

/* What others see may not depend on what they do not see, and is read as it is. */
static void check_persisted_views(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->datasets.count; i++) {
        const tg_dataset *view = b->datasets.items[i].dataset;
        for (size_t j = 0; view->kind == TG_DATASET_VIEW && j < view->input_count; j++) {
            const tg_input *input = &view->inputs[j];
            if (input->is_stream) {
                tg_graph_fail(b, input->file, input->name->span,
                              TG_E_INVALID_FLOW_QUERY_TYPE_STREAM_VIEW,
                              "Leave STREAM out: whoever reads the view reads the table as it is.",
                              "view `%.*s` reads a stream", TG_SARG(view->full_name));
            } else if (input->dataset && input->dataset->kind == TG_DATASET_TEMPORARY_VIEW) {
                tg_graph_fail(b, input->file, input->name->span, TG_E_INVALID_TEMP_OBJ_REFERENCE,
                              "Make both views temporary, or neither.",
                              "view `%.*s` reads the temporary view `%.*s`, which only this "
                              "pipeline knows",
                              TG_SARG(view->full_name), TG_SARG(input->dataset->full_name));
            }
        }
    }
}

static void check_streams(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->flows.count; i++) {
        tg_flow *flow = b->flows.items[i].flow;
        for (size_t j = 0; j < flow->input_count; j++) {
            check_stream(b, flow, &flow->inputs[j]);
        }
        for (size_t v = 0; v < flow->view_count; v++) {
            bool is_checked = flow->views[v]->kind == TG_DATASET_VIEW;
            for (size_t j = 0; !is_checked && j < flow->views[v]->input_count; j++) {
                check_stream(b, flow, &flow->views[v]->inputs[j]);
            }
        }
    }
}

static void check_flow_names(tg_graph_builder *b)
{
    for (size_t i = 0; i < b->flows.count; i++) {
        const tg_flow *flow = b->flows.items[i].flow;
        const tg_dataset *other = tg_map_get(&b->graph->names, flow->full_name);
        if (!flow->is_implicit && other && other != flow->dataset) {
            tg_graph_fail(b, flow->file, flow->stmt->name.span, TG_E_FLOW_NAME_CONFLICTS_WITH_TABLE,
                          "Give the flow another name.",
                          "flow `%.*s` has the name of the %s `%.*s`", TG_SARG(flow->event_name),
                          tg_dataset_kind_name(other->kind), TG_SARG(other->full_name));
        }
    }
}

/* A flow stands behind those it reads from, so one pass is enough; flows of a cycle go too. */
void tg_graph_keep_sound(tg_graph_builder *b)
{
    tg_graph *graph = b->graph;
    bool *is_written = TG_NEW_ARRAY(b->arena, bool, graph->dataset_count);
    size_t count = 0;
    for (size_t i = 0; i < graph->flow_count; i++) {
        tg_flow *flow = graph->flows[i];
        bool is_sound = flow->dataset && flow->dataset->flow == flow && !flow->reads_broken;
        for (size_t j = 0; is_sound && j < flow->view_count; j++) {
            is_sound = !flow->views[j]->reads_broken;
        }
        for (size_t j = 0; is_sound && j < flow->upstream_count; j++) {
            is_sound = is_written[flow->upstream[j]->index];
        }
        if (is_sound) {
            is_written[flow->dataset->index] = true;
            flow->index = count;
            graph->flows[count++] = flow;
        }
    }
    graph->flow_count = count;
}

bool tg_graph_link(tg_graph_builder *b)
{
    set_datasets(b);
    if (b->flows.count > TG_LIMIT_FLOWS) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_LIMIT_EXCEEDED,
                     "the pipeline has %zu flows; at most %d are accepted", b->flows.count,
                     TG_LIMIT_FLOWS);
        tg_diags_add(b->diags, &err);
        return false;
    }
    bool has_all_targets = link_targets(b);
    check_flow_names(b);
    attach_flows(b);
    link_inputs(b);
    order_flows(b);
    close_flows(b);
    check_flow_counts(b);
    if (has_all_targets && !b->has_errors &&
        !b->spec->standalone) { /* else the table that lacks a flow may be the one that was meant */
        check_datasets_have_flows(b);
    }
    check_persisted_views(b);
    check_streams(b);
    return true;
}
