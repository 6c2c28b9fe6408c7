/* SPDX-License-Identifier: Apache-2.0 */
/* INSERT and DELETE: programs without a flow's state. A lost race binds and runs the statement
 * again. */
#include "api/standalone.h"

static tg_code target_of(tg_execution *ex, tg_program_target *out_target, tg_error *err)
{
    tg_location location;
    tg_table_facts facts;
    TG_TRY(tg_execution_existing_target(ex, &ex->stmt->name, &location, &facts, err));
    if (tg_ownership_of(&facts).needs_refresh) {
        (void)tg_standalone_needs_refresh(&location, err);
        return tg_error_at(err, ex->stmt->name.span);
    }
    *out_target = (tg_program_target){
        .name = location.full_name,
        .path = location.path,
        .read_version = facts.version,
        .table_id = facts.table_id,
        .schema = facts.schema,
        .partition_columns = facts.partition_columns,
        .partition_count = facts.partition_count,
        .properties = facts.properties,
        .property_count = facts.property_count,
        .comment = facts.comment,
    };
    return TG_OK;
}

static const tg_program *program_of(tg_execution *ex, const tg_program_target *target, tg_step step,
                                    const char *operation, tg_property *parameter)
{
    tg_step *steps = TG_NEW_ARRAY(ex->arena, tg_step, 2);
    steps[0] = step;
    steps[1] = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(ex->arena, tg_program);
    *program = (tg_program){
        .target = *target,
        .steps = steps,
        .step_count = 2,
        .operation = tg_str_from(operation),
        .parameters = parameter,
        .parameter_count = 1,
        .zone = ex->api->zone,
        .now_us = ex->now_us,
    };
    return program;
}

/* ---- INSERT ---------------------------------------------------------------------------------- */

static tg_code arity_error(const tg_stmt *stmt, tg_str table, size_t want, size_t have,
                           tg_error *err)
{
    TG_ERR(err, INSERT_COLUMN_ARITY_MISMATCH,
           "cannot write to %.*s: it takes %zu columns and the query gives %zu", TG_SARG(table),
           want, have);
    (void)tg_error_at(err, stmt->span);
    return tg_error_hint(err, "List the columns, or use INSERT INTO ... BY NAME.");
}

/* The query's output under the names of the columns it is meant for. */
static tg_rel *renamed(tg_arena *arena, const tg_rel *rel, const tg_str *names)
{
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        columns[i] = rel->columns[i];
        columns[i].name = names[i];
    }
    tg_rel *copy = tg_arena_memdup(arena, rel, sizeof(*rel));
    copy->columns = columns;
    return copy;
}

static tg_code names_by_position(tg_execution *ex, const tg_program_target *target, size_t given,
                                 tg_str **out_names, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    size_t want = stmt->insert_column_count ? stmt->insert_column_count : target->schema.count;
    if (want != given) {
        return arity_error(stmt, target->name, want, given, err);
    }
    tg_str *names = TG_NEW_ARRAY(ex->arena, tg_str, want);
    for (size_t i = 0; i < want; i++) {
        names[i] = stmt->insert_column_count ? stmt->insert_columns[i].text
                                             : target->schema.fields[i].name;
    }
    *out_names = names;
    return TG_OK;
}

