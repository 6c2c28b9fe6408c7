/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the parser: its state, and what its files offer each other.
 *
 * Recursive descent over the token list. A function that returns tg_code sets parser->err and
 * writes its output only on success. Nothing is parsed twice: where Spark's grammar is ambiguous
 * the parser decides by looking ahead at tokens.
 */
#ifndef TG_SQL_PARSER_INT_H
#define TG_SQL_PARSER_INT_H

#include "sql/ast.h"
#include "sql/token.h"

enum { TG_PARSE_WANTED_MAX = 48, TG_PARSE_DECIMAL_DIGITS_MAX = 38 };

typedef struct tg_parser {
    tg_str text;
    tg_arena *arena;
    tg_token *tokens;
    size_t count; /* the END token included */
    size_t pos;
    int depth;
    tg_error *err;
    /* Keywords that were asked for in vain at token wanted_pos: candidates for "did you mean". */
    tg_keyword wanted[TG_PARSE_WANTED_MAX];
    size_t wanted_count, wanted_pos;
    /* The token that was last taken as an alias without AS, plus one: it may be a misspelt keyword.
     */
    size_t alias_end;
    /* The predicate of INSERT ... REPLACE: a query in parentheses behind a name is no call of it. */
    bool query_follows;
} tg_parser;

TG_CHECKED tg_code tg_parser_init(tg_parser *parser, tg_str text, tg_arena *arena, tg_error *err);

/* ---- tokens (parser.c) ---- */

/* The token ahead of the current one; END beyond the end. */
const tg_token *tg_parse_peek(const tg_parser *parser, size_t ahead);
tg_token_kind tg_parse_kind(const tg_parser *parser, size_t ahead);
/* The keyword ahead, TG_KW_NONE for all other tokens. */
tg_keyword tg_parse_word(const tg_parser *parser, size_t ahead);
void tg_parse_advance(tg_parser *parser);
/* Is the current token this keyword? Remembers that it was wanted. */
bool tg_parse_at(tg_parser *parser, tg_keyword keyword);
bool tg_parse_accept(tg_parser *parser, tg_keyword keyword);
/* Both words or none. */
bool tg_parse_accept2(tg_parser *parser, tg_keyword first, tg_keyword second);
bool tg_parse_accept_token(tg_parser *parser, tg_token_kind kind);
TG_CHECKED tg_code tg_parse_expect(tg_parser *parser, tg_keyword keyword);
/* what: "'('", for the message. */
TG_CHECKED tg_code tg_parse_expect_token(tg_parser *parser, tg_token_kind kind, const char *what);
/* Is the current token a bare word or a quoted name? */
bool tg_parse_at_name(const tg_parser *parser, size_t ahead);
/* Index of the token behind the parenthesis that closes the one at token index open. */
size_t tg_parse_after_paren(const tg_parser *parser, size_t open);
/* Does the parenthesis ahead enclose a query (not an expression or a relation)? */
bool tg_parse_paren_is_query(const tg_parser *parser, size_t ahead);
/* Does the bare word ahead open or go on with a clause here, so that it is no name? Judged by what
 * follows. */
bool tg_parse_word_is_clause(const tg_parser *parser, size_t ahead);
/* Does a query begin at the token ahead? */
bool tg_parse_is_query_start(const tg_parser *parser, size_t ahead);

/* Byte offset of the current token; span from there to the end of the last token taken. */
size_t tg_parse_offset(const tg_parser *parser);
tg_span tg_parse_span_from(const tg_parser *parser, size_t offset);
/* The source text of a token, as a view. */
tg_str tg_parse_token_text(const tg_parser *parser, const tg_token *token);
/* The source text of a span, copied into the arena. */
tg_str tg_parse_text(const tg_parser *parser, tg_span span);

/* ---- errors (parser.c) ---- */

/* Syntax error at the current token; expected: "a table name", shown as detail; may be NULL. */
tg_code tg_parse_fail_(tg_parser *parser, const char *expected);
#define tg_parse_fail(...) tg_error_failure_(tg_parse_fail_(__VA_ARGS__))
/* UNSUPPORTED_FEATURE over the source from offset to the last token taken. */
tg_code tg_parse_unsupported_(tg_parser *parser, size_t offset, const char *what);
#define tg_parse_unsupported(...) tg_error_failure_(tg_parse_unsupported_(__VA_ARGS__))
/* DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION. */
tg_code tg_parse_fail_precision_(tg_parser *parser, tg_span span, int64_t precision);
#define tg_parse_fail_precision(...) tg_error_failure_(tg_parse_fail_precision_(__VA_ARGS__))
/* Counts one level of nesting; TIDEGATE_LIMIT_EXCEEDED beyond the limit. */
TG_CHECKED tg_code tg_parse_enter(tg_parser *parser);
void tg_parse_leave(tg_parser *parser);

