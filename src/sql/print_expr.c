/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bound expressions, types and literals as DuckDB SQL.
 *
 * Every expression is printed so that it can stand anywhere and has exactly the DuckDB type that
 * belongs to its Spark type: where DuckDB's function gives another type, the template casts.
 * Operators are printed in parentheses.
 */
#include "sql/functions_int.h"
#include "sql/tree.h"

/* ---- identifiers, strings, types ------------------------------------------------------------- */

void tg_print_duckdb_ident(tg_str name, tg_buf *out)
{
    tg_buf_addc(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') {
            tg_buf_addc(out, '"');
        }
        tg_buf_addc(out, name.ptr[i]);
    }
    tg_buf_addc(out, '"');
}

/*
 * A NUL would end the query text, so such strings are joined from pieces: ('a' || chr(0) || 'b').
 */
void tg_print_duckdb_string(tg_str text, tg_buf *out)
{
    bool has_nul = text.len && memchr(text.ptr, '\0', text.len);
    tg_buf_addz(out, has_nul ? "('" : "'");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\0') {
            tg_buf_addz(out, "' || chr(0) || '");
            continue;
        }
        if (text.ptr[i] == '\'') {
            tg_buf_addc(out, '\'');
        }
        tg_buf_addc(out, text.ptr[i]);
    }
    tg_buf_addz(out, has_nul ? "')" : "'");
}

static tg_code print_struct_type(const tg_type *type, tg_buf *out, tg_error *err)
{
    if (type->field_count == 0) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "structs without fields are not available yet");
    }
    tg_buf_addz(out, "STRUCT(");
    for (size_t i = 0; i < type->field_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (tg_str_ieq(type->fields[i].name, type->fields[j].name)) {
                TG_FAIL(err, UNSUPPORTED_FEATURE,
                        "structs with two fields named %.*s are not available yet",
                        TG_SARG(type->fields[i].name));
            }
        }
        if (i) {
            tg_buf_addz(out, ", ");
        }
        tg_print_duckdb_ident(type->fields[i].name, out);
        tg_buf_addc(out, ' ');
        TG_TRY(tg_print_duckdb_type(type->fields[i].type, out, err));
    }
    tg_buf_addc(out, ')');
    return TG_OK;
}

tg_code tg_print_duckdb_type(const tg_type *type, tg_buf *out, tg_error *err)
{
    static const char *const names[TG_TYPE_KIND_COUNT_] = {
        [TG_TYPE_VOID] = "\"NULL\"",
        [TG_TYPE_BOOLEAN] = "BOOLEAN",
        [TG_TYPE_TINYINT] = "TINYINT",
        [TG_TYPE_SMALLINT] = "SMALLINT",
        [TG_TYPE_INT] = "INTEGER",
        [TG_TYPE_BIGINT] = "BIGINT",
        [TG_TYPE_FLOAT] = "FLOAT",
        [TG_TYPE_DOUBLE] = "DOUBLE",
        [TG_TYPE_STRING] = "VARCHAR",
        [TG_TYPE_BINARY] = "BLOB",
        [TG_TYPE_DATE] = "DATE",
        [TG_TYPE_TIMESTAMP] = "TIMESTAMP WITH TIME ZONE",
        [TG_TYPE_TIMESTAMP_NTZ] = "TIMESTAMP",
        [TG_TYPE_INTERVAL_YM] = "INTEGER",
        [TG_TYPE_INTERVAL_DT] = "BIGINT",
    };
    switch (type->kind) {
    case TG_TYPE_DECIMAL:
        tg_buf_addf(out, "DECIMAL(%d,%d)", type->precision, type->scale);
        return TG_OK;
    case TG_TYPE_ARRAY:
        TG_TRY(tg_print_duckdb_type(type->element, out, err));
        tg_buf_addz(out, "[]");
        return TG_OK;
    case TG_TYPE_MAP:
        tg_buf_addz(out, "MAP(");
        TG_TRY(tg_print_duckdb_type(type->key, out, err));
        tg_buf_addz(out, ", ");
        TG_TRY(tg_print_duckdb_type(type->element, out, err));
        tg_buf_addc(out, ')');
        return TG_OK;
    case TG_TYPE_STRUCT:
        return print_struct_type(type, out, err);
    default:
        if (!names[type->kind]) {
            TG_FAIL(err, UNSUPPORTED_FEATURE, "values of type VARIANT are not available yet");
        }
        tg_buf_addz(out, names[type->kind]);
        return TG_OK;
    }
}

