/* SPDX-License-Identifier: Apache-2.0 */
/* UPDATE, DELETE with subqueries, INSERT ... REPLACE USING and REPLACE ON. MERGE: bind_merge.c. */
#include "sql/bind_dml_int.h"

/* ---- tables ---------------------------------------------------------------------------------- */

void tg_dml_init(tg_dml *dml, const tg_stmt *stmt, const tg_table *target,
                 const tg_bind_options *options, tg_arena *arena)
{
    *dml = (tg_dml){.stmt = stmt, .target = target, .schema = target->schema};
    dml->b = (tg_binder){.options = options, .arena = arena, .next_id = 1};
    dml->b.fn = (tg_fn_context){.arena = arena,
                                .now_us = options->now_us,
                                .zone = options->zone ? options->zone : tg_zone_utc()};
}

static tg_rel *scan(tg_dml *dml, const tg_table *table)
{
    tg_rel *rel = tg_sql_scan(table, dml->b.next_id, dml->b.arena);
    rel->span = dml->stmt->name.span;
    dml->b.next_id += (uint32_t)table->schema.count;
    return rel;
}

static const tg_table *with_ids(tg_dml *dml, const tg_table *from, tg_schema schema,
                                const char *const *ids, size_t id_count)
{
    tg_table *table = tg_arena_memdup(dml->b.arena, from, sizeof(*from));
    tg_field *fields = TG_NEW_ARRAY(dml->b.arena, tg_field, schema.count + id_count);
    for (size_t i = 0; i < schema.count; i++) {
        fields[i] = schema.fields[i];
    }
    for (size_t i = 0; i < id_count; i++) {
        fields[schema.count + i] =
            (tg_field){.name = tg_str_from(ids[i]), .type = tg_type_of(TG_TYPE_BIGINT)};
    }
    table->schema = (tg_schema){.fields = fields, .count = schema.count + id_count};
    table->has_row_ids = id_count > 0;
    return table;
}

void tg_dml_scan_target(tg_dml *dml)
{
    static const char *const IDS[TG_DML_ROW_IDS] = {"tidegate file", "tidegate row"};
    const tg_stmt *stmt = dml->stmt;
    dml->rows = scan(dml, with_ids(dml, dml->target, dml->schema, IDS, TG_DML_ROW_IDS));
    bool has_alias = stmt->table_alias.text.len > 0;
    size_t count = has_alias ? 1 : stmt->name.count;
    tg_str *qualifier = TG_NEW_ARRAY(dml->b.arena, tg_str, count);
    for (size_t i = 0; i < count; i++) {
        qualifier[i] = has_alias ? stmt->table_alias.text : stmt->name.parts[i].text;
    }
    dml->scope = tg_bind_scope_of(&dml->b, dml->rows, NULL, qualifier, count);
    dml->scope->count -= TG_DML_ROW_IDS; /* no name means them */
}

tg_rel *tg_dml_scan_let(tg_dml *dml, tg_str let, const tg_rel *rel, bool has_row_ids)
{
    static const char *const IDS[] = {"tidegate row"};
    tg_arena *arena = dml->b.arena;
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        fields[i] = (tg_field){.name = tg_str_printf(arena, "c%zu", i),
                               .type = rel->columns[i].type,
                               .nullable = true};
    }
    tg_table table = {.name = let, .let = let, .version = -1};
    tg_schema schema = {.fields = fields, .count = rel->column_count};
    tg_rel *rows = scan(dml, with_ids(dml, &table, schema, IDS, has_row_ids ? 1 : 0));
    /* A column of NULLs alone has no type in a table: it is NULL here again. */
    tg_bexpr **exprs = TG_NEW_ARRAY(arena, tg_bexpr *, rows->column_count);
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, rows->column_count);
    for (size_t i = 0; i < rows->column_count; i++) {
        const tg_column *column = &rows->columns[i];
        exprs[i] = column->type->kind == TG_TYPE_VOID ? tg_dml_null(dml, column->type)
                                                      : tg_bexpr_column(arena, column, rel->span);
        tg_str name = i < rel->column_count ? rel->columns[i].name : column->name;
        columns[i] = tg_bind_column(&dml->b, name, column->type, true);
    }
    return tg_sql_rel_project(arena, rows, exprs, columns, rows->column_count);
}

