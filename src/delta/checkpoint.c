/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: the state of a version in one Parquet file (Delta protocol, "Checkpoints"). Classic
 * ones, or V2 with all actions in the file itself where the table asks for it
 * (delta.checkpointPolicy).
 *
 * The actions are the log's own lines, newest mention of each: so fields that we do not know of get
 * into the checkpoint as the engine's schema allows, and nothing is written from memory. Kept: live
 * adds, tombstones younger than delta.deletedFileRetentionDuration, protocol, metadata,
 * transactions, domains. Order on disk: Parquet under a temporary name, fsync, rename, then the
 * hint `_last_checkpoint`.
 */
#include "delta/delta_int.h"

typedef struct collector {
    const tg_delta *delta;
    tg_arena *scratch;
    tg_str table_path;
    tg_buf *lines;
    int64_t tombstones_after_ms;
    tg_map seen; /* kind letter and key: "f<path>", "t<app>", "d<domain>", "m", "p" */
    int64_t action_count, add_count;
} collector;

static void reset(void *self)
{
    collector *c = self;
    tg_arena_reset(c->scratch);
    tg_map_init(&c->seen, c->scratch);
    tg_buf_clear(c->lines);
    c->action_count = c->add_count = 0;
}

/* True at the first sight. */
static bool see_first(collector *c, char kind, tg_str name, tg_str rest)
{
    size_t len = 1 + name.len + (rest.len ? 1 + rest.len : 0);
    char *key = tg_arena_alloc(c->scratch, len);
    key[0] = kind;
    tg_copy_bytes(key + 1, name.ptr, name.len);
    if (rest.len) {
        memcpy(key + 1 + name.len + 1, rest.ptr, rest.len);
    }
    if (tg_map_has(&c->seen, (tg_str){key, len})) {
        return false;
    }
    (void)tg_map_put(&c->seen, (tg_str){key, len}, c);
    return true;
}

