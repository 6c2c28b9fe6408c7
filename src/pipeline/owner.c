/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table belongs to the pipeline whose id stands in its properties; a standalone table to itself.
 * Who else defines it is refused, unless he takes it over (--adopt); a standalone table then is none
 * any more, and the other way round.
 */
#include "pipeline/owner.h"

#include "pipeline/properties.h"
#include "pipeline/update_int.h"

tg_ownership tg_ownership_of(const tg_table_facts *facts)
{
    const tg_property *properties = facts->properties;
    size_t count = facts->property_count;
    tg_ownership own = {
        .owner = tg_property_get(properties, count, TG_PROPERTY_OWNER),
        .kind = tg_property_get(properties, count, TG_PROPERTY_KIND),
        .definition = tg_property_get(properties, count, TG_PROPERTY_DEFINITION),
        .flow = tg_property_get(properties, count, TG_PROPERTY_FLOW),
        .schedule = tg_property_get(properties, count, TG_PROPERTY_SCHEDULE),
        .needs_refresh = tg_property_get(properties, count, TG_PROPERTY_NEEDS_REFRESH).len > 0,
    };
    own.is_standalone =
        own.definition.len > 0 && own.owner.len > 0 && tg_str_eq(own.owner, facts->table_id);
    return own;
}

/* ---- taking over ----------------------------------------------------------------------------- */

static bool names_dataset(const tg_update *u, tg_str word, const tg_dataset *dataset,
                          tg_arena *arena)
{
    tg_name name;
    tg_str full_name;
    if (tg_sql_parse_name(word, arena, &name, NULL) != TG_OK) {
        return false;
    }
    return name.count == 1
               ? tg_str_ieq(name.parts[0].text, dataset->name)
               : tg_catalog_qualify(&u->catalog, &name, arena, &full_name, NULL) == TG_OK &&
                     tg_str_ieq(full_name, dataset->full_name);
}

static bool is_adopted(const tg_update *u, const tg_flow_run *run)
{
    for (size_t i = 0; i < u->options->adopt_count; i++) {
        if (names_dataset(u, u->options->adopt[i], run->flow->dataset, run->arena)) {
            return true;
        }
    }
    return false;
}

static tg_code check_adopt(tg_update *u, tg_str word, tg_error *err)
{
    TG_VEC(tg_str) names = {0};
    for (size_t i = 0; i < u->graph->dataset_count; i++) {
        const tg_dataset *dataset = u->graph->datasets[i];
        if (dataset->kind != TG_DATASET_TEMPORARY_VIEW) {
            if (names_dataset(u, word, dataset, u->arena)) {
                return TG_OK;
            }
            TG_VEC_PUSH(u->arena, &names, dataset->name);
            TG_VEC_PUSH(u->arena, &names, dataset->full_name);
        }
    }
    tg_code code = TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION, "`%.*s` is not a table of this pipeline",
                          TG_SARG(word));
    tg_str nearest = tg_str_nearest(word, names.items, names.count);
    return nearest.len ? tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest)) : code;
}

tg_code tg_update_check_adopt(tg_update *u)
{
    tg_code first = TG_OK;
    for (size_t i = 0; i < u->options->adopt_count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_code code = check_adopt(u, u->options->adopt[i], &err);
        if (code != TG_OK) {
            (void)tg_error_context(&err, "in --adopt");
            tg_diags_add(u->diags, &err);
            first = first == TG_OK ? code : first;
        }
    }
    return first;
}

/* ---- whose it is ----------------------------------------------------------------------------- */

static tg_code refuse_owner(const tg_update *u, const tg_dataset *dataset, const tg_ownership *own,
                            tg_error *err)
{
    bool is_statement = u->graph->spec->standalone != NULL;
    const char *whose = own->is_standalone    ? "is defined by a statement outside of pipelines"
                        : own->owner.len == 0 ? "was not made by "
                        : is_statement        ? "belongs to a pipeline"
                                              : "belongs to another pipeline";
    const char *end = own->owner.len ? "" : is_statement ? "such a statement" : "this pipeline";
    (void)TG_ERR(err, TIDEGATE_TABLE_NOT_OWNED, "table `%.*s` exists already and %s%s",
                 TG_SARG(dataset->full_name), whose, end);
    (void)tg_error_at(err, dataset->stmt->name.span);
    if (own->owner.len && !own->is_standalone) {
        tg_str mine = u->result->pipeline_id;
        (void)tg_error_detail(err, "Its pipeline has the id %.*s%s%.*s.", TG_SARG(own->owner),
                              is_statement ? "" : ", this one ",
                              TG_SARG(is_statement ? TG_S("")
                                      : mine.len   ? mine
                                                   : TG_S("none yet")));
    }
    return tg_error_hint(err,
                         "Take it over with --adopt %.*s, choose another name or warehouse, or "
                         "drop the table.",
                         TG_SARG(dataset->name));
}

