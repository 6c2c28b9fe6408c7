/* SPDX-License-Identifier: Apache-2.0 */
/* Private to data: whole-range facts and powers of ten that several files need. */
#ifndef TG_DATA_DATA_INT_H
#define TG_DATA_DATA_INT_H

#include "data/value.h"

enum { TG_DECIMAL_DIGITS_MAX = 38 };

/* 10^exponent, 0 <= exponent <= 38. */
tg_int128 tg_data_pow10(int exponent);
/* Smallest and largest value of an integer, DATE, TIMESTAMP* or INTERVAL_* type. */
void tg_data_integer_range(tg_type_kind kind, int64_t *out_min, int64_t *out_max);
/* Is an unscaled value within the precision of a decimal type? */
bool tg_data_decimal_fits(tg_int128 unscaled, int precision);
/* A JSON or SQL number (digits, point, exponent, sign) or NaN, Infinity, -Infinity; rounds to float when asked. */
bool tg_data_double_parse(tg_str text, bool is_float, double *out);

#endif
