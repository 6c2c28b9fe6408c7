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

static void *watch_loop(void *argument)
{
    tg_duckdb_engine *engine = argument;
    struct tg_duckdb_watcher *watcher = &engine->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    while (!watcher->is_closing) {
        if (!watcher->running) {
            (void)pthread_cond_wait(&watcher->changed, &watcher->lock);
            continue;
        }
        if (tg_duckdb_is_cancelled(engine)) {
            tg_duckdb.interrupt(watcher->running);
        }
        struct timespec until = next_look();
        (void)pthread_cond_timedwait(&watcher->changed, &watcher->lock, &until);
    }
    (void)pthread_mutex_unlock(&watcher->lock);
    return NULL;
}

void tg_duckdb_watcher_init(tg_duckdb_engine *engine)
{
    struct tg_duckdb_watcher *watcher = &engine->watcher;
    (void)pthread_mutex_init(&watcher->lock, NULL);
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watcher->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

tg_code tg_duckdb_watcher_start(tg_duckdb_engine *engine, tg_error *err)
{
    struct tg_duckdb_watcher *watcher = &engine->watcher;
    if (watcher->is_started) {
        return TG_OK;
    }
    /* Signals are the program's business: its handlers must not run on this thread. */
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int failure = pthread_create(&watcher->thread, NULL, watch_loop, engine);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "could not start a thread: %s", strerror(failure));
    }
    watcher->is_started = true;
    return TG_OK;
}

void tg_duckdb_watcher_stop(tg_duckdb_engine *engine)
{
    struct tg_duckdb_watcher *watcher = &engine->watcher;
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

void tg_duckdb_watch(tg_duckdb_engine *engine, duckdb_connection connection)
{
    struct tg_duckdb_watcher *watcher = &engine->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    if (!watcher->running) {
        (void)pthread_cond_signal(&watcher->changed);
    }
    watcher->running = connection;
    (void)pthread_mutex_unlock(&watcher->lock);
}

void tg_duckdb_unwatch(tg_duckdb_engine *engine, duckdb_connection connection)
{
    struct tg_duckdb_watcher *watcher = &engine->watcher;
    (void)pthread_mutex_lock(&watcher->lock);
    if (watcher->running == connection) {
        watcher->running = NULL;
    }
    (void)pthread_mutex_unlock(&watcher->lock);
}
