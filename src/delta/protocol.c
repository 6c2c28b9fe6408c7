/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tables may be read and written: protocol versions and named features (Delta protocol,
 * "Table Features").
 *
 * A feature that a table lists but does not use is no reason to refuse it. So a feature here is
 * either always fine, or refused only when the table's metadata shows that it is used, or refused.
 * What is not in the list is not known, and refused. Deletion vectors and V2 checkpoints are looked
 * for where they would be met: in the log.
 */
#include "delta/delta_int.h"

enum { READER_VERSION_MAX = 3, WRITER_VERSION_MAX = 7 };

/* Is a feature in use, as far as the metadata tells? */
typedef bool (*usage)(const tg_delta_metadata *metadata);

static bool never(const tg_delta_metadata *metadata)
{
    (void)metadata;
    return false;
}

static bool has_change_feed(const tg_delta_metadata *metadata)
{
    return tg_delta_property_is_true(metadata, TG_S("delta.enableChangeDataFeed"));
}

/*
 * Does any field, nested ones too, carry a metadata key? The key is looked for as JSON text:
 * nothing else spells it.
 */
static bool has_field_key(const tg_delta_metadata *metadata, const char *key)
{
    return tg_str_find(metadata->schema_string, tg_str_from(key), 0) != SIZE_MAX;
}

static bool has_generated_columns(const tg_delta_metadata *metadata)
{
    return has_field_key(metadata, "\"delta.generationExpression\"");
}

static bool has_identity_columns(const tg_delta_metadata *metadata)
{
    return has_field_key(metadata, "\"delta.identity.");
}

static bool has_defaults(const tg_delta_metadata *metadata)
{
    return has_field_key(metadata, "\"CURRENT_DEFAULT\"");
}

/* Also a string column that is called variant: no reason to guess. */
static bool has_variants(const tg_delta_metadata *metadata)
{
    return has_field_key(metadata, "\"variant\"");
}

/* Features that readers must know. deletionVectors and v2Checkpoint: see above. */
static const struct feature {
    const char *name;
    usage is_used;
} reader_features[] = {
    {"columnMapping", never},
    {"deletionVectors", never},
    {"timestampNtz", never},
    {"typeWidening", never},
    {"typeWidening-preview", never},
    {"v2Checkpoint", never},
    {"vacuumProtocolCheck", never},
    {"variantShredding", has_variants},
    {"variantShredding-preview", has_variants},
    {"variantType", has_variants},
    {"variantType-preview", has_variants},
};

/* Features that writers must know, by name or by the versions 2 to 6 that imply them. */
static const struct feature writer_features[] = {
    {"allowColumnDefaults", has_defaults},
    {"appendOnly", never}, /* kept by tg_delta_check_change */
    {"changeDataFeed", has_change_feed},
    {"checkConstraints", never}, /* kept by the engine, row by row */
    {"columnMapping", never},    /* kept by tg_delta_mapping_assign */
    {"deletionVectors", never},  /* rows are deleted by rewriting; what a table has is kept */
    {"generatedColumns", has_generated_columns},
    {"identityColumns", has_identity_columns},
    {"invariants", never}, /* the same */
    {"timestampNtz", never},
    {"typeWidening", never}, /* files are written with the types of today */
    {"typeWidening-preview", never},
    {"v2Checkpoint", never}, /* checkpoint.c */
    {"vacuumProtocolCheck", never},
};
enum {
    READER_FEATURES = sizeof(reader_features) / sizeof(reader_features[0]),
    WRITER_FEATURES = sizeof(writer_features) / sizeof(writer_features[0]),
};

static void list_name(tg_buf *names, tg_str name)
{
    tg_buf_addz(names, names->len ? ", " : "");
    tg_buf_adds(names, name);
}

/* NULL: not known, or not to be had. */
static const struct feature *find_feature(const struct feature *features, size_t count, tg_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(name, tg_str_from(features[i].name))) {
            return &features[i];
        }
    }
    return NULL;
}

static tg_code check_versions(tg_str table_path, const tg_delta_protocol *protocol, tg_error *err)
{
    if (protocol->min_reader_version > READER_VERSION_MAX ||
        protocol->min_writer_version > WRITER_VERSION_MAX) {
        TG_FAIL(err, DELTA_INVALID_PROTOCOL_VERSION,
                "Delta table `%.*s` needs reader version %d and writer version %d; the newest "
                "known here are %d and %d",
                TG_SARG(table_path), protocol->min_reader_version, protocol->min_writer_version,
                READER_VERSION_MAX, WRITER_VERSION_MAX);
    }
    return TG_OK;
}

tg_code tg_delta_check_readable(tg_str table_path, const tg_delta_protocol *protocol,
                                const tg_delta_metadata *metadata, tg_error *err)
{
    tg_auto_buf tg_buf names = TG_BUF_INIT;
    if (protocol->min_reader_version > READER_VERSION_MAX) {
        return check_versions(table_path, protocol, err);
    }
    for (size_t i = 0; i < protocol->reader_feature_count; i++) {
        const struct feature *feature =
            find_feature(reader_features, READER_FEATURES, protocol->reader_features[i]);
        if (!feature || feature->is_used(metadata)) {
            list_name(&names, protocol->reader_features[i]);
        }
    }
    if (names.len) {
        TG_FAIL(
            err, DELTA_UNSUPPORTED_FEATURES_FOR_READ,
            "cannot read Delta table `%.*s`: it uses table features that are not available yet: %s",
            TG_SARG(table_path), tg_buf_cstr(&names));
    }
    return TG_OK;
}

