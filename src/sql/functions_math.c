/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mathematics: rounding with its type rules, sign, hexadecimal; and casts written as functions.
 *
 * Rounding a decimal to fewer digits is DuckDB's cast (half away from zero). Doubles are rounded in
 * their shortest decimal form, as Spark does by BigDecimal (round(1.005D, 2) is 1.01), which
 * DuckDB's round does not: a C function.
 */
#include "sql/functions_int.h"

TG_FN_RESOLVER(sign_change)
{
    tg_type_kind kind = call->args[0]->type->kind;
    if (kind != TG_TYPE_INTERVAL_YM && kind != TG_TYPE_INTERVAL_DT) {
        TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    }
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(zero)
{
    if (call->args[0]->type->kind == TG_TYPE_VOID) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_INT), err)); /* the type of the 0 */
    }
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    call->type = call->args[0]->type;
    call->nullable = strcmp(call->function->name, "nullifzero") == 0;
    return TG_OK;
}

TG_FN_RESOLVER(nanvl)
{
    bool is_float =
        call->args[0]->type->kind == TG_TYPE_FLOAT && call->args[1]->type->kind == TG_TYPE_FLOAT;
    call->type = tg_type_of(is_float ? TG_TYPE_FLOAT : TG_TYPE_DOUBLE);
    TG_TRY(tg_fn_coerce(ctx, call, 0, call->type, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, call->type, err));
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/* ---- rounding -------------------------------------------------------------------------------- */

/*
 * The number of decimals, which must be constant. NULL counts as 0 (the result is NULL by the
 * argument itself).
 */
static tg_code constant_scale(tg_fn_context *ctx, tg_bexpr *call, int64_t *out_scale, tg_error *err)
{
    *out_scale = 0;
    if (call->arg_count < 2) {
        return TG_OK;
    }
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    tg_value value;
    if (tg_fn_literal(call->args[1], &value) && value.is_null) {
        return TG_OK;
    }
    if (!tg_fn_literal_int(call->args[1], out_scale)) {
        return tg_fn_unsupported(call, err, "with a scale that is not a constant");
    }
    *out_scale = *out_scale > 100 ? 100 : *out_scale < -100 ? -100 : *out_scale;
    return TG_OK;
}

static const tg_type *rounded_decimal(tg_arena *arena, const tg_type *from, int scale)
{
    int integer_digits = from->precision - from->scale + 1;
    if (scale < 0) {
        int digits = integer_digits > 1 - scale ? integer_digits : 1 - scale;
        return tg_sql_decimal_bounded(arena, digits, 0);
    }
    int kept = scale < from->scale ? scale : from->scale;
    return tg_sql_decimal_bounded(arena, integer_digits + kept, kept);
}

/* What print needs to know. */
typedef struct round_plan {
    int scale;
    bool is_null; /* the scale is NULL */
} round_plan;

static void remember_scale(tg_fn_context *ctx, tg_bexpr *call, int64_t scale)
{
    round_plan *plan = TG_NEW(ctx->arena, round_plan);
    plan->scale = (int)scale;
    tg_value value;
    plan->is_null = call->arg_count > 1 && tg_fn_literal(call->args[1], &value) && value.is_null;
    call->extra = plan;
    call->nullable = call->args[0]->nullable || plan->is_null;
}

TG_FN_RESOLVER(round)
{
    int64_t scale;
    TG_TRY(constant_scale(ctx, call, &scale, err));
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    const tg_type *from = call->args[0]->type;
    call->type =
        from->kind == TG_TYPE_DECIMAL ? rounded_decimal(ctx->arena, from, (int)scale) : from;
    remember_scale(ctx, call, scale);
    return TG_OK;
}

static tg_code print_decimal_round(tg_print_context *ctx, const tg_bexpr *call, const char *mode,
                                   int scale, tg_error *err)
{
    const char *text = tg_arena_printf(ctx->arena, "tg_decimal_round($1, %d, '%s', %d, %d)", scale,
                                       mode, call->type->precision, call->type->scale);
    return tg_print_unscaled(ctx, text, call, call->type, err);
}

TG_FN_PRINTER(round)
{
    const round_plan *plan = call->extra;
    bool is_even = call->function->name[0] == 'b';
    if (plan->is_null) {
        return tg_print_null(ctx, call, err);
    }
    const char *flag = is_even ? "TRUE" : "FALSE";
    switch (call->type->kind) {
    case TG_TYPE_DECIMAL:
        if (!is_even && plan->scale >= 0) {
            return tg_print_template(ctx, "CAST($1 AS $T)", call, err);
        }
        return print_decimal_round(ctx, call, is_even ? "half_even" : "half_up", plan->scale, err);
    case TG_TYPE_FLOAT:
        return tg_print_format(ctx, call, err, "tg_round_float($1, %d, %s)", plan->scale, flag);
    case TG_TYPE_DOUBLE:
        return tg_print_format(ctx, call, err, "tg_round_double($1, %d, %s)", plan->scale, flag);
    default:
        if (plan->scale >= 0) {
            return tg_print_template(ctx, "$1", call, err);
        }
        return tg_print_format(ctx, call, err,
                               "CAST(tg_round_long(CAST($1 AS BIGINT), %d, %s) AS $T)", plan->scale,
                               flag);
    }
}

TG_FN_RESOLVER(ceil)
{
    int64_t scale;
    TG_TRY(constant_scale(ctx, call, &scale, err));
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    const tg_type *from = call->args[0]->type;
    if (call->arg_count == 2) {
        if (tg_type_is_integer(from)) {
            TG_TRY(tg_fn_coerce(ctx, call, 0, tg_sql_decimal_of(ctx->arena, from), err));
        } else if (from->kind != TG_TYPE_DECIMAL) {
            return tg_fn_unsupported(call, err, "with a scale for FLOAT and DOUBLE");
        }
        call->type = rounded_decimal(ctx->arena, call->args[0]->type, (int)scale);
    } else if (from->kind == TG_TYPE_DECIMAL) {
        call->type = from->scale == 0
                         ? from
                         : tg_sql_decimal_bounded(ctx->arena, from->precision - from->scale + 1, 0);
    } else {
        call->type = tg_type_of(TG_TYPE_BIGINT);
    }
    remember_scale(ctx, call, scale);
    return TG_OK;
}

TG_FN_PRINTER(ceil)
{
    const round_plan *plan = call->extra;
    bool is_floor = call->function->name[0] == 'f';
    const tg_type *from = call->args[0]->type;
    if (plan->is_null) {
        return tg_print_null(ctx, call, err);
    }
    if (from->kind == TG_TYPE_DECIMAL) {
        return print_decimal_round(ctx, call, is_floor ? "floor" : "ceiling", plan->scale, err);
    }
    if (tg_type_is_integer(from)) {
        return tg_print_template(ctx, "CAST($1 AS BIGINT)", call, err);
    }
    return tg_print_format(ctx, call, err, "tg_%s_long(CAST($1 AS DOUBLE))",
                           is_floor ? "floor" : "ceil");
}

/* ---- bits and bases -------------------------------------------------------------------------- */

TG_FN_RESOLVER(bit_get)
{
    if (!tg_type_is_integer(call->args[0]->type)) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BIGINT), err));
    }
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    call->type = tg_type_of(TG_TYPE_TINYINT);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(bit_get)
{
    return tg_print_format(ctx, call, err,
                           "CAST(tg_bit_get(CAST($1 AS BIGINT), $2, %d) AS TINYINT)",
                           tg_sql_integer_bits(call->args[0]->type));
}

TG_FN_RESOLVER(hex)
{
    tg_type_kind kind = call->args[0]->type->kind;
    if (kind != TG_TYPE_STRING && kind != TG_TYPE_BINARY) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BIGINT), err));
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

/* ---- casts as functions ---------------------------------------------------------------------- */

/* boolean(x), decimal(x) ...: the function's name is the type. */
TG_FN_RESOLVER(cast_function)
{
    const tg_type *to;
    TG_TRY(tg_sql_parse_type(tg_str_from(call->function->name), ctx->arena, &to, err));
    TG_TRY(tg_sql_cast(ctx, call->args[0], to, TG_CAST_ANSI, call->span, &call->args[0], err));
    call->type = to;
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(typeof)
{
    (void)ctx;
    (void)err;
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = false;
    return TG_OK;
}

TG_FN_PRINTER(typeof)
{
    (void)err;
    tg_print_duckdb_string(tg_type_text(ctx->arena, call->args[0]->type), ctx->out);
    return TG_OK;
}
