/* SPDX-License-Identifier: Apache-2.0 */
/* Digests by XXH3, compiled in (the library's code is in its header). */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>

tg_digest tg_digest_of(tg_str bytes)
{
    XXH128_hash_t hash = XXH3_128bits(bytes.ptr, bytes.len);
    return (tg_digest){.high = hash.high64, .low = hash.low64};
}

tg_str tg_digest_text(tg_arena *arena, tg_digest digest)
{
    return tg_str_printf(arena, "%016" PRIx64 "%016" PRIx64, digest.high, digest.low);
}
