/* SPDX-License-Identifier: Apache-2.0 */
/* ALTER and DROP of streaming tables and materialized views. */
#include "api/standalone.h"
#include "pipeline/schedule.h"

/* ---- ALTER ----------------------------------------------------------------------------------- */

/* The words of a change that databases with masks, tags and filters have: refused by name. */
static const char *what_is_asked(tg_str rest)
{
    static const struct {
        const char *words, *what;
    } known[] = {
        {"ALTER COLUMN", "a change of a column"},
        {"ADD COLUMN", "adding columns"},
        {"DROP COLUMN", "dropping columns"},
        {"RENAME", "renaming"},
        {"SET ROW FILTER", "a row filter"},
        {"DROP ROW FILTER", "a row filter"},
        {"SET TAGS", "tags"},
        {"UNSET TAGS", "tags"},
        {"SET TBLPROPERTIES", "a change of its properties"},
        {"UNSET TBLPROPERTIES", "a change of its properties"},
        {"SET OWNER", "another owner"},
        {"OWNER TO", "another owner"},
        {"CLUSTER BY", "CLUSTER BY"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (tg_str_istarts(rest, tg_str_from(known[i].words))) {
            return known[i].what;
        }
    }
    return NULL;
}

static tg_code refuse_alter(const tg_stmt *stmt, tg_error *err)
{
    bool is_view = tg_str_eq(stmt->object_word, TG_S("MATERIALIZED VIEW"));
    const char *what = what_is_asked(stmt->rest);
    if (!what) {
        (void)TG_ERR(err, PARSE_SYNTAX_ERROR, "ALTER %.*s does not know `%.*s`",
                     TG_SARG(stmt->object_word), TG_SARG(stmt->rest));
        (void)tg_error_at(err, stmt->span);
        return tg_error_hint(err, "Write ADD SCHEDULE ..., ALTER SCHEDULE ... or DROP SCHEDULE.");
    }
    if (is_view) {
        (void)TG_ERR(err, MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_INVALID_ALTER,
                     "ALTER MATERIALIZED VIEW cannot do %s", what);
    } else {
        (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_INVALID_ALTER,
                     "ALTER STREAMING TABLE cannot do %s", what);
    }
    (void)tg_error_at(err, stmt->span);
    return tg_error_hint(err,
                         "Schedules are altered; all else of a definition is said by CREATE "
                         "OR %s, which keeps the rows.",
                         is_view ? "REPLACE MATERIALIZED VIEW" : "REFRESH STREAMING TABLE");
}

static tg_code check_schedule(const tg_stmt *stmt, const tg_standalone_table *table, tg_error *err)
{
    bool has_one = table->own.schedule.len > 0;
    bool wants_one = stmt->alter != TG_ALTER_ADD_SCHEDULE;
    if (has_one == wants_one) {
        return TG_OK;
    }
    (void)TG_ERR(err, TIDEGATE_INVALID_SCHEDULE, "%.*s has %s schedule",
                 TG_SARG(table->location.full_name), has_one ? "a" : "no");
    (void)tg_error_at(err, stmt->name.span);
    return tg_error_hint(err, has_one ? "Write ALTER SCHEDULE instead of ADD SCHEDULE."
                                      : "Write ADD SCHEDULE to give it one.");
}

static tg_code alter_once(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_standalone_table table;
    TG_TRY(tg_standalone_find_dataset(ex, &stmt->name, stmt->object_word, "altered", &table, err));
    TG_TRY(check_schedule(stmt, &table, err));
    tg_str schedule = tg_standalone_schedule_text(ex, stmt->clauses.schedule);
    TG_TRY(tg_standalone_set_property(ex, &table, TG_PROPERTY_SCHEDULE, schedule, err));
    tg_standalone_note_schedule(ex, schedule);
    ex->result->message =
        tg_arena_printf(ex->arena, "%.*s: schedule %.*s", TG_SARG(table.location.full_name),
                        TG_SARG(tg_standalone_schedule_shown(ex, schedule)));
    return TG_OK;
}

tg_code tg_api_run_alter(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    if (stmt->alter == TG_ALTER_OTHER) {
        return refuse_alter(stmt, err);
    }
    if (stmt->alter != TG_ALTER_DROP_SCHEDULE &&
        tg_schedule_check(stmt->clauses.schedule, ex->arena, err) != TG_OK) {
        return tg_error_at(err, stmt->clauses.schedule_span);
    }
    return alter_once(ex, err);
}

/* ---- DROP ------------------------------------------------------------------------------------ */

static tg_code check_kind(const tg_stmt *stmt, const tg_location *location, const tg_ownership *own,
                          tg_error *err)
{
    tg_str word = stmt->object_word;
    bool is_view = tg_str_eq(own->kind, TG_S("MATERIALIZED_VIEW"));
    bool is_streaming = tg_str_eq(own->kind, TG_S("STREAMING_TABLE"));
    const char *is = is_view        ? "a materialized view"
                     : is_streaming ? "a streaming table"
                                    : "a table";
    const char *write = is_view ? "MATERIALIZED VIEW" : is_streaming ? "STREAMING TABLE" : "TABLE";
    if (tg_str_eq(word, TG_S("MATERIALIZED VIEW")) && !is_view) {
        (void)TG_ERR(err, MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_NON_MATERIALIZED_VIEW,
                     "%.*s is %s, not a materialized view", TG_SARG(location->full_name), is);
    } else if (tg_str_eq(word, TG_S("STREAMING TABLE")) && !is_streaming) {
        (void)TG_ERR(err, STREAMING_TABLE_OPERATION_NOT_ALLOWED_NON_STREAMING_TABLE,
                     "%.*s is %s, not a streaming table", TG_SARG(location->full_name), is);
    } else {
        return TG_OK; /* DROP TABLE takes both kinds, as it takes views */
    }
    (void)tg_error_at(err, stmt->name.span);
    return tg_error_hint(err, "Write DROP %s.", write);
}

/* What a pipeline defines is its own; what it does not define any more may go. */
static tg_code check_droppable(tg_execution *ex, const tg_location *location,
                               const tg_ownership *own, tg_error *err)
{
    if (!location->is_managed) {
        TG_ERR(err, UNSUPPORTED_FEATURE,
               "%.*s is not managed by this warehouse: DROP would delete its files",
               TG_SARG(location->full_name));
        return tg_error_hint(err, "Remove the folder yourself if that is what you want.");
    }
    tg_remembered known;
    TG_TRY(tg_standalone_remembered(ex, location->full_name, own->owner, &known, err));
    if (own->owner.len > 0 && !own->is_standalone && known.since.len == 0) {
        bool is_view = tg_str_eq(own->kind, TG_S("MATERIALIZED_VIEW"));
        (void)tg_error_set(err,
                           is_view ? TG_E_MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED_DROP
                                   : TG_E_STREAMING_TABLE_OPERATION_NOT_ALLOWED_DROP,
                           __FILE__, __LINE__,
                           "table %.*s belongs to a pipeline and cannot be dropped by a statement",
                           TG_SARG(location->full_name));
        return tg_error_hint(err,
                             "Remove its definition from the pipeline and run it: the table is "
                             "inactive then, and can be dropped in a session of the pipeline.");
    }
    return TG_OK;
}

/*
 * The table goes first: a crash in between leaves a folder of events that nothing names, never a
 * table without its events.
 */
static tg_code drop(tg_execution *ex, const tg_location *location, const tg_table_facts *facts,
                    tg_error *err)
{
    tg_engine *engine = ex->api->engine;
    TG_TRY(engine->drop(engine->self, location->path, err));
    if (tg_ownership_of(facts).is_standalone) {
        tg_str state = tg_path_join(
            ex->arena, tg_path_join(ex->arena, ex->api->catalog.warehouse, TG_S(".tidegate")),
            facts->table_id);
        bool exists;
        TG_TRY(tg_fs_exists(ex->api->fs, state, &exists, err));
        if (exists) {
            TG_TRY_CTX(tg_fs_remove_tree(ex->api->fs, state, err), err,
                       "the table is dropped; while removing its events");
        }
    }
    return TG_OK;
}

tg_code tg_api_drop_dataset(tg_execution *ex, tg_error *err)
{
    const tg_stmt *stmt = ex->stmt;
    tg_str word = stmt->object_word;
    if (tg_str_eq(word, TG_S("SCHEMA"))) {
        TG_ERR(err, UNSUPPORTED_FEATURE, "DROP %.*s is not available in this release",
               TG_SARG(word));
        return tg_error_at(err, stmt->span);
    }
    tg_location location;
    tg_table_facts facts;
    TG_TRY(tg_execution_target(ex, &stmt->name, &location, &facts, err));
    if (!facts.exists) {
        return stmt->if_exists ? TG_OK
                               : tg_catalog_not_found(&ex->api->catalog, &stmt->name, NULL, 0, err);
    }
    tg_ownership own = tg_ownership_of(&facts);
    TG_TRY(check_kind(stmt, &location, &own, err));
    TG_TRY(check_droppable(ex, &location, &own, err));
    TG_TRY(drop(ex, &location, &facts, err));
    if (ex->api->spec) {
        tg_inactive_forget(ex->api->spec, ex->api->fs, location.full_name);
    }
    ex->result->message =
        tg_arena_printf(ex->arena, "dropped %s %.*s",
                        tg_str_eq(own.kind, TG_S("MATERIALIZED_VIEW")) ? "materialized view"
                        : tg_str_eq(own.kind, TG_S("STREAMING_TABLE")) ? "streaming table"
                                                                       : "table",
                        TG_SARG(location.full_name));
    return TG_OK;
}
