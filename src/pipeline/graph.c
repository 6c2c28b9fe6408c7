/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From source files to registered datasets and flows. Every file is read to its end and every
 * statement judged, so that one run shows all that is wrong; what is refused is still registered,
 * so that its readers are not reported as well. What does not parse is known by name, if at all;
 * the graph then holds what does not depend on it, for analysis only.
 */
#include "pipeline/graph_int.h"

#include "pipeline/conf.h"
#include "pipeline/substitute.h"

/* ---- reporting ------------------------------------------------------------------------------- */

void tg_graph_fail_with(tg_graph_builder *b, const tg_source_file *file, tg_error *err)
{
    tg_error_locate(err, file->shown_name, file->text);
    tg_diags_add(b->diags, err);
}

void tg_graph_warn_with(tg_graph_builder *b, const tg_source_file *file, tg_error *err)
{
    tg_error_locate(err, file->shown_name, file->text);
    tg_diags_add_warning(b->diags, err);
}

void tg_graph_fail(tg_graph_builder *b, const tg_source_file *file, tg_span span,
                   tg_error_class cls, const char *hint, const char *format, ...)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    va_list args;
    va_start(args, format);
    (void)tg_error_set(&err, cls, __FILE__, __LINE__, "%s",
                       tg_arena_vprintf(b->arena, format, args));
    va_end(args);
    if (hint) {
        (void)tg_error_hint(&err, "%s", hint);
    }
    (void)tg_error_at(&err, span);
    tg_graph_fail_with(b, file, &err);
}

const char *tg_dataset_kind_name(tg_dataset_kind kind)
{
    switch (kind) {
    case TG_DATASET_STREAMING_TABLE:
        return "streaming table";
    case TG_DATASET_MATERIALIZED_VIEW:
        return "materialized view";
    case TG_DATASET_TEMPORARY_VIEW:
        return "temporary view";
    case TG_DATASET_VIEW:
        return "view";
    }
    return "dataset";
}

const char *tg_dataset_kind_event_name(tg_dataset_kind kind)
{
    switch (kind) {
    case TG_DATASET_STREAMING_TABLE:
        return "STREAMING_TABLE";
    case TG_DATASET_MATERIALIZED_VIEW:
        return "MATERIALIZED_VIEW";
    case TG_DATASET_TEMPORARY_VIEW:
    case TG_DATASET_VIEW:
        return "VIEW";
    }
    return "DATASET";
}

/* ---- environments ---------------------------------------------------------------------------- */

/*
 * With --catalog or --schema: does a definition name what they would have given? Then every
 * environment writes this one table, each from sources of its own.
 */
static bool is_shared(const tg_graph_builder *b, const tg_name *name, const tg_catalog *scope)
{
    const tg_spec *spec = b->spec;
    bool moves_catalog = !tg_str_ieq(spec->catalog, spec->declared_catalog);
    bool moves_schema = !tg_str_ieq(spec->schema, spec->declared_schema);
    /* USE CATALOG and USE SCHEMA bring texts of the file. */
    bool takes_catalog = name->count < 3 && scope->current_catalog.ptr == spec->catalog.ptr;
    bool takes_schema = name->count < 2 && scope->current_schema.ptr == spec->schema.ptr;
    return (moves_catalog || moves_schema) && !(moves_catalog && takes_catalog) &&
           !(moves_schema && takes_schema);
}

static void note_shared(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                        const tg_catalog *scope, tg_str full_name)
{
    if (!is_shared(b, &stmt->name, scope)) {
        return;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_SHARED_TABLE,
                 "`%.*s` is the same in every environment: its definition names what --catalog "
                 "and --schema stand for",
                 TG_SARG(full_name));
    (void)tg_error_hint(&err, "Leave catalog and schema out of its name, and USE out of its file, "
                              "to give each environment its own.");
    (void)tg_error_at(&err, stmt->name.span);
    tg_graph_warn_with(b, file, &err);
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* Where a definition stands, for the message about its double. */
static size_t line_of(const tg_source_file *file, const tg_stmt *stmt)
{
    size_t line = 1;
    for (size_t i = 0; i < stmt->name.span.offset; i++) {
        line += file->text.ptr[i] == '\n';
    }
    return line;
}

static tg_dataset *add_dataset(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                               const tg_catalog *scope, tg_dataset_kind kind, tg_str full_name)
{
    tg_dataset *dataset = TG_NEW(b->arena, tg_dataset);
    *dataset = (tg_dataset){.kind = kind,
                            .full_name = full_name,
                            .name = stmt->name.parts[stmt->name.count - 1].text,
                            .stmt = stmt,
                            .file = file,
                            .index = b->datasets.count};
    const tg_dataset *other = tg_map_get(&b->graph->names, full_name);
    if (other) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_PIPELINE_DUPLICATE_IDENTIFIERS_OUTPUT,
                      "Give one of them another name.",
                      "`%.*s` is defined twice: first as a %s in %s, line %zu", TG_SARG(full_name),
                      tg_dataset_kind_name(other->kind), other->file->shown_name,
                      line_of(other->file, other->stmt));
        return NULL;
    }
    (void)tg_map_put(&b->graph->names, full_name, dataset);
    TG_VEC_PUSH(b->arena, &b->datasets, (tg_registered_dataset){dataset, *scope});
    return dataset;
}

