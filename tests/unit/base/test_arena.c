/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

static void gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *bytes = tg_arena_alloc(arena, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(bytes[i], 0);
            bytes[i] = 0xFF;
        }
    }
}

static void zeroes_again_after_reset(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (int round = 0; round < 5; round++) {
        unsigned char *small = tg_arena_alloc(arena, 100);
        unsigned char *large = tg_arena_alloc(arena, 1000000);
        assert_int_equal(small[99], 0);
        assert_int_equal(large[999999], 0);
        memset(small, 0xEE, 100);
        memset(large, 0xEE, 1000000);
        tg_arena_reset(arena);
    }
}

static void grows_the_newest_piece_in_place(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    char *first = tg_arena_alloc(arena, 10);
    memcpy(first, "0123456789", 10);
    char *grown = tg_arena_realloc(arena, first, 10, 200);
    assert_ptr_equal(grown, first);
    assert_int_equal(grown[10], 0);
    assert_int_equal(grown[199], 0);
    (void)tg_arena_alloc(arena, 1);
    char *moved = tg_arena_realloc(arena, grown, 200, 300);
    assert_ptr_not_equal(moved, grown);
    assert_memory_equal(moved, "0123456789", 10);
    assert_int_equal(moved[299], 0);
    assert_ptr_equal(tg_arena_realloc(arena, moved, 300, 20), moved);
    char *fresh = tg_arena_realloc(arena, NULL, 0, 5);
    assert_int_equal(fresh[4], 0);
}

static void grows_across_blocks(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    TG_VEC(int) numbers = {0};
    for (int i = 0; i < 100000; i++) {
        TG_VEC_PUSH(arena, &numbers, i);
        if (i % 1000 == 0) {
            (void)tg_arena_alloc(arena, 24);
        }
    }
    assert_int_equal(numbers.count, 100000);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(numbers.items[i], i);
    }
}

static void copies_texts(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    assert_string_equal(tg_arena_strdup(arena, "abc"), "abc");
    assert_string_equal(tg_arena_strdup(arena, ""), "");
    assert_string_equal(tg_arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(tg_arena_strndup(arena, NULL, 0), "");
    assert_string_equal(tg_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    assert_memory_equal(tg_arena_memdup(arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(tg_arena_memdup(arena, NULL, 0));
    char to[] = "kept";
    tg_copy_bytes(to, NULL, 0);
    assert_string_equal(to, "kept");
    tg_copy_bytes(to, "left", 4);
    assert_string_equal(to, "left");
}

static int order[4];
static int order_count;

static void note(void *object)
{
    order[order_count++] = *(int *)object;
}

static void runs_deferred_calls_newest_first(void **state)
{
    (void)state;
    static int numbers[] = {1, 2, 3};
    order_count = 0;
    tg_arena *arena = tg_arena_new();
    tg_arena_defer(arena, note, &numbers[0]);
    tg_arena_defer(arena, note, &numbers[1]);
    tg_arena_reset(arena);
    assert_int_equal(order_count, 2);
    assert_int_equal(order[0], 2);
    assert_int_equal(order[1], 1);
    tg_arena_defer(arena, note, &numbers[2]);
    tg_arena_free(arena);
    assert_int_equal(order_count, 3);
    assert_int_equal(order[2], 3);
    tg_arena_free(NULL);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

static void poisons_what_was_not_given(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    char *first = tg_arena_alloc(arena, 24);
    char *second = tg_arena_alloc(arena, 24);
    assert_false(__asan_address_is_poisoned(first + 23));
    assert_true(__asan_address_is_poisoned(first + 24));
    assert_true(__asan_address_is_poisoned(second + 24));
    tg_arena_reset(arena);
    assert_true(__asan_address_is_poisoned(first));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_aligned_memory),
        cmocka_unit_test(zeroes_again_after_reset),
        cmocka_unit_test(grows_the_newest_piece_in_place),
        cmocka_unit_test(grows_across_blocks),
        cmocka_unit_test(copies_texts),
        cmocka_unit_test(runs_deferred_calls_newest_first),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(poisons_what_was_not_given),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
