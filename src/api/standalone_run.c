/* SPDX-License-Identifier: Apache-2.0 */
/* A standalone table's pipeline: its spec, its graph, one update; and commits of its definition alone. */
#include "api/standalone.h"

/* ---- the pipeline of one table --------------------------------------------------------------- */

static const tg_spec *spec_of(tg_execution *ex, const tg_standalone_table *table,
                              const tg_standalone *standalone)
{
    const tg_catalog *catalog = &ex->api->catalog;
    const tg_name *name = &standalone->statements[0].stmt->name;
    tg_spec *spec = TG_NEW(ex->arena, tg_spec);
    if (ex->api->spec) {
        spec->memory_limit = ex->api->spec->memory_limit;
        spec->threads = ex->api->spec->threads;
    }
    spec->standalone = standalone;
    spec->path = table->location.full_name;
    spec->folder = catalog->base_folder;
    spec->name = table->location.full_name;
    spec->storage = table->storage;
    bool is_full = name->count == 3;
    spec->catalog = is_full ? name->parts[0].text : catalog->current_catalog;
    spec->schema = is_full ? name->parts[1].text : catalog->current_schema;
    spec->declared_catalog = spec->catalog;
    spec->declared_schema = spec->schema;
    spec->warehouse = catalog->warehouse;
    spec->timezone = tg_zone_name(ex->api->zone);
    spec->tables = catalog->mapped;
    spec->table_count = catalog->mapped_count;
    return spec;
}

/* What changes no answer becomes a note of the statement. */
static void keep_warnings(tg_execution *ex, const tg_diags *diags)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->is_warning[i]) {
            tg_buf_addz(&text, text.len > 0 ? "\n" : "");
            tg_buf_addz(&text, diags->items[i].message);
        }
    }
    if (text.len > 0) {
        tg_str lines = tg_buf_take(&text, ex->arena);
        ex->result->note = ex->result->note ? tg_arena_printf(ex->arena, "%s\n%.*s",
                                                              ex->result->note, TG_SARG(lines))
                                            : tg_str_cstr(ex->arena, lines);
    }
}

static tg_code outcome(const tg_update_result *result, tg_error *err)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        if (result->flows[i].error) {
            if (err) {
                tg_error_copy(err, result->flows[i].error);
            }
            return result->flows[i].error->code;
        }
    }
    if (result->state == TG_UPDATE_CANCELED) {
        TG_FAIL(err, TIDEGATE_CANCELLED, "the refresh was interrupted; nothing of it is committed");
    }
    return TG_OK;
}

static tg_code run(tg_execution *ex, const tg_spec *spec, const tg_update_options *options,
                   tg_update_result *out_result, tg_diags *diags, tg_error *err)
{
    tg_api *api = ex->api;
    const tg_graph *graph;
    tg_code code = tg_graph_build(spec, api->fs, ex->arena, &graph, diags);
    tg_update_context context = {.fs = api->fs, .env = &api->own_env, .engine = api->engine};
    if (code == TG_OK) {
        code = tg_update_run(&context, graph, options, ex->arena, out_result, diags);
    }
    if (code != TG_OK) {
        (void)tg_diags_first(diags, err);
        return code;
    }
    return outcome(out_result, err);
}

static bool names_table(tg_execution *ex, const tg_standalone_table *table, const tg_str *names,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tg_name name;
        tg_str full_name;
        if (tg_sql_parse_name(names[i], ex->arena, &name, NULL) == TG_OK &&
            tg_catalog_qualify(&ex->api->catalog, &name, ex->arena, &full_name, NULL) == TG_OK &&
            tg_str_eq(full_name, table->location.full_name)) {
            return true;
        }
    }
    return false;
}

/* What the session may do, as far as it speaks of this table; a reset only where one is asked for. */
static void take_permissions(tg_execution *ex, const tg_standalone_table *table,
                             tg_update_options *options)
{
    const tg_update_options *permissions = ex->api->permissions;
    if (!permissions) {
        return;
    }
    if (names_table(ex, table, permissions->adopt, permissions->adopt_count)) {
        options->adopt = &table->location.full_name;
        options->adopt_count = 1;
    }
    if (options->full_refresh_count > 0 &&
        names_table(ex, table, permissions->allow_reset, permissions->allow_reset_count)) {
        options->allow_reset = &table->location.full_name;
        options->allow_reset_count = 1;
    }
    options->allow_shrink = permissions->allow_shrink;
    options->allow_clock_back = permissions->allow_clock_back;
}

