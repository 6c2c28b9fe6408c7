/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer: bytes -> tokens, by Spark's rules (facts: SqlBaseLexer.g4 of Apache Spark 4).
 *
 * The longest match wins, so 1_000 and 1abc are words, 1L and 1e3 numbers. A decimal point makes a
 * number only when no letter, digit or underscore follows the number: 1.5x is 1 . 5x. Comments
 * nest, `--` runs to the end of the line.
 * `>>` is one token; the type parser takes it apart.
 */
#include "sql/token.h"

typedef struct lexer {
    tg_str text;
    size_t pos;
    tg_arena *arena;
    TG_VEC(tg_token) tokens;
} lexer;

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_char(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The byte at pos + ahead, -1 behind the end. */
static int peek(const lexer *lex, size_t ahead)
{
    size_t at = lex->pos + ahead;
    return at < lex->text.len ? (unsigned char)lex->text.ptr[at] : -1;
}

static int peek_upper(const lexer *lex, size_t ahead)
{
    int c = peek(lex, ahead);
    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static void push(lexer *lex, tg_token_kind kind, size_t len)
{
    tg_token token = {.kind = (uint8_t)kind, .offset = (uint32_t)lex->pos, .len = (uint32_t)len};
    TG_VEC_PUSH(lex->arena, &lex->tokens, token);
    lex->pos += len;
}

static void push_problem(lexer *lex, tg_lexer_problem problem, size_t len)
{
    push(lex, TG_TOK_ERROR, len);
    lex->tokens.items[lex->tokens.count - 1].problem = (uint8_t)problem;
}

/* ---- blanks and comments ---- */

/* Bytes of the white space at pos + ahead beyond ASCII (Spark's WS: U+00A0 U+1680 U+2000..200A
 * U+2028 U+202F U+205F U+3000 and a BOM at the start); 0: none. */
static size_t wide_blank_len(const lexer *lex, size_t ahead)
{
    int a = peek(lex, ahead), b = peek(lex, ahead + 1), c = peek(lex, ahead + 2);
    if (a == 0xC2 && b == 0xA0) {
        return 2;
    }
    bool is_blank =
        (a == 0xE1 && b == 0x9A && c == 0x80) ||
        (a == 0xE2 && b == 0x80 && ((c >= 0x80 && c <= 0x8A) || c == 0xA8 || c == 0xAF)) ||
        (a == 0xE2 && b == 0x81 && c == 0x9F) || (a == 0xE3 && b == 0x80 && c == 0x80) ||
        (a == 0xEF && b == 0xBB && c == 0xBF && lex->pos + ahead == 0);
    return is_blank ? 3 : 0;
}

static void skip_line_comment(lexer *lex)
{
    while (lex->pos < lex->text.len && peek(lex, 0) != '\n' && peek(lex, 0) != '\r') {
        /* A backslash at the end of the line continues the comment. */
        lex->pos += peek(lex, 0) == '\\' && peek(lex, 1) == '\n' ? 2 : 1;
    }
}

/* At the start of a comment; its length, or 0 when it has no end. */
static size_t block_comment_len(const lexer *lex)
{
    size_t depth = 0, ahead = 0;
    while (peek(lex, ahead) >= 0) {
        if (peek(lex, ahead) == '/' && peek(lex, ahead + 1) == '*') {
            depth++;
            ahead += 2;
        } else if (peek(lex, ahead) == '*' && peek(lex, ahead + 1) == '/') {
            depth--;
            ahead += 2;
            if (depth == 0) {
                return ahead;
            }
        } else {
            ahead++;
        }
    }
    return 0;
}

/* True when something was skipped or pushed. */
static bool lex_blank(lexer *lex)
{
    int c = peek(lex, 0);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        lex->pos++;
        return true;
    }
    size_t wide = c >= 0x80 ? wide_blank_len(lex, 0) : 0;
    if (wide > 0) {
        lex->pos += wide;
        return true;
    }
    if (c == '-' && peek(lex, 1) == '-') {
        skip_line_comment(lex);
        return true;
    }
    if (c == '/' && peek(lex, 1) == '*') {
        size_t len = block_comment_len(lex);
        if (len == 0) {
            push_problem(lex, TG_LEX_COMMENT, lex->text.len - lex->pos);
        } else if (peek(lex, 2) == '+') {
            push(lex, TG_TOK_HINT, len);
        } else {
            lex->pos += len;
        }
        return true;
    }
    return false;
}

/* ---- quoted things ---- */

/* 'text' or "text" whose quote stands at pos + from; raw: without escapes and without doubled
 * quotes. */
static void lex_string(lexer *lex, size_t from, bool is_raw)
{
    int quote = peek(lex, from);
    size_t ahead = from + 1;
    for (int c = peek(lex, ahead); c >= 0; c = peek(lex, ahead)) {
        if (c == quote && !is_raw && peek(lex, ahead + 1) == quote) {
            ahead += 2;
        } else if (c == quote) {
            push(lex, TG_TOK_STRING, ahead + 1);
            return;
        } else {
            ahead += c == '\\' && !is_raw ? 2 : 1;
        }
    }
    push_problem(lex, TG_LEX_STRING, lex->text.len - lex->pos);
}

static void lex_quoted_identifier(lexer *lex)
{
    size_t ahead = 1;
    for (int c = peek(lex, ahead); c >= 0; c = peek(lex, ahead)) {
        if (c == '`' && peek(lex, ahead + 1) == '`') {
            ahead += 2;
            continue;
        }
        if (c != '`') {
            ahead++;
            continue;
        }
        if (ahead == 1) {
            push_problem(lex, TG_LEX_EMPTY_NAME, 2);
        } else if (ahead - 1 > TG_LIMIT_IDENTIFIER_BYTES) {
            push_problem(lex, TG_LEX_LONG_NAME, ahead + 1);
        } else {
            push(lex, TG_TOK_QUOTED, ahead + 1);
        }
        return;
    }
    push_problem(lex, TG_LEX_IDENTIFIER, lex->text.len - lex->pos);
}

/* ---- numbers and words ---- */

static size_t digits_len(const lexer *lex, size_t from)
{
    size_t ahead = from;
    while (is_digit(peek(lex, ahead))) {
        ahead++;
    }
    return ahead - from;
}

/* E[+-]digits at pos + from; 0: none. */
static size_t exponent_len(const lexer *lex, size_t from)
{
    if (peek_upper(lex, from) != 'E') {
        return 0;
    }
    size_t sign = peek(lex, from + 1) == '+' || peek(lex, from + 1) == '-' ? 1 : 0;
    size_t digits = digits_len(lex, from + 1 + sign);
    return digits > 0 ? 1 + sign + digits : 0;
}

/* The suffix at pos + from gives the kind; plain is the kind without one. */
static tg_token_kind number_suffix(const lexer *lex, size_t from, tg_token_kind plain,
                                   size_t *out_len)
{
    int c = peek_upper(lex, from);
    *out_len = 1;
    switch (c) {
    case 'D':
        return TG_TOK_DOUBLE;
    case 'F':
        return TG_TOK_FLOAT;
    case 'B':
        if (peek_upper(lex, from + 1) == 'D') {
            *out_len = 2;
            return TG_TOK_BIG_DECIMAL;
        }
        break;
    case 'L':
    case 'S':
    case 'Y':
        if (plain == TG_TOK_INTEGER) {
            return c == 'L' ? TG_TOK_BIGINT : c == 'S' ? TG_TOK_SMALLINT : TG_TOK_TINYINT;
        }
        break;
    default:
        break;
    }
    *out_len = 0;
    return plain;
}

/* A number at pos; false when what is there is a word or a dot. */
static bool lex_number(lexer *lex)
{
    size_t whole = digits_len(lex, 0);
    if (peek(lex, whole) == '.' && (whole > 0 || is_digit(peek(lex, 1)))) {
        size_t len = whole + 1 + digits_len(lex, whole + 1);
        size_t exponent = exponent_len(lex, len), suffix = 0;
        tg_token_kind kind = number_suffix(
            lex, len + exponent, exponent > 0 ? TG_TOK_EXPONENT : TG_TOK_DECIMAL, &suffix);
        len += exponent + suffix;
        if (!is_word_char(peek(lex, len))) {
            push(lex, kind, len);
            return true;
        }
    }
    if (whole == 0) {
        return false;
    }
    size_t exponent = exponent_len(lex, whole), suffix = 0;
    tg_token_kind kind = number_suffix(lex, whole + exponent,
                                       exponent > 0 ? TG_TOK_EXPONENT : TG_TOK_INTEGER, &suffix);
    size_t len = whole + exponent + suffix;
    size_t word = 0;
    while (is_word_char(peek(lex, word))) {
        word++;
    }
    if (word > len) {
        return false;
    }
    push(lex, kind, len);
    return true;
}

static void lex_word(lexer *lex)
{
    size_t len = 0;
    bool has_letters = false; /* beyond ASCII */
    for (int c = peek(lex, 0); is_word_char(c) || c >= 0x80; c = peek(lex, len)) {
        if (c >= 0x80) {
            if (wide_blank_len(lex, len) > 0) {
                break;
            }
            has_letters = true;
        }
        len++;
    }
    if (has_letters) {
        push_problem(lex, TG_LEX_LETTER, len);
    } else if (len > TG_LIMIT_IDENTIFIER_BYTES) {
        push_problem(lex, TG_LEX_LONG_NAME, len);
    } else {
        tg_keyword keyword = tg_keyword_find(tg_str_sub(lex->text, lex->pos, lex->pos + len));
        push(lex, TG_TOK_WORD, len);
        lex->tokens.items[lex->tokens.count - 1].keyword = (uint16_t)keyword;
    }
}

/* ---- signs ---- */

typedef struct sign {
    char text[4];
    uint8_t len, kind;
} sign;

/* Longer ones first where one begins another. */
static const sign signs[] = {
    {">>>", 3, TG_TOK_SHIFT_RIGHT_UNSIGNED},
    {"<=>", 3, TG_TOK_NULL_SAFE_EQ},
    {"::", 2, TG_TOK_DOUBLE_COLON},
    {"->", 2, TG_TOK_ARROW},
    {"=>", 2, TG_TOK_FAT_ARROW},
    {"==", 2, TG_TOK_EQ},
    {"<>", 2, TG_TOK_NE},
    {"!=", 2, TG_TOK_NE},
    {"<=", 2, TG_TOK_LE},
    {"!>", 2, TG_TOK_LE},
    {">=", 2, TG_TOK_GE},
    {"!<", 2, TG_TOK_GE},
    {"<<", 2, TG_TOK_SHIFT_LEFT},
    {">>", 2, TG_TOK_SHIFT_RIGHT},
    {"||", 2, TG_TOK_CONCAT},
    {"|>", 2, TG_TOK_PIPE_ARROW},
    {";", 1, TG_TOK_SEMICOLON},
    {"(", 1, TG_TOK_LEFT_PAREN},
    {")", 1, TG_TOK_RIGHT_PAREN},
    {"[", 1, TG_TOK_LEFT_BRACKET},
    {"]", 1, TG_TOK_RIGHT_BRACKET},
    {",", 1, TG_TOK_COMMA},
    {".", 1, TG_TOK_DOT},
    {":", 1, TG_TOK_COLON},
    {"?", 1, TG_TOK_QUESTION},
    {"!", 1, TG_TOK_BANG},
    {"=", 1, TG_TOK_EQ},
    {"<", 1, TG_TOK_LT},
    {">", 1, TG_TOK_GT},
    {"+", 1, TG_TOK_PLUS},
    {"-", 1, TG_TOK_MINUS},
    {"*", 1, TG_TOK_STAR},
    {"/", 1, TG_TOK_SLASH},
    {"%", 1, TG_TOK_PERCENT},
    {"~", 1, TG_TOK_TILDE},
    {"&", 1, TG_TOK_AMPERSAND},
    {"|", 1, TG_TOK_PIPE},
    {"^", 1, TG_TOK_HAT},
};

static bool lex_sign(lexer *lex)
{
    tg_str rest = tg_str_sub(lex->text, lex->pos, lex->text.len);
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (rest.len >= signs[i].len && memcmp(rest.ptr, signs[i].text, signs[i].len) == 0) {
            push(lex, (tg_token_kind)signs[i].kind, signs[i].len);
            return true;
        }
    }
    return false;
}

