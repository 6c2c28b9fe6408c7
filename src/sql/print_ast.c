/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree as Databricks SQL in a normal form: keywords in upper case, operands in
 * parentheses where Spark's precedence needs them, names quoted where a bare word would mean
 * something else.
 */
#include "sql/sql.h"
#include "sql/token.h"

typedef struct printer {
    tg_buf *out;
    bool pretty;
    int indent;
} printer;

static void print_expr(printer *p, const tg_expr *expr, int level);
static void print_query(printer *p, const tg_query *query);

static void add(printer *p, const char *text)
{
    tg_buf_addz(p->out, text);
}

/* A clause begins: on a line of its own when pretty. */
static void new_clause(printer *p)
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

static void print_name(printer *p, const tg_name *name)
{
    for (size_t i = 0; i < name->count; i++) {
        add(p, i > 0 ? "." : "");
        tg_sql_print_ident(name->parts[i].text, p->out);
    }
}

static void print_idents(printer *p, const tg_ident *idents, size_t count)
{
    add(p, "(");
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_sql_print_ident(idents[i].text, p->out);
    }
    add(p, ")");
}

static void print_value(printer *p, tg_value value)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_adds(p->out, tg_value_literal(scratch, value));
}

static void print_string(printer *p, tg_str text)
{
    print_value(p, tg_value_bytes(tg_type_of(TG_TYPE_STRING), text));
}

static void print_type(printer *p, const tg_type *type)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_adds(p->out, tg_type_ddl(scratch, type));
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* How tightly a node binds; an operand of lower level goes into parentheses. */
enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_PREDICATE,
    LEVEL_COMPARE,
    LEVEL_PIPE,
    LEVEL_HAT,
    LEVEL_AMPERSAND,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MULTIPLY,
    LEVEL_UNARY,
    LEVEL_PRIMARY
};

typedef struct operator_text {
    const char *text;
    int level;
} operator_text;

static operator_text operator_of(tg_op op)
{
    static const operator_text TEXTS[] = {
        [TG_OP_NEGATE] = {"-", LEVEL_UNARY},
        [TG_OP_PLUS] = {"+", LEVEL_UNARY},
        [TG_OP_NOT] = {"NOT ", LEVEL_NOT},
        [TG_OP_BIT_NOT] = {"~", LEVEL_UNARY},
        [TG_OP_ADD] = {"+", LEVEL_ADD},
        [TG_OP_SUB] = {"-", LEVEL_ADD},
        [TG_OP_MUL] = {"*", LEVEL_MULTIPLY},
        [TG_OP_DIV] = {"/", LEVEL_MULTIPLY},
        [TG_OP_MOD] = {"%", LEVEL_MULTIPLY},
        [TG_OP_INT_DIV] = {"DIV", LEVEL_MULTIPLY},
        [TG_OP_CONCAT] = {"||", LEVEL_ADD},
        [TG_OP_BIT_AND] = {"&", LEVEL_AMPERSAND},
        [TG_OP_BIT_OR] = {"|", LEVEL_PIPE},
        [TG_OP_BIT_XOR] = {"^", LEVEL_HAT},
        [TG_OP_SHIFT_LEFT] = {"<<", LEVEL_SHIFT},
        [TG_OP_SHIFT_RIGHT] = {">>", LEVEL_SHIFT},
        [TG_OP_SHIFT_RIGHT_UNSIGNED] = {">>>", LEVEL_SHIFT},
        [TG_OP_EQ] = {"=", LEVEL_COMPARE},
        [TG_OP_NE] = {"<>", LEVEL_COMPARE},
        [TG_OP_LT] = {"<", LEVEL_COMPARE},
        [TG_OP_LE] = {"<=", LEVEL_COMPARE},
        [TG_OP_GT] = {">", LEVEL_COMPARE},
        [TG_OP_GE] = {">=", LEVEL_COMPARE},
        [TG_OP_EQ_NULL_SAFE] = {"<=>", LEVEL_COMPARE},
        [TG_OP_AND] = {"AND", LEVEL_AND},
        [TG_OP_OR] = {"OR", LEVEL_OR},
    };
    return TEXTS[op];
}

static void print_exprs(printer *p, tg_expr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        print_expr(p, exprs[i], 0);
    }
}

