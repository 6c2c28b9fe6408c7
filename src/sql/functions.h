/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function table: one entry per Spark function and operator drives the binder, the printers,
 * docs/functions.md and tests.
 *
 * An operator is a function whose name is its sign. Special forms are functions too. The binder
 * calls tg_function_apply for all of them, with these names and arguments:
 *
 *   + - * / % div || & | ^ << >> >>>       (left, right)
 *   = <> < <= > >= <=>                     (left, right)        !=, == are spelled <>, =
 *   and or                                 (left, right);  not ~ negative positive  (operand)
 *   isnull isnotnull is_true is_false      (operand)            IS UNKNOWN is isnull; IS DISTINCT
 *   FROM is not(<=>)
 *   between                                (value, low, high)
 *   in                                     (value, candidate, ...)
 *   like ilike                             (text, pattern [, escape]);  rlike (text, pattern)
 *   case                                   (when, then, when, then, ... [, else])   CASE x WHEN y:
 *   when is =(x, y)
 *   element                                (array or map, index or key)             a[i]
 *   struct_row                             (value, value, ...)                      (a, b): fields
 *   col1, col2
 *   named_struct                           (name literal, value, ...)               struct(a AS x)
 *   and STRUCT(..) too
 *   extract                                (field name literal, source)
 *   interval                               (value, unit name literal)               INTERVAL x DAY
 *   count                                  count(*) is count(1)
 * date_add, dateadd, timestampadd, date_diff, datediff, timestampdiff with a unit: the unit is a
 * string literal, first argument.
 */
#ifndef TG_SQL_FUNCTIONS_H
#define TG_SQL_FUNCTIONS_H

#include "sql/bound.h"

typedef enum tg_function_class {
    TG_FN_SCALAR,
    TG_FN_AGGREGATE,
    TG_FN_WINDOW /* only with OVER */,
    TG_FN_GENERATOR
} tg_function_class;
typedef enum tg_volatility {
    TG_VOL_IMMUTABLE,
    TG_VOL_TIME,  /* folded with the clock: current_date, current_timestamp, now, localtimestamp */
    TG_VOL_RANDOM /* rand, uuid, ... */
} tg_volatility;

/* What functions need from the binder. */
typedef struct tg_fn_context {
    tg_arena *arena;
    int64_t now_us;
    const tg_zone *zone;
    bool used_zone; /* set by resolve() when the meaning depends on the zone */
} tg_fn_context;

typedef struct tg_print_context
    tg_print_context; /* sql_int.h: buffer, options, column names; tg_print_expr(ctx, expr) */

struct tg_function {
    const char *name; /* lower case */
    tg_function_class cls;
    int min_args, max_args; /* max -1: any number */
    tg_volatility volatility;
    /*
     * Parameter types and result for the common resolve function, e.g. "string int > string"; see
     * functions_int.h.
     */
    const char *signature;
    /*
     * Types: may replace args by coerced ones (inserting casts), sets call->type and nullable.
     * Wrong types: DATATYPE_MISMATCH with the argument's span. Values that are constants may be
     * checked here.
     */
    tg_code (*resolve)(tg_fn_context *ctx, tg_bexpr *call, tg_error *err);
    /*
     * DuckDB text with $n for arguments (functions_int.h lists all marks); NULL: print() does it.
     */
    const char *duckdb;
    tg_code (*print)(tg_print_context *ctx, const tg_bexpr *call, tg_error *err);
    const char *doc; /* one line for docs/functions.md */
};

/* NULL when there is none; aliases (substring, substr, mid) are entries of their own. */
const tg_function *tg_function_find(tg_str name);
/* Nearest name for messages; empty when none. */
tg_str tg_function_nearest(tg_str name);
size_t tg_function_count(void);
const tg_function *tg_function_at(size_t index);

/*
 * A call with checked arity (WRONG_NUM_ARGS.WITHOUT_SUGGESTION), coerced arguments and type. args
 * are bound; the array is copied. Aggregates and window functions: the caller sets distinct,
 * filter, order_by, window on the result.
 */
TG_CHECKED tg_code tg_function_apply(tg_fn_context *ctx, const tg_function *function,
                                     tg_bexpr **args, size_t arg_count, tg_span span,
                                     tg_bexpr **out_call, tg_error *err);

/*
 * Types of the parameters of the lambda at args[index]: out_types gets param_count of them.
 * Arguments before it are bound; lambdas that are not bound yet are NULL.
 * INVALID_LAMBDA_FUNCTION_CALL when the function takes no lambda there or not so many parameters.
 */
TG_CHECKED tg_code tg_function_lambda_types(tg_fn_context *ctx, const tg_function *function,
                                            tg_bexpr *const *args, size_t index, size_t param_count,
                                            tg_span span, const tg_type **out_types, tg_error *err);

/* ---- types (Spark's rules, ANSI mode) -------------------------------------------------------- */

/*
 * Explicit cast: checks that Spark allows it (DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION ...). A
 * cast to the same type is dropped.
 */
TG_CHECKED tg_code tg_sql_cast(tg_fn_context *ctx, tg_bexpr *expr, const tg_type *to,
                               tg_cast_mode mode, tg_span span, tg_bexpr **out, tg_error *err);
/*
 * The type that set operations, CASE, coalesce, IN, arrays ... find for two types (string yields to
 * the other side in ANSI mode); NULL: none.
 */
const tg_type *tg_sql_common_type(tg_arena *arena, const tg_type *a, const tg_type *b);
/* Like common_type over expressions, then casts all to it. */
TG_CHECKED tg_code tg_sql_unify(tg_fn_context *ctx, tg_bexpr **exprs, size_t count, tg_span span,
                                const char *what, const tg_type **out_type, tg_error *err);
/*
 * May a value of this type be stored in a column of that type without an explicit cast (ANSI store
 * assignment)?
 */
bool tg_sql_can_store(const tg_type *from, const tg_type *to);

tg_bexpr *tg_bexpr_literal(tg_arena *arena, tg_value value, tg_span span);
tg_bexpr *tg_bexpr_column(tg_arena *arena, const tg_column *column, tg_span span);
/* A field of base, a struct. */
tg_bexpr *tg_bexpr_field(tg_arena *arena, tg_bexpr *base, size_t index, tg_span span);

#endif
