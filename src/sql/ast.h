/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree of Databricks SQL, as parsed: names are unresolved, nothing is typed but
 * literals.
 *
 * Ownership: all nodes live in the arena given to the parser; texts are copied into it, so a tree
 * outlives its source. Left-deep chains (a AND b AND c .., a UNION b UNION .., a JOIN b JOIN ..)
 * may be as long as the text allows: walk down args[0], left in a loop. All other nesting is
 * bounded by TG_LIMIT_EXPRESSION_DEPTH. Every node begins with a span into the source text.
 * Optional pointers are NULL when absent; lists are array + count. Forms of pipeline statements:
 * reference/databricks-semantics.md 1 and reference/anchors.md 3.4.
 */
#ifndef TG_SQL_AST_H
#define TG_SQL_AST_H

#include "data/data.h"

typedef struct tg_ident {
    tg_str text; /* without quotes */
    bool quoted;
    tg_span span;
} tg_ident;

/* a.b.c */
typedef struct tg_name {
    const tg_ident *parts;
    size_t count;
    tg_span span;
} tg_name;

typedef struct tg_expr tg_expr;
typedef struct tg_query tg_query;
typedef struct tg_relation tg_relation;

/* ---- expressions ----------------------------------------------------------------------------- */

typedef enum tg_expr_kind {
    TG_EXPR_LITERAL,  /* literal */
    TG_EXPR_NAME,     /* name: a column, or field access on one: resolved by the binder */
    TG_EXPR_STAR,     /* star: *, t.*, * EXCEPT (..), * REPLACE is not Spark */
    TG_EXPR_UNARY,    /* op, args[0] */
    TG_EXPR_BINARY,   /* op, args[0..1] */
    TG_EXPR_IS,       /* is, args[0] (and args[1] for DISTINCT FROM), negated */
    TG_EXPR_BETWEEN,  /* args[0] BETWEEN args[1] AND args[2], negated */
    TG_EXPR_IN_LIST,  /* args[0] IN (args[1..]), negated */
    TG_EXPR_IN_QUERY, /* args[0] IN (query), negated */
    TG_EXPR_EXISTS,   /* query */
    TG_EXPR_SUBQUERY, /* (query) as a value */
    TG_EXPR_LIKE,     /* like: args[0] LIKE args[1..], escape, quantifier, negated */
    TG_EXPR_CASE, /* args: [operand], when, then, when, then ..., [else]; see has_operand, has_else
                   */
    TG_EXPR_CAST, /* args[0], type; is_try for TRY_CAST; also a :: type */
    /*
     * call: functions, aggregates, window functions. Special syntax is turned into calls with the
     * arguments of Spark's functions: extract('FIELD', x), substring(s, pos, len), overlay(s,
     * replacement, pos, len), position(part, s), trim(s), btrim(s, chars), ltrim(chars, s),
     * rtrim(chars, s), collate(s, 'name'), dateadd('UNIT', n, t), datediff('UNIT', a, b) and their
     * aliases.
     */
    TG_EXPR_CALL,
    TG_EXPR_LAMBDA,    /* params -> args[0] */
    TG_EXPR_SUBSCRIPT, /* args[0][args[1]] */
    TG_EXPR_FIELD,     /* args[0].field */
    TG_EXPR_ROW,       /* (args[0], args[1], ...) with two or more */
    TG_EXPR_INTERVAL,  /* INTERVAL args[0] unit where args[0] is not a literal: unit text in
                          call.name; literal ones are LITERAL */
    TG_EXPR_PARAMETER, /* :name (field) or ? (field empty) */
    TG_EXPR_KIND_COUNT_
} tg_expr_kind;

typedef enum tg_op {
    TG_OP_NEGATE,
    TG_OP_PLUS,
    TG_OP_NOT,
    TG_OP_BIT_NOT, /* unary */
    TG_OP_ADD,
    TG_OP_SUB,
    TG_OP_MUL,
    TG_OP_DIV,
    TG_OP_MOD,
    TG_OP_INT_DIV /* DIV */,
    TG_OP_CONCAT,
    TG_OP_BIT_AND,
    TG_OP_BIT_OR,
    TG_OP_BIT_XOR,
    TG_OP_SHIFT_LEFT,
    TG_OP_SHIFT_RIGHT,
    TG_OP_SHIFT_RIGHT_UNSIGNED,
    TG_OP_EQ,
    TG_OP_NE,
    TG_OP_LT,
    TG_OP_LE,
    TG_OP_GT,
    TG_OP_GE,
    TG_OP_EQ_NULL_SAFE, /* <=> */
    TG_OP_AND,
    TG_OP_OR
} tg_op;

