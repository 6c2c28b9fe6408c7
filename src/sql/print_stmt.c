/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements as Databricks SQL in a normal form: clauses in one order, texts that the parser did
 * not take apart as they were written. Older spellings (LIVE TABLE, APPLY CHANGES) print as today's.
 */
#include "sql/print_int.h"
#include "sql/sql.h"

static void add(tg_printer *p, const char *text)
{
    tg_buf_addz(p->out, text);
}

/* " text" unless empty. */
static void add_behind(tg_printer *p, tg_str text)
{
    if (text.len > 0) {
        add(p, " ");
        tg_buf_adds(p->out, text);
    }
}

static void clause(tg_printer *p, const char *words)
{
    tg_printer_clause(p);
    add(p, words);
}

static void string_clause(tg_printer *p, const char *words, tg_str text)
{
    if (text.len > 0) {
        clause(p, words);
        tg_printer_string(p, text);
    }
}

/* A clause that was kept as text. */
static void text_clause(tg_printer *p, tg_str text)
{
    if (text.len > 0) {
        tg_printer_clause(p);
        tg_buf_adds(p->out, text);
    }
}

static void ident_clause(tg_printer *p, const char *words, tg_str name)
{
    if (name.len > 0) {
        clause(p, words);
        tg_sql_print_ident(name, p->out);
    }
}

static void query_clause(tg_printer *p, const tg_query *query)
{
    tg_printer_clause(p);
    tg_printer_query(p, query);
}

/* ---- columns and constraints ----------------------------------------------------------------- */

static void print_column(tg_printer *p, const tg_column_def *column)
{
    tg_sql_print_ident(column->name.text, p->out);
    if (column->type) {
        add(p, " ");
        tg_printer_type(p, column->type);
    }
    add(p, column->not_null ? " NOT NULL" : "");
    if (column->comment.len > 0) {
        add(p, " COMMENT ");
        tg_printer_string(p, column->comment);
    }
    if (column->default_value) {
        add(p, " DEFAULT ");
        tg_printer_expr(p, column->default_value, 0);
    }
    if (column->generated) {
        add(p, " GENERATED ALWAYS AS (");
        tg_printer_expr(p, column->generated, 0);
        add(p, ")");
    }
    add_behind(p, column->identity);
    add_behind(p, column->mask);
}

static void print_constraint(tg_printer *p, const tg_constraint *constraint)
{
    if (constraint->kind != TG_CONSTRAINT_EXPECT) {
        tg_buf_adds(p->out, constraint->text);
        return;
    }
    add(p, "CONSTRAINT ");
    tg_sql_print_ident(constraint->name.text, p->out);
    add(p, " EXPECT (");
    tg_printer_expr(p, constraint->expect, 0);
    add(p, ")");
    add(p, constraint->on_violation == TG_VIOLATION_DROP   ? " ON VIOLATION DROP ROW"
           : constraint->on_violation == TG_VIOLATION_FAIL ? " ON VIOLATION FAIL UPDATE"
                                                           : "");
}

static void print_columns(tg_printer *p, const tg_stmt *stmt)
{
    size_t count = stmt->column_count + stmt->constraint_count;
    if (count == 0) {
        return;
    }
    add(p, " (");
    p->indent++;
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? "," : "");
        if (p->pretty || i > 0) {
            tg_printer_clause(p);
        }
        if (i < stmt->column_count) {
            print_column(p, &stmt->columns[i]);
        } else {
            print_constraint(p, &stmt->constraints[i - stmt->column_count]);
        }
    }
    p->indent--;
    if (p->pretty) {
        tg_printer_clause(p);
    }
    add(p, ")");
}

static void print_clauses(tg_printer *p, const tg_dataset_clauses *clauses)
{
    ident_clause(p, "USING ", clauses->using_format);
    if (clauses->option_count > 0) {
        clause(p, "OPTIONS ");
        tg_printer_properties(p, clauses->options, clauses->option_count);
    }
    if (clauses->partition_count > 0) {
        clause(p, "PARTITIONED BY ");
        tg_printer_idents(p, clauses->partition_by, clauses->partition_count);
    }
    if (clauses->cluster_auto || clauses->cluster_count > 0) {
        clause(p, clauses->cluster_auto ? "CLUSTER BY AUTO" : "CLUSTER BY (");
        tg_printer_exprs(p, clauses->cluster_by, clauses->cluster_count);
        add(p, clauses->cluster_auto ? "" : ")");
    }
    string_clause(p, "LOCATION ", clauses->location);
    string_clause(p, "COMMENT ", clauses->comment);
    ident_clause(p, "DEFAULT COLLATION ", clauses->collation);
    if (clauses->property_count > 0) {
        clause(p, "TBLPROPERTIES ");
        tg_printer_properties(p, clauses->properties, clauses->property_count);
    }
    text_clause(p, clauses->schedule);
    if (tg_str_eq(clauses->refresh_policy, TG_S("INCREMENTAL STRICT"))) {
        clause(p, "REFRESH POLICY INCREMENTAL STRICT");
    } else {
        ident_clause(p, "REFRESH POLICY ", clauses->refresh_policy);
    }
    text_clause(p, clauses->row_filter);
}

