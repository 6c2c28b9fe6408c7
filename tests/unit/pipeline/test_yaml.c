/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a tree: scalar types as PyYAML 6.0.3 gives them, places, and what is refused. */
#include "support/test.h"

#include "pipeline/yaml.h"
#include "pipeline/yaml_int.h"

static const struct {
    const char *text;
    tg_yaml_type type;
} scalars[] = {
    {"yes", TG_YAML_BOOL},
    {"Yes", TG_YAML_BOOL},
    {"YES", TG_YAML_BOOL},
    {"yEs", TG_YAML_STRING},
    {"y", TG_YAML_STRING},
    {"Y", TG_YAML_STRING},
    {"no", TG_YAML_BOOL},
    {"No", TG_YAML_BOOL},
    {"n", TG_YAML_STRING},
    {"on", TG_YAML_BOOL},
    {"On", TG_YAML_BOOL},
    {"ON", TG_YAML_BOOL},
    {"oN", TG_YAML_STRING},
    {"off", TG_YAML_BOOL},
    {"Off", TG_YAML_BOOL},
    {"true", TG_YAML_BOOL},
    {"True", TG_YAML_BOOL},
    {"TRUE", TG_YAML_BOOL},
    {"tRue", TG_YAML_STRING},
    {"false", TG_YAML_BOOL},
    {"False", TG_YAML_BOOL},
    {"~", TG_YAML_NULL},
    {"null", TG_YAML_NULL},
    {"Null", TG_YAML_NULL},
    {"NULL", TG_YAML_NULL},
    {"nULL", TG_YAML_STRING},
    {"0", TG_YAML_INT},
    {"1", TG_YAML_INT},
    {"-1", TG_YAML_INT},
    {"+1", TG_YAML_INT},
    {"01", TG_YAML_INT},
    {"012", TG_YAML_INT},
    {"018", TG_YAML_STRING},
    {"0o17", TG_YAML_STRING},
    {"0b101", TG_YAML_INT},
    {"0b12", TG_YAML_STRING},
    {"0x1F", TG_YAML_INT},
    {"0xG", TG_YAML_STRING},
    {"1_000", TG_YAML_INT},
    {"1__0", TG_YAML_INT},
    {"_1", TG_YAML_STRING},
    {"12e3", TG_YAML_STRING},
    {"1.5", TG_YAML_FLOAT},
    {"1.", TG_YAML_FLOAT},
    {".5", TG_YAML_FLOAT},
    {".", TG_YAML_STRING},
    {"-.5", TG_YAML_STRING},
    {"+.5", TG_YAML_STRING},
    {"1e5", TG_YAML_STRING},
    {"1.0e5", TG_YAML_STRING},
    {"1.0e+5", TG_YAML_FLOAT},
    {"1.0E-5", TG_YAML_FLOAT},
    {"1.5e", TG_YAML_STRING},
    {".inf", TG_YAML_FLOAT},
    {"-.inf", TG_YAML_FLOAT},
    {"+.INF", TG_YAML_FLOAT},
    {".Inf", TG_YAML_FLOAT},
    {".nan", TG_YAML_FLOAT},
    {".NaN", TG_YAML_FLOAT},
    {"-.nan", TG_YAML_STRING},
    {"1:30", TG_YAML_INT},
    {"1:60", TG_YAML_STRING},
    {"12:30:45", TG_YAML_INT},
    {"1:30.5", TG_YAML_FLOAT},
    {"1:5:59.", TG_YAML_FLOAT},
    {"190:20:30", TG_YAML_INT},
    {"2024-01-01", TG_YAML_TIMESTAMP},
    {"2024-1-1", TG_YAML_STRING},
    {"2024-01-1", TG_YAML_STRING},
    {"2024-01-01T10:00:00", TG_YAML_TIMESTAMP},
    {"2024-01-01t10:00:00Z", TG_YAML_TIMESTAMP},
    {"2024-1-1T1:00:00+2", TG_YAML_TIMESTAMP},
    {"2024-01-01T10:00:00.5+02:30", TG_YAML_TIMESTAMP},
    {"2024-01-01T10:00", TG_YAML_STRING},
    {"2024-13-01", TG_YAML_TIMESTAMP},
    {"24-01-01", TG_YAML_STRING},
    {"1-2", TG_YAML_STRING},
    {"4GB", TG_YAML_STRING},
    {"file:///x", TG_YAML_STRING},
    {"a.b", TG_YAML_STRING},
    {"00", TG_YAML_INT},
    {"-0", TG_YAML_INT},
    {"+0", TG_YAML_INT},
    {"0_7", TG_YAML_INT},
    {"._5", TG_YAML_STRING},
    {"1._", TG_YAML_FLOAT},
    {"1_.5", TG_YAML_FLOAT},
    {"0x", TG_YAML_STRING},
    {"-0x1F", TG_YAML_INT},
    {"+012", TG_YAML_INT},
    {"--1", TG_YAML_STRING},
    {"1.2.3", TG_YAML_STRING},
    {"1_:30", TG_YAML_INT},
    {"0:30", TG_YAML_STRING},
    {"00:30", TG_YAML_STRING},
    {"-0b1", TG_YAML_INT},
    {"-", TG_YAML_STRING},
    {"+", TG_YAML_STRING},
    {"-1:30", TG_YAML_INT},
    {"2024-01-01 10:00:00", TG_YAML_TIMESTAMP},
    {"2024-01-01 10:00:00 +01:00", TG_YAML_TIMESTAMP},
    {"2024-01-01  10:00:00.", TG_YAML_TIMESTAMP},
    {"a b", TG_YAML_STRING},
    {"2024-01-01 10:00:00 Z", TG_YAML_TIMESTAMP},
    {"2024-01-01T10:00:00+", TG_YAML_STRING},
};

