/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: event files of ended updates become rows of the event-log table, exactly once.
 *
 * Who folds holds the lock events/.fold, so there is one at a time, and it ends with its process.
 * The commit that adds the rows names their updates in its state (userMetadata, with a txn); the
 * files are removed behind it. Whoever folds next removes first what the last one committed and did
 * not come to remove: files that its state names.
 */
#include <yyjson.h>

#include "api/eventlog_int.h"

enum { FOLD_FILES = 1000, FOLD_BYTES = 64 * 1024 * 1024 }; /* of one commit; the rest waits */

typedef struct fold {
    tg_api *api;
    tg_arena *arena;
    tg_event_table table;
    tg_table_facts facts;
    tg_str app_id, table_id;
    tg_str lines_path;
    tg_str keep_id;
    const tg_event_file *files; /* to be folded */
    size_t count;
    TG_VEC(tg_str) stuck; /* updates that were folded and whose files cannot be removed */
    tg_str state;         /* of the commit: the updates in it */
} fold;

/* ---- what to fold ---------------------------------------------------------------------------- */

/* An update has ended, or nobody is left to end it. */
static tg_code is_over(const fold *f, const tg_event_file *file, bool *out_is_over, tg_error *err)
{
    bool has_writer;
    TG_TRY(tg_event_file_has_writer(f->api->fs, file->path, &has_writer, err));
    *out_is_over = !has_writer && !tg_str_eq(file->update_id, f->keep_id);
    return TG_OK;
}

/* The updates that the newest fold committed; *out_known false: its commit is gone. */
static tg_code committed_updates(fold *f, tg_map *out_updates, bool *out_known, tg_error *err)
{
    tg_map_init(out_updates, f->arena);
    *out_known = true;
    if (!f->facts.exists) {
        return TG_OK;
    }
    tg_state_facts state;
    const tg_engine *engine = f->api->engine;
    TG_TRY(engine->table_state(engine->self, f->table.location.path, f->app_id, f->facts.version,
                               f->arena, &state, err));
    *out_known = !state.has_txn || state.state_version >= 0;
    struct yyjson_val *root = NULL;
    if (!state.has_txn || state.state_version < 0 ||
        tg_json_parse(state.state, 0, f->arena, &root, NULL) != TG_OK) {
        return TG_OK;
    }
    size_t i, count;
    yyjson_val *item;
    yyjson_arr_foreach(tg_json_get(root, "update_ids"), i, count, item)
    {
        (void)tg_map_put(out_updates, tg_json_text(item), f);
    }
    return TG_OK;
}

/* Without the newest fold's commit its table itself tells what is in it. */
static tg_code read_updates(fold *f, tg_map *out_updates, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT DISTINCT origin.update_id FROM delta.");
    tg_sql_print_ident(f->table.location.path, &sql);
    tg_result *rows;
    TG_TRY(tg_api_execute(f->api, tg_buf_str(&sql), NULL, tg_buf_str(&sql), 0, &rows, err));
    tg_code code;
    for (bool has_row;;) {
        code = tg_result_next(rows, &has_row, err);
        if (code != TG_OK || !has_row) {
            break;
        }
        tg_auto_buf tg_buf id = TG_BUF_INIT;
        if (tg_result_cell_text(rows, 0, &id)) {
            (void)tg_map_put(out_updates, tg_buf_take(&id, f->arena), f);
        }
    }
    tg_result_close(rows);
    return code;
}

