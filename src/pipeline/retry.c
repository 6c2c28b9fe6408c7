/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing what a retry runs. Updates are looked at from the newest one backwards, so that what
 * later updates did is known when an older one is judged.
 */
#include "pipeline/retry.h"

typedef TG_VEC(tg_str) name_list;

typedef struct chooser {
    tg_arena *arena;
    bool is_explicit, allows_clock_back;
    tg_map succeeded; /* flow -> the later update that refreshed it, in whatever way */
    tg_map refreshed; /* flow -> the same, with its own predicate */
    TG_VEC(const tg_logged_update *) refused;
    TG_VEC(const tg_logged_update *) others; /* of other environments than the chosen one's */
    tg_retry *out;
} chooser;

/* ---- names ----------------------------------------------------------------------------------- */

/* The last part of a name, without its quotes. */
static tg_str last_part(tg_str name)
{
    size_t start = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < name.len; i++) {
        is_quoted = is_quoted != (name.ptr[i] == '`');
        if (name.ptr[i] == '.' && !is_quoted) {
            start = i + 1;
        }
    }
    tg_str part = tg_str_sub(name, start, name.len);
    bool has_quotes = part.len >= 2 && part.ptr[0] == '`' && part.ptr[part.len - 1] == '`';
    return has_quotes ? tg_str_sub(part, 1, part.len - 1) : part;
}

/* Maybe of another flow with the same last name: then the flow is taken for one with an override. */
static bool has_override(const tg_logged_update *update, const tg_logged_flow *flow)
{
    for (size_t i = 0; i < update->override_count; i++) {
        if (tg_str_ieq(last_part(update->overrides[i].name), last_part(flow->flow_name))) {
            return true;
        }
    }
    return false;
}

/* A full name as SQL reads it. */
static tg_str quoted_name(tg_str full_name, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_name name = tg_catalog_parts(full_name, arena);
    for (size_t i = 0; i < name.count; i++) {
        tg_buf_addz(&text, i ? "." : "");
        tg_sql_print_ident(name.parts[i].text, &text);
    }
    return tg_buf_take(&text, arena);
}

/* ---- one update ------------------------------------------------------------------------------ */

static bool is_unfinished(const tg_logged_flow *flow)
{
    return !tg_str_eq(flow->status, TG_S("COMPLETED")) &&
           !tg_str_eq(flow->status, TG_S("EXCLUDED"));
}

/*
 * Was the update refused for what was asked of it: a predicate, a reset that is not allowed? Then it
 * has touched nothing, and asked for again would be refused again.
 */
static bool was_refused(const tg_logged_update *update)
{
    static const tg_str classes[] = {
        {"INVALID_REPLACE_WHERE_OVERRIDE", sizeof("INVALID_REPLACE_WHERE_OVERRIDE") - 1},
        {"TABLE_NOT_RESETTABLE", sizeof("TABLE_NOT_RESETTABLE") - 1},
        {"TIDEGATE_RESET_LOSES_ROWS", sizeof("TIDEGATE_RESET_LOSES_ROWS") - 1},
    };
    for (size_t i = 0; i < update->flow_count; i++) {
        if (tg_str_eq(update->flows[i].status, TG_S("COMPLETED"))) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        if (tg_str_starts(update->error_class, classes[i])) {
            return true;
        }
    }
    return false;
}

static void keep_successes(chooser *c, const tg_logged_update *update)
{
    for (size_t i = 0; i < update->flow_count && !update->validate_only; i++) {
        const tg_logged_flow *flow = &update->flows[i];
        if (!tg_str_eq(flow->status, TG_S("COMPLETED"))) {
            continue;
        }
        if (!tg_map_has(&c->succeeded, flow->flow_name)) {
            (void)tg_map_put(&c->succeeded, flow->flow_name, (void *)(uintptr_t)update);
        }
        if (!has_override(update, flow)) {
            (void)tg_map_put(&c->refreshed, flow->flow_name, (void *)(uintptr_t)update);
        }
    }
}

