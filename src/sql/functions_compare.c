/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, logic, conditions and bits.
 *
 * DuckDB compares as Spark does: NaN equals NaN and is the greatest, -0.0 equals 0.0, strings go by
 * bytes, nested values are equal with NULLs at equal places. Only the order of nested values that
 * hold NULLs differs and is refused. CASE and COALESCE evaluate lazily in both; AND and OR do not in
 * DuckDB, see the printer of logic.
 */
#include "sql/functions_int.h"

/* ---- comparison ------------------------------------------------------------------------------ */

TG_FN_RESOLVER(comparison)
{
    const tg_type *left = call->args[0]->type, *right = call->args[1]->type;
    const tg_type *type = tg_sql_common_type(ctx->arena, left, right);
    if (!type) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES,
                               "`%s` does not compare %s with %s", call->function->name,
                               tg_type_ddl(ctx->arena, left).ptr,
                               tg_type_ddl(ctx->arena, right).ptr));
    }
    TG_TRY(tg_fn_check_orderable(ctx, call, type, call->span, err));
    for (size_t i = 0; i < 2; i++) {
        TG_TRY(tg_sql_cast(ctx, call->args[i], type, TG_CAST_IMPLICIT, call->args[i]->span,
                           &call->args[i], err));
    }
    if (call->function->name[0] != '=' && strcmp(call->function->name, "<>") != 0 &&
        strcmp(call->function->name, "<=>") != 0 && call->function->name[0] != 'e') {
        TG_TRY(tg_fn_check_order(call, type, err));
    }
    bool is_null_safe = strcmp(call->function->name, "<=>") == 0;
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = !is_null_safe && tg_fn_any_nullable(call);
    return TG_OK;
}

/*
 * Nested operands are printed as group keys, as a join on plain columns gives one side's arrays for
 * the other's: with another -0.0.
 */
