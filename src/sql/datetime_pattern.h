/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spark's datetime patterns (yyyy-MM-dd HH:mm:ss): compiled once, used to format and to parse.
 *
 * Pure C over local time; engines call it from their scalar functions, the function table checks
 * constant patterns with it. A compiled pattern borrows nothing and may be copied.
 */
#ifndef TG_SQL_DATETIME_PATTERN_H
#define TG_SQL_DATETIME_PATTERN_H

#include "base/base.h"

enum { TG_PATTERN_ITEMS_MAX = 64, TG_PATTERN_TEXT_MAX = 128 };

typedef struct tg_pattern_item {
    char letter;     /* of the pattern; '\'' for literal text, '[' and ']' for optional parts */
    uint8_t count;   /* repetitions, or length of the literal text */
    uint8_t text_at; /* literal text: offset into text */
} tg_pattern_item;

typedef struct tg_datetime_pattern {
    tg_pattern_item items[TG_PATTERN_ITEMS_MAX];
    size_t item_count;
    char text[TG_PATTERN_TEXT_MAX];
    size_t text_len;
    bool needs_zone_name; /* has z: names of zones, known for UTC only */
} tg_datetime_pattern;

typedef enum tg_pattern_verdict {
    TG_PATTERN_OK,
    TG_PATTERN_INVALID,    /* Spark refuses it too */
    TG_PATTERN_UNSUPPORTED /* Spark knows it */
} tg_pattern_verdict;

/* out_why: what is wrong, a static text. */
tg_pattern_verdict tg_datetime_pattern_compile(tg_str pattern, bool for_parsing,
                                               tg_datetime_pattern *out, const char **out_why);
/* local_us: local time; offset_s and zone_name: of the zone at that instant. */
void tg_datetime_pattern_format(const tg_datetime_pattern *pattern, int64_t local_us,
                                int32_t offset_s, tg_str zone_name, tg_buf *out);
/*
 * False: the text does not fit. out_local_us is local time; out_zone holds the zone that the text
 * names ("" when none), as an offset like "+02:00" or a name.
 */
typedef struct tg_parsed_time {
    int64_t local_us;
    char zone[64];
} tg_parsed_time;
bool tg_datetime_pattern_parse(const tg_datetime_pattern *pattern, tg_str text,
                               tg_parsed_time *out);

#endif
