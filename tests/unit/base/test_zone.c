/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/zone_int.h"

typedef struct zone_case {
    const char *zone;
    int64_t local, instant;
    int32_t offset;
} zone_case;

static const zone_case cases[] = {
#define ZONE_CASE(zone, local, instant, offset) {zone, local, instant, offset},
#include "zone_cases.def"
#undef ZONE_CASE
};

static void agrees_with_zoneinfo(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        const tg_zone *zone;
        assert_ok(tg_zone_load(tg_str_from(cases[i].zone), arena, &zone, &err), &err);
        /* The microseconds are carried along. */
        int64_t us = tg_zone_to_us(zone, cases[i].local * TG_US_PER_SECOND + 250000);
        int32_t offset = tg_zone_offset_at(zone, cases[i].instant * TG_US_PER_SECOND);
        if (us != cases[i].instant * TG_US_PER_SECOND + 250000 || offset != cases[i].offset) {
            fail_msg("%s local %lld: instant %lld, offset %d; expected %lld, %d", cases[i].zone,
                     (long long)cases[i].local, (long long)us, offset, (long long)cases[i].instant,
                     cases[i].offset);
        }
    }
}

static void local_and_back(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const zone_case *previous = NULL;
    const tg_zone *zone = NULL;
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        if (!previous || strcmp(previous->zone, cases[i].zone) != 0) {
            assert_int_equal(tg_zone_load(tg_str_from(cases[i].zone), arena, &zone, NULL), TG_OK);
        }
        previous = &cases[i];
        int64_t us = cases[i].instant * TG_US_PER_SECOND;
        int64_t local_us = tg_zone_local_us(zone, us);
        assert_true(local_us == us + cases[i].offset * TG_US_PER_SECOND);
        /* Back to the same instant, or to the earlier one of two with this local time. */
        int64_t back = tg_zone_to_us(zone, local_us);
        assert_true(back <= us && tg_zone_local_us(zone, back) == local_us);
    }
}

/* Answers of Java 17. Debian's own zone files give +00:19:32, +00:53:28 ... for the first ones. */
static void zones_that_the_main_data_joins(void **state)
{
    static const struct {
        const char *zone;
        int64_t instant;
        int32_t offset;
    } joined[] = {
        {"Europe/Amsterdam", -2208988800, 0},   {"Europe/Oslo", -2400000000, 3600},
        {"Africa/Accra", -2208988800, -968},    {"EET", -2208988800, 5692},
        {"Europe/Amsterdam", 1719835200, 7200}, {"Europe/Brussels", -2208988800, 0},
    };
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (size_t i = 0; i < TG_COUNT(joined); i++) {
        const tg_zone *zone;
        assert_int_equal(tg_zone_load(tg_str_from(joined[i].zone), arena, &zone, NULL), TG_OK);
        assert_str(zone->name, joined[i].zone);
        assert_int_equal(tg_zone_offset_at(zone, joined[i].instant * TG_US_PER_SECOND),
                         joined[i].offset);
    }
}

static void knows_names_as_java(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const struct {
        const char *name, *normalised; /* NULL: refused */
        int32_t offset;                /* in January 2024 */
    } names[] = {
        {"UTC", "UTC", 0},
        {"Z", "Z", 0},
        {"GMT", "GMT", 0},
        {"UT", "UT", 0},
        {"+02:00", "+02:00", 7200},
        {"+2", "+02:00", 7200},
        {"+02", "+02:00", 7200},
        {"+0230", "+02:30", 9000},
        {"+2:30", "+02:30", 9000},
        {"+02:3", "+02:03", 7380},
        {"+2:3", "+02:03", 7380},
        {"-05:30", "-05:30", -19800},
        {"+01:02:03", "+01:02:03", 3723},
        {"-010203", "-01:02:03", -3723},
        {"+00:00", "Z", 0},
        {"-00:00", "Z", 0},
        {"+18:00", "+18:00", 64800},
        {"UTC+2", "UTC+02:00", 7200},
        {"GMT-05:30", "GMT-05:30", -19800},
        {"UT+01", "UT+01:00", 3600},
        {"UTC+00:00", "UTC", 0},
        {"EST", "-05:00", -18000},
        {"PST", "America/Los_Angeles", -28800},
        {"Europe/Lisbon", "Europe/Lisbon", 0},
        {"Etc/GMT+5", "Etc/GMT+5", -18000},
        {"Asia/Kolkata", "Asia/Kolkata", 19800},
        {"GMT0", "GMT0", 0},
        {"utc", NULL, 0},
        {"", NULL, 0},
        {"+", NULL, 0},
        {"+18:01", NULL, 0},
        {"+19", NULL, 0},
        {"+02:60", NULL, 0},
        {"+2:", NULL, 0},
        {"+230", NULL, 0},
        {"+02:0a", NULL, 0},
        {"+02 :00", NULL, 0},
        {"+020", NULL, 0},
        {"+02:00:00:00", NULL, 0},
        {"UTC+", NULL, 0},
        {"UTC2", NULL, 0},
        {"02:00", NULL, 0},
        {"europe/lisbon", NULL, 0},
        {"Europe", NULL, 0},
        {"../etc/passwd", NULL, 0},
        {"Europe/../Europe/Lisbon", NULL, 0},
        {"/usr/share/zoneinfo/Europe/Lisbon", NULL, 0},
        {"tzdata.zi", NULL, 0},
        {"Europe/Lisbon ", NULL, 0},
    };
    for (size_t i = 0; i < TG_COUNT(names); i++) {
        const tg_zone *zone = NULL;
        tg_code code = tg_zone_load(tg_str_from(names[i].name), arena, &zone, NULL);
        if ((code == TG_OK) != (names[i].normalised != NULL)) {
            fail_msg("zone '%s': code %d", names[i].name, code);
        }
        if (zone) {
            assert_str(tg_zone_name(zone), names[i].normalised);
            assert_int_equal(tg_zone_offset_at(zone, INT64_C(1704067200000000)), names[i].offset);
        }
    }
    assert_str(tg_zone_name(tg_zone_utc()), "UTC");
    assert_int_equal(tg_zone_offset_at(tg_zone_utc(), 0), 0);
    assert_int_equal(tg_zone_to_us(tg_zone_utc(), -5), -5);
    assert_int_equal(tg_zone_load(TG_S("UTC\0"), arena, &(const tg_zone *){NULL}, NULL),
                     TG_INVALID_ARGUMENT);
}

