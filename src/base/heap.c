/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only calls of malloc and realloc in the library.
 *
 * Running out of memory aborts: sizes that come from a file or a peer are checked against
 * limits.def before they get here, so what fails is a small request on a machine that is beyond
 * help.
 */
#include "base/base_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tg_heap_exhausted(size_t size_bytes)
{
    (void)fprintf(stderr, "tidegate: out of memory (%zu bytes were asked for)\n", size_bytes);
    abort();
}

void *tg_heap_alloc(size_t size_bytes)
{
    void *bytes = malloc(size_bytes ? size_bytes : 1);
    if (!bytes) {
        tg_heap_exhausted(size_bytes);
    }
    return bytes;
}

void *tg_heap_realloc(void *old, size_t size_bytes)
{
    void *bytes = realloc(old, size_bytes ? size_bytes : 1);
    if (!bytes) {
        tg_heap_exhausted(size_bytes);
    }
    return bytes;
}

char *tg_heap_strndup(const char *text, size_t len)
{
    char *copy = tg_heap_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *tg_heap_strdup(const char *text)
{
    return text ? tg_heap_strndup(text, strlen(text)) : NULL;
}

char *tg_heap_vprintf(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len <
        0) { /* only a broken format or an encoding error: the format says more than nothing */
        va_end(again);
        return tg_heap_strdup(format);
    }
    char *text = tg_heap_alloc((size_t)len + 1);
    (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}