tg_rel *tg_dml_join(tg_dml *dml, tg_join_kind kind, tg_rel *left, tg_rel *right,
                    tg_bexpr *condition)
{
    bool left_only = kind == TG_JOIN_LEFT_SEMI || kind == TG_JOIN_LEFT_ANTI;
    size_t count = left->column_count + (left_only ? 0 : right->column_count);
    tg_column *columns = TG_NEW_ARRAY(dml->b.arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        columns[i] =
            i < left->column_count ? left->columns[i] : right->columns[i - left->column_count];
    }
    tg_rel *rel = TG_NEW(dml->b.arena, tg_rel);
    *rel = (tg_rel){.kind = TG_R_JOIN,
                    .span = condition->span,
                    .columns = columns,
                    .column_count = count,
                    .input = left,
                    .right = right,
                    .join = kind,
                    .condition = condition};
    return rel;
}

/* ---- values ---------------------------------------------------------------------------------- */

tg_bexpr *tg_dml_null(tg_dml *dml, const tg_type *type)
{
    return tg_bexpr_literal(dml->b.arena, tg_value_null(type), dml->stmt->span);
}

tg_bexpr *tg_dml_int(tg_dml *dml, int value)
{
    return tg_bexpr_literal(dml->b.arena, tg_value_int(tg_type_of(TG_TYPE_INT), value),
                            dml->stmt->span);
}

bool tg_sql_is_default(const tg_expr *expr)
{
    return expr->kind == TG_EXPR_NAME && expr->name.count == 1 && !expr->name.parts[0].quoted &&
           tg_str_ieq(expr->name.parts[0].text, TG_S("default"));
}

bool tg_sql_same_field_names(const tg_type *from, const tg_type *to)
{
    if (from->kind != to->kind || !tg_type_is_nested(from)) {
        return true;
    }
    if (from->kind != TG_TYPE_STRUCT) {
        return tg_sql_same_field_names(from->element, to->element) &&
               (from->kind == TG_TYPE_ARRAY || tg_sql_same_field_names(from->key, to->key));
    }
    for (size_t i = 0; i < from->field_count && i < to->field_count; i++) {
        if (!tg_str_ieq(from->fields[i].name, to->fields[i].name) ||
            !tg_sql_same_field_names(from->fields[i].type, to->fields[i].type)) {
            return false;
        }
    }
    return true;
}

tg_code tg_dml_store(tg_dml *dml, tg_bexpr *expr, const tg_field *field, tg_bexpr **out,
                     tg_error *err)
{
    tg_arena *arena = dml->b.arena;
    if (!tg_type_equal(expr->type, field->type) &&
        (!tg_sql_can_store(expr->type, field->type) ||
         !tg_sql_same_field_names(expr->type, field->type))) {
        TG_ERR(err, INCOMPATIBLE_DATA_FOR_TABLE_CANNOT_SAFELY_CAST,
               "cannot store %.*s in column `%.*s`, which is %.*s",
               TG_SARG(tg_type_text(arena, expr->type)), TG_SARG(field->name),
               TG_SARG(tg_type_text(arena, field->type)));
        (void)tg_error_hint(err, "Cast the value to the column's type.");
        return tg_error_span(err, expr->span.offset, expr->span.len);
    }
    return tg_sql_cast(&dml->b.fn, expr, field->type, TG_CAST_IMPLICIT, expr->span, out, err);
}

tg_code tg_dml_refuse_random(const tg_dml *dml, tg_span span, tg_error *err)
{
    if (dml->b.random_count == 0) {
        return TG_OK;
    }
    TG_ERR(err, DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED,
           "%s() gives another value each time: it cannot decide which rows change, nor to what",
           dml->b.random_function ? dml->b.random_function : "a function");
    return tg_error_span(err, span.offset, span.len);
}

/* ---- assignments ----------------------------------------------------------------------------- */

/* Assignments to one column or field of one; depth: parts of their names that lead there. */
typedef struct assignment_group {
    tg_dml *dml;
    const tg_expr_ctx *ctx;
    const tg_assignment *const *items;
    const size_t *starts; /* per item: where the column stands in its name */
    size_t count, depth;
} assignment_group;

