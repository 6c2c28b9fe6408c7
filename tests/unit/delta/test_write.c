/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commits: what is in the file, what is refused before, who wins, and what happens when the answer
 * is unclear.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yyjson.h>

#include "delta_test.h"

static int set_up(void **state)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)table_set_up(state);
    assert_ok(table_create(*state, &err), &err);
    return 0;
}

static tg_str log_text(table *t, const char *name)
{
    tg_str text = {0};
    tg_str path = tg_path_join(t->arena, tg_delta_log_folder(t->path, t->arena), tg_str_from(name));
    assert_ok(tg_fs_read(t->delta.fs, path, 1 << 30, t->arena, &text, NULL), NULL);
    return text;
}

static void assert_holds(tg_str text, const char *part)
{
    if (tg_str_find(text, tg_str_from(part), 0) == SIZE_MAX) {
        fail_msg("%s is not in: %.*s", part, TG_SARG(text));
    }
}

/* Appends one file on top of the newest version. */
static int64_t append(table *t, const char *path, int64_t low, int64_t high)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version = -1;
    tg_delta_add add = table_add(t, path, low, high, 10);
    tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
    assert_ok(table_write(t, table_load(t, -1), &change, &version, &err), &err);
    return version;
}

static void refuse(table *t, const tg_delta_snapshot *snapshot, tg_delta_change *change,
                   tg_code code, const char *class_name)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version;
    int64_t before;
    int64_t after;
    assert_ok(tg_delta_latest_version(&t->delta, t->path, &before, NULL), NULL);
    assert_int_equal(table_write(t, snapshot, change, &version, &err), code);
    assert_error_class(&err, class_name);
    assert_ok(tg_delta_latest_version(&t->delta, t->path, &after, NULL), NULL);
    assert_int_equal(before, after);
}

/* ---- content --------------------------------------------------------------------------------- */

static void test_create(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str text = log_text(t, "00000000000000000000.json");
    assert_true(tg_str_starts(text, TG_S("{\"commitInfo\":{\"timestamp\":")));
    assert_holds(text, "\"operation\":\"CREATE TABLE\"");
    assert_holds(text, "\"engineInfo\":\"tidegate/");
    assert_holds(text, "\n{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{"
                       "\"metaData\":{\"id\":\"t1\"");
    assert_holds(text, "\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}\n");
    assert_int_equal(tg_str_find(text, TG_S("readVersion"), 0), SIZE_MAX);
    assert_int_equal(table_load(t, -1)->metadata.schema.count, 3);
    assert_int_equal(table_create(t, &err), TG_ALREADY_EXISTS);
    assert_error_class(&err, "DELTA_TABLE_ALREADY_EXISTS");
}

