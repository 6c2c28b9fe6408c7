/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains: sets of values of one column as ascending, disjoint intervals, plus whether NULL is in.
 *
 * Normal form makes equal sets look equal: bounds of discrete types are closed, adjacent intervals
 * are one, and a bound that excludes nothing (x >= false, x <= NaN, s >= '') is dropped.
 */
#include <math.h>
#include <stdlib.h>

#include "data/region_int.h"

/* ---- bounds ---------------------------------------------------------------------------------- */

static bool is_discrete(const tg_type *type)
{
    return tg_type_is_integer(type) || tg_type_is_datetime(type) || type->kind == TG_TYPE_BOOLEAN ||
           type->kind == TG_TYPE_DECIMAL;
}

/* Is value the least (greatest) of its type? */
static bool is_least(tg_value value)
{
    tg_value other;

    switch (value.type->kind) {
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
        return value.as.bytes.len == 0;
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return isinf(value.as.f64) && value.as.f64 < 0;
    default:
        return is_discrete(value.type) && !tg_value_prev(value, &other);
    }
}

static bool is_greatest(tg_value value)
{
    tg_value other;

    if (tg_type_is_floating(value.type)) {
        return isnan(value.as.f64);
    }
    return is_discrete(value.type) && !tg_value_next(value, &other);
}

/* Where intervals begin: <0 when a begins before b. */
static int low_cmp(const tg_interval *a, const tg_interval *b)
{
    int order;

    if (!a->has_low || !b->has_low) {
        return (int)a->has_low - (int)b->has_low;
    }
    order = tg_value_cmp(a->low, b->low);
    return order ? order : (int)a->low_open - (int)b->low_open;
}

/* Where intervals end: <0 when a ends before b. */
static int high_cmp(const tg_interval *a, const tg_interval *b)
{
    int order;

    if (!a->has_high || !b->has_high) {
        return (int)b->has_high - (int)a->has_high;
    }
    order = tg_value_cmp(a->high, b->high);
    return order ? order : (int)b->high_open - (int)a->high_open;
}

static bool is_empty_interval(const tg_interval *interval)
{
    int order;

    if (!interval->has_low || !interval->has_high) {
        return false;
    }
    order = tg_value_cmp(interval->low, interval->high);
    return order > 0 || (order == 0 && (interval->low_open || interval->high_open));
}

bool tg_interval_normalize(tg_interval *interval, const tg_type *type)
{
    tg_interval result = *interval;

    if ((result.has_low && result.low.is_null) || (result.has_high && result.high.is_null)) {
        return false; /* a comparison with NULL is never true */
    }
    if (result.has_low && result.low_open && is_discrete(type)) {
        result.low_open = false;
        if (!tg_value_next(interval->low, &result.low)) {
            return false;
        }
    }
    if (result.has_high && result.high_open && is_discrete(type)) {
        result.high_open = false;
        if (!tg_value_prev(interval->high, &result.high)) {
            return false;
        }
    }
    if (result.has_low && !result.low_open && is_least(result.low)) {
        result.has_low = false;
    }
    if (result.has_high && !result.high_open && is_greatest(result.high)) {
        result.has_high = false;
    }
    /* Nothing lies above the greatest or below the least value. */
    if ((result.has_low && result.low_open && is_greatest(result.low)) ||
        (result.has_high && result.high_open && is_least(result.high)) ||
        is_empty_interval(&result)) {
        return false;
    }
    result.low_open = result.has_low && result.low_open;
    result.high_open = result.has_high && result.high_open;
    *interval = result;
    return true;
}

/* ---- lists of intervals ---------------------------------------------------------------------- */

static int by_low(const void *a, const void *b)
{
    return low_cmp(a, b);
}

/* a begins no later than b: is there no gap between them? */
static bool touches(const tg_interval *a, const tg_interval *b)
{
    tg_value next;
    int order;

    if (!a->has_high || !b->has_low) {
        return true;
    }
    order = tg_value_cmp(a->high, b->low);
    if (order != 0) {
        return order > 0 || (tg_value_next(a->high, &next) && tg_value_cmp(next, b->low) == 0);
    }
    return !a->high_open || !b->low_open;
}

static void set_high(tg_interval *interval, const tg_interval *from)
{
    interval->has_high = from->has_high;
    interval->high_open = from->high_open;
    interval->high = from->high;
}

static void set_low(tg_interval *interval, const tg_interval *from)
{
    interval->has_low = from->has_low;
    interval->low_open = from->low_open;
    interval->low = from->low;
}

size_t tg_intervals_merge(tg_interval *intervals, size_t count)
{
    size_t kept = 0;

    if (count == 0) {
        return 0;
    }
    qsort(intervals, count, sizeof(*intervals), by_low);
    for (size_t i = 1; i < count; i++) {
        tg_interval *last = &intervals[kept];
        if (!touches(last, &intervals[i])) {
            intervals[++kept] = intervals[i];
        } else if (high_cmp(last, &intervals[i]) < 0) {
            set_high(last, &intervals[i]);
        }
    }
    return kept + 1;
}

