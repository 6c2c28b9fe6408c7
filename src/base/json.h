/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: writing to a buffer, and reading with yyjson (include <yyjson.h> for the document API).
 *
 * Reading keeps the text of numbers where it matters: parse with TG_JSON_RAW_NUMBERS and read
 * statistics by yyjson_get_raw, never by double (a rounded bound skips files that match).
 */
#ifndef TG_BASE_JSON_H
#define TG_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* A writer with automatic commas. begin/end must match (asserted). */
typedef struct tg_json_out {
    tg_buf *buf;
    int depth;
    uint64_t has_items; /* bit per level */
    bool after_key;
} tg_json_out;

void tg_json_begin(tg_json_out *out, tg_buf *buf);
void tg_json_object(tg_json_out *out);
void tg_json_array(tg_json_out *out);
void tg_json_end_object(tg_json_out *out);
void tg_json_end_array(tg_json_out *out);
void tg_json_key(tg_json_out *out, tg_str key);
void tg_json_keyz(tg_json_out *out, const char *key);
void tg_json_str(tg_json_out *out, tg_str value);
void tg_json_strz(tg_json_out *out, const char *value); /* NULL gives null */
void tg_json_i64(tg_json_out *out, int64_t value);
void tg_json_double(tg_json_out *out,
                    double value); /* shortest form that reads back; null when not finite */
void tg_json_bool(tg_json_out *out, bool value);
void tg_json_null(tg_json_out *out);
/* Text that is JSON already. */
void tg_json_raw(tg_json_out *out, tg_str json);
/* Appends text as a JSON string with quotes. */
void tg_json_quote(tg_buf *buf, tg_str text);

/* Shorthands: key and value. */
void tg_json_kstr(tg_json_out *out, const char *key, tg_str value);
void tg_json_kstrz(tg_json_out *out, const char *key, const char *value);
void tg_json_ki64(tg_json_out *out, const char *key, int64_t value);
void tg_json_kbool(tg_json_out *out, const char *key, bool value);
void tg_json_knull(tg_json_out *out, const char *key);
void tg_json_kstrs(tg_json_out *out, const char *key, const tg_str *values, size_t count);

struct yyjson_doc;
struct yyjson_val;
enum { TG_JSON_RAW_NUMBERS = 1 };
/*
 * Parses one JSON text whose strings stay valid as long as the arena. Depth and errors are checked;
 * err names the byte.
 */
TG_CHECKED tg_code tg_json_parse(tg_str text, int flags, tg_arena *arena,
                                 struct yyjson_val **out_root, tg_error *err);
/*
 * Members of an object; a missing key, JSON null, or another type gives the default. Strings are
 * borrowed from the document.
 */
tg_str tg_json_get_str(struct yyjson_val *object, const char *key, tg_str fallback);
int64_t tg_json_get_i64(struct yyjson_val *object, const char *key, int64_t fallback);
bool tg_json_get_bool(struct yyjson_val *object, const char *key, bool fallback);
struct yyjson_val *tg_json_get(struct yyjson_val *object, const char *key);
/* The text of a string, borrowed from the document; empty for any other value. */
tg_str tg_json_text(struct yyjson_val *value);
/* A whole number of 64 bits, false for any other value; numbers as text are read too. */
bool tg_json_to_i64(struct yyjson_val *value, int64_t *out);
/*
 * Appends a value as compact JSON. Numbers were parsed as text (TG_JSON_RAW_NUMBERS). Recursion is
 * bounded by TG_LIMIT_JSON_DEPTH, which the parser enforced.
 */
void tg_json_add_value(tg_buf *buf, struct yyjson_val *value);

#endif
