/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound tree: relational algebra with types, where every column has a number of its own.
 *
 * What binding fixes: names -> column ids, views and CTEs expanded, `*` and GROUP BY ALL spelled
 * out, implicit casts made explicit, time functions folded with the clock of the update, functions
 * chosen from the one function table (functions.def). What is left has Spark's meaning node by
 * node, so that each engine's printer only has to keep that meaning.
 *
 * Ownership: nodes live in the binder's arena and are immutable after binding; subtrees may be
 * shared. Column ids are unique within one bound query. An outer (correlated) reference is a COLUMN
 * whose id belongs to an enclosing query: is_outer is set.
 */
#ifndef TG_SQL_BOUND_H
#define TG_SQL_BOUND_H

#include "sql/ast.h"

typedef struct tg_rel tg_rel;
typedef struct tg_bexpr tg_bexpr;
typedef struct tg_function tg_function; /* sql/functions.h */

typedef struct tg_column {
    uint32_t id;
    tg_str name; /* shown name; not unique */
    const tg_type *type;
    bool nullable;
} tg_column;

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum tg_bexpr_kind {
    TG_B_LITERAL,
    TG_B_COLUMN,
    TG_B_CALL,       /* function (operators, scalar functions, CASE and coalesce too), args */
    TG_B_AGGREGATE,  /* only in AGGREGATE and WINDOW nodes */
    TG_B_WINDOW,     /* only in WINDOW nodes: function + window */
    TG_B_CAST,       /* args[0] to type */
    TG_B_SUBQUERY,   /* scalar subquery: rel with one column */
    TG_B_EXISTS,     /* rel; negated */
    TG_B_IN_QUERY,   /* args (one per column of rel) IN rel; negated */
    TG_B_LAMBDA,     /* params, args[0] = body */
    TG_B_LAMBDA_VAR, /* id */
    TG_B_FIELD       /* args[0].fields[field_index] of a struct */
} tg_bexpr_kind;

typedef enum tg_cast_mode {
    TG_CAST_ANSI,
    TG_CAST_TRY,
    TG_CAST_IMPLICIT /* inserted by the binder; errors as ANSI */
} tg_cast_mode;

typedef struct tg_bsort {
    tg_bexpr *expr;
    bool descending, nulls_first;
} tg_bsort;

typedef struct tg_bwindow {
    tg_bexpr **partition_by;
    size_t partition_count;
    tg_bsort *order_by;
    size_t order_count;
    tg_frame_unit frame; /* NONE: the default of the function */
    tg_frame_bound_kind start, end;
    tg_bexpr *start_offset, *end_offset;
} tg_bwindow;

struct tg_bexpr {
    tg_bexpr_kind kind;
    const tg_type *type;
    bool nullable;
    tg_span span; /* in the text that was bound; for errors at run time */
    tg_bexpr **args;
    size_t arg_count;
    tg_value literal;             /* LITERAL */
    bool is_foldable_int_literal; /* an integer literal as written: counts with its own digits in
                                     decimal arithmetic */
    uint32_t column_id;           /* COLUMN, LAMBDA_VAR */
    bool is_outer;                /* COLUMN */
    const tg_function *function;  /* CALL, AGGREGATE, WINDOW */
    tg_cast_mode cast_mode;       /* CAST */
    bool distinct;                /* AGGREGATE */
    tg_bexpr *filter;             /* AGGREGATE, WINDOW */
    tg_bsort *order_by;           /* AGGREGATE: WITHIN GROUP */
    size_t order_count;
    bool ignore_nulls;        /* AGGREGATE, WINDOW */
    const tg_bwindow *window; /* WINDOW */
    tg_rel *rel;              /* SUBQUERY, EXISTS, IN_QUERY */
    bool negated;             /* EXISTS, IN_QUERY */
    const uint32_t *params;   /* LAMBDA */
    size_t param_count;
    size_t field_index; /* FIELD */
    const void *extra;  /* private to the function: what resolve() prepared for print() */
};

/* ---- relations ------------------------------------------------------------------------------- */

