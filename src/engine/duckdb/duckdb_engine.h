/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on embedded DuckDB: queries run in DuckDB, tables are our own Delta log with Parquet
 * files that DuckDB writes. libduckdb is loaded by the first call that needs it: queries, programs
 * with rows, schemas of CSV, JSON and Parquet, checkpoints.
 */
#ifndef TG_ENGINE_DUCKDB_DUCKDB_ENGINE_H
#define TG_ENGINE_DUCKDB_DUCKDB_ENGINE_H

#include "engine/engine.h"
#include "fs/fs.h"

typedef struct tg_engine_duckdb_options {
    const tg_env *env; /* NULL: the system's */
    const tg_fs *fs;   /* NULL: the local one; DuckDB itself always reads and writes local files */
    int threads;       /* 0: all cores */
    tg_str memory_limit; /* "4GB"; empty: DuckDB's default, 80 % of RAM */
    int share; /* of how many engines of this process it is one: its part of memory and threads */
    tg_str temp_folder; /* where queries spill; empty: a folder of its own in $TMPDIR or /tmp */
} tg_engine_duckdb_options;

/*
 * Costs nothing: no library is loaded, no file is touched. Release with
 * engine->close(engine->self).
 */
tg_engine *tg_engine_duckdb_new(const tg_engine_duckdb_options *options);
/* Is libduckdb in this process? For tests of what must not need it. */
bool tg_engine_duckdb_is_loaded(void);

#endif
