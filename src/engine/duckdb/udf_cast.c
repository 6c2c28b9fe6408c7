/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts as Spark makes them: its parsers of numbers, booleans and times, Java's text of doubles.
 *
 * Sources: Spark's documentation "ANSI Compliance", Java's documentation of Double.valueOf,
 * Double.toString and BigDecimal, and Spark's own answers in the golden files.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/duckdb/udf_int.h"

/* ---- shared ---------------------------------------------------------------------------------- */

tg_str tg_udf_trim(tg_str text)
{
    size_t from = 0, to = text.len;
    while (from < to && ((unsigned char)text.ptr[from] <= 0x20 || text.ptr[from] == 0x7F)) {
        from++;
    }
    while (to > from && ((unsigned char)text.ptr[to - 1] <= 0x20 || text.ptr[to - 1] == 0x7F)) {
        to--;
    }
    return tg_str_sub(text, from, to);
}

tg_int128 tg_udf_pow10(int exponent)
{
    tg_int128 power = 1;
    for (int i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *integer_name(int bits)
{
    return bits == 8 ? "TINYINT" : bits == 16 ? "SMALLINT" : bits == 32 ? "INT" : "BIGINT";
}

static void malformed(tg_udf_call *call, bool is_try, tg_str text, const char *type)
{
    tg_udf_fail_or_null(
        call, is_try, TG_E_CAST_INVALID_INPUT,
        "the value '%.*s' of the type STRING cannot be cast to %s because it is malformed",
        (int)(text.len < 200 ? text.len : 200), text.ptr, type);
}

/* ---- strings to numbers ---------------------------------------------------------------------- */

static bool parse_long(tg_str text, int64_t *out)
{
    size_t i = 0;
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    i += is_negative || (text.len > 0 && text.ptr[0] == '+');
    if (i == text.len) {
        return false;
    }
    int64_t value = 0;
    for (; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(value, 10, &value) ||
            (is_negative ? __builtin_sub_overflow(value, digit, &value)
                         : __builtin_add_overflow(value, digit, &value))) {
            return false;
        }
    }
    *out = value;
    return true;
}

static void cast_long(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int bits = tg_udf_int(call, 1);
    int64_t value;
    int64_t max = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    if (!parse_long(tg_udf_trim(text), &value) || value > max || value < -max - 1) {
        malformed(call, tg_udf_bool(call, 2), text, integer_name(bits));
        return;
    }
    tg_udf_return_long(call, value);
}

/* Words for NaN and infinities; false: none of them. */
static bool special_double(tg_str text, double *out)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    bool has_sign = is_negative || (text.len > 0 && text.ptr[0] == '+');
    tg_str word = tg_str_sub(text, has_sign ? 1 : 0, text.len);
    if (tg_str_ieq(word, TG_S("inf")) || tg_str_ieq(word, TG_S("infinity"))) {
        *out = is_negative ? -INFINITY : INFINITY;
        return true;
    }
    if (tg_str_ieq(text, TG_S("nan"))) {
        *out = NAN;
        return true;
    }
    return false;
}

/*
 * Digits with a point, an exponent, and Java's suffix f or d: the length without the suffix, 0 when
 * it is no number.
 */
static size_t number_length(tg_str text)
{
    size_t i = 0, digits = 0;
    i += text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-');
    for (; i < text.len && is_digit(text.ptr[i]); i++) {
        digits++;
    }
    if (i < text.len && text.ptr[i] == '.') {
        for (i++; i < text.len && is_digit(text.ptr[i]); i++) {
            digits++;
        }
    }
    if (digits == 0) {
        return 0;
    }
    if (i < text.len && (text.ptr[i] | 0x20) == 'e') {
        size_t exponent = i + 1;
        exponent += exponent < text.len && (text.ptr[exponent] == '+' || text.ptr[exponent] == '-');
        size_t start = exponent;
        while (exponent < text.len && is_digit(text.ptr[exponent])) {
            exponent++;
        }
        if (exponent == start) {
            return 0;
        }
        i = exponent;
    }
    bool has_suffix = i + 1 == text.len && strchr("fFdD", text.ptr[i]) != NULL;
    return i == text.len || has_suffix ? i : 0;
}

