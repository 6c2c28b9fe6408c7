/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as text in the Delta log: partition values and the bounds in file statistics.
 *
 * A bound that is too wide costs time; one that is too narrow loses rows. So what is read is
 * widened by what other writers are known to get wrong, and what cannot be written safely is left
 * out.
 */
#include <math.h>

#include "data/data_int.h"

/* ---- partition values ------------------------------------------------------------------------ */

static bool partition_time(tg_str text, const tg_type *type, const tg_zone *zone, tg_arena *arena,
                           tg_value *out)
{
    int64_t value;
    bool has_zone = false;

    if (type->kind == TG_TYPE_DATE) {
        if (!tg_date_parse(text, &value)) {
            return false;
        }
    } else if (!tg_timestamp_parse(text, arena, &value, &has_zone)) {
        return false;
    }
    if (type->kind == TG_TYPE_TIMESTAMP && !has_zone) {
        value = tg_zone_to_us(zone ? zone : tg_zone_utc(), value);
    }
    *out = tg_value_int(type, value);
    return true;
}

/* A number of a partition value or a bound, if its type holds it. */
static bool parse_number(tg_str text, const tg_type *type, tg_value *out)
{
    tg_int128 number;
    double value;
    int64_t min, max;

    if (tg_type_is_floating(type)) {
        if (!tg_data_double_parse(text, type->kind == TG_TYPE_FLOAT, &value)) {
            return false;
        }
        *out = tg_value_double(type, value);
        return true;
    }
    if (!tg_decimal_parse(text, type->scale, &number)) {
        return false;
    }
    if (type->kind == TG_TYPE_DECIMAL) {
        if (!tg_data_decimal_fits(number, type->precision)) {
            return false;
        }
        *out = tg_value_decimal(type, number);
        return true;
    }
    tg_data_integer_range(type->kind, &min, &max);
    if (number < min || number > max) {
        return false;
    }
    *out = tg_value_int(type, (int64_t)number);
    return true;
}

static bool partition_parse(tg_str text, const tg_type *type, const tg_zone *zone, tg_arena *arena,
                            tg_value *out)
{
    if (tg_type_is_numeric(type)) {
        return parse_number(text, type, out);
    }
    if (type->kind == TG_TYPE_BOOLEAN) {
        bool is_true = tg_str_ieq(text, TG_S("true"));
        if (!is_true && !tg_str_ieq(text, TG_S("false"))) {
            return false;
        }
        *out = tg_value_bool(is_true);
        return true;
    }
    return partition_time(text, type, zone, arena, out);
}

tg_code tg_value_from_partition(tg_str text, bool is_null, const tg_type *type, const tg_zone *zone,
                                tg_arena *arena, tg_value *out, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();

    switch (type->kind) {
    case TG_TYPE_BOOLEAN:
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
    case TG_TYPE_DECIMAL:
    case TG_TYPE_STRING:
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        break;
    case TG_TYPE_BINARY: /* writers disagree on the escapes of bytes above 127 */
    case TG_TYPE_VOID:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        TG_FAIL(err, UNSUPPORTED_DATATYPE, "partition columns of type %s are not supported",
                tg_type_text(scratch, type).ptr);
    }
    if (is_null || text.len == 0) {
        *out = tg_value_null(type); /* the protocol: an empty string is NULL, for every type */
        return TG_OK;
    }
    if (type->kind == TG_TYPE_STRING) {
        *out = tg_value_bytes(type, tg_str_copy(arena, text));
        return TG_OK;
    }
    if (!partition_parse(text, type, zone, scratch, out)) {
        TG_FAIL(err, TIDEGATE_INVALID_PARTITION_VALUE, "partition value \"%.*s\" is not a valid %s",
                TG_SARG(text), tg_type_text(scratch, type).ptr);
    }
    return TG_OK;
}

