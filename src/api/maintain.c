/* SPDX-License-Identifier: Apache-2.0 */
/* OPTIMIZE and VACUUM. */
#include "api/api_int.h"
#include "delta/delta.h"
#include "pipeline/properties.h"

enum { TARGET_BYTES = 128 * 1024 * 1024 };

static tg_code refuse_engine(tg_execution *ex, const char *statement, tg_error *err)
{
    TG_ERR(err, UNSUPPORTED_FEATURE, "the engine %s cannot %s", ex->api->engine->name, statement);
    return tg_error_at(err, ex->stmt->span);
}

/* ---- OPTIMIZE -------------------------------------------------------------------------------- */

typedef struct column_check {
    const tg_table_facts *facts;
    tg_str stranger; /* a column of the predicate that is not a partition column */
} column_check;

static void look_at_column(void *self, uint32_t id, tg_buf *out)
{
    column_check *check = self;
    tg_str name = check->facts->schema.fields[id - 1].name;
    bool is_partition = false;
    for (size_t i = 0; i < check->facts->partition_count; i++) {
        is_partition = is_partition || tg_str_ieq(check->facts->partition_columns[i], name);
    }
    if (!is_partition) {
        check->stranger = name;
    }
    tg_sql_print_ident(name, out);
}

static tg_code bind_where(tg_execution *ex, const tg_table_facts *facts, const tg_bexpr **out,
                          tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_bexpr *predicate;
    bool has_time_function, is_deterministic;
    tg_bind_options options = tg_execution_bind_options(ex, NULL);
    tg_str alias = stmt->name.parts[stmt->name.count - 1].text;
    TG_TRY(tg_sql_bind_predicate(stmt->where, facts->schema, &alias, 1, &options, ex->arena,
                                 &predicate, &has_time_function, &is_deterministic, err));
    column_check check = {.facts = facts};
    const tg_print_options print = {.dialect = TG_DIALECT_SPARK, .zone = TG_S("UTC")};
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    TG_TRY(tg_sql_print_bexpr(predicate, &print, look_at_column, &check, &text, err));
    if (check.stranger.len) {
        (void)TG_ERR(err, DELTA_NON_PARTITION_COLUMN_SPECIFIED,
                     "predicate references non-partition column '%.*s'; OPTIMIZE takes whole "
                     "partitions only",
                     TG_SARG(check.stranger));
        return tg_error_at(err, stmt->where->span);
    }
    if (!is_deterministic) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "OPTIMIZE needs a deterministic condition");
        return tg_error_at(err, stmt->where->span);
    }
    *out = tg_sql_fold(predicate, ex->api->zone, ex->arena);
    return TG_OK;
}

static tg_code prepare_optimize(tg_execution *ex, tg_location *out_location, tg_optimize *out,
                                tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_table_facts facts;
    TG_TRY(tg_execution_existing_target(ex, &stmt->name, out_location, &facts, err));
    *out = (tg_optimize){.target_bytes = TARGET_BYTES,
                         .zone = ex->api->zone,
                         .now_us = ex->now_us,
                         .predicate_text = stmt->where_text,
                         .all = stmt->full};
    tg_str size = tg_property_get(facts.properties, facts.property_count, "delta.targetFileSize");
    int64_t bytes;
    if (size.len && tg_delta_bytes_parse(size, &bytes)) {
        out->target_bytes = bytes;
    }
    tg_program_clustering(facts.properties, facts.property_count, ex->arena, &out->order_by,
                          &out->order_count);
    if (stmt->full && !out->order_count) {
        (void)TG_ERR(err, DELTA_OPTIMIZE_FULL_NOT_SUPPORTED,
                     "OPTIMIZE FULL is for tables with CLUSTER BY; %.*s has none",
                     TG_SARG(out_location->full_name));
        return tg_error_at(err, stmt->name.span);
    }
    return stmt->where ? bind_where(ex, &facts, &out->predicate, err) : TG_OK;
}

static tg_value bigint(int64_t value)
{
    return tg_value_int(tg_type_of(TG_TYPE_BIGINT), value);
}

/* A STRUCT of named values. */
static tg_value named_struct(tg_arena *arena, const char *const *names, const tg_value *values,
                             size_t count)
{
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] =
            (tg_field){.name = tg_str_from(names[i]), .type = values[i].type, .nullable = true};
    }
    return tg_nested_value(tg_type_struct(arena, fields, count),
                           tg_arena_memdup(arena, values, count * sizeof(*values)), count);
}

static tg_value sizes_value(tg_arena *arena, const tg_file_sizes *sizes)
{
    static const char *const NAMES[] = {"min", "max", "avg", "totalFiles", "totalSize"};
    const tg_value none = tg_value_null(tg_type_of(TG_TYPE_BIGINT));
    const tg_value values[] = {
        sizes->count ? bigint(sizes->min) : none,
        sizes->count ? bigint(sizes->max) : none,
        tg_value_double(tg_type_of(TG_TYPE_DOUBLE),
                        sizes->count ? (double)sizes->bytes / (double)sizes->count : 0),
        bigint(sizes->count),
        bigint(sizes->bytes),
    };
    return named_struct(arena, NAMES, values, sizeof(values) / sizeof(*values));
}

