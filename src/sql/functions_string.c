/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: what depends on the kinds of arguments (text, binary, array), and LIKE.
 *
 * Characters are code points in Spark, as in our C functions; DuckDB's reverse, left and right work
 * on grapheme clusters or read negative lengths otherwise. Binary forms that DuckDB lacks are
 * refused.
 */
#include "sql/functions_int.h"

static tg_code refuse_binary(const tg_bexpr *call, tg_error *err)
{
    return tg_fn_unsupported(call, err, "for BINARY yet");
}

/* Argument 0 is text or binary; binary is refused when text_only. */
static tg_code coerce_bytes(tg_fn_context *ctx, tg_bexpr *call, size_t index, bool text_only,
                            tg_error *err)
{
    if (call->args[index]->type->kind == TG_TYPE_BINARY) {
        return text_only ? refuse_binary(call, err) : TG_OK;
    }
    return tg_fn_coerce(ctx, call, index, tg_type_of(TG_TYPE_STRING), err);
}

TG_FN_RESOLVER(bytes_int)
{
    TG_TRY(coerce_bytes(ctx, call, 0, false, err));
    call->type = tg_type_of(TG_TYPE_INT);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_PRINTER(length)
{
    bool is_binary = call->args[0]->type->kind == TG_TYPE_BINARY;
    return tg_print_template(
        ctx, is_binary ? "CAST(octet_length($1) AS INTEGER)" : "CAST(length($1) AS INTEGER)", call,
        err);
}

TG_FN_PRINTER(octet_length)
{
    const char *name = call->args[0]->type->kind == TG_TYPE_BINARY ? "octet_length" : "strlen";
    int factor = call->function->name[0] == 'b' ? 8 : 1;
    return tg_print_format(ctx, call, err, "CAST(%s($1) * %d AS INTEGER)", name, factor);
}

static tg_code resolve_text(tg_fn_context *ctx, tg_bexpr *call, size_t text_count, tg_error *err)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        if (i < text_count) {
            TG_TRY(coerce_bytes(ctx, call, i, true, err));
        } else {
            TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_INT), err));
        }
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/* text, position, length */
TG_FN_RESOLVER(text_part)
{
    return resolve_text(ctx, call, 1, err);
}

TG_FN_PRINTER(substring)
{
    int64_t position, length = 0;
    bool is_plain =
        tg_fn_literal_int(call->args[1], &position) && position > 0 &&
        (call->arg_count < 3 || (tg_fn_literal_int(call->args[2], &length) && length >= 0));
    return tg_print_template(ctx, is_plain ? "substr($*)" : "tg_substring($*)", call, err);
}

TG_FN_RESOLVER(overlay)
{
    return resolve_text(ctx, call, 2, err);
}

