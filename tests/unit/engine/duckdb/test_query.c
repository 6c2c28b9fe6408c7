/* SPDX-License-Identifier: Apache-2.0 */
/* Queries as streams, and CSV, JSON and Parquet sources with Spark's options. */
#include <time.h>

#include "engine/duckdb/duckdb_int.h"
#include "unit/engine/duckdb/lab.h"

static void set_options(lab *l, const tg_property *options, size_t count)
{
    l->options = options;
    l->option_count = count;
}
#define OPTION(k, v)                                             \
    {                                                            \
        .key = {k, sizeof(k) - 1}, .value = { v, sizeof(v) - 1 } \
    }

/* ---- streams --------------------------------------------------------------------------------- */

static struct ArrowArrayStream open_stream(lab *l, const char *sql)
{
    tg_engine_context context = {.zone = l->zone};
    struct ArrowArrayStream stream;
    assert_ok(l->engine->query(l->engine->self, &context, lab_bind(l, sql).rel, &stream, &l->error),
              &l->error);
    return stream;
}

static void names_may_repeat(void **state)
{
    lab *l = *state;
    struct ArrowArrayStream stream =
        open_stream(l, "SELECT 1 AS a, 'x' AS a, CAST(2 AS BIGINT) AS `b c`");
    struct ArrowSchema schema;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(schema.n_children, 3);
    assert_string_equal(schema.children[0]->name, "a");
    assert_string_equal(schema.children[1]->name, "a");
    assert_string_equal(schema.children[2]->name, "b c");
    assert_string_equal(schema.children[0]->format, "i");
    assert_string_equal(schema.children[1]->format, "u");
    assert_string_equal(schema.children[2]->format, "l");
    schema.release(&schema);
    stream.release(&stream); /* without reading it */
    assert_null(stream.release);
}

static void types_come_out(void **state)
{
    lab *l = *state;
    static const struct {
        const char *sql, *format;
    } cases[] = {
        {"true", "b"},
        {"1Y", "c"},
        {"1S", "s"},
        {"1", "i"},
        {"1L", "l"},
        {"CAST(1 AS FLOAT)", "f"},
        {"1D", "g"},
        {"CAST(1 AS DECIMAL(9,2))", "d:9,2,128"},
        {"CAST(1 AS DECIMAL(38,10))", "d:38,10,128"},
        {"'x'", "u"},
        {"X'00'", "z"},
        {"DATE'2024-01-01'", "tdD"},
        {"TIMESTAMP'2024-01-01'", "tsu:UTC"},
        {"TIMESTAMP_NTZ'2024-01-01'", "tsu:"},
        {"sum(1)", "l"},
        {"sum(CAST(1 AS DECIMAL(10,2)))", "d:20,2,128"},
        {"count(*)", "l"},
        {"array(1)", "+l"},
        {"named_struct('a', 1)", "+s"},
        {"map('a', 1)", "+m"},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        struct ArrowArrayStream stream =
            open_stream(l, tg_arena_printf(l->arena, "SELECT %s AS x", cases[i].sql));
        struct ArrowSchema schema;
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_string_equal(schema.children[0]->format, cases[i].format);
        schema.release(&schema);
        stream.release(&stream);
    }
}

/* A stream that is half read survives the next query. */
static void streams_overlap(void **state)
{
    lab *l = *state;
    struct ArrowArrayStream stream = open_stream(l, "SELECT id FROM json.`ids-100000`");
    int64_t rows = 0;
    for (int i = 0;; i++) {
        struct ArrowArray array;
        assert_int_equal(stream.get_next(&stream, &array), 0);
        if (!array.release) {
            break;
        }
        rows += array.length;
        array.release(&array);
        if (i == 1) {
            assert_str(lab_rows(l, "SELECT 1"), "1");
        }
    }
    assert_int_equal(rows, 100000);
    stream.release(&stream);
}

