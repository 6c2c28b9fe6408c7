/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

static void converts_every_day(void **state)
{
    (void)state;
    int32_t year = -401;
    int month = 1;
    int day = 1;
    for (int64_t days = tg_days_from_civil(year, month, day); year < 2401; days++) {
        int32_t y;
        int m;
        int d;
        tg_civil_from_days(days, &y, &m, &d);
        assert_true(y == year && m == month && d == day);
        assert_true(tg_days_from_civil(year, month, day) == days);
        day++;
        if (!tg_date_is_valid(year, month, day)) {
            day = 1;
            month++;
        }
        if (month > 12) {
            month = 1;
            year++;
        }
    }
    assert_int_equal(tg_days_from_civil(1970, 1, 1), 0);
    assert_int_equal(tg_days_from_civil(2000, 2, 29), 11016);
    assert_int_equal(tg_days_from_civil(1, 1, 1), -719162);
}

static void knows_valid_dates(void **state)
{
    (void)state;
    assert_true(tg_date_is_valid(2024, 2, 29));
    assert_false(tg_date_is_valid(2023, 2, 29));
    assert_false(tg_date_is_valid(1900, 2, 29));
    assert_true(tg_date_is_valid(2000, 2, 29));
    assert_true(tg_date_is_valid(0, 2, 29));
    assert_true(tg_date_is_valid(-4, 2, 29));
    assert_false(tg_date_is_valid(2024, 0, 1));
    assert_false(tg_date_is_valid(2024, 13, 1));
    assert_false(tg_date_is_valid(2024, 4, 31));
    assert_false(tg_date_is_valid(2024, 4, 0));
}

static void converts_microseconds(void **state)
{
    (void)state;
    tg_civil civil;
    tg_civil_from_us(-1, &civil);
    assert_true(civil.year == 1969 && civil.month == 12 && civil.day == 31 && civil.hour == 23);
    assert_true(civil.minute == 59 && civil.second == 59 && civil.microsecond == 999999);
    assert_int_equal(tg_us_from_civil(&civil), -1);
    const int64_t samples[] = {
        0, 1, -86400000000, 1704067200123456, INT64_MIN + TG_US_PER_DAY, INT64_MAX};
    for (size_t i = 0; i < TG_COUNT(samples); i++) {
        tg_civil_from_us(samples[i], &civil);
        assert_true(tg_us_from_civil(&civil) == samples[i]);
    }
}

static void writes_texts(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    assert_str(tg_date_text(arena, 0), "1970-01-01");
    assert_str(tg_date_text(arena, tg_days_from_civil(1, 2, 3)), "0001-02-03");
    assert_str(tg_date_text(arena, tg_days_from_civil(9999, 12, 31)), "9999-12-31");
    assert_str(tg_date_text(arena, tg_days_from_civil(10000, 1, 1)), "+10000-01-01");
    assert_str(tg_date_text(arena, tg_days_from_civil(-44, 3, 15)), "-0044-03-15");
    assert_str(tg_local_text(arena, 1704110400000000), "2024-01-01 12:00:00");
    assert_str(tg_local_text(arena, 1704110400120000), "2024-01-01 12:00:00.12");
    assert_str(tg_local_text(arena, 1704110400000001), "2024-01-01 12:00:00.000001");
    assert_str(tg_local_text(arena, -1), "1969-12-31 23:59:59.999999");
    assert_str(tg_instant_text(arena, 1704110400120000), "2024-01-01T12:00:00.120000Z");
    assert_str(tg_instant_text(arena, 0), "1970-01-01T00:00:00.000000Z");
}

/* Expected texts are what Spark's casts give; NULL: no date. */
static void parses_dates_as_spark(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const struct {
        tg_str text;
        const char *expected;
    } cases[] = {
        {TG_S("2024-01-31"), "2024-01-31"},
        {TG_S("2024-1-3"), "2024-01-03"},
        {TG_S("2024-02"), "2024-02-01"},
        {TG_S("2024"), "2024-01-01"},
        {TG_S(" \t2024-01-31\n"), "2024-01-31"},
        {TG_S("2024-01-31 12:00 anything"), "2024-01-31"},
        {TG_S("2024-01-31Tanything"), "2024-01-31"},
        {TG_S("+2024-01-31"), "2024-01-31"},
        {TG_S("-0044-03-15"), "-0044-03-15"},
        {TG_S("12345-01-01"), "+12345-01-01"},
        {TG_S("0000-01-01"), "0000-01-01"},
        {TG_S("2024-01 "), "2024-01-01"},
        {TG_S("2024-01 x"), NULL},
        {TG_S("2024T"), NULL},
        {TG_S("2024-01-31x"), NULL},
        {TG_S("2024-02-30"), NULL},
        {TG_S("2023-02-29"), NULL},
        {TG_S("2024-13-01"), NULL},
        {TG_S("2024-00-01"), NULL},
        {TG_S("2024-001-01"), NULL},
        {TG_S("2024-01-001"), NULL},
        {TG_S("2024--01"), NULL},
        {TG_S("2024-01-"), NULL},
        {TG_S("2024-"), NULL},
        {TG_S("24-01-01"), NULL},
        {TG_S("12345678-01-01"), NULL},
        {TG_S("5881580-07-11"), "+5881580-07-11"}, /* the last and the first of 32 bits */
        {TG_S("5881580-07-12"), NULL},
        {TG_S("-5877641-06-23"), "-5877641-06-23"},
        {TG_S("-5877641-06-22"), NULL},
        {TG_S("20240131"), NULL},
        {TG_S("2024/01/31"), NULL},
        {TG_S("--2024-01-31"), NULL},
        {TG_S(""), NULL},
        {TG_S("  "), NULL},
        {TG_S("-"), NULL},
        {TG_S("epoch"), NULL},
        {TG_S("2024-01-3\xD9\xA1"), NULL},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        int64_t days;
        bool is_good = tg_date_parse(cases[i].text, &days);
        if (is_good != (cases[i].expected != NULL)) {
            fail_msg("'%.*s'", TG_SARG(cases[i].text));
        }
        if (is_good) {
            assert_str(tg_date_text(arena, days), cases[i].expected);
        }
    }
}

