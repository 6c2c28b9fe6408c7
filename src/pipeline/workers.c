/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows of an update in the graph's order: one after the other, or several at the same time.
 *
 * Several: the update's own thread starts flows and does what needs no engine; workers, each with a
 * sibling of the engine, refresh. A flow is started once those it reads from have ended, the first
 * in the graph's order first. Workers tell nobody anything: what they have to say goes into one
 * queue of notes, which the update's own thread works off, so that the event log, the caller's sink
 * and the warnings are met by that thread only and in an order that each flow would give alone.
 *
 * A thread is made when a flow needs it and none is idle; where nothing is to be done, none is.
 */
#include "pipeline/update_int.h"

#include <sched.h>
#include <signal.h>

enum { MOST_BY_DEFAULT = 4, STACK_BYTES = 8 << 20 };

typedef enum note_kind { NOTE_EVENT, NOTE_FLUSH, NOTE_ENDED } note_kind;

/* What a worker hands to the update's own thread. Lies in the flow's arena. */
typedef struct note {
    note_kind kind;
    tg_event event;   /* EVENT: its texts lie in the flow's arena */
    bool is_done;     /* FLUSH: the worker waits for it */
    tg_flow_run *run; /* ENDED */
    struct note *next;
} note;

typedef struct tg_worker {
    struct crew *crew;
    tg_engine *engine; /* its own sibling */
    pthread_t thread;
    tg_flow_run *run; /* NULL: idle */
} tg_worker;

typedef struct crew {
    tg_update *update;
    pthread_mutex_t lock;      /* of everything here that changes */
    pthread_cond_t has_note;   /* for the update's own thread */
    pthread_cond_t has_answer; /* for workers: a flow, a flush that was done, the end */
    note *first, **last;
    tg_worker *workers;
    size_t worker_count, worker_limit;
    bool is_dismissed;
    size_t ended_before; /* runs before this one have all ended */
} crew;

/* ---- how a flow ends without a refresh -------------------------------------------------------- */

static bool has_failed_upstream(const tg_update *u, const tg_flow *flow)
{
    for (size_t i = 0; i < flow->upstream_count; i++) {
        tg_flow_status status = u->flow_results[flow->upstream[i]->flow->index].status;
        if (status == TG_FLOW_FAILED || status == TG_FLOW_SKIPPED || status == TG_FLOW_STOPPED) {
            return true;
        }
    }
    return false;
}

static bool is_passed_over(tg_update *u, tg_flow_run *run)
{
    if (tg_env_is_cancelled(u->context->env)) {
        tg_update_event_flow(u, run, TG_FLOW_STOPPED, NULL);
        return true;
    }
    if (has_failed_upstream(u, run->flow)) {
        tg_update_event_flow(u, run, TG_FLOW_SKIPPED, NULL);
        return true;
    }
    return false;
}

/* Versions alone did not prove that there is nothing to do. */
static bool needs_work(const tg_update *u, const tg_flow_run *run)
{
    return run->plan.program || run->is_again || tg_flow_reads_changed_table(u, run->flow);
}

static void end_run(tg_update *u, tg_flow_run *run)
{
    run->has_ended = true;
    if (run->result->status != TG_FLOW_COMPLETED || run->plan.program) {
        tg_update_flush(u); /* a hundred flows with nothing to do are told in one write */
    }
}

static void run_here(tg_update *u, tg_flow_run *run)
{
    if (!is_passed_over(u, run)) {
        tg_flow_refresh(u, run);
    }
    end_run(u, run);
}

/* ---- notes: called by workers ----------------------------------------------------------------- */

static note *new_note(const tg_flow_run *run, note_kind kind)
{
    note *made = TG_NEW(run->arena, note);
    made->kind = kind;
    return made;
}

/* The crew's lock is held. */
static void hand_over(crew *c, note *added)
{
    *c->last = added;
    c->last = &added->next;
    (void)pthread_cond_signal(&c->has_note);
}

