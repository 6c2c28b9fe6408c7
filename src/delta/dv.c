/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion vectors: which rows of a data file are gone (Delta protocol, "Deletion Vectors").
 *
 * A vector lies in a file of its own beside others, or as text in the log. Its bytes are a 64-bit
 * Roaring bitmap: 32-bit bitmaps, each for 2^32 positions, of containers, each for 2^16. They are
 * decoded here and not by a library, because every byte comes from outside: a vector that is damaged
 * in any way is refused by name, for with it rows would be read that were deleted, or the reverse.
 * What is decoded is kept nearly as it was: sorted numbers, or bits.
 */
#include <zlib.h>

#include "delta/delta_int.h"

enum {
    FILE_VERSION = 1,
    MAGIC_PORTABLE = 1681511377,
    MAGIC_NATIVE = 1681511376,
    COOKIE_PLAIN = 12346,
    COOKIE_RUNS = 12347,
    RUNS_WITHOUT_OFFSETS = 4, /* below so many containers there is no table of offsets */
    ARRAY_MAX = 4096,         /* a container with more positions is a bitmap */
    BITMAP_BYTES = 8192,
    UUID_TEXT_BYTES = 20, /* of a UUID in Z85 */
};

/* Positions [base, base + 65536). */
typedef struct container {
    uint64_t base;
    uint32_t count;
    const uint16_t *sorted; /* NULL: bits */
    const uint64_t *bits;
} container;

struct tg_delta_rows {
    const container *containers;
    size_t container_count;
    int64_t count;
};

typedef TG_VEC(container) container_vec;

/* The bytes of a vector, read from front to back. */
typedef struct dv_reader {
    const uint8_t *at, *end;
    tg_arena *arena;
    container_vec containers;
    int64_t count;
} dv_reader;

/* ---- numbers --------------------------------------------------------------------------------- */

static bool take(dv_reader *r, size_t size, const uint8_t **out)
{
    if ((size_t)(r->end - r->at) < size) {
        return false;
    }
    *out = r->at;
    r->at += size;
    return true;
}

static uint16_t little16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static bool take_u16(dv_reader *r, uint16_t *out)
{
    const uint8_t *bytes;
    if (!take(r, sizeof(*out), &bytes)) {
        return false;
    }
    *out = little16(bytes);
    return true;
}

static bool take_u32(dv_reader *r, uint32_t *out)
{
    const uint8_t *bytes;
    if (!take(r, sizeof(*out), &bytes)) {
        return false;
    }
    *out = (uint32_t)little16(bytes) | (uint32_t)little16(bytes + 2) << 16;
    return true;
}

static uint32_t big32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* ---- containers ------------------------------------------------------------------------------ */

/* Each of these leaves *out with sorted or bits set; false: the bytes are no such container. */
static bool read_array(dv_reader *r, uint32_t count, container *out)
{
    uint16_t *sorted = TG_NEW_ARRAY(r->arena, uint16_t, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!take_u16(r, &sorted[i]) || (i && sorted[i] <= sorted[i - 1])) {
            return false;
        }
    }
    out->sorted = sorted;
    return true;
}

static bool read_bitmap(dv_reader *r, uint32_t count, container *out)
{
    const uint8_t *bytes;
    if (!take(r, BITMAP_BYTES, &bytes)) {
        return false;
    }
    uint64_t *bits = TG_NEW_ARRAY(r->arena, uint64_t, BITMAP_BYTES / sizeof(uint64_t));
    uint32_t seen = 0;
    for (size_t i = 0; i < BITMAP_BYTES; i++) {
        bits[i / sizeof(uint64_t)] |= (uint64_t)bytes[i] << (i % sizeof(uint64_t) * 8);
        seen += (uint32_t)__builtin_popcount(bytes[i]);
    }
    out->bits = bits;
    return seen == count;
}

static bool read_runs(dv_reader *r, uint32_t count, container *out)
{
    uint16_t runs;
    if (!take_u16(r, &runs)) {
        return false;
    }
    uint64_t *bits = TG_NEW_ARRAY(r->arena, uint64_t, BITMAP_BYTES / sizeof(uint64_t));
    uint32_t seen = 0;
    uint32_t next = 0; /* a run begins here or later */
    for (uint16_t i = 0; i < runs; i++) {
        uint16_t first, more;
        if (!take_u16(r, &first) || !take_u16(r, &more) || first < next ||
            (uint32_t)first + more > UINT16_MAX) {
            return false;
        }
        for (uint32_t bit = first; bit <= (uint32_t)first + more; bit++) {
            bits[bit / 64] |= UINT64_C(1) << bit % 64;
        }
        seen += (uint32_t)more + 1;
        next = (uint32_t)first + more + 1;
    }
    out->bits = bits;
    return seen == count;
}

