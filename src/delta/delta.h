/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Delta log: what a table is at a version, and how a new version comes to be.
 *
 * Files and facts: the Delta protocol. Only the log is handled here;
 * data files are read and written by engines. Checkpoints are Parquet: delta declares tg_parquet,
 * an engine implements it (asked for only when a checkpoint must be read or written).
 *
 * Refused by name when met (UNSUPPORTED): reader or writer features that are not built. Threads:
 * snapshots are immutable; a tg_delta (context) is used by one thread at a time.
 */
#ifndef TG_DELTA_DELTA_H
#define TG_DELTA_DELTA_H

#include "data/data.h"
#include "fs/fs.h"

/*
 * Parquet for checkpoints, implemented by an engine. One action is one line of JSON as in a commit
 * file.
 */
typedef struct tg_parquet {
    void *self;
    /*
     * Calls row once per non-empty action row with its JSON text ({"add":{...}}); stats stay a
     * string, maps are objects, absent fields may be null.
     */
    tg_code (*read_actions)(void *self, const tg_str *paths, size_t path_count,
                            tg_code (*row)(void *ctx, tg_str json, tg_error *err), void *ctx,
                            tg_error *err);
    /*
     * Writes a checkpoint with Spark's schema from a file of newline-delimited actions (no
     * commitInfo, no cdc); a checkpointMetadata among them makes it a V2 one.
     */
    tg_code (*write_actions)(void *self, tg_str actions_path, tg_str parquet_path, tg_error *err);
} tg_parquet;

typedef struct tg_delta {
    const tg_fs *fs;
    const tg_env *env;
    /*
     * Gives the Parquet implementation, opening the engine if need be. May be NULL: checkpoints are
     * then an error.
     */
    tg_code (*parquet)(void *self, const tg_parquet **out, tg_error *err);
    void *parquet_self;
} tg_delta;

/* ---- actions --------------------------------------------------------------------------------- */

typedef struct tg_delta_partition_value {
    bool is_null;
    tg_str text; /* as in the log */
} tg_delta_partition_value;

/* Which rows of a file are deleted: where that is written. */
typedef struct tg_delta_dv {
    char storage;                    /* 'u' file of the table, 'i' in the text, 'p' absolute path */
    tg_str text;                     /* pathOrInlineDv as in the log */
    int64_t offset;                  /* -1: absent */
    int64_t size_bytes, cardinality; /* -1: absent */
} tg_delta_dv;

typedef struct tg_delta_add {
    tg_str path;         /* decoded; relative to the table or absolute */
    tg_str encoded_path; /* as in the log */
    /* One per partition column of the table, in that order. */
    const tg_delta_partition_value *partition_values;
    int64_t size_bytes, modification_time_ms;
    bool data_change;
    tg_str stats;          /* JSON text, empty when absent */
    const tg_delta_dv *dv; /* NULL: no row is deleted */
} tg_delta_add;

typedef struct tg_delta_remove {
    tg_str path, encoded_path;
    const tg_delta_partition_value *partition_values; /* NULL without extended metadata */
    int64_t size_bytes;                               /* -1 unknown */
    int64_t deletion_timestamp_ms;
    bool data_change;
    tg_str stats;
    const tg_delta_dv *dv; /* that the file had; NULL: none */
} tg_delta_remove;

typedef struct tg_delta_protocol {
    int min_reader_version, min_writer_version;
    const tg_str *reader_features, *writer_features;
    size_t reader_feature_count, writer_feature_count;
} tg_delta_protocol;

/* How the columns of a table are found in its files (delta.columnMapping.mode). */
typedef enum tg_delta_mapping {
    TG_MAPPING_NONE, /* by their names */
    TG_MAPPING_NAME, /* by names that never change (physical names) */
    TG_MAPPING_ID    /* by the field ids of Parquet; else as by physical names */
} tg_delta_mapping;

typedef struct tg_delta_metadata {
    tg_str id, name, description, schema_string;
    tg_schema schema;
    /*
     * The same columns as they stand in files, statistics and partition values: physical names at
     * every level. Equal to schema without column mapping. Set where a log is read.
     */
    tg_schema physical;
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_str *config_keys, *config_values;
    size_t config_count;
    int64_t created_time_ms;
} tg_delta_metadata;
/* Value of a table property without regard to case of the key; empty ptr NULL when absent. */
tg_str tg_delta_property(const tg_delta_metadata *metadata, tg_str key);

/* ---- columns in files (mapping.c) ------------------------------------------------------------ */

