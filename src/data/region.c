/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: unions of boxes. A box keeps only columns that it restricts, sorted by name; a box that
 * holds nothing is dropped, and boxes that differ in one column are one, so that an IN list is one
 * box.
 *
 * Where a cap is hit the answer grows (is_upper_bound) or a proof fails: never the other way round.
 */
#include <math.h>
#include <stdlib.h>

#include "data/region_int.h"

typedef TG_VEC(tg_box) box_list;

/* ---- making ---------------------------------------------------------------------------------- */

tg_region tg_region_all(void)
{
    static const tg_box everything = {0};
    return (tg_region){.boxes = &everything, .box_count = 1};
}

tg_region tg_region_none(void)
{
    return (tg_region){0};
}

bool tg_region_is_none(tg_region region)
{
    return region.box_count == 0;
}

bool tg_region_is_all(tg_region region)
{
    return region.box_count == 1 && region.boxes[0].domain_count == 0 &&
           region.boxes[0].opaque_count == 0 && !region.is_upper_bound;
}

static tg_region grown(tg_region region)
{
    region.is_upper_bound = region.box_count > 0;
    return region;
}

/* ---- copying --------------------------------------------------------------------------------- */

static tg_value copy_value(tg_arena *arena, tg_value value, const tg_type *type)
{
    bool has_bytes = type->kind == TG_TYPE_STRING || type->kind == TG_TYPE_BINARY;
    value.type = type;
    if (has_bytes && !value.is_null) {
        value.as.bytes = tg_str_copy(arena, value.as.bytes);
    }
    return value;
}

static tg_domain copy_domain(tg_arena *arena, tg_domain domain)
{
    tg_interval *intervals = TG_NEW_ARRAY(arena, tg_interval, domain.interval_count);
    domain.column = tg_str_copy(arena, domain.column);
    domain.type = tg_type_copy(arena, domain.type);
    for (size_t i = 0; i < domain.interval_count; i++) {
        intervals[i] = domain.intervals[i];
        if (intervals[i].has_low) {
            intervals[i].low = copy_value(arena, intervals[i].low, domain.type);
        }
        if (intervals[i].has_high) {
            intervals[i].high = copy_value(arena, intervals[i].high, domain.type);
        }
    }
    domain.intervals = intervals;
    return domain;
}

static tg_box copy_box(tg_arena *arena, const tg_box *box)
{
    tg_domain *domains = TG_NEW_ARRAY(arena, tg_domain, box->domain_count);
    tg_str *opaques = TG_NEW_ARRAY(arena, tg_str, box->opaque_count);
    for (size_t i = 0; i < box->domain_count; i++) {
        domains[i] = copy_domain(arena, box->domains[i]);
    }
    for (size_t i = 0; i < box->opaque_count; i++) {
        opaques[i] = tg_str_copy(arena, box->opaques[i]);
    }
    return (tg_box){.domains = domains,
                    .domain_count = box->domain_count,
                    .opaques = opaques,
                    .opaque_count = box->opaque_count};
}

tg_region tg_region_copy(tg_arena *arena, tg_region region)
{
    tg_box *boxes = TG_NEW_ARRAY(arena, tg_box, region.box_count);
    for (size_t i = 0; i < region.box_count; i++) {
        boxes[i] = copy_box(arena, &region.boxes[i]);
    }
    region.boxes = boxes;
    return region;
}

/* ---- one column ------------------------------------------------------------------------------ */

static tg_region of_domain(tg_arena *arena, tg_domain domain)
{
    if (tg_domain_is_empty(&domain)) {
        return tg_region_none();
    }
    if (tg_domain_is_full(&domain)) {
        return tg_region_all();
    }
    tg_box *box = TG_NEW(arena, tg_box);
    *box = (tg_box){.domains = tg_arena_memdup(arena, &domain, sizeof(domain)), .domain_count = 1};
    return (tg_region){.boxes = box, .box_count = 1};
}

tg_region tg_region_interval(tg_arena *arena, tg_str column, const tg_type *type,
                             tg_interval interval)
{
    if (!tg_interval_normalize(&interval, type)) {
        return tg_region_none();
    }
    return of_domain(arena,
                     (tg_domain){.column = column,
                                 .type = type,
                                 .intervals = tg_arena_memdup(arena, &interval, sizeof(interval)),
                                 .interval_count = 1});
}

