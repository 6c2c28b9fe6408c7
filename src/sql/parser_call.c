/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: arguments, special syntax of some functions, FILTER, WITHIN GROUP, OVER. */
#include "sql/parser_int.h"

typedef struct call_args {
    tg_expr_vec exprs;
    TG_VEC(tg_ident) names, aliases;
    bool has_name, has_alias;
} call_args;

/* ---- special syntax -------------------------------------------------------------------------- */

/* EXTRACT(field FROM source): behind the parenthesis. */
static tg_code parse_extract(tg_parser *parser, call_args *args)
{
    size_t offset = tg_parse_offset(parser);
    tg_ident field;
    tg_expr *source;
    TG_TRY(tg_parse_ident(parser, "a field such as YEAR", &field));
    TG_VEC_PUSH(parser->arena, &args->exprs,
                tg_parse_new_text(parser, tg_str_upper(parser->arena, field.text), offset));
    TG_TRY(tg_parse_expect(parser, TG_KW_FROM));
    TG_TRY(tg_parse_value_expr(parser, &source));
    TG_VEC_PUSH(parser->arena, &args->exprs, source);
    return TG_OK;
}

/* dateadd(DAY, 1, d): the unit becomes a text. */
static tg_code parse_unit(tg_parser *parser, call_args *args)
{
    size_t offset = tg_parse_offset(parser);
    tg_str unit = tg_str_upper(parser->arena, tg_parse_take_ident(parser).text);
    tg_parse_advance(parser); /* the comma */
    TG_VEC_PUSH(parser->arena, &args->exprs, tg_parse_new_text(parser, unit, offset));
    return tg_parse_expr_list(parser, &args->exprs);
}

/* Does the word stand between the parenthesis at open and its end, not in others and not first?
 * Then TRIM(.. FROM s), POSITION(a IN s) are no ordinary calls. */
static bool has_word_inside(const tg_parser *parser, size_t open, tg_keyword word)
{
    size_t after = tg_parse_after_paren(parser, open), depth = 0;
    for (size_t i = open; i + 1 < after; i++) {
        tg_token_kind kind = (tg_token_kind)parser->tokens[i].kind;
        depth += kind == TG_TOK_LEFT_PAREN;
        depth -= kind == TG_TOK_RIGHT_PAREN;
        if (depth == 1 && kind == TG_TOK_WORD && parser->tokens[i].keyword == word &&
            i > open + 1) {
            return true;
        }
    }
    return false;
}

/* TRIM([BOTH|LEADING|TRAILING] [chars] FROM s): behind the parenthesis. */
static tg_code parse_trim(tg_parser *parser, tg_str *out_function, call_args *args)
{
    bool leading = tg_parse_accept(parser, TG_KW_LEADING);
    bool trailing = !leading && tg_parse_accept(parser, TG_KW_TRAILING);
    if (!leading && !trailing) {
        (void)tg_parse_accept(parser, TG_KW_BOTH);
    }
    tg_expr *chars = NULL, *source;
    if (!tg_parse_at(parser, TG_KW_FROM)) {
        TG_TRY(tg_parse_value_expr(parser, &chars));
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_FROM));
    TG_TRY(tg_parse_value_expr(parser, &source));
    /* btrim(s, chars), but ltrim(chars, s) and rtrim(chars, s): Spark's own order of arguments. */
    *out_function = leading    ? TG_S("ltrim")
                    : trailing ? TG_S("rtrim")
                    : chars    ? TG_S("btrim")
                               : TG_S("trim");
    bool chars_first = chars && (leading || trailing);
    if (chars_first) {
        TG_VEC_PUSH(parser->arena, &args->exprs, chars);
    }
    TG_VEC_PUSH(parser->arena, &args->exprs, source);
    if (chars && !chars_first) {
        TG_VEC_PUSH(parser->arena, &args->exprs, chars);
    }
    return TG_OK;
}

/* POSITION(part IN s): behind the parenthesis. */
static tg_code parse_position(tg_parser *parser, call_args *args)
{
    tg_expr *part, *source;
    TG_TRY(tg_parse_value_expr(parser, &part));
    TG_TRY(tg_parse_expect(parser, TG_KW_IN));
    TG_TRY(tg_parse_value_expr(parser, &source));
    TG_VEC_PUSH(parser->arena, &args->exprs, part);
    TG_VEC_PUSH(parser->arena, &args->exprs, source);
    return TG_OK;
}

/* SUBSTRING(s FROM a [FOR b]), OVERLAY(s PLACING r FROM a [FOR b]): behind the first argument. */
static tg_code parse_more_by_words(tg_parser *parser, tg_keyword function, call_args *args,
                                   bool *out_done)
{
    static const tg_keyword NONE[] = {TG_KW_NONE};
    static const tg_keyword SUBSTRING[] = {TG_KW_FROM, TG_KW_FOR, TG_KW_NONE};
    static const tg_keyword OVERLAY[] = {TG_KW_PLACING, TG_KW_FROM, TG_KW_FOR, TG_KW_NONE};
    const tg_keyword *words = function == TG_KW_SUBSTRING || function == TG_KW_SUBSTR ? SUBSTRING
                              : function == TG_KW_OVERLAY                             ? OVERLAY
                                                                                      : NONE;
    *out_done = words[0] != TG_KW_NONE && tg_parse_word(parser, 0) == words[0];
    if (!*out_done) {
        return TG_OK;
    }
    for (; *words != TG_KW_NONE && tg_parse_accept(parser, *words); words++) {
        tg_expr *arg;
        TG_TRY(tg_parse_value_expr(parser, &arg));
        TG_VEC_PUSH(parser->arena, &args->exprs, arg);
    }
    return TG_OK;
}

