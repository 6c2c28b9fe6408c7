/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a Delta log: the text of a commit, and each of its lines as the row of a checkpoint or
 * as statistics. Checks besides memory: what was read and is written again reads as the same.
 */
#include <string.h>

#include "delta/delta_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct counts {
    tg_arena *arena;
    size_t adds, removes, txns;
    tg_delta_add add; /* the newest add and txn, to be written again */
    tg_delta_txn txn;
} counts;

static tg_code count(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    counts *c = self;
    (void)out_stop;
    (void)err;
    c->adds += action->kind == TG_ACTION_ADD;
    c->removes += action->kind == TG_ACTION_REMOVE;
    c->txns += action->kind == TG_ACTION_TXN;
    if (action->kind == TG_ACTION_ADD) {
        tg_str column = TG_S("d");
        c->add = (tg_delta_add){
            .path = tg_str_copy(c->arena, action->file.path),
            .partition_values =
                tg_delta_partition_order(action->file.partition_values,
                                         action->file.partition_value_count, &column, 1, c->arena),
            .size_bytes = action->file.size_bytes,
            .stats = tg_str_copy(c->arena, action->file.stats),
        };
        (void)tg_delta_file_records(action->file.stats);
        /* Canonical: relative paths that are encoded come back as they are. */
        tg_str again;
        tg_assert(tg_delta_path_decode(tg_uri_encode_path(c->arena, c->add.path), TG_S("/t"),
                                       c->arena, &again));
    }
    if (action->kind == TG_ACTION_TXN) {
        c->txn = (tg_delta_txn){tg_str_copy(c->arena, action->txn.app_id), action->txn.version};
    }
    if (action->kind == TG_ACTION_METADATA) {
        tg_delta_metadata metadata = tg_delta_metadata_copy(c->arena, &action->metadata);
        tg_delta_protocol protocol = {.min_reader_version = 1, .min_writer_version = 2};
        if (tg_delta_metadata_set_schema(&metadata, TG_S("/t"), c->arena, NULL) == TG_OK) {
            tg_code code = tg_delta_check_writable(TG_S("/t"), &protocol, &metadata, NULL);
            tg_assert(code == TG_OK || code == TG_UNSUPPORTED);
            (void)tg_delta_tombstone_retention_ms(&metadata);
        }
    }
    return TG_OK;
}

static void write_again(const counts *seen, tg_arena *arena)
{
    tg_str column = TG_S("d");
    tg_delta_metadata metadata = {.partition_columns = &column, .partition_count = 1};
    tg_delta_change change = {.adds = &seen->add,
                              .add_count = seen->adds > 0,
                              .txns = &seen->txn,
                              .txn_count = seen->txns > 0};
    tg_delta_attempt attempt = {.txn_id = TG_S("id"), .metadata = &metadata};
    tg_str text = tg_delta_change_text(&change, &attempt, arena);
    counts again = {.arena = arena};
    bool stop;
    tg_delta_visitor visitor = {
        .self = &again, .wanted = TG_ACTION_ADD | TG_ACTION_TXN, .action = count};
    tg_assert(tg_delta_text_visit(text, TG_S("f"), TG_S("/t"), &visitor, &stop, NULL) == TG_OK);
    tg_assert(again.adds == change.add_count && again.txns == change.txn_count);
    tg_assert(tg_str_eq(again.txn.app_id, seen->txn.app_id) &&
              again.txn.version == seen->txn.version);
    if (change.add_count) {
        tg_assert(tg_str_eq(again.add.stats, seen->add.stats) &&
                  again.add.size_bytes == seen->add.size_bytes);
        tg_assert(again.add.partition_values[0].is_null == seen->add.partition_values[0].is_null);
        tg_assert(
            tg_str_eq(again.add.partition_values[0].text, seen->add.partition_values[0].text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str text = {(const char *)bytes, size};
    counts seen = {.arena = arena};
    bool stop;
    tg_delta_visitor visitor = {.self = &seen, .wanted = INT32_MAX, .action = count};
    if (tg_delta_text_visit(text, TG_S("/t/_delta_log/0.json"), TG_S("/t"), &visitor, &stop,
                            &err) == TG_OK) {
        write_again(&seen, arena);
    } else {
        tg_assert(err.message && err.message[0]);
    }
    int64_t ms;
    (void)tg_delta_file_records(text);
    (void)tg_delta_interval_parse(text, &ms);
    return 0;
}