static void test_scalar_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT(scalars); i++) {
        if (tg_yaml_plain_type(tg_str_from(scalars[i].text)) != scalars[i].type) {
            fail_msg("`%s` has another type", scalars[i].text);
        }
    }
    assert_int_equal(tg_yaml_plain_type(TG_S("")), TG_YAML_NULL);
}

/* All messages of a parse, one per line: "line:column message" or "warning line:column message". */
static tg_str messages(tg_str text, tg_arena *arena, tg_yaml_node **out_root)
{
    tg_diags diags = TG_DIAGS_INIT;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_yaml_node *root = NULL;
    tg_code code = tg_yaml_parse(text, "spec.yml", arena, &root, &diags);
    assert_int_equal(code == TG_OK, diags.error_count == 0);
    for (size_t i = 0; i < diags.count; i++) {
        const tg_error *err = &diags.items[i];
        tg_buf_addf(&out, "%s%d:%d %s\n", diags.is_warning[i] ? "warning " : "", err->place.line,
                    err->place.column, err->message);
    }
    tg_diags_dispose(&diags);
    if (out_root) {
        *out_root = root;
    }
    return tg_buf_take(&out, arena);
}

static void test_tree(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_yaml_node *root;
    assert_str(messages(TG_S("name: a\nlist:\n  - {x: 1, y: 'on'}\n  - on\nempty:\nt: !!str 12\n"),
                        arena, &root),
               "");
    assert_int_equal(root->kind, TG_YAML_MAP);
    assert_int_equal(root->count, 4);
    assert_str(tg_yaml_get(root, "name")->text, "a");
    const tg_yaml_node *list = tg_yaml_get(root, "list");
    assert_int_equal(list->count, 2);
    assert_true(tg_yaml_is_string(tg_yaml_get(list->values[0], "y")));
    bool on = false;
    assert_true(tg_yaml_bool(list->values[1], &on) && on);
    int64_t number;
    assert_true(tg_yaml_int(tg_yaml_get(list->values[0], "x"), &number) && number == 1);
    assert_int_equal(tg_yaml_get(root, "empty")->type, TG_YAML_NULL);
    assert_true(tg_yaml_is_string(tg_yaml_get(root, "t")));
    assert_null(tg_yaml_get(root, "none"));
    assert_str(messages(TG_S(""), arena, &root), "");
    assert_null(root);
    assert_str(messages(TG_S("\xEF\xBB\xBF# only a comment\n"), arena, &root), "");
    assert_null(root);
}

static void test_refused(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    assert_str(messages(TG_S("a: 1\nb: 2\na: 3\n"), arena, NULL),
               "3:1 key `a` is given twice, first in line 1\n");
    assert_str(messages(TG_S("x: {a: 1,\n  a: 2, a: 3}\n"), arena, NULL),
               "2:3 key `a` is given twice, first in line 1\n"
               "2:9 key `a` is given twice, first in line 1\n");
    assert_str(messages(TG_S("a: &x 1\nb: *x\n"), arena, NULL),
               "2:4 YAML aliases (*name) are not accepted; write the value out\n");
    assert_str(messages(TG_S("a: 1\n---\nb: 2\n"), arena, NULL),
               "2:1 the file has a second YAML document\n");
    assert_str(messages(TG_S("a: !mine 1\n"), arena, NULL),
               "1:4 this YAML tag is not supported here\n");
    assert_str(messages(TG_S("a: !!int x\n"), arena, NULL),
               "1:4 this YAML tag is not supported here\n");
    assert_str(messages(TG_S("? [a]\n: 1\n"), arena, NULL), "1:3 a key of a map is a list\n");
    assert_str(messages(TG_S("a: [1\nb: 2\n"), arena, NULL),
               "2:2 not valid YAML: did not find expected ',' or ']'\n");
    assert_str(messages(TG_S("\xC3\xA4: \xC3\xA4\n\xC3\xA4\xC3\xA4: [}\n"), arena, NULL),
               "2:6 not valid YAML: did not find expected node content\n");
    assert_str(messages(TG_S("a: b\xFF\n"), arena, NULL),
               "0:0 spec.yml is not valid UTF-8 (byte 5)\n");
    assert_str(messages(TG_S("a: b\x01\n"), arena, NULL),
               "1:5 not valid YAML: control characters are not allowed\n");
    assert_str(messages(TG_S("a:\tb: c: d\n"), arena, NULL),
               "1:5 not valid YAML: mapping values are not allowed in this context\n");
}

static void test_depth(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    for (int extra = 0; extra < 2; extra++) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        for (int i = 0; i < TG_LIMIT_YAML_DEPTH + extra; i++) {
            tg_buf_addc(&text, '[');
        }
        for (int i = 0; i < TG_LIMIT_YAML_DEPTH + extra; i++) {
            tg_buf_addc(&text, ']');
        }
        tg_str result = messages(tg_buf_str(&text), arena, NULL);
        assert_str(result, extra ? "1:65 YAML is nested deeper than 64 levels\n" : "");
    }
}

static void test_size(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    size_t size = TG_LIMIT_YAML_BYTES + 1;
    char *bytes = tg_arena_alloc(arena, size);
    memset(bytes, '\n', size);
    assert_str(messages((tg_str){bytes, size - 1}, arena, NULL), "");
    assert_str(messages((tg_str){bytes, size}, arena, NULL),
               "0:0 spec.yml is larger than 8388608 bytes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_types), cmocka_unit_test(test_tree),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_depth),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
