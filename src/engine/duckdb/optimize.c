/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OPTIMIZE: small files of a partition become one. No row changes, so all actions say dataChange
 * false: change feeds and refreshes pass over the commit.
 *
 * Files below the target size are put together in the order in which they were written, up to that
 * size; each group becomes one file, sorted by the table's clustering columns. A group of one file is
 * left alone, so that a second run finds nothing to do.
 */
#include <stdlib.h>

#include "engine/duckdb/duckdb_int.h"

typedef struct file_group { /* a TG_VEC */
    const tg_delta_add **items;
    size_t count, capacity;
    int64_t bytes;
    bool has_holes; /* one of them has many deleted rows */
} file_group;

typedef struct optimizer {
    tg_duckdb_engine *engine;
    const tg_optimize *options;
    tg_arena *arena;
    tg_duckdb_session session;
    const tg_delta_snapshot *snapshot;
    TG_VEC(file_group) groups;
    tg_duckdb_added added;
    bool may_be_visible;
    tg_optimize_result *result;
} optimizer;

/* ---- which files ----------------------------------------------------------------------------- */

static int compare_values(const optimizer *o, const tg_delta_add *a, const tg_delta_add *b)
{
    for (size_t i = 0; i < o->snapshot->metadata.partition_count; i++) {
        const tg_delta_partition_value *x = &a->partition_values[i], *y = &b->partition_values[i];
        bool x_null = x->is_null || !x->text.len, y_null = y->is_null || !y->text.len;
        int order = x_null != y_null ? (x_null ? -1 : 1)
                    : x_null         ? 0
                                     : tg_str_cmp(x->text, y->text);
        if (order) {
            return order;
        }
    }
    return 0;
}

static int compare_files(const void *a, const void *b, void *self)
{
    const tg_delta_add *x = *(const tg_delta_add *const *)a, *y = *(const tg_delta_add *const *)b;
    int order = compare_values(self, x, y);
    if (!order && x->modification_time_ms != y->modification_time_ms) {
        order = x->modification_time_ms < y->modification_time_ms ? -1 : 1;
    }
    return order ? order : tg_str_cmp(x->path, y->path);
}

typedef struct value_printer {
    const optimizer *o;
    const tg_delta_add *file;
} value_printer;

/* A partition column as the constant that it is in a file. */
static void put_partition_value(void *self, uint32_t id, tg_buf *out)
{
    const value_printer *printer = self;
    const tg_delta_metadata *metadata = &printer->o->snapshot->metadata;
    const tg_field *field = &metadata->schema.fields[id - 1];
    tg_value value = tg_value_null(field->type);
    for (size_t i = 0; i < metadata->partition_count; i++) {
        if (tg_str_ieq(metadata->partition_columns[i], field->name)) {
            const tg_delta_partition_value *text = &printer->file->partition_values[i];
            if (tg_value_from_partition(text->text, text->is_null, field->type,
                                        printer->o->options->zone, printer->o->arena, &value,
                                        NULL) != TG_OK) {
                value = tg_value_null(field->type); /* the snapshot took it: cannot be */
            }
        }
    }
    tg_buf_addz(out, "CAST(");
    if (value.is_null) {
        tg_buf_addz(out, "NULL");
    } else {
        tg_duckdb_put_string(out, tg_duckdb_value_text(printer->o->arena, value));
    }
    tg_buf_addz(out, " AS ");
    if (tg_duckdb_put_type(out, field->type, NULL) != TG_OK) {
        tg_buf_addz(out, "VARCHAR"); /* partition columns are atomic: cannot be */
    }
    tg_buf_addc(out, ')');
}

/* Is the predicate TRUE of a partition? DuckDB says it, so that it means what it means elsewhere. */
static tg_code is_wanted(optimizer *o, const tg_delta_add *file, bool *out, tg_error *err)
{
    *out = true;
    if (!o->options->predicate) {
        return TG_OK;
    }
    value_printer printer = {.o = o, .file = file};
    const tg_print_options print = {.dialect = TG_DIALECT_DUCKDB,
                                    .zone = tg_zone_name(o->options->zone)};
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_auto_result duckdb_result result = {0};
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    tg_buf_addz(&sql, "SELECT CASE WHEN (");
    TG_TRY(tg_sql_print_bexpr(o->options->predicate, &print, put_partition_value, &printer, &sql,
                              err));
    tg_buf_addz(&sql, ") IS TRUE THEN 1::BIGINT ELSE 0::BIGINT END");
    TG_TRY(tg_duckdb_run(&o->session, tg_buf_str(&sql), false, &result, err));
    TG_TRY(tg_duckdb_fetch(&o->session, &result, &chunk, err));
    *out = chunk && tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 0), 0) == 1;
    return TG_OK;
}

