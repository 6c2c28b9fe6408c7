/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a range into chunks. */
#include "pipeline/backfill.h"

enum { STEP_COUNT_MAX = 1000000000, MONTHS_PER_YEAR = 12 };

/* ---- steps ----------------------------------------------------------------------------------- */

static const tg_str UNITS[TG_UNIT_COUNT_] = {
    [TG_UNIT_NONE] = {"", 0},         [TG_UNIT_SECOND] = {"SECOND", 6},
    [TG_UNIT_MINUTE] = {"MINUTE", 6}, [TG_UNIT_HOUR] = {"HOUR", 4},
    [TG_UNIT_DAY] = {"DAY", 3},       [TG_UNIT_WEEK] = {"WEEK", 4},
    [TG_UNIT_MONTH] = {"MONTH", 5},   [TG_UNIT_QUARTER] = {"QUARTER", 7},
    [TG_UNIT_YEAR] = {"YEAR", 4},
};

/* Also in the plural. */
static bool find_unit(tg_str word, tg_step_unit *out)
{
    for (size_t i = TG_UNIT_NONE + 1; i < TG_UNIT_COUNT_; i++) {
        bool is_plural = word.len == UNITS[i].len + 1 && (word.ptr[word.len - 1] | 0x20) == 's';
        if (tg_str_ieq(is_plural ? tg_str_sub(word, 0, word.len - 1) : word, UNITS[i])) {
            *out = (tg_step_unit)i;
            return true;
        }
    }
    return false;
}

bool tg_backfill_is_unit(tg_str word)
{
    tg_step_unit unit;
    return find_unit(word, &unit) || tg_str_nearest(word, UNITS + 1, TG_UNIT_COUNT_ - 1).len > 0;
}

static tg_code unknown_unit(tg_str word, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "--every has the unknown unit '%.*s'",
                 TG_SARG(word));
    tg_str near = tg_str_nearest(word, UNITS + 1, TG_UNIT_COUNT_ - 1);
    return near.len
               ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near))
               : tg_error_hint(err, "Units are SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER "
                                    "and YEAR; a column of numbers takes none.");
}

tg_code tg_backfill_step_parse(tg_str text, tg_backfill_step *out, tg_error *err)
{
    text = tg_str_trim(text);
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9') {
        digits++;
    }
    tg_str word = tg_str_trim(tg_str_sub(text, digits, text.len));
    *out = (tg_backfill_step){.count = 1, .unit = TG_UNIT_NONE};
    bool is_number = !digits || tg_str_to_i64(tg_str_sub(text, 0, digits), &out->count);
    if (!text.len || !is_number || out->count < 1 || out->count > STEP_COUNT_MAX) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION,
                     "--every takes a number from 1 to %d and a unit, not '%.*s'", STEP_COUNT_MAX,
                     TG_SARG(text));
        return tg_error_hint(err,
                             "For example: --every 7 DAYS; for a column of numbers --every 1000");
    }
    return !word.len || find_unit(word, &out->unit) ? TG_OK : unknown_unit(word, err);
}

/* ---- the column ------------------------------------------------------------------------------ */

static bool can_be_cut(const tg_type *type)
{
    return tg_type_is_datetime(type) || tg_type_is_integer(type);
}

static tg_code name_candidates(const tg_str *names, size_t count, tg_error *err)
{
    if (!count) {
        return tg_error_hint(err, "Chunks are cut by a column of type DATE, TIMESTAMP, "
                                  "TIMESTAMP_NTZ or an integer type; the query has none.");
    }
    tg_auto_buf tg_buf list = TG_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(&list, i ? ", " : "");
        tg_sql_print_ident(names[i], &list);
    }
    return tg_error_hint(err, "Say which one by --column: %s.", tg_buf_cstr(&list));
}

