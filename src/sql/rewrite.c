/* SPDX-License-Identifier: Apache-2.0 */
/* Small rewrites of bound relations: output schema, filters on the output, projection to a target's columns. */
#include "sql/tree.h"

#include "sql/sql.h"

tg_code tg_sql_output_schema(const tg_rel *rel, tg_arena *arena, tg_schema *out_schema,
                             tg_error *err)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, rel->column_count);
    tg_map seen;
    tg_map_init_ignore_case(&seen, arena);
    for (size_t i = 0; i < rel->column_count; i++) {
        fields[i] = (tg_field){.name = rel->columns[i].name,
                               .type = tg_type_nullable(arena, rel->columns[i].type),
                               .nullable = true};
        if (tg_map_put(&seen, fields[i].name, &fields[i])) {
            TG_ERR(err, COLUMN_ALREADY_EXISTS,
                   "the query gives two columns named `%.*s` (case does not count)",
                   TG_SARG(fields[i].name));
            (void)tg_error_hint(err, "Give one of them an alias.");
            return rel->span.len > 0 ? tg_error_span(err, rel->span.offset, rel->span.len)
                                     : TG_INVALID_ARGUMENT;
        }
    }
    *out_schema = (tg_schema){.fields = fields, .count = rel->column_count};
    return TG_OK;
}

typedef struct rebase_run {
    const tg_rel *rel;
    tg_arena *arena;
} rebase_run;

static tg_bexpr *rebase_column(void *self, tg_bexpr *expr)
{
    rebase_run *run = self;
    if (expr->kind != TG_B_COLUMN) {
        return NULL;
    }
    tg_assert(expr->column_id >= 1 && expr->column_id <= run->rel->column_count);
    return tg_bexpr_column(run->arena, &run->rel->columns[expr->column_id - 1], expr->span);
}

tg_rel *tg_sql_filter_output(tg_rel *rel, const tg_bexpr *predicate, tg_arena *arena)
{
    rebase_run run = {.rel = rel, .arena = arena};
    tg_bexpr *condition =
        tg_sql_bexpr_map(arena, (tg_bexpr *)(uintptr_t)predicate, rebase_column, &run);
    return tg_sql_rel_filter(arena, rel, condition);
}

static void note_columns(void *self, const tg_rel *rel)
{
    uint32_t *largest = self;
    for (size_t i = 0; i < rel->column_count; i++) {
        *largest = rel->columns[i].id > *largest ? rel->columns[i].id : *largest;
    }
}

static void note_lambda(void *self, const tg_bexpr *expr)
{
    uint32_t *largest = self;
    for (size_t i = 0; i < expr->param_count; i++) {
        *largest = expr->params[i] > *largest ? expr->params[i] : *largest;
    }
}

static uint32_t largest_id(const tg_rel *rel)
{
    uint32_t largest = 0;
    tg_sql_rel_visit(rel, note_columns, note_lambda, &largest);
    return largest;
}

tg_code tg_sql_project_by_name(tg_rel *rel, tg_schema target, tg_arena *arena, tg_rel **out_rel,
                               tg_error *err)
{
    uint32_t next_id = largest_id(rel) + 1;
    tg_fn_context fn = {.arena = arena, .zone = tg_zone_utc()};
    tg_bexpr **exprs = TG_NEW_ARRAY(arena, tg_bexpr *, target.count);
    tg_column *columns = TG_NEW_ARRAY(arena, tg_column, target.count);
    for (size_t i = 0; i < target.count; i++) {
        const tg_field *field = &target.fields[i];
        const tg_column *source = NULL;
        for (size_t j = 0; j < rel->column_count && !source; j++) {
            source = tg_str_ieq(rel->columns[j].name, field->name) ? &rel->columns[j] : NULL;
        }
        tg_bexpr *expr =
            source ? tg_bexpr_column(arena, source, rel->span)
                   : tg_bexpr_literal(arena, tg_value_null(tg_type_of(TG_TYPE_VOID)), rel->span);
        if (source && !tg_type_equal(expr->type, field->type) &&
            !tg_sql_can_store(expr->type, field->type)) {
            TG_ERR(err, INCOMPATIBLE_DATA_FOR_TABLE_CANNOT_SAFELY_CAST,
                   "cannot store %.*s in column `%.*s`, which is %.*s",
                   TG_SARG(tg_type_text(arena, expr->type)), TG_SARG(field->name),
                   TG_SARG(tg_type_text(arena, field->type)));
            return tg_error_hint(err, "Cast the value to the column's type.");
        }
        TG_TRY(tg_sql_cast(&fn, expr, field->type, TG_CAST_IMPLICIT, rel->span, &exprs[i], err));
        columns[i] = (tg_column){.id = next_id++,
                                 .name = field->name,
                                 .type = field->type,
                                 .nullable = !source || source->nullable};
    }
    *out_rel = tg_sql_rel_project(arena, rel, exprs, columns, target.count);
    return TG_OK;
}

tg_code tg_sql_count_rows(tg_rel *rel, tg_arena *arena, tg_rel **out_rel, tg_error *err)
{
    tg_fn_context fn = {.arena = arena, .zone = tg_zone_utc()};
    tg_bexpr *one = tg_bexpr_literal(arena, tg_value_int(tg_type_of(TG_TYPE_INT), 1),
                                     rel->span); /* as count(*) */
    tg_bexpr **exprs = TG_NEW_ARRAY(arena, tg_bexpr *, 1);
    TG_TRY(tg_function_apply(&fn, tg_function_find(TG_S("count")), &one, 1, rel->span, &exprs[0],
                             err));
    exprs[0]->kind = TG_B_AGGREGATE;
    tg_column *column = TG_NEW(arena, tg_column);
    *column = (tg_column){.id = largest_id(rel) + 1,
                          .name = TG_S("count"),
                          .type = exprs[0]->type,
                          .nullable = false};
    tg_rel *counted = TG_NEW(arena, tg_rel);
    *counted = (tg_rel){.kind = TG_R_AGGREGATE,
                        .span = rel->span,
                        .columns = column,
                        .column_count = 1,
                        .input = rel,
                        .exprs = exprs,
                        .expr_count = 1,
                        .is_global = true};
    *out_rel = counted;
    return TG_OK;
}

typedef struct scan_list {
    tg_arena *arena;
    TG_VEC(const tg_rel *) scans;
} scan_list;

static void note_scan(void *self, const tg_rel *rel)
{
    scan_list *list = self;
    if (rel->kind == TG_R_SCAN) {
        TG_VEC_PUSH(list->arena, &list->scans, rel);
    }
}

void tg_sql_scans(const tg_rel *rel, tg_arena *arena, const tg_rel ***out_scans, size_t *out_count)
{
    scan_list list = {.arena = arena};
    tg_sql_rel_visit(rel, note_scan, NULL, &list);
    *out_scans = list.scans.items;
    *out_count = list.scans.count;
}
