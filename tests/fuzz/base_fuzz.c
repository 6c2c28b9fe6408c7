/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that base reads: JSON, dates, timestamps, time zone names, TZif files.
 * Also checks what must hold for every input: what we write, we read back.
 */
#include <string.h>
#include <yyjson.h>

#include "base/base.h"
#include "base/zone_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_quoting(tg_str text, tg_arena *arena)
{
    tg_auto_buf tg_buf quoted = TG_BUF_INIT;
    tg_json_quote(&quoted, text);
    yyjson_val *root;
    tg_assert(tg_utf8_valid_len(tg_buf_str(&quoted)) == quoted.len);
    tg_assert(tg_json_parse(tg_buf_str(&quoted), 0, arena, &root, NULL) == TG_OK);
    if (tg_utf8_valid_len(text) == text.len) {
        tg_assert(tg_str_eq((tg_str){yyjson_get_str(root), yyjson_get_len(root)}, text));
    }
}

static void check_json(tg_str text, tg_arena *arena)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf printed = TG_BUF_INIT;
    yyjson_val *root;
    if (tg_json_parse(text, TG_JSON_RAW_NUMBERS, arena, &root, &err) != TG_OK) {
        tg_error_locate(&err, "fuzz", text);
        tg_error_print(&err, &printed);
        tg_assert(tg_utf8_valid_len(tg_buf_str(&printed)) == printed.len);
    }
}

static void check_times(tg_str text, tg_arena *arena)
{
    int64_t number;
    int64_t again;
    bool has_zone;
    if (tg_date_parse(text, &number)) {
        tg_assert(tg_date_parse(tg_date_text(arena, number), &again) && again == number);
    }
    if (tg_timestamp_parse(text, arena, &number, &has_zone)) {
        tg_str written = tg_local_text(arena, number);
        tg_assert(tg_timestamp_parse(written, arena, &again, &has_zone) && again == number &&
                  !has_zone);
    }
}

static void check_zones(tg_str text, tg_arena *arena)
{
    const tg_zone *zone;
    tg_zone parsed = {0};
    if (tg_zone_load(text, arena, &zone, NULL) == TG_OK) {
        tg_assert(tg_zone_load(tg_zone_name(zone), arena, &zone, NULL) == TG_OK);
    }
    bool is_zone = tg_zone_parse_tzif(text, arena, &parsed);
    if (!is_zone && tg_zone_parse_footer(text, &parsed.footer)) {
        parsed.has_footer = true;
        is_zone = true;
    }
    for (int64_t year = 1800; is_zone && year < 2500; year += 7) {
        int64_t us = (year - 1970) * 365 * TG_US_PER_DAY + year * 3600 * TG_US_PER_SECOND;
        (void)tg_zone_local_us(&parsed, tg_zone_to_us(&parsed, us));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str text = {(const char *)bytes, size};
    int64_t integer;
    double real;
    (void)tg_str_to_i64(text, &integer);
    (void)tg_str_to_double(text, &real);
    check_quoting(text, arena);
    check_json(text, arena);
    check_times(text, arena);
    check_zones(text, arena);
    return 0;
}
