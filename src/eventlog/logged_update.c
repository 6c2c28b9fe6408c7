/* SPDX-License-Identifier: Apache-2.0 */
/* Updates as their events tell them: what was asked for, and how each flow ended. */
#include <yyjson.h>

#include "eventlog/eventlog_int.h"

typedef TG_VEC(tg_logged_flow) flow_list;

struct tg_update_gatherer {
    tg_arena *arena;
    tg_logged_update update;
    flow_list flows;
    tg_map flow_places; /* flow name -> index + 1 in flows */
};

tg_update_gatherer *tg_update_gatherer_new(tg_arena *arena)
{
    tg_update_gatherer *gatherer = TG_NEW(arena, tg_update_gatherer);
    gatherer->arena = arena;
    tg_map_init(&gatherer->flow_places, arena);
    return gatherer;
}

static tg_str kept(tg_update_gatherer *gatherer, struct yyjson_val *object, const char *key)
{
    return tg_str_copy(gatherer->arena, tg_json_get_str(object, key, TG_S("")));
}

/* ---- the request ----------------------------------------------------------------------------- */

static const tg_str *texts(tg_update_gatherer *gatherer, struct yyjson_val *object, const char *key,
                           size_t *out_count)
{
    struct yyjson_val *array = tg_json_get(object, key);
    TG_VEC(tg_str) list = {0};
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(array, i, count, item)
    {
        TG_VEC_PUSH(gatherer->arena, &list, tg_str_copy(gatherer->arena, tg_json_text(item)));
    }
    *out_count = list.count;
    return list.items;
}

static void take_overrides(tg_update_gatherer *gatherer, struct yyjson_val *details)
{
    TG_VEC(tg_logged_pair) list = {0};
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(tg_json_get(details, "replace_where_overrides"), i, count, item)
    {
        TG_VEC_PUSH(gatherer->arena, &list,
                    ((tg_logged_pair){.name = kept(gatherer, item, "flow_name"),
                                      .value = kept(gatherer, item, "predicate_override")}));
    }
    gatherer->update.overrides = list.items;
    gatherer->update.override_count = list.count;
}

static void take_parameters(tg_update_gatherer *gatherer, struct yyjson_val *details)
{
    yyjson_val *parameters = tg_json_get(details, "parameters");
    if (!parameters) {
        return; /* yyjson's loop takes the address of the first member, which it does not have */
    }
    TG_VEC(tg_logged_pair) list = {0};
    size_t i, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(parameters, i, count, key, value)
    {
        TG_VEC_PUSH(gatherer->arena, &list,
                    ((tg_logged_pair){.name = tg_str_copy(gatherer->arena, tg_json_text(key)),
                                      .value = tg_str_copy(gatherer->arena, tg_json_text(value))}));
    }
    gatherer->update.parameters = list.items;
    gatherer->update.parameter_count = list.count;
}

