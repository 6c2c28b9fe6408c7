/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV, JSON and Parquet files as tables. Which files a path means is decided here, as Spark does
 * (names that begin with '.' or '_' do not count), so that reading, schema and identity are about
 * the same files.
 */
#include <stdlib.h>

#include "engine/duckdb/source_int.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* Spark leaves out what begins with '.' or '_', but for "_k=v". */
static bool is_partition_folder(const tg_fs_entry *entry)
{
    return entry->is_folder && entry->name.ptr[0] != '.' &&
           tg_str_find(entry->name, TG_S("="), 0) != SIZE_MAX;
}

/*
 * Folders "k=v" at any depth would give columns; reading the table without them would be wrong.
 * Other folders do not count: without recursiveFileLookup Spark reads the files of a folder alone.
 */
static tg_code refuse_partition_folders(tg_duckdb_engine *engine, tg_str folder, int depth,
                                        tg_arena *arena, tg_error *err)
{
    if (depth > TG_LIMIT_FOLDER_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED,
                "folders are nested deeper than %d levels at \"%.*s\"", TG_LIMIT_FOLDER_DEPTH,
                TG_SARG(folder));
    }
    tg_fs_entry *entries;
    size_t count;
    TG_TRY(tg_fs_list(engine->fs, folder, false, arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        const tg_fs_entry *entry = &entries[i];
        if (is_partition_folder(entry)) {
            (void)TG_ERR(
                err, UNSUPPORTED_FEATURE,
                "folder \"%.*s\" has the folder \"%.*s\" in it: partition folders of files "
                "are not available in this release",
                TG_SARG(folder), TG_SARG(entry->name));
            return tg_error_hint(err,
                                 "Name the files by a pattern, such as \"%.*s/**\", to read them "
                                 "without the columns of their folders.",
                                 TG_SARG(folder));
        }
        if (entry->is_folder && entry->name.ptr[0] != '.' && entry->name.ptr[0] != '_') {
            TG_TRY(refuse_partition_folders(engine, tg_path_join(arena, folder, entry->name),
                                            depth + 1, arena, err));
        }
    }
    return TG_OK;
}

static tg_code source_files(tg_duckdb_engine *engine, tg_table_format format, tg_str path,
                            tg_arena *arena, tg_str **out_paths, size_t *out_count, tg_error *err)
{
    tg_str pattern = path;
    if (!tg_glob_is_pattern(path)) {
        tg_fs_entry entry;
        TG_TRY(tg_fs_stat(engine->fs, path, &entry, err));
        if (entry.is_folder) {
            TG_TRY(refuse_partition_folders(engine, path, 1, arena, err));
            pattern = tg_path_join(arena, path, TG_S("*"));
        }
    }
    TG_TRY(tg_fs_glob(engine->fs, pattern, TG_GLOB_SKIP_HIDDEN, arena, out_paths, out_count, err));
    if (!*out_count) {
        TG_ERR(err, PATH_NOT_FOUND, "there is no %s file at \"%.*s\"",
               tg_source_format_name(format), TG_SARG(path));
        return pattern.len == path.len
                   ? TG_NOT_FOUND
                   : tg_error_hint(err, "Files in folders below it are named by \"%.*s/**\".",
                                   TG_SARG(path));
    }
    return TG_OK;
}

/*
 * Inode and ctime as well: `mv`, `rsync -t` and `cp -p` bring other rows under an old size and
 * mtime. What only looks new (a copied folder, a chmod) is recomputed once.
 */
tg_code tg_duckdb_source_digest(tg_duckdb_engine *engine, tg_table_format format, tg_str path,
                                tg_arena *arena, tg_digest *out_digest, tg_error *err)
{
    tg_str *paths;
    size_t count;
    TG_TRY(source_files(engine, format, path, arena, &paths, &count, err));
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_fs_entry entry;
        TG_TRY(tg_fs_stat(engine->fs, paths[i], &entry, err));
        tg_buf_addf(&text, "%lld %lld %llu %lld ", (long long)entry.size_bytes,
                    (long long)entry.mtime_ms, (unsigned long long)entry.inode,
                    (long long)entry.ctime_ns);
        tg_buf_adds(&text, paths[i]);
        tg_buf_addc(&text, '\0');
    }
    *out_digest = tg_digest_of(tg_buf_str(&text));
    return TG_OK;
}

