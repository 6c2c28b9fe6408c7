/* SPDX-License-Identifier: Apache-2.0 */
/* Lints of a flow: its predicate term by term, then its query. */
#include "pipeline/lint.h"

#include "sql/functions.h"

static const struct lint_row {
    const char *code, *name;
} rows[] = {
#define TG_LINT(id, code, name, finds, fix) {code, name},
#include "pipeline/lints.def"
#undef TG_LINT
};

/* ---- what is ignored ------------------------------------------------------------------------- */

/* Takes the next code off a list; false at its end. */
static bool next_code(tg_str *list, tg_str *out)
{
    if (list->len == 0) {
        return false;
    }
    size_t comma = tg_str_find(*list, TG_S(","), 0);
    size_t end = comma == SIZE_MAX ? list->len : comma;
    *out = tg_str_trim(tg_str_sub(*list, 0, end));
    *list = tg_str_sub(*list, end + (comma != SIZE_MAX), list->len);
    return true;
}

tg_code tg_lint_check_ignored(tg_str codes, tg_error *err)
{
    tg_str word;
    while (next_code(&codes, &word)) {
        tg_str known[TG_LINT_COUNT_];
        bool is_known = false;
        for (size_t i = 0; i < TG_LINT_COUNT_; i++) {
            known[i] = tg_str_from(rows[i].code);
            is_known = is_known || tg_str_ieq(word, known[i]);
        }
        if (is_known) {
            continue;
        }
        (void)TG_ERR(err, TIDEGATE_INVALID_TABLE_PROPERTY,
                     "`%.*s` in table property `" TG_LINT_PROPERTY "` is not the code of a lint",
                     TG_SARG(word));
        tg_str nearest = tg_str_nearest(word, known, TG_LINT_COUNT_);
        return nearest.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(nearest))
                           : tg_error_hint(err, "Codes are %s to %s; see docs/lints.md.",
                                           rows[0].code, rows[TG_LINT_COUNT_ - 1].code);
    }
    return TG_OK;
}

static bool is_ignored(const tg_flow *flow, tg_lint_id id)
{
    const tg_dataset *dataset = flow->dataset;
    for (size_t i = 0; i < dataset->property_count; i++) {
        tg_str codes = dataset->properties[i].value, word;
        while (tg_str_ieq(dataset->properties[i].key, TG_S(TG_LINT_PROPERTY)) &&
               next_code(&codes, &word)) {
            if (tg_str_ieq(word, tg_str_from(rows[id].code))) {
                return true;
            }
        }
    }
    return false;
}

/* ---- adding ---------------------------------------------------------------------------------- */

typedef struct linter {
    const tg_flow *flow;
    const tg_bound_query *query;
    const tg_bind_options *options;
    tg_arena *arena;
    tg_schema schema; /* of the query's output */
    TG_VEC(tg_lint) lints;
} linter;

static void add(linter *l, tg_lint_id id, tg_span span, tg_str message, tg_str fix)
{
    if (!is_ignored(l->flow, id)) {
        TG_VEC_PUSH(l->arena, &l->lints,
                    (tg_lint){.code = rows[id].code,
                              .name = rows[id].name,
                              .message = message,
                              .fix = fix,
                              .span = span});
    }
}

static tg_str text_of(const linter *l, const tg_expr *expr)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_expr(expr, &text);
    return tg_buf_take(&text, l->arena);
}

/* ---- the predicate --------------------------------------------------------------------------- */

/* A part of the predicate, bound by itself; NULL: it cannot be. */
static const tg_bexpr *bind_part(const linter *l, const tg_expr *expr, bool *out_has_time)
{
    tg_bexpr *bound;
    bool is_deterministic;
    return tg_sql_bind_predicate(expr, l->schema, l->flow->aliases, l->flow->alias_count,
                                 l->options, l->arena, &bound, out_has_time, &is_deterministic,
                                 NULL) == TG_OK
               ? bound
               : NULL;
}

static bool is_timestamp(const tg_type *type)
{
    return type->kind == TG_TYPE_TIMESTAMP || type->kind == TG_TYPE_TIMESTAMP_NTZ;
}

static const tg_bexpr *strip_casts(const tg_bexpr *expr)
{
    while (expr->kind == TG_B_CAST && expr->cast_mode == TG_CAST_IMPLICIT) {
        expr = expr->args[0];
    }
    return expr;
}