/* NONE also for a mode that nobody knows: a log with one cannot be read. */
tg_delta_mapping tg_delta_mapping_of(const tg_delta_metadata *metadata);
/*
 * The schema under physical names, at every level; a field that has none keeps its name. A schema
 * that was read from a log has physical names only where the table has column mapping.
 */
tg_schema tg_delta_physical_schema(tg_arena *arena, tg_schema schema);
/* Keys of partitionValues, one per partition column. metadata->schema is set. */
const tg_str *tg_delta_partition_keys(tg_arena *arena, const tg_delta_metadata *metadata);
/* The field's id in Parquet files, or -1. */
int64_t tg_delta_field_id(const tg_field *field);
/*
 * A definition that follows another one, or a new one (before NULL), of a table with column mapping:
 * fields that before has under the same name keep their id and physical name, at every level; others
 * get new ones, and delta.columnMapping.maxColumnId is raised, never lowered. Sets schema,
 * schema_string, physical and the configuration of metadata. Nothing changes without mapping.
 */
TG_CHECKED tg_code tg_delta_mapping_assign(const tg_delta *delta, const tg_delta_metadata *before,
                                           tg_delta_metadata *metadata, tg_arena *arena,
                                           tg_error *err);

typedef struct tg_delta_txn {
    tg_str app_id;
    int64_t version;
} tg_delta_txn;

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct tg_delta_snapshot {
    tg_str table_path; /* absolute */
    int64_t version;
    tg_delta_protocol protocol;
    tg_delta_metadata metadata;
    const tg_delta_add *files; /* live, in path order */
    size_t file_count;
    const tg_delta_txn *txns;
    size_t txn_count;
} tg_delta_snapshot;

/* Is there a Delta log with at least one version? Missing folder: false. */
TG_CHECKED tg_code tg_delta_exists(const tg_delta *delta, tg_str table_path, bool *out_exists,
                                   tg_error *err);
/* Newest version by listing, without reading a file. DELTA_TABLE_NOT_FOUND when there is none. */
TG_CHECKED tg_code tg_delta_latest_version(const tg_delta *delta, tg_str table_path,
                                           int64_t *out_version, tg_error *err);
/* version -1: the latest. Refuses unknown features before anything else is looked at. */
TG_CHECKED tg_code tg_delta_snapshot_load(const tg_delta *delta, tg_str table_path, int64_t version,
                                          tg_arena *arena, const tg_delta_snapshot **out_snapshot,
                                          tg_error *err);
/*
 * As snapshot_load but stops as soon as protocol and metadata are known (no file list, txns may be
 * missing): reads the newest commits first and no checkpoint unless needed.
 */
TG_CHECKED tg_code tg_delta_metadata_load(const tg_delta *delta, tg_str table_path, int64_t version,
                                          tg_arena *arena, const tg_delta_snapshot **out_snapshot,
                                          tg_error *err);

/*
 * Identity of a source: version and digest of its commit file. NOT_FOUND when the log file
 * is gone.
 */
TG_CHECKED tg_code tg_delta_commit_digest(const tg_delta *delta, tg_str table_path, int64_t version,
                                          tg_digest *out_digest, tg_error *err);

typedef struct tg_delta_commit {
    int64_t version;
    tg_str info;          /* commitInfo as JSON object text; empty when absent */
    tg_str user_metadata; /* commitInfo.userMetadata; empty when absent */
    tg_str operation;
    const tg_delta_add *adds; /* partition values by the partition columns that parse was told */
    size_t add_count;
    const tg_delta_remove *removes;
    size_t remove_count;
    const tg_delta_txn *txns;
    size_t txn_count;
    const tg_delta_metadata *metadata; /* NULL: none in this commit */
    const tg_delta_protocol *protocol; /* NULL: none */
    const tg_delta_add *cdcs;          /* files of change data */
    size_t cdc_count;
    bool has_cdc;
    int64_t in_commit_ms; /* commitInfo.inCommitTimestamp; -1: absent */
} tg_delta_commit;
/*
 * Reads one commit file. NOT_FOUND (DELTA_LOG_FILE_NOT_FOUND) when it is gone; TG_INVALID_DATA
 * names file, line and reason when it is damaged.
 */
TG_CHECKED tg_code tg_delta_commit_read(const tg_delta *delta, tg_str table_path, int64_t version,
                                        const tg_str *partition_columns, size_t partition_count,
                                        tg_arena *arena, const tg_delta_commit **out_commit,
                                        tg_error *err);