tg_str tg_value_to_partition(tg_arena *arena, tg_value value, bool *out_is_null)
{
    *out_is_null = value.is_null;
    if (value.is_null) {
        return TG_S("");
    }
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        return value.as.boolean ? TG_S("true") : TG_S("false");
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return tg_str_printf(arena, "%lld", (long long)value.as.i64);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return tg_double_text(arena, value.as.f64, value.type->kind == TG_TYPE_FLOAT);
    case TG_TYPE_DECIMAL:
        return tg_decimal_text(arena, value.as.decimal, value.type->scale);
    case TG_TYPE_DATE:
        return tg_date_text(arena, value.as.i64);
    case TG_TYPE_TIMESTAMP:
        return tg_instant_text(arena, value.as.i64);
    case TG_TYPE_TIMESTAMP_NTZ:
        return tg_local_text(arena, value.as.i64);
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
        return tg_str_copy(arena, value.as.bytes);
    case TG_TYPE_VOID:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    tg_assert(!"a partition value of a type that is not atomic");
    return TG_S("");
}

/* ---- reading statistics ---------------------------------------------------------------------- */

static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

static bool stat_timestamp(tg_str text, const tg_type *type, bool is_max, tg_arena *arena,
                           tg_value *out)
{
    bool is_utc = tg_str_ends(text, TG_S("Z"));
    int64_t us;
    bool has_zone;

    if (!tg_timestamp_parse(text, arena, &us, &has_zone)) {
        return false;
    }
    if (type->kind == TG_TYPE_TIMESTAMP ? !has_zone : has_zone && !is_utc) {
        return false;
    }
    /* Writers that cut to milliseconds cut the maximum too. */
    us = add_saturating(us, is_max ? 999 : 0);
    if (has_zone && !is_utc) {
        /* Offsets of long ago have seconds, which old writers dropped. */
        us = add_saturating(us, is_max ? 59 * TG_US_PER_SECOND : -59 * TG_US_PER_SECOND);
    }
    *out = tg_value_int(type, us);
    return true;
}

static bool stat_decimal(tg_str text, const tg_type *type, bool is_max, tg_value *out)
{
    tg_int128 unscaled;

    if (!tg_decimal_parse(text, type->scale, &unscaled)) {
        return false;
    }
    /* Some writers send decimals through a double, which is exact up to 15 digits only. */
    if (!tg_data_decimal_fits(unscaled, 15)) {
        tg_int128 slack = (unscaled < 0 ? -unscaled : unscaled) / ((tg_int128)1 << 52) + 1;
        unscaled += is_max ? slack : -slack;
    }
    if (!tg_data_decimal_fits(unscaled, type->precision)) {
        return false;
    }
    *out = tg_value_decimal(type, unscaled);
    return true;
}