/* "2024-01-31", without a time of day */
static bool is_date_text(tg_str text)
{
    int64_t days;
    return text.len >= 8 && text.len <= 10 && tg_str_find(text, TG_S(":"), 0) == SIZE_MAX &&
           tg_date_parse(text, &days);
}

/* A day as a value: of type DATE, or a text that is one. */
static bool is_day(const tg_bexpr *expr)
{
    expr = strip_casts(expr);
    return expr->type->kind == TG_TYPE_DATE ||
           (expr->kind == TG_B_LITERAL && expr->type->kind == TG_TYPE_STRING &&
            !expr->literal.is_null && is_date_text(expr->literal.as.bytes));
}

/* The day behind a day, in the user's words. */
static tg_str day_after(const linter *l, const tg_expr *day)
{
    bool is_text = day->kind == TG_EXPR_LITERAL && day->literal.type->kind == TG_TYPE_STRING;
    return tg_str_printf(l->arena, "date_add(%s%.*s, 1)", is_text ? "DATE" : "",
                         TG_SARG(text_of(l, day)));
}

static bool is_timestamp_column(const tg_bexpr *expr)
{
    expr = strip_casts(expr);
    return expr->kind == TG_B_COLUMN && is_timestamp(expr->type);
}

/* The bound comparison with its sides as they are written, or NULL. */
static const tg_bexpr *bind_comparison(const linter *l, const tg_expr *expr, bool *out_has_time)
{
    const tg_bexpr *bound = bind_part(l, expr, out_has_time);
    return bound && bound->kind == TG_B_CALL && bound->arg_count == 2 ? bound : NULL;
}

/* One side is the column and the other a value; turns `value op column` around. */
static bool take_sides(const tg_expr *expr, const tg_bexpr *bound, size_t *out_column,
                       tg_op *out_op)
{
    static const tg_op turned[][2] = {{TG_OP_LT, TG_OP_GT},
                                      {TG_OP_LE, TG_OP_GE},
                                      {TG_OP_GT, TG_OP_LT},
                                      {TG_OP_GE, TG_OP_LE},
                                      {TG_OP_EQ, TG_OP_EQ}};
    for (size_t i = 0; i < sizeof(turned) / sizeof(*turned); i++) {
        if (expr->op != turned[i][0]) {
            continue;
        }
        bool is_left = strip_casts(bound->args[0])->kind == TG_B_COLUMN;
        *out_column = is_left ? 0 : 1;
        *out_op = is_left ? expr->op : turned[i][1];
        return is_left || strip_casts(bound->args[1])->kind == TG_B_COLUMN;
    }
    return false;
}

static void lint_date_bound(linter *l, const tg_expr *expr, const tg_bexpr *bound, size_t column,
                            tg_op op)
{
    const tg_expr *day = expr->args[1 - column];
    if ((op != TG_OP_LE && op != TG_OP_EQ) || !is_timestamp_column(bound->args[column]) ||
        !is_day(bound->args[1 - column])) {
        return;
    }
    tg_str name = text_of(l, expr->args[column]), value = text_of(l, day);
    bool is_text = strip_casts(bound->args[1 - column])->type->kind == TG_TYPE_STRING;
    tg_str fix = op == TG_OP_LE
                     ? tg_str_printf(l->arena, "Write: %.*s < %.*s", TG_SARG(name),
                                     TG_SARG(day_after(l, day)))
                     : tg_str_printf(l->arena, "Write: CAST(%.*s AS DATE) = %s%.*s", TG_SARG(name),
                                     is_text ? "DATE" : "", TG_SARG(value));
    add(l, TG_LINT_DATE_BOUND, expr->span,
        tg_str_printf(l->arena,
                      "%.*s is a timestamp: only the first moment of the day %.*s is in the window",
                      TG_SARG(name), TG_SARG(value)),
        fix);
}

