/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a column without alias: the expression as Spark shows it, with all operations in
 * parentheses and literals without marks. What is not known here is shown as it is written.
 */
#include "sql/bind_int.h"
#include "sql/sql.h"

enum { NAME_DEPTH_MAX = 100 }; /* deeper expressions have no name that anybody reads */

static void show(const tg_expr *expr, int depth, tg_buf *out);

static void show_list(tg_expr *const *exprs, size_t count, int depth, tg_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        show(exprs[i], depth, out);
    }
}

static void show_literal(const tg_expr *expr, tg_buf *out)
{
    const tg_value *value = &expr->literal;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_type_kind kind = value->is_null ? TG_TYPE_VOID : value->type->kind;
    if (kind == TG_TYPE_STRING) {
        tg_buf_adds(out, value->as.bytes);
    } else if (kind == TG_TYPE_DECIMAL) {
        tg_buf_adds(out, tg_decimal_text(scratch, value->as.decimal, value->type->scale));
    } else if (kind == TG_TYPE_DOUBLE || kind == TG_TYPE_FLOAT) {
        tg_buf_adds(out, tg_double_text(scratch, value->as.f64, kind == TG_TYPE_FLOAT));
    } else if (kind == TG_TYPE_BOOLEAN) {
        tg_buf_addz(out, value->as.boolean ? "true" : "false");
    } else if (!value->is_null && tg_type_is_integer(value->type)) {
        tg_buf_addf(out, "%lld", (long long)value->as.i64);
    } else {
        tg_sql_print_expr(expr, out);
    }
}

/* NULL: shown as it is written. */
static const char *sign_of(tg_op op)
{
    switch (op) {
    case TG_OP_ADD:
        return "+";
    case TG_OP_SUB:
        return "-";
    case TG_OP_MUL:
        return "*";
    case TG_OP_DIV:
        return "/";
    case TG_OP_MOD:
        return "%";
    case TG_OP_INT_DIV:
        return "div";
    case TG_OP_BIT_AND:
        return "&";
    case TG_OP_BIT_OR:
        return "|";
    case TG_OP_BIT_XOR:
        return "^";
    case TG_OP_EQ:
    case TG_OP_NE:
        return "=";
    case TG_OP_LT:
        return "<";
    case TG_OP_LE:
        return "<=";
    case TG_OP_GT:
        return ">";
    case TG_OP_GE:
        return ">=";
    case TG_OP_EQ_NULL_SAFE:
        return "<=>";
    case TG_OP_AND:
        return "AND";
    case TG_OP_OR:
        return "OR";
    default:
        return NULL;
    }
}

static void show_operation(const tg_expr *expr, int depth, tg_buf *out)
{
    if (expr->kind == TG_EXPR_UNARY) {
        tg_buf_addz(out, expr->op == TG_OP_NEGATE    ? "(- "
                         : expr->op == TG_OP_PLUS    ? "(+ "
                         : expr->op == TG_OP_BIT_NOT ? "~"
                                                     : "(NOT ");
        show(expr->args[0], depth, out);
        tg_buf_addz(out, expr->op == TG_OP_BIT_NOT ? "" : ")");
        return;
    }
    const char *sign = sign_of(expr->op);
    if (expr->op == TG_OP_CONCAT) {
        tg_buf_addz(out, "concat(");
        show_list(expr->args, 2, depth, out);
        tg_buf_addc(out, ')');
        return;
    }
    if (!sign) {
        tg_sql_print_expr(expr, out);
        return;
    }
    tg_buf_addz(out, expr->op == TG_OP_NE ? "(NOT (" : "(");
    show(expr->args[0], depth, out);
    tg_buf_addf(out, " %s ", sign);
    show(expr->args[1], depth, out);
    tg_buf_addz(out, expr->op == TG_OP_NE ? "))" : ")");
}

static void show_predicate(const tg_expr *expr, int depth, tg_buf *out)
{
    bool is_between = expr->kind == TG_EXPR_BETWEEN;
    tg_buf_addz(out, expr->negated ? "(NOT " : "");
    tg_buf_addz(out, is_between ? "between(" : "(");
    show(expr->args[0], depth, out);
    tg_buf_addz(out, is_between ? ", " : " IN (");
    show_list(expr->args + 1, expr->arg_count - 1, depth, out);
    tg_buf_addz(out, is_between ? ")" : "))");
    tg_buf_addz(out, expr->negated ? ")" : "");
}

