/* SPDX-License-Identifier: Apache-2.0 */
/* The C functions inside DuckDB: values, NULLs, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/duckdb/udf.h"

static duckdb_database database;
static duckdb_connection connection;

static int set_up(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_duckdb_api_load(tg_env_system(), &err) != TG_OK) {
        print_error("%s\n", err.message);
        return -1;
    }
    duckdb_config config;
    char *message = NULL;
    tg_duckdb.create_config(&config);
    assert_int_equal(tg_duckdb.open_ext(NULL, &database, config, &message), DuckDBSuccess);
    tg_duckdb.destroy_config(&config);
    assert_int_equal(tg_duckdb.connect(database, &connection), DuckDBSuccess);
    return tg_duckdb_udf_register(connection, &err) == TG_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    if (connection) {
        tg_duckdb.disconnect(&connection);
        tg_duckdb.close(&database);
    }
    return 0;
}

typedef struct sql_case {
    const char *sql;
    const char *expected; /* text of the value; NULL: NULL; "!CLASS": an error */
} sql_case;

static void check_value(const sql_case *c, duckdb_result *result)
{
    duckdb_data_chunk chunk = tg_duckdb.fetch_chunk(*result);
    assert_non_null(chunk);
    duckdb_vector vector = tg_duckdb.data_chunk_get_vector(chunk, 0);
    uint64_t *validity = tg_duckdb.vector_get_validity(vector);
    if (validity && !tg_duckdb.validity_row_is_valid(validity, 0)) {
        if (c->expected) {
            fail_msg("%s is NULL", c->sql);
        }
    } else {
        duckdb_string_t *value = tg_duckdb.vector_get_data(vector);
        tg_str text = {tg_duckdb.string_t_data(value), tg_duckdb.string_t_length(*value)};
        if (!c->expected || !tg_str_eq(text, tg_str_from(c->expected))) {
            fail_msg("%s is %.*s, not %s", c->sql, TG_SARG(text),
                     c->expected ? c->expected : "NULL");
        }
    }
    tg_duckdb.destroy_data_chunk(&chunk);
}

static void check_all(const sql_case *cases, size_t count)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (size_t i = 0; i < count; i++) {
        duckdb_result result;
        const char *sql = tg_arena_printf(arena, "SELECT CAST(%s AS VARCHAR)", cases[i].sql);
        bool is_ok = tg_duckdb.query(connection, sql, &result) == DuckDBSuccess;
        bool wants_error = cases[i].expected && cases[i].expected[0] == '!';
        if (is_ok && !wants_error) {
            check_value(&cases[i], &result);
        } else if (is_ok) {
            fail_msg("%s gives a value, not %s", cases[i].sql, cases[i].expected);
        } else {
            const char *message = tg_duckdb.result_error(&result);
            const char *mark =
                tg_arena_printf(arena, "[TG:%s", wants_error ? cases[i].expected + 1 : "?");
            if (!strstr(message, mark)) {
                fail_msg("%s: %s", cases[i].sql, message);
            }
        }
        tg_duckdb.destroy_result(&result);
    }
}
#define CHECK_ALL(cases) check_all((cases), sizeof(cases) / sizeof((cases)[0]))

