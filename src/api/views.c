/* SPDX-License-Identifier: Apache-2.0 */
/* Persisted views in statements: CREATE, DROP, and what SHOW and DESCRIBE tell of them. */
#include "api/standalone.h"
#include "pipeline/properties.h"

tg_code tg_execution_view(tg_execution *ex, const tg_name *name, tg_location *out_location,
                          const tg_view **out_view, tg_error *err)
{
    TG_TRY(tg_catalog_locate(&ex->api->catalog, name, ex->arena, out_location, err));
    tg_code code = tg_view_load(&ex->api->catalog, out_location, ex->arena, out_view, err);
    return code == TG_OK ? TG_OK : tg_error_at(err, name->span);
}

tg_code tg_execution_refuse_view(tg_execution *ex, const tg_name *name, const tg_location *location,
                                 tg_error *err)
{
    bool exists;
    TG_TRY(tg_view_exists(&ex->api->catalog, location, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    (void)TG_ERR(err, EXPECT_TABLE_NOT_VIEW, "%.*s is a view, not a table",
                 TG_SARG(location->full_name));
    (void)tg_error_at(err, name->span);
    return tg_error_hint(err, "Name the table that it reads; DROP VIEW and CREATE OR REPLACE VIEW "
                              "change the view.");
}

/* ---- names inside a view --------------------------------------------------------------------- */

typedef struct scoping {
    tg_execution *ex;
    const tg_catalog *scope;
} scoping;

/* A name's parts have an address of their own: what the name means stands there. */
static void keep_scope(void *ctx, const tg_relation *table)
{
    const scoping *s = ctx;
    tg_str key =
        tg_str_copy(s->ex->arena, (tg_str){(const char *)&table->name.parts, sizeof(void *)});
    (void)tg_map_put(&s->ex->view_scopes, key, (void *)(uintptr_t)s->scope);
}

const tg_catalog *tg_execution_scope(tg_execution *ex, const tg_name *name)
{
    return tg_map_get(&ex->view_scopes, (tg_str){(const char *)&name->parts, sizeof(void *)});
}

tg_code tg_execution_expand_view(tg_execution *ex, const tg_view *view, const tg_name *name,
                                 tg_resolved *out, tg_error *err)
{
    if (tg_str_eq(view->full_name, ex->creating_view)) {
        (void)TG_ERR(err, RECURSIVE_VIEW, "view %.*s would read itself", TG_SARG(view->full_name));
        return tg_error_at(err, name->span);
    }
    const tg_zone *zone;
    TG_TRY_CTX(tg_zone_load(view->timezone, ex->arena, &zone, err), err, "in view %.*s",
               TG_SARG(view->full_name));
    tg_catalog *scope = TG_NEW(ex->arena, tg_catalog);
    *scope = tg_view_scope(&ex->api->catalog, view);
    scoping s = {.ex = ex, .scope = scope};
    tg_sql_visit_tables(view->query, keep_scope, &s);
    *out = (tg_resolved){.view = view->query,
                         .view_name = view->full_name,
                         .view_text = view->text,
                         .view_file =
                             tg_arena_printf(ex->arena, "view %.*s", TG_SARG(view->full_name)),
                         .view_zone = zone};
    return TG_OK;
}

/* ---- CREATE VIEW ----------------------------------------------------------------------------- */

static tg_code check_properties(const tg_stmt *stmt, tg_error *err)
{
    for (size_t i = 0; i < stmt->clauses.property_count; i++) {
        switch (tg_property_check(&stmt->clauses.properties[i], err)) {
        case TG_PROPERTY_KEEP:
            break;
        case TG_PROPERTY_NOTE:
            tg_error_clear(err);
            break;
        case TG_PROPERTY_REFUSED:
            return err->code;
        }
    }
    return TG_OK;
}

static tg_code refuse_owned(const tg_view *view, const tg_name *name, const char *doing,
                            tg_error *err)
{
    if (!view || view->pipeline_id.len == 0) {
        return TG_OK;
    }
    (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_DROP,
                 "view %.*s belongs to a pipeline and cannot be %s by a statement",
                 TG_SARG(view->full_name), doing);
    (void)tg_error_at(err, name->span);
    return tg_error_hint(err, "Change its definition in the pipeline. To be rid of it, remove the "
                              "definition, run the pipeline, and drop it in a session of that.");
}

/* Bound once now, so that errors show here and not at its first use. */
static tg_code check_query(tg_execution *ex, const tg_view *view, tg_error *err)
{
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_bound_query bound;
    tg_schema schema;
    ex->creating_view = view->full_name;
    TG_TRY(tg_sql_bind_query(view->query, &options, ex->arena, &bound, err));
    return tg_sql_output_schema(bound.rel, ex->arena, &schema, err);
}

tg_code tg_api_create_view(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_location location;
    const tg_view *found;
    tg_table_facts facts;
    TG_TRY(tg_execution_view(ex, &stmt->name, &location, &found, err));
    if (!location.is_managed) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE, "a view cannot be made at the place of %.*s",
                     TG_SARG(location.full_name));
        (void)tg_error_at(err, stmt->name.span);
        return tg_error_hint(err, "Give it a name of its own.");
    }
    TG_TRY(check_properties(stmt, err));
    TG_TRY(
        ex->api->engine->table_facts(ex->api->engine->self, location.path, ex->arena, &facts, err));
    bool exists = found || facts.exists;
    if (exists && stmt->if_not_exists) {
        ex->result->message =
            tg_arena_printf(ex->arena, "%s %.*s exists already", found ? "view" : "table",
                            TG_SARG(location.full_name));
        return TG_OK;
    }
    if (exists && (facts.exists || !stmt->or_replace)) {
        (void)TG_ERR(err, TABLE_OR_VIEW_ALREADY_EXISTS, "%s %.*s exists already",
                     found ? "view" : "table", TG_SARG(location.full_name));
        (void)tg_error_at(err, stmt->name.span);
        return tg_error_hint(err, found ? "Use CREATE OR REPLACE VIEW, or drop it first."
                                        : "Choose another name, or drop the table first.");
    }
    TG_TRY(refuse_owned(found, &stmt->name, "replaced", err));
    const tg_view view = tg_view_of(stmt, &ex->api->catalog, location.full_name,
                                    tg_zone_name(ex->api->zone), (tg_str){0}, ex->arena);
    TG_TRY(check_query(ex, &view, err));
    TG_TRY(tg_view_store(&ex->api->catalog, &location, &view, stmt->or_replace, err));
    ex->result->message = tg_arena_printf(ex->arena, "%s view %.*s", found ? "replaced" : "created",
                                          TG_SARG(location.full_name));
    return TG_OK;
}

