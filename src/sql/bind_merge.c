/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MERGE.
 *
 * The source is computed once (LET source). Rows of table and source that match are one inner join;
 * where rows without a match matter too they are kept (LET pairs), and what has no match is what an
 * anti join by row ids leaves over. So no outer join has to evaluate the condition: engines are slow
 * at that when it is more than equality. Each kind of row takes the first of its clauses whose
 * condition is TRUE; values are computed for rows of their clause only.
 */
#include "sql/bind_dml_int.h"

#define SOURCE TG_S("source")
#define PAIRS TG_S("pairs")

typedef struct merge {
    tg_dml dml;
    tg_bind_source bound; /* the source as written */
    tg_rel *source;       /* its rows again, with a row id behind */
    tg_scope *source_scope, *joined;
    tg_query_env env;
} merge;

static bool has_kind(const tg_stmt *stmt, tg_merge_when when)
{
    for (size_t i = 0; i < stmt->merge_clause_count; i++) {
        if (stmt->merge_clauses[i].when == when) {
            return true;
        }
    }
    return false;
}

/* ---- source ---------------------------------------------------------------------------------- */

static size_t column_index(const tg_rel *rel, uint32_t id)
{
    for (size_t i = 0; i < rel->column_count; i++) {
        if (rel->columns[i].id == id) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The scope of the source over its kept rows. */
static void scan_source(merge *m)
{
    m->source = tg_dml_scan_let(&m->dml, SOURCE, m->bound.rel, true);
    const tg_scope *written = m->bound.scope;
    m->source_scope = tg_arena_memdup(m->dml.b.arena, written, sizeof(*written));
    m->source_scope->columns = TG_NEW_ARRAY(m->dml.b.arena, tg_scope_column, written->count);
    for (size_t i = 0; i < written->count; i++) {
        tg_scope_column column = written->columns[i];
        size_t at = column_index(m->bound.rel, column.column.id);
        tg_assert(at < m->bound.rel->column_count);
        column.column.id = m->source->columns[at].id;
        column.column.nullable = true;
        m->source_scope->columns[i] = column;
    }
}

static tg_code source_column(merge *m, tg_str name, tg_span span, const tg_column **out,
                             tg_error *err)
{
    const tg_scope *scope = m->bound.scope;
    *out = NULL;
    for (size_t i = 0; i < scope->count; i++) {
        if (!scope->columns[i].in_star || !tg_str_ieq(scope->columns[i].column.name, name)) {
            continue;
        }
        if (*out) {
            return tg_fn_at(span, err,
                            TG_ERR(err, AMBIGUOUS_REFERENCE,
                                   "the source has several columns named `%.*s`", TG_SARG(name)));
        }
        *out = m->source_scope ? &m->source_scope->columns[i].column : &scope->columns[i].column;
    }
    return TG_OK;
}

/* ---- WITH SCHEMA EVOLUTION ------------------------------------------------------------------- */

typedef TG_VEC(tg_field) field_list;

static tg_code add_column(merge *m, const tg_column *column, field_list *fields, tg_error *err)
{
    tg_schema schema = {.fields = fields->items, .count = fields->count};
    if (tg_schema_find(schema, column->name) >= 0) {
        return TG_OK;
    }
    if (column->type->kind == TG_TYPE_VOID) {
        return tg_fn_at(m->dml.stmt->source->span, err,
                        TG_ERR(err, DATATYPE_MISMATCH,
                               "column `%.*s` of the source has type void: a table cannot hold it",
                               TG_SARG(column->name)));
    }
    tg_field field = {.name = column->name,
                      .type = tg_type_nullable(m->dml.b.arena, column->type),
                      .nullable = true};
    TG_VEC_PUSH(m->dml.b.arena, fields, field);
    return TG_OK;
}

static tg_code evolve_by(merge *m, const tg_merge_clause *clause, field_list *fields, tg_error *err)
{
    const tg_scope *scope = m->bound.scope;
    for (size_t i = 0; clause->star && i < scope->count; i++) {
        if (scope->columns[i].in_star) {
            TG_TRY(add_column(m, &scope->columns[i].column, fields, err));
        }
    }
    bool takes_source = clause->when != TG_MERGE_NOT_MATCHED_BY_SOURCE;
    for (size_t i = 0; takes_source && i < clause->assignment_count; i++) {
        const tg_name *name = &clause->assignments[i].column;
        const tg_column *column;
        TG_TRY(source_column(m, name->parts[name->count - 1].text, name->span, &column, err));
        if (column && name->count <= 2) {
            TG_TRY(add_column(m, column, fields, err));
        }
    }
    return TG_OK;
}

static tg_code evolve(merge *m, tg_error *err)
{
    const tg_stmt *stmt = m->dml.stmt;
    field_list fields = {0};
    for (size_t i = 0; i < m->dml.schema.count; i++) {
        TG_VEC_PUSH(m->dml.b.arena, &fields, m->dml.schema.fields[i]);
    }
    for (size_t i = 0; stmt->schema_evolution && i < stmt->merge_clause_count; i++) {
        TG_TRY(evolve_by(m, &stmt->merge_clauses[i], &fields, err));
    }
    m->dml.schema = (tg_schema){.fields = fields.items, .count = fields.count};
    return TG_OK;
}

/* ---- clauses --------------------------------------------------------------------------------- */

static tg_expr_ctx context_of(merge *m, tg_merge_when when)
{
    static const char *const WORDS[] = {"WHEN MATCHED", "WHEN NOT MATCHED",
                                        "WHEN NOT MATCHED BY SOURCE"};
    return (tg_expr_ctx){.b = &m->dml.b,
                         .scope = when == TG_MERGE_MATCHED       ? m->joined
                                  : when == TG_MERGE_NOT_MATCHED ? m->source_scope
                                                                 : m->dml.scope,
                         .env = &m->env,
                         .clause = WORDS[when],
                         .no_subqueries = true};
}

static tg_code star_values(merge *m, const tg_merge_clause *clause, tg_bexpr **values,
                           tg_error *err)
{
    for (size_t i = 0; i < m->dml.schema.count; i++) {
        const tg_field *field = &m->dml.schema.fields[i];
        const tg_column *column;
        TG_TRY(source_column(m, field->name, clause->span, &column, err));
        if (column) {
            tg_bexpr *expr = tg_bexpr_column(m->dml.b.arena, column, clause->span);
            TG_TRY(tg_dml_store(&m->dml, expr, field, &values[i], err));
        } else if (!m->dml.stmt->schema_evolution) {
            TG_ERR(
                err, UNRESOLVED_COLUMN, "%s * needs column `%.*s`, which the source does not have",
                clause->action == TG_MERGE_INSERT ? "INSERT" : "UPDATE SET", TG_SARG(field->name));
            (void)tg_error_hint(err, "Name the columns, or write MERGE WITH SCHEMA EVOLUTION to "
                                     "leave such columns alone.");
            return tg_error_span(err, clause->span.offset, clause->span.len);
        }
    }
    return TG_OK;
}

static tg_code clause_values(merge *m, const tg_merge_clause *clause, tg_bexpr **values,
                             tg_error *err)
{
    if (clause->action == TG_MERGE_DELETE) {
        return TG_OK;
    }
    for (size_t i = 0; i < m->dml.schema.count && clause->action == TG_MERGE_UPDATE; i++) {
        values[i] = tg_bexpr_column(m->dml.b.arena, &m->dml.rows->columns[i], clause->span);
    }
    if (clause->star) {
        return star_values(m, clause, values, err);
    }
    tg_expr_ctx ctx = context_of(m, clause->when);
    return tg_dml_assign(&m->dml, &ctx, clause->assignments, clause->assignment_count, values, err);
}

static tg_change change_of(const tg_merge_clause *clause)
{
    bool by_source = clause->when == TG_MERGE_NOT_MATCHED_BY_SOURCE;
    switch (clause->action) {
    case TG_MERGE_UPDATE:
        return by_source ? TG_CHANGE_UPDATE_BY_SOURCE : TG_CHANGE_UPDATE;
    case TG_MERGE_DELETE:
        return by_source ? TG_CHANGE_DELETE_BY_SOURCE : TG_CHANGE_DELETE;
    default:
        return TG_CHANGE_INSERT;
    }
}

/* The clauses of one kind, bound. */
typedef struct clause_list {
    size_t count;
    const tg_merge_clause **clauses;
    tg_bexpr **conditions; /* NULL: always */
    tg_bexpr ***values;
} clause_list;

static tg_code bind_clauses(merge *m, tg_merge_when when, clause_list *out, tg_error *err)
{
    const tg_stmt *stmt = m->dml.stmt;
    tg_arena *arena = m->dml.b.arena;
    *out = (clause_list){.clauses =
                             TG_NEW_ARRAY(arena, const tg_merge_clause *, stmt->merge_clause_count),
                         .conditions = TG_NEW_ARRAY(arena, tg_bexpr *, stmt->merge_clause_count),
                         .values = TG_NEW_ARRAY(arena, tg_bexpr **, stmt->merge_clause_count)};
    tg_expr_ctx ctx = context_of(m, when);
    for (size_t i = 0; i < stmt->merge_clause_count; i++) {
        const tg_merge_clause *clause = &stmt->merge_clauses[i];
        if (clause->when != when) {
            continue;
        }
        size_t at = out->count++;
        out->clauses[at] = clause;
        if (clause->condition) {
            TG_TRY(tg_bind_condition(&ctx, clause->condition, &out->conditions[at], err));
            out->conditions[at] = tg_sql_fold(out->conditions[at], m->dml.b.fn.zone, arena);
        }
        out->values[at] = TG_NEW_ARRAY(arena, tg_bexpr *, m->dml.schema.count);
        TG_TRY(clause_values(m, clause, out->values[at], err));
        TG_TRY(tg_dml_refuse_random(&m->dml, clause->span, err));
    }
    return TG_OK;
}

/* CASE WHEN condition THEN 0 WHEN .. THEN 1 .. [ELSE last] END: which clause; NULL: none. */
static tg_code which_clause(merge *m, const clause_list *list, tg_bexpr **out, tg_error *err)
{
    tg_bexpr **args = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, 2 * list->count + 1);
    size_t count = 0;
    if (!list->count) {
        args[count++] = tg_dml_null(&m->dml, tg_type_of(TG_TYPE_INT));
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->conditions[i]) {
            args[count++] = list->conditions[i];
        }
        args[count++] = tg_dml_int(&m->dml, (int)i);
    }
    if (count == 1) {
        *out = args[0];
        return TG_OK;
    }
    return tg_bind_apply(&m->dml.b, "case", args, count, m->dml.stmt->span, out, err);
}

