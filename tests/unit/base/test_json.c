/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <yyjson.h>

static void writes_nested_values(void **state)
{
    (void)state;
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &buf);
    tg_json_object(&out);
    tg_json_kstr(&out, "a", TG_S("x"));
    tg_json_kstrz(&out, "b", NULL);
    tg_json_keyz(&out, "c");
    tg_json_array(&out);
    tg_json_i64(&out, INT64_MIN);
    tg_json_array(&out);
    tg_json_end_array(&out);
    tg_json_object(&out);
    tg_json_end_object(&out);
    tg_json_bool(&out, true);
    tg_json_null(&out);
    tg_json_raw(&out, TG_S("{\"raw\":1}"));
    tg_json_end_array(&out);
    tg_json_ki64(&out, "d", 7);
    tg_json_kbool(&out, "e", false);
    tg_json_knull(&out, "f");
    tg_json_key(&out, TG_S("g\""));
    tg_json_strz(&out, "y");
    tg_json_end_object(&out);
    assert_int_equal(out.depth, 0);
    assert_str(tg_buf_str(&buf),
               "{\"a\":\"x\",\"b\":null,\"c\":[-9223372036854775808,[],{},true,null,{\"raw\":1}],"
               "\"d\":7,\"e\":false,\"f\":null,\"g\\\"\":\"y\"}");
}

