/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which casts Spark's ANSI mode allows. How they are computed is print_cast.c's.
 *
 * Source: Spark's documentation "ANSI Compliance", table of the cast pairs.
 */
#include "sql/functions_int.h"

typedef enum cast_verdict {
    CAST_YES,
    CAST_NO,
    CAST_NO_BUT_FUNCTION, /* a function does it: unix_date, date_from_unix_date */
    CAST_NO_BUT_LEGACY    /* only without ANSI mode */
} cast_verdict;

static cast_verdict judge_from_number(const tg_type *from, const tg_type *to)
{
    if (tg_type_is_numeric(to) || to->kind == TG_TYPE_BOOLEAN || to->kind == TG_TYPE_TIMESTAMP) {
        return CAST_YES;
    }
    if (to->kind == TG_TYPE_DATE) {
        return CAST_NO_BUT_FUNCTION;
    }
    if (tg_type_is_interval(to)) {
        return tg_type_is_integer(from) && to->from == to->to ? CAST_YES : CAST_NO;
    }
    return to->kind == TG_TYPE_BINARY && tg_type_is_integer(from) ? CAST_NO_BUT_LEGACY : CAST_NO;
}

static cast_verdict judge_from_time(const tg_type *from, const tg_type *to)
{
    if (tg_type_is_datetime(to)) {
        return CAST_YES;
    }
    if (from->kind == TG_TYPE_TIMESTAMP) {
        return tg_type_is_numeric(to)        ? CAST_YES
               : to->kind == TG_TYPE_BOOLEAN ? CAST_NO_BUT_LEGACY
                                             : CAST_NO;
    }
    return from->kind == TG_TYPE_DATE && tg_type_is_numeric(to) ? CAST_NO_BUT_FUNCTION : CAST_NO;
}

static cast_verdict judge(const tg_type *from, const tg_type *to);

static cast_verdict judge_nested(const tg_type *from, const tg_type *to)
{
    if (from->kind != to->kind) {
        return CAST_NO;
    }
    if (from->kind != TG_TYPE_STRUCT) {
        cast_verdict verdict = judge(from->element, to->element);
        return verdict != CAST_YES || from->kind == TG_TYPE_ARRAY ? verdict
                                                                  : judge(from->key, to->key);
    }
    if (from->field_count != to->field_count) {
        return CAST_NO;
    }
    for (size_t i = 0; i < from->field_count; i++) {
        cast_verdict verdict = judge(from->fields[i].type, to->fields[i].type);
        if (verdict != CAST_YES) {
            return verdict;
        }
    }
    return CAST_YES;
}

static cast_verdict judge(const tg_type *from, const tg_type *to)
{
    if (tg_type_equal(from, to) || from->kind == TG_TYPE_VOID) {
        return CAST_YES;
    }
    if (from->kind == TG_TYPE_VARIANT || to->kind == TG_TYPE_VARIANT) {
        return CAST_NO;
    }
    if (to->kind == TG_TYPE_STRING) {
        return CAST_YES;
    }
    if (tg_type_is_nested(from) || tg_type_is_nested(to)) {
        return judge_nested(from, to);
    }
    if (from->kind == TG_TYPE_STRING) {
        return to->kind == TG_TYPE_VOID ? CAST_NO : CAST_YES;
    }
    if (tg_type_is_numeric(from)) {
        return judge_from_number(from, to);
    }
    if (from->kind == TG_TYPE_BOOLEAN) {
        return tg_type_is_numeric(to)          ? CAST_YES
               : to->kind == TG_TYPE_TIMESTAMP ? CAST_NO_BUT_LEGACY
                                               : CAST_NO;
    }
    if (tg_type_is_datetime(from)) {
        return judge_from_time(from, to);
    }
    if (tg_type_is_interval(from)) {
        return from->kind == to->kind || tg_type_is_integer(to) ? CAST_YES : CAST_NO;
    }
    return CAST_NO; /* BINARY goes to STRING only */
}

bool tg_sql_cast_uses_zone(const tg_type *from, const tg_type *to)
{
    if (from->kind == TG_TYPE_TIMESTAMP) {
        return to->kind == TG_TYPE_STRING || to->kind == TG_TYPE_DATE ||
               to->kind == TG_TYPE_TIMESTAMP_NTZ;
    }
    if (to->kind == TG_TYPE_TIMESTAMP) {
        return from->kind == TG_TYPE_STRING || from->kind == TG_TYPE_DATE ||
               from->kind == TG_TYPE_TIMESTAMP_NTZ;
    }
    if (from->kind == TG_TYPE_STRUCT) {
        for (size_t i = 0; i < from->field_count; i++) {
            const tg_type *target = to->kind == TG_TYPE_STRUCT ? to->fields[i].type : to;
            if (tg_sql_cast_uses_zone(from->fields[i].type, target)) {
                return true;
            }
        }
        return false;
    }
    if (from->kind == TG_TYPE_ARRAY || from->kind == TG_TYPE_MAP) {
        bool is_text = to->kind == TG_TYPE_STRING;
        return tg_sql_cast_uses_zone(from->element, is_text ? to : to->element) ||
               (from->kind == TG_TYPE_MAP &&
                tg_sql_cast_uses_zone(from->key, is_text ? to : to->key));
    }
    return false;
}

