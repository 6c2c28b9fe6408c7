/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the answer of a query depend on the order in which rows are met? Then two evaluations over
 * equal rows may give different answers, each right as a whole, and parts of them do not fit.
 *
 * Told by lists of what does not depend on it; everything else counts as dependent.
 */
#include "sql/tree.h"

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_settled_aggregate(const tg_bexpr *expr)
{
    static const char *const SETTLED[] = {"count",    "count_if", "min",     "max",
                                          "bool_and", "every",    "bool_or", "some",
                                          "any",      "bit_and",  "bit_or",  "bit_xor"};
    static const char *const SUMS[] = {"sum", "try_sum", "avg", "mean", "try_avg"};
    const char *name = expr->function->name;
    /* Sums of floating numbers differ in their last digits; those of others are exact. */
    const tg_type *arg = expr->arg_count > 0 ? expr->args[0]->type : expr->type;
    return is_one_of(name, SETTLED, sizeof(SETTLED) / sizeof(*SETTLED)) ||
           (is_one_of(name, SUMS, sizeof(SUMS) / sizeof(*SUMS)) && !tg_type_is_floating(arg));
}

/* Rows that tie in the order get one value, or are all in the frame. */
static bool is_settled_window(const tg_bexpr *expr)
{
    static const char *const RANKS[] = {"rank", "dense_rank", "percent_rank", "cume_dist"};
    return is_one_of(expr->function->name, RANKS, sizeof(RANKS) / sizeof(*RANKS)) ||
           (is_settled_aggregate(expr) && expr->window->frame != TG_FRAME_ROWS);
}

static void look_at_expr(void *self, const tg_bexpr *expr)
{
    bool *depends = self;
    *depends = *depends || (expr->kind == TG_B_AGGREGATE && !is_settled_aggregate(expr)) ||
               (expr->kind == TG_B_WINDOW && !is_settled_window(expr));
}

static void look_at_rel(void *self, const tg_rel *rel)
{
    bool *depends = self;
    *depends = *depends || rel->kind == TG_R_LIMIT;
}

bool tg_sql_depends_on_order(const tg_rel *rel)
{
    bool depends = false;
    tg_sql_rel_visit(rel, look_at_rel, look_at_expr, &depends);
    return depends;
}
