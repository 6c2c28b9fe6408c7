/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancelling. A query that joins much may stay inside DuckDB for minutes without coming back to us,
 * and the flags that say stop (a signal handler's, tg_engine.cancel's) wake nobody. So a thread
 * looks at them while something runs, and interrupts it. It sleeps without waking up when nothing
 * runs.
 */
#include <time.h>

#include "engine/duckdb/duckdb_int.h"

enum { LOOK_NS = 20 * 1000 * 1000 };

static struct timespec next_look(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += LOOK_NS;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Interrupts what is cancelled; does anything run? */
static bool look(struct tg_duckdb_watcher *watcher)
{
    bool any_runs = false;
    for (tg_duckdb_engine *engine = watcher->engines; engine; engine = engine->next) {
        if (engine->running && tg_duckdb_is_cancelled(engine)) {
            tg_duckdb.interrupt(engine->running);
        }
        any_runs = any_runs || engine->running;
    }
    return any_runs;
}

static void *watch_loop(void *argument)
{
    tg_duckdb_instance *instance = argument;
    struct tg_duckdb_watcher *watcher = &instance->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    while (!watcher->is_closing) {
        if (look(watcher)) {
            struct timespec until = next_look();
            (void)pthread_cond_timedwait(&watcher->changed, &watcher->lock, &until);
        } else {
            (void)pthread_cond_wait(&watcher->changed, &watcher->lock);
        }
    }
    (void)pthread_mutex_unlock(&watcher->lock);
    return NULL;
}

void tg_duckdb_watcher_init(tg_duckdb_instance *instance)
{
    struct tg_duckdb_watcher *watcher = &instance->watcher;
    (void)pthread_mutex_init(&watcher->lock, NULL);
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watcher->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

tg_code tg_duckdb_watcher_start(tg_duckdb_instance *instance, tg_error *err)
{
    struct tg_duckdb_watcher *watcher = &instance->watcher;
    if (watcher->is_started) {
        return TG_OK;
    }
    /* Signals are the program's business: its handlers must not run on this thread. */
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int failure = pthread_create(&watcher->thread, NULL, watch_loop, instance);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "could not start a thread: %s", strerror(failure));
    }
    watcher->is_started = true;
    return TG_OK;
}

void tg_duckdb_watcher_stop(tg_duckdb_instance *instance)
{
    struct tg_duckdb_watcher *watcher = &instance->watcher;
    if (watcher->is_started) {
        (void)pthread_mutex_lock(&watcher->lock);
        watcher->is_closing = true;
        (void)pthread_cond_signal(&watcher->changed);
        (void)pthread_mutex_unlock(&watcher->lock);
        (void)pthread_join(watcher->thread, NULL);
    }
    (void)pthread_cond_destroy(&watcher->changed);
    (void)pthread_mutex_destroy(&watcher->lock);
}

void tg_duckdb_watcher_join(tg_duckdb_engine *engine)
{
    struct tg_duckdb_watcher *watcher = &engine->instance->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    engine->next = watcher->engines;
    watcher->engines = engine;
    (void)pthread_mutex_unlock(&watcher->lock);
}

void tg_duckdb_watcher_leave(tg_duckdb_engine *engine)
{
    struct tg_duckdb_watcher *watcher = &engine->instance->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    tg_duckdb_engine **link = &watcher->engines;
    while (*link != engine) {
        link = &(*link)->next;
    }
    *link = engine->next;
    (void)pthread_mutex_unlock(&watcher->lock);
}

void tg_duckdb_watch(tg_duckdb_engine *engine, duckdb_connection connection)
{
    struct tg_duckdb_watcher *watcher = &engine->instance->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    if (!engine->running) {
        (void)pthread_cond_signal(&watcher->changed);
    }
    engine->running = connection;
    (void)pthread_mutex_unlock(&watcher->lock);
}

void tg_duckdb_unwatch(tg_duckdb_engine *engine, duckdb_connection connection)
{
    struct tg_duckdb_watcher *watcher = &engine->instance->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    if (engine->running == connection) {
        engine->running = NULL;
    }
    (void)pthread_mutex_unlock(&watcher->lock);
}
