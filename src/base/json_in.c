/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON by yyjson: limits, error texts, and getters with defaults. */
#include <yyjson.h>

#include "base/base.h"

static void free_document(void *document)
{
    yyjson_doc_free(document);
}

/* Exact nesting depth of a text that is known to be valid JSON. */
static size_t depth_of(tg_str text)
{
    size_t depth = 0;
    size_t depth_max = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
            depth_max = depth > depth_max ? depth : depth_max;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return depth_max;
}

tg_code tg_json_parse(tg_str text, int flags, tg_arena *arena, struct yyjson_val **out_root,
                      tg_error *err)
{
    yyjson_read_flag read_flags =
        (flags & TG_JSON_RAW_NUMBERS) ? YYJSON_READ_NUMBER_AS_RAW : YYJSON_READ_NOFLAG;
    yyjson_read_err problem = {0};
    /* Without INSITU the text is only read: yyjson's parameter lacks a const. */
    char *bytes = (char *)(uintptr_t)text.ptr;
    yyjson_doc *document =
        text.len ? yyjson_read_opts(bytes, text.len, read_flags, NULL, &problem) : NULL;
    if (!document) {
        (void)TG_ERR(err, TIDEGATE_INVALID_JSON, "text is not valid JSON at byte %zu: %s",
                     problem.pos, text.len ? problem.msg : "it is empty");
        return tg_error_span(err, problem.pos, 1);
    }
    /*
     * Each level takes at least one value, so that only documents with many values need the exact
     * count.
     */
    if (yyjson_doc_get_val_count(document) > TG_LIMIT_JSON_DEPTH &&
        depth_of(text) > TG_LIMIT_JSON_DEPTH) {
        yyjson_doc_free(document);
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "JSON is nested deeper than %d levels",
                TG_LIMIT_JSON_DEPTH);
    }
    tg_arena_defer(arena, free_document, document);
    *out_root = yyjson_doc_get_root(document);
    return TG_OK;
}

struct yyjson_val *tg_json_get(struct yyjson_val *object, const char *key)
{
    return yyjson_obj_get(object, key);
}

tg_str tg_json_text(struct yyjson_val *value)
{
    return yyjson_is_str(value) ? (tg_str){yyjson_get_str(value), yyjson_get_len(value)} : TG_S("");
}

bool tg_json_to_i64(struct yyjson_val *value, int64_t *out)
{
    if (yyjson_is_raw(value)) {
        return tg_str_to_i64((tg_str){yyjson_get_raw(value), yyjson_get_len(value)}, out);
    }
    if (yyjson_is_sint(value)) {
        *out = yyjson_get_sint(value);
        return true;
    }
    if (yyjson_is_uint(value) && yyjson_get_uint(value) <= INT64_MAX) {
        *out = (int64_t)yyjson_get_uint(value);
        return true;
    }
    return false;
}

tg_str tg_json_get_str(struct yyjson_val *object, const char *key, tg_str fallback)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_str(value) ? tg_json_text(value) : fallback;
}

int64_t tg_json_get_i64(struct yyjson_val *object, const char *key, int64_t fallback)
{
    int64_t number;
    return tg_json_to_i64(yyjson_obj_get(object, key), &number) ? number : fallback;
}

bool tg_json_get_bool(struct yyjson_val *object, const char *key, bool fallback)
{
    yyjson_val *value = yyjson_obj_get(object, key);
    return yyjson_is_bool(value) ? yyjson_get_bool(value) : fallback;
}
