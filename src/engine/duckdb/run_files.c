/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which old files a REPLACE removes. Three kinds:
 * - outside: no row can be hit, by partition values and statistics: untouched, not read;
 * - inside: every row is hit, proved the same way: removed, not read;
 * - between: one query counts the hit rows of each. Without any the file stays, with nothing else
 *   it goes, and the rows of the others that are not hit are written to new files.
 */
#include "engine/duckdb/run_int.h"

typedef struct between_file {
    const tg_delta_add *file;
    int64_t rows, hits;
    bool is_split; /* some of its rows stay */
} between_file;

static void remove_file(tg_duckdb_run_state *run, const tg_delta_add *file, int64_t rows,
                        int64_t hits)
{
    run->removed[run->removed_count++] = file;
    run->physically_deleted_rows += rows;
    run->deleted_rows += hits;
}

/* Sorts the files; those between go to out_between. */
static void sort_files(tg_duckdb_run_state *run, between_file **out_between, size_t *out_count)
{
    const tg_delta_snapshot *snapshot = run->snapshot;
    TG_VEC(between_file) between = {0};
    run->removed = TG_NEW_ARRAY(run->arena, const tg_delta_add *, snapshot->file_count);
    for (size_t i = 0; i < snapshot->file_count; i++) {
        const tg_delta_add *file = &snapshot->files[i];
        tg_region rows = run->replaces_all
                             ? tg_region_all()
                             : tg_delta_file_region(snapshot, file, run->program->zone, run->arena);
        if (!run->replaces_all && !tg_region_meets(run->region, rows)) {
            continue;
        }
        int64_t records = tg_delta_live_records(file);
        /*
         * An upper bound of the region contains more rows than the predicate hits: it proves
         * nothing here.
         */
        bool is_inside = run->replaces_all ||
                         (!run->region.is_upper_bound && tg_region_contains(run->region, rows));
        if (is_inside && records >= 0) {
            remove_file(run, file, records, records);
        } else {
            TG_VEC_PUSH(run->arena, &between, ((between_file){.file = file}));
        }
    }
    *out_between = between.items;
    *out_count = between.count;
}

/* ---- queries over old files ------------------------------------------------------------------ */

static void put_target_column(void *self, uint32_t id, tg_buf *out)
{
    const tg_duckdb_run_state *run = self;
    tg_duckdb_put_ident(out, run->program->target.schema.fields[id - 1].name);
}

/* "(p1) OR (p2)": is a row of the target hit by a REPLACE step? */
static tg_code put_hit(tg_duckdb_run_state *run, tg_buf *out, tg_error *err)
{
    if (run->replaces_all) {
        tg_buf_addz(out, "true");
        return TG_OK;
    }
    tg_print_options options = {.dialect = TG_DIALECT_DUCKDB,
                                .zone = tg_zone_name(run->program->zone)};
    bool is_first = true;
    for (size_t i = 0; i < run->program->step_count; i++) {
        const tg_step *step = &run->program->steps[i];
        if (step->kind == TG_STEP_REPLACE) {
            tg_buf_addz(out, is_first ? "(" : " OR (");
            TG_TRY(tg_sql_print_bexpr(step->predicate, &options, put_target_column, run, out, err));
            tg_buf_addc(out, ')');
            is_first = false;
        }
    }
    return TG_OK;
}

/* file_number as in tg_duckdb_files. */
static tg_code put_old_files(tg_duckdb_run_state *run, const tg_delta_add *const *files,
                             size_t count, const char *file_number, tg_buf *out, tg_error *err)
{
    tg_duckdb_files item = {
        .table_path = run->snapshot->table_path,
        .schema = run->program->target.schema,
        .mapping = tg_delta_mapping_of(&run->snapshot->metadata),
        .partition_columns = run->snapshot->metadata.partition_columns,
        .partition_count = run->snapshot->metadata.partition_count,
        .files = files,
        .file_count = count,
        .file_number = file_number,
    };
    return tg_duckdb_put_files(&run->session, &item, run->program->zone, run->arena, out, err);
}

static tg_code read_counts(tg_duckdb_run_state *run, tg_str sql, between_file *between,
                           size_t count, tg_error *err)
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
            int64_t file = tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 0), row);
            tg_assert(file >= 0 && (size_t)file < count);
            between[file].rows = tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 1), row);
            between[file].hits = tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 2), row);
        }
    }
}

/* No column of a Delta table can have blanks in its name. */
static const char NUMBER[] = "tidegate file number";
#define DECIDED "\"tidegate decided\""
#define IS_HIT "\"tidegate is hit\""

static bool is_random(const tg_program *program)
{
    for (size_t i = 0; i < program->step_count; i++) {
        const tg_step *step = &program->steps[i];
        if (step->kind == TG_STEP_REPLACE && step->predicate &&
            tg_sql_bexpr_is_random(step->predicate)) {
            return true;
        }
    }
    return false;
}

