/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: spec file -> source files -> graph of datasets and flows -> update -> events.
 *
 * Life: tg_spec_load, tg_graph_build, tg_update_run. Each keeps its result in the caller's arena
 * and reports *all* errors and warnings it finds in a tg_diags, each located in its file; the
 * return value is TG_OK or the code of the first error. Only tg_update_run without is_dry_run
 * writes anything. Threads: one thread at a time (tg_update_run starts more of its own); the cancel
 * flag of tg_env and tg_engine.cancel may be used from elsewhere.
 */
#ifndef TG_PIPELINE_PIPELINE_H
#define TG_PIPELINE_PIPELINE_H

#include "catalog/catalog.h"
#include "catalog/view.h"
#include "engine/engine.h"
#include "eventlog/eventlog.h"
#include "fs/fs.h"
#include "incremental/incremental.h"

/* ---- spec (spark-pipeline.yml) --------------------------------------------------------------- */

/* One entry of libraries. */
typedef struct tg_library {
    tg_str include;      /* as written: a file, or folder/ ** (without the blank) */
    const tg_str *files; /* absolute, sorted; .sql only */
    size_t file_count;
} tg_library;

/* A value that one update gives to ${NAME} and to :NAME. Texts are borrowed. */
typedef struct tg_param {
    tg_str name, value;
    const char *origin; /* for messages: "--param" */
} tg_param;

typedef struct tg_standalone tg_standalone;

typedef struct tg_spec {
    const tg_standalone *standalone; /* NULL: a pipeline of files */
    tg_str path;                     /* as the user knows it: for messages */
    tg_str text;                     /* of the file: places point into it */
    tg_str folder;                   /* absolute: relative paths resolve against it */
    tg_str name;
    tg_str storage;                           /* absolute folder; may not exist yet */
    tg_str catalog, schema;                   /* defaults; "main", "default" when not given */
    tg_str declared_catalog, declared_schema; /* the file's own, where options name others */
    const tg_property *configuration;         /* ${key}; with what params say instead */
    size_t configuration_count;
    const tg_property *parameters; /* :name; as the file has them */
    size_t parameter_count;
    const struct tg_yaml_node *parameters_node; /* NULL: there are none */
    const tg_param *params;                     /* of this update: they win */
    size_t param_count;
    const tg_library *libraries;
    size_t library_count;
    /* under the key tidegate: */
    tg_str warehouse;           /* absolute */
    tg_str timezone;            /* "UTC" when not given */
    tg_str memory_limit;        /* empty: the engine's default */
    int64_t threads;            /* 0: all cores */
    int64_t max_parallel_flows; /* 0: as many as there are cores, at most 4 */
    bool strict_compat; /* what Databricks refuses is refused, what it allows is not guarded */
    const tg_mapped_table *tables;
    size_t table_count;
} tg_spec;

/*
 * Loads a spec. path empty: spark-pipeline.yml or .yaml in folder (absolute, usually the working
 * directory) or the nearest of its parents; a relative path is relative to folder. Library patterns
 * are expanded; files are not read. Writes nothing. Errors: PIPELINE_SPEC_* and their kin
 * (reference/anchors.md 3.1, 3.2), located by line and column.
 */
TG_CHECKED tg_code tg_spec_load(const tg_fs *fs, tg_str path, tg_str folder, tg_arena *arena,
                                const tg_spec **out_spec, tg_diags *diags);
/* What the caller says about a spec: the environment it is run in. */
typedef struct tg_spec_options {
    tg_str catalog, schema; /* instead of the spec's defaults; empty: those */
    bool
        is_strict; /* refuse what Spark would: our key, Databricks' keys, a storage that is no URI */
} tg_spec_options;
/* The same with options. */
TG_CHECKED tg_code tg_spec_load_as(const tg_fs *fs, tg_str path, tg_str folder,
                                   const tg_spec_options *options, tg_arena *arena,
                                   const tg_spec **out_spec, tg_diags *diags);