/* ---- ordinary arguments ---------------------------------------------------------------------- */

static tg_code parse_argument(tg_parser *parser, call_args *args)
{
    tg_ident name = {0}, alias = {0};
    tg_expr *expr;
    if (tg_parse_at_name(parser, 0) && tg_parse_kind(parser, 1) == TG_TOK_FAT_ARROW) {
        name = tg_parse_take_ident(parser);
        tg_parse_advance(parser);
        args->has_name = true;
    }
    TG_TRY(tg_parse_expr(parser, &expr));
    if (tg_parse_accept(parser, TG_KW_AS)) {
        TG_TRY(tg_parse_ident(parser, "an alias", &alias));
        args->has_alias = true;
    }
    TG_VEC_PUSH(parser->arena, &args->exprs, expr);
    TG_VEC_PUSH(parser->arena, &args->names, name);
    TG_VEC_PUSH(parser->arena, &args->aliases, alias);
    return TG_OK;
}

static bool parse_nulls_treatment(tg_parser *parser, tg_call *call)
{
    if (tg_parse_accept2(parser, TG_KW_IGNORE, TG_KW_NULLS)) {
        call->ignore_nulls = true;
        return true;
    }
    if (tg_parse_accept2(parser, TG_KW_RESPECT, TG_KW_NULLS)) {
        call->respect_nulls = true;
        return true;
    }
    return false;
}

/* A bare unit and a comma at the current token? */
static bool at_unit(const tg_parser *parser)
{
    return tg_parse_kind(parser, 0) == TG_TOK_WORD && tg_parse_kind(parser, 1) == TG_TOK_COMMA &&
           tg_keyword_is_unit(tg_parse_token_text(parser, tg_parse_peek(parser, 0)));
}

/* Everything between the parentheses; the closing one is not read. */
static tg_code parse_arguments(tg_parser *parser, tg_call *call, call_args *args)
{
    const tg_ident *last = &call->name.parts[call->name.count - 1];
    tg_keyword function =
        call->name.count == 1 && !last->quoted ? tg_keyword_find(last->text) : TG_KW_NONE;
    if (tg_parse_kind(parser, 0) == TG_TOK_RIGHT_PAREN) {
        return TG_OK;
    }
    if (function == TG_KW_EXTRACT && tg_parse_at_name(parser, 0) &&
        tg_parse_word(parser, 1) == TG_KW_FROM) {
        return parse_extract(parser, args);
    }
    if (tg_keyword_takes_unit(function) && at_unit(parser)) {
        return parse_unit(parser, args);
    }
    if (function == TG_KW_TRIM && has_word_inside(parser, parser->pos - 1, TG_KW_FROM)) {
        tg_ident *name = tg_arena_memdup(parser->arena, last, sizeof(*last));
        TG_TRY(parse_trim(parser, &name->text, args));
        call->name.parts = name;
        return TG_OK;
    }
    if (function == TG_KW_POSITION && has_word_inside(parser, parser->pos - 1, TG_KW_IN)) {
        return parse_position(parser, args);
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_STAR && tg_parse_kind(parser, 1) == TG_TOK_RIGHT_PAREN &&
        tg_str_ieq(last->text, TG_S("count"))) {
        tg_parse_advance(parser);
        call->star = true;
        return TG_OK;
    }
    /* DISTINCT and ALL are names when nothing stands behind them. */
    tg_token_kind next = tg_parse_kind(parser, 1);
    if (next != TG_TOK_COMMA && next != TG_TOK_RIGHT_PAREN) {
        call->distinct = tg_parse_word(parser, 0) == TG_KW_DISTINCT;
        if (call->distinct || tg_parse_word(parser, 0) == TG_KW_ALL) {
            tg_parse_advance(parser);
        }
    }
    TG_TRY(parse_argument(parser, args));
    bool done;
    TG_TRY(parse_more_by_words(parser, function, args, &done));
    while (!done && tg_parse_accept_token(parser, TG_TOK_COMMA)) {
        TG_TRY(parse_argument(parser, args));
    }
    (void)parse_nulls_treatment(parser, call);
    return TG_OK;
}

/* ---- windows --------------------------------------------------------------------------------- */

