/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as SQL literals that Spark and tidegate read back to the same value.
 *
 * "-128Y" is minus applied to 128Y, which is out of range: the smallest integers are written as
 * casts. Instants carry 'Z', so that the session's zone does not matter.
 */
#include <math.h>

#include "data/data_int.h"

static void add_integer(tg_buf *out, tg_value value)
{
    int64_t min, max;
    tg_type_kind kind = value.type->kind;

    tg_data_integer_range(kind, &min, &max);
    if (value.as.i64 == min) {
        const char *type = kind == TG_TYPE_TINYINT    ? "TINYINT"
                           : kind == TG_TYPE_SMALLINT ? "SMALLINT"
                           : kind == TG_TYPE_INT      ? "INT"
                                                      : "BIGINT";
        tg_buf_addf(out, "CAST('%lld' AS %s)", (long long)min, type);
        return;
    }
    tg_buf_addf(out, "%lld", (long long)value.as.i64);
    tg_buf_addz(out, kind == TG_TYPE_TINYINT    ? "Y"
                     : kind == TG_TYPE_SMALLINT ? "S"
                     : kind == TG_TYPE_BIGINT   ? "L"
                                                : "");
}

static void add_floating(tg_buf *out, tg_value value, tg_arena *scratch)
{
    bool is_float = value.type->kind == TG_TYPE_FLOAT;
    tg_str text = tg_double_text(scratch, value.as.f64, is_float);

    if (isfinite(value.as.f64)) {
        tg_buf_adds(out, text);
        tg_buf_addc(out, is_float ? 'F' : 'D');
    } else {
        tg_buf_addf(out, "CAST('%.*s' AS %s)", TG_SARG(text), is_float ? "FLOAT" : "DOUBLE");
    }
}

static void add_string(tg_buf *out, tg_str text)
{
    tg_buf_addc(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\'' || c == '\\') {
            tg_buf_addc(out, '\\');
            tg_buf_addc(out, (char)c);
        } else if (c == '\n') {
            tg_buf_addz(out, "\\n");
        } else if (c == '\r') {
            tg_buf_addz(out, "\\r");
        } else if (c == '\t') {
            tg_buf_addz(out, "\\t");
        } else if (c < ' ' || c == 0x7F) {
            tg_buf_addf(out, "\\u%04x", c); /* not "\0": digits behind it would make it octal */
        } else {
            tg_buf_addc(out, (char)c);
        }
    }
    tg_buf_addc(out, '\'');
}

static void add_binary(tg_buf *out, tg_str bytes)
{
    tg_buf_addz(out, "X'");
    for (size_t i = 0; i < bytes.len; i++) {
        tg_buf_addf(out, "%02X", (unsigned char)bytes.ptr[i]);
    }
    tg_buf_addc(out, '\'');
}

/* "2024-01-01 00:00:00[.f]" as the ISO form with 'T'. */
static void add_local(tg_buf *out, int64_t local_us, tg_arena *scratch)
{
    tg_str text = tg_local_text(scratch, local_us);

    for (size_t i = 0; i < text.len; i++) {
        tg_buf_addc(out, text.ptr[i] == ' ' ? 'T' : text.ptr[i]);
    }
}

/* INTERVAL '-1 02:03:04.5' DAY TO SECOND and the shorter forms of both kinds. */
static void add_interval(tg_buf *out, tg_value value)
{
    static const struct {
        const char *name;
        int64_t unit;       /* microseconds or months */
        const char *before; /* what separates it from the larger field */
    } fields[] = {
        [TG_FIELD_YEAR] = {"YEAR", 12, ""},
        [TG_FIELD_MONTH] = {"MONTH", 1, "-"},
        [TG_FIELD_DAY] = {"DAY", TG_US_PER_DAY, ""},
        [TG_FIELD_HOUR] = {"HOUR", 3600 * TG_US_PER_SECOND, " "},
        [TG_FIELD_MINUTE] = {"MINUTE", 60 * TG_US_PER_SECOND, ":"},
        [TG_FIELD_SECOND] = {"SECOND", TG_US_PER_SECOND, ":"},
    };
    uint64_t rest = value.as.i64 < 0 ? 0 - (uint64_t)value.as.i64 : (uint64_t)value.as.i64;
    tg_interval_field first = value.type->from;
    tg_interval_field last = value.type->to;

    tg_buf_addz(out, value.as.i64 < 0 ? "INTERVAL '-" : "INTERVAL '");
    for (tg_interval_field field = first; field <= last; field++) {
        uint64_t unit = (uint64_t)fields[field].unit;
        bool two_digits =
            field > TG_FIELD_DAY; /* also the first one: Spark writes 03:04.5 and 01.5 */
        tg_buf_addz(out, field > first ? fields[field].before : "");
        tg_buf_addf(out, two_digits ? "%02llu" : "%llu", (unsigned long long)(rest / unit));
        rest %= unit;
    }
    if (last == TG_FIELD_SECOND && rest) {
        char fraction[8];
        int digits = 6;
        for (; rest % 10 == 0; rest /= 10) {
            digits--;
        }
        for (int i = digits - 1; i >= 0; i--, rest /= 10) {
            fraction[i] = (char)('0' + (int)(rest % 10));
        }
        tg_buf_addf(out, ".%.*s", digits, fraction);
    }
    tg_buf_addf(out, "' %s", fields[first].name);
    if (last > first) {
        tg_buf_addf(out, " TO %s", fields[last].name);
    }
}

static void add_literal(tg_buf *out, tg_value value, tg_arena *scratch)
{
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        tg_buf_addz(out, value.as.boolean ? "true" : "false");
        break;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        add_integer(out, value);
        break;
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        add_floating(out, value, scratch);
        break;
    case TG_TYPE_DECIMAL:
        tg_buf_adds(out, tg_decimal_text(scratch, value.as.decimal, value.type->scale));
        tg_buf_addz(out, "BD");
        break;
    case TG_TYPE_STRING:
        add_string(out, value.as.bytes);
        break;
    case TG_TYPE_BINARY:
        add_binary(out, value.as.bytes);
        break;
    case TG_TYPE_DATE:
        tg_buf_addz(out, "DATE'");
        tg_buf_adds(out, tg_date_text(scratch, value.as.i64));
        tg_buf_addc(out, '\'');
        break;
    case TG_TYPE_TIMESTAMP:
        tg_buf_addz(out, "TIMESTAMP'");
        add_local(out, value.as.i64, scratch);
        tg_buf_addz(out, "Z'");
        break;
    case TG_TYPE_TIMESTAMP_NTZ:
        tg_buf_addz(out, "TIMESTAMP_NTZ'");
        add_local(out, value.as.i64, scratch);
        tg_buf_addc(out, '\'');
        break;
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        add_interval(out, value);
        break;
    case TG_TYPE_VOID:
    case TG_TYPE_ARRAY:
    case TG_TYPE_MAP:
    case TG_TYPE_STRUCT:
    case TG_TYPE_VARIANT:
    case TG_TYPE_KIND_COUNT_:
        tg_assert(!"a literal of a type that is not atomic");
    }
}

tg_str tg_value_literal(tg_arena *arena, tg_value value)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_auto_arena tg_arena *scratch = tg_arena_new();

    if (!value.is_null) {
        add_literal(&out, value, scratch);
    } else if (value.type->kind == TG_TYPE_VOID) {
        tg_buf_addz(&out, "NULL");
    } else {
        tg_buf_addz(&out, "CAST(NULL AS ");
        tg_buf_adds(&out, tg_type_ddl(scratch, value.type));
        tg_buf_addc(&out, ')');
    }
    return tg_buf_take(&out, arena);
}
