/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spark's hash (Murmur3, 32 bits) and xxhash64 over values of any type, and CRC-32.
 *
 * Both start with 42 and go from value to value: the hash so far is the seed of the next; NULL
 * leaves it. Spark hashes a 4 or 8 byte value as its little-endian bytes, except that Murmur3 takes
 * the bytes behind the last whole word one by one as signed numbers. Source: Spark's documentation
 * of hash and xxhash64, the Murmur3 and XXH64 definitions, Spark's own answers.
 */
#include <math.h>
#include <string.h>

#include "engine/duckdb/udf_int.h"

/* A vector with its children, looked up once per chunk. */
typedef struct node {
    duckdb_type type;
    duckdb_type physical_type; /* of a DECIMAL */
    int precision;
    const void *data;
    uint64_t *validity;
    struct node *children;
    size_t child_count;
} node;

static void open_node(tg_arena *arena, duckdb_vector vector, node *out)
{
    duckdb_logical_type type = tg_duckdb.vector_get_column_type(vector);
    out->type = tg_duckdb.get_type_id(type);
    out->data = tg_duckdb.vector_get_data(vector);
    out->validity = tg_duckdb.vector_get_validity(vector);
    if (out->type == DUCKDB_TYPE_DECIMAL) {
        out->precision = tg_duckdb.decimal_width(type);
        out->physical_type = tg_duckdb.decimal_internal_type(type);
    } else if (out->type == DUCKDB_TYPE_LIST) {
        out->child_count = 1;
        out->children = TG_NEW_ARRAY(arena, node, 1);
        open_node(arena, tg_duckdb.list_vector_get_child(vector), out->children);
    } else if (out->type == DUCKDB_TYPE_STRUCT) {
        out->child_count = tg_duckdb.struct_type_child_count(type);
        out->children = TG_NEW_ARRAY(arena, node, out->child_count);
        for (size_t i = 0; i < out->child_count; i++) {
            open_node(arena, tg_duckdb.struct_vector_get_child(vector, i), &out->children[i]);
        }
    }
    tg_duckdb.destroy_logical_type(&type);
}

/* ---- the two functions over bytes ------------------------------------------------------------ */

static uint32_t mix_k1(uint32_t k1)
{
    k1 *= 0xcc9e2d51u;
    k1 = (k1 << 15) | (k1 >> 17);
    return k1 * 0x1b873593u;
}

static uint32_t mix_h1(uint32_t h1, uint32_t k1)
{
    h1 ^= k1;
    h1 = (h1 << 13) | (h1 >> 19);
    return h1 * 5 + 0xe6546b64u;
}

static uint32_t murmur3(const char *bytes, size_t len, uint32_t seed)
{
    uint32_t h1 = seed;
    size_t i = 0;
    for (; i + 4 <= len; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        h1 = mix_h1(h1, mix_k1(word));
    }
    for (; i < len; i++) {
        h1 = mix_h1(h1, mix_k1((uint32_t)(int32_t)(signed char)bytes[i]));
    }
    h1 ^= (uint32_t)len;
    h1 ^= h1 >> 16;
    h1 *= 0x85ebca6bu;
    h1 ^= h1 >> 13;
    h1 *= 0xc2b2ae35u;
    return h1 ^ (h1 >> 16);
}

/* XXH64, as its specification has it. */
static const uint64_t prime1 = UINT64_C(0x9E3779B185EBCA87);
static const uint64_t prime2 = UINT64_C(0xC2B2AE3D27D4EB4F);
static const uint64_t prime3 = UINT64_C(0x165667B19E3779F9);
static const uint64_t prime4 = UINT64_C(0x85EBCA77C2B2AE63);
static const uint64_t prime5 = UINT64_C(0x27D4EB2F165667C5);

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t read64(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static uint64_t xxh_round(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * prime2, 31) * prime1;
}

/* Blocks of 32 bytes in four lanes; *at is moved behind them. */
static uint64_t xxh_blocks(const char *bytes, size_t len, uint64_t seed, size_t *at)
{
    uint64_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
    for (; *at + 32 <= len; *at += 32) {
        for (size_t i = 0; i < 4; i++) {
            lanes[i] = xxh_round(lanes[i], read64(bytes + *at + 8 * i));
        }
    }
    uint64_t hash =
        rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (size_t i = 0; i < 4; i++) {
        hash = (hash ^ xxh_round(0, lanes[i])) * prime1 + prime4;
    }
    return hash;
}

static uint64_t xxh64(const char *bytes, size_t len, uint64_t seed)
{
    size_t at = 0;
    uint64_t hash = (len >= 32 ? xxh_blocks(bytes, len, seed, &at) : seed + prime5) + len;
    for (; at + 8 <= len; at += 8) {
        hash = rotate(hash ^ xxh_round(0, read64(bytes + at)), 27) * prime1 + prime4;
    }
    if (at + 4 <= len) {
        uint32_t word;
        memcpy(&word, bytes + at, sizeof(word));
        hash = rotate(hash ^ word * prime1, 23) * prime2 + prime3;
        at += 4;
    }
    for (; at < len; at++) {
        hash = rotate(hash ^ (unsigned char)bytes[at] * prime5, 11) * prime1;
    }
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}

static uint64_t hash_bytes(bool is_64, const char *bytes, size_t len, uint64_t seed)
{
    return is_64 ? xxh64(bytes, len, seed) : murmur3(bytes, len, (uint32_t)seed);
}

