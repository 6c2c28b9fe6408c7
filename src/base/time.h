/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Civil time: proleptic Gregorian calendar, days and microseconds since 1970-01-01, and time zones.
 *
 * Zones: IANA names from the system's tzdata (TZif files, also future dates by their POSIX footer),
 * "UTC", "Z", and fixed offsets as Spark accepts them ("+02:00", "GMT+2", "UTC-05:30"). Source:
 * Spark's DateTimeUtils.getZoneId.
 */
#ifndef TG_BASE_TIME_H
#define TG_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TG_US_PER_SECOND INT64_C(1000000)
#define TG_US_PER_DAY INT64_C(86400000000)

/* Division rounded down, of a by a positive b: instants before 1970 are negative. */
static inline int64_t tg_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}
/* What tg_floor_div leaves: 0 <= rest < b, for b > 0. Unlike a - quotient * b it cannot overflow. */
static inline int64_t tg_floor_mod(int64_t a, int64_t b)
{
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

typedef struct tg_civil {
    int32_t year;
    int month, day;           /* 1..12, 1..31 */
    int hour, minute, second; /* 0..23, 0..59, 0..59 */
    int microsecond;          /* 0..999999 */
} tg_civil;

int64_t tg_days_from_civil(int32_t year, int month, int day);
void tg_civil_from_days(int64_t days, int32_t *year, int *month, int *day);
bool tg_date_is_valid(int32_t year, int month, int day);
int64_t tg_us_from_civil(const tg_civil *civil);    /* as if UTC */
void tg_civil_from_us(int64_t us, tg_civil *civil); /* as if UTC */

typedef struct tg_zone tg_zone;
/* Loads a zone; memory in the arena. INVALID_TIMEZONE (22009) with a suggestion when unknown. */
TG_CHECKED tg_code tg_zone_load(tg_str name, tg_arena *arena, const tg_zone **out_zone,
                                tg_error *err);
const tg_zone *tg_zone_utc(void);
/* The name as given (normalised for offsets: "+02:00"). */
tg_str tg_zone_name(const tg_zone *zone);
/* Is it an offset ("+02:00", "GMT+02:00", "UT") and no region? */
bool tg_zone_is_fixed(const tg_zone *zone);
/* Offset from UTC in seconds at an instant (microseconds since the epoch). */
int32_t tg_zone_offset_at(const tg_zone *zone, int64_t us);
/*
 * Local to instant, Java's rule: in a gap the local time is moved forward by the gap's length, in
 * an overlap the earlier offset wins. Both ways the ends of the range are not left: what lies behind
 * them becomes them.
 */
int64_t tg_zone_to_us(const tg_zone *zone, int64_t local_us);
int64_t tg_zone_local_us(const tg_zone *zone, int64_t us);

/* "YYYY-MM-DD" (years beyond 9999 with a sign). */
tg_str tg_date_text(tg_arena *arena, int64_t days);
/*
 * "YYYY-MM-DD HH:MM:SS[.ffffff]" of a local time, trailing zeros of the fraction dropped (Spark's
 * cast to string).
 */
tg_str tg_local_text(tg_arena *arena, int64_t local_us);
/* "YYYY-MM-DDTHH:MM:SS.ffffffZ" of an instant, always six digits. */
tg_str tg_instant_text(tg_arena *arena, int64_t us);
/*
 * Spark's string to date / timestamp casts (SparkDateTimeUtils): "YYYY", "YYYY-MM", "YYYY-MM-DD",
 * with 'T' or blank and a time of day, an optional zone; blanks at both ends are trimmed. Special
 * words (epoch, now ...) are not accepted here, nor dates beyond 32 bits of days.
 * has_zone tells whether the text named a zone; without one the result is the local time as if UTC.
 */
bool tg_date_parse(tg_str text, int64_t *out_days);
bool tg_timestamp_parse(tg_str text, tg_arena *arena, int64_t *out_us, bool *out_has_zone);

#endif
