/* SPDX-License-Identifier: Apache-2.0 */
/* CREATE STREAMING TABLE, CREATE MATERIALIZED VIEW, CREATE FLOW and REFRESH outside of pipelines. */
#include "api/standalone.h"

enum { MAX_ATTEMPTS = 5 }; /* somebody defines the same table at the same time */

/* ---- finding --------------------------------------------------------------------------------- */

tg_code tg_standalone_find(tg_execution *ex, const tg_name *name, tg_standalone_table *out,
                           tg_error *err)
{
    *out = (tg_standalone_table){0};
    TG_TRY(tg_catalog_locate(&ex->api->catalog, name, ex->arena, &out->location, err));
    if (!out->location.is_managed) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE,
                     "%.*s is not a table of this warehouse: streaming tables and materialized "
                     "views are",
                     TG_SARG(out->location.full_name));
        return tg_error_at(err, name->span);
    }
    tg_engine *engine = ex->api->engine;
    TG_TRY(engine->table_facts(engine->self, out->location.path, ex->arena, &out->facts, err));
    if (out->facts.exists) {
        out->own = tg_ownership_of(&out->facts);
        out->table_id = out->facts.table_id;
    } else {
        char id[37];
        ex->api->env->uuid(ex->api->env->self, id);
        out->table_id = tg_str_copy(ex->arena, tg_str_from(id));
    }
    out->storage = tg_path_join(
        ex->arena, tg_path_join(ex->arena, ex->api->catalog.warehouse, TG_S(".tidegate")),
        out->table_id);
    return TG_OK;
}

static tg_code refuse_kind(const tg_standalone_table *table, tg_str word, const char *doing,
                           tg_error *err)
{
    bool wants_view = tg_str_eq(word, TG_S("MATERIALIZED VIEW"));
    const char *kind = tg_str_eq(table->own.kind, TG_S("STREAMING_TABLE")) ? "a streaming table"
                       : tg_str_eq(table->own.kind, TG_S("MATERIALIZED_VIEW"))
                           ? "a materialized view"
                           : "a table";
    if (wants_view) {
        (void)TG_ERR(err, MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_NON_MATERIALIZED_VIEW,
                     "%.*s is %s, not a materialized view: it cannot be %s as one",
                     TG_SARG(table->location.full_name), kind, doing);
    } else {
        (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_NON_STREAMING_TABLE,
                     "%.*s is %s, not a streaming table: it cannot be %s as one",
                     TG_SARG(table->location.full_name), kind, doing);
    }
    return table->own.kind.len
               ? tg_error_hint(err, "Write %s instead of %.*s.",
                               wants_view ? "STREAMING TABLE" : "MATERIALIZED VIEW", TG_SARG(word))
               : tg_error_hint(err, "Its rows come from INSERT, DELETE and other programs.");
}

static tg_code refuse_pipeline(const tg_standalone_table *table, const char *doing, tg_error *err)
{
    tg_str name = table->location.full_name;
    if (tg_str_eq(table->own.kind, TG_S("MATERIALIZED_VIEW"))) {
        (void)TG_ERR(err, MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_DROP,
                     "%.*s belongs to a pipeline and cannot be %s by a statement", TG_SARG(name),
                     doing);
    } else {
        (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_REFRESH,
                     "%.*s belongs to a pipeline and cannot be %s by a statement", TG_SARG(name),
                     doing);
    }
    (void)tg_error_detail(err, "The pipeline has the id %.*s.", TG_SARG(table->own.owner));
    return strcmp(doing, "refreshed") == 0
               ? tg_error_hint(err, "Use its pipeline: tidegate run --refresh %.*s", TG_SARG(name))
               : tg_error_hint(err, "Change its definition in the pipeline's files.");
}

tg_code tg_standalone_find_dataset(tg_execution *ex, const tg_name *name, tg_str word,
                                   const char *doing, tg_standalone_table *out, tg_error *err)
{
    TG_TRY(tg_standalone_find(ex, name, out, err));
    tg_code code = TG_OK;
    if (!out->facts.exists) {
        code = tg_catalog_not_found(&ex->api->catalog, name, NULL, 0, err);
    } else if (!tg_str_eq(out->own.kind, tg_str_eq(word, TG_S("MATERIALIZED VIEW"))
                                             ? TG_S("MATERIALIZED_VIEW")
                                             : TG_S("STREAMING_TABLE"))) {
        code = refuse_kind(out, word, doing, err);
    } else if (!out->own.is_standalone) {
        code = refuse_pipeline(out, doing, err);
    }
    return code == TG_OK ? TG_OK : tg_error_at(err, name->span);
}

