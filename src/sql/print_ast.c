/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree as Databricks SQL in a normal form: keywords in upper case, operands in
 * parentheses where Spark's precedence needs them, names quoted where a bare word would mean
 * something else.
 */
#include "sql/print_int.h"
#include "sql/sql.h"
#include "sql/token.h"

static void add(tg_printer *p, const char *text)
{
    tg_buf_addz(p->out, text);
}

void tg_printer_clause(tg_printer *p)
{
    if (!p->pretty) {
        add(p, " ");
        return;
    }
    add(p, "\n");
    for (int i = 0; i < p->indent; i++) {
        add(p, "  ");
    }
}

/* ---- names and literals ---------------------------------------------------------------------- */

void tg_sql_print_ident(tg_str name, tg_buf *out)
{
    bool bare = name.len > 0 && !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
    for (size_t i = 0; i < name.len && bare; i++) {
        char c = name.ptr[i];
        bare =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    if (bare && !tg_keyword_needs_quotes(tg_keyword_find(name))) {
        tg_buf_adds(out, name);
        return;
    }
    tg_buf_addc(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        tg_buf_addz(out, name.ptr[i] == '`' ? "`" : "");
        tg_buf_addc(out, name.ptr[i]);
    }
    tg_buf_addc(out, '`');
}

void tg_printer_name(tg_printer *p, const tg_name *name)
{
    for (size_t i = 0; i < name->count; i++) {
        add(p, i > 0 ? "." : "");
        tg_sql_print_ident(name->parts[i].text, p->out);
    }
}

void tg_printer_idents(tg_printer *p, const tg_ident *idents, size_t count)
{
    add(p, "(");
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_sql_print_ident(idents[i].text, p->out);
    }
    add(p, ")");
}

/* The smallest integers are casts in other texts, but literals with a minus to the parser. */
static bool print_smallest(tg_printer *p, tg_value value)
{
    static const struct {
        tg_type_kind kind;
        int64_t value;
        const char *text;
    } SMALLEST[] = {{TG_TYPE_TINYINT, INT8_MIN, "-128Y"},
                    {TG_TYPE_SMALLINT, INT16_MIN, "-32768S"},
                    {TG_TYPE_INT, INT32_MIN, "-2147483648"},
                    {TG_TYPE_BIGINT, INT64_MIN, "-9223372036854775808L"}};
    for (size_t i = 0; i < sizeof(SMALLEST) / sizeof(*SMALLEST); i++) {
        if (value.type->kind == SMALLEST[i].kind && !value.is_null &&
            value.as.i64 == SMALLEST[i].value) {
            add(p, SMALLEST[i].text);
            return true;
        }
    }
    return false;
}

static void print_value(tg_printer *p, tg_value value)
{
    if (print_smallest(p, value)) {
        return;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_adds(p->out, tg_value_literal(scratch, value));
}

void tg_printer_string(tg_printer *p, tg_str text)
{
    print_value(p, tg_value_bytes(tg_type_of(TG_TYPE_STRING), text));
}

void tg_printer_properties(tg_printer *p, const tg_property *items, size_t count)
{
    add(p, "(");
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_printer_string(p, items[i].key);
        add(p, " = ");
        tg_printer_string(p, items[i].value);
    }
    add(p, ")");
}

void tg_printer_type(tg_printer *p, const tg_type *type)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_adds(p->out, tg_type_ddl(scratch, type));
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct operator_text {
    const char *text;
    int level;
} operator_text;

