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
#include "engine/duckdb/copy_int.h"

enum {
    FILE_BYTES = 128 * 1024 * 1024, /* a file is closed at the first row group beyond */
    FILE_GROUPS = 8                 /* of 122,880 rows: files of about a million */
};

/* ---- the statement --------------------------------------------------------------------------- */

/* Do files hold the rows just as the query gives them? */
static bool is_plain(const tg_duckdb_stored *stored)
{
    for (size_t i = 0; i < stored->schema.count; i++) {
        const tg_field *field = &stored->schema.fields[i], *in_file = &stored->physical.fields[i];
        if (field->type->kind == TG_TYPE_VOID || !tg_str_eq(field->name, in_file->name) ||
            !tg_type_equal(field->type, in_file->type)) {
            return false;
        }
    }
    return true;
}

void tg_duckdb_set_layout(tg_duckdb_copy *copy, const tg_property *properties, size_t count,
                          tg_arena *arena)
{
    tg_program_clustering(properties, count, arena, &copy->order_by, &copy->order_count);
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, TG_S("delta.targetFileSize"))) {
            (void)tg_delta_bytes_parse(properties[i].value, &copy->file_bytes);
        }
    }
}

/* The query with its rows in the order of the table's clustering; a column that is gone sorts nothing. */
static void put_sorted(const tg_duckdb_copy *copy, tg_buf *out)
{
    bool is_first = true;
    tg_auto_buf tg_buf order = TG_BUF_INIT;
    for (size_t i = 0; i < copy->order_count; i++) {
        ptrdiff_t at = tg_schema_find(copy->schema, copy->order_by[i]);
        if (at >= 0 && tg_type_is_orderable(copy->schema.fields[at].type)) {
            tg_buf_addz(&order, is_first ? " ORDER BY " : ", ");
            tg_duckdb_put_ident(&order, copy->schema.fields[at].name);
            tg_buf_addz(&order, " NULLS FIRST");
            is_first = false;
        }
    }
    tg_buf_addz(out, order.len ? "SELECT * FROM (" : "");
    tg_buf_adds(out, copy->sql);
    tg_buf_addz(out, order.len ? ") AS \"tidegate unsorted\"" : "");
    tg_buf_adds(out, tg_buf_str(&order));
}

/* The rows under the names that the files have. Columns without a type are in no file. */
static tg_code put_rows(const tg_duckdb_copy *copy, const tg_duckdb_stored *stored, tg_arena *arena,
                        tg_buf *out, tg_error *err)
{
    if (is_plain(stored)) {
        put_sorted(copy, out);
        return TG_OK;
    }
    bool is_first = true;
    tg_buf_addz(out, "SELECT ");
    for (size_t i = 0; i < stored->schema.count; i++) {
        const tg_field *field = &stored->schema.fields[i], *in_file = &stored->physical.fields[i];
        if (field->type->kind == TG_TYPE_VOID) {
            continue;
        }
        tg_auto_buf tg_buf name = TG_BUF_INIT;
        tg_duckdb_put_ident(&name, field->name);
        tg_buf_addz(out, is_first ? "" : ", ");
        is_first = false;
        TG_TRY(tg_duckdb_put_renamed(out, tg_str_copy(arena, tg_buf_str(&name)), field->type,
                                     in_file->type, err));
        tg_buf_addz(out, " AS ");
        tg_duckdb_put_ident(out, in_file->name);
    }
    tg_buf_addz(out, " FROM (");
    put_sorted(copy, out);
    tg_buf_addc(out, ')');
    return TG_OK;
}

