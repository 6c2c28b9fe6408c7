/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One statement: parse, look up names, run, give rows. Tables are pinned at their newest version
 * once per statement.
 */
#include "api/standalone.h"

/* ---- names ----------------------------------------------------------------------------------- */

tg_code tg_execution_constant(tg_execution *ex, const tg_expr *expr, const tg_type *type,
                              tg_value *out_value, tg_error *err)
{
    TG_TRY(tg_execution_constant_or_null(ex, expr, type, "AS OF", out_value, err));
    if (out_value->is_null) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "AS OF needs a constant");
        return tg_error_at(err, expr->span);
    }
    return TG_OK;
}

tg_code tg_execution_constant_or_null(tg_execution *ex, const tg_expr *expr, const tg_type *type,
                                      const char *what, tg_value *out_value, tg_error *err)
{
    tg_expr *arg = tg_arena_memdup(ex->arena, expr, sizeof(*expr));
    tg_expr cast = {
        .kind = TG_EXPR_CAST, .span = expr->span, .args = &arg, .arg_count = 1, .type = type};
    tg_select_item item = {.expr = &cast};
    tg_select select = {.span = expr->span, .items = &item, .item_count = 1};
    tg_query_body body = {.kind = TG_BODY_SELECT, .span = expr->span, .select = &select};
    tg_query query = {.span = expr->span, .body = &body};
    tg_bind_options options = tg_execution_bind_options(ex, NULL);
    tg_bound_query bound;
    TG_TRY(tg_sql_bind_query(&query, &options, ex->arena, &bound, err));
    const tg_bexpr *folded = tg_sql_fold(bound.rel->exprs[0], ex->api->zone, ex->arena);
    if (folded->kind != TG_B_LITERAL) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "%s needs a constant", what);
        return tg_error_at(err, expr->span);
    }
    *out_value = folded->literal;
    return TG_OK;
}

static tg_code version_of(tg_execution *ex, const tg_relation *relation,
                          const tg_location *location, int64_t *out_version, tg_error *err)
{
    *out_version = -1;
    const tg_expr *at = relation->version ? relation->version : relation->timestamp;
    if (!at) {
        return TG_OK;
    }
    if (location->format != TG_FORMAT_DELTA) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "time travel needs a Delta table; %.*s is not one",
                TG_SARG(location->full_name));
    }
    tg_value value = {0};
    TG_TRY(tg_execution_constant(
        ex, at, tg_type_of(relation->version ? TG_TYPE_BIGINT : TG_TYPE_TIMESTAMP), &value, err));
    if (relation->version) {
        *out_version = value.as.i64;
        return TG_OK;
    }
    tg_engine *engine = ex->api->engine;
    return engine->version_at(engine->self, location->path, value.as.i64 / 1000, out_version, err);
}

static tg_code describe(tg_execution *ex, const tg_location *location, int64_t version,
                        const tg_table **out_table, tg_error *err)
{
    if (ex->event_lines && tg_str_eq(location->path, ex->event_lines->path)) {
        *out_table = ex->event_lines;
        return TG_OK;
    }
    tg_str key = tg_str_printf(ex->arena, "%.*s@%lld", TG_SARG(location->path), (long long)version);
    *out_table = tg_map_get(&ex->tables, key);
    if (*out_table) {
        return TG_OK;
    }
    tg_engine *engine = ex->api->engine;
    TG_TRY(engine->describe(engine->self, location->format, location->path, version,
                            location->options, location->option_count, location->full_name,
                            ex->arena, out_table, err));
    tg_map_put(&ex->tables, key, (void *)(uintptr_t)*out_table);
    return TG_OK;
}

static tg_code not_found(tg_execution *ex, const tg_name *name, tg_error *err)
{
    const tg_map *views = &ex->api->views;
    tg_str *names = TG_NEW_ARRAY(ex->arena, tg_str, views->used_count);
    size_t count = 0;
    for (size_t i = 0; i < views->used_count; i++) {
        if (!views->entries[i].removed) {
            names[count++] = views->entries[i].key;
        }
    }
    const tg_catalog *scope = tg_execution_scope(ex, name);
    tg_code code = tg_catalog_not_found(scope ? scope : &ex->api->catalog, name, names,
                                        scope ? 0 : count, err);
    (void)tg_error_at(err, name->span);
    return code;
}

