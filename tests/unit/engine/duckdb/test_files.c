/* SPDX-License-Identifier: Apache-2.0 */
/* Rows into files and back: COPY with statistics, and FROM items over files. */
#include <unistd.h>

#include "engine/duckdb/duckdb_int.h"
#include "support/test.h"

typedef struct fixture {
    tg_arena *arena;
    tg_engine *engine;
    tg_duckdb_session session;
    tg_str path; /* of a table */
    tg_error error;
} fixture;

static int setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    fixture *f = TG_NEW(arena, fixture);
    f->arena = arena;
    f->path = tg_str_printf(arena, "%s/a t", tg_test_folder(arena));
    f->engine = tg_engine_duckdb_new(&(tg_engine_duckdb_options){0});
    *state = f;
    return tg_duckdb_session_open(f->engine->self, NULL, &f->session, &f->error) != TG_OK;
}

static int teardown(void **state)
{
    fixture *f = *state;
    tg_duckdb_session_close(&f->session);
    f->engine->close(f->engine->self);
    tg_error_dispose(&f->error);
    tg_arena_free(f->arena);
    return 0;
}

static tg_field field(const char *name, const tg_type *type)
{
    return (tg_field){.name = tg_str_from(name), .type = type, .nullable = true};
}

static tg_duckdb_added copy_ok(fixture *f, const tg_duckdb_copy *copy)
{
    tg_duckdb_added added = {0};
    assert_ok(tg_duckdb_copy_rows(&f->session, copy, f->arena, &added, &f->error), &f->error);
    return added;
}

/* The table's folder is there and empty. */
static void assert_no_files(fixture *f)
{
    tg_fs_entry *entries;
    size_t count;
    assert_ok(tg_fs_list(tg_fs_local(), f->path, false, f->arena, &entries, &count, &f->error),
              &f->error);
    assert_int_equal(count, 0);
}

/* All rows of a query as text: columns by '|', rows by ';'. */
static tg_str rows_of(fixture *f, tg_str sql)
{
    tg_str wrapped = tg_str_printf(f->arena,
                                   "SELECT string_agg(line, ';' ORDER BY line) FROM (SELECT "
                                   "concat_ws('|', *COLUMNS(*)) AS line FROM "
                                   "(SELECT coalesce(COLUMNS(*)::VARCHAR, 'NULL') FROM %.*s))",
                                   TG_SARG(sql));
    duckdb_result result;
    assert_ok(tg_duckdb_run(&f->session, wrapped, false, &result, &f->error), &f->error);
    duckdb_data_chunk chunk;
    assert_ok(tg_duckdb_fetch(&f->session, &result, &chunk, &f->error), &f->error);
    duckdb_vector column = tg_duckdb.data_chunk_get_vector(chunk, 0);
    tg_str text = tg_duckdb_cell_is_null(column, 0)
                      ? TG_S("")
                      : tg_str_copy(f->arena, tg_duckdb_cell_str(column, 0));
    tg_duckdb.destroy_data_chunk(&chunk);
    tg_duckdb.destroy_result(&result);
    return text;
}

