/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datetime patterns: compiling, formatting, parsing.
 *
 * Sources: Spark's documentation "Datetime patterns" and that of
 * java.time.format.DateTimeFormatterBuilder (Java 17): names are English, parsing ignores case,
 * resolving is strict, a text must be used up. When parsing, S takes one to as many digits as it is
 * repeated.
 */
#include <ctype.h>
#include <stdio.h>

#include "sql/datetime_pattern.h"

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const day_names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};

/* ---- compiling ------------------------------------------------------------------------------- */

/* Letters, how often they may stand, and whether they may be parsed. */
static const struct {
    char letter;
    int count_max;
    bool can_parse;
} letters[] = {{'y', 6, true},  {'M', 4, true},  {'L', 4, true}, {'d', 2, true}, {'D', 3, true},
               {'E', 4, false}, {'a', 1, true},  {'h', 2, true}, {'K', 2, true}, {'k', 2, true},
               {'H', 2, true},  {'m', 2, true},  {'s', 2, true}, {'S', 9, true}, {'Q', 4, false},
               {'q', 4, false}, {'G', 4, false}, {'X', 3, true}, {'x', 3, true}, {'Z', 5, true},
               {'O', 1, false}, {'V', 2, true},  {'z', 4, false}};

static tg_pattern_verdict check_letter(char letter, int count, bool for_parsing,
                                       const char **out_why)
{
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].letter != letter) {
            continue;
        }
        if (count > letters[i].count_max || (letter == 'V' && count != 2)) {
            *out_why = "a letter is repeated too often";
            return TG_PATTERN_INVALID;
        }
        if (for_parsing && letter == 'E') {
            *out_why = "the day of the week (E) cannot be parsed";
            return TG_PATTERN_INVALID;
        }
        if (for_parsing && (!letters[i].can_parse || (letter == 'Z' && count > 3))) {
            *out_why = "parsing this letter is not available yet";
            return TG_PATTERN_UNSUPPORTED;
        }
        return TG_PATTERN_OK;
    }
    if (letter == 'F') {
        *out_why = "the letter F is not available yet";
        return TG_PATTERN_UNSUPPORTED;
    }
    *out_why = strchr("YwWuec", letter) ? "week-based letters (Y, w, W, u, e, c) are not allowed"
                                        : "a letter means nothing; quote it";
    return TG_PATTERN_INVALID;
}

static bool add_text(tg_datetime_pattern *out, char c)
{
    bool extends = out->item_count > 0 && out->items[out->item_count - 1].letter == '\'' &&
                   out->items[out->item_count - 1].count < 255;
    if (out->text_len == TG_PATTERN_TEXT_MAX ||
        (!extends && out->item_count == TG_PATTERN_ITEMS_MAX)) {
        return false;
    }
    if (!extends) {
        out->items[out->item_count++] =
            (tg_pattern_item){.letter = '\'', .text_at = (uint8_t)out->text_len};
    }
    out->items[out->item_count - 1].count++;
    out->text[out->text_len++] = c;
    return true;
}

/* 'text': two quotes are one. Moves *at behind it. */
static bool add_quoted(tg_str pattern, size_t *at, tg_datetime_pattern *out)
{
    size_t i = *at + 1;
    if (i < pattern.len && pattern.ptr[i] == '\'') {
        *at = i + 1;
        return add_text(out, '\'');
    }
    for (; i < pattern.len; i++) {
        if (pattern.ptr[i] == '\'') {
            bool is_double = i + 1 < pattern.len && pattern.ptr[i + 1] == '\'';
            if (!is_double) {
                *at = i + 1;
                return true;
            }
            i++;
        }
        if (!add_text(out, pattern.ptr[i])) {
            return false;
        }
    }
    return false;
}

static tg_pattern_verdict fail(const char **out_why, tg_pattern_verdict verdict, const char *why)
{
    *out_why = why;
    return verdict;
}

static tg_pattern_verdict add_letter(tg_str pattern, size_t *at, bool for_parsing,
                                     tg_datetime_pattern *out, const char **out_why)
{
    char c = pattern.ptr[*at];
    size_t count = 1;
    while (*at + count < pattern.len && pattern.ptr[*at + count] == c) {
        count++;
    }
    tg_pattern_verdict verdict =
        check_letter(c, count > 100 ? 100 : (int)count, for_parsing, out_why);
    if (verdict != TG_PATTERN_OK) {
        return verdict;
    }
    if (out->item_count == TG_PATTERN_ITEMS_MAX) {
        return fail(out_why, TG_PATTERN_UNSUPPORTED, "the pattern is too long");
    }
    out->items[out->item_count++] = (tg_pattern_item){.letter = c, .count = (uint8_t)count};
    out->needs_zone_name = out->needs_zone_name || c == 'z';
    *at += count;
    return TG_PATTERN_OK;
}