static bool read_container(dv_reader *r, container *c, bool has_runs)
{
    bool is_read = has_runs                ? read_runs(r, c->count, c)
                   : c->count <= ARRAY_MAX ? read_array(r, c->count, c)
                                           : read_bitmap(r, c->count, c);
    if (is_read) {
        TG_VEC_PUSH(r->arena, &r->containers, *c);
        r->count += c->count;
    }
    return is_read;
}

/* One 32-bit bitmap in Roaring's portable form, of the positions from base on. */
static bool read_bitmap32(dv_reader *r, uint64_t base)
{
    uint32_t cookie, count;
    const uint8_t *run_flags = NULL, *heads, *offsets;
    if (!take_u32(r, &cookie)) {
        return false;
    }
    if ((cookie & UINT16_MAX) == COOKIE_RUNS) {
        count = (cookie >> 16) + 1;
        if (!take(r, (count + 7) / 8, &run_flags)) {
            return false;
        }
    } else if (cookie != COOKIE_PLAIN || !take_u32(r, &count) || count > UINT16_MAX + 1) {
        return false;
    }
    bool has_offsets = !run_flags || count >= RUNS_WITHOUT_OFFSETS;
    if (!take(r, (size_t)4 * count, &heads) ||
        (has_offsets && !take(r, (size_t)4 * count, &offsets))) {
        return false;
    }
    int32_t before = -1;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t key = little16(heads + (size_t)4 * i);
        container c = {.base = base + ((uint64_t)key << 16),
                       .count = (uint32_t)little16(heads + (size_t)4 * i + 2) + 1};
        bool has_runs = run_flags && (run_flags[i / 8] >> i % 8 & 1);
        if (key <= before || !read_container(r, &c, has_runs)) {
            return false;
        }
        before = key;
    }
    return true;
}

/* Bitmaps by the high half of their positions. */
static bool read_portable(dv_reader *r)
{
    uint32_t low, high;
    if (!take_u32(r, &low) || !take_u32(r, &high) || high) {
        return false;
    }
    int64_t before = -1;
    for (uint32_t i = 0; i < low; i++) {
        uint32_t key;
        if (!take_u32(r, &key) || key > INT32_MAX || (int64_t)key <= before ||
            !read_bitmap32(r, (uint64_t)key << 32)) {
            return false;
        }
        before = key;
    }
    return r->at == r->end;
}

/* Spark's older form: all bitmaps from the first on, each with its size before it. */
static bool read_native(dv_reader *r)
{
    uint32_t count;
    if (!take_u32(r, &count) || count > INT32_MAX) {
        return false;
    }
    const uint8_t *end = r->end;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size;
        if (!take_u32(r, &size) || (size_t)(end - r->at) < size) {
            return false;
        }
        r->end = r->at + size;
        if (!read_bitmap32(r, (uint64_t)i << 32) || r->at != r->end) {
            return false;
        }
        r->end = end;
    }
    return r->at == r->end;
}

tg_code tg_delta_rows_decode(tg_str bytes, tg_arena *arena, const tg_delta_rows **out,
                             tg_error *err)
{
    dv_reader r = {.at = (const uint8_t *)bytes.ptr,
                   .end = (const uint8_t *)bytes.ptr + bytes.len,
                   .arena = arena};
    uint32_t magic;
    if (!take_u32(&r, &magic) || (magic != MAGIC_PORTABLE && magic != MAGIC_NATIVE)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "it does not begin as a bitmap does");
    }
    if (!(magic == MAGIC_PORTABLE ? read_portable(&r) : read_native(&r))) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "its bitmap is damaged");
    }
    tg_delta_rows *rows = TG_NEW(arena, tg_delta_rows);
    *rows = (tg_delta_rows){r.containers.items, r.containers.count, r.count};
    *out = rows;
    return TG_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool has_low(const container *c, uint16_t low)
{
    if (c->bits) {
        return c->bits[low / 64] >> low % 64 & 1;
    }
    size_t from = 0, to = c->count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (c->sorted[middle] < low) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < c->count && c->sorted[from] == low;
}

bool tg_delta_rows_has(const tg_delta_rows *rows, uint64_t position)
{
    uint64_t base = position & ~(uint64_t)UINT16_MAX;
    size_t from = 0, to = rows->container_count;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (rows->containers[middle].base < base) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < rows->container_count && rows->containers[from].base == base &&
           has_low(&rows->containers[from], (uint16_t)(position & UINT16_MAX));
}