static tg_str read_back(fixture *f, tg_duckdb_files item, const tg_duckdb_added *added,
                        const tg_zone *zone)
{
    const tg_delta_add **files = TG_NEW_ARRAY(f->arena, const tg_delta_add *, added->count);
    for (size_t i = 0; i < added->count; i++) {
        files[i] = &added->items[i];
    }
    item.table_path = f->path;
    item.files = files;
    item.file_count = added->count;
    tg_auto_buf tg_buf from = TG_BUF_INIT;
    assert_ok(tg_duckdb_put_files(&f->session, &item, zone, f->arena, &from, &f->error), &f->error);
    return rows_of(f, tg_buf_str(&from));
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void statistics(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {
        field("i", tg_type_of(TG_TYPE_INT)),
        field("We \"ird", tg_type_of(TG_TYPE_STRING)),
        field("dec", tg_type_decimal(f->arena, 30, 10)),
        field("d", tg_type_of(TG_TYPE_DATE)),
        field("ts", tg_type_of(TG_TYPE_TIMESTAMP)),
        field("ntz", tg_type_of(TG_TYPE_TIMESTAMP_NTZ)),
        field("x", tg_type_of(TG_TYPE_DOUBLE)),
        field("nan", tg_type_of(TG_TYPE_DOUBLE)),
        field("inf", tg_type_of(TG_TYPE_DOUBLE)),
        field("b", tg_type_of(TG_TYPE_BOOLEAN)),
        field("none", tg_type_of(TG_TYPE_BIGINT)),
        field("l", tg_type_array(f->arena, tg_type_of(TG_TYPE_INT), true)),
        field("zero", tg_type_of(TG_TYPE_DOUBLE)),
    };
    tg_duckdb_copy copy = {
        .table_path = f->path,
        .schema = {fields, TG_COUNT(fields)},
        .sql = TG_S("SELECT i::INTEGER AS i, s AS \"We \"\"ird\", dec::DECIMAL(30,10) AS dec, "
                    "d::DATE AS d, ts::TIMESTAMPTZ AS ts, "
                    "ntz::TIMESTAMP AS ntz, x::DOUBLE AS x, nan::DOUBLE AS nan, inf::DOUBLE AS "
                    "inf, b, none::BIGINT AS none, l, "
                    "zero::DOUBLE AS zero FROM (VALUES "
                    "(1, 'b', 12345678901234567890.12, '2024-01-02', '2024-01-01 "
                    "00:00:00.123456+00', '2024-01-01 00:00:00.123456', 1.5, 'nan', "
                    "'inf', true, NULL, [1], -0.0::DOUBLE), (-2, 'a', -0.5, '1969-12-31', NULL, "
                    "NULL, 2.5, '1', '2', false, NULL, NULL, 0.0)) "
                    "t(i, s, dec, d, ts, ntz, x, nan, inf, b, none, l, zero)"),
    };
    tg_duckdb_added added = copy_ok(f, &copy);
    assert_int_equal(added.count, 1);
    assert_int_equal(added.rows, 2);
    assert_str(added.items[0].stats,
               "{\"numRecords\":2,\"minValues\":{\"i\":-2,\"We "
               "\\\"ird\":\"a\",\"dec\":-0.5000000000,\"d\":\"1969-12-31\","
               "\"ts\":\"2024-01-01T00:00:00.123Z\",\"ntz\":\"2024-01-01T00:00:00.123\",\"x\":1.5,"
               "\"nan\":1.0,\"inf\":2.0,\"zero\":-0.0},"
               "\"maxValues\":{\"i\":1,\"We "
               "\\\"ird\":\"b\",\"dec\":12345678901234567890.1200000000,\"d\":\"2024-01-02\","
               "\"ts\":\"2024-01-01T00:00:00.124Z\",\"ntz\":\"2024-01-01T00:00:00.124\",\"x\":2.5,"
               "\"zero\":0.0},"
               "\"nullCount\":{\"i\":0,\"We "
               "\\\"ird\":0,\"dec\":0,\"d\":0,\"ts\":1,\"ntz\":1,\"x\":0,\"nan\":0,\"inf\":0,\"b\":"
               "0,\"none\":2,\"zero\":0}}");
    assert_true(added.items[0].data_change);
    assert_true(added.items[0].size_bytes > 0);
    assert_int_equal(access(tg_arena_printf(f->arena, "%.*s/%.*s", TG_SARG(f->path),
                                            TG_SARG(added.items[0].path)),
                            R_OK),
                     0);
}

static void later_columns_only_when_asked(void **state)
{
    fixture *f = *state;
    tg_field fields[40];
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    for (size_t i = 0; i < TG_COUNT(fields); i++) {
        fields[i] = field(tg_arena_printf(f->arena, "c%zu", i), tg_type_of(TG_TYPE_INT));
        tg_buf_addf(&sql, "%s %zu::INTEGER AS c%zu", i ? "," : "SELECT", i, i);
    }
    tg_str indexed[] = {TG_S("C38")};
    tg_duckdb_copy copy = {.table_path = f->path,
                           .schema = {fields, TG_COUNT(fields)},
                           .sql = tg_buf_str(&sql),
                           .indexed = indexed,
                           .indexed_count = 1};
    tg_str stats = copy_ok(f, &copy).items[0].stats;
    assert_int_not_equal(tg_str_find(stats, TG_S("\"c31\":31"), 0), SIZE_MAX);
    assert_int_equal(tg_str_find(stats, TG_S("\"c32\":32"), 0), SIZE_MAX);
    assert_int_not_equal(tg_str_find(stats, TG_S("\"c38\":38"), 0), SIZE_MAX);
}

static void no_rows_no_file(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("a", tg_type_of(TG_TYPE_INT))};
    tg_duckdb_copy copy = {.table_path = f->path,
                           .schema = {fields, 1},
                           .sql = TG_S("SELECT 1::INTEGER AS a WHERE false")};
    assert_int_equal(copy_ok(f, &copy).count, 0);
    assert_no_files(f);
}

