/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates, timestamps, intervals: arithmetic, units, fields.
 *
 * A TIMESTAMP is an instant; its fields are those of the session zone. Templates turn it into local
 * time first ($L1), work with DuckDB's zone-free functions, and turn the result back ($I).
 * Intervals are plain numbers of months or microseconds.
 */
#include "sql/functions_int.h"

static const tg_type *day_to_second(tg_arena *arena)
{
    return tg_type_interval(arena, TG_FIELD_DAY, TG_FIELD_SECOND);
}

static const tg_type *year_to_month(tg_arena *arena)
{
    return tg_type_interval(arena, TG_FIELD_YEAR, TG_FIELD_MONTH);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* A time plus or minus an interval; time and interval are the arguments' numbers. */
static tg_code time_and_interval(tg_fn_context *ctx, tg_bexpr *call, int time, int interval,
                                 char sign, tg_error *err)
{
    if (call->args[time]->type->kind == TG_TYPE_STRING) {
        return tg_fn_unsupported(
            call, err, "for a string and an interval: cast the string to a date or timestamp");
    }
    const tg_type *type = call->args[time]->type, *step = call->args[interval]->type;
    const char *text, *minus = sign == '-' ? "-" : "";
    if (step->kind == TG_TYPE_INTERVAL_YM) {
        if (type->kind == TG_TYPE_DATE) {
            text = tg_arena_printf(ctx->arena, "tg_add_months($%d, %s$%d)", time + 1, minus,
                                   interval + 1);
        } else {
            bool is_instant = type->kind == TG_TYPE_TIMESTAMP;
            text = tg_arena_printf(ctx->arena, "%stg_add_months_local($L%d, %s$%d)%s",
                                   is_instant ? "$I(" : "", time + 1, minus, interval + 1,
                                   is_instant ? ")" : "");
        }
        return tg_fn_resolve_to(ctx, call, type, text);
    }
    if (type->kind == TG_TYPE_DATE && step->to == TG_FIELD_DAY) {
        text = tg_arena_printf(ctx->arena, "($%d %c CAST(($%d // 86400000000) AS INTEGER))",
                               time + 1, sign, interval + 1);
        return tg_fn_resolve_to(ctx, call, type, text);
    }
    if (type->kind == TG_TYPE_DATE) {
        TG_TRY(tg_fn_coerce(ctx, call, (size_t)time, tg_type_of(TG_TYPE_TIMESTAMP), err));
        type = call->args[time]->type;
    }
    /* 24 hours are a day of the calendar in the session zone, as Spark has it. */
    bool is_instant = type->kind == TG_TYPE_TIMESTAMP;
    ctx->used_zone = ctx->used_zone || is_instant;
    if (is_instant && !tg_str_ieq(tg_zone_name(ctx->zone), TG_S("UTC"))) {
        text = tg_arena_printf(ctx->arena, "tg_add_day_time($%d, %s$%d, $Z)", time + 1, minus,
                               interval + 1);
        return tg_fn_resolve_to(ctx, call, type, text);
    }
    text = tg_arena_printf(ctx->arena, "make_timestamp%s((epoch_us($%d) %c $%d))",
                           is_instant ? "tz" : "", time + 1, sign, interval + 1);
    return tg_fn_resolve_to(ctx, call, type, text);
}

static tg_code time_and_days(tg_fn_context *ctx, tg_bexpr *call, size_t date, size_t days,
                             char sign, tg_error *err)
{
    const tg_type *type = call->args[days]->type;
    bool fits = type->kind == TG_TYPE_INT || type->kind == TG_TYPE_SMALLINT ||
                type->kind == TG_TYPE_TINYINT;
    if (!fits || call->args[date]->type->kind != TG_TYPE_DATE) {
        return tg_fn_type_error(call, days, "a whole number of days (INT) beside a DATE", err);
    }
    TG_TRY(tg_fn_coerce(ctx, call, days, tg_type_of(TG_TYPE_INT), err));
    return tg_fn_resolve_to(ctx, call, call->args[date]->type,
                            tg_arena_printf(ctx->arena, "tg_date_add($%zu, %s$%zu)", date + 1,
                                            sign == '-' ? "-" : "", days + 1));
}

/* time - time; a string yields to the other side. */
static tg_code time_minus_time(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    bool both_dates = (left->kind == TG_TYPE_DATE || left->kind == TG_TYPE_STRING) &&
                      (right->kind == TG_TYPE_DATE || right->kind == TG_TYPE_STRING);
    if (both_dates) {
        for (size_t i = 0; i < 2; i++) {
            TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_DATE), err));
        }
        return tg_fn_resolve_to(ctx, call, tg_type_interval(ctx->arena, TG_FIELD_DAY, TG_FIELD_DAY),
                                "(CAST(($1 - $2) AS BIGINT) * CAST(86400000000 AS BIGINT))");
    }
    bool local = left->kind == TG_TYPE_TIMESTAMP_NTZ || right->kind == TG_TYPE_TIMESTAMP_NTZ;
    bool instant = left->kind == TG_TYPE_TIMESTAMP || right->kind == TG_TYPE_TIMESTAMP;
    const tg_type *common =
        tg_type_of(local && !instant ? TG_TYPE_TIMESTAMP_NTZ : TG_TYPE_TIMESTAMP);
    for (size_t i = 0; i < 2; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, common, err));
    }
    return tg_fn_resolve_to(ctx, call, day_to_second(ctx->arena), "(epoch_us($1) - epoch_us($2))");
}

