/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NOT NULL inside nested columns, which no statistic tells about: the query that gives the new rows
 * checks them itself. Columns without such a part cost nothing.
 */
#include <stdio.h>

#include "engine/duckdb/duckdb_int.h"

/* Types are as deep as schema texts may be: TG_LIMIT_JSON_DEPTH bounds the recursion. */
static bool has_inner_not_null(const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_ARRAY:
        return !type->contains_null || has_inner_not_null(type->element);
    case TG_TYPE_MAP:
        return !type->contains_null || has_inner_not_null(type->element) ||
               has_inner_not_null(type->key);
    case TG_TYPE_STRUCT:
        for (size_t i = 0; i < type->field_count; i++) {
            if (!type->fields[i].nullable || has_inner_not_null(type->fields[i].type)) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

static void put_violation(tg_buf *out, tg_str value, const tg_type *type, bool nullable, int depth);

/* Is one of the elements of a list a violation? */
static void put_list_violation(tg_buf *out, tg_str list, const tg_type *element, bool contains_null,
                               int depth)
{
    char name[16];
    (void)snprintf(name, sizeof name, "e%d", depth);
    tg_buf_addf(out, "len(list_filter(%.*s, lambda %s: ", TG_SARG(list), name);
    put_violation(out, tg_str_from(name), element, contains_null, depth + 1);
    tg_buf_addz(out, ")) > 0");
}

static void put_struct_violation(tg_buf *out, tg_str value, const tg_type *type, int depth)
{
    tg_buf_addf(out, "(%.*s IS NOT NULL AND (false", TG_SARG(value));
    for (size_t i = 0; i < type->field_count; i++) {
        const tg_field *field = &type->fields[i];
        if (field->nullable && !has_inner_not_null(field->type)) {
            continue;
        }
        tg_auto_buf tg_buf inner = TG_BUF_INIT;
        tg_buf_addf(&inner, "struct_extract(%.*s, ", TG_SARG(value));
        tg_duckdb_put_string(&inner, field->name);
        tg_buf_addc(&inner, ')');
        tg_buf_addz(out, " OR ");
        put_violation(out, tg_buf_str(&inner), field->type, field->nullable, depth);
    }
    tg_buf_addz(out, "))");
}

/* A condition that is TRUE when the value, or a part of it, is NULL where it may not be. */
static void put_violation(tg_buf *out, tg_str value, const tg_type *type, bool nullable, int depth)
{
    tg_buf_addz(out, "(");
    if (nullable) {
        tg_buf_addz(out, "false");
    } else {
        tg_buf_addf(out, "%.*s IS NULL", TG_SARG(value));
    }
    if (type->kind == TG_TYPE_STRUCT && has_inner_not_null(type)) {
        tg_buf_addz(out, " OR ");
        put_struct_violation(out, value, type, depth);
    } else if (type->kind == TG_TYPE_ARRAY && has_inner_not_null(type)) {
        tg_buf_addz(out, " OR ");
        put_list_violation(out, value, type->element, type->contains_null, depth);
    } else if (type->kind == TG_TYPE_MAP && has_inner_not_null(type)) {
        tg_auto_buf tg_buf part = TG_BUF_INIT;
        tg_buf_addf(&part, "map_values(%.*s)", TG_SARG(value));
        tg_buf_addz(out, " OR ");
        put_list_violation(out, tg_buf_str(&part), type->element, type->contains_null, depth);
        tg_buf_clear(&part);
        tg_buf_addf(&part, "map_keys(%.*s)", TG_SARG(value));
        tg_buf_addz(out, " OR ");
        put_list_violation(out, tg_buf_str(&part), type->key, true, depth);
    }
    tg_buf_addc(out, ')');
}

void tg_duckdb_put_checked(tg_buf *out, tg_str value, const tg_field *field)
{
    bool is_checked =
        tg_type_is_nested(field->type) && (!field->nullable || has_inner_not_null(field->type));
    if (!is_checked) {
        tg_buf_adds(out, value);
        return;
    }
    tg_auto_buf tg_buf message = TG_BUF_INIT;
    tg_buf_addf(&message,
                "[TG:DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: "
                "%.*s%s",
                TG_SARG(field->name), field->nullable ? ", in a part of it" : "");
    tg_buf_addz(out, "CASE WHEN ");
    put_violation(out, value, field->type, field->nullable, 0);
    tg_buf_addz(out, " THEN error(");
    tg_duckdb_put_string(out, tg_buf_str(&message));
    tg_buf_addf(out, ") ELSE %.*s END", TG_SARG(value));
}
