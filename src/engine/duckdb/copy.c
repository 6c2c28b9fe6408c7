/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows into new data files of a table: one COPY, which also tells the statistics that the log
 * needs.
 *
 * Files are named part-<tag>-<n>.parquet with one tag per COPY, so that what a failed COPY left
 * behind can be found and removed. Partitioned rows go to folders "column=value" as DuckDB makes
 * them; the log's partition values come from its raw keys, never from the names of folders. Two
 * values may share a folder (NULL and the string '__HIVE_DEFAULT_PARTITION__'): there <n> is a UUID.
 */
#include "engine/duckdb/duckdb_int.h"

#include <math.h>

enum {
    FILE_BYTES = 128 * 1024 * 1024, /* a file is closed at the first row group beyond */
    FILE_GROUPS = 8,                /* of 122,880 rows: files of about a million */
    INDEXED_COLUMNS = 32            /* Delta's default of delta.dataSkippingNumIndexedCols */
};

static bool is_partition_column(const tg_duckdb_copy *copy, tg_str column)
{
    for (size_t i = 0; i < copy->partition_count; i++) {
        if (tg_str_ieq(copy->partition_columns[i], column)) {
            return true;
        }
    }
    return false;
}

static void put_copy(const tg_duckdb_copy *copy, const char *tag, tg_buf *out)
{
    tg_buf_addz(out, "COPY (");
    tg_buf_adds(out, copy->sql);
    tg_buf_addz(out, ") TO ");
    tg_duckdb_put_string(out, copy->table_path);
    /*
     * The folder holds the table's other files: "ignore" leaves them alone, and no name of ours
     * exists yet.
     */
    tg_buf_addf(out,
                " (FORMAT parquet, COMPRESSION snappy, OVERWRITE_OR_IGNORE true, FILENAME_PATTERN "
                "'part-%s-{%s}', RETURN_STATS",
                tag, copy->partition_count ? "uuid" : "i");
    if (!copy->partition_count) {
        tg_buf_addf(out, ", FILE_SIZE_BYTES %d, ROW_GROUPS_PER_FILE %d)", FILE_BYTES, FILE_GROUPS);
        return;
    }
    tg_buf_addz(out, ", PARTITION_BY (");
    for (size_t i = 0; i < copy->partition_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        tg_duckdb_put_ident(out, copy->partition_columns[i]);
    }
    tg_buf_addz(out, "))");
}

/* ---- what COPY returns ----------------------------------------------------------------------- */

/* The range of entries of a map in one row. */
static duckdb_list_entry map_entries(duckdb_vector maps, idx_t row)
{
    if (tg_duckdb_cell_is_null(maps, row)) {
        return (duckdb_list_entry){0, 0};
    }
    const duckdb_list_entry *entries = tg_duckdb.vector_get_data(maps);
    return entries[row];
}

static duckdb_vector map_keys(duckdb_vector maps)
{
    return tg_duckdb.struct_vector_get_child(tg_duckdb.list_vector_get_child(maps), 0);
}

static duckdb_vector map_values(duckdb_vector maps)
{
    return tg_duckdb.struct_vector_get_child(tg_duckdb.list_vector_get_child(maps), 1);
}

/* Position of a key's value in map_values; false when the row's map lacks it. */
static bool map_find(duckdb_vector maps, idx_t row, tg_str key, idx_t *out_position)
{
    duckdb_list_entry range = map_entries(maps, row);
    duckdb_vector keys = map_keys(maps);
    for (idx_t i = range.offset; i < range.offset + range.length; i++) {
        if (tg_str_eq(tg_duckdb_cell_str(keys, i), key)) {
            *out_position = i;
            return true;
        }
    }
    return false;
}

/* A text entry of the statistics of one column; false when absent or NULL. */
static bool stat_text(duckdb_vector columns, idx_t column, const char *key, tg_str *out_text)
{
    idx_t at;
    if (!map_find(columns, column, tg_str_from(key), &at) ||
        tg_duckdb_cell_is_null(map_values(columns), at)) {
        return false;
    }
    *out_text = tg_duckdb_cell_str(map_values(columns), at);
    return true;
}

/* The entry of a stored column in the statistics of one file; false when there is none. */
static bool find_column(duckdb_vector stats_column, idx_t row, tg_str name, idx_t *out_column)
{
    tg_auto_buf tg_buf key = TG_BUF_INIT;
    tg_duckdb_put_ident(&key, name); /* the keys are quoted identifiers */
    return map_find(stats_column, row, tg_buf_str(&key), out_column);
}

static bool null_count(duckdb_vector columns, idx_t column, int64_t *out_nulls)
{
    tg_str text;
    return stat_text(columns, column, "null_count", &text) && tg_str_to_i64(text, out_nulls);
}

