/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refresh planning: facts about a flow, its target and its sources, all by value -> what the
 * refresh does.
 *
 * Pure: no engine, no files. The rules are those of the coverage model (design 6.3, 6.6): a window
 * is cut into parts that are up to date, stale and new, and the latter two are recomputed. This
 * release brings no part up to date by delta; the state it writes already has its final form
 * (design 6.1).
 *
 * Two stages. tg_plan_quick proves NO_OP from versions, identities and predicates alone, before
 * anything is bound. Where it cannot, the caller binds the query and calls tg_plan_refresh, which
 * always gives a plan.
 */
#ifndef TG_INCREMENTAL_INCREMENTAL_H
#define TG_INCREMENTAL_INCREMENTAL_H

#include "catalog/catalog.h"
#include "engine/engine.h"
#include "program/program.h"
#include "sql/functions.h"

/* Counts up when a change of tidegate may change the answer of an unchanged query: part of every
 * fingerprint. */
enum { TG_SEMANTICS_VERSION = 1 };

/* ---- state of a flow (design 6.1): JSON in commitInfo.userMetadata --------------------------- */

typedef struct tg_source_identity {
    tg_str name, path;
    int64_t version;
    tg_digest digest;
} tg_source_identity;

typedef struct tg_piece {
    tg_str where; /* predicate in Databricks SQL over the target's columns, folded; "true" for
                     everything */
    tg_str fingerprint;
    const tg_source_identity *sources;
    size_t source_count;
    int64_t clock_us;
} tg_piece;

typedef struct tg_flow_state {
    tg_str flow; /* full flow name */
    tg_str update_id, technique;
    tg_str predicate; /* as written; empty for views */
    tg_str window;    /* folded */
    tg_str zone;
    int64_t clock_us;
    int64_t latest_clock_us; /* of all refreshes so far, less those that were allowed to go back */
    tg_str definition;       /* digest of the expanded definition text */
    tg_str fingerprint;
    bool query_has_time_function; /* then an equal definition does not mean an equal fingerprint */
    bool query_depends_on_order;  /* then pieces of two evaluations do not make one answer */
    bool predicate_is_deterministic;
    int64_t read_version;
    tg_str advanced; /* predicate of the region this commit brought up to date; "false": none */
    const tg_piece *pieces;
    size_t piece_count;
} tg_flow_state;

/* At most TG_LIMIT_STATE_BYTES: oldest pieces are forgotten until it fits. */
tg_str tg_flow_state_to_json(const tg_flow_state *state, tg_arena *arena);
/* False: not a state, or of a version this release does not know (treated as missing). */
bool tg_flow_state_from_json(tg_str json, tg_arena *arena, tg_flow_state *out_state);
/* "tidegate/<table id>/<flow>" */
tg_str tg_flow_app_id(tg_arena *arena, tg_str table_id, tg_str flow_name);

/* ---- planning -------------------------------------------------------------------------------- */

