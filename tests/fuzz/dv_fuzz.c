/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a deletion vector. Checks besides memory: what was accepted names as many rows as it
 * says, each once.
 */
#include "delta/delta_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { LOOK = 1 << 17 }; /* two containers, at the beginning of each of two bitmaps */
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error err = TG_ERROR_INIT;
    const tg_delta_rows *rows;
    if (tg_delta_rows_decode((tg_str){(const char *)bytes, size}, arena, &rows, &err) != TG_OK) {
        tg_assert(err.message && err.message[0]);
        return 0;
    }
    int64_t seen = 0;
    for (uint64_t i = 0; i < LOOK; i++) {
        seen += tg_delta_rows_has(rows, i);
        seen += tg_delta_rows_has(rows, (UINT64_C(1) << 32) + i);
    }
    tg_assert(seen <= tg_delta_rows_count(rows));
    return 0;
}