static tg_code assigned_twice(const tg_dml *dml, const tg_name *name, tg_error *err)
{
    TG_ERR(err, DELTA_CONFLICT_SET_COLUMN, "%.*s is given a value twice",
           TG_SARG(tg_bind_name_text(dml->b.arena, name)));
    return tg_error_span(err, name->span.offset, name->span.len);
}

static tg_code bind_value(tg_dml *dml, const tg_expr_ctx *ctx, const tg_expr *value,
                          const tg_field *field, tg_bexpr **out, tg_error *err)
{
    tg_bexpr *expr = tg_dml_null(dml, tg_type_of(TG_TYPE_VOID));
    if (!tg_sql_is_default(value)) { /* tables with column defaults are refused: it is NULL */
        TG_TRY(tg_bind_expr(ctx, value, &expr, err));
    }
    return tg_dml_store(dml, expr, field, out, err);
}

static tg_code assign_group(const assignment_group *group, const tg_field *field, tg_bexpr *old,
                            tg_bexpr **out, tg_error *err);

/* The struct anew, with some fields replaced. */
static tg_code assign_fields(const assignment_group *group, const tg_field *field, tg_bexpr *old,
                             tg_bexpr **out, tg_error *err)
{
    tg_binder *b = &group->dml->b;
    const tg_type *type = field->type;
    tg_bexpr **args = TG_NEW_ARRAY(b->arena, tg_bexpr *, 2 * type->field_count);
    size_t used = 0;
    for (size_t f = 0; f < type->field_count; f++) {
        const tg_assignment **mine = TG_NEW_ARRAY(b->arena, const tg_assignment *, group->count);
        size_t *starts = TG_NEW_ARRAY(b->arena, size_t, group->count);
        assignment_group inner = *group;
        inner.items = mine;
        inner.starts = starts;
        inner.count = 0;
        inner.depth++;
        for (size_t i = 0; i < group->count; i++) {
            const tg_name *name = &group->items[i]->column;
            if (tg_str_ieq(name->parts[group->starts[i] + group->depth].text,
                           type->fields[f].name)) {
                mine[inner.count] = group->items[i];
                starts[inner.count++] = group->starts[i];
            }
        }
        used += inner.count;
        args[2 * f] = tg_bexpr_literal(
            b->arena, tg_value_bytes(tg_type_of(TG_TYPE_STRING), type->fields[f].name), old->span);
        args[2 * f + 1] = tg_bexpr_field(b->arena, old, f, old->span);
        if (inner.count) {
            TG_TRY(assign_group(&inner, &type->fields[f], args[2 * f + 1], &args[2 * f + 1], err));
        }
    }
    if (used < group->count) {
        const tg_name *name = &group->items[0]->column;
        return tg_fn_at(name->span, err,
                        TG_ERR(err, FIELD_NOT_FOUND, "`%.*s` has no field of the name in %.*s",
                               TG_SARG(field->name), TG_SARG(tg_bind_name_text(b->arena, name))));
    }
    tg_bexpr *made;
    TG_TRY(tg_bind_apply(b, "named_struct", args, 2 * type->field_count, old->span, &made, err));
    return tg_sql_cast(&b->fn, made, type, TG_CAST_IMPLICIT, old->span, out, err);
}

static tg_code assign_group(const assignment_group *group, const tg_field *field, tg_bexpr *old,
                            tg_bexpr **out, tg_error *err)
{
    for (size_t i = 0; i < group->count; i++) {
        const tg_assignment *item = group->items[i];
        bool is_whole = item->column.count == group->starts[i] + group->depth;
        if (is_whole && group->count > 1) {
            return assigned_twice(group->dml, &group->items[group->count - 1]->column, err);
        }
        if (is_whole) {
            return bind_value(group->dml, group->ctx, item->value, field, out, err);
        }
        if (field->type->kind != TG_TYPE_STRUCT) {
            return tg_fn_at(item->column.span, err,
                            TG_ERR(err, UNSUPPORTED_FEATURE,
                                   "only fields of structs can be assigned: `%.*s` is %.*s",
                                   TG_SARG(field->name),
                                   TG_SARG(tg_type_text(group->dml->b.arena, field->type))));
        }
    }
    return assign_fields(group, field, old, out, err);
}

