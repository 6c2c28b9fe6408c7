/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts of constants between atomic types, by Spark's ANSI rules. Where Spark would round, overflow
 * or fail, the answer is "no": the caller then leaves the cast to the engine.
 */
#include <math.h>

#include "data/data_int.h"

/* What a cast needs to know. */
typedef struct cast {
    tg_value from;
    const tg_type *to;
    const tg_zone *zone; /* may be NULL */
    tg_arena *arena;
} cast;

/* ---- numbers --------------------------------------------------------------------------------- */

/* number * 10^-scale as an integer, decimal or floating value, if exactly so. */
static bool to_integer(tg_int128 number, int scale, const tg_type *to, tg_value *out)
{
    tg_int128 unit = tg_data_pow10(scale);
    int64_t min, max;

    tg_data_integer_range(to->kind, &min, &max);
    if (number % unit != 0 || number / unit < min || number / unit > max) {
        return false;
    }
    *out = tg_value_int(to, (int64_t)(number / unit));
    return true;
}

static bool to_decimal(tg_int128 number, int scale, const tg_type *to, tg_value *out)
{
    if (scale > to->scale) {
        tg_int128 unit = tg_data_pow10(scale - to->scale);
        if (number % unit != 0) {
            return false;
        }
        number /= unit;
    } else if (__builtin_mul_overflow(number, tg_data_pow10(to->scale - scale), &number)) {
        return false;
    }
    if (!tg_data_decimal_fits(number, to->precision)) {
        return false;
    }
    *out = tg_value_decimal(to, number);
    return true;
}

/* Exact only when number / 10^scale = odd part / 2^n with an odd part that fits the mantissa. */
static bool to_floating(tg_int128 number, int scale, const tg_type *to, tg_value *out)
{
    double value;

    for (int i = 0; i < scale; i++) {
        if (number % 5 != 0) {
            return false;
        }
        number /= 5;
    }
    value = (double)number; /* |number| < 10^38: the way back cannot overflow */
    if ((tg_int128)value != number) {
        return false;
    }
    value = ldexp(value, -scale);
    if (to->kind == TG_TYPE_FLOAT && (double)(float)value != value) {
        return false;
    }
    *out = tg_value_double(to, value);
    return true;
}

static bool number_to(tg_int128 number, int scale, const tg_type *to, tg_value *out)
{
    if (tg_type_is_integer(to)) {
        return to_integer(number, scale, to, out);
    }
    if (to->kind == TG_TYPE_DECIMAL) {
        return to_decimal(number, scale, to, out);
    }
    return tg_type_is_floating(to) && to_floating(number, scale, to, out);
}

static bool cast_floating(const cast *c, tg_value *out)
{
    double value = c->from.as.f64;

    if (tg_type_is_floating(c->to)) {
        if (c->to->kind == TG_TYPE_FLOAT && !isnan(value) && (double)(float)value != value) {
            return false;
        }
        *out = tg_value_double(c->to, value);
        return true;
    }
    if (!isfinite(value) || value != trunc(value) || fabs(value) >= 1e18) {
        return false;
    }
    return number_to((tg_int128)value, 0, c->to, out);
}

/* ---- times ----------------------------------------------------------------------------------- */

static bool cast_date(const cast *c, tg_value *out)
{
    int64_t local_us;

    if (__builtin_mul_overflow(c->from.as.i64, TG_US_PER_DAY, &local_us)) {
        return false;
    }
    if (c->to->kind == TG_TYPE_TIMESTAMP_NTZ) {
        *out = tg_value_int(c->to, local_us);
        return true;
    }
    if (c->to->kind != TG_TYPE_TIMESTAMP || !c->zone) {
        return false;
    }
    *out = tg_value_int(c->to, tg_zone_to_us(c->zone, local_us));
    return true;
}

/* Between instants and local times. */
static bool cast_timestamp(const cast *c, tg_value *out)
{
    if (!c->zone) {
        return false;
    }
    if (c->from.type->kind == TG_TYPE_TIMESTAMP && c->to->kind == TG_TYPE_TIMESTAMP_NTZ) {
        *out = tg_value_int(c->to, tg_zone_local_us(c->zone, c->from.as.i64));
        return true;
    }
    if (c->from.type->kind == TG_TYPE_TIMESTAMP_NTZ && c->to->kind == TG_TYPE_TIMESTAMP) {
        *out = tg_value_int(c->to, tg_zone_to_us(c->zone, c->from.as.i64));
        return true;
    }
    return false;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Spark trims white space and control characters before it reads a number or boolean. */
static tg_str trim_all(tg_str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ') {
        text = tg_str_sub(text, 1, text.len);
    }
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ') {
        text.len--;
    }
    return text;
}

