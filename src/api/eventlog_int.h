/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files about the event log: its table, folding, reading. */
#ifndef TG_API_EVENTLOG_INT_H
#define TG_API_EVENTLOG_INT_H

#include "api/api_int.h"

/* The event-log table of the session's pipeline, <catalog>.<schema>.event_log_<pipeline id>, in the
 * spec's own catalog and schema, whatever environment the session is of. */
typedef struct tg_event_table {
    tg_str pipeline_id;
    tg_location location;
    tg_schema schema;
} tg_event_table;

/* *out_exists false: the pipeline never ran, so that it has neither id nor events. */
TG_CHECKED tg_code tg_event_table_find(tg_api *api, tg_arena *arena, tg_event_table *out,
                                       bool *out_exists, tg_error *err);
/* Is it a name that only event-log tables have? */
bool tg_event_table_is_name(tg_str table_name);
/*
 * An error is more than the vendor's columns hold: the rest stands in the event's details under this
 * key, with the names that it has in an event file.
 */
#define TG_EVENT_ERROR_KEY "error"
enum { TG_EVENT_ERROR_KEY_COUNT = 5 };
extern const char *const TG_EVENT_ERROR_KEYS[TG_EVENT_ERROR_KEY_COUNT];
/* Appends an event as a line of the table's columns and types: what they lack is left out, details
 * are text. */
void tg_event_table_line(const tg_event_table *table, const tg_event_record *event, tg_buf *out);
/*
 * Copies the events of some files to a file of such lines. What a file that went away held stands in
 * the table. Damaged lines are left out.
 */
TG_CHECKED tg_code tg_event_table_copy(tg_api *api, const tg_event_table *table,
                                       const tg_event_file *files, size_t count, tg_str to_path,
                                       size_t *out_events, tg_error *err);
/* Such a file as a table. */
tg_table *tg_event_table_of_lines(const tg_event_table *table, tg_str path, tg_arena *arena);

/*
 * Folds event files of updates that have ended into the table and removes them; keep_id names an
 * update that keeps its file. A folder that somebody else folds is left to him. Problems are
 * warnings: the rows of a pipeline are worth more than its log.
 */
void tg_event_files_fold(tg_api *api, tg_str keep_id, tg_diags *warnings);

#endif