/* A loaded spec in another environment; an empty name: the one that it has. Texts are copied. */
const tg_spec *tg_spec_in(const tg_spec *spec, tg_str catalog, tg_str schema, tg_arena *arena);
/* NAME=VALUE, whose texts are borrowed. TIDEGATE_INVALID_OPTION without "=" or name. */
TG_CHECKED tg_code tg_param_parse(tg_str text, const char *origin, tg_param *out, tg_error *err);
/*
 * The spec as one update sees it. Errors: a name given twice, a value that is no UTF-8 text, too much
 * of them, a Spark setting that cannot have the value. Whether a name means anything is known when
 * the source files are read (tg_graph_build).
 */
TG_CHECKED tg_code tg_spec_with_params(const tg_spec *spec, const tg_param *params, size_t count,
                                       tg_arena *arena, const tg_spec **out_spec, tg_diags *diags);
/* The catalog that a spec describes; defaults current_catalog and current_schema from the spec. */
tg_catalog tg_spec_catalog(const tg_spec *spec, const tg_fs *fs);
/*
 * The pipeline's identity, kept in storage/pipeline.json. create: makes folder and file when they
 * are not there; otherwise a pipeline that never ran gives an empty id.
 */
TG_CHECKED tg_code tg_spec_pipeline_id(const tg_spec *spec, const tg_fs *fs, const tg_env *env,
                                       bool create, tg_arena *arena, tg_str *out_id, tg_error *err);

/*
 * A clock reading as users write it (--now): "2024-03-01", "2024-03-01 12:00:00",
 * "2024-03-01T12:00:00Z"; without a zone in the text it is local time of zone.
 * TIDEGATE_INVALID_OPTION otherwise.
 */
TG_CHECKED tg_code tg_clock_parse(tg_str text, const tg_zone *zone, tg_arena *arena,
                                  int64_t *out_us, tg_error *err);

/* ---- graph ----------------------------------------------------------------------------------- */

typedef enum tg_dataset_kind {
    TG_DATASET_STREAMING_TABLE,
    TG_DATASET_MATERIALIZED_VIEW,
    TG_DATASET_TEMPORARY_VIEW,
    TG_DATASET_VIEW
} tg_dataset_kind;
/* "streaming table", "materialized view", "temporary view", "view" */
const char *tg_dataset_kind_name(tg_dataset_kind kind);
/* "STREAMING_TABLE", ... in events and in the table property tidegate.datasetKind. */
const char *tg_dataset_kind_event_name(tg_dataset_kind kind);

typedef struct tg_source_file {
    const char *shown_name; /* relative to the spec's folder */
    tg_str path;            /* absolute */
    tg_str text;            /* after substitution of ${key}: what spans point into */
} tg_source_file;

/* One statement of a standalone table. Spans point into file->text; all names in it are full ones. */
typedef struct tg_standalone_stmt {
    const tg_stmt *stmt;
    const tg_source_file *file;
} tg_standalone_stmt;

/*
 * A table that a statement outside of pipeline files defines is a pipeline of its own: one table,
 * one flow at most, the table's id for its own, no spec and no files. Its definition stands in the
 * table's properties (owner.h).
 */
struct tg_standalone {
    tg_str table_id;                  /* of the table; of the one that the update makes */
    tg_standalone_stmt statements[2]; /* the table; CREATE FLOW */
    size_t statement_count;
    bool is_refresh; /* of a definition that is kept: nobody may change it meanwhile */
    const tg_property *properties; /* CREATE: the definition, to be kept; REFRESH: as it is kept */
    size_t property_count;
};

typedef struct tg_flow tg_flow;
typedef struct tg_dataset tg_dataset;

/* A name that a query reads, resolved. */
typedef struct tg_input {
    const tg_dataset *dataset; /* NULL: not of this pipeline */
    size_t external;           /* else: index in tg_graph.externals */
    const tg_name *name;       /* as written, in file */
    const tg_source_file *file;
    bool is_stream;
} tg_input;

/* A table that flows read and none of this pipeline writes. */
typedef struct tg_external {
    tg_location location;
    const tg_name *name; /* where it is named first */
    const tg_source_file *file;
} tg_external;