int64_t tg_delta_rows_count(const tg_delta_rows *rows)
{
    return rows->count;
}

/* ---- Z85 ------------------------------------------------------------------------------------- */

static int z85_digit(char c)
{
    static const char alphabet[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    const char *found = c ? strchr(alphabet, c) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

/* Five characters are four bytes. False: not Z85. */
static bool z85_decode(tg_str text, tg_buf *out)
{
    if (text.len % 5) {
        return false;
    }
    for (size_t i = 0; i < text.len; i += 5) {
        uint64_t value = 0;
        for (size_t j = 0; j < 5; j++) {
            int digit = z85_digit(text.ptr[i + j]);
            if (digit < 0) {
                return false;
            }
            value = value * 85 + (uint64_t)digit;
        }
        if (value > UINT32_MAX) {
            return false;
        }
        for (int shift = 24; shift >= 0; shift -= 8) {
            tg_buf_addc(out, (char)(value >> shift & UINT8_MAX));
        }
    }
    return true;
}

/* ---- where the bytes are --------------------------------------------------------------------- */

/* <prefix>/deletion_vector_<uuid>.bin from "<prefix><uuid in Z85>". */
static bool file_of_uuid(tg_str text, tg_arena *arena, tg_str *out)
{
    tg_auto_buf tg_buf uuid = TG_BUF_INIT;
    if (text.len < UUID_TEXT_BYTES ||
        !z85_decode(tg_str_sub(text, text.len - UUID_TEXT_BYTES, text.len), &uuid)) {
        return false;
    }
    tg_auto_buf tg_buf name = TG_BUF_INIT;
    tg_str prefix = tg_str_sub(text, 0, text.len - UUID_TEXT_BYTES);
    tg_buf_adds(&name, prefix);
    tg_buf_addz(&name, prefix.len ? "/deletion_vector_" : "deletion_vector_");
    tg_str bytes = tg_buf_str(&uuid);
    for (size_t i = 0; i < bytes.len; i++) {
        bool is_dash = i == 4 || i == 6 || i == 8 || i == 10;
        tg_buf_addf(&name, is_dash ? "-%02x" : "%02x", (unsigned)(uint8_t)bytes.ptr[i]);
    }
    tg_buf_addz(&name, ".bin");
    *out = tg_buf_take(&name, arena);
    return true;
}

tg_code tg_delta_dv_file(tg_str table_path, const tg_delta_dv *dv, tg_arena *arena, tg_str *out,
                         tg_error *err)
{
    bool is_valid = dv->storage == 'u' ? file_of_uuid(dv->text, arena, out)
                                       : tg_delta_path_decode(dv->text, table_path, arena, out);
    if (!is_valid) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "\"%.*s\" names no file", TG_SARG(dv->text));
    }
    return TG_OK;
}

static tg_code path_of(tg_str table_path, const tg_delta_dv *dv, tg_arena *arena, tg_str *out,
                       tg_error *err)
{
    tg_str path;
    TG_TRY(tg_delta_dv_file(table_path, dv, arena, &path, err));
    if (tg_path_has_scheme(path)) {
        TG_FAIL(err, UNSUPPORTED_FEATURE, "its file \"%.*s\" is not on this machine",
                TG_SARG(path));
    }
    *out = tg_path_join(arena, table_path, path);
    return TG_OK;
}

static tg_code read_file(const tg_delta *delta, tg_str path, const tg_delta_dv *dv, tg_buf *out,
                         tg_error *err)
{
    enum { FRAME_BYTES = 4 };
    tg_auto_buf tg_buf head = TG_BUF_INIT;
    int64_t offset = dv->offset < 0 ? 1 : dv->offset;
    TG_TRY(tg_fs_read_part(delta->fs, path, 0, 1, &head, err));
    if (head.len != 1 || tg_buf_str(&head).ptr[0] != FILE_VERSION) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "its file `%.*s` is not of version 1",
                TG_SARG(path));
    }
    size_t size = (size_t)dv->size_bytes;
    tg_auto_buf tg_buf frame = TG_BUF_INIT;
    TG_TRY(tg_fs_read_part(delta->fs, path, offset, size + 2 * (size_t)FRAME_BYTES, &frame, err));
    if (frame.len != size + 2 * (size_t)FRAME_BYTES ||
        big32((const uint8_t *)tg_buf_str(&frame).ptr) != size) {
        TG_FAIL(err, DELTA_DELETION_VECTOR_SIZE_MISMATCH,
                "its file `%.*s` does not hold %lld bytes at %lld", TG_SARG(path),
                (long long)dv->size_bytes, (long long)offset);
    }
    const uint8_t *bytes = (const uint8_t *)tg_buf_str(&frame).ptr + FRAME_BYTES;
    uint32_t sum = (uint32_t)crc32(0, bytes, (uInt)size);
    if (sum != big32(bytes + size)) {
        TG_FAIL(err, DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH,
                "its bytes in file `%.*s` do not have their checksum", TG_SARG(path));
    }
    tg_buf_add(out, (const char *)bytes, size);
    return TG_OK;
}

