/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that take a lambda. The binder asks for the types of a lambda's parameters before it
 * binds its body.
 */
#include "sql/functions_int.h"

static bool is_named(const tg_function *function, const char *name)
{
    return strcmp(function->name, name) == 0;
}

static bool is_fold(const tg_function *function)
{
    return is_named(function, "aggregate") || is_named(function, "reduce");
}

/* ---- types of parameters --------------------------------------------------------------------- */

static tg_code wrong_lambda(const tg_function *function, size_t count, tg_span span, tg_error *err)
{
    return tg_fn_at(span, err,
                    TG_ERR(err, INVALID_LAMBDA_FUNCTION_CALL,
                           "`%s` does not take a lambda of %zu parameters there", function->name,
                           count));
}

tg_code tg_function_lambda_types(tg_fn_context *ctx, const tg_function *function,
                                 tg_bexpr *const *args, size_t index, size_t param_count,
                                 tg_span span, const tg_type **out_types, tg_error *err)
{
    const tg_type *first = args[0] ? args[0]->type : NULL;
    if (is_named(function, "array_sort")) {
        return tg_fn_at(
            span, err,
            TG_ERR(err, UNSUPPORTED_FEATURE, "`array_sort` is not available with a lambda yet"));
    }
    bool takes_array = is_named(function, "transform") || is_named(function, "filter") ||
                       is_named(function, "exists") || is_named(function, "forall");
    bool takes_map = is_named(function, "map_filter") || is_named(function, "transform_values");
    size_t wanted = 0;
    const tg_type *types[2] = {NULL, NULL};
    if (takes_array && index == 1 && first && first->kind == TG_TYPE_ARRAY) {
        types[0] = first->element;
        types[1] = tg_type_of(TG_TYPE_INT);
        bool takes_index = is_named(function, "transform") || is_named(function, "filter");
        wanted = takes_index && param_count == 2 ? 2 : 1;
    } else if (takes_map && index == 1 && first && first->kind == TG_TYPE_MAP) {
        types[0] = first->key;
        types[1] = first->element;
        wanted = 2;
    } else if (is_fold(function) && index >= 2 && first && first->kind == TG_TYPE_ARRAY &&
               args[1]) {
        types[0] = args[1]->type;
        types[1] = first->element;
        wanted = index == 2 ? 2 : 1;
    } else if ((takes_array || takes_map || is_fold(function)) && first && index > 0 &&
               first->kind != TG_TYPE_ARRAY && first->kind != TG_TYPE_MAP) {
        return tg_fn_at(args[0]->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH_UNEXPECTED_INPUT_TYPE,
                               "argument 1 of `%s` must be %s, found %s", function->name,
                               takes_map ? "a map" : "an array",
                               tg_type_ddl(ctx->arena, first).ptr));
    }
    if (wanted == 0 || wanted != param_count) {
        return wrong_lambda(function, param_count, span, err);
    }
    for (size_t i = 0; i < wanted; i++) {
        out_types[i] = types[i];
    }
    return TG_OK;
}

/* ---- resolving ------------------------------------------------------------------------------- */

static tg_code check_lambda(tg_bexpr *call, size_t index, tg_error *err)
{
    bool fits = call->args[index]->kind == TG_B_LAMBDA;
    return fits ? TG_OK : tg_fn_type_error(call, index, "a lambda (x -> ...)", err);
}

static tg_code check_predicate(tg_fn_context *ctx, tg_bexpr *call, size_t index, tg_error *err)
{
    TG_TRY(check_lambda(call, index, err));
    tg_bexpr *lambda = call->args[index];
    const tg_type *boolean = tg_type_of(TG_TYPE_BOOLEAN);
    if (lambda->args[0]->type->kind == TG_TYPE_VOID) {
        TG_TRY(tg_sql_cast(ctx, lambda->args[0], boolean, TG_CAST_IMPLICIT, lambda->span,
                           &lambda->args[0], err));
    }
    if (lambda->args[0]->type->kind != TG_TYPE_BOOLEAN) {
        return tg_fn_type_error(call, index, "a lambda that gives a condition", err);
    }
    return TG_OK;
}