/* ---- table functions ------------------------------------------------------------------------- */

static void put_string_argument(tg_buf *out, const char *name, tg_str value)
{
    tg_buf_addf(out, ", %s = ", name);
    tg_duckdb_put_string(out, value);
}

static void put_csv_options(tg_buf *out, const tg_source_options *options)
{
    tg_buf_addf(out, ", header = %s, skip = 0, null_padding = true, hive_partitioning = false",
                options->header ? "true" : "false");
    put_string_argument(out, "delim", options->separator);
    put_string_argument(out, "quote", options->quote);
    put_string_argument(out, "escape", options->quote.len ? options->escape : TG_S(""));
    put_string_argument(out, "comment", options->comment);
    tg_buf_addz(out, ", allow_quoted_nulls = false, nullstr = ['', ");
    tg_duckdb_put_string(out, options->null_value);
    tg_buf_addz(out, "]");
}

static tg_code put_columns(tg_buf *out, tg_schema schema, tg_error *err)
{
    tg_buf_addz(out, ", columns = {");
    for (size_t i = 0; i < schema.count; i++) {
        tg_auto_buf tg_buf type = TG_BUF_INIT;
        TG_TRY(tg_duckdb_put_type(&type, schema.fields[i].type, err));
        tg_buf_addz(out, i ? ", " : "");
        tg_duckdb_put_string(out, schema.fields[i].name);
        tg_buf_addz(out, ": ");
        tg_duckdb_put_string(out, tg_buf_str(&type));
    }
    tg_buf_addc(out, '}');
    return TG_OK;
}

static tg_code put_csv(const tg_table *table, const tg_source_options *options, const tg_str *paths,
                       size_t path_count, tg_buf *out, tg_error *err)
{
    tg_buf_addz(out, "read_csv(");
    tg_duckdb_put_paths(out, paths, path_count);
    tg_buf_addz(out, ", auto_detect = false");
    put_csv_options(out, options);
    TG_TRY(put_columns(out, table->schema, err));
    tg_buf_addc(out, ')');
    return TG_OK;
}

static tg_code put_json(const tg_table *table, const tg_str *paths, size_t path_count, tg_buf *out,
                        tg_error *err)
{
    tg_buf_addz(out, "read_json(");
    tg_duckdb_put_paths(out, paths, path_count);
    tg_buf_addz(out, ", format = 'newline_delimited', hive_partitioning = false");
    TG_TRY(put_columns(out, table->schema, err));
    tg_buf_addc(out, ')');
    return TG_OK;
}

static tg_code put_parquet(tg_duckdb_session *session, const tg_table *table, const size_t *fields,
                           size_t field_count, const tg_str *paths, size_t path_count,
                           const tg_zone *zone, tg_arena *arena, tg_buf *out, tg_error *err)
{
    const tg_delta_add **files = TG_NEW_ARRAY(arena, const tg_delta_add *, path_count);
    for (size_t i = 0; i < path_count; i++) {
        tg_delta_add *file = TG_NEW(arena, tg_delta_add);
        file->path = paths[i];
        files[i] = file;
    }
    tg_duckdb_files item = {
        .table_path = table->path,
        .schema = table->schema,
        .files = files,
        .file_count = path_count,
        .fields = fields,
        .field_count = field_count,
    };
    return tg_duckdb_put_files(session, &item, zone, arena, out, err);
}

/*
 * Spark cannot tell a quoted NULL text from a plain one, DuckDB can: strings are compared once
 * more.
 */
static void put_source_column(tg_buf *out, const tg_field *field, const tg_source_options *options)
{
    if (options->null_value.len && field->type->kind == TG_TYPE_STRING) {
        tg_buf_addz(out, "nullif(");
        tg_duckdb_put_ident(out, field->name);
        tg_buf_addz(out, ", ");
        tg_duckdb_put_string(out, options->null_value);
        tg_buf_addz(out, ") AS ");
    }
    tg_duckdb_put_ident(out, field->name);
}

