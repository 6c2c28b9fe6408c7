/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of Arrow arrays as JSON and as text.
 *
 * The Spark type says what a cell means, the Arrow format how it is stored (utf8 or large utf8,
 * date32 ...). JSON follows the encoding of `--format rows`; text follows Spark's cast to string,
 * but for doubles, which print as the shortest text that reads back.
 */
#include "api/api_int.h"

static bool is_null(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
    int64_t at = row + array->offset;
    return validity && !(validity[at / 8] >> (at % 8) & 1);
}

static int64_t int_at(const struct ArrowArray *array, const char *format, int64_t row)
{
    const void *data = array->buffers[1];
    int64_t at = row + array->offset;
    switch (format[0]) {
    case 'c':
        return ((const int8_t *)data)[at];
    case 's':
        return ((const int16_t *)data)[at];
    case 'i':
        return ((const int32_t *)data)[at];
    case 't': /* tdD: days in 32 bits; ts*, tt*, tD*: 64 bits */
        return format[1] == 'd' && format[2] == 'D' ? ((const int32_t *)data)[at]
                                                    : ((const int64_t *)data)[at];
    default:
        return ((const int64_t *)data)[at];
    }
}

/* Timestamps in microseconds, whatever the unit of the array. */
static int64_t us_at(const struct ArrowArray *array, const char *format, int64_t row)
{
    int64_t value = int_at(array, format, row);
    if (strncmp(format, "tss", 3) == 0) {
        return value * TG_US_PER_SECOND;
    }
    if (strncmp(format, "tsm", 3) == 0) {
        return value * 1000;
    }
    return strncmp(format, "tsn", 3) == 0 ? value / 1000 : value;
}

/* Where a cell of variable length begins and ends, by offsets of 32 or (is_large) 64 bits. */
static void range_at(const struct ArrowArray *array, bool is_large, int64_t row, int64_t *out_from,
                     int64_t *out_to)
{
    int64_t at = row + array->offset;
    if (is_large) {
        const int64_t *offsets = array->buffers[1];
        *out_from = offsets[at];
        *out_to = offsets[at + 1];
    } else {
        const int32_t *offsets = array->buffers[1];
        *out_from = offsets[at];
        *out_to = offsets[at + 1];
    }
}

static tg_str bytes_at(const struct ArrowArray *array, const char *format, int64_t row)
{
    int64_t from, to;
    range_at(array, format[0] == 'U' || format[0] == 'Z', row, &from, &to);
    const char *data = array->buffers[2];
    return (tg_str){data ? data + from : "", (size_t)(to - from)};
}

static tg_int128 decimal_at(const struct ArrowArray *array, const char *format, int64_t row)
{
    int64_t at = row + array->offset;
    /* "d:p,s" is 128 bits wide; "d:p,s,32" and "d:p,s,64" are the narrow forms. */
    const char *width = strchr(format, ',');
    width = width ? strchr(width + 1, ',') : NULL;
    if (width && strcmp(width, ",32") == 0) {
        return ((const int32_t *)array->buffers[1])[at];
    }
    if (width && strcmp(width, ",64") == 0) {
        return ((const int64_t *)array->buffers[1])[at];
    }
    tg_int128 value;
    memcpy(&value, (const char *)array->buffers[1] + at * 16, sizeof(value));
    return value;
}

static tg_value atom_at(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row)
{
    const char *format = schema->format;
    int64_t at = row + array->offset;
    if (is_null(array, row) || type->kind == TG_TYPE_VOID || format[0] == 'n') {
        return tg_value_null(type);
    }
    switch (type->kind) {
    case TG_TYPE_BOOLEAN:
        return tg_value_bool(((const uint8_t *)array->buffers[1])[at / 8] >> (at % 8) & 1);
    case TG_TYPE_FLOAT:
        return tg_value_double(type, (double)((const float *)array->buffers[1])[at]);
    case TG_TYPE_DOUBLE:
        return tg_value_double(type, ((const double *)array->buffers[1])[at]);
    case TG_TYPE_DECIMAL:
        return tg_value_decimal(type, decimal_at(array, format, row));
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
        return tg_value_bytes(type, bytes_at(array, format, row));
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return tg_value_int(type, us_at(array, format, row));
    default:
        return tg_value_int(type, int_at(array, format, row));
    }
}

static void hex(tg_str bytes, tg_buf *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        tg_buf_addf(out, "%02x", (unsigned)(uint8_t)bytes.ptr[i]);
    }
}

