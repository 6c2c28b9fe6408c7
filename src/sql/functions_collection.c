/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays, maps, structs.
 *
 * What raises in Spark (an index outside the array) is written CASE WHEN fits THEN value WHEN
 * tg_bad_...() THEN NULL END: the C function raises when it is reached, and is NULL for NULLs, so
 * that the whole is NULL then.
 */
#include "sql/functions_int.h"

/* ---- making ---------------------------------------------------------------------------------- */

TG_FN_RESOLVER(array)
{
    const tg_type *element;
    TG_TRY(tg_sql_unify(ctx, call->args, call->arg_count, call->span, "elements of an array",
                        &element, err));
    call->type = tg_type_array(ctx->arena, element, tg_fn_any_nullable(call));
    call->nullable = false;
    return TG_OK;
}

static tg_code resolve_struct(tg_fn_context *ctx, tg_bexpr *call, tg_field *fields, size_t count,
                              tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (tg_str_ieq(fields[i].name, fields[j].name)) {
                return tg_fn_at(call->span, err,
                                TG_ERR(err, UNSUPPORTED_FEATURE,
                                       "structs with two fields named '%.*s' are not available",
                                       TG_SARG(fields[i].name)));
            }
        }
    }
    call->type = tg_type_struct(ctx->arena, fields, count);
    call->nullable = false;
    return TG_OK;
}

TG_FN_RESOLVER(named_struct)
{
    size_t count = call->arg_count / 2;
    if (call->arg_count % 2) {
        return tg_fn_at(
            call->span, err,
            TG_ERR(err, WRONG_NUM_ARGS, "`named_struct` takes pairs of a name and a value"));
    }
    tg_field *fields = TG_NEW_ARRAY(ctx->arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        const tg_bexpr *value = call->args[2 * i + 1];
        fields[i] = (tg_field){.type = value->type, .nullable = value->nullable};
        if (!tg_fn_literal_string(call->args[2 * i], &fields[i].name)) {
            return tg_fn_type_error(call, 2 * i, "a constant name", err);
        }
    }
    return resolve_struct(ctx, call, fields, count, err);
}

TG_FN_RESOLVER(struct_row)
{
    tg_field *fields = TG_NEW_ARRAY(ctx->arena, tg_field, call->arg_count);
    for (size_t i = 0; i < call->arg_count; i++) {
        fields[i] = (tg_field){.name = tg_str_printf(ctx->arena, "col%zu", i + 1),
                               .type = call->args[i]->type,
                               .nullable = call->args[i]->nullable};
    }
    return resolve_struct(ctx, call, fields, call->arg_count, err);
}

static tg_code print_struct(tg_print_context *ctx, const tg_bexpr *call, size_t first, size_t step,
                            tg_error *err)
{
    tg_buf_addz(ctx->out, "struct_pack(");
    for (size_t i = 0; i < call->type->field_count; i++) {
        tg_buf_addz(ctx->out, i ? ", " : "");
        tg_print_duckdb_ident(call->type->fields[i].name, ctx->out);
        tg_buf_addz(ctx->out, " := ");
        TG_TRY(tg_print_expr(ctx, call->args[first + i * step], err));
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

TG_FN_PRINTER(named_struct)
{
    return print_struct(ctx, call, 1, 2, err);
}

TG_FN_PRINTER(struct_row)
{
    return print_struct(ctx, call, 0, 1, err);
}

/* Casts every second argument from first on to their common type. */
static tg_code unify_every_second(tg_fn_context *ctx, tg_bexpr *call, size_t first,
                                  const char *what, const tg_type **out_type, tg_error *err)
{
    size_t count = call->arg_count / 2;
    tg_bexpr **picked = TG_NEW_ARRAY(ctx->arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        picked[i] = call->args[2 * i + first];
    }
    TG_TRY(tg_sql_unify(ctx, picked, count, call->span, what, out_type, err));
    for (size_t i = 0; i < count; i++) {
        call->args[2 * i + first] = picked[i];
    }
    return TG_OK;
}

TG_FN_RESOLVER(map)
{
    const tg_type *key, *value;
    if (call->arg_count % 2) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, WRONG_NUM_ARGS, "`map` takes pairs of a key and a value"));
    }
    TG_TRY(unify_every_second(ctx, call, 0, "keys of a map", &key, err));
    TG_TRY(unify_every_second(ctx, call, 1, "values of a map", &value, err));
    bool contains_null = false;
    for (size_t i = 1; i < call->arg_count; i += 2) {
        contains_null = contains_null || call->args[i]->nullable;
    }
    for (size_t i = 0; i < call->arg_count; i += 2) {
        tg_value literal;
        if (tg_fn_literal(call->args[i], &literal) && literal.is_null) {
            return tg_fn_at(call->args[i]->span, err,
                            TG_ERR(err, NULL_MAP_KEY, "a map cannot have NULL as a key"));
        }
    }
    call->type = tg_type_map(ctx->arena, key, value, contains_null);
    call->nullable = false;
    return TG_OK;
}