typedef enum tg_rel_kind {
    TG_R_SCAN,      /* table */
    TG_R_VALUES,    /* rows[i][j]; columns name them */
    TG_R_ONE_ROW,   /* no columns, one row: SELECT without FROM */
    TG_R_PROJECT,   /* exprs[i] gives columns[i] */
    TG_R_FILTER,    /* condition; columns as input */
    TG_R_JOIN,      /* left, right, join kind, condition; columns: left's then right's (semi, anti:
                       left's) */
    TG_R_AGGREGATE, /* groups gives columns[0..group_count), aggregates the rest */
    TG_R_WINDOW,    /* input's columns, then one per window expression */
    TG_R_SORT,
    TG_R_LIMIT, /* limit, offset: NULL or expressions without columns */
    TG_R_DISTINCT,
    TG_R_SET_OP /* left, right by position; columns are new */
} tg_rel_kind;

typedef enum tg_table_format {
    TG_FORMAT_DELTA,
    TG_FORMAT_PARQUET,
    TG_FORMAT_CSV,
    TG_FORMAT_JSON
} tg_table_format;
/* A table as the catalog knows it. The binder sees the schema only. */
typedef struct tg_table {
    tg_str name; /* full name in normal form: main.default.orders, or delta.`/path` */
    tg_table_format format;
    tg_str path; /* absolute folder, file or glob */
    tg_schema schema;
    const tg_str *partition_columns;
    size_t partition_count;
    int64_t version; /* DELTA: the version that is read; -1: the latest when the engine pins it */
    const tg_property *options; /* CSV, JSON: read options (header, sep, ...) */
    size_t option_count;
    bool needs_refresh; /* a streaming table that was never refreshed: it holds no answer yet */
    /*
     * What only programs of DML statements scan. let: the rows of the program's LET step of this
     * name; schema's fields are its columns by position. has_row_ids: behind the real columns come
     * BIGINT fields that tell the rows apart within this program: of a Delta table two (file, row in
     * the file), of a LET one.
     */
    tg_str let;
    bool has_row_ids;
    bool is_changes;      /* not its rows but what changed in them: table_changes() */
    int64_t changes_from; /* with is_changes: from this version to `version`, both included */
} tg_table;

struct tg_rel {
    tg_rel_kind kind;
    tg_span span;
    const tg_column *columns; /* output */
    size_t column_count;
    tg_rel *input, *right; /* JOIN, SET_OP: input is the left side */
    const tg_table *table; /* SCAN: columns[i] is table->schema.fields[scan_fields[i]] */
    const size_t *scan_fields;
    tg_bexpr ***rows; /* VALUES */
    size_t row_count;
    tg_bexpr **exprs; /* PROJECT; AGGREGATE: groups then aggregates; WINDOW: window
                         expressions */
    size_t expr_count;
    size_t group_count; /* AGGREGATE; 0 with is_global: one row always */
    bool is_global;
    tg_bexpr *condition; /* FILTER, JOIN (NULL: cross) */
    tg_join_kind join;
    tg_bsort *order_by; /* SORT */
    size_t order_count;
    tg_bexpr *limit, *offset; /* LIMIT */
    tg_set_op op;             /* SET_OP */
    bool all;
    bool drops_order; /* a subquery's ORDER BY stood here: its rows come in no order */
};

typedef struct tg_bound_query {
    tg_rel *rel;             /* output columns carry the result's names */
    const tg_table **tables; /* distinct tables read, in order of appearance */
    size_t table_count;
    bool has_time_function; /* a folded current_date() ... stood in it */
    bool is_deterministic;  /* false: rand(), uuid(), ... */
    bool
        depends_on_order; /* first(), row_number(), LIMIT, sums of doubles: see tg_sql_depends_on_order */
    bool uses_zone;       /* an expression depends on the session zone */
    /* the first of each kind, by name; NULL: none */
    const char *time_function, *random_function;
} tg_bound_query;

/* ---- binding --------------------------------------------------------------------------------- */

/* What a name means. Exactly one of table and view is set when found. */
typedef struct tg_resolved {
    const tg_table *table;
    const tg_query *view; /* expanded in place; its names resolve through the same resolver */
    tg_str view_name;     /* for cycles and messages */
    tg_str view_text;     /* source text of the view, for spans in errors */
    const char *view_file;
    const tg_zone *view_zone; /* NULL: the session's; another is refused where it would matter */
} tg_resolved;

