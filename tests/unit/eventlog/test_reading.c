/* SPDX-License-Identifier: Apache-2.0 */
/* Reading event files: torn, damaged and foreign ones, and updates as their events tell them. */
#include "support/test.h"

#include "eventlog/eventlog.h"

static tg_arena *arena;
static tg_str storage;

static tg_str event_path(const char *name)
{
    tg_str folder = tg_path_join(arena, storage, TG_S("events"));
    assert_ok(tg_fs_make_folders(tg_fs_local(), folder, NULL), NULL);
    return tg_path_join(arena, folder, tg_str_from(name));
}

static void put(const char *name, const char *text)
{
    assert_ok(tg_fs_append(tg_fs_local(), event_path(name), tg_str_from(text), NULL), NULL);
}

static const char *line(const char *update, const char *minute, const char *type, const char *flow,
                        const char *details)
{
    return tg_arena_printf(
        arena,
        "{\"id\":\"e-%s-%s\",\"origin\":{\"pipeline_id\":\"p-1\",\"pipeline_name\":\"sales\","
        "\"update_id\":\"%s\",\"flow_name\":\"%s\",\"dataset_name\":\"main.default.%s\"},"
        "\"timestamp\":\"2024-03-01T11:%s:00.000000Z\",\"message\":\"m\",\"level\":\"INFO\","
        "\"error\":null,\"details\":{\"%s\":%s},\"event_type\":\"%s\"}\n",
        update, minute, update, flow, flow, minute, type, details, type);
}

static size_t warning_count(const tg_diags *diags)
{
    assert_int_equal(diags->error_count, 0);
    return diags->count;
}

static size_t list(tg_event_file **out_files, tg_diags *warnings)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    size_t count;
    assert_ok(tg_event_files(tg_fs_local(), storage, arena, out_files, &count, warnings, &err),
              &err);
    return count;
}

static void test_nothing(void **state)
{
    (void)state;
    tg_diags warnings = TG_DIAGS_INIT;
    tg_event_file *files;
    assert_int_equal(list(&files, &warnings), 0);
    const tg_logged_update *update;
    assert_ok(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_NEWEST, TG_S(""), arena,
                                    &update, &warnings, NULL),
              NULL);
    assert_null(update);
    assert_int_equal(warning_count(&warnings), 0);
    tg_diags_dispose(&warnings);
}

static void test_list(void **state)
{
    (void)state;
    put("b-1.jsonl", line("b-1", "10", "create_update", "", "{}"));
    put("a-2.jsonl", line("a-2", "20", "create_update", "", "{}"));
    put("empty.jsonl", "");
    put("torn.jsonl", "{\"id\":\"x");
    put(".fold", "being folded");
    tg_diags warnings = TG_DIAGS_INIT;
    tg_event_file *files;
    assert_int_equal(list(&files, &warnings), 2);
    assert_int_equal(warning_count(&warnings), 0);
    assert_str(files[0].update_id, "a-2");
    assert_str(files[1].update_id, "b-1");
    assert_int_equal(files[1].started_us, INT64_C(1709291400000000));

    put("copy of a-2.jsonl", line("a-2", "20", "create_update", "", "{}"));
    put("notes.txt", "hello\n");
    put("noise.jsonl", "hello\n[]\n{\"id\":1}\n");
    assert_ok(tg_fs_make_folders(tg_fs_local(), event_path("folder.jsonl"), NULL), NULL);
    assert_int_equal(list(&files, &warnings), 2);
    assert_int_equal(warning_count(&warnings), 4);
    const char *named[] = {"copy of a-2.jsonl", "folder.jsonl", "noise.jsonl", "notes.txt"};
    for (size_t i = 0; i < TG_COUNT(named); i++) {
        assert_non_null(strstr(warnings.items[i].message, named[i]));
        assert_error_class(&warnings.items[i], "TIDEGATE_EVENT_LOG_DAMAGED");
    }
    tg_diags_dispose(&warnings);
}

/* A torn end is given when the rest has come; what is damaged in between is counted. */
static void test_reader(void **state)
{
    (void)state;
    const char *second = line("u", "11", "user_action", "", "{\"action\":\"START\"}");
    put("u.jsonl", line("u", "10", "create_update", "", "{}"));
    put("u.jsonl", "{\"id\":\"torn by a crash, then written on\n");
    put("u.jsonl", "\n");
    put("u.jsonl", tg_arena_strndup(arena, second, 40));
    tg_event_reader *reader = tg_event_reader_new(tg_fs_local(), event_path("u.jsonl"), arena);
    tg_event_record event;
    bool has_event;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_true(has_event);
    assert_str(event.event_type, "create_update");
    assert_false(tg_event_reader_warning(reader, &err));
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_false(has_event);
    put("u.jsonl", second + 40);
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_true(has_event);
    assert_str(event.event_type, "user_action");
    assert_str(tg_json_get_str(event.details, "action", TG_S("")), "START");
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_false(has_event);
    assert_true(tg_event_reader_warning(reader, &err));
    assert_non_null(strstr(err.message, "2 lines"));
    assert_non_null(strstr(err.message, "line 2"));
    assert_non_null(strstr(err.message, "u.jsonl"));
}

