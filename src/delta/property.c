/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table properties that the log itself obeys (Delta protocol and Delta's table properties), and
 * checks of new definitions.
 */
#include "delta/delta_int.h"

enum { CHECKPOINT_INTERVAL_DEFAULT = 10 };
static const int64_t ms_per_day = INT64_C(86400000);

tg_str tg_delta_property(const tg_delta_metadata *metadata, tg_str key)
{
    for (size_t i = 0; i < metadata->config_count; i++) {
        if (tg_str_ieq(metadata->config_keys[i], key)) {
            return metadata->config_values[i];
        }
    }
    return (tg_str){0};
}

bool tg_delta_property_is_true(const tg_delta_metadata *metadata, tg_str key)
{
    return tg_str_ieq(tg_delta_property(metadata, key), TG_S("true"));
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t us;
} units[] = {
    {"microsecond", 1},
    {"millisecond", 1000},
    {"second", TG_US_PER_SECOND},
    {"minute", 60 * TG_US_PER_SECOND},
    {"hour", 3600 * TG_US_PER_SECOND},
    {"day", TG_US_PER_DAY},
    {"week", 7 * TG_US_PER_DAY},
};

static tg_str next_word(tg_str *rest)
{
    *rest = tg_str_trim(*rest);
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != ' ' && rest->ptr[len] != '\t') {
        len++;
    }
    tg_str word = tg_str_sub(*rest, 0, len);
    *rest = tg_str_sub(*rest, len, rest->len);
    return word;
}

static int64_t unit_us(tg_str name)
{
    if (tg_str_ends(name, TG_S("s")) || tg_str_ends(name, TG_S("S"))) {
        name.len--;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (tg_str_ieq(name, tg_str_from(units[i].name))) {
            return units[i].us;
        }
    }
    return 0;
}

bool tg_delta_interval_parse(tg_str text, int64_t *out_ms)
{
    tg_str rest = text;
    tg_str word = next_word(&rest);
    if (tg_str_ieq(word, TG_S("interval"))) {
        word = next_word(&rest);
    }
    int64_t total = 0;
    do {
        int64_t number;
        int64_t part;
        int64_t unit = unit_us(next_word(&rest));
        if (!unit || !tg_str_to_i64(word, &number) || number < 0 ||
            __builtin_mul_overflow(number, unit, &part) ||
            __builtin_add_overflow(total, part, &total)) {
            return false;
        }
        word = next_word(&rest);
    } while (word.len);
    *out_ms = total / 1000;
    return true;
}

bool tg_delta_bytes_parse(tg_str text, int64_t *out_bytes)
{
    static const struct {
        const char *suffix;
        int shift;
    } sizes[] = {{"kb", 10}, {"mb", 20}, {"gb", 30}, {"tb", 40}, {"k", 10},
                 {"m", 20},  {"g", 30},  {"t", 40},  {"b", 0},   {"", 0}};
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str lower = tg_str_lower(scratch, tg_str_trim(text));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        tg_str suffix = tg_str_from(sizes[i].suffix);
        if (tg_str_ends(lower, suffix)) {
            int64_t number;
            tg_str digits = tg_str_trim(tg_str_sub(lower, 0, lower.len - suffix.len));
            return tg_str_to_i64(digits, &number) && number > 0 &&
                   !__builtin_mul_overflow(number, INT64_C(1) << sizes[i].shift, out_bytes);
        }
    }
    return false;
}

int64_t tg_delta_checkpoint_interval(const tg_delta_metadata *metadata)
{
    int64_t interval;
    tg_str text = tg_delta_property(metadata, TG_S("delta.checkpointInterval"));
    return tg_str_to_i64(text, &interval) && interval > 0 ? interval : CHECKPOINT_INTERVAL_DEFAULT;
}