static tg_code parse_frame_bound(tg_parser *parser, tg_frame_bound *out_bound)
{
    bool unbounded = tg_parse_accept(parser, TG_KW_UNBOUNDED);
    if (!unbounded && tg_parse_accept2(parser, TG_KW_CURRENT, TG_KW_ROW)) {
        *out_bound = (tg_frame_bound){.kind = TG_BOUND_CURRENT_ROW};
        return TG_OK;
    }
    tg_expr *offset = NULL;
    if (!unbounded) {
        TG_TRY(tg_parse_value_expr(parser, &offset));
    }
    bool preceding = tg_parse_accept(parser, TG_KW_PRECEDING);
    if (!preceding) {
        TG_TRY(tg_parse_expect(parser, TG_KW_FOLLOWING));
    }
    out_bound->offset = offset;
    out_bound->kind = preceding ? (unbounded ? TG_BOUND_UNBOUNDED_PRECEDING : TG_BOUND_PRECEDING)
                                : (unbounded ? TG_BOUND_UNBOUNDED_FOLLOWING : TG_BOUND_FOLLOWING);
    return TG_OK;
}

static tg_code parse_frame(tg_parser *parser, tg_window_spec *spec)
{
    if (tg_parse_accept(parser, TG_KW_ROWS)) {
        spec->frame = TG_FRAME_ROWS;
    } else if (tg_parse_accept(parser, TG_KW_RANGE)) {
        spec->frame = TG_FRAME_RANGE;
    } else {
        return TG_OK;
    }
    if (!tg_parse_accept(parser, TG_KW_BETWEEN)) {
        spec->frame_end = (tg_frame_bound){.kind = TG_BOUND_CURRENT_ROW};
        return parse_frame_bound(parser, &spec->frame_start);
    }
    TG_TRY(parse_frame_bound(parser, &spec->frame_start));
    TG_TRY(tg_parse_expect(parser, TG_KW_AND));
    return parse_frame_bound(parser, &spec->frame_end);
}

tg_code tg_parse_window_spec(tg_parser *parser, tg_window_spec **out_spec)
{
    size_t offset = tg_parse_offset(parser);
    tg_window_spec *spec = TG_NEW(parser->arena, tg_window_spec);
    *out_spec = spec;
    if (tg_parse_at_name(parser, 0)) {
        spec->base = tg_parse_take_ident(parser);
        spec->span = tg_parse_span_from(parser, offset);
        return TG_OK;
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "the name of a window or '('"));
    bool partition =
        tg_parse_word(parser, 1) == TG_KW_BY && (tg_parse_word(parser, 0) == TG_KW_PARTITION ||
                                                 tg_parse_word(parser, 0) == TG_KW_DISTRIBUTE);
    bool is_clause = partition || tg_parse_word_is_clause(parser, 0) ||
                     tg_parse_word(parser, 0) == TG_KW_ROWS ||
                     tg_parse_word(parser, 0) == TG_KW_RANGE;
    if (tg_parse_at_name(parser, 0) && !is_clause) {
        spec->base = tg_parse_take_ident(parser);
        partition =
            tg_parse_word(parser, 0) == TG_KW_PARTITION && tg_parse_word(parser, 1) == TG_KW_BY;
    }
    if (partition) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        tg_expr_vec keys = {0};
        TG_TRY(tg_parse_expr_list(parser, &keys));
        spec->partition_by = keys.items;
        spec->partition_count = keys.count;
    }
    if (tg_parse_accept2(parser, TG_KW_ORDER, TG_KW_BY) ||
        tg_parse_accept2(parser, TG_KW_SORT, TG_KW_BY)) {
        TG_TRY(tg_parse_sort_items(parser, &spec->order_by, &spec->order_count));
    }
    TG_TRY(parse_frame(parser, spec));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    spec->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tg_code parse_call_end(tg_parser *parser, tg_call *call)
{
    if (tg_parse_accept2(parser, TG_KW_WITHIN, TG_KW_GROUP)) {
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
        TG_TRY(tg_parse_expect(parser, TG_KW_ORDER));
        TG_TRY(tg_parse_expect(parser, TG_KW_BY));
        TG_TRY(tg_parse_sort_items(parser, &call->within_group, &call->within_group_count));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    }
    if (tg_parse_word(parser, 0) == TG_KW_FILTER && tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        TG_TRY(tg_parse_expect(parser, TG_KW_WHERE));
        TG_TRY(tg_parse_expr(parser, &call->filter));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    }
    (void)parse_nulls_treatment(parser, call);
    if (tg_parse_word(parser, 0) == TG_KW_OVER &&
        (tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN || tg_parse_at_name(parser, 1))) {
        tg_parse_advance(parser);
        TG_TRY(tg_parse_window_spec(parser, &call->over));
    }
    return TG_OK;
}

tg_code tg_parse_call(tg_parser *parser, tg_name name, size_t offset, tg_expr **out_expr)
{
    tg_call *call = TG_NEW(parser->arena, tg_call);
    call->name = name;
    call_args args = {0};
    tg_parse_advance(parser); /* ( */
    TG_TRY(parse_arguments(parser, call, &args));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    TG_TRY(parse_call_end(parser, call));
    call->arg_names = args.has_name ? args.names.items : NULL;
    call->arg_aliases = args.has_alias ? args.aliases.items : NULL;
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_CALL, offset, args.exprs.items, args.exprs.count);
    (*out_expr)->call = call;
    return TG_OK;
}
