/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of the machine's own file system. */
#ifndef TG_FS_LOCAL_INT_H
#define TG_FS_LOCAL_INT_H

#include "fs/fs.h"

/* "could not <what> <path>: <reason of the system>", in the class that fits the number. */
tg_code tg_fs_local_error_(tg_error *err, int number, const char *what, tg_str path);
#define tg_fs_local_error(...) tg_error_failure_(tg_fs_local_error_(__VA_ARGS__))

/* local_lock.c */
TG_CHECKED tg_code tg_fs_local_read_part(void *self, tg_str path, int64_t offset, size_t max_bytes,
                                         tg_buf *out, tg_error *err);
TG_CHECKED tg_code tg_fs_local_lock(void *self, tg_str path, tg_arena *arena, tg_fs_lock **out_lock,
                                    tg_error *err);
TG_CHECKED tg_code tg_fs_local_is_locked(void *self, tg_str path, bool *out_is_locked,
                                         tg_error *err);
void tg_fs_local_unlock(void *self, tg_fs_lock *lock);

#endif
