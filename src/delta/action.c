/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of a Delta log: an object with one member, the action (Delta protocol, "Actions").
 *
 * Unknown actions and members are passed over, as the protocol asks. What is known must have its
 * type: a wrong value here would be a wrong table. A key that appears twice is refused, because
 * readers differ in which one they take. Errors are bare reasons ("add: size is not an integer");
 * who knows the file and the line puts them around.
 */
#include <yyjson.h>

#include "delta/delta_int.h"

/* Above this many members a map finds duplicates, below it comparing pairs is faster. */
enum { PAIRWISE_MEMBERS = 24 };

static const struct {
    const char *name;
    int kind;
} action_names[] = {
    {"add", TG_ACTION_ADD},
    {"remove", TG_ACTION_REMOVE},
    {"cdc", TG_ACTION_CDC},
    {"txn", TG_ACTION_TXN},
    {"metaData", TG_ACTION_METADATA},
    {"protocol", TG_ACTION_PROTOCOL},
    {"commitInfo", TG_ACTION_COMMIT_INFO},
    {"domainMetadata", TG_ACTION_DOMAIN},
    {"sidecar", TG_ACTION_SIDECAR},
};
enum { ACTION_COUNT = sizeof(action_names) / sizeof(action_names[0]) };

/* ---- reading members ------------------------------------------------------------------------- */

static bool is_absent(yyjson_val *val)
{
    return !val || yyjson_is_null(val);
}

static tg_code duplicate(const char *what, tg_str key, tg_error *err)
{
    TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: key \"%.*s\" appears twice", what, TG_SARG(key));
}

static tg_code check_object(yyjson_val *object, const char *what, tg_error *err)
{
    if (!yyjson_is_obj(object)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s is not an object", what);
    }
    size_t count = yyjson_obj_size(object);
    size_t index, max;
    yyjson_val *key, *val;
    if (count <= PAIRWISE_MEMBERS) {
        tg_str seen[PAIRWISE_MEMBERS];
        yyjson_obj_foreach(object, index, max, key, val)
        {
            seen[index] = tg_json_text(key);
            for (size_t i = 0; i < index; i++) {
                if (tg_str_eq(seen[i], seen[index])) {
                    return duplicate(what, seen[i], err);
                }
            }
        }
        return TG_OK;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_map seen;
    tg_map_init(&seen, scratch);
    yyjson_obj_foreach(object, index, max, key, val)
    {
        if (tg_map_has(&seen, tg_json_text(key))) {
            return duplicate(what, tg_json_text(key), err);
        }
        (void)tg_map_put(&seen, tg_json_text(key), object);
    }
    return TG_OK;
}

typedef enum presence { OPTIONAL, REQUIRED } presence;

static tg_code get_member(yyjson_val *object, const char *what, const char *key, presence need,
                          yyjson_val **out, tg_error *err)
{
    yyjson_val *val = yyjson_obj_get(object, key);
    *out = is_absent(val) ? NULL : val;
    if (!*out && need == REQUIRED) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s is missing", what, key);
    }
    return TG_OK;
}

/* Each getter leaves *out as it is when the member is absent. */
static tg_code get_str(yyjson_val *object, const char *what, const char *key, presence need,
                       tg_str *out, tg_error *err)
{
    yyjson_val *val;
    TG_TRY(get_member(object, what, key, need, &val, err));
    if (val && !yyjson_is_str(val)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s is not a string", what, key);
    }
    if (val) {
        *out = tg_json_text(val);
    }
    return TG_OK;
}

static tg_code get_i64(yyjson_val *object, const char *what, const char *key, presence need,
                       int64_t *out, tg_error *err)
{
    yyjson_val *val;
    TG_TRY(get_member(object, what, key, need, &val, err));
    if (val && !tg_json_to_i64(val, out)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s is not an integer of 64 bits", what, key);
    }
    return TG_OK;
}

