/* SPDX-License-Identifier: Apache-2.0 */
/* See lab.h. */
#include "unit/engine/duckdb/lab.h"

static const int64_t now_us = INT64_C(1704067200000000); /* 2024-01-01 00:00:00 UTC */

int lab_setup(void **state)
{
    tg_arena *arena = tg_arena_new();
    lab *l = TG_NEW(arena, lab);
    l->arena = arena;
    l->folder = tg_str_from(tg_test_folder(arena));
    l->engine = tg_engine_duckdb_new(&(tg_engine_duckdb_options){0});
    l->zone = tg_zone_utc();
    l->delta = (tg_delta){.fs = tg_fs_local(), .env = tg_env_system()};
    *state = l;
    return 0;
}

int lab_teardown(void **state)
{
    lab *l = *state;
    l->engine->close(l->engine->self);
    tg_error_dispose(&l->error);
    tg_arena_free(l->arena);
    return 0;
}

tg_str lab_path(lab *l, const char *table)
{
    return tg_path_join(l->arena, l->folder, tg_str_from(table));
}

void lab_file(lab *l, const char *name, const char *content)
{
    assert_ok(
        tg_fs_write_replace(tg_fs_local(), lab_path(l, name), tg_str_from(content), &l->error),
        &l->error);
}

/* ---- binding --------------------------------------------------------------------------------- */

/* The file ids-N, when the name asks for it and it is not there yet. */
static tg_code make_ids(lab *l, tg_str name, tg_arena *arena, tg_error *err)
{
    int64_t count;
    bool exists;
    if (!tg_str_starts(name, TG_S("ids-")) ||
        !tg_str_to_i64(tg_str_sub(name, 4, name.len), &count)) {
        return TG_OK;
    }
    tg_str path = tg_path_join(arena, l->folder, name);
    TG_TRY(tg_fs_exists(tg_fs_local(), path, &exists, err));
    if (exists) {
        return TG_OK;
    }
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (int64_t i = 0; i < count; i++) {
        tg_buf_addf(&text, "{\"id\":%lld}\n", (long long)i);
    }
    return tg_fs_write_replace(tg_fs_local(), path, tg_buf_str(&text), err);
}

static tg_code resolve(void *self, const tg_relation *relation, tg_arena *arena, tg_resolved *out,
                       tg_error *err)
{
    lab *l = self;
    tg_table_format format = TG_FORMAT_DELTA;
    tg_str name = relation->name.parts[relation->name.count - 1].text;
    if (relation->name.count == 2) {
        tg_str word = relation->name.parts[0].text;
        format = tg_str_ieq(word, TG_S("csv"))       ? TG_FORMAT_CSV
                 : tg_str_ieq(word, TG_S("json"))    ? TG_FORMAT_JSON
                 : tg_str_ieq(word, TG_S("parquet")) ? TG_FORMAT_PARQUET
                                                     : TG_FORMAT_DELTA;
    }
    TG_TRY(make_ids(l, name, arena, err));
    *out = (tg_resolved){0};
    int64_t version = relation->version ? relation->version->literal.as.i64 : -1;
    return l->engine->describe(l->engine->self, format, tg_path_join(arena, l->folder, name),
                               version, l->options, l->option_count, name, arena, &out->table, err);
}

static tg_code bind(lab *l, const char *sql, tg_bound_query *out, tg_error *err)
{
    tg_resolver resolver = {.resolve = resolve, .self = l};
    tg_bind_options options = {.resolver = &resolver, .now_us = now_us, .zone = l->zone};
    tg_query *query;
    TG_TRY(tg_sql_parse_query(tg_str_from(sql), l->arena, &query, err));
    return tg_sql_bind_query(query, &options, l->arena, out, err);
}

