/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INSERT, and what it shares with the other statements that write rows: programs without a flow's
 * state. A lost race binds and runs the statement again.
 */
#include "api/dml_int.h"

/* ---- target and program ---------------------------------------------------------------------- */

tg_code tg_dml_target(tg_execution *ex, tg_program_target *out_target, tg_error *err)
{
    tg_location location;
    tg_table_facts facts;
    TG_TRY(tg_execution_existing_target(ex, &ex->stmt->name, &location, &facts, err));
    if (tg_ownership_of(&facts).needs_refresh) {
        (void)tg_standalone_needs_refresh(&location, err);
        return tg_error_at(err, ex->stmt->name.span);
    }
    *out_target = (tg_program_target){
        .name = location.full_name,
        .path = location.path,
        .read_version = facts.version,
        .table_id = facts.table_id,
        .schema = facts.schema,
        .partition_columns = facts.partition_columns,
        .partition_count = facts.partition_count,
        .properties = facts.properties,
        .property_count = facts.property_count,
        .comment = facts.comment,
    };
    return TG_OK;
}

tg_table tg_dml_table(const tg_program_target *target)
{
    return (tg_table){.name = target->name,
                      .format = TG_FORMAT_DELTA,
                      .path = target->path,
                      .schema = target->schema,
                      .partition_columns = target->partition_columns,
                      .partition_count = target->partition_count,
                      .version = target->read_version};
}

tg_code tg_dml_evolve(tg_execution *ex, tg_program_target *target, tg_schema schema, tg_error *err)
{
    if (schema.count == target->schema.count) {
        return TG_OK;
    }
    tg_engine *engine = ex->api->engine;
    target->schema = schema;
    target->changes_metadata = true;
    return engine->check_target(engine->self, target, err);
}

const tg_program *tg_dml_program(tg_execution *ex, const tg_program_target *target,
                                 const tg_step *steps, size_t step_count, const char *operation,
                                 const tg_property *parameters, size_t parameter_count)
{
    tg_step *all = TG_NEW_ARRAY(ex->arena, tg_step, step_count + 1);
    memcpy(all, steps, step_count * sizeof(*steps));
    all[step_count] = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(ex->arena, tg_program);
    *program = (tg_program){
        .target = *target,
        .steps = all,
        .step_count = step_count + 1,
        .operation = tg_str_from(operation),
        .parameters = parameters,
        .parameter_count = parameter_count,
        .zone = ex->api->zone,
        .now_us = ex->now_us,
    };
    return program;
}

const tg_program *tg_dml_change_program(tg_execution *ex, const tg_program_target *target,
                                        const tg_bound_dml *bound, const char *operation,
                                        const tg_property *parameters, size_t parameter_count)
{
    tg_step steps[sizeof(bound->lets) / sizeof(*bound->lets) + 2];
    size_t count = 0;
    for (size_t i = 0; i < bound->let_count; i++) {
        steps[count++] = (tg_step){.kind = TG_STEP_LET,
                                   .name = bound->lets[i].name,
                                   .materialised = true,
                                   .rel = bound->lets[i].rel};
    }
    if (bound->change) {
        steps[count++] = (tg_step){
            .kind = TG_STEP_CHANGE, .rel = bound->change, .may_repeat = bound->may_repeat};
    }
    if (bound->append) {
        steps[count++] = (tg_step){.kind = TG_STEP_APPEND, .rel = bound->append};
    }
    return tg_dml_program(ex, target, steps, count, operation, parameters, parameter_count);
}