static tg_str plain_text(tg_value value, tg_arena *arena)
{
    switch (value.type->kind) {
    case TG_TYPE_DECIMAL:
        return tg_decimal_text(arena, value.as.decimal, value.type->scale);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return tg_double_text(arena, value.as.f64, value.type->kind == TG_TYPE_FLOAT);
    case TG_TYPE_DATE:
        return tg_date_text(arena, value.as.i64);
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return tg_value_literal(arena, value);
    case TG_TYPE_STRING:
        return value.as.bytes;
    default:
        return tg_str_printf(arena, "%lld", (long long)value.as.i64);
    }
}

/* Of a nested value made by tg_nested_value. */
static void own_nested_json(tg_value value, tg_arena *arena, tg_buf *out)
{
    const tg_value *items = (const tg_value *)(const void *)value.as.bytes.ptr;
    bool is_struct = value.type->kind == TG_TYPE_STRUCT, is_map = value.type->kind == TG_TYPE_MAP;
    tg_buf_addc(out, is_struct ? '{' : '[');
    for (size_t i = 0; i < value.as.bytes.len; i++) {
        bool is_key = is_map && i % 2 == 0;
        tg_buf_addz(out, i > 0 ? ", " : "");
        tg_buf_addz(out, is_key ? "[" : "");
        if (is_struct) {
            tg_json_quote(out, value.type->fields[i].name);
            tg_buf_addz(out, ": ");
        }
        tg_value_json(items[i], arena, out);
        tg_buf_addz(out, is_map && !is_key ? "]" : "");
    }
    tg_buf_addc(out, is_struct ? '}' : ']');
}

static void own_nested_text(tg_value value, const tg_zone *zone, tg_arena *arena, tg_buf *out)
{
    const tg_value *items = (const tg_value *)(const void *)value.as.bytes.ptr;
    bool is_list = value.type->kind == TG_TYPE_ARRAY, is_map = value.type->kind == TG_TYPE_MAP;
    tg_buf_addc(out, is_list ? '[' : '{');
    for (size_t i = 0; i < value.as.bytes.len; i++) {
        tg_buf_addz(out, i == 0 ? "" : is_map && i % 2 == 1 ? " -> " : ", ");
        if (!tg_value_text(items[i], zone, arena, out)) {
            tg_buf_addz(out, "null");
        }
    }
    tg_buf_addc(out, is_list ? ']' : '}');
}

void tg_value_json(tg_value value, tg_arena *arena, tg_buf *out)
{
    if (value.is_null) {
        tg_buf_addz(out, "null");
        return;
    }
    if (tg_type_is_nested(value.type)) {
        own_nested_json(value, arena, out);
        return;
    }
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        tg_buf_addz(out, value.as.boolean ? "true" : "false");
        return;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        tg_buf_addf(out, "%lld", (long long)value.as.i64);
        return;
    case TG_TYPE_BINARY:
        tg_buf_addc(out, '"');
        hex(value.as.bytes, out);
        tg_buf_addc(out, '"');
        return;
    case TG_TYPE_TIMESTAMP:
        tg_json_quote(out, tg_instant_text(arena, value.as.i64));
        return;
    case TG_TYPE_TIMESTAMP_NTZ: {
        tg_str text = tg_instant_text(arena, value.as.i64);
        tg_json_quote(out, tg_str_sub(text, 0, text.len - 1)); /* without Z */
        return;
    }
    default:
        tg_json_quote(out, plain_text(value, arena));
    }
}

bool tg_value_text(tg_value value, const tg_zone *zone, tg_arena *arena, tg_buf *out)
{
    if (value.is_null) {
        return false;
    }
    if (tg_type_is_nested(value.type)) {
        own_nested_text(value, zone, arena, out);
        return true;
    }
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        tg_buf_addz(out, value.as.boolean ? "true" : "false");
        return true;
    case TG_TYPE_BINARY:
        hex(value.as.bytes, out);
        return true;
    case TG_TYPE_TIMESTAMP:
        tg_buf_adds(out, tg_local_text(arena, tg_zone_local_us(zone, value.as.i64)));
        return true;
    case TG_TYPE_TIMESTAMP_NTZ:
        tg_buf_adds(out, tg_local_text(arena, value.as.i64));
        return true;
    default:
        tg_buf_adds(out, plain_text(value, arena));
        return true;
    }
}

