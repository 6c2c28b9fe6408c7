/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change as the text of a commit file: one action per line, commitInfo first.
 *
 * All metrics are strings, because Spark refuses a history with numbers there. Removes carry their
 * partition values and size (extendedFileMetadata), because readers of the change feed need them;
 * without both it is not claimed.
 */
#include "delta/delta_int.h"
#include "tidegate/version.h"

/* {"name":{ ... }}\n around one action. */
static void begin_action(tg_json_out *out, tg_buf *buf, const char *name)
{
    tg_json_begin(out, buf);
    tg_json_object(out);
    tg_json_keyz(out, name);
    tg_json_object(out);
}

static void end_action(tg_json_out *out)
{
    tg_json_end_object(out);
    tg_json_end_object(out);
    tg_buf_addc(out->buf, '\n');
}

static void put_properties(tg_json_out *out, const char *key, const tg_property *properties,
                           size_t count)
{
    tg_json_keyz(out, key);
    tg_json_object(out);
    for (size_t i = 0; i < count; i++) {
        tg_json_key(out, properties[i].key);
        tg_json_str(out, properties[i].value);
    }
    tg_json_end_object(out);
}

static void put_info(tg_buf *buf, const tg_delta_change *change, const tg_delta_attempt *attempt)
{
    tg_json_out out;
    begin_action(&out, buf, "commitInfo");
    tg_json_ki64(&out, "timestamp", attempt->now_ms);
    tg_json_kstr(&out, "operation", change->operation);
    put_properties(&out, "operationParameters", change->parameters, change->parameter_count);
    if (attempt->read_version >= 0) {
        tg_json_ki64(&out, "readVersion", attempt->read_version);
    }
    tg_json_kstrz(&out, "isolationLevel", "Serializable");
    tg_json_kbool(&out, "isBlindAppend", change->is_blind_append);
    put_properties(&out, "operationMetrics", change->metrics, change->metric_count);
    tg_json_kstrz(&out, "engineInfo", "tidegate/" TG_VERSION_STRING);
    tg_json_kstr(&out, "txnId", attempt->txn_id);
    if (change->user_metadata.len) {
        tg_json_kstr(&out, "userMetadata", change->user_metadata);
    }
    end_action(&out);
}

static void put_protocol(tg_buf *buf, const tg_delta_protocol *protocol)
{
    tg_json_out out;
    begin_action(&out, buf, "protocol");
    tg_json_ki64(&out, "minReaderVersion", protocol->min_reader_version);
    tg_json_ki64(&out, "minWriterVersion", protocol->min_writer_version);
    if (protocol->min_reader_version == 3) {
        tg_json_kstrs(&out, "readerFeatures", protocol->reader_features,
                      protocol->reader_feature_count);
    }
    if (protocol->min_writer_version == 7) {
        tg_json_kstrs(&out, "writerFeatures", protocol->writer_features,
                      protocol->writer_feature_count);
    }
    end_action(&out);
}

static void put_metadata(tg_buf *buf, const tg_delta_metadata *metadata, tg_arena *arena)
{
    tg_json_out out;
    begin_action(&out, buf, "metaData");
    tg_json_kstr(&out, "id", metadata->id);
    if (metadata->name.len) {
        tg_json_kstr(&out, "name", metadata->name);
    }
    if (metadata->description.len) {
        tg_json_kstr(&out, "description", metadata->description);
    }
    tg_json_keyz(&out, "format");
    tg_json_raw(&out, TG_S("{\"provider\":\"parquet\",\"options\":{}}"));
    tg_json_kstr(&out, "schemaString",
                 metadata->schema_string.len ? metadata->schema_string
                                             : tg_schema_to_json(arena, metadata->schema));
    tg_json_kstrs(&out, "partitionColumns", metadata->partition_columns, metadata->partition_count);
    tg_json_keyz(&out, "configuration");
    tg_json_object(&out);
    for (size_t i = 0; i < metadata->config_count; i++) {
        tg_json_key(&out, metadata->config_keys[i]);
        tg_json_str(&out, metadata->config_values[i]);
    }
    tg_json_end_object(&out);
    tg_json_ki64(&out, "createdTime", metadata->created_time_ms);
    end_action(&out);
}

static void put_path(tg_json_out *out, tg_str encoded_path, tg_str path, tg_arena *arena)
{
    tg_json_kstr(out, "path", encoded_path.len ? encoded_path : tg_uri_encode_path(arena, path));
}

