/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers: Java's mathematics (NaN instead of errors), division that raises for 0, rounding by
 * decimal text.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/duckdb/udf_int.h"

/* ---- double -> double ------------------------------------------------------------------------ */

#define MATH(name, expression)                    \
    static void math_##name(tg_udf_call *call)    \
    {                                             \
        double x = tg_udf_double(call, 0);        \
        tg_udf_return_double(call, (expression)); \
    }
MATH(sqrt, sqrt(x))
MATH(cbrt, (double)cbrtl((long double)x)) /* glibc's cbrt(27) is not 3 */
MATH(exp, exp(x))
MATH(expm1, expm1(x))
MATH(sin, sin(x))
MATH(cos, cos(x))
MATH(tan, tan(x))
MATH(cot, 1 / tan(x))
MATH(sec, 1 / cos(x))
MATH(csc, 1 / sin(x))
MATH(asin, asin(x))
MATH(acos, acos(x))
MATH(atan, atan(x))
MATH(sinh, sinh(x))
MATH(cosh, cosh(x))
MATH(tanh, tanh(x))
MATH(asinh, asinh(x))
MATH(acosh, acosh(x))
MATH(atanh, atanh(x))
MATH(degrees, x *(180 / M_PI))
MATH(radians, x *(M_PI / 180))
MATH(rint, rint(x))
MATH(sign, x > 0 ? 1 : x < 0 ? -1 : x)

/* Logarithms are NULL at and below the bound. */
#define LOGARITHM(name, bound, expression)        \
    static void math_##name(tg_udf_call *call)    \
    {                                             \
        double x = tg_udf_double(call, 0);        \
        if (x <= (bound)) {                       \
            tg_udf_return_null(call);             \
            return;                               \
        }                                         \
        tg_udf_return_double(call, (expression)); \
    }
LOGARITHM(ln, 0, log(x))
LOGARITHM(log10, 0, log10(x))
LOGARITHM(log2, 0, log2(x))
LOGARITHM(log1p, -1, log1p(x))

static void math_log(tg_udf_call *call)
{
    double base = tg_udf_double(call, 0), x = tg_udf_double(call, 1);
    if (base <= 0 || x <= 0) {
        tg_udf_return_null(call);
        return;
    }
    tg_udf_return_double(call, log(x) / log(base));
}

/* Java: NaN to any power but 0 is NaN, and 1 or -1 to an infinite or NaN power too. */
static void math_pow(tg_udf_call *call)
{
    double x = tg_udf_double(call, 0), y = tg_udf_double(call, 1);
    bool is_nan = isnan(y) || (isinf(y) && fabs(x) == 1);
    tg_udf_return_double(call, is_nan ? NAN : pow(x, y));
}

static void math_atan2(tg_udf_call *call)
{
    tg_udf_return_double(call, atan2(tg_udf_double(call, 0), tg_udf_double(call, 1)));
}

static void math_hypot(tg_udf_call *call)
{
    tg_udf_return_double(call, hypot(tg_udf_double(call, 0), tg_udf_double(call, 1)));
}

static void factorial(tg_udf_call *call)
{
    int n = tg_udf_int(call, 0);
    if (n < 0 || n > 20) {
        tg_udf_return_null(call);
        return;
    }
    int64_t product = 1;
    for (int i = 2; i <= n; i++) {
        product *= i;
    }
    tg_udf_return_long(call, product);
}

