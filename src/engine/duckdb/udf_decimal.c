/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal arithmetic that DuckDB's 38 digits cannot hold on the way: products and quotients are
 * exact in 256 bits and rounded once, half away from zero.
 *
 * Operands come as any decimal or integer type; results are unscaled HUGEINTs of the scale that the
 * caller asks for.
 */
#include "engine/duckdb/udf_int.h"

typedef unsigned __int128 u128;

/* ---- 256 bits -------------------------------------------------------------------------------- */

typedef struct u256 {
    u128 high, low;
} u256;

static u256 u256_of(u128 value)
{
    return (u256){0, value};
}

static bool u256_less(u256 a, u256 b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static u256 u256_add(u256 a, u256 b)
{
    u256 sum = {a.high + b.high, a.low + b.low};
    sum.high += sum.low < a.low;
    return sum;
}

static u256 u256_sub(u256 a, u256 b)
{
    return (u256){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static u256 u256_mul(u128 a, u128 b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    u128 low = (u128)a0 * b0, mid1 = (u128)a0 * b1, mid2 = (u128)a1 * b0, high = (u128)a1 * b1;
    u128 carry = (low >> 64) + (uint64_t)mid1 + (uint64_t)mid2;
    return (u256){high + (mid1 >> 64) + (mid2 >> 64) + (carry >> 64),
                  (carry << 64) | (uint64_t)low};
}

/* Times 10^exponent; false on overflow of 256 bits. */
static bool u256_scale(u256 *value, int exponent)
{
    for (; exponent > 0; exponent--) {
        if (value->high >> 124) {
            return false;
        }
        u256 low = u256_mul(value->low, 10);
        low.high += value->high * 10;
        *value = low;
    }
    return true;
}

/* Quotient and remainder; divisor not 0. */
static u256 u256_div(u256 a, u256 b, u256 *out_remainder)
{
    u256 quotient = {0, 0}, rest = {0, 0};
    if (a.high == 0 && b.high == 0) {
        *out_remainder = u256_of(a.low % b.low);
        return u256_of(a.low / b.low);
    }
    if (b.high) {
        /* The shift below must not lose the top bit of rest: operands stay below 2^255 here. */
        tg_assert(b.high >> 127 == 0);
    }
    for (int bit = 255; bit >= 0; bit--) {
        u128 word = bit >= 128 ? a.high : a.low;
        rest.high = (rest.high << 1) | (rest.low >> 127);
        rest.low = (rest.low << 1) | ((word >> (bit % 128)) & 1);
        bool fits = !u256_less(rest, b);
        if (fits) {
            rest = u256_sub(rest, b);
        }
        if (bit >= 128) {
            quotient.high |= (u128)fits << (bit - 128);
        } else {
            quotient.low |= (u128)fits << bit;
        }
    }
    *out_remainder = rest;
    return quotient;
}

typedef enum rounding { HALF_UP, HALF_EVEN, CEILING, FLOOR, DOWN } rounding;

/* a / b rounded; is_negative: the sign of the true quotient. */
static u256 divide_rounded(u256 a, u256 b, bool is_negative, rounding mode)
{
    u256 rest, quotient = u256_div(a, b, &rest);
    bool is_exact = rest.high == 0 && rest.low == 0;
    u256 missing = u256_sub(b, rest); /* rest >= half of b when missing <= rest */
    bool above = u256_less(missing, rest), tie = !above && !u256_less(rest, missing);
    bool up = (mode == HALF_UP && (above || tie)) ||
              (mode == HALF_EVEN && (above || (tie && (quotient.low & 1)))) ||
              (mode == CEILING && !is_negative) || (mode == FLOOR && is_negative);
    return !is_exact && up ? u256_add(quotient, u256_of(1)) : quotient;
}

/* ---- operands and results -------------------------------------------------------------------- */

static u128 magnitude(tg_int128 value)
{
    return value < 0 ? -(u128)value : (u128)value;
}

static void return_decimal(tg_udf_call *call, bool fits, u256 value, bool is_negative,
                           int precision, int scale, bool is_try)
{
    if (!fits || value.high || value.low >= (u128)tg_udf_pow10(precision)) {
        tg_udf_fail_or_null(call, is_try, TG_E_NUMERIC_VALUE_OUT_OF_RANGE,
                            "the result of an operation cannot be represented as DECIMAL(%d,%d)",
                            precision, scale);
        return;
    }
    tg_int128 result = (tg_int128)value.low;
    tg_udf_return_huge(call, is_negative ? -result : result);
}

/* From one scale to another. */
static bool rescale(u256 *value, bool is_negative, int from, int to, rounding mode)
{
    if (to >= from) {
        return u256_scale(value, to - from);
    }
    u256 divisor = u256_of(1);
    if (!u256_scale(&divisor, from - to)) {
        *value = u256_of(0);
        return true;
    }
    *value = divide_rounded(*value, divisor, is_negative, mode);
    return true;
}

static void add_or_subtract(tg_udf_call *call, bool subtracts)
{
    int scale_a, scale_b, precision = tg_udf_int(call, 2), scale = tg_udf_int(call, 3);
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a), b = tg_udf_decimal(call, 1, &scale_b);
    bool a_negative = a < 0, b_negative = (b < 0) != subtracts;
    int common = scale_a > scale_b ? scale_a : scale_b;
    u256 x = u256_of(magnitude(a)), y = u256_of(magnitude(b));
    bool fits = u256_scale(&x, common - scale_a) && u256_scale(&y, common - scale_b);
    bool is_negative = a_negative;
    u256 sum;
    if (a_negative == b_negative) {
        sum = u256_add(x, y);
    } else if (u256_less(x, y)) {
        sum = u256_sub(y, x);
        is_negative = b_negative;
    } else {
        sum = u256_sub(x, y);
    }
    fits = fits && rescale(&sum, is_negative, common, scale, HALF_UP);
    return_decimal(call, fits, sum, is_negative, precision, scale, tg_udf_bool(call, 4));
}

static void decimal_add(tg_udf_call *call)
{
    add_or_subtract(call, false);
}

static void decimal_sub(tg_udf_call *call)
{
    add_or_subtract(call, true);
}

static void decimal_mul(tg_udf_call *call)
{
    int scale_a, scale_b, precision = tg_udf_int(call, 2), scale = tg_udf_int(call, 3);
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a), b = tg_udf_decimal(call, 1, &scale_b);
    u256 product = u256_mul(magnitude(a), magnitude(b));
    bool is_negative = (a < 0) != (b < 0);
    bool fits = rescale(&product, is_negative, scale_a + scale_b, scale, HALF_UP);
    return_decimal(call, fits, product, is_negative, precision, scale, tg_udf_bool(call, 4));
}

/* |a| / |b| at a scale; b is not 0. */
static bool quotient_at(u128 a, int scale_a, u128 b, int scale_b, int scale, bool is_negative,
                        rounding mode, u256 *out)
{
    int exponent = scale - scale_a + scale_b;
    u256 x = u256_of(a), y = u256_of(b);
    if (!(exponent >= 0 ? u256_scale(&x, exponent) : u256_scale(&y, -exponent))) {
        return false;
    }
    if (y.high >> 127 || x.high >> 127) {
        return false;
    }
    *out = divide_rounded(x, y, is_negative, mode);
    return true;
}

static void decimal_div(tg_udf_call *call)
{
    int scale_a, scale_b, precision = tg_udf_int(call, 2), scale = tg_udf_int(call, 3);
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a), b = tg_udf_decimal(call, 1, &scale_b);
    bool is_negative = (a < 0) != (b < 0), is_try = tg_udf_bool(call, 4);
    if (b == 0) {
        tg_udf_divide_by_zero(call, is_try);
        return;
    }
    u256 quotient = {0, 0};
    bool fits = quotient_at(magnitude(a), scale_a, magnitude(b), scale_b, scale, is_negative,
                            HALF_UP, &quotient);
    return_decimal(call, fits, quotient, is_negative, precision, scale, is_try);
}

