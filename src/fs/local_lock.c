/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that others write meanwhile: parts of them, and locks.
 *
 * Locks are those of open file descriptions (F_OFD_SETLK): unlike POSIX record locks they outlive
 * the closing of another descriptor of the file in the same process, and unlike flock(2) they can be
 * looked at without being taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fs/local_int.h"

struct tg_fs_lock {
    int fd; /* -1: released */
};

/* The lock goes with its last descriptor. */
static void release(void *object)
{
    tg_fs_lock *lock = object;
    if (lock->fd >= 0) {
        (void)close(lock->fd);
        lock->fd = -1;
    }
}

static int open_retry(tg_str path, int flags)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const char *name = tg_str_cstr(scratch, path);
    int fd;
    do {
        fd = open(name, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static int read_at(int fd, int64_t offset, size_t max_bytes, tg_buf *out)
{
    while (max_bytes > 0) {
        tg_buf_reserve(out, max_bytes);
        ssize_t got = pread(fd, out->ptr + out->len, max_bytes, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? errno : 0;
        }
        out->len += (size_t)got;
        offset += got;
        max_bytes -= (size_t)got;
    }
    return 0;
}

tg_code tg_fs_local_read_part(void *self, tg_str path, int64_t offset, size_t max_bytes,
                              tg_buf *out, tg_error *err)
{
    (void)self;
    int fd = open_retry(path, O_RDONLY);
    if (fd < 0) {
        return tg_fs_local_error(err, errno, "read", path);
    }
    int number = read_at(fd, offset, max_bytes, out);
    (void)close(fd);
    return number ? tg_fs_local_error(err, number, "read", path) : TG_OK;
}

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static tg_code lock_error(int number, tg_str path, tg_error *err)
{
    if (number == ENOLCK || number == EINVAL || number == EOPNOTSUPP || number == ENOSYS) {
        TG_FAIL(err, TIDEGATE_UNSUPPORTED_FILE_SYSTEM,
                "could not lock %.*s: its file system has no file locks", TG_SARG(path));
    }
    return tg_fs_local_error(err, number, "lock", path);
}

tg_code tg_fs_local_lock(void *self, tg_str path, tg_arena *arena, tg_fs_lock **out_lock,
                         tg_error *err)
{
    (void)self;
    *out_lock = NULL;
    int fd = open_retry(path, O_RDWR | O_CREAT);
    if (fd < 0) {
        return tg_fs_local_error(err, errno, "lock", path);
    }
    struct flock range = whole_file();
    int number = fcntl(fd, F_OFD_SETLK, &range) < 0 ? errno : 0;
    if (number) {
        (void)close(fd);
        return number == EAGAIN || number == EACCES ? TG_OK : lock_error(number, path, err);
    }
    tg_fs_lock *lock = TG_NEW(arena, tg_fs_lock);
    lock->fd = fd;
    tg_arena_defer(arena, release, lock);
    *out_lock = lock;
    return TG_OK;
}

tg_code tg_fs_local_is_locked(void *self, tg_str path, bool *out_is_locked, tg_error *err)
{
    (void)self;
    int fd = open_retry(path, O_RDONLY);
    if (fd < 0) {
        return tg_fs_local_error(err, errno, "look at the lock of", path);
    }
    struct flock range = whole_file();
    int number = fcntl(fd, F_OFD_GETLK, &range) < 0 ? errno : 0;
    (void)close(fd);
    *out_is_locked = range.l_type != F_UNLCK;
    return number ? lock_error(number, path, err) : TG_OK;
}

void tg_fs_local_unlock(void *self, tg_fs_lock *lock)
{
    (void)self;
    if (lock) {
        release(lock);
    }
}
