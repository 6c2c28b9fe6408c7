/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types and schemas: one type system for sql and delta (Spark's SQL types).
 *
 * Types are immutable. Primitive ones are shared constants; decimals and nested ones live in an
 * arena. Text forms follow Spark: simpleString ("array<int>", "struct<a:int,b:string>",
 * "decimal(10,2)") and DDL ("ARRAY<INT>").
 */
#ifndef TG_DATA_TYPES_H
#define TG_DATA_TYPES_H

#include "base/base.h"

/* Byte range in the source text. */
typedef struct tg_span {
    uint32_t offset, len;
} tg_span;

/* Says where in the source text an error is; returns the error's code. */
static inline tg_code tg_error_at_(tg_error *err, tg_span span)
{
    return tg_error_span(err, span.offset, span.len);
}
#define tg_error_at(...) tg_error_failure_(tg_error_at_(__VA_ARGS__))

/* A table property, option or parameter. */
typedef struct tg_property {
    tg_str key, value; /* key as written, unquoted dotted keys joined */
    tg_span span;
} tg_property;

typedef enum tg_type_kind {
    TG_TYPE_VOID,
    TG_TYPE_BOOLEAN,
    TG_TYPE_TINYINT,
    TG_TYPE_SMALLINT,
    TG_TYPE_INT,
    TG_TYPE_BIGINT,
    TG_TYPE_FLOAT,
    TG_TYPE_DOUBLE,
    TG_TYPE_DECIMAL, /* precision 1..38, scale 0..precision */
    TG_TYPE_STRING,
    TG_TYPE_BINARY,
    TG_TYPE_DATE,
    TG_TYPE_TIMESTAMP,     /* an instant */
    TG_TYPE_TIMESTAMP_NTZ, /* local time */
    TG_TYPE_INTERVAL_YM,   /* year-month; from/to are tg_interval_field YEAR..MONTH */
    TG_TYPE_INTERVAL_DT,   /* day-time; from/to DAY..SECOND */
    TG_TYPE_ARRAY,
    TG_TYPE_MAP,
    TG_TYPE_STRUCT,
    TG_TYPE_VARIANT,
    TG_TYPE_KIND_COUNT_
} tg_type_kind;

typedef enum tg_interval_field {
    TG_FIELD_YEAR,
    TG_FIELD_MONTH,
    TG_FIELD_DAY,
    TG_FIELD_HOUR,
    TG_FIELD_MINUTE,
    TG_FIELD_SECOND
} tg_interval_field;

typedef struct tg_type tg_type;

typedef struct tg_field {
    tg_str name;
    const tg_type *type;
    bool nullable;
    tg_str comment;  /* empty when none */
    tg_str metadata; /* the Delta field metadata as JSON object text; empty means {} */
} tg_field;

struct tg_type {
    tg_type_kind kind;
    int precision, scale;       /* DECIMAL */
    tg_interval_field from, to; /* INTERVAL_* */
    const tg_type *element;     /* ARRAY element, MAP value */
    const tg_type *key;         /* MAP key */
    bool contains_null;         /* ARRAY elements or MAP values may be NULL */
    const tg_field *fields;     /* STRUCT */
    size_t field_count;
};

/* A row type: the columns of a table or query, in order. */
typedef struct tg_schema {
    const tg_field *fields;
    size_t count;
} tg_schema;

/* The shared instance of a kind without parameters (VOID .. DOUBLE, STRING .. TIMESTAMP_NTZ,
 * VARIANT). */
const tg_type *tg_type_of(tg_type_kind kind);
const tg_type *tg_type_decimal(tg_arena *arena, int precision, int scale);
const tg_type *tg_type_interval(tg_arena *arena, tg_interval_field from, tg_interval_field to);
const tg_type *tg_type_array(tg_arena *arena, const tg_type *element, bool contains_null);
const tg_type *tg_type_map(tg_arena *arena, const tg_type *key, const tg_type *value,
                           bool contains_null);
const tg_type *tg_type_struct(tg_arena *arena, const tg_field *fields, size_t field_count);
/* The type with NULLs allowed everywhere inside, but in the keys of maps: what a new table gets. */
const tg_type *tg_type_nullable(tg_arena *arena, const tg_type *type);
/* Deep copy into another arena. */
const tg_type *tg_type_copy(tg_arena *arena, const tg_type *type);
tg_schema tg_schema_copy(tg_arena *arena, tg_schema schema);

/* Same kind and parameters, field names exactly; nullability, comments and metadata do not count.
 */
bool tg_type_equal(const tg_type *a, const tg_type *b);
bool tg_type_is_integer(const tg_type *type);  /* TINYINT..BIGINT */
bool tg_type_is_numeric(const tg_type *type);  /* integers, FLOAT, DOUBLE, DECIMAL */
bool tg_type_is_floating(const tg_type *type); /* FLOAT, DOUBLE */
bool tg_type_is_datetime(const tg_type *type); /* DATE, TIMESTAMP, TIMESTAMP_NTZ */
bool tg_type_is_interval(const tg_type *type); /* INTERVAL_* */
bool tg_type_is_nested(const tg_type *type);   /* ARRAY, MAP, STRUCT */
/* Has a total order: all but MAP, VARIANT, and nested ones that hold them. */
bool tg_type_is_orderable(const tg_type *type);

/* "int", "decimal(10,2)", "struct<a:int>", "interval day to second". */
tg_str tg_type_text(tg_arena *arena, const tg_type *type);
/* "INT", "STRUCT<a: INT NOT NULL>" with backticks where needed. */
tg_str tg_type_ddl(tg_arena *arena, const tg_type *type);

/* Delta's schema JSON ("schemaString"). Reading refuses unknown types by name; char/varchar read as
 * string. */
TG_CHECKED tg_code tg_schema_from_json(tg_str json, tg_arena *arena, tg_schema *out_schema,
                                       tg_error *err);
tg_str tg_schema_to_json(tg_arena *arena, tg_schema schema);
/* Index of a column without regard to case, or -1. */
ptrdiff_t tg_schema_find(tg_schema schema, tg_str name);

#endif
