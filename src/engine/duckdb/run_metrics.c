/* SPDX-License-Identifier: Apache-2.0 */
/* operationMetrics of a commit, under the names that Delta has for each operation. */
#include "engine/duckdb/run_int.h"

typedef struct metric_list {
    tg_arena *arena;
    TG_VEC(tg_property) items;
} metric_list;

static void put(metric_list *list, const char *key, int64_t value)
{
    tg_property metric = {.key = tg_str_from(key),
                          .value = tg_str_printf(list->arena, "%lld", (long long)value)};
    TG_VEC_PUSH(list->arena, &list->items, metric);
}

static int64_t removed_bytes(const tg_duckdb_run_state *run)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < run->removed_count; i++) {
        bytes += run->removed[i]->size_bytes;
    }
    return bytes;
}

static void put_files(const tg_duckdb_run_state *run, metric_list *list)
{
    put(list, "numCopiedRows", run->kept_rows);
    put(list, "numAddedFiles", (int64_t)run->added.count);
    put(list, "numRemovedFiles", (int64_t)run->removed_count);
    put(list, "numAddedBytes", run->added.bytes);
    put(list, "numRemovedBytes", removed_bytes(run));
}

static void put_merge(const tg_duckdb_run_state *run, metric_list *list)
{
    const int64_t *rows = run->changes;
    put(list, "numTargetRowsInserted", rows[TG_CHANGE_INSERT]);
    put(list, "numTargetRowsUpdated", rows[TG_CHANGE_UPDATE] + rows[TG_CHANGE_UPDATE_BY_SOURCE]);
    put(list, "numTargetRowsDeleted", rows[TG_CHANGE_DELETE] + rows[TG_CHANGE_DELETE_BY_SOURCE]);
    put(list, "numTargetRowsMatchedUpdated", rows[TG_CHANGE_UPDATE]);
    put(list, "numTargetRowsMatchedDeleted", rows[TG_CHANGE_DELETE]);
    put(list, "numTargetRowsNotMatchedBySourceUpdated", rows[TG_CHANGE_UPDATE_BY_SOURCE]);
    put(list, "numTargetRowsNotMatchedBySourceDeleted", rows[TG_CHANGE_DELETE_BY_SOURCE]);
    put(list, "numTargetRowsCopied", run->kept_rows);
    put(list, "numOutputRows", run->added.rows);
    put(list, "numTargetFilesAdded", (int64_t)run->added.count);
    put(list, "numTargetFilesRemoved", (int64_t)run->removed_count);
    put(list, "numTargetBytesAdded", run->added.bytes);
    put(list, "numTargetBytesRemoved", removed_bytes(run));
}

void tg_duckdb_set_metrics(tg_duckdb_run_state *run, tg_delta_change *change)
{
    metric_list list = {.arena = run->arena};
    tg_str operation = run->program->operation;
    if (tg_str_eq(operation, TG_S("MERGE"))) {
        put_merge(run, &list);
    } else if (tg_str_eq(operation, TG_S("UPDATE"))) {
        put(&list, "numUpdatedRows", run->changes[TG_CHANGE_UPDATE]);
        put_files(run, &list);
    } else if (tg_str_eq(operation, TG_S("DELETE"))) {
        put(&list, "numDeletedRows", run->deleted_rows);
        put_files(run, &list);
    } else {
        put(&list, "numFiles", (int64_t)run->added.count);
        put(&list, "numOutputRows", run->added.rows - run->kept_rows);
        put(&list, "numOutputBytes", run->added.bytes);
        put(&list, "numRemovedFiles", (int64_t)run->removed_count);
        put(&list, "numDeletedRows", run->deleted_rows);
        put(&list, "numCopiedRows", run->kept_rows);
    }
    change->metrics = list.items.items;
    change->metric_count = list.items.count;
}
