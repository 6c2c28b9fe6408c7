/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones: names, offsets at an instant, local time to instant.
 *
 * Times are whole seconds inside; the microseconds are carried along. A zone is its list of
 * transitions, continued behind the last one by the footer's rule, two transitions a year. A fixed
 * offset is a zone without transitions.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/zone_int.h"

#define ZONE_FOLDER "/usr/share/zoneinfo"
enum { ZONE_FILE_BYTES_MAX = 1024 * 1024, OFFSET_SECONDS_MAX = 18 * 3600, SECONDS_PER_DAY = 86400 };

/* ---- transitions ---- */

/* Day of a rule in a year, counted from 1970-01-01. */
static int64_t rule_day(const tg_zone_rule *rule, int32_t year)
{
    int64_t new_year = tg_days_from_civil(year, 1, 1);
    if (rule->kind == TG_RULE_DAY) {
        return new_year + rule->day;
    }
    if (rule->kind == TG_RULE_JULIAN) {
        bool counts_leap_day = rule->day >= 60 && tg_date_is_valid(year, 2, 29);
        return new_year + rule->day - 1 + counts_leap_day;
    }
    int64_t first = tg_days_from_civil(year, rule->month, 1);
    int64_t first_weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
    int64_t day = first + (rule->day - first_weekday + 7) % 7 + 7 * (int64_t)(rule->week - 1);
    int64_t next_month = rule->month == 12 ? tg_days_from_civil(year + 1, 1, 1)
                                           : tg_days_from_civil(year, rule->month + 1, 1);
    return day >= next_month ? day - 7 : day;
}

static tg_zone_transition rule_transition(const tg_zone_footer *footer, int32_t year,
                                          bool to_daylight)
{
    const tg_zone_rule *rule = to_daylight ? &footer->start : &footer->end;
    int32_t offset_before = to_daylight ? footer->standard_offset : footer->daylight_offset;
    return (tg_zone_transition){
        .at_second = rule_day(rule, year) * SECONDS_PER_DAY + rule->second_of_day - offset_before,
        .offset = to_daylight ? footer->daylight_offset : footer->standard_offset,
    };
}

enum { YEARS_AROUND = 3, FOOTER_TRANSITIONS = 2 * YEARS_AROUND };

/* The rule's transitions of the years around an instant, in order. */
static void footer_transitions(const tg_zone_footer *footer, int64_t second,
                               tg_zone_transition out[FOOTER_TRANSITIONS])
{
    int32_t year;
    int month;
    int day;
    tg_civil_from_days(tg_floor_div(second, SECONDS_PER_DAY), &year, &month, &day);
    for (size_t i = 0; i < YEARS_AROUND; i++) {
        tg_zone_transition start = rule_transition(footer, year - 1 + (int32_t)i, true);
        tg_zone_transition end = rule_transition(footer, year - 1 + (int32_t)i, false);
        bool is_north = start.at_second < end.at_second;
        out[2 * i] = is_north ? start : end;
        out[2 * i + 1] = is_north ? end : start;
    }
}

/* Number of stored transitions at or before the instant. */
static size_t count_until(const tg_zone *zone, int64_t second)
{
    size_t low = 0;
    size_t high = zone->transition_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->transitions[middle].at_second <= second) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int32_t offset_at(const tg_zone *zone, int64_t second)
{
    size_t count = count_until(zone, second);
    if (count < zone->transition_count || !zone->has_footer) {
        return count ? zone->transitions[count - 1].offset : zone->first_offset;
    }
    if (!zone->footer.has_daylight) {
        return zone->footer.standard_offset;
    }
    tg_zone_transition around[FOOTER_TRANSITIONS];
    footer_transitions(&zone->footer, second, around);
    int32_t offset = zone->footer.standard_offset;
    for (size_t i = 0; i < FOOTER_TRANSITIONS && around[i].at_second <= second; i++) {
        offset = around[i].offset;
    }
    return offset;
}