static bool is_missing(const tg_location *location, const tg_error *err)
{
    return location->format == TG_FORMAT_DELTA && location->is_managed && err->code == TG_NOT_FOUND;
}

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    (void)arena;
    tg_execution *ex = self;
    *out = (tg_resolved){0};
    const tg_catalog *scope = tg_execution_scope(ex, &relation->name);
    if (relation->name.count == 1 && !scope) {
        const tg_temp_view *view = tg_map_get(&ex->api->views, relation->name.parts[0].text);
        if (view && ex->creating_view.len) {
            TG_ERR(err, INVALID_TEMP_OBJ_REFERENCE,
                   "view %.*s cannot read the temporary view `%.*s`, which only this session knows",
                   TG_SARG(ex->creating_view), TG_SARG(view->name));
            (void)tg_error_at(err, relation->name.span);
            return tg_error_hint(err, "Make both views temporary, or neither.");
        }
        if (view) {
            *out = (tg_resolved){.view = view->query,
                                 .view_name = view->name,
                                 .view_text = view->text,
                                 .view_file = view->file};
            return TG_OK;
        }
    }
    tg_location location;
    const tg_view *persisted;
    scope = scope ? scope : &ex->api->catalog;
    TG_TRY(tg_catalog_locate(scope, &relation->name, ex->arena, &location, err));
    TG_TRY(tg_view_load(scope, &location, ex->arena, &persisted, err));
    if (persisted && (relation->version || relation->timestamp)) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "a view has no versions: %.*s is one",
               TG_SARG(location.full_name));
        return tg_error_at(err, relation->span);
    }
    if (persisted) {
        return tg_execution_expand_view(ex, persisted, &relation->name, out, err);
    }
    int64_t version;
    TG_TRY(version_of(ex, relation, &location, &version, err));
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    tg_code code = describe(ex, &location, version, &out->table, &inner);
    if (code == TG_OK && out->table->needs_refresh && !ex->describes) {
        return tg_standalone_needs_refresh(&location, err);
    }
    if (code != TG_OK && version < 0 && is_missing(&location, &inner)) {
        return not_found(ex, &relation->name, err);
    }
    if (code != TG_OK && err) {
        tg_error_move(err, &inner);
    }
    return code;
}

tg_bind_options tg_execution_bind_options(tg_execution *ex, tg_resolver *resolver)
{
    if (resolver) {
        *resolver = (tg_resolver){.resolve = resolve,
                                  .event_log = tg_execution_event_log,
                                  .table_changes = tg_execution_table_changes,
                                  .self = ex};
    }
    return (tg_bind_options){.resolver = resolver, .now_us = ex->now_us, .zone = ex->api->zone};
}

tg_code tg_execution_table(tg_execution *ex, const tg_name *name, const tg_table **out_table,
                           tg_error *err)
{
    tg_relation relation = {.kind = TG_REL_TABLE, .name = *name, .span = name->span};
    tg_resolved resolved;
    TG_TRY(resolve(ex, &relation, ex->arena, &resolved, err));
    if (!resolved.table) {
        TG_ERR(err, EXPECT_TABLE_NOT_VIEW, "%.*s is a view, not a table",
               TG_SARG(resolved.view_name));
        return tg_error_at(err, name->span);
    }
    *out_table = resolved.table;
    return TG_OK;
}

tg_code tg_execution_target(tg_execution *ex, const tg_name *name, tg_location *out_location,
                            tg_table_facts *out_facts, tg_error *err)
{
    TG_TRY(tg_catalog_locate(&ex->api->catalog, name, ex->arena, out_location, err));
    if (out_location->format != TG_FORMAT_DELTA) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "%.*s cannot be written: only Delta tables can",
                TG_SARG(out_location->full_name));
    }
    TG_TRY(tg_execution_refuse_view(ex, name, out_location, err));
    tg_engine *engine = ex->api->engine;
    return engine->table_facts(engine->self, out_location->path, ex->arena, out_facts, err);
}

