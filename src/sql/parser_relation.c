/* SPDX-License-Identifier: Apache-2.0 */
/* FROM: tables with time travel, subqueries, VALUES, table functions, joins, PIVOT and TABLESAMPLE
 * (kept as text). */
#include "sql/parser_int.h"
#include "sql/sql.h"

static tg_relation *new_relation(tg_parser *parser, tg_relation_kind kind, size_t offset)
{
    tg_relation *relation = TG_NEW(parser->arena, tg_relation);
    relation->kind = kind;
    relation->span = tg_parse_span_from(parser, offset);
    return relation;
}

/* ---- aliases --------------------------------------------------------------------------------- */

/* A word that goes on with the clause around a relation and so is no alias of it. */
static bool word_ends_relation(const tg_parser *parser)
{
    tg_keyword word = tg_parse_word(parser, 0);
    switch (word) {
    case TG_KW_TABLESAMPLE:
    case TG_KW_PIVOT:
    case TG_KW_UNPIVOT:
        return tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN ||
               tg_parse_word(parser, 1) != TG_KW_NONE;
    case TG_KW_SCHEDULE:
    case TG_KW_TBLPROPERTIES:
    case TG_KW_KEYS: /* behind the source of a flow */
    case TG_KW_WITH:
        return true;
    default:
        return tg_keyword_is_strict(word) || tg_parse_word_is_clause(parser, 0);
    }
}

tg_code tg_parse_table_alias(tg_parser *parser, tg_ident *out_alias, const tg_ident **out_columns,
                             size_t *out_count)
{
    bool has_as = tg_parse_accept(parser, TG_KW_AS);
    if (!has_as && (!tg_parse_at_name(parser, 0) || word_ends_relation(parser))) {
        return TG_OK;
    }
    if (tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        if (!tg_parse_at_name(parser, 0)) {
            return tg_parse_fail(parser, "an alias");
        }
        *out_alias = tg_parse_take_ident(parser);
        if (!has_as) {
            parser->alias_end = parser->pos;
        }
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        return tg_parse_ident_list(parser, "a column name", out_columns, out_count);
    }
    return TG_OK;
}

static tg_code parse_alias(tg_parser *parser, tg_relation *relation)
{
    return tg_parse_table_alias(parser, &relation->alias, &relation->column_aliases,
                                &relation->column_alias_count);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* [FOR] VERSION AS OF v, [FOR] TIMESTAMP AS OF t */
tg_code tg_parse_time_travel(tg_parser *parser, tg_relation *relation)
{
    size_t ahead = tg_parse_word(parser, 0) == TG_KW_FOR ? 1 : 0;
    tg_keyword word = tg_parse_word(parser, ahead);
    bool version = word == TG_KW_VERSION || word == TG_KW_SYSTEM_VERSION;
    bool timestamp = word == TG_KW_TIMESTAMP || word == TG_KW_SYSTEM_TIME;
    if ((!version && !timestamp) || tg_parse_word(parser, ahead + 1) != TG_KW_AS ||
        tg_parse_word(parser, ahead + 2) != TG_KW_OF) {
        return TG_OK;
    }
    for (size_t i = 0; i < ahead + 3; i++) {
        tg_parse_advance(parser);
    }
    return tg_parse_value_expr(parser, version ? &relation->version : &relation->timestamp);
}

/* SELECT * FROM relation as a relation: for what belongs to all of it. */
static tg_relation *wrap(tg_parser *parser, tg_relation *relation)
{
    tg_span span = relation->span;
    tg_expr *star = tg_parse_new_expr(parser, TG_EXPR_STAR, span.offset, NULL, 0);
    tg_relation *wrapped = new_relation(parser, TG_REL_QUERY, span.offset);
    wrapped->query = tg_sql_select_star(parser->arena, star, relation, span);
    return wrapped;
}

static tg_code parse_sample(tg_parser *parser, tg_relation **relation)
{
    if (!tg_parse_accept(parser, TG_KW_TABLESAMPLE)) {
        return TG_OK;
    }
    bool has_own = (*relation)->kind == TG_REL_JOIN || (*relation)->clause_text.len > 0;
    size_t offset = tg_parse_offset(parser);
    TG_TRY(tg_parse_skip_paren(parser));
    *relation = has_own ? wrap(parser, *relation) : *relation;
    (*relation)->has_sample = true;
    (*relation)->clause_text = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    return TG_OK;
}

static tg_code parse_named(tg_parser *parser, bool is_stream, tg_relation **out_relation)
{
    size_t offset = tg_parse_offset(parser);
    tg_name name;
    TG_TRY(tg_parse_name(parser, "a table name", &name));
    tg_relation *relation;
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        relation = new_relation(parser, TG_REL_FUNCTION, offset);
        TG_TRY(tg_parse_call(parser, name, offset, &relation->call));
    } else {
        relation = new_relation(parser, TG_REL_TABLE, offset);
        relation->name = name;
        TG_TRY(tg_parse_time_travel(parser, relation));
    }
    relation->is_stream = is_stream;
    relation->span = tg_parse_span_from(parser, offset);
    *out_relation = relation;
    return TG_OK;
}

