/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as text, for --explain and golden files: what matters for the answer, nothing that
 * differs from run to run.
 */
#include "program/program.h"

static void put_target(const tg_program *program, tg_buf *out)
{
    const tg_program_target *target = &program->target;
    tg_buf_addf(out, "target %.*s ", TG_SARG(target->name));
    if (target->read_version < 0) {
        tg_buf_addz(out, "(new)");
    } else {
        tg_buf_addf(out, "@ %lld", (long long)target->read_version);
    }
    tg_buf_addz(out,
                target->changes_metadata && target->read_version >= 0 ? ", new definition" : "");
    tg_buf_addc(out, '\n');
}

/* The definition is shown where it becomes the table's. */
static void put_definition(const tg_program *program, tg_arena *arena, tg_buf *out)
{
    const tg_program_target *target = &program->target;
    if (target->read_version >= 0 && !target->changes_metadata) {
        return;
    }
    for (size_t i = 0; i < target->schema.count; i++) {
        const tg_field *field = &target->schema.fields[i];
        tg_str type = tg_type_ddl(arena, field->type);
        tg_buf_addf(out, "  column %.*s %.*s%s\n", TG_SARG(field->name), TG_SARG(type),
                    field->nullable ? "" : " NOT NULL");
    }
    for (size_t i = 0; i < target->partition_count; i++) {
        tg_buf_addf(out, "%s%.*s", i ? ", " : "  partitioned by ",
                    TG_SARG(target->partition_columns[i]));
    }
    tg_buf_addz(out, target->partition_count ? "\n" : "");
    for (size_t i = 0; i < target->property_count; i++) {
        tg_buf_addf(out, "  property %.*s = %.*s\n", TG_SARG(target->properties[i].key),
                    TG_SARG(target->properties[i].value));
    }
}

static void put_query(const tg_step *step, tg_buf *out)
{
    if (!step->rel) {
        tg_buf_addz(out, "nothing");
        return;
    }
    tg_sql_canonical_rel(step->rel, out);
}

static void put_predicate(const tg_program *program, const tg_step *step, tg_buf *out)
{
    if (step->predicate) {
        tg_sql_print_predicate(step->predicate, program->target.schema, out);
    } else {
        tg_buf_addz(out, "true");
    }
}

static void put_step(const tg_program *program, const tg_step *step, tg_buf *out)
{
    switch (step->kind) {
    case TG_STEP_PIN:
        tg_buf_addf(out, "pin %.*s", TG_SARG(step->pin->name));
        if (step->pin->version >= 0) {
            tg_buf_addf(out, " @ %lld", (long long)step->pin->version);
        }
        break;
    case TG_STEP_LET:
        tg_buf_addf(out, "let %.*s%s = ", TG_SARG(step->name),
                    step->materialised ? " (materialised)" : "");
        put_query(step, out);
        break;
    case TG_STEP_REPLACE:
        tg_buf_addz(out, "replace where ");
        put_predicate(program, step, out);
        tg_buf_addz(out, " by ");
        put_query(step, out);
        break;
    case TG_STEP_APPEND:
        tg_buf_addz(out, "append ");
        put_query(step, out);
        break;
    case TG_STEP_CHANGE:
        tg_buf_addz(out, "change ");
        put_query(step, out);
        break;
    case TG_STEP_COMMIT:
        tg_buf_addf(out, "commit %.*s%s", TG_SARG(program->operation),
                    program->is_state_only ? ", state only" : "");
        break;
    }
    tg_buf_addc(out, '\n');
}

void tg_program_print(const tg_program *program, tg_arena *arena, tg_buf *out)
{
    put_target(program, out);
    put_definition(program, arena, out);
    for (size_t i = 0; i < program->step_count; i++) {
        put_step(program, &program->steps[i], out);
    }
}