bool tg_value_from_stat(tg_str raw, bool is_json_string, const tg_type *type, bool is_max,
                        tg_arena *arena, tg_value *out)
{
    int64_t days;

    switch (type->kind) {
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return parse_number(raw, type, out);
    case TG_TYPE_DECIMAL:
        return stat_decimal(raw, type, is_max, out);
    case TG_TYPE_BOOLEAN:
        if (is_json_string || (!tg_str_eq(raw, TG_S("true")) && !tg_str_eq(raw, TG_S("false")))) {
            return false;
        }
        *out = tg_value_bool(raw.ptr[0] == 't');
        return true;
    case TG_TYPE_STRING:
        if (!is_json_string) {
            return false;
        }
        *out = tg_value_bytes(type, tg_str_copy(arena, raw));
        return true;
    case TG_TYPE_DATE:
        if (!is_json_string || !tg_date_parse(raw, &days)) {
            return false;
        }
        *out = tg_value_int(type, days);
        return true;
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return is_json_string && stat_timestamp(raw, type, is_max, arena, out);
    case TG_TYPE_VOID:
    case TG_TYPE_BINARY:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    return false;
}

/* ---- writing statistics ---------------------------------------------------------------------- */

/* Spark's default prefix length, in code points. */
enum { STAT_STRING_PREFIX = 32 };

/* Bytes of the first code points of valid UTF-8. */
static size_t prefix_bytes(tg_str text, size_t code_points)
{
    size_t at = 0;

    while (code_points-- > 0 && at < text.len) {
        (void)tg_utf8_next(text, &at);
    }
    return at;
}

/*
 * A short string that is at least text in byte order: its prefix and one character above the next
 * one. Where the next one is the greatest there is, the prefix grows, up to twice its length.
 */
static bool stat_string_max(tg_str text, tg_buf *out)
{
    tg_auto_buf tg_buf bound = TG_BUF_INIT;
    size_t at = prefix_bytes(text, STAT_STRING_PREFIX);
    char last[4];

    for (int extra = 0; at < text.len; extra++) {
        size_t cut = at;
        uint32_t next = tg_utf8_next(text, &at);
        if (next < 0x10FFFF) {
            tg_buf_add(&bound, text.ptr, cut);
            tg_buf_add(&bound, last, tg_utf8_put(last, next < 0x7F ? 0x7F : 0x10FFFF));
            tg_json_quote(out, tg_buf_str(&bound));
            return true;
        }
        if (extra == STAT_STRING_PREFIX) {
            return false;
        }
    }
    tg_json_quote(out, text);
    return true;
}

static bool stat_string(tg_str text, bool is_max, tg_buf *out)
{
    if (tg_utf8_valid_len(text) != text.len) {
        return false;
    }
    if (is_max) {
        return stat_string_max(text, out);
    }
    tg_json_quote(out, tg_str_sub(text, 0, prefix_bytes(text, STAT_STRING_PREFIX)));
    return true;
}

/* Milliseconds, rounded outwards. Years that not every reader can parse are left out. */
static bool stat_time(tg_value value, bool is_max, tg_buf *out)
{
    int64_t us = value.as.i64;
    int64_t rest = ((us % 1000) + 1000) % 1000;
    tg_civil civil;

    if (rest && __builtin_add_overflow(us, is_max ? 1000 - rest : -rest, &us)) {
        return false;
    }
    if (us < tg_days_from_civil(1, 1, 1) * TG_US_PER_DAY ||
        us >= tg_days_from_civil(10000, 1, 1) * TG_US_PER_DAY) {
        return false;
    }
    tg_civil_from_us(us, &civil);
    tg_buf_addf(out, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03d%s\"", (int)civil.year, civil.month,
                civil.day, civil.hour, civil.minute, civil.second, civil.microsecond / 1000,
                value.type->kind == TG_TYPE_TIMESTAMP ? "Z" : "");
    return true;
}

static bool stat_date(int64_t days, tg_buf *out)
{
    int32_t year;
    int month, day;

    if (days < tg_days_from_civil(1, 1, 1) || days >= tg_days_from_civil(10000, 1, 1)) {
        return false;
    }
    tg_civil_from_days(days, &year, &month, &day);
    tg_buf_addf(out, "\"%04d-%02d-%02d\"", (int)year, month, day);
    return true;
}

static bool stat_floating(tg_value value, bool is_max, tg_arena *scratch, tg_buf *out)
{
    double number = value.as.f64;

    if (!isfinite(number)) {
        return false;
    }
    if (number == 0.0) {
        number = is_max ? 0.0 : -0.0; /* for readers that order -0.0 below 0.0 */
    }
    tg_buf_adds(out, tg_double_text(scratch, number, value.type->kind == TG_TYPE_FLOAT));
    return true;
}

bool tg_value_to_stat(tg_value value, bool is_max, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();

    if (value.is_null) {
        return false;
    }
    switch (value.type->kind) {
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        tg_buf_addf(out, "%lld", (long long)value.as.i64);
        return true;
    case TG_TYPE_DECIMAL:
        tg_buf_adds(out, tg_decimal_text(scratch, value.as.decimal, value.type->scale));
        return true;
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return stat_floating(value, is_max, scratch, out);
    case TG_TYPE_STRING:
        return stat_string(value.as.bytes, is_max, out);
    case TG_TYPE_DATE:
        return stat_date(value.as.i64, out);
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return stat_time(value, is_max, out);
    case TG_TYPE_VOID:
    case TG_TYPE_BOOLEAN: /* Delta defines no bounds for these */
    case TG_TYPE_BINARY:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    return false;
}
