/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to delta: the listing of a log, one action of it, and the replay that feeds them to a
 * visitor.
 *
 * Memory: an action is a view, valid until its visitor returns; who keeps something copies it.
 */
#ifndef TG_DELTA_DELTA_INT_H
#define TG_DELTA_DELTA_INT_H

#include "delta/delta.h"

struct yyjson_val;

/* ---- listing (log.c) ------------------------------------------------------------------------- */

typedef enum tg_delta_checkpoint_kind {
    TG_CHECKPOINT_MULTI_PART, /* several Parquet files */
    TG_CHECKPOINT_CLASSIC,    /* one; its content may be that of a V2 checkpoint */
    TG_CHECKPOINT_V2          /* with a unique name, Parquet or JSON */
} tg_delta_checkpoint_kind;

/* A checkpoint that is there whole. */
typedef struct tg_delta_checkpoint {
    int64_t version;
    tg_delta_checkpoint_kind kind;
    const tg_str *names; /* in _delta_log; more than one only for TG_CHECKPOINT_MULTI_PART */
    size_t name_count;
} tg_delta_checkpoint;

/* What is in _delta_log, by name only. Versions ascend. */
typedef struct tg_delta_log {
    const tg_delta *delta;
    tg_str table_path; /* absolute, normal */
    tg_str folder;     /* <table>/_delta_log */
    const int64_t *commits;
    size_t commit_count;
    const tg_delta_checkpoint *checkpoints; /* of one version the best one last */
    size_t checkpoint_count;
} tg_delta_log;

/* A missing folder gives an empty listing. */
TG_CHECKED tg_code tg_delta_log_list(const tg_delta *delta, tg_str table_path, tg_arena *arena,
                                     tg_delta_log *out, tg_error *err);
/* Newest version, or -1 when the log is empty. */
int64_t tg_delta_log_latest(const tg_delta_log *log);
/*
 * The version that a reader asked for (-1: the latest); DELTA_TABLE_NOT_FOUND,
 * DELTA_VERSION_NOT_FOUND.
 */
TG_CHECKED tg_code tg_delta_log_resolve(const tg_delta_log *log, int64_t version,
                                        int64_t *out_version, tg_error *err);
/* Position of a version in commits, or -1. */
ptrdiff_t tg_delta_log_find_commit(const tg_delta_log *log, int64_t version);
/* Commit time, milliseconds, monotonic (file times, made ascending as Spark does). */
TG_CHECKED tg_code tg_delta_log_timestamp(const tg_delta_log *log, int64_t version, int64_t *out_ms,
                                          tg_error *err);

TG_CHECKED tg_code tg_delta_table_folder(const tg_delta *delta, tg_str table_path, tg_arena *arena,
                                         tg_str *out, tg_error *err);
tg_str tg_delta_log_folder(tg_str table_folder, tg_arena *arena);
tg_str tg_delta_commit_path(tg_str log_folder, int64_t version, tg_arena *arena);
tg_str tg_delta_checkpoint_path(tg_str log_folder, int64_t version, tg_arena *arena);
/* DELTA_LOG_FILE_NOT_FOUND when it is gone. */
TG_CHECKED tg_code tg_delta_commit_file_read(const tg_delta *delta, tg_str path, tg_arena *arena,
                                             tg_str *out_text, tg_error *err);

/* ---- one action (action.c) ------------------------------------------------------------------- */

enum {
    TG_ACTION_ADD = 1,
    TG_ACTION_REMOVE = 2,
    TG_ACTION_CDC = 4,
    TG_ACTION_TXN = 8,
    TG_ACTION_METADATA = 16,
    TG_ACTION_PROTOCOL = 32,
    TG_ACTION_COMMIT_INFO = 64,
    TG_ACTION_DOMAIN = 128,
    TG_ACTION_SIDECAR = 256 /* only in V2 checkpoints: a file with more of its actions */
};

typedef struct tg_delta_pair {
    tg_str key;
    tg_delta_partition_value value;
} tg_delta_pair;

typedef struct tg_delta_file_action {
    tg_str path;         /* canonical: decoded, relative to the table where it lies in it */
    tg_str encoded_path; /* as in the log */
    bool has_partition_values;
    const tg_delta_pair *partition_values;
    size_t partition_value_count;
    int64_t size_bytes; /* -1 unknown */
    int64_t time_ms;    /* modificationTime or deletionTimestamp */
    bool data_change;
    tg_str stats;
    const tg_delta_dv *dv; /* NULL: none */
    tg_str dv_id;          /* unique id of the deletion vector, empty when there is none */
} tg_delta_file_action;

