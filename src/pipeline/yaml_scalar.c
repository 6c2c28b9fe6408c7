/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of plain scalars in YAML 1.1, as PyYAML's resolver decides them (yaml/resolver.py: its
 * regular expressions by hand).
 */
#include "pipeline/yaml_int.h"

static bool is_one_of(tg_str s, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(s, tg_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_bool(tg_str s)
{
    static const char *const words[] = {"yes",  "Yes",  "YES",  "no",    "No",    "NO",
                                        "true", "True", "TRUE", "false", "False", "FALSE",
                                        "on",   "On",   "ON",   "off",   "Off",   "OFF"};
    return is_one_of(s, words, sizeof(words) / sizeof(*words));
}

static bool is_null(tg_str s)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return is_one_of(s, words, sizeof(words) / sizeof(*words));
}

/* Moves over characters of a set; how many there were. */
static size_t skip(tg_str s, size_t *pos, const char *set)
{
    size_t start = *pos;
    while (*pos < s.len && s.ptr[*pos] && strchr(set, s.ptr[*pos])) {
        (*pos)++;
    }
    return *pos - start;
}

#define DIGITS "0123456789"
#define DIGITS_ "0123456789_"

/* (:[0-5]?[0-9])+ */
static bool skip_base_60(tg_str s, size_t *pos)
{
    bool any = false;
    while (*pos < s.len && s.ptr[*pos] == ':') {
        size_t at = *pos + 1;
        size_t start = at;
        size_t digits = skip(s, &at, DIGITS);
        if (digits == 0 || digits > 2 || (digits == 2 && s.ptr[start] > '5')) {
            return false;
        }
        *pos = at;
        any = true;
    }
    return any;
}

static bool is_int(tg_str s)
{
    size_t pos = 0;
    if (pos < s.len && (s.ptr[pos] == '-' || s.ptr[pos] == '+')) {
        pos++;
    }
    if (pos >= s.len || s.ptr[pos] < '0' || s.ptr[pos] > '9') {
        return false;
    }
    if (s.ptr[pos] == '0') {
        pos++;
        if (pos == s.len) {
            return true;
        }
        const char *set = "01234567_";
        if (s.ptr[pos] == 'b' || s.ptr[pos] == 'x') {
            set = s.ptr[pos] == 'b' ? "01_" : "0123456789abcdefABCDEF_";
            pos++;
        }
        return skip(s, &pos, set) > 0 && pos == s.len;
    }
    (void)skip(s, &pos, DIGITS_);
    return pos == s.len || (skip_base_60(s, &pos) && pos == s.len);
}

/* ([eE][-+][0-9]+)? to the end: YAML 1.1 wants the sign. */
static bool is_exponent_or_end(tg_str s, size_t pos)
{
    if (pos == s.len) {
        return true;
    }
    if (s.ptr[pos] != 'e' && s.ptr[pos] != 'E') {
        return false;
    }
    pos++;
    if (pos >= s.len || (s.ptr[pos] != '-' && s.ptr[pos] != '+')) {
        return false;
    }
    pos++;
    return skip(s, &pos, DIGITS) > 0 && pos == s.len;
}

static bool is_float(tg_str s)
{
    static const char *const words[] = {".inf",  ".Inf",  ".INF",  "-.inf", "-.Inf", "-.INF",
                                        "+.inf", "+.Inf", "+.INF", ".nan",  ".NaN",  ".NAN"};
    if (is_one_of(s, words, sizeof(words) / sizeof(*words))) {
        return true;
    }
    size_t pos = 0;
    bool has_sign = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
    pos += has_sign;
    if (pos < s.len && s.ptr[pos] == '.') {
        pos++;
        return !has_sign && pos < s.len && s.ptr[pos] != '_' && skip(s, &pos, DIGITS_) > 0 &&
               is_exponent_or_end(s, pos);
    }
    if (pos >= s.len || s.ptr[pos] == '_' || skip(s, &pos, DIGITS_) == 0) {
        return false;
    }
    bool is_base_60 = pos < s.len && s.ptr[pos] == ':';
    if (is_base_60 && !skip_base_60(s, &pos)) {
        return false;
    }
    if (pos >= s.len || s.ptr[pos] != '.') {
        return false;
    }
    pos++;
    (void)skip(s, &pos, DIGITS_);
    return is_base_60 ? pos == s.len : is_exponent_or_end(s, pos);
}

static bool skip_count(tg_str s, size_t *pos, size_t low, size_t high)
{
    size_t digits = skip(s, pos, DIGITS);
    return digits >= low && digits <= high;
}

static bool skip_char(tg_str s, size_t *pos, const char *set)
{
    if (*pos >= s.len || !strchr(set, s.ptr[*pos])) {
        return false;
    }
    (*pos)++;
    return true;
}

static bool is_timestamp(tg_str s)
{
    size_t pos = 0;
    if (!skip_count(s, &pos, 4, 4) || !skip_char(s, &pos, "-")) {
        return false;
    }
    size_t month = pos;
    if (!skip_count(s, &pos, 1, 2) || !skip_char(s, &pos, "-") || !skip_count(s, &pos, 1, 2)) {
        return false;
    }
    if (pos == s.len) {
        return pos - month == 5; /* a bare date has two digits each */
    }
    if (!skip_char(s, &pos, "Tt") && skip(s, &pos, " \t") == 0) {
        return false;
    }
    if (!skip_count(s, &pos, 1, 2) || !skip_char(s, &pos, ":") || !skip_count(s, &pos, 2, 2) ||
        !skip_char(s, &pos, ":") || !skip_count(s, &pos, 2, 2)) {
        return false;
    }
    if (skip_char(s, &pos, ".")) {
        (void)skip(s, &pos, DIGITS);
    }
    (void)skip(s, &pos, " \t");
    if (pos == s.len || (skip_char(s, &pos, "Z") && pos == s.len)) {
        return true;
    }
    if (!skip_char(s, &pos, "+-") || !skip_count(s, &pos, 1, 2)) {
        return false;
    }
    return pos == s.len || (skip_char(s, &pos, ":") && skip_count(s, &pos, 2, 2) && pos == s.len);
}

tg_yaml_type tg_yaml_plain_type(tg_str text)
{
    if (is_null(text)) {
        return TG_YAML_NULL;
    }
    if (is_bool(text)) {
        return TG_YAML_BOOL;
    }
    if (is_int(text)) {
        return TG_YAML_INT;
    }
    if (is_float(text)) {
        return TG_YAML_FLOAT;
    }
    return is_timestamp(text) ? TG_YAML_TIMESTAMP : TG_YAML_STRING;
}

bool tg_yaml_is_string(const tg_yaml_node *node)
{
    return node && node->kind == TG_YAML_SCALAR && node->type == TG_YAML_STRING;
}

bool tg_yaml_bool(const tg_yaml_node *node, bool *out)
{
    if (!node || node->kind != TG_YAML_SCALAR || node->type != TG_YAML_BOOL) {
        return false;
    }
    char first = (char)(node->text.ptr[0] | 0x20);
    char second = (char)(node->text.ptr[1] | 0x20);
    *out = first == 'y' || first == 't' || (first == 'o' && second == 'n');
    return true;
}

bool tg_yaml_int(const tg_yaml_node *node, int64_t *out)
{
    bool is_number = node && node->kind == TG_YAML_SCALAR && node->type == TG_YAML_INT;
    bool has_base = is_number && node->text.len > 1 &&
                    node->text.ptr[0] == '0'; /* octal, binary, hexadecimal: not meant here */
    return is_number && !has_base && tg_str_to_i64(node->text, out);
}

const char *tg_yaml_describe(const tg_yaml_node *node)
{
    if (!node) {
        return "nothing";
    }
    switch (node->kind) {
    case TG_YAML_MAP:
        return "a map";
    case TG_YAML_LIST:
        return "a list";
    case TG_YAML_SCALAR:
        break;
    }
    switch (node->type) {
    case TG_YAML_STRING:
        return "a string";
    case TG_YAML_NULL:
        return "null";
    case TG_YAML_BOOL:
        return "a boolean";
    case TG_YAML_INT:
    case TG_YAML_FLOAT:
        return "a number";
    case TG_YAML_TIMESTAMP:
        return "a date";
    }
    return "a scalar";
}
