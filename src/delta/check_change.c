/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold before a change may be committed (Delta protocol, "Requirements for writers";
 * "Per-file Statistics").
 *
 * The table must allow the write; that is the user's business and has its own errors. That a change
 * is well formed is ours: INTERNAL_ERROR, and nothing was written.
 */
#include "delta/delta_int.h"

/* A file is known by its path and its deletion vector; a path has no NUL. */
static tg_str file_key(tg_str path, const tg_delta_dv *dv, tg_arena *arena)
{
    tg_str id = tg_delta_dv_id(dv, arena);
    char *key = tg_arena_alloc(arena, path.len + 1 + id.len);
    memcpy(key, path.ptr, path.len);
    memcpy(key + path.len + 1, id.ptr, id.len);
    return (tg_str){key, path.len + 1 + id.len};
}

static tg_code check_adds(const tg_delta_change *change, const tg_delta_metadata *metadata,
                          const tg_delta_snapshot *snapshot, tg_map *paths, tg_arena *scratch,
                          tg_error *err)
{
    for (size_t i = 0; i < change->add_count; i++) {
        const tg_delta_add *add = &change->adds[i];
        tg_str key = file_key(add->path, add->dv, scratch);
        if (tg_map_has(paths, key)) {
            TG_FAIL(err, DELTA_DUPLICATE_ACTIONS_FOUND, "file `%.*s` would be added twice",
                    TG_SARG(add->path));
        }
        (void)tg_map_put(paths, key, paths);
        if (!add->path.len || add->size_bytes < 0 ||
            (metadata->partition_count && !add->partition_values)) {
            TG_FAIL(err, INTERNAL_ERROR,
                    "file `%.*s` would be added without path, size or partition values",
                    TG_SARG(add->path));
        }
        if (!change->adds_are_restored && tg_delta_file_records(add->stats) < 0) {
            TG_FAIL(err, INTERNAL_ERROR, "file `%.*s` would be added without its number of rows",
                    TG_SARG(add->path));
        }
        const tg_delta_add *live = snapshot ? tg_delta_snapshot_find(snapshot, add->path) : NULL;
        if (live && add->data_change && tg_delta_dv_equal(live->dv, add->dv)) {
            TG_FAIL(err, DELTA_DUPLICATE_ACTIONS_FOUND,
                    "file `%.*s` would be added, and is in the table already", TG_SARG(add->path));
        }
    }
    return TG_OK;
}

static tg_code check_removes(tg_str table_path, const tg_delta_change *change,
                             const tg_delta_metadata *metadata, const tg_delta_snapshot *snapshot,
                             tg_map *paths, tg_arena *scratch, tg_error *err)
{
    bool is_append_only = tg_delta_property_is_true(metadata, TG_S("delta.appendOnly"));
    for (size_t i = 0; i < change->remove_count; i++) {
        const tg_delta_remove *remove = &change->removes[i];
        if (is_append_only && remove->data_change) {
            (void)TG_ERR(
                err, DELTA_CANNOT_MODIFY_APPEND_ONLY,
                "cannot delete or replace rows of Delta table `%.*s`: it only allows appends",
                TG_SARG(table_path));
            return tg_error_hint(
                err, "Set its table property delta.appendOnly to false if this is meant.");
        }
        /*
         * Also a file that is added and removed in one commit: with the same deletion vector, or
         * none, that means nothing.
         */
        tg_str key = file_key(remove->path, remove->dv, scratch);
        if (tg_map_has(paths, key)) {
            TG_FAIL(err, DELTA_DUPLICATE_ACTIONS_FOUND,
                    "file `%.*s` would be removed, and is already named in the commit",
                    TG_SARG(remove->path));
        }
        (void)tg_map_put(paths, key, paths);
        const tg_delta_add *live = snapshot ? tg_delta_snapshot_find(snapshot, remove->path) : NULL;
        if (!live || !tg_delta_dv_equal(live->dv, remove->dv)) {
            TG_FAIL(err, INTERNAL_ERROR, "file `%.*s` would be removed, and is not in the table",
                    TG_SARG(remove->path));
        }
    }
    return TG_OK;
}

static tg_code check_txns(const tg_delta_change *change, tg_error *err)
{
    for (size_t i = 0; i < change->txn_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (tg_str_eq(change->txns[i].app_id, change->txns[j].app_id)) {
                TG_FAIL(err, INTERNAL_ERROR, "transaction `%.*s` would be committed twice",
                        TG_SARG(change->txns[i].app_id));
            }
        }
    }
    return TG_OK;
}

static tg_code check_metadata(const tg_delta_change *change, const tg_delta_protocol *protocol,
                              tg_arena *scratch, tg_error *err)
{
    const tg_delta_metadata *metadata = change->metadata;
    tg_property *properties = TG_NEW_ARRAY(scratch, tg_property, metadata->config_count);
    for (size_t i = 0; i < metadata->config_count; i++) {
        properties[i] =
            (tg_property){.key = metadata->config_keys[i], .value = metadata->config_values[i]};
    }
    TG_TRY(tg_delta_check_definition(metadata->schema, metadata->partition_columns,
                                     metadata->partition_count, properties, metadata->config_count,
                                     err));
    tg_delta_protocol needs;
    TG_TRY(tg_delta_protocol_for(metadata->schema, properties, metadata->config_count, scratch,
                                 &needs, err));
    for (size_t i = 0; i < needs.reader_feature_count; i++) {
        bool is_implied = protocol->min_reader_version == 2 &&
                          tg_str_eq(needs.reader_features[i], TG_S("columnMapping"));
        if (!is_implied && !tg_str_is_in(needs.reader_features[i], protocol->reader_features,
                                         protocol->reader_feature_count)) {
            TG_FAIL(err, INTERNAL_ERROR,
                    "the table's protocol lacks the feature %.*s that its schema needs",
                    TG_SARG(needs.reader_features[i]));
        }
    }
    return TG_OK;
}

tg_code tg_delta_check_change(tg_str table_path, const tg_delta_change *change,
                              const tg_delta_snapshot *snapshot, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    if (!snapshot && (!change->protocol || !change->metadata)) {
        TG_FAIL(err, INTERNAL_ERROR, "a table would be created without protocol or metadata");
    }
    const tg_delta_protocol *protocol = change->protocol ? change->protocol : &snapshot->protocol;
    tg_delta_metadata metadata = change->metadata ? *change->metadata : snapshot->metadata;
    if (!metadata.schema_string.len) {
        metadata.schema_string = tg_schema_to_json(scratch, metadata.schema);
    }
    if (snapshot) {
        TG_TRY(tg_delta_check_writable(table_path, &snapshot->protocol, &snapshot->metadata, err));
    }
    TG_TRY(tg_delta_check_writable(table_path, protocol, &metadata, err));
    if (change->metadata) {
        TG_TRY(check_metadata(change, protocol, scratch, err));
    }
    tg_map paths;
    tg_map_init(&paths, scratch);
    TG_TRY(check_adds(change, &metadata, snapshot, &paths, scratch, err));
    TG_TRY(check_removes(table_path, change, &metadata, snapshot, &paths, scratch, err));
    return check_txns(change, err);
}