static void test_cast(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_cast_long(' +12 ', 32, FALSE)", "12"},
        {"tg_cast_long('128', 8, TRUE)", NULL},
        {"tg_cast_long('12.5', 32, FALSE)", "!CAST_INVALID_INPUT"},
        {"tg_cast_long('-9223372036854775808', 64, FALSE)", "-9223372036854775808"},
        {"tg_cast_long('9223372036854775808', 64, FALSE)", "!CAST_INVALID_INPUT"},
        {"tg_cast_long(NULL, 32, FALSE)", NULL},
        {"tg_cast_double('1d', FALSE)", "1.0"},
        {"tg_cast_double('-inf', FALSE)", "-inf"},
        {"tg_cast_double('1_0', TRUE)", NULL},
        {"tg_cast_decimal('12.355', 6, 2, FALSE)", "1236"},
        {"tg_cast_decimal('-0.005', 6, 2, FALSE)", "-1"},
        {"tg_cast_decimal('1.5e2', 6, 2, FALSE)", "15000"},
        {"tg_cast_decimal('99999', 6, 2, FALSE)", "!NUMERIC_VALUE_OUT_OF_RANGE"},
        {"tg_cast_decimal('9e99999999999', 38, 0, TRUE)", NULL},
        {"tg_cast_boolean(' Yes ', FALSE)", "true"},
        {"tg_cast_boolean('on', FALSE)", "!CAST_INVALID_INPUT"},
        {"tg_cast_date('2024-02-30', TRUE)", NULL},
        {"tg_cast_local('2024-02-29 12:34:56Z', FALSE)", "2024-02-29 12:34:56"},
        {"epoch_us(tg_cast_timestamp('2024-07-01 12:00:00', 'Europe/Paris', FALSE))",
         "1719828000000000"},
        {"tg_cast_timestamp('2024-07-01 12:00:00', 'Nowhere', FALSE)", "!INVALID_TIMEZONE"},
        {"tg_double_long(1.9, 32, FALSE)", "1"},
        {"tg_double_long(-1.9, 32, FALSE)", "-1"},
        {"tg_double_long(CAST('nan' AS DOUBLE), 32, FALSE)", "!CAST_OVERFLOW"},
        {"tg_double_long(9.3e18, 64, TRUE)", NULL},
        {"tg_double_decimal(1.005, 7, 2, FALSE)", "101"},
        {"tg_double_decimal(CAST('inf' AS DOUBLE), 7, 2, FALSE)", NULL},
        {"tg_double_text(1e7)", "1.0E7"},
        {"tg_double_text(0.001)", "0.001"},
        {"tg_double_text(1e-4)", "1.0E-4"},
        {"tg_double_text(CAST('-0.0' AS DOUBLE))", "-0.0"},
        {"tg_double_text(123456.789)", "123456.789"},
        {"tg_float_text(CAST('1.1' AS FLOAT))", "1.1"},
        {"tg_binary_text(CAST('\\xFF' AS BLOB))", "!UNSUPPORTED_FEATURE"},
    };
    CHECK_ALL(cases);
}

static void test_decimal(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_decimal_div(CAST(2 AS DECIMAL(20,10)), CAST(3 AS DECIMAL(20,10)), 38, 18, FALSE)",
         "666666666666666667"},
        {"tg_decimal_div(CAST(-1 AS DECIMAL(3,0)), CAST(8 AS DECIMAL(3,0)), 9, 2, FALSE)", "-13"},
        {"tg_decimal_div(1, 0, 9, 2, FALSE)", "!DIVIDE_BY_ZERO"},
        {"tg_decimal_div(1, 0, 9, 2, TRUE)", NULL},
        {"tg_decimal_mul(CAST('1.23456789' AS DECIMAL(38,18)), CAST('9.87654321' AS "
         "DECIMAL(38,18)), 38, 6, FALSE)",
         "12193263"},
        {"tg_decimal_mul(CAST('99999999999999999999' AS DECIMAL(38,0)), "
         "CAST('99999999999999999999' AS DECIMAL(38,0)), 38, 0, FALSE)",
         "!NUMERIC_VALUE_OUT_OF_RANGE"},
        {"tg_decimal_add(CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0)), 1, 38, "
         "0, FALSE)",
         "!NUMERIC_VALUE_OUT_OF_RANGE"},
        {"tg_decimal_sub(CAST('0.5' AS DECIMAL(38,30)), CAST('2' AS DECIMAL(38,0)), 38, 6, FALSE)",
         "-1500000"},
        {"tg_decimal_mod(CAST('-7.50' AS DECIMAL(10,2)), 2, 10, 2, FALSE)", "-150"},
        {"tg_decimal_pmod(CAST('-7.50' AS DECIMAL(10,2)), 2, 10, 2, FALSE)", "50"},
        {"tg_decimal_div_long(CAST('-7.50' AS DECIMAL(10,2)), 2)", "-3"},
        {"tg_decimal_round(CAST('2.5' AS DECIMAL(2,1)), 0, 'half_even', 2, 0)", "2"},
        {"tg_decimal_round(CAST('-1.231' AS DECIMAL(4,3)), 2, 'floor', 4, 2)", "-124"},
        {"tg_decimal_round(CAST('1234' AS DECIMAL(10,0)), -2, 'ceiling', 11, 0)", "1300"},
        {"tg_decimal_avg(CAST(5 AS DECIMAL(38,2)), 3, 14, 6, FALSE)", "1666667"},
    };
    CHECK_ALL(cases);
}

