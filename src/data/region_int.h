/* SPDX-License-Identifier: Apache-2.0 */
/* Private to data: sets of values of one column, the floor that regions stand on. */
#ifndef TG_DATA_REGION_INT_H
#define TG_DATA_REGION_INT_H

#include "data/region.h"

/* Brings one interval into normal form (closed for discrete types, no bound at the end of the
 * type's range); false: empty. */
bool tg_interval_normalize(tg_interval *interval, const tg_type *type);
/* Sorts and merges intervals in normal form, in place; returns the new count. */
size_t tg_intervals_merge(tg_interval *intervals, size_t count);

bool tg_domain_is_empty(const tg_domain *domain);
/* Holds every value and NULL. */
bool tg_domain_is_full(const tg_domain *domain);
/* Both of the same column and type. */
bool tg_domain_same(const tg_domain *a, const tg_domain *b);
bool tg_domain_meets(const tg_domain *a, const tg_domain *b);
bool tg_domain_contains(const tg_domain *outer, const tg_domain *inner);
tg_domain tg_domain_and(tg_arena *arena, const tg_domain *a, const tg_domain *b);
tg_domain tg_domain_or(tg_arena *arena, const tg_domain *a, const tg_domain *b);
/* All values and NULL but those of domain. */
tg_domain tg_domain_not(tg_arena *arena, const tg_domain *domain);

#endif
