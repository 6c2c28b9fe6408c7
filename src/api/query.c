/* SPDX-License-Identifier: Apache-2.0 */
/* SELECT and EXPLAIN. */
#include "api/api_int.h"

static tg_code set_stream(tg_execution *ex, const tg_rel *rel, tg_error *err)
{
    tg_engine *engine = ex->api->engine;
    tg_engine_context context = {.zone = ex->api->zone, .now_us = ex->now_us};
    tg_result *result = ex->result;
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        fields[i] = (tg_field){.name = rel->columns[i].name,
                               .type = rel->columns[i].type,
                               .nullable = rel->columns[i].nullable};
    }
    TG_TRY(engine->query(engine->self, &context, rel, &result->stream, err));
    if (result->stream.get_schema(&result->stream, &result->arrow_schema) != 0) {
        return engine->fetch_error(engine->self, &result->stream, err);
    }
    result->schema = (tg_schema){.fields = fields, .count = rel->column_count};
    return TG_OK;
}

static tg_code explain(tg_execution *ex, const tg_rel *rel, tg_error *err)
{
    static const char *const NAMES[] = {"plan"};
    tg_engine *engine = ex->api->engine;
    tg_engine_context context = {.zone = ex->api->zone, .now_us = ex->now_us};
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addz(&text, "== Bound query ==\n");
    tg_sql_canonical_rel(rel, &text);
    tg_buf_addz(&text, "\n\n== Engine query and plan ==\n");
    TG_TRY(engine->explain(engine->self, &context, rel, &text, err));
    tg_value *value = TG_NEW(ex->arena, tg_value);
    *value = tg_string_value(tg_buf_take(&text, ex->arena));
    tg_execution_set_rows(ex, NAMES, 1, value, 1);
    return TG_OK;
}

tg_code tg_api_run_query(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    bool is_explain = stmt->kind == TG_STMT_EXPLAIN;
    const tg_query *query = is_explain ? (stmt->inner ? stmt->inner->query : NULL) : stmt->query;
    if (!query || (is_explain && stmt->inner->kind != TG_STMT_QUERY)) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "EXPLAIN takes a query in this release");
    }
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_bound_query bound;
    TG_TRY(tg_sql_bind_query(query, &options, ex->arena, &bound, err));
    return is_explain ? explain(ex, bound.rel, err) : set_stream(ex, bound.rel, err);
}
