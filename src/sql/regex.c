/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java regular expressions as RE2 text: a recursive descent over the pattern that copies,
 * translates or refuses.
 *
 * Source: the documentation of java.util.regex.Pattern (Java 17) and RE2's syntax page.
 */
#include <ctype.h>

#include "sql/regex.h"

enum { DEPTH_MAX = 100, REPEAT_MAX = 1000 /* RE2's limit */ };

typedef struct translator {
    tg_str java;
    size_t at;
    tg_buf out, plain;
    size_t group_count;
    bool is_plain, test_only, dot_all, ignore_case, multi_line;
    int depth;
    const char *refusal;
} translator;

static int peek(const translator *t, size_t ahead)
{
    return t->at + ahead < t->java.len ? (unsigned char)t->java.ptr[t->at + ahead] : -1;
}

static bool refuse(translator *t, const char *why)
{
    if (!t->refusal) {
        t->refusal = why;
    }
    return false;
}

static void special(translator *t)
{
    t->is_plain = false;
}

/* A literal character of the text to match. */
static void put_literal(translator *t, char c)
{
    if (strchr("\\^$.|?*+()[]{}", c) && c != '\0') {
        tg_buf_addc(&t->out, '\\');
    }
    tg_buf_addc(&t->out, c);
    tg_buf_addc(&t->plain, c);
}

/* ---- escapes --------------------------------------------------------------------------------- */

static bool hex_escape(translator *t, size_t digits)
{
    for (size_t i = 0; i < digits; i++) {
        int c = peek(t, i);
        if (c < 0 || !isxdigit(c)) {
            return refuse(t, "an escape lacks hexadecimal digits");
        }
    }
    tg_buf_addf(&t->out, "\\x{%.*s}", (int)digits, t->java.ptr + t->at);
    t->at += digits;
    return true;
}

/* \p{...}: general categories and the ASCII classes. */
static bool property(translator *t, bool negated, bool in_class)
{
    static const struct {
        const char *java, *posix;
    } classes[] = {{"Alpha", "alpha"}, {"Digit", "digit"},  {"Alnum", "alnum"},
                   {"Upper", "upper"}, {"Lower", "lower"},  {"Punct", "punct"},
                   {"Space", "space"}, {"XDigit", "xdigit"}};
    size_t start = t->at + 1, end = start;
    if (peek(t, 0) != '{') {
        return refuse(t, "\\p needs a name in braces");
    }
    while (end < t->java.len && t->java.ptr[end] != '}') {
        end++;
    }
    tg_str name = tg_str_sub(t->java, start, end);
    t->at = end + 1;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (tg_str_eq(name, tg_str_from(classes[i].java))) {
            tg_buf_addf(&t->out, in_class ? "[:%s%s:]" : "[[:%s%s:]]", negated ? "^" : "",
                        classes[i].posix);
            return true;
        }
    }
    bool is_category = (name.len == 1 || name.len == 2) && strchr("LMNPSZC", name.ptr[0]) &&
                       (name.len == 1 || islower((unsigned char)name.ptr[1]));
    if (!is_category) {
        return refuse(t, "it uses a character property");
    }
    tg_buf_addf(&t->out, "\\%c{%.*s}", negated ? 'P' : 'p', TG_SARG(name));
    return true;
}

/* \Q...\E */
static bool quoted(translator *t)
{
    size_t end = tg_str_find(t->java, TG_S("\\E"), t->at);
    size_t stop = end == SIZE_MAX ? t->java.len : end;
    while (t->at < stop) {
        put_literal(t, t->java.ptr[t->at++]);
    }
    t->at = end == SIZE_MAX ? stop : end + 2;
    return true;
}

static bool white_space(translator *t, bool negated, bool in_class)
{
    if (in_class && negated) {
        return refuse(t, "it uses \\S in a character class");
    }
    tg_buf_addz(&t->out, in_class  ? " \\t\\n\\v\\f\\r"
                         : negated ? "[^ \\t\\n\\v\\f\\r]"
                                   : "[ \\t\\n\\v\\f\\r]");
    return true;
}

