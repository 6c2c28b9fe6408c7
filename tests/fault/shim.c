/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into tidegate by tests/fault: counts every call that changes what is below one folder,
 * writes a journal of them, and kills the process at the one it is told to.
 *
 *   TG_SHIM_ROOT    the folder, absolute and without links
 *   TG_SHIM_LOG     journal, appended to; one line per call, tab-separated:
 *                   number, call, result (0 or errno), inode, detail, path, second path
 *                   detail: "new" (open made the file, mkdir the folder), "trunc", else bytes or "-"
 *   TG_SHIM_SHADOW  folder (may be unset): what a file held when it was fsynced is copied to
 *                   <process>-<number> in it
 *   TG_SHIM_KILL    number of the call at which SIGKILL comes; unset or 0: never
 *   TG_SHIM_AFTER   set: after that call; unset: before it
 *
 * Of one process the calls are one after the other (a lock is held), so the journal's order is the
 * order in which they happened. The system is called directly, never through the C library, whose
 * functions these are.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *shadow;
static size_t root_len;
static int log_fd = -1;
static long number, kill_at;
static bool kill_after;

__attribute__((constructor)) static void start(void)
{
    const char *log_path = getenv("TG_SHIM_LOG");
    const char *at = getenv("TG_SHIM_KILL");
    root = getenv("TG_SHIM_ROOT");
    shadow = getenv("TG_SHIM_SHADOW");
    kill_at = at ? strtol(at, NULL, 10) : 0;
    kill_after = getenv("TG_SHIM_AFTER") != NULL;
    if (!root || !log_path) {
        root = NULL;
        return;
    }
    root_len = strlen(root);
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                          0666);
    if (log_fd < 0) {
        abort();
    }
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* What follows the root in an absolute path; NULL: it is not below the root. */
static const char *below(const char *path)
{
    if (!root || strncmp(path, root, root_len) != 0) {
        return NULL;
    }
    return path[root_len] == '/' ? path + root_len + 1 : path[root_len] ? NULL : ".";
}

static bool path_of_fd(int fd, char out[PATH_MAX])
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, PATH_MAX - 1);
    out[len < 0 ? 0 : len] = '\0';
    return len > 0;
}

static const char *absolute(int folder, const char *path, char out[PATH_MAX])
{
    char base[PATH_MAX];
    if (path[0] == '/') {
        return path;
    }
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of_fd(folder, base)) {
        return path;
    }
    int len = snprintf(out, PATH_MAX, "%s/%s", base, path);
    return len > 0 && len < PATH_MAX ? out : path;
}

/* ---- the journal ----------------------------------------------------------------------------- */

typedef struct call {
    const char *name, *path, *second; /* paths below the root; both NULL: not counted */
    unsigned long long inode;
    char detail[32];
} call;

static void put(const call *c, const char *result)
{
    char line[2 * PATH_MAX + 256];
    int len = snprintf(line, sizeof line, "%ld\t%s\t%s\t%llu\t%s\t%s\t%s\n", number, c->name,
                       result, c->inode, c->detail[0] ? c->detail : "-", c->path ? c->path : "-",
                       c->second ? c->second : "-");
    if (len < 0 || (size_t)len >= sizeof line ||
        syscall(SYS_write, log_fd, line, (size_t)len) != len) {
        abort();
    }
}

/* Before a call. False: it is none of those that count, and end must not be called. */
static bool begin(const call *c)
{
    if (!c->path && !c->second) {
        return false;
    }
    (void)pthread_mutex_lock(&lock);
    number++;
    if (number == kill_at && !kill_after) {
        put(c, "killed");
        (void)kill(getpid(), SIGKILL);
    }
    return true;
}

static void end(const call *c, bool failed)
{
    int saved = errno;
    char result[16] = "0";
    if (failed) {
        (void)snprintf(result, sizeof result, "%d", saved);
    }
    put(c, result);
    if (number == kill_at) {
        (void)kill(getpid(), SIGKILL);
    }
    (void)pthread_mutex_unlock(&lock);
    errno = saved;
}

static unsigned long long inode_of_path(const char *path, bool *out_exists)
{
    struct stat info;
    int saved = errno;
    *out_exists = lstat(path, &info) == 0;
    errno = saved;
    return *out_exists ? (unsigned long long)info.st_ino : 0;
}

