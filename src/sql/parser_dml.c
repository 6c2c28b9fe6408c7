/* SPDX-License-Identifier: Apache-2.0 */
/* INSERT, DELETE, UPDATE, MERGE. */
#include "sql/parser_int.h"

tg_code tg_parse_where(tg_parser *parser, tg_stmt *stmt)
{
    if (!tg_parse_accept(parser, TG_KW_WHERE)) {
        return TG_OK;
    }
    return tg_parse_predicate(parser, "WHERE", &stmt->where, &stmt->where_text);
}

/* The table that is written, with its alias; columns cannot be renamed. */
static tg_code parse_target(tg_parser *parser, tg_stmt *stmt, const char *statement)
{
    const tg_ident *columns = NULL;
    size_t count = 0;
    TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
    if (tg_parse_word(parser, 0) != TG_KW_WHERE && tg_parse_word(parser, 0) != TG_KW_SET) {
        /* no alias, not even at the end: all rows */
        TG_TRY(tg_parse_table_alias(parser, &stmt->table_alias, &columns, &count));
    }
    if (count > 0) {
        const tg_ident *last = &columns[count - 1];
        (void)TG_ERR(parser->err, COLUMN_ALIASES_NOT_ALLOWED,
                     "columns cannot be renamed in the table of %s", statement);
        return tg_error_span(parser->err, columns->span.offset,
                             (size_t)last->span.offset + last->span.len - columns->span.offset);
    }
    return TG_OK;
}

static tg_code parse_schema_evolution(tg_parser *parser, tg_stmt *stmt)
{
    if (tg_parse_word(parser, 0) == TG_KW_WITH && tg_parse_word(parser, 1) == TG_KW_SCHEMA) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        TG_TRY(tg_parse_expect(parser, TG_KW_EVOLUTION));
        stmt->schema_evolution = true;
    }
    return TG_OK;
}

/* ---- INSERT ---------------------------------------------------------------------------------- */

static tg_code parse_partition(tg_parser *parser, tg_stmt *stmt)
{
    if (!tg_parse_accept(parser, TG_KW_PARTITION)) {
        return TG_OK;
    }
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_VEC(tg_partition_item) items = {0};
    do {
        tg_partition_item item = {0};
        TG_TRY(tg_parse_ident(parser, "a partition column", &item.column));
        if (tg_parse_accept_token(parser, TG_TOK_EQ)) {
            TG_TRY(tg_parse_expr(parser, &item.value));
        }
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    stmt->partition = items.items;
    stmt->partition_count = items.count;
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_accept(parser, TG_KW_IF)) {
        (void)tg_parse_accept2(parser, TG_KW_NOT, TG_KW_EXISTS);
        return tg_parse_unsupported(parser, offset, "PARTITION (..) IF NOT EXISTS");
    }
    return TG_OK;
}

static tg_code parse_insert_replace(tg_parser *parser, tg_stmt *stmt)
{
    if (stmt->table_alias.text.len == 0 && tg_parse_accept(parser, TG_KW_WHERE)) {
        stmt->insert_mode = TG_INSERT_REPLACE_WHERE;
        return tg_parse_predicate(parser, "REPLACE WHERE", &stmt->where, &stmt->where_text);
    }
    if (stmt->table_alias.text.len == 0 && stmt->insert_column_count == 0 &&
        tg_parse_accept(parser, TG_KW_USING)) {
        stmt->insert_mode = TG_INSERT_REPLACE_USING;
        return tg_parse_ident_list(parser, "a key column", &stmt->insert_columns,
                                   &stmt->insert_column_count);
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_ON));
    stmt->insert_mode = TG_INSERT_REPLACE_ON;
    return tg_parse_predicate(parser, "REPLACE ON", &stmt->where, &stmt->where_text);
}

/* INSERT INTO t AS a REPLACE ON ..: only there a table has an alias. */
static bool at_insert_alias(const tg_parser *parser)
{
    if (tg_parse_word(parser, 0) == TG_KW_AS) {
        return true;
    }
    tg_keyword next = tg_parse_word(parser, 1);
    return tg_parse_at_name(parser, 0) && tg_parse_word(parser, 0) != TG_KW_BY &&
           (next == TG_KW_REPLACE || (next == TG_KW_BY && tg_parse_word(parser, 2) == TG_KW_NAME));
}

