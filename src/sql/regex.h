/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java regular expressions as RE2 text. Private to sql.
 *
 * DuckDB matches with RE2, Spark with java.util.regex. What both know is translated where the
 * spelling or the meaning differs (\s, \u0041, POSIX classes, what a dot does not match); what RE2
 * cannot do (lookaround, back references, possessive quantifiers) or reads otherwise is refused
 * with a reason.
 */
#ifndef TG_SQL_REGEX_H
#define TG_SQL_REGEX_H

#include "base/base.h"

typedef struct tg_regex {
    tg_str text; /* RE2 */
    size_t group_count;
    bool matches_empty;  /* may match the empty text */
    bool is_plain;       /* matches one fixed text */
    tg_str plain;        /* that text */
    const char *refusal; /* why it cannot be translated; NULL: it can */
} tg_regex;

/*
 * test_only: only whether there is a match counts, not where it ends: $ may then swallow the final
 * line break that it stands before in Java.
 */
tg_regex tg_regex_translate(tg_str java, bool test_only, tg_arena *arena);
/*
 * A replacement text ($1, \$) as RE2's (\1, $); false with a reason when it names a group that is
 * not there, or by name.
 */
bool tg_regex_translate_replacement(tg_str java, size_t group_count, tg_arena *arena, tg_str *out,
                                    const char **out_refusal);

#endif
