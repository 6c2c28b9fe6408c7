/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting a window into parts (rule R6 of the coverage model): what is up to date, what is stale and
 * why, what is new. Only the parts that are not up to date are recomputed.
 *
 * Parts are told by regions. Where a region cannot be written as a predicate, or the window is not
 * known exactly, the whole window is recomputed: more work, never another answer.
 */
#include "incremental/incremental_int.h"

typedef struct cutter {
    const tg_refresh_input *input;
    const tg_window *window;
    tg_arena *arena;
    TG_VEC(tg_plan_piece) pieces;
} cutter;

/* The rows that are up to date. Text settles what regions cannot say. */
static tg_region fresh_region(const tg_refresh_input *input, const tg_coverage *left,
                              const tg_window *window, tg_str fingerprint, tg_arena *arena,
                              bool *out_all)
{
    tg_region fresh = tg_region_none();
    *out_all = false;
    for (size_t i = 0; i < left->count; i++) {
        const tg_cover *cover = &left->items[i];
        if (!tg_piece_is_fresh(&cover->piece, fingerprint, input->pins, input->pin_count)) {
            continue;
        }
        *out_all = *out_all || tg_str_eq(cover->piece.where, window->text);
        if (!cover->region.is_upper_bound) {
            fresh = tg_region_or(arena, fresh, cover->region);
        }
    }
    *out_all = *out_all || tg_region_contains(fresh, window->region);
    return fresh;
}

bool tg_cut_is_covered(const tg_refresh_input *input, const tg_coverage *left,
                       const tg_window *window, tg_str fingerprint, tg_arena *arena)
{
    bool all;
    (void)fresh_region(input, left, window, fingerprint, arena, &all);
    return all && window->is_deterministic && !input->is_override && !input->is_full;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static tg_str text_of(const cutter *c, tg_region region)
{
    if (tg_region_contains(region, c->window->region)) {
        return c->window->text;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_region(region, &text);
    return tg_buf_take(&text, c->arena);
}

static void add_part(cutter *c, tg_region region, const char *treatment, const char *reason)
{
    if (!tg_region_is_none(region)) {
        const tg_plan_piece piece = {
            .where = text_of(c, region), .treatment = treatment, .reason = reason};
        TG_VEC_PUSH(c->arena, &c->pieces, piece);
    }
}

static void add_whole(cutter *c, const char *treatment, const char *reason)
{
    const tg_plan_piece piece = {
        .where = c->window->text, .treatment = treatment, .reason = reason};
    TG_VEC_PUSH(c->arena, &c->pieces, piece);
}

/* What no piece covers any more, or never did. */
static void add_uncovered(cutter *c, const tg_flow_state *state, tg_region rest, tg_region had)
{
    const char *never = state->predicate_is_deterministic ? "STALE_TARGET_DATA_IN_WINDOW"
                                                          : "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC";
    add_part(c, tg_region_and(c->arena, rest, had), "RECOMPUTE",
             "EXTERNAL_CHANGE_IN_REPLACE_WINDOW");
    add_part(c, tg_region_minus(c->arena, rest, had), "RECOMPUTE", never);
}

static void add_parts(cutter *c, const tg_flow_state *state, const tg_coverage *left,
                      tg_str fingerprint, tg_region had)
{
    const tg_refresh_input *input = c->input;
    tg_region rest = c->window->region;
    for (size_t i = 0; i < left->count; i++) {
        const tg_cover *cover = &left->items[i];
        if (cover->region.is_upper_bound) {
            continue;
        }
        bool same_query = tg_str_eq(cover->piece.fingerprint, fingerprint);
        bool fresh = tg_piece_is_fresh(&cover->piece, fingerprint, input->pins, input->pin_count);
        add_part(c, tg_region_and(c->arena, c->window->region, cover->region),
                 fresh ? "NO_OP" : "RECOMPUTE",
                 fresh        ? NULL
                 : same_query ? "DATA_HAS_CHANGED"
                              : "QUERY_FINGERPRINT_CHANGED");
        rest = tg_region_minus(c->arena, rest, cover->region);
    }
    add_uncovered(c, state, rest, had);
}

/* The one reason of a view, whose answer is whole or not there. */
static const char *view_reason(const tg_flow_state *state, const tg_coverage *left,
                               tg_str fingerprint)
{
    return !tg_str_eq(state->fingerprint, fingerprint) ? "QUERY_FINGERPRINT_CHANGED"
           : left->count > 0                           ? "DATA_HAS_CHANGED"
           : state->piece_count > 0                    ? "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"
                                                       : "CHANGE_SET_MISSING";
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* The stale part as a window of its own; false: the window is recomputed as a whole. */
static bool narrow_to(cutter *c, tg_region fresh, tg_window *out_stale)
{
    const tg_window *window = c->window;
    if (window->region.is_upper_bound || !tg_region_meets(window->region, fresh)) {
        return false;
    }
    tg_region stale = tg_region_minus(c->arena, window->region, fresh), meant;
    stale.is_upper_bound = false; /* its boxes hold all that is stale, and lie in the window */
    tg_str text;
    return tg_region_predicate(c->input, stale, c->arena, &text, &meant) &&
           tg_region_contains(meant, stale) && tg_region_contains(window->region, meant) &&
           tg_window_parse(text, c->input->target.schema, c->input, c->arena, out_stale);
}

static void keep_carried(const cutter *c, tg_cut *out)
{
    tg_region written = c->input->is_full ? tg_region_all() : c->window->region;
    for (size_t i = 0; i < out->left.count; i++) {
        TG_VEC_PUSH(c->arena, &out->carried, out->left.items[i]);
    }
    tg_coverage_take(c->input, written, c->arena, &out->carried);
}

void tg_cut_window(const tg_refresh_input *input, const tg_flow_state *state, const char *missing,
                   const tg_window *window, tg_str fingerprint, tg_arena *arena, tg_cut *out)
{
    cutter c = {.input = input, .window = window, .arena = arena};
    *out = (tg_cut){.stale = *window};
    tg_region had = tg_region_none(), fresh = had;
    if (state) {
        tg_coverage_load(input, state, arena, &out->left);
        had = tg_coverage_region(&out->left, arena);
        tg_coverage_take_changes(input, input->commits, input->commit_count,
                                 input->state.state_version, arena, &out->left);
        fresh = fresh_region(input, &out->left, window, fingerprint, arena, &out->is_covered);
    }
    out->is_covered =
        out->is_covered && window->is_deterministic && !input->is_override && !input->is_full;
    if (out->is_covered) {
        add_whole(&c, "NO_OP", NULL);
    } else if (input->is_full) {
        add_whole(&c, "RECOMPUTE", NULL);
    } else if (input->is_override) {
        add_whole(&c, "RECOMPUTE", "REPLACE_WHERE_BACKFILL");
    } else if (!state) {
        add_whole(&c, "RECOMPUTE", missing);
    } else if (input->kind == TG_FLOW_COMPLETE) {
        add_whole(&c, "RECOMPUTE", view_reason(state, &out->left, fingerprint));
    } else if (!window->is_deterministic) {
        add_whole(&c, "RECOMPUTE", "REPLACE_WHERE_NOT_DETERMINISTIC");
    } else {
        out->is_partial = narrow_to(&c, fresh, &out->stale);
        add_parts(&c, state, &out->left, fingerprint, had);
    }
    keep_carried(&c, out);
    out->pieces = c.pieces.items;
    out->piece_count = c.pieces.count;
}
