/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One refresh: facts, plan, run, and again when the race for a version was lost.
 *
 * The plan of the analysis is used when nothing that it read was changed by this update since;
 * otherwise the flow is planned anew at its turn, with the commits of this update as its pins.
 */
#include "pipeline/update_int.h"

#include <time.h>

#include "pipeline/owner.h"

static void dispose_error(void *object)
{
    tg_error_dispose(object);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* State and commits of the target at its facts' version. */
static tg_code load_state(tg_update *u, tg_flow_run *run, tg_error *err)
{
    const tg_engine *engine = run->engine;
    tg_refresh_input *input = &run->input;
    input->target = run->target->facts;
    input->is_blank = tg_ownership_of(&input->target).needs_refresh;
    input->state = (tg_state_facts){.state_version = -1};
    input->commits = NULL;
    input->commit_count = 0;
    if (!input->target.exists) {
        input->new_table_id = tg_owner_new_table_id(u, run);
        return TG_OK;
    }
    tg_str app_id = tg_flow_app_id(run->plan_arena, input->target.table_id, run->flow->full_name);
    TG_TRY(engine->table_state(engine->self, input->target_path, app_id, input->target.version,
                               run->plan_arena, &input->state, err));
    if (!input->state.has_txn || input->state.state.len == 0) {
        return TG_OK; /* planned as a whole: what happened since does not matter */
    }
    /* -1 is a version too: the state of the commit that made the table was built on nothing. */
    int64_t from = tg_plan_read_version(&input->state, run->plan_arena);
    bool is_only_own = from + 1 == input->state.state_version &&
                       input->state.state_version == input->target.version;
    if (from >= input->target.version || is_only_own) {
        return TG_OK; /* the usual case after a refresh: there is no other commit to look at */
    }
    tg_commit_fact *commits;
    TG_TRY(engine->commits_since(engine->self, input->target_path, from, input->target.version,
                                 app_id, u->zone, run->plan_arena, &commits, &input->commit_count,
                                 err));
    input->commits = commits;
    return TG_OK;
}

static tg_digest digest_definition(const tg_update *u, const tg_flow_run *run)
{
    const tg_flow *flow = run->flow;
    const tg_query **views = TG_NEW_ARRAY(run->arena, const tg_query *, flow->view_count);
    for (size_t i = 0; i < flow->view_count; i++) {
        views[i] = flow->views[i]->query;
    }
    const tg_location **sources =
        TG_NEW_ARRAY(run->arena, const tg_location *, flow->external_count);
    for (size_t i = 0; i < flow->external_count; i++) {
        sources[i] = &u->graph->externals[flow->externals[i]].location;
    }
    const tg_definition definition = {.query = flow->spec->query,
                                      .views = views,
                                      .view_count = flow->view_count,
                                      .zone_name = tg_zone_name(u->zone),
                                      .columns = flow->dataset->stmt->columns,
                                      .column_count = flow->dataset->stmt->column_count,
                                      .sources = sources,
                                      .source_count = flow->external_count};
    return tg_definition_digest(&definition, run->arena);
}

/* A standalone table's user writes statements, and has no such option. */
static tg_str full_words(const tg_update *u, const tg_flow_run *run)
{
    const tg_dataset *dataset = run->flow->dataset;
    return u->graph->spec->standalone
               ? tg_str_printf(run->arena, "REFRESH %s %.*s FULL",
                               dataset->kind == TG_DATASET_MATERIALIZED_VIEW ? "MATERIALIZED VIEW"
                                                                             : "STREAMING TABLE",
                               TG_SARG(dataset->full_name))
               : TG_S("--full-refresh");
}

static void fill_input(tg_update *u, tg_flow_run *run)
{
    const tg_flow *flow = run->flow;
    const tg_dataset *dataset = flow->dataset;
    run->input = (tg_refresh_input){.kind = flow->kind,
                                    .flow_name = flow->full_name,
                                    .target_name = dataset->full_name,
                                    .target_path = dataset->location.path,
                                    .update_id = u->result->update_id,
                                    .now_us = u->now_us,
                                    .zone = u->zone,
                                    .predicate = flow->spec->predicate,
                                    .predicate_text = flow->spec->predicate_text,
                                    .is_override = run->override != NULL,
                                    .is_full = run->is_full,
                                    .full_words = full_words(u, run),
                                    .forgets_later_clock = u->options->allow_clock_back,
                                    .aliases = flow->aliases,
                                    .alias_count = flow->alias_count,
                                    .definition = digest_definition(u, run),
                                    .partition_columns = dataset->partition_columns,
                                    .partition_count = dataset->partition_count,
                                    .comment = dataset->stmt->clauses.comment,
                                    .columns = dataset->stmt->columns,
                                    .column_count = dataset->stmt->column_count};
    tg_owner_ask(u, run);
    run->result->is_full_refresh = run->is_full;
    if (run->override) {
        run->input.predicate = run->override_expr;
        run->input.predicate_text = run->override->predicate;
    }
}

/* ---- planning -------------------------------------------------------------------------------- */

/* The bound tables carry what the pins lack: the engine reads through them. */
static void complete_pins(tg_flow_run *run)
{
    tg_pin *pins =
        tg_arena_memdup(run->arena, run->input.pins, run->input.pin_count * sizeof(*pins));
    for (size_t i = 0; i < run->input.pin_count; i++) {
        for (size_t j = 0; j < run->query.table_count; j++) {
            if (tg_str_eq(pins[i].name, run->query.tables[j]->name)) {
                pins[i].table = run->query.tables[j];
            }
        }
    }
    run->input.pins = pins;
}

static tg_code bind(tg_update *u, tg_flow_run *run, tg_error *err)
{
    const tg_resolver resolver = {.resolve = tg_update_resolve, .self = run};
    const tg_bind_options options = {
        .resolver = &resolver, .now_us = u->now_us, .zone = u->zone, .in_flow = true};
    TG_TRY(tg_sql_bind_query(run->flow->spec->query, &options, run->arena, &run->query, err));
    run->is_bound = true;
    complete_pins(run);
    return TG_OK;
}

/* ---- what the definition asks of the table --------------------------------------------------- */

/* An error about PARTITIONED BY stands at its column; that file need not be the flow's. */
static tg_code at_partition_column(const tg_dataset *dataset, size_t index, tg_error *err)
{
    const tg_stmt *stmt = dataset->stmt;
    tg_span span =
        index < dataset->partition_count ? stmt->clauses.partition_by[index].span : stmt->name.span;
    tg_code code = tg_error_at(err, span);
    tg_error_locate(err, dataset->file->shown_name, dataset->file->text);
    return code;
}

static tg_code check_partitioning(const tg_flow_run *run, tg_error *err)
{
    return tg_plan_check_partitioning(&run->input, err) == TG_OK
               ? TG_OK
               : at_partition_column(run->flow->dataset, 0, err);
}

/*
 * What only writing would refuse is found before anything is written. Column after column, so that
 * the first one at fault is known by its place.
 */
static tg_code check_target(const tg_flow_run *run, tg_error *err)
{
    const tg_engine *engine = run->engine;
    if (!run->plan.program || !run->plan.program->target.changes_metadata) {
        return TG_OK;
    }
    tg_program_target target = run->plan.program->target;
    size_t count = target.partition_count;
    target.partition_count = 0;
    TG_TRY(engine->check_target(engine->self, &target, err));
    while (target.partition_count < count) {
        target.partition_count++;
        if (engine->check_target(engine->self, &target, err) != TG_OK) {
            return at_partition_column(run->flow->dataset, target.partition_count - 1, err);
        }
    }
    return TG_OK;
}

/*
 * Does the state speak of newer sources than this update pinned? Then another update overtook it,
 * if those versions are still what they were.
 */
static void find_newer_sources(tg_flow_run *run)
{
    const tg_engine *engine = run->engine;
    size_t count;
    const tg_source_identity *wanted = tg_plan_newer_sources(
        &run->input.state, run->input.pins, run->input.pin_count, run->plan_arena, &count);
    TG_VEC(tg_source_identity) newer = {0};
    for (size_t i = 0; i < count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        tg_pin pin;
        if (engine->identity(engine->self, TG_FORMAT_DELTA, wanted[i].path, wanted[i].version,
                             run->plan_arena, &pin, &err) == TG_OK &&
            pin.digest.high == wanted[i].digest.high && pin.digest.low == wanted[i].digest.low) {
            TG_VEC_PUSH(run->plan_arena, &newer, wanted[i]);
        }
    }
    run->input.newer = newer.items;
    run->input.newer_count = newer.count;
}

/* try_quick: the pins are known, so that versions alone may prove that there is nothing to do. */
static tg_code plan_unguarded(tg_update *u, tg_flow_run *run, bool try_quick, tg_error *err)
{
    TG_TRY(check_partitioning(run, err));
    find_newer_sources(run);
    if (try_quick && tg_plan_quick(&run->input, run->plan_arena, &run->plan)) {
        return TG_OK;
    }
    if (!run->is_bound) {
        TG_TRY(bind(u, run, err));
    }
    tg_code code = tg_plan_refresh(&run->input, &run->query, run->plan_arena, &run->plan, err);
    if (code != TG_OK) {
        if (err->cls == TG_E_INVALID_REPLACE_WHERE_OVERRIDE_INVALID_EXPRESSION) {
            tg_override_locate(run->override, err); /* its span is not one of the flow's file */
        }
        return code;
    }
    return check_target(run, err);
}

static tg_code plan(tg_update *u, tg_flow_run *run, bool try_quick, tg_error *err)
{
    bool again = true;
    while (again) {
        TG_TRY(plan_unguarded(u, run, try_quick, err));
        TG_TRY(tg_guard_plan(u, run, &again, err));
    }
    return TG_OK;
}

bool tg_flow_reads_changed_table(const tg_update *u, const tg_flow *flow)
{
    for (size_t i = 0; i < flow->upstream_count; i++) {
        if (u->targets[flow->upstream[i]->index].will_change) {
            return true;
        }
    }
    return false;
}

static tg_code analyse(tg_update *u, tg_flow_run *run, tg_error *err)
{
    TG_TRY(tg_update_load_target(run, run->flow->dataset, err));
    TG_TRY(tg_owner_check(u, run, err));
    fill_input(u, run);
    TG_TRY(load_state(u, run, err));
    TG_TRY(tg_update_collect_pins(run, err));
    bool waits = tg_flow_reads_changed_table(u, run->flow);
    TG_TRY(plan(u, run, !waits, err));
    if (run->plan.program || waits) {
        run->target->will_change = true;
        run->target->forecast =
            run->plan.program ? run->plan.program->target.schema : run->target->facts.schema;
    }
    return TG_OK;
}

/* An input that failed has its own error; errors of its readers would only repeat it. */
static bool has_failed_input(const tg_update *u, const tg_flow *flow)
{
    for (size_t i = 0; i < flow->external_count; i++) {
        if (u->externals[flow->externals[i]].failure != TG_OK) {
            return true;
        }
    }
    for (size_t i = 0; i < flow->upstream_count; i++) {
        const tg_flow *writer = flow->upstream[i]->flow;
        if (u->runs[writer->index].result->status == TG_FLOW_FAILED) {
            return true;
        }
    }
    return false;
}

/* An error that knows no better place stands at the name of what is defined. */
static void locate_at_definition(const tg_flow *flow, tg_error *err)
{
    if (!err->has_span && err->place.line == 0) {
        (void)tg_error_at(err, flow->stmt->name.span);
    }
    tg_error_locate(err, flow->file->shown_name, flow->file->text);
}

void tg_flow_analyse(tg_update *u, tg_flow_run *run)
{
    if (has_failed_input(u, run->flow)) {
        run->result->status = TG_FLOW_FAILED;
        return;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (analyse(u, run, &err) == TG_OK) {
        tg_flow_lint(u, run);
        return;
    }
    run->result->status = TG_FLOW_FAILED;
    (void)tg_error_context(&err, "while analysing flow %.*s", TG_SARG(run->flow->event_name));
    locate_at_definition(run->flow, &err);
    tg_update_event_flow(u, run, TG_FLOW_FAILED, &err);
    tg_update_fail(u, run->flow->file, &err);
}

/* ---- running --------------------------------------------------------------------------------- */

static tg_code before_commit(void *self, const tg_run_result *counts, tg_error *err)
{
    tg_flow_run *run = self;
    return tg_guard_rows(run, counts->deleted_rows, counts->output_rows, err);
}

static tg_code before_attempt(void *self, int64_t read_version, const tg_commit_fact *winners,
                              size_t winner_count, tg_arena *arena, tg_str *out_state,
                              bool *out_rerun, tg_error *err)
{
    (void)err;
    const tg_flow_run *run = self;
    *out_rerun = !tg_plan_rebase(&run->plan, &run->input, read_version, winners, winner_count,
                                 arena, out_state);
    return TG_OK;
}

/* 1 to 2^n milliseconds, at most about a quarter of a second: racing processes fall out of step. */
static void pause_before_retry(const tg_update *u, int attempt)
{
    int64_t ns = u->context->env->monotonic_ns(u->context->env->self);
    tg_digest digest = tg_digest_of((tg_str){(const char *)&ns, sizeof(ns)});
    uint64_t limit_ms = UINT64_C(1) << (attempt < 8 ? attempt : 8);
    uint64_t wait_ms = 1 + digest.low % limit_ms;
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)(wait_ms * 1000000)};
    (void)nanosleep(&pause, NULL);
}