/* ---- literals -------------------------------------------------------------------------------- */

/* Years that DuckDB and we write alike. */
static bool is_plain_year(int64_t days)
{
    int64_t first = tg_days_from_civil(1, 1, 1), last = tg_days_from_civil(9999, 12, 31);
    return days >= first && days <= last;
}

static void print_date(int64_t days, tg_buf *out)
{
    if (!is_plain_year(days)) {
        tg_buf_addf(out, "(DATE '1970-01-01' + (%lld))", (long long)days);
        return;
    }
    int32_t year;
    int month, day;
    tg_civil_from_days(days, &year, &month, &day);
    tg_buf_addf(out, "DATE '%04d-%02d-%02d'", (int)year, month, day);
}

static void print_timestamp(int64_t us, bool is_instant, tg_buf *out)
{
    int64_t days = tg_floor_div(us, TG_US_PER_DAY);
    if (!is_plain_year(days)) {
        tg_buf_addf(out, "make_timestamp%s(CAST('%lld' AS BIGINT))", is_instant ? "tz" : "",
                    (long long)us);
        return;
    }
    tg_civil civil;
    tg_civil_from_us(us, &civil);
    tg_buf_addf(out, "TIMESTAMP%s '%04d-%02d-%02d %02d:%02d:%02d.%06d%s'", is_instant ? "TZ" : "",
                (int)civil.year, civil.month, civil.day, civil.hour, civil.minute, civil.second,
                civil.microsecond, is_instant ? "+00" : "");
}

static void print_integer(int64_t value, const tg_type *type, tg_buf *out)
{
    /* A bare 5 adapts to its neighbours in DuckDB, so all but INT are pinned down. */
    if (type->kind == TG_TYPE_INT || type->kind == TG_TYPE_INTERVAL_YM) {
        tg_buf_addf(out,
                    value == INT32_MIN ? "CAST(%lld AS INTEGER)"
                    : value < 0        ? "(%lld)"
                                       : "%lld",
                    (long long)value);
        return;
    }
    const char *name = type->kind == TG_TYPE_TINYINT    ? "TINYINT"
                       : type->kind == TG_TYPE_SMALLINT ? "SMALLINT"
                                                        : "BIGINT";
    tg_buf_addf(out, value == INT64_MIN ? "CAST('%lld' AS %s)" : "CAST(%lld AS %s)",
                (long long)value, name);
}

static void print_binary(tg_str bytes, tg_buf *out)
{
    tg_buf_addz(out, "CAST('");
    for (size_t i = 0; i < bytes.len; i++) {
        tg_buf_addf(out, "\\x%02X", (unsigned)(unsigned char)bytes.ptr[i]);
    }
    tg_buf_addz(out, "' AS BLOB)");
}