static void print_sort_items(printer *p, const tg_sort_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        print_expr(p, items[i].expr, 0);
        add(p, items[i].descending ? " DESC" : "");
        add(p, items[i].nulls == TG_NULLS_FIRST  ? " NULLS FIRST"
               : items[i].nulls == TG_NULLS_LAST ? " NULLS LAST"
                                                 : "");
    }
}

static void print_frame_bound(printer *p, const tg_frame_bound *bound)
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
        print_expr(p, bound->offset, LEVEL_COMPARE);
        add(p, bound->kind == TG_BOUND_PRECEDING ? " PRECEDING" : " FOLLOWING");
        break;
    }
}

static void print_window(printer *p, const tg_window_spec *spec)
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
        print_exprs(p, spec->partition_by, spec->partition_count);
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

static bool is_unit_call(const tg_call *call)
{
    return call->name.count == 1 &&
           tg_keyword_takes_unit(tg_keyword_find(call->name.parts[0].text));
}

static void print_call_args(printer *p, const tg_expr *expr)
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
        /* The unit of a date function is a bare word: as a text it would mean another form. */
        bool is_unit = i == 0 && expr->arg_count == 3 && is_unit_call(call) &&
                       expr->args[0]->kind == TG_EXPR_LITERAL &&
                       expr->args[0]->literal.type->kind == TG_TYPE_STRING;
        if (is_unit) {
            tg_buf_adds(p->out, expr->args[0]->literal.as.bytes);
        } else {
            print_expr(p, expr->args[i], 0);
        }
        if (call->arg_aliases && call->arg_aliases[i].text.len > 0) {
            add(p, " AS ");
            tg_sql_print_ident(call->arg_aliases[i].text, p->out);
        }
    }
}