void tg_flow_keep_program(tg_update *u, tg_flow_run *run)
{
    run->result->program = (tg_str){0}; /* that of a plan which lost is gone with it */
    if (u->options->explain && run->plan.program) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        tg_program_print(run->plan.program, run->plan_arena, &text);
        run->result->program = tg_buf_take(&text, run->plan_arena);
    }
}

void tg_flow_keep_plan(tg_update *u, tg_flow_run *run)
{
    tg_flow_result *result = run->result;
    result->technique = run->plan.technique;
    result->issues = run->plan.issues;
    result->issue_count = run->plan.issue_count;
    result->pieces = run->plan.pieces;
    result->piece_count = run->plan.piece_count;
    result->window = run->plan.window;
    tg_flow_keep_program(u, run);
}

static tg_code plan_for_table(tg_update *u, tg_flow_run *run, tg_error *err)
{
    const tg_engine *engine = run->engine;
    TG_TRY(engine->table_facts(engine->self, run->input.target_path, run->arena,
                               &run->target->facts, err));
    TG_TRY(tg_owner_check(u, run, err));
    TG_TRY(load_state(u, run, err));
    TG_TRY(plan(u, run, /* try_quick: */ true, err));
    tg_flow_keep_plan(u, run);
    tg_update_event_planning(u, run);
    return TG_OK;
}

