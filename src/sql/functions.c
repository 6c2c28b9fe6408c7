/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function table and the application of its entries: arity, signatures, implicit casts.
 *
 * The table is made from functions.def, grouped by family for readers. Looking up a name walks it:
 * some hundred short comparisons, which is less than what binding one call costs otherwise, and
 * needs no state.
 */
#include <ctype.h>
#include <stdio.h>

#include "sql/functions_int.h"
#include "sql/tree.h"

/* The random numbers that Spark makes of a seed are its own. */
static tg_code resolve_volatile(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    return call->arg_count > 0 ? tg_fn_unsupported(call, err, "with a seed")
                               : tg_fn_resolve(ctx, call, err);
}

static const tg_function table[] = {
#define TG_FN_T(name, cls, min, max, signature, text, doc) \
    {name, TG_FN_##cls, min, max, TG_VOL_IMMUTABLE, signature, tg_fn_resolve, text, NULL, doc},
#define TG_FN_V(name, volatility, min, max, signature, text, doc)  \
    {name,      TG_FN_SCALAR,     min,  max,  TG_VOL_##volatility, \
     signature, resolve_volatile, text, NULL, doc},
#define TG_FN_C(name, resolver, doc) \
    {name, TG_FN_SCALAR, 0, 0, TG_VOL_TIME, NULL, tg_fn_resolve_##resolver, NULL, NULL, doc},
#define TG_FN_R(name, cls, min, max, resolver, text, doc)                           \
    {name, TG_FN_##cls, min, max, TG_VOL_IMMUTABLE, NULL, tg_fn_resolve_##resolver, \
     text, NULL,        doc},
#define TG_FN_P(name, cls, min, max, signature, printer, doc)                           \
    {name, TG_FN_##cls,           min, max, TG_VOL_IMMUTABLE, signature, tg_fn_resolve, \
     NULL, tg_fn_print_##printer, doc},
#define TG_FN_RP(name, cls, min, max, resolver, printer, doc)                                 \
    {name, TG_FN_##cls,           min, max, TG_VOL_IMMUTABLE, NULL, tg_fn_resolve_##resolver, \
     NULL, tg_fn_print_##printer, doc},
#include "sql/functions.def"
#undef TG_FN_T
#undef TG_FN_V
#undef TG_FN_C
#undef TG_FN_R
#undef TG_FN_P
#undef TG_FN_RP
};
#define TABLE_COUNT (sizeof(table) / sizeof(table[0]))

/* ---- the table ------------------------------------------------------------------------------- */

const tg_function *tg_function_find(tg_str name)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (tg_str_ieq(tg_str_from(table[i].name), name)) {
            return &table[i];
        }
    }
    return NULL;
}

tg_str tg_function_nearest(tg_str name)
{
    tg_str names[TABLE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (isalpha((unsigned char)table[i].name[0])) {
            names[count++] = tg_str_from(table[i].name);
        }
    }
    return tg_str_nearest(name, names, count);
}

size_t tg_function_count(void)
{
    return TABLE_COUNT;
}

const tg_function *tg_function_at(size_t index)
{
    tg_assert(index < TABLE_COUNT);
    return &table[index];
}

/* ---- errors ---------------------------------------------------------------------------------- */

tg_code tg_fn_at_(tg_span span, tg_error *err, tg_code code)
{
    (void)tg_error_span(err, span.offset, span.len);
    return code;
}

tg_code tg_fn_type_error_(const tg_bexpr *call, size_t index, const char *wanted, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const tg_bexpr *arg = call->args[index];
    return tg_fn_at(arg->span, err,
                    TG_ERR(err, DATATYPE_MISMATCH_UNEXPECTED_INPUT_TYPE,
                           "argument %zu of `%s` must be %s, found %s", index + 1,
                           call->function->name, wanted, tg_type_ddl(scratch, arg->type).ptr));
}

tg_code tg_fn_unsupported_(const tg_bexpr *call, tg_error *err, const char *why)
{
    return tg_fn_at(
        call->span, err,
        TG_ERR(err, UNSUPPORTED_FEATURE, "`%s` is not available %s", call->function->name, why));
}

tg_code tg_fn_operands_error_(tg_fn_context *ctx, const tg_bexpr *call, tg_error *err)
{
    return tg_fn_at(call->span, err,
                    TG_ERR(err, DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES,
                           "`%s` does not take %s and %s", call->function->name,
                           tg_type_ddl(ctx->arena, call->args[0]->type).ptr,
                           tg_type_ddl(ctx->arena, call->args[1]->type).ptr));
}

tg_code tg_fn_check_orderable(tg_fn_context *ctx, const tg_bexpr *call, const tg_type *type,
                              tg_span span, tg_error *err)
{
    if (tg_type_is_orderable(type) || type->kind == TG_TYPE_VOID) {
        return TG_OK;
    }
    return tg_fn_at(span, err,
                    TG_ERR(err, DATATYPE_MISMATCH_INVALID_ORDERING_TYPE,
                           "`%s` cannot compare values of type %s", call->function->name,
                           tg_type_ddl(ctx->arena, type).ptr));
}

bool tg_sql_orders_alike(const tg_type *type)
{
    if (type->kind == TG_TYPE_ARRAY) {
        return !type->contains_null && tg_sql_orders_alike(type->element);
    }
    if (type->kind != TG_TYPE_STRUCT) {
        return type->kind != TG_TYPE_MAP;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].nullable || !tg_sql_orders_alike(type->fields[i].type)) {
            return false;
        }
    }
    return true;
}