static void failure_leaves_nothing(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("a", tg_type_of(TG_TYPE_BIGINT))};
    tg_duckdb_copy copy = {
        .table_path = f->path,
        .schema = {fields, 1},
        .sql = TG_S("SELECT CASE WHEN range = 900000 THEN error('[TG:DIVIDE_BY_ZERO] division by "
                    "zero') ELSE range END AS a "
                    "FROM range(1000000)")};
    tg_duckdb_added added = {0};
    assert_int_equal(tg_duckdb_copy_rows(&f->session, &copy, f->arena, &added, &f->error),
                     TG_EXECUTION);
    assert_error_class(&f->error, "DIVIDE_BY_ZERO");
    assert_int_equal(added.count, 0);
    assert_no_files(f);
}

static void not_null(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("a", tg_type_of(TG_TYPE_INT))};
    fields[0].nullable = false;
    tg_duckdb_copy copy = {.table_path = f->path,
                           .schema = {fields, 1},
                           .sql = TG_S("SELECT unnest([1, NULL])::INTEGER AS a")};
    tg_duckdb_added added = {0};
    assert_int_equal(tg_duckdb_copy_rows(&f->session, &copy, f->arena, &added, &f->error),
                     TG_EXECUTION);
    assert_error_class(&f->error, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    copy.sql = TG_S("SELECT 1::INTEGER AS a");
    assert_int_equal(copy_ok(f, &copy).count, 1);
}

/* ---- partitions ------------------------------------------------------------------------------ */

static void partitions(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("k", tg_type_of(TG_TYPE_STRING)),
                         field("v", tg_type_of(TG_TYPE_INT)),
                         field("ts", tg_type_of(TG_TYPE_TIMESTAMP))};
    tg_str columns[] = {TG_S("k"), TG_S("ts")};
    tg_duckdb_copy copy = {
        .table_path = f->path,
        .schema = {fields, 3},
        .partition_columns = columns,
        .partition_count = 2,
        .sql = TG_S("SELECT k, v::INTEGER AS v, ts::TIMESTAMPTZ AS ts FROM (VALUES "
                    "('a/b%?=\xC3\xA9:*#', 1, '2024-01-01 00:00:00.5+00'), "
                    "(NULL, 2, NULL), ('', 3, NULL)) t(k, v, ts)"),
    };
    tg_duckdb_added added = copy_ok(f, &copy);
    assert_int_equal(added.rows, 3);
    tg_duckdb_files item = {
        .schema = copy.schema, .partition_columns = columns, .partition_count = 2};
    /* An empty text cannot be told from NULL in a partition column: Delta's rule. */
    assert_str(read_back(f, item, &added, tg_zone_utc()),
               "NULL|2|NULL;NULL|3|NULL;a/b%?=\xC3\xA9:*#|1|2024-01-01 00:00:00.5+00");
    for (size_t i = 0; i < added.count; i++) {
        assert_int_equal(tg_str_find(added.items[i].stats, TG_S("\"k\""), 0), SIZE_MAX);
        tg_str decoded;
        assert_true(tg_uri_decode(f->arena, added.items[i].encoded_path, &decoded));
        assert_true(tg_str_eq(decoded, added.items[i].path));
        if (added.items[i].partition_values[1].text.len) {
            assert_str(added.items[i].partition_values[1].text, "2024-01-01T00:00:00.500000Z");
        }
    }
}

/* ---- FROM items ------------------------------------------------------------------------------ */