TG_FN_PRINTER(map)
{
    if (call->arg_count == 0) {
        tg_buf_addz(ctx->out, "MAP {}");
        return TG_OK;
    }
    for (size_t part = 0; part < 2; part++) {
        tg_buf_addz(ctx->out, part ? ", [" : "map([");
        for (size_t i = part; i < call->arg_count; i += 2) {
            tg_buf_addz(ctx->out, i > 1 ? ", " : "");
            TG_TRY(tg_print_expr(ctx, call->args[i], err));
        }
        tg_buf_addc(ctx->out, ']');
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

TG_FN_RESOLVER(map_from_arrays)
{
    for (size_t i = 0; i < 2; i++) {
        if (call->args[i]->type->kind != TG_TYPE_ARRAY) {
            return tg_fn_type_error(call, i, "an array", err);
        }
    }
    const tg_type *values = call->args[1]->type;
    call->type = tg_type_map(ctx->arena, call->args[0]->type->element, values->element,
                             values->contains_null);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(map_from_arrays)
{
    return tg_print_template(
        ctx,
        call->nullable ? "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN map($1, $2) END"
                       : "map($1, $2)",
        call, err);
}

const tg_type *tg_sql_entry_type(tg_arena *arena, const tg_type *map)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, 2);
    fields[0] = (tg_field){.name = TG_S("key"), .type = map->key};
    fields[1] =
        (tg_field){.name = TG_S("value"), .type = map->element, .nullable = map->contains_null};
    return tg_type_struct(arena, fields, 2);
}

/* map_keys, map_values, map_entries */
TG_FN_RESOLVER(map_part)
{
    const tg_type *map = call->args[0]->type;
    const char *name = call->function->name;
    if (map->kind == TG_TYPE_VOID) {
        map = tg_type_map(ctx->arena, map, map, true);
        TG_TRY(tg_fn_coerce(ctx, call, 0, map, err));
    }
    if (map->kind != TG_TYPE_MAP) {
        return tg_fn_type_error(call, 0, "a map", err);
    }
    const tg_type *element = strcmp(name, "map_keys") == 0     ? map->key
                             : strcmp(name, "map_values") == 0 ? map->element
                                                               : tg_sql_entry_type(ctx->arena, map);
    /* Keys and values of one type may be the same object, so the name tells. */
    bool may_hold_null = strcmp(name, "map_values") == 0 && map->contains_null;
    call->type = tg_type_array(ctx->arena, element, may_hold_null);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(map_from_entries)
{
    const tg_type *type = call->args[0]->type;
    bool fits = type->kind == TG_TYPE_ARRAY && type->element->kind == TG_TYPE_STRUCT &&
                type->element->field_count == 2;
    if (!fits) {
        return tg_fn_type_error(call, 0, "an array of structs of two fields", err);
    }
    const tg_field *fields = type->element->fields;
    call->type = tg_type_map(ctx->arena, fields[0].type, fields[1].type, fields[1].nullable);
    call->nullable = true;
    return TG_OK;
}

static tg_code coerce_key(tg_fn_context *ctx, tg_bexpr *call, size_t index, const tg_type *key,
                          tg_error *err)
{
    const tg_type *common = tg_sql_tightest_type(ctx->arena, key, call->args[index]->type);
    if (!common || !tg_type_equal(common, key)) {
        return tg_fn_type_error(call, index, tg_type_ddl(ctx->arena, key).ptr, err);
    }
    return tg_fn_coerce(ctx, call, index, key, err);
}

static tg_code refuse_untyped_null(const tg_bexpr *call, size_t index, tg_error *err)
{
    return tg_fn_at(call->args[index]->span, err,
                    TG_ERR(err, DATATYPE_MISMATCH_NULL_TYPE, "`%s` cannot look for an untyped NULL",
                           call->function->name));
}

TG_FN_RESOLVER(map_contains_key)
{
    const tg_type *map = call->args[0]->type;
    if (call->args[1]->type->kind == TG_TYPE_VOID) {
        return refuse_untyped_null(call, 1, err);
    }
    if (map->kind != TG_TYPE_MAP) {
        return tg_fn_type_error(call, 0, "a map", err);
    }
    TG_TRY(coerce_key(ctx, call, 1, map->key, err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/* ---- elements -------------------------------------------------------------------------------- */

TG_FN_RESOLVER(element)
{
    const tg_type *type = call->args[0]->type;
    call->nullable = true;
    if (type->kind == TG_TYPE_MAP && strcmp(call->function->name, "get") != 0) {
        call->type = type->element;
        bool is_subscript = strcmp(call->function->name, "element") == 0;
        return is_subscript ? tg_fn_coerce(ctx, call, 1, type->key, err)
                            : coerce_key(ctx, call, 1, type->key, err);
    }
    if (type->kind != TG_TYPE_ARRAY) {
        return tg_fn_type_error(call, 0, "an array or a map", err);
    }
    if (!tg_type_is_integer(call->args[1]->type) && call->args[1]->type->kind != TG_TYPE_VOID) {
        return tg_fn_type_error(call, 1, "a whole number", err);
    }
    call->type = type->element;
    return tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err);
}

TG_FN_PRINTER(element)
{
    const char *name = call->function->name;
    if (call->args[0]->type->kind == TG_TYPE_MAP) {
        return tg_print_template(ctx, "$1[$2]", call, err);
    }
    if (strcmp(name, "get") == 0) {
        return tg_print_template(ctx, "CASE WHEN $2 >= 0 THEN $1[$2 + 1] END", call, err);
    }
    if (strcmp(name, "try_element_at") == 0) {
        return tg_print_template(
            ctx, "CASE WHEN $2 <> 0 THEN $1[$2] WHEN tg_bad_element($2, 0) THEN NULL END", call,
            err);
    }
    if (strcmp(name, "element_at") == 0) {
        return tg_print_template(ctx,
                                 "CASE WHEN abs(CAST($2 AS BIGINT)) BETWEEN 1 AND len($1) THEN "
                                 "$1[$2] WHEN tg_bad_element($2, len($1)) THEN NULL END",
                                 call, err);
    }
    return tg_print_template(ctx,
                             "CASE WHEN $2 >= 0 AND $2 < len($1) THEN $1[$2 + 1] WHEN "
                             "tg_bad_index($2, len($1)) THEN NULL END",
                             call, err);
}

TG_FN_RESOLVER(size)
{
    tg_type_kind kind = call->args[0]->type->kind;
    if (kind != TG_TYPE_ARRAY && kind != TG_TYPE_MAP && kind != TG_TYPE_VOID) {
        return tg_fn_type_error(call, 0, "an array or a map", err);
    }
    (void)ctx;
    call->type = tg_type_of(TG_TYPE_INT);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_PRINTER(size)
{
    tg_type_kind kind = call->args[0]->type->kind;
    return tg_print_template(ctx,
                             kind == TG_TYPE_VOID  ? "CAST(NULL AS INTEGER)"
                             : kind == TG_TYPE_MAP ? "CAST(cardinality($1) AS INTEGER)"
                                                   : "CAST(len($1) AS INTEGER)",
                             call, err);
}

/* array and a value of its element type: contains, position, append, prepend, remove */
TG_FN_RESOLVER(array_search)
{
    const char *name = call->function->name;
    bool adds = strcmp(name, "array_append") == 0 || strcmp(name, "array_prepend") == 0;
    bool is_untyped =
        call->args[0]->type->kind == TG_TYPE_VOID || call->args[1]->type->kind == TG_TYPE_VOID;
    if (is_untyped && strcmp(name, "array_contains") == 0) {
        return refuse_untyped_null(call, call->args[0]->type->kind == TG_TYPE_VOID ? 0 : 1, err);
    }
    const tg_type *array = call->args[0]->type;
    if (array->kind != TG_TYPE_ARRAY) {
        return tg_fn_type_error(call, 0, "an array", err);
    }
    const tg_type *element = tg_sql_tightest_type(ctx->arena, array->element, call->args[1]->type);
    if (!element) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_ARRAY_FUNCTION_DIFF_TYPES,
                               "`%s` does not take %s and %s", name,
                               tg_type_ddl(ctx->arena, array).ptr,
                               tg_type_ddl(ctx->arena, call->args[1]->type).ptr));
    }
    bool contains_null = array->contains_null || (adds && call->args[1]->nullable);
    const tg_type *type = tg_type_array(ctx->arena, element, contains_null);
    TG_TRY(tg_fn_coerce(ctx, call, 0, type, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, element, err));
    call->type = strcmp(name, "array_contains") == 0   ? tg_type_of(TG_TYPE_BOOLEAN)
                 : strcmp(name, "array_position") == 0 ? tg_type_of(TG_TYPE_BIGINT)
                                                       : type;
    call->nullable =
        adds ? call->args[0]->nullable : tg_fn_any_nullable(call) || array->contains_null;
    return TG_OK;
}

TG_FN_PRINTER(array_contains)
{
    if (!call->nullable) {
        return tg_print_template(ctx, "list_contains($1, $2)", call, err);
    }
    return tg_print_template(
        ctx,
        "CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN list_contains($1, $2) THEN TRUE "
        "WHEN list_count($1) < len($1) THEN NULL ELSE FALSE END",
        call, err);
}

/* ---- two arrays ------------------------------------------------------------------------------ */

static tg_code require_comparable_elements(const tg_bexpr *call, size_t index, tg_error *err)
{
    const tg_type *type = call->args[index]->type;
    bool fits = type->kind == TG_TYPE_ARRAY &&
                (tg_type_is_orderable(type->element) || type->element->kind == TG_TYPE_VOID);
    return fits ? TG_OK
                : tg_fn_type_error(call, index, "an array of values that can be compared", err);
}

TG_FN_RESOLVER(array_pair)
{
    TG_TRY(require_comparable_elements(call, 0, err));
    TG_TRY(require_comparable_elements(call, 1, err));
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    const tg_type *type = tg_sql_tightest_type(ctx->arena, left, right);
    if (!type) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_BINARY_ARRAY_DIFF_TYPES,
                               "`%s` does not take %s and %s", call->function->name,
                               tg_type_ddl(ctx->arena, left).ptr,
                               tg_type_ddl(ctx->arena, right).ptr));
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, type, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, type, err));
    bool is_test = strcmp(call->function->name, "arrays_overlap") == 0;
    call->type = is_test ? tg_type_of(TG_TYPE_BOOLEAN) : type;
    call->nullable = tg_fn_any_nullable(call) || is_test;
    return TG_OK;
}

