/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans without a run: what each flow would do, and to how many rows. The rows are counted by the
 * engine with the very queries that a run would write from, so that the numbers are a run's.
 *
 * Below a table that the run will change nothing can be counted before it has: what stands there now
 * is counted instead, and told to be an estimate.
 */
#include "pipeline/update_int.h"

/* Rows of the table that the step takes away. */
static tg_code count_old(const tg_flow_run *run, const tg_step *step, int64_t *out, tg_error *err)
{
    const tg_engine *engine = run->engine;
    const tg_program_target *target = &run->plan.program->target;
    *out = 0;
    if (target->read_version < 0) {
        return TG_OK;
    }
    const tg_table *table;
    TG_TRY_CTX(engine->describe(engine->self, TG_FORMAT_DELTA, target->path, target->read_version,
                                NULL, 0, target->name, run->arena, &table, err),
               err, "while reading %.*s", TG_SARG(target->name));
    tg_rel *rel = tg_sql_scan(table, 1, run->arena);
    if (step->predicate) { /* over the columns that the table will have */
        TG_TRY(tg_sql_project_by_name(rel, target->schema, run->arena, &rel, err));
        rel = tg_sql_filter_output(rel, step->predicate, run->arena);
    }
    return tg_update_count_rows(run, rel, out, err);
}

static tg_code count_step(tg_flow_run *run, const tg_step *step, tg_error *err)
{
    tg_rel *rel = (tg_rel *)(uintptr_t)step->rel; /* trees are shared, never changed */
    TG_TRY(count_old(run, step, &run->result->rows_to_delete, err));
    return tg_update_count_rows(run, rel, &run->result->rows_to_insert, err);
}

static tg_code count_program(tg_flow_run *run, tg_error *err)
{
    const tg_program *program = run->plan.program;
    for (size_t i = 0; program && i < program->step_count; i++) {
        if (program->steps[i].kind == TG_STEP_REPLACE) {
            return count_step(run, &program->steps[i], err);
        }
    }
    run->result->rows_to_delete = 0;
    run->result->rows_to_insert = 0;
    return TG_OK;
}

/* What a run would be refused, or warned of; an estimate is not judged. */
static tg_code ask_guards(tg_update *u, tg_flow_run *run, tg_error *err)
{
    const tg_flow_result *result = run->result;
    if (!run->plan.program || run->plan.program->is_state_only || result->is_estimate) {
        return TG_OK;
    }
    TG_TRY(tg_guard_rows(run, result->rows_to_delete, result->rows_to_insert, err));
    tg_guard_warn(u, run);
    return TG_OK;
}

/* The query's columns, as the table holds them. */
static tg_schema output_of(const tg_update *u, const tg_flow_run *run)
{
    if (!run->is_bound || !run->plan.program) {
        return (tg_schema){0};
    }
    const tg_rel *rel = run->query.rel;
    tg_schema target = run->plan.program->target.schema;
    tg_field *fields = TG_NEW_ARRAY(u->arena, tg_field, rel->column_count);
    size_t count = 0;
    for (size_t i = 0; i < rel->column_count; i++) {
        ptrdiff_t at = tg_schema_find(target, rel->columns[i].name);
        if (at >= 0) {
            fields[count++] = target.fields[at];
        }
    }
    return (tg_schema){.fields = fields, .count = count};
}

void tg_flow_forecast(tg_update *u, tg_flow_run *run)
{
    tg_flow_result *result = run->result;
    if (result->status == TG_FLOW_FAILED) {
        return;
    }
    if (tg_env_is_cancelled(u->context->env)) {
        tg_update_event_flow(u, run, TG_FLOW_STOPPED, NULL);
        return;
    }
    tg_flow_keep_plan(u, run);
    result->is_estimate = tg_flow_reads_changed_table(u, run->flow);
    result->output = output_of(u, run);
    result->pins = run->input.pins;
    result->pin_count = run->input.pin_count;
    result->definition = run->input.definition;
    tg_update_event_planning(u, run);
    if (u->options->tells_intervals) {
        result->intervals =
            tg_plan_intervals(&run->input, &run->plan, run->arena, &result->interval_count);
        result->target_version = run->input.target.exists ? run->input.target.version : -1;
    }
    if (!u->options->counts_rows) {
        return;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_code code = count_program(run, &err);
    const char *doing = "counting the rows of"; /* a run would meet an error in them too */
    if (code == TG_OK) {
        doing = "planning";
        code = ask_guards(u, run, &err);
    }
    if (code == TG_CANCELLED) {
        tg_update_event_flow(u, run, TG_FLOW_STOPPED, NULL);
    } else if (code != TG_OK && !result->is_estimate) {
        tg_flow_fail(u, run, doing, &err);
    }
}
