/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file may hold: statistics and partition values as bounds (Delta protocol, "Per-file
 * Statistics").
 *
 * Bounds decide which files are skipped and which are replaced without reading, so doubt means
 * "unknown". Numbers are read as text: a rounded bound would skip files that match.
 */
#include <yyjson.h>

#include "delta/delta_int.h"

typedef struct file_stats {
    yyjson_val *min, *max, *nulls; /* NULL when absent */
    int64_t records;               /* -1 unknown */
    bool is_wide; /* tightBounds false: counts may be of more rows than there are */
} file_stats;

static file_stats parse_stats(tg_str text, tg_arena *scratch)
{
    file_stats stats = {.records = -1};
    yyjson_val *root;
    if (!text.len || tg_json_parse(text, TG_JSON_RAW_NUMBERS, scratch, &root, NULL) != TG_OK ||
        !yyjson_is_obj(root)) {
        return stats;
    }
    int64_t records = tg_json_get_i64(root, "numRecords", -1);
    stats.records = records < 0 ? -1 : records;
    stats.min = tg_json_get(root, "minValues");
    stats.max = tg_json_get(root, "maxValues");
    stats.nulls = tg_json_get(root, "nullCount");
    stats.is_wide = !tg_json_get_bool(root, "tightBounds", true);
    return stats;
}

int64_t tg_delta_file_records(tg_str stats)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return parse_stats(stats, scratch).records;
}

static yyjson_val *member(yyjson_val *object, tg_str name)
{
    return yyjson_is_obj(object) ? yyjson_obj_getn(object, name.ptr, name.len) : NULL;
}

static bool read_bound(yyjson_val *val, const tg_type *type, bool is_max, tg_arena *arena,
                       tg_value *out)
{
    if (yyjson_is_str(val)) {
        return tg_value_from_stat(tg_json_text(val), true, type, is_max, arena, out);
    }
    if (yyjson_is_raw(val)) {
        return tg_value_from_stat((tg_str){yyjson_get_raw(val), yyjson_get_len(val)}, false, type,
                                  is_max, arena, out);
    }
    if (yyjson_is_bool(val)) {
        return tg_value_from_stat(yyjson_get_bool(val) ? TG_S("true") : TG_S("false"), false, type,
                                  is_max, arena, out);
    }
    return false;
}

static tg_column_bounds column_stats(const file_stats *stats, tg_str column, const tg_type *type,
                                     tg_arena *arena)
{
    tg_column_bounds bounds = {.null_count = -1, .record_count = stats->records};
    if (tg_type_is_nested(type) || type->kind == TG_TYPE_VARIANT) {
        return bounds;
    }
    int64_t nulls;
    if (tg_json_to_i64(member(stats->nulls, column), &nulls) && nulls >= 0 &&
        (!stats->is_wide || nulls == 0 || nulls == stats->records)) {
        bounds.null_count = nulls;
    }
    bounds.has_min = read_bound(member(stats->min, column), type, false, arena, &bounds.min);
    bounds.has_max = read_bound(member(stats->max, column), type, true, arena, &bounds.max);
    return bounds;
}

/* A partition column has one value in all rows. */
static tg_column_bounds partition_bounds(const tg_delta_partition_value *value, const tg_type *type,
                                         const tg_zone *zone, int64_t records, tg_arena *arena)
{
    /* The number of rows does not matter, only whether all or none are NULL. */
    tg_column_bounds bounds = {.null_count = -1, .record_count = records > 0 ? records : 1};
    tg_value parsed;
    if (tg_value_from_partition(value->text, value->is_null, type, zone, arena, &parsed, NULL) !=
        TG_OK) {
        return bounds;
    }
    bounds.null_count = parsed.is_null ? bounds.record_count : 0;
    bounds.has_min = bounds.has_max = !parsed.is_null;
    bounds.min = bounds.max = parsed;
    return bounds;
}

static ptrdiff_t partition_index(const tg_delta_metadata *metadata, tg_str column)
{
    for (size_t i = 0; i < metadata->partition_count; i++) {
        if (tg_str_ieq(metadata->partition_columns[i], column)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* Statistics know columns by their names in files. */
static tg_str physical_name(const tg_delta_metadata *metadata, size_t column)
{
    tg_schema schema = metadata->physical.count ? metadata->physical : metadata->schema;
    return schema.fields[column].name;
}

/*
 * The bounds of a file from before a column became DOUBLE are texts of floats: "0.1" stands for a
 * value a little above 0.1.
 */
static void widen_to_float(tg_column_bounds *bounds)
{
    double min = bounds->has_min ? (double)(float)bounds->min.as.f64 : 0;
    double max = bounds->has_max ? (double)(float)bounds->max.as.f64 : 0;
    if (bounds->has_min && min < bounds->min.as.f64) {
        bounds->min.as.f64 = min;
    }
    if (bounds->has_max && max > bounds->max.as.f64) {
        bounds->max.as.f64 = max;
    }
}

void tg_delta_file_bounds(const tg_delta_snapshot *snapshot, const tg_delta_add *file,
                          const tg_zone *zone, const tg_str *columns, const tg_type *const *types,
                          size_t count, tg_arena *arena, tg_column_bounds *out_bounds)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    file_stats stats = parse_stats(file->stats, scratch);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t partition = partition_index(&snapshot->metadata, columns[i]);
        if (partition >= 0) {
            out_bounds[i] = file->partition_values
                                ? partition_bounds(&file->partition_values[partition], types[i],
                                                   zone, stats.records, arena)
                                : (tg_column_bounds){.null_count = -1, .record_count = -1};
            continue;
        }
        ptrdiff_t position = tg_schema_find(snapshot->metadata.schema, columns[i]);
        tg_str name =
            position >= 0 ? physical_name(&snapshot->metadata, (size_t)position) : columns[i];
        out_bounds[i] = column_stats(&stats, name, types[i], arena);
        if (position >= 0 && types[i]->kind == TG_TYPE_DOUBLE &&
            tg_delta_was_float(&snapshot->metadata.schema.fields[position])) {
            widen_to_float(&out_bounds[i]);
        }
    }
}

tg_region tg_delta_file_region(const tg_delta_snapshot *snapshot, const tg_delta_add *file,
                               const tg_zone *zone, tg_arena *arena)
{
    tg_schema schema = snapshot->metadata.schema;
    tg_str *columns = TG_NEW_ARRAY(arena, tg_str, schema.count);
    const tg_type **types = TG_NEW_ARRAY(arena, const tg_type *, schema.count);
    tg_column_bounds *bounds = TG_NEW_ARRAY(arena, tg_column_bounds, schema.count);
    size_t count = 0;
    for (size_t i = 0; i < schema.count; i++) {
        if (tg_type_is_orderable(schema.fields[i].type) &&
            !tg_type_is_nested(schema.fields[i].type)) {
            columns[count] = schema.fields[i].name;
            types[count++] = schema.fields[i].type;
        }
    }
    tg_delta_file_bounds(snapshot, file, zone, columns, types, count, arena, bounds);
    return tg_region_of_bounds(arena, columns, types, bounds, count);
}