typedef struct tg_delta_info {
    tg_str json, user_metadata, operation, txn_id;
    int64_t in_commit_ms; /* inCommitTimestamp; -1: absent */
} tg_delta_info;

typedef struct tg_delta_action {
    int kind; /* one of TG_ACTION_*, or 0: unknown, or not asked for */
    tg_str line;
    tg_delta_file_action file; /* ADD, REMOVE, CDC */
    tg_delta_txn txn;
    tg_delta_metadata metadata; /* without schema: the text is not looked at */
    tg_delta_protocol protocol;
    tg_delta_info info;
    tg_str domain;
    bool domain_is_removed;
    tg_str sidecar; /* its path, as it stands */
} tg_delta_action;

/*
 * wanted: kinds to parse; of others only what is needed to tell them apart is looked at. err's
 * message is the bare reason.
 */
TG_CHECKED tg_code tg_delta_action_parse(tg_str line, int wanted, tg_str table_path,
                                         tg_arena *arena, tg_delta_action *out, tg_error *err);
/* encoded as in the log -> canonical; false when it is not valid. */
bool tg_delta_path_decode(tg_str encoded, tg_str table_path, tg_arena *arena, tg_str *out_path);

tg_delta_metadata tg_delta_metadata_copy(tg_arena *arena, const tg_delta_metadata *metadata);
tg_delta_protocol tg_delta_protocol_copy(tg_arena *arena, const tg_delta_protocol *protocol);
/* Values in the order of the partition columns; a column that has none is NULL. */
const tg_delta_partition_value *tg_delta_partition_order(const tg_delta_pair *pairs,
                                                         size_t pair_count, const tg_str *columns,
                                                         size_t column_count, tg_arena *arena);
/* Parses schema_string, checks it, sets physical. table_path is for messages. */
TG_CHECKED tg_code tg_delta_metadata_set_schema(tg_delta_metadata *metadata, tg_str table_path,
                                                tg_arena *arena, tg_error *err);

/* ---- deletion vectors (dv.c) ----------------------------------------------------------------- */

/* The bytes of a vector (magic and bitmap). err's message is the bare reason. */
TG_CHECKED tg_code tg_delta_rows_decode(tg_str bytes, tg_arena *arena, const tg_delta_rows **out,
                                        tg_error *err);
/* Storage type, text and offset: what names a vector. Empty for NULL. */
tg_str tg_delta_dv_id(const tg_delta_dv *dv, tg_arena *arena);
/* The file of a vector that is not in the log's text: relative to the table where it lies in it. */
TG_CHECKED tg_code tg_delta_dv_file(tg_str table_path, const tg_delta_dv *dv, tg_arena *arena,
                                    tg_str *out, tg_error *err);
const tg_delta_dv *tg_delta_dv_copy(const tg_delta_dv *dv, tg_arena *arena);

/* ---- replay (replay.c) ----------------------------------------------------------------------- */

typedef struct tg_delta_visitor {
    void *self;
    int wanted; /* kinds that action is called for */
    /* Newest first. *out_stop true: enough was seen. */
    tg_code (*action)(void *self, const tg_delta_action *action, bool *out_stop, tg_error *err);
    /* The replay begins (again): forget everything. */
    void (*reset)(void *self);
} tg_delta_visitor;

/* Calls the visitor for each line of a commit's text, last line first. path is for messages. */
TG_CHECKED tg_code tg_delta_text_visit(tg_str text, tg_str path, tg_str table_path,
                                       const tg_delta_visitor *visitor, bool *out_stop,
                                       tg_error *err);
/*
 * What the visitor is after; decides how far commit files are read although a checkpoint could save
 * that (it costs an engine).
 */
typedef enum tg_delta_replay_for {
    TG_REPLAY_STATE, /* everything */
    TG_REPLAY_HEAD,  /* protocol and metadata: likely near the end */
    TG_REPLAY_TXN    /* one transaction: a checkpoint only where commit files do not reach */
} tg_delta_replay_for;
/*
 * All actions that make up a version, newest first, until the visitor stops. A damaged checkpoint
 * is replaced by older files.
 */