/* The first transition after the instant; false when there is none. */
static bool next_transition(const tg_zone *zone, int64_t second, tg_zone_transition *out)
{
    size_t count = count_until(zone, second);
    if (count < zone->transition_count) {
        *out = zone->transitions[count];
        return true;
    }
    if (!zone->has_footer || !zone->footer.has_daylight) {
        return false;
    }
    tg_zone_transition around[FOOTER_TRANSITIONS];
    footer_transitions(&zone->footer, second, around);
    for (size_t i = 0; i < FOOTER_TRANSITIONS; i++) {
        if (around[i].at_second > second) {
            *out = around[i];
            return true;
        }
    }
    return false;
}

int32_t tg_zone_offset_at(const tg_zone *zone, int64_t us)
{
    return offset_at(zone, tg_floor_div(us, TG_US_PER_SECOND));
}

/* At the ends of time the sum stays there. */
static int64_t shifted(int64_t us, int64_t seconds)
{
    int64_t sum;
    if (__builtin_add_overflow(us, seconds * TG_US_PER_SECOND, &sum)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return sum;
}

int64_t tg_zone_local_us(const tg_zone *zone, int64_t us)
{
    return shifted(us, tg_zone_offset_at(zone, us));
}

int64_t tg_zone_to_us(const tg_zone *zone, int64_t local_us)
{
    int64_t local = tg_floor_div(local_us, TG_US_PER_SECOND);
    /*
     * Walk from an instant that is surely earlier: the first offset under which the local time
     * exists is the earlier one.
     */
    int64_t from = local - INT64_C(2) * SECONDS_PER_DAY;
    int32_t offset = offset_at(zone, from);
    tg_zone_transition next;
    while (next_transition(zone, from, &next) && local - offset >= next.at_second) {
        if (local - next.offset < next.at_second) {
            break; /* in a gap: the offset before it moves the time forward by the gap's length */
        }
        offset = next.offset;
        from = next.at_second;
    }
    return shifted(local_us, -(int64_t)offset);
}

/* ---- names ---- */

const tg_zone *tg_zone_utc(void)
{
    static const tg_zone utc = {.name = {"UTC", 3}};
    return &utc;
}

tg_str tg_zone_name(const tg_zone *zone)
{
    return zone->name;
}

bool tg_zone_is_fixed(const tg_zone *zone)
{
    return zone->transition_count == 0 && !zone->has_footer;
}

static const tg_zone *fixed_zone(tg_arena *arena, const char *prefix, int32_t offset)
{
    tg_zone *zone = TG_NEW(arena, tg_zone);
    zone->first_offset = offset;
    int32_t size = offset < 0 ? -offset : offset;
    char seconds[8] = "";
    if (size % 60) {
        (void)snprintf(seconds, sizeof(seconds), ":%02d", size % 60);
    }
    zone->name = tg_str_printf(arena, "%s%c%02d:%02d%s", prefix, offset < 0 ? '-' : '+',
                               size / 3600, size / 60 % 60, seconds);
    return zone;
}

/* Digits of a field of an offset: reads as many as there are and tells how many. */
static size_t read_field(tg_str text, size_t *pos, int *out)
{
    size_t from = *pos;
    *out = 0;
    while (*pos < text.len && *pos - from < 2 && text.ptr[*pos] >= '0' && text.ptr[*pos] <= '9') {
        *out = *out * 10 + (text.ptr[*pos] - '0');
        (*pos)++;
    }
    return *pos - from;
}

/*
 * Java's ZoneOffset.of with Spark's two extensions: +h +hh +hh:mm +hhmm +hh:mm:ss +hhmmss, and
 * +h:mm, +hh:m. Within 18 hours.
 */
static bool parse_offset(tg_str text, int32_t *out)
{
    if (text.len < 2 || (text.ptr[0] != '+' && text.ptr[0] != '-')) {
        return false;
    }
    size_t pos = 1;
    int fields[3] = {0, 0, 0};
    size_t hour_digits = read_field(text, &pos, &fields[0]);
    if (hour_digits == 0) {
        return false;
    }
    bool has_colons = pos < text.len && text.ptr[pos] == ':';
    for (int i = 1; i < 3 && pos < text.len; i++) {
        if (has_colons && text.ptr[pos++] != ':') {
            return false;
        }
        size_t digits = read_field(text, &pos, &fields[i]);
        bool may_be_short = has_colons && i == 1 && pos == text.len;
        if (digits == 0 || (digits == 1 && !may_be_short) || (!has_colons && hour_digits == 1)) {
            return false;
        }
    }
    int32_t total = fields[0] * 3600 + fields[1] * 60 + fields[2];
    if (pos != text.len || fields[1] > 59 || fields[2] > 59 || total > OFFSET_SECONDS_MAX) {
        return false;
    }
    *out = text.ptr[0] == '-' ? -total : total;
    return true;
}

/* Java's ZoneId.SHORT_IDS, which Spark passes to ZoneId.of. */
static const char *const short_ids[][2] = {
    {"ACT", "Australia/Darwin"},
    {"AET", "Australia/Sydney"},
    {"AGT", "America/Argentina/Buenos_Aires"},
    {"ART", "Africa/Cairo"},
    {"AST", "America/Anchorage"},
    {"BET", "America/Sao_Paulo"},
    {"BST", "Asia/Dhaka"},
    {"CAT", "Africa/Harare"},
    {"CNT", "America/St_Johns"},
    {"CST", "America/Chicago"},
    {"CTT", "Asia/Shanghai"},
    {"EAT", "Africa/Addis_Ababa"},
    {"ECT", "Europe/Paris"},
    {"EST", "-05:00"},
    {"HST", "-10:00"},
    {"IET", "America/Indiana/Indianapolis"},
    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},
    {"MIT", "Pacific/Apia"},
    {"MST", "-07:00"},
    {"NET", "Asia/Yerevan"},
    {"NST", "Pacific/Auckland"},
    {"PLT", "Asia/Karachi"},
    {"PNT", "America/Phoenix"},
    {"PRT", "America/Puerto_Rico"},
    {"PST", "America/Los_Angeles"},
    {"SST", "Pacific/Guadalcanal"},
    {"VST", "Asia/Ho_Chi_Minh"},
};

