/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, statements, cells and errors, on the real library. */
#include "engine/duckdb/duckdb_int.h"
#include "support/test.h"

#include <stdio.h>
#include <time.h>

static volatile sig_atomic_t interrupted;

typedef struct fixture {
    tg_arena *arena;
    tg_env env;
    tg_duckdb_engine *engine;
    tg_error error;
} fixture;

static int setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    fixture *f = TG_NEW(arena, fixture);
    f->arena = arena;
    f->env = *tg_env_system();
    f->env.cancelled = &interrupted;
    interrupted = 0;
    f->engine = tg_engine_duckdb_new(&(tg_engine_duckdb_options){.env = &f->env})->self;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    f->engine->base.close(f->engine);
    tg_error_dispose(&f->error);
    tg_arena_free(f->arena);
    return 0;
}

static tg_duckdb_session open_session(fixture *f, const char *zone_name)
{
    const tg_zone *zone = NULL;
    if (zone_name) {
        assert_ok(tg_zone_load(tg_str_from(zone_name), f->arena, &zone, &f->error), &f->error);
    }
    tg_duckdb_session session;
    assert_ok(tg_duckdb_session_open(f->engine, zone, &session, &f->error), &f->error);
    return session;
}

/* The first cell of a query, which must be a VARCHAR. */
static tg_str one_text(fixture *f, tg_duckdb_session *session, const char *sql)
{
    duckdb_result result;
    assert_ok(tg_duckdb_run(session, tg_str_from(sql), false, &result, &f->error), &f->error);
    duckdb_data_chunk chunk;
    assert_ok(tg_duckdb_fetch(session, &result, &chunk, &f->error), &f->error);
    assert_non_null(chunk);
    tg_str text =
        tg_str_copy(f->arena, tg_duckdb_cell_str(tg_duckdb.data_chunk_get_vector(chunk, 0), 0));
    tg_duckdb.destroy_data_chunk(&chunk);
    tg_duckdb.destroy_result(&result);
    return text;
}

static void settings(void **state)
{
    fixture *f = *state;
    f->engine->instance->threads = 1;
    f->engine->instance->memory_limit = TG_S("500MB");
    tg_duckdb_session session = open_session(f, NULL);
    assert_str(one_text(f, &session, "SELECT current_setting('TimeZone')"), "UTC");
    assert_str(one_text(f, &session, "SELECT current_setting('threads')::VARCHAR"), "1");
    assert_str(one_text(f, &session, "SELECT current_setting('memory_limit')"), "476.8 MiB");
    assert_str(
        one_text(f, &session, "SELECT current_setting('autoload_known_extensions')::VARCHAR"),
        "false");
    tg_duckdb_session_close(&session);
}

static void bad_memory_limit(void **state)
{
    fixture *f = *state;
    f->engine->instance->memory_limit = TG_S("much");
    tg_duckdb_session session;
    assert_int_equal(tg_duckdb_session_open(f->engine, NULL, &session, &f->error),
                     TG_INVALID_ARGUMENT);
    assert_error_class(&f->error, "TIDEGATE_INVALID_SETTING");
}

static void zones(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *name, *midnight; /* local time of 2024-01-01T00:00Z */
    } cases[] = {
        {"UTC", "2024-01-01 00:00:00"},          {"America/New_York", "2023-12-31 19:00:00"},
        {"Asia/Kolkata", "2024-01-01 05:30:00"}, {"+02:00", "2024-01-01 02:00:00"},
        {"-05:00", "2023-12-31 19:00:00"},       {"+00:00", "2024-01-01 00:00:00"},
        {"GMT+2", "2024-01-01 02:00:00"},        {"UT-1", "2023-12-31 23:00:00"},
        {"UTC+14", "2024-01-01 14:00:00"},       {"UT", "2024-01-01 00:00:00"},
        {"GMT0", "2024-01-01 00:00:00"},         {"Etc/GMT-2", "2024-01-01 02:00:00"},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        tg_duckdb_session session = open_session(f, cases[i].name);
        assert_str(one_text(f, &session,
                            "SELECT (TIMESTAMPTZ '2024-01-01 00:00:00+00')::TIMESTAMP::VARCHAR"),
                   cases[i].midnight);
        tg_duckdb_session_close(&session);
    }
    const tg_zone *zone;
    tg_duckdb_session session;
    assert_ok(tg_zone_load(TG_S("+05:30"), f->arena, &zone, &f->error), &f->error);
    assert_int_equal(tg_duckdb_session_open(f->engine, zone, &session, &f->error), TG_UNSUPPORTED);
    tg_error_clear(&f->error);
    assert_ok(tg_zone_load(TG_S("UTC+05:30"), f->arena, &zone, &f->error), &f->error);
    assert_int_equal(tg_duckdb_session_open(f->engine, zone, &session, &f->error), TG_UNSUPPORTED);
}

