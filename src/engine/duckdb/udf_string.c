/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings by code points, as Spark's UTF8String has them.
 *
 * Case mapping: ASCII here; other letters by the C library's C.UTF-8 tables, plus the few that
 * change their length in Java.
 */
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <wctype.h>

#include "engine/duckdb/udf_int.h"

/* ---- positions ------------------------------------------------------------------------------- */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Byte offset of the character (code point) at index, text.len when there are not so many. */
static size_t char_offset(tg_str text, size_t index)
{
    size_t at = 0;
    for (; at < text.len && index > 0; index--) {
        at++;
        while (at < text.len && is_continuation(text.ptr[at])) {
            at++;
        }
    }
    return at;
}

static tg_str chars(tg_str text, int64_t from, int64_t to)
{
    if (to <= from || to <= 0) {
        return TG_S("");
    }
    size_t start = char_offset(text, from > 0 ? (size_t)from : 0);
    tg_str rest = tg_str_sub(text, start, text.len);
    return tg_str_sub(rest, 0, char_offset(rest, (size_t)(to - (from > 0 ? from : 0))));
}

/*
 * Positions count from 1, 0 means 1, negative ones count from the end and may lie in front of the
 * text.
 */
static void substring_of(tg_udf_call *call, int64_t len)
{
    tg_str text = tg_udf_str(call, 0);
    int64_t position = tg_udf_int(call, 1);
    int64_t start = position > 0   ? position - 1
                    : position < 0 ? (int64_t)tg_utf8_count(text) + position
                                   : 0;
    tg_udf_return_str(call, chars(text, start, start + len));
}

static void substring2(tg_udf_call *call)
{
    substring_of(call, INT32_MAX);
}

static void substring3(tg_udf_call *call)
{
    substring_of(call, tg_udf_int(call, 2));
}

static void right(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int64_t len = tg_udf_int(call, 1), count = (int64_t)tg_utf8_count(text);
    tg_udf_return_str(call, len <= 0 ? TG_S("") : chars(text, count - len, count));
}

static void locate(tg_udf_call *call)
{
    tg_str part = tg_udf_str(call, 0), text = tg_udf_str(call, 1);
    int64_t start = tg_udf_int(call, 2);
    if (start < 1) {
        tg_udf_return_int(call, 0);
        return;
    }
    if (part.len == 0) {
        tg_udf_return_int(call, 1);
        return;
    }
    size_t found = tg_str_find(text, part, char_offset(text, (size_t)start - 1));
    tg_udf_return_int(
        call, found == SIZE_MAX ? 0 : (int64_t)tg_utf8_count(tg_str_sub(text, 0, found)) + 1);
}

static void substring_index(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0), delimiter = tg_udf_str(call, 1);
    int64_t count = tg_udf_int(call, 2);
    if (count == 0 || delimiter.len == 0) {
        tg_udf_return_str(call, TG_S(""));
        return;
    }
    if (count > 0) {
        size_t at = 0;
        for (; count > 0; count--) {
            size_t found = tg_str_find(text, delimiter, at);
            if (found == SIZE_MAX) {
                tg_udf_return_str(call, text);
                return;
            }
            at = found + (count > 1 ? 1 : 0);
        }
        tg_udf_return_str(call, tg_str_sub(text, 0, at));
        return;
    }
    size_t at = text.len < delimiter.len ? SIZE_MAX : text.len - delimiter.len;
    for (; at != SIZE_MAX; at--) {
        if (memcmp(text.ptr + at, delimiter.ptr, delimiter.len) == 0 && ++count == 0) {
            tg_udf_return_str(call, tg_str_sub(text, at + delimiter.len, text.len));
            return;
        }
    }
    tg_udf_return_str(call, text);
}