tg_code tg_duckdb_put_source(tg_duckdb_session *session, const tg_table *table,
                             const size_t *fields, size_t field_count, const tg_zone *zone,
                             tg_arena *arena, tg_buf *out, tg_error *err)
{
    tg_source_options options;
    TG_TRY(
        tg_source_options_read(table->format, table->options, table->option_count, &options, err));
    tg_str *paths;
    size_t path_count;
    TG_TRY(
        source_files(session->engine, table->format, table->path, arena, &paths, &path_count, err));
    if (table->format == TG_FORMAT_PARQUET) {
        return put_parquet(session, table, fields, field_count, paths, path_count, zone, arena, out,
                           err);
    }
    tg_buf_addz(out, "(SELECT ");
    for (size_t i = 0; i < field_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        put_source_column(out, &table->schema.fields[fields[i]], &options);
    }
    tg_buf_addz(out, field_count ? " FROM " : "NULL FROM ");
    if (table->format == TG_FORMAT_CSV) {
        TG_TRY(put_csv(table, &options, paths, path_count, out, err));
    } else {
        TG_TRY(put_json(table, paths, path_count, out, err));
    }
    tg_buf_addc(out, ')');
    return TG_OK;
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* What inference may find in a text file but Spark would not: kept as text. */
static const tg_type *inferred_type(tg_table_format format, const tg_type *type, tg_arena *arena)
{
    switch (type->kind) {
    case TG_TYPE_VOID:
        return tg_type_of(TG_TYPE_STRING);
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
        return format == TG_FORMAT_JSON ? tg_type_of(TG_TYPE_STRING) : type;
    case TG_TYPE_ARRAY:
        return tg_type_array(arena, inferred_type(format, type->element, arena), true);
    case TG_TYPE_STRUCT: {
        tg_field *fields = TG_NEW_ARRAY(arena, tg_field, type->field_count);
        for (size_t i = 0; i < type->field_count; i++) {
            fields[i] = type->fields[i];
            fields[i].type = inferred_type(format, type->fields[i].type, arena);
        }
        return tg_type_struct(arena, fields, type->field_count);
    }
    default:
        return type;
    }
}

static tg_code fields_of(tg_duckdb_session *session, tg_table_format format, tg_str sql,
                         tg_arena *arena, tg_field **out_fields, size_t *out_count, tg_error *err)
{
    duckdb_prepared_statement statement;
    TG_TRY(tg_duckdb_prepare(session, sql, &statement, err));
    size_t count = (size_t)tg_duckdb.prepared_statement_column_count(statement);
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, count);
    tg_code code = TG_OK;
    for (size_t i = 0; i < count && code == TG_OK; i++) {
        const char *name = tg_duckdb.prepared_statement_column_name(statement, i);
        fields[i].name = tg_str_copy(arena, tg_str_from(name));
        tg_duckdb.free((void *)(uintptr_t)name);
        fields[i].nullable = true;
        duckdb_logical_type type = tg_duckdb.prepared_statement_column_logical_type(statement, i);
        code = tg_duckdb_type_from(type, fields[i].name, arena, &fields[i].type, err);
        tg_duckdb.destroy_logical_type(&type);
        if (code == TG_OK && format != TG_FORMAT_PARQUET) {
            fields[i].type = inferred_type(format, fields[i].type, arena);
        }
    }
    tg_duckdb.destroy_prepare(&statement);
    TG_TRY(code);
    *out_fields = fields;
    *out_count = count;
    return TG_OK;
}

static int compare_fields(const void *a, const void *b)
{
    return tg_str_cmp(((const tg_field *)a)->name, ((const tg_field *)b)->name);
}