tg_region tg_region_null(tg_arena *arena, tg_str column, const tg_type *type, bool is_null)
{
    static const tg_interval anything = {0};
    return of_domain(arena, (tg_domain){.column = column,
                                        .type = type,
                                        .allows_null = is_null,
                                        .intervals = &anything,
                                        .interval_count = is_null ? 0 : 1});
}

tg_region tg_region_opaque(tg_arena *arena, tg_str canonical_text)
{
    tg_box *box = TG_NEW(arena, tg_box);
    *box = (tg_box){.opaques = tg_arena_memdup(arena, &canonical_text, sizeof(canonical_text)),
                    .opaque_count = 1};
    return (tg_region){.boxes = box, .box_count = 1};
}

/* ---- columns of boxes ------------------------------------------------------------------------ */

static int name_cmp(tg_str a, tg_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < len; i++) {
        int x = (unsigned char)a.ptr[i], y = (unsigned char)b.ptr[i];
        x += x >= 'A' && x <= 'Z' ? 'a' - 'A' : 0;
        y += y >= 'A' && y <= 'Z' ? 'a' - 'A' : 0;
        if (x != y) {
            return x - y;
        }
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

static const tg_domain *find_domain(const tg_box *box, tg_str column)
{
    for (size_t i = 0; i < box->domain_count; i++) {
        if (tg_str_ieq(box->domains[i].column, column)) {
            return &box->domains[i];
        }
    }
    return NULL;
}

/* Do they restrict a column of different types (it was changed)? Then their values cannot be
 * compared. */
static bool types_clash(const tg_box *a, const tg_box *b)
{
    for (size_t i = 0; i < a->domain_count; i++) {
        const tg_domain *other = find_domain(b, a->domains[i].column);
        if (other && !tg_type_equal(a->domains[i].type, other->type)) {
            return true;
        }
    }
    return false;
}

/* All conditions of inner that are opaque are conditions of outer too. */
static bool opaques_inside(const tg_box *few, const tg_box *many)
{
    for (size_t i = 0; i < few->opaque_count; i++) {
        if (!tg_str_is_in(few->opaques[i], many->opaques, many->opaque_count)) {
            return false;
        }
    }
    return true;
}

/*
 * Sets the domain of one column in a list sorted by column, which has room for one more; a full
 * domain is left out. Returns the new count.
 */
static size_t set_domain(tg_domain *domains, size_t count, tg_domain domain)
{
    size_t at = 0;
    while (at < count && name_cmp(domains[at].column, domain.column) < 0) {
        at++;
    }
    size_t rest = at;
    if (rest < count && name_cmp(domains[rest].column, domain.column) == 0) {
        rest++;
    }
    size_t behind = at + !tg_domain_is_full(&domain);
    if (rest < count) {
        memmove(&domains[behind], &domains[rest], (count - rest) * sizeof(*domains));
    }
    if (behind > at) {
        domains[at] = domain;
    }
    return behind + (count - rest);
}

/* A copy of box with the domain of one column set. */
static tg_box with_domain(tg_arena *arena, const tg_box *box, tg_domain domain)
{
    tg_box result = *box;
    tg_domain *domains = TG_NEW_ARRAY(arena, tg_domain, box->domain_count + 1);
    for (size_t i = 0; i < box->domain_count; i++) {
        domains[i] = box->domains[i];
    }
    result.domains = domains;
    result.domain_count = set_domain(domains, box->domain_count, domain);
    return result;
}

static bool box_contains(const tg_box *outer, const tg_box *inner)
{
    for (size_t i = 0; i < outer->domain_count; i++) {
        const tg_domain *domain = find_domain(inner, outer->domains[i].column);
        if (!domain || !tg_type_equal(domain->type, outer->domains[i].type) ||
            !tg_domain_contains(&outer->domains[i], domain)) {
            return false;
        }
    }
    return opaques_inside(outer, inner);
}

/* ---- intersection ---------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return tg_str_cmp(*(const tg_str *)a, *(const tg_str *)b);
}

/* False: they share no row. */
static bool box_and(tg_arena *arena, const tg_box *a, const tg_box *b, tg_box *out)
{
    *out = *a;
    for (size_t i = 0; i < b->domain_count; i++) {
        const tg_domain *mine = find_domain(a, b->domains[i].column);
        tg_domain common = mine ? tg_domain_and(arena, mine, &b->domains[i]) : b->domains[i];
        if (tg_domain_is_empty(&common)) {
            return false;
        }
        *out = with_domain(arena, out, common);
    }
    tg_str *opaques = TG_NEW_ARRAY(arena, tg_str, a->opaque_count + b->opaque_count);
    size_t count = 0;
    for (size_t i = 0; i < a->opaque_count; i++) {
        opaques[count++] = a->opaques[i];
    }
    for (size_t i = 0; i < b->opaque_count; i++) {
        if (!tg_str_is_in(b->opaques[i], a->opaques, a->opaque_count)) {
            opaques[count++] = b->opaques[i];
        }
    }
    if (count > 1) {
        qsort(opaques, count, sizeof(*opaques), by_text);
    }
    out->opaques = opaques;
    out->opaque_count = count;
    return true;
}

/* ---- union ----------------------------------------------------------------------------------- */

/* Two boxes that differ in one column at most, as one; false when they are not such. */
static bool join_boxes(tg_arena *arena, const tg_box *a, const tg_box *b, tg_box *out)
{
    if (a->domain_count != b->domain_count || a->opaque_count != b->opaque_count ||
        !opaques_inside(a, b)) {
        return false;
    }
    size_t differing = SIZE_MAX;
    for (size_t i = 0; i < a->domain_count; i++) {
        if (!tg_str_ieq(a->domains[i].column, b->domains[i].column) ||
            !tg_type_equal(a->domains[i].type, b->domains[i].type)) {
            return false;
        }
        if (!tg_domain_same(&a->domains[i], &b->domains[i])) {
            if (differing != SIZE_MAX) {
                return false;
            }
            differing = i;
        }
    }
    *out = differing == SIZE_MAX
               ? *a
               : with_domain(arena, a,
                             tg_domain_or(arena, &a->domains[differing], &b->domains[differing]));
    return true;
}

static void add_box(tg_arena *arena, box_list *list, tg_box box)
{
    for (size_t i = 0; i < list->count; i++) {
        tg_box joined;
        if (box_contains(&list->items[i], &box)) {
            return;
        }
        if (box_contains(&box, &list->items[i]) ||
            join_boxes(arena, &list->items[i], &box, &joined)) {
            box = box_contains(&box, &list->items[i]) ? box : joined;
            list->items[i] = list->items[--list->count];
            add_box(arena, list, box); /* each step shortens the list */
            return;
        }
    }
    TG_VEC_PUSH(arena, list, box);
}

/* The answer out of the scratch arena in which it was made. */
static tg_region finish(tg_arena *arena, const box_list *list, bool is_upper_bound)
{
    tg_region region = {.boxes = list->items, .box_count = list->count};
    region.is_upper_bound = is_upper_bound && list->count > 0;
    return tg_region_copy(arena, region);
}

tg_region tg_region_and(tg_arena *arena, tg_region a, tg_region b)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    box_list list = {0};
    for (size_t i = 0; i < a.box_count; i++) {
        for (size_t j = 0; j < b.box_count; j++) {
            tg_box common;
            if (types_clash(&a.boxes[i], &b.boxes[j])) {
                return grown(a);
            }
            if (box_and(scratch, &a.boxes[i], &b.boxes[j], &common)) {
                add_box(scratch, &list, common);
            }
            if (list.count > TG_LIMIT_REGION_BOXES) {
                return grown(
                    a.box_count <= b.box_count ? a : b); /* either side holds the intersection */
            }
        }
    }
    return finish(arena, &list, a.is_upper_bound || b.is_upper_bound);
}