/*
 * A sum in two halves, so that no row overflows: x = high * 10^19 + low, both of the sign of x. Each
 * half takes 10^18 rows to fill a HUGEINT.
 */
enum { HALF_DIGITS = 19 };

static void decimal_high(tg_udf_call *call)
{
    int scale;
    tg_udf_return_huge(call, tg_udf_decimal(call, 0, &scale) / tg_udf_pow10(HALF_DIGITS));
}

static void decimal_low(tg_udf_call *call)
{
    int scale;
    tg_udf_return_huge(call, tg_udf_decimal(call, 0, &scale) % tg_udf_pow10(HALF_DIGITS));
}

/* The sums of the halves put together, in 38 digits. */
static void decimal_sum(tg_udf_call *call)
{
    tg_int128 high = tg_udf_huge(call, 0), low = tg_udf_huge(call, 1);
    tg_int128 limit = tg_udf_pow10(38), sum, shifted;
    bool fits = !__builtin_mul_overflow(high, tg_udf_pow10(HALF_DIGITS), &shifted) &&
                !__builtin_add_overflow(shifted, low, &sum) && sum < limit && sum > -limit;
    if (!fits) {
        tg_udf_fail_or_null(call, tg_udf_bool(call, 2), TG_E_ARITHMETIC_OVERFLOW,
                            "the sum is too large for 38 digits; use try_sum to get NULL");
        return;
    }
    tg_udf_return_huge(call, sum);
}

