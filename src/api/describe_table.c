/* SPDX-License-Identifier: Apache-2.0 */
/* DESCRIBE DETAIL, DESCRIBE HISTORY and SHOW PARTITIONS, with Spark's columns. */
#include <yyjson.h>

#include "api/api_int.h"

typedef TG_VEC(tg_value) cells;

static const tg_type *texts_type(tg_arena *arena)
{
    return tg_type_array(arena, tg_type_of(TG_TYPE_STRING), true);
}

static const tg_type *map_type(tg_arena *arena)
{
    return tg_type_map(arena, tg_type_of(TG_TYPE_STRING), tg_type_of(TG_TYPE_STRING), true);
}

static tg_value text_or_null(tg_str text)
{
    return text.len ? tg_string_value(text) : tg_value_null(tg_type_of(TG_TYPE_STRING));
}

static tg_value bigint(int64_t value)
{
    return tg_value_int(tg_type_of(TG_TYPE_BIGINT), value);
}

static tg_value instant(int64_t ms)
{
    const tg_type *type = tg_type_of(TG_TYPE_TIMESTAMP);
    int64_t us;
    return ms < 0 || __builtin_mul_overflow(ms, 1000, &us) ? tg_value_null(type)
                                                           : tg_value_int(type, us);
}

static tg_value texts(tg_arena *arena, const tg_str *items, size_t count)
{
    tg_value *values = TG_NEW_ARRAY(arena, tg_value, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = tg_string_value(items[i]);
    }
    return tg_nested_value(texts_type(arena), values, count);
}

/* The Delta table of the statement; found: its facts. */
static tg_code find_table(tg_execution *ex, const void *can_be_asked, tg_location *out_location,
                          tg_table_facts *out_facts, tg_error *err)
{
    const tg_name *name = &ex->stmt->name;
    TG_TRY(tg_execution_existing_target(ex, name, out_location, out_facts, err));
    if (!can_be_asked) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "the engine %s does not tell this of tables",
                ex->api->engine->name);
    }
    return TG_OK;
}

static void set_row_type(tg_execution *ex, const char *const *names, const tg_type *const *types,
                         size_t count, const cells *list)
{
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (tg_field){.name = tg_str_from(names[i]), .type = types[i], .nullable = true};
    }
    ex->result->schema = (tg_schema){.fields = fields, .count = count};
    ex->result->values = list->items;
    ex->result->row_count = count ? list->count / count : 0;
}

/* ---- DETAIL ---------------------------------------------------------------------------------- */

tg_code tg_api_describe_detail(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"format",
                                        "id",
                                        "name",
                                        "description",
                                        "location",
                                        "createdAt",
                                        "lastModified",
                                        "partitionColumns",
                                        "clusteringColumns",
                                        "numFiles",
                                        "sizeInBytes",
                                        "properties",
                                        "minReaderVersion",
                                        "minWriterVersion",
                                        "tableFeatures"};
    enum { COUNT = sizeof(NAMES) / sizeof(*NAMES) };
    tg_engine *engine = ex->api->engine;
    tg_location location;
    tg_table_facts facts;
    tg_table_detail detail;
    TG_TRY(find_table(ex, (const void *)(uintptr_t)engine->detail, &location, &facts, err));
    TG_TRY(engine->detail(engine->self, location.path, ex->arena, &detail, err));
    tg_value *pairs = TG_NEW_ARRAY(ex->arena, tg_value, 2 * detail.property_count);
    for (size_t i = 0; i < detail.property_count; i++) {
        pairs[2 * i] = tg_string_value(detail.properties[i].key);
        pairs[2 * i + 1] = tg_string_value(detail.properties[i].value);
    }
    const tg_str *clustering;
    size_t clustering_count;
    tg_program_clustering(detail.properties, detail.property_count, ex->arena, &clustering,
                          &clustering_count);
    const tg_type *integer = tg_type_of(TG_TYPE_INT);
    tg_value *row = TG_NEW_ARRAY(ex->arena, tg_value, COUNT);
    size_t at = 0;
    row[at++] = tg_string_value(TG_S("delta"));
    row[at++] = tg_string_value(detail.table_id);
    row[at++] = text_or_null(location.is_managed ? location.full_name : detail.name);
    row[at++] = text_or_null(detail.comment);
    row[at++] = tg_string_value(location.path);
    row[at++] = instant(detail.created_ms);
    row[at++] = instant(detail.modified_ms);
    row[at++] = texts(ex->arena, detail.partition_columns, detail.partition_count);
    row[at++] = texts(ex->arena, clustering, clustering_count);
    row[at++] = bigint(detail.file_count);
    row[at++] = bigint(detail.bytes);
    row[at++] = tg_nested_value(map_type(ex->arena), pairs, 2 * detail.property_count);
    row[at++] = tg_value_int(integer, detail.min_reader_version);
    row[at++] = tg_value_int(integer, detail.min_writer_version);
    row[at++] = texts(ex->arena, detail.features, detail.feature_count);
    const tg_type *types[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        types[i] = row[i].type;
    }
    const cells list = {.items = row, .count = COUNT};
    set_row_type(ex, NAMES, types, COUNT, &list);
    return TG_OK;
}