tg_bound_query lab_bind(lab *l, const char *sql)
{
    tg_bound_query bound;
    assert_ok(bind(l, sql, &bound, &l->error), &l->error);
    return bound;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The Arrow formats that tests need. */
static void put_cell(lab *l, const char *format, const struct ArrowArray *array, int64_t row,
                     tg_buf *out)
{
    const uint8_t *validity = array->buffers[0];
    int64_t at = row + array->offset;
    if (validity && !(validity[at / 8] >> (at % 8) & 1)) {
        tg_buf_addz(out, "NULL");
    } else if (strcmp(format, "u") == 0) {
        const int32_t *offsets = array->buffers[1];
        tg_buf_add(out, (const char *)array->buffers[2] + offsets[at],
                   (size_t)(offsets[at + 1] - offsets[at]));
    } else if (strcmp(format, "i") == 0) {
        tg_buf_addf(out, "%d", ((const int32_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "l") == 0) {
        tg_buf_addf(out, "%lld", (long long)((const int64_t *)array->buffers[1])[at]);
    } else if (strcmp(format, "g") == 0) {
        tg_buf_addf(out, "%g", ((const double *)array->buffers[1])[at]);
    } else if (strcmp(format, "tdD") == 0) {
        tg_buf_adds(out, tg_date_text(l->arena, ((const int32_t *)array->buffers[1])[at]));
    } else {
        fail_msg("no cells of format %s here", format);
    }
}

static void put_rows(lab *l, const struct ArrowSchema *schema, const struct ArrowArray *array,
                     tg_buf *out)
{
    for (int64_t row = 0; row < array->length; row++) {
        tg_buf_addz(out, out->len ? ";" : "");
        for (int64_t i = 0; i < array->n_children; i++) {
            tg_buf_addz(out, i ? "|" : "");
            put_cell(l, schema->children[i]->format, array->children[i], row, out);
        }
    }
}

static tg_code read_stream(lab *l, struct ArrowArrayStream *stream, tg_buf *out, tg_error *err)
{
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema) != 0) {
        return l->engine->fetch_error(l->engine->self, stream, err);
    }
    tg_code code = TG_OK;
    for (;;) {
        struct ArrowArray array;
        if (stream->get_next(stream, &array) != 0) {
            code = l->engine->fetch_error(l->engine->self, stream, err);
            break;
        }
        if (!array.release) {
            break;
        }
        put_rows(l, &schema, &array, out);
        array.release(&array);
    }
    schema.release(&schema);
    return code;
}

static tg_code run_query(lab *l, const char *sql, tg_buf *out, tg_error *err)
{
    tg_bound_query bound;
    TG_TRY(bind(l, sql, &bound, err));
    tg_engine_context context = {.zone = l->zone, .now_us = now_us};
    struct ArrowArrayStream stream;
    TG_TRY(l->engine->query(l->engine->self, &context, bound.rel, &stream, err));
    tg_code code = read_stream(l, &stream, out, err);
    stream.release(&stream);
    return code;
}

tg_str lab_rows(lab *l, const char *sql)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    assert_ok(run_query(l, sql, &out, &l->error), &l->error);
    return tg_str_copy(l->arena, tg_buf_str(&out));
}

tg_code lab_fail(lab *l, const char *sql)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_error_clear(&l->error);
    tg_code code = run_query(l, sql, &out, &l->error);
    assert_int_not_equal(code, TG_OK);
    return code;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void set_new_target(lab *l, const lab_write *write, tg_program_target *target,
                           const tg_rel *rel)
{
    char *id = tg_arena_alloc(l->arena, 37);
    tg_env_system()->uuid(tg_env_system()->self, id);
    target->table_id = tg_str_from(id);
    target->read_version = -1;
    if (!write->columns) {
        assert_non_null(rel);
        assert_ok(tg_sql_output_schema(rel, l->arena, &target->schema, &l->error), &l->error);
    }
    if (write->partition_by) {
        tg_str *columns = TG_NEW_ARRAY(l->arena, tg_str, 1);
        columns[0] = tg_str_from(write->partition_by);
        target->partition_columns = columns;
        target->partition_count = 1;
    }
}

static void set_target(lab *l, const lab_write *write, tg_program_target *target, const tg_rel *rel)
{
    target->name = tg_str_from(write->table);
    target->path = lab_path(l, write->table);
    tg_table_facts facts;
    assert_ok(l->engine->table_facts(l->engine->self, target->path, l->arena, &facts, &l->error),
              &l->error);
    if (!facts.exists) {
        set_new_target(l, write, target, rel);
    } else {
        target->table_id = facts.table_id;
        target->read_version = facts.version;
        target->schema = facts.schema;
        target->partition_columns = facts.partition_columns;
        target->partition_count = facts.partition_count;
        target->properties = facts.properties;
        target->property_count = facts.property_count;
    }
    if (write->columns) {
        assert_ok(
            tg_sql_parse_columns(tg_str_from(write->columns), l->arena, &target->schema, &l->error),
            &l->error);
        target->changes_metadata = true;
    }
}