tg_code tg_dml_replace_step(tg_execution *ex, const tg_program_target *target, const tg_expr *where,
                            tg_step *out_step, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_str aliases[2] = {stmt->name.parts[stmt->name.count - 1].text, stmt->table_alias.text};
    tg_bind_options options = tg_execution_bind_options(ex, NULL);
    tg_bexpr *predicate;
    bool has_time_function, is_deterministic;
    TG_TRY(tg_sql_bind_predicate(where, target->schema, aliases, aliases[1].len ? 2 : 1, &options,
                                 ex->arena, &predicate, &has_time_function, &is_deterministic,
                                 err));
    if (!is_deterministic) {
        TG_ERR(err, DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED,
               "a condition that gives another answer each time cannot say which rows go");
        return tg_error_at(err, where->span);
    }
    predicate = tg_sql_fold(predicate, ex->api->zone, ex->arena);
    *out_step = (tg_step){
        .kind = TG_STEP_REPLACE,
        .predicate = predicate,
        .region = tg_sql_region(predicate, target->schema, ex->api->zone, ex->arena),
    };
    return TG_OK;
}

/* ---- columns of an INSERT -------------------------------------------------------------------- */

/* An INSERT while it is bound: the query's rows, and which column each output column goes to. */
typedef struct insert {
    tg_execution *ex;
    const tg_stmt *stmt;
    tg_program_target target;
    tg_bound_query bound;
    tg_rel *rel;
    tg_str *names; /* one per column of rel */
} insert;

static tg_code arity_error(const tg_stmt *stmt, tg_str table, size_t want, size_t have,
                           tg_error *err)
{
    TG_ERR(err, INSERT_COLUMN_ARITY_MISMATCH,
           "cannot write to %.*s: it takes %zu columns and the query gives %zu", TG_SARG(table),
           want, have);
    (void)tg_error_at(err, stmt->span);
    return tg_error_hint(err, "List the columns, or use INSERT INTO ... BY NAME.");
}

static const tg_partition_item *static_partition(const tg_stmt *stmt, tg_str column)
{
    for (size_t i = 0; i < stmt->partition_count; i++) {
        if (stmt->partition[i].value && tg_str_ieq(stmt->partition[i].column.text, column)) {
            return &stmt->partition[i];
        }
    }
    return NULL;
}

static bool is_partition_column(const tg_program_target *target, tg_str name)
{
    for (size_t i = 0; i < target->partition_count; i++) {
        if (tg_str_ieq(target->partition_columns[i], name)) {
            return true;
        }
    }
    return false;
}

static tg_code check_partition(const insert *in, tg_error *err)
{
    const tg_stmt *stmt = in->stmt;
    for (size_t i = 0; i < stmt->partition_count; i++) {
        const tg_ident *column = &stmt->partition[i].column;
        if (!is_partition_column(&in->target, column->text)) {
            TG_ERR(err, NON_PARTITION_COLUMN, "table %.*s is not partitioned by `%.*s`",
                   TG_SARG(in->target.name), TG_SARG(column->text));
            return tg_error_at(err, column->span);
        }
        for (size_t j = 0; j < i; j++) {
            if (tg_str_ieq(stmt->partition[j].column.text, column->text)) {
                TG_ERR(err, COLUMN_ALREADY_EXISTS, "PARTITION names `%.*s` twice",
                       TG_SARG(column->text));
                return tg_error_at(err, column->span);
            }
        }
    }
    for (size_t i = 0; i < stmt->insert_column_count; i++) {
        const tg_ident *column = &stmt->insert_columns[i];
        if (static_partition(stmt, column->text)) {
            TG_ERR(err, STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST,
                   "`%.*s` has its value in PARTITION already", TG_SARG(column->text));
            return tg_error_at(err, column->span);
        }
    }
    return TG_OK;
}

/* Without a list: the columns in order that have no value in PARTITION; new ones behind. */
static tg_code names_by_position(insert *in, tg_error *err)
{
    const tg_stmt *stmt = in->stmt;
    bool has_list = stmt->insert_column_count && stmt->insert_mode != TG_INSERT_REPLACE_USING;
    size_t given = in->rel->column_count, count = 0;
    for (size_t i = 0; has_list && i < stmt->insert_column_count; i++) {
        if (count < given) {
            in->names[count] = stmt->insert_columns[i].text;
        }
        count++;
    }
    for (size_t i = 0; !has_list && i < in->target.schema.count; i++) {
        tg_str name = in->target.schema.fields[i].name;
        if (static_partition(stmt, name)) {
            continue;
        }
        if (count < given) {
            in->names[count] = name;
        }
        count++;
    }
    while (!has_list && stmt->schema_evolution && count < given) {
        in->names[count] = in->rel->columns[count].name;
        count++;
    }
    return count == given ? TG_OK : arity_error(stmt, in->target.name, count, given, err);
}

