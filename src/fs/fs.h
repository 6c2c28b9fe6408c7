/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files behind an interface, so that faults can be injected and other storage can follow.
 *
 * Promise of every write but append: after a crash at any moment a file has its old content or its
 * new one, never a part, and once a call has returned TG_OK the change survives power loss (file
 * and folder were fsynced). Errors: PATH_NOT_FOUND (TG_NOT_FOUND), PATH_ALREADY_EXISTS
 * (TG_ALREADY_EXISTS), TIDEGATE_LIMIT_EXCEEDED (TG_LIMIT), TIDEGATE_UNSUPPORTED_FILE_SYSTEM
 * (TG_UNSUPPORTED), all else TIDEGATE_IO with the path and the system's reason. Threads: an
 * implementation may be called from several threads at once. Results live in the arena given.
 */
#ifndef TG_FS_FS_H
#define TG_FS_FS_H

#include "base/base.h"
#include "fs/path.h"

typedef struct tg_fs_entry {
    tg_str name;        /* last part of the path */
    bool is_folder;     /* symbolic links are followed */
    bool is_link;       /* by list only: the entry is a symbolic link, is_folder tells its target */
    int64_t size_bytes; /* -1: not asked for */
    int64_t mtime_ms;   /* since 1970-01-01 UTC, rounded down; -1: not asked for */
    /*
     * Tell whether it is the file it was where size and mtime do not: a copy may be given those of
     * what it replaces. 0: not asked for, or the storage has none.
     */
    uint64_t inode;
    int64_t ctime_ns;
} tg_fs_entry;

typedef struct tg_fs_lock tg_fs_lock;

typedef struct tg_fs {
    size_t struct_size;
    void *self;
    /* Whole file; TG_LIMIT when it is larger than max_bytes. */
    tg_code (*read)(void *self, tg_str path, size_t max_bytes, tg_arena *arena, tg_str *out_bytes,
                    tg_error *err);
    /* Entries but "." and "..", in byte order of their names; without details only name and
     * is_folder are set. */
    tg_code (*list)(void *self, tg_str folder, bool with_details, tg_arena *arena,
                    tg_fs_entry **out_entries, size_t *out_count, tg_error *err);
    /* out_entry->name is a view of path. */
    tg_code (*stat)(void *self, tg_str path, tg_fs_entry *out_entry, tg_error *err);
    /* Puts the file if nothing is there, else TG_ALREADY_EXISTS and nothing changed; of many racing
     * writers one wins. The folder must exist. TG_IO may be ambiguous (the file may be there): look
     * before trying again. */
    tg_code (*write_new)(void *self, tg_str path, tg_str bytes, tg_error *err);
    /* Creates or replaces at once. */
    tg_code (*write_replace)(void *self, tg_str path, tg_str bytes, tg_error *err);
    /* Adds to the end, creates the file; one write for one call where the system allows, not
     * fsynced. */
    tg_code (*append)(void *self, tg_str path, tg_str bytes, tg_error *err);
    /* Moves within one file system, replaces what is there; fsyncs the folders. The file itself
     * must be fsynced before. */
    tg_code (*rename)(void *self, tg_str from, tg_str to, tg_error *err);
    tg_code (*fsync_file)(void *self, tg_str path, tg_error *err);
    tg_code (*fsync_folder)(void *self, tg_str path, tg_error *err);
    /* With all missing parents, each made durable in its parent; fine when it exists already (then
     * it is made durable too: whoever made it may have died before that). */
    tg_code (*make_folders)(void *self, tg_str path, tg_error *err);
    /* A file or an empty folder; PATH_NOT_FOUND when it is gone already. Not fsynced. */
    tg_code (*remove)(void *self, tg_str path, tg_error *err);
    /* A folder with all that is in it. Symbolic links in it are removed, never entered: what they
     * point at stays. TG_LIMIT below TG_LIMIT_FOLDER_DEPTH. Not fsynced. */
    tg_code (*remove_tree)(void *self, tg_str path, tg_error *err);
    /*
     * Adds the bytes from offset on to out, at most max_bytes; fewer only where the file ends. For
     * files that are large, or still being written.
     */
    tg_code (*read_part)(void *self, tg_str path, int64_t offset, size_t max_bytes, tg_buf *out,
                         tg_error *err);
    /*
     * Locks a file, which is created when it is not there; *out_lock NULL: somebody else holds it,
     * in this process or another. The lock ends with unlock, with the arena, or with its process however
     * that ends (kill -9 and power loss too). It binds only those who ask for it. A file system without locks:
     * TG_UNSUPPORTED.
     */
    tg_code (*lock)(void *self, tg_str path, tg_arena *arena, tg_fs_lock **out_lock, tg_error *err);
    /* Does somebody hold the lock of a file? Takes nothing, so that nobody is hindered. */
    tg_code (*is_locked)(void *self, tg_str path, bool *out_is_locked, tg_error *err);
    /* Takes NULL. */
    void (*unlock)(void *self, tg_fs_lock *lock);
    /* Absolute, without symbolic links; the path must exist. */
    tg_code (*real_path)(void *self, tg_str path, tg_arena *arena, tg_str *out_path, tg_error *err);
} tg_fs;

