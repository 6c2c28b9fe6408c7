/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --refresh: which flows an update runs. Names are those of tables or flows, short where that is
 * not ambiguous.
 */
#include "pipeline/update_int.h"

static bool names_flow(const tg_flow *flow, tg_str word, bool is_short)
{
    if (!is_short) {
        return tg_str_ieq(flow->dataset->full_name, word) || tg_str_ieq(flow->full_name, word);
    }
    return tg_str_ieq(flow->dataset->name, word) || tg_str_ieq(flow->event_name, word);
}

static tg_code not_found(const tg_update *u, tg_str word, tg_error *err)
{
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        const tg_dataset *dataset = u->graph->datasets[i];
        if (dataset->kind == TG_DATASET_TEMPORARY_VIEW && tg_str_ieq(dataset->name, word)) {
            (void)TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION,
                         "`%.*s` is a temporary view: there is nothing to refresh", TG_SARG(word));
            return tg_error_hint(err, "Select the tables that read it.");
        }
    }
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

/* schema.table and `quoted` names are qualified; one part is looked up as it is. */
static tg_code select_one(tg_update *u, tg_str word, tg_error *err)
{
    tg_name name;
    TG_TRY(tg_sql_parse_name(word, u->arena, &name, err));
    bool is_short = name.count == 1;
    tg_str wanted = is_short ? name.parts[0].text : (tg_str){0};
    if (!is_short) {
        TG_TRY(tg_catalog_qualify(&u->catalog, &name, u->arena, &wanted, err));
    }
    const tg_flow *found = NULL;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        if (!names_flow(flow, wanted, is_short)) {
            continue;
        }
        if (found && found->dataset != flow->dataset) {
            return ambiguous(word, found, flow, err);
        }
        found = flow;
        u->runs[i].is_selected = true;
    }
    return found ? TG_OK : not_found(u, word, err);
}

tg_code tg_update_select(tg_update *u)
{
    for (size_t i = 0; u->options->refresh_count == 0 && i < u->graph->flow_count; i++) {
        u->runs[i].is_selected = true;
    }
    const char *option = u->options->selection_name ? u->options->selection_name : "--refresh";
    tg_code first = TG_OK;
    for (size_t i = 0; i < u->options->refresh_count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_code code = select_one(u, u->options->refresh[i], &err);
        if (code != TG_OK) {
            (void)tg_error_context(&err, "in %s", option);
            tg_error_locate(&err, option, u->options->refresh[i]);
            tg_diags_add(u->diags, &err);
            first = first == TG_OK ? code : first;
        }
    }
    return first;
}