/*
 * The newest txn of an app at a version, looking through commit files newest first and into a
 * checkpoint only when the commit files do not reach back to it. found false: the app never wrote.
 */
TG_CHECKED tg_code tg_delta_txn_find(const tg_delta *delta, tg_str table_path, int64_t version,
                                     tg_str app_id, int64_t *out_txn_version, bool *out_found,
                                     tg_error *err);
/*
 * Version as of an instant (milliseconds): the last one that is not younger. DELTA_TIMESTAMP_...
 * before the first.
 */
TG_CHECKED tg_code tg_delta_version_at(const tg_delta *delta, tg_str table_path,
                                       int64_t timestamp_ms, int64_t *out_version, tg_error *err);

/* ---- change data feed (change_feed.c) -------------------------------------------------------- */

typedef struct tg_delta_bound {
    bool is_timestamp;
    int64_t value; /* a version, or milliseconds */
} tg_delta_bound;

/* Which versions a reader of changes asks for, and as what columns they are read. */
typedef struct tg_delta_feed {
    int64_t from, to;
    const tg_delta_snapshot *head; /* whose schema the rows have; without files */
} tg_delta_feed;

/*
 * The range of a change feed (to NULL: to the latest version). A time means the first version that
 * is not older (from) or the last that is not younger (to). The feed must have been on at each
 * version (DELTA_MISSING_CHANGE_DATA), and no column of them may be missing in the schema that is
 * read or have another type there (DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE).
 */
TG_CHECKED tg_code tg_delta_feed_open(const tg_delta *delta, tg_str table_path,
                                      const tg_delta_bound *from, const tg_delta_bound *to,
                                      tg_arena *arena, tg_delta_feed *out, tg_error *err);
/*
 * When versions from to to were committed (milliseconds, one each): inCommitTimestamp where the
 * commit has it, else file times made monotonic.
 */
TG_CHECKED tg_code tg_delta_commit_times(const tg_delta *delta, tg_str table_path, int64_t from,
                                         int64_t to, tg_arena *arena, int64_t *out_times,
                                         tg_error *err);

/*
 * Statistics of a file for the given column (top level): bounds typed by the column; what is absent
 * or unusable is unknown. A maximum of floating numbers may leave NaN out, as many writers do;
 * tg_region_of_bounds knows.
 */
void tg_delta_file_bounds(const tg_delta_snapshot *snapshot, const tg_delta_add *file,
                          const tg_zone *zone, const tg_str *columns, const tg_type *const *types,
                          size_t count, tg_arena *arena, tg_column_bounds *out_bounds);
/* The hull of one file over all its columns with bounds (partition columns included). */
tg_region tg_delta_file_region(const tg_delta_snapshot *snapshot, const tg_delta_add *file,
                               const tg_zone *zone, tg_arena *arena);
/* numRecords of a stats text, or -1: the rows in the file, deleted ones too. */
int64_t tg_delta_file_records(tg_str stats);
/* The rows of a file that are not deleted, or -1 when the log does not tell. */
int64_t tg_delta_live_records(const tg_delta_add *file);

/* ---- deleted rows (dv.c) --------------------------------------------------------------------- */

/* A set of row positions, counted from 0 in the order of the data file. Immutable. */
typedef struct tg_delta_rows tg_delta_rows;

/*
 * The rows that a deletion vector names, read and checked whole: size, checksum, form, cardinality.
 * DELTA_DELETION_VECTOR_..., TIDEGATE_DELTA_LOG_INVALID or PATH_NOT_FOUND with file_path, the data
 * file whose rows they are.
 */
TG_CHECKED tg_code tg_delta_dv_load(const tg_delta *delta, tg_str table_path, tg_str file_path,
                                    const tg_delta_dv *dv, tg_arena *arena,
                                    const tg_delta_rows **out, tg_error *err);
bool tg_delta_rows_has(const tg_delta_rows *rows, uint64_t position);
int64_t tg_delta_rows_count(const tg_delta_rows *rows);
/* Do both name the same vector? NULL: none. */
bool tg_delta_dv_equal(const tg_delta_dv *a, const tg_delta_dv *b);

/* ---- writing --------------------------------------------------------------------------------- */

