/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQL front end: text -> syntax tree -> bound tree -> text of an engine's dialect.
 *
 * Pure: touches neither files nor engines (so that it can be fuzzed and embedded alone). Errors
 * carry the byte span in the given text; tg_error_locate makes file, line, column and caret of it.
 */
#ifndef TG_SQL_SQL_H
#define TG_SQL_SQL_H

#include "sql/ast.h"
#include "sql/bound.h"

/* ---- parsing --------------------------------------------------------------------------------- */

typedef struct tg_stmt_list {
    tg_stmt **items;
    size_t count;
    /* Definitions of tables and views with an error behind their name: only kind and name count. */
    tg_stmt **broken;
    size_t broken_count;
    bool has_unknown; /* a statement with an error of which not even that is known */
} tg_stmt_list;

/*
 * Parses a file: statements separated by semicolons. Goes on after an error at the next semicolon,
 * so that diags gets all errors of the file (located in file, whose shown name may be NULL);
 * statements without error are returned, and of the others what is known. Text: checked for size,
 * valid UTF-8, NUL bytes.
 */
void tg_sql_parse_file(tg_str text, const char *file, tg_arena *arena, tg_stmt_list *out_stmts,
                       tg_diags *diags);
/* Splits a script into its statements' texts without parsing them (for --keep-going): offsets into
 * text. Empty statements are left out. */
void tg_sql_split(tg_str text, tg_arena *arena, tg_span **out_spans, size_t *out_count);
/* Exactly one statement, a trailing semicolon allowed. */
TG_CHECKED tg_code tg_sql_parse_statement(tg_str text, tg_arena *arena, tg_stmt **out_stmt,
                                          tg_error *err);
TG_CHECKED tg_code tg_sql_parse_query(tg_str text, tg_arena *arena, tg_query **out_query,
                                      tg_error *err);
/* A whole text that is one expression: predicates of overrides, states, options. */
TG_CHECKED tg_code tg_sql_parse_expression(tg_str text, tg_arena *arena, tg_expr **out_expr,
                                           tg_error *err);
/* A whole text that is one type. */
TG_CHECKED tg_code tg_sql_parse_type(tg_str text, tg_arena *arena, const tg_type **out_type,
                                     tg_error *err);
/* "a.b.`c d`" */
TG_CHECKED tg_code tg_sql_parse_name(tg_str text, tg_arena *arena, tg_name *out_name,
                                     tg_error *err);
/* Column definitions: "a INT, b STRING COMMENT 'x'" (schemas in Python and read_files). */
TG_CHECKED tg_code tg_sql_parse_columns(tg_str text, tg_arena *arena, tg_schema *out_schema,
                                        tg_error *err);

/* ---- printing the syntax tree ---------------------------------------------------------------- */

/* Databricks SQL in a normal form; parse(print(t)) gives t again but for spans. pretty: line breaks
 * and indentation. */
void tg_sql_print_query(const tg_query *query, bool pretty, tg_buf *out);
void tg_sql_print_stmt(const tg_stmt *stmt, bool pretty, tg_buf *out);
void tg_sql_print_expr(const tg_expr *expr, tg_buf *out);
void tg_sql_print_ident(tg_str name, tg_buf *out); /* with backticks when needed */

/* Equal but for spans, quotes around names and texts as they were written. */
bool tg_sql_query_equal(const tg_query *a, const tg_query *b);
bool tg_sql_expr_equal(const tg_expr *a, const tg_expr *b);
bool tg_sql_stmt_equal(const tg_stmt *a, const tg_stmt *b);

/* ---- names in a tree ------------------------------------------------------------------------- */

/* Calls fn for every table name that a query reads (not CTE names in their scope), in order of
 * appearance, once per occurrence. */
void tg_sql_visit_tables(const tg_query *query, void (*fn)(void *ctx, const tg_relation *table),
                         void *ctx);

/*
 * Calls fn for every marker of a parameter (:name, ?) in a query and in an expression, either of
 * which may be NULL. fn may turn the marker into another expression, in place.
 */
void tg_sql_visit_parameters(tg_query *query, tg_expr *expr, void (*fn)(void *ctx, tg_expr *marker),
                             void *ctx);
/* The same, to give each name another one; stops at the first error. */
TG_CHECKED tg_code tg_sql_rename_tables(tg_query *query,
                                        tg_code (*fn)(void *ctx, tg_name *name, tg_error *err),
                                        void *ctx, tg_error *err);

/* SELECT star FROM from; span: the place of the whole. */
tg_query *tg_sql_select_star(tg_arena *arena, tg_expr *star, tg_relation *from, tg_span span);
/* The query that a CREATE VIEW stands for: its query, with the view's column names when it lists
 * some. */
tg_query *tg_sql_view_query(const tg_stmt *stmt, tg_arena *arena);

#endif