/* ---- flows ----------------------------------------------------------------------------------- */

/* REPLACE WHERE ..., REPLACE USING ...; a query in parentheses behind a name would make it a call. */
static void print_replace(tg_printer *p, const tg_flow_spec *flow)
{
    if (flow->kind == TG_FLOW_REPLACE_WHERE) {
        add(p, "REPLACE WHERE ");
        tg_printer_expr(p, flow->predicate, tg_printer_is_open(flow->query) ? TG_LEVEL_PAREN : 0);
    } else {
        add(p, "REPLACE USING ");
        tg_printer_idents(p, flow->keys, flow->key_count);
        add(p, " SEQUENCE BY ");
        tg_printer_expr(p, flow->sequence_by,
                        tg_printer_is_open(flow->query) ? TG_LEVEL_PAREN : TG_LEVEL_COMPARE);
    }
}

static bool is_plain_source(const tg_relation *source)
{
    bool is_source = source->kind == TG_REL_TABLE || source->kind == TG_REL_FUNCTION ||
                     source->kind == TG_REL_QUERY;
    return is_source && source->alias.text.len == 0 && source->column_alias_count == 0 &&
           !source->has_sample && !source->lateral;
}

static void print_cdc(tg_printer *p, const tg_flow_spec *flow)
{
    clause(p, "FROM ");
    if (flow->kind == TG_FLOW_AUTO_CDC_FROM_SNAPSHOT) {
        add(p, "SNAPSHOT (");
        tg_printer_query(p, flow->query);
        add(p, ")");
        if (flow->version_query) {
            add(p, " WITH VERSION (");
            tg_printer_query(p, flow->version_query);
            add(p, ")");
        }
    } else {
        bool is_plain = is_plain_source(flow->cdc_source);
        add(p, is_plain ? "" : "(");
        tg_printer_relation(p, flow->cdc_source);
        add(p, is_plain ? "" : ")");
    }
    clause(p, "KEYS ");
    tg_printer_idents(p, flow->keys, flow->key_count);
    text_clause(p, flow->cdc_text);
}

static bool is_replace(const tg_flow_spec *flow)
{
    return flow->kind == TG_FLOW_REPLACE_WHERE || flow->kind == TG_FLOW_REPLACE_USING;
}

static bool is_cdc(const tg_flow_spec *flow)
{
    return flow->kind == TG_FLOW_AUTO_CDC || flow->kind == TG_FLOW_AUTO_CDC_FROM_SNAPSHOT;
}

/* The body of a dataset: AS query or FLOW ... */
static void print_inline_flow(tg_printer *p, const tg_flow_spec *flow)
{
    if (flow->kind == TG_FLOW_COMPLETE || flow->kind == TG_FLOW_APPEND) {
        clause(p, "AS");
        query_clause(p, flow->query);
        return;
    }
    clause(p, "FLOW ");
    if (is_cdc(flow)) {
        add(p, flow->once ? "AUTO CDC ONCE" : "AUTO CDC");
        print_cdc(p, flow);
        return;
    }
    if (is_replace(flow)) {
        print_replace(p, flow);
    } else {
        add(p, "INSERT ONCE");
    }
    add(p, " BY NAME");
    query_clause(p, flow->query);
}

static void print_create_flow(tg_printer *p, const tg_stmt *stmt)
{
    const tg_flow_spec *flow = stmt->flow;
    add(p, "CREATE FLOW ");
    tg_printer_name(p, &stmt->name);
    string_clause(p, "COMMENT ", stmt->clauses.comment);
    clause(p, is_cdc(flow) ? "AS AUTO CDC " : "AS INSERT ");
    add(p, flow->once ? "ONCE INTO " : "INTO ");
    tg_printer_name(p, &stmt->target);
    if (is_cdc(flow)) {
        print_cdc(p, flow);
        return;
    }
    add(p, " BY NAME");
    if (is_replace(flow)) {
        tg_printer_clause(p);
        print_replace(p, flow);
    }
    query_clause(p, flow->query);
}

