/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "base/error.h"
#include "base/str.h"

/* Length of the valid sequence at bytes, or 0. */
static size_t sequence_len(const unsigned char *bytes, size_t available)
{
    unsigned char first = bytes[0];
    if (first < 0x80) {
        return 1;
    }
    size_t len = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || available < len) {
        return 0;
    }
    /*
     * The second byte has a narrower range behind some first bytes: overlong forms, surrogates, the
     * upper end.
     */
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return len;
}

size_t tg_utf8_valid_len(tg_str s)
{
    const unsigned char *bytes = (const unsigned char *)s.ptr;
    size_t pos = 0;
    while (pos < s.len) {
        uint64_t word;
        if (s.len - pos >= sizeof(word)) {
            memcpy(&word, bytes + pos, sizeof(word));
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                pos += sizeof(word);
                continue;
            }
        }
        size_t len = sequence_len(bytes + pos, s.len - pos);
        if (len == 0) {
            break;
        }
        pos += len;
    }
    return pos;
}

uint32_t tg_utf8_next(tg_str s, size_t *pos)
{
    tg_assert(*pos < s.len);
    const unsigned char *bytes = (const unsigned char *)s.ptr + *pos;
    size_t len = sequence_len(bytes, s.len - *pos);
    if (len == 0) { /* a caller that did not check: one byte, shown as what it is */
        *pos += 1;
        return 0xFFFD;
    }
    *pos += len;
    uint32_t code_point = len == 1 ? bytes[0] : bytes[0] & (0x7FU >> len);
    for (size_t i = 1; i < len; i++) {
        code_point = code_point << 6 | (bytes[i] & 0x3FU);
    }
    return code_point;
}

size_t tg_utf8_put(char *to, uint32_t code_point)
{
    tg_assert(code_point <= 0x10FFFF);
    unsigned char *bytes = (unsigned char *)to;
    if (code_point < 0x80) {
        bytes[0] = (unsigned char)code_point;
        return 1;
    }
    size_t len = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        bytes[i] = (unsigned char)(0x80 | (code_point & 0x3F));
        code_point >>= 6;
    }
    bytes[0] = (unsigned char)((0xF00U >> len) | code_point);
    return len;
}

size_t tg_utf8_count(tg_str s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++) {
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    }
    return count;
}

typedef struct code_point_range {
    uint32_t first, last;
} code_point_range;

/* Unicode's East Asian Width W and F, rounded to blocks where the gaps are unassigned. */
static const code_point_range wide_ranges[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},
    {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26FA, 0x26FA},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},
    {0x2B50, 0x2B50},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18CFF}, {0x1B000, 0x1B2FF}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

/* Combining marks and joiners that people meet; the rest counts as one column. */
static const code_point_range zero_ranges[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
};

static bool is_in(const code_point_range *ranges, size_t count, uint32_t code_point)
{
    for (size_t i = 0; i < count && ranges[i].first <= code_point; i++) {
        if (code_point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

int tg_utf8_width(uint32_t code_point)
{
    if (code_point < 0x300) {
        return 1;
    }
    if (is_in(zero_ranges, sizeof(zero_ranges) / sizeof(zero_ranges[0]), code_point)) {
        return 0;
    }
    return is_in(wide_ranges, sizeof(wide_ranges) / sizeof(wide_ranges[0]), code_point) ? 2 : 1;
}
