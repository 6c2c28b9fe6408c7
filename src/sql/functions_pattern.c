/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE, split and regular expressions.
 *
 * Patterns must be constants for regular expressions, because they are translated from Java's
 * syntax before the query runs.
 */
#include "sql/functions_int.h"
#include "sql/regex.h"

/* ---- LIKE ------------------------------------------------------------------------------------ */

static tg_code check_like_pattern(const tg_bexpr *call, tg_str pattern, char escape, tg_error *err)
{
    tg_span span = call->args[1]->span;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] != escape) {
            continue;
        }
        i++;
        if (i == pattern.len) {
            return tg_fn_at(span, err,
                            TG_ERR(err, INVALID_FORMAT_ESC_AT_THE_END,
                                   "the pattern ends with its escape character '%c'", escape));
        }
        if (pattern.ptr[i] != '%' && pattern.ptr[i] != '_' && pattern.ptr[i] != escape) {
            return tg_fn_at(span, err,
                            TG_ERR(err, INVALID_FORMAT_ESC_IN_THE_MIDDLE,
                                   "the pattern escapes '%c', which needs no escape",
                                   pattern.ptr[i]));
        }
    }
    return TG_OK;
}

TG_FN_RESOLVER(like)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        TG_TRY(tg_fn_coerce(ctx, call, i, tg_type_of(TG_TYPE_STRING), err));
    }
    tg_str escape = TG_S("\\"), pattern;
    if (call->arg_count == 3 &&
        (!tg_fn_literal_string(call->args[2], &escape) || escape.len != 1)) {
        return tg_fn_at(call->args[2]->span, err,
                        TG_ERR(err, INVALID_ESC, "the escape of LIKE must be one character"));
    }
    if (tg_fn_literal_string(call->args[1], &pattern)) {
        TG_TRY(check_like_pattern(call, pattern, escape.ptr[0], err));
    }
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    return TG_OK;
}

