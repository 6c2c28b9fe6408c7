/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's own file system.
 *
 * A new file is written under a hidden name, fsynced, then linked to its name: link(2) refuses an
 * existing name, so of many racing writers one wins and no reader ever sees a part. File systems
 * without hard links use renameat2(RENAME_NOREPLACE); with neither, the write is refused, since
 * exists-then-rename would lose a commit.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fs/local_int.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* ---- errors and descriptors ------------------------------------------------------------------ */

tg_code tg_fs_local_error_(tg_error *err, int number, const char *what, tg_str path)
{
    char reason[128];
    const char *text = strerror_r(number, reason, sizeof(reason));
    if (number == ENOENT || number == ENOTDIR) {
        TG_FAIL(err, PATH_NOT_FOUND, "could not %s %.*s: it does not exist", what, TG_SARG(path));
    }
    if (number == EEXIST) {
        TG_FAIL(err, PATH_ALREADY_EXISTS, "could not %s %.*s: it exists already", what,
                TG_SARG(path));
    }
    TG_ERR(err, TIDEGATE_IO, "could not %s %.*s: %s", what, TG_SARG(path), text);
    if (number == EACCES || number == EPERM || number == EROFS) {
        return tg_error_hint(err, "Check the permissions of the folder and of its file system.");
    }
    return number == ENOSPC || number == EDQUOT
               ? tg_error_hint(err, "Free some space on the file system.")
               : TG_IO;
}

#define io_error(...) tg_fs_local_error(__VA_ARGS__)

/* A path as the system wants it: NUL-terminated. */
static const char *c_path(tg_arena *scratch, tg_str path)
{
    return tg_str_cstr(scratch, path);
}

static int open_retry(const char *path, int flags, mode_t mode)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}
#define auto_fd __attribute__((cleanup(close_fd)))

static int write_all(int fd, tg_str bytes)
{
    while (bytes.len > 0) {
        ssize_t done = write(fd, bytes.ptr, bytes.len);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return errno;
        }
        bytes.ptr += done;
        bytes.len -= (size_t)done;
    }
    return 0;
}

static int fsync_retry(int fd)
{
    int done;
    do {
        done = fsync(fd);
    } while (done < 0 && errno == EINTR);
    return done < 0 ? errno : 0;
}

static int fsync_path(const char *path, int flags)
{
    auto_fd int fd = open_retry(path, O_RDONLY | flags, 0);
    if (fd < 0) {
        return errno;
    }
    int number = fsync_retry(fd);
    /* Some file systems cannot fsync a folder and say so; then there is nothing more to do. */
    return number == EINVAL && (flags & O_DIRECTORY) ? 0 : number;
}

/* ---- reading --------------------------------------------------------------------------------- */

static tg_code too_large(tg_str path, size_t max_bytes, tg_error *err)
{
    TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "file %.*s is larger than %zu bytes", TG_SARG(path),
            max_bytes);
}

static tg_code local_read(void *self, tg_str path, size_t max_bytes, tg_arena *arena,
                          tg_str *out_bytes, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    auto_fd int fd = open_retry(c_path(scratch, path), O_RDONLY, 0);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) < 0) {
        return io_error(err, errno, "read", path);
    }
    if (S_ISDIR(info.st_mode)) {
        return io_error(err, EISDIR, "read", path);
    }
    size_t size_bytes = info.st_size > 0 ? (size_t)info.st_size : 0;
    if (size_bytes > max_bytes) {
        return too_large(path, max_bytes, err);
    }
    /* Pipes and growing files have no size to trust: read until the end. */
    size_t capacity = size_bytes ? size_bytes + 1 : 4096;
    size_t len = 0;
    char *bytes = tg_arena_alloc(arena, capacity);
    for (;;) {
        if (len == capacity) {
            bytes = tg_arena_realloc(arena, bytes, capacity, capacity * 2);
            capacity *= 2;
        }
        ssize_t got = read(fd, bytes + len, capacity - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return io_error(err, errno, "read", path);
        }
        if (got == 0) {
            break;
        }
        len += (size_t)got;
        if (len > max_bytes) {
            return too_large(path, max_bytes, err);
        }
    }
    *out_bytes = (tg_str){bytes, len};
    return TG_OK;
}

