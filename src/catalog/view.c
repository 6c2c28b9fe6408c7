/* SPDX-License-Identifier: Apache-2.0 */
/* Persisted views as files. */
#include "catalog/view.h"

#include <yyjson.h>

enum { FORMAT_VERSION = 1 };
#define MARK "{\"tidegate_view\":"

/* ---- JSON ------------------------------------------------------------------------------------ */

tg_str tg_view_to_json(const tg_view *view, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    tg_json_ki64(&out, "tidegate_view", FORMAT_VERSION);
    tg_json_kstr(&out, "name", view->full_name);
    tg_json_kstr(&out, "query", view->text);
    tg_json_kstr(&out, "catalog", view->catalog);
    tg_json_kstr(&out, "schema", view->schema);
    tg_json_kstr(&out, "base_folder", view->base_folder);
    tg_json_kstr(&out, "timezone", view->timezone);
    if (view->pipeline_id.len) {
        tg_json_kstr(&out, "pipeline_id", view->pipeline_id);
    }
    tg_json_kstr(&out, "comment", view->comment);
    tg_json_keyz(&out, "columns");
    tg_json_array(&out);
    for (size_t i = 0; i < view->column_count; i++) {
        tg_json_object(&out);
        tg_json_kstr(&out, "name", view->columns[i].name);
        tg_json_kstr(&out, "comment", view->columns[i].comment);
        tg_json_end_object(&out);
    }
    tg_json_end_array(&out);
    tg_json_keyz(&out, "properties");
    tg_json_object(&out);
    for (size_t i = 0; i < view->property_count; i++) {
        tg_json_key(&out, view->properties[i].key);
        tg_json_str(&out, view->properties[i].value);
    }
    tg_json_end_object(&out);
    tg_json_end_object(&out);
    tg_buf_addc(&text, '\n');
    return tg_buf_take(&text, arena);
}

static void read_columns(yyjson_val *list, tg_arena *arena, tg_view *view)
{
    size_t index, count;
    yyjson_val *value;
    tg_view_column *columns = TG_NEW_ARRAY(arena, tg_view_column, yyjson_arr_size(list));
    yyjson_arr_foreach(list, index, count, value)
    {
        columns[index] = (tg_view_column){.name = tg_json_get_str(value, "name", TG_S("")),
                                          .comment = tg_json_get_str(value, "comment", TG_S(""))};
    }
    view->columns = columns;
    view->column_count = yyjson_arr_size(list);
}

static void read_properties(yyjson_val *map, tg_arena *arena, tg_view *view)
{
    if (!map) {
        return; /* yyjson's loop takes the address of the first member, which it does not have */
    }
    size_t index, count;
    yyjson_val *key, *value;
    tg_property *properties = TG_NEW_ARRAY(arena, tg_property, yyjson_obj_size(map));
    yyjson_obj_foreach(map, index, count, key, value)
    {
        properties[index] = (tg_property){.key = tg_json_text(key), .value = tg_json_text(value)};
    }
    view->properties = properties;
    view->property_count = yyjson_obj_size(map);
}

/* The query with the names of the view's list, as for a statement. */
static tg_code parse_query(tg_view *view, tg_arena *arena, tg_error *err)
{
    tg_stmt *stmt = TG_NEW(arena, tg_stmt);
    tg_column_def *columns = TG_NEW_ARRAY(arena, tg_column_def, view->column_count);
    for (size_t i = 0; i < view->column_count; i++) {
        columns[i] = (tg_column_def){.name = {.text = view->columns[i].name}};
    }
    stmt->columns = columns;
    stmt->column_count = view->column_count;
    stmt->name = tg_catalog_parts(view->full_name, arena);
    TG_TRY(tg_sql_parse_query(view->text, arena, &stmt->query, err));
    stmt->span = stmt->query->span;
    view->query = tg_sql_view_query(stmt, arena);
    return TG_OK;
}

static tg_code invalid(tg_str path, const char *why, tg_error *err)
{
    tg_error_clear(err);
    (void)TG_ERR(err, TIDEGATE_INVALID_VIEW, "%.*s is not the definition of a view: %s",
                 TG_SARG(path), why);
    return tg_error_hint(err, "Files in the folder of a schema are views. Restore it, or take it "
                              "away.");
}