static bool parse_double(tg_udf_call *call, tg_str text, bool is_float, double *out)
{
    text = tg_udf_trim(text);
    if (special_double(text, out)) {
        return true;
    }
    size_t len = number_length(text);
    if (len == 0) {
        return false;
    }
    tg_buf_clear(&call->text);
    tg_buf_add(&call->text, text.ptr, len);
    const char *number = tg_buf_cstr(&call->text);
    *out = is_float ? (double)tg_strtof(number) : tg_strtod(number);
    return true;
}

static void cast_double(tg_udf_call *call)
{
    double value;
    if (!parse_double(call, tg_udf_str(call, 0), false, &value)) {
        malformed(call, tg_udf_bool(call, 1), tg_udf_str(call, 0), "DOUBLE");
        return;
    }
    tg_udf_return_double(call, value);
}

static void cast_float(tg_udf_call *call)
{
    double value;
    if (!parse_double(call, tg_udf_str(call, 0), true, &value)) {
        malformed(call, tg_udf_bool(call, 1), tg_udf_str(call, 0), "FLOAT");
        return;
    }
    tg_udf_return_float(call, (float)value);
}

/* The exponent behind digits, clamped far beyond what any decimal holds. */
static bool parse_exponent(tg_str text, size_t *at, long *out)
{
    size_t i = *at + 1;
    bool is_negative = i < text.len && text.ptr[i] == '-';
    i += i < text.len && (text.ptr[i] == '-' || text.ptr[i] == '+');
    if (i == text.len) {
        return false;
    }
    long value = 0;
    for (; i < text.len && is_digit(text.ptr[i]); i++) {
        value = value < 100000 ? value * 10 + (text.ptr[i] - '0') : value;
    }
    *at = i;
    *out = is_negative ? -value : value;
    return true;
}

bool tg_udf_parse_decimal(tg_str text, int precision, int scale, tg_int128 *out, bool *out_overflow)
{
    size_t i = 0, point = SIZE_MAX, start;
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    i += is_negative || (text.len > 0 && text.ptr[0] == '+');
    start = i;
    size_t digit_count = 0;
    for (; i < text.len && (is_digit(text.ptr[i]) || (text.ptr[i] == '.' && point == SIZE_MAX));
         i++) {
        if (text.ptr[i] == '.') {
            point = digit_count;
        } else {
            digit_count++;
        }
    }
    size_t end = i;
    long exponent = 0;
    if (digit_count == 0 ||
        (i < text.len && (text.ptr[i] | 0x20) == 'e' && !parse_exponent(text, &i, &exponent)) ||
        i != text.len) {
        return false;
    }
    /* Digits that stay in front of the new unit. */
    long kept = (long)(point == SIZE_MAX ? digit_count : point) + exponent + scale;
    tg_int128 value = 0, limit = tg_udf_pow10(precision);
    long seen = 0;
    bool rounds_up = false;
    *out_overflow = false;
    for (size_t j = start; j < end && !*out_overflow; j++) {
        if (text.ptr[j] == '.') {
            continue;
        }
        if (seen < kept) {
            *out_overflow = value > (limit - 1) / 10;
            value = *out_overflow ? value : value * 10 + (text.ptr[j] - '0');
        } else if (seen == kept) {
            rounds_up = text.ptr[j] >= '5';
        }
        seen++;
    }
    for (; seen < kept && value != 0 && !*out_overflow; seen++) {
        *out_overflow = value > (limit - 1) / 10;
        value = *out_overflow ? value : value * 10;
    }
    value += rounds_up;
    *out_overflow = *out_overflow || value >= limit;
    *out = is_negative ? -value : value;
    return true;
}

