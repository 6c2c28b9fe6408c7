/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bound queries as Spark SQL: every statement of the golden corpus that binds is printed, read and
 * bound again; columns and types must be the same, and so must the rows where they can be compared
 * (EXCEPT ALL in both directions). The pretty form is the printed one, parsed and printed again.
 */
#include <stdlib.h>
#include <yyjson.h>

#include "fs/fs.h"
#include "unit/engine/duckdb/lab.h"

enum { FILE_BYTES_MAX = 1 << 28 };

typedef struct counts {
    int statements, bound, printed, same_rows, fail_alike, incomparable, failures;
} counts;

static const char *const TABLES[] = {"customers", "orders", "items",   "events",  "employees",
                                     "sales",     "docs",   "numbers", "calendar"};

/* ---- binding --------------------------------------------------------------------------------- */

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    lab *l = self;
    tg_str path = relation->name.parts[relation->name.count - 1].text;
    if (relation->name.count != 2) {
        TG_FAIL(err, TABLE_OR_VIEW_NOT_FOUND, "no table %.*s", TG_SARG(path));
    }
    *out = (tg_resolved){0};
    return l->engine->describe(l->engine->self, TG_FORMAT_PARQUET, path, -1, NULL, 0, path, arena,
                               &out->table, err);
}

static tg_code bind(lab *l, tg_str sql, tg_arena *arena, tg_bound_query *out, tg_error *err)
{
    tg_resolver resolver = {.resolve = resolve, .self = l};
    tg_bind_options options = {
        .resolver = &resolver, .now_us = INT64_C(1704067200000000), .zone = l->zone};
    tg_query *query;
    TG_TRY(tg_sql_parse_query(sql, arena, &query, err));
    return tg_sql_bind_query(query, &options, arena, out, err);
}

/* WITH customers AS (SELECT * FROM parquet.`..`), ... (query) */
static tg_str over_database(tg_str query, const char *golden, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < TG_COUNT(TABLES); i++) {
        tg_buf_addf(&text, "%s%s AS (SELECT * FROM parquet.`%s/sql/database/%s.parquet`)",
                    i > 0 ? ", " : "WITH ", TABLES[i], golden, TABLES[i]);
    }
    tg_buf_addf(&text, " (%.*s\n)", TG_SARG(query));
    return tg_buf_take(&text, arena);
}

static tg_code print_scan(void *self, const tg_rel *scan, size_t index, tg_buf *out, tg_error *err)
{
    (void)self;
    (void)index;
    (void)err;
    tg_buf_addz(out, "parquet.");
    tg_sql_print_ident(scan->table->path, out);
    return TG_OK;
}

static bool has_same_columns(const tg_rel *a, const tg_rel *b)
{
    if (a->column_count != b->column_count) {
        return false;
    }
    for (size_t i = 0; i < a->column_count; i++) {
        if (!tg_type_equal(a->columns[i].type, b->columns[i].type)) {
            return false;
        }
    }
    return true;
}

/* ---- running --------------------------------------------------------------------------------- */

/* out_number: the last row's first column, a BIGINT; NULL: the rows are only fetched. */
static tg_code run(lab *l, tg_str sql, tg_arena *arena, int64_t *out_number, tg_error *err)
{
    tg_bound_query bound;
    TG_TRY(bind(l, sql, arena, &bound, err));
    tg_engine_context context = {.zone = l->zone, .now_us = INT64_C(1704067200000000)};
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    TG_TRY(l->engine->query(l->engine->self, &context, bound.rel, &stream, err));
    tg_code code = TG_OK;
    while (code == TG_OK) {
        if (stream.get_next(&stream, &array) != 0) {
            code = l->engine->fetch_error(l->engine->self, &stream, err);
            break;
        }
        if (!array.release) {
            break;
        }
        if (out_number && array.length > 0) {
            *out_number = ((const int64_t *)array.children[0]->buffers[1])[array.offset];
        }
        array.release(&array);
    }
    stream.release(&stream);
    return code;
}

/* Rows that only one of two queries has. */
static void check_rows(lab *l, tg_str first, tg_str second, tg_arena *arena, counts *n)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t number = -1;
    tg_str difference = tg_str_printf(
        arena,
        "SELECT count(*) FROM (((%.*s) EXCEPT ALL (%.*s)) UNION ALL ((%.*s) EXCEPT ALL (%.*s)))",
        TG_SARG(first), TG_SARG(second), TG_SARG(second), TG_SARG(first));
    if (run(l, difference, arena, &number, &err) == TG_OK) {
        if (number != 0) {
            print_error("%lld rows differ:\n  %.*s\n  %.*s\n", (long long)number, TG_SARG(first),
                        TG_SARG(second));
            n->failures++;
        }
        n->same_rows++;
        return;
    }
    /* Maps have no EXCEPT, and statements of the corpus that fail must fail alike. */
    tg_auto_error tg_error first_err = TG_ERROR_INIT, second_err = TG_ERROR_INIT;
    tg_code first_code = run(l, first, arena, NULL, &first_err);
    tg_code second_code = run(l, second, arena, NULL, &second_err);
    if (first_code != second_code) {
        print_error("one fails: %s, %s\n  %.*s\n  %.*s\n",
                    first_err.message ? first_err.message : "-",
                    second_err.message ? second_err.message : "-", TG_SARG(first), TG_SARG(second));
        n->failures++;
    }
    n->fail_alike += first_code != TG_OK;
    n->incomparable += first_code == TG_OK;
}