/* ---- HISTORY --------------------------------------------------------------------------------- */

/* A member as text: strings as they are, all else as JSON, as Spark shows parameters. */
static tg_value member_text(tg_arena *arena, yyjson_val *value)
{
    if (!value || yyjson_is_null(value)) {
        return tg_value_null(tg_type_of(TG_TYPE_STRING));
    }
    if (yyjson_is_str(value)) {
        return tg_string_value(tg_str_copy(arena, tg_json_text(value)));
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_add_value(&text, value);
    return tg_string_value(tg_buf_take(&text, arena));
}

static tg_value member_map(tg_arena *arena, yyjson_val *object)
{
    const tg_type *type = map_type(arena);
    if (!yyjson_is_obj(object)) {
        return tg_value_null(type);
    }
    cells pairs = {0};
    size_t i, count;
    yyjson_val *key, *value;
    yyjson_obj_foreach(object, i, count, key, value)
    {
        TG_VEC_PUSH(arena, &pairs, tg_string_value(tg_str_copy(arena, tg_json_text(key))));
        TG_VEC_PUSH(arena, &pairs, member_text(arena, value));
    }
    return tg_nested_value(type, pairs.items, pairs.count);
}

static const tg_type *struct_of_texts(tg_arena *arena, const char *const *names, size_t count)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (tg_field){
            .name = tg_str_from(names[i]), .type = tg_type_of(TG_TYPE_STRING), .nullable = true};
    }
    return tg_type_struct(arena, fields, count);
}

static tg_value member_struct(tg_arena *arena, yyjson_val *object, const char *const *names,
                              size_t count)
{
    const tg_type *type = struct_of_texts(arena, names, count);
    if (!yyjson_is_obj(object)) {
        return tg_value_null(type);
    }
    tg_value *values = TG_NEW_ARRAY(arena, tg_value, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = member_text(arena, tg_json_get(object, names[i]));
    }
    return tg_nested_value(type, values, count);
}

static void add_history_row(tg_execution *ex, const tg_history_entry *entry, cells *list)
{
    static const char *const JOB[] = {"jobId", "jobName",    "jobRunId",
                                      "runId", "jobOwnerId", "triggerType"};
    static const char *const NOTEBOOK[] = {"notebookId"};
    tg_arena *arena = ex->arena;
    yyjson_val *info = NULL;
    if (entry->info.len && tg_json_parse(entry->info, 0, arena, &info, NULL) != TG_OK) {
        info = NULL; /* the replay took it for an object: cannot be */
    }
    int64_t read_version;
    yyjson_val *blind = tg_json_get(info, "isBlindAppend");
    bool has_read_version = tg_json_to_i64(tg_json_get(info, "readVersion"), &read_version);
    const tg_value row[] = {
        bigint(entry->version),
        instant(entry->timestamp_ms),
        member_text(arena, tg_json_get(info, "userId")),
        member_text(arena, tg_json_get(info, "userName")),
        member_text(arena, tg_json_get(info, "operation")),
        member_map(arena, tg_json_get(info, "operationParameters")),
        member_struct(arena, tg_json_get(info, "job"), JOB, sizeof(JOB) / sizeof(*JOB)),
        member_struct(arena, tg_json_get(info, "notebook"), NOTEBOOK, 1),
        member_text(arena, tg_json_get(info, "clusterId")),
        has_read_version ? bigint(read_version) : tg_value_null(tg_type_of(TG_TYPE_BIGINT)),
        member_text(arena, tg_json_get(info, "isolationLevel")),
        yyjson_is_bool(blind) ? tg_value_bool(yyjson_get_bool(blind))
                              : tg_value_null(tg_type_of(TG_TYPE_BOOLEAN)),
        member_map(arena, tg_json_get(info, "operationMetrics")),
        member_text(arena, tg_json_get(info, "userMetadata")),
        member_text(arena, tg_json_get(info, "engineInfo")),
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        TG_VEC_PUSH(arena, list, row[i]);
    }
}

tg_code tg_api_describe_history(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"version",
                                        "timestamp",
                                        "userId",
                                        "userName",
                                        "operation",
                                        "operationParameters",
                                        "job",
                                        "notebook",
                                        "clusterId",
                                        "readVersion",
                                        "isolationLevel",
                                        "isBlindAppend",
                                        "operationMetrics",
                                        "userMetadata",
                                        "engineInfo"};
    enum { COUNT = sizeof(NAMES) / sizeof(*NAMES) };
    tg_engine *engine = ex->api->engine;
    tg_location location;
    tg_table_facts facts;
    tg_history_entry *entries;
    size_t count;
    cells list = {0};
    int64_t limit = ex->stmt->command ? ex->stmt->command->limit : -1;
    TG_TRY(find_table(ex, (const void *)(uintptr_t)engine->history, &location, &facts, err));
    TG_TRY(engine->history(engine->self, location.path, limit, ex->arena, &entries, &count, err));
    /* the types come from a row, so that there is one truth; an empty history has them too */
    cells sample = {0};
    add_history_row(ex, &(tg_history_entry){.timestamp_ms = -1, .info = TG_S("")}, &sample);
    const tg_type *types[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        types[i] = sample.items[i].type;
    }
    for (size_t i = 0; i < count; i++) {
        add_history_row(ex, &entries[i], &list);
    }
    set_row_type(ex, NAMES, types, COUNT, &list);
    return TG_OK;
}

