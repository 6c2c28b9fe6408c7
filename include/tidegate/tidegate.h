/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * libtidegate: declarative pipelines on Delta tables, embedded.
 *
 * Objects are opaque. A function that can fail returns a tg_status and, when err is not NULL,
 * stores an error there that the caller releases with tg_failure_free; on success *err is left
 * alone. Texts are UTF-8 and end in NUL. Texts that a function returns belong to the object they
 * come from, unless the function says otherwise.
 *
 * Threads: one session is used by one thread at a time; different sessions may be used at the same
 * time. tg_session_cancel may be called from any thread.
 */
#ifndef TIDEGATE_TIDEGATE_H
#define TIDEGATE_TIDEGATE_H

#include <stddef.h>
#include <stdint.h>

#include <tidegate/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What became of a call. The numbers are the exit statuses of the command line. @since 0.1.0 */
typedef enum tg_status {
    TG_STATUS_OK = 0,
    TG_STATUS_FAILED = 1,     /**< it was tried and failed, perhaps in part */
    TG_STATUS_USAGE = 2,      /**< wrong arguments */
    TG_STATUS_VALIDATION = 3, /**< wrong definitions or statements: no table was touched */
    TG_STATUS_GUARD = 4,      /**< refused by a guard */
    TG_STATUS_CANCELLED = 130
} tg_status;

/** An error. @since 0.1.0 */
typedef struct tg_failure tg_failure;
/** "TABLE_OR_VIEW_NOT_FOUND". @since 0.1.0 */
const char *tg_failure_class(const tg_failure *failure);
/** Five characters. @since 0.1.0 */
const char *tg_failure_sqlstate(const tg_failure *failure);
/** One line, without place and hint. @since 0.1.0 */
const char *tg_failure_message(const tg_failure *failure);
/** All of it for people: place with caret, detail, hint; several lines, several errors. @since
 * 0.1.0 */
const char *tg_failure_text(const tg_failure *failure);
/** Takes NULL. @since 0.1.0 */
void tg_failure_free(tg_failure *failure);

/** The library's version, "0.1.0". @since 0.1.0 */
const char *tg_version(void);

/** Where a session works. Set struct_size to sizeof; NULL and 0 mean the default. @since 0.1.0 */
typedef struct tg_session_options {
    size_t struct_size;
    const char *spec;      /**< a spark-pipeline.yml; its warehouse and names are used */
    const char *warehouse; /**< without a spec: the folder of the tables; default "./warehouse" */
    const char *now; /**< the clock of every statement and update: "2024-03-01T12:00:00Z"; default:
                        the time of each */
    const char *timezone; /**< session time zone; default: the spec's, else UTC */
    const char *catalog;  /**< of names that give none; default: the spec's, else "main" */
    const char *schema;   /**< of names that give none; default: the spec's, else "default" */
} tg_session_options;

typedef struct tg_session tg_session;
/** @since 0.1.0 */
tg_status tg_session_open(const tg_session_options *options, tg_session **out_session,
                          tg_failure **err);
/** Takes NULL. @since 0.1.0 */
void tg_session_close(tg_session *session);
/**
 * Makes the running call of this session end with TG_STATUS_CANCELLED, and its open tg_rows; later
 * calls and other sessions go on. Without a running call nothing happens. @since 0.1.0
 */
void tg_session_cancel(tg_session *session);

/** The rows of one statement. @since 0.1.0 */
typedef struct tg_rows tg_rows;
/** Runs one SQL statement. @since 0.1.0 */
tg_status tg_session_execute(tg_session *session, const char *sql, tg_rows **out_rows,
                             tg_failure **err);
/** Number of columns; 0 for statements that give no rows. @since 0.1.0 */
size_t tg_rows_column_count(const tg_rows *rows);
/** @since 0.1.0 */
const char *tg_rows_column_name(const tg_rows *rows, size_t column);
/** Spark's type text: "decimal(10,2)". @since 0.1.0 */
const char *tg_rows_column_type(const tg_rows *rows, size_t column);
/**
 * The next row as a JSON array (numbers, strings, null; decimals, doubles, dates and timestamps as
 * strings), or NULL at the end: then *out_status says whether all rows came. The text is valid
 * until the next call. @since 0.1.0
 */
const char *tg_rows_next_json(tg_rows *rows, tg_status *out_status, tg_failure **err);
/** Takes NULL. Close it before its session. @since 0.1.0 */
void tg_rows_close(tg_rows *rows);

/**
 * Receives every event of an update as one JSON object, one after the other, on the thread that
 * called tg_session_update. @since 0.1.0
 */
typedef void (*tg_event_callback)(void *context, const char *event_json);
/** A predicate of a REPLACE WHERE flow for one update only. @since 0.1.0 */
typedef struct tg_predicate_override {
    const char *flow_name; /**< short or full name */
    const char *predicate_override;
} tg_predicate_override;
/** A value of :name and ${name} in source files. @since 0.1.0 */
typedef struct tg_parameter {
    const char *name;
    const char *value;
} tg_parameter;
/** What to do with a pipeline. Set struct_size to sizeof. @since 0.1.0 */
typedef struct tg_update_request {
    size_t struct_size;
    int dry_run;                /**< not 0: resolve and validate only */
    const char *const *refresh; /**< tables to refresh; NULL: all */
    size_t refresh_count;
    tg_event_callback on_event; /**< may be NULL */
    void *context;
    const tg_predicate_override *replace_where_overrides; /**< may be NULL */
    size_t replace_where_override_count;
    /**
     * Tables to empty and compute anew; refreshed beside those of refresh. A REPLACE WHERE table
     * then holds the rows of its window only. @since 0.1.0
     */
    const char *const *full_refresh;
    size_t full_refresh_count;
    int full_refresh_all; /**< not 0: all tables; excludes both lists. @since 0.1.0 */
    /**
     * Guards. What a guard refuses is TG_STATUS_GUARD: rows outside a window that a full refresh would
     * lose, unless the table is listed here; @since 0.1.0
     */
    const char *const *allow_reset;
    size_t allow_reset_count;
    int allow_shrink;               /**< not 0: a window may lose most of its rows. @since 0.1.0 */
    int allow_clock_back;           /**< not 0: the clock may go back. @since 0.1.0 */
    const tg_parameter *parameters; /**< instead of the spec's; may be NULL */
    size_t parameter_count;
    /**
     * Tables to take over from the pipeline or statement that they belong to; without being listed
     * here such a table is refused (TIDEGATE_TABLE_NOT_OWNED). @since 0.1.0
     */
    const char *const *adopt;
    size_t adopt_count;
} tg_update_request;
/**
 * Runs one update of the session's pipeline (the session needs a spec). out_summary gets the JSON
 * summary, which belongs to the session; it is NULL only when the update did not begin. @since
 * 0.1.0
 */
tg_status tg_session_update(tg_session *session, const tg_update_request *request,
                            const char **out_summary, tg_failure **err);

#ifdef __cplusplus
}
#endif

#endif