tg_code tg_fn_check_order(const tg_bexpr *call, const tg_type *type, tg_error *err)
{
    return tg_sql_orders_alike(type)
               ? TG_OK
               : tg_fn_unsupported(call, err, "for arrays and structs that may hold NULLs");
}

/* ---- literals -------------------------------------------------------------------------------- */

tg_bexpr *tg_bexpr_literal(tg_arena *arena, tg_value value, tg_span span)
{
    tg_bexpr *expr = TG_NEW(arena, tg_bexpr);
    expr->kind = TG_B_LITERAL;
    expr->type = value.type;
    expr->nullable = value.is_null;
    expr->literal = value;
    expr->span = span;
    return expr;
}

tg_bexpr *tg_bexpr_column(tg_arena *arena, const tg_column *column, tg_span span)
{
    tg_bexpr *expr = TG_NEW(arena, tg_bexpr);
    expr->kind = TG_B_COLUMN;
    expr->type = column->type;
    expr->nullable = column->nullable;
    expr->column_id = column->id;
    expr->span = span;
    return expr;
}

tg_bexpr *tg_bexpr_field(tg_arena *arena, tg_bexpr *base, size_t index, tg_span span)
{
    const tg_field *field = &base->type->fields[index];
    tg_bexpr *expr = TG_NEW(arena, tg_bexpr);
    expr->kind = TG_B_FIELD;
    expr->type = field->type;
    expr->nullable = base->nullable || field->nullable;
    expr->field_index = index;
    expr->args = TG_NEW_ARRAY(arena, tg_bexpr *, 1);
    expr->args[0] = base;
    expr->arg_count = 1;
    expr->span = span;
    return expr;
}

bool tg_fn_literal(const tg_bexpr *arg, tg_value *out)
{
    if (arg->kind == TG_B_LITERAL) {
        *out = arg->literal;
        return true;
    }
    if (arg->kind == TG_B_CAST && arg->args[0]->kind == TG_B_LITERAL &&
        arg->args[0]->literal.is_null) {
        *out = tg_value_null(arg->type);
        return true;
    }
    return false;
}