static size_t cuttable_columns(tg_schema output, tg_arena *arena, tg_str **out_names)
{
    tg_str *names = TG_NEW_ARRAY(arena, tg_str, output.count);
    size_t count = 0;
    for (size_t i = 0; i < output.count; i++) {
        if (can_be_cut(output.fields[i].type)) {
            names[count++] = output.fields[i].name;
        }
    }
    *out_names = names;
    return count;
}

static void take_field(tg_schema output, ptrdiff_t at, tg_backfill_column *out)
{
    *out = (tg_backfill_column){.name = output.fields[at].name, .type = output.fields[at].type};
}

static tg_code take_wanted(tg_schema output, tg_str wanted, tg_arena *arena,
                           tg_backfill_column *out, tg_error *err)
{
    tg_str *names;
    size_t count = cuttable_columns(output, arena, &names);
    tg_name name;
    ptrdiff_t at = tg_schema_find(output, wanted);
    if (at < 0 && tg_sql_parse_name(wanted, arena, &name, NULL) == TG_OK && name.count == 1) {
        at = tg_schema_find(output, name.parts[0].text);
    }
    if (at < 0) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "--column names no column of the query: `%.*s`",
                     TG_SARG(wanted));
        tg_str near = tg_str_nearest(wanted, names, count);
        return near.len ? tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near))
                        : name_candidates(names, count, err);
    }
    const tg_field *field = &output.fields[at];
    if (!can_be_cut(field->type)) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "column `%.*s` is %.*s: it cannot be cut",
                     TG_SARG(field->name), TG_SARG(tg_type_ddl(arena, field->type)));
        return name_candidates(names, count, err);
    }
    take_field(output, at, out);
    return TG_OK;
}

/* Has the column in some box bounds, and not only whether NULL is allowed? */
static bool has_bounds(const tg_domain *domain)
{
    for (size_t i = 0; i < domain->interval_count; i++) {
        if (domain->intervals[i].has_low || domain->intervals[i].has_high) {
            return true;
        }
    }
    return false;
}

static size_t bounded_columns(tg_region region, tg_schema output, tg_arena *arena,
                              tg_str **out_names)
{
    tg_str *names = TG_NEW_ARRAY(arena, tg_str, output.count);
    size_t count = 0;
    for (size_t i = 0; i < output.count; i++) {
        bool is_bounded = false;
        for (size_t j = 0; j < region.box_count && can_be_cut(output.fields[i].type); j++) {
            for (size_t k = 0; k < region.boxes[j].domain_count; k++) {
                const tg_domain *domain = &region.boxes[j].domains[k];
                is_bounded = is_bounded || (tg_str_ieq(domain->column, output.fields[i].name) &&
                                            has_bounds(domain));
            }
        }
        if (is_bounded) {
            names[count++] = output.fields[i].name;
        }
    }
    *out_names = names;
    return count;
}

tg_code tg_backfill_choose_column(const tg_flow *flow, tg_schema output, tg_str wanted,
                                  int64_t now_us, const tg_zone *zone, tg_arena *arena,
                                  tg_backfill_column *out, tg_error *err)
{
    if (wanted.len) {
        return take_wanted(output, wanted, arena, out, err);
    }
    const tg_bind_options options = {.now_us = now_us, .zone = zone, .in_flow = true};
    tg_bexpr *bound;
    bool has_time_function, is_deterministic;
    TG_TRY(tg_sql_bind_predicate(flow->spec->predicate, output, flow->aliases, flow->alias_count,
                                 &options, arena, &bound, &has_time_function, &is_deterministic,
                                 err));
    bound = tg_sql_fold(bound, zone, arena);
    tg_str *names;
    size_t count =
        bounded_columns(tg_sql_region(bound, output, zone, arena), output, arena, &names);
    if (count == 1) {
        take_field(output, tg_schema_find(output, names[0]), out);
        return TG_OK;
    }
    (void)TG_ERR(err, TIDEGATE_INVALID_OPTION,
                 "the predicate of flow %.*s bounds %s column that chunks can be cut by: `%.*s`",
                 TG_SARG(flow->full_name), count ? "more than one" : "no",
                 TG_SARG(flow->spec->predicate_text));
    if (!count) {
        count = cuttable_columns(output, arena, &names);
    }
    return name_candidates(names, count, err);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static tg_code bad_bound(tg_str text, const char *option, const tg_backfill_column *column,
                         const char *wants, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s takes %s, for column `%.*s` is %.*s: not '%.*s'",
                 option, wants, TG_SARG(column->name), TG_SARG(tg_type_ddl(scratch, column->type)),
                 TG_SARG(text));
    return tg_type_is_integer(column->type)
               ? tg_error_hint(err, "For example: %s 1000", option)
               : tg_error_hint(err, "For example: %s 2024-03-01", option);
}