tg_code tg_standalone_needs_refresh_(const tg_location *location, tg_error *err)
{
    (void)TG_ERR(err, STREAMING_TABLE_NEEDS_REFRESH,
                 "streaming table `%.*s` was never refreshed: it holds nothing yet",
                 TG_SARG(location->full_name));
    return tg_error_hint(err, "Give it a flow: CREATE FLOW f AS INSERT INTO %.*s BY NAME ...",
                         TG_SARG(location->full_name));
}

/* ---- what was done --------------------------------------------------------------------------- */

static const char *kind_word(const tg_stmt *stmt)
{
    return stmt->kind == TG_STMT_CREATE_MATERIALIZED_VIEW ? "materialized view" : "streaming table";
}

static void tell(tg_execution *ex, const char *what, const tg_standalone_table *table,
                 const tg_update_result *result)
{
    const tg_flow_result *flow = &result->flows[0];
    tg_str name = table->location.full_name;
    const char *technique = flow->technique ? flow->technique : "-";
    if (flow->committed_version < 0) {
        ex->result->message = tg_arena_printf(ex->arena, "%s %.*s: %s, nothing to commit", what,
                                              TG_SARG(name), technique);
        return;
    }
    ex->result->message = tg_arena_printf(
        ex->arena, "%s %.*s: %s, %lld row%s written, %lld removed, version %lld", what,
        TG_SARG(name), technique, (long long)flow->rows_written, flow->rows_written == 1 ? "" : "s",
        (long long)flow->rows_deleted, (long long)flow->committed_version);
}

/* ---- CREATE STREAMING TABLE, CREATE MATERIALIZED VIEW ---------------------------------------- */

static tg_code already_exists(tg_execution *ex, const tg_standalone_table *table, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    bool is_view = stmt->kind == TG_STMT_CREATE_MATERIALIZED_VIEW;
    (void)TG_ERR(err, TABLE_OR_VIEW_ALREADY_EXISTS, "table %.*s exists already",
                 TG_SARG(table->location.full_name));
    (void)tg_error_at(err, stmt->name.span);
    return tg_error_hint(err, "Use %s to change its definition, or IF NOT EXISTS.",
                         is_view ? "CREATE OR REPLACE MATERIALIZED VIEW"
                                 : "CREATE OR REFRESH STREAMING TABLE");
}

/* The words of a pipeline file that a statement has in another form. */
static tg_code check_words(const tg_stmt *stmt, tg_error *err)
{
    if (stmt->kind == TG_STMT_CREATE_MATERIALIZED_VIEW && stmt->or_refresh) {
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR,
                     "CREATE OR REFRESH MATERIALIZED VIEW is for pipeline files");
        (void)tg_error_at(err, stmt->name.span);
        return tg_error_hint(err, "Write CREATE OR REPLACE MATERIALIZED VIEW.");
    }
    if (stmt->if_not_exists && (stmt->or_refresh || stmt->or_replace)) {
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "%s and IF NOT EXISTS exclude each other",
                     stmt->or_refresh ? "OR REFRESH" : "OR REPLACE");
        return tg_error_at(err, stmt->name.span);
    }
    return TG_OK;
}

/* A table without a flow has nothing to refresh. Who takes a table over says what it shall hold. */
static tg_code create_without_flow(tg_execution *ex, const tg_standalone_table *table,
                                   const tg_standalone *standalone, tg_error *err)
{
    tg_str name = table->location.full_name;
    if (table->facts.exists && !table->own.is_standalone) {
        (void)TG_ERR(
            err, TIDEGATE_TABLE_NOT_OWNED, "table `%.*s` exists already and %s", TG_SARG(name),
            table->own.owner.len ? "belongs to a pipeline" : "was not made by such a statement");
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Choose another name, or take it over with --adopt and a "
                                  "statement that has its FLOW.");
    }
    if (table->facts.exists && !tg_str_eq(table->own.kind, TG_S("STREAMING_TABLE"))) {
        (void)TG_ERR(err, TIDEGATE_DATASET_KIND_CHANGED,
                     "table `%.*s` was made as a materialized view and cannot become a streaming "
                     "table",
                     TG_SARG(name));
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Drop it first, or choose another name.");
    }
    TG_TRY(tg_standalone_commit_definition(ex, table, standalone, err));
    ex->result->message = tg_arena_printf(
        ex->arena, "%s streaming table %.*s, without a flow; CREATE FLOW gives it one",
        table->facts.exists ? "defined" : "created", TG_SARG(name));
    return TG_OK;
}

