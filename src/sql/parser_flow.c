/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: the short form (FLOW ... in CREATE STREAMING TABLE, BY NAME behind the predicate) and the
 * long form (CREATE FLOW ... AS INSERT INTO t BY NAME ..., BY NAME in front of it). BY NAME is
 * required in both.
 */
#include "sql/parser_int.h"

const char *tg_flow_kind_name(tg_flow_kind kind)
{
    static const char *const NAMES[] = {"complete",
                                        "append",
                                        "once",
                                        "REPLACE WHERE",
                                        "REPLACE USING",
                                        "AUTO CDC",
                                        "AUTO CDC FROM SNAPSHOT"};
    return NAMES[kind];
}

const char *tg_flow_kind_event_name(tg_flow_kind kind)
{
    static const char *const NAMES[] = {"MATERIALIZED_VIEW", "APPEND",        "APPEND",
                                        "REPLACE_WHERE",     "REPLACE_USING", "CHANGE",
                                        "SNAPSHOT_CHANGE"};
    return NAMES[kind];
}

static tg_code expect_by_name(tg_parser *parser)
{
    if (tg_parse_accept2(parser, TG_KW_BY, TG_KW_NAME)) {
        return TG_OK;
    }
    (void)tg_parse_at(parser, TG_KW_BY);
    (void)tg_parse_fail(parser, "BY NAME");
    bool is_token = tg_parse_kind(parser, 0) != TG_TOK_ERROR; /* else the error is another one */
    if (!is_token || (parser->err && parser->err->hint)) {
        return TG_INVALID_ARGUMENT;
    }
    return tg_error_hint(parser->err, "BY NAME is required: columns of flows are matched by name.");
}

static tg_code parse_flow_query(tg_parser *parser, tg_flow_spec *flow)
{
    if (!tg_parse_is_query_start(parser, 0) && tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        (void)tg_parse_at(parser, TG_KW_SELECT);
        return tg_parse_fail(parser, "a query");
    }
    return tg_parse_query_text(parser, &flow->query, &flow->query_text);
}

/* USING (k, ..) SEQUENCE BY e */
static tg_code parse_replace_using(tg_parser *parser, tg_flow_spec *flow)
{
    flow->kind = TG_FLOW_REPLACE_USING;
    TG_TRY(tg_parse_ident_list(parser, "a key column", &flow->keys, &flow->key_count));
    TG_TRY(tg_parse_expect(parser, TG_KW_SEQUENCE));
    TG_TRY(tg_parse_expect(parser, TG_KW_BY));
    return tg_parse_value_expr(parser, &flow->sequence_by);
}

/* WHERE p or USING ..., behind REPLACE. */
static tg_code parse_replace(tg_parser *parser, tg_flow_spec *flow)
{
    if (tg_parse_accept(parser, TG_KW_USING)) {
        return parse_replace_using(parser, flow);
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_WHERE));
    flow->kind = TG_FLOW_REPLACE_WHERE;
    return tg_parse_predicate(parser, "REPLACE WHERE", &flow->predicate, &flow->predicate_text);
}

/* FROM source KEYS (..) and the clauses behind, which are kept as text. */
static tg_code parse_cdc_body(tg_parser *parser, tg_flow_spec *flow)
{
    flow->kind = TG_FLOW_AUTO_CDC;
    TG_TRY(tg_parse_expect(parser, TG_KW_FROM));
    if (tg_parse_word(parser, 0) == TG_KW_SNAPSHOT &&
        tg_parse_kind(parser, 1) == TG_TOK_LEFT_PAREN) {
        tg_parse_advance(parser);
        flow->kind = TG_FLOW_AUTO_CDC_FROM_SNAPSHOT;
        TG_TRY(tg_parse_paren_query(parser, &flow->query));
        if (tg_parse_accept2(parser, TG_KW_WITH, TG_KW_VERSION)) {
            TG_TRY(tg_parse_paren_query(parser, &flow->version_query));
        }
    } else {
        TG_TRY(tg_parse_source(parser, &flow->cdc_source));
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_KEYS));
    TG_TRY(tg_parse_ident_list(parser, "a key column", &flow->keys, &flow->key_count));
    return tg_parse_rest(parser, &flow->cdc_text);
}

