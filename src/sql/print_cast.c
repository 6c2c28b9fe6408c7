/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts as DuckDB text.
 *
 * DuckDB's own casts are used where they agree with Spark for every value (widening numbers,
 * decimals to decimals, booleans). Parsing strings, printing doubles and times, and cutting doubles
 * to integers goes through our C functions (tg_cast_...), because Spark's parser, Java's number
 * text and Spark's rounding differ from DuckDB's. Those take a last argument: TRUE gives NULL for
 * what cannot be cast (try_cast), FALSE raises CAST_INVALID_INPUT or CAST_OVERFLOW.
 */
#include "sql/functions_int.h"

/* A cast that is being printed: $1 is the source. */
typedef struct cast_job {
    tg_print_context *ctx;
    const tg_bexpr *call;
    const tg_type *from, *to;
    tg_cast_mode mode;
    tg_error *err;
} cast_job;

static const char *try_flag(const cast_job *job)
{
    return job->mode == TG_CAST_TRY ? "TRUE" : "FALSE";
}

/* A template that has the target's type already. */
static tg_code plain(const cast_job *job, const char *text)
{
    return tg_print_template(job->ctx, text, job->call, job->err);
}

/* DuckDB's own cast of the template's value. */
static tg_code native(const cast_job *job, const char *text)
{
    return tg_print_format(job->ctx, job->call, job->err, "%s(%s AS $T)",
                           job->mode == TG_CAST_TRY ? "TRY_CAST" : "CAST", text);
}

static tg_code unscaled(const cast_job *job, const char *function)
{
    const char *text = tg_arena_printf(job->ctx->arena, "%s($1, %d, %d, %s)", function,
                                       job->to->precision, job->to->scale, try_flag(job));
    return tg_print_unscaled(job->ctx, text, job->call, job->to, job->err);
}

/* One of a field in the numbers that intervals are: months, microseconds. */
static const char *const interval_units[] = {
    [TG_FIELD_YEAR] = "12",         [TG_FIELD_MONTH] = "1",         [TG_FIELD_DAY] = "86400000000",
    [TG_FIELD_HOUR] = "3600000000", [TG_FIELD_MINUTE] = "60000000", [TG_FIELD_SECOND] = "1000000"};

/* ---- to numbers ------------------------------------------------------------------------------ */

static tg_code to_integer(const cast_job *job)
{
    int bits = tg_sql_integer_bits(job->to);
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return tg_print_format(job->ctx, job->call, job->err,
                               "CAST(tg_cast_long($1, %d, %s) AS $T)", bits, try_flag(job));
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return tg_print_format(job->ctx, job->call, job->err,
                               "CAST(tg_double_long(CAST($1 AS DOUBLE), %d, %s) AS $T)", bits,
                               try_flag(job));
    case TG_TYPE_DECIMAL:
        return native(job, job->from->scale == 0 ? "$1" : "trunc($1)");
    case TG_TYPE_TIMESTAMP:
        return native(job, "tg_floor_div(epoch_us($1), 1000000)");
    case TG_TYPE_INTERVAL_YM:
        return native(job, job->from->to == TG_FIELD_MONTH ? "$1" : "($1 // 12)");
    case TG_TYPE_INTERVAL_DT:
        return native(
            job, tg_arena_printf(job->ctx->arena, "($1 // %s)", interval_units[job->from->to]));
    default:
        return native(job, "$1");
    }
}

static tg_code to_decimal(const cast_job *job)
{
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return unscaled(job, "tg_cast_decimal");
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE: {
        const char *text =
            tg_arena_printf(job->ctx->arena, "tg_double_decimal(CAST($1 AS DOUBLE), %d, %d, %s)",
                            job->to->precision, job->to->scale, try_flag(job));
        return tg_print_unscaled(job->ctx, text, job->call, job->to, job->err);
    }
    case TG_TYPE_BOOLEAN:
        return native(job, "CAST($1 AS INTEGER)");
    case TG_TYPE_TIMESTAMP:
        return native(job,
                      "(CAST(epoch_us($1) AS DECIMAL(38,0)) * CAST('0.000001' AS DECIMAL(6,6)))");
    default:
        return native(job, "$1");
    }
}