/* rel with one column more: which clause counts. */
static tg_code add_which(merge *m, const clause_list *list, tg_rel *rel, tg_rel **out,
                         tg_bexpr **out_which, tg_error *err)
{
    tg_arena *arena = m->dml.b.arena;
    size_t count = rel->column_count;
    tg_bexpr **exprs = TG_NEW_ARRAY(arena, tg_bexpr *, count + 1);
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, count + 1);
    for (size_t i = 0; i < count; i++) {
        exprs[i] = tg_bexpr_column(arena, &rel->columns[i], rel->span);
        columns[i] = rel->columns[i];
    }
    TG_TRY(which_clause(m, list, &exprs[count], err));
    columns[count] =
        tg_bind_column(&m->dml.b, TG_S("tidegate clause"), tg_type_of(TG_TYPE_INT), true);
    *out = tg_sql_rel_project(arena, rel, exprs, columns, count + 1);
    *out_which = tg_bexpr_column(arena, &columns[count], rel->span);
    return TG_OK;
}

/* CASE which WHEN 0 THEN choices[0] ... END; of_type casts the whole. */
static tg_code choose(merge *m, const clause_list *list, tg_bexpr *which, tg_bexpr **choices,
                      const tg_type *of_type, tg_bexpr **out, tg_error *err)
{
    tg_arena *arena = m->dml.b.arena;
    tg_bexpr **args = TG_NEW_ARRAY(arena, tg_bexpr *, 2 * list->count);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!choices[i]) {
            continue;
        }
        tg_bexpr *sides[2] = {which, tg_dml_int(&m->dml, (int)i)};
        TG_TRY(tg_bind_apply(&m->dml.b, "=", sides, 2, which->span, &args[count++], err));
        args[count++] = choices[i];
    }
    if (!count) {
        *out = tg_dml_null(&m->dml, of_type);
        return TG_OK;
    }
    TG_TRY(tg_bind_apply(&m->dml.b, "case", args, count, which->span, out, err));
    return tg_sql_cast(&m->dml.b.fn, *out, of_type, TG_CAST_IMPLICIT, which->span, out, err);
}

