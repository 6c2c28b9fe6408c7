/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are two syntax trees the same but for where they stand in their texts and for quotes around
 * names? The measure of what printing keeps. Left-deep chains are walked in loops.
 */
#include "sql/sql.h"

static bool query_equal(const tg_query *a, const tg_query *b);
static bool expr_equal(const tg_expr *a, const tg_expr *b);
static bool relation_equal(const tg_relation *a, const tg_relation *b);

/* ---- names and lists ------------------------------------------------------------------------- */

static bool ident_equal(tg_ident a, tg_ident b)
{
    return tg_str_eq(a.text, b.text);
}

/* A list that may be NULL is equal to one of empty names. */
static bool idents_equal(const tg_ident *a, size_t a_count, const tg_ident *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!ident_equal(a ? a[i] : (tg_ident){0}, b ? b[i] : (tg_ident){0})) {
            return false;
        }
    }
    return true;
}

static bool name_equal(const tg_name *a, const tg_name *b)
{
    return idents_equal(a->parts, a->count, b->parts, b->count);
}

static bool exprs_equal(tg_expr *const *a, size_t a_count, tg_expr *const *b, size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!expr_equal(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool properties_equal(const tg_property *a, size_t a_count, const tg_property *b,
                             size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!tg_str_eq(a[i].key, b[i].key) || !tg_str_eq(a[i].value, b[i].value)) {
            return false;
        }
    }
    return true;
}

/* Nullability of fields and their comments count too: as text. */
static bool type_equal(const tg_type *a, const tg_type *b)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return a == b || (a && b && tg_str_eq(tg_type_ddl(scratch, a), tg_type_ddl(scratch, b)));
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool sorts_equal(const tg_sort_item *a, size_t a_count, const tg_sort_item *b,
                        size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (a[i].descending != b[i].descending || a[i].nulls != b[i].nulls ||
            !expr_equal(a[i].expr, b[i].expr)) {
            return false;
        }
    }
    return true;
}

static bool bound_equal(const tg_frame_bound *a, const tg_frame_bound *b)
{
    return a->kind == b->kind && expr_equal(a->offset, b->offset);
}

static bool window_equal(const tg_window_spec *a, const tg_window_spec *b)
{
    if (!a || !b) {
        return a == b;
    }
    return ident_equal(a->base, b->base) && a->frame == b->frame &&
           exprs_equal(a->partition_by, a->partition_count, b->partition_by, b->partition_count) &&
           sorts_equal(a->order_by, a->order_count, b->order_by, b->order_count) &&
           (a->frame == TG_FRAME_NONE || (bound_equal(&a->frame_start, &b->frame_start) &&
                                          bound_equal(&a->frame_end, &b->frame_end)));
}

static bool call_equal(const tg_call *a, const tg_call *b, size_t arg_count)
{
    if (!a || !b) {
        return a == b;
    }
    return name_equal(&a->name, &b->name) && a->distinct == b->distinct && a->star == b->star &&
           a->no_parens == b->no_parens && a->ignore_nulls == b->ignore_nulls &&
           a->respect_nulls == b->respect_nulls && expr_equal(a->filter, b->filter) &&
           sorts_equal(a->within_group, a->within_group_count, b->within_group,
                       b->within_group_count) &&
           idents_equal(a->arg_names, arg_count, b->arg_names, arg_count) &&
           idents_equal(a->arg_aliases, arg_count, b->arg_aliases, arg_count) &&
           window_equal(a->over, b->over);
}

static bool literal_equal(tg_value a, tg_value b)
{
    /* The text tells 0.0 from -0.0. */
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return tg_type_equal(a.type, b.type) &&
           tg_str_eq(tg_value_literal(scratch, a), tg_value_literal(scratch, b));
}

