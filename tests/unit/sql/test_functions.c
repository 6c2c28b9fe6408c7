/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function table: lookup, arity, types of results, casts, refusals. What the functions compute
 * is tested with DuckDB.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/functions_int.h"

static tg_arena *arena;
static tg_fn_context context;

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new();
    context = (tg_fn_context){.arena = arena, .now_us = 0, .zone = tg_zone_utc()};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

/* ---- making arguments ------------------------------------------------------------------------ */

static const tg_type *decimal(int precision, int scale)
{
    return tg_type_decimal(arena, precision, scale);
}

static tg_bexpr *text(const char *value)
{
    return tg_bexpr_literal(arena, tg_value_bytes(tg_type_of(TG_TYPE_STRING), tg_str_from(value)),
                            (tg_span){0, 1});
}

/* As the binder makes it of a literal that is written so. */
static tg_bexpr *integer(int64_t value)
{
    tg_bexpr *expr =
        tg_bexpr_literal(arena, tg_value_int(tg_type_of(TG_TYPE_INT), value), (tg_span){0, 1});
    expr->is_foldable_int_literal = true;
    return expr;
}

static tg_bexpr *column(const tg_type *type)
{
    tg_column column = {.id = 1, .name = TG_S("c"), .type = type, .nullable = true};
    return tg_bexpr_column(arena, &column, (tg_span){2, 3});
}

static tg_bexpr *column_of(tg_type_kind kind)
{
    return column(tg_type_of(kind));
}

static tg_bexpr *null(void)
{
    return tg_bexpr_literal(arena, tg_value_null(tg_type_of(TG_TYPE_VOID)), (tg_span){0, 4});
}

static tg_code apply(const char *name, tg_bexpr **args, size_t count, tg_bexpr **out, tg_error *err)
{
    const tg_function *function = tg_function_find(tg_str_from(name));
    assert_non_null(function);
    return tg_function_apply(&context, function, args, count, (tg_span){0, 9}, out, err);
}

#define ARGS(...) \
    ((tg_bexpr *[]){__VA_ARGS__}), sizeof((tg_bexpr *[]){__VA_ARGS__}) / sizeof(tg_bexpr *)

static void check_type(const char *name, tg_bexpr **args, size_t count, const char *type)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_bexpr *call;
    assert_int_equal(apply(name, args, count, &call, &err), TG_OK);
    assert_string_equal(tg_type_text(arena, call->type).ptr, type);
}

static void check_error(const char *name, tg_bexpr **args, size_t count, tg_error_class cls)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_bexpr *call;
    assert_int_not_equal(apply(name, args, count, &call, &err), TG_OK);
    assert_string_equal(tg_error_name(&err), tg_error_class_name(cls));
    assert_true(err.has_span);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < tg_function_count(); i++) {
        const tg_function *function = tg_function_at(i);
        /*
         * Names are unique, in lower case, and every entry can be resolved, printed and explained.
         */
        assert_ptr_equal(tg_function_find(tg_str_from(function->name)), function);
        for (const char *c = function->name; *c; c++) {
            assert_false(*c >= 'A' && *c <= 'Z');
        }
        assert_non_null(function->resolve);
        bool is_folded = function->volatility == TG_VOL_TIME,
             is_generator = function->cls == TG_FN_GENERATOR;
        assert_true((function->duckdb || function->print) != (is_folded || is_generator));
        assert_true(function->max_args < 0 || function->max_args >= function->min_args);
        size_t doc = strlen(function->doc);
        assert_true(doc > 0 && strchr(".?", function->doc[doc - 1]));
    }
    assert_ptr_equal(tg_function_find(TG_S("SubString")), tg_function_find(TG_S("substring")));
    assert_null(tg_function_find(TG_S("no_such_function")));
    assert_string_equal(tg_str_cstr(arena, tg_function_nearest(TG_S("substrnig"))), "substring");
}