/*
 * 'epoch', 'today' ... in a literal: only there, as Spark replaces them before it runs. False: no
 * such word.
 */
static bool special_time(tg_fn_context *ctx, const tg_bexpr *expr, const tg_type *to, tg_value *out)
{
    tg_str text;
    if (!tg_type_is_datetime(to) || !tg_fn_literal_string(expr, &text)) {
        return false;
    }
    text = tg_str_trim(text);
    int64_t local = tg_zone_local_us(ctx->zone, ctx->now_us);
    int64_t day = tg_floor_div(local, TG_US_PER_DAY);
    bool is_now = tg_str_ieq(text, TG_S("now"));
    if (tg_str_ieq(text, TG_S("epoch"))) {
        *out = tg_value_int(to, 0);
        return true;
    }
    if (tg_str_ieq(text, TG_S("tomorrow"))) {
        day++;
    } else if (tg_str_ieq(text, TG_S("yesterday"))) {
        day--;
    } else if (!is_now && !tg_str_ieq(text, TG_S("today"))) {
        return false;
    }
    local = is_now ? local : day * TG_US_PER_DAY;
    ctx->used_zone = true;
    if (to->kind == TG_TYPE_DATE) {
        *out = tg_value_int(to, day);
    } else {
        *out = tg_value_int(to, to->kind == TG_TYPE_TIMESTAMP ? tg_zone_to_us(ctx->zone, local)
                                                              : local);
    }
    return true;
}

static tg_code refuse(tg_fn_context *ctx, const tg_bexpr *expr, const tg_type *to,
                      cast_verdict verdict, tg_span span, tg_error *err)
{
    const char *from_text = tg_type_ddl(ctx->arena, expr->type).ptr,
               *to_text = tg_type_ddl(ctx->arena, to).ptr;
    switch (verdict) {
    case CAST_NO_BUT_FUNCTION:
        (void)TG_ERR(err, DATATYPE_MISMATCH_CAST_WITH_FUNC_SUGGESTION, "cannot cast %s to %s",
                     from_text, to_text);
        (void)tg_error_hint(err, "Use %s instead.",
                            to->kind == TG_TYPE_DATE ? "date_from_unix_date" : "unix_date");
        break;
    case CAST_NO_BUT_LEGACY:
        (void)TG_ERR(err, DATATYPE_MISMATCH_CAST_WITH_CONF_SUGGESTION,
                     "cannot cast %s to %s in ANSI mode", from_text, to_text);
        break;
    default:
        (void)TG_ERR(err, DATATYPE_MISMATCH_CAST_WITHOUT_SUGGESTION, "cannot cast %s to %s",
                     from_text, to_text);
        break;
    }
    return tg_fn_at(span, err, TG_INVALID_ARGUMENT);
}

tg_code tg_sql_cast(tg_fn_context *ctx, tg_bexpr *expr, const tg_type *to, tg_cast_mode mode,
                    tg_span span, tg_bexpr **out, tg_error *err)
{
    if (tg_type_equal(expr->type, to)) {
        *out = expr;
        return TG_OK;
    }
    cast_verdict verdict = judge(expr->type, to);
    if (verdict != CAST_YES) {
        return refuse(ctx, expr, to, verdict, span, err);
    }
    tg_value value;
    if (special_time(ctx, expr, to, &value)) {
        *out = tg_bexpr_literal(ctx->arena, value, span);
        return TG_OK;
    }
    ctx->used_zone = ctx->used_zone || tg_sql_cast_uses_zone(expr->type, to);
    tg_bexpr *cast = tg_fn_cast(ctx->arena, expr, to);
    bool is_from_double = tg_type_is_floating(expr->type);
    /* NaN and infinities become NULL decimals. */
    cast->nullable =
        expr->nullable || mode == TG_CAST_TRY || (is_from_double && to->kind == TG_TYPE_DECIMAL);
    cast->cast_mode = mode;
    cast->span = span;
    *out = cast;
    return TG_OK;
}
