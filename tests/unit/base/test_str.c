/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <locale.h>

static void compares(void **state)
{
    (void)state;
    tg_str null = {NULL, 0};
    assert_true(tg_str_eq(null, TG_S("")));
    assert_true(tg_str_ieq(null, null));
    assert_true(tg_str_eq(TG_S("a\0b"), TG_S("a\0b")));
    assert_false(tg_str_eq(TG_S("a"), TG_S("A")));
    assert_true(tg_str_ieq(TG_S("Order_ID"), TG_S("oRDER_id")));
    assert_false(tg_str_ieq(TG_S("[a"), TG_S("{a"))); /* differ by the case bit only */
    assert_false(tg_str_ieq(TG_S("É"), TG_S("é")));
    assert_true(tg_str_cmp(TG_S("a"), TG_S("ab")) < 0);
    assert_true(tg_str_cmp(TG_S("b"), TG_S("ab")) > 0);
    assert_true(tg_str_cmp(TG_S("é"), TG_S("z")) > 0); /* bytes are unsigned */
    assert_int_equal(tg_str_cmp(null, TG_S("")), 0);
    assert_int_equal(tg_str_from(NULL).len, 0);
}

static void searches(void **state)
{
    (void)state;
    tg_str s = TG_S("abcabc");
    assert_true(tg_str_starts(s, TG_S("abc")));
    assert_true(tg_str_starts(s, TG_S("")));
    assert_false(tg_str_starts(TG_S("ab"), TG_S("abc")));
    assert_true(tg_str_istarts(s, TG_S("ABC")));
    assert_true(tg_str_ends(s, TG_S("bc")));
    assert_true(tg_str_ends((tg_str){NULL, 0}, TG_S("")));
    assert_false(tg_str_ends(s, TG_S("xabcabc")));
    assert_int_equal(tg_str_find(s, TG_S("bc"), 0), 1);
    assert_int_equal(tg_str_find(s, TG_S("bc"), 2), 4);
    assert_int_equal(tg_str_find(s, TG_S("bc"), 5), SIZE_MAX);
    assert_int_equal(tg_str_find(s, TG_S("x"), 0), SIZE_MAX);
    assert_int_equal(tg_str_find(s, TG_S(""), 6), 6);
    assert_int_equal(tg_str_find((tg_str){0}, TG_S("x"), 0), SIZE_MAX);
    assert_int_equal(tg_str_find(s, TG_S(""), 7), SIZE_MAX);
    assert_str(tg_str_sub(s, 1, 3), "bc");
    assert_str(tg_str_trim(TG_S(" \t\r\n a b \v\f")), "a b");
    assert_str(tg_str_trim(TG_S("  ")), "");
}

static void finds_in_lists(void **state)
{
    (void)state;
    const tg_str list[] = {TG_S("a"), TG_S("bc")};
    assert_true(tg_str_is_in(TG_S("bc"), list, 2));
    assert_false(tg_str_is_in(TG_S("bc"), list, 1) || tg_str_is_in(TG_S("A"), list, 2));
    assert_false(tg_str_is_in(TG_S(""), NULL, 0));
}

static void copies(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    assert_str(tg_str_lower(arena, TG_S("AbZ[É")), "abz[É");
    assert_str(tg_str_upper(arena, TG_S("aBz{é")), "ABZ{é");
    assert_string_equal(tg_str_cstr(arena, TG_S("abc")), "abc");
    tg_str copy = tg_str_copy(arena, (tg_str){"abcdef", 3});
    assert_str(copy, "abc");
    assert_int_equal(copy.ptr[3], 0);
    assert_str(tg_str_printf(arena, "<%.*s>", TG_SARG(copy)), "<abc>");
}

static void reads_integers(void **state)
{
    (void)state;
    const struct {
        tg_str text;
        bool is_good;
        int64_t value;
    } cases[] = {
        {TG_S("0"), true, 0},
        {TG_S("-0"), true, 0},
        {TG_S("+7"), true, 7},
        {TG_S("007"), true, 7},
        {TG_S("9223372036854775807"), true, INT64_MAX},
        {TG_S("-9223372036854775808"), true, INT64_MIN},
        {TG_S("9223372036854775808"), false, 0},
        {TG_S("-9223372036854775809"), false, 0},
        {TG_S("99999999999999999999"), false, 0},
        {TG_S(""), false, 0},
        {TG_S("-"), false, 0},
        {TG_S("--1"), false, 0},
        {TG_S(" 1"), false, 0},
        {TG_S("1 "), false, 0},
        {TG_S("1.0"), false, 0},
        {TG_S("1e3"), false, 0},
        {TG_S("0x10"), false, 0},
        {TG_S("1\0"), false, 0},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        int64_t value = 42;
        assert_int_equal(tg_str_to_i64(cases[i].text, &value), cases[i].is_good);
        assert_true(value == (cases[i].is_good ? cases[i].value : 42));
    }
}

