/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --refresh, --full-refresh, --full-refresh-all, --allow-reset: which flows an update runs, which of
 * them from nothing, and whose rows that may cost. Names are those of tables or flows, short where
 * that is not ambiguous. As in Spark, either list alone leaves all other tables out, and no table
 * stands in both.
 */
#include "pipeline/update_int.h"

/* Once, however often it is named. */
static void select_view(tg_update *u, const tg_dataset *view)
{
    for (size_t i = 0; i < u->view_count; i++) {
        if (u->views[i].dataset == view) {
            return;
        }
    }
    if (!u->views) {
        u->views = TG_NEW_ARRAY(u->arena, tg_view_run, u->graph->dataset_count);
    }
    u->views[u->view_count++].dataset = view;
}

static bool names_flow(const tg_flow *flow, tg_str word, bool is_short)
{
    if (!is_short) {
        return tg_str_ieq(flow->dataset->full_name, word) || tg_str_ieq(flow->full_name, word);
    }
    return tg_str_ieq(flow->dataset->name, word) || tg_str_ieq(flow->event_name, word);
}

static tg_code not_found(tg_update *u, tg_str word, tg_error *err)
{
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        const tg_dataset *dataset = u->graph->datasets[i];
        if (dataset->kind == TG_DATASET_TEMPORARY_VIEW && tg_str_ieq(dataset->name, word)) {
            (void)TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION,
                         "`%.*s` is a temporary view: there is nothing to refresh", TG_SARG(word));
            return tg_error_hint(err, "Select the tables that read it.");
        }
    }
    TG_TRY(tg_update_refuse_inactive(u, word, err));
    TG_VEC(tg_str) names = {0};
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        TG_VEC_PUSH(u->arena, &names, flow->dataset->name);
        TG_VEC_PUSH(u->arena, &names, flow->dataset->full_name);
        TG_VEC_PUSH(u->arena, &names, flow->event_name);
    }
    tg_code code = TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION,
                          "`%.*s` is not a table or flow of this pipeline", TG_SARG(word));
    tg_str nearest = tg_str_nearest(word, names.items, names.count);
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest));
    }
    return code;
}

static tg_code ambiguous(tg_str word, const tg_flow *a, const tg_flow *b, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION, "`%.*s` is ambiguous", TG_SARG(word));
    return tg_error_hint(err, "Write `%.*s` or `%.*s`.", TG_SARG(a->dataset->full_name),
                         TG_SARG(b->dataset->full_name));
}

/* The option that a name stands in, and what its table gets. */
typedef struct selection {
    const char *option;
    const tg_str *names;
    size_t count;
    tg_code (*take)(tg_flow_run *run, tg_str word, tg_error *err);
} selection;

static tg_code take_refresh(tg_flow_run *run, tg_str word, tg_error *err)
{
    (void)word;
    (void)err;
    run->is_selected = true;
    return TG_OK;
}

/* Behind --refresh: what is selected already stands there. */
static tg_code take_full_refresh(tg_flow_run *run, tg_str word, tg_error *err)
{
    if (run->is_selected && !run->is_full) {
        (void)TG_ERR(err, CONFLICTING_PIPELINE_REFRESH_OPTIONS,
                     "table %.*s is selected for a refresh and for a full refresh",
                     TG_SARG(run->flow->dataset->full_name));
        return tg_error_hint(err, "Name `%.*s` in one of --refresh and --full-refresh.",
                             TG_SARG(word));
    }
    run->is_selected = run->is_full = true;
    return TG_OK;
}

/* Behind --full-refresh. A name that does nothing was meant for another table. */
static tg_code take_allowance(tg_flow_run *run, tg_str word, tg_error *err)
{
    if (!run->is_full) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "table %.*s is not refreshed fully",
                     TG_SARG(run->flow->dataset->full_name));
        return tg_error_hint(err, "Name `%.*s` in --full-refresh too, or leave it out.",
                             TG_SARG(word));
    }
    run->allows_reset = true;
    return TG_OK;
}

