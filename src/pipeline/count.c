/* SPDX-License-Identifier: Apache-2.0 */
/* Counting rows through the engine: of a query, of a table as it stands. */
#include "pipeline/update_int.h"

/* The one number of a stream with one row. */
static tg_code read_count(const tg_engine *engine, struct ArrowArrayStream *stream, int64_t *out,
                          tg_error *err)
{
    struct ArrowArray batch = {0};
    while (!batch.release || batch.length == 0) {
        if (batch.release) {
            batch.release(&batch);
            batch = (struct ArrowArray){0};
        }
        if (stream->get_next(stream, &batch) != 0) {
            return engine->fetch_error(engine->self, stream, err);
        }
        if (!batch.release) {
            TG_FAIL(err, INTERNAL_ERROR, "a count gave no row");
        }
    }
    const struct ArrowArray *column = batch.children[0];
    *out = ((const int64_t *)column->buffers[1])[batch.offset + column->offset];
    batch.release(&batch);
    return TG_OK;
}

tg_code tg_update_count_rows(const tg_flow_run *run, tg_rel *rel, int64_t *out, tg_error *err)
{
    const tg_engine *engine = run->engine;
    const tg_update *u = run->update;
    const tg_engine_context context = {.zone = u->zone, .now_us = u->now_us};
    tg_rel *counted;
    TG_TRY(tg_sql_count_rows(rel, run->arena, &counted, err));
    struct ArrowArrayStream stream = {0};
    TG_TRY(engine->query(engine->self, &context, counted, &stream, err));
    tg_code code = read_count(engine, &stream, out, err);
    if (stream.release) {
        stream.release(&stream);
    }
    return code;
}

tg_code tg_update_count_target(const tg_flow_run *run, const tg_bexpr *predicate, int64_t *out,
                               tg_error *err)
{
    const tg_refresh_input *input = &run->input;
    const tg_engine *engine = run->engine;
    const tg_table *table;
    TG_TRY_CTX(engine->describe(engine->self, TG_FORMAT_DELTA, input->target_path,
                                input->target.version, NULL, 0, input->target_name, run->arena,
                                &table, err),
               err, "while reading %.*s", TG_SARG(input->target_name));
    tg_rel *rel = tg_sql_scan(table, 1, run->arena);
    if (predicate) {
        rel = tg_sql_filter_output(rel, predicate, run->arena);
    }
    return tg_update_count_rows(run, rel, out, err);
}
