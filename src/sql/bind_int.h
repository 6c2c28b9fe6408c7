/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binder's inner parts, private to bind*.c.
 *
 * Life of a SELECT: FROM gives a relation and a scope (bind_from.c); every expression is bound over
 * that scope (bind_expr.c, bind_call.c), whereby an aggregate or window call is put aside in the
 * select's lists and replaced by a column; at the end bind_select.c replaces what GROUP BY computes
 * and stacks the relations.
 */
#ifndef TG_SQL_BIND_INT_H
#define TG_SQL_BIND_INT_H

#include "sql/functions_int.h"
#include "sql/tree.h"

/* ---- scopes ---------------------------------------------------------------------------------- */

typedef struct tg_scope_column {
    tg_column column;
    const tg_str *qualifier; /* catalog, schema, table as far as known, or the alias alone */
    size_t qualifier_count;
    bool in_star; /* part of *, and reachable without qualifier; false: the hidden key of a USING
                     join */
} tg_scope_column;

/* The columns that names may mean at one level; parent: the enclosing query's (correlation). */
typedef struct tg_scope {
    const struct tg_scope *parent;
    tg_scope_column *columns;
    size_t count;
} tg_scope;

/* A CTE that may be named. Its own query sees what stands behind it in the chain. */
typedef struct tg_cte_frame {
    const tg_cte *cte;
    struct tg_cte_frame *next;
    const tg_scope *outer;
    size_t reference_count;
} tg_cte_frame;

/* What a query sees of its surroundings. */
typedef struct tg_query_env {
    tg_cte_frame *ctes;
    const tg_scope *outer;
} tg_query_env;

typedef struct tg_view_frame {
    tg_str name;
    const struct tg_view_frame *next;
} tg_view_frame;

typedef struct tg_binder {
    const tg_bind_options *options;
    tg_arena *arena;
    tg_fn_context fn;
    uint32_t next_id;
    int depth;
    size_t relation_count; /* bound so far: expansion of CTEs and views may explode */
    const tg_view_frame *views;
    TG_VEC(const tg_table *) tables;
    bool has_time_function;
    size_t random_count;                         /* random functions seen */
    const char *time_function, *random_function; /* the first of each, NULL: none */
} tg_binder;

tg_code tg_bind_enter(tg_binder *b, tg_span span, tg_error *err);
static inline void tg_bind_leave(tg_binder *b)
{
    b->depth--;
}
tg_column tg_bind_column(tg_binder *b, tg_str name, const tg_type *type, bool nullable);

/* A scope over rel's columns, all with one qualifier (count 0: none). */
tg_scope *tg_bind_scope_of(tg_binder *b, const tg_rel *rel, const tg_scope *parent,
                           const tg_str *qualifier, size_t count);
/* The columns of both, left's first. */
tg_scope *tg_bind_joined_scope(tg_binder *b, const tg_scope *left, const tg_scope *right,
                               const tg_scope *parent);
/* How many columns of this scope (parents do not count) a name of `count` parts may mean, and the
 * first of them; out_used: parts used, the rest are fields. */
void tg_bind_scope_find(const tg_scope *scope, const tg_ident *parts, size_t count,
                        size_t *out_matches, size_t *out_first, size_t *out_used);
bool tg_bind_qualifier_matches(const tg_scope_column *column, const tg_ident *parts, size_t count);
tg_code tg_bind_unresolved_(tg_binder *b, const tg_scope *scope, const tg_name *name,
                            const tg_str *more, size_t more_count, tg_error *err);
#define tg_bind_unresolved(...) tg_error_failure_(tg_bind_unresolved_(__VA_ARGS__))
/* base.field: struct fields, map values. */
tg_code tg_bind_field(tg_binder *b, tg_bexpr *base, const tg_ident *field, tg_span span,
                      tg_bexpr **out, tg_error *err);
tg_str tg_bind_name_text(tg_arena *arena, const tg_name *name);

/* ---- a select while it is bound -------------------------------------------------------------- */

typedef struct tg_bind_item {
    tg_bexpr *expr;
    tg_str name;
    tg_span span;
    bool has_alias; /* may be named by a lateral alias; a bare column's name counts for GROUP BY and
                       ORDER BY only */
} tg_bind_item;

/* An aggregate, window expression or group key, and the column that stands for it. */
typedef struct tg_bind_slot {
    tg_bexpr *expr;
    tg_column column;
} tg_bind_slot;
typedef TG_VEC(tg_bind_slot) tg_bind_slots;

typedef struct tg_bind_select_state {
    const tg_select *ast;
    tg_scope *scope;
    tg_rel *rel;
    TG_VEC(tg_bind_item) items;
    tg_bind_slots aggregates, windows, groups;
    tg_idset aggregate_ids, window_ids;
} tg_bind_select_state;

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct tg_lambda_frame {
    const tg_ident *names;
    const tg_column *columns; /* id and type of each parameter */
    size_t count;
    const struct tg_lambda_frame *next;
} tg_lambda_frame;

typedef enum tg_alias_mode {
    TG_ALIAS_NONE,
    TG_ALIAS_LATERAL, /* FROM's columns first, then aliases of earlier items */
    TG_ALIAS_GROUP,   /* FROM's columns first, then items: GROUP BY */
    TG_ALIAS_OUTPUT   /* items first, then FROM's columns: HAVING, ORDER BY, QUALIFY; inside
                         aggregates the reverse */
} tg_alias_mode;