tg_code tg_parse_inline_flow(tg_parser *parser, tg_stmt *stmt)
{
    size_t offset = tg_parse_offset(parser);
    tg_flow_spec *flow = TG_NEW(parser->arena, tg_flow_spec);
    stmt->flow = flow;
    if (tg_parse_accept2(parser, TG_KW_AUTO, TG_KW_CDC)) {
        flow->once = tg_parse_accept(parser, TG_KW_ONCE);
        TG_TRY(parse_cdc_body(parser, flow));
    } else if (tg_parse_accept(parser, TG_KW_INSERT)) {
        flow->once = tg_parse_accept(parser, TG_KW_ONCE);
        flow->kind = flow->once ? TG_FLOW_ONCE : TG_FLOW_APPEND;
        TG_TRY(expect_by_name(parser));
        TG_TRY(parse_flow_query(parser, flow));
    } else if (tg_parse_accept(parser, TG_KW_REPLACE)) {
        TG_TRY(parse_replace(parser, flow));
        TG_TRY(expect_by_name(parser));
        TG_TRY(parse_flow_query(parser, flow));
    } else {
        return tg_parse_fail(parser, "REPLACE WHERE, REPLACE USING, INSERT or AUTO CDC");
    }
    flow->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

/* INSERT [ONCE] INTO [ONCE] t BY NAME [REPLACE ...] query: behind INSERT. */
static tg_code parse_insert_flow(tg_parser *parser, tg_stmt *stmt, tg_flow_spec *flow)
{
    flow->once = tg_parse_accept(parser, TG_KW_ONCE);
    if (tg_parse_word(parser, 0) == TG_KW_OVERWRITE) {
        (void)tg_parse_fail(parser, "INTO");
        return tg_error_hint(parser->err, "A flow cannot INSERT OVERWRITE; use REPLACE WHERE.");
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_INTO));
    flow->once = tg_parse_accept(parser, TG_KW_ONCE) || flow->once;
    TG_TRY(tg_parse_name(parser, "the name of the target table", &stmt->target));
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
        (void)tg_parse_fail(parser, "BY NAME");
        return tg_error_hint(parser->err,
                             "A flow takes no column list: columns are matched by name.");
    }
    TG_TRY(expect_by_name(parser));
    if (tg_parse_accept(parser, TG_KW_REPLACE)) {
        if (flow->once) {
            return tg_parse_fail(parser, "a query (ONCE cannot be combined with REPLACE)");
        }
        TG_TRY(parse_replace(parser, flow));
    } else {
        flow->kind = flow->once ? TG_FLOW_ONCE : TG_FLOW_APPEND;
    }
    return parse_flow_query(parser, flow);
}

tg_code tg_parse_create_flow(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_FLOW;
    tg_flow_spec *flow = TG_NEW(parser->arena, tg_flow_spec);
    stmt->flow = flow;
    TG_TRY(tg_parse_name(parser, "the name of the flow", &stmt->name));
    if (tg_parse_accept(parser, TG_KW_COMMENT)) {
        TG_TRY(tg_parse_string(parser, "a comment", &stmt->clauses.comment));
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_AS));
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_accept(parser, TG_KW_INSERT)) {
        TG_TRY(parse_insert_flow(parser, stmt, flow));
    } else if (tg_parse_accept2(parser, TG_KW_AUTO, TG_KW_CDC)) {
        flow->once = tg_parse_accept(parser, TG_KW_ONCE);
        TG_TRY(tg_parse_expect(parser, TG_KW_INTO));
        TG_TRY(tg_parse_name(parser, "the name of the target table", &stmt->target));
        TG_TRY(parse_cdc_body(parser, flow));
    } else {
        return tg_parse_fail(parser, "INSERT INTO or AUTO CDC INTO");
    }
    flow->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

tg_code tg_parse_apply_changes(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_CREATE_FLOW;
    tg_flow_spec *flow = TG_NEW(parser->arena, tg_flow_spec);
    stmt->flow = flow;
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    TG_TRY(tg_parse_expect(parser, TG_KW_CHANGES));
    TG_TRY(tg_parse_expect(parser, TG_KW_INTO));
    if (tg_parse_word(parser, 0) == TG_KW_LIVE && tg_parse_kind(parser, 1) == TG_TOK_DOT) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
    }
    TG_TRY(tg_parse_name(parser, "the name of the target table", &stmt->target));
    stmt->name = stmt->target;
    TG_TRY(parse_cdc_body(parser, flow));
    flow->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}
