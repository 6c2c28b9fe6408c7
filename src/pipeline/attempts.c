/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that time mends are tried again: races lost again and again, storage that did not answer.
 * Nothing else is: an answer that is wrong today is wrong in five seconds too.
 *
 * A flow is tried pipelines.maxFlowRetryAttempts times more. What then failed, and what was skipped
 * behind it, is run pipelines.numUpdateRetryAttempts times more, within the same update: its id, clock
 * and pins stay. As with Databricks, an update that a person starts and waits for has none of the
 * latter, unless the pipeline says so.
 */
#include <time.h>

#include "pipeline/conf.h"
#include "pipeline/update_int.h"

enum {
    FLOW_RETRIES = 2, /* the vendor's defaults */
    UPDATE_RETRIES = 5,
    FIRST_WAIT_MS = 1000,
    LONGEST_WAIT_MS = 60000,
    LOOK_MS = 20
};

static int64_t setting(const tg_update *u, tg_str key, int64_t fallback)
{
    const tg_spec *spec = u->graph->spec;
    int64_t value;
    for (size_t i = 0; i < spec->configuration_count; i++) {
        if (tg_str_ieq(spec->configuration[i].key, key) &&
            tg_str_to_i64(tg_str_trim(spec->configuration[i].value), &value)) {
            return value;
        }
    }
    return fallback;
}

bool tg_is_retryable(const tg_error *err)
{
    /* What stands in the way here is there the next time too: pins stay, and so does the machine. */
    static const tg_error_class lasting[] = {TG_E_TIDEGATE_SOURCE_CHANGED,
                                             TG_E_TIDEGATE_DEFINITION_CHANGED,
                                             TG_E_TIDEGATE_ENGINE_NOT_FOUND};
    for (size_t i = 0; i < sizeof(lasting) / sizeof(*lasting); i++) {
        if (err->cls == lasting[i]) {
            return false;
        }
    }
    return err->code == TG_IO || err->code == TG_CONFLICT;
}

/* Twice as long each time. False: the update was cancelled meanwhile. */
static bool pause_for(const tg_update *u, int64_t attempt)
{
    const tg_env *env = u->context->env;
    int64_t wait_ms = attempt < 6 ? (int64_t)FIRST_WAIT_MS << attempt : LONGEST_WAIT_MS;
    int64_t until = env->monotonic_ns(env->self) +
                    (wait_ms < LONGEST_WAIT_MS ? wait_ms : LONGEST_WAIT_MS) * 1000000;
    while (env->monotonic_ns(env->self) < until) {
        if (tg_env_is_cancelled(env)) {
            return false;
        }
        const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
        (void)nanosleep(&look, NULL);
    }
    return !tg_env_is_cancelled(env);
}

/* ---- flows ----------------------------------------------------------------------------------- */

bool tg_flow_tries_again(tg_update *u, tg_flow_run *run, const tg_error *err)
{
    int64_t limit = setting(u, TG_S(TG_CONF_FLOW_RETRIES), FLOW_RETRIES);
    if (run->retry_count >= limit || !tg_is_retryable(err) ||
        tg_env_is_cancelled(u->context->env)) {
        return false;
    }
    tg_update_event_warning(
        u, run, "RETRIED",
        tg_str_printf(run->arena,
                      "Flow '%.*s' failed and is tried again (retry %lld of %lld): [%s] %s.",
                      TG_SARG(run->flow->event_name), (long long)run->retry_count + 1,
                      (long long)limit, tg_error_name(err), err->message));
    tg_flow_flush(run);
    return pause_for(u, run->retry_count++);
}

/* ---- updates --------------------------------------------------------------------------------- */

static bool is_person(const tg_update *u)
{
    const char *cause = u->options->cause;
    return !cause || strcmp(cause, "USER_ACTION") == 0 || strcmp(cause, "RETRY_ON_FAILURE") == 0;
}

/* Did something fail for a while, and nobody stop the update? */
static bool may_run_again(const tg_update *u)
{
    bool any = false;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        const tg_flow_result *result = &u->flow_results[i];
        if (result->status == TG_FLOW_STOPPED) {
            return false;
        }
        any = any || (result->status == TG_FLOW_FAILED && tg_is_retryable(result->error));
    }
    return any;
}

/* What was skipped is run again when all that failed above it is. */
static bool has_lasting_failure(const tg_update *u, const tg_flow *flow)
{
    for (size_t i = 0; i < flow->upstream_count; i++) {
        const tg_flow *upstream = flow->upstream[i]->flow;
        const tg_flow_result *result = &u->flow_results[upstream->index];
        if ((result->status == TG_FLOW_FAILED && !tg_is_retryable(result->error)) ||
            (result->status == TG_FLOW_SKIPPED && has_lasting_failure(u, upstream))) {
            return true;
        }
    }
    return false;
}

static void queue_again(tg_update *u, tg_flow_run *run, int64_t attempt, int64_t limit)
{
    tg_flow_result *result = run->result;
    if (result->status == TG_FLOW_FAILED) {
        tg_update_event_warning(
            u, run, "RETRIED",
            tg_str_printf(run->arena,
                          "Flow '%.*s' failed and is run again with the update "
                          "(retry %lld of %lld): [%s] %s.",
                          TG_SARG(run->flow->event_name), (long long)attempt + 1, (long long)limit,
                          tg_error_name(result->error), result->error->message));
    }
    run->is_again = result->status == TG_FLOW_FAILED;
    run->retry_count = 0;
    result->error = NULL;
    tg_update_event_flow(u, run, TG_FLOW_QUEUED, NULL);
}

void tg_update_run_with_retries(tg_update *u)
{
    int64_t limit = setting(u, TG_S(TG_CONF_UPDATE_RETRIES), is_person(u) ? 0 : UPDATE_RETRIES);
    tg_update_run_flows(u);
    for (int64_t attempt = 0; attempt < limit && may_run_again(u); attempt++) {
        if (!pause_for(u, attempt)) {
            return;
        }
        bool *lasting = TG_NEW_ARRAY(u->arena, bool, u->graph->flow_count);
        for (size_t i = 0; i < u->graph->flow_count; i++) {
            lasting[i] = has_lasting_failure(u, u->graph->flows[i]);
        }
        for (size_t i = 0; i < u->graph->flow_count; i++) {
            const tg_flow_result *result = &u->flow_results[i];
            bool is_failed = result->status == TG_FLOW_FAILED && tg_is_retryable(result->error);
            if (is_failed || (result->status == TG_FLOW_SKIPPED && !lasting[i])) {
                queue_again(u, &u->runs[i], attempt, limit);
            }
        }
        tg_update_event_state(u, TG_UPDATE_RUNNING, NULL);
        tg_update_run_flows(u);
    }
}
