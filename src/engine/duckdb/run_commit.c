/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a program: what changed as actions, and what happens when another writer was
 * faster.
 *
 * With hooks (refreshes) each attempt asks them, and state and txn are made for the version that is
 * tried; without (DML) delta's own conflict test decides. Two kinds of winner are always final: one
 * that removed a file which this attempt removes too (its rows would come back or go twice), and
 * one that changed what the table is.
 */
#include "engine/duckdb/run_int.h"

/* ---- metadata -------------------------------------------------------------------------------- */

static tg_delta_metadata target_metadata(tg_duckdb_run_state *run)
{
    const tg_program_target *target = &run->program->target;
    tg_delta_metadata metadata = {
        .id = target->table_id,
        .created_time_ms = run->program->now_us / 1000,
    };
    if (run->snapshot) {
        metadata = run->snapshot->metadata;
    }
    metadata.schema = target->schema;
    metadata.schema_string = tg_schema_to_json(run->arena, target->schema);
    metadata.description = target->comment;
    metadata.partition_columns = target->partition_columns;
    metadata.partition_count = target->partition_count;
    tg_str *keys = TG_NEW_ARRAY(run->arena, tg_str, target->property_count);
    tg_str *values = TG_NEW_ARRAY(run->arena, tg_str, target->property_count);
    for (size_t i = 0; i < target->property_count; i++) {
        keys[i] = target->properties[i].key;
        values[i] = target->properties[i].value;
    }
    metadata.config_keys = keys;
    metadata.config_values = values;
    metadata.config_count = target->property_count;
    return metadata;
}

static tg_code set_metadata(tg_duckdb_run_state *run, tg_delta_change *change, tg_error *err)
{
    const tg_program_target *target = &run->program->target;
    if (run->snapshot && !target->changes_metadata) {
        return TG_OK;
    }
    tg_delta_metadata *metadata = TG_NEW(run->arena, tg_delta_metadata);
    *metadata = target_metadata(run);
    change->metadata = metadata;
    if (run->snapshot) {
        return tg_delta_protocol_upgrade(&run->snapshot->protocol, target->schema,
                                         target->properties, target->property_count, run->arena,
                                         &change->protocol, err);
    }
    tg_delta_protocol *protocol = TG_NEW(run->arena, tg_delta_protocol);
    change->protocol = protocol;
    return tg_delta_protocol_for(target->schema, target->properties, target->property_count,
                                 run->arena, protocol, err);
}

/* ---- actions --------------------------------------------------------------------------------- */

static void set_removes(tg_duckdb_run_state *run, tg_delta_change *change)
{
    tg_delta_remove *removes = TG_NEW_ARRAY(run->arena, tg_delta_remove, run->removed_count);
    int64_t now_ms = run->engine->env->now_us(run->engine->env->self) / 1000;
    for (size_t i = 0; i < run->removed_count; i++) {
        const tg_delta_add *file = run->removed[i];
        removes[i] = (tg_delta_remove){
            .path = file->path,
            .encoded_path = file->encoded_path,
            .partition_values = file->partition_values,
            .size_bytes = file->size_bytes,
            .deletion_timestamp_ms = now_ms,
            .data_change = true,
            .stats = file->stats,
            .dv = file->dv,
        };
    }
    change->removes = removes;
    change->remove_count = run->removed_count;
}

/* ---- attempts -------------------------------------------------------------------------------- */

static bool removes_path(const tg_duckdb_run_state *run, tg_str path)
{
    for (size_t i = 0; i < run->removed_count; i++) {
        if (tg_str_eq(run->removed[i]->path, path)) {
            return true;
        }
    }
    return false;
}

static bool is_final(const tg_duckdb_run_state *run, const tg_delta_change *change,
                     const tg_delta_commit *winner, const tg_commit_fact *fact)
{
    if (winner->protocol || fact->changes_schema || (winner->metadata && change->metadata)) {
        return true;
    }
    for (size_t i = 0; i < winner->remove_count; i++) {
        if (removes_path(run, winner->removes[i].path)) {
            return true;
        }
    }
    return false;
}

