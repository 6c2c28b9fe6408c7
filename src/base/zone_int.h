/* SPDX-License-Identifier: Apache-2.0 */
/* Private to base: zones with transitions, read from TZif files (RFC 8536). */
#ifndef TG_BASE_ZONE_INT_H
#define TG_BASE_ZONE_INT_H

#include "base/time.h"

typedef enum tg_zone_rule_kind {
    TG_RULE_MONTH_WEEK_DAY, /* Mm.w.d: weekday d (0 Sunday) in week w (5: last) of month m */
    TG_RULE_JULIAN,         /* Jn: day 1..365, 29 February is never counted */
    TG_RULE_DAY             /* n: day 0..365, 29 February is counted */
} tg_zone_rule_kind;

/* When in a year the offset changes: local time before the change. */
typedef struct tg_zone_rule {
    tg_zone_rule_kind kind;
    int month, week, day;
    int32_t second_of_day; /* may be negative or beyond a day */
} tg_zone_rule;

/* The rule for times behind the last transition ("CET-1CEST,M3.5.0,M10.5.0/3"). */
typedef struct tg_zone_footer {
    bool has_daylight;
    int32_t standard_offset, daylight_offset; /* seconds east of UTC */
    tg_zone_rule start, end;
} tg_zone_footer;

typedef struct tg_zone_transition {
    int64_t at_second;
    int32_t offset; /* from then on */
} tg_zone_transition;

struct tg_zone {
    tg_str name;
    int32_t first_offset; /* before the first transition */
    const tg_zone_transition *transitions;
    size_t transition_count;
    bool has_footer;
    tg_zone_footer footer;
};

/* Fills all but the name. False when the bytes are no valid TZif file of version 2 or later. */
bool tg_zone_parse_tzif(tg_str bytes, tg_arena *arena, tg_zone *zone);
/* Exposed for tests and fuzzing. */
bool tg_zone_parse_footer(tg_str text, tg_zone_footer *footer);

#endif
