/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: arithmetic with its type rules, comparisons, logic, bits.
 *
 * Arithmetic: both sides get one type first (strings yield to the other side, integer literals
 * count with their own digits beside a decimal), then the result type follows. Dates, timestamps
 * and intervals are functions_datetime.c's. Overflow: DuckDB's own integer and decimal operators
 * raise; division and remainder go through our C functions, as DuckDB gives NULL or infinity for a
 * zero divisor, unless the divisor is a literal that is not zero.
 */
#include "sql/functions_int.h"

/* ---- coercion of two operands ---------------------------------------------------------------- */

static tg_code wrong_type(tg_fn_context *ctx, const tg_bexpr *call, const tg_type *type,
                          tg_error *err)
{
    return tg_fn_at(call->span, err,
                    TG_ERR(err, DATATYPE_MISMATCH_BINARY_OP_WRONG_TYPE,
                           "`%s` is not defined for %s", call->function->name,
                           tg_type_ddl(ctx->arena, type).ptr));
}

/*
 * The decimal of an integer operand: a literal counts with its own digits, a column with all digits
 * of its type.
 */
static const tg_type *decimal_of_operand(tg_arena *arena, const tg_bexpr *operand)
{
    /* Not so TINYINT, of which Spark takes the type, and CAST(1 AS INT), which is no literal. */
    if (!operand->is_foldable_int_literal || operand->type->kind == TG_TYPE_TINYINT) {
        return tg_sql_decimal_of(arena, operand->type);
    }
    int digits = 0;
    for (int64_t rest = operand->literal.as.i64; rest != 0; rest /= 10) {
        digits++;
    }
    return tg_type_decimal(arena, digits ? digits : 1, 0);
}

/* Makes an integer operand a decimal when the other side is one. */
static void widen_beside_decimal(tg_fn_context *ctx, tg_bexpr *call)
{
    for (size_t i = 0; i < 2; i++) {
        bool other_is_decimal = call->args[1 - i]->type->kind == TG_TYPE_DECIMAL;
        if (other_is_decimal && tg_type_is_integer(call->args[i]->type)) {
            call->args[i] = tg_fn_cast(ctx->arena, call->args[i],
                                       decimal_of_operand(ctx->arena, call->args[i]));
        }
    }
}

/* Strings yield to a number on the other side; try_add gives NULL for those that are none. */
static tg_code yield_strings(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    for (size_t i = 0; i < 2; i++) {
        const tg_type *other = call->args[1 - i]->type;
        if (call->args[i]->type->kind == TG_TYPE_STRING && tg_type_is_numeric(other)) {
            const tg_type *to =
                tg_type_of(tg_type_is_integer(other) ? TG_TYPE_BIGINT : TG_TYPE_DOUBLE);
            tg_cast_mode mode = tg_fn_is_try(call) ? TG_CAST_TRY : TG_CAST_IMPLICIT;
            TG_TRY(tg_sql_cast(ctx, call->args[i], to, mode, call->args[i]->span, &call->args[i],
                               err));
        }
    }
    return TG_OK;
}

/* Both operands as numbers: of one type, or two decimals. */
static tg_code coerce_numbers(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    TG_TRY(yield_strings(ctx, call, err));
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    if (left->kind == TG_TYPE_VOID && right->kind == TG_TYPE_VOID) {
        left = right = tg_type_of(TG_TYPE_DOUBLE);
    }
    bool left_fits = tg_type_is_numeric(left) || left->kind == TG_TYPE_VOID;
    bool right_fits = tg_type_is_numeric(right) || right->kind == TG_TYPE_VOID;
    if (!left_fits || !right_fits) {
        return tg_type_equal(left, right) ? wrong_type(ctx, call, left, err)
                                          : tg_fn_operands_error(ctx, call, err);
    }
    widen_beside_decimal(ctx, call);
    if (call->args[0]->type->kind == TG_TYPE_DECIMAL &&
        call->args[1]->type->kind == TG_TYPE_DECIMAL) {
        return TG_OK;
    }
    const tg_type *common = tg_sql_common_type(ctx->arena, left, right);
    TG_TRY(tg_fn_coerce(ctx, call, 0, common, err));
    return tg_fn_coerce(ctx, call, 1, common, err);
}