/* text, length, filling */
TG_FN_RESOLVER(pad)
{
    TG_TRY(coerce_bytes(ctx, call, 0, true, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    if (call->arg_count > 2) {
        TG_TRY(coerce_bytes(ctx, call, 2, true, err));
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = tg_fn_any_nullable(call);
    return TG_OK;
}

/*
 * btrim(text, characters), but trim(characters, text) and so on: Spark's order of arguments for
 * FROM.
 */
TG_FN_RESOLVER(trim)
{
    return resolve_text(ctx, call, 2, err);
}

TG_FN_PRINTER(trim)
{
    const char *name = call->function->name;
    const char *function = name[0] == 'l' ? "ltrim" : name[0] == 'r' ? "rtrim" : "trim";
    if (call->arg_count == 1) {
        return tg_print_format(ctx, call, err, "%s($1, ' ')", function);
    }
    return tg_print_format(ctx, call, err, name[0] == 'b' ? "%s($1, $2)" : "%s($2, $1)", function);
}

TG_FN_PRINTER(locate)
{
    if (call->arg_count == 2) {
        return tg_print_template(ctx, "CAST(instr($2, $1) AS INTEGER)", call, err);
    }
    return tg_print_template(ctx, "tg_locate($1, $2, coalesce($3, 0))", call, err);
}

TG_FN_PRINTER(replace)
{
    return tg_print_template(
        ctx, call->arg_count == 2 ? "replace($1, $2, '')" : "replace($1, $2, $3)", call, err);
}

TG_FN_RESOLVER(reverse)
{
    if (call->args[0]->type->kind == TG_TYPE_ARRAY) {
        call->type = call->args[0]->type;
        call->nullable = call->args[0]->nullable;
        return TG_OK;
    }
    return resolve_text(ctx, call, 1, err);
}

TG_FN_PRINTER(reverse)
{
    return tg_print_template(
        ctx, call->type->kind == TG_TYPE_ARRAY ? "list_reverse($1)" : "tg_reverse($1)", call, err);
}

TG_FN_RESOLVER(two_texts)
{
    TG_TRY(resolve_text(ctx, call, 2, err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    return TG_OK;
}

/* ---- joining --------------------------------------------------------------------------------- */

TG_FN_RESOLVER(concat)
{
    bool all_binary = call->arg_count > 0, any_array = false;
    for (size_t i = 0; i < call->arg_count; i++) {
        all_binary = all_binary && call->args[i]->type->kind == TG_TYPE_BINARY;
        any_array = any_array || call->args[i]->type->kind == TG_TYPE_ARRAY;
    }
    call->nullable = tg_fn_any_nullable(call);
    if (any_array) {
        for (size_t i = 0; i < call->arg_count; i++) {
            if (call->args[i]->type->kind != TG_TYPE_ARRAY) {
                return tg_fn_at(call->args[i]->span, err,
                                TG_ERR(err, DATATYPE_MISMATCH_DATA_DIFF_TYPES,
                                       "arguments of `%s` must all be arrays, found %s",
                                       call->function->name,
                                       tg_type_ddl(ctx->arena, call->args[i]->type).ptr));
            }
        }
        return tg_sql_unify(ctx, call->args, call->arg_count, call->span, "arguments of `concat`",
                            &call->type, err);
    }
    call->type = tg_type_of(all_binary ? TG_TYPE_BINARY : TG_TYPE_STRING);
    for (size_t i = 0; i < call->arg_count; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, call->type, err));
    }
    return TG_OK;
}

static tg_code print_array_concat(tg_print_context *ctx, const tg_bexpr *call, tg_error *err)
{
    /* list_concat skips NULL arrays. */
    bool is_nullable = call->nullable;
    for (size_t i = 0; is_nullable && i < call->arg_count; i++) {
        tg_buf_addz(ctx->out, i ? " AND " : "CASE WHEN ");
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
        tg_buf_addz(ctx->out, " IS NOT NULL");
    }
    tg_buf_addz(ctx->out, is_nullable ? " THEN " : "");
    TG_TRY(tg_print_template(ctx, "list_concat($*)", call, err));
    tg_buf_addz(ctx->out, is_nullable ? " END" : "");
    return TG_OK;
}

TG_FN_PRINTER(concat)
{
    if (call->arg_count == 0) {
        tg_buf_addz(ctx->out, "''");
        return TG_OK;
    }
    if (call->type->kind == TG_TYPE_ARRAY && call->arg_count > 1) {
        return print_array_concat(ctx, call, err);
    }
    /* The cast keeps the type when DuckDB folds the whole to NULL. */
    tg_buf_addz(ctx->out, call->nullable ? "CAST((" : "(");
    for (size_t i = 0; i < call->arg_count; i++) {
        tg_buf_addz(ctx->out, i ? " || " : "");
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
    }
    return tg_print_template(ctx, call->nullable ? ") AS $T)" : ")", call, err);
}

TG_FN_RESOLVER(concat_ws)
{
    const tg_type *text = tg_type_of(TG_TYPE_STRING);
    for (size_t i = 0; i < call->arg_count; i++) {
        bool is_array = i > 0 && call->args[i]->type->kind == TG_TYPE_ARRAY;
        TG_TRY(tg_fn_coerce(ctx, call, i, is_array ? tg_type_array(ctx->arena, text, true) : text,
                            err));
    }
    call->type = text;
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_PRINTER(concat_ws)
{
    bool any_array = false;
    for (size_t i = 1; i < call->arg_count; i++) {
        any_array = any_array || call->args[i]->type->kind == TG_TYPE_ARRAY;
    }
    if (!any_array) {
        return tg_print_template(
            ctx, call->arg_count == 1 ? "CASE WHEN $1 IS NOT NULL THEN '' END" : "concat_ws($*)",
            call, err);
    }
    tg_buf_addz(ctx->out, "array_to_string(list_concat(CAST([] AS VARCHAR[])");
    for (size_t i = 1; i < call->arg_count; i++) {
        bool is_array = call->args[i]->type->kind == TG_TYPE_ARRAY;
        tg_buf_addz(ctx->out, is_array ? ", " : ", [");
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
        tg_buf_addz(ctx->out, is_array ? "" : "]");
    }
    return tg_print_template(ctx, "), $1)", call, err);
}

TG_FN_RESOLVER(elt)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_INT), err));
    for (size_t i = 1; i < call->arg_count; i++) {
        TG_TRY(coerce_bytes(ctx, call, i, true, err));
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = true;
    return TG_OK;
}

TG_FN_PRINTER(elt)
{
    TG_TRY(tg_print_template(ctx, "CASE WHEN $1 IS NULL THEN NULL", call, err));
    for (size_t i = 1; i < call->arg_count; i++) {
        TG_TRY(tg_print_format(ctx, call, err, " WHEN $1 = %zu THEN ", i));
        TG_TRY(tg_print_expr(ctx, call->args[i], err));
    }
    return tg_print_format(ctx, call, err, " WHEN tg_bad_index($1, %zu) THEN NULL END",
                           call->arg_count - 1);
}

TG_FN_RESOLVER(format_number)
{
    if (!tg_type_is_numeric(call->args[0]->type) && call->args[0]->type->kind != TG_TYPE_VOID) {
        return tg_fn_type_error(call, 0, "a number", err);
    }
    if (call->args[1]->type->kind == TG_TYPE_STRING) {
        return tg_fn_unsupported(call, err, "with a pattern yet");
    }
    TG_TRY(tg_fn_coerce_numeric(ctx, call, 0, err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = true;
    return TG_OK;
}

TG_FN_PRINTER(format_number)
{
    tg_type_kind kind = call->args[0]->type->kind;
    bool is_floating = kind == TG_TYPE_FLOAT || kind == TG_TYPE_DOUBLE;
    return tg_print_template(ctx,
                             is_floating ? "tg_format_double(CAST($1 AS DOUBLE), $2)"
                                         : "tg_format_decimal(CAST($1 AS VARCHAR), $2)",
                             call, err);
}

/* ---- character sets and hashes --------------------------------------------------------------- */

static tg_code require_utf8(const tg_bexpr *call, tg_error *err)
{
    tg_str charset;
    bool is_utf8 = tg_fn_literal_string(call->args[1], &charset) &&
                   (tg_str_ieq(charset, TG_S("utf-8")) || tg_str_ieq(charset, TG_S("utf8")));
    return is_utf8 ? TG_OK
                   : tg_fn_unsupported(call, err, "for character sets other than 'UTF-8' yet");
}

TG_FN_RESOLVER(encode_charset)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(require_utf8(call, err));
    call->type = tg_type_of(TG_TYPE_BINARY);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

tg_code tg_fn_resolve_decode_charset(tg_fn_context *ctx, tg_bexpr *call, tg_error *err)
{
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BINARY), err));
    TG_TRY(require_utf8(call, err));
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

TG_FN_RESOLVER(sha2)
{
    int64_t bits;
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_BINARY), err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_INT), err));
    if (!tg_fn_literal_int(call->args[1], &bits) || (bits != 256 && bits != 0)) {
        return tg_fn_unsupported(call, err, "for lengths other than 256 yet");
    }
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = call->args[0]->nullable;
    return TG_OK;
}

