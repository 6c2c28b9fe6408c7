/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <inttypes.h>

static void puts_gets_and_replaces(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_map map;
    int one = 1;
    int two = 2;
    tg_map_init(&map, arena);
    assert_null(tg_map_get(&map, TG_S("a")));
    assert_null(tg_map_remove(&map, TG_S("a")));
    assert_null(tg_map_put(&map, TG_S("a"), &one));
    assert_null(tg_map_put(&map, TG_S(""), &two));
    assert_null(tg_map_put(&map, TG_S("null"), NULL));
    assert_ptr_equal(tg_map_get(&map, TG_S("a")), &one);
    assert_ptr_equal(tg_map_get(&map, TG_S("")), &two);
    assert_null(tg_map_get(&map, TG_S("A")));
    assert_true(tg_map_has(&map, TG_S("null")));
    assert_false(tg_map_has(&map, TG_S("nul")));
    assert_ptr_equal(tg_map_put(&map, TG_S("a"), &two), &one);
    assert_int_equal(map.count, 3);
    assert_ptr_equal(tg_map_remove(&map, TG_S("a")), &two);
    assert_false(tg_map_has(&map, TG_S("a")));
    assert_int_equal(map.count, 2);
}

static void ignores_case_when_asked(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_map map;
    int one = 1;
    tg_map_init_ignore_case(&map, arena);
    char lower[200];
    char upper[200];
    memset(lower, 'q', sizeof(lower));
    memset(upper, 'Q', sizeof(upper));
    (void)tg_map_put(&map, (tg_str){lower, sizeof(lower)}, &one);
    (void)tg_map_put(&map, TG_S("Straße"), &one);
    assert_ptr_equal(tg_map_get(&map, (tg_str){upper, sizeof(upper)}), &one);
    assert_true(tg_map_has(&map, TG_S("sTRAße")));
    assert_false(tg_map_has(&map, TG_S("STRASSE")));
    assert_ptr_equal(tg_map_put(&map, TG_S("STRAßE"), NULL), &one);
    assert_str(map.entries[1].key, "Straße"); /* the first spelling stays */
}

/* Against a plain array, with a fixed sequence of pseudo-random steps. */
static void agrees_with_a_model(void **state)
{
    (void)state;
    enum { KEYS = 300, STEPS = 60000 };
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str keys[KEYS];
    void *model[KEYS] = {NULL};
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = tg_str_printf(arena, "key-%zu", i);
    }
    tg_map map;
    tg_map_init(&map, arena);
    uint64_t random = 12345;
    size_t live = 0;
    for (size_t step = 0; step < STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        size_t i = (size_t)(random >> 33) % KEYS;
        void *value = &keys[(random >> 20) % KEYS];
        if ((random >> 60) < 7) {
            assert_ptr_equal(tg_map_remove(&map, keys[i]), model[i]);
            live -= model[i] != NULL;
            model[i] = NULL;
        } else {
            assert_ptr_equal(tg_map_put(&map, keys[i], value), model[i]);
            live += model[i] == NULL;
            model[i] = value;
        }
        assert_int_equal(map.count, live);
    }
    for (size_t i = 0; i < KEYS; i++) {
        assert_ptr_equal(tg_map_get(&map, keys[i]), model[i]);
    }
    size_t seen = 0;
    for (size_t i = 0; i < map.used_count; i++) {
        seen += !map.entries[i].removed;
    }
    assert_int_equal(seen, live);
}

static void iterates_in_insertion_order(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_map map;
    tg_map_init(&map, arena);
    for (int i = 0; i < 5000; i++) {
        (void)tg_map_put(&map, tg_str_printf(arena, "%d", i * 7919 % 5000), NULL);
    }
    (void)tg_map_remove(&map, TG_S("0"));
    (void)tg_map_put(&map, TG_S("0"), NULL); /* goes to the end */
    assert_int_equal(map.count, 5000);
    int expected = 1;
    for (size_t i = 0; i < map.used_count; i++) {
        int64_t number;
        if (!map.entries[i].removed && tg_str_to_i64(map.entries[i].key, &number)) {
            assert_int_equal(number, expected % 5000 * 7919 % 5000);
            expected++;
        }
    }
    assert_int_equal(expected, 5001);
}

static void digests_are_stable(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    /* They stand in files: a change here makes every recorded fingerprint stale.. */
    assert_str(tg_digest_text(arena, tg_digest_of(TG_S(""))), "99aa06d3014798d86001c324468d497f");
    assert_str(tg_digest_text(arena, tg_digest_of(TG_S("tidegate"))),
               "61df8037d36688521df3c4923f6ee887");
}

static void the_real_world_works(void **state)
{
    (void)state;
    const tg_env *env = tg_env_system();
    char first[37];
    char second[37];
    env->uuid(env->self, first);
    env->uuid(env->self, second);
    assert_int_equal(strlen(first), 36);
    assert_int_equal(first[14], '4');
    assert_string_not_equal(first, second);
    assert_true(env->now_us(env->self) > INT64_C(1700000000000000));
    int64_t before = env->monotonic_ns(env->self);
    assert_true(env->monotonic_ns(env->self) >= before);
    assert_null(env->getenv(env->self, "TIDEGATE_SURELY_NOT_SET"));
    assert_non_null(env->getenv(env->self, "PATH"));
    assert_false(tg_env_is_cancelled(env));
    volatile sig_atomic_t flag = 1;
    tg_env mine = *env;
    mine.cancelled = &flag;
    assert_true(tg_env_is_cancelled(&mine));
    flag = 0;
    assert_false(tg_env_is_cancelled(&mine));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_gets_and_replaces), cmocka_unit_test(ignores_case_when_asked),
        cmocka_unit_test(agrees_with_a_model),    cmocka_unit_test(iterates_in_insertion_order),
        cmocka_unit_test(digests_are_stable),     cmocka_unit_test(the_real_world_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
