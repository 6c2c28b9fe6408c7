/* SPDX-License-Identifier: Apache-2.0 */
/* What every module may use from base: include this. */
#ifndef TG_BASE_BASE_H
#define TG_BASE_BASE_H

#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"

enum {
#define TG_LIMIT_DEF(name, value, doc) TG_LIMIT_##name = (value),
#include "base/limits.def"
#undef TG_LIMIT_DEF
};

#endif
