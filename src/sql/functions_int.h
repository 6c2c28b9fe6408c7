/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the function table share. Private to sql.
 *
 * Signatures (tg_function.signature) are read by tg_fn_resolve: words for the parameters, then ">"
 * and the result.
 *   parameters  boolean int bigint float double decimal string binary date timestamp ntz
 *   implicitly cast to that type
 *               numeric (a string becomes DOUBLE), any, array, map, interval
 *               bytes (STRING or BINARY; others become STRING), same (all such arguments get their
 *               common type),
 *               local (DATE stays, TIMESTAMP_NTZ stays, others become TIMESTAMP)
 *               A word with * stands for itself and all further arguments.
 *   result      a type word, $n (the type of argument n), elem (element of argument 1)
 *               With "!" never NULL, with "?" may be NULL though no argument is; else NULL when an
 *               argument is.
 *
 * Templates (tg_function.duckdb): $1..$9 arguments, $* all separated by commas, $+ all but the
 * first, $T the DuckDB type of the result, $Z the session zone as a string, $d "DISTINCT " of an
 * aggregate, $s its ORDER BY, $n " IGNORE NULLS",
 * $o its FILTER and OVER. $K1 is argument 1 as a group key (0.0 for -0.0),
 * $L1 is argument 1, a TIMESTAMP, as local time (a DuckDB TIMESTAMP);
 * $I(...) turns a local time into an instant.
 */
#ifndef TG_SQL_FUNCTIONS_INT_H
#define TG_SQL_FUNCTIONS_INT_H

#include "sql/sql_int.h"

/* ---- errors ---------------------------------------------------------------------------------- */

/* Puts the span on the error just made: return tg_fn_at(span, err, TG_ERR(err, CLASS, ...)). */
tg_code tg_fn_at_(tg_span span, tg_error *err, tg_code code);
#define tg_fn_at(...) tg_error_failure_(tg_fn_at_(__VA_ARGS__))
/* DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE: wanted is "a number", "an array". */
tg_code tg_fn_type_error_(const tg_bexpr *call, size_t index, const char *wanted, tg_error *err);
#define tg_fn_type_error(...) tg_error_failure_(tg_fn_type_error_(__VA_ARGS__))
tg_code tg_fn_unsupported_(const tg_bexpr *call, tg_error *err, const char *why);
#define tg_fn_unsupported(...) tg_error_failure_(tg_fn_unsupported_(__VA_ARGS__))

/* DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES: "`+` does not take INT and MAP<..>". */
tg_code tg_fn_operands_error_(tg_fn_context *ctx, const tg_bexpr *call, tg_error *err);
#define tg_fn_operands_error(...) tg_error_failure_(tg_fn_operands_error_(__VA_ARGS__))
/* DATATYPE_MISMATCH.INVALID_ORDERING_TYPE unless values of the type can be compared. */
tg_code tg_fn_check_orderable(tg_fn_context *ctx, const tg_bexpr *call, const tg_type *type,
                              tg_span span, tg_error *err);
/* UNSUPPORTED_FEATURE when DuckDB would order values of the type otherwise than Spark. */
tg_code tg_fn_check_order(const tg_bexpr *call, const tg_type *type, tg_error *err);

/* ---- resolving ------------------------------------------------------------------------------- */

tg_code tg_fn_resolve(tg_fn_context *ctx, tg_bexpr *call, tg_error *err);
/* Casts argument index implicitly; UNEXPECTED_INPUT_TYPE when Spark does not. */
tg_code tg_fn_coerce(tg_fn_context *ctx, tg_bexpr *call, size_t index, const tg_type *to,
                     tg_error *err);
/* A number: a string becomes DOUBLE, NULL becomes DOUBLE. */
tg_code tg_fn_coerce_numeric(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_error *err);
/*
 * The end of resolving for a call whose text depends on its arguments: the type, and a template for
 * the printer "extra" (tg_fn_print_extra). NULL when an argument is, or from a try_ function.
 */
tg_code tg_fn_resolve_to(tg_fn_context *ctx, tg_bexpr *call, const tg_type *type, const char *text);
/* try_add, try_to_date, ...: NULL instead of an error. */
bool tg_fn_is_try(const tg_bexpr *call);
/* The last argument of our C functions: "TRUE" for try_ functions, else "FALSE". */
const char *tg_fn_try_flag(const tg_bexpr *call);
/* Casts without a check: the caller knows that the cast exists. */
tg_bexpr *tg_fn_cast(tg_arena *arena, tg_bexpr *expr, const tg_type *to);
bool tg_fn_any_nullable(const tg_bexpr *call);
/* The argument's value when it is a literal (casts of literals by the signature included). */
bool tg_fn_literal(const tg_bexpr *arg, tg_value *out);
bool tg_fn_literal_string(const tg_bexpr *arg, tg_str *out);
bool tg_fn_literal_int(const tg_bexpr *arg, int64_t *out);

/*
 * May the expression raise on some row (division, casts, overflow, indexes)? Errs on the side of
 * yes.
 */
