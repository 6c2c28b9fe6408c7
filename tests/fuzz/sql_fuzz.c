/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL text: lexed, parsed, printed, parsed again, bound against tables, printed for DuckDB and for
 * Spark, bound again. Checks besides memory: what was printed reads as the same tree and prints as
 * the same text, the print for Spark has the same types, and every error prints.
 */
#include <stdio.h>

#include "base/base.h"
#include "sql/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- errors ---------------------------------------------------------------------------------- */

static void check_error(tg_error *err, tg_str text)
{
    tg_auto_buf tg_buf printed = TG_BUF_INIT;
    tg_assert(err->message && err->message[0]);
    tg_error_locate(err, "fuzz", text);
    tg_error_print(err, &printed);
    tg_assert(tg_utf8_valid_len(tg_buf_str(&printed)) == printed.len);
}

/* ---- printing and parsing again -------------------------------------------------------------- */

static void check(bool holds, const tg_stmt *stmt, const tg_buf *printed)
{
    if (!holds) {
        (void)fprintf(stderr, "source:  %.*s\nprinted: %.*s\n", TG_SARG(stmt->text),
                      TG_SARG(tg_buf_str(printed)));
    }
    tg_assert(holds);
}

/* Printing adds parentheses, so a tree as deep as the limit may be too deep to be read again. */
static void check_print(const tg_stmt *stmt, bool pretty, tg_arena *arena)
{
    tg_auto_buf tg_buf printed = TG_BUF_INIT, again = TG_BUF_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_stmt *parsed;
    tg_sql_print_stmt(stmt, pretty, &printed);
    if (tg_sql_parse_statement(tg_buf_str(&printed), arena, &parsed, &err) != TG_OK) {
        check(err.code == TG_LIMIT, stmt, &printed);
        return;
    }
    check(tg_sql_stmt_equal(stmt, parsed), stmt, &printed);
    tg_sql_print_stmt(parsed, pretty, &again);
    check(tg_str_eq(tg_buf_str(&printed), tg_buf_str(&again)), stmt, &printed);
}

/* ---- binding --------------------------------------------------------------------------------- */

static tg_schema make_schema(tg_arena *arena)
{
    tg_schema schema;
    tg_assert(tg_sql_parse_columns(
                  TG_S("a INT, b STRING, c DOUBLE, d DATE, ts TIMESTAMP, n DECIMAL(10,2), "
                       "f BOOLEAN, big BIGINT, bin BINARY, arr ARRAY<INT>, m MAP<STRING, INT>, "
                       "s STRUCT<x: INT, y: STRING>"),
                  arena, &schema, NULL) == TG_OK);
    return schema;
}

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    const tg_schema *schema = self;
    tg_str name = relation->name.parts[relation->name.count - 1].text;
    if (name.len != 1 || relation->is_stream) {
        TG_FAIL(err, TABLE_OR_VIEW_NOT_FOUND, "there is no table %.*s", TG_SARG(name));
    }
    tg_table *table = TG_NEW(arena, tg_table);
    *table = (tg_table){.name = name, .format = TG_FORMAT_DELTA, .schema = *schema, .version = -1};
    *out = (tg_resolved){.table = table};
    return TG_OK;
}

static tg_code print_scan(void *self, const tg_rel *scan, size_t index, tg_buf *out, tg_error *err)
{
    (void)self;
    (void)index;
    (void)err;
    tg_sql_print_ident(scan->table->name, out);
    return TG_OK;
}

/* The print for Spark binds again, to the same types. */
static void check_spark(const tg_rel *rel, const tg_bind_options *options, tg_arena *arena)
{
    tg_auto_buf tg_buf printed = TG_BUF_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_print_options print = {.dialect = TG_DIALECT_SPARK, .scan = print_scan, .zone = TG_S("UTC")};
    tg_query *query;
    tg_bound_query again;
    tg_code code = tg_sql_print_rel(rel, &print, /* numbered_output= */ true, &printed, &err);
    if (code == TG_OK) {
        code = tg_sql_parse_query(tg_buf_str(&printed), arena, &query, &err);
    }
    if (code == TG_OK) {
        code = tg_sql_bind_query(query, options, arena, &again, &err);
    }
    bool is_same = code == TG_OK && rel->column_count == again.rel->column_count;
    for (size_t i = 0; is_same && i < rel->column_count; i++) {
        is_same = tg_type_equal(rel->columns[i].type, again.rel->columns[i].type);
    }
    if (!is_same && code != TG_LIMIT) {
        (void)fprintf(stderr, "for Spark: %.*s\n%s\n", TG_SARG(tg_buf_str(&printed)),
                      err.message ? err.message : "other types");
        tg_assert(!"a bound query prints for Spark so that it binds again");
    }
}

static void check_bind(const tg_query *query, tg_str text, tg_arena *arena)
{
    tg_schema schema = make_schema(arena);
    tg_resolver resolver = {.resolve = resolve, .self = &schema};
    tg_bind_options options = {
        .resolver = &resolver, .now_us = 1700000000000000, .zone = tg_zone_utc()};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_bound_query bound;
    if (tg_sql_bind_query(query, &options, arena, &bound, &err) != TG_OK) {
        check_error(&err, text);
        return;
    }
    tg_auto_buf tg_buf printed = TG_BUF_INIT;
    tg_print_options print = {.scan = print_scan, .zone = TG_S("UTC")};
    if (tg_sql_print_rel(bound.rel, &print, /* numbered_output= */ true, &printed, &err) != TG_OK) {
        check_error(&err, text);
    }
    check_spark(bound.rel, &options, arena);
    tg_buf_clear(&printed);
    tg_sql_canonical_rel(bound.rel, &printed);
    tg_region *regions;
    size_t count;
    tg_sql_scan_regions(bound.rel, options.zone, arena, &regions, &count);
}

static void check_statement(const tg_stmt *stmt, tg_str text, tg_arena *arena)
{
    check_print(stmt, /* pretty= */ false, arena);
    check_print(stmt, /* pretty= */ true, arena);
    const tg_query *query = stmt->flow && stmt->flow->query ? stmt->flow->query : stmt->query;
    if (query) {
        check_bind(query, text, arena);
    }
}

static void check_others(tg_str text, tg_arena *arena)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_schema schema;
    tg_name name;
    if (tg_sql_parse_columns(text, arena, &schema, &err) != TG_OK) {
        check_error(&err, text);
    }
    tg_error_clear(&err);
    if (tg_sql_parse_name(text, arena, &name, &err) != TG_OK) {
        check_error(&err, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str text = {(const char *)bytes, size};
    tg_diags diags = TG_DIAGS_INIT;
    tg_stmt_list stmts;
    tg_span *spans;
    size_t count;
    tg_sql_parse_file(text, "fuzz", arena, &stmts, &diags);
    for (size_t i = 0; i < diags.count; i++) {
        tg_auto_buf tg_buf printed = TG_BUF_INIT;
        tg_error_print(&diags.items[i], &printed);
        tg_assert(tg_utf8_valid_len(tg_buf_str(&printed)) == printed.len);
    }
    for (size_t i = 0; i < stmts.count; i++) {
        check_statement(stmts.items[i], text, arena);
    }
    tg_diags_dispose(&diags);
    tg_sql_split(text, arena, &spans, &count);
    check_others(text, arena);
    return 0;
}