struct tg_dataset {
    tg_dataset_kind kind;
    tg_str full_name; /* main.default.orders; a temporary view has one part */
    tg_str name;      /* last part */
    const tg_stmt *stmt;
    const tg_source_file *file;
    tg_location location;  /* tables and views that others see */
    const tg_view *found;  /* a view of the warehouse that none of this pipeline defines: it is read
                               only, and has no stmt */
    const tg_query *query; /* views: with the names of their list */
    tg_catalog scope;      /* views: what names in the query mean */
    const tg_zone *zone;   /* found views: the zone that they were made in */
    const tg_flow *flow;   /* the one that writes it; NULL for views */
    const tg_input *inputs; /* views: what their query reads */
    size_t input_count;
    bool reads_broken; /* views: a definition that does not parse, a name that is refused */
    const tg_property
        *properties; /* tables: wanted ones, ours included but for tidegate.pipelineId */
    size_t property_count;
    const tg_str *partition_columns;
    size_t partition_count;
    size_t index; /* in tg_graph.datasets */
};

struct tg_flow {
    tg_flow_kind kind;
    tg_str full_name;  /* catalog.schema.flow; a one-statement flow has its table's name */
    tg_str event_name; /* as in events: bare for CREATE FLOW, else the full name */
    bool is_implicit;  /* defined with its table in one statement */
    const tg_flow_spec *spec;
    const tg_stmt *stmt;
    const tg_source_file *file;
    const tg_dataset *dataset;
    const tg_input *inputs; /* direct ones */
    size_t input_count;
    bool reads_broken;              /* a definition that does not parse, a name that is refused */
    const tg_dataset *const *views; /* views in its query, also through views; distinct */
    size_t view_count;
    const tg_dataset *const
        *upstream; /* tables of this pipeline that it reads, also through views; distinct */
    size_t upstream_count;
    const size_t *externals; /* indexes in tg_graph.externals, also through views; distinct */
    size_t external_count;
    const tg_str *aliases; /* qualifiers allowed in its predicate */
    size_t alias_count;
    size_t index; /* in tg_graph.flows */
};

/* Is it a query by name, whose rows stand nowhere? */
static inline bool tg_dataset_is_view(const tg_dataset *dataset)
{
    return dataset->kind == TG_DATASET_TEMPORARY_VIEW || dataset->kind == TG_DATASET_VIEW;
}

typedef struct tg_graph {
    const tg_spec *spec;
    tg_dataset **datasets; /* in order of definition; then the views that were found */
    size_t dataset_count;
    tg_flow **
        flows; /* topological order: a flow stands behind those it reads from; else order of definition */
    size_t flow_count;
    const tg_external *externals;
    size_t external_count;
    /* Something is wrong with the pipeline; the flows are those that do not depend on it. Such a
     * graph can be analysed, never run. */
    bool is_partial;
    bool may_lack_names;   /* partial, and what is wrong may define any name */
    tg_map names;          /* private: full name or view name -> tg_dataset */
    tg_map inputs_by_name; /* private: address of a parsed name -> tg_input */
} tg_graph;

/*
 * Reads and parses all source files, registers datasets and flows and checks the rules of
 * reference/anchors.md 3.8 that need no table. What is known and not available in this release is
 * refused by name. Touches no table. On errors out_graph gets what is sound (is_partial), so that
 * the rest can be analysed; NULL: nothing is.
 */
TG_CHECKED tg_code tg_graph_build(const tg_spec *spec, const tg_fs *fs, tg_arena *arena,
                                  const tg_graph **out_graph, tg_diags *diags);

/* ---- update ---------------------------------------------------------------------------------- */

/* The predicate of a REPLACE WHERE flow for one update only. Texts as given; empty: absent. */
typedef struct tg_override {
    tg_str flow; /* short or full name */
    tg_str predicate;
    const char *origin; /* for messages: "--replace-where", "overrides.json[2]" */
} tg_override;

/* FLOW=PREDICATE, whose texts are borrowed. TIDEGATE_INVALID_OPTION without the "=". */
TG_CHECKED tg_code tg_override_parse(tg_str text, const char *origin, tg_override *out,
                                     tg_error *err);
/*
 * replace_where_overrides of the vendor's request: [{"flow_name", "predicate_override"}]. file is
 * named in messages. Errors: TIDEGATE_INVALID_JSON, TIDEGATE_INVALID_OPTION for another shape; what
 * is absent or null is left empty for the update to refuse.
 */