static operator_text operator_of(tg_op op)
{
    static const operator_text TEXTS[] = {
        [TG_OP_NEGATE] = {"-", TG_LEVEL_UNARY},
        [TG_OP_PLUS] = {"+", TG_LEVEL_UNARY},
        [TG_OP_NOT] = {"NOT ", TG_LEVEL_NOT},
        [TG_OP_BIT_NOT] = {"~", TG_LEVEL_UNARY},
        [TG_OP_ADD] = {"+", TG_LEVEL_ADD},
        [TG_OP_SUB] = {"-", TG_LEVEL_ADD},
        [TG_OP_MUL] = {"*", TG_LEVEL_MULTIPLY},
        [TG_OP_DIV] = {"/", TG_LEVEL_MULTIPLY},
        [TG_OP_MOD] = {"%", TG_LEVEL_MULTIPLY},
        [TG_OP_INT_DIV] = {"DIV", TG_LEVEL_MULTIPLY},
        [TG_OP_CONCAT] = {"||", TG_LEVEL_ADD},
        [TG_OP_BIT_AND] = {"&", TG_LEVEL_AMPERSAND},
        [TG_OP_BIT_OR] = {"|", TG_LEVEL_PIPE},
        [TG_OP_BIT_XOR] = {"^", TG_LEVEL_HAT},
        [TG_OP_SHIFT_LEFT] = {"<<", TG_LEVEL_SHIFT},
        [TG_OP_SHIFT_RIGHT] = {">>", TG_LEVEL_SHIFT},
        [TG_OP_SHIFT_RIGHT_UNSIGNED] = {">>>", TG_LEVEL_SHIFT},
        [TG_OP_EQ] = {"=", TG_LEVEL_COMPARE},
        [TG_OP_NE] = {"<>", TG_LEVEL_COMPARE},
        [TG_OP_LT] = {"<", TG_LEVEL_COMPARE},
        [TG_OP_LE] = {"<=", TG_LEVEL_COMPARE},
        [TG_OP_GT] = {">", TG_LEVEL_COMPARE},
        [TG_OP_GE] = {">=", TG_LEVEL_COMPARE},
        [TG_OP_EQ_NULL_SAFE] = {"<=>", TG_LEVEL_COMPARE},
        [TG_OP_AND] = {"AND", TG_LEVEL_AND},
        [TG_OP_OR] = {"OR", TG_LEVEL_OR},
    };
    return TEXTS[op];
}

void tg_printer_exprs(tg_printer *p, tg_expr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_printer_expr(p, exprs[i], 0);
    }
}

static void print_sort_items(tg_printer *p, const tg_sort_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_printer_expr(p, items[i].expr, 0);
        add(p, items[i].descending ? " DESC" : "");
        add(p, items[i].nulls == TG_NULLS_FIRST  ? " NULLS FIRST"
               : items[i].nulls == TG_NULLS_LAST ? " NULLS LAST"
                                                 : "");
    }
}

static void print_frame_bound(tg_printer *p, const tg_frame_bound *bound)
{
    switch (bound->kind) {
    case TG_BOUND_UNBOUNDED_PRECEDING:
        add(p, "UNBOUNDED PRECEDING");
        break;
    case TG_BOUND_UNBOUNDED_FOLLOWING:
        add(p, "UNBOUNDED FOLLOWING");
        break;
    case TG_BOUND_CURRENT_ROW:
        add(p, "CURRENT ROW");
        break;
    case TG_BOUND_PRECEDING:
    case TG_BOUND_FOLLOWING:
        tg_printer_expr(p, bound->offset, TG_LEVEL_COMPARE);
        add(p, bound->kind == TG_BOUND_PRECEDING ? " PRECEDING" : " FOLLOWING");
        break;
    }
}

static void print_window(tg_printer *p, const tg_window_spec *spec)
{
    const char *gap = "";
    bool is_name = spec->base.text.len > 0 && spec->partition_count == 0 &&
                   spec->order_count == 0 && spec->frame == TG_FRAME_NONE;
    if (is_name) {
        tg_sql_print_ident(spec->base.text, p->out);
        return;
    }
    add(p, "(");
    if (spec->base.text.len > 0) {
        tg_sql_print_ident(spec->base.text, p->out);
        gap = " ";
    }
    if (spec->partition_count > 0) {
        add(p, gap);
        add(p, "PARTITION BY ");
        tg_printer_exprs(p, spec->partition_by, spec->partition_count);
        gap = " ";
    }
    if (spec->order_count > 0) {
        add(p, gap);
        add(p, "ORDER BY ");
        print_sort_items(p, spec->order_by, spec->order_count);
        gap = " ";
    }
    if (spec->frame != TG_FRAME_NONE) {
        add(p, gap);
        add(p, spec->frame == TG_FRAME_ROWS ? "ROWS BETWEEN " : "RANGE BETWEEN ");
        print_frame_bound(p, &spec->frame_start);
        add(p, " AND ");
        print_frame_bound(p, &spec->frame_end);
    }
    add(p, ")");
}