static tg_code get_bool(yyjson_val *object, const char *what, const char *key, presence need,
                        bool *out, tg_error *err)
{
    yyjson_val *val;
    TG_TRY(get_member(object, what, key, need, &val, err));
    if (val && !yyjson_is_bool(val)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s is not true or false", what, key);
    }
    if (val) {
        *out = yyjson_get_bool(val);
    }
    return TG_OK;
}

/* An object whose values are strings or null. */
static tg_code get_pairs(yyjson_val *object, const char *what, const char *key, presence need,
                         tg_arena *arena, const tg_delta_pair **out, size_t *out_count,
                         bool *out_has, tg_error *err)
{
    yyjson_val *map;
    TG_TRY(get_member(object, what, key, need, &map, err));
    *out_has = map != NULL;
    *out_count = 0;
    if (!map) {
        return TG_OK;
    }
    TG_TRY(check_object(map, key, err));
    tg_delta_pair *pairs = TG_NEW_ARRAY(arena, tg_delta_pair, yyjson_obj_size(map));
    size_t index, max;
    yyjson_val *name, *val;
    yyjson_obj_foreach(map, index, max, name, val)
    {
        if (!yyjson_is_str(val) && !yyjson_is_null(val)) {
            TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                    "%s: %s: the value of \"%.*s\" is not a string", what, key,
                    TG_SARG(tg_json_text(name)));
        }
        pairs[index].key = tg_json_text(name);
        pairs[index].value.is_null = yyjson_is_null(val);
        pairs[index].value.text = tg_json_text(val);
    }
    *out = pairs;
    *out_count = max;
    return TG_OK;
}

static tg_code get_strs(yyjson_val *object, const char *what, const char *key, presence need,
                        tg_arena *arena, const tg_str **out, size_t *out_count, tg_error *err)
{
    yyjson_val *list;
    TG_TRY(get_member(object, what, key, need, &list, err));
    *out_count = 0;
    if (!list) {
        return TG_OK;
    }
    if (!yyjson_is_arr(list)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s is not a list", what, key);
    }
    tg_str *texts = TG_NEW_ARRAY(arena, tg_str, yyjson_arr_size(list));
    size_t index, max;
    yyjson_val *val;
    yyjson_arr_foreach(list, index, max, val)
    {
        if (!yyjson_is_str(val)) {
            TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: %s holds something that is not a string",
                    what, key);
        }
        texts[index] = tg_json_text(val);
    }
    *out = texts;
    *out_count = max;
    return TG_OK;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Has the path a part that is empty, "." or ".."? */
static bool needs_normalizing(tg_str path)
{
    const char *end = path.ptr + path.len;
    const char *part = path.ptr;
    while (part < end) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        size_t len = (size_t)((slash ? slash : end) - part);
        bool is_root = part == path.ptr && slash == part;
        if ((len == 0 && !is_root) || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.')) {
            return true;
        }
        part += len + 1;
    }
    return false;
}

bool tg_delta_path_decode(tg_str encoded, tg_str table_path, tg_arena *arena, tg_str *out_path)
{
    tg_str rest = encoded;
    if (tg_str_starts(encoded, TG_S("file:"))) {
        rest = tg_str_sub(encoded, 5, encoded.len);
        if (tg_str_starts(rest, TG_S("//"))) {
            /* file://host/path: the host is empty or this machine. */
            size_t slash = tg_str_find(rest, TG_S("/"), 2);
            rest = slash == SIZE_MAX ? TG_S("") : tg_str_sub(rest, slash, rest.len);
        }
        if (!tg_path_is_absolute(rest)) {
            return false;
        }
    }
    tg_str path = rest;
    if (memchr(rest.ptr, '%', rest.len) && !tg_uri_decode(arena, rest, &path)) {
        return false;
    }
    if (!path.len) {
        return false;
    }
    if (tg_path_is_absolute(path)) {
        path = needs_normalizing(path) ? tg_path_normalize(arena, path) : path;
        tg_str inside;
        if (tg_path_relative(table_path, path, &inside) && inside.len) {
            path = inside;
        }
    } else if (needs_normalizing(path) && !tg_path_has_scheme(encoded)) {
        path = tg_path_normalize(arena, path);
    }
    *out_path = path;
    return true;
}

