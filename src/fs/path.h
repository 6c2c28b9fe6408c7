/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text: joining, schemes, percent-encoding, patterns. Nothing here touches a disk.
 *
 * Paths are UTF-8 with '/' between the parts. Results live in the arena that is given (or are views
 * of the input) and end in NUL when they are copies.
 */
#ifndef TG_FS_PATH_H
#define TG_FS_PATH_H

#include "base/base.h"

bool tg_path_is_absolute(tg_str path);
/* folder/name with one '/'; an absolute name stands for itself; an empty folder gives name. */
tg_str tg_path_join(tg_arena *arena, tg_str folder, tg_str name);
/* View of what stands before the last part, without trailing '/': "a/b" -> "a", "a" -> ".", "/a" ->
 * "/". */
tg_str tg_path_dirname(tg_str path);
/* View of the last part; trailing '/' are ignored: "a/b/" -> "b", "/" -> "/". */
tg_str tg_path_basename(tg_str path);
/* From the last '.' of the basename on (".sql"); empty when there is none or it is the first
 * character. */
tg_str tg_path_extension(tg_str path);
/* Drops "//", "." and trailing '/', folds "x/.." (by text, as Spark does; symbolic links are not
 * looked at). Never empty: ".". */
tg_str tg_path_normalize(tg_arena *arena, tg_str path);
/* Part of path under folder (both normal): "/a", "/a/b/c" -> "b/c", the same -> ""; false when path
 * is not in folder. */
bool tg_path_relative(tg_str folder, tg_str path, tg_str *out);

/*
 * What a user wrote for a file or folder, as a local path: "file:/x" and "file:///x" lose their
 * scheme, relative paths resolve against base_folder (absolute, or empty: left relative), the
 * result is normal. Storage that is not supported (s3:, abfss:, gs:, dbfs:, hdfs:, /Volumes/ ...)
 * is refused by name: TIDEGATE_UNSUPPORTED_STORAGE. Percent signs are plain characters here.
 */
TG_CHECKED tg_code tg_path_resolve(tg_str text, tg_str base_folder, tg_arena *arena,
                                   tg_str *out_path, tg_error *err);
/* Does text begin with a scheme ("s3://...", "dbfs:/...")? */
bool tg_path_has_scheme(tg_str text);

/*
 * RFC 2396 form of a path for the Delta log: every byte but letters, digits and "-_.!~*'()/@&=+$,"
 * becomes %XX, each exactly once.
 * ':' is encoded too, so that no reader takes a relative path for a scheme.
 */
tg_str tg_uri_encode_path(tg_arena *arena, tg_str path);
/* Undoes one level. False: a '%' without two hexadecimal digits, a NUL byte or invalid UTF-8 comes
 * out. */
bool tg_uri_decode(tg_arena *arena, tg_str text, tg_str *out);

/* Has the path a pattern character ('*', '?')? */
bool tg_glob_is_pattern(tg_str path);
/* One part against one pattern part: '*' is any run of characters, '?' one character, neither
 * matches '/'. */
bool tg_glob_match_name(tg_str pattern, tg_str name);
/* What the libraries of a pipeline accept: a plain path without pattern characters, or a folder
 * followed by the part "**". */
bool tg_glob_is_library(tg_str pattern);

#endif
