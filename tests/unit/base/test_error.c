/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

static void knows_its_classes(void **state)
{
    (void)state;
    assert_string_equal(tg_error_class_name(TG_E_TABLE_OR_VIEW_NOT_FOUND),
                        "TABLE_OR_VIEW_NOT_FOUND");
    assert_string_equal(tg_error_class_sqlstate(TG_E_TABLE_OR_VIEW_NOT_FOUND), "42P01");
    assert_int_equal(tg_error_class_code(TG_E_TABLE_OR_VIEW_NOT_FOUND), TG_NOT_FOUND);
    assert_int_equal(tg_error_class_find(TG_S("TABLE_OR_VIEW_NOT_FOUND")),
                     TG_E_TABLE_OR_VIEW_NOT_FOUND);
    assert_int_equal(tg_error_class_find(TG_S("table_or_view_not_found")), TG_E_NONE);
    for (int cls = TG_E_NONE + 1; cls < TG_E_COUNT_; cls++) {
        tg_error_class this_class = (tg_error_class)cls;
        assert_int_equal(strlen(tg_error_class_sqlstate(this_class)), 5);
        assert_int_not_equal(tg_error_class_code(this_class), TG_OK);
        assert_true(strlen(tg_error_class_doc(this_class)) > 10);
        assert_int_equal(tg_error_class_find(tg_str_from(tg_error_class_name(this_class))), cls);
    }
}

static void sets_adds_and_clears(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_false(tg_error_is_set(&err));
    assert_int_equal(TG_ERR(&err, DIVIDE_BY_ZERO, "row %d", 7), TG_EXECUTION);
    assert_string_equal(err.message, "row 7");
    assert_string_equal(err.sqlstate, "22012");
    assert_int_equal(tg_error_detail(&err, "Detail %d.", 1), TG_EXECUTION);
    assert_int_equal(tg_error_detail(&err, "Detail %d.", 2), TG_EXECUTION);
    assert_int_equal(tg_error_hint(&err, "Hint."), TG_EXECUTION);
    (void)tg_error_context(&err, "inner");
    (void)tg_error_context(&err, "outer");
    assert_string_equal(err.detail, "Detail 2.");
    assert_string_equal(err.context, "outer; inner");
    /* An error may be set anew from its own text. */
    (void)TG_ERR(&err, INTERNAL_ERROR, "was: %s", err.message);
    assert_string_equal(err.message, "was: row 7");
    assert_null(err.detail);
    assert_null(err.context);
    tg_error_clear(&err);
    assert_false(tg_error_is_set(&err));
    assert_null(err.message);
}

static void takes_no_error(void **state)
{
    (void)state;
    assert_int_equal(TG_ERR(NULL, TABLE_OR_VIEW_NOT_FOUND, "x"), TG_NOT_FOUND);
    assert_int_equal(tg_error_hint(NULL, "x"), TG_NOT_FOUND);
    assert_int_equal(tg_error_set_named(NULL, TG_CONFLICT, "A", "40001", "x"), TG_CONFLICT);
    assert_int_equal(tg_error_detail(NULL, "x"), TG_CONFLICT);
    assert_int_equal(tg_error_context(NULL, "x"), TG_CONFLICT);
    assert_int_equal(tg_error_span(NULL, 0, 1), TG_CONFLICT);
}

static void an_addition_is_never_a_success(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_error_hint(&err, "x"), TG_INTERNAL);
    assert_int_equal(tg_error_span(&err, 0, 1), TG_INTERNAL);
    tg_auto_error tg_error unset = TG_ERROR_INIT;
    assert_int_equal(tg_error_pass(&unset, &err), TG_INTERNAL);
    assert_false(tg_error_is_set(&err));
}

static void holds_foreign_conditions(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_code code = tg_error_set_named(&err, TG_EXECUTION, "SPARK_THING.SUB", "42XYZ", "text");
    assert_int_equal(code, TG_EXECUTION);
    assert_string_equal(tg_error_name(&err), "SPARK_THING.SUB");
    assert_string_equal(err.sqlstate, "42XYZ");
    assert_int_equal(err.cls, TG_E_NONE);
    (void)tg_error_set_named(&err, TG_EXECUTION, "DIVIDE_BY_ZERO", "22012", "text");
    assert_int_equal(err.cls, TG_E_DIVIDE_BY_ZERO);
}

