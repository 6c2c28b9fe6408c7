/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table properties. Spark drops an unknown pipelines.* key without a word, and a misspelt guard
 * guards nothing: here it is an error.
 */
#include "pipeline/properties.h"

#include "pipeline/lint.h"

typedef enum property_rule {
    RULE_KEEP,
    RULE_BOOL,
    RULE_NOTE,
    RULE_ONLY,
    RULE_ONE_OF,
    RULE_LINTS,
    RULE_OURS,
    RULE_CHECK
} property_rule;

static const struct known {
    tg_str key;
    property_rule rule;
    const char *value;
} known[] = {
#define TG_TABLE_PROPERTY(key, rule, value) {{key, sizeof(key) - 1}, RULE_##rule, value},
#include "pipeline/properties.def"
#undef TG_TABLE_PROPERTY
};
enum { KNOWN_COUNT = sizeof(known) / sizeof(*known) };

tg_str tg_property_get(const tg_property *properties, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, tg_str_from(key))) {
            return properties[i].value;
        }
    }
    return (tg_str){0};
}

static const struct known *find(tg_str key)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        tg_str pattern = known[i].key;
        bool matches = tg_str_ends(pattern, TG_S(".*"))
                           ? tg_str_istarts(key, tg_str_sub(pattern, 0, pattern.len - 1))
                           : tg_str_ieq(key, pattern);
        if (matches) {
            return &known[i];
        }
    }
    return NULL;
}

static void suggest(tg_str key, tg_error *err)
{
    tg_str keys[KNOWN_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (known[i].rule != RULE_OURS) {
            keys[count++] = known[i].key;
        }
    }
    tg_str nearest = tg_str_nearest(key, keys, count);
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest));
    }
}

static tg_property_verdict refuse_unknown(const tg_property *property, tg_error *err)
{
    if (tg_str_istarts(property->key, TG_S("delta."))) {
        (void)TG_ERR(err, DELTA_UNKNOWN_CONFIGURATION, "table property `%.*s` is not known",
                     TG_SARG(property->key));
    } else {
        (void)TG_ERR(err, TIDEGATE_UNKNOWN_TABLE_PROPERTY, "table property `%.*s` is not known",
                     TG_SARG(property->key));
    }
    suggest(property->key, err);
    return TG_PROPERTY_REFUSED;
}

static tg_property_verdict check_choice(const struct known *rule, const tg_property *property,
                                        tg_error *err)
{
    tg_str choices = tg_str_from(rule->value), words[8];
    size_t count = 0;
    for (size_t from = 0; from <= choices.len; count++) {
        size_t bar = tg_str_find(choices, TG_S("|"), from);
        words[count] = tg_str_sub(choices, from, bar == SIZE_MAX ? choices.len : bar);
        from += words[count].len + 1;
        if (tg_str_ieq(property->value, words[count])) {
            return TG_PROPERTY_KEEP;
        }
    }
    tg_auto_buf tg_buf list = TG_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(&list, i == 0 ? "" : i + 1 == count ? " or " : ", ");
        tg_buf_adds(&list, words[i]);
    }
    (void)TG_ERR(err, TIDEGATE_INVALID_TABLE_PROPERTY,
                 "table property `%.*s` must be %s, not `%.*s`", TG_SARG(rule->key),
                 tg_buf_cstr(&list), TG_SARG(property->value));
    tg_str nearest = tg_str_nearest(property->value, words, count);
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest));
    }
    return TG_PROPERTY_REFUSED;
}

static tg_property_verdict check_value(const struct known *rule, const tg_property *property,
                                       tg_error *err)
{
    switch (rule->rule) {
    case RULE_KEEP:
        return TG_PROPERTY_KEEP;
    case RULE_BOOL:
        if (tg_str_ieq(property->value, TG_S("true")) ||
            tg_str_ieq(property->value, TG_S("false"))) {
            return TG_PROPERTY_KEEP;
        }
        (void)TG_ERR(err, TIDEGATE_INVALID_TABLE_PROPERTY,
                     "table property `%.*s` must be true or false, not `%.*s`", TG_SARG(rule->key),
                     TG_SARG(property->value));
        return TG_PROPERTY_REFUSED;
    case RULE_NOTE:
        (void)TG_ERR(err, UNSUPPORTED_FEATURE, "table property `%.*s` has no effect here",
                     TG_SARG(property->key));
        return TG_PROPERTY_NOTE;
    case RULE_ONLY:
        if (rule->value[0] && tg_str_ieq(property->value, tg_str_from(rule->value))) {
            return TG_PROPERTY_KEEP;
        }
        (void)TG_ERR(err, UNSUPPORTED_FEATURE,
                     "table property `%.*s` = `%.*s` is not available yet", TG_SARG(property->key),
                     TG_SARG(property->value));
        (void)tg_error_hint(err, "Leave the property out.");
        return TG_PROPERTY_REFUSED;
    case RULE_ONE_OF:
        return check_choice(rule, property, err);
    case RULE_LINTS:
        return tg_lint_check_ignored(property->value, err) == TG_OK ? TG_PROPERTY_KEEP
                                                                    : TG_PROPERTY_REFUSED;
    case RULE_CHECK:
        (void)TG_ERR(err, DELTA_ADD_CONSTRAINTS, "`%.*s` cannot be set as a table property",
                     TG_SARG(property->key));
        (void)tg_error_hint(err, "Write ALTER TABLE ... ADD CONSTRAINT name CHECK (condition).");
        return TG_PROPERTY_REFUSED;
    case RULE_OURS:
        (void)TG_ERR(err, TIDEGATE_INVALID_TABLE_PROPERTY,
                     "table property `%.*s` is set by tidegate alone", TG_SARG(property->key));
        return TG_PROPERTY_REFUSED;
    }
    return TG_PROPERTY_KEEP;
}

tg_property_verdict tg_property_check(const tg_property *property, tg_error *err)
{
    static const char *const prefixes[] = {"pipelines.", "tidegate.", "delta."};
    bool is_ours = false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        is_ours = is_ours || tg_str_istarts(property->key, tg_str_from(prefixes[i]));
    }
    if (!is_ours) {
        return TG_PROPERTY_KEEP;
    }
    const struct known *rule = find(property->key);
    tg_property_verdict verdict =
        rule ? check_value(rule, property, err) : refuse_unknown(property, err);
    if (verdict != TG_PROPERTY_KEEP) {
        (void)tg_error_at(err, property->span);
    }
    return verdict;
}