static tg_code to_floating(const cast_job *job)
{
    bool is_float = job->to->kind == TG_TYPE_FLOAT;
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return tg_print_format(job->ctx, job->call, job->err, "tg_cast_%s($1, %s)",
                               is_float ? "float" : "double", try_flag(job));
    case TG_TYPE_DECIMAL:
        /* Up to 15 digits DuckDB's division is exact enough to round once; beyond, by text. */
        return native(job, is_float || job->from->precision > 15 ? "CAST($1 AS VARCHAR)" : "$1");
    case TG_TYPE_DOUBLE:
        /* Too large for FLOAT is infinity in Spark, an error in DuckDB. */
        return tg_print_format(job->ctx, job->call, job->err, "tg_double_float($1)");
    case TG_TYPE_TIMESTAMP:
        return native(job, "(CAST(epoch_us($1) AS DOUBLE) / 1000000)");
    default:
        return native(job, "$1");
    }
}

static tg_code to_boolean(const cast_job *job)
{
    if (job->from->kind == TG_TYPE_STRING) {
        return tg_print_format(job->ctx, job->call, job->err, "tg_cast_boolean($1, %s)",
                               try_flag(job));
    }
    return plain(job, "($1 <> 0)");
}

/* ---- to times and intervals ------------------------------------------------------------------ */

static tg_code to_date(const cast_job *job)
{
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return tg_print_format(job->ctx, job->call, job->err, "tg_cast_date($1, %s)",
                               try_flag(job));
    case TG_TYPE_TIMESTAMP:
        return native(job, "$L1");
    default:
        return native(job, "$1");
    }
}

static tg_code to_timestamp(const cast_job *job)
{
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return tg_print_format(job->ctx, job->call, job->err, "tg_cast_timestamp($1, $Z, %s)",
                               try_flag(job));
    case TG_TYPE_DATE:
        return plain(job, "$I(CAST($1 AS TIMESTAMP))");
    case TG_TYPE_TIMESTAMP_NTZ:
        return plain(job, "$I($1)");
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return tg_print_format(job->ctx, job->call, job->err,
                               "make_timestamptz(tg_double_micros(CAST($1 AS DOUBLE), %s))",
                               try_flag(job));
    case TG_TYPE_DECIMAL:
        return plain(job, "make_timestamptz(tg_decimal_micros($1))");
    default:
        return plain(job, "make_timestamptz(CAST($1 AS BIGINT) * CAST(1000000 AS BIGINT))");
    }
}

static tg_code to_local(const cast_job *job)
{
    switch (job->from->kind) {
    case TG_TYPE_STRING:
        return tg_print_format(job->ctx, job->call, job->err, "tg_cast_local($1, %s)",
                               try_flag(job));
    case TG_TYPE_TIMESTAMP:
        return plain(job, "$L1");
    default:
        return native(job, "$1");
    }
}

static tg_code to_interval(const cast_job *job)
{
    const char *unit = interval_units[job->to->to];
    if (tg_type_is_integer(job->from)) {
        return native(job, tg_arena_printf(job->ctx->arena,
                                           "(CAST($1 AS BIGINT) * CAST(%s AS BIGINT))", unit));
    }
    if (job->from->kind == job->to->kind) {
        /* Fields below the last one are cut off; seconds keep their fraction. */
        bool is_cut = job->to->to != TG_FIELD_SECOND && job->to->to != TG_FIELD_MONTH &&
                      job->from->to > job->to->to;
        return native(job, is_cut ? tg_arena_printf(job->ctx->arena, "($1 // %s * %s)", unit, unit)
                                  : "$1");
    }
    return tg_fn_at(job->call->span, job->err,
                    TG_ERR(job->err, UNSUPPORTED_FEATURE,
                           "a cast of a %s to an interval is not available yet",
                           tg_type_text(job->ctx->arena, job->from).ptr));
}

/* ---- nested types ---------------------------------------------------------------------------- */

tg_bexpr *tg_print_variable(tg_print_context *ctx, const tg_type *type)
{
    tg_bexpr *variable = TG_NEW(ctx->arena, tg_bexpr);
    variable->kind = TG_B_LAMBDA_VAR;
    variable->type = type;
    variable->column_id = UINT32_MAX - (uint32_t)ctx->depth;
    return variable;
}

static tg_bexpr *field_of(tg_print_context *ctx, tg_bexpr *base, size_t index)
{
    return tg_bexpr_field(ctx->arena, base, index, (tg_span){0});
}

