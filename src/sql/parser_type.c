/* SPDX-License-Identifier: Apache-2.0 */
/* Types as Spark writes them: DECIMAL(10, 2), ARRAY<INT>, STRUCT<a: INT, b STRING NOT NULL>, INTERVAL DAY TO SECOND. */
#include "sql/parser_int.h"

enum { DECIMAL_PRECISION_DEFAULT = 10 };

/* A '>' that may be the first character of '>>', '>>>' or '>='; what is left of the token stays. */
static tg_code expect_close_angle(tg_parser *parser)
{
    tg_token *token = &parser->tokens[parser->pos];
    switch ((tg_token_kind)token->kind) {
    case TG_TOK_GT:
        tg_parse_advance(parser);
        return TG_OK;
    case TG_TOK_SHIFT_RIGHT:
        token->kind = TG_TOK_GT;
        break;
    case TG_TOK_SHIFT_RIGHT_UNSIGNED:
        token->kind = TG_TOK_SHIFT_RIGHT;
        break;
    case TG_TOK_GE:
        token->kind = TG_TOK_EQ;
        break;
    default:
        return tg_parse_fail(parser, "'>'");
    }
    token->offset++;
    token->len--;
    return TG_OK;
}

/* (n) or (n, n): up to max numbers; out_count 0 when there is no parenthesis. */
static tg_code parse_type_numbers(tg_parser *parser, size_t max, int *out_numbers,
                                  size_t *out_count)
{
    size_t count = 0;
    if (tg_parse_accept_token(parser, TG_TOK_LEFT_PAREN)) {
        do {
            const tg_token *token = tg_parse_peek(parser, 0);
            int64_t number = 0;
            if (token->kind != TG_TOK_INTEGER || count == max ||
                !tg_str_to_i64(tg_parse_token_text(parser, token), &number) || number > INT32_MAX) {
                return tg_parse_fail(parser, count == max ? "')'" : "a whole number");
            }
            out_numbers[count++] = (int)number;
            tg_parse_advance(parser);
        } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    }
    *out_count = count;
    return TG_OK;
}

static tg_code parse_decimal_type(tg_parser *parser, size_t offset, const tg_type **out_type)
{
    int numbers[2] = {DECIMAL_PRECISION_DEFAULT, 0};
    size_t count;
    TG_TRY(parse_type_numbers(parser, 2, numbers, &count));
    int precision = numbers[0], scale = numbers[1];
    tg_span span = tg_parse_span_from(parser, offset);
    if (precision > TG_PARSE_DECIMAL_DIGITS_MAX) {
        return tg_parse_fail_precision(parser, span, precision);
    }
    if (precision < 1 || scale > precision) {
        (void)TG_ERR(parser->err, UNSUPPORTED_DATATYPE,
                     "decimal(%d,%d) is not a type: the precision is at least 1 and the scale at "
                     "most the precision",
                     precision, scale);
        return tg_error_span(parser->err, span.offset, span.len);
    }
    *out_type = tg_type_decimal(parser->arena, precision, scale);
    return TG_OK;
}

/* Only the default collation. */
static tg_code parse_string_type(tg_parser *parser, size_t offset, const tg_type **out_type)
{
    if (tg_parse_accept(parser, TG_KW_COLLATE)) {
        tg_ident collation;
        TG_TRY(tg_parse_ident(parser, "a collation", &collation));
        if (!tg_str_ieq(collation.text, TG_S("UTF8_BINARY"))) {
            return tg_parse_unsupported(parser, offset,
                                        "a string type with a collation other than UTF8_BINARY");
        }
    }
    *out_type = tg_type_of(TG_TYPE_STRING);
    return TG_OK;
}

/* CHAR(n), VARCHAR(n): strings whose length is not enforced, as in Spark's casts. */
static tg_code parse_char_type(tg_parser *parser, const tg_type **out_type)
{
    if (tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        return tg_parse_fail(parser, "'(' and a length");
    }
    int length;
    size_t count;
    TG_TRY(parse_type_numbers(parser, 1, &length, &count));
    *out_type = tg_type_of(TG_TYPE_STRING);
    return TG_OK;
}