static void split_part(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0), delimiter = tg_udf_str(call, 1);
    int64_t number = tg_udf_int(call, 2), count = 1;
    if (number == 0) {
        tg_udf_fail(call, TG_E_INVALID_INDEX_OF_ZERO,
                    "the part of split_part must not be 0: parts count from 1");
        return;
    }
    if (delimiter.len == 0) {
        tg_udf_return_str(call, number == 1 || number == -1 ? text : TG_S(""));
        return;
    }
    for (size_t at = tg_str_find(text, delimiter, 0); at != SIZE_MAX;
         at = tg_str_find(text, delimiter, at + delimiter.len)) {
        count++;
    }
    int64_t wanted = number > 0 ? number : count + number + 1;
    if (wanted < 1 || wanted > count) {
        tg_udf_return_str(call, TG_S(""));
        return;
    }
    size_t start = 0;
    for (int64_t i = 1; i < wanted; i++) {
        start = tg_str_find(text, delimiter, start) + delimiter.len;
    }
    size_t end = tg_str_find(text, delimiter, start);
    tg_udf_return_str(call, tg_str_sub(text, start, end == SIZE_MAX ? text.len : end));
}

static void find_in_set(tg_udf_call *call)
{
    tg_str word = tg_udf_str(call, 0), list = tg_udf_str(call, 1);
    int64_t number = 1;
    bool has_comma = tg_str_find(word, TG_S(","), 0) != SIZE_MAX;
    for (size_t start = 0; !has_comma;) {
        size_t end = tg_str_find(list, TG_S(","), start);
        if (tg_str_eq(tg_str_sub(list, start, end == SIZE_MAX ? list.len : end), word)) {
            tg_udf_return_int(call, number);
            return;
        }
        if (end == SIZE_MAX) {
            break;
        }
        start = end + 1;
        number++;
    }
    tg_udf_return_int(call, 0);
}

/* ---- changing -------------------------------------------------------------------------------- */

static void add_padding(tg_udf_call *call, tg_str padding, int64_t count)
{
    size_t at = 0;
    for (; count > 0; count--) {
        size_t from = at;
        (void)tg_utf8_next(padding, &at);
        tg_buf_add(&call->text, padding.ptr + from, at - from);
        at = at < padding.len ? at : 0;
    }
}

static bool fails_as_too_long(tg_udf_call *call, uint64_t unit_bytes, int64_t count)
{
    uint64_t bytes;
    if (count > 0 && (__builtin_mul_overflow(unit_bytes, (uint64_t)count, &bytes) ||
                      bytes > TG_LIMIT_TEXT_BYTES)) {
        tg_udf_fail(call, TG_E_TIDEGATE_LIMIT_EXCEEDED, "a text would have more than %lld bytes",
                    (long long)TG_LIMIT_TEXT_BYTES);
        return true;
    }
    return false;
}