static tg_code parse_insert_target(tg_parser *parser, tg_stmt *stmt)
{
    (void)tg_parse_accept(parser, TG_KW_TABLE);
    TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
    TG_TRY(parse_partition(parser, stmt));
    if (at_insert_alias(parser)) {
        (void)tg_parse_accept(parser, TG_KW_AS);
        TG_TRY(tg_parse_ident(parser, "an alias", &stmt->table_alias));
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN && !tg_parse_paren_is_query(parser, 0)) {
        TG_TRY(tg_parse_ident_list(parser, "a column name", &stmt->insert_columns,
                                   &stmt->insert_column_count));
    }
    stmt->by_name = tg_parse_accept2(parser, TG_KW_BY, TG_KW_NAME);
    if (stmt->table_alias.text.len > 0 && tg_parse_word(parser, 0) != TG_KW_REPLACE) {
        return tg_parse_fail(parser, "REPLACE ON");
    }
    if (tg_parse_accept(parser, TG_KW_REPLACE)) {
        parser->query_follows = true;
        tg_code code = parse_insert_replace(parser, stmt);
        parser->query_follows = false;
        TG_TRY(code);
        stmt->by_name = tg_parse_accept2(parser, TG_KW_BY, TG_KW_NAME) || stmt->by_name;
    }
    return TG_OK;
}

static tg_code check_insert_forms(tg_parser *parser, const tg_stmt *stmt, size_t offset)
{
    bool is_using = stmt->insert_mode == TG_INSERT_REPLACE_USING;
    bool replaces = is_using || stmt->insert_mode == TG_INSERT_REPLACE_ON ||
                    stmt->insert_mode == TG_INSERT_REPLACE_WHERE;
    if (stmt->partition_count > 0 && replaces) {
        return tg_parse_unsupported(parser, offset, "PARTITION together with REPLACE");
    }
    if (stmt->by_name && stmt->insert_column_count > 0 && !is_using) {
        return tg_parse_unsupported(parser, offset, "BY NAME together with a column list");
    }
    return TG_OK;
}

tg_code tg_parse_insert(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_INSERT;
    size_t offset = tg_parse_offset(parser);
    tg_parse_advance(parser);
    TG_TRY(parse_schema_evolution(parser, stmt));
    if (tg_parse_accept(parser, TG_KW_OVERWRITE)) {
        stmt->insert_mode = TG_INSERT_OVERWRITE;
        (void)tg_parse_accept(parser, TG_KW_INTO);
    } else {
        TG_TRY(tg_parse_expect(parser, TG_KW_INTO));
    }
    tg_insert_mode before = stmt->insert_mode;
    TG_TRY(parse_insert_target(parser, stmt));
    if (before == TG_INSERT_OVERWRITE && stmt->insert_mode != TG_INSERT_OVERWRITE) {
        return tg_parse_unsupported(parser, offset, "INSERT OVERWRITE together with REPLACE");
    }
    TG_TRY(check_insert_forms(parser, stmt, offset));
    if (!tg_parse_is_query_start(parser, 0) && tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        (void)tg_parse_at(parser, TG_KW_VALUES);
        (void)tg_parse_at(parser, TG_KW_SELECT);
        return tg_parse_fail(parser, "a query or VALUES");
    }
    TG_TRY(tg_parse_query_text(parser, &stmt->query, &stmt->query_text));
    if (stmt->insert_mode == TG_INSERT_REPLACE_ON &&
        (tg_parse_word(parser, 0) == TG_KW_AS || tg_parse_at_name(parser, 0))) {
        (void)tg_parse_accept(parser, TG_KW_AS);
        return tg_parse_ident(parser, "an alias", &stmt->source_alias);
    }
    return TG_OK;
}

/* ---- DELETE, UPDATE -------------------------------------------------------------------------- */

tg_code tg_parse_delete(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_DELETE;
    TG_TRY(tg_parse_expect(parser, TG_KW_FROM));
    TG_TRY(parse_target(parser, stmt, "a DELETE"));
    return tg_parse_where(parser, stmt);
}

static tg_code parse_assignments(tg_parser *parser, tg_assignment **out_items, size_t *out_count)
{
    TG_VEC(tg_assignment) items = {0};
    do {
        tg_assignment item;
        TG_TRY(tg_parse_name(parser, "a column name", &item.column));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_EQ, "'='"));
        TG_TRY(tg_parse_expr(parser, &item.value));
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    *out_items = items.items;
    *out_count = items.count;
    return TG_OK;
}

tg_code tg_parse_update(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_UPDATE;
    TG_TRY(parse_target(parser, stmt, "an UPDATE"));
    TG_TRY(tg_parse_expect(parser, TG_KW_SET));
    TG_TRY(parse_assignments(parser, &stmt->assignments, &stmt->assignment_count));
    return tg_parse_where(parser, stmt);
}

/* ---- MERGE ----------------------------------------------------------------------------------- */