static void show_optimized(tg_execution *ex, const tg_location *location,
                           const tg_optimize_result *result)
{
    static const char *const NAMES[] = {"numFilesAdded",        "numFilesRemoved",     "filesAdded",
                                        "filesRemoved",         "partitionsOptimized", "numBatches",
                                        "totalConsideredFiles", "totalFilesSkipped"};
    const tg_value metrics[] = {
        bigint(result->added.count),
        bigint(result->removed.count),
        sizes_value(ex->arena, &result->added),
        sizes_value(ex->arena, &result->removed),
        bigint(result->partitions),
        bigint(result->batches),
        bigint(result->considered_files),
        bigint(result->skipped_files),
    };
    tg_value *row = TG_NEW_ARRAY(ex->arena, tg_value, 2);
    row[0] = tg_string_value(location->path);
    row[1] = named_struct(ex->arena, NAMES, metrics, sizeof(metrics) / sizeof(*metrics));
    tg_field *fields = TG_NEW_ARRAY(ex->arena, tg_field, 2);
    fields[0] = (tg_field){.name = TG_S("path"), .type = row[0].type, .nullable = true};
    fields[1] = (tg_field){.name = TG_S("metrics"), .type = row[1].type, .nullable = true};
    ex->result->schema = (tg_schema){.fields = fields, .count = 2};
    ex->result->values = row;
    ex->result->row_count = 1;
}

tg_code tg_api_run_optimize(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_engine *engine = ex->api->engine;
    if (stmt->command->name_count) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "ZORDER BY is not available in this release");
        (void)tg_error_at(err, stmt->command->names[0].span);
        return tg_error_hint(err,
                             "ALTER TABLE ... CLUSTER BY (...) sorts what is written, and what "
                             "OPTIMIZE rewrites.");
    }
    if (!engine->optimize) {
        return refuse_engine(ex, "OPTIMIZE", err);
    }
    for (int attempt = 1;; attempt++) {
        tg_location location;
        tg_optimize options;
        tg_optimize_result result;
        TG_TRY(prepare_optimize(ex, &location, &options, err));
        tg_code code =
            engine->optimize(engine->self, location.path, &options, ex->arena, &result, err);
        if (code == TG_OK) {
            show_optimized(ex, &location, &result);
            return TG_OK;
        }
        if (code != TG_CONFLICT || attempt == TG_LIMIT_COMMIT_ATTEMPTS ||
            tg_env_is_cancelled(&ex->api->own_env)) {
            return tg_error_context(err, "while optimizing %.*s", TG_SARG(location.full_name));
        }
        tg_error_clear(err);
    }
}

/* ---- VACUUM ---------------------------------------------------------------------------------- */

static tg_code retain_ms(tg_execution *ex, int64_t *out, tg_error *err)
{
    const tg_table_command *command = ex->stmt->command;
    double ms = command->retain_hours * 3600 * 1000;
    *out = -1;
    if (!command->has_retain) {
        return TG_OK;
    }
    if (!(ms >= 0 && ms < 9e15)) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "RETAIN is too long");
        return tg_error_at(err, command->retain_span);
    }
    *out = (int64_t)ms;
    return TG_OK;
}

tg_code tg_api_run_vacuum(tg_execution *ex, tg_error *err)
{
    static const char *const NAMES[] = {"path"};
    const tg_stmt *stmt = ex->stmt;
    tg_engine *engine = ex->api->engine;
    tg_location location;
    tg_table_facts facts;
    tg_vacuum_result result;
    tg_vacuum options = {.checks_retention = !ex->api->skips_retention_check,
                         .dry_run = stmt->command->dry_run};
    if (!engine->vacuum) {
        return refuse_engine(ex, "VACUUM", err);
    }
    TG_TRY(retain_ms(ex, &options.retain_ms, err));
    TG_TRY(tg_execution_existing_target(ex, &stmt->name, &location, &facts, err));
    tg_code code = engine->vacuum(engine->self, location.path, &options, ex->arena, &result, err);
    if (code != TG_OK) {
        if (err && err->cls == TG_E_TIDEGATE_VACUUM_RETENTION_TOO_SHORT) {
            return tg_error_at(err, stmt->command->retain_span);
        }
        return tg_error_context(err, "while vacuuming %.*s", TG_SARG(location.full_name));
    }
    size_t count = options.dry_run ? result.file_count : 1;
    tg_value *rows = TG_NEW_ARRAY(ex->arena, tg_value, count);
    for (size_t i = 0; i < count; i++) {
        rows[i] = tg_string_value(options.dry_run
                                      ? tg_path_join(ex->arena, location.path, result.files[i])
                                      : location.path);
    }
    tg_execution_set_rows(ex, NAMES, 1, rows, count);
    ex->result->note =
        tg_arena_printf(ex->arena, "%s %zu file%s, %lld bytes, in %lld folder%s",
                        options.dry_run ? "would delete" : "deleted", result.file_count,
                        result.file_count == 1 ? "" : "s", (long long)result.bytes,
                        (long long)result.folders, result.folders == 1 ? "" : "s");
    return TG_OK;
}