static void errors_while_reading(void **state)
{
    lab *l = *state;
    assert_int_equal(lab_fail(l, "SELECT 100 DIV (id - 90000) FROM json.`ids-100000`"),
                     TG_EXECUTION);
    assert_error_class(&l->error, "DIVIDE_BY_ZERO");
    assert_int_equal(lab_fail(l, "SELECT CAST('x' || CAST(id AS STRING) AS INT) FROM json.`ids-2`"),
                     TG_EXECUTION);
    assert_error_class(&l->error, "CAST_INVALID_INPUT");
}

typedef struct canceller {
    tg_engine *engine;
    atomic_bool is_done;
} canceller;

/* Again and again: a cancel is about the call that runs, and binding makes calls too. */
static void *cancel_all(void *argument)
{
    canceller *self = argument;
    while (!atomic_load(&self->is_done)) {
        struct timespec pause = {0, 100 * 1000 * 1000};
        (void)nanosleep(&pause, NULL);
        self->engine->cancel(self->engine->self);
    }
    return NULL;
}

static void cancelled(void **state)
{
    lab *l = *state;
    assert_str(lab_rows(l, "SELECT count(*) FROM json.`ids-20000`"), "20000");
    canceller self = {.engine = l->engine};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_all, &self), 0);
    const char *sql = "SELECT count(*) FROM json.`ids-20000` a CROSS JOIN json.`ids-20000` b "
                      "CROSS JOIN json.`ids-20000` c WHERE a.id + b.id + c.id = -1";
    assert_int_equal(lab_fail(l, sql), TG_CANCELLED);
    atomic_store(&self.is_done, true);
    (void)pthread_join(thread, NULL);
    assert_str(lab_rows(l, "SELECT 2"), "2");
}