/* A zone is the session's own: sessions at the same time have different ones. */
static void zones_do_not_leak(void **state)
{
    fixture *f = *state;
    tg_duckdb_session a = open_session(f, "America/New_York");
    tg_duckdb_session b = open_session(f, NULL);
    assert_str(one_text(f, &a, "SELECT current_setting('TimeZone')"), "America/New_York");
    assert_str(one_text(f, &b, "SELECT current_setting('TimeZone')"), "UTC");
    tg_duckdb_session_close(&a);
    tg_duckdb_session_close(&b);
}

static void errors(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *sql, *name, *part;
    } cases[] = {
        {"SELECT error('[TG:DIVIDE_BY_ZERO] division by zero')", "DIVIDE_BY_ZERO",
         "division by zero"},
        {"SELECT error('[TG:SPARKS_OWN] odd')", "SPARKS_OWN", "odd"},
        {"SELECT 'abc'::INTEGER", "CAST_INVALID_INPUT",
         "'abc' of the type STRING cannot be cast to INT "},
        {"SELECT range::TINYINT FROM range(300)", "CAST_OVERFLOW", "cannot be cast to TINYINT"},
        {"SELECT 12345::DECIMAL(4,2)", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
         "DECIMAL(4,2)"},
        {"SELECT 2147483647::INTEGER + range::INTEGER FROM range(2)", "ARITHMETIC_OVERFLOW",
         "does not fit"},
        {"SELECT (range * 100)::DECIMAL(5,0)::TINYINT FROM range(4)", "CAST_OVERFLOW",
         "the value 200 cannot be cast to TINYINT"},
        {"SELECT (range + 99999.9)::DECIMAL(8,1)::DECIMAL(5,1) FROM range(2)",
         "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "99999.9"},
        {"SELECT 100::TINYINT + (range * 100)::TINYINT FROM range(2)", "BINARY_ARITHMETIC_OVERFLOW",
         "does not fit"},
        {"SELECT (SELECT range FROM range(2))", "SCALAR_SUBQUERY_TOO_MANY_ROWS",
         "more than one row"},
        {"SELECT * FROM read_parquet('/nowhere/x.parquet')", "PATH_NOT_FOUND",
         "/nowhere/x.parquet"},
        {"SELECT * FROM read_parquet('/etc/passwd')", "FAILED_READ_FILE.NO_HINT", "Parquet"},
        {"SELECT nonsense", "TIDEGATE_ENGINE_ERROR", "query engine"},
    };
    tg_duckdb_session session = open_session(f, NULL);
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        duckdb_result result;
        assert_int_not_equal(
            tg_duckdb_run(&session, tg_str_from(cases[i].sql), false, &result, &f->error), TG_OK);
        assert_string_equal(tg_error_name(&f->error), cases[i].name);
        if (!strstr(f->error.message, cases[i].part)) {
            fail_msg("\"%s\" is not in \"%s\"", cases[i].part, f->error.message);
        }
    }
    tg_duckdb_session_close(&session);
}

/* A failure that shows only while a stream is read. */
static void late_error(void **state)
{
    fixture *f = *state;
    tg_duckdb_session session = open_session(f, NULL);
    duckdb_result result;
    const char *sql = "SELECT CASE WHEN range = 1500000 THEN error('[TG:DIVIDE_BY_ZERO] division "
                      "by zero') ELSE range END FROM range(2000000)";
    assert_ok(tg_duckdb_run(&session, tg_str_from(sql), true, &result, &f->error), &f->error);
    tg_code code;
    duckdb_data_chunk chunk = NULL;
    size_t rows = 0;
    while ((code = tg_duckdb_fetch(&session, &result, &chunk, &f->error)) == TG_OK && chunk) {
        rows += (size_t)tg_duckdb.data_chunk_get_size(chunk);
        tg_duckdb.destroy_data_chunk(&chunk);
    }
    assert_int_equal(code, TG_EXECUTION);
    assert_error_class(&f->error, "DIVIDE_BY_ZERO");
    assert_true(rows > 0);
    tg_duckdb.destroy_result(&result);
    tg_duckdb_session_close(&session);
}

