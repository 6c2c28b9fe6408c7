/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front door for everything that speaks to users: sessions, statements, results, updates.
 *
 * The command line uses this header; include/tidegate/ offers a smaller, stable part of it to other
 * programs (public.c). Ownership: a session owns its engine and arenas; a result lives until
 * tg_result_close and not longer than its session. Threads: one session is used by one thread at a
 * time; tg_api_cancel from anywhere.
 */
#ifndef TG_API_API_H
#define TG_API_API_H

#include "engine/duckdb/duckdb_engine.h"
#include "pipeline/retry.h"

typedef struct tg_api tg_api;

typedef struct tg_api_options {
    const tg_env *env;      /* NULL: the system's; its cancel flag is not used */
    const tg_fs *fs;        /* NULL: the local one */
    tg_str folder;          /* absolute working directory */
    tg_str spec;            /* --spec; empty: see find_spec */
    bool find_spec;         /* look for a spec from folder upwards */
    bool need_spec;         /* none found is an error, else ./warehouse is used */
    tg_str warehouse;       /* --warehouse; excludes spec */
    tg_str now, timezone;   /* as written; empty: default */
    tg_str catalog, schema; /* overrides of the defaults */
    bool strict_spec;       /* --strict-spec */
    /* What statements that refresh a table may do: adopt, allow_reset, allow_shrink and
     * allow_clock_back of it count. NULL: nothing. Borrowed as long as the session lives. */
    const tg_update_options *permissions;
    /* The tidegate program, for REFRESH ... ASYNC; empty: there is none. */
    tg_str program;
} tg_api_options;

/* diags gets warnings too (of the spec). */
TG_CHECKED tg_code tg_api_open(const tg_api_options *options, tg_api **out_api, tg_diags *diags);
/* Takes NULL. */
void tg_api_close(tg_api *api);
/* This session's work ends with TG_CANCELLED, what is begun later too, until tg_api_begin. */
void tg_api_cancel(tg_api *api);
/* What was cancelled before does not bear on what comes now. */
void tg_api_begin(tg_api *api);
bool tg_api_is_cancelled(const tg_api *api);
/* NULL when the session works on a bare warehouse. */
const tg_spec *tg_api_spec(const tg_api *api);

/* ---- statements ------------------------------------------------------------------------------ */

/* Rows, from an engine or made here. */
typedef struct tg_result {
    tg_api *api;
    tg_arena *arena;
    tg_arena *scratch;              /* of one cell */
    tg_schema schema;               /* count 0: the statement gives no rows */
    struct ArrowArrayStream stream; /* release NULL: the rows are in values */
    struct ArrowSchema arrow_schema;
    const tg_value *values; /* row by row */
    size_t row_count, next_row;
    const char
        *message; /* what was done, for people: "created main.default.t"; NULL: nothing to say */
    const char *note; /* what else people should know, a line or several; NULL: nothing */
    /* the batch being read */
    struct ArrowArray batch;
    int64_t batch_row;
} tg_result;

/*
 * Runs one statement. text is the statement alone (from tg_sql_split); file and source (the whole
 * text that holds it, at offset) locate its errors. Temporary views, USE and SET last as long as
 * the session.
 */
TG_CHECKED tg_code tg_api_execute(tg_api *api, tg_str text, const char *file, tg_str source,
                                  size_t offset, tg_result **out_result, tg_error *err);
/*
 * Since when the session's pipeline does not define a table or view of its own any more; empty: it
 * does, or the name is of nothing that it owns. Best effort: nothing depends on it but a word to people.
 */
tg_str tg_api_inactive_since(tg_api *api, tg_str name, tg_arena *arena);
/* Moves to the next row; *out_has_row false at the end. */
TG_CHECKED tg_code tg_result_next(tg_result *result, bool *out_has_row, tg_error *err);
/* The current row's cell, as JSON in the encoding of --format rows (decimals, doubles, dates as
 * strings ...). */
void tg_result_cell_json(tg_result *result, size_t column, tg_buf *out);
/* All cells of the current row, as a JSON array. */
void tg_result_row_json(tg_result *result, tg_buf *out);
/* As text for people and CSV; false: NULL, and nothing is appended. */
bool tg_result_cell_text(tg_result *result, size_t column, tg_buf *out);
/* Takes NULL. */
void tg_result_close(tg_result *result);