/* The first argument of a date function where a bare unit may stand: a text that is a unit prints
 * bare, as a string would mean another form; a column of that name prints in backticks. */
static bool print_unit(tg_printer *p, const tg_call *call, const tg_expr *arg)
{
    bool takes_unit =
        call->name.count == 1 && tg_keyword_takes_unit(tg_keyword_find(call->name.parts[0].text));
    bool is_text = arg->kind == TG_EXPR_LITERAL && arg->literal.type->kind == TG_TYPE_STRING;
    bool is_column = arg->kind == TG_EXPR_NAME && arg->name.count == 1;
    if (!takes_unit || (!is_text && !is_column)) {
        return false;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str word = is_text ? arg->literal.as.bytes : arg->name.parts[0].text;
    if (!tg_keyword_is_unit(word) || (is_text && !tg_str_eq(word, tg_str_upper(scratch, word)))) {
        return false;
    }
    tg_buf_addf(p->out, is_text ? "%.*s" : "`%.*s`", TG_SARG(word));
    return true;
}

static void print_call_args(tg_printer *p, const tg_expr *expr)
{
    const tg_call *call = expr->call;
    add(p, call->distinct ? "DISTINCT " : "");
    add(p, call->star ? "*" : "");
    for (size_t i = 0; i < expr->arg_count; i++) {
        add(p, i > 0 ? ", " : "");
        if (call->arg_names && call->arg_names[i].text.len > 0) {
            tg_sql_print_ident(call->arg_names[i].text, p->out);
            add(p, " => ");
        }
        if (i > 0 || expr->arg_count < 2 || call->distinct || !print_unit(p, call, expr->args[0])) {
            tg_printer_expr(p, expr->args[i], 0);
        }
        if (call->arg_aliases && call->arg_aliases[i].text.len > 0) {
            add(p, " AS ");
            tg_sql_print_ident(call->arg_aliases[i].text, p->out);
        }
    }
}

/* A word that is no function's name where a parenthesis, a DISTINCT or a CASE stands before it. */
static bool begins_other_form(tg_str name)
{
    switch (tg_keyword_find(name)) {
    case TG_KW_SELECT:
    case TG_KW_FROM:
    case TG_KW_VALUES:
    case TG_KW_DISTINCT:
    case TG_KW_ALL:
    case TG_KW_WHEN:
        return true;
    default:
        return false;
    }
}

static void print_call(tg_printer *p, const tg_expr *expr)
{
    const tg_call *call = expr->call;
    for (size_t i = 0; i < call->name.count; i++) {
        /* function names are words like if, left, current_date: bare unless they were quoted */
        add(p, i > 0 ? "." : "");
        tg_ident part = call->name.parts[i];
        if (part.quoted && tg_keyword_find(part.text) == TG_KW_STRUCT) {
            tg_buf_addf(p->out, "`%.*s`", TG_SARG(part.text)); /* bare it is a row of VALUES */
        } else if (part.quoted || begins_other_form(part.text)) {
            tg_sql_print_ident(part.text, p->out);
        } else {
            tg_buf_adds(p->out, part.text);
        }
    }
    if (call->no_parens) {
        return;
    }
    add(p, "(");
    print_call_args(p, expr);
    add(p, ")");
    if (call->within_group_count > 0) {
        add(p, " WITHIN GROUP (ORDER BY ");
        print_sort_items(p, call->within_group, call->within_group_count);
        add(p, ")");
    }
    if (call->filter) {
        add(p, " FILTER (WHERE ");
        tg_printer_expr(p, call->filter, 0);
        add(p, ")");
    }
    add(p, call->ignore_nulls ? " IGNORE NULLS" : call->respect_nulls ? " RESPECT NULLS" : "");
    if (call->over) {
        add(p, " OVER ");
        print_window(p, call->over);
    }
}

static void print_is(tg_printer *p, const tg_expr *expr)
{
    static const char *const WORDS[] = {"NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM "};
    tg_printer_expr(p, expr->args[0], TG_LEVEL_COMPARE);
    add(p, expr->negated ? " IS NOT " : " IS ");
    add(p, WORDS[expr->is]);
    if (expr->is == TG_IS_DISTINCT_FROM) {
        tg_printer_expr(p, expr->args[1], TG_LEVEL_COMPARE);
    }
}

static void print_like(tg_printer *p, const tg_expr *expr)
{
    static const char *const WORDS[] = {" LIKE ", " ILIKE ", " RLIKE "};
    tg_printer_expr(p, expr->args[0], TG_LEVEL_COMPARE);
    add(p, expr->negated ? " NOT" : "");
    add(p, WORDS[expr->like]);
    if (expr->quantifier != TG_QUANT_NONE) {
        add(p, expr->quantifier == TG_QUANT_ANY ? "ANY (" : "ALL (");
        tg_printer_exprs(p, expr->args + 1, expr->arg_count - 1);
        add(p, ")");
    } else {
        tg_printer_expr(p, expr->args[1], TG_LEVEL_COMPARE);
    }
    if (expr->escape) {
        add(p, " ESCAPE ");
        tg_printer_expr(p, expr->escape, TG_LEVEL_PRIMARY);
    }
}

static void print_case(tg_printer *p, const tg_expr *expr)
{
    size_t at = 0, end = expr->arg_count - expr->has_else;
    add(p, "CASE");
    if (expr->has_operand) {
        add(p, " ");
        tg_printer_expr(p, expr->args[at++], 0);
    }
    for (; at + 1 < end; at += 2) {
        add(p, " WHEN ");
        tg_printer_expr(p, expr->args[at], 0);
        add(p, " THEN ");
        tg_printer_expr(p, expr->args[at + 1], 0);
    }
    if (expr->has_else) {
        add(p, " ELSE ");
        tg_printer_expr(p, expr->args[end], 0);
    }
    add(p, " END");
}

static void print_star(tg_printer *p, const tg_expr *expr)
{
    if (expr->name.count > 0) {
        tg_printer_name(p, &expr->name);
        add(p, ".");
    }
    add(p, "*");
    if (expr->except_count > 0) {
        add(p, " EXCEPT (");
        for (size_t i = 0; i < expr->except_count; i++) {
            add(p, i > 0 ? ", " : "");
            tg_printer_name(p, &expr->except[i]);
        }
        add(p, ")");
    }
}

static void print_lambda(tg_printer *p, const tg_expr *expr)
{
    if (expr->param_count == 1) {
        tg_sql_print_ident(expr->params[0].text, p->out);
    } else {
        tg_printer_idents(p, expr->params, expr->param_count);
    }
    add(p, " -> ");
    tg_printer_expr(p, expr->args[0], 0);
}

static void print_cast(tg_printer *p, const tg_expr *expr)
{
    if (expr->is_typed_literal) {
        tg_printer_type(p, expr->type);
        tg_printer_expr(p, expr->args[0], TG_LEVEL_PRIMARY);
        return;
    }
    add(p, expr->is_try ? "TRY_CAST(" : "CAST(");
    tg_printer_expr(p, expr->args[0], 0);
    add(p, " AS ");
    tg_printer_type(p, expr->type);
    add(p, ")");
}

static void print_in_paren_query(tg_printer *p, const tg_query *query)
{
    add(p, "(");
    p->indent++;
    tg_printer_query(p, query);
    p->indent--;
    add(p, ")");
}

/* a AND b AND c ...: the left spine in a loop. */
static void print_binary(tg_printer *p, const tg_expr *expr)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    TG_VEC(const tg_expr *) spine = {0};
    int level = operator_of(expr->op).level;
    const tg_expr *node = expr;
    while (node->kind == TG_EXPR_BINARY && operator_of(node->op).level == level) {
        TG_VEC_PUSH(scratch, &spine, node);
        node = node->args[0];
    }
    tg_printer_expr(p, node, level);
    for (size_t i = spine.count; i-- > 0;) {
        tg_buf_addf(p->out, " %s ", operator_of(spine.items[i]->op).text);
        tg_printer_expr(p, spine.items[i]->args[1], level + 1);
    }
}