static tg_code integer_bound(tg_str text, const char *option, const tg_backfill_column *column,
                             tg_arena *arena, tg_value *out, tg_error *err)
{
    int64_t number;
    if (!tg_str_to_i64(text, &number)) {
        return bad_bound(text, option, column, "a whole number", err);
    }
    tg_value wide = tg_value_int(tg_type_of(TG_TYPE_BIGINT), number);
    if (!tg_value_cast(wide, column->type, NULL, arena, out)) {
        return bad_bound(text, option, column, "a number of its range", err);
    }
    return TG_OK;
}

/* Years of four digits only: steps from there never leave what the types hold. */
static bool is_in_calendar(int64_t local_us)
{
    return local_us >= tg_days_from_civil(1, 1, 1) * TG_US_PER_DAY &&
           local_us < tg_days_from_civil(10000, 1, 1) * TG_US_PER_DAY;
}

tg_code tg_backfill_bound(tg_str text, const char *option, const tg_backfill_column *column,
                          const tg_zone *zone, tg_arena *arena, tg_value *out, tg_error *err)
{
    text = tg_str_trim(text);
    if (tg_type_is_integer(column->type)) {
        return integer_bound(text, option, column, arena, out, err);
    }
    int64_t us;
    bool has_zone;
    if (!tg_timestamp_parse(text, arena, &us, &has_zone) || !is_in_calendar(us)) {
        return bad_bound(text, option, column, "a date or timestamp", err);
    }
    if (column->type->kind == TG_TYPE_TIMESTAMP) {
        *out = tg_value_int(column->type, has_zone ? us : tg_zone_to_us(zone, us));
        return TG_OK;
    }
    if (has_zone) {
        return bad_bound(text, option, column, "a local time without a zone", err);
    }
    if (column->type->kind == TG_TYPE_TIMESTAMP_NTZ) {
        *out = tg_value_int(column->type, us);
        return TG_OK;
    }
    if (tg_floor_mod(us, TG_US_PER_DAY) != 0) {
        return bad_bound(text, option, column, "a date", err);
    }
    *out = tg_value_int(column->type, tg_floor_div(us, TG_US_PER_DAY));
    return TG_OK;
}