static void add_flow(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                     const tg_catalog *scope, tg_str full_name, tg_str event_name,
                     tg_dataset *dataset)
{
    tg_flow *flow = TG_NEW(b->arena, tg_flow);
    *flow = (tg_flow){.kind = stmt->flow->kind,
                      .full_name = full_name,
                      .event_name = event_name,
                      .is_implicit = dataset != NULL,
                      .spec = stmt->flow,
                      .stmt = stmt,
                      .file = file,
                      .dataset = dataset};
    const tg_flow *other = tg_map_get(&b->flow_names, full_name);
    if (other) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_PIPELINE_DUPLICATE_IDENTIFIERS_FLOW,
                      "Give one of them another name.",
                      "flow `%.*s` is defined twice: first in %s, line %zu", TG_SARG(full_name),
                      other->file->shown_name, line_of(other->file, other->stmt));
        return;
    }
    (void)tg_map_put(&b->flow_names, full_name, flow);
    TG_VEC_PUSH(b->arena, &b->flows,
                (tg_registered_flow){
                    .flow = flow, .scope = *scope, .target = dataset ? NULL : &stmt->target});
}

/* Where a definition's table or view lives: in the warehouse, else it is refused. */
static bool locate(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                   const tg_catalog *scope, const char *what, tg_location *out)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_catalog_locate(scope, &stmt->name, b->arena, out, &err) != TG_OK) {
        tg_graph_fail_with(b, file, &err);
        return false;
    }
    if (!out->is_managed) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE,
                      "Give it a name of its own.", "a %s cannot be defined at the path of %.*s",
                      what, TG_SARG(out->full_name));
    }
    return out->is_managed;
}

static void define_table(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                         const tg_catalog *scope, tg_dataset_kind kind)
{
    tg_location location;
    if (!locate(b, file, stmt, scope, tg_dataset_kind_name(kind), &location)) {
        return;
    }
    tg_graph_refuse_clauses(b, file, stmt);
    tg_dataset *dataset = add_dataset(b, file, stmt, scope, kind, location.full_name);
    if (!dataset) {
        return;
    }
    dataset->location = location;
    note_shared(b, file, stmt, scope, location.full_name);
    tg_graph_read_properties(b, dataset);
    tg_str *columns = TG_NEW_ARRAY(b->arena, tg_str, stmt->clauses.partition_count);
    for (size_t i = 0; i < stmt->clauses.partition_count; i++) {
        columns[i] = stmt->clauses.partition_by[i].text;
    }
    dataset->partition_columns = columns;
    dataset->partition_count = stmt->clauses.partition_count;
    if (stmt->flow && tg_graph_check_flow_kind(b, file, stmt)) {
        add_flow(b, file, stmt, scope, dataset->full_name, dataset->full_name, dataset);
    }
}

/* A view that others see: a file of the warehouse, published by the update. */
static void define_persisted_view(tg_graph_builder *b, const tg_source_file *file,
                                  const tg_stmt *stmt, const tg_catalog *scope)
{
    tg_location location;
    if (!locate(b, file, stmt, scope, "view", &location)) {
        return;
    }
    if (stmt->or_replace) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE,
                      "Write CREATE VIEW: an update always brings it up to its definition.",
                      "CREATE OR REPLACE VIEW does not belong in a pipeline");
    }
    tg_graph_refuse_clauses(b, file, stmt);
    tg_dataset *dataset = add_dataset(b, file, stmt, scope, TG_DATASET_VIEW, location.full_name);
    if (dataset) {
        note_shared(b, file, stmt, scope, location.full_name);
        dataset->location = location;
        dataset->query = tg_sql_view_query(stmt, b->arena);
        dataset->scope = *scope;
    }
}

static void define_view(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                        const tg_catalog *scope)
{
    if (!stmt->is_temporary) {
        define_persisted_view(b, file, stmt, scope);
        return;
    }
    if (stmt->name.count > 1) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_MULTIPART_TEMPORARY_VIEW_NAME_NOT_SUPPORTED,
                      "Leave catalog and schema out.", "the name of a temporary view has one part");
        return;
    }
    tg_graph_refuse_clauses(b, file, stmt);
    tg_dataset *dataset = add_dataset(b, file, stmt, scope, TG_DATASET_TEMPORARY_VIEW,
                                      tg_str_lower(b->arena, stmt->name.parts[0].text));
    if (dataset) {
        dataset->query = tg_sql_view_query(stmt, b->arena);
    }
}