static bool interval_and(const tg_interval *a, const tg_interval *b, tg_interval *out)
{
    *out = *a;
    if (low_cmp(a, b) < 0) {
        set_low(out, b);
    }
    if (high_cmp(a, b) > 0) {
        set_high(out, b);
    }
    return !is_empty_interval(out);
}

/* ---- domains --------------------------------------------------------------------------------- */

bool tg_domain_is_empty(const tg_domain *domain)
{
    return !domain->allows_null && domain->interval_count == 0;
}

static bool holds_all_values(const tg_domain *domain)
{
    return domain->interval_count == 1 && !domain->intervals[0].has_low &&
           !domain->intervals[0].has_high;
}

bool tg_domain_is_full(const tg_domain *domain)
{
    return domain->allows_null && holds_all_values(domain);
}

bool tg_domain_same(const tg_domain *a, const tg_domain *b)
{
    if (a->allows_null != b->allows_null || a->interval_count != b->interval_count) {
        return false;
    }
    for (size_t i = 0; i < a->interval_count; i++) {
        if (low_cmp(&a->intervals[i], &b->intervals[i]) != 0 ||
            high_cmp(&a->intervals[i], &b->intervals[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool tg_domain_meets(const tg_domain *a, const tg_domain *b)
{
    size_t i = 0;
    size_t k = 0;
    tg_interval common;

    if (a->allows_null && b->allows_null) {
        return true;
    }
    while (i < a->interval_count && k < b->interval_count) {
        if (interval_and(&a->intervals[i], &b->intervals[k], &common)) {
            return true;
        }
        if (high_cmp(&a->intervals[i], &b->intervals[k]) < 0) {
            i++;
        } else {
            k++;
        }
    }
    return false;
}

bool tg_domain_contains(const tg_domain *outer, const tg_domain *inner)
{
    size_t k = 0;

    if (inner->allows_null && !outer->allows_null) {
        return false;
    }
    /* Intervals are disjoint and not adjacent: each inner one must lie in a single outer one. */
    for (size_t i = 0; i < inner->interval_count; i++) {
        while (k < outer->interval_count &&
               high_cmp(&outer->intervals[k], &inner->intervals[i]) < 0) {
            k++;
        }
        if (k == outer->interval_count || low_cmp(&outer->intervals[k], &inner->intervals[i]) > 0) {
            return false;
        }
    }
    return true;
}

tg_domain tg_domain_and(tg_arena *arena, const tg_domain *a, const tg_domain *b)
{
    tg_domain result = *a;
    tg_interval *intervals =
        TG_NEW_ARRAY(arena, tg_interval, a->interval_count + b->interval_count);
    size_t count = 0;
    size_t i = 0;
    size_t k = 0;

    while (i < a->interval_count && k < b->interval_count) {
        if (interval_and(&a->intervals[i], &b->intervals[k], &intervals[count])) {
            count++;
        }
        if (high_cmp(&a->intervals[i], &b->intervals[k]) < 0) {
            i++;
        } else {
            k++;
        }
    }
    result.allows_null = a->allows_null && b->allows_null;
    result.intervals = intervals;
    result.interval_count = count;
    return result;
}

tg_domain tg_domain_or(tg_arena *arena, const tg_domain *a, const tg_domain *b)
{
    tg_domain result = *a;
    size_t count = a->interval_count + b->interval_count;
    tg_interval *intervals = TG_NEW_ARRAY(arena, tg_interval, count);

    for (size_t i = 0; i < count; i++) {
        intervals[i] =
            i < a->interval_count ? a->intervals[i] : b->intervals[i - a->interval_count];
    }
    result.allows_null = a->allows_null || b->allows_null;
    result.intervals = intervals;
    result.interval_count = tg_intervals_merge(intervals, count);
    return result;
}

tg_domain tg_domain_not(tg_arena *arena, const tg_domain *domain)
{
    tg_domain result = *domain;
    tg_interval *gaps = TG_NEW_ARRAY(arena, tg_interval, domain->interval_count + 1);
    size_t count = 0;

    for (size_t i = 0; i <= domain->interval_count; i++) {
        const tg_interval *before = i > 0 ? &domain->intervals[i - 1] : NULL;
        const tg_interval *after = i < domain->interval_count ? &domain->intervals[i] : NULL;
        tg_interval gap = {0};
        if ((before && !before->has_high) || (after && !after->has_low)) {
            continue;
        }
        if (before) {
            gap.has_low = true;
            gap.low_open = !before->high_open;
            gap.low = before->high;
        }
        if (after) {
            gap.has_high = true;
            gap.high_open = !after->low_open;
            gap.high = after->low;
        }
        if (tg_interval_normalize(&gap, domain->type)) {
            gaps[count++] = gap;
        }
    }
    result.allows_null = !domain->allows_null;
    result.intervals = gaps;
    result.interval_count = count;
    return result;
}