static void free_arena(void *arena)
{
    tg_arena_free(arena);
}

static void free_plan(void *object)
{
    tg_flow_run *run = object;
    tg_arena_free(run->plan_arena);
}

/*
 * Plans for what the table is now. Sources stay pinned. Everything of the plan that lost goes, once
 * nothing speaks of it any more: a busy table makes hundreds.
 */
static tg_code plan_again(tg_update *u, tg_flow_run *run, tg_error *err)
{
    tg_arena *lost = run->plan_arena;
    run->plan_arena = tg_arena_new();
    if (lost == run->arena) {
        tg_arena_defer(run->arena, free_plan, run); /* the last one's */
    }
    tg_code code = plan_for_table(u, run, err);
    if (lost != run->arena && code != TG_OK) {
        tg_arena_defer(run->arena, free_arena, lost); /* the result speaks of it */
    } else if (lost != run->arena) {
        tg_arena_free(lost);
    }
    TG_TRY(code);
    if (!run->plan.program) {
        /* Somebody else did the same work: readers see the version that was found to be right. */
        tg_update_target_changed(u, run->target, run->target->facts.version);
    }
    return TG_OK;
}

/* Rows of the window that stayed are not counted, so that the window's own numbers are not known. */
static void keep_counts(tg_flow_result *result, const tg_run_result *run, bool is_partial)
{
    result->committed_version = run->committed_version;
    result->output_rows = is_partial ? -1 : run->output_rows;
    result->deleted_rows = is_partial ? -1 : run->deleted_rows;
    result->rows_written = run->rows_written;
    result->rows_deleted = run->rows_deleted;
    result->files_added = run->files_added;
    result->files_removed = run->files_removed;
    result->output_bytes = run->bytes_added;
    result->source_rows_read = run->source_rows_read;
}