/* The argument of event_log(): exactly one of pipeline and table is set. */
typedef struct tg_event_log_source {
    tg_str pipeline; /* id or name */
    const tg_name *table;
    tg_span span;
} tg_event_log_source;

/* The arguments of table_changes(); bounds are constants, not looked at. */
typedef struct tg_table_changes_source {
    tg_name name;
    const tg_expr *from, *to; /* to NULL: the latest version */
    tg_span span;
} tg_table_changes_source;

typedef struct tg_resolver {
    /* Errors: TABLE_OR_VIEW_NOT_FOUND with the nearest name, STREAM on a table ..., all with the
     * caller's span set by the binder. */
    tg_code (*resolve)(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err);
    /* What FROM event_log(...) reads, as a view; NULL: it cannot be read here. */
    tg_code (*event_log)(void *self, const tg_event_log_source *source, tg_arena *arena,
                         tg_resolved *out, tg_error *err);
    /* What FROM table_changes(...) reads: a table with is_changes; NULL: it cannot be read here. */
    tg_code (*table_changes)(void *self, const tg_table_changes_source *source, tg_arena *arena,
                             tg_resolved *out, tg_error *err);
    void *self;
} tg_resolver;

typedef struct tg_bind_options {
    const tg_resolver *resolver;
    int64_t now_us;      /* the clock of the update */
    const tg_zone *zone; /* session zone */
    bool in_flow;        /* refuses what flows may not hold (PIVOT, TABLESAMPLE, parameters) */
} tg_bind_options;

TG_CHECKED tg_code tg_sql_bind_query(const tg_query *query, const tg_bind_options *options,
                                     tg_arena *arena, tg_bound_query *out_query, tg_error *err);
/*
 * Binds a predicate over the columns of schema: expr's COLUMN ids are 1 + the index in schema. Must
 * be boolean (DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN), may not hold aggregates, windows or
 * subqueries. aliases: qualifiers that may stand before a column (`f.date`): names of the flow
 * query's relations.
 */
TG_CHECKED tg_code tg_sql_bind_predicate(const tg_expr *expr, tg_schema schema,
                                         const tg_str *aliases, size_t alias_count,
                                         const tg_bind_options *options, tg_arena *arena,
                                         tg_bexpr **out_expr, bool *out_has_time_function,
                                         bool *out_is_deterministic, tg_error *err);
/* The relation names and aliases in the outermost FROM of a query: what may qualify a predicate's
 * columns. */
void tg_sql_query_aliases(const tg_query *query, tg_arena *arena, tg_str **out_names,
                          size_t *out_count);
/* A scan of a table with all its columns in order; ids from first_id. */
tg_rel *tg_sql_scan(const tg_table *table, uint32_t first_id, tg_arena *arena);
/* The output schema of a bound relation as a table may take it: NULLs are allowed everywhere, as
 * later rows may hold them though these do not. Top-level names must be unique without regard to case
 * (COLUMN_ALREADY_EXISTS). */
TG_CHECKED tg_code tg_sql_output_schema(const tg_rel *rel, tg_arena *arena, tg_schema *out_schema,
                                        tg_error *err);

/* ---- rewriting and facts about bound trees --------------------------------------------------- */

/*
 * May two evaluations over the same rows give different answers, each right as a whole? Ties and
 * the order in which rows are met decide then. True unless surely not.
 */
bool tg_sql_depends_on_order(const tg_rel *rel);
/* Does it call rand(), uuid() or the like: another value for each row and each evaluation? */
bool tg_sql_bexpr_is_random(const tg_bexpr *expr);
/* A filter above rel. predicate's columns are 1 + output position (as tg_sql_bind_predicate gives);
 * they are rebased to rel's ids. */
tg_rel *tg_sql_filter_output(tg_rel *rel, const tg_bexpr *predicate, tg_arena *arena);
/*
 * Have structs at all levels their fields under the same names, in the same order? They are stored
 * field by field: what is stored by name would be mixed up else.
 */
