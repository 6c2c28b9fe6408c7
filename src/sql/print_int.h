/* SPDX-License-Identifier: Apache-2.0 */
/* Private to sql: what the printers of syntax trees share. */
#ifndef TG_SQL_PRINT_INT_H
#define TG_SQL_PRINT_INT_H

#include "sql/ast.h"

typedef struct tg_printer {
    tg_buf *out;
    bool pretty;
    int indent;
} tg_printer;

/* How tightly a node binds; an operand of lower level goes into parentheses. */
enum {
    TG_LEVEL_OR = 1,
    TG_LEVEL_AND,
    TG_LEVEL_NOT,
    TG_LEVEL_PREDICATE,
    TG_LEVEL_COMPARE,
    TG_LEVEL_PIPE,
    TG_LEVEL_HAT,
    TG_LEVEL_AMPERSAND,
    TG_LEVEL_SHIFT,
    TG_LEVEL_ADD,
    TG_LEVEL_MULTIPLY,
    TG_LEVEL_UNARY,
    TG_LEVEL_PRIMARY,
    TG_LEVEL_PAREN /* always in parentheses */
};

/* A clause begins: on a line of its own when pretty. */
void tg_printer_clause(tg_printer *p);
void tg_printer_name(tg_printer *p, const tg_name *name);
void tg_printer_idents(tg_printer *p, const tg_ident *idents, size_t count); /* (a, b) */
void tg_printer_string(tg_printer *p, tg_str text);
void tg_printer_properties(tg_printer *p, const tg_property *items, size_t count);
void tg_printer_type(tg_printer *p, const tg_type *type);
/* level: the least that stands without parentheses. */
void tg_printer_expr(tg_printer *p, const tg_expr *expr, int level);
void tg_printer_exprs(tg_printer *p, tg_expr *const *exprs, size_t count);
void tg_printer_relation(tg_printer *p, const tg_relation *relation);
void tg_printer_query(tg_printer *p, const tg_query *query);
/* Does the query's text begin with a parenthesis? Behind a name it would make a call of it. */
bool tg_printer_is_open(const tg_query *query);
void tg_printer_stmt(tg_printer *p, const tg_stmt *stmt);

#endif
