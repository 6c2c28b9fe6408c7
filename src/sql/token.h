/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of SQL. Private to the front end and its tests.
 *
 * A text is cut into tokens as a whole before parsing: the parser may then look ahead as far as it
 * likes, and a file with a broken literal still gives the tokens behind it, so that parsing can go
 * on at the next semicolon. Ownership: tokens live in the arena given, texts are views of the
 * source.
 */
#ifndef TG_SQL_TOKEN_H
#define TG_SQL_TOKEN_H

#include "base/base.h"

typedef enum tg_keyword {
    TG_KW_NONE,
#define TG_KEYWORD(word, reserved, strict, quote) TG_KW_##word,
#include "sql/keywords.def"
#undef TG_KEYWORD
    TG_KW_COUNT_
} tg_keyword;

typedef enum tg_token_kind {
    TG_TOK_END,
    TG_TOK_WORD,        /* bare word: keyword or identifier; also 1abc */
    TG_TOK_QUOTED,      /* `identifier` */
    TG_TOK_STRING,      /* 'text' "text" r'text' */
    TG_TOK_INTEGER,     /* 12 */
    TG_TOK_DECIMAL,     /* 1.5 .5 1. */
    TG_TOK_EXPONENT,    /* 1e3 1.5e-3 */
    TG_TOK_BIGINT,      /* 12L */
    TG_TOK_SMALLINT,    /* 12S */
    TG_TOK_TINYINT,     /* 12Y */
    TG_TOK_DOUBLE,      /* 1.5D */
    TG_TOK_FLOAT,       /* 1.5F */
    TG_TOK_BIG_DECIMAL, /* 1.5BD */
    TG_TOK_HINT,        /* the whole of a hint comment */
    TG_TOK_SEMICOLON,
    TG_TOK_LEFT_PAREN,
    TG_TOK_RIGHT_PAREN,
    TG_TOK_LEFT_BRACKET,
    TG_TOK_RIGHT_BRACKET,
    TG_TOK_COMMA,
    TG_TOK_DOT,
    TG_TOK_COLON,
    TG_TOK_DOUBLE_COLON,
    TG_TOK_ARROW,     /* -> */
    TG_TOK_FAT_ARROW, /* => */
    TG_TOK_QUESTION,
    TG_TOK_BANG,
    TG_TOK_EQ, /* = == */
    TG_TOK_NULL_SAFE_EQ,
    TG_TOK_NE, /* <> != */
    TG_TOK_LT,
    TG_TOK_LE, /* <= !> */
    TG_TOK_GT,
    TG_TOK_GE, /* >= !< */
    TG_TOK_SHIFT_LEFT,
    TG_TOK_SHIFT_RIGHT,
    TG_TOK_SHIFT_RIGHT_UNSIGNED,
    TG_TOK_PLUS,
    TG_TOK_MINUS,
    TG_TOK_STAR,
    TG_TOK_SLASH,
    TG_TOK_PERCENT,
    TG_TOK_TILDE,
    TG_TOK_AMPERSAND,
    TG_TOK_PIPE,
    TG_TOK_CONCAT,     /* || */
    TG_TOK_PIPE_ARROW, /* |> */
    TG_TOK_HAT,
    TG_TOK_ERROR /* not a token; why: its problem */
} tg_token_kind;

typedef struct tg_token {
    uint8_t kind;     /* tg_token_kind */
    uint8_t problem;  /* ERROR: tg_lexer_problem */
    uint16_t keyword; /* WORD: tg_keyword or TG_KW_NONE */
    uint32_t offset, len;
} tg_token;

typedef enum tg_lexer_problem {
    TG_LEX_CHARACTER,  /* a character that no token begins with */
    TG_LEX_NUL,        /* a NUL byte */
    TG_LEX_STRING,     /* a string without its end */
    TG_LEX_IDENTIFIER, /* a `name without its end */
    TG_LEX_EMPTY_NAME, /* `` */
    TG_LEX_COMMENT,    /* a comment without its end */
    TG_LEX_LONG_NAME,  /* longer than TG_LIMIT_IDENTIFIER_BYTES */
    TG_LEX_LETTER      /* a bare name with letters beyond ASCII */
} tg_lexer_problem;

/* The last token is END. */
typedef struct tg_tokens {
    tg_token *items;
    size_t count;
} tg_tokens;

/* Checks size and UTF-8; all else that is wrong becomes an ERROR token at its place. */
TG_CHECKED tg_code tg_lexer_run(tg_str text, tg_arena *arena, tg_tokens *out_tokens, tg_error *err);
/* Sets err for an ERROR token; for the parser when it meets one. */
tg_code tg_lexer_fail_(tg_str text, tg_token token, tg_error *err);
#define tg_lexer_fail(...) tg_error_failure_(tg_lexer_fail_(__VA_ARGS__))

/* TG_KW_NONE when the word is no keyword. */
tg_keyword tg_keyword_find(tg_str word);
const char *tg_keyword_text(tg_keyword keyword);
bool tg_keyword_is_strict(tg_keyword keyword);
bool tg_keyword_needs_quotes(tg_keyword keyword);
/* Functions whose first argument may be a bare unit: dateadd(DAY, 1, d). */
bool tg_keyword_takes_unit(tg_keyword function);
bool tg_keyword_is_unit(tg_str word);

#endif
