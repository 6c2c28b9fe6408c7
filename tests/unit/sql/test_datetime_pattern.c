/* SPDX-License-Identifier: Apache-2.0 */
/* Datetime patterns: formatting and strict parsing, as java.time does with Spark's rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/datetime_pattern.h"

static const int64_t sample = INT64_C(1722819723456789); /* 2024-08-05 01:02:03.456789 */

static void check_format(const char *pattern_text, int64_t local_us, int32_t offset,
                         const char *expected)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_datetime_pattern pattern;
    const char *why = "";
    assert_int_equal(tg_datetime_pattern_compile(tg_str_from(pattern_text), false, &pattern, &why),
                     TG_PATTERN_OK);
    tg_datetime_pattern_format(&pattern, local_us, offset, TG_S("Europe/Paris"), &out);
    assert_string_equal(tg_buf_cstr(&out), expected);
}

static void check_parse(const char *pattern_text, const char *text, const char *expected,
                        const char *zone)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_datetime_pattern pattern;
    const char *why = "";
    tg_parsed_time time;
    assert_int_equal(tg_datetime_pattern_compile(tg_str_from(pattern_text), true, &pattern, &why),
                     TG_PATTERN_OK);
    bool fits = tg_datetime_pattern_parse(&pattern, tg_str_from(text), &time);
    assert_int_equal(fits, expected != NULL);
    if (fits) {
        assert_string_equal(tg_str_cstr(arena, tg_local_text(arena, time.local_us)), expected);
        assert_string_equal(time.zone, zone);
    }
}

static void test_format(void **state)
{
    (void)state;
    check_format("yyyy-MM-dd HH:mm:ss.SSSSSS", sample, 0, "2024-08-05 01:02:03.456789");
    check_format("yy M d, EEE EEEE MMM LLLL", sample, 0, "24 8 5, Mon Monday Aug August");
    check_format("hh:mm a K k H D QQQ G", sample, 0, "01:02 AM 1 1 1 218 Q3 AD");
    check_format("'week' yyyy''MM[ dd]", sample, 0, "week 2024'08 05");
    check_format("X XXX Z ZZZZ O VV x", sample, 0, "Z Z +0000 GMT GMT Europe/Paris +00");
    check_format("X XXX Z ZZZZ O", sample, 19800, "+0530 +05:30 +0530 GMT+05:30 GMT+5:30");
    check_format("yyyy", -INT64_C(59000000000000000), 0, "0100");
}

static void test_parse(void **state)
{
    (void)state;
    check_parse("yyyy-MM-dd", "2024-02-29", "2024-02-29 00:00:00", "");
    check_parse("yyyyMMddHHmmss", "20240229123456", "2024-02-29 12:34:56", "");
    check_parse("d.M.yyyy", "9.2.2024", "2024-02-09 00:00:00", "");
    check_parse("dd-MMM-yyyy", "29-FEB-2024", "2024-02-29 00:00:00", "");
    check_parse("MM/dd/yyyy hh:mm a", "02/29/2024 01:05 PM", "2024-02-29 13:05:00", "");
    check_parse("yyyy-MM-dd HH:mm:ss[.SSS]", "2024-02-29 12:34:56", "2024-02-29 12:34:56", "");
    check_parse("yyyy-MM-dd HH:mm:ss.SSSSSS", "2024-02-29 12:34:56.7", "2024-02-29 12:34:56.7", "");
    check_parse("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-02-29T12:34:56+02:00", "2024-02-29 12:34:56",
                "+02:00");
    check_parse("yy", "24", "2024-01-01 00:00:00", "");
    check_parse("yyyy D", "2024 366", "2024-12-31 00:00:00", "");
}

static void test_strictness(void **state)
{
    (void)state;
    check_parse("yyyy-MM-dd", "2024-2-9", NULL, "");
    check_parse("yyyy-MM-dd", "2024-02-30", NULL, "");
    check_parse("yyyy-MM-dd", "2024-02-29 ", NULL, "");
    check_parse("yyyy-MM-dd HH:mm:ss", "2024-02-29 25:00:00", NULL, "");
    check_parse("yyyy", "20240", NULL, "");
    check_parse("hh a", "13 AM", NULL, "");
    check_parse("yyyy D", "2023 366", NULL, "");
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        bool for_parsing;
        tg_pattern_verdict verdict;
    } cases[] = {{"YYYY", false, TG_PATTERN_INVALID},
                 {"yyyy-MM-ddTHH", false, TG_PATTERN_INVALID},
                 {"ddd", false, TG_PATTERN_INVALID},
                 {"EEE", true, TG_PATTERN_INVALID},
                 {"EEE", false, TG_PATTERN_OK},
                 {"'x", false, TG_PATTERN_INVALID},
                 {"yyyy]", false, TG_PATTERN_INVALID},
                 {"#", false, TG_PATTERN_INVALID},
                 {"F", false, TG_PATTERN_UNSUPPORTED},
                 {"QQ", true, TG_PATTERN_UNSUPPORTED},
                 {"", true, TG_PATTERN_OK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tg_datetime_pattern pattern;
        const char *why = "";
        assert_int_equal(tg_datetime_pattern_compile(tg_str_from(cases[i].pattern),
                                                     cases[i].for_parsing, &pattern, &why),
                         cases[i].verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_strictness),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
