/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bound predicate as Databricks SQL: the folded predicate of states and messages. Implicit casts
 * are left out where binding the text again inserts them; what has no operator form prints as a
 * call.
 */
#include "sql/sql.h"
#include "sql/functions.h"

typedef struct printer {
    tg_buf *out;
    tg_schema schema;
    tg_arena *arena;
} printer;

static void print(printer *p, const tg_bexpr *expr, bool paren);

static const char *infix(const char *name)
{
    static const char *const SIGNS[] = {"+", "-",  "*", "/",  "%",   "||", "=", "<>",
                                        "<", "<=", ">", ">=", "<=>", "&",  "|", "^"};
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

static void print_args(printer *p, const tg_bexpr *expr, size_t from)
{
    for (size_t i = from; i < expr->arg_count; i++) {
        tg_buf_addz(p->out, i > from ? ", " : "");
        print(p, expr->args[i], false);
    }
}

static void print_case(printer *p, const tg_bexpr *expr)
{
    size_t i = 0;
    tg_buf_addz(p->out, "CASE");
    for (; i + 1 < expr->arg_count; i += 2) {
        tg_buf_addz(p->out, " WHEN ");
        print(p, expr->args[i], false);
        tg_buf_addz(p->out, " THEN ");
        print(p, expr->args[i + 1], false);
    }
    if (i < expr->arg_count) {
        tg_buf_addz(p->out, " ELSE ");
        print(p, expr->args[i], false);
    }
    tg_buf_addz(p->out, " END");
}

/* Forms with words; false: it has none. */
static bool print_form(printer *p, const tg_bexpr *expr)
{
    static const struct {
        const char *name, *suffix;
    } SUFFIXES[] = {{"isnull", " IS NULL"},
                    {"isnotnull", " IS NOT NULL"},
                    {"is_true", " IS TRUE"},
                    {"is_false", " IS FALSE"}};
    const char *name = expr->function->name;
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++) {
        if (strcmp(name, SUFFIXES[i].name) == 0) {
            print(p, expr->args[0], true);
            tg_buf_addz(p->out, SUFFIXES[i].suffix);
            return true;
        }
    }
    if (strcmp(name, "in") == 0) {
        print(p, expr->args[0], true);
        tg_buf_addz(p->out, " IN (");
        print_args(p, expr, 1);
        tg_buf_addz(p->out, ")");
        return true;
    }
    if (strcmp(name, "between") == 0) {
        print(p, expr->args[0], true);
        tg_buf_addz(p->out, " BETWEEN ");
        print(p, expr->args[1], true);
        tg_buf_addz(p->out, " AND ");
        print(p, expr->args[2], true);
        return true;
    }
    if (strcmp(name, "like") == 0 || strcmp(name, "ilike") == 0 || strcmp(name, "rlike") == 0) {
        print(p, expr->args[0], true);
        tg_buf_addf(p->out, " %s ", name);
        print(p, expr->args[1], true);
        if (expr->arg_count == 3) {
            tg_buf_addz(p->out, " ESCAPE ");
            print(p, expr->args[2], true);
        }
        return true;
    }
    if (strcmp(name, "element") == 0) {
        print(p, expr->args[0], true);
        tg_buf_addz(p->out, "[");
        print(p, expr->args[1], false);
        tg_buf_addz(p->out, "]");
        return true;
    }
    return false;
}

static void print_call(printer *p, const tg_bexpr *expr, bool paren)
{
    const char *name = expr->function->name;
    const char *sign = expr->arg_count == 2 ? infix(name) : NULL;
    bool is_not = strcmp(name, "not") == 0 || strcmp(name, "~") == 0;
    bool is_row = strcmp(name, "struct_row") == 0;
    if (strcmp(name, "case") == 0) {
        print_case(p, expr);
        return;
    }
    tg_buf_addz(p->out, paren ? "(" : "");
    if (sign) {
        print(p, expr->args[0], true);
        tg_buf_addf(p->out, " %s ", sign);
        print(p, expr->args[1], true);
    } else if (is_not) {
        tg_buf_addz(p->out, name[0] == 'n' ? "NOT " : "~");
        print(p, expr->args[0], true);
    } else if (!print_form(p, expr)) {
        tg_buf_addf(p->out, "%s(", is_row ? "" : name);
        print_args(p, expr, 0);
        tg_buf_addz(p->out, ")");
    }
    tg_buf_addz(p->out, paren ? ")" : "");
}

static void print(printer *p, const tg_bexpr *expr, bool paren)
{
    switch (expr->kind) {
    case TG_B_LITERAL: {
        bool untyped = expr->literal.is_null && expr->type->kind == TG_TYPE_VOID;
        tg_buf_adds(p->out, untyped ? TG_S("NULL") : tg_value_literal(p->arena, expr->literal));
        return;
    }
    case TG_B_COLUMN:
        tg_assert(expr->column_id >= 1 && expr->column_id <= p->schema.count);
        tg_sql_print_ident(p->schema.fields[expr->column_id - 1].name, p->out);
        return;
    case TG_B_CALL:
        print_call(p, expr, paren);
        return;
    case TG_B_CAST:
        tg_buf_addz(p->out, expr->cast_mode == TG_CAST_TRY ? "TRY_CAST(" : "CAST(");
        print(p, expr->args[0], false);
        tg_buf_addf(p->out, " AS %.*s)", TG_SARG(tg_type_ddl(p->arena, expr->type)));
        return;
    case TG_B_FIELD:
        print(p, expr->args[0], true);
        tg_buf_addz(p->out, ".");
        tg_sql_print_ident(expr->args[0]->type->fields[expr->field_index].name, p->out);
        return;
    case TG_B_LAMBDA:
        tg_buf_addz(p->out, "(");
        for (size_t i = 0; i < expr->param_count; i++) {
            tg_buf_addf(p->out, "%sx%u", i > 0 ? ", " : "", expr->params[i]);
        }
        tg_buf_addz(p->out, ") -> ");
        print(p, expr->args[0], false);
        return;
    case TG_B_LAMBDA_VAR:
        tg_buf_addf(p->out, "x%u", expr->column_id);
        return;
    case TG_B_AGGREGATE:
    case TG_B_WINDOW:
    case TG_B_SUBQUERY:
    case TG_B_EXISTS:
    case TG_B_IN_QUERY:
        tg_assert(!"a predicate holds none of these");
    }
}

void tg_sql_print_predicate(const tg_bexpr *predicate, tg_schema schema, tg_buf *out)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    printer p = {.out = out, .schema = schema, .arena = arena};
    print(&p, predicate, false);
}