static void test_math(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_sqrt(-1)", "nan"},
        {"tg_ln(0)", NULL},
        {"tg_log(2, 8)", "3.0"},
        {"tg_pow(1, CAST('nan' AS DOUBLE))", "nan"},
        {"tg_div_double(1, 0, FALSE)", "!DIVIDE_BY_ZERO"},
        {"tg_div_long(-5, 2, FALSE)", "-2"},
        {"tg_floor_div(-5, 2)", "-3"},
        {"tg_mod_long(7, 0, FALSE)", "!REMAINDER_BY_ZERO"},
        {"tg_mod_long(-9223372036854775808, -1, FALSE)", "0"},
        {"tg_pmod_long(-7, 3, FALSE)", "2"},
        {"tg_pmod_long(7, -3, FALSE)", "1"},
        {"tg_try_add_long(127, 1, 8)", NULL},
        {"tg_try_mul_long(9223372036854775807, 2, 64)", NULL},
        {"tg_round_double(1.005, 2, FALSE)", "1.01"},
        {"tg_round_double(2.5, 0, TRUE)", "2.0"},
        {"tg_round_double(1e308, 2, FALSE)", "1e+308"},
        {"tg_round_double(-1250, -2, FALSE)", "-1300.0"},
        {"tg_round_double(1e-37, 37, TRUE)", "1e-37"},
        {"tg_round_double(5e-38, 37, TRUE)", "0.0"},
        {"tg_round_double(2.5000001e-36, 36, TRUE)", "3e-36"},
        {"tg_round_double(2.5e-300, 300, TRUE)", "2e-300"},
        {"tg_round_double(1.5e300, -300, TRUE)", "2e+300"},
        {"tg_round_double(-4.9e19, -20, TRUE)", "0.0"},
        {"tg_round_double(123, -37, TRUE)", "0.0"},
        {"tg_round_double(123, -2147483648, FALSE)", "0.0"},
        {"tg_round_double(123, 2147483647, FALSE)", "123.0"},
        {"tg_round_double(123456789012345680, -1, TRUE)", "1.2345678901234568e+17"},
        {"tg_round_float(2.345::FLOAT, 2, FALSE)", "2.35"},
        {"tg_cbrt(27)", "3.0"},
        {"tg_cbrt(216)", "6.0"},
        {"tg_cbrt(-8)", "-2.0"},
        {"tg_round_long(25, -1, TRUE)", "20"},
        {"tg_ceil_long(CAST('nan' AS DOUBLE))", "0"},
        {"tg_floor_long(1e20)", "9223372036854775807"},
        {"tg_factorial(21)", NULL},
        {"tg_conv('-10', 16, -10)", "-16"},
        {"tg_conv('-10', 16, 10)", "18446744073709551600"},
        {"tg_shift_left(1, 33, 32)", "2"},
        {"tg_shift_right_unsigned(-8, 1, 32)", "2147483644"},
        {"tg_width_bucket(5.3, 0.2, 10.6, 5)", "3"},
        {"tg_width_bucket(-2.1, 1.3, 3.4, 3)", "0"},
        {"tg_sum_long(CAST('9223372036854775808' AS HUGEINT))", "!ARITHMETIC_OVERFLOW"},
    };
    CHECK_ALL(cases);
}

