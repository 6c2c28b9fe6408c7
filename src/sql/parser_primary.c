/* SPDX-License-Identifier: Apache-2.0 */
/* What an operand can be: literals, names, parentheses, CASE, CAST, lambdas, and what may follow
 * it: [..], .field, ::type. */
#include "sql/parser_int.h"

/* ---- parentheses, lambdas -------------------------------------------------------------------- */

static tg_code parse_lambda(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser), count = 1;
    const tg_ident *params;
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        TG_TRY(tg_parse_ident_list(parser, "a parameter of the lambda", &params, &count));
    } else {
        tg_ident *param = TG_NEW(parser->arena, tg_ident);
        *param = tg_parse_take_ident(parser);
        params = param;
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_ARROW, "'->'"));
    tg_expr *body;
    TG_TRY(tg_parse_expr(parser, &body));
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_LAMBDA, offset, &body, 1);
    (*out_expr)->params = params;
    (*out_expr)->param_count = count;
    return TG_OK;
}

/* (a), (a, b), (a AS x, b): behind the parenthesis. */
static tg_code parse_row(tg_parser *parser, size_t offset, tg_expr **out_expr)
{
    tg_expr_vec args = {0};
    TG_VEC(tg_ident) aliases = {0};
    bool has_alias = false;
    do {
        tg_expr *arg;
        tg_ident alias = {0};
        TG_TRY(tg_parse_expr(parser, &arg));
        if (tg_parse_accept(parser, TG_KW_AS)) {
            TG_TRY(tg_parse_ident(parser, "an alias", &alias));
            has_alias = true;
        }
        TG_VEC_PUSH(parser->arena, &args, arg);
        TG_VEC_PUSH(parser->arena, &aliases, alias);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    if (args.count == 1 && !has_alias) {
        *out_expr = args.items[0];
        return TG_OK;
    }
    if (has_alias) {
        *out_expr = tg_parse_new_call(parser, "struct", offset, args.items, args.count);
        (*out_expr)->call->arg_aliases = aliases.items;
    } else {
        *out_expr = tg_parse_new_expr(parser, TG_EXPR_ROW, offset, args.items, args.count);
    }
    return TG_OK;
}

static tg_code parse_paren(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    if (parser->tokens[tg_parse_after_paren(parser, parser->pos)].kind == TG_TOK_ARROW) {
        return parse_lambda(parser, out_expr);
    }
    if (tg_parse_paren_is_query(parser, 0)) {
        tg_query *query;
        TG_TRY(tg_parse_paren_query(parser, &query));
        *out_expr = tg_parse_new_expr(parser, TG_EXPR_SUBQUERY, offset, NULL, 0);
        (*out_expr)->query = query;
        return TG_OK;
    }
    tg_parse_advance(parser);
    return parse_row(parser, offset, out_expr);
}

/* ---- CASE, CAST ------------------------------------------------------------------------------ */

static tg_code parse_case(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    tg_expr_vec args = {0};
    tg_expr *arg;
    bool has_operand = !tg_parse_at(parser, TG_KW_WHEN);
    if (has_operand) {
        TG_TRY(tg_parse_expr(parser, &arg));
        TG_VEC_PUSH(parser->arena, &args, arg);
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_WHEN));
    do {
        TG_TRY(tg_parse_expr(parser, &arg));
        TG_VEC_PUSH(parser->arena, &args, arg);
        TG_TRY(tg_parse_expect(parser, TG_KW_THEN));
        TG_TRY(tg_parse_expr(parser, &arg));
        TG_VEC_PUSH(parser->arena, &args, arg);
    } while (tg_parse_accept(parser, TG_KW_WHEN));
    bool has_else = tg_parse_accept(parser, TG_KW_ELSE);
    if (has_else) {
        TG_TRY(tg_parse_expr(parser, &arg));
        TG_VEC_PUSH(parser->arena, &args, arg);
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_END));
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_CASE, offset, args.items, args.count);
    expr->has_operand = has_operand;
    expr->has_else = has_else;
    *out_expr = expr;
    return TG_OK;
}

static tg_code parse_cast(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    bool is_try = tg_parse_word(parser, 0) == TG_KW_TRY_CAST;
    tg_parse_advance(parser);
    tg_parse_advance(parser);
    tg_expr *arg;
    const tg_type *type;
    TG_TRY(tg_parse_expr(parser, &arg));
    TG_TRY(tg_parse_expect(parser, TG_KW_AS));
    TG_TRY(tg_parse_type(parser, &type));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_CAST, offset, &arg, 1);
    (*out_expr)->type = type;
    (*out_expr)->is_try = is_try;
    return TG_OK;
}

/* ---- names, stars ---------------------------------------------------------------------------- */