tg_code tg_print_duckdb_literal(tg_value value, tg_buf *out, tg_error *err)
{
    if (value.is_null) {
        if (value.type->kind == TG_TYPE_VOID) {
            tg_buf_addz(out, "NULL");
            return TG_OK;
        }
        tg_buf_addz(out, "CAST(NULL AS ");
        TG_TRY(tg_print_duckdb_type(value.type, out, err));
        tg_buf_addc(out, ')');
        return TG_OK;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        tg_buf_addz(out, value.as.boolean ? "TRUE" : "FALSE");
        return TG_OK;
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE: {
        bool is_float = value.type->kind == TG_TYPE_FLOAT;
        tg_buf_addf(out, "CAST('%s' AS %s)", tg_double_text(scratch, value.as.f64, is_float).ptr,
                    is_float ? "FLOAT" : "DOUBLE");
        return TG_OK;
    }
    case TG_TYPE_DECIMAL:
        tg_buf_addf(out, "CAST('%s' AS DECIMAL(%d,%d))",
                    tg_decimal_text(scratch, value.as.decimal, value.type->scale).ptr,
                    value.type->precision, value.type->scale);
        return TG_OK;
    case TG_TYPE_STRING:
        tg_print_duckdb_string(value.as.bytes, out);
        return TG_OK;
    case TG_TYPE_BINARY:
        print_binary(value.as.bytes, out);
        return TG_OK;
    case TG_TYPE_DATE:
        print_date(value.as.i64, out);
        return TG_OK;
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        print_timestamp(value.as.i64, value.type->kind == TG_TYPE_TIMESTAMP, out);
        return TG_OK;
    default:
        print_integer(value.as.i64, value.type, out);
        return TG_OK;
    }
}

/* ---- templates ------------------------------------------------------------------------------- */

static bool is_utc(const tg_print_context *ctx)
{
    tg_str zone = ctx->options->zone;
    return tg_str_ieq(zone, TG_S("UTC")) || tg_str_ieq(zone, TG_S("Z")) ||
           tg_str_eq(zone, TG_S("Etc/UTC")) || tg_str_eq(zone, TG_S("+00:00"));
}

static tg_code print_args(tg_print_context *ctx, const tg_bexpr *call, size_t first, tg_error *err)
{
    for (size_t i = first; i < call->arg_count; i++) {
        if (i > first) {
            tg_buf_addz(ctx->out, ", ");
        }
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
    }
    return TG_OK;
}

static bool holds_floats(const tg_type *type)
{
    bool holds =
        tg_type_is_floating(type) || (type->kind == TG_TYPE_ARRAY && holds_floats(type->element));
    for (size_t i = 0; type->kind == TG_TYPE_STRUCT && i < type->field_count && !holds; i++) {
        holds = holds_floats(type->fields[i].type);
    }
    return holds;
}

static tg_code print_struct_key(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addz(ctx->out, "CASE WHEN ");
    TG_TRY(tg_print_expr(ctx, expr, err));
    tg_buf_addz(ctx->out, " IS NOT NULL THEN struct_pack(");
    for (size_t i = 0; i < expr->type->field_count; i++) {
        tg_buf_addz(ctx->out, i ? ", " : "");
        tg_print_duckdb_ident(expr->type->fields[i].name, ctx->out);
        tg_buf_addz(ctx->out, " := ");
        tg_bexpr *base = tg_arena_memdup(ctx->arena, expr, sizeof(*expr));
        TG_TRY(tg_print_group_key(ctx, tg_bexpr_field(ctx->arena, base, i, expr->span), err));
    }
    tg_buf_addz(ctx->out, ") END");
    return TG_OK;
}

tg_code tg_print_group_key(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    if (!holds_floats(expr->type) || ctx->options->dialect == TG_DIALECT_SPARK) {
        return tg_print_expr(ctx, expr, err);
    }
    ctx->depth++;
    if (expr->type->kind == TG_TYPE_ARRAY) {
        const tg_bexpr *variable = tg_print_variable(ctx, expr->type->element);
        tg_buf_addz(ctx->out, "list_transform(");
        TG_TRY(tg_print_expr(ctx, expr, err));
        tg_buf_addf(ctx->out, ", lambda v%u: ", variable->column_id);
        TG_TRY(tg_print_group_key(ctx, variable, err));
        tg_buf_addc(ctx->out, ')');
    } else if (expr->type->kind == TG_TYPE_STRUCT) {
        TG_TRY(print_struct_key(ctx, expr, err));
    } else {
        tg_buf_addc(ctx->out, '(');
        TG_TRY(tg_print_expr(ctx, expr, err));
        tg_buf_addf(ctx->out, " + CAST(0 AS %s))",
                    expr->type->kind == TG_TYPE_FLOAT ? "FLOAT" : "DOUBLE");
    }
    ctx->depth--;
    return TG_OK;
}