static void pad(tg_udf_call *call, tg_str padding, bool is_left)
{
    tg_str text = tg_udf_str(call, 0);
    int64_t wanted = tg_udf_int(call, 1), count = (int64_t)tg_utf8_count(text);
    if (wanted <= count || padding.len == 0) {
        tg_udf_return_str(call, chars(text, 0, wanted < count ? wanted : count));
        return;
    }
    int64_t rounds = (wanted - count) / (int64_t)tg_utf8_count(padding);
    if (fails_as_too_long(call, 1, wanted) || fails_as_too_long(call, padding.len, rounds)) {
        return;
    }
    if (is_left) {
        add_padding(call, padding, wanted - count);
    }
    tg_buf_adds(&call->text, text);
    if (!is_left) {
        add_padding(call, padding, wanted - count);
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void repeat(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int64_t count = text.len ? tg_udf_int(call, 1) : 0;
    if (fails_as_too_long(call, text.len, count)) {
        return;
    }
    for (; count > 0; count--) {
        tg_buf_adds(&call->text, text);
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void lpad2(tg_udf_call *call)
{
    pad(call, TG_S(" "), true);
}

static void lpad3(tg_udf_call *call)
{
    pad(call, tg_udf_str(call, 2), true);
}

static void rpad2(tg_udf_call *call)
{
    pad(call, TG_S(" "), false);
}

static void rpad3(tg_udf_call *call)
{
    pad(call, tg_udf_str(call, 2), false);
}

static void reverse(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    for (size_t end = text.len; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && is_continuation(text.ptr[start])) {
            start--;
        }
        tg_buf_add(&call->text, text.ptr + start, end - start);
        end = start;
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void translate(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0), from = tg_udf_str(call, 1), to = tg_udf_str(call, 2);
    for (size_t at = 0; at < text.len;) {
        size_t start = at;
        (void)tg_utf8_next(text, &at);
        tg_str c = tg_str_sub(text, start, at);
        size_t found = SIZE_MAX, index = 0;
        for (size_t i = 0; i < from.len && found == SIZE_MAX; index++) {
            size_t begin = i;
            (void)tg_utf8_next(from, &i);
            found = tg_str_eq(tg_str_sub(from, begin, i), c) ? index : SIZE_MAX;
        }
        tg_buf_adds(&call->text,
                    found == SIZE_MAX ? c : chars(to, (int64_t)found, (int64_t)found + 1));
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void overlay_of(tg_udf_call *call, int64_t len)
{
    tg_str text = tg_udf_str(call, 0), part = tg_udf_str(call, 1);
    int64_t position = tg_udf_int(call, 2);
    len = len >= 0 ? len : (int64_t)tg_utf8_count(part);
    tg_buf_adds(&call->text, chars(text, 0, position - 1));
    tg_buf_adds(&call->text, part);
    tg_buf_adds(&call->text, chars(text, position - 1 + len, INT32_MAX));
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void overlay3(tg_udf_call *call)
{
    overlay_of(call, -1);
}

static void overlay4(tg_udf_call *call)
{
    overlay_of(call, tg_udf_int(call, 3));
}

/* ---- case ------------------------------------------------------------------------------------ */

/*
 * The C library's tables of a UTF-8 locale, whatever locale the program runs in. Made once, never
 * changed.
 */
static locale_t utf8_locale;
static void make_locale(void)
{
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void need_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_locale);
}

static void put_code_point(tg_buf *out, uint32_t c)
{
    char bytes[4];
    tg_buf_add(out, bytes, tg_utf8_put(bytes, c));
}

static void put_upper(tg_buf *out, uint32_t c)
{
    if (c < 0x80) {
        tg_buf_addc(out, (char)(c >= 'a' && c <= 'z' ? c - 32 : c));
    } else if (c == 0xDF) {
        tg_buf_addz(out, "SS");
    } else {
        put_code_point(out, utf8_locale ? (uint32_t)towupper_l((wint_t)c, utf8_locale) : c);
    }
}

static void put_lower(tg_buf *out, uint32_t c)
{
    if (c < 0x80) {
        tg_buf_addc(out, (char)(c >= 'A' && c <= 'Z' ? c + 32 : c));
    } else if (c == 0x130) {
        tg_buf_addz(out, "i\xCC\x87");
    } else {
        put_code_point(out, utf8_locale ? (uint32_t)towlower_l((wint_t)c, utf8_locale) : c);
    }
}

static void change_case(tg_udf_call *call, bool is_upper)
{
    need_locale();
    tg_str text = tg_udf_str(call, 0);
    for (size_t at = 0; at < text.len;) {
        uint32_t c = tg_utf8_next(text, &at);
        if (is_upper) {
            put_upper(&call->text, c);
        } else {
            put_lower(&call->text, c);
        }
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void upper(tg_udf_call *call)
{
    change_case(call, true);
}

static void lower(tg_udf_call *call)
{
    change_case(call, false);
}

static void initcap(tg_udf_call *call)
{
    need_locale();
    tg_str text = tg_udf_str(call, 0);
    bool is_start = true;
    for (size_t at = 0; at < text.len;) {
        uint32_t c = tg_utf8_next(text, &at);
        if (is_start) {
            put_upper(&call->text, c);
        } else {
            put_lower(&call->text, c);
        }
        is_start = c == ' ';
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

/* ---- characters, distances, checks ----------------------------------------------------------- */

static void ascii(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    size_t at = 0;
    tg_udf_return_int(call, text.len ? tg_utf8_next(text, &at) : 0);
}

static void chr(tg_udf_call *call)
{
    int64_t code = tg_udf_long(call, 0);
    if (code >= 0) {
        put_code_point(&call->text, (uint32_t)(code & 0xFF));
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void levenshtein(tg_udf_call *call)
{
    tg_str a = tg_udf_str(call, 0), b = tg_udf_str(call, 1);
    size_t width = tg_utf8_count(b);
    int32_t *row = TG_NEW_ARRAY(call->arena, int32_t, width + 1);
    for (size_t j = 0; j <= width; j++) {
        row[j] = (int32_t)j;
    }
    int32_t line = 0;
    for (size_t i = 0; i < a.len; line++) {
        uint32_t c = tg_utf8_next(a, &i);
        int32_t diagonal = row[0];
        row[0] = line + 1;
        size_t j = 1;
        for (size_t k = 0; k < b.len; j++) {
            uint32_t d = tg_utf8_next(b, &k);
            int32_t change = diagonal + (c != d),
                    least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    tg_udf_return_int(call, row[width]);
}

/* Letters that do not start with one are given back as they are. */
static void soundex(tg_udf_call *call)
{
    static const char codes[] = "01230127022455012623017202";
    tg_str text = tg_udf_str(call, 0);
    char c = text.len ? (char)(text.ptr[0] & ~0x20) : '\0';
    if (c < 'A' || c > 'Z') {
        tg_udf_return_str(call, text);
        return;
    }
    char result[5] = {c, '0', '0', '0', '\0'};
    size_t count = 1;
    char last = codes[c - 'A'];
    for (size_t i = 1; i < text.len && count < 4; i++) {
        c = (char)(text.ptr[i] & ~0x20);
        if (c < 'A' || c > 'Z') {
            last = '0';
            continue;
        }
        char code = codes[c - 'A'];
        if (code == '7') {
            continue; /* H and W do not part equal codes */
        }
        if (code != '0' && code != last) {
            result[count++] = code;
        }
        last = code;
    }
    tg_udf_return_str(call, (tg_str){result, 4});
}

static void luhn_check(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int sum = 0;
    bool fits = text.len > 0;
    for (size_t i = 0; i < text.len && fits; i++) {
        char c = text.ptr[text.len - 1 - i];
        fits = c >= '0' && c <= '9';
        int digit = (c - '0') * (i % 2 ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
    }
    tg_udf_return_bool(call, fits && sum % 10 == 0);
}

/*
 * Two pointers with a fallback to the last %; the pattern may be malformed, which only a run finds.
 */
static void like(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0), pattern = tg_udf_str(call, 1);
    char escape = tg_udf_str(call, 2).ptr[0];
    size_t t = 0, p = 0, star = SIZE_MAX, star_t = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        bool is_escape = pattern.ptr[i] == escape;
        if (is_escape &&
            (i + 1 == pattern.len || (pattern.ptr[i + 1] != '%' && pattern.ptr[i + 1] != '_' &&
                                      pattern.ptr[i + 1] != escape))) {
            tg_udf_fail(call,
                        i + 1 == pattern.len ? TG_E_INVALID_FORMAT_ESC_AT_THE_END
                                             : TG_E_INVALID_FORMAT_ESC_IN_THE_MIDDLE,
                        "the LIKE pattern '%.*s' has an escape that is not valid",
                        TG_SARG(pattern));
            return;
        }
        i += is_escape;
    }
    while (t < text.len) {
        char c = p < pattern.len ? pattern.ptr[p] : '\0';
        bool is_escape = p < pattern.len && c == escape;
        if (p < pattern.len && !is_escape && c == '%') {
            star = p++;
            star_t = t;
        } else if (p < pattern.len && !is_escape && c == '_') {
            (void)tg_utf8_next(text, &t);
            p++;
        } else if (p < pattern.len && (is_escape ? pattern.ptr[p + 1] : c) == text.ptr[t]) {
            p += is_escape ? 2 : 1;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            (void)tg_utf8_next(text, &star_t);
            t = star_t;
        } else {
            tg_udf_return_bool(call, false);
            return;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '%' && escape != '%') {
        p++;
    }
    tg_udf_return_bool(call, p == pattern.len);
}

/* ---- numbers with commas --------------------------------------------------------------------- */

static void put_commas(tg_udf_call *call, tg_str number)
{
    size_t start = number.len && number.ptr[0] == '-', point = tg_str_find(number, TG_S("."), 0);
    size_t end = point == SIZE_MAX ? number.len : point;
    tg_buf_add(&call->text, number.ptr, start);
    for (size_t i = start; i < end; i++) {
        if (i > start && (end - i) % 3 == 0) {
            tg_buf_addc(&call->text, ',');
        }
        tg_buf_addc(&call->text, number.ptr[i]);
    }
    tg_buf_add(&call->text, number.ptr + end, number.len - end);
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

/* The double's exact value, ties to even: what printf does. */
static void format_double(tg_udf_call *call)
{
    double value = tg_udf_double(call, 0);
    int digits = tg_udf_int(call, 1);
    if (digits < 0) {
        tg_udf_return_null(call);
        return;
    }
    if (!isfinite(value)) {
        tg_udf_return_str(call, isnan(value) ? TG_S("NaN") : value < 0 ? TG_S("-∞") : TG_S("∞"));
        return;
    }
    char text[700]; /* 309 digits, the point, 340 digits */
    tg_double_print(text, sizeof(text), 'f', digits < 340 ? digits : 340, value);
    put_commas(call, tg_str_from(text));
}

/* A decimal text, ties to even. */
static void format_decimal(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int digits = tg_udf_int(call, 1);
    if (digits < 0) {
        tg_udf_return_null(call);
        return;
    }
    size_t point = tg_str_find(text, TG_S("."), 0);
    size_t decimals = point == SIZE_MAX ? 0 : text.len - point - 1;
    tg_int128 unscaled;
    if (digits > 340 || !tg_decimal_parse(text, (int)decimals, &unscaled)) {
        tg_udf_return_null(call);
        return;
    }
    int dropped = (int)decimals - digits;
    if (dropped > 0) {
        tg_int128 unit = tg_udf_pow10(dropped < 38 ? dropped : 38), rest = unscaled % unit,
                  size = rest < 0 ? -rest : rest;
        unscaled /= unit;
        tg_int128 above = unit - size; /* twice the size may not fit */
        bool up = size > above || (size == above && unscaled % 2 != 0);
        unscaled += up ? (rest < 0 ? -1 : 1) : 0;
    }
    int shown = dropped > 0 ? digits : (int)decimals;
    tg_buf number = TG_BUF_INIT;
    bool loses_sign = unscaled == 0 && text.ptr[0] == '-';
    tg_buf_addz(&number, loses_sign ? "-" : "");
    tg_buf_adds(&number, tg_decimal_text(call->arena, unscaled, shown));
    if (shown == 0 && digits > 0) {
        tg_buf_addc(&number, '.');
    }
    for (int i = shown; i < digits; i++) {
        tg_buf_addc(&number, '0');
    }
    put_commas(call, tg_buf_take(&number, call->arena));
    tg_buf_dispose(&number);
}

/* ---- encodings ------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

static void unhex(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    int high = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.ptr[i]);
        if (digit < 0) {
            tg_udf_return_null(call);
            return;
        }
        bool is_last = (text.len - i) % 2 == 1;
        if (is_last) {
            tg_buf_addc(&call->text, (char)(high * 16 + digit));
        }
        high = is_last ? 0 : digit;
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

/* Java's MIME decoder: characters outside the alphabet are skipped. */
static void unbase64(tg_udf_call *call)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    tg_str text = tg_udf_str(call, 0);
    uint32_t bits = 0;
    int count = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] != '='; i++) {
        const char *at = text.ptr[i] ? strchr(alphabet, text.ptr[i]) : NULL;
        if (!at) {
            continue;
        }
        bits = bits << 6 | (uint32_t)(at - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            tg_buf_addc(&call->text, (char)(bits >> count & 0xFF));
        }
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void url_encode(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_plain = (c >= '0' && c <= '9') ||
                        ((c | 0x20) >= 'a' && (c | 0x20) <= 'z' && (unsigned char)c < 0x80) ||
                        (c && strchr("*-_.", c));
        if (is_plain || c == ' ') {
            tg_buf_addc(&call->text, c == ' ' ? '+' : c);
        } else {
            tg_buf_addf(&call->text, "%%%02X", (unsigned)(unsigned char)c);
        }
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

static void url_decode(tg_udf_call *call)
{
    tg_str text = tg_udf_str(call, 0);
    bool fits = true;
    for (size_t i = 0; i < text.len && fits; i++) {
        if (text.ptr[i] != '%') {
            tg_buf_addc(&call->text, text.ptr[i] == '+' ? ' ' : text.ptr[i]);
            continue;
        }
        fits =
            i + 2 < text.len && hex_digit(text.ptr[i + 1]) >= 0 && hex_digit(text.ptr[i + 2]) >= 0;
        if (fits) {
            tg_buf_addc(&call->text,
                        (char)(hex_digit(text.ptr[i + 1]) * 16 + hex_digit(text.ptr[i + 2])));
            i += 2;
        }
    }
    fits = fits && tg_utf8_valid_len(tg_buf_str(&call->text)) == call->text.len;
    if (!fits) {
        tg_udf_fail_or_null(call, tg_udf_bool(call, 1), TG_E_CANNOT_DECODE_URL,
                            "the text '%.*s' is not a valid URL encoding", TG_SARG(text));
        return;
    }
    tg_udf_return_str(call, tg_buf_str(&call->text));
}

const tg_udf tg_udf_table_string[] = {
    {"tg_substring", "si>s", substring2, false},
    {"tg_substring", "sii>s", substring3, false},
    {"tg_right", "si>s", right, false},
    {"tg_locate", "ssi>i", locate, false},
    {"tg_substring_index", "ssi>s", substring_index, false},
    {"tg_split_part", "ssi>s", split_part, false},
    {"tg_find_in_set", "ss>i", find_in_set, false},
    {"tg_repeat", "si>s", repeat, false},
    {"tg_lpad", "si>s", lpad2, false},
    {"tg_lpad", "sis>s", lpad3, false},
    {"tg_rpad", "si>s", rpad2, false},
    {"tg_rpad", "sis>s", rpad3, false},
    {"tg_reverse", "s>s", reverse, false},
    {"tg_translate", "sss>s", translate, false},
    {"tg_overlay", "ssi>s", overlay3, false},
    {"tg_overlay", "ssii>s", overlay4, false},
    {"tg_upper", "s>s", upper, false},
    {"tg_lower", "s>s", lower, false},
    {"tg_initcap", "s>s", initcap, false},
    {"tg_ascii", "s>i", ascii, false},
    {"tg_chr", "l>s", chr, false},
    {"tg_levenshtein", "ss>i", levenshtein, false},
    {"tg_soundex", "s>s", soundex, false},
    {"tg_luhn_check", "s>b", luhn_check, false},
    {"tg_like", "sss>b", like, false},
    {"tg_format_double", "di>s", format_double, false},
    {"tg_format_decimal", "si>s", format_decimal, false},
    {"tg_unhex", "s>x", unhex, false},
    {"tg_unbase64", "s>x", unbase64, false},
    {"tg_url_encode", "s>s", url_encode, false},
    {"tg_url_decode", "sb>s", url_decode, false},
    {NULL, NULL, NULL, false},
};
