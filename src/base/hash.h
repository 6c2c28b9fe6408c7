/* SPDX-License-Identifier: Apache-2.0 */
/* Digests for fingerprints and identities (XXH3, 128 bits; not for security). */
#ifndef TG_BASE_HASH_H
#define TG_BASE_HASH_H

#include "base/str.h"

typedef struct tg_digest {
    uint64_t high, low;
} tg_digest;

tg_digest tg_digest_of(tg_str bytes);
/* 32 lower-case hexadecimal digits. */
tg_str tg_digest_text(tg_arena *arena, tg_digest digest);

#endif
