/* SPDX-License-Identifier: Apache-2.0 */
/* String views: comparing, searching, copying, numbers, and "did you mean". */
#include "base/str.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base_int.h"
#include "base/error.h"

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static unsigned char upper(char c)
{
    return (unsigned char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool same_bytes(const char *a, const char *b, size_t len)
{
    return len == 0 || memcmp(a, b, len) == 0;
}

static bool same_letters(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

bool tg_str_eq(tg_str a, tg_str b)
{
    return a.len == b.len && same_bytes(a.ptr, b.ptr, a.len);
}

bool tg_str_ieq(tg_str a, tg_str b)
{
    return a.len == b.len && same_letters(a.ptr, b.ptr, a.len);
}

int tg_str_cmp(tg_str a, tg_str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool tg_str_starts(tg_str s, tg_str prefix)
{
    return s.len >= prefix.len && same_bytes(s.ptr, prefix.ptr, prefix.len);
}

bool tg_str_istarts(tg_str s, tg_str prefix)
{
    return s.len >= prefix.len && same_letters(s.ptr, prefix.ptr, prefix.len);
}

bool tg_str_ends(tg_str s, tg_str suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || same_bytes(s.ptr + (s.len - suffix.len), suffix.ptr, suffix.len));
}

bool tg_str_is_in(tg_str s, const tg_str *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(s, list[i])) {
            return true;
        }
    }
    return false;
}

size_t tg_str_find(tg_str s, tg_str needle, size_t from)
{
    if (from > s.len) {
        return SIZE_MAX;
    }
    if (needle.len == 0) {
        return from;
    }
    if (from == s.len) {
        return SIZE_MAX; /* an empty string may have no place in memory */
    }
    const char *hit = memmem(s.ptr + from, s.len - from, needle.ptr, needle.len);
    return hit ? (size_t)(hit - s.ptr) : SIZE_MAX;
}

tg_str tg_str_sub(tg_str s, size_t from, size_t to)
{
    tg_assert(from <= to && to <= s.len);
    return (tg_str){from ? s.ptr + from : s.ptr, to - from};
}

tg_str tg_str_trim(tg_str s)
{
    size_t from = 0;
    size_t to = s.len;
    while (from < to && is_blank(s.ptr[from])) {
        from++;
    }
    while (to > from && is_blank(s.ptr[to - 1])) {
        to--;
    }
    return tg_str_sub(s, from, to);
}

tg_str tg_str_copy(tg_arena *arena, tg_str s)
{
    return (tg_str){tg_arena_strndup(arena, s.ptr, s.len), s.len};
}

char *tg_str_cstr(tg_arena *arena, tg_str s)
{
    return tg_arena_strndup(arena, s.ptr, s.len);
}

tg_str tg_str_lower(tg_arena *arena, tg_str s)
{
    char *copy = tg_arena_strndup(arena, s.ptr, s.len);
    for (size_t i = 0; i < s.len; i++) {
        copy[i] = (char)lower(copy[i]);
    }
    return (tg_str){copy, s.len};
}

tg_str tg_str_upper(tg_arena *arena, tg_str s)
{
    char *copy = tg_arena_strndup(arena, s.ptr, s.len);
    for (size_t i = 0; i < s.len; i++) {
        copy[i] = (char)upper(copy[i]);
    }
    return (tg_str){copy, s.len};
}

tg_str tg_str_printf(tg_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = tg_arena_vprintf(arena, format, args);
    va_end(args);
    return tg_str_from(text);
}

bool tg_str_to_i64(tg_str s, int64_t *out)
{
    size_t pos = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    bool is_negative = pos > 0 && s.ptr[0] == '-';
    if (pos == s.len) {
        return false;
    }
    int64_t value = 0; /* kept negative: that side of the range is the larger one */
    for (; pos < s.len; pos++) {
        int digit = s.ptr[pos] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {
            return false;
        }
    }
    if (!is_negative && __builtin_sub_overflow(0, value, &value)) {
        return false;
    }
    *out = value;
    return true;
}

static size_t skip_digits(tg_str s, size_t pos)
{
    while (pos < s.len && s.ptr[pos] >= '0' && s.ptr[pos] <= '9') {
        pos++;
    }
    return pos;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or behind the point. */
static bool is_decimal_text(tg_str s)
{
    size_t pos = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    size_t digits_from = pos;
    pos = skip_digits(s, pos);
    size_t digits = pos - digits_from;
    if (pos < s.len && s.ptr[pos] == '.') {
        size_t behind = skip_digits(s, pos + 1);
        digits += behind - (pos + 1);
        pos = behind;
    }
    if (digits == 0) {
        return false;
    }
    if (pos < s.len && (s.ptr[pos] == 'e' || s.ptr[pos] == 'E')) {
        pos++;
        pos += pos < s.len && (s.ptr[pos] == '-' || s.ptr[pos] == '+');
        size_t behind = skip_digits(s, pos);
        if (behind == pos) {
            return false;
        }
        pos = behind;
    }
    return pos == s.len;
}

static locale_t made_locale;

static void make_c_locale(void)
{
    made_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/*
 * Numbers as text follow the locale of the program that uses the library: the decimal point may be
 * a comma there.
 */
static locale_t c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_c_locale);
    return made_locale;
}

double tg_strtod(const char *text)
{
    return strtod_l(text, NULL, c_locale());
}

float tg_strtof(const char *text)
{
    return strtof_l(text, NULL, c_locale());
}

void tg_double_print(char *out, size_t size, char style, int precision, double value)
{
    locale_t before = uselocale(c_locale()); /* of this thread only */
    switch (style) {
    case 'e':
        (void)snprintf(out, size, "%.*e", precision, value);
        break;
    case 'f':
        (void)snprintf(out, size, "%.*f", precision, value);
        break;
    default:
        (void)snprintf(out, size, "%.*g", precision, value);
    }
    (void)uselocale(before);
}

bool tg_str_to_double(tg_str s, double *out)
{
    if (!is_decimal_text(s)) {
        return false;
    }
    char small[64];
    bool is_small = s.len < sizeof(small);
    char *text = is_small ? small : tg_heap_alloc(s.len + 1);
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    double value = tg_strtod(text);
    if (!is_small) {
        free(text);
    }
    if (isinf(value)) {
        return false;
    }
    *out = value;
    return true;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Longer words are never near each other for our purpose, and the table stays on the stack. */
enum { DISTANCE_LEN_MAX = 128 };

size_t tg_str_distance(tg_str a, tg_str b)
{
    if (a.len > DISTANCE_LEN_MAX || b.len > DISTANCE_LEN_MAX) {
        return tg_str_ieq(a, b) ? 0 : (a.len > b.len ? a.len : b.len);
    }
    size_t rows[3][DISTANCE_LEN_MAX + 1]; /* of the matrix: two before, one before, current */
    size_t *older = rows[0];
    size_t *previous = rows[1];
    size_t *current = rows[2];
    for (size_t j = 0; j <= b.len; j++) {
        previous[j] = j;
        older[j] = 0;
    }
    for (size_t i = 1; i <= a.len; i++) {
        current[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned char x = lower(a.ptr[i - 1]);
            unsigned char y = lower(b.ptr[j - 1]);
            current[j] = min3(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y));
            bool swapped = i > 1 && j > 1 && x == lower(b.ptr[j - 2]) && y == lower(a.ptr[i - 2]);
            if (swapped && older[j - 2] + 1 < current[j]) {
                current[j] = older[j - 2] + 1;
            }
        }
        size_t *reused = older;
        older = previous;
        previous = current;
        current = reused;
    }
    return previous[b.len];
}

tg_str tg_str_nearest(tg_str word, const tg_str *candidates, size_t count)
{
    size_t distance_max = word.len / 3 ? word.len / 3 : 1;
    tg_str nearest = TG_S("");
    for (size_t i = 0; i < count; i++) {
        size_t shorter = word.len < candidates[i].len ? word.len : candidates[i].len;
        size_t longer = word.len + candidates[i].len - shorter;
        if (longer - shorter > distance_max) {
            continue;
        }
        size_t distance = tg_str_distance(word, candidates[i]);
        /*
         * A word of one or two letters that shares none with the candidate is no misspelling of it.
         */
        if (distance > distance_max || distance >= longer) {
            continue;
        }
        nearest = candidates[i];
        if (distance == 0) {
            break;
        }
        distance_max = distance - 1;
    }
    return nearest;
}
