/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, walking and copying bound trees. Private to sql.
 *
 * Trees are immutable once built: a rewrite copies the nodes on the way to a change and shares the
 * rest.
 */
#ifndef TG_SQL_TREE_H
#define TG_SQL_TREE_H

#include "sql/functions.h"

/* ---- making ---------------------------------------------------------------------------------- */

tg_rel *tg_sql_rel_filter(tg_arena *arena, tg_rel *input, tg_bexpr *condition);
/* columns[i] names exprs[i]; both arrays are taken over. */
tg_rel *tg_sql_rel_project(tg_arena *arena, tg_rel *input, tg_bexpr **exprs,
                           const tg_column *columns, size_t count);
/* A projection to some of the input's columns. */
tg_rel *tg_sql_rel_select(tg_arena *arena, tg_rel *input, const tg_column *columns, size_t count);
/* a AND b ...: a balanced tree, so that ten thousand terms are not ten thousand levels. NULL for no
 * terms. */
tg_bexpr *tg_sql_conjunction(tg_arena *arena, tg_bexpr **terms, size_t count);

typedef TG_VEC(tg_bexpr *) tg_bexpr_vec;
/* Splits a AND b AND c into its terms. */
void tg_sql_conjuncts(tg_arena *arena, const tg_bexpr *expr, tg_bexpr_vec *out_terms);

/* ---- asking ---------------------------------------------------------------------------------- */

bool tg_sql_is_call(const tg_bexpr *expr, const char *function_name);
/* Structural equality; spans do not count. Random functions are equal only to themselves. */
bool tg_sql_bexpr_equal(const tg_bexpr *a, const tg_bexpr *b);
bool tg_sql_bexpr_has_subquery(const tg_bexpr *expr);
/* The column of rel with this id, or NULL. */
const tg_column *tg_sql_rel_column(const tg_rel *rel, uint32_t id);

/* ---- walking --------------------------------------------------------------------------------- */

/* Calls fn for every node of the tree, parents first, also for those inside subqueries. */
void tg_sql_bexpr_visit(const tg_bexpr *expr, void (*fn)(void *self, const tg_bexpr *expr),
                        void *self);
/* Either function may be NULL. */
void tg_sql_rel_visit(const tg_rel *rel, void (*on_rel)(void *self, const tg_rel *rel),
                      void (*on_expr)(void *self, const tg_bexpr *expr), void *self);

/*
 * A copy of expr where each node for which fn returns another is replaced by it; NULL means: look
 * into its children, subqueries included. Nodes without change are shared.
 */
typedef tg_bexpr *(*tg_bexpr_mapper)(void *self, tg_bexpr *expr);
tg_bexpr *tg_sql_bexpr_map(tg_arena *arena, tg_bexpr *expr, tg_bexpr_mapper fn, void *self);

/* ---- sets of column ids ---------------------------------------------------------------------- */

typedef struct tg_idset {
    tg_arena *arena;
    uint64_t *words;
    size_t word_count;
} tg_idset;
void tg_idset_add(tg_idset *set, uint32_t id);
bool tg_idset_has(const tg_idset *set, uint32_t id);

#endif