static tg_code interval_and_interval(tg_fn_context *ctx, tg_bexpr *call, char sign, tg_error *err)
{
    const tg_type *common =
        tg_sql_common_type(ctx->arena, call->args[0]->type, call->args[1]->type);
    if (!common || (sign != '+' && sign != '-')) {
        return tg_fn_operands_error(ctx, call, err);
    }
    return tg_fn_resolve_to(ctx, call, common, sign == '+' ? "($1 + $2)" : "($1 - $2)");
}

/* interval * number, number * interval, interval / number */
static tg_code scaled_interval(tg_fn_context *ctx, tg_bexpr *call, size_t interval, size_t number,
                               char sign, tg_error *err)
{
    TG_TRY(tg_fn_coerce_numeric(ctx, call, number, err));
    bool is_months = call->args[interval]->type->kind == TG_TYPE_INTERVAL_YM;
    if (call->args[number]->type->kind == TG_TYPE_DECIMAL) {
        TG_TRY(tg_fn_coerce(ctx, call, number, tg_type_of(TG_TYPE_DOUBLE), err));
    }
    bool is_whole = tg_type_is_integer(call->args[number]->type);
    const char *cast_to = is_whole ? "BIGINT" : "DOUBLE";
    const char *name = sign == '*' ? "mul" : "div";
    const char *text = tg_arena_printf(
        ctx->arena, "CAST(tg_interval_%s(CAST($%zu AS BIGINT), CAST($%zu AS %s)) AS $T)", name,
        interval + 1, number + 1, cast_to);
    return tg_fn_resolve_to(
        ctx, call, is_months ? year_to_month(ctx->arena) : day_to_second(ctx->arena), text);
}