static int level_of(const tg_expr *expr)
{
    switch (expr->kind) {
    case TG_EXPR_UNARY:
    case TG_EXPR_BINARY:
        return operator_of(expr->op).level;
    case TG_EXPR_IS:
    case TG_EXPR_BETWEEN:
    case TG_EXPR_IN_LIST:
    case TG_EXPR_IN_QUERY:
    case TG_EXPR_LIKE:
        return TG_LEVEL_PREDICATE;
    case TG_EXPR_LITERAL: {
        bool is_number = tg_type_is_numeric(expr->literal.type) && !expr->literal.is_null;
        return is_number ? TG_LEVEL_UNARY : TG_LEVEL_PRIMARY; /* it may begin with a minus */
    }
    case TG_EXPR_LAMBDA:
        return 0;
    case TG_EXPR_EXISTS:
        return TG_LEVEL_NOT;
    default:
        return TG_LEVEL_PRIMARY;
    }
}

/* INTERVAL x DAY, INTERVAL :p DAY: all other counts are in parentheses. */
static bool is_bare_count(const tg_expr *count)
{
    return (count->kind == TG_EXPR_NAME && count->name.count == 1) ||
           (count->kind == TG_EXPR_PARAMETER && count->field.text.len > 0);
}

/* a.b of a name or of a word without parentheses would be a longer name. */
static bool is_word(const tg_expr *expr)
{
    return expr->kind == TG_EXPR_NAME || (expr->kind == TG_EXPR_CALL && expr->call->no_parens) ||
           (expr->kind == TG_EXPR_LITERAL && (expr->literal.type->kind == TG_TYPE_VOID ||
                                              expr->literal.type->kind == TG_TYPE_BOOLEAN));
}