bool tg_sql_same_field_names(const tg_type *from, const tg_type *to);
/* A projection of rel's output to a target schema by name: reorders, casts (Spark's store
 * assignment, ANSI), NULL for missing columns. */
TG_CHECKED tg_code tg_sql_project_by_name(tg_rel *rel, tg_schema target, tg_arena *arena,
                                          tg_rel **out_rel, tg_error *err);
/* One row with one column: how many rows rel has, as BIGINT. */
TG_CHECKED tg_code tg_sql_count_rows(tg_rel *rel, tg_arena *arena, tg_rel **out_rel, tg_error *err);
/* Folds constant parts in C where that is certain (literals, date and interval arithmetic, casts of
 * literals, comparisons, AND/OR/NOT). */
tg_bexpr *tg_sql_fold(tg_bexpr *expr, const tg_zone *zone, tg_arena *arena);
/* The region where a (bound, folded) predicate is TRUE: exact where boxes can say it, else opaque
 * conditions or an upper bound. */
tg_region tg_sql_region(const tg_bexpr *predicate, tg_schema schema, const tg_zone *zone,
                        tg_arena *arena);
/*
 * A region as a predicate: TRUE in just the rows of its boxes, NULL nowhere in a box. Its opaque
 * conditions must be such that tg_sql_region made. Instants are written with their zone, so that the
 * text means the same in every session.
 */
void tg_sql_print_region(tg_region region, tg_buf *out);
/*
 * Conditions that every row of a scan must meet to have any influence on the rows of rel that
 * satisfy its filters: for pruning files. Follows filters down through projections, inner joins
 * (also across equal keys), group keys, partition keys and set operations; the preserved side of
 * outer joins only. One region per SCAN node of the tree, in tg_sql_scans order.
 */
void tg_sql_scan_regions(const tg_rel *rel, const tg_zone *zone, tg_arena *arena,
                         tg_region **out_regions, size_t *out_count);
void tg_sql_scans(const tg_rel *rel, tg_arena *arena, const tg_rel ***out_scans, size_t *out_count);
/*
 * Canonical texts, the base of fingerprints: equal for trees of equal meaning as far as formatting
 * and aliases go. Columns are renumbered in order of first appearance.
 */
void tg_sql_canonical_rel(const tg_rel *rel, tg_buf *out);

/* ---- printing bound trees -------------------------------------------------------------------- */

/* A bound predicate over a schema (ids 1 + index) as Databricks SQL text that binds back to the
 * same tree: the folded predicate of states and messages. */
void tg_sql_print_predicate(const tg_bexpr *predicate, tg_schema schema, tg_buf *out);

/* SPARK: Spark SQL, names qualified by column numbers, types and casts explicit; it parses and binds
 * again (tg_sql_parse_query), so that tg_sql_print_query has its pretty form. */
typedef enum tg_dialect { TG_DIALECT_DUCKDB, TG_DIALECT_SPARK } tg_dialect;
typedef struct tg_print_options {
    tg_dialect dialect;
    /* Prints the FROM item of a scan so that it yields columns named as the table's fields, e.g.
       read_parquet([...], schema = ...). index counts the scans as tg_sql_scans does. */
    tg_code (*scan)(void *self, const tg_rel *scan, size_t index, tg_buf *out, tg_error *err);
    void *self;
    tg_str zone; /* session zone, for printing zone-dependent casts */
} tg_print_options;
/*
 * A whole query text. Result columns are named "c0", "c1", ... when numbered_output, else by their
 * names (which must be unique). What cannot be printed with Spark's meaning is an
 * UNSUPPORTED_FEATURE error that names the function and its span: never a guess.
 */
TG_CHECKED tg_code tg_sql_print_rel(const tg_rel *rel, const tg_print_options *options,
                                    bool numbered_output, tg_buf *out, tg_error *err);
/* One expression over columns that the caller names: column_text(self, id) appends the reference.
 */
TG_CHECKED tg_code tg_sql_print_bexpr(const tg_bexpr *expr, const tg_print_options *options,
                                      void (*column_text)(void *self, uint32_t id, tg_buf *out),
                                      void *self, tg_buf *out, tg_error *err);

#endif
