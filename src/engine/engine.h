/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine interface: who runs queries and refresh programs, and who knows facts about tables.
 *
 * Level 1: queries. Level 2: tables. Facts about tables come only through the engine (a Spark table
 * may live where C cannot read). Implementations: engine/duckdb (embedded DuckDB + our delta
 * module), engine/fake (scripted, for tests of planner and pipeline); engine/spark comes later. One
 * conformance suite (tests/conformance) runs against each. Opening costs nothing: an implementation
 * loads its library when the first call needs it. table_*, commits_since and identity of Delta
 * tables never do. Threads: one tg_engine is used by one thread at a time, but for cancel; siblings
 * are used at the same time, each by one thread.
 */
#ifndef TG_ENGINE_ENGINE_H
#define TG_ENGINE_ENGINE_H

#include "engine/arrow.h"
#include "program/program.h"

typedef struct tg_engine tg_engine;

/* Settings of a run: they bear on meaning, so they are given with each call. */
typedef struct tg_engine_context {
    const tg_zone *zone;
    int64_t now_us;
} tg_engine_context;

typedef enum tg_engine_capability {
    TG_ENGINE_STATE_REBASE = 1, /* can rebuild state while it races for a version */
    TG_ENGINE_FILE_DIFF = 2,
    TG_ENGINE_NET_CDF = 4,
    TG_ENGINE_EXACT_COPIES = 8,
    TG_ENGINE_SIBLINGS = 16 /* can be used by several threads, through siblings */
} tg_engine_capability;

/* What is known of a table without reading rows. */
typedef struct tg_table_facts {
    bool exists; /* false: the rest is empty */
    int64_t version;
    tg_digest digest; /* of version's commit file */
    tg_str table_id;
    tg_schema schema;
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_property *properties;
    size_t property_count;
    tg_str comment;
} tg_table_facts;

/* One end of a range of changes. */
typedef struct tg_change_bound {
    bool is_timestamp;
    int64_t value; /* a version, or milliseconds */
} tg_change_bound;

/* A flow's state as found in the log (design 6.1). */
typedef struct tg_state_facts {
    bool has_txn;          /* the flow committed before */
    int64_t state_version; /* commit that carries the state; -1: it is gone (foreign log cleanup) */
    tg_str state;          /* commitInfo.userMetadata of that commit; empty when gone */
} tg_state_facts;

/* One commit of a target, as the planner needs it. */
typedef struct tg_commit_fact {
    int64_t version;
    bool is_missing;     /* its log file is gone: may be anything */
    bool changes_data;   /* has dataChange=true files */
    bool changes_schema; /* name, id or type of a column, or partitioning */
    tg_str app_id;       /* txn's app when it is the flow that asked; else empty */
    tg_str state;        /* userMetadata when app_id matches */
    tg_region hull;      /* superset of the rows its dataChange files hold; all when unknown */
} tg_commit_fact;

typedef struct tg_run_result {
    int64_t committed_version; /* -1: nothing was committed */
    int64_t output_rows;       /* rows of the replaced region after */
    int64_t deleted_rows; /* rows of the replaced region before, rows that a CHANGE deleted; -1 not
                                  counted */
    int64_t updated_rows, inserted_rows; /* of CHANGE and APPEND steps */
    int64_t rows_written;                /* physically, rewritten rows included */
    int64_t rows_deleted;                /* physically: rows of the removed files */
    int64_t files_added, files_removed;
    int64_t bytes_added;
    int64_t source_rows_read; /* -1 unknown */
    int attempts;
} tg_run_result;

/* RESTORE: an earlier version becomes the newest one again. */
typedef struct tg_restore {
    int64_t version;
    tg_str timestamp;        /* for the table's history: as it was asked for; empty: by version */
    const tg_str *kept_keys; /* table properties that stay as they are */
    size_t kept_key_count;
    const tg_zone *zone;
} tg_restore;

typedef struct tg_restore_result {
    int64_t committed_version; /* -1: the table is in that state already; nothing was committed */
    int64_t removed_files, restored_files, files_after;
    int64_t removed_bytes, restored_bytes, bytes_after;
} tg_restore_result;

/* DESCRIBE DETAIL: what the log tells of a table beside its facts. */
typedef struct tg_table_detail {
    tg_str table_id, name, comment;
    int64_t version, created_ms, modified_ms;
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_property *properties;
    size_t property_count;
    int64_t file_count, bytes;
    int min_reader_version, min_writer_version;
    const tg_str *features; /* of readers and writers, each once, in byte order */
    size_t feature_count;
} tg_table_detail;

/* A version as DESCRIBE HISTORY shows it. */
typedef struct tg_history_entry {
    int64_t version, timestamp_ms;
    tg_str info; /* commitInfo as JSON object text; empty: the commit has none */
} tg_history_entry;