static tg_code parse_merge_insert(tg_parser *parser, tg_merge_clause *clause)
{
    clause->action = TG_MERGE_INSERT;
    if (tg_parse_accept_token(parser, TG_TOK_STAR)) {
        clause->star = true;
        return TG_OK;
    }
    TG_VEC(tg_assignment) items = {0};
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'*' or '('"));
    do {
        tg_assignment item = {0};
        TG_TRY(tg_parse_name(parser, "a column name", &item.column));
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'"));
    TG_TRY(tg_parse_expect(parser, TG_KW_VALUES));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    size_t offset = tg_parse_offset(parser);
    tg_expr_vec values = {0};
    TG_TRY(tg_parse_expr_list(parser, &values));
    if (values.count != items.count) {
        (void)TG_ERR(parser->err, INSERT_COLUMN_ARITY_MISMATCH,
                     "INSERT of a MERGE names %zu columns and gives %zu values", items.count,
                     values.count);
        tg_span span = tg_parse_span_from(parser, offset);
        return tg_error_span(parser->err, span.offset, span.len);
    }
    for (size_t i = 0; i < items.count; i++) {
        items.items[i].value = values.items[i];
    }
    clause->assignments = items.items;
    clause->assignment_count = items.count;
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}

static tg_code parse_merge_action(tg_parser *parser, tg_merge_clause *clause)
{
    if (clause->when == TG_MERGE_NOT_MATCHED) {
        TG_TRY(tg_parse_expect(parser, TG_KW_INSERT));
        return parse_merge_insert(parser, clause);
    }
    if (tg_parse_accept(parser, TG_KW_DELETE)) {
        clause->action = TG_MERGE_DELETE;
        return TG_OK;
    }
    (void)tg_parse_at(parser, TG_KW_DELETE);
    TG_TRY(tg_parse_expect(parser, TG_KW_UPDATE));
    clause->action = TG_MERGE_UPDATE;
    TG_TRY(tg_parse_expect(parser, TG_KW_SET));
    if (clause->when == TG_MERGE_MATCHED && tg_parse_accept_token(parser, TG_TOK_STAR)) {
        clause->star = true;
        return TG_OK;
    }
    return parse_assignments(parser, &clause->assignments, &clause->assignment_count);
}

static tg_code parse_merge_clause(tg_parser *parser, tg_merge_clause *clause)
{
    size_t offset = tg_parse_offset(parser);
    TG_TRY(tg_parse_expect(parser, TG_KW_WHEN));
    *clause = (tg_merge_clause){.when = TG_MERGE_MATCHED};
    if (tg_parse_accept(parser, TG_KW_NOT)) {
        clause->when = TG_MERGE_NOT_MATCHED;
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_MATCHED));
    if (clause->when == TG_MERGE_NOT_MATCHED && tg_parse_accept(parser, TG_KW_BY)) {
        if (tg_parse_accept(parser, TG_KW_SOURCE)) {
            clause->when = TG_MERGE_NOT_MATCHED_BY_SOURCE;
        } else {
            TG_TRY(tg_parse_expect(parser, TG_KW_TARGET));
        }
    }
    if (tg_parse_accept(parser, TG_KW_AND)) {
        TG_TRY(tg_parse_expr(parser, &clause->condition));
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_THEN));
    TG_TRY(parse_merge_action(parser, clause));
    clause->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

static tg_code no_condition(tg_merge_when when, tg_error *err)
{
    static const char text[] = "of several WHEN %s clauses only the last one may have no condition";
    switch (when) {
    case TG_MERGE_MATCHED:
        return TG_ERR(err, NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION, text, "MATCHED");
    case TG_MERGE_NOT_MATCHED:
        return TG_ERR(err, NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION, text,
                      "NOT MATCHED");
    default:
        return TG_ERR(err, NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION, text,
                      "NOT MATCHED BY SOURCE");
    }
}

static tg_code check_merge_clauses(tg_parser *parser, const tg_merge_clause *clauses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count && !clauses[i].condition; j++) {
            if (clauses[j].when == clauses[i].when) {
                (void)no_condition(clauses[i].when, parser->err);
                return tg_error_span(parser->err, clauses[i].span.offset, clauses[i].span.len);
            }
        }
    }
    return TG_OK;
}

tg_code tg_parse_merge(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_MERGE;
    TG_TRY(parse_schema_evolution(parser, stmt));
    TG_TRY(tg_parse_expect(parser, TG_KW_INTO));
    TG_TRY(parse_target(parser, stmt, "a MERGE"));
    TG_TRY(tg_parse_expect(parser, TG_KW_USING));
    TG_TRY(tg_parse_relation(parser, &stmt->source));
    TG_TRY(tg_parse_expect(parser, TG_KW_ON));
    TG_TRY(tg_parse_predicate(parser, "ON", &stmt->where, &stmt->where_text));
    TG_VEC(tg_merge_clause) clauses = {0};
    do {
        tg_merge_clause clause;
        TG_TRY(parse_merge_clause(parser, &clause));
        TG_VEC_PUSH(parser->arena, &clauses, clause);
    } while (!tg_parse_at_end(parser));
    stmt->merge_clauses = clauses.items;
    stmt->merge_clause_count = clauses.count;
    return check_merge_clauses(parser, clauses.items, clauses.count);
}
