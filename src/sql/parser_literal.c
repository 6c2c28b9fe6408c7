/* SPDX-License-Identifier: Apache-2.0 */
/* New expression nodes; numbers and typed literals with the types that Spark gives them (AstBuilder's
 * rules). */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sql/parser_int.h"

/* ---- new nodes ------------------------------------------------------------------------------- */

tg_expr *tg_parse_new_expr(tg_parser *parser, tg_expr_kind kind, size_t offset,
                           tg_expr *const *args, size_t count)
{
    tg_expr *expr = TG_NEW(parser->arena, tg_expr);
    expr->kind = kind;
    expr->span = tg_parse_span_from(parser, offset);
    if (count > 0) {
        expr->args = tg_arena_memdup(parser->arena, args, count * sizeof(tg_expr *));
        expr->arg_count = count;
    }
    return expr;
}

tg_expr *tg_parse_new_literal(tg_parser *parser, tg_value value, size_t offset)
{
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_LITERAL, offset, NULL, 0);
    expr->literal = value;
    return expr;
}

tg_expr *tg_parse_new_text(tg_parser *parser, tg_str text, size_t offset)
{
    return tg_parse_new_literal(parser, tg_value_bytes(tg_type_of(TG_TYPE_STRING), text), offset);
}

tg_expr *tg_parse_new_call(tg_parser *parser, const char *function, size_t offset,
                           tg_expr *const *args, size_t count)
{
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_CALL, offset, args, count);
    tg_ident *name = TG_NEW(parser->arena, tg_ident);
    *name = (tg_ident){.text = tg_str_from(function), .span = expr->span};
    expr->call = TG_NEW(parser->arena, tg_call);
    expr->call->name = (tg_name){name, 1, name->span};
    return expr;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool tg_parse_is_number(tg_token_kind kind)
{
    return kind >= TG_TOK_INTEGER && kind <= TG_TOK_BIG_DECIMAL;
}

/* A number token: its sign and its text without suffix. */
typedef struct number {
    tg_parser *parser;
    tg_str text;
    bool is_negative;
    tg_span span;
} number;

static tg_code fail_range(const number *num, const char *type)
{
    (void)TG_ERR(num->parser->err, INVALID_NUMERIC_LITERAL_RANGE,
                 "number %s%.*s is outside the range of %s", num->is_negative ? "-" : "",
                 TG_SARG(num->text), type);
    return tg_error_span(num->parser->err, num->span.offset, num->span.len);
}

/* False when it does not fit 64 bits. */
static bool integer_value(const number *num, int64_t *out)
{
    tg_str signed_text = tg_str_printf(num->parser->arena, "%s%.*s", num->is_negative ? "-" : "",
                                       TG_SARG(num->text));
    return tg_str_to_i64(signed_text, out);
}

static tg_code ranged_integer(const number *num, tg_type_kind kind, int64_t low, int64_t high,
                              const char *type, tg_value *out)
{
    int64_t value;
    if (!integer_value(num, &value) || value < low || value > high) {
        return fail_range(num, type);
    }
    *out = tg_value_int(tg_type_of(kind), value);
    return TG_OK;
}

/* digits[.digits][E[+-]digits]: precision and scale as java.math.BigDecimal has them, a negative
 * scale brought to 0. */
static tg_code decimal_number(const number *num, tg_value *out)
{
    tg_int128 unscaled = 0;
    int64_t significant = 0, scale = 0, exponent = 0;
    bool behind_point = false;
    size_t pos = 0;
    for (; pos < num->text.len && (num->text.ptr[pos] | 0x20) != 'e'; pos++) {
        char c = num->text.ptr[pos];
        if (c == '.') {
            behind_point = true;
            continue;
        }
        scale += behind_point;
        if (significant == 0 && c == '0') {
            continue;
        }
        if (++significant <= TG_PARSE_DECIMAL_DIGITS_MAX) {
            unscaled = unscaled * 10 + (c - '0');
        }
    }
    if (pos < num->text.len) {
        tg_str digits = tg_str_sub(num->text, pos + 1, num->text.len);
        if (digits.ptr[0] == '+') {
            digits = tg_str_sub(digits, 1, digits.len);
        }
        if (!tg_str_to_i64(digits, &exponent) || exponent > INT32_MAX || exponent < INT32_MIN) {
            return fail_range(num, "decimal");
        }
    }
    scale -= exponent;
    while (scale < 0 && significant > 0 && significant <= TG_PARSE_DECIMAL_DIGITS_MAX) {
        significant++;
        scale++;
        if (significant <= TG_PARSE_DECIMAL_DIGITS_MAX) {
            unscaled *= 10;
        }
    }
    scale = scale < 0 && significant == 0 ? 0 : scale;
    int64_t precision = significant > scale ? significant : scale;
    precision = precision < 1 ? 1 : precision;
    if (precision > TG_PARSE_DECIMAL_DIGITS_MAX || scale < 0) {
        return tg_parse_fail_precision(num->parser, num->span, precision);
    }
    const tg_type *type = tg_type_decimal(num->parser->arena, (int)precision, (int)scale);
    *out = tg_value_decimal(type, num->is_negative ? -unscaled : unscaled);
    return TG_OK;
}