/* [EXCEPT (a, b.c)] behind a star. */
static tg_code parse_star_end(tg_parser *parser, tg_name qualifier, size_t offset,
                              tg_expr **out_expr)
{
    TG_VEC(tg_name) except = {0};
    if (tg_parse_word(parser, 0) == TG_KW_EXCEPT && tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN &&
        !tg_parse_paren_is_query(parser, 1)) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        do {
            tg_name name;
            TG_TRY(tg_parse_name(parser, "a column name", &name));
            TG_VEC_PUSH(parser->arena, &except, name);
        } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    }
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_STAR, offset, NULL, 0);
    expr->name = qualifier;
    expr->except = except.items;
    expr->except_count = except.count;
    *out_expr = expr;
    return TG_OK;
}

static bool is_no_paren_function(tg_keyword word)
{
    return word == TG_KW_CURRENT_DATE || word == TG_KW_CURRENT_TIMESTAMP ||
           word == TG_KW_CURRENT_USER || word == TG_KW_CURRENT_TIME || word == TG_KW_USER ||
           word == TG_KW_SESSION_USER;
}

static tg_code parse_named(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_at_identifier_clause(parser)) {
        tg_name name;
        TG_TRY(tg_parse_identifier_clause(parser, &name));
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            return tg_parse_call(parser, name, offset, out_expr);
        }
        *out_expr = tg_parse_new_expr(parser, TG_EXPR_NAME, offset, NULL, 0);
        (*out_expr)->name = name;
        return TG_OK;
    }
    if (tg_parse_word_is_clause(parser, 0) && tg_parse_kind(parser, 1) != TG_TOK_LEFT_PAREN) {
        return tg_parse_fail(parser, "an expression");
    }
    TG_VEC(tg_ident) parts = {0};
    TG_VEC_PUSH(parser->arena, &parts, tg_parse_take_ident(parser));
    while (tg_parse_kind(parser, 0) == TG_TOK_DOT) {
        tg_name qualifier = {parts.items, parts.count, tg_parse_span_from(parser, offset)};
        if (tg_parse_kind(parser, 1) == TG_TOK_STAR) {
            tg_parse_advance(parser);
            tg_parse_advance(parser);
            return parse_star_end(parser, qualifier, offset, out_expr);
        }
        if (!tg_parse_at_name(parser, 1)) {
            tg_parse_advance(parser);
            return tg_parse_fail(parser, "a name");
        }
        tg_parse_advance(parser);
        TG_VEC_PUSH(parser->arena, &parts, tg_parse_take_ident(parser));
    }
    tg_name name = {parts.items, parts.count, tg_parse_span_from(parser, offset)};
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN &&
        !(parser->query_follows && tg_parse_paren_is_query(parser, 0))) {
        return tg_parse_call(parser, name, offset, out_expr);
    }
    bool no_parens = parts.count == 1 && !parts.items[0].quoted &&
                     is_no_paren_function(tg_keyword_find(parts.items[0].text));
    *out_expr = tg_parse_new_expr(parser, no_parens ? TG_EXPR_CALL : TG_EXPR_NAME, offset, NULL, 0);
    if (no_parens) {
        (*out_expr)->call = TG_NEW(parser->arena, tg_call);
        (*out_expr)->call->name = name;
        (*out_expr)->call->no_parens = true;
    } else {
        (*out_expr)->name = name;
    }
    return TG_OK;
}

static tg_code parse_parameter(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_ident field = {0};
    if (tg_parse_accept_token(parser, TG_TOK_COLON)) {
        if (tg_parse_kind(parser, 0) != TG_TOK_WORD && tg_parse_kind(parser, 0) != TG_TOK_QUOTED) {
            return tg_parse_fail(parser, "the name of a parameter");
        }
        field = tg_parse_take_ident(parser); /* any word: :from, :to, :end */
    } else {
        tg_parse_advance(parser);
    }
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_PARAMETER, offset, NULL, 0);
    (*out_expr)->field = field;
    return TG_OK;
}

/* ---- operands -------------------------------------------------------------------------------- */

