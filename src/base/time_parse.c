/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spark's casts from string to date and timestamp.
 *
 * Source: SparkDateTimeUtils.stringToDate and parseTimestampString. What looks odd is theirs:
 * anything may follow 'T' or a blank in a date, fields have one or two digits, digits of a fraction
 * behind the sixth are dropped, a zone needs seconds before it. Not taken over: a time of day
 * alone, which Spark completes by today's date (there is no clock here).
 */
#include "base/time.h"

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, FIELD_COUNT };

/* Java's white space and ISO control characters, of those below 0x80. */
static bool is_trimmed(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte <= 0x20 || byte == 0x7F;
}

static tg_str trim(tg_str text)
{
    size_t from = 0;
    size_t to = text.len;
    while (from < to && is_trimmed(text.ptr[from])) {
        from++;
    }
    while (to > from && is_trimmed(text.ptr[to - 1])) {
        to--;
    }
    return tg_str_sub(text, from, to);
}

static bool is_at(tg_str text, size_t pos, char c)
{
    return pos < text.len && text.ptr[pos] == c;
}

/* Reads min to max digits; more digits or fewer fail. */
static bool read_number(tg_str text, size_t *pos, size_t digits_min, size_t digits_max, int *out)
{
    size_t from = *pos;
    size_t at = from;
    int value = 0;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++) {
        if (at - from == digits_max) {
            return false;
        }
        value = value * 10 + (text.ptr[at] - '0');
    }
    if (at - from < digits_min) {
        return false;
    }
    *pos = at;
    *out = value;
    return true;
}

/* [+-]year[-month[-day]]: fields that are absent stay 1. Tells whether the day was given. */
static bool read_date(tg_str text, size_t *pos, size_t year_digits_max, int fields[FIELD_COUNT],
                      bool *has_day)
{
    bool is_negative = is_at(text, *pos, '-');
    *pos += is_negative || is_at(text, *pos, '+');
    if (!read_number(text, pos, 4, year_digits_max, &fields[YEAR])) {
        return false;
    }
    fields[YEAR] = is_negative ? -fields[YEAR] : fields[YEAR];
    for (int field = MONTH; field <= DAY && is_at(text, *pos, '-'); field++) {
        (*pos)++;
        if (!read_number(text, pos, 1, 2, &fields[field])) {
            return false;
        }
        *has_day = field == DAY;
    }
    return true;
}

static bool is_date_end(tg_str text, size_t pos)
{
    return is_at(text, pos, ' ') || is_at(text, pos, 'T');
}

bool tg_date_parse(tg_str text, int64_t *out_days)
{
    text = trim(text);
    int fields[FIELD_COUNT] = {1, 1, 1};
    size_t pos = 0;
    bool has_day = false;
    if (!read_date(text, &pos, 7, fields, &has_day)) {
        return false;
    }
    bool is_end = pos == text.len || (has_day && is_date_end(text, pos));
    if (!is_end || !tg_date_is_valid(fields[YEAR], fields[MONTH], fields[DAY])) {
        return false;
    }
    int64_t days = tg_days_from_civil(fields[YEAR], fields[MONTH], fields[DAY]);
    if (days < INT32_MIN || days > INT32_MAX) {
        return false;
    }
    *out_days = days;
    return true;
}

/* Up to six digits count, the rest is dropped. No digit at all is a fraction of zero. */
static int read_fraction(tg_str text, size_t *pos)
{
    int value = 0;
    int digits = 0;
    for (; *pos < text.len && text.ptr[*pos] >= '0' && text.ptr[*pos] <= '9'; (*pos)++) {
        if (digits < 6) {
            value = value * 10 + (text.ptr[*pos] - '0');
            digits++;
        }
    }
    for (; digits < 6; digits++) {
        value *= 10;
    }
    return value;
}

/* Hour[:minute[:second[.fraction]]]; has_second tells whether a zone may follow. */
static bool read_time(tg_str text, size_t *pos, int fields[FIELD_COUNT], bool *has_second)
{
    if (!read_number(text, pos, 1, 2, &fields[HOUR])) {
        return false;
    }
    for (int field = MINUTE; field <= SECOND && is_at(text, *pos, ':'); field++) {
        (*pos)++;
        if (!read_number(text, pos, 1, 2, &fields[field])) {
            return false;
        }
        *has_second = field == SECOND;
    }
    if (*has_second && is_at(text, *pos, '.')) {
        (*pos)++;
        fields[FRACTION] = read_fraction(text, pos);
    }
    return fields[HOUR] <= 23 && fields[MINUTE] <= 59 && fields[SECOND] <= 59;
}

/* As if UTC. */
static int64_t local_us_of(const int fields[FIELD_COUNT])
{
    tg_civil civil = {
        .year = fields[YEAR],
        .month = fields[MONTH],
        .day = fields[DAY],
        .hour = fields[HOUR],
        .minute = fields[MINUTE],
        .second = fields[SECOND],
        .microsecond = fields[FRACTION],
    };
    return tg_us_from_civil(&civil);
}

bool tg_timestamp_parse(tg_str text, tg_arena *arena, int64_t *out_us, bool *out_has_zone)
{
    text = trim(text);
    int fields[FIELD_COUNT] = {1, 1, 1, 0, 0, 0, 0};
    size_t pos = 0;
    bool has_day = false;
    bool has_second = false;
    if (!read_date(text, &pos, 6, fields, &has_day)) {
        return false;
    }
    if (has_day && is_date_end(text, pos)) {
        pos++;
        if (!read_time(text, &pos, fields, &has_second)) {
            return false;
        }
    }
    /*
     * Microseconds in 64 bits reach from year -290308 to 294247; a margin of a year keeps zones out
     * of trouble.
     */
    if (!tg_date_is_valid(fields[YEAR], fields[MONTH], fields[DAY]) || fields[YEAR] < -290306 ||
        fields[YEAR] > 294245) {
        return false;
    }
    int64_t local_us = local_us_of(fields);
    if (pos == text.len) {
        *out_us = local_us;
        *out_has_zone = false;
        return true;
    }
    const tg_zone *zone;
    if (!has_second ||
        tg_zone_load(tg_str_trim(tg_str_sub(text, pos, text.len)), arena, &zone, NULL) != TG_OK) {
        return false;
    }
    *out_us = tg_zone_to_us(zone, local_us);
    *out_has_zone = true;
    return true;
}
