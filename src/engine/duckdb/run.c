/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a program: steps to files to one commit.
 *
 * All REPLACE steps of a program are about the table as it was: a row goes when any of their
 * predicates is TRUE of it, and all new rows come on top. Files of rows that stay and files of new
 * rows are separate, so that the window's edge lies between files the next time. Nothing of the
 * table changes before the commit; when there is none, the files that were written go again. An
 * error after the version became visible leaves them: the table's readers need them.
 */
#include <stdio.h>

#include "engine/duckdb/run_int.h"

tg_code tg_duckdb_run_session(tg_duckdb_run_state *run, tg_error *err)
{
    if (run->session.connection) {
        return TG_OK;
    }
    TG_TRY(tg_duckdb_session_open(run->engine, run->program->zone, &run->session, err));
    run->session.target = run->snapshot;
    return TG_OK;
}

tg_code tg_duckdb_run_copy(tg_duckdb_run_state *run, tg_str sql, tg_error *err)
{
    const tg_program_target *target = &run->program->target;
    TG_VEC(tg_str) indexed = {0};
    for (size_t i = 0; i < run->region.box_count; i++) {
        for (size_t j = 0; j < run->region.boxes[i].domain_count; j++) {
            TG_VEC_PUSH(run->arena, &indexed, run->region.boxes[i].domains[j].column);
        }
    }
    tg_duckdb_copy copy = {
        .table_path = target->path,
        .schema = target->schema,
        .partition_columns = target->partition_columns,
        .partition_count = target->partition_count,
        .properties = target->properties,
        .property_count = target->property_count,
        .indexed = indexed.items,
        .indexed_count = indexed.count,
    };
    TG_TRY(tg_duckdb_check_rows(run, sql, &copy.sql, err));
    tg_duckdb_set_layout(&copy, target->properties, target->property_count, run->arena);
    return tg_duckdb_copy_rows(&run->session, &copy, run->arena, &run->added, err);
}

/* ---- checks before anything is written ------------------------------------------------------- */

static tg_code check_pin(tg_duckdb_run_state *run, const tg_pin *pin, tg_error *err)
{
    tg_table_format format = pin->version >= 0 ? TG_FORMAT_DELTA
                             : pin->table      ? pin->table->format
                                               : TG_FORMAT_PARQUET;
    tg_pin now;
    TG_TRY_CTX(
        tg_duckdb_identity(run->engine, format, pin->path, pin->version, run->arena, &now, err),
        err, "while looking at source %.*s", TG_SARG(pin->name));
    if (now.digest.high != pin->digest.high || now.digest.low != pin->digest.low) {
        TG_FAIL(err, TIDEGATE_SOURCE_CHANGED,
                "source %.*s is not what it was when this update began to read it",
                TG_SARG(pin->name));
    }
    return TG_OK;
}

static tg_code check_steps(const tg_program *program, tg_error *err)
{
    for (size_t i = 0; i < program->step_count; i++) {
        const tg_step *step = &program->steps[i];
        switch (step->kind) {
        case TG_STEP_PIN:
        case TG_STEP_REPLACE:
        case TG_STEP_COMMIT:
            break;
        case TG_STEP_LET:
        case TG_STEP_CHANGE:
        case TG_STEP_APPEND:
            if (!step->rel) {
                TG_FAIL(err, INTERNAL_ERROR, "a step that needs a query has none");
            }
            break;
        default:
            TG_FAIL(err, UNSUPPORTED_FEATURE,
                    "step %d of the program for table %.*s is of a kind that this engine does not "
                    "run yet",
                    (int)i + 1, TG_SARG(program->target.name));
        }
    }
    return TG_OK;
}