/* ---- names, strings, properties (parser_name.c) ---- */

/* what: "a column name". */
TG_CHECKED tg_code tg_parse_ident(tg_parser *parser, const char *what, tg_ident *out_ident);
TG_CHECKED tg_code tg_parse_name(tg_parser *parser, const char *what, tg_name *out_name);
/* (a, b, c) */
TG_CHECKED tg_code tg_parse_ident_list(tg_parser *parser, const char *what,
                                       const tg_ident **out_idents, size_t *out_count);
/* Reads one identifier token without checks; the current token must be a name. */
tg_ident tg_parse_take_ident(tg_parser *parser);
/* One or more string tokens, joined. */
TG_CHECKED tg_code tg_parse_string(tg_parser *parser, const char *what, tg_str *out_text);
/* The value of a hexadecimal digit; -1: it is none. */
int tg_parse_hex_digit(char c);
/* (key = value, ...) */
TG_CHECKED tg_code tg_parse_properties(tg_parser *parser, tg_property **out_items,
                                       size_t *out_count);
/* IDENTIFIER('a.b') at the current token? */
bool tg_parse_at_identifier_clause(const tg_parser *parser);
TG_CHECKED tg_code tg_parse_identifier_clause(tg_parser *parser, tg_name *out_name);

/* ---- types and literals (parser_type.c, parser_literal.c, parser_interval.c) ---- */

TG_CHECKED tg_code tg_parse_type(tg_parser *parser, const tg_type **out_type);
/* A column of a schema text: name type [NOT NULL] [COMMENT '..']; colon: name: type. */
TG_CHECKED tg_code tg_parse_field(tg_parser *parser, bool colon_allowed, tg_field *out_field);
/* New nodes: they span the source from offset to the last token taken. args is copied. */
tg_expr *tg_parse_new_expr(tg_parser *parser, tg_expr_kind kind, size_t offset,
                           tg_expr *const *args, size_t count);
tg_expr *tg_parse_new_literal(tg_parser *parser, tg_value value, size_t offset);
tg_expr *tg_parse_new_text(tg_parser *parser, tg_str text, size_t offset);
/* The call that special syntax stands for. */
tg_expr *tg_parse_new_call(tg_parser *parser, const char *function, size_t offset,
                           tg_expr *const *args, size_t count);
bool tg_parse_is_number(tg_token_kind kind);
/* The number at the current token; is_negative: a minus stood before it. */
TG_CHECKED tg_code tg_parse_number(tg_parser *parser, bool is_negative, size_t offset,
                                   tg_expr **out_expr);
/* Word and string at the current token: DATE'..', X'..', ... */
TG_CHECKED tg_code tg_parse_typed_literal(tg_parser *parser, tg_expr **out_expr);
/* INTERVAL with what makes it a literal or an interval expression? */
bool tg_parse_at_interval(const tg_parser *parser);
TG_CHECKED tg_code tg_parse_interval(tg_parser *parser, tg_expr **out_expr);

/* ---- expressions (parser_expr.c, parser_primary.c, parser_call.c) ---- */

typedef TG_VEC(tg_expr *) tg_expr_vec;

TG_CHECKED tg_code tg_parse_expr(tg_parser *parser, tg_expr **out_expr);
/* Arithmetic and comparison only: what may stand on each side of BETWEEN, IN, LIKE. */
TG_CHECKED tg_code tg_parse_value_expr(tg_parser *parser, tg_expr **out_expr);
TG_CHECKED tg_code tg_parse_expr_list(tg_parser *parser, tg_expr_vec *out_exprs);
TG_CHECKED tg_code tg_parse_primary(tg_parser *parser, tg_expr **out_expr);
/* From the parenthesis on. */
TG_CHECKED tg_code tg_parse_call(tg_parser *parser, tg_name name, size_t offset,
                                 tg_expr **out_expr);
TG_CHECKED tg_code tg_parse_window_spec(tg_parser *parser, tg_window_spec **out_spec);
TG_CHECKED tg_code tg_parse_sort_items(tg_parser *parser, tg_sort_item **out_items,
                                       size_t *out_count);
/* expression [[AS] alias | AS (alias, ..)] */
TG_CHECKED tg_code tg_parse_select_item(tg_parser *parser, tg_select_item *out_item);

/* ---- queries (parser_query.c, parser_relation.c) ---- */