/* list_position finds NULLs too. */
TG_FN_PRINTER(array_pair)
{
    const char *name = call->function->name;
    if (strcmp(name, "arrays_overlap") == 0) {
        return tg_print_template(ctx,
                                 "CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL "
                                 "WHEN len(list_filter($1, lambda tg_x: tg_x IS NOT NULL AND "
                                 "list_position($2, tg_x) IS NOT NULL)) > 0 THEN TRUE "
                                 "WHEN len($1) > 0 AND len($2) > 0 AND (list_count($1) < len($1) "
                                 "OR list_count($2) < len($2)) THEN NULL "
                                 "ELSE FALSE END",
                                 call, err);
    }
    if (strcmp(name, "array_union") == 0) {
        return tg_print_template(ctx,
                                 "CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN "
                                 "list_transform([list_concat($K1, $K2)], "
                                 "lambda tg_l: list_filter(tg_l, lambda tg_x, tg_i: "
                                 "list_position(tg_l, tg_x) = tg_i))[1] END",
                                 call, err);
    }
    return tg_print_format(ctx, call, err,
                           "CASE WHEN $2 IS NOT NULL THEN list_filter($K1, lambda tg_x, tg_i: "
                           "list_position($K1, tg_x) = tg_i "
                           "AND list_position($2, tg_x) IS %sNULL) END",
                           strcmp(name, "array_intersect") == 0 ? "NOT " : "");
}