/* What is clustered by must be there; a column that goes later sorts nothing. */
static tg_code check_clustering(const tg_program_target *target, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const tg_str *columns;
    size_t count;
    tg_program_clustering(target->properties, target->property_count, scratch, &columns, &count);
    for (size_t i = 0; i < count; i++) {
        if (tg_schema_find(target->schema, columns[i]) < 0) {
            TG_FAIL(err, UNRESOLVED_COLUMN,
                    "clustering column `%.*s` is not a column of table %.*s", TG_SARG(columns[i]),
                    TG_SARG(target->name));
        }
    }
    return TG_OK;
}

tg_code tg_duckdb_check_target(void *self, const tg_program_target *target, tg_error *err)
{
    (void)self;
    TG_TRY(check_clustering(target, err));
    return tg_delta_check_definition(target->schema, target->partition_columns,
                                     target->partition_count, target->properties,
                                     target->property_count, err);
}

static tg_code load_target(tg_duckdb_run_state *run, tg_error *err)
{
    const tg_program_target *target = &run->program->target;
    if (target->read_version < 0) {
        bool exists;
        TG_TRY(tg_fs_exists(run->engine->fs, target->path, &exists, err));
        run->makes_folder = !exists;
        TG_TRY(tg_duckdb_check_target(run->engine, target, err));
        return tg_duckdb_map_columns(run, err);
    }
    TG_TRY(tg_delta_snapshot_load(&run->engine->delta, target->path, target->read_version,
                                  run->arena, &run->snapshot, err));
    if (target->table_id.len && !tg_str_eq(run->snapshot->metadata.id, target->table_id)) {
        TG_FAIL(err, DELTA_METADATA_CHANGED,
                "table %.*s was replaced by another one since it was looked at",
                TG_SARG(target->name));
    }
    return tg_duckdb_map_columns(run, err);
}

/* What a query reads of the target: a winner there would have changed its answer. */
static void note_reads(tg_duckdb_run_state *run, const tg_rel *rel)
{
    const tg_rel **scans;
    size_t count, region_count;
    tg_region *regions;
    tg_sql_scans(rel, run->arena, &scans, &count);
    tg_sql_scan_regions(rel, run->program->zone, run->arena, &regions, &region_count);
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(scans[i]->table->path, run->program->target.path)) {
            run->reads_target = true;
            run->read = tg_region_or(run->arena, run->read,
                                     i < region_count ? regions[i] : tg_region_all());
        }
    }
}

static tg_code look_at_steps(tg_duckdb_run_state *run, tg_error *err)
{
    run->region = tg_region_none();
    run->read = tg_region_none();
    for (size_t i = 0; i < run->program->step_count; i++) {
        const tg_step *step = &run->program->steps[i];
        if (step->kind == TG_STEP_PIN) {
            TG_TRY(check_pin(run, step->pin, err));
        }
        if (step->kind == TG_STEP_REPLACE) {
            run->replaces = true;
            run->replaces_all = run->replaces_all || !step->predicate;
            run->region = tg_region_or(run->arena, run->region,
                                       step->predicate ? step->region : tg_region_all());
        }
        if (step->rel) {
            note_reads(run, step->rel);
        }
    }
    return TG_OK;
}

/* ---- new rows -------------------------------------------------------------------------------- */

static bool is_partition_column(const tg_program_target *target, tg_str column)
{
    for (size_t i = 0; i < target->partition_count; i++) {
        if (tg_str_ieq(target->partition_columns[i], column)) {
            return true;
        }
    }
    return false;
}

/*
 * A Delta log holds '' for NULL in partition values. Such a row would come back as another one,
 * which a window on the column does not hit: it would stay when the window is replaced, and come
 * again with each refresh.
 */
static void put_not_empty(tg_buf *out, const char *name, tg_str column)
{
    tg_auto_buf tg_buf message = TG_BUF_INIT;
    tg_buf_addf(&message,
                "[TG:TIDEGATE_INVALID_PARTITION_VALUE] the empty string cannot be stored in "
                "partition column %.*s, where Delta takes it for NULL: write nullif(%.*s, '')",
                TG_SARG(column), TG_SARG(column));
    tg_buf_addf(out, "CASE WHEN %s = '' THEN error(", name);
    tg_duckdb_put_string(out, tg_buf_str(&message));
    tg_buf_addf(out, ") ELSE %s END", name);
}

