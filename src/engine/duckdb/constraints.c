/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a table demands of its rows: CHECK constraints (table properties delta.constraints.*) and
 * column invariants (Delta protocol, "CHECK Constraints", "Column Invariants").
 *
 * Every row that is written to a data file passes here, rewritten ones too: the query that gives the
 * rows is put into another one that raises an error where a rule is not TRUE. The rule stands in the
 * select list, not in a filter: DuckDB moves filters, and one that was moved below the query's own
 * filters would judge rows that are never written. A table without rules costs nothing.
 */
#include <stdlib.h>

#include <yyjson.h>

#include "engine/duckdb/run_int.h"
#include "sql/sql.h"

typedef struct table_rule {
    tg_str name, text;
} table_rule;

typedef TG_VEC(table_rule) rule_list;

static const tg_str constraint_prefix = {"delta.constraints.", 18};
static const tg_str invariant_key = {"delta.invariants", 16};

/* ---- which rules ----------------------------------------------------------------------------- */

static void add_constraints(const tg_property *properties, size_t count, tg_arena *arena,
                            rule_list *rules)
{
    for (size_t i = 0; i < count; i++) {
        tg_str key = properties[i].key;
        if (tg_str_istarts(key, constraint_prefix)) {
            TG_VEC_PUSH(arena, rules,
                        ((table_rule){.name = tg_str_sub(key, constraint_prefix.len, key.len),
                                      .text = properties[i].value}));
        }
    }
}

/* {"delta.invariants":"{\"expression\":{\"expression\":\"a > 0\"}}"} */
static tg_code invariant_text(const tg_field *field, tg_arena *arena, tg_str *out, tg_error *err)
{
    yyjson_val *metadata = NULL, *inner = NULL;
    tg_code code = tg_json_parse(field->metadata, 0, arena, &metadata, NULL);
    tg_str text = tg_json_get_str(metadata, "delta.invariants", TG_S(""));
    if (code == TG_OK && text.len) {
        code = tg_json_parse(text, 0, arena, &inner, NULL);
    }
    *out = tg_json_get_str(tg_json_get(inner, "expression"), "expression", TG_S(""));
    if (code != TG_OK || !out->len) {
        TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_WRITE,
                "the invariant of column `%.*s` cannot be understood: %.*s", TG_SARG(field->name),
                TG_SARG(field->metadata));
    }
    *out = tg_str_copy(arena, *out);
    return TG_OK;
}

static bool has_invariant(const tg_field *field)
{
    return tg_str_find(field->metadata, invariant_key, 0) != SIZE_MAX;
}

/* Types are as deep as schema texts may be: TG_LIMIT_JSON_DEPTH bounds the recursion. */
static bool has_inner_invariant(const tg_type *type)
{
    bool found = (type->element && has_inner_invariant(type->element)) ||
                 (type->key && has_inner_invariant(type->key));
    for (size_t i = 0; i < type->field_count && !found; i++) {
        found = has_invariant(&type->fields[i]) || has_inner_invariant(type->fields[i].type);
    }
    return found;
}

static tg_code add_invariants(tg_schema schema, tg_arena *arena, rule_list *rules, tg_error *err)
{
    for (size_t i = 0; i < schema.count; i++) {
        const tg_field *field = &schema.fields[i];
        if (has_inner_invariant(field->type)) {
            TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_WRITE,
                    "column `%.*s` has a field with an invariant, which is not available yet",
                    TG_SARG(field->name));
        }
        if (!has_invariant(field)) {
            continue;
        }
        table_rule invariant;
        TG_TRY(invariant_text(field, arena, &invariant.text, err));
        invariant.name = tg_str_printf(arena, "EXPRESSION(%.*s)", TG_SARG(invariant.text));
        TG_VEC_PUSH(arena, rules, invariant);
    }
    return TG_OK;
}

/* ---- rules as SQL ---------------------------------------------------------------------------- */

typedef struct column_printer {
    tg_schema schema;
    tg_arena *arena;
    TG_VEC(tg_str) used;
} column_printer;

