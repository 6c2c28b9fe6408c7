/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading logs that are written here by hand: what must not matter, what must be refused, and with
 * which words.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "delta_test.h"

#define ADD(path)                \
    "{\"add\":{\"path\":\"" path \
    "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n"
#define ADD_DAY(path, day)                                              \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{\"day\":" day \
    "},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n"
#define ADD_DV(path)                                                                   \
    "{\"add\":{\"path\":\"" path                                                       \
    "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true," \
    "\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"x\",\"offset\":1," \
    "\"sizeInBytes\":1,\"cardinality\":1}}}\n"
#define REMOVE(path) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":9,\"dataChange\":true}}\n"
#define TXN(app, version) "{\"txn\":{\"appId\":\"" app "\",\"version\":" version "}}\n"
#define INFO                                                                                      \
    "{\"commitInfo\":{\"timestamp\":1,\"operation\":\"WRITE\",\"userMetadata\":\"mine\",\"n\":1." \
    "50}}\n"

/* The paths of the live files, joined by blanks. */
static tg_str live(table *t, int64_t version)
{
    const tg_delta_snapshot *snapshot = table_load(t, version);
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < snapshot->file_count; i++) {
        tg_buf_addz(&text, i ? " " : "");
        tg_buf_adds(&text, snapshot->files[i].path);
    }
    return tg_buf_take(&text, t->arena);
}

/* Loading must fail with a class; the message must hold a text. */
static void refuse(table *t, int64_t version, const char *class_name, const char *text)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *snapshot;
    tg_code code = tg_delta_snapshot_load(&t->delta, t->path, version, t->arena, &snapshot, &err);
    assert_int_not_equal(code, TG_OK);
    assert_error_class(&err, class_name);
    if (!strstr(err.message, text)) {
        fail_msg("\"%s\" is not in the message: %s", text, err.message);
    }
}

static void test_replay(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    table_commit(t, 1, INFO ADD("b") ADD("a") TXN("app", "1"));
    table_commit(t, 2, REMOVE("a") ADD("c") TXN("app", "7"));
    table_commit(t, 3, "\n" ADD("a") "\r\n\n"); /* empty lines, and a file that comes back */
    assert_str(live(t, -1), "a b c");
    assert_str(live(t, 2), "b c");
    assert_str(live(t, 0), "");
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    assert_int_equal(snapshot->version, 3);
    assert_int_equal(snapshot->txn_count, 1);
    assert_int_equal(snapshot->txns[0].version, 7);
    assert_int_equal(snapshot->metadata.schema.count, 3);
    assert_int_equal(snapshot->protocol.min_writer_version, 2);
    refuse(t, 4, "DELTA_VERSION_NOT_FOUND", "no version 4");
}

static void test_not_a_table(void **state)
{
    table *t = *state;
    bool exists = true;
    assert_ok(tg_delta_exists(&t->delta, t->path, &exists, NULL), NULL);
    assert_false(exists);
    refuse(t, -1, "DELTA_TABLE_NOT_FOUND", "/t`");
    table_put(t, "note.txt", "x");
    refuse(t, -1, "DELTA_TABLE_NOT_FOUND", "_delta_log");
}

static void test_names_that_do_not_matter(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    table_commit(t, 1, ADD("a"));
    table_put(t, "_last_checkpoint", "{damaged");
    table_put(t, "00000000000000000001.crc", "{}");
    table_put(t, ".00000000000000000009.json.crc", "x");
    table_put(t, ".tmp-0000.json", "x");
    table_put(t, "00000000000000000009.json.tmp", "x");
    table_put(t, "0000000000000000009.json", "nineteen digits");
    table_put(t, "99999999999999999999.json", "beyond 64 bits");
    table_put(t, "00000000000000000000.00000000000000000001.compacted.json", "damaged");
    assert_str(live(t, -1), "a");
    table_put(t, "_last_checkpoint", "{\"version\":99,\"size\":1}"); /* stale */
    assert_str(live(t, -1), "a");
}

static void test_gaps(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    table_commit(t, 1, ADD("a"));
    table_commit(t, 3, ADD("c"));
    refuse(t, -1, "DELTA_VERSIONS_NOT_CONTIGUOUS", "lacks version 2");
    refuse(t, 2, "DELTA_VERSIONS_NOT_CONTIGUOUS", "lacks version 2");
    assert_str(live(t, 1), "a");
    table_remove(t, "00000000000000000000.json");
    refuse(t, 1, "DELTA_TRUNCATED_TRANSACTION_LOG", "begins with version 1");
}