/* INT, BIGINT or DECIMAL: the first that holds it. */
static tg_code plain_integer(const number *num, tg_value *out)
{
    int64_t value;
    if (!integer_value(num, &value)) {
        return decimal_number(num, out);
    }
    bool is_int = value >= INT32_MIN && value <= INT32_MAX;
    *out = tg_value_int(tg_type_of(is_int ? TG_TYPE_INT : TG_TYPE_BIGINT), value);
    return TG_OK;
}

static tg_code floating(const number *num, bool is_float, tg_value *out)
{
    const char *text = tg_str_cstr(num->parser->arena, num->text);
    double value = tg_strtod(text);
    if (isinf(value) || (is_float && value > (double)FLT_MAX)) {
        return fail_range(num, is_float ? "float" : "double");
    }
    if (is_float) {
        value = (double)tg_strtof(text);
    }
    *out = tg_value_double(tg_type_of(is_float ? TG_TYPE_FLOAT : TG_TYPE_DOUBLE),
                           num->is_negative ? -value : value);
    return TG_OK;
}

static tg_code number_value(tg_token_kind kind, number *num, tg_value *out)
{
    size_t len = num->text.len;
    switch (kind) {
    case TG_TOK_INTEGER:
        return plain_integer(num, out);
    case TG_TOK_BIGINT:
        num->text.len = len - 1;
        return ranged_integer(num, TG_TYPE_BIGINT, INT64_MIN, INT64_MAX, "bigint", out);
    case TG_TOK_SMALLINT:
        num->text.len = len - 1;
        return ranged_integer(num, TG_TYPE_SMALLINT, INT16_MIN, INT16_MAX, "smallint", out);
    case TG_TOK_TINYINT:
        num->text.len = len - 1;
        return ranged_integer(num, TG_TYPE_TINYINT, INT8_MIN, INT8_MAX, "tinyint", out);
    case TG_TOK_DOUBLE:
    case TG_TOK_FLOAT:
        num->text.len = len - 1;
        return floating(num, kind == TG_TOK_FLOAT, out);
    case TG_TOK_EXPONENT:
        return floating(num, false, out);
    case TG_TOK_BIG_DECIMAL:
        num->text.len = len - 2;
        return decimal_number(num, out);
    default:
        return decimal_number(num, out);
    }
}

tg_code tg_parse_number(tg_parser *parser, bool is_negative, size_t offset, tg_expr **out_expr)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    tg_parse_advance(parser);
    number num = {.parser = parser,
                  .text = tg_parse_token_text(parser, token),
                  .is_negative = is_negative,
                  .span = tg_parse_span_from(parser, offset)};
    tg_value value;
    TG_TRY(number_value((tg_token_kind)token->kind, &num, &value));
    *out_expr = tg_parse_new_literal(parser, value, offset);
    return TG_OK;
}

/* ---- typed literals -------------------------------------------------------------------------- */

static tg_code fail_typed(tg_parser *parser, tg_span span, const char *type)
{
    tg_str shown = tg_str_sub(parser->text, span.offset, (size_t)span.offset + span.len);
    (void)TG_ERR(parser->err, INVALID_TYPED_LITERAL, "the text of %.*s is not a valid %s",
                 TG_SARG(shown), type);
    return tg_error_span(parser->err, span.offset, span.len);
}

static tg_code hex_literal(tg_parser *parser, tg_str text, size_t offset, tg_expr **out_expr)
{
    /* An odd number of digits has a zero before it, as in Spark. */
    size_t len = (text.len + 1) / 2;
    char *bytes = tg_arena_alloc(parser->arena, len);
    for (size_t i = 0; i < text.len; i++) {
        int digit = tg_parse_hex_digit(text.ptr[i]);
        if (digit < 0) {
            return fail_typed(parser, tg_parse_span_from(parser, offset), "hexadecimal number");
        }
        size_t at = (i + text.len % 2) / 2;
        bytes[at] = (char)((unsigned char)bytes[at] * 16 + digit);
    }
    *out_expr = tg_parse_new_literal(
        parser, tg_value_bytes(tg_type_of(TG_TYPE_BINARY), (tg_str){bytes, len}), offset);
    return TG_OK;
}