/* Spark's text of an element inside a nested value: NULL is "null". */
static tg_code print_element_text(const cast_job *job, tg_bexpr *element)
{
    tg_buf *out = job->ctx->out;
    tg_buf_addz(out, "coalesce(");
    TG_TRY(tg_print_cast(job->ctx, element, tg_type_of(TG_TYPE_STRING), TG_CAST_ANSI, job->err));
    tg_buf_addz(out, ", 'null')");
    return TG_OK;
}

/* Around the lambda that makes texts of elements: measured, it costs what two levels do. */
static tg_code enter_text(const cast_job *job)
{
    job->ctx->doubling_depth++;
    return tg_print_enter_doubling(job->ctx, job->err);
}

static void leave_text(const cast_job *job)
{
    job->ctx->doubling_depth -= 2;
}

static tg_code array_to_text(const cast_job *job)
{
    tg_buf *out = job->ctx->out;
    tg_bexpr *variable = tg_print_variable(job->ctx, job->from->element);
    tg_buf_addz(out, "('[' || array_to_string(list_transform(");
    TG_TRY(tg_print_expr(job->ctx, job->call->args[0], job->err));
    tg_buf_addf(out, ", lambda v%u: ", variable->column_id);
    TG_TRY(enter_text(job));
    TG_TRY(print_element_text(job, variable));
    leave_text(job);
    tg_buf_addz(out, "), ', ') || ']')");
    return TG_OK;
}

static tg_code map_to_text(const cast_job *job)
{
    tg_buf *out = job->ctx->out;
    tg_bexpr *entry = tg_print_variable(job->ctx, tg_sql_entry_type(job->ctx->arena, job->from));
    tg_buf_addz(out, "('{' || array_to_string(list_transform(map_entries(");
    TG_TRY(tg_print_expr(job->ctx, job->call->args[0], job->err));
    tg_buf_addf(out, "), lambda v%u: ", entry->column_id);
    TG_TRY(enter_text(job));
    TG_TRY(print_element_text(job, field_of(job->ctx, entry, 0)));
    tg_buf_addz(out, " || ' -> ' || ");
    TG_TRY(print_element_text(job, field_of(job->ctx, entry, 1)));
    leave_text(job);
    tg_buf_addz(out, "), ', ') || '}')");
    return TG_OK;
}

static tg_code struct_to_text(const cast_job *job)
{
    tg_buf *out = job->ctx->out;
    TG_TRY(plain(job, "CASE WHEN $1 IS NOT NULL THEN '{'"));
    for (size_t i = 0; i < job->from->field_count; i++) {
        tg_buf_addz(out, i ? " || ', ' || " : " || ");
        TG_TRY(print_element_text(job, field_of(job->ctx, job->call->args[0], i)));
    }
    tg_buf_addz(out, " || '}' END");
    return TG_OK;
}

static tg_code to_array(const cast_job *job)
{
    tg_bexpr *variable = tg_print_variable(job->ctx, job->from->element);
    tg_buf_addz(job->ctx->out, "list_transform(");
    TG_TRY(tg_print_expr(job->ctx, job->call->args[0], job->err));
    tg_buf_addf(job->ctx->out, ", lambda v%u: ", variable->column_id);
    TG_TRY(tg_print_cast(job->ctx, variable, job->to->element, job->mode, job->err));
    tg_buf_addc(job->ctx->out, ')');
    return TG_OK;
}

static tg_code to_map(const cast_job *job)
{
    tg_buf *out = job->ctx->out;
    tg_bexpr *entry = tg_print_variable(job->ctx, tg_sql_entry_type(job->ctx->arena, job->from));
    tg_buf_addz(out, "map_from_entries(list_transform(map_entries(");
    TG_TRY(tg_print_expr(job->ctx, job->call->args[0], job->err));
    tg_buf_addf(out, "), lambda v%u: struct_pack(\"key\" := ", entry->column_id);
    TG_TRY(
        tg_print_cast(job->ctx, field_of(job->ctx, entry, 0), job->to->key, job->mode, job->err));
    tg_buf_addz(out, ", \"value\" := ");
    TG_TRY(tg_print_cast(job->ctx, field_of(job->ctx, entry, 1), job->to->element, job->mode,
                         job->err));
    tg_buf_addz(out, ")))");
    return TG_OK;
}

