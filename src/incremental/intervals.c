/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorded coverage says of a target, in and outside the declared window: the facts that a
 * window is cut by (cut.c), told instead of acted on.
 */
#include "incremental/incremental_int.h"

typedef struct teller {
    const tg_refresh_input *input;
    const tg_refresh_plan *plan;
    tg_arena *arena;
    TG_VEC(tg_plan_interval) found;
    tg_region rest; /* of the window, not told yet */
} teller;

static void tell(teller *t, const tg_plan_interval *interval)
{
    TG_VEC_PUSH(t->arena, &t->found, *interval);
}

/* As the planner writes the parts of a window. */
static void tell_part(teller *t, tg_region region, tg_interval_place place,
                      tg_plan_interval interval)
{
    const tg_window *window = t->plan->whole;
    if (tg_region_is_none(region)) {
        return;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_region(region, &text);
    bool is_window = place == TG_PLACE_WINDOW && tg_region_contains(region, window->region);
    interval.where = is_window ? window->text : tg_buf_take(&text, t->arena);
    bool is_vague =
        region.is_upper_bound && !is_window; /* the text says more rows than are meant */
    interval.place = is_vague ? TG_PLACE_PARTLY : place;
    tell(t, &interval);
}

/* Which part of a region is certainly not in the window? False: that cannot be said exactly. */
static bool is_split(const teller *t, tg_region region, tg_region *out_outside)
{
    *out_outside = tg_region_minus(t->arena, region, t->plan->whole->region);
    return !tg_region_meets(*out_outside, t->plan->whole->region);
}

static tg_plan_interval judge(const teller *t, const tg_piece *piece)
{
    const tg_refresh_input *input = t->input;
    tg_str fingerprint = t->plan->fingerprint;
    bool is_current = !t->plan->needs_new_rows && tg_str_eq(piece->fingerprint, fingerprint);
    bool is_fresh = is_current && tg_piece_is_current(input, piece, fingerprint);
    return (tg_plan_interval){.status = is_fresh ? "COVERED" : "STALE",
                              .reason = is_fresh     ? NULL
                                        : is_current ? "DATA_HAS_CHANGED"
                                                     : "QUERY_FINGERPRINT_CHANGED",
                              .piece = piece};
}

/* One piece, in two when the window's edge goes through it. */
static void tell_range(teller *t, tg_region region, tg_plan_interval interval)
{
    tg_region outside;
    bool is_certain = is_split(t, region, &outside);
    tell_part(t, tg_region_and(t->arena, t->plan->whole->region, region), TG_PLACE_WINDOW,
              interval);
    tell_part(t, outside, is_certain ? TG_PLACE_OUTSIDE : TG_PLACE_PARTLY, interval);
}

static void tell_piece(teller *t, const tg_cover *cover)
{
    const tg_window *window = t->plan->whole;
    tg_plan_interval interval = judge(t, &cover->piece);
    bool is_same_text = tg_str_eq(cover->piece.where, window->text);
    if (cover->region.is_upper_bound && is_same_text) { /* settles what regions cannot say */
        interval.where = window->text;
        interval.place = TG_PLACE_WINDOW;
        tell(t, &interval);
        t->rest = tg_region_none();
    } else if (cover->region.is_upper_bound) {
        interval.where = cover->piece.where;
        interval.place = TG_PLACE_PARTLY;
        tell(t, &interval);
    } else {
        tell_range(t, cover->region, interval);
        t->rest = tg_region_minus(t->arena, t->rest, cover->region);
    }
}

/* Rows that a piece had until somebody else wrote there. */
static void tell_changed(teller *t, const tg_coverage *left, tg_region had)
{
    const tg_plan_interval interval = {.status = "STALE",
                                       .reason = "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"};
    tell_part(t, tg_region_and(t->arena, t->rest, had), TG_PLACE_WINDOW, interval);
    t->rest = tg_region_minus(t->arena, t->rest, had);
    for (size_t i = 0; i < left->count; i++) {
        had = tg_region_minus(t->arena, had, left->items[i].region);
    }
    tg_region outside;
    bool is_certain = is_split(t, had, &outside);
    tell_part(t, outside, is_certain ? TG_PLACE_OUTSIDE : TG_PLACE_PARTLY, interval);
}

/* Was all of the window covered by a piece whose text alone says so? */
static bool was_covered(const teller *t, const tg_flow_state *state)
{
    bool is_readable = state && tg_str_eq(state->zone, tg_zone_name(t->input->zone));
    for (size_t i = 0; is_readable && i < state->piece_count; i++) {
        if (tg_str_eq(state->pieces[i].where, t->plan->whole->text)) {
            return true;
        }
    }
    return false;
}

static void tell_missing(teller *t, const tg_flow_state *state, const char *missing)
{
    const tg_window *window = t->plan->whole;
    tg_plan_interval interval = {.status = "MISSING", .reason = missing};
    if (tg_region_is_none(t->rest)) {
        return;
    }
    if (was_covered(t, state)) {
        interval.status = "STALE";
        interval.reason = "EXTERNAL_CHANGE_IN_REPLACE_WINDOW";
    } else if (!window->is_deterministic) {
        interval.reason = "REPLACE_WHERE_NOT_DETERMINISTIC";
    } else if (state) {
        interval.reason = state->predicate_is_deterministic
                              ? "STALE_TARGET_DATA_IN_WINDOW"
                              : "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC";
    }
    if (t->found.count == 0) { /* all of it, also where no region says what that is */
        interval.where = window->text;
        interval.place = TG_PLACE_WINDOW;
        tell(t, &interval);
    } else {
        tell_part(t, t->rest, TG_PLACE_WINDOW, interval);
    }
}

const tg_plan_interval *tg_plan_intervals(const tg_refresh_input *input,
                                          const tg_refresh_plan *plan, tg_arena *arena,
                                          size_t *out_count)
{
    teller t = {.input = input, .plan = plan, .arena = arena, .rest = plan->whole->region};
    const char *missing;
    const tg_flow_state *state = tg_plan_recorded_state(input, arena, &missing);
    if (state) {
        tg_coverage *left = TG_NEW(arena, tg_coverage); /* the answer points into it */
        tg_coverage_load(input, state, arena, left);
        tg_region had = tg_coverage_region(left, arena);
        tg_coverage_take_changes(input, input->commits, input->commit_count,
                                 input->state.state_version, arena, left);
        for (size_t i = 0; i < left->count; i++) {
            tell_piece(&t, &left->items[i]);
        }
        tell_changed(&t, left, had);
    }
    tell_missing(&t, state, missing);
    *out_count = t.found.count;
    return t.found.items;
}
