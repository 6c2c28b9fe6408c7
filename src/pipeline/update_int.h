/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that run an update: update.c (phases), selection.c (--refresh), override.c
 * (--replace-where), owner.c (whose tables they are), sources.c (pins and names), flow.c (one
 * refresh), guard.c (what is refused to a refresh), forecast.c (plans without a run), count.c (rows),
 * workers.c (which flow
 * runs when, and on which thread), update_events.c (what is told).
 */
#ifndef TG_PIPELINE_UPDATE_INT_H
#define TG_PIPELINE_UPDATE_INT_H

#include <pthread.h>

#include "pipeline/pipeline.h"

/* A table as this update reads it. */
typedef struct tg_source {
    bool is_pinned;
    tg_pin pin;      /* pin.table is set once somebody bound a query over it */
    tg_code failure; /* why it could not be pinned: reported once */
} tg_source;

/* A table that a flow of this pipeline writes. */
typedef struct tg_target {
    bool has_facts;
    tg_table_facts facts; /* when the update started, or before the newest attempt */
    tg_source as_source;  /* what readers see: start version, or the commit of this update */
    bool
        will_change; /* analysis: its flow has something to do; readers are planned again when it is done */
    tg_schema forecast; /* its schema then */
} tg_target;

/*
 * One flow in this update. Used by one thread at a time: the update's own, or while the flow
 * refreshes the worker's that it was handed to.
 */
typedef struct tg_flow_run {
    struct tg_update *update;
    const tg_flow *flow;
    tg_arena *arena;            /* its own, freed with the update's: results may point into it */
    tg_arena *plan_arena;       /* of the plan and its run: the same, until a race was lost */
    tg_engine *engine;          /* for all calls about this flow */
    struct tg_worker *worker;   /* NULL: it is on the update's own thread */
    bool is_started, has_ended; /* known to the update's own thread only */
    tg_target *target;
    bool is_selected;
    bool is_full;         /* the table is emptied and computed anew */
    bool allows_reset;    /* rows may be lost by that */
    bool is_reset_judged; /* it was found that none are, at this version of the table: */
    int64_t reset_judged_version;
    int64_t window_before, window_after; /* rows; before > 0: the window loses most of them */
    const tg_override *override;         /* NULL: the declared predicate holds */
    tg_expr *override_expr;
    tg_refresh_input input;
    tg_refresh_plan plan; /* holds for the pins of its input */
    tg_bound_query query; /* when it was bound */
    bool is_bound;
    tg_flow_result *result;
    int64_t started_ns;
    int64_t retry_count; /* of this flow, since it was queued */
    bool is_again;       /* it failed before: what was planned does not hold */
} tg_flow_run;

/* A persisted view that this update brings up to its definition. */
typedef struct tg_view_run {
    const tg_dataset *dataset;
    tg_view view; /* as it should stand */
    bool exists, is_equal;
} tg_view_run;

typedef struct tg_update {
    const tg_update_context *context;
    const tg_graph *graph;
    const tg_update_options *options;
    tg_arena *arena;
    tg_diags *diags;
    tg_update_result *result;
    tg_flow_result *flow_results;
    tg_eventlog *log;
    bool has_log_warning;
    const tg_zone *zone;
    int64_t now_us;
    tg_catalog catalog;
    pthread_mutex_t source_lock; /* of externals and targets; see sources.c */
    tg_arena *source_arena;      /* what is kept in them; behind source_lock */
    tg_source *externals;        /* as graph->externals */
    tg_target *targets;          /* as graph->datasets */
    tg_flow_run *runs;           /* as graph->flows */
    tg_view_run *views;          /* persisted views of the selection */
    size_t view_count;
    int64_t started_ns;
    bool is_analysing; /* tables that will change stand with their forecast schema */
} tg_update;

/* Adds an error, located in file where it has a span. */
void tg_update_fail(tg_update *u, const tg_source_file *file, tg_error *err);
int64_t tg_update_elapsed_ms(const tg_update *u, int64_t since_ns);

/* ---- selection.c ---- */
/* Sets is_selected, is_full and allows_reset of the runs. All errors go to diags. */
TG_CHECKED tg_code tg_update_select(tg_update *u);

