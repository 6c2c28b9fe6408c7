/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known and not available in this release is refused by its name: never ignored. A dropped
 * row filter would leak rows, a dropped expectation would let bad ones in.
 */
#include "pipeline/graph_int.h"

#include "pipeline/cdc.h"
#include "pipeline/properties.h"
#include "pipeline/schedule.h"

static void refuse(tg_graph_builder *b, const tg_source_file *file, tg_span span, const char *what)
{
    tg_graph_fail(b, file, span, TG_E_UNSUPPORTED_FEATURE, NULL, "%s not available yet", what);
}

static void refuse_columns(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    for (size_t i = 0; i < stmt->column_count; i++) {
        const tg_column_def *column = &stmt->columns[i];
        if (column->default_value) {
            refuse(b, file, column->span, "DEFAULT values of columns are");
        }
        if (column->generated) {
            refuse(b, file, column->span, "generated columns are");
        }
        if (column->identity.len > 0) {
            refuse(b, file, column->span, "identity columns are");
        }
        if (column->mask.len > 0) {
            refuse(b, file, column->span, "column masks (MASK) are");
        }
        if (column->not_null) {
            refuse(b, file, column->span, "NOT NULL columns are");
        }
    }
}

static void refuse_constraints(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    bool is_replace_where = stmt->flow && stmt->flow->kind == TG_FLOW_REPLACE_WHERE;
    for (size_t i = 0; i < stmt->constraint_count; i++) {
        const tg_constraint *constraint = &stmt->constraints[i];
        if (constraint->kind == TG_CONSTRAINT_CHECK) {
            refuse(b, file, constraint->span, "CHECK constraints are");
        } else if (constraint->kind == TG_CONSTRAINT_EXPECT && is_replace_where) {
            tg_graph_fail(
                b, file, constraint->span,
                TG_E_UNSUPPORTED_FEATURE_REPLACE_WHERE_FLOW_WITH_EXPECTATIONS,
                "Filter the rows in the query instead.",
                "expectations on the target of a REPLACE WHERE flow are not available yet");
        } else if (constraint->kind == TG_CONSTRAINT_EXPECT) {
            tg_graph_fail(b, file, constraint->span, TG_E_UNSUPPORTED_FEATURE,
                          "Filter the rows in the query instead.",
                          "expectations (CONSTRAINT ... EXPECT) are not available yet");
        }
    }
}

/* What changes no answer is said once, not refused. */
static void note(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt,
                 const char *what)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (!tg_map_put(&b->noted, tg_str_from(what), b)) {
        (void)TG_ERR(&err, UNSUPPORTED_FEATURE, "%s has no effect in this release", what);
        (void)tg_error_at(&err, stmt->name.span);
        tg_graph_warn_with(b, file, &err);
    }
}

static void refuse_layout(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    const tg_dataset_clauses *clauses = &stmt->clauses;
    bool is_clustered = clauses->cluster_count > 0 || clauses->cluster_auto;
    if (is_clustered && clauses->partition_count > 0) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY,
                      "Keep one of the two clauses.",
                      "`%.*s` has both CLUSTER BY and PARTITIONED BY",
                      TG_SARG(stmt->name.parts[stmt->name.count - 1].text));
    } else if (clauses->cluster_auto) {
        note(b, file, stmt, "CLUSTER BY AUTO");
    }
    for (size_t i = 0; i < clauses->cluster_count; i++) {
        const tg_expr *column = clauses->cluster_by[i];
        if (column->kind != TG_EXPR_NAME || column->name.count != 1) {
            tg_graph_fail(b, file, column->span, TG_E_UNSUPPORTED_FEATURE, "Name columns.",
                          "CLUSTER BY takes columns of the table");
        }
    }
    if (clauses->option_count > 0) {
        tg_graph_fail(b, file, clauses->options[0].span, TG_E_UNSUPPORTED_FEATURE,
                      "Leave them out; properties stand in TBLPROPERTIES.",
                      "OPTIONS of a table are not available in this release");
    }
    if (clauses->using_format.len && !tg_str_ieq(clauses->using_format, TG_S("delta"))) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE,
                      "Leave USING out: tables are Delta tables.",
                      "tables of format %.*s cannot be written", TG_SARG(clauses->using_format));
    }
    if (clauses->location.len) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE,
                      "Leave it out: the table lives in the warehouse, under its name.",
                      "LOCATION is not available yet");
    }
}

