/* SPDX-License-Identifier: Apache-2.0 */
/* Deletion vectors: where they lie, what their bytes say, and that damage never passes. */
#include "delta_test.h"

#define LE16(x) (char)((x)&255), (char)((x) >> 8)
#define LE32(x) LE16((x)&65535), LE16((uint32_t)(x) >> 16)
#define BITMAPS(n) LE32(1681511377), LE32(n), LE32(0)
#define HEAD(key, count) LE16(key), LE16((count)-1)

static tg_code decode(table *t, const char *bytes, size_t size, const tg_delta_rows **out)
{
    return tg_delta_rows_decode((tg_str){bytes, size}, t->arena, out, NULL);
}

static void is_damaged(table *t, const char *bytes, size_t size)
{
    const tg_delta_rows *rows;
    assert_int_equal(decode(t, bytes, size, &rows), TG_INVALID_DATA);
}

/* Positions 3, 7 and 65536 + 1, in arrays. */
static const char arrays[] = {BITMAPS(1), LE32(0),  LE32(12346), LE32(2), HEAD(0, 2), HEAD(1, 1),
                              LE32(24),   LE32(28), LE16(3),     LE16(7), LE16(1)};
/* Positions 2 to 6 and 9, in runs, of the second 2^32. */
static const char runs[] = {BITMAPS(1), LE32(1), LE16(12347), LE16(0), 1,      HEAD(0, 6),
                            LE16(2),    LE16(2), LE16(4),     LE16(9), LE16(0)};

static void test_forms(void **state)
{
    table *t = *state;
    const tg_delta_rows *rows;
    assert_int_equal(decode(t, arrays, sizeof(arrays), &rows), TG_OK);
    assert_int_equal(tg_delta_rows_count(rows), 3);
    assert_true(tg_delta_rows_has(rows, 3) && tg_delta_rows_has(rows, 7) &&
                tg_delta_rows_has(rows, 65537));
    assert_false(tg_delta_rows_has(rows, 0) || tg_delta_rows_has(rows, 8) ||
                 tg_delta_rows_has(rows, 65536) || tg_delta_rows_has(rows, UINT64_C(1) << 32 | 3));
    assert_int_equal(decode(t, runs, sizeof(runs), &rows), TG_OK);
    const uint64_t base = UINT64_C(1) << 32;
    for (uint64_t i = 0; i < 12; i++) {
        assert_int_equal(tg_delta_rows_has(rows, base + i), (i >= 2 && i <= 6) || i == 9);
        assert_false(tg_delta_rows_has(rows, i));
    }
    static const char none[] = {BITMAPS(0)};
    assert_int_equal(decode(t, none, sizeof(none), &rows), TG_OK);
    assert_int_equal(tg_delta_rows_count(rows), 0);
    assert_false(tg_delta_rows_has(rows, 0));
}

/* More than 4,096 positions of a container: bits. Here the even ones up to 10,000. */
static void test_bits(void **state)
{
    table *t = *state;
    static const char head[] = {BITMAPS(1), LE32(0), LE32(12346), LE32(1), HEAD(0, 5000), LE32(16)};
    char bytes[sizeof(head) + 8192] = {0};
    memcpy(bytes, head, sizeof(head));
    memset(bytes + sizeof(head), 0x55, 1250);
    const tg_delta_rows *rows;
    assert_int_equal(decode(t, bytes, sizeof(bytes), &rows), TG_OK);
    assert_int_equal(tg_delta_rows_count(rows), 5000);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(tg_delta_rows_has(rows, i), i < 10000 && i % 2 == 0);
    }
    bytes[sizeof(head) + 2000] = 1; /* one more than it says */
    is_damaged(t, bytes, sizeof(bytes));
}

/* Spark's older form: bitmaps with their sizes, the first ones empty. */
static void test_native(void **state)
{
    table *t = *state;
    static const char bytes[] = {LE32(1681511376), LE32(2),  LE32(8),     LE32(12346),
                                 LE32(0),          LE32(18), LE32(12346), LE32(1),
                                 HEAD(0, 1),       LE32(16), LE16(5)};
    const tg_delta_rows *rows;
    assert_int_equal(decode(t, bytes, sizeof(bytes), &rows), TG_OK);
    assert_int_equal(tg_delta_rows_count(rows), 1);
    assert_true(tg_delta_rows_has(rows, (UINT64_C(1) << 32) + 5));
    is_damaged(t, bytes, sizeof(bytes) - 1);
}

static void test_damage(void **state)
{
    table *t = *state;
    for (size_t size = 0; size < sizeof(arrays); size++) {
        is_damaged(t, arrays, size);
    }
    for (size_t size = 0; size < sizeof(runs); size++) {
        is_damaged(t, runs, size);
    }
    char longer[sizeof(arrays) + 1] = {0};
    memcpy(longer, arrays, sizeof(arrays));
    is_damaged(t, longer, sizeof(longer));
    static const char other_magic[] = {LE32(1681511378), LE32(0), LE32(0)};
    is_damaged(t, other_magic, sizeof(other_magic));
    /* Out of order: positions, containers, runs that meet, bitmaps. */
    static const char positions[] = {BITMAPS(1), LE32(0),  LE32(12346), LE32(1),
                                     HEAD(0, 2), LE32(16), LE16(7),     LE16(7)};
    is_damaged(t, positions, sizeof(positions));
    static const char keys[] = {BITMAPS(1), LE32(0),  LE32(12346), LE32(2), HEAD(1, 1),
                                HEAD(1, 1), LE32(24), LE32(26),    LE16(1), LE16(2)};
    is_damaged(t, keys, sizeof(keys));
    static const char meeting[] = {BITMAPS(1), LE32(0), LE16(12347), LE16(0), 1,      HEAD(0, 3),
                                   LE16(2),    LE16(2), LE16(1),     LE16(3), LE16(0)};
    is_damaged(t, meeting, sizeof(meeting));
    static const char beyond[] = {BITMAPS(1), LE32(0), LE16(12347),  LE16(0), 1,
                                  HEAD(0, 2), LE16(1), LE16(0xffff), LE16(1)};
    is_damaged(t, beyond, sizeof(beyond));
}