/* After the backslash. Sets *is_width false for \b and the like. */
static bool escape(translator *t, bool in_class, bool *has_width)
{
    int c = peek(t, 0);
    if (c < 0) {
        return refuse(t, "it ends with a backslash");
    }
    t->at++;
    *has_width = true;
    if (!isalnum(c)) {
        if (c >= 0x80) {
            tg_buf_addc(&t->out, (char)c); /* first byte of a longer character, the rest follows */
            tg_buf_addc(&t->plain, (char)c);
        } else {
            put_literal(t, (char)c);
        }
        return true;
    }
    special(t);
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 't':
    case 'n':
    case 'r':
    case 'f':
    case 'a':
        tg_buf_addf(&t->out, "\\%c", c);
        return true;
    case 's':
    case 'S':
        return white_space(t, c == 'S', in_class);
    case 'p':
    case 'P':
        return property(t, c == 'P', in_class);
    case 'x':
        return peek(t, 0) == '{' ? refuse(t, "it uses \\x{...}") : hex_escape(t, 2);
    case 'u':
        return hex_escape(t, 4);
    case 'b':
    case 'B':
    case 'A':
    case 'z':
        *has_width = false;
        tg_buf_addf(&t->out, "\\%c", c);
        return in_class ? refuse(t, "it uses a boundary in a character class") : true;
    default:
        return refuse(t, isdigit(c) ? "it uses a back reference"
                                    : "it uses an escape that the engine does not know");
    }
}

/* ---- character classes ----------------------------------------------------------------------- */