/* Which column of the target an assignment names, and where in the name it stands. */
static tg_code find_assigned(tg_dml *dml, const tg_assignment *item, size_t *out_column,
                             size_t *out_start, tg_error *err)
{
    size_t matches, used;
    const tg_name *name = &item->column;
    tg_bind_scope_find(dml->scope, name->parts, name->count, &matches, out_column, &used);
    if (matches == 0) {
        return tg_bind_unresolved(&dml->b, dml->scope, name, NULL, 0, err);
    }
    *out_start = used - 1;
    return TG_OK;
}

tg_code tg_dml_assign(tg_dml *dml, const tg_expr_ctx *ctx, const tg_assignment *assignments,
                      size_t count, tg_bexpr **values, tg_error *err)
{
    tg_arena *arena = dml->b.arena;
    size_t *columns = TG_NEW_ARRAY(arena, size_t, count);
    size_t *starts = TG_NEW_ARRAY(arena, size_t, count);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(find_assigned(dml, &assignments[i], &columns[i], &starts[i], err));
    }
    for (size_t c = 0; c < dml->schema.count; c++) {
        const tg_assignment **mine = TG_NEW_ARRAY(arena, const tg_assignment *, count);
        size_t *mine_starts = TG_NEW_ARRAY(arena, size_t, count);
        assignment_group group = {
            .dml = dml, .ctx = ctx, .items = mine, .starts = mine_starts, .depth = 1};
        for (size_t i = 0; i < count; i++) {
            if (columns[i] == c) {
                mine[group.count] = &assignments[i];
                mine_starts[group.count++] = starts[i];
            }
        }
        tg_bexpr *old = values[c] ? values[c] : tg_dml_null(dml, dml->schema.fields[c].type);
        values[c] = old;
        if (group.count) {
            TG_TRY(assign_group(&group, &dml->schema.fields[c], old, &values[c], err));
        }
    }
    return TG_OK;
}

/* ---- CHANGE relations ------------------------------------------------------------------------ */

tg_rel *tg_dml_change(tg_dml *dml, tg_rel *rel, tg_bexpr *file, tg_bexpr *row, tg_bexpr *change,
                      tg_bexpr **values)
{
    static const char *const NAMES[TG_DML_FIRST_VALUE] = {"tidegate file", "tidegate row",
                                                          "tidegate change"};
    size_t count = TG_DML_FIRST_VALUE + dml->schema.count;
    tg_bexpr **exprs = TG_NEW_ARRAY(dml->b.arena, tg_bexpr *, count);
    tg_column *columns = TG_NEW_ARRAY(dml->b.arena, tg_column, count);
    exprs[0] = file ? file : tg_dml_null(dml, tg_type_of(TG_TYPE_BIGINT));
    exprs[1] = row ? row : tg_dml_null(dml, tg_type_of(TG_TYPE_BIGINT));
    exprs[2] = change;
    for (size_t i = 0; i < TG_DML_FIRST_VALUE; i++) {
        columns[i] = tg_bind_column(&dml->b, tg_str_from(NAMES[i]), exprs[i]->type, true);
    }
    for (size_t i = 0; i < dml->schema.count; i++) {
        const tg_field *field = &dml->schema.fields[i];
        tg_bexpr *value = values && values[i] ? values[i] : tg_dml_null(dml, field->type);
        exprs[i + TG_DML_FIRST_VALUE] = value;
        columns[i + TG_DML_FIRST_VALUE] = tg_bind_column(&dml->b, field->name, value->type, true);
    }
    return tg_sql_rel_project(dml->b.arena, rel, exprs, columns, count);
}

static tg_bexpr *row_id(tg_dml *dml, size_t which)
{
    const tg_column *ids = &dml->rows->columns[dml->schema.count];
    return tg_bexpr_column(dml->b.arena, &ids[which], dml->stmt->span);
}

static tg_code filter_target(tg_dml *dml, tg_rel **out, tg_error *err)
{
    *out = dml->rows;
    if (!dml->stmt->where) {
        return TG_OK;
    }
    tg_query_env env = {0};
    tg_expr_ctx ctx = {.b = &dml->b, .scope = dml->scope, .env = &env, .clause = "WHERE"};
    tg_bexpr *condition;
    TG_TRY(tg_bind_condition(&ctx, dml->stmt->where, &condition, err));
    TG_TRY(tg_dml_refuse_random(dml, dml->stmt->where->span, err));
    *out = tg_sql_rel_filter(dml->b.arena, dml->rows,
                             tg_sql_fold(condition, dml->b.fn.zone, dml->b.arena));
    return TG_OK;
}

