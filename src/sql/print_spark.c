/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bound expressions as Databricks SQL: predicates of states and messages, and queries for Spark.
 * Types and casts are explicit; what has no operator form prints as a call.
 */
#include "sql/sql_int.h"
#include "sql/token.h"

typedef tg_print_context printer;

static tg_code print(printer *p, const tg_bexpr *expr, bool paren, tg_error *err);

static const char *infix(const char *name)
{
    static const char *const SIGNS[] = {"+", "-",  "*",   "/", "%", "||", "=",  "<>", "<",  "<=",
                                        ">", ">=", "<=>", "&", "|", "^",  "<<", ">>", ">>>"};
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(*SIGNS); i++) {
        if (strcmp(SIGNS[i], name) == 0) {
            return SIGNS[i];
        }
    }
    return strcmp(name, "and") == 0   ? "AND"
           : strcmp(name, "or") == 0  ? "OR"
           : strcmp(name, "div") == 0 ? "DIV"
                                      : NULL;
}

static tg_code print_args(printer *p, const tg_bexpr *expr, size_t from, tg_error *err)
{
    for (size_t i = from; i < expr->arg_count; i++) {
        tg_buf_addz(p->out, i > from ? ", " : "");
        TG_TRY(print(p, expr->args[i], false, err));
    }
    return TG_OK;
}

/* ---- forms of their own ---------------------------------------------------------------------- */

static tg_code print_case(printer *p, const tg_bexpr *expr, tg_error *err)
{
    size_t i = 0;
    tg_buf_addz(p->out, "CASE");
    for (; i + 1 < expr->arg_count; i += 2) {
        tg_buf_addz(p->out, " WHEN ");
        TG_TRY(print(p, expr->args[i], false, err));
        tg_buf_addz(p->out, " THEN ");
        TG_TRY(print(p, expr->args[i + 1], false, err));
    }
    if (i < expr->arg_count) {
        tg_buf_addz(p->out, " ELSE ");
        TG_TRY(print(p, expr->args[i], false, err));
    }
    tg_buf_addz(p->out, " END");
    return TG_OK;
}

/* left word right, each in parentheses when it is an operator. */
static tg_code print_pair(printer *p, const tg_bexpr *left, const char *word, const tg_bexpr *right,
                          tg_error *err)
{
    TG_TRY(print(p, left, true, err));
    tg_buf_addf(p->out, " %s ", word);
    return print(p, right, true, err);
}

static const char *suffix_of(const char *name)
{
    static const struct {
        const char *name, *suffix;
    } SUFFIXES[] = {{"isnull", " IS NULL"},
                    {"isnotnull", " IS NOT NULL"},
                    {"is_true", " IS TRUE"},
                    {"is_false", " IS FALSE"}};
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++) {
        if (strcmp(name, SUFFIXES[i].name) == 0) {
            return SUFFIXES[i].suffix;
        }
    }
    return NULL;
}

static bool is_text(const tg_bexpr *expr)
{
    return expr->kind == TG_B_LITERAL && expr->type->kind == TG_TYPE_STRING &&
           !expr->literal.is_null;
}

/* A bare word: the unit of a date function, the field of extract. */
static bool is_unit(const tg_bexpr *call)
{
    return call->arg_count >= 2 && is_text(call->args[0]) &&
           tg_keyword_takes_unit(tg_keyword_find(tg_str_from(call->function->name))) &&
           tg_keyword_is_unit(call->args[0]->literal.as.bytes);
}