/* ---- whole arrays ---------------------------------------------------------------------------- */

TG_FN_RESOLVER(array_ordered)
{
    const tg_type *type = call->args[0]->type;
    TG_TRY(require_comparable_elements(call, 0, err));
    if (call->arg_count == 2 && strcmp(call->function->name, "array_sort") == 0) {
        return tg_fn_unsupported(call, err, "with a lambda yet");
    }
    (void)ctx;
    const char *name = call->function->name;
    if (strcmp(name, "array_distinct") != 0) {
        TG_TRY(tg_fn_check_order(call, type->element, err));
    }
    bool is_extreme = strcmp(name, "array_max") == 0 || strcmp(name, "array_min") == 0;
    call->type = is_extreme ? type->element : type;
    call->nullable = is_extreme || call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(sort_array)
{
    TG_TRY(tg_fn_resolve_array_ordered(ctx, call, err));
    if (call->arg_count == 2 &&
        (call->args[1]->kind != TG_B_LITERAL || call->args[1]->type->kind != TG_TYPE_BOOLEAN)) {
        return tg_fn_type_error(call, 1, "TRUE or FALSE", err);
    }
    return TG_OK;
}

TG_FN_PRINTER(sort_array)
{
    bool is_descending = call->arg_count == 2 && !call->args[1]->literal.is_null &&
                         !call->args[1]->literal.as.boolean;
    return tg_print_template(ctx,
                             is_descending ? "list_sort($1, 'DESC', 'NULLS LAST')"
                                           : "list_sort($1, 'ASC', 'NULLS FIRST')",
                             call, err);
}

TG_FN_RESOLVER(array_join)
{
    const tg_type *text = tg_type_of(TG_TYPE_STRING);
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_array(ctx->arena, text, true), err));
    for (size_t i = 1; i < call->arg_count; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, text, err));
    }
    call->type = text;
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(array_join)
{
    if (call->arg_count == 2) {
        return tg_print_template(ctx, "array_to_string($1, $2)", call, err);
    }
    return tg_print_template(ctx,
                             "CASE WHEN $3 IS NOT NULL THEN array_to_string(list_transform($1, "
                             "lambda tg_x: coalesce(tg_x, $3)), $2) END",
                             call, err);
}

