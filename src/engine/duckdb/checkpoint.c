/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parquet for checkpoints (tg_parquet of the delta module): actions as JSON lines to and from
 * Parquet.
 *
 * Written: Spark's columns and types, as far as actions of our tables have them. Optional structs
 * that are absent stay NULL; an empty one that is not NULL breaks other readers (reference 1.5).
 * Read: any writer's file, by the columns it has. The *_parsed columns repeat stats and
 * partitionValues and are left out; where a writer left stats out instead, the text is made from
 * what it parsed, with the bounds that DuckDB prints exactly as the log has them.
 */
#include "engine/duckdb/duckdb_int.h"

static const char *const action_names[] = {
    "txn",    "add", "remove", "metaData", "protocol", "domainMetadata", "checkpointMetadata",
    "sidecar"};
enum { ACTION_COUNT = sizeof action_names / sizeof action_names[0] };

#define TEXT_MAP "MAP(VARCHAR, VARCHAR)"
#define VECTOR                                                                        \
    "\"deletionVector\" STRUCT(\"storageType\" VARCHAR, \"pathOrInlineDv\" VARCHAR, " \
    "\"offset\" INTEGER, \"sizeInBytes\" INTEGER, \"cardinality\" BIGINT)"
static const char write_columns[] =
    "{'txn': 'STRUCT(\"appId\" VARCHAR, \"version\" BIGINT, \"lastUpdated\" BIGINT)',"
    " 'add': 'STRUCT(\"path\" VARCHAR, \"partitionValues\" " TEXT_MAP
    ", \"size\" BIGINT, \"modificationTime\" BIGINT,"
    " \"dataChange\" BOOLEAN, \"stats\" VARCHAR, \"tags\" " TEXT_MAP ", " VECTOR ")',"
    " 'remove': 'STRUCT(\"path\" VARCHAR, \"deletionTimestamp\" BIGINT, \"dataChange\" BOOLEAN, "
    "\"extendedFileMetadata\" BOOLEAN,"
    " \"partitionValues\" " TEXT_MAP ", \"size\" BIGINT, " VECTOR ")',"
    " 'metaData': 'STRUCT(\"id\" VARCHAR, \"name\" VARCHAR, \"description\" VARCHAR,"
    " \"format\" STRUCT(\"provider\" VARCHAR, \"options\" " TEXT_MAP "), \"schemaString\" VARCHAR,"
    " \"partitionColumns\" VARCHAR[], \"configuration\" " TEXT_MAP ", \"createdTime\" BIGINT)',"
    " 'protocol': 'STRUCT(\"minReaderVersion\" INTEGER, \"minWriterVersion\" INTEGER, "
    "\"readerFeatures\" VARCHAR[],"
    " \"writerFeatures\" VARCHAR[])',"
    " 'domainMetadata': 'STRUCT(\"domain\" VARCHAR, \"configuration\" VARCHAR, \"removed\" "
    "BOOLEAN)', 'checkpointMetadata': 'STRUCT(\"version\" BIGINT)'}";

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * A classic checkpoint has no column for what only a V2 one holds. The action stands in the first
 * lines or not at all, but who writes it need not know that: the file is asked.
 */
static tg_code put_left_out(tg_duckdb_session *session, tg_str actions_path, tg_buf *out,
                            tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT CAST(count(\"checkpointMetadata\") AS BIGINT) FROM read_json(");
    tg_duckdb_put_paths(&sql, &actions_path, 1);
    tg_buf_addz(&sql, ", format = 'newline_delimited', columns = "
                      "{'checkpointMetadata': 'STRUCT(\"version\" BIGINT)'})");
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err));
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
    bool is_v2 = chunk && tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 0), 0) > 0;
    tg_buf_addz(out, is_v2 ? "" : "EXCLUDE (\"checkpointMetadata\")");
    return TG_OK;
}

static tg_code write_actions(void *self, tg_str actions_path, tg_str parquet_path, tg_error *err)
{
    tg_auto_session tg_duckdb_session session = {0};
    TG_TRY(tg_duckdb_session_open(self, NULL, &session, err));
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "COPY (SELECT * ");
    TG_TRY(put_left_out(&session, actions_path, &sql, err));
    tg_buf_addz(&sql, " FROM read_json(");
    tg_duckdb_put_paths(&sql, &actions_path, 1);
    tg_buf_addf(&sql, ", format = 'newline_delimited', columns = %s)) TO ", write_columns);
    tg_duckdb_put_string(&sql, parquet_path);
    tg_buf_addz(&sql, " (FORMAT parquet, COMPRESSION snappy)");
    return tg_duckdb_execute(&session, tg_buf_str(&sql), err);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The child of a struct by name; the caller destroys it. NULL: there is none. */