static void print_call(printer *p, const tg_expr *expr)
{
    const tg_call *call = expr->call;
    for (size_t i = 0; i < call->name.count; i++) {
        /* function names are words like if, left, current_date: bare unless they were quoted */
        add(p, i > 0 ? "." : "");
        if (call->name.parts[i].quoted) {
            tg_sql_print_ident(call->name.parts[i].text, p->out);
        } else {
            tg_buf_adds(p->out, call->name.parts[i].text);
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
        print_expr(p, call->filter, 0);
        add(p, ")");
    }
    add(p, call->ignore_nulls ? " IGNORE NULLS" : call->respect_nulls ? " RESPECT NULLS" : "");
    if (call->over) {
        add(p, " OVER ");
        print_window(p, call->over);
    }
}

static void print_is(printer *p, const tg_expr *expr)
{
    static const char *const WORDS[] = {"NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM "};
    print_expr(p, expr->args[0], LEVEL_COMPARE);
    add(p, expr->negated ? " IS NOT " : " IS ");
    add(p, WORDS[expr->is]);
    if (expr->is == TG_IS_DISTINCT_FROM) {
        print_expr(p, expr->args[1], LEVEL_COMPARE);
    }
}

static void print_like(printer *p, const tg_expr *expr)
{
    static const char *const WORDS[] = {" LIKE ", " ILIKE ", " RLIKE "};
    print_expr(p, expr->args[0], LEVEL_COMPARE);
    add(p, expr->negated ? " NOT" : "");
    add(p, WORDS[expr->like]);
    if (expr->quantifier != TG_QUANT_NONE) {
        add(p, expr->quantifier == TG_QUANT_ANY ? "ANY (" : "ALL (");
        print_exprs(p, expr->args + 1, expr->arg_count - 1);
        add(p, ")");
    } else {
        print_expr(p, expr->args[1], LEVEL_COMPARE);
    }
    if (expr->escape) {
        add(p, " ESCAPE ");
        print_expr(p, expr->escape, LEVEL_PRIMARY);
    }
}

static void print_case(printer *p, const tg_expr *expr)
{
    size_t at = 0, end = expr->arg_count - expr->has_else;
    add(p, "CASE");
    if (expr->has_operand) {
        add(p, " ");
        print_expr(p, expr->args[at++], 0);
    }
    for (; at + 1 < end; at += 2) {
        add(p, " WHEN ");
        print_expr(p, expr->args[at], 0);
        add(p, " THEN ");
        print_expr(p, expr->args[at + 1], 0);
    }
    if (expr->has_else) {
        add(p, " ELSE ");
        print_expr(p, expr->args[end], 0);
    }
    add(p, " END");
}

static void print_star(printer *p, const tg_expr *expr)
{
    if (expr->name.count > 0) {
        print_name(p, &expr->name);
        add(p, ".");
    }
    add(p, "*");
    if (expr->except_count > 0) {
        add(p, " EXCEPT (");
        for (size_t i = 0; i < expr->except_count; i++) {
            add(p, i > 0 ? ", " : "");
            print_name(p, &expr->except[i]);
        }
        add(p, ")");
    }
}

static void print_lambda(printer *p, const tg_expr *expr)
{
    if (expr->param_count == 1) {
        tg_sql_print_ident(expr->params[0].text, p->out);
    } else {
        print_idents(p, expr->params, expr->param_count);
    }
    add(p, " -> ");
    print_expr(p, expr->args[0], 0);
}

static void print_cast(printer *p, const tg_expr *expr)
{
    if (expr->is_typed_literal) {
        print_type(p, expr->type);
        print_expr(p, expr->args[0], LEVEL_PRIMARY);
        return;
    }
    add(p, expr->is_try ? "TRY_CAST(" : "CAST(");
    print_expr(p, expr->args[0], 0);
    add(p, " AS ");
    print_type(p, expr->type);
    add(p, ")");
}

static void print_in_paren_query(printer *p, const tg_query *query)
{
    add(p, "(");
    p->indent++;
    print_query(p, query);
    p->indent--;
    add(p, ")");
}

/* a AND b AND c ...: the left spine in a loop. */
static void print_binary(printer *p, const tg_expr *expr)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    TG_VEC(const tg_expr *) spine = {0};
    int level = operator_of(expr->op).level;
    const tg_expr *node = expr;
    while (node->kind == TG_EXPR_BINARY && operator_of(node->op).level == level) {
        TG_VEC_PUSH(scratch, &spine, node);
        node = node->args[0];
    }
    print_expr(p, node, level);
    for (size_t i = spine.count; i-- > 0;) {
        tg_buf_addf(p->out, " %s ", operator_of(spine.items[i]->op).text);
        print_expr(p, spine.items[i]->args[1], level + 1);
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
        return LEVEL_PREDICATE;
    case TG_EXPR_LITERAL: {
        bool is_number = tg_type_is_numeric(expr->literal.type) && !expr->literal.is_null;
        return is_number ? LEVEL_UNARY : LEVEL_PRIMARY; /* it may begin with a minus */
    }
    case TG_EXPR_LAMBDA:
    case TG_EXPR_EXISTS:
        return LEVEL_NOT;
    default:
        return LEVEL_PRIMARY;
    }
}

