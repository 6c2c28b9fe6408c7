/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: protocol, metadata, live files and transactions of a version.
 *
 * A file is known by its canonical path and its deletion vector; the newest mention decides whether
 * it is live. Partition values are put in order at the end, because the metadata that tells the
 * order comes last when reading newest first.
 */
#include <stdlib.h>

#include "delta/delta_int.h"

typedef struct kept_pairs {
    const tg_delta_pair *pairs;
    size_t count;
} kept_pairs;

typedef struct builder {
    tg_str table_path;
    tg_arena *arena;   /* of the snapshot */
    tg_arena *scratch; /* of this load */
    bool head_only;
    bool has_protocol, has_metadata;
    tg_delta_protocol protocol;
    tg_delta_metadata metadata;
    tg_map seen_files, seen_txns;
    TG_VEC(tg_delta_add) adds;
    TG_VEC(kept_pairs) pairs; /* beside adds */
    TG_VEC(tg_delta_txn) txns;
} builder;

static void reset(void *self)
{
    builder *b = self;
    builder fresh = {.table_path = b->table_path,
                     .arena = b->arena,
                     .scratch = b->scratch,
                     .head_only = b->head_only};
    tg_arena_reset(b->scratch);
    tg_map_init(&fresh.seen_files, b->scratch);
    tg_map_init(&fresh.seen_txns, b->scratch);
    *b = fresh;
}

/* path, or path NUL vector: a decoded path has no NUL. */
static tg_str file_key(const tg_delta_file_action *file, tg_str path, tg_arena *arena)
{
    if (!file->dv_id.len) {
        return path;
    }
    char *key = tg_arena_alloc(arena, path.len + 1 + file->dv_id.len);
    memcpy(key, path.ptr, path.len);
    memcpy(key + path.len + 1, file->dv_id.ptr, file->dv_id.len);
    return (tg_str){key, path.len + 1 + file->dv_id.len};
}

/* Copies the pairs; keys are shared with the file before, which nearly always has the same ones. */
static kept_pairs keep_pairs(builder *b, const tg_delta_file_action *file)
{
    const kept_pairs *before = b->pairs.count ? &b->pairs.items[b->pairs.count - 1] : NULL;
    tg_delta_pair *copy = TG_NEW_ARRAY(b->scratch, tg_delta_pair, file->partition_value_count);
    for (size_t i = 0; i < file->partition_value_count; i++) {
        const tg_delta_pair *pair = &file->partition_values[i];
        bool is_shared = before && i < before->count && tg_str_eq(before->pairs[i].key, pair->key);
        copy[i].key = is_shared ? before->pairs[i].key : tg_str_copy(b->scratch, pair->key);
        copy[i].value.is_null = pair->value.is_null;
        copy[i].value.text = tg_str_copy(b->scratch, pair->value.text);
    }
    return (kept_pairs){copy, file->partition_value_count};
}

static void see_add(builder *b, const tg_delta_file_action *file)
{
    tg_str key = file_key(file, file->path, b->scratch);
    if (tg_map_has(&b->seen_files, key)) {
        return;
    }
    tg_delta_add add = {
        .path = tg_str_copy(b->arena, file->path),
        .size_bytes = file->size_bytes,
        .modification_time_ms = file->time_ms,
        .data_change = file->data_change,
        .stats = file->stats.len ? tg_str_copy(b->arena, file->stats) : TG_S(""),
        .dv = tg_delta_dv_copy(file->dv, b->arena),
    };
    add.encoded_path = tg_str_eq(file->path, file->encoded_path)
                           ? add.path
                           : tg_str_copy(b->arena, file->encoded_path);
    (void)tg_map_put(&b->seen_files, file_key(file, add.path, b->scratch), b);
    kept_pairs pairs = keep_pairs(b, file);
    TG_VEC_PUSH(b->scratch, &b->adds, add);
    TG_VEC_PUSH(b->scratch, &b->pairs, pairs);
}

static void see_remove(builder *b, const tg_delta_file_action *file)
{
    tg_str key = file_key(file, file->path, b->scratch);
    if (!tg_map_has(&b->seen_files, key)) {
        (void)tg_map_put(&b->seen_files, tg_str_copy(b->scratch, key), b);
    }
}

static void see_txn(builder *b, const tg_delta_txn *txn)
{
    if (!tg_map_has(&b->seen_txns, txn->app_id)) {
        tg_delta_txn copy = {.app_id = tg_str_copy(b->arena, txn->app_id), .version = txn->version};
        (void)tg_map_put(&b->seen_txns, copy.app_id, b);
        TG_VEC_PUSH(b->arena, &b->txns, copy);
    }
}