static tg_code parse(tg_str text, const tg_location *location, tg_arena *arena, tg_view *view,
                     tg_error *err)
{
    yyjson_val *root;
    if (tg_json_parse(text, 0, arena, &root, err) != TG_OK || !yyjson_is_obj(root)) {
        return invalid(location->path, "it is no JSON object", err);
    }
    int64_t version = tg_json_get_i64(root, "tidegate_view", 0);
    if (version != FORMAT_VERSION) {
        return invalid(location->path,
                       version > FORMAT_VERSION ? "it was made by a later release of tidegate"
                                                : "it has no tidegate_view",
                       err);
    }
    *view = (tg_view){.full_name = location->full_name, /* a copied file has its new name */
                      .text = tg_json_get_str(root, "query", TG_S("")),
                      .catalog = tg_json_get_str(root, "catalog", TG_S("")),
                      .schema = tg_json_get_str(root, "schema", TG_S("")),
                      .base_folder = tg_json_get_str(root, "base_folder", TG_S("")),
                      .timezone = tg_json_get_str(root, "timezone", TG_S("UTC")),
                      .pipeline_id = tg_json_get_str(root, "pipeline_id", TG_S("")),
                      .comment = tg_json_get_str(root, "comment", TG_S(""))};
    read_columns(tg_json_get(root, "columns"), arena, view);
    read_properties(tg_json_get(root, "properties"), arena, view);
    if (parse_query(view, arena, err) != TG_OK) {
        return invalid(location->path, "its query does not parse", err);
    }
    return TG_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

tg_code tg_view_exists(const tg_catalog *catalog, const tg_location *location, bool *out_exists,
                       tg_error *err)
{
    *out_exists = false;
    if (!location->is_managed) {
        return TG_OK;
    }
    tg_fs_entry entry;
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    tg_code code = tg_fs_stat(catalog->fs, location->path, &entry, &inner);
    if (code == TG_NOT_FOUND) {
        return TG_OK;
    }
    if (code != TG_OK) {
        return tg_error_pass(&inner, err);
    }
    *out_exists = !entry.is_folder;
    return TG_OK;
}

tg_code tg_view_load(const tg_catalog *catalog, const tg_location *location, tg_arena *arena,
                     const tg_view **out, tg_error *err)
{
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    bool exists;
    *out = NULL;
    TG_TRY(tg_view_exists(catalog, location, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_str text;
    tg_code code =
        tg_fs_read(catalog->fs, location->path, TG_LIMIT_VIEW_BYTES, arena, &text, &inner);
    if (code == TG_NOT_FOUND) {
        return TG_OK; /* dropped meanwhile */
    }
    tg_view *view = TG_NEW(arena, tg_view);
    if (code == TG_OK) {
        code = parse(text, location, arena, view, &inner);
    }
    if (code != TG_OK) {
        return tg_error_pass(&inner, err);
    }
    *out = view;
    return TG_OK;
}

tg_code tg_view_store(const tg_catalog *catalog, const tg_location *location, const tg_view *view,
                      bool replace, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str text = tg_view_to_json(view, scratch);
    tg_auto_error tg_error inner = TG_ERROR_INIT;
    bool exists;
    TG_TRY(tg_fs_make_folders(catalog->fs, tg_path_dirname(location->path), err));
    TG_TRY(tg_view_exists(catalog, location, &exists, err));
    tg_code code = exists && replace
                       ? tg_fs_write_replace(catalog->fs, location->path, text, &inner)
                       : tg_fs_write_new(catalog->fs, location->path, text, &inner);
    if (code == TG_ALREADY_EXISTS) {
        (void)TG_ERR(err, TABLE_OR_VIEW_ALREADY_EXISTS, "a %s named %.*s exists already",
                     exists ? "view" : "table", TG_SARG(location->full_name));
        return tg_error_hint(err, exists ? "Use CREATE OR REPLACE VIEW, or drop it first."
                                         : "Choose another name, or drop the table first.");
    }
    return code == TG_OK ? TG_OK : tg_error_pass(&inner, err);
}

tg_code tg_view_drop(const tg_catalog *catalog, const tg_location *location, tg_error *err)
{
    TG_TRY(tg_fs_remove(catalog->fs, location->path, err));
    return tg_fs_fsync_folder(catalog->fs, tg_path_dirname(location->path), err);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static tg_str query_text(const tg_stmt *stmt, tg_arena *arena)
{
    tg_query *written;
    if (tg_sql_parse_query(stmt->query_text, arena, &written, NULL) == TG_OK &&
        tg_sql_query_equal(written, stmt->query)) {
        return stmt->query_text;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_query(stmt->query, /* pretty= */ true, &text);
    return tg_str_trim(tg_buf_take(&text, arena));
}

tg_view tg_view_of(const tg_stmt *stmt, const tg_catalog *scope, tg_str full_name, tg_str timezone,
                   tg_str pipeline_id, tg_arena *arena)
{
    tg_view_column *columns = TG_NEW_ARRAY(arena, tg_view_column, stmt->column_count);
    for (size_t i = 0; i < stmt->column_count; i++) {
        columns[i] = (tg_view_column){stmt->columns[i].name.text, stmt->columns[i].comment};
    }
    return (tg_view){.full_name = full_name,
                     .text = query_text(stmt, arena),
                     .catalog = scope->current_catalog,
                     .schema = scope->current_schema,
                     .base_folder = scope->base_folder,
                     .timezone = timezone,
                     .pipeline_id = pipeline_id,
                     .columns = columns,
                     .column_count = stmt->column_count,
                     .comment = stmt->clauses.comment,
                     .properties = stmt->clauses.properties,
                     .property_count = stmt->clauses.property_count,
                     .query = tg_sql_view_query(stmt, arena)};
}

tg_catalog tg_view_scope(const tg_catalog *catalog, const tg_view *view)
{
    tg_catalog scope = *catalog;
    scope.current_catalog = view->catalog;
    scope.current_schema = view->schema;
    scope.base_folder = view->base_folder;
    return scope;
}

static void add_string(tg_buf *out, tg_str text)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_buf_adds(out, tg_value_literal(scratch, tg_value_bytes(tg_type_of(TG_TYPE_STRING), text)));
}

void tg_view_print(const tg_view *view, tg_buf *out)
{
    tg_buf_addf(out, "CREATE VIEW %.*s", TG_SARG(view->full_name));
    for (size_t i = 0; i < view->column_count; i++) {
        tg_buf_addz(out, i > 0 ? ",\n  " : " (\n  ");
        tg_sql_print_ident(view->columns[i].name, out);
        if (view->columns[i].comment.len) {
            tg_buf_addz(out, " COMMENT ");
            add_string(out, view->columns[i].comment);
        }
    }
    tg_buf_addz(out, view->column_count > 0 ? "\n)" : "");
    if (view->comment.len) {
        tg_buf_addz(out, "\nCOMMENT ");
        add_string(out, view->comment);
    }
    for (size_t i = 0; i < view->property_count; i++) {
        tg_buf_addz(out, i > 0 ? ",\n  " : "\nTBLPROPERTIES (\n  ");
        add_string(out, view->properties[i].key);
        tg_buf_addz(out, " = ");
        add_string(out, view->properties[i].value);
    }
    tg_buf_addz(out, view->property_count > 0 ? "\n)" : "");
    tg_buf_addf(out, "\nAS %.*s", TG_SARG(view->text));
}

/* ---- listing --------------------------------------------------------------------------------- */

static bool is_definition(const tg_catalog *catalog, tg_str path)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str text;
    return tg_fs_read(catalog->fs, path, TG_LIMIT_VIEW_BYTES, scratch, &text, NULL) == TG_OK &&
           tg_str_starts(text, TG_S(MARK));
}

tg_code tg_catalog_views(const tg_catalog *catalog, tg_str catalog_name, tg_str schema_name,
                         tg_arena *arena, tg_str **out_names, size_t *out_count, tg_error *err)
{
    const tg_ident parts[] = {{.text = catalog_name}, {.text = schema_name}, {.text = TG_S("v")}};
    const tg_name name = {.parts = parts, .count = 3};
    TG_VEC(tg_str) names = {0};
    tg_location location;
    tg_fs_entry *entries;
    size_t count = 0;
    bool exists;
    tg_catalog unmapped = *catalog;
    unmapped.mapped_count = 0;
    TG_TRY(tg_catalog_locate(&unmapped, &name, arena, &location, err));
    tg_str folder = tg_path_dirname(location.path);
    TG_TRY(tg_fs_exists(catalog->fs, folder, &exists, err));
    if (exists) {
        TG_TRY(tg_fs_list(catalog->fs, folder, /* with_details= */ false, arena, &entries, &count,
                          err));
    }
    for (size_t i = 0; i < count; i++) {
        tg_str decoded;
        if (!entries[i].is_folder && entries[i].name.ptr[0] != '.' &&
            tg_uri_decode(arena, entries[i].name, &decoded) &&
            is_definition(catalog, tg_path_join(arena, folder, entries[i].name))) {
            TG_VEC_PUSH(arena, &names, decoded);
        }
    }
    *out_names = names.items;
    *out_count = names.count;
    return TG_OK;
}
