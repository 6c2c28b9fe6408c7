/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lints: definitions that mean what they say, and probably not what was meant. Each has a code, a
 * place, and a fix in the user's own names. A lint that is in doubt is silent.
 */
#ifndef TG_PIPELINE_LINT_H
#define TG_PIPELINE_LINT_H

#include "pipeline/pipeline.h"

typedef enum tg_lint_id {
#define TG_LINT(id, code, name, finds, fix) TG_LINT_##id,
#include "pipeline/lints.def"
#undef TG_LINT
    TG_LINT_COUNT_
} tg_lint_id;

/* The key of the table property that silences lints: "TG001, TG005". */
#define TG_LINT_PROPERTY "tidegate.lint.ignore"
/* TIDEGATE_INVALID_TABLE_PROPERTY for a code that is none, with the nearest. */
TG_CHECKED tg_code tg_lint_check_ignored(tg_str codes, tg_error *err);

/*
 * What is to be said of a flow whose query was bound with these options; what its table ignores is
 * left out. Looks at trees only. Spans are in the flow's file.
 */
void tg_lint_flow(const tg_flow *flow, const tg_bound_query *query, const tg_bind_options *options,
                  tg_arena *arena, const tg_lint **out_lints, size_t *out_count);

#endif