static tg_code create_once(tg_execution *ex, tg_error *err)
{
    tg_standalone_table table;
    TG_TRY(tg_standalone_find(ex, &ex->stmt->name, &table, err));
    if (table.facts.exists && ex->stmt->if_not_exists) {
        ex->result->message = tg_arena_printf(ex->arena, "table %.*s exists already",
                                              TG_SARG(table.location.full_name));
        return TG_OK;
    }
    if (table.facts.exists && !ex->stmt->or_refresh && !ex->stmt->or_replace) {
        return already_exists(ex, &table, err);
    }
    tg_standalone standalone = {.table_id = table.table_id, .statement_count = 1};
    TG_TRY(tg_standalone_own_statement(ex, &standalone.statements[0], err));
    const tg_stmt *stmt = standalone.statements[0].stmt;
    tg_str schedule = tg_standalone_schedule_text(ex, stmt->clauses.schedule);
    const tg_property properties[] = {
        {.key = TG_S(TG_PROPERTY_DEFINITION), .value = tg_standalone_definition_text(ex, stmt)},
        {.key = TG_S(TG_PROPERTY_SCHEDULE), .value = schedule}};
    standalone.properties = properties;
    standalone.property_count = schedule.len ? 2 : 1;
    /* The graph looks at these as long as the update runs. */
    const tg_standalone *kept = tg_arena_memdup(ex->arena, &standalone, sizeof(standalone));
    if (!stmt->flow) {
        TG_TRY(create_without_flow(ex, &table, kept, err));
    } else {
        tg_update_result result;
        TG_TRY(tg_standalone_update(ex, &table, kept, &(tg_update_options){0}, &result, err));
        tell(ex,
             tg_arena_printf(ex->arena, "%s %s", table.facts.exists ? "refreshed" : "created",
                             kind_word(stmt)),
             &table, &result);
    }
    tg_standalone_note_schedule(ex, schedule);
    return TG_OK;
}

/* ---- CREATE FLOW ----------------------------------------------------------------------------- */

static tg_code has_flow(const tg_standalone_table *table, const tg_stmt *stmt, tg_error *err)
{
    (void)TG_ERR(err, UNSUPPORTED_FEATURE_MULTI_FLOW_REPLACE_WHERE_TARGET,
                 "table `%.*s` has a flow already, and can have one only",
                 TG_SARG(table->location.full_name));
    (void)tg_error_at(err, stmt->target.span);
    return tg_error_hint(err,
                         "CREATE OR REFRESH STREAMING TABLE %.*s without a flow takes it away and "
                         "leaves the rows.",
                         TG_SARG(table->location.full_name));
}

static tg_code create_flow_once(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_standalone_table table;
    TG_TRY(tg_standalone_find_dataset(ex, &stmt->target, TG_S("STREAMING TABLE"), "given a flow",
                                      &table, err));
    if (table.own.flow.len) {
        return has_flow(&table, stmt, err);
    }
    tg_standalone standalone = {.table_id = table.table_id, .statement_count = 2};
    TG_TRY(tg_standalone_kept_statement(ex, &table, table.own.definition, &standalone.statements[0],
                                        err));
    if (standalone.statements[0].stmt->flow) {
        return has_flow(&table, stmt, err);
    }
    TG_TRY(tg_standalone_own_statement(ex, &standalone.statements[1], err));
    const tg_property properties[] = {
        {.key = TG_S(TG_PROPERTY_DEFINITION), .value = table.own.definition},
        {.key = TG_S(TG_PROPERTY_FLOW),
         .value = tg_standalone_definition_text(ex, standalone.statements[1].stmt)},
        {.key = TG_S(TG_PROPERTY_SCHEDULE), .value = table.own.schedule}};
    standalone.properties = properties;
    standalone.property_count = table.own.schedule.len ? 3 : 2;
    tg_update_result result;
    TG_TRY(tg_standalone_update(ex, &table,
                                tg_arena_memdup(ex->arena, &standalone, sizeof(standalone)),
                                &(tg_update_options){0}, &result, err));
    tell(ex,
         tg_arena_printf(ex->arena, "created flow %.*s and refreshed",
                         TG_SARG(stmt->name.parts[0].text)),
         &table, &result);
    return TG_OK;
}

/* ---- REFRESH --------------------------------------------------------------------------------- */