static void lex_token(lexer *lex)
{
    int c = peek(lex, 0);
    if (c == '\'' || c == '"') {
        lex_string(lex, 0, false);
    } else if (peek_upper(lex, 0) == 'R' && (peek(lex, 1) == '\'' || peek(lex, 1) == '"')) {
        lex_string(lex, 1, true);
    } else if (c == '`') {
        lex_quoted_identifier(lex);
    } else if ((is_digit(c) || c == '.') && lex_number(lex)) {
        return;
    } else if (is_word_char(c) || c >= 0x80) {
        lex_word(lex);
    } else if (!lex_sign(lex)) {
        push_problem(lex, c == 0 ? TG_LEX_NUL : TG_LEX_CHARACTER, 1);
    }
}

/* ---- entry points ---- */

tg_code tg_lexer_run(tg_str text, tg_arena *arena, tg_tokens *out_tokens, tg_error *err)
{
    if (text.len > TG_LIMIT_STATEMENT_BYTES) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED,
                "SQL text of %zu bytes is longer than the limit of %d bytes", text.len,
                (int)TG_LIMIT_STATEMENT_BYTES);
    }
    size_t valid = tg_utf8_valid_len(text);
    if (valid < text.len) {
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "SQL text is not valid UTF-8 at byte %zu", valid);
        return tg_error_span(err, valid, 1);
    }
    lexer lex = {.text = text, .arena = arena};
    while (lex.pos < text.len) {
        if (!lex_blank(&lex)) {
            lex_token(&lex);
        }
    }
    push(&lex, TG_TOK_END, 0);
    *out_tokens = (tg_tokens){lex.tokens.items, lex.tokens.count};
    return TG_OK;
}

