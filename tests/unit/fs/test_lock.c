/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that end with their process, and parts of files. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/fs.h"
#include "support/test.h"

static tg_arena *arena;

static tg_str path_of(const char *name)
{
    return tg_path_join(arena, tg_str_from(tg_test_folder(arena)), tg_str_from(name));
}

static bool is_locked(tg_str path)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    bool locked;
    assert_ok(tg_fs_is_locked(tg_fs_local(), path, &locked, &err), &err);
    return locked;
}

static tg_fs_lock *take(tg_str path)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_fs_lock *lock;
    assert_ok(tg_fs_take_lock(tg_fs_local(), path, arena, &lock, &err), &err);
    return lock;
}

static void test_one_holder(void **state)
{
    (void)state;
    tg_str path = path_of("lock");
    tg_fs_lock *lock = take(path);
    assert_non_null(lock);
    assert_true(is_locked(path));
    assert_null(take(path));
    /* writing and reading by other descriptors does not end it */
    assert_ok(tg_fs_append(tg_fs_local(), path, TG_S("x"), NULL), NULL);
    assert_true(is_locked(path));
    tg_fs_unlock(tg_fs_local(), lock);
    assert_false(is_locked(path));
    tg_fs_unlock(tg_fs_local(), lock);
    tg_fs_unlock(tg_fs_local(), NULL);
    assert_non_null(take(path));
}

static void test_ends_with_the_arena(void **state)
{
    (void)state;
    tg_str path = path_of("lock");
    tg_arena *own = tg_arena_new();
    tg_fs_lock *lock;
    assert_ok(tg_fs_take_lock(tg_fs_local(), path, own, &lock, NULL), NULL);
    assert_true(is_locked(path));
    tg_arena_free(own);
    assert_false(is_locked(path));
}

/* The other process is killed while it holds the lock. */
static void test_ends_with_the_process(void **state)
{
    (void)state;
    tg_str path = path_of("lock");
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        char done = take(path) ? 'y' : 'n';
        (void)!write(told[1], &done, 1);
        pause();
        _exit(0);
    }
    char answer = 0;
    assert_int_equal(read(told[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    assert_true(is_locked(path));
    assert_null(take(path));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(is_locked(path));
    (void)close(told[0]);
    (void)close(told[1]);
}

static void test_errors(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_fs_lock *lock;
    bool locked;
    tg_str missing = path_of("nowhere/lock");
    assert_int_equal(tg_fs_take_lock(tg_fs_local(), missing, arena, &lock, &err), TG_NOT_FOUND);
    assert_null(lock);
    assert_int_equal(tg_fs_is_locked(tg_fs_local(), missing, &locked, &err), TG_NOT_FOUND);
}

static void test_parts(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str path = path_of("file");
    assert_ok(tg_fs_append(tg_fs_local(), path, TG_S("0123456789"), NULL), NULL);
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    assert_ok(tg_fs_read_part(tg_fs_local(), path, 2, 3, &out, &err), &err);
    assert_str(tg_buf_str(&out), "234");
    assert_ok(tg_fs_read_part(tg_fs_local(), path, 8, 100, &out, &err), &err);
    assert_str(tg_buf_str(&out), "23489");
    assert_ok(tg_fs_read_part(tg_fs_local(), path, 10, 1, &out, &err), &err);
    assert_int_equal(out.len, 5);
    assert_int_equal(tg_fs_read_part(tg_fs_local(), path_of("none"), 0, 1, &out, &err),
                     TG_NOT_FOUND);
}

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test(test_ends_with_the_arena),
        cmocka_unit_test(test_ends_with_the_process),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
