/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar functions in C that the printed SQL calls as tg_<name>(...), because DuckDB's own
 * functions differ from Spark's.
 *
 * Each is written for one row (udf_int.h) and registered with its parameter types. NULL arguments
 * give NULL. Errors carry their class in front, "[TG:DIVIDE_BY_ZERO] division by zero", which
 * errors.c reads. All are pure: the zone is an argument, so DuckDB may fold calls over constants.
 * Threads: DuckDB calls them from many; they share nothing that changes but the lists of deleted
 * rows (deleted.c), which have a lock.
 */
#ifndef TG_ENGINE_DUCKDB_UDF_H
#define TG_ENGINE_DUCKDB_UDF_H

#include "engine/duckdb/duckdb_api.h"

/* Registers all functions with the database of the connection, once per database. */
TG_CHECKED tg_code tg_duckdb_udf_register(duckdb_connection connection, tg_error *err);

#endif
