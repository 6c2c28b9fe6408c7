/* SPDX-License-Identifier: Apache-2.0 */
/* The keyword table: binary search over keywords.def, which is sorted (a test checks that). */
#include "sql/token.h"

typedef struct keyword_entry {
    tg_str word;
    bool reserved, strict, quote;
} keyword_entry;

static const keyword_entry keywords[TG_KW_COUNT_] = {
    {{"", 0}, false, false, false},
#define TG_KEYWORD(word, reserved, strict, quote) \
    {{#word, sizeof(#word) - 1}, reserved, strict, quote},
#include "sql/keywords.def"
#undef TG_KEYWORD
};

enum { LONGEST_KEYWORD = 17 };

tg_keyword tg_keyword_find(tg_str word)
{
    if (word.len == 0 || word.len > LONGEST_KEYWORD) {
        return TG_KW_NONE;
    }
    char upper[LONGEST_KEYWORD];
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    size_t low = 1, high = TG_KW_COUNT_;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = tg_str_cmp((tg_str){upper, word.len}, keywords[middle].word);
        if (order == 0) {
            return (tg_keyword)middle;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return TG_KW_NONE;
}

const char *tg_keyword_text(tg_keyword keyword)
{
    return keywords[keyword].word.ptr;
}

bool tg_keyword_is_strict(tg_keyword keyword)
{
    return keywords[keyword].strict;
}

bool tg_keyword_needs_quotes(tg_keyword keyword)
{
    return keywords[keyword].reserved || keywords[keyword].strict || keywords[keyword].quote;
}

bool tg_keyword_takes_unit(tg_keyword function)
{
    switch (function) {
    case TG_KW_DATEADD:
    case TG_KW_DATE_ADD:
    case TG_KW_TIMESTAMPADD:
    case TG_KW_DATEDIFF:
    case TG_KW_DATE_DIFF:
    case TG_KW_TIMEDIFF:
    case TG_KW_TIMESTAMPDIFF:
        return true;
    default:
        return false;
    }
}

bool tg_keyword_is_unit(tg_str word)
{
    switch (tg_keyword_find(word)) {
    case TG_KW_YEAR:
    case TG_KW_QUARTER:
    case TG_KW_MONTH:
    case TG_KW_WEEK:
    case TG_KW_DAY:
    case TG_KW_HOUR:
    case TG_KW_MINUTE:
    case TG_KW_SECOND:
    case TG_KW_MILLISECOND:
    case TG_KW_MICROSECOND:
        return true;
    default:
        return tg_str_ieq(word, TG_S("DAYOFYEAR"));
    }
}
