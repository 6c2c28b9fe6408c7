/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards: what a refresh must not do to a table unless somebody said so (design 4.5, 4.10).
 *
 * Reset guard: a full refresh must not take rows that it does not bring back: those outside the
 * window. Shrink guard: a refresh must not clear most of a large window, as happens when a source
 * arrives empty. Clock guard: a clock that goes back must not pull rows into the window that had left
 * it. All three are judged for the plan that stands, so again after each lost race. The first and the
 * last are judged by the analysis already: then no flow of the update runs.
 */
#include "pipeline/update_int.h"

#include "pipeline/properties.h"

enum { SHRINK_ROWS_MIN = 1000 };

/* As the table will have it: the definition's, else its own. */
static tg_str property_of(const tg_refresh_input *input, const char *key)
{
    tg_str wanted = tg_property_get(input->properties, input->property_count, key);
    return wanted.ptr
               ? wanted
               : tg_property_get(input->target.properties, input->target.property_count, key);
}

/* For messages. */
static tg_str window_text(const tg_flow_run *run)
{
    return run->plan.window.len ? run->plan.window : TG_S("true");
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- reset ----------------------------------------------------------------------------------- */

static tg_code not_resettable(const tg_flow_run *run, tg_error *err)
{
    tg_str table = run->flow->dataset->full_name;
    (void)TG_ERR(err, TABLE_NOT_RESETTABLE,
                 "%.*s: Table is not resettable, so it cannot be contained in fullRefreshTables in "
                 "the refresh selection",
                 TG_SARG(table));
    return tg_error_hint(
        err,
        "It has pipelines.reset.allowed = false: refresh it without %s, or set the "
        "property to true first.",
        run->update->graph->spec->standalone ? "FULL" : "--full-refresh");
}

static tg_code loses_rows(const tg_flow_run *run, int64_t lost, tg_error *err)
{
    tg_str table = run->flow->dataset->full_name, window = run->plan.window;
    (void)TG_ERR(err, TIDEGATE_RESET_LOSES_ROWS,
                 "a full refresh of %.*s would lose %lld row%s outside its window `%.*s`",
                 TG_SARG(table), (long long)lost, plural(lost), TG_SARG(window));
    (void)tg_error_detail(err, "A full refresh empties the table and brings back the rows of its "
                               "window only.");
    if (run->update->graph->spec->standalone) { /* the user is where statements are written */
        return tg_error_hint(
            err,
            "A refresh without FULL recomputes the window alone. To lose the rows run the "
            "statement "
            "in tidegate sql --allow-reset %.*s, or give the table pipelines.reset.allowed = true; "
            "they can be had back with: RESTORE TABLE %.*s TO VERSION AS OF %lld",
            TG_SARG(table), TG_SARG(table), (long long)run->input.target.version);
    }
    return tg_error_hint(
        err,
        "A refresh without --full-refresh recomputes the window alone. To lose the rows say "
        "--allow-reset %.*s, or give the table pipelines.reset.allowed = true; they can be had "
        "back "
        "with: tidegate restore %.*s --version %lld",
        TG_SARG(table), TG_SARG(table), (long long)run->input.target.version);
}

/* Rows of the table that the window does not hold, so that nothing would bring them back. */
static tg_code count_lost(const tg_flow_run *run, int64_t *out, tg_error *err)
{
    const tg_refresh_input *input = &run->input;
    const tg_bexpr *window;
    int64_t all, inside = 0;
    *out = 0;
    if (!input->target.exists || input->kind != TG_FLOW_REPLACE_WHERE) {
        return TG_OK; /* a view has no rows of its own */
    }
    TG_TRY(tg_update_count_target(run, NULL, &all, err));
    if (all > 0 && tg_plan_target_window(input, run->plan_arena, &window)) {
        TG_TRY(tg_update_count_target(run, window, &inside, err));
    }
    *out = all - inside;
    return TG_OK;
}

/* --full-refresh-all: the table is refreshed as on any other day. */
static void skip_reset(tg_update *u, tg_flow_run *run, int64_t lost)
{
    run->is_full = run->input.is_full = run->result->is_full_refresh = false;
    tg_str table = run->flow->dataset->full_name;
    if (!run->input.target.exists) {
        return; /* its first refresh is the same either way */
    }
    tg_str why = lost ? tg_str_printf(run->arena, "%lld row%s outside its window would be lost",
                                      (long long)lost, plural(lost))
                      : TG_S("pipelines.reset.allowed is false");
    tg_update_event_warning(u, run, "RESET_SKIPPED",
                            tg_str_printf(run->arena,
                                          "Table %.*s is refreshed without a reset: %.*s.",
                                          TG_SARG(table), TG_SARG(why)));
}

static tg_code guard_reset(tg_update *u, tg_flow_run *run, bool *out_again, tg_error *err)
{
    bool is_same_version = run->is_reset_judged && run->input.target.exists &&
                           run->reset_judged_version == run->input.target.version;
    if (!run->input.is_full || is_same_version) {
        return TG_OK;
    }
    tg_str allowed = property_of(&run->input, "pipelines.reset.allowed");
    bool is_never = tg_str_ieq(allowed, TG_S("false"));
    bool is_allowed = tg_str_ieq(allowed, TG_S("true")) || run->allows_reset ||
                      u->graph->spec->strict_compat; /* the vendor's default */
    int64_t lost = 0;
    if (!is_never && !is_allowed) {
        TG_TRY_CTX(count_lost(run, &lost, err), err,
                   "while counting the rows that a full refresh would lose");
    }
    if (!is_never && lost == 0) {
        run->is_reset_judged = true;
        run->reset_judged_version = run->input.target.version;
        return TG_OK;
    }
    if (u->options->full_refresh_all) {
        skip_reset(u, run, lost);
        *out_again = true;
        return TG_OK;
    }
    return is_never ? not_resettable(run, err) : loses_rows(run, lost, err);
}

/* ---- clock ----------------------------------------------------------------------------------- */

static tg_code guard_clock(tg_update *u, const tg_flow_run *run, tg_error *err)
{
    int64_t recorded;
    tg_str was;
    bool will_write =
        run->plan.program || (u->is_analysing && tg_flow_reads_changed_table(u, run->flow));
    if (u->options->allow_clock_back || !will_write ||
        !tg_plan_clock_widens(&run->input, &run->plan, run->plan_arena, &recorded, &was)) {
        return TG_OK;
    }
    (void)TG_ERR(
        err, TIDEGATE_CLOCK_WENT_BACK,
        "the clock of this update, %.*s, is before that of an earlier refresh of %.*s, %.*s: "
        "its window would be `%.*s` instead of `%.*s`",
        TG_SARG(tg_instant_text(run->arena, u->now_us)), TG_SARG(run->flow->dataset->full_name),
        TG_SARG(tg_instant_text(run->arena, recorded)), TG_SARG(window_text(run)), TG_SARG(was));
    (void)tg_error_detail(err, "Rows that had left the window could be computed again from the "
                               "sources as they are now.");
    return tg_error_hint(err,
                         "Look at the clock of this machine and at --now. If this is meant, say "
                         "--allow-clock-back; for certain rows only, use %s.",
                         u->graph->spec->standalone ? "REFRESH STREAMING TABLE ... WHERE"
                                                    : "--replace-where");
}

tg_code tg_guard_plan(tg_update *u, tg_flow_run *run, bool *out_again, tg_error *err)
{
    *out_again = false;
    if (u->options->tells_intervals) {
        return TG_OK; /* what is recorded may be asked with any clock */
    }
    TG_TRY(guard_reset(u, run, out_again, err));
    return *out_again ? TG_OK : guard_clock(u, run, err);
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* A view's answer may become small at any time: it is guarded when its table asks for it. */
static bool is_shrink_guarded(const tg_refresh_input *input, tg_str setting)
{
    return input->target.exists && (input->kind == TG_FLOW_REPLACE_WHERE || setting.len > 0);
}

static tg_code count_window(const tg_flow_run *run, int64_t deleted, int64_t *out, tg_error *err)
{
    const tg_bexpr *window;
    *out = 0;
    if (run->plan.replaces_window) {
        *out = deleted;
        return TG_OK;
    }
    return tg_plan_target_window(&run->input, run->plan_arena, &window)
               ? tg_update_count_target(run, window, out, err)
               : TG_OK;
}

static tg_code shrinks(const tg_flow_run *run, tg_error *err)
{
    tg_str table = run->flow->dataset->full_name;
    (void)TG_ERR(err, TIDEGATE_WINDOW_SHRINKS,
                 "a refresh of %.*s would leave %lld of the %lld rows of its window `%.*s`",
                 TG_SARG(table), (long long)run->window_after, (long long)run->window_before,
                 TG_SARG(window_text(run)));
    (void)tg_error_detail(err, "The table has tidegate.shrink_guard = fail.");
    return tg_error_hint(err, "Look whether the sources are complete. If they are, say "
                              "--allow-shrink.");
}

/*
 * What counts is what the window loses, however it is refreshed: rows that go and come again are not
 * lost, and of a window that is recomputed in part the rest keeps its rows.
 */
tg_code tg_guard_rows(tg_flow_run *run, int64_t deleted, int64_t inserted, tg_error *err)
{
    tg_str setting = property_of(&run->input, "tidegate.shrink_guard");
    run->window_before = run->window_after = 0;
    /* The window has at least the rows that go: while half of them come, it does not lose half. */
    if (!is_shrink_guarded(&run->input, setting) || inserted >= deleted - deleted / 2) {
        return TG_OK;
    }
    int64_t before;
    TG_TRY(count_window(run, deleted, &before, err));
    int64_t after = run->input.is_full ? inserted : before - deleted + inserted;
    if (before < SHRINK_ROWS_MIN || before - after <= before / 2) {
        return TG_OK;
    }
    run->window_before = before;
    run->window_after = after;
    bool is_refused = tg_str_ieq(setting, TG_S("fail")) && !run->update->options->allow_shrink;
    return is_refused ? shrinks(run, err) : TG_OK;
}

/* ---- warnings -------------------------------------------------------------------------------- */

void tg_guard_warn(tg_update *u, tg_flow_run *run)
{
    tg_str table = run->flow->dataset->full_name;
    if (run->window_before > 0) {
        tg_update_event_warning(
            u, run, "WINDOW_SHRANK",
            tg_str_printf(run->arena, "Window `%.*s` of table %.*s has %lld rows left of %lld.",
                          TG_SARG(window_text(run)), TG_SARG(table), (long long)run->window_after,
                          (long long)run->window_before));
    }
    for (size_t i = 0; i < run->plan.dropped_count; i++) {
        tg_update_event_warning(
            u, run, "COLUMN_DROPPED",
            tg_str_printf(run->arena,
                          "Column `%.*s` of table %.*s is not in its query any more: new rows hold "
                          "NULL there; a full refresh removes it.",
                          TG_SARG(run->plan.dropped_columns[i]), TG_SARG(table)));
    }
}
