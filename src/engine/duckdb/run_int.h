/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the files that run programs: run.c (the steps), run_files.c (old files), run_commit.c
 * (the log).
 */
#ifndef TG_ENGINE_DUCKDB_RUN_INT_H
#define TG_ENGINE_DUCKDB_RUN_INT_H

#include "engine/duckdb/duckdb_int.h"

/* A program while it is run. Everything lives in arena. */
typedef struct tg_duckdb_run_state {
    tg_duckdb_engine *engine;
    const tg_program *program;
    const tg_commit_hooks *hooks;
    tg_arena *arena;
    tg_duckdb_session session;         /* opened when the first step needs it */
    const tg_delta_snapshot *snapshot; /* of the target at read_version; NULL when it is created */
    bool replaces;                     /* there is a REPLACE step */
    bool replaces_all;                 /* one of them has no predicate */
    bool reads_target;                 /* a query reads the target itself */
    tg_region region;                  /* union of the REPLACE steps' regions */
    tg_region read;                    /* what the queries read of the target */
    int64_t changes[TG_CHANGE_COUNT_]; /* rows of CHANGE steps by what happens to them */
    int64_t appended_rows;             /* by APPEND steps */
    const tg_delta_add **removed;      /* old files that go */
    size_t removed_count;
    tg_duckdb_added added; /* new files: kept rows first, then new rows */
    int64_t kept_rows;     /* of them, rows that were rewritten unchanged */
    int64_t deleted_rows, physically_deleted_rows;
    int64_t source_rows;
    int attempts;
    bool makes_folder;   /* the target's folder was not there */
    bool may_be_visible; /* see tg_delta_change: new files must stay */
} tg_duckdb_run_state;

/* Opens the run's session if that has not happened. */
TG_CHECKED tg_code tg_duckdb_run_session(tg_duckdb_run_state *run, tg_error *err);
/*
 * Gives the columns of the program's target their places in files (ids and physical names, where the
 * table has column mapping), and takes others' away. run->program is another one afterwards.
 */
TG_CHECKED tg_code tg_duckdb_map_columns(tg_duckdb_run_state *run, tg_error *err);
/* The COPY of a query that gives the target's columns, into run->added. */
TG_CHECKED tg_code tg_duckdb_run_copy(tg_duckdb_run_state *run, tg_str sql, tg_error *err);

/* "c0 AS \"a\", ..." of a new row, with the checks that every new row must pass. */
void tg_duckdb_put_new_columns(const tg_program_target *target, tg_buf *out);
/* run_change.c: the rows of a LET step, for the queries behind it. */
TG_CHECKED tg_code tg_duckdb_run_let(tg_duckdb_run_state *run, const tg_step *step, tg_error *err);
/* Decides by a CHANGE step which old files go, writes the rows of theirs that stay. */
TG_CHECKED tg_code tg_duckdb_change_files(tg_duckdb_run_state *run, const tg_step *step,
                                          tg_error *err);
/* The new versions of changed rows, and rows that a CHANGE step adds. */
TG_CHECKED tg_code tg_duckdb_write_changed(tg_duckdb_run_state *run, tg_error *err);
/* run_metrics.c: what DESCRIBE HISTORY tells of the operation. */
void tg_duckdb_set_metrics(tg_duckdb_run_state *run, tg_delta_change *change);
/* constraints.c: a query as one that gives the same rows, and fails where one breaks a rule. */
TG_CHECKED tg_code tg_duckdb_check_rows(tg_duckdb_run_state *run, tg_str sql, tg_str *out_sql,
                                        tg_error *err);

/* Decides which old files go, and writes the rows of theirs that stay. */
TG_CHECKED tg_code tg_duckdb_replace_files(tg_duckdb_run_state *run, tg_error *err);

/* Syncs the new files and commits; *out_version -1: there was nothing to commit. */
TG_CHECKED tg_code tg_duckdb_commit_run(tg_duckdb_run_state *run, int64_t *out_version,
                                        tg_error *err);

#endif