/* keys: tg_delta_partition_keys. */
static void put_partition_values(tg_json_out *out, const tg_str *keys, size_t count,
                                 const tg_delta_partition_value *values)
{
    tg_json_keyz(out, "partitionValues");
    tg_json_object(out);
    for (size_t i = 0; i < count; i++) {
        tg_json_key(out, keys[i]);
        if (values[i].is_null) {
            tg_json_null(out);
        } else {
            tg_json_str(out, values[i].text);
        }
    }
    tg_json_end_object(out);
}

static void put_dv(tg_json_out *out, const tg_delta_dv *dv)
{
    if (!dv) {
        return;
    }
    tg_json_keyz(out, "deletionVector");
    tg_json_object(out);
    tg_json_kstr(out, "storageType", (tg_str){&dv->storage, 1});
    tg_json_kstr(out, "pathOrInlineDv", dv->text);
    if (dv->offset >= 0) {
        tg_json_ki64(out, "offset", dv->offset);
    }
    tg_json_ki64(out, "sizeInBytes", dv->size_bytes);
    tg_json_ki64(out, "cardinality", dv->cardinality);
    tg_json_end_object(out);
}

static void put_add(tg_buf *buf, const tg_delta_add *add, const tg_str *keys, size_t key_count,
                    tg_arena *arena)
{
    tg_json_out out;
    begin_action(&out, buf, "add");
    put_path(&out, add->encoded_path, add->path, arena);
    put_partition_values(&out, keys, key_count, add->partition_values);
    tg_json_ki64(&out, "size", add->size_bytes);
    tg_json_ki64(&out, "modificationTime", add->modification_time_ms);
    tg_json_kbool(&out, "dataChange", add->data_change);
    if (add->stats.len) {
        tg_json_kstr(&out, "stats", add->stats);
    }
    put_dv(&out, add->dv);
    end_action(&out);
}

static void put_remove(tg_buf *buf, const tg_delta_remove *remove, const tg_delta_attempt *attempt,
                       const tg_str *keys, tg_arena *arena)
{
    tg_json_out out;
    bool is_extended = remove->size_bytes >= 0 &&
                       (remove->partition_values || !attempt->metadata->partition_count);
    begin_action(&out, buf, "remove");
    put_path(&out, remove->encoded_path, remove->path, arena);
    tg_json_ki64(&out, "deletionTimestamp",
                 remove->deletion_timestamp_ms ? remove->deletion_timestamp_ms : attempt->now_ms);
    tg_json_kbool(&out, "dataChange", remove->data_change);
    if (is_extended) {
        tg_json_kbool(&out, "extendedFileMetadata", true);
        put_partition_values(&out, keys, attempt->metadata->partition_count,
                             remove->partition_values);
        tg_json_ki64(&out, "size", remove->size_bytes);
    }
    if (remove->stats.len) {
        tg_json_kstr(&out, "stats", remove->stats);
    }
    put_dv(&out, remove->dv);
    end_action(&out);
}

static void put_txn(tg_buf *buf, const tg_delta_txn *txn, int64_t now_ms)
{
    tg_json_out out;
    begin_action(&out, buf, "txn");
    tg_json_kstr(&out, "appId", txn->app_id);
    tg_json_ki64(&out, "version", txn->version);
    tg_json_ki64(&out, "lastUpdated", now_ms);
    end_action(&out);
}

tg_str tg_delta_change_text(const tg_delta_change *change, const tg_delta_attempt *attempt,
                            tg_arena *arena)
{
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    const tg_str *keys = tg_delta_partition_keys(arena, attempt->metadata);
    put_info(&buf, change, attempt);
    if (change->protocol) {
        put_protocol(&buf, change->protocol);
    }
    if (change->metadata) {
        put_metadata(&buf, change->metadata, arena);
    }
    for (size_t i = 0; i < change->txn_count; i++) {
        put_txn(&buf, &change->txns[i], attempt->now_ms);
    }
    for (size_t i = 0; i < change->remove_count; i++) {
        put_remove(&buf, &change->removes[i], attempt, keys, arena);
    }
    for (size_t i = 0; i < change->add_count; i++) {
        put_add(&buf, &change->adds[i], keys, attempt->metadata->partition_count, arena);
    }
    return tg_buf_take(&buf, arena);
}