static void close_group(optimizer *o, file_group *open)
{
    if (open->count > 1 || open->has_holes || (o->options->all && open->count)) {
        TG_VEC_PUSH(o->arena, &o->groups, *open);
    }
    *open = (file_group){0};
}

/* Has a deletion vector taken more than a twentieth of its rows (as Spark's maxDeletedRowsRatio)? */
static bool has_holes(const tg_delta_add *file)
{
    int64_t records = file->dv ? tg_delta_file_records(file->stats) : -1;
    return file->dv && (records < 0 || file->dv->cardinality > records / 20);
}

static tg_code choose_files(optimizer *o, tg_error *err)
{
    const tg_delta_snapshot *snapshot = o->snapshot;
    size_t count = snapshot->file_count;
    const tg_delta_add **files = TG_NEW_ARRAY(o->arena, const tg_delta_add *, count);
    for (size_t i = 0; i < count; i++) {
        files[i] = &snapshot->files[i];
    }
    if (count) {
        qsort_r(files, count, sizeof(void *), compare_files, o);
    }
    file_group open = {0};
    bool wanted = false;
    for (size_t i = 0; i < count; i++) {
        bool begins = i == 0 || compare_values(o, files[i - 1], files[i]) != 0;
        if (begins) {
            close_group(o, &open);
            TG_TRY(is_wanted(o, files[i], &wanted, err));
            o->result->partitions += wanted;
        }
        if (!wanted) {
            continue;
        }
        o->result->considered_files++;
        bool holes = has_holes(files[i]);
        if (files[i]->size_bytes >= o->options->target_bytes && !o->options->all && !holes) {
            continue;
        }
        if (open.count && open.bytes + files[i]->size_bytes > o->options->target_bytes) {
            close_group(o, &open);
        }
        TG_VEC_PUSH(o->arena, &open, files[i]);
        open.bytes += files[i]->size_bytes;
        open.has_holes = open.has_holes || holes;
    }
    close_group(o, &open);
    return TG_OK;
}

/* ---- new files ------------------------------------------------------------------------------- */

static tg_code put_group(optimizer *o, const file_group *group, tg_buf *out, tg_error *err)
{
    const tg_delta_metadata *metadata = &o->snapshot->metadata;
    const tg_duckdb_files files = {.table_path = o->snapshot->table_path,
                                   .schema = metadata->schema,
                                   .mapping = tg_delta_mapping_of(metadata),
                                   .partition_columns = metadata->partition_columns,
                                   .partition_count = metadata->partition_count,
                                   .files = group->items,
                                   .file_count = group->count};
    return tg_duckdb_put_files(&o->session, &files, o->options->zone, o->arena, out, err);
}

static tg_code count_rows(optimizer *o, const file_group *group, int64_t *out, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_auto_result duckdb_result result = {0};
    tg_auto_chunk duckdb_data_chunk chunk = NULL;
    tg_buf_addz(&sql, "SELECT count(*) FROM ");
    TG_TRY(put_group(o, group, &sql, err));
    TG_TRY(tg_duckdb_run(&o->session, tg_buf_str(&sql), false, &result, err));
    TG_TRY(tg_duckdb_fetch(&o->session, &result, &chunk, err));
    *out = chunk ? tg_duckdb_cell_i64(tg_duckdb.data_chunk_get_vector(chunk, 0), 0) : 0;
    return TG_OK;
}