/*
 * A double is printed as x + 0: DuckDB rebuilds columns from the sort keys, in which -0.0 has become
 * 0.0.
 */
static tg_code print_sort_key(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    if (!tg_sql_orders_alike(expr->type)) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "ORDER BY arrays and structs that may hold NULLs is not available"));
    }
    return tg_print_group_key(ctx, expr, err);
}

tg_code tg_print_order(tg_print_context *ctx, const tg_bsort *items, size_t count, tg_error *err)
{
    if (ctx->options->dialect == TG_DIALECT_SPARK) {
        tg_buf_addz(ctx->out, count > 0 ? " " : "");
        return tg_print_spark_order(ctx, items, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(ctx->out, i ? ", " : " ORDER BY ");
        TG_TRY(print_sort_key(ctx, items[i].expr, err));
        tg_buf_addf(ctx->out, " %s NULLS %s", items[i].descending ? "DESC" : "ASC",
                    items[i].nulls_first ? "FIRST" : "LAST");
    }
    return TG_OK;
}

static tg_code print_bound(tg_print_context *ctx, tg_frame_bound_kind kind, const tg_bexpr *offset,
                           tg_error *err)
{
    static const char *const words[] = {[TG_BOUND_UNBOUNDED_PRECEDING] = "UNBOUNDED PRECEDING",
                                        [TG_BOUND_PRECEDING] = " PRECEDING",
                                        [TG_BOUND_CURRENT_ROW] = "CURRENT ROW",
                                        [TG_BOUND_FOLLOWING] = " FOLLOWING",
                                        [TG_BOUND_UNBOUNDED_FOLLOWING] = "UNBOUNDED FOLLOWING"};
    if (kind == TG_BOUND_PRECEDING || kind == TG_BOUND_FOLLOWING) {
        /* Intervals are numbers elsewhere; here DuckDB adds them to a date or timestamp. */
        bool is_months = offset->type->kind == TG_TYPE_INTERVAL_YM;
        bool is_interval = is_months || offset->type->kind == TG_TYPE_INTERVAL_DT;
        tg_buf_addz(ctx->out, !is_interval ? "" : is_months ? "to_months(" : "to_microseconds(");
        TG_TRY(tg_print_expr(ctx, offset, err));
        tg_buf_addz(ctx->out, is_interval ? ")" : "");
    }
    tg_buf_addz(ctx->out, words[kind]);
    return TG_OK;
}

/* FILTER (...) and OVER (...). */
static tg_code print_over(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    if (call->filter) {
        tg_buf_addz(ctx->out, " FILTER (WHERE ");
        TG_TRY(tg_print_expr(ctx, call->filter, err));
        tg_buf_addc(ctx->out, ')');
    }
    const tg_bwindow *window = call->window;
    if (!window) {
        return TG_OK;
    }
    tg_buf_addz(ctx->out, " OVER (");
    for (size_t i = 0; i < window->partition_count; i++) {
        tg_buf_addz(ctx->out, i ? ", " : "PARTITION BY ");
        /* Normalised, as DuckDB may rebuild a plain column from the key, without the sign of -0.0. */
        TG_TRY(tg_print_group_key(ctx, window->partition_by[i], err));
    }
    TG_TRY(tg_print_order(ctx, window->order_by, window->order_count, err));
    if (window->frame != TG_FRAME_NONE) {
        tg_buf_addz(ctx->out,
                    window->frame == TG_FRAME_ROWS ? " ROWS BETWEEN " : " RANGE BETWEEN ");
        TG_TRY(print_bound(ctx, window->start, window->start_offset, err));
        tg_buf_addz(ctx->out, " AND ");
        TG_TRY(print_bound(ctx, window->end, window->end_offset, err));
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

/* Calls our C function with the zone, or in UTC DuckDB's own, which opens two parentheses. */
static void begin_zone_call(tg_print_context *ctx, const char *in_utc, const char *in_zone)
{
    tg_buf_addz(ctx->out, is_utc(ctx) ? in_utc : in_zone);
}

static void end_zone_call(tg_print_context *ctx)
{
    if (is_utc(ctx)) {
        tg_buf_addz(ctx->out, "))");
        return;
    }
    tg_buf_addz(ctx->out, ", ");
    tg_print_duckdb_string(ctx->options->zone, ctx->out);
    tg_buf_addc(ctx->out, ')');
}

/* $L1: an instant as local time. Spark's DATE and TIMESTAMP_NTZ are local already. */
static tg_code print_local(tg_print_context *ctx, const tg_bexpr *arg, tg_error *err)
{
    if (arg->type->kind != TG_TYPE_TIMESTAMP) {
        bool is_date = arg->type->kind == TG_TYPE_DATE;
        tg_buf_addz(ctx->out, is_date ? "CAST(" : "");
        TG_TRY(tg_print_expr(ctx, arg, err));
        tg_buf_addz(ctx->out, is_date ? " AS TIMESTAMP)" : "");
        return TG_OK;
    }
    begin_zone_call(ctx, "make_timestamp(epoch_us(", "tg_zone_local(");
    TG_TRY(tg_print_expr(ctx, arg, err));
    end_zone_call(ctx);
    return TG_OK;
}

/* The end of the parenthesis that opens at text[0]. */
static size_t matching_paren(const char *text)
{
    size_t depth = 0, i = 0;
    do {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        tg_assert(text[i] != '\0');
        i++;
    } while (depth > 0);
    return i;
}

/* $I(local): a local time as instant. *text stands at the parenthesis and is moved behind it. */
static tg_code print_instant(tg_print_context *ctx, const char **text, const tg_bexpr *call,
                             tg_error *err)
{
    size_t end = matching_paren(*text);
    const char *inner = tg_arena_strndup(ctx->arena, *text + 1, end - 2);
    *text += end;
    begin_zone_call(ctx, "make_timestamptz(epoch_us(", "tg_zone_instant(");
    TG_TRY(tg_print_template(ctx, inner, call, err));
    end_zone_call(ctx);
    return TG_OK;
}

static tg_code print_mark(tg_print_context *ctx, const char **text, const tg_bexpr *call,
                          tg_error *err)
{
    char mark = *(*text)++;
    switch (mark) {
    case '*':
        return print_args(ctx, call, 0, err);
    case '+':
        return print_args(ctx, call, 1, err);
    case 'T':
        return tg_print_duckdb_type(call->type, ctx->out, err);
    case 'Z':
        tg_print_duckdb_string(ctx->options->zone, ctx->out);
        return TG_OK;
    case 'd':
        tg_buf_addz(ctx->out, call->distinct ? "DISTINCT " : "");
        return TG_OK;
    case 's':
        return tg_print_order(ctx, call->order_by, call->order_count, err);
    case 'n':
        tg_buf_addz(ctx->out, call->ignore_nulls ? " IGNORE NULLS" : "");
        return TG_OK;
    case 'o':
        return print_over(ctx, call, err);
    case 'L':
        return print_local(ctx, call->args[*(*text)++ - '1'], err);
    case 'K':
        return tg_print_group_key(ctx, call->args[*(*text)++ - '1'], err);
    case 'I':
        return print_instant(ctx, text, call, err);
    default:
        tg_assert(mark >= '1' && mark <= '9' && (size_t)(mark - '1') < call->arg_count);
        return tg_print_expr(ctx, call->args[mark - '1'], err);
    }
}

tg_code tg_print_template(tg_print_context *ctx, const char *text, const tg_bexpr *call,
                          tg_error *err)
{
    while (*text) {
        if (*text != '$') {
            tg_buf_addc(ctx->out, *text++);
            continue;
        }
        text++;
        TG_TRY(print_mark(ctx, &text, call, err));
    }
    return TG_OK;
}

tg_code tg_print_format(tg_print_context *ctx, const tg_bexpr *call, tg_error *err,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = tg_arena_vprintf(ctx->arena, format, args);
    va_end(args);
    return tg_print_template(ctx, text, call, err);
}

tg_code tg_print_null(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    return tg_print_template(ctx, "CAST(NULL AS $T)", call, err);
}

void tg_print_unscaled_begin(tg_print_context *ctx)
{
    tg_buf_addz(ctx->out, "CAST(CAST(");
}

void tg_print_unscaled_end(tg_print_context *ctx, const tg_type *decimal)
{
    int scale = decimal->scale;
    tg_buf_addz(ctx->out, " AS DECIMAL(38,0))");
    if (scale > 0) {
        tg_buf_addf(ctx->out, " * CAST('0.%0*d' AS DECIMAL(%d,%d))", scale, 1, scale, scale);
    }
    tg_buf_addf(ctx->out, " AS DECIMAL(%d,%d))", decimal->precision, scale);
}

tg_code tg_print_unscaled(tg_print_context *ctx, const char *text, const tg_bexpr *call,
                          const tg_type *decimal, tg_error *err)
{
    tg_print_unscaled_begin(ctx);
    TG_TRY(tg_print_template(ctx, text, call, err));
    tg_print_unscaled_end(ctx, decimal);
    return TG_OK;
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* DuckDB folds calls over a constant NULL to an untyped NULL: those are cast to keep their type. */
static bool has_null_literal(const tg_bexpr *expr)
{
    for (size_t i = 0; i < expr->arg_count; i++) {
        tg_value value;
        if (tg_fn_literal(expr->args[i], &value) && value.is_null) {
            return true;
        }
    }
    return false;
}

static tg_code print_call(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    const tg_function *function = expr->function;
    if (function->duckdb) {
        return tg_print_template(ctx, function->duckdb, expr, err);
    }
    tg_assert(function->print);
    return function->print(ctx, expr, err);
}

static tg_code print_subquery(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addc(ctx->out, '(');
    if (expr->kind == TG_B_IN_QUERY) {
        tg_buf_addz(ctx->out, expr->arg_count > 1 ? "(" : "");
        TG_TRY(print_args(ctx, expr, 0, err));
        tg_buf_addz(ctx->out, expr->arg_count > 1 ? ")" : "");
        tg_buf_addz(ctx->out, expr->negated ? " NOT IN (" : " IN (");
    } else if (expr->kind == TG_B_EXISTS) {
        tg_buf_addz(ctx->out, expr->negated ? "NOT EXISTS (" : "EXISTS (");
    }
    bool is_aggregate = expr->kind != TG_B_IN_QUERY; /* what DuckDB makes of it */
    if (is_aggregate) {
        TG_TRY(tg_print_enter_doubling(ctx, err));
    }
    TG_TRY(tg_print_query(ctx, expr->rel, err));
    ctx->doubling_depth -= is_aggregate;
    tg_buf_addz(ctx->out, expr->kind == TG_B_SUBQUERY ? ")" : "))");
    return TG_OK;
}

static tg_code print_lambda(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addz(ctx->out, "lambda ");
    for (size_t i = 0; i < expr->param_count; i++) {
        tg_buf_addf(ctx->out, i ? ", v%u" : "v%u", expr->params[i]);
    }
    tg_buf_addz(ctx->out, ": ");
    TG_TRY(tg_print_enter_doubling(ctx, err));
    TG_TRY(tg_print_expr(ctx, expr->args[0], err));
    ctx->doubling_depth--;
    return TG_OK;
}

static void print_lambda_variable(tg_print_context *ctx, const tg_bexpr *expr)
{
    for (const tg_print_lambda *index = ctx->index_vars; index; index = index->next) {
        if (index->id == expr->column_id) {
            tg_buf_addf(ctx->out, "CAST(v%u - 1 AS INTEGER)", expr->column_id);
            return;
        }
    }
    tg_buf_addf(ctx->out, "v%u", expr->column_id);
}

static tg_code print_field(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addz(ctx->out, "struct_extract(");
    TG_TRY(tg_print_expr(ctx, expr->args[0], err));
    tg_buf_addz(ctx->out, ", ");
    tg_print_duckdb_string(expr->args[0]->type->fields[expr->field_index].name, ctx->out);
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

static bool is_random_call(const tg_bexpr *expr)
{
    return expr->kind == TG_B_CALL && expr->function->volatility == TG_VOL_RANDOM;
}

/*
 * DuckDB takes two conditions on random() for conditions on one value. Each call but the first gets
 * a bound of its own that no value is below, and so a text of its own.
 */
static tg_code print_random(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    size_t before = ctx->random.count - 1; /* check_printed_once has counted this one */
    tg_buf_addz(ctx->out, before ? "greatest(" : "");
    TG_TRY(print_call(ctx, expr, err));
    if (before) {
        tg_buf_addf(ctx->out, expr->type->kind == TG_TYPE_STRING ? ", ' %zu')" : ", -%zue0)",
                    before);
    }
    return TG_OK;
}

static tg_code print_typed(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    bool is_cast = expr->type->kind != TG_TYPE_VOID && has_null_literal(expr);
    tg_buf_addz(ctx->out, is_cast ? "CAST(" : "");
    TG_TRY(expr->kind == TG_B_FIELD ? print_field(ctx, expr, err)
           : is_random_call(expr)   ? print_random(ctx, expr, err)
                                    : print_call(ctx, expr, err));
    return is_cast ? tg_print_template(ctx, " AS $T)", expr, err) : TG_OK;
}

static void note_variable(void *self, const tg_bexpr *expr)
{
    bool *is_constant = self;
    *is_constant = *is_constant && expr->kind != TG_B_COLUMN && expr->kind != TG_B_LAMBDA_VAR &&
                   !expr->rel && expr->kind != TG_B_AGGREGATE && expr->kind != TG_B_WINDOW;
}

/*
 * DuckDB's planner computes constant terms of AND and OR and constant conditions of CASE, also
 * those that no row would reach, and raises what they raise.
 */
static bool must_not_fold(const tg_print_context *ctx, const tg_bexpr *expr)
{
    bool may_stand = expr->kind == TG_B_CALL || expr->kind == TG_B_CAST;
    bool is_constant = !ctx->is_unfolded && ctx->guard_depth + ctx->branch_depth > 0 && may_stand &&
                       tg_fn_may_raise(expr);
    if (is_constant) {
        tg_sql_bexpr_visit(expr, note_variable, &is_constant);
    }
    return is_constant;
}

static tg_code print_node(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    switch (expr->kind) {
    case TG_B_LITERAL:
        return tg_print_duckdb_literal(expr->literal, ctx->out, err);
    case TG_B_COLUMN:
        ctx->column_text(ctx->column_self, expr->column_id, ctx->out);
        return TG_OK;
    case TG_B_AGGREGATE:
    case TG_B_WINDOW:
        return print_call(ctx, expr, err);
    case TG_B_CAST:
        return tg_print_cast(ctx, expr->args[0], expr->type, expr->cast_mode, err);
    case TG_B_SUBQUERY:
    case TG_B_EXISTS:
    case TG_B_IN_QUERY:
        return print_subquery(ctx, expr, err);
    case TG_B_LAMBDA:
        return print_lambda(ctx, expr, err);
    case TG_B_LAMBDA_VAR:
        print_lambda_variable(ctx, expr);
        return TG_OK;
    case TG_B_CALL:
    case TG_B_FIELD:
        return print_typed(ctx, expr, err);
    }
    TG_FAIL(err, INTERNAL_ERROR, "unknown kind of expression");
}

/* A constant as its value, where that is certain; else so that DuckDB meets it when it runs only. */
static tg_code print_constant(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    const tg_zone *zone;
    tg_bexpr *copy = tg_arena_memdup(ctx->arena, expr, sizeof(*expr));
    if (tg_zone_load(ctx->options->zone, ctx->arena, &zone, NULL) == TG_OK) {
        copy = tg_sql_fold(copy, zone, ctx->arena);
    }
    if (copy->kind == TG_B_LITERAL) {
        return tg_print_duckdb_literal(copy->literal, ctx->out, err);
    }
    ctx->is_unfolded = true;
    tg_buf_addz(ctx->out, "CASE WHEN random() >= 0 THEN ");
    TG_TRY(print_node(ctx, expr, err));
    tg_buf_addz(ctx->out, " END");
    ctx->is_unfolded = false;
    return TG_OK;
}

static bool is_conditional(const tg_bexpr *expr)
{
    static const char *const NAMES[] = {"case", "if", "iff", "coalesce", "nvl", "ifnull", "nvl2"};
    for (size_t i = 0; expr->kind == TG_B_CALL && i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        if (strcmp(expr->function->name, NAMES[i]) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * A template that names its argument twice, a guard in front of a term: what is random would have
 * two values there.
 */
static tg_code check_printed_once(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    if (!is_random_call(expr) || ctx->options->dialect != TG_DIALECT_DUCKDB) {
        return TG_OK;
    }
    for (size_t i = 0; i < ctx->random.count; i++) {
        if (ctx->random.items[i] == expr) {
            return tg_fn_at(expr->span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE,
                                   "%s() is not available within this expression, which needs its "
                                   "value more than once",
                                   expr->function->name));
        }
    }
    TG_VEC_PUSH(ctx->arena, &ctx->random, expr);
    return TG_OK;
}

static tg_code print_for_duckdb(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    if (must_not_fold(ctx, expr)) {
        return print_constant(ctx, expr, err);
    }
    bool is_kept = tg_fn_loses_error(expr);
    tg_buf_addz(ctx->out, is_kept ? "(+" : "");
    TG_TRY(print_node(ctx, expr, err));
    tg_buf_addz(ctx->out, is_kept ? ")" : "");
    return TG_OK;
}

tg_code tg_print_expr(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    TG_TRY(check_printed_once(ctx, expr, err));
    if (ctx->depth >= TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_fn_at(expr->span, err,
                        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                               "expression is nested too deeply (limit %d)",
                               TG_LIMIT_EXPRESSION_DEPTH));
    }
    /* Templates that name an argument twice double the text at each level. */
    if (ctx->out->len > TG_LIMIT_STATEMENT_BYTES) {
        return tg_fn_at(
            expr->span, err,
            TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED, "the query becomes too large for the engine"));
    }
    bool branches = is_conditional(expr);
    ctx->depth++;
    ctx->branch_depth += branches;
    tg_code code = ctx->options->dialect == TG_DIALECT_SPARK ? tg_print_spark_expr(ctx, expr, err)
                                                             : print_for_duckdb(ctx, expr, err);
    ctx->branch_depth -= branches;
    ctx->depth--;
    if (code != TG_OK && err && !err->has_span) {
        (void)tg_error_span(err, expr->span.offset, expr->span.len);
    }
    return code;
}

tg_code tg_print_condition(tg_print_context *ctx, const tg_bexpr *condition, tg_error *err)
{
    if (!tg_sql_is_call(condition, "and") || ctx->depth >= TG_LIMIT_EXPRESSION_DEPTH) {
        return tg_print_expr(ctx, condition, err);
    }
    ctx->depth++;
    tg_buf_addc(ctx->out, '(');
    TG_TRY(tg_print_condition(ctx, condition->args[0], err));
    tg_buf_addz(ctx->out, " AND ");
    TG_TRY(tg_print_condition(ctx, condition->args[1], err));
    tg_buf_addc(ctx->out, ')');
    ctx->depth--;
    return TG_OK;
}