/* Instants are printed with the offset "+00" whatever the session zone is. */
static bool parse_instant(tg_str text, tg_arena *arena, int64_t *out_us)
{
    bool has_zone;
    if (!tg_str_ends(text, TG_S("+00"))) {
        return false;
    }
    return tg_timestamp_parse(tg_str_sub(text, 0, text.len - 3), arena, out_us, &has_zone) &&
           !has_zone;
}

/* Text of a value as DuckDB prints it. False: not usable (infinite, a year out of range). */
static bool parse_value(tg_str text, const tg_type *type, tg_arena *arena, tg_value *out)
{
    int64_t number = 0;
    double real;
    bool has_zone;
    tg_int128 unscaled;
    switch (type->kind) {
    case TG_TYPE_BOOLEAN:
        *out = tg_value_bool(tg_str_eq(text, TG_S("true")));
        return true;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        *out = tg_value_int(type, 0);
        return tg_str_to_i64(text, &out->as.i64);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        if (!tg_str_to_double(text, &real) || !isfinite(real)) {
            return false;
        }
        *out = tg_value_double(type, type->kind == TG_TYPE_FLOAT ? (double)(float)real : real);
        return true;
    case TG_TYPE_DECIMAL:
        if (!tg_decimal_parse(text, type->scale, &unscaled)) {
            return false;
        }
        *out = tg_value_decimal(type, unscaled);
        return true;
    case TG_TYPE_STRING:
        *out = tg_value_bytes(type, text);
        return true;
    case TG_TYPE_DATE:
        *out = tg_value_int(type, 0);
        return tg_date_parse(text, &out->as.i64);
    case TG_TYPE_TIMESTAMP:
        if (!parse_instant(text, arena, &number)) {
            return false;
        }
        *out = tg_value_int(type, number);
        return true;
    case TG_TYPE_TIMESTAMP_NTZ:
        if (!tg_timestamp_parse(text, arena, &number, &has_zone) || has_zone) {
            return false;
        }
        *out = tg_value_int(type, number);
        return true;
    default:
        return false;
    }
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The three objects of a stats text while they are being built: members without braces. */
typedef struct stats_text {
    tg_buf minimums, maximums, nulls;
} stats_text;

static void put_member_name(tg_buf *out, tg_str name)
{
    tg_buf_addz(out, out->len ? "," : "");
    tg_json_quote(out, name);
    tg_buf_addc(out, ':');
}

static void put_bound(tg_buf *out, tg_str name, tg_value value, bool is_max)
{
    if ((value.type->kind == TG_TYPE_DOUBLE || value.type->kind == TG_TYPE_FLOAT) &&
        value.as.f64 == 0) {
        value.as.f64 = is_max ? 0.0 : -0.0; /* for readers that put -0.0 before 0.0 */
    }
    tg_auto_buf tg_buf bound = TG_BUF_INIT;
    if (tg_value_to_stat(value, is_max, &bound)) {
        put_member_name(out, name);
        tg_buf_adds(out, tg_buf_str(&bound));
    }
}

static bool has_bounds(const tg_type *type)
{
    return type->kind != TG_TYPE_BOOLEAN && type->kind != TG_TYPE_BINARY &&
           type->kind != TG_TYPE_VOID && !tg_type_is_nested(type);
}

static void add_column_stats(stats_text *stats, const tg_field *field, duckdb_vector columns,
                             idx_t column, tg_arena *arena)
{
    tg_str text;
    int64_t nulls;
    if (null_count(columns, column, &nulls)) {
        put_member_name(&stats->nulls, field->name);
        tg_buf_addf(&stats->nulls, "%lld", (long long)nulls);
    }
    if (!has_bounds(field->type)) {
        return;
    }
    tg_value value;
    if (stat_text(columns, column, "min", &text) && parse_value(text, field->type, arena, &value)) {
        put_bound(&stats->minimums, field->name, value, false);
    }
    /* DuckDB leaves NaN out of its maximum, but NaN is the greatest value. */
    bool has_nan = stat_text(columns, column, "has_nan", &text) && tg_str_eq(text, TG_S("true"));
    if (!has_nan && stat_text(columns, column, "max", &text) &&
        parse_value(text, field->type, arena, &value)) {
        put_bound(&stats->maximums, field->name, value, true);
    }
}

static bool is_wanted(const tg_duckdb_copy *copy, size_t index)
{
    if (index < INDEXED_COLUMNS) {
        return true;
    }
    for (size_t i = 0; i < copy->indexed_count; i++) {
        if (tg_str_ieq(copy->indexed[i], copy->schema.fields[index].name)) {
            return true;
        }
    }
    return false;
}

static tg_str file_stats(const tg_duckdb_copy *copy, int64_t records, duckdb_vector stats_column,
                         idx_t row, tg_arena *arena)
{
    stats_text stats = {TG_BUF_INIT, TG_BUF_INIT, TG_BUF_INIT};
    duckdb_vector columns = map_values(stats_column);
    for (size_t i = 0; i < copy->schema.count; i++) {
        const tg_field *field = &copy->schema.fields[i];
        if (is_partition_column(copy, field->name) || !is_wanted(copy, i) ||
            tg_type_is_nested(field->type)) {
            continue;
        }
        idx_t at;
        if (find_column(stats_column, row, field->name, &at)) {
            add_column_stats(&stats, field, columns, at, arena);
        }
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addf(&text, "{\"numRecords\":%lld,\"minValues\":{", (long long)records);
    tg_buf_adds(&text, tg_buf_str(&stats.minimums));
    tg_buf_addz(&text, "},\"maxValues\":{");
    tg_buf_adds(&text, tg_buf_str(&stats.maximums));
    tg_buf_addz(&text, "},\"nullCount\":{");
    tg_buf_adds(&text, tg_buf_str(&stats.nulls));
    tg_buf_addz(&text, "}}");
    tg_buf_dispose(&stats.minimums);
    tg_buf_dispose(&stats.maximums);
    tg_buf_dispose(&stats.nulls);
    return tg_buf_take(&text, arena);
}

/* ---- NOT NULL -------------------------------------------------------------------------------- */

static tg_code null_violation(tg_str column, tg_error *err)
{
    return TG_ERR(err, DELTA_NOT_NULL_CONSTRAINT_VIOLATED,
                  "NOT NULL constraint violated for column: %.*s", TG_SARG(column));
}

/*
 * Stored atomic columns by their statistics, others by what partition values say; nested ones are
 * checked by the query.
 */
static tg_code check_not_null(const tg_duckdb_copy *copy, const tg_delta_add *add,
                              duckdb_vector stats_column, idx_t row, tg_error *err)
{
    for (size_t i = 0; i < copy->partition_count; i++) {
        ptrdiff_t at = tg_schema_find(copy->schema, copy->partition_columns[i]);
        if (at >= 0 && !copy->schema.fields[at].nullable && add->partition_values[i].is_null) {
            return null_violation(copy->partition_columns[i], err);
        }
    }
    for (size_t i = 0; i < copy->schema.count; i++) {
        const tg_field *field = &copy->schema.fields[i];
        if (field->nullable || is_partition_column(copy, field->name) ||
            tg_type_is_nested(field->type)) {
            continue;
        }
        idx_t at;
        int64_t nulls;
        if (!find_column(stats_column, row, field->name, &at) ||
            !null_count(map_values(stats_column), at, &nulls)) {
            TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                    "DuckDB did not tell how many NULLs it wrote to column %.*s",
                    TG_SARG(field->name));
        }
        if (nulls > 0) {
            return null_violation(field->name, err);
        }
    }
    return TG_OK;
}

/* ---- rows of the result to actions ----------------------------------------------------------- */

/* Columns of what COPY returns with RETURN_STATS. */
enum { OUT_FILENAME, OUT_COUNT, OUT_SIZE, OUT_FOOTER, OUT_STATS, OUT_KEYS, OUT_COLUMNS };

static tg_code partition_values(const tg_duckdb_copy *copy, duckdb_vector keys, idx_t row,
                                tg_arena *arena, const tg_delta_partition_value **out_values,
                                tg_error *err)
{
    tg_delta_partition_value *values =
        TG_NEW_ARRAY(arena, tg_delta_partition_value, copy->partition_count);
    for (size_t i = 0; i < copy->partition_count; i++) {
        tg_str column = copy->partition_columns[i];
        ptrdiff_t field = tg_schema_find(copy->schema, column);
        idx_t at;
        if (field < 0 || !map_find(keys, row, column, &at)) {
            TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                    "DuckDB did not tell the value of the partition column %.*s", TG_SARG(column));
        }
        values[i].is_null = true;
        if (tg_duckdb_cell_is_null(map_values(keys), at)) {
            continue;
        }
        tg_str text = tg_duckdb_cell_str(map_values(keys), at);
        tg_value value;
        if (!parse_value(text, copy->schema.fields[field].type, arena, &value)) {
            TG_FAIL(err, UNSUPPORTED_FEATURE,
                    "the value %.*s of partition column %.*s cannot be written to the Delta log",
                    TG_SARG(text), TG_SARG(column));
        }
        values[i].text =
            tg_str_copy(arena, tg_value_to_partition(arena, value, &values[i].is_null));
    }
    *out_values = values;
    return TG_OK;
}