static void set_predicate(lab *l, const lab_write *write, tg_schema schema, tg_step *step)
{
    step->region = tg_region_all();
    if (!write->where) {
        return;
    }
    tg_expr *expr;
    assert_ok(tg_sql_parse_expression(tg_str_from(write->where), l->arena, &expr, &l->error),
              &l->error);
    tg_bind_options options = {.now_us = now_us, .zone = l->zone};
    tg_bexpr *predicate;
    bool has_time, is_deterministic;
    assert_ok(tg_sql_bind_predicate(expr, schema, NULL, 0, &options, l->arena, &predicate,
                                    &has_time, &is_deterministic, &l->error),
              &l->error);
    step->predicate = tg_sql_fold(predicate, l->zone, l->arena);
    step->region = tg_sql_region(step->predicate, schema, l->zone, l->arena);
}

const tg_program *lab_program(lab *l, const lab_write *write)
{
    tg_program *program = TG_NEW(l->arena, tg_program);
    tg_rel *rel = write->query ? lab_bind(l, write->query).rel : NULL;
    set_target(l, write, &program->target, rel);
    if (rel) {
        assert_ok(tg_sql_project_by_name(rel, program->target.schema, l->arena, &rel, &l->error),
                  &l->error);
    }
    tg_step *steps = TG_NEW_ARRAY(l->arena, tg_step, 2);
    steps[0].rel = rel;
    steps[0].kind = write->is_append ? TG_STEP_APPEND : TG_STEP_REPLACE;
    if (!write->is_append) {
        set_predicate(l, write, program->target.schema, &steps[0]);
    }
    steps[1].kind = TG_STEP_COMMIT;
    program->steps = steps;
    program->step_count = 2;
    program->operation = TG_S("WRITE");
    program->app_id = write->app_id ? tg_str_from(write->app_id) : TG_S("");
    program->zone = l->zone;
    program->now_us = now_us;
    return program;
}

tg_run_result lab_run(lab *l, const lab_write *write)
{
    tg_run_result result;
    assert_ok(l->engine->run(l->engine->self, lab_program(l, write), write->hooks, l->arena,
                             &result, &l->error),
              &l->error);
    return result;
}

tg_code lab_run_fail(lab *l, const lab_write *write)
{
    tg_run_result result;
    tg_error_clear(&l->error);
    tg_code code = l->engine->run(l->engine->self, lab_program(l, write), write->hooks, l->arena,
                                  &result, &l->error);
    assert_int_not_equal(code, TG_OK);
    return code;
}

tg_run_result lab_append(lab *l, const char *table, const char *query)
{
    return lab_run(l, &(lab_write){.table = table, .query = query, .is_append = true});
}

tg_run_result lab_replace(lab *l, const char *table, const char *where, const char *query)
{
    return lab_run(l, &(lab_write){.table = table, .query = query, .where = where});
}

/* ---- looking --------------------------------------------------------------------------------- */

const tg_delta_snapshot *lab_snapshot(lab *l, const char *table)
{
    const tg_delta_snapshot *snapshot;
    assert_ok(
        tg_delta_snapshot_load(&l->delta, lab_path(l, table), -1, l->arena, &snapshot, &l->error),
        &l->error);
    return snapshot;
}

size_t lab_files_on_disk(lab *l, const char *table)
{
    tg_str *paths;
    size_t count, data_files = 0;
    tg_str pattern = tg_path_join(l->arena, lab_path(l, table), TG_S("**"));
    assert_ok(
        tg_fs_glob(tg_fs_local(), pattern, TG_GLOB_PLAIN, l->arena, &paths, &count, &l->error),
        &l->error);
    for (size_t i = 0; i < count; i++) {
        data_files += tg_str_ends(paths[i], TG_S(".parquet")) &&
                      tg_str_find(paths[i], TG_S("_delta_log"), 0) == SIZE_MAX;
    }
    return data_files;
}
