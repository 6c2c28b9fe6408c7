/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ${key} in source files: replaced by values of the update's parameters, of the configuration, and
 * of SET statements above it in the same file.
 */
#ifndef TG_PIPELINE_SUBSTITUTE_H
#define TG_PIPELINE_SUBSTITUTE_H

#include "pipeline/pipeline.h"

/*
 * The text with all ${key} outside comments replaced; without any, the text itself. Unknown keys
 * are errors with the nearest key, located in file; the text is then not usable. asked gets every
 * key that stands in the text.
 */
TG_CHECKED tg_code tg_substitute(tg_str text, const char *file, const tg_spec *spec, tg_map *asked,
                                 tg_arena *arena, tg_str *out_text, tg_diags *diags);

#endif
