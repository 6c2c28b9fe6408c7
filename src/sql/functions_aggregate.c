/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregates and window functions.
 *
 * The same entry serves GROUP BY and OVER: $o prints FILTER and OVER. IGNORE NULLS of first and
 * last becomes a FILTER in an aggregate, and stays IGNORE NULLS over a window.
 */
#include "sql/functions_int.h"
#include "sql/tree.h"

static bool is_named(const tg_bexpr *call, const char *name)
{
    return strcmp(call->function->name, name) == 0;
}

/* ---- count, sum, avg ------------------------------------------------------------------------- */

TG_FN_RESOLVER(count)
{
    (void)ctx;
    (void)err;
    call->type = tg_type_of(TG_TYPE_BIGINT);
    call->nullable = false;
    return TG_OK;
}

TG_FN_PRINTER(count)
{
    const tg_bexpr *first = call->args[0];
    if (call->arg_count == 1) {
        bool is_star = first->kind == TG_B_LITERAL && !first->literal.is_null && !call->distinct;
        return tg_print_template(ctx, is_star ? "count(*)$o" : "count($d$1)$o", call, err);
    }
    tg_buf_addf(ctx->out, "count(%sCASE WHEN ", call->distinct ? "DISTINCT " : "");
    for (size_t i = 0; i < call->arg_count; i++) {
        tg_buf_addz(ctx->out, i ? " AND " : "");
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
        tg_buf_addz(ctx->out, " IS NOT NULL");
    }
    return tg_print_template(ctx, call->distinct ? " THEN row($*) END)$o" : " THEN TRUE END)$o",
                             call, err);
}

TG_FN_RESOLVER(sum)
{
    const tg_type *type = call->args[0]->type;
    call->nullable = true;
    if (tg_type_is_interval(type)) {
        call->type = type;
        return TG_OK;
    }
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    type = call->args[0]->type;
    if (type->kind == TG_TYPE_DECIMAL) {
        call->type = tg_sql_decimal_bounded(ctx->arena, type->precision + 10, type->scale);
        return TG_OK;
    }
    call->type = tg_type_of(tg_type_is_integer(type) ? TG_TYPE_BIGINT : TG_TYPE_DOUBLE);
    return call->type->kind == TG_TYPE_DOUBLE ? tg_fn_coerce(ctx, call, 0, call->type, err) : TG_OK;
}

/*
 * DuckDB adds decimals modulo 2^128 and does not tell. Decimals of 28 digits need 10^10 rows to get
 * there; wider ones are added as two halves, which cannot overflow, and the halves put together.
 */
enum { PLAIN_SUM_PRECISION_MAX = 28 };

static bool is_wide(const tg_bexpr *call)
{
    return call->args[0]->type->precision > PLAIN_SUM_PRECISION_MAX;
}

/* The exact sum of wide decimals, an error (or NULL) beyond 38 digits. */
static tg_code print_wide_sum(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    /* The halves of different decimals may be equal: DISTINCT comes before they are taken. */
    const char *halves = call->distinct ? "list_sum(list_transform(list(DISTINCT $1)$o, "
                                          "lambda tg_x: tg_decimal_high(tg_x))), "
                                          "list_sum(list_transform(list(DISTINCT $1)$o, "
                                          "lambda tg_x: tg_decimal_low(tg_x)))"
                                        : "sum(tg_decimal_high($1))$o, sum(tg_decimal_low($1))$o";
    return tg_print_unscaled(
        ctx, tg_arena_printf(ctx->arena, "tg_decimal_sum(%s, %s)", halves, tg_fn_try_flag(call)),
        call, tg_type_decimal(ctx->arena, 38, call->args[0]->type->scale), err);
}

TG_FN_PRINTER(sum)
{
    if (call->type->kind == TG_TYPE_DECIMAL && is_wide(call)) {
        return print_wide_sum(ctx, call, err);
    }
    if (call->type->kind == TG_TYPE_DOUBLE) {
        return tg_print_template(ctx, "sum($d$1)$o", call, err);
    }
    if (call->type->kind == TG_TYPE_DECIMAL) {
        return tg_print_template(
            ctx, tg_fn_is_try(call) ? "TRY_CAST(sum($d$1)$o AS $T)" : "CAST(sum($d$1)$o AS $T)",
            call, err);
    }
    return tg_print_template(ctx,
                             tg_fn_is_try(call) ? "TRY_CAST(sum($d$1)$o AS $T)"
                                                : "CAST(tg_sum_long(sum($d$1)$o) AS $T)",
                             call, err);
}