/*
 * Nothing to do: this update says that the target is right, so the version it found must outlive a
 * power failure. Its writer may have died, or not be there yet, between giving it its name and
 * fsyncing the log's folder.
 */
static tg_code keep_found_version(tg_update *u, const tg_flow_run *run, tg_error *err)
{
    tg_str log = tg_path_join(run->arena, run->input.target_path, TG_S("_delta_log"));
    bool exists; /* an engine's tables need not be folders */
    TG_TRY(tg_fs_exists(u->context->fs, log, &exists, err));
    return exists ? tg_fs_fsync_folder(u->context->fs, log, err) : TG_OK;
}

static tg_code run_program(tg_update *u, tg_flow_run *run, tg_error *err)
{
    const tg_engine *engine = run->engine;
    const tg_commit_hooks hooks = {
        .before_attempt = before_attempt, .before_commit = before_commit, .self = run};
    for (int attempt = 0; run->plan.program; attempt++) {
        tg_run_result counts;
        tg_code code =
            engine->run(engine->self, run->plan.program, &hooks, run->plan_arena, &counts, err);
        if (code == TG_OK) {
            keep_counts(run->result, &counts, run->plan.is_partial);
            return TG_OK;
        }
        if (code != TG_CONFLICT || attempt + 1 >= TG_LIMIT_COMMIT_ATTEMPTS ||
            tg_env_is_cancelled(u->context->env)) {
            return code;
        }
        tg_error_clear(err);
        pause_before_retry(u, attempt);
        TG_TRY(plan_again(u, run, err));
    }
    return keep_found_version(u, run, err);
}