tg_str tg_backfill_bound_text(tg_arena *arena, tg_value bound, const tg_zone *zone)
{
    switch (bound.type->kind) {
    case TG_TYPE_DATE:
        return tg_date_text(arena, bound.as.i64);
    case TG_TYPE_TIMESTAMP:
        return tg_local_text(arena, tg_zone_local_us(zone, bound.as.i64));
    case TG_TYPE_TIMESTAMP_NTZ:
        return tg_local_text(arena, bound.as.i64);
    default:
        return tg_str_printf(arena, "%lld", (long long)bound.as.i64);
    }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static int64_t seconds_of(tg_step_unit unit)
{
    return unit == TG_UNIT_SECOND   ? 1
           : unit == TG_UNIT_MINUTE ? 60
           : unit == TG_UNIT_HOUR   ? 3600
                                    : 0;
}

static int64_t months_of(tg_step_unit unit)
{
    return unit == TG_UNIT_MONTH     ? 1
           : unit == TG_UNIT_QUARTER ? 3
           : unit == TG_UNIT_YEAR    ? MONTHS_PER_YEAR
                                     : 0;
}

/* The n-th month's same day, or its last. False: behind the calendar, so behind every bound. */
static bool add_months(int64_t local_us, int64_t months, int64_t *out_us)
{
    int32_t year;
    int month, day;
    int64_t days = tg_floor_div(local_us, TG_US_PER_DAY);
    tg_civil_from_days(days, &year, &month, &day);
    int64_t all = (int64_t)year * MONTHS_PER_YEAR + month - 1 + months;
    if (all / MONTHS_PER_YEAR > 9999) {
        return false;
    }
    year = (int32_t)(all / MONTHS_PER_YEAR);
    month = (int)(all % MONTHS_PER_YEAR) + 1;
    while (!tg_date_is_valid(year, month, day)) {
        day--;
    }
    *out_us = tg_days_from_civil(year, month, day) * TG_US_PER_DAY +
              tg_floor_mod(local_us, TG_US_PER_DAY);
    return true;
}

/* A local time so many steps later. */
static bool add_calendar(int64_t local_us, tg_backfill_step step, int64_t times, int64_t *out_us)
{
    int64_t steps;
    if (__builtin_mul_overflow(step.count, times, &steps)) {
        return false;
    }
    int64_t months = months_of(step.unit);
    if (months) {
        return steps <= INT32_MAX && add_months(local_us, steps * months, out_us);
    }
    int64_t days = step.unit == TG_UNIT_WEEK ? 7 : 1;
    int64_t us;
    return !__builtin_mul_overflow(steps, days * TG_US_PER_DAY, &us) &&
           !__builtin_add_overflow(local_us, us, out_us);
}

/* Where the chunk after so many steps begins. False: behind everything. */
static bool bound_at(tg_value from, tg_backfill_step step, int64_t times, const tg_zone *zone,
                     tg_value *out)
{
    int64_t start = from.as.i64, next;
    tg_type_kind kind = from.type->kind;
    *out = from;
    if (step.unit == TG_UNIT_NONE || seconds_of(step.unit)) {
        int64_t length = step.unit == TG_UNIT_NONE ? 1 : seconds_of(step.unit) * TG_US_PER_SECOND;
        if (__builtin_mul_overflow(step.count, times, &next) ||
            __builtin_mul_overflow(next, length, &next) ||
            __builtin_add_overflow(start, next, &next)) {
            return false;
        }
        out->as.i64 = next;
        return true;
    }
    int64_t local = kind == TG_TYPE_DATE        ? start * TG_US_PER_DAY
                    : kind == TG_TYPE_TIMESTAMP ? tg_zone_local_us(zone, start)
                                                : start;
    if (times == 0) {
        return true; /* as it was given, also where a local time is there twice */
    }
    if (!add_calendar(local, step, times, &next)) {
        return false;
    }
    out->as.i64 = kind == TG_TYPE_DATE        ? tg_floor_div(next, TG_US_PER_DAY)
                  : kind == TG_TYPE_TIMESTAMP ? tg_zone_to_us(zone, next)
                                              : next;
    return true;
}

static tg_str predicate_of(const tg_backfill_column *column, tg_value from, tg_value to,
                           tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_ident(column->name, &text);
    tg_buf_addz(&text, " >= ");
    tg_buf_adds(&text, tg_value_literal(arena, from));
    tg_buf_addz(&text, " AND ");
    tg_sql_print_ident(column->name, &text);
    tg_buf_addz(&text, " < ");
    tg_buf_adds(&text, tg_value_literal(arena, to));
    return tg_buf_take(&text, arena);
}

static tg_code check_cut(const tg_backfill_column *column, tg_value from, tg_value to,
                         tg_backfill_step step, const tg_zone *zone, tg_arena *arena, tg_error *err)
{
    bool is_integer = tg_type_is_integer(column->type);
    if (is_integer != (step.unit == TG_UNIT_NONE)) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "--every %s, for column `%.*s` is %.*s",
                     is_integer ? "takes no unit" : "needs a unit", TG_SARG(column->name),
                     TG_SARG(tg_type_ddl(arena, column->type)));
        return tg_error_hint(err, is_integer ? "For example: --every 1000"
                                             : "For example: --every 7 DAYS");
    }
    if (column->type->kind == TG_TYPE_DATE && seconds_of(step.unit)) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION,
                "--every takes days or longer, for column `%.*s` is DATE", TG_SARG(column->name));
    }
    if (tg_value_cmp(from, to) >= 0) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "--from %.*s is not before --to %.*s",
                     TG_SARG(tg_backfill_bound_text(arena, from, zone)),
                     TG_SARG(tg_backfill_bound_text(arena, to, zone)));
        return tg_error_hint(err, "--to is not part of the range: for one day, it is the next.");
    }
    return TG_OK;
}

