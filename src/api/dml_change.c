/* SPDX-License-Identifier: Apache-2.0 */
/* UPDATE, DELETE, MERGE. */
#include "api/dml_int.h"

static tg_property predicate_parameter(tg_str text)
{
    return (tg_property){.key = TG_S("predicate"), .value = text.len ? text : TG_S("true")};
}

/* [{"predicate":"...","actionType":"update"}, ...] as Delta's history has it. */
static tg_property clause_parameter(tg_execution *ex, tg_merge_when when, const char *key)
{
    static const char *const ACTIONS[] = {"update", "delete", "insert"};
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addc(&text, '[');
    for (size_t i = 0; i < ex->stmt->merge_clause_count; i++) {
        const tg_merge_clause *clause = &ex->stmt->merge_clauses[i];
        if (clause->when != when) {
            continue;
        }
        tg_buf_addz(&text, text.len > 1 ? ",{" : "{");
        if (clause->condition) {
            tg_auto_buf tg_buf condition = TG_BUF_INIT;
            tg_sql_print_expr(clause->condition, &condition);
            tg_buf_addz(&text, "\"predicate\":");
            tg_json_quote(&text, tg_buf_str(&condition));
            tg_buf_addc(&text, ',');
        }
        tg_buf_addf(&text, "\"actionType\":\"%s\"}", ACTIONS[clause->action]);
    }
    tg_buf_addc(&text, ']');
    return (tg_property){.key = tg_str_from(key), .value = tg_buf_take(&text, ex->arena)};
}

/* ---- DELETE ---------------------------------------------------------------------------------- */

/* Without a subquery whole files go where statistics prove that every row is meant. */
static tg_code make_delete(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    (void)self;
    const tg_stmt *stmt = ex->stmt;
    tg_program_target target;
    TG_TRY(tg_dml_target(ex, &target, err));
    tg_property *parameter = TG_NEW(ex->arena, tg_property);
    *parameter = predicate_parameter(stmt->where_text);
    if (tg_sql_expr_has_subquery(stmt->where)) {
        tg_resolver resolver;
        tg_bind_options options = tg_execution_bind_options(ex, &resolver);
        tg_table table = tg_dml_table(&target);
        tg_bound_dml bound;
        TG_TRY(tg_sql_bind_delete(stmt, &table, &options, ex->arena, &bound, err));
        *out_program = tg_dml_change_program(ex, &target, &bound, "DELETE", parameter, 1);
        return TG_OK;
    }
    tg_step step = {.kind = TG_STEP_REPLACE, .region = tg_region_all()};
    if (stmt->where) {
        TG_TRY(tg_dml_replace_step(ex, &target, stmt->where, &step, err));
    }
    *out_program = tg_dml_program(ex, &target, &step, 1, "DELETE", parameter, 1);
    return TG_OK;
}

/* ---- UPDATE, MERGE --------------------------------------------------------------------------- */

static tg_code make_update(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    (void)self;
    tg_program_target target;
    TG_TRY(tg_dml_target(ex, &target, err));
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_table table = tg_dml_table(&target);
    tg_bound_dml bound;
    TG_TRY(tg_sql_bind_update(ex->stmt, &table, &options, ex->arena, &bound, err));
    tg_property *parameter = TG_NEW(ex->arena, tg_property);
    *parameter = predicate_parameter(ex->stmt->where_text);
    *out_program = tg_dml_change_program(ex, &target, &bound, "UPDATE", parameter, 1);
    return TG_OK;
}

static tg_code make_merge(tg_execution *ex, void *self, const tg_program **out_program,
                          tg_error *err)
{
    (void)self;
    tg_program_target target;
    TG_TRY(tg_dml_target(ex, &target, err));
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_table table = tg_dml_table(&target);
    tg_bound_dml bound;
    TG_TRY(tg_sql_bind_merge(ex->stmt, &table, &options, ex->arena, &bound, err));
    TG_TRY(tg_dml_evolve(ex, &target, bound.schema, err));
    tg_property *parameters = TG_NEW_ARRAY(ex->arena, tg_property, 4);
    parameters[0] = predicate_parameter(ex->stmt->where_text);
    parameters[1] = clause_parameter(ex, TG_MERGE_MATCHED, "matchedPredicates");
    parameters[2] = clause_parameter(ex, TG_MERGE_NOT_MATCHED, "notMatchedPredicates");
    parameters[3] =
        clause_parameter(ex, TG_MERGE_NOT_MATCHED_BY_SOURCE, "notMatchedBySourcePredicates");
    *out_program = tg_dml_change_program(ex, &target, &bound, "MERGE", parameters, 4);
    return TG_OK;
}

static const char *counted(tg_execution *ex, const char *what, int64_t rows)
{
    return tg_arena_printf(ex->arena, "%s %lld row%s", what, (long long)rows, rows == 1 ? "" : "s");
}

tg_code tg_api_run_change(tg_execution *ex, tg_error *err)
{
    tg_run_result run;
    switch (ex->stmt->kind) {
    case TG_STMT_UPDATE:
        TG_TRY(tg_api_run_program(ex, make_update, NULL, &run, err));
        ex->result->message = counted(ex, "updated", run.updated_rows);
        return TG_OK;
    case TG_STMT_MERGE:
        TG_TRY(tg_api_run_program(ex, make_merge, NULL, &run, err));
        ex->result->message = tg_arena_printf(
            ex->arena, "merged: %lld updated, %lld deleted, %lld inserted",
            (long long)run.updated_rows, (long long)run.deleted_rows, (long long)run.inserted_rows);
        return TG_OK;
    default:
        TG_TRY(tg_api_run_program(ex, make_delete, NULL, &run, err));
        ex->result->message =
            run.deleted_rows < 0 ? "deleted" : counted(ex, "deleted", run.deleted_rows);
        return TG_OK;
    }
}