int64_t tg_delta_tombstone_retention_ms(const tg_delta_metadata *metadata)
{
    int64_t ms;
    tg_str text = tg_delta_property(metadata, TG_S("delta.deletedFileRetentionDuration"));
    return tg_delta_interval_parse(text, &ms) ? ms : 7 * ms_per_day;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* is_mapped: files know the column by another name, so this one may hold any character. */
static tg_code check_name(tg_str name, bool is_mapped, tg_error *err)
{
    for (size_t i = 0; i < name.len && !is_mapped; i++) {
        if (strchr(" ,;{}()\n\t=", name.ptr[i])) {
            (void)TG_ERR(err, DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES,
                         "column name `%.*s` has a character that Delta does not allow: one of \" "
                         ",;{}()\\n\\t=\"",
                         TG_SARG(name));
            return tg_error_hint(err, "Rename the column, for example with AS.");
        }
    }
    if (!name.len) {
        TG_FAIL(err, DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES, "a column has an empty name");
    }
    return TG_OK;
}

static tg_code check_fields(const tg_field *fields, size_t count, bool is_mapped, tg_error *err);

/* Depth is bounded where types are made (TG_LIMIT_EXPRESSION_DEPTH, TG_LIMIT_JSON_DEPTH). */
static tg_code check_type(tg_str column, const tg_type *type, bool is_mapped, tg_error *err)
{
    switch (type->kind) {
    case TG_TYPE_VOID:
        (void)TG_ERR(err, UNSUPPORTED_DATATYPE, "column `%.*s` has no type: it is always NULL",
                     TG_SARG(column));
        return tg_error_hint(err, "Give it one with CAST(NULL AS <type>).");
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        TG_FAIL(err, UNSUPPORTED_DATATYPE, "column `%.*s` is an interval, which Delta cannot store",
                TG_SARG(column));
    case TG_TYPE_VARIANT:
        TG_FAIL(err, UNSUPPORTED_DATATYPE, "column `%.*s` is a variant, which cannot be stored yet",
                TG_SARG(column));
    case TG_TYPE_ARRAY:
        return check_type(column, type->element, is_mapped, err);
    case TG_TYPE_MAP:
        TG_TRY(check_type(column, type->key, is_mapped, err));
        return check_type(column, type->element, is_mapped, err);
    case TG_TYPE_STRUCT:
        return check_fields(type->fields, type->field_count, is_mapped, err);
    default:
        return TG_OK;
    }
}

static tg_code check_fields(const tg_field *fields, size_t count, bool is_mapped, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_map seen;
    tg_map_init_ignore_case(&seen, scratch);
    for (size_t i = 0; i < count; i++) {
        TG_TRY(check_name(fields[i].name, is_mapped, err));
        if (tg_map_has(&seen, fields[i].name)) {
            (void)TG_ERR(err, DELTA_DUPLICATE_COLUMNS_FOUND, "column `%.*s` appears twice",
                         TG_SARG(fields[i].name));
            return tg_error_hint(
                err, "Delta compares names without regard to case; rename one of them.");
        }
        (void)tg_map_put(&seen, fields[i].name, scratch);
        TG_TRY(check_type(fields[i].name, fields[i].type, is_mapped, err));
    }
    return TG_OK;
}

static tg_code check_partitions(tg_schema schema, const tg_str *columns, size_t count,
                                tg_error *err)
{
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t position = tg_schema_find(schema, columns[i]);
        if (position < 0) {
            TG_FAIL(err, DELTA_PARTITION_COLUMN_NOT_FOUND,
                    "partition column `%.*s` is not a column of the table", TG_SARG(columns[i]));
        }
        for (size_t j = 0; j < i; j++) {
            if (tg_str_ieq(columns[i], columns[j])) {
                TG_FAIL(err, DELTA_DUPLICATE_COLUMNS_FOUND,
                        "partition column `%.*s` is named twice", TG_SARG(columns[i]));
            }
        }
        const tg_type *type = schema.fields[position].type;
        if (type->kind == TG_TYPE_BINARY || tg_type_is_nested(type)) {
            tg_auto_arena tg_arena *scratch = tg_arena_new();
            TG_FAIL(err, DELTA_INVALID_PARTITION_COLUMN_TYPE,
                    "cannot partition by column `%.*s` of type %.*s", TG_SARG(columns[i]),
                    TG_SARG(tg_type_text(scratch, type)));
        }
    }
    if (count && count == schema.count) {
        TG_FAIL(err, DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION,
                "all columns are partition columns; a table needs another one");
    }
    return TG_OK;
}