/* sum / count */
static void decimal_avg(tg_udf_call *call)
{
    int scale_a, precision = tg_udf_int(call, 2), scale = tg_udf_int(call, 3);
    tg_int128 sum = tg_udf_decimal(call, 0, &scale_a);
    int64_t count = tg_udf_long(call, 1);
    if (count == 0) {
        tg_udf_return_null(call);
        return;
    }
    u256 quotient = {0, 0};
    bool fits =
        quotient_at(magnitude(sum), scale_a, (u128)count, 0, scale, sum < 0, HALF_UP, &quotient);
    return_decimal(call, fits, quotient, sum < 0, precision, scale, tg_udf_bool(call, 4));
}

static void decimal_div_long(tg_udf_call *call)
{
    int scale_a, scale_b;
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a), b = tg_udf_decimal(call, 1, &scale_b);
    if (b == 0) {
        tg_udf_divide_by_zero(call, false);
        return;
    }
    bool is_negative = (a < 0) != (b < 0);
    u256 quotient = {0, 0};
    bool fits =
        quotient_at(magnitude(a), scale_a, magnitude(b), scale_b, 0, is_negative, DOWN, &quotient);
    if (!fits || quotient.high || quotient.low > (u128)INT64_MAX + is_negative) {
        tg_udf_fail(call, TG_E_ARITHMETIC_OVERFLOW, "the quotient is too large for BIGINT");
        return;
    }
    tg_udf_return_long(call,
                       (int64_t)(is_negative ? -(tg_int128)quotient.low : (tg_int128)quotient.low));
}

static void remainder_of(tg_udf_call *call, bool is_positive)
{
    int scale_a, scale_b, precision = tg_udf_int(call, 2), scale = tg_udf_int(call, 3);
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a), b = tg_udf_decimal(call, 1, &scale_b);
    bool is_try = tg_udf_bool(call, 4);
    if (b == 0) {
        tg_udf_remainder_by_zero(call, is_try);
        return;
    }
    int common = scale_a > scale_b ? scale_a : scale_b;
    u256 x = u256_of(magnitude(a)), y = u256_of(magnitude(b)), rest;
    bool fits = u256_scale(&x, common - scale_a) && u256_scale(&y, common - scale_b) &&
                !(y.high >> 127) && !(x.high >> 127);
    bool is_negative = a < 0;
    if (!fits) {
        tg_udf_fail_or_null(call, is_try, TG_E_NUMERIC_VALUE_OUT_OF_RANGE,
                            "the operands of a remainder are too large");
        return;
    }
    (void)u256_div(x, y, &rest);
    bool is_zero = rest.high == 0 && rest.low == 0;
    if (is_positive && is_negative && !is_zero && b > 0) {
        rest = u256_sub(y, rest);
        is_negative = false;
    }
    fits = rescale(&rest, is_negative, common, scale, HALF_UP);
    return_decimal(call, fits, rest, is_negative, precision, scale, is_try);
}

static void decimal_mod(tg_udf_call *call)
{
    remainder_of(call, false);
}

static void decimal_pmod(tg_udf_call *call)
{
    remainder_of(call, true);
}

/* Rounds at a scale that may be negative, by the name of a mode. */
static void decimal_round(tg_udf_call *call)
{
    static const struct {
        const char *name;
        rounding mode;
    } modes[] = {
        {"half_up", HALF_UP}, {"half_even", HALF_EVEN}, {"ceiling", CEILING}, {"floor", FLOOR}};
    int scale_a, at = tg_udf_int(call, 1), precision = tg_udf_int(call, 3),
                 scale = tg_udf_int(call, 4);
    tg_int128 a = tg_udf_decimal(call, 0, &scale_a);
    rounding mode = HALF_UP;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        mode = tg_str_eq(tg_udf_str(call, 2), tg_str_from(modes[i].name)) ? modes[i].mode : mode;
    }
    u256 value = u256_of(magnitude(a));
    bool fits = true;
    if (at < scale_a) {
        fits = rescale(&value, a < 0, scale_a, at, mode) && rescale(&value, a < 0, at, scale, DOWN);
    } else {
        fits = rescale(&value, a < 0, scale_a, scale, DOWN);
    }
    return_decimal(call, fits, value, a < 0, precision, scale, false);
}

const tg_udf tg_udf_table_decimal[] = {
    {"tg_decimal_add", "nniib>h", decimal_add, false},
    {"tg_decimal_sub", "nniib>h", decimal_sub, false},
    {"tg_decimal_mul", "nniib>h", decimal_mul, false},
    {"tg_decimal_div", "nniib>h", decimal_div, false},
    {"tg_decimal_high", "n>h", decimal_high, false},
    {"tg_decimal_low", "n>h", decimal_low, false},
    {"tg_decimal_sum", "hhb>h", decimal_sum, false},
    {"tg_decimal_avg", "nliib>h", decimal_avg, false},
    {"tg_decimal_div_long", "nn>l", decimal_div_long, false},
    {"tg_decimal_mod", "nniib>h", decimal_mod, false},
    {"tg_decimal_pmod", "nniib>h", decimal_pmod, false},
    {"tg_decimal_round", "nisii>h", decimal_round, false},
    {NULL, NULL, NULL, false},
};