/* ---- actions --------------------------------------------------------------------------------- */

/*
 * Some checkpoints hold a vector without any member where there is none: that is none. What a vector
 * needs to be read is asked for by who reads it (tg_delta_dv_load): a tombstone's never is.
 */
static tg_code parse_dv(yyjson_val *object, const char *what, tg_arena *arena,
                        tg_delta_file_action *file, tg_error *err)
{
    yyjson_val *val, *storage;
    TG_TRY(get_member(object, what, "deletionVector", OPTIONAL, &val, err));
    file->dv_id = TG_S("");
    if (!val) {
        return TG_OK;
    }
    TG_TRY(check_object(val, "deletionVector", err));
    TG_TRY(get_member(val, "deletionVector", "storageType", OPTIONAL, &storage, err));
    if (!storage && is_absent(yyjson_obj_get(val, "pathOrInlineDv"))) {
        return TG_OK;
    }
    tg_str type = {0};
    tg_delta_dv dv = {.offset = -1, .size_bytes = -1, .cardinality = -1};
    TG_TRY(get_str(val, "deletionVector", "storageType", REQUIRED, &type, err));
    TG_TRY(get_str(val, "deletionVector", "pathOrInlineDv", REQUIRED, &dv.text, err));
    TG_TRY(get_i64(val, "deletionVector", "offset", OPTIONAL, &dv.offset, err));
    TG_TRY(get_i64(val, "deletionVector", "sizeInBytes", OPTIONAL, &dv.size_bytes, err));
    TG_TRY(get_i64(val, "deletionVector", "cardinality", OPTIONAL, &dv.cardinality, err));
    if (type.len != 1 || !strchr("uip", type.ptr[0])) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                "deletionVector: storageType \"%.*s\" is not known", TG_SARG(type));
    }
    dv.storage = type.ptr[0];
    tg_delta_dv *kept = TG_NEW(arena, tg_delta_dv);
    *kept = dv;
    file->dv = kept;
    file->dv_id = tg_delta_dv_id(kept, arena);
    return TG_OK;
}

static tg_code parse_file(yyjson_val *object, int kind, tg_str table_path, tg_arena *arena,
                          tg_delta_file_action *out, tg_error *err)
{
    const char *what = kind == TG_ACTION_ADD ? "add" : kind == TG_ACTION_REMOVE ? "remove" : "cdc";
    presence in_adds = kind == TG_ACTION_ADD ? REQUIRED : OPTIONAL;
    tg_delta_file_action file = {.size_bytes = -1, .stats = TG_S("")};
    TG_TRY(get_str(object, what, "path", REQUIRED, &file.encoded_path, err));
    if (!tg_delta_path_decode(file.encoded_path, table_path, arena, &file.path)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: path \"%.*s\" is not a valid URI path", what,
                TG_SARG(file.encoded_path));
    }
    TG_TRY(get_pairs(object, what, "partitionValues", OPTIONAL, arena, &file.partition_values,
                     &file.partition_value_count, &file.has_partition_values, err));
    TG_TRY(get_i64(object, what, "size", in_adds, &file.size_bytes, err));
    if (file.size_bytes < -1 || (kind == TG_ACTION_ADD && file.size_bytes < 0)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "%s: size is negative", what);
    }
    TG_TRY(get_i64(object, what,
                   kind == TG_ACTION_REMOVE ? "deletionTimestamp" : "modificationTime", OPTIONAL,
                   &file.time_ms, err));
    /* Absent: a change, the safe reading. */
    file.data_change = kind != TG_ACTION_CDC;
    TG_TRY(get_bool(object, what, "dataChange", in_adds, &file.data_change, err));
    TG_TRY(get_str(object, what, "stats", OPTIONAL, &file.stats, err));
    TG_TRY(parse_dv(object, what, arena, &file, err));
    *out = file;
    return TG_OK;
}