static void explained(void **state)
{
    lab *l = *state;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_engine_context context = {.zone = l->zone};
    assert_ok(l->engine->explain(l->engine->self, &context,
                                 lab_bind(l, "SELECT id FROM json.`ids-10` WHERE id > 3").rel,
                                 &text, &l->error),
              &l->error);
    assert_int_not_equal(tg_str_find(tg_buf_str(&text), TG_S("SELECT"), 0), SIZE_MAX);
    assert_int_not_equal(tg_str_find(tg_buf_str(&text), TG_S("== DuckDB Plan =="), 0), SIZE_MAX);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const char people[] =
    "id,name,born,note\n1,Ann,2024-01-05,NA\n2,\"B, C\",NA,\"\"\n30,,2024-01-06,\"NA\"\n";

static void csv_defaults(void **state)
{
    lab *l = *state;
    lab_file(l, "p.csv", people);
    assert_str(lab_rows(l, "SELECT _c0, _c1 FROM csv.`p.csv` ORDER BY _c0"),
               "1|Ann;2|B, C;30|NULL;id|name");
}

static void csv_options(void **state)
{
    lab *l = *state;
    lab_file(l, "p.csv", people);
    const tg_property options[] = {OPTION("header", "true"), OPTION("NULLVALUE", "NA"),
                                   OPTION("inferSchema", "true")};
    set_options(l, options, TG_COUNT(options));
    assert_str(lab_rows(l, "SELECT id + 1, name, born, note FROM csv.`p.csv` ORDER BY id"),
               "2|Ann|2024-01-05|NULL;3|B, C|NULL|;31|NULL|2024-01-06|NULL");
    assert_str(lab_rows(l, "SELECT count(*) FROM csv.`p.csv`"), "3");
}

static void csv_other_signs(void **state)
{
    lab *l = *state;
    lab_file(l, "s.csv", "a\tb\n'x\ty'\t2\n");
    const tg_property options[] = {OPTION("header", "true"), OPTION("delimiter", "\\t"),
                                   OPTION("quote", "'")};
    set_options(l, options, TG_COUNT(options));
    assert_str(lab_rows(l, "SELECT a, b FROM csv.`s.csv`"), "x\ty|2");
}

static void csv_folder(void **state)
{
    lab *l = *state;
    assert_ok(tg_fs_make_folders(tg_fs_local(), lab_path(l, "in"), &l->error), &l->error);
    lab_file(l, "in/b.csv", "2\n");
    lab_file(l, "in/a.csv", "1\n");
    lab_file(l, "in/_skip.csv", "9\n");
    lab_file(l, "in/.skip.csv", "9\n");
    assert_str(lab_rows(l, "SELECT _c0 FROM csv.`in` ORDER BY 1"), "1;2");
    assert_str(lab_rows(l, "SELECT _c0 FROM csv.`in/b*.csv` ORDER BY 1"), "2");
    assert_int_equal(lab_fail(l, "SELECT * FROM csv.`in/x*.csv`"), TG_NOT_FOUND);
    assert_int_equal(lab_fail(l, "SELECT * FROM csv.`nowhere`"), TG_NOT_FOUND);
    assert_error_class(&l->error, "PATH_NOT_FOUND");
}

static void wrong_options(void **state)
{
    lab *l = *state;
    lab_file(l, "p.csv", people);
    static const struct {
        tg_property option;
        tg_code code;
        const char *hint;
    } cases[] = {
        {OPTION("haeder", "true"), TG_INVALID_ARGUMENT, "\"header\""},
        {OPTION("mode", "DROPMALFORMED"), TG_UNSUPPORTED, "FAILFAST"},
        {OPTION("sep", "abc"), TG_INVALID_ARGUMENT, NULL},
        {OPTION("dateFormat", "dd/MM/yyyy"), TG_UNSUPPORTED, "yyyy-MM-dd"},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        set_options(l, &cases[i].option, 1);
        assert_int_equal(lab_fail(l, "SELECT * FROM csv.`p.csv`"), cases[i].code);
        if (cases[i].hint) {
            assert_non_null(strstr(l->error.hint, cases[i].hint));
        }
    }
}

/* ---- JSON and Parquet ------------------------------------------------------------------------ */

static void json_lines(void **state)
{
    lab *l = *state;
    lab_file(l, "e.json",
             "{\"b\":1,\"a\":\"2024-01-01\",\"s\":{\"z\":1.5},\"n\":null}\n{\"a\":\"2024-01-02\","
             "\"l\":[1,2]}\n");
    assert_str(lab_rows(l, "SELECT a, b, s.z, size(l), n FROM json.`e.json` ORDER BY a"),
               "2024-01-01|1|1.5|NULL|NULL;2024-01-02|NULL|NULL|2|NULL");
    tg_bound_query bound = lab_bind(l, "SELECT * FROM json.`e.json`");
    assert_str(bound.rel->columns[0].name,
               "a"); /* sorted, and a text that looks like a date is text */
    assert_int_equal(bound.rel->columns[0].type->kind, TG_TYPE_STRING);
}

static void parquet_files(void **state)
{
    lab *l = *state;
    lab_append(l, "t", "SELECT id AS a, CAST(id AS STRING) AS s FROM json.`ids-5`");
    assert_str(lab_rows(l, "SELECT sum(a), max(s) FROM parquet.`t/*.parquet`"), "10|4");
}

static void identity_of_files(void **state)
{
    lab *l = *state;
    lab_file(l, "p.csv", people);
    tg_pin a, b;
    tg_str path = lab_path(l, "p.csv");
    assert_ok(
        l->engine->identity(l->engine->self, TG_FORMAT_CSV, path, -1, l->arena, &a, &l->error),
        &l->error);
    assert_ok(
        l->engine->identity(l->engine->self, TG_FORMAT_CSV, path, -1, l->arena, &b, &l->error),
        &l->error);
    assert_memory_equal(&a.digest, &b.digest, sizeof a.digest);
    assert_int_equal(a.version, -1);
    lab_file(l, "p.csv", "id\n1\n");
    assert_ok(
        l->engine->identity(l->engine->self, TG_FORMAT_CSV, path, -1, l->arena, &b, &l->error),
        &l->error);
    assert_memory_not_equal(&a.digest, &b.digest, sizeof a.digest);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, lab_setup, lab_teardown)
    const struct CMUnitTest tests[] = {
        TEST(names_may_repeat),     TEST(types_come_out),    TEST(streams_overlap),
        TEST(errors_while_reading), TEST(cancelled),         TEST(explained),
        TEST(csv_defaults),         TEST(csv_options),       TEST(csv_other_signs),
        TEST(csv_folder),           TEST(wrong_options),     TEST(json_lines),
        TEST(parquet_files),        TEST(identity_of_files),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
