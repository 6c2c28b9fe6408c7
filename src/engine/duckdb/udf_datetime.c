/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times: zones, calendar arithmetic, patterns. Local times are TIMESTAMPs (microseconds as if UTC).
 */
#include <math.h>

#include "engine/duckdb/udf_int.h"
#include "sql/datetime_pattern.h"

static int64_t floor_days(int64_t us)
{
    return tg_floor_div(us, TG_US_PER_DAY);
}

static int days_in_month(int32_t year, int month)
{
    int day = 31;
    while (!tg_date_is_valid(year, month, day)) {
        day--;
    }
    return day;
}

/* ---- zones ----------------------------------------------------------------------------------- */

static void zone_local(tg_udf_call *call)
{
    const tg_zone *zone = tg_udf_zone(call, tg_udf_str(call, 1));
    if (zone) {
        tg_udf_return_long(call, tg_zone_local_us(zone, tg_udf_long(call, 0)));
    }
}

static void zone_instant(tg_udf_call *call)
{
    const tg_zone *zone = tg_udf_zone(call, tg_udf_str(call, 1));
    if (zone) {
        tg_udf_return_long(call, tg_zone_to_us(zone, tg_udf_long(call, 0)));
    }
}

/* ---- calendar arithmetic --------------------------------------------------------------------- */

static int64_t add_months_to_days(int64_t days, int64_t months)
{
    int32_t year;
    int month, day;
    tg_civil_from_days(days, &year, &month, &day);
    int64_t total = (int64_t)year * 12 + month - 1 + months;
    int32_t to_year = (int32_t)(total / 12 - (total % 12 < 0));
    int to_month = (int)(total - (int64_t)to_year * 12) + 1;
    int last = days_in_month(to_year, to_month);
    return tg_days_from_civil(to_year, to_month, day < last ? day : last);
}

static void add_months(tg_udf_call *call)
{
    int64_t days = add_months_to_days(tg_udf_int(call, 0), tg_udf_int(call, 1));
    if (days >= INT32_MAX || days <= -INT32_MAX) { /* these are DuckDB's infinities */
        tg_udf_fail(call, TG_E_DATETIME_OVERFLOW, "a date is out of range after adding %lld months",
                    (long long)tg_udf_int(call, 1));
        return;
    }
    tg_udf_return_int(call, days);
}

/* False: out of range. */
static bool add_months_to_local(int64_t us, int64_t months, int64_t *out)
{
    int64_t days = floor_days(us);
    tg_int128 sum = (tg_int128)add_months_to_days(days, months) * TG_US_PER_DAY;
    sum += tg_floor_mod(us, TG_US_PER_DAY);
    if (sum >= INT64_MAX || sum <= -INT64_MAX) {
        return false;
    }
    *out = (int64_t)sum;
    return true;
}

static void add_months_local(tg_udf_call *call)
{
    int64_t us;
    if (!add_months_to_local(tg_udf_long(call, 0), tg_udf_int(call, 1), &us)) {
        tg_udf_fail(call, TG_E_DATETIME_OVERFLOW,
                    "a timestamp is out of range after adding %lld months",
                    (long long)tg_udf_int(call, 1));
        return;
    }
    tg_udf_return_long(call, us);
}

/* Whole days by the calendar of the zone, the rest on the time line. */
static void add_day_time(tg_udf_call *call)
{
    const tg_zone *zone = tg_udf_zone(call, tg_udf_str(call, 2));
    if (!zone) {
        return;
    }
    int64_t us = tg_udf_long(call, 0), step = tg_udf_long(call, 1);
    int64_t days = step / TG_US_PER_DAY * TG_US_PER_DAY, local = 0;
    bool overflows = days != 0 && __builtin_add_overflow(tg_zone_local_us(zone, us), days, &local);
    us = days != 0 && !overflows ? tg_zone_to_us(zone, local) : us;
    if (overflows || __builtin_add_overflow(us, step - days, &us)) {
        tg_udf_fail(call, TG_E_DATETIME_OVERFLOW, "a timestamp plus an interval is out of range");
        return;
    }
    tg_udf_return_long(call, us);
}

