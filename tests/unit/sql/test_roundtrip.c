/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse(print(parse(s))) is parse(s), and what was printed prints as itself: for the statements of
 * the fuzzer's corpus, which hold every production, and for those of the golden corpus.
 */
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "fs/fs.h"
#include "sql/sql.h"
#include "support/test.h"

enum { FILE_BYTES_MAX = 1 << 28 };

static int complain(const char *what, tg_str text, const tg_buf *printed)
{
    print_error("%s\n  source:  %.*s\n  printed: %.*s\n", what, TG_SARG(text),
                TG_SARG(tg_buf_str(printed)));
    return 1;
}

static int check_form(const tg_stmt *stmt, tg_str text, bool pretty, tg_arena *arena)
{
    tg_auto_buf tg_buf printed = TG_BUF_INIT, again = TG_BUF_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_stmt *parsed;
    tg_sql_print_stmt(stmt, pretty, &printed);
    if (tg_sql_parse_statement(tg_buf_str(&printed), arena, &parsed, &err) != TG_OK) {
        print_error("%s\n", err.message);
        return complain("the print does not parse", text, &printed);
    }
    if (!tg_sql_stmt_equal(stmt, parsed)) {
        return complain("the print is another tree", text, &printed);
    }
    tg_sql_print_stmt(parsed, pretty, &again);
    return tg_str_eq(tg_buf_str(&printed), tg_buf_str(&again))
               ? 0
               : complain("the print prints otherwise", text, &printed);
}

static int check_stmt(const tg_stmt *stmt, tg_arena *arena)
{
    return check_form(stmt, stmt->text, /* pretty= */ false, arena) +
           check_form(stmt, stmt->text, /* pretty= */ true, arena);
}

/* ---- the corpus of the fuzzer ---------------------------------------------------------------- */

static int check_file(tg_str path, tg_arena *arena, int *stmts_checked)
{
    tg_str text;
    tg_diags diags = TG_DIAGS_INIT;
    tg_stmt_list stmts;
    int failures = 0;
    assert_ok(tg_fs_read(tg_fs_local(), path, FILE_BYTES_MAX, arena, &text, NULL), NULL);
    tg_sql_parse_file(text, tg_str_cstr(arena, path), arena, &stmts, &diags);
    for (size_t i = 0; i < diags.count; i++) {
        tg_auto_buf tg_buf printed = TG_BUF_INIT;
        tg_error_print(&diags.items[i], &printed);
        print_error("%.*s\n", TG_SARG(tg_buf_str(&printed)));
        failures++;
    }
    tg_diags_dispose(&diags);
    for (size_t i = 0; i < stmts.count; i++) {
        failures += check_stmt(stmts.items[i], arena);
    }
    *stmts_checked += (int)stmts.count;
    return failures;
}

static void test_productions(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_fs_entry *entries;
    size_t count;
    tg_str folder = TG_S(TG_TEST_SOURCE_DIR "/tests/fuzz/corpora/sql");
    int failures = 0, checked = 0;
    assert_ok(tg_fs_list(tg_fs_local(), folder, false, arena, &entries, &count, NULL), NULL);
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ends(entries[i].name, TG_S(".sql"))) {
            failures += check_file(tg_path_join(arena, folder, entries[i].name), arena, &checked);
        }
    }
    assert_int_equal(failures, 0);
    assert_true(checked > 250);
}

/* ---- the golden corpus ----------------------------------------------------------------------- */

/* Some statements are there to be refused: they count as checked all the same. */
static int check_golden(tg_str text, int *parsed)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_stmt *stmt;
    if (tg_sql_parse_statement(text, arena, &stmt, NULL) != TG_OK) {
        return 0;
    }
    (*parsed)++;
    return check_stmt(stmt, arena);
}

/* The next line from *pos on; false at the end. */
static bool next_line(tg_str text, size_t *pos, tg_str *out_line)
{
    if (*pos >= text.len) {
        return false;
    }
    size_t end = tg_str_find(text, TG_S("\n"), *pos);
    end = end == SIZE_MAX ? text.len : end;
    *out_line = tg_str_sub(text, *pos, end);
    *pos = end + 1;
    return true;
}

static tg_str read_golden(const char *name, tg_arena *arena)
{
    const char *golden = getenv("TIDEGATE_GOLDEN");
    tg_str text;
    tg_str path = tg_str_printf(arena, "%s/sql/%s", golden ? golden : "/no/such/folder", name);
    if (tg_fs_read(tg_fs_local(), path, FILE_BYTES_MAX, arena, &text, NULL) != TG_OK) {
        print_message("skipped: no golden statements at %.*s\n", TG_SARG(path));
        skip();
    }
    return text;
}

static void test_golden_queries(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str text = read_golden("queries.jsonl", arena), line;
    size_t pos = 0;
    int failures = 0, parsed = 0, lines = 0;
    while (next_line(text, &pos, &line)) {
        yyjson_val *root;
        assert_ok(tg_json_parse(line, 0, arena, &root, NULL), NULL);
        failures += check_golden(tg_str_from(yyjson_get_str(tg_json_get(root, "sql"))), &parsed);
        lines++;
    }
    print_message("%d of %d queries parse\n", parsed, lines);
    assert_int_equal(failures, 0);
    assert_true(lines > 0 && parsed * 10 > lines * 9);
}

static void test_golden_expressions(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str text = read_golden("expressions.tsv", arena), line;
    size_t pos = 0;
    int failures = 0, parsed = 0, lines = 0;
    assert_true(next_line(text, &pos, &line));
    while (next_line(text, &pos, &line)) {
        size_t from = tg_str_find(line, TG_S("\t"), tg_str_find(line, TG_S("\t"), 0) + 1) + 1;
        tg_str expr = tg_str_sub(line, from, tg_str_find(line, TG_S("\t"), from));
        failures += check_golden(tg_str_printf(arena, "SELECT %.*s", TG_SARG(expr)), &parsed);
        lines++;
    }
    print_message("%d of %d expressions parse\n", parsed, lines);
    assert_int_equal(failures, 0);
    assert_true(lines > 0 && parsed * 10 > lines * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_productions),
                                       cmocka_unit_test(test_golden_queries),
                                       cmocka_unit_test(test_golden_expressions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