static void cast_decimal(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int precision = tg_udf_int(call, 1), scale = tg_udf_int(call, 2);
    bool is_try = tg_udf_bool(call, 3), overflows;
    tg_int128 value;
    if (!tg_udf_parse_decimal(tg_udf_trim(text), precision, scale, &value, &overflows)) {
        malformed(call, is_try, text, "DECIMAL");
    } else if (overflows) {
        tg_udf_fail_or_null(call, is_try, TG_E_NUMERIC_VALUE_OUT_OF_RANGE,
                            "the value %.*s cannot be represented as DECIMAL(%d,%d)", TG_SARG(text),
                            precision, scale);
    } else {
        tg_udf_return_huge(call, value);
    }
}

static void cast_boolean(tg_udf_call *call)
{
    static const char *const words[2][5] = {{"f", "false", "n", "no", "0"},
                                            {"t", "true", "y", "yes", "1"}};
    tg_str text = tg_udf_trim(tg_udf_str(call, 0));
    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < 5; i++) {
            if (tg_str_ieq(text, tg_str_from(words[value][i]))) {
                tg_udf_return_bool(call, value == 1);
                return;
            }
        }
    }
    malformed(call, tg_udf_bool(call, 1), tg_udf_str(call, 0), "BOOLEAN");
}

/* ---- strings to times ------------------------------------------------------------------------ */

static void cast_date(tg_udf_call *call)
{
    int64_t days;
    if (!tg_date_parse(tg_udf_str(call, 0), &days)) {
        malformed(call, tg_udf_bool(call, 1), tg_udf_str(call, 0), "DATE");
        return;
    }
    tg_udf_return_int(call, days);
}

static void cast_timestamp(tg_udf_call *call)
{
    int64_t us;
    bool has_zone;
    if (!tg_timestamp_parse(tg_udf_str(call, 0), call->arena, &us, &has_zone)) {
        malformed(call, tg_udf_bool(call, 2), tg_udf_str(call, 0), "TIMESTAMP");
        return;
    }
    if (!has_zone) {
        const tg_zone *zone = tg_udf_zone(call, tg_udf_str(call, 1));
        if (!zone) {
            return;
        }
        us = tg_zone_to_us(zone, us);
    }
    tg_udf_return_long(call, us);
}

/* A zone in the text of a local time is checked and then means nothing. */
static void cast_local(tg_udf_call *call)
{
    tg_str text = tg_udf_trim(tg_udf_str(call, 0));
    int64_t us;
    bool has_zone;
    bool fits = tg_timestamp_parse(text, call->arena, &us, &has_zone);
    if (fits && has_zone) {
        size_t at = 0;
        while (at < text.len && text.ptr[at] != ' ' && text.ptr[at] != 'T') {
            at++;
        }
        for (at++; at < text.len &&
                   (is_digit(text.ptr[at]) || text.ptr[at] == ':' || text.ptr[at] == '.');) {
            at++;
        }
        fits = tg_timestamp_parse(tg_str_sub(text, 0, at), call->arena, &us, &has_zone);
    }
    if (!fits) {
        malformed(call, tg_udf_bool(call, 1), tg_udf_str(call, 0), "TIMESTAMP_NTZ");
        return;
    }
    tg_udf_return_long(call, us);
}

/* ---- from doubles and decimals --------------------------------------------------------------- */

enum { SHOWN_SIZE = 32 };

/* A number in a message, short. */
static const char *shown(double value, char text[SHOWN_SIZE])
{
    tg_double_print(text, SHOWN_SIZE, 'g', 6, value);
    return text;
}

static void double_long(tg_udf_call *call)
{
    double value = trunc(tg_udf_double(call, 0));
    int bits = tg_udf_int(call, 1);
    double limit = ldexp(1, bits - 1);
    /* 2^63 itself is let through and becomes the greatest BIGINT, as in Java. */
    bool fits = bits == 64 ? value >= -limit && value <= limit : value >= -limit && value < limit;
    if (!fits) {
        char text[SHOWN_SIZE];
        tg_udf_fail_or_null(
            call, tg_udf_bool(call, 2), TG_E_CAST_OVERFLOW,
            "the value %s of the type DOUBLE cannot be cast to %s: it is out of range",
            shown(value, text), integer_name(bits));
        return;
    }
    tg_udf_return_long(call, value >= ldexp(1, 63) ? INT64_MAX : (int64_t)value);
}

