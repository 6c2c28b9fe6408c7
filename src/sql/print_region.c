/* SPDX-License-Identifier: Apache-2.0 */
/* A region as Databricks SQL: OR of boxes, AND of columns, OR of intervals and NULL. */
#include "sql/functions.h"
#include "sql/sql.h"

static void put_bound(tg_str column, const char *sign, tg_value value, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_sql_print_ident(column, out);
    tg_buf_addf(out, " %s %.*s", sign, TG_SARG(tg_value_literal(scratch, value)));
}

static bool is_point(const tg_interval *interval)
{
    return interval->has_low && interval->has_high && !interval->low_open && !interval->high_open &&
           tg_value_cmp(interval->low, interval->high) == 0;
}

static void put_interval(tg_str column, const tg_interval *interval, tg_buf *out)
{
    if (is_point(interval)) {
        put_bound(column, "=", interval->low, out);
        return;
    }
    if (!interval->has_low && !interval->has_high) {
        tg_sql_print_ident(column, out);
        tg_buf_addz(out, " IS NOT NULL");
        return;
    }
    if (interval->has_low) {
        put_bound(column, interval->low_open ? ">" : ">=", interval->low, out);
    }
    if (interval->has_high) {
        tg_buf_addz(out, interval->has_low ? " AND " : "");
        put_bound(column, interval->high_open ? "<" : "<=", interval->high, out);
    }
}

/* Points of a domain as one list, which may be long. */
static size_t put_points(const tg_domain *domain, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    size_t count = 0;
    for (size_t i = 0; i < domain->interval_count; i++) {
        count += is_point(&domain->intervals[i]);
    }
    if (count < 2) {
        return 0;
    }
    tg_sql_print_ident(domain->column, out);
    const char *before = " IN (";
    for (size_t i = 0; i < domain->interval_count; i++) {
        if (is_point(&domain->intervals[i])) {
            tg_buf_addf(out, "%s%.*s", before,
                        TG_SARG(tg_value_literal(scratch, domain->intervals[i].low)));
            before = ", ";
        }
    }
    tg_buf_addc(out, ')');
    return count;
}

static void put_domain(const tg_domain *domain, tg_buf *out)
{
    size_t terms = domain->interval_count + domain->allows_null;
    tg_buf_addz(out, terms > 1 ? "(" : "");
    size_t points = put_points(domain, out);
    const char *gap = points ? " OR " : "";
    for (size_t i = 0; i < domain->interval_count; i++) {
        if (points && is_point(&domain->intervals[i])) {
            continue;
        }
        tg_buf_addz(out, gap);
        put_interval(domain->column, &domain->intervals[i], out);
        gap = " OR ";
    }
    if (domain->allows_null) {
        tg_buf_addz(out, gap);
        tg_sql_print_ident(domain->column, out);
        tg_buf_addz(out, " IS NULL");
    }
    tg_buf_addz(out, terms > 1 ? ")" : "");
}

static void put_box(const tg_box *box, tg_buf *out)
{
    const char *gap = "";
    for (size_t i = 0; i < box->domain_count; i++, gap = " AND ") {
        tg_buf_addz(out, gap);
        put_domain(&box->domains[i], out);
    }
    for (size_t i = 0; i < box->opaque_count; i++, gap = " AND ") {
        tg_buf_addf(out, "%s(%.*s)", gap, TG_SARG(box->opaques[i]));
    }
    tg_buf_addz(out, *gap ? "" : "true");
}

void tg_sql_print_region(tg_region region, tg_buf *out)
{
    for (size_t i = 0; i < region.box_count; i++) {
        tg_buf_addz(out, i > 0 ? " OR (" : region.box_count > 1 ? "(" : "");
        put_box(&region.boxes[i], out);
        tg_buf_addz(out, region.box_count > 1 ? ")" : "");
    }
    tg_buf_addz(out, region.box_count == 0 ? "false" : "");
}
