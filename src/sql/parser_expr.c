/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: OR, AND, NOT, one predicate, and the binary operators by precedence climbing
 * (Spark's order: * / % DIV, + - ||, shifts, &, ^, |, comparisons). Chains of one level are built
 * in a loop, so that ten thousand terms need no stack.
 */
#include "sql/parser_int.h"

static tg_expr *binary(tg_parser *parser, tg_op op, tg_expr *left, tg_expr *right)
{
    tg_expr *expr =
        tg_parse_new_expr(parser, TG_EXPR_BINARY, left->span.offset, (tg_expr *[]){left, right}, 2);
    expr->op = op;
    return expr;
}

/* ---- binary operators ------------------------------------------------------------------------ */

enum {
    LEVEL_COMPARE = 1,
    LEVEL_PIPE,
    LEVEL_HAT,
    LEVEL_AMPERSAND,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MULTIPLY
};

static int operator_level(const tg_parser *parser, tg_op *out_op)
{
    static const struct {
        uint8_t token, op, level;
    } OPERATORS[] = {
        {TG_TOK_STAR, TG_OP_MUL, LEVEL_MULTIPLY},
        {TG_TOK_SLASH, TG_OP_DIV, LEVEL_MULTIPLY},
        {TG_TOK_PERCENT, TG_OP_MOD, LEVEL_MULTIPLY},
        {TG_TOK_PLUS, TG_OP_ADD, LEVEL_ADD},
        {TG_TOK_MINUS, TG_OP_SUB, LEVEL_ADD},
        {TG_TOK_CONCAT, TG_OP_CONCAT, LEVEL_ADD},
        {TG_TOK_SHIFT_LEFT, TG_OP_SHIFT_LEFT, LEVEL_SHIFT},
        {TG_TOK_SHIFT_RIGHT, TG_OP_SHIFT_RIGHT, LEVEL_SHIFT},
        {TG_TOK_SHIFT_RIGHT_UNSIGNED, TG_OP_SHIFT_RIGHT_UNSIGNED, LEVEL_SHIFT},
        {TG_TOK_AMPERSAND, TG_OP_BIT_AND, LEVEL_AMPERSAND},
        {TG_TOK_HAT, TG_OP_BIT_XOR, LEVEL_HAT},
        {TG_TOK_PIPE, TG_OP_BIT_OR, LEVEL_PIPE},
        {TG_TOK_EQ, TG_OP_EQ, LEVEL_COMPARE},
        {TG_TOK_NE, TG_OP_NE, LEVEL_COMPARE},
        {TG_TOK_LT, TG_OP_LT, LEVEL_COMPARE},
        {TG_TOK_LE, TG_OP_LE, LEVEL_COMPARE},
        {TG_TOK_GT, TG_OP_GT, LEVEL_COMPARE},
        {TG_TOK_GE, TG_OP_GE, LEVEL_COMPARE},
        {TG_TOK_NULL_SAFE_EQ, TG_OP_EQ_NULL_SAFE, LEVEL_COMPARE},
    };
    tg_token_kind kind = tg_parse_kind(parser, 0);
    if (tg_parse_word(parser, 0) == TG_KW_DIV) {
        *out_op = TG_OP_INT_DIV;
        return LEVEL_MULTIPLY;
    }
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(*OPERATORS); i++) {
        if (OPERATORS[i].token == kind) {
            *out_op = (tg_op)OPERATORS[i].op;
            return OPERATORS[i].level;
        }
    }
    return 0;
}

static tg_code parse_unary(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_op op;
    switch (tg_parse_kind(parser, 0)) {
    case TG_TOK_MINUS:
        if (tg_parse_is_number(tg_parse_kind(parser, 1))) {
            return tg_parse_primary(parser,
                                    out_expr); /* a negative literal: -128Y has no positive form */
        }
        op = TG_OP_NEGATE;
        break;
    case TG_TOK_PLUS:
        op = TG_OP_PLUS;
        break;
    case TG_TOK_TILDE:
        op = TG_OP_BIT_NOT;
        break;
    default:
        return tg_parse_primary(parser, out_expr);
    }
    TG_TRY(tg_parse_enter(parser));
    tg_parse_advance(parser);
    tg_expr *operand;
    TG_TRY(parse_unary(parser, &operand));
    tg_parse_leave(parser);
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_UNARY, offset, &operand, 1);
    expr->op = op;
    *out_expr = expr;
    return TG_OK;
}

