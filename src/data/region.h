/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: sets of rows described by boxes over columns, for containment of windows and for file
 * pruning.
 *
 * A region is a union of boxes; a box gives for each of some columns a set of values: disjoint
 * intervals of the column's total order plus whether NULL is allowed. A column that is not named
 * may hold anything. Opaque conditions (predicates that are not comparisons of a column with a
 * constant) are named by their canonical text: a box with opaque conditions is a subset of the same
 * box without.
 *
 * Sound, never complete: tg_region_contains answers true only when proven. Caps:
 * TG_LIMIT_REGION_BOXES, TG_LIMIT_REGION_PIECES. Source of the rules: reference/delta-and-ivm.md 6.
 */
#ifndef TG_DATA_REGION_H
#define TG_DATA_REGION_H

#include "data/value.h"

typedef struct tg_interval {
    bool has_low, has_high;
    bool low_open, high_open; /* always closed for discrete types after normalisation */
    tg_value low, high;
} tg_interval;

/* Allowed values of one column. */
typedef struct tg_domain {
    tg_str column; /* canonical (table's own spelling); compared without case */
    const tg_type *type;
    bool allows_null;
    const tg_interval
        *intervals; /* ascending, disjoint, not adjacent; count 0: no non-NULL value */
    size_t interval_count;
} tg_domain;

typedef struct tg_box {
    const tg_domain *domains; /* sorted by column */
    size_t domain_count;
    const tg_str *opaques; /* sorted canonical texts, all required */
    size_t opaque_count;
} tg_box;

typedef struct tg_region {
    const tg_box *boxes; /* count 0: empty region */
    size_t box_count;
    bool is_upper_bound; /* some condition was dropped (cap, unknown construct): the true set may be
                            smaller */
} tg_region;

tg_region tg_region_all(void);
tg_region tg_region_none(void);
/* All of it, types and texts too. */
tg_region tg_region_copy(tg_arena *arena, tg_region region);
bool tg_region_is_none(tg_region region);
bool tg_region_is_all(tg_region region);
/* column IN interval; the value types equal the column's type. */
tg_region tg_region_interval(tg_arena *arena, tg_str column, const tg_type *type,
                             tg_interval interval);
tg_region tg_region_null(tg_arena *arena, tg_str column, const tg_type *type, bool is_null);
tg_region tg_region_opaque(tg_arena *arena, tg_str canonical_text);
/* Of these and the next ones only the answer takes memory of the arena. */
tg_region tg_region_and(tg_arena *arena, tg_region a, tg_region b);
tg_region tg_region_or(tg_arena *arena, tg_region a, tg_region b);
/* a without b. Where b is an upper bound or has opaque conditions that a lacks, nothing is taken
 * away for that box. */
tg_region tg_region_minus(tg_arena *arena, tg_region a, tg_region b);
/* A subset of a that shares no row with b: what stays of a coverage after b was touched. None where a
 * is an upper bound. */
tg_region tg_region_without(tg_arena *arena, tg_region a, tg_region b);
/* Is every row of inner in outer? True only when proven. */
bool tg_region_contains(tg_region outer, tg_region inner);
/* May they share a row? False only when proven disjoint. */
bool tg_region_meets(tg_region a, tg_region b);
/* For golden files: "(d in [2024-01-01, 2024-01-07] or null) and ..." */
tg_str tg_region_text(tg_arena *arena, tg_region region);

/* What a data file may hold of one column: bounds may be absent (unknown). */
typedef struct tg_column_bounds {
    bool has_min, has_max;
    tg_value min, max;
    int64_t null_count;   /* -1 unknown */
    int64_t record_count; /* -1 unknown */
} tg_column_bounds;
/* The hull of a file as a box region over the columns that have bounds. */
tg_region tg_region_of_bounds(tg_arena *arena, const tg_str *columns, const tg_type *const *types,
                              const tg_column_bounds *bounds, size_t count);

#endif
