/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ${key} in source files: replaced by values of the configuration, and of SET statements above it
 * in the same file.
 */
#ifndef TG_PIPELINE_SUBSTITUTE_H
#define TG_PIPELINE_SUBSTITUTE_H

#include "data/data.h"

/*
 * The text with all ${key} outside comments replaced; without any, the text itself. Unknown keys
 * are errors with the nearest key, located in file; the text is then not usable.
 */
TG_CHECKED tg_code tg_substitute(tg_str text, const char *file, const tg_property *configuration,
                                 size_t configuration_count, tg_arena *arena, tg_str *out_text,
                                 tg_diags *diags);

#endif