/* ---- override.c ---- */
/* Sets override of the runs; behind the selection. All errors go to diags. */
TG_CHECKED tg_code tg_update_apply_overrides(tg_update *u);
/* Turns a span in the override's predicate into a place. */
void tg_override_locate(const tg_override *override, tg_error *err);

/* ---- sources.c ---- */
/* Pins what the selected flows read and this pipeline does not write. Errors go to diags. */
void tg_update_pin_externals(tg_update *u);
/* One of them, with what is wrong with it told once. */
TG_CHECKED tg_code tg_update_pin_external(tg_update *u, size_t index);
/* Loads the facts of a target once; afterwards its start version is what readers see. */
TG_CHECKED tg_code tg_update_load_target(const tg_flow_run *run, const tg_dataset *dataset,
                                         tg_error *err);
/* The table of a target after a commit of this update: readers see that version. */
void tg_update_target_changed(tg_update *u, tg_target *target, int64_t version);
/*
 * All pins of a flow, distinct; tables that do not exist yet (analysis) have version -1 and no
 * digest.
 */
TG_CHECKED tg_code tg_update_collect_pins(tg_flow_run *run, tg_error *err);
/* Resolves names in the queries of the graph; self is the tg_flow_run that binds. */
tg_code tg_update_resolve(void *self, const tg_relation *relation, tg_arena *arena,
                          tg_resolved *out, tg_error *err);

/* ---- owner.c ---- */
/* Every name of --adopt is a table of this pipeline; errors go to diags. */
TG_CHECKED tg_code tg_update_check_adopt(tg_update *u);
/* May this pipeline write the table that it found? Errors are located at the definition. */
TG_CHECKED tg_code tg_owner_check(tg_update *u, const tg_flow_run *run, tg_error *err);
/* What the table says of its owner and definition: the wanted properties of the run's input. */
void tg_owner_ask(tg_update *u, tg_flow_run *run);
/* The id of a table that this update makes. */
tg_str tg_owner_new_table_id(const tg_update *u, const tg_flow_run *run);

/* ---- flow.c ---- */
/* Facts, ownership, quick plan, else binding and the plan. Touches nothing. Errors go to diags. */
void tg_flow_analyse(tg_update *u, tg_flow_run *run);
/* With --explain: the printed program of the plan that stands. */
void tg_flow_keep_program(tg_update *u, tg_flow_run *run);
/* What the plan says of itself goes to the result. */
void tg_flow_keep_plan(tg_update *u, tg_flow_run *run);
/* Does the flow read a table that this update changes? */
bool tg_flow_reads_changed_table(const tg_update *u, const tg_flow *flow);
/* The error of a flow that did not come to its end: located, kept in the result, told. */
void tg_flow_fail(tg_update *u, tg_flow_run *run, const char *doing, tg_error *err);
/*
 * Runs a selected flow whose upstream is done. The result tells how it ended; errors stay with the
 * flow.
 */
void tg_flow_refresh(tg_update *u, tg_flow_run *run);

/* ---- attempts.c ---- */
/* Is it a failure that time mends: a lost race, storage that did not answer? */
bool tg_is_retryable(const tg_error *err);
/* A refresh failed: tells it, waits, and says whether the flow is tried again. */
bool tg_flow_tries_again(tg_update *u, tg_flow_run *run, const tg_error *err);
/* Runs the flows, and those again that failed for a while. */
void tg_update_run_with_retries(tg_update *u);

/* ---- guard.c ---- */
/*
 * Asked whenever a flow was planned, for the facts of that plan: reset and clock guard. Refusals are
 * TG_GUARD. out_again: it shall be planned again, as no full refresh (--full-refresh-all leaves
 * guarded tables as they are).
 */
TG_CHECKED tg_code tg_guard_plan(tg_update *u, tg_flow_run *run, bool *out_again, tg_error *err);
/*
 * Shrink guard: a refresh takes `deleted` rows and brings `inserted`, of the regions that it
 * replaces, and is not committed yet. Counts the window only where they may be too many.
 */