static tg_code invalid_value(const tg_property *property, const char *wanted, tg_error *err)
{
    TG_FAIL(err, TIDEGATE_INVALID_TABLE_PROPERTY, "table property `%.*s` must be %s, not `%.*s`",
            TG_SARG(property->key), wanted, TG_SARG(property->value));
}

/* Properties that bring a table feature with them. */
static const struct {
    const char *key, *off, *feature;
} feature_switches[] = {
    {"delta.enableChangeDataFeed", "false", "changeDataFeed"},
    {"delta.enableDeletionVectors", "false", "deletionVectors"},
    {"delta.enableRowTracking", "false", "rowTracking"},
    {"delta.enableInCommitTimestamps", "false", "inCommitTimestamp"},
    {"delta.enableTypeWidening", "false", "typeWidening"},
    {"delta.enableIcebergCompatV1", "false", "icebergCompatV1"},
    {"delta.enableIcebergCompatV2", "false", "icebergCompatV2"},
    {"delta.checkpointPolicy", "classic", "v2Checkpoint"},
};

static tg_code check_property(const tg_property *property, tg_error *err)
{
    int64_t number;
    tg_str key = property->key;
    for (size_t i = 0; i < sizeof(feature_switches) / sizeof(feature_switches[0]); i++) {
        if (tg_str_ieq(key, tg_str_from(feature_switches[i].key)) &&
            !tg_str_ieq(property->value, tg_str_from(feature_switches[i].off))) {
            TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_WRITE,
                    "table property `%.*s` = `%.*s` needs the table feature %s, which is not "
                    "available yet",
                    TG_SARG(key), TG_SARG(property->value), feature_switches[i].feature);
        }
    }
    if (tg_str_ieq(key, TG_S("delta.columnMapping.mode")) &&
        !tg_str_ieq(property->value, TG_S("none")) && !tg_str_ieq(property->value, TG_S("name")) &&
        !tg_str_ieq(property->value, TG_S("id"))) {
        return invalid_value(property, "none, name or id", err);
    }
    if (tg_str_istarts(key, TG_S("delta.feature."))) {
        TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_WRITE,
                "table property `%.*s` is not available yet", TG_SARG(key));
    }
    if (tg_str_ieq(key, TG_S("delta.appendOnly")) && !tg_str_ieq(property->value, TG_S("true")) &&
        !tg_str_ieq(property->value, TG_S("false"))) {
        return invalid_value(property, "true or false", err);
    }
    if (tg_str_ieq(key, TG_S("delta.checkpointInterval")) &&
        (!tg_str_to_i64(property->value, &number) || number < 1)) {
        return invalid_value(property, "a number above 0", err);
    }
    if (tg_str_ieq(key, TG_S("delta.targetFileSize")) &&
        !tg_delta_bytes_parse(property->value, &number)) {
        return invalid_value(property, "a size such as '128mb' or '104857600'", err);
    }
    bool is_interval = tg_str_ieq(key, TG_S("delta.deletedFileRetentionDuration")) ||
                       tg_str_ieq(key, TG_S("delta.logRetentionDuration")) ||
                       tg_str_ieq(key, TG_S("delta.setTransactionRetentionDuration"));
    if (is_interval && !tg_delta_interval_parse(property->value, &number)) {
        return invalid_value(property, "an interval such as 'interval 7 days'", err);
    }
    return TG_OK;
}

tg_code tg_delta_check_definition(tg_schema schema, const tg_str *partition_columns,
                                  size_t partition_count, const tg_property *properties,
                                  size_t property_count, tg_error *err)
{
    bool is_mapped = false;
    for (size_t i = 0; i < property_count; i++) {
        is_mapped = is_mapped || (tg_str_ieq(properties[i].key, TG_S("delta.columnMapping.mode")) &&
                                  !tg_str_ieq(properties[i].value, TG_S("none")));
    }
    TG_TRY(check_fields(schema.fields, schema.count, is_mapped, err));
    TG_TRY(check_partitions(schema, partition_columns, partition_count, err));
    for (size_t i = 0; i < property_count; i++) {
        TG_TRY(check_property(&properties[i], err));
    }
    return TG_OK;
}
