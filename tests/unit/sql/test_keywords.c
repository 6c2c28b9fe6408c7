/* SPDX-License-Identifier: Apache-2.0 */
/* The keyword table: its search needs it sorted, and a bound on the length of its words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/token.h"

static void test_sorted(void **state)
{
    (void)state;
    for (int i = TG_KW_NONE + 2; i < TG_KW_COUNT_; i++) {
        tg_str before = tg_str_from(tg_keyword_text((tg_keyword)(i - 1)));
        assert_true(tg_str_cmp(before, tg_str_from(tg_keyword_text((tg_keyword)i))) < 0);
    }
}

static void test_found(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (int i = TG_KW_NONE + 1; i < TG_KW_COUNT_; i++) {
        tg_str word = tg_str_from(tg_keyword_text((tg_keyword)i));
        assert_int_equal(tg_keyword_find(word), i);
        assert_int_equal(tg_keyword_find(tg_str_lower(arena, word)), i);
    }
    assert_int_equal(tg_keyword_find(TG_S("")), TG_KW_NONE);
    assert_int_equal(tg_keyword_find(TG_S("selec")), TG_KW_NONE);
    assert_int_equal(tg_keyword_find(TG_S("a_word_longer_than_every_keyword")), TG_KW_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