static void test_arity(void **state)
{
    (void)state;
    check_error("abs", ARGS(integer(1), integer(2)), TG_E_WRONG_NUM_ARGS);
    check_error("greatest", ARGS(integer(1)), TG_E_WRONG_NUM_ARGS);
    check_error("map", ARGS(integer(1)), TG_E_WRONG_NUM_ARGS);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void test_arithmetic_types(void **state)
{
    (void)state;
    check_type("+", ARGS(column_of(TG_TYPE_TINYINT), column_of(TG_TYPE_SMALLINT)), "smallint");
    check_type("+", ARGS(column_of(TG_TYPE_INT), column_of(TG_TYPE_FLOAT)), "double");
    check_type("/", ARGS(integer(1), integer(2)), "double");
    check_type("div", ARGS(column_of(TG_TYPE_INT), integer(2)), "bigint");
    check_type("+", ARGS(text("5"), integer(3)), "bigint");
    check_type("+", ARGS(text("5"), column(decimal(4, 1))), "double");
    check_type("+", ARGS(integer(1), null()), "int");
    check_error("*", ARGS(text("5"), text("2")), TG_E_DATATYPE_MISMATCH_BINARY_OP_WRONG_TYPE);
    check_error("+", ARGS(column_of(TG_TYPE_BOOLEAN), integer(1)),
                TG_E_DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES);
}

static void test_decimal_types(void **state)
{
    (void)state;
    check_type("+", ARGS(column(decimal(10, 2)), column(decimal(5, 4))), "decimal(13,4)");
    check_type("*", ARGS(column(decimal(10, 2)), column(decimal(5, 4))), "decimal(16,6)");
    check_type("/", ARGS(column(decimal(10, 2)), column(decimal(10, 2))), "decimal(23,13)");
    check_type("%", ARGS(column(decimal(10, 2)), column(decimal(5, 4))), "decimal(5,4)");
    /* A literal counts with its own digits, a column with those of its type. */
    check_type("*", ARGS(column(decimal(10, 2)), integer(100)), "decimal(14,2)");
    check_type("*", ARGS(column(decimal(10, 2)), column_of(TG_TYPE_BIGINT)), "decimal(31,2)");
    /* Beyond 38 digits the scale gives way, down to 6. */
    check_type("*", ARGS(column(decimal(38, 18)), column(decimal(38, 18))), "decimal(38,6)");
    check_type("/", ARGS(column(decimal(18, 2)), column(decimal(18, 2))), "decimal(38,20)");
    check_type("sum", ARGS(column(decimal(10, 2))), "decimal(20,2)");
    check_type("avg", ARGS(column(decimal(38, 10))), "decimal(38,14)");
    check_type("round", ARGS(column(decimal(4, 3)), integer(2)), "decimal(4,2)");
    check_type("ceil", ARGS(column(decimal(2, 1))), "decimal(2,0)");
    check_type("floor", ARGS(column_of(TG_TYPE_DOUBLE)), "bigint");
}

static void test_common_types(void **state)
{
    (void)state;
    check_type("coalesce", ARGS(column(decimal(2, 1)), column_of(TG_TYPE_INT)), "decimal(11,1)");
    check_type("coalesce", ARGS(text("a"), integer(1)), "bigint");
    check_type("coalesce", ARGS(null(), null()), "void");
    check_type("array", ARGS(column_of(TG_TYPE_DATE), column_of(TG_TYPE_TIMESTAMP)),
               "array<timestamp>");
    check_type("greatest", ARGS(integer(1), column(decimal(2, 1))), "decimal(11,1)");
    check_error("greatest", ARGS(integer(1), text("2")), TG_E_DATATYPE_MISMATCH_DATA_DIFF_TYPES);
    check_error("=", ARGS(column_of(TG_TYPE_BOOLEAN), integer(1)),
                TG_E_DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES);
    check_error("case", ARGS(text("true"), integer(1)),
                TG_E_DATATYPE_MISMATCH_UNEXPECTED_INPUT_TYPE);
    const tg_type *map =
        tg_type_map(arena, tg_type_of(TG_TYPE_INT), tg_type_of(TG_TYPE_INT), false);
    check_error("=", ARGS(column(map), column(map)), TG_E_DATATYPE_MISMATCH_INVALID_ORDERING_TYPE);
    check_error("hash", ARGS(column(map)), TG_E_DATATYPE_MISMATCH_HASH_MAP_TYPE);
}

static void test_time_types(void **state)
{
    (void)state;
    const tg_type *day = tg_type_interval(arena, TG_FIELD_DAY, TG_FIELD_DAY);
    const tg_type *hour = tg_type_interval(arena, TG_FIELD_HOUR, TG_FIELD_HOUR);
    const tg_type *month = tg_type_interval(arena, TG_FIELD_MONTH, TG_FIELD_MONTH);
    check_type("-", ARGS(column_of(TG_TYPE_DATE), column_of(TG_TYPE_DATE)), "interval day");
    check_type("-", ARGS(column_of(TG_TYPE_TIMESTAMP), column_of(TG_TYPE_DATE)),
               "interval day to second");
    check_type("+", ARGS(column_of(TG_TYPE_DATE), column(day)), "date");
    check_type("+", ARGS(column_of(TG_TYPE_DATE), column(hour)), "timestamp");
    check_type("+", ARGS(column(month), column_of(TG_TYPE_DATE)), "date");
    check_type("+", ARGS(column(day), column(hour)), "interval day to hour");
    check_type("/", ARGS(column(day), integer(2)), "interval day to second");
    check_error("+", ARGS(column(day), column(month)), TG_E_DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES);
    check_error("+", ARGS(column_of(TG_TYPE_DATE), column_of(TG_TYPE_BIGINT)),
                TG_E_DATATYPE_MISMATCH_UNEXPECTED_INPUT_TYPE);
    check_error("date_add", ARGS(column_of(TG_TYPE_DATE), column_of(TG_TYPE_BIGINT)),
                TG_E_DATATYPE_MISMATCH_UNEXPECTED_INPUT_TYPE);
    check_error("extract", ARGS(text("century"), column_of(TG_TYPE_DATE)),
                TG_E_INVALID_EXTRACT_FIELD);
    check_type("date_trunc", ARGS(text("day"), column_of(TG_TYPE_TIMESTAMP_NTZ)), "timestamp");
}

static void test_refusals(void **state)
{
    (void)state;
    check_error("rlike", ARGS(column_of(TG_TYPE_STRING), column_of(TG_TYPE_STRING)),
                TG_E_UNSUPPORTED_FEATURE);
    check_error("rlike", ARGS(column_of(TG_TYPE_STRING), text("(?=x)")), TG_E_UNSUPPORTED_FEATURE);
    check_error("regexp_extract", ARGS(column_of(TG_TYPE_STRING), text("b"), integer(1)),
                TG_E_INVALID_PARAMETER_VALUE_REGEX_GROUP_INDEX);
    check_error("like", ARGS(column_of(TG_TYPE_STRING), text("abc\\")),
                TG_E_INVALID_FORMAT_ESC_AT_THE_END);
    check_error("like", ARGS(column_of(TG_TYPE_STRING), text("ab/c"), text("/")),
                TG_E_INVALID_FORMAT_ESC_IN_THE_MIDDLE);
    check_error("like", ARGS(column_of(TG_TYPE_STRING), text("a"), text("xx")), TG_E_INVALID_ESC);
    check_error("to_date", ARGS(column_of(TG_TYPE_STRING), text("EEE yyyy")),
                TG_E_INVALID_DATETIME_PATTERN);
    check_error("rand", ARGS(integer(1)), TG_E_UNSUPPORTED_FEATURE);
    check_error("array_contains", ARGS(null(), integer(1)), TG_E_DATATYPE_MISMATCH_NULL_TYPE);
    check_error("percentile", ARGS(column_of(TG_TYPE_INT), integer(2)),
                TG_E_DATATYPE_MISMATCH_VALUE_OUT_OF_RANGE);
}

/* ---- casts ----------------------------------------------------------------------------------- */

static void check_cast(tg_type_kind from, tg_type_kind to, tg_error_class cls)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_bexpr *cast;
    tg_code code = tg_sql_cast(&context, column_of(from), tg_type_of(to), TG_CAST_ANSI,
                               (tg_span){0, 1}, &cast, &err);
    if (cls == TG_E_NONE) {
        assert_int_equal(code, TG_OK);
        assert_int_equal(cast->type->kind, to);
    } else {
        assert_int_not_equal(code, TG_OK);
        assert_string_equal(tg_error_name(&err), tg_error_class_name(cls));
    }
}

