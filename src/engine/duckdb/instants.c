/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants that DuckDB takes for local times: INT96 of older Spark, and timestamps without a logical
 * type that says UTC.
 *
 * Delta's TIMESTAMP is an instant, whatever the file says. DuckDB would put such values into the
 * session's zone, which is right in UTC only. So in other zones the files' own schemas are asked, all
 * at once: either all files that have instants have them so, or none.
 */
#include "engine/duckdb/duckdb_int.h"

static bool has_inner(const tg_type *type, tg_type_kind kind)
{
    if (type->kind == kind || (type->element && has_inner(type->element, kind)) ||
        (type->key && has_inner(type->key, kind))) {
        return true;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (has_inner(type->fields[i].type, kind)) {
            return true;
        }
    }
    return false;
}

/* What is to be looked for in the files' schemas. */
typedef struct wanted {
    tg_buf names;      /* of columns that are instants, as text in SQL */
    tg_buf all;        /* of all columns */
    bool has_instants; /* columns */
    bool has_nested;   /* parts of columns */
    bool is_ambiguous; /* other parts are local times by right */
} wanted;

static void put_name(tg_buf *out, tg_str name)
{
    tg_buf_addz(out, out->len ? ", " : "");
    tg_duckdb_put_string(out, name);
}

static void want(wanted *w, tg_schema physical, const tg_str *stored, size_t stored_count)
{
    for (size_t i = 0; i < physical.count; i++) {
        const tg_field *field = &physical.fields[i];
        put_name(&w->all, field->name);
        if (!tg_str_is_in(field->name, stored, stored_count)) {
            continue;
        }
        if (field->type->kind == TG_TYPE_TIMESTAMP) {
            put_name(&w->names, field->name);
            w->has_instants = true;
        } else if (tg_type_is_nested(field->type)) {
            w->has_nested = w->has_nested || has_inner(field->type, TG_TYPE_TIMESTAMP);
            w->is_ambiguous = w->is_ambiguous || has_inner(field->type, TG_TYPE_TIMESTAMP_NTZ);
        }
    }
}

enum { LOCAL_FILES, OTHER_FILES, NESTED, COUNTS };

static tg_code count_files(tg_duckdb_session *session, const wanted *w, tg_str paths,
                           int64_t *counts, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_str none = TG_S("NULL"), names = w->names.len ? tg_buf_str(&w->names) : none;
    tg_buf_addf(
        &sql,
        "SELECT CAST(count(DISTINCT file_name) FILTER (WHERE is_local AND lower(name) IN "
        "(SELECT lower(unnest([%.*s])))) AS BIGINT), CAST(count(DISTINCT file_name) FILTER "
        "(WHERE NOT is_local AND lower(name) IN (SELECT lower(unnest([%.*s])))) AS BIGINT), ",
        TG_SARG(names), TG_SARG(names));
    tg_buf_addf(
        &sql,
        "CAST(count(*) FILTER (WHERE %s AND lower(name) NOT IN (SELECT "
        "lower(unnest([%.*s])))) AS BIGINT) FROM (SELECT file_name, name, type, duckdb_type "
        "LIKE 'TIMESTAMP%%' AND duckdb_type NOT LIKE '%%TIME ZONE' AS is_local FROM "
        "parquet_schema(%.*s) WHERE duckdb_type IS NOT NULL)",
        w->is_ambiguous ? "type = 'INT96'" : "is_local", TG_SARG(tg_buf_str(&w->all)),
        TG_SARG(paths));
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err));
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
    for (idx_t i = 0; i < COUNTS; i++) {
        counts[i] = chunk ? tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, i), 0) : 0;
    }
    return TG_OK;
}

static tg_code ask_files(tg_duckdb_session *session, const wanted *w, tg_str table_path,
                         tg_str paths, bool *out_are_local, tg_error *err)
{
    int64_t counts[COUNTS] = {0};
    TG_TRY(count_files(session, w, paths, counts, err));
    const char *reason = NULL;
    if (counts[LOCAL_FILES] && counts[OTHER_FILES]) {
        reason = "files with timestamps that do not say that they are in UTC (INT96), and files "
                 "with others";
    } else if (w->has_nested && counts[NESTED]) {
        reason = "timestamps inside nested columns that do not say that they are in UTC (INT96)";
    }
    if (reason) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE, "table \"%.*s\" has %s", TG_SARG(table_path),
                     reason);
        return tg_error_hint(err, "Read it in the time zone UTC, or rewrite the older files.");
    }
    *out_are_local = counts[LOCAL_FILES] > 0;
    return TG_OK;
}

tg_code tg_duckdb_find_local_instants(tg_duckdb_session *session, const tg_zone *zone,
                                      tg_str table_path, const tg_str *paths, size_t path_count,
                                      tg_schema physical, const tg_str *stored, size_t stored_count,
                                      bool *out_are_local, tg_error *err)
{
    wanted w = {TG_BUF_INIT, TG_BUF_INIT, false, false, false};
    *out_are_local = false;
    if (!zone || tg_str_eq(tg_zone_name(zone), TG_S("UTC"))) {
        return TG_OK;
    }
    want(&w, physical, stored, stored_count);
    tg_code code = TG_OK;
    if (w.has_instants || w.has_nested) {
        tg_auto_buf tg_buf list = TG_BUF_INIT;
        tg_duckdb_put_paths(&list, paths, path_count);
        code = ask_files(session, &w, table_path, tg_buf_str(&list), out_are_local, err);
    }
    tg_buf_dispose(&w.names);
    tg_buf_dispose(&w.all);
    return code;
}