/* Java's int arithmetic: wraps. */
static void date_add(tg_udf_call *call)
{
    tg_udf_return_int(call,
                      (int32_t)((uint32_t)tg_udf_int(call, 0) + (uint32_t)tg_udf_int(call, 1)));
}

static const struct {
    const char *name;
    int64_t us;
    int months;
} units[] = {{"MICROSECOND", 1, 0},
             {"MILLISECOND", 1000, 0},
             {"SECOND", TG_US_PER_SECOND, 0},
             {"MINUTE", 60 * TG_US_PER_SECOND, 0},
             {"HOUR", 3600 * TG_US_PER_SECOND, 0},
             {"DAY", TG_US_PER_DAY, 0},
             {"WEEK", 7 * TG_US_PER_DAY, 0},
             {"MONTH", 0, 1},
             {"QUARTER", 0, 3},
             {"YEAR", 0, 12}};
enum { UNIT_COUNT = sizeof(units) / sizeof(units[0]) };

static size_t unit_of(tg_str name)
{
    size_t i = 0;
    while (i < UNIT_COUNT - 1 && !tg_str_eq(name, tg_str_from(units[i].name))) {
        i++;
    }
    return i;
}

static void timestamp_add(tg_udf_call *call)
{
    size_t unit = unit_of(tg_udf_str(call, 0));
    int64_t count = tg_udf_long(call, 1), us = tg_udf_long(call, 2), step;
    bool fits;
    if (units[unit].months) {
        fits = count > -10000000 && count < 10000000 &&
               add_months_to_local(us, count * units[unit].months, &us);
    } else {
        fits = !__builtin_mul_overflow(count, units[unit].us, &step) &&
               !__builtin_add_overflow(us, step, &us);
    }
    if (!fits) {
        tg_udf_fail(call, TG_E_DATETIME_OVERFLOW,
                    "a timestamp is out of range after adding %lld %s", (long long)count,
                    units[unit].name);
        return;
    }
    tg_udf_return_long(call, us);
}

/* Whole months from a to b; a day that the target month lacks counts as its last. */
static int64_t whole_months(int64_t a, int64_t b)
{
    int32_t year_a, year_b;
    int month_a, month_b, day_a, day_b;
    int64_t days_a = floor_days(a), days_b = floor_days(b);
    tg_civil_from_days(days_a, &year_a, &month_a, &day_a);
    tg_civil_from_days(days_b, &year_b, &month_b, &day_b);
    int64_t months = ((int64_t)year_b - year_a) * 12 + month_b - month_a;
    int64_t rest_a = (int64_t)day_a * TG_US_PER_DAY + tg_floor_mod(a, TG_US_PER_DAY);
    int64_t rest_b = (int64_t)day_b * TG_US_PER_DAY + tg_floor_mod(b, TG_US_PER_DAY);
    if (months > 0 && rest_b < rest_a) {
        months--;
    } else if (months < 0 && rest_b > rest_a) {
        months++;
    }
    return months;
}

static void timestamp_diff(tg_udf_call *call)
{
    size_t unit = unit_of(tg_udf_str(call, 0));
    int64_t from = tg_udf_long(call, 1), to = tg_udf_long(call, 2), span;
    if (units[unit].months) {
        tg_udf_return_long(call, whole_months(from, to) / units[unit].months);
        return;
    }
    if (__builtin_sub_overflow(to, from, &span)) {
        tg_udf_fail(call, TG_E_DATETIME_OVERFLOW,
                    "the time between two timestamps is out of range");
        return;
    }
    tg_udf_return_long(call, span / units[unit].us);
}