tg_code tg_lexer_fail_(tg_str text, tg_token token, tg_error *err)
{
    tg_str shown = tg_str_sub(text, token.offset, token.offset + token.len);
    size_t span_len = token.len;
    switch ((tg_lexer_problem)token.problem) {
    case TG_LEX_CHARACTER:
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "syntax error at or near '%.*s'", TG_SARG(shown));
        if (shown.ptr[0] == '$') {
            (void)tg_error_hint(err, "Values of a pipeline's configuration are written ${key}; "
                                     "parameters are written :name.");
        }
        break;
    case TG_LEX_NUL:
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "SQL text has a NUL byte");
        break;
    case TG_LEX_STRING:
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "string has no closing quote");
        span_len = 1;
        break;
    case TG_LEX_IDENTIFIER:
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "quoted name has no closing backtick");
        span_len = 1;
        break;
    case TG_LEX_EMPTY_NAME:
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "quoted name is empty");
        break;
    case TG_LEX_COMMENT:
        (void)TG_ERR(err, UNCLOSED_BRACKETED_COMMENT, "comment has no closing */");
        (void)tg_error_hint(err, "Comments nest: each /* needs a */ of its own.");
        span_len = 2;
        break;
    case TG_LEX_LONG_NAME:
        (void)TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED,
                     "name of %u bytes is longer than the limit of %d bytes", token.len,
                     (int)TG_LIMIT_IDENTIFIER_BYTES);
        break;
    case TG_LEX_LETTER:
        (void)TG_ERR(err, INVALID_IDENTIFIER, "name '%.*s' needs backticks", TG_SARG(shown));
        (void)tg_error_hint(err,
                            "Names without backticks are made of the letters a to z, digits and "
                            "underscores. Write `%.*s`.",
                            TG_SARG(shown));
        break;
    }
    return tg_error_span(err, token.offset, span_len);
}