static void print_node(tg_printer *p, const tg_expr *expr)
{
    switch (expr->kind) {
    case TG_EXPR_LITERAL:
        print_value(p, expr->literal);
        break;
    case TG_EXPR_NAME:
        tg_printer_name(p, &expr->name);
        break;
    case TG_EXPR_STAR:
        print_star(p, expr);
        break;
    case TG_EXPR_UNARY:
        add(p, operator_of(expr->op).text);
        tg_printer_expr(p, expr->args[0], expr->op == TG_OP_NOT ? TG_LEVEL_NOT : TG_LEVEL_PRIMARY);
        break;
    case TG_EXPR_BINARY:
        print_binary(p, expr);
        break;
    case TG_EXPR_IS:
        print_is(p, expr);
        break;
    case TG_EXPR_BETWEEN:
        tg_printer_expr(p, expr->args[0], TG_LEVEL_COMPARE);
        add(p, expr->negated ? " NOT BETWEEN " : " BETWEEN ");
        tg_printer_expr(p, expr->args[1], TG_LEVEL_COMPARE);
        add(p, " AND ");
        tg_printer_expr(p, expr->args[2], TG_LEVEL_COMPARE);
        break;
    case TG_EXPR_IN_LIST:
        tg_printer_expr(p, expr->args[0], TG_LEVEL_COMPARE);
        add(p, expr->negated ? " NOT IN (" : " IN (");
        tg_printer_exprs(p, expr->args + 1, expr->arg_count - 1);
        add(p, ")");
        break;
    case TG_EXPR_IN_QUERY:
        tg_printer_expr(p, expr->args[0], TG_LEVEL_COMPARE);
        add(p, expr->negated ? " NOT IN " : " IN ");
        print_in_paren_query(p, expr->query);
        break;
    case TG_EXPR_EXISTS:
        add(p, expr->negated ? "NOT EXISTS " : "EXISTS ");
        print_in_paren_query(p, expr->query);
        break;
    case TG_EXPR_SUBQUERY:
        print_in_paren_query(p, expr->query);
        break;
    case TG_EXPR_LIKE:
        print_like(p, expr);
        break;
    case TG_EXPR_CASE:
        print_case(p, expr);
        break;
    case TG_EXPR_CAST:
        print_cast(p, expr);
        break;
    case TG_EXPR_CALL:
        print_call(p, expr);
        break;
    case TG_EXPR_LAMBDA:
        print_lambda(p, expr);
        break;
    case TG_EXPR_SUBSCRIPT:
        tg_printer_expr(p, expr->args[0], TG_LEVEL_PRIMARY);
        add(p, "[");
        tg_printer_expr(p, expr->args[1], TG_LEVEL_COMPARE);
        add(p, "]");
        break;
    case TG_EXPR_FIELD:
        tg_printer_expr(p, expr->args[0],
                        is_word(expr->args[0]) || expr->args[0]->kind == TG_EXPR_STAR
                            ? TG_LEVEL_PAREN
                            : TG_LEVEL_PRIMARY);
        add(p, ".");
        tg_sql_print_ident(expr->field.text, p->out);
        break;
    case TG_EXPR_ROW:
        add(p, "(");
        tg_printer_exprs(p, expr->args, expr->arg_count);
        add(p, ")");
        break;
    case TG_EXPR_INTERVAL:
        add(p, "INTERVAL ");
        tg_printer_expr(p, expr->args[0], is_bare_count(expr->args[0]) ? 0 : TG_LEVEL_PAREN);
        add(p, " ");
        tg_buf_adds(p->out, expr->call->name.parts[0].text);
        break;
    case TG_EXPR_PARAMETER:
        add(p, expr->field.text.len > 0 ? ":" : "?");
        if (expr->field.text.len > 0) {
            tg_sql_print_ident(expr->field.text, p->out);
        }
        break;
    case TG_EXPR_KIND_COUNT_:
        break;
    }
}