static tg_code write_group(optimizer *o, const file_group *group, tg_error *err)
{
    const tg_delta_metadata *metadata = &o->snapshot->metadata;
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SELECT ");
    for (size_t i = 0; i < metadata->schema.count; i++) {
        tg_buf_addz(&sql, i ? ", " : "");
        tg_duckdb_put_ident(&sql, metadata->schema.fields[i].name);
    }
    tg_buf_addz(&sql, " FROM ");
    TG_TRY(put_group(o, group, &sql, err));
    tg_property *properties = TG_NEW_ARRAY(o->arena, tg_property, metadata->config_count);
    for (size_t i = 0; i < metadata->config_count; i++) {
        properties[i] =
            (tg_property){.key = metadata->config_keys[i], .value = metadata->config_values[i]};
    }
    const tg_duckdb_copy copy = {.table_path = o->snapshot->table_path,
                                 .properties = properties,
                                 .property_count = metadata->config_count,
                                 .schema = metadata->schema,
                                 .partition_columns = metadata->partition_columns,
                                 .partition_count = metadata->partition_count,
                                 .sql = tg_buf_str(&sql),
                                 .order_by = o->options->order_by,
                                 .order_count = o->options->order_count,
                                 .one_file = true};
    int64_t before = o->added.rows, rows = 0;
    TG_TRY(count_rows(o, group, &rows, err));
    TG_TRY(tg_duckdb_copy_rows(&o->session, &copy, o->arena, &o->added, err));
    if (o->added.rows - before != rows) {
        TG_FAIL(err, INTERNAL_ERROR, "%lld rows were to be moved, but %lld were written",
                (long long)rows, (long long)(o->added.rows - before));
    }
    return TG_OK;
}

/* ---- the commit ------------------------------------------------------------------------------ */

static void add_size(tg_file_sizes *sizes, int64_t bytes)
{
    sizes->min = !sizes->count || bytes < sizes->min ? bytes : sizes->min;
    sizes->max = bytes > sizes->max ? bytes : sizes->max;
    sizes->bytes += bytes;
    sizes->count++;
}

static void set_actions(optimizer *o, tg_delta_change *change)
{
    size_t count = 0;
    for (size_t i = 0; i < o->groups.count; i++) {
        count += o->groups.items[i].count;
    }
    tg_delta_remove *removes = TG_NEW_ARRAY(o->arena, tg_delta_remove, count);
    int64_t now_ms = o->engine->env->now_us(o->engine->env->self) / 1000;
    for (size_t i = 0; i < o->groups.count; i++) {
        for (size_t j = 0; j < o->groups.items[i].count; j++) {
            const tg_delta_add *file = o->groups.items[i].items[j];
            removes[change->remove_count++] =
                (tg_delta_remove){.path = file->path,
                                  .encoded_path = file->encoded_path,
                                  .partition_values = file->partition_values,
                                  .size_bytes = file->size_bytes,
                                  .deletion_timestamp_ms = now_ms,
                                  .stats = file->stats,
                                  .dv = file->dv};
            add_size(&o->result->removed, file->size_bytes);
        }
    }
    for (size_t i = 0; i < o->added.count; i++) {
        o->added.items[i].data_change = false;
        add_size(&o->result->added, o->added.items[i].size_bytes);
    }
    change->removes = removes;
    change->adds = o->added.items;
    change->add_count = o->added.count;
}

static void set_metrics(optimizer *o, tg_delta_change *change)
{
    const tg_optimize_result *result = o->result;
    const struct {
        const char *key;
        int64_t value;
    } metrics[] = {
        {"numRemovedFiles", result->removed.count}, {"numRemovedBytes", result->removed.bytes},
        {"numAddedFiles", result->added.count},     {"numAddedBytes", result->added.bytes},
        {"minFileSize", result->added.min},         {"maxFileSize", result->added.max},
    };
    size_t count = sizeof metrics / sizeof metrics[0];
    tg_property *properties = TG_NEW_ARRAY(o->arena, tg_property, count);
    for (size_t i = 0; i < count; i++) {
        properties[i].key = tg_str_from(metrics[i].key);
        properties[i].value = tg_str_printf(o->arena, "%lld", (long long)metrics[i].value);
    }
    change->metrics = properties;
    change->metric_count = count;
}

static tg_str json_list(const tg_str *items, size_t count, tg_arena *arena)
{
    return tg_program_clustering_value(items, count, arena);
}