static void take_request(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    tg_logged_update *update = &gatherer->update;
    struct yyjson_val *details = event->details;
    update->cause = kept(gatherer, details, "cause");
    update->retry_of = kept(gatherer, details, "retry_of");
    update->now = kept(gatherer, details, "now");
    bool has_zone;
    if (!tg_timestamp_parse(update->now, gatherer->arena, &update->now_us, &has_zone)) {
        update->now_us =
            event->timestamp_us; /* not ours: the time of the event is the best guess */
    }
    update->timezone = kept(gatherer, details, "timezone");
    struct yyjson_val *config = tg_json_get(details, "config");
    update->catalog = kept(gatherer, config, "catalog");
    update->schema = kept(gatherer, config, "schema");
    update->full_refresh = tg_json_get_bool(details, "full_refresh", false);
    update->validate_only = tg_json_get_bool(details, "validate_only", false);
    update->refresh_selection =
        texts(gatherer, details, "refresh_selection", &update->refresh_count);
    update->full_refresh_selection =
        texts(gatherer, details, "full_refresh_selection", &update->full_refresh_count);
    update->reset_checkpoint_selection =
        texts(gatherer, details, "reset_checkpoint_selection", &update->reset_checkpoint_count);
    take_overrides(gatherer, details);
    take_parameters(gatherer, details);
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void take_error(tg_update_gatherer *gatherer, const tg_event_record *event,
                       tg_str *out_class, tg_str *out_message)
{
    struct yyjson_val *exception = yyjson_arr_get_first(tg_json_get(event->error, "exceptions"));
    if (out_message->len == 0 && out_class->len == 0) {
        *out_class = kept(gatherer, exception, "class_name");
        *out_message = kept(gatherer, exception, "message");
    }
}

static tg_logged_flow *flow_of(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    uintptr_t place = (uintptr_t)tg_map_get(&gatherer->flow_places, event->flow_name);
    if (place == 0) {
        tg_logged_flow flow = {.flow_name = tg_str_copy(gatherer->arena, event->flow_name),
                               .dataset_name = tg_str_copy(gatherer->arena, event->dataset_name),
                               .committed_version = -1};
        TG_VEC_PUSH(gatherer->arena, &gatherer->flows, flow);
        place = gatherer->flows.count;
        (void)tg_map_put(&gatherer->flow_places, flow.flow_name, (void *)place);
    }
    return &gatherer->flows.items[place - 1];
}

static void take_progress(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    tg_logged_flow *flow = flow_of(gatherer, event);
    flow->status = kept(gatherer, event->details, "status");
    struct yyjson_val *metrics = tg_json_get(event->details, "metrics");
    flow->committed_version =
        tg_json_get_i64(metrics, "committed_version", flow->committed_version);
    if (event->error) {
        take_error(gatherer, event, &flow->error_class, &flow->error_message);
    }
}

/* The chosen technique; the last plan counts, for a lost race plans again. */
static void take_plan(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    static const char PREFIX[] = "MAINTENANCE_TYPE_";
    tg_logged_flow *flow = flow_of(gatherer, event);
    flow->window = kept(gatherer, event->details, "window");
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(tg_json_get(event->details, "technique_information"), i, count, item)
    {
        tg_str type = tg_json_get_str(item, "maintenance_type", TG_S(""));
        if (tg_json_get_bool(item, "is_chosen", false)) {
            size_t prefix = tg_str_starts(type, TG_S(PREFIX)) ? sizeof(PREFIX) - 1 : 0;
            flow->technique = tg_str_copy(gatherer->arena, tg_str_sub(type, prefix, type.len));
        }
    }
}

static void take_state(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    tg_logged_update *update = &gatherer->update;
    update->state = kept(gatherer, event->details, "state");
    update->is_ended = tg_str_eq(update->state, TG_S("COMPLETED")) ||
                       tg_str_eq(update->state, TG_S("FAILED")) ||
                       tg_str_eq(update->state, TG_S("CANCELED"));
}

static bool is_type(const tg_event_record *event, tg_event_type type)
{
    return tg_str_eq(event->event_type, tg_str_from(tg_event_type_name(type)));
}

void tg_update_gatherer_add(tg_update_gatherer *gatherer, const tg_event_record *event)
{
    tg_logged_update *update = &gatherer->update;
    if (update->update_id.len == 0) {
        update->update_id = tg_str_copy(gatherer->arena, event->update_id);
        update->pipeline_id = tg_str_copy(gatherer->arena, event->pipeline_id);
        update->pipeline_name = tg_str_copy(gatherer->arena, event->pipeline_name);
        update->started_us = event->timestamp_us;
    }
    update->last_us = event->timestamp_us;
    if (event->error) {
        take_error(gatherer, event, &update->error_class, &update->error_message);
    }
    if (is_type(event, TG_EVENT_CREATE_UPDATE)) {
        take_request(gatherer, event);
    } else if (is_type(event, TG_EVENT_UPDATE_PROGRESS)) {
        take_state(gatherer, event);
    } else if (event->flow_name.len > 0 && is_type(event, TG_EVENT_FLOW_PROGRESS)) {
        take_progress(gatherer, event);
    } else if (event->flow_name.len > 0 && is_type(event, TG_EVENT_PLANNING_INFORMATION)) {
        take_plan(gatherer, event);
    }
}

const tg_logged_update *tg_update_gatherer_result(tg_update_gatherer *gatherer)
{
    gatherer->update.flows = gatherer->flows.items;
    gatherer->update.flow_count = gatherer->flows.count;
    return &gatherer->update;
}

/* ---- by their files -------------------------------------------------------------------------- */

tg_code tg_logged_update_read(const tg_fs *fs, const tg_event_file *file, tg_arena *arena,
                              const tg_logged_update **out_update, tg_diags *warnings,
                              tg_error *err)
{
    tg_event_reader *reader = tg_event_reader_new(fs, file->path, arena);
    tg_update_gatherer *gatherer = tg_update_gatherer_new(arena);
    for (;;) {
        tg_event_record event;
        bool has_event;
        TG_TRY(tg_event_reader_next(reader, &event, &has_event, err));
        if (!has_event) {
            break;
        }
        tg_update_gatherer_add(gatherer, &event);
    }
    tg_error warning = TG_ERROR_INIT;
    if (tg_event_reader_warning(reader, &warning)) {
        tg_diags_add_warning(warnings, &warning);
    }
    *out_update = tg_update_gatherer_result(gatherer);
    return TG_OK;
}

static tg_code find_by_id(const tg_event_file *files, size_t count, tg_str id,
                          const tg_event_file **out, tg_error *err)
{
    *out = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < count; i++) {
        if (tg_str_istarts(files[i].update_id, id)) {
            *out = &files[i];
            matches++;
        }
    }
    if (matches == 1) {
        return TG_OK;
    }
    if (matches > 1) {
        TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "%zu updates have an id that begins with '%.*s'",
               matches, TG_SARG(id));
        return tg_error_hint(err, "Give more of the id; tidegate history lists them.");
    }
    TG_ERR(err, TIDEGATE_UNKNOWN_UPDATE, "no update has the id '%.*s'", TG_SARG(id));
    return tg_error_hint(err, "tidegate history lists the updates.");
}

