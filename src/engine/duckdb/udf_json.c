/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_json_object and json_array_length. Numbers keep their text; a text that is not JSON gives
 * NULL.
 */
#include <yyjson.h>

#include "engine/duckdb/udf_int.h"

/* ---- writing --------------------------------------------------------------------------------- */

static void put_value(tg_buf *out, yyjson_val *value, int depth)
{
    if (depth > TG_LIMIT_JSON_DEPTH) {
        return; /* the parser refused such texts already */
    }
    size_t index, count;
    yyjson_val *key, *item;
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
        tg_json_quote(out, (tg_str){yyjson_get_str(value), yyjson_get_len(value)});
        return;
    case YYJSON_TYPE_RAW:
        tg_buf_add(out, yyjson_get_raw(value), yyjson_get_len(value));
        return;
    case YYJSON_TYPE_BOOL:
        tg_buf_addz(out, yyjson_get_bool(value) ? "true" : "false");
        return;
    case YYJSON_TYPE_ARR:
        tg_buf_addc(out, '[');
        yyjson_arr_foreach(value, index, count, item)
        {
            tg_buf_addz(out, index ? "," : "");
            put_value(out, item, depth + 1);
        }
        tg_buf_addc(out, ']');
        return;
    case YYJSON_TYPE_OBJ:
        tg_buf_addc(out, '{');
        yyjson_obj_foreach(value, index, count, key, item)
        {
            tg_buf_addz(out, index ? "," : "");
            tg_json_quote(out, (tg_str){yyjson_get_str(key), yyjson_get_len(key)});
            tg_buf_addc(out, ':');
            put_value(out, item, depth + 1);
        }
        tg_buf_addc(out, '}');
        return;
    default:
        tg_buf_addz(out, "null");
        return;
    }
}

/* ---- paths ----------------------------------------------------------------------------------- */

typedef enum step_kind { STEP_END, STEP_NAME, STEP_INDEX, STEP_ALL, STEP_INVALID } step_kind;

typedef struct step {
    step_kind kind;
    tg_str name;
    size_t index;
} step;

/* One step of a path: .name ['name'] [0] [*]; *at is moved behind it. */
static step next_step(tg_str path, size_t *at)
{
    step result = {.kind = STEP_INVALID};
    if (*at == path.len) {
        result.kind = STEP_END;
        return result;
    }
    char c = path.ptr[(*at)++];
    size_t start = *at;
    if (c == '.') {
        while (*at < path.len && path.ptr[*at] != '.' && path.ptr[*at] != '[') {
            (*at)++;
        }
        result.name = tg_str_sub(path, start, *at);
        result.kind =
            result.name.len == 0 || tg_str_eq(result.name, TG_S("*")) ? STEP_INVALID : STEP_NAME;
        return result;
    }
    size_t close = c == '[' ? tg_str_find(path, TG_S("]"), start) : SIZE_MAX;
    if (close == SIZE_MAX) {
        return result;
    }
    tg_str inner = tg_str_sub(path, start, close);
    *at = close + 1;
    int64_t index;
    if (inner.len >= 2 && inner.ptr[0] == '\'' && inner.ptr[inner.len - 1] == '\'') {
        result.kind = STEP_NAME;
        result.name = tg_str_sub(inner, 1, inner.len - 1);
    } else if (tg_str_eq(inner, TG_S("*"))) {
        result.kind = STEP_ALL;
    } else if (tg_str_to_i64(inner, &index) && index >= 0) {
        result.kind = STEP_INDEX;
        result.index = (size_t)index;
    }
    return result;
}

/*
 * Follows steps until the end or [*], which *out_all tells. NULL when there is no such value or the
 * path is not valid.
 */
static yyjson_val *follow(yyjson_val *value, tg_str path, size_t *at, bool *out_all)
{
    *out_all = false;
    while (value) {
        step s = next_step(path, at);
        switch (s.kind) {
        case STEP_END:
            return value;
        case STEP_NAME:
            value = yyjson_obj_getn(value, s.name.ptr, s.name.len);
            break;
        case STEP_INDEX:
            value = yyjson_arr_get(value, s.index);
            break;
        case STEP_ALL:
            *out_all = true;
            return yyjson_is_arr(value) ? value : NULL;
        case STEP_INVALID:
            return NULL;
        }
    }
    return NULL;
}

/* [*]: one match stands alone, several are an array. */
static void collect_all(tg_udf_call *call, yyjson_val *array, tg_str path, size_t rest)
{
    size_t index, count, found = 0;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, count, item)
    {
        size_t at = rest;
        bool is_all;
        yyjson_val *match = follow(item, path, &at, &is_all);
        if (is_all) {
            tg_udf_fail(call, TG_E_UNSUPPORTED_FEATURE,
                        "a JSON path with two [*] is not available");
            return;
        }
        if (match && !yyjson_is_null(match)) {
            tg_buf_addz(&call->text, found ? "," : "");
            put_value(&call->text, match, 0);
            found++;
        }
    }
    if (found == 0) {
        tg_udf_return_null(call);
    } else if (found == 1) {
        tg_udf_return_str(call, tg_buf_str(&call->text));
    } else {
        tg_udf_return_str(call,
                          tg_str_printf(call->arena, "[%.*s]", TG_SARG(tg_buf_str(&call->text))));
    }
}

static yyjson_val *parse(tg_udf_call *call, tg_str text)
{
    yyjson_val *root = NULL;
    return tg_json_parse(text, TG_JSON_RAW_NUMBERS, call->arena, &root, NULL) == TG_OK ? root
                                                                                       : NULL;
}

static void get_json_object(tg_udf_call *call)
{
    tg_str path = tg_udf_str(call, 1);
    yyjson_val *root = path.len && path.ptr[0] == '$' ? parse(call, tg_udf_str(call, 0)) : NULL;
    size_t at = 1;
    bool is_all;
    yyjson_val *value = root ? follow(root, path, &at, &is_all) : NULL;
    if (!value || yyjson_is_null(value)) {
        tg_udf_return_null(call);
    } else if (is_all) {
        collect_all(call, value, path, at);
    } else if (yyjson_is_str(value)) {
        tg_udf_return_str(call, (tg_str){yyjson_get_str(value), yyjson_get_len(value)});
    } else {
        put_value(&call->text, value, 0);
        tg_udf_return_str(call, tg_buf_str(&call->text));
    }
}

static void json_array_length(tg_udf_call *call)
{
    yyjson_val *root = parse(call, tg_udf_str(call, 0));
    if (!root || !yyjson_is_arr(root)) {
        tg_udf_return_null(call);
        return;
    }
    tg_udf_return_int(call, (int64_t)yyjson_arr_size(root));
}

const tg_udf tg_udf_table_json[] = {
    {"tg_get_json_object", "ss>s", get_json_object, false},
    {"tg_json_array_length", "s>i", json_array_length, false},
    {NULL, NULL, NULL, false},
};
