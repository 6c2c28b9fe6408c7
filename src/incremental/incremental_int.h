/* SPDX-License-Identifier: Apache-2.0 */
/* Private to incremental: what planning and rebasing share. */
#ifndef TG_INCREMENTAL_INCREMENTAL_INT_H
#define TG_INCREMENTAL_INCREMENTAL_INT_H

#include "incremental/incremental.h"

/* The same table at the same version with the same content. */
bool tg_source_identity_equal(const tg_source_identity *a, const tg_source_identity *b);

/* A predicate over a target, bound and folded with one clock. */
typedef struct tg_window {
    const tg_bexpr *predicate; /* NULL: everything */
    tg_str text;               /* folded, Databricks SQL; "true" for everything */
    tg_region region;
    bool is_deterministic;
} tg_window;

/* The window of this refresh over a schema; a view's is everything. */
TG_CHECKED tg_code tg_window_bind(const tg_refresh_input *input, tg_schema schema, tg_arena *arena,
                                  tg_window *out_window, tg_error *err);
/*
 * The region of a predicate text from a state ("true", "false", or SQL over schema). False when it
 * cannot be read any more (a column is gone): the caller then treats a piece as lost and an
 * advanced region as everything.
 */
bool tg_window_region(tg_str text, tg_schema schema, const tg_refresh_input *input, tg_arena *arena,
                      tg_region *out_region);

/* May a commit have changed a row of the region? Sound: true unless disproven. */
bool tg_commit_meets(const tg_commit_fact *commit, tg_region region);

#endif
