/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval literals: INTERVAL '1-2' YEAR TO MONTH, INTERVAL 1 DAY 2 HOURS, INTERVAL '1 day 2 hours'.
 *
 * Year-month and day-time fields do not mix. The type names the largest and the smallest field used, so that
 * INTERVAL 1 WEEK is an interval day and INTERVAL 10 MILLISECONDS an interval second.
 */
#include "sql/parser_int.h"

typedef struct interval_unit {
    tg_keyword singular, plural;
    tg_interval_field field;
    int64_t scale; /* months, or microseconds; 0: nanoseconds */
} interval_unit;

static const interval_unit units[] = {
    {TG_KW_YEAR, TG_KW_YEARS, TG_FIELD_YEAR, 12},
    {TG_KW_MONTH, TG_KW_MONTHS, TG_FIELD_MONTH, 1},
    {TG_KW_WEEK, TG_KW_WEEKS, TG_FIELD_DAY, 7 * TG_US_PER_DAY},
    {TG_KW_DAY, TG_KW_DAYS, TG_FIELD_DAY, TG_US_PER_DAY},
    {TG_KW_HOUR, TG_KW_HOURS, TG_FIELD_HOUR, 3600 * TG_US_PER_SECOND},
    {TG_KW_MINUTE, TG_KW_MINUTES, TG_FIELD_MINUTE, 60 * TG_US_PER_SECOND},
    {TG_KW_SECOND, TG_KW_SECONDS, TG_FIELD_SECOND, TG_US_PER_SECOND},
    {TG_KW_MILLISECOND, TG_KW_MILLISECONDS, TG_FIELD_SECOND, 1000},
    {TG_KW_MICROSECOND, TG_KW_MICROSECONDS, TG_FIELD_SECOND, 1},
    {TG_KW_NANOSECOND, TG_KW_NANOSECONDS, TG_FIELD_SECOND, 0},
};

static const interval_unit *find_unit(tg_keyword keyword)
{
    for (size_t i = 0; keyword != TG_KW_NONE && i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].singular == keyword || units[i].plural == keyword) {
            return &units[i];
        }
    }
    return NULL;
}

/* What is summed up while fields are read. */
typedef struct interval_sum {
    tg_parser *parser;
    tg_span span; /* for errors */
    bool has_fields;
    tg_interval_field from, to;
    int64_t total;
} interval_sum;

static tg_code fail_format(const interval_sum *sum, const char *why)
{
    (void)TG_ERR(sum->parser->err, INVALID_INTERVAL_FORMAT, "invalid interval: %s", why);
    return tg_error_span(sum->parser->err, sum->span.offset, sum->span.len);
}

static tg_code fail_overflow(const interval_sum *sum)
{
    (void)TG_ERR(sum->parser->err, INTERVAL_ARITHMETIC_OVERFLOW, "the interval is too large");
    return tg_error_span(sum->parser->err, sum->span.offset, sum->span.len);
}

static bool is_year_month(tg_interval_field field)
{
    return field <= TG_FIELD_MONTH;
}

static tg_code note_field(interval_sum *sum, tg_interval_field field)
{
    if (!sum->has_fields) {
        sum->has_fields = true;
        sum->from = sum->to = field;
        return TG_OK;
    }
    if (is_year_month(sum->from) != is_year_month(field)) {
        (void)fail_format(sum, "years and months do not mix with days and times");
        return tg_error_hint(
            sum->parser->err,
            "Add two intervals one after the other, as in d + INTERVAL 1 MONTH + INTERVAL 1 DAY.");
    }
    sum->from = field < sum->from ? field : sum->from;
    sum->to = field > sum->to ? field : sum->to;
    return TG_OK;
}

static tg_code add_scaled(interval_sum *sum, int64_t count, int64_t scale)
{
    int64_t part;
    if (__builtin_mul_overflow(count, scale, &part) ||
        __builtin_add_overflow(sum->total, part, &sum->total)) {
        return fail_overflow(sum);
    }
    if (is_year_month(sum->from) && (sum->total > INT32_MAX || sum->total < INT32_MIN)) {
        return fail_overflow(sum);
    }
    return TG_OK;
}

