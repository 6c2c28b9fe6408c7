/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from strings to pointers. Iterates in insertion order; hashes with a per-process seed.
 * Memory: all in the arena given at init; keys are borrowed (must outlive the map) and never
 * copied.
 */
#ifndef TG_BASE_MAP_H
#define TG_BASE_MAP_H

#include "base/str.h"

typedef struct tg_map_entry {
    tg_str key;
    void *value;
    uint64_t hash; /* private */
    bool removed;  /* skip these when iterating */
} tg_map_entry;

typedef struct tg_map {
    tg_arena *arena;
    tg_map_entry *entries; /* in insertion order, used_count of them, removed ones included */
    size_t used_count;
    size_t count; /* live entries */
    uint32_t *slots;
    size_t slot_count, entry_capacity;
    bool ignore_case; /* ASCII */
} tg_map;

void tg_map_init(tg_map *map, tg_arena *arena);
/* Keys compare without regard to ASCII case (identifiers). */
void tg_map_init_ignore_case(tg_map *map, tg_arena *arena);
/* NULL when absent. */
void *tg_map_get(const tg_map *map, tg_str key);
bool tg_map_has(const tg_map *map, tg_str key);
/* Adds or replaces; returns the old value or NULL. */
void *tg_map_put(tg_map *map, tg_str key, void *value);
/* Returns the removed value or NULL. */
void *tg_map_remove(tg_map *map, tg_str key);

#endif
