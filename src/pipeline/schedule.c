/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of schedules, and Quartz' cron expressions. */
#include "pipeline/schedule.h"

#include "base/time.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* The next word, or the text between quotes; empty at the end. */
static tg_str next_word(tg_str *rest)
{
    *rest = tg_str_trim(*rest);
    bool is_quoted = rest->len > 0 && (rest->ptr[0] == '\'' || rest->ptr[0] == '"');
    size_t start = is_quoted, end = start;
    while (end < rest->len &&
           (is_quoted ? rest->ptr[end] != rest->ptr[0] : !strchr(" \t\r\n'\"", rest->ptr[end]))) {
        end++;
    }
    tg_str word = tg_str_sub(*rest, start, end);
    *rest = tg_str_sub(*rest, end + is_quoted < rest->len ? end + is_quoted : rest->len, rest->len);
    return word;
}

/* Takes the words up to one. */
static bool skip_to(tg_str *rest, const char *wanted)
{
    while (rest->len > 0) {
        if (tg_str_ieq(next_word(rest), tg_str_from(wanted))) {
            return true;
        }
    }
    return false;
}

/* ---- EVERY and TRIGGER ----------------------------------------------------------------------- */

static tg_code check_every(tg_str rest, tg_error *err)
{
    static const struct {
        const char *unit;
        int64_t most;
    } units[] = {{"HOUR", 72}, {"DAY", 31}, {"WEEK", 8}};
    int64_t count = 0;
    bool is_number = tg_str_to_i64(next_word(&rest), &count);
    tg_str unit = next_word(&rest);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (tg_str_istarts(unit, tg_str_from(units[i].unit)) &&
            (!is_number || count < 1 || count > units[i].most)) {
            TG_FAIL(err, TIDEGATE_INVALID_SCHEDULE, "a schedule EVERY n %s has n from 1 to %lld",
                    units[i].unit, (long long)units[i].most);
        }
    }
    return TG_OK;
}

static tg_code check_trigger(tg_str rest, tg_error *err)
{
    int64_t count;
    if (skip_to(&rest, "INTERVAL") && tg_str_to_i64(next_word(&rest), &count) &&
        (count < 1 || (count < 60 && tg_str_istarts(next_word(&rest), TG_S("SECOND"))))) {
        TG_FAIL(err, TIDEGATE_INVALID_SCHEDULE,
                "the interval of TRIGGER ON UPDATE is at least one minute");
    }
    return TG_OK;
}

/* ---- CRON ------------------------------------------------------------------------------------ */

typedef struct cron_field {
    const char *name;
    int64_t low, high;
    const char *names; /* of three letters each, from low */
} cron_field;