tg_region tg_region_or(tg_arena *arena, tg_region a, tg_region b)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    box_list list = {0};
    for (size_t i = 0; i < a.box_count + b.box_count; i++) {
        add_box(scratch, &list, i < a.box_count ? a.boxes[i] : b.boxes[i - a.box_count]);
    }
    if (list.count > TG_LIMIT_REGION_BOXES) {
        return grown(tg_region_all());
    }
    return finish(arena, &list, a.is_upper_bound || b.is_upper_bound);
}

/* ---- difference ------------------------------------------------------------------------------ */

static bool boxes_meet(const tg_box *a, const tg_box *b)
{
    for (size_t i = 0; i < a->domain_count; i++) {
        const tg_domain *other = find_domain(b, a->domains[i].column);
        if (other && tg_type_equal(other->type, a->domains[i].type) &&
            !tg_domain_meets(&a->domains[i], other)) {
            return false;
        }
    }
    return true;
}

/* box without cut (whose opaque conditions are all conditions of box): for each column of cut, the
 * part that fails there first. */
static void cut_box(tg_arena *arena, const tg_box *box, const tg_box *cut, box_list *out)
{
    static const tg_interval anything = {0};
    tg_box rest = *box;
    if (!boxes_meet(box, cut)) {
        TG_VEC_PUSH(arena, out, rest);
        return;
    }
    for (size_t i = 0; i < cut->domain_count; i++) {
        const tg_domain *wanted = &cut->domains[i];
        const tg_domain *mine = find_domain(&rest, wanted->column);
        tg_domain full = {.column = wanted->column,
                          .type = wanted->type,
                          .allows_null = true,
                          .intervals = &anything,
                          .interval_count = 1};
        tg_domain outside = tg_domain_not(arena, wanted), inside;
        outside = tg_domain_and(arena, mine ? mine : &full, &outside);
        inside = tg_domain_and(arena, mine ? mine : &full, wanted);
        if (!tg_domain_is_empty(&outside)) {
            TG_VEC_PUSH(arena, out, with_domain(arena, &rest, outside));
        }
        if (tg_domain_is_empty(&inside)) {
            return;
        }
        rest = with_domain(arena, &rest, inside);
    }
}

