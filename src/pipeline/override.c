/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overrides: the predicate of a REPLACE WHERE flow for one update only. Read from an option or from a
 * file in the shape of the vendor's request; whose they are and whether they parse is settled here,
 * whether their columns exist when the flow is planned. Everything that is wrong is told at once.
 */
#include <yyjson.h>

#include "pipeline/update_int.h"

/* ---- reading --------------------------------------------------------------------------------- */

tg_code tg_override_parse(tg_str text, const char *origin, tg_override *out, tg_error *err)
{
    bool is_quoted = false; /* a name in backquotes may hold anything */
    for (size_t i = 0; i < text.len; i++) {
        is_quoted = is_quoted != (text.ptr[i] == '`');
        if (text.ptr[i] == '=' && !is_quoted) {
            *out = (tg_override){.flow = tg_str_trim(tg_str_sub(text, 0, i)),
                                 .predicate = tg_str_trim(tg_str_sub(text, i + 1, text.len)),
                                 .origin = origin};
            return TG_OK;
        }
    }
    (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s takes FLOW=PREDICATE, not '%.*s'", origin,
                 TG_SARG(text));
    return tg_error_hint(err, "For example: %s \"orders=day = '2024-03-01'\"", origin);
}

static tg_code unknown_key(const char *origin, tg_str key, tg_error *err)
{
    const tg_str keys[] = {TG_S("flow_name"), TG_S("predicate_override")};
    (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s has the unknown key \"%.*s\"", origin,
                 TG_SARG(key));
    tg_str near = tg_str_nearest(key, keys, 2);
    return near.len ? tg_error_hint(err, "Did you mean \"%.*s\"?", TG_SARG(near))
                    : tg_error_hint(err, "Known keys: \"flow_name\" and \"predicate_override\".");
}

static tg_code read_entry(yyjson_val *value, tg_override *out, tg_error *err)
{
    if (!yyjson_is_obj(value)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "%s is not an object", out->origin);
    }
    size_t index, count;
    yyjson_val *key, *member;
    yyjson_obj_foreach(value, index, count, key, member)
    {
        tg_str name = tg_json_text(key);
        bool is_flow = tg_str_eq(name, TG_S("flow_name"));
        if (!is_flow && !tg_str_eq(name, TG_S("predicate_override"))) {
            return unknown_key(out->origin, name, err);
        }
        if (!yyjson_is_str(member) && !yyjson_is_null(member)) {
            TG_FAIL(err, TIDEGATE_INVALID_OPTION, "%s: \"%.*s\" is not a string", out->origin,
                    TG_SARG(name));
        }
        tg_str *field = is_flow ? &out->flow : &out->predicate;
        if (field->ptr) {
            TG_FAIL(err, TIDEGATE_INVALID_OPTION, "%s has the key \"%.*s\" twice", out->origin,
                    TG_SARG(name));
        }
        *field = tg_str_trim(tg_json_text(member));
    }
    return TG_OK;
}

tg_code tg_overrides_from_json(tg_str text, const char *file, tg_arena *arena,
                               tg_override **out_overrides, size_t *out_count, tg_error *err)
{
    struct yyjson_val *root;
    if (tg_json_parse(text, 0, arena, &root, err) != TG_OK) {
        tg_error_locate(err, file, text);
        return err ? err->code : TG_INVALID_DATA;
    }
    if (!yyjson_is_arr(root)) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s is not an array of overrides", file);
        return tg_error_hint(
            err, "Write: [{\"flow_name\": \"FLOW\", \"predicate_override\": \"PREDICATE\"}]");
    }
    tg_override *overrides = TG_NEW_ARRAY(arena, tg_override, yyjson_arr_size(root));
    size_t index, count;
    yyjson_val *value;
    yyjson_arr_foreach(root, index, count, value)
    {
        overrides[index].origin = tg_arena_printf(arena, "%s[%zu]", file, index);
        TG_TRY(read_entry(value, &overrides[index], err));
    }
    *out_overrides = overrides;
    *out_count = yyjson_arr_size(root);
    return TG_OK;
}

/* ---- whose they are -------------------------------------------------------------------------- */

static tg_str short_name(const tg_flow *flow)
{
    return flow->is_implicit ? flow->dataset->name : flow->event_name;
}

static tg_code not_found(const tg_update *u, tg_str word, tg_error *err)
{
    TG_VEC(tg_str) names = {0};
    const tg_flow *writer = NULL;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        bool is_table =
            tg_str_ieq(flow->dataset->name, word) || tg_str_ieq(flow->dataset->full_name, word);
        writer = is_table ? flow : writer;
        if (flow->kind == TG_FLOW_REPLACE_WHERE) {
            TG_VEC_PUSH(u->arena, &names, short_name(flow));
            TG_VEC_PUSH(u->arena, &names, flow->full_name);
        }
    }
    tg_code code = TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FLOW_NOT_FOUND,
                          "`%.*s` is not a flow of this pipeline", TG_SARG(word));
    if (writer) {
        return tg_error_hint(err, "The flow that writes this table is `%.*s`.",
                             TG_SARG(short_name(writer)));
    }
    tg_str near = tg_str_nearest(word, names.items, names.count);
    return near.len ? tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near)) : code;
}