static tg_code check_names(tg_execution *ex, const tg_program_target *target, const tg_rel *rel,
                           tg_error *err)
{
    tg_str *known = TG_NEW_ARRAY(ex->arena, tg_str, target->schema.count);
    for (size_t i = 0; i < target->schema.count; i++) {
        known[i] = target->schema.fields[i].name;
    }
    for (size_t i = 0; i < rel->column_count; i++) {
        if (tg_schema_find(target->schema, rel->columns[i].name) >= 0) {
            continue;
        }
        TG_ERR(err, UNRESOLVED_COLUMN, "table %.*s has no column `%.*s`", TG_SARG(target->name),
               TG_SARG(rel->columns[i].name));
        tg_str near = tg_str_nearest(rel->columns[i].name, known, target->schema.count);
        if (near.len > 0) {
            (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
        }
        return tg_error_at(err, ex->stmt->span);
    }
    return TG_OK;
}

static tg_code make_insert(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    (void)self;
    tg_program_target target;
    TG_TRY(target_of(ex, &target, err));
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_bound_query bound;
    TG_TRY(tg_sql_bind_query(ex->stmt->query, &options, ex->arena, &bound, err));
    tg_rel *rel = bound.rel;
    if (!ex->stmt->by_name) {
        tg_str *names = NULL;
        TG_TRY(names_by_position(ex, &target, rel->column_count, &names, err));
        rel = renamed(ex->arena, rel, names);
    }
    TG_TRY(check_names(ex, &target, rel, err));
    tg_schema unique;
    TG_TRY(tg_sql_output_schema(rel, ex->arena, &unique, err));
    TG_TRY(tg_sql_project_by_name(rel, target.schema, ex->arena, &rel, err));
    tg_property *parameter = TG_NEW(ex->arena, tg_property);
    *parameter = (tg_property){.key = TG_S("mode"), .value = TG_S("Append")};
    *out_program =
        program_of(ex, &target, (tg_step){.kind = TG_STEP_APPEND, .rel = rel}, "WRITE", parameter);
    return TG_OK;
}

static tg_code run_insert(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    static const char *const WORDS[] = {[TG_INSERT_OVERWRITE] = "INSERT OVERWRITE",
                                        [TG_INSERT_REPLACE_WHERE] = "INSERT ... REPLACE WHERE",
                                        [TG_INSERT_REPLACE_USING] = "INSERT ... REPLACE USING",
                                        [TG_INSERT_REPLACE_ON] = "INSERT ... REPLACE ON"};
    if (stmt->insert_mode != TG_INSERT_INTO || stmt->schema_evolution) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "%s is not available in this release",
               stmt->schema_evolution ? "INSERT WITH SCHEMA EVOLUTION" : WORDS[stmt->insert_mode]);
        return tg_error_at(err, stmt->span);
    }
    tg_run_result run;
    TG_TRY(tg_api_run_program(ex, make_insert, NULL, &run, err));
    ex->result->message =
        tg_arena_printf(ex->arena, "inserted %lld row%s", (long long)run.rows_written,
                        run.rows_written == 1 ? "" : "s");
    return TG_OK;
}

/* ---- DELETE ---------------------------------------------------------------------------------- */

static tg_code make_delete(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    (void)self;
    const tg_stmt *stmt = ex->stmt;
    tg_program_target target;
    TG_TRY(target_of(ex, &target, err));
    tg_step step = {.kind = TG_STEP_REPLACE, .region = tg_region_all()};
    if (stmt->where) {
        tg_str aliases[2] = {stmt->name.parts[stmt->name.count - 1].text, stmt->table_alias.text};
        tg_bind_options options = tg_execution_bind_options(ex, NULL);
        tg_bexpr *predicate;
        bool has_time_function, is_deterministic;
        TG_TRY(tg_sql_bind_predicate(stmt->where, target.schema, aliases,
                                     stmt->table_alias.text.len ? 2 : 1, &options, ex->arena,
                                     &predicate, &has_time_function, &is_deterministic, err));
        if (!is_deterministic) {
            TG_ERR(err, UNSUPPORTED_FEATURE, "DELETE needs a deterministic condition");
            return tg_error_at(err, stmt->where->span);
        }
        predicate = tg_sql_fold(predicate, ex->api->zone, ex->arena);
        step.predicate = predicate;
        step.region = tg_sql_region(predicate, target.schema, ex->api->zone, ex->arena);
    }
    tg_property *parameter = TG_NEW(ex->arena, tg_property);
    *parameter = (tg_property){.key = TG_S("predicate"),
                               .value = stmt->where ? stmt->where_text : TG_S("true")};
    *out_program = program_of(ex, &target, step, "DELETE", parameter);
    return TG_OK;
}

static tg_code run_delete(tg_execution *ex, tg_error *err)
{
    tg_run_result run;
    TG_TRY(tg_api_run_program(ex, make_delete, NULL, &run, err));
    ex->result->message = run.deleted_rows < 0 ? "deleted"
                                               : tg_arena_printf(ex->arena, "deleted %lld row%s",
                                                                 (long long)run.deleted_rows,
                                                                 run.deleted_rows == 1 ? "" : "s");
    return TG_OK;
}

tg_code tg_api_run_dml(tg_execution *ex, tg_error *err)
{
    return ex->stmt->kind == TG_STMT_INSERT ? run_insert(ex, err) : run_delete(ex, err);
}