/* Lines longer than a piece, and one that is longer than lines may be. */
static void test_long_lines(void **state)
{
    (void)state;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addz(&text, "{\"x\":\"");
    for (int i = 0; i < 100000; i++) {
        tg_buf_addz(&text, "ab");
    }
    tg_buf_addz(&text, "\"}");
    put("u.jsonl", line("u", "10", "create_update", "", tg_buf_cstr(&text)));
    tg_buf_clear(&text);
    for (size_t i = 0; i < TG_LIMIT_EVENT_BYTES / 16 + 10000; i++) {
        tg_buf_addz(&text, "0123456789abcdef");
    }
    tg_buf_addz(&text, "\n");
    put("u.jsonl", tg_buf_cstr(&text));
    put("u.jsonl", line("u", "11", "user_action", "", "{}"));
    tg_event_reader *reader = tg_event_reader_new(tg_fs_local(), event_path("u.jsonl"), arena);
    tg_event_record event;
    bool has_event;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_int_equal(tg_json_get_str(event.details, "x", TG_S("")).len, 200000);
    assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
    assert_true(has_event);
    assert_str(event.event_type, "user_action");
    assert_true(tg_event_reader_warning(reader, &err));
    assert_non_null(strstr(err.message, "1 line "));
}

static void put_update(void)
{
    put("u.jsonl", line("u", "10", "create_update", "",
                        "{\"cause\":\"API_CALL\",\"full_refresh\":false,\"validate_only\":false,"
                        "\"refresh_selection\":[\"f\",\"main.default.g\"],"
                        "\"full_refresh_selection\":[\"g\"],"
                        "\"replace_where_overrides\":[{\"flow_name\":\"f\","
                        "\"predicate_override\":\"d >= '\\u00e9'\"}],"
                        "\"parameters\":{\"region\":\"EU\"},\"retry_of\":\"t\","
                        "\"now\":\"2024-02-29T23:00:00.000001Z\",\"timezone\":\"Europe/Lisbon\"}"));
    put("u.jsonl", line("u", "11", "flow_progress", "f", "{\"status\":\"QUEUED\"}"));
    put("u.jsonl", line("u", "12", "flow_progress", "g", "{\"status\":\"QUEUED\"}"));
    put("u.jsonl",
        line("u", "13", "planning_information", "f",
             "{\"technique_information\":[{\"maintenance_type\":"
             "\"MAINTENANCE_TYPE_NO_OP\",\"is_chosen\":false},{\"maintenance_type\":"
             "\"MAINTENANCE_TYPE_ROW_BASED\",\"is_chosen\":true}],\"window\":\"d > 1\"}"));
    put("u.jsonl", line("u", "14", "flow_progress", "f",
                        "{\"status\":\"COMPLETED\",\"metrics\":{\"committed_version\":7}}"));
    put("u.jsonl",
        "{\"id\":\"e\",\"origin\":{\"update_id\":\"u\",\"flow_name\":\"g\"},\"timestamp\":"
        "\"2024-03-01T11:15:00Z\",\"level\":\"ERROR\",\"error\":{\"fatal\":false,"
        "\"exceptions\":[{\"class_name\":\"DIVIDE_BY_ZERO\",\"message\":\"by zero\"}]},"
        "\"details\":{\"flow_progress\":{\"status\":\"FAILED\"}},"
        "\"event_type\":\"flow_progress\"}\n");
}

static void test_update(void **state)
{
    (void)state;
    put_update();
    tg_diags warnings = TG_DIAGS_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_logged_update *update;
    assert_ok(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_BY_ID, TG_S("U"), arena,
                                    &update, &warnings, &err),
              &err);
    assert_str(update->update_id, "u");
    assert_str(update->pipeline_id, "p-1");
    assert_str(update->pipeline_name, "sales");
    assert_str(update->cause, "API_CALL");
    assert_str(update->retry_of, "t");
    assert_int_equal(update->now_us, INT64_C(1709247600000001));
    assert_str(update->timezone, "Europe/Lisbon");
    assert_int_equal(update->refresh_count, 2);
    assert_str(update->refresh_selection[1], "main.default.g");
    assert_int_equal(update->full_refresh_count, 1);
    assert_str(update->full_refresh_selection[0], "g");
    assert_int_equal(update->override_count, 1);
    assert_str(update->overrides[0].name, "f");
    assert_str(update->overrides[0].value, "d >= '\xc3\xa9'");
    assert_int_equal(update->parameter_count, 1);
    assert_str(update->parameters[0].name, "region");
    assert_str(update->parameters[0].value, "EU");
    assert_int_equal(update->flow_count, 2);
    assert_str(update->flows[0].flow_name, "f");
    assert_str(update->flows[0].dataset_name, "main.default.f");
    assert_str(update->flows[0].status, "COMPLETED");
    assert_str(update->flows[0].technique, "ROW_BASED");
    assert_str(update->flows[0].window, "d > 1");
    assert_int_equal(update->flows[0].committed_version, 7);
    assert_str(update->flows[1].status, "FAILED");
    assert_str(update->flows[1].error_class, "DIVIDE_BY_ZERO");
    assert_int_equal(update->flows[1].committed_version, -1);
    assert_str(update->error_message, "by zero");
    assert_false(update->is_ended);
    assert_int_equal(update->last_us - update->started_us, 5 * 60 * TG_US_PER_SECOND);
    tg_diags_dispose(&warnings);
}