/* Up to nine digits of a second's fraction, as microseconds; what is below is cut off. -1: not valid. */
static int64_t fraction_us(tg_str digits)
{
    if (digits.len > 9) {
        return -1;
    }
    int64_t us = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') {
            return -1;
        }
        us = i < 6 ? us * 10 + (digits.ptr[i] - '0') : us;
    }
    for (size_t i = digits.len; i < 6; i++) {
        us *= 10;
    }
    return us;
}

/* One value of one unit: "-12", "1.5" (seconds only). */
static tg_code add_unit(interval_sum *sum, tg_str text, bool is_negative, const interval_unit *unit)
{
    text = tg_str_trim(text);
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        is_negative = is_negative != (text.ptr[0] == '-');
        text = tg_str_sub(text, 1, text.len);
    }
    TG_TRY(note_field(sum, unit->field));
    size_t point = tg_str_find(text, TG_S("."), 0);
    tg_str whole = point == SIZE_MAX ? text : tg_str_sub(text, 0, point);
    int64_t count = 0;
    if ((whole.len == 0 && point == SIZE_MAX) ||
        (whole.len > 0 && (whole.ptr[0] == '-' || whole.ptr[0] == '+'))) {
        return fail_format(sum, "a whole number is needed");
    }
    tg_str signed_whole =
        tg_str_printf(sum->parser->arena, "%s%.*s", is_negative ? "-" : "", TG_SARG(whole));
    if (whole.len > 0 && !tg_str_to_i64(signed_whole, &count)) {
        return fail_format(sum, "a whole number is needed that is not too large");
    }
    if (point != SIZE_MAX) {
        if (unit->singular != TG_KW_SECOND) {
            return fail_format(sum, "only seconds may have a fraction");
        }
        int64_t us = fraction_us(tg_str_sub(text, point + 1, text.len));
        if (us < 0) {
            return fail_format(sum, "a fraction of a second has up to nine digits");
        }
        TG_TRY(add_scaled(sum, is_negative ? -us : us, 1));
    }
    return unit->scale == 0 ? add_scaled(sum, count / 1000, 1)
                            : add_scaled(sum, count, unit->scale);
}

static tg_value sum_value(const interval_sum *sum)
{
    return tg_value_int(tg_type_interval(sum->parser->arena, sum->from, sum->to), sum->total);
}

/* ---- '1-2' YEAR TO MONTH ---- */

/* Digits at *pos; false when there are none, more than max_len, or the value is too large. */
static bool read_digits(tg_str text, size_t *pos, size_t max_len, int64_t *out)
{
    size_t end = *pos;
    while (end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9') {
        end++;
    }
    bool valid =
        end > *pos && end - *pos <= max_len && tg_str_to_i64(tg_str_sub(text, *pos, end), out);
    *pos = end;
    return valid;
}

static int64_t field_scale(tg_interval_field field)
{
    static const int64_t scales[] = {
        12, 1, TG_US_PER_DAY, 3600 * TG_US_PER_SECOND, 60 * TG_US_PER_SECOND, TG_US_PER_SECOND};
    return scales[field];
}

/* The fields from .. to of text: D HH:MM:SS.fffffffff or Y-M; all but the first within their range. */
static tg_code read_fields(interval_sum *sum, tg_str text, tg_interval_field from,
                           tg_interval_field to)
{
    static const int64_t limits[] = {0, 11, 0, 23, 59, 59};
    const char *format = "the text does not fit its fields";
    text = tg_str_trim(text);
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    size_t pos = is_negative || (text.len > 0 && text.ptr[0] == '+') ? 1 : 0;
    sum->has_fields = true;
    sum->from = from;
    sum->to = to;
    for (int field = (int)from; field <= (int)to; field++) {
        if (field > (int)from) {
            char separator = field == TG_FIELD_MONTH ? '-' : field == TG_FIELD_HOUR ? ' ' : ':';
            if (pos >= text.len || text.ptr[pos] != separator) {
                return fail_format(sum, format);
            }
            pos++;
        }
        int64_t value;
        if (!read_digits(text, &pos, field > (int)from ? 2 : 18, &value)) {
            return fail_format(sum, format);
        }
        if (field > (int)from && value > limits[field]) {
            return fail_format(sum, "a field is outside its range");
        }
        TG_TRY(
            add_scaled(sum, is_negative ? -value : value, field_scale((tg_interval_field)field)));
    }
    if (to == TG_FIELD_SECOND && pos < text.len && text.ptr[pos] == '.') {
        int64_t us = fraction_us(tg_str_sub(text, pos + 1, text.len));
        if (us < 0 || pos + 1 == text.len) {
            return fail_format(sum, "a fraction of a second has up to nine digits");
        }
        TG_TRY(add_scaled(sum, is_negative ? -us : us, 1));
        pos = text.len;
    }
    return pos == text.len ? TG_OK : fail_format(sum, format);
}