tg_code tg_execution_existing_target(tg_execution *ex, const tg_name *name,
                                     tg_location *out_location, tg_table_facts *out_facts,
                                     tg_error *err)
{
    TG_TRY(tg_execution_target(ex, name, out_location, out_facts, err));
    if (!out_facts->exists) {
        (void)tg_catalog_not_found(&ex->api->catalog, name, NULL, 0, err);
        return tg_error_at(err, name->span);
    }
    return TG_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

tg_code tg_api_run_program(tg_execution *ex, tg_program_maker make, void *self,
                           tg_run_result *out_run, tg_error *err)
{
    tg_engine *engine = ex->api->engine;
    for (int attempt = 1;; attempt++) {
        const tg_program *program;
        TG_TRY(make(ex, self, &program, err));
        tg_code code =
            engine->run(engine->self, program, /* hooks= */ NULL, ex->arena, out_run, err);
        if (code != TG_CONFLICT || attempt == TG_LIMIT_COMMIT_ATTEMPTS ||
            tg_env_is_cancelled(&ex->api->own_env)) {
            return code;
        }
        if (err) {
            tg_error_clear(err);
        }
        tg_map_init(&ex->tables, ex->arena); /* sources are read again at their newest versions */
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

void tg_execution_set_rows(tg_execution *ex, const char *const *names, size_t column_count,
                           const tg_value *values, size_t row_count)
{
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, column_count);
    for (size_t i = 0; i < column_count; i++) {
        fields[i] = (tg_field){
            .name = tg_str_from(names[i]), .type = tg_type_of(TG_TYPE_STRING), .nullable = true};
    }
    ex->result->schema = (tg_schema){.fields = fields, .count = column_count};
    ex->result->values = values;
    ex->result->row_count = row_count;
}

static tg_code refuse(const tg_stmt *stmt, tg_error *err)
{
    tg_str words = stmt->text;
    size_t end = 0;
    for (int word = 0; end < words.len && word < 3; end++) {
        word += words.ptr[end] == ' ' || words.ptr[end] == '\n';
    }
    words = tg_str_trim(tg_str_sub(words, 0, end));
    TG_ERR(err, UNSUPPORTED_FEATURE, "the statement %.*s ... is not available in this release",
           TG_SARG(words));
    return tg_error_span(err, stmt->span.offset, words.len);
}

static tg_code dispatch(tg_execution *ex, tg_error *err)
{
    switch (ex->stmt->kind) {
    case TG_STMT_QUERY:
    case TG_STMT_EXPLAIN:
        return tg_api_run_query(ex, err);
    case TG_STMT_CREATE_VIEW:
    case TG_STMT_CREATE_TABLE:
    case TG_STMT_CREATE_SCHEMA:
    case TG_STMT_DROP:
    case TG_STMT_SET:
    case TG_STMT_USE_CATALOG:
    case TG_STMT_USE_SCHEMA:
        return tg_api_run_ddl(ex, err);
    case TG_STMT_INSERT:
        return tg_api_run_insert(ex, err);
    case TG_STMT_DELETE:
    case TG_STMT_UPDATE:
    case TG_STMT_MERGE:
        return tg_api_run_change(ex, err);
    case TG_STMT_SHOW_TABLES:
    case TG_STMT_SHOW_VIEWS:
    case TG_STMT_SHOW_SCHEMAS:
    case TG_STMT_SHOW_COLUMNS:
    case TG_STMT_SHOW_TBLPROPERTIES:
    case TG_STMT_SHOW_CREATE_TABLE:
    case TG_STMT_SHOW_PARTITIONS:
    case TG_STMT_DESCRIBE:
        return tg_api_run_show(ex, err);
    case TG_STMT_RESTORE:
        return tg_api_run_restore(ex, err);
    case TG_STMT_CREATE_STREAMING_TABLE:
    case TG_STMT_CREATE_MATERIALIZED_VIEW:
    case TG_STMT_CREATE_FLOW:
    case TG_STMT_REFRESH:
        return tg_api_run_standalone(ex, err);
    case TG_STMT_ALTER:
        if (tg_str_eq(ex->stmt->object_word, TG_S("STREAMING TABLE")) ||
            tg_str_eq(ex->stmt->object_word, TG_S("MATERIALIZED VIEW"))) {
            return tg_api_run_alter(ex, err);
        }
        return tg_str_eq(ex->stmt->object_word, TG_S("TABLE")) ? tg_api_run_alter_table(ex, err)
                                                               : refuse(ex->stmt, err);
    case TG_STMT_COMMENT_ON:
        return tg_api_run_alter_table(ex, err);
    case TG_STMT_OPTIMIZE:
        return tg_api_run_optimize(ex, err);
    case TG_STMT_VACUUM:
        return tg_api_run_vacuum(ex, err);
    case TG_STMT_OTHER:
        return refuse(ex->stmt, err);
    }
    TG_FAIL(err, INTERNAL_ERROR, "unknown kind of statement");
}

static tg_code run(tg_api *api, tg_str text, const char *file, tg_str source, size_t offset,
                   tg_result *result, tg_error *err)
{
    tg_execution ex = {.api = api,
                       .arena = result->arena,
                       .file = file,
                       .source = source,
                       .offset = offset,
                       .result = result};
    ex.now_us = api->has_now ? api->now_us : api->env->now_us(api->env->self);
    tg_map_init(&ex.tables, result->arena);
    tg_map_init(&ex.view_scopes, result->arena);
    tg_stmt *stmt;
    TG_TRY(tg_sql_parse_statement(text, result->arena, &stmt, err));
    ex.stmt = stmt;
    return dispatch(&ex, err);
}

tg_code tg_api_execute(tg_api *api, tg_str text, const char *file, tg_str source, size_t offset,
                       tg_result **out_result, tg_error *err)
{
    tg_auto_error tg_error own = TG_ERROR_INIT;
    err = err ? err : &own;
    tg_arena *arena = tg_arena_new();
    tg_result *result = TG_NEW(arena, tg_result);
    result->api = api;
    result->arena = arena;
    result->scratch = tg_arena_new();
    result->batch_row = -1;
    tg_code code = run(api, text, file, source, offset, result, err);
    if (code != TG_OK) {
        if (err->has_span && !err->place.line) {
            err->span_offset += offset;
            tg_error_locate(err, file, source);
        }
        tg_result_close(result);
        return code;
    }
    *out_result = result;
    return TG_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static tg_code next_batch(tg_result *result, bool *out_has_row, tg_error *err)
{
    tg_engine *engine = result->api->engine;
    for (;;) {
        if (result->batch.release) {
            result->batch.release(&result->batch);
        }
        memset(&result->batch, 0, sizeof(result->batch));
        if (result->stream.get_next(&result->stream, &result->batch) != 0) {
            return engine->fetch_error(engine->self, &result->stream, err);
        }
        if (!result->batch.release) {
            *out_has_row = false;
            return TG_OK;
        }
        if (result->batch.length > 0) {
            result->batch_row = 0;
            *out_has_row = true;
            return TG_OK;
        }
    }
}

tg_code tg_result_next(tg_result *result, bool *out_has_row, tg_error *err)
{
    if (!result->stream.release) {
        *out_has_row = result->next_row < result->row_count;
        result->next_row += *out_has_row;
        return TG_OK;
    }
    if (result->batch.release && result->batch_row + 1 < result->batch.length) {
        result->batch_row++;
        *out_has_row = true;
        return TG_OK;
    }
    return next_batch(result, out_has_row, err);
}

static const tg_value *own_cell(const tg_result *result, size_t column)
{
    return &result->values[(result->next_row - 1) * result->schema.count + column];
}

void tg_result_cell_json(tg_result *result, size_t column, tg_buf *out)
{
    tg_arena_reset(result->scratch);
    if (result->stream.release) {
        tg_arrow_cell_json(result->batch.children[column], result->arrow_schema.children[column],
                           result->schema.fields[column].type, result->batch_row, result->scratch,
                           out);
    } else {
        tg_value_json(*own_cell(result, column), result->scratch, out);
    }
}

void tg_result_row_json(tg_result *result, tg_buf *out)
{
    tg_buf_addc(out, '[');
    for (size_t i = 0; i < result->schema.count; i++) {
        tg_buf_addz(out, i > 0 ? ", " : "");
        tg_result_cell_json(result, i, out);
    }
    tg_buf_addc(out, ']');
}

bool tg_result_cell_text(tg_result *result, size_t column, tg_buf *out)
{
    tg_arena_reset(result->scratch);
    if (result->stream.release) {
        return tg_arrow_cell_text(result->batch.children[column],
                                  result->arrow_schema.children[column],
                                  result->schema.fields[column].type, result->batch_row,
                                  result->api->zone, result->scratch, out);
    }
    return tg_value_text(*own_cell(result, column), result->api->zone, result->scratch, out);
}

void tg_result_close(tg_result *result)
{
    if (!result) {
        return;
    }
    if (result->batch.release) {
        result->batch.release(&result->batch);
    }
    if (result->arrow_schema.release) {
        result->arrow_schema.release(&result->arrow_schema);
    }
    if (result->stream.release) {
        result->stream.release(&result->stream);
    }
    tg_arena_free(result->scratch);
    tg_arena_free(result->arena);
}
