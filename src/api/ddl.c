/* SPDX-License-Identifier: Apache-2.0 */
/* CREATE and DROP, temporary views, and the session's settings. */
#include "api/api_int.h"
#include "pipeline/conf.h"

/* ---- refusals -------------------------------------------------------------------------------- */

/* What CREATE TABLE may say in SQL and this release does not do: refused, never ignored. */
static tg_code check_table_definition(const tg_stmt *stmt, tg_error *err)
{
    const char *what = NULL;
    tg_span span = stmt->span;
    for (size_t i = 0; i < stmt->column_count && !what; i++) {
        const tg_column_def *column = &stmt->columns[i];
        what = column->default_value      ? "a column default"
               : column->generated        ? "a generated column"
               : column->identity.len > 0 ? "an identity column"
               : column->mask.len > 0     ? "a column mask"
                                          : NULL;
        span = column->span;
    }
    if (!what && stmt->constraint_count > 0) {
        what = "a table constraint";
        span = stmt->constraints[0].span;
    }
    const tg_dataset_clauses *clauses = &stmt->clauses;
    if (!what && clauses->row_filter.len > 0) {
        what = "WITH ROW FILTER";
        span = clauses->row_filter_span;
    } else if (!what && clauses->location.len > 0) {
        what = "LOCATION";
    } else if (!what && clauses->schedule.len > 0) {
        what = "a schedule";
        span = clauses->schedule_span;
    } else if (!what && stmt->or_replace) {
        what = "CREATE OR REPLACE TABLE";
    } else if (!what && clauses->using_format.len > 0 &&
               !tg_str_ieq(clauses->using_format, TG_S("delta"))) {
        what = "a table format other than DELTA";
    } else if (!what && (clauses->cluster_count > 0 || clauses->cluster_auto) &&
               clauses->partition_count > 0) {
        TG_ERR(err, SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY,
               "`%.*s` has both CLUSTER BY and PARTITIONED BY",
               TG_SARG(stmt->name.parts[stmt->name.count - 1].text));
        return tg_error_at(err, stmt->name.span);
    } else if (!what && clauses->option_count > 0) {
        what = "OPTIONS";
        span = clauses->options[0].span;
    } else if (!what && clauses->refresh_policy.len > 0) {
        what = "REFRESH POLICY";
    }
    if (what) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "%s is not available in CREATE TABLE", what);
        return tg_error_at(err, span);
    }
    for (size_t i = 0; i < clauses->property_count; i++) {
        TG_TRY(tg_api_check_property(&clauses->properties[i], err));
    }
    return TG_OK;
}

/* A temporary view and a schema have a comment at most: nothing else could be kept anywhere. */
static tg_code refuse_clauses(const tg_stmt *stmt, const char *statement, tg_error *err)
{
    const tg_dataset_clauses *clauses = &stmt->clauses;
    const char *what = clauses->property_count       ? "TBLPROPERTIES"
                       : clauses->partition_count    ? "PARTITIONED BY"
                       : clauses->cluster_count      ? "CLUSTER BY"
                       : clauses->cluster_auto       ? "CLUSTER BY"
                       : clauses->using_format.len   ? "USING"
                       : clauses->option_count       ? "OPTIONS"
                       : clauses->location.len       ? "LOCATION"
                       : clauses->schedule.len       ? "a schedule"
                       : clauses->refresh_policy.len ? "REFRESH POLICY"
                       : clauses->row_filter.len     ? "WITH ROW FILTER"
                       : stmt->constraint_count      ? "a constraint"
                                                     : NULL;
    if (!what) {
        return TG_OK;
    }
    TG_ERR(err, UNSUPPORTED_FEATURE, "%s is not available in %s", what, statement);
    return tg_error_at(err, stmt->span);
}

/* A persisted view has properties too. */
static tg_code refuse_view_clauses(const tg_stmt *stmt, tg_error *err)
{
    tg_stmt without = *stmt;
    without.clauses.property_count = 0;
    return refuse_clauses(&without, "CREATE VIEW", err);
}

/* ---- CREATE TABLE ---------------------------------------------------------------------------- */

typedef struct create_table {
    tg_location location;
    tg_bound_query query; /* rel NULL: without AS */
    tg_schema schema;
} create_table;

static tg_code declared_schema(tg_execution *ex, tg_schema *out_schema, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, stmt->column_count);
    for (size_t i = 0; i < stmt->column_count; i++) {
        if (!stmt->columns[i].type) {
            TG_ERR(err, PARSE_SYNTAX_ERROR, "column `%.*s` has no type",
                   TG_SARG(stmt->columns[i].name.text));
            return tg_error_at(err, stmt->columns[i].span);
        }
        fields[i] = (tg_field){.name = stmt->columns[i].name.text,
                               .type = stmt->columns[i].type,
                               .nullable = !stmt->columns[i].not_null,
                               .comment = stmt->columns[i].comment};
    }
    *out_schema = (tg_schema){.fields = fields, .count = stmt->column_count};
    return TG_OK;
}