static tg_code unknown_column(const insert *in, tg_str name, tg_error *err)
{
    tg_schema schema = in->target.schema;
    tg_str *known = TG_NEW_ARRAY(in->ex->arena, tg_str, schema.count);
    for (size_t i = 0; i < schema.count; i++) {
        known[i] = schema.fields[i].name;
    }
    TG_ERR(err, UNRESOLVED_COLUMN, "table %.*s has no column `%.*s`", TG_SARG(in->target.name),
           TG_SARG(name));
    tg_str near = tg_str_nearest(name, known, schema.count);
    if (near.len > 0) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
    }
    for (size_t i = 0; i < in->stmt->insert_column_count; i++) {
        if (tg_str_ieq(in->stmt->insert_columns[i].text, name)) {
            return tg_error_at(err, in->stmt->insert_columns[i].span);
        }
    }
    return tg_error_at(err, in->stmt->span);
}

/* Columns that the table does not have: new ones WITH SCHEMA EVOLUTION, else an error. */
static tg_code check_names(insert *in, tg_error *err)
{
    TG_VEC(tg_field) fields = {0};
    for (size_t i = 0; i < in->target.schema.count; i++) {
        TG_VEC_PUSH(in->ex->arena, &fields, in->target.schema.fields[i]);
    }
    for (size_t i = 0; i < in->rel->column_count; i++) {
        if (tg_schema_find(in->target.schema, in->names[i]) >= 0) {
            continue;
        }
        bool is_listed =
            in->stmt->insert_column_count && in->stmt->insert_mode != TG_INSERT_REPLACE_USING;
        if (!in->stmt->schema_evolution || is_listed) {
            return unknown_column(in, in->names[i], err);
        }
        const tg_type *type = in->rel->columns[i].type;
        if (type->kind == TG_TYPE_VOID) {
            TG_ERR(err, DATATYPE_MISMATCH,
                   "column `%.*s` of the query has type void: a table cannot hold it",
                   TG_SARG(in->names[i]));
            return tg_error_at(err, in->stmt->span);
        }
        tg_field field = {
            .name = in->names[i], .type = tg_type_nullable(in->ex->arena, type), .nullable = true};
        TG_VEC_PUSH(in->ex->arena, &fields, field);
    }
    tg_schema schema = {.fields = fields.items, .count = fields.count};
    return tg_dml_evolve(in->ex, &in->target, schema, err);
}

/* ---- PARTITION (p = v) ----------------------------------------------------------------------- */

static tg_expr *cast_to(tg_arena *arena, tg_expr *value, const tg_type *type)
{
    tg_expr **args = TG_NEW_ARRAY(arena, tg_expr *, 1);
    args[0] = value;
    tg_expr *cast = TG_NEW(arena, tg_expr);
    *cast = (tg_expr){
        .kind = TG_EXPR_CAST, .span = value->span, .args = args, .arg_count = 1, .type = type};
    return cast;
}

static tg_expr *partition_value(const insert *in, const tg_partition_item *item)
{
    ptrdiff_t at = tg_schema_find(in->target.schema, item->column.text);
    return cast_to(in->ex->arena, item->value, in->target.schema.fields[at].type);
}

