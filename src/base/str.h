/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: views by value, and growing buffers.
 *
 * A tg_str never owns its bytes and need not end in NUL. Text is valid UTF-8 once it passed
 * tg_utf8_check at the door. Identifiers compare by tg_str_ieq (ASCII fold; other letters compare
 * exactly, which is what Spark's resolver does for all names that users write in practice).
 */
#ifndef TG_BASE_STR_H
#define TG_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

typedef struct tg_str {
    const char *ptr;
    size_t len;
} tg_str;

#define TG_S(literal) ((tg_str){(literal), sizeof(literal) - 1})
/* For printf: "%.*s", TG_SARG(name) */
#define TG_SARG(s) (int)(s).len, (s).ptr

static inline tg_str tg_str_from(const char *text)
{
    return (tg_str){text, text ? strlen(text) : 0};
}
bool tg_str_eq(tg_str a, tg_str b);
/* Equal without regard to ASCII case. */
bool tg_str_ieq(tg_str a, tg_str b);
/* Binary (byte) order: <0, 0, >0. Equals UTF-8 code point order. */
int tg_str_cmp(tg_str a, tg_str b);
bool tg_str_starts(tg_str s, tg_str prefix);
bool tg_str_istarts(tg_str s, tg_str prefix);
bool tg_str_ends(tg_str s, tg_str suffix);
/* Is s one of the texts of a list? */
bool tg_str_is_in(tg_str s, const tg_str *list, size_t count);
/* Position of needle in s at or after from, or SIZE_MAX. */
size_t tg_str_find(tg_str s, tg_str needle, size_t from);
tg_str tg_str_sub(tg_str s, size_t from, size_t to);
/* Without ASCII white space at both ends. */
tg_str tg_str_trim(tg_str s);
/* Copies into the arena; the copy ends in NUL. */
tg_str tg_str_copy(tg_arena *arena, tg_str s);
char *tg_str_cstr(tg_arena *arena, tg_str s);
tg_str tg_str_lower(tg_arena *arena, tg_str s);
tg_str tg_str_upper(tg_arena *arena, tg_str s);
tg_str tg_str_printf(tg_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whole-string numbers; false when there is anything else, also blanks, or overflow. */
bool tg_str_to_i64(tg_str s, int64_t *out);
bool tg_str_to_double(tg_str s, double *out);
/*
 * strtod, strtof, and printf's %.*e, %.*f and %.*g (style is that letter) with '.' for the point,
 * whatever the locale of the program that uses the library; the plain functions are banned.
 */
double tg_strtod(const char *text);
float tg_strtof(const char *text);
void tg_double_print(char *out, size_t size, char style, int precision, double value);

/*
 * Length of the valid UTF-8 prefix: s.len when all is valid (no surrogates, no overlong forms, <=
 * U+10FFFF).
 */
size_t tg_utf8_valid_len(tg_str s);
/* Decodes the code point at pos, which must be valid; moves pos behind it. */
uint32_t tg_utf8_next(tg_str s, size_t *pos);
/* Writes 1 to 4 bytes. */
size_t tg_utf8_put(char *to, uint32_t code_point);
/* Number of code points. */
size_t tg_utf8_count(tg_str s);
/* Columns on a terminal: 0, 1 or 2. */
int tg_utf8_width(uint32_t code_point);

/* Edit distance (optimal string alignment, case folded), for "did you mean". */
size_t tg_str_distance(tg_str a, tg_str b);
/*
 * The nearest of the candidates, or an empty string when none is near (distance at most a third of
 * the length, at least 1).
 */
tg_str tg_str_nearest(tg_str word, const tg_str *candidates, size_t count);

/*
 * A growing byte buffer on the heap. Initialise with tg_buf_init or {0}; release with
 * tg_buf_dispose.
 */
typedef struct tg_buf {
    char *ptr;
    size_t len;
    size_t capacity;
} tg_buf;
#define TG_BUF_INIT \
    {               \
        NULL, 0, 0  \
    }
void tg_buf_dispose(tg_buf *buf);
void tg_buf_clear(tg_buf *buf);
void tg_buf_reserve(tg_buf *buf, size_t more_bytes);
void tg_buf_add(tg_buf *buf, const void *bytes, size_t len);
void tg_buf_adds(tg_buf *buf, tg_str s);
void tg_buf_addz(tg_buf *buf, const char *text);
void tg_buf_addc(tg_buf *buf, char c);
void tg_buf_addf(tg_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds text between quotes; a quote in it is doubled (identifiers and strings of SQL, CSV fields). */
void tg_buf_addq(tg_buf *buf, tg_str text, char quote);
void tg_buf_vaddf(tg_buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* View of the content; valid until the next change. */
static inline tg_str tg_buf_str(const tg_buf *buf)
{
    return (tg_str){buf->ptr ? buf->ptr : "", buf->len};
}
/* Content with a NUL behind it (not counted). */
const char *tg_buf_cstr(tg_buf *buf);
/* Copies the content into the arena and clears the buffer. */
tg_str tg_buf_take(tg_buf *buf, tg_arena *arena);
#define tg_auto_buf __attribute__((cleanup(tg_buf_dispose)))

#endif
