/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted engine in memory, for tests of planning and of pipelines: tables are facts and commits
 * without rows, programs are recorded instead of run, and races are lost when a test says so. It
 * keeps level 2 of the interface (versions, states, hooks, conflicts) as the real engines do; the
 * conformance suite runs against it. It runs no queries. The functions below are called while no
 * sibling is in use.
 */
#ifndef TG_ENGINE_FAKE_FAKE_ENGINE_H
#define TG_ENGINE_FAKE_FAKE_ENGINE_H

#include "engine/engine.h"

/* Release with engine->close(engine->self). */
tg_engine *tg_engine_fake_new(void);

/* ---- what is there --------------------------------------------------------------------------- */

/*
 * A Delta table at version 0; facts.version and facts.digest are made here. Texts and types are
 * copied.
 */
void tg_fake_add_table(tg_engine *engine, tg_str path, const tg_table_facts *facts);
/* A source of another format; its digest changes with each call for the same path. */
void tg_fake_add_source(tg_engine *engine, tg_str path, tg_schema schema);
/*
 * Somebody else's commit: fact.version is made here and returned; everything else is taken as it
 * is. A region is not copied: its arena must outlive the engine.
 */
int64_t tg_fake_add_commit(tg_engine *engine, tg_str path, const tg_commit_fact *fact);
/* Its log file is gone (foreign clean-up). */
void tg_fake_forget_commit(tg_engine *engine, tg_str path, int64_t version);
/* The table becomes another one: new id, same history length. */
void tg_fake_recreate_table(tg_engine *engine, tg_str path, tg_str table_id);
/*
 * At first TG_ENGINE_STATE_REBASE alone: with TG_ENGINE_SIBLINGS flows run at the same time, and the
 * next of a script is taken by whichever comes first.
 */
void tg_fake_set_capabilities(tg_engine *engine, uint32_t capabilities);

/* ---- what will happen ------------------------------------------------------------------------ */

/* The next run fails like this before it commits. */
void tg_fake_fail_next_run(tg_engine *engine, tg_error_class cls, const char *message);
/*
 * The next run loses its first attempt to these commits, which are added to the target then;
 * regions as in tg_fake_add_commit.
 */
void tg_fake_lose_next_race(tg_engine *engine, const tg_commit_fact *winners, size_t count);
/* Runs wait until so many are in one at the same time; fails when they do not come. */
void tg_fake_meet_in_run(tg_engine *engine, size_t count);
/* Row counts that runs report from now on. */
void tg_fake_set_result(tg_engine *engine, int64_t output_rows, int64_t deleted_rows);

/* ---- what happened --------------------------------------------------------------------------- */

typedef struct tg_fake_run {
    const tg_program *program; /* the caller's */
    tg_str text;               /* tg_program_print of it */
    int64_t committed_version; /* -1: it failed */
    int attempts;
} tg_fake_run;
size_t tg_fake_run_count(const tg_engine *engine);
const tg_fake_run *tg_fake_run_at(const tg_engine *engine, size_t index);

#endif
