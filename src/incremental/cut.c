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

bool tg_cut_is_covered(const tg_refresh_input *input, const tg_coverage *left,
                       const tg_window *window, tg_str fingerprint, tg_arena *arena)
{
    tg_region fresh = tg_region_none();
    bool is_whole = false; /* in one piece; an equal text settles what regions cannot say */
    for (size_t i = 0; i < left->count; i++) {
        const tg_cover *cover = &left->items[i];
        if (!tg_piece_is_current(input, &cover->piece, fingerprint)) {
            continue;
        }
        is_whole = is_whole || tg_str_eq(cover->piece.where, window->text) ||
                   tg_region_contains(cover->region, window->region);
        if (!cover->region.is_upper_bound) {
            fresh = tg_region_or(arena, fresh, cover->region);
        }
    }
    bool is_covered =
        is_whole || (!window->is_indivisible && tg_region_contains(fresh, window->region));
    return is_covered && window->is_deterministic && !input->is_override && !input->is_full;
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

/*
 * What no piece covers any more, or never did. rest may still hold rows of pieces that could not be
 * told apart from it: nobody changed those.
 */
static void add_uncovered(cutter *c, const tg_flow_state *state, const tg_coverage *left,
                          tg_region rest, tg_region had)
{
    const char *never = state->predicate_is_deterministic ? "STALE_TARGET_DATA_IN_WINDOW"
                                                          : "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC";
    tg_region lost = had;
    for (size_t i = 0; i < left->count; i++) {
        lost = tg_region_minus(c->arena, lost, left->items[i].region);
    }
    add_part(c, tg_region_and(c->arena, rest, lost), "RECOMPUTE",
             "EXTERNAL_CHANGE_IN_REPLACE_WINDOW");
    add_part(c, tg_region_minus(c->arena, rest, had), "RECOMPUTE", never);
}

/*
 * Can a piece be left alone while the rest of the window is computed? Not where it needs an opaque
 * condition that the window lacks, nor where the answer is of one evaluation.
 */
static bool is_separable(const cutter *c, tg_region region)
{
    return !region.is_upper_bound && !c->window->is_indivisible &&
           !tg_region_meets(tg_region_minus(c->arena, c->window->region, region), region);
}

static const char *stale_reason(const cutter *c, const tg_piece *piece, tg_str fingerprint)
{
    return !tg_str_eq(piece->fingerprint, fingerprint)          ? "QUERY_FINGERPRINT_CHANGED"
           : !tg_piece_is_current(c->input, piece, fingerprint) ? "DATA_HAS_CHANGED"
           : c->window->is_indivisible                          ? "PLAN_NOT_DETERMINISTIC"
                                                                : "CANNOT_PUSH_PREDICATE";
}

static void add_parts(cutter *c, const tg_flow_state *state, const tg_coverage *left,
                      tg_str fingerprint, tg_region had)
{
    tg_region rest = c->window->region;
    for (size_t i = 0; i < left->count; i++) {
        const tg_cover *cover = &left->items[i];
        if (cover->region.is_upper_bound) {
            continue;
        }
        bool stays = tg_piece_is_current(c->input, &cover->piece, fingerprint) &&
                     is_separable(c, cover->region);
        add_part(c, tg_region_and(c->arena, c->window->region, cover->region),
                 stays ? "NO_OP" : "RECOMPUTE",
                 stays ? NULL : stale_reason(c, &cover->piece, fingerprint));
        rest = tg_region_minus(c->arena, rest, cover->region);
    }
    add_uncovered(c, state, left, rest, had);
}

/* The one reason of a view, whose answer is whole or not there. */
static const char *view_reason(const cutter *c, const tg_flow_state *state, const tg_coverage *left,
                               tg_str fingerprint)
{
    bool is_untouched = tg_region_is_all(tg_coverage_region(left, c->arena));
    return !tg_str_eq(state->fingerprint, fingerprint) ? "QUERY_FINGERPRINT_CHANGED"
           : is_untouched                              ? "DATA_HAS_CHANGED"
           : state->piece_count > 0                    ? "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"
                                                       : "CHANGE_SET_MISSING";
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* A window less a region, as a window of its own; false: that cannot be said exactly. */
static bool window_without(cutter *c, tg_region region, tg_window *out)
{
    const tg_window *window = c->window;
    if (window->region.is_upper_bound || !window->predicate ||
        !tg_region_meets(window->region, region)) {
        return false;
    }
    tg_region rest = tg_region_minus(c->arena, window->region, region), meant;
    rest.is_upper_bound = false; /* its boxes hold all of the rest, and lie in the window */
    tg_str text;
    return tg_region_predicate(c->input, rest, c->arena, &text, &meant) &&
           tg_region_contains(meant, rest) && tg_region_contains(window->region, meant) &&
           tg_window_parse(text, c->input->target.schema, c->input, c->arena, out);
}

/* The pieces that stay: those over newer sources, or all that are up to date. */
static tg_region staying_region(const cutter *c, const tg_coverage *left, tg_str fingerprint,
                                bool only_newer)
{
    tg_region region = tg_region_none();
    for (size_t i = 0; i < left->count; i++) {
        const tg_cover *cover = &left->items[i];
        bool stays = only_newer ? tg_piece_is_newer(c->input, &cover->piece, fingerprint)
                                : tg_piece_is_current(c->input, &cover->piece, fingerprint);
        if (stays && is_separable(c, cover->region)) {
            region = tg_region_or(c->arena, region, cover->region);
        }
    }
    return region;
}

static void keep_carried(const cutter *c, tg_cut *out)
{
    tg_region written = c->input->is_full ? tg_region_all() : out->own.region;
    for (size_t i = 0; i < out->left.count; i++) {
        TG_VEC_PUSH(c->arena, &out->carried, out->left.items[i]);
    }
    tg_coverage_take(c->input, &written, 1, c->arena, &out->carried);
}

/* What is left of the coverage decides. */
static void cut_by_coverage(cutter *c, const tg_flow_state *state, tg_region had,
                            tg_str fingerprint, tg_cut *out)
{
    tg_region newer = staying_region(c, &out->left, fingerprint, true);
    tg_region fresh = staying_region(c, &out->left, fingerprint, false);
    bool says_own =
        window_without(c, newer, &out->own) || !tg_region_meets(newer, c->window->region);
    out->stale = out->own;
    out->is_partial = says_own && window_without(c, fresh, &out->stale);
    if (!out->is_partial && tg_region_meets(fresh, c->window->region)) {
        add_whole(c, "RECOMPUTE", "CANNOT_PUSH_PREDICATE"); /* no predicate says what is stale */
    } else {
        add_parts(c, state, &out->left, fingerprint, had);
    }
}

void tg_cut_window(const tg_refresh_input *input, const tg_flow_state *state, const char *missing,
                   const tg_window *window, tg_str fingerprint, tg_arena *arena, tg_cut *out)
{
    cutter c = {.input = input, .window = window, .arena = arena};
    *out = (tg_cut){.own = *window, .stale = *window};
    tg_region had = tg_region_none();
    if (state) {
        tg_coverage_load(input, state, arena, &out->left);
        had = tg_coverage_region(&out->left, arena);
        tg_coverage_take_changes(input, input->commits, input->commit_count,
                                 input->state.state_version, arena, &out->left);
        out->is_covered = tg_cut_is_covered(input, &out->left, window, fingerprint, arena);
    }
    if (out->is_covered) {
        add_whole(&c, "NO_OP", NULL);
    } else if (input->is_full) {
        add_whole(&c, "RECOMPUTE", "CHANGE_SET_MISSING"); /* as the first refresh of a table */
    } else if (input->is_override) {
        add_whole(&c, "RECOMPUTE", "REPLACE_WHERE_BACKFILL");
    } else if (!state) {
        add_whole(&c, "RECOMPUTE", missing);
    } else if (input->kind == TG_FLOW_COMPLETE) {
        add_whole(&c, "RECOMPUTE", view_reason(&c, state, &out->left, fingerprint));
    } else if (!window->is_deterministic) {
        add_whole(&c, "RECOMPUTE", "REPLACE_WHERE_NOT_DETERMINISTIC");
    } else {
        cut_by_coverage(&c, state, had, fingerprint, out);
    }
    keep_carried(&c, out);
    out->pieces = c.pieces.items;
    out->piece_count = c.pieces.count;
}