/* A plan made before an upstream flow committed is thrown away. */
static tg_code plan_in_turn(tg_update *u, tg_flow_run *run, tg_error *err)
{
    if (!tg_flow_reads_changed_table(u, run->flow)) {
        return TG_OK;
    }
    run->is_bound = false;
    TG_TRY(tg_update_collect_pins(run, err));
    return plan(u, run, /* try_quick: */ true, err);
}

static tg_code refresh(tg_update *u, tg_flow_run *run, tg_error *err)
{
    if (run->is_again) {
        TG_TRY(plan_again(u, run, err)); /* tells what it planned */
    } else {
        TG_TRY(plan_in_turn(u, run, err));
        tg_flow_keep_plan(u, run);
        tg_update_event_planning(u, run);
    }
    if (!run->plan.program) {
        return keep_found_version(u, run, err);
    }
    tg_update_event_flow(u, run, TG_FLOW_STARTING, NULL);
    tg_update_event_flow(u, run, TG_FLOW_RUNNING, NULL);
    tg_flow_flush(run);
    TG_TRY(run_program(u, run, err));
    if (run->result->committed_version >= 0) {
        tg_update_target_changed(u, run->target, run->result->committed_version);
    }
    if (run->result->committed_version >= 0 && !run->plan.program->is_state_only) {
        tg_guard_warn(u, run);
    }
    if (run->input.is_full && run->result->committed_version > 0) {
        tg_update_event_reset(u, run);
    }
    return TG_OK;
}

/*
 * A span of a run-time error may point into a view's file or into an override; without knowing which,
 * the flow's definition is a better place than a wrong one.
 */
static void locate_runtime(const tg_flow_run *run, tg_error *err)
{
    const tg_flow *flow = run->flow;
    err->has_span = err->has_span && (!run->override || err->place.line > 0);
    for (size_t i = 0; i < flow->view_count && err->place.line == 0; i++) {
        err->has_span = err->has_span && flow->views[i]->file == flow->file;
    }
    locate_at_definition(flow, err);
}

void tg_flow_fail(tg_update *u, tg_flow_run *run, const char *doing, tg_error *err)
{
    locate_runtime(run, err);
    (void)tg_error_context(err, "while %s flow %.*s", doing, TG_SARG(run->flow->event_name));
    tg_error *kept = TG_NEW(run->arena, tg_error);
    tg_error_move(kept, err);
    tg_arena_defer(run->arena, dispose_error, kept);
    run->result->error = kept;
    tg_update_event_flow(u, run, TG_FLOW_FAILED, kept);
}

void tg_flow_refresh(tg_update *u, tg_flow_run *run)
{
    run->started_ns = u->context->env->monotonic_ns(u->context->env->self);
    tg_update_event_flow(u, run, TG_FLOW_PLANNING, NULL);
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_code code = refresh(u, run, &err);
    while (code != TG_OK && tg_flow_tries_again(u, run, &err)) {
        run->is_again = true;
        tg_error_clear(&err);
        code = refresh(u, run, &err);
    }
    if (code != TG_OK && tg_is_retryable(&err) && tg_env_is_cancelled(u->context->env)) {
        code = TG_CANCELLED; /* while it waited to be tried again */
    }
    run->result->duration_ms = tg_update_elapsed_ms(u, run->started_ns);
    if (code == TG_OK) {
        tg_update_event_flow(u, run, TG_FLOW_COMPLETED, NULL);
        return;
    }
    if (code == TG_CANCELLED) {
        tg_update_event_flow(u, run, TG_FLOW_STOPPED, NULL);
        return;
    }
    tg_flow_fail(u, run, "refreshing", &err);
}