typedef struct tg_refresh_input {
    tg_flow_kind kind; /* REPLACE_WHERE or COMPLETE */
    tg_str flow_name;  /* full */
    tg_str target_name, target_path;
    tg_str update_id;
    int64_t now_us;
    const tg_zone *zone;
    const tg_expr *predicate; /* REPLACE_WHERE */
    tg_str predicate_text;
    bool is_override; /* the predicate is of this update only: its window is always recomputed */
    bool is_full;     /* all rows of the table go, also outside the window; so do columns that the
                         query does not give, and types may become others */
    tg_str
        full_words; /* how a full refresh is asked for, in hints: "--full-refresh", REFRESH ... */
    const tg_str *aliases; /* qualifiers allowed in the predicate (tg_sql_query_aliases) */
    size_t alias_count;
    tg_digest definition; /* tg_definition_digest */
    const tg_pin *pins;   /* every table the query reads, distinct */
    size_t pin_count;
    /* what the definition asks of the table */
    const tg_str *partition_columns;
    size_t partition_count;
    const tg_property *properties; /* wanted ones; others of the table are kept */
    size_t property_count;
    const tg_str *unwanted_properties; /* keys that the table may not have */
    size_t unwanted_count;
    tg_str comment;
    const tg_column_def *columns; /* declared columns, may be empty */
    size_t column_count;
    bool forgets_later_clock; /* the clock may go back: it counts as the latest from now on */
    tg_str new_table_id;      /* for a table that does not exist yet */
    bool is_blank; /* the table exists and was never refreshed: it is not partitioned yet */
    /* facts */
    tg_table_facts target;
    tg_state_facts state;
    const tg_commit_fact
        *commits; /* after the state's read_version up to target.version; none without a state */
    size_t commit_count;
    /* sources in the state's pieces that are newer than the pins, and found to be the same tables' */
    const tg_source_identity *newer;
    size_t newer_count;
} tg_refresh_input;

typedef struct tg_plan_issue {
    const char *issue_type; /* vendor's names: reference/databricks-semantics.md 5.5 */
    const char *sub_type;   /* NULL or plan_not_..._sub_type */
    const char *expression; /* NULL or the function at fault: expression_name */
} tg_plan_issue;

typedef struct tg_plan_piece {
    tg_str where;
    const char *treatment; /* "NO_OP", "RECOMPUTE" */
    const char *reason;    /* issue type or NULL */
} tg_plan_piece;

/* Pieces of coverage with their regions; private to planning and rebasing. */
typedef struct tg_coverage tg_coverage;
/* A bound and folded predicate; private to planning. */
typedef struct tg_window tg_window;

typedef struct tg_refresh_plan {
    const char *technique; /* "NO_OP", "COMPLETE_REPLACE_WHERE", "COMPLETE_RECOMPUTE" */
    tg_str window;         /* folded predicate, empty for views */
    const tg_plan_issue *issues;
    size_t issue_count;
    const tg_plan_piece *pieces;
    size_t piece_count;
    const tg_program *program; /* NULL for NO_OP without a commit */
    bool is_partial;           /* rows of the window that were up to date stayed as they were */
    tg_flow_state state;       /* what to record; read_version and pieces are set per attempt */
    tg_region advanced;
    const tg_window *whole;        /* what window says, bound */
    tg_str fingerprint;            /* of the query as it is now */
    bool needs_new_rows;           /* columns have other types: no recorded piece holds */
    bool replaces_window;          /* the rows that go are the whole window's, and no others */
    const tg_str *dropped_columns; /* of the table, not of the query: new rows hold NULL there */
    size_t dropped_count;
    const tg_coverage *mine, *carried; /* the piece of this refresh; pieces outside its window */
} tg_refresh_plan;

/* What an answer is made of, but for the rows: equal digests, equal answers over equal sources. */
typedef struct tg_definition {
    const tg_query *query;
    const tg_query *const *views; /* that it reads, also through views */
    size_t view_count;
    tg_str zone_name;
    const tg_column_def *columns; /* declared: another type there must not pass as NO_OP */
    size_t column_count;
    const tg_location *const *sources; /* not of this pipeline: how their files are read counts */
    size_t source_count;
} tg_definition;

/* Of the normal text of the query with its views' texts, what stands above, semantics version. */
tg_digest tg_definition_digest(const tg_definition *definition, tg_arena *arena);

/*
 * Sources in the pieces of a state that stand at a higher version than their pin: an update that
 * started later was faster. Whoever asks looks whether the tables have these versions.
 */
const tg_source_identity *tg_plan_newer_sources(const tg_state_facts *state, const tg_pin *pins,
                                                size_t pin_count, tg_arena *arena,
                                                size_t *out_count);
/* The read_version to ask commits_since from: of the state, or -1 when there is none. */
int64_t tg_plan_read_version(const tg_state_facts *state, tg_arena *arena);