tg_code tg_sql_bind_update(const tg_stmt *stmt, const tg_table *target,
                           const tg_bind_options *options, tg_arena *arena, tg_bound_dml *out,
                           tg_error *err)
{
    tg_dml dml;
    tg_rel *rows;
    tg_dml_init(&dml, stmt, target, options, arena);
    tg_dml_scan_target(&dml);
    TG_TRY(filter_target(&dml, &rows, err));
    tg_query_env env = {0};
    tg_expr_ctx ctx = {.b = &dml.b, .scope = dml.scope, .env = &env, .clause = "SET"};
    tg_bexpr **values = TG_NEW_ARRAY(arena, tg_bexpr *, dml.schema.count);
    for (size_t i = 0; i < dml.schema.count; i++) {
        values[i] = tg_bexpr_column(arena, &dml.rows->columns[i], stmt->span);
    }
    TG_TRY(tg_dml_assign(&dml, &ctx, stmt->assignments, stmt->assignment_count, values, err));
    TG_TRY(tg_dml_refuse_random(&dml, stmt->span, err));
    *out = (tg_bound_dml){
        .schema = dml.schema,
        .change = tg_dml_change(&dml, rows, row_id(&dml, 0), row_id(&dml, 1),
                                tg_dml_int(&dml, TG_CHANGE_UPDATE), values),
    };
    return TG_OK;
}

tg_code tg_sql_bind_delete(const tg_stmt *stmt, const tg_table *target,
                           const tg_bind_options *options, tg_arena *arena, tg_bound_dml *out,
                           tg_error *err)
{
    tg_dml dml;
    tg_rel *rows;
    tg_dml_init(&dml, stmt, target, options, arena);
    tg_dml_scan_target(&dml);
    TG_TRY(filter_target(&dml, &rows, err));
    *out = (tg_bound_dml){
        .schema = dml.schema,
        .change = tg_dml_change(&dml, rows, row_id(&dml, 0), row_id(&dml, 1),
                                tg_dml_int(&dml, TG_CHANGE_DELETE), NULL),
    };
    return TG_OK;
}

/* ---- REPLACE USING, REPLACE ON --------------------------------------------------------------- */

/* rel's output columns under the names of the columns they go to. */
static tg_rel *named(tg_arena *arena, const tg_rel *rel, const tg_str *names)
{
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, rel->column_count);
    for (size_t i = 0; i < rel->column_count; i++) {
        columns[i] = rel->columns[i];
        columns[i].name = names[i];
    }
    tg_rel *copy = tg_arena_memdup(arena, rel, sizeof(*rel));
    copy->columns = columns;
    return copy;
}

static tg_code using_column(const tg_dml *dml, const tg_ident *key, const tg_rel *query,
                            const tg_insert_columns *columns, size_t *out_column, tg_error *err)
{
    ptrdiff_t at = tg_schema_find(dml->target->schema, key->text);
    ptrdiff_t given = -1;
    for (size_t i = 0; i < query->column_count; i++) {
        given = tg_str_ieq(columns->names[i], key->text) ? (ptrdiff_t)i : given;
    }
    if (at < 0 || given < 0) {
        TG_ERR(err, UNRESOLVED_INSERT_REPLACE_USING_COLUMN,
               "the USING column `%.*s` is not a column of the %s", TG_SARG(key->text),
               at < 0 ? "table" : "query");
        return tg_error_span(err, key->span.offset, key->span.len);
    }
    if (!dml->stmt->by_name && !tg_str_ieq(query->columns[given].name, key->text)) {
        TG_ERR(err, INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS,
               "the query gives `%.*s` where the table has the USING column `%.*s`",
               TG_SARG(query->columns[given].name), TG_SARG(key->text));
        (void)tg_error_hint(err, "Write BY NAME, or give the column that name.");
        return tg_error_span(err, key->span.offset, key->span.len);
    }
    *out_column = (size_t)at;
    return TG_OK;
}