/* A view has no rows of its own, hence nothing that these clauses could be about. */
static void refuse_view_clauses(tg_graph_builder *b, const tg_source_file *file,
                                const tg_stmt *stmt)
{
    const tg_dataset_clauses *clauses = &stmt->clauses;
    const char *what = clauses->partition_count    ? "PARTITIONED BY"
                       : clauses->cluster_count    ? "CLUSTER BY"
                       : clauses->cluster_auto     ? "CLUSTER BY"
                       : clauses->using_format.len ? "USING"
                                                   : NULL;
    if (what) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE, "Leave the clause out.",
                      "a %sview has no %s", stmt->is_temporary ? "temporary " : "", what);
    }
    for (size_t i = 0; i < clauses->property_count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (tg_property_check(&clauses->properties[i], &err) == TG_PROPERTY_REFUSED) {
            tg_graph_fail_with(b, file, &err);
        }
    }
    if (clauses->property_count > 0 && stmt->is_temporary) {
        note(b, file, stmt, "TBLPROPERTIES of a temporary view");
    }
}

void tg_graph_refuse_clauses(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    const tg_dataset_clauses *clauses = &stmt->clauses;
    if (stmt->is_private) {
        tg_graph_fail(b, file, stmt->name.span, TG_E_UNSUPPORTED_FEATURE,
                      "Leave PRIVATE out, or use CREATE TEMPORARY VIEW.",
                      "private tables are not available yet");
    }
    if (clauses->row_filter.len > 0) {
        refuse(b, file, clauses->row_filter_span, "row filters (WITH ROW FILTER) are");
    }
    if (clauses->schedule.len) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        if (tg_schedule_check(clauses->schedule, b->arena, &err) != TG_OK) {
            (void)tg_error_at(&err, clauses->schedule_span);
            tg_graph_fail_with(b, file, &err);
        }
        if (!b->spec->standalone) {
            tg_graph_fail(b, file, clauses->schedule_span, TG_E_UNSUPPORTED_FEATURE,
                          "Start `tidegate run` from cron or a systemd timer.",
                          "schedules are not available yet");
        }
    }
    if (clauses->refresh_policy.len) {
        refuse(b, file, stmt->name.span, "REFRESH POLICY is");
    }
    if (stmt->kind == TG_STMT_CREATE_VIEW) {
        refuse_view_clauses(b, file, stmt);
    } else {
        refuse_layout(b, file, stmt);
    }
    refuse_columns(b, file, stmt);
    refuse_constraints(b, file, stmt);
}

/* A query without STREAM is no append flow; its author wants one of two other things. */
static void note_stream(void *ctx, const tg_relation *table)
{
    bool *has_stream = ctx;
    *has_stream = *has_stream || table->is_stream;
}

static bool reads_stream(const tg_flow_spec *flow)
{
    bool has_stream = false;
    if (flow->query) {
        tg_sql_visit_tables(flow->query, note_stream, &has_stream);
    }
    /* STREAM read_files(...) is no table; the word alone is enough not to blame the query. */
    for (size_t i = 0; !has_stream && i + 6 <= flow->query_text.len; i++) {
        has_stream = tg_str_ieq(tg_str_sub(flow->query_text, i, i + 6), TG_S("stream"));
    }
    return has_stream;
}

/* The text of the clauses is the end of the flow. */
static void check_cdc(tg_graph_builder *b, const tg_source_file *file, const tg_flow_spec *flow)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_cdc_check(flow, b->arena, &err) == TG_OK) {
        return;
    }
    if (err.has_span) {
        size_t start = flow->span.offset + flow->span.len - flow->cdc_text.len;
        (void)tg_error_span(&err, start + err.span_offset, err.span_len);
    } else {
        (void)tg_error_at(&err, flow->span);
    }
    tg_graph_fail_with(b, file, &err);
}

