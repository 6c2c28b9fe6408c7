/* SPDX-License-Identifier: Apache-2.0 */
/* SHOW and DESCRIBE: facts of tables as rows of strings. */
#include "api/eventlog_int.h"
#include "api/standalone.h"

typedef TG_VEC(tg_value) cells;

static void add(tg_execution *ex, cells *list, tg_str text)
{
    TG_VEC_PUSH(ex->arena, list, tg_string_value(text));
}

static void finish(tg_execution *ex, const char *const *names, size_t columns, const cells *list)
{
    tg_execution_set_rows(ex, names, columns, list->items, list->count / columns);
}

/* SQL's LIKE pattern of SHOW: '*' is any text, '|' separates alternatives. */
static bool matches(tg_str pattern, tg_str name, tg_arena *arena)
{
    if (pattern.len == 0) {
        return true;
    }
    tg_str lower = tg_str_lower(arena, name);
    for (size_t from = 0; from <= pattern.len;) {
        size_t bar = tg_str_find(pattern, TG_S("|"), from);
        size_t to = bar == SIZE_MAX ? pattern.len : bar;
        if (tg_glob_match_name(tg_str_lower(arena, tg_str_sub(pattern, from, to)), lower)) {
            return true;
        }
        from = to + 1;
    }
    return false;
}

static void add_listed(tg_execution *ex, cells *list, tg_str schema_name, const tg_str *names,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        /* event logs are hidden, as the vendor's are; who knows the name reads them */
        if (matches(ex->stmt->pattern, names[i], ex->arena) && !tg_event_table_is_name(names[i])) {
            add(ex, list, schema_name);
            add(ex, list, names[i]);
            add(ex, list, TG_S("false"));
        }
    }
}

/* Tables, then views of the schema, then those of the session. */
static tg_code show_tables(tg_execution *ex, tg_error *err)
{
    static const char *const TABLE_NAMES[] = {"database", "tableName", "isTemporary"};
    static const char *const VIEW_NAMES[] = {"namespace", "viewName", "isTemporary"};
    bool is_views = ex->stmt->kind == TG_STMT_SHOW_VIEWS;
    const tg_catalog *catalog = &ex->api->catalog;
    const tg_name *name = &ex->stmt->name;
    tg_str catalog_name = name->count == 2 ? name->parts[0].text : catalog->current_catalog;
    tg_str schema_name =
        name->count > 0 ? name->parts[name->count - 1].text : catalog->current_schema;
    tg_str *names;
    size_t count;
    cells list = {0};
    if (!is_views) {
        TG_TRY(
            tg_catalog_tables(catalog, catalog_name, schema_name, ex->arena, &names, &count, err));
        add_listed(ex, &list, schema_name, names, count);
    }
    TG_TRY(tg_catalog_views(catalog, catalog_name, schema_name, ex->arena, &names, &count, err));
    add_listed(ex, &list, schema_name, names, count);
    for (size_t i = 0; i < ex->api->views.used_count; i++) {
        const tg_map_entry *entry = &ex->api->views.entries[i];
        if (!entry->removed && matches(ex->stmt->pattern, entry->key, ex->arena)) {
            add(ex, &list, TG_S(""));
            add(ex, &list, entry->key);
            add(ex, &list, TG_S("true"));
        }
    }
    finish(ex, is_views ? VIEW_NAMES : TABLE_NAMES, 3, &list);
    return TG_OK;
}

static tg_code show_schemas(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"namespace"};
    const tg_name *name = &ex->stmt->name;
    tg_str catalog_name = name->count > 0 ? name->parts[0].text : ex->api->catalog.current_catalog;
    tg_str *schemas;
    size_t count;
    TG_TRY(tg_catalog_schemas(&ex->api->catalog, catalog_name, ex->arena, &schemas, &count, err));
    cells list = {0};
    for (size_t i = 0; i < count; i++) {
        if (matches(ex->stmt->pattern, schemas[i], ex->arena)) {
            add(ex, &list, schemas[i]);
        }
    }
    finish(ex, NAMES, 1, &list);
    return TG_OK;
}

/* SELECT * FROM name */
static tg_code bind_view(tg_execution *ex, const tg_name *name, tg_bound_query *out, tg_error *err)
{
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_relation relation = {.kind = TG_REL_TABLE, .name = *name, .span = name->span};
    tg_expr star = {.kind = TG_EXPR_STAR, .span = name->span};
    return tg_sql_bind_query(tg_sql_select_star(ex->arena, &star, &relation, name->span), &options,
                             ex->arena, out, err);
}