static void put_column(void *self, uint32_t id, tg_buf *out)
{
    column_printer *printer = self;
    tg_str name = printer->schema.fields[id - 1].name;
    if (!tg_str_is_in(name, printer->used.items, printer->used.count)) {
        TG_VEC_PUSH(printer->arena, &printer->used, name);
    }
    tg_duckdb_put_ident(out, name);
}

static int compare_names(const void *a, const void *b)
{
    return tg_str_cmp(*(const tg_str *)a, *(const tg_str *)b);
}

/* error('... violated by row with values:' || ' - a : ' || a ...) */
static void put_violation(const table_rule *rule, column_printer *printer, tg_buf *out)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addf(&text,
                "[TG:DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint %.*s (%.*s) violated "
                "by row with values:",
                TG_SARG(rule->name), TG_SARG(rule->text));
    tg_buf_addz(out, "error(");
    tg_duckdb_put_string(out, tg_buf_str(&text));
    if (printer->used.count) {
        qsort(printer->used.items, printer->used.count, sizeof(tg_str), compare_names);
    }
    for (size_t i = 0; i < printer->used.count; i++) {
        tg_buf_clear(&text);
        tg_buf_addf(&text, "\n - %.*s : ", TG_SARG(printer->used.items[i]));
        tg_buf_addz(out, " || ");
        tg_duckdb_put_string(out, tg_buf_str(&text));
        tg_buf_addz(out, " || coalesce(CAST(");
        tg_duckdb_put_ident(out, printer->used.items[i]);
        tg_buf_addz(out, " AS VARCHAR), 'null')");
    }
    tg_buf_addc(out, ')');
}

static tg_code put_rule(tg_duckdb_run_state *run, const table_rule *rule, tg_buf *out,
                        tg_error *err)
{
    const tg_program *program = run->program;
    tg_expr *expr;
    tg_bexpr *bound;
    bool has_time_function, is_deterministic;
    const tg_bind_options options = {.now_us = program->now_us, .zone = program->zone};
    TG_TRY(tg_sql_parse_expression(rule->text, run->arena, &expr, err));
    TG_TRY(tg_sql_bind_predicate(expr, program->target.schema, NULL, 0, &options, run->arena,
                                 &bound, &has_time_function, &is_deterministic, err));
    const tg_print_options print = {.dialect = TG_DIALECT_DUCKDB,
                                    .zone =
                                        program->zone ? tg_zone_name(program->zone) : TG_S("UTC")};
    column_printer printer = {.schema = program->target.schema, .arena = run->arena};
    tg_buf_addz(out, " WHEN (");
    TG_TRY(tg_sql_print_bexpr(tg_sql_fold(bound, program->zone, run->arena), &print, put_column,
                              &printer, out, err));
    tg_buf_addz(out, ") IS NOT TRUE THEN ");
    put_violation(rule, &printer, out);
    return TG_OK;
}

tg_code tg_duckdb_check_rows(tg_duckdb_run_state *run, tg_str sql, tg_str *out_sql, tg_error *err)
{
    const tg_program_target *target = &run->program->target;
    rule_list rules = {0};
    add_constraints(target->properties, target->property_count, run->arena, &rules);
    TG_TRY(add_invariants(target->schema, run->arena, &rules, err));
    *out_sql = sql;
    if (!rules.count) {
        return TG_OK;
    }
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_buf_addz(&out, "SELECT CASE");
    for (size_t i = 0; i < rules.count; i++) {
        TG_TRY_CTX(put_rule(run, &rules.items[i], &out, err), err,
                   "while reading CHECK constraint %.*s (%.*s)", TG_SARG(rules.items[i].name),
                   TG_SARG(rules.items[i].text));
    }
    for (size_t i = 0; i < target->schema.count; i++) {
        tg_buf_addz(&out, i ? ", " : " ELSE ");
        tg_duckdb_put_ident(&out, target->schema.fields[i].name);
        if (!i) {
            tg_buf_addz(&out, " END AS ");
            tg_duckdb_put_ident(&out, target->schema.fields[i].name);
        }
    }
    tg_buf_addz(&out, " FROM (");
    tg_buf_adds(&out, sql);
    tg_buf_addz(&out, ") AS \"tidegate rows\"");
    *out_sql = tg_buf_take(&out, run->arena);
    return TG_OK;
}
