/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding in C, only where the answer is certain: casts of literals between atomic types,
 * dates and timestamps plus days, months and intervals, comparisons, AND, OR, NOT, IS NULL.
 * Everything else stays for the engine.
 */
#include <math.h>

#include "sql/functions.h"
#include "sql/sql.h"
#include "sql/tree.h"

typedef struct folder {
    const tg_zone *zone;
    tg_arena *arena;
} folder;

static bool is_literal(const tg_bexpr *expr)
{
    return expr->kind == TG_B_LITERAL;
}

static tg_bexpr *literal(folder *f, tg_value value, const tg_bexpr *like)
{
    tg_bexpr *expr = tg_bexpr_literal(f->arena, value, like->span);
    expr->type = like->type;
    expr->literal.type = like->type;
    return expr;
}

static tg_bexpr *boolean(folder *f, bool value, const tg_bexpr *like)
{
    return tg_bexpr_literal(f->arena, tg_value_bool(value), like->span);
}

/* ---- casts ----------------------------------------------------------------------------------- */

/* The values that have no literal of their own, as tg_value_literal writes them. */
static bool special_double(const tg_bexpr *text, const tg_type *to, tg_value *out)
{
    static const struct {
        const char *name;
        double value;
    } SPECIALS[] = {{"NaN", (double)NAN}, {"Infinity", HUGE_VAL}, {"-Infinity", -HUGE_VAL}};
    for (size_t i = 0; i < sizeof(SPECIALS) / sizeof(*SPECIALS); i++) {
        if (text->type->kind == TG_TYPE_STRING && tg_type_is_floating(to) &&
            tg_str_eq(text->literal.as.bytes, tg_str_from(SPECIALS[i].name))) {
            *out = tg_value_double(to, SPECIALS[i].value);
            return true;
        }
    }
    return false;
}

static tg_bexpr *fold_cast(folder *f, tg_bexpr *expr)
{
    const tg_bexpr *arg = expr->args[0];
    tg_value value;
    if (!is_literal(arg) || tg_type_is_nested(expr->type)) {
        return expr;
    }
    if (arg->literal.is_null) {
        return literal(f, tg_value_null(expr->type), expr);
    }
    tg_type_kind from = arg->type->kind, to = expr->type->kind;
    if ((from == TG_TYPE_TIMESTAMP || from == TG_TYPE_TIMESTAMP_NTZ) && to == TG_TYPE_DATE) {
        int64_t us = arg->literal.as.i64;
        int64_t local = from == TG_TYPE_TIMESTAMP ? tg_zone_local_us(f->zone, us) : us;
        int64_t days = tg_floor_div(local, TG_US_PER_DAY);
        return literal(f, tg_value_int(expr->type, days), expr);
    }
    bool from_text =
        from == TG_TYPE_STRING &&
        (to == TG_TYPE_DATE || to == TG_TYPE_TIMESTAMP || to == TG_TYPE_TIMESTAMP_NTZ ||
         tg_type_is_integer(expr->type) || to == TG_TYPE_DECIMAL);
    bool widening = from != TG_TYPE_STRING && to != TG_TYPE_STRING && to != TG_TYPE_BOOLEAN &&
                    from != TG_TYPE_BOOLEAN;
    if (special_double(arg, expr->type, &value) ||
        ((from_text || widening) &&
         tg_value_cast(arg->literal, expr->type, f->zone, f->arena, &value))) {
        return literal(f, value, expr);
    }
    return expr;
}

/* ---- dates ----------------------------------------------------------------------------------- */

static bool add_months(int64_t days, int64_t months, int64_t *out)
{
    int32_t year;
    int month, day;
    if (months > 120000 || months < -120000) {
        return false;
    }
    tg_civil_from_days(days, &year, &month, &day);
    int64_t total = (int64_t)year * 12 + (month - 1) + months;
    int64_t new_year = total / 12 - (total % 12 < 0);
    int new_month = (int)(total - new_year * 12) + 1;
    if (new_year < 1 || new_year > 9999) {
        return false;
    }
    while (!tg_date_is_valid((int32_t)new_year, new_month, day)) {
        day--; /* the last day of a shorter month */
    }
    *out = tg_days_from_civil((int32_t)new_year, new_month, day);
    return true;
}