bool tg_fn_may_raise(const tg_bexpr *expr);
/*
 * Would DuckDB compare the number with a constant without computing it? It takes u + 1 > 0 for
 * u > -1 and CAST(u AS INT) > 5 for u > 5, and the error, or the NULL of TRY_CAST, is lost. A unary
 * plus, which computes nothing, stops that. Casts that hold every value may go: files are skipped by
 * what is compared then.
 */
bool tg_fn_loses_error(const tg_bexpr *expr);

/* ---- types ----------------------------------------------------------------------------------- */

/* common_type without the rule that strings yield. NULL: none. */
const tg_type *tg_sql_tightest_type(tg_arena *arena, const tg_type *a, const tg_type *b);
/*
 * a with the NULLs of b, when b differs in nothing else but the names of fields: set operations take
 * such columns by position. NULL: it does.
 */
const tg_type *tg_sql_renamed_type(tg_arena *arena, const tg_type *a, const tg_type *b);
int tg_sql_integer_bits(const tg_type *integer);
/* The decimal that holds every value of an integer type. */
const tg_type *tg_sql_decimal_of(tg_arena *arena, const tg_type *integer);
/* Spark's bounds: adjust gives up scale down to 6 digits, bounded cuts both at 38. */
const tg_type *tg_sql_decimal_adjust(tg_arena *arena, int precision, int scale);
const tg_type *tg_sql_decimal_bounded(tg_arena *arena, int precision, int scale);
/* STRUCT<key, value>: what map_entries gives. */
const tg_type *tg_sql_entry_type(tg_arena *arena, const tg_type *map);
/* Would Spark cast implicitly in an argument? */
bool tg_sql_can_cast_implicitly(const tg_type *from, const tg_type *to);
/* Does the cast need the session zone? */
bool tg_sql_cast_uses_zone(const tg_type *from, const tg_type *to);

/* ---- printing -------------------------------------------------------------------------------- */

/* A lambda parameter that counts from 0: printed as (v - 1). A list on the C stack. */
typedef struct tg_print_lambda {
    uint32_t id;
    const struct tg_print_lambda *next;
} tg_print_lambda;

/* Expands a template over args. */
tg_code tg_print_template(tg_print_context *ctx, const char *text, const tg_bexpr *call,
                          tg_error *err);
/*
 * Like tg_print_template, with text that is made on the spot (formatted into the context's arena).
 */
tg_code tg_print_format(tg_print_context *ctx, const tg_bexpr *call, tg_error *err,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
/* NULL with the type of the call. */
tg_code tg_print_null(tg_print_context *ctx, const tg_bexpr *call, tg_error *err);
/* Any expression cast to a type. */
tg_code tg_print_cast(tg_print_context *ctx, const tg_bexpr *expr, const tg_type *to,
                      tg_cast_mode mode, tg_error *err);
/*
 * An unscaled HUGEINT (printed by the template) as DECIMAL(p,s): HUGEINT -> DECIMAL(38,0) -> times
 * 10^-s, which only moves the point.
 */
tg_code tg_print_unscaled(tg_print_context *ctx, const char *text, const tg_bexpr *call,
                          const tg_type *decimal, tg_error *err);
/* The same around an operand that is no template. */
void tg_print_unscaled_begin(tg_print_context *ctx);
void tg_print_unscaled_end(tg_print_context *ctx, const tg_type *decimal);

/*
 * Arithmetic with a date, timestamp or interval: sets type, casts and call->extra (a template that
 * the printer takes). out_is_done false: neither side is one.
 */
tg_code tg_fn_resolve_datetime_arithmetic(tg_fn_context *ctx, tg_bexpr *call, char sign,
                                          bool *out_is_done, tg_error *err);

tg_code tg_fn_resolve_decode_charset(tg_fn_context *ctx, tg_bexpr *call, tg_error *err);

/* ---- resolvers and printers by family, named in functions.def -------------------------------- */

#define TG_FN_RESOLVER(name) \
    tg_code tg_fn_resolve_##name(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
#define TG_FN_PRINTER(name) \
    tg_code tg_fn_print_##name(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)

#define TG_FN_T(name, cls, min, max, signature, text, doc)
#define TG_FN_V(name, volatility, min, max, signature, text, doc)
#define TG_FN_C(name, resolver, doc) TG_FN_RESOLVER(resolver);
#define TG_FN_R(name, cls, min, max, resolver, text, doc) TG_FN_RESOLVER(resolver);
#define TG_FN_P(name, cls, min, max, signature, printer, doc) TG_FN_PRINTER(printer);
#define TG_FN_RP(name, cls, min, max, resolver, printer, doc) \
    TG_FN_RESOLVER(resolver);                                 \
    TG_FN_PRINTER(printer);
#include "sql/functions.def"
#undef TG_FN_T
#undef TG_FN_V
#undef TG_FN_C
#undef TG_FN_R
#undef TG_FN_P
#undef TG_FN_RP

#endif