static tg_code show_columns(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"col_name"};
    tg_location location;
    const tg_view *view;
    TG_TRY(tg_execution_view(ex, &ex->stmt->name, &location, &view, err));
    if (view) {
        tg_bound_query bound;
        cells columns = {0};
        TG_TRY(bind_view(ex, &ex->stmt->name, &bound, err));
        for (size_t i = 0; i < bound.rel->column_count; i++) {
            add(ex, &columns, bound.rel->columns[i].name);
        }
        finish(ex, NAMES, 1, &columns);
        return TG_OK;
    }
    const tg_table *table;
    ex->describes = true;
    TG_TRY(tg_execution_table(ex, &ex->stmt->name, &table, err));
    cells list = {0};
    for (size_t i = 0; i < table->schema.count; i++) {
        add(ex, &list, table->schema.fields[i].name);
    }
    finish(ex, NAMES, 1, &list);
    return TG_OK;
}

static tg_code show_properties(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"key", "value"};
    tg_location location;
    tg_table_facts facts = {0};
    const tg_view *view;
    TG_TRY(tg_execution_view(ex, &ex->stmt->name, &location, &view, err));
    if (view) {
        facts.properties = view->properties;
        facts.property_count = view->property_count;
    } else {
        TG_TRY(tg_execution_existing_target(ex, &ex->stmt->name, &location, &facts, err));
    }
    cells list = {0};
    tg_str wanted = ex->stmt->key;
    for (size_t i = 0; i < facts.property_count; i++) {
        if (!wanted.len || tg_str_ieq(wanted, facts.properties[i].key)) {
            add(ex, &list, facts.properties[i].key);
            add(ex, &list, facts.properties[i].value);
        }
    }
    if (wanted.len && !list.count) { /* Spark's words, in place of a row */
        add(ex, &list, wanted);
        add(ex, &list,
            tg_str_printf(ex->arena, "Table %.*s does not have property: %.*s",
                          TG_SARG(location.full_name), TG_SARG(wanted)));
    }
    finish(ex, NAMES, 2, &list);
    return TG_OK;
}

static void add_ident_list(tg_buf *text, const char *words, const tg_str *names, size_t count)
{
    if (count == 0) {
        return;
    }
    tg_buf_addf(text, "\n%s (", words);
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(text, i > 0 ? ", " : "");
        tg_sql_print_ident(names[i], text);
    }
    tg_buf_addz(text, ")");
}

static void add_string(tg_buf *text, tg_str value, tg_arena *arena)
{
    tg_buf_adds(text, tg_value_literal(arena, tg_string_value(value)));
}

static const char *const CREATE_NAMES[] = {"createtab_stmt"};

static tg_code show_create_standalone(tg_execution *ex, tg_error *err)
{
    tg_standalone_table table;
    tg_str text;
    TG_TRY(tg_standalone_find(ex, &ex->stmt->name, &table, err));
    TG_TRY(tg_standalone_create_text(ex, &table, &text, err));
    cells list = {0};
    add(ex, &list, text);
    finish(ex, CREATE_NAMES, 1, &list);
    return TG_OK;
}

static tg_code show_create(tg_execution *ex, tg_error *err)
{
    tg_location location;
    tg_table_facts facts;
    const tg_view *view;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    TG_TRY(tg_execution_view(ex, &ex->stmt->name, &location, &view, err));
    if (view) {
        cells one = {0};
        tg_view_print(view, &text);
        add(ex, &one, tg_buf_take(&text, ex->arena));
        finish(ex, CREATE_NAMES, 1, &one);
        return TG_OK;
    }
    TG_TRY(tg_execution_existing_target(ex, &ex->stmt->name, &location, &facts, err));
    if (location.is_managed && tg_ownership_of(&facts).is_standalone) {
        return show_create_standalone(ex, err);
    }
    tg_buf_addf(&text, "CREATE TABLE %.*s (", TG_SARG(location.full_name));
    for (size_t i = 0; i < facts.schema.count; i++) {
        tg_buf_addz(&text, i > 0 ? ",\n  " : "\n  ");
        tg_sql_print_ident(facts.schema.fields[i].name, &text);
        tg_buf_addf(&text, " %.*s", TG_SARG(tg_type_ddl(ex->arena, facts.schema.fields[i].type)));
        if (facts.schema.fields[i].comment.len > 0) {
            tg_buf_addz(&text, " COMMENT ");
            add_string(&text, facts.schema.fields[i].comment, ex->arena);
        }
    }
    tg_buf_addz(&text, "\n)\nUSING DELTA");
    add_ident_list(&text, "PARTITIONED BY", facts.partition_columns, facts.partition_count);
    if (facts.comment.len > 0) {
        tg_buf_addz(&text, "\nCOMMENT ");
        add_string(&text, facts.comment, ex->arena);
    }
    for (size_t i = 0; i < facts.property_count; i++) {
        tg_buf_addz(&text, i > 0 ? ",\n  " : "\nTBLPROPERTIES (\n  ");
        add_string(&text, facts.properties[i].key, ex->arena);
        tg_buf_addz(&text, " = ");
        add_string(&text, facts.properties[i].value, ex->arena);
    }
    tg_buf_addz(&text, facts.property_count > 0 ? "\n)" : "");
    cells list = {0};
    add(ex, &list, tg_buf_take(&text, ex->arena));
    finish(ex, CREATE_NAMES, 1, &list);
    return TG_OK;
}