static void lint_between(linter *l, const tg_expr *expr)
{
    bool has_time;
    tg_expr compare = *expr;
    compare.kind = TG_EXPR_BINARY;
    compare.op = TG_OP_LE;
    tg_expr *sides[] = {expr->args[0], expr->args[2]};
    compare.args = sides;
    compare.arg_count = 2;
    const tg_bexpr *bound = bind_comparison(l, &compare, &has_time);
    if (!bound || expr->negated || !is_timestamp_column(bound->args[0])) {
        return;
    }
    bool ends_in_day = is_day(bound->args[1]);
    tg_str name = text_of(l, expr->args[0]), end = text_of(l, expr->args[2]);
    add(l, TG_LINT_BETWEEN, expr->span,
        ends_in_day
            ? tg_str_printf(l->arena,
                            "%.*s is a timestamp: of the last day, %.*s, only the first moment is "
                            "in the window",
                            TG_SARG(name), TG_SARG(end))
            : tg_str_printf(l->arena,
                            "BETWEEN includes both ends: rows of the moment %.*s are in the next "
                            "window too",
                            TG_SARG(end)),
        tg_str_printf(l->arena, "Write: %.*s >= %.*s AND %.*s < %.*s", TG_SARG(name),
                      TG_SARG(text_of(l, expr->args[1])), TG_SARG(name),
                      TG_SARG(ends_in_day ? day_after(l, expr->args[2]) : end)));
}

/*
 * Does a bound, once folded, keep nothing of the past out? `d < current_date()` keeps out a day that
 * is not over: that is meant.
 */
static bool reaches_now(const linter *l, const tg_bexpr *expr, tg_op op)
{
    tg_bexpr *copy = tg_arena_memdup(l->arena, expr, sizeof(*expr));
    const tg_bexpr *value = tg_sql_fold(copy, l->options->zone, l->arena);
    int64_t today =
        tg_floor_div(tg_zone_local_us(l->options->zone, l->options->now_us), TG_US_PER_DAY);
    if (value->kind != TG_B_LITERAL || value->literal.is_null) {
        return false;
    }
    return value->type->kind == TG_TYPE_DATE ? value->literal.as.i64 >= today + (op == TG_OP_LT)
           : value->type->kind == TG_TYPE_TIMESTAMP ? value->literal.as.i64 >= l->options->now_us
                                                    : false;
}

static void lint_moving_end(linter *l, const tg_expr *expr, const tg_bexpr *bound, size_t column,
                            tg_op op, bool has_time)
{
    bool is_end = op == TG_OP_LE || op == TG_OP_LT;
    if (!is_end || !has_time || !reaches_now(l, bound->args[1 - column], op)) {
        return;
    }
    tg_str name = text_of(l, expr->args[column]);
    tg_str end = text_of(l, expr->args[1 - column]);
    add(l, TG_LINT_MOVING_END, expr->span,
        tg_str_printf(l->arena,
                      "the window's end %.*s moves with the clock and keeps no past row out",
                      TG_SARG(end)),
        tg_str_printf(l->arena,
                      "Leave out: %.*s (or end with a day that is over: CAST(%.*s AS DATE) "
                      "< current_date())",
                      TG_SARG(text_of(l, expr)), TG_SARG(name)));
}

static void lint_term(linter *l, const tg_expr *expr)
{
    if (expr->kind == TG_EXPR_BETWEEN) {
        lint_between(l, expr);
        return;
    }
    bool has_time;
    size_t column;
    tg_op op;
    const tg_bexpr *bound =
        expr->kind == TG_EXPR_BINARY ? bind_comparison(l, expr, &has_time) : NULL;
    if (!bound || !take_sides(expr, bound, &column, &op)) {
        return;
    }
    lint_date_bound(l, expr, bound, column, op);
    lint_moving_end(l, expr, bound, column, op, has_time);
}

/* The terms of AND, from the right: chains are long on the left. OR and NOT are left alone. */
static void lint_predicate(linter *l, const tg_expr *expr)
{
    while (expr->kind == TG_EXPR_BINARY && expr->op == TG_OP_AND) {
        lint_predicate(l, expr->args[1]);
        expr = expr->args[0];
    }
    lint_term(l, expr);
}

/* ---- where a column of the predicate comes from ---------------------------------------------- */

static const tg_rel *find_output(const tg_rel *rel, uint32_t id, size_t *out_index)
{
    for (size_t i = 0; i < rel->column_count; i++) {
        if (rel->columns[i].id == id) {
            *out_index = i;
            return rel;
        }
    }
    return NULL;
}

/*
 * Follows an output column down to the node that makes it: an AGGREGATE, a SCAN (by way of joins), or
 * NULL where it is computed or meets anything that is not simple. joins gets those on the way.
 */
typedef struct origin {
    const tg_rel *rel;
    size_t index;
    TG_VEC(const tg_rel *) joins;
} origin;