tg_pattern_verdict tg_datetime_pattern_compile(tg_str pattern, bool for_parsing,
                                               tg_datetime_pattern *out, const char **out_why)
{
    memset(out, 0, sizeof(*out));
    int depth = 0;
    for (size_t i = 0; i < pattern.len;) {
        char c = pattern.ptr[i];
        if (isalpha((unsigned char)c)) {
            tg_pattern_verdict verdict = add_letter(pattern, &i, for_parsing, out, out_why);
            if (verdict != TG_PATTERN_OK) {
                return verdict;
            }
            continue;
        }
        bool fits = true;
        if (c == '\'') {
            fits = add_quoted(pattern, &i, out);
            if (!fits && out->text_len < TG_PATTERN_TEXT_MAX) {
                return fail(out_why, TG_PATTERN_INVALID, "a quote is not closed");
            }
        } else if (c == '[' || c == ']') {
            depth += c == '[' ? 1 : -1;
            fits = out->item_count < TG_PATTERN_ITEMS_MAX;
            if (fits) {
                out->items[out->item_count++] = (tg_pattern_item){.letter = c};
            }
            i++;
        } else if (c == '#' || c == '{' || c == '}') {
            return fail(out_why, TG_PATTERN_INVALID, "the characters #, { and } are reserved");
        } else {
            fits = add_text(out, c);
            i++;
        }
        if (!fits) {
            return fail(out_why, TG_PATTERN_UNSUPPORTED, "the pattern is too long");
        }
        if (depth < 0) {
            return fail(out_why, TG_PATTERN_INVALID, "an optional part is not opened");
        }
    }
    return TG_PATTERN_OK;
}

/* ---- formatting ------------------------------------------------------------------------------ */

static void put_year(int32_t year, int count, tg_buf *out)
{
    int32_t of_era = year > 0 ? year : 1 - year;
    if (count == 2) {
        tg_buf_addf(out, "%02d", of_era % 100);
        return;
    }
    static const int32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    bool exceeds = count >= 4 && of_era >= powers[count];
    tg_buf_addf(out, exceeds ? "+%d" : "%0*d", exceeds ? of_era : count, of_era);
}

static void put_offset(int32_t offset, char letter, int count, tg_buf *out)
{
    bool is_long_z = letter == 'Z' && count == 5;
    if (offset == 0 && (letter == 'X' || is_long_z)) {
        tg_buf_addc(out, 'Z');
        return;
    }
    int minutes = (offset < 0 ? -offset : offset) / 60;
    bool colon = (letter != 'Z' && count == 3) || is_long_z;
    tg_buf_addf(out, "%c%02d", offset < 0 ? '-' : '+', minutes / 60);
    if (letter != 'Z' && count == 1 && minutes % 60 == 0) {
        return;
    }
    tg_buf_addf(out, colon ? ":%02d" : "%02d", minutes % 60);
}

/* GMT+8 (O), GMT+08:00 (ZZZZ) */
static void put_localized_offset(int32_t offset, bool is_full, tg_buf *out)
{
    int minutes = (offset < 0 ? -offset : offset) / 60;
    tg_buf_addz(out, "GMT");
    if (offset == 0) {
        return;
    }
    tg_buf_addf(out, is_full ? "%c%02d:%02d" : "%c%d", offset < 0 ? '-' : '+', minutes / 60,
                minutes % 60);
    if (!is_full && minutes % 60) {
        tg_buf_addf(out, ":%02d", minutes % 60);
    }
}

static void put_name(const char *name, int count, tg_buf *out)
{
    tg_buf_addf(out, count == 4 ? "%s" : "%.3s", name);
}

