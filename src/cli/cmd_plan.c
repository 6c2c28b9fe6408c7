/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tidegate plan: per flow what a run would do, per piece of its window why. */
#include "cli/cli.h"

static const char *count_text(tg_arena *arena, const tg_flow_result *flow, int64_t count)
{
    return count < 0
               ? "-"
               : tg_arena_printf(arena, "%s%lld", flow->is_estimate ? "~" : "", (long long)count);
}

/* Does a piece say it already? */
static bool is_told(const tg_flow_result *flow, const char *reason)
{
    for (size_t i = 0; i < flow->piece_count; i++) {
        if (flow->pieces[i].reason && strcmp(flow->pieces[i].reason, reason) == 0) {
            return true;
        }
    }
    return false;
}

static void print_flow(tg_arena *arena, const tg_flow_result *flow, int width)
{
    printf(" %-*.*s  %-23s  %12s  %12s\n", width, TG_SARG(flow->flow->full_name),
           flow->technique ? flow->technique : tg_flow_status_name(flow->status),
           count_text(arena, flow, flow->rows_to_delete),
           count_text(arena, flow, flow->rows_to_insert));
    for (size_t i = 0; i < flow->piece_count; i++) {
        const tg_plan_piece *piece = &flow->pieces[i];
        printf("   %s [%.*s]%s%s\n", piece->treatment, TG_SARG(piece->where),
               piece->reason ? " because of " : "", piece->reason ? piece->reason : "");
    }
    for (size_t i = 0; i < flow->warning_count; i++) {
        printf("   WARN: %.*s\n", TG_SARG(flow->warnings[i]));
    }
    for (size_t i = 0; i < flow->issue_count; i++) {
        const tg_plan_issue *issue = &flow->issues[i];
        if (!is_told(flow, issue->issue_type)) {
            printf("   not incremental because of %s%s%s\n", issue->issue_type,
                   issue->sub_type ? ": " : "", issue->sub_type ? issue->sub_type : "");
        }
    }
}

void tg_cli_print_plan(const tg_update_result *result)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    size_t width = 4;
    bool has_estimate = false;
    for (size_t i = 0; i < result->flow_count; i++) {
        size_t len = result->flows[i].flow->full_name.len;
        width = len > width ? len : width;
        has_estimate = has_estimate || result->flows[i].is_estimate;
    }
    printf(" %-*s  %-23s  %12s  %12s\n", (int)width, "flow", "technique", "to delete", "to insert");
    for (size_t i = 0; i < result->flow_count; i++) {
        print_flow(arena, &result->flows[i], (int)width);
    }
    if (has_estimate) {
        printf("~ estimate: the flow reads a table that the run will change\n");
    }
    printf("nothing was written (clock %.*s, zone %.*s)\n",
           TG_SARG(tg_instant_text(arena, result->now_us)), TG_SARG(result->zone_name));
}
