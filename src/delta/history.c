/* SPDX-License-Identifier: Apache-2.0 */
/* The commits of a table with their times, newest first. */
#include "delta/delta_int.h"

typedef struct info_keeper {
    tg_arena *arena;
    tg_str info;
} info_keeper;

/* An action lives as long as the call. */
static tg_code keep_info(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    info_keeper *keeper = self;
    (void)err;
    keeper->info = tg_str_copy(keeper->arena, action->info.json);
    *out_stop = true;
    return TG_OK;
}

static tg_code read_info(const tg_delta_log *log, int64_t version, tg_arena *arena,
                         tg_str *out_info, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str path = tg_delta_commit_path(log->folder, version, scratch);
    tg_str text;
    bool stop;
    info_keeper keeper = {.arena = arena, .info = TG_S("")};
    TG_TRY(tg_delta_commit_file_read(log->delta, path, scratch, &text, err));
    const tg_delta_visitor visitor = {
        .self = &keeper, .wanted = TG_ACTION_COMMIT_INFO, .action = keep_info};
    TG_TRY(tg_delta_text_visit(text, path, log->table_path, &visitor, &stop, err));
    *out_info = keeper.info;
    return TG_OK;
}

tg_code tg_delta_history(const tg_delta *delta, tg_str table_path, int64_t limit, tg_arena *arena,
                         tg_delta_history_entry **out_entries, size_t *out_count, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    TG_VEC(tg_delta_history_entry) entries = {0};
    tg_delta_log log;
    int64_t latest;
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    TG_TRY(tg_delta_log_resolve(&log, -1, &latest, err));
    for (size_t i = log.commit_count; i-- > 0 && (limit < 0 || (int64_t)entries.count < limit);) {
        tg_delta_history_entry entry = {.version = log.commits[i]};
        tg_auto_error tg_error local = TG_ERROR_INIT;
        tg_code code = read_info(&log, entry.version, arena, &entry.info, &local);
        if (code == TG_OK) {
            code = tg_delta_log_timestamp(&log, entry.version, &entry.timestamp_ms, &local);
        }
        if (code == TG_NOT_FOUND) {
            break;
        }
        if (code != TG_OK) {
            return tg_error_pass(&local, err);
        }
        TG_VEC_PUSH(arena, &entries, entry);
    }
    *out_entries = entries.items;
    *out_count = entries.count;
    return TG_OK;
}
