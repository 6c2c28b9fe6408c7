/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. */
#include "fs/path.h"

bool tg_path_is_absolute(tg_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

tg_str tg_path_join(tg_arena *arena, tg_str folder, tg_str name)
{
    if (folder.len == 0 || tg_path_is_absolute(name)) {
        return tg_str_copy(arena, name);
    }
    bool has_slash = folder.ptr[folder.len - 1] == '/';
    return tg_str_printf(arena, "%.*s%s%.*s", TG_SARG(folder), has_slash ? "" : "/", TG_SARG(name));
}

static tg_str without_trailing_slashes(tg_str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    return path;
}

/* Position behind the last '/', 0 when there is none. */
static size_t last_part(tg_str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/') {
        at--;
    }
    return at;
}

tg_str tg_path_dirname(tg_str path)
{
    path = without_trailing_slashes(path);
    size_t at = last_part(path);
    if (at == 0) {
        return TG_S(".");
    }
    return without_trailing_slashes(tg_str_sub(path, 0, at));
}

tg_str tg_path_basename(tg_str path)
{
    path = without_trailing_slashes(path);
    size_t at = last_part(path);
    return at == path.len ? path : tg_str_sub(path, at, path.len);
}

tg_str tg_path_extension(tg_str path)
{
    tg_str name = tg_path_basename(path);
    for (size_t at = name.len; at > 1; at--) {
        if (name.ptr[at - 1] == '.') {
            return tg_str_sub(name, at - 1, name.len);
        }
    }
    return (tg_str){"", 0};
}

tg_str tg_path_normalize(tg_arena *arena, tg_str path)
{
    bool is_absolute = tg_path_is_absolute(path);
    TG_VEC(tg_str) parts = {0};
    for (size_t from = 0; from < path.len;) {
        size_t slash = tg_str_find(path, TG_S("/"), from);
        size_t to = slash == SIZE_MAX ? path.len : slash;
        tg_str part = tg_str_sub(path, from, to);
        from = to + 1;
        bool is_parent = tg_str_eq(part, TG_S(".."));
        if (part.len == 0 || tg_str_eq(part, TG_S("."))) {
            continue;
        }
        if (is_parent && parts.count > 0 && !tg_str_eq(parts.items[parts.count - 1], TG_S(".."))) {
            parts.count--;
        } else if (!is_parent || !is_absolute) {
            TG_VEC_PUSH(arena, &parts, part);
        }
    }
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_buf_addz(&out, is_absolute ? "/" : "");
    for (size_t i = 0; i < parts.count; i++) {
        tg_buf_addz(&out, i > 0 ? "/" : "");
        tg_buf_adds(&out, parts.items[i]);
    }
    if (out.len == 0) {
        tg_buf_addc(&out, '.');
    }
    return tg_buf_take(&out, arena);
}

bool tg_path_relative(tg_str folder, tg_str path, tg_str *out)
{
    if (tg_str_eq(folder, path)) {
        *out = (tg_str){"", 0};
        return true;
    }
    if (!tg_str_starts(path, folder)) {
        return false;
    }
    bool is_root = folder.len > 0 && folder.ptr[folder.len - 1] == '/';
    if (!is_root && path.ptr[folder.len] != '/') {
        return false;
    }
    *out = tg_str_sub(path, folder.len + !is_root, path.len);
    return true;
}

/* ---- schemes --------------------------------------------------------------------------------- */

/* Storage that other engines know and this one does not reach. */
static const char *const UNSUPPORTED[] = {
    "s3://", "s3a://", "s3n://",  "abfss://", "abfs://", "wasbs://", "wasb://",  "adl://",
    "gs://", "dbfs:",  "hdfs://", "viewfs:",  "oss://",  "http://",  "https://", "/Volumes/"};

static size_t scheme_len(tg_str text)
{
    size_t at = 0;
    while (at < text.len) {
        char c = text.ptr[at];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_more = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!is_letter && !(at > 0 && is_more)) {
            break;
        }
        at++;
    }
    /* One letter is no scheme, and "name:rest" without a slash is a file name. */
    return at > 1 && at + 1 < text.len && text.ptr[at] == ':' && text.ptr[at + 1] == '/' ? at + 1
                                                                                         : 0;
}

