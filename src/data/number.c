/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text: decimals by exact integer arithmetic, doubles by the shortest digits that read
 * back. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "data/data_int.h"

tg_int128 tg_data_pow10(int exponent)
{
    tg_int128 power = 1;

    tg_assert(exponent >= 0 && exponent <= TG_DECIMAL_DIGITS_MAX);
    while (exponent-- > 0) {
        power *= 10;
    }
    return power;
}

bool tg_data_decimal_fits(tg_int128 unscaled, int precision)
{
    tg_int128 limit = tg_data_pow10(precision);

    return unscaled < limit && unscaled > -limit;
}

/* ---- decimals -------------------------------------------------------------------------------- */

/* A number's text taken apart: sign, digits (with the point removed) and where the point stands. */
typedef struct number_parts {
    bool negative;
    tg_str whole, fraction; /* digits only */
    int64_t exponent;
} number_parts;

static tg_str take_digits(tg_str *rest)
{
    size_t n = 0;
    tg_str digits;

    while (n < rest->len && rest->ptr[n] >= '0' && rest->ptr[n] <= '9') {
        n++;
    }
    digits = tg_str_sub(*rest, 0, n);
    *rest = tg_str_sub(*rest, n, rest->len);
    return digits;
}

static bool take_char(tg_str *rest, char a, char b)
{
    if (!rest->len || (rest->ptr[0] != a && rest->ptr[0] != b)) {
        return false;
    }
    *rest = tg_str_sub(*rest, 1, rest->len);
    return true;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. */
static bool split_number(tg_str text, number_parts *out)
{
    number_parts parts = {0};
    tg_str rest = text;

    parts.negative = take_char(&rest, '-', '-');
    if (!parts.negative) {
        (void)take_char(&rest, '+', '+');
    }
    parts.whole = take_digits(&rest);
    if (take_char(&rest, '.', '.')) {
        parts.fraction = take_digits(&rest);
    }
    if (parts.whole.len + parts.fraction.len == 0) {
        return false;
    }
    if (take_char(&rest, 'e', 'E')) {
        bool negative = take_char(&rest, '-', '-');
        if (!negative) {
            (void)take_char(&rest, '+', '+');
        }
        if (!rest.len || rest.ptr[0] < '0' || rest.ptr[0] > '9' ||
            !tg_str_to_i64(rest, &parts.exponent) || parts.exponent > 100000) {
            return false;
        }
        parts.exponent = negative ? -parts.exponent : parts.exponent;
        rest.len = 0;
    }
    *out = parts;
    return rest.len == 0;
}

bool tg_decimal_parse(tg_str text, int scale, tg_int128 *out)
{
    tg_int128 limit = tg_data_pow10(TG_DECIMAL_DIGITS_MAX);
    tg_int128 unscaled = 0;
    int64_t shift; /* zeros to append (or, negative, to take away) after all digits */
    number_parts parts;
    size_t digit_count;

    if (!split_number(text, &parts)) {
        return false;
    }
    digit_count = parts.whole.len + parts.fraction.len;
    shift = parts.exponent + scale - (int64_t)parts.fraction.len;
    for (size_t i = 0; i < digit_count; i++) {
        char c = i < parts.whole.len ? parts.whole.ptr[i] : parts.fraction.ptr[i - parts.whole.len];
        int64_t place =
            (int64_t)(digit_count - i) - 1 + shift; /* power of ten in the unscaled value */
        if (place < 0) {
            if (c != '0') {
                return false;
            }
            continue;
        }
        unscaled = unscaled * 10 + (c - '0');
        if (unscaled >= limit) {
            return false;
        }
    }
    for (int64_t i = 0; i < shift && unscaled != 0; i++) {
        unscaled *= 10;
        if (unscaled >= limit) {
            return false;
        }
    }
    *out = parts.negative ? -unscaled : unscaled;
    return true;
}

tg_str tg_decimal_text(tg_arena *arena, tg_int128 unscaled, int scale)
{
    char text[64];
    size_t at = sizeof(text);
    unsigned __int128 rest =
        unscaled < 0 ? -(unsigned __int128)unscaled : (unsigned __int128)unscaled;
    int digits = 0;

    do {
        if (digits == scale && scale > 0) {
            text[--at] = '.';
        }
        text[--at] = (char)('0' + (int)(rest % 10));
        rest /= 10;
        digits++;
    } while (rest != 0 || digits <= scale);
    if (unscaled < 0) {
        text[--at] = '-';
    }
    return tg_str_copy(arena, (tg_str){text + at, sizeof(text) - at});
}

/* ---- doubles --------------------------------------------------------------------------------- */

bool tg_data_double_parse(tg_str text, bool is_float, double *out)
{
    number_parts parts;
    char buffer[512];
    double value;

    if (tg_str_eq(text, TG_S("NaN"))) {
        value = (double)NAN;
    } else if (tg_str_eq(text, TG_S("Infinity"))) {
        value = (double)INFINITY;
    } else if (tg_str_eq(text, TG_S("-Infinity"))) {
        value = -(double)INFINITY;
    } else if (split_number(text, &parts) && text.len < sizeof(buffer)) {
        memcpy(buffer, text.ptr, text.len);
        buffer[text.len] = '\0';
        value = is_float ? (double)tg_strtof(buffer) : tg_strtod(buffer);
    } else {
        return false;
    }
    *out = value;
    return true;
}

/* The fewest digits (as "d.ddde+xx") that read back. */
static void shortest_digits(double value, bool is_float, char *text, size_t size)
{
    int precision =
        is_float ? 6 : 15; /* with so many digits every decimal survives the way through the type */
    int precision_max = is_float ? 9 : 17;

    if (value < (is_float ? (double)FLT_MIN : DBL_MIN)) {
        precision = 1; /* subnormal numbers have fewer */
    }
    for (; precision <= precision_max; precision++) {
        tg_double_print(text, size, 'e', precision - 1, value);
        if (is_float ? tg_strtof(text) == (float)value : tg_strtod(text) == value) {
            return;
        }
    }
}

tg_str tg_double_text(tg_arena *arena, double value, bool is_float)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    char text[40];
    char digits[24];
    int count = 0;
    int exponent;
    const char *p;

    if (isnan(value)) {
        return TG_S("NaN");
    }
    if (isinf(value)) {
        return value < 0 ? TG_S("-Infinity") : TG_S("Infinity");
    }
    shortest_digits(fabs(value), is_float, text, sizeof(text));
    for (p = text; *p != 'e'; p++) {
        if (*p != '.') {
            digits[count++] = *p;
        }
    }
    tg_assert(count > 0);
    exponent = (int)tg_strtod(p + 1);
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    if (signbit(value)) {
        tg_buf_addc(&out, '-');
    }
    if (exponent < -4 || exponent >= 16) {
        tg_buf_addc(&out, digits[0]);
        if (count > 1) {
            tg_buf_addc(&out, '.');
            tg_buf_add(&out, digits + 1, (size_t)count - 1);
        }
        tg_buf_addf(&out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        tg_buf_addf(&out, "0.%.*s%.*s", -exponent - 1, "000", count, digits);
    } else {
        for (int i = 0; i < count || i <= exponent; i++) {
            tg_buf_addz(&out, i == exponent + 1 ? "." : "");
            tg_buf_addc(&out, i < count ? digits[i] : '0');
        }
        tg_buf_addz(&out, count <= exponent + 1 ? ".0" : "");
    }
    return tg_buf_take(&out, arena);
}
