/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: the replace predicate of one refresh, bound to the target's columns and folded with the
 * update's clock; predicates of states; what other commits touched.
 */
#include "incremental/incremental_int.h"

static tg_window everything(void)
{
    return (tg_window){.predicate = NULL,
                       .text = TG_S("true"),
                       .region = tg_region_all(),
                       .is_deterministic = true};
}

tg_code tg_plan_refuse_override(tg_str flow_name, tg_str predicate_text, tg_error *err)
{
    tg_auto_error tg_error cause = TG_ERROR_INIT;
    if (err) {
        tg_error_move(&cause, err);
    }
    (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_INVALID_EXPRESSION,
                 "the predicate `%.*s` cannot override that of flow %.*s: [%s] %s",
                 TG_SARG(predicate_text), TG_SARG(flow_name), tg_error_name(&cause),
                 cause.message ? cause.message : "");
    if (cause.hint) {
        (void)tg_error_hint(err, "%s", cause.hint);
    }
    return cause.has_span ? tg_error_span(err, cause.span_offset, cause.span_len)
                          : tg_error_span(err, 0, predicate_text.len);
}

/*
 * A constant that no row can be compared with: d >= 'yesterday'. Folding leaves it to the engine,
 * which would raise for the first row; over no row at all it would pass, and the window be nonsense.
 */
static const tg_bexpr *find_impossible(const tg_bexpr *expr)
{
    while (expr) {
        const tg_bexpr *arg = expr->arg_count > 0 ? expr->args[0] : NULL;
        tg_type_kind to = expr->type->kind;
        bool is_checked =
            to == TG_TYPE_DATE || to == TG_TYPE_TIMESTAMP || tg_type_is_integer(expr->type);
        if (arg && expr->kind == TG_B_CAST && expr->cast_mode != TG_CAST_TRY && is_checked &&
            arg->kind == TG_B_LITERAL && arg->type->kind == TG_TYPE_STRING &&
            !arg->literal.is_null) {
            return expr;
        }
        for (size_t i = 1; i < expr->arg_count; i++) {
            const tg_bexpr *found = find_impossible(expr->args[i]);
            if (found) {
                return found;
            }
        }
        expr = arg; /* chains of AND and OR are long on the left */
    }
    return NULL;
}

static tg_code check_constants(const tg_bexpr *predicate, tg_arena *arena, tg_error *err)
{
    const tg_bexpr *cast = find_impossible(predicate);
    if (!cast) {
        return TG_OK;
    }
    (void)TG_ERR(
        err, CAST_INVALID_INPUT,
        "the value '%.*s' of the type STRING cannot be cast to %.*s because it is malformed",
        TG_SARG(cast->args[0]->literal.as.bytes),
        TG_SARG(tg_str_upper(arena, tg_type_text(arena, cast->type))));
    return tg_error_at(err, cast->args[0]->span);
}

tg_code tg_window_bind(const tg_refresh_input *input, tg_schema schema, tg_arena *arena,
                       tg_window *out_window, tg_error *err)
{
    if (input->kind != TG_FLOW_REPLACE_WHERE) {
        *out_window = everything();
        return TG_OK;
    }
    tg_bind_options options = {.now_us = input->now_us, .zone = input->zone, .in_flow = true};
    tg_bexpr *bound;
    bool has_time_function, is_deterministic;
    tg_code code =
        tg_sql_bind_predicate(input->predicate, schema, input->aliases, input->alias_count,
                              &options, arena, &bound, &has_time_function, &is_deterministic, err);
    if (code == TG_OK) {
        bound = tg_sql_fold(bound, input->zone, arena);
        code = check_constants(bound, arena, err);
    }
    if (code != TG_OK) {
        return input->is_override
                   ? tg_plan_refuse_override(input->flow_name, input->predicate_text, err)
                   : code;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_predicate(bound, schema, &text);
    *out_window = (tg_window){
        .predicate = bound,
        .text = tg_buf_take(&text, arena),
        .region = tg_sql_region(bound, schema, input->zone, arena),
        .is_deterministic = is_deterministic,
    };
    return TG_OK;
}

bool tg_window_parse(tg_str text, tg_schema schema, const tg_refresh_input *input, tg_arena *arena,
                     tg_window *out_window)
{
    tg_expr *expr;
    if (tg_sql_parse_expression(text, arena, &expr, NULL) != TG_OK) {
        return false;
    }
    tg_bind_options options = {.now_us = input->now_us, .zone = input->zone, .in_flow = true};
    tg_bexpr *bound;
    bool has_time_function, is_deterministic;
    if (tg_sql_bind_predicate(expr, schema, NULL, 0, &options, arena, &bound, &has_time_function,
                              &is_deterministic, NULL) != TG_OK ||
        has_time_function || !is_deterministic) {
        return false; /* a folded predicate holds neither: this is not one of ours */
    }
    bound = tg_sql_fold(bound, input->zone, arena);
    *out_window = (tg_window){.predicate = bound,
                              .text = text,
                              .region = tg_sql_region(bound, schema, input->zone, arena),
                              .is_deterministic = true};
    return true;
}

bool tg_window_region(tg_str text, tg_schema schema, const tg_refresh_input *input, tg_arena *arena,
                      tg_region *out_region)
{
    if (tg_str_eq(text, TG_S("true"))) {
        *out_region = tg_region_all();
        return true;
    }
    if (tg_str_eq(text, TG_S("false"))) {
        *out_region = tg_region_none();
        return true;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new(); /* the tree is much larger than its region */
    tg_window window;
    if (!tg_window_parse(text, schema, input, scratch, &window)) {
        return false;
    }
    *out_region = tg_region_copy(arena, window.region);
    return true;
}

bool tg_commit_is_change(const tg_commit_fact *commit)
{
    return commit->is_missing || commit->changes_schema || commit->changes_data;
}

tg_region tg_commit_hull(const tg_commit_fact *commit)
{
    return commit->is_missing || commit->changes_schema ? tg_region_all() : commit->hull;
}

/* ---- what guards ask ------------------------------------------------------------------------- */

bool tg_plan_target_window(const tg_refresh_input *input, tg_arena *arena,
                           const tg_bexpr **out_predicate)
{
    tg_window window;
    if (tg_window_bind(input, input->target.schema, arena, &window, NULL) != TG_OK) {
        return false;
    }
    *out_predicate = window.predicate;
    return true;
}

bool tg_plan_clock_widens(const tg_refresh_input *input, const tg_refresh_plan *plan,
                          tg_arena *arena, int64_t *out_clock_us, tg_str *out_window)
{
    const char *missing;
    const tg_flow_state *state = tg_plan_recorded_state(input, arena, &missing);
    if (!state || state->latest_clock_us <= input->now_us || input->kind != TG_FLOW_REPLACE_WHERE) {
        return false;
    }
    tg_refresh_input then = *input;
    then.now_us = state->latest_clock_us;
    tg_schema schema = plan->program ? plan->program->target.schema : input->target.schema;
    tg_window window;
    if (tg_window_bind(&then, schema, arena, &window, NULL) != TG_OK) {
        window = (tg_window){.text = TG_S("?"), .region = tg_region_none()};
    }
    if (tg_str_eq(window.text, plan->whole->text) ||
        tg_region_contains(window.region, plan->whole->region)) {
        return false;
    }
    *out_clock_us = state->latest_clock_us;
    *out_window = window.text;
    return true;
}