static tg_code parse_metadata(yyjson_val *object, tg_arena *arena, tg_delta_metadata *out,
                              tg_error *err)
{
    tg_delta_metadata metadata = {
        .name = TG_S(""), .description = TG_S(""), .schema_string = TG_S("")};
    const tg_delta_pair *pairs = NULL;
    bool has_pairs;
    yyjson_val *format;
    TG_TRY(get_str(object, "metaData", "id", REQUIRED, &metadata.id, err));
    TG_TRY(get_str(object, "metaData", "name", OPTIONAL, &metadata.name, err));
    TG_TRY(get_str(object, "metaData", "description", OPTIONAL, &metadata.description, err));
    TG_TRY(get_str(object, "metaData", "schemaString", OPTIONAL, &metadata.schema_string, err));
    TG_TRY(get_i64(object, "metaData", "createdTime", OPTIONAL, &metadata.created_time_ms, err));
    TG_TRY(get_strs(object, "metaData", "partitionColumns", OPTIONAL, arena,
                    &metadata.partition_columns, &metadata.partition_count, err));
    TG_TRY(get_pairs(object, "metaData", "configuration", OPTIONAL, arena, &pairs,
                     &metadata.config_count, &has_pairs, err));
    tg_str *keys = TG_NEW_ARRAY(arena, tg_str, metadata.config_count);
    tg_str *values = TG_NEW_ARRAY(arena, tg_str, metadata.config_count);
    for (size_t i = 0; i < metadata.config_count; i++) {
        keys[i] = pairs[i].key;
        values[i] = pairs[i].value.text;
    }
    metadata.config_keys = keys;
    metadata.config_values = values;
    TG_TRY(get_member(object, "metaData", "format", OPTIONAL, &format, err));
    tg_str provider = TG_S("parquet");
    if (format) {
        TG_TRY(check_object(format, "format", err));
        TG_TRY(get_str(format, "format", "provider", OPTIONAL, &provider, err));
    }
    if (!tg_str_ieq(provider, TG_S("parquet"))) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                "metaData: data files of the format \"%.*s\" are not known", TG_SARG(provider));
    }
    *out = metadata;
    return TG_OK;
}

static tg_code parse_protocol(yyjson_val *object, tg_arena *arena, tg_delta_protocol *out,
                              tg_error *err)
{
    tg_delta_protocol protocol = {0};
    int64_t reader = 0;
    int64_t writer = 0;
    TG_TRY(get_i64(object, "protocol", "minReaderVersion", REQUIRED, &reader, err));
    TG_TRY(get_i64(object, "protocol", "minWriterVersion", REQUIRED, &writer, err));
    if (reader < 1 || writer < 1 || reader > INT32_MAX || writer > INT32_MAX) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "protocol: %lld, %lld are not versions",
                (long long)reader, (long long)writer);
    }
    protocol.min_reader_version = (int)reader;
    protocol.min_writer_version = (int)writer;
    TG_TRY(get_strs(object, "protocol", "readerFeatures", reader == 3 ? REQUIRED : OPTIONAL, arena,
                    &protocol.reader_features, &protocol.reader_feature_count, err));
    TG_TRY(get_strs(object, "protocol", "writerFeatures", writer == 7 ? REQUIRED : OPTIONAL, arena,
                    &protocol.writer_features, &protocol.writer_feature_count, err));
    *out = protocol;
    return TG_OK;
}

/* yyjson's allocator over an arena. */
static void *arena_malloc(void *arena, size_t size_bytes)
{
    return tg_arena_alloc(arena, size_bytes);
}

static void *arena_realloc(void *arena, void *old, size_t old_bytes, size_t new_bytes)
{
    return tg_arena_realloc(arena, old, old_bytes, new_bytes);
}

static void arena_free(void *arena, void *bytes)
{
    (void)arena;
    (void)bytes;
}