static tg_code choose_files(fold *f, tg_error *err)
{
    tg_diags quiet = TG_DIAGS_INIT; /* damaged files are told by those who read the log */
    tg_event_file *all;
    size_t count;
    tg_code code =
        tg_event_files(f->api->fs, f->api->spec->storage, f->arena, &all, &count, &quiet, err);
    tg_diags_dispose(&quiet);
    TG_TRY(code);
    tg_map done;
    bool is_known;
    TG_TRY(committed_updates(f, &done, &is_known, err));
    if (!is_known) {
        TG_TRY(read_updates(f, &done, err));
    }
    TG_VEC(tg_event_file) chosen = {0};
    int64_t bytes = 0;
    for (size_t i = count; i-- > 0;) { /* oldest first */
        bool over;
        TG_TRY(is_over(f, &all[i], &over, err));
        if (!over) {
            continue;
        }
        if (tg_map_has(&done, all[i].update_id)) {
            if (tg_fs_remove(f->api->fs, all[i].path, NULL) != TG_OK) {
                TG_VEC_PUSH(f->arena, &f->stuck, all[i].update_id); /* the next one must know */
            }
        } else if (chosen.count == 0 || (chosen.count + f->stuck.count < FOLD_FILES &&
                                         bytes + all[i].size_bytes <= FOLD_BYTES)) {
            bytes += all[i].size_bytes;
            TG_VEC_PUSH(f->arena, &chosen, all[i]);
        }
    }
    f->files = chosen.items;
    f->count = chosen.count;
    return TG_OK;
}

/* ---- the commit ------------------------------------------------------------------------------ */

static tg_str state_of(const fold *f)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    tg_json_keyz(&out, "update_ids");
    tg_json_array(&out);
    for (size_t i = 0; i < f->count; i++) {
        tg_json_str(&out, f->files[i].update_id);
    }
    for (size_t i = 0; i < f->stuck.count; i++) {
        tg_json_str(&out, f->stuck.items[i]);
    }
    tg_json_end_array(&out);
    tg_json_end_object(&out);
    return tg_buf_take(&text, f->arena);
}

/* Rows are only added: whatever others did to the table meanwhile does not bear on them. */
static tg_code before_attempt(void *self, int64_t read_version, const tg_commit_fact *winners,
                              size_t winner_count, tg_arena *arena, tg_str *out_state,
                              bool *out_rerun, tg_error *err)
{
    (void)read_version;
    (void)winners;
    (void)winner_count;
    (void)arena;
    (void)err;
    *out_state = ((const fold *)self)->state;
    *out_rerun = false;
    return TG_OK;
}

static tg_code commit(fold *f, tg_error *err)
{
    const tg_engine *engine = f->api->engine;
    const tg_table *lines = tg_event_table_of_lines(&f->table, f->lines_path, f->arena);
    const tg_step steps[] = {
        {.kind = TG_STEP_APPEND, .rel = tg_sql_scan(lines, 1, f->arena)},
        {.kind = TG_STEP_COMMIT},
    };
    const tg_property owner = {.key = TG_S("tidegate.pipelineId"), .value = f->table.pipeline_id};
    const tg_property mode = {.key = TG_S("mode"), .value = TG_S("Append")};
    const tg_program program = {
        .target = {.name = f->table.location.full_name,
                   .path = f->table.location.path,
                   .read_version = f->facts.exists ? f->facts.version : -1,
                   .table_id = f->table_id,
                   .schema = f->facts.exists ? f->facts.schema : f->table.schema,
                   .partition_columns = f->facts.partition_columns,
                   .partition_count = f->facts.partition_count,
                   .properties = f->facts.exists ? f->facts.properties : &owner,
                   .property_count = f->facts.exists ? f->facts.property_count : 1,
                   .comment = f->facts.exists ? f->facts.comment : TG_S("Event log of a pipeline")},
        .steps = steps,
        .step_count = 2,
        .operation = TG_S("WRITE"),
        .parameters = &mode,
        .parameter_count = 1,
        .app_id = f->app_id,
        .zone = tg_zone_utc(),
        .now_us = f->api->env->now_us(f->api->env->self),
    };
    const tg_commit_hooks hooks = {.before_attempt = before_attempt, .self = f};
    tg_run_result counts;
    return engine->run(engine->self, &program, &hooks, f->arena, &counts, err);
}

