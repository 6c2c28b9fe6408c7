/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: what can be and what cannot. */
#include "support/test.h"

#include "pipeline/schedule.h"

static void schedules_that_can_be(void **state)
{
    (void)state;
    static const char *const good[] = {
        "SCHEDULE EVERY 1 HOUR",
        "SCHEDULE EVERY 72 HOURS",
        "SCHEDULE REFRESH EVERY 31 DAYS",
        "schedule every 8 weeks",
        "SCHEDULE CRON '0 0 12 * * ?'",
        "SCHEDULE CRON \"0 0/15 8-18 ? * MON-FRI 2026\" AT TIME ZONE 'Europe/Lisbon'",
        "SCHEDULE REFRESH CRON '0 15,45 23 L * ?' AT TIME ZONE \"UTC\"",
        "SCHEDULE CRON '0 0 0 15W JAN,jul ?'",
        "SCHEDULE CRON '0 0 0 LW * ? *'",
        "SCHEDULE CRON '*/10 * * L-3 1/2 ?'",
        "SCHEDULE CRON '0 0 0 ? * 6#3'",
        "SCHEDULE CRON '0 0 0 ? * FRIL'",
        "TRIGGER ON UPDATE",
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 MINUTE",
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL '60' SECONDS",
    };
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        assert_ok(tg_schedule_check(tg_str_from(good[i]), arena, &err), &err);
    }
}

static void schedules_that_cannot_be(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "SCHEDULE EVERY 0 HOURS",
        "SCHEDULE EVERY 73 HOURS",
        "SCHEDULE EVERY 32 DAYS",
        "SCHEDULE EVERY 9 WEEKS",
        "SCHEDULE EVERY 99999999999999999999 DAYS",
        "SCHEDULE CRON ''",
        "SCHEDULE CRON '0 12 * * ?'",
        "SCHEDULE CRON '0 0 12 * * ? 2026 x'",
        "SCHEDULE CRON '60 0 12 * * ?'",
        "SCHEDULE CRON '0 60 12 * * ?'",
        "SCHEDULE CRON '0 0 24 * * ?'",
        "SCHEDULE CRON '0 0 0 32 * ?'",
        "SCHEDULE CRON '0 0 0 1 13 ?'",
        "SCHEDULE CRON '0 0 0 1 JAM ?'",
        "SCHEDULE CRON '0 0 0 ? * 8'",
        "SCHEDULE CRON '0 0 0 ? * 6#6'",
        "SCHEDULE CRON '0 0 0 1 * ? 1969'",
        "SCHEDULE CRON '0 0/0 0 1 * ?'",
        "SCHEDULE CRON '0 1,,2 0 1 * ?'",
        "SCHEDULE CRON '0 0 0 * * *'",
        "SCHEDULE CRON '0 0 0 ? * ?'",
        "SCHEDULE CRON '? 0 0 1 * ?'",
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 59 SECONDS",
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 0 MINUTES",
    };
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (tg_schedule_check(tg_str_from(bad[i]), arena, &err) == TG_OK) {
            fail_msg("%s was accepted", bad[i]);
        }
        assert_error_class(&err, "TIDEGATE_INVALID_SCHEDULE");
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_int_not_equal(
        tg_schedule_check(TG_S("SCHEDULE CRON '0 0 0 1 * ?' AT TIME ZONE 'Europe/Lisbn'"), arena,
                          &err),
        TG_OK);
    assert_error_class(&err, "INVALID_TIMEZONE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_that_can_be),
        cmocka_unit_test(schedules_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
