/* SPDX-License-Identifier: Apache-2.0 */
/* The type system: include this. */
#ifndef TG_DATA_DATA_H
#define TG_DATA_DATA_H

#include "data/region.h"
#include "data/types.h"
#include "data/value.h"

#endif