static const char endless[] = "SELECT count(*) FROM range(1000000) a, range(1000000) b, "
                              "range(1000) c WHERE a.range + b.range + c.range = -1";

static void *interrupt_soon(void *flag)
{
    struct timespec pause = {0, 100 * 1000 * 1000};
    (void)nanosleep(&pause, NULL);
    *(volatile sig_atomic_t *)flag = 1;
    return NULL;
}

static void cancelled_by_flag(void **state)
{
    fixture *f = *state;
    tg_duckdb_session session = open_session(f, NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, (void *)(uintptr_t)&interrupted),
                     0);
    duckdb_result result;
    assert_int_equal(tg_duckdb_run(&session, TG_S(endless), false, &result, &f->error),
                     TG_CANCELLED);
    (void)pthread_join(thread, NULL);
    assert_error_class(&f->error, "TIDEGATE_CANCELLED");
    interrupted = 0;
    assert_str(one_text(f, &session, "SELECT 'usable'"), "usable");
    tg_duckdb_session_close(&session);
}

/* ---- siblings -------------------------------------------------------------------------------- */

enum { SIBLINGS = 3 };

typedef struct sibling {
    tg_duckdb_engine *engine;
    pthread_t thread;
    const char *zone_name, *expected;
    tg_code code;
    char text[64];
    tg_error error;
} sibling;

static tg_duckdb_engine *new_sibling(fixture *f)
{
    tg_engine *made;
    assert_ok(f->engine->base.sibling(f->engine, &made, &f->error), &f->error);
    return made->self;
}

/* What it gets of its own zone, and of the memory limit of all, many times. */
static void *ask(void *argument)
{
    sibling *s = argument;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const tg_zone *zone = NULL;
    s->code = tg_zone_load(tg_str_from(s->zone_name), arena, &zone, &s->error);
    for (int i = 0; i < 50 && s->code == TG_OK; i++) {
        tg_auto_session tg_duckdb_session session = {0};
        s->code = tg_duckdb_session_open(s->engine, zone, &session, &s->error);
        fixture f = {.arena = arena};
        tg_str text =
            one_text(&f, &session,
                     "SELECT CAST(TIMESTAMPTZ '2024-01-01 00:00:00+00' AS VARCHAR) || ' ' "
                     "|| current_setting('memory_limit')");
        (void)snprintf(s->text, sizeof(s->text), "%.*s", TG_SARG(text));
        if (strcmp(s->text, s->expected) != 0) {
            break;
        }
    }
    return NULL;
}

/* They open one database, whoever comes first, and keep their zones. */
static void siblings_share_a_database(void **state)
{
    fixture *f = *state;
    f->engine->instance->memory_limit = TG_S("500MB");
    sibling siblings[SIBLINGS] = {
        {.zone_name = "UTC", .expected = "2024-01-01 00:00:00+00 476.8 MiB"},
        {.zone_name = "Asia/Tokyo", .expected = "2024-01-01 09:00:00+09 476.8 MiB"},
        {.zone_name = "America/New_York", .expected = "2023-12-31 19:00:00-05 476.8 MiB"}};
    for (size_t i = 0; i < SIBLINGS; i++) {
        siblings[i].engine = new_sibling(f);
        assert_int_equal(pthread_create(&siblings[i].thread, NULL, ask, &siblings[i]), 0);
    }
    for (size_t i = 0; i < SIBLINGS; i++) {
        (void)pthread_join(siblings[i].thread, NULL);
        assert_ok(siblings[i].code, &siblings[i].error);
        assert_string_equal(siblings[i].text, siblings[i].expected);
        siblings[i].engine->base.close(siblings[i].engine);
    }
    assert_non_null(f->engine->instance->database);
}

static void *run_endless(void *argument)
{
    sibling *s = argument;
    tg_auto_session tg_duckdb_session session = {0};
    s->code = tg_duckdb_session_open(s->engine, NULL, &session, &s->error);
    if (s->code == TG_OK) {
        s->code = tg_duckdb_execute(&session, TG_S(endless), &s->error);
    }
    return NULL;
}

