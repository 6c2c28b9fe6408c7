/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's own file system: what is removed, and what is not. */
#include <unistd.h>

#include "fs/fs.h"
#include "support/test.h"

static tg_arena *arena;

static tg_str at(tg_str folder, const char *name)
{
    return tg_path_join(arena, folder, tg_str_from(name));
}

static void put(tg_str path)
{
    assert_ok(tg_fs_make_folders(tg_fs_local(), tg_path_dirname(path), NULL), NULL);
    assert_ok(tg_fs_write_replace(tg_fs_local(), path, TG_S("x"), NULL), NULL);
}

static void put_link(tg_str target, tg_str path)
{
    assert_int_equal(symlink(tg_str_cstr(arena, target), tg_str_cstr(arena, path)), 0);
}

static bool is_there(tg_str path)
{
    bool exists;
    assert_ok(tg_fs_exists(tg_fs_local(), path, &exists, NULL), NULL);
    return exists;
}

static void test_remove_tree(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str root = tg_str_from(tg_test_folder(arena));
    tg_str inside = at(root, "inside");
    put(at(root, "outside/kept"));
    put(at(root, "outside/deep/kept"));
    put(at(inside, "a/b/file"));
    put(at(inside, ".hidden"));
    put_link(at(root, "outside"), at(inside, "folder"));
    put_link(at(root, "outside/deep"), at(inside, "a/b/folder"));
    put_link(at(root, "outside/kept"), at(inside, "file"));
    put_link(TG_S("nowhere"), at(inside, "dangling"));
    put_link(TG_S("."), at(inside, "circle"));
    assert_ok(tg_fs_remove_tree(tg_fs_local(), inside, &err), &err);
    assert_false(is_there(inside));
    assert_true(is_there(at(root, "outside/kept")) && is_there(at(root, "outside/deep/kept")));
    assert_int_equal(tg_fs_remove_tree(tg_fs_local(), inside, &err), TG_NOT_FOUND);
}

/* The deepest folder is empty_folder's, so that one more level is too many. */
static void test_depth(void **state)
{
    (void)state;
    for (int extra = 0; extra <= 1; extra++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_str root = at(tg_str_from(tg_test_folder(arena)), "d");
        tg_str path = root;
        for (int i = 0; i < TG_LIMIT_FOLDER_DEPTH + extra; i++) {
            path = at(path, "d");
        }
        put(at(path, "file"));
        tg_code code = tg_fs_remove_tree(tg_fs_local(), root, &err);
        assert_int_equal(code, extra ? TG_LIMIT : TG_OK);
        assert_int_equal(is_there(at(path, "file")), extra);
    }
}

static void test_list_tells_links(void **state)
{
    (void)state;
    tg_str root = tg_str_from(tg_test_folder(arena));
    put(at(root, "folder/file"));
    put_link(TG_S("folder"), at(root, "link"));
    tg_fs_entry *entries;
    size_t count;
    assert_ok(tg_fs_list(tg_fs_local(), root, false, arena, &entries, &count, NULL), NULL);
    assert_int_equal(count, 2);
    assert_true(entries[0].is_folder && !entries[0].is_link);
    assert_true(entries[1].is_folder && entries[1].is_link);
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
        cmocka_unit_test(test_remove_tree),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_list_tells_links),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
