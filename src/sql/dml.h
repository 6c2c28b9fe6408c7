/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding of statements that change single rows of a table: UPDATE, DELETE with subqueries, MERGE,
 * INSERT ... REPLACE USING and REPLACE ON.
 *
 * The result are the relations of a program (program/program.h): LET relations that several others
 * read, one CHANGE relation (file, row, tg_change as INT, the target's columns) and rows to append.
 * Values are cast to the columns by Spark's store assignment (ANSI). Spans are in the statement's text.
 */
#ifndef TG_SQL_DML_H
#define TG_SQL_DML_H

#include "sql/bound.h"

/* What happens to a row; the two of rows without a source row only count apart. */
typedef enum tg_change {
    TG_CHANGE_UPDATE = 1,
    TG_CHANGE_DELETE,
    TG_CHANGE_INSERT,
    TG_CHANGE_UPDATE_BY_SOURCE,
    TG_CHANGE_DELETE_BY_SOURCE,
    TG_CHANGE_COUNT_
} tg_change;

typedef struct tg_dml_let {
    tg_str name;
    const tg_rel *rel;
} tg_dml_let;

typedef struct tg_bound_dml {
    tg_dml_let lets[2]; /* in the order in which they are computed */
    size_t let_count;
    const tg_rel *change; /* NULL: no row of the table changes */
    bool may_repeat;      /* see tg_step */
    const tg_rel *append; /* NULL: none */
    tg_schema schema;     /* the target's: with WITH SCHEMA EVOLUTION the new columns behind */
} tg_bound_dml;

/* target: the table at the version that is changed. */
TG_CHECKED tg_code tg_sql_bind_update(const tg_stmt *stmt, const tg_table *target,
                                      const tg_bind_options *options, tg_arena *arena,
                                      tg_bound_dml *out, tg_error *err);
TG_CHECKED tg_code tg_sql_bind_delete(const tg_stmt *stmt, const tg_table *target,
                                      const tg_bind_options *options, tg_arena *arena,
                                      tg_bound_dml *out, tg_error *err);
TG_CHECKED tg_code tg_sql_bind_merge(const tg_stmt *stmt, const tg_table *target,
                                     const tg_bind_options *options, tg_arena *arena,
                                     tg_bound_dml *out, tg_error *err);

/* Which column each output column of an INSERT's query goes to. */
typedef struct tg_insert_columns {
    tg_schema schema;    /* the target's, after schema evolution */
    const tg_str *names; /* one per output column of the query */
} tg_insert_columns;
/* REPLACE USING, REPLACE ON: query is the statement's, bound by tg_sql_bind_query. */
TG_CHECKED tg_code tg_sql_bind_replace(const tg_stmt *stmt, const tg_table *target,
                                       const tg_bound_query *query,
                                       const tg_insert_columns *columns,
                                       const tg_bind_options *options, tg_arena *arena,
                                       tg_bound_dml *out, tg_error *err);

/* Does the syntax tree hold a subquery? (tg_sql_bind_predicate takes none.) */
bool tg_sql_expr_has_subquery(const tg_expr *expr);
/* The keyword DEFAULT where a value may stand. */
bool tg_sql_is_default(const tg_expr *expr);

#endif
