/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options that several commands take: times, numbers. */
#include "cli/cli.h"

/* 0001-01-01 and 9999-12-31: what SQL can say too. */
#define FIRST_US (INT64_C(-62135596800) * TG_US_PER_SECOND)
#define LAST_US (INT64_C(253402300799) * TG_US_PER_SECOND)

static tg_code read_time(tg_cli *cli, tg_api *api, tg_option_id option, const char *name,
                         int64_t *out_us, tg_error *err)
{
    if (cli->given[option] && tg_api_instant(api, cli->value[option], out_us, NULL) != TG_OK) {
        TG_ERR(err, TIDEGATE_INVALID_OPTION, "%s '%.*s' is not a date or timestamp", name,
               TG_SARG(cli->value[option]));
        return tg_error_hint(err, "Write 2024-03-01, '2024-03-01 12:30:00' or "
                                  "2024-03-01T12:30:00Z.");
    }
    return TG_OK;
}

tg_code tg_cli_time_range(tg_cli *cli, tg_api *api, int64_t *out_start_us, int64_t *out_end_us,
                          tg_error *err)
{
    *out_start_us = FIRST_US;
    *out_end_us = LAST_US;
    TG_TRY(read_time(cli, api, TG_OPT_START_TIME, "--start-time", out_start_us, err));
    TG_TRY(read_time(cli, api, TG_OPT_END_TIME, "--end-time", out_end_us, err));
    if (*out_start_us > *out_end_us) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION, "--start-time is later than --end-time");
    }
    return TG_OK;
}

tg_code tg_cli_number(const tg_cli *cli, size_t fallback, size_t *out_number, tg_error *err)
{
    enum { MOST = 1000000 };
    *out_number = fallback;
    if (!cli->given[TG_OPT_NUMBER]) {
        return TG_OK;
    }
    int64_t number;
    if (!tg_str_to_i64(cli->value[TG_OPT_NUMBER], &number) || number < 1 || number > MOST) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION,
                "--number takes a whole number from 1 to %d, not '%.*s'", MOST,
                TG_SARG(cli->value[TG_OPT_NUMBER]));
    }
    *out_number = (size_t)number;
    return TG_OK;
}
