/* SPDX-License-Identifier: Apache-2.0 */
/* Private to incremental: windows, coverage and what planning and rebasing share. */
#ifndef TG_INCREMENTAL_INCREMENTAL_INT_H
#define TG_INCREMENTAL_INCREMENTAL_INT_H

#include "incremental/incremental.h"

/* ---- windows (window.c) ---------------------------------------------------------------------- */

/* A predicate over a target, bound and folded with one clock. */
struct tg_window {
    const tg_bexpr *predicate; /* NULL: everything */
    tg_str text;               /* folded, Databricks SQL; "true" for everything */
    tg_region region;
    bool is_deterministic;
    bool is_indivisible; /* its rows must be of one evaluation of the query */
};

/* The window of this refresh over a schema; a view's is everything. */
TG_CHECKED tg_code tg_window_bind(const tg_refresh_input *input, tg_schema schema, tg_arena *arena,
                                  tg_window *out_window, tg_error *err);
/* A folded predicate text as a window. False when it cannot be read (any more). */
bool tg_window_parse(tg_str text, tg_schema schema, const tg_refresh_input *input, tg_arena *arena,
                     tg_window *out_window);
/*
 * The region of a predicate text from a state ("true", "false", or SQL over schema). False when it
 * cannot be read any more (a column is gone): the caller then treats a piece as lost and an
 * advanced region as everything.
 */
bool tg_window_region(tg_str text, tg_schema schema, const tg_refresh_input *input, tg_arena *arena,
                      tg_region *out_region);

/* ---- changes (window.c): R2 of the model ----------------------------------------------------- */

/* Has it rows, another schema, or may it have (its log file is gone)? */
bool tg_commit_is_change(const tg_commit_fact *commit);
/* Holds every row that it may have changed. */
tg_region tg_commit_hull(const tg_commit_fact *commit);

/* ---- coverage (coverage.c) ------------------------------------------------------------------- */

bool tg_source_identity_equal(const tg_source_identity *a, const tg_source_identity *b);
tg_source_identity tg_identity_of_pin(const tg_pin *pin);
/* R6b: is it of an update with newer pins (design 6.6, "overtaken")? Its rows are better than mine. */
bool tg_piece_is_newer(const tg_refresh_input *input, const tg_piece *piece, tg_str fingerprint);
/* Is it up to date: over these very pins, or newer? */
bool tg_piece_is_current(const tg_refresh_input *input, const tg_piece *piece, tg_str fingerprint);

typedef struct tg_cover {
    tg_piece piece;
    tg_region region; /* what piece.where means; an upper bound proves nothing */
} tg_cover;
struct tg_coverage {
    tg_cover *items;
    size_t count, capacity;
};

/* The pieces of a state, as this refresh may read them. */
void tg_coverage_load(const tg_refresh_input *input, const tg_flow_state *state, tg_arena *arena,
                      tg_coverage *out);
/* R3: what may have been touched is not covered any more. All at once is much less work. */
void tg_coverage_take(const tg_refresh_input *input, const tg_region *touched, size_t count,
                      tg_arena *arena, tg_coverage *coverage);
/* The same for all changes among commits but the one that carries the state. */
void tg_coverage_take_changes(const tg_refresh_input *input, const tg_commit_fact *commits,
                              size_t count, int64_t state_version, tg_arena *arena,
                              tg_coverage *coverage);
/* All rows that are proven to be in a piece. */
tg_region tg_coverage_region(const tg_coverage *coverage, tg_arena *arena);
/*
 * R4: one more piece, merged with one of the same origin where their union can be written. Only
 * pieces of the given fingerprint are merged (empty: none): of other queries it is not known whether
 * two evaluations make one answer.
 */
void tg_coverage_add(const tg_refresh_input *input, const tg_cover *cover, tg_str fingerprint,
                     tg_arena *arena, tg_coverage *coverage);
/* The state with these pieces as JSON. */
tg_str tg_coverage_state(const tg_flow_state *state, const tg_coverage *coverage, tg_arena *arena);
/*
 * A region's boxes as predicate text, and what that text means when it is read. False: not exactly
 * sayable.
 */
bool tg_region_predicate(const tg_refresh_input *input, tg_region region, tg_arena *arena,
                         tg_str *out_text, tg_region *out_region);

/* ---- parts of a window (cut.c): R6 ----------------------------------------------------------- */

typedef struct tg_cut {
    bool is_covered; /* NO_OP is proven */
    bool is_partial; /* some of the window is up to date: only `stale` is recomputed */
    tg_window own;   /* what this refresh answers for: the window less newer pieces */
    tg_window stale; /* what is recomputed: all of own unless is_partial */
    const tg_plan_piece *pieces;
    size_t piece_count;
    tg_coverage left;    /* the state's pieces that still hold */
    tg_coverage carried; /* left, outside own */
} tg_cut;

/* The state that the table's commits hold. NULL: none, with the reason why. */
const tg_flow_state *tg_plan_recorded_state(const tg_refresh_input *input, tg_arena *arena,
                                            const char **out_missing);
/* state NULL: none is known, for the reason missing. */
void tg_cut_window(const tg_refresh_input *input, const tg_flow_state *state, const char *missing,
                   const tg_window *window, tg_str fingerprint, tg_arena *arena, tg_cut *out);
/* The first half of it: is there nothing to do? */
bool tg_cut_is_covered(const tg_refresh_input *input, const tg_coverage *left,
                       const tg_window *window, tg_str fingerprint, tg_arena *arena);

#endif