void tg_worker_tell(const tg_flow_run *run, const tg_event *event)
{
    crew *c = run->worker->crew;
    note *told = new_note(run, NOTE_EVENT);
    told->event = *event;
    told->event.message = tg_str_copy(run->arena, event->message);
    told->event.details = tg_str_copy(run->arena, event->details);
    (void)pthread_mutex_lock(&c->lock);
    hand_over(c, told);
    (void)pthread_mutex_unlock(&c->lock);
}

void tg_worker_flush(tg_flow_run *run)
{
    crew *c = run->worker->crew;
    note *asked = new_note(run, NOTE_FLUSH);
    (void)pthread_mutex_lock(&c->lock);
    hand_over(c, asked);
    while (!asked->is_done) {
        (void)pthread_cond_wait(&c->has_answer, &c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

/* ---- workers ---------------------------------------------------------------------------------- */

static void *work(void *argument)
{
    tg_worker *worker = argument;
    crew *c = worker->crew;
    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!worker->run && !c->is_dismissed) {
            (void)pthread_cond_wait(&c->has_answer, &c->lock);
        }
        tg_flow_run *run = worker->run;
        if (!run) {
            break;
        }
        (void)pthread_mutex_unlock(&c->lock);
        tg_flow_refresh(c->update, run);
        note *ended = new_note(run, NOTE_ENDED);
        ended->run = run;
        (void)pthread_mutex_lock(&c->lock);
        worker->run = NULL;
        hand_over(c, ended);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Signals are the program's business: its handlers run on its own threads. */
static bool start_thread(tg_worker *worker)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    /* What nests deeply was checked on the stack of a main thread: it must not be smaller here. */
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_started = pthread_create(&worker->thread, &attributes, work, worker) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return is_started;
}

/* One more worker, if there may be one. The crew's lock is held. */
static tg_worker *hire(crew *c)
{
    if (c->worker_count == c->worker_limit) {
        return NULL;
    }
    const tg_engine *engine = c->update->context->engine;
    tg_worker *worker = &c->workers[c->worker_count];
    *worker = (tg_worker){.crew = c};
    if (engine->sibling(engine->self, &worker->engine, NULL) == TG_OK) {
        if (start_thread(worker)) {
            c->worker_count++;
            return worker;
        }
        worker->engine->close(worker->engine->self);
    }
    c->worker_limit = c->worker_count; /* the machine gives no more: go on with what there is */
    return NULL;
}

static tg_worker *find_worker(crew *c)
{
    for (size_t i = 0; i < c->worker_count; i++) {
        if (!c->workers[i].run) {
            return &c->workers[i];
        }
    }
    return hire(c);
}

/* ---- the update's own thread ------------------------------------------------------------------ */

/* The lock is held before and after, but not while others are told. */
static void work_off(crew *c)
{
    note *taken = c->first;
    c->first = taken->next;
    if (!c->first) {
        c->last = &c->first;
    }
    tg_update *u = c->update;
    (void)pthread_mutex_unlock(&c->lock);
    switch (taken->kind) {
    case NOTE_EVENT:
        tg_eventlog_write(u->log, &taken->event);
        break;
    case NOTE_FLUSH:
        tg_update_flush(u);
        break;
    case NOTE_ENDED:
        taken->run->worker = NULL;
        taken->run->engine = u->context->engine;
        end_run(u, taken->run);
        break;
    }
    (void)pthread_mutex_lock(&c->lock);
    if (taken->kind == NOTE_FLUSH) {
        taken->is_done = true;
        (void)pthread_cond_broadcast(&c->has_answer);
    }
}

static bool may_start(const tg_update *u, const tg_flow_run *run)
{
    if (run->has_ended || run->is_started) {
        return false;
    }
    for (size_t i = 0; i < run->flow->upstream_count; i++) {
        if (!u->runs[run->flow->upstream[i]->flow->index].has_ended) {
            return false;
        }
    }
    return true;
}

/* The lock is held before and after, but not while something is done here. */
static bool start(crew *c, tg_flow_run *run)
{
    tg_update *u = c->update;
    bool needs_worker = needs_work(u, run) && !tg_env_is_cancelled(u->context->env) &&
                        !has_failed_upstream(u, run->flow);
    tg_worker *worker = needs_worker ? find_worker(c) : NULL;
    if (needs_worker && !worker && c->worker_count > 0) {
        return false; /* all are at work */
    }
    run->is_started = true;
    if (worker) {
        run->worker = worker;
        run->engine = worker->engine;
        worker->run = run;
        (void)pthread_cond_broadcast(&c->has_answer);
        return true;
    }
    (void)pthread_mutex_unlock(&c->lock);
    run_here(u, run);
    (void)pthread_mutex_lock(&c->lock);
    return true;
}

/* The first flow in the graph's order that can be started; false: something has to end first. */
static bool start_next(crew *c)
{
    tg_update *u = c->update;
    while (c->ended_before < u->graph->flow_count && u->runs[c->ended_before].has_ended) {
        c->ended_before++;
    }
    for (size_t i = c->ended_before; i < u->graph->flow_count; i++) {
        if (may_start(u, &u->runs[i]) && start(c, &u->runs[i])) {
            return true;
        }
    }
    return false;
}

static bool any_at_work(const crew *c)
{
    for (size_t i = 0; i < c->worker_count; i++) {
        if (c->workers[i].run) {
            return true;
        }
    }
    return false;
}

static void lead(crew *c)
{
    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        if (c->first) {
            work_off(c);
        } else if (!start_next(c)) {
            if (!any_at_work(c)) {
                break;
            }
            (void)pthread_cond_wait(&c->has_note, &c->lock);
        }
    }
    c->is_dismissed = true;
    (void)pthread_cond_broadcast(&c->has_answer);
    (void)pthread_mutex_unlock(&c->lock);
}

static void run_together(tg_update *u, size_t limit)
{
    crew c = {.update = u,
              .last = &c.first,
              .workers = TG_NEW_ARRAY(u->arena, tg_worker, limit),
              .worker_limit = limit};
    (void)pthread_mutex_init(&c.lock, NULL);
    (void)pthread_cond_init(&c.has_note, NULL);
    (void)pthread_cond_init(&c.has_answer, NULL);
    lead(&c);
    for (size_t i = 0; i < c.worker_count; i++) {
        (void)pthread_join(c.workers[i].thread, NULL);
        c.workers[i].engine->close(c.workers[i].engine->self);
    }
    (void)pthread_cond_destroy(&c.has_answer);
    (void)pthread_cond_destroy(&c.has_note);
    (void)pthread_mutex_destroy(&c.lock);
}

/* ---- how many --------------------------------------------------------------------------------- */

static size_t core_count(void)
{
    cpu_set_t cores; /* those that this process may use; more than it can hold count as one */
    int count = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
    return count > 0 ? (size_t)count : 1;
}

static size_t limit_of(const tg_update *u)
{
    size_t limit = (size_t)u->graph->spec->max_parallel_flows;
    if (limit == 0) {
        size_t cores = core_count();
        limit = cores < MOST_BY_DEFAULT ? cores : MOST_BY_DEFAULT;
    }
    bool is_shared = u->context->engine->capabilities & TG_ENGINE_SIBLINGS;
    size_t work_count = 0;
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        work_count += !u->runs[i].has_ended && needs_work(u, &u->runs[i]);
    }
    return !is_shared ? 1 : work_count < limit ? work_count : limit;
}

void tg_update_run_flows(tg_update *u)
{
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        u->runs[i].is_started = false;
        u->runs[i].has_ended =
            !u->runs[i].is_selected || u->flow_results[i].status != TG_FLOW_QUEUED;
    }
    size_t limit = limit_of(u);
    if (limit > 1) {
        run_together(u, limit);
        return;
    }
    for (size_t i = 0; i < u->graph->flow_count; i++) {
        if (!u->runs[i].has_ended) {
            run_here(u, &u->runs[i]);
        }
    }
}