TG_FN_RESOLVER(transform)
{
    TG_TRY(check_lambda(call, 1, err));
    const tg_bexpr *body = call->args[1]->args[0];
    call->type = tg_type_array(ctx->arena, body->type, body->nullable);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(filter)
{
    TG_TRY(check_predicate(ctx, call, 1, err));
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(exists)
{
    TG_TRY(check_predicate(ctx, call, 1, err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = true;
    return TG_OK;
}

TG_FN_RESOLVER(map_filter)
{
    TG_TRY(check_predicate(ctx, call, 1, err));
    call->type = call->args[0]->type;
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(transform_values)
{
    TG_TRY(check_lambda(call, 1, err));
    const tg_bexpr *body = call->args[1]->args[0];
    call->type = tg_type_map(ctx->arena, call->args[0]->type->key, body->type, body->nullable);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(aggregate)
{
    TG_TRY(check_lambda(call, 2, err));
    const tg_type *state = call->args[1]->type, *element = call->args[0]->type->element;
    tg_bexpr *merge = call->args[2];
    if (!tg_type_equal(merge->args[0]->type, state)) {
        return tg_fn_type_error(call, 2, "a lambda that gives the type of the start value", err);
    }
    /* DuckDB folds in one type: the elements must fit it without a change of value. */
    bool widens =
        tg_type_is_integer(state) && tg_type_is_integer(element) && element->kind < state->kind;
    if (!tg_type_equal(state, element) && !widens && element->kind != TG_TYPE_VOID) {
        return tg_fn_unsupported(call, err,
                                 "when the start value and the elements have different types");
    }
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_array(ctx->arena, state, true), err));
    call->type = state;
    if (call->arg_count == 4) {
        TG_TRY(check_lambda(call, 3, err));
        call->type = call->args[3]->args[0]->type;
    }
    call->nullable = true;
    return TG_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* The lambda at index; its second parameter counts from 0. */
static tg_code print_with_index(tg_print_context *ctx, const tg_bexpr *lambda, tg_error *err)
{
    tg_print_lambda index = {.id = lambda->param_count == 2 ? lambda->params[1] : 0,
                             .next = ctx->index_vars};
    if (lambda->param_count == 2) {
        ctx->index_vars = &index;
    }
    tg_code code = tg_print_expr(ctx, lambda, err);
    ctx->index_vars = index.next;
    return code;
}

static tg_code print_indexed(tg_print_context *ctx, const tg_bexpr *call, const char *function,
                             tg_error *err)
{
    TG_TRY(tg_print_format(ctx, call, err, "%s($1, ", function));
    TG_TRY(print_with_index(ctx, call->args[1], err));
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

TG_FN_PRINTER(transform)
{
    return print_indexed(ctx, call, "list_transform", err);
}

TG_FN_PRINTER(filter)
{
    return print_indexed(ctx, call, "list_filter", err);
}

/*
 * Three values in one fold: 2 holds, 1 unknown, 0 does not; exists takes the greatest, forall the
 * least.
 */
TG_FN_PRINTER(exists)
{
    bool is_exists = strcmp(call->function->name, "exists") == 0;
    const tg_bexpr *lambda = call->args[1];
    TG_TRY(tg_print_format(ctx, call, err,
                           "CASE WHEN $1 IS NOT NULL THEN CASE "
                           "list_%s(list_append(list_transform($1, lambda v%u: CASE ",
                           is_exists ? "max" : "min", lambda->params[0]));
    TG_TRY(tg_print_expr(ctx, lambda->args[0], err));
    tg_buf_addf(ctx->out,
                " WHEN TRUE THEN 2 WHEN FALSE THEN 0 ELSE 1 END), %d)) WHEN 2 THEN TRUE WHEN 0 "
                "THEN FALSE END END",
                is_exists ? 0 : 2);
    return TG_OK;
}

TG_FN_PRINTER(aggregate)
{
    bool has_finish = call->arg_count == 4;
    TG_TRY(tg_print_template(ctx,
                             has_finish ? "list_transform([list_reduce($1, $3, $2)], $4)[1]"
                                        : "list_reduce($1, $3, $2)",
                             call, err));
    return TG_OK;
}

/*
 * The body of a lambda over (key, value), with the entry's fields bound by an inner lambda over one
 * value each.
 */
static tg_code print_entry_body(tg_print_context *ctx, const tg_bexpr *lambda, tg_error *err)
{
    tg_buf_addf(
        ctx->out,
        "list_transform([tg_e.\"key\"], lambda v%u: list_transform([tg_e.\"value\"], lambda v%u: ",
        lambda->params[0], lambda->params[1]);
    TG_TRY(tg_print_expr(ctx, lambda->args[0], err));
    tg_buf_addz(ctx->out, ")[1])[1]");
    return TG_OK;
}

TG_FN_PRINTER(map_filter)
{
    TG_TRY(tg_print_template(
        ctx, "map_from_entries(list_filter(map_entries($1), lambda tg_e: ", call, err));
    TG_TRY(print_entry_body(ctx, call->args[1], err));
    tg_buf_addz(ctx->out, "))");
    return TG_OK;
}

TG_FN_PRINTER(transform_values)
{
    TG_TRY(tg_print_template(ctx,
                             "map_from_entries(list_transform(map_entries($1), lambda tg_e: "
                             "struct_pack(\"key\" := tg_e.\"key\", \"value\" := ",
                             call, err));
    TG_TRY(print_entry_body(ctx, call->args[1], err));
    tg_buf_addz(ctx->out, ")))");
    return TG_OK;
}