static bool in_date_range(int64_t days)
{
    return days >= -719162 && days <= 2932896; /* 0001-01-01 to 9999-12-31 */
}

/* date +/- days, month intervals, whole-day intervals; timestamp +/- day-time intervals in a zone
 * without surprises. */
static bool add_to_date(int64_t days, const tg_value *amount, int sign, int64_t *out)
{
    if (amount->type->kind == TG_TYPE_INTERVAL_YM) {
        return add_months(days, sign * amount->as.i64, out);
    }
    int64_t more;
    if (amount->type->kind == TG_TYPE_INTERVAL_DT) {
        if (amount->type->to != TG_FIELD_DAY) {
            return false;
        }
        more = amount->as.i64 / TG_US_PER_DAY;
    } else if (tg_type_is_integer(amount->type)) {
        more = amount->as.i64;
    } else {
        return false;
    }
    if (more > 4000000 || more < -4000000) {
        return false;
    }
    *out = days + sign * more;
    return in_date_range(*out);
}

static bool add_to_timestamp(int64_t us, const tg_value *amount, int sign, int64_t *out)
{
    /* Day-time intervals are exact microseconds in Spark, also across changes of the clock. */
    if (amount->type->kind != TG_TYPE_INTERVAL_DT || amount->as.i64 == INT64_MIN) {
        return false;
    }
    return !__builtin_add_overflow(us, sign * amount->as.i64, out);
}

static tg_bexpr *fold_add(folder *f, tg_bexpr *expr, int sign)
{
    const tg_value *a = &expr->args[0]->literal, *b = &expr->args[1]->literal;
    int64_t result;
    if (sign > 0 && expr->args[0]->type->kind != expr->type->kind) {
        const tg_value *swap = a;
        a = b;
        b = swap;
    }
    bool done = false;
    if (a->type->kind == TG_TYPE_DATE && expr->type->kind == TG_TYPE_DATE) {
        done = add_to_date(a->as.i64, b, sign, &result);
    } else if ((a->type->kind == TG_TYPE_TIMESTAMP || a->type->kind == TG_TYPE_TIMESTAMP_NTZ) &&
               expr->type->kind == a->type->kind) {
        done = add_to_timestamp(a->as.i64, b, sign, &result);
    }
    return done ? literal(f, tg_value_int(expr->type, result), expr) : expr;
}

/* ---- logic ----------------------------------------------------------------------------------- */

static bool is_bool(const tg_bexpr *expr, bool value)
{
    return is_literal(expr) && !expr->literal.is_null && expr->type->kind == TG_TYPE_BOOLEAN &&
           expr->literal.as.boolean == value;
}

/* Dropping a term that may raise would hide an error, so only literals decide. */
static tg_bexpr *fold_and_or(folder *f, tg_bexpr *expr, bool is_and)
{
    tg_bexpr *a = expr->args[0], *b = expr->args[1];
    if (is_bool(a, is_and)) {
        return b;
    }
    if (is_bool(b, is_and)) {
        return a;
    }
    if (is_bool(a, !is_and) && is_literal(b)) {
        return a;
    }
    if (is_bool(b, !is_and) && is_literal(a)) {
        return b;
    }
    if (is_literal(a) && is_literal(b)) {
        return literal(f, tg_value_null(expr->type),
                       expr); /* NULL with NULL or with the neutral value */
    }
    return expr;
}

static tg_bexpr *fold_comparison(folder *f, tg_bexpr *expr)
{
    const tg_value *a = &expr->args[0]->literal, *b = &expr->args[1]->literal;
    const char *name = expr->function->name;
    if (!tg_type_equal(a->type, b->type) || tg_type_is_nested(a->type)) {
        return expr;
    }
    if (a->is_null || b->is_null) {
        return strcmp(name, "<=>") == 0 ? boolean(f, a->is_null && b->is_null, expr)
                                        : literal(f, tg_value_null(expr->type), expr);
    }
    int order = tg_value_cmp(*a, *b);
    bool result = name[0] == '=' || strcmp(name, "<=>") == 0 ? order == 0
                  : strcmp(name, "<>") == 0                  ? order != 0
                  : strcmp(name, "<") == 0                   ? order < 0
                  : strcmp(name, "<=") == 0                  ? order <= 0
                  : strcmp(name, ">") == 0                   ? order > 0
                                                             : order >= 0;
    return boolean(f, result, expr);
}