static tg_str expand_short_id(tg_str name)
{
    for (size_t i = 0; i < sizeof(short_ids) / sizeof(short_ids[0]); i++) {
        if (tg_str_eq(name, tg_str_from(short_ids[i][0]))) {
            return tg_str_from(short_ids[i][1]);
        }
    }
    return name;
}

/* "UTC", "GMT", "UT", alone or with an offset behind. */
static const tg_zone *utc_based_zone(tg_str name, tg_arena *arena)
{
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        tg_str prefix = tg_str_from(prefixes[i]);
        if (!tg_str_starts(name, prefix)) {
            continue;
        }
        int32_t offset = 0;
        if (name.len > prefix.len &&
            !parse_offset(tg_str_sub(name, prefix.len, name.len), &offset)) {
            continue;
        }
        if (offset != 0) {
            return fixed_zone(arena, prefixes[i], offset);
        }
        tg_zone *zone = TG_NEW(arena, tg_zone);
        zone->name = prefix;
        return zone;
    }
    return NULL;
}

/* Java's pattern for region names; it also keeps the path inside the folder. */
static bool is_region_name(tg_str name)
{
    if (name.len < 2 || name.len > 64 || tg_str_find(name, TG_S(".."), 0) != SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool is_other = c != '\0' && strchr("0123456789~/._+-", c) != NULL;
        if (!is_letter && !(i > 0 && is_other)) {
            return false;
        }
    }
    return true;
}

/* A whole small regular file; false when it is absent, unreadable or too large. */
static bool read_small_file(const char *path, tg_buf *out)
{
    FILE *file = fopen(path, "rbe");
    struct stat info;
    if (!file) {
        return false;
    }
    bool is_read = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) &&
                   info.st_size <= ZONE_FILE_BYTES_MAX;
    if (is_read) {
        tg_buf_reserve(out, (size_t)info.st_size);
        out->len = fread(out->ptr, 1, (size_t)info.st_size, file);
        is_read = out->len == (size_t)info.st_size;
    }
    (void)fclose(file);
    return is_read;
}