/* All of a node but its arguments. */
static bool node_equal(const tg_expr *a, const tg_expr *b)
{
    if (a->kind != b->kind || a->arg_count != b->arg_count || a->op != b->op ||
        a->negated != b->negated || a->has_operand != b->has_operand ||
        a->has_else != b->has_else || a->is_try != b->is_try ||
        a->is_typed_literal != b->is_typed_literal || a->is != b->is || a->like != b->like ||
        a->quantifier != b->quantifier || a->except_count != b->except_count) {
        return false;
    }
    for (size_t i = 0; i < a->except_count; i++) {
        if (!name_equal(&a->except[i], &b->except[i])) {
            return false;
        }
    }
    return (a->kind != TG_EXPR_LITERAL || literal_equal(a->literal, b->literal)) &&
           name_equal(&a->name, &b->name) && ident_equal(a->field, b->field) &&
           idents_equal(a->params, a->param_count, b->params, b->param_count) &&
           type_equal(a->type, b->type) && expr_equal(a->escape, b->escape) &&
           query_equal(a->query, b->query) && call_equal(a->call, b->call, a->arg_count);
}

static bool expr_equal(const tg_expr *a, const tg_expr *b)
{
    while (a && b && a->kind == TG_EXPR_BINARY) {
        if (!node_equal(a, b) || !expr_equal(a->args[1], b->args[1])) {
            return false;
        }
        a = a->args[0];
        b = b->args[0];
    }
    if (!a || !b) {
        return a == b;
    }
    return node_equal(a, b) && exprs_equal(a->args, a->arg_count, b->args, b->arg_count);
}

/* ---- relations ------------------------------------------------------------------------------- */

/* All of a relation but what stands left of it. */
static bool relation_node_equal(const tg_relation *a, const tg_relation *b)
{
    return a->kind == b->kind && ident_equal(a->alias, b->alias) &&
           idents_equal(a->column_aliases, a->column_alias_count, b->column_aliases,
                        b->column_alias_count) &&
           a->is_stream == b->is_stream && name_equal(&a->name, &b->name) &&
           expr_equal(a->version, b->version) && expr_equal(a->timestamp, b->timestamp) &&
           a->has_sample == b->has_sample && tg_str_eq(a->clause_text, b->clause_text) &&
           properties_equal(a->options, a->option_count, b->options, b->option_count) &&
           query_equal(a->query, b->query) && expr_equal(a->call, b->call) &&
           a->lateral == b->lateral && a->join == b->join && a->natural == b->natural &&
           relation_equal(a->right, b->right) && expr_equal(a->on, b->on) &&
           idents_equal(a->using_columns, a->using_count, b->using_columns, b->using_count);
}

static bool relation_equal(const tg_relation *a, const tg_relation *b)
{
    while (a && b) {
        if (!relation_node_equal(a, b)) {
            return false;
        }
        a = a->left;
        b = b->left;
    }
    return a == b;
}

/* ---- queries --------------------------------------------------------------------------------- */

static bool items_equal(const tg_select_item *a, size_t a_count, const tg_select_item *b,
                        size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!expr_equal(a[i].expr, b[i].expr) || !ident_equal(a[i].alias, b[i].alias) ||
            !idents_equal(a[i].aliases, a[i].alias_count, b[i].aliases, b[i].alias_count)) {
            return false;
        }
    }
    return true;
}

static bool views_equal(const tg_select *a, const tg_select *b)
{
    if (a->lateral_view_count != b->lateral_view_count) {
        return false;
    }
    for (size_t i = 0; i < a->lateral_view_count; i++) {
        const tg_lateral_view *left = &a->lateral_views[i], *right = &b->lateral_views[i];
        if (left->outer != right->outer || !expr_equal(left->call, right->call) ||
            !ident_equal(left->table_alias, right->table_alias) ||
            !idents_equal(left->column_aliases, left->column_alias_count, right->column_aliases,
                          right->column_alias_count)) {
            return false;
        }
    }
    return true;
}

static bool windows_equal(const tg_select *a, const tg_select *b)
{
    if (a->window_count != b->window_count) {
        return false;
    }
    for (size_t i = 0; i < a->window_count; i++) {
        if (!ident_equal(a->windows[i].name, b->windows[i].name) ||
            !window_equal(a->windows[i].spec, b->windows[i].spec)) {
            return false;
        }
    }
    return true;
}

static bool select_equal(const tg_select *a, const tg_select *b)
{
    if (!a || !b) {
        return a == b;
    }
    return a->distinct == b->distinct &&
           items_equal(a->items, a->item_count, b->items, b->item_count) &&
           relation_equal(a->from, b->from) && views_equal(a, b) &&
           expr_equal(a->where, b->where) && a->group_kind == b->group_kind &&
           exprs_equal(a->group_by, a->group_count, b->group_by, b->group_count) &&
           expr_equal(a->having, b->having) && expr_equal(a->qualify, b->qualify) &&
           windows_equal(a, b);
}

