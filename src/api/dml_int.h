/* SPDX-License-Identifier: Apache-2.0 */
/* Private to dml.c and dml_change.c. */
#ifndef TG_API_DML_INT_H
#define TG_API_DML_INT_H

#include "api/standalone.h"

/* The table that a statement writes, at its newest version. */
TG_CHECKED tg_code tg_dml_target(tg_execution *ex, tg_program_target *out_target, tg_error *err);
/* The same as the binder takes it. */
tg_table tg_dml_table(const tg_program_target *target);
/* The target gets further columns; what a table cannot have is an error. */
TG_CHECKED tg_code tg_dml_evolve(tg_execution *ex, tg_program_target *target, tg_schema schema,
                                 tg_error *err);
/* Steps and a commit behind them. */
const tg_program *tg_dml_program(tg_execution *ex, const tg_program_target *target,
                                 const tg_step *steps, size_t step_count, const char *operation,
                                 const tg_property *parameters, size_t parameter_count);
/* The LET, CHANGE and APPEND steps of a bound statement. */
const tg_program *tg_dml_change_program(tg_execution *ex, const tg_program_target *target,
                                        const tg_bound_dml *bound, const char *operation,
                                        const tg_property *parameters, size_t parameter_count);
/* A deterministic predicate over the target, as a REPLACE step. */
TG_CHECKED tg_code tg_dml_replace_step(tg_execution *ex, const tg_program_target *target,
                                       const tg_expr *where, tg_step *out_step, tg_error *err);

#endif