static void test_string(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_substring('Spark SQL', 0, 3)", "Spa"},
        {"tg_substring('Spark SQL', -20, 13)", "Sp"},
        {"tg_substring('a\xF0\x9F\x98\x80"
         "b', 2, 1)",
         "\xF0\x9F\x98\x80"},
        {"tg_substring('abc', 2147483647)", ""},
        {"tg_right('abc', -1)", ""},
        {"tg_lpad('hi', 5, '?!')", "?!?hi"},
        {"tg_rpad('hi', 1)", "h"},
        {"tg_lpad('hi', 5, '')", "hi"},
        {"tg_substring_index('www.apache.org', '.', -2)", "apache.org"},
        {"tg_substring_index('a.b', '.', 1)", "a"},
        {"tg_split_part('11.12.13', '.', -1)", "13"},
        {"tg_split_part('a', '.', 0)", "!INVALID_INDEX_OF_ZERO"},
        {"tg_translate('AaBbCc', 'abc', '12')", "A1B2C"},
        {"tg_upper('stra\xC3\x9F"
         "e')",
         "STRASSE"},
        {"tg_initcap('hello wORLD-x')", "Hello World-x"},
        {"tg_levenshtein('kitten', 'sitting')", "3"},
        {"tg_soundex('Pfister')", "P236"},
        {"tg_like('a%c', 'a\\%c', '\\')", "true"},
        {"tg_like('abc', '_b%', '\\')", "true"},
        {"tg_like('abc', 'ab\\', '\\')", "!INVALID_FORMAT"},
        {"tg_format_double(0.015, 2)", "0.01"},
        {"tg_format_decimal('1234567.895', 2)", "1,234,567.90"},
        {"tg_format_decimal('-1234', 1)", "-1,234.0"},
        {"tg_format_decimal('0.95000000000000000000000000000000000000', 0)", "1"},
        {"tg_format_decimal('0.50000000000000000000000000000000000000', 0)", "0"},
        {"tg_format_decimal('-0.99999999999999999999999999999999999999', 0)", "-1"},
        {"tg_chr(321)", "A"},
        {"hex(tg_unhex('F'))", "0F"},
        {"tg_unhex('XY')", NULL},
        {"tg_url_encode('a b&\xC3\xA9')", "a+b%26%C3%A9"},
        {"tg_url_decode('a%2', FALSE)", "!CANNOT_DECODE_URL"},
        {"tg_parse_url('https://user:pw@host:8080/p/q?x=y#frag', 'USERINFO', FALSE)", "user:pw"},
        {"tg_parse_url('https://user:pw@host:8080/p/q?x=y#frag', 'AUTHORITY', FALSE)",
         "user:pw@host:8080"},
        {"tg_parse_url('https://user:pw@host:8080/p/q?x=y#frag', 'FILE', FALSE)", "/p/q?x=y"},
        {"tg_parse_url('https://host', 'PATH', FALSE)", ""},
        {"tg_parse_url('', 'PATH', FALSE)", ""},
        {"tg_parse_url('', 'HOST', FALSE)", NULL},
        {"tg_parse_url('http://a_b:80/x', 'HOST', FALSE)", NULL},
        {"tg_parse_url('http://a_b:80/x', 'AUTHORITY', FALSE)", "a_b:80"},
        {"tg_parse_url('http://[::1]:80/x', 'HOST', FALSE)", "[::1]"},
        {"tg_parse_url('http://[::x]/', 'HOST', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('http://1.2.3.4/', 'HOST', FALSE)", "1.2.3.4"},
        {"tg_parse_url('http://1.2.3.456/', 'HOST', FALSE)", NULL},
        {"tg_parse_url('http://a.1/', 'HOST', FALSE)", NULL},
        {"tg_parse_url('http://a-/', 'HOST', FALSE)", NULL},
        {"tg_parse_url('mailto:a@b', 'PROTOCOL', FALSE)", "mailto"},
        {"tg_parse_url('mailto:a@b', 'PATH', FALSE)", NULL},
        {"tg_parse_url('mailto:', 'PATH', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('http://', 'HOST', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('1http://x', 'HOST', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('file:///etc', 'PATH', FALSE)", "/etc"},
        {"tg_parse_url('http://x/é?ü#ö', 'REF', FALSE)", "ö"},
        {"tg_parse_url('http://x/%zz', 'PATH', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('http://x/a b', 'PATH', FALSE)", "!INVALID_URL"},
        {"tg_parse_url('http://x:99999999999/', 'HOST', FALSE)", NULL},
        {"tg_parse_url('http://x/', 'host', FALSE)", NULL},
        {"tg_parse_url('http://x/?a=1&ab=2&b=3', 'QUERY', 'b', FALSE)", "3"},
        {"tg_parse_url('http://x/?a=1', 'QUERY', 'c', FALSE)", NULL},
        {"tg_parse_url('http://x/?a=1', 'PATH', 'a', FALSE)", NULL},
        {"tg_parse_url('http://x/?a=1', 'QUERY', '.', FALSE)", "!UNSUPPORTED_FEATURE"},
        {"tg_parse_url('http://a b', 'HOST', TRUE)", NULL},
        {"tg_locate('bar', 'foobarbar', 5)", "7"},
        {"tg_find_in_set('b', 'a,b')", "2"},
    };
    CHECK_ALL(cases);
}