tg_code tg_fn_resolve_datetime_arithmetic(tg_fn_context *ctx, tg_bexpr *call, char sign,
                                          bool *out_is_done, tg_error *err)
{
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    bool involved = tg_type_is_datetime(left) || tg_type_is_datetime(right) ||
                    tg_type_is_interval(left) || tg_type_is_interval(right);
    *out_is_done = involved;
    if (!involved) {
        return TG_OK;
    }
    if (tg_type_is_interval(left) && tg_type_is_interval(right)) {
        return interval_and_interval(ctx, call, sign, err);
    }
    if (sign == '*' || sign == '/') {
        bool left_is_interval = tg_type_is_interval(left);
        if ((!left_is_interval && !tg_type_is_interval(right)) ||
            (!left_is_interval && sign == '/')) {
            return tg_fn_operands_error(ctx, call, err);
        }
        return scaled_interval(ctx, call, left_is_interval ? 0 : 1, left_is_interval ? 1 : 0, sign,
                               err);
    }
    if (sign == '%') {
        return tg_fn_operands_error(ctx, call, err);
    }
    if (tg_type_is_interval(right)) {
        return tg_type_is_datetime(left) || left->kind == TG_TYPE_STRING
                   ? time_and_interval(ctx, call, 0, 1, sign, err)
                   : tg_fn_operands_error(ctx, call, err);
    }
    if (tg_type_is_interval(left)) {
        bool fits = sign == '+' && (tg_type_is_datetime(right) || right->kind == TG_TYPE_STRING);
        return fits ? time_and_interval(ctx, call, 1, 0, sign, err)
                    : tg_fn_operands_error(ctx, call, err);
    }
    bool right_is_timelike = tg_type_is_datetime(right) || right->kind == TG_TYPE_STRING,
         left_is_timelike = tg_type_is_datetime(left) || left->kind == TG_TYPE_STRING;
    if (sign == '-' && left_is_timelike && right_is_timelike) {
        return time_minus_time(ctx, call, err);
    }
    if (tg_type_is_datetime(left) && tg_type_is_datetime(right)) {
        return tg_fn_type_error(call, 1, "a number of days or an interval", err);
    }
    return tg_type_is_datetime(left) ? time_and_days(ctx, call, 0, 1, sign, err)
           : sign == '+'             ? time_and_days(ctx, call, 1, 0, sign, err)
                                     : tg_fn_operands_error(ctx, call, err);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Units of timestampadd and timestampdiff. */
static const char *unit_name(tg_str text)
{
    static const char *const units[] = {"MICROSECOND", "MILLISECOND", "SECOND",    "MINUTE",
                                        "HOUR",        "DAY",         "DAYOFYEAR", "WEEK",
                                        "MONTH",       "QUARTER",     "YEAR"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (tg_str_ieq(text, tg_str_from(units[i]))) {
            return strcmp(units[i], "DAYOFYEAR") == 0 ? "DAY" : units[i];
        }
    }
    return NULL;
}

static tg_code require_unit(const tg_bexpr *call, const char **out_unit, tg_error *err)
{
    tg_str text;
    if (!tg_fn_literal_string(call->args[0], &text) || !(*out_unit = unit_name(text))) {
        return tg_fn_at(call->args[0]->span, err,
                        TG_ERR(err, INVALID_PARAMETER_VALUE_DATETIME_UNIT,
                               "`%s` needs a unit like DAY or MONTH", call->function->name));
    }
    return TG_OK;
}

TG_FN_RESOLVER(date_add)
{
    if (call->arg_count == 2) {
        const tg_type *days = call->args[1]->type;
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_DATE), err));
        if (days->kind == TG_TYPE_BIGINT ||
            (tg_type_is_numeric(days) && !tg_type_is_integer(days))) {
            return tg_fn_type_error(call, 1, "INT", err);
        }
        TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
        bool is_sub = strcmp(call->function->name, "date_sub") == 0;
        return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_DATE),
                                is_sub ? "tg_date_add($1, -$2)" : "tg_date_add($1, $2)");
    }
    const char *unit;
    TG_TRY(require_unit(call, &unit, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_BIGINT), err));
    bool is_local = call->args[2]->type->kind == TG_TYPE_TIMESTAMP_NTZ;
    TG_TRY(tg_fn_coerce(ctx, call, 2,
                        tg_type_of(is_local ? TG_TYPE_TIMESTAMP_NTZ : TG_TYPE_TIMESTAMP), err));
    bool is_short =
        strstr(unit, "SECOND") || strcmp(unit, "MINUTE") == 0 || strcmp(unit, "HOUR") == 0;
    const char *before = is_local   ? "tg_timestamp_add("
                         : is_short ? "make_timestamptz(epoch_us(tg_timestamp_add("
                                    : "$I(tg_timestamp_add(";
    const char *after = is_local ? "$3)" : is_short ? "make_timestamp(epoch_us($3)))))" : "$L3))";
    return tg_fn_resolve_to(ctx, call, call->args[2]->type,
                            tg_arena_printf(ctx->arena, "%s'%s', $2, %s", before, unit, after));
}

TG_FN_RESOLVER(date_diff)
{
    if (call->arg_count == 2) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_DATE), err));
        TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_DATE), err));
        return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_INT), "CAST(($1 - $2) AS INTEGER)");
    }
    const char *unit;
    TG_TRY(require_unit(call, &unit, err));
    for (size_t i = 1; i < 3; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_TIMESTAMP), err));
    }
    return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_BIGINT),
                            tg_arena_printf(ctx->arena, "tg_timestamp_diff('%s', $L2, $L3)", unit));
}

