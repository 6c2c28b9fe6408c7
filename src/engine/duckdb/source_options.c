/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read options of CSV, JSON and Parquet sources, under Spark's names and with Spark's defaults (no
 * header, all columns STRING). An option that is not known is an error with the nearest name; one
 * that is known to Spark but not here is refused, for ignoring it would read other values than
 * Spark does.
 */
#include "engine/duckdb/source_int.h"

enum { FOR_CSV = 1, FOR_JSON = 2, FOR_PARQUET = 4 };

typedef struct option_def {
    const char *name;
    int formats;
    /*
     * The only values that are accepted, NULL-terminated; none: any text or handled by apply_csv.
     */
    const char *accepted[4];
} option_def;

static const option_def options[] = {
    {"header", FOR_CSV, {"true", "false"}},
    {"sep", FOR_CSV, {NULL}},
    {"delimiter", FOR_CSV, {NULL}},
    {"quote", FOR_CSV, {NULL}},
    {"escape", FOR_CSV, {NULL}},
    {"comment", FOR_CSV, {NULL}},
    {"nullValue", FOR_CSV, {NULL}},
    {"inferSchema", FOR_CSV, {"true", "false"}},
    {"dateFormat", FOR_CSV | FOR_JSON, {"yyyy-MM-dd"}},
    {"encoding", FOR_CSV | FOR_JSON, {"UTF-8", "utf-8", "utf8"}},
    {"multiLine", FOR_CSV | FOR_JSON, {"false"}},
    {"mode", FOR_CSV | FOR_JSON, {"FAILFAST"}},
    {"mergeSchema", FOR_PARQUET, {"false"}},
    {"recursiveFileLookup", FOR_CSV | FOR_JSON | FOR_PARQUET, {"false"}},
};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static int format_flag(tg_table_format format)
{
    switch (format) {
    case TG_FORMAT_CSV:
        return FOR_CSV;
    case TG_FORMAT_JSON:
        return FOR_JSON;
    default:
        return FOR_PARQUET;
    }
}

const char *tg_source_format_name(tg_table_format format)
{
    switch (format) {
    case TG_FORMAT_CSV:
        return "CSV";
    case TG_FORMAT_JSON:
        return "JSON";
    case TG_FORMAT_PARQUET:
        return "Parquet";
    default:
        return "Delta";
    }
}

static tg_code unknown_option(const tg_property *property, tg_table_format format, tg_error *err)
{
    tg_str names[OPTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].formats & format_flag(format)) {
            names[count++] = tg_str_from(options[i].name);
        }
    }
    tg_str nearest = tg_str_nearest(property->key, names, count);
    (void)TG_ERR(err, TIDEGATE_INVALID_SETTING,
                 "option \"%.*s\" of a %s source is not known or not available",
                 TG_SARG(property->key), tg_source_format_name(format));
    if (nearest.len) {
        return tg_error_hint(err, "Did you mean \"%.*s\"?", TG_SARG(nearest));
    }
    tg_auto_buf tg_buf list = TG_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_buf_addf(&list, "%s%.*s", i ? ", " : "", TG_SARG(names[i]));
    }
    return tg_error_hint(err, "Options of %s sources: %s.", tg_source_format_name(format),
                         tg_buf_cstr(&list));
}

static tg_code check_value(const option_def *def, const tg_property *property, tg_error *err)
{
    if (!def->accepted[0]) {
        return TG_OK;
    }
    tg_auto_buf tg_buf list = TG_BUF_INIT;
    for (size_t i = 0; i < 4 && def->accepted[i]; i++) {
        if (tg_str_ieq(property->value, tg_str_from(def->accepted[i]))) {
            return TG_OK;
        }
        tg_buf_addf(&list, "%s%s", i ? " or " : "", def->accepted[i]);
    }
    (void)TG_ERR(err, UNSUPPORTED_FEATURE, "option %s = \"%.*s\" is not available", def->name,
                 TG_SARG(property->value));
    return tg_error_hint(err, "This release accepts %s.", tg_buf_cstr(&list));
}

static bool is_true(tg_str value)
{
    return tg_str_ieq(value, TG_S("true"));
}

/* One character, or "\t" as two, or nothing where that means "none". */
static tg_code character(const tg_property *property, bool may_be_empty, tg_str *out, tg_error *err)
{
    tg_str value = property->value;
    if (tg_str_eq(value, TG_S("\\t"))) {
        value = TG_S("\t");
    }
    if (tg_utf8_count(value) > 1 || (!value.len && !may_be_empty)) {
        TG_FAIL(err, TIDEGATE_INVALID_SETTING,
                "option %.*s of a CSV source must be one character, not \"%.*s\"",
                TG_SARG(property->key), TG_SARG(property->value));
    }
    *out = value;
    return TG_OK;
}

static tg_code apply_csv(const char *name, const tg_property *property, tg_source_options *out,
                         tg_error *err)
{
    tg_str key = tg_str_from(name);
    if (tg_str_eq(key, TG_S("header"))) {
        out->header = is_true(property->value);
    } else if (tg_str_eq(key, TG_S("inferSchema"))) {
        out->infer_schema = is_true(property->value);
    } else if (tg_str_eq(key, TG_S("sep")) || tg_str_eq(key, TG_S("delimiter"))) {
        return character(property, false, &out->separator, err);
    } else if (tg_str_eq(key, TG_S("quote"))) {
        return character(property, true, &out->quote, err);
    } else if (tg_str_eq(key, TG_S("escape"))) {
        return character(property, true, &out->escape, err);
    } else if (tg_str_eq(key, TG_S("comment"))) {
        return character(property, true, &out->comment, err);
    } else if (tg_str_eq(key, TG_S("nullValue"))) {
        out->null_value = property->value;
    }
    return TG_OK;
}

tg_code tg_source_options_read(tg_table_format format, const tg_property *properties, size_t count,
                               tg_source_options *out, tg_error *err)
{
    tg_source_options result = {.separator = TG_S(","), .quote = TG_S("\""), .escape = TG_S("\\")};
    for (size_t i = 0; i < count; i++) {
        const option_def *def = NULL;
        for (size_t j = 0; j < OPTION_COUNT && !def; j++) {
            if ((options[j].formats & format_flag(format)) &&
                tg_str_ieq(properties[i].key, tg_str_from(options[j].name))) {
                def = &options[j];
            }
        }
        if (!def) {
            return unknown_option(&properties[i], format, err);
        }
        TG_TRY(check_value(def, &properties[i], err));
        if (format == TG_FORMAT_CSV) {
            TG_TRY(apply_csv(def->name, &properties[i], &result, err));
        }
    }
    *out = result;
    return TG_OK;
}
