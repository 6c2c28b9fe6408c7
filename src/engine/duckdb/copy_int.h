/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to copy.c (writing rows) and file_stats.c (what the log says about the files).
 */
#ifndef TG_ENGINE_DUCKDB_COPY_INT_H
#define TG_ENGINE_DUCKDB_COPY_INT_H

#include "engine/duckdb/duckdb_int.h"

/* A column, or a field of a struct. */
typedef struct tg_duckdb_leaf {
    const tg_field *field;        /* as the table has it */
    tg_str name;                  /* in files */
    tg_str path;                  /* in files, from the top: quoted identifiers, joined by points */
    struct tg_duckdb_leaf *inner; /* the fields of a struct */
    bool is_partition, is_indexed;
} tg_duckdb_leaf;

/* What the files of one COPY hold. */
typedef struct tg_duckdb_stored {
    tg_schema schema;   /* as the table has it */
    tg_schema physical; /* the same under the names in files */
    bool has_ids;       /* columns have field ids */
    const tg_str *partition_keys;
    tg_duckdb_leaf *leaves; /* one per column */
} tg_duckdb_stored;
/* Refuses types that no file can hold. Lives in arena. */
TG_CHECKED tg_code tg_duckdb_stored_of(const tg_duckdb_copy *copy, tg_arena *arena,
                                       tg_duckdb_stored *out, tg_error *err);

/* Maps in a row of what COPY returns: the position of a key's value in map_values. */
bool tg_duckdb_map_find(duckdb_vector maps, idx_t row, tg_str key, idx_t *out_position);
duckdb_vector tg_duckdb_map_values(duckdb_vector maps);
/* Text of a value as DuckDB prints it. False: not usable (infinite, a year out of range). */
bool tg_duckdb_parse_value(tg_str text, const tg_type *type, tg_arena *arena, tg_value *out);

/* The statistics of the file in a row, as JSON. */
tg_str tg_duckdb_file_stats(const tg_duckdb_stored *stored, int64_t records,
                            duckdb_vector stats_column, idx_t row, tg_arena *arena);
TG_CHECKED tg_code tg_duckdb_check_not_null(const tg_duckdb_copy *copy,
                                            const tg_duckdb_stored *stored, const tg_delta_add *add,
                                            duckdb_vector stats_column, idx_t row, tg_error *err);

#endif
