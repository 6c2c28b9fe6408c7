/* SPDX-License-Identifier: Apache-2.0 */
/* What C tests share: cmocka, comparisons of tg_str, temporary folders. */
#ifndef TG_TEST_SUPPORT_TEST_H
#define TG_TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#define TG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Shows both texts when they differ. */
#define assert_str(actual, expected) tg_test_assert_str((actual), (expected), __FILE__, __LINE__)
void tg_test_assert_str(tg_str actual, const char *expected, const char *file, int line);

/* The call succeeds; otherwise prints the whole error and fails. */
#define assert_ok(call, err) tg_test_assert_ok((call), (err), __FILE__, __LINE__)
void tg_test_assert_ok(tg_code code, const tg_error *err, const char *file, int line);

/* The error has the class with this name. */
#define assert_error_class(err, name) tg_test_assert_class((err), (name), __FILE__, __LINE__)
void tg_test_assert_class(const tg_error *err, const char *name, const char *file, int line);

/* A fresh folder that is removed, with all it holds, when the arena goes. */
const char *tg_test_folder(tg_arena *arena);

#endif