static bool has_duplicate_names(const tg_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (tg_str_eq(type->fields[i].name, type->fields[j].name)) {
                return true;
            }
        }
    }
    return false;
}

static void struct_json(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, tg_arena *arena, tg_buf *out)
{
    bool as_pairs = has_duplicate_names(type);
    tg_buf_addz(out, as_pairs ? "{\"__dup\": [" : "{");
    for (size_t i = 0; i < type->field_count; i++) {
        tg_buf_addz(out, i > 0 ? ", " : "");
        tg_buf_addz(out, as_pairs ? "[" : "");
        tg_json_quote(out, type->fields[i].name);
        tg_buf_addz(out, as_pairs ? ", " : ": ");
        tg_arrow_cell_json(array->children[i], schema->children[i], type->fields[i].type,
                           row + array->offset, arena, out);
        tg_buf_addz(out, as_pairs ? "]" : "");
    }
    tg_buf_addz(out, as_pairs ? "]}" : "}");
}

void tg_arrow_cell_json(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, tg_arena *arena, tg_buf *out)
{
    if (!tg_type_is_nested(type)) {
        tg_value_json(atom_at(array, schema, type, row), arena, out);
        return;
    }
    if (is_null(array, row) || schema->format[0] == 'n') {
        tg_buf_addz(out, "null");
        return;
    }
    if (type->kind == TG_TYPE_STRUCT) {
        struct_json(array, schema, type, row, arena, out);
        return;
    }
    int64_t from, to;
    range_at(array, schema->format[1] == 'L' /* +L */, row, &from, &to);
    const struct ArrowArray *items = array->children[0];
    const struct ArrowSchema *item_schema = schema->children[0];
    tg_buf_addc(out, '[');
    for (int64_t i = from; i < to; i++) {
        tg_buf_addz(out, i > from ? ", " : "");
        if (type->kind == TG_TYPE_MAP) {
            int64_t at = i + items->offset;
            tg_buf_addc(out, '[');
            tg_arrow_cell_json(items->children[0], item_schema->children[0], type->key, at, arena,
                               out);
            tg_buf_addz(out, ", ");
            tg_arrow_cell_json(items->children[1], item_schema->children[1], type->element, at,
                               arena, out);
            tg_buf_addc(out, ']');
        } else {
            tg_arrow_cell_json(items, item_schema, type->element, i, arena, out);
        }
    }
    tg_buf_addc(out, ']');
}

static void nested_text(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, const tg_zone *zone, tg_arena *arena,
                        tg_buf *out)
{
    if (!tg_arrow_cell_text(array, schema, type, row, zone, arena, out)) {
        tg_buf_addz(out, "null");
    }
}

bool tg_arrow_cell_text(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, const tg_zone *zone, tg_arena *arena,
                        tg_buf *out)
{
    if (!tg_type_is_nested(type)) {
        return tg_value_text(atom_at(array, schema, type, row), zone, arena, out);
    }
    if (is_null(array, row) || schema->format[0] == 'n') {
        return false;
    }
    if (type->kind == TG_TYPE_STRUCT) {
        tg_buf_addc(out, '{');
        for (size_t i = 0; i < type->field_count; i++) {
            tg_buf_addz(out, i > 0 ? ", " : "");
            nested_text(array->children[i], schema->children[i], type->fields[i].type,
                        row + array->offset, zone, arena, out);
        }
        tg_buf_addc(out, '}');
        return true;
    }
    int64_t from, to;
    range_at(array, schema->format[1] == 'L' /* +L */, row, &from, &to);
    const struct ArrowArray *items = array->children[0];
    const struct ArrowSchema *item_schema = schema->children[0];
    tg_buf_addc(out, type->kind == TG_TYPE_MAP ? '{' : '[');
    for (int64_t i = from; i < to; i++) {
        tg_buf_addz(out, i > from ? ", " : "");
        if (type->kind == TG_TYPE_MAP) {
            int64_t at = i + items->offset;
            nested_text(items->children[0], item_schema->children[0], type->key, at, zone, arena,
                        out);
            tg_buf_addz(out, " -> ");
            nested_text(items->children[1], item_schema->children[1], type->element, at, zone,
                        arena, out);
        } else {
            nested_text(items, item_schema, type->element, i, zone, arena, out);
        }
    }
    tg_buf_addc(out, type->kind == TG_TYPE_MAP ? '}' : ']');
    return true;
}