static void print_node(printer *p, const tg_expr *expr)
{
    switch (expr->kind) {
    case TG_EXPR_LITERAL:
        print_value(p, expr->literal);
        break;
    case TG_EXPR_NAME:
        print_name(p, &expr->name);
        break;
    case TG_EXPR_STAR:
        print_star(p, expr);
        break;
    case TG_EXPR_UNARY:
        add(p, operator_of(expr->op).text);
        print_expr(p, expr->args[0], expr->op == TG_OP_NOT ? LEVEL_NOT : LEVEL_PRIMARY);
        break;
    case TG_EXPR_BINARY:
        print_binary(p, expr);
        break;
    case TG_EXPR_IS:
        print_is(p, expr);
        break;
    case TG_EXPR_BETWEEN:
        print_expr(p, expr->args[0], LEVEL_COMPARE);
        add(p, expr->negated ? " NOT BETWEEN " : " BETWEEN ");
        print_expr(p, expr->args[1], LEVEL_COMPARE);
        add(p, " AND ");
        print_expr(p, expr->args[2], LEVEL_COMPARE);
        break;
    case TG_EXPR_IN_LIST:
        print_expr(p, expr->args[0], LEVEL_COMPARE);
        add(p, expr->negated ? " NOT IN (" : " IN (");
        print_exprs(p, expr->args + 1, expr->arg_count - 1);
        add(p, ")");
        break;
    case TG_EXPR_IN_QUERY:
        print_expr(p, expr->args[0], LEVEL_COMPARE);
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
        print_expr(p, expr->args[0], LEVEL_PRIMARY);
        add(p, "[");
        print_expr(p, expr->args[1], LEVEL_COMPARE);
        add(p, "]");
        break;
    case TG_EXPR_FIELD:
        print_expr(p, expr->args[0], LEVEL_PRIMARY + (expr->args[0]->kind == TG_EXPR_NAME));
        add(p, ".");
        tg_sql_print_ident(expr->field.text, p->out);
        break;
    case TG_EXPR_ROW:
        add(p, "(");
        print_exprs(p, expr->args, expr->arg_count);
        add(p, ")");
        break;
    case TG_EXPR_INTERVAL:
        add(p, "INTERVAL ");
        print_expr(p, expr->args[0],
                   LEVEL_PRIMARY + (expr->args[0]->kind != TG_EXPR_NAME &&
                                    expr->args[0]->kind != TG_EXPR_PARAMETER));
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

static void print_expr(printer *p, const tg_expr *expr, int level)
{
    bool paren = level_of(expr) < level;
    add(p, paren ? "(" : "");
    print_node(p, expr);
    add(p, paren ? ")" : "");
}

void tg_sql_print_expr(const tg_expr *expr, tg_buf *out)
{
    printer p = {.out = out};
    print_expr(&p, expr, 0);
}

/* ---- relations ------------------------------------------------------------------------------- */

static void print_alias(printer *p, tg_ident alias, const tg_ident *columns, size_t column_count)
{
    if (alias.text.len > 0) {
        add(p, " AS ");
        tg_sql_print_ident(alias.text, p->out);
    }
    if (column_count > 0) {
        add(p, alias.text.len > 0 ? " " : " AS ");
        print_idents(p, columns, column_count);
    }
}

static void print_relation(printer *p, const tg_relation *relation);

static void print_join(printer *p, const tg_relation *join)
{
    static const char *const WORDS[] = {"JOIN",          "CROSS JOIN", "LEFT JOIN",
                                        "RIGHT JOIN",    "FULL JOIN",  "LEFT SEMI JOIN",
                                        "LEFT ANTI JOIN"};
    add(p, join->natural ? " NATURAL " : " ");
    add(p, WORDS[join->join]);
    add(p, " ");
    bool nested = join->right->kind == TG_REL_JOIN;
    add(p, nested ? "(" : "");
    print_relation(p, join->right);
    add(p, nested ? ")" : "");
    if (join->on) {
        add(p, " ON ");
        print_expr(p, join->on, 0);
    }
    if (join->using_count > 0) {
        add(p, " USING ");
        print_idents(p, join->using_columns, join->using_count);
    }
}

static void print_values(printer *p, const tg_query_body *body);

static void print_table(printer *p, const tg_relation *relation)
{
    add(p, relation->is_stream ? "STREAM(" : "");
    if (relation->kind == TG_REL_FUNCTION) {
        print_expr(p, relation->call, 0);
    } else {
        print_name(p, &relation->name);
    }
    if (relation->version) {
        add(p, " VERSION AS OF ");
        print_expr(p, relation->version, LEVEL_COMPARE);
    } else if (relation->timestamp) {
        add(p, " TIMESTAMP AS OF ");
        print_expr(p, relation->timestamp, LEVEL_COMPARE);
    }
    add(p, relation->is_stream ? ")" : "");
    for (size_t i = 0; i < relation->option_count; i++) {
        add(p, i > 0 ? ", " : " WITH (");
        print_string(p, relation->options[i].key);
        add(p, " = ");
        print_string(p, relation->options[i].value);
        add(p, i + 1 == relation->option_count ? ")" : "");
    }
}

static void print_one_relation(printer *p, const tg_relation *relation)
{
    add(p, relation->lateral && relation->kind != TG_REL_JOIN ? "LATERAL " : "");
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
        print_relation(p, relation->left);
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

static void print_relation(printer *p, const tg_relation *relation)
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

static void print_values(printer *p, const tg_query_body *body)
{
    add(p, "VALUES ");
    for (size_t i = 0; i < body->row_count; i++) {
        add(p, i > 0 ? ", (" : "(");
        print_exprs(p, body->rows[i], body->row_lens[i]);
        add(p, ")");
    }
}

static void print_select_items(printer *p, const tg_select *select)
{
    for (size_t i = 0; i < select->item_count; i++) {
        const tg_select_item *item = &select->items[i];
        add(p, i > 0 ? ", " : "");
        print_expr(p, item->expr, 0);
        if (item->alias.text.len > 0) {
            add(p, " AS ");
            tg_sql_print_ident(item->alias.text, p->out);
        } else if (item->alias_count > 0) {
            add(p, " AS ");
            print_idents(p, item->aliases, item->alias_count);
        }
    }
}

static void print_group_by(printer *p, const tg_select *select)
{
    static const char *const WORDS[] = {[TG_GROUP_ROLLUP] = "ROLLUP (",
                                        [TG_GROUP_CUBE] = "CUBE (",
                                        [TG_GROUP_SETS] = "GROUPING SETS ("};
    if (select->group_kind == TG_GROUP_NONE) {
        return;
    }
    new_clause(p);
    add(p, "GROUP BY ");
    if (select->group_kind == TG_GROUP_ALL) {
        add(p, "ALL");
        return;
    }
    bool wrapped = select->group_kind == TG_GROUP_ROLLUP || select->group_kind == TG_GROUP_CUBE ||
                   select->group_kind == TG_GROUP_SETS;
    add(p, wrapped ? WORDS[select->group_kind] : "");
    print_exprs(p, select->group_by, select->group_count);
    add(p, wrapped ? ")" : "");
}

static void print_condition(printer *p, const char *word, const tg_expr *condition)
{
    if (condition) {
        new_clause(p);
        add(p, word);
        print_expr(p, condition, 0);
    }
}

static void print_lateral_views(printer *p, const tg_select *select)
{
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        const tg_lateral_view *view = &select->lateral_views[i];
        new_clause(p);
        add(p, view->outer ? "LATERAL VIEW OUTER " : "LATERAL VIEW ");
        print_expr(p, view->call, 0);
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

static void print_select(printer *p, const tg_select *select)
{
    add(p, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    print_select_items(p, select);
    if (select->from) {
        new_clause(p);
        add(p, "FROM ");
        print_relation(p, select->from);
    }
    print_lateral_views(p, select);
    print_condition(p, "WHERE ", select->where);
    print_group_by(p, select);
    print_condition(p, "HAVING ", select->having);
    print_condition(p, "QUALIFY ", select->qualify);
    for (size_t i = 0; i < select->window_count; i++) {
        if (i == 0) {
            new_clause(p);
        }
        add(p, i > 0 ? ", " : "WINDOW ");
        tg_sql_print_ident(select->windows[i].name.text, p->out);
        add(p, " AS ");
        print_window(p, select->windows[i].spec);
    }
}

static void print_body(printer *p, const tg_query_body *body);

static void print_set_op(printer *p, const tg_query_body *body)
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
        new_clause(p);
        add(p, WORDS[spine.items[i]->op]);
        add(p, spine.items[i]->all ? " ALL" : "");
        new_clause(p);
        print_body(p, spine.items[i]->right);
    }
}

static void print_body(printer *p, const tg_query_body *body)
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
        print_name(p, &body->table);
        break;
    }
}

static void print_ctes(printer *p, const tg_query *query)
{
    for (size_t i = 0; i < query->cte_count; i++) {
        const tg_cte *cte = &query->ctes[i];
        add(p, i > 0 ? ", " : query->recursive ? "WITH RECURSIVE " : "WITH ");
        tg_sql_print_ident(cte->name.text, p->out);
        if (cte->column_alias_count > 0) {
            add(p, " ");
            print_idents(p, cte->column_aliases, cte->column_alias_count);
        }
        add(p, " AS ");
        print_in_paren_query(p, cte->query);
    }
    if (query->cte_count > 0) {
        new_clause(p);
    }
}

static void print_query(printer *p, const tg_query *query)
{
    print_ctes(p, query);
    print_body(p, query->body);
    if (query->order_count > 0) {
        new_clause(p);
        add(p, query->is_sort_by ? "SORT BY " : "ORDER BY ");
        print_sort_items(p, query->order_by, query->order_count);
    }
    print_condition(p, "LIMIT ", query->limit);
    print_condition(p, "OFFSET ", query->offset);
}

void tg_sql_print_query(const tg_query *query, bool pretty, tg_buf *out)
{
    printer p = {.out = out, .pretty = pretty};
    print_query(&p, query);
}