TG_CHECKED tg_code tg_delta_replay(const tg_delta_log *log, int64_t version,
                                   tg_delta_replay_for purpose, const tg_delta_visitor *visitor,
                                   tg_error *err);

/* ---- columns (mapping.c, type_changes.c) ------------------------------------------------------ */

/* A known mode, and an id and a physical name for every field that are nobody else's. */
TG_CHECKED tg_code tg_delta_mapping_check(tg_str table_path, const tg_delta_metadata *metadata,
                                          tg_error *err);
/* Sets physical; takes identities that mean nothing (mode none) out of schema. */
void tg_delta_mapping_set_physical(tg_delta_metadata *metadata, tg_arena *arena);
/* Raises delta.columnMapping.maxColumnId to what it was: ids are never given twice. */
void tg_delta_mapping_keep_highest(const tg_delta_metadata *before, tg_delta_metadata *metadata,
                                   tg_arena *arena);
/* Did the protocol allow the changes of types that the fields list? */
TG_CHECKED tg_code tg_delta_type_changes_check(tg_str table_path, const tg_delta_metadata *metadata,
                                               tg_error *err);
/* May a column of type from be given the type to, its older files staying as they are? */
bool tg_delta_is_widening(const tg_type *from, const tg_type *to);
/* Do older files hold the column as FLOAT? */
bool tg_delta_was_float(const tg_field *field);

/* ---- features (protocol.c) ------------------------------------------------------------------- */

TG_CHECKED tg_code tg_delta_check_readable(tg_str table_path, const tg_delta_protocol *protocol,
                                           const tg_delta_metadata *metadata, tg_error *err);
/* Also what the metadata asks of writers. metadata->schema is set. */
TG_CHECKED tg_code tg_delta_check_writable(tg_str table_path, const tg_delta_protocol *protocol,
                                           const tg_delta_metadata *metadata, tg_error *err);

/* ---- properties (property.c) ----------------------------------------------------------------- */

bool tg_delta_property_is_true(const tg_delta_metadata *metadata, tg_str key);
/*
 * "interval 7 days", "2 weeks": milliseconds; false for anything else, months and years too (their
 * length is not fixed).
 */
bool tg_delta_interval_parse(tg_str text, int64_t *out_ms);
int64_t tg_delta_checkpoint_interval(const tg_delta_metadata *metadata);
int64_t tg_delta_tombstone_retention_ms(const tg_delta_metadata *metadata);

/* ---- writing (change_text.c, check_change.c, conflict.c, checkpoint.c) ----------------------- */

/* What a change becomes part of: everything but the change itself that its text depends on. */
typedef struct tg_delta_attempt {
    int64_t read_version;
    int64_t now_ms;
    tg_str txn_id;
    const tg_delta_metadata *metadata; /* of the table after the change */
} tg_delta_attempt;

/* The content of the commit file. */
tg_str tg_delta_change_text(const tg_delta_change *change, const tg_delta_attempt *attempt,
                            tg_arena *arena);
/*
 * Delta protocol, "Requirements for writers": what must hold before a change may be committed.
 * snapshot NULL: creates the table.
 */
TG_CHECKED tg_code tg_delta_check_change(tg_str table_path, const tg_delta_change *change,
                                         const tg_delta_snapshot *snapshot, tg_error *err);
/* Conflicts that no caller may decide otherwise: definition changed, file removed twice. */
TG_CHECKED tg_code tg_delta_check_final_conflicts(tg_str table_path, const tg_delta_change *change,
                                                  const tg_delta_snapshot *snapshot,
                                                  const tg_delta_commit *const *winners,
                                                  size_t winner_count, tg_error *err);
/* The built-in conflict test of the rest (Serializable). */
TG_CHECKED tg_code tg_delta_check_conflicts(tg_str table_path, const tg_delta_change *change,
                                            const tg_delta_snapshot *snapshot, const tg_zone *zone,
                                            const tg_delta_commit *const *winners,
                                            size_t winner_count, tg_arena *arena, tg_error *err);
TG_CHECKED tg_code tg_delta_checkpoint_write_at(const tg_delta *delta, tg_str table_path,
                                                int64_t version, tg_error *err);
/* Is path a live file of the snapshot? Files are in path order. */
const tg_delta_add *tg_delta_snapshot_find(const tg_delta_snapshot *snapshot, tg_str path);

#endif
