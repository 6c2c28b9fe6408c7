/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ALTER TABLE and COMMENT ON: a commit of metadata only. Each attempt starts from the newest version;
 * what existing rows must meet (a new constraint, NOT NULL) is counted at that version, and a writer
 * that changes rows meanwhile makes it start again. A change that changes nothing commits nothing.
 */
#include "api/alter_table.h"
#include "pipeline/properties.h"

/* ---- properties ------------------------------------------------------------------------------ */

static ptrdiff_t find_property(const tg_alteration *a, tg_str key)
{
    for (size_t i = 0; i < a->properties.count; i++) {
        if (tg_str_ieq(a->properties.items[i].key, key)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

void tg_alteration_set_property(tg_alteration *a, tg_str key, tg_str value)
{
    ptrdiff_t at = find_property(a, key);
    if (at >= 0) {
        a->properties.items[at].value = value;
    } else {
        TG_VEC_PUSH(a->ex->arena, &a->properties, ((tg_property){.key = key, .value = value}));
    }
}

bool tg_alteration_unset_property(tg_alteration *a, tg_str key)
{
    ptrdiff_t at = find_property(a, key);
    if (at < 0) {
        return false;
    }
    for (size_t i = (size_t)at; i + 1 < a->properties.count; i++) {
        a->properties.items[i] = a->properties.items[i + 1];
    }
    a->properties.count--;
    return true;
}

static void add_parameter(tg_alteration *a, const char *key, tg_str value)
{
    TG_VEC_PUSH(a->ex->arena, &a->parameters,
                ((tg_property){.key = tg_str_from(key), .value = value}));
}

static tg_str properties_json(const tg_property *properties, size_t count, bool with_values,
                              tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    if (!with_values) {
        tg_json_array(&out);
        for (size_t i = 0; i < count; i++) {
            tg_json_str(&out, properties[i].key);
        }
        tg_json_end_array(&out);
        return tg_buf_take(&text, arena);
    }
    tg_json_object(&out);
    for (size_t i = 0; i < count; i++) {
        tg_json_key(&out, properties[i].key);
        tg_json_str(&out, properties[i].value);
    }
    tg_json_end_object(&out);
    return tg_buf_take(&text, arena);
}

tg_code tg_api_check_property(const tg_property *property, tg_error *err)
{
    if (tg_str_ieq(property->key, TG_S("delta.appendOnly"))) {
        return TG_OK; /* refreshes replace rows, a plain table's statements need not */
    }
    switch (tg_property_check(property, err)) {
    case TG_PROPERTY_KEEP:
        return TG_OK;
    case TG_PROPERTY_NOTE: /* it changes no answer, and a statement has no place for notes */
        tg_error_clear(err);
        return TG_OK;
    case TG_PROPERTY_REFUSED:
        break;
    }
    return err ? err->code : TG_INVALID_ARGUMENT;
}

/* Files that are there would be read under names that they do not have. */
static tg_code check_mapping(const tg_alteration *a, const tg_property *property, tg_error *err)
{
    if (!tg_str_istarts(property->key, TG_S("delta.columnMapping."))) {
        return TG_OK;
    }
    ptrdiff_t at = find_property(a, property->key);
    tg_str now = at < 0 ? TG_S("none") : a->properties.items[at].value;
    if (tg_str_ieq(now, property->value)) {
        return TG_OK;
    }
    TG_ERR(err, UNSUPPORTED_FEATURE,
           "`%.*s` of a table that is there cannot be changed in this release",
           TG_SARG(property->key));
    (void)tg_error_hint(err, "Make the table anew: CREATE TABLE ... TBLPROPERTIES (...) AS SELECT "
                             "...");
    return tg_error_at(err, property->span);
}

static tg_code set_properties(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    for (size_t i = 0; i < command->property_count; i++) {
        const tg_property *property = &command->properties[i];
        TG_TRY(check_mapping(a, property, err));
        TG_TRY(tg_api_check_property(property, err));
        const tg_program_target one = {
            .schema = a->schema, .properties = property, .property_count = 1};
        tg_engine *engine = a->ex->api->engine;
        if (engine->check_target(engine->self, &one, err) != TG_OK) {
            return tg_error_at(err, property->span);
        }
        tg_alteration_set_property(a, property->key, property->value);
    }
    a->operation = TG_S("SET TBLPROPERTIES");
    add_parameter(
        a, "properties",
        properties_json(command->properties, command->property_count, true, a->ex->arena));
    return TG_OK;
}

/* Properties that say how the table's files are to be read, or whose table it is. */
static bool is_kept(tg_str key)
{
    static const char *const prefixes[] = {"delta.columnMapping.",
                                           "delta.rowTracking.",
                                           "delta.inCommitTimestamp",
                                           "delta.requireCheckpointProtection",
                                           "delta.constraints.",
                                           "delta.identity.",
                                           "tidegate."};
    if (tg_str_ieq(key, TG_S("tidegate.lint.ignore")) ||
        tg_str_ieq(key, TG_S("tidegate.shrink_guard"))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        if (tg_str_istarts(key, tg_str_from(prefixes[i]))) {
            return true;
        }
    }
    return false;
}

static tg_code unset_properties(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    for (size_t i = 0; i < command->property_count; i++) {
        const tg_property *property = &command->properties[i];
        if (is_kept(property->key)) {
            (void)TG_ERR(err, DELTA_OPERATION_NOT_ALLOWED, "table property `%.*s` cannot be unset",
                         TG_SARG(property->key));
            return tg_error_at(err, property->span);
        }
        if (!tg_alteration_unset_property(a, property->key) && !command->if_exists) {
            (void)TG_ERR(err, DELTA_UNSET_NON_EXISTENT_PROPERTY,
                         "table %.*s has no property `%.*s`", TG_SARG(a->location.full_name),
                         TG_SARG(property->key));
            (void)tg_error_hint(err,
                                "Write UNSET TBLPROPERTIES IF EXISTS if that does not matter.");
            return tg_error_at(err, property->span);
        }
    }
    a->operation = TG_S("UNSET TBLPROPERTIES");
    add_parameter(
        a, "properties",
        properties_json(command->properties, command->property_count, false, a->ex->arena));
    add_parameter(a, "ifExists", command->if_exists ? TG_S("true") : TG_S("false"));
    return TG_OK;
}

/* ---- constraints ----------------------------------------------------------------------------- */

static tg_str constraint_key(tg_alteration *a)
{
    tg_str name = tg_str_lower(a->ex->arena, a->ex->stmt->command->constraint.text);
    return tg_str_printf(a->ex->arena, "delta.constraints.%.*s", TG_SARG(name));
}

static tg_code bind_check(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    const tg_bind_options options = tg_execution_bind_options(a->ex, NULL);
    tg_bexpr *bound;
    bool has_time_function, is_deterministic;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_code code = tg_sql_bind_predicate(command->check, a->schema, NULL, 0, &options, a->ex->arena,
                                         &bound, &has_time_function, &is_deterministic, &local);
    if (code != TG_OK && local.cls == TG_E_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN) {
        (void)TG_ERR(err, DELTA_NON_BOOLEAN_CHECK_CONSTRAINT,
                     "CHECK constraint '%.*s' (%.*s) should be a boolean expression",
                     TG_SARG(command->constraint.text), TG_SARG(command->check_text));
        return tg_error_at(err, command->check->span);
    }
    if (code != TG_OK) {
        return tg_error_pass(&local, err);
    }
    if (!is_deterministic || has_time_function) {
        TG_ERR(err, UNSUPPORTED_FEATURE,
               "a CHECK constraint must say the same of a row each time: it cannot call %s",
               is_deterministic ? "the clock" : "rand() or the like");
        return tg_error_at(err, command->check->span);
    }
    return TG_OK;
}

static tg_code add_constraint(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    tg_str key = constraint_key(a);
    ptrdiff_t at = find_property(a, key);
    if (at >= 0) {
        (void)TG_ERR(err, DELTA_CONSTRAINT_ALREADY_EXISTS,
                     "constraint '%.*s' already exists: CHECK (%.*s)",
                     TG_SARG(command->constraint.text), TG_SARG(a->properties.items[at].value));
        (void)tg_error_hint(err, "Drop the old constraint first: ALTER TABLE ... DROP CONSTRAINT.");
        return tg_error_at(err, command->constraint.span);
    }
    TG_TRY(bind_check(a, err));
    int64_t violations = 0;
    TG_TRY(tg_alteration_count(
        a, tg_str_printf(a->ex->arena, "(%.*s) IS NOT TRUE", TG_SARG(command->check_text)),
        &violations, err));
    if (violations > 0) {
        (void)TG_ERR(err, DELTA_NEW_CHECK_CONSTRAINT_VIOLATION,
                     "%lld row%s in %.*s violate the new CHECK constraint (%.*s)",
                     (long long)violations, violations == 1 ? "" : "s",
                     TG_SARG(a->location.full_name), TG_SARG(command->check_text));
        return tg_error_at(err, command->check->span);
    }
    a->judges_rows = true;
    tg_alteration_set_property(a, key, command->check_text);
    a->operation = TG_S("ADD CONSTRAINT");
    add_parameter(a, "name", command->constraint.text);
    add_parameter(a, "expr", command->check_text);
    return TG_OK;
}

static tg_code drop_constraint(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    tg_str key = constraint_key(a);
    ptrdiff_t at = find_property(a, key);
    if (at < 0 && !command->if_exists) {
        (void)TG_ERR(err, DELTA_CONSTRAINT_DOES_NOT_EXIST,
                     "cannot drop nonexistent constraint '%.*s' from table %.*s",
                     TG_SARG(command->constraint.text), TG_SARG(a->location.full_name));
        tg_str *names = TG_NEW_ARRAY(a->ex->arena, tg_str, a->properties.count);
        size_t count = 0;
        for (size_t i = 0; i < a->properties.count; i++) {
            tg_str name = a->properties.items[i].key;
            if (tg_str_istarts(name, TG_S("delta.constraints."))) {
                names[count++] = tg_str_sub(name, sizeof("delta.constraints.") - 1, name.len);
            }
        }
        tg_str near = tg_str_nearest(command->constraint.text, names, count);
        if (near.len) {
            (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
        }
        return tg_error_at(err, command->constraint.span);
    }
    a->operation = TG_S("DROP CONSTRAINT");
    add_parameter(a, "name", command->constraint.text);
    if (at >= 0) {
        add_parameter(a, "expr", a->properties.items[at].value);
        (void)tg_alteration_unset_property(a, key);
    }
    return TG_OK;
}

/* ---- clustering, comments -------------------------------------------------------------------- */

static tg_code cluster_by(tg_alteration *a, tg_error *err)
{
    const tg_table_command *command = a->ex->stmt->command;
    const tg_str *columns = NULL;
    if (command->name_count && a->facts.partition_count) {
        TG_ERR(err, SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY,
               "table %.*s is partitioned: it cannot be clustered too",
               TG_SARG(a->location.full_name));
        return tg_error_at(err, command->names[0].span);
    }
    TG_TRY(tg_api_clustering_columns(a->ex, a->schema, command->names, command->name_count,
                                     &columns, err));
    tg_str value = tg_program_clustering_value(columns, command->name_count, a->ex->arena);
    if (command->name_count) {
        tg_alteration_set_property(a, TG_S(TG_PROPERTY_CLUSTER_BY), value);
    } else {
        (void)tg_alteration_unset_property(a, TG_S(TG_PROPERTY_CLUSTER_BY));
    }
    a->operation = TG_S("CLUSTER BY");
    add_parameter(a, "newClusteringColumns", value);
    return TG_OK;
}

static tg_code comment_on(tg_alteration *a, tg_error *err)
{
    const tg_stmt *stmt = a->ex->stmt;
    if (tg_str_eq(stmt->object_word, TG_S("COLUMN"))) {
        const tg_ident *column = &stmt->name.parts[stmt->name.count - 1];
        const tg_column_change change = {.kind = TG_COLUMN_COMMENT,
                                         .column = {column, 1, column->span},
                                         .comment = stmt->command->comment,
                                         .span = column->span};
        TG_TRY(tg_alteration_change_column(a, &change, err));
        a->operation = TG_S("CHANGE COLUMN");
        return TG_OK;
    }
    a->comment = stmt->command->comment;
    a->operation = TG_S("SET TBLPROPERTIES");
    const tg_property property = {.key = TG_S("comment"), .value = a->comment};
    add_parameter(a, "properties", properties_json(&property, 1, true, a->ex->arena));
    return TG_OK;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static tg_code refuse_other(const tg_stmt *stmt, tg_error *err)
{
    tg_str words = stmt->rest;
    size_t end = 0;
    for (int word = 0; end < words.len && word < 2; end++) {
        word += words.ptr[end] == ' ' || words.ptr[end] == '\n';
    }
    words = tg_str_trim(tg_str_sub(words, 0, end));
    TG_ERR(err, UNSUPPORTED_FEATURE, "ALTER TABLE ... %.*s is not available in this release",
           TG_SARG(words));
    (void)tg_error_at(err, stmt->span);
    return tg_error_hint(err,
                         "There are SET | UNSET TBLPROPERTIES, ADD COLUMNS, ALTER COLUMN, ADD | "
                         "DROP CONSTRAINT and CLUSTER BY.");
}

static tg_code refuse_feature(const tg_stmt *stmt, tg_error *err)
{
    TG_ERR(err, UNSUPPORTED_FEATURE, "table feature `%.*s` cannot be dropped in this release",
           TG_SARG(stmt->command->constraint.text));
    (void)tg_error_at(err, stmt->command->constraint.span);
    return tg_error_hint(err,
                         "A table made anew by CREATE TABLE ... AS SELECT has only the features "
                         "that it needs.");
}

/* Whose definition stands elsewhere is changed there. */
static tg_code refuse_dataset(const tg_alteration *a, tg_error *err)
{
    tg_ownership own = tg_ownership_of(&a->facts);
    if (!own.owner.len) {
        return TG_OK;
    }
    bool is_view = tg_str_eq(own.kind, TG_S("MATERIALIZED_VIEW"));
    if (is_view) {
        (void)TG_ERR(err, MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_INVALID_ALTER,
                     "%.*s is a materialized view: ALTER TABLE cannot change it",
                     TG_SARG(a->location.full_name));
    } else {
        (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_INVALID_ALTER,
                     "%.*s is a streaming table: ALTER TABLE cannot change it",
                     TG_SARG(a->location.full_name));
    }
    (void)tg_error_at(err, a->ex->stmt->name.span);
    if (!own.is_standalone) {
        return tg_error_hint(err, "Say it in its definition in the pipeline.");
    }
    return tg_error_hint(err, "Say it in its definition: CREATE OR %s keeps the rows.",
                         is_view ? "REPLACE MATERIALIZED VIEW" : "REFRESH STREAMING TABLE");
}

/* ---- the statement --------------------------------------------------------------------------- */

static tg_code apply(tg_alteration *a, tg_error *err)
{
    const tg_stmt *stmt = a->ex->stmt;
    const tg_table_command *command = stmt->command;
    if (!command) {
        return refuse_other(stmt, err);
    }
    switch (command->action) {
    case TG_TABLE_SET_PROPERTIES:
        return set_properties(a, err);
    case TG_TABLE_UNSET_PROPERTIES:
        return unset_properties(a, err);
    case TG_TABLE_ADD_COLUMNS:
        a->operation = TG_S("ADD COLUMNS");
        break;
    case TG_TABLE_CHANGE_COLUMN:
    case TG_TABLE_RENAME_COLUMN:
    case TG_TABLE_DROP_COLUMNS:
        a->operation = TG_S("CHANGE COLUMN");
        break;
    case TG_TABLE_ADD_CONSTRAINT:
        return add_constraint(a, err);
    case TG_TABLE_DROP_CONSTRAINT:
        return drop_constraint(a, err);
    case TG_TABLE_DROP_FEATURE:
        return refuse_feature(stmt, err);
    case TG_TABLE_CLUSTER_BY:
        return cluster_by(a, err);
    case TG_TABLE_COMMENT:
        return comment_on(a, err);
    case TG_TABLE_OTHER:
        return refuse_other(stmt, err);
    }
    add_parameter(a, "columns", stmt->rest);
    for (size_t i = 0; i < command->column_count; i++) {
        TG_TRY(tg_alteration_change_column(a, &command->columns[i], err));
    }
    return TG_OK;
}

static bool changes_something(const tg_alteration *a)
{
    const tg_table_facts *facts = &a->facts;
    bool is_same = a->properties.count == facts->property_count &&
                   tg_str_eq(a->comment, facts->comment) &&
                   tg_str_eq(tg_schema_to_json(a->ex->arena, a->schema),
                             tg_schema_to_json(a->ex->arena, facts->schema));
    for (size_t i = 0; is_same && i < facts->property_count; i++) {
        is_same = tg_str_eq(a->properties.items[i].key, facts->properties[i].key) &&
                  tg_str_eq(a->properties.items[i].value, facts->properties[i].value);
    }
    return !is_same;
}

static tg_code load(tg_alteration *a, tg_error *err)
{
    const tg_stmt *stmt = a->ex->stmt;
    tg_name name = stmt->name;
    if (tg_str_eq(stmt->object_word, TG_S("COLUMN"))) {
        if (name.count < 2) {
            TG_ERR(err, PARSE_SYNTAX_ERROR, "the name of a column needs its table: t.%.*s",
                   TG_SARG(name.parts[0].text));
            return tg_error_at(err, name.span);
        }
        name.count--;
    }
    TG_TRY(tg_execution_existing_target(a->ex, &name, &a->location, &a->facts, err));
    TG_TRY(refuse_dataset(a, err));
    a->schema = a->facts.schema;
    a->comment = a->facts.comment;
    for (size_t i = 0; i < a->facts.property_count; i++) {
        TG_VEC_PUSH(a->ex->arena, &a->properties, a->facts.properties[i]);
    }
    return TG_OK;
}

static tg_code make_alter(tg_execution *ex, void *self, const tg_program **out_program,
                          tg_error *err)
{
    tg_alteration *a = self;
    *a = (tg_alteration){.ex = ex};
    TG_TRY(load(a, err));
    TG_TRY(apply(a, err));
    a->is_needed = changes_something(a);
    tg_step *step = TG_NEW(ex->arena, tg_step);
    *step = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(ex->arena, tg_program);
    *program = (tg_program){.target = {.name = a->location.full_name,
                                       .path = a->location.path,
                                       .read_version = a->facts.version,
                                       .table_id = a->facts.table_id,
                                       .changes_metadata = a->is_needed,
                                       .schema = a->schema,
                                       .partition_columns = a->facts.partition_columns,
                                       .partition_count = a->facts.partition_count,
                                       .properties = a->properties.items,
                                       .property_count = a->properties.count,
                                       .comment = a->comment},
                            .steps = step,
                            .step_count = 1,
                            .operation = a->operation,
                            .parameters = a->parameters.items,
                            .parameter_count = a->parameters.count,
                            .judges_rows = a->judges_rows,
                            .zone = ex->api->zone,
                            .now_us = ex->now_us};
    *out_program = program;
    return TG_OK;
}

tg_code tg_api_run_alter_table(tg_execution *ex, tg_error *err)
{
    tg_alteration alteration;
    tg_run_result run;
    TG_TRY(tg_api_run_program(ex, make_alter, &alteration, &run, err));
    ex->result->message = run.committed_version < 0
                              ? tg_arena_printf(ex->arena, "%.*s is like that already",
                                                TG_SARG(alteration.location.full_name))
                              : tg_arena_printf(ex->arena, "altered table %.*s",
                                                TG_SARG(alteration.location.full_name));
    return TG_OK;
}
