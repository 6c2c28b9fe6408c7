/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine with a folder of Delta tables, driven by SQL texts: what tests of queries and programs
 * share.
 */
#ifndef TG_TESTS_DUCKDB_LAB_H
#define TG_TESTS_DUCKDB_LAB_H

#include "delta/delta.h"
#include "engine/duckdb/duckdb_engine.h"
#include "sql/sql.h"
#include "support/test.h"

typedef struct lab {
    tg_arena *arena;
    tg_engine *engine;
    tg_str folder; /* the table `t` is folder/t */
    const tg_zone *zone;
    const tg_property *options; /* of csv.`...` and the like */
    size_t option_count;
    tg_delta delta; /* for looking into logs; without Parquet */
    tg_error error;
} lab;

/* cmocka fixtures: *state is a lab. */
int lab_setup(void **state);
int lab_teardown(void **state);

tg_str lab_path(lab *l, const char *table);
/* A file of the lab's folder with this content. */
void lab_file(lab *l, const char *name, const char *content);
/*
 * Rows of a query as text: columns by '|', rows by ';', in the order they come. Tables are Delta
 * tables of the lab, csv.`name` and so on, and json.`ids-N`: one column id with 0 to N - 1.
 */
tg_str lab_rows(lab *l, const char *sql);
/* As lab_rows, for a query that fails: the error stays in l->error. */
tg_code lab_fail(lab *l, const char *sql);
tg_bound_query lab_bind(lab *l, const char *sql);

typedef struct lab_write {
    const char *table;
    const char *query; /* NULL: no new rows */
    const char *where; /* REPLACE where; NULL with is_append false: all rows */
    bool is_append;
    const char *partition_by; /* of a new table: one column, or NULL */
    const char *columns; /* of a new or altered table as DDL; NULL: the query's or the table's */
    const tg_commit_hooks *hooks;
    const char *app_id;
} lab_write;
/* Builds the program for a write; read_version of the target is the newest. */
const tg_program *lab_program(lab *l, const lab_write *write);
/* Runs it; the write must succeed. */
tg_run_result lab_run(lab *l, const lab_write *write);
/* As lab_run, for a write that fails: the error stays in l->error. */
tg_code lab_run_fail(lab *l, const lab_write *write);
/* Shorthands. */
tg_run_result lab_append(lab *l, const char *table, const char *query);
tg_run_result lab_replace(lab *l, const char *table, const char *where, const char *query);

const tg_delta_snapshot *lab_snapshot(lab *l, const char *table);
/* Data files on disk below a table's folder, whether in the log or not. */
size_t lab_files_on_disk(lab *l, const char *table);

#endif