static const tg_type *decimal_result(tg_arena *arena, char sign, const tg_type *a, const tg_type *b)
{
    int range_a = a->precision - a->scale, range_b = b->precision - b->scale;
    int scale = a->scale > b->scale ? a->scale : b->scale;
    switch (sign) {
    case '*':
        return tg_sql_decimal_adjust(arena, a->precision + b->precision + 1, a->scale + b->scale);
    case '/': {
        int quotient_scale = a->scale + b->precision + 1;
        quotient_scale = quotient_scale > 6 ? quotient_scale : 6;
        return tg_sql_decimal_adjust(arena, range_a + b->scale + quotient_scale, quotient_scale);
    }
    case '%':
        return tg_sql_decimal_adjust(arena, (range_a < range_b ? range_a : range_b) + scale, scale);
    default:
        return tg_sql_decimal_adjust(arena, (range_a > range_b ? range_a : range_b) + scale + 1,
                                     scale);
    }
}

/* The sign behind + and try_add, and so on. */
static char sign_of(const tg_function *function)
{
    static const struct {
        const char *name;
        char sign;
    } signs[] = {{"try_add", '+'},    {"try_subtract", '-'}, {"try_multiply", '*'},
                 {"try_divide", '/'}, {"try_mod", '%'},      {"mod", '%'},
                 {"pmod", '%'}};
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strcmp(function->name, signs[i].name) == 0) {
            return signs[i].sign;
        }
    }
    return function->name[0];
}

static bool is_pmod(const tg_bexpr *call)
{
    return strcmp(call->function->name, "pmod") == 0;
}

TG_FN_RESOLVER(arithmetic)
{
    bool is_done = false;
    TG_TRY(tg_fn_resolve_datetime_arithmetic(ctx, call, sign_of(call->function), &is_done, err));
    if (is_done) {
        return TG_OK;
    }
    TG_TRY(coerce_numbers(ctx, call, err));
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    call->nullable = tg_fn_any_nullable(call) || tg_fn_is_try(call);
    bool is_decimal = left->kind == TG_TYPE_DECIMAL;
    call->type =
        is_decimal ? decimal_result(ctx->arena, sign_of(call->function), left, right) : left;
    return TG_OK;
}

TG_FN_RESOLVER(division)
{
    bool is_done = false;
    TG_TRY(tg_fn_resolve_datetime_arithmetic(ctx, call, '/', &is_done, err));
    if (is_done) {
        return TG_OK;
    }
    TG_TRY(coerce_numbers(ctx, call, err));
    call->nullable = tg_fn_any_nullable(call) || tg_fn_is_try(call);
    if (call->args[0]->type->kind == TG_TYPE_DECIMAL) {
        call->type = decimal_result(ctx->arena, '/', call->args[0]->type, call->args[1]->type);
        return TG_OK;
    }
    call->type = tg_type_of(TG_TYPE_DOUBLE);
    TG_TRY(tg_fn_coerce(ctx, call, 0, call->type, err));
    return tg_fn_coerce(ctx, call, 1, call->type, err);
}

TG_FN_RESOLVER(integer_division)
{
    bool is_interval = call->args[0]->type->kind == call->args[1]->type->kind &&
                       (tg_type_is_interval(call->args[0]->type));
    call->nullable = tg_fn_any_nullable(call);
    call->type = tg_type_of(TG_TYPE_BIGINT);
    if (is_interval) {
        return TG_OK;
    }
    TG_TRY(coerce_numbers(ctx, call, err));
    tg_type_kind kind = call->args[0]->type->kind;
    if (kind == TG_TYPE_FLOAT || kind == TG_TYPE_DOUBLE) {
        return wrong_type(ctx, call, call->args[0]->type, err);
    }
    if (kind == TG_TYPE_DECIMAL) {
        return TG_OK;
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, call->type, err));
    return tg_fn_coerce(ctx, call, 1, call->type, err);
}

/* ---- printing arithmetic --------------------------------------------------------------------- */

static bool is_nonzero_literal(const tg_bexpr *operand)
{
    while (operand->kind == TG_B_CAST) {
        operand = operand->args[0];
    }
    if (operand->kind != TG_B_LITERAL || operand->literal.is_null) {
        return false;
    }
    switch (operand->type->kind) {
    case TG_TYPE_DECIMAL:
        return operand->literal.as.decimal != 0;
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return operand->literal.as.f64 != 0;
    default:
        return tg_type_is_integer(operand->type) && operand->literal.as.i64 != 0;
    }
}