void tg_printer_expr(tg_printer *p, const tg_expr *expr, int level)
{
    bool paren = level_of(expr) < level;
    add(p, paren ? "(" : "");
    print_node(p, expr);
    add(p, paren ? ")" : "");
}

void tg_sql_print_expr(const tg_expr *expr, tg_buf *out)
{
    tg_printer p = {.out = out};
    tg_printer_expr(&p, expr, 0);
}

/* ---- relations ------------------------------------------------------------------------------- */

static void print_alias(tg_printer *p, tg_ident alias, const tg_ident *columns, size_t column_count)
{
    if (alias.text.len > 0) {
        add(p, " AS ");
        tg_sql_print_ident(alias.text, p->out);
    }
    if (column_count > 0) {
        add(p, alias.text.len > 0 ? " " : " AS ");
        tg_printer_idents(p, columns, column_count);
    }
}

static void print_join(tg_printer *p, const tg_relation *join)
{
    static const char *const WORDS[] = {"JOIN",          "CROSS JOIN", "LEFT JOIN",
                                        "RIGHT JOIN",    "FULL JOIN",  "LEFT SEMI JOIN",
                                        "LEFT ANTI JOIN"};
    add(p, join->natural ? " NATURAL " : " ");
    add(p, WORDS[join->join]);
    add(p, " ");
    bool nested = join->right->kind == TG_REL_JOIN || join->right->kind == TG_REL_PIVOT ||
                  join->right->kind == TG_REL_UNPIVOT;
    add(p, nested ? "(" : "");
    tg_printer_relation(p, join->right);
    add(p, nested ? ")" : "");
    if (join->on) {
        add(p, " ON ");
        tg_printer_expr(p, join->on, 0);
    }
    if (join->using_count > 0) {
        add(p, " USING ");
        tg_printer_idents(p, join->using_columns, join->using_count);
    }
}

static void print_values(tg_printer *p, const tg_query_body *body);

static void print_table(tg_printer *p, const tg_relation *relation)
{
    add(p, relation->is_stream ? "STREAM(" : "");
    if (relation->kind == TG_REL_FUNCTION) {
        tg_printer_expr(p, relation->call, 0);
    } else {
        tg_printer_name(p, &relation->name);
    }
    if (relation->version) {
        add(p, " VERSION AS OF ");
        tg_printer_expr(p, relation->version, TG_LEVEL_COMPARE);
    } else if (relation->timestamp) {
        add(p, " TIMESTAMP AS OF ");
        tg_printer_expr(p, relation->timestamp, TG_LEVEL_COMPARE);
    }
    add(p, relation->is_stream ? ")" : "");
    if (relation->option_count > 0) {
        add(p, " WITH ");
        tg_printer_properties(p, relation->options, relation->option_count);
    }
}