static bool is_comparison(const char *name)
{
    static const char *const NAMES[] = {"=", "<>", "<", "<=", ">", ">=", "<=>"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return true;
        }
    }
    return false;
}

static tg_bexpr *fold_call(folder *f, tg_bexpr *expr)
{
    const char *name = expr->function->name;
    if (strcmp(name, "and") == 0 || strcmp(name, "or") == 0) {
        return fold_and_or(f, expr, name[0] == 'a');
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (!is_literal(expr->args[i])) {
            return expr;
        }
    }
    if (strcmp(name, "not") == 0) {
        const tg_value *value = &expr->args[0]->literal;
        return value->is_null ? literal(f, tg_value_null(expr->type), expr)
                              : boolean(f, !value->as.boolean, expr);
    }
    if (strcmp(name, "isnull") == 0 || strcmp(name, "isnotnull") == 0) {
        return boolean(f, expr->args[0]->literal.is_null == (strcmp(name, "isnull") == 0), expr);
    }
    if (expr->arg_count == 2 && is_comparison(name)) {
        return fold_comparison(f, expr);
    }
    if (strcmp(name, "negative") == 0 && !expr->args[0]->literal.is_null &&
        (tg_type_is_integer(expr->type) || tg_type_is_interval(expr->type)) &&
        expr->args[0]->literal.as.i64 > INT32_MIN && expr->args[0]->literal.as.i64 < INT32_MAX &&
        tg_type_equal(expr->type, expr->args[0]->type)) {
        return literal(f, tg_value_int(expr->type, -expr->args[0]->literal.as.i64), expr);
    }
    if (expr->arg_count != 2 || expr->args[0]->literal.is_null || expr->args[1]->literal.is_null) {
        return expr;
    }
    bool adds =
        strcmp(name, "+") == 0 || strcmp(name, "date_add") == 0 || strcmp(name, "dateadd") == 0;
    bool subtracts = strcmp(name, "-") == 0 || strcmp(name, "date_sub") == 0;
    if (adds || subtracts) {
        return fold_add(f, expr, adds ? 1 : -1);
    }
    int64_t days;
    if (strcmp(name, "add_months") == 0 && expr->args[0]->type->kind == TG_TYPE_DATE &&
        add_months(expr->args[0]->literal.as.i64, expr->args[1]->literal.as.i64, &days)) {
        return literal(f, tg_value_int(expr->type, days), expr);
    }
    return expr;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static tg_bexpr *fold(folder *f, tg_bexpr *expr, int depth)
{
    if ((expr->kind != TG_B_CALL && expr->kind != TG_B_CAST && expr->kind != TG_B_FIELD) ||
        depth > TG_LIMIT_EXPRESSION_DEPTH * 2) {
        return expr;
    }
    tg_bexpr **args = TG_NEW_ARRAY(f->arena, tg_bexpr *, expr->arg_count);
    bool changed = false;
    for (size_t i = 0; i < expr->arg_count; i++) {
        args[i] = fold(f, expr->args[i], depth + 1);
        changed = changed || args[i] != expr->args[i];
    }
    if (changed) {
        tg_bexpr *copy = tg_arena_memdup(f->arena, expr, sizeof(*expr));
        copy->args = args;
        expr = copy;
    }
    if (expr->kind == TG_B_CAST) {
        return fold_cast(f, expr);
    }
    return expr->kind == TG_B_CALL ? fold_call(f, expr) : expr;
}

tg_bexpr *tg_sql_fold(tg_bexpr *expr, const tg_zone *zone, tg_arena *arena)
{
    folder f = {.zone = zone ? zone : tg_zone_utc(), .arena = arena};
    return fold(&f, expr, 0);
}
