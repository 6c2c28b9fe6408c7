/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by backfill.c (what is to be done) and backfill_run.c (doing it). */
#ifndef TG_API_BACKFILL_INT_H
#define TG_API_BACKFILL_INT_H

#include "api/api_int.h"
#include "api/backfill.h"
#include "tidegate/tidegate.h"

typedef struct tg_backfill_run {
    tg_api *api;
    const tg_backfill_request *request;
    tg_backfill_result *out;
    tg_diags *diags;
    tg_code code; /* why nothing was begun */
    const tg_graph *graph;
    const tg_zone *zone;
    tg_backfill_column column;
    tg_journal *journal;
} tg_backfill_run;

/* Runs the chunks that are left; the exit status. */
int tg_backfill_run_chunks(tg_backfill_run *b);

#endif