/* The zone whose file holds what Java knows of a zone. */
static tg_str linked_zone(tg_str name)
{
    static const char *const links[][2] = {
#define TG_ZONE_LINK(zone, target) {zone, target},
#include "base/zone_links.def"
#undef TG_ZONE_LINK
    };
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (tg_str_eq(name, tg_str_from(links[i][0]))) {
            return tg_str_from(links[i][1]);
        }
    }
    return name;
}

static const tg_zone *region_zone(tg_str name, tg_arena *arena)
{
    if (!is_region_name(name)) {
        return NULL;
    }
    char path[128];
    (void)snprintf(path, sizeof(path), ZONE_FOLDER "/%.*s", TG_SARG(linked_zone(name)));
    tg_auto_buf tg_buf bytes = TG_BUF_INIT;
    tg_zone *zone = TG_NEW(arena, tg_zone);
    if (!read_small_file(path, &bytes) || !tg_zone_parse_tzif(tg_buf_str(&bytes), arena, zone)) {
        return NULL;
    }
    zone->name = tg_str_copy(arena, name);
    return zone;
}

/* Names in tzdata's table of zones and links: lines "Z name ..." and "L target name". */
static tg_str nearest_zone_name(tg_str name, tg_arena *arena)
{
    tg_auto_buf tg_buf bytes = TG_BUF_INIT;
    TG_VEC(tg_str) names = {0};
    TG_VEC_PUSH(arena, &names, TG_S("UTC"));
    TG_VEC_PUSH(arena, &names, TG_S("GMT"));
    if (read_small_file(ZONE_FOLDER "/tzdata.zi", &bytes)) {
        tg_str text = tg_buf_str(&bytes);
        for (size_t pos = 0; pos < text.len;) {
            size_t end = tg_str_find(text, TG_S("\n"), pos);
            end = end == SIZE_MAX ? text.len : end;
            tg_str line = tg_str_sub(text, pos, end);
            bool is_zone = tg_str_starts(line, TG_S("Z "));
            if (is_zone || tg_str_starts(line, TG_S("L "))) {
                size_t from = is_zone ? 2 : tg_str_find(line, TG_S(" "), 2);
                from = from == SIZE_MAX ? line.len : is_zone ? from : from + 1;
                size_t to = tg_str_find(line, TG_S(" "), from);
                TG_VEC_PUSH(arena, &names, tg_str_sub(line, from, to == SIZE_MAX ? line.len : to));
            }
            pos = end + 1;
        }
    }
    return tg_str_copy(arena, tg_str_nearest(name, names.items, names.count));
}

static const tg_zone *load(tg_str name, tg_arena *arena)
{
    tg_str id = expand_short_id(name);
    int32_t offset;
    if (tg_str_eq(id, TG_S("Z"))) {
        tg_zone *zone = TG_NEW(arena, tg_zone);
        zone->name = TG_S("Z");
        return zone;
    }
    if (parse_offset(id, &offset)) {
        return offset == 0 ? load(TG_S("Z"), arena) : fixed_zone(arena, "", offset);
    }
    const tg_zone *zone = utc_based_zone(id, arena);
    return zone ? zone : region_zone(id, arena);
}

tg_code tg_zone_load(tg_str name, tg_arena *arena, const tg_zone **out_zone, tg_error *err)
{
    const tg_zone *zone = load(name, arena);
    if (zone) {
        *out_zone = zone;
        return TG_OK;
    }
    tg_code code = TG_ERR(err, INVALID_TIMEZONE, "time zone '%.*s' is not known", TG_SARG(name));
    if (err) {
        tg_auto_arena tg_arena *scratch = tg_arena_new();
        tg_str nearest = nearest_zone_name(name, scratch);
        if (access(ZONE_FOLDER, R_OK) != 0) {
            (void)tg_error_hint(err, "Time zones are read from " ZONE_FOLDER
                                     ": install the package tzdata.");
        } else if (nearest.len > 0) {
            (void)tg_error_hint(err, "Did you mean '%.*s'?", TG_SARG(nearest));
        } else {
            (void)tg_error_hint(
                err, "Use a region such as 'Europe/Lisbon', 'UTC', or an offset such as '+02:00'.");
        }
    }
    return code;
}