/* p <=> v AND ... of the static partition; NULL: there is none. */
static const tg_expr *partition_predicate(const insert *in)
{
    tg_arena *arena = in->ex->arena;
    tg_expr *all = NULL;
    for (size_t i = 0; i < in->stmt->partition_count; i++) {
        const tg_partition_item *item = &in->stmt->partition[i];
        if (!item->value) {
            continue;
        }
        tg_expr *name = TG_NEW(arena, tg_expr);
        *name = (tg_expr){.kind = TG_EXPR_NAME,
                          .span = item->column.span,
                          .name = {.parts = &item->column, .count = 1, .span = item->column.span}};
        tg_expr **args = TG_NEW_ARRAY(arena, tg_expr *, 4);
        args[0] = name;
        args[1] = partition_value(in, item);
        tg_expr *equal = TG_NEW(arena, tg_expr);
        *equal = (tg_expr){.kind = TG_EXPR_BINARY,
                           .span = item->column.span,
                           .op = TG_OP_EQ_NULL_SAFE,
                           .args = args,
                           .arg_count = 2};
        if (all) {
            args[2] = all;
            args[3] = equal;
            tg_expr *both = TG_NEW(arena, tg_expr);
            *both = (tg_expr){.kind = TG_EXPR_BINARY,
                              .span = item->column.span,
                              .op = TG_OP_AND,
                              .args = args + 2,
                              .arg_count = 2};
            equal = both;
        }
        all = equal;
    }
    return all;
}

/* The query, with the values of PARTITION behind: SELECT *, v AS p FROM (query). */
static const tg_query *with_partition_values(const insert *in)
{
    const tg_stmt *stmt = in->stmt;
    tg_arena *arena = in->ex->arena;
    TG_VEC(tg_select_item) items = {0};
    tg_expr *star = TG_NEW(arena, tg_expr);
    *star = (tg_expr){.kind = TG_EXPR_STAR, .span = stmt->span};
    TG_VEC_PUSH(arena, &items, ((tg_select_item){.expr = star}));
    for (size_t i = 0; i < stmt->partition_count; i++) {
        const tg_partition_item *item = &stmt->partition[i];
        if (item->value) {
            tg_select_item value = {.expr = partition_value(in, item), .alias = item->column};
            TG_VEC_PUSH(arena, &items, value);
        }
    }
    if (items.count == 1) {
        return stmt->query;
    }
    tg_relation *from = TG_NEW(arena, tg_relation);
    *from = (tg_relation){.kind = TG_REL_QUERY, .span = stmt->span, .query = stmt->query};
    tg_query *query = tg_sql_select_star(arena, star, from, stmt->span);
    query->body->select->items = items.items;
    query->body->select->item_count = items.count;
    return query;
}

/* A value names no column of the query: it is bound alone first. */
static tg_code check_partition_values(const insert *in, tg_error *err)
{
    tg_bind_options options = tg_execution_bind_options(in->ex, NULL);
    for (size_t i = 0; i < in->stmt->partition_count; i++) {
        const tg_partition_item *item = &in->stmt->partition[i];
        if (!item->value) {
            continue;
        }
        tg_select_item value = {.expr = partition_value(in, item)};
        tg_select select = {.span = item->value->span, .items = &value, .item_count = 1};
        tg_query_body body = {.kind = TG_BODY_SELECT, .span = item->value->span, .select = &select};
        tg_query query = {.span = item->value->span, .body = &body};
        tg_bound_query bound;
        TG_TRY(tg_sql_bind_query(&query, &options, in->ex->arena, &bound, err));
        if (!bound.is_deterministic) {
            TG_ERR(err, DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED,
                   "the value of a partition must be a constant");
            return tg_error_at(err, item->value->span);
        }
    }
    return TG_OK;
}

/* ---- INSERT ---------------------------------------------------------------------------------- */

/* VALUES (1, DEFAULT): tables with column defaults are refused when they are written, so it is NULL. */
static void set_defaults(tg_arena *arena, tg_query *query)
{
    const tg_query_body *body = query->body;
    for (size_t i = 0; body->kind == TG_BODY_VALUES && i < body->row_count; i++) {
        for (size_t j = 0; j < body->row_lens[i]; j++) {
            tg_expr *cell = body->rows[i][j];
            if (tg_sql_is_default(cell)) {
                tg_expr *null = TG_NEW(arena, tg_expr);
                *null = (tg_expr){.kind = TG_EXPR_LITERAL,
                                  .span = cell->span,
                                  .literal = tg_value_null(tg_type_of(TG_TYPE_VOID))};
                body->rows[i][j] = null;
            }
        }
    }
}

