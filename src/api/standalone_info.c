/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the last refresh of a table: how it ended from its event log (also of one that
 * failed or had nothing to commit), what it did from the state in the table's newest commit of its
 * flow.
 */
#include "api/standalone.h"

/* Is it the id of the session's pipeline? */
static tg_code is_own_pipeline(const tg_api *api, tg_str owner, tg_arena *arena, bool *out,
                               tg_error *err)
{
    tg_str id = {0};
    if (api->spec) {
        TG_TRY(tg_spec_pipeline_id(api->spec, api->fs, api->env, /* create= */ false, arena, &id,
                                   err));
    }
    *out = id.len > 0 && tg_str_eq(id, owner);
    return TG_OK;
}

/* The events of the session's pipeline, when it is the one that the table belongs to. */
static tg_code storage_of(tg_execution *ex, const tg_standalone_table *table, tg_str *out,
                          tg_error *err)
{
    bool is_own = false;
    if (!table->own.is_standalone) {
        TG_TRY(is_own_pipeline(ex->api, table->own.owner, ex->arena, &is_own, err));
    }
    *out = table->own.is_standalone ? table->storage
           : is_own                 ? ex->api->spec->storage
                                    : (tg_str){0};
    return TG_OK;
}

tg_code tg_standalone_remembered(tg_execution *ex, tg_str full_name, tg_str owner,
                                 tg_remembered *out, tg_error *err)
{
    bool is_own;
    *out = (tg_remembered){0};
    TG_TRY(is_own_pipeline(ex->api, owner, ex->arena, &is_own, err));
    return is_own ? tg_inactive_look(ex->api->spec, ex->api->fs, full_name, ex->arena, out, err)
                  : TG_OK;
}

/* Whose a table or view is; empty: nobody's, or nothing is there. */
static tg_str owner_at(tg_api *api, const tg_location *location, tg_arena *arena)
{
    tg_engine *engine = api->engine;
    const tg_view *view = NULL;
    tg_table_facts facts = {0};
    if (tg_view_load(&api->catalog, location, arena, &view, NULL) == TG_OK && view) {
        return view->pipeline_id;
    }
    return location->format == TG_FORMAT_DELTA &&
                   engine->table_facts(engine->self, location->path, arena, &facts, NULL) == TG_OK
               ? tg_ownership_of(&facts).owner
               : (tg_str){0};
}

tg_str tg_api_inactive_since(tg_api *api, tg_str name, tg_arena *arena)
{
    tg_name parsed;
    tg_location location;
    tg_remembered known = {0};
    bool is_own = false;
    if (!api->spec || tg_sql_parse_name(name, arena, &parsed, NULL) != TG_OK ||
        tg_catalog_locate(&api->catalog, &parsed, arena, &location, NULL) != TG_OK ||
        tg_inactive_look(api->spec, api->fs, location.full_name, arena, &known, NULL) != TG_OK ||
        known.since.len == 0 ||
        is_own_pipeline(api, owner_at(api, &location, arena), arena, &is_own, NULL) != TG_OK ||
        !is_own) {
        return (tg_str){0};
    }
    return known.since;
}

/* The last word about a dataset's flow in one event file; no file, no word. */
static bool read_events(tg_execution *ex, tg_str path, tg_str dataset, tg_refresh_info *out)
{
    bool found = false;
    bool has_event = true;
    tg_event_record event;
    tg_event_reader *reader = tg_event_reader_new(ex->api->fs, path, ex->arena);
    while (tg_event_reader_next(reader, &event, &has_event, NULL) == TG_OK && has_event) {
        tg_str status = tg_json_get_str(event.details, "status", (tg_str){0});
        if (!tg_str_eq(event.event_type, TG_S("flow_progress")) ||
            !tg_str_ieq(event.dataset_name, dataset) || status.len == 0 ||
            tg_str_eq(status, TG_S("EXCLUDED"))) {
            continue;
        }
        out->status = tg_str_copy(ex->arena, status);
        out->time = tg_str_copy(ex->arena, tg_json_get_str(event.root, "timestamp", (tg_str){0}));
        out->update_id = tg_str_copy(ex->arena, event.update_id);
        found = true;
    }
    return found;
}

/* The name of the flow that writes the table; empty: none that is known. */
static tg_code flow_of(tg_execution *ex, const tg_standalone_table *table, tg_str *out,
                       tg_error *err)
{
    *out = table->location.full_name;
    if (!table->own.flow.len) {
        return TG_OK;
    }
    tg_standalone_stmt flow, definition;
    TG_TRY(tg_standalone_kept_statement(ex, table, table->own.flow, &flow, err));
    TG_TRY(tg_standalone_kept_statement(ex, table, table->own.definition, &definition, err));
    const tg_name *name = &definition.stmt->name;
    tg_catalog scope = ex->api->catalog;
    if (name->count == 3) {
        scope.current_catalog = name->parts[0].text;
        scope.current_schema = name->parts[1].text;
    }
    return tg_catalog_qualify(&scope, &flow.stmt->name, ex->arena, out, err);
}

static tg_code read_state(tg_execution *ex, const tg_standalone_table *table, tg_refresh_info *out,
                          tg_error *err)
{
    tg_engine *engine = ex->api->engine;
    tg_str flow;
    TG_TRY(flow_of(ex, table, &flow, err));
    tg_state_facts facts;
    TG_TRY(engine->table_state(engine->self, table->location.path,
                               tg_flow_app_id(ex->arena, table->table_id, flow),
                               table->facts.version, ex->arena, &facts, err));
    tg_flow_state state;
    if (facts.state.len == 0 || !tg_flow_state_from_json(facts.state, ex->arena, &state)) {
        return TG_OK;
    }
    out->technique = state.technique;
    out->window = state.window;
    if (out->update_id.len == 0) {
        out->update_id = state.update_id;
        out->time = tg_instant_text(ex->arena, state.clock_us);
        out->status = TG_S("COMPLETED");
    } else if (!tg_str_eq(out->update_id, state.update_id) &&
               tg_str_eq(out->status, TG_S("COMPLETED"))) {
        out->technique = TG_S("NO_OP"); /* it came to its end and committed nothing */
    }
    return TG_OK;
}

tg_code tg_standalone_refresh_info(tg_execution *ex, const tg_standalone_table *table,
                                   tg_refresh_info *out, tg_error *err)
{
    *out = (tg_refresh_info){0};
    tg_str storage;
    TG_TRY(storage_of(ex, table, &storage, err));
    if (storage.len > 0) {
        /* in the order of what they recorded: copying a folder gives its files other times */
        tg_event_file *files = NULL;
        size_t count;
        tg_diags warnings = TG_DIAGS_INIT;
        tg_code code =
            tg_event_files(ex->api->fs, storage, ex->arena, &files, &count, &warnings, err);
        tg_diags_dispose(&warnings);
        TG_TRY(code);
        for (size_t i = 0; i < count; i++) {
            if (read_events(ex, files[i].path, table->location.full_name, out)) {
                break;
            }
        }
    }
    return read_state(ex, table, out, err);
}
