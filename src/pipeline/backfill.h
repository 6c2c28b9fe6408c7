/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backfills: a range of a REPLACE WHERE flow cut into chunks, each an override of its own (design
 * 4.4, 6.3). Here is what can be said without running anything: steps, bounds, chunks and their
 * predicates. The journal (journal.h) keeps what was done; api runs the chunks.
 *
 * Ranges are half-open: [from, to). Days and longer are steps of the calendar in the session zone,
 * hours and shorter are lengths of time; chunks are counted from the range's start, so that a month
 * after January 31 is February's last day and the next one March 31 again.
 */
#ifndef TG_PIPELINE_BACKFILL_H
#define TG_PIPELINE_BACKFILL_H

#include "pipeline/pipeline.h"

typedef enum tg_step_unit {
    TG_UNIT_NONE, /* plain numbers */
    TG_UNIT_SECOND,
    TG_UNIT_MINUTE,
    TG_UNIT_HOUR,
    TG_UNIT_DAY,
    TG_UNIT_WEEK,
    TG_UNIT_MONTH,
    TG_UNIT_QUARTER,
    TG_UNIT_YEAR,
    TG_UNIT_COUNT_
} tg_step_unit;

typedef struct tg_backfill_step {
    int64_t count;
    tg_step_unit unit;
} tg_backfill_step;

/* "7 days", "1 MONTH", "day", "1000". TIDEGATE_INVALID_OPTION with the nearest unit. */
TG_CHECKED tg_code tg_backfill_step_parse(tg_str text, tg_backfill_step *out, tg_error *err);
/* Is a word meant as a unit, maybe misspelt? */
bool tg_backfill_is_unit(tg_str word);

/* The column that the chunks are cut by. */
typedef struct tg_backfill_column {
    tg_str name;
    const tg_type *type; /* DATE, TIMESTAMP, TIMESTAMP_NTZ or an integer */
} tg_backfill_column;

/*
 * wanted: --column, or empty for the one column of the flow's predicate that has bounds. output: of
 * the flow's query. Errors name the candidates.
 */
TG_CHECKED tg_code tg_backfill_choose_column(const tg_flow *flow, tg_schema output, tg_str wanted,
                                             int64_t now_us, const tg_zone *zone, tg_arena *arena,
                                             tg_backfill_column *out, tg_error *err);
/* A bound as users write it; option ("--from") is for messages. */
TG_CHECKED tg_code tg_backfill_bound(tg_str text, const char *option,
                                     const tg_backfill_column *column, const tg_zone *zone,
                                     tg_arena *arena, tg_value *out, tg_error *err);
/* As people read it, instants in the session's zone. */
tg_str tg_backfill_bound_text(tg_arena *arena, tg_value bound, const tg_zone *zone);

typedef struct tg_backfill_chunk {
    tg_value from, to;
    tg_str predicate; /* column >= from AND column < to, as typed literals */
} tg_backfill_chunk;

/*
 * Cuts [from, to). Chunks without a value (a day that the zone skipped) are left out. Errors: from is
 * not before to, a unit that does not fit the column, TIDEGATE_LIMIT_EXCEEDED.
 */
TG_CHECKED tg_code tg_backfill_cut(const tg_backfill_column *column, tg_value from, tg_value to,
                                   tg_backfill_step step, const tg_zone *zone, tg_arena *arena,
                                   tg_backfill_chunk **out_chunks, size_t *out_count,
                                   tg_error *err);
/*
 * The rows that intervals tell to be covered, as a region: what a chunk must lie in to be skipped.
 * Unproven is not covered.
 */
tg_region tg_backfill_covered(const tg_plan_interval *intervals, size_t count, tg_schema output,
                              int64_t now_us, const tg_zone *zone, tg_arena *arena);
tg_region tg_backfill_region(const tg_backfill_column *column, const tg_backfill_chunk *chunk,
                             tg_arena *arena);

#endif
