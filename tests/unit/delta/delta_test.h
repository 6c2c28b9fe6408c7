/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of delta share: tables whose log is written by hand, a stand-in for Parquet, short
 * forms for changes.
 */
#ifndef TG_TEST_UNIT_DELTA_DELTA_TEST_H
#define TG_TEST_UNIT_DELTA_DELTA_TEST_H

#include "delta/delta_int.h"
#include "support/test.h"

typedef struct table {
    tg_arena *arena;
    tg_delta delta;
    tg_parquet parquet;
    tg_str path;
    int parquet_reads, parquet_writes; /* how often the stand-in was asked */
    bool parquet_fails;
} table;

/* For cmocka: state becomes a table with a fresh folder and no log yet. */
int table_set_up(void **state);
int table_tear_down(void **state);
/* Puts _delta_log/NAME with a text. */
void table_put(table *t, const char *name, const char *text);
/* Puts the commit of a version; lines end in newlines. */
void table_commit(table *t, int64_t version, const char *text);
void table_remove(table *t, const char *name);

/*
 * Protocol (1,2) and a table of (id long, day date, name string), partitioned by nothing or by day.
 */
extern const char head_plain[];
extern const char head_by_day[];

/* Creates the plain table (id long, day date, name string) through tg_delta_commit_change. */
tg_code table_create(table *t, tg_error *err);
/* A file with an id range; stats say so. */
tg_delta_add table_add(table *t, const char *path, int64_t min_id, int64_t max_id, int64_t rows);
/* The remove of a live file. */
tg_delta_remove table_remove_of(const tg_delta_snapshot *snapshot, const char *path);
const tg_delta_snapshot *table_load(table *t, int64_t version);
/* Commits on top of a snapshot with the built-in conflict test. */
tg_code table_write(table *t, const tg_delta_snapshot *snapshot, tg_delta_change *change,
                    int64_t *out_version, tg_error *err);
/* id in [low, high] */
tg_region table_ids(table *t, int64_t low, int64_t high);

#endif