static tg_code load_table(fold *f, bool *out_has_pipeline, tg_error *err)
{
    const tg_engine *engine = f->api->engine;
    TG_TRY(tg_event_table_find(f->api, f->arena, &f->table, out_has_pipeline, err));
    if (!*out_has_pipeline) {
        return TG_OK;
    }
    TG_TRY(engine->table_facts(engine->self, f->table.location.path, f->arena, &f->facts, err));
    if (f->facts.exists) {
        f->table_id = f->facts.table_id;
    } else {
        char id[37];
        f->api->env->uuid(f->api->env->self, id);
        f->table_id = tg_str_copy(f->arena, tg_str_from(id));
    }
    f->app_id = tg_str_printf(f->arena, "tidegate/%.*s/event_log", TG_SARG(f->table.pipeline_id));
    return TG_OK;
}

static tg_code fold_files(fold *f, tg_error *err)
{
    bool has_pipeline;
    TG_TRY(load_table(f, &has_pipeline, err));
    if (!has_pipeline) {
        return TG_OK;
    }
    TG_TRY(choose_files(f, err));
    if (f->count == 0) {
        return TG_OK;
    }
    f->state = state_of(f);
    (void)tg_fs_remove(f->api->fs, f->lines_path, NULL); /* of one who died */
    size_t events;
    tg_code code =
        tg_event_table_copy(f->api, &f->table, f->files, f->count, f->lines_path, &events, err);
    if (code == TG_OK) {
        code = commit(f, err);
    }
    (void)tg_fs_remove(f->api->fs, f->lines_path, NULL);
    TG_TRY(code);
    for (size_t i = 0; i < f->count; i++) { /* what stays is removed by the next one */
        (void)tg_fs_remove(f->api->fs, f->files[i].path, NULL);
    }
    return TG_OK;
}

/* One look before the lock: mostly there is nothing but the file of the update that just ended. */
static tg_code has_other_files(const fold *f, tg_str folder, bool *out_has, tg_error *err)
{
    tg_fs_entry *entries;
    size_t count;
    TG_TRY(
        tg_fs_list(f->api->fs, folder, /* with_details= */ false, f->arena, &entries, &count, err));
    tg_str own = tg_str_printf(f->arena, "%.*s.jsonl", TG_SARG(f->keep_id));
    *out_has = false;
    for (size_t i = 0; i < count; i++) {
        *out_has = *out_has || (tg_str_ends(entries[i].name, TG_S(".jsonl")) &&
                                entries[i].name.ptr[0] != '.' && !tg_str_eq(entries[i].name, own));
    }
    return TG_OK;
}

static tg_code fold_all(fold *f, tg_error *err)
{
    tg_str folder = tg_path_join(f->arena, f->api->spec->storage, TG_S("events"));
    bool has_files;
    TG_TRY(has_other_files(f, folder, &has_files, err));
    if (!has_files) {
        return TG_OK;
    }
    f->lines_path = tg_path_join(f->arena, folder, TG_S(".folding.jsonl"));
    tg_fs_lock *lock;
    TG_TRY(tg_fs_take_lock(f->api->fs, tg_path_join(f->arena, folder, TG_S(".fold")), f->arena,
                           &lock, err));
    if (!lock) {
        return TG_OK;
    }
    tg_code code = fold_files(f, err);
    tg_fs_unlock(f->api->fs, lock);
    return code;
}

void tg_event_files_fold(tg_api *api, tg_str keep_id, tg_diags *warnings)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_error err = TG_ERROR_INIT;
    fold f = {.api = api, .arena = arena, .keep_id = keep_id};
    tg_code code = fold_all(&f, &err);
    if (code != TG_OK && code != TG_CANCELLED) {
        (void)tg_error_context(&err, "while folding event files into the event log");
        tg_diags_add_warning(warnings, &err);
    }
    tg_error_dispose(&err);
}