static duckdb_logical_type child_of(duckdb_logical_type type, const char *name)
{
    duckdb_logical_type found = NULL;
    idx_t count = type && tg_duckdb.get_type_id(type) == DUCKDB_TYPE_STRUCT
                      ? tg_duckdb.struct_type_child_count(type)
                      : 0;
    for (idx_t i = 0; i < count && !found; i++) {
        char *child = tg_duckdb.struct_type_child_name(type, i);
        if (strcmp(child, name) == 0) {
            found = tg_duckdb.struct_type_child_type(type, i);
        }
        tg_duckdb.free(child);
    }
    return found;
}

/* Does to_json give a bound as Delta's statistics have it? */
static bool is_exact(duckdb_type type)
{
    return type == DUCKDB_TYPE_TINYINT || type == DUCKDB_TYPE_SMALLINT ||
           type == DUCKDB_TYPE_INTEGER || type == DUCKDB_TYPE_BIGINT || type == DUCKDB_TYPE_DATE ||
           type == DUCKDB_TYPE_VARCHAR;
}

/* , 'minValues': {...}: the bounds of top-level columns that come out exactly. */
static void put_bounds(tg_buf *out, const char *name, duckdb_logical_type stats)
{
    duckdb_logical_type bounds = child_of(stats, name);
    idx_t count = bounds && tg_duckdb.get_type_id(bounds) == DUCKDB_TYPE_STRUCT
                      ? tg_duckdb.struct_type_child_count(bounds)
                      : 0;
    bool is_first = true;
    for (idx_t i = 0; i < count; i++) {
        duckdb_logical_type type = tg_duckdb.struct_type_child_type(bounds, i);
        char *column = tg_duckdb.struct_type_child_name(bounds, i);
        if (is_exact(tg_duckdb.get_type_id(type))) {
            if (is_first) {
                tg_buf_addf(out, ", '%s': {", name);
            } else {
                tg_buf_addz(out, ", ");
            }
            is_first = false;
            tg_duckdb_put_string(out, tg_str_from(column));
            tg_buf_addf(out, ": \"add\".\"stats_parsed\".\"%s\".", name);
            tg_duckdb_put_ident(out, tg_str_from(column));
        }
        tg_duckdb.free(column);
        tg_duckdb.destroy_logical_type(&type);
    }
    tg_buf_addz(out, is_first ? "" : "}");
    if (bounds) {
        tg_duckdb.destroy_logical_type(&bounds);
    }
}

static void put_if_there(tg_buf *out, const char *name, duckdb_logical_type stats)
{
    duckdb_logical_type type = child_of(stats, name);
    if (type) {
        tg_buf_addf(out, ", '%s': \"add\".\"stats_parsed\".\"%s\"", name, name);
        tg_duckdb.destroy_logical_type(&type);
    }
}

/* The text of an add's statistics, from stats_parsed where stats is not there. */
static void put_stats(tg_buf *out, duckdb_logical_type add, bool has_text)
{
    duckdb_logical_type parsed = child_of(add, "stats_parsed");
    duckdb_logical_type records = child_of(parsed, "numRecords");
    if (!records) {
        tg_buf_addz(out, has_text ? "\"add\".\"stats\"" : "CAST(NULL AS VARCHAR)");
    } else {
        tg_buf_addz(out, has_text ? "coalesce(\"add\".\"stats\", " : "(");
        tg_buf_addz(out, "CASE WHEN \"add\".\"stats_parsed\" IS NOT NULL THEN CAST(to_json({"
                         "'numRecords': \"add\".\"stats_parsed\".\"numRecords\"");
        put_if_there(out, "tightBounds", parsed);
        put_if_there(out, "nullCount", parsed);
        put_bounds(out, "minValues", parsed);
        put_bounds(out, "maxValues", parsed);
        tg_buf_addz(out, "}) AS VARCHAR) END)");
        tg_duckdb.destroy_logical_type(&records);
    }
    if (parsed) {
        tg_duckdb.destroy_logical_type(&parsed);
    }
}

