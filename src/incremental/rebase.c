/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losing a race for a version (rule R7 of the coverage model): what others committed meanwhile
 * either touched what this refresh brought up to date, then it is planned again, or it did not, then
 * only the state is rebuilt.
 */
#include "incremental/incremental_int.h"

typedef struct rebase {
    const tg_refresh_plan *plan;
    const tg_refresh_input *input;
    const tg_commit_fact *winners;
    size_t winner_count;
    tg_arena *arena;
    tg_coverage carried;
    int64_t latest_clock_us;
} rebase;

/* Another refresh of this flow: its pieces replace what was carried. False: plan again. */
static bool take_over(rebase *r, size_t index)
{
    const tg_commit_fact *winner = &r->winners[index];
    tg_flow_state state;
    tg_region advanced;
    if (winner->is_missing || winner->changes_schema ||
        !tg_flow_state_from_json(winner->state, r->arena, &state) ||
        !tg_str_eq(state.zone, tg_zone_name(r->input->zone)) ||
        !tg_window_region(state.advanced, r->input->target.schema, r->input, r->arena, &advanced) ||
        tg_region_meets(advanced, r->plan->advanced)) {
        return false;
    }
    bool is_later = state.latest_clock_us > r->latest_clock_us && !r->input->forgets_later_clock;
    r->latest_clock_us = is_later ? state.latest_clock_us : r->latest_clock_us;
    r->carried = (tg_coverage){0};
    if (state.read_version >= r->input->target.version) {
        tg_coverage_load(r->input, &state, r->arena, &r->carried);
    } /* else it had not seen commits that are not at hand here: nothing of it is relied on */
    for (size_t i = 0; i < index; i++) {
        if (r->winners[i].version > state.read_version && tg_commit_is_change(&r->winners[i])) {
            tg_coverage_take(r->input, tg_commit_hull(&r->winners[i]), r->arena, &r->carried);
        }
    }
    tg_coverage_take(r->input, r->plan->advanced, r->arena, &r->carried);
    return true;
}

static bool test_winner(rebase *r, size_t index)
{
    const tg_commit_fact *winner = &r->winners[index];
    if (winner->app_id.len > 0) {
        return take_over(r, index);
    }
    if (!tg_commit_is_change(winner)) {
        return true;
    }
    /* Parts that were brought up to date count also where no row was written in them. */
    tg_region hull = tg_commit_hull(winner);
    if (winner->is_missing || winner->changes_schema || tg_region_meets(hull, r->plan->advanced)) {
        return false;
    }
    tg_coverage_take(r->input, hull, r->arena, &r->carried);
    return true;
}

bool tg_plan_rebase(const tg_refresh_plan *plan, const tg_refresh_input *input,
                    int64_t read_version, const tg_commit_fact *winners, size_t winner_count,
                    tg_arena *arena, tg_str *out_state)
{
    rebase r = {.plan = plan,
                .input = input,
                .winners = winners,
                .winner_count = winner_count,
                .arena = arena,
                .latest_clock_us = plan->state.latest_clock_us};
    for (size_t i = 0; i < plan->carried->count; i++) {
        TG_VEC_PUSH(arena, &r.carried, plan->carried->items[i]);
    }
    for (size_t i = 0; i < winner_count; i++) {
        if (!test_winner(&r, i)) {
            return false;
        }
    }
    tg_coverage pieces = {0};
    tg_str merged = plan->state.query_depends_on_order ? TG_S("") : plan->state.fingerprint;
    for (size_t i = 0; i < plan->mine->count; i++) {
        tg_coverage_add(input, &plan->mine->items[i], merged, arena, &pieces);
    }
    for (size_t i = 0; i < r.carried.count; i++) {
        tg_coverage_add(input, &r.carried.items[i], merged, arena, &pieces);
    }
    tg_flow_state state = plan->state;
    state.read_version = read_version;
    state.latest_clock_us = r.latest_clock_us;
    *out_state = tg_coverage_state(&state, &pieces, arena);
    return true;
}
