/* SPDX-License-Identifier: Apache-2.0 */
/* Values: construction and the total order of each type. */
#include "data/value.h"

#include <math.h>

#include "data/data_int.h"

tg_value tg_value_null(const tg_type *type)
{
    return (tg_value){.type = type, .is_null = true};
}

tg_value tg_value_bool(bool value)
{
    return (tg_value){.type = tg_type_of(TG_TYPE_BOOLEAN), .as.boolean = value};
}

tg_value tg_value_int(const tg_type *type, int64_t value)
{
    return (tg_value){.type = type, .as.i64 = value};
}

tg_value tg_value_double(const tg_type *type, double value)
{
    return (tg_value){.type = type, .as.f64 = value};
}

tg_value tg_value_decimal(const tg_type *type, tg_int128 unscaled)
{
    return (tg_value){.type = type, .as.decimal = unscaled};
}

tg_value tg_value_bytes(const tg_type *type, tg_str bytes)
{
    return (tg_value){.type = type, .as.bytes = bytes};
}

static int double_cmp(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    }
    return (a > b) - (a < b);
}

int tg_value_cmp(tg_value a, tg_value b)
{
    tg_assert(!a.is_null && !b.is_null && a.type->kind == b.type->kind);
    switch (a.type->kind) {
    case TG_TYPE_BOOLEAN:
        return (int)a.as.boolean - (int)b.as.boolean;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return (a.as.i64 > b.as.i64) - (a.as.i64 < b.as.i64);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return double_cmp(a.as.f64, b.as.f64);
    case TG_TYPE_DECIMAL:
        tg_assert(a.type->scale == b.type->scale);
        return (a.as.decimal > b.as.decimal) - (a.as.decimal < b.as.decimal);
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
        return tg_str_cmp(a.as.bytes, b.as.bytes);
    case TG_TYPE_VOID:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    tg_assert(!"a value of a type without order");
    return 0;
}

bool tg_value_same(tg_value a, tg_value b)
{
    if (a.is_null || b.is_null) {
        return a.is_null && b.is_null && tg_type_equal(a.type, b.type);
    }
    return tg_type_equal(a.type, b.type) && tg_value_cmp(a, b) == 0;
}

void tg_data_integer_range(tg_type_kind kind, int64_t *out_min, int64_t *out_max)
{
    *out_min = INT64_MIN;
    *out_max = INT64_MAX;
    if (kind == TG_TYPE_TINYINT) {
        *out_min = INT8_MIN;
        *out_max = INT8_MAX;
    } else if (kind == TG_TYPE_SMALLINT) {
        *out_min = INT16_MIN;
        *out_max = INT16_MAX;
    } else if (kind == TG_TYPE_INT || kind == TG_TYPE_DATE || kind == TG_TYPE_INTERVAL_YM) {
        *out_min = INT32_MIN;
        *out_max = INT32_MAX;
    }
}

/* The neighbour in direction step (+1, -1). */
static bool value_step(tg_value value, int step, tg_value *out)
{
    tg_value result = value;
    int64_t min, max;

    if (value.is_null) {
        return false;
    }
    if (value.type->kind == TG_TYPE_BOOLEAN) {
        result.as.boolean = step > 0;
        if (result.as.boolean == value.as.boolean) {
            return false;
        }
    } else if (value.type->kind == TG_TYPE_DECIMAL) {
        result.as.decimal = value.as.decimal + step;
        if (!tg_data_decimal_fits(result.as.decimal, value.type->precision)) {
            return false;
        }
    } else if (tg_type_is_integer(value.type) || tg_type_is_datetime(value.type)) {
        tg_data_integer_range(value.type->kind, &min, &max);
        if (step > 0 ? value.as.i64 >= max : value.as.i64 <= min) {
            return false;
        }
        result.as.i64 = value.as.i64 + step;
    } else {
        return false;
    }
    *out = result;
    return true;
}

bool tg_value_next(tg_value value, tg_value *out)
{
    return value_step(value, 1, out);
}

bool tg_value_prev(tg_value value, tg_value *out)
{
    return value_step(value, -1, out);
}