/* A live writer holds the lock; one that is gone makes its update a failed one. */
static void test_which(void **state)
{
    (void)state;
    tg_diags warnings = TG_DIAGS_INIT;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    put_update();
    put("v.jsonl", line("v", "20", "update_progress", "", "{\"state\":\"COMPLETED\"}"));
    put("v2.jsonl", line("v2", "21", "update_progress", "", "{\"state\":\"COMPLETED\"}"));
    tg_fs_lock *lock;
    assert_ok(tg_fs_take_lock(tg_fs_local(), event_path("u.jsonl"), arena, &lock, &err), &err);
    const tg_logged_update *update;
    assert_ok(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_NEWEST, TG_S(""), arena,
                                    &update, &warnings, &err),
              &err);
    assert_str(update->update_id, "v2");
    assert_true(update->is_ended);
    assert_ok(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_NEWEST_FAILED, TG_S(""),
                                    arena, &update, &warnings, &err),
              &err);
    assert_null(update);
    tg_fs_unlock(tg_fs_local(), lock);
    assert_ok(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_NEWEST_FAILED, TG_S(""),
                                    arena, &update, &warnings, &err),
              &err);
    assert_str(update->update_id, "u");
    const char *unknown[] = {"v", "w"};
    for (size_t i = 0; i < TG_COUNT(unknown); i++) {
        assert_int_equal(tg_logged_update_find(tg_fs_local(), storage, TG_UPDATE_BY_ID,
                                               tg_str_from(unknown[i]), arena, &update, &warnings,
                                               &err),
                         TG_NOT_FOUND);
        assert_error_class(&err, "TIDEGATE_UNKNOWN_UPDATE");
    }
    tg_diags_dispose(&warnings);
}

static int64_t fixed_now(void *self)
{
    (void)self;
    return INT64_C(1709290800000000);
}

static void one_uuid(void *self, char out[37])
{
    (void)self;
    memcpy(out, "00000000-0000-4000-8000-000000000001", 37);
}

/* What the writer writes, the reader reads; its lock lasts as long as it is open. */
static void test_writer(void **state)
{
    (void)state;
    const tg_env env = {.now_us = fixed_now, .uuid = one_uuid};
    const tg_event_origin origin = {.pipeline_id = TG_S("p-1"), .update_id = TG_S("w")};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_eventlog *log;
    assert_ok(tg_eventlog_open(tg_fs_local(), &env, storage, &origin, NULL, arena, &log, &err),
              &err);
    tg_str path = tg_eventlog_path(log);
    for (int level = 0; level < TG_LEVEL_COUNT_; level++) {
        tg_event event = {.type = TG_EVENT_USER_ACTION,
                          .level = (tg_event_level)level,
                          .message = TG_S("line\nfeed \xf0\x9f\x98\x80"),
                          .details = TG_S("{\"action\":\"START\"}")};
        tg_eventlog_write(log, &event);
    }
    assert_ok(tg_eventlog_flush(log, &err), &err);
    bool has_writer;
    assert_ok(tg_event_file_has_writer(tg_fs_local(), path, &has_writer, &err), &err);
    assert_true(has_writer);
    assert_ok(tg_eventlog_close(log, &err), &err);
    assert_ok(tg_event_file_has_writer(tg_fs_local(), path, &has_writer, &err), &err);
    assert_false(has_writer);
    assert_ok(tg_event_file_has_writer(tg_fs_local(), event_path("no"), &has_writer, &err), &err);
    assert_false(has_writer);
    tg_event_reader *reader = tg_event_reader_new(tg_fs_local(), path, arena);
    static const char *const LEVELS[] = {"INFO", "WARN", "ERROR", "METRICS"};
    for (int level = 0; level < TG_LEVEL_COUNT_; level++) {
        tg_event_record event;
        bool has_event;
        assert_ok(tg_event_reader_next(reader, &event, &has_event, &err), &err);
        assert_true(has_event);
        assert_str(event.level, LEVELS[level]);
        assert_str(event.message, "line\nfeed \xf0\x9f\x98\x80");
        assert_int_equal(event.timestamp_us, fixed_now(NULL));
    }
}

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new();
    storage = tg_str_from(tg_test_folder(arena));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(test_nothing),    UNIT(test_list),   UNIT(test_reader),
                                       UNIT(test_long_lines), UNIT(test_update), UNIT(test_which),
                                       UNIT(test_writer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