TG_CHECKED tg_code tg_guard_rows(tg_flow_run *run, int64_t deleted, int64_t inserted,
                                 tg_error *err);
/* Warns of what a refresh that writes rows did, or a planned one would do. */
void tg_guard_warn(tg_update *u, tg_flow_run *run);

/* ---- count.c ---- */
TG_CHECKED tg_code tg_update_count_rows(const tg_flow_run *run, tg_rel *rel, int64_t *out,
                                        tg_error *err);
/* Rows of a flow's table as its facts know it, where predicate (over its columns) is TRUE; NULL: all. */
TG_CHECKED tg_code tg_update_count_target(const tg_flow_run *run, const tg_bexpr *predicate,
                                          int64_t *out, tg_error *err);

/* ---- lint_report.c ---- */
/* What is probably not meant, of a flow that was bound; to the result and, as warnings, to diags. */
void tg_flow_lint(tg_update *u, tg_flow_run *run);
/* As the value of the key "lints". */
void tg_lints_json(tg_json_out *out, const tg_flow_result *result);

/* ---- result_json.c ---- */
/* The key "pieces": how each part of the window is treated, and why. */
void tg_pieces_json(tg_json_out *out, const tg_flow_result *result);
/* ---- workers.c ---- */
/* Refreshes the selected flows, or tells why not; returns when all have ended and no thread is left. */
void tg_update_run_flows(tg_update *u);
/* By a flow that is on a worker: has the event told by the update's own thread. */
void tg_worker_tell(const tg_flow_run *run, const tg_event *event);
/* The same with what was told so far: returns when it stands in the file. */
void tg_worker_flush(tg_flow_run *run);

/* ---- forecast.c ---- */
/* What a run would do with an analysed flow, and to how many rows, goes to the result. */
void tg_flow_forecast(tg_update *u, tg_flow_run *run);

/* ---- inactive.c ---- */
/*
 * Behind an analysis that found nothing wrong: what the pipeline defined once and does not any more
 * goes to the result; an update remembers what is defined now, and tells what changed. What goes
 * wrong is a warning.
 */
void tg_update_find_inactive(tg_update *u);
/* Of a name that is not in the graph: TIDEGATE_DATASET_INACTIVE when it once was, and its table stands. */
TG_CHECKED tg_code tg_update_refuse_inactive(tg_update *u, tg_str word, tg_error *err);

/* ---- views.c ---- */
/* TIDEGATE_DATASET_KIND_CHANGED, TIDEGATE_TABLE_NOT_OWNED: a view stands where a table should be. */
TG_CHECKED tg_code tg_update_check_no_view(tg_update *u, const tg_dataset *dataset, tg_error *err);
/*
 * Owners, names and types of the selected persisted views whose definition is not the published one.
 * Behind the analysis of the flows: their tables are seen as they will be. Errors go to diags.
 */
void tg_update_analyse_views(tg_update *u);
/* Writes the definitions that differ; TG_OK or the first error, which is in diags. */
TG_CHECKED tg_code tg_update_publish_views(tg_update *u);

/* ---- update_events.c ---- */
void tg_update_event_start(tg_update *u);
void tg_update_event_definitions(tg_update *u);
void tg_update_event_state(tg_update *u, tg_update_state state, const tg_error *error);
/* The flow's status changes; error for FAILED. */
void tg_update_event_flow(tg_update *u, tg_flow_run *run, tg_flow_status status,
                          const tg_error *error);
void tg_update_event_planning(tg_update *u, tg_flow_run *run);
/* A warning about the flow: told, and kept in its result. kind: RESET_SKIPPED, WINDOW_SHRANK, ... */
void tg_update_event_warning(tg_update *u, tg_flow_run *run, const char *kind, tg_str message);
/* A full refresh was committed to a table that existed: how to get its rows back. */
void tg_update_event_reset(tg_update *u, const tg_flow_run *run);
/*
 * A problem with the event file stops nothing: rows are worth more than their log. It becomes a
 * warning, once.
 */
void tg_update_flush(tg_update *u);
/* The same for what a flow has told, on whichever thread it is. */
void tg_flow_flush(tg_flow_run *run);

#endif