static tg_code read_inline(const tg_delta_dv *dv, tg_buf *out, tg_error *err)
{
    tg_auto_buf tg_buf all = TG_BUF_INIT;
    if (!z85_decode(dv->text, &all)) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "its text is not Z85");
    }
    if ((size_t)dv->size_bytes > all.len || all.len - (size_t)dv->size_bytes > 3) {
        TG_FAIL(err, DELTA_DELETION_VECTOR_SIZE_MISMATCH, "its text does not hold %lld bytes",
                (long long)dv->size_bytes);
    }
    tg_buf_adds(out, tg_str_sub(tg_buf_str(&all), 0, (size_t)dv->size_bytes));
    return TG_OK;
}

static tg_code load(const tg_delta *delta, tg_str table_path, const tg_delta_dv *dv,
                    tg_arena *arena, const tg_delta_rows **out, tg_error *err)
{
    tg_auto_buf tg_buf bytes = TG_BUF_INIT;
    if (dv->size_bytes < 0 || dv->size_bytes > INT32_MAX || dv->cardinality < 0) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID, "its sizeInBytes or cardinality is missing");
    }
    if (dv->storage == 'i') {
        TG_TRY(read_inline(dv, &bytes, err));
    } else {
        tg_auto_arena tg_arena *scratch = tg_arena_new();
        tg_str path;
        TG_TRY(path_of(table_path, dv, scratch, &path, err));
        TG_TRY(read_file(delta, path, dv, &bytes, err));
    }
    TG_TRY(tg_delta_rows_decode(tg_buf_str(&bytes), arena, out, err));
    if ((*out)->count != dv->cardinality) {
        TG_FAIL(err, DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH,
                "it names %lld rows, and the log says %lld", (long long)(*out)->count,
                (long long)dv->cardinality);
    }
    return TG_OK;
}

tg_code tg_delta_dv_load(const tg_delta *delta, tg_str table_path, tg_str file_path,
                         const tg_delta_dv *dv, tg_arena *arena, const tg_delta_rows **out,
                         tg_error *err)
{
    tg_auto_error tg_error reason = TG_ERROR_INIT;
    if (load(delta, table_path, dv, arena, out, &reason) == TG_OK) {
        return TG_OK;
    }
    (void)tg_error_context(&reason,
                           "while reading the deletion vector of file '%.*s' of Delta table '%.*s'",
                           TG_SARG(file_path), TG_SARG(table_path));
    return tg_error_pass(&reason, err);
}

int64_t tg_delta_live_records(const tg_delta_add *file)
{
    int64_t records = tg_delta_file_records(file->stats);
    int64_t deleted = file->dv ? file->dv->cardinality : 0;
    return records < 0 || deleted < 0 || deleted > records ? -1 : records - deleted;
}

tg_str tg_delta_dv_id(const tg_delta_dv *dv, tg_arena *arena)
{
    if (!dv) {
        return TG_S("");
    }
    return dv->offset < 0 ? tg_str_printf(arena, "%c%.*s", dv->storage, TG_SARG(dv->text))
                          : tg_str_printf(arena, "%c%.*s@%lld", dv->storage, TG_SARG(dv->text),
                                          (long long)dv->offset);
}

bool tg_delta_dv_equal(const tg_delta_dv *a, const tg_delta_dv *b)
{
    return a && b
               ? a->storage == b->storage && a->offset == b->offset && tg_str_eq(a->text, b->text)
               : a == b;
}

const tg_delta_dv *tg_delta_dv_copy(const tg_delta_dv *dv, tg_arena *arena)
{
    if (!dv) {
        return NULL;
    }
    tg_delta_dv *copy = TG_NEW(arena, tg_delta_dv);
    *copy = *dv;
    copy->text = tg_str_copy(arena, dv->text);
    return copy;
}