static bool interval_field(tg_keyword keyword, tg_interval_field *out_field)
{
    switch (keyword) {
    case TG_KW_YEAR:
        *out_field = TG_FIELD_YEAR;
        return true;
    case TG_KW_MONTH:
        *out_field = TG_FIELD_MONTH;
        return true;
    case TG_KW_DAY:
        *out_field = TG_FIELD_DAY;
        return true;
    case TG_KW_HOUR:
        *out_field = TG_FIELD_HOUR;
        return true;
    case TG_KW_MINUTE:
        *out_field = TG_FIELD_MINUTE;
        return true;
    case TG_KW_SECOND:
        *out_field = TG_FIELD_SECOND;
        return true;
    default:
        return false;
    }
}

static tg_code parse_interval_type(tg_parser *parser, size_t offset, const tg_type **out_type)
{
    tg_interval_field from, to;
    if (!interval_field(tg_parse_word(parser, 0), &from)) {
        (void)tg_parse_unsupported(parser, offset, "the type INTERVAL without fields");
        return tg_error_hint(
            parser->err,
            "Name the fields, as in INTERVAL DAY TO SECOND or INTERVAL YEAR TO MONTH.");
    }
    tg_parse_advance(parser);
    to = from;
    if (tg_parse_accept(parser, TG_KW_TO)) {
        bool is_field = interval_field(tg_parse_word(parser, 0), &to);
        if (!is_field || to <= from || (from == TG_FIELD_YEAR) != (to == TG_FIELD_MONTH)) {
            return tg_parse_fail(parser, from <= TG_FIELD_MONTH ? "MONTH" : "a smaller field");
        }
        tg_parse_advance(parser);
    }
    *out_type = tg_type_interval(parser->arena, from, to);
    return TG_OK;
}

tg_code tg_parse_field(tg_parser *parser, bool colon_allowed, tg_field *out_field)
{
    tg_ident name;
    if (!tg_parse_at_name(parser, 0)) {
        return tg_parse_fail(parser, "a field name");
    }
    name = tg_parse_take_ident(parser);
    if (colon_allowed) {
        (void)tg_parse_accept_token(parser, TG_TOK_COLON);
    }
    tg_field field = {.name = name.text, .nullable = true};
    TG_TRY(tg_parse_type(parser, &field.type));
    if (tg_parse_accept2(parser, TG_KW_NOT, TG_KW_NULL)) {
        field.nullable = false;
    }
    if (tg_parse_accept(parser, TG_KW_COMMENT)) {
        TG_TRY(tg_parse_string(parser, "a comment as string", &field.comment));
    }
    *out_field = field;
    return TG_OK;
}

static tg_code parse_struct_type(tg_parser *parser, const tg_type **out_type)
{
    TG_VEC(tg_field) fields = {0};
    if (!tg_parse_accept_token(parser, TG_TOK_NE)) { /* STRUCT<> */
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_LT, "'<'"));
        if (tg_parse_kind(parser, 0) != TG_TOK_GT) {
            do {
                tg_field field;
                TG_TRY(tg_parse_field(parser, true, &field));
                TG_VEC_PUSH(parser->arena, &fields, field);
            } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
        }
        TG_TRY(expect_close_angle(parser));
    }
    *out_type = tg_type_struct(parser->arena, fields.items, fields.count);
    return TG_OK;
}

static tg_code parse_map_type(tg_parser *parser, const tg_type **out_type)
{
    const tg_type *key, *value;
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LT, "'<'"));
    TG_TRY(tg_parse_type(parser, &key));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_COMMA, "','"));
    TG_TRY(tg_parse_type(parser, &value));
    TG_TRY(expect_close_angle(parser));
    *out_type = tg_type_map(parser->arena, key, value, true);
    return TG_OK;
}

static tg_code parse_array_type(tg_parser *parser, const tg_type **out_type)
{
    const tg_type *element;
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LT, "'<'"));
    TG_TRY(tg_parse_type(parser, &element));
    TG_TRY(expect_close_angle(parser));
    *out_type = tg_type_array(parser->arena, element, true);
    return TG_OK;
}