/* ---- DESCRIBE -------------------------------------------------------------------------------- */

static const char *const DESCRIBE_NAMES[] = {"col_name", "data_type", "comment"};

static void add_row(tg_execution *ex, cells *list, tg_str a, tg_str b, tg_str c)
{
    add(ex, list, a);
    add(ex, list, b);
    TG_VEC_PUSH(ex->arena, list,
                c.len ? tg_string_value(c) : tg_value_null(tg_type_of(TG_TYPE_STRING)));
}

static void add_schema(tg_execution *ex, cells *list, tg_schema schema)
{
    for (size_t i = 0; i < schema.count; i++) {
        const tg_field *field = &schema.fields[i];
        add_row(ex, list, field->name, tg_type_text(ex->arena, field->type), field->comment);
    }
}

static tg_code describe_query(tg_execution *ex, const tg_query *query, tg_error *err)
{
    tg_resolver resolver;
    tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    tg_bound_query bound;
    TG_TRY(tg_sql_bind_query(query, &options, ex->arena, &bound, err));
    cells list = {0};
    for (size_t i = 0; i < bound.rel->column_count; i++) {
        add_row(ex, &list, bound.rel->columns[i].name,
                tg_type_text(ex->arena, bound.rel->columns[i].type), TG_S(""));
    }
    finish(ex, DESCRIBE_NAMES, 3, &list);
    return TG_OK;
}

/* A table or view without a definition is told so, by a session of its pipeline. */
static tg_code add_activity(tg_execution *ex, cells *list, tg_str full_name, tg_str owner,
                            tg_error *err)
{
    tg_remembered known;
    TG_TRY(tg_standalone_remembered(ex, full_name, owner, &known, err));
    if (known.since.len > 0) {
        add_row(ex, list, TG_S("Status"), TG_S("INACTIVE"),
                TG_S("its pipeline does not define it any more"));
        add_row(ex, list, TG_S("Inactive Since"), known.since, TG_S(""));
    }
    return TG_OK;
}

static tg_code describe_view(tg_execution *ex, const tg_view *view, tg_error *err)
{
    tg_bound_query bound;
    cells list = {0};
    TG_TRY(bind_view(ex, &ex->stmt->name, &bound, err));
    for (size_t i = 0; i < bound.rel->column_count; i++) {
        add_row(ex, &list, bound.rel->columns[i].name,
                tg_type_text(ex->arena, bound.rel->columns[i].type),
                i < view->column_count ? view->columns[i].comment : TG_S(""));
    }
    if (ex->stmt->describe == TG_DESCRIBE_EXTENDED) {
        add_row(ex, &list, TG_S(""), TG_S(""), TG_S(""));
        add_row(ex, &list, TG_S("# Detailed Table Information"), TG_S(""), TG_S(""));
        add_row(ex, &list, TG_S("Name"), view->full_name, TG_S(""));
        add_row(ex, &list, TG_S("Type"), TG_S("VIEW"), TG_S(""));
        add_row(ex, &list, TG_S("Comment"), view->comment, TG_S(""));
        add_row(ex, &list, TG_S("View Text"), view->text, TG_S(""));
        add_row(
            ex, &list, TG_S("View Catalog and Namespace"),
            tg_str_printf(ex->arena, "%.*s.%.*s", TG_SARG(view->catalog), TG_SARG(view->schema)),
            TG_S(""));
        add_row(ex, &list, TG_S("View Time Zone"), view->timezone, TG_S(""));
        TG_TRY(add_activity(ex, &list, view->full_name, view->pipeline_id, err));
    }
    finish(ex, DESCRIBE_NAMES, 3, &list);
    return TG_OK;
}