TG_FN_PRINTER(like)
{
    tg_str escape = TG_S("\\"), pattern;
    if (call->arg_count == 3) {
        (void)tg_fn_literal_string(call->args[2], &escape);
    }
    bool ignores_case = call->function->name[0] == 'i';
    bool is_literal = tg_fn_literal_string(call->args[1], &pattern);
    const char *mark = escape.ptr[0] == '\'' ? "''" : tg_arena_strndup(ctx->arena, escape.ptr, 1);
    if (!is_literal || (ignores_case && (escape.ptr[0] >= 'A' && escape.ptr[0] <= 'z'))) {
        TG_TRY(tg_print_template(
            ctx, ignores_case ? "tg_like(tg_lower($1), tg_lower($2), '" : "tg_like($1, $2, '", call,
            err));
        tg_buf_addf(ctx->out, "%s')", mark);
        return TG_OK;
    }
    /* Without an escape in it DuckDB turns prefixes into ranges, which skip row groups. */
    bool has_escape = pattern.len && memchr(pattern.ptr, escape.ptr[0], pattern.len);
    TG_TRY(tg_print_template(ctx, ignores_case ? "(tg_lower($1) LIKE tg_lower($2)" : "($1 LIKE $2",
                             call, err));
    if (has_escape) {
        tg_buf_addf(ctx->out, " ESCAPE '%s'", mark);
    }
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

/* ---- regular expressions --------------------------------------------------------------------- */

static tg_code refuse_regex(const tg_bexpr *call, const char *why, tg_error *err)
{
    return tg_fn_at(call->args[1]->span, err,
                    TG_ERR(err, UNSUPPORTED_FEATURE,
                           "`%s` cannot run this regular expression here: %s", call->function->name,
                           why));
}

/*
 * Text and pattern; the translated pattern goes to call->extra. A NULL pattern leaves extra NULL.
 */
static tg_code resolve_regex(tg_fn_context *ctx, tg_bexpr *call, bool test_only,
                             const tg_regex **out_regex, tg_error *err)
{
    tg_str pattern;
    tg_value value;
    *out_regex = NULL;
    TG_TRY(tg_fn_coerce(ctx, call, 0, tg_type_of(TG_TYPE_STRING), err));
    TG_TRY(tg_fn_coerce(ctx, call, 1, tg_type_of(TG_TYPE_STRING), err));
    call->nullable = call->args[0]->nullable || call->args[1]->nullable;
    if (tg_fn_literal(call->args[1], &value) && value.is_null) {
        return TG_OK;
    }
    if (!tg_fn_literal_string(call->args[1], &pattern)) {
        return refuse_regex(call, "the pattern is not a constant", err);
    }
    tg_regex *regex = TG_NEW(ctx->arena, tg_regex);
    *regex = tg_regex_translate(pattern, test_only, ctx->arena);
    if (regex->refusal) {
        return refuse_regex(call, regex->refusal, err);
    }
    *out_regex = regex;
    call->extra = regex;
    return TG_OK;
}

static tg_code refuse_empty_match(const tg_bexpr *call, const tg_regex *regex, tg_error *err)
{
    return regex && regex->matches_empty ? refuse_regex(call, "it matches the empty text", err)
                                         : TG_OK;
}

static void add_pattern(tg_print_context *ctx, const tg_regex *regex)
{
    tg_print_duckdb_string(regex->text, ctx->out);
}

TG_FN_RESOLVER(regexp_match)
{
    const tg_regex *regex;
    TG_TRY(resolve_regex(ctx, call, true, &regex, err));
    call->type = tg_type_of(TG_TYPE_BOOLEAN);
    return TG_OK;
}

TG_FN_PRINTER(regexp_match)
{
    if (!call->extra) {
        return tg_print_null(ctx, call, err);
    }
    TG_TRY(tg_print_template(ctx, "regexp_matches($1, ", call, err));
    add_pattern(ctx, call->extra);
    tg_buf_addc(ctx->out, ')');
    return TG_OK;
}

TG_FN_RESOLVER(regexp_extract)
{
    const tg_regex *regex;
    int64_t group = 1;
    bool is_all = strlen(call->function->name) > strlen("regexp_extract");
    TG_TRY(resolve_regex(ctx, call, false, &regex, err));
    if (is_all) {
        TG_TRY(refuse_empty_match(call, regex, err));
    }
    if (call->arg_count == 3) {
        TG_TRY(tg_fn_coerce(ctx, call, 2, tg_type_of(TG_TYPE_INT), err));
        if (!tg_fn_literal_int(call->args[2], &group)) {
            return refuse_regex(call, "the group is not a constant", err);
        }
    }
    if (regex && (group < 0 || group > (int64_t)regex->group_count)) {
        return tg_fn_at(call->span, err,
                        TG_ERR(err, INVALID_PARAMETER_VALUE_REGEX_GROUP_INDEX,
                               "the regular expression has %zu groups, there is no group %lld",
                               regex->group_count, (long long)group));
    }
    const tg_type *text = tg_type_of(TG_TYPE_STRING);
    call->type = is_all ? tg_type_array(ctx->arena, text, false) : text;
    return TG_OK;
}

TG_FN_PRINTER(regexp_extract)
{
    int64_t group = 1;
    if (!call->extra) {
        return tg_print_null(ctx, call, err);
    }
    if (call->arg_count == 3) {
        (void)tg_fn_literal_int(call->args[2], &group);
    }
    TG_TRY(tg_print_format(ctx, call, err, "%s($1, ", call->function->name));
    add_pattern(ctx, call->extra);
    tg_buf_addf(ctx->out, ", %lld)", (long long)group);
    return TG_OK;
}

TG_FN_RESOLVER(regexp_count)
{
    const tg_regex *regex;
    TG_TRY(resolve_regex(ctx, call, false, &regex, err));
    TG_TRY(refuse_empty_match(call, regex, err));
    bool is_count = strcmp(call->function->name, "regexp_count") == 0;
    call->type = tg_type_of(is_count ? TG_TYPE_INT : TG_TYPE_STRING);
    call->nullable = call->nullable || !is_count;
    return TG_OK;
}

TG_FN_PRINTER(regexp_count)
{
    if (!call->extra) {
        return tg_print_null(ctx, call, err);
    }
    bool is_count = call->type->kind == TG_TYPE_INT;
    TG_TRY(tg_print_template(
        ctx, is_count ? "CAST(len(regexp_extract_all($1, " : "nullif(regexp_extract($1, ", call,
        err));
    add_pattern(ctx, call->extra);
    tg_buf_addz(ctx->out, is_count ? ")) AS INTEGER)" : "), '')");
    return TG_OK;
}

/* The pattern and the replacement, translated. */
typedef struct replace_plan {
    const tg_regex *regex;
    tg_str replacement;
} replace_plan;

TG_FN_RESOLVER(regexp_replace)
{
    const tg_regex *regex;
    tg_str replacement;
    tg_value value;
    if (call->arg_count == 4) {
        return tg_fn_unsupported(call, err, "with a start position yet");
    }
    TG_TRY(resolve_regex(ctx, call, false, &regex, err));
    TG_TRY(refuse_empty_match(call, regex, err));
    TG_TRY(tg_fn_coerce(ctx, call, 2, tg_type_of(TG_TYPE_STRING), err));
    call->type = tg_type_of(TG_TYPE_STRING);
    call->nullable = tg_fn_any_nullable(call);
    call->extra = NULL;
    if (!regex || (tg_fn_literal(call->args[2], &value) && value.is_null)) {
        return TG_OK;
    }
    if (!tg_fn_literal_string(call->args[2], &replacement)) {
        return refuse_regex(call, "the replacement is not a constant", err);
    }
    replace_plan *plan = TG_NEW(ctx->arena, replace_plan);
    const char *refusal;
    if (!tg_regex_translate_replacement(replacement, regex->group_count, ctx->arena,
                                        &plan->replacement, &refusal)) {
        return refuse_regex(call, refusal, err);
    }
    plan->regex = regex;
    call->extra = plan;
    return TG_OK;
}

TG_FN_PRINTER(regexp_replace)
{
    const replace_plan *plan = call->extra;
    if (!plan) {
        return tg_print_null(ctx, call, err);
    }
    TG_TRY(tg_print_template(ctx, "regexp_replace($1, ", call, err));
    add_pattern(ctx, plan->regex);
    tg_buf_addz(ctx->out, ", ");
    tg_print_duckdb_string(plan->replacement, ctx->out);
    tg_buf_addz(ctx->out, ", 'g')");
    return TG_OK;
}

/* ---- split ----------------------------------------------------------------------------------- */

TG_FN_RESOLVER(split)
{
    const tg_regex *regex;
    tg_str pattern;
    int64_t limit = -1;
    TG_TRY(resolve_regex(ctx, call, false, &regex, err));
    if (call->arg_count == 3) {
        TG_TRY(tg_fn_coerce(ctx, call, 2, tg_type_of(TG_TYPE_INT), err));
        if (!tg_fn_literal_int(call->args[2], &limit)) {
            return refuse_regex(call, "the limit is not a constant", err);
        }
    }
    call->type = tg_type_array(ctx->arena, tg_type_of(TG_TYPE_STRING), false);
    bool is_empty = tg_fn_literal_string(call->args[1], &pattern) && pattern.len == 0;
    if (is_empty && limit > 0) {
        return refuse_regex(call, "an empty pattern with a limit", err);
    }
    if (!is_empty) {
        TG_TRY(refuse_empty_match(call, regex, err));
    }
    if (regex && limit > 0 && !regex->is_plain) {
        return refuse_regex(call, "a limit with a pattern that is not a plain text", err);
    }
    return TG_OK;
}

TG_FN_PRINTER(split)
{
    const tg_regex *regex = call->extra;
    int64_t limit = -1;
    if (!regex) {
        return tg_print_null(ctx, call, err);
    }
    if (call->arg_count == 3) {
        (void)tg_fn_literal_int(call->args[2], &limit);
    }
    tg_auto_buf tg_buf separator = TG_BUF_INIT;
    tg_print_duckdb_string(regex->is_plain ? regex->plain : regex->text, &separator);
    /* The separator holds no $ that a template would read: it is printed on its own. */
    if (limit <= 0) {
        TG_TRY(tg_print_template(
            ctx, regex->is_plain ? "string_split($1, " : "string_split_regex($1, ", call, err));
        tg_buf_adds(ctx->out, tg_buf_str(&separator));
        tg_buf_addc(ctx->out, ')');
        return TG_OK;
    }
    /* The rest behind the last part that is split off stays whole. */
    tg_buf_addz(ctx->out, "list_transform([string_split(");
    TG_TRY(tg_print_expr(ctx, call->args[0], err));
    tg_buf_addz(ctx->out, ", ");
    tg_buf_adds(ctx->out, tg_buf_str(&separator));
    tg_buf_addf(ctx->out,
                ")], lambda tg_l: CASE WHEN len(tg_l) > %lld THEN list_append(tg_l[1:%lld], "
                "array_to_string(tg_l[%lld:], ",
                (long long)limit, (long long)(limit - 1), (long long)limit);
    tg_buf_adds(ctx->out, tg_buf_str(&separator));
    tg_buf_addz(ctx->out, ")) ELSE tg_l END)[1]");
    return TG_OK;
}