static void escapes_strings(void **state)
{
    (void)state;
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    tg_json_quote(&buf, TG_S("\"\\/\b\f\n\r\t\x01\x1F\x7F é漢😀\0z"));
    assert_str(tg_buf_str(&buf),
               "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0001\\u001f\x7F é漢😀\\u0000z\"");
    tg_buf_clear(&buf);
    tg_json_quote(&buf, TG_S("a\xFF\xC3"));
    assert_str(tg_buf_str(&buf), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
    tg_buf_clear(&buf);
    tg_json_quote(&buf, (tg_str){NULL, 0});
    assert_str(tg_buf_str(&buf), "\"\"");
}

static void writes_doubles_that_read_back(void **state)
{
    (void)state;
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    const double values[] = {
        0.0, -0.0, 0.1, 1.0, 1e22, 1.1, 5e-324, DBL_MAX, -DBL_MIN, 9007199254740993.0, 1.0 / 3};
    for (size_t i = 0; i < TG_COUNT(values); i++) {
        tg_json_out out;
        double back;
        tg_buf_clear(&buf);
        tg_json_begin(&out, &buf);
        tg_json_double(&out, values[i]);
        assert_true(tg_str_to_double(tg_buf_str(&buf), &back));
        assert_memory_equal(&back, &values[i], sizeof(back));
    }
    tg_json_out out;
    tg_buf_clear(&buf);
    tg_json_begin(&out, &buf);
    tg_json_array(&out);
    tg_json_double(&out, 0.1);
    tg_json_double(&out, (double)NAN);
    tg_json_double(&out, (double)INFINITY);
    tg_json_end_array(&out);
    assert_str(tg_buf_str(&buf), "[0.1,null,null]");
}

static void reads_members(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    yyjson_val *root;
    tg_str text = TG_S(
        "{\"s\":\"a\\u0000é\",\"i\":-5,\"big\":9223372036854775807,\"huge\":9223372036854775808,"
        "\"d\":1.0,\"t\":true,\"n\":null,\"o\":{\"x\":1}}");
    assert_ok(tg_json_parse(text, 0, arena, &root, &err), &err);
    tg_str s = tg_json_get_str(root, "s", TG_S("?"));
    assert_int_equal(s.len, 4);
    assert_memory_equal(s.ptr, "a\0é", 4);
    assert_str(tg_json_get_str(root, "i", TG_S("?")), "?");
    assert_str(tg_json_get_str(root, "n", TG_S("?")), "?");
    assert_str(tg_json_get_str(root, "missing", TG_S("?")), "?");
    assert_int_equal(tg_json_get_i64(root, "i", 0), -5);
    assert_true(tg_json_get_i64(root, "big", 0) == INT64_MAX);
    assert_int_equal(tg_json_get_i64(root, "huge", 3), 3);
    assert_int_equal(tg_json_get_i64(root, "d", 3), 3);
    assert_int_equal(tg_json_get_i64(root, "s", 3), 3);
    assert_true(tg_json_get_bool(root, "t", false));
    assert_true(tg_json_get_bool(root, "i", true));
    assert_int_equal(tg_json_get_i64(tg_json_get(root, "o"), "x", 0), 1);
    assert_int_equal(tg_json_get_i64(tg_json_get(root, "i"), "x", 4), 4);
    assert_int_equal(tg_json_get_i64(NULL, "x", 4), 4);
}

static void keeps_the_text_of_numbers(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    yyjson_val *root;
    tg_str text = TG_S("{\"a\":12345678901234567890.10,\"b\":-7,\"c\":1e400}");
    assert_ok(tg_json_parse(text, TG_JSON_RAW_NUMBERS, arena, &root, &err), &err);
    assert_string_equal(yyjson_get_raw(tg_json_get(root, "a")), "12345678901234567890.10");
    assert_string_equal(yyjson_get_raw(tg_json_get(root, "c")), "1e400");
    assert_int_equal(tg_json_get_i64(root, "b", 0), -7);
    assert_int_equal(tg_json_get_i64(root, "a", 3), 3);
}

static void reads_and_writes_values(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    yyjson_val *root;
    int64_t number = 3;
    tg_str text = TG_S("{\"a\":[1.50,-7,null,true,{}],\"b\":\"x\\u0001\\n\"}");
    assert_ok(tg_json_parse(text, TG_JSON_RAW_NUMBERS, arena, &root, NULL), NULL);
    tg_json_add_value(&out, root);
    assert_str(tg_buf_str(&out), text.ptr);
    assert_str(tg_json_text(tg_json_get(root, "b")), "x\x01\n");
    assert_str(tg_json_text(tg_json_get(root, "a")), "");
    assert_str(tg_json_text(NULL), "");
    yyjson_val *list = tg_json_get(root, "a");
    assert_false(tg_json_to_i64(yyjson_arr_get(list, 0), &number));
    assert_false(tg_json_to_i64(list, &number) || tg_json_to_i64(NULL, &number));
    assert_int_equal(number, 3);
    assert_true(tg_json_to_i64(yyjson_arr_get(list, 1), &number));
    assert_int_equal(number, -7);
}

static void names_the_byte_of_an_error(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_str cases[] = {
        TG_S(""),          TG_S("{"),        TG_S("{\"a\":}"),    TG_S("[1,]"),
        TG_S("1 2"),       TG_S("\"\xFF\""), TG_S("nul"),         TG_S("[1]x"),
        TG_S("{\"a\" 1}"), TG_S("// c\n1"),  TG_S("\"\\ud800\""), TG_S("NaN"),
        TG_S("\"a\nb\""),  TG_S("01"),
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        yyjson_val *root = NULL;
        assert_int_equal(tg_json_parse(cases[i], 0, arena, &root, &err), TG_INVALID_DATA);
        assert_error_class(&err, "TIDEGATE_INVALID_JSON");
        assert_null(root);
    }
    yyjson_val *root;
    assert_int_equal(tg_json_parse(TG_S("{\"a\":1,\"b\":x}"), 0, arena, &root, &err),
                     TG_INVALID_DATA);
    assert_int_equal(err.span_offset, 11);
    assert_non_null(strstr(err.message, "byte 11"));
}

/* A document of depth brackets, each holding a string that looks like brackets. */
static tg_str nested(tg_arena *arena, int depth)
{
    tg_auto_buf tg_buf buf = TG_BUF_INIT;
    for (int i = 0; i < depth; i++) {
        tg_buf_addz(&buf, "[\"[{\\\"[\",");
    }
    tg_buf_addc(&buf, '1');
    for (int i = 0; i < depth; i++) {
        tg_buf_addc(&buf, ']');
    }
    return tg_buf_take(&buf, arena);
}

static void limits_the_depth(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    yyjson_val *root;
    assert_ok(tg_json_parse(nested(arena, TG_LIMIT_JSON_DEPTH), 0, arena, &root, &err), &err);
    assert_int_equal(tg_json_parse(nested(arena, TG_LIMIT_JSON_DEPTH + 1), 0, arena, &root, &err),
                     TG_LIMIT);
    assert_error_class(&err, "TIDEGATE_LIMIT_EXCEEDED");
    assert_int_equal(tg_json_parse(nested(arena, 100000), 0, arena, &root, &err), TG_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_nested_values),          cmocka_unit_test(escapes_strings),
        cmocka_unit_test(writes_doubles_that_read_back), cmocka_unit_test(reads_members),
        cmocka_unit_test(keeps_the_text_of_numbers),     cmocka_unit_test(reads_and_writes_values),
        cmocka_unit_test(names_the_byte_of_an_error),    cmocka_unit_test(limits_the_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
