/* SPDX-License-Identifier: Apache-2.0 */
/* Names, strings and property lists. */
#include "sql/parser_int.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* The name inside backticks; doubled ones become one. */
static tg_str unquote(tg_arena *arena, tg_str quoted)
{
    tg_str inner = tg_str_sub(quoted, 1, quoted.len - 1);
    char *to = tg_arena_alloc(arena, inner.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < inner.len; i++) {
        to[len++] = inner.ptr[i];
        if (inner.ptr[i] == '`') {
            i++;
        }
    }
    return (tg_str){to, len};
}

tg_ident tg_parse_take_ident(tg_parser *parser)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    tg_str text = tg_parse_token_text(parser, token);
    bool quoted = token->kind == TG_TOK_QUOTED;
    tg_ident ident = {.text =
                          quoted ? unquote(parser->arena, text) : tg_str_copy(parser->arena, text),
                      .quoted = quoted,
                      .span = {token->offset, token->len}};
    tg_parse_advance(parser);
    return ident;
}

tg_code tg_parse_ident(tg_parser *parser, const char *what, tg_ident *out_ident)
{
    if (!tg_parse_at_name(parser, 0) || tg_parse_word_is_clause(parser, 0)) {
        return tg_parse_fail(parser, what);
    }
    *out_ident = tg_parse_take_ident(parser);
    return TG_OK;
}

/* my-table is a slip that deserves better than "syntax error at '-'". */
static tg_code refuse_hyphen(tg_parser *parser, const tg_ident *ident)
{
    const tg_token *minus = tg_parse_peek(parser, 0), *next = tg_parse_peek(parser, 1);
    size_t end = (size_t)ident->span.offset + ident->span.len;
    if (minus->kind != TG_TOK_MINUS || minus->offset != end || next->kind != TG_TOK_WORD ||
        next->offset != end + 1) {
        return TG_OK;
    }
    tg_str shown = tg_str_sub(parser->text, ident->span.offset, (size_t)next->offset + next->len);
    (void)TG_ERR(parser->err, INVALID_IDENTIFIER, "name '%.*s' needs backticks", TG_SARG(shown));
    (void)tg_error_hint(parser->err, "Write `%.*s`.", TG_SARG(shown));
    return tg_error_span(parser->err, ident->span.offset, shown.len);
}

tg_code tg_parse_name(tg_parser *parser, const char *what, tg_name *out_name)
{
    if (tg_parse_at_identifier_clause(parser)) {
        return tg_parse_identifier_clause(parser, out_name);
    }
    size_t offset = tg_parse_offset(parser);
    TG_VEC(tg_ident) parts = {0};
    do {
        tg_ident part;
        if (parts.count > 0 && tg_parse_at_name(parser, 0)) {
            part = tg_parse_take_ident(parser); /* behind a dot any word is a name */
        } else {
            TG_TRY(tg_parse_ident(parser, what, &part));
        }
        TG_TRY(refuse_hyphen(parser, &part));
        TG_VEC_PUSH(parser->arena, &parts, part);
    } while (tg_parse_accept_token(parser, TG_TOK_DOT));
    *out_name = (tg_name){parts.items, parts.count, tg_parse_span_from(parser, offset)};
    return TG_OK;
}