static void moves_and_copies(void **state)
{
    (void)state;
    tg_auto_error tg_error from = TG_ERROR_INIT;
    tg_auto_error tg_error copy = TG_ERROR_INIT;
    tg_auto_error tg_error to = TG_ERROR_INIT;
    (void)tg_error_set_named(&from, TG_EXECUTION, "A", "42000", "text");
    (void)tg_error_hint(&from, "hint");
    (void)tg_error_span(&from, 1, 1);
    tg_error_locate(&from, "f.sql", TG_S("abc"));
    (void)TG_ERR(&copy, INTERNAL_ERROR, "old");
    tg_error_copy(&copy, &from);
    tg_error_copy(&copy, &copy);
    tg_error_move(&to, &from);
    tg_error_move(&to, &to);
    assert_false(tg_error_is_set(&from));
    assert_null(from.place.excerpt);
    assert_string_equal(to.place.excerpt, "abc");
    assert_string_equal(copy.place.excerpt, "abc");
    assert_ptr_not_equal(copy.place.excerpt, to.place.excerpt);
    assert_string_equal(copy.hint, "hint");
}

/* What a user sees for a span in a text. */
static void assert_printed(tg_str text, size_t offset, size_t len, const char *expected)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    (void)TG_ERR(&err, PARSE_SYNTAX_ERROR, "no");
    (void)tg_error_span(&err, offset, len);
    tg_error_locate(&err, "f.sql", text);
    tg_error_print(&err, &out);
    const char *head = "[PARSE_SYNTAX_ERROR] no. SQLSTATE: 42601\n  --> f.sql:";
    assert_true(tg_str_starts(tg_buf_str(&out), tg_str_from(head)));
    assert_str(tg_str_from(tg_buf_cstr(&out) + strlen(head)), expected);
}

static void points_at_the_place(void **state)
{
    (void)state;
    assert_printed(TG_S("SELECT x"), 7, 1, "1:8\n   | SELECT x\n   |        ^\n");
    assert_printed(TG_S("a\nbb ccc\r\nd"), 5, 3, "2:4\n   | bb ccc\n   |    ^^^\n");
    /* Over the end of the line, and behind the end of the text. */
    assert_printed(TG_S("abc\ndef"), 1, 100, "1:2\n   | abc\n   |  ^^\n");
    assert_printed(TG_S("abc"), 3, 0, "1:4\n   | abc\n   |    ^\n");
    assert_printed(TG_S("abc"), 300, 5, "1:4\n   | abc\n   |    ^\n");
    assert_printed(TG_S("abc\n"), 4, 1, "2:1\n   | \n   | ^\n");
    assert_printed(TG_S(""), 0, 0, "1:1\n   | \n   | ^\n");
    assert_printed(TG_S("ab\r\ncd"), 2, 1, "1:3\n   | ab\n   |   ^\n");
    /* Tabs stay, wide letters take two columns, marks none; columns count code points. */
    assert_printed(TG_S("\tx\ty z"), 3, 1, "1:4\n   | \tx\ty z\n   | \t \t^\n");
    assert_printed(TG_S("漢字 x"), 7, 1, "1:4\n   | 漢字 x\n   |      ^\n");
    assert_printed(TG_S("漢字"), 3, 3, "1:2\n   | 漢字\n   |   ^^\n");
    assert_printed(TG_S("é é x"), 6, 1, "1:5\n   | é é x\n   |     ^\n");
    assert_printed(TG_S("e\xCC\x81 x"), 4, 1, "1:4\n   | e\xCC\x81 x\n   |   ^\n");
    /*
     * In the middle of a character: its start. Control characters and broken bytes are shown, not
     * sent.
     */
    assert_printed(TG_S("漢x"), 1, 1, "1:1\n   | 漢x\n   | ^^\n");
    assert_printed(TG_S("\x1B[31m\xFF x"), 7, 1,
                   "1:8\n   | \xEF\xBF\xBD[31m\xEF\xBF\xBD x\n   |        ^\n");
}