static tg_code is_failed(const tg_fs *fs, const tg_event_file *file, const tg_logged_update *update,
                         bool *out_is_failed, tg_error *err)
{
    *out_is_failed = update->is_ended && !tg_str_eq(update->state, TG_S("COMPLETED"));
    if (update->is_ended) {
        return TG_OK;
    }
    bool has_writer;
    TG_TRY(tg_event_file_has_writer(fs, file->path, &has_writer, err));
    *out_is_failed = !has_writer;
    return TG_OK;
}

tg_code tg_logged_update_find(const tg_fs *fs, tg_str storage, tg_update_wanted wanted, tg_str id,
                              tg_arena *arena, const tg_logged_update **out_update,
                              tg_diags *warnings, tg_error *err)
{
    *out_update = NULL;
    tg_event_file *files;
    size_t count;
    TG_TRY(tg_event_files(fs, storage, arena, &files, &count, warnings, err));
    if (wanted == TG_UPDATE_BY_ID) {
        const tg_event_file *file;
        TG_TRY(find_by_id(files, count, id, &file, err));
        return tg_logged_update_read(fs, file, arena, out_update, warnings, err);
    }
    for (size_t i = 0; i < count && !*out_update; i++) {
        const tg_logged_update *update;
        TG_TRY(tg_logged_update_read(fs, &files[i], arena, &update, warnings, err));
        bool is_wanted = wanted == TG_UPDATE_NEWEST;
        if (!is_wanted) {
            TG_TRY(is_failed(fs, &files[i], update, &is_wanted, err));
        }
        *out_update = is_wanted ? update : NULL;
    }
    return TG_OK;
}
