/* SPDX-License-Identifier: Apache-2.0 */
/* Java regular expressions as RE2: what is translated, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/regex.h"

static void check(const char *java, const char *re2)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_regex regex = tg_regex_translate(tg_str_from(java), false, arena);
    assert_null(regex.refusal);
    assert_string_equal(tg_str_cstr(arena, regex.text), re2);
}

static void check_refused(const char *java)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    assert_non_null(tg_regex_translate(tg_str_from(java), false, arena).refusal);
}

static void test_translation(void **state)
{
    (void)state;
    check("(\\d+)-(\\w*?)", "(\\d+)-(\\w*?)");
    check("\\s", "[ \\t\\n\\v\\f\\r]");
    check("[\\s,]", "[ \\t\\n\\v\\f\\r,]");
    check("a.b", "a[^\\n\\r\\x{85}\\x{2028}\\x{2029}]b");
    check("(?s)a.b", "(?s)a.b");
    check("\\u00e9", "\\x{00e9}");
    check("\\p{L}\\p{Alpha}", "\\p{L}[[:alpha:]]");
    check("(?<n>x)", "(?P<n>x)");
    check("\\Qa.b\\E", "a\\.b");
    check("a{2,3}", "a{2,3}");
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "(?=a)", "(?!a)",  "(?<=a)b", "(?<!a)b", "(a)\\1",       "a*+",     "a++",
        "(?>a)", "[a&&b]", "[a[b]]",  "\\R",     "\\h",          "\\Z",     "(a",
        "a)",    "[a",     "*a",      "a\\",     "(?i)\xC3\xA9", "a{2000}", "(?u)a",
        "a**",   "\\cA",   "[]a]",    "a{",      "\\p{IsLatin}", "(?m)a$"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        check_refused(patterns[i]);
    }
}

static void test_facts(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_regex regex = tg_regex_translate(TG_S("(a)(?:b)(?<n>c)"), false, arena);
    assert_int_equal(regex.group_count, 2);
    assert_false(regex.matches_empty);
    assert_true(tg_regex_translate(TG_S("x*"), false, arena).matches_empty);
    assert_true(tg_regex_translate(TG_S("a|"), false, arena).matches_empty);
    assert_true(tg_regex_translate(TG_S("\\b"), false, arena).matches_empty);
    regex = tg_regex_translate(TG_S("a\\.b"), false, arena);
    assert_true(regex.is_plain);
    assert_string_equal(tg_str_cstr(arena, regex.plain), "a.b");
    assert_false(tg_regex_translate(TG_S("a.b"), false, arena).is_plain);
}

static void test_replacement(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str out;
    const char *why = NULL;
    assert_true(tg_regex_translate_replacement(TG_S("$1-\\$\\\\$0"), 1, arena, &out, &why));
    assert_string_equal(tg_str_cstr(arena, out), "\\1-$\\\\\\0");
    assert_false(tg_regex_translate_replacement(TG_S("$2"), 1, arena, &out, &why));
    assert_false(tg_regex_translate_replacement(TG_S("${n}"), 1, arena, &out, &why));
    assert_false(tg_regex_translate_replacement(TG_S("$"), 1, arena, &out, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_replacement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