static bool char_class(translator *t)
{
    special(t);
    tg_buf_addc(&t->out, '[');
    t->at++;
    if (peek(t, 0) == '^') {
        tg_buf_addc(&t->out, '^');
        t->at++;
    }
    if (peek(t, 0) == ']') {
        return refuse(t, "it has an empty character class");
    }
    for (;;) {
        int c = peek(t, 0);
        if (c < 0) {
            return refuse(t, "a character class is not closed");
        }
        if (c == ']') {
            break;
        }
        if (c == '[') {
            return refuse(t, "it nests character classes");
        }
        if (c == '&' && peek(t, 1) == '&') {
            return refuse(t, "it intersects character classes");
        }
        t->at++;
        bool has_width;
        if (c != '\\') {
            tg_buf_addc(&t->out, (char)c);
        } else if (!escape(t, true, &has_width)) {
            return false;
        }
    }
    t->at++;
    tg_buf_addc(&t->out, ']');
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool alternation(translator *t, bool *matches_empty);

/* (?i) and (?i:...): the letters after "(?". */
static bool group_flags(translator *t)
{
    while (isalpha(peek(t, 0)) || peek(t, 0) == '-') {
        int flag = peek(t, 0);
        if (!strchr("ims-", flag)) {
            return refuse(t, "it uses a flag that the engine does not know");
        }
        t->dot_all = t->dot_all || flag == 's';
        t->ignore_case = t->ignore_case || flag == 'i';
        t->multi_line = t->multi_line || flag == 'm';
        tg_buf_addc(&t->out, (char)flag);
        t->at++;
    }
    return true;
}

static bool group_head(translator *t, bool *is_only_flags)
{
    *is_only_flags = false;
    tg_buf_addc(&t->out, '(');
    t->at++;
    if (peek(t, 0) != '?') {
        t->group_count++;
        return true;
    }
    t->at++;
    if (peek(t, 0) == '<' && peek(t, 1) != '=' && peek(t, 1) != '!') { /* <name> */
        t->group_count++;
        tg_buf_addz(&t->out, "?P");
        while (peek(t, 0) >= 0 && peek(t, 0) != '>') {
            tg_buf_addc(&t->out, (char)peek(t, 0));
            t->at++;
        }
        tg_buf_addc(&t->out, '>');
        t->at++;
        return true;
    }
    if (peek(t, 0) == '=' || peek(t, 0) == '!' || peek(t, 0) == '<') {
        return refuse(t, "it looks ahead or behind");
    }
    if (peek(t, 0) == '>') {
        return refuse(t, "it uses an atomic group");
    }
    tg_buf_addc(&t->out, '?');
    if (!group_flags(t)) {
        return false;
    }
    *is_only_flags = peek(t, 0) == ')';
    if (peek(t, 0) == ':') {
        tg_buf_addc(&t->out, ':');
        t->at++;
    } else if (!*is_only_flags) {
        return refuse(t, "it uses a kind of group that the engine does not know");
    }
    return true;
}

static bool group(translator *t, bool *matches_empty)
{
    bool is_only_flags;
    special(t);
    if (++t->depth > DEPTH_MAX) {
        return refuse(t, "it is nested too deeply");
    }
    if (!group_head(t, &is_only_flags)) {
        return false;
    }
    *matches_empty = true;
    if (!is_only_flags && !alternation(t, matches_empty)) {
        return false;
    }
    if (peek(t, 0) != ')') {
        return refuse(t, "a group is not closed");
    }
    t->at++;
    tg_buf_addc(&t->out, ')');
    t->depth--;
    return true;
}

/* ---- atoms and quantifiers ------------------------------------------------------------------- */

static bool end_of_text(translator *t)
{
    special(t);
    t->at++;
    if (t->multi_line) {
        return refuse(t, "it uses $ with the flag m");
    }
    tg_buf_addz(&t->out, t->test_only ? "(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z" : "$");
    return true;
}

static bool atom(translator *t, bool *matches_empty)
{
    int c = peek(t, 0);
    bool has_width = true;
    *matches_empty = false;
    switch (c) {
    case '(':
        return group(t, matches_empty);
    case '[':
        return char_class(t);
    case '\\':
        t->at++;
        if (peek(t, 0) == 'Q') {
            t->at++;
            return quoted(t);
        }
        if (!escape(t, false, &has_width)) {
            return false;
        }
        *matches_empty = !has_width;
        return true;
    case '.':
        special(t);
        t->at++;
        tg_buf_addz(&t->out, t->dot_all ? "." : "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]");
        return true;
    case '^':
        special(t);
        t->at++;
        tg_buf_addc(&t->out, '^');
        *matches_empty = true;
        return true;
    case '$':
        *matches_empty = true;
        return end_of_text(t);
    case '*':
    case '+':
    case '?':
        return refuse(t, "a quantifier has nothing to repeat");
    default:
        break;
    }
    /* A whole character, so that a quantifier behind it repeats all its bytes. */
    do {
        put_literal(t, (char)peek(t, 0));
        t->at++;
    } while (peek(t, 0) >= 0x80 && peek(t, 0) < 0xC0);
    return true;
}

/* {n}, {n,}, {n,m} */
static bool counted(translator *t, bool *min_is_zero)
{
    size_t start = t->at;
    long low = 0, high = 0;
    t->at++;
    while (isdigit(peek(t, 0)) && low <= REPEAT_MAX) {
        low = low * 10 + (peek(t, 0) - '0');
        t->at++;
    }
    if (peek(t, 0) == ',') {
        t->at++;
        while (isdigit(peek(t, 0)) && high <= REPEAT_MAX) {
            high = high * 10 + (peek(t, 0) - '0');
            t->at++;
        }
    }
    if (peek(t, 0) != '}' || t->at - start < 2) {
        return refuse(t, "a counted repetition is malformed");
    }
    if (low > REPEAT_MAX || high > REPEAT_MAX) {
        return refuse(t, "it repeats more than 1000 times");
    }
    t->at++;
    *min_is_zero = low == 0;
    tg_buf_adds(&t->out, tg_str_sub(t->java, start, t->at));
    return true;
}

static bool quantified(translator *t, bool *matches_empty)
{
    if (!atom(t, matches_empty)) {
        return false;
    }
    int c = peek(t, 0);
    if (c != '*' && c != '+' && c != '?' && c != '{') {
        return true;
    }
    special(t);
    bool min_is_zero = c != '+';
    if (c == '{') {
        if (!counted(t, &min_is_zero)) {
            return false;
        }
    } else {
        tg_buf_addc(&t->out, (char)c);
        t->at++;
    }
    *matches_empty = *matches_empty || min_is_zero;
    if (peek(t, 0) == '+') {
        return refuse(t, "it uses a possessive quantifier");
    }
    if (peek(t, 0) == '?') {
        tg_buf_addc(&t->out, '?');
        t->at++;
    }
    if (peek(t, 0) == '*' || peek(t, 0) == '+' || peek(t, 0) == '{') {
        return refuse(t, "it repeats a repetition");
    }
    return true;
}

static bool sequence(translator *t, bool *matches_empty)
{
    *matches_empty = true;
    while (peek(t, 0) >= 0 && peek(t, 0) != '|' && peek(t, 0) != ')') {
        bool part;
        if (!quantified(t, &part)) {
            return false;
        }
        *matches_empty = *matches_empty && part;
    }
    return true;
}

static bool alternation(translator *t, bool *matches_empty)
{
    if (!sequence(t, matches_empty)) {
        return false;
    }
    while (peek(t, 0) == '|') {
        special(t);
        bool part;
        tg_buf_addc(&t->out, '|');
        t->at++;
        if (!sequence(t, &part)) {
            return false;
        }
        *matches_empty = *matches_empty || part;
    }
    return true;
}

tg_regex tg_regex_translate(tg_str java, bool test_only, tg_arena *arena)
{
    translator t = {.java = java, .is_plain = true, .test_only = test_only};
    bool matches_empty = false;
    if (alternation(&t, &matches_empty) && t.at < java.len) {
        (void)refuse(&t, "a parenthesis is not opened");
    }
    if (t.ignore_case) {
        for (size_t i = 0; i < java.len; i++) {
            if ((unsigned char)java.ptr[i] >= 0x80) {
                (void)refuse(&t, "it ignores case beyond ASCII");
            }
        }
    }
    tg_regex result = {.text = tg_buf_take(&t.out, arena),
                       .group_count = t.group_count,
                       .matches_empty = matches_empty,
                       .is_plain = t.is_plain,
                       .plain = tg_buf_take(&t.plain, arena),
                       .refusal = t.refusal};
    tg_buf_dispose(&t.out);
    tg_buf_dispose(&t.plain);
    return result;
}

bool tg_regex_translate_replacement(tg_str java, size_t group_count, tg_arena *arena, tg_str *out,
                                    const char **out_refusal)
{
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    for (size_t i = 0; i < java.len; i++) {
        char c = java.ptr[i];
        if (c == '\\' && i + 1 < java.len) {
            i++;
            tg_buf_addz(&buf, java.ptr[i] == '\\' ? "\\" : "");
            tg_buf_addc(&buf, java.ptr[i]);
            continue;
        }
        if (c != '$') {
            tg_buf_addc(&buf, c);
            continue;
        }
        if (i + 1 >= java.len || !isdigit((unsigned char)java.ptr[i + 1])) {
            *out_refusal = "the replacement names a group otherwise than by $1";
            return false;
        }
        size_t number = (size_t)(java.ptr[++i] - '0');
        bool has_more = i + 1 < java.len && isdigit((unsigned char)java.ptr[i + 1]);
        if (number > group_count ||
            (has_more && number * 10 + (size_t)(java.ptr[i + 1] - '0') <= group_count)) {
            *out_refusal = "the replacement names a group that the engine cannot name";
            return false;
        }
        tg_buf_addf(&buf, "\\%zu", number);
    }
    *out = tg_buf_take(&buf, arena);
    return true;
}