/* ---- SHOW PARTITIONS ------------------------------------------------------------------------- */

/* Characters that Hive escapes in the names of partitions. */
static bool is_escaped(unsigned char c)
{
    return c < 0x20 || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c);
}

static void put_escaped(tg_buf *out, tg_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (is_escaped((unsigned char)text.ptr[i])) {
            tg_buf_addf(out, "%%%02X", (unsigned char)text.ptr[i]);
        } else {
            tg_buf_addc(out, text.ptr[i]);
        }
    }
}

static tg_str partition_text(tg_execution *ex, const tg_table_facts *facts, const tg_value *values)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < facts->partition_count; i++) {
        tg_auto_buf tg_buf value = TG_BUF_INIT;
        tg_buf_addz(&out, i ? "/" : "");
        put_escaped(&out, facts->partition_columns[i]);
        tg_buf_addc(&out, '=');
        if (tg_value_text(values[i], ex->api->zone, ex->arena, &value)) {
            put_escaped(&out, tg_buf_str(&value));
        } else {
            tg_buf_addz(&out, "__HIVE_DEFAULT_PARTITION__");
        }
    }
    return tg_buf_take(&out, ex->arena);
}

/* The values that PARTITION (...) asks for, by partition column; type NULL: any. */
static tg_code wanted_values(tg_execution *ex, const tg_table_facts *facts, tg_value **out_wanted,
                             tg_error *err)
{
    const tg_table_command *command = ex->stmt->command;
    tg_value *wanted = TG_NEW_ARRAY(ex->arena, tg_value, facts->partition_count);
    memset(wanted, 0, facts->partition_count * sizeof(*wanted));
    for (size_t i = 0; command && i < command->partition_count; i++) {
        const tg_assignment *item = &command->partition[i];
        tg_str name = item->column.parts[item->column.count - 1].text;
        size_t at = 0;
        while (at < facts->partition_count && !tg_str_ieq(facts->partition_columns[at], name)) {
            at++;
        }
        if (at == facts->partition_count || item->column.count != 1) {
            (void)TG_ERR(err, DELTA_NON_PARTITION_COLUMN_SPECIFIED,
                         "column `%.*s` is not a partition column", TG_SARG(name));
            tg_str near = tg_str_nearest(name, facts->partition_columns, facts->partition_count);
            if (near.len) {
                (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
            }
            return tg_error_at(err, item->column.span);
        }
        ptrdiff_t field = tg_schema_find(facts->schema, name);
        const tg_type *type =
            field < 0 ? tg_type_of(TG_TYPE_STRING) : facts->schema.fields[field].type;
        TG_TRY(tg_execution_constant_or_null(ex, item->value, type, "PARTITION", &wanted[at], err));
        wanted[at].type = type;
    }
    *out_wanted = wanted;
    return TG_OK;
}

static bool is_wanted(const tg_value *values, const tg_value *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].type && !tg_value_same(values[i], wanted[i])) {
            return false;
        }
    }
    return true;
}

static int compare_texts(const void *a, const void *b)
{
    return tg_str_cmp(((const tg_value *)a)->as.bytes, ((const tg_value *)b)->as.bytes);
}

tg_code tg_api_show_partitions(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"partition"};
    tg_engine *engine = ex->api->engine;
    tg_location location;
    tg_table_facts facts;
    tg_value *wanted;
    const tg_value *values;
    size_t count;
    cells list = {0};
    TG_TRY(find_table(ex, (const void *)(uintptr_t)engine->partitions, &location, &facts, err));
    if (!facts.partition_count) {
        (void)TG_ERR(err, INVALID_PARTITION_OPERATION_PARTITION_SCHEMA_IS_EMPTY,
                     "table %.*s is not partitioned", TG_SARG(location.full_name));
        return tg_error_at(err, ex->stmt->name.span);
    }
    TG_TRY(wanted_values(ex, &facts, &wanted, err));
    TG_TRY(engine->partitions(engine->self, location.path, ex->api->zone, ex->arena, &values,
                              &count, err));
    for (size_t i = 0; i < count; i++) {
        const tg_value *row = values + i * facts.partition_count;
        if (is_wanted(row, wanted, facts.partition_count)) {
            TG_VEC_PUSH(ex->arena, &list, tg_string_value(partition_text(ex, &facts, row)));
        }
    }
    if (list.count) {
        qsort(list.items, list.count, sizeof(*list.items), compare_texts);
    }
    tg_execution_set_rows(ex, NAMES, 1, list.items, list.count);
    return TG_OK;
}
