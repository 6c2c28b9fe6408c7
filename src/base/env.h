/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world outside: clock, UUIDs, environment variables, cancellation. Behind one struct, so that
 * tests are deterministic.
 * Threads: a tg_env is immutable after set-up but for the cancel flag, which may be set from a
 * signal handler.
 */
#ifndef TG_BASE_ENV_H
#define TG_BASE_ENV_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct tg_env {
    /* Microseconds since 1970-01-01 UTC. */
    int64_t (*now_us)(void *self);
    /* Monotonic nanoseconds, for durations. */
    int64_t (*monotonic_ns)(void *self);
    /* Writes 36 characters and a NUL: a version 4 UUID, lower case. */
    void (*uuid)(void *self, char out[37]);
    /* NULL when not set. The pointer is valid until the environment changes. */
    const char *(*getenv)(void *self, const char *name);
    void *self;
    /*
     * Set by a signal handler (Ctrl-C); long work looks at it between steps. NULL: nobody cancels,
     * as in the system's, for what is cancelled is a session and not the process.
     */
    volatile sig_atomic_t *cancelled;
} tg_env;

/* The real world. */
const tg_env *tg_env_system(void);

static inline bool tg_env_is_cancelled(const tg_env *env)
{
    /* Atomic: flows that run on other threads look at it too. */
    return env->cancelled && __atomic_load_n(env->cancelled, __ATOMIC_RELAXED);
}

#endif