static bool rows_equal(const tg_query_body *a, const tg_query_body *b)
{
    if (a->row_count != b->row_count) {
        return false;
    }
    for (size_t i = 0; i < a->row_count; i++) {
        if (!exprs_equal(a->rows[i], a->row_lens[i], b->rows[i], b->row_lens[i])) {
            return false;
        }
    }
    return true;
}

static bool body_equal(const tg_query_body *a, const tg_query_body *b)
{
    while (a && b && a->kind == TG_BODY_SET_OP) {
        if (a->kind != b->kind || a->op != b->op || a->all != b->all ||
            !body_equal(a->right, b->right)) {
            return false;
        }
        a = a->left;
        b = b->left;
    }
    if (!a || !b) {
        return a == b;
    }
    return a->kind == b->kind && select_equal(a->select, b->select) && rows_equal(a, b) &&
           query_equal(a->query, b->query) && name_equal(&a->table, &b->table);
}

static bool query_equal(const tg_query *a, const tg_query *b)
{
    if (!a || !b) {
        return a == b;
    }
    if (a->recursive != b->recursive || a->cte_count != b->cte_count ||
        a->is_sort_by != b->is_sort_by) {
        return false;
    }
    for (size_t i = 0; i < a->cte_count; i++) {
        const tg_cte *left = &a->ctes[i], *right = &b->ctes[i];
        if (!ident_equal(left->name, right->name) ||
            !idents_equal(left->column_aliases, left->column_alias_count, right->column_aliases,
                          right->column_alias_count) ||
            !query_equal(left->query, right->query)) {
            return false;
        }
    }
    return body_equal(a->body, b->body) &&
           sorts_equal(a->order_by, a->order_count, b->order_by, b->order_count) &&
           expr_equal(a->limit, b->limit) && expr_equal(a->offset, b->offset);
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool columns_equal(const tg_stmt *a, const tg_stmt *b)
{
    if (a->column_count != b->column_count) {
        return false;
    }
    for (size_t i = 0; i < a->column_count; i++) {
        const tg_column_def *left = &a->columns[i], *right = &b->columns[i];
        if (!ident_equal(left->name, right->name) || !type_equal(left->type, right->type) ||
            left->not_null != right->not_null || !tg_str_eq(left->comment, right->comment) ||
            !expr_equal(left->default_value, right->default_value) ||
            !expr_equal(left->generated, right->generated) ||
            !tg_str_eq(left->identity, right->identity) || !tg_str_eq(left->mask, right->mask)) {
            return false;
        }
    }
    return true;
}

static bool constraints_equal(const tg_stmt *a, const tg_stmt *b)
{
    if (a->constraint_count != b->constraint_count) {
        return false;
    }
    for (size_t i = 0; i < a->constraint_count; i++) {
        const tg_constraint *left = &a->constraints[i], *right = &b->constraints[i];
        if (left->kind != right->kind || !ident_equal(left->name, right->name) ||
            !expr_equal(left->expect, right->expect) || left->on_violation != right->on_violation ||
            !idents_equal(left->columns, left->column_count, right->columns, right->column_count) ||
            (left->kind != TG_CONSTRAINT_EXPECT && !tg_str_eq(left->text, right->text))) {
            return false;
        }
    }
    return true;
}

static bool clauses_equal(const tg_dataset_clauses *a, const tg_dataset_clauses *b)
{
    return properties_equal(a->properties, a->property_count, b->properties, b->property_count) &&
           tg_str_eq(a->comment, b->comment) &&
           idents_equal(a->partition_by, a->partition_count, b->partition_by, b->partition_count) &&
           exprs_equal(a->cluster_by, a->cluster_count, b->cluster_by, b->cluster_count) &&
           a->cluster_auto == b->cluster_auto && tg_str_eq(a->using_format, b->using_format) &&
           properties_equal(a->options, a->option_count, b->options, b->option_count) &&
           tg_str_eq(a->location, b->location) && tg_str_eq(a->collation, b->collation) &&
           tg_str_eq(a->schedule, b->schedule) && tg_str_eq(a->refresh_policy, b->refresh_policy) &&
           tg_str_eq(a->row_filter, b->row_filter);
}

static bool flow_equal(const tg_flow_spec *a, const tg_flow_spec *b)
{
    if (!a || !b) {
        return a == b;
    }
    return a->kind == b->kind && a->once == b->once && expr_equal(a->predicate, b->predicate) &&
           idents_equal(a->keys, a->key_count, b->keys, b->key_count) &&
           expr_equal(a->sequence_by, b->sequence_by) && query_equal(a->query, b->query) &&
           relation_equal(a->cdc_source, b->cdc_source) &&
           query_equal(a->version_query, b->version_query) && tg_str_eq(a->cdc_text, b->cdc_text);
}

static bool flags_equal(const tg_stmt *a, const tg_stmt *b)
{
    return a->or_refresh == b->or_refresh && a->or_replace == b->or_replace &&
           a->if_not_exists == b->if_not_exists && a->is_private == b->is_private &&
           a->is_temporary == b->is_temporary && a->if_exists == b->if_exists &&
           a->cascade == b->cascade && a->by_name == b->by_name &&
           a->schema_evolution == b->schema_evolution && a->full == b->full &&
           a->async == b->async && a->insert_mode == b->insert_mode && a->describe == b->describe;
}

static bool assignments_equal(const tg_assignment *a, size_t a_count, const tg_assignment *b,
                              size_t b_count)
{
    if (a_count != b_count) {
        return false;
    }
    for (size_t i = 0; i < a_count; i++) {
        if (!name_equal(&a[i].column, &b[i].column) || !expr_equal(a[i].value, b[i].value)) {
            return false;
        }
    }
    return true;
}

static bool partitions_equal(const tg_stmt *a, const tg_stmt *b)
{
    if (a->partition_count != b->partition_count) {
        return false;
    }
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!ident_equal(a->partition[i].column, b->partition[i].column) ||
            !expr_equal(a->partition[i].value, b->partition[i].value)) {
            return false;
        }
    }
    return true;
}