tg_code tg_standalone_update(tg_execution *ex, const tg_standalone_table *table,
                             const tg_standalone *standalone, const tg_update_options *options,
                             tg_update_result *out_result, tg_error *err)
{
    tg_update_options all = *options;
    all.now = ex->api->now_text;
    all.selection_name = "the statement";
    take_permissions(ex, table, &all);
    tg_diags diags = TG_DIAGS_INIT;
    tg_code code = run(ex, spec_of(ex, table, standalone), &all, out_result, &diags, err);
    if (code == TG_OK) {
        keep_warnings(ex, &diags);
    }
    tg_diags_dispose(&diags);
    if (code != TG_OK && !table->facts.exists) {
        /* No table came of it: what is kept of it would never be found again. */
        bool exists = false;
        tg_str log = tg_path_join(ex->arena, table->location.path, TG_S("_delta_log"));
        tg_standalone_table now;
        if (tg_fs_exists(ex->api->fs, log, &exists, NULL) == TG_OK &&
            (!exists ||
             (tg_standalone_find(ex, &standalone->statements[0].stmt->name, &now, NULL) == TG_OK &&
              !tg_str_eq(now.table_id, table->table_id)))) {
            (void)!tg_fs_remove_tree(ex->api->fs, table->storage, NULL);
        }
    }
    return code;
}

/* ---- definitions alone ----------------------------------------------------------------------- */

typedef struct definition_change {
    const tg_standalone_table *table;
    const tg_property *properties; /* wanted */
    size_t property_count;
    const char *const *unwanted; /* keys that go */
    size_t unwanted_count;
    tg_schema schema; /* of a new table */
    const tg_str *partitions;
    size_t partition_count;
    tg_str comment;
    bool keeps_comment;
    const char *operation;
} definition_change;

static bool has_key(const tg_property *properties, size_t count, tg_str key)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, key)) {
            return true;
        }
    }
    return false;
}

static bool is_gone(const definition_change *change, tg_str key)
{
    for (size_t i = 0; i < change->unwanted_count; i++) {
        if (tg_str_ieq(key, tg_str_from(change->unwanted[i]))) {
            return true;
        }
    }
    return has_key(change->properties, change->property_count, key);
}

static tg_code make_change(tg_execution *ex, void *self, const tg_program **out_program,
                           tg_error *err)
{
    const definition_change *change = self;
    const tg_standalone_table *table = change->table;
    tg_engine *engine = ex->api->engine;
    tg_table_facts facts;
    TG_TRY(engine->table_facts(engine->self, table->location.path, ex->arena, &facts, err));
    if (facts.exists != table->facts.exists ||
        (facts.exists && !tg_str_eq(facts.table_id, table->table_id))) {
        TG_FAIL(err, TIDEGATE_DEFINITION_CHANGED,
                "table `%.*s` was made or dropped while the statement worked on it",
                TG_SARG(table->location.full_name));
    }
    TG_VEC(tg_property) all = {0};
    for (size_t i = 0; i < facts.property_count; i++) {
        if (!is_gone(change, facts.properties[i].key)) {
            TG_VEC_PUSH(ex->arena, &all, facts.properties[i]);
        }
    }
    for (size_t i = 0; i < change->property_count; i++) {
        TG_VEC_PUSH(ex->arena, &all, change->properties[i]);
    }
    tg_step *steps = TG_NEW_ARRAY(ex->arena, tg_step, 1);
    steps[0] = (tg_step){.kind = TG_STEP_COMMIT};
    tg_program *program = TG_NEW(ex->arena, tg_program);
    *program = (tg_program){
        .target = {.name = table->location.full_name,
                   .path = table->location.path,
                   .read_version = facts.exists ? facts.version : -1,
                   .table_id = table->table_id,
                   .changes_metadata = true,
                   .schema = facts.exists ? facts.schema : change->schema,
                   .partition_columns = facts.exists ? facts.partition_columns : change->partitions,
                   .partition_count =
                       facts.exists ? facts.partition_count : change->partition_count,
                   .properties = all.items,
                   .property_count = all.count,
                   .comment = change->keeps_comment ? facts.comment : change->comment},
        .steps = steps,
        .step_count = 1,
        .operation = tg_str_from(change->operation),
        .zone = ex->api->zone,
        .now_us = ex->now_us,
    };
    *out_program = program;
    return TG_OK;
}