/* BY NAME holds for the fields of structs too. */
static tg_code check_field_names(const insert *in, tg_error *err)
{
    for (size_t i = 0; i < in->rel->column_count; i++) {
        ptrdiff_t at = tg_schema_find(in->target.schema, in->names[i]);
        const tg_type *from = in->rel->columns[i].type;
        if (at < 0 || tg_sql_same_field_names(from, in->target.schema.fields[at].type)) {
            continue;
        }
        tg_arena *arena = in->ex->arena;
        TG_ERR(err, INCOMPATIBLE_DATA_FOR_TABLE_CANNOT_SAFELY_CAST,
               "cannot store %.*s by name in column `%.*s`, which is %.*s",
               TG_SARG(tg_type_text(arena, from)), TG_SARG(in->names[i]),
               TG_SARG(tg_type_text(arena, in->target.schema.fields[at].type)));
        return tg_error_hint(err, "Give the struct its fields under the table's names and in the "
                                  "table's order: named_struct('name', value, ...).");
    }
    return TG_OK;
}

static tg_code bind_insert(insert *in, tg_resolver *resolver, tg_error *err)
{
    const tg_stmt *stmt = in->stmt;
    TG_TRY(tg_dml_target(in->ex, &in->target, err));
    TG_TRY(check_partition(in, err));
    TG_TRY(check_partition_values(in, err));
    set_defaults(in->ex->arena, stmt->query);
    tg_bind_options options = tg_execution_bind_options(in->ex, resolver);
    TG_TRY(tg_sql_bind_query(with_partition_values(in), &options, in->ex->arena, &in->bound, err));
    in->rel = in->bound.rel;
    size_t count = in->rel->column_count;
    in->names = TG_NEW_ARRAY(in->ex->arena, tg_str, count);
    for (size_t i = 0; i < count; i++) {
        in->names[i] = in->rel->columns[i].name;
    }
    if (!stmt->by_name) {
        tg_rel given = *in->rel; /* the values of PARTITION stand behind, under their own names */
        for (size_t i = 0; i < stmt->partition_count; i++) {
            given.column_count -= stmt->partition[i].value != NULL;
        }
        in->rel = &given;
        tg_code code = names_by_position(in, err);
        in->rel = in->bound.rel;
        TG_TRY(code);
    }
    TG_TRY(check_names(in, err));
    return in->stmt->by_name ? check_field_names(in, err) : TG_OK;
}

/* The query's rows as the table's: renamed, cast, in order, NULL where nothing was given. */
static tg_code stored_rows(const insert *in, tg_rel **out, tg_error *err)
{
    size_t count = in->rel->column_count;
    tg_column *columns = TG_NEW_ARRAY(in->ex->arena, tg_column, count);
    for (size_t i = 0; i < count; i++) {
        columns[i] = in->rel->columns[i];
        columns[i].name = in->names[i];
    }
    tg_rel *named = tg_arena_memdup(in->ex->arena, in->rel, sizeof(*in->rel));
    named->columns = columns;
    tg_schema unique;
    TG_TRY(tg_sql_output_schema(named, in->ex->arena, &unique, err));
    tg_code code = in->stmt->by_name ? check_field_names(in, err) : TG_OK;
    code = code == TG_OK ? tg_sql_project_by_name(named, in->target.schema, in->ex->arena, out, err)
                         : code;
    return code == TG_OK || !err || err->has_span ? code : tg_error_at(err, in->stmt->query->span);
}