TG_FN_RESOLVER(avg)
{
    call->nullable = true;
    if (tg_type_is_interval(call->args[0]->type)) {
        bool is_months = call->args[0]->type->kind == TG_TYPE_INTERVAL_YM;
        call->type = is_months ? tg_type_interval(ctx->arena, TG_FIELD_YEAR, TG_FIELD_MONTH)
                               : tg_type_interval(ctx->arena, TG_FIELD_DAY, TG_FIELD_SECOND);
        return TG_OK;
    }
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    const tg_type *type = call->args[0]->type;
    if (type->kind == TG_TYPE_DECIMAL) {
        call->type = tg_sql_decimal_bounded(ctx->arena, type->precision + 4, type->scale + 4);
        return TG_OK;
    }
    call->type = tg_type_of(TG_TYPE_DOUBLE);
    return tg_type_is_integer(type) ? TG_OK : tg_fn_coerce(ctx, call, 0, call->type, err);
}

TG_FN_PRINTER(avg)
{
    if (tg_type_is_interval(call->type)) {
        return tg_print_template(
            ctx, "CAST(tg_interval_div(CAST(sum($d$1)$o AS BIGINT), count($d$1)$o) AS $T)", call,
            err);
    }
    if (call->type->kind != TG_TYPE_DECIMAL) {
        return tg_print_template(ctx, "avg($d$1)$o", call, err);
    }
    tg_print_unscaled_begin(ctx);
    tg_buf_addz(ctx->out, "tg_decimal_avg(");
    TG_TRY(is_wide(call) ? print_wide_sum(ctx, call, err)
                         : tg_print_template(ctx, "sum($d$1)$o", call, err));
    TG_TRY(tg_print_format(ctx, call, err, ", count($d$1)$o, %d, %d, %s)", call->type->precision,
                           call->type->scale, tg_fn_try_flag(call)));
    tg_print_unscaled_end(ctx, call->type);
    return TG_OK;
}

/* ---- extremes and single values -------------------------------------------------------------- */

static tg_code check_order_of(tg_fn_context *ctx, const tg_bexpr *call, const tg_bexpr *arg,
                              tg_error *err)
{
    TG_TRY(tg_fn_check_orderable(ctx, call, arg->type, arg->span, err));
    return tg_fn_check_order(call, arg->type, err);
}

TG_FN_RESOLVER(min)
{
    TG_TRY(check_order_of(ctx, call, call->args[0], err));
    call->type = call->args[0]->type;
    call->nullable = true;
    return TG_OK;
}

TG_FN_RESOLVER(min_by)
{
    TG_TRY(check_order_of(ctx, call, call->args[1], err));
    call->type = call->args[0]->type;
    call->nullable = true;
    return TG_OK;
}

/* first(x, true) is first(x) IGNORE NULLS. */
TG_FN_RESOLVER(first)
{
    if (call->arg_count == 2) {
        const tg_bexpr *flag = call->args[1];
        bool is_constant = flag->kind == TG_B_LITERAL && flag->type->kind == TG_TYPE_BOOLEAN;
        if (!is_constant || flag->literal.is_null) {
            return tg_fn_type_error(call, 1, "TRUE or FALSE", err);
        }
    }
    (void)ctx;
    call->type = call->args[0]->type;
    call->nullable = true;
    return TG_OK;
}

/* FILTER (WHERE the call's own filter AND condition IS NOT NULL), OVER. */
static tg_code print_not_null_filter(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    tg_buf_addz(ctx->out, " FILTER (WHERE ");
    if (call->filter) {
        TG_TRY(tg_print_expr(ctx, call->filter, err));
        tg_buf_addz(ctx->out, " AND ");
    }
    TG_TRY(tg_print_expr(ctx, call->args[0], err));
    tg_buf_addz(ctx->out, " IS NOT NULL)");
    tg_bexpr unfiltered = *call;
    unfiltered.filter = NULL;
    return tg_print_template(ctx, "$o", &unfiltered, err);
}

