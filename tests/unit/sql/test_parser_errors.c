/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser says of wrong text: class, line, column (in characters), hint. */
#include <string.h>

#include "fs/fs.h"
#include "sql/sql.h"
#include "support/test.h"

#define SYNTAX "PARSE_SYNTAX_ERROR"

/* ---- the table ------------------------------------------------------------------------------- */

/* Cuts the next cell off the line. */
static tg_str take_cell(tg_str *line)
{
    size_t end = tg_str_find(*line, TG_S("\t"), 0);
    end = end == SIZE_MAX ? line->len : end;
    tg_str cell = tg_str_sub(*line, 0, end);
    *line = tg_str_sub(*line, end < line->len ? end + 1 : end, line->len);
    return cell;
}

/* \n stands for a line break. */
static tg_str unescaped(tg_str text, tg_arena *arena)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < text.len; i++) {
        bool is_break = tg_str_starts(tg_str_sub(text, i, text.len), TG_S("\\n"));
        tg_buf_addc(&out, is_break ? '\n' : text.ptr[i]);
        i += is_break;
    }
    return tg_buf_take(&out, arena);
}

/* A line: class, line:column, hint, statement. Prints what it should be when it is not. */
static int check_line(tg_str line)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_stmt *stmt;
    tg_str expected = line;
    for (int i = 0; i < 3; i++) {
        (void)take_cell(&line);
    }
    tg_str text = unescaped(line, arena);
    if (tg_sql_parse_statement(text, arena, &stmt, &err) == TG_OK) {
        print_error("no error: %.*s\n", TG_SARG(line));
        return 1;
    }
    tg_error_locate(&err, "f.sql", text);
    tg_str found = tg_str_printf(arena, "%s\t%d:%d\t%s\t%.*s", tg_error_name(&err), err.place.line,
                                 err.place.column, err.hint ? err.hint : "-", TG_SARG(line));
    if (!tg_str_eq(found, expected)) {
        print_error("%.*s\n", TG_SARG(found));
        return 1;
    }
    return 0;
}

static void test_table(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str path = TG_S(TG_TEST_SOURCE_DIR "/tests/unit/sql/wrong_statements.tsv"), text;
    int failures = 0, lines = 0;
    assert_ok(tg_fs_read(tg_fs_local(), path, 1 << 24, arena, &text, NULL), NULL);
    for (size_t pos = 0; pos < text.len; lines++) {
        size_t end = tg_str_find(text, TG_S("\n"), pos);
        failures += check_line(tg_str_sub(text, pos, end));
        pos = end + 1;
    }
    assert_int_equal(failures, 0);
    assert_true(lines > 150);
}

/* ---- bytes that a C string cannot show ------------------------------------------------------- */

static void check_bytes(tg_str text, const char *cls, size_t offset)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_stmt *stmt;
    tg_code code = tg_sql_parse_statement(text, arena, &stmt, &err);
    assert_int_not_equal(code, TG_OK);
    assert_error_class(&err, cls);
    assert_int_equal(err.span_offset, offset);
}

static void test_bytes(void **state)
{
    (void)state;
    check_bytes(TG_S("SELECT \0 1"), SYNTAX, 7);
    check_bytes(TG_S("SELECT '\xFF'"), SYNTAX, 8);
    check_bytes(TG_S("SELECT '\xC3"), SYNTAX, 8);
    check_bytes(TG_S("SELECT '\xED\xA0\x80'"), SYNTAX, 8);
    check_bytes(TG_S("\xFE\xFF"), SYNTAX, 0);
}

/* ---- depth ----------------------------------------------------------------------------------- */

/* before^n middle after^n within frame's %s. */
typedef struct nest {
    const char *before, *middle, *after, *frame;
    int deepest; /* that is accepted */
} nest;

static tg_str nested(const nest *n, int count, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    const char *hole = strstr(n->frame, "@");
    tg_buf_add(&text, n->frame, (size_t)(hole - n->frame));
    for (int i = 0; i < count; i++) {
        tg_buf_addz(&text, n->before);
    }
    tg_buf_addz(&text, n->middle);
    for (int i = 0; i < count; i++) {
        tg_buf_addz(&text, n->after);
    }
    tg_buf_addz(&text, hole + 1);
    return tg_buf_take(&text, arena);
}

static tg_code parse_nested(const nest *n, int count, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_stmt *stmt;
    return tg_sql_parse_statement(nested(n, count, arena), arena, &stmt, err);
}

