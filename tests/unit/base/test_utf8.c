/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

static void accepts_and_refuses(void **state)
{
    (void)state;
    const struct {
        tg_str text;
        size_t valid_len;
    } cases[] = {
        {TG_S(""), 0},
        {TG_S("abc"), 3},
        {TG_S("a\0b"), 3},
        {TG_S("\x7F\xC2\x80\xDF\xBF"), 5},
        {TG_S("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"), 12},
        {TG_S("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"), 8},
        {TG_S("12345678\xFF"), 8},
        {TG_S("1234567890\xC3"), 10},
        {TG_S("\x80"), 0},
        {TG_S("\xC0\x80"), 0},
        {TG_S("\xC1\xBF"), 0},
        {TG_S("\xC2"), 0},
        {TG_S("\xC2\x20"), 0},
        {TG_S("\xE0\x9F\xBF"), 0},
        {TG_S("\xE2\x82"), 0},
        {TG_S("\xED\xA0\x80"), 0},
        {TG_S("\xF0\x8F\xBF\xBF"), 0},
        {TG_S("\xF4\x90\x80\x80"), 0},
        {TG_S("\xF5\x80\x80\x80"), 0},
        {TG_S("\xF0\x9F\x98"), 0},
        {TG_S("a\xF0\x9F\x98"), 1},
        {TG_S("\xFE"), 0},
    };
    for (size_t i = 0; i < TG_COUNT(cases); i++) {
        assert_int_equal(tg_utf8_valid_len(cases[i].text), cases[i].valid_len);
    }
}

static void encodes_what_it_decodes(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10FFFF;
         code_point += code_point < 0x3000 ? 1 : 37) {
        if (code_point >= 0xD800 && code_point <= 0xDFFF) {
            continue;
        }
        char bytes[4];
        size_t pos = 0;
        tg_str text = {bytes, tg_utf8_put(bytes, code_point)};
        assert_int_equal(tg_utf8_valid_len(text), text.len);
        assert_int_equal(tg_utf8_count(text), 1);
        assert_int_equal(tg_utf8_next(text, &pos), code_point);
        assert_int_equal(pos, text.len);
    }
}

static void shows_broken_bytes_as_replacement(void **state)
{
    (void)state;
    size_t pos = 0;
    assert_int_equal(tg_utf8_next(TG_S("\xFFx"), &pos), 0xFFFD);
    assert_int_equal(pos, 1);
    assert_int_equal(tg_utf8_next(TG_S("\xFFx"), &pos), 'x');
}

static void counts_and_measures(void **state)
{
    (void)state;
    assert_int_equal(tg_utf8_count(TG_S("a é 漢 😀")), 7);
    assert_int_equal(tg_utf8_width('a'), 1);
    assert_int_equal(tg_utf8_width(0xE9), 1);
    assert_int_equal(tg_utf8_width(0x0301), 0);
    assert_int_equal(tg_utf8_width(0x6F22), 2);
    assert_int_equal(tg_utf8_width(0x1F600), 2);
    assert_int_equal(tg_utf8_width(0xFF21), 2);
    assert_int_equal(tg_utf8_width(0x20AC), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_and_refuses),
        cmocka_unit_test(encodes_what_it_decodes),
        cmocka_unit_test(shows_broken_bytes_as_replacement),
        cmocka_unit_test(counts_and_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