/* Columns as declared; partitioned by them when all are there: a table without columns is
 * partitioned by its first refresh. */
static void declare(tg_execution *ex, const tg_stmt *stmt, definition_change *change)
{
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, stmt->column_count);
    size_t count = 0;
    for (size_t i = 0; i < stmt->column_count; i++) {
        if (stmt->columns[i].type) {
            fields[count++] = (tg_field){.name = stmt->columns[i].name.text,
                                         .type = stmt->columns[i].type,
                                         .nullable = true,
                                         .comment = stmt->columns[i].comment};
        }
    }
    change->schema = (tg_schema){.fields = fields, .count = count};
    tg_str *names = TG_NEW_ARRAY(ex->arena, tg_str, stmt->clauses.partition_count);
    for (size_t i = 0; i < stmt->clauses.partition_count; i++) {
        ptrdiff_t at = tg_schema_find(change->schema, stmt->clauses.partition_by[i].text);
        if (at < 0) {
            return;
        }
        names[i] = fields[at].name;
    }
    change->partitions = names;
    change->partition_count = stmt->clauses.partition_count;
}

tg_code tg_standalone_commit_definition(tg_execution *ex, const tg_standalone_table *table,
                                        const tg_standalone *standalone, tg_error *err)
{
    static const char *const gone[] = {TG_PROPERTY_DEFINITION, TG_PROPERTY_FLOW,
                                       TG_PROPERTY_SCHEDULE};
    const tg_graph *graph;
    tg_diags diags = TG_DIAGS_INIT;
    tg_code code =
        tg_graph_build(spec_of(ex, table, standalone), ex->api->fs, ex->arena, &graph, &diags);
    if (code != TG_OK) {
        (void)tg_diags_first(&diags, err);
    } else {
        keep_warnings(ex, &diags);
    }
    tg_diags_dispose(&diags);
    TG_TRY(code);
    const tg_dataset *dataset = graph->datasets[0];
    TG_VEC(tg_property) properties = {0};
    for (size_t i = 0; i < dataset->property_count; i++) {
        TG_VEC_PUSH(ex->arena, &properties, dataset->properties[i]);
    }
    TG_VEC_PUSH(ex->arena, &properties,
                (tg_property){.key = TG_S(TG_PROPERTY_OWNER), .value = table->table_id});
    if (!table->facts.exists || table->own.needs_refresh) {
        TG_VEC_PUSH(ex->arena, &properties,
                    (tg_property){.key = TG_S(TG_PROPERTY_NEEDS_REFRESH), .value = TG_S("true")});
    }
    definition_change change = {.table = table,
                                .properties = properties.items,
                                .property_count = properties.count,
                                .unwanted = gone,
                                .unwanted_count = sizeof(gone) / sizeof(*gone),
                                .comment = dataset->stmt->clauses.comment,
                                .operation = "CREATE STREAMING TABLE"};
    declare(ex, dataset->stmt, &change);
    tg_run_result result;
    code = tg_api_run_program(ex, make_change, &change, &result, err);
    if (code != TG_OK && err && !err->has_span) {
        (void)tg_error_at(err, dataset->stmt->name.span);
        tg_error_locate(err, dataset->file->shown_name, dataset->file->text);
    }
    return code;
}

tg_code tg_standalone_set_property(tg_execution *ex, const tg_standalone_table *table,
                                   const char *key, tg_str value, tg_error *err)
{
    const tg_property property = {.key = tg_str_from(key), .value = value};
    definition_change change = {.table = table,
                                .properties = &property,
                                .property_count = value.len > 0,
                                .unwanted = &key,
                                .unwanted_count = 1,
                                .keeps_comment = true,
                                .operation =
                                    value.len ? "SET TBLPROPERTIES" : "UNSET TBLPROPERTIES"};
    tg_run_result result;
    return tg_api_run_program(ex, make_change, &change, &result, err);
}

void tg_standalone_note_schedule(tg_execution *ex, tg_str schedule)
{
    if (schedule.len == 0 || ex->api->has_noted_schedules) {
        return;
    }
    ex->api->has_noted_schedules = true;
    ex->result->note = "schedules are kept and shown, and not run in this release; start REFRESH "
                       "from cron or a systemd timer";
}