/* Rows that some clause is about; none left out when one has no condition. */
static tg_code filter_by_clauses(merge *m, const clause_list *list, tg_rel **rel, tg_error *err)
{
    tg_bexpr *any = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->conditions[i]) {
            return TG_OK;
        }
        if (any) {
            tg_bexpr *sides[2] = {any, list->conditions[i]};
            TG_TRY(tg_bind_apply(&m->dml.b, "or", sides, 2, m->dml.stmt->span, &any, err));
        } else {
            any = list->conditions[i];
        }
    }
    *rel = tg_sql_rel_filter(m->dml.b.arena, *rel, any);
    return TG_OK;
}

/* rel's rows with what their clause makes of them; NULL change: rows without a clause. */
static tg_code apply_clauses(merge *m, const clause_list *list, tg_rel *rel, tg_bexpr *file,
                             tg_bexpr *row, tg_rel **out, tg_error *err)
{
    tg_bexpr *which, *change;
    tg_bexpr **changes = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, list->count);
    tg_bexpr **choices = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, list->count);
    tg_bexpr **values = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, m->dml.schema.count);
    TG_TRY(add_which(m, list, rel, &rel, &which, err));
    for (size_t i = 0; i < list->count; i++) {
        changes[i] = tg_dml_int(&m->dml, (int)change_of(list->clauses[i]));
    }
    TG_TRY(choose(m, list, which, changes, tg_type_of(TG_TYPE_INT), &change, err));
    for (size_t c = 0; c < m->dml.schema.count; c++) {
        for (size_t i = 0; i < list->count; i++) {
            choices[i] = list->values[i][c];
        }
        TG_TRY(choose(m, list, which, choices, m->dml.schema.fields[c].type, &values[c], err));
    }
    *out = tg_dml_change(&m->dml, rel, file, row, change, values);
    return TG_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static tg_bexpr *column_at(merge *m, const tg_rel *rel, size_t index)
{
    return tg_bexpr_column(m->dml.b.arena, &rel->columns[index], m->dml.stmt->span);
}

