/* SPDX-License-Identifier: Apache-2.0 */
/* table_changes() in SQL: which table, which versions. */
#include "api/standalone.h"

/* A number is a version, anything else a time. */
static bool is_version(const tg_expr *bound)
{
    while (bound->kind == TG_EXPR_UNARY && bound->arg_count == 1) {
        bound = bound->args[0];
    }
    return bound->kind == TG_EXPR_LITERAL && tg_type_is_numeric(bound->literal.type);
}

static tg_code read_bound(tg_execution *ex, const tg_expr *bound, tg_change_bound *out,
                          tg_error *err)
{
    tg_value value;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    bool is_number = is_version(bound);
    const tg_type *type = tg_type_of(is_number ? TG_TYPE_BIGINT : TG_TYPE_TIMESTAMP);
    tg_code code = tg_execution_constant(ex, bound, type, &value, &local);
    if (code == TG_UNSUPPORTED) {
        (void)TG_ERR(err, DELTA_CDC_NON_CONSTANT_ARGUMENT,
                     "a bound of table_changes is not a constant");
        return tg_error_at(err, bound->span);
    }
    if (code != TG_OK) {
        return tg_error_pass(&local, err);
    }
    *out = (tg_change_bound){.is_timestamp = !is_number,
                             .value = is_number ? value.as.i64 : tg_floor_div(value.as.i64, 1000)};
    return TG_OK;
}

tg_code tg_execution_table_changes(void *self, const tg_table_changes_source *source,
                                   tg_arena *arena, tg_resolved *out, tg_error *err)
{
    (void)arena;
    tg_execution *ex = self;
    tg_engine *engine = ex->api->engine;
    tg_location location;
    tg_table_facts facts;
    TG_TRY(tg_execution_existing_target(ex, &source->name, &location, &facts, err));
    if (!engine->describe_changes) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "the engine %s reads no change feeds", engine->name);
    }
    tg_change_bound from, to = {0};
    TG_TRY(read_bound(ex, source->from, &from, err));
    if (source->to) {
        TG_TRY(read_bound(ex, source->to, &to, err));
    }
    *out = (tg_resolved){0};
    return engine->describe_changes(engine->self, location.path, &from, source->to ? &to : NULL,
                                    location.full_name, ex->arena, &out->table, err);
}