static tg_code insert_step(const insert *in, tg_step *out, tg_error *err)
{
    const tg_stmt *stmt = in->stmt;
    tg_rel *rows;
    TG_TRY(stored_rows(in, &rows, err));
    *out = (tg_step){.kind = TG_STEP_APPEND};
    if (stmt->insert_mode == TG_INSERT_OVERWRITE) {
        const tg_expr *predicate = partition_predicate(in);
        *out = (tg_step){.kind = TG_STEP_REPLACE, .region = tg_region_all()};
        if (predicate) {
            TG_TRY(tg_dml_replace_step(in->ex, &in->target, predicate, out, err));
        }
    } else if (stmt->insert_mode == TG_INSERT_REPLACE_WHERE) {
        TG_TRY(tg_dml_replace_step(in->ex, &in->target, stmt->where, out, err));
        out->must_match = true;
    }
    out->rel = rows;
    return TG_OK;
}

static const tg_property *insert_parameters(const insert *in, size_t *out_count)
{
    const tg_stmt *stmt = in->stmt;
    bool appends = stmt->insert_mode == TG_INSERT_INTO;
    tg_property *items = TG_NEW_ARRAY(in->ex->arena, tg_property, 2);
    items[0] =
        (tg_property){.key = TG_S("mode"), .value = appends ? TG_S("Append") : TG_S("Overwrite")};
    items[1] = (tg_property){.key = TG_S("predicate"), .value = stmt->where_text};
    if (stmt->insert_mode == TG_INSERT_REPLACE_USING) {
        tg_auto_buf tg_buf list = TG_BUF_INIT;
        for (size_t i = 0; i < stmt->insert_column_count; i++) {
            tg_buf_addz(&list, i ? ", " : "");
            tg_buf_adds(&list, stmt->insert_columns[i].text);
        }
        items[1] =
            (tg_property){.key = TG_S("replaceUsing"), .value = tg_buf_take(&list, in->ex->arena)};
    }
    *out_count = items[1].value.len ? 2 : 1;
    return items;
}

static tg_code make_insert(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    (void)self;
    insert in = {.ex = ex, .stmt = ex->stmt};
    tg_resolver resolver;
    tg_program_target before;
    TG_TRY(bind_insert(&in, &resolver, err));
    size_t parameter_count;
    const tg_property *parameters = insert_parameters(&in, &parameter_count);
    before = in.target;
    if (ex->stmt->insert_mode != TG_INSERT_REPLACE_USING &&
        ex->stmt->insert_mode != TG_INSERT_REPLACE_ON) {
        tg_step step;
        TG_TRY(insert_step(&in, &step, err));
        *out_program = tg_dml_program(ex, &before, &step, 1, "WRITE", parameters, parameter_count);
        return TG_OK;
    }
    tg_rel *checked; /* for its errors */
    TG_TRY(stored_rows(&in, &checked, err));
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_table table = tg_dml_table(&in.target);
    const tg_insert_columns columns = {.schema = in.target.schema, .names = in.names};
    tg_bound_dml bound;
    TG_TRY(tg_sql_bind_replace(ex->stmt, &table, &in.bound, &columns, &options, ex->arena, &bound,
                               err));
    *out_program =
        tg_dml_change_program(ex, &in.target, &bound, "WRITE", parameters, parameter_count);
    return TG_OK;
}

tg_code tg_api_run_insert(tg_execution *ex, tg_error *err)
{
    tg_run_result run;
    TG_TRY(tg_api_run_program(ex, make_insert, NULL, &run, err));
    long long rows =
        (long long)(ex->stmt->insert_mode == TG_INSERT_INTO ? run.rows_written : run.output_rows);
    ex->result->message =
        tg_arena_printf(ex->arena, "inserted %lld row%s", rows, rows == 1 ? "" : "s");
    if (ex->stmt->insert_mode != TG_INSERT_INTO) {
        long long gone = (long long)run.deleted_rows;
        ex->result->message =
            tg_arena_printf(ex->arena, "%s in place of %lld", ex->result->message, gone);
    }
    return TG_OK;
}