static void define_flow(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                        const tg_catalog *scope)
{
    if (stmt->name.count > 1) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_MULTIPART_FLOW_NAME_NOT_SUPPORTED,
                      "Leave catalog and schema out.", "the name of a flow has one part");
        return;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str full_name;
    if (tg_catalog_qualify(scope, &stmt->name, b->arena, &full_name, &err) != TG_OK) {
        tg_graph_fail_with(b, file, &err);
    } else if (tg_graph_check_flow_kind(b, file, stmt)) {
        add_flow(b, file, stmt, scope, full_name, stmt->name.parts[0].text, NULL);
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void apply_set(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    bool is_warning;
    tg_str key = tg_conf_sets_timezone(stmt->key) ? TG_S(TG_CONF_TIMEZONE) : stmt->key;
    tg_conf_check(key, stmt->value, b->spec->timezone, &is_warning, &err);
    if (tg_conf_is_retries(key) && !tg_error_is_set(&err)) {
        is_warning = true;
        (void)TG_ERR(&err, UNSUPPORTED_FEATURE, "setting `%.*s` has no effect in a source file",
                     TG_SARG(key));
        (void)tg_error_hint(&err, "It holds for the whole pipeline: set it under `configuration` "
                                  "in the pipeline spec.");
    }
    if (!tg_error_is_set(&err)) {
        return;
    }
    (void)tg_error_at(&err, stmt->span);
    if (!is_warning) {
        tg_graph_fail_with(b, file, &err);
    } else if (!tg_map_put(&b->noted, stmt->key, b)) {
        tg_graph_warn_with(b, file, &err);
    }
}

static void use_schema(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                       tg_catalog *scope)
{
    if (stmt->name.count > 2) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_IDENTIFIER_TOO_MANY_NAME_PARTS, NULL,
                      "a schema name has at most two parts");
        return;
    }
    if (stmt->name.count == 2) {
        scope->current_catalog = stmt->name.parts[0].text;
    }
    scope->current_schema = stmt->name.parts[stmt->name.count - 1].text;
}

static void register_statement(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                               tg_catalog *scope)
{
    switch (stmt->kind) {
    case TG_STMT_SET:
        apply_set(b, file, stmt);
        return;
    case TG_STMT_USE_CATALOG:
        scope->current_catalog = stmt->name.parts[0].text;
        scope->current_schema = b->spec->schema;
        return;
    case TG_STMT_USE_SCHEMA:
        use_schema(b, file, stmt, scope);
        return;
    case TG_STMT_CREATE_STREAMING_TABLE:
        define_table(b, file, stmt, scope, TG_DATASET_STREAMING_TABLE);
        return;
    case TG_STMT_CREATE_MATERIALIZED_VIEW:
        define_table(b, file, stmt, scope, TG_DATASET_MATERIALIZED_VIEW);
        return;
    case TG_STMT_CREATE_VIEW:
        define_view(b, file, stmt, scope);
        return;
    case TG_STMT_CREATE_FLOW:
        define_flow(b, file, stmt, scope);
        return;
    case TG_STMT_CREATE_TABLE:
        tg_graph_fail(b, file, stmt->span, TG_E_UNSUPPORTED_FEATURE,
                      "Use CREATE STREAMING TABLE or CREATE MATERIALIZED VIEW.",
                      "CREATE TABLE in a pipeline is not available yet");
        return;
    default:
        tg_graph_fail(b, file, stmt->span, TG_E_PIPELINE_SQL_GRAPH_ELEMENT_REGISTRATION_ERROR,
                      "Source files of a pipeline hold CREATE STREAMING TABLE, CREATE MATERIALIZED "
                      "VIEW, CREATE TEMPORARY VIEW, "
                      "CREATE FLOW, USE and SET; run other statements with `tidegate sql`.",
                      "this statement does not belong in a source file of a pipeline");
    }
}