TG_FN_PRINTER(equality)
{
    bool is_nested = tg_type_is_nested(call->args[0]->type);
    tg_buf_addc(ctx->out, '(');
    for (size_t i = 0; i < 2; i++) {
        if (i > 0) {
            tg_buf_addz(ctx->out,
                        call->function->name[0] == '=' ? " = " : " IS NOT DISTINCT FROM ");
        }
        TG_TRY(is_nested ? tg_print_group_key(ctx, call->args[i], err)
                         : tg_print_expr(ctx, call->args[i], err));
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

/* value, low, high: each bound is compared with the value in a type of its own. */
static tg_code apply_operator(tg_fn_context *ctx, const char *name, tg_bexpr *left, tg_bexpr *right,
                              tg_span span, tg_bexpr **out, tg_error *err)
{
    tg_bexpr *args[] = {left, right};
    return tg_function_apply(ctx, tg_function_find(tg_str_from(name)), args, 2, span, out, err);
}

TG_FN_RESOLVER(between)
{
    tg_bexpr *low, *high;
    TG_TRY(apply_operator(ctx, ">=", call->args[0], call->args[1], call->span, &low, err));
    TG_TRY(apply_operator(ctx, "<=", call->args[0], call->args[2], call->span, &high, err));
    if (tg_type_equal(low->args[0]->type, high->args[0]->type)) {
        call->args[0] = low->args[0];
        call->args[1] = low->args[1];
        call->args[2] = high->args[1];
        call->type = low->type;
        call->nullable = tg_fn_any_nullable(call);
        return TG_OK;
    }
    /* The two comparisons need different types: say it as a conjunction. */
    tg_bexpr *both;
    TG_TRY(apply_operator(ctx, "and", low, high, call->span, &both, err));
    *call = *both;
    return TG_OK;
}

TG_FN_RESOLVER(in)
{
    const tg_type *type;
    TG_TRY(tg_sql_unify(ctx, call->args, call->arg_count, call->span, "values of IN", &type, err));
    TG_TRY(tg_fn_check_orderable(ctx, call, type, call->span, err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/* greatest, least: strings do not yield here. */
TG_FN_RESOLVER(greatest)
{
    const tg_type *type = call->args[0]->type;
    call->nullable = true;
    for (size_t i = 0; i < call->arg_count; i++) {
        const tg_type *next = tg_sql_tightest_type(ctx->arena, type, call->args[i]->type);
        if (!next) {
            return tg_fn_at(call->span, err,
                            TG_ERR(err, DATATYPE_MISMATCH_DATA_DIFF_TYPES,
                                   "arguments of `%s` must have one type, found %s and %s",
                                   call->function->name, tg_type_ddl(ctx->arena, type).ptr,
                                   tg_type_ddl(ctx->arena, call->args[i]->type).ptr));
        }
        type = next;
        call->nullable = call->nullable && call->args[i]->nullable;
    }
    TG_TRY(tg_fn_check_orderable(ctx, call, type, call->span, err));
    TG_TRY(tg_fn_check_order(call, type, err));
    for (size_t i = 0; i < call->arg_count; i++) {
        TG_TRY(tg_sql_cast(ctx, call->args[i], type, TG_CAST_IMPLICIT, call->args[i]->span,
                           &call->args[i], err));
    }
    call->type = type;
    return TG_OK;
}

/* ---- logic ----------------------------------------------------------------------------------- */

TG_FN_RESOLVER(logic)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        tg_type_kind kind = call->args[i]->type->kind;
        bool fits = kind == TG_TYPE_BOOLEAN || kind == TG_TYPE_VOID || kind == TG_TYPE_STRING;
        if (!fits) {
            return tg_fn_at(call->args[i]->span, err,
                            TG_ERR(err, DATATYPE_MISMATCH_BINARY_OP_WRONG_TYPE,
                                   "`%s` takes conditions, found %s", call->function->name,
                                   tg_type_ddl(ctx->arena, call->args[i]->type).ptr));
        }
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_BOOLEAN), err));
    }
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

typedef TG_VEC(const tg_bexpr *) term_list;

/*
 * The terms of a chain of the same operator, left to right. The depth of chains is bounded by the
 * binder.
 */
static void flatten_chain(tg_arena *arena, const tg_bexpr *expr, const tg_function *function,
                          term_list *out)
{
    if (expr->kind != TG_B_CALL || expr->function != function) {
        TG_VEC_PUSH(arena, out, expr);
        return;
    }
    flatten_chain(arena, expr->args[0], function, out);
    flatten_chain(arena, expr->args[1], function, out);
}

enum { FLAT_TERMS_MAX = 64 };

/*
 * DuckDB's parser builds a chain of n terms by n copies of what it has so far. Halves in
 * parentheses mean the same and cost it n log n.
 */
static tg_code print_terms(tg_print_context *ctx, const tg_bexpr *const *terms, size_t count,
                           const char *between, tg_error *err)
{
    tg_buf_addc(ctx->out, '(');
    if (count > FLAT_TERMS_MAX) {
        size_t half = count / 2;
        TG_TRY(print_terms(ctx, terms, half, between, err));
        tg_buf_addz(ctx->out, between);
        TG_TRY(print_terms(ctx, terms + half, count - half, between, err));
    }
    for (size_t i = 0; i < count && count <= FLAT_TERMS_MAX; i++) {
        tg_buf_addz(ctx->out, i ? between : "");
        TG_TRY(tg_print_expr(ctx, terms[i], err));
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

enum { GUARDS_MAX = 5 }; /* each guard inside another doubles the text */

/*
 * The same guard where a term is random: none is printed twice. A term that may be NULL cannot be
 * asked that way: it is tied to the rest by the operator, so that the rest may raise where Spark
 * would not ask it.
 */
static tg_code print_terms_once(tg_print_context *ctx, const tg_bexpr *const *terms, size_t count,
                                bool is_and, tg_error *err)
{
    size_t closed = 0;
    tg_buf_addc(ctx->out, '(');
    for (size_t i = 0; i + 1 < count; i++) {
        if (terms[i]->nullable) {
            TG_TRY(tg_print_expr(ctx, terms[i], err));
            tg_buf_addz(ctx->out, is_and ? " AND (" : " OR (");
        } else {
            tg_buf_addz(ctx->out, "CASE WHEN ");
            TG_TRY(tg_print_expr(ctx, terms[i], err));
            tg_buf_addz(ctx->out, is_and ? " THEN (" : " THEN TRUE ELSE (");
        }
        closed++;
    }
    TG_TRY(tg_print_expr(ctx, terms[count - 1], err));
    while (closed-- > 0) {
        bool is_case = !terms[closed]->nullable;
        tg_buf_addz(ctx->out, !is_case ? ")" : is_and ? ") ELSE FALSE END" : ") END");
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

/*
 * As a value DuckDB evaluates all terms, Spark only what it needs: x <> 0 AND 1 / x > 2. Where a
 * later term may raise, those before it are asked first: CASE WHEN NOT a THEN FALSE ELSE a AND b
 * END.
 */
TG_FN_PRINTER(logic)
{
    bool is_and = call->function->name[0] == 'a';
    const char *between = is_and ? " AND " : " OR ";
    term_list terms = {0};
    flatten_chain(ctx->arena, call, call->function, &terms);
    bool may_raise = false;
    for (size_t i = 1; i < terms.count && !may_raise; i++) {
        may_raise = tg_fn_may_raise(terms.items[i]);
    }
    if (!may_raise || ctx->guard_depth >= GUARDS_MAX) {
        return print_terms(ctx, terms.items, terms.count, between, err);
    }
    if (tg_sql_bexpr_is_random(call)) {
        return print_terms_once(ctx, terms.items, terms.count, is_and, err);
    }
    ctx->guard_depth++;
    tg_buf_addz(ctx->out, "CASE");
    for (size_t i = 0; i + 1 < terms.count; i++) {
        tg_buf_addz(ctx->out, is_and ? " WHEN (NOT " : " WHEN (");
        TG_TRY(tg_print_expr(ctx, terms.items[i], err));
        tg_buf_addz(ctx->out, is_and ? ") THEN FALSE" : ") THEN TRUE");
    }
    tg_buf_addz(ctx->out, " ELSE ");
    TG_TRY(print_terms(ctx, terms.items, terms.count, between, err));
    tg_buf_addz(ctx->out, " END");
    ctx->guard_depth--;
    return TG_OK;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static tg_code check_condition(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_error *err)
{
    tg_type_kind kind = call->args[index]->type->kind;
    if (kind == TG_TYPE_VOID) {
        return tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_BOOLEAN), err);
    }
    return kind == TG_TYPE_BOOLEAN ? TG_OK : tg_fn_type_error(call, index, "a condition", err);
}

TG_FN_RESOLVER(case)
{
    size_t pairs = call->arg_count / 2;
    bool has_else = call->arg_count % 2 == 1;
    size_t result_count = pairs + (has_else ? 1 : 0);
    tg_bexpr **results = TG_NEW_ARRAY(ctx->arena, tg_bexpr *, result_count);
    for (size_t i = 0; i < pairs; i++) {
        TG_TRY(check_condition(ctx, call, 2 * i, err));
        results[i] = call->args[2 * i + 1];
    }
    if (has_else) {
        results[pairs] = call->args[call->arg_count - 1];
    }
    TG_TRY(
        tg_sql_unify(ctx, results, result_count, call->span, "results of CASE", &call->type, err));
    call->nullable = !has_else;
    for (size_t i = 0; i < result_count; i++) {
        call->args[i < pairs ? 2 * i + 1 : call->arg_count - 1] = results[i];
        call->nullable = call->nullable || results[i]->nullable;
    }
    return TG_OK;
}

TG_FN_PRINTER(case)
{
    size_t pairs = call->arg_count / 2;
    tg_buf_addz(ctx->out, "CASE");
    for (size_t i = 0; i < pairs; i++) {
        tg_buf_addz(ctx->out, " WHEN ");
        TG_TRY(tg_print_expr(ctx, call->args[2 * i], err));
        tg_buf_addz(ctx->out, " THEN ");
        TG_TRY(tg_print_expr(ctx, call->args[2 * i + 1], err));
    }
    if (call->arg_count % 2 == 1) {
        tg_buf_addz(ctx->out, " ELSE ");
        TG_TRY(tg_print_expr(ctx, call->args[call->arg_count - 1], err));
    }
    tg_buf_addz(ctx->out, " END");
    return TG_OK;
}

TG_FN_RESOLVER(if)
{
    TG_TRY(check_condition(ctx, call, 0, err));
    TG_TRY(tg_sql_unify(ctx, call->args + 1, 2, call->span, "results of `if`", &call->type, err));
    call->nullable = call->args[1]->nullable || call->args[2]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(nvl2)
{
    TG_TRY(tg_sql_unify(ctx, call->args + 1, 2, call->span, "results of `nvl2`", &call->type, err));
    call->nullable = call->args[1]->nullable || call->args[2]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(coalesce)
{
    TG_TRY(tg_sql_unify(ctx, call->args, call->arg_count, call->span, "arguments of `coalesce`",
                        &call->type, err));
    call->nullable = true;
    for (size_t i = 0; i < call->arg_count; i++) {
        call->nullable = call->nullable && call->args[i]->nullable;
    }
    return TG_OK;
}

/* nullif(a, b): the comparison is made in its own type, the result keeps the type of a. */
TG_FN_RESOLVER(nullif)
{
    tg_bexpr *equal;
    TG_TRY(apply_operator(ctx, "=", call->args[0], call->args[1], call->span, &equal, err));
    call->type = call->args[0]->type;
    call->nullable = true;
    call->args[1] = equal;
    return TG_OK;
}

/* decode(value, search, result, ..., [default]): NULL equals NULL. */
TG_FN_RESOLVER(decode)
{
    if (call->arg_count == 2) {
        return tg_fn_resolve_decode_charset(ctx, call, err);
    }
    size_t pairs = (call->arg_count - 1) / 2;
    bool has_default = call->arg_count % 2 == 0;
    tg_bexpr **args = TG_NEW_ARRAY(ctx->arena, tg_bexpr *, 2 * pairs + 1);
    for (size_t i = 0; i < pairs; i++) {
        TG_TRY(apply_operator(ctx, "<=>", call->args[0], call->args[1 + 2 * i], call->span,
                              &args[2 * i], err));
        args[2 * i + 1] = call->args[2 + 2 * i];
    }
    args[2 * pairs] = has_default ? call->args[call->arg_count - 1] : NULL;
    tg_bexpr *choice;
    TG_TRY(tg_function_apply(ctx, tg_function_find(TG_S("case")), args,
                             2 * pairs + (has_default ? 1 : 0), call->span, &choice, err));
    *call = *choice;
    return TG_OK;
}

/* ---- bits ------------------------------------------------------------------------------------ */

TG_FN_RESOLVER(bits)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const tg_type *other = call->args[call->arg_count - 1 - i]->type;
        if (call->args[i]->type->kind == TG_TYPE_STRING && tg_type_is_integer(other)) {
            TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_BIGINT), err));
        }
    }
    const tg_type *type = call->args[0]->type;
    for (size_t i = 0; i < call->arg_count; i++) {
        const tg_type *arg = call->args[i]->type;
        bool fits = tg_type_is_integer(arg) || arg->kind == TG_TYPE_VOID;
        type = fits ? tg_sql_common_type(ctx->arena, type, arg) : NULL;
        if (!type) {
            return tg_fn_at(call->span, err,
                            TG_ERR(err, DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES,
                                   "`%s` takes integers, found %s", call->function->name,
                                   tg_type_ddl(ctx->arena, arg).ptr));
        }
    }
    type = type->kind == TG_TYPE_VOID ? tg_type_of(TG_TYPE_INT) : type;
    for (size_t i = 0; i < call->arg_count; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, type, err));
    }
    call->type = type;
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/* Java's shifts: the count is taken modulo the width of INT or BIGINT. */
TG_FN_RESOLVER(shift)
{
    if (call->args[0]->type->kind != TG_TYPE_BIGINT) {
        TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_INT), err));
    }
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    call->type = call->args[0]->type;
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

TG_FN_PRINTER(shift)
{
    const char *name = call->function->name;
    bool is_left = strcmp(name, "<<") == 0 || strcmp(name, "shiftleft") == 0;
    bool is_unsigned = strcmp(name, ">>>") == 0 || strcmp(name, "shiftrightunsigned") == 0;
    return tg_print_format(ctx, call, err, "CAST(tg_shift_%s(CAST($1 AS BIGINT), $2, %d) AS $T)",
                           is_left       ? "left"
                           : is_unsigned ? "right_unsigned"
                                         : "right",
                           tg_sql_integer_bits(call->type));
}