static tg_code commit(optimizer *o, tg_error *err)
{
    const tg_optimize *options = o->options;
    tg_str predicates = json_list(&options->predicate_text, options->predicate ? 1 : 0, o->arena);
    const tg_property parameters[] = {
        {.key = TG_S("predicate"), .value = predicates},
        {.key = TG_S("zOrderBy"), .value = TG_S("[]")},
        {.key = TG_S("clusterBy"),
         .value = json_list(options->order_by, options->order_count, o->arena)},
        {.key = TG_S("auto"), .value = TG_S("false")},
    };
    tg_delta_change change = {.operation = TG_S("OPTIMIZE"),
                              .parameters = parameters,
                              .parameter_count = sizeof(parameters) / sizeof(*parameters)};
    set_actions(o, &change);
    set_metrics(o, &change);
    tg_str *paths = TG_NEW_ARRAY(o->arena, tg_str, o->added.count);
    for (size_t i = 0; i < o->added.count; i++) {
        paths[i] = o->added.items[i].path;
    }
    TG_TRY(tg_duckdb_check_cancelled(o->engine, err));
    TG_TRY(tg_delta_sync_files(&o->engine->delta, o->snapshot->table_path, paths, o->added.count,
                               err));
    const tg_delta_commit_options commit_options = {
        .read_version = o->snapshot->version, .snapshot = o->snapshot, .zone = options->zone};
    tg_auto_error tg_error warning = TG_ERROR_INIT; /* a later commit writes the checkpoint */
    tg_code code =
        tg_delta_commit_change(&o->engine->delta, o->snapshot->table_path, &change, &commit_options,
                               o->arena, &o->result->committed_version, &warning, err);
    o->may_be_visible = change.may_be_visible;
    return code;
}

static tg_code optimize(optimizer *o, tg_error *err)
{
    if (o->options->predicate) {
        TG_TRY(tg_duckdb_session_open(o->engine, o->options->zone, &o->session, err));
    }
    TG_TRY(choose_files(o, err));
    if (!o->groups.count) {
        o->result->skipped_files = o->result->considered_files;
        return TG_OK;
    }
    if (!o->session.connection) {
        TG_TRY(tg_duckdb_session_open(o->engine, o->options->zone, &o->session, err));
    }
    for (size_t i = 0; i < o->groups.count; i++) {
        TG_TRY(tg_duckdb_check_cancelled(o->engine, err));
        TG_TRY(write_group(o, &o->groups.items[i], err));
    }
    TG_TRY(commit(o, err));
    o->result->batches = 1;
    o->result->skipped_files = o->result->considered_files - o->result->removed.count;
    return TG_OK;
}

tg_code tg_duckdb_optimize(void *self, tg_str path, const tg_optimize *options, tg_arena *arena,
                           tg_optimize_result *out_result, tg_error *err)
{
    optimizer o = {.engine = self, .options = options, .arena = arena, .result = out_result};
    *out_result = (tg_optimize_result){.committed_version = -1};
    TG_TRY(tg_delta_snapshot_load(&o.engine->delta, path, -1, arena, &o.snapshot, err));
    tg_code code = optimize(&o, err);
    tg_duckdb_session_close(&o.session);
    for (size_t i = 0; i < o.added.count && code != TG_OK && !o.may_be_visible; i++) {
        (void)tg_fs_remove(
            o.engine->fs, tg_path_join(arena, o.snapshot->table_path, o.added.items[i].path), NULL);
    }
    return code;
}

/* ---- VACUUM ---------------------------------------------------------------------------------- */

tg_code tg_duckdb_vacuum(void *self, tg_str path, const tg_vacuum *vacuum, tg_arena *arena,
                         tg_vacuum_result *out_result, tg_error *err)
{
    tg_duckdb_engine *engine = self;
    const tg_delta_vacuum_options options = {.retain_ms = vacuum->retain_ms,
                                             .checks_retention = vacuum->checks_retention,
                                             .dry_run = vacuum->dry_run};
    tg_delta_vacuum_result done;
    TG_TRY(tg_delta_vacuum(&engine->delta, path, &options, arena, &done, err));
    *out_result = (tg_vacuum_result){.files = done.files,
                                     .file_count = done.file_count,
                                     .bytes = done.bytes,
                                     .folders = done.folders};
    return TG_OK;
}