/* ---- where they lie -------------------------------------------------------------------------- */

static tg_code load(table *t, char storage, const char *text, int64_t offset, int64_t size,
                    int64_t cardinality, tg_error *err)
{
    const tg_delta_rows *rows;
    const tg_delta_dv dv = {.storage = storage,
                            .text = tg_str_from(text),
                            .offset = offset,
                            .size_bytes = size,
                            .cardinality = cardinality};
    return tg_delta_dv_load(&t->delta, t->path, TG_S("data.parquet"), &dv, t->arena, &rows, err);
}

static void is_refused(table *t, const char *cls, char storage, const char *text, int64_t offset,
                       int64_t size, int64_t cardinality)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    assert_int_not_equal(load(t, storage, text, offset, size, cardinality, &err), TG_OK);
    assert_string_equal(tg_error_class_name(err.cls), cls);
    tg_auto_buf tg_buf text_of = TG_BUF_INIT;
    tg_error_print(&err, &text_of);
    assert_true(tg_str_find(tg_buf_str(&text_of), TG_S("data.parquet"), 0) != SIZE_MAX);
}

/* The rows 0 and 4 as Delta frames them: version, size, bytes, CRC-32. */
static const unsigned char framed[] = {
    0x01, 0x00, 0x00, 0x00, 0x24, 0xd1, 0xd3, 0x39, 0x64, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x30, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x9f, 0xc9, 0x66, 0x0b,
};

static void test_files(void **state)
{
    table *t = *state;
    tg_str folder = tg_path_join(t->arena, t->path, TG_S("ab"));
    assert_int_equal(tg_fs_make_folders(t->delta.fs, folder, NULL), TG_OK);
    tg_str path = tg_path_join(t->arena, folder,
                               TG_S("deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"));
    tg_str bytes = {(const char *)framed, sizeof(framed)};
    assert_int_equal(tg_fs_write_new(t->delta.fs, path, bytes, NULL), TG_OK);
    const char *name = "ab^-aqEH.-t@S}K{vb[*k^";
    assert_int_equal(load(t, 'u', name, 1, 36, 2, NULL), TG_OK);
    assert_int_equal(load(t, 'p', tg_str_cstr(t->arena, path), 1, 36, 2, NULL), TG_OK);
    const char *uri = tg_arena_printf(t->arena, "file://%.*s", TG_SARG(path));
    assert_int_equal(load(t, 'p', uri, 1, 36, 2, NULL), TG_OK);
    is_refused(t, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", 'u', name, 1, 36, 3);
    is_refused(t, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", 'u', name, 1, 35, 2);
    is_refused(t, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", 'u', name, 2, 36, 2);
    is_refused(t, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", 'u', name, 1000, 36, 2);
    is_refused(t, "TIDEGATE_DELTA_LOG_INVALID", 'u', "short", 1, 36, 2);
    is_refused(t, "TIDEGATE_DELTA_LOG_INVALID", 'u', name, 1, -1, 2);
    is_refused(t, "PATH_NOT_FOUND", 'u', "^-aqEH.-t@S}K{vb[*k^", 1, 36, 2);
    is_refused(t, "UNSUPPORTED_FEATURE", 'p', "s3://b/x.bin", 1, 36, 2);
    for (size_t i = 0; i < sizeof(framed); i++) { /* every byte counts */
        unsigned char damaged[sizeof(framed)];
        memcpy(damaged, framed, sizeof(framed));
        damaged[i] ^= 4;
        bytes.ptr = (const char *)damaged;
        assert_int_equal(tg_fs_write_replace(t->delta.fs, path, bytes, NULL), TG_OK);
        assert_int_not_equal(load(t, 'u', name, 1, 36, 2, NULL), TG_OK);
    }
}

static void test_inline(void **state)
{
    table *t = *state;
    assert_int_equal(load(t, 'i', "^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000c4", -1, 36, 2, NULL),
                     TG_OK);
    is_refused(t, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", 'i',
               "^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000c4", -1, 37, 2);
    is_refused(t, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", 'i',
               "^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000c4", -1, 32, 2);
    is_refused(t, "TIDEGATE_DELTA_LOG_INVALID", 'i', "a b\"c", -1, 4, 2);
    is_refused(t, "TIDEGATE_DELTA_LOG_INVALID", 'i', "#####", -1, 4, 2); /* above 2^32 */
    is_refused(t, "TIDEGATE_DELTA_LOG_INVALID", 'i', "1234", -1, 3, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_bits, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_native, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_damage, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_files, table_set_up, table_tear_down),
        cmocka_unit_test_setup_teardown(test_inline, table_set_up, table_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