/* TO field, behind a value and its first unit. */
static tg_code parse_unit_to_unit(interval_sum *sum, tg_str text, bool is_negative,
                                  const interval_unit *first)
{
    tg_parser *parser = sum->parser;
    const interval_unit *last = find_unit(tg_parse_word(parser, 0));
    if (!last || last->singular != tg_parse_word(parser, 0) || last->field <= first->field ||
        is_year_month(last->field) != is_year_month(first->field)) {
        return tg_parse_fail(parser,
                             is_year_month(first->field) ? "MONTH" : "HOUR, MINUTE or SECOND");
    }
    tg_parse_advance(parser);
    TG_TRY(read_fields(sum, text, first->field, last->field));
    if (is_negative && __builtin_sub_overflow(0, sum->total, &sum->total)) {
        return fail_overflow(sum);
    }
    return TG_OK;
}

/* ---- '1 day 2 hours' ---- */

/* The next word of text from *pos on, without blanks around it; empty at the end. */
static tg_str next_word(tg_str text, size_t *pos)
{
    while (*pos < text.len &&
           (text.ptr[*pos] == ' ' || (text.ptr[*pos] >= '\t' && text.ptr[*pos] <= '\r'))) {
        (*pos)++;
    }
    size_t from = *pos;
    while (*pos < text.len && text.ptr[*pos] != ' ' &&
           !(text.ptr[*pos] >= '\t' && text.ptr[*pos] <= '\r')) {
        (*pos)++;
    }
    return tg_str_sub(text, from, *pos);
}

static tg_code parse_interval_text(tg_parser *parser, tg_str text, tg_span span,
                                   tg_value *out_value)
{
    interval_sum sum = {.parser = parser, .span = span};
    size_t pos = 0;
    tg_str word = next_word(text, &pos);
    if (tg_str_ieq(word, TG_S("interval"))) {
        word = next_word(text, &pos);
    }
    if (word.len == 0) {
        return fail_format(&sum, "the text is empty");
    }
    while (word.len > 0) {
        bool is_negative = false;
        if (tg_str_eq(word, TG_S("-")) || tg_str_eq(word, TG_S("+"))) {
            is_negative = word.ptr[0] == '-';
            word = next_word(text, &pos);
        }
        tg_str name = next_word(text, &pos);
        const interval_unit *unit = find_unit(tg_keyword_find(name));
        if (!unit) {
            return fail_format(&sum, name.len == 0 ? "a unit is missing" : "a unit is not known");
        }
        TG_TRY(add_unit(&sum, word, is_negative, unit));
        word = next_word(text, &pos);
    }
    *out_value = sum_value(&sum);
    return TG_OK;
}

/* ---- entry points ---- */

/* [+|-] number or string ahead; out_next: where the token behind it stands. */
static bool is_literal_value(const tg_parser *parser, size_t ahead, size_t *out_next)
{
    tg_token_kind kind = tg_parse_kind(parser, ahead);
    if (kind == TG_TOK_MINUS || kind == TG_TOK_PLUS) {
        kind = tg_parse_kind(parser, ++ahead);
    }
    *out_next = ahead + 1;
    return kind == TG_TOK_INTEGER || kind == TG_TOK_DECIMAL || kind == TG_TOK_STRING;
}