/* Forms with words. */
static tg_code print_form(printer *p, const tg_bexpr *expr, bool *out_done, tg_error *err)
{
    const char *name = expr->function->name, *suffix = suffix_of(name);
    *out_done = true;
    if (suffix) {
        TG_TRY(print(p, expr->args[0], true, err));
        tg_buf_addz(p->out, suffix);
        return TG_OK;
    }
    if (strcmp(name, "in") == 0) {
        TG_TRY(print(p, expr->args[0], true, err));
        tg_buf_addz(p->out, " IN (");
        TG_TRY(print_args(p, expr, 1, err));
        tg_buf_addz(p->out, ")");
        return TG_OK;
    }
    if (strcmp(name, "between") == 0) {
        TG_TRY(print_pair(p, expr->args[0], "BETWEEN", expr->args[1], err));
        tg_buf_addz(p->out, " AND ");
        return print(p, expr->args[2], true, err);
    }
    if (strcmp(name, "like") == 0 || strcmp(name, "ilike") == 0 || strcmp(name, "rlike") == 0) {
        TG_TRY(print_pair(p, expr->args[0], name, expr->args[1], err));
        if (expr->arg_count == 3) {
            tg_buf_addz(p->out, " ESCAPE ");
            return print(p, expr->args[2], true, err);
        }
        return TG_OK;
    }
    if (strcmp(name, "element") == 0) {
        TG_TRY(print(p, expr->args[0], true, err));
        tg_buf_addz(p->out, "[");
        TG_TRY(print(p, expr->args[1], false, err));
        tg_buf_addz(p->out, "]");
        return TG_OK;
    }
    if (strcmp(name, "interval") == 0 && is_text(expr->args[1])) {
        tg_buf_addz(p->out, "INTERVAL (");
        TG_TRY(print(p, expr->args[0], false, err));
        tg_buf_addf(p->out, ") %.*s", TG_SARG(expr->args[1]->literal.as.bytes));
        return TG_OK;
    }
    if (strcmp(name, "nullif") == 0) { /* bound as (value, is it the one to hide?) */
        tg_buf_addz(p->out, "if(");
        TG_TRY(print(p, expr->args[1], false, err));
        tg_buf_addz(p->out, ", NULL, ");
        TG_TRY(print(p, expr->args[0], false, err));
        tg_buf_addz(p->out, ")");
        return TG_OK;
    }
    if (strcmp(name, "timestamp_seconds") == 0) { /* bound over the cast that it stands for */
        return print(p, expr->args[0], false, err);
    }
    *out_done = false;
    return TG_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static tg_code print_call(printer *p, const tg_bexpr *expr, bool paren, tg_error *err)
{
    const char *name = expr->function->name;
    const char *sign = expr->arg_count == 2 ? infix(name) : NULL;
    bool is_not = strcmp(name, "not") == 0 || strcmp(name, "~") == 0;
    bool done = true;
    if (strcmp(name, "case") == 0) {
        return print_case(p, expr, err);
    }
    tg_buf_addz(p->out, paren ? "(" : "");
    if (sign) {
        TG_TRY(print_pair(p, expr->args[0], sign, expr->args[1], err));
    } else if (is_not) {
        tg_buf_addz(p->out, name[0] == 'n' ? "NOT " : "~");
        TG_TRY(print(p, expr->args[0], true, err));
    } else {
        TG_TRY(print_form(p, expr, &done, err));
    }
    if (!done) {
        size_t from = is_unit(expr) ? 1 : 0;
        tg_buf_addf(p->out, "%s(", strcmp(name, "struct_row") == 0 ? "" : name);
        if (from > 0) {
            tg_buf_addf(p->out, "%.*s, ", TG_SARG(expr->args[0]->literal.as.bytes));
        }
        TG_TRY(print_args(p, expr, from, err));
        tg_buf_addz(p->out, ")");
    }
    tg_buf_addz(p->out, paren ? ")" : "");
    return TG_OK;
}

tg_code tg_print_spark_order(tg_print_context *p, const tg_bsort *items, size_t count,
                             tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(p->out, i > 0 ? ", " : "ORDER BY ");
        TG_TRY(print(p, items[i].expr, false, err));
        tg_buf_addf(p->out, " %s NULLS %s", items[i].descending ? "DESC" : "ASC",
                    items[i].nulls_first ? "FIRST" : "LAST");
    }
    return TG_OK;
}

static tg_code print_bound(printer *p, tg_frame_bound_kind kind, const tg_bexpr *offset,
                           tg_error *err)
{
    static const char *const WORDS[] = {[TG_BOUND_UNBOUNDED_PRECEDING] = "UNBOUNDED PRECEDING",
                                        [TG_BOUND_PRECEDING] = " PRECEDING",
                                        [TG_BOUND_CURRENT_ROW] = "CURRENT ROW",
                                        [TG_BOUND_FOLLOWING] = " FOLLOWING",
                                        [TG_BOUND_UNBOUNDED_FOLLOWING] = "UNBOUNDED FOLLOWING"};
    if (kind == TG_BOUND_PRECEDING || kind == TG_BOUND_FOLLOWING) {
        TG_TRY(print(p, offset, true, err));
    }
    tg_buf_addz(p->out, WORDS[kind]);
    return TG_OK;
}

static tg_code print_over(printer *p, const tg_bwindow *window, tg_error *err)
{
    tg_buf_addz(p->out, " OVER (");
    for (size_t i = 0; i < window->partition_count; i++) {
        tg_buf_addz(p->out, i > 0 ? ", " : "PARTITION BY ");
        TG_TRY(print(p, window->partition_by[i], false, err));
    }
    tg_buf_addz(p->out, window->partition_count > 0 && window->order_count > 0 ? " " : "");
    TG_TRY(tg_print_spark_order(p, window->order_by, window->order_count, err));
    if (window->frame != TG_FRAME_NONE) {
        tg_buf_addz(p->out, window->frame == TG_FRAME_ROWS ? " ROWS BETWEEN " : " RANGE BETWEEN ");
        TG_TRY(print_bound(p, window->start, window->start_offset, err));
        tg_buf_addz(p->out, " AND ");
        TG_TRY(print_bound(p, window->end, window->end_offset, err));
    }
    tg_buf_addz(p->out, ")");
    return TG_OK;
}

