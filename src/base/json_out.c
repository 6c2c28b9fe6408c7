/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON: commas are put where they belong, and what is written is always valid UTF-8. */
#include <inttypes.h>
#include <math.h>
#include <yyjson.h>

#include "base/json.h"

/* One bit per level is kept of 64 levels: enough for everything that we write ourselves. */
enum { DEPTH_MAX = 63 };

void tg_json_begin(tg_json_out *out, tg_buf *buf)
{
    *out = (tg_json_out){.buf = buf};
}

static uint64_t level_bit(const tg_json_out *out)
{
    return UINT64_C(1) << out->depth;
}

/* The comma before a value or key. */
static void separate(tg_json_out *out)
{
    if (out->after_key) {
        out->after_key = false;
        return;
    }
    if (out->depth > 0 && (out->has_items & level_bit(out))) {
        tg_buf_addc(out->buf, ',');
    }
    out->has_items |= level_bit(out);
}

static void open_level(tg_json_out *out, char bracket)
{
    separate(out);
    tg_buf_addc(out->buf, bracket);
    tg_assert(out->depth < DEPTH_MAX);
    out->depth++;
    out->has_items &= ~level_bit(out);
}

static void close_level(tg_json_out *out, char bracket)
{
    tg_assert(out->depth > 0 && !out->after_key);
    out->depth--;
    tg_buf_addc(out->buf, bracket);
}

void tg_json_object(tg_json_out *out)
{
    open_level(out, '{');
}

void tg_json_array(tg_json_out *out)
{
    open_level(out, '[');
}

void tg_json_end_object(tg_json_out *out)
{
    close_level(out, '}');
}

void tg_json_end_array(tg_json_out *out)
{
    close_level(out, ']');
}

/* Does the byte stand for itself inside a JSON string? */
static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void quote_special(tg_buf *buf, uint32_t code_point)
{
    switch (code_point) {
    case '"':
        tg_buf_addz(buf, "\\\"");
        return;
    case '\\':
        tg_buf_addz(buf, "\\\\");
        return;
    case '\n':
        tg_buf_addz(buf, "\\n");
        return;
    case '\r':
        tg_buf_addz(buf, "\\r");
        return;
    case '\t':
        tg_buf_addz(buf, "\\t");
        return;
    default:
        break;
    }
    if (code_point < 0x20) {
        tg_buf_addf(buf, "\\u%04" PRIx32, code_point);
        return;
    }
    char bytes[4];
    tg_buf_add(buf, bytes, tg_utf8_put(bytes, code_point));
}

void tg_json_quote(tg_buf *buf, tg_str text)
{
    tg_buf_reserve(buf, text.len + 2);
    tg_buf_addc(buf, '"');
    size_t pos = 0;
    while (pos < text.len) {
        size_t from = pos;
        while (pos < text.len && is_plain((unsigned char)text.ptr[pos])) {
            pos++;
        }
        if (pos > from) {
            tg_buf_add(buf, text.ptr + from, pos - from);
        }
        if (pos < text.len) {
            quote_special(buf, tg_utf8_next(text, &pos));
        }
    }
    tg_buf_addc(buf, '"');
}

void tg_json_add_value(tg_buf *buf, struct yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_OBJ:
        tg_buf_addc(buf, '{');
        yyjson_obj_foreach(value, index, count, key, item)
        {
            tg_buf_addz(buf, index ? "," : "");
            tg_json_quote(buf, tg_json_text(key));
            tg_buf_addc(buf, ':');
            tg_json_add_value(buf, item);
        }
        tg_buf_addc(buf, '}');
        break;
    case YYJSON_TYPE_ARR:
        tg_buf_addc(buf, '[');
        yyjson_arr_foreach(value, index, count, item)
        {
            tg_buf_addz(buf, index ? "," : "");
            tg_json_add_value(buf, item);
        }
        tg_buf_addc(buf, ']');
        break;
    case YYJSON_TYPE_STR:
        tg_json_quote(buf, tg_json_text(value));
        break;
    case YYJSON_TYPE_RAW:
        tg_buf_add(buf, yyjson_get_raw(value), yyjson_get_len(value));
        break;
    case YYJSON_TYPE_BOOL:
        tg_buf_addz(buf, yyjson_get_bool(value) ? "true" : "false");
        break;
    default: /* numbers are raw here: what is left is null */
        tg_buf_addz(buf, "null");
        break;
    }
}

void tg_json_key(tg_json_out *out, tg_str key)
{
    tg_assert(out->depth > 0 && !out->after_key);
    separate(out);
    tg_json_quote(out->buf, key);
    tg_buf_addc(out->buf, ':');
    out->after_key = true;
}

void tg_json_keyz(tg_json_out *out, const char *key)
{
    tg_json_key(out, tg_str_from(key));
}

void tg_json_str(tg_json_out *out, tg_str value)
{
    separate(out);
    tg_json_quote(out->buf, value);
}

void tg_json_strz(tg_json_out *out, const char *value)
{
    if (value) {
        tg_json_str(out, tg_str_from(value));
    } else {
        tg_json_null(out);
    }
}

void tg_json_i64(tg_json_out *out, int64_t value)
{
    separate(out);
    tg_buf_addf(out->buf, "%" PRId64, value);
}

void tg_json_double(tg_json_out *out, double value)
{
    if (!isfinite(value)) {
        tg_json_null(out);
        return;
    }
    /* yyjson's writer finds the shortest digits and, unlike printf, does not follow the locale. */
    separate(out);
    char memory[1024];
    yyjson_alc allocator;
    yyjson_val number = {0};
    size_t len = 0;
    tg_assert(yyjson_alc_pool_init(&allocator, memory, sizeof(memory)));
    tg_assert(yyjson_set_real(&number, value));
    const char *text = yyjson_val_write_opts(&number, YYJSON_WRITE_NOFLAG, &allocator, &len, NULL);
    tg_assert(text);
    tg_buf_add(out->buf, text, len);
}

void tg_json_bool(tg_json_out *out, bool value)
{
    separate(out);
    tg_buf_addz(out->buf, value ? "true" : "false");
}

void tg_json_null(tg_json_out *out)
{
    separate(out);
    tg_buf_addz(out->buf, "null");
}

void tg_json_raw(tg_json_out *out, tg_str json)
{
    separate(out);
    tg_buf_adds(out->buf, json);
}

void tg_json_kstr(tg_json_out *out, const char *key, tg_str value)
{
    tg_json_keyz(out, key);
    tg_json_str(out, value);
}

void tg_json_kstrz(tg_json_out *out, const char *key, const char *value)
{
    tg_json_keyz(out, key);
    tg_json_strz(out, value);
}

void tg_json_ki64(tg_json_out *out, const char *key, int64_t value)
{
    tg_json_keyz(out, key);
    tg_json_i64(out, value);
}

void tg_json_kbool(tg_json_out *out, const char *key, bool value)
{
    tg_json_keyz(out, key);
    tg_json_bool(out, value);
}

void tg_json_knull(tg_json_out *out, const char *key)
{
    tg_json_keyz(out, key);
    tg_json_null(out);
}

void tg_json_kstrs(tg_json_out *out, const char *key, const tg_str *values, size_t count)
{
    tg_json_keyz(out, key);
    tg_json_array(out);
    for (size_t i = 0; i < count; i++) {
        tg_json_str(out, values[i]);
    }
    tg_json_end_array(out);
}