/* All of them; not what begins later. */
static void cancel_reaches_siblings(void **state)
{
    fixture *f = *state;
    sibling siblings[SIBLINGS] = {0};
    for (size_t i = 0; i < SIBLINGS; i++) {
        siblings[i].engine = new_sibling(f);
        assert_int_equal(pthread_create(&siblings[i].thread, NULL, run_endless, &siblings[i]), 0);
    }
    struct timespec pause = {0, 300 * 1000 * 1000};
    bool all_run = false;
    while (!all_run) { /* what has not begun is not cancelled */
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&f->engine->instance->watcher.lock);
        all_run = true;
        for (size_t i = 0; i < SIBLINGS; i++) {
            all_run = all_run && siblings[i].engine->running;
        }
        (void)pthread_mutex_unlock(&f->engine->instance->watcher.lock);
    }
    f->engine->base.cancel(f->engine);
    for (size_t i = 0; i < SIBLINGS; i++) {
        (void)pthread_join(siblings[i].thread, NULL);
        assert_int_equal(siblings[i].code, TG_CANCELLED);
        tg_error_dispose(&siblings[i].error);
        siblings[i].engine->base.close(siblings[i].engine);
    }
    tg_duckdb_session session = open_session(f, NULL);
    assert_str(one_text(f, &session, "SELECT 'usable'"), "usable");
    tg_duckdb_session_close(&session);
}

static void out_of_memory(void **state)
{
    fixture *f = *state;
    f->engine->instance->memory_limit = TG_S("20MB");
    tg_duckdb_session session = open_session(f, NULL);
    duckdb_result result;
    tg_str sql = TG_S(
        "SELECT len(list(hash(range)::VARCHAR)) FROM range(5000000)"); /* a list cannot spill */
    assert_int_equal(tg_duckdb_run(&session, sql, false, &result, &f->error), TG_LIMIT);
    assert_error_class(&f->error, "TIDEGATE_OUT_OF_MEMORY");
    tg_duckdb_session_close(&session);
}

static void texts(void **state)
{
    fixture *f = *state;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_duckdb_put_ident(&out, TG_S("a\"b"));
    tg_duckdb_put_string(&out, TG_S("it's"));
    tg_str paths[] = {TG_S("/x/k=a*b[c]?"), TG_S("/y'z")};
    tg_duckdb_put_paths(&out, paths, 2);
    assert_str(tg_buf_str(&out), "\"a\"\"b\"'it''s'['/x/k=a[*]b[[]c][?]', '/y''z']");

    tg_buf_clear(&out);
    tg_field fields[] = {
        {.name = TG_S("a"), .type = tg_type_array(f->arena, tg_type_decimal(f->arena, 9, 3), true)},
        {.name = TG_S("b c"),
         .type = tg_type_map(f->arena, tg_type_of(TG_TYPE_STRING), tg_type_of(TG_TYPE_TIMESTAMP),
                             true)}};
    assert_ok(tg_duckdb_put_type(&out, tg_type_struct(f->arena, fields, 2), &f->error), &f->error);
    assert_str(tg_buf_str(&out),
               "STRUCT(\"a\" DECIMAL(9,3)[], \"b c\" MAP(VARCHAR, TIMESTAMP WITH TIME ZONE))");
    assert_int_equal(tg_duckdb_put_type(&out, tg_type_of(TG_TYPE_VARIANT), &f->error),
                     TG_UNSUPPORTED);

    tg_value instant = tg_value_int(tg_type_of(TG_TYPE_TIMESTAMP), INT64_C(1704067200500000));
    assert_str(tg_duckdb_value_text(f->arena, instant), "2024-01-01 00:00:00.5+00");
    assert_str(
        tg_duckdb_value_text(f->arena, tg_value_bytes(tg_type_of(TG_TYPE_BINARY), TG_S("a\xff"))),
        "\\x61\\xFF");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(settings),
        TEST(bad_memory_limit),
        TEST(zones),
        TEST(zones_do_not_leak),
        TEST(errors),
        TEST(late_error),
        TEST(cancelled_by_flag),
        TEST(out_of_memory),
        TEST(texts),
        TEST(siblings_share_a_database),
        TEST(cancel_reaches_siblings),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