/* What a new version consists of. Everything is borrowed for the call. */
typedef struct tg_delta_change {
    const tg_delta_protocol *protocol; /* NULL: unchanged */
    const tg_delta_metadata *metadata; /* NULL: unchanged */
    const tg_delta_add *adds;
    size_t add_count;
    const tg_delta_remove *removes; /* written with extended metadata */
    size_t remove_count;
    const tg_delta_txn *txns;
    size_t txn_count;
    tg_str operation; /* "WRITE", "CREATE TABLE", "DELETE", ... */
    /* operationParameters: key, JSON text of the value as a string */
    const tg_property *parameters;
    size_t parameter_count;
    const tg_property *metrics; /* operationMetrics: strings */
    size_t metric_count;
    tg_str user_metadata;   /* commitInfo.userMetadata; empty: none */
    bool is_blind_append;   /* read nothing but metadata */
    bool adds_are_restored; /* files of an earlier version, as it had them: statistics may lack */
    /*
     * For the built-in conflict test: what was read. NULL: nothing. Not used when
     * before_attempt is set.
     */
    const tg_region *read_region;
    /*
     * Set by the commit: the version is there, or nobody can tell. What the change adds must stay
     * then, also when the commit returned an error.
     */
    bool may_be_visible;
} tg_delta_change;

typedef enum tg_conflict_verdict {
    /* The change, maybe altered by the callback, may be committed on top of the winners. */
    TG_VERDICT_RETRY,
    /* Plan again: the commit ends with TG_CONFLICT. */
    TG_VERDICT_RERUN
} tg_conflict_verdict;

typedef struct tg_delta_commit_options {
    int64_t read_version; /* version the change was made from; -1: creates the table (version 0) */
    const tg_delta_snapshot *snapshot; /* at read_version; NULL when creating */
    const tg_zone *zone;
    /*
     * Called before every attempt, with the winners since read_version (none at first): decides,
     * and may rebuild change->user_metadata, txns and parameters for the version that is tried, in
     * arena, which is emptied before the next attempt.
     * NULL: the built-in test (Serializable, as Spark's but finer by statistics).
     */
    tg_code (*before_attempt)(void *self, int64_t attempt_version,
                              const tg_delta_commit *const *winners, size_t winner_count,
                              tg_delta_change *change, tg_arena *arena,
                              tg_conflict_verdict *out_verdict, tg_error *err);
    void *self;
} tg_delta_commit_options;

/*
 * Commits: data files must be complete and fsynced before (tg_delta_sync_files). Order of fsync and
 * link(2): commit.c. A version that was returned survives power loss. Ambiguous failures are
 * settled by looking for the own txnId in the log. TG_CONFLICT: lost the race for good
 * (DELTA_CONCURRENT_APPEND, DELTA_CONCURRENT_DELETE_READ, DELTA_CONCURRENT_DELETE_DELETE,
 * DELTA_METADATA_CHANGED, DELTA_PROTOCOL_CHANGED or a RERUN verdict). TG_ALREADY_EXISTS when
 * creating and the table is there. After a commit at a multiple of delta.checkpointInterval (10) a
 * checkpoint is written when tg_parquet is at hand; failure to write it is reported in
 * out_warning (may be NULL), never as failure of the commit.
 */
TG_CHECKED tg_code tg_delta_commit_change(const tg_delta *delta, tg_str table_path,
                                          tg_delta_change *change,
                                          const tg_delta_commit_options *options, tg_arena *arena,
                                          int64_t *out_version, tg_error *out_warning,
                                          tg_error *err);
/*
 * fsyncs data files (absolute or relative to the table) and their folders up to the table folder.
 */
TG_CHECKED tg_code tg_delta_sync_files(const tg_delta *delta, tg_str table_path,
                                       const tg_str *paths, size_t count, tg_error *err);
TG_CHECKED tg_code tg_delta_checkpoint_write(const tg_delta *delta,
                                             const tg_delta_snapshot *snapshot, tg_error *err);

/* ---- history (history.c) ---------------------------------------------------------------------- */

typedef struct tg_delta_history_entry {
    int64_t version, timestamp_ms; /* time as VERSION AS OF TIMESTAMP looks it up */
    tg_str info;                   /* commitInfo as JSON object text; empty when absent */
} tg_delta_history_entry;
/*
 * The newest commits first, at most limit (-1: all). A commit that log cleanup removes meanwhile ends
 * the list.
 */
TG_CHECKED tg_code tg_delta_history(const tg_delta *delta, tg_str table_path, int64_t limit,
                                    tg_arena *arena, tg_delta_history_entry **out_entries,
                                    size_t *out_count, tg_error *err);

/* ---- cleaning up (vacuum.c) ------------------------------------------------------------------- */