static void test_datetime(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_add_months(DATE '2024-01-31', 1)", "2024-02-29"},
        {"tg_add_months(DATE '2024-03-31', -13)", "2023-02-28"},
        {"tg_add_months(DATE '9999-12-31', 100000000)", "!DATETIME_OVERFLOW"},
        {"tg_add_months(DATE '2024-01-31', -2147483648)", "!DATETIME_OVERFLOW"},
        {"tg_add_months_local(TIMESTAMP '9999-12-31', 100000000)", "!DATETIME_OVERFLOW"},
        {"tg_add_months_local(TIMESTAMP '2024-01-31 01:00:00', 1)", "2024-02-29 01:00:00"},
        {"tg_timestamp_add('YEAR', 300000, TIMESTAMP '2020-01-01')", "!DATETIME_OVERFLOW"},
        {"tg_timestamp_diff('MONTH', TIMESTAMP '2024-01-31', TIMESTAMP '2024-03-31')", "2"},
        {"tg_timestamp_diff('MONTH', TIMESTAMP '2024-03-31', TIMESTAMP '2024-02-29')", "-1"},
        {"tg_timestamp_diff('DAY', TIMESTAMP '2024-01-01 12:00:00', TIMESTAMP '2024-01-03 "
         "11:59:59')",
         "1"},
        {"tg_timestamp_add('YEAR', 1, TIMESTAMP '2024-02-29 01:00:00')", "2025-02-28 01:00:00"},
        {"tg_months_between(TIMESTAMP '2024-02-28', TIMESTAMP '2024-01-31', TRUE)", "0.90322581"},
        {"tg_next_day(DATE '2024-01-01', 'tu')", "2024-01-02"},
        {"tg_next_day(DATE '2024-01-01', 'x')", "!ILLEGAL_DAY_OF_WEEK"},
        {"tg_make_date(2023, 2, 29)", "!DATETIME_FIELD_OUT_OF_BOUNDS"},
        {"tg_make_local(2024, 2, 29, 12, 34, CAST('60.5' AS DECIMAL(16,6)), FALSE)",
         "!INVALID_FRACTION_OF_SECOND"},
        {"tg_make_local(2024, 2, 29, 12, 34, CAST('60' AS DECIMAL(16,6)), FALSE)",
         "2024-02-29 12:35:00"},
        {"tg_interval_div(CAST(10 AS BIGINT), CAST(4 AS BIGINT))", "3"},
        {"tg_interval_div(CAST(1 AS BIGINT), CAST(0 AS BIGINT))", "!INTERVAL_DIVIDED_BY_ZERO"},
        {"tg_parse_date('2024-02-30', 'yyyy-MM-dd', TRUE)", NULL},
        {"tg_parse_date('2024-02-30', 'yyyy-MM-dd', FALSE)", "!CANNOT_PARSE_TIMESTAMP"},
        /* The day of the change to summer time has 23 hours; the hour behind it counts in full. */
        {"epoch_us(tg_add_day_time(make_timestamptz(CAST(1711800000000000 AS BIGINT)), "
         "CAST(86400000000 AS BIGINT), 'Europe/Paris'))",
         "1711882800000000"},
        {"epoch_us(tg_add_day_time(make_timestamptz(CAST(1711800000000000 AS BIGINT)), "
         "CAST(90000000000 AS BIGINT), 'Europe/Paris'))",
         "1711886400000000"},
        {"tg_date_format(make_timestamptz(CAST(0 AS BIGINT)), 'HH:mm', 'Asia/Kolkata')", "05:30"},
    };
    CHECK_ALL(cases);
}

