/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Days and civil dates of the proleptic Gregorian calendar, and their texts.
 *
 * Years are counted from March here, so that the leap day is a year's last day; 400 years ("era")
 * have 146,097 days.
 */
#include "base/time.h"

enum { DAYS_PER_ERA = 146097, DAYS_TO_EPOCH = 719468 /* 0000-03-01 to 1970-01-01 */ };

int64_t tg_days_from_civil(int32_t year, int month, int day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = tg_floor_div(y, 400);
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_EPOCH;
}

void tg_civil_from_days(int64_t days, int32_t *year, int *month, int *day)
{
    int64_t z = days + DAYS_TO_EPOCH;
    int64_t era = tg_floor_div(z, DAYS_PER_ERA);
    int64_t day_of_era = z - era * DAYS_PER_ERA;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t m = (5 * day_of_year + 2) / 153; /* 0 is March */
    *day = (int)(day_of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int32_t)(year_of_era + era * 400 + (*month <= 2));
}

bool tg_date_is_valid(int32_t year, int month, int day)
{
    static const int days_of_month[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) {
        return false;
    }
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days_of_month[month - 1] + (month == 2 && is_leap);
}

int64_t tg_us_from_civil(const tg_civil *civil)
{
    int64_t days = tg_days_from_civil(civil->year, civil->month, civil->day);
    int64_t seconds = (int64_t)civil->hour * 3600 + (int64_t)civil->minute * 60 + civil->second;
    return days * TG_US_PER_DAY + seconds * TG_US_PER_SECOND + civil->microsecond;
}

void tg_civil_from_us(int64_t us, tg_civil *civil)
{
    int64_t days = tg_floor_div(us, TG_US_PER_DAY);
    int64_t of_day = tg_floor_mod(us, TG_US_PER_DAY);
    int64_t seconds = of_day / TG_US_PER_SECOND;
    tg_civil_from_days(days, &civil->year, &civil->month, &civil->day);
    civil->hour = (int)(seconds / 3600);
    civil->minute = (int)(seconds / 60 % 60);
    civil->second = (int)(seconds % 60);
    civil->microsecond = (int)(of_day % TG_US_PER_SECOND);
}

static void add_date(tg_buf *out, int32_t year, int month, int day)
{
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    tg_buf_addf(out, "%s%04lld-%02d-%02d", sign, year < 0 ? -(long long)year : (long long)year,
                month, day);
}

static void add_civil(tg_buf *out, const tg_civil *civil, char separator)
{
    add_date(out, civil->year, civil->month, civil->day);
    tg_buf_addf(out, "%c%02d:%02d:%02d", separator, civil->hour, civil->minute, civil->second);
}

tg_str tg_date_text(tg_arena *arena, int64_t days)
{
    int32_t year;
    int month;
    int day;
    tg_civil_from_days(days, &year, &month, &day);
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    add_date(&out, year, month, day);
    return tg_buf_take(&out, arena);
}

tg_str tg_local_text(tg_arena *arena, int64_t local_us)
{
    tg_civil civil;
    tg_civil_from_us(local_us, &civil);
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    add_civil(&out, &civil, ' ');
    if (civil.microsecond) {
        tg_buf_addf(&out, ".%06d", civil.microsecond);
        while (out.ptr[out.len - 1] == '0') {
            out.len--;
        }
    }
    return tg_buf_take(&out, arena);
}

tg_str tg_instant_text(tg_arena *arena, int64_t us)
{
    tg_civil civil;
    tg_civil_from_us(us, &civil);
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    add_civil(&out, &civil, 'T');
    tg_buf_addf(&out, ".%06dZ", civil.microsecond);
    return tg_buf_take(&out, arena);
}
