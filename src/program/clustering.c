/* SPDX-License-Identifier: Apache-2.0 */
/* CLUSTER BY as a table property: a JSON array of column names. */
#include <yyjson.h>

#include "program/program.h"

void tg_program_clustering(const tg_property *properties, size_t property_count, tg_arena *arena,
                           const tg_str **out_columns, size_t *out_count)
{
    TG_VEC(tg_str) columns = {0};
    for (size_t i = 0; i < property_count; i++) {
        yyjson_val *root, *item;
        size_t at, count;
        if (!tg_str_ieq(properties[i].key, TG_S(TG_PROPERTY_CLUSTER_BY)) ||
            tg_json_parse(properties[i].value, 0, arena, &root, NULL) != TG_OK) {
            continue; /* what another program wrote there sorts nothing */
        }
        yyjson_arr_foreach(root, at, count, item)
        {
            if (yyjson_is_str(item)) {
                TG_VEC_PUSH(arena, &columns, tg_str_copy(arena, tg_json_text(item)));
            }
        }
    }
    *out_columns = columns.items;
    *out_count = columns.count;
}

tg_str tg_program_clustering_value(const tg_str *columns, size_t count, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    tg_json_array(&out);
    for (size_t i = 0; i < count; i++) {
        tg_json_str(&out, columns[i]);
    }
    tg_json_end_array(&out);
    return tg_buf_take(&text, arena);
}