/* The end of a member's value "true" that starts behind its name; SIZE_MAX when it is not that. */
static size_t end_of_true(tg_str line, size_t at)
{
    bool has_colon = false;
    for (; at < line.len; at++) {
        char c = line.ptr[at];
        if (c == ':' && !has_colon) {
            has_colon = true;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
    tg_str word = TG_S("true");
    return has_colon && tg_str_starts(tg_str_sub(line, at, line.len), word) ? at + word.len
                                                                            : SIZE_MAX;
}

/*
 * A checkpoint changes no data: dataChange is false in it. Within strings quotes are escaped, so
 * the member is what is found (or a string of that text, which no colon and true follow).
 */
static void add_line(tg_buf *lines, tg_str line)
{
    tg_str name = TG_S("\"dataChange\"");
    for (size_t at = tg_str_find(line, name, 0); at != SIZE_MAX;
         at = tg_str_find(line, name, at + 1)) {
        size_t end = end_of_true(line, at + name.len);
        if (end != SIZE_MAX) {
            tg_buf_adds(lines, tg_str_sub(line, 0, at));
            tg_buf_addz(lines, "\"dataChange\":false");
            line = tg_str_sub(line, end, line.len);
            break;
        }
    }
    tg_buf_adds(lines, line);
    tg_buf_addc(lines, '\n');
}

static tg_code collect(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err)
{
    collector *c = self;
    tg_str none = TG_S("");
    bool keep = false;
    (void)out_stop;
    (void)err;
    switch (action->kind) {
    case TG_ACTION_ADD:
        keep = see_first(c, 'f', action->file.path, action->file.dv_id);
        c->add_count += keep;
        break;
    case TG_ACTION_REMOVE:
        keep = see_first(c, 'f', action->file.path, action->file.dv_id) &&
               action->file.time_ms > c->tombstones_after_ms;
        break;
    case TG_ACTION_TXN:
        keep = see_first(c, 't', action->txn.app_id, none);
        break;
    case TG_ACTION_DOMAIN:
        keep = see_first(c, 'd', action->domain, none) && !action->domain_is_removed;
        break;
    case TG_ACTION_METADATA:
        keep = see_first(c, 'm', none, none);
        break;
    case TG_ACTION_PROTOCOL:
        keep = see_first(c, 'p', none, none);
        break;
    default:
        break;
    }
    if (keep) {
        c->action_count++;
        add_line(c->lines, action->line);
    }
    return TG_OK;
}

/* Puts the Parquet file in place under its name. */
static tg_code write_file(const collector *c, const tg_parquet *parquet, tg_str folder, tg_str path,
                          tg_arena *scratch, tg_error *err)
{
    const tg_delta *delta = c->delta;
    char uuid[37];
    delta->env->uuid(delta->env->self, uuid);
    tg_str lines_path = tg_str_printf(scratch, "%.*s/.tmp-%s.json", TG_SARG(folder), uuid);
    tg_str parquet_path = tg_str_printf(scratch, "%.*s/.tmp-%s.parquet", TG_SARG(folder), uuid);
    tg_code code = tg_fs_write_new(delta->fs, lines_path, tg_buf_str(c->lines), err);
    if (code == TG_OK) {
        code = parquet->write_actions(parquet->self, lines_path, parquet_path, err);
        (void)tg_fs_remove(delta->fs, lines_path, NULL);
    }
    code = code == TG_OK ? tg_fs_fsync_file(delta->fs, parquet_path, err) : code;
    code = code == TG_OK ? tg_fs_rename(delta->fs, parquet_path, path, err) : code;
    if (code != TG_OK) {
        (void)tg_fs_remove(delta->fs, parquet_path, NULL);
    }
    return code;
}

static tg_code write_hint(const collector *c, tg_str folder, int64_t version, tg_str path,
                          tg_arena *scratch, tg_error *err)
{
    tg_fs_entry entry;
    tg_json_out out;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    TG_TRY(tg_fs_stat(c->delta->fs, path, &entry, err));
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    tg_json_ki64(&out, "version", version);
    tg_json_ki64(&out, "size", c->action_count);
    tg_json_ki64(&out, "sizeInBytes", entry.size_bytes);
    tg_json_ki64(&out, "numOfAddFiles", c->add_count);
    tg_json_end_object(&out);
    return tg_fs_write_replace(c->delta->fs,
                               tg_path_join(scratch, folder, TG_S("_last_checkpoint")),
                               tg_buf_str(&text), err);
}

/* Does the table ask for V2 checkpoints, and may it have them? */
static bool wants_v2(const tg_delta_snapshot *head)
{
    tg_str policy = tg_delta_property(&head->metadata, TG_S("delta.checkpointPolicy"));
    return policy.ptr && tg_str_ieq(policy, TG_S("v2")) &&
           tg_str_is_in(TG_S("v2Checkpoint"), head->protocol.writer_features,
                        head->protocol.writer_feature_count);
}

/* The name of a V2 checkpoint: nobody else's. The action that says what it is goes to the lines. */
static tg_str begin_v2(collector *c, tg_str folder, int64_t version, tg_arena *arena)
{
    char uuid[37];
    c->delta->env->uuid(c->delta->env->self, uuid);
    tg_buf_addf(c->lines, "{\"checkpointMetadata\":{\"version\":%lld}}\n", (long long)version);
    c->action_count++;
    return tg_str_printf(arena, "%.*s/%020lld.checkpoint.%s.parquet", TG_SARG(folder),
                         (long long)version, uuid);
}

static tg_code write_version(const tg_delta *delta, tg_str table_path, int64_t version,
                             tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_arena tg_arena *collector_scratch = tg_arena_new();
    tg_auto_buf tg_buf lines = TG_BUF_INIT;
    const tg_parquet *parquet = NULL;
    const tg_delta_snapshot *head;
    tg_delta_log log;
    if (!delta->parquet) {
        TG_FAIL(err, UNSUPPORTED_FEATURE,
                "a checkpoint cannot be written: no engine for Parquet is at hand");
    }
    TG_TRY(tg_delta_metadata_load(delta, table_path, version, scratch, &head, err));
    TG_TRY(tg_delta_check_writable(table_path, &head->protocol, &head->metadata, err));
    TG_TRY(delta->parquet(delta->parquet_self, &parquet, err));
    TG_TRY(tg_delta_log_list(delta, table_path, scratch, &log, err));
    collector c = {
        .delta = delta,
        .scratch = collector_scratch,
        .table_path = log.table_path,
        .lines = &lines,
        .tombstones_after_ms = delta->env->now_us(delta->env->self) / 1000 -
                               tg_delta_tombstone_retention_ms(&head->metadata),
    };
    tg_delta_visitor visitor = {
        .self = &c,
        .wanted = TG_ACTION_ADD | TG_ACTION_REMOVE | TG_ACTION_TXN | TG_ACTION_DOMAIN |
                  TG_ACTION_METADATA | TG_ACTION_PROTOCOL,
        .action = collect,
        .reset = reset,
    };
    TG_TRY(tg_delta_replay(&log, version, TG_REPLAY_STATE, &visitor, err));
    tg_str path = wants_v2(head) ? begin_v2(&c, log.folder, version, scratch)
                                 : tg_delta_checkpoint_path(log.folder, version, scratch);
    TG_TRY(write_file(&c, parquet, log.folder, path, scratch, err));
    return write_hint(&c, log.folder, version, path, scratch, err);
}

tg_code tg_delta_checkpoint_write_at(const tg_delta *delta, tg_str table_path, int64_t version,
                                     tg_error *err)
{
    TG_TRY_CTX(write_version(delta, table_path, version, err), err,
               "while writing the checkpoint of version %lld of Delta table '%.*s'",
               (long long)version, TG_SARG(table_path));
    return TG_OK;
}

tg_code tg_delta_checkpoint_write(const tg_delta *delta, const tg_delta_snapshot *snapshot,
                                  tg_error *err)
{
    return tg_delta_checkpoint_write_at(delta, snapshot->table_path, snapshot->version, err);
}
