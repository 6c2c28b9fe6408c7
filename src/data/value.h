/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the atomic types: literals, bounds of predicates, statistics.
 *
 * Total order per type: FALSE < TRUE; numbers by value (decimals as scaled 128-bit integers);
 * doubles with -0.0 = 0.0 and NaN = NaN above all; strings and binary by bytes; dates and
 * timestamps by number. NULL is not ordered here.
 */
#ifndef TG_DATA_VALUE_H
#define TG_DATA_VALUE_H

#include "data/types.h"

typedef __int128 tg_int128;

typedef struct tg_value {
    const tg_type *type; /* atomic, or VOID for an untyped NULL */
    bool is_null;
    union {
        bool boolean;
        int64_t i64;       /* TINYINT..BIGINT; DATE days; TIMESTAMP[_NTZ] microseconds; INTERVAL_YM
                              months; INTERVAL_DT microseconds */
        double f64;        /* FLOAT, DOUBLE */
        tg_int128 decimal; /* unscaled */
        tg_str bytes;      /* STRING, BINARY */
    } as;
} tg_value;

tg_value tg_value_null(const tg_type *type);
tg_value tg_value_bool(bool value);
tg_value tg_value_int(const tg_type *type, int64_t value);
tg_value tg_value_double(const tg_type *type, double value);
tg_value tg_value_decimal(const tg_type *type, tg_int128 unscaled);
tg_value tg_value_bytes(const tg_type *type, tg_str bytes);

/* Both of the same type and not NULL. */
int tg_value_cmp(tg_value a, tg_value b);
/* Same type, both NULL or equal. */
bool tg_value_same(tg_value a, tg_value b);
/* Next value of a discrete type (integers, DATE, TIMESTAMP*, DECIMAL, BOOLEAN); false at the end of
 * the range or when not discrete. */
bool tg_value_next(tg_value value, tg_value *out);
bool tg_value_prev(tg_value value, tg_value *out);

/* Decimal text ("-12.30") to and from unscaled form; false on overflow of 38 digits or when digits
 * would be lost. */
bool tg_decimal_parse(tg_str text, int scale, tg_int128 *out);
tg_str tg_decimal_text(tg_arena *arena, tg_int128 unscaled, int scale);
/* The shortest text that reads back as the same double (or float): "0.1", "1e+16", "NaN",
 * "Infinity", "-0.0". */
tg_str tg_double_text(tg_arena *arena, double value, bool is_float);

/*
 * Lossless casts between the atomic types that comparisons need (Spark's rules): integer widening
 * and narrowing when it fits, integer to decimal or double, date to timestamp (needs a zone) or
 * timestamp_ntz, string to any by Spark's parser. False: not exact or not possible.
 */
bool tg_value_cast(tg_value value, const tg_type *to, const tg_zone *zone, tg_arena *arena,
                   tg_value *out);

/* A SQL literal that Spark and tidegate read back to the same value: DATE'2024-01-01',
 * TIMESTAMP'2024-01-01T00:00:00Z', 12Y, 1.50BD, 'it''s' written with backslash escapes, X'00',
 * double as 1.5D, CAST('NaN' AS DOUBLE), CAST(NULL AS INT). */
tg_str tg_value_literal(tg_arena *arena, tg_value value);

/*
 * Text in Delta: partition values (protocol "Partition Value Serialization") and file statistics.
 * Timestamps in statistics are rounded outwards to milliseconds when written as bounds; when read,
 * a maximum means +999 us (readers must widen: reference 1.8).
 */
TG_CHECKED tg_code tg_value_from_partition(tg_str text, bool is_null, const tg_type *type,
                                           const tg_zone *zone, tg_arena *arena, tg_value *out,
                                           tg_error *err);
/* Text for partitionValues; a NULL value gives is_null. */
tg_str tg_value_to_partition(tg_arena *arena, tg_value value, bool *out_is_null);
/* raw: JSON text of the bound without quotes for strings (as yyjson gives it). False: unusable,
 * treat as no bound. */
bool tg_value_from_stat(tg_str raw, bool is_json_string, const tg_type *type, bool is_max,
                        tg_arena *arena, tg_value *out);
/* Appends the bound as JSON to out; false and nothing appended when the bound must be left out
 * (NaN, infinities, too long ...). */
bool tg_value_to_stat(tg_value value, bool is_max, tg_buf *out);

#endif
