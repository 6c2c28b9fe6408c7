/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to engine/duckdb: the engine object, sessions, and what the files of this folder share.
 *
 * Locks: the instance's lock, then the watcher's. Neither is held while a call's queries run.
 */
#ifndef TG_ENGINE_DUCKDB_DUCKDB_INT_H
#define TG_ENGINE_DUCKDB_DUCKDB_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "delta/delta.h"
#include "engine/duckdb/duckdb_api.h"
#include "engine/duckdb/duckdb_engine.h"

typedef struct tg_duckdb_engine tg_duckdb_engine;

/* What siblings share: one database, with one memory limit and one pool of threads. */
typedef struct tg_duckdb_instance {
    pthread_mutex_t lock; /* of engine_count, arena, temp_folder and opening the database */
    size_t engine_count;  /* the last one takes the instance with it */
    tg_arena *arena;      /* lives as long as the instance */
    int threads, share;   /* share: of how many instances of this process it is one */
    tg_str memory_limit, temp_folder;
    duckdb_database database;  /* NULL until the first call that needs it */
    atomic_uint cancel_count;  /* grows with each cancel */
    struct tg_duckdb_watcher { /* the thread that cancels what runs; starts with the database */
        pthread_t thread;
        pthread_mutex_t lock; /* of what follows, and of what engines run */
        pthread_cond_t changed;
        tg_duckdb_engine *engines;
        bool is_started, is_closing;
    } watcher;
} tg_duckdb_instance;

struct tg_duckdb_engine {
    tg_engine base; /* first: what users hold */
    const tg_env *env;
    const tg_fs *fs;
    tg_delta delta;
    tg_parquet parquet;
    tg_duckdb_instance *instance;
    atomic_uint seen_cancels;  /* cancel_count when its call started: more since cancel the call */
    duckdb_connection running; /* NULL: nothing; behind the watcher's lock */
    tg_duckdb_engine *next;    /* in the watcher's list */
};

/* ---- watcher.c: cancelling ------------------------------------------------------------------- */

void tg_duckdb_watcher_init(tg_duckdb_instance *instance);
TG_CHECKED tg_code tg_duckdb_watcher_start(tg_duckdb_instance *instance, tg_error *err);
/* Ends the thread; takes one that never started. */
void tg_duckdb_watcher_stop(tg_duckdb_instance *instance);
/* An engine whose calls can be cancelled, until it leaves. */
void tg_duckdb_watcher_join(tg_duckdb_engine *engine);
void tg_duckdb_watcher_leave(tg_duckdb_engine *engine);
/* What runs from now on. */
void tg_duckdb_watch(tg_duckdb_engine *engine, duckdb_connection connection);
/* The connection is done; does nothing when another one is watched. */
void tg_duckdb_unwatch(tg_duckdb_engine *engine, duckdb_connection connection);

/* ---- session.c: connections and statements --------------------------------------------------- */

/* One connection for one call (or one stream), in the session zone that the call asks for. */
typedef struct tg_duckdb_deleted tg_duckdb_deleted;
typedef struct tg_duckdb_session {
    tg_duckdb_engine *engine;
    duckdb_connection connection;
    const tg_delta_snapshot *target; /* of a program that is run: need not be loaded again */
    tg_duckdb_deleted *deleted;      /* lists that its queries ask for; NULL: none */
} tg_duckdb_session;

/* Loads the library and opens the database when that has not happened yet. zone NULL: UTC. */
TG_CHECKED tg_code tg_duckdb_session_open(tg_duckdb_engine *engine, const tg_zone *zone,
                                          tg_duckdb_session *out_session, tg_error *err);
/* Takes a session that never was opened ({0}) too. */
void tg_duckdb_session_close(tg_duckdb_session *session);
#define tg_auto_session __attribute__((cleanup(tg_duckdb_session_close)))

/*
 * Runs one statement; release the result with tg_duckdb.destroy_result or tg_auto_result.
 * is_streaming: chunks are computed as they are fetched. Ends with TG_CANCELLED soon after
 * tg_engine.cancel or the env's flag.
 */
TG_CHECKED tg_code tg_duckdb_run(tg_duckdb_session *session, tg_str sql, bool is_streaming,
                                 duckdb_result *out_result, tg_error *err);