/* ---- CREATE ---------------------------------------------------------------------------------- */

static void print_modifiers(tg_printer *p, const tg_stmt *stmt)
{
    add(p, stmt->or_refresh   ? "CREATE OR REFRESH "
           : stmt->or_replace ? "CREATE OR REPLACE "
                              : "CREATE ");
    add(p, stmt->is_private ? "PRIVATE " : stmt->is_temporary ? "TEMPORARY " : "");
}

static void print_create(tg_printer *p, const tg_stmt *stmt, const char *what)
{
    print_modifiers(p, stmt);
    add(p, what);
    add(p, stmt->if_not_exists ? " IF NOT EXISTS " : " ");
    tg_printer_name(p, &stmt->name);
    print_columns(p, stmt);
    print_clauses(p, &stmt->clauses);
    if (stmt->flow) {
        print_inline_flow(p, stmt->flow);
    } else if (stmt->query) {
        clause(p, "AS");
        query_clause(p, stmt->query);
    }
}

/* ---- DML ------------------------------------------------------------------------------------- */

static void print_where(tg_printer *p, const tg_stmt *stmt)
{
    if (stmt->where) {
        clause(p, "WHERE ");
        tg_printer_expr(p, stmt->where, 0);
    }
}

static void print_partition(tg_printer *p, const tg_stmt *stmt)
{
    for (size_t i = 0; i < stmt->partition_count; i++) {
        add(p, i > 0 ? ", " : " PARTITION (");
        tg_sql_print_ident(stmt->partition[i].column.text, p->out);
        if (stmt->partition[i].value) {
            add(p, " = ");
            tg_printer_expr(p, stmt->partition[i].value, 0);
        }
    }
    add(p, stmt->partition_count > 0 ? ")" : "");
}

static void print_table_alias(tg_printer *p, const tg_stmt *stmt)
{
    tg_printer_name(p, &stmt->name);
    if (stmt->table_alias.text.len > 0) {
        add(p, " AS ");
        tg_sql_print_ident(stmt->table_alias.text, p->out);
    }
}

static void print_insert(tg_printer *p, const tg_stmt *stmt)
{
    add(p, stmt->schema_evolution ? "INSERT WITH SCHEMA EVOLUTION " : "INSERT ");
    add(p, stmt->insert_mode == TG_INSERT_OVERWRITE ? "OVERWRITE TABLE " : "INTO ");
    tg_printer_name(p, &stmt->name);
    print_partition(p, stmt);
    if (stmt->table_alias.text.len > 0) {
        add(p, " AS ");
        tg_sql_print_ident(stmt->table_alias.text, p->out);
    }
    bool is_using = stmt->insert_mode == TG_INSERT_REPLACE_USING;
    if (stmt->insert_column_count > 0 && !is_using) {
        add(p, " ");
        tg_printer_idents(p, stmt->insert_columns, stmt->insert_column_count);
    }
    add(p, stmt->by_name ? " BY NAME" : "");
    bool is_named = stmt->source_alias.text.len > 0;
    if (is_using) {
        clause(p, "REPLACE USING ");
        tg_printer_idents(p, stmt->insert_columns, stmt->insert_column_count);
    } else if (stmt->where) {
        clause(p, stmt->insert_mode == TG_INSERT_REPLACE_ON ? "REPLACE ON " : "REPLACE WHERE ");
        tg_printer_expr(p, stmt->where,
                        is_named || tg_printer_is_open(stmt->query) ? TG_LEVEL_PAREN : 0);
    }
    query_clause(p, stmt->query);
    if (is_named) {
        add(p, " AS ");
        tg_sql_print_ident(stmt->source_alias.text, p->out);
    }
}

static void print_delete(tg_printer *p, const tg_stmt *stmt)
{
    add(p, "DELETE FROM ");
    print_table_alias(p, stmt);
    print_where(p, stmt);
}

static void print_assignments(tg_printer *p, const tg_assignment *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add(p, i > 0 ? ", " : "");
        tg_printer_name(p, &items[i].column);
        add(p, " = ");
        tg_printer_expr(p, items[i].value, 0);
    }
}

