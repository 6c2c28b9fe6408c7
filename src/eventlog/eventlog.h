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
    TG_EVENT_TYPE_COUNT_
} tg_event_type;
const char *tg_event_type_name(tg_event_type type);
/*
 * Is it the name of an event type, ours or one that only Databricks writes? *out_why: why there are
 * none of it here; NULL for ours.
 */
bool tg_event_type_find(tg_str name, const char **out_why);
/* The nearest name of them all, or empty. */
tg_str tg_event_type_nearest(tg_str name);

/* METRICS: numbers while a flow runs; in the log, not on the console. */
typedef enum tg_event_level {
    TG_LEVEL_INFO,
    TG_LEVEL_WARN,
    TG_LEVEL_ERROR,
    TG_LEVEL_METRICS,
    TG_LEVEL_COUNT_
} tg_event_level;
const char *tg_event_level_name(tg_event_level level);

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct tg_event {
    tg_event_type type;
    tg_event_level level;
    bool is_evolving;      /* maturity_level EVOLVING: our own keys in it may still change */
    tg_str message;        /* one sentence for people */
    tg_str details;        /* the object under details.<event_type>, as JSON; empty: {} */
    const tg_error *error; /* NULL: none */
    bool is_fatal;         /* of the error: the update ends with it */
    /* origin; empty: not about one of these */
    tg_str flow_name, flow_id, dataset_name, table_id;
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
 * file, the sink only. sink may be NULL. The file stays locked until the log is closed, or its
 * process ends in whatever way: that is how readers tell an update that goes on from one whose
 * writer died. Memory in the arena, which outlives the log.
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

/* ---- reading --------------------------------------------------------------------------------- */

/* An event as it was written; absent texts are empty. All of it lives as long as the arena. */
typedef struct tg_event_record {
    tg_str line; /* the whole object as JSON */
    struct yyjson_val *root;
    tg_str id, event_type, level, message;
    tg_str pipeline_id, pipeline_name, update_id, flow_name, dataset_name; /* of origin */
    int64_t timestamp_us;
    struct yyjson_val *details; /* the object under details.<event_type>; NULL: there is none */
    struct yyjson_val *error;   /* NULL: none */
} tg_event_record;

/*
 * Reads one line, which is borrowed. TIDEGATE_INVALID_JSON when it is no event: no JSON object, or
 * without id, event_type, timestamp or origin.update_id.
 */
TG_CHECKED tg_code tg_event_parse(tg_str line, tg_arena *arena, tg_event_record *out,
                                  tg_error *err);

/* The event file of one update. */
typedef struct tg_event_file {
    tg_str path, update_id;
    int64_t started_us; /* the time of its first event */
    int64_t size_bytes;
} tg_event_file;
/*
 * The event files of a storage folder, newest update first. Files that are none (another name, first
 * line no event of that update) are left out with a warning that names them; empty ones, whose
 * update has told nothing yet, silently. No folder: no files.
 */
TG_CHECKED tg_code tg_event_files(const tg_fs *fs, tg_str storage, tg_arena *arena,
                                  tg_event_file **out_files, size_t *out_count, tg_diags *warnings,
                                  tg_error *err);
/*
 * Is the update's writer at work? A live writer holds the lock of its file; one that was killed does
 * not. False too when the file is gone.
 */
TG_CHECKED tg_code tg_event_file_has_writer(const tg_fs *fs, tg_str path, bool *out_has_writer,
                                            tg_error *err);

/*
 * Reads a file event by event, in pieces: no file is too large, and what is appended meanwhile is
 * read too. A last line without line feed is not there yet (or was torn by kill -9) and is not
 * given. Damaged lines are skipped: *warnings gets one warning for the file, with their number.
 */
typedef struct tg_event_reader tg_event_reader;
tg_event_reader *tg_event_reader_new(const tg_fs *fs, tg_str path, tg_arena *arena);
/*
 * *out_has_event false: nothing more for now; call again when the file has grown. The record is
 * valid until the next call. PATH_NOT_FOUND when the file went away.
 */
TG_CHECKED tg_code tg_event_reader_next(tg_event_reader *reader, tg_event_record *out,
                                        bool *out_has_event, tg_error *err);
/* The damaged lines so far, as one warning; false: there are none. */
bool tg_event_reader_warning(const tg_event_reader *reader, tg_error *out_warning);

/* ---- updates as the log tells them ----------------------------------------------------------- */

typedef struct tg_logged_pair {
    tg_str name, value;
} tg_logged_pair;

/* How a flow of the update ended, or how far it came. */
typedef struct tg_logged_flow {
    tg_str flow_name;    /* as in origin.flow_name: bare for CREATE FLOW, else the full name */
    tg_str dataset_name; /* full name of its table */
    tg_str status;       /* "COMPLETED", "FAILED", "SKIPPED", "STOPPED", "EXCLUDED"; "QUEUED",
                            "PLANNING", "STARTING", "RUNNING": the update ended in the middle */
    tg_str technique;    /* empty: it was not planned */
    tg_str window;       /* folded predicate of a REPLACE WHERE flow; empty: none */
    int64_t committed_version; /* -1: none */
    tg_str error_class, error_message;
} tg_logged_flow;

/* All that it takes to run the update again, and what came of it. */
typedef struct tg_logged_update {
    tg_str update_id, pipeline_id, pipeline_name;
    tg_str cause;                /* "USER_ACTION", "API_CALL", "RETRY_ON_FAILURE", ... */
    tg_str retry_of;             /* the update that this one repeats; empty: none */
    int64_t started_us, last_us; /* first and last event */
    /* the request */
    tg_str now; /* its clock, an instant as --now takes it */
    int64_t now_us;
    tg_str timezone;        /* as --timezone takes it */
    tg_str catalog, schema; /* its environment: what names without them meant */
    bool full_refresh, validate_only;
    const tg_str *refresh_selection, *full_refresh_selection, *reset_checkpoint_selection;
    size_t refresh_count, full_refresh_count, reset_checkpoint_count;
    const tg_logged_pair *overrides; /* flow, predicate */
    size_t override_count;
    const tg_logged_pair *parameters;
    size_t parameter_count;
    /* the end */
    tg_str state;  /* the last one: "COMPLETED", "FAILED", "CANCELED"; others: it did not end */
    bool is_ended; /* state is one of those three */
    tg_str error_class, error_message; /* the first error of the update; empty: none */
    const tg_logged_flow *flows;       /* in the order in which they were announced */
    size_t flow_count;
} tg_logged_update;

/* As it is found later. */
typedef struct tg_past_update {
    const tg_logged_update *update;
    bool is_running; /* its writer is at work; false without is_ended: it died */
} tg_past_update;

/* Gathers an update from its events, given in their order. */
typedef struct tg_update_gatherer tg_update_gatherer;
tg_update_gatherer *tg_update_gatherer_new(tg_arena *arena);
/* Texts are copied. */
void tg_update_gatherer_add(tg_update_gatherer *gatherer, const tg_event_record *event);
/* What the events so far say; lives as long as the arena. */
const tg_logged_update *tg_update_gatherer_result(tg_update_gatherer *gatherer);

typedef enum tg_update_wanted {
    TG_UPDATE_BY_ID,        /* whose id begins with the text; TIDEGATE_UNKNOWN_UPDATE when there is
                               none, or more than one */
    TG_UPDATE_NEWEST,       /* there is none: out_update NULL */
    TG_UPDATE_NEWEST_FAILED /* whose state is FAILED or CANCELED, or whose writer died */
} tg_update_wanted;
/*
 * An update by its event file. Updates that were folded into the event-log table (whose files are
 * gone) are found by tg_api_history; the newest update always has its file.
 */
TG_CHECKED tg_code tg_logged_update_find(const tg_fs *fs, tg_str storage, tg_update_wanted wanted,
                                         tg_str id, tg_arena *arena,
                                         const tg_logged_update **out_update, tg_diags *warnings,
                                         tg_error *err);
/* The update of one file. */
TG_CHECKED tg_code tg_logged_update_read(const tg_fs *fs, const tg_event_file *file,
                                         tg_arena *arena, const tg_logged_update **out_update,
                                         tg_diags *warnings, tg_error *err);

#endif
