/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffers on the heap. There is always room for a NUL behind the content. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base_int.h"
#include "base/error.h"
#include "base/str.h"

enum { CAPACITY_MIN = 64 };

void tg_buf_dispose(tg_buf *buf)
{
    free(buf->ptr);
    *buf = (tg_buf)TG_BUF_INIT;
}

void tg_buf_clear(tg_buf *buf)
{
    buf->len = 0;
}

void tg_buf_reserve(tg_buf *buf, size_t more_bytes)
{
    size_t needed;
    if (__builtin_add_overflow(buf->len, more_bytes, &needed) || needed >= SIZE_MAX / 2) {
        tg_heap_exhausted(more_bytes);
    }
    needed++; /* the NUL */
    if (needed <= buf->capacity) {
        return;
    }
    size_t capacity = buf->capacity ? buf->capacity * 2 : CAPACITY_MIN;
    while (capacity < needed) {
        capacity *= 2;
    }
    buf->ptr = tg_heap_realloc(buf->ptr, capacity);
    buf->capacity = capacity;
}

void tg_buf_add(tg_buf *buf, const void *bytes, size_t len)
{
    if (len == 0) {
        return;
    }
    tg_buf_reserve(buf, len);
    memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
}

void tg_buf_adds(tg_buf *buf, tg_str s)
{
    tg_buf_add(buf, s.ptr, s.len);
}

void tg_buf_addz(tg_buf *buf, const char *text)
{
    tg_buf_add(buf, text, strlen(text));
}

void tg_buf_addc(tg_buf *buf, char c)
{
    tg_buf_add(buf, &c, 1);
}

void tg_buf_addq(tg_buf *buf, tg_str text, char quote)
{
    tg_buf_addc(buf, quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == quote) {
            tg_buf_addc(buf, quote);
        }
        tg_buf_addc(buf, text.ptr[i]);
    }
    tg_buf_addc(buf, quote);
}

void tg_buf_vaddf(tg_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    tg_assert(len >= 0);
    tg_buf_reserve(buf, (size_t)len);
    (void)vsnprintf(buf->ptr + buf->len, (size_t)len + 1, format, again);
    buf->len += (size_t)len;
    va_end(again);
}

void tg_buf_addf(tg_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tg_buf_vaddf(buf, format, args);
    va_end(args);
}

const char *tg_buf_cstr(tg_buf *buf)
{
    tg_buf_reserve(buf, 0);
    buf->ptr[buf->len] = '\0';
    return buf->ptr;
}

tg_str tg_buf_take(tg_buf *buf, tg_arena *arena)
{
    tg_str copy = tg_str_copy(arena, tg_buf_str(buf));
    tg_buf_clear(buf);
    return copy;
}
