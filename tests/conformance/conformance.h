/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the engine interface as tests, for every implementation. Only the interface is
 * used: tables are made by running programs, and races are lost to commits that a hook makes.
 */
#ifndef TG_TESTS_CONFORMANCE_H
#define TG_TESTS_CONFORMANCE_H

#include "engine/engine.h"
#include "support/test.h"

/* What a test gets in *state: an engine without tables, and a path for one. */
typedef struct conformance {
    tg_engine *engine;
    tg_arena *arena;
    tg_error error; /* of the call that failed last */
    tg_str path;
} conformance;

/*
 * Runs the suite; set-up and tear-down make and release the state for each test. Returns the number
 * of failures.
 */
int run_conformance(const char *name, int (*setup)(void **state), int (*teardown)(void **state));

#endif
