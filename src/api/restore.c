/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESTORE, as a statement and for the command line: which version is meant, and going back to it.
 *
 * The table stays its pipeline's whatever the old version says, and a standalone table keeps its
 * definition and schedule: what shall be in a table is no part of what was in it. That it was never
 * refreshed is.
 */
#include "api/api_int.h"
#include "pipeline/owner.h"

#define KEPT(key)            \
    {                        \
        key, sizeof(key) - 1 \
    }
static const tg_str KEPT_KEYS[] = {KEPT(TG_PROPERTY_OWNER), KEPT(TG_PROPERTY_KIND),
                                   KEPT(TG_PROPERTY_DEFINITION), KEPT(TG_PROPERTY_FLOW),
                                   KEPT(TG_PROPERTY_SCHEDULE)};

/* ---- before an update ------------------------------------------------------------------------ */

typedef struct update_search {
    tg_str update_id;
    tg_arena *arena;
} update_search;

static bool is_of_update(void *self, tg_str user_metadata)
{
    const update_search *search = self;
    tg_flow_state state;
    return tg_str_find(user_metadata, search->update_id, 0) != SIZE_MAX &&
           tg_flow_state_from_json(user_metadata, search->arena, &state) &&
           tg_str_eq(state.update_id, search->update_id);
}

static tg_code version_before(tg_api *api, const tg_location *location, tg_str update_id,
                              tg_arena *arena, int64_t *out_version, tg_error *err)
{
    update_search search = {.update_id = update_id, .arena = arena};
    tg_engine *engine = api->engine;
    int64_t version;
    TG_TRY(engine->find_commit(engine->self, location->path, is_of_update, &search, &version, err));
    if (version < 0) {
        (void)TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE,
                     "no version of %.*s was written by update '%.*s'",
                     TG_SARG(location->full_name), TG_SARG(update_id));
        return tg_error_hint(err,
                             "The summary and the events of a run tell its id (update_id); an "
                             "update that found nothing to do wrote nothing. Versions: DESCRIBE "
                             "HISTORY %.*s",
                             TG_SARG(location->full_name));
    }
    if (version == 0) {
        (void)TG_ERR(err, DELTA_VERSION_NOT_FOUND,
                     "update %.*s made the table %.*s: there is no version before it",
                     TG_SARG(update_id), TG_SARG(location->full_name));
        return tg_error_hint(err, "Drop the table if it shall go.");
    }
    *out_version = version - 1;
    return TG_OK;
}

/* ---- the request ----------------------------------------------------------------------------- */

static tg_code choose_version(tg_api *api, const tg_api_restore_request *request,
                              const tg_location *location, tg_arena *arena, int64_t *out_version,
                              tg_error *err)
{
    tg_engine *engine = api->engine;
    if (request->by_timestamp) {
        return engine->version_at(engine->self, location->path,
                                  tg_floor_div(request->timestamp_us, 1000), out_version, err);
    }
    if (!request->by_version) {
        return version_before(api, location, request->update_id, arena, out_version, err);
    }
    if (request->version < 0) {
        TG_FAIL(err, DELTA_VERSION_NOT_FOUND, "there is no version %lld: they count from 0",
                (long long)request->version);
    }
    *out_version = request->version;
    return TG_OK;
}

static tg_code locate(tg_api *api, const tg_name *name, tg_arena *arena, tg_location *out,
                      tg_error *err)
{
    TG_TRY(tg_catalog_locate(&api->catalog, name, arena, out, err));
    if (out->format != TG_FORMAT_DELTA) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE, "%.*s cannot be restored: only Delta tables can",
                     TG_SARG(out->full_name));
        return tg_error_at(err, name->span);
    }
    tg_engine *engine = api->engine;
    tg_table_facts facts;
    TG_TRY(engine->table_facts(engine->self, out->path, arena, &facts, err));
    if (!facts.exists) {
        (void)tg_catalog_not_found(&api->catalog, name, NULL, 0, err);
        return tg_error_at(err, name->span);
    }
    if (!engine->restore || !engine->find_commit) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "the engine %s cannot restore tables", engine->name);
    }
    return TG_OK;
}

tg_code tg_api_restore(tg_api *api, const tg_api_restore_request *request, tg_arena *arena,
                       tg_api_restored *out, tg_error *err)
{
    tg_location location;
    TG_TRY(locate(api, request->name, arena, &location, err));
    out->table = location.full_name;
    TG_TRY_CTX(choose_version(api, request, &location, arena, &out->version, err), err,
               "while restoring %.*s", TG_SARG(location.full_name));
    const tg_restore restore = {.version = out->version,
                                .timestamp = request->timestamp_text,
                                .kept_keys = KEPT_KEYS,
                                .kept_key_count = sizeof(KEPT_KEYS) / sizeof(*KEPT_KEYS),
                                .zone = api->zone};
    tg_engine *engine = api->engine;
    TG_TRY_CTX(engine->restore(engine->self, location.path, &restore, arena, &out->done, err), err,
               "while restoring %.*s", TG_SARG(location.full_name));
    return TG_OK;
}

tg_code tg_api_instant(tg_api *api, tg_str text, int64_t *out_us, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return tg_clock_parse(text, api->zone, scratch, out_us, err);
}

/* ---- the statement --------------------------------------------------------------------------- */

static void set_row(tg_execution *ex, const tg_restore_result *done)
{
    static const char *const NAMES[] = {"table_size_after_restore", "num_of_files_after_restore",
                                        "num_removed_files",        "num_restored_files",
                                        "removed_files_size",       "restored_files_size"};
    enum { COUNT = sizeof(NAMES) / sizeof(*NAMES) };
    const int64_t counts[COUNT] = {done->bytes_after,    done->files_after,   done->removed_files,
                                   done->restored_files, done->removed_bytes, done->restored_bytes};
    const tg_type *type = tg_type_of(TG_TYPE_BIGINT);
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, COUNT);
    tg_value *values = TG_NEW_ARRAY(ex->arena, tg_value, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        fields[i] = (tg_field){.name = tg_str_from(NAMES[i]), .type = type, .nullable = true};
        values[i] = tg_value_int(type, counts[i]);
    }
    ex->result->schema = (tg_schema){.fields = fields, .count = COUNT};
    ex->result->values = values;
    ex->result->row_count = 1;
}

tg_code tg_api_run_restore(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_api_restore_request request = {.name = &stmt->name};
    tg_value value = {0};
    if (stmt->restore_version) {
        TG_TRY(tg_execution_constant(ex, stmt->restore_version, tg_type_of(TG_TYPE_BIGINT), &value,
                                     err));
        request.by_version = true;
        request.version = value.as.i64;
    } else {
        TG_TRY(tg_execution_constant(ex, stmt->restore_timestamp, tg_type_of(TG_TYPE_TIMESTAMP),
                                     &value, err));
        request.by_timestamp = true;
        request.timestamp_us = value.as.i64;
        request.timestamp_text = tg_instant_text(ex->arena, value.as.i64);
    }
    tg_api_restored restored;
    TG_TRY(tg_api_restore(ex->api, &request, ex->arena, &restored, err));
    set_row(ex, &restored.done);
    return TG_OK;
}