bool tg_graph_check_flow_kind(tg_graph_builder *b, const tg_source_file *file, const tg_stmt *stmt)
{
    const tg_flow_spec *flow = stmt->flow;
    switch (flow->kind) {
    case TG_FLOW_COMPLETE:
    case TG_FLOW_REPLACE_WHERE:
        return true;
    case TG_FLOW_APPEND:
        if (!reads_stream(flow)) {
            tg_graph_fail(b, file, stmt->name.span, TG_E_INVALID_FLOW_QUERY_TYPE_BATCH,
                          "Use CREATE MATERIALIZED VIEW to recompute it as a whole, or FLOW "
                          "REPLACE WHERE to recompute a window.",
                          "the append flow of `%.*s` reads no stream",
                          TG_SARG(stmt->name.parts[stmt->name.count - 1].text));
            return false;
        }
        break;
    case TG_FLOW_AUTO_CDC:
    case TG_FLOW_AUTO_CDC_FROM_SNAPSHOT:
        check_cdc(b, file, flow);
        break;
    case TG_FLOW_ONCE:
    case TG_FLOW_REPLACE_USING:
        break;
    }
    tg_graph_fail(b, file, flow->span, TG_E_UNSUPPORTED_FEATURE,
                  "This release runs REPLACE WHERE flows and materialized views.",
                  "%s flows are not available yet", tg_flow_kind_name(flow->kind));
    return false;
}

/*
 * Keys are informational, as in Databricks; the text stays with the table so that SHOW CREATE TABLE
 * can give it back.
 */
static tg_property key_property(tg_graph_builder *b, const tg_constraint *constraint, size_t index)
{
    tg_str key =
        constraint->name.text.len
            ? tg_str_printf(b->arena, "tidegate.constraint.%.*s", TG_SARG(constraint->name.text))
            : tg_str_printf(b->arena, "tidegate.constraint.key%zu", index + 1);
    return (tg_property){.key = key, .value = constraint->text, .span = constraint->span};
}

/* By which columns the rows are sorted when they are written; CLUSTER BY of other things was refused. */
static tg_property cluster_property(tg_graph_builder *b, const tg_dataset_clauses *clauses)
{
    tg_str *columns = TG_NEW_ARRAY(b->arena, tg_str, clauses->cluster_count);
    for (size_t i = 0; i < clauses->cluster_count; i++) {
        const tg_name *name = &clauses->cluster_by[i]->name;
        columns[i] = name->count ? name->parts[0].text : TG_S("");
    }
    return (tg_property){
        .key = TG_S(TG_PROPERTY_CLUSTER_BY),
        .value = tg_program_clustering_value(columns, clauses->cluster_count, b->arena)};
}

void tg_graph_read_properties(tg_graph_builder *b, tg_dataset *dataset)
{
    const tg_dataset_clauses *clauses = &dataset->stmt->clauses;
    TG_VEC(tg_property) kept = {0};
    for (size_t i = 0; i < clauses->property_count; i++) {
        const tg_property *property = &clauses->properties[i];
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_property_verdict verdict = tg_property_check(property, &err);
        if (verdict == TG_PROPERTY_REFUSED) {
            tg_graph_fail_with(b, dataset->file, &err);
            continue;
        }
        if (verdict == TG_PROPERTY_NOTE && !tg_map_put(&b->noted, property->key, b)) {
            tg_graph_warn_with(b, dataset->file, &err);
        }
        TG_VEC_PUSH(b->arena, &kept, *property);
    }
    for (size_t i = 0; i < dataset->stmt->constraint_count; i++) {
        const tg_constraint *constraint = &dataset->stmt->constraints[i];
        if (constraint->kind == TG_CONSTRAINT_PRIMARY_KEY ||
            constraint->kind == TG_CONSTRAINT_FOREIGN_KEY) {
            TG_VEC_PUSH(b->arena, &kept, key_property(b, constraint, i));
        }
    }
    if (clauses->cluster_count) {
        TG_VEC_PUSH(b->arena, &kept, cluster_property(b, clauses));
    }
    TG_VEC_PUSH(b->arena, &kept,
                (tg_property){.key = TG_S("tidegate.datasetKind"),
                              .value = tg_str_from(tg_dataset_kind_event_name(dataset->kind))});
    const tg_standalone *standalone = b->spec->standalone;
    for (size_t i = 0; standalone && !standalone->is_refresh && i < standalone->property_count;
         i++) {
        TG_VEC_PUSH(b->arena, &kept, standalone->properties[i]);
    }
    dataset->properties = kept.items;
    dataset->property_count = kept.count;
}