static void print_update(tg_printer *p, const tg_stmt *stmt)
{
    add(p, "UPDATE ");
    print_table_alias(p, stmt);
    clause(p, "SET ");
    print_assignments(p, stmt->assignments, stmt->assignment_count);
    print_where(p, stmt);
}

static void print_merge_insert(tg_printer *p, const tg_merge_clause *when)
{
    for (size_t i = 0; i < when->assignment_count; i++) {
        add(p, i > 0 ? ", " : "INSERT (");
        tg_printer_name(p, &when->assignments[i].column);
    }
    for (size_t i = 0; i < when->assignment_count; i++) {
        add(p, i > 0 ? ", " : ") VALUES (");
        tg_printer_expr(p, when->assignments[i].value, 0);
    }
    add(p, when->star ? "INSERT *" : ")");
}

static void print_merge(tg_printer *p, const tg_stmt *stmt)
{
    static const char *const WHEN[] = {"WHEN MATCHED", "WHEN NOT MATCHED",
                                       "WHEN NOT MATCHED BY SOURCE"};
    add(p, stmt->schema_evolution ? "MERGE WITH SCHEMA EVOLUTION INTO " : "MERGE INTO ");
    print_table_alias(p, stmt);
    clause(p, "USING ");
    tg_printer_relation(p, stmt->source);
    clause(p, "ON ");
    tg_printer_expr(p, stmt->where, 0);
    for (size_t i = 0; i < stmt->merge_clause_count; i++) {
        const tg_merge_clause *when = &stmt->merge_clauses[i];
        clause(p, WHEN[when->when]);
        if (when->condition) {
            add(p, " AND ");
            tg_printer_expr(p, when->condition, 0);
        }
        add(p, " THEN ");
        if (when->action == TG_MERGE_INSERT) {
            print_merge_insert(p, when);
        } else {
            add(p, when->action == TG_MERGE_DELETE ? "DELETE" : "UPDATE SET ");
            add(p, when->star ? "*" : "");
            print_assignments(p, when->assignments, when->assignment_count);
        }
    }
}

/* ---- the others ------------------------------------------------------------------------------ */

static void print_set(tg_printer *p, const tg_stmt *stmt)
{
    bool is_zone = tg_str_eq(stmt->key, TG_S("TIME ZONE"));
    add(p, "SET ");
    tg_buf_adds(p->out, stmt->key);
    if (stmt->value.len > 0 || is_zone) {
        add(p, is_zone ? " " : " = ");
        tg_printer_string(p, stmt->value);
    }
}

/* WORDS name, the rest as it was written. */
static void print_named(tg_printer *p, const char *words, const tg_stmt *stmt)
{
    add(p, words);
    tg_printer_name(p, &stmt->name);
    add_behind(p, stmt->rest);
}

static void print_object(tg_printer *p, const char *word, const tg_stmt *stmt)
{
    add(p, word);
    tg_buf_adds(p->out, stmt->object_word);
    add(p, stmt->if_exists ? " IF EXISTS " : " ");
    print_named(p, "", stmt);
}

static void print_refresh(tg_printer *p, const tg_stmt *stmt)
{
    print_object(p, "REFRESH ", stmt);
    add(p, stmt->full ? " FULL" : "");
    print_where(p, stmt);
    add(p, stmt->async ? " ASYNC" : "");
}

static void print_show(tg_printer *p, const char *words, const tg_stmt *stmt)
{
    add(p, words);
    if (stmt->name.count > 0) {
        add(p, " IN ");
        tg_printer_name(p, &stmt->name);
    }
    if (stmt->pattern.len > 0) {
        add(p, " LIKE ");
        tg_printer_string(p, stmt->pattern);
    }
}

static void print_describe(tg_printer *p, const tg_stmt *stmt)
{
    static const char *const WORDS[] = {[TG_DESCRIBE_TABLE] = "DESCRIBE TABLE ",
                                        [TG_DESCRIBE_EXTENDED] = "DESCRIBE TABLE EXTENDED ",
                                        [TG_DESCRIBE_DETAIL] = "DESCRIBE TABLE DETAIL ",
                                        [TG_DESCRIBE_HISTORY] = "DESCRIBE TABLE HISTORY ",
                                        [TG_DESCRIBE_QUERY] = "DESCRIBE QUERY",
                                        [TG_DESCRIBE_FUNCTION] = "DESCRIBE FUNCTION"};
    if (stmt->describe == TG_DESCRIBE_QUERY) {
        add(p, WORDS[stmt->describe]);
        query_clause(p, stmt->query);
    } else if (stmt->describe == TG_DESCRIBE_FUNCTION) {
        add(p, WORDS[stmt->describe]);
        add_behind(p, stmt->rest);
    } else {
        print_named(p, WORDS[stmt->describe], stmt);
    }
}