static tg_code make_create(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    create_table *create = self;
    const tg_stmt *stmt = ex->stmt;
    char *id = tg_arena_alloc(ex->arena, 37);
    ex->api->env->uuid(ex->api->env->self, id);
    tg_str *partitions = TG_NEW_ARRAY(ex->arena, tg_str, stmt->clauses.partition_count);
    for (size_t i = 0; i < stmt->clauses.partition_count; i++) {
        ptrdiff_t column = tg_schema_find(create->schema, stmt->clauses.partition_by[i].text);
        if (column < 0) {
            TG_ERR(err, UNRESOLVED_COLUMN, "partition column `%.*s` is not a column of the table",
                   TG_SARG(stmt->clauses.partition_by[i].text));
            return tg_error_at(err, stmt->clauses.partition_by[i].span);
        }
        partitions[i] = create->schema.fields[column].name;
    }
    const tg_property *properties;
    size_t property_count;
    TG_TRY(tg_api_clustered_properties(ex, create->schema, &properties, &property_count, err));
    tg_step *steps = TG_NEW_ARRAY(ex->arena, tg_step, 2);
    size_t count = 0;
    if (create->query.rel) {
        steps[count++] = (tg_step){.kind = TG_STEP_APPEND, .rel = create->query.rel};
    }
    steps[count++] = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(ex->arena, tg_program);
    *program = (tg_program){
        .target = {.name = create->location.full_name,
                   .path = create->location.path,
                   .read_version = -1,
                   .table_id = tg_str_from(id),
                   .changes_metadata = true,
                   .schema = create->schema,
                   .partition_columns = partitions,
                   .partition_count = stmt->clauses.partition_count,
                   .properties = properties,
                   .property_count = property_count,
                   .comment = stmt->clauses.comment},
        .steps = steps,
        .step_count = count,
        .operation = create->query.rel ? TG_S("CREATE TABLE AS SELECT") : TG_S("CREATE TABLE"),
        .zone = ex->api->zone,
        .now_us = ex->now_us,
    };
    *out_program = program;
    return TG_OK;
}

static tg_code bind_create(tg_execution *ex, create_table *create, tg_error *err)
{
    if (ex->stmt->column_count > 0) {
        TG_TRY(declared_schema(ex, &create->schema, err));
    }
    if (!ex->stmt->query) {
        if (ex->stmt->column_count == 0) {
            TG_FAIL(err, DELTA_EMPTY_SCHEMA, "table %.*s needs at least one column",
                    TG_SARG(create->location.full_name));
        }
        return TG_OK;
    }
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    TG_TRY(tg_sql_bind_query(ex->stmt->query, &options, ex->arena, &create->query, err));
    tg_schema output;
    TG_TRY(tg_sql_output_schema(create->query.rel, ex->arena, &output, err));
    for (size_t i = 0; i < output.count; i++) {
        if (output.fields[i].type->kind == TG_TYPE_VOID) {
            TG_FAIL(err, DATATYPE_MISMATCH,
                    "column `%.*s` has type void: a table cannot hold it; cast it",
                    TG_SARG(output.fields[i].name));
        }
    }
    if (ex->stmt->column_count == 0) {
        create->schema = output;
        return TG_OK;
    }
    return tg_sql_project_by_name(create->query.rel, create->schema, ex->arena, &create->query.rel,
                                  err);
}

static tg_code run_create_table(tg_execution *ex, tg_error *err)
{
    TG_TRY(check_table_definition(ex->stmt, err));
    create_table create = {0};
    tg_table_facts facts;
    const tg_view *view;
    TG_TRY(tg_execution_view(ex, &ex->stmt->name, &create.location, &view, err));
    if (view) {
        TG_ERR(err, TABLE_OR_VIEW_ALREADY_EXISTS, "view %.*s exists already",
               TG_SARG(create.location.full_name));
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Choose another name, or drop the view first.");
    }
    TG_TRY(tg_execution_target(ex, &ex->stmt->name, &create.location, &facts, err));
    ex->result->message =
        tg_arena_printf(ex->arena, "created table %.*s", TG_SARG(create.location.full_name));
    if (facts.exists) {
        if (ex->stmt->if_not_exists) {
            ex->result->message = tg_arena_printf(ex->arena, "table %.*s exists already",
                                                  TG_SARG(create.location.full_name));
            return TG_OK;
        }
        TG_ERR(err, TABLE_OR_VIEW_ALREADY_EXISTS, "table %.*s exists already",
               TG_SARG(create.location.full_name));
        (void)tg_error_at(err, ex->stmt->name.span);
        return tg_error_hint(err, "Use CREATE TABLE IF NOT EXISTS, or drop it first.");
    }
    TG_TRY(bind_create(ex, &create, err));
    tg_run_result run;
    return tg_api_run_program(ex, make_create, &create, &run, err);
}