tg_code tg_parse_ident_list(tg_parser *parser, const char *what, const tg_ident **out_idents,
                            size_t *out_count)
{
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_VEC(tg_ident) idents = {0};
    do {
        tg_ident ident;
        TG_TRY(tg_parse_ident(parser, what, &ident));
        TG_VEC_PUSH(parser->arena, &idents, ident);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    *out_idents = idents.items;
    *out_count = idents.count;
    return TG_OK;
}

bool tg_parse_at_identifier_clause(const tg_parser *parser)
{
    return tg_parse_word(parser, 0) == TG_KW_IDENTIFIER &&
           tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN &&
           (tg_parse_kind(parser, 2) == TG_TOK_STRING || tg_parse_kind(parser, 2) == TG_TOK_COLON);
}

tg_code tg_parse_identifier_clause(tg_parser *parser, tg_name *out_name)
{
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    tg_parse_advance(parser);
    if (tg_parse_kind(parser, 0) == TG_TOK_COLON) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        (void)tg_parse_unsupported(parser, offset, "IDENTIFIER of a parameter");
        return tg_error_hint(parser->err,
                             "Write a name with ${key}, which is replaced in the text.");
    }
    size_t text_offset = tg_parse_offset(parser);
    tg_str text;
    TG_TRY(tg_parse_string(parser, "a name as string", &text));
    tg_span text_span = tg_parse_span_from(parser, text_offset);
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));

    tg_parser inner;
    tg_name name = {0};
    tg_code code = tg_parser_init(&inner, text, parser->arena, parser->err);
    if (code == TG_OK && !tg_parse_at_identifier_clause(&inner)) {
        code = tg_parse_name(&inner, "a name", &name);
    }
    if (code == TG_OK && (name.count == 0 || tg_parse_kind(&inner, 0) != TG_TOK_END)) {
        code = tg_parse_fail(&inner, "the end of the name");
    }
    if (code != TG_OK) {
        (void)tg_error_span(parser->err, text_span.offset, text_span.len);
        return code;
    }
    tg_ident *parts = TG_NEW_ARRAY(parser->arena, tg_ident, name.count);
    for (size_t i = 0; i < name.count; i++) {
        parts[i] = name.parts[i];
        parts[i].span = text_span;
    }
    *out_name = (tg_name){parts, name.count, tg_parse_span_from(parser, offset)};
    return TG_OK;
}

/* ---- strings --------------------------------------------------------------------------------- */

