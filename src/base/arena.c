/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arenas as chains of blocks.
 *
 * Small requests are cut from the newest shared block; a request of more than a quarter of the
 * block size gets a block of its own behind it, so that the rest of the shared block is not wasted.
 * Memory is zeroed when it is handed out, because blocks are reused after a reset. Under
 * AddressSanitizer everything that was not handed out is poisoned, with a gap behind each piece, so
 * that an overrun is found as if each piece came from malloc.
 */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_int.h"
#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define TG_ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_ARENA_ASAN 1
#endif
#endif

#ifdef TG_ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE_BYTES = 16 };
static void poison(const void *bytes, size_t size_bytes)
{
    ASAN_POISON_MEMORY_REGION(bytes, size_bytes);
}
static void unpoison(const void *bytes, size_t size_bytes)
{
    ASAN_UNPOISON_MEMORY_REGION(bytes, size_bytes);
}
#else
enum { RED_ZONE_BYTES = 0 };
static void poison(const void *bytes, size_t size_bytes)
{
    (void)bytes;
    (void)size_bytes;
}
static void unpoison(const void *bytes, size_t size_bytes)
{
    (void)bytes;
    (void)size_bytes;
}
#endif

enum { ALIGN_BYTES = 16, BLOCK_BYTES_MIN = 4096, BLOCK_BYTES_MAX = 256 * 1024 };

typedef struct arena_block {
    struct arena_block *next;
    size_t capacity, used;
    _Alignas(ALIGN_BYTES) char bytes[];
} arena_block;

typedef struct arena_deferred {
    struct arena_deferred *next;
    void (*fn)(void *object);
    void *object;
} arena_deferred;

struct tg_arena {
    arena_block *head; /* the shared block; blocks of single large pieces follow behind it */
    size_t block_bytes;
    arena_deferred *deferred; /* newest first */
    char *newest;             /* the last piece, when it lies in the shared block */
};

static size_t rounded(size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 2) {
        tg_heap_exhausted(size_bytes);
    }
    return (size_bytes + RED_ZONE_BYTES + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
}

static arena_block *block_new(size_t capacity)
{
    arena_block *block = tg_heap_alloc(sizeof(arena_block) + capacity);
    block->next = NULL;
    block->capacity = capacity;
    block->used = 0;
    poison(block->bytes, capacity);
    return block;
}

static void block_free(arena_block *block)
{
    unpoison(block->bytes, block->capacity);
    free(block);
}

tg_arena *tg_arena_new(void)
{
    tg_arena *arena = tg_heap_alloc(sizeof(*arena));
    *arena = (tg_arena){.block_bytes = BLOCK_BYTES_MIN};
    return arena;
}

static void run_deferred(tg_arena *arena)
{
    while (arena->deferred) {
        arena_deferred *deferred = arena->deferred;
        arena->deferred = deferred->next;
        deferred->fn(deferred->object);
    }
}

static void free_blocks(arena_block *block)
{
    while (block) {
        arena_block *next = block->next;
        block_free(block);
        block = next;
    }
}

void tg_arena_free(tg_arena *arena)
{
    if (!arena) {
        return;
    }
    run_deferred(arena);
    free_blocks(arena->head);
    free(arena);
}

void tg_arena_reset(tg_arena *arena)
{
    run_deferred(arena);
    arena->newest = NULL;
    if (arena->head) {
        free_blocks(arena->head->next);
        arena->head->next = NULL;
        arena->head->used = 0;
        poison(arena->head->bytes, arena->head->capacity);
    }
}

/* A block for one piece, behind the shared one. */
static char *alloc_large(tg_arena *arena, size_t piece_bytes)
{
    arena_block *block = block_new(piece_bytes);
    block->used = piece_bytes;
    if (!arena->head) {
        arena->head = block_new(arena->block_bytes);
    }
    block->next = arena->head->next;
    arena->head->next = block;
    arena->newest = NULL;
    return block->bytes;
}

static char *alloc_small(tg_arena *arena, size_t piece_bytes)
{
    arena_block *block = arena->head;
    if (!block || block->capacity - block->used < piece_bytes) {
        if (block && arena->block_bytes < BLOCK_BYTES_MAX) {
            arena->block_bytes *= 2;
        }
        block = block_new(arena->block_bytes);
        block->next = arena->head;
        arena->head = block;
    }
    char *bytes = block->bytes + block->used;
    block->used += piece_bytes;
    arena->newest = bytes;
    return bytes;
}

void *tg_arena_alloc(tg_arena *arena, size_t size_bytes)
{
    size_t piece_bytes = rounded(size_bytes ? size_bytes : 1);
    char *bytes = piece_bytes > arena->block_bytes / 4 ? alloc_large(arena, piece_bytes)
                                                       : alloc_small(arena, piece_bytes);
    unpoison(bytes, size_bytes);
    return memset(bytes, 0, size_bytes);
}

void *tg_arena_calloc(tg_arena *arena, size_t count, size_t size_bytes)
{
    size_t total_bytes;
    if (__builtin_mul_overflow(count, size_bytes, &total_bytes)) {
        tg_heap_exhausted(SIZE_MAX);
    }
    return tg_arena_alloc(arena, total_bytes);
}

void *tg_arena_realloc(tg_arena *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    if (!old) {
        return tg_arena_alloc(arena, new_bytes);
    }
    if (new_bytes <= old_bytes) {
        return old;
    }
    if (old == arena->newest) {
        arena_block *block = arena->head;
        size_t offset = (size_t)((char *)old - block->bytes);
        size_t piece_bytes = rounded(new_bytes);
        if (block->capacity - offset >= piece_bytes) {
            block->used = offset + piece_bytes;
            unpoison(old, new_bytes);
            memset((char *)old + old_bytes, 0, new_bytes - old_bytes);
            return old;
        }
    }
    void *bytes = tg_arena_alloc(arena, new_bytes);
    memcpy(bytes, old, old_bytes);
    return bytes;
}

void tg_copy_bytes(void *to, const void *from, size_t size_bytes)
{
    if (size_bytes > 0) {
        memcpy(to, from, size_bytes);
    }
}

void *tg_arena_memdup(tg_arena *arena, const void *bytes, size_t size_bytes)
{
    void *copy = tg_arena_alloc(arena, size_bytes);
    if (size_bytes > 0) {
        memcpy(copy, bytes, size_bytes);
    }
    return copy;
}

char *tg_arena_strndup(tg_arena *arena, const char *text, size_t len)
{
    char *copy = tg_arena_alloc(arena, len + 1);
    if (len > 0) {
        memcpy(copy, text, len);
    }
    return copy;
}

char *tg_arena_strdup(tg_arena *arena, const char *text)
{
    return tg_arena_strndup(arena, text, strlen(text));
}

char *tg_arena_vprintf(tg_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    tg_assert(len >= 0);
    char *text = tg_arena_alloc(arena, (size_t)len + 1);
    (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *tg_arena_printf(tg_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = tg_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void tg_arena_defer(tg_arena *arena, void (*fn)(void *object), void *object)
{
    arena_deferred *deferred = TG_NEW(arena, arena_deferred);
    *deferred = (arena_deferred){.next = arena->deferred, .fn = fn, .object = object};
    arena->deferred = deferred;
}