static bool holds_map(const tg_type *type)
{
    if (type->kind == TG_TYPE_STRUCT) {
        for (size_t i = 0; i < type->field_count; i++) {
            if (holds_map(type->fields[i].type)) {
                return true;
            }
        }
    }
    return type->kind == TG_TYPE_MAP || (type->kind == TG_TYPE_ARRAY && holds_map(type->element));
}

static tg_code resolve_hash(tg_fn_context *ctx, tg_bexpr *call, tg_type_kind result, tg_error *err)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const tg_type *type = call->args[i]->type;
        if (holds_map(type)) {
            return tg_fn_at(call->args[i]->span, err,
                            TG_ERR(err, DATATYPE_MISMATCH_HASH_MAP_TYPE, "`%s` does not take maps",
                                   call->function->name));
        }
        if (type->kind == TG_TYPE_VARIANT) {
            return tg_fn_type_error(call, i, "not a VARIANT", err);
        }
    }
    (void)ctx;
    call->type = tg_type_of(result);
    call->nullable = false;
    return TG_OK;
}

TG_FN_RESOLVER(hash)
{
    return resolve_hash(ctx, call, TG_TYPE_INT, err);
}

TG_FN_RESOLVER(hash64)
{
    return resolve_hash(ctx, call, TG_TYPE_BIGINT, err);
}