/* STREAM t, STREAM(t), STREAM f(..), each with an optional WITH (options). */
static tg_code parse_stream(tg_parser *parser, tg_relation **out_relation)
{
    tg_parse_advance(parser);
    bool paren = tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN;
    if (paren) {
        tg_parse_advance(parser);
    }
    TG_TRY(parse_named(parser, true, out_relation));
    if (paren) {
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    }
    if (tg_parse_word(parser, 0) == TG_KW_WITH && tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN) {
        tg_parse_advance(parser);
        TG_TRY(
            tg_parse_properties(parser, &(*out_relation)->options, &(*out_relation)->option_count));
    }
    return TG_OK;
}

static bool at_stream(const tg_parser *parser)
{
    if (tg_parse_word(parser, 0) != TG_KW_STREAM) {
        return false;
    }
    return tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN ||
           (tg_parse_at_name(parser, 1) && !tg_parse_word_is_clause(parser, 1) &&
            !tg_keyword_is_strict(tg_parse_word(parser, 1)) &&
            tg_parse_word(parser, 1) != TG_KW_AS && tg_parse_word(parser, 1) != TG_KW_KEYS);
}

static tg_code parse_parenthesised(tg_parser *parser, tg_relation **out_relation)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_paren_is_query(parser, 0)) {
        tg_relation *relation = new_relation(parser, TG_REL_QUERY, offset);
        TG_TRY(tg_parse_paren_query(parser, &relation->query));
        relation->span = tg_parse_span_from(parser, offset);
        *out_relation = relation;
        return TG_OK;
    }
    tg_parse_advance(parser);
    TG_TRY(tg_parse_from(parser, out_relation));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}

/* An alias behind (a JOIN b) names the whole join. */
static tg_code name_join(tg_parser *parser, tg_relation **relation)
{
    tg_ident alias = {0};
    const tg_ident *columns = NULL;
    size_t count = 0;
    TG_TRY(tg_parse_table_alias(parser, &alias, &columns, &count));
    if (alias.text.len == 0 && count == 0) {
        return TG_OK;
    }
    if ((*relation)->kind != TG_REL_JOIN && (*relation)->alias.text.len == 0 &&
        (*relation)->column_alias_count == 0) {
        (*relation)->alias = alias;
        (*relation)->column_aliases = columns;
        (*relation)->column_alias_count = count;
        return TG_OK;
    }
    tg_relation *named = wrap(parser, *relation);
    named->alias = alias;
    named->column_aliases = columns;
    named->column_alias_count = count;
    *relation = named;
    return TG_OK;
}

static tg_code parse_primary(tg_parser *parser, tg_relation **out_relation)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        bool is_query = tg_parse_paren_is_query(parser, 0);
        TG_TRY(parse_parenthesised(parser, out_relation));
        TG_TRY(parse_sample(parser, out_relation));
        return is_query ? parse_alias(parser, *out_relation) : name_join(parser, out_relation);
    }
    if (tg_parse_word(parser, 0) == TG_KW_VALUES && tg_parse_is_query_start(parser, 0)) {
        tg_query_body *values;
        TG_TRY(tg_parse_values(parser, &values));
        tg_relation *relation = new_relation(parser, TG_REL_VALUES, offset);
        relation->query = TG_NEW(parser->arena, tg_query);
        *relation->query = (tg_query){.span = values->span, .body = values};
        *out_relation = relation;
        return parse_alias(parser, relation);
    }
    TG_TRY(at_stream(parser) ? parse_stream(parser, out_relation)
                             : parse_named(parser, false, out_relation));
    TG_TRY(parse_sample(parser, out_relation));
    TG_TRY(parse_alias(parser, *out_relation));
    (*out_relation)->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

tg_code tg_parse_relation(tg_parser *parser, tg_relation **out_relation)
{
    return parse_primary(parser, out_relation);
}

tg_code tg_parse_source(tg_parser *parser, tg_relation **out_relation)
{
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        return parse_parenthesised(parser, out_relation);
    }
    return at_stream(parser) ? parse_stream(parser, out_relation)
                             : parse_named(parser, false, out_relation);
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* Reads [NATURAL] [kind] JOIN; false when no join begins here. */
static bool accept_join(tg_parser *parser, tg_join_kind *out_kind, bool *out_natural)
{
    size_t at = 0;
    *out_natural = tg_parse_word(parser, at) == TG_KW_NATURAL;
    at += *out_natural;
    *out_kind = TG_JOIN_INNER;
    switch (tg_parse_word(parser, at)) {
    case TG_KW_INNER:
        at++;
        break;
    case TG_KW_CROSS:
        *out_kind = TG_JOIN_CROSS;
        at++;
        break;
    case TG_KW_LEFT:
        *out_kind = TG_JOIN_LEFT;
        at++;
        break;
    case TG_KW_RIGHT:
        *out_kind = TG_JOIN_RIGHT;
        at++;
        break;
    case TG_KW_FULL:
        *out_kind = TG_JOIN_FULL;
        at++;
        break;
    default:
        break;
    }
    tg_keyword word = tg_parse_word(parser, at);
    if (word == TG_KW_OUTER && *out_kind != TG_JOIN_INNER && *out_kind != TG_JOIN_CROSS) {
        at++;
    } else if ((word == TG_KW_SEMI || word == TG_KW_ANTI) &&
               (*out_kind == TG_JOIN_LEFT || at == (size_t)*out_natural)) {
        *out_kind = word == TG_KW_SEMI ? TG_JOIN_LEFT_SEMI : TG_JOIN_LEFT_ANTI;
        at++;
    }
    if (tg_parse_word(parser, at) != TG_KW_JOIN) {
        return false;
    }
    for (size_t i = 0; i <= at; i++) {
        tg_parse_advance(parser);
    }
    return true;
}