typedef struct tg_expr_ctx {
    tg_binder *b;
    tg_scope *scope;
    const tg_query_env *env;
    tg_bind_select_state *sel; /* takes aggregates and windows; NULL: none are allowed */
    const char *clause;        /* "WHERE", ... for messages */
    bool allow_aggregates, allow_windows;
    bool in_aggregate, in_window;
    bool is_conjunct; /* a top-level AND term of WHERE or HAVING: IN (query) filters instead of
                         giving a value */
    tg_alias_mode aliases;
    const tg_lambda_frame *lambdas;
    bool no_subqueries;
} tg_expr_ctx;

tg_code tg_bind_expr(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err);
/* A condition: its AND terms bound one by one, must be boolean. */
tg_code tg_bind_condition(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out,
                          tg_error *err);
tg_code tg_bind_call(const tg_expr_ctx *ctx, const tg_expr *expr, tg_bexpr **out, tg_error *err);
/* Applies a function of the table by name and keeps count of random and time functions. */
tg_code tg_bind_apply(tg_binder *b, const char *name, tg_bexpr **args, size_t count, tg_span span,
                      tg_bexpr **out, tg_error *err);
tg_code tg_bind_apply_function(tg_binder *b, const tg_function *function, tg_bexpr **args,
                               size_t count, tg_span span, tg_bexpr **out, tg_error *err);
/* Does the expression use a column of the set? */
bool tg_bind_uses_any(const tg_bexpr *expr, const tg_idset *set);

typedef struct tg_bind_expansion {
    tg_bexpr *expr;
    tg_str name;
} tg_bind_expansion;
typedef TG_VEC(tg_bind_expansion) tg_bind_expansions;
/* *, t.*, s.*, with EXCEPT. */
tg_code tg_bind_star(const tg_expr_ctx *ctx, const tg_expr *star, tg_bind_expansions *out,
                     tg_error *err);

tg_code tg_bind_sort_item(const tg_expr_ctx *ctx, const tg_sort_item *item, tg_bsort *out,
                          tg_error *err);
tg_code tg_bind_sort_items(const tg_expr_ctx *ctx, const tg_sort_item *items, size_t count,
                           tg_bsort **out, tg_error *err);
/* item's direction over an expression that is bound already. */
tg_code tg_bind_sort_by(const tg_expr_ctx *ctx, const tg_sort_item *item, tg_bexpr *expr,
                        tg_bsort *out, tg_error *err);
/* ORDER BY ALL: by all output columns, in order. A column named `all` comes first. */
bool tg_bind_is_order_by_all(const tg_expr_ctx *ctx, const tg_sort_item *items, size_t count);
/* GROUP BY 2, ORDER BY 2: an integer literal that is no part of an expression. */
bool tg_bind_is_ordinal(const tg_expr *expr, int64_t *out);
/* The output column that ORDER BY names by number, from 1; 0: item is no number. */
tg_code tg_bind_order_position(const tg_sort_item *item, size_t output_count, size_t *out,
                               tg_error *err);

/* The name that Spark gives a column without alias. */
tg_str tg_bind_shown_name(tg_arena *arena, const tg_expr *expr);

/* ---- relations ------------------------------------------------------------------------------- */

typedef struct tg_bind_order {
    const tg_sort_item *items;
    size_t count;
} tg_bind_order;

/* A bound query body: the first `visible` columns of rel are its output, further ones only serve
 * the order. */
typedef struct tg_bind_body {
    tg_rel *rel;
    size_t visible;
} tg_bind_body;

/* An item of FROM: its rows, and the columns that names may mean over them. */
typedef struct tg_bind_source {
    tg_rel *rel;
    tg_scope *scope;
} tg_bind_source;

tg_code tg_bind_query(tg_binder *b, const tg_query *query, const tg_query_env *env, bool keep_order,
                      tg_rel **out, tg_error *err);
tg_code tg_bind_select(tg_binder *b, const tg_select *select, const tg_query_env *env,
                       const tg_bind_order *order, tg_bind_body *out, tg_error *err);
tg_code tg_bind_from(tg_binder *b, const tg_relation *relation, const tg_query_env *env,
                     tg_bind_source *out, tg_error *err);
/* bind_event_log.c: FROM event_log(...); any other table function is refused. */
tg_code tg_bind_event_log(tg_binder *b, const tg_relation *relation, tg_resolved *out,
                          tg_error *err);
/* bind_table_changes.c: FROM table_changes(...). */
bool tg_bind_table_changes_is(const tg_relation *relation);
tg_code tg_bind_table_changes(tg_binder *b, const tg_relation *relation, tg_resolved *out,
                              tg_error *err);
/* TABLE t as a query body. */
tg_code tg_bind_table_name(tg_binder *b, const tg_name *name, tg_span span, const tg_query_env *env,
                           tg_rel **out, tg_error *err);
tg_rel *tg_bind_one_row(tg_binder *b, tg_span span);
/* A SORT, LIMIT or DISTINCT over input, whose columns it passes on. */
tg_rel *tg_bind_over(tg_binder *b, tg_rel_kind kind, tg_rel *input, tg_span span);
tg_code tg_bind_values(tg_binder *b, const tg_query_body *body, const tg_query_env *env,
                       tg_rel **out, tg_error *err);

#endif
