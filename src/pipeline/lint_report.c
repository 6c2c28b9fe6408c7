/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When lints are looked for, and where they are told. Only a flow that was bound anyway is looked at:
 * whoever has nothing to do pays nothing. A run tells of a definition once, when it is new.
 */
#include "pipeline/lint.h"
#include "pipeline/update_int.h"

/* Has the table no state of this very definition? */
static bool is_new(const tg_update *u, const tg_flow_run *run)
{
    tg_flow_state state;
    tg_str definition = tg_digest_text(u->arena, run->input.definition);
    return !tg_flow_state_from_json(run->input.state.state, u->arena, &state) ||
           !tg_str_eq(state.definition, definition) ||
           !tg_str_eq(state.predicate, run->flow->spec->predicate_text);
}

static void tell(tg_update *u, const tg_flow_run *run, tg_lint *lint)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_LINT, "%s (%s): %.*s", lint->code, lint->name,
                 TG_SARG(lint->message));
    (void)tg_error_hint(&err, "%.*s", TG_SARG(lint->fix));
    (void)tg_error_at(&err, lint->span);
    tg_error_locate(&err, run->flow->file->shown_name, run->flow->file->text);
    lint->line = err.place.line;
    lint->column = err.place.column;
    tg_diags_add_warning(u->diags, &err);
}

void tg_flow_lint(tg_update *u, tg_flow_run *run)
{
    bool is_asked = u->options->is_dry_run ? !u->options->tells_intervals : is_new(u, run);
    if (!run->is_bound || !is_asked) {
        return;
    }
    const tg_bind_options options = {.now_us = u->now_us, .zone = u->zone, .in_flow = true};
    const tg_lint *found;
    size_t count;
    tg_lint_flow(run->flow, &run->query, &options, u->arena, &found, &count);
    if (count == 0) {
        return;
    }
    tg_lint *lints = tg_arena_memdup(u->arena, found, count * sizeof(*lints));
    for (size_t i = 0; i < count; i++) {
        tell(u, run, &lints[i]);
    }
    run->result->lints = lints;
    run->result->lint_count = count;
}

void tg_lints_json(tg_json_out *out, const tg_flow_result *result)
{
    tg_json_keyz(out, "lints");
    tg_json_array(out);
    for (size_t i = 0; i < result->lint_count; i++) {
        const tg_lint *lint = &result->lints[i];
        tg_json_object(out);
        tg_json_kstrz(out, "code", lint->code);
        tg_json_kstrz(out, "name", lint->name);
        tg_json_kstr(out, "message", lint->message);
        tg_json_kstr(out, "fix", lint->fix);
        tg_json_kstrz(out, "file", result->flow->file->shown_name);
        tg_json_ki64(out, "line", lint->line);
        tg_json_ki64(out, "column", lint->column);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}