static unsigned long long inode_of_fd(int fd)
{
    struct stat info;
    int saved = errno;
    bool ok = fstat(fd, &info) == 0;
    errno = saved;
    return ok ? (unsigned long long)info.st_ino : 0;
}

/* ---- calls with a path ----------------------------------------------------------------------- */

static int do_open(int folder, const char *path, int flags, mode_t mode)
{
    char whole[PATH_MAX];
    bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
    call c = {.name = "open"};
    const char *target = changes && root ? absolute(folder, path, whole) : path;
    bool existed = false;
    c.path = changes ? below(target) : NULL;
    if (c.path) {
        (void)inode_of_path(target, &existed);
    }
    bool counts = begin(&c);
    int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (counts) {
        c.inode = fd >= 0 ? inode_of_fd(fd) : 0;
        (void)snprintf(c.detail, sizeof c.detail, "%s",
                       fd >= 0 && !existed ? "new"
                       : (flags & O_TRUNC) ? "trunc"
                                           : "");
        end(&c, fd < 0);
    }
    return fd;
}

#define OPEN_BODY(folder)                                                          \
    va_list arguments;                                                             \
    va_start(arguments, flags);                                                    \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                                             \
    return do_open(folder, path, flags, mode)

SHOWN int open(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

SHOWN int open64(const char *path, int flags, ...)
{
    OPEN_BODY(AT_FDCWD);
}

SHOWN int openat(int folder, const char *path, int flags, ...)
{
    OPEN_BODY(folder);
}

SHOWN int openat64(int folder, const char *path, int flags, ...)
{
    OPEN_BODY(folder);
}

SHOWN int creat(const char *path, mode_t mode)
{
    return do_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

SHOWN int creat64(const char *path, mode_t mode)
{
    return do_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

SHOWN int mkdirat(int folder, const char *path, mode_t mode)
{
    char whole[PATH_MAX];
    const char *target = absolute(folder, path, whole);
    call c = {.name = "mkdir", .path = below(target)};
    bool exists;
    bool counts = begin(&c);
    int done = (int)syscall(SYS_mkdirat, folder, path, mode);
    if (counts) {
        c.inode = inode_of_path(target, &exists);
        (void)snprintf(c.detail, sizeof c.detail, "new");
        end(&c, done < 0);
    }
    return done;
}

SHOWN int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

SHOWN int unlinkat(int folder, const char *path, int flags)
{
    char whole[PATH_MAX];
    const char *target = absolute(folder, path, whole);
    bool exists;
    call c = {.name = (flags & AT_REMOVEDIR) ? "rmdir" : "unlink", .path = below(target)};
    c.inode = c.path ? inode_of_path(target, &exists) : 0;
    bool counts = begin(&c);
    int done = (int)syscall(SYS_unlinkat, folder, path, flags);
    if (counts) {
        end(&c, done < 0);
    }
    return done;
}

SHOWN int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

SHOWN int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

SHOWN int remove(const char *path)
{
    struct stat info;
    bool is_folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return unlinkat(AT_FDCWD, path, is_folder ? AT_REMOVEDIR : 0);
}

typedef enum { LINK, RENAME } two_names;

static int do_two(two_names what, int from_folder, const char *from, int to_folder, const char *to,
                  unsigned flags)
{
    char whole[2][PATH_MAX];
    const char *source = absolute(from_folder, from, whole[0]);
    bool exists;
    call c = {.name = what == LINK ? "link" : "rename",
              .path = below(source),
              .second = below(absolute(to_folder, to, whole[1]))};
    c.inode = inode_of_path(source, &exists);
    bool counts = begin(&c);
    int done = (int)syscall(what == LINK ? SYS_linkat : SYS_renameat2, from_folder, from, to_folder,
                            to, flags);
    if (counts) {
        end(&c, done < 0);
    }
    return done;
}

SHOWN int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return do_two(LINK, from_folder, from, to_folder, to, (unsigned)flags);
}

SHOWN int link(const char *from, const char *to)
{
    return do_two(LINK, AT_FDCWD, from, AT_FDCWD, to, 0);
}

SHOWN int renameat2(int from_folder, const char *from, int to_folder, const char *to,
                    unsigned flags)
{
    return do_two(RENAME, from_folder, from, to_folder, to, flags);
}

SHOWN int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return do_two(RENAME, from_folder, from, to_folder, to, 0);
}

SHOWN int rename(const char *from, const char *to)
{
    return do_two(RENAME, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- calls with a descriptor ----------------------------------------------------------------- */

static bool begin_fd(call *c, int fd, char path[PATH_MAX])
{
    int saved = errno;
    if (root && path_of_fd(fd, path)) {
        c->path = below(path);
        c->inode = c->path ? inode_of_fd(fd) : 0;
    }
    errno = saved;
    return begin(c);
}

#define FD_CALL(type, label, fd, ...)                                       \
    char path[PATH_MAX];                                                    \
    call c = {.name = (label)};                                             \
    bool counts = begin_fd(&c, fd, path);                                   \
    type done = (type)syscall(__VA_ARGS__);                                 \
    if (counts) {                                                           \
        (void)snprintf(c.detail, sizeof c.detail, "%lld", (long long)done); \
        end(&c, done < 0);                                                  \
    }                                                                       \
    return done

SHOWN ssize_t write(int fd, const void *bytes, size_t count)
{
    FD_CALL(ssize_t, "write", fd, SYS_write, fd, bytes, count);
}

SHOWN ssize_t writev(int fd, const struct iovec *parts, int count)
{
    FD_CALL(ssize_t, "write", fd, SYS_writev, fd, parts, count);
}

SHOWN ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    FD_CALL(ssize_t, "write", fd, SYS_pwrite64, fd, bytes, count, offset);
}

SHOWN ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    FD_CALL(ssize_t, "write", fd, SYS_pwrite64, fd, bytes, count, offset);
}

SHOWN int ftruncate(int fd, off_t length)
{
    FD_CALL(int, "truncate", fd, SYS_ftruncate, fd, length);
}

SHOWN int ftruncate64(int fd, off64_t length)
{
    FD_CALL(int, "truncate", fd, SYS_ftruncate, fd, length);
}

SHOWN int fallocate(int fd, int mode, off_t offset, off_t length)
{
    FD_CALL(int, "allocate", fd, SYS_fallocate, fd, mode, offset, length);
}

SHOWN int fallocate64(int fd, int mode, off64_t offset, off64_t length)
{
    FD_CALL(int, "allocate", fd, SYS_fallocate, fd, mode, offset, length);
}

static void copy_to_shadow(int fd)
{
    char name[PATH_MAX];
    static char bytes[65536]; /* under the lock */
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int from = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    (void)snprintf(name, sizeof name, "%s/%ld-%ld", shadow, (long)getpid(), number);
    int to =
        (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (from < 0 || to < 0) {
        abort();
    }
    for (;;) {
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got <= 0) {
            break;
        }
        if (syscall(SYS_write, to, bytes, (size_t)got) != got) {
            abort();
        }
    }
    (void)syscall(SYS_close, from);
    (void)syscall(SYS_close, to);
}

static int do_fsync(int fd, long system_call)
{
    char path[PATH_MAX];
    struct stat info;
    call c = {.name = "fsync"};
    bool counts = begin_fd(&c, fd, path);
    int done = (int)syscall(system_call, fd);
    if (counts) {
        if (done == 0 && shadow && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
            copy_to_shadow(fd);
            (void)snprintf(c.detail, sizeof c.detail, "%ld-%ld", (long)getpid(), number);
        }
        end(&c, done < 0);
    }
    return done;
}

SHOWN int fsync(int fd)
{
    return do_fsync(fd, SYS_fsync);
}

SHOWN int fdatasync(int fd)
{
    return do_fsync(fd, SYS_fdatasync);
}

SHOWN int close(int fd)
{
    char path[PATH_MAX];
    call c = {.name = "close"};
    int flags = root ? fcntl(fd, F_GETFL) : -1;
    bool counts = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && begin_fd(&c, fd, path);
    int done = (int)syscall(SYS_close, fd);
    if (counts) {
        end(&c, done < 0);
    }
    return done;
}