/* NULL: there is none, see err. */
static tg_flow_run *find_flow(tg_update *u, tg_str word, tg_error *err)
{
    tg_name name;
    if (tg_sql_parse_name(word, u->arena, &name, NULL) != TG_OK) {
        (void)not_found(u, word, err);
        return NULL;
    }
    bool is_short = name.count == 1;
    tg_str wanted = name.parts[0].text;
    if (!is_short && tg_catalog_qualify(&u->catalog, &name, u->arena, &wanted, err) != TG_OK) {
        return NULL;
    }
    tg_flow_run *found = NULL;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow *flow = u->graph->flows[i];
        if (!tg_str_ieq(is_short ? short_name(flow) : flow->full_name, wanted)) {
            continue;
        }
        if (found) {
            (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FLOW_NOT_FOUND, "`%.*s` is ambiguous",
                         TG_SARG(word));
            (void)tg_error_hint(err, "Write `%.*s` or `%.*s`.", TG_SARG(found->flow->full_name),
                                TG_SARG(flow->full_name));
            return NULL;
        }
        found = &u->runs[i];
    }
    if (!found) {
        (void)not_found(u, wanted, err);
    }
    return found;
}

static tg_code check_flow(const tg_flow_run *run, const tg_override *override, tg_error *err)
{
    tg_str name = run->flow->full_name;
    if (run->flow->kind != TG_FLOW_REPLACE_WHERE) {
        (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FLOW_NOT_REPLACE_WHERE,
                     "flow %.*s is no REPLACE WHERE flow: it has no predicate to override",
                     TG_SARG(name));
        return tg_error_hint(err, "Only flows with REPLACE WHERE take an override.");
    }
    if (run->override) {
        (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_DUPLICATE_FLOW,
                     "flow %.*s has two overrides: `%.*s` and `%.*s`", TG_SARG(name),
                     TG_SARG(run->override->predicate), TG_SARG(override->predicate));
        return tg_error_hint(err, "Join the two predicates with OR.");
    }
    if (!run->is_selected) {
        (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FLOW_NOT_SELECTED,
                     "flow %.*s has an override, but this update does not refresh it",
                     TG_SARG(name));
        return tg_error_hint(err, "Add %.*s to --refresh, or leave the override out.",
                             TG_SARG(run->flow->dataset->name));
    }
    if (run->is_full) {
        (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FULL_REFRESH,
                     "flow %.*s has an override, but this update refreshes it fully",
                     TG_SARG(name));
        return tg_error_hint(err, "A full refresh takes the declared predicate: leave the override "
                                  "out, or refresh the flow without --full-refresh.");
    }
    return TG_OK;
}

static tg_code apply_one(tg_update *u, const tg_override *override, tg_error *err)
{
    if (override->flow.len == 0 || override->predicate.len == 0) {
        TG_FAIL(err, INVALID_REPLACE_WHERE_OVERRIDE_MISSING_FLOW_OR_PREDICATE,
                "an override lacks its %s (flow: '%.*s', predicate: '%.*s')",
                override->flow.len == 0 ? "flow" : "predicate", TG_SARG(override->flow),
                TG_SARG(override->predicate));
    }
    tg_flow_run *run = find_flow(u, override->flow, err);
    if (!run) {
        return err->code;
    }
    if (!run->is_selected && u->options->retry_of.len) {
        return TG_OK; /* its flow was done by the update that is retried */
    }
    TG_TRY(check_flow(run, override, err));
    run->override = override;
    if (tg_sql_parse_expression(override->predicate, u->arena, &run->override_expr, err) != TG_OK) {
        tg_code code = tg_plan_refuse_override(run->flow->full_name, override->predicate, err);
        tg_override_locate(override, err);
        return code;
    }
    return TG_OK;
}

void tg_override_locate(const tg_override *override, tg_error *err)
{
    tg_error_locate(err, override->origin, override->predicate);
}

/* Limits come first: nothing of a list that is too long is looked at. */
static tg_code check_limits(const tg_update_options *options, tg_error *err)
{
    if (options->override_count > TG_LIMIT_OVERRIDES) {
        TG_FAIL(err, INVALID_REPLACE_WHERE_OVERRIDE_TOO_MANY_OVERRIDES,
                "there are %zu overrides; at most %d are accepted", options->override_count,
                TG_LIMIT_OVERRIDES);
    }
    size_t size = 0;
    for (size_t i = 0; i < options->override_count; i++) {
        size += options->overrides[i].flow.len + options->overrides[i].predicate.len;
    }
    if (size > TG_LIMIT_OVERRIDE_BYTES) {
        TG_FAIL(err, INVALID_REPLACE_WHERE_OVERRIDE_MAX_SIZE_EXCEEDED,
                "names and predicates of the overrides have %zu bytes; at most %d are accepted",
                size, TG_LIMIT_OVERRIDE_BYTES);
    }
    return TG_OK;
}

tg_code tg_update_apply_overrides(tg_update *u)
{
    tg_auto_error tg_error limit = TG_ERROR_INIT;
    tg_code first = check_limits(u->options, &limit);
    if (first != TG_OK) {
        tg_diags_add(u->diags, &limit);
        return first;
    }
    for (size_t i = 0; i < u->options->override_count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        const tg_override *override = &u->options->overrides[i];
        tg_code code = apply_one(u, override, &err);
        if (code != TG_OK) {
            (void)tg_error_context(&err, "in %s", override->origin);
            tg_diags_add(u->diags, &err);
            first = first == TG_OK ? code : first;
        }
    }
    return first;
}
