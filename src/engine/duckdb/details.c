/* SPDX-License-Identifier: Apache-2.0 */
/* What DESCRIBE DETAIL, DESCRIBE HISTORY and SHOW PARTITIONS tell: all from the Delta log. */
#include <stdlib.h>

#include "engine/duckdb/duckdb_int.h"

static int compare_strs(const void *a, const void *b)
{
    return tg_str_cmp(*(const tg_str *)a, *(const tg_str *)b);
}

static void set_features(const tg_delta_protocol *protocol, tg_arena *arena,
                         tg_table_detail *detail)
{
    TG_VEC(tg_str) features = {0};
    for (size_t i = 0; i < protocol->reader_feature_count; i++) {
        TG_VEC_PUSH(arena, &features, protocol->reader_features[i]);
    }
    for (size_t i = 0; i < protocol->writer_feature_count; i++) {
        if (!tg_str_is_in(protocol->writer_features[i], features.items, features.count)) {
            TG_VEC_PUSH(arena, &features, protocol->writer_features[i]);
        }
    }
    if (features.count) {
        qsort(features.items, features.count, sizeof(tg_str), compare_strs);
    }
    detail->features = features.items;
    detail->feature_count = features.count;
}

static void set_metadata(const tg_delta_metadata *metadata, tg_arena *arena,
                         tg_table_detail *detail)
{
    tg_property *properties = TG_NEW_ARRAY(arena, tg_property, metadata->config_count);
    for (size_t i = 0; i < metadata->config_count; i++) {
        properties[i] =
            (tg_property){.key = metadata->config_keys[i], .value = metadata->config_values[i]};
    }
    detail->table_id = metadata->id;
    detail->name = metadata->name;
    detail->comment = metadata->description;
    detail->created_ms = metadata->created_time_ms;
    detail->partition_columns = metadata->partition_columns;
    detail->partition_count = metadata->partition_count;
    detail->properties = properties;
    detail->property_count = metadata->config_count;
}

tg_code tg_duckdb_detail(void *self, tg_str path, tg_arena *arena, tg_table_detail *out_detail,
                         tg_error *err)
{
    tg_duckdb_engine *engine = self;
    const tg_delta_snapshot *snapshot;
    tg_delta_history_entry *newest;
    size_t count;
    TG_TRY(tg_delta_snapshot_load(&engine->delta, path, -1, arena, &snapshot, err));
    TG_TRY(tg_delta_history(&engine->delta, path, 1, arena, &newest, &count, err));
    tg_table_detail detail = {.version = snapshot->version,
                              .modified_ms = count ? newest[0].timestamp_ms : -1,
                              .file_count = (int64_t)snapshot->file_count,
                              .min_reader_version = snapshot->protocol.min_reader_version,
                              .min_writer_version = snapshot->protocol.min_writer_version};
    for (size_t i = 0; i < snapshot->file_count; i++) {
        detail.bytes += snapshot->files[i].size_bytes > 0 ? snapshot->files[i].size_bytes : 0;
    }
    set_metadata(&snapshot->metadata, arena, &detail);
    set_features(&snapshot->protocol, arena, &detail);
    *out_detail = detail;
    return TG_OK;
}

tg_code tg_duckdb_history(void *self, tg_str path, int64_t limit, tg_arena *arena,
                          tg_history_entry **out_entries, size_t *out_count, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_delta_history_entry *found;
    TG_TRY(tg_delta_history(&engine->delta, path, limit, arena, &found, out_count, err));
    tg_history_entry *entries = TG_NEW_ARRAY(arena, tg_history_entry, *out_count);
    for (size_t i = 0; i < *out_count; i++) {
        entries[i] = (tg_history_entry){.version = found[i].version,
                                        .timestamp_ms = found[i].timestamp_ms,
                                        .info = found[i].info};
    }
    *out_entries = entries;
    return TG_OK;
}

/* ---- partitions ------------------------------------------------------------------------------ */

/* A key that differs where partition values do; NULL and '' are one in a Delta log. */
static tg_str partition_key(const tg_delta_add *file, size_t count, tg_buf *buf)
{
    tg_buf_clear(buf);
    for (size_t i = 0; i < count; i++) {
        const tg_delta_partition_value *value = &file->partition_values[i];
        if (value->is_null || !value->text.len) {
            tg_buf_addc(buf, 'n');
        } else {
            tg_buf_addf(buf, "%zu:", value->text.len);
            tg_buf_adds(buf, value->text);
        }
    }
    return tg_buf_str(buf);
}

tg_code tg_duckdb_partitions(void *self, tg_str path, const tg_zone *zone, tg_arena *arena,
                             const tg_value **out_values, size_t *out_count, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    const tg_delta_snapshot *snapshot;
    tg_auto_buf tg_buf key = TG_BUF_INIT;
    TG_VEC(tg_value) values = {0};
    tg_map seen;
    tg_map_init(&seen, arena);
    TG_TRY(tg_delta_snapshot_load(&engine->delta, path, -1, arena, &snapshot, err));
    const tg_delta_metadata *metadata = &snapshot->metadata;
    *out_count = 0;
    for (size_t i = 0; i < snapshot->file_count && metadata->partition_count; i++) {
        const tg_delta_add *file = &snapshot->files[i];
        tg_str text = partition_key(file, metadata->partition_count, &key);
        if (tg_map_has(&seen, text)) {
            continue;
        }
        (void)tg_map_put(&seen, tg_str_copy(arena, text), &seen);
        for (size_t j = 0; j < metadata->partition_count; j++) {
            ptrdiff_t at = tg_schema_find(metadata->schema, metadata->partition_columns[j]);
            const tg_type *type =
                at < 0 ? tg_type_of(TG_TYPE_STRING) : metadata->schema.fields[at].type;
            tg_value value;
            TG_TRY(tg_value_from_partition(file->partition_values[j].text,
                                           file->partition_values[j].is_null, type, zone, arena,
                                           &value, err));
            TG_VEC_PUSH(arena, &values, value);
        }
        ++*out_count;
    }
    *out_values = values.items;
    return TG_OK;
}
