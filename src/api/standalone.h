/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to api: streaming tables and materialized views that statements define. Such a table is a
 * pipeline of its own (tg_standalone), run by the machinery of pipelines; its definition stands in
 * its properties (pipeline/owner.h), its events in <warehouse>/.tidegate/<table id>.
 */
#ifndef TG_API_STANDALONE_H
#define TG_API_STANDALONE_H

#include "api/api_int.h"
#include "pipeline/inactive.h"
#include "pipeline/owner.h"

typedef struct tg_standalone_table {
    tg_location location;
    tg_table_facts facts; /* of the newest version; exists false: there is no table yet */
    tg_ownership own;
    tg_str table_id; /* the table's; of one that does not exist: a new one */
    tg_str storage;  /* folder of its events */
} tg_standalone_table;

/* What a name stands for now. TG_OK too when nothing is there. */
TG_CHECKED tg_code tg_standalone_find(tg_execution *ex, const tg_name *name,
                                      tg_standalone_table *out, tg_error *err);
/* The same, and it is a standalone dataset; word: "STREAMING TABLE", "MATERIALIZED VIEW", "TABLE" as
 * in the statement, doing: "refreshed", "altered". */
TG_CHECKED tg_code tg_standalone_find_dataset(tg_execution *ex, const tg_name *name, tg_str word,
                                              const char *doing, tg_standalone_table *out,
                                              tg_error *err);
/* STREAMING_TABLE_NEEDS_REFRESH */
tg_code tg_standalone_needs_refresh_(const tg_location *location, tg_error *err);
#define tg_standalone_needs_refresh(...) \
    tg_error_failure_(tg_standalone_needs_refresh_(__VA_ARGS__))

/* ---- standalone_definition.c ---- */

/* The statement being run, with spans into the text that holds it and full names. */
TG_CHECKED tg_code tg_standalone_own_statement(tg_execution *ex, tg_standalone_stmt *out,
                                               tg_error *err);
/* A statement that a table keeps; what names it in messages. */
TG_CHECKED tg_code tg_standalone_kept_statement(tg_execution *ex, const tg_standalone_table *table,
                                                tg_str text, tg_standalone_stmt *out,
                                                tg_error *err);
/* As it is kept: without schedule and without what is of this moment (IF NOT EXISTS). */
tg_str tg_standalone_definition_text(tg_execution *ex, const tg_stmt *stmt);
/* The normal form of a schedule: "SCHEDULE EVERY 2 DAYS". */
tg_str tg_standalone_schedule_text(tg_execution *ex, tg_str schedule);
/* As DESCRIBE EXTENDED has it: "EVERY 2 DAYS", "MANUAL" for none. */
tg_str tg_standalone_schedule_shown(tg_execution *ex, tg_str schedule);
/* The statements that make the table again. */
TG_CHECKED tg_code tg_standalone_create_text(tg_execution *ex, const tg_standalone_table *table,
                                             tg_str *out_text, tg_error *err);

/* ---- standalone_run.c ---- */

/* A refresh of a table by its statements. options: what is asked for beside the session's clock,
 * zone and permissions. */
TG_CHECKED tg_code tg_standalone_update(tg_execution *ex, const tg_standalone_table *table,
                                        const tg_standalone *standalone,
                                        const tg_update_options *options,
                                        tg_update_result *out_result, tg_error *err);
/* Changes properties of a table, or makes a table that has none yet, without a refresh. */
TG_CHECKED tg_code tg_standalone_commit_definition(tg_execution *ex,
                                                   const tg_standalone_table *table,
                                                   const tg_standalone *standalone, tg_error *err);
/* Changes or takes away (value empty) one property of a table. */
TG_CHECKED tg_code tg_standalone_set_property(tg_execution *ex, const tg_standalone_table *table,
                                              const char *key, tg_str value, tg_error *err);
/* A word for what is kept and not yet run, once per session. */
void tg_standalone_note_schedule(tg_execution *ex, tg_str schedule);

/* ---- standalone_async.c ---- */
TG_CHECKED tg_code tg_standalone_refresh_async(tg_execution *ex, const tg_standalone_table *table,
                                               tg_error *err);

/* ---- standalone_info.c ---- */
typedef struct tg_refresh_info {
    tg_str time, status, technique, window, update_id; /* empty: not known */
} tg_refresh_info;
/* What is known of the last refresh of a table that a flow writes. */
TG_CHECKED tg_code tg_standalone_refresh_info(tg_execution *ex, const tg_standalone_table *table,
                                              tg_refresh_info *out, tg_error *err);
/*
 * What the session's pipeline remembers of a table or view that belongs to owner; nothing where that
 * is another pipeline, or the session has none.
 */
TG_CHECKED tg_code tg_standalone_remembered(tg_execution *ex, tg_str full_name, tg_str owner,
                                            tg_remembered *out, tg_error *err);

#endif