static tg_code put_copy(const tg_duckdb_copy *copy, const tg_duckdb_stored *stored, const char *tag,
                        tg_arena *arena, tg_buf *out, tg_error *err)
{
    tg_buf_addz(out, "COPY (");
    TG_TRY(put_rows(copy, stored, arena, out, err));
    tg_buf_addz(out, ") TO ");
    if (copy->one_file &&
        !copy->partition_count) { /* the only way in which DuckDB keeps an order */
        tg_auto_buf tg_buf path = TG_BUF_INIT;
        tg_buf_adds(&path, copy->table_path);
        tg_buf_addf(&path, "/part-%s-0.parquet", tag);
        tg_duckdb_put_string(out, tg_buf_str(&path));
        tg_buf_addz(out, " (FORMAT parquet, COMPRESSION snappy, RETURN_STATS, PRESERVE_ORDER true");
        if (stored->has_ids) {
            tg_buf_addz(out, ", FIELD_IDS ");
            tg_duckdb_put_field_ids(out, stored->physical, stored->partition_keys, 0);
        }
        tg_buf_addc(out, ')');
        return TG_OK;
    }
    tg_duckdb_put_string(out, copy->table_path);
    /*
     * The folder holds the table's other files: "ignore" leaves them alone, and no name of ours
     * exists yet.
     */
    tg_buf_addf(out,
                " (FORMAT parquet, COMPRESSION snappy, OVERWRITE_OR_IGNORE true, FILENAME_PATTERN "
                "'part-%s-{%s}', RETURN_STATS",
                tag, copy->partition_count ? "uuid" : "i");
    if (stored->has_ids) {
        tg_buf_addz(out, ", FIELD_IDS ");
        tg_duckdb_put_field_ids(out, stored->physical, stored->partition_keys,
                                copy->partition_count);
    }
    if (!copy->partition_count) {
        tg_buf_addf(out, ", FILE_SIZE_BYTES %lld, ROW_GROUPS_PER_FILE %d)",
                    copy->file_bytes > 0 ? (long long)copy->file_bytes : FILE_BYTES, FILE_GROUPS);
        return TG_OK;
    }
    tg_buf_addz(out, ", PARTITION_BY (");
    for (size_t i = 0; i < copy->partition_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        tg_duckdb_put_ident(out, stored->partition_keys[i]);
    }
    tg_buf_addz(out, "))");
    return TG_OK;
}

/* ---- rows of the result to actions ----------------------------------------------------------- */

/* Columns of what COPY returns with RETURN_STATS. */
enum { OUT_FILENAME, OUT_COUNT, OUT_SIZE, OUT_FOOTER, OUT_STATS, OUT_KEYS, OUT_COLUMNS };

static tg_code partition_values(const tg_duckdb_copy *copy, const tg_duckdb_stored *stored,
                                duckdb_vector keys, idx_t row, tg_arena *arena,
                                const tg_delta_partition_value **out_values, tg_error *err)
{
    tg_delta_partition_value *values =
        TG_NEW_ARRAY(arena, tg_delta_partition_value, copy->partition_count);
    for (size_t i = 0; i < copy->partition_count; i++) {
        tg_str column = copy->partition_columns[i];
        ptrdiff_t field = tg_schema_find(copy->schema, column);
        idx_t at;
        if (field < 0 || !tg_duckdb_map_find(keys, row, stored->partition_keys[i], &at)) {
            TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                    "DuckDB did not tell the value of the partition column %.*s", TG_SARG(column));
        }
        values[i].is_null = true;
        if (tg_duckdb_cell_is_null(tg_duckdb_map_values(keys), at)) {
            continue;
        }
        tg_str text = tg_duckdb_cell_str(tg_duckdb_map_values(keys), at);
        tg_value value;
        if (!tg_duckdb_parse_value(text, copy->schema.fields[field].type, arena, &value)) {
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
                        const tg_duckdb_stored *stored, duckdb_data_chunk chunk, idx_t row,
                        tg_arena *arena, tg_delta_add *out_add, int64_t *out_rows, tg_error *err)
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
    TG_TRY(partition_values(copy, stored, tg_duckdb.data_chunk_get_vector(chunk, OUT_KEYS), row,
                            arena, &add.partition_values, err));
    if (rows) {
        TG_TRY(tg_duckdb_check_not_null(copy, stored, &add, stats, row, err));
        add.stats = tg_duckdb_file_stats(stored, rows, stats, row, arena);
    }
    *out_add = add;
    *out_rows = rows;
    return TG_OK;
}

static tg_code collect_files(tg_duckdb_session *session, const tg_duckdb_copy *copy,
                             const tg_duckdb_stored *stored, duckdb_result *result, tg_arena *arena,
                             tg_duckdb_added *added, tg_error *err)
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
            TG_TRY(make_add(session, copy, stored, chunk, row, arena, &add, &rows, err));
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
    tg_duckdb_stored stored;
    TG_TRY(tg_duckdb_stored_of(copy, arena, &stored, err));
    TG_TRY(put_copy(copy, &stored, tag, arena, &sql, err));
    duckdb_result result;
    tg_duckdb_added before = *added;
    tg_code code = tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err);
    if (code == TG_OK) {
        code = collect_files(session, copy, &stored, &result, arena, added, err);
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