static const nest NESTS[] = {
    {"(", "1", ")", "SELECT @", 198},
    {"f(", "1", ")", "SELECT @", 198},
    {"a[", "1", "]", "SELECT @", 397},
    {"array(", "1", ")", "SELECT @", 198},
    {"map(1, ", "1", ")", "SELECT @", 198},
    {"NOT ", "a", "", "SELECT @", 397},
    {"- ", "a", "", "SELECT @", 397},
    {"~", "a", "", "SELECT @", 397},
    {"CASE WHEN a THEN ", "1", " END", "SELECT @", 198},
    {"CAST(", "1", " AS INT)", "SELECT @", 198},
    {"x -> ", "1", "", "SELECT f(@)", 197},
    {"(SELECT ", "1", ")", "SELECT @", 132},
    {"EXISTS (SELECT ", "1", ")", "SELECT @", 198},
    {"1 IN (SELECT ", "1", ")", "SELECT @", 198},
    {"(", "SELECT 1", ")", "@", 397},
    {"(SELECT * FROM ", "t", ")", "SELECT * FROM @", 198},
    {"(", "t", ")", "SELECT * FROM @", 398},
    {"WITH a AS (", "SELECT 1", ") SELECT 2", "@", 397},
    {"ARRAY<", "INT", ">", "SELECT CAST(1 AS @)", 396},
    {"MAP<INT, ", "INT", ">", "SELECT CAST(1 AS @)", 396},
    {"STRUCT<a: ", "INT", ">", "SELECT CAST(1 AS @)", 396},
    {"EXPLAIN ", "SELECT 1", "", "@", 397},
};

/* The deepest that is accepted is found by trying; one more level is refused with the limit's class,
 * and so is a depth that would end the stack. */
static void test_depth(void **state)
{
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < TG_COUNT(NESTS); i++) {
        const nest *n = &NESTS[i];
        int low = 1, high = TG_LIMIT_EXPRESSION_DEPTH + 1;
        while (high - low > 1) {
            tg_auto_error tg_error err = TG_ERROR_INIT;
            int middle = low + (high - low) / 2;
            if (parse_nested(n, middle, &err) == TG_OK) {
                low = middle;
            } else {
                assert_error_class(&err, "TIDEGATE_LIMIT_EXCEEDED");
                high = middle;
            }
        }
        if (low != n->deepest) {
            print_error("%s: %d levels are accepted, %d expected\n", n->before, low, n->deepest);
            failures++;
        }
        for (int count = low + 1; count <= 100000; count = count * 10) {
            tg_auto_error tg_error err = TG_ERROR_INIT;
            assert_int_not_equal(parse_nested(n, count, &err), TG_OK);
            assert_error_class(&err, "TIDEGATE_LIMIT_EXCEEDED");
            assert_true(err.has_span);
        }
    }
    assert_int_equal(failures, 0);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* SELECT 1 + 1 + ... with a comment up to size. */
static tg_str of_size(size_t size, tg_arena *arena)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addz(&text, "SELECT 1");
    while (text.len + 4 <= size) {
        tg_buf_addz(&text, " + 1");
    }
    while (text.len < size) {
        tg_buf_addc(&text, ' ');
    }
    return tg_buf_take(&text, arena);
}

static void test_size(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_stmt *stmt;
    assert_ok(tg_sql_parse_statement(of_size(TG_LIMIT_STATEMENT_BYTES, arena), arena, &stmt, &err),
              &err);
    assert_int_not_equal(
        tg_sql_parse_statement(of_size(TG_LIMIT_STATEMENT_BYTES + 1, arena), arena, &stmt, &err),
        TG_OK);
    assert_error_class(&err, "TIDEGATE_LIMIT_EXCEEDED");
}

/* A name at its limit and beyond, bare and quoted. */
static void test_name_length(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        for (int quoted = 0; quoted < 2; quoted++) {
            tg_auto_arena tg_arena *arena = tg_arena_new();
            tg_auto_error tg_error err = TG_ERROR_INIT;
            tg_stmt *stmt;
            char name[TG_LIMIT_IDENTIFIER_BYTES + 2];
            memset(name, 'a', sizeof(name));
            tg_str text = tg_str_printf(arena, quoted ? "SELECT `%.*s`" : "SELECT %.*s",
                                        TG_LIMIT_IDENTIFIER_BYTES + extra, name);
            tg_code code = tg_sql_parse_statement(text, arena, &stmt, &err);
            assert_int_equal(code, extra ? TG_LIMIT : TG_OK);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_depth), cmocka_unit_test(test_size),
                                       cmocka_unit_test(test_name_length)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