/* A type without parameters; TG_TYPE_KIND_COUNT_ when the word is none. */
static tg_type_kind simple_type(tg_keyword keyword)
{
    switch (keyword) {
    case TG_KW_BOOLEAN:
        return TG_TYPE_BOOLEAN;
    case TG_KW_TINYINT:
    case TG_KW_BYTE:
        return TG_TYPE_TINYINT;
    case TG_KW_SMALLINT:
    case TG_KW_SHORT:
        return TG_TYPE_SMALLINT;
    case TG_KW_INT:
    case TG_KW_INTEGER:
        return TG_TYPE_INT;
    case TG_KW_BIGINT:
    case TG_KW_LONG:
        return TG_TYPE_BIGINT;
    case TG_KW_FLOAT:
    case TG_KW_REAL:
        return TG_TYPE_FLOAT;
    case TG_KW_DOUBLE:
        return TG_TYPE_DOUBLE;
    case TG_KW_DATE:
        return TG_TYPE_DATE;
    case TG_KW_TIMESTAMP:
    case TG_KW_TIMESTAMP_LTZ:
        return TG_TYPE_TIMESTAMP;
    case TG_KW_TIMESTAMP_NTZ:
        return TG_TYPE_TIMESTAMP_NTZ;
    case TG_KW_BINARY:
        return TG_TYPE_BINARY;
    case TG_KW_VOID:
        return TG_TYPE_VOID;
    case TG_KW_VARIANT:
        return TG_TYPE_VARIANT;
    default:
        return TG_TYPE_KIND_COUNT_;
    }
}

static tg_code refuse_type(tg_parser *parser, size_t offset)
{
    tg_span span = tg_parse_span_from(parser, offset);
    tg_str word = tg_str_sub(parser->text, span.offset, (size_t)span.offset + span.len);
    (void)TG_ERR(parser->err, UNSUPPORTED_DATATYPE, "unsupported data type '%.*s'", TG_SARG(word));
    static const tg_str names[] = {
        {"ARRAY", 5},   {"BIGINT", 6},   {"BINARY", 6},    {"BOOLEAN", 7},        {"CHAR", 4},
        {"DATE", 4},    {"DECIMAL", 7},  {"DOUBLE", 6},    {"FLOAT", 5},          {"INT", 3},
        {"INTEGER", 7}, {"INTERVAL", 8}, {"MAP", 3},       {"NUMERIC", 7},        {"SMALLINT", 8},
        {"STRING", 6},  {"STRUCT", 6},   {"TIMESTAMP", 9}, {"TIMESTAMP_NTZ", 13}, {"TINYINT", 7},
        {"VARCHAR", 7}, {"VARIANT", 7},
    };
    tg_str near = tg_str_nearest(word, names, sizeof(names) / sizeof(names[0]));
    if (near.len > 0) {
        (void)tg_error_hint(parser->err, "Did you mean %.*s?", TG_SARG(near));
    }
    return tg_error_span(parser->err, span.offset, span.len);
}

static tg_code parse_type_here(tg_parser *parser, const tg_type **out_type)
{
    size_t offset = tg_parse_offset(parser);
    if (!tg_parse_at_name(parser, 0)) {
        return tg_parse_fail(parser, "a data type");
    }
    tg_keyword keyword = tg_parse_word(parser, 0);
    tg_parse_advance(parser);
    switch (keyword) {
    case TG_KW_DECIMAL:
    case TG_KW_DEC:
    case TG_KW_NUMERIC:
        return parse_decimal_type(parser, offset, out_type);
    case TG_KW_STRING:
        return parse_string_type(parser, offset, out_type);
    case TG_KW_CHAR:
    case TG_KW_CHARACTER:
    case TG_KW_VARCHAR:
        return parse_char_type(parser, out_type);
    case TG_KW_INTERVAL:
        return parse_interval_type(parser, offset, out_type);
    case TG_KW_ARRAY:
        return parse_array_type(parser, out_type);
    case TG_KW_MAP:
        return parse_map_type(parser, out_type);
    case TG_KW_STRUCT:
        return parse_struct_type(parser, out_type);
    case TG_KW_TIME: {
        (void)TG_ERR(parser->err, UNSUPPORTED_TIME_TYPE, "the data type TIME is not available");
        tg_span span = tg_parse_span_from(parser, offset);
        return tg_error_span(parser->err, span.offset, span.len);
    }
    default:
        break;
    }
    tg_type_kind kind = simple_type(keyword);
    if (kind == TG_TYPE_KIND_COUNT_) {
        return refuse_type(parser, offset);
    }
    *out_type = tg_type_of(kind);
    return TG_OK;
}

tg_code tg_parse_type(tg_parser *parser, const tg_type **out_type)
{
    TG_TRY(tg_parse_enter(parser));
    tg_code code = parse_type_here(parser, out_type);
    tg_parse_leave(parser);
    return code;
}
