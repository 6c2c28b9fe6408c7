/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running backfills: chunks of a flow's table, each an update of its own with an override, all over
 * the same source versions and with the same clock.
 *
 * A backfill lives in its journal (pipeline/journal.h) until every chunk is done: after an
 * interruption, a kill or a failure, the same request or one that only names the flow goes on with
 * what is left. One process at a time runs the backfill of a flow.
 */
#ifndef TG_API_BACKFILL_H
#define TG_API_BACKFILL_H

#include "api/api.h"
#include "pipeline/journal.h"

typedef struct tg_backfill_result tg_backfill_result;

typedef struct tg_backfill_request {
    tg_str flow;                    /* short or full name */
    tg_str from, to, every, column; /* as written; all empty: go on with what is open */
    const tg_param *params;         /* values of :NAME; what is open has its own, and no others */
    size_t param_count;
    int64_t jobs;              /* chunks at a time; 0: one */
    bool only_missing;         /* leave out chunks that are up to date */
    bool restart;              /* forget what is open */
    const tg_event_sink *sink; /* of the updates; called by one thread at a time. May be NULL */
    /* Called when the work begins (chunk SIZE_MAX) and when a chunk has ended; by one thread at a time. */
    void (*progress)(void *self, const tg_backfill_result *result, size_t chunk,
                     const tg_error *error);
    void *self;
} tg_backfill_request;

typedef struct tg_backfill_chunk_result {
    tg_backfill_chunk chunk;
    tg_str from, to; /* as people read them */
    tg_chunk_record record;
    int64_t duration_ms; /* -1: not of this run */
} tg_backfill_chunk_result;

struct tg_backfill_result {
    const char *state; /* "COMPLETED", "FAILED" or "CANCELED" */
    bool is_resumed;
    tg_backfill_head head;
    tg_backfill_chunk_result *chunks;
    size_t chunk_count;
    size_t completed_count, covered_count, failed_count, pending_count; /* of all chunks */
    int64_t duration_ms;
};

/*
 * Runs what is to be done. Results live as long as the session. The exit status: 0 when all chunks
 * are done, 1 when some failed (4: all of those by a guard), 130 when interrupted; 2 and 3 when
 * nothing was begun, with the reason in diags (out_result->state is NULL then).
 */
int tg_api_backfill(tg_api *api, const tg_backfill_request *request, tg_backfill_result *out_result,
                    tg_diags *diags);
/* Backfills of the session's pipeline that are not finished. */
TG_CHECKED tg_code tg_api_open_backfills(tg_api *api, tg_arena *arena, tg_open_backfill **out_items,
                                         size_t *out_count, tg_error *err);
/* The summary of --json, one line without line feed. */
void tg_backfill_result_json(const tg_backfill_result *result, tg_buf *buf);

#endif