static uint64_t hash_int(bool is_64, int32_t value, uint64_t seed)
{
    char bytes[4];
    memcpy(bytes, &value, sizeof(bytes));
    return hash_bytes(is_64, bytes, sizeof(bytes), seed);
}

static uint64_t hash_long(bool is_64, int64_t value, uint64_t seed)
{
    char bytes[8];
    memcpy(bytes, &value, sizeof(bytes));
    return hash_bytes(is_64, bytes, sizeof(bytes), seed);
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t hash_double(bool is_64, double value, uint64_t seed)
{
    int64_t bits = INT64_C(0x7ff8000000000000); /* Java's one NaN */
    if (!isnan(value)) {
        value = value == 0 ? 0 : value;
        memcpy(&bits, &value, sizeof(bits));
    }
    return hash_long(is_64, bits, seed);
}

static uint64_t hash_float(bool is_64, float value, uint64_t seed)
{
    int32_t bits = 0x7fc00000;
    if (!isnan(value)) {
        value = value == 0 ? 0 : value;
        memcpy(&bits, &value, sizeof(bits));
    }
    return hash_int(is_64, bits, seed);
}

/*
 * Up to 18 digits as a BIGINT, else the fewest bytes of the two's complement, most significant
 * first (BigInteger.toByteArray).
 */
static uint64_t hash_decimal(bool is_64, tg_int128 value, int precision, uint64_t seed)
{
    if (precision <= 18) {
        return hash_long(is_64, (int64_t)value, seed);
    }
    char bytes[16];
    for (int i = 0; i < 16; i++) {
        bytes[15 - i] = (char)(value >> (8 * i));
    }
    size_t start = 0;
    while (start < 15 && ((bytes[start] == 0 && bytes[start + 1] >= 0) ||
                          (bytes[start] == -1 && bytes[start + 1] < 0))) {
        start++;
    }
    return hash_bytes(is_64, bytes + start, 16 - start, seed);
}

/* Depth is bounded by the depth of the type. */
static uint64_t hash_value(bool is_64, const node *n, idx_t row, uint64_t seed)
{
    if (tg_udf_is_null_at(n->validity, row)) {
        return seed;
    }
    switch (n->type) {
    case DUCKDB_TYPE_BOOLEAN:
        return hash_int(is_64, ((const bool *)n->data)[row], seed);
    case DUCKDB_TYPE_TINYINT:
        return hash_int(is_64, ((const int8_t *)n->data)[row], seed);
    case DUCKDB_TYPE_SMALLINT:
        return hash_int(is_64, ((const int16_t *)n->data)[row], seed);
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_DATE:
        return hash_int(is_64, ((const int32_t *)n->data)[row], seed);
    case DUCKDB_TYPE_FLOAT:
        return hash_float(is_64, ((const float *)n->data)[row], seed);
    case DUCKDB_TYPE_DOUBLE:
        return hash_double(is_64, ((const double *)n->data)[row], seed);
    case DUCKDB_TYPE_DECIMAL:
        return hash_decimal(is_64, tg_udf_number_at(n->data, n->physical_type, row), n->precision,
                            seed);
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_BLOB: {
        tg_str bytes = tg_udf_str_at(n->data, row);
        return hash_bytes(is_64, bytes.ptr, bytes.len, seed);
    }
    case DUCKDB_TYPE_LIST: {
        duckdb_list_entry entry = ((const duckdb_list_entry *)n->data)[row];
        for (uint64_t i = 0; i < entry.length; i++) {
            seed = hash_value(is_64, n->children, entry.offset + i, seed);
        }
        return seed;
    }
    case DUCKDB_TYPE_STRUCT:
        for (size_t i = 0; i < n->child_count; i++) {
            seed = hash_value(is_64, &n->children[i], row, seed);
        }
        return seed;
    case DUCKDB_TYPE_SQLNULL:
        return seed;
    default:
        return hash_long(is_64, ((const int64_t *)n->data)[row], seed); /* BIGINT, TIMESTAMP */
    }
}

static uint64_t hash_row(tg_udf_call *call, bool is_64)
{
    size_t count = tg_duckdb.data_chunk_get_column_count(call->chunk);
    if (!call->pattern) {
        node *nodes = TG_NEW_ARRAY(call->arena, node, count);
        for (size_t i = 0; i < count; i++) {
            open_node(call->arena, tg_duckdb.data_chunk_get_vector(call->chunk, i), &nodes[i]);
        }
        call->pattern = nodes;
    }
    uint64_t seed = 42;
    for (size_t i = 0; i < count; i++) {
        seed = hash_value(is_64, &((const node *)call->pattern)[i], call->row, seed);
    }
    return seed;
}

static void hash32(tg_udf_call *call)
{
    tg_udf_return_int(call, (int32_t)(uint32_t)hash_row(call, false));
}

static void hash64(tg_udf_call *call)
{
    tg_udf_return_long(call, (int64_t)hash_row(call, true));
}

/* The polynomial of zlib and Java. */
static void crc32(tg_udf_call *call)
{
    tg_str bytes = tg_udf_str(call, 0);
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (unsigned char)bytes.ptr[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        }
    }
    tg_udf_return_long(call, (int64_t)(crc ^ 0xFFFFFFFFu));
}

const tg_udf tg_udf_table_hash[] = {
    {"tg_hash", "*>i", hash32, true},
    {"tg_xxhash64", "*>l", hash64, true},
    {"tg_crc32", "x>l", crc32, false},
    {NULL, NULL, NULL, false},
};
