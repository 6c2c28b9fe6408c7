/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local file system (POSIX).
 *
 * New content is written to a hidden file beside its place (".tmp-<uuid>"), fsynced, then named in one step, then the folder is
 * fsynced. Put-if-absent is link(2), which never replaces; on file systems without hard links renameat2(RENAME_NOREPLACE). A check
 * followed by a plain rename would let two writers overwrite each other, so a file system that has neither is refused.
 * A crash may leave a ".tmp-" file; nothing reads it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "fs/fs_int.h"

/* A path as the system wants it. */
typedef struct c_path {
    char text[PATH_MAX];
} c_path;

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}
#define auto_fd __attribute__((cleanup(close_fd)))

/* ---- errors ------------------------------------------------------------------------------------------------------- */

static const char *hint_for(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "Check the owner and the permissions of the path and of its folders.";
    case EROFS:
        return "The file system is mounted read-only.";
    case ENOSPC:
    case EDQUOT:
        return "Free some space, then run the command again; nothing was changed.";
    case EMFILE:
    case ENFILE:
        return "Raise the limit on open files (ulimit -n).";
    default:
        return NULL;
    }
}

/* could not <doing> `path`: reason. */
static tg_code fail(tg_error *err, int error, const char *doing, const char *path)
{
    const char *hint = hint_for(error);
    const char *reason = strerrordesc_np(error);
    tg_code code;

    if (error == ENOENT || error == ENOTDIR) {
        TG_FAIL(err, PATH_NOT_FOUND, "could not %s `%s`: %s", doing, path,
                error == ENOENT ? "no such file or folder" : "a part of the path is not a folder");
    }
    code = TG_ERR(err, TIDEGATE_IO, "could not %s `%s`: %s", doing, path, reason ? reason : "unknown error");
    return hint ? tg_error_hint(err, "%s", hint) : code;
}

static tg_code to_c_path(tg_str path, c_path *out, tg_error *err)
{
    if (path.len == 0) {
        TG_FAIL(err, PATH_NOT_FOUND, "a path is empty");
    }
    if (path.len >= sizeof(out->text)) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "path `%.*s...` is longer than %zu bytes", 80, path.ptr,
                sizeof(out->text) - 1);
    }
    if (memchr(path.ptr, '\0', path.len)) {
        TG_FAIL(err, PATH_NOT_FOUND, "path `%.*s` holds a NUL character", (int)strnlen(path.ptr, path.len), path.ptr);
    }
    memcpy(out->text, path.ptr, path.len);
    out->text[path.len] = '\0';
    return TG_OK;
}

