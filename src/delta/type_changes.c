/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Type widening: which changes of a column's type a reader may follow (Delta protocol, "Type
 * Widening").
 *
 * A field lists in its metadata what its type was; older files hold the narrower types, and reading
 * casts them. Casts that the protocol does not know are not made up here: the table is refused.
 */
#include <yyjson.h>

#include "delta/delta_int.h"

#define KEY_CHANGES "delta.typeChanges"

/* Digits before the point that a whole number may need; 0: not a whole number. */
static int integer_digits(const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
        return 10;
    case TG_TYPE_BIGINT:
        return 20;
    default:
        return 0;
    }
}

bool tg_delta_is_widening(const tg_type *from, const tg_type *to)
{
    if (tg_type_is_integer(from) && tg_type_is_integer(to)) {
        return from->kind < to->kind;
    }
    switch (to->kind) {
    case TG_TYPE_DOUBLE:
        return from->kind == TG_TYPE_FLOAT || integer_digits(from) == 10;
    case TG_TYPE_TIMESTAMP_NTZ:
        return from->kind == TG_TYPE_DATE;
    case TG_TYPE_DECIMAL:
        if (from->kind == TG_TYPE_DECIMAL) {
            int scale = to->scale - from->scale, precision = to->precision - from->precision;
            return scale >= 0 && precision >= scale && precision > 0;
        }
        return integer_digits(from) && to->precision - to->scale >= integer_digits(from);
    default:
        return false;
    }
}

/* A type's name in a schema text; NULL: none that can be widened. */
static const tg_type *named_type(tg_str name, tg_arena *scratch)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_schema schema;
    tg_buf_addz(&text, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":");
    tg_json_quote(&text, name);
    tg_buf_addz(&text, "}]}");
    return tg_schema_from_json(tg_buf_str(&text), scratch, &schema, NULL) == TG_OK
               ? schema.fields[0].type
               : NULL;
}

static tg_code check_field(tg_str table_path, const tg_field *field, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    yyjson_val *root, *change;
    size_t index, count;
    if (tg_str_find(field->metadata, TG_S(KEY_CHANGES), 0) == SIZE_MAX) {
        return TG_OK;
    }
    TG_TRY(tg_json_parse(field->metadata, TG_JSON_RAW_NUMBERS, scratch, &root, err));
    yyjson_val *changes = tg_json_get(root, KEY_CHANGES);
    if (!changes) {
        return TG_OK;
    }
    if (!yyjson_is_arr(changes)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                "Delta table `%.*s`: %s of column `%.*s` is not a list", TG_SARG(table_path),
                KEY_CHANGES, TG_SARG(field->name));
    }
    yyjson_arr_foreach(changes, index, count, change)
    {
        tg_str from_name = tg_json_get_str(change, "fromType", TG_S("")),
               to_name = tg_json_get_str(change, "toType", TG_S(""));
        const tg_type *from = named_type(from_name, scratch), *to = named_type(to_name, scratch);
        if (!from || !to || !(tg_type_equal(from, to) || tg_delta_is_widening(from, to))) {
            TG_FAIL(
                err, DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA,
                "cannot read Delta table `%.*s`: the type of its column `%.*s` was changed from "
                "\"%.*s\" to \"%.*s\", which the protocol does not allow",
                TG_SARG(table_path), TG_SARG(field->name), TG_SARG(from_name), TG_SARG(to_name));
        }
    }
    return TG_OK;
}

static tg_code check_fields(tg_str table_path, const tg_field *fields, size_t count, tg_error *err);

/* Depth is bounded where types are made (TG_LIMIT_JSON_DEPTH). */
static tg_code check_type(tg_str table_path, const tg_type *type, tg_error *err)
{
    if (type->element) {
        TG_TRY(check_type(table_path, type->element, err));
    }
    if (type->key) {
        TG_TRY(check_type(table_path, type->key, err));
    }
    return check_fields(table_path, type->fields, type->field_count, err);
}

static tg_code check_fields(tg_str table_path, const tg_field *fields, size_t count, tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        TG_TRY(check_field(table_path, &fields[i], err));
        TG_TRY(check_type(table_path, fields[i].type, err));
    }
    return TG_OK;
}

tg_code tg_delta_type_changes_check(tg_str table_path, const tg_delta_metadata *metadata,
                                    tg_error *err)
{
    if (tg_str_find(metadata->schema_string, TG_S(KEY_CHANGES), 0) == SIZE_MAX) {
        return TG_OK;
    }
    return check_fields(table_path, metadata->schema.fields, metadata->schema.count, err);
}

bool tg_delta_was_float(const tg_field *field)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    yyjson_val *root, *change;
    size_t index, count;
    if (tg_str_find(field->metadata, TG_S(KEY_CHANGES), 0) == SIZE_MAX ||
        tg_json_parse(field->metadata, TG_JSON_RAW_NUMBERS, scratch, &root, NULL) != TG_OK) {
        return false;
    }
    yyjson_val *changes = tg_json_get(root, KEY_CHANGES);
    if (!yyjson_is_arr(changes)) {
        return false;
    }
    yyjson_arr_foreach(changes, index, count, change)
    {
        if (tg_str_eq(tg_json_get_str(change, "fromType", TG_S("")), TG_S("float"))) {
            return true;
        }
    }
    return false;
}
