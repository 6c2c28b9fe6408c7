/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raising: checks that printed queries reach when an index, length or condition is wrong.
 *
 * tg_bad_... always raise; DuckDB calls them only for the rows of the CASE branch they stand in.
 */
#include "engine/duckdb/udf_int.h"

static void bad_index(tg_udf_call *call)
{
    tg_udf_fail(call, TG_E_INVALID_ARRAY_INDEX,
                "the index %d is out of bounds: there are %lld elements", tg_udf_int(call, 0),
                (long long)tg_udf_long(call, 1));
}

static void bad_element(tg_udf_call *call)
{
    if (tg_udf_int(call, 0) == 0) {
        tg_udf_fail(call, TG_E_INVALID_INDEX_OF_ZERO,
                    "the index 0 is not valid: elements count from 1");
        return;
    }
    tg_udf_fail(
        call, TG_E_INVALID_ARRAY_INDEX_IN_ELEMENT_AT,
        "the index %d is out of bounds: there are %lld elements; use try_element_at to get NULL",
        tg_udf_int(call, 0), (long long)tg_udf_long(call, 1));
}

static void check_slice(tg_udf_call *call)
{
    if (tg_udf_int(call, 0) == 0) {
        tg_udf_fail(call, TG_E_INVALID_PARAMETER_VALUE_START,
                    "the start of slice must not be 0: positions count from 1");
    } else if (tg_udf_int(call, 1) < 0) {
        tg_udf_fail(call, TG_E_INVALID_PARAMETER_VALUE_LENGTH,
                    "the length of slice must not be negative");
    } else {
        tg_udf_return_bool(call, true);
    }
}

enum { ARRAY_ELEMENTS_MAX = 2147483632 }; /* Java's, and so Spark's */

static bool fails_as_too_large(tg_udf_call *call, uint64_t count)
{
    if (count > ARRAY_ELEMENTS_MAX) {
        tg_udf_fail(call, TG_E_COLLECTION_SIZE_LIMIT_EXCEEDED_PARAMETER,
                    "an array of %llu elements is larger than any can be",
                    (unsigned long long)count);
        return true;
    }
    call->element_count += (int64_t)count;
    if (call->element_count > TG_LIMIT_CHUNK_ELEMENTS) {
        tg_udf_fail(call, TG_E_TIDEGATE_LIMIT_EXCEEDED,
                    "the arrays of %llu rows would have more than %lld elements",
                    (unsigned long long)call->row + 1, (long long)TG_LIMIT_CHUNK_ELEMENTS);
        return true;
    }
    return false;
}

static void array_size(tg_udf_call *call)
{
    int64_t count = tg_udf_long(call, 0);
    if (!fails_as_too_large(call, count > 0 ? (uint64_t)count : 0)) {
        tg_udf_return_long(call, count);
    }
}

/* start, stop, step */
static void check_sequence(tg_udf_call *call)
{
    int64_t start = tg_udf_long(call, 0), stop = tg_udf_long(call, 1), step = tg_udf_long(call, 2);
    bool fits = step > 0 ? start <= stop : step < 0 ? start >= stop : start == stop;
    if (!fits) {
        tg_udf_fail(call, TG_E_TIDEGATE_INVALID_SEQUENCE_BOUNDARIES,
                    "a sequence from %lld to %lld cannot go by %lld", (long long)start,
                    (long long)stop, (long long)step);
        return;
    }
    /* Modulo 2^64 the distance and the step are right for all starts and stops. */
    uint64_t distance =
        step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t more = stride ? distance / stride : 0;
    if (!fails_as_too_large(call, more == UINT64_MAX ? more : more + 1)) {
        tg_udf_return_bool(call, true);
    }
}

static void raise_error(tg_udf_call *call)
{
    tg_str message = tg_udf_is_null(call, 0) ? TG_S("null") : tg_udf_str(call, 0);
    tg_udf_fail(call, TG_E_USER_RAISED_EXCEPTION, "%.*s", TG_SARG(message));
}

static void assert_true(tg_udf_call *call)
{
    if (tg_udf_is_null(call, 0) || !tg_udf_bool(call, 0)) {
        bool has_text = call->arg_count == 2 && !tg_udf_is_null(call, 1);
        tg_str message = has_text ? tg_udf_str(call, 1) : TG_S("the condition is not true");
        tg_udf_fail(call, TG_E_USER_RAISED_EXCEPTION, "%.*s", TG_SARG(message));
        return;
    }
    tg_udf_return_null(call);
}

const tg_udf tg_udf_table_collection[] = {
    {"tg_bad_index", "il>b", bad_index, false},
    {"tg_bad_element", "il>b", bad_element, false},
    {"tg_check_slice", "ii>b", check_slice, false},
    {"tg_array_size", "l>l", array_size, false},
    {"tg_check_sequence", "lll>b", check_sequence, false},
    {"tg_raise_error", "s>s", raise_error, true},
    {"tg_assert_true", "b>s", assert_true, true},
    {"tg_assert_true", "bs>s", assert_true, true},
    {NULL, NULL, NULL, false},
};