bool tg_path_has_scheme(tg_str text)
{
    return scheme_len(text) > 0;
}

static tg_code refuse_storage(tg_str text, tg_str scheme, tg_error *err)
{
    TG_ERR(err, TIDEGATE_UNSUPPORTED_STORAGE, "storage %.*s cannot be used: %.*s", TG_SARG(scheme),
           TG_SARG(text));
    return tg_error_hint(
        err, "Use a local path or file:/..., or map the name in the spec under tidegate.tables.");
}

tg_code tg_path_resolve(tg_str text, tg_str base_folder, tg_arena *arena, tg_str *out_path,
                        tg_error *err)
{
    if (text.len == 0) {
        TG_FAIL(err, TIDEGATE_IO, "a path is empty");
    }
    if (memchr(text.ptr, '\0', text.len)) {
        TG_FAIL(err, TIDEGATE_IO, "a path holds a NUL byte");
    }
    for (size_t i = 0; i < sizeof(UNSUPPORTED) / sizeof(*UNSUPPORTED); i++) {
        tg_str scheme = tg_str_from(UNSUPPORTED[i]);
        if (scheme.ptr[0] == '/' ? tg_str_starts(text, scheme) : tg_str_istarts(text, scheme)) {
            return refuse_storage(text, scheme, err);
        }
    }
    if (tg_str_istarts(text, TG_S("file:/"))) {
        text = tg_str_sub(text, 5, text.len);
        if (tg_str_starts(text, TG_S("//")) && !tg_str_starts(text, TG_S("///"))) {
            TG_FAIL(err, TIDEGATE_UNSUPPORTED_STORAGE, "a file: path cannot name a host: file:%.*s",
                    TG_SARG(text));
        }
    } else if (scheme_len(text) > 0) {
        return refuse_storage(text, tg_str_sub(text, 0, scheme_len(text)), err);
    }
    *out_path =
        tg_path_normalize(arena, base_folder.len ? tg_path_join(arena, base_folder, text) : text);
    return TG_OK;
}

/* ---- percent-encoding ------------------------------------------------------------------------ */

tg_str tg_uri_encode_path(tg_arena *arena, tg_str path)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') ||
                        (c != '\0' && strchr("-_.!~*'()/@&=+$,", c) != NULL);
        if (is_plain) {
            tg_buf_addc(&out, (char)c);
        } else {
            tg_buf_addf(&out, "%%%02X", c);
        }
    }
    return tg_buf_take(&out, arena);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
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
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0') {
            return false;
        }
        bytes[len++] = c;
    }
    *out = (tg_str){bytes, len};
    return tg_utf8_valid_len(*out) == len;
}

/* ---- patterns -------------------------------------------------------------------------------- */

bool tg_glob_is_pattern(tg_str path)
{
    return path.len > 0 && (memchr(path.ptr, '*', path.len) || memchr(path.ptr, '?', path.len));
}

bool tg_glob_match_name(tg_str pattern, tg_str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, star_n = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            star_n = n;
        } else if (p < pattern.len && (pattern.ptr[p] == name.ptr[n] ||
                                       (pattern.ptr[p] == '?' && name.ptr[n] != '/'))) {
            if (pattern.ptr[p] == '?') {
                (void)tg_utf8_next(name, &n); /* one character, not one byte */
            } else {
                n++;
            }
            p++;
        } else if (star != SIZE_MAX && name.ptr[star_n] != '/') {
            p = star + 1;
            n = ++star_n;
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
    if (tg_str_eq(pattern, TG_S("**"))) {
        return true;
    }
    if (tg_str_ends(pattern, TG_S("/**"))) {
        pattern.len -= 3;
    }
    return pattern.len > 0 && !tg_glob_is_pattern(pattern) &&
           !memchr(pattern.ptr, '[', pattern.len);
}