bool tg_fn_literal_string(const tg_bexpr *arg, tg_str *out)
{
    if (arg->kind != TG_B_LITERAL || arg->type->kind != TG_TYPE_STRING || arg->literal.is_null) {
        return false;
    }
    *out = arg->literal.as.bytes;
    return true;
}

bool tg_fn_literal_int(const tg_bexpr *arg, int64_t *out)
{
    while (arg->kind == TG_B_CAST && tg_type_is_integer(arg->type)) {
        arg = arg->args[0];
    }
    if (tg_sql_is_call(arg, "negative")) {
        int64_t inner;
        if (!tg_fn_literal_int(arg->args[0], &inner) || inner == INT64_MIN) {
            return false;
        }
        *out = -inner;
        return true;
    }
    if (arg->kind != TG_B_LITERAL || !tg_type_is_integer(arg->type) || arg->literal.is_null) {
        return false;
    }
    *out = arg->literal.as.i64;
    return true;
}

/* ---- what may raise -------------------------------------------------------------------------- */

/* Functions that never raise of themselves; any other may. */
static const char *const harmless[] = {
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<=>",
    "equal_null",
    "and",
    "or",
    "not",
    "isnull",
    "isnotnull",
    "is_true",
    "is_false",
    "between",
    "in",
    "like",
    "ilike",
    "case",
    "if",
    "coalesce",
    "nvl",
    "ifnull",
    "nvl2",
    "nullif",
    "greatest",
    "least",
    "isnan",
    "nanvl",
    "||",
    "concat",
    "concat_ws",
    "length",
    "upper",
    "lower",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "substring",
    "substr",
    "left",
    "right",
    "replace",
    "rlike",
    "regexp_like",
    "startswith",
    "endswith",
    "contains",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "date_trunc",
    "trunc",
    "size",
    "get",
    "named_struct",
    "struct_row",
    "array",
    "array_contains",
    "typeof",
};

/* Digits before the point that values of a type may have; 0: not a matter of digits. */
static int integer_digits(const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_BOOLEAN:
        return 1;
    case TG_TYPE_TINYINT:
        return 3;
    case TG_TYPE_SMALLINT:
        return 5;
    case TG_TYPE_INT:
        return 10;
    case TG_TYPE_BIGINT:
        return 19;
    case TG_TYPE_TIMESTAMP: /* seconds */
        return 13;
    case TG_TYPE_DECIMAL:
        return type->precision - type->scale;
    default:
        return 0;
    }
}

static bool to_decimal_may_raise(const tg_type *from, const tg_type *to)
{
    int digits = integer_digits(from);
    /* Rounding may carry: 9.99 is 10.0. */
    int carry = from->kind == TG_TYPE_DECIMAL && from->scale > to->scale;
    return (digits == 0 && from->kind != TG_TYPE_DECIMAL) ||
           digits + carry > to->precision - to->scale;
}

static bool values_may_raise(const tg_type *from, const tg_type *to);

static bool nested_may_raise(const tg_type *from, const tg_type *to)
{
    for (size_t i = 0; from->kind == TG_TYPE_STRUCT && i < from->field_count; i++) {
        const tg_type *target = to->kind == TG_TYPE_STRUCT ? to->fields[i].type : to;
        if (values_may_raise(from->fields[i].type, target)) {
            return true;
        }
    }
    bool is_text = to->kind == TG_TYPE_STRING;
    return from->kind != TG_TYPE_STRUCT &&
           (values_may_raise(from->element, is_text ? to : to->element) ||
            (from->kind == TG_TYPE_MAP && values_may_raise(from->key, is_text ? to : to->key)));
}

