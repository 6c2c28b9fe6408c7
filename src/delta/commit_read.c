/* SPDX-License-Identifier: Apache-2.0 */
/* One commit as a whole, and the newest transaction of an application. */
#include "delta/delta_int.h"

/* ---- commits --------------------------------------------------------------------------------- */

typedef struct collector {
    tg_arena *arena;
    const tg_str *partition_columns;
    size_t partition_count;
    tg_delta_commit *commit;
    TG_VEC(tg_delta_add) adds;
    TG_VEC(tg_delta_add) cdcs;
    TG_VEC(tg_delta_remove) removes;
    TG_VEC(tg_delta_txn) txns;
} collector;

static void collect_file(collector *c, const tg_delta_action *action)
{
    const tg_delta_file_action *file = &action->file;
    tg_str path = tg_str_copy(c->arena, file->path);
    tg_str encoded_path = tg_str_copy(c->arena, file->encoded_path);
    tg_str stats = file->stats.len ? tg_str_copy(c->arena, file->stats) : TG_S("");
    const tg_delta_partition_value *values =
        action->kind != TG_ACTION_REMOVE || file->has_partition_values
            ? tg_delta_partition_order(file->partition_values, file->partition_value_count,
                                       c->partition_columns, c->partition_count, c->arena)
            : NULL;
    if (action->kind == TG_ACTION_CDC) {
        TG_VEC_PUSH(c->arena, &c->cdcs,
                    (tg_delta_add){.path = path,
                                   .encoded_path = encoded_path,
                                   .partition_values = values,
                                   .size_bytes = file->size_bytes,
                                   .stats = stats});
    } else if (action->kind == TG_ACTION_ADD) {
        TG_VEC_PUSH(c->arena, &c->adds,
                    (tg_delta_add){path, encoded_path, values, file->size_bytes, file->time_ms,
                                   file->data_change, stats, tg_delta_dv_copy(file->dv, c->arena)});
    } else {
        TG_VEC_PUSH(c->arena, &c->removes,
                    (tg_delta_remove){path, encoded_path, values, file->size_bytes, file->time_ms,
                                      file->data_change, stats,
                                      tg_delta_dv_copy(file->dv, c->arena)});
    }
}

static void collect_info(collector *c, const tg_delta_info *info)
{
    c->commit->info = tg_str_copy(c->arena, info->json);
    c->commit->user_metadata = tg_str_copy(c->arena, info->user_metadata);
    c->commit->operation = tg_str_copy(c->arena, info->operation);
    c->commit->in_commit_ms = info->in_commit_ms;
}

static tg_code collect(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    collector *c = self;
    (void)out_stop;
    switch (action->kind) {
    case TG_ACTION_ADD:
    case TG_ACTION_REMOVE:
        collect_file(c, action);
        break;
    case TG_ACTION_CDC:
        c->commit->has_cdc = true;
        collect_file(c, action);
        break;
    case TG_ACTION_TXN:
        TG_VEC_PUSH(c->arena, &c->txns,
                    (tg_delta_txn){tg_str_copy(c->arena, action->txn.app_id), action->txn.version});
        break;
    case TG_ACTION_COMMIT_INFO:
        collect_info(c, &action->info);
        break;
    case TG_ACTION_METADATA: {
        tg_delta_metadata *metadata = TG_NEW(c->arena, tg_delta_metadata);
        *metadata = tg_delta_metadata_copy(c->arena, &action->metadata);
        if (metadata->schema_string.len) {
            TG_TRY(tg_schema_from_json(metadata->schema_string, c->arena, &metadata->schema, err));
            tg_delta_mapping_set_physical(metadata, c->arena);
        }
        c->commit->metadata = metadata;
        break;
    }
    case TG_ACTION_PROTOCOL: {
        tg_delta_protocol *protocol = TG_NEW(c->arena, tg_delta_protocol);
        *protocol = tg_delta_protocol_copy(c->arena, &action->protocol);
        c->commit->protocol = protocol;
        break;
    }
    default:
        break;
    }
    return TG_OK;
}

