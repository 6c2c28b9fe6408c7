/* SPDX-License-Identifier: Apache-2.0 */
/* Private to bind_dml.c and bind_merge.c. */
#ifndef TG_SQL_BIND_DML_INT_H
#define TG_SQL_BIND_DML_INT_H

#include "sql/bind_int.h"
#include "sql/dml.h"

enum { TG_DML_ROW_IDS = 2, TG_DML_FIRST_VALUE = 3 };

/* A statement while it is bound. */
typedef struct tg_dml {
    tg_binder b;
    const tg_stmt *stmt;
    const tg_table *target;
    tg_schema schema; /* the target's, new columns behind */
    tg_rel *rows;     /* the scan of the target with its row ids */
    tg_scope *scope;  /* over its columns */
} tg_dml;

void tg_dml_init(tg_dml *dml, const tg_stmt *stmt, const tg_table *target,
                 const tg_bind_options *options, tg_arena *arena);
/* The target's scan, under the statement's alias or the table's name; schema is set. */
void tg_dml_scan_target(tg_dml *dml);
/* A scan of a LET relation that gives rel's columns (by position), with a row id when asked for. */
tg_rel *tg_dml_scan_let(tg_dml *dml, tg_str let, const tg_rel *rel, bool has_row_ids);
/* expr as it is stored in a column of the target. */
TG_CHECKED tg_code tg_dml_store(tg_dml *dml, tg_bexpr *expr, const tg_field *field, tg_bexpr **out,
                                tg_error *err);
/*
 * values[i] of each column of the target after `assignments` over ctx; columns that none names keep
 * what stands in values (NULL pointers: they become NULL).
 */
TG_CHECKED tg_code tg_dml_assign(tg_dml *dml, const tg_expr_ctx *ctx,
                                 const tg_assignment *assignments, size_t count, tg_bexpr **values,
                                 tg_error *err);
/* rel's row ids, the change and the values: a CHANGE relation. file, row NULL: a new row. */
tg_rel *tg_dml_change(tg_dml *dml, tg_rel *rel, tg_bexpr *file, tg_bexpr *row, tg_bexpr *change,
                      tg_bexpr **values);
tg_bexpr *tg_dml_null(tg_dml *dml, const tg_type *type);
tg_bexpr *tg_dml_int(tg_dml *dml, int value);
TG_CHECKED tg_code tg_dml_refuse_random(const tg_dml *dml, tg_span span, tg_error *err);
tg_rel *tg_dml_join(tg_dml *dml, tg_join_kind kind, tg_rel *left, tg_rel *right,
                    tg_bexpr *condition);

#endif
