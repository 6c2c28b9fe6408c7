/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Type rules of Spark in ANSI mode: common types, implicit casts, store assignment, decimal bounds.
 *
 * Sources: Spark's documentation "ANSI Compliance" (type promotion, least common type, store
 * assignment) and the answers of Spark itself that the tests hold.
 */
#include "sql/functions_int.h"

/* ---- decimals -------------------------------------------------------------------------------- */

int tg_sql_integer_bits(const tg_type *integer)
{
    switch (integer->kind) {
    case TG_TYPE_TINYINT:
        return 8;
    case TG_TYPE_SMALLINT:
        return 16;
    case TG_TYPE_INT:
        return 32;
    default:
        return 64;
    }
}

const tg_type *tg_sql_decimal_of(tg_arena *arena, const tg_type *integer)
{
    switch (integer->kind) {
    case TG_TYPE_TINYINT:
        return tg_type_decimal(arena, 3, 0);
    case TG_TYPE_SMALLINT:
        return tg_type_decimal(arena, 5, 0);
    case TG_TYPE_INT:
        return tg_type_decimal(arena, 10, 0);
    default:
        return tg_type_decimal(arena, 20, 0);
    }
}

const tg_type *tg_sql_decimal_adjust(tg_arena *arena, int precision, int scale)
{
    if (precision <= 38) {
        return tg_type_decimal(arena, precision, scale);
    }
    int integer_digits = precision - scale;
    int scale_min = scale < 6 ? scale : 6;
    int kept = 38 - integer_digits;
    return tg_type_decimal(arena, 38, kept > scale_min ? kept : scale_min);
}

const tg_type *tg_sql_decimal_bounded(tg_arena *arena, int precision, int scale)
{
    return tg_type_decimal(arena, precision < 38 ? precision : 38, scale < 38 ? scale : 38);
}

static const tg_type *wider_decimal(tg_arena *arena, const tg_type *a, const tg_type *b)
{
    int scale = a->scale > b->scale ? a->scale : b->scale;
    int range_a = a->precision - a->scale, range_b = b->precision - b->scale;
    return tg_sql_decimal_bounded(arena, (range_a > range_b ? range_a : range_b) + scale, scale);
}

/* ---- common types ---------------------------------------------------------------------------- */

typedef const tg_type *(*common_rule)(tg_arena *arena, const tg_type *a, const tg_type *b);

static const tg_type *common_numeric(tg_arena *arena, const tg_type *a, const tg_type *b)
{
    if (tg_type_is_integer(a) && tg_type_is_integer(b)) {
        return a->kind > b->kind ? a : b;
    }
    if (tg_type_is_floating(a) || tg_type_is_floating(b)) {
        /*
         * FLOAT with anything else loses digits: DOUBLE, but for FLOAT with FLOAT, which are equal.
         */
        return tg_type_of(TG_TYPE_DOUBLE);
    }
    return wider_decimal(arena, tg_type_is_integer(a) ? tg_sql_decimal_of(arena, a) : a,
                         tg_type_is_integer(b) ? tg_sql_decimal_of(arena, b) : b);
}

static const tg_type *common_struct(tg_arena *arena, const tg_type *a, const tg_type *b,
                                    common_rule rule)
{
    if (a->field_count != b->field_count) {
        return NULL;
    }
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, a->field_count);
    for (size_t i = 0; i < a->field_count; i++) {
        const tg_type *type = rule(arena, a->fields[i].type, b->fields[i].type);
        if (!type || !tg_str_ieq(a->fields[i].name, b->fields[i].name)) {
            return NULL;
        }
        fields[i] = a->fields[i];
        fields[i].type = type;
        fields[i].nullable = a->fields[i].nullable || b->fields[i].nullable;
    }
    return tg_type_struct(arena, fields, a->field_count);
}

static const tg_type *common_nested(tg_arena *arena, const tg_type *a, const tg_type *b,
                                    common_rule rule)
{
    if (a->kind != b->kind) {
        return NULL;
    }
    if (a->kind == TG_TYPE_STRUCT) {
        return common_struct(arena, a, b, rule);
    }
    const tg_type *element = rule(arena, a->element, b->element);
    bool contains_null = a->contains_null || b->contains_null;
    if (a->kind == TG_TYPE_ARRAY) {
        return element ? tg_type_array(arena, element, contains_null) : NULL;
    }
    const tg_type *key = rule(arena, a->key, b->key);
    return element && key ? tg_type_map(arena, key, element, contains_null) : NULL;
}

/* The rules that both forms share; NULL: none of them fits. */
static const tg_type *common_base(tg_arena *arena, const tg_type *a, const tg_type *b,
                                  common_rule rule)
{
    tg_assert(a && b);
    /* Nested types that are equal may still differ in whether they hold NULLs. */
    if (tg_type_equal(a, b) && !tg_type_is_nested(a)) {
        return a;
    }
    if (a->kind == TG_TYPE_VOID || b->kind == TG_TYPE_VOID) {
        return a->kind == TG_TYPE_VOID ? b : a;
    }
    if (tg_type_is_numeric(a) && tg_type_is_numeric(b)) {
        return common_numeric(arena, a, b);
    }
    if (tg_type_is_datetime(a) && tg_type_is_datetime(b)) {
        return tg_type_of(a->kind == TG_TYPE_TIMESTAMP || b->kind == TG_TYPE_TIMESTAMP
                              ? TG_TYPE_TIMESTAMP
                              : TG_TYPE_TIMESTAMP_NTZ);
    }
    if (tg_type_is_interval(a) && a->kind == b->kind) {
        return tg_type_interval(arena, a->from < b->from ? a->from : b->from,
                                a->to > b->to ? a->to : b->to);
    }
    if (tg_type_is_nested(a) && tg_type_is_nested(b)) {
        return common_nested(arena, a, b, rule);
    }
    return NULL;
}