/* Of the settings that it was opened with, the part of one of so many engines. */
TG_CHECKED tg_code tg_duckdb_take_share(tg_duckdb_session *session, int share, tg_error *err);
/* Runs a statement whose result does not matter. */
TG_CHECKED tg_code tg_duckdb_execute(tg_duckdb_session *session, tg_str sql, tg_error *err);
/* What a scope owns; as made by {0} and NULL there is nothing to release. */
static inline void tg_duckdb_result_cleanup(duckdb_result *result)
{
    if (result->internal_data) {
        tg_duckdb.destroy_result(result);
    }
}
#define tg_auto_result __attribute__((cleanup(tg_duckdb_result_cleanup)))
static inline void tg_duckdb_chunk_cleanup(duckdb_data_chunk *chunk)
{
    if (*chunk) {
        tg_duckdb.destroy_data_chunk(chunk);
    }
}
#define tg_auto_chunk __attribute__((cleanup(tg_duckdb_chunk_cleanup)))
/* The next chunk, NULL at the end; release with tg_duckdb.destroy_data_chunk or tg_auto_chunk. */
TG_CHECKED tg_code tg_duckdb_fetch(tg_duckdb_session *session, duckdb_result *result,
                                   duckdb_data_chunk *out_chunk, tg_error *err);
/* The columns of a query without running it. */
TG_CHECKED tg_code tg_duckdb_prepare(tg_duckdb_session *session, tg_str sql,
                                     duckdb_prepared_statement *out_statement, tg_error *err);
/* Has cancel been called, or the env's flag been set? */
bool tg_duckdb_is_cancelled(tg_duckdb_engine *engine);
TG_CHECKED tg_code tg_duckdb_check_cancelled(tg_duckdb_engine *engine, tg_error *err);

/* ---- errors.c -------------------------------------------------------------------------------- */

/*
 * Sets err from a message of DuckDB ("Conversion Error: ..."), under Spark's class where there is
 * one; returns the code.
 */
tg_code tg_duckdb_error_(tg_error *err, const char *message);
#define tg_duckdb_error(...) tg_error_failure_(tg_duckdb_error_(__VA_ARGS__))

/* ---- text.c: pieces of DuckDB SQL ------------------------------------------------------------ */

void tg_duckdb_put_ident(tg_buf *out, tg_str name);
void tg_duckdb_put_string(tg_buf *out, tg_str text);
/*
 * The type under which values of a column are stored and computed; intervals are numbers (months,
 * microseconds).
 */
TG_CHECKED tg_code tg_duckdb_put_type(tg_buf *out, const tg_type *type, tg_error *err);
/* A value as text that casts to its type in DuckDB; not for NULL. */
tg_str tg_duckdb_value_text(tg_arena *arena, tg_value value);
/* A list of paths, taken literally: pattern characters in file names are escaped. */
void tg_duckdb_put_paths(tg_buf *out, const tg_str *paths, size_t count);
/* The type of a DuckDB column as ours; UNSUPPORTED_DATATYPE names the column. */
TG_CHECKED tg_code tg_duckdb_type_from(duckdb_logical_type type, tg_str column, tg_arena *arena,
                                       const tg_type **out_type, tg_error *err);

/* A cell of a chunk (DuckDB's vectors). Strings are views that live as long as the chunk. */
bool tg_duckdb_cell_is_null(duckdb_vector vector, idx_t row);
tg_str tg_duckdb_cell_str(duckdb_vector vector, idx_t row);
int64_t tg_duckdb_cell_i64(duckdb_vector vector, idx_t row);

/* ---- scan.c: tables in FROM ------------------------------------------------------------------ */

/*
 * Appends the text of a bound query. out_source_rows (may be NULL): rows of the files that it lists,
 * -1 when unknown. zone NULL: UTC.
 */
TG_CHECKED tg_code tg_duckdb_print_query(tg_duckdb_session *session, const tg_zone *zone,
                                         const tg_rel *rel, bool numbered_output, tg_arena *arena,
                                         tg_buf *out, int64_t *out_source_rows, tg_error *err);

/* The name of the temporary table that holds a LET step's rows. */
void tg_duckdb_put_let(tg_buf *out, tg_str let);

/* A FROM item that reads some files of a Delta table. */
typedef struct tg_duckdb_files {
    tg_str table_path;
    tg_schema schema;
    tg_delta_mapping mapping; /* ID: names in the files are compared with the log's by field id */
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_delta_add *const *files;
    size_t file_count;
    const size_t *fields; /* columns to give, by index in schema; NULL: all */
    size_t field_count;
    const char
        *file_number; /* name of a BIGINT column with the file's position in files; NULL: none */
    const size_t *file_ids; /* per file the number to give instead of its position; NULL: none */
    const char *row_number; /* name of a BIGINT column with the row's position in its file */
    /* Of each file only the live rows that this one's vector deletes; NULL: all live rows. */
    const tg_delta_add *const *only_deleted_by;
} tg_duckdb_files;
TG_CHECKED tg_code tg_duckdb_put_files(tg_duckdb_session *session, const tg_duckdb_files *files,
                                       const tg_zone *zone, tg_arena *arena, tg_buf *out,
                                       tg_error *err);

/* ---- columns.c: names and ids of columns in files --------------------------------------------- */

