/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns between a table and its files under column mapping: names of structs' fields inside values,
 * and field ids in Parquet.
 *
 * remap_struct gives a nested value other field names at all levels at once; NULL stays NULL, lists
 * and maps keep their order.
 */
#include "engine/duckdb/duckdb_int.h"

static void put_mapping(tg_buf *out, const tg_type *from, const tg_type *to);

/* "'to': 'from'", or with what is renamed inside: "'to': ('from', {...})". */
static void put_entry(tg_buf *out, tg_str to_name, tg_str from_name, const tg_type *from,
                      const tg_type *to)
{
    tg_duckdb_put_string(out, to_name);
    tg_buf_addz(out, ": ");
    if (!tg_type_is_nested(to)) {
        tg_duckdb_put_string(out, from_name);
        return;
    }
    tg_buf_addc(out, '(');
    tg_duckdb_put_string(out, from_name);
    tg_buf_addz(out, ", ");
    put_mapping(out, from, to);
    tg_buf_addc(out, ')');
}

static void put_mapping(tg_buf *out, const tg_type *from, const tg_type *to)
{
    tg_buf_addc(out, '{');
    if (to->kind == TG_TYPE_ARRAY) {
        put_entry(out, TG_S("list"), TG_S("list"), from->element, to->element);
    } else if (to->kind == TG_TYPE_MAP) {
        put_entry(out, TG_S("key"), TG_S("key"), from->key, to->key);
        tg_buf_addz(out, ", ");
        put_entry(out, TG_S("value"), TG_S("value"), from->element, to->element);
    } else {
        for (size_t i = 0; i < to->field_count; i++) {
            tg_buf_addz(out, i ? ", " : "");
            put_entry(out, to->fields[i].name, from->fields[i].name, from->fields[i].type,
                      to->fields[i].type);
        }
    }
    tg_buf_addc(out, '}');
}

tg_code tg_duckdb_put_renamed(tg_buf *out, tg_str value, const tg_type *from, const tg_type *to,
                              tg_error *err)
{
    if (tg_type_equal(from, to)) {
        tg_buf_adds(out, value);
        return TG_OK;
    }
    tg_buf_addf(out, "remap_struct(%.*s, CAST(NULL AS ", TG_SARG(value));
    TG_TRY(tg_duckdb_put_type(out, to, err));
    tg_buf_addz(out, "), ");
    put_mapping(out, from, to);
    tg_buf_addz(out, ", NULL)");
    return TG_OK;
}

/* ---- field ids ------------------------------------------------------------------------------- */

static bool has_fields(const tg_type *type)
{
    return type->kind == TG_TYPE_STRUCT || (type->key && has_fields(type->key)) ||
           (type->element && has_fields(type->element));
}

static void put_ids(tg_buf *out, int64_t id, const tg_type *type);

static void put_field_ids(tg_buf *out, const tg_field *fields, size_t count, bool has_before)
{
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(out, has_before || i ? ", " : "");
        tg_duckdb_put_ident(out, fields[i].name);
        tg_buf_addz(out, ": ");
        put_ids(out, tg_delta_field_id(&fields[i]), fields[i].type);
    }
}

/* id -1: the elements of arrays and maps, which have no ids. */
static void put_ids(tg_buf *out, int64_t id, const tg_type *type)
{
    if (!tg_type_is_nested(type)) {
        tg_buf_addf(out, "%lld", (long long)id);
        return;
    }
    tg_buf_addc(out, '{');
    if (id >= 0) {
        tg_buf_addf(out, "__duckdb_field_id: %lld", (long long)id);
    }
    bool has_before = id >= 0;
    if (type->kind == TG_TYPE_STRUCT) {
        put_field_ids(out, type->fields, type->field_count, has_before);
    }
    if (type->key && has_fields(type->key)) {
        tg_buf_addz(out, has_before ? ", \"key\": " : "\"key\": ");
        put_ids(out, -1, type->key);
        has_before = true;
    }
    if (type->element && has_fields(type->element)) {
        tg_buf_addz(out, has_before ? ", " : "");
        tg_buf_addz(out, type->key ? "\"value\": " : "\"element\": ");
        put_ids(out, -1, type->element);
    }
    tg_buf_addc(out, '}');
}

void tg_duckdb_put_field_ids(tg_buf *out, tg_schema schema, const tg_str *left_out,
                             size_t left_out_count)
{
    bool is_first = true;
    tg_buf_addc(out, '{');
    for (size_t i = 0; i < schema.count; i++) {
        if (!tg_str_is_in(schema.fields[i].name, left_out, left_out_count)) {
            put_field_ids(out, &schema.fields[i], 1, !is_first);
            is_first = false;
        }
    }
    tg_buf_addc(out, '}');
}