static void tells_offsets_from_regions(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    static const char *const names[] = {"UTC",     "Z",    "UT",        "GMT+2",        "-05:30",
                                        "Etc/GMT", "GMT0", "Etc/GMT+5", "Europe/Lisbon"};
    for (size_t i = 0; i < TG_COUNT(names); i++) {
        const tg_zone *zone;
        assert_int_equal(tg_zone_load(tg_str_from(names[i]), arena, &zone, NULL), TG_OK);
        assert_int_equal(tg_zone_is_fixed(zone), i < 5);
    }
}

static void suggests_a_zone(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_zone *zone;
    assert_int_equal(tg_zone_load(TG_S("Europe/Lisbonne"), arena, &zone, &err),
                     TG_INVALID_ARGUMENT);
    assert_error_class(&err, "INVALID_TIMEZONE");
    assert_string_equal(err.hint, "Did you mean 'Europe/Lisbon'?");
    assert_int_equal(tg_zone_load(TG_S("utc"), arena, &zone, &err), TG_INVALID_ARGUMENT);
    assert_string_equal(err.hint, "Did you mean 'UTC'?");
    assert_int_equal(tg_zone_load(TG_S("nowhere at all"), arena, &zone, &err), TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.hint, "Use a region"));
}

static void reads_footers(void **state)
{
    (void)state;
    tg_zone_footer footer;
    assert_true(tg_zone_parse_footer(TG_S("CET-1CEST,M3.5.0,M10.5.0/3"), &footer));
    assert_int_equal(footer.standard_offset, 3600);
    assert_int_equal(footer.daylight_offset, 7200);
    assert_int_equal(footer.end.second_of_day, 10800);
    assert_true(tg_zone_parse_footer(TG_S("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"), &footer));
    assert_int_equal(footer.daylight_offset, 39600);
    assert_true(tg_zone_parse_footer(TG_S("IST-1GMT0,M10.5.0,M3.5.0/1"), &footer));
    assert_true(tg_zone_parse_footer(TG_S("EST5EDT,J60/-1,300/25:30:15"), &footer));
    assert_int_equal(footer.start.kind, TG_RULE_JULIAN);
    assert_int_equal(footer.start.second_of_day, -3600);
    assert_int_equal(footer.end.kind, TG_RULE_DAY);
    assert_true(tg_zone_parse_footer(TG_S("UTC0"), &footer));
    assert_false(footer.has_daylight);
    const tg_str broken[] = {
        TG_S(""),
        TG_S("CET"),
        TG_S("C-1"),
        TG_S("CET-25"),
        TG_S("CET-1CEST"),
        TG_S("CET-1CEST,"),
        TG_S("<CET-1"),
        TG_S("CET-1CEST,M3.5.0"),
        TG_S("CET-1CEST,M13.5.0,M1.1.0"),
        TG_S("CET-1CEST,M3.6.0,M1.1.0"),
        TG_S("CET-1CEST,M3.5.7,M1.1.0"),
        TG_S("CET-1CEST,J0,J1"),
        TG_S("CET-1CEST,366,1"),
        TG_S("CET-1CEST,M3.5.0,M10.5.0/168"),
        TG_S("CET-1CEST,M3.5.0,M10.5.0x"),
        TG_S("CET-1:60"),
        TG_S("CET-99999999999999999999"),
    };
    for (size_t i = 0; i < TG_COUNT(broken); i++) {
        if (tg_zone_parse_footer(broken[i], &footer)) {
            fail_msg("'%.*s' was accepted", TG_SARG(broken[i]));
        }
    }
}