static void test_checkpoints(void **state)
{
    table *t = *state;
    char lines[4096];
    (void)snprintf(lines, sizeof(lines), "%s%s", head_plain, ADD("a") ADD("b") TXN("old", "3"));
    table_put(t, "00000000000000000002.checkpoint.parquet", lines);
    /* Only a checkpoint is a table. */
    assert_str(live(t, -1), "a b");
    assert_int_equal(t->parquet_reads, 1);
    table_commit(t, 3, REMOVE("a"));
    table_commit(t, 4, ADD("c") TXN("new", "1"));
    assert_str(live(t, -1), "b c");
    assert_str(live(t, 3), "b");
    assert_str(live(t, 2), "a b");
    refuse(t, 1, "DELTA_VERSION_NOT_FOUND", "no longer has version 1");
    /* A damaged newer checkpoint is passed over. */
    table_put(t, "00000000000000000004.checkpoint.parquet", "{\"add\":{\"path\":1}}\n");
    assert_str(live(t, -1), "b c");
    /* Transactions: the checkpoint only when the commits do not tell. */
    bool found;
    int64_t version = 0;
    table_remove(t, "00000000000000000004.checkpoint.parquet");
    t->parquet_reads = 0;
    assert_ok(tg_delta_txn_find(&t->delta, t->path, 4, TG_S("new"), &version, &found, NULL), NULL);
    assert_true(found && version == 1);
    assert_int_equal(t->parquet_reads, 0);
    assert_ok(tg_delta_txn_find(&t->delta, t->path, 4, TG_S("old"), &version, &found, NULL), NULL);
    assert_true(found && version == 3);
    assert_int_equal(t->parquet_reads, 1);
    assert_ok(tg_delta_txn_find(&t->delta, t->path, 4, TG_S("nobody"), &version, &found, NULL),
              NULL);
    assert_false(found);
    t->delta.parquet = NULL;
    refuse(t, -1, "UNSUPPORTED_FEATURE", "no engine for Parquet");
}

static void test_small_logs_need_no_parquet(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    for (int64_t version = 1; version <= 20; version++) {
        table_commit(t, version, version == 5 ? TXN("app", "5") ADD("f5") : ADD("f"));
    }
    table_put(t, "00000000000000000010.checkpoint.parquet", "damaged\n");
    int64_t txn_version;
    bool found;
    const tg_delta_snapshot *snapshot;
    assert_str(live(t, -1), "f f5");
    assert_ok(tg_delta_txn_find(&t->delta, t->path, 20, TG_S("app"), &txn_version, &found, NULL),
              NULL);
    assert_ok(tg_delta_metadata_load(&t->delta, t->path, -1, t->arena, &snapshot, NULL), NULL);
    assert_true(found);
    assert_int_equal(t->parquet_reads, 0);
}

#define V2_NAME "00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11"
#define PART(part, parts) \
    "00000000000000000001.checkpoint.000000000" part ".000000000" parts ".parquet"

static void test_multi_part_checkpoints(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    table_commit(t, 1, ADD("a") ADD("b"));
    table_commit(t, 2, ADD("c"));
    table_put(t, PART("1", "2"), head_plain);
    table_put(t, PART("1", "3"), "damaged");
    table_put(t, PART("3", "2"), "no part at all");
    assert_str(live(t, -1), "a b c"); /* the commits say all */
    table_remove(t, "00000000000000000000.json");
    refuse(t, -1, "DELTA_TRUNCATED_TRANSACTION_LOG", "begins with version 1");
    table_put(t, PART("2", "2"), ADD("a") ADD("b")); /* now the set is complete */
    assert_str(live(t, -1), "a b c");
    assert_str(live(t, 1), "a b");
    table_remove(t, "00000000000000000001.json");
    table_remove(t, "00000000000000000002.json");
    assert_str(live(t, -1), "a b");
}

