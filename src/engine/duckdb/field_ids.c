/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Column mapping by field id: do the files call their columns what the log says?
 *
 * Writers of such tables give columns the physical name and the id, and then names alone will do, at
 * every level. Files that were taken over from elsewhere may have other names: the columns of the
 * table are then found by id. Fields of structs are found by name only; where those differ, or a file
 * has no ids although names do not do, the table is refused.
 */
#include "engine/duckdb/duckdb_int.h"

static void put_wanted(tg_buf *out, const tg_field *fields, size_t count, bool is_top);

static void put_wanted_in(tg_buf *out, const tg_type *type)
{
    if (type->key) {
        put_wanted_in(out, type->key);
    }
    if (type->element) {
        put_wanted_in(out, type->element);
    }
    put_wanted(out, type->fields, type->field_count, false);
}

/* Rows (id, name, is_top) of VALUES, for every level. */
static void put_wanted(tg_buf *out, const tg_field *fields, size_t count, bool is_top)
{
    for (size_t i = 0; i < count; i++) {
        tg_buf_addf(out, "%s(%lld, ", out->len ? ", " : "",
                    (long long)tg_delta_field_id(&fields[i]));
        tg_duckdb_put_string(out, fields[i].name);
        tg_buf_addz(out, is_top ? ", true)" : ", false)");
        put_wanted_in(out, fields[i].type);
    }
}

enum { TOP_DIFFERS, INNER_DIFFERS, LACKS_ID, COUNTS };

static tg_code count_differences(tg_duckdb_session *session, const tg_str *paths, size_t path_count,
                                 tg_schema physical, int64_t *counts, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT, wanted = TG_BUF_INIT;
    put_wanted(&wanted, physical.fields, physical.count, true);
    tg_buf_addf(&sql,
                "WITH w(id, name, top) AS (VALUES %s), p AS (SELECT name, CAST(field_id AS BIGINT) "
                "AS id FROM parquet_schema(",
                tg_buf_cstr(&wanted));
    tg_duckdb_put_paths(&sql, paths, path_count);
    tg_buf_addz(&sql,
                ")), d AS (SELECT w.top, p.id IS NULL AS bare, p.id IS NOT NULL AND (p.id = w.id "
                "AND p.name <> w.name OR NOT EXISTS (SELECT 1 FROM w AS v WHERE v.id = p.id AND "
                "v.name = p.name)) AS differs FROM p JOIN w ON p.id = w.id OR p.name = w.name) "
                "SELECT CAST(count(*) FILTER (WHERE differs AND top) AS BIGINT), CAST(count(*) "
                "FILTER (WHERE differs AND NOT top) AS BIGINT), CAST(count(*) FILTER (WHERE bare) "
                "AS BIGINT) FROM d");
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session, tg_buf_str(&sql), false, &result, err));
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
    for (idx_t i = 0; i < COUNTS; i++) {
        counts[i] = chunk ? tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, i), 0) : 0;
    }
    return TG_OK;
}

tg_code tg_duckdb_check_field_ids(tg_duckdb_session *session, tg_str table_path,
                                  const tg_str *paths, size_t path_count, tg_schema physical,
                                  bool *out_by_id, tg_error *err)
{
    int64_t counts[COUNTS];
    TG_TRY(count_differences(session, paths, path_count, physical, counts, err));
    if (counts[INNER_DIFFERS] || (counts[TOP_DIFFERS] && counts[LACKS_ID])) {
        TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_READ,
                "cannot read Delta table `%.*s`: its columns are mapped by id (feature "
                "columnMapping), and in its files %s",
                TG_SARG(table_path),
                counts[INNER_DIFFERS] ? "fields of structs have other names than the log says"
                                      : "some columns have other names than the log says, and some "
                                        "have no id");
    }
    *out_by_id = counts[TOP_DIFFERS] > 0;
    return TG_OK;
}