static void double_float(tg_udf_call *call)
{
    tg_udf_return_float(call, (float)tg_udf_double(call, 0));
}

/* By the shortest text that reads back as the double, as BigDecimal does: 1.005D is 1.005 here. */
static void double_decimal(tg_udf_call *call)
{
    double value = tg_udf_double(call, 0);
    int precision = tg_udf_int(call, 1), scale = tg_udf_int(call, 2);
    if (!isfinite(value)) {
        tg_udf_return_null(call);
        return;
    }
    tg_str text = tg_double_text(call->arena, value, false);
    tg_int128 unscaled;
    bool overflows = true;
    if (!tg_udf_parse_decimal(text, precision, scale, &unscaled, &overflows) || overflows) {
        tg_udf_fail_or_null(call, tg_udf_bool(call, 3), TG_E_NUMERIC_VALUE_OUT_OF_RANGE,
                            "the value %.*s cannot be represented as DECIMAL(%d,%d)", TG_SARG(text),
                            precision, scale);
        return;
    }
    tg_udf_return_huge(call, unscaled);
}

static void double_micros(tg_udf_call *call)
{
    double micros = tg_udf_double(call, 0) * 1e6;
    if (!(micros >= -0x1p63 && micros < 0x1p63)) {
        char text[SHOWN_SIZE];
        tg_udf_fail_or_null(
            call, tg_udf_bool(call, 1), TG_E_CAST_OVERFLOW,
            "the value %s of the type DOUBLE cannot be cast to TIMESTAMP: it is out of range",
            shown(tg_udf_double(call, 0), text));
        return;
    }
    tg_udf_return_long(call, (int64_t)micros);
}

static void decimal_micros(tg_udf_call *call)
{
    int scale;
    tg_int128 value = tg_udf_decimal(call, 0, &scale);
    bool overflows = false;
    if (scale >= 6) {
        value /= tg_udf_pow10(scale - 6);
    } else {
        overflows = __builtin_mul_overflow(value, tg_udf_pow10(6 - scale), &value);
    }
    if (overflows || value > INT64_MAX || value < INT64_MIN) {
        tg_udf_fail(call, TG_E_CAST_OVERFLOW,
                    "a value of the type DECIMAL cannot be cast to TIMESTAMP: it is out of range");
        return;
    }
    tg_udf_return_long(call, (int64_t)value);
}

/* ---- to text --------------------------------------------------------------------------------- */

/*
 * Java's text of a double that is not 0 from the shortest digits: plain from 0.001 to below 10^7,
 * else as 1.5E10.
 */
static void java_text(tg_buf *out, double value, tg_str shortest)
{
    char digits[32];
    size_t count = 0, i = 0;
    long point = 0, exponent = 0;
    bool seen_point = false;
    i += shortest.ptr[0] == '-';
    for (; i < shortest.len && (shortest.ptr[i] | 0x20) != 'e'; i++) {
        if (shortest.ptr[i] == '.') {
            seen_point = true;
            continue;
        }
        if (count == 0 && shortest.ptr[i] == '0') {
            point -= seen_point; /* leading zeros */
            continue;
        }
        point += !seen_point;
        if (count < sizeof(digits)) {
            digits[count++] = shortest.ptr[i];
        }
    }
    tg_assert(count > 0);
    if (i < shortest.len) {
        (void)parse_exponent(shortest, &i, &exponent);
    }
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    long first = point + exponent; /* the number is 0.DIGITS * 10^first */
    double size = fabs(value);
    tg_buf_addz(out, signbit(value) ? "-" : "");
    if (size >= 1e-3 && size < 1e7) {
        long integer_digits = first > 0 ? first : 0;
        for (long j = 0; j < integer_digits; j++) {
            tg_buf_addc(out, j < (long)count ? digits[j] : '0');
        }
        tg_buf_addz(out, integer_digits == 0 ? "0." : ".");
        for (long j = first; j < 0; j++) {
            tg_buf_addc(out, '0');
        }
        if ((long)count <= integer_digits) {
            tg_buf_addc(out, '0');
        } else {
            tg_buf_add(out, digits + integer_digits, count - (size_t)integer_digits);
        }
        return;
    }
    tg_buf_addc(out, digits[0]);
    tg_buf_addc(out, '.');
    if (count == 1) {
        tg_buf_addc(out, '0');
    } else {
        tg_buf_add(out, digits + 1, count - 1);
    }
    tg_buf_addf(out, "E%ld", first - 1);
}