const tg_type *tg_sql_renamed_type(tg_arena *arena, const tg_type *a, const tg_type *b)
{
    if (a->kind != b->kind || !tg_type_is_nested(a)) {
        return tg_type_equal(a, b) ? a : NULL;
    }
    bool contains_null = a->contains_null || b->contains_null;
    if (a->kind == TG_TYPE_STRUCT) {
        tg_field *fields = TG_NEW_ARRAY(arena, tg_field, a->field_count);
        for (size_t i = 0; i < a->field_count; i++) {
            const tg_type *type =
                a->field_count == b->field_count
                    ? tg_sql_renamed_type(arena, a->fields[i].type, b->fields[i].type)
                    : NULL;
            if (!type) {
                return NULL;
            }
            fields[i] = a->fields[i];
            fields[i].type = type;
            fields[i].nullable = a->fields[i].nullable || b->fields[i].nullable;
        }
        return tg_type_struct(arena, fields, a->field_count);
    }
    const tg_type *element = tg_sql_renamed_type(arena, a->element, b->element);
    if (a->kind == TG_TYPE_ARRAY) {
        return element ? tg_type_array(arena, element, contains_null) : NULL;
    }
    const tg_type *key = tg_sql_renamed_type(arena, a->key, b->key);
    return element && key ? tg_type_map(arena, key, element, contains_null) : NULL;
}

const tg_type *tg_sql_tightest_type(tg_arena *arena, const tg_type *a, const tg_type *b)
{
    return common_base(arena, a, b, tg_sql_tightest_type);
}

/*
 * Strings yield: integers pull to BIGINT, other numbers to DOUBLE, other atomic types to
 * themselves.
 */
static const tg_type *string_yields_to(const tg_type *other)
{
    if (tg_type_is_integer(other)) {
        return tg_type_of(TG_TYPE_BIGINT);
    }
    if (tg_type_is_numeric(other)) {
        return tg_type_of(TG_TYPE_DOUBLE);
    }
    bool is_known = other->kind == TG_TYPE_BOOLEAN || other->kind == TG_TYPE_BINARY ||
                    tg_type_is_datetime(other);
    return is_known ? other : NULL;
}

const tg_type *tg_sql_common_type(tg_arena *arena, const tg_type *a, const tg_type *b)
{
    const tg_type *type = common_base(arena, a, b, tg_sql_common_type);
    if (type) {
        return type;
    }
    if (a->kind == TG_TYPE_STRING) {
        return string_yields_to(b);
    }
    return b->kind == TG_TYPE_STRING ? string_yields_to(a) : NULL;
}

/* ---- implicit casts and store assignment ----------------------------------------------------- */

static bool can_store_nested(const tg_type *from, const tg_type *to)
{
    if (from->kind != to->kind) {
        return false;
    }
    if (from->kind != TG_TYPE_STRUCT) {
        return tg_sql_can_store(from->element, to->element) &&
               (from->kind == TG_TYPE_ARRAY || tg_sql_can_store(from->key, to->key));
    }
    if (from->field_count != to->field_count) {
        return false;
    }
    for (size_t i = 0; i < from->field_count; i++) {
        if (!tg_sql_can_store(from->fields[i].type, to->fields[i].type)) {
            return false;
        }
    }
    return true;
}

bool tg_sql_can_store(const tg_type *from, const tg_type *to)
{
    if (tg_type_equal(from, to) || from->kind == TG_TYPE_VOID) {
        return true;
    }
    if (tg_type_is_nested(from) || tg_type_is_nested(to)) {
        return can_store_nested(from, to);
    }
    if (from->kind == TG_TYPE_VARIANT || to->kind == TG_TYPE_VARIANT) {
        return false;
    }
    if (to->kind == TG_TYPE_STRING) {
        return true;
    }
    return (tg_type_is_numeric(from) && tg_type_is_numeric(to)) ||
           (tg_type_is_datetime(from) && tg_type_is_datetime(to)) ||
           (tg_type_is_interval(from) && from->kind == to->kind);
}

bool tg_sql_can_cast_implicitly(const tg_type *from, const tg_type *to)
{
    if (from->kind == TG_TYPE_STRING && !tg_type_is_nested(to) && to->kind != TG_TYPE_VARIANT) {
        return true;
    }
    return tg_sql_can_store(from, to);
}

/* ---- over expressions ------------------------------------------------------------------------ */

tg_code tg_sql_unify(tg_fn_context *ctx, tg_bexpr **exprs, size_t count, tg_span span,
                     const char *what, const tg_type **out_type, tg_error *err)
{
    const tg_type *type = tg_type_of(TG_TYPE_VOID);
    /* Strings come last, so that the order of arguments does not matter. */
    for (int strings = 0; strings <= 1; strings++) {
        for (size_t i = 0; i < count; i++) {
            if ((exprs[i]->type->kind == TG_TYPE_STRING) != (strings == 1)) {
                continue;
            }
            const tg_type *common = tg_sql_common_type(ctx->arena, type, exprs[i]->type);
            if (!common) {
                return tg_fn_at(span, err,
                                TG_ERR(err, DATATYPE_MISMATCH_DATA_DIFF_TYPES,
                                       "%s must have one type, found %s and %s", what,
                                       tg_type_ddl(ctx->arena, type).ptr,
                                       tg_type_ddl(ctx->arena, exprs[i]->type).ptr));
            }
            type = common;
        }
    }
    for (size_t i = 0; i < count; i++) {
        TG_TRY(tg_sql_cast(ctx, exprs[i], type, TG_CAST_IMPLICIT, exprs[i]->span, &exprs[i], err));
    }
    *out_type = type;
    return TG_OK;
}