/* Plain equality: NULL keys replace nothing. */
static tg_code using_condition(tg_dml *dml, const tg_rel *query, const tg_insert_columns *columns,
                               const tg_rel *rows, tg_bexpr **out, tg_error *err)
{
    tg_arena *arena = dml->b.arena;
    size_t count = dml->stmt->insert_column_count;
    tg_bexpr **terms = TG_NEW_ARRAY(arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        const tg_ident *key = &dml->stmt->insert_columns[i];
        size_t at;
        TG_TRY(using_column(dml, key, query, columns, &at, err));
        tg_bexpr *sides[2] = {tg_bexpr_column(arena, &dml->rows->columns[at], key->span),
                              tg_bexpr_column(arena, &rows->columns[at], key->span)};
        TG_TRY(tg_bind_apply(&dml->b, "=", sides, 2, key->span, &terms[i], err));
    }
    *out = tg_sql_conjunction(arena, terms, count);
    return TG_OK;
}

static tg_code on_condition(tg_dml *dml, const tg_rel *rows, tg_bexpr **out, tg_error *err)
{
    const tg_stmt *stmt = dml->stmt;
    tg_str *qualifier = TG_NEW(dml->b.arena, tg_str);
    *qualifier = stmt->source_alias.text;
    tg_scope *source =
        tg_bind_scope_of(&dml->b, rows, NULL, qualifier, stmt->source_alias.text.len > 0);
    tg_scope *both = tg_bind_joined_scope(&dml->b, dml->scope, source, NULL);
    tg_expr_ctx ctx = {.b = &dml->b, .scope = both, .clause = "REPLACE ON", .no_subqueries = true};
    TG_TRY(tg_bind_condition(&ctx, stmt->where, out, err));
    return tg_dml_refuse_random(dml, stmt->where->span, err);
}

tg_code tg_sql_bind_replace(const tg_stmt *stmt, const tg_table *target,
                            const tg_bound_query *query, const tg_insert_columns *columns,
                            const tg_bind_options *options, tg_arena *arena, tg_bound_dml *out,
                            tg_error *err)
{
    tg_dml dml;
    tg_dml_init(&dml, stmt, target, options, arena);
    dml.schema = columns->schema;
    tg_dml_scan_target(&dml);
    bool is_using = stmt->insert_mode == TG_INSERT_REPLACE_USING;
    tg_rel *source = named(arena, query->rel, columns->names), *stored;
    TG_TRY(tg_sql_project_by_name(source, columns->schema, arena, &stored, err));
    /* USING compares what is stored; ON sees the query's own columns. */
    const tg_rel *let = is_using ? stored : query->rel;
    tg_rel *rows = tg_dml_scan_let(&dml, TG_S("source"), let, false);
    tg_bexpr *condition;
    TG_TRY(is_using ? using_condition(&dml, query->rel, columns, rows, &condition, err)
                    : on_condition(&dml, rows, &condition, err));
    tg_rel *hit = tg_dml_join(&dml, TG_JOIN_LEFT_SEMI, dml.rows, rows, condition);
    tg_rel *again = tg_dml_scan_let(&dml, TG_S("source"), let, false), *append = again;
    if (!is_using) {
        TG_TRY(tg_sql_project_by_name(named(arena, again, columns->names), columns->schema, arena,
                                      &append, err));
    }
    *out = (tg_bound_dml){
        .lets = {{.name = TG_S("source"), .rel = let}},
        .let_count = 1,
        .change = tg_dml_change(&dml, hit, row_id(&dml, 0), row_id(&dml, 1),
                                tg_dml_int(&dml, TG_CHANGE_DELETE), NULL),
        .append = append,
        .schema = columns->schema,
    };
    return TG_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool tg_sql_expr_has_subquery(const tg_expr *expr)
{
    if (!expr) {
        return false;
    }
    /* chains of operators are left-deep and long */
    while (expr->kind == TG_EXPR_BINARY) {
        if (tg_sql_expr_has_subquery(expr->args[1])) {
            return true;
        }
        expr = expr->args[0];
    }
    if (expr->query) {
        return true;
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (tg_sql_expr_has_subquery(expr->args[i])) {
            return true;
        }
    }
    return tg_sql_expr_has_subquery(expr->escape);
}