static int open_retry(const char *path, int flags)
{
    int fd;

    do {
        fd = open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static tg_code too_large(const char *path, size_t max_bytes, tg_error *err)
{
    TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "file `%s` is larger than %zu bytes", path, max_bytes);
}

/* Reads to the end, also where the size is not known before (pipes, /proc) or changes meanwhile. */
static tg_code read_all(int fd, const char *path, size_t expected, size_t max_bytes, tg_arena *arena, tg_str *out,
                        tg_error *err)
{
    size_t capacity = expected + 1;
    size_t len = 0;
    char *bytes = tg_arena_alloc(arena, capacity);

    for (;;) {
        ssize_t got = read(fd, bytes + len, capacity - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail(err, errno, "read", path);
        }
        if (got == 0) {
            break;
        }
        len += (size_t)got;
        if (len > max_bytes) {
            return too_large(path, max_bytes, err);
        }
        if (len == capacity) {
            size_t more = capacity < 4096 ? 8192 : capacity * 2;
            more = more > max_bytes + 1 ? max_bytes + 1 : more;
            bytes = tg_arena_realloc(arena, bytes, capacity, more);
            capacity = more;
        }
    }
    *out = (tg_str){bytes, len};
    return TG_OK;
}

static tg_code local_read(void *self, tg_str path, size_t max_bytes, tg_arena *arena, tg_str *out_bytes, tg_error *err)
{
    auto_fd int fd = -1;
    struct stat info;
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    fd = open_retry(where.text, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        return fail(err, errno, "read", where.text);
    }
    if (S_ISDIR(info.st_mode)) {
        return fail(err, EISDIR, "read", where.text);
    }
    if (info.st_size > 0 && (uint64_t)info.st_size > max_bytes) {
        return too_large(where.text, max_bytes, err);
    }
    return read_all(fd, where.text, info.st_size > 0 ? (size_t)info.st_size : 0, max_bytes, arena, out_bytes, err);
}

static void entry_from_stat(const struct stat *info, tg_fs_entry *entry)
{
    entry->is_folder = S_ISDIR(info->st_mode);
    entry->size_bytes = info->st_size;
    entry->mtime_ms = (int64_t)info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1000000;
}

static tg_code local_stat(void *self, tg_str path, tg_fs_entry *out_entry, tg_error *err)
{
    struct stat info;
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    if (stat(where.text, &info) != 0) {
        return fail(err, errno, "look at", where.text);
    }
    entry_from_stat(&info, out_entry);
    out_entry->name = tg_path_basename(path);
    return TG_OK;
}

static int by_name(const void *a, const void *b)
{
    return tg_str_cmp(((const tg_fs_entry *)a)->name, ((const tg_fs_entry *)b)->name);
}

static void close_dir(DIR **dir)
{
    if (*dir) {
        (void)closedir(*dir);
    }
}

/* False when the entry went away meanwhile, or is a link to nothing. */
static bool describe(DIR *dir, const struct dirent *item, bool with_details, tg_fs_entry *entry)
{
    struct stat info;

    *entry = (tg_fs_entry){.is_folder = item->d_type == DT_DIR, .size_bytes = -1, .mtime_ms = -1};
    if (!with_details && item->d_type != DT_UNKNOWN && item->d_type != DT_LNK) {
        return true;
    }
    if (fstatat(dirfd(dir), item->d_name, &info, 0) != 0) {
        return false;
    }
    entry_from_stat(&info, entry);
    return true;
}

static tg_code local_list(void *self, tg_str folder, bool with_details, tg_arena *arena, tg_fs_entry **out_entries,
                          size_t *out_count, tg_error *err)
{
    __attribute__((cleanup(close_dir))) DIR *dir = NULL;
    TG_VEC(tg_fs_entry) entries = {0};
    tg_fs_entry entry;
    struct dirent *item;
    c_path where;

    (void)self;
    TG_TRY(to_c_path(folder, &where, err));
    dir = opendir(where.text);
    if (!dir) {
        return fail(err, errno, "list folder", where.text);
    }
    for (errno = 0; (item = readdir(dir)); errno = 0) {
        bool is_self = strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0;
        if (!is_self && describe(dir, item, with_details, &entry)) {
            entry.name = tg_str_copy(arena, tg_str_from(item->d_name));
            TG_VEC_PUSH(arena, &entries, entry);
        }
    }
    if (errno != 0) {
        return fail(err, errno, "list folder", where.text);
    }
    if (entries.count) {
        qsort(entries.items, entries.count, sizeof(tg_fs_entry), by_name);
    }
    *out_entries = entries.items;
    *out_count = entries.count;
    return TG_OK;
}

static tg_code local_real_path(void *self, tg_str path, tg_arena *arena, tg_str *out_path, tg_error *err)
{
    char resolved[PATH_MAX];
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    if (!realpath(where.text, resolved)) {
        return fail(err, errno, "find", where.text);
    }
    *out_path = tg_str_copy(arena, tg_str_from(resolved));
    return TG_OK;
}

/* ---- durability --------------------------------------------------------------------------------------------------- */

static int fsync_retry(int fd)
{
    int result;

    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

static tg_code fsync_path(const char *path, int flags, const char *doing, tg_error *err)
{
    auto_fd int fd = open_retry(path, O_RDONLY | flags);

    if (fd < 0 || fsync_retry(fd) != 0) {
        return fail(err, errno, doing, path);
    }
    return TG_OK;
}

static tg_code fsync_parent(const char *path, tg_error *err)
{
    c_path folder;

    TG_TRY(to_c_path(tg_path_dirname(tg_str_from(path)), &folder, err));
    return fsync_path(folder.text, O_DIRECTORY, "sync folder", err);
}

static tg_code local_fsync_file(void *self, tg_str path, tg_error *err)
{
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    return fsync_path(where.text, 0, "sync file", err);
}

static tg_code local_fsync_folder(void *self, tg_str path, tg_error *err)
{
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    return fsync_path(where.text, O_DIRECTORY, "sync folder", err);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static tg_code write_all(int fd, tg_str bytes, const char *path, tg_error *err)
{
    while (bytes.len > 0) {
        ssize_t done = write(fd, bytes.ptr, bytes.len);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return fail(err, errno, "write", path);
        }
        bytes = tg_str_sub(bytes, (size_t)done, bytes.len);
    }
    return TG_OK;
}

/* Writes and fsyncs the temporary file; path is what messages name. */
static tg_code fill_temp(const char *temp, tg_str bytes, const char *path, tg_error *err)
{
    int fd = open_retry(temp, O_WRONLY | O_CREAT | O_EXCL);
    tg_code code;

    if (fd < 0) {
        return fail(err, errno, "write", path);
    }
    code = write_all(fd, bytes, path, err);
    if (code == TG_OK && fsync_retry(fd) != 0) {
        code = fail(err, errno, "write", path);
    }
    if (close(fd) != 0 && code == TG_OK && errno != EINTR) {
        code = fail(err, errno, "write", path);
    }
    return code;
}

/* A hidden name beside path. */
static tg_code temp_beside(const char *path, c_path *out, tg_error *err)
{
    const tg_env *env = tg_env_system();
    tg_str folder = tg_path_dirname(tg_str_from(path));
    char uuid[37];
    int len;

    env->uuid(env->self, uuid);
    len = snprintf(out->text, sizeof(out->text), "%.*s/.tmp-%s", TG_SARG(folder), uuid);
    if (len < 0 || (size_t)len >= sizeof(out->text)) {
        return fail(err, ENAMETOOLONG, "write", path);
    }
    return TG_OK;
}

static bool lacks_links(int error)
{
    return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK || error == EINVAL;
}

static tg_code fail_place(int error, const char *path, tg_error *err)
{
    if (error == EEXIST) {
        TG_FAIL(err, PATH_ALREADY_EXISTS, "file `%s` exists already", path);
    }
    return fail(err, error, "write", path);
}

tg_code tg_fs_place_new(const char *temp, const char *path, tg_fs_place how, tg_error *err)
{
    struct stat info;
    int error = EOPNOTSUPP;

    if (how == TG_FS_PLACE_LINK) {
        if (link(temp, path) == 0) {
            return TG_OK;
        }
        error = errno;
        /* On a network an answer may get lost and the repeated request fail: the number of links tells the truth. */
        if (stat(temp, &info) == 0 && info.st_nlink == 2) {
            return TG_OK;
        }
        if (!lacks_links(error)) {
            return fail_place(error, path, err);
        }
    }
    if (how != TG_FS_PLACE_UNSUPPORTED) {
        if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
            return TG_OK;
        }
        error = errno;
    }
    if (!lacks_links(error)) {
        return fail_place(error, path, err);
    }
    (void)TG_ERR(err, TIDEGATE_UNSUPPORTED_FILE_SYSTEM,
                 "cannot write `%s`: its file system has neither hard links nor an exclusive rename", path);
    return tg_error_hint(err, "Two writers could overwrite each other there; keep tables on a local file system.");
}

static tg_code local_write_new(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    c_path where, temp;
    tg_code code;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    TG_TRY(temp_beside(where.text, &temp, err));
    code = fill_temp(temp.text, bytes, where.text, err);
    if (code == TG_OK) {
        code = tg_fs_place_new(temp.text, where.text, TG_FS_PLACE_LINK, err);
    }
    (void)unlink(temp.text); /* gone already after a rename; a left-over is harmless */
    TG_TRY(code);
    return fsync_parent(where.text, err);
}

static tg_code local_write_replace(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    c_path where, temp;
    tg_code code;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    TG_TRY(temp_beside(where.text, &temp, err));
    code = fill_temp(temp.text, bytes, where.text, err);
    if (code == TG_OK && rename(temp.text, where.text) != 0) {
        code = fail(err, errno, "write", where.text);
    }
    if (code != TG_OK) {
        (void)unlink(temp.text);
        return code;
    }
    return fsync_parent(where.text, err);
}

static tg_code local_append(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    auto_fd int fd = -1;
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    fd = open_retry(where.text, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0) {
        return fail(err, errno, "write", where.text);
    }
    return write_all(fd, bytes, where.text, err);
}

static tg_code local_rename(void *self, tg_str from, tg_str to, tg_error *err)
{
    c_path source, target;

    (void)self;
    TG_TRY(to_c_path(from, &source, err));
    TG_TRY(to_c_path(to, &target, err));
    if (rename(source.text, target.text) != 0) {
        return fail(err, errno, "rename", source.text);
    }
    TG_TRY(fsync_parent(target.text, err));
    if (tg_str_eq(tg_path_dirname(from), tg_path_dirname(to))) {
        return TG_OK;
    }
    return fsync_parent(source.text, err);
}

/* Makes one folder; fine when it is there. */
static tg_code make_folder(const char *path, tg_error *err)
{
    struct stat info;

    if (mkdir(path, 0777) == 0) {
        return fsync_parent(path, err);
    }
    if (errno != EEXIST) {
        return fail(err, errno, "create folder", path);
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        TG_FAIL(err, PATH_ALREADY_EXISTS, "could not create folder `%s`: a file is in its place", path);
    }
    return TG_OK;
}

static tg_code local_make_folders(void *self, tg_str path, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    struct stat info;
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    if (stat(where.text, &info) == 0 && S_ISDIR(info.st_mode)) {
        return TG_OK;
    }
    TG_TRY(to_c_path(tg_path_normalize(scratch, path), &where, err));
    for (char *p = where.text + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            /* Only missing ones: a parent may be on a read-only or foreign mount. */
            if (stat(where.text, &info) != 0) {
                TG_TRY(make_folder(where.text, err));
            }
            *p = '/';
        }
    }
    return make_folder(where.text, err);
}

static tg_code local_remove(void *self, tg_str path, tg_error *err)
{
    c_path where;

    (void)self;
    TG_TRY(to_c_path(path, &where, err));
    if (remove(where.text) != 0) {
        return fail(err, errno, "remove", where.text);
    }
    return TG_OK;
}

const tg_fs *tg_fs_local(void)
{
    static const tg_fs local = {
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
        .real_path = local_real_path,
    };

    return &local;
}