/*
 * Appends value (an expression) of type from under the names of struct fields that to has; the types
 * differ in nothing else.
 */
TG_CHECKED tg_code tg_duckdb_put_renamed(tg_buf *out, tg_str value, const tg_type *from,
                                         const tg_type *to, tg_error *err);
/* What COPY's FIELD_IDS takes: the ids of a physical schema without some of its columns. */
void tg_duckdb_put_field_ids(tg_buf *out, tg_schema schema, const tg_str *left_out,
                             size_t left_out_count);

/*
 * Files of a table whose columns are mapped by id: *out_by_id true when ids must find the columns,
 * false when physical names do. Refused: what neither finds. (field_ids.c)
 */
TG_CHECKED tg_code tg_duckdb_check_field_ids(tg_duckdb_session *session, tg_str table_path,
                                             const tg_str *paths, size_t path_count,
                                             tg_schema physical, bool *out_by_id, tg_error *err);

/*
 * Do the files hold their instants (of the columns stored, by physical name) in a form that DuckDB
 * takes for local times? Refused: some do and some do not; parts of nested columns do. (instants.c)
 */
TG_CHECKED tg_code tg_duckdb_find_local_instants(tg_duckdb_session *session, const tg_zone *zone,
                                                 tg_str table_path, const tg_str *paths,
                                                 size_t path_count, tg_schema physical,
                                                 const tg_str *stored, size_t stored_count,
                                                 bool *out_are_local, tg_error *err);
/* ---- deleted.c: rows that deletion vectors take out ------------------------------------------ */

/*
 * Loads the deletion vectors of files and keeps them as long as the session: the text of a scan over
 * these files, in this order, may say tg_is_deleted(*out_number, file_index, file_row_number). 0: no
 * file has one.
 */
TG_CHECKED tg_code tg_duckdb_deleted_keep(tg_duckdb_session *session, tg_str table_path,
                                          const tg_delta_add *const *files, size_t count,
                                          int64_t *out_number, tg_error *err);
/* Of a session that ends. */
void tg_duckdb_deleted_release(tg_duckdb_session *session);

/* ---- changes.c: change feeds ----------------------------------------------------------------- */

tg_code tg_duckdb_describe_changes(void *self, tg_str path, const tg_change_bound *from,
                                   const tg_change_bound *to, tg_str name, tg_arena *arena,
                                   const tg_table **out_table, tg_error *err);
/* The FROM item of a table with is_changes. */
TG_CHECKED tg_code tg_duckdb_put_changes(tg_duckdb_session *session, const tg_rel *scan,
                                         const tg_zone *zone, tg_arena *arena, tg_buf *out,
                                         tg_error *err);

/* ---- sources.c: CSV, JSON and Parquet files -------------------------------------------------- */

/* The FROM item of a table that is not Delta, its columns cast to the table's types. */
TG_CHECKED tg_code tg_duckdb_put_source(tg_duckdb_session *session, const tg_table *table,
                                        const size_t *fields, size_t field_count,
                                        const tg_zone *zone, tg_arena *arena, tg_buf *out,
                                        tg_error *err);
TG_CHECKED tg_code tg_duckdb_describe_source(tg_duckdb_engine *engine, tg_table *table,
                                             tg_arena *arena, tg_error *err);
/* Digest of the names, sizes and times of the files that a path means. */
TG_CHECKED tg_code tg_duckdb_source_digest(tg_duckdb_engine *engine, tg_table_format format,
                                           tg_str path, tg_arena *arena, tg_digest *out_digest,
                                           tg_error *err);

/* ---- query.c --------------------------------------------------------------------------------- */

tg_code tg_duckdb_query(void *self, const tg_engine_context *context, const tg_rel *rel,
                        struct ArrowArrayStream *out_stream, tg_error *err);
tg_code tg_duckdb_fetch_error(void *self, struct ArrowArrayStream *stream, tg_error *err);
tg_code tg_duckdb_explain(void *self, const tg_engine_context *context, const tg_rel *rel,
                          tg_buf *out, tg_error *err);

/* ---- facts.c: what is known of tables without a query ---------------------------------------- */

tg_code tg_duckdb_describe(void *self, tg_table_format format, tg_str path, int64_t version,
                           const tg_property *options, size_t option_count, tg_str name,
                           tg_arena *arena, const tg_table **out_table, tg_error *err);
tg_code tg_duckdb_version_at(void *self, tg_str path, int64_t timestamp_ms, int64_t *out_version,
                             tg_error *err);
tg_code tg_duckdb_identity(void *self, tg_table_format format, tg_str path, int64_t version,
                           tg_arena *arena, tg_pin *out_pin, tg_error *err);
tg_code tg_duckdb_table_facts(void *self, tg_str path, tg_arena *arena, tg_table_facts *out_facts,
                              tg_error *err);
