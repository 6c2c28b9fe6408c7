/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a retry runs: the flows of an earlier update that did not come to their end, with that
 * update's clock, zone, environment (catalog and schema) and predicates, found in its events.
 *
 * A flow that succeeded in a later update is not run with the older clock: its window would go back
 * (design 4.10).
 */
#ifndef TG_PIPELINE_RETRY_H
#define TG_PIPELINE_RETRY_H

#include "pipeline/pipeline.h"

typedef struct tg_retry_request {
    tg_str id;              /* how the id of the update begins; empty: see tg_retry_plan */
    tg_str catalog, schema; /* only updates of this environment; empty: of any */
    bool allow_clock_back;
} tg_retry_request;

typedef struct tg_retry {
    /* NULL: no update of the pipeline is left unfinished, or (tables empty) all of it was done. */
    const tg_logged_update *update;
    const tg_str *tables; /* of the flows to run: full names, quoted where needed */
    size_t table_count;
    const tg_override *overrides; /* all of the update's: those of other flows are passed over */
    size_t override_count;
    const tg_param *params; /* what :name stood for */
    size_t param_count;
    const tg_str *done; /* flows that failed in it and were refreshed by a later update */
    size_t done_count;
    /* Without an id: newer updates that were refused for what was asked of them, which asking again
     * does not mend; newest first. */
    const tg_logged_update *const *refused;
    size_t refused_count;
    /* Without an id: of each environment but the update's own, the newest update that is left
     * unfinished and has to wait; newest first. */
    const tg_logged_update *const *others;
    size_t other_count;
} tg_retry;

/*
 * past: the pipeline's updates, newest first; borrowed. Without an id: the newest, of whatever
 * environment is allowed, with flows that failed, were skipped or stopped, and that no later update
 * has refreshed in the same way; one that was refused for its options is passed over. Errors:
 * TIDEGATE_UNKNOWN_UPDATE, TIDEGATE_UPDATE_RUNNING, TIDEGATE_RETRY_OVERTAKEN (a guard, unless
 * allow_clock_back), UNSUPPORTED_FEATURE for requests that cannot be repeated.
 */
TG_CHECKED tg_code tg_retry_plan(const tg_past_update *past, size_t past_count,
                                 const tg_retry_request *request, tg_arena *arena, tg_retry *out,
                                 tg_error *err);

#endif
