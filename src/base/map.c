/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries in insertion order, and an open-addressing table of their indexes.
 *
 * A slot holds 0 (never used), SLOT_REMOVED, or index + 1. A removed entry stays in the list,
 * marked, until the list is full; then the live ones move together. The seed differs per process,
 * so that no input can be made to collide.
 */
#include "base/map.h"

#include <pthread.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"

#define SLOT_REMOVED UINT32_MAX
enum { ENTRIES_MIN = 8 };

static uint64_t hash_seed;

static void make_hash_seed(void)
{
    if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) != (ssize_t)sizeof(hash_seed)) {
        struct timespec now;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        hash_seed = (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
    }
}

static uint64_t hash_exact(tg_str key)
{
    return XXH3_64bits_withSeed(key.ptr, key.len, hash_seed);
}

static uint64_t hash_ignoring_case(tg_str key)
{
    char piece[64];
    uint64_t hash = hash_seed;
    for (size_t pos = 0; pos < key.len; pos += sizeof(piece)) {
        size_t len = key.len - pos < sizeof(piece) ? key.len - pos : sizeof(piece);
        for (size_t i = 0; i < len; i++) {
            char c = key.ptr[pos + i];
            piece[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        }
        hash = XXH3_64bits_withSeed(piece, len, hash);
    }
    return hash;
}

static uint64_t hash_of(const tg_map *map, tg_str key)
{
    return map->ignore_case ? hash_ignoring_case(key) : hash_exact(key);
}

static void init(tg_map *map, tg_arena *arena, bool ignore_case)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_hash_seed);
    *map = (tg_map){.arena = arena, .ignore_case = ignore_case};
}

void tg_map_init(tg_map *map, tg_arena *arena)
{
    init(map, arena, false);
}

void tg_map_init_ignore_case(tg_map *map, tg_arena *arena)
{
    init(map, arena, true);
}

/* The slot that holds the key, or NULL. */
static uint32_t *find_slot(const tg_map *map, tg_str key, uint64_t hash)
{
    if (map->slot_count == 0) {
        return NULL;
    }
    size_t mask = map->slot_count - 1;
    for (size_t i = hash & mask; map->slots[i] != 0; i = (i + 1) & mask) {
        if (map->slots[i] == SLOT_REMOVED) {
            continue;
        }
        const tg_map_entry *entry = &map->entries[map->slots[i] - 1];
        if (entry->hash == hash &&
            (map->ignore_case ? tg_str_ieq(entry->key, key) : tg_str_eq(entry->key, key))) {
            return &map->slots[i];
        }
    }
    return NULL;
}

static void put_slot(tg_map *map, uint64_t hash, size_t index)
{
    size_t mask = map->slot_count - 1;
    size_t i = hash & mask;
    while (map->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    map->slots[i] = (uint32_t)(index + 1);
}

/*
 * Makes room for one more entry: drops removed ones, and doubles when more than half of the list is
 * live.
 */
static void grow(tg_map *map)
{
    size_t capacity = map->entry_capacity ? map->entry_capacity : ENTRIES_MIN;
    if (map->count >= capacity / 2) {
        capacity *= 2;
    }
    tg_assert(capacity < SLOT_REMOVED / 2);
    tg_map_entry *entries = TG_NEW_ARRAY(map->arena, tg_map_entry, capacity);
    size_t used = 0;
    for (size_t i = 0; i < map->used_count; i++) {
        if (!map->entries[i].removed) {
            entries[used++] = map->entries[i];
        }
    }
    map->entries = entries;
    map->entry_capacity = capacity;
    map->used_count = used;
    map->slot_count = capacity * 2; /* a power of two, at most half full */
    map->slots = TG_NEW_ARRAY(map->arena, uint32_t, map->slot_count);
    for (size_t i = 0; i < used; i++) {
        put_slot(map, entries[i].hash, i);
    }
}

void *tg_map_get(const tg_map *map, tg_str key)
{
    const uint32_t *slot = find_slot(map, key, hash_of(map, key));
    return slot ? map->entries[*slot - 1].value : NULL;
}

bool tg_map_has(const tg_map *map, tg_str key)
{
    return find_slot(map, key, hash_of(map, key)) != NULL;
}

void *tg_map_put(tg_map *map, tg_str key, void *value)
{
    uint64_t hash = hash_of(map, key);
    const uint32_t *slot = find_slot(map, key, hash);
    if (slot) {
        tg_map_entry *entry = &map->entries[*slot - 1];
        void *old = entry->value;
        entry->value = value;
        return old;
    }
    if (map->used_count == map->entry_capacity) {
        grow(map);
    }
    map->entries[map->used_count] = (tg_map_entry){.key = key, .value = value, .hash = hash};
    put_slot(map, hash, map->used_count);
    map->used_count++;
    map->count++;
    return NULL;
}

void *tg_map_remove(tg_map *map, tg_str key)
{
    uint32_t *slot = find_slot(map, key, hash_of(map, key));
    if (!slot) {
        return NULL;
    }
    tg_map_entry *entry = &map->entries[*slot - 1];
    *slot = SLOT_REMOVED;
    entry->removed = true;
    map->count--;
    return entry->value;
}