static bool merges_equal(const tg_stmt *a, const tg_stmt *b)
{
    if (a->merge_clause_count != b->merge_clause_count || !relation_equal(a->source, b->source)) {
        return false;
    }
    for (size_t i = 0; i < a->merge_clause_count; i++) {
        const tg_merge_clause *left = &a->merge_clauses[i], *right = &b->merge_clauses[i];
        if (left->when != right->when || left->action != right->action ||
            left->star != right->star || !expr_equal(left->condition, right->condition) ||
            !assignments_equal(left->assignments, left->assignment_count, right->assignments,
                               right->assignment_count)) {
            return false;
        }
    }
    return true;
}

bool tg_sql_stmt_equal(const tg_stmt *a, const tg_stmt *b)
{
    if (!a || !b) {
        return a == b;
    }
    return a->kind == b->kind && flags_equal(a, b) && name_equal(&a->name, &b->name) &&
           name_equal(&a->target, &b->target) && columns_equal(a, b) && constraints_equal(a, b) &&
           clauses_equal(&a->clauses, &b->clauses) && flow_equal(a->flow, b->flow) &&
           query_equal(a->query, b->query) &&
           idents_equal(a->insert_columns, a->insert_column_count, b->insert_columns,
                        b->insert_column_count) &&
           expr_equal(a->where, b->where) && ident_equal(a->table_alias, b->table_alias) &&
           ident_equal(a->source_alias, b->source_alias) && partitions_equal(a, b) &&
           merges_equal(a, b) &&
           assignments_equal(a->assignments, a->assignment_count, b->assignments,
                             b->assignment_count) &&
           tg_str_eq(a->key, b->key) && tg_str_eq(a->value, b->value) &&
           tg_str_eq(a->object_word, b->object_word) && tg_str_eq(a->rest, b->rest) &&
           tg_str_eq(a->pattern, b->pattern) && tg_sql_stmt_equal(a->inner, b->inner);
}

bool tg_sql_query_equal(const tg_query *a, const tg_query *b)
{
    return query_equal(a, b);
}

bool tg_sql_expr_equal(const tg_expr *a, const tg_expr *b)
{
    return expr_equal(a, b);
}
