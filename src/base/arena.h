/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arenas: memory with a named lifetime (session, statement, update, scratch).
 *
 * Purpose: everything that one statement or one update allocates is released together, never
 * singly.
 * Ownership: an arena owns bytes and the deferred clean-ups attached to it; it is owned by its
 * creator.
 * Threads: one arena is used by one thread at a time.
 * Out of memory: small allocations never return NULL (a message, then abort); anything sized by a
 * file or a peer is checked against limits.def before it is allocated.
 */
#ifndef TG_BASE_ARENA_H
#define TG_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tg_arena tg_arena;

/* A new empty arena. Never NULL. Release with tg_arena_free. */
tg_arena *tg_arena_new(void);
/* Runs the deferred clean-ups, newest first, then releases all memory. Takes NULL. */
void tg_arena_free(tg_arena *arena);
/* As free and new, but keeps one block for reuse. */
void tg_arena_reset(tg_arena *arena);

/* Zeroed memory, aligned for any type; size 0 gives a valid pointer. */
void *tg_arena_alloc(tg_arena *arena, size_t size_bytes);
/* count * size bytes, zeroed; aborts on overflow of the product. */
void *tg_arena_calloc(tg_arena *arena, size_t count, size_t size_bytes);
/*
 * Grows an array in place when it is the newest block, else copies. old may be NULL. New bytes are
 * zeroed.
 */
void *tg_arena_realloc(tg_arena *arena, void *old, size_t old_bytes, size_t new_bytes);
void *tg_arena_memdup(tg_arena *arena, const void *bytes, size_t size_bytes);
/* memcpy that takes a missing array of no bytes: an empty list has no items to point at. */
void tg_copy_bytes(void *to, const void *from, size_t size_bytes);
/* NUL-terminated copies. */
char *tg_arena_strdup(tg_arena *arena, const char *text);
char *tg_arena_strndup(tg_arena *arena, const char *text, size_t len);
char *tg_arena_printf(tg_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *tg_arena_vprintf(tg_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Calls fn(object) when the arena is released or reset: for files, handles, locks. */
void tg_arena_defer(tg_arena *arena, void (*fn)(void *object), void *object);

#define TG_NEW(arena, type) ((type *)tg_arena_alloc((arena), sizeof(type)))
#define TG_NEW_ARRAY(arena, type, count) ((type *)tg_arena_calloc((arena), (count), sizeof(type)))

/*
 * Growing arrays in an arena: TG_VEC(int) v = {0}; TG_VEC_PUSH(arena, &v, 7); v.items[0], v.count
 */
#define TG_VEC(type)     \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }
#define TG_VEC_PUSH(arena, vec, ...)                                                             \
    do {                                                                                         \
        __auto_type tg_vec_ = (vec);                                                             \
        if (tg_vec_->count == tg_vec_->capacity) {                                               \
            size_t tg_cap_ = tg_vec_->capacity ? tg_vec_->capacity * 2 : 8;                      \
            size_t tg_size_ = sizeof(__typeof__(*tg_vec_->items));                               \
            tg_vec_->items = tg_arena_realloc((arena), tg_vec_->items,                           \
                                              tg_vec_->capacity * tg_size_, tg_cap_ * tg_size_); \
            tg_vec_->capacity = tg_cap_;                                                         \
        }                                                                                        \
        tg_vec_->items[tg_vec_->count++] = (__VA_ARGS__);                                        \
    } while (0)

static inline void tg_arena_cleanup(tg_arena **arena)
{
    tg_arena_free(*arena);
}
/* Scope-owned arena: tg_auto_arena tg_arena *scratch = tg_arena_new(); */
#define tg_auto_arena __attribute__((cleanup(tg_arena_cleanup)))

#endif