TG_FN_PRINTER(first)
{
    bool is_last = call->function->name[0] == 'l';
    bool skips_nulls =
        call->ignore_nulls || (call->arg_count == 2 && call->args[1]->literal.as.boolean);
    if (call->window) {
        const char *nulls = skips_nulls ? " IGNORE NULLS" : "";
        return tg_print_format(ctx, call, err, "%s_value($1%s)$o", is_last ? "last" : "first",
                               nulls);
    }
    TG_TRY(tg_print_template(ctx, is_last ? "last($1)" : "first($1)", call, err));
    return skips_nulls ? print_not_null_filter(ctx, call, err)
                       : tg_print_template(ctx, "$o", call, err);
}

TG_FN_RESOLVER(boolean_aggregate)
{
    tg_type_kind kind = call->args[0]->type->kind;
    if (kind != TG_TYPE_BOOLEAN && kind != TG_TYPE_VOID && kind != TG_TYPE_STRING) {
        return tg_fn_type_error(call, 0, "a condition", err);
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BOOLEAN), err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = true;
    return TG_OK;
}

TG_FN_RESOLVER(mode)
{
    (void)ctx;
    if (call->arg_count == 0) {
        return tg_fn_unsupported(call, err, "with WITHIN GROUP yet");
    }
    call->type = call->args[0]->type;
    call->nullable = true;
    return TG_OK;
}

/* ---- collections ----------------------------------------------------------------------------- */

TG_FN_RESOLVER(collect)
{
    if (is_named(call, "collect_set") && call->args[0]->type->kind == TG_TYPE_MAP) {
        return tg_fn_type_error(call, 0, "not a map", err);
    }
    call->type = tg_type_array(ctx->arena, call->args[0]->type, false);
    call->nullable = false;
    return TG_OK;
}

TG_FN_PRINTER(collect)
{
    bool is_distinct = call->distinct || is_named(call, "collect_set");
    tg_buf_addz(ctx->out, is_distinct ? "coalesce(list(DISTINCT " : "coalesce(list(");
    TG_TRY(tg_print_template(ctx, is_distinct ? "$K1$s)" : "$1$s)", call, err));
    TG_TRY(print_not_null_filter(ctx, call, err));
    return tg_print_template(ctx, ", CAST([] AS $T))", call, err);
}

TG_FN_RESOLVER(string_agg)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        if (call->args[i]->type->kind == TG_TYPE_BINARY) {
            return tg_fn_unsupported(call, err, "for BINARY yet");
        }
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_STRING), err));
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = true;
    return TG_OK;
}

TG_FN_PRINTER(string_agg)
{
    return tg_print_template(ctx,
                             call->arg_count == 1 ? "string_agg($d$1, ''$s)$o"
                                                  : "string_agg($d$1, coalesce($2, '')$s)$o",
                             call, err);
}

/* ---- percentiles ----------------------------------------------------------------------------- */

/* The share, which must be a constant from 0 to 1: a number, or an array of them. */
static tg_code read_share(const tg_bexpr *call, const tg_bexpr *share, double *out, tg_error *err)
{
    while (share->kind == TG_B_CAST) {
        share = share->args[0];
    }
    if (share->kind != TG_B_LITERAL || share->literal.is_null || !tg_type_is_numeric(share->type)) {
        return tg_fn_unsupported(call, err, "with a percentage that is not a constant");
    }
    double value = (double)share->literal.as.i64;
    if (share->type->kind == TG_TYPE_DOUBLE || share->type->kind == TG_TYPE_FLOAT) {
        value = share->literal.as.f64;
    } else if (share->type->kind == TG_TYPE_DECIMAL) {
        value = (double)share->literal.as.decimal;
        for (int i = 0; i < share->type->scale; i++) {
            value /= 10;
        }
    }
    if (!(value >= 0 && value <= 1)) {
        return tg_fn_at(share->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_VALUE_OUT_OF_RANGE,
                               "the percentage must be from 0 to 1"));
    }
    *out = value;
    return TG_OK;
}