static void months_between(tg_udf_call *call)
{
    int64_t a = tg_udf_long(call, 0), b = tg_udf_long(call, 1);
    int32_t year_a, year_b;
    int month_a, month_b, day_a, day_b;
    int64_t days_a = floor_days(a), days_b = floor_days(b);
    tg_civil_from_days(days_a, &year_a, &month_a, &day_a);
    tg_civil_from_days(days_b, &year_b, &month_b, &day_b);
    double months = (double)(((int64_t)year_a - year_b) * 12 + month_a - month_b);
    bool both_last =
        day_a == days_in_month(year_a, month_a) && day_b == days_in_month(year_b, month_b);
    if (day_a == day_b || both_last) {
        tg_udf_return_double(call, months);
        return;
    }
    int64_t seconds =
        (int64_t)(day_a - day_b) * 86400 + (tg_floor_mod(a, TG_US_PER_DAY) / TG_US_PER_SECOND -
                                            tg_floor_mod(b, TG_US_PER_DAY) / TG_US_PER_SECOND);
    double result = months + (double)seconds / (31.0 * 86400);
    tg_udf_return_double(call, tg_udf_bool(call, 2) ? round(result * 1e8) / 1e8 : result);
}

static void next_day(tg_udf_call *call)
{
    static const char *const names[] = {"SUNDAY",   "MONDAY", "TUESDAY", "WEDNESDAY",
                                        "THURSDAY", "FRIDAY", "SATURDAY"};
    int64_t days = tg_udf_int(call, 0);
    tg_str name = tg_udf_str(call, 1);
    for (int i = 0; i < 7; i++) {
        bool fits =
            tg_str_ieq(name, tg_str_from(names[i])) ||
            ((name.len == 2 || name.len == 3) && tg_str_istarts(tg_str_from(names[i]), name));
        if (fits) {
            /* 1970-01-01 was a Thursday. */
            int today = (int)(((days + 4) % 7 + 7) % 7);
            tg_udf_return_int(call, days + (i - today + 6) % 7 + 1);
            return;
        }
    }
    tg_udf_fail(call, TG_E_ILLEGAL_DAY_OF_WEEK, "'%.*s' is not a day of the week", TG_SARG(name));
}

/* ---- from fields ----------------------------------------------------------------------------- */

static void make_date(tg_udf_call *call)
{
    int year = tg_udf_int(call, 0), month = tg_udf_int(call, 1), day = tg_udf_int(call, 2);
    if (month < 1 || month > 12 || day < 1 || day > 31 || year > 999999 || year < -999999 ||
        !tg_date_is_valid(year, month, day)) {
        tg_udf_fail(call, TG_E_DATETIME_FIELD_OUT_OF_BOUNDS,
                    "there is no date of year %d, month %d, day %d", year, month, day);
        return;
    }
    tg_udf_return_int(call, tg_days_from_civil(year, month, day));
}

/* year, month, day, hour, minute, seconds as DECIMAL(16,6) */
static void make_local(tg_udf_call *call)
{
    int year = tg_udf_int(call, 0), month = tg_udf_int(call, 1), day = tg_udf_int(call, 2);
    int hour = tg_udf_int(call, 3), minute = tg_udf_int(call, 4), scale;
    int64_t micros = (int64_t)tg_udf_decimal(call, 5, &scale);
    bool is_try = tg_udf_bool(call, 6);
    if (micros > 60 * TG_US_PER_SECOND) {
        tg_udf_fail_or_null(call, is_try, TG_E_INVALID_FRACTION_OF_SECOND,
                            "the seconds must be from 0 to 60, and 60 has no fraction");
        return;
    }
    bool fits = month >= 1 && month <= 12 && day >= 1 && day <= 31 && year >= -290000 &&
                year <= 290000 && tg_date_is_valid(year, month, day) && hour >= 0 && hour <= 23 &&
                minute >= 0 && minute <= 59 && micros >= 0;
    if (!fits) {
        tg_udf_fail_or_null(call, is_try, TG_E_DATETIME_FIELD_OUT_OF_BOUNDS,
                            "there is no time %d-%d-%d %d:%d", year, month, day, hour, minute);
        return;
    }
    tg_udf_return_long(call, tg_days_from_civil(year, month, day) * TG_US_PER_DAY +
                                 (int64_t)(hour * 60 + minute) * 60 * TG_US_PER_SECOND + micros);
}

static void interval_too_large(tg_udf_call *call)
{
    tg_udf_fail(call, TG_E_INTERVAL_ARITHMETIC_OVERFLOW, "the interval is too large");
}