static void set_details(tg_fs_entry *entry, const struct stat *info)
{
    entry->is_folder = S_ISDIR(info->st_mode);
    entry->size_bytes = (int64_t)info->st_size;
    entry->mtime_ms = (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000;
    entry->inode = (uint64_t)info->st_ino;
    entry->ctime_ns = (int64_t)info->st_ctim.tv_sec * 1000000000 + info->st_ctim.tv_nsec;
}

static int by_name(const void *a, const void *b)
{
    return tg_str_cmp(((const tg_fs_entry *)a)->name, ((const tg_fs_entry *)b)->name);
}

static void close_folder(DIR **folder)
{
    if (*folder) {
        (void)closedir(*folder);
    }
}

static tg_code local_list(void *self, tg_str path, bool with_details, tg_arena *arena,
                          tg_fs_entry **out_entries, size_t *out_count, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    __attribute__((cleanup(close_folder))) DIR *folder = opendir(c_path(scratch, path));
    if (!folder) {
        return io_error(err, errno, "list", path);
    }
    TG_VEC(tg_fs_entry) entries = {0};
    for (;;) {
        errno = 0;
        const struct dirent *item = readdir(folder);
        if (!item && errno != 0) {
            return io_error(err, errno, "list", path);
        }
        if (!item) {
            break;
        }
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) {
            continue;
        }
        tg_fs_entry entry = {.name = tg_str_copy(arena, tg_str_from(item->d_name)),
                             .size_bytes = -1,
                             .mtime_ms = -1};
        entry.is_folder = item->d_type == DT_DIR;
        entry.is_link = item->d_type == DT_LNK;
        struct stat info;
        if (item->d_type == DT_UNKNOWN &&
            fstatat(dirfd(folder), item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
            entry.is_link = S_ISLNK(info.st_mode);
        }
        if (with_details || item->d_type == DT_LNK || item->d_type == DT_UNKNOWN) {
            if (fstatat(dirfd(folder), item->d_name, &info, 0) < 0) {
                continue; /* gone since, or a dangling link */
            }
            set_details(&entry, &info);
        }
        TG_VEC_PUSH(arena, &entries, entry);
    }
    if (entries.count > 1) {
        qsort(entries.items, entries.count, sizeof(*entries.items), by_name);
    }
    *out_entries = entries.items;
    *out_count = entries.count;
    return TG_OK;
}

static tg_code local_stat(void *self, tg_str path, tg_fs_entry *out_entry, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    struct stat info;
    if (stat(c_path(scratch, path), &info) < 0) {
        return io_error(err, errno, "find", path);
    }
    *out_entry = (tg_fs_entry){.name = tg_path_basename(path)};
    set_details(out_entry, &info);
    return TG_OK;
}

static tg_code local_real_path(void *self, tg_str path, tg_arena *arena, tg_str *out_path,
                               tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    char resolved[PATH_MAX];
    if (!realpath(c_path(scratch, path), resolved)) {
        return io_error(err, errno, "find", path);
    }
    *out_path = tg_str_copy(arena, tg_str_from(resolved));
    return TG_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A complete, fsynced file under a hidden name beside path. */
static tg_code write_hidden(tg_str path, tg_str bytes, tg_arena *scratch, const char **out_name,
                            tg_error *err)
{
    const tg_env *env = tg_env_system();
    char uuid[37];
    env->uuid(env->self, uuid);
    const char *name =
        tg_arena_printf(scratch, "%.*s/.tmp-%s", TG_SARG(tg_path_dirname(path)), uuid);
    auto_fd int fd = open_retry(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) {
        return io_error(err, errno, "write", path);
    }
    int number = write_all(fd, bytes);
    number = number ? number : fsync_retry(fd);
    if (number) {
        (void)unlink(name);
        return io_error(err, number, "write", path);
    }
    *out_name = name;
    return TG_OK;
}

/* 0, or errno: EEXIST when somebody was first. */
static int put_name(const char *hidden, const char *name, bool *out_unsupported)
{
    *out_unsupported = false;
    if (link(hidden, name) == 0) {
        (void)unlink(hidden);
        return 0;
    }
    int number = errno;
    struct stat info;
    if (stat(hidden, &info) == 0 && info.st_nlink > 1) {
        (void)unlink(hidden);
        return 0; /* done, though a network file system lost the answer (link(2), "BUGS") */
    }
    if (number == EPERM || number == ENOSYS || number == EOPNOTSUPP || number == EMLINK) {
        if (syscall(SYS_renameat2, AT_FDCWD, hidden, AT_FDCWD, name, RENAME_NOREPLACE) == 0) {
            return 0;
        }
        number = errno;
        *out_unsupported = number == EINVAL || number == ENOSYS;
    }
    (void)unlink(hidden);
    return number;
}

static tg_code sync_parent(tg_str path, tg_arena *scratch, tg_error *err)
{
    tg_str folder = tg_path_dirname(path);
    int number = fsync_path(c_path(scratch, folder), O_DIRECTORY);
    return number ? io_error(err, number, "make durable", folder) : TG_OK;
}

static tg_code local_write_new(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const char *hidden;
    bool unsupported;
    TG_TRY(write_hidden(path, bytes, scratch, &hidden, err));
    int number = put_name(hidden, c_path(scratch, path), &unsupported);
    if (unsupported) {
        TG_ERR(err, TIDEGATE_UNSUPPORTED_FILE_SYSTEM,
               "the file system of %.*s can neither link nor rename without replacing",
               TG_SARG(path));
        return tg_error_hint(
            err, "Keep tables on a local file system such as ext4, xfs, btrfs or tmpfs.");
    }
    if (number) {
        return io_error(err, number, "write", path);
    }
    return sync_parent(path, scratch, err);
}

static tg_code local_write_replace(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const char *hidden;
    TG_TRY(write_hidden(path, bytes, scratch, &hidden, err));
    if (rename(hidden, c_path(scratch, path)) < 0) {
        int number = errno;
        (void)unlink(hidden);
        return io_error(err, number, "write", path);
    }
    return sync_parent(path, scratch, err);
}

static tg_code local_append(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    auto_fd int fd = open_retry(c_path(scratch, path), O_WRONLY | O_CREAT | O_APPEND, 0666);
    int number = fd < 0 ? errno : write_all(fd, bytes);
    return number ? io_error(err, number, "write", path) : TG_OK;
}

static tg_code local_rename(void *self, tg_str from, tg_str to, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    if (rename(c_path(scratch, from), c_path(scratch, to)) < 0) {
        return io_error(err, errno, "rename", from);
    }
    TG_TRY(sync_parent(to, scratch, err));
    if (!tg_str_eq(tg_path_dirname(from), tg_path_dirname(to))) {
        TG_TRY(sync_parent(from, scratch, err));
    }
    return TG_OK;
}

static tg_code local_fsync_file(void *self, tg_str path, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    int number = fsync_path(c_path(scratch, path), 0);
    return number ? io_error(err, number, "make durable", path) : TG_OK;
}

static tg_code local_fsync_folder(void *self, tg_str path, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    int number = fsync_path(c_path(scratch, path), O_DIRECTORY);
    return number ? io_error(err, number, "make durable", path) : TG_OK;
}

/*
 * A folder that is there already may come from a process that was killed, or is about to make it
 * durable: what will be written in it must not be lost with its name. Who may not read the folder
 * above cannot do that, and is not stopped: not every folder was made by us.
 */
static tg_code sync_existing(tg_str path, tg_arena *scratch, tg_error *err)
{
    tg_str parent = tg_path_dirname(path);
    int number = fsync_path(c_path(scratch, parent), O_DIRECTORY);
    bool is_not_ours = number == EACCES || number == EPERM || number == EROFS;
    return number && !is_not_ours ? io_error(err, number, "make durable", parent) : TG_OK;
}

static tg_code local_make_folders(void *self, tg_str path, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const char *name = c_path(scratch, path);
    struct stat info;
    bool exists = stat(name, &info) == 0;
    if (exists && !S_ISDIR(info.st_mode)) {
        /* Not PATH_ALREADY_EXISTS, which tells callers that another writer was faster. */
        TG_FAIL(err, TIDEGATE_IO, "could not make folder %.*s: a file is in its place",
                TG_SARG(path));
    }
    if (exists) {
        return sync_existing(path, scratch, err);
    }
    if (errno != ENOENT) {
        return io_error(err, errno, "make folder", path);
    }
    tg_str parent = tg_path_dirname(path);
    if (!tg_str_eq(parent, path)) {
        TG_TRY(local_make_folders(self, parent,
                                  err)); /* depth: the parts of the path, which the system bounds */
    }
    if (mkdir(name, 0777) < 0 && errno != EEXIST) {
        return io_error(err, errno, "make folder", path);
    }
    return sync_parent(path, scratch, err);
}

static tg_code local_remove(void *self, tg_str path, tg_error *err)
{
    (void)self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return remove(c_path(scratch, path)) < 0 ? io_error(err, errno, "remove", path) : TG_OK;
}

/*
 * By descriptors, never by path: a folder that becomes a link while this runs is not entered
 * either. What somebody else removed meanwhile is gone as well. 0, or errno; ELOOP: too deep.
 */
static int empty_folder(int parent, const char *name, int flags, int depth)
{
    if (depth > TG_LIMIT_FOLDER_DEPTH) {
        return ELOOP;
    }
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd < 0) {
        return errno;
    }
    __attribute__((cleanup(close_folder))) DIR *folder = fdopendir(fd);
    if (!folder) {
        int number = errno;
        (void)close(fd);
        return number;
    }
    for (bool is_changed = false;;) {
        errno = 0;
        const struct dirent *item = readdir(folder);
        if (!item && errno == 0 && is_changed) {
            is_changed = false; /* some file systems skip entries when others are removed */
            rewinddir(folder);
            continue;
        }
        if (!item) {
            return errno;
        }
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) {
            continue;
        }
        is_changed = true;
        if (unlinkat(fd, item->d_name, 0) == 0 || errno == ENOENT) {
            continue; /* a file, or a link whatever it points at */
        }
        if (errno != EISDIR && errno != EPERM) { /* EPERM: what POSIX has for a folder */
            return errno;
        }
        int number = empty_folder(fd, item->d_name, O_NOFOLLOW, depth + 1);
        if (number) {
            return number == ENOTDIR ? EPERM : number; /* a file that may not be removed */
        }
        if (unlinkat(fd, item->d_name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
            return errno;
        }
    }
}

static tg_code local_remove_tree(void *self, tg_str path, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    int number = empty_folder(AT_FDCWD, c_path(scratch, path), 0, 0);
    if (number == ELOOP) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "folder %.*s is nested more than %d levels deep",
                TG_SARG(path), TG_LIMIT_FOLDER_DEPTH);
    }
    return number ? io_error(err, number, "remove", path) : local_remove(self, path, err);
}

static const tg_fs LOCAL = {
    .struct_size = sizeof(tg_fs),
    .read = local_read,
    .list = local_list,
    .stat = local_stat,
    .write_new = local_write_new,
    .write_replace = local_write_replace,
    .append = local_append,
    .rename = local_rename,
    .fsync_file = local_fsync_file,
    .fsync_folder = local_fsync_folder,
    .make_folders = local_make_folders,
    .remove = local_remove,
    .remove_tree = local_remove_tree,
    .read_part = tg_fs_local_read_part,
    .lock = tg_fs_local_lock,
    .is_locked = tg_fs_local_is_locked,
    .unlock = tg_fs_local_unlock,
    .real_path = local_real_path,
};

const tg_fs *tg_fs_local(void)
{
    return &LOCAL;
}