typedef enum tg_is_kind {
    TG_IS_NULL,
    TG_IS_TRUE,
    TG_IS_FALSE,
    TG_IS_UNKNOWN,
    TG_IS_DISTINCT_FROM
} tg_is_kind;
typedef enum tg_like_kind { TG_LIKE, TG_ILIKE, TG_RLIKE } tg_like_kind;
typedef enum tg_quantifier {
    TG_QUANT_NONE,
    TG_QUANT_ANY /* and SOME */,
    TG_QUANT_ALL
} tg_quantifier;

typedef enum tg_nulls_order { TG_NULLS_DEFAULT, TG_NULLS_FIRST, TG_NULLS_LAST } tg_nulls_order;
typedef struct tg_sort_item {
    tg_expr *expr;
    bool descending;
    tg_nulls_order nulls; /* default: first ascending, last descending */
    tg_span span;
} tg_sort_item;

typedef enum tg_frame_unit { TG_FRAME_NONE, TG_FRAME_ROWS, TG_FRAME_RANGE } tg_frame_unit;
typedef enum tg_frame_bound_kind {
    TG_BOUND_UNBOUNDED_PRECEDING,
    TG_BOUND_PRECEDING,
    TG_BOUND_CURRENT_ROW,
    TG_BOUND_FOLLOWING,
    TG_BOUND_UNBOUNDED_FOLLOWING
} tg_frame_bound_kind;
typedef struct tg_frame_bound {
    tg_frame_bound_kind kind;
    tg_expr *offset; /* PRECEDING, FOLLOWING */
} tg_frame_bound;

typedef struct tg_window_spec {
    tg_span span;
    tg_ident base; /* OVER w or OVER (w ...): name of a WINDOW clause; empty text: none */
    tg_expr **partition_by;
    size_t partition_count;
    tg_sort_item *order_by;
    size_t order_count;
    tg_frame_unit frame;
    tg_frame_bound frame_start, frame_end;
} tg_window_spec;

typedef struct tg_named_window {
    tg_ident name;
    tg_window_spec *spec;
} tg_named_window;

typedef struct tg_call {
    tg_name name; /* as written; "extract", "trim", ... for special syntax */
    bool distinct;
    bool star;       /* count(*) */
    bool no_parens;  /* CURRENT_DATE without parentheses */
    tg_expr *filter; /* FILTER (WHERE ..) */
    tg_sort_item *within_group;
    size_t within_group_count;
    bool ignore_nulls, respect_nulls;
    tg_window_spec *over;        /* NULL: not a window call */
    const tg_ident *arg_names;   /* per argument the name of `name => value`, empty text when
                                    positional; NULL: all positional */
    const tg_ident *arg_aliases; /* struct(a AS x): per argument its alias, empty text: none; NULL:
                                    no alias at all. (a AS x, b) is such a call too */
} tg_call;

struct tg_expr {
    tg_expr_kind kind;
    tg_span span;
    tg_expr **args;
    size_t arg_count;
    tg_value literal;           /* LITERAL */
    tg_name name;               /* NAME, STAR qualifier */
    tg_op op;                   /* UNARY, BINARY */
    bool negated;               /* IS, BETWEEN, IN, LIKE, EXISTS */
    bool has_operand, has_else; /* CASE */
    bool is_try;                /* CAST */
    bool is_typed_literal; /* CAST of a string literal: TIMESTAMP'..' without a zone (the session's
                              zone counts), DATE'today' */
    tg_is_kind is;
    tg_like_kind like;
    tg_quantifier quantifier; /* LIKE ANY/ALL */
    tg_expr *escape;          /* LIKE */
    const tg_type *type;      /* CAST */
    tg_query *query;          /* IN_QUERY, EXISTS, SUBQUERY */
    tg_call *call;            /* CALL; for INTERVAL only call->name (the unit) */
    tg_ident field;           /* FIELD, PARAMETER */
    const tg_ident *params;   /* LAMBDA */
    size_t param_count;
    const tg_name *except; /* STAR */
    size_t except_count;
};

/* ---- queries --------------------------------------------------------------------------------- */

typedef struct tg_select_item {
    tg_expr *expr;
    tg_ident alias;          /* empty text: none */
    const tg_ident *aliases; /* explode(m) AS (k, v): several names for the columns of a generator;
                                alias is empty then */
    size_t alias_count;
} tg_select_item;

