/* SPDX-License-Identifier: Apache-2.0 */
#include "delta_test.h"

#define SCHEMA                                                                                     \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":["                             \
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}" \
    "},"                                                                                           \
    "{\\\"name\\\":\\\"day\\\",\\\"type\\\":\\\"date\\\",\\\"nullable\\\":true,\\\"metadata\\\":{" \
    "}},"                                                                                          \
    "{\\\"name\\\":\\\"name\\\",\\\"type\\\":\\\"string\\\",\\\"nullable\\\":true,"                \
    "\\\"metadata\\\":{}}]}\""
#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
#define METADATA(partitions)                                                                    \
    "{\"metaData\":{\"id\":\"t1\",\"format\":{\"provider\":\"parquet\",\"options\":{}}," SCHEMA \
    ",\"partitionColumns\":[" partitions "],\"configuration\":{},\"createdTime\":1}}\n"

const char head_plain[] = PROTOCOL METADATA("");
const char head_by_day[] = PROTOCOL METADATA("\"day\"");

/* ---- Parquet that is really lines of JSON ---------------------------------------------------- */

static tg_code read_actions(void *self, const tg_str *paths, size_t path_count,
                            tg_code (*row)(void *ctx, tg_str json, tg_error *err), void *ctx,
                            tg_error *err)
{
    table *t = self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    t->parquet_reads++;
    for (size_t i = 0; i < path_count; i++) {
        tg_str text;
        TG_TRY(tg_fs_read(t->delta.fs, paths[i], 1 << 30, scratch, &text, err));
        size_t start = 0;
        while (start < text.len) {
            size_t end = tg_str_find(text, TG_S("\n"), start);
            end = end == SIZE_MAX ? text.len : end;
            TG_TRY(row(ctx, tg_str_sub(text, start, end), err));
            start = end + 1;
        }
    }
    return TG_OK;
}

static tg_code write_actions(void *self, tg_str actions_path, tg_str parquet_path, tg_error *err)
{
    table *t = self;
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_str text;
    t->parquet_writes++;
    if (t->parquet_fails) {
        TG_FAIL(err, TIDEGATE_IO, "the disk of the test is full");
    }
    TG_TRY(tg_fs_read(t->delta.fs, actions_path, 1 << 30, scratch, &text, err));
    return tg_fs_write_new(t->delta.fs, parquet_path, text, err);
}

static tg_code get_parquet(void *self, const tg_parquet **out, tg_error *err)
{
    table *t = self;
    (void)err;
    *out = &t->parquet;
    return TG_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

int table_set_up(void **state)
{
    table *t = test_malloc(sizeof(*t));
    *t = (table){.arena = tg_arena_new()};
    t->parquet =
        (tg_parquet){.self = t, .read_actions = read_actions, .write_actions = write_actions};
    t->delta = (tg_delta){
        .fs = tg_fs_local(), .env = tg_env_system(), .parquet = get_parquet, .parquet_self = t};
    t->path = tg_str_printf(t->arena, "%s/t", tg_test_folder(t->arena));
    *state = t;
    return 0;
}

int table_tear_down(void **state)
{
    table *t = *state;
    tg_arena_free(t->arena);
    test_free(t);
    return 0;
}

void table_put(table *t, const char *name, const char *text)
{
    tg_str folder = tg_delta_log_folder(t->path, t->arena);
    assert_ok(tg_fs_make_folders(t->delta.fs, folder, NULL), NULL);
    tg_str path = tg_path_join(t->arena, folder, tg_str_from(name));
    assert_ok(tg_fs_write_replace(t->delta.fs, path, tg_str_from(text), NULL), NULL);
}

void table_commit(table *t, int64_t version, const char *text)
{
    table_put(t, tg_arena_printf(t->arena, "%020lld.json", (long long)version), text);
}

void table_remove(table *t, const char *name)
{
    tg_str path = tg_path_join(t->arena, tg_delta_log_folder(t->path, t->arena), tg_str_from(name));
    assert_ok(tg_fs_remove(t->delta.fs, path, NULL), NULL);
}

const tg_delta_snapshot *table_load(table *t, int64_t version)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *snapshot = NULL;
    assert_ok(tg_delta_snapshot_load(&t->delta, t->path, version, t->arena, &snapshot, &err), &err);
    return snapshot;
}

/* ---- changes --------------------------------------------------------------------------------- */

tg_code table_create(table *t, tg_error *err)
{
    static const tg_field fields[] = {{.name = {"id", 2}, .nullable = true},
                                      {.name = {"day", 3}, .nullable = true},
                                      {.name = {"name", 4}, .nullable = true}};
    tg_field *columns = tg_arena_memdup(t->arena, fields, sizeof(fields));
    columns[0].type = tg_type_of(TG_TYPE_BIGINT);
    columns[1].type = tg_type_of(TG_TYPE_DATE);
    columns[2].type = tg_type_of(TG_TYPE_STRING);
    tg_delta_metadata metadata = {.id = TG_S("t1"), .schema = {columns, 3}, .created_time_ms = 1};
    tg_delta_protocol protocol;
    TG_TRY(tg_delta_protocol_for(metadata.schema, NULL, 0, t->arena, &protocol, err));
    tg_delta_change change = {
        .protocol = &protocol, .metadata = &metadata, .operation = TG_S("CREATE TABLE")};
    tg_delta_commit_options options = {.read_version = -1, .zone = tg_zone_utc()};
    int64_t version;
    return tg_delta_commit_change(&t->delta, t->path, &change, &options, t->arena, &version, NULL,
                                  err);
}

tg_delta_add table_add(table *t, const char *path, int64_t min_id, int64_t max_id, int64_t rows)
{
    return (tg_delta_add){
        .path = tg_str_from(path),
        .size_bytes = 100,
        .modification_time_ms = 5,
        .data_change = true,
        .stats = tg_str_printf(
            t->arena,
            "{\"numRecords\":%lld,\"minValues\":{\"id\":%lld},\"maxValues\":{\"id\":%lld},"
            "\"nullCount\":{\"id\":0}}",
            (long long)rows, (long long)min_id, (long long)max_id),
    };
}

tg_delta_remove table_remove_of(const tg_delta_snapshot *snapshot, const char *path)
{
    const tg_delta_add *file = tg_delta_snapshot_find(snapshot, tg_str_from(path));
    assert_non_null(file);
    return (tg_delta_remove){
        .path = file->path,
        .encoded_path = file->encoded_path,
        .partition_values = file->partition_values,
        .size_bytes = file->size_bytes,
        .data_change = true,
        .stats = file->stats,
    };
}

tg_code table_write(table *t, const tg_delta_snapshot *snapshot, tg_delta_change *change,
                    int64_t *out_version, tg_error *err)
{
    tg_delta_commit_options options = {
        .read_version = snapshot->version, .snapshot = snapshot, .zone = tg_zone_utc()};
    change->operation = TG_S("WRITE");
    return tg_delta_commit_change(&t->delta, t->path, change, &options, t->arena, out_version, NULL,
                                  err);
}

tg_region table_ids(table *t, int64_t low, int64_t high)
{
    const tg_type *type = tg_type_of(TG_TYPE_BIGINT);
    tg_interval interval = {.has_low = true,
                            .has_high = true,
                            .low = tg_value_int(type, low),
                            .high = tg_value_int(type, high)};
    return tg_region_interval(t->arena, TG_S("id"), type, interval);
}