static void test_v2_checkpoints(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    table_commit(t, 1, ADD("a"));
    table_commit(t, 2, ADD("b"));
    table_remove(t, "00000000000000000000.json");
    tg_str sidecars =
        tg_path_join(t->arena, tg_delta_log_folder(t->path, t->arena), TG_S("_sidecars"));
    assert_ok(tg_fs_make_folders(t->delta.fs, sidecars, NULL), NULL);
    /* JSON or Parquet on top, its files in it or in sidecars. */
    const char *meta = "{\"checkpointMetadata\":{\"version\":1}}\n";
    table_put(t, V2_NAME ".json", tg_arena_printf(t->arena, "%s%s%s", meta, head_plain, ADD("a")));
    assert_str(live(t, -1), "a b");
    table_put(t, "_sidecars/one.parquet", ADD("x"));
    table_put(t, "_sidecars/two 2.parquet", REMOVE("z") ADD("y"));
    const char *top = "{\"sidecar\":{\"path\":\"one.parquet\",\"sizeInBytes\":1}}\n"
                      "{\"sidecar\":{\"path\":\"two%202.parquet\",\"sizeInBytes\":1}}\n";
    top = tg_arena_printf(t->arena, "%s%s%s", meta, head_plain, top);
    table_put(t, V2_NAME ".json", top);
    assert_str(live(t, -1), "b x y");
    table_remove(t, V2_NAME ".json");
    table_put(t, V2_NAME ".parquet", top);
    assert_str(live(t, -1), "b x y");
    table_remove(t, V2_NAME ".parquet");
    table_put(t, "00000000000000000001.checkpoint.parquet", top); /* a classic name, too */
    assert_str(live(t, -1), "b x y");
    table_put(t, PART("1", "1"), tg_arena_printf(t->arena, "%s%s", head_plain, ADD("y")));
    table_remove(t, "_sidecars/one.parquet"); /* one that is damaged gives way to another */
    assert_str(live(t, -1), "b y");
    table_remove(t, PART("1", "1"));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *snapshot;
    assert_int_not_equal(tg_delta_snapshot_load(&t->delta, t->path, -1, t->arena, &snapshot, &err),
                         TG_OK);
    table_put(t, "00000000000000000001.checkpoint.parquet",
              "{\"sidecar\":{\"path\":\"s3://b/x\"}}\n");
    refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", "s3://b/x");
    table_put(t, "00000000000000000001.checkpoint.parquet", "{\"sidecar\":{}}\n");
    refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", "sidecar: path is missing");
}