/* Operators of at least min_level. Depth: at most the number of levels per call. */
static tg_code parse_binary(tg_parser *parser, int min_level, tg_expr **out_expr)
{
    tg_expr *left;
    TG_TRY(parse_unary(parser, &left));
    for (;;) {
        tg_op op;
        int level = operator_level(parser, &op);
        if (level == 0 || level < min_level) {
            *out_expr = left;
            return TG_OK;
        }
        tg_parse_advance(parser);
        tg_expr *right;
        TG_TRY(parse_binary(parser, level + 1, &right));
        left = binary(parser, op, left, right);
    }
}

tg_code tg_parse_value_expr(tg_parser *parser, tg_expr **out_expr)
{
    return parse_binary(parser, LEVEL_COMPARE, out_expr);
}

/* ---- predicates ------------------------------------------------------------------------------ */

static tg_code parse_between(tg_parser *parser, tg_expr *value, bool negated, tg_expr **out_expr)
{
    tg_expr *low, *high;
    TG_TRY(tg_parse_value_expr(parser, &low));
    TG_TRY(tg_parse_expect(parser, TG_KW_AND));
    TG_TRY(tg_parse_value_expr(parser, &high));
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_BETWEEN, value->span.offset,
                                  (tg_expr *[]){value, low, high}, 3);
    (*out_expr)->negated = negated;
    return TG_OK;
}