TG_FN_RESOLVER(months_between)
{
    for (size_t i = 0; i < 2; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_TIMESTAMP), err));
    }
    if (call->arg_count == 3) {
        TG_TRY(tg_fn_coerce(ctx, call, 2, tg_type_of(TG_TYPE_BOOLEAN), err));
    }
    return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_DOUBLE),
                            call->arg_count == 3 ? "tg_months_between($L1, $L2, $3)"
                                                 : "tg_months_between($L1, $L2, TRUE)");
}

/* ---- truncation ------------------------------------------------------------------------------ */

/* The DuckDB unit of a Spark unit, NULL when Spark gives NULL. */
static const char *trunc_unit(tg_str text, bool is_date)
{
    static const struct {
        const char *spark, *duckdb;
        bool for_date;
    } units[] = {{"YEAR", "year", true},
                 {"YYYY", "year", true},
                 {"YY", "year", true},
                 {"QUARTER", "quarter", true},
                 {"MONTH", "month", true},
                 {"MM", "month", true},
                 {"MON", "month", true},
                 {"WEEK", "week", true},
                 {"DAY", "day", false},
                 {"DD", "day", false},
                 {"HOUR", "hour", false},
                 {"MINUTE", "minute", false},
                 {"SECOND", "second", false},
                 {"MILLISECOND", "millisecond", false},
                 {"MICROSECOND", "microsecond", false}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (tg_str_ieq(text, tg_str_from(units[i].spark)) && (!is_date || units[i].for_date)) {
            return units[i].duckdb;
        }
    }
    return NULL;
}

/* index: the argument that is the unit. */
static tg_code resolve_trunc(tg_fn_context *ctx, tg_bexpr *call, size_t index, bool is_date,
                             tg_error *err)
{
    tg_str text;
    tg_value value;
    const tg_type *type = tg_type_of(is_date ? TG_TYPE_DATE : TG_TYPE_TIMESTAMP);
    TG_TRY(tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(tg_fn_coerce(ctx, call, 1 - index, type, err));
    const char *result = "CAST(NULL AS $T)";
    if (tg_fn_literal_string(call->args[index], &text)) {
        const char *unit = trunc_unit(text, is_date);
        if (unit) {
            result =
                tg_arena_printf(ctx->arena, "%s(date_trunc('%s', %s)%s)", is_date ? "CAST" : "$I",
                                unit, is_date ? "$1" : "$L2", is_date ? " AS DATE" : "");
        }
    } else if (!tg_fn_literal(call->args[index], &value) || !value.is_null) {
        return tg_fn_unsupported(call, err, "with a unit that is not a constant");
    }
    TG_TRY(tg_fn_resolve_to(ctx, call, type, result));
    call->nullable = true;
    return TG_OK;
}

TG_FN_RESOLVER(trunc)
{
    return resolve_trunc(ctx, call, 1, true, err);
}

TG_FN_RESOLVER(date_trunc)
{
    return resolve_trunc(ctx, call, 0, false, err);
}

/* ---- fields ---------------------------------------------------------------------------------- */

TG_FN_RESOLVER(local_int)
{
    bool is_local = call->args[0]->type->kind == TG_TYPE_TIMESTAMP_NTZ;
    if (!is_local) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_TIMESTAMP), err));
        ctx->used_zone = true;
    }
    call->type = tg_type_of(TG_TYPE_INT);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

/* Names of a field, separated by blanks; how a time and an interval give it. */
typedef struct extract_field {
    const char *names;
    const char *from_date;  /* over $2, a DATE */
    const char *from_local; /* over $L2; NULL: by its date */
    const char
        *from_interval; /* over $2, months or microseconds; NULL: intervals have no such field */
    tg_type_kind interval_kind, interval_result;
} extract_field;