static tg_code make_add(tg_duckdb_session *session, const tg_duckdb_copy *copy,
                        duckdb_data_chunk chunk, idx_t row, tg_arena *arena, tg_delta_add *out_add,
                        int64_t *out_rows, tg_error *err)
{
    tg_str path = tg_str_copy(
        arena, tg_duckdb_cell_str(tg_duckdb.data_chunk_get_vector(chunk, OUT_FILENAME), row));
    int64_t rows = tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, OUT_COUNT), row);
    duckdb_vector stats = tg_duckdb.data_chunk_get_vector(chunk, OUT_STATS);
    tg_fs_entry entry;
    TG_TRY(tg_fs_stat(session->engine->fs, path, &entry, err));
    tg_delta_add add = {.size_bytes = entry.size_bytes,
                        .modification_time_ms = entry.mtime_ms,
                        .data_change = true};
    if (!tg_path_relative(copy->table_path, path, &add.path)) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                "DuckDB wrote \"%.*s\", which is not in the table's folder", TG_SARG(path));
    }
    add.encoded_path = tg_uri_encode_path(arena, add.path);
    TG_TRY(partition_values(copy, tg_duckdb.data_chunk_get_vector(chunk, OUT_KEYS), row, arena,
                            &add.partition_values, err));
    if (rows) {
        TG_TRY(check_not_null(copy, &add, stats, row, err));
        add.stats = file_stats(copy, rows, stats, row, arena);
    }
    *out_add = add;
    *out_rows = rows;
    return TG_OK;
}