/* False: a cap was hit. *out_exact false: something could not be taken away. */
static bool subtract(tg_arena *arena, tg_region a, tg_region b, box_list *out, bool *out_exact)
{
    box_list left = {0};
    *out_exact = true;
    for (size_t i = 0; i < a.box_count; i++) {
        TG_VEC_PUSH(arena, &left, a.boxes[i]);
    }
    for (size_t j = 0; j < b.box_count; j++) {
        box_list next = {0};
        for (size_t i = 0; i < left.count; i++) {
            bool clash = types_clash(&left.items[i], &b.boxes[j]);
            if (!clash && opaques_inside(&b.boxes[j], &left.items[i])) {
                cut_box(arena, &left.items[i], &b.boxes[j], &next);
            } else {
                tg_box common;
                *out_exact =
                    *out_exact && !clash && !box_and(arena, &left.items[i], &b.boxes[j], &common);
                TG_VEC_PUSH(arena, &next, left.items[i]);
            }
            if (next.count > TG_LIMIT_REGION_PIECES) {
                return false;
            }
        }
        left = next;
    }
    *out = left;
    return true;
}

tg_region tg_region_minus(tg_arena *arena, tg_region a, tg_region b)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    box_list pieces = {0}, list = {0};
    bool exact;
    if (b.box_count == 0) {
        return a;
    }
    if (b.is_upper_bound || !subtract(scratch, a, b, &pieces, &exact)) {
        return grown(a);
    }
    for (size_t i = 0; i < pieces.count; i++) {
        add_box(scratch, &list, pieces.items[i]);
    }
    if (list.count > TG_LIMIT_REGION_BOXES) {
        return grown(a);
    }
    return finish(arena, &list, a.is_upper_bound || !exact);
}