/* What a streaming table or materialized view is, whose, and how its last refresh went. */
static tg_code add_dataset(tg_execution *ex, cells *list, tg_error *err)
{
    tg_standalone_table table;
    TG_TRY(tg_standalone_find(ex, &ex->stmt->name, &table, err));
    if (table.own.owner.len == 0) {
        return TG_OK;
    }
    tg_refresh_info info;
    TG_TRY(tg_standalone_refresh_info(ex, &table, &info, err));
    add_row(ex, list, TG_S("Type"), table.own.kind, TG_S(""));
    if (table.own.is_standalone) {
        tg_str text;
        TG_TRY(tg_standalone_create_text(ex, &table, &text, err));
        add_row(ex, list, TG_S("View Text"), text, TG_S(""));
        add_row(ex, list, TG_S("Refresh Schedule"),
                tg_standalone_schedule_shown(ex, table.own.schedule), TG_S(""));
    } else {
        add_row(ex, list, TG_S("Pipeline Id"), table.own.owner, TG_S(""));
        TG_TRY(add_activity(ex, list, table.location.full_name, table.own.owner, err));
    }
    const struct {
        tg_str name, value;
    } rows[] = {{TG_S("Last Refreshed"), info.time},
                {TG_S("Last Refresh Status"), info.status},
                {TG_S("Last Refresh Type"), info.technique},
                {TG_S("Last Refresh Window"), info.window},
                {TG_S("Latest Update Id"), info.update_id}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].value.len > 0) {
            add_row(ex, list, rows[i].name, rows[i].value, TG_S(""));
        }
    }
    if (table.own.needs_refresh) {
        add_row(ex, list, TG_S("Last Refresh Status"), TG_S("NEVER REFRESHED"), TG_S(""));
    }
    return TG_OK;
}

static tg_code describe_table(tg_execution *ex, tg_error *err)
{
    ex->describes = true;
    const tg_name *name = &ex->stmt->name;
    const tg_temp_view *view =
        name->count == 1 ? tg_map_get(&ex->api->views, name->parts[0].text) : NULL;
    if (view) {
        return describe_query(ex, view->query, err);
    }
    tg_location location;
    const tg_view *persisted;
    TG_TRY(tg_execution_view(ex, name, &location, &persisted, err));
    if (persisted) {
        return describe_view(ex, persisted, err);
    }
    const tg_table *table;
    TG_TRY(tg_execution_table(ex, name, &table, err));
    cells list = {0};
    add_schema(ex, &list, table->schema);
    if (table->partition_count > 0) {
        add_row(ex, &list, TG_S("# Partition Information"), TG_S(""), TG_S(""));
        for (size_t i = 0; i < table->partition_count; i++) {
            ptrdiff_t at = tg_schema_find(table->schema, table->partition_columns[i]);
            add_row(ex, &list, table->partition_columns[i],
                    at < 0 ? TG_S("") : tg_type_text(ex->arena, table->schema.fields[at].type),
                    TG_S(""));
        }
    }
    if (ex->stmt->describe == TG_DESCRIBE_EXTENDED) {
        add_row(ex, &list, TG_S(""), TG_S(""), TG_S(""));
        add_row(ex, &list, TG_S("# Detailed Table Information"), TG_S(""), TG_S(""));
        add_row(ex, &list, TG_S("Name"), table->name, TG_S(""));
        add_row(ex, &list, TG_S("Provider"), tg_catalog_format_word(table->format), TG_S(""));
        add_row(ex, &list, TG_S("Location"), table->path, TG_S(""));
        if (table->format == TG_FORMAT_DELTA) {
            add_row(ex, &list, TG_S("Version"),
                    tg_str_printf(ex->arena, "%lld", (long long)table->version), TG_S(""));
            TG_TRY(tg_catalog_locate(&ex->api->catalog, name, ex->arena, &location, err));
            if (location.is_managed) {
                TG_TRY(add_dataset(ex, &list, err));
            }
        }
    }
    finish(ex, DESCRIBE_NAMES, 3, &list);
    return TG_OK;
}

static tg_code run_describe(tg_execution *ex, tg_error *err)
{
    switch (ex->stmt->describe) {
    case TG_DESCRIBE_TABLE:
    case TG_DESCRIBE_EXTENDED:
        return describe_table(ex, err);
    case TG_DESCRIBE_QUERY:
        return describe_query(ex, ex->stmt->query, err);
    case TG_DESCRIBE_DETAIL:
        return tg_api_describe_detail(ex, err);
    case TG_DESCRIBE_HISTORY:
        return tg_api_describe_history(ex, err);
    case TG_DESCRIBE_FUNCTION:
        break;
    }
    TG_ERR(err, UNSUPPORTED_FEATURE, "DESCRIBE FUNCTION is not available in this release");
    return tg_error_at(err, ex->stmt->span);
}

tg_code tg_api_run_show(tg_execution *ex, tg_error *err)
{
    switch (ex->stmt->kind) {
    case TG_STMT_SHOW_TABLES:
    case TG_STMT_SHOW_VIEWS:
        return show_tables(ex, err);
    case TG_STMT_SHOW_SCHEMAS:
        return show_schemas(ex, err);
    case TG_STMT_SHOW_COLUMNS:
        return show_columns(ex, err);
    case TG_STMT_SHOW_TBLPROPERTIES:
        return show_properties(ex, err);
    case TG_STMT_SHOW_CREATE_TABLE:
        return show_create(ex, err);
    case TG_STMT_DESCRIBE:
        return run_describe(ex, err);
    default:
        return tg_api_show_partitions(ex, err);
    }
}