static bool string_to_boolean(tg_str text, tg_value *out)
{
    static const char *const words[2][5] = {{"f", "false", "n", "no", "0"},
                                            {"t", "true", "y", "yes", "1"}};

    for (int value = 0; value < 2; value++) {
        for (int i = 0; i < 5; i++) {
            if (tg_str_ieq(text, tg_str_from(words[value][i]))) {
                *out = tg_value_bool(value == 1);
                return true;
            }
        }
    }
    return false;
}

static bool string_to_integer(tg_str text, const tg_type *to, tg_value *out)
{
    int64_t number;

    /* "1.0" and "1e3" are not integers to Spark's ANSI cast. */
    return tg_str_to_i64(text, &number) && to_integer(number, 0, to, out);
}

static bool string_to_floating(tg_str text, const tg_type *to, tg_value *out)
{
    static const struct {
        const char *word, *canonical;
    } words[] = {{"inf", "Infinity"},
                 {"+inf", "Infinity"},
                 {"infinity", "Infinity"},
                 {"+infinity", "Infinity"},
                 {"-inf", "-Infinity"},
                 {"-infinity", "-Infinity"},
                 {"nan", "NaN"}};
    double value;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_ieq(text, tg_str_from(words[i].word))) {
            text = tg_str_from(words[i].canonical);
            break;
        }
    }
    if (!tg_data_double_parse(text, to->kind == TG_TYPE_FLOAT, &value)) {
        return false;
    }
    *out = tg_value_double(to, value);
    return true;
}

static bool string_to_time(const cast *c, tg_str text, tg_value *out)
{
    int64_t value;
    bool has_zone;

    if (c->to->kind == TG_TYPE_DATE) {
        if (!tg_date_parse(text, &value) || value < INT32_MIN || value > INT32_MAX) {
            return false;
        }
    } else {
        if (!tg_timestamp_parse(text, c->arena, &value, &has_zone)) {
            return false;
        }
        if (c->to->kind == TG_TYPE_TIMESTAMP_NTZ && has_zone) {
            return false; /* Spark keeps the local time, which is lost here */
        }
        if (c->to->kind == TG_TYPE_TIMESTAMP && !has_zone) {
            if (!c->zone) {
                return false;
            }
            value = tg_zone_to_us(c->zone, value);
        }
    }
    *out = tg_value_int(c->to, value);
    return true;
}

static bool cast_string(const cast *c, tg_value *out)
{
    tg_str text = trim_all(c->from.as.bytes);
    tg_int128 number;

    if (c->to->kind == TG_TYPE_BINARY) {
        *out = tg_value_bytes(c->to, c->from.as.bytes);
        return true;
    }
    if (c->to->kind == TG_TYPE_BOOLEAN) {
        return string_to_boolean(text, out);
    }
    if (tg_type_is_integer(c->to)) {
        return string_to_integer(text, c->to, out);
    }
    if (c->to->kind == TG_TYPE_DECIMAL) {
        return tg_decimal_parse(text, c->to->scale, &number) &&
               to_decimal(number, c->to->scale, c->to, out);
    }
    if (tg_type_is_floating(c->to)) {
        return string_to_floating(text, c->to, out);
    }
    return tg_type_is_datetime(c->to) && string_to_time(c, text, out);
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool cast_interval(const cast *c, tg_value *out)
{
    if (c->to->kind != c->from.type->kind || c->to->from > c->from.type->from ||
        c->to->to < c->from.type->to) {
        return false;
    }
    *out = tg_value_int(c->to, c->from.as.i64);
    return true;
}

bool tg_value_cast(tg_value value, const tg_type *to, const tg_zone *zone, tg_arena *arena,
                   tg_value *out)
{
    cast c = {value, to, zone, arena};

    if (value.is_null) {
        *out = tg_value_null(to);
        return true;
    }
    if (tg_type_equal(value.type, to)) {
        *out = value;
        out->type = to;
        return true;
    }
    switch (value.type->kind) {
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        return number_to(value.as.i64, 0, to, out);
    case TG_TYPE_DECIMAL:
        return number_to(value.as.decimal, value.type->scale, to, out);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return cast_floating(&c, out);
    case TG_TYPE_DATE:
        return cast_date(&c, out);
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return cast_timestamp(&c, out);
    case TG_TYPE_STRING:
        return cast_string(&c, out);
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return cast_interval(&c, out);
    case TG_TYPE_VOID:
    case TG_TYPE_BOOLEAN:
    case TG_TYPE_BINARY:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    return false;
}