static void show_case(const tg_expr *expr, int depth, tg_buf *out)
{
    size_t first = expr->has_operand, pairs_end = expr->arg_count - expr->has_else;
    tg_buf_addz(out, "CASE");
    for (size_t i = first; i + 1 < pairs_end; i += 2) {
        tg_buf_addz(out, " WHEN ");
        if (expr->has_operand) {
            tg_buf_addc(out, '(');
            show(expr->args[0], depth, out);
            tg_buf_addz(out, " = ");
        }
        show(expr->args[i], depth, out);
        tg_buf_addz(out, expr->has_operand ? ") THEN " : " THEN ");
        show(expr->args[i + 1], depth, out);
    }
    if (expr->has_else) {
        tg_buf_addz(out, " ELSE ");
        show(expr->args[expr->arg_count - 1], depth, out);
    }
    tg_buf_addz(out, " END");
}

static void show_call(const tg_expr *expr, int depth, tg_buf *out)
{
    const tg_call *call = expr->call;
    bool is_plain = call->name.count == 1 && !call->no_parens && !call->within_group_count &&
                    !call->ignore_nulls && !call->respect_nulls && !call->over &&
                    !call->arg_names && !call->arg_aliases;
    if (!is_plain) {
        tg_sql_print_expr(expr, out);
        return;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str name = tg_str_lower(scratch, call->name.parts[0].text);
    bool is_if = tg_str_eq(name, TG_S("if"));
    if (is_if) {
        tg_buf_addz(out, "(IF(");
    } else {
        tg_buf_addf(out, "%.*s(", TG_SARG(name));
    }
    tg_buf_addz(out, call->distinct ? "DISTINCT " : "");
    tg_buf_addz(out, call->star ? "1" : "");
    bool is_extract = expr->arg_count == 2 && tg_str_eq(name, TG_S("extract"));
    show_list(expr->args, is_extract ? 1 : expr->arg_count, depth, out);
    if (is_extract) {
        tg_buf_addz(out, " FROM ");
        show(expr->args[1], depth, out);
    }
    tg_buf_addz(out, is_if ? "))" : ")");
    if (call->filter) {
        tg_buf_addz(out, " FILTER (WHERE ");
        show(call->filter, depth, out);
        tg_buf_addc(out, ')');
    }
}

static void show_cast(const tg_expr *expr, int depth, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_addz(out, expr->is_try ? "TRY_CAST(" : "CAST(");
    show(expr->args[0], depth, out);
    tg_buf_addf(out, " AS %.*s)", TG_SARG(tg_type_ddl(scratch, expr->type)));
}

static void show(const tg_expr *expr, int depth, tg_buf *out)
{
    if (++depth > NAME_DEPTH_MAX) {
        tg_sql_print_expr(expr, out);
        return;
    }
    switch (expr->kind) {
    case TG_EXPR_LITERAL:
        show_literal(expr, out);
        return;
    case TG_EXPR_UNARY:
    case TG_EXPR_BINARY:
        show_operation(expr, depth, out);
        return;
    case TG_EXPR_IS:
        if (expr->is != TG_IS_NULL) {
            break;
        }
        tg_buf_addc(out, '(');
        show(expr->args[0], depth, out);
        tg_buf_addz(out, expr->negated ? " IS NOT NULL)" : " IS NULL)");
        return;
    case TG_EXPR_BETWEEN:
    case TG_EXPR_IN_LIST:
        show_predicate(expr, depth, out);
        return;
    case TG_EXPR_CASE:
        show_case(expr, depth, out);
        return;
    case TG_EXPR_CALL:
        show_call(expr, depth, out);
        return;
    case TG_EXPR_CAST:
        if (expr->is_typed_literal) {
            break;
        }
        show_cast(expr, depth, out);
        return;
    default:
        break;
    }
    tg_sql_print_expr(expr, out);
}

tg_str tg_bind_shown_name(tg_arena *arena, const tg_expr *expr)
{
    if (expr->kind == TG_EXPR_CAST && !expr->is_typed_literal &&
        (expr->args[0]->kind == TG_EXPR_NAME || expr->args[0]->kind == TG_EXPR_FIELD)) {
        expr = expr->args[0]; /* a cast column keeps its name */
    }
    if (expr->kind == TG_EXPR_NAME) {
        return expr->name.parts[expr->name.count - 1].text;
    }
    if (expr->kind == TG_EXPR_FIELD) {
        return expr->field.text;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    show(expr, 0, &text);
    return tg_buf_take(&text, arena);
}
