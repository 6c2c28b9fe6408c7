/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level 1: a bound query as an Arrow stream. The stream owns its session and computes chunk by
 * chunk while it is read, so that a result larger than memory works and the first rows come early.
 */
#include <errno.h>

#include "engine/duckdb/duckdb_int.h"

/* private_data of a stream. */
typedef struct stream_state {
    tg_duckdb_session session;
    duckdb_result result;
    duckdb_arrow_options arrow;
    tg_arena *arena;
    idx_t column_count;
    duckdb_logical_type *types;
    const char **names;
    tg_error error; /* of the get_* call that failed last */
    tg_buf error_text;
} stream_state;

static stream_state *state_of(struct ArrowArrayStream *stream)
{
    return stream->private_data;
}

static int failed(stream_state *state)
{
    switch (state->error.code) {
    case TG_CANCELLED:
        return ECANCELED;
    case TG_LIMIT:
        return ENOMEM;
    case TG_EXECUTION:
        return EINVAL;
    default:
        return EIO;
    }
}

/* An error of the Arrow conversion; frees data. */
static int arrow_failed(stream_state *state, duckdb_error_data data)
{
    (void)tg_duckdb_error(&state->error, tg_duckdb.error_data_message(data));
    tg_duckdb.destroy_error_data(&data);
    return failed(state);
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    stream_state *state = state_of(stream);
    duckdb_error_data data = tg_duckdb.to_arrow_schema(state->arrow, state->types, state->names,
                                                       state->column_count, out);
    return data && tg_duckdb.error_data_has_error(data) ? arrow_failed(state, data) : 0;
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    stream_state *state = state_of(stream);
    memset(out, 0, sizeof *out);
    tg_error_clear(&state->error);
    duckdb_data_chunk chunk = NULL;
    if (tg_duckdb_fetch(&state->session, &state->result, &chunk, &state->error) != TG_OK) {
        return failed(state);
    }
    if (!chunk) {
        return 0;
    }
    duckdb_error_data data = tg_duckdb.data_chunk_to_arrow(state->arrow, chunk, out);
    tg_duckdb.destroy_data_chunk(&chunk);
    return data && tg_duckdb.error_data_has_error(data) ? arrow_failed(state, data) : 0;
}

static const char *stream_last_error(struct ArrowArrayStream *stream)
{
    stream_state *state = state_of(stream);
    if (!tg_error_is_set(&state->error)) {
        return NULL;
    }
    tg_buf_clear(&state->error_text);
    tg_error_print(&state->error, &state->error_text);
    return tg_buf_cstr(&state->error_text);
}

static void stream_release(struct ArrowArrayStream *stream)
{
    stream_state *state = state_of(stream);
    for (idx_t i = 0; i < state->column_count; i++) {
        tg_duckdb.destroy_logical_type(&state->types[i]);
    }
    tg_duckdb.destroy_arrow_options(&state->arrow);
    tg_duckdb.destroy_result(&state->result);
    tg_duckdb_session_close(&state->session);
    tg_error_dispose(&state->error);
    tg_buf_dispose(&state->error_text);
    tg_arena_free(state->arena); /* state lies in it */
    stream->release = NULL;
}

/* Takes over the session when it succeeds. Columns are shown under rel's names. */
static tg_code start_stream(tg_duckdb_session *session, tg_str sql, const tg_rel *rel,
                            struct ArrowArrayStream *out_stream, tg_error *err)
{
    duckdb_result result;
    TG_TRY(tg_duckdb_run(session, sql, true, &result, err));
    tg_arena *arena = tg_arena_new();
    stream_state *state = TG_NEW(arena, stream_state);
    state->arena = arena;
    state->session = *session;
    *session = (tg_duckdb_session){0};
    state->result = result;
    state->arrow = tg_duckdb.result_get_arrow_options(&state->result);
    state->column_count = tg_duckdb.column_count(&state->result);
    state->types = TG_NEW_ARRAY(arena, duckdb_logical_type, (size_t)state->column_count);
    state->names = TG_NEW_ARRAY(arena, const char *, (size_t)state->column_count);
    for (idx_t i = 0; i < state->column_count; i++) {
        state->types[i] = tg_duckdb.column_logical_type(&state->result, i);
        state->names[i] = i < rel->column_count ? tg_str_cstr(arena, rel->columns[i].name) : "";
    }
    *out_stream = (struct ArrowArrayStream){
        .get_schema = stream_get_schema,
        .get_next = stream_get_next,
        .get_last_error = stream_last_error,
        .release = stream_release,
        .private_data = state,
    };
    return TG_OK;
}

tg_code tg_duckdb_query(void *self, const tg_engine_context *context, const tg_rel *rel,
                        struct ArrowArrayStream *out_stream, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_session tg_duckdb_session session = {0};
    TG_TRY(tg_duckdb_session_open(self, context->zone, &session, err));
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    /*
     * Names may repeat in a result but not in a subquery, so the text numbers its columns; the
     * stream shows the real names.
     */
    TG_TRY(tg_duckdb_print_query(&session, context->zone, rel, true, scratch, &sql, NULL, err));
    return start_stream(&session, tg_buf_str(&sql), rel, out_stream, err);
}

tg_code tg_duckdb_fetch_error(void *self, struct ArrowArrayStream *stream, tg_error *err)
{
    (void)self;
    stream_state *state = state_of(stream);
    if (!tg_error_is_set(&state->error)) {
        TG_FAIL(err, INTERNAL_ERROR, "a stream was asked for an error that it does not have");
    }
    if (err) {
        tg_error_copy(err, &state->error);
    }
    return state->error.code;
}

/* The second column of EXPLAIN's rows is the drawing. */
static tg_code put_plan(tg_duckdb_session *session, tg_str sql, tg_buf *out, tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addz(&text, "EXPLAIN ");
    tg_buf_adds(&text, sql);
    tg_auto_result duckdb_result result = {0};
    TG_TRY(tg_duckdb_run(session, tg_buf_str(&text), false, &result, err));
    for (;;) {
        tg_auto_chunk duckdb_data_chunk chunk = NULL;
        TG_TRY(tg_duckdb_fetch(session, &result, &chunk, err));
        if (!chunk) {
            return TG_OK;
        }
        duckdb_vector plans = tg_duckdb.data_chunk_get_vector(chunk, 1);
        for (idx_t row = 0; row < tg_duckdb.data_chunk_get_size(chunk); row++) {
            tg_buf_adds(out, tg_duckdb_cell_str(plans, row));
        }
    }
}

tg_code tg_duckdb_explain(void *self, const tg_engine_context *context, const tg_rel *rel,
                          tg_buf *out, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_session tg_duckdb_session session = {0};
    TG_TRY(tg_duckdb_session_open(self, context->zone, &session, err));
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    TG_TRY(tg_duckdb_print_query(&session, context->zone, rel, true, scratch, &text, NULL, err));
    tg_auto_buf tg_buf plan = TG_BUF_INIT;
    TG_TRY(put_plan(&session, tg_buf_str(&text), &plan, err));
    tg_buf_addz(out, "== DuckDB SQL ==\n");
    tg_buf_adds(out, tg_buf_str(&text));
    tg_buf_addz(out, "\n\n== DuckDB Plan ==\n");
    tg_buf_adds(out, tg_buf_str(&plan));
    return TG_OK;
}
