/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to base: heap memory for objects that outlive arenas (buffers, error texts). Small
 * requests never fail.
 */
#ifndef TG_BASE_BASE_INT_H
#define TG_BASE_BASE_INT_H

#include <stdarg.h>
#include <stddef.h>

/* Never NULL: out of memory prints one line and aborts. */
void *tg_heap_alloc(size_t size_bytes);
void *tg_heap_realloc(void *old, size_t size_bytes);
char *tg_heap_strdup(const char *text); /* NULL gives NULL */
char *tg_heap_strndup(const char *text, size_t len);
char *tg_heap_vprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
_Noreturn void tg_heap_exhausted(size_t size_bytes);

#endif