typedef enum tg_join_kind {
    TG_JOIN_INNER,
    TG_JOIN_CROSS,
    TG_JOIN_LEFT,
    TG_JOIN_RIGHT,
    TG_JOIN_FULL,
    TG_JOIN_LEFT_SEMI,
    TG_JOIN_LEFT_ANTI
} tg_join_kind;

typedef enum tg_relation_kind {
    TG_REL_TABLE, /* name [VERSION AS OF v | TIMESTAMP AS OF t]; path tables are names of two parts:
                     format.`path` */
    TG_REL_QUERY, /* (query) */
    TG_REL_VALUES,   /* VALUES rows */
    TG_REL_FUNCTION, /* table function: call */
    TG_REL_JOIN,
    TG_REL_PIVOT, /* parsed and refused by the binder */
    TG_REL_UNPIVOT
} tg_relation_kind;

struct tg_relation {
    tg_relation_kind kind;
    tg_span span;
    tg_ident alias; /* empty text: none */
    const tg_ident *column_aliases;
    size_t column_alias_count;
    bool is_stream;               /* STREAM t, STREAM(t), STREAM read_files(..) */
    tg_name name;                 /* TABLE */
    tg_expr *version, *timestamp; /* TABLE: time travel */
    bool has_sample;              /* TABLESAMPLE: parsed and refused */
    tg_str clause_text;           /* behind PIVOT, UNPIVOT, TABLESAMPLE, as written */
    tg_property *options;         /* STREAM t WITH (key = value, ..) */
    size_t option_count;
    tg_query *query;   /* QUERY, VALUES (a query whose body is VALUES) */
    tg_expr *call;     /* FUNCTION: an expression of kind CALL */
    bool lateral;      /* LATERAL (query), LATERAL f(..) */
    tg_join_kind join; /* JOIN */
    bool natural;
    tg_relation *left, *right; /* JOIN; PIVOT and UNPIVOT: left */
    tg_expr *on;
    const tg_ident *using_columns;
    size_t using_count;
};

typedef struct tg_lateral_view {
    tg_span span;
    bool outer;
    tg_expr *call; /* generator */
    tg_ident table_alias;
    const tg_ident *column_aliases;
    size_t column_alias_count;
} tg_lateral_view;

/*
 * ROLLUP, CUBE, SETS: each element of group_by is an expression or, for a set in parentheses, a ROW
 * of any number of columns. MIXED: several of them, or some beside plain expressions; those
 * elements are CALLs named rollup, cube, grouping sets.
 */
typedef enum tg_group_kind {
    TG_GROUP_NONE,
    TG_GROUP_EXPRS,
    TG_GROUP_ALL,
    TG_GROUP_ROLLUP,
    TG_GROUP_CUBE,
    TG_GROUP_SETS,
    TG_GROUP_MIXED
} tg_group_kind;

typedef struct tg_select {
    tg_span span;
    bool distinct;
    tg_select_item *items;
    size_t item_count;
    tg_relation *from; /* NULL: no FROM; a comma list is a tree of cross joins */
    tg_lateral_view *lateral_views;
    size_t lateral_view_count;
    tg_expr *where;
    tg_group_kind group_kind;
    tg_expr **group_by;
    size_t group_count;
    tg_expr *having;
    tg_expr *qualify;
    tg_named_window *windows;
    size_t window_count;
} tg_select;

typedef enum tg_set_op { TG_UNION, TG_INTERSECT, TG_EXCEPT /* and MINUS */ } tg_set_op;
typedef enum tg_body_kind {
    TG_BODY_SELECT,
    TG_BODY_VALUES,
    TG_BODY_SET_OP,
    TG_BODY_QUERY /* parenthesised, with its own WITH/ORDER */,
    TG_BODY_TABLE
} tg_body_kind;

typedef struct tg_query_body tg_query_body;
struct tg_query_body {
    tg_body_kind kind;
    tg_span span;
    tg_select *select;
    tg_expr ***rows; /* VALUES: rows[i][j]; a row without parentheses has one column */
    size_t row_count;
    size_t *row_lens;
    tg_set_op op;
    bool all;
    tg_query_body *left, *right;
    tg_query *query;
    tg_name table;
};

typedef struct tg_cte {
    tg_ident name;
    const tg_ident *column_aliases;
    size_t column_alias_count;
    tg_query *query;
} tg_cte;