static void parses_timestamps_as_spark(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const struct {
        tg_str text;
        bool has_zone;
        const char *expected;
    } cases[] = {
        {TG_S("2024-01-31 12:34:56"), false, "2024-01-31 12:34:56"},
        {TG_S("2024-01-31T12:34:56.7"), false, "2024-01-31 12:34:56.7"},
        {TG_S("2024-01-31 12:34:56.123456789"), false, "2024-01-31 12:34:56.123456"},
        {TG_S("2024-01-31 12:34:56."), false, "2024-01-31 12:34:56"},
        {TG_S("2024-1-3 1:2:3"), false, "2024-01-03 01:02:03"},
        {TG_S("2024-01-31 12"), false, "2024-01-31 12:00:00"},
        {TG_S("2024-01-31 12:34"), false, "2024-01-31 12:34:00"},
        {TG_S("2024-01-31"), false, "2024-01-31 00:00:00"},
        {TG_S("2024-01"), false, "2024-01-01 00:00:00"},
        {TG_S("2024"), false, "2024-01-01 00:00:00"},
        {TG_S(" 2024-01-31 12:34:56 "), false, "2024-01-31 12:34:56"},
        {TG_S("2024-01-31 12:34:56Z"), true, "2024-01-31 12:34:56"},
        {TG_S("2024-01-31 12:34:56+02:00"), true, "2024-01-31 10:34:56"},
        {TG_S("2024-01-31 12:34:56-5:30"), true, "2024-01-31 18:04:56"},
        {TG_S("2024-01-31 12:34:56.5 Europe/Paris"), true, "2024-01-31 11:34:56.5"},
        {TG_S("2024-07-31T12:34:56UTC+3"), true, "2024-07-31 09:34:56"},
        {TG_S("2024-01-31 12:34:56 GMT"), true, "2024-01-31 12:34:56"},
        {TG_S("294245-01-01 00:00:00"), false, "+294245-01-01 00:00:00"},
        {TG_S("294247-12-31 00:00:00"), false, NULL},
        {TG_S("1234567-01-01 00:00:00"), false, NULL},
        {TG_S("2024-01-31 12:34+02:00"), false, NULL},
        {TG_S("2024-01-31 12:34:56 Europe/Pariss"), false, NULL},
        {TG_S("2024-01-31 12:34:56+19:00"), false, NULL},
        {TG_S("2024-01-31 24:00:00"), false, NULL},
        {TG_S("2024-01-31 12:60:00"), false, NULL},
        {TG_S("2024-01-31 12:00:60"), false, NULL},
        {TG_S("2024-01-31 "), false, "2024-01-31 00:00:00"},
        {TG_S("2024-01-31T"), false, NULL},
        {TG_S("2024-01-31 123:00:00"), false, NULL},
        {TG_S("2024-01-31 12:"), false, NULL},
        {TG_S("2024-01-31 12::00"), false, NULL},
        {TG_S("2024-01-31x12:00:00"), false, NULL},
        {TG_S("2024-02-30 12:00:00"), false, NULL},
        {TG_S("12:34:56"), false, NULL},
        {TG_S("T12:34:56"), false, NULL},
        {TG_S("1704067200"), false, NULL},
        {TG_S(""), false, NULL},
        {TG_S("now"), false, NULL},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        int64_t us;
        bool has_zone;
        bool is_good = tg_timestamp_parse(cases[i].text, arena, &us, &has_zone);
        if (is_good != (cases[i].expected != NULL)) {
            fail_msg("'%.*s'", TG_SARG(cases[i].text));
        }
        if (is_good) {
            assert_str(tg_local_text(arena, us), cases[i].expected);
            assert_int_equal(has_zone, cases[i].has_zone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_every_day),    cmocka_unit_test(knows_valid_dates),
        cmocka_unit_test(converts_microseconds), cmocka_unit_test(writes_texts),
        cmocka_unit_test(parses_dates_as_spark), cmocka_unit_test(parses_timestamps_as_spark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