static tg_code parse_info(yyjson_val *object, tg_arena *arena, tg_delta_info *out, tg_error *err)
{
    const yyjson_alc allocator = {arena_malloc, arena_realloc, arena_free, arena};
    size_t len = 0;
    tg_delta_info info = {.user_metadata = TG_S(""), .operation = TG_S(""), .txn_id = TG_S("")};
    info.in_commit_ms = tg_json_get_i64(object, "inCommitTimestamp", -1);
    char *text = yyjson_val_write_opts(object, YYJSON_WRITE_NOFLAG, &allocator, &len, NULL);
    if (!text) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "commitInfo holds a number that is not finite");
    }
    info.json = (tg_str){text, len};
    /* Free-form: a member of another type is somebody else's. */
    info.user_metadata = tg_json_get_str(object, "userMetadata", TG_S(""));
    info.operation = tg_json_get_str(object, "operation", TG_S(""));
    info.txn_id = tg_json_get_str(object, "txnId", TG_S(""));
    *out = info;
    return TG_OK;
}

static tg_code parse_body(yyjson_val *body, tg_str table_path, tg_arena *arena,
                          tg_delta_action *out, tg_error *err)
{
    switch (out->kind) {
    case TG_ACTION_ADD:
    case TG_ACTION_REMOVE:
    case TG_ACTION_CDC:
        return parse_file(body, out->kind, table_path, arena, &out->file, err);
    case TG_ACTION_TXN:
        TG_TRY(get_str(body, "txn", "appId", REQUIRED, &out->txn.app_id, err));
        return get_i64(body, "txn", "version", REQUIRED, &out->txn.version, err);
    case TG_ACTION_METADATA:
        return parse_metadata(body, arena, &out->metadata, err);
    case TG_ACTION_PROTOCOL:
        return parse_protocol(body, arena, &out->protocol, err);
    case TG_ACTION_COMMIT_INFO:
        return parse_info(body, arena, &out->info, err);
    case TG_ACTION_DOMAIN:
        TG_TRY(get_str(body, "domainMetadata", "domain", REQUIRED, &out->domain, err));
        return get_bool(body, "domainMetadata", "removed", OPTIONAL, &out->domain_is_removed, err);
    case TG_ACTION_SIDECAR:
        return get_str(body, "sidecar", "path", REQUIRED, &out->sidecar, err);
    default:
        return TG_OK;
    }
}

/* {"add":{... : the kind is plain to see, and nearly all lines look like this. 0: look closer. */
static int kind_at_first_sight(tg_str line)
{
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        size_t len = strlen(action_names[i].name);
        if (line.len > len + 4 && line.ptr[0] == '{' && line.ptr[1] == '"' &&
            memcmp(line.ptr + 2, action_names[i].name, len) == 0 && line.ptr[len + 2] == '"' &&
            line.ptr[len + 3] == ':') {
            return action_names[i].kind;
        }
    }
    return 0;
}

tg_code tg_delta_action_parse(tg_str line, int wanted, tg_str table_path, tg_arena *arena,
                              tg_delta_action *out, tg_error *err)
{
    tg_delta_action action = {.line = line};
    int glance = kind_at_first_sight(line);
    if (glance && !(glance & wanted)) {
        *out = action;
        return TG_OK;
    }
    if (line.len > TG_LIMIT_LOG_LINE_BYTES) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "the line has more than %d bytes",
                TG_LIMIT_LOG_LINE_BYTES);
    }
    yyjson_val *root;
    TG_TRY(tg_json_parse(line, 0, arena, &root, err));
    TG_TRY(check_object(root, "the line", err));
    yyjson_val *body = NULL;
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        yyjson_val *val = yyjson_obj_get(root, action_names[i].name);
        if (is_absent(val)) {
            continue;
        }
        if (body) {
            TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "the line holds two actions");
        }
        body = val;
        action.kind = action_names[i].kind;
        TG_TRY(check_object(val, action_names[i].name, err));
    }
    if (!(action.kind & wanted)) {
        action.kind = 0;
        *out = action;
        return TG_OK;
    }
    TG_TRY(parse_body(body, table_path, arena, &action, err));
    *out = action;
    return TG_OK;
}

/* ---- keeping --------------------------------------------------------------------------------- */

