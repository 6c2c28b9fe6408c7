/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleted rows: what the printed SQL asks with tg_is_deleted(list, file_index, file_row_number).
 *
 * A scan's deletion vectors are loaded before its text is printed, and kept under a number that the
 * text holds. Lists belong to the session whose queries name them, and numbers are never given
 * twice, so a number that is asked for is always there; DuckDB's threads find it in a map behind a
 * lock, and keep the one that they asked for last.
 */
#include <stdlib.h>

#include "engine/duckdb/udf_int.h"

#include "engine/duckdb/duckdb_int.h"

struct tg_duckdb_deleted {
    int64_t number;
    const tg_delta_rows *const *by_file; /* NULL: no row of the file */
    size_t file_count;
    tg_duckdb_deleted *next; /* of the session */
    tg_duckdb_deleted *next_known;
    tg_arena *arena; /* holds this too */
};

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static tg_duckdb_deleted *known; /* of all sessions; there are few */
static int64_t last_number;

static _Thread_local int64_t recent_number;
static _Thread_local const tg_duckdb_deleted *recent;

/* ---- keeping --------------------------------------------------------------------------------- */

static int64_t keep(tg_duckdb_session *session, tg_duckdb_deleted *list)
{
    (void)pthread_mutex_lock(&known_lock);
    list->number = ++last_number;
    list->next_known = known;
    known = list;
    (void)pthread_mutex_unlock(&known_lock);
    list->next = session->deleted;
    session->deleted = list;
    return list->number;
}

static void forget(tg_duckdb_deleted *list)
{
    (void)pthread_mutex_lock(&known_lock);
    for (tg_duckdb_deleted **at = &known; *at; at = &(*at)->next_known) {
        if (*at == list) {
            *at = list->next_known;
            break;
        }
    }
    (void)pthread_mutex_unlock(&known_lock);
    tg_arena_free(list->arena);
}

void tg_duckdb_deleted_release(tg_duckdb_session *session)
{
    while (session->deleted) {
        tg_duckdb_deleted *list = session->deleted;
        session->deleted = list->next;
        forget(list);
    }
}

static bool has_vector(const tg_delta_add *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (files[i]->dv) {
            return true;
        }
    }
    return false;
}

tg_code tg_duckdb_deleted_keep(tg_duckdb_session *session, tg_str table_path,
                               const tg_delta_add *const *files, size_t count, int64_t *out_number,
                               tg_error *err)
{
    *out_number = 0;
    if (!has_vector(files, count)) {
        return TG_OK;
    }
    tg_arena *arena = tg_arena_new();
    tg_duckdb_deleted *list = TG_NEW(arena, tg_duckdb_deleted);
    const tg_delta_rows **by_file = TG_NEW_ARRAY(arena, const tg_delta_rows *, count);
    list->arena = arena;
    list->by_file = by_file;
    list->file_count = count;
    tg_code code = TG_OK;
    for (size_t i = 0; i < count && code == TG_OK; i++) {
        if (files[i]->dv) {
            code = tg_delta_dv_load(&session->engine->delta, table_path, files[i]->path,
                                    files[i]->dv, arena, &by_file[i], err);
        }
    }
    if (code != TG_OK) {
        tg_arena_free(arena);
        return code;
    }
    *out_number = keep(session, list);
    return TG_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static const tg_duckdb_deleted *find(int64_t number)
{
    if (recent_number == number) {
        return recent;
    }
    (void)pthread_mutex_lock(&known_lock);
    const tg_duckdb_deleted *list = known;
    while (list && list->number != number) {
        list = list->next_known;
    }
    (void)pthread_mutex_unlock(&known_lock);
    recent_number = list ? number : 0;
    recent = list;
    return list;
}

static void is_deleted(tg_udf_call *call)
{
    const tg_duckdb_deleted *list = find(tg_udf_long(call, 0));
    uint64_t file = (uint64_t)tg_udf_long(call, 1);
    if (!list || file >= list->file_count) {
        tg_udf_fail(call, TG_E_INTERNAL_ERROR, "a scan asks for deleted rows that nobody keeps");
        return;
    }
    const tg_delta_rows *rows = list->by_file[file];
    tg_udf_return_bool(call, rows && tg_delta_rows_has(rows, (uint64_t)tg_udf_long(call, 2)));
}

const tg_udf tg_udf_table_deleted[] = {
    {"tg_is_deleted", "lll>b", is_deleted, false},
    {NULL, NULL, NULL, false},
};