/* Java's conversion: NaN is 0, too large is the greatest. */
static int64_t saturate(double value)
{
    if (isnan(value)) {
        return 0;
    }
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static void ceil_long(tg_udf_call *call)
{
    tg_udf_return_long(call, saturate(ceil(tg_udf_double(call, 0))));
}

static void floor_long(tg_udf_call *call)
{
    tg_udf_return_long(call, saturate(floor(tg_udf_double(call, 0))));
}

static void width_bucket(tg_udf_call *call)
{
    double value = tg_udf_double(call, 0), low = tg_udf_double(call, 1),
           high = tg_udf_double(call, 2);
    int64_t count = tg_udf_long(call, 3);
    bool is_null = count <= 0 || count == INT64_MAX || isnan(value) || low == high ||
                   !isfinite(low) || !isfinite(high);
    if (is_null) {
        tg_udf_return_null(call);
        return;
    }
    /* A range that descends is one that ascends, seen from the other side. */
    double sign = low < high ? 1 : -1, at = sign * value, start = sign * low, end = sign * high;
    if (at < start) {
        tg_udf_return_long(call, 0);
    } else if (at >= end) {
        tg_udf_return_long(call, count + 1);
    } else {
        tg_udf_return_long(call, (int64_t)((double)count * (at - start) / (end - start)) + 1);
    }
}

/* ---- division and remainder ------------------------------------------------------------------ */

void tg_udf_divide_by_zero(tg_udf_call *call, bool is_try)
{
    tg_udf_fail_or_null(call, is_try, TG_E_DIVIDE_BY_ZERO,
                        "division by zero; use try_divide to get NULL");
}

void tg_udf_remainder_by_zero(tg_udf_call *call, bool is_try)
{
    tg_udf_fail_or_null(call, is_try, TG_E_REMAINDER_BY_ZERO,
                        "remainder by zero; use try_mod to get NULL");
}

static void div_double(tg_udf_call *call)
{
    double divisor = tg_udf_double(call, 1);
    if (divisor == 0) {
        tg_udf_divide_by_zero(call, tg_udf_bool(call, 2));
        return;
    }
    tg_udf_return_double(call, tg_udf_double(call, 0) / divisor);
}

/* The flag tells that both are intervals: their own error. */
static void div_long(tg_udf_call *call)
{
    int64_t a = tg_udf_long(call, 0), b = tg_udf_long(call, 1);
    if (b == 0) {
        tg_udf_fail(call,
                    tg_udf_bool(call, 2) ? TG_E_INTERVAL_DIVIDED_BY_ZERO : TG_E_DIVIDE_BY_ZERO,
                    "division by zero; use try_divide to get NULL");
        return;
    }
    if (a == INT64_MIN && b == -1) {
        tg_udf_fail(call, TG_E_ARITHMETIC_OVERFLOW, "the quotient is too large for BIGINT");
        return;
    }
    tg_udf_return_long(call, a / b);
}

static void floor_div(tg_udf_call *call)
{
    int64_t a = tg_udf_long(call, 0), b = tg_udf_long(call, 1);
    tg_udf_return_long(call, a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
}

static int64_t modulo(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

static void remainder_long(tg_udf_call *call, bool is_positive)
{
    int64_t b = tg_udf_long(call, 1);
    if (b == 0) {
        tg_udf_remainder_by_zero(call, tg_udf_bool(call, 2));
        return;
    }
    int64_t rest = modulo(tg_udf_long(call, 0), b);
    if (is_positive && rest < 0) {
        rest = modulo((int64_t)((uint64_t)rest + (uint64_t)b), b);
    }
    tg_udf_return_long(call, rest);
}

static void mod_long(tg_udf_call *call)
{
    remainder_long(call, false);
}

static void pmod_long(tg_udf_call *call)
{
    remainder_long(call, true);
}

static void remainder_double(tg_udf_call *call, bool is_positive)
{
    double b = tg_udf_double(call, 1);
    if (b == 0) {
        tg_udf_remainder_by_zero(call, tg_udf_bool(call, 2));
        return;
    }
    double rest = fmod(tg_udf_double(call, 0), b);
    tg_udf_return_double(call, is_positive && rest < 0 ? fmod(rest + b, b) : rest);
}

static void mod_double(tg_udf_call *call)
{
    remainder_double(call, false);
}

static void pmod_double(tg_udf_call *call)
{
    remainder_double(call, true);
}

#define TRY_LONG(name, builtin)                                                   \
    static void try_##name##_long(tg_udf_call *call)                              \
    {                                                                             \
        int64_t value, max = INT64_MAX >> (64 - tg_udf_int(call, 2));             \
        bool fits = !builtin(tg_udf_long(call, 0), tg_udf_long(call, 1), &value); \
        if (!fits || value > max || value < -max - 1) {                           \
            tg_udf_return_null(call);                                             \
            return;                                                               \
        }                                                                         \
        tg_udf_return_long(call, value);                                          \
    }
TRY_LONG(add, __builtin_add_overflow)
TRY_LONG(sub, __builtin_sub_overflow)
TRY_LONG(mul, __builtin_mul_overflow)

static void sum_long(tg_udf_call *call)
{
    tg_int128 sum = tg_udf_huge(call, 0);
    if (sum > INT64_MAX || sum < INT64_MIN) {
        tg_udf_fail(call, TG_E_ARITHMETIC_OVERFLOW,
                    "the sum is too large for BIGINT; use try_sum to get NULL");
        return;
    }
    tg_udf_return_long(call, (int64_t)sum);
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* digits * 10^*out_exponent is the text of tg_double_text: at most 17 digits and a zero. */
static tg_int128 text_digits(tg_str text, int *out_exponent)
{
    tg_int128 digits = 0;
    int64_t exponent = 0;
    int behind = 0;
    bool has_point = false;
    for (size_t i = text.ptr[0] == '-'; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == 'e') {
            i += text.ptr[i + 1] == '+';
            (void)tg_str_to_i64(tg_str_sub(text, i + 1, text.len), &exponent);
            break;
        }
        has_point = has_point || c == '.';
        if (c != '.') {
            digits = digits * 10 + (c - '0');
            behind += has_point;
        }
    }
    *out_exponent = (int)exponent - behind;
    return text.ptr[0] == '-' ? -digits : digits;
}

/* Rounds the shortest decimal text of a number. */
static double round_text(tg_udf_call *call, double value, int scale, bool is_even, bool is_float)
{
    if (!isfinite(value) || value == 0) {
        return value == 0 ? 0 : value; /* a BigDecimal has no -0 */
    }
    int exponent;
    tg_int128 digits = text_digits(tg_double_text(call->arena, value, is_float), &exponent);
    int64_t dropped = -(int64_t)exponent - scale;
    if (dropped <= 0) {
        return value;
    }
    if (dropped > 20) {
        return 0; /* less than half a unit */
    }
    tg_int128 unit = tg_udf_pow10((int)dropped), quotient = digits / unit, rest = digits % unit;
    tg_int128 size = rest < 0 ? -rest : rest;
    bool up = size * 2 > unit || (size * 2 == unit && (!is_even || quotient % 2 != 0));
    quotient += up ? (value < 0 ? -1 : 1) : 0;
    tg_buf_clear(&call->text);
    tg_buf_addf(&call->text, "%llde%d", (long long)quotient, -scale);
    const char *rounded = tg_buf_cstr(&call->text);
    double result = is_float ? (double)tg_strtof(rounded) : tg_strtod(rounded);
    return result == 0 ? 0 : result;
}

static void round_double(tg_udf_call *call)
{
    tg_udf_return_double(call, round_text(call, tg_udf_double(call, 0), tg_udf_int(call, 1),
                                          tg_udf_bool(call, 2), false));
}

static void round_float(tg_udf_call *call)
{
    tg_udf_return_float(call, (float)round_text(call, (double)tg_udf_float(call, 0),
                                                tg_udf_int(call, 1), tg_udf_bool(call, 2), true));
}

/* To tens, hundreds ...: scale is negative. */
static void round_long(tg_udf_call *call)
{
    int64_t value = tg_udf_long(call, 0);
    int digits = -tg_udf_int(call, 1);
    if (digits > 19) {
        tg_udf_return_long(call, 0);
        return;
    }
    tg_int128 unit = tg_udf_pow10(digits), quotient = value / unit, rest = value % unit;
    tg_int128 size = rest < 0 ? -rest : rest;
    bool up = size * 2 > unit || (size * 2 == unit && (!tg_udf_bool(call, 2) || quotient % 2 != 0));
    quotient += up ? (value < 0 ? -1 : 1) : 0;
    quotient *= unit;
    if (quotient > INT64_MAX || quotient < INT64_MIN) {
        tg_udf_fail(call, TG_E_ARITHMETIC_OVERFLOW, "the rounded number is too large for BIGINT");
        return;
    }
    tg_udf_return_long(call, (int64_t)quotient);
}

/* ---- bits and bases -------------------------------------------------------------------------- */

static int64_t narrow(uint64_t value, int bits)
{
    return bits == 32 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static void shift_left(tg_udf_call *call)
{
    int bits = tg_udf_int(call, 2);
    uint64_t value = (uint64_t)tg_udf_long(call, 0);
    tg_udf_return_long(call, narrow(value << (tg_udf_int(call, 1) & (bits - 1)), bits));
}

static void shift_right(tg_udf_call *call)
{
    tg_udf_return_long(call,
                       tg_udf_long(call, 0) >> (tg_udf_int(call, 1) & (tg_udf_int(call, 2) - 1)));
}

static void shift_right_unsigned(tg_udf_call *call)
{
    int bits = tg_udf_int(call, 2);
    uint64_t value = (uint64_t)tg_udf_long(call, 0);
    value = bits == 32 ? (uint32_t)value : value;
    tg_udf_return_long(call, narrow(value >> (tg_udf_int(call, 1) & (bits - 1)), bits));
}

static void bit_get(tg_udf_call *call)
{
    int position = tg_udf_int(call, 1), bits = tg_udf_int(call, 2);
    if (position < 0 || position >= bits) {
        tg_udf_fail(call, TG_E_INVALID_PARAMETER_VALUE_BIT_POSITION_RANGE,
                    "the bit position must be from 0 to %d, found %d", bits - 1, position);
        return;
    }
    tg_udf_return_int(call, tg_udf_long(call, 0) >> position & 1);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
                                                    : 99;
}

/* Bases 2 to 36; a negative target base gives a signed number. */
static void conv(tg_udf_call *call)
{
    tg_str text = tg_udf_trim(tg_udf_str(call, 0));
    int from = tg_udf_int(call, 1), to = tg_udf_int(call, 2), target = abs(to);
    if (from < 2 || from > 36 || target < 2 || target > 36 || text.len == 0) {
        tg_udf_return_null(call);
        return;
    }
    bool is_negative = text.ptr[0] == '-';
    uint64_t value = 0;
    for (size_t i = is_negative; i < text.len && digit_of(text.ptr[i]) < from; i++) {
        if (__builtin_mul_overflow(value, (uint64_t)from, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_of(text.ptr[i]), &value)) {
            tg_udf_fail(call, TG_E_ARITHMETIC_OVERFLOW, "the number in conv is too large");
            return;
        }
    }
    if (is_negative && to > 0) {
        value = (int64_t)value < 0 ? UINT64_MAX : -value;
    }
    bool shows_minus = to < 0 && (is_negative || (int64_t)value < 0);
    uint64_t size = to < 0 && (int64_t)value < 0 && !is_negative ? -value : value;
    char digits[72];
    size_t count = 0;
    do {
        digits[sizeof(digits) - ++count] =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[size % (uint64_t)target];
        size /= (uint64_t)target;
    } while (size);
    tg_buf_addz(&call->text, shows_minus ? "-" : "");
    tg_buf_add(&call->text, digits + sizeof(digits) - count, count);
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

const tg_udf tg_udf_table_math[] = {
    {"tg_sqrt", "d>d", math_sqrt, false},
    {"tg_cbrt", "d>d", math_cbrt, false},
    {"tg_exp", "d>d", math_exp, false},
    {"tg_expm1", "d>d", math_expm1, false},
    {"tg_sin", "d>d", math_sin, false},
    {"tg_cos", "d>d", math_cos, false},
    {"tg_tan", "d>d", math_tan, false},
    {"tg_cot", "d>d", math_cot, false},
    {"tg_sec", "d>d", math_sec, false},
    {"tg_csc", "d>d", math_csc, false},
    {"tg_asin", "d>d", math_asin, false},
    {"tg_acos", "d>d", math_acos, false},
    {"tg_atan", "d>d", math_atan, false},
    {"tg_atan2", "dd>d", math_atan2, false},
    {"tg_sinh", "d>d", math_sinh, false},
    {"tg_cosh", "d>d", math_cosh, false},
    {"tg_tanh", "d>d", math_tanh, false},
    {"tg_asinh", "d>d", math_asinh, false},
    {"tg_acosh", "d>d", math_acosh, false},
    {"tg_atanh", "d>d", math_atanh, false},
    {"tg_degrees", "d>d", math_degrees, false},
    {"tg_radians", "d>d", math_radians, false},
    {"tg_rint", "d>d", math_rint, false},
    {"tg_sign", "d>d", math_sign, false},
    {"tg_ln", "d>d", math_ln, false},
    {"tg_log", "d>d", math_ln, false},
    {"tg_log", "dd>d", math_log, false},
    {"tg_log10", "d>d", math_log10, false},
    {"tg_log2", "d>d", math_log2, false},
    {"tg_log1p", "d>d", math_log1p, false},
    {"tg_pow", "dd>d", math_pow, false},
    {"tg_hypot", "dd>d", math_hypot, false},
    {"tg_factorial", "i>l", factorial, false},
    {"tg_ceil_long", "d>l", ceil_long, false},
    {"tg_floor_long", "d>l", floor_long, false},
    {"tg_width_bucket", "dddl>l", width_bucket, false},
    {"tg_div_double", "ddb>d", div_double, false},
    {"tg_div_long", "llb>l", div_long, false},
    {"tg_floor_div", "ll>l", floor_div, false},
    {"tg_mod_long", "llb>l", mod_long, false},
    {"tg_pmod_long", "llb>l", pmod_long, false},
    {"tg_mod_double", "ddb>d", mod_double, false},
    {"tg_pmod_double", "ddb>d", pmod_double, false},
    {"tg_try_add_long", "lli>l", try_add_long, false},
    {"tg_try_sub_long", "lli>l", try_sub_long, false},
    {"tg_try_mul_long", "lli>l", try_mul_long, false},
    {"tg_sum_long", "h>l", sum_long, false},
    {"tg_round_double", "dib>d", round_double, false},
    {"tg_round_float", "fib>f", round_float, false},
    {"tg_round_long", "lib>l", round_long, false},
    {"tg_shift_left", "lii>l", shift_left, false},
    {"tg_shift_right", "lii>l", shift_right, false},
    {"tg_shift_right_unsigned", "lii>l", shift_right_unsigned, false},
    {"tg_bit_get", "lii>i", bit_get, false},
    {"tg_conv", "sii>s", conv, false},
    {NULL, NULL, NULL, false},
};
