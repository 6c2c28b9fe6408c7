/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing scalar functions: private to udf*.c.
 *
 * A function computes one row: reads arguments with tg_udf_<type>(call, i), and ends by one
 * tg_udf_return_<type>, tg_udf_return_null or tg_udf_fail. Signature letters: b BOOLEAN, i INTEGER,
 * l BIGINT, h HUGEINT, f FLOAT, d DOUBLE, s VARCHAR, x BLOB, D DATE, T TIMESTAMP, Z TIMESTAMP WITH
 * TIME ZONE, n any number as decimal (tg_udf_decimal), * any number of any values (last). "ss>i"
 * takes two strings and gives an integer.
 */
#ifndef TG_ENGINE_DUCKDB_UDF_INT_H
#define TG_ENGINE_DUCKDB_UDF_INT_H

#include "data/value.h"
#include "engine/duckdb/udf.h"

typedef struct tg_udf_call tg_udf_call;

typedef struct tg_udf {
    const char *name;
    const char *signature;
    void (*row)(tg_udf_call *call);
    bool sees_nulls; /* called for NULL arguments too */
} tg_udf;

enum { TG_UDF_ARGS_MAX = 8 };

typedef struct tg_udf_arg {
    const void *data;
    uint64_t *validity; /* NULL: all valid */
    duckdb_type type;   /* of n: the physical type */
    int scale;          /* of n */
} tg_udf_arg;

/* One chunk of rows and the row that is computed. */
struct tg_udf_call {
    idx_t row;
    size_t arg_count;
    tg_udf_arg args[TG_UDF_ARGS_MAX];
    duckdb_data_chunk chunk;
    duckdb_vector result;
    void *result_data;
    uint64_t *result_validity;
    tg_buf text;           /* for results; cleared before each row */
    uint64_t text_bytes;   /* of all texts of the chunk */
    int64_t element_count; /* of all arrays of the chunk */
    tg_buf failure;        /* set: the chunk ends with this error */
    tg_arena *arena;       /* of the chunk */
    tg_str zone_name;      /* the zone loaded last */
    const tg_zone *zone;
    tg_str
        pattern_text; /* whatever a function keeps from row to row: a text and what was made of it */
    void *pattern;
};

/* validity NULL: all valid */
static inline bool tg_udf_is_null_at(const uint64_t *validity, idx_t row)
{
    return validity && !(validity[row / 64] >> (row % 64) & 1);
}

static inline bool tg_udf_is_null(const tg_udf_call *call, size_t index)
{
    return tg_udf_is_null_at(call->args[index].validity, call->row);
}

#define TG_UDF_GETTER(name, ctype)                                           \
    static inline ctype tg_udf_##name(const tg_udf_call *call, size_t index) \
    {                                                                        \
        return ((const ctype *)call->args[index].data)[call->row];           \
    }
TG_UDF_GETTER(bool, bool)
TG_UDF_GETTER(int, int32_t)
TG_UDF_GETTER(long, int64_t)
TG_UDF_GETTER(float, float)
TG_UDF_GETTER(double, double)
TG_UDF_GETTER(huge, tg_int128)
#undef TG_UDF_GETTER

tg_str tg_udf_str(const tg_udf_call *call, size_t index);
/* A cell of any vector's data: a VARCHAR or BLOB; an integer, or a decimal by its physical type. */
tg_str tg_udf_str_at(const void *data, idx_t row);
tg_int128 tg_udf_number_at(const void *data, duckdb_type physical_type, idx_t row);
/* Unscaled value and scale of a decimal or integer argument (letter n). */
tg_int128 tg_udf_decimal(const tg_udf_call *call, size_t index, int *out_scale);

void tg_udf_return_null(tg_udf_call *call);
void tg_udf_return_bool(tg_udf_call *call, bool value);
void tg_udf_return_int(tg_udf_call *call, int64_t value);  /* INTEGER and DATE */
void tg_udf_return_long(tg_udf_call *call, int64_t value); /* BIGINT, TIMESTAMP* */
void tg_udf_return_huge(tg_udf_call *call, tg_int128 value);
void tg_udf_return_float(tg_udf_call *call, float value);
void tg_udf_return_double(tg_udf_call *call, double value);
void tg_udf_return_str(tg_udf_call *call, tg_str value); /* VARCHAR, BLOB */
/* Ends the query with an error. */
void tg_udf_fail(tg_udf_call *call, tg_error_class cls, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* NULL when is_try, else the error. */
void tg_udf_fail_or_null(tg_udf_call *call, bool is_try, tg_error_class cls, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));

/* DIVIDE_BY_ZERO and REMAINDER_BY_ZERO, or NULL when is_try. */
void tg_udf_divide_by_zero(tg_udf_call *call, bool is_try);
void tg_udf_remainder_by_zero(tg_udf_call *call, bool is_try);

/* The zone named by an argument; NULL and the error set when unknown. */
const tg_zone *tg_udf_zone(tg_udf_call *call, tg_str name);

/* ---- shared kernels -------------------------------------------------------------------------- */

tg_str tg_udf_trim(tg_str text); /* Java white space and control characters at both ends */
/*
 * A decimal text ("-1.5e3") as unscaled number of a scale, half away from zero. False: malformed;
 * *out_overflow: does not fit the precision.
 */
bool tg_udf_parse_decimal(tg_str text, int precision, int scale, tg_int128 *out,
                          bool *out_overflow);
tg_int128 tg_udf_pow10(int exponent); /* 0 to 38 */

/* The tables of functions, one per file; they end with a NULL name. */
extern const tg_udf tg_udf_table_cast[], tg_udf_table_decimal[], tg_udf_table_math[],
    tg_udf_table_string[], tg_udf_table_datetime[], tg_udf_table_hash[], tg_udf_table_collection[],
    tg_udf_table_json[], tg_udf_table_url[], tg_udf_table_deleted[];

#endif