static void put_new_column(const tg_program_target *target, size_t index, tg_buf *out)
{
    const tg_field *field = &target->schema.fields[index];
    char name[24];
    (void)snprintf(name, sizeof name, "c%zu", index);
    if (field->type->kind == TG_TYPE_STRING && is_partition_column(target, field->name)) {
        put_not_empty(out, name, field->name);
    } else {
        tg_duckdb_put_checked(out, tg_str_from(name), field);
    }
    tg_buf_addz(out, " AS ");
    tg_duckdb_put_ident(out, field->name);
}

void tg_duckdb_put_new_columns(const tg_program_target *target, tg_buf *out)
{
    for (size_t i = 0; i < target->schema.count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        put_new_column(target, i, out);
    }
}

static void put_row_column(void *self, uint32_t id, tg_buf *out)
{
    (void)self;
    tg_buf_addf(out, "c%u", (unsigned)(id - 1));
}

/* Every new row must be one that the predicate hits: the statement says so, the rows may not. */
static tg_code put_must_match(const tg_duckdb_run_state *run, const tg_step *step, tg_buf *out,
                              tg_error *err)
{
    tg_print_options options = {.dialect = TG_DIALECT_DUCKDB,
                                .zone = tg_zone_name(run->program->zone)};
    tg_buf_addz(out, " WHERE CASE WHEN (");
    TG_TRY(tg_sql_print_bexpr(step->predicate, &options, put_row_column, NULL, out, err));
    tg_buf_addz(out, ") IS TRUE THEN true ELSE error(");
    tg_duckdb_put_string(out,
                         TG_S("[TG:DELTA_REPLACE_WHERE_MISMATCH] a row of the query is not one "
                              "that the REPLACE WHERE predicate selects"));
    tg_buf_addz(out, ") END");
    return TG_OK;
}

static tg_code write_rows(tg_duckdb_run_state *run, const tg_step *step, tg_error *err)
{
    tg_schema schema = run->program->target.schema;
    if (step->rel->column_count != schema.count) {
        TG_FAIL(err, INTERNAL_ERROR, "a step gives %zu columns to table %.*s, which has %zu",
                step->rel->column_count, TG_SARG(run->program->target.name), schema.count);
    }
    TG_TRY(tg_duckdb_run_session(run, err));
    const tg_rel *rel = step->rel;
    /*
     * Whatever the planner did: a window gets its own rows only. A random predicate would not say
     * the same of a row twice; there the planner's filter is the one that counts.
     */
    if (step->predicate && !step->must_match && !tg_sql_bexpr_is_random(step->predicate)) {
        tg_rel *unchanged =
            (tg_rel *)(uintptr_t)step->rel; /* stays as it is: a filter is put above it */
        rel = tg_sql_filter_output(unchanged, step->predicate, run->arena);
    }
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT ");
    tg_duckdb_put_new_columns(&run->program->target, &sql);
    tg_buf_addz(&sql, " FROM (");
    int64_t source_rows;
    TG_TRY(tg_duckdb_print_query(&run->session, run->program->zone, rel, true, run->arena, &sql,
                                 &source_rows, err));
    tg_buf_addc(&sql, ')');
    if (step->must_match && step->predicate) {
        TG_TRY(put_must_match(run, step, &sql, err));
    }
    run->source_rows =
        source_rows < 0 || run->source_rows < 0 ? -1 : run->source_rows + source_rows;
    return tg_duckdb_run_copy(run, tg_buf_str(&sql), err);
}