/* The pairs that the tests prove harmless; any other may raise. */
static bool values_may_raise(const tg_type *from, const tg_type *to)
{
    if (tg_type_equal(from, to) || from->kind == TG_TYPE_VOID) {
        return false;
    }
    if (tg_type_is_nested(from)) {
        return nested_may_raise(from, to);
    }
    bool is_text = from->kind == TG_TYPE_STRING || from->kind == TG_TYPE_BINARY;
    bool is_time = from->kind == TG_TYPE_TIMESTAMP || from->kind == TG_TYPE_TIMESTAMP_NTZ;
    switch (to->kind) {
    case TG_TYPE_STRING:
        return from->kind == TG_TYPE_BINARY; /* not all bytes are text */
    case TG_TYPE_BINARY:
        return false;
    case TG_TYPE_BOOLEAN:
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return is_text;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        return from->kind != TG_TYPE_BOOLEAN &&
               !(tg_type_is_integer(from) && from->kind < to->kind);
    case TG_TYPE_DECIMAL:
        return to_decimal_may_raise(from, to);
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return !is_time; /* not every DATE is a TIMESTAMP */
    default:
        return true;
    }
}

static bool cast_may_raise(const tg_bexpr *cast)
{
    return cast->cast_mode != TG_CAST_TRY && values_may_raise(cast->args[0]->type, cast->type);
}

static bool is_harmless(const tg_function *function)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        if (strcmp(function->name, harmless[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool tg_fn_may_raise(const tg_bexpr *expr)
{
    if (expr->rel || (expr->kind == TG_B_CAST && cast_may_raise(expr)) ||
        (expr->function && !is_harmless(expr->function))) {
        return true;
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (tg_fn_may_raise(expr->args[i])) {
            return true;
        }
    }
    return false;
}

bool tg_fn_loses_error(const tg_bexpr *expr)
{
    bool is_number = tg_type_is_integer(expr->type) || expr->type->kind == TG_TYPE_DECIMAL;
    if (!is_number || expr->rel) {
        return false;
    }
    if (expr->kind == TG_B_CAST) {
        const tg_type *from = expr->args[0]->type;
        bool from_number = tg_type_is_integer(from) || from->kind == TG_TYPE_DECIMAL;
        return from_number && values_may_raise(from, expr->type);
    }
    return expr->function && !is_harmless(expr->function);
}

/* ---- implicit casts of arguments ------------------------------------------------------------- */

bool tg_fn_any_nullable(const tg_bexpr *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->nullable) {
            return true;
        }
    }
    return false;
}

tg_bexpr *tg_fn_cast(tg_arena *arena, tg_bexpr *expr, const tg_type *to)
{
    if (tg_type_equal(expr->type, to)) {
        return expr;
    }
    tg_bexpr *cast = TG_NEW(arena, tg_bexpr);
    cast->kind = TG_B_CAST;
    cast->type = to;
    cast->nullable = expr->nullable;
    cast->span = expr->span;
    cast->args = TG_NEW_ARRAY(arena, tg_bexpr *, 1);
    cast->args[0] = expr;
    cast->arg_count = 1;
    cast->cast_mode = TG_CAST_IMPLICIT;
    return cast;
}

tg_code tg_fn_coerce(tg_fn_context *ctx, tg_bexpr *call, size_t index, const tg_type *to,
                     tg_error *err)
{
    tg_bexpr *arg = call->args[index];
    if (tg_type_equal(arg->type, to)) {
        return TG_OK;
    }
    if (!tg_sql_can_cast_implicitly(arg->type, to)) {
        return tg_fn_type_error(call, index, tg_type_ddl(ctx->arena, to).ptr, err);
    }
    return tg_sql_cast(ctx, arg, to, TG_CAST_IMPLICIT, arg->span, &call->args[index], err);
}

tg_code tg_fn_coerce_numeric(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_error *err)
{
    tg_type_kind kind = call->args[index]->type->kind;
    if (kind == TG_TYPE_STRING || kind == TG_TYPE_VOID) {
        return tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_DOUBLE), err);
    }
    return tg_type_is_numeric(call->args[index]->type)
               ? TG_OK
               : tg_fn_type_error(call, index, "a number", err);
}

