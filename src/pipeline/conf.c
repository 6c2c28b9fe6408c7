/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spark settings. One that would change an answer must be obeyed or refused, never dropped; the
 * rest (shuffle partitions, Photon ...) tunes a cluster that is not there.
 */
#include "pipeline/conf.h"

typedef enum conf_rule {
    RULE_MUST_BE,  /* only this value */
    RULE_TIMEZONE, /* only the pipeline's time zone */
    RULE_RETRIES   /* a count */
} conf_rule;

static const struct {
    const char *key;
    conf_rule rule;
    const char *value;
} rules[] = {
    {"spark.sql.ansi.enabled", RULE_MUST_BE, "true"},
    {"spark.sql.caseSensitive", RULE_MUST_BE, "false"},
    {TG_CONF_TIMEZONE, RULE_TIMEZONE, NULL},
    {TG_CONF_FLOW_RETRIES, RULE_RETRIES, NULL},
    {TG_CONF_UPDATE_RETRIES, RULE_RETRIES, NULL},
    {"spark.sql.storeAssignmentPolicy", RULE_MUST_BE, "ANSI"},
    {"spark.sql.legacy.timeParserPolicy", RULE_MUST_BE, "CORRECTED"},
    {"spark.sql.timestampType", RULE_MUST_BE, "TIMESTAMP_LTZ"},
    {"spark.sql.mapKeyDedupPolicy", RULE_MUST_BE, "EXCEPTION"},
    {"spark.sql.parser.escapedStringLiterals", RULE_MUST_BE, "false"},
    {"spark.sql.ansi.doubleQuotedIdentifiers", RULE_MUST_BE, "false"},
    {"spark.sql.groupByOrdinal", RULE_MUST_BE, "true"},
    {"spark.sql.orderByOrdinal", RULE_MUST_BE, "true"},
    {"spark.sql.decimalOperations.allowPrecisionLoss", RULE_MUST_BE, "true"},
};

static bool is_spark_key(tg_str key)
{
    return tg_str_istarts(key, TG_S("spark.")) || tg_str_istarts(key, TG_S("pipelines."));
}

bool tg_conf_is_retries(tg_str key)
{
    return tg_str_ieq(key, TG_S(TG_CONF_FLOW_RETRIES)) ||
           tg_str_ieq(key, TG_S(TG_CONF_UPDATE_RETRIES));
}

bool tg_conf_sets_timezone(tg_str key)
{
    return tg_str_ieq(key, TG_S("TIME ZONE")) || tg_str_ieq(key, TG_S("timezone")) ||
           tg_str_ieq(key, TG_S(TG_CONF_TIMEZONE));
}

void tg_conf_check(tg_str key, tg_str value, tg_str timezone, bool *out_is_warning, tg_error *err)
{
    *out_is_warning = false;
    if (!is_spark_key(key)) {
        return;
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        if (!tg_str_ieq(key, tg_str_from(rules[i].key))) {
            continue;
        }
        int64_t count;
        if (rules[i].rule == RULE_RETRIES) {
            if (!tg_str_to_i64(tg_str_trim(value), &count) || count < 0 ||
                count > TG_CONF_RETRIES_MAX) {
                (void)TG_ERR(err, TIDEGATE_INVALID_SETTING,
                             "setting `%s` takes a whole number from 0 to %d, not '%.*s'",
                             rules[i].key, TG_CONF_RETRIES_MAX, TG_SARG(value));
            }
        } else if (rules[i].rule == RULE_TIMEZONE) {
            if (!tg_str_ieq(value, timezone)) {
                (void)TG_ERR(err, UNSUPPORTED_FEATURE,
                             "setting `%s` differs from the time zone of the pipeline, %.*s",
                             rules[i].key, TG_SARG(timezone));
                (void)tg_error_hint(err, "Set `timezone` under `tidegate:` in the pipeline spec: "
                                         "one zone holds for a whole update.");
            }
        } else if (!tg_str_ieq(value, tg_str_from(rules[i].value))) {
            (void)TG_ERR(err, UNSUPPORTED_FEATURE, "setting `%s` cannot be `%.*s`", rules[i].key,
                         TG_SARG(value));
            (void)tg_error_hint(err, "tidegate has the meaning of `%s`; leave the setting out.",
                                rules[i].value);
        }
        return;
    }
    if (tg_str_istarts(key, TG_S("spark.sql.legacy."))) {
        (void)TG_ERR(err, UNSUPPORTED_FEATURE, "legacy setting `%.*s` is not supported",
                     TG_SARG(key));
        return;
    }
    *out_is_warning = true;
    (void)TG_ERR(err, UNSUPPORTED_FEATURE, "setting `%.*s` has no effect", TG_SARG(key));
}