TG_FN_RESOLVER(percentile)
{
    const tg_bexpr *share = call->args[call->arg_count - 1];
    double value;
    if (call->arg_count == 3) {
        return tg_fn_unsupported(call, err, "with a frequency yet");
    }
    if (call->arg_count == 2) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_DOUBLE), err));
    }
    call->type = tg_type_of(TG_TYPE_DOUBLE);
    call->nullable = true;
    bool is_array = tg_sql_is_call(share, "array");
    if (!is_array) {
        return read_share(call, share, &value, err);
    }
    for (size_t i = 0; i < share->arg_count; i++) {
        TG_TRY(read_share(call, share->args[i], &value, err));
    }
    call->type = tg_type_array(ctx->arena, call->type, false);
    return TG_OK;
}

static tg_code print_share(tg_print_context *ctx, const tg_bexpr *call, const tg_bexpr *share,
                           bool is_descending, tg_error *err)
{
    double value;
    TG_TRY(read_share(call, share, &value, err));
    tg_value literal =
        tg_value_double(tg_type_of(TG_TYPE_DOUBLE), is_descending ? 1 - value : value);
    tg_buf_addf(ctx->out, "%s", tg_double_text(ctx->arena, literal.as.f64, false).ptr);
    return TG_OK;
}

TG_FN_PRINTER(percentile)
{
    const tg_bexpr *share = call->args[call->arg_count - 1];
    bool is_within = call->arg_count == 1;
    if (is_within &&
        (call->order_count != 1 || !tg_type_is_numeric(call->order_by[0].expr->type))) {
        return tg_fn_unsupported(call, err, "without WITHIN GROUP (ORDER BY a number)");
    }
    bool is_descending = is_within && call->order_by[0].descending;
    tg_buf_addz(ctx->out, is_named(call, "percentile_disc") ? "quantile_disc(" : "quantile_cont(");
    tg_buf_addz(ctx->out, call->distinct ? "DISTINCT " : "");
    TG_TRY(tg_print_cast(ctx, is_within ? call->order_by[0].expr : call->args[0],
                         tg_type_of(TG_TYPE_DOUBLE), TG_CAST_ANSI, err));
    tg_buf_addz(ctx->out, ", ");
    if (call->type->kind != TG_TYPE_ARRAY) {
        TG_TRY(print_share(ctx, call, share, is_descending, err));
    } else {
        for (size_t i = 0; i < share->arg_count; i++) {
            tg_buf_addz(ctx->out, i ? ", " : "[");
            TG_TRY(print_share(ctx, call, share->args[i], is_descending, err));
        }
        tg_buf_addc(ctx->out, ']');
    }
    return tg_print_template(ctx, ")$o", call, err);
}

/* ---- window functions ------------------------------------------------------------------------ */

TG_FN_RESOLVER(ntile)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_INT), err));
    call->type = tg_type_of(TG_TYPE_INT);
    call->nullable = false;
    return TG_OK;
}

TG_FN_RESOLVER(lag)
{
    int64_t offset;
    call->type = call->args[0]->type;
    call->nullable = true;
    if (call->arg_count > 1 && !tg_fn_literal_int(call->args[1], &offset)) {
        return tg_fn_unsupported(call, err, "with an offset that is not a constant");
    }
    if (call->arg_count < 3) {
        return TG_OK;
    }
    const tg_type *common = tg_sql_common_type(ctx->arena, call->type, call->args[2]->type);
    if (!common) {
        return tg_fn_type_error(call, 2, tg_type_ddl(ctx->arena, call->type).ptr, err);
    }
    call->type = common;
    TG_TRY(tg_fn_coerce(ctx, call, 0, common, err));
    return tg_fn_coerce(ctx, call, 2, common, err);
}

TG_FN_RESOLVER(nth_value)
{
    int64_t offset;
    if (!tg_fn_literal_int(call->args[1], &offset) || offset < 1) {
        return tg_fn_type_error(call, 1, "a constant from 1 on", err);
    }
    (void)ctx;
    call->type = call->args[0]->type;
    call->nullable = true;
    return TG_OK;
}