static tg_code to_struct(const cast_job *job)
{
    tg_buf *out = job->ctx->out;
    TG_TRY(plain(job, "CASE WHEN $1 IS NOT NULL THEN struct_pack("));
    for (size_t i = 0; i < job->to->field_count; i++) {
        if (i) {
            tg_buf_addz(out, ", ");
        }
        tg_print_duckdb_ident(job->to->fields[i].name, out);
        tg_buf_addz(out, " := ");
        TG_TRY(tg_print_cast(job->ctx, field_of(job->ctx, job->call->args[0], i),
                             job->to->fields[i].type, job->mode, job->err));
    }
    tg_buf_addz(out, ") END");
    return TG_OK;
}

/* ---- to text --------------------------------------------------------------------------------- */

static tg_code to_text(const cast_job *job)
{
    switch (job->from->kind) {
    case TG_TYPE_FLOAT:
        return plain(job, "tg_float_text($1)");
    case TG_TYPE_DOUBLE:
        return plain(job, "tg_double_text($1)");
    case TG_TYPE_BINARY:
        return plain(job, "tg_binary_text($1)");
    case TG_TYPE_DATE:
        return plain(job, "tg_date_text($1)");
    case TG_TYPE_TIMESTAMP:
        return plain(job, "tg_local_text($L1)");
    case TG_TYPE_TIMESTAMP_NTZ:
        return plain(job, "tg_local_text($1)");
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return tg_print_format(job->ctx, job->call, job->err,
                               "tg_interval_text(CAST($1 AS BIGINT), %d, %d)", (int)job->from->from,
                               (int)job->from->to);
    case TG_TYPE_ARRAY:
        return array_to_text(job);
    case TG_TYPE_MAP:
        return map_to_text(job);
    case TG_TYPE_STRUCT:
        return struct_to_text(job);
    case TG_TYPE_DECIMAL:
        /* DuckDB writes .50 for a decimal without integer digits. */
        return job->from->precision > job->from->scale ? native(job, "$1")
                                                       : plain(job, "tg_decimal_text($1)");
    default:
        return native(job, "$1");
    }
}

static tg_code print_job(const cast_job *job)
{
    switch (job->to->kind) {
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        return to_integer(job);
    case TG_TYPE_DECIMAL:
        return to_decimal(job);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return to_floating(job);
    case TG_TYPE_BOOLEAN:
        return to_boolean(job);
    case TG_TYPE_STRING:
        return to_text(job);
    case TG_TYPE_BINARY:
        return plain(job, "encode($1)");
    case TG_TYPE_DATE:
        return to_date(job);
    case TG_TYPE_TIMESTAMP:
        return to_timestamp(job);
    case TG_TYPE_TIMESTAMP_NTZ:
        return to_local(job);
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return to_interval(job);
    case TG_TYPE_ARRAY:
        return to_array(job);
    case TG_TYPE_MAP:
        return to_map(job);
    case TG_TYPE_STRUCT:
        return to_struct(job);
    default:
        TG_FAIL(job->err, UNSUPPORTED_FEATURE, "a cast to %s is not available yet",
                tg_type_text(job->ctx->arena, job->to).ptr);
    }
}

tg_code tg_print_cast(tg_print_context *ctx, const tg_bexpr *expr, const tg_type *to,
                      tg_cast_mode mode, tg_error *err)
{
    if (tg_type_equal(expr->type, to)) {
        return tg_print_expr(ctx, expr, err);
    }
    if (expr->type->kind == TG_TYPE_VOID) {
        tg_buf_addz(ctx->out, "CAST(");
        TG_TRY(tg_print_expr(ctx, expr, err));
        tg_buf_addz(ctx->out, " AS ");
        TG_TRY(tg_print_duckdb_type(to, ctx->out, err));
        tg_buf_addc(ctx->out, ')');
        return TG_OK;
    }
    tg_bexpr *args = NULL;
    memcpy(&args, &expr, sizeof(tg_bexpr *)); /* the node is only read */
    tg_bexpr call = {
        .kind = TG_B_CAST, .type = to, .span = expr->span, .args = &args, .arg_count = 1};
    cast_job job = {
        .ctx = ctx, .call = &call, .from = expr->type, .to = to, .mode = mode, .err = err};
    ctx->depth++;
    tg_code code = print_job(&job);
    ctx->depth--;
    return code;
}
