/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage: which rows of the target were computed from which versions of the sources (rules R2 to
 * R4 of the coverage model).
 *
 * A piece is only ever taken away from, never guessed: what its text says is read back before it is
 * relied on, and a piece whose rest cannot be written as a predicate is forgotten.
 */
#include "incremental/incremental_int.h"

/* ---- identities ------------------------------------------------------------------------------ */

static bool has_source(const tg_piece *piece, const tg_source_identity *source)
{
    for (size_t i = 0; i < piece->source_count; i++) {
        if (tg_source_identity_equal(&piece->sources[i], source)) {
            return true;
        }
    }
    return false;
}

static bool same_origin(const tg_piece *a, const tg_piece *b)
{
    bool same = tg_str_eq(a->fingerprint, b->fingerprint) && a->source_count == b->source_count;
    for (size_t i = 0; same && i < a->source_count; i++) {
        same = has_source(b, &a->sources[i]);
    }
    return same;
}

tg_source_identity tg_identity_of_pin(const tg_pin *pin)
{
    return (tg_source_identity){
        .name = pin->name, .path = pin->path, .version = pin->version, .digest = pin->digest};
}

/* Would computing the piece anew, with these pins, give the rows that are there? */
static bool is_fresh(const tg_piece *piece, tg_str fingerprint, const tg_pin *pins, size_t count)
{
    bool fresh = tg_str_eq(piece->fingerprint, fingerprint) && piece->source_count == count;
    for (size_t i = 0; fresh && i < count; i++) {
        const tg_source_identity pinned = tg_identity_of_pin(&pins[i]);
        fresh = has_source(piece, &pinned);
    }
    return fresh;
}

static bool is_newer_source(const tg_refresh_input *input, const tg_piece *piece, const tg_pin *pin)
{
    for (size_t i = 0; i < input->newer_count; i++) {
        if (tg_str_eq(input->newer[i].name, pin->name) && has_source(piece, &input->newer[i])) {
            return true;
        }
    }
    return false;
}

bool tg_piece_is_newer(const tg_refresh_input *input, const tg_piece *piece, tg_str fingerprint)
{
    bool holds = tg_str_eq(piece->fingerprint, fingerprint) &&
                 piece->source_count == input->pin_count && input->newer_count > 0;
    for (size_t i = 0; holds && i < input->pin_count; i++) {
        const tg_source_identity pinned = tg_identity_of_pin(&input->pins[i]);
        holds = has_source(piece, &pinned) || is_newer_source(input, piece, &input->pins[i]);
    }
    return holds && !is_fresh(piece, fingerprint, input->pins, input->pin_count);
}

bool tg_piece_is_current(const tg_refresh_input *input, const tg_piece *piece, tg_str fingerprint)
{
    return is_fresh(piece, fingerprint, input->pins, input->pin_count) ||
           tg_piece_is_newer(input, piece, fingerprint);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

bool tg_region_predicate(const tg_refresh_input *input, tg_region region, tg_arena *arena,
                         tg_str *out_text, tg_region *out_region)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_region(region, &text);
    *out_text = tg_buf_take(&text, arena);
    return tg_window_region(*out_text, input->target.schema, input, arena, out_region) &&
           !out_region->is_upper_bound;
}

/* Narrows a piece to a region that lies in it; false: it is forgotten. */
static bool narrow(const tg_refresh_input *input, tg_cover *cover, tg_region region,
                   tg_arena *arena)
{
    tg_str text;
    tg_region meant;
    if (tg_region_is_none(region) || !tg_region_predicate(input, region, arena, &text, &meant) ||
        !tg_region_contains(region, meant)) {
        return false;
    }
    cover->piece.where = text;
    cover->region = meant;
    return true;
}

void tg_coverage_load(const tg_refresh_input *input, const tg_flow_state *state, tg_arena *arena,
                      tg_coverage *out)
{
    *out = (tg_coverage){0};
    if (!tg_str_eq(state->zone, tg_zone_name(input->zone))) {
        return; /* the texts may mean other rows here, and no fingerprint would be the same */
    }
    for (size_t i = 0; i < state->piece_count; i++) {
        tg_cover cover = {.piece = state->pieces[i]};
        if (tg_window_region(cover.piece.where, input->target.schema, input, arena,
                             &cover.region)) {
            TG_VEC_PUSH(arena, out, cover);
        }
    }
}

