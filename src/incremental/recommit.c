/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state once more, without rows (rule R10 of the coverage model): asked for before our own log
 * cleanup removes the commit that carries it. Whatever the log still tells is tested now, for
 * nobody can test it later.
 */
#include "incremental/incremental_int.h"

bool tg_plan_recommit(const tg_refresh_input *input, tg_arena *arena, tg_str *out_state)
{
    const char *missing;
    const tg_flow_state *state = tg_plan_recorded_state(input, arena, &missing);
    if (!state) {
        return false; /* there is nothing that could be lost */
    }
    tg_coverage coverage;
    tg_coverage_load(input, state, arena, &coverage);
    tg_coverage_take_changes(input, input->commits, input->commit_count, input->state.state_version,
                             arena, &coverage);
    tg_flow_state again = *state;
    again.update_id = input->update_id;
    again.read_version = input->target.version;
    again.advanced =
        TG_S("false"); /* it brings nothing up to date: who races with it need not care */
    *out_state = tg_coverage_state(&again, &coverage, arena);
    return true;
}