struct tg_query {
    tg_span span;
    bool recursive;
    tg_cte *ctes;
    size_t cte_count;
    tg_query_body *body;
    tg_sort_item *order_by;
    size_t order_count;
    bool is_sort_by; /* SORT BY / CLUSTER BY / DISTRIBUTE BY: accepted, no meaning for rows */
    tg_expr *limit;  /* NULL: none or LIMIT ALL */
    tg_expr *offset;
};

/* ---- statements ------------------------------------------------------------------------------ */

typedef struct tg_column_def {
    tg_ident name;
    const tg_type *type; /* NULL: not given (views) */
    bool not_null;
    tg_str comment;
    tg_expr *default_value, *generated; /* parsed; refused when built */
    tg_str identity, mask; /* GENERATED .. AS IDENTITY .., MASK ..: as written, empty: none */
    tg_span span;
} tg_column_def;

typedef enum tg_violation { TG_VIOLATION_WARN, TG_VIOLATION_DROP, TG_VIOLATION_FAIL } tg_violation;
typedef struct tg_constraint {
    enum {
        TG_CONSTRAINT_EXPECT,
        TG_CONSTRAINT_PRIMARY_KEY,
        TG_CONSTRAINT_FOREIGN_KEY,
        TG_CONSTRAINT_CHECK
    } kind;
    tg_ident name; /* empty text: none */
    tg_expr *expect;
    tg_str expect_text;
    tg_violation on_violation;
    const tg_ident *columns;
    size_t column_count;
    tg_str text; /* as written */
    tg_span span;
} tg_constraint;

typedef enum tg_flow_kind {
    TG_FLOW_COMPLETE, /* materialized view */
    TG_FLOW_APPEND,   /* AS query, INSERT BY NAME */
    TG_FLOW_ONCE,     /* INSERT ONCE */
    TG_FLOW_REPLACE_WHERE,
    TG_FLOW_REPLACE_USING,
    TG_FLOW_AUTO_CDC,
    TG_FLOW_AUTO_CDC_FROM_SNAPSHOT
} tg_flow_kind;
/* "REPLACE WHERE", "AUTO CDC", ... for messages; "REPLACE_WHERE" for events. */
const char *tg_flow_kind_name(tg_flow_kind kind);
const char *tg_flow_kind_event_name(tg_flow_kind kind);

typedef struct tg_flow_spec {
    tg_flow_kind kind;
    tg_span span;
    tg_expr *predicate;    /* REPLACE WHERE */
    tg_str predicate_text; /* as written */
    const tg_ident *keys;  /* REPLACE USING, AUTO CDC */
    size_t key_count;
    tg_expr *sequence_by;
    tg_query *query;         /* NULL for AUTO CDC FROM name */
    tg_str query_text;       /* as written */
    tg_relation *cdc_source; /* AUTO CDC */
    tg_query *version_query; /* AUTO CDC FROM SNAPSHOT (query) WITH VERSION (version_query) */
    bool once;               /* INSERT ONCE, AUTO CDC ONCE */
    /* the clauses of AUTO CDC behind KEYS (..) are parsed for syntax and kept as text */
    tg_str cdc_text;
} tg_flow_spec;

/* Schedules are parsed for syntax; text as written, empty: none. */
typedef struct tg_dataset_clauses {
    tg_property *properties;
    size_t property_count;
    tg_str comment;
    const tg_ident *partition_by;
    size_t partition_count;
    tg_expr **cluster_by;
    size_t cluster_count;
    bool cluster_auto;
    tg_str using_format;  /* USING delta */
    tg_property *options; /* OPTIONS (..) of a table */
    size_t option_count;
    tg_str location;
    tg_str schedule;
    tg_str refresh_policy;
    tg_str row_filter; /* WITH ROW FILTER ..: as written */
    tg_str collation;  /* DEFAULT COLLATION */
    tg_span row_filter_span, schedule_span;
} tg_dataset_clauses;