static tg_code parse_in(tg_parser *parser, tg_expr *value, bool negated, tg_expr **out_expr)
{
    if (tg_parse_paren_is_query(parser, 0)) {
        tg_query *query;
        TG_TRY(tg_parse_paren_query(parser, &query));
        *out_expr = tg_parse_new_expr(parser, TG_EXPR_IN_QUERY, value->span.offset, &value, 1);
        (*out_expr)->query = query;
        (*out_expr)->negated = negated;
        return TG_OK;
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    tg_expr_vec args = {0};
    TG_VEC_PUSH(parser->arena, &args, value);
    TG_TRY(tg_parse_expr_list(parser, &args));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    *out_expr =
        tg_parse_new_expr(parser, TG_EXPR_IN_LIST, value->span.offset, args.items, args.count);
    (*out_expr)->negated = negated;
    return TG_OK;
}

static tg_quantifier parse_quantifier(tg_parser *parser)
{
    if (tg_parse_kind(parser, 1) != TG_TOK_LEFT_PAREN) {
        return TG_QUANT_NONE;
    }
    if (tg_parse_accept(parser, TG_KW_ANY) || tg_parse_accept(parser, TG_KW_SOME)) {
        return TG_QUANT_ANY;
    }
    return tg_parse_accept(parser, TG_KW_ALL) ? TG_QUANT_ALL : TG_QUANT_NONE;
}

static tg_code parse_like(tg_parser *parser, tg_expr *value, tg_like_kind kind, bool negated,
                          tg_expr **out_expr)
{
    tg_expr_vec args = {0};
    TG_VEC_PUSH(parser->arena, &args, value);
    tg_quantifier quantifier = kind == TG_RLIKE ? TG_QUANT_NONE : parse_quantifier(parser);
    if (quantifier != TG_QUANT_NONE) {
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
        TG_TRY(tg_parse_expr_list(parser, &args));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    } else {
        tg_expr *pattern;
        TG_TRY(tg_parse_value_expr(parser, &pattern));
        TG_VEC_PUSH(parser->arena, &args, pattern);
    }
    tg_expr *escape = NULL;
    if (kind != TG_RLIKE && quantifier == TG_QUANT_NONE && tg_parse_accept(parser, TG_KW_ESCAPE)) {
        if (tg_parse_kind(parser, 0) != TG_TOK_STRING) {
            return tg_parse_fail(parser, "the escape character as string");
        }
        TG_TRY(tg_parse_primary(parser, &escape));
    }
    tg_expr *expr =
        tg_parse_new_expr(parser, TG_EXPR_LIKE, value->span.offset, args.items, args.count);
    expr->like = kind;
    expr->negated = negated;
    expr->quantifier = quantifier;
    expr->escape = escape;
    *out_expr = expr;
    return TG_OK;
}

static tg_code parse_is(tg_parser *parser, tg_expr *value, tg_expr **out_expr)
{
    bool negated = tg_parse_accept(parser, TG_KW_NOT);
    tg_expr *args[2] = {value, NULL};
    size_t count = 1;
    tg_is_kind kind;
    if (tg_parse_accept(parser, TG_KW_NULL)) {
        kind = TG_IS_NULL;
    } else if (tg_parse_accept(parser, TG_KW_TRUE)) {
        kind = TG_IS_TRUE;
    } else if (tg_parse_accept(parser, TG_KW_FALSE)) {
        kind = TG_IS_FALSE;
    } else if (tg_parse_accept(parser, TG_KW_UNKNOWN)) {
        kind = TG_IS_UNKNOWN;
    } else if (tg_parse_accept2(parser, TG_KW_DISTINCT, TG_KW_FROM)) {
        kind = TG_IS_DISTINCT_FROM;
        TG_TRY(tg_parse_value_expr(parser, &args[1]));
        count = 2;
    } else {
        return tg_parse_fail(parser, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
    }
    tg_expr *expr = tg_parse_new_expr(parser, TG_EXPR_IS, value->span.offset, args, count);
    expr->is = kind;
    expr->negated = negated;
    *out_expr = expr;
    return TG_OK;
}

/* Does NOT here belong to the predicate of the value before it? */
static bool not_begins_predicate(const tg_parser *parser)
{
    switch (tg_parse_word(parser, 1)) {
    case TG_KW_BETWEEN:
    case TG_KW_IN:
    case TG_KW_LIKE:
    case TG_KW_ILIKE:
    case TG_KW_RLIKE:
    case TG_KW_REGEXP:
        return tg_parse_word(parser, 0) == TG_KW_NOT;
    default:
        return false;
    }
}

/* value [predicate]: Spark allows one predicate behind a value. */
static tg_code parse_predicated(tg_parser *parser, tg_expr **out_expr)
{
    tg_expr *value;
    TG_TRY(tg_parse_value_expr(parser, &value));
    *out_expr = value;
    bool negated = not_begins_predicate(parser);
    if (negated) {
        tg_parse_advance(parser);
    }
    if (tg_parse_accept(parser, TG_KW_BETWEEN)) {
        return parse_between(parser, value, negated, out_expr);
    }
    if (tg_parse_accept(parser, TG_KW_IN)) {
        return parse_in(parser, value, negated, out_expr);
    }
    if (tg_parse_accept(parser, TG_KW_LIKE)) {
        return parse_like(parser, value, TG_LIKE, negated, out_expr);
    }
    if (tg_parse_accept(parser, TG_KW_ILIKE)) {
        return parse_like(parser, value, TG_ILIKE, negated, out_expr);
    }
    if (tg_parse_accept(parser, TG_KW_RLIKE) || tg_parse_accept(parser, TG_KW_REGEXP)) {
        return parse_like(parser, value, TG_RLIKE, negated, out_expr);
    }
    if (tg_parse_word(parser, 0) == TG_KW_IS && tg_parse_word(parser, 1) != TG_KW_NONE) {
        tg_parse_advance(parser);
        return parse_is(parser, value, out_expr);
    }
    return TG_OK;
}

/* ---- logic ----------------------------------------------------------------------------------- */

static tg_code parse_exists(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    tg_query *query;
    TG_TRY(tg_parse_paren_query(parser, &query));
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_EXISTS, offset, NULL, 0);
    (*out_expr)->query = query;
    return TG_OK;
}

static tg_code parse_not(tg_parser *parser, tg_expr **out_expr)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_word(parser, 0) == TG_KW_EXISTS && tg_parse_paren_is_query(parser, 1)) {
        return parse_exists(parser, out_expr);
    }
    if (!tg_parse_accept(parser, TG_KW_NOT) && !tg_parse_accept_token(parser, TG_TOK_BANG)) {
        return parse_predicated(parser, out_expr);
    }
    tg_expr *operand;
    TG_TRY(tg_parse_enter(parser));
    TG_TRY(parse_not(parser, &operand));
    tg_parse_leave(parser);
    *out_expr = tg_parse_new_expr(parser, TG_EXPR_UNARY, offset, &operand, 1);
    (*out_expr)->op = TG_OP_NOT;
    return TG_OK;
}

