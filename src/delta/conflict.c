/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a change that lost the race for a version be committed on top of the winners? Serializable,
 * as Spark's ConflictChecker, but finer: Spark looks at partition predicates only,
 * here statistics count too. Doubt is a conflict.
 */
#include "delta/delta_int.h"

static tg_code again(tg_error *err)
{
    return tg_error_hint(err, "Run it again: it will see the other writer's rows.");
}

static tg_code definition_changed(tg_str table_path, const tg_delta_commit *winner, tg_error *err)
{
    (void)TG_ERR(err, DELTA_METADATA_CHANGED,
                 "version %lld of Delta table `%.*s` changed its definition",
                 (long long)winner->version, TG_SARG(table_path));
    return again(err);
}

static bool same_strs(const tg_str *a, size_t a_count, const tg_str *b, size_t b_count)
{
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        if (!tg_str_eq(a[i], b[i])) {
            return false;
        }
    }
    return a_count == b_count;
}

/* Has b every property of a that binds writers (delta.*: constraints, appendOnly ...)? */
static bool has_duties_of(const tg_delta_metadata *a, const tg_delta_metadata *b)
{
    for (size_t i = 0; i < a->config_count; i++) {
        if (tg_str_istarts(a->config_keys[i], TG_S("delta.")) &&
            !tg_str_eq(tg_delta_property(b, a->config_keys[i]), a->config_values[i])) {
            return false;
        }
    }
    return true;
}

static bool is_same_layout(const tg_delta_metadata *a, const tg_delta_metadata *b)
{
    return tg_str_eq(a->id, b->id) && tg_str_eq(a->schema_string, b->schema_string) &&
           has_duties_of(a, b) && has_duties_of(b, a) &&
           same_strs(a->partition_columns, a->partition_count, b->partition_columns,
                     b->partition_count);
}

static tg_code check_removed_twice(tg_str table_path, const tg_delta_change *change,
                                   const tg_delta_commit *winner, const tg_map *mine, tg_error *err)
{
    for (size_t i = 0; i < winner->remove_count && change->remove_count; i++) {
        if (tg_map_has(mine, winner->removes[i].path)) {
            (void)TG_ERR(err, DELTA_CONCURRENT_DELETE_DELETE,
                         "version %lld of Delta table `%.*s` removed file `%.*s` that this write "
                         "removes too",
                         (long long)winner->version, TG_SARG(table_path),
                         TG_SARG(winner->removes[i].path));
            return again(err);
        }
    }
    return TG_OK;
}

tg_code tg_delta_check_final_conflicts(tg_str table_path, const tg_delta_change *change,
                                       const tg_delta_snapshot *snapshot,
                                       const tg_delta_commit *const *winners, size_t winner_count,
                                       tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_map mine;
    tg_map_init(&mine, scratch);
    for (size_t i = 0; i < change->remove_count && winner_count; i++) {
        (void)tg_map_put(&mine, change->removes[i].path, scratch);
    }
    for (size_t i = 0; i < winner_count; i++) {
        const tg_delta_commit *winner = winners[i];
        if (winner->protocol) {
            (void)TG_ERR(err, DELTA_PROTOCOL_CHANGED,
                         "version %lld of Delta table `%.*s` changed its protocol",
                         (long long)winner->version, TG_SARG(table_path));
            return again(err);
        }
        if (winner->metadata &&
            (change->metadata || !is_same_layout(winner->metadata, &snapshot->metadata))) {
            return definition_changed(table_path, winner, err);
        }
        TG_TRY(check_removed_twice(table_path, change, winner, &mine, err));
    }
    return TG_OK;
}

/*
 * What is known of a file that a winner removed: as it was added, else what the remove itself
 * tells.
 */
static tg_delta_add removed_file(const tg_delta_remove *remove, const tg_delta_snapshot *snapshot,
                                 const tg_delta_commit *const *winners, size_t winner_count)
{
    const tg_delta_add *live = tg_delta_snapshot_find(snapshot, remove->path);
    if (live) {
        return *live;
    }
    for (size_t i = 0; i < winner_count; i++) {
        for (size_t j = 0; j < winners[i]->add_count; j++) {
            if (tg_str_eq(winners[i]->adds[j].path, remove->path)) {
                return winners[i]->adds[j];
            }
        }
    }
    return (tg_delta_add){
        .path = remove->path, .partition_values = remove->partition_values, .stats = remove->stats};
}

/* May the file hold a row that was read? */
static bool was_read(const tg_delta_change *change, const tg_delta_snapshot *snapshot,
                     const tg_zone *zone, const tg_delta_add *file, tg_arena *arena)
{
    return tg_region_meets(*change->read_region, tg_delta_file_region(snapshot, file, zone, arena));
}

/* Commits that only move rows between files (dataChange false) take nothing from what was read. */
static tg_code check_read(tg_str table_path, const tg_delta_change *change,
                          const tg_delta_snapshot *snapshot, const tg_zone *zone,
                          const tg_delta_commit *const *winners, size_t position, tg_arena *arena,
                          tg_error *err)
{
    const tg_delta_commit *winner = winners[position];
    for (size_t i = 0; i < winner->add_count; i++) {
        if (winner->adds[i].data_change &&
            was_read(change, snapshot, zone, &winner->adds[i], arena)) {
            (void)TG_ERR(
                err, DELTA_CONCURRENT_APPEND,
                "version %lld of Delta table `%.*s` added rows that this write would have read",
                (long long)winner->version, TG_SARG(table_path));
            return again(err);
        }
    }
    for (size_t i = 0; i < winner->remove_count; i++) {
        const tg_delta_remove *remove = &winner->removes[i];
        if (!remove->data_change) {
            continue;
        }
        tg_delta_add file = removed_file(remove, snapshot, winners, position);
        if (was_read(change, snapshot, zone, &file, arena)) {
            (void)TG_ERR(err, DELTA_CONCURRENT_DELETE_READ,
                         "version %lld of Delta table `%.*s` removed rows that this write had read",
                         (long long)winner->version, TG_SARG(table_path));
            return again(err);
        }
    }
    return TG_OK;
}

static tg_code check_txns(tg_str table_path, const tg_delta_change *change,
                          const tg_delta_commit *winner, tg_error *err)
{
    for (size_t i = 0; i < winner->txn_count; i++) {
        for (size_t j = 0; j < change->txn_count; j++) {
            if (tg_str_eq(winner->txns[i].app_id, change->txns[j].app_id)) {
                (void)TG_ERR(err, DELTA_CONCURRENT_TRANSACTION,
                             "version %lld of Delta table `%.*s` is of the same application",
                             (long long)winner->version, TG_SARG(table_path));
                return again(err);
            }
        }
    }
    return TG_OK;
}

tg_code tg_delta_check_conflicts(tg_str table_path, const tg_delta_change *change,
                                 const tg_delta_snapshot *snapshot, const tg_zone *zone,
                                 const tg_delta_commit *const *winners, size_t winner_count,
                                 tg_arena *arena, tg_error *err)
{
    for (size_t i = 0; i < winner_count; i++) {
        if (winners[i]->metadata) {
            return definition_changed(table_path, winners[i], err);
        }
        TG_TRY(check_txns(table_path, change, winners[i], err));
        if (change->read_region) {
            TG_TRY(check_read(table_path, change, snapshot, zone, winners, i, arena, err));
        }
    }
    return TG_OK;
}