/* schema.table and `quoted` names are qualified; one part is looked up as it is. NULL: see err. */
static const tg_flow *find_flow(tg_update *u, tg_str word, tg_error *err)
{
    tg_name name;
    if (tg_sql_parse_name(word, u->arena, &name, err) != TG_OK) {
        return NULL;
    }
    bool is_short = name.count == 1;
    tg_str wanted = is_short ? name.parts[0].text : (tg_str){0};
    if (!is_short && tg_catalog_qualify(&u->catalog, &name, u->arena, &wanted, err) != TG_OK) {
        return NULL;
    }
    const tg_flow *found = NULL;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        if (!names_flow(flow, wanted, is_short)) {
            continue;
        }
        if (found && found->dataset != flow->dataset) {
            (void)ambiguous(word, found, flow, err);
            return NULL;
        }
        found = flow;
    }
    if (!found) {
        (void)not_found(u, word, err);
    }
    return found;
}

/* A persisted view by short or full name, which a flow's name goes before. */
static bool select_named_view(tg_update *u, tg_str word)
{
    tg_name name;
    if (tg_sql_parse_name(word, u->arena, &name, NULL) != TG_OK) {
        return false;
    }
    bool is_short = name.count == 1;
    tg_str wanted = name.parts[0].text;
    if (!is_short && tg_catalog_qualify(&u->catalog, &name, u->arena, &wanted, NULL) != TG_OK) {
        return false;
    }
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        if (names_flow(u->graph->flows[i], wanted, is_short)) {
            return false;
        }
    }
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        const tg_dataset *view = u->graph->datasets[i];
        if (view->kind == TG_DATASET_VIEW && !view->found &&
            tg_str_ieq(is_short ? view->name : view->full_name, wanted)) {
            select_view(u, view);
            return true;
        }
    }
    return false;
}

static tg_code select_one(tg_update *u, const selection *list, tg_str word, tg_error *err)
{
    if (!u->options->tells_intervals && select_named_view(u, word)) {
        return TG_OK;
    }
    const tg_flow *found = find_flow(u, word, err);
    if (!found) {
        return err->code;
    }
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        if (u->graph->flows[i]->dataset == found->dataset) {
            TG_TRY(list->take(&u->runs[i], word, err));
        }
    }
    return TG_OK;
}

/* Everything that is wrong with the names of a list is told; the first error's code. */
static tg_code select_list(tg_update *u, const selection *list)
{
    tg_code first = TG_OK;
    for (size_t i = 0; i < list->count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_code code = select_one(u, list, list->names[i], &err);
        if (code != TG_OK) {
            (void)tg_error_context(&err, "in %s", list->option);
            tg_error_locate(&err, list->option, list->names[i]);
            tg_diags_add(u->diags, &err);
            first = first == TG_OK ? code : first;
        }
    }
    return first;
}

tg_code tg_update_check_options(const tg_update_options *options, tg_error *err)
{
    const char *other = options->full_refresh_count ? "--full-refresh"
                        : options->refresh_count    ? "--refresh"
                                                    : NULL;
    if (!options->full_refresh_all || !other) {
        return TG_OK;
    }
    (void)TG_ERR(err, CONFLICTING_PIPELINE_REFRESH_OPTIONS,
                 "--full-refresh-all option conflicts with %s", other);
    return tg_error_hint(err, "It refreshes all tables fully: leave it out, or leave out %s.",
                         other);
}

tg_code tg_update_select(tg_update *u)
{
    const tg_update_options *options = u->options;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_code first = tg_update_check_options(options, &err);
    if (first != TG_OK) {
        tg_diags_add(u->diags, &err);
        return first;
    }
    bool is_all = options->refresh_count == 0 && options->full_refresh_count == 0;
    for (size_t i = 0; is_all && i < u->graph->flow_count; i++) {
        u->runs[i].is_selected = true;
        u->runs[i].is_full = options->full_refresh_all;
    }
    for (size_t i = 0; is_all && i < u->graph->dataset_count; i++) {
        const tg_dataset *view = u->graph->datasets[i];
        if (view->kind == TG_DATASET_VIEW && !view->found) {
            select_view(u, view);
        }
    }
    const selection lists[] = {
        {.option = options->selection_name ? options->selection_name : "--refresh",
         .names = options->refresh,
         .count = options->refresh_count,
         .take = take_refresh},
        {.option = "--full-refresh",
         .names = options->full_refresh,
         .count = options->full_refresh_count,
         .take = take_full_refresh},
        {.option = "--allow-reset",
         .names = options->allow_reset,
         .count = options->allow_reset_count,
         .take = take_allowance},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        tg_code code = select_list(u, &lists[i]);
        first = first == TG_OK ? code : first;
    }
    return first;
}