static const extract_field extract_fields[] = {
    {"YEAR Y YEARS YR YRS", "CAST(year($2) AS INTEGER)", NULL, "CAST(($2 // 12) AS INTEGER)",
     TG_TYPE_INTERVAL_YM, TG_TYPE_INT},
    {"MONTH MON MONS MONTHS", "CAST(month($2) AS INTEGER)", NULL, "CAST(($2 % 12) AS TINYINT)",
     TG_TYPE_INTERVAL_YM, TG_TYPE_TINYINT},
    {"DAY D DAYS", "CAST(day($2) AS INTEGER)", NULL, "CAST(($2 // 86400000000) AS INTEGER)",
     TG_TYPE_INTERVAL_DT, TG_TYPE_INT},
    {"HOUR H HOURS HR HRS", NULL, "CAST(hour($L2) AS INTEGER)",
     "CAST((($2 // 3600000000) % 24) AS TINYINT)", TG_TYPE_INTERVAL_DT, TG_TYPE_TINYINT},
    {"MINUTE M MIN MINS MINUTES", NULL, "CAST(minute($L2) AS INTEGER)",
     "CAST((($2 // 60000000) % 60) AS TINYINT)", TG_TYPE_INTERVAL_DT, TG_TYPE_TINYINT},
    {"SECOND S SEC SECONDS SECS", NULL,
     "CAST((CAST(microsecond($L2) AS DECIMAL(18,0)) * CAST('0.000001' AS DECIMAL(6,6))) AS "
     "DECIMAL(8,6))",
     "CAST((CAST(($2 % 60000000) AS DECIMAL(18,0)) * CAST('0.000001' AS DECIMAL(6,6))) AS "
     "DECIMAL(8,6))",
     TG_TYPE_INTERVAL_DT, TG_TYPE_DECIMAL},
    {"QUARTER QTR", "CAST(quarter($2) AS INTEGER)", NULL, NULL, TG_TYPE_VOID, TG_TYPE_VOID},
    {"WEEK W WEEKS", "CAST(weekofyear($2) AS INTEGER)", NULL, NULL, TG_TYPE_VOID, TG_TYPE_VOID},
    {"YEAROFWEEK", "CAST(isoyear($2) AS INTEGER)", NULL, NULL, TG_TYPE_VOID, TG_TYPE_VOID},
    {"DAYOFWEEK DOW", "CAST(dayofweek($2) + 1 AS INTEGER)", NULL, NULL, TG_TYPE_VOID, TG_TYPE_VOID},
    {"DAYOFWEEK_ISO DOW_ISO", "CAST(isodow($2) AS INTEGER)", NULL, NULL, TG_TYPE_VOID,
     TG_TYPE_VOID},
    {"DOY", "CAST(dayofyear($2) AS INTEGER)", NULL, NULL, TG_TYPE_VOID, TG_TYPE_VOID},
};

static bool has_word(const char *words, tg_str word)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        if (tg_str_ieq((tg_str){words, len}, word)) {
            return true;
        }
        words += len + (words[len] == ' ');
    }
    return false;
}

static tg_code unknown_field(tg_fn_context *ctx, const tg_bexpr *call, tg_error *err)
{
    return tg_fn_at(call->args[0]->span, err,
                    TG_ERR(err, INVALID_EXTRACT_FIELD, "`%s` does not know this field of %s",
                           call->function->name, tg_type_ddl(ctx->arena, call->args[1]->type).ptr));
}

TG_FN_RESOLVER(extract)
{
    tg_str name;
    if (!tg_fn_literal_string(call->args[0], &name)) {
        return tg_fn_unsupported(call, err, "with a field that is not a constant");
    }
    const extract_field *field = NULL;
    for (size_t i = 0; i < sizeof(extract_fields) / sizeof(extract_fields[0]); i++) {
        field = has_word(extract_fields[i].names, name) ? &extract_fields[i] : field;
    }
    const tg_type *source = call->args[1]->type;
    if (!field || (tg_type_is_interval(source) && field->interval_kind != source->kind)) {
        return unknown_field(ctx, call, err);
    }
    bool is_second = field->interval_result == TG_TYPE_DECIMAL;
    const tg_type *seconds = tg_type_decimal(ctx->arena, 8, 6);
    if (tg_type_is_interval(source)) {
        return tg_fn_resolve_to(ctx, call, is_second ? seconds : tg_type_of(field->interval_result),
                                field->from_interval);
    }
    if (field->from_date) {
        TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_DATE), err));
    } else if (source->kind != TG_TYPE_TIMESTAMP_NTZ) {
        TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_TIMESTAMP), err));
    }
    return tg_fn_resolve_to(ctx, call, is_second ? seconds : tg_type_of(TG_TYPE_INT),
                            field->from_date ? field->from_date : field->from_local);
}

