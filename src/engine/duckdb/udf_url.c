/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_url: the parts of a URL as java.net.URI takes them apart (RFC 2396 with characters beyond
 * ASCII), because Spark calls it. An authority that is no server (a host with an underscore) has
 * neither host nor user.
 */
#include "engine/duckdb/udf_int.h"

#include <arpa/inet.h>

typedef struct url {
    tg_str scheme, user, host, authority, path, query, fragment;
    bool has_authority, has_path, has_query, has_fragment, has_host, has_user;
} url;

#define UNRESERVED "-_.!~*'()"
#define URIC ";/?:@&=+$,[]" UNRESERVED
#define PATH_SIGNS ";/:@&=+$," UNRESERVED
#define USER_SIGNS ";:&=+$," UNRESERVED
#define SERVER_SIGNS USER_SIGNS ".:@[]"
#define REGISTRY_SIGNS "$,;:@&=+" UNRESERVED

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_alpha(c) || is_digit(c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Java: neither an ISO control character nor a space character. */
static bool is_other(uint32_t c)
{
    bool is_space = c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
                    c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
    return c >= 0xA0 && !is_space;
}

/* Nothing but letters, digits, the signs, %XX and characters beyond ASCII? */
static bool consists_of(tg_str text, const char *signs, bool any_percent)
{
    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        if (c == '%') {
            bool is_escape = i + 2 < text.len && is_hex(text.ptr[i + 1]) && is_hex(text.ptr[i + 2]);
            if (!is_escape && !any_percent) {
                return false;
            }
            i += is_escape ? 3 : 1;
        } else if ((unsigned char)c >= 0x80) {
            if (!is_other(tg_utf8_next(text, &i))) {
                return false;
            }
        } else if (is_alnum(c) || (c && strchr(signs, c))) {
            i++;
        } else {
            return false;
        }
    }
    return true;
}

/* The first of the signs at or behind a place; the end when there is none. */
static size_t find_sign(tg_str text, size_t from, const char *signs)
{
    while (from < text.len && !(text.ptr[from] && strchr(signs, text.ptr[from]))) {
        from++;
    }
    return from;
}

static bool is_address_4(tg_str host)
{
    int parts = 0;
    for (size_t i = 0; i < host.len; parts++) {
        int value = 0;
        size_t begin = i;
        for (; i < host.len && is_digit(host.ptr[i]) && i - begin < 4; i++) {
            value = value * 10 + (host.ptr[i] - '0');
        }
        bool is_last = parts == 3;
        bool ends_well = is_last ? i == host.len : i + 1 < host.len && host.ptr[i] == '.';
        if (i == begin || value > 255 || !ends_well) {
            return false;
        }
        i += !is_last;
    }
    return parts == 4;
}

/* Labels of letters, digits and inner hyphens; the last of several begins with a letter. */
static bool is_host_name(tg_str host)
{
    size_t label = 0;
    for (size_t i = 0; i < host.len;) {
        label = i;
        while (i < host.len && (is_alnum(host.ptr[i]) || host.ptr[i] == '-')) {
            i++;
        }
        if (i == label || host.ptr[label] == '-' || host.ptr[i - 1] == '-' ||
            (i < host.len && host.ptr[i] != '.')) {
            return false;
        }
        i += i < host.len;
    }
    return host.len > 0 && (label == 0 || is_alpha(host.ptr[label]));
}

/* With its brackets; a scope (%eth0) may follow the address. */
static bool is_address_6(tg_str host)
{
    tg_str inside = tg_str_sub(host, 1, host.len - 1);
    size_t scope = find_sign(inside, 0, "%");
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    if (scope >= sizeof(address) || scope + 1 == inside.len) {
        return false;
    }
    memcpy(address, inside.ptr, scope);
    address[scope] = '\0';
    return inet_pton(AF_INET6, address, &binary) == 1;
}

static bool parse_port(tg_str port)
{
    int64_t value = 0;
    for (size_t i = 0; i < port.len; i++) {
        if (!is_digit(port.ptr[i]) || value > INT32_MAX) {
            return false;
        }
        value = value * 10 + (port.ptr[i] - '0');
    }
    return value <= INT32_MAX;
}

/* [user@]host[:port] */
static bool parse_server(tg_str authority, url *out)
{
    size_t at = find_sign(authority, 0, "@"), begin = 0;
    if (at < authority.len) {
        out->user = tg_str_sub(authority, 0, at);
        out->has_user = true;
        if (!consists_of(out->user, USER_SIGNS, false)) {
            return false;
        }
        begin = at + 1;
    }
    bool in_brackets = begin < authority.len && authority.ptr[begin] == '[';
    size_t end =
        in_brackets ? find_sign(authority, begin, "]") + 1 : find_sign(authority, begin, ":");
    if (end > authority.len) {
        return false;
    }
    out->host = tg_str_sub(authority, begin, end);
    out->has_host = true;
    if (in_brackets ? !is_address_6(out->host)
                    : !is_address_4(out->host) && !is_host_name(out->host)) {
        return false;
    }
    return end == authority.len ||
           (authority.ptr[end] == ':' && parse_port(tg_str_sub(authority, end + 1, authority.len)));
}

static bool parse_authority(tg_str authority, url *out)
{
    bool has_address_6 = find_sign(authority, 0, "]") < authority.len;
    out->authority = authority;
    out->has_authority = true;
    if (consists_of(authority, SERVER_SIGNS, has_address_6) && parse_server(authority, out)) {
        return true;
    }
    out->has_user = out->has_host = false;
    return consists_of(authority, REGISTRY_SIGNS, false);
}