static tg_code parse_and(tg_parser *parser, tg_expr **out_expr)
{
    tg_expr *left;
    TG_TRY(parse_not(parser, &left));
    while (tg_parse_accept(parser, TG_KW_AND)) {
        tg_expr *right;
        TG_TRY(parse_not(parser, &right));
        left = binary(parser, TG_OP_AND, left, right);
    }
    *out_expr = left;
    return TG_OK;
}

tg_code tg_parse_expr(tg_parser *parser, tg_expr **out_expr)
{
    tg_expr *left;
    TG_TRY(tg_parse_enter(parser));
    TG_TRY(parse_and(parser, &left));
    while (tg_parse_accept(parser, TG_KW_OR)) {
        tg_expr *right;
        TG_TRY(parse_and(parser, &right));
        left = binary(parser, TG_OP_OR, left, right);
    }
    tg_parse_leave(parser);
    *out_expr = left;
    return TG_OK;
}

tg_code tg_parse_expr_list(tg_parser *parser, tg_expr_vec *out_exprs)
{
    do {
        tg_expr *expr;
        TG_TRY(tg_parse_expr(parser, &expr));
        TG_VEC_PUSH(parser->arena, out_exprs, expr);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    return TG_OK;
}

tg_code tg_parse_sort_items(tg_parser *parser, tg_sort_item **out_items, size_t *out_count)
{
    TG_VEC(tg_sort_item) items = {0};
    do {
        tg_sort_item item = {0};
        TG_TRY(tg_parse_expr(parser, &item.expr));
        item.descending = tg_parse_accept(parser, TG_KW_DESC);
        if (!item.descending) {
            (void)tg_parse_accept(parser, TG_KW_ASC);
        }
        if (tg_parse_accept(parser, TG_KW_NULLS)) {
            if (!tg_parse_accept(parser, TG_KW_FIRST)) {
                TG_TRY(tg_parse_expect(parser, TG_KW_LAST));
                item.nulls = TG_NULLS_LAST;
            } else {
                item.nulls = TG_NULLS_FIRST;
            }
        }
        item.span = tg_parse_span_from(parser, item.expr->span.offset);
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    *out_items = items.items;
    *out_count = items.count;
    return TG_OK;
}

tg_code tg_parse_select_item(tg_parser *parser, tg_select_item *out_item)
{
    *out_item = (tg_select_item){0};
    TG_TRY(tg_parse_expr(parser, &out_item->expr));
    if (tg_parse_accept(parser, TG_KW_AS)) {
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            return tg_parse_ident_list(parser, "an alias", &out_item->aliases,
                                       &out_item->alias_count);
        }
        if (!tg_parse_at_name(parser, 0)) {
            return tg_parse_fail(parser, "an alias");
        }
        out_item->alias = tg_parse_take_ident(parser);
        return TG_OK;
    }
    if (tg_parse_at_name(parser, 0) && !tg_parse_word_is_clause(parser, 0)) {
        out_item->alias = tg_parse_take_ident(parser);
        parser->alias_end = parser->pos;
    }
    return TG_OK;
}
