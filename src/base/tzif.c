/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TZif files (RFC 8536) and the POSIX TZ string at their end.
 *
 * A version 2 file holds its data twice: with 32-bit times, which are skipped here, and with 64-bit
 * times. Every count and index is checked: the files are not ours.
 */
#include "base/zone_int.h"

enum { HEADER_BYTES = 44, TYPE_BYTES = 6, TIME_BYTES = 8, COUNT_MAX = 100000 };
/*
 * Real offsets stay within 16 hours; wider ones are taken up to a day and a bit, as RFC 8536 says.
 */
enum { OFFSET_MAX = 26 * 3600 };

typedef struct tzif_header {
    int version;
    uint32_t isutc_count, isstd_count, leap_count, time_count, type_count, char_count;
} tzif_header;

static uint64_t read_big_endian(const char *bytes, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

static int32_t read_i32(const char *bytes)
{
    return (int32_t)(uint32_t)read_big_endian(bytes, 4);
}

static bool read_header(tg_str bytes, size_t pos, tzif_header *header)
{
    if (bytes.len - pos < HEADER_BYTES || memcmp(bytes.ptr + pos, "TZif", 4) != 0) {
        return false;
    }
    uint32_t counts[6];
    for (size_t i = 0; i < 6; i++) {
        counts[i] = (uint32_t)read_big_endian(bytes.ptr + pos + 20 + 4 * i, 4);
        if (counts[i] > COUNT_MAX) {
            return false;
        }
    }
    *header = (tzif_header){bytes.ptr[pos + 4], counts[0], counts[1], counts[2],
                            counts[3],          counts[4], counts[5]};
    return true;
}

static size_t body_bytes(const tzif_header *header, size_t time_bytes)
{
    return header->time_count * (time_bytes + 1) + (size_t)header->type_count * TYPE_BYTES +
           header->char_count + header->leap_count * (time_bytes + 4) + header->isstd_count +
           header->isutc_count;
}

static bool read_body(tg_str bytes, size_t pos, const tzif_header *header, tg_arena *arena,
                      tg_zone *zone)
{
    const char *times = bytes.ptr + pos;
    const char *indexes = times + (size_t)header->time_count * TIME_BYTES;
    const char *types = indexes + header->time_count;
    if (header->type_count == 0) {
        return false;
    }
    for (size_t i = 0; i < header->type_count; i++) {
        int32_t offset = read_i32(types + i * TYPE_BYTES);
        if (offset < -OFFSET_MAX || offset > OFFSET_MAX) {
            return false;
        }
    }
    tg_zone_transition *transitions = TG_NEW_ARRAY(arena, tg_zone_transition, header->time_count);
    for (size_t i = 0; i < header->time_count; i++) {
        size_t type = (unsigned char)indexes[i];
        transitions[i].at_second = (int64_t)read_big_endian(times + i * TIME_BYTES, TIME_BYTES);
        if (type >= header->type_count ||
            (i > 0 && transitions[i].at_second <= transitions[i - 1].at_second)) {
            return false;
        }
        transitions[i].offset = read_i32(types + type * TYPE_BYTES);
    }
    zone->first_offset = read_i32(types);
    zone->transitions = transitions;
    zone->transition_count = header->time_count;
    return true;
}

/* A name: letters, or anything in <>. */
static bool skip_name(tg_str text, size_t *pos)
{
    size_t from = *pos;
    if (from < text.len && text.ptr[from] == '<') {
        size_t end = tg_str_find(text, TG_S(">"), from);
        if (end == SIZE_MAX) {
            return false;
        }
        *pos = end + 1;
        return true;
    }
    while (*pos < text.len && ((text.ptr[*pos] | 0x20) >= 'a' && (text.ptr[*pos] | 0x20) <= 'z')) {
        (*pos)++;
    }
    return *pos - from >= 3;
}

static bool read_int(tg_str text, size_t *pos, int value_max, int *out)
{
    size_t from = *pos;
    int value = 0;
    while (*pos < text.len && text.ptr[*pos] >= '0' && text.ptr[*pos] <= '9') {
        value = value * 10 + (text.ptr[*pos] - '0');
        if (value > value_max) {
            return false;
        }
        (*pos)++;
    }
    *out = value;
    return *pos > from;
}

static bool take(tg_str text, size_t *pos, char c)
{
    bool is_there = *pos < text.len && text.ptr[*pos] == c;
    *pos += is_there;
    return is_there;
}

/* [+-]hh[:mm[:ss]] */
static bool read_seconds(tg_str text, size_t *pos, int hours_max, int32_t *out)
{
    bool is_negative = take(text, pos, '-');
    if (!is_negative) {
        (void)take(text, pos, '+');
    }
    int hours;
    int minutes = 0;
    int seconds = 0;
    if (!read_int(text, pos, hours_max, &hours)) {
        return false;
    }
    if (take(text, pos, ':') && !read_int(text, pos, 59, &minutes)) {
        return false;
    }
    if (take(text, pos, ':') && !read_int(text, pos, 59, &seconds)) {
        return false;
    }
    int32_t total = hours * 3600 + minutes * 60 + seconds;
    *out = is_negative ? -total : total;
    return true;
}

static bool read_rule(tg_str text, size_t *pos, tg_zone_rule *rule)
{
    *rule = (tg_zone_rule){.second_of_day = 2 * 3600};
    if (!take(text, pos, ',')) {
        return false;
    }
    if (take(text, pos, 'M')) {
        rule->kind = TG_RULE_MONTH_WEEK_DAY;
        bool is_read = read_int(text, pos, 12, &rule->month) && take(text, pos, '.') &&
                       read_int(text, pos, 5, &rule->week) && take(text, pos, '.') &&
                       read_int(text, pos, 6, &rule->day);
        if (!is_read || rule->month < 1 || rule->week < 1) {
            return false;
        }
    } else {
        rule->kind = take(text, pos, 'J') ? TG_RULE_JULIAN : TG_RULE_DAY;
        if (!read_int(text, pos, 365, &rule->day) ||
            (rule->kind == TG_RULE_JULIAN && rule->day < 1)) {
            return false;
        }
    }
    return !take(text, pos, '/') || read_seconds(text, pos, 167, &rule->second_of_day);
}

bool tg_zone_parse_footer(tg_str text, tg_zone_footer *footer)
{
    *footer = (tg_zone_footer){0};
    size_t pos = 0;
    int32_t west;
    if (!skip_name(text, &pos) || !read_seconds(text, &pos, 24, &west)) {
        return false;
    }
    footer->standard_offset = -west;
    if (pos == text.len) {
        return true;
    }
    footer->has_daylight = true;
    footer->daylight_offset = footer->standard_offset + 3600;
    if (!skip_name(text, &pos)) {
        return false;
    }
    if (pos < text.len && text.ptr[pos] != ',') {
        if (!read_seconds(text, &pos, 24, &west)) {
            return false;
        }
        footer->daylight_offset = -west;
    }
    return read_rule(text, &pos, &footer->start) && read_rule(text, &pos, &footer->end) &&
           pos == text.len;
}

bool tg_zone_parse_tzif(tg_str bytes, tg_arena *arena, tg_zone *zone)
{
    tzif_header header;
    size_t pos = 0;
    if (!read_header(bytes, pos, &header) || header.version < '2') {
        return false;
    }
    size_t first_bytes = HEADER_BYTES + body_bytes(&header, 4);
    if (bytes.len < first_bytes || !read_header(bytes, first_bytes, &header)) {
        return false;
    }
    pos = first_bytes + HEADER_BYTES;
    size_t second_bytes = body_bytes(&header, TIME_BYTES);
    if (bytes.len - pos < second_bytes || !read_body(bytes, pos, &header, arena, zone)) {
        return false;
    }
    tg_str footer = tg_str_trim(tg_str_sub(bytes, pos + second_bytes, bytes.len));
    zone->has_footer = footer.len > 0;
    return !zone->has_footer || tg_zone_parse_footer(footer, &zone->footer);
}