static const tg_str *copy_strs(tg_arena *arena, const tg_str *texts, size_t count)
{
    tg_str *copy = TG_NEW_ARRAY(arena, tg_str, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = tg_str_copy(arena, texts[i]);
    }
    return copy;
}

tg_delta_metadata tg_delta_metadata_copy(tg_arena *arena, const tg_delta_metadata *metadata)
{
    return (tg_delta_metadata){
        .id = tg_str_copy(arena, metadata->id),
        .name = tg_str_copy(arena, metadata->name),
        .description = tg_str_copy(arena, metadata->description),
        .schema_string = tg_str_copy(arena, metadata->schema_string),
        .schema = metadata->schema.count ? tg_schema_copy(arena, metadata->schema) : (tg_schema){0},
        .physical =
            metadata->physical.count ? tg_schema_copy(arena, metadata->physical) : (tg_schema){0},
        .partition_columns =
            copy_strs(arena, metadata->partition_columns, metadata->partition_count),
        .partition_count = metadata->partition_count,
        .config_keys = copy_strs(arena, metadata->config_keys, metadata->config_count),
        .config_values = copy_strs(arena, metadata->config_values, metadata->config_count),
        .config_count = metadata->config_count,
        .created_time_ms = metadata->created_time_ms,
    };
}

tg_delta_protocol tg_delta_protocol_copy(tg_arena *arena, const tg_delta_protocol *protocol)
{
    tg_delta_protocol copy = *protocol;
    copy.reader_features =
        copy_strs(arena, protocol->reader_features, protocol->reader_feature_count);
    copy.writer_features =
        copy_strs(arena, protocol->writer_features, protocol->writer_feature_count);
    return copy;
}

static const tg_delta_pair *find_pair(const tg_delta_pair *pairs, size_t count, tg_str key)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(pairs[i].key, key)) {
            return &pairs[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (tg_str_ieq(pairs[i].key, key)) {
            return &pairs[i];
        }
    }
    return NULL;
}

const tg_delta_partition_value *tg_delta_partition_order(const tg_delta_pair *pairs,
                                                         size_t pair_count, const tg_str *columns,
                                                         size_t column_count, tg_arena *arena)
{
    tg_delta_partition_value *values = TG_NEW_ARRAY(arena, tg_delta_partition_value, column_count);
    for (size_t i = 0; i < column_count; i++) {
        const tg_delta_pair *pair = find_pair(pairs, pair_count, columns[i]);
        /* "" stands for NULL too (Delta protocol, "Partition Value Serialization"). */
        values[i].is_null = !pair || pair->value.is_null || !pair->value.text.len;
        values[i].text = values[i].is_null ? TG_S("") : tg_str_copy(arena, pair->value.text);
    }
    return values;
}

tg_code tg_delta_metadata_set_schema(tg_delta_metadata *metadata, tg_str table_path,
                                     tg_arena *arena, tg_error *err)
{
    if (!metadata->schema_string.len) {
        TG_FAIL(err, DELTA_SCHEMA_NOT_SET, "Delta table `%.*s` has no schema in its log",
                TG_SARG(table_path));
    }
    TG_TRY_CTX(tg_schema_from_json(metadata->schema_string, arena, &metadata->schema, err), err,
               "while reading the schema of Delta table '%.*s'", TG_SARG(table_path));
    for (size_t i = 0; i < metadata->partition_count; i++) {
        if (tg_schema_find(metadata->schema, metadata->partition_columns[i]) < 0) {
            TG_FAIL(err, DELTA_PARTITION_COLUMN_NOT_FOUND,
                    "partition column `%.*s` of Delta table `%.*s` is not in its schema",
                    TG_SARG(metadata->partition_columns[i]), TG_SARG(table_path));
        }
    }
    TG_TRY(tg_delta_mapping_check(table_path, metadata, err));
    TG_TRY(tg_delta_type_changes_check(table_path, metadata, err));
    tg_delta_mapping_set_physical(metadata, arena);
    return TG_OK;
}