static tg_code overtaken(const chooser *c, const tg_logged_update *update,
                         const tg_logged_flow *flow, tg_error *err)
{
    const tg_logged_update *later = tg_map_get(&c->succeeded, flow->flow_name);
    (void)TG_ERR(
        err, TIDEGATE_RETRY_OVERTAKEN,
        "flow %.*s of update %.*s was refreshed since, by update %.*s with the clock %.*s: "
        "a retry would go back to the clock %.*s",
        TG_SARG(flow->flow_name), TG_SARG(update->update_id), TG_SARG(later->update_id),
        TG_SARG(later->now), TG_SARG(update->now));
    return tg_error_hint(err,
                         "Refresh it as of now: tidegate run. If the older clock is meant, add "
                         "--allow-clock-back.");
}

static tg_code check_repeatable(const tg_logged_update *update, tg_error *err)
{
    const char *what = update->full_refresh || update->full_refresh_count ? "a full refresh"
                       : update->reset_checkpoint_count                   ? "a reset of checkpoints"
                                                                          : NULL;
    if (!what) {
        return TG_OK;
    }
    (void)TG_ERR(err, UNSUPPORTED_FEATURE, "update %.*s had %s: that cannot be retried yet",
                 TG_SARG(update->update_id), what);
    return tg_error_hint(err, "Run it again as it was, with --now %.*s.", TG_SARG(update->now));
}

/* What of an update is not done. */
typedef struct remains {
    name_list tables, done;
    const tg_logged_flow *late; /* one that a later update refreshed; NULL: none */
} remains;

static remains remains_of(const chooser *c, const tg_logged_update *update)
{
    remains left = {0};
    for (size_t i = 0; i < update->flow_count && !update->validate_only; i++) {
        const tg_logged_flow *flow = &update->flows[i];
        if (!is_unfinished(flow)) {
            continue;
        }
        bool is_done = !c->is_explicit && !c->allows_clock_back && !has_override(update, flow) &&
                       tg_map_has(&c->refreshed, flow->flow_name);
        if (is_done) {
            TG_VEC_PUSH(c->arena, &left.done, flow->flow_name);
            continue;
        }
        left.late = !left.late && tg_map_has(&c->succeeded, flow->flow_name) ? flow : left.late;
        tg_str table = quoted_name(flow->dataset_name, c->arena);
        if (!tg_str_is_in(table, left.tables.items, left.tables.count)) {
            TG_VEC_PUSH(c->arena, &left.tables, table);
        }
    }
    return left;
}

/* Is there something of the update to run again? */
static tg_code choose(chooser *c, const tg_logged_update *update, bool *out_chosen, tg_error *err)
{
    remains left = remains_of(c, update);
    *out_chosen = c->is_explicit || left.tables.count > 0;
    if (!*out_chosen) {
        return TG_OK;
    }
    if (left.late && !c->allows_clock_back) {
        return overtaken(c, update, left.late, err);
    }
    if (left.tables.count) {
        TG_TRY(check_repeatable(update, err));
    }
    tg_override *overrides = TG_NEW_ARRAY(c->arena, tg_override, update->override_count);
    for (size_t i = 0; i < update->override_count; i++) {
        overrides[i] = (tg_override){.flow = update->overrides[i].name,
                                     .predicate = update->overrides[i].value,
                                     .origin = "the update that is retried"};
    }
    tg_param *params = TG_NEW_ARRAY(c->arena, tg_param, update->parameter_count);
    for (size_t i = 0; i < update->parameter_count; i++) {
        params[i] = (tg_param){.name = update->parameters[i].name,
                               .value = update->parameters[i].value,
                               .origin = "the update that is retried"};
    }
    *c->out = (tg_retry){.update = update,
                         .tables = left.tables.items,
                         .table_count = left.tables.count,
                         .overrides = overrides,
                         .override_count = update->override_count,
                         .params = params,
                         .param_count = update->parameter_count,
                         .done = left.done.items,
                         .done_count = left.done.count};
    return TG_OK;
}

/* ---- environments ---------------------------------------------------------------------------- */

static bool is_same_environment(const tg_logged_update *a, const tg_logged_update *b)
{
    return tg_str_ieq(a->catalog, b->catalog) && tg_str_ieq(a->schema, b->schema);
}