tg_code tg_backfill_cut(const tg_backfill_column *column, tg_value from, tg_value to,
                        tg_backfill_step step, const tg_zone *zone, tg_arena *arena,
                        tg_backfill_chunk **out_chunks, size_t *out_count, tg_error *err)
{
    TG_TRY(check_cut(column, from, to, step, zone, arena, err));
    TG_VEC(tg_backfill_chunk) chunks = {0};
    tg_value start = from;
    for (int64_t times = 1; tg_value_cmp(start, to) < 0; times++) {
        tg_value end;
        if (!bound_at(from, step, times, zone, &end) || tg_value_cmp(end, to) > 0) {
            end = to;
        }
        if (tg_value_cmp(start, end) >= 0) {
            continue; /* the zone skipped it */
        }
        if (chunks.count == TG_LIMIT_BACKFILL_CHUNKS) {
            (void)TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED, "the range has more than %d chunks",
                         TG_LIMIT_BACKFILL_CHUNKS);
            return tg_error_hint(err, "Choose a larger step by --every, or a smaller range.");
        }
        tg_backfill_chunk chunk = {
            .from = start, .to = end, .predicate = predicate_of(column, start, end, arena)};
        TG_VEC_PUSH(arena, &chunks, chunk);
        start = end;
    }
    *out_chunks = chunks.items;
    *out_count = chunks.count;
    return TG_OK;
}

/* ---- coverage -------------------------------------------------------------------------------- */

tg_region tg_backfill_covered(const tg_plan_interval *intervals, size_t count, tg_schema output,
                              int64_t now_us, const tg_zone *zone, tg_arena *arena)
{
    const tg_bind_options options = {.now_us = now_us, .zone = zone, .in_flow = true};
    tg_region covered = tg_region_none();
    for (size_t i = 0; i < count; i++) {
        tg_expr *expr;
        tg_bexpr *bound;
        bool has_time_function, is_deterministic;
        if (strcmp(intervals[i].status, "COVERED") != 0 ||
            tg_sql_parse_expression(intervals[i].where, arena, &expr, NULL) != TG_OK ||
            tg_sql_bind_predicate(expr, output, NULL, 0, &options, arena, &bound,
                                  &has_time_function, &is_deterministic, NULL) != TG_OK ||
            !is_deterministic) {
            continue;
        }
        tg_region region = tg_sql_region(tg_sql_fold(bound, zone, arena), output, zone, arena);
        if (!region.is_upper_bound) {
            covered = tg_region_or(arena, covered, region);
        }
    }
    return covered;
}

tg_region tg_backfill_region(const tg_backfill_column *column, const tg_backfill_chunk *chunk,
                             tg_arena *arena)
{
    const tg_interval interval = {.has_low = true,
                                  .has_high = true,
                                  .high_open = true,
                                  .low = chunk->from,
                                  .high = chunk->to};
    return tg_region_interval(arena, column->name, column->type, interval);
}