/* The replay goes from the last line to the first: back into the order of the file. */
#define REVERSE(type, items, count)               \
    for (size_t i_ = 0; i_ < (count) / 2; i_++) { \
        type swap_ = (items)[i_];                 \
        (items)[i_] = (items)[(count)-1 - i_];    \
        (items)[(count)-1 - i_] = swap_;          \
    }

tg_code tg_delta_commit_read(const tg_delta *delta, tg_str table_path, int64_t version,
                             const tg_str *partition_columns, size_t partition_count,
                             tg_arena *arena, const tg_delta_commit **out_commit, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str folder;
    tg_str text;
    bool stop;
    TG_TRY(tg_delta_table_folder(delta, table_path, scratch, &folder, err));
    tg_str path = tg_delta_commit_path(tg_delta_log_folder(folder, scratch), version, scratch);
    TG_TRY(tg_delta_commit_file_read(delta, path, scratch, &text, err));

    tg_delta_commit *commit = TG_NEW(arena, tg_delta_commit);
    *commit = (tg_delta_commit){
        .version = version,
        .info = TG_S(""),
        .user_metadata = TG_S(""),
        .operation = TG_S(""),
        .in_commit_ms = -1,
    };
    collector c = {.arena = arena,
                   .partition_columns = partition_columns,
                   .partition_count = partition_count,
                   .commit = commit};
    tg_delta_visitor visitor = {
        .self = &c,
        .wanted = TG_ACTION_ADD | TG_ACTION_REMOVE | TG_ACTION_CDC | TG_ACTION_TXN |
                  TG_ACTION_COMMIT_INFO | TG_ACTION_METADATA | TG_ACTION_PROTOCOL,
        .action = collect,
    };
    TG_TRY(tg_delta_text_visit(text, path, folder, &visitor, &stop, err));
    REVERSE(tg_delta_add, c.adds.items, c.adds.count);
    REVERSE(tg_delta_remove, c.removes.items, c.removes.count);
    REVERSE(tg_delta_txn, c.txns.items, c.txns.count);
    commit->adds = c.adds.items;
    commit->add_count = c.adds.count;
    commit->removes = c.removes.items;
    commit->remove_count = c.removes.count;
    REVERSE(tg_delta_add, c.cdcs.items, c.cdcs.count);
    commit->cdcs = c.cdcs.items;
    commit->cdc_count = c.cdcs.count;
    commit->txns = c.txns.items;
    commit->txn_count = c.txns.count;
    *out_commit = commit;
    return TG_OK;
}

/* ---- transactions ---------------------------------------------------------------------------- */

typedef struct txn_finder {
    tg_str app_id;
    bool found;
    int64_t version;
} txn_finder;

static void forget_txn(void *self)
{
    txn_finder *finder = self;
    finder->found = false;
}

static tg_code look_for_txn(void *self, const tg_delta_action *action, bool *out_stop,
                            tg_error *err)
{
    txn_finder *finder = self;
    (void)err;
    if (tg_str_eq(action->txn.app_id, finder->app_id)) {
        finder->found = true;
        finder->version = action->txn.version;
        *out_stop = true;
    }
    return TG_OK;
}

tg_code tg_delta_txn_find(const tg_delta *delta, tg_str table_path, int64_t version, tg_str app_id,
                          int64_t *out_txn_version, bool *out_found, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    TG_TRY(tg_delta_log_resolve(&log, version, &version, err));
    txn_finder finder = {.app_id = app_id};
    tg_delta_visitor visitor = {
        .self = &finder, .wanted = TG_ACTION_TXN, .action = look_for_txn, .reset = forget_txn};
    TG_TRY(tg_delta_replay(&log, version, TG_REPLAY_TXN, &visitor, err));
    *out_found = finder.found;
    if (finder.found) {
        *out_txn_version = finder.version;
    }
    return TG_OK;
}