int tg_parse_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* count hexadecimal digits at pos; -1 when there are fewer. */
static int64_t hex_value(tg_str text, size_t pos, size_t count)
{
    if (text.len < pos + count) {
        return -1;
    }
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = tg_parse_hex_digit(text.ptr[pos + i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* \uXXXX (two of them for a surrogate pair) or \UXXXXXXXX at pos, which is the backslash; bytes
 * read, 0: no such escape. */
static size_t unescape_unicode(tg_str text, size_t pos, tg_buf *out)
{
    bool is_long = text.ptr[pos + 1] == 'U';
    int64_t code = hex_value(text, pos + 2, is_long ? 8 : 4);
    if (code < 0) {
        return 0;
    }
    size_t len = is_long ? 10 : 6;
    if (!is_long && code >= 0xD800 && code <= 0xDBFF && text.len > pos + 7 &&
        text.ptr[pos + 6] == '\\' && text.ptr[pos + 7] == 'u') {
        int64_t low = hex_value(text, pos + 8, 4);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            len = 12;
        }
    }
    if ((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) {
        tg_buf_addc(out, '?'); /* what Java writes for half a surrogate pair */
        return len;
    }
    char bytes[4];
    tg_buf_add(out, bytes, tg_utf8_put(bytes, (uint32_t)code));
    return len;
}

/* \ooo, at most \177; bytes read, 0: no such escape. */
static size_t unescape_octal(tg_str text, size_t pos, tg_buf *out)
{
    if (text.len < pos + 4 || (text.ptr[pos + 1] != '0' && text.ptr[pos + 1] != '1')) {
        return 0;
    }
    int value = 0;
    for (size_t i = 1; i <= 3; i++) {
        char c = text.ptr[pos + i];
        if (c < '0' || c > '7') {
            return 0;
        }
        value = value * 8 + (c - '0');
    }
    tg_buf_addc(out, (char)value);
    return 4;
}

/* Everything else behind a backslash; bytes read. */
static size_t unescape_simple(tg_str text, size_t pos, tg_buf *out)
{
    char c = text.ptr[pos + 1];
    switch (c) {
    case '0':
        tg_buf_addc(out, '\0');
        break;
    case 'b':
        tg_buf_addc(out, '\b');
        break;
    case 'n':
        tg_buf_addc(out, '\n');
        break;
    case 'r':
        tg_buf_addc(out, '\r');
        break;
    case 't':
        tg_buf_addc(out, '\t');
        break;
    case 'Z':
        tg_buf_addc(out, 0x1A);
        break;
    case '%': /* left to LIKE */
    case '_':
        tg_buf_addc(out, '\\');
        tg_buf_addc(out, c);
        break;
    default:
        tg_buf_addc(out, c);
        break;
    }
    return 2;
}

/* The value of one string token, by Spark's rules. */
static void add_string(tg_str token, tg_buf *out)
{
    if (token.ptr[0] != '\'' && token.ptr[0] != '"') { /* r'..' */
        tg_buf_adds(out, tg_str_sub(token, 2, token.len - 1));
        return;
    }
    char quote = token.ptr[0];
    tg_str inner = tg_str_sub(token, 1, token.len - 1);
    size_t pos = 0;
    while (pos < inner.len) {
        char c = inner.ptr[pos];
        if (c == '\\' && pos + 1 < inner.len) {
            char next = inner.ptr[pos + 1];
            size_t len = next == 'u' || next == 'U' ? unescape_unicode(inner, pos, out)
                                                    : unescape_octal(inner, pos, out);
            pos += len > 0 ? len : unescape_simple(inner, pos, out);
        } else {
            tg_buf_addc(out, c);
            pos += c == quote ? 2 : 1;
        }
    }
}

tg_code tg_parse_string(tg_parser *parser, const char *what, tg_str *out_text)
{
    if (tg_parse_kind(parser, 0) != TG_TOK_STRING) {
        return tg_parse_fail(parser, what);
    }
    tg_auto_buf tg_buf value = TG_BUF_INIT;
    while (tg_parse_kind(parser, 0) == TG_TOK_STRING) {
        const tg_token *token = tg_parse_peek(parser, 0);
        add_string(tg_parse_token_text(parser, token), &value);
        tg_parse_advance(parser);
    }
    *out_text = tg_buf_take(&value, parser->arena);
    return TG_OK;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* 'a.b' or a.b; words joined by dots. */
static tg_code parse_property_key(tg_parser *parser, tg_str *out_key)
{
    if (tg_parse_kind(parser, 0) == TG_TOK_STRING) {
        return tg_parse_string(parser, "a property", out_key);
    }
    tg_auto_buf tg_buf key = TG_BUF_INIT;
    do {
        if (!tg_parse_at_name(parser, 0)) {
            return tg_parse_fail(parser, "a property");
        }
        tg_buf_adds(&key, tg_parse_take_ident(parser).text);
        if (tg_parse_kind(parser, 0) == TG_TOK_DOT) {
            tg_buf_addc(&key, '.');
        }
    } while (tg_parse_accept_token(parser, TG_TOK_DOT));
    *out_key = tg_buf_take(&key, parser->arena);
    return TG_OK;
}

static tg_code parse_property_value(tg_parser *parser, tg_str *out_value)
{
    tg_token_kind kind = tg_parse_kind(parser, 0);
    if (kind == TG_TOK_STRING) {
        return tg_parse_string(parser, "a value", out_value);
    }
    size_t offset = tg_parse_offset(parser);
    bool is_negative = tg_parse_accept_token(parser, TG_TOK_MINUS);
    kind = tg_parse_kind(parser, 0);
    bool is_bool = !is_negative && (tg_parse_word(parser, 0) == TG_KW_TRUE ||
                                    tg_parse_word(parser, 0) == TG_KW_FALSE);
    if (!is_bool && kind != TG_TOK_INTEGER && kind != TG_TOK_DECIMAL) {
        return tg_parse_fail(parser, "a string, a number, true or false");
    }
    tg_parse_advance(parser);
    *out_value = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    if (is_bool) {
        *out_value = tg_str_lower(parser->arena, *out_value);
    }
    return TG_OK;
}

tg_code tg_parse_properties(tg_parser *parser, tg_property **out_items, size_t *out_count)
{
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_VEC(tg_property) items = {0};
    tg_map seen;
    tg_map_init(&seen, parser->arena);
    do {
        size_t offset = tg_parse_offset(parser);
        tg_property item = {0};
        TG_TRY(parse_property_key(parser, &item.key));
        if (tg_parse_accept_token(parser, TG_TOK_EQ) ||
            (tg_parse_kind(parser, 0) != TG_TOK_COMMA &&
             tg_parse_kind(parser, 0) != TG_TOK_RIGHT_PAREN)) {
            TG_TRY(parse_property_value(parser, &item.value));
        }
        item.span = tg_parse_span_from(parser, offset);
        if (tg_map_has(&seen, item.key)) {
            (void)TG_ERR(parser->err, DUPLICATE_KEY, "property '%.*s' is given twice",
                         TG_SARG(item.key));
            return tg_error_span(parser->err, item.span.offset, item.span.len);
        }
        (void)tg_map_put(&seen, item.key, parser);
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    *out_items = items.items;
    *out_count = items.count;
    return TG_OK;
}