static tg_code write_new_rows(tg_duckdb_run_state *run, tg_error *err)
{
    for (size_t i = 0; i < run->program->step_count; i++) {
        const tg_step *step = &run->program->steps[i];
        int64_t before = run->added.rows;
        if ((step->kind == TG_STEP_REPLACE || step->kind == TG_STEP_APPEND) && step->rel) {
            TG_TRY(write_rows(run, step, err));
        }
        if (step->kind == TG_STEP_CHANGE) {
            TG_TRY(tg_duckdb_write_changed(run, err));
        }
        run->appended_rows += step->kind == TG_STEP_APPEND ? run->added.rows - before : 0;
    }
    return TG_OK;
}

static tg_code prepare_changes(tg_duckdb_run_state *run, tg_error *err)
{
    for (size_t i = 0; i < run->program->step_count; i++) {
        const tg_step *step = &run->program->steps[i];
        if (step->kind == TG_STEP_LET) {
            TG_TRY(tg_duckdb_run_let(run, step, err));
        } else if (step->kind == TG_STEP_CHANGE) {
            TG_TRY(tg_duckdb_change_files(run, step, err));
        }
    }
    return TG_OK;
}

static tg_code ask_before_commit(tg_duckdb_run_state *run, tg_error *err)
{
    const tg_commit_hooks *hooks = run->hooks;
    if (!hooks || !hooks->before_commit || run->program->is_state_only) {
        return TG_OK;
    }
    const tg_run_result counts = {.committed_version = -1,
                                  .output_rows = run->added.rows - run->kept_rows,
                                  .deleted_rows = run->deleted_rows};
    return hooks->before_commit(hooks->self, &counts, err);
}

static tg_code run_steps(tg_duckdb_run_state *run, int64_t *out_version, tg_error *err)
{
    TG_TRY(look_at_steps(run, err));
    TG_TRY(load_target(run, err));
    if (run->replaces && run->snapshot) {
        TG_TRY(tg_duckdb_replace_files(run, err));
    }
    TG_TRY(prepare_changes(run, err));
    run->kept_rows = run->added.rows;
    TG_TRY(write_new_rows(run, err));
    TG_TRY(ask_before_commit(run, err));
    return tg_duckdb_commit_run(run, out_version, err);
}

static void remove_added(tg_duckdb_run_state *run)
{
    tg_str folder = run->program->target.path;
    for (size_t i = 0; i < run->added.count; i++) {
        (void)tg_fs_remove(run->engine->fs,
                           tg_path_join(run->arena, folder, run->added.items[i].path), NULL);
    }
    if (run->makes_folder) {
        /* The folder of a table that did not come to be, if it is empty. With the slash a file is
         * left alone: a view that was made there first. */
        (void)tg_fs_remove(run->engine->fs, tg_str_printf(run->arena, "%.*s/", TG_SARG(folder)),
                           NULL);
    }
}

tg_code tg_duckdb_run_program(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                              tg_arena *arena, tg_run_result *out_result, tg_error *err)
{
    TG_TRY(check_steps(program, err));
    tg_duckdb_run_state run = {.engine = self, .program = program, .hooks = hooks, .arena = arena};
    int64_t version = -1;
    tg_code code = run_steps(&run, &version, err);
    tg_duckdb_session_close(&run.session);
    if ((code != TG_OK || version < 0) && !run.may_be_visible) {
        remove_added(&run);
    }
    if (code != TG_OK) {
        return tg_error_context(err, "while writing table %.*s", TG_SARG(program->target.name));
    }
    *out_result = (tg_run_result){
        .committed_version = version,
        .output_rows = run.added.rows - run.kept_rows,
        .deleted_rows = run.deleted_rows,
        .updated_rows = run.changes[TG_CHANGE_UPDATE] + run.changes[TG_CHANGE_UPDATE_BY_SOURCE],
        .inserted_rows = run.changes[TG_CHANGE_INSERT] + run.appended_rows,
        .rows_written = run.added.rows,
        .rows_deleted = run.physically_deleted_rows,
        .files_added = (int64_t)run.added.count,
        .files_removed = (int64_t)run.removed_count,
        .bytes_added = run.added.bytes,
        .source_rows_read = run.source_rows,
        .attempts = run.attempts,
    };
    return TG_OK;
}