/* name(DISTINCT ..) WITHIN GROUP (..) FILTER (..) IGNORE NULLS OVER (..) */
static tg_code print_aggregate(printer *p, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addf(p->out, "%s(%s", expr->function->name, expr->distinct ? "DISTINCT " : "");
    TG_TRY(print_args(p, expr, 0, err));
    tg_buf_addz(p->out, ")");
    if (expr->order_count > 0) {
        tg_buf_addz(p->out, " WITHIN GROUP (");
        TG_TRY(tg_print_spark_order(p, expr->order_by, expr->order_count, err));
        tg_buf_addz(p->out, ")");
    }
    if (expr->filter) {
        tg_buf_addz(p->out, " FILTER (WHERE ");
        TG_TRY(print(p, expr->filter, false, err));
        tg_buf_addz(p->out, ")");
    }
    tg_buf_addz(p->out, expr->ignore_nulls ? " IGNORE NULLS" : "");
    return expr->window ? print_over(p, expr->window, err) : TG_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static tg_code print_subquery(printer *p, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addz(p->out, "(");
    if (expr->kind == TG_B_IN_QUERY) {
        tg_buf_addz(p->out, expr->arg_count > 1 ? "(" : "");
        for (size_t i = 0; i < expr->arg_count; i++) {
            tg_buf_addz(p->out, i > 0 ? ", " : "");
            TG_TRY(print(p, expr->args[i], true, err));
        }
        tg_buf_addz(p->out, expr->arg_count > 1 ? ")" : "");
        tg_buf_addz(p->out, expr->negated ? " NOT IN (" : " IN (");
    } else if (expr->kind == TG_B_EXISTS) {
        tg_buf_addz(p->out, expr->negated ? "NOT EXISTS (" : "EXISTS (");
    }
    TG_TRY(tg_print_query(p, expr->rel, err));
    tg_buf_addz(p->out, expr->kind == TG_B_SUBQUERY ? ")" : "))");
    return TG_OK;
}

static tg_code print_lambda(printer *p, const tg_bexpr *expr, tg_error *err)
{
    tg_buf_addz(p->out, "(");
    for (size_t i = 0; i < expr->param_count; i++) {
        tg_buf_addf(p->out, "%sx%u", i > 0 ? ", " : "", expr->params[i]);
    }
    tg_buf_addz(p->out, ") -> ");
    return print(p, expr->args[0], false, err);
}

static tg_code print(printer *p, const tg_bexpr *expr, bool paren, tg_error *err)
{
    switch (expr->kind) {
    case TG_B_LITERAL:
        tg_buf_adds(p->out, tg_value_literal(p->arena, expr->literal));
        return TG_OK;
    case TG_B_COLUMN:
        p->column_text(p->column_self, expr->column_id, p->out);
        return TG_OK;
    case TG_B_CALL:
        return print_call(p, expr, paren, err);
    case TG_B_CAST:
        tg_buf_addz(p->out, expr->cast_mode == TG_CAST_TRY ? "TRY_CAST(" : "CAST(");
        TG_TRY(print(p, expr->args[0], false, err));
        tg_buf_addf(p->out, " AS %.*s)", TG_SARG(tg_type_ddl(p->arena, expr->type)));
        return TG_OK;
    case TG_B_FIELD:
        TG_TRY(print(p, expr->args[0], true, err));
        tg_buf_addz(p->out, ".");
        tg_sql_print_ident(expr->args[0]->type->fields[expr->field_index].name, p->out);
        return TG_OK;
    case TG_B_LAMBDA:
        return print_lambda(p, expr, err);
    case TG_B_LAMBDA_VAR:
        tg_buf_addf(p->out, "x%u", expr->column_id);
        return TG_OK;
    case TG_B_AGGREGATE:
    case TG_B_WINDOW:
        return print_aggregate(p, expr, err);
    case TG_B_SUBQUERY:
    case TG_B_EXISTS:
    case TG_B_IN_QUERY:
        return print_subquery(p, expr, err);
    }
    return TG_OK;
}

tg_code tg_print_spark_expr(tg_print_context *ctx, const tg_bexpr *expr, tg_error *err)
{
    return print(ctx, expr, /* paren= */ true, err);
}

/* ---- predicates ------------------------------------------------------------------------------ */

static void column_of_schema(void *self, uint32_t id, tg_buf *out)
{
    const tg_schema *schema = self;
    tg_assert(id >= 1 && id <= schema->count);
    tg_sql_print_ident(schema->fields[id - 1].name, out);
}

void tg_sql_print_predicate(const tg_bexpr *predicate, tg_schema schema, tg_buf *out)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    printer p = {
        .out = out, .arena = arena, .column_text = column_of_schema, .column_self = &schema};
    tg_code code = print(&p, predicate, false, NULL);
    tg_assert(code == TG_OK); /* only subqueries may fail, and a predicate holds none */
}