/* ---- signatures ------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    tg_type_kind kind;
} type_words[] = {
    {"boolean", TG_TYPE_BOOLEAN},     {"tinyint", TG_TYPE_TINYINT},   {"int", TG_TYPE_INT},
    {"bigint", TG_TYPE_BIGINT},       {"float", TG_TYPE_FLOAT},       {"double", TG_TYPE_DOUBLE},
    {"string", TG_TYPE_STRING},       {"binary", TG_TYPE_BINARY},     {"date", TG_TYPE_DATE},
    {"timestamp", TG_TYPE_TIMESTAMP}, {"ntz", TG_TYPE_TIMESTAMP_NTZ}, {"void", TG_TYPE_VOID},
};

static const tg_type *type_of_word(tg_str word)
{
    for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++) {
        if (tg_str_eq(word, tg_str_from(type_words[i].word))) {
            return tg_type_of(type_words[i].kind);
        }
    }
    return NULL;
}

static tg_str next_word(const char **text)
{
    while (**text == ' ') {
        (*text)++;
    }
    const char *start = *text;
    while (**text != ' ' && **text != '\0') {
        (*text)++;
    }
    return (tg_str){start, (size_t)(*text - start)};
}

static tg_code check_nested(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_type_kind kind,
                            tg_error *err)
{
    const tg_type *type = call->args[index]->type;
    if (type->kind == TG_TYPE_VOID) {
        const tg_type *none = tg_type_of(TG_TYPE_VOID);
        return tg_fn_coerce(ctx, call, index,
                            kind == TG_TYPE_ARRAY ? tg_type_array(ctx->arena, none, true)
                                                  : tg_type_map(ctx->arena, none, none, true),
                            err);
    }
    return type->kind == kind
               ? TG_OK
               : tg_fn_type_error(call, index, kind == TG_TYPE_ARRAY ? "an array" : "a map", err);
}

static tg_code coerce_word(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_str word,
                           tg_error *err)
{
    tg_type_kind kind = call->args[index]->type->kind;
    const tg_type *type = type_of_word(word);
    if (type) {
        return tg_fn_coerce(ctx, call, index, type, err);
    }
    if (tg_str_eq(word, TG_S("numeric"))) {
        return tg_fn_coerce_numeric(ctx, call, index, err);
    }
    if (tg_str_eq(word, TG_S("array"))) {
        return check_nested(ctx, call, index, TG_TYPE_ARRAY, err);
    }
    if (tg_str_eq(word, TG_S("map"))) {
        return check_nested(ctx, call, index, TG_TYPE_MAP, err);
    }
    if (tg_str_eq(word, TG_S("bytes"))) {
        return kind == TG_TYPE_BINARY
                   ? TG_OK
                   : tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_STRING), err);
    }
    if (tg_str_eq(word, TG_S("local"))) {
        bool stays = kind == TG_TYPE_DATE || kind == TG_TYPE_TIMESTAMP_NTZ;
        return stays ? TG_OK : tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_TIMESTAMP), err);
    }
    tg_assert(tg_str_eq(word, TG_S("any")) || tg_str_eq(word, TG_S("same")) ||
              tg_str_eq(word, TG_S("lambda")));
    return TG_OK;
}

static tg_code unify_same(tg_fn_context *ctx, tg_bexpr *call, size_t first, tg_error *err)
{
    const tg_type *type;
    return tg_sql_unify(ctx, call->args + first, call->arg_count - first, call->span,
                        tg_arena_printf(ctx->arena, "arguments of `%s`", call->function->name),
                        &type, err);
}

static const tg_type *result_type(const tg_bexpr *call, tg_str word)
{
    const tg_type *type = type_of_word(word);
    if (type) {
        return type;
    }
    if (word.ptr[0] == '$') {
        return call->args[word.ptr[1] - '1']->type;
    }
    tg_assert(tg_str_eq(word, TG_S("elem")));
    return call->args[0]->type->element;
}

tg_code tg_fn_resolve(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    const char *text = call->function->signature;
    tg_str word = next_word(&text), repeated = {0};
    size_t first_same = SIZE_MAX;
    for (size_t i = 0; i < call->arg_count; i++) {
        tg_str current = repeated.len ? repeated : word;
        tg_assert(current.ptr[0] != '>');
        if (!repeated.len && tg_str_ends(word, TG_S("*"))) {
            current = repeated = tg_str_sub(word, 0, word.len - 1);
        }
        if (tg_str_eq(current, TG_S("same")) && first_same == SIZE_MAX) {
            first_same = i;
        }
        TG_TRY(coerce_word(ctx, call, i, current, err));
        if (!repeated.len) {
            word = next_word(&text);
        }
    }
    if (first_same != SIZE_MAX) {
        TG_TRY(unify_same(ctx, call, first_same, err));
    }
    while (word.ptr[0] != '>') {
        word = next_word(&text);
        tg_assert(word.len > 0);
    }
    word = next_word(&text);
    call->nullable = tg_fn_any_nullable(call);
    if (tg_str_ends(word, TG_S("!")) || tg_str_ends(word, TG_S("?"))) {
        call->nullable = word.ptr[word.len - 1] == '?';
        word.len--;
    }
    call->type = result_type(call, word);
    return TG_OK;
}

bool tg_fn_is_try(const tg_bexpr *call)
{
    return strncmp(call->function->name, "try_", 4) == 0;
}

const char *tg_fn_try_flag(const tg_bexpr *call)
{
    return tg_fn_is_try(call) ? "TRUE" : "FALSE";
}

tg_code tg_fn_resolve_to(tg_fn_context *ctx, tg_bexpr *call, const tg_type *type, const char *text)
{
    ctx->used_zone =
        ctx->used_zone || strstr(text, "$L") || strstr(text, "$I") || strstr(text, "$Z");
    call->type = type;
    call->nullable = tg_fn_any_nullable(call) || tg_fn_is_try(call);
    call->extra = text;
    return TG_OK;
}

TG_FN_PRINTER(extra)
{
    return tg_print_template(ctx, call->extra, call, err);
}

/* ---- application ----------------------------------------------------------------------------- */