enum { CRON_DAY = 3, CRON_WEEKDAY = 5, CRON_FIELDS = 7, CRON_NEEDED = 6 };
static const cron_field cron_fields[CRON_FIELDS] = {
    {"second", 0, 59, ""},
    {"minute", 0, 59, ""},
    {"hour", 0, 23, ""},
    {"day of the month", 1, 31, ""},
    {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    {"day of the week", 1, 7, "SUNMONTUEWEDTHUFRISAT"},
    {"year", 1970, 2099, ""},
};

static bool is_value(const cron_field *field, tg_str text)
{
    int64_t number;
    if (tg_str_to_i64(text, &number)) {
        return number >= field->low && number <= field->high;
    }
    for (size_t i = 0; text.len == 3 && i < strlen(field->names); i += 3) {
        if (tg_str_ieq(text, (tg_str){field->names + i, 3})) {
            return true;
        }
    }
    return false;
}

static bool is_number_up_to(tg_str text, int64_t low, int64_t high)
{
    int64_t number;
    return tg_str_to_i64(text, &number) && number >= low && number <= high;
}

/* L, LW, L-3, 15W; L, 6L, 6#3. */
static bool is_special_day(const cron_field *field, tg_str text)
{
    size_t hash = tg_str_find(text, TG_S("#"), 0);
    tg_str front = tg_str_sub(text, 0, text.len ? text.len - 1 : 0);
    if (field == &cron_fields[CRON_DAY]) {
        return tg_str_ieq(text, TG_S("L")) || tg_str_ieq(text, TG_S("LW")) ||
               (tg_str_istarts(text, TG_S("L-")) &&
                is_number_up_to(tg_str_sub(text, 2, text.len), 1, 30)) ||
               (tg_str_ends(text, TG_S("W")) && is_value(field, front));
    }
    return field == &cron_fields[CRON_WEEKDAY] &&
           (tg_str_ieq(text, TG_S("L")) ||
            (tg_str_ends(text, TG_S("L")) && is_value(field, front)) ||
            (hash != SIZE_MAX && is_value(field, tg_str_sub(text, 0, hash)) &&
             is_number_up_to(tg_str_sub(text, hash + 1, text.len), 1, 5)));
}

/* 5, MON, 1-5, *, 0/15, L ... */
static bool is_item(const cron_field *field, tg_str item)
{
    size_t slash = tg_str_find(item, TG_S("/"), 0);
    if (slash != SIZE_MAX) {
        if (!is_number_up_to(tg_str_sub(item, slash + 1, item.len), 1, field->high)) {
            return false;
        }
        item = tg_str_sub(item, 0, slash);
    }
    size_t dash = tg_str_find(item, TG_S("-"), 0);
    return tg_str_eq(item, TG_S("*")) || is_value(field, item) ||
           (slash == SIZE_MAX && is_special_day(field, item)) ||
           (dash != SIZE_MAX && is_value(field, tg_str_sub(item, 0, dash)) &&
            is_value(field, tg_str_sub(item, dash + 1, item.len)));
}

static tg_code check_field(const cron_field *field, tg_str text, tg_error *err)
{
    bool is_any_day = tg_str_eq(text, TG_S("?")) &&
                      (field == &cron_fields[CRON_DAY] || field == &cron_fields[CRON_WEEKDAY]);
    for (size_t from = 0; !is_any_day && from <= text.len;) {
        size_t comma = tg_str_find(text, TG_S(","), from);
        comma = comma == SIZE_MAX ? text.len : comma;
        if (!is_item(field, tg_str_sub(text, from, comma))) {
            TG_FAIL(err, TIDEGATE_INVALID_SCHEDULE, "`%.*s` is no %s of a cron expression",
                    TG_SARG(text), field->name);
        }
        from = comma + 1;
    }
    return TG_OK;
}

static tg_code check_cron(tg_str cron, tg_error *err)
{
    tg_str fields[CRON_FIELDS + 1] = {{0}};
    size_t count = 0;
    for (tg_str rest = cron; count <= CRON_FIELDS; count++) {
        fields[count] = next_word(&rest);
        if (fields[count].len == 0) {
            break;
        }
    }
    if (count < CRON_NEEDED || count > CRON_FIELDS) {
        TG_ERR(err, TIDEGATE_INVALID_SCHEDULE, "`%.*s` is no cron expression of Quartz",
               TG_SARG(cron));
        return tg_error_hint(err, "It has six or seven fields: second, minute, hour, day of the "
                                  "month, month, day of the week, year.");
    }
    for (size_t i = 0; i < count; i++) {
        TG_TRY(check_field(&cron_fields[i], fields[i], err));
    }
    bool any_day = tg_str_eq(fields[CRON_DAY], TG_S("?"));
    if (any_day == tg_str_eq(fields[CRON_WEEKDAY], TG_S("?"))) {
        TG_FAIL(err, TIDEGATE_INVALID_SCHEDULE,
                "one of the day of the month and the day of the week of `%.*s` must be ?, not %s",
                TG_SARG(cron), any_day ? "both" : "none");
    }
    return TG_OK;
}

tg_code tg_schedule_check(tg_str text, tg_arena *arena, tg_error *err)
{
    tg_str rest = text;
    tg_str word = next_word(&rest);
    if (tg_str_ieq(word, TG_S("TRIGGER"))) {
        return check_trigger(rest, err);
    }
    word = next_word(&rest);
    word = tg_str_ieq(word, TG_S("REFRESH")) ? next_word(&rest) : word;
    if (tg_str_ieq(word, TG_S("EVERY"))) {
        return check_every(rest, err);
    }
    if (!tg_str_ieq(word, TG_S("CRON"))) {
        return TG_OK; /* a comment in between: not ours to read */
    }
    TG_TRY(check_cron(next_word(&rest), err));
    const tg_zone *zone;
    return skip_to(&rest, "ZONE") ? tg_zone_load(next_word(&rest), arena, &zone, err) : TG_OK;
}
