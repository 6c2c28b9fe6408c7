/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: one database for an engine and its siblings, one connection per call, statements that
 * can be cancelled.
 *
 * Every call has a connection of its own because a stream that is being read must survive the next
 * call, and because the session zone belongs to the call; so siblings share nothing that a call
 * sets. A connection costs about 0.1 ms.
 */
#include "engine/duckdb/duckdb_int.h"
#include "engine/duckdb/udf.h"

static tg_code set_option(duckdb_config config, const char *name, const char *value, tg_error *err)
{
    if (tg_duckdb.set_config(config, name, value) != DuckDBSuccess) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                "DuckDB does not accept the value \"%s\" of its setting %s", value, name);
    }
    return TG_OK;
}

static tg_code set_options(tg_duckdb_instance *instance, duckdb_config config, tg_error *err)
{
    /*
     * What a query means must not depend on what is found in a folder of extensions or in the
     * network.
     */
    TG_TRY(set_option(config, "autoload_known_extensions", "false", err));
    TG_TRY(set_option(config, "autoinstall_known_extensions", "false", err));
    TG_TRY(set_option(config, "temp_directory", tg_str_cstr(instance->arena, instance->temp_folder),
                      err));
    /*
     * SQL promises no order without ORDER BY; not keeping it lets Parquet be written in parallel
     * and with less memory.
     */
    TG_TRY(set_option(config, "preserve_insertion_order", "false", err));
    if (instance->threads > 0) {
        TG_TRY(set_option(config, "threads",
                          tg_arena_printf(instance->arena, "%d", instance->threads), err));
    }
    if (instance->memory_limit.len) {
        const char *limit = tg_str_cstr(instance->arena, instance->memory_limit);
        if (tg_duckdb.set_config(config, "memory_limit", limit) != DuckDBSuccess) {
            (void)TG_ERR(err, TIDEGATE_INVALID_SETTING,
                         "memory_limit \"%s\" is not an amount of memory", limit);
            return tg_error_hint(err, "Write a number and a unit, such as 4GB or 800MB.");
        }
    }
    return TG_OK;
}

static tg_code open_configured(duckdb_config config, duckdb_database *out_database, tg_error *err)
{
    char *message = NULL;
    if (tg_duckdb.open_ext(NULL, out_database, config, &message) != DuckDBSuccess) {
        (void)tg_duckdb_error(err, message ? message : "could not open an in-memory database");
        tg_duckdb.free(message);
        return tg_error_context(err, "while starting DuckDB");
    }
    return TG_OK;
}

static tg_code open_database(const tg_env *env, tg_duckdb_instance *instance, tg_error *err)
{
    TG_TRY(tg_duckdb_api_load(env, err));
    if (!instance->temp_folder.len) {
        /* DuckDB makes the folder when it spills and removes it at the end. */
        const char *base = env->getenv(env->self, "TMPDIR");
        char id[37];
        env->uuid(env->self, id);
        instance->temp_folder = tg_str_printf(instance->arena, "%s/tidegate-%s",
                                              base && base[0] == '/' ? base : "/tmp", id);
    }
    duckdb_config config = NULL;
    if (tg_duckdb.create_config(&config) != DuckDBSuccess) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "DuckDB could not make its settings");
    }
    duckdb_database database = NULL;
    tg_code code = set_options(instance, config, err);
    if (code == TG_OK) {
        code = open_configured(config, &database, err);
    }
    tg_duckdb.destroy_config(&config);
    TG_TRY(code);
    code = tg_duckdb_watcher_start(instance, err);
    if (code != TG_OK) {
        tg_duckdb.close(&database);
        return code;
    }
    instance->database = database;
    return TG_OK;
}

/* Settings and functions that every connection of the database has. */
static tg_code prepare_database(tg_duckdb_session *session, tg_error *err)
{
    TG_TRY(tg_duckdb_execute(session, TG_S("SET GLOBAL TimeZone = 'UTC'"), err));
    TG_TRY(tg_duckdb_take_share(session, session->engine->instance->share, err));
    return tg_duckdb_udf_register(session->connection, err);
}

/*
 * DuckDB's name of a zone. It knows region names and whole hours ("Etc/GMT-2" is two hours east);
 * "UTC+05:30" it takes for five hours without a word and "GMT+2" not at all, so offsets are written
 * our way whatever stands before them, and others are refused here.
 */
static tg_code zone_setting(const tg_zone *zone, tg_buf *out, tg_error *err)
{
    tg_str name = tg_zone_name(zone);
    int32_t seconds = tg_zone_offset_at(zone, 0);
    if (!tg_zone_is_fixed(zone) || seconds == 0) {
        tg_duckdb_put_string(out, tg_zone_is_fixed(zone) ? TG_S("UTC") : name);
        return TG_OK;
    }
    int32_t hours = seconds / 3600;
    if (seconds % 3600 || hours < -12 || hours > 14) {
        (void)TG_ERR(
            err, UNSUPPORTED_FEATURE,
            "the time zone offset %.*s is not available: only whole hours from -12 to +14 are",
            TG_SARG(name));
        return tg_error_hint(err, "Use the name of a region, such as Asia/Kolkata for +05:30.");
    }
    tg_buf_addf(out, "'Etc/GMT%s%d'", hours > 0 ? "-" : "+", hours > 0 ? hours : -hours);
    return TG_OK;
}

tg_code tg_duckdb_check_zone(void *self, const tg_zone *zone, tg_error *err)
{
    (void)self;
    tg_auto_buf tg_buf setting = TG_BUF_INIT;
    return zone_setting(zone, &setting, err);
}

