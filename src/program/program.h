/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The refresh program: what a refresh (or a DML statement) does to one table, as data.
 *
 * A short list of steps over bound relations, built by a pure planner and run by an engine;
 * techniques are properties of the program that was built, not branches in the runner. A
 * runner refuses a step it does not know. Prints readably
 * for --explain and golden files.
 */
#ifndef TG_PROGRAM_PROGRAM_H
#define TG_PROGRAM_PROGRAM_H

#include "sql/dml.h"

/*
 * A source as an update reads it (design 6.1: table id is implied by the digest of the version's
 * commit file).
 */
typedef struct tg_pin {
    tg_str name; /* full name as in tg_table.name */
    tg_str path;
    int64_t version;  /* -1 for sources that are not Delta */
    tg_digest digest; /* of the commit file; not Delta: of the files' names, sizes, times, inodes */
    const tg_table *table;
} tg_pin;

typedef enum tg_step_kind {
    TG_STEP_PIN, /* pin: the source is read at this version */
    TG_STEP_LET, /* name = rel */
    /*
     * Rows where predicate IS TRUE go (NULL: all rows), rel's rows come (NULL: none): the planner
     * filters them by predicate. A random predicate is asked once per row.
     */
    TG_STEP_REPLACE,
    TG_STEP_APPEND, /* rel's rows are added */
    /*
     * Single rows change (UPDATE, MERGE). rel's columns: file and row of the target's row as its scan
     * with row ids gives them (NULL for a new row), a tg_change as INT, then the target's columns, which
     * count where a row is written. All of it is about the table as it was.
     */
    TG_STEP_CHANGE,
    TG_STEP_COMMIT
} tg_step_kind;

typedef struct tg_step {
    tg_step_kind kind;
    const tg_pin *pin;
    tg_str name;
    bool materialised;
    const tg_bexpr *predicate; /* over the target's schema: ids 1 + index; folded */
    tg_region region;          /* of predicate: for pruning target files */
    const tg_rel *rel;         /* output: the target's columns in order, with their types */
    bool must_match;           /* REPLACE: a new row that predicate does not hit is an error */
    bool may_repeat; /* CHANGE: a row may be deleted several times over; else it is the error
                                  of a MERGE with several source rows for it */
} tg_step;

typedef struct tg_program_target {
    tg_str name, path;
    int64_t read_version; /* -1: does not exist, is created by this commit */
    tg_str table_id; /* metaData.id: the table's, or the one to create it with (36 characters) */
    bool changes_metadata; /* schema, properties or comment differ from read_version's */
    tg_schema schema;      /* after this program */
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_property *properties; /* all of them, after this program */
    size_t property_count;
    tg_str comment;
} tg_program_target;

typedef struct tg_program {
    tg_program_target target;
    const tg_step *steps;
    size_t step_count;
    tg_str operation; /* of the commit: "WRITE", "DELETE", "CREATE TABLE AS SELECT", ... */
    const tg_property *parameters;
    size_t parameter_count;
    tg_str app_id;      /* txn of a flow; empty: none */
    bool is_state_only; /* no rows change: a commit without files that records the state */
    bool judges_rows;   /* made because all rows of the target are as they are: a constraint */
    const tg_zone *zone;
    int64_t now_us;
} tg_program;

/*
 * The columns by which a table's rows are sorted when they are written: what its CLUSTER BY says,
 * kept as a table property. None: *out_count 0.
 */
#define TG_PROPERTY_CLUSTER_BY "tidegate.clusterBy"
void tg_program_clustering(const tg_property *properties, size_t property_count, tg_arena *arena,
                           const tg_str **out_columns, size_t *out_count);
/* The value of that property. */
tg_str tg_program_clustering_value(const tg_str *columns, size_t count, tg_arena *arena);

/* One line per step; queries in canonical or Spark text. Stable for golden files. */
void tg_program_print(const tg_program *program, tg_arena *arena, tg_buf *out);

#endif