/* ---- updates --------------------------------------------------------------------------------- */

/*
 * Runs (or dry-runs) the session's pipeline. Results live as long as the session. status: how the
 * process should exit (TG_STATUS_* of include/tidegate/tidegate.h).
 */
int tg_api_update(tg_api *api, const tg_update_options *options, tg_update_result *out_result,
                  tg_diags *diags);
/*
 * What the session's pipeline left unfinished, and the options that run it again (as they are, or
 * with sink and explain set). out_retry->table_count 0: nothing to do, and why.
 */
TG_CHECKED tg_code tg_api_retry_options(tg_api *api, const tg_retry_request *request,
                                        tg_retry *out_retry, tg_update_options *out_options,
                                        tg_diags *warnings, tg_error *err);

/* ---- going back ------------------------------------------------------------------------------ */

/* Which version a table goes back to: exactly one of the three. */
typedef struct tg_api_restore_request {
    const tg_name *name;
    bool by_version, by_timestamp;
    int64_t version;
    int64_t timestamp_us;  /* the last version that is not younger */
    tg_str timestamp_text; /* as written: for the table's history */
    tg_str update_id;      /* else: the version that the update found, before it wrote the table */
} tg_api_restore_request;

typedef struct tg_api_restored {
    tg_str table; /* full name */
    int64_t version;
    tg_restore_result done;
} tg_api_restored;

/*
 * One commit takes back rows, schema and properties (but not whose the table is); the next refresh
 * sees it as a change from outside. Errors: DELTA_VERSION_NOT_FOUND, TIDEGATE_UNKNOWN_UPDATE,
 * TIDEGATE_RESTORE_FILES_MISSING and others; nothing was written then.
 */
TG_CHECKED tg_code tg_api_restore(tg_api *api, const tg_api_restore_request *request,
                                  tg_arena *arena, tg_api_restored *out, tg_error *err);
/* An instant as users write it, in the session's zone (tg_clock_parse). */
TG_CHECKED tg_code tg_api_instant(tg_api *api, tg_str text, int64_t *out_us, tg_error *err);

/* ---- event log ------------------------------------------------------------------------------- */

/* The events of one update, from its file or from the event-log table. */
typedef struct tg_api_events tg_api_events;
/*
 * update_id: the id or its beginning; empty: the newest update, *out_events NULL when there is none.
 * Files need no engine; what was folded does. warnings gets damaged and foreign files. Memory in the
 * arena. Errors: TIDEGATE_UNKNOWN_UPDATE.
 */
TG_CHECKED tg_code tg_api_events_open(tg_api *api, tg_str update_id, tg_arena *arena,
                                      tg_api_events **out_events, tg_diags *warnings,
                                      tg_error *err);
/*
 * The next one, valid until the next call; *out_has_event false: no more for now. PATH_NOT_FOUND: the
 * file was folded meanwhile; opened again, the events come from the table.
 */
TG_CHECKED tg_code tg_api_events_next(tg_api_events *events, tg_event_record *out,
                                      bool *out_has_event, tg_error *err);
tg_str tg_api_events_update_id(const tg_api_events *events);
/* Is somebody there to write more? */
TG_CHECKED tg_code tg_api_events_has_writer(const tg_api_events *events, bool *out_has_writer,
                                            tg_error *err);
/* The damaged lines that were left out, as one warning. */
bool tg_api_events_warning(const tg_api_events *events, tg_error *out_warning);

typedef struct tg_api_history_options {
    size_t limit;
    int64_t start_us, end_us; /* of their first events, both included */
} tg_api_history_options;
/* Updates, newest first. Needs the engine only where files do not suffice. */
TG_CHECKED tg_code tg_api_history(tg_api *api, const tg_api_history_options *options,
                                  tg_arena *arena, tg_past_update **out_updates, size_t *out_count,
                                  tg_diags *warnings, tg_error *err);
/* Exit status for an error: 4 for guards, 130 for cancelled, validation (3) when nothing was
 * touched, else 1. */
int tg_api_status(tg_code code, bool nothing_touched);

#endif
