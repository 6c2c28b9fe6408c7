/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event log: what an update did, one JSON object per line, in storage/events/<update_id>.jsonl.
 *
 * Fields, event types and details are those of the Databricks event log, so that queries written
 * for it run on ours. Every event goes to the file and, in the same words, to the caller's sink
 * (console, --json). Ownership: a log borrows what it is opened with until it is closed. Events are
 * borrowed for the call. Threads: one thread at a time.
 */
#ifndef TG_EVENTLOG_EVENTLOG_H
#define TG_EVENTLOG_EVENTLOG_H

#include "fs/fs.h"

typedef enum tg_event_type {
#define TG_EVENT_TYPE(id, name, doc) TG_EVENT_##id,
#include "eventlog/event_types.def"
#undef TG_EVENT_TYPE
    TG_EVENT_TYPE_COUNT_
} tg_event_type;

typedef enum tg_event_level { TG_LEVEL_INFO, TG_LEVEL_WARN, TG_LEVEL_ERROR } tg_event_level;

typedef struct tg_event {
    tg_event_type type;
    tg_event_level level;
    tg_str message;        /* one sentence for people */
    tg_str details;        /* the object under details.<event_type>, as JSON; empty: {} */
    const tg_error *error; /* NULL: none */
    bool is_fatal;         /* of the error: the update ends with it */
    /* origin; empty: not about one of these */
    tg_str flow_name, flow_id, dataset_name;
    int64_t timestamp_us; /* set by tg_eventlog_write */
} tg_event;

/* Receives every event at once; json_line is the line in the file, without its line feed. */
typedef struct tg_event_sink {
    void (*event)(void *self, const tg_event *event, tg_str json_line);
    void *self;
} tg_event_sink;

/* Who writes: the parts of origin that all events of an update share. */
typedef struct tg_event_origin {
    tg_str pipeline_id, pipeline_name, update_id;
    tg_str catalog_name, schema_name;
} tg_event_origin;

typedef struct tg_eventlog tg_eventlog;

/*
 * Starts a log. storage is the pipeline's storage folder (its events folder is created); empty: no
 * file, the sink only. sink may be NULL. Memory in the arena, which outlives the log.
 */
TG_CHECKED tg_code tg_eventlog_open(const tg_fs *fs, const tg_env *env, tg_str storage,
                                    const tg_event_origin *origin, const tg_event_sink *sink,
                                    tg_arena *arena, tg_eventlog **out_log, tg_error *err);
/*
 * Gives the event id, sequence and time, sends it to the sink and keeps its line for the next
 * flush. Events that belong together thus reach the file by one write.
 */
void tg_eventlog_write(tg_eventlog *log, tg_event *event);
/* Appends the kept lines to the file: whole lines only. */
TG_CHECKED tg_code tg_eventlog_flush(tg_eventlog *log, tg_error *err);
/*
 * Flushes and makes the file durable. The log is not used afterwards, whatever the result. Takes
 * NULL.
 */
tg_code tg_eventlog_close(tg_eventlog *log, tg_error *err);
/* <storage>/events/<update_id>.jsonl; empty without storage. */
tg_str tg_eventlog_path(const tg_eventlog *log);

#endif