/* ---- views, schemas, DROP -------------------------------------------------------------------- */

static tg_code run_create_view(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_api *api = ex->api;
    if (!stmt->is_temporary) {
        TG_TRY(refuse_view_clauses(stmt, err));
        return tg_api_create_view(ex, err);
    }
    if (stmt->name.count != 1) {
        TG_ERR(err, MULTIPART_TEMPORARY_VIEW_NAME_NOT_SUPPORTED,
               "the name of a temporary view has one part");
        return tg_error_at(err, stmt->name.span);
    }
    TG_TRY(refuse_clauses(stmt, "CREATE TEMPORARY VIEW", err));
    tg_str name = stmt->name.parts[0].text;
    if (tg_map_has(&api->views, name) && !stmt->or_replace) {
        if (stmt->if_not_exists) {
            return TG_OK;
        }
        TG_ERR(err, TEMP_TABLE_OR_VIEW_ALREADY_EXISTS, "temporary view `%.*s` exists already",
               TG_SARG(name));
        return tg_error_at(err, stmt->name.span);
    }
    /* Bound once now, so that errors show here and not at its first use. */
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_bound_query bound;
    TG_TRY(tg_sql_bind_query(tg_sql_view_query(stmt, ex->arena), &options, ex->arena, &bound, err));
    /* The view outlives this statement: parse it into the session's memory. */
    tg_temp_view *view = TG_NEW(api->arena, tg_temp_view);
    tg_stmt *kept;
    view->text = tg_str_copy(api->arena, stmt->text);
    view->file = ex->file ? tg_arena_strdup(api->arena, ex->file) : NULL;
    TG_TRY(tg_sql_parse_statement(view->text, api->arena, &kept, err));
    view->name = kept->name.parts[0].text;
    view->query = tg_sql_view_query(kept, api->arena);
    tg_map_put(&api->views, view->name, view);
    ex->result->message = tg_arena_printf(ex->arena, "created temporary view %.*s", TG_SARG(name));
    return TG_OK;
}

static tg_code run_create_schema(tg_execution *ex, tg_error *err)
{
    const tg_name *name = &ex->stmt->name;
    if (name->count > 2) {
        TG_ERR(err, PARSE_SYNTAX_ERROR, "a schema's name has one or two parts");
        return tg_error_at(err, name->span);
    }
    TG_TRY(refuse_clauses(ex->stmt, "CREATE SCHEMA", err));
    /* A schema is a folder of the warehouse: where a table of it would lie. */
    tg_ident parts[3] = {{.text = ex->api->catalog.current_catalog}, {0}, {.text = TG_S("t")}};
    memcpy(parts + 2 - name->count, name->parts, name->count * sizeof(*parts));
    tg_name table = {.parts = parts, .count = 3, .span = name->span};
    tg_location location;
    TG_TRY(tg_catalog_locate(&ex->api->catalog, &table, ex->arena, &location, err));
    tg_str folder = tg_path_dirname(location.path);
    bool exists;
    TG_TRY(tg_fs_exists(ex->api->fs, folder, &exists, err));
    if (exists && !ex->stmt->if_not_exists) {
        TG_ERR(err, SCHEMA_ALREADY_EXISTS, "schema `%.*s` exists already", TG_SARG(parts[1].text));
        return tg_error_at(err, name->span);
    }
    return tg_fs_make_folders(ex->api->fs, folder, err);
}