/* ---- the clock ------------------------------------------------------------------------------- */

TG_FN_RESOLVER(now)
{
    (void)err;
    const char *name = call->function->name;
    int64_t local = tg_zone_local_us(ctx->zone, ctx->now_us);
    tg_value value;
    bool is_date = strcmp(name, "current_date") == 0 || strcmp(name, "curdate") == 0;
    bool is_instant = strcmp(name, "now") == 0 || strcmp(name, "current_timestamp") == 0;
    ctx->used_zone = ctx->used_zone || !is_instant;
    if (strcmp(name, "current_timezone") == 0) {
        value = tg_value_bytes(tg_type_of(TG_TYPE_STRING), tg_zone_name(ctx->zone));
    } else if (strcmp(name, "localtimestamp") == 0) {
        value = tg_value_int(tg_type_of(TG_TYPE_TIMESTAMP_NTZ), local);
    } else if (is_date) {
        value = tg_value_int(tg_type_of(TG_TYPE_DATE), tg_floor_div(local, TG_US_PER_DAY));
    } else {
        value = tg_value_int(tg_type_of(TG_TYPE_TIMESTAMP), ctx->now_us);
    }
    *call = *tg_bexpr_literal(ctx->arena, value, call->span);
    return TG_OK;
}

/* ---- intervals ------------------------------------------------------------------------------- */

TG_FN_RESOLVER(interval)
{
    static const struct {
        const char *name;
        tg_interval_field field;
        int64_t unit;
    } units[] = {{"YEAR", TG_FIELD_YEAR, 12},
                 {"MONTH", TG_FIELD_MONTH, 1},
                 {"WEEK", TG_FIELD_DAY, 7 * TG_US_PER_DAY},
                 {"DAY", TG_FIELD_DAY, TG_US_PER_DAY},
                 {"HOUR", TG_FIELD_HOUR, 3600 * TG_US_PER_SECOND},
                 {"MINUTE", TG_FIELD_MINUTE, 60 * TG_US_PER_SECOND},
                 {"SECOND", TG_FIELD_SECOND, TG_US_PER_SECOND},
                 {"MILLISECOND", TG_FIELD_SECOND, 1000},
                 {"MICROSECOND", TG_FIELD_SECOND, 1}};
    tg_str name;
    if (!tg_fn_literal_string(call->args[1], &name)) {
        return tg_fn_unsupported(call, err, "with a unit that is not a constant");
    }
    bool is_plural = name.len > 1 && (name.ptr[name.len - 1] | 0x20) == 's';
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        tg_str unit = tg_str_from(units[i].name);
        if (!tg_str_ieq(name, unit) &&
            !(is_plural && tg_str_ieq(tg_str_sub(name, 0, name.len - 1), unit))) {
            continue;
        }
        bool is_months = units[i].field <= TG_FIELD_MONTH;
        const tg_type *number = tg_type_of(is_months ? TG_TYPE_INT : TG_TYPE_BIGINT);
        if (!tg_type_is_integer(call->args[0]->type)) {
            return tg_fn_type_error(call, 0, "a whole number", err);
        }
        TG_TRY(tg_fn_coerce(ctx, call, 0, number, err));
        call->args[1] =
            tg_bexpr_literal(ctx->arena, tg_value_int(number, units[i].unit), call->args[1]->span);
        call->type = tg_type_interval(ctx->arena, units[i].field, units[i].field);
        call->nullable = call->args[0]->nullable;
        return TG_OK;
    }
    return tg_fn_unsupported(call, err, "with this unit");
}

TG_FN_RESOLVER(make_dt_interval)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const tg_type *to = i < 3 ? tg_type_of(TG_TYPE_INT) : tg_type_decimal(ctx->arena, 18, 6);
        TG_TRY(tg_fn_coerce(ctx, call, i, to, err));
    }
    call->type = day_to_second(ctx->arena);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_RESOLVER(make_ym_interval)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_INT), err));
    }
    call->type = year_to_month(ctx->arena);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}