/* CANNOT_UPDATE_PARTITION_COLUMNS when the table exists and has others; tg_plan_refresh asks too. */
TG_CHECKED tg_code tg_plan_check_partitioning(const tg_refresh_input *input, tg_error *err);
/* Is NO_OP proven? Then out_plan is set (technique NO_OP). Errors are left to tg_plan_refresh. */
bool tg_plan_quick(const tg_refresh_input *input, tg_arena *arena, tg_refresh_plan *out_plan);
/*
 * Clock guard (design 4.10): is the clock of this refresh before the latest recorded one, and does
 * that put rows into the window that it would not hold by the recorded clock (or may it)? Then they
 * are set.
 */
bool tg_plan_clock_widens(const tg_refresh_input *input, const tg_refresh_plan *plan,
                          tg_arena *arena, int64_t *out_clock_us, tg_str *out_window);
/*
 * The window over the columns that the target has now (ids 1 + index); NULL for everything. False:
 * it cannot be asked of these rows, a column of it is new.
 */
bool tg_plan_target_window(const tg_refresh_input *input, tg_arena *arena,
                           const tg_bexpr **out_predicate);
/*
 * Turns what is wrong with the predicate of an override into
 * INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION, with a span in the predicate's text.
 */
tg_code tg_plan_refuse_override(tg_str flow_name, tg_str predicate_text, tg_error *err);
/*
 * Errors: predicate names a column that the output lacks (UNRESOLVED_COLUMN...), is not boolean
 * (both as INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION where it is an override's),
 * schema not compatible with the table's (INCOMPATIBLE ... classes), declared columns that differ
 * from the query's (USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE).
 */
TG_CHECKED tg_code tg_plan_refresh(const tg_refresh_input *input, const tg_bound_query *query,
                                   tg_arena *arena, tg_refresh_plan *out_plan, tg_error *err);
/*
 * What the recorded state says of the target's rows: which ranges are up to date, which are stale,
 * and which of the declared window were never computed.
 */
typedef enum tg_interval_place {
    TG_PLACE_OUTSIDE, /* rows that left the window: a refresh leaves them alone */
    TG_PLACE_WINDOW,
    TG_PLACE_PARTLY /* the two cannot be told apart by ranges */
} tg_interval_place;
typedef struct tg_plan_interval {
    tg_str where;
    const char *status; /* "COVERED", "STALE", "MISSING" */
    const char *reason; /* why a refresh of it would not be NO_OP: issue type; NULL for COVERED */
    tg_interval_place place;
    const tg_piece *piece; /* that covers it, or did; NULL: none that is known */
} tg_plan_interval;
/* plan: of this input. Order: covered and stale pieces as recorded, then changed from outside, then
 * missing. */
const tg_plan_interval *tg_plan_intervals(const tg_refresh_input *input,
                                          const tg_refresh_plan *plan, tg_arena *arena,
                                          size_t *out_count);
/*
 * R7 of the model: the race for a version was lost to these winners (of any kind but file and
 * schema conflicts, which the engine answers itself). True: out_state is the state to commit on top
 * of read_version; false: the plan must be made again.
 */
bool tg_plan_rebase(const tg_refresh_plan *plan, const tg_refresh_input *input,
                    int64_t read_version, const tg_commit_fact *winners, size_t winner_count,
                    tg_arena *arena, tg_str *out_state);
/*
 * R10 of the model: the recorded state, to be committed once more without files on top of the
 * target's version (its txn version is that version plus one), before a log cleanup removes the
 * commit that carries it. Pieces that changes after the recorded read_version may have hit are
 * dropped; what it records is read at the target's version, and advances nothing. False: no state
 * is there. A lost race is planned again with the winners among the commits.
 */
bool tg_plan_recommit(const tg_refresh_input *input, tg_arena *arena, tg_str *out_state);

#endif