static tg_code check_refresh(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_str word = stmt->object_word;
    if (tg_str_eq(word, TG_S("VIEW")) || tg_str_eq(word, TG_S("SCHEMA"))) {
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "REFRESH %.*s is no statement", TG_SARG(word));
        (void)tg_error_at(err, stmt->name.span);
        return tg_error_hint(err, "Write REFRESH STREAMING TABLE or REFRESH MATERIALIZED VIEW.");
    }
    if (stmt->full && stmt->where) {
        (void)TG_ERR(err, INVALID_REPLACE_WHERE_OVERRIDE_FULL_REFRESH,
                     "FULL and WHERE exclude each other");
        (void)tg_error_at(err, stmt->where->span);
        return tg_error_hint(err, "FULL empties the table and computes its own window; WHERE "
                                  "recomputes some rows and leaves the others.");
    }
    return TG_OK;
}

static tg_code kept_standalone(tg_execution *ex, const tg_standalone_table *table,
                               const tg_standalone **out, tg_error *err)
{
    tg_standalone *standalone = TG_NEW(ex->arena, tg_standalone);
    *standalone =
        (tg_standalone){.table_id = table->table_id, .statement_count = 1, .is_refresh = true};
    TG_TRY(tg_standalone_kept_statement(ex, table, table->own.definition,
                                        &standalone->statements[0], err));
    if (table->own.flow.len) {
        standalone->statement_count = 2;
        TG_TRY(tg_standalone_kept_statement(ex, table, table->own.flow, &standalone->statements[1],
                                            err));
    } else if (!standalone->statements[0].stmt->flow) {
        (void)TG_ERR(err, PIPELINE_DATASET_WITHOUT_FLOW,
                     "no flow writes the streaming table `%.*s`",
                     TG_SARG(table->location.full_name));
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Give it one: CREATE FLOW f AS INSERT INTO %.*s BY NAME ...",
                             TG_SARG(table->location.full_name));
    }
    tg_property *kept = TG_NEW_ARRAY(ex->arena, tg_property, 2);
    kept[0] = (tg_property){.key = TG_S(TG_PROPERTY_DEFINITION), .value = table->own.definition};
    kept[1] = (tg_property){.key = TG_S(TG_PROPERTY_FLOW), .value = table->own.flow};
    standalone->properties = kept;
    standalone->property_count = 2;
    *out = standalone;
    return TG_OK;
}

/* The flow's name as an override takes it. */
static tg_str flow_name(tg_execution *ex, const tg_standalone_table *table,
                        const tg_standalone *standalone)
{
    if (standalone->statement_count == 1) {
        return table->location.full_name;
    }
    tg_auto_buf tg_buf name = TG_BUF_INIT;
    tg_sql_print_ident(standalone->statements[1].stmt->name.parts[0].text, &name);
    return tg_buf_take(&name, ex->arena);
}

static tg_code refresh_once(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_standalone_table table;
    const tg_standalone *standalone;
    TG_TRY(
        tg_standalone_find_dataset(ex, &stmt->name, stmt->object_word, "refreshed", &table, err));
    TG_TRY(kept_standalone(ex, &table, &standalone, err));
    tg_override override = {.flow = flow_name(ex, &table, standalone),
                            .predicate = stmt->where_text,
                            .origin = "REFRESH ... WHERE"};
    tg_update_options options = {.overrides = &override,
                                 .override_count = stmt->where != NULL,
                                 .full_refresh = &table.location.full_name,
                                 .full_refresh_count = stmt->full,
                                 .is_dry_run = stmt->async,
                                 .update_id = ex->api->update_id};
    tg_update_result result;
    TG_TRY(tg_standalone_update(ex, &table, standalone, &options, &result, err));
    if (stmt->async) { /* what can be known to be wrong was looked for; now it may go alone */
        return tg_standalone_refresh_async(ex, &table, err);
    }
    tell(ex, "refreshed", &table, &result);
    return TG_OK;
}

/* ---- again, when somebody else was faster ---------------------------------------------------- */

typedef tg_code (*statement)(tg_execution *ex, tg_error *err);

static tg_code run_with_attempts(tg_execution *ex, statement once, tg_error *err)
{
    for (int attempt = 1;; attempt++) {
        tg_code code = once(ex, err);
        if (code == TG_OK || attempt == MAX_ATTEMPTS ||
            err->cls != TG_E_TIDEGATE_DEFINITION_CHANGED ||
            tg_env_is_cancelled(&ex->api->own_env)) {
            return code;
        }
        tg_error_clear(err);
    }
}

tg_code tg_api_run_standalone(tg_execution *ex, tg_error *err)
{
    switch (ex->stmt->kind) {
    case TG_STMT_CREATE_FLOW:
        return run_with_attempts(ex, create_flow_once, err);
    case TG_STMT_REFRESH:
        TG_TRY(check_refresh(ex, err));
        return run_with_attempts(ex, refresh_once, err);
    default:
        TG_TRY(check_words(ex->stmt, err));
        return run_with_attempts(ex, create_once, err);
    }
}