TG_FN_RESOLVER(slice)
{
    if (call->args[0]->type->kind != TG_TYPE_ARRAY) {
        return tg_fn_type_error(call, 0, "an array", err);
    }
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    TG_TRY(tg_fn_coerce(ctx, call, 2, tg_type_of(TG_TYPE_INT), err));
    call->type = call->args[0]->type;
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(slice)
{
    return tg_print_template(
        ctx,
        "CASE WHEN tg_check_slice($2, $3) AND $1 IS NOT NULL THEN CASE WHEN $2 > 0 "
        "THEN list_slice($1, CAST($2 AS BIGINT), CAST($2 AS BIGINT) + $3 - 1) "
        "WHEN len($1) + $2 < 0 THEN CAST([] AS $T) "
        "ELSE list_slice($1, len($1) + $2 + 1, len($1) + $2 + $3) END END",
        call, err);
}

TG_FN_RESOLVER(array_repeat)
{
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    call->type = tg_type_array(ctx->arena, call->args[0]->type, call->args[0]->nullable);
    call->nullable = call->args[1]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(flatten)
{
    const tg_type *type = call->args[0]->type;
    if (type->kind != TG_TYPE_ARRAY || type->element->kind != TG_TYPE_ARRAY) {
        return tg_fn_type_error(call, 0, "an array of arrays", err);
    }
    (void)ctx;
    call->type = type->element;
    call->nullable = call->args[0]->nullable || type->contains_null;
    return TG_OK;
}

TG_FN_PRINTER(flatten)
{
    return tg_print_template(
        ctx,
        call->nullable ? "CASE WHEN list_count($1) = len($1) THEN flatten($1) END" : "flatten($1)",
        call, err);
}

TG_FN_RESOLVER(sequence)
{
    const tg_type *type = call->args[0]->type;
    if (type->kind == TG_TYPE_DATE && call->args[1]->type->kind == TG_TYPE_DATE) {
        const tg_type *step = call->arg_count == 3 ? call->args[2]->type : NULL;
        if (step && step->kind != TG_TYPE_INTERVAL_YM &&
            (step->kind != TG_TYPE_INTERVAL_DT || step->to != TG_FIELD_DAY)) {
            return tg_fn_unsupported(call, err, "for dates with a step other than days or months");
        }
    } else if (tg_type_is_integer(type) && tg_type_is_integer(call->args[1]->type)) {
        TG_TRY(tg_sql_unify(ctx, call->args, call->arg_count, call->span, "arguments of `sequence`",
                            &type, err));
    } else if (type->kind == TG_TYPE_VOID || call->args[1]->type->kind == TG_TYPE_VOID) {
        TG_TRY(tg_sql_unify(ctx, call->args, 2, call->span, "arguments of `sequence`", &type, err));
    } else {
        return tg_fn_unsupported(call, err, "for types other than integers and dates yet");
    }
    call->type = tg_type_array(ctx->arena, type, false);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(sequence)
{
    bool has_step = call->arg_count == 3;
    if (call->args[0]->type->kind != TG_TYPE_DATE) {
        return tg_print_template(ctx,
                                 has_step ? "CASE WHEN tg_check_sequence(CAST($1 AS BIGINT), "
                                            "CAST($2 AS BIGINT), CAST($3 AS BIGINT)) "
                                            "THEN CAST(generate_series(CAST($1 AS BIGINT), CAST($2 "
                                            "AS BIGINT), CAST(CASE WHEN $3 = 0 THEN 1 ELSE $3 END "
                                            "AS BIGINT)) AS $T) END"
                                          : "CASE WHEN tg_check_sequence(CAST($1 AS BIGINT), "
                                            "CAST($2 AS BIGINT), CAST(CASE WHEN $1 <= $2 THEN 1 "
                                            "ELSE -1 END AS BIGINT)) THEN "
                                            "CAST(generate_series(CAST($1 AS BIGINT), "
                                            "CAST($2 AS BIGINT), CAST(CASE WHEN $1 <= $2 THEN 1 "
                                            "ELSE -1 END AS BIGINT)) AS $T) END",
                                 call, err);
    }
    if (!has_step) {
        return tg_print_template(
            ctx,
            "CASE WHEN tg_check_sequence(CAST(0 AS BIGINT), CAST($2 - $1 AS BIGINT), "
            "CAST(CASE WHEN $1 <= $2 THEN 1 ELSE -1 END AS BIGINT)) THEN "
            "list_transform(generate_series(CAST(0 AS BIGINT), "
            "CAST($2 - $1 AS BIGINT), CAST(CASE WHEN $1 <= $2 THEN 1 ELSE -1 END AS BIGINT)), "
            "lambda tg_x: $1 + CAST(tg_x AS INTEGER)) END",
            call, err);
    }
    if (call->args[2]->type->kind == TG_TYPE_INTERVAL_DT) {
        return tg_print_template(ctx,
                                 "CASE WHEN tg_check_sequence(CAST(0 AS BIGINT), CAST($2 - $1 AS "
                                 "BIGINT), $3 // 86400000000) THEN "
                                 "list_transform(generate_series(CAST(0 AS BIGINT), CAST($2 - $1 "
                                 "AS BIGINT), CASE WHEN $3 = 0 THEN 1 ELSE $3 // 86400000000 END), "
                                 "lambda tg_x: $1 + CAST(tg_x AS INTEGER)) END",
                                 call, err);
    }
    /*
     * Months are counted from the start, so that 31 January goes on with 29 February and 31 March.
     */
    return tg_print_template(
        ctx,
        "CASE WHEN tg_check_sequence(CAST(0 AS BIGINT), CAST($2 - $1 AS BIGINT), CAST($3 AS "
        "BIGINT)) THEN "
        "list_filter(list_transform(generate_series(CAST(0 AS BIGINT), (year($2) - year($1)) * 12 "
        "+ month($2) - month($1), CAST(CASE WHEN $3 = 0 THEN 1 ELSE $3 END AS BIGINT)), "
        "lambda tg_x: tg_add_months($1, CAST(tg_x AS INTEGER))), "
        "lambda tg_d: CASE WHEN $3 > 0 THEN tg_d <= $2 ELSE tg_d >= $2 END) END",
        call, err);
}
