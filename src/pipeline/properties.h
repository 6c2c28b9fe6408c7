/* SPDX-License-Identifier: Apache-2.0 */
/* Which table properties are known, and what a definition may ask of them. */
#ifndef TG_PIPELINE_PROPERTIES_H
#define TG_PIPELINE_PROPERTIES_H

#include "data/data.h"

/* What became of a property. */
typedef enum tg_property_verdict {
    TG_PROPERTY_KEEP,
    TG_PROPERTY_NOTE,
    TG_PROPERTY_REFUSED
} tg_property_verdict;

/*
 * Judges one property of a definition. NOTE and REFUSED set err with the property's span: a
 * misspelt key names the nearest one, a value that needs a feature which cannot be written is
 * refused by name. Keys outside the three prefixes are the user's own.
 */
tg_property_verdict tg_property_check(const tg_property *property, tg_error *err);
/* The value of a property (keys have no case), or an empty string with ptr NULL. */
tg_str tg_property_get(const tg_property *properties, size_t count, const char *key);

#endif