/*
 * Rules of all three kinds and of both halves of the globe, on days that can be checked by a
 * calendar.
 */
static void applies_footers(void **state)
{
    (void)state;
    tg_zone zone = {.has_footer = true};
    assert_true(tg_zone_parse_footer(TG_S("EST5EDT,J60,J300"), &zone.footer));
    /* J60 is 1 March in every year: 2024-03-01 07:00 UTC is 02:00 EST. */
    int64_t change = tg_days_from_civil(2024, 3, 1) * TG_US_PER_DAY + 7 * 3600 * TG_US_PER_SECOND;
    assert_int_equal(tg_zone_offset_at(&zone, change - 1), -18000);
    assert_int_equal(tg_zone_offset_at(&zone, change), -14400);
    assert_true(tg_zone_parse_footer(TG_S("EST5EDT,59,300"), &zone.footer));
    /* Day 59 counted from 0 is 29 February in 2024 and 1 March in 2023. */
    int64_t leap = change - TG_US_PER_DAY;
    assert_int_equal(tg_zone_offset_at(&zone, leap - 1), -18000);
    assert_int_equal(tg_zone_offset_at(&zone, leap), -14400);
    int64_t plain = tg_days_from_civil(2023, 3, 1) * TG_US_PER_DAY + 7 * 3600 * TG_US_PER_SECOND;
    assert_int_equal(tg_zone_offset_at(&zone, plain - 1), -18000);
    assert_int_equal(tg_zone_offset_at(&zone, plain), -14400);
    assert_true(tg_zone_parse_footer(TG_S("AEST-10AEDT,M10.1.0,M4.1.0/3"), &zone.footer));
    assert_int_equal(tg_zone_offset_at(&zone, tg_days_from_civil(2024, 1, 1) * TG_US_PER_DAY),
                     39600);
    assert_int_equal(tg_zone_offset_at(&zone, tg_days_from_civil(2024, 7, 1) * TG_US_PER_DAY),
                     36000);
    assert_int_equal(tg_zone_offset_at(&zone, tg_days_from_civil(2024, 12, 31) * TG_US_PER_DAY),
                     39600);
}

static void stays_in_time(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    static const char *const names[] = {"America/New_York", "Asia/Tokyo", "+18:00", "-18:00"};
    for (size_t i = 0; i < TG_COUNT(names); i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        const tg_zone *zone;
        assert_ok(tg_zone_load(tg_str_from(names[i]), arena, &zone, &err), &err);
        bool is_behind = tg_zone_offset_at(zone, 0) < 0;
        assert_int_equal(tg_zone_local_us(zone, is_behind ? INT64_MIN : INT64_MAX),
                         is_behind ? INT64_MIN : INT64_MAX);
        assert_int_equal(tg_zone_to_us(zone, is_behind ? INT64_MAX : INT64_MIN),
                         is_behind ? INT64_MAX : INT64_MIN);
    }
    tg_civil first;
    tg_civil_from_us(INT64_MIN, &first);
    assert_int_equal(first.year, -290308);
    assert_int_equal(tg_floor_mod(INT64_MIN, TG_US_PER_DAY), INT64_C(71945224192));
}

static void refuses_broken_files(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_zone zone = {0};
    assert_false(tg_zone_parse_tzif(TG_S(""), arena, &zone));
    assert_false(tg_zone_parse_tzif(TG_S("TZif"), arena, &zone));
    char bytes[200] = "TZif2";
    assert_false(tg_zone_parse_tzif((tg_str){bytes, sizeof(bytes)}, arena, &zone));
    memset(bytes + 20, 0xFF, 24); /* counts of four thousand million */
    assert_false(tg_zone_parse_tzif((tg_str){bytes, sizeof(bytes)}, arena, &zone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_zoneinfo),
        cmocka_unit_test(local_and_back),
        cmocka_unit_test(zones_that_the_main_data_joins),
        cmocka_unit_test(knows_names_as_java),
        cmocka_unit_test(tells_offsets_from_regions),
        cmocka_unit_test(suggests_a_zone),
        cmocka_unit_test(reads_footers),
        cmocka_unit_test(applies_footers),
        cmocka_unit_test(stays_in_time),
        cmocka_unit_test(refuses_broken_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