static void test_damage(void **state)
{
    static const struct {
        const char *line, *text;
    } cases[] = {
        {"{\"add\":", "line 2: text is not valid JSON"},
        {"[]", "line 2: the line is not an object"},
        {"7", "line 2: the line is not an object"},
        {"{\"add\":{}}", "line 2: add: path is missing"},
        {"{\"add\":{\"path\":7}}", "add: path is not a string"},
        {"{\"add\":[]}", "add is not an object"},
        {"{\"add\":{\"path\":\"a\",\"size\":\"1\",\"dataChange\":true}}",
         "add: size is not an integer"},
        {"{\"add\":{\"path\":\"a\",\"size\":1.5,\"dataChange\":true}}",
         "add: size is not an integer"},
        {"{\"add\":{\"path\":\"a\",\"size\":99999999999999999999,\"dataChange\":true}}",
         "add: size is not an integer"},
        {"{\"add\":{\"path\":\"a\",\"size\":-1,\"dataChange\":true}}", "add: size is negative"},
        {"{\"add\":{\"path\":\"a\",\"size\":1}}", "add: dataChange is missing"},
        {"{\"add\":{\"path\":\"a\",\"size\":1,\"dataChange\":\"true\"}}",
         "add: dataChange is not true or false"},
        {"{\"add\":{\"path\":\"a\",\"path\":\"b\",\"size\":1,\"dataChange\":true}}",
         "key \"path\" appears twice"},
        {"{\"add\":{\"path\":\"a\",\"size\":1,\"dataChange\":true,\"partitionValues\":{\"d\":1}}}",
         "partitionValues: the value of \"d\""},
        {"{\"add\":{\"path\":\"a\",\"size\":1,\"dataChange\":true,\"partitionValues\":{\"d\":\"1\","
         "\"d\":\"2\"}}}",
         "\"d\" appears twice"},
        {"{\"add\":{\"path\":\"a%2\",\"size\":1,\"dataChange\":true}}", "not a valid URI path"},
        {"{\"add\":{\"path\":\"\",\"size\":1,\"dataChange\":true}}", "not a valid URI path"},
        {"{\"add\":{\"path\":\"a%00b\",\"size\":1,\"dataChange\":true}}", "not a valid URI path"},
        {"{\"add\":{\"path\":\"a\xff\",\"size\":1,\"dataChange\":true}}",
         "line 2: text is not valid JSON"},
        {"{\"txn\":{\"appId\":\"a\",\"version\":1},\"remove\":{\"path\":\"a\"}}", "two actions"},
        {"{\"txn\":{\"appId\":\"a\",\"version\":1},\"txn\":{\"appId\":\"a\",\"version\":2}}",
         "key \"txn\" appears twice"},
        {"{\"txn\":{\"appId\":\"a\"}}", "txn: version is missing"},
        {"{\"protocol\":{\"minReaderVersion\":0,\"minWriterVersion\":2}}", "not versions"},
        {"{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7}}",
         "readerFeatures is missing"},
        {"{\"metaData\":{}}", "metaData: id is missing"},
        {"{\"metaData\":{\"id\":\"x\",\"partitionColumns\":[1]}}",
         "partitionColumns holds something"},
        {"{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"orc\"}}}", "format \"orc\""},
    };
    table *t = *state;
    table_commit(t, 0, head_plain);
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        table_commit(t, 1, tg_arena_printf(t->arena, ADD("ok") "%s\n" ADD("ok2"), cases[i].line));
        refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", cases[i].text);
        refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", "00000000000000000001.json` is damaged");
    }
    table_commit(t, 1, "");
    refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", "it is empty");
    table_commit(t, 1, "\n \n");
    refuse(t, -1, "TIDEGATE_DELTA_LOG_INVALID", "it is empty");
    /* Unknown actions and members, and absent ones given as null, are no damage. */
    table_commit(t, 1,
                 "{\"checkpoint\":{\"x\":1}}\n{\"add\":null,\"txn\":{\"appId\":\"a\",\"version\":1,"
                 "\"new\":[1]}}\n" ADD("ok"));
    assert_str(live(t, -1), "ok");
}

static void test_missing_heads(void **state)
{
    table *t = *state;
    table_commit(t, 0, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n");
    refuse(t, -1, "DELTA_STATE_RECOVER_ERROR", "no metaData action");
    table_commit(t, 0,
                 "{\"metaData\":{\"id\":\"x\",\"partitionColumns\":[],\"configuration\":{}}}\n");
    refuse(t, -1, "DELTA_STATE_RECOVER_ERROR", "no protocol action");
    table_commit(t, 0,
                 "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{\"metaData\":{"
                 "\"id\":\"x\"}}\n");
    refuse(t, -1, "DELTA_SCHEMA_NOT_SET", "no schema");
}

static void put_protocol(table *t, const char *json)
{
    table_commit(t, 1, tg_arena_printf(t->arena, "{\"protocol\":%s}\n", json));
}

static void test_features(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_plain);
    put_protocol(
        t, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
           "\"rowLocks\",\"typeWidening\",\"timestampNtz\",\"brandNew\"],"
           "\"writerFeatures\":[\"rowLocks\",\"typeWidening\",\"timestampNtz\",\"brandNew\"]}");
    refuse(t, -1, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "not available yet: rowLocks, brandNew");
    put_protocol(t, "{\"minReaderVersion\":4,\"minWriterVersion\":7,\"writerFeatures\":[]}");
    refuse(t, -1, "DELTA_INVALID_PROTOCOL_VERSION", "reader version 4");
    put_protocol(
        t, "{\"minReaderVersion\":2,\"minWriterVersion\":5}"); /* column mapping is not used */
    assert_str(live(t, -1), "");
    put_protocol(t, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
                    "\"columnMapping\",\"deletionVectors\","
                    "\"v2Checkpoint\",\"vacuumProtocolCheck\"],\"writerFeatures\":[]}");
    table_commit(t, 2, ADD("a"));
    assert_str(live(t, -1), "a");
    table_commit(t, 3, REMOVE("a") ADD_DV("a"));
    assert_str(live(t, -1), "a");
    const tg_delta_dv *dv = table_load(t, -1)->files[0].dv;
    assert_int_equal(dv->storage, 'u');
    assert_int_equal(dv->cardinality, 1);
    assert_null(table_load(t, 2)->files[0].dv);
    assert_str(live(t, 2), "a");
    /* The remove names the file without vector: the one with it stays, until its own remove. */
    table_commit(t, 4, REMOVE("a"));
    assert_str(live(t, -1), "a");
    table_commit(t, 5,
                 "{\"remove\":{\"path\":\"a\",\"dataChange\":true,\"deletionVector\":{"
                 "\"storageType\":\"u\",\"pathOrInlineDv\":\"x\","
                 "\"offset\":1,\"sizeInBytes\":1,\"cardinality\":1}}}\n");
    assert_str(live(t, -1), "");
    /* A feature that we do not know explains lines that we do not know. */
    put_protocol(t, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
                    "\"brandNew\"],\"writerFeatures\":[]}");
    table_commit(t, 6, "{\"add\":{\"path\":{\"new\":1}}}\n");
    refuse(t, -1, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "brandNew");
}

static void test_paths(void **state)
{
    table *t = *state;
    char absolute[512];
    (void)snprintf(absolute, sizeof(absolute),
                   "{\"remove\":{\"path\":\"file:%.*s/in/table\",\"dataChange\":true}}\n",
                   TG_SARG(t->path));
    table_commit(t, 0, head_plain);
    table_commit(t, 1,
                 ADD("with%20space/p@%23h") ADD("%25") ADD("x=a%252Fb/f") ADD("/abs/f")
                     ADD("./rel//f") ADD("in/table") ADD("\xc3\xa9") ADD("t=1:2/f"));
    assert_str(live(t, -1), "% /abs/f in/table rel/f t=1:2/f with space/p@#h x=a%2Fb/f \xc3\xa9");
    table_commit(t, 2, REMOVE("file:/abs/f") REMOVE("rel/f") REMOVE("%74=1:2/f"));
    table_commit(t, 3, absolute);
    table_commit(t, 4, REMOVE("%C3%A9"));
    assert_str(live(t, -1), "% with space/p@#h x=a%2Fb/f");
    table_commit(t, 5, ADD("/abs/f"));
    table_commit(t, 6, REMOVE("file:///abs/f"));
    assert_str(live(t, -1), "% with space/p@#h x=a%2Fb/f");
}

static void test_partition_values(void **state)
{
    table *t = *state;
    table_commit(t, 0, head_by_day);
    table_commit(t, 1,
                 ADD_DAY("a", "\"2024-01-01\"") ADD_DAY("b", "null") ADD_DAY("c", "\"\"") ADD("d"));
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    assert_str(snapshot->files[0].partition_values[0].text, "2024-01-01");
    assert_false(snapshot->files[0].partition_values[0].is_null);
    for (size_t i = 1; i < 4; i++) {
        assert_true(snapshot->files[i].partition_values[0].is_null);
    }
}

static void test_commit_read(void **state)
{
    table *t = *state;
    const tg_delta_commit *commit;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str day = TG_S("day");
    table_commit(t, 0, head_by_day);
    table_commit(t, 1,
                 INFO TXN("app", "3") ADD_DAY("a", "\"2024-01-01\"") ADD_DAY("b", "null")
                     REMOVE("z") "{\"cdc\":{\"path\":\"c\",\"partitionValues\":{},\"size\":1,"
                                 "\"dataChange\":false}}\n");
    assert_ok(tg_delta_commit_read(&t->delta, t->path, 1, &day, 1, t->arena, &commit, &err), &err);
    assert_int_equal(commit->add_count, 2);
    assert_str(commit->adds[0].path, "a");
    assert_str(commit->adds[0].partition_values[0].text, "2024-01-01");
    assert_int_equal(commit->remove_count, 1);
    assert_null(commit->removes[0].partition_values);
    assert_int_equal(commit->removes[0].size_bytes, -1);
    assert_true(commit->has_cdc);
    assert_str(commit->user_metadata, "mine");
    assert_str(commit->operation, "WRITE");
    assert_int_equal(commit->txns[0].version, 3);
    assert_null(commit->metadata);
    assert_ok(tg_delta_commit_read(&t->delta, t->path, 0, NULL, 0, t->arena, &commit, &err), &err);
    assert_non_null(commit->metadata);
    assert_int_equal(commit->metadata->schema.count, 3);
    assert_non_null(commit->protocol);
    assert_str(commit->info, "");
    assert_int_equal(tg_delta_commit_read(&t->delta, t->path, 2, NULL, 0, t->arena, &commit, &err),
                     TG_NOT_FOUND);
    assert_error_class(&err, "DELTA_LOG_FILE_NOT_FOUND");
}

static void test_digest(void **state)
{
    table *t = *state;
    tg_digest a, b;
    table_commit(t, 0, head_plain);
    assert_ok(tg_delta_commit_digest(&t->delta, t->path, 0, &a, NULL), NULL);
    table_commit(t, 0, head_by_day);
    assert_ok(tg_delta_commit_digest(&t->delta, t->path, 0, &b, NULL), NULL);
    assert_true(a.high != b.high || a.low != b.low);
    assert_int_equal(tg_delta_commit_digest(&t->delta, t->path, 1, &b, NULL), TG_NOT_FOUND);
}

static void set_time(table *t, int64_t version, int64_t ms)
{
    tg_str path = tg_delta_commit_path(tg_delta_log_folder(t->path, t->arena), version, t->arena);
    struct timespec times[2] = {{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
                                {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, tg_str_cstr(t->arena, path), times, 0), 0);
}

static void test_times(void **state)
{
    static const struct {
        int64_t at_ms, version;
    } cases[] = {{5000, 0}, {5500, 0}, {7000, 1}, {7001, 2},
                 {7002, 3}, {8999, 3}, {9000, 4}, {99999, 4}};
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version;
    int64_t file_times[] = {5000, 7000, 7000, 6000, 9000}; /* not monotonic: 7000, 7001, 7002 */
    table_commit(t, 0, head_plain);
    for (int64_t v = 0; v < 5; v++) {
        if (v) {
            table_commit(t, v, ADD("a"));
        }
        set_time(t, v, file_times[v]);
    }
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        assert_ok(tg_delta_version_at(&t->delta, t->path, cases[i].at_ms, &version, &err), &err);
        assert_int_equal(version, cases[i].version);
    }
    assert_int_equal(tg_delta_version_at(&t->delta, t->path, 4999, &version, &err), TG_NOT_FOUND);
    assert_error_class(&err, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    tg_delta_log log;
    int64_t at_ms;
    assert_ok(tg_delta_log_list(&t->delta, t->path, t->arena, &log, &err), &err);
    assert_ok(tg_delta_log_timestamp(&log, 3, &at_ms, &err), &err);
    assert_int_equal(at_ms, 7002);
}

static void test_long_log(void **state)
{
    table *t = *state;
    tg_auto_buf tg_buf lines = TG_BUF_INIT;
    enum { FILES = 100000 };
    table_commit(t, 0, head_plain);
    for (int i = 0; i < FILES; i++) {
        tg_buf_addf(&lines,
                    "{\"add\":{\"path\":\"part-%06d.parquet\",\"partitionValues\":{},\"size\":1000,"
                    "\"modificationTime\":1,"
                    "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1000,\\\"minValues\\\":{"
                    "\\\"id\\\":%d,\\\"name\\\":\\\"aaaaaaaa\\\"},"
                    "\\\"maxValues\\\":{\\\"id\\\":%d,\\\"name\\\":\\\"zzzzzzzzzz\\\"},"
                    "\\\"nullCount\\\":{\\\"id\\\":0,\\\"name\\\":0}}\"}}\n",
                    i, i * 1000, i * 1000 + 999);
    }
    table_commit(t, 1, tg_buf_cstr(&lines));
    int64_t start = t->delta.env->monotonic_ns(t->delta.env->self);
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    print_message("snapshot of %d files: %lld ms\n", FILES,
                  (long long)(t->delta.env->monotonic_ns(t->delta.env->self) - start) / 1000000);
    assert_int_equal(snapshot->file_count, FILES);
    assert_str(snapshot->files[99999].path, "part-099999.parquet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replay, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_not_a_table, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_names_that_do_not_matter, table_set_up,
                                        table_tear_down),
        cmocka_unit_test_setup_teardown(test_gaps, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoints, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_small_logs_need_no_parquet, table_set_up,
                                        table_tear_down),
        cmocka_unit_test_setup_teardown(test_multi_part_checkpoints, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_v2_checkpoints, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_damage, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_missing_heads, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_features, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_paths, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_partition_values, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_commit_read, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_digest, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_times, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_long_log, table_set_up, table_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
