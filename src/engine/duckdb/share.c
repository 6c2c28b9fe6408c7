/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several engines in one process share what one would have: each gets its part of the memory and of
 * the threads, so that together they stay within the limit that was set or that DuckDB chose.
 */
#include "engine/duckdb/duckdb_int.h"

static const struct {
    const char *name;
    double bytes;
} UNITS[] = {
    {"bytes", 1},          {"KiB", 1024.0},          {"MiB", 1048576.0},
    {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
};
enum { MIB_BYTES = 1048576, LEAST_MIB = 64 };

/* "12.3 GiB", as DuckDB shows an amount. */
static bool parse_amount(tg_str text, double *out_bytes)
{
    size_t blank = tg_str_find(text, TG_S(" "), 0);
    double amount;
    if (blank == SIZE_MAX || !tg_str_to_double(tg_str_sub(text, 0, blank), &amount)) {
        return false;
    }
    tg_str unit = tg_str_sub(text, blank + 1, text.len);
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(*UNITS); i++) {
        if (tg_str_eq(unit, tg_str_from(UNITS[i].name))) {
            *out_bytes = amount * UNITS[i].bytes;
            return true;
        }
    }
    return false;
}

static tg_code read_settings(tg_duckdb_session *session, tg_arena *arena, tg_str *out_memory,
                             int64_t *out_threads, tg_error *err)
{
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session,
                         TG_S("SELECT current_setting('memory_limit'), "
                              "current_setting('threads')::BIGINT"),
                         false, &result, err));
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
    if (!chunk) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "DuckDB does not tell its settings");
    }
    duckdb_vector memory = tg_duckdb.data_chunk_get_vector(chunk, 0);
    *out_memory = tg_str_copy(arena, tg_duckdb_cell_str(memory, 0));
    *out_threads = tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 1), 0);
    return TG_OK;
}

tg_code tg_duckdb_take_share(tg_duckdb_session *session, int share, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str memory;
    int64_t threads = 1;
    double bytes;
    if (share <= 1) {
        return TG_OK;
    }
    TG_TRY(read_settings(session, scratch, &memory, &threads, err));
    if (parse_amount(memory, &bytes)) { /* unlimited otherwise */
        int64_t mib = (int64_t)(bytes / MIB_BYTES / share);
        mib = mib < LEAST_MIB ? LEAST_MIB : mib;
        TG_TRY(tg_duckdb_execute(
            session, tg_str_printf(scratch, "SET GLOBAL memory_limit = '%lldMiB'", (long long)mib),
            err));
    }
    threads = threads / share < 1 ? 1 : threads / share;
    return tg_duckdb_execute(
        session, tg_str_printf(scratch, "SET GLOBAL threads = %lld", (long long)threads), err);
}
