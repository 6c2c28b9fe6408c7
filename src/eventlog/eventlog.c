/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing events. Lines are kept until the next flush, so that a burst (the definitions of a
 * hundred flows) is one write; the runner flushes before long work and whenever a flow has ended.
 */
#include "eventlog/eventlog_int.h"

#include <stdio.h>

struct tg_eventlog {
    const tg_fs *fs;
    const tg_env *env;
    const tg_event_sink *sink;
    tg_event_origin origin;
    tg_str path;      /* empty: no file */
    tg_fs_lock *lock; /* of the file: tells readers that we live */
    char instance[37];
    int64_t seq_no;
    bool was_written;
    tg_buf pending;
    tg_arena *scratch;
};

static void dispose(void *object)
{
    tg_eventlog *log = object;
    tg_buf_dispose(&log->pending);
    tg_arena_free(log->scratch);
}

tg_code tg_eventlog_open(const tg_fs *fs, const tg_env *env, tg_str storage,
                         const tg_event_origin *origin, const tg_event_sink *sink, tg_arena *arena,
                         tg_eventlog **out_log, tg_error *err)
{
    tg_str path = {0};
    tg_fs_lock *lock = NULL;
    if (storage.len) {
        tg_str folder = tg_path_join(arena, storage, TG_S(TG_EVENT_FOLDER));
        TG_TRY_CTX(tg_fs_make_folders(fs, folder, err), err, "while opening the event log");
        path =
            tg_path_join(arena, folder,
                         tg_str_printf(arena, "%.*s" TG_EVENT_SUFFIX, TG_SARG(origin->update_id)));
        TG_TRY_CTX(tg_fs_take_lock(fs, path, arena, &lock, err), err,
                   "while opening the event log");
    }
    tg_eventlog *log = TG_NEW(arena, tg_eventlog);
    *log = (tg_eventlog){.fs = fs,
                         .env = env,
                         .sink = sink,
                         .origin = *origin,
                         .path = path,
                         .lock = lock,
                         .scratch = tg_arena_new()};
    env->uuid(env->self, log->instance);
    tg_arena_defer(arena, dispose, log);
    *out_log = log;
    return TG_OK;
}

/* A UUID of the writer's and the event's number: as unique as one of its own, and without a dozen system calls. */
static void make_id(const tg_eventlog *log, char out[37])
{
    char name[64];
    int len = snprintf(name, sizeof(name), "%s/%lld", log->instance, (long long)log->seq_no);
    tg_digest digest = tg_digest_of((tg_str){name, (size_t)len});
    unsigned variant = 8 + (unsigned)(digest.low >> 62);
    (void)snprintf(
        out, 37, "%08llx-%04llx-8%03llx-%x%03llx-%012llx", (unsigned long long)(digest.high >> 32),
        (unsigned long long)(digest.high >> 16 & 0xffff), (unsigned long long)(digest.high & 0xfff),
        variant, (unsigned long long)(digest.low >> 48 & 0xfff),
        (unsigned long long)(digest.low & 0xffffffffffff));
}

void tg_eventlog_write(tg_eventlog *log, tg_event *event)
{
    char id[37];
    log->seq_no++;
    make_id(log, id);
    event->timestamp_us = log->env->now_us(log->env->self);
    size_t start = log->pending.len;
    tg_event_json(event, &log->origin, id, log->instance, log->seq_no, log->scratch, &log->pending);
    tg_arena_reset(log->scratch);
    if (log->sink) {
        tg_str line = tg_str_sub(tg_buf_str(&log->pending), start, log->pending.len);
        log->sink->event(log->sink->self, event, line);
    }
    if (log->path.len) {
        tg_buf_addc(&log->pending, '\n');
    } else {
        tg_buf_clear(&log->pending);
    }
}

tg_code tg_eventlog_flush(tg_eventlog *log, tg_error *err)
{
    if (log->pending.len == 0) {
        return TG_OK;
    }
    TG_TRY_CTX(tg_fs_append(log->fs, log->path, tg_buf_str(&log->pending), err), err,
               "while writing the event log");
    tg_buf_clear(&log->pending);
    log->was_written = true;
    return TG_OK;
}

static tg_code make_durable(const tg_eventlog *log, tg_error *err)
{
    TG_TRY_CTX(tg_fs_fsync_file(log->fs, log->path, err), err, "while closing the event log");
    TG_TRY_CTX(tg_fs_fsync_folder(log->fs, tg_path_dirname(log->path), err), err,
               "while closing the event log");
    return TG_OK;
}

tg_code tg_eventlog_close(tg_eventlog *log, tg_error *err)
{
    if (!log) {
        return TG_OK;
    }
    tg_code code = tg_eventlog_flush(log, err);
    if (code == TG_OK && log->was_written) {
        code = make_durable(log, err);
    }
    tg_fs_unlock(log->fs, log->lock);
    log->lock = NULL;
    return code;
}

tg_str tg_eventlog_path(const tg_eventlog *log)
{
    return log->path;
}