static void print_one_relation(tg_printer *p, const tg_relation *relation)
{
    add(p, relation->lateral ? "LATERAL " : "");
    switch (relation->kind) {
    case TG_REL_TABLE:
    case TG_REL_FUNCTION:
        print_table(p, relation);
        break;
    case TG_REL_QUERY:
        print_in_paren_query(p, relation->query);
        break;
    case TG_REL_VALUES:
        print_values(p, relation->query->body);
        break;
    case TG_REL_PIVOT:
    case TG_REL_UNPIVOT:
        tg_printer_relation(p, relation->left);
        add(p, relation->kind == TG_REL_PIVOT ? " PIVOT " : " UNPIVOT ");
        tg_buf_adds(p->out, relation->clause_text);
        break;
    case TG_REL_JOIN:
        break;
    }
    if (relation->has_sample) {
        add(p, " TABLESAMPLE ");
        tg_buf_adds(p->out, relation->clause_text);
    }
    print_alias(p, relation->alias, relation->column_aliases, relation->column_alias_count);
}

void tg_printer_relation(tg_printer *p, const tg_relation *relation)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    TG_VEC(const tg_relation *) spine = {0};
    while (relation->kind == TG_REL_JOIN) {
        TG_VEC_PUSH(scratch, &spine, relation);
        relation = relation->left;
    }
    print_one_relation(p, relation);
    for (size_t i = spine.count; i-- > 0;) {
        print_join(p, spine.items[i]);
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

static void print_values(tg_printer *p, const tg_query_body *body)
{
    add(p, "VALUES ");
    for (size_t i = 0; i < body->row_count; i++) {
        /* A subquery has parentheses of its own: with two pairs it would be the whole row. */
        bool is_query = body->row_lens[i] == 1 && body->rows[i][0]->kind == TG_EXPR_SUBQUERY;
        add(p, i > 0 ? ", " : "");
        add(p, is_query ? "" : "(");
        tg_printer_exprs(p, body->rows[i], body->row_lens[i]);
        add(p, is_query ? "" : ")");
    }
}

static void print_select_items(tg_printer *p, const tg_select *select)
{
    for (size_t i = 0; i < select->item_count; i++) {
        const tg_select_item *item = &select->items[i];
        add(p, i > 0 ? ", " : "");
        tg_printer_expr(p, item->expr, 0);
        if (item->alias.text.len > 0) {
            add(p, " AS ");
            tg_sql_print_ident(item->alias.text, p->out);
        } else if (item->alias_count > 0) {
            add(p, " AS ");
            tg_printer_idents(p, item->aliases, item->alias_count);
        }
    }
}

static void print_group_by(tg_printer *p, const tg_select *select)
{
    static const char *const WORDS[] = {[TG_GROUP_ROLLUP] = "ROLLUP (",
                                        [TG_GROUP_CUBE] = "CUBE (",
                                        [TG_GROUP_SETS] = "GROUPING SETS ("};
    if (select->group_kind == TG_GROUP_NONE) {
        return;
    }
    tg_printer_clause(p);
    add(p, "GROUP BY ");
    if (select->group_kind == TG_GROUP_ALL) {
        add(p, "ALL");
        return;
    }
    bool wrapped = select->group_kind == TG_GROUP_ROLLUP || select->group_kind == TG_GROUP_CUBE ||
                   select->group_kind == TG_GROUP_SETS;
    add(p, wrapped ? WORDS[select->group_kind] : "");
    tg_printer_exprs(p, select->group_by, select->group_count);
    add(p, wrapped ? ")" : "");
}

static void print_condition(tg_printer *p, const char *word, const tg_expr *condition)
{
    if (condition) {
        tg_printer_clause(p);
        add(p, word);
        tg_printer_expr(p, condition, 0);
    }
}

static void print_lateral_views(tg_printer *p, const tg_select *select)
{
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        const tg_lateral_view *view = &select->lateral_views[i];
        tg_printer_clause(p);
        add(p, view->outer ? "LATERAL VIEW OUTER " : "LATERAL VIEW ");
        tg_printer_expr(p, view->call, 0);
        if (view->table_alias.text.len > 0) {
            add(p, " ");
            tg_sql_print_ident(view->table_alias.text, p->out);
        }
        for (size_t j = 0; j < view->column_alias_count; j++) {
            add(p, j > 0 ? ", " : " AS ");
            tg_sql_print_ident(view->column_aliases[j].text, p->out);
        }
    }
}