static tg_code see(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    builder *b = self;
    (void)err;
    switch (action->kind) {
    case TG_ACTION_ADD:
        see_add(b, &action->file);
        break;
    case TG_ACTION_REMOVE:
        see_remove(b, &action->file);
        break;
    case TG_ACTION_TXN:
        see_txn(b, &action->txn);
        break;
    case TG_ACTION_METADATA:
        if (!b->has_metadata) {
            b->metadata = tg_delta_metadata_copy(b->arena, &action->metadata);
            b->has_metadata = true;
        }
        break;
    case TG_ACTION_PROTOCOL:
        if (!b->has_protocol) {
            b->protocol = tg_delta_protocol_copy(b->arena, &action->protocol);
            b->has_protocol = true;
        }
        break;
    default:
        break;
    }
    *out_stop = b->head_only && b->has_metadata && b->has_protocol;
    return TG_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return tg_str_cmp(((const tg_delta_add *)a)->path, ((const tg_delta_add *)b)->path);
}

static const tg_delta_add *finish_files(builder *b)
{
    tg_delta_add *files = TG_NEW_ARRAY(b->arena, tg_delta_add, b->adds.count);
    const tg_str *keys = tg_delta_partition_keys(b->scratch, &b->metadata);
    for (size_t i = 0; i < b->adds.count; i++) {
        files[i] = b->adds.items[i];
        files[i].partition_values =
            tg_delta_partition_order(b->pairs.items[i].pairs, b->pairs.items[i].count, keys,
                                     b->metadata.partition_count, b->arena);
    }
    qsort(files, b->adds.count, sizeof(*files), compare_paths);
    return files;
}

static tg_code check_head(const builder *b, int64_t version, tg_error *err)
{
    if (!b->has_protocol || !b->has_metadata) {
        TG_FAIL(err, DELTA_STATE_RECOVER_ERROR,
                "the log of Delta table `%.*s` has no %s action up to version %lld",
                TG_SARG(b->table_path), b->has_protocol ? "metaData" : "protocol",
                (long long)version);
    }
    return tg_delta_check_readable(b->table_path, &b->protocol, &b->metadata, err);
}

static tg_code run(builder *b, const tg_delta_log *log, int64_t version, bool head_only,
                   tg_error *err)
{
    b->head_only = head_only;
    tg_delta_visitor visitor = {.self = b,
                                .wanted = TG_ACTION_METADATA | TG_ACTION_PROTOCOL,
                                .action = see,
                                .reset = reset};
    if (!head_only) {
        visitor.wanted |= TG_ACTION_ADD | TG_ACTION_REMOVE | TG_ACTION_TXN;
    }
    TG_TRY(
        tg_delta_replay(log, version, head_only ? TG_REPLAY_HEAD : TG_REPLAY_STATE, &visitor, err));
    return check_head(b, version, err);
}

/* Lines that we cannot read may be a feature's: then the feature is the message. */
static tg_code explain(builder *b, const tg_delta_log *log, int64_t version, tg_error *failure,
                       tg_error *err)
{
    tg_auto_error tg_error refusal = TG_ERROR_INIT;
    if (failure->code == TG_INVALID_DATA &&
        run(b, log, version, true, &refusal) == TG_UNSUPPORTED) {
        return tg_error_pass(&refusal, err);
    }
    return tg_error_pass(failure, err);
}

static tg_code load(const tg_delta *delta, tg_str table_path, int64_t version, bool head_only,
                    tg_arena *arena, const tg_delta_snapshot **out_snapshot, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_arena tg_arena *builder_scratch = tg_arena_new();
    tg_auto_error tg_error failure = TG_ERROR_INIT;
    tg_delta_log log;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    TG_TRY(tg_delta_log_resolve(&log, version, &version, err));
    tg_str shown_path = tg_str_copy(arena, log.table_path);
    builder b = {.table_path = shown_path, .arena = arena, .scratch = builder_scratch};
    if (run(&b, &log, version, head_only, &failure) != TG_OK) {
        return explain(&b, &log, version, &failure, err);
    }
    TG_TRY(tg_delta_metadata_set_schema(&b.metadata, shown_path, arena, err));
    tg_delta_snapshot *snapshot = TG_NEW(arena, tg_delta_snapshot);
    *snapshot = (tg_delta_snapshot){
        .table_path = shown_path,
        .version = version,
        .protocol = b.protocol,
        .metadata = b.metadata,
        .files = finish_files(&b),
        .file_count = b.adds.count,
        .txns = b.txns.items,
        .txn_count = b.txns.count,
    };
    *out_snapshot = snapshot;
    return TG_OK;
}

tg_code tg_delta_snapshot_load(const tg_delta *delta, tg_str table_path, int64_t version,
                               tg_arena *arena, const tg_delta_snapshot **out_snapshot,
                               tg_error *err)
{
    return load(delta, table_path, version, false, arena, out_snapshot, err);
}

tg_code tg_delta_metadata_load(const tg_delta *delta, tg_str table_path, int64_t version,
                               tg_arena *arena, const tg_delta_snapshot **out_snapshot,
                               tg_error *err)
{
    return load(delta, table_path, version, true, arena, out_snapshot, err);
}

const tg_delta_add *tg_delta_snapshot_find(const tg_delta_snapshot *snapshot, tg_str path)
{
    tg_delta_add key = {.path = path};
    return snapshot->file_count
               ? bsearch(&key, snapshot->files, snapshot->file_count, sizeof(key), compare_paths)
               : NULL;
}