typedef enum tg_stmt_kind {
    TG_STMT_QUERY,                    /* query */
    TG_STMT_CREATE_STREAMING_TABLE,   /* dataset */
    TG_STMT_CREATE_MATERIALIZED_VIEW, /* dataset */
    TG_STMT_CREATE_VIEW,              /* dataset: persisted or temporary view */
    TG_STMT_CREATE_FLOW,              /* flow_name, target, flow */
    TG_STMT_CREATE_TABLE,             /* dataset: CREATE TABLE [AS] */
    TG_STMT_CREATE_SCHEMA,            /* name */
    TG_STMT_INSERT,                   /* insert */
    TG_STMT_DELETE,                   /* name, where */
    TG_STMT_UPDATE,                   /* name; set, where */
    TG_STMT_MERGE,                    /* name, source, where (ON), merge_clauses */
    TG_STMT_SET,                      /* key, value */
    TG_STMT_USE_CATALOG,              /* name */
    TG_STMT_USE_SCHEMA,               /* name */
    TG_STMT_SHOW_TABLES,              /* name: optional schema; pattern */
    TG_STMT_SHOW_VIEWS,               /* the same */
    TG_STMT_SHOW_SCHEMAS,
    TG_STMT_SHOW_COLUMNS,       /* name */
    TG_STMT_SHOW_TBLPROPERTIES, /* name */
    TG_STMT_SHOW_CREATE_TABLE,  /* name */
    TG_STMT_SHOW_PARTITIONS,    /* name */
    TG_STMT_DESCRIBE,           /* name; describe_kind */
    TG_STMT_DROP,               /* name; drop_what */
    TG_STMT_REFRESH,            /* name, full, where, async */
    TG_STMT_EXPLAIN,            /* inner */
    TG_STMT_ALTER,              /* name; command (TABLE), alter (schedules); rest as text */
    TG_STMT_COMMENT_ON,         /* object_word: TABLE or COLUMN; name, command; rest as text */
    TG_STMT_RESTORE,            /* name; restore_version or restore_timestamp, rest as text */
    TG_STMT_OPTIMIZE,           /* name, where, command; rest as text */
    TG_STMT_VACUUM,             /* name, command; rest as text */
    TG_STMT_OTHER /* known statement that tidegate does not run (GRANT, CACHE, ...): refused by its
                     words */
} tg_stmt_kind;

typedef enum tg_insert_mode {
    TG_INSERT_INTO,
    TG_INSERT_OVERWRITE,
    TG_INSERT_REPLACE_WHERE,
    TG_INSERT_REPLACE_USING,
    TG_INSERT_REPLACE_ON
} tg_insert_mode;
typedef enum tg_describe_kind {
    TG_DESCRIBE_TABLE,
    TG_DESCRIBE_EXTENDED,
    TG_DESCRIBE_DETAIL,
    TG_DESCRIBE_HISTORY,
    TG_DESCRIBE_QUERY,
    TG_DESCRIBE_FUNCTION
} tg_describe_kind;

/* What an ALTER asks for, as far as it is taken apart. */
typedef enum tg_alter_kind {
    TG_ALTER_OTHER, /* rest says it */
    TG_ALTER_ADD_SCHEDULE,
    TG_ALTER_CHANGE_SCHEDULE, /* both: clauses.schedule */
    TG_ALTER_DROP_SCHEDULE
} tg_alter_kind;

/* column = value */
typedef struct tg_assignment {
    tg_name column;
    tg_expr *value;
} tg_assignment;

/* PARTITION (column = value, column) of an INSERT; value NULL: the query gives it. */
typedef struct tg_partition_item {
    tg_ident column;
    tg_expr *value;
} tg_partition_item;

typedef enum tg_merge_when {
    TG_MERGE_MATCHED,
    TG_MERGE_NOT_MATCHED, /* BY TARGET */
    TG_MERGE_NOT_MATCHED_BY_SOURCE
} tg_merge_when;
typedef enum tg_merge_action { TG_MERGE_UPDATE, TG_MERGE_DELETE, TG_MERGE_INSERT } tg_merge_action;

typedef struct tg_merge_clause {
    tg_span span;
    tg_merge_when when;
    tg_expr *condition; /* NULL: always */
    tg_merge_action action;
    bool star;                  /* UPDATE SET *, INSERT * */
    tg_assignment *assignments; /* UPDATE, INSERT (columns) VALUES (values) */
    size_t assignment_count;
} tg_merge_clause;

/* ---- what ALTER TABLE, COMMENT ON, OPTIMIZE, VACUUM and the like say ---------------------------- */

typedef enum tg_table_action {
    TG_TABLE_OTHER, /* refused: rest says it */
    TG_TABLE_SET_PROPERTIES,
    TG_TABLE_UNSET_PROPERTIES,
    TG_TABLE_ADD_COLUMNS,
    TG_TABLE_CHANGE_COLUMN,
    TG_TABLE_RENAME_COLUMN,
    TG_TABLE_DROP_COLUMNS,
    TG_TABLE_ADD_CONSTRAINT,
    TG_TABLE_DROP_CONSTRAINT,
    TG_TABLE_DROP_FEATURE,
    TG_TABLE_CLUSTER_BY, /* columns; none: CLUSTER BY NONE */
    TG_TABLE_COMMENT     /* COMMENT ON TABLE, COMMENT ON COLUMN */
} tg_table_action;