static tg_code ask_hooks(tg_duckdb_run_state *run, int64_t read_version,
                         const tg_delta_commit *const *winners, size_t winner_count,
                         tg_delta_change *change, tg_arena *arena, tg_conflict_verdict *out_verdict,
                         tg_error *err)
{
    tg_commit_fact *facts = TG_NEW_ARRAY(arena, tg_commit_fact, winner_count);
    const tg_delta_metadata *before = run->snapshot ? &run->snapshot->metadata : NULL;
    for (size_t i = 0; i < winner_count; i++) {
        tg_duckdb_commit_fact(winners[i], before, run->snapshot, run->program->app_id,
                              run->program->zone, arena, &facts[i]);
        if (is_final(run, change, winners[i], &facts[i])) {
            *out_verdict = TG_VERDICT_RERUN;
            return TG_OK;
        }
        before = winners[i]->metadata ? winners[i]->metadata : before;
    }
    bool rerun = false;
    tg_str state = TG_S("");
    TG_TRY(run->hooks->before_attempt(run->hooks->self, read_version, facts, winner_count, arena,
                                      &state, &rerun, err));
    change->user_metadata = state;
    *out_verdict = rerun ? TG_VERDICT_RERUN : TG_VERDICT_RETRY;
    return TG_OK;
}

/* The number of a flow's transaction: the version it is tried as, at least where it was planned. */
static void set_txn(tg_duckdb_run_state *run, int64_t version, tg_delta_change *change,
                    tg_arena *arena)
{
    if (!run->program->app_id.len) {
        return;
    }
    tg_delta_txn *txn = TG_NEW(arena, tg_delta_txn);
    *txn = (tg_delta_txn){.app_id = run->program->app_id, .version = version};
    change->txns = txn;
    change->txn_count = 1;
}

static tg_code before_attempt(void *self, int64_t attempt_version,
                              const tg_delta_commit *const *winners, size_t winner_count,
                              tg_delta_change *change, tg_arena *arena,
                              tg_conflict_verdict *out_verdict, tg_error *err)
{
    tg_duckdb_run_state *run = self;
    run->attempts++;
    TG_TRY(tg_duckdb_check_cancelled(run->engine, err));
    set_txn(run, attempt_version, change, arena);
    return ask_hooks(run, attempt_version - 1, winners, winner_count, change, arena, out_verdict,
                     err);
}

/* ---- commit ---------------------------------------------------------------------------------- */

static tg_code sync_added(tg_duckdb_run_state *run, tg_error *err)
{
    if (!run->added.count) {
        return TG_OK;
    }
    tg_str *paths = TG_NEW_ARRAY(run->arena, tg_str, run->added.count);
    for (size_t i = 0; i < run->added.count; i++) {
        paths[i] = run->added.items[i].path;
    }
    return tg_delta_sync_files(&run->engine->delta, run->program->target.path, paths,
                               run->added.count, err);
}

static tg_code commit_change(tg_duckdb_run_state *run, tg_delta_change *change,
                             int64_t *out_version, tg_error *err)
{
    const tg_program *program = run->program;
    tg_delta_commit_options options = {
        .read_version = program->target.read_version,
        .snapshot = run->snapshot,
        .zone = program->zone,
    };
    if (run->hooks) {
        options.before_attempt = before_attempt;
        options.self = run;
    } else {
        run->attempts = 1;
    }
    tg_auto_error tg_error warning =
        TG_ERROR_INIT; /* a checkpoint that could not be written is written by a later commit */
    tg_code code = tg_delta_commit_change(&run->engine->delta, program->target.path, change,
                                          &options, run->arena, out_version, &warning, err);
    run->may_be_visible = change->may_be_visible;
    if (code == TG_ALREADY_EXISTS && !run->may_be_visible) {
        TG_FAIL(err, DELTA_METADATA_CHANGED,
                "table %.*s was created by another writer at the same time",
                TG_SARG(program->target.name));
    }
    return code;
}

tg_code tg_duckdb_commit_run(tg_duckdb_run_state *run, int64_t *out_version, tg_error *err)
{
    const tg_program *program = run->program;
    TG_TRY(tg_duckdb_check_cancelled(run->engine, err));
    tg_delta_change change = {
        .adds = run->added.items,
        .add_count = run->added.count,
        .operation = program->operation,
        .parameters = program->parameters,
        .parameter_count = program->parameter_count,
        .is_blind_append = !run->replaces && !run->reads_target && !program->judges_rows,
    };
    tg_region read =
        program->judges_rows ? tg_region_all() : tg_region_or(run->arena, run->region, run->read);
    if (run->reads_target || run->replaces || program->judges_rows) {
        change.read_region = &read;
    }
    TG_TRY(set_metadata(run, &change, err));
    set_removes(run, &change);
    tg_duckdb_set_metrics(run, &change);
    set_txn(run, program->target.read_version + 1, &change, run->arena);
    bool has_content = change.add_count || change.remove_count || change.metadata ||
                       program->app_id.len || program->is_state_only;
    if (!has_content) {
        *out_version = -1;
        return TG_OK;
    }
    TG_TRY(sync_added(run, err));
    return commit_change(run, &change, out_version, err);
}
