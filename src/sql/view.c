/* SPDX-License-Identifier: Apache-2.0 */
/* Views as queries: CREATE VIEW v (a, b) AS q means SELECT * FROM (q) AS v (a, b). */
#include "sql/sql.h"

tg_query *tg_sql_select_star(tg_arena *arena, tg_expr *star, tg_relation *from, tg_span span)
{
    tg_select_item *item = TG_NEW(arena, tg_select_item);
    *item = (tg_select_item){.expr = star};
    tg_select *select = TG_NEW(arena, tg_select);
    *select = (tg_select){.span = span, .items = item, .item_count = 1, .from = from};
    tg_query_body *body = TG_NEW(arena, tg_query_body);
    *body = (tg_query_body){.kind = TG_BODY_SELECT, .span = span, .select = select};
    tg_query *query = TG_NEW(arena, tg_query);
    *query = (tg_query){.span = span, .body = body};
    return query;
}

tg_query *tg_sql_view_query(const tg_stmt *stmt, tg_arena *arena)
{
    if (stmt->column_count == 0) {
        return stmt->query;
    }
    tg_ident *names = TG_NEW_ARRAY(arena, tg_ident, stmt->column_count);
    for (size_t i = 0; i < stmt->column_count; i++) {
        names[i] = stmt->columns[i].name;
    }
    tg_relation *from = TG_NEW(arena, tg_relation);
    *from = (tg_relation){.kind = TG_REL_QUERY,
                          .span = stmt->span,
                          .alias = stmt->name.parts[stmt->name.count - 1],
                          .column_aliases = names,
                          .column_alias_count = stmt->column_count,
                          .query = stmt->query};
    tg_expr *star = TG_NEW(arena, tg_expr);
    *star = (tg_expr){.kind = TG_EXPR_STAR, .span = stmt->span};
    return tg_sql_select_star(arena, star, from, stmt->span);
}