/* A definition that does not parse: its readers are not to be reported as well. */
static void note_broken(tg_graph_builder *b, const tg_stmt *stmt, const tg_catalog *scope)
{
    tg_location location;
    if (stmt->kind == TG_STMT_CREATE_VIEW && stmt->is_temporary) {
        (void)tg_map_put(&b->broken_names, tg_str_lower(b->arena, stmt->name.parts[0].text), b);
    } else if (tg_catalog_locate(scope, &stmt->name, b->arena, &location, NULL) == TG_OK) {
        (void)tg_map_put(&b->broken_names, location.full_name, b);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void read_file(tg_graph_builder *b, tg_str path, tg_source_file *file)
{
    tg_str shown;
    if (!tg_path_relative(b->spec->folder, path, &shown)) {
        shown = path;
    }
    file->path = path;
    file->shown_name = tg_str_cstr(b->arena, shown);

    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str text;
    if (tg_fs_read(b->fs, path, TG_LIMIT_STATEMENT_BYTES, b->arena, &text, &err) != TG_OK) {
        tg_diags_add(b->diags, &err);
        b->has_unknown = true;
        return;
    }
    if (tg_substitute(text, file->shown_name, b->spec, &b->params.asked, b->arena, &file->text,
                      b->diags) != TG_OK) {
        b->has_unknown = true;
        return;
    }
    tg_stmt_list statements = {0};
    tg_sql_parse_file(file->text, file->shown_name, b->arena, &statements, b->diags);
    tg_catalog scope = tg_spec_catalog(b->spec, b->fs);
    for (size_t i = 0; i < statements.count; i++) {
        tg_params_bind(&b->params, statements.items[i], file, b->diags);
        register_statement(b, file, statements.items[i], &scope);
    }
    for (size_t i = 0; i < statements.broken_count; i++) {
        note_broken(b, statements.broken[i], &scope);
    }
    b->has_unknown = b->has_unknown || statements.has_unknown;
    b->has_broken = b->has_broken || statements.broken_count > 0;
}

static void read_standalone(tg_graph_builder *b)
{
    const tg_standalone *standalone = b->spec->standalone;
    tg_catalog scope = tg_spec_catalog(b->spec, b->fs);
    for (size_t i = 0; i < standalone->statement_count; i++) {
        register_statement(b, standalone->statements[i].file, standalone->statements[i].stmt,
                           &scope);
    }
}

static void read_files(tg_graph_builder *b)
{
    size_t count = 0;
    for (size_t i = 0; i < b->spec->library_count; i++) {
        count += b->spec->libraries[i].file_count;
    }
    tg_source_file *files = TG_NEW_ARRAY(b->arena, tg_source_file, count);
    for (size_t i = 0; i < b->spec->library_count; i++) {
        for (size_t j = 0; j < b->spec->libraries[i].file_count; j++) {
            read_file(b, b->spec->libraries[i].files[j], files++);
        }
    }
}

/*
 * A pipeline without a table would do nothing; temporary views alone are none. A flow alone is not
 * empty either: that its target is missing says more.
 */
static void check_not_empty(tg_graph_builder *b)
{
    if (b->flows.count > 0) {
        return;
    }
    for (size_t i = 0; i < b->datasets.count; i++) {
        if (b->datasets.items[i].dataset->kind != TG_DATASET_TEMPORARY_VIEW) {
            return;
        }
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, RUN_EMPTY_PIPELINE, "the pipeline `%.*s` defines no table",
                 TG_SARG(b->spec->name));
    (void)tg_error_hint(
        &err,
        "Define a streaming table or a materialized view in a file that `libraries` of %.*s names.",
        TG_SARG(b->spec->path));
    tg_diags_add(b->diags, &err);
}

tg_code tg_graph_build(const tg_spec *spec, const tg_fs *fs, tg_arena *arena,
                       const tg_graph **out_graph, tg_diags *diags)
{
    tg_graph *graph = TG_NEW(arena, tg_graph);
    graph->spec = spec;
    tg_map_init(&graph->names, arena);
    tg_map_init(&graph->inputs_by_name, arena);
    tg_graph_builder b = {.spec = spec, .fs = fs, .arena = arena, .diags = diags, .graph = graph};
    tg_map_init(&b.flow_names, arena);
    tg_map_init(&b.external_names, arena);
    tg_map_init(&b.broken_names, arena);
    tg_map_init_ignore_case(&b.noted, arena);

    *out_graph = NULL;
    size_t errors = diags->error_count;
    tg_params_init(&b.params, spec, arena);
    if (spec->standalone) {
        read_standalone(&b);
    } else {
        read_files(&b);
    }
    if (!b.has_unknown && !b.has_broken) { /* else a name may stand in what was not read */
        tg_params_check_used(&b.params, diags);
    }
    if (diags->error_count == errors) {
        check_not_empty(&b);
        if (diags->error_count > errors) {
            return tg_diags_first(diags, NULL);
        }
    }
    b.has_errors = diags->error_count > errors;
    if (!tg_graph_link(&b)) {
        return tg_diags_first(diags, NULL);
    }
    if (diags->error_count > errors) {
        graph->is_partial = true;
        graph->may_lack_names = b.has_unknown;
        tg_graph_keep_sound(&b);
        *out_graph = graph;
        return tg_diags_first(diags, NULL);
    }
    *out_graph = graph;
    return TG_OK;
}