/* ---- DROP VIEW ------------------------------------------------------------------------------- */

tg_code tg_api_drop_view(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_location location;
    const tg_view *view;
    TG_TRY(tg_execution_view(ex, &stmt->name, &location, &view, err));
    if (!view) {
        tg_table_facts facts = {0};
        if (location.format == TG_FORMAT_DELTA) {
            tg_engine *engine = ex->api->engine;
            TG_TRY(engine->table_facts(engine->self, location.path, ex->arena, &facts, err));
        }
        if (facts.exists) {
            (void)TG_ERR(err, EXPECT_VIEW_NOT_TABLE, "%.*s is a table, not a view",
                         TG_SARG(location.full_name));
            (void)tg_error_at(err, stmt->name.span);
            return tg_error_hint(err, "Use DROP TABLE.");
        }
        return stmt->if_exists ? TG_OK
                               : tg_catalog_not_found(&ex->api->catalog, &stmt->name, NULL, 0, err);
    }
    tg_remembered known;
    TG_TRY(tg_standalone_remembered(ex, location.full_name, view->pipeline_id, &known, err));
    if (known.since.len == 0) {
        TG_TRY(refuse_owned(view, &stmt->name, "dropped", err));
    }
    TG_TRY(tg_view_drop(&ex->api->catalog, &location, err));
    if (ex->api->spec) {
        tg_inactive_forget(ex->api->spec, ex->api->fs, location.full_name);
    }
    ex->result->message =
        tg_arena_printf(ex->arena, "dropped view %.*s", TG_SARG(location.full_name));
    return TG_OK;
}
