/* SPDX-License-Identifier: Apache-2.0 */
/* Private to api: the session and what statements share. */
#ifndef TG_API_API_INT_H
#define TG_API_API_INT_H

#include "api/api.h"

/* Environment variable of a process that REFRESH ... ASYNC starts. */
#define TG_UPDATE_ID_VARIABLE "TIDEGATE_UPDATE_ID"

typedef struct tg_temp_view {
    tg_str name;
    const tg_query *query; /* columns of the view's list are folded in by the parser's aliases */
    tg_str text;
    const char *file;
} tg_temp_view;

struct tg_api {
    tg_arena *arena;
    const tg_fs *fs;
    const tg_env *env;
    tg_env own_env;                  /* env with a cancel flag of this session */
    volatile sig_atomic_t cancelled; /* set by tg_api_cancel, until tg_api_begin */
    tg_engine *engine;
    const tg_spec *spec;
    tg_catalog catalog;
    const tg_zone *zone;
    bool has_now;
    int64_t now_us; /* with has_now */
    tg_str now_text, zone_text;
    tg_map views; /* lower-case name -> tg_temp_view */
    const tg_update_options *permissions;
    tg_str program;
    tg_str update_id; /* of the next refresh: who started this process told it to the user */
    bool has_noted_schedules;
    bool
        skips_retention_check; /* SET spark.databricks.delta.retentionDurationCheck.enabled = false */
};

/*
 * A session of its own over the same spec, clock and zone, for another thread: one of share that work
 * at the same time. Closed before the first one.
 */
tg_api *tg_api_fork(const tg_api *api, int share);

/* One statement being run. */
typedef struct tg_execution {
    tg_api *api;
    tg_arena *arena; /* the result's */
    const tg_stmt *stmt;
    int64_t now_us;
    tg_map tables; /* path@version -> tg_table: every table is pinned once per statement */
    const tg_query *event_log;   /* what event_log() reads: looked at once per statement */
    const tg_table *event_lines; /* its events that are still in files */
    const char *file;
    tg_str source; /* holds the statement, at offset */
    size_t offset;
    bool describes; /* asks for facts, reads no rows */
    tg_result *result;
    tg_map view_scopes;   /* address of a name in a persisted view -> tg_catalog */
    tg_str creating_view; /* full name: reading it would be a cycle; empty: none */
} tg_execution;

tg_bind_options tg_execution_bind_options(tg_execution *ex, tg_resolver *resolver);
/* A table by name at its newest version; TABLE_OR_VIEW_NOT_FOUND when nothing is there. */
TG_CHECKED tg_code tg_execution_table(tg_execution *ex, const tg_name *name,
                                      const tg_table **out_table, tg_error *err);
/* The same as a Delta table that may be written: facts of the newest version. */
TG_CHECKED tg_code tg_execution_target(tg_execution *ex, const tg_name *name,
                                       tg_location *out_location, tg_table_facts *out_facts,
                                       tg_error *err);

/* The same, and it exists; TABLE_OR_VIEW_NOT_FOUND at the name otherwise. */
TG_CHECKED tg_code tg_execution_existing_target(tg_execution *ex, const tg_name *name,
                                                tg_location *out_location,
                                                tg_table_facts *out_facts, tg_error *err);
/* The value of a constant expression, cast to a type: what stands behind AS OF. */
TG_CHECKED tg_code tg_execution_constant(tg_execution *ex, const tg_expr *expr, const tg_type *type,
                                         tg_value *out_value, tg_error *err);
/* The same for what else needs one, named in the message; may be NULL. */
TG_CHECKED tg_code tg_execution_constant_or_null(tg_execution *ex, const tg_expr *expr,
                                                 const tg_type *type, const char *what,
                                                 tg_value *out_value, tg_error *err);
/* ---- views.c ---- */
/* The persisted view of a name; *out_view is NULL when there is none. */
TG_CHECKED tg_code tg_execution_view(tg_execution *ex, const tg_name *name,
                                     tg_location *out_location, const tg_view **out_view,
                                     tg_error *err);
/* EXPECT_TABLE_NOT_VIEW when a view stands there. */
TG_CHECKED tg_code tg_execution_refuse_view(tg_execution *ex, const tg_name *name,
                                            const tg_location *location, tg_error *err);
