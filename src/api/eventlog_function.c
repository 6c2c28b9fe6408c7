/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_log() in SQL: the rows of the event-log table, and the events that are still in files.
 *
 * The files are copied first, to a temporary file that lives as long as the statement, and the table
 * is pinned afterwards: what is folded in between stands in both, and is taken once, by its id.
 */
#include "api/eventlog_int.h"

/* ---- whose ----------------------------------------------------------------------------------- */

static tg_code need_spec(const tg_execution *ex, tg_error *err)
{
    if (ex->api->spec) {
        return TG_OK;
    }
    TG_ERR(err, UNSUPPORTED_FEATURE,
           "event_log needs the pipeline's spec: its newest events lie in the storage folder that "
           "the spec names");
    return tg_error_hint(err, "Use tidegate sql --spec PATH, or a folder below the spec.");
}

static tg_code check_pipeline(const tg_execution *ex, const tg_event_table *table, tg_str wanted,
                              tg_error *err)
{
    const tg_str known[] = {ex->api->spec->name, table->pipeline_id};
    if (tg_str_eq(wanted, known[0]) || (known[1].len > 0 && tg_str_ieq(wanted, known[1]))) {
        return TG_OK;
    }
    TG_ERR(err, TIDEGATE_UNKNOWN_PIPELINE,
           "'%.*s' is neither the name nor the id of this session's pipeline", TG_SARG(wanted));
    if (known[1].len == 0) {
        return tg_error_hint(err, "Its name is '%.*s'; it has no id before its first run.",
                             TG_SARG(known[0]));
    }
    return tg_error_hint(err,
                         "Its name is '%.*s', its id '%.*s'. For another pipeline, use --spec.",
                         TG_SARG(known[0]), TG_SARG(known[1]));
}

static tg_code check_table(tg_execution *ex, const tg_event_table *table, const tg_name *name,
                           tg_error *err)
{
    tg_location location;
    tg_table_facts facts;
    TG_TRY(tg_execution_existing_target(ex, name, &location, &facts, err));
    tg_str owner = TG_S("");
    for (size_t i = 0; i < facts.property_count; i++) {
        if (tg_str_eq(facts.properties[i].key, TG_S("tidegate.pipelineId"))) {
            owner = facts.properties[i].value;
        }
    }
    if (owner.len > 0 && tg_str_eq(owner, table->pipeline_id)) {
        return TG_OK;
    }
    if (owner.len == 0) {
        TG_FAIL(err, TIDEGATE_UNKNOWN_PIPELINE,
                "no pipeline writes table %.*s: it has no event log", TG_SARG(location.full_name));
    }
    TG_ERR(err, TIDEGATE_UNKNOWN_PIPELINE, "table %.*s belongs to pipeline %.*s, not to this one",
           TG_SARG(location.full_name), TG_SARG(owner));
    return tg_error_hint(err, "Use --spec with the spec of that pipeline.");
}

/* ---- its rows -------------------------------------------------------------------------------- */

typedef struct temporary {
    const tg_fs *fs;
    tg_str path;
} temporary;

static void remove_temporary(void *object)
{
    const temporary *file = object;
    (void)tg_fs_remove(file->fs, file->path, NULL);
}

static tg_str temporary_path(tg_execution *ex)
{
    const tg_env *env = ex->api->env;
    const char *folder = env->getenv(env->self, "TMPDIR");
    char id[37];
    env->uuid(env->self, id);
    return tg_path_join(ex->arena, tg_str_from(folder && folder[0] == '/' ? folder : "/tmp"),
                        tg_str_printf(ex->arena, "tidegate-events-%s.jsonl", id));
}

static tg_code copy_files(tg_execution *ex, const tg_event_table *table, size_t *out_events,
                          tg_error *err)
{
    tg_api *api = ex->api;
    tg_diags quiet = TG_DIAGS_INIT; /* a statement has no place for warnings; tidegate logs has */
    tg_event_file *files;
    size_t count;
    tg_code code =
        tg_event_files(api->fs, api->spec->storage, ex->arena, &files, &count, &quiet, err);
    tg_diags_dispose(&quiet);
    TG_TRY(code);
    *out_events = 0;
    if (count == 0) {
        return TG_OK;
    }
    temporary *file = TG_NEW(ex->arena, temporary);
    *file = (temporary){.fs = api->fs, .path = temporary_path(ex)};
    tg_arena_defer(ex->arena, remove_temporary, file);
    TG_TRY_CTX(tg_event_table_copy(api, table, files, count, file->path, out_events, err), err,
               "while gathering events from files");
    ex->event_lines = tg_event_table_of_lines(table, file->path, ex->arena);
    return TG_OK;
}

static void put_path_table(tg_buf *sql, const char *format, tg_str path)
{
    tg_buf_addf(sql, "%s.", format);
    tg_buf_addq(sql, path, '`');
}

/* No events anywhere: no rows, of the right columns. */
static void put_nothing(tg_buf *sql, tg_schema schema, tg_arena *arena)
{
    tg_buf_addz(sql, "SELECT ");
    for (size_t i = 0; i < schema.count; i++) {
        tg_str type = tg_type_ddl(arena, schema.fields[i].type);
        tg_buf_addf(sql, "%sCAST(NULL AS %.*s) AS `%.*s`", i ? ", " : "", TG_SARG(type),
                    TG_SARG(schema.fields[i].name));
    }
    tg_buf_addz(sql, " WHERE false");
}

static tg_code make_query(tg_execution *ex, const tg_event_table *table, bool has_pipeline,
                          tg_error *err)
{
    tg_api *api = ex->api;
    size_t events = 0;
    tg_table_facts facts = {0};
    if (has_pipeline) {
        TG_TRY(copy_files(ex, table, &events, err));
        TG_TRY(api->engine->table_facts(api->engine->self, table->location.path, ex->arena, &facts,
                                        err));
    }
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    if (facts.exists) {
        tg_buf_addz(&sql, "SELECT * FROM ");
        put_path_table(&sql, "delta", table->location.path);
    }
    if (events > 0) {
        tg_buf_addz(&sql, facts.exists ? " UNION ALL SELECT * FROM " : "SELECT * FROM ");
        put_path_table(&sql, "json", ex->event_lines->path);
        tg_buf_addz(&sql, " AS f");
        if (facts.exists) {
            tg_buf_addz(&sql, " LEFT ANTI JOIN ");
            put_path_table(&sql, "delta", table->location.path);
            tg_buf_addz(&sql, " AS t ON f.id = t.id");
        }
    }
    if (sql.len == 0) {
        put_nothing(&sql, table->schema, ex->arena);
    }
    tg_query *query;
    TG_TRY(tg_sql_parse_query(tg_buf_take(&sql, ex->arena), ex->arena, &query, err));
    ex->event_log = query;
    return TG_OK;
}

tg_code tg_execution_event_log(void *self, const tg_event_log_source *source, tg_arena *arena,
                               tg_resolved *out, tg_error *err)
{
    (void)arena;
    tg_execution *ex = self;
    TG_TRY(need_spec(ex, err));
    tg_event_table table;
    bool has_pipeline;
    TG_TRY(tg_event_table_find(ex->api, ex->arena, &table, &has_pipeline, err));
    TG_TRY(source->table ? check_table(ex, &table, source->table, err)
                         : check_pipeline(ex, &table, source->pipeline, err));
    if (!ex->event_log) {
        TG_TRY(make_query(ex, &table, has_pipeline, err));
    }
    *out = (tg_resolved){.view = ex->event_log, .view_name = TG_S("event_log()")};
    return TG_OK;
}