typedef struct tg_delta_vacuum_options {
    int64_t retain_ms;     /* -1: delta.deletedFileRetentionDuration, 7 days by default */
    bool checks_retention; /* less than that is TIDEGATE_VACUUM_RETENTION_TOO_SHORT */
    bool dry_run;
} tg_delta_vacuum_options;

typedef struct tg_delta_vacuum_result {
    const tg_str *files; /* that went, or would: relative to the table, in byte order */
    size_t file_count;
    int64_t bytes, folders;
} tg_delta_vacuum_result;

/*
 * Deletes files in the table's folder that are older than the retention and that no version within it
 * refers to: not live, not removed within the retention, no deletion vector of such a file. Change
 * data goes by its age. The log is not touched. The machine's clock counts, as file times are its.
 */
TG_CHECKED tg_code tg_delta_vacuum(const tg_delta *delta, tg_str table_path,
                                   const tg_delta_vacuum_options *options, tg_arena *arena,
                                   tg_delta_vacuum_result *out_result, tg_error *err);

/* ---- going back (restore.c) ------------------------------------------------------------------ */

typedef struct tg_delta_restore_options {
    int64_t version;         /* whose rows and definition shall be the newest again */
    tg_str timestamp;        /* operationParameters: as it was asked for; empty: by version */
    const tg_zone *zone;     /* of the conflict test */
    const tg_str *kept_keys; /* table properties that stay as they are now */
    size_t kept_key_count;
} tg_delta_restore_options;

typedef struct tg_delta_restore_result {
    int64_t committed_version; /* -1: the table is in that state already; nothing was committed */
    int64_t removed_files, restored_files, files_after;
    int64_t removed_bytes, restored_bytes, bytes_after;
} tg_delta_restore_result;

/*
 * RESTORE: one commit that removes what came after the version and adds again what it had, both with
 * dataChange, and takes back its schema, properties and partitioning. The table's id stays, its
 * protocol is never lowered, transactions (txn) are not turned back. Files of the version that are no
 * longer there: TIDEGATE_RESTORE_FILES_MISSING, before anything is written. Nobody's commit is
 * undone unseen: a writer that was faster and changed data makes it look at the table again.
 */
TG_CHECKED tg_code tg_delta_restore(const tg_delta *delta, tg_str table_path,
                                    const tg_delta_restore_options *options, tg_arena *arena,
                                    tg_delta_restore_result *out_result, tg_error *out_warning,
                                    tg_error *err);
/*
 * Data files of a version (-1: the latest) that are not there any more (VACUUM): how many, and the
 * first one's path.
 */
TG_CHECKED tg_code tg_delta_missing_files(const tg_delta *delta, tg_str table_path, int64_t version,
                                          tg_arena *arena, size_t *out_count, tg_str *out_first,
                                          tg_error *err);
/*
 * The oldest version whose commitInfo.userMetadata is_wanted, as far as the log reaches back; -1:
 * none. Commit files that are gone are passed over.
 */
TG_CHECKED tg_code tg_delta_find_commit(const tg_delta *delta, tg_str table_path,
                                        bool (*is_wanted)(void *self, tg_str user_metadata),
                                        void *self, int64_t *out_version, tg_error *err);

/* "128mb", "104857600", "1 gb": bytes, above 0; false for anything else. */
bool tg_delta_bytes_parse(tg_str text, int64_t *out_bytes);
/*
 * The protocol a new table needs for its schema and properties: (1,2), (1,7 changeDataFeed), (3,7
 * timestampNtz ...).
 */
TG_CHECKED tg_code tg_delta_protocol_for(tg_schema schema, const tg_property *properties,
                                         size_t property_count, tg_arena *arena,
                                         tg_delta_protocol *out_protocol, tg_error *err);
/*
 * The protocol of a table that has one and is given another definition: features are added, never
 * taken away. *out NULL: what it has is enough.
 */
TG_CHECKED tg_code tg_delta_protocol_upgrade(const tg_delta_protocol *has, tg_schema schema,
                                             const tg_property *properties, size_t property_count,
                                             tg_arena *arena, const tg_delta_protocol **out,
                                             tg_error *err);
/*
 * Checks a table that is about to be created: column names Delta forbids, duplicate names,
 * partition columns (exist, not all, no binary or nested), property values.
 */
TG_CHECKED tg_code tg_delta_check_definition(tg_schema schema, const tg_str *partition_columns,
                                             size_t partition_count, const tg_property *properties,
                                             size_t property_count, tg_error *err);

#endif
