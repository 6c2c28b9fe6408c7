/* SPDX-License-Identifier: Apache-2.0 */
/* Private to sql: what the relation printer and the expression printer share. */
#ifndef TG_SQL_SQL_INT_H
#define TG_SQL_SQL_INT_H

#include "sql/functions.h"
#include "sql/sql.h"

/* State of one printing run. */
struct tg_print_context {
    const tg_print_options *options;
    tg_buf *out;
    tg_arena *arena;
    void (*column_text)(void *self, uint32_t id, tg_buf *out);
    void *column_self;
    const tg_rel *const *scans; /* all scans of the whole tree, in tg_sql_scans order */
    size_t scan_count;
    int depth;
    int doubling_depth;              /* see tg_print_enter_doubling */
    int guard_depth;                 /* guards of AND and OR around the current expression */
    TG_VEC(const tg_bexpr *) random; /* calls of rand() and the like that are printed already */
    int branch_depth; /* conditional functions around it, whose branches may not be taken */
    bool is_unfolded; /* it stands in a constant that DuckDB cannot fold */
    const struct tg_print_lambda
        *index_vars; /* lambda parameters that count from 0 in Spark and from 1 in DuckDB */
};

/*
 * Around an aggregation, a subquery that is used as a value, or a lambda. DuckDB takes twice the
 * time to prepare each one within another, and hears no interrupt meanwhile: 30 would be an hour.
 */
TG_CHECKED tg_code tg_print_enter_doubling(tg_print_context *ctx, tg_error *err);

/* Prints an expression so that it can stand anywhere (in parentheses when it is not atomic). */
TG_CHECKED tg_code tg_print_expr(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err);
/*
 * Prints a condition of WHERE, HAVING or ON. DuckDB evaluates the terms of AND one after the other
 * there, so they are printed plainly; as a value AND and OR evaluate both sides, and tg_print_expr
 * guards a right side that may raise.
 */
TG_CHECKED tg_code tg_print_condition(tg_print_context *ctx, const tg_bexpr *condition,
                                      tg_error *err);
/*
 * Does DuckDB order values of the type as Spark does? Not so arrays and structs that may hold NULLs:
 * inside them NULL is the least value in Spark and the greatest in DuckDB.
 */
bool tg_sql_orders_alike(const tg_type *type);
/* Prints " ORDER BY ..."; nothing for no items. Refuses what is not ordered alike. */
TG_CHECKED tg_code tg_print_order(tg_print_context *ctx, const tg_bsort *items, size_t count,
                                  tg_error *err);
/*
 * Prints a key of GROUP BY, DISTINCT, UNION and kin that is also output: -0.0 and 0.0 are one group,
 * shown as 0.0, inside arrays and structs too.
 */
TG_CHECKED tg_code tg_print_group_key(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err);
/* A lambda parameter of the printer's own, with an id that no binder gives and no outer one has. */
tg_bexpr *tg_print_variable(tg_print_context *ctx, const tg_type *type);
/*
 * Prints a relation as a query text (SELECT ...), columns named "c<id>". For subqueries inside
 * expressions too.
 */
TG_CHECKED tg_code tg_print_query(tg_print_context *ctx, const tg_rel *rel, tg_error *err);
/*
 * The DuckDB name of a type: "DECIMAL(10,2)", "TIMESTAMP WITH TIME ZONE", "STRUCT(\"a\" INTEGER)".
 * Intervals are plain numbers in DuckDB: INTERVAL_YM is INTEGER (months), INTERVAL_DT is BIGINT
 * (microseconds), so that comparison, arithmetic and overflow are exact.
 */
TG_CHECKED tg_code tg_print_duckdb_type(const tg_type *type, tg_buf *out, tg_error *err);
/* Any expression as Databricks SQL, in parentheses when it is an operator. */
TG_CHECKED tg_code tg_print_spark_expr(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err);
/* "ORDER BY ...", for Spark. */
TG_CHECKED tg_code tg_print_spark_order(tg_print_context *ctx, const tg_bsort *items, size_t count,
                                        tg_error *err);
void tg_print_duckdb_ident(tg_str name, tg_buf *out);  /* "a""b" */
void tg_print_duckdb_string(tg_str text, tg_buf *out); /* 'a''b' */
TG_CHECKED tg_code tg_print_duckdb_literal(tg_value value, tg_buf *out, tg_error *err);

#endif
