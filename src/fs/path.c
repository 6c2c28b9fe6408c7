/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. */
#include "fs/path.h"

bool tg_path_is_absolute(tg_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

static tg_str without_trailing_slashes(tg_str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    return path;
}

tg_str tg_path_join(tg_arena *arena, tg_str folder, tg_str name)
{
    folder = without_trailing_slashes(folder);
    if (folder.len == 0 || tg_path_is_absolute(name)) {
        return tg_str_copy(arena, name);
    }
    if (name.len == 0) {
        return tg_str_copy(arena, folder);
    }
    return tg_str_printf(arena, "%.*s%s%.*s", TG_SARG(folder), folder.ptr[folder.len - 1] == '/' ? "" : "/",
                         TG_SARG(name));
}

tg_str tg_path_dirname(tg_str path)
{
    path = without_trailing_slashes(path);
    while (path.len > 0 && path.ptr[path.len - 1] != '/') {
        path.len--;
    }
    return path.len ? without_trailing_slashes(path) : TG_S(".");
}

tg_str tg_path_basename(tg_str path)
{
    size_t at;

    path = without_trailing_slashes(path);
    if (path.len == 1) {
        return path;
    }
    for (at = path.len; at > 0 && path.ptr[at - 1] != '/'; at--) {
    }
    return tg_str_sub(path, at, path.len);
}

tg_str tg_path_extension(tg_str path)
{
    tg_str name = tg_path_basename(path);

    for (size_t at = name.len; at > 1; at--) {
        if (name.ptr[at - 1] == '.') {
            return tg_str_sub(name, at - 1, name.len);
        }
    }
    return TG_S("");
}

/* The next part of path from *at on; false at the end. Skips empty parts. */
static bool next_part(tg_str path, size_t *at, tg_str *out_part)
{
    size_t from = *at;
    size_t to;

    while (from < path.len && path.ptr[from] == '/') {
        from++;
    }
    for (to = from; to < path.len && path.ptr[to] != '/'; to++) {
    }
    *at = to;
    *out_part = tg_str_sub(path, from, to);
    return to > from;
}

tg_str tg_path_normalize(tg_arena *arena, tg_str path)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    bool absolute = tg_path_is_absolute(path);
    size_t kept = 0; /* parts in out that ".." may take away */
    size_t at = 0;
    tg_str part;

    while (next_part(path, &at, &part)) {
        if (tg_str_eq(part, TG_S("."))) {
            continue;
        }
        if (tg_str_eq(part, TG_S(".."))) {
            if (kept > 0) {
                while (out.len > 0 && out.ptr[--out.len] != '/') {
                }
                kept--;
                continue;
            }
            if (absolute) {
                continue; /* "/.." is "/" */
            }
        } else {
            kept++;
        }
        if (absolute || out.len) {
            tg_buf_addc(&out, '/');
        }
        tg_buf_adds(&out, part);
    }
    if (out.len == 0) {
        return absolute ? TG_S("/") : TG_S(".");
    }
    return tg_buf_take(&out, arena);
}

bool tg_path_relative(tg_str folder, tg_str path, tg_str *out)
{
    folder = without_trailing_slashes(folder);
    if (tg_str_eq(folder, TG_S("/")) && tg_path_is_absolute(path)) {
        *out = tg_str_sub(path, 1, path.len);
        return true;
    }
    if (!tg_str_starts(path, folder) || (path.len > folder.len && path.ptr[folder.len] != '/')) {
        return false;
    }
    *out = path.len > folder.len ? tg_str_sub(path, folder.len + 1, path.len) : TG_S("");
    return true;
}

/* ---- schemes ------------------------------------------------------------------------------------------------------ */

/* Storage that users of Databricks and Spark name, and that is not supported here. */
static const struct {
    const char *prefix;
    const char *storage;
} refused[] = {
    {"s3:", "Amazon S3"},
    {"s3a:", "Amazon S3"},
    {"s3n:", "Amazon S3"},
    {"abfs:", "Azure Data Lake Storage"},
    {"abfss:", "Azure Data Lake Storage"},
    {"adl:", "Azure Data Lake Storage"},
    {"wasb:", "Azure Blob Storage"},
    {"wasbs:", "Azure Blob Storage"},
    {"gs:", "Google Cloud Storage"},
    {"dbfs:", "the Databricks File System"},
    {"/dbfs/", "the Databricks File System"},
    {"hdfs:", "HDFS"},
    {"viewfs:", "HDFS"},
    {"http:", "web addresses"},
    {"https:", "web addresses"},
    {"ftp:", "FTP"},
    {"/Volumes/", "Unity Catalog volumes"},
    {"/Workspace/", "Databricks workspace files"},
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of "scheme:" at the front, or 0. A name with ':' is a scheme only when '/' follows or the table knows it. */
static size_t scheme_len(tg_str text)
{
    size_t n = 0;

    while (n < text.len && (is_letter(text.ptr[n]) || (n > 0 && ((text.ptr[n] >= '0' && text.ptr[n] <= '9') ||
                                                                 text.ptr[n] == '+' || text.ptr[n] == '.' ||
                                                                 text.ptr[n] == '-')))) {
        n++;
    }
    if (n == 0 || n >= text.len || text.ptr[n] != ':') {
        return 0;
    }
    n++;
    if (n < text.len && text.ptr[n] == '/') {
        return n;
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (tg_str_ieq(tg_str_sub(text, 0, n), tg_str_from(refused[i].prefix))) {
            return n;
        }
    }
    return 0;
}

bool tg_path_has_scheme(tg_str text)
{
    return scheme_len(text) > 0;
}

/* What stands behind "file:"; false when it names another machine. */
static bool file_uri_path(tg_str text, tg_str *out)
{
    tg_str rest = tg_str_sub(text, strlen("file:"), text.len);

    if (tg_str_starts(rest, TG_S("//"))) {
        rest = tg_str_sub(rest, 2, rest.len);
        if (tg_str_istarts(rest, TG_S("localhost/"))) {
            rest = tg_str_sub(rest, strlen("localhost"), rest.len);
        }
    }
    *out = rest;
    return tg_path_is_absolute(rest);
}

static tg_code refuse_storage(tg_str text, const char *storage, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_UNSUPPORTED_STORAGE, "cannot use `%.*s`: %s is not supported", TG_SARG(text), storage);
    return tg_error_hint(err, "Use a local path, or map the table's name to one under tidegate.tables in the pipeline spec.");
}