TG_CHECKED tg_code tg_overrides_from_json(tg_str text, const char *file, tg_arena *arena,
                                          tg_override **out_overrides, size_t *out_count,
                                          tg_error *err);

typedef struct tg_update_options {
    bool is_dry_run; /* analyses only: reads, writes nothing, no event file */
    bool is_plan;    /* with is_dry_run: keeps what each flow would do; flows below one that will
                         change are planned as if it had */
    bool
        counts_rows; /* with is_plan: counts the rows to delete and to insert, through the engine */
    bool tells_intervals;   /* with is_plan: keeps what the recorded coverage says */
    const tg_param *params; /* values of ${NAME} and :NAME; read by whoever builds the graph */
    size_t param_count;
    const char *selection_name; /* how messages call `refresh`; NULL: --refresh */
    const tg_str *refresh;      /* --refresh: tables (or flows) by short or full name; none: all */
    size_t refresh_count;
    const tg_str *full_refresh; /* --full-refresh: these are emptied and computed anew; named like
                                   those of refresh, and refreshed beside them */
    size_t full_refresh_count;
    bool full_refresh_all;     /* --full-refresh-all: all tables; excludes both lists */
    const tg_str *allow_reset; /* --allow-reset: tables that a full refresh may take rows from that
                                    it does not bring back */
    size_t allow_reset_count;
    bool allow_shrink;            /* --allow-shrink: a window may lose most of its rows */
    bool allow_clock_back;        /* --allow-clock-back: the clock may go back */
    const tg_override *overrides; /* INVALID_REPLACE_WHERE_OVERRIDE.* before anything is touched */
    size_t override_count;
    const tg_str *adopt; /* --adopt: tables to take over from whom they belong to; short or full */
    size_t adopt_count;
    tg_str update_id;       /* who starts it may have told it already; empty: a new one */
    tg_str now;             /* --now as written; empty: the clock of tg_env */
    tg_str timezone;        /* --timezone; empty: the spec's */
    tg_str catalog, schema; /* another environment than the session's; read by whoever builds the
                               graph; empty: the session's */
    bool explain;           /* keep the printed refresh programs in the result */
    const char *cause;      /* "USER_ACTION", "API_CALL", ...; NULL: USER_ACTION */
    tg_str retry_of;        /* the id of the update that this one repeats; empty: none */
    /*
     * Sources to read at these versions instead of their newest (found by path), if they are what
     * they were: TIDEGATE_PINNED_SOURCE_GONE otherwise, with pin_remedy as its hint.
     */
    const tg_pin *pins;
    size_t pin_count;
    const char *pin_remedy;
    const tg_event_sink *sink; /* may be NULL */
} tg_update_options;

/*
 * CONFLICTING_PIPELINE_REFRESH_OPTIONS: full_refresh_all together with a list of tables. Asked by
 * tg_update_run too; who has options alone can refuse them before anything is read.
 */
TG_CHECKED tg_code tg_update_check_options(const tg_update_options *options, tg_error *err);

/* What an update works with. All borrowed. */
typedef struct tg_update_context {
    const tg_fs *fs;
    const tg_env *env;
    tg_engine *engine;
} tg_update_context;

typedef enum tg_flow_status {
    TG_FLOW_QUEUED,
    TG_FLOW_PLANNING,
    TG_FLOW_STARTING,
    TG_FLOW_RUNNING, /* while it goes on */
    TG_FLOW_COMPLETED,
    TG_FLOW_FAILED,
    TG_FLOW_SKIPPED,
    TG_FLOW_STOPPED,
    TG_FLOW_EXCLUDED /* how it ended */
} tg_flow_status;
const char *tg_flow_status_name(tg_flow_status status);

typedef enum tg_update_state {
    TG_UPDATE_INITIALIZING,
    TG_UPDATE_SETTING_UP_TABLES,
    TG_UPDATE_RUNNING,
    TG_UPDATE_COMPLETED,
    TG_UPDATE_FAILED,
    TG_UPDATE_CANCELED
} tg_update_state;
const char *tg_update_state_name(tg_update_state state);

/* A definition that means what it says, and probably not what was meant (docs/lints.md). */
typedef struct tg_lint {
    const char *code, *name; /* "TG001", "date-bound-on-timestamp" */
    tg_str message, fix;
    tg_span span; /* in the flow's file */
    int line, column;
} tg_lint;