static tg_code match(merge *m, tg_rel **out, tg_error *err)
{
    tg_expr_ctx ctx = {.b = &m->dml.b,
                       .scope = m->joined,
                       .env = &m->env,
                       .clause = "the condition of MERGE",
                       .no_subqueries = true};
    tg_bexpr *condition;
    TG_TRY(tg_bind_condition(&ctx, m->dml.stmt->where, &condition, err));
    TG_TRY(tg_dml_refuse_random(&m->dml, m->dml.stmt->where->span, err));
    condition = tg_sql_fold(condition, m->dml.b.fn.zone, m->dml.b.arena);
    *out = tg_dml_join(&m->dml, TG_JOIN_INNER, m->dml.rows, m->source, condition);
    return TG_OK;
}

/* A part of the CHANGE relation that is added to what is there. */
static void add_part(merge *m, tg_rel **change, tg_rel *part)
{
    if (!*change) {
        *change = part;
        return;
    }
    tg_column *columns = TG_NEW_ARRAY(m->dml.b.arena, tg_column, part->column_count);
    for (size_t i = 0; i < part->column_count; i++) {
        columns[i] = tg_bind_column(&m->dml.b, part->columns[i].name, part->columns[i].type, true);
    }
    tg_rel *both = TG_NEW(m->dml.b.arena, tg_rel);
    *both = (tg_rel){.kind = TG_R_SET_OP,
                     .span = part->span,
                     .columns = columns,
                     .column_count = part->column_count,
                     .input = *change,
                     .right = part,
                     .op = TG_UNION,
                     .all = true};
    *change = both;
}