static tg_code wrong_count(const tg_function *function, size_t count, tg_span span, tg_error *err)
{
    char wanted[64];
    if (function->max_args < 0) {
        snprintf(wanted, sizeof(wanted), "at least %d", function->min_args);
    } else if (function->min_args == function->max_args) {
        snprintf(wanted, sizeof(wanted), "%d", function->min_args);
    } else {
        snprintf(wanted, sizeof(wanted), "%d to %d", function->min_args, function->max_args);
    }
    return tg_fn_at(span, err,
                    TG_ERR(err, WRONG_NUM_ARGS, "`%s` takes %s arguments, got %zu", function->name,
                           wanted, count));
}

tg_code tg_function_apply(tg_fn_context *ctx, const tg_function *function, tg_bexpr **args,
                          size_t arg_count, tg_span span, tg_bexpr **out_call, tg_error *err)
{
    if ((int64_t)arg_count < function->min_args ||
        (function->max_args >= 0 && (int64_t)arg_count > function->max_args)) {
        return wrong_count(function, arg_count, span, err);
    }
    tg_bexpr *call = TG_NEW(ctx->arena, tg_bexpr);
    call->kind = function->cls == TG_FN_AGGREGATE ? TG_B_AGGREGATE
                 : function->cls == TG_FN_WINDOW  ? TG_B_WINDOW
                                                  : TG_B_CALL;
    call->function = function;
    call->span = span;
    call->args = tg_arena_memdup(ctx->arena, args, arg_count * sizeof(tg_bexpr *));
    call->arg_count = arg_count;
    TG_TRY(function->resolve(ctx, call, err));
    *out_call = call;
    return TG_OK;
}