static void test_casts(void **state)
{
    (void)state;
    check_cast(TG_TYPE_STRING, TG_TYPE_TIMESTAMP, TG_E_NONE);
    check_cast(TG_TYPE_DOUBLE, TG_TYPE_BOOLEAN, TG_E_NONE);
    check_cast(TG_TYPE_TIMESTAMP, TG_TYPE_BIGINT, TG_E_NONE);
    check_cast(TG_TYPE_DATE, TG_TYPE_INT, TG_E_DATATYPE_MISMATCH_CAST_WITH_FUNC_SUGGESTION);
    check_cast(TG_TYPE_INT, TG_TYPE_DATE, TG_E_DATATYPE_MISMATCH_CAST_WITH_FUNC_SUGGESTION);
    check_cast(TG_TYPE_INT, TG_TYPE_BINARY, TG_E_DATATYPE_MISMATCH_CAST_WITH_CONF_SUGGESTION);
    check_cast(TG_TYPE_BOOLEAN, TG_TYPE_TIMESTAMP,
               TG_E_DATATYPE_MISMATCH_CAST_WITH_CONF_SUGGESTION);
    check_cast(TG_TYPE_INT, TG_TYPE_TIMESTAMP_NTZ, TG_E_DATATYPE_MISMATCH_CAST_WITHOUT_SUGGESTION);
    check_cast(TG_TYPE_BINARY, TG_TYPE_INT, TG_E_DATATYPE_MISMATCH_CAST_WITHOUT_SUGGESTION);
}

