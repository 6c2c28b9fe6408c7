/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical text of bound trees: columns renumbered in order of first appearance, literals with
 * their types, tables by full name. Aliases, formatting and the ids that binding happened to give
 * do not show; everything that bears on the answer does.
 */
#include "sql/sql.h"
#include "sql/functions.h"

typedef struct canonical {
    tg_buf *out;
    tg_arena *arena;
    TG_VEC(uint32_t) ids; /* position + 1 is the canonical number */
} canonical;

static void put_rel(canonical *c, const tg_rel *rel);
static void put_expr(canonical *c, const tg_bexpr *expr);

static void put(canonical *c, const char *text)
{
    tg_buf_addz(c->out, text);
}

static void put_id(canonical *c, uint32_t id)
{
    size_t at = 0;
    while (at < c->ids.count && c->ids.items[at] != id) {
        at++;
    }
    if (at == c->ids.count) {
        TG_VEC_PUSH(c->arena, &c->ids, id);
    }
    tg_buf_addf(c->out, "#%zu", at + 1);
}

static void put_type(canonical *c, const tg_type *type)
{
    tg_buf_adds(c->out, tg_type_text(c->arena, type));
}

static void put_exprs(canonical *c, tg_bexpr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(c, i > 0 ? ", " : "");
        put_expr(c, exprs[i]);
    }
}

static void put_sorts(canonical *c, const tg_bsort *sorts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(c, i > 0 ? ", " : "");
        put_expr(c, sorts[i].expr);
        put(c, sorts[i].descending ? " desc" : " asc");
        put(c, sorts[i].nulls_first ? " nulls first" : " nulls last");
    }
}

static void put_window(canonical *c, const tg_bwindow *window)
{
    put(c, " over (partition by [");
    put_exprs(c, window->partition_by, window->partition_count);
    put(c, "] order by [");
    put_sorts(c, window->order_by, window->order_count);
    tg_buf_addf(c->out, "] frame %d %d ", (int)window->frame, (int)window->start);
    if (window->start_offset) {
        put_expr(c, window->start_offset);
    }
    tg_buf_addf(c->out, " %d ", (int)window->end);
    if (window->end_offset) {
        put_expr(c, window->end_offset);
    }
    put(c, ")");
}

static void put_call(canonical *c, const tg_bexpr *expr)
{
    tg_buf_addf(c->out, "%s(", expr->function->name);
    put(c, expr->distinct ? "distinct " : "");
    put_exprs(c, expr->args, expr->arg_count);
    put(c, ")");
    put(c, expr->ignore_nulls ? " ignore nulls" : "");
    if (expr->order_count > 0) {
        put(c, " order by [");
        put_sorts(c, expr->order_by, expr->order_count);
        put(c, "]");
    }
    if (expr->filter) {
        put(c, " filter ");
        put_expr(c, expr->filter);
    }
    if (expr->window) {
        put_window(c, expr->window);
    }
    put(c, ":");
    put_type(c, expr->type);
}

static void put_expr(canonical *c, const tg_bexpr *expr)
{
    static const char *const CASTS[] = {"cast", "try_cast", "cast"};
    switch (expr->kind) {
    case TG_B_LITERAL:
        if (expr->literal.is_null) {
            put(c, "null:");
            put_type(c, expr->type);
        } else {
            tg_buf_adds(c->out, tg_value_literal(c->arena, expr->literal));
        }
        return;
    case TG_B_COLUMN:
    case TG_B_LAMBDA_VAR:
        put_id(c, expr->column_id);
        return;
    case TG_B_CALL:
    case TG_B_AGGREGATE:
    case TG_B_WINDOW:
        put_call(c, expr);
        return;
    case TG_B_CAST:
        tg_buf_addf(c->out, "%s(", CASTS[expr->cast_mode]);
        put_expr(c, expr->args[0]);
        put(c, " as ");
        put_type(c, expr->type);
        put(c, ")");
        return;
    case TG_B_SUBQUERY:
    case TG_B_EXISTS:
    case TG_B_IN_QUERY:
        put(c, expr->negated ? "not " : "");
        put(c, expr->kind == TG_B_SUBQUERY ? "scalar"
               : expr->kind == TG_B_EXISTS ? "exists"
                                           : "in");
        put(c, "([");
        put_exprs(c, expr->args, expr->arg_count);
        put(c, "] ");
        put_rel(c, expr->rel);
        put(c, ")");
        return;
    case TG_B_LAMBDA:
        put(c, "(");
        for (size_t i = 0; i < expr->param_count; i++) {
            put(c, i > 0 ? ", " : "");
            put_id(c, expr->params[i]);
        }
        put(c, ") -> ");
        put_expr(c, expr->args[0]);
        return;
    case TG_B_FIELD:
        put_expr(c, expr->args[0]);
        tg_buf_addf(c->out, ".%zu", expr->field_index);
        return;
    }
}

static void put_columns(canonical *c, const tg_column *columns, size_t count)
{
    put(c, " -> ");
    for (size_t i = 0; i < count; i++) {
        put(c, i > 0 ? " " : "");
        put_id(c, columns[i].id);
    }
}

static void put_scan(canonical *c, const tg_rel *rel)
{
    tg_buf_addf(c->out, "scan %.*s (", TG_SARG(rel->table->name));
    for (size_t i = 0; i < rel->column_count; i++) {
        const tg_field *field = &rel->table->schema.fields[rel->scan_fields[i]];
        tg_buf_addf(c->out, "%s%.*s ", i > 0 ? ", " : "", TG_SARG(field->name));
        put_type(c, field->type);
    }
    put(c, ")");
    put_columns(c, rel->columns, rel->column_count);
}

static void put_rel(canonical *c, const tg_rel *rel)
{
    static const char *const KINDS[] = {"scan",   "values", "one row",   "project",
                                        "filter", "join",   "aggregate", "window",
                                        "sort",   "limit",  "distinct",  "set"};
    if (rel->kind == TG_R_SCAN) {
        put_scan(c, rel);
        return;
    }
    if (rel->input) {
        put_rel(c, rel->input);
        put(c, "\n");
    }
    if (rel->right) {
        put(c, "{ ");
        put_rel(c, rel->right);
        put(c, " }\n");
    }
    put(c, KINDS[rel->kind]);
    /* The 0 stood for a node that is no more: without it all fingerprints would change. */
    tg_buf_addf(c->out, " %d %d %d 0 %d [", (int)rel->join, (int)rel->op, (int)rel->all,
                (int)rel->group_count);
    put_exprs(c, rel->exprs, rel->expr_count);
    put(c, "]");
    for (size_t i = 0; i < rel->row_count; i++) {
        put(c, " (");
        put_exprs(c, rel->rows[i], rel->column_count);
        put(c, ")");
    }
    const tg_bexpr *single[3] = {rel->condition, rel->limit, rel->offset};
    for (size_t i = 0; i < 3; i++) {
        put(c, single[i] ? " " : " -");
        if (single[i]) {
            put_expr(c, single[i]);
        }
    }
    put_sorts(c, rel->order_by, rel->order_count);
    put_columns(c, rel->columns, rel->column_count);
}

void tg_sql_canonical_rel(const tg_rel *rel, tg_buf *out)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    canonical c = {.out = out, .arena = arena};
    put_rel(&c, rel);
}
