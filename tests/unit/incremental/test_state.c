/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a flow in a commit (design 6.1): other releases read what this one writes, so every
 * key is spelt out here.
 */
#include "support/test.h"

#include <yyjson.h>

#include "incremental/incremental.h"

static const tg_source_identity orders = {.name = {"main.default.orders", 19},
                                          .path = {"/lake/orders", 12},
                                          .version = 7,
                                          .digest = {0x1, 0xabcdef}};
static const tg_source_identity files = {
    .name = {"main.default.files", 18}, .path = {"/lake/f", 7}, .version = -1, .digest = {2, 3}};

static tg_flow_state example(tg_arena *arena, size_t piece_count)
{
    tg_source_identity *sources = TG_NEW_ARRAY(arena, tg_source_identity, 2);
    sources[0] = orders;
    sources[1] = files;
    tg_piece *pieces = TG_NEW_ARRAY(arena, tg_piece, piece_count);
    for (size_t i = 0; i < piece_count; i++) {
        pieces[i] = (tg_piece){.where = tg_str_printf(arena, "d = %zu", i),
                               .fingerprint = TG_S("f1"),
                               .sources = i == 1 ? sources + 1 : sources,
                               .source_count = i == 1 ? 1 : 2,
                               .clock_us = 1709640000000000};
    }
    return (tg_flow_state){.flow = TG_S("main.default.daily"),
                           .update_id = TG_S("u1"),
                           .technique = TG_S("COMPLETE_REPLACE_WHERE"),
                           .predicate = TG_S("d >= date_sub(current_date(), 3)"),
                           .window = TG_S("d >= DATE'2024-03-02'"),
                           .zone = TG_S("Europe/Lisbon"),
                           .clock_us = 1709640000000001,
                           .definition = TG_S("d1"),
                           .fingerprint = TG_S("f1"),
                           .query_has_time_function = false,
                           .query_depends_on_order = true,
                           .predicate_is_deterministic = true,
                           .read_version = 41,
                           .advanced = TG_S("d >= DATE'2024-03-02'"),
                           .pieces = pieces,
                           .piece_count = piece_count};
}

/* key by key: what design 6.1 asks for, and the flow it belongs to */
static const char expected[] =
    "{\"tidegate\":{"
    "\"format\":1,"
    "\"flow\":\"main.default.daily\","
    "\"update_id\":\"u1\","
    "\"technique\":\"COMPLETE_REPLACE_WHERE\","
    "\"predicate\":\"d >= date_sub(current_date(), 3)\","
    "\"window\":\"d >= DATE'2024-03-02'\","
    "\"predicate_is_deterministic\":true,"
    "\"clock\":\"2024-03-05T12:00:00.000001Z\","
    "\"zone\":\"Europe/Lisbon\","
    "\"definition\":\"d1\","
    "\"fingerprint\":\"f1\","
    "\"query_has_time_function\":false,"
    "\"query_depends_on_order\":true,"
    "\"read_version\":41,"
    "\"advanced\":\"d >= DATE'2024-03-02'\","
    "\"coverage\":["
    "{\"where\":\"d = "
    "0\",\"fingerprint\":\"f1\",\"clock\":\"2024-03-05T12:00:00.000000Z\",\"sources\":[0,1]},"
    "{\"where\":\"d = "
    "1\",\"fingerprint\":\"f1\",\"clock\":\"2024-03-05T12:00:00.000000Z\",\"sources\":[1]}],"
    "\"sources\":["
    "{\"name\":\"main.default.orders\",\"path\":\"/lake/orders\",\"version\":7,"
    "\"digest\":\"00000000000000010000000000abcdef\"},"
    "{\"name\":\"main.default.files\",\"path\":\"/lake/f\",\"version\":-1,"
    "\"digest\":\"00000000000000020000000000000003\"}]}}";

static void every_key(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const tg_flow_state written = example(arena, 2);
    assert_str(tg_flow_state_to_json(&written, arena), expected);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_flow_state read;
    assert_true(tg_flow_state_from_json(tg_str_from(expected), arena, &read));
    assert_str(tg_flow_state_to_json(&read, arena), expected);
    assert_int_equal(read.piece_count, 2);
    assert_int_equal(read.pieces[1].source_count, 1);
    assert_int_equal(read.pieces[0].sources[0].version, 7);
}

/* A key more is a later release's; a key less of those that keep an answer right is no state. */
static void keys_that_are_missing(void **state)
{
    (void)state;
    static const char *const needed[] = {"format", "definition", "read_version",
                                         "clock",  "coverage",   "sources"};
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_flow_state read;
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        const char *at = strstr(expected, tg_arena_printf(arena, ",\"%s\":", needed[i]));
        at = at ? at + 2 : strstr(expected, needed[i]);
        tg_buf_addf(&text, "%.*sx%s", (int)(at - expected), expected, at);
        assert_false(tg_flow_state_from_json(tg_buf_str(&text), arena, &read));
    }
    assert_true(tg_flow_state_from_json(
        tg_str_printf(arena, "{\"tidegate\":{\"later\":1,%s", expected + strlen("{\"tidegate\":{")),
        arena, &read));
}

static void the_oldest_pieces_are_forgotten(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const tg_flow_state written = example(arena, 2000);
    tg_str json = tg_flow_state_to_json(&written, arena);
    assert_in_range(json.len, TG_LIMIT_STATE_BYTES - 200, TG_LIMIT_STATE_BYTES);
    tg_flow_state read;
    assert_true(tg_flow_state_from_json(json, arena, &read));
    assert_in_range(read.piece_count, 500, 1000);
    assert_str(read.pieces[0].where, "d = 0");
}

static void a_predicate_that_is_too_long(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_flow_state written = example(arena, 1);
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    while (text.len < TG_LIMIT_STATE_BYTES) {
        tg_buf_addz(&text, "d = 1 OR ");
    }
    tg_buf_addz(&text, "d = 2");
    written.predicate = written.window = written.advanced = tg_buf_str(&text);
    tg_str json = tg_flow_state_to_json(&written, arena);
    assert_true(json.len < TG_LIMIT_STATE_BYTES);
    tg_flow_state read;
    assert_true(tg_flow_state_from_json(json, arena, &read));
    assert_str(read.advanced, "true");
    assert_int_equal(read.piece_count, 0);
    assert_int_equal(read.read_version, 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(keys_that_are_missing),
        cmocka_unit_test(the_oldest_pieces_are_forgotten),
        cmocka_unit_test(a_predicate_that_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
