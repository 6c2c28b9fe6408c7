/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files about CSV, JSON and Parquet sources. */
#ifndef TG_ENGINE_DUCKDB_SOURCE_INT_H
#define TG_ENGINE_DUCKDB_SOURCE_INT_H

#include "engine/duckdb/duckdb_int.h"

typedef struct tg_source_options {
    bool header, infer_schema;
    tg_str separator, quote, escape, comment; /* one character; empty: none */
    tg_str null_value;                        /* beside the empty text */
} tg_source_options;

/* Checks all options and reads those of CSV. */
TG_CHECKED tg_code tg_source_options_read(tg_table_format format, const tg_property *properties,
                                          size_t count, tg_source_options *out, tg_error *err);
const char *tg_source_format_name(tg_table_format format);

#endif