/*
 * rand() has another value each time it is asked, and the hit rows of a file are asked for twice: to
 * be counted, and to be left out. So each row's answer is kept. The table goes with the session.
 */
static tg_code decide_once(tg_duckdb_run_state *run, const tg_delta_add *const *files, size_t count,
                           tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "CREATE TEMPORARY TABLE " DECIDED " AS SELECT *, (");
    TG_TRY(put_hit(run, &sql, err));
    tg_buf_addz(&sql, ") IS TRUE AS " IS_HIT " FROM ");
    TG_TRY(put_old_files(run, files, count, NUMBER, &sql, err));
    tg_auto_result duckdb_result result = {0};
    return tg_duckdb_run(&run->session, tg_buf_str(&sql), false, &result, err);
}

static tg_code count_hits(tg_duckdb_run_state *run, const tg_delta_add *const *files,
                          between_file *between, size_t count, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addf(&sql, "SELECT \"%s\", count(*), count(*) FILTER (WHERE ", NUMBER);
    if (is_random(run->program)) {
        TG_TRY(decide_once(run, files, count, err));
        tg_buf_addz(&sql, IS_HIT ") FROM " DECIDED);
    } else {
        TG_TRY(put_hit(run, &sql, err));
        tg_buf_addz(&sql, ") FROM ");
        TG_TRY(put_old_files(run, files, count, NUMBER, &sql, err));
    }
    tg_buf_addz(&sql, " GROUP BY ALL");
    return read_counts(run, tg_buf_str(&sql), between, count, err);
}

static void put_numbers(const between_file *between, size_t count, tg_buf *out)
{
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        if (between[i].is_split) {
            tg_buf_addf(out, is_first ? "%zu" : ", %zu", i);
            is_first = false;
        }
    }
}

/* Of the files that are split: the rows that are not hit. */
static tg_code write_kept_rows(tg_duckdb_run_state *run, const between_file *between, size_t count,
                               tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT ");
    tg_schema schema = run->program->target.schema;
    for (size_t i = 0; i < schema.count; i++) {
        tg_buf_addz(&sql, i ? ", " : "");
        tg_duckdb_put_ident(&sql, schema.fields[i].name);
    }
    if (is_random(run->program)) {
        tg_buf_addf(&sql, " FROM " DECIDED " WHERE NOT " IS_HIT " AND \"%s\" IN (", NUMBER);
        put_numbers(between, count, &sql);
        tg_buf_addc(&sql, ')');
        return tg_duckdb_run_copy(run, tg_buf_str(&sql), err);
    }
    TG_VEC(const tg_delta_add *) files = {0};
    for (size_t i = 0; i < count; i++) {
        if (between[i].is_split) {
            TG_VEC_PUSH(run->arena, &files, between[i].file);
        }
    }
    tg_buf_addz(&sql, " FROM ");
    TG_TRY(put_old_files(run, files.items, files.count, NULL, &sql, err));
    tg_buf_addz(&sql, " WHERE (");
    TG_TRY(put_hit(run, &sql, err));
    tg_buf_addz(&sql, ") IS NOT TRUE");
    return tg_duckdb_run_copy(run, tg_buf_str(&sql), err);
}

/* ---- deciding -------------------------------------------------------------------------------- */

tg_code tg_duckdb_replace_files(tg_duckdb_run_state *run, tg_error *err)
{
    between_file *between;
    size_t count;
    sort_files(run, &between, &count);
    if (!count) {
        return TG_OK;
    }
    TG_TRY(tg_duckdb_run_session(run, err));
    const tg_delta_add **files = TG_NEW_ARRAY(run->arena, const tg_delta_add *, count);
    for (size_t i = 0; i < count; i++) {
        files[i] = between[i].file;
    }
    TG_TRY(count_hits(run, files, between, count, err));
    size_t kept = 0;
    int64_t kept_rows = 0;
    for (size_t i = 0; i < count; i++) {
        if (!between[i].hits && !run->replaces_all) {
            continue;
        }
        remove_file(run, between[i].file, between[i].rows, between[i].hits);
        if (between[i].hits < between[i].rows) {
            between[i].is_split = true;
            kept++;
            kept_rows += between[i].rows - between[i].hits;
        }
    }
    if (!kept) {
        return TG_OK;
    }
    int64_t before = run->added.rows;
    TG_TRY(write_kept_rows(run, between, count, err));
    if (run->added.rows - before != kept_rows) {
        TG_FAIL(err, INTERNAL_ERROR,
                "%lld rows of table %.*s were to be kept, but %lld were written",
                (long long)kept_rows, TG_SARG(run->program->target.name),
                (long long)(run->added.rows - before));
    }
    return TG_OK;
}