/* Exact in DuckDB's own arithmetic, which holds 38 digits? */
static bool fits_natively(char sign, const tg_type *a, const tg_type *b, const tg_type *result)
{
    if (sign == '*') {
        return a->precision + b->precision <= 38;
    }
    int scale = a->scale > b->scale ? a->scale : b->scale;
    return result->scale == scale && result->precision < 38;
}

static tg_code print_decimal_arithmetic(tg_print_context *ctx, const tg_bexpr *call, char sign,
                                        tg_error *err)
{
    const tg_type *result = call->type;
    bool is_wide = !fits_natively(sign, call->args[0]->type, call->args[1]->type, result);
    if ((sign == '+' || sign == '-') && !is_wide) {
        return tg_print_format(ctx, call, err, "CAST((CAST($1 AS $T) %c CAST($2 AS $T)) AS $T)",
                               sign);
    }
    if (sign == '*' && !is_wide) {
        return tg_print_template(ctx, "CAST(($1 * $2) AS $T)", call, err);
    }
    const char *function = sign == '+'     ? "tg_decimal_add"
                           : sign == '-'   ? "tg_decimal_sub"
                           : sign == '*'   ? "tg_decimal_mul"
                           : sign == '/'   ? "tg_decimal_div"
                           : is_pmod(call) ? "tg_decimal_pmod"
                                           : "tg_decimal_mod";
    const char *text = tg_arena_printf(ctx->arena, "%s($1, $2, %d, %d, %s)", function,
                                       result->precision, result->scale, tg_fn_try_flag(call));
    return tg_print_unscaled(ctx, text, call, result, err);
}

static tg_code print_remainder(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    if (is_nonzero_literal(call->args[1]) && !is_pmod(call)) {
        return tg_print_template(ctx, "CAST(($1 % $2) AS $T)", call, err);
    }
    return tg_print_format(
        ctx, call, err, "CAST(tg_%smod_%s($1, $2, %s) AS $T)", is_pmod(call) ? "p" : "",
        tg_type_is_integer(call->type) ? "long" : "double", tg_fn_try_flag(call));
}

TG_FN_PRINTER(arithmetic)
{
    char sign = sign_of(call->function);
    if (call->extra) {
        return tg_fn_print_extra(ctx, call, err);
    }
    if (call->type->kind == TG_TYPE_DECIMAL) {
        return print_decimal_arithmetic(ctx, call, sign, err);
    }
    if (sign == '%') {
        return print_remainder(ctx, call, err);
    }
    if (!tg_fn_is_try(call)) {
        return tg_print_format(ctx, call, err, "($1 %c $2)", sign);
    }
    if (!tg_type_is_integer(call->type)) {
        return tg_print_format(ctx, call, err, "($1 %c $2)",
                               sign); /* doubles do not overflow: infinity */
    }
    const char *word = sign == '+' ? "add" : sign == '-' ? "sub" : "mul";
    return tg_print_format(ctx, call, err, "CAST(tg_try_%s_long($1, $2, %d) AS $T)", word,
                           tg_sql_integer_bits(call->type));
}

TG_FN_PRINTER(division)
{
    if (call->extra) {
        return tg_fn_print_extra(ctx, call, err);
    }
    if (call->type->kind == TG_TYPE_DECIMAL) {
        return print_decimal_arithmetic(ctx, call, '/', err);
    }
    if (is_nonzero_literal(call->args[1])) {
        return tg_print_template(ctx, "($1 / $2)", call, err);
    }
    return tg_print_format(ctx, call, err, "tg_div_double($1, $2, %s)", tg_fn_try_flag(call));
}

TG_FN_PRINTER(integer_division)
{
    if (call->args[0]->type->kind == TG_TYPE_DECIMAL) {
        return tg_print_template(ctx, "CAST(tg_decimal_div_long($1, $2) AS BIGINT)", call, err);
    }
    bool is_interval = !tg_type_is_integer(call->args[0]->type);
    if (!is_interval && is_nonzero_literal(call->args[1])) {
        return tg_print_template(ctx, "($1 // $2)", call, err);
    }
    return tg_print_format(ctx, call, err,
                           "tg_div_long(CAST($1 AS BIGINT), CAST($2 AS BIGINT), %s)",
                           is_interval ? "TRUE" : "FALSE");
}
