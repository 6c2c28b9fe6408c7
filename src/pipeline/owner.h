/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a table is, and what it says of its definition: in its own properties, so that the folder of
 * the table is the only state.
 */
#ifndef TG_PIPELINE_OWNER_H
#define TG_PIPELINE_OWNER_H

#include "engine/engine.h"

/* The pipeline's id; of a standalone table the table's own. */
#define TG_PROPERTY_OWNER "tidegate.pipelineId"
/* "STREAMING_TABLE", "MATERIALIZED_VIEW" */
#define TG_PROPERTY_KIND "tidegate.datasetKind"
/* Standalone tables: CREATE ..., without its schedule; CREATE FLOW; the schedule. All names are full ones. */
#define TG_PROPERTY_DEFINITION "tidegate.definition"
#define TG_PROPERTY_FLOW "tidegate.flow"
#define TG_PROPERTY_SCHEDULE "tidegate.schedule"
/* There: made without a flow, and never refreshed. */
#define TG_PROPERTY_NEEDS_REFRESH "tidegate.needsRefresh"

/* What a table says of itself; texts are empty where it says nothing. */
typedef struct tg_ownership {
    tg_str owner, kind;
    tg_str definition, flow, schedule;
    bool is_standalone, needs_refresh;
} tg_ownership;

tg_ownership tg_ownership_of(const tg_table_facts *facts);

#endif