/* What a name means that stands in a persisted view; NULL: it stands in the statement. */
const tg_catalog *tg_execution_scope(tg_execution *ex, const tg_name *name);
/* The view's query in place of its name. */
TG_CHECKED tg_code tg_execution_expand_view(tg_execution *ex, const tg_view *view,
                                            const tg_name *name, tg_resolved *out, tg_error *err);
TG_CHECKED tg_code tg_api_create_view(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_drop_view(tg_execution *ex, tg_error *err);

/* query.c, ddl.c, dml.c, dml_change.c, show.c, restore.c */
TG_CHECKED tg_code tg_api_run_query(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_ddl(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_insert(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_change(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_show(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_restore(tg_execution *ex, tg_error *err);
/* describe_table.c */
TG_CHECKED tg_code tg_api_describe_detail(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_describe_history(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_show_partitions(tg_execution *ex, tg_error *err);
/* clustering.c: the columns of a CLUSTER BY, in the table's spelling, or the error that stands there. */
TG_CHECKED tg_code tg_api_clustering_columns(tg_execution *ex, tg_schema schema,
                                             const tg_ident *names, size_t count,
                                             const tg_str **out_columns, tg_error *err);
/* The properties of a CREATE TABLE with what its CLUSTER BY means. */
TG_CHECKED tg_code tg_api_clustered_properties(tg_execution *ex, tg_schema schema,
                                               const tg_property **out_properties,
                                               size_t *out_count, tg_error *err);
/* May a statement give a plain table this property? Says more than tg_property_check, which is for datasets. */
TG_CHECKED tg_code tg_api_check_property(const tg_property *property, tg_error *err);
/* alter_table.c: ALTER TABLE, COMMENT ON; maintain.c: OPTIMIZE, VACUUM */
TG_CHECKED tg_code tg_api_run_alter_table(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_optimize(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_vacuum(tg_execution *ex, tg_error *err);
/* standalone.c, standalone_alter.c */
TG_CHECKED tg_code tg_api_run_standalone(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_run_alter(tg_execution *ex, tg_error *err);
TG_CHECKED tg_code tg_api_drop_dataset(tg_execution *ex, tg_error *err);
/* Runs a program that is not a flow's, again when it loses a race. make builds it from the target's newest version. */
typedef tg_code (*tg_program_maker)(tg_execution *ex, void *self, const tg_program **out_program,
                                    tg_error *err);
TG_CHECKED tg_code tg_api_run_program(tg_execution *ex, tg_program_maker make, void *self,
                                      tg_run_result *out_run, tg_error *err);

/* table_changes.c: FROM table_changes(...); self is a tg_execution. */
tg_code tg_execution_table_changes(void *self, const tg_table_changes_source *source,
                                   tg_arena *arena, tg_resolved *out, tg_error *err);
/* eventlog_function.c: FROM event_log(...); self is a tg_execution. */
tg_code tg_execution_event_log(void *self, const tg_event_log_source *source, tg_arena *arena,
                               tg_resolved *out, tg_error *err);

/* Rows made here: strings, row by row. */
void tg_execution_set_rows(tg_execution *ex, const char *const *names, size_t column_count,
                           const tg_value *values, size_t row_count);
static inline tg_value tg_string_value(tg_str text)
{
    return tg_value_bytes(tg_type_of(TG_TYPE_STRING), text);
}

/*
 * A nested value of rows made here: the elements of an ARRAY, keys and values of a MAP in turn, the
 * fields of a STRUCT. items are borrowed.
 */
static inline tg_value tg_nested_value(const tg_type *type, const tg_value *items, size_t count)
{
    return (tg_value){.type = type, .as.bytes = {(const char *)items, count}};
}

/* arrow_cells.c: one cell of an Arrow array whose type is known. */
void tg_arrow_cell_json(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, tg_arena *arena, tg_buf *out);
bool tg_arrow_cell_text(const struct ArrowArray *array, const struct ArrowSchema *schema,
                        const tg_type *type, int64_t row, const tg_zone *zone, tg_arena *arena,
                        tg_buf *out);
void tg_value_json(tg_value value, tg_arena *arena, tg_buf *out);
bool tg_value_text(tg_value value, const tg_zone *zone, tg_arena *arena, tg_buf *out);

#endif