static void reads_doubles(void **state)
{
    (void)state;
    const struct {
        tg_str text;
        bool is_good;
        double value;
    } cases[] = {
        {TG_S("0"), true, 0.0},
        {TG_S("1.5"), true, 1.5},
        {TG_S("-1.5e3"), true, -1500.0},
        {TG_S("+.5"), true, 0.5},
        {TG_S("5."), true, 5.0},
        {TG_S("1E-2"), true, 0.01},
        {TG_S("0.1000000000000000055511151231257827021181583404541015625000000000000000"), true,
         0.1},
        {TG_S("1.7976931348623157e308"), true, 1.7976931348623157e308},
        {TG_S("1e-400"), true, 0.0},
        {TG_S("1e400"), false, 0},
        {TG_S(""), false, 0},
        {TG_S("."), false, 0},
        {TG_S("e5"), false, 0},
        {TG_S("1e"), false, 0},
        {TG_S("1e+"), false, 0},
        {TG_S("0x1p3"), false, 0},
        {TG_S("nan"), false, 0},
        {TG_S("inf"), false, 0},
        {TG_S("1,5"), false, 0},
        {TG_S(" 1"), false, 0},
        {TG_S("1d"), false, 0},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        double value = 42;
        assert_int_equal(tg_str_to_double(cases[i].text, &value), cases[i].is_good);
        double expected = cases[i].is_good ? cases[i].value : 42;
        assert_memory_equal(&value, &expected, sizeof(value));
    }
}

static void measures_distances(void **state)
{
    (void)state;
    assert_int_equal(tg_str_distance(TG_S(""), TG_S("")), 0);
    assert_int_equal(tg_str_distance(TG_S("abc"), TG_S("")), 3);
    assert_int_equal(tg_str_distance(TG_S("abc"), TG_S("ABC")), 0);
    assert_int_equal(tg_str_distance(TG_S("abc"), TG_S("abd")), 1);
    assert_int_equal(tg_str_distance(TG_S("abc"), TG_S("acb")), 1); /* neighbours swapped */
    assert_int_equal(tg_str_distance(TG_S("ca"), TG_S("abc")), 3);  /* optimal string alignment */
    assert_int_equal(tg_str_distance(TG_S("kitten"), TG_S("sitting")), 3);
    char longer[300];
    memset(longer, 'x', sizeof(longer));
    assert_int_equal(tg_str_distance((tg_str){longer, 300}, (tg_str){longer, 300}), 0);
    assert_int_equal(tg_str_distance((tg_str){longer, 300}, (tg_str){longer, 299}), 300);
}

static void suggests(void **state)
{
    (void)state;
    const tg_str names[] = {TG_S("order_id"), TG_S("order_date"), TG_S("amount"), TG_S("id")};
    assert_str(tg_str_nearest(TG_S("oder_id"), names, TG_COUNT(names)), "order_id");
    assert_str(tg_str_nearest(TG_S("ORDER_DATA"), names, TG_COUNT(names)), "order_date");
    assert_str(tg_str_nearest(TG_S("amuont"), names, TG_COUNT(names)), "amount");
    assert_str(tg_str_nearest(TG_S("di"), names, TG_COUNT(names)), "id");
    assert_str(tg_str_nearest(TG_S("x"), names, TG_COUNT(names)), "");
    assert_str(tg_str_nearest(TG_S("customer"), names, TG_COUNT(names)), "");
    assert_str(tg_str_nearest(TG_S(""), names, TG_COUNT(names)), "");
    assert_str(tg_str_nearest(TG_S("id"), NULL, 0), "");
}

static void grows_buffers(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    assert_str(tg_buf_str(&buf), "");
    assert_string_equal(tg_buf_cstr(&buf), "");
    tg_buf_adds(&buf, (tg_str){NULL, 0});
    tg_buf_addc(&buf, 'a');
    tg_buf_addz(&buf, "bc");
    tg_buf_addf(&buf, "%d%%", 7);
    assert_string_equal(tg_buf_cstr(&buf), "abc7%");
    for (int i = 0; i < 10000; i++) {
        tg_buf_addf(&buf, "%05d", i);
    }
    assert_int_equal(buf.len, 5 + 50000);
    assert_memory_equal(buf.ptr + 5 + 49995, "09999", 5);
    tg_str taken = tg_buf_take(&buf, arena);
    assert_int_equal(taken.len, 50005);
    assert_int_equal(buf.len, 0);
    tg_buf_add(&buf, "a\0b", 3);
    assert_int_equal(tg_buf_str(&buf).len, 3);
    tg_buf_clear(&buf);
    tg_buf_addq(&buf, TG_S("a`b'``"), '`');
    tg_buf_addq(&buf, TG_S(""), '"');
    assert_str(tg_buf_str(&buf), "`a``b'`````\"\"");
}

/* With the point, whatever the locale; see tests/e2e/test_locale.py for another one. */
static void test_doubles_as_text(void **state)
{
    (void)state;
    char text[32];
    tg_double_print(text, sizeof text, 'e', 2, 1234.5);
    assert_string_equal(text, "1.23e+03");
    tg_double_print(text, sizeof text, 'f', 2, 1234.5);
    assert_string_equal(text, "1234.50");
    tg_double_print(text, sizeof text, 'g', 6, 1e20);
    assert_string_equal(text, "1e+20");
    assert_true(tg_strtod("1.5x") == 1.5 && tg_strtof("0.1") == 0.1F);
}

int main(void)
{
    /* Numbers are read the same whatever the program's locale is. */
    (void)setlocale(LC_ALL, "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),      cmocka_unit_test(test_doubles_as_text),
        cmocka_unit_test(searches),      cmocka_unit_test(finds_in_lists),
        cmocka_unit_test(copies),        cmocka_unit_test(reads_integers),
        cmocka_unit_test(reads_doubles), cmocka_unit_test(measures_distances),
        cmocka_unit_test(suggests),      cmocka_unit_test(grows_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
