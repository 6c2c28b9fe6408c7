/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Persisted views: where a managed table c.s.t is a folder, a view c.s.v is a file <warehouse>/c/s/v
 * that holds its definition as JSON. A table and a view can so not have one name: the file system
 * does not allow it, whoever creates what at the same time. Other readers of Delta see no table.
 *
 * The definition keeps what names and texts in it meant when it was written: the current catalog and
 * schema, the folder of relative paths, the time zone.
 */
#ifndef TG_CATALOG_VIEW_H
#define TG_CATALOG_VIEW_H

#include "catalog/catalog.h"

typedef struct tg_view_column {
    tg_str name, comment;
} tg_view_column;

typedef struct tg_view {
    tg_str full_name; /* main.default.v */
    tg_str text;      /* of its query: what spans point into */
    tg_str catalog, schema, base_folder;
    tg_str timezone;
    tg_str pipeline_id;            /* empty: made by a statement */
    const tg_view_column *columns; /* of its list; may be empty */
    size_t column_count;
    tg_str comment;
    const tg_property *properties;
    size_t property_count;
    const tg_query *query; /* the text parsed, with the names of the list */
} tg_view;

/*
 * The view at a place. *out is NULL when there is none (nothing, or a table). A file that is no
 * definition, or one of a later release, is TIDEGATE_INVALID_VIEW: never passed over.
 */
TG_CHECKED tg_code tg_view_load(const tg_catalog *catalog, const tg_location *location,
                                tg_arena *arena, const tg_view **out, tg_error *err);
/* Is a file there? Costs one look at the file system. */
TG_CHECKED tg_code tg_view_exists(const tg_catalog *catalog, const tg_location *location,
                                  bool *out_exists, tg_error *err);
/*
 * A definition from its statement; names in it mean what they mean in scope. Everything is borrowed.
 * The query is kept as written, or as its tree says where that is not the same (parameters).
 */
tg_view tg_view_of(const tg_stmt *stmt, const tg_catalog *scope, tg_str full_name, tg_str timezone,
                   tg_str pipeline_id, tg_arena *arena);
/* Equal texts, equal definitions. */
tg_str tg_view_to_json(const tg_view *view, tg_arena *arena);
/*
 * Makes the file, whole or not at all, surviving power loss. replace: also over an older definition.
 * TABLE_OR_VIEW_ALREADY_EXISTS otherwise, and over a table.
 */
TG_CHECKED tg_code tg_view_store(const tg_catalog *catalog, const tg_location *location,
                                 const tg_view *view, bool replace, tg_error *err);
TG_CHECKED tg_code tg_view_drop(const tg_catalog *catalog, const tg_location *location,
                                tg_error *err);
/* What names in the view's query mean: a catalog with the view's defaults. */
tg_catalog tg_view_scope(const tg_catalog *catalog, const tg_view *view);
/* CREATE VIEW ... AS ..., with the full name. */
void tg_view_print(const tg_view *view, tg_buf *out);
/* Views of a schema, sorted. */
TG_CHECKED tg_code tg_catalog_views(const tg_catalog *catalog, tg_str catalog_name,
                                    tg_str schema_name, tg_arena *arena, tg_str **out_names,
                                    size_t *out_count, tg_error *err);

#endif