tg_code tg_delta_check_writable(tg_str table_path, const tg_delta_protocol *protocol,
                                const tg_delta_metadata *metadata, tg_error *err)
{
    tg_auto_buf tg_buf names = TG_BUF_INIT;
    TG_TRY(check_versions(table_path, protocol, err));
    /*
     * Whatever the protocol says, metadata that asks for something we do not do is no table for us.
     */
    for (size_t i = 0; i < WRITER_FEATURES; i++) {
        if (writer_features[i].is_used(metadata)) {
            list_name(&names, tg_str_from(writer_features[i].name));
        }
    }
    for (size_t i = 0; i < protocol->writer_feature_count; i++) {
        if (!find_feature(writer_features, WRITER_FEATURES, protocol->writer_features[i])) {
            list_name(&names, protocol->writer_features[i]);
        }
    }
    if (names.len) {
        TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_WRITE,
                "cannot write to Delta table `%.*s`: it uses table features that are not available "
                "yet: %s",
                TG_SARG(table_path), tg_buf_cstr(&names));
    }
    return TG_OK;
}

/* ---- the protocol of a new table ------------------------------------------------------------- */

static bool has_kind(const tg_type *type, tg_type_kind kind)
{
    if (type->kind == kind) {
        return true;
    }
    /* Depth is bounded where types are made (TG_LIMIT_EXPRESSION_DEPTH, TG_LIMIT_JSON_DEPTH). */
    bool found = (type->element && has_kind(type->element, kind)) ||
                 (type->key && has_kind(type->key, kind));
    for (size_t i = 0; i < type->field_count && !found; i++) {
        found = has_kind(type->fields[i].type, kind);
    }
    return found;
}

static bool schema_has_kind(tg_schema schema, tg_type_kind kind)
{
    for (size_t i = 0; i < schema.count; i++) {
        if (has_kind(schema.fields[i].type, kind)) {
            return true;
        }
    }
    return false;
}

static bool is_on(const tg_property *properties, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, tg_str_from(key))) {
            return tg_str_ieq(properties[i].value, TG_S("true"));
        }
    }
    return false;
}

static bool is_mapped(const tg_property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(properties[i].key, TG_S("delta.columnMapping.mode"))) {
            return !tg_str_ieq(properties[i].value, TG_S("none"));
        }
    }
    return false;
}

static bool has_constraint(const tg_property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_istarts(properties[i].key, TG_S("delta.constraints."))) {
            return true;
        }
    }
    return false;
}

static bool has_invariant(tg_schema schema)
{
    for (size_t i = 0; i < schema.count; i++) {
        if (tg_str_find(schema.fields[i].metadata, TG_S("\"delta.invariants\""), 0) != SIZE_MAX) {
            return true;
        }
    }
    return false;
}

tg_code tg_delta_protocol_for(tg_schema schema, const tg_property *properties,
                              size_t property_count, tg_arena *arena,
                              tg_delta_protocol *out_protocol, tg_error *err)
{
    (void)err;
    tg_str *readers = TG_NEW_ARRAY(arena, tg_str, 2);
    tg_str *writers = TG_NEW_ARRAY(arena, tg_str, 6);
    tg_delta_protocol protocol = {.min_reader_version = 1, .min_writer_version = 2};
    if (schema_has_kind(schema, TG_TYPE_TIMESTAMP_NTZ)) {
        protocol.min_reader_version = 3;
        readers[protocol.reader_feature_count++] = TG_S("timestampNtz");
        writers[protocol.writer_feature_count++] = TG_S("timestampNtz");
    }
    if (is_mapped(properties, property_count)) {
        protocol.min_reader_version = 3;
        readers[protocol.reader_feature_count++] = TG_S("columnMapping");
        writers[protocol.writer_feature_count++] = TG_S("columnMapping");
    }
    if (is_on(properties, property_count, "delta.enableChangeDataFeed")) {
        writers[protocol.writer_feature_count++] = TG_S("changeDataFeed");
    }
    if (has_constraint(properties, property_count)) {
        writers[protocol.writer_feature_count++] = TG_S("checkConstraints");
    }
    if (protocol.writer_feature_count) {
        /*
         * With named features nothing is implied: what (1,2) gives must be named when it is used.
         */
        protocol.min_writer_version = 7;
        if (is_on(properties, property_count, "delta.appendOnly")) {
            writers[protocol.writer_feature_count++] = TG_S("appendOnly");
        }
        if (has_invariant(schema)) {
            writers[protocol.writer_feature_count++] = TG_S("invariants");
        }
        protocol.reader_features = readers;
        protocol.writer_features = writers;
    }
    *out_protocol = protocol;
    return TG_OK;
}
