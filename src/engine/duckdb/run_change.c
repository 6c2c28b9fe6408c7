/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CHANGE steps: single rows of the target change.
 *
 * The query of the step runs once, into a temporary table: which row of which file, what happens to
 * it, its new values. From there: is a row named twice, which files hold changed rows (they go), which
 * rows of theirs stay (copied), which rows are new. Everything spills to disk with DuckDB's own
 * tables; files without a changed row are not touched. LET steps are temporary tables as well: what
 * several queries of a program read is computed once, so that they all see the same.
 */
#include "engine/duckdb/run_int.h"

#define CHANGES "\"tidegate changes\""
static const char FILE_NUMBER[] = "tidegate file number";
static const char ROW_NUMBER[] = "tidegate row number";
enum { FIRST_VALUE = 3 }; /* columns c0 file, c1 row, c2 change, then the target's */

static tg_code keep_rows(tg_duckdb_run_state *run, const tg_rel *rel, tg_buf *sql, tg_error *err)
{
    TG_TRY(tg_duckdb_run_session(run, err));
    tg_buf_addz(sql, " AS ");
    int64_t source_rows;
    TG_TRY(tg_duckdb_print_query(&run->session, run->program->zone, rel, true, run->arena, sql,
                                 &source_rows, err));
    run->source_rows =
        source_rows < 0 || run->source_rows < 0 ? -1 : run->source_rows + source_rows;
    return tg_duckdb_execute(&run->session, tg_buf_str(sql), err);
}

tg_code tg_duckdb_run_let(tg_duckdb_run_state *run, const tg_step *step, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "CREATE TEMPORARY TABLE ");
    tg_duckdb_put_let(&sql, step->name);
    return keep_rows(run, step->rel, &sql, err);
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct pair_list {
    tg_arena *arena;
    TG_VEC(int64_t) values; /* two per row */
} pair_list;

/* A query with two BIGINT columns. */
static tg_code read_pairs(tg_duckdb_run_state *run, tg_str sql, pair_list *out, tg_error *err)
{
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(&run->session, sql, false, &result, err));
    for (;;) {
        tg_auto_chunk duckdb_data_chunk chunk = NULL;
        TG_TRY(tg_duckdb_fetch(&run->session, &result, &chunk, err));
        if (!chunk) {
            return TG_OK;
        }
        for (idx_t row = 0; row < tg_duckdb.data_chunk_get_size(chunk); row++) {
            for (idx_t i = 0; i < 2; i++) {
                duckdb_vector column = tg_duckdb.data_chunk_get_vector(chunk, i);
                TG_VEC_PUSH(out->arena, &out->values, tg_duckdb_cell_i64(column, row));
            }
        }
    }
}

static tg_code check_repeated(tg_duckdb_run_state *run, const tg_step *step, tg_error *err)
{
    if (step->may_repeat) {
        return tg_duckdb_execute(&run->session,
                                 TG_S("CREATE OR REPLACE TEMPORARY TABLE " CHANGES
                                      " AS SELECT DISTINCT ON (c0, c1) * FROM " CHANGES
                                      " WHERE c0 IS NOT NULL UNION ALL SELECT * FROM " CHANGES
                                      " WHERE c0 IS NULL"),
                                 err);
    }
    pair_list found = {.arena = run->arena};
    TG_TRY(read_pairs(run,
                      TG_S("SELECT c0, c1 FROM " CHANGES " WHERE c0 IS NOT NULL GROUP BY c0, c1 "
                           "HAVING count(*) > 1 LIMIT 1"),
                      &found, err));
    if (!found.values.count) {
        return TG_OK;
    }
    (void)TG_ERR(err, DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE,
                 "several rows of the source match one row of table %.*s and would change it in "
                 "different ways",
                 TG_SARG(run->program->target.name));
    return tg_error_hint(err,
                         "Leave one source row per target row: with GROUP BY, with row_number() "
                         "= 1, or by a condition of the WHEN MATCHED clauses.");
}