tg_code tg_path_resolve(tg_str text, tg_str base_folder, tg_arena *arena, tg_str *out_path, tg_error *err)
{
    size_t scheme = scheme_len(text);
    tg_str path = text;

    if (text.len == 0) {
        TG_FAIL(err, PATH_NOT_FOUND, "a path is empty");
    }
    if (memchr(text.ptr, '\0', text.len) || tg_utf8_valid_len(text) != text.len) {
        TG_FAIL(err, PATH_NOT_FOUND, "a path is not valid UTF-8 or holds a NUL character");
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        tg_str prefix = tg_str_from(refused[i].prefix);
        bool is_folder = prefix.ptr[0] == '/';
        if (is_folder ? tg_str_starts(text, prefix) || tg_str_eq(text, tg_str_sub(prefix, 0, prefix.len - 1))
                      : tg_str_ieq(tg_str_sub(text, 0, scheme), prefix)) {
            return refuse_storage(text, refused[i].storage, err);
        }
    }
    if (scheme && tg_str_ieq(tg_str_sub(text, 0, scheme), TG_S("file:"))) {
        if (!file_uri_path(text, &path)) {
            return refuse_storage(text, "a file on another machine", err);
        }
    } else if (scheme) {
        return refuse_storage(text, tg_arena_printf(arena, "scheme `%.*s`", (int)scheme - 1, text.ptr), err);
    }
    *out_path = tg_path_normalize(arena, tg_path_join(arena, base_folder, path));
    return TG_OK;
}

/* ---- percent-encoding --------------------------------------------------------------------------------------------- */

static bool is_plain_in_uri(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (c != '\0' && strchr("-_.!~*'()/@&=+$,", c));
}

tg_str tg_uri_encode_path(tg_arena *arena, tg_str path)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;

    for (size_t i = 0; i < path.len; i++) {
        if (is_plain_in_uri(path.ptr[i])) {
            tg_buf_addc(&out, path.ptr[i]);
        } else {
            tg_buf_addf(&out, "%%%02X", (unsigned char)path.ptr[i]);
        }
    }
    return tg_buf_take(&out, arena);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool tg_uri_decode(tg_arena *arena, tg_str text, tg_str *out)
{
    char *bytes = tg_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0') {
            return false;
        }
        bytes[len++] = c;
    }
    if (tg_utf8_valid_len((tg_str){bytes, len}) != len) {
        return false;
    }
    *out = (tg_str){bytes, len};
    return true;
}

/* ---- patterns ----------------------------------------------------------------------------------------------------- */

bool tg_glob_is_pattern(tg_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '*' || path.ptr[i] == '?') {
            return true;
        }
    }
    return false;
}

/* Bytes of the character at pos; 1 for bytes that are no valid UTF-8 (file names may hold anything). */
static size_t char_len(tg_str s, size_t pos)
{
    unsigned char c = (unsigned char)s.ptr[pos];
    size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;

    return pos + len <= s.len ? len : 1;
}

bool tg_glob_match_name(tg_str pattern, tg_str name)
{
    size_t p = 0;
    size_t n = 0;
    size_t star = SIZE_MAX; /* behind the last '*' */
    size_t retry = 0;       /* where in name that '*' may end next */

    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = ++p;
            retry = n;
        } else if (p < pattern.len && pattern.ptr[p] == '?' && name.ptr[n] != '/') {
            p++;
            n += char_len(name, n);
        } else if (p < pattern.len && pattern.ptr[p] == name.ptr[n] && pattern.ptr[p] != '?') {
            p++;
            n++;
        } else if (star != SIZE_MAX && name.ptr[retry] != '/') {
            p = star;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

bool tg_glob_is_library(tg_str pattern)
{
    tg_str folder = pattern;

    if (tg_str_ends(pattern, TG_S("/**"))) {
        folder = tg_str_sub(pattern, 0, pattern.len - strlen("/**"));
    } else if (tg_str_eq(pattern, TG_S("**"))) {
        return true;
    }
    return !tg_glob_is_pattern(folder) && tg_str_find(folder, TG_S("["), 0) == SIZE_MAX;
}
