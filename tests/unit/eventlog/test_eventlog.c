/* SPDX-License-Identifier: Apache-2.0 */
/* Events as lines: fields of the vendor's log, order, one line for file and sink. */
#include "support/test.h"

#include <stdio.h>
#include <yyjson.h>

#include "eventlog/eventlog.h"
#include "fs/fs.h"

static int64_t fixed_now(void *self)
{
    (void)self;
    return INT64_C(1709290800000000); /* 2024-03-01 11:00:00 UTC */
}

static void counting_uuid(void *self, char out[37])
{
    int *count = self;
    (void)snprintf(out, 37, "00000000-0000-4000-8000-%012d", ++*count);
}

typedef struct heard {
    tg_arena *arena;
    TG_VEC(tg_str) lines;
} heard;

static void hear(void *self, const tg_event *event, tg_str json_line)
{
    heard *h = self;
    (void)event;
    TG_VEC_PUSH(h->arena, &h->lines, tg_str_copy(h->arena, json_line));
}

static void test_lines(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    int ids = 0;
    const tg_env env = {.now_us = fixed_now, .uuid = counting_uuid, .self = &ids};
    heard h = {.arena = arena};
    const tg_event_sink sink = {.event = hear, .self = &h};
    const tg_event_origin origin = {.pipeline_id = TG_S("p-1"),
                                    .pipeline_name = TG_S("sales"),
                                    .update_id = TG_S("u-1"),
                                    .catalog_name = TG_S("main"),
                                    .schema_name = TG_S("default")};
    tg_str storage = tg_path_join(arena, tg_str_from(tg_test_folder(arena)), TG_S("deep/storage"));
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_eventlog *log;
    assert_ok(tg_eventlog_open(tg_fs_local(), &env, storage, &origin, &sink, arena, &log, &err),
              &err);

    tg_event progress = {.type = TG_EVENT_UPDATE_PROGRESS,
                         .message = TG_S("Update u-1 is \"RUNNING\"."),
                         .details = TG_S("{\"state\":\"RUNNING\"}")};
    tg_eventlog_write(log, &progress);
    assert_ok(tg_eventlog_flush(log, &err), &err);
    tg_auto_error tg_error cause = TG_ERROR_INIT;
    (void)TG_ERR(&cause, DIVIDE_BY_ZERO, "division by zero");
    (void)tg_error_hint(&cause, "Use try_divide.");
    tg_event failed = {.type = TG_EVENT_FLOW_PROGRESS,
                       .level = TG_LEVEL_ERROR,
                       .message = TG_S("Flow 'f' has FAILED."),
                       .error = &cause,
                       .flow_name = TG_S("f"),
                       .flow_id = TG_S("id"),
                       .dataset_name = TG_S("main.default.t")};
    tg_eventlog_write(log, &failed);
    tg_str path = tg_eventlog_path(log);
    assert_ok(tg_eventlog_close(log, &err), &err);

    assert_int_equal(h.lines.count, 2);
    assert_str(h.lines.items[0],
               "{\"id\":\"2e789cdd-d2a3-8e24-9455-358683b58cf4\",\"sequence\":{\"data_plane_id\":{"
               "\"instance\":"
               "\"00000000-0000-4000-8000-000000000001\",\"seq_no\":1}},\"origin\":{\"pipeline_"
               "id\":\"p-1\",\"pipeline_type\":\"WORKSPACE\","
               "\"pipeline_name\":\"sales\",\"update_id\":\"u-1\",\"catalog_name\":\"main\","
               "\"schema_name\":\"default\"},"
               "\"timestamp\":\"2024-03-01T11:00:00.000000Z\",\"message\":\"Update u-1 is "
               "\\\"RUNNING\\\".\",\"level\":\"INFO\","
               "\"maturity_level\":\"STABLE\",\"error\":null,\"details\":{\"update_progress\":{"
               "\"state\":\"RUNNING\"}},"
               "\"event_type\":\"update_progress\"}");
    yyjson_val *root;
    assert_ok(tg_json_parse(h.lines.items[1], 0, arena, &root, &err), &err);
    assert_str(tg_json_get_str(root, "level", TG_S("")), "ERROR");
    assert_str(tg_json_get_str(tg_json_get(root, "origin"), "flow_name", TG_S("")), "f");
    yyjson_val *exception =
        yyjson_arr_get_first(tg_json_get(tg_json_get(root, "error"), "exceptions"));
    assert_str(tg_json_get_str(exception, "error_class", TG_S("")), "DIVIDE_BY_ZERO");
    assert_str(tg_json_get_str(exception, "sql_state", TG_S("")), "22012");
    assert_str(tg_json_get_str(exception, "hint", TG_S("")), "Use try_divide.");

    tg_str content, expected_path = tg_path_join(arena, storage, TG_S("events/u-1.jsonl"));
    assert_true(tg_str_eq(path, expected_path));
    assert_ok(tg_fs_read(tg_fs_local(), path, 1 << 20, arena, &content, &err), &err);
    tg_auto_buf tg_buf both = TG_BUF_INIT;
    tg_buf_addf(&both, "%.*s\n%.*s\n", TG_SARG(h.lines.items[0]), TG_SARG(h.lines.items[1]));
    assert_true(tg_str_eq(content, tg_buf_str(&both)));
}

static void test_without_file(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    int ids = 0;
    const tg_env env = {.now_us = fixed_now, .uuid = counting_uuid, .self = &ids};
    const tg_event_origin origin = {.update_id = TG_S("u-1")};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_eventlog *log;
    assert_ok(tg_eventlog_open(tg_fs_local(), &env, (tg_str){0}, &origin, NULL, arena, &log, &err),
              &err);
    tg_event event = {.type = TG_EVENT_USER_ACTION, .message = TG_S("x")};
    tg_eventlog_write(log, &event);
    assert_int_equal(tg_eventlog_path(log).len, 0);
    assert_ok(tg_eventlog_close(log, &err), &err);
    assert_int_equal(tg_eventlog_close(NULL, &err), TG_OK);
}

static void test_no_folder(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str file = tg_path_join(arena, tg_str_from(tg_test_folder(arena)), TG_S("file"));
    assert_int_equal(tg_fs_write_replace(tg_fs_local(), file, TG_S("x"), NULL), TG_OK);
    const tg_event_origin origin = {.update_id = TG_S("u-1")};
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_eventlog *log;
    assert_int_not_equal(
        tg_eventlog_open(tg_fs_local(), tg_env_system(), file, &origin, NULL, arena, &log, &err),
        TG_OK);
    assert_non_null(strstr(err.context, "while opening the event log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_without_file),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