/*
 * Matching pairs are kept: the columns of a CHANGE relation (change NULL: no clause is about the
 * pair), and the source row behind.
 */
static tg_code keep_pairs(merge *m, const clause_list *matched, tg_rel *pairs, tg_rel **out,
                          tg_error *err)
{
    size_t row_ids = m->dml.schema.count;
    tg_bexpr *file = column_at(m, m->dml.rows, row_ids);
    tg_bexpr *row = column_at(m, m->dml.rows, row_ids + 1);
    tg_rel *change;
    TG_TRY(apply_clauses(m, matched, pairs, file, row, &change, err));
    size_t count = change->column_count;
    tg_bexpr **exprs = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, count + 1);
    tg_column *columns = TG_NEW_ARRAY(m->dml.b.arena, tg_column, count + 1);
    for (size_t i = 0; i < count; i++) {
        exprs[i] = change->exprs[i];
        columns[i] = change->columns[i];
    }
    exprs[count] = column_at(m, m->source, m->source->column_count - 1);
    columns[count] =
        tg_bind_column(&m->dml.b, TG_S("tidegate source row"), tg_type_of(TG_TYPE_BIGINT), true);
    *out = tg_sql_rel_project(m->dml.b.arena, change->input, exprs, columns, count + 1);
    return TG_OK;
}

static tg_code pairs_with_clause(merge *m, const tg_rel *pairs, tg_rel **out, tg_error *err)
{
    tg_rel *rel = tg_dml_scan_let(&m->dml, PAIRS, pairs, false);
    tg_bexpr *change = column_at(m, rel, 2), *has_clause;
    TG_TRY(tg_bind_apply(&m->dml.b, "isnotnull", &change, 1, change->span, &has_clause, err));
    rel = tg_sql_rel_filter(m->dml.b.arena, rel, has_clause);
    *out = tg_sql_rel_select(m->dml.b.arena, rel, rel->columns, rel->column_count - 1);
    return TG_OK;
}

/* The rows of rel that no pair holds, by `count` ids of theirs. */
static tg_code unmatched(merge *m, const tg_rel *pairs, tg_rel *rel, size_t first_id, size_t count,
                         size_t first_of_pair, tg_rel **out, tg_error *err)
{
    tg_rel *held = tg_dml_scan_let(&m->dml, PAIRS, pairs, false);
    tg_bexpr **terms = TG_NEW_ARRAY(m->dml.b.arena, tg_bexpr *, count);
    for (size_t i = 0; i < count; i++) {
        tg_bexpr *sides[2] = {column_at(m, rel, first_id + i),
                              column_at(m, held, first_of_pair + i)};
        TG_TRY(tg_bind_apply(&m->dml.b, "=", sides, 2, m->dml.stmt->span, &terms[i], err));
    }
    tg_bexpr *condition = tg_sql_conjunction(m->dml.b.arena, terms, count);
    *out = tg_dml_join(&m->dml, TG_JOIN_LEFT_ANTI, rel, held, condition);
    return TG_OK;
}

