/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world for planning: two sources and a target of rows (d, k, v), predicates and queries
 * with answers of their own. It knows the rules by their definition and no coverage.
 */
#ifndef TG_TEST_INCREMENTAL_WORLD_H
#define TG_TEST_INCREMENTAL_WORLD_H

#include "support/test.h"

#include "incremental/incremental.h"

enum { NONE = -1, DAYS = 7, KEYS = 3, ROWS_MAX = 400, COMMITS_MAX = 200, SOURCES = 2 };
enum { FIRST_DAY = 19723 }; /* 2024-01-01 */

typedef struct row {
    int d, k, v; /* NONE: NULL. d counts days from FIRST_DAY */
    unsigned id; /* of the target's rows: another one when it is written again */
} row;

typedef struct bag {
    row rows[ROWS_MAX];
    size_t count;
} bag;

void bag_add(bag *into, row item);
bool bag_equal(const bag *a, const bag *b);

/* ---- predicates ------------------------------------------------------------------------------ */

typedef enum pred_kind { PRED_CMP, PRED_NULL, PRED_ODD, PRED_NOT, PRED_AND, PRED_OR } pred_kind;

typedef struct pred {
    pred_kind kind;
    bool is_day, is_moving; /* CMP, NULL: column d or k; constant counted from today */
    char op[3];             /* "<" "<=" "=" ">=" ">" */
    int constant;
    const struct pred *a, *b;
} pred;

const pred *pred_random(tg_arena *arena);
void pred_print(const pred *p, tg_buf *out);
/* 1, 0 or NONE (NULL) */
int pred_eval(const pred *p, const row *item, int today);
/* The same of a bound predicate over (d, k, v). */
int bound_eval(const tg_bexpr *expr, const row *item);

/* ---- queries --------------------------------------------------------------------------------- */

enum { QUERIES = 7, TIED = 6 /* its answer depends on the order of rows */ };
typedef struct query {
    const char *text;
    bool reads_keys; /* the second source too */
} query;
extern const query queries[QUERIES];
/* salt: settles ties, differently in each evaluation. */
void query_answer(int index, const bag sources[SOURCES], int today, unsigned salt, bag *out);

/* ---- chance ---------------------------------------------------------------------------------- */

void chance_seed(uint64_t seed);
unsigned pick(unsigned bound);
bool one_in(unsigned n);
row random_row(void);

tg_region region_of_points(const bag *touched, tg_arena *arena);
/* The same, or something larger. */
tg_region hull_of(const bag *touched, tg_arena *arena);
tg_schema world_schema(void);

#endif