static void cuts_long_lines(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    enum { LEN = 100000, AT = 50001 };
    char *text = tg_arena_alloc(arena, LEN);
    memset(text, 'a', LEN);
    memcpy(text + AT, "bad", 3);
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, PARSE_SYNTAX_ERROR, "no");
    (void)tg_error_span(&err, AT, 3);
    tg_error_locate(&err, NULL, (tg_str){text, LEN});
    assert_int_equal(err.place.column, AT + 1);
    assert_true(strlen(err.place.excerpt) <= 240);
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_error_print(&err, &out);
    tg_str printed = tg_buf_str(&out);
    assert_int_not_equal(tg_str_find(printed, TG_S("--> <text>:1:50002\n"), 0), SIZE_MAX);
    size_t bad = tg_str_find(printed, TG_S("bad"), 0);
    size_t caret = tg_str_find(printed, TG_S("^^^"), 0);
    size_t line_len = strlen("   | ") + strlen(err.place.excerpt) + 1;
    assert_int_equal(caret - bad, line_len);
    /* A second place does not replace the first. */
    tg_error_locate(&err, "other", TG_S("x"));
    assert_int_equal(err.place.column, AT + 1);
}

static void prints_all_parts(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    (void)TG_ERR(&err, TABLE_OR_VIEW_NOT_FOUND, "table or view `x` cannot be found");
    (void)tg_error_detail(&err, "There are 2 tables.");
    (void)tg_error_hint(&err, "Did you mean `y`?");
    (void)tg_error_context(&err, "while planning flow 'a'");
    tg_error_print(&err, &out);
    assert_str(tg_buf_str(&out),
               "[TABLE_OR_VIEW_NOT_FOUND] table or view `x` cannot be found. SQLSTATE: 42P01\n"
               "detail: There are 2 tables.\n"
               "hint: Did you mean `y`?\n"
               "context: while planning flow 'a'\n");
    tg_buf_clear(&out);
    (void)TG_ERR(&err, INTERNAL_ERROR, "Really?");
    tg_error_print(&err, &out);
    assert_str(tg_buf_str(&out), "[INTERNAL_ERROR] Really? SQLSTATE: XX000\n");
}

static void collects_until_the_limit(void **state)
{
    (void)state;
    tg_diags diags = TG_DIAGS_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_diags_first(&diags, &err), TG_OK);
    for (int i = 0; i < TG_LIMIT_DIAGNOSTICS + 5; i++) {
        (void)TG_ERR(&err, INTERNAL_ERROR, "warning %d", i);
        tg_diags_add_warning(&diags, &err);
        assert_false(tg_error_is_set(&err));
    }
    assert_int_equal(diags.count, TG_LIMIT_DIAGNOSTICS);
    assert_int_equal(diags.error_count, 0);
    assert_int_equal(tg_diags_first(&diags, &err), TG_OK);
    for (int i = 0; i < 3; i++) {
        (void)TG_ERR(&err, DIVIDE_BY_ZERO, "error %d", i);
        tg_diags_add(&diags, &err);
    }
    assert_int_equal(diags.count, TG_LIMIT_DIAGNOSTICS);
    assert_int_equal(diags.error_count, 3);
    assert_int_equal(tg_diags_first(&diags, &err), TG_EXECUTION);
    assert_string_equal(err.message, "error 0");
    assert_int_equal(tg_diags_first(&diags, NULL), TG_EXECUTION);
    tg_diags_dispose(&diags);
    assert_int_equal(diags.count, 0);
}

static tg_code fails_below(tg_error *err)
{
    TG_FAIL(err, TIDEGATE_IO, "could not read file '%s'", "x");
}

static tg_code passes_on(tg_error *err)
{
    TG_TRY_CTX(fails_below(err), err, "while loading %d", 1);
    return TG_OK;
}

static tg_code passes_on_again(tg_error *err)
{
    TG_TRY(passes_on(err));
    return TG_OK;
}

static void macros_pass_errors_up(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_int_equal(passes_on_again(&err), TG_IO);
    assert_string_equal(err.context, "while loading 1");
    assert_int_equal(passes_on_again(NULL), TG_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_classes),
        cmocka_unit_test(sets_adds_and_clears),
        cmocka_unit_test(takes_no_error),
        cmocka_unit_test(an_addition_is_never_a_success),
        cmocka_unit_test(holds_foreign_conditions),
        cmocka_unit_test(moves_and_copies),
        cmocka_unit_test(points_at_the_place),
        cmocka_unit_test(cuts_long_lines),
        cmocka_unit_test(prints_all_parts),
        cmocka_unit_test(collects_until_the_limit),
        cmocka_unit_test(macros_pass_errors_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
