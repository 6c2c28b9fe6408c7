/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of tables without running a query: all from the Delta log, so that libduckdb is not
 * loaded for it (but when only a checkpoint can answer, which delta then asks for).
 */
#include "engine/duckdb/duckdb_int.h"

static const tg_property *properties_of(const tg_delta_metadata *metadata, tg_arena *arena)
{
    tg_property *properties = TG_NEW_ARRAY(arena, tg_property, metadata->config_count);
    for (size_t i = 0; i < metadata->config_count; i++) {
        properties[i].key = metadata->config_keys[i];
        properties[i].value = metadata->config_values[i];
    }
    return properties;
}

static tg_code describe_delta(tg_duckdb_engine *engine, tg_table *table, int64_t version,
                              tg_arena *arena, tg_error *err)
{
    const tg_delta_snapshot *snapshot;
    TG_TRY(tg_delta_metadata_load(&engine->delta, table->path, version, arena, &snapshot, err));
    table->version = snapshot->version;
    table->schema = snapshot->metadata.schema;
    table->partition_columns = snapshot->metadata.partition_columns;
    table->partition_count = snapshot->metadata.partition_count;
    table->needs_refresh =
        tg_delta_property(&snapshot->metadata, TG_S("tidegate.needsRefresh")).len > 0;
    return TG_OK;
}

tg_code tg_duckdb_describe(void *self, tg_table_format format, tg_str path, int64_t version,
                           const tg_property *options, size_t option_count, tg_str name,
                           tg_arena *arena, const tg_table **out_table, tg_error *err)
{
    tg_table *table = TG_NEW(arena, tg_table);
    table->name = name;
    table->format = format;
    table->path = path;
    table->version = -1;
    table->options = options;
    table->option_count = option_count;
    TG_TRY(format == TG_FORMAT_DELTA ? describe_delta(self, table, version, arena, err)
                                     : tg_duckdb_describe_source(self, table, arena, err));
    *out_table = table;
    return TG_OK;
}

tg_code tg_duckdb_version_at(void *self, tg_str path, int64_t timestamp_ms, int64_t *out_version,
                             tg_error *err)
{
    tg_duckdb_engine *engine = self;
    return tg_delta_version_at(&engine->delta, path, timestamp_ms, out_version, err);
}

tg_code tg_duckdb_identity(void *self, tg_table_format format, tg_str path, int64_t version,
                           tg_arena *arena, tg_pin *out_pin, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_pin pin = {.path = path, .version = -1};
    if (format != TG_FORMAT_DELTA) {
        TG_TRY(tg_duckdb_source_digest(engine, format, path, arena, &pin.digest, err));
    } else {
        pin.version = version;
        if (version < 0) {
            TG_TRY(tg_delta_latest_version(&engine->delta, path, &pin.version, err));
        }
        TG_TRY(tg_delta_commit_digest(&engine->delta, path, pin.version, &pin.digest, err));
    }
    *out_pin = pin;
    return TG_OK;
}

tg_code tg_duckdb_table_facts(void *self, tg_str path, tg_arena *arena, tg_table_facts *out_facts,
                              tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_table_facts facts = {.version = -1};
    TG_TRY(tg_delta_exists(&engine->delta, path, &facts.exists, err));
    if (facts.exists) {
        const tg_delta_snapshot *snapshot;
        TG_TRY(tg_delta_metadata_load(&engine->delta, path, -1, arena, &snapshot, err));
        const tg_delta_metadata *metadata = &snapshot->metadata;
        facts.version = snapshot->version;
        TG_TRY(tg_delta_commit_digest(&engine->delta, path, snapshot->version, &facts.digest, err));
        facts.table_id = metadata->id;
        facts.schema = metadata->schema;
        facts.partition_columns = metadata->partition_columns;
        facts.partition_count = metadata->partition_count;
        facts.properties = properties_of(metadata, arena);
        facts.property_count = metadata->config_count;
        facts.comment = metadata->description;
    }
    *out_facts = facts;
    return TG_OK;
}

static const tg_delta_txn *txn_of(const tg_delta_txn *txns, size_t count, tg_str app_id)
{
    for (size_t i = 0; i < count; i++) {
        if (app_id.len && tg_str_eq(txns[i].app_id, app_id)) {
            return &txns[i];
        }
    }
    return NULL;
}

