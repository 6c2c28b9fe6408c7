/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: catalog.schema.table -> folder. There is no catalog database: the warehouse folder is the
 * catalog.
 *
 * A managed table c.s.t is the Delta table at <warehouse>/c/s/t. Path tables (delta.`p`,
 * parquet.`p`, csv.`p`, json.`p`) and mapped tables (tidegate.tables of a spec) live elsewhere.
 * Schemas come by value (the engine describes tables); nothing is cached here.
 */
#ifndef TG_CATALOG_CATALOG_H
#define TG_CATALOG_CATALOG_H

#include "fs/fs.h"
#include "sql/sql.h"

/* A table that lives elsewhere, by name. */
typedef struct tg_mapped_table {
    tg_str name; /* as written: 1 to 3 parts */
    tg_str path; /* absolute */
    tg_table_format format;
    const tg_property *options;
    size_t option_count;
} tg_mapped_table;

typedef struct tg_catalog {
    const tg_fs *fs;
    tg_str warehouse;   /* absolute folder; may not exist yet */
    tg_str base_folder; /* relative paths in path tables resolve against it */
    tg_str current_catalog, current_schema;
    const tg_mapped_table *mapped;
    size_t mapped_count;
} tg_catalog;

typedef struct tg_location {
    tg_str full_name; /* normal form: main.default.orders, or delta.`/abs/path` */
    tg_table_format format;
    tg_str path; /* absolute */
    const tg_property *options;
    size_t option_count;
    bool is_managed;
} tg_location;

/*
 * Where a name points; says nothing on whether something is there. Errors: more than three parts,
 * empty parts, unsupported scheme, names that are not safe as folder names are encoded (percent)
 * and decoded by tg_catalog_list.
 */
TG_CHECKED tg_code tg_catalog_locate(const tg_catalog *catalog, const tg_name *name,
                                     tg_arena *arena, tg_location *out, tg_error *err);
/* catalog.schema.name of a (1 to 3 part) name with the current defaults. */
TG_CHECKED tg_code tg_catalog_qualify(const tg_catalog *catalog, const tg_name *name,
                                      tg_arena *arena, tg_str *out_full_name, tg_error *err);
/* The parts of a full name that qualify made, keywords and quoted parts included. */
tg_name tg_catalog_parts(tg_str full_name, tg_arena *arena);
/* Tables (folders with a _delta_log) of a schema, sorted; and schemas of a catalog. */
TG_CHECKED tg_code tg_catalog_tables(const tg_catalog *catalog, tg_str catalog_name,
                                     tg_str schema_name, tg_arena *arena, tg_str **out_names,
                                     size_t *out_count, tg_error *err);
TG_CHECKED tg_code tg_catalog_schemas(const tg_catalog *catalog, tg_str catalog_name,
                                      tg_arena *arena, tg_str **out_names, size_t *out_count,
                                      tg_error *err);
/*
 * TABLE_OR_VIEW_NOT_FOUND with the nearest of the existing tables, mapped tables and extra names
 * (datasets, views).
 */
tg_code tg_catalog_not_found_(const tg_catalog *catalog, const tg_name *name, const tg_str *extra,
                              size_t extra_count, tg_error *err);
#define tg_catalog_not_found(...) tg_error_failure_(tg_catalog_not_found_(__VA_ARGS__))
/*
 * The format of a path table's first part ("delta", "parquet", "csv", "json"), without regard to
 * case.
 */
bool tg_catalog_format(tg_str word, tg_table_format *out);
/* And back: in lower case. */
tg_str tg_catalog_format_word(tg_table_format format);
/* All of them, for suggestions. */
const tg_str *tg_catalog_format_words(size_t *out_count);

#endif