static tg_code run_drop(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    bool is_view = tg_str_ieq(stmt->object_word, TG_S("VIEW"));
    bool is_table = tg_str_ieq(stmt->object_word, TG_S("TABLE")); /* as Spark's: views too */
    if (is_view || (is_table && stmt->name.count == 1 &&
                    tg_map_has(&ex->api->views, stmt->name.parts[0].text))) {
        bool existed =
            stmt->name.count == 1 && tg_map_remove(&ex->api->views, stmt->name.parts[0].text);
        return existed ? TG_OK : tg_api_drop_view(ex, err);
    }
    return tg_api_drop_dataset(ex, err);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* LOCAL: what TZ says, else the machine's zone; a machine that names none lives in UTC. */
static tg_code local_zone_name(tg_execution *ex, tg_str *out_name, tg_error *err)
{
    tg_str link = TG_S("/etc/localtime"), folder = TG_S("/usr/share/zoneinfo/");
    const tg_env *env = &ex->api->own_env;
    const char *variable = env->getenv(env->self, "TZ");
    if (variable) {
        *out_name = tg_str_from(variable[0] == ':' ? variable + 1 : variable);
        *out_name = out_name->len ? *out_name : TG_S("UTC");
        return TG_OK;
    }
    bool exists;
    *out_name = TG_S("UTC");
    TG_TRY(tg_fs_exists(ex->api->fs, link, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_str path;
    TG_TRY(tg_fs_real_path(ex->api->fs, link, ex->arena, &path, err));
    if (!tg_str_starts(path, folder)) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "the time zone of this machine has no name");
        return tg_error_hint(err, "Set the environment variable TZ, or name the zone: "
                                  "SET TIME ZONE 'Europe/Lisbon'.");
    }
    *out_name = tg_str_sub(path, folder.len, path.len);
    return TG_OK;
}

static tg_code set_zone(tg_execution *ex, tg_error *err)
{
    tg_api *api = ex->api;
    tg_str name = ex->stmt->value;
    bool is_local = tg_str_eq(ex->stmt->key, TG_S("TIME ZONE")) && tg_str_eq(name, TG_S("LOCAL"));
    if (is_local) {
        TG_TRY(local_zone_name(ex, &name, err));
    }
    TG_TRY(tg_zone_load(name, api->arena, &api->zone, err));
    api->zone_text = tg_str_copy(api->arena, name);
    return TG_OK;
}

/* SET spark.databricks.delta.retentionDurationCheck.enabled [= true | false] */
static tg_code set_retention_check(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"key", "value"};
    const tg_stmt *stmt = ex->stmt;
    bool is_true = tg_str_ieq(stmt->value, TG_S("true"));
    if (stmt->value.len && !is_true && !tg_str_ieq(stmt->value, TG_S("false"))) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "setting `%.*s` is true or false, not `%.*s`",
               TG_SARG(stmt->key), TG_SARG(stmt->value));
        return tg_error_at(err, stmt->span);
    }
    if (stmt->value.len) {
        ex->api->skips_retention_check = !is_true;
    }
    tg_value *row = TG_NEW_ARRAY(ex->arena, tg_value, 2);
    row[0] = tg_string_value(stmt->key);
    row[1] = tg_string_value(ex->api->skips_retention_check ? TG_S("false") : TG_S("true"));
    tg_execution_set_rows(ex, NAMES, 2, row, 1);
    return TG_OK;
}

static tg_code run_set(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"key", "value"};
    tg_api *api = ex->api;
    const tg_stmt *stmt = ex->stmt;
    if (tg_str_ieq(stmt->key, TG_S("spark.databricks.delta.retentionDurationCheck.enabled"))) {
        return set_retention_check(ex, err);
    }
    bool is_zone = tg_conf_sets_timezone(stmt->key);
    if (is_zone && stmt->value.len > 0) {
        TG_TRY(set_zone(ex, err));
    } else if (!is_zone) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "setting `%.*s` is not known", TG_SARG(stmt->key));
        (void)tg_error_at(err, stmt->span);
        return tg_error_hint(err, "SET TIME ZONE 'Europe/Lisbon' sets the session's time zone.");
    }
    tg_value *row = TG_NEW_ARRAY(ex->arena, tg_value, 2);
    row[0] = tg_string_value(TG_S(TG_CONF_TIMEZONE));
    row[1] = tg_string_value(tg_zone_name(api->zone));
    tg_execution_set_rows(ex, NAMES, 2, row, 1);
    return TG_OK;
}

static tg_code run_use(tg_execution *ex, tg_error *err)
{
    tg_api *api = ex->api;
    const tg_name *name = &ex->stmt->name;
    if (ex->stmt->kind == TG_STMT_USE_CATALOG && name->count == 1) {
        api->catalog.current_catalog = tg_str_copy(api->arena, name->parts[0].text);
        api->catalog.current_schema = TG_S("default");
        return TG_OK;
    }
    if (ex->stmt->kind == TG_STMT_USE_SCHEMA && (name->count == 1 || name->count == 2)) {
        if (name->count == 2) {
            api->catalog.current_catalog = tg_str_copy(api->arena, name->parts[0].text);
        }
        api->catalog.current_schema = tg_str_copy(api->arena, name->parts[name->count - 1].text);
        return TG_OK;
    }
    TG_ERR(err, PARSE_SYNTAX_ERROR, "the name has too many parts");
    return tg_error_at(err, name->span);
}

tg_code tg_api_run_ddl(tg_execution *ex, tg_error *err)
{
    switch (ex->stmt->kind) {
    case TG_STMT_CREATE_VIEW:
        return run_create_view(ex, err);
    case TG_STMT_CREATE_TABLE:
        return run_create_table(ex, err);
    case TG_STMT_CREATE_SCHEMA:
        return run_create_schema(ex, err);
    case TG_STMT_DROP:
        return run_drop(ex, err);
    case TG_STMT_SET:
        return run_set(ex, err);
    default:
        return run_use(ex, err);
    }
}
