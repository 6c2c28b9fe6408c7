/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clauses of AUTO CDC behind KEYS (..). No release runs such flows yet; their clauses are
 * checked, so that a misspelt one is not taken for one that is merely not available.
 */
#ifndef TG_PIPELINE_CDC_H
#define TG_PIPELINE_CDC_H

#include "sql/ast.h"

/*
 * Judges flow->cdc_text (reference/databricks-semantics.md 1.4; clauses in any order). The error's
 * span is in that text. PARSE_SYNTAX_ERROR, DUPLICATE_CLAUSES, AUTOCDC_MISSING_SEQUENCE_BY.
 */
TG_CHECKED tg_code tg_cdc_check(const tg_flow_spec *flow, tg_arena *arena, tg_error *err);

#endif
