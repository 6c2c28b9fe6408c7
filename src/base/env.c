/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real world: system clock, random UUIDs, the process environment.
 */
#include "base/env.h"

#include <stdlib.h>
#include <time.h>
#include <uuid/uuid.h>

static int64_t system_now_us(void *self)
{
    (void)self;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t system_monotonic_ns(void *self)
{
    (void)self;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void system_uuid(void *self, char out[37])
{
    (void)self;
    uuid_t bytes;
    uuid_generate_random(bytes);
    uuid_unparse_lower(bytes, out);
}

static const char *system_getenv(void *self, const char *name)
{
    (void)self;
    return getenv(name);
}

const tg_env *tg_env_system(void)
{
    static const tg_env env = {
        .now_us = system_now_us,
        .monotonic_ns = system_monotonic_ns,
        .uuid = system_uuid,
        .getenv = system_getenv,
        .self = NULL,
        .cancelled = NULL,
    };
    return &env;
}