TG_CHECKED tg_code tg_parse_query(tg_parser *parser, tg_query **out_query);
/* ( query ) */
TG_CHECKED tg_code tg_parse_paren_query(tg_parser *parser, tg_query **out_query);
/* VALUES row, row: from the word on. */
TG_CHECKED tg_code tg_parse_values(tg_parser *parser, tg_query_body **out_body);
TG_CHECKED tg_code tg_parse_from(tg_parser *parser, tg_relation **out_relation);
/* A source of AUTO CDC: one table, STREAM(..) or (query), without alias. */
TG_CHECKED tg_code tg_parse_source(tg_parser *parser, tg_relation **out_relation);
TG_CHECKED tg_code tg_parse_table_alias(tg_parser *parser, tg_ident *out_alias,
                                        const tg_ident **out_columns, size_t *out_count);

/* ---- statements (parser_statement.c, parser_create.c, parser_clause.c, parser_flow.c,
 * parser_command.c) ---- */

TG_CHECKED tg_code tg_parse_statement(tg_parser *parser, tg_stmt **out_stmt);
TG_CHECKED tg_code tg_parse_create(tg_parser *parser, tg_stmt *stmt);
/* APPLY CHANGES INTO .. */
TG_CHECKED tg_code tg_parse_apply_changes(tg_parser *parser, tg_stmt *stmt);
/* FLOW .. of CREATE STREAMING TABLE, from the word behind FLOW on. */
TG_CHECKED tg_code tg_parse_inline_flow(tg_parser *parser, tg_stmt *stmt);
/* CREATE FLOW, from the flow's name on. */
TG_CHECKED tg_code tg_parse_create_flow(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_clauses(tg_parser *parser, tg_stmt *stmt);
/* SCHEDULE ... or TRIGGER ON UPDATE ... */
tg_code tg_parse_schedule(tg_parser *parser, tg_dataset_clauses *clauses);
/* parser_dml.c; INSERT from its word on, the others behind it. */
TG_CHECKED tg_code tg_parse_insert(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_delete(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_update(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_merge(tg_parser *parser, tg_stmt *stmt);
/* [WHERE predicate] */
TG_CHECKED tg_code tg_parse_where(tg_parser *parser, tg_stmt *stmt);
/* An item of FROM with its alias. */
TG_CHECKED tg_code tg_parse_relation(tg_parser *parser, tg_relation **out_relation);
TG_CHECKED tg_code tg_parse_command(tg_parser *parser, tg_stmt *stmt, bool *out_known);

/* ---- statements about one table (parser_table.c) ---- */

/* A name, or a string: the path of a Delta table. */
TG_CHECKED tg_code tg_parse_table_or_path(tg_parser *parser, tg_name *out_name);
/* Behind ALTER TABLE name. */
TG_CHECKED tg_code tg_parse_alter_table(tg_parser *parser, tg_stmt *stmt);
bool tg_parse_at_comment_on(const tg_parser *parser);
TG_CHECKED tg_code tg_parse_comment_on(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_optimize(tg_parser *parser, tg_stmt *stmt);
TG_CHECKED tg_code tg_parse_vacuum(tg_parser *parser, tg_stmt *stmt);
/* [LIMIT n] */
TG_CHECKED tg_code tg_parse_history_limit(tg_parser *parser, tg_stmt *stmt);
/* [PARTITION (column = value, ...)] */
TG_CHECKED tg_code tg_parse_partition_spec(tg_parser *parser, tg_stmt *stmt);
/* [(key)] of SHOW TBLPROPERTIES */
TG_CHECKED tg_code tg_parse_property_key(tg_parser *parser, tg_stmt *stmt);

/* All tokens up to the end of the statement, as text. */
TG_CHECKED tg_code tg_parse_rest(tg_parser *parser, tg_str *out_text);
/* VERSION | TIMESTAMP AS OF expression, into the relation; nothing happens where it does not stand. */
TG_CHECKED tg_code tg_parse_time_travel(tg_parser *parser, tg_relation *relation);
/* Behind ( ... ), whatever stands in it. */
TG_CHECKED tg_code tg_parse_skip_paren(tg_parser *parser);
bool tg_parse_at_end(const tg_parser *parser);
/* Query and its text, into the statement. */
TG_CHECKED tg_code tg_parse_query_text(tg_parser *parser, tg_query **out_query, tg_str *out_text);
/* Expression and its text: the predicate of the clause named what. */
TG_CHECKED tg_code tg_parse_predicate(tg_parser *parser, const char *what, tg_expr **out_expr,
                                      tg_str *out_text);

#endif