static tg_code count_changes(tg_duckdb_run_state *run, tg_error *err)
{
    pair_list counts = {.arena = run->arena};
    TG_TRY(read_pairs(run,
                      TG_S("SELECT CAST(c2 AS BIGINT), count(*) FROM " CHANGES " GROUP BY ALL"),
                      &counts, err));
    for (size_t i = 0; i + 1 < counts.values.count; i += 2) {
        int64_t change = counts.values.items[i];
        tg_assert(change > 0 && change < TG_CHANGE_COUNT_);
        run->changes[change] = counts.values.items[i + 1];
    }
    run->deleted_rows += run->changes[TG_CHANGE_DELETE] + run->changes[TG_CHANGE_DELETE_BY_SOURCE];
    return TG_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Of files, by their numbers: the rows that no change names. */
static tg_code write_kept_rows(tg_duckdb_run_state *run, const size_t *numbers, size_t count,
                               tg_error *err)
{
    tg_schema schema = run->program->target.schema;
    const tg_delta_add **files = TG_NEW_ARRAY(run->arena, const tg_delta_add *, count);
    for (size_t i = 0; i < count; i++) {
        files[i] = &run->snapshot->files[numbers[i]];
    }
    tg_duckdb_files item = {
        .table_path = run->snapshot->table_path,
        .schema = schema,
        .mapping = tg_delta_mapping_of(&run->snapshot->metadata),
        .partition_columns = run->snapshot->metadata.partition_columns,
        .partition_count = run->snapshot->metadata.partition_count,
        .files = files,
        .file_count = count,
        .file_number = FILE_NUMBER,
        .file_ids = numbers,
        .row_number = ROW_NUMBER,
    };
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT ");
    for (size_t i = 0; i < schema.count; i++) {
        tg_buf_addz(&sql, i ? ", k." : "k.");
        tg_duckdb_put_ident(&sql, schema.fields[i].name);
    }
    tg_buf_addz(&sql, " FROM ");
    TG_TRY(tg_duckdb_put_files(&run->session, &item, run->program->zone, run->arena, &sql, err));
    tg_buf_addf(&sql, " AS k ANTI JOIN " CHANGES " AS c ON c.c0 = k.\"%s\" AND c.c1 = k.\"%s\"",
                FILE_NUMBER, ROW_NUMBER);
    return tg_duckdb_run_copy(run, tg_buf_str(&sql), err);
}

static tg_code rewrite_files(tg_duckdb_run_state *run, const pair_list *hits, tg_error *err)
{
    size_t count = hits->values.count / 2, kept = 0;
    size_t *numbers = TG_NEW_ARRAY(run->arena, size_t, count);
    int64_t known = 0; /* rows that must stay; -1: a file does not tell its rows */
    run->removed = TG_NEW_ARRAY(run->arena, const tg_delta_add *, count);
    for (size_t i = 0; i < count; i++) {
        int64_t number = hits->values.items[2 * i], hit = hits->values.items[2 * i + 1];
        tg_assert(number >= 0 && (size_t)number < run->snapshot->file_count);
        const tg_delta_add *file = &run->snapshot->files[number];
        int64_t rows = tg_delta_live_records(file);
        run->removed[run->removed_count++] = file;
        if (rows != hit) {
            numbers[kept++] = (size_t)number;
            known = known < 0 || rows < 0 ? -1 : known + rows - hit;
        }
        run->physically_deleted_rows += rows >= 0 ? rows : hit;
    }
    int64_t before = run->added.rows;
    if (kept) {
        TG_TRY(write_kept_rows(run, numbers, kept, err));
    }
    if (known >= 0 && run->added.rows - before != known) {
        TG_FAIL(err, INTERNAL_ERROR,
                "%lld rows of table %.*s were to be kept, but %lld were written", (long long)known,
                TG_SARG(run->program->target.name), (long long)(run->added.rows - before));
    }
    return TG_OK;
}

tg_code tg_duckdb_change_files(tg_duckdb_run_state *run, const tg_step *step, tg_error *err)
{
    if (!run->snapshot || run->replaces) {
        TG_FAIL(err, INTERNAL_ERROR, "rows of table %.*s cannot be changed by this program",
                TG_SARG(run->program->target.name));
    }
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "CREATE TEMPORARY TABLE " CHANGES);
    TG_TRY(keep_rows(run, step->rel, &sql, err));
    TG_TRY(check_repeated(run, step, err));
    TG_TRY(count_changes(run, err));
    pair_list hits = {.arena = run->arena};
    TG_TRY(read_pairs(
        run,
        TG_S("SELECT c0, count(*) FROM " CHANGES " WHERE c0 IS NOT NULL GROUP BY c0 ORDER BY c0"),
        &hits, err));
    return hits.values.count ? rewrite_files(run, &hits, err) : TG_OK;
}

tg_code tg_duckdb_write_changed(tg_duckdb_run_state *run, tg_error *err)
{
    if (!run->changes[TG_CHANGE_UPDATE] && !run->changes[TG_CHANGE_UPDATE_BY_SOURCE] &&
        !run->changes[TG_CHANGE_INSERT]) {
        return TG_OK;
    }
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT ");
    tg_duckdb_put_new_columns(&run->program->target, &sql);
    tg_buf_addz(&sql, " FROM (SELECT ");
    for (size_t i = 0; i < run->program->target.schema.count; i++) {
        tg_buf_addf(&sql, "%sc%zu AS c%zu", i ? ", " : "", i + FIRST_VALUE, i);
    }
    tg_buf_addf(&sql, " FROM " CHANGES " WHERE c2 IN (%d, %d, %d))", (int)TG_CHANGE_UPDATE,
                (int)TG_CHANGE_INSERT, (int)TG_CHANGE_UPDATE_BY_SOURCE);
    return tg_duckdb_run_copy(run, tg_buf_str(&sql), err);
}