/* Words whose value depends on the clock: left to the binder. */
static bool is_clock_word(tg_str text)
{
    return tg_str_ieq(text, TG_S("now")) || tg_str_ieq(text, TG_S("today")) ||
           tg_str_ieq(text, TG_S("yesterday")) || tg_str_ieq(text, TG_S("tomorrow"));
}

/* A cast of the string, marked as a literal: its meaning needs the clock or the session's zone. */
static tg_expr *deferred_literal(tg_parser *parser, tg_str text, const tg_type *type, size_t offset)
{
    tg_expr *value = tg_parse_new_text(parser, text, offset);
    tg_expr *cast = tg_parse_new_expr(parser, TG_EXPR_CAST, offset, &value, 1);
    cast->type = type;
    cast->is_typed_literal = true;
    return cast;
}

static tg_code date_literal(tg_parser *parser, tg_str text, size_t offset, tg_expr **out_expr)
{
    const tg_type *type = tg_type_of(TG_TYPE_DATE);
    tg_str word = tg_str_trim(text);
    int64_t days = 0;
    if (is_clock_word(word)) {
        *out_expr = deferred_literal(parser, text, type, offset);
        return TG_OK;
    }
    if (!tg_str_ieq(word, TG_S("epoch")) && !tg_date_parse(text, &days)) {
        return fail_typed(parser, tg_parse_span_from(parser, offset), "date");
    }
    *out_expr = tg_parse_new_literal(parser, tg_value_int(type, days), offset);
    return TG_OK;
}

/* The local time of a text that may name a zone, which does not count: the longest beginning that
 * is a time without one. */
static bool parse_local_time(tg_parser *parser, tg_str text, int64_t *out_us)
{
    bool has_zone;
    for (size_t len = text.len; len > 0; len--) {
        if (tg_timestamp_parse(tg_str_sub(text, 0, len), parser->arena, out_us, &has_zone) &&
            !has_zone) {
            return true;
        }
    }
    return false;
}

static tg_code timestamp_literal(tg_parser *parser, tg_str text, bool is_local, size_t offset,
                                 tg_expr **out_expr)
{
    const tg_type *type = tg_type_of(is_local ? TG_TYPE_TIMESTAMP_NTZ : TG_TYPE_TIMESTAMP);
    tg_str word = tg_str_trim(text);
    bool has_zone = false;
    int64_t us = 0;
    if (is_clock_word(word)) {
        *out_expr = deferred_literal(parser, text, type, offset);
        return TG_OK;
    }
    if (!tg_str_ieq(word, TG_S("epoch"))) {
        if (!tg_timestamp_parse(text, parser->arena, &us, &has_zone) ||
            (is_local && has_zone && !parse_local_time(parser, word, &us))) {
            return fail_typed(parser, tg_parse_span_from(parser, offset), "timestamp");
        }
        if (!is_local && !has_zone) {
            *out_expr = deferred_literal(parser, text, type, offset);
            return TG_OK;
        }
    }
    *out_expr = tg_parse_new_literal(parser, tg_value_int(type, us), offset);
    return TG_OK;
}

tg_code tg_parse_typed_literal(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_ident type = tg_parse_take_ident(parser);
    tg_str text;
    TG_TRY(tg_parse_string(parser, "a string", &text));
    if (tg_str_ieq(type.text, TG_S("X"))) {
        return hex_literal(parser, text, offset, out_expr);
    }
    switch (tg_keyword_find(type.text)) {
    case TG_KW_DATE:
        return date_literal(parser, text, offset, out_expr);
    case TG_KW_TIMESTAMP:
    case TG_KW_TIMESTAMP_LTZ:
        return timestamp_literal(parser, text, false, offset, out_expr);
    case TG_KW_TIMESTAMP_NTZ:
        return timestamp_literal(parser, text, true, offset, out_expr);
    case TG_KW_TIME:
        (void)TG_ERR(parser->err, UNSUPPORTED_TIME_TYPE,
                     "literals of the data type TIME are not available");
        break;
    default:
        (void)TG_ERR(parser->err, UNSUPPORTED_TYPED_LITERAL,
                     "literals of the type '%.*s' are not supported", TG_SARG(type.text));
        (void)tg_error_hint(
            parser->err,
            "Typed literals are DATE, TIMESTAMP, TIMESTAMP_NTZ, TIMESTAMP_LTZ, INTERVAL and X.");
        break;
    }
    tg_span span = tg_parse_span_from(parser, offset);
    return tg_error_span(parser->err, span.offset, span.len);
}