static void floating_text(tg_udf_call *call, double value, bool is_float)
{
    if (isnan(value)) {
        tg_buf_addz(&call->text, "NaN");
    } else if (isinf(value)) {
        tg_buf_addz(&call->text, value < 0 ? "-Infinity" : "Infinity");
    } else if (value == 0) {
        tg_buf_addz(&call->text, signbit(value) ? "-0.0" : "0.0");
    } else {
        java_text(&call->text, value, tg_double_text(call->arena, value, is_float));
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void double_text(tg_udf_call *call)
{
    floating_text(call, tg_udf_double(call, 0), false);
}

static void float_text(tg_udf_call *call)
{
    floating_text(call, (double)tg_udf_float(call, 0), true);
}

/* Spark keeps bytes that are no UTF-8 in a STRING; a VARCHAR cannot hold them. */
static void binary_text(tg_udf_call *call)
{
    tg_str bytes = tg_udf_str(call, 0);
    if (tg_utf8_valid_len(bytes) != bytes.len) {
        tg_udf_fail(call, TG_E_UNSUPPORTED_FEATURE,
                    "a BINARY that is not UTF-8 cannot become a STRING here");
        return;
    }
    tg_udf_return_str(call, bytes);
}

static void decimal_text(tg_udf_call *call)
{
    int scale;
    tg_int128 value = tg_udf_decimal(call, 0, &scale);
    tg_udf_return_str(call, tg_decimal_text(call->arena, value, scale));
}

static void date_text(tg_udf_call *call)
{
    tg_udf_return_str(call, tg_date_text(call->arena, tg_udf_int(call, 0)));
}

static void local_text(tg_udf_call *call)
{
    tg_udf_return_str(call, tg_local_text(call->arena, tg_udf_long(call, 0)));
}

static void interval_text(tg_udf_call *call)
{
    const tg_type *type = tg_type_interval(call->arena, (tg_interval_field)tg_udf_int(call, 1),
                                           (tg_interval_field)tg_udf_int(call, 2));
    tg_udf_return_str(call,
                      tg_value_literal(call->arena, tg_value_int(type, tg_udf_long(call, 0))));
}

const tg_udf tg_udf_table_cast[] = {
    {"tg_cast_long", "sib>l", cast_long, false},
    {"tg_cast_double", "sb>d", cast_double, false},
    {"tg_cast_float", "sb>f", cast_float, false},
    {"tg_cast_decimal", "siib>h", cast_decimal, false},
    {"tg_cast_boolean", "sb>b", cast_boolean, false},
    {"tg_cast_date", "sb>D", cast_date, false},
    {"tg_cast_timestamp", "ssb>Z", cast_timestamp, false},
    {"tg_cast_local", "sb>T", cast_local, false},
    {"tg_double_long", "dib>l", double_long, false},
    {"tg_double_float", "d>f", double_float, false},
    {"tg_double_decimal", "diib>h", double_decimal, false},
    {"tg_double_micros", "db>l", double_micros, false},
    {"tg_decimal_micros", "n>l", decimal_micros, false},
    {"tg_double_text", "d>s", double_text, false},
    {"tg_float_text", "f>s", float_text, false},
    {"tg_binary_text", "x>s", binary_text, false},
    {"tg_decimal_text", "n>s", decimal_text, false},
    {"tg_date_text", "D>s", date_text, false},
    {"tg_local_text", "T>s", local_text, false},
    {"tg_interval_text", "lii>s", interval_text, false},
    {NULL, NULL, NULL, false},
};