/* OPTIMIZE: small files become larger ones; no row changes. */
typedef struct tg_optimize {
    const tg_bexpr *predicate; /* over partition columns, ids 1 + index of the schema; NULL: all */
    tg_str predicate_text;
    const tg_str *order_by; /* rows are sorted by these in what is written; empty: kept in order */
    size_t order_count;
    int64_t target_bytes; /* files below are put together up to this size */
    bool all;             /* large files too, where rows are to be sorted */
    const tg_zone *zone;
    int64_t now_us;
} tg_optimize;

typedef struct tg_file_sizes {
    int64_t count, bytes, min, max;
} tg_file_sizes;

typedef struct tg_optimize_result {
    int64_t committed_version; /* -1: nothing to do */
    tg_file_sizes added, removed;
    int64_t partitions, considered_files, skipped_files, batches;
} tg_optimize_result;

/* VACUUM: files that nobody refers to any more and that are old enough go. */
typedef struct tg_vacuum {
    int64_t retain_ms;     /* -1: as the table says (delta.deletedFileRetentionDuration) */
    bool checks_retention; /* shorter than the table says is an error */
    bool dry_run;
} tg_vacuum;

typedef struct tg_vacuum_result {
    const tg_str *files; /* that go, relative to the table, in byte order */
    size_t file_count;
    int64_t bytes;
    int64_t folders; /* that were looked at */
} tg_vacuum_result;

/* What a program asks while it is run. */
typedef struct tg_commit_hooks {
    /*
     * Called before every attempt to commit.
     * read_version: the version the attempt builds on (the last winner). winners: commits since the
     * program's read_version (none at first). Sets out_state to the userMetadata to write (empty:
     * none) and out_rerun when the program must be planned again.
     */
    tg_code (*before_attempt)(void *self, int64_t read_version, const tg_commit_fact *winners,
                              size_t winner_count, tg_arena *arena, tg_str *out_state,
                              bool *out_rerun, tg_error *err);
    /*
     * Called once, when all rows of the program are counted (output_rows and deleted_rows stand in
     * counts) and nothing is committed yet: an error ends the run, and nothing has changed. It may ask
     * the engine for rows. NULL: nobody asks.
     */
    tg_code (*before_commit)(void *self, const tg_run_result *counts, tg_error *err);
    void *self;
} tg_commit_hooks;

struct tg_engine {
    size_t struct_size;
    const char *name; /* "duckdb" */
    uint32_t capabilities;
    void *self;

    /* ---- level 1 ----------------------------------------------------------------------------- */
    /*
     * Runs a bound query; the stream's column types match the query's tg_types. Errors that appear
     * while fetching are given by fetch_error.
     */
    tg_code (*query)(void *self, const tg_engine_context *context, const tg_rel *rel,
                     struct ArrowArrayStream *out_stream, tg_error *err);
    /*
     * The error of a stream whose get_next failed, as a classified error (class, SQLSTATE, span
     * when known).
     */
    tg_code (*fetch_error)(void *self, struct ArrowArrayStream *stream, tg_error *err);
    /* Engine text and plan of a query, for EXPLAIN. */
    tg_code (*explain)(void *self, const tg_engine_context *context, const tg_rel *rel, tg_buf *out,
                       tg_error *err);
    /*
     * May be called from a signal handler's thread: makes the running call, and those of siblings,
     * end with TG_CANCELLED.
     */
    void (*cancel)(void *self);
    /*
     * Another engine over the same instance, to be used by another thread at the same time: same
     * tables, settings, library and process; one memory limit and one set of threads for all. What
     * one has committed the others find. Costs nothing: whichever needs the library first loads it
     * for all. Each is closed by itself, in any order; the instance ends with the last. cancel of
     * one ends the running calls of all. Only with TG_ENGINE_SIBLINGS; UNSUPPORTED_FEATURE
     * otherwise.
     */
    tg_code (*sibling)(void *self, tg_engine **out_engine, tg_error *err);