static void test_hash_json(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"tg_hash('Spark', [123], 2)", "-1321691492"},
        {"tg_hash(NULL)", "42"},
        {"tg_hash(CAST('-0.0' AS DOUBLE))", "-1670924195"},
        {"tg_hash(CAST('1.5' AS DECIMAL(30,5)))", "157495109"},
        {"tg_xxhash64('Spark')", "-4294468057691064905"},
        {"tg_xxhash64(CAST('1.5' AS DECIMAL(30,5)))", "2918457599525478309"},
        {"tg_crc32(encode('Spark'))", "1557323817"},
        {"tg_get_json_object('{\"a\":{\"b\":[1,2.50,\"x\"]}}', '$.a.b')", "[1,2.50,\"x\"]"},
        {"tg_get_json_object('{\"a\":{\"b\":[1,2,\"x\"]}}', '$.a.b[2]')", "x"},
        {"tg_get_json_object('{\"a\":[{\"b\":1},{\"b\":2}]}', '$.a[*].b')", "[1,2]"},
        {"tg_get_json_object('{\"a\":null}', '$.a')", NULL},
        {"tg_get_json_object('bad', '$.a')", NULL},
        {"tg_json_array_length('[1,2]')", "2"},
        {"tg_bad_index(5, 3)", "!INVALID_ARRAY_INDEX"},
        {"tg_check_slice(0, 1)", "!INVALID_PARAMETER_VALUE.START"},
        {"tg_raise_error('boom')", "!USER_RAISED_EXCEPTION"},
        {"tg_assert_true(TRUE)", NULL},
    };
    CHECK_ALL(cases);
}

/* Columns of several chunks: NULLs in between, strings longer than DuckDB keeps inline. */
static void test_chunks(void **state)
{
    (void)state;
    static const sql_case cases[] = {
        {"(SELECT sum(tg_cast_long(CASE WHEN x % 3 = 0 THEN NULL ELSE CAST(x AS VARCHAR) END, 64, "
         "FALSE)) FROM range(10000) t(x))",
         "33326667"},
        {"(SELECT count(DISTINCT tg_reverse('a rather long text ' || x)) FROM range(5000) t(x))",
         "5000"},
        {"(SELECT sum(tg_hash(x, CASE WHEN x % 2 = 0 THEN [x, NULL] END)) IS NOT NULL FROM "
         "range(5000) t(x))",
         "true"},
        {"(SELECT max(CASE WHEN x < 4999 THEN 1 WHEN tg_bad_index(1, x) THEN NULL END) FROM "
         "range(4999) t(x))",
         "1"},
    };
    CHECK_ALL(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cast),     cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_math),     cmocka_unit_test(test_string),
        cmocka_unit_test(test_datetime), cmocka_unit_test(test_hash_json),
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