bool tg_parse_at_interval(const tg_parser *parser)
{
    size_t next;
    if (tg_parse_word(parser, 0) != TG_KW_INTERVAL) {
        return false;
    }
    if (is_literal_value(parser, 1, &next)) {
        /* interval + 1 and interval - 1 are sums with a column */
        bool has_sign =
            tg_parse_kind(parser, 1) == TG_TOK_MINUS || tg_parse_kind(parser, 1) == TG_TOK_PLUS;
        return !has_sign || tg_parse_at_name(parser, next);
    }
    switch (tg_parse_kind(parser, 1)) {
    case TG_TOK_WORD:
    case TG_TOK_QUOTED:
        return find_unit(tg_parse_word(parser, 2)) != NULL;
    case TG_TOK_COLON:
        return find_unit(tg_parse_word(parser, 3)) != NULL;
    case TG_TOK_LEFT_PAREN: {
        size_t after = tg_parse_after_paren(parser, parser->pos + 1);
        const tg_token *token = &parser->tokens[after];
        return token->kind == TG_TOK_WORD && find_unit((tg_keyword)token->keyword) != NULL;
    }
    default:
        return false;
    }
}

/* INTERVAL x DAY, INTERVAL (a + b) DAY, INTERVAL :p DAY */
static tg_code parse_computed(tg_parser *parser, size_t offset, tg_expr **out_expr)
{
    tg_expr *count;
    if (tg_parse_at_name(parser, 0)) {
        size_t name_offset = tg_parse_offset(parser);
        tg_ident *part = TG_NEW(parser->arena, tg_ident);
        *part = tg_parse_take_ident(parser);
        count = tg_parse_new_expr(parser, TG_EXPR_NAME, name_offset, NULL, 0);
        count->name = (tg_name){part, 1, part->span};
    } else {
        TG_TRY(tg_parse_primary(parser, &count));
    }
    tg_ident *unit = TG_NEW(parser->arena, tg_ident);
    TG_TRY(tg_parse_ident(parser, "a unit", unit));
    unit->text = tg_str_upper(parser->arena, unit->text);
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_INTERVAL, offset, &count, 1);
    expr->call = TG_NEW(parser->arena, tg_call);
    expr->call->name = (tg_name){unit, 1, unit->span};
    *out_expr = expr;
    return TG_OK;
}

/* One value of a literal with its sign. */
static tg_code parse_value(tg_parser *parser, tg_str *out_text, bool *out_negative)
{
    *out_negative = tg_parse_kind(parser, 0) == TG_TOK_MINUS;
    if (*out_negative || tg_parse_kind(parser, 0) == TG_TOK_PLUS) {
        tg_parse_advance(parser);
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_STRING) {
        return tg_parse_string(parser, "a value", out_text);
    }
    const tg_token *token = tg_parse_peek(parser, 0);
    *out_text = tg_parse_token_text(parser, token);
    tg_parse_advance(parser);
    return TG_OK;
}

tg_code tg_parse_interval(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser), next;
    tg_parse_advance(parser);
    if (!is_literal_value(parser, 0, &next)) {
        return parse_computed(parser, offset, out_expr);
    }
    interval_sum sum = {.parser = parser};
    tg_value value;
    bool is_first = true;
    while (is_literal_value(parser, 0, &next) &&
           (is_first || find_unit(tg_parse_word(parser, next)))) {
        tg_str text;
        bool is_negative, is_string = tg_parse_kind(parser, 0) == TG_TOK_STRING;
        TG_TRY(parse_value(parser, &text, &is_negative));
        const interval_unit *unit = find_unit(tg_parse_word(parser, 0));
        sum.span = tg_parse_span_from(parser, offset);
        if (!unit && is_first && is_string) {
            TG_TRY(parse_interval_text(parser, text, sum.span, &value));
            *out_expr = tg_parse_new_literal(parser, value, offset);
            return TG_OK;
        }
        if (!unit) {
            return tg_parse_fail(parser, "a unit such as DAY or MONTH");
        }
        tg_parse_advance(parser);
        sum.span = tg_parse_span_from(parser, offset);
        if (is_first && tg_parse_accept(parser, TG_KW_TO)) {
            TG_TRY(parse_unit_to_unit(&sum, text, is_negative, unit));
            break;
        }
        TG_TRY(add_unit(&sum, text, is_negative, unit));
        is_first = false;
    }
    *out_expr = tg_parse_new_literal(parser, sum_value(&sum), offset);
    return TG_OK;
}