static void older_files(void **state)
{
    fixture *f = *state;
    tg_field old_fields[] = {field("a", tg_type_of(TG_TYPE_INT)),
                             field("FILE_INDEX", tg_type_of(TG_TYPE_STRING))};
    tg_duckdb_copy copy = {.table_path = f->path,
                           .schema = {old_fields, 2},
                           .sql = TG_S("SELECT 1::INTEGER AS a, 'x' AS \"FILE_INDEX\"")};
    tg_duckdb_added added = copy_ok(f, &copy);
    tg_field fields[] = {
        field("A", tg_type_of(TG_TYPE_BIGINT)),
        field("new'col", tg_type_of(TG_TYPE_DATE)),
        field("file_index", tg_type_of(TG_TYPE_STRING)),
    };
    tg_duckdb_files item = {.schema = {fields, 3}};
    assert_str(read_back(f, item, &added, tg_zone_utc()), "1|NULL|x");
    item.file_number = "tidegate file number";
    assert_str(read_back(f, item, &added, tg_zone_utc()), "1|NULL|x|0");
    size_t wanted[] = {2};
    item.file_number = NULL;
    item.fields = wanted;
    item.field_count = 1;
    assert_str(read_back(f, item, &added, tg_zone_utc()), "x");
    added.count = 0;
    assert_str(read_back(f, item, &added, tg_zone_utc()), "");
}

/* More files than the list of values is used for. */
static void many_partitions(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("p", tg_type_of(TG_TYPE_INT)), field("v", tg_type_of(TG_TYPE_INT))};
    tg_str columns[] = {TG_S("p")};
    tg_duckdb_copy copy = {
        .table_path = f->path,
        .schema = {fields, 2},
        .partition_columns = columns,
        .partition_count = 1,
        .sql = TG_S(
            "SELECT nullif(range, 7)::INTEGER AS p, (range * 2)::INTEGER AS v FROM range(300)")};
    tg_duckdb_added added = copy_ok(f, &copy);
    assert_int_equal(added.count, 300);
    tg_duckdb_files item = {
        .schema = {fields, 2}, .partition_columns = columns, .partition_count = 1};
    const tg_delta_add **files = TG_NEW_ARRAY(f->arena, const tg_delta_add *, added.count);
    for (size_t i = 0; i < added.count; i++) {
        files[i] = &added.items[i];
    }
    item.table_path = f->path;
    item.files = files;
    size_t counts[] = {300, 200};
    for (size_t i = 0; i < TG_COUNT(counts); i++) { /* by a join, by a list */
        item.file_count = counts[i];
        tg_auto_buf tg_buf from = TG_BUF_INIT;
        assert_ok(
            tg_duckdb_put_files(&f->session, &item, tg_zone_utc(), f->arena, &from, &f->error),
            &f->error);
        tg_str sql = tg_str_printf(f->arena,
                                   "(SELECT count(*), count(*) FILTER (WHERE p * 2 IS DISTINCT "
                                   "FROM nullif(v, 14)) FROM %.*s)",
                                   TG_SARG(tg_buf_str(&from)));
        assert_str(rows_of(f, sql), i ? "200|0" : "300|0");
    }
}

/* Instants are the same in every session zone. */
static void zones(void **state)
{
    fixture *f = *state;
    tg_field fields[] = {field("ts", tg_type_of(TG_TYPE_TIMESTAMP)),
                         field("n", tg_type_of(TG_TYPE_TIMESTAMP_NTZ))};
    tg_duckdb_copy copy = {.table_path = f->path,
                           .schema = {fields, 2},
                           .sql = TG_S("SELECT TIMESTAMPTZ '2024-07-01 12:00:00+00' AS ts, "
                                       "TIMESTAMP '2024-07-01 12:00:00' AS n")};
    tg_duckdb_added added = copy_ok(f, &copy);
    const tg_zone *zone;
    assert_ok(tg_zone_load(TG_S("America/New_York"), f->arena, &zone, &f->error), &f->error);
    tg_duckdb_session_close(&f->session);
    assert_ok(tg_duckdb_session_open(f->engine->self, zone, &f->session, &f->error), &f->error);
    tg_duckdb_files item = {.schema = {fields, 2}};
    assert_str(read_back(f, item, &added, zone), "2024-07-01 08:00:00-04|2024-07-01 12:00:00");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(statistics),      TEST(later_columns_only_when_asked),
        TEST(no_rows_no_file), TEST(failure_leaves_nothing),
        TEST(not_null),        TEST(partitions),
        TEST(older_files),     TEST(many_partitions),
        TEST(zones),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