static void print_explain(tg_printer *p, const tg_stmt *stmt)
{
    add(p, "EXPLAIN");
    add_behind(p, stmt->object_word);
    tg_printer_clause(p);
    tg_printer_stmt(p, stmt->inner);
}

void tg_printer_stmt(tg_printer *p, const tg_stmt *stmt)
{
    switch (stmt->kind) {
    case TG_STMT_QUERY:
        tg_printer_query(p, stmt->query);
        return;
    case TG_STMT_CREATE_STREAMING_TABLE:
        print_create(p, stmt, "STREAMING TABLE");
        return;
    case TG_STMT_CREATE_MATERIALIZED_VIEW:
        print_create(p, stmt, "MATERIALIZED VIEW");
        return;
    case TG_STMT_CREATE_VIEW:
        print_create(p, stmt, "VIEW");
        return;
    case TG_STMT_CREATE_TABLE:
        print_create(p, stmt, "TABLE");
        return;
    case TG_STMT_CREATE_SCHEMA:
        print_create(p, stmt, "SCHEMA");
        return;
    case TG_STMT_CREATE_FLOW:
        print_create_flow(p, stmt);
        return;
    case TG_STMT_INSERT:
        print_insert(p, stmt);
        return;
    case TG_STMT_DELETE:
        print_delete(p, stmt);
        return;
    case TG_STMT_UPDATE:
        print_update(p, stmt);
        return;
    case TG_STMT_MERGE:
        print_merge(p, stmt);
        return;
    case TG_STMT_SET:
        print_set(p, stmt);
        return;
    case TG_STMT_USE_CATALOG:
        print_named(p, "USE CATALOG ", stmt);
        return;
    case TG_STMT_USE_SCHEMA:
        print_named(p, "USE SCHEMA ", stmt);
        return;
    case TG_STMT_SHOW_TABLES:
        print_show(p, "SHOW TABLES", stmt);
        return;
    case TG_STMT_SHOW_VIEWS:
        print_show(p, "SHOW VIEWS", stmt);
        return;
    case TG_STMT_SHOW_SCHEMAS:
        print_show(p, "SHOW SCHEMAS", stmt);
        return;
    case TG_STMT_SHOW_COLUMNS:
        print_show(p, "SHOW COLUMNS", stmt);
        return;
    case TG_STMT_SHOW_TBLPROPERTIES:
        print_named(p, "SHOW TBLPROPERTIES ", stmt);
        return;
    case TG_STMT_SHOW_CREATE_TABLE:
        print_named(p, "SHOW CREATE TABLE ", stmt);
        return;
    case TG_STMT_SHOW_PARTITIONS:
        print_named(p, "SHOW PARTITIONS ", stmt);
        return;
    case TG_STMT_DESCRIBE:
        print_describe(p, stmt);
        return;
    case TG_STMT_DROP:
        print_object(p, "DROP ", stmt);
        add(p, stmt->cascade ? " CASCADE" : "");
        return;
    case TG_STMT_REFRESH:
        print_refresh(p, stmt);
        return;
    case TG_STMT_EXPLAIN:
        print_explain(p, stmt);
        return;
    case TG_STMT_ALTER:
    case TG_STMT_COMMENT_ON:
        print_object(p, stmt->kind == TG_STMT_ALTER ? "ALTER " : "COMMENT ON ", stmt);
        return;
    case TG_STMT_RESTORE:
        print_named(p, "RESTORE TABLE ", stmt);
        return;
    case TG_STMT_OPTIMIZE:
    case TG_STMT_VACUUM:
        print_named(p, stmt->kind == TG_STMT_OPTIMIZE ? "OPTIMIZE " : "VACUUM ", stmt);
        return;
    case TG_STMT_OTHER:
        if (tg_str_eq(stmt->object_word, TG_S("CREATE"))) {
            print_modifiers(p, stmt);
            tg_buf_adds(p->out, stmt->rest);
            return;
        }
        tg_buf_adds(p->out, stmt->object_word);
        add_behind(p, stmt->rest);
        return;
    }
}

void tg_sql_print_stmt(const tg_stmt *stmt, bool pretty, tg_buf *out)
{
    tg_printer p = {.out = out, .pretty = pretty};
    tg_printer_stmt(&p, stmt);
}
