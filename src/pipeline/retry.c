/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing what a retry runs. Updates are looked at from the newest one backwards, so that what
 * later updates did is known when an older one is judged.
 */
#include "pipeline/retry.h"

typedef struct chooser {
    tg_arena *arena;
    bool is_explicit, allows_clock_back;
    tg_map succeeded; /* flow -> the later update that refreshed it, in whatever way */
    tg_map refreshed; /* flow -> the same, with its own predicate */
    TG_VEC(const tg_logged_update *) refused;
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

/* Is there something of the update to run again? */
static tg_code choose(chooser *c, const tg_logged_update *update, bool *out_chosen, tg_error *err)
{
    TG_VEC(tg_str) tables = {0};
    TG_VEC(tg_str) done = {0};
    const tg_logged_flow *late = NULL;
    for (size_t i = 0; i < update->flow_count && !update->validate_only; i++) {
        const tg_logged_flow *flow = &update->flows[i];
        if (!is_unfinished(flow)) {
            continue;
        }
        bool is_done = !c->is_explicit && !c->allows_clock_back && !has_override(update, flow) &&
                       tg_map_has(&c->refreshed, flow->flow_name);
        if (is_done) {
            TG_VEC_PUSH(c->arena, &done, flow->flow_name);
            continue;
        }
        late = !late && tg_map_has(&c->succeeded, flow->flow_name) ? flow : late;
        tg_str table = quoted_name(flow->dataset_name, c->arena);
        if (!tg_str_is_in(table, tables.items, tables.count)) {
            TG_VEC_PUSH(c->arena, &tables, table);
        }
    }
    *out_chosen = c->is_explicit || tables.count > 0;
    if (!*out_chosen) {
        return TG_OK;
    }
    if (late && !c->allows_clock_back) {
        return overtaken(c, update, late, err);
    }
    if (tables.count) {
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
                         .tables = tables.items,
                         .table_count = tables.count,
                         .overrides = overrides,
                         .override_count = update->override_count,
                         .params = params,
                         .param_count = update->parameter_count,
                         .done = done.items,
                         .done_count = done.count};
    return TG_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static tg_code find_explicit(const tg_past_update *past, size_t count, tg_str id,
                             const tg_past_update **out, tg_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!tg_str_istarts(past[i].update->update_id, id)) {
            continue;
        }
        if (*out) {
            (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE,
                         "more than one update has an id that begins with '%.*s'", TG_SARG(id));
            return tg_error_hint(err, "Give more of it; tidegate history lists them.");
        }
        *out = &past[i];
    }
    if (!*out) {
        (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "no update has the id '%.*s'", TG_SARG(id));
        return tg_error_hint(err, "tidegate history lists them.");
    }
    if ((*out)->is_running) {
        (void)TG_ERR(err, TIDEGATE_UPDATE_RUNNING, "update %.*s is still running",
                     TG_SARG((*out)->update->update_id));
        return tg_error_hint(err, "Retry it when it has ended.");
    }
    return TG_OK;
}

tg_code tg_retry_plan(const tg_past_update *past, size_t past_count, tg_str id,
                      bool allow_clock_back, tg_arena *arena, tg_retry *out, tg_error *err)
{
    *out = (tg_retry){0};
    chooser c = {.arena = arena,
                 .is_explicit = id.len > 0,
                 .allows_clock_back = allow_clock_back,
                 .out = out};
    tg_map_init(&c.succeeded, arena);
    tg_map_init(&c.refreshed, arena);
    const tg_past_update *wanted = NULL;
    if (c.is_explicit) {
        TG_TRY(find_explicit(past, past_count, id, &wanted, err));
    }
    bool is_chosen = false;
    for (size_t i = 0; i < past_count && !is_chosen; i++) {
        if (!wanted && was_refused(past[i].update)) {
            TG_VEC_PUSH(arena, &c.refused, past[i].update);
        } else if ((!wanted || wanted == &past[i]) && !past[i].is_running) {
            TG_TRY(choose(&c, past[i].update, &is_chosen, err));
        }
        keep_successes(&c, past[i].update);
    }
    out->refused = c.refused.items;
    out->refused_count = c.refused.count;
    return TG_OK;
}