/* One commit; NULL when its log file is gone. layout: for partition values, NULL: without them. */
static tg_code read_commit(tg_duckdb_engine *engine, tg_str path, int64_t version,
                           const tg_delta_metadata *layout, tg_arena *arena,
                           const tg_delta_commit **out_commit, tg_error *err)
{
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_code code = tg_delta_commit_read(
        &engine->delta, path, version, layout ? tg_delta_partition_keys(arena, layout) : NULL,
        layout ? layout->partition_count : 0, arena, out_commit, &local);
    if (code == TG_NOT_FOUND) {
        *out_commit = NULL;
        return TG_OK;
    }
    if (code != TG_OK && err) {
        tg_error_move(err, &local);
    }
    return code;
}

/*
 * The txn version is the version that its commit was planned on plus one; a commit that was rebased
 * lies later. So the commit is looked for from there on, and it is the one whose own txn has that
 * number.
 */
tg_code tg_duckdb_table_state(void *self, tg_str path, tg_str app_id, int64_t version,
                              tg_arena *arena, tg_state_facts *out_state, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_state_facts state = {.state_version = -1};
    int64_t txn_version = -1;
    TG_TRY(tg_delta_txn_find(&engine->delta, path, version, app_id, &txn_version, &state.has_txn,
                             err));
    for (int64_t v = txn_version < 0 ? 0 : txn_version;
         state.has_txn && state.state_version < 0 && v <= version; v++) {
        const tg_delta_commit *commit;
        TG_TRY(read_commit(engine, path, v, NULL, arena, &commit, err));
        if (!commit) {
            continue; /* cleaned up by someone; a later commit may still be the one */
        }
        const tg_delta_txn *txn = txn_of(commit->txns, commit->txn_count, app_id);
        if (txn && txn->version == txn_version) {
            state.state_version = v;
            state.state = commit->user_metadata;
        }
    }
    *out_state = state;
    return TG_OK;
}

/* ---- commits --------------------------------------------------------------------------------- */

static bool is_same_row(tg_schema a, tg_schema b)
{
    tg_type row_a = {.kind = TG_TYPE_STRUCT, .fields = a.fields, .field_count = a.count};
    tg_type row_b = {.kind = TG_TYPE_STRUCT, .fields = b.fields, .field_count = b.count};
    return tg_type_equal(&row_a, &row_b);
}

/* Same columns by name, physical name and type, and same partitioning? Comments and nullability do not count. */
static bool is_same_layout(const tg_delta_metadata *a, const tg_delta_metadata *b)
{
    if (!is_same_row(a->schema, b->schema) || !is_same_row(a->physical, b->physical) ||
        a->partition_count != b->partition_count) {
        return false;
    }
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!tg_str_eq(a->partition_columns[i], b->partition_columns[i])) {
            return false;
        }
    }
    return true;
}

/* Rows that a removed file held, in the form in which the hull of an added file is asked for. */
static tg_delta_add as_add(const tg_delta_remove *remove)
{
    return (tg_delta_add){
        .path = remove->path,
        .encoded_path = remove->encoded_path,
        .partition_values = remove->partition_values,
        .size_bytes = remove->size_bytes,
        .stats = remove->stats,
    };
}

static tg_region hull_of(const tg_delta_commit *commit, const tg_delta_snapshot *table,
                         const tg_zone *zone, tg_arena *arena)
{
    tg_region hull = tg_region_none();
    for (size_t i = 0; i < commit->add_count; i++) {
        if (commit->adds[i].data_change) {
            hull = tg_region_or(arena, hull,
                                tg_delta_file_region(table, &commit->adds[i], zone, arena));
        }
    }
    for (size_t i = 0; i < commit->remove_count; i++) {
        const tg_delta_remove *remove = &commit->removes[i];
        if (!remove->data_change) {
            continue;
        }
        if (!remove->partition_values) {
            return tg_region_all();
        }
        tg_delta_add file = as_add(remove);
        hull = tg_region_or(arena, hull, tg_delta_file_region(table, &file, zone, arena));
    }
    return hull;
}

void tg_duckdb_commit_fact(const tg_delta_commit *commit, const tg_delta_metadata *before,
                           const tg_delta_snapshot *table, tg_str app_id, const tg_zone *zone,
                           tg_arena *arena, tg_commit_fact *out_fact)
{
    tg_commit_fact fact = {.version = commit->version};
    for (size_t i = 0; i < commit->add_count; i++) {
        fact.changes_data = fact.changes_data || commit->adds[i].data_change;
    }
    for (size_t i = 0; i < commit->remove_count; i++) {
        fact.changes_data = fact.changes_data || commit->removes[i].data_change;
    }
    fact.changes_schema =
        commit->metadata && (!before || !is_same_layout(commit->metadata, before));
    if (txn_of(commit->txns, commit->txn_count, app_id)) {
        fact.app_id = app_id;
        fact.state = commit->user_metadata;
    }
    fact.hull = fact.changes_schema ? tg_region_all() : hull_of(commit, table, zone, arena);
    *out_fact = fact;
}