    /* ---- level 2 ----------------------------------------------------------------------------- */
    /*
     * Describes what a path holds. DELTA: facts of version (-1 latest; pinned in out->version), no
     * library needed. PARQUET, CSV, JSON: infers the schema.
     */
    tg_code (*describe)(void *self, tg_table_format format, tg_str path, int64_t version,
                        const tg_property *options, size_t option_count, tg_str name,
                        tg_arena *arena, const tg_table **out_table, tg_error *err);
    /*
     * The changes of a Delta table in a range of versions or times (to NULL: to the latest) as a table
     * with is_changes: its columns and _change_type, _commit_version, _commit_timestamp. No library
     * needed. May be NULL: this engine reads no change feeds.
     */
    tg_code (*describe_changes)(void *self, tg_str path, const tg_change_bound *from,
                                const tg_change_bound *to, tg_str name, tg_arena *arena,
                                const tg_table **out_table, tg_error *err);
    tg_code (*version_at)(void *self, tg_str path, int64_t timestamp_ms, int64_t *out_version,
                          tg_error *err);
    /*
     * Pins a source: newest version (or the given one) and its digest, without reading more of the
     * log than needed.
     */
    tg_code (*identity)(void *self, tg_table_format format, tg_str path, int64_t version,
                        tg_arena *arena, tg_pin *out_pin, tg_error *err);
    tg_code (*table_facts)(void *self, tg_str path, tg_arena *arena, tg_table_facts *out_facts,
                           tg_error *err);
    tg_code (*table_state)(void *self, tg_str path, tg_str app_id, int64_t version, tg_arena *arena,
                           tg_state_facts *out_state, tg_error *err);
    /* Commits with from < version <= to, oldest first; app_id as in tg_commit_fact. */
    tg_code (*commits_since)(void *self, tg_str path, int64_t from, int64_t to, tg_str app_id,
                             const tg_zone *zone, tg_arena *arena, tg_commit_fact **out_commits,
                             size_t *out_count, tg_error *err);
    /*
     * What `run` would refuse about columns, partitioning and properties of a target that it makes
     * or changes: asked while nothing is written yet. Needs neither the table nor a library.
     */
    tg_code (*check_target)(void *self, const tg_program_target *target, tg_error *err);
    /* Has the engine this zone? Asked before anything runs; needs no library. */
    tg_code (*check_zone)(void *self, const tg_zone *zone, tg_error *err);
    /*
     * Runs a program and commits it: one version, or none. On a lost race the engine itself
     * answers: a winner removed a file that this attempt removes, or changed the schema ->
     * TG_CONFLICT; else the hooks decide. hooks NULL: the Delta conflict test. TG_CONFLICT means:
     * plan again from the newest version. Nothing is left behind but unreferenced files, which are
     * removed. An error may also come after the version became visible (its folder could not be made
     * durable): then the version stands, with its files, and the error's detail says so.
     */
    tg_code (*run)(void *self, const tg_program *program, const tg_commit_hooks *hooks,
                   tg_arena *arena, tg_run_result *out_result, tg_error *err);
    /*
     * The oldest version of a table whose state (userMetadata) is_wanted, as far as its log reaches
     * back; -1: none. This and restore may be NULL: this engine cannot go back.
     */
    tg_code (*find_commit)(void *self, tg_str path, bool (*is_wanted)(void *ctx, tg_str state),
                           void *ctx, int64_t *out_version, tg_error *err);
    /*
     * Takes back rows and definition of a version in one commit; txns stay as they are.
     * TIDEGATE_RESTORE_FILES_MISSING when its files are gone: then nothing was written. A lost race
     * against a writer that changed data is run again on top of it.
     */
    tg_code (*restore)(void *self, tg_str path, const tg_restore *restore, tg_arena *arena,
                       tg_restore_result *out_result, tg_error *err);
    /* Data files of a version that are gone: how many, and the first one. NULL: not known here. */
    tg_code (*missing_files)(void *self, tg_str path, int64_t version, tg_arena *arena,
                             size_t *out_count, tg_str *out_first, tg_error *err);
    /*
     * Facts of the newest version for statements; these five may be NULL: not known here, not done
     * here. None but optimize needs the library.
     */
    tg_code (*detail)(void *self, tg_str path, tg_arena *arena, tg_table_detail *out_detail,
                      tg_error *err);
    /* Newest version first, as far back as the log reaches; limit -1: all. */
    tg_code (*history)(void *self, tg_str path, int64_t limit, tg_arena *arena,
                       tg_history_entry **out_entries, size_t *out_count, tg_error *err);
    /* The partitions that have files: rows of values, in the table's order of partition columns. */
    tg_code (*partitions)(void *self, tg_str path, const tg_zone *zone, tg_arena *arena,
                          const tg_value **out_values, size_t *out_count, tg_error *err);
    /* A lost race is TG_CONFLICT: start again from the newest version. */
    tg_code (*optimize)(void *self, tg_str path, const tg_optimize *optimize, tg_arena *arena,
                        tg_optimize_result *out_result, tg_error *err);
    tg_code (*vacuum)(void *self, tg_str path, const tg_vacuum *vacuum, tg_arena *arena,
                      tg_vacuum_result *out_result, tg_error *err);
    /* Removes a table: its folder. */
    tg_code (*drop)(void *self, tg_str path, tg_error *err);
    void (*close)(void *self);
};

#endif
