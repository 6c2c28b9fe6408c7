/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunks of a backfill, several at a time: a thread and a session each, over one graph, which
 * nobody changes. The conflict rules let disjoint windows of a table commit side by side. This thread
 * waits, and hands an interruption on.
 */
#include <pthread.h>
#include <time.h>

#include "api/backfill_int.h"

enum { POLL_NS = 20 * 1000 * 1000 };

typedef struct crew {
    tg_backfill_run *b;
    pthread_mutex_t lock; /* of all that follows, the result, the journal and the callbacks */
    pthread_cond_t changed;
    size_t next, working;
    bool is_stopping;
    size_t guarded_count; /* chunks of this run that a guard refused */
} crew;

typedef struct worker {
    crew *crew;
    tg_api *session;
    pthread_t thread;
} worker;

/* ---- one chunk ------------------------------------------------------------------------------- */

static void on_event(void *self, const tg_event *event, tg_str json_line)
{
    crew *c = self;
    const tg_event_sink *sink = c->b->request->sink;
    (void)pthread_mutex_lock(&c->lock);
    sink->event(sink->self, event, json_line);
    (void)pthread_mutex_unlock(&c->lock);
}

static tg_code run_update(worker *w, const tg_backfill_chunk *chunk, tg_arena *arena,
                          tg_update_result *result, tg_diags *diags)
{
    tg_backfill_run *b = w->crew->b;
    const tg_backfill_head *head = &b->out->head;
    const tg_event_sink sink = {.event = on_event, .self = w->crew};
    const tg_override override = {
        .flow = b->request->flow, .predicate = chunk->predicate, .origin = "backfill"};
    const tg_update_options options = {.refresh = &b->request->flow,
                                       .refresh_count = 1,
                                       .overrides = &override,
                                       .override_count = 1,
                                       .now = tg_instant_text(arena, head->now_us),
                                       .timezone = head->timezone,
                                       .pins = head->pins,
                                       .pin_count = head->pin_count,
                                       .sink = b->request->sink ? &sink : NULL};
    const tg_update_context context = {
        .fs = w->session->fs, .env = &w->session->own_env, .engine = w->session->engine};
    return tg_update_run(&context, b->graph, &options, arena, result, diags);
}

/* Moves the reason why a chunk is not done; false: it is, or it was interrupted. */
static bool take_error(const tg_update_result *result, const tg_diags *diags, tg_code code,
                       tg_error *out)
{
    if (code != TG_OK && code != TG_CANCELLED) {
        (void)tg_diags_first(diags, out);
        return true;
    }
    for (size_t i = 0; i < result->flow_count; i++) {
        if (result->flows[i].status == TG_FLOW_FAILED && result->flows[i].error) {
            tg_error_copy(out, result->flows[i].error);
            return true;
        }
    }
    return code == TG_OK && result->state == TG_UPDATE_FAILED;
}

static const tg_flow_result *flow_of(const tg_update_result *result)
{
    for (size_t i = 0; i < result->flow_count; i++) {
        if (result->flows[i].technique) {
            return &result->flows[i];
        }
    }
    return NULL;
}

/* The record of a chunk; PENDING when it was interrupted. Texts go to the session's arena: locked. */
static tg_chunk_record record_of(crew *c, const tg_update_result *result, const tg_error *error,
                                 bool is_failed)
{
    tg_arena *arena = c->b->api->arena;
    const tg_flow_result *flow = flow_of(result);
    tg_chunk_record record = {.committed_version = -1, .rows_written = -1};
    record.update_id = tg_str_copy(arena, result->update_id);
    if (is_failed) {
        record.status = TG_CHUNK_FAILED;
        record.error = tg_str_printf(arena, "[%s] %s", tg_error_name(error),
                                     error->message ? error->message : "it failed");
    } else if (result->state == TG_UPDATE_COMPLETED) {
        record.status = TG_CHUNK_COMPLETED;
        record.committed_version = flow ? flow->committed_version : -1;
        record.rows_written = flow ? flow->rows_written : -1;
    }
    return record;
}

static void count_chunks(tg_backfill_result *out)
{
    size_t counts[TG_CHUNK_FAILED + 1] = {0};
    for (size_t i = 0; i < out->chunk_count; i++) {
        counts[out->chunks[i].record.status]++;
    }
    out->pending_count = counts[TG_CHUNK_PENDING];
    out->completed_count = counts[TG_CHUNK_COMPLETED];
    out->covered_count = counts[TG_CHUNK_COVERED];
    out->failed_count = counts[TG_CHUNK_FAILED];
}

