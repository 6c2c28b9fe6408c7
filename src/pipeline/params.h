/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters while a graph is built: :name in source files becomes a literal, never text, so that no
 * value can change what a statement says. A value is a STRING, with the casts that a string literal
 * in its place would get.
 */
#ifndef TG_PIPELINE_PARAMS_H
#define TG_PIPELINE_PARAMS_H

#include "pipeline/pipeline.h"

typedef struct tg_params {
    const tg_spec *spec;
    tg_arena *arena;
    tg_map asked; /* names that stand in a file, as ${name} or as :name */
} tg_params;

void tg_params_init(tg_params *params, const tg_spec *spec, tg_arena *arena);
/*
 * Binds the markers of a statement. UNBOUND_SQL_PARAMETER, located in file, for each without a value:
 * it becomes NULL, so that the rest can be analysed.
 */
void tg_params_bind(tg_params *params, tg_stmt *stmt, const tg_source_file *file, tg_diags *diags);
/* When all files are read: what was given and means nothing is an error, what nobody uses a note. */
void tg_params_check_used(const tg_params *params, tg_diags *diags);

#endif