static void test_zone_use(void **state)
{
    (void)state;
    context.used_zone = false;
    check_cast(TG_TYPE_STRING, TG_TYPE_DATE, TG_E_NONE);
    assert_false(context.used_zone);
    check_cast(TG_TYPE_DATE, TG_TYPE_TIMESTAMP, TG_E_NONE);
    assert_true(context.used_zone);
    context.used_zone = false;
    check_type("year", ARGS(column_of(TG_TYPE_TIMESTAMP)), "int");
    assert_true(context.used_zone);
}

static void test_store_assignment(void **state)
{
    (void)state;
    const tg_type *number = tg_type_of(TG_TYPE_BIGINT), *string = tg_type_of(TG_TYPE_STRING),
                  *date = tg_type_of(TG_TYPE_DATE);
    assert_true(tg_sql_can_store(number, tg_type_of(TG_TYPE_TINYINT)));
    assert_true(tg_sql_can_store(number, string));
    assert_true(tg_sql_can_store(date, tg_type_of(TG_TYPE_TIMESTAMP)));
    assert_false(tg_sql_can_store(string, number));
    assert_false(tg_sql_can_store(number, date));
    assert_false(tg_sql_can_store(tg_type_of(TG_TYPE_BOOLEAN), number));
    assert_true(
        tg_sql_can_store(tg_type_array(arena, number, true), tg_type_array(arena, string, true)));
}

/* ---- lambdas --------------------------------------------------------------------------------- */

static void test_lambda_types(void **state)
{
    (void)state;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_type *types[2];
    tg_bexpr *args[] = {column(tg_type_array(arena, tg_type_of(TG_TYPE_STRING), true)), NULL};
    const tg_function *transform = tg_function_find(TG_S("transform"));
    assert_int_equal(
        tg_function_lambda_types(&context, transform, args, 1, 2, (tg_span){0, 1}, types, &err),
        TG_OK);
    assert_int_equal(types[0]->kind, TG_TYPE_STRING);
    assert_int_equal(types[1]->kind, TG_TYPE_INT);
    assert_int_not_equal(
        tg_function_lambda_types(&context, transform, args, 1, 3, (tg_span){0, 1}, types, &err),
        TG_OK);
    assert_int_equal(err.cls, TG_E_INVALID_LAMBDA_FUNCTION_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arity, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arithmetic_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_decimal_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_common_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_casts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_zone_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_assignment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lambda_types, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