static void return_interval(tg_udf_call *call, tg_int128 us)
{
    if (us > INT64_MAX || us < INT64_MIN) {
        interval_too_large(call);
        return;
    }
    tg_udf_return_long(call, (int64_t)us);
}

static void make_dt_interval(tg_udf_call *call)
{
    static const int64_t field_us[] = {TG_US_PER_DAY, 3600 * TG_US_PER_SECOND,
                                       60 * TG_US_PER_SECOND, 1};
    tg_int128 total = 0;
    for (size_t i = 0; i < call->arg_count; i++) {
        int scale;
        total += tg_udf_decimal(call, i, &scale) * field_us[i];
    }
    return_interval(call, total);
}

static void make_ym_interval(tg_udf_call *call)
{
    int64_t months = 0;
    for (size_t i = 0; i < call->arg_count; i++) {
        int scale;
        months += (int64_t)tg_udf_decimal(call, i, &scale) * (i == 0 ? 12 : 1);
    }
    if (months > INT32_MAX || months < INT32_MIN) {
        interval_too_large(call);
        return;
    }
    tg_udf_return_int(call, months);
}

/* ---- scaled intervals ------------------------------------------------------------------------ */

static void return_rounded(tg_udf_call *call, double value)
{
    double rounded = round(value); /* half away from zero */
    if (!(rounded >= -0x1p63 && rounded < 0x1p63)) {
        interval_too_large(call);
        return;
    }
    tg_udf_return_long(call, (int64_t)rounded);
}

static void interval_mul_double(tg_udf_call *call)
{
    return_rounded(call, (double)tg_udf_long(call, 0) * tg_udf_double(call, 1));
}

static void interval_mul_long(tg_udf_call *call)
{
    return_interval(call, (tg_int128)tg_udf_long(call, 0) * tg_udf_long(call, 1));
}

static void interval_div_double(tg_udf_call *call)
{
    double divisor = tg_udf_double(call, 1);
    if (divisor == 0) {
        tg_udf_fail(call, TG_E_INTERVAL_DIVIDED_BY_ZERO, "an interval is divided by zero");
        return;
    }
    return_rounded(call, (double)tg_udf_long(call, 0) / divisor);
}

static void interval_div_long(tg_udf_call *call)
{
    tg_int128 value = tg_udf_long(call, 0), divisor = tg_udf_long(call, 1);
    if (divisor == 0) {
        tg_udf_fail(call, TG_E_INTERVAL_DIVIDED_BY_ZERO, "an interval is divided by zero");
        return;
    }
    tg_int128 quotient = value / divisor, rest = value % divisor;
    tg_int128 size = rest < 0 ? -rest : rest, limit = divisor < 0 ? -divisor : divisor;
    quotient += size * 2 >= limit ? ((value < 0) != (divisor < 0) ? -1 : 1) : 0;
    return_interval(call, quotient);
}

/* ---- patterns -------------------------------------------------------------------------------- */

/*
 * The compiled pattern, kept while rows have the same one. NULL and the error set when it is not
 * valid.
 */
static const tg_datetime_pattern *pattern_of(tg_udf_call *call, tg_str text, bool for_parsing)
{
    if (call->pattern && tg_str_eq(call->pattern_text, text)) {
        return call->pattern;
    }
    tg_datetime_pattern *pattern = TG_NEW(call->arena, tg_datetime_pattern);
    const char *why = "";
    tg_pattern_verdict verdict = tg_datetime_pattern_compile(text, for_parsing, pattern, &why);
    if (verdict != TG_PATTERN_OK) {
        tg_udf_fail(call,
                    verdict == TG_PATTERN_INVALID ? TG_E_INVALID_DATETIME_PATTERN
                                                  : TG_E_UNSUPPORTED_FEATURE,
                    "the datetime pattern '%.*s' cannot be used: %s", TG_SARG(text), why);
        return NULL;
    }
    call->pattern_text = tg_str_copy(call->arena, text);
    call->pattern = pattern;
    return pattern;
}