static tg_code refuse_kind(const tg_dataset *dataset, tg_str was, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_DATASET_KIND_CHANGED,
                 "table `%.*s` was made as a %s and cannot become a %s",
                 TG_SARG(dataset->full_name),
                 tg_str_eq(was, TG_S("STREAMING_TABLE")) ? "streaming table" : "materialized view",
                 tg_dataset_kind_name(dataset->kind));
    (void)tg_error_at(err, dataset->stmt->name.span);
    return tg_error_hint(err, "Drop the table first, or give the definition another name.");
}

static tg_str value_of(const tg_table_facts *facts, tg_str key)
{
    for (size_t i = 0; i < facts->property_count; i++) {
        if (tg_str_ieq(facts->properties[i].key, key)) {
            return facts->properties[i].value;
        }
    }
    return (tg_str){0};
}

/*
 * A statement works on the table and the definition that it found: somebody else's came between when
 * they are not there any more.
 */
static tg_code check_standalone(const tg_standalone *standalone, const tg_table_facts *facts,
                                const tg_dataset *dataset, tg_error *err)
{
    bool is_same =
        facts->exists ? tg_str_eq(facts->table_id, standalone->table_id) : !standalone->is_refresh;
    for (size_t i = 0; is_same && standalone->is_refresh && i < standalone->property_count; i++) {
        const tg_property *kept = &standalone->properties[i];
        is_same = tg_str_eq(value_of(facts, kept->key), kept->value);
    }
    if (!is_same) {
        TG_FAIL(err, TIDEGATE_DEFINITION_CHANGED,
                "table `%.*s` was defined anew, dropped or made while the statement worked on it",
                TG_SARG(dataset->full_name));
    }
    return TG_OK;
}

static tg_code judge(tg_update *u, const tg_flow_run *run, tg_error *err)
{
    const tg_table_facts *facts = &run->target->facts;
    const tg_dataset *dataset = run->flow->dataset;
    const tg_standalone *standalone = u->graph->spec->standalone;
    if (standalone) {
        TG_TRY(check_standalone(standalone, facts, dataset, err));
    }
    if (!facts->exists) {
        return TG_OK;
    }
    tg_ownership own = tg_ownership_of(facts);
    bool is_mine = own.owner.len > 0 && tg_str_eq(own.owner, u->result->pipeline_id);
    if (!is_mine && !is_adopted(u, run)) {
        return refuse_owner(u, dataset, &own, err);
    }
    if (own.kind.len &&
        !tg_str_eq(own.kind, tg_str_from(tg_dataset_kind_event_name(dataset->kind)))) {
        return refuse_kind(dataset, own.kind, err);
    }
    return TG_OK;
}

tg_code tg_owner_check(tg_update *u, const tg_flow_run *run, tg_error *err)
{
    tg_code code = judge(u, run, err);
    if (code != TG_OK) { /* the table's file is not always the flow's */
        const tg_source_file *file = run->flow->dataset->file;
        tg_error_locate(err, file->shown_name, file->text);
    }
    return code;
}

/* ---- what the table says --------------------------------------------------------------------- */

void tg_owner_ask(tg_update *u, tg_flow_run *run)
{
    /* The first two go with any refresh (its definition says CLUSTER BY again); a standalone table's
     * own are wanted where it is defined, and stay as they are otherwise. */
    static const tg_str gone[] = {
        {TG_PROPERTY_NEEDS_REFRESH, sizeof(TG_PROPERTY_NEEDS_REFRESH) - 1},
        {TG_PROPERTY_CLUSTER_BY, sizeof(TG_PROPERTY_CLUSTER_BY) - 1},
        {TG_PROPERTY_DEFINITION, sizeof(TG_PROPERTY_DEFINITION) - 1},
        {TG_PROPERTY_FLOW, sizeof(TG_PROPERTY_FLOW) - 1},
        {TG_PROPERTY_SCHEDULE, sizeof(TG_PROPERTY_SCHEDULE) - 1},
    };
    const tg_dataset *dataset = run->flow->dataset;
    const tg_standalone *standalone = u->graph->spec->standalone;
    bool keeps = standalone && standalone->is_refresh;
    tg_property *properties = TG_NEW_ARRAY(run->arena, tg_property, dataset->property_count + 1);
    tg_copy_bytes(properties, dataset->properties, dataset->property_count * sizeof(*properties));
    properties[dataset->property_count] =
        (tg_property){.key = TG_S(TG_PROPERTY_OWNER), .value = u->result->pipeline_id};
    run->input.properties = properties;
    run->input.property_count = dataset->property_count + 1;
    run->input.unwanted_properties = gone;
    run->input.unwanted_count = keeps ? 2 : sizeof(gone) / sizeof(*gone);
}

tg_str tg_owner_new_table_id(const tg_update *u, const tg_flow_run *run)
{
    const tg_standalone *standalone = u->graph->spec->standalone;
    if (standalone) {
        return standalone->table_id;
    }
    char table_id[37];
    u->context->env->uuid(u->context->env->self, table_id);
    return tg_str_copy(run->arena, tg_str_from(table_id));
}
