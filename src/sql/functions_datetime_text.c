/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times from and to text, numbers and fields; zones.
 */
#include "sql/datetime_pattern.h"
#include "sql/functions_int.h"

/* A constant pattern is checked here; others when the query runs. */
static tg_code check_pattern(tg_fn_context *ctx, const tg_bexpr *arg, bool for_parsing,
                             tg_error *err)
{
    tg_str text;
    tg_datetime_pattern pattern;
    const char *why = "";
    if (!tg_fn_literal_string(arg, &text)) {
        return TG_OK;
    }
    tg_pattern_verdict verdict = tg_datetime_pattern_compile(text, for_parsing, &pattern, &why);
    if (verdict == TG_PATTERN_INVALID) {
        return tg_fn_at(arg->span, err,
                        TG_ERR(err, INVALID_DATETIME_PATTERN,
                               "the datetime pattern '%.*s' is not valid: %s", TG_SARG(text), why));
    }
    bool is_utc = tg_str_ieq(tg_zone_name(ctx->zone), TG_S("UTC"));
    if (verdict == TG_PATTERN_UNSUPPORTED || (pattern.needs_zone_name && !is_utc)) {
        return tg_fn_at(arg->span, err,
                        TG_ERR(err, UNSUPPORTED_FEATURE,
                               "the datetime pattern '%.*s' is not available: %s", TG_SARG(text),
                               verdict == TG_PATTERN_OK ? "it names the zone" : why));
    }
    return TG_OK;
}

TG_FN_RESOLVER(date_format)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_TIMESTAMP), err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(check_pattern(ctx, call->args[1], false, err));
    return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_STRING), "$Z");
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* to_date(x), to_timestamp(x): a cast. */
static tg_code resolve_as_cast(tg_fn_context *ctx, tg_bexpr *call, tg_type_kind kind, tg_error *err)
{
    tg_cast_mode mode = tg_fn_is_try(call) ? TG_CAST_TRY : TG_CAST_ANSI;
    TG_TRY(
        tg_sql_cast(ctx, call->args[0], tg_type_of(kind), mode, call->span, &call->args[0], err));
    return tg_fn_resolve_to(ctx, call, tg_type_of(kind), "$1");
}

static tg_code resolve_parse(tg_fn_context *ctx, tg_bexpr *call, tg_type_kind kind, tg_error *err)
{
    tg_type_kind source = call->args[0]->type->kind;
    if (call->arg_count == 1 || source == TG_TYPE_DATE || source == TG_TYPE_TIMESTAMP ||
        source == TG_TYPE_TIMESTAMP_NTZ) {
        return resolve_as_cast(ctx, call, kind, err);
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(check_pattern(ctx, call->args[1], true, err));
    const char *before =
        kind == TG_TYPE_DATE ? "tg_parse_date($1, $2" : "tg_parse_timestamp($1, $2, $Z";
    return tg_fn_resolve_to(ctx, call, tg_type_of(kind),
                            tg_arena_printf(ctx->arena, "%s, %s)", before, tg_fn_try_flag(call)));
}

TG_FN_RESOLVER(to_date)
{
    return resolve_parse(ctx, call, TG_TYPE_DATE, err);
}

TG_FN_RESOLVER(to_timestamp)
{
    bool is_local = strcmp(call->function->name, "to_timestamp_ntz") == 0;
    return resolve_parse(ctx, call, is_local ? TG_TYPE_TIMESTAMP_NTZ : TG_TYPE_TIMESTAMP, err);
}

TG_FN_RESOLVER(unix_timestamp)
{
    if (call->arg_count == 0) {
        return tg_fn_unsupported(call, err, "without an argument: use unix_seconds(now())");
    }
    tg_type_kind source = call->args[0]->type->kind;
    if (source == TG_TYPE_DATE || source == TG_TYPE_TIMESTAMP || source == TG_TYPE_TIMESTAMP_NTZ) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_TIMESTAMP), err));
        return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_BIGINT),
                                "tg_floor_div(epoch_us($1), 1000000)");
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_STRING), err));
    if (call->arg_count == 1) {
        return tg_fn_resolve_to(
            ctx, call, tg_type_of(TG_TYPE_BIGINT),
            "tg_floor_div(epoch_us(tg_parse_timestamp($1, 'yyyy-MM-dd HH:mm:ss', $Z, "
            "FALSE)), 1000000)");
    }
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(check_pattern(ctx, call->args[1], true, err));
    return tg_fn_resolve_to(
        ctx, call, tg_type_of(TG_TYPE_BIGINT),
        "tg_floor_div(epoch_us(tg_parse_timestamp($1, $2, $Z, FALSE)), 1000000)");
}

TG_FN_RESOLVER(from_unixtime)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BIGINT), err));
    if (call->arg_count == 2) {
        TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_STRING), err));
        TG_TRY(check_pattern(ctx, call->args[1], false, err));
    }
    return tg_fn_resolve_to(
        ctx, call, tg_type_of(TG_TYPE_STRING),
        call->arg_count == 2
            ? "tg_date_format(make_timestamptz($1 * CAST(1000000 AS BIGINT)), $2, $Z)"
            : "tg_date_format(make_timestamptz($1 * CAST(1000000 AS BIGINT)), 'yyyy-MM-dd "
              "HH:mm:ss', $Z)");
}

/* ---- from fields and numbers ----------------------------------------------------------------- */

TG_FN_RESOLVER(make_timestamp)
{
    for (size_t i = 0; i < 5; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_INT), err));
    }
    TG_TRY(tg_fn_coerce(ctx, call, 5, tg_type_decimal(ctx->arena, 16, 6), err));
    bool is_local = tg_str_ends(tg_str_from(call->function->name), TG_S("_ntz"));
    const char *text =
        tg_arena_printf(ctx->arena, "%stg_make_local($1, $2, $3, $4, $5, $6, %s)%s",
                        is_local ? "" : "$I(", tg_fn_try_flag(call), is_local ? "" : ")");
    return tg_fn_resolve_to(ctx, call,
                            tg_type_of(is_local ? TG_TYPE_TIMESTAMP_NTZ : TG_TYPE_TIMESTAMP), text);
}

TG_FN_RESOLVER(timestamp_seconds)
{
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    TG_TRY(tg_sql_cast(ctx, call->args[0], tg_type_of(TG_TYPE_TIMESTAMP), TG_CAST_IMPLICIT,
                       call->span, &call->args[0], err));
    return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_TIMESTAMP), "$1");
}

TG_FN_RESOLVER(convert_timezone)
{
    size_t last = call->arg_count - 1;
    for (size_t i = 0; i < last; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_STRING), err));
    }
    TG_TRY(tg_fn_coerce(ctx, call, last, tg_type_of(TG_TYPE_TIMESTAMP_NTZ), err));
    return tg_fn_resolve_to(ctx, call, tg_type_of(TG_TYPE_TIMESTAMP_NTZ),
                            last == 1 ? "tg_zone_local(tg_zone_instant($2, $Z), $1)"
                                      : "tg_zone_local(tg_zone_instant($3, $1), $2)");
}