static bool parse_hierarchy(tg_str text, size_t at, url *out)
{
    if (text.len - at >= 2 && text.ptr[at] == '/' && text.ptr[at + 1] == '/') {
        size_t end = find_sign(text, at + 2, "/?#");
        tg_str authority = tg_str_sub(text, at + 2, end);
        if (authority.len > 0 ? !parse_authority(authority, out) : end == text.len) {
            return false;
        }
        at = end;
    }
    size_t query = find_sign(text, at, "?#"), fragment = find_sign(text, query, "#");
    out->path = tg_str_sub(text, at, query);
    out->has_path = true;
    out->has_query = query < fragment;
    out->query = tg_str_sub(text, query + out->has_query, fragment);
    return consists_of(out->path, PATH_SIGNS, false) && consists_of(out->query, URIC, false);
}

static bool parse(tg_str text, url *out)
{
    *out = (url){0};
    size_t fragment = find_sign(text, 0, "#"), at = find_sign(text, 0, ":/?#");
    tg_str rest = tg_str_sub(text, 0, fragment);
    out->has_fragment = fragment < text.len;
    out->fragment = tg_str_sub(text, fragment + out->has_fragment, text.len);
    if (!consists_of(out->fragment, URIC, false)) {
        return false;
    }
    if (at == text.len || text.ptr[at] != ':') {
        return parse_hierarchy(rest, 0, out);
    }
    out->scheme = tg_str_sub(text, 0, at);
    for (size_t i = 0; i < at; i++) {
        if (!is_alnum(text.ptr[i]) && !(text.ptr[i] && strchr("+-.", text.ptr[i]))) {
            return false;
        }
    }
    if (at == 0 || !is_alpha(text.ptr[0]) || at + 1 == rest.len) {
        return false;
    }
    return text.ptr[at + 1] == '/' ? parse_hierarchy(rest, at + 1, out)
                                   : consists_of(tg_str_sub(rest, at + 1, rest.len), URIC, false);
}

/* False: the URL has no such part, or there is none of that name. */
static bool find_part(const url *parsed, tg_str part, tg_buf *out)
{
    const struct {
        const char *name;
        bool is_there;
        tg_str text;
    } parts[] = {
        {"HOST", parsed->has_host, parsed->host},
        {"PATH", parsed->has_path, parsed->path},
        {"QUERY", parsed->has_query, parsed->query},
        {"REF", parsed->has_fragment, parsed->fragment},
        {"PROTOCOL", parsed->scheme.len > 0, parsed->scheme},
        {"AUTHORITY", parsed->has_authority, parsed->authority},
        {"USERINFO", parsed->has_user, parsed->user},
        {"FILE", parsed->has_path, parsed->path},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (!tg_str_eq(part, tg_str_from(parts[i].name))) {
            continue;
        }
        tg_buf_adds(out, parts[i].text);
        if (strcmp(parts[i].name, "FILE") == 0 && parsed->has_query) {
            tg_buf_addc(out, '?');
            tg_buf_adds(out, parsed->query);
        }
        return parts[i].is_there;
    }
    return false;
}

/* Spark searches for (&|^)KEY=([^&]*). */
static bool find_parameter(tg_str query, tg_str key, tg_str *out)
{
    for (size_t at = 0; at <= query.len;) {
        size_t end = find_sign(query, at, "&");
        tg_str pair = tg_str_sub(query, at, end);
        if (pair.len > key.len && pair.ptr[key.len] == '=' &&
            tg_str_eq(tg_str_sub(pair, 0, key.len), key)) {
            *out = tg_str_sub(pair, key.len + 1, pair.len);
            return true;
        }
        at = end + 1;
    }
    return false;
}

static void parse_part(tg_udf_call *call, tg_str part, const tg_str *key, bool is_try)
{
    url parsed;
    if (!parse(tg_udf_str(call, 0), &parsed)) {
        tg_udf_fail_or_null(call, is_try, TG_E_INVALID_URL, "the URL '%.*s' is not valid",
                            TG_SARG(tg_udf_str(call, 0)));
        return;
    }
    if (!find_part(&parsed, part, &call->text) || (key && !tg_str_eq(part, TG_S("QUERY")))) {
        tg_udf_return_null(call);
        return;
    }
    tg_str found = tg_buf_str(&call->text);
    if (!key) {
        tg_udf_return_str(call, found);
        return;
    }
    /* Spark takes the key as a regular expression; here it is a text, so what would mean more is
     * refused. */
    if (find_sign(*key, 0, "\\^$.|?*+()[]{}&=") < key->len) {
        tg_udf_fail(call, TG_E_UNSUPPORTED_FEATURE,
                    "the key '%.*s' of `parse_url` has characters that mean something in a regular "
                    "expression, which is not available here",
                    TG_SARG(*key));
        return;
    }
    if (find_parameter(parsed.query, *key, &found)) {
        tg_udf_return_str(call, found);
    } else {
        tg_udf_return_null(call);
    }
}

static void parse_url2(tg_udf_call *call)
{
    parse_part(call, tg_udf_str(call, 1), NULL, tg_udf_bool(call, 2));
}

static void parse_url3(tg_udf_call *call)
{
    tg_str key = tg_udf_str(call, 2);
    parse_part(call, tg_udf_str(call, 1), &key, tg_udf_bool(call, 3));
}

const tg_udf tg_udf_table_url[] = {
    {"tg_parse_url", "ssb>s", parse_url2, false},
    {"tg_parse_url", "sssb>s", parse_url3, false},
    {NULL, NULL, NULL, false},
};