tg_code tg_duckdb_table_state(void *self, tg_str path, tg_str app_id, int64_t version,
                              tg_arena *arena, tg_state_facts *out_state, tg_error *err);
tg_code tg_duckdb_commits_since(void *self, tg_str path, int64_t from, int64_t to, tg_str app_id,
                                const tg_zone *zone, tg_arena *arena, tg_commit_fact **out_commits,
                                size_t *out_count, tg_error *err);
tg_code tg_duckdb_find_commit(void *self, tg_str path, bool (*is_wanted)(void *ctx, tg_str state),
                              void *ctx, int64_t *out_version, tg_error *err);
tg_code tg_duckdb_missing_files(void *self, tg_str path, int64_t version, tg_arena *arena,
                                size_t *out_count, tg_str *out_first, tg_error *err);
tg_code tg_duckdb_restore(void *self, tg_str path, const tg_restore *restore, tg_arena *arena,
                          tg_restore_result *out_result, tg_error *err);
/*
 * A commit as the planner sees it. before: the layout it found (NULL: unknown); table: for the
 * types of bounds.
 */
void tg_duckdb_commit_fact(const tg_delta_commit *commit, const tg_delta_metadata *before,
                           const tg_delta_snapshot *table, tg_str app_id, const tg_zone *zone,
                           tg_arena *arena, tg_commit_fact *out_fact);

/* ---- details.c, optimize.c: statements about one table ---------------------------------------- */

tg_code tg_duckdb_detail(void *self, tg_str path, tg_arena *arena, tg_table_detail *out_detail,
                         tg_error *err);
tg_code tg_duckdb_history(void *self, tg_str path, int64_t limit, tg_arena *arena,
                          tg_history_entry **out_entries, size_t *out_count, tg_error *err);
tg_code tg_duckdb_partitions(void *self, tg_str path, const tg_zone *zone, tg_arena *arena,
                             const tg_value **out_values, size_t *out_count, tg_error *err);
tg_code tg_duckdb_vacuum(void *self, tg_str path, const tg_vacuum *vacuum, tg_arena *arena,
                         tg_vacuum_result *out_result, tg_error *err);
tg_code tg_duckdb_optimize(void *self, tg_str path, const tg_optimize *options, tg_arena *arena,
                           tg_optimize_result *out_result, tg_error *err);

/* ---- not_null.c ------------------------------------------------------------------------------ */

/*
 * Appends value (an expression), guarded when the field is nested and says NOT NULL somewhere. NOT
 * NULL of other columns is checked by tg_duckdb_copy_rows with the statistics that it gets anyway.
 */
void tg_duckdb_put_checked(tg_buf *out, tg_str value, const tg_field *field);

/* ---- copy.c: rows into Parquet files --------------------------------------------------------- */

typedef struct tg_duckdb_copy {
    tg_str table_path;
    tg_schema schema; /* of the rows, partition columns included */
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_property *properties; /* the table's: which columns get statistics */
    size_t property_count;
    const tg_str *indexed; /* columns that get bounds wherever they stand */
    size_t indexed_count;
    tg_str sql; /* a query that gives schema's columns, by their names */
    const tg_str
        *order_by; /* columns by which the rows are sorted; none: as the query gives them */
    size_t order_count;
    int64_t file_bytes; /* a file is closed at the first row group beyond; 0: the default */
    bool one_file;      /* whatever its size; per partition */
} tg_duckdb_copy;
/* Order and file size as a table's properties ask for: CLUSTER BY, delta.targetFileSize. */
void tg_duckdb_set_layout(tg_duckdb_copy *copy, const tg_property *properties, size_t count,
                          tg_arena *arena);

typedef struct tg_duckdb_added { /* a TG_VEC */
    tg_delta_add *items;
    size_t count, capacity;
    int64_t rows, bytes;
} tg_duckdb_added;
/* Writes files and appends what the log must say about them. On failure nothing is left behind. */
TG_CHECKED tg_code tg_duckdb_copy_rows(tg_duckdb_session *session, const tg_duckdb_copy *copy,
                                       tg_arena *arena, tg_duckdb_added *added, tg_error *err);

/* ---- run.c ----------------------------------------------------------------------------------- */

tg_code tg_duckdb_check_target(void *self, const tg_program_target *target, tg_error *err);
tg_code tg_duckdb_check_zone(void *self, const tg_zone *zone, tg_error *err);
tg_code tg_duckdb_run_program(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                              tg_arena *arena, tg_run_result *out_result, tg_error *err);

/* ---- checkpoint.c ---------------------------------------------------------------------------- */

/*
 * tg_delta.parquet: gives the engine's tg_parquet; the library is loaded when one of its functions
 * is called.
 */
tg_code tg_duckdb_parquet(void *self, const tg_parquet **out, tg_error *err);

#endif