/* The machine's own file system. */
const tg_fs *tg_fs_local(void);

TG_CHECKED tg_code tg_fs_read(const tg_fs *fs, tg_str path, size_t max_bytes, tg_arena *arena,
                              tg_str *out_bytes, tg_error *err);
TG_CHECKED tg_code tg_fs_list(const tg_fs *fs, tg_str folder, bool with_details, tg_arena *arena,
                              tg_fs_entry **out_entries, size_t *out_count, tg_error *err);
TG_CHECKED tg_code tg_fs_stat(const tg_fs *fs, tg_str path, tg_fs_entry *out_entry, tg_error *err);
TG_CHECKED tg_code tg_fs_write_new(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err);
TG_CHECKED tg_code tg_fs_write_replace(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err);
TG_CHECKED tg_code tg_fs_append(const tg_fs *fs, tg_str path, tg_str bytes, tg_error *err);
TG_CHECKED tg_code tg_fs_rename(const tg_fs *fs, tg_str from, tg_str to, tg_error *err);
TG_CHECKED tg_code tg_fs_fsync_file(const tg_fs *fs, tg_str path, tg_error *err);
TG_CHECKED tg_code tg_fs_fsync_folder(const tg_fs *fs, tg_str path, tg_error *err);
TG_CHECKED tg_code tg_fs_make_folders(const tg_fs *fs, tg_str path, tg_error *err);
TG_CHECKED tg_code tg_fs_real_path(const tg_fs *fs, tg_str path, tg_arena *arena, tg_str *out_path,
                                   tg_error *err);
TG_CHECKED tg_code tg_fs_read_part(const tg_fs *fs, tg_str path, int64_t offset, size_t max_bytes,
                                   tg_buf *out, tg_error *err);
TG_CHECKED tg_code tg_fs_take_lock(const tg_fs *fs, tg_str path, tg_arena *arena,
                                   tg_fs_lock **out_lock, tg_error *err);
TG_CHECKED tg_code tg_fs_is_locked(const tg_fs *fs, tg_str path, bool *out_is_locked,
                                   tg_error *err);
void tg_fs_unlock(const tg_fs *fs, tg_fs_lock *lock);
/* Unchecked on purpose: cleaning up after a failure may fail too. */
tg_code tg_fs_remove(const tg_fs *fs, tg_str path, tg_error *err);
TG_CHECKED tg_code tg_fs_remove_tree(const tg_fs *fs, tg_str path, tg_error *err);
/* False when there is nothing; an error only when that cannot be told (permission). */
TG_CHECKED tg_code tg_fs_exists(const tg_fs *fs, tg_str path, bool *out_exists, tg_error *err);

typedef enum tg_glob_flags {
    TG_GLOB_PLAIN = 0,
    TG_GLOB_SKIP_HIDDEN =
        1 /* names that begin with '.' or '_' match no pattern, as Spark reads folders */
} tg_glob_flags;
/*
 * Files (not folders) that match, in byte order. Parts may hold '*' and '?'; the part "**" is any
 * number of folders, and at the end all files below. A path without pattern gives itself when it is
 * a file. Nothing found is no error. Symbolic links to folders are followed, to a depth of
 * TG_LIMIT_FOLDER_DEPTH; at most TG_LIMIT_GLOB_FILES files (TG_LIMIT).
 */
TG_CHECKED tg_code tg_fs_glob(const tg_fs *fs, tg_str pattern, int flags, tg_arena *arena,
                              tg_str **out_paths, size_t *out_count, tg_error *err);

#endif