/* {'path': "add"."path", ...}: the fields of an action that count. */
static void put_action(tg_buf *out, const char *action, duckdb_logical_type type)
{
    idx_t count = tg_duckdb.struct_type_child_count(type);
    bool is_first = true;
    bool is_add = strcmp(action, "add") == 0;
    bool has_stats = false;
    tg_buf_addf(out, "WHEN \"%s\" IS NOT NULL THEN '{\"%s\":' || CAST(to_json({", action, action);
    for (idx_t i = 0; i < count; i++) {
        char *name = tg_duckdb.struct_type_child_name(type, i);
        bool is_stats = is_add && strcmp(name, "stats") == 0;
        has_stats = has_stats || is_stats;
        if (!is_stats && !tg_str_ends(tg_str_from(name), TG_S("_parsed"))) {
            tg_buf_addz(out, is_first ? "" : ", ");
            is_first = false;
            tg_duckdb_put_string(out, tg_str_from(name));
            tg_buf_addf(out, ": \"%s\".", action);
            tg_duckdb_put_ident(out, tg_str_from(name));
        }
        tg_duckdb.free(name);
    }
    if (is_add) {
        tg_buf_addz(out, is_first ? "'stats': " : ", 'stats': ");
        put_stats(out, type, has_stats);
    }
    tg_buf_addz(out, "}) AS VARCHAR) || '}' ");
}

static bool is_action(const char *name)
{
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(name, action_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* CASE WHEN "add" IS NOT NULL THEN '{"add":...}' ... END, from the columns that the files have. */
static tg_code put_actions(tg_duckdb_session *session, tg_str from, tg_buf *out, tg_error *err)
{
    tg_auto_buf tg_buf all = TG_BUF_INIT;
    tg_buf_addz(&all, "SELECT * FROM ");
    tg_buf_adds(&all, from);
    duckdb_prepared_statement statement;
    TG_TRY(tg_duckdb_prepare(session, tg_buf_str(&all), &statement, err));
    bool has_action = false;
    tg_buf_addz(out, "CASE ");
    for (idx_t i = 0; i < tg_duckdb.prepared_statement_column_count(statement); i++) {
        const char *name = tg_duckdb.prepared_statement_column_name(statement, i);
        duckdb_logical_type type = tg_duckdb.prepared_statement_column_logical_type(statement, i);
        if (is_action(name) && tg_duckdb.get_type_id(type) == DUCKDB_TYPE_STRUCT) {
            put_action(out, name, type);
            has_action = true;
        }
        tg_duckdb.destroy_logical_type(&type);
        tg_duckdb.free((void *)(uintptr_t)name);
    }
    tg_buf_addz(out, "END");
    tg_duckdb.destroy_prepare(&statement);
    if (!has_action) {
        TG_FAIL(err, FAILED_READ_FILE, "a checkpoint has no column for any action of a Delta log");
    }
    return TG_OK;
}

static tg_code read_actions(void *self, const tg_str *paths, size_t path_count,
                            tg_code (*row)(void *ctx, tg_str json, tg_error *err), void *ctx,
                            tg_error *err)
{
    tg_auto_session tg_duckdb_session session = {0};
    TG_TRY(tg_duckdb_session_open(self, NULL, &session, err));
    tg_auto_buf tg_buf from = TG_BUF_INIT;
    tg_buf_addz(&from, "read_parquet(");
    tg_duckdb_put_paths(&from, paths, path_count);
    tg_buf_addz(&from, ", union_by_name = true, hive_partitioning = false)");
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT j FROM (SELECT ");
    TG_TRY(put_actions(&session, tg_buf_str(&from), &sql, err));
    tg_buf_addz(&sql, " AS j FROM ");
    tg_buf_adds(&sql, tg_buf_str(&from));
    tg_buf_addz(&sql, ") WHERE j IS NOT NULL");
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(&session, tg_buf_str(&sql), true, &result, err));
    for (;;) {
        tg_auto_chunk duckdb_data_chunk chunk = NULL;
        TG_TRY(tg_duckdb_fetch(&session, &result, &chunk, err));
        if (!chunk) {
            return TG_OK;
        }
        duckdb_vector lines = tg_duckdb.data_chunk_get_vector(chunk, 0);
        for (idx_t i = 0; i < tg_duckdb.data_chunk_get_size(chunk); i++) {
            TG_TRY(row(ctx, tg_duckdb_cell_str(lines, i), err));
        }
    }
}

tg_code tg_duckdb_parquet(void *self, const tg_parquet **out, tg_error *err)
{
    (void)err;
    tg_duckdb_engine *engine = self;
    engine->parquet =
        (tg_parquet){.self = engine, .read_actions = read_actions, .write_actions = write_actions};
    *out = &engine->parquet;
    return TG_OK;
}
