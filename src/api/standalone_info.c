/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the last refresh of a table: how it ended from its event log (also of one that
 * failed or had nothing to commit), what it did from the state in the table's newest commit of its
 * flow.
 */
#include "api/standalone.h"

#include <yyjson.h>

enum { MAX_EVENT_BYTES = 16 * 1024 * 1024 };

/* The events of the session's pipeline, when it is the one that the table belongs to. */
static tg_code storage_of(tg_execution *ex, const tg_standalone_table *table, tg_str *out,
                          tg_error *err)
{
    *out = (tg_str){0};
    if (table->own.is_standalone) {
        *out = table->storage;
    } else if (ex->api->spec) {
        tg_str id;
        TG_TRY(tg_spec_pipeline_id(ex->api->spec, ex->api->fs, ex->api->env, /* create= */ false,
                                   ex->arena, &id, err));
        *out = id.len && tg_str_eq(id, table->own.owner) ? ex->api->spec->storage : (tg_str){0};
    }
    return TG_OK;
}

typedef struct event_file {
    tg_str path;
    int64_t changed;
} event_file;

static int newest_first(const void *a, const void *b)
{
    const event_file *left = a, *right = b;
    return left->changed < right->changed ? 1 : left->changed > right->changed ? -1 : 0;
}

static tg_code event_files(tg_execution *ex, tg_str storage, event_file **out, size_t *out_count,
                           tg_error *err)
{
    tg_str folder = tg_path_join(ex->arena, storage, TG_S("events"));
    bool exists;
    *out_count = 0;
    TG_TRY(tg_fs_exists(ex->api->fs, folder, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_fs_entry *entries;
    size_t count;
    TG_TRY(tg_fs_list(ex->api->fs, folder, /* with_details= */ true, ex->arena, &entries, &count,
                      err));
    event_file *files = TG_NEW_ARRAY(ex->arena, event_file, count);
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].is_folder && tg_str_ends(entries[i].name, TG_S(".jsonl"))) {
            files[(*out_count)++] =
                (event_file){.path = tg_path_join(ex->arena, folder, entries[i].name),
                             .changed = entries[i].mtime_ms};
        }
    }
    qsort(files, *out_count, sizeof(*files), newest_first);
    *out = files;
    return TG_OK;
}

/* The last word about the table's flow in one event file; false: none. */
static bool read_events(tg_execution *ex, tg_str text, tg_str dataset, tg_refresh_info *out)
{
    bool found = false;
    for (size_t from = 0; from < text.len;) {
        size_t end = tg_str_find(text, TG_S("\n"), from);
        end = end == SIZE_MAX ? text.len : end;
        tg_str line = tg_str_sub(text, from, end);
        from = end + 1;
        struct yyjson_val *root;
        if (tg_str_find(line, TG_S("\"flow_progress\""), 0) == SIZE_MAX ||
            tg_json_parse(line, 0, ex->arena, &root, NULL) != TG_OK) {
            continue;
        }
        yyjson_val *origin = yyjson_obj_get(root, "origin");
        yyjson_val *details = yyjson_obj_get(root, "details");
        yyjson_val *progress = yyjson_obj_get(details, "flow_progress");
        tg_str status = tg_json_get_str(progress, "status", (tg_str){0});
        if (!tg_str_ieq(tg_json_get_str(origin, "dataset_name", (tg_str){0}), dataset) ||
            status.len == 0 || tg_str_eq(status, TG_S("EXCLUDED"))) {
            continue;
        }
        out->status = tg_str_copy(ex->arena, status);
        out->time = tg_str_copy(ex->arena, tg_json_get_str(root, "timestamp", (tg_str){0}));
        out->update_id = tg_str_copy(ex->arena, tg_json_get_str(origin, "update_id", (tg_str){0}));
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
        event_file *files = NULL;
        size_t count;
        TG_TRY(event_files(ex, storage, &files, &count, err));
        for (size_t i = 0; i < count; i++) {
            tg_str text;
            if (tg_fs_read(ex->api->fs, files[i].path, MAX_EVENT_BYTES, ex->arena, &text, NULL) ==
                    TG_OK &&
                read_events(ex, text, table->location.full_name, out)) {
                break;
            }
        }
    }
    return read_state(ex, table, out, err);
}