/*
 * The layout before a commit with a metaData action; NULL when the log does not reach back: then it
 * counts as changed.
 */
static tg_code layout_at(tg_duckdb_engine *engine, tg_str path, int64_t version, tg_arena *arena,
                         const tg_delta_metadata **out, tg_error *err)
{
    *out = NULL;
    if (version < 0) {
        return TG_OK;
    }
    const tg_delta_snapshot *snapshot;
    tg_auto_error tg_error local = TG_ERROR_INIT;
    tg_code code = tg_delta_metadata_load(&engine->delta, path, version, arena, &snapshot, &local);
    if (code == TG_OK) {
        *out = &snapshot->metadata;
    } else if (code != TG_NOT_FOUND && local.cls != TG_E_DELTA_TRUNCATED_TRANSACTION_LOG) {
        if (err) {
            tg_error_move(err, &local);
        }
        return code;
    }
    return TG_OK;
}

tg_code tg_duckdb_commits_since(void *self, tg_str path, int64_t from, int64_t to, tg_str app_id,
                                const tg_zone *zone, tg_arena *arena, tg_commit_fact **out_commits,
                                size_t *out_count, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    *out_commits = NULL;
    *out_count = 0;
    if (from >= to) {
        return TG_OK;
    }
    const tg_delta_snapshot *table;
    TG_TRY(tg_delta_metadata_load(&engine->delta, path, to, arena, &table, err));
    size_t count = (size_t)(to - from);
    tg_commit_fact *facts = TG_NEW_ARRAY(arena, tg_commit_fact, count);
    const tg_delta_metadata *before =
        NULL; /* newest layout that was met; looked up at the first change */
    for (size_t i = 0; i < count; i++) {
        int64_t version = from + 1 + (int64_t)i;
        const tg_delta_commit *commit;
        TG_TRY(
            read_commit(engine, table->table_path, version, &table->metadata, arena, &commit, err));
        if (!commit) {
            facts[i] =
                (tg_commit_fact){.version = version, .is_missing = true, .hull = tg_region_all()};
            continue;
        }
        if (commit->metadata && !before) {
            TG_TRY(layout_at(engine, path, version - 1, arena, &before, err));
        }
        tg_duckdb_commit_fact(commit, before, table, app_id, zone, arena, &facts[i]);
        before = commit->metadata ? commit->metadata : before;
    }
    *out_commits = facts;
    *out_count = count;
    return TG_OK;
}

/* ---- going back ------------------------------------------------------------------------------ */

tg_code tg_duckdb_find_commit(void *self, tg_str path, bool (*is_wanted)(void *ctx, tg_str state),
                              void *ctx, int64_t *out_version, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    return tg_delta_find_commit(&engine->delta, path, is_wanted, ctx, out_version, err);
}

tg_code tg_duckdb_missing_files(void *self, tg_str path, int64_t version, tg_arena *arena,
                                size_t *out_count, tg_str *out_first, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    return tg_delta_missing_files(&engine->delta, path, version, arena, out_count, out_first, err);
}

tg_code tg_duckdb_restore(void *self, tg_str path, const tg_restore *restore, tg_arena *arena,
                          tg_restore_result *out_result, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    tg_auto_error tg_error warning = TG_ERROR_INIT; /* a checkpoint is not what was asked for */
    const tg_delta_restore_options options = {.version = restore->version,
                                              .timestamp = restore->timestamp,
                                              .zone = restore->zone,
                                              .kept_keys = restore->kept_keys,
                                              .kept_key_count = restore->kept_key_count};
    tg_delta_restore_result done;
    TG_TRY(tg_delta_restore(&engine->delta, path, &options, arena, &done, &warning, err));
    *out_result = (tg_restore_result){.committed_version = done.committed_version,
                                      .removed_files = done.removed_files,
                                      .restored_files = done.restored_files,
                                      .files_after = done.files_after,
                                      .removed_bytes = done.removed_bytes,
                                      .restored_bytes = done.restored_bytes,
                                      .bytes_after = done.bytes_after};
    return TG_OK;
}