static void print_select(tg_printer *p, const tg_select *select)
{
    add(p, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    print_select_items(p, select);
    if (select->from) {
        tg_printer_clause(p);
        add(p, "FROM ");
        tg_printer_relation(p, select->from);
    }
    print_lateral_views(p, select);
    print_condition(p, "WHERE ", select->where);
    print_group_by(p, select);
    print_condition(p, "HAVING ", select->having);
    print_condition(p, "QUALIFY ", select->qualify);
    for (size_t i = 0; i < select->window_count; i++) {
        if (i == 0) {
            tg_printer_clause(p);
        }
        add(p, i > 0 ? ", " : "WINDOW ");
        tg_sql_print_ident(select->windows[i].name.text, p->out);
        add(p, " AS ");
        print_window(p, select->windows[i].spec);
    }
}

static void print_body(tg_printer *p, const tg_query_body *body);

static void print_set_op(tg_printer *p, const tg_query_body *body)
{
    static const char *const WORDS[] = {"UNION", "INTERSECT", "EXCEPT"};
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    TG_VEC(const tg_query_body *) spine = {0};
    bool is_intersect = body->op == TG_INTERSECT;
    while (body->kind == TG_BODY_SET_OP && (body->op == TG_INTERSECT) == is_intersect) {
        TG_VEC_PUSH(scratch, &spine, body);
        body = body->left;
    }
    print_body(p, body);
    for (size_t i = spine.count; i-- > 0;) {
        tg_printer_clause(p);
        add(p, WORDS[spine.items[i]->op]);
        add(p, spine.items[i]->all ? " ALL" : "");
        tg_printer_clause(p);
        print_body(p, spine.items[i]->right);
    }
}

static void print_body(tg_printer *p, const tg_query_body *body)
{
    switch (body->kind) {
    case TG_BODY_SELECT:
        print_select(p, body->select);
        break;
    case TG_BODY_VALUES:
        print_values(p, body);
        break;
    case TG_BODY_SET_OP:
        print_set_op(p, body);
        break;
    case TG_BODY_QUERY:
        print_in_paren_query(p, body->query);
        break;
    case TG_BODY_TABLE:
        add(p, "TABLE ");
        tg_printer_name(p, &body->table);
        break;
    }
}

static void print_ctes(tg_printer *p, const tg_query *query)
{
    for (size_t i = 0; i < query->cte_count; i++) {
        const tg_cte *cte = &query->ctes[i];
        add(p, i > 0 ? ", " : query->recursive ? "WITH RECURSIVE " : "WITH ");
        tg_sql_print_ident(cte->name.text, p->out);
        if (cte->column_alias_count > 0) {
            add(p, " ");
            tg_printer_idents(p, cte->column_aliases, cte->column_alias_count);
        }
        add(p, " AS ");
        print_in_paren_query(p, cte->query);
    }
    if (query->cte_count > 0) {
        tg_printer_clause(p);
    }
}

void tg_printer_query(tg_printer *p, const tg_query *query)
{
    print_ctes(p, query);
    print_body(p, query->body);
    if (query->order_count > 0) {
        tg_printer_clause(p);
        add(p, query->is_sort_by ? "SORT BY " : "ORDER BY ");
        print_sort_items(p, query->order_by, query->order_count);
    }
    print_condition(p, "LIMIT ", query->limit);
    print_condition(p, "OFFSET ", query->offset);
}

bool tg_printer_is_open(const tg_query *query)
{
    const tg_query_body *body = query->body;
    while (body->kind == TG_BODY_SET_OP) {
        body = body->left;
    }
    return query->cte_count == 0 && body->kind == TG_BODY_QUERY;
}

void tg_sql_print_query(const tg_query *query, bool pretty, tg_buf *out)
{
    tg_printer p = {.out = out, .pretty = pretty};
    tg_printer_query(&p, query);
}