static void trace(const linter *l, const tg_rel *rel, uint32_t id, origin *out)
{
    size_t index = 0;
    while (rel) {
        switch (rel->kind) {
        case TG_R_SCAN:
        case TG_R_AGGREGATE:
            out->rel = find_output(rel, id, &out->index);
            return;
        case TG_R_PROJECT:
            if (!find_output(rel, id, &index) || rel->exprs[index]->kind != TG_B_COLUMN) {
                return;
            }
            id = rel->exprs[index]->column_id;
            rel = rel->input;
            break;
        case TG_R_JOIN:
            TG_VEC_PUSH(l->arena, &out->joins, rel);
            rel = find_output(rel->input, id, &index) ? rel->input : rel->right;
            break;
        case TG_R_FILTER:
        case TG_R_SORT:
        case TG_R_WINDOW:
            rel = rel->input;
            break;
        default:
            return;
        }
    }
}

static void lint_aggregate(linter *l, const tg_expr *name, const origin *from)
{
    if (!from->rel || from->rel->kind != TG_R_AGGREGATE || from->index < from->rel->group_count ||
        from->rel->group_count == 0) {
        return;
    }
    tg_str column = text_of(l, name);
    add(l, TG_LINT_WINDOW_OF_AGGREGATE, name->span,
        tg_str_printf(l->arena,
                      "%.*s is an aggregate of the query: groups move in and out of the "
                      "window with any change, and the whole source is read",
                      TG_SARG(column)),
        tg_str_printf(l->arena,
                      "Put %.*s into GROUP BY, or use a column of GROUP BY in REPLACE WHERE.",
                      TG_SARG(column)));
}

/* The scans below one side of a join, as far as filters and inner joins go. */
static const tg_rel *partitioned_scan(const tg_rel *rel, tg_str name, const tg_type *type,
                                      size_t *out_index)
{
    while (rel->kind == TG_R_FILTER || rel->kind == TG_R_PROJECT) {
        rel = rel->input;
    }
    if (rel->kind != TG_R_SCAN) {
        return NULL;
    }
    for (size_t i = 0; i < rel->table->partition_count; i++) {
        for (size_t j = 0; j < rel->column_count; j++) {
            if (tg_str_ieq(rel->table->partition_columns[i], name) &&
                tg_str_ieq(rel->columns[j].name, name) &&
                tg_type_equal(rel->columns[j].type, type)) {
                *out_index = j;
                return rel;
            }
        }
    }
    return NULL;
}

static bool mentions(const tg_bexpr *expr, uint32_t id)
{
    while (expr) {
        if (expr->rel || (expr->kind == TG_B_COLUMN && expr->column_id == id)) {
            return true; /* what a subquery does is not looked at: be silent */
        }
        for (size_t i = 1; i < expr->arg_count; i++) {
            if (mentions(expr->args[i], id)) {
                return true;
            }
        }
        expr = expr->arg_count > 0 ? expr->args[0] : NULL;
    }
    return false;
}

/* Do filters of the side speak of the column already? */
static bool is_filtered(const tg_rel *rel, uint32_t id)
{
    for (; rel && rel->kind != TG_R_SCAN; rel = rel->input) {
        if (rel->kind == TG_R_FILTER && mentions(rel->condition, id)) {
            return true;
        }
    }
    return false;
}

static void lint_joins(linter *l, const tg_expr *name, const origin *from)
{
    if (!from->rel || from->rel->kind != TG_R_SCAN) {
        return;
    }
    const tg_column *column = &from->rel->columns[from->index];
    for (size_t i = 0; i < from->joins.count; i++) {
        const tg_rel *join = from->joins.items[i];
        size_t index = 0;
        bool comes_left = find_output(join->input, column->id, &index) != NULL;
        const tg_rel *other = comes_left ? join->right : join->input;
        const tg_rel *scan = partitioned_scan(other, column->name, column->type, &index);
        bool is_plain = join->join == TG_JOIN_INNER || (join->join == TG_JOIN_LEFT && comes_left);
        if (!scan || scan == from->rel || !is_plain || !join->condition ||
            mentions(join->condition, scan->columns[index].id) ||
            is_filtered(other, scan->columns[index].id)) {
            continue;
        }
        add(l, TG_LINT_PARTITION_NOT_JOINED, name->span,
            tg_str_printf(l->arena,
                          "%.*s is partitioned by `%.*s` and joined without it: all of its "
                          "partitions are read",
                          TG_SARG(scan->table->name), TG_SARG(column->name)),
            tg_str_printf(l->arena,
                          "If both columns mean the same, add to the join: AND %.*s.%.*s = "
                          "%.*s.%.*s",
                          TG_SARG(from->rel->table->name), TG_SARG(column->name),
                          TG_SARG(scan->table->name), TG_SARG(column->name)));
    }
}