static tg_code parse_join_condition(tg_parser *parser, tg_relation *join)
{
    if (tg_parse_accept(parser, TG_KW_ON)) {
        return tg_parse_expr(parser, &join->on);
    }
    if (tg_parse_accept(parser, TG_KW_USING)) {
        return tg_parse_ident_list(parser, "a column name", &join->using_columns,
                                   &join->using_count);
    }
    return TG_OK;
}

static tg_code parse_pivot(tg_parser *parser, tg_relation **relation)
{
    bool unpivot = tg_parse_word(parser, 0) == TG_KW_UNPIVOT;
    size_t offset = (*relation)->span.offset;
    tg_parse_advance(parser);
    size_t text_offset = tg_parse_offset(parser);
    if (unpivot &&
        (tg_parse_word(parser, 0) == TG_KW_INCLUDE || tg_parse_word(parser, 0) == TG_KW_EXCLUDE)) {
        tg_parse_advance(parser);
        TG_TRY(tg_parse_expect(parser, TG_KW_NULLS));
    }
    tg_relation *pivot = new_relation(parser, unpivot ? TG_REL_UNPIVOT : TG_REL_PIVOT, offset);
    TG_TRY(tg_parse_skip_paren(parser));
    pivot->clause_text = tg_parse_text(parser, tg_parse_span_from(parser, text_offset));
    pivot->left = *relation;
    TG_TRY(parse_alias(parser, pivot));
    pivot->span = tg_parse_span_from(parser, offset);
    *relation = pivot;
    return TG_OK;
}

/* LATERAL in front of a subquery or a table function. */
static tg_code parse_lateral(tg_parser *parser, tg_relation **out_relation)
{
    bool lateral = tg_parse_word(parser, 0) == TG_KW_LATERAL &&
                   tg_parse_word(parser, 1) != TG_KW_VIEW && tg_parse_accept(parser, TG_KW_LATERAL);
    size_t offset = tg_parse_offset(parser);
    TG_TRY(parse_primary(parser, out_relation));
    tg_relation *relation = *out_relation;
    if (lateral && relation->kind != TG_REL_QUERY && relation->kind != TG_REL_FUNCTION) {
        tg_span span = tg_parse_span_from(parser, offset);
        (void)TG_ERR(parser->err, PARSE_SYNTAX_ERROR,
                     "LATERAL needs a subquery or a table function behind it");
        return tg_error_span(parser->err, span.offset, span.len);
    }
    relation->lateral = lateral || relation->lateral;
    return TG_OK;
}

/* A relation with the joins behind it. */
static tg_code parse_joined(tg_parser *parser, tg_relation **out_relation)
{
    tg_relation *left;
    TG_TRY(parse_lateral(parser, &left));
    for (;;) {
        tg_keyword word = tg_parse_word(parser, 0);
        if ((word == TG_KW_PIVOT || word == TG_KW_UNPIVOT) && word_ends_relation(parser)) {
            TG_TRY(parse_pivot(parser, &left));
            continue;
        }
        tg_join_kind kind;
        bool natural;
        if (!accept_join(parser, &kind, &natural)) {
            break;
        }
        tg_relation *join = new_relation(parser, TG_REL_JOIN, left->span.offset);
        join->join = kind;
        join->natural = natural;
        join->left = left;
        TG_TRY(parse_lateral(parser, &join->right));
        if (!natural) {
            TG_TRY(parse_join_condition(parser, join));
        }
        join->span = tg_parse_span_from(parser, left->span.offset);
        left = join;
    }
    *out_relation = left;
    return TG_OK;
}

tg_code tg_parse_from(tg_parser *parser, tg_relation **out_relation)
{
    tg_relation *left;
    TG_TRY(tg_parse_enter(parser));
    TG_TRY(parse_joined(parser, &left));
    while (tg_parse_accept_token(parser, TG_TOK_COMMA)) {
        tg_relation *join = new_relation(parser, TG_REL_JOIN, left->span.offset);
        join->join = TG_JOIN_CROSS;
        join->left = left;
        TG_TRY(parse_joined(parser, &join->right));
        join->span = tg_parse_span_from(parser, left->span.offset);
        left = join;
    }
    tg_parse_leave(parser);
    *out_relation = left;
    return TG_OK;
}