/*
 * A piece less all that was touched. Its text is written and read back once, at the end, and what
 * the steps need goes with them: a writer that commits all the time makes many.
 */
static bool outlives(const tg_refresh_input *input, const tg_region *touched, size_t count,
                     tg_arena *arena, tg_cover *cover)
{
    tg_auto_arena tg_arena *now = tg_arena_new();
    tg_auto_arena tg_arena *next = tg_arena_new();
    tg_region rest = cover->region;
    bool is_hit = false;
    for (size_t i = 0; i < count; i++) {
        if (!tg_region_meets(rest, touched[i])) {
            continue;
        }
        is_hit = true;
        rest = tg_region_without(next, rest, touched[i]);
        tg_arena_reset(now);
        tg_arena *spare = now;
        now = next;
        next = spare;
    }
    return !is_hit || narrow(input, cover, rest, arena);
}

void tg_coverage_take(const tg_refresh_input *input, const tg_region *touched, size_t count,
                      tg_arena *arena, tg_coverage *coverage)
{
    size_t kept = 0;
    for (size_t i = 0; i < coverage->count; i++) {
        tg_cover cover = coverage->items[i];
        if (outlives(input, touched, count, arena, &cover)) {
            coverage->items[kept++] = cover;
        }
    }
    coverage->count = kept;
}

void tg_coverage_take_changes(const tg_refresh_input *input, const tg_commit_fact *commits,
                              size_t count, int64_t state_version, tg_arena *arena,
                              tg_coverage *coverage)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_region *hulls = TG_NEW_ARRAY(scratch, tg_region, count);
    size_t hull_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (commits[i].version != state_version && tg_commit_is_change(&commits[i])) {
            hulls[hull_count++] = tg_commit_hull(&commits[i]);
        }
    }
    tg_coverage_take(input, hulls, hull_count, arena, coverage);
}

tg_region tg_coverage_region(const tg_coverage *coverage, tg_arena *arena)
{
    tg_region region = tg_region_none();
    for (size_t i = 0; i < coverage->count; i++) {
        if (!coverage->items[i].region.is_upper_bound) {
            region = tg_region_or(arena, region, coverage->items[i].region);
        }
    }
    return region;
}

/* ---- putting together ------------------------------------------------------------------------ */

/* Two pieces of one origin as one; false: their union has no exact text. */
static bool merge(const tg_refresh_input *input, tg_cover *into, const tg_cover *from,
                  tg_arena *arena)
{
    if (into->region.is_upper_bound || from->region.is_upper_bound) {
        return false;
    }
    if (tg_region_contains(into->region, from->region)) {
        return true;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_region both = tg_region_or(scratch, into->region, from->region);
    return !both.is_upper_bound && narrow(input, into, both, arena);
}

void tg_coverage_add(const tg_refresh_input *input, const tg_cover *cover, tg_str fingerprint,
                     tg_arena *arena, tg_coverage *coverage)
{
    bool may_merge = tg_str_eq(cover->piece.fingerprint, fingerprint);
    for (size_t i = 0; i < coverage->count && may_merge; i++) {
        if (same_origin(&coverage->items[i].piece, &cover->piece) &&
            merge(input, &coverage->items[i], cover, arena)) {
            return;
        }
    }
    TG_VEC_PUSH(arena, coverage, *cover);
}

tg_str tg_coverage_state(const tg_flow_state *state, const tg_coverage *coverage, tg_arena *arena)
{
    tg_flow_state whole = *state;
    tg_piece *pieces = TG_NEW_ARRAY(arena, tg_piece, coverage->count);
    for (size_t i = 0; i < coverage->count; i++) {
        pieces[i] = coverage->items[i].piece;
    }
    whole.pieces = pieces;
    whole.piece_count = coverage->count;
    return tg_flow_state_to_json(&whole, arena);
}