/* The item of the select list that gives the column; NULL: a star does, or it cannot be told. */
static const tg_select_item *item_of(const tg_query *query, tg_str column)
{
    const tg_query_body *body = query->body;
    const tg_select_item *found = NULL;
    for (size_t i = 0; body->kind == TG_BODY_SELECT && i < body->select->item_count; i++) {
        const tg_select_item *item = &body->select->items[i];
        bool is_name = item->expr->kind == TG_EXPR_NAME;
        tg_str name = item->alias.text;
        if (!name.len && is_name) {
            name = item->expr->name.parts[item->expr->name.count - 1].text;
        }
        if (tg_str_ieq(name, column)) {
            found = found ? NULL : item;
        }
    }
    return found;
}

/* a.d where the output's d is no a.d. */
static void lint_alias(linter *l, const tg_expr *expr)
{
    const tg_name *name = &expr->name;
    if (name->count < 2 || tg_schema_find(l->schema, name->parts[0].text) >= 0) {
        return; /* no alias, or a field of a struct */
    }
    tg_str alias = name->parts[0].text, column = name->parts[1].text;
    const tg_select_item *item = item_of(l->flow->spec->query, column);
    if (!item) {
        return;
    }
    const tg_name *source = item->expr->kind == TG_EXPR_NAME ? &item->expr->name : NULL;
    bool is_same = source && tg_str_ieq(source->parts[source->count - 1].text, column) &&
                   (source->count == 1 || tg_str_ieq(source->parts[source->count - 2].text, alias));
    if (!is_same) {
        add(l, TG_LINT_OTHER_COLUMN, expr->span,
            tg_str_printf(l->arena,
                          "`%.*s.%.*s` is taken for the table's column `%.*s`, which the query "
                          "takes from: %.*s",
                          TG_SARG(alias), TG_SARG(column), TG_SARG(column),
                          TG_SARG(text_of(l, item->expr))),
            tg_str_printf(l->arena,
                          "Write `%.*s` if that is meant; else select %.*s.%.*s under a name of "
                          "its own and use that.",
                          TG_SARG(column), TG_SARG(alias), TG_SARG(column)));
    }
}

static void lint_name(linter *l, const tg_expr *expr, tg_map *seen)
{
    lint_alias(l, expr);
    tg_str last = expr->name.parts[expr->name.count - 1].text;
    ptrdiff_t at = tg_schema_find(l->schema, last);
    origin from = {0};
    if (at >= 0 && !tg_map_put(seen, last, seen)) {
        trace(l, l->query->rel, l->query->rel->columns[at].id, &from);
        lint_aggregate(l, expr, &from);
        lint_joins(l, expr, &from);
    }
}

/* Every name in the predicate once. */
static void lint_names(linter *l, const tg_expr *expr, tg_map *seen)
{
    while (expr) {
        if (expr->kind == TG_EXPR_NAME) {
            lint_name(l, expr, seen);
        }
        for (size_t i = 1; i < expr->arg_count; i++) {
            lint_names(l, expr->args[i], seen);
        }
        expr = expr->arg_count > 0 ? expr->args[0] : NULL;
    }
}

/* ---- the query ------------------------------------------------------------------------------- */

static const char *const unstable_functions[] = {"current_timestamp",
                                                 "now",
                                                 "current_date",
                                                 "curdate",
                                                 "localtimestamp",
                                                 "rand",
                                                 "random",
                                                 "randn",
                                                 "uuid",
                                                 "monotonically_increasing_id"};

static bool is_unstable(const tg_expr *expr)
{
    bool found = false;
    bool is_call = expr->kind == TG_EXPR_CALL && expr->call->name.count == 1;
    for (size_t i = 0; is_call && i < sizeof(unstable_functions) / sizeof(*unstable_functions);
         i++) {
        found =
            found || tg_str_ieq(expr->call->name.parts[0].text, tg_str_from(unstable_functions[i]));
    }
    return found;
}