/* What became of a persisted view of the pipeline. */
typedef struct tg_view_result {
    const tg_dataset *view;
    const char *status; /* "CREATED", "REPLACED", "UNCHANGED"; of a plan: what a run would do */
} tg_view_result;

/* A table or persisted view of the pipeline that it does not define any more (inactive.h). */
typedef struct tg_inactive_dataset {
    tg_str dataset_name;
    tg_str since; /* the clock of the update that found it; empty: of a dry run that is the first */
} tg_inactive_dataset;

/* Counts are -1 where they are not known: null in JSON. */
typedef struct tg_flow_result {
    const tg_flow *flow;
    tg_flow_status status;
    bool is_full_refresh;  /* the table is emptied and computed anew */
    const char *technique; /* NULL: it was not planned */
    const tg_plan_issue *issues;
    size_t issue_count;
    const tg_plan_piece *pieces;
    size_t piece_count;
    tg_str window; /* folded predicate; empty: none */
    int64_t committed_version;
    int64_t output_rows, deleted_rows;
    int64_t rows_to_delete, rows_to_insert; /* of a plan that counts */
    const tg_plan_interval *intervals;      /* of a plan that tells them */
    size_t interval_count;
    int64_t target_version; /* that the intervals speak of; -1: there is no table */
    bool is_estimate;       /* of a plan: the flow reads a table that this update will change */
    int64_t rows_written, rows_deleted;
    int64_t files_added, files_removed;
    int64_t output_bytes; /* of the files added */
    int64_t source_rows_read;
    const tg_lint *lints; /* of a dry run or plan; of a run for a definition that is new */
    size_t lint_count;
    int64_t duration_ms;
    const tg_str *warnings; /* for people: one sentence each */
    size_t warning_count;
    const tg_error *error; /* FAILED only, else NULL */
    tg_str program;        /* with explain: the refresh program as text */
    /* of a plan: */
    tg_schema output; /* columns of the query with the types they get; none when it was not bound */
    const tg_pin *pins; /* what the flow reads, and at which version */
    size_t pin_count;
    tg_digest definition; /* tg_definition_digest */
} tg_flow_result;

typedef struct tg_update_result {
    tg_str update_id, pipeline_id, pipeline_name;
    tg_update_state state;
    bool is_dry_run, is_plan;
    bool
        is_validation_failure; /* stopped by analysis: no table was touched; the errors are in diags */
    int64_t now_us;
    tg_str zone_name;
    int64_t duration_ms;
    const tg_flow_result *flows; /* in the graph's order */
    size_t flow_count;
    const tg_view_result *views; /* those of the update's selection */
    size_t view_count;
    const tg_inactive_dataset *inactive; /* by name */
    size_t inactive_count;
    size_t failed_count, skipped_count;
    tg_str event_path; /* empty: no file */
} tg_update_result;

/*
 * Runs one update: one clock, one zone, sources pinned when it starts. Analysis first (names,
 * types, ownership): an error there ends the update before anything is written. Then the flows in
 * order, several at the same time as far as the spec and the engine allow, each behind those that it
 * reads from; a failed flow makes those that read from it SKIPPED, the others go on. Setting the cancel
 * flag ends it between flows, engine->cancel within one. The sink is called on the calling thread
 * only, and no thread is left when it returns.
 *
 * TG_OK: it came to an end, see out_result->state (flows may have failed). Otherwise the first
 * error's code; all errors are in diags. out_result is filled in either way as far as the update
 * came. Errors in it live as long as the arena.
 */
TG_CHECKED tg_code tg_update_run(const tg_update_context *context, const tg_graph *graph,
                                 const tg_update_options *options, tg_arena *arena,
                                 tg_update_result *out_result, tg_diags *diags);
/* The summary object of --json (design 3.1), one line without line feed. */
void tg_update_result_json(const tg_update_result *result, tg_buf *buf);
/* The intervals of one of its flows as an object, one line without line feed. */
void tg_flow_intervals_json(const tg_update_result *result, const tg_flow_result *flow,
                            tg_buf *buf);

#endif