static bool is_of(const tg_retry_request *request, const tg_logged_update *update)
{
    return (!request->catalog.len || tg_str_ieq(request->catalog, update->catalog)) &&
           (!request->schema.len || tg_str_ieq(request->schema, update->schema));
}

/* Of an environment that has none yet: who asks for the newest is told that it is not all. */
static void keep_other(chooser *c, const tg_logged_update *update)
{
    bool is_known = is_same_environment(update, c->out->update);
    for (size_t i = 0; i < c->others.count; i++) {
        is_known = is_known || is_same_environment(update, c->others.items[i]);
    }
    if (!is_known && remains_of(c, update).tables.count > 0) {
        TG_VEC_PUSH(c->arena, &c->others, update);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static tg_code not_found(const tg_past_update *past, size_t count, const tg_retry_request *request,
                         tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const tg_logged_update *update = past[i].update;
        if (tg_str_istarts(update->update_id, request->id)) {
            (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE,
                         "update %.*s is of the environment %.*s.%.*s, not of the one asked for",
                         TG_SARG(update->update_id), TG_SARG(update->catalog),
                         TG_SARG(update->schema));
            return tg_error_hint(err, "Leave out --catalog and --schema: an update is retried in "
                                      "its own environment.");
        }
    }
    (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "no update has the id '%.*s'", TG_SARG(request->id));
    return tg_error_hint(err, "tidegate history lists them.");
}

static tg_code find_explicit(const tg_past_update *past, size_t count,
                             const tg_retry_request *request, const tg_past_update **out,
                             tg_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!tg_str_istarts(past[i].update->update_id, request->id) ||
            !is_of(request, past[i].update)) {
            continue;
        }
        if (*out) {
            (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE,
                         "more than one update has an id that begins with '%.*s'",
                         TG_SARG(request->id));
            return tg_error_hint(err, "Give more of it; tidegate history lists them.");
        }
        *out = &past[i];
    }
    if (!*out) {
        return not_found(past, count, request, err);
    }
    if ((*out)->is_running) {
        (void)TG_ERR(err, TIDEGATE_UPDATE_RUNNING, "update %.*s is still running",
                     TG_SARG((*out)->update->update_id));
        return tg_error_hint(err, "Retry it when it has ended.");
    }
    return TG_OK;
}

/* Without an id: the newest that is left; behind it, what is left of other environments. */
static tg_code look_at(chooser *c, const tg_retry_request *request, const tg_past_update *past,
                       bool *is_chosen, tg_error *err)
{
    if (!is_of(request, past->update)) {
        return TG_OK;
    }
    if (was_refused(past->update)) {
        if (!*is_chosen) {
            TG_VEC_PUSH(c->arena, &c->refused, past->update);
        }
        return TG_OK;
    }
    if (past->is_running) {
        return TG_OK;
    }
    if (*is_chosen) {
        keep_other(c, past->update);
        return TG_OK;
    }
    return choose(c, past->update, is_chosen, err);
}

tg_code tg_retry_plan(const tg_past_update *past, size_t past_count,
                      const tg_retry_request *request, tg_arena *arena, tg_retry *out,
                      tg_error *err)
{
    *out = (tg_retry){0};
    chooser c = {.arena = arena,
                 .is_explicit = request->id.len > 0,
                 .allows_clock_back = request->allow_clock_back,
                 .out = out};
    tg_map_init(&c.succeeded, arena);
    tg_map_init(&c.refreshed, arena);
    const tg_past_update *wanted = NULL;
    if (c.is_explicit) {
        TG_TRY(find_explicit(past, past_count, request, &wanted, err));
    }
    bool is_chosen = false;
    for (size_t i = 0; i < past_count && !(is_chosen && wanted); i++) {
        if (!wanted) {
            TG_TRY(look_at(&c, request, &past[i], &is_chosen, err));
        } else if (wanted == &past[i]) {
            TG_TRY(choose(&c, past[i].update, &is_chosen, err));
        }
        keep_successes(&c, past[i].update);
    }
    out->refused = c.refused.items;
    out->refused_count = c.refused.count;
    out->others = c.others.items;
    out->other_count = c.others.count;
    return TG_OK;
}