/* A journal that cannot be written ends the work: what is done would not be known. */
static void keep_record(crew *c, size_t index, tg_chunk_record record, const tg_error *error)
{
    tg_backfill_run *b = c->b;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (record.status == TG_CHUNK_PENDING) {
        return;
    }
    b->out->chunks[index].record = record;
    if (tg_journal_add(b->journal, &index, &record, 1, &err) != TG_OK) {
        tg_diags_add(b->diags, &err);
        c->is_stopping = true;
    }
    count_chunks(b->out);
    if (b->request->progress) {
        b->request->progress(b->request->self, b->out, index, error);
    }
}

static void keep_warnings(crew *c, tg_diags *diags)
{
    for (size_t i = 0; i < diags->count; i++) {
        if (diags->is_warning[i] && c->b->diags->count < TG_LIMIT_DIAGNOSTICS) {
            tg_diags_add_warning(c->b->diags, &diags->items[i]);
        }
    }
}

static void run_chunk(worker *w, size_t index)
{
    crew *c = w->crew;
    tg_backfill_chunk_result *chunk = &c->b->out->chunks[index];
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_error tg_error error = TG_ERROR_INIT;
    tg_diags diags = TG_DIAGS_INIT;
    tg_update_result result = {0};
    const tg_env *env = w->session->env;
    int64_t started_ns = env->monotonic_ns(env->self);
    tg_code code = run_update(w, &chunk->chunk, arena, &result, &diags);
    bool is_failed = take_error(&result, &diags, code, &error);

    (void)pthread_mutex_lock(&c->lock);
    chunk->duration_ms = (env->monotonic_ns(env->self) - started_ns) / 1000000;
    c->guarded_count += is_failed && error.code == TG_GUARD;
    keep_warnings(c, &diags);
    keep_record(c, index, record_of(c, &result, &error, is_failed), is_failed ? &error : NULL);
    (void)pthread_mutex_unlock(&c->lock);
    tg_diags_dispose(&diags);
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool take_chunk(crew *c, size_t *out_index)
{
    tg_backfill_result *out = c->b->out;
    bool found = false;
    (void)pthread_mutex_lock(&c->lock);
    while (!found && !c->is_stopping && c->next < out->chunk_count) {
        tg_chunk_status status = out->chunks[c->next].record.status;
        found = status == TG_CHUNK_PENDING || status == TG_CHUNK_FAILED;
        *out_index = c->next++;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return found;
}

static void *work(void *self)
{
    worker *w = self;
    crew *c = w->crew;
    size_t index = 0;
    while (take_chunk(c, &index)) {
        run_chunk(w, index);
    }
    (void)pthread_mutex_lock(&c->lock);
    c->working--;
    (void)pthread_cond_signal(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* A signal handler can set a flag and nothing more: it is looked at here. */
static void wait_for_all(crew *c, worker *workers, size_t count)
{
    bool is_told = false;
    (void)pthread_mutex_lock(&c->lock);
    while (c->working > 0) {
        if (!is_told && tg_env_is_cancelled(&c->b->api->own_env)) {
            is_told = c->is_stopping = true;
            for (size_t i = 0; i < count; i++) {
                tg_api_cancel(workers[i].session);
            }
        }
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&c->changed, &c->lock, &until);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static size_t jobs_of(const tg_backfill_run *b)
{
    size_t left = 0;
    for (size_t i = 0; i < b->out->chunk_count; i++) {
        tg_chunk_status status = b->out->chunks[i].record.status;
        left += status == TG_CHUNK_PENDING || status == TG_CHUNK_FAILED;
    }
    size_t jobs = b->request->jobs > 0 ? (size_t)b->request->jobs : 1;
    return jobs < left ? jobs : left;
}

static void run_crew(crew *c, size_t jobs)
{
    tg_backfill_run *b = c->b;
    worker *workers = TG_NEW_ARRAY(b->api->arena, worker, jobs);
    size_t count = 0;
    for (; count < jobs; count++) {
        workers[count] = (worker){.crew = c, .session = tg_api_fork(b->api, (int)jobs)};
        (void)pthread_mutex_lock(&c->lock);
        c->working++;
        (void)pthread_mutex_unlock(&c->lock);
        if (pthread_create(&workers[count].thread, NULL, work, &workers[count]) != 0) {
            (void)pthread_mutex_lock(&c->lock);
            c->working--;
            (void)pthread_mutex_unlock(&c->lock);
            tg_api_close(workers[count].session);
            break; /* with those that there are */
        }
    }
    wait_for_all(c, workers, count);
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        tg_api_close(workers[i].session);
    }
    if (!count) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_ENGINE_ERROR, "could not start a thread");
        tg_diags_add(b->diags, &err);
    }
}

static int finish(crew *c)
{
    tg_backfill_run *b = c->b;
    tg_backfill_result *out = b->out;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    bool is_all_done = !out->failed_count && !out->pending_count;
    if (is_all_done && tg_journal_finish(b->journal, out->head.id, &err) != TG_OK) {
        tg_diags_add(b->diags, &err);
    }
    bool is_cancelled = !is_all_done && tg_env_is_cancelled(&b->api->own_env);
    bool is_failed = !is_all_done || b->diags->error_count > 0;
    out->state = is_cancelled ? "CANCELED" : is_failed ? "FAILED" : "COMPLETED";
    if (is_cancelled) {
        return TG_STATUS_CANCELLED;
    }
    bool is_guarded = out->failed_count > 0 && out->failed_count == c->guarded_count;
    return !is_failed ? TG_STATUS_OK : is_guarded ? TG_STATUS_GUARD : TG_STATUS_FAILED;
}

int tg_backfill_run_chunks(tg_backfill_run *b)
{
    crew c = {.b = b};
    (void)pthread_mutex_init(&c.lock, NULL);
    (void)pthread_cond_init(&c.changed, NULL);
    count_chunks(b->out);
    if (b->request->progress) {
        b->request->progress(b->request->self, b->out, SIZE_MAX, NULL);
    }
    size_t jobs = jobs_of(b);
    if (jobs > 0) {
        run_crew(&c, jobs);
    }
    count_chunks(b->out);
    int status = finish(&c);
    (void)pthread_cond_destroy(&c.changed);
    (void)pthread_mutex_destroy(&c.lock);
    return status;
}

/* ---- summary --------------------------------------------------------------------------------- */

static void add_number(tg_json_out *out, const char *key, int64_t value)
{
    if (value < 0) {
        tg_json_knull(out, key);
    } else {
        tg_json_ki64(out, key, value);
    }
}

static void add_chunk(tg_json_out *out, const tg_backfill_chunk_result *chunk)
{
    const tg_chunk_record *record = &chunk->record;
    tg_json_object(out);
    tg_json_kstr(out, "from", chunk->from);
    tg_json_kstr(out, "to", chunk->to);
    tg_json_kstr(out, "predicate", chunk->chunk.predicate);
    tg_json_kstrz(out, "status", tg_chunk_status_name(record->status));
    tg_json_kbool(out, "is_of_this_run", chunk->duration_ms >= 0);
    if (record->update_id.len) {
        tg_json_kstr(out, "update_id", record->update_id);
    } else {
        tg_json_knull(out, "update_id");
    }
    add_number(out, "committed_version", record->committed_version);
    add_number(out, "num_rows_physically_written", record->rows_written);
    add_number(out, "duration_ms", chunk->duration_ms);
    tg_json_keyz(out, "error");
    if (record->error.len) {
        tg_json_str(out, record->error);
    } else {
        tg_json_null(out);
    }
    tg_json_end_object(out);
}

void tg_backfill_result_json(const tg_backfill_result *result, tg_buf *buf)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    const tg_backfill_head *head = &result->head;
    tg_json_out out;
    tg_json_begin(&out, buf);
    tg_json_object(&out);
    tg_json_kstr(&out, "backfill_id", head->id);
    tg_json_kstr(&out, "flow_name", head->flow);
    tg_json_kstrz(&out, "state", result->state);
    tg_json_kbool(&out, "is_resumed", result->is_resumed);
    tg_json_kstr(&out, "column", head->column);
    tg_json_kstr(&out, "from", head->from);
    tg_json_kstr(&out, "to", head->to);
    tg_json_kstr(&out, "every", head->every);
    tg_json_kstr(&out, "now", tg_instant_text(scratch, head->now_us));
    tg_json_kstr(&out, "timezone", head->timezone);
    tg_json_ki64(&out, "duration_ms", result->duration_ms);
    tg_json_keyz(&out, "sources");
    tg_json_array(&out);
    for (size_t i = 0; i < head->pin_count; i++) {
        tg_json_object(&out);
        tg_json_kstr(&out, "name", head->pins[i].name);
        add_number(&out, "version", head->pins[i].version);
        tg_json_end_object(&out);
    }
    tg_json_end_array(&out);
    tg_json_keyz(&out, "chunks");
    tg_json_array(&out);
    for (size_t i = 0; i < result->chunk_count; i++) {
        add_chunk(&out, &result->chunks[i]);
    }
    tg_json_end_array(&out);
    tg_json_end_object(&out);
}