static tg_code collect_files(tg_duckdb_session *session, const tg_duckdb_copy *copy,
                             duckdb_result *result, tg_arena *arena, tg_duckdb_added *added,
                             tg_error *err)
{
    if (tg_duckdb.column_count(result) != OUT_COLUMNS) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "DuckDB's COPY returned %d columns instead of %d",
                (int)tg_duckdb.column_count(result), (int)OUT_COLUMNS);
    }
    for (;;) {
        tg_auto_chunk duckdb_data_chunk chunk = NULL;
        TG_TRY(tg_duckdb_fetch(session, result, &chunk, err));
        if (!chunk) {
            return TG_OK;
        }
        for (idx_t row = 0; row < tg_duckdb.data_chunk_get_size(chunk); row++) {
            tg_delta_add add;
            int64_t rows;
            TG_TRY(make_add(session, copy, chunk, row, arena, &add, &rows, err));
            if (rows) {
                TG_VEC_PUSH(arena, added, add);
                added->rows += rows;
                added->bytes += add.size_bytes;
            } else {
                /*
                 * A query without rows still makes a file when there are no partitions; nobody
                 * needs it.
                 */
                (void)tg_fs_remove(session->engine->fs,
                                   tg_path_join(arena, copy->table_path, add.path), NULL);
            }
        }
    }
}

/*
 * Removes the files of a tag, in the table's folder and in folders of partitions; links to folders
 * are not entered.
 */
static void remove_tagged(const tg_fs *fs, tg_str folder, tg_str prefix, size_t depth,
                          tg_arena *arena)
{
    tg_fs_entry *entries;
    size_t count;
    if (tg_fs_list(fs, folder, false, arena, &entries, &count, NULL) != TG_OK) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        tg_str path = tg_path_join(arena, folder, entries[i].name);
        if (entries[i].is_link) {
            continue;
        }
        if (entries[i].is_folder && depth > 0 && entries[i].name.ptr[0] != '_') {
            remove_tagged(fs, path, prefix, depth - 1, arena);
        } else if (!entries[i].is_folder && tg_str_starts(entries[i].name, prefix)) {
            (void)tg_fs_remove(fs, path, NULL);
        }
    }
}

tg_code tg_duckdb_copy_rows(tg_duckdb_session *session, const tg_duckdb_copy *copy, tg_arena *arena,
                            tg_duckdb_added *added, tg_error *err)
{
    const tg_duckdb_engine *engine = session->engine;
    TG_TRY(tg_fs_make_folders(engine->fs, copy->table_path, err));
    char tag[37];
    engine->env->uuid(engine->env->self, tag);
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    put_copy(copy, tag, &sql);
    duckdb_result result;
    tg_duckdb_added before = *added;
    tg_code code = tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err);
    if (code == TG_OK) {
        code = collect_files(session, copy, &result, arena, added, err);
        tg_duckdb.destroy_result(&result);
    }
    if (code != TG_OK) {
        tg_auto_arena tg_arena *scratch = tg_arena_new();
        remove_tagged(engine->fs, copy->table_path, tg_str_printf(scratch, "part-%s", tag),
                      copy->partition_count, scratch);
        added->count = before.count;
        added->rows = before.rows;
        added->bytes = before.bytes;
    }
    return code;
}