static void date_format(tg_udf_call *call)
{
    const tg_datetime_pattern *pattern = pattern_of(call, tg_udf_str(call, 1), false);
    const tg_zone *zone = pattern ? tg_udf_zone(call, tg_udf_str(call, 2)) : NULL;
    if (!zone) {
        return;
    }
    int64_t us = tg_udf_long(call, 0);
    if (pattern->needs_zone_name && !tg_str_ieq(tg_zone_name(zone), TG_S("UTC"))) {
        tg_udf_fail(call, TG_E_UNSUPPORTED_FEATURE,
                    "names of zones in datetime patterns are not available");
        return;
    }
    tg_datetime_pattern_format(pattern, tg_zone_local_us(zone, us), tg_zone_offset_at(zone, us),
                               tg_zone_name(zone), &call->text);
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static bool parse(tg_udf_call *call, bool is_try, tg_parsed_time *out)
{
    const tg_datetime_pattern *pattern = pattern_of(call, tg_udf_str(call, 1), true);
    if (!pattern) {
        return false;
    }
    tg_str text = tg_udf_str(call, 0);
    if (!tg_datetime_pattern_parse(pattern, text, out)) {
        tg_udf_fail_or_null(call, is_try, TG_E_CANNOT_PARSE_TIMESTAMP,
                            "the text '%.*s' does not fit the datetime pattern '%.*s'",
                            TG_SARG(text), TG_SARG(tg_udf_str(call, 1)));
        return false;
    }
    return true;
}

/* The local date; a zone in the text means nothing. */
static void parse_date(tg_udf_call *call)
{
    tg_parsed_time time;
    if (parse(call, tg_udf_bool(call, 2), &time)) {
        tg_udf_return_int(call, floor_days(time.local_us));
    }
}

static void parse_timestamp(tg_udf_call *call)
{
    tg_parsed_time time;
    bool is_try = tg_udf_bool(call, 3);
    if (!parse(call, is_try, &time)) {
        return;
    }
    const tg_zone *zone;
    if (time.zone[0] == '\0') {
        zone = tg_udf_zone(call, tg_udf_str(call, 2));
        if (!zone) {
            return;
        }
    } else if (tg_zone_load(tg_str_from(time.zone), call->arena, &zone, NULL) != TG_OK) {
        tg_udf_fail_or_null(call, is_try, TG_E_CANNOT_PARSE_TIMESTAMP,
                            "the time zone '%s' is not known", time.zone);
        return;
    }
    tg_udf_return_long(call, tg_zone_to_us(zone, time.local_us));
}

const tg_udf tg_udf_table_datetime[] = {
    {"tg_zone_local", "Zs>T", zone_local, false},
    {"tg_zone_instant", "Ts>Z", zone_instant, false},
    {"tg_add_months", "Di>D", add_months, false},
    {"tg_add_months_local", "Ti>T", add_months_local, false},
    {"tg_add_day_time", "Zls>Z", add_day_time, false},
    {"tg_date_add", "Di>D", date_add, false},
    {"tg_timestamp_add", "slT>T", timestamp_add, false},
    {"tg_timestamp_diff", "sTT>l", timestamp_diff, false},
    {"tg_months_between", "TTb>d", months_between, false},
    {"tg_next_day", "Ds>D", next_day, false},
    {"tg_make_date", "iii>D", make_date, false},
    {"tg_make_local", "iiiiinb>T", make_local, false},
    {"tg_make_dt_interval", "*>l", make_dt_interval, false},
    {"tg_make_ym_interval", "*>i", make_ym_interval, false},
    {"tg_interval_mul", "ll>l", interval_mul_long, false},
    {"tg_interval_mul", "ld>l", interval_mul_double, false},
    {"tg_interval_div", "ll>l", interval_div_long, false},
    {"tg_interval_div", "ld>l", interval_div_double, false},
    {"tg_date_format", "Zss>s", date_format, false},
    {"tg_parse_date", "ssb>D", parse_date, false},
    {"tg_parse_timestamp", "sssb>Z", parse_timestamp, false},
    {NULL, NULL, NULL, false},
};