static tg_code parse_word(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_keyword word = tg_parse_word(parser, 0);
    bool has_paren = tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN;
    if (tg_parse_at_interval(parser)) {
        return tg_parse_interval(parser, out_expr);
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_WORD && tg_parse_kind(parser, 1) == TG_TOK_STRING) {
        return tg_parse_typed_literal(parser, out_expr);
    }
    if (tg_parse_kind(parser, 1) == TG_TOK_ARROW) {
        return parse_lambda(parser, out_expr);
    }
    if (tg_parse_kind(parser, 1) != TG_TOK_DOT) {
        switch (word) {
        case TG_KW_NULL:
            tg_parse_advance(parser);
            *out_expr =
                tg_parse_new_literal(parser, tg_value_null(tg_type_of(TG_TYPE_VOID)), offset);
            return TG_OK;
        case TG_KW_TRUE:
        case TG_KW_FALSE:
            tg_parse_advance(parser);
            *out_expr = tg_parse_new_literal(parser, tg_value_bool(word == TG_KW_TRUE), offset);
            return TG_OK;
        case TG_KW_CASE:
            return parse_case(parser, out_expr);
        case TG_KW_CAST:
        case TG_KW_TRY_CAST:
            if (has_paren) {
                return parse_cast(parser, out_expr);
            }
            break;
        default:
            break;
        }
    }
    return parse_named(parser, out_expr);
}

static tg_code parse_operand(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_token_kind kind = tg_parse_kind(parser, 0);
    if (tg_parse_is_number(kind)) {
        return tg_parse_number(parser, false, offset, out_expr);
    }
    switch (kind) {
    case TG_TOK_MINUS:
        if (tg_parse_is_number(tg_parse_kind(parser, 1))) {
            tg_parse_advance(parser);
            return tg_parse_number(parser, true, offset, out_expr);
        }
        return tg_parse_fail(parser, "an expression");
    case TG_TOK_STRING: {
        tg_str text;
        TG_TRY(tg_parse_string(parser, "a string", &text));
        *out_expr = tg_parse_new_text(parser, text, offset);
        return TG_OK;
    }
    case TG_TOK_LEFT_PAREN:
        return parse_paren(parser, out_expr);
    case TG_TOK_STAR:
        tg_parse_advance(parser);
        return parse_star_end(parser, (tg_name){0}, offset, out_expr);
    case TG_TOK_COLON:
    case TG_TOK_QUESTION:
        return parse_parameter(parser, out_expr);
    case TG_TOK_WORD:
    case TG_TOK_QUOTED:
        return parse_word(parser, out_expr);
    default:
        return tg_parse_fail(parser, "an expression");
    }
}

static tg_code parse_subscript(tg_parser *parser, size_t offset, tg_expr *base, tg_expr **out_expr)
{
    tg_expr *index;
    tg_parse_advance(parser);
    TG_TRY(tg_parse_value_expr(parser, &index));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_BRACKET, "']'"));
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_SUBSCRIPT, offset, (tg_expr *[]){base, index}, 2);
    return TG_OK;
}

static tg_code parse_collate(tg_parser *parser, size_t offset, tg_expr *base, tg_expr **out_expr)
{
    tg_name name;
    tg_parse_advance(parser);
    TG_TRY(tg_parse_name(parser, "a collation", &name));
    tg_expr *collation =
        tg_parse_new_text(parser, name.parts[name.count - 1].text, name.span.offset);
    *out_expr = tg_parse_new_call(parser, "collate", offset, (tg_expr *[]){base, collation}, 2);
    return TG_OK;
}

tg_code tg_parse_primary(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_expr *expr;
    int depth = parser->depth; /* a long chain enters more than once */
    TG_TRY(tg_parse_enter(parser));
    TG_TRY(parse_operand(parser, &expr));
    for (int chain = 0;; chain++) {
        if (chain > TG_LIMIT_EXPRESSION_DEPTH) {
            TG_TRY(tg_parse_enter(parser)); /* a.b.c... of thousands: walkers would go as deep */
        }
        tg_token_kind kind = tg_parse_kind(parser, 0);
        if (kind == TG_TOK_LEFT_BRACKET) {
            TG_TRY(parse_subscript(parser, offset, expr, &expr));
        } else if (kind == TG_TOK_DOT && expr->kind != TG_EXPR_STAR) {
            tg_parse_advance(parser);
            if (!tg_parse_at_name(parser, 0)) {
                return tg_parse_fail(parser, "the name of a field");
            }
            tg_ident field = tg_parse_take_ident(parser);
            expr = tg_parse_new_expr(parser, TG_EXPR_FIELD, offset, &expr, 1);
            expr->field = field;
        } else if (kind == TG_TOK_DOUBLE_COLON) {
            const tg_type *type;
            tg_parse_advance(parser);
            TG_TRY(tg_parse_type(parser, &type));
            expr = tg_parse_new_expr(parser, TG_EXPR_CAST, offset, &expr, 1);
            expr->type = type;
        } else if (tg_parse_word(parser, 0) == TG_KW_COLLATE && tg_parse_at_name(parser, 1)) {
            TG_TRY(parse_collate(parser, offset, expr, &expr));
        } else {
            break;
        }
    }
    parser->depth = depth;
    *out_expr = expr;
    return TG_OK;
}