/* ---- one statement --------------------------------------------------------------------------- */

static int complain(counts *n, const char *what, tg_str text, const tg_buf *printed,
                    const tg_error *err)
{
    print_error("%s: %s\n  source:  %.*s\n  printed: %.*s\n", what,
                err->message ? err->message : "-", TG_SARG(text), TG_SARG(tg_buf_str(printed)));
    n->failures++;
    return 1;
}

static void check_pretty(tg_str text, tg_arena *arena)
{
    tg_auto_buf tg_buf pretty = TG_BUF_INIT;
    tg_query *query, *again;
    assert_ok(tg_sql_parse_query(text, arena, &query, NULL), NULL);
    tg_sql_print_query(query, /* pretty= */ true, &pretty);
    assert_ok(tg_sql_parse_query(tg_buf_str(&pretty), arena, &again, NULL), NULL);
    assert_true(tg_sql_query_equal(query, again));
}

static void check(lab *l, tg_str query, const char *golden, counts *n)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf printed = TG_BUF_INIT;
    tg_str text = over_database(query, golden, arena);
    tg_bound_query bound, again;
    n->statements++;
    if (bind(l, text, arena, &bound, &err) != TG_OK) {
        return;
    }
    n->bound++;
    tg_print_options options = {
        .dialect = TG_DIALECT_SPARK, .scan = print_scan, .zone = tg_zone_name(l->zone)};
    if (tg_sql_print_rel(bound.rel, &options, /* numbered_output= */ true, &printed, &err) !=
        TG_OK) {
        (void)complain(n, "does not print", query, &printed, &err);
        return;
    }
    tg_str again_text = tg_buf_str(&printed);
    if (bind(l, again_text, arena, &again, &err) != TG_OK) {
        (void)complain(n, "does not bind", query, &printed, &err);
        return;
    }
    if (!has_same_columns(bound.rel, again.rel)) {
        (void)complain(n, "has other columns", query, &printed, &err);
        return;
    }
    n->printed++;
    check_pretty(again_text, arena);
    if (bound.is_deterministic) {
        check_rows(l, text, again_text, arena, n);
    }
}

/* ---- the corpus ------------------------------------------------------------------------------ */

static tg_str read_golden(const char *name, const char **out_golden, tg_arena *arena)
{
    tg_str text;
    *out_golden = getenv("TIDEGATE_GOLDEN");
    tg_str path =
        tg_str_printf(arena, "%s/sql/%s", *out_golden ? *out_golden : "/no/such/folder", name);
    if (tg_fs_read(tg_fs_local(), path, FILE_BYTES_MAX, arena, &text, NULL) != TG_OK) {
        print_message("skipped: no golden statements at %.*s\n", TG_SARG(path));
        skip();
    }
    return text;
}

static void finish(const counts *n)
{
    print_message("%d statements, %d bind, %d print for Spark and bind again: %d have the same "
                  "rows, %d fail alike, %d have rows that do not compare\n",
                  n->statements, n->bound, n->printed, n->same_rows, n->fail_alike,
                  n->incomparable);
    assert_int_equal(n->failures, 0);
    assert_int_equal(n->printed, n->bound);
    assert_true(n->bound * 4 > n->statements * 3);
    assert_true(n->same_rows * 10 > n->bound * 7);
}

static void test_queries(void **state)
{
    lab *l = *state;
    const char *golden;
    tg_str text = read_golden("queries.jsonl", &golden, l->arena);
    counts n = {0};
    for (size_t pos = 0; pos < text.len;) {
        tg_auto_arena tg_arena *arena = tg_arena_new();
        size_t end = tg_str_find(text, TG_S("\n"), pos);
        yyjson_val *root;
        assert_ok(tg_json_parse(tg_str_sub(text, pos, end), 0, arena, &root, NULL), NULL);
        check(l, tg_str_from(yyjson_get_str(tg_json_get(root, "sql"))), golden, &n);
        pos = end + 1;
    }
    finish(&n);
}

static void test_expressions(void **state)
{
    lab *l = *state;
    const char *golden;
    tg_str text = read_golden("expressions.tsv", &golden, l->arena);
    counts n = {0};
    for (size_t pos = tg_str_find(text, TG_S("\n"), 0) + 1; pos < text.len;) {
        tg_auto_arena tg_arena *arena = tg_arena_new();
        size_t end = tg_str_find(text, TG_S("\n"), pos);
        tg_str line = tg_str_sub(text, pos, end);
        size_t from = tg_str_find(line, TG_S("\t"), tg_str_find(line, TG_S("\t"), 0) + 1) + 1;
        tg_str expr = tg_str_sub(line, from, tg_str_find(line, TG_S("\t"), from));
        check(l, tg_str_printf(arena, "SELECT %.*s", TG_SARG(expr)), golden, &n);
        pos = end + 1;
    }
    finish(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_queries, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(test_expressions, lab_setup, lab_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