typedef enum tg_column_change_kind {
    TG_COLUMN_ADD,
    TG_COLUMN_COMMENT,
    TG_COLUMN_SET_NOT_NULL,
    TG_COLUMN_DROP_NOT_NULL,
    TG_COLUMN_TYPE,
    TG_COLUMN_DEFAULT, /* SET and DROP: refused when run */
    TG_COLUMN_MOVE,
    TG_COLUMN_RENAME,
    TG_COLUMN_DROP
} tg_column_change_kind;

typedef struct tg_column_change {
    tg_column_change_kind kind;
    tg_name column; /* a.b: a field of a struct */
    const tg_type *type;
    bool not_null;
    tg_str comment;
    bool is_first;  /* FIRST */
    tg_ident after; /* AFTER column; empty: none */
    tg_ident to;    /* RENAME COLUMN ... TO */
    tg_span span;
} tg_column_change;

typedef struct tg_table_command {
    tg_table_action action;
    const tg_property *properties; /* SET, UNSET TBLPROPERTIES */
    size_t property_count;
    bool if_exists;
    const tg_column_change *columns;
    size_t column_count;
    tg_ident constraint; /* ADD, DROP CONSTRAINT; DROP FEATURE */
    tg_expr *check;
    tg_str check_text;     /* without the parentheses around it */
    const tg_ident *names; /* CLUSTER BY, ZORDER BY */
    size_t name_count;
    tg_str comment;
    bool has_retain; /* VACUUM ... RETAIN n HOURS */
    double retain_hours;
    tg_span retain_span;
    bool dry_run;
    int64_t limit;                  /* DESCRIBE HISTORY; -1: none */
    const tg_assignment *partition; /* SHOW PARTITIONS ... PARTITION (column = value, ...) */
    size_t partition_count;
} tg_table_command;

typedef struct tg_stmt {
    tg_stmt_kind kind;
    tg_span span; /* without the semicolon */
    tg_str text;  /* source text of the statement */
    bool or_refresh, or_replace, if_not_exists, is_private, is_temporary, if_exists;
    bool cascade;   /* DROP SCHEMA .. CASCADE */
    tg_name name;   /* the object: dataset, table, view, schema, flow's name for CREATE FLOW */
    tg_name target; /* CREATE FLOW: target dataset */
    tg_column_def *columns;
    size_t column_count;
    tg_constraint *constraints;
    size_t constraint_count;
    tg_dataset_clauses clauses;
    tg_flow_spec *flow; /* streaming tables with AS or FLOW, materialized views (COMPLETE), CREATE
                           FLOW; NULL: none */
    tg_query *query;    /* QUERY, CREATE VIEW / TABLE AS, INSERT source, DESCRIBE QUERY */
    tg_str query_text;  /* as written */
    tg_insert_mode insert_mode;
    bool by_name, schema_evolution;
    const tg_ident *insert_columns;
    size_t insert_column_count;
    const tg_partition_item *partition; /* INSERT ... PARTITION */
    size_t partition_count;
    tg_expr *where; /* DELETE, UPDATE, REPLACE WHERE, REPLACE ON, REFRESH ... WHERE, MERGE ... ON */
    tg_str where_text;
    tg_ident table_alias;
    tg_ident source_alias;      /* REPLACE ON: of the query */
    tg_assignment *assignments; /* UPDATE */
    size_t assignment_count;
    tg_relation *source; /* MERGE ... USING */
    const tg_merge_clause *merge_clauses;
    size_t merge_clause_count;
    tg_str key, value;                            /* SET */
    tg_expr *restore_version, *restore_timestamp; /* RESTORE: one of the two */
    bool full, async;
    tg_describe_kind describe;
    tg_alter_kind alter;
    const tg_table_command *command; /* what `rest` says; NULL: nothing, or not taken apart */
    tg_str object_word;    /* DROP, REFRESH, ALTER TABLE|VIEW|SCHEMA|STREAMING TABLE|..., words of
                           OTHER, level of EXPLAIN; upper case */
    tg_str rest;           /* as written, what is behind the name: ALTER, OPTIMIZE, VACUUM, OTHER,
                    ends of SHOW and DESCRIBE */
    tg_str pattern;        /* SHOW ... LIKE */
    struct tg_stmt *inner; /* EXPLAIN */
} tg_stmt;

#endif