static void test_commit_text(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version;
    assert_int_equal(append(t, "a b#.parquet", 1, 9), 1);
    assert_holds(log_text(t, "00000000000000000001.json"),
                 "{\"add\":{\"path\":\"a%20b%23.parquet\",\"partitionValues\":{},\"size\":100,");
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    tg_delta_remove remove = table_remove_of(snapshot, "a b#.parquet");
    tg_delta_txn txn = {TG_S("app"), 42};
    tg_property metric = {.key = TG_S("numOutputRows"), .value = TG_S("7")};
    tg_property parameter = {.key = TG_S("partitionBy"), .value = TG_S("[\"d\"]")};
    tg_delta_change change = {
        .removes = &remove,
        .remove_count = 1,
        .txns = &txn,
        .txn_count = 1,
        .metrics = &metric,
        .metric_count = 1,
        .parameters = &parameter,
        .parameter_count = 1,
        .user_metadata = TG_S("{\"k\":\"v\"}"),
    };
    assert_ok(table_write(t, snapshot, &change, &version, &err), &err);
    tg_str text = log_text(t, "00000000000000000002.json");
    assert_holds(text,
                 "\"operationParameters\":{\"partitionBy\":\"[\\\"d\\\"]\"},\"readVersion\":1,");
    assert_holds(text, "\"isBlindAppend\":false,\"operationMetrics\":{\"numOutputRows\":\"7\"}");
    assert_holds(text, "\"userMetadata\":\"{\\\"k\\\":\\\"v\\\"}\"}}\n{\"txn\":{\"appId\":\"app\","
                       "\"version\":42,");
    assert_holds(text, "\n{\"remove\":{\"path\":\"a%20b%23.parquet\",\"deletionTimestamp\":");
    assert_holds(
        text,
        "\"dataChange\":true,\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":100");
    snapshot = table_load(t, -1);
    assert_int_equal(snapshot->file_count, 0);
    assert_int_equal(snapshot->txns[0].version, 42);
}

static void test_partitioned(void **state)
{
    table *t = *state;
    int64_t version;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    table_commit(t, 0, head_by_day);
    tg_delta_partition_value values[] = {{false, TG_S("2024-01-01")}, {true, TG_S("")}};
    tg_delta_add adds[] = {table_add(t, "a", 1, 2, 2), table_add(t, "b", 1, 2, 2)};
    adds[0].partition_values = &values[0];
    adds[1].partition_values = &values[1];
    tg_delta_change change = {.adds = adds, .add_count = 2, .is_blind_append = true};
    assert_ok(table_write(t, table_load(t, -1), &change, &version, &err), &err);
    tg_str text = log_text(t, "00000000000000000001.json");
    assert_holds(text, "\"path\":\"a\",\"partitionValues\":{\"day\":\"2024-01-01\"}");
    assert_holds(text, "\"path\":\"b\",\"partitionValues\":{\"day\":null}");
}

/* ---- refused --------------------------------------------------------------------------------- */

static void test_invalid_changes(void **state)
{
    table *t = *state;
    append(t, "live", 1, 9);
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    tg_delta_add adds[] = {table_add(t, "x", 1, 2, 2), table_add(t, "x", 3, 4, 2)};
    tg_delta_change change = {.adds = adds, .add_count = 2};
    refuse(t, snapshot, &change, TG_INTERNAL, "DELTA_DUPLICATE_ACTIONS_FOUND");
    change.add_count = 1;
    adds[0].path = TG_S("live");
    refuse(t, snapshot, &change, TG_INTERNAL, "DELTA_DUPLICATE_ACTIONS_FOUND");
    adds[0].path = TG_S("x");
    adds[0].stats = TG_S("{\"minValues\":{}}");
    refuse(t, snapshot, &change, TG_INTERNAL, "INTERNAL_ERROR");
    tg_delta_remove removes[] = {table_remove_of(snapshot, "live"),
                                 table_remove_of(snapshot, "live")};
    change = (tg_delta_change){.removes = removes, .remove_count = 2};
    refuse(t, snapshot, &change, TG_INTERNAL, "DELTA_DUPLICATE_ACTIONS_FOUND");
    removes[0].path = TG_S("nobody");
    change.remove_count = 1;
    refuse(t, snapshot, &change, TG_INTERNAL, "INTERNAL_ERROR");
    tg_delta_txn txns[] = {{TG_S("a"), 1}, {TG_S("a"), 2}};
    change = (tg_delta_change){.txns = txns, .txn_count = 2};
    refuse(t, snapshot, &change, TG_INTERNAL, "INTERNAL_ERROR");
}

/* The metadata line of the plain table with other properties. */
static void set_properties(table *t, int64_t version, const char *properties)
{
    tg_str head = tg_str_from(head_plain);
    size_t at = tg_str_find(head, TG_S("{\"metaData\""), 0);
    size_t map =
        tg_str_find(head, TG_S("\"configuration\":{"), at) + sizeof("\"configuration\":{") - 1;
    table_commit(t, version,
                 tg_arena_printf(t->arena, "%.*s%s%s", (int)(map - at), head.ptr + at, properties,
                                 head.ptr + map));
}

static void test_append_only(void **state)
{
    table *t = *state;
    append(t, "a", 1, 9);
    set_properties(t, 2, "\"delta.appendOnly\":\"true\"");
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    tg_delta_remove remove = table_remove_of(snapshot, "a");
    tg_delta_change change = {.removes = &remove, .remove_count = 1};
    refuse(t, snapshot, &change, TG_INVALID_ARGUMENT, "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    remove.data_change = false; /* compaction is allowed */
    int64_t version;
    assert_ok(table_write(t, snapshot, &change, &version, NULL), NULL);
}

static void refuse_write(table *t, const char *feature)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version;
    tg_delta_add add = table_add(t, "x", 1, 2, 2);
    tg_delta_change change = {.adds = &add, .add_count = 1};
    assert_int_equal(table_write(t, table_load(t, -1), &change, &version, &err), TG_UNSUPPORTED);
    assert_error_class(&err, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    if (!strstr(err.message, feature)) {
        fail_msg("%s is not named: %s", feature, err.message);
    }
}

static void test_features(void **state)
{
    static const struct {
        const char *properties, *feature;
    } in_use[] = {
        {"\"delta.enableChangeDataFeed\":\"true\"", ": changeDataFeed"},
    };
    table *t = *state;
    for (size_t i = 0; i < TG_COUNT(in_use); i++) {
        set_properties(t, 1, in_use[i].properties);
        refuse_write(t, in_use[i].feature);
    }
    table_commit(t, 1,
                 "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
                 "\"deletionVectors\"],"
                 "\"writerFeatures\":[\"deletionVectors\",\"rowTracking\",\"appendOnly\","
                 "\"checkConstraints\"]}}\n");
    refuse_write(t, "not available yet: rowTracking");
    table_commit(t, 1, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":8}}\n");
    tg_delta_change change = {0};
    refuse(t, table_load(t, -1), &change, TG_UNSUPPORTED, "DELTA_INVALID_PROTOCOL_VERSION");
    /* Listed, not used: fine. */
    table_commit(t, 1, "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":6}}\n");
    assert_int_equal(append(t, "x", 1, 2), 2);
    static const char *const keys[] = {"delta.generationExpression", "delta.identity.start",
                                       "CURRENT_DEFAULT"};
    static const char *const features[] = {": generatedColumns", ": identityColumns",
                                           ": allowColumnDefaults"};
    for (size_t i = 0; i < TG_COUNT(keys); i++) {
        table_commit(
            t, 3,
            tg_arena_printf(
                t->arena,
                "{\"metaData\":{\"id\":\"t1\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","
                "\\\"fields\\\":[{"
                "\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,"
                "\\\"metadata\\\":{"
                "\\\"%s\\\":\\\"x\\\"}}]}\",\"partitionColumns\":[],\"configuration\":{}}}\n",
                keys[i]));
        refuse_write(t, features[i]);
    }
}

/* ---- races ----------------------------------------------------------------------------------- */

static void test_appends_do_not_conflict(void **state)
{
    table *t = *state;
    const tg_delta_snapshot *old = table_load(t, -1);
    int64_t version;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    append(t, "a", 1, 9);
    append(t, "b", 1, 9);
    tg_delta_add add = table_add(t, "c", 1, 9, 10);
    tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
    assert_ok(table_write(t, old, &change, &version, &err), &err);
    assert_int_equal(version, 3);
    assert_int_equal(table_load(t, -1)->file_count, 3);
}

static void test_conflicts(void **state)
{
    table *t = *state;
    append(t, "low", 1, 9);
    append(t, "high", 100, 109);
    const tg_delta_snapshot *old = table_load(t, -1);
    tg_region low_ids = table_ids(t, 0, 50);
    tg_region high_ids = table_ids(t, 51, 200);
    int64_t version;
    tg_auto_error tg_error err = TG_ERROR_INIT;

    /* A winner that adds where we read. */
    append(t, "low2", 10, 19);
    tg_delta_remove remove = table_remove_of(old, "low");
    tg_delta_change change = {.removes = &remove, .remove_count = 1, .read_region = &low_ids};
    refuse(t, old, &change, TG_CONFLICT, "DELTA_CONCURRENT_APPEND");
    /* Elsewhere it is no matter. */
    tg_delta_remove high = table_remove_of(old, "high");
    tg_delta_change elsewhere = {.removes = &high, .remove_count = 1, .read_region = &high_ids};
    assert_ok(table_write(t, old, &elsewhere, &version, &err), &err);
    assert_int_equal(version, 4);

    /* Now a winner removed what we read, or remove too. */
    old = table_load(t, 3);
    tg_delta_add add = table_add(t, "new", 60, 61, 1);
    tg_delta_change reads_high = {.adds = &add, .add_count = 1, .read_region = &high_ids};
    refuse(t, old, &reads_high, TG_CONFLICT, "DELTA_CONCURRENT_DELETE_READ");
    high = table_remove_of(old, "high");
    refuse(t, old, &elsewhere, TG_CONFLICT, "DELTA_CONCURRENT_DELETE_DELETE");

    /*
     * Moving rows (dataChange false) is no conflict for readers, and is one for who removes the
     * file.
     */
    old = table_load(t, -1);
    tg_delta_add moved = table_add(t, "moved", 1, 9, 10);
    moved.data_change = false;
    remove = table_remove_of(old, "low");
    remove.data_change = false;
    tg_delta_change compaction = {
        .adds = &moved, .add_count = 1, .removes = &remove, .remove_count = 1};
    assert_ok(table_write(t, old, &compaction, &version, &err), &err);
    tg_delta_change reads_low = {.adds = &add, .add_count = 1, .read_region = &low_ids};
    assert_ok(table_write(t, old, &reads_low, &version, &err), &err);
    /* A later winner removes the moved rows: they were read under another file name. */
    const tg_delta_snapshot *now = table_load(t, -1);
    tg_delta_remove moved_remove = table_remove_of(now, "moved");
    moved_remove.stats = TG_S("");
    tg_delta_change drop = {.removes = &moved_remove, .remove_count = 1};
    assert_ok(table_write(t, now, &drop, &version, &err), &err);
    tg_delta_add add2 = table_add(t, "new2", 60, 61, 1);
    tg_delta_change reads_low2 = {.adds = &add2, .add_count = 1, .read_region = &low_ids};
    refuse(t, old, &reads_low2, TG_CONFLICT, "DELTA_CONCURRENT_DELETE_READ");
}

static void test_definition_conflicts(void **state)
{
    table *t = *state;
    const tg_delta_snapshot *old = table_load(t, -1);
    tg_delta_add add = table_add(t, "x", 1, 2, 2);
    tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
    set_properties(t, 1, "\"a\":\"b\"");
    refuse(t, old, &change, TG_CONFLICT, "DELTA_METADATA_CHANGED");
    table_commit(t, 1, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":3}}\n");
    refuse(t, old, &change, TG_CONFLICT, "DELTA_PROTOCOL_CHANGED");
    tg_delta_txn txn = {TG_S("app"), 1};
    change.txns = &txn;
    change.txn_count = 1;
    table_commit(t, 1, "{\"txn\":{\"appId\":\"app\",\"version\":9}}\n");
    refuse(t, old, &change, TG_CONFLICT, "DELTA_CONCURRENT_TRANSACTION");
    table_remove(t, "00000000000000000000.json");
    table_remove(t, "00000000000000000001.json");
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version;
    assert_int_not_equal(table_write(t, old, &change, &version, &err),
                         TG_OK); /* the table went away */
    table_commit(t, 7, head_plain);
    refuse(t, old, &change, TG_CONFLICT, "DELTA_CONCURRENT_WRITE"); /* the log was cleaned up */
}

typedef struct hook {
    int calls;
    size_t winners;
    tg_conflict_verdict verdict;
    tg_delta_txn txn;
} hook;

static tg_code on_attempt(void *self, int64_t attempt_version,
                          const tg_delta_commit *const *winners, size_t winner_count,
                          tg_delta_change *change, tg_arena *arena,
                          tg_conflict_verdict *out_verdict, tg_error *err)
{
    hook *h = self;
    (void)winners;
    (void)err;
    h->calls++;
    h->winners = winner_count;
    h->txn = (tg_delta_txn){TG_S("app"), attempt_version};
    change->txns = &h->txn;
    change->txn_count = 1;
    change->user_metadata = tg_str_printf(arena, "try %d", h->calls);
    *out_verdict = h->verdict;
    return TG_OK;
}

static void test_hook(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *old = table_load(t, -1);
    int64_t version = 0;
    hook h = {.verdict = TG_VERDICT_RETRY};
    tg_delta_commit_options options = {.read_version = 0,
                                       .snapshot = old,
                                       .zone = tg_zone_utc(),
                                       .before_attempt = on_attempt,
                                       .self = &h};
    tg_region all = tg_region_all();
    tg_delta_change change = {.operation = TG_S("WRITE"), .read_region = &all};
    append(t, "a", 1, 9);
    append(t, "b", 1, 9);
    assert_ok(tg_delta_commit_change(&t->delta, t->path, &change, &options, t->arena, &version,
                                     NULL, &err),
              &err);
    assert_int_equal(version, 3);
    assert_int_equal(h.winners, 2);
    assert_holds(log_text(t, "00000000000000000003.json"),
                 "{\"txn\":{\"appId\":\"app\",\"version\":3,");
    h.verdict = TG_VERDICT_RERUN;
    assert_int_equal(tg_delta_commit_change(&t->delta, t->path, &change, &options, t->arena,
                                            &version, NULL, &err),
                     TG_CONFLICT);
    assert_error_class(&err, "DELTA_CONCURRENT_WRITE");
    /* What the hook may not decide. */
    h.verdict = TG_VERDICT_RETRY;
    table_commit(t, 4, head_by_day);
    assert_int_equal(tg_delta_commit_change(&t->delta, t->path, &change, &options, t->arena,
                                            &version, NULL, &err),
                     TG_CONFLICT);
}

/* ---- many lost races -------------------------------------------------------------------------- */

enum { RACES = 8 };

/* A rival wins each version that is tried, RACES times. */
typedef struct rivals {
    table *t;
    int won, alive, most; /* alive: attempts whose memory was not given back */
} rivals;

static void give_back(void *object)
{
    rivals *r = object;
    r->alive--;
}

static tg_code on_lost_attempt(void *self, int64_t attempt_version,
                               const tg_delta_commit *const *winners, size_t winner_count,
                               tg_delta_change *change, tg_arena *arena,
                               tg_conflict_verdict *out_verdict, tg_error *err)
{
    rivals *r = self;
    (void)err;
    assert_int_equal(winner_count, r->won);
    for (size_t i = 0; i < winner_count; i++) { /* they stay, whatever attempts gave back */
        assert_int_equal(winners[i]->adds[0].path.len, 2);
        assert_int_equal(winners[i]->adds[0].path.ptr[1], 'a' + (int)i);
    }
    r->alive++;
    r->most = r->alive > r->most ? r->alive : r->most;
    tg_arena_defer(arena, give_back, r);
    change->user_metadata = tg_str_printf(arena, "version %lld", (long long)attempt_version);
    if (r->won < RACES) {
        append(r->t, (char[]){'r', (char)('a' + r->won), 0}, 1, 9);
        r->won++;
    }
    *out_verdict = TG_VERDICT_RETRY;
    return TG_OK;
}

static void test_attempts_that_lost_are_given_back(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    int64_t version = 0;
    rivals r = {.t = t};
    tg_delta_commit_options options = {.read_version = 0,
                                       .snapshot = table_load(t, -1),
                                       .zone = tg_zone_utc(),
                                       .before_attempt = on_lost_attempt,
                                       .self = &r};
    tg_delta_change change = {.operation = TG_S("WRITE")};
    tg_arena *arena = tg_arena_new();
    assert_ok(
        tg_delta_commit_change(&t->delta, t->path, &change, &options, arena, &version, NULL, &err),
        &err);
    assert_int_equal(version, RACES + 1);
    assert_int_equal(r.won, RACES);
    assert_int_equal(r.most, 1);
    assert_str(change.user_metadata, "version 9"); /* the change stays readable */
    tg_arena_free(arena);
    assert_int_equal(r.alive, 0);
}

enum { WRITERS = 4, COMMITS_EACH = 15 };

static int write_in_child(table *t, int writer)
{
    for (int i = 0; i < COMMITS_EACH; i++) {
        char path[64];
        int64_t version;
        (void)snprintf(path, sizeof(path), "w%d-%d", writer, i);
        tg_delta_add add = table_add(t, path, i, i, 1);
        tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
        /* Always from version 0: every commit has to pass all winners. */
        if (table_write(t, table_load(t, 0), &change, &version, NULL) != TG_OK) {
            return 1;
        }
    }
    return 0;
}

static void test_processes(void **state)
{
    table *t = *state;
    pid_t children[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        if (children[w] == 0) {
            _exit(write_in_child(t, w));
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(children[w], &status, 0), children[w]);
        assert_int_equal(status, 0);
    }
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    assert_int_equal(snapshot->version, WRITERS * COMMITS_EACH);
    assert_int_equal(snapshot->file_count, WRITERS * COMMITS_EACH);
    for (int64_t v = 1; v <= snapshot->version; v++) {
        const tg_delta_commit *commit;
        assert_ok(tg_delta_commit_read(&t->delta, t->path, v, NULL, 0, t->arena, &commit, NULL),
                  NULL);
        assert_int_equal(commit->add_count, 1);
    }
}

/* ---- unclear answers ------------------------------------------------------------------------- */

typedef struct faulty_fs {
    tg_fs fs;
    const tg_fs *real;
    /*
     * 1: writes, then reports an error; 2: writes, then says that it exists; 3: error, nothing
     * written; 4: written, then neither this nor the folder's fsync is sure; 5: written, then it
     * cannot be read
     */
    int mode;
} faulty_fs;

static tg_code faulty_fsync_folder(void *self, tg_str path, tg_error *err)
{
    faulty_fs *f = self;
    if (f->mode == 4) {
        TG_FAIL(err, TIDEGATE_IO, "the disk is bad");
    }
    return tg_fs_fsync_folder(f->real, path, err);
}

static tg_code faulty_read(void *self, tg_str path, size_t max_bytes, tg_arena *arena,
                           tg_str *out_bytes, tg_error *err)
{
    faulty_fs *f = self;
    if (f->mode == 5 && tg_str_ends(path, TG_S("4.json"))) {
        TG_FAIL(err, TIDEGATE_IO, "the disk is bad");
    }
    return tg_fs_read(f->real, path, max_bytes, arena, out_bytes, err);
}

static tg_code faulty_write_new(void *self, tg_str path, tg_str bytes, tg_error *err)
{
    faulty_fs *f = self;
    if (f->mode != 3) {
        TG_TRY(tg_fs_write_new(f->real, path, bytes, err));
    }
    if (f->mode == 2) {
        TG_FAIL(err, PATH_ALREADY_EXISTS, "it exists");
    }
    TG_FAIL(err, TIDEGATE_IO, "the wire was cut");
}

static void test_unclear_answers(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    faulty_fs faulty = {.fs = *tg_fs_local(), .real = tg_fs_local()};
    int64_t version;
    /* The local file system has no state of its own, so that only the one function needs ours. */
    faulty.fs.self = &faulty;
    faulty.fs.write_new = faulty_write_new;
    t->delta.fs = &faulty.fs;
    for (faulty.mode = 1; faulty.mode <= 2; faulty.mode++) {
        tg_delta_add add = table_add(t, faulty.mode == 1 ? "one" : "two", 1, 2, 2);
        tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
        assert_ok(table_write(t, snapshot, &change, &version, &err), &err);
        assert_int_equal(version, faulty.mode);
    }
    faulty.mode = 3;
    tg_delta_change nothing = {.is_blind_append = true};
    assert_int_equal(table_write(t, snapshot, &nothing, &version, &err), TG_IO);
    assert_int_equal(table_load(t, -1)->file_count, 2);
    assert_false(nothing.may_be_visible);
}

/* An error, and yet the version is there, or may be: whoever wrote its files must keep them. */
static void test_visible_though_failed(void **state)
{
    table *t = *state;
    faulty_fs faulty = {.fs = *tg_fs_local(), .real = tg_fs_local()};
    faulty.fs.self = &faulty;
    faulty.fs.write_new = faulty_write_new;
    faulty.fs.fsync_folder = faulty_fsync_folder;
    faulty.fs.read = faulty_read;
    append(t, "one", 1, 2);
    append(t, "two", 1, 2);
    for (faulty.mode = 4; faulty.mode <= 5; faulty.mode++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_delta_add add = table_add(t, faulty.mode == 4 ? "three" : "four", 1, 2, 2);
        tg_delta_change change = {.adds = &add, .add_count = 1, .is_blind_append = true};
        int64_t version;
        const tg_delta_snapshot *snapshot = table_load(t, -1);
        t->delta.fs = &faulty.fs;
        assert_int_equal(table_write(t, snapshot, &change, &version, &err), TG_IO);
        t->delta.fs = tg_fs_local();
        assert_true(change.may_be_visible);
        assert_non_null(strstr(err.detail, faulty.mode == 4 ? "is committed" : "is not known"));
        assert_int_equal(table_load(t, -1)->file_count, (size_t)faulty.mode - 1);
    }
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void test_checkpoint(void **state)
{
    table *t = *state;
    int64_t version;
    set_properties(t, 1, "\"delta.checkpointInterval\":\"4\"");
    append(t, "a", 1, 9);
    tg_delta_txn txn = {TG_S("app"), 5};
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    tg_delta_remove remove = table_remove_of(snapshot, "a");
    tg_delta_change change = {.removes = &remove, .remove_count = 1, .txns = &txn, .txn_count = 1};
    assert_ok(table_write(t, snapshot, &change, &version, NULL), NULL);
    assert_int_equal(t->parquet_writes, 0);
    append(t, "b", 1, 9);
    assert_int_equal(t->parquet_writes, 1);
    tg_str text = log_text(t, "00000000000000000004.checkpoint.parquet");
    assert_holds(text, "{\"add\":{\"path\":\"b\"");
    assert_holds(text, "\"dataChange\":false");
    assert_holds(text, "{\"remove\":{\"path\":\"a\"");
    assert_holds(text, "{\"txn\":{\"appId\":\"app\",\"version\":5");
    assert_holds(text, "{\"protocol\":{");
    assert_holds(text, "delta.checkpointInterval");
    assert_int_equal(tg_str_find(text, TG_S("commitInfo"), 0), SIZE_MAX);
    assert_int_equal(tg_str_find(text, TG_S("{\"add\":{\"path\":\"a\""), 0), SIZE_MAX);
    tg_str hint = log_text(t, "_last_checkpoint");
    assert_holds(hint, "{\"version\":4,\"size\":5,\"sizeInBytes\":");
    assert_holds(hint, "\"numOfAddFiles\":1}");
    /* The checkpoint stands for the commits. */
    append(t, "c", 1, 9);
    for (int v = 0; v <= 3; v++) {
        table_remove(t, tg_arena_printf(t->arena, "%020d.json", v));
    }
    snapshot = table_load(t, -1);
    assert_int_equal(snapshot->file_count, 2);
    assert_int_equal(snapshot->txns[0].version, 5);
    /* Old tombstones are left out. */
    set_properties(t, 6, "\"delta.deletedFileRetentionDuration\":\"interval 0 seconds\"");
    assert_ok(tg_delta_checkpoint_write(&t->delta, table_load(t, -1), NULL), NULL);
    text = log_text(t, "00000000000000000006.checkpoint.parquet");
    assert_int_equal(tg_str_find(text, TG_S("{\"remove\""), 0), SIZE_MAX);
}

/* Other writers' lines have blanks where they like, and the word in other places. */
static void test_checkpoint_changes_no_data(void **state)
{
    table *t = *state;
    table_commit(t, 1,
                 "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,"
                 "\"modificationTime\":1,\"tags\":{\"x\":\"dataChange\",\"dataChange\":\"true\"},"
                 "\"dataChange\" : \t true}}\n");
    assert_ok(tg_delta_checkpoint_write(&t->delta, table_load(t, -1), NULL), NULL);
    tg_str text = log_text(t, "00000000000000000001.checkpoint.parquet");
    assert_holds(text, "{\"x\":\"dataChange\",\"dataChange\":\"true\"},\"dataChange\":false}}");
}

static void test_checkpoint_fails(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_auto_error tg_error warning = TG_ERROR_INIT;
    int64_t version;
    set_properties(t, 1, "\"delta.checkpointInterval\":\"1\"");
    t->parquet_fails = true;
    const tg_delta_snapshot *snapshot = table_load(t, -1);
    tg_delta_commit_options options = {
        .read_version = 1, .snapshot = snapshot, .zone = tg_zone_utc()};
    tg_delta_change change = {.operation = TG_S("WRITE")};
    assert_ok(tg_delta_commit_change(&t->delta, t->path, &change, &options, t->arena, &version,
                                     &warning, &err),
              &err);
    assert_int_equal(version, 2);
    assert_error_class(&warning, "TIDEGATE_IO");
    tg_fs_entry *entries;
    size_t count;
    assert_ok(tg_fs_list(t->delta.fs, tg_delta_log_folder(t->path, t->arena), false, t->arena,
                         &entries, &count, NULL),
              NULL);
    assert_int_equal(count, 3); /* nothing is left lying about */
}

static void test_sync_files(void **state)
{
    table *t = *state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str folder = tg_path_join(t->arena, t->path, TG_S("x/y"));
    tg_str paths[] = {TG_S("x/y/f"), TG_S("nobody")};
    assert_ok(tg_fs_make_folders(t->delta.fs, folder, &err), &err);
    assert_ok(tg_fs_write_replace(t->delta.fs, tg_path_join(t->arena, t->path, paths[0]), TG_S("1"),
                                  &err),
              &err);
    assert_ok(tg_delta_sync_files(&t->delta, t->path, paths, 1, &err), &err);
    assert_int_equal(tg_delta_sync_files(&t->delta, t->path, paths, 2, &err), TG_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_commit_text, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_partitioned, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_changes, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_append_only, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_features, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_appends_do_not_conflict, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_conflicts, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_definition_conflicts, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_hook, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_attempts_that_lost_are_given_back, set_up,
                                        table_tear_down),
        cmocka_unit_test_setup_teardown(test_processes, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_unclear_answers, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_visible_though_failed, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoint, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoint_changes_no_data, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoint_fails, set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_sync_files, set_up, table_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
