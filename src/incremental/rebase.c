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
    /* What is carried: the newest refresh's pieces (NULL: the plan's), less all that was touched. */
    const tg_flow_state *base;
    TG_VEC(tg_region) touched;
    int64_t latest_clock_us;
} rebase;

/* Another refresh of this flow: its pieces replace what was carried. False: plan again. */
static bool take_over(rebase *r, size_t index)
{
    const tg_commit_fact *winner = &r->winners[index];
    tg_flow_state *state = TG_NEW(r->arena, tg_flow_state);
    tg_region advanced;
    if (winner->is_missing || winner->changes_schema ||
        !tg_flow_state_from_json(winner->state, r->arena, state) ||
        !tg_str_eq(state->zone, tg_zone_name(r->input->zone)) ||
        !tg_window_region(state->advanced, r->input->target.schema, r->input, r->arena,
                          &advanced) ||
        tg_region_meets(advanced, r->plan->advanced)) {
        return false;
    }
    bool is_later = state->latest_clock_us > r->latest_clock_us && !r->input->forgets_later_clock;
    r->latest_clock_us = is_later ? state->latest_clock_us : r->latest_clock_us;
    r->base = state;
    r->touched.count = 0;
    for (size_t i = 0; i < index; i++) {
        if (r->winners[i].version > state->read_version && tg_commit_is_change(&r->winners[i])) {
            TG_VEC_PUSH(r->arena, &r->touched, tg_commit_hull(&r->winners[i]));
        }
    }
    TG_VEC_PUSH(r->arena, &r->touched, r->plan->advanced);
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
    TG_VEC_PUSH(r->arena, &r->touched, hull);
    return true;
}

static tg_coverage carried_pieces(const rebase *r)
{
    tg_coverage carried = {0};
    if (!r->base) {
        for (size_t i = 0; i < r->plan->carried->count; i++) {
            TG_VEC_PUSH(r->arena, &carried, r->plan->carried->items[i]);
        }
    } else if (r->base->read_version >= r->input->target.version) {
        tg_coverage_load(r->input, r->base, r->arena, &carried);
    } /* else it had not seen commits that are not at hand here: nothing of it is relied on */
    tg_coverage_take(r->input, r->touched.items, r->touched.count, r->arena, &carried);
    return carried;
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
    for (size_t i = 0; i < winner_count; i++) {
        if (!test_winner(&r, i)) {
            return false;
        }
    }
    tg_coverage carried = carried_pieces(&r);
    tg_coverage pieces = {0};
    tg_str merged = plan->state.query_depends_on_order ? TG_S("") : plan->state.fingerprint;
    for (size_t i = 0; i < plan->mine->count; i++) {
        tg_coverage_add(input, &plan->mine->items[i], merged, arena, &pieces);
    }
    for (size_t i = 0; i < carried.count; i++) {
        tg_coverage_add(input, &carried.items[i], merged, arena, &pieces);
    }
    tg_flow_state state = plan->state;
    state.read_version = read_version;
    state.latest_clock_us = r.latest_clock_us;
    *out_state = tg_coverage_state(&state, &pieces, arena);
    return true;
}