static const tg_expr *find_unstable(const tg_expr *expr)
{
    while (expr && !is_unstable(expr)) {
        for (size_t i = 1; i < expr->arg_count; i++) {
            const tg_expr *found = find_unstable(expr->args[i]);
            if (found) {
                return found;
            }
        }
        expr = expr->arg_count > 0 ? expr->args[0] : NULL;
    }
    return expr;
}

static void lint_columns(linter *l)
{
    const tg_query_body *body = l->flow->spec->query->body;
    if (body->kind != TG_BODY_SELECT) {
        return;
    }
    for (size_t i = 0; i < body->select->item_count; i++) {
        const tg_select_item *item = &body->select->items[i];
        const tg_expr *call = find_unstable(item->expr);
        if (!call) {
            continue;
        }
        tg_str name = item->alias.text.len ? item->alias.text : text_of(l, item->expr);
        add(l, TG_LINT_UNSTABLE_COLUMN, call->span,
            tg_str_printf(l->arena,
                          "column `%.*s` has another value at each refresh: no row can be kept",
                          TG_SARG(name)),
            tg_str_printf(l->arena, "Leave `%.*s` out, or take it from a column of the source.",
                          TG_SARG(name)));
    }
}

/* The text at a span, if that is of the flow's own file: spans of views are of theirs. */
static bool own_text(const linter *l, tg_span span, const char *begins, tg_str *out)
{
    const tg_query *query = l->flow->spec->query;
    size_t end = (size_t)span.offset + span.len;
    if (span.len == 0 || span.offset < query->span.offset ||
        end > (size_t)query->span.offset + query->span.len || end > l->flow->file->text.len) {
        return false;
    }
    *out = tg_str_sub(l->flow->file->text, span.offset, end);
    return tg_str_istarts(*out, tg_str_from(begins));
}

static void lint_sum(linter *l, const tg_bexpr *aggregate)
{
    static const char *const order_dependent[] = {"sum", "avg", "mean"};
    const char *name = aggregate->function ? aggregate->function->name : "";
    for (size_t i = 0; i < sizeof(order_dependent) / sizeof(*order_dependent); i++) {
        tg_str call, argument;
        if (strcmp(name, order_dependent[i]) != 0 || aggregate->arg_count != 1) {
            continue;
        }
        const tg_bexpr *arg = strip_casts(aggregate->args[0]);
        if (!tg_type_is_floating(arg->type) || !own_text(l, aggregate->span, "", &call) ||
            !own_text(l, arg->span, "", &argument)) {
            continue;
        }
        add(l, TG_LINT_DOUBLE_SUM, aggregate->span,
            tg_str_printf(l->arena,
                          "%.*s adds %s values: its last digits depend on the order of "
                          "the rows, and the whole window is computed each time",
                          TG_SARG(call), arg->type->kind == TG_TYPE_FLOAT ? "FLOAT" : "DOUBLE"),
            tg_str_printf(l->arena, "Write: %s(CAST(%.*s AS DECIMAL(38, 6)))", name,
                          TG_SARG(argument)));
    }
}

static void lint_aggregates(linter *l, const tg_rel *rel)
{
    for (; rel; rel = rel->input) {
        for (size_t i = rel->group_count; rel->kind == TG_R_AGGREGATE && i < rel->expr_count; i++) {
            lint_sum(l, rel->exprs[i]);
        }
        if (rel->right) {
            lint_aggregates(l, rel->right);
        }
    }
}

void tg_lint_flow(const tg_flow *flow, const tg_bound_query *query, const tg_bind_options *options,
                  tg_arena *arena, const tg_lint **out_lints, size_t *out_count)
{
    linter l = {.flow = flow, .query = query, .options = options, .arena = arena};
    *out_lints = NULL;
    *out_count = 0;
    if (tg_sql_output_schema(query->rel, arena, &l.schema, NULL) != TG_OK) {
        return;
    }
    if (flow->kind == TG_FLOW_REPLACE_WHERE) {
        tg_map seen;
        tg_map_init_ignore_case(&seen, arena);
        lint_predicate(&l, flow->spec->predicate);
        lint_names(&l, flow->spec->predicate, &seen);
        lint_aggregates(&l, query->rel);
    }
    lint_columns(&l);
    *out_lints = l.lints.items;
    *out_count = l.lints.count;
}