static void put_quarter(int quarter, int count, tg_buf *out)
{
    static const char *const full[] = {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"};
    if (count == 4) {
        tg_buf_addz(out, full[quarter - 1]);
    } else {
        tg_buf_addf(out, count == 3 ? "Q%d" : "%0*d", count == 3 ? quarter : count, quarter);
    }
}

/* Number to print for a plain numeric letter; -1: the letter is not one. */
static int numeric_field(char letter, const tg_civil *civil)
{
    switch (letter) {
    case 'd':
        return civil->day;
    case 'D':
        return (int)(tg_days_from_civil(civil->year, civil->month, civil->day) -
                     tg_days_from_civil(civil->year, 1, 1)) +
               1;
    case 'H':
        return civil->hour;
    case 'k':
        return civil->hour == 0 ? 24 : civil->hour;
    case 'K':
        return civil->hour % 12;
    case 'h':
        return civil->hour % 12 == 0 ? 12 : civil->hour % 12;
    case 'm':
        return civil->minute;
    case 's':
        return civil->second;
    default:
        return -1;
    }
}

static void put_item(const tg_pattern_item *item, const tg_civil *civil, int64_t days,
                     int32_t offset, tg_str zone, tg_buf *out)
{
    int count = item->count, number = numeric_field(item->letter, civil);
    if (number >= 0) {
        tg_buf_addf(out, "%0*d", count, number);
        return;
    }
    switch (item->letter) {
    case 'y':
        put_year(civil->year, count, out);
        return;
    case 'M':
    case 'L':
        if (count >= 3) {
            put_name(month_names[civil->month - 1], count, out);
        } else {
            tg_buf_addf(out, "%0*d", count, civil->month);
        }
        return;
    case 'E':
        put_name(day_names[((days + 3) % 7 + 7) % 7], count, out);
        return;
    case 'a':
        tg_buf_addz(out, civil->hour < 12 ? "AM" : "PM");
        return;
    case 'S': {
        char digits[16];
        snprintf(digits, sizeof(digits), "%06d000", civil->microsecond);
        tg_buf_add(out, digits, (size_t)count);
        return;
    }
    case 'Q':
    case 'q':
        put_quarter((civil->month + 2) / 3, count, out);
        return;
    case 'G':
        tg_buf_addz(out, count == 4 ? (civil->year > 0 ? "Anno Domini" : "Before Christ")
                                    : (civil->year > 0 ? "AD" : "BC"));
        return;
    case 'O':
        put_localized_offset(offset, false, out);
        return;
    case 'Z':
        if (count == 4) {
            put_localized_offset(offset, true, out);
            return;
        }
        put_offset(offset, 'Z', count, out);
        return;
    case 'z':
        tg_buf_addz(out, count == 4 ? "Coordinated Universal Time" : "UTC");
        return;
    case 'V':
        tg_buf_adds(out, zone);
        return;
    default:
        put_offset(offset, item->letter, count, out);
        return;
    }
}

void tg_datetime_pattern_format(const tg_datetime_pattern *pattern, int64_t local_us,
                                int32_t offset_s, tg_str zone_name, tg_buf *out)
{
    tg_civil civil;
    tg_civil_from_us(local_us, &civil);
    int64_t days = tg_days_from_civil(civil.year, civil.month, civil.day);
    for (size_t i = 0; i < pattern->item_count; i++) {
        const tg_pattern_item *item = &pattern->items[i];
        if (item->letter == '\'') {
            tg_buf_add(out, pattern->text + item->text_at, item->count);
        } else if (item->letter != '[' && item->letter != ']') {
            put_item(item, &civil, days, offset_s, zone_name, out);
        }
    }
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* What was read so far; -1: not given. */
typedef struct fields {
    int year, month, day, day_of_year, hour, hour_12, minute, second, microsecond;
    int is_pm;
    char zone[64];
} fields;

typedef struct parser {
    const tg_datetime_pattern *pattern;
    tg_str text;
    size_t at;
    fields fields;
} parser;

static size_t digit_run(const parser *p)
{
    size_t n = 0;
    while (p->at + n < p->text.len && isdigit((unsigned char)p->text.ptr[p->at + n])) {
        n++;
    }
    return n;
}

static bool is_numeric_item(const tg_pattern_item *item)
{
    return (strchr("ydDHkKhms", item->letter) != NULL && item->letter != '\0') ||
           ((item->letter == 'M' || item->letter == 'L') && item->count < 3);
}

/* Digits that the fixed-width numbers right behind item must get (adjacent value parsing). */
static size_t reserved_digits(const parser *p, size_t item)
{
    size_t reserved = 0;
    for (size_t i = item + 1;
         i < p->pattern->item_count && is_numeric_item(&p->pattern->items[i]) &&
         p->pattern->items[i].count == 2;
         i++) {
        reserved += 2;
    }
    return reserved;
}

static bool take_number(parser *p, size_t digits, int *out)
{
    int64_t value = 0;
    if (digits == 0 || digits > 9 || digit_run(p) < digits) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        value = value * 10 + (p->text.ptr[p->at + i] - '0');
    }
    p->at += digits;
    *out = (int)value;
    return true;
}

static bool parse_year(parser *p, size_t item)
{
    int count = p->pattern->items[item].count;
    if (count == 2) {
        int two;
        bool fits = take_number(p, 2, &two);
        p->fields.year = fits ? 2000 + two : -1;
        return fits;
    }
    size_t run = digit_run(p), reserved = reserved_digits(p, item);
    size_t digits = run > reserved ? run - reserved : 0;
    bool fits = digits >= (size_t)count && (count < 4 || digits == (size_t)count) && digits <= 6;
    return fits && take_number(p, digits, &p->fields.year);
}

static bool parse_number(parser *p, size_t item, int *out)
{
    int count = p->pattern->items[item].count;
    size_t run = digit_run(p), reserved = reserved_digits(p, item);
    size_t digits = count > 1 ? (size_t)count : run > reserved ? run - reserved : 0;
    return take_number(p, digits, out);
}

static bool take_name(parser *p, const char *const *names, size_t name_count, bool is_full,
                      int *out)
{
    for (size_t i = 0; i < name_count; i++) {
        tg_str name = {names[i], is_full ? strlen(names[i]) : 3};
        if (tg_str_istarts(tg_str_sub(p->text, p->at, p->text.len), name)) {
            p->at += name.len;
            *out = (int)i + 1;
            return true;
        }
    }
    return false;
}

static bool parse_fraction(parser *p, int count)
{
    size_t run = digit_run(p);
    size_t digits = run < (size_t)count ? run : (size_t)count;
    int micros = 0;
    for (size_t i = 0; i < 6; i++) {
        micros = micros * 10 + (i < digits ? p->text.ptr[p->at + i] - '0' : 0);
    }
    p->at += digits;
    p->fields.microsecond = micros;
    return digits > 0;
}

/* +hh, +hhmm, +hh:mm as the letter wants it; X takes Z. */
static bool parse_offset(parser *p, const tg_pattern_item *item)
{
    char first = p->at < p->text.len ? p->text.ptr[p->at] : '\0';
    if (item->letter == 'X' && (first == 'Z' || first == 'z')) {
        p->at++;
        snprintf(p->fields.zone, sizeof(p->fields.zone), "+00:00");
        return true;
    }
    if (first != '+' && first != '-') {
        return false;
    }
    p->at++;
    int hours, minutes = 0;
    if (!take_number(p, 2, &hours)) {
        return false;
    }
    bool colon = item->letter != 'Z' && item->count == 3;
    bool has_minutes = item->letter == 'Z' || item->count > 1 || digit_run(p) >= 2;
    if (has_minutes && colon) {
        if (p->at >= p->text.len || p->text.ptr[p->at] != ':') {
            return false;
        }
        p->at++;
    }
    if ((has_minutes && !take_number(p, 2, &minutes)) || hours > 18 || minutes > 59) {
        return false;
    }
    snprintf(p->fields.zone, sizeof(p->fields.zone), "%c%02d:%02d", first, hours, minutes);
    return true;
}

static bool parse_zone_name(parser *p)
{
    size_t n = 0;
    while (p->at + n < p->text.len && (isalnum((unsigned char)p->text.ptr[p->at + n]) ||
                                       strchr("/_+:-", p->text.ptr[p->at + n]))) {
        n++;
    }
    if (n == 0 || n >= sizeof(p->fields.zone)) {
        return false;
    }
    memcpy(p->fields.zone, p->text.ptr + p->at, n);
    p->fields.zone[n] = '\0';
    p->at += n;
    return true;
}

static bool parse_text(parser *p, const tg_pattern_item *item)
{
    tg_str text = {p->pattern->text + item->text_at, item->count};
    bool fits = tg_str_istarts(tg_str_sub(p->text, p->at, p->text.len), text);
    p->at += fits ? text.len : 0;
    return fits;
}

static bool parse_half_day(parser *p)
{
    tg_str rest = tg_str_sub(p->text, p->at, p->text.len);
    p->fields.is_pm = tg_str_istarts(rest, TG_S("PM"));
    bool fits = p->fields.is_pm || tg_str_istarts(rest, TG_S("AM"));
    p->at += fits ? 2 : 0;
    return fits;
}

static bool parse_item(parser *p, size_t index)
{
    const tg_pattern_item *item = &p->pattern->items[index];
    fields *f = &p->fields;
    switch (item->letter) {
    case '\'':
        return parse_text(p, item);
    case 'y':
        return parse_year(p, index);
    case 'M':
    case 'L':
        return item->count < 3 ? parse_number(p, index, &f->month)
                               : take_name(p, month_names, 12, item->count == 4, &f->month);
    case 'd':
        return parse_number(p, index, &f->day);
    case 'D':
        return parse_number(p, index, &f->day_of_year);
    case 'H':
        return parse_number(p, index, &f->hour) && f->hour <= 23;
    case 'k':
        return parse_number(p, index, &f->hour) && f->hour >= 1 && f->hour <= 24 &&
               ((f->hour %= 24), true);
    case 'K':
        return parse_number(p, index, &f->hour_12) && f->hour_12 <= 11;
    case 'h':
        return parse_number(p, index, &f->hour_12) && f->hour_12 >= 1 && f->hour_12 <= 12 &&
               ((f->hour_12 %= 12), true);
    case 'm':
        return parse_number(p, index, &f->minute) && f->minute <= 59;
    case 's':
        return parse_number(p, index, &f->second) && f->second <= 59;
    case 'S':
        return parse_fraction(p, item->count);
    case 'a':
        return parse_half_day(p);
    case 'V':
        return parse_zone_name(p);
    default:
        return parse_offset(p, item);
    }
}

/* The item behind the ] that closes the [ at index; the end when none does. */
static size_t after_optional(const tg_datetime_pattern *pattern, size_t index)
{
    int depth = 0;
    for (; index < pattern->item_count; index++) {
        depth += pattern->items[index].letter == '[';
        depth -= pattern->items[index].letter == ']';
        if (depth == 0) {
            return index + 1;
        }
    }
    return index;
}

/*
 * Items from index up to end; an optional part that does not fit is left out. depth bounds the
 * nesting.
 */
static bool parse_items(parser *p, size_t index, size_t end, int depth)
{
    while (index < end) {
        char letter = p->pattern->items[index].letter;
        if (letter == '[') {
            size_t after = after_optional(p->pattern, index);
            parser saved = *p;
            if (depth > 8 || !parse_items(p, index + 1, after, depth + 1)) {
                *p = saved;
            }
            index = after;
            continue;
        }
        if (letter != ']' && !parse_item(p, index)) {
            return false;
        }
        index++;
    }
    return true;
}

static bool resolve(const fields *f, tg_parsed_time *out)
{
    int year = f->year < 0 ? 1970 : f->year, month = f->month < 0 ? 1 : f->month,
        day = f->day < 0 ? 1 : f->day;
    int64_t days;
    if (f->day_of_year >= 0) {
        int length = tg_date_is_valid(year, 2, 29) ? 366 : 365;
        if (f->day_of_year < 1 || f->day_of_year > length) {
            return false;
        }
        days = tg_days_from_civil(year, 1, 1) + f->day_of_year - 1;
    } else {
        if (!tg_date_is_valid(year, month, day)) {
            return false;
        }
        days = tg_days_from_civil(year, month, day);
    }
    int hour = f->hour;
    if (hour < 0) {
        hour = f->hour_12 < 0 ? 0 : f->hour_12 + (f->is_pm == 1 ? 12 : 0);
    }
    int64_t seconds =
        hour * 3600 + (f->minute < 0 ? 0 : f->minute) * 60 + (f->second < 0 ? 0 : f->second);
    out->local_us = days * TG_US_PER_DAY + seconds * TG_US_PER_SECOND +
                    (f->microsecond < 0 ? 0 : f->microsecond);
    memcpy(out->zone, f->zone, sizeof(out->zone));
    return true;
}

bool tg_datetime_pattern_parse(const tg_datetime_pattern *pattern, tg_str text, tg_parsed_time *out)
{
    parser p = {.pattern = pattern,
                .text = text,
                .fields = {.year = -1,
                           .month = -1,
                           .day = -1,
                           .day_of_year = -1,
                           .hour = -1,
                           .hour_12 = -1,
                           .minute = -1,
                           .second = -1,
                           .microsecond = -1,
                           .is_pm = -1}};
    return parse_items(&p, 0, pattern->item_count, 0) && p.at == text.len &&
           resolve(&p.fields, out);
}
