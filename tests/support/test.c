/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void tg_test_assert_str(tg_str actual, const char *expected, const char *file, int line)
{
    if (!tg_str_eq(actual, tg_str_from(expected))) {
        print_error("expected: \"%s\"\nactual:   \"%.*s\"\n", expected, TG_SARG(actual));
        _fail(file, line);
    }
}

void tg_test_assert_ok(tg_code code, const tg_error *err, const char *file, int line)
{
    if (code != TG_OK) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        if (err) {
            tg_error_print(err, &text);
        }
        print_error("failed with code %d\n%s", code, tg_buf_cstr(&text));
        _fail(file, line);
    }
}

void tg_test_assert_class(const tg_error *err, const char *name, const char *file, int line)
{
    if (strcmp(tg_error_name(err), name) != 0) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        tg_error_print(err, &text);
        print_error("expected the error %s, got:\n%s", name, tg_buf_cstr(&text));
        _fail(file, line);
    }
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *position)
{
    (void)info;
    (void)kind;
    (void)position;
    return remove(path);
}

static void remove_folder(void *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tg_test_folder(tg_arena *arena)
{
    const char *parent = getenv("TMPDIR");
    char *path = tg_arena_printf(arena, "%s/tidegate-test-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(path)) {
        fail_msg("no temporary folder can be made at %s", path);
    }
    tg_arena_defer(arena, remove_folder, path);
    return path;
}