tg_region tg_region_without(tg_arena *arena, tg_region a, tg_region b)
{
    if (b.box_count == 0) {
        return a;
    }
    if (a.is_upper_bound) {
        return tg_region_none();
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    box_list left = {0}, list = {0};
    for (size_t i = 0; i < a.box_count; i++) {
        TG_VEC_PUSH(scratch, &left, a.boxes[i]);
    }
    for (size_t j = 0; j < b.box_count; j++) {
        box_list next = {0};
        for (size_t i = 0; i < left.count; i++) {
            if (!types_clash(&left.items[i], &b.boxes[j])) {
                /* Opaque conditions of b only make it smaller: all of its box goes. */
                cut_box(scratch, &left.items[i], &b.boxes[j], &next);
            }
        }
        if (next.count > TG_LIMIT_REGION_PIECES) {
            return tg_region_none();
        }
        left = next;
    }
    for (size_t i = 0; i < left.count && list.count < TG_LIMIT_REGION_BOXES; i++) {
        add_box(scratch, &list, left.items[i]);
    }
    return finish(arena, &list, false);
}

bool tg_region_contains(tg_region outer, tg_region inner)
{
    if (inner.box_count == 0) {
        return true;
    }
    if (outer.is_upper_bound) {
        return false; /* the true set may be smaller than its boxes */
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    box_list pieces = {0};
    bool exact;
    return subtract(scratch, inner, outer, &pieces, &exact) && pieces.count == 0;
}

bool tg_region_meets(tg_region a, tg_region b)
{
    for (size_t i = 0; i < a.box_count; i++) {
        for (size_t j = 0; j < b.box_count; j++) {
            if (boxes_meet(&a.boxes[i], &b.boxes[j])) {
                return true;
            }
        }
    }
    return false;
}

/* ---- files ----------------------------------------------------------------------------------- */

static tg_domain domain_of_bounds(tg_arena *arena, tg_str column, const tg_type *type,
                                  const tg_column_bounds *bounds)
{
    tg_interval *interval = TG_NEW_ARRAY(arena, tg_interval, 2);
    size_t count = 1;
    *interval = (tg_interval){.has_low = bounds->has_min,
                              .has_high = bounds->has_max,
                              .low = bounds->min,
                              .high = bounds->max};
    bool only_null = bounds->null_count >= 0 && bounds->null_count == bounds->record_count &&
                     bounds->record_count > 0;
    bool usable = tg_interval_normalize(interval, type);
    if (!usable) {
        *interval = (tg_interval){0}; /* bounds that contradict each other tell nothing */
    }
    if (tg_type_is_floating(type)) {
        /* Many writers leave NaN out of their statistics: it may be there, above every maximum. */
        interval[1] = (tg_interval){.has_low = true, .low = tg_value_double(type, (double)NAN)};
        count = tg_intervals_merge(interval, 2);
    }
    return (tg_domain){.column = column,
                       .type = type,
                       .allows_null = bounds->null_count != 0,
                       .intervals = interval,
                       .interval_count = only_null ? 0 : count};
}

tg_region tg_region_of_bounds(tg_arena *arena, const tg_str *columns, const tg_type *const *types,
                              const tg_column_bounds *bounds, size_t count)
{
    tg_domain *domains = TG_NEW_ARRAY(arena, tg_domain, count);
    tg_box box = {.domains = domains};
    for (size_t i = 0; i < count; i++) {
        tg_domain domain = domain_of_bounds(arena, columns[i], types[i], &bounds[i]);
        if (!tg_domain_is_full(&domain)) {
            box.domain_count = set_domain(domains, box.domain_count, domain);
        }
    }
    return (tg_region){.boxes = tg_arena_memdup(arena, &box, sizeof(box)), .box_count = 1};
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_interval(tg_arena *arena, const tg_interval *interval, tg_buf *out)
{
    tg_buf_addz(out, interval->has_low && !interval->low_open ? "[" : "(");
    if (interval->has_low) {
        tg_buf_adds(out, tg_value_literal(arena, interval->low));
    }
    tg_buf_addz(out, ", ");
    if (interval->has_high) {
        tg_buf_adds(out, tg_value_literal(arena, interval->high));
    }
    tg_buf_addz(out, interval->has_high && !interval->high_open ? "]" : ")");
}

static void put_box(tg_arena *arena, const tg_box *box, tg_buf *out)
{
    const char *gap = "";
    for (size_t i = 0; i < box->domain_count; i++, gap = " and ") {
        const tg_domain *domain = &box->domains[i];
        tg_buf_addf(out, "%s(%.*s in ", gap, TG_SARG(domain->column));
        for (size_t j = 0; j < domain->interval_count; j++) {
            tg_buf_addz(out, j > 0 ? " or " : "");
            put_interval(arena, &domain->intervals[j], out);
        }
        tg_buf_addz(out, domain->allows_null ? (domain->interval_count > 0 ? " or null)" : "null)")
                                             : ")");
    }
    for (size_t i = 0; i < box->opaque_count; i++, gap = " and ") {
        tg_buf_addf(out, "%s{%.*s}", gap, TG_SARG(box->opaques[i]));
    }
    tg_buf_addz(out, *gap ? "" : "all");
}

tg_str tg_region_text(tg_arena *arena, tg_region region)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < region.box_count; i++) {
        tg_buf_addz(&out, i > 0 ? " or " : "");
        put_box(arena, &region.boxes[i], &out);
    }
    tg_buf_addz(&out, region.box_count == 0 ? "none" : "");
    tg_buf_addz(&out, region.is_upper_bound ? " (at most)" : "");
    return tg_buf_take(&out, arena);
}