static tg_code set_zone(tg_duckdb_session *session, const tg_zone *zone, tg_error *err)
{
    tg_auto_buf tg_buf sql = TG_BUF_INIT;
    tg_buf_addz(&sql, "SET TimeZone = ");
    TG_TRY(zone_setting(zone, &sql, err));
    return tg_duckdb_execute(session, tg_buf_str(&sql), err);
}

static tg_code connect_to(duckdb_database database, tg_duckdb_session *session, tg_error *err)
{
    if (tg_duckdb.connect(database, &session->connection) != DuckDBSuccess) {
        TG_FAIL(err, TIDEGATE_ENGINE_ERROR, "could not connect to the in-memory database");
    }
    return TG_OK;
}

/* Opens the database and leaves it prepared, or closed: then the next call starts over. */
static tg_code connect_first(tg_duckdb_session *session, tg_error *err)
{
    tg_duckdb_instance *instance = session->engine->instance;
    TG_TRY(open_database(session->engine->env, instance, err));
    tg_code code = connect_to(instance->database, session, err);
    if (code == TG_OK) {
        code = prepare_database(session, err);
    }
    if (code != TG_OK) {
        tg_duckdb_session_close(session);
        tg_duckdb.close(&instance->database);
    }
    return code;
}

tg_code tg_duckdb_session_open(tg_duckdb_engine *engine, const tg_zone *zone,
                               tg_duckdb_session *out_session, tg_error *err)
{
    tg_duckdb_instance *instance = engine->instance;
    tg_duckdb_session session = {.engine = engine};
    atomic_store(&engine->seen_cancels, atomic_load(&instance->cancel_count));
    (void)pthread_mutex_lock(&instance->lock); /* a sibling must not meet it half prepared */
    tg_code code = instance->database ? connect_to(instance->database, &session, err)
                                      : connect_first(&session, err);
    (void)pthread_mutex_unlock(&instance->lock);
    TG_TRY(code);
    if (zone && !tg_str_eq(tg_zone_name(zone), TG_S("UTC"))) {
        code = set_zone(&session, zone, err);
    }
    if (code != TG_OK) {
        tg_duckdb_session_close(&session);
        return code;
    }
    *out_session = session;
    return TG_OK;
}

void tg_duckdb_session_close(tg_duckdb_session *session)
{
    if (!session->connection) {
        return;
    }
    tg_duckdb_unwatch(session->engine, session->connection);
    tg_duckdb.disconnect(&session->connection);
    tg_duckdb_deleted_release(session);
}

bool tg_duckdb_is_cancelled(tg_duckdb_engine *engine)
{
    return atomic_load(&engine->instance->cancel_count) != atomic_load(&engine->seen_cancels) ||
           tg_env_is_cancelled(engine->env);
}

tg_code tg_duckdb_check_cancelled(tg_duckdb_engine *engine, tg_error *err)
{
    if (tg_duckdb_is_cancelled(engine)) {
        TG_FAIL(err, TIDEGATE_CANCELLED, "interrupted");
    }
    return TG_OK;
}

/* ---- statements ------------------------------------------------------------------------------ */

tg_code tg_duckdb_prepare(tg_duckdb_session *session, tg_str sql,
                          duckdb_prepared_statement *out_statement, tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_adds(&text, sql);
    duckdb_prepared_statement statement = NULL;
    if (tg_duckdb.prepare(session->connection, tg_buf_cstr(&text), &statement) != DuckDBSuccess) {
        const char *message = tg_duckdb.prepare_error(statement);
        tg_code code = tg_duckdb_error(err, message ? message : "could not prepare a statement");
        tg_duckdb.destroy_prepare(&statement);
        return code;
    }
    *out_statement = statement;
    return TG_OK;
}

tg_code tg_duckdb_run(tg_duckdb_session *session, tg_str sql, bool is_streaming,
                      duckdb_result *out_result, tg_error *err)
{
    TG_TRY(tg_duckdb_check_cancelled(session->engine, err));
    duckdb_prepared_statement statement = NULL;
    TG_TRY(tg_duckdb_prepare(session, sql, &statement, err));
    duckdb_result result;
    tg_duckdb_watch(session->engine, session->connection);
    duckdb_state state = is_streaming ? tg_duckdb.execute_prepared_streaming(statement, &result)
                                      : tg_duckdb.execute_prepared(statement, &result);
    tg_code code = TG_OK;
    if (state == DuckDBSuccess) {
        *out_result = result;
    } else {
        const char *message = tg_duckdb.result_error(&result);
        code = tg_duckdb_error(err, message ? message : "the query failed without a message");
        tg_duckdb.destroy_result(&result);
    }
    tg_duckdb.destroy_prepare(&statement);
    if (!is_streaming || code != TG_OK) {
        tg_duckdb_unwatch(session->engine, session->connection);
    }
    return code;
}

tg_code tg_duckdb_execute(tg_duckdb_session *session, tg_str sql, tg_error *err)
{
    duckdb_result result;
    TG_TRY(tg_duckdb_run(session, sql, false, &result, err));
    tg_duckdb.destroy_result(&result);
    return TG_OK;
}

tg_code tg_duckdb_fetch(tg_duckdb_session *session, duckdb_result *result,
                        duckdb_data_chunk *out_chunk, tg_error *err)
{
    TG_TRY(tg_duckdb_check_cancelled(session->engine, err));
    tg_duckdb_watch(
        session->engine,
        session
            ->connection); /* until the session ends: another one may have run between two chunks */
    duckdb_data_chunk chunk = tg_duckdb.fetch_chunk(*result);
    if (!chunk) {
        const char *message = tg_duckdb.result_error(result);
        if (message && message[0]) {
            return tg_duckdb_error(err, message);
        }
    }
    *out_chunk = chunk;
    return TG_OK;
}