static tg_code add_unmatched(merge *m, const tg_rel *pairs, const clause_list *inserts,
                             const clause_list *by_source, tg_rel **change, tg_error *err)
{
    tg_rel *rel, *part;
    if (inserts->count) {
        size_t row_id = m->source->column_count - 1;
        TG_TRY(unmatched(m, pairs, m->source, row_id, 1, pairs->column_count - 1, &rel, err));
        TG_TRY(filter_by_clauses(m, inserts, &rel, err));
        TG_TRY(apply_clauses(m, inserts, rel, NULL, NULL, &part, err));
        add_part(m, change, part);
    }
    if (by_source->count) {
        size_t row_id = m->dml.schema.count;
        tg_bexpr *file = column_at(m, m->dml.rows, row_id);
        tg_bexpr *row = column_at(m, m->dml.rows, row_id + 1);
        TG_TRY(unmatched(m, pairs, m->dml.rows, row_id, 2, 0, &rel, err));
        TG_TRY(filter_by_clauses(m, by_source, &rel, err));
        TG_TRY(apply_clauses(m, by_source, rel, file, row, &part, err));
        add_part(m, change, part);
    }
    return TG_OK;
}

/* ---- the statement --------------------------------------------------------------------------- */

static tg_code bind_relations(merge *m, tg_error *err)
{
    TG_TRY(tg_bind_from(&m->dml.b, m->dml.stmt->source, &m->env, &m->bound, err));
    m->dml.b.random_count = 0; /* the source is computed once: it may be random */
    TG_TRY(evolve(m, err));
    tg_dml_scan_target(&m->dml);
    scan_source(m);
    m->joined = tg_bind_joined_scope(&m->dml.b, m->dml.scope, m->source_scope, NULL);
    return TG_OK;
}

tg_code tg_sql_bind_merge(const tg_stmt *stmt, const tg_table *target,
                          const tg_bind_options *options, tg_arena *arena, tg_bound_dml *out,
                          tg_error *err)
{
    merge m = {0};
    clause_list matched, inserts, by_source;
    tg_rel *pairs, *change = NULL;
    tg_dml_init(&m.dml, stmt, target, options, arena);
    TG_TRY(bind_relations(&m, err));
    TG_TRY(match(&m, &pairs, err));
    TG_TRY(bind_clauses(&m, TG_MERGE_MATCHED, &matched, err));
    TG_TRY(bind_clauses(&m, TG_MERGE_NOT_MATCHED, &inserts, err));
    TG_TRY(bind_clauses(&m, TG_MERGE_NOT_MATCHED_BY_SOURCE, &by_source, err));
    *out = (tg_bound_dml){
        .lets = {{.name = SOURCE, .rel = m.bound.rel}},
        .let_count = 1,
        .may_repeat = matched.count == 1 && matched.clauses[0]->action == TG_MERGE_DELETE &&
                      !matched.clauses[0]->condition,
        .schema = m.dml.schema,
    };
    if (!inserts.count && !by_source.count) {
        size_t row_ids = m.dml.schema.count;
        TG_TRY(filter_by_clauses(&m, &matched, &pairs, err));
        TG_TRY(apply_clauses(&m, &matched, pairs, column_at(&m, m.dml.rows, row_ids),
                             column_at(&m, m.dml.rows, row_ids + 1), &change, err));
    } else {
        TG_TRY(keep_pairs(&m, &matched, pairs, &pairs, err));
        out->lets[out->let_count++] = (tg_dml_let){.name = PAIRS, .rel = pairs};
        if (has_kind(stmt, TG_MERGE_MATCHED)) {
            TG_TRY(pairs_with_clause(&m, pairs, &change, err));
        }
        TG_TRY(add_unmatched(&m, pairs, &inserts, &by_source, &change, err));
    }
    out->change = change;
    return TG_OK;
}