/* Columns that Parquet stores as INT96 are instants, whatever DuckDB says. */
static tg_code mark_int96(tg_duckdb_session *session, tg_str path, tg_field *fields, size_t count,
                          tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT name FROM parquet_schema(");
    tg_duckdb_put_paths(&sql, &path, 1);
    tg_buf_addz(&sql, ") WHERE type = 'INT96'");
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err));
    for (;;) {
        tg_auto_chunk duckdb_data_chunk chunk = NULL;
        TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
        if (!chunk) {
            return TG_OK;
        }
        duckdb_vector names = tg_duckdb.data_chunk_get_vector(chunk, 0);
        for (idx_t row = 0; row < tg_duckdb.data_chunk_get_size(chunk); row++) {
            ptrdiff_t i =
                tg_schema_find((tg_schema){fields, count}, tg_duckdb_cell_str(names, row));
            if (i >= 0 && fields[i].type->kind == TG_TYPE_TIMESTAMP_NTZ) {
                fields[i].type = tg_type_of(TG_TYPE_TIMESTAMP);
            }
        }
    }
}

static void put_csv_inference(const tg_source_options *options, const tg_str *paths, size_t count,
                              tg_buf *sql)
{
    tg_buf_addz(sql, "SELECT * FROM read_csv(");
    tg_duckdb_put_paths(sql, paths, count);
    tg_buf_addz(sql, ", auto_detect = true");
    put_csv_options(sql, options);
    if (options->infer_schema) {
        /* As Spark: over all rows, in its order of types, dates in ISO form only. */
        tg_buf_addz(sql,
                    ", sample_size = -1, dateformat = '%Y-%m-%d', auto_type_candidates = "
                    "['BOOLEAN', 'INTEGER', 'BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMPTZ', 'VARCHAR']");
    } else {
        tg_buf_addz(sql, ", all_varchar = true");
    }
    tg_buf_addc(sql, ')');
}

static void put_json_inference(const tg_str *paths, size_t count, tg_buf *sql)
{
    tg_buf_addz(sql, "SELECT * FROM read_json(");
    tg_duckdb_put_paths(sql, paths, count);
    tg_buf_addz(sql, ", format = 'newline_delimited', sample_size = -1, maximum_depth = -1, "
                     "map_inference_threshold = -1, "
                     "field_appearance_threshold = 0, convert_strings_to_integers = false, "
                     "union_by_name = true, "
                     "hive_partitioning = false)");
}

tg_code tg_duckdb_describe_source(tg_duckdb_engine *engine, tg_table *table, tg_arena *arena,
                                  tg_error *err)
{
    tg_source_options options;
    TG_TRY(
        tg_source_options_read(table->format, table->options, table->option_count, &options, err));
    tg_str *paths;
    size_t path_count;
    TG_TRY(source_files(engine, table->format, table->path, arena, &paths, &path_count, err));
    tg_auto_session tg_duckdb_session session = {0};
    TG_TRY(tg_duckdb_session_open(engine, NULL, &session, err));
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    if (table->format == TG_FORMAT_PARQUET) {
        tg_buf_addz(&sql, "SELECT * FROM read_parquet(");
        tg_duckdb_put_paths(&sql, paths,
                            1); /* one file speaks for all, as in Spark without mergeSchema */
        tg_buf_addz(&sql, ", hive_partitioning = false)");
    } else if (table->format == TG_FORMAT_CSV) {
        put_csv_inference(&options, paths, path_count, &sql);
    } else {
        put_json_inference(paths, path_count, &sql);
    }
    tg_field *fields;
    size_t count;
    TG_TRY_CTX(fields_of(&session, table->format, tg_buf_str(&sql), arena, &fields, &count, err),
               err, "while looking at the columns of \"%.*s\"", TG_SARG(table->path));
    if (table->format == TG_FORMAT_PARQUET) {
        TG_TRY(mark_int96(&session, paths[0], fields, count, err));
    } else if (table->format == TG_FORMAT_JSON) {
        qsort(fields, count, sizeof fields[0], compare_fields);
    } else if (!options.header) {
        for (size_t i = 0; i < count; i++) {
            fields[i].name = tg_str_printf(arena, "_c%zu", i);
        }
    }
    table->schema = (tg_schema){fields, count};
    return TG_OK;
}
