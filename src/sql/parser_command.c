/* SPDX-License-Identifier: Apache-2.0 */
/* SET, USE, SHOW, DESCRIBE, DROP, REFRESH, and statements that are known
 * but kept as text. */
#include "sql/parser_int.h"

/* ---- SET, USE -------------------------------------------------------------------------------- */

static tg_code parse_set(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_SET;
    if (tg_parse_word(parser, 0) == TG_KW_TIME && tg_parse_word(parser, 1) == TG_KW_ZONE) {
        tg_parse_advance(parser);
        tg_parse_advance(parser);
        stmt->key = TG_S("TIME ZONE");
        if (tg_parse_accept(parser, TG_KW_LOCAL)) {
            stmt->value = TG_S("LOCAL");
            return TG_OK;
        }
        return tg_parse_string(parser, "a time zone as string", &stmt->value);
    }
    /* key = value: both are text up to the sign and to the end */
    size_t offset = tg_parse_offset(parser);
    while (!tg_parse_at_end(parser) && tg_parse_kind(parser, 0) != TG_TOK_EQ) {
        if (tg_parse_kind(parser, 0) == TG_TOK_ERROR) {
            return tg_parse_fail(parser, NULL);
        }
        tg_parse_advance(parser);
    }
    if (parser->pos == 0 || tg_parse_offset(parser) == offset) {
        return tg_parse_fail(parser, "a setting");
    }
    stmt->key = tg_str_trim(tg_parse_text(parser, tg_parse_span_from(parser, offset)));
    if (!tg_parse_accept_token(parser, TG_TOK_EQ)) {
        return TG_OK;
    }
    if (tg_parse_kind(parser, 0) == TG_TOK_STRING &&
        (tg_parse_kind(parser, 1) == TG_TOK_END || tg_parse_kind(parser, 1) == TG_TOK_SEMICOLON)) {
        return tg_parse_string(parser, "a value", &stmt->value);
    }
    return tg_parse_rest(parser, &stmt->value);
}

static tg_code parse_use(tg_parser *parser, tg_stmt *stmt)
{
    if (tg_parse_accept(parser, TG_KW_CATALOG)) {
        stmt->kind = TG_STMT_USE_CATALOG;
        return tg_parse_name(parser, "the name of a catalog", &stmt->name);
    }
    stmt->kind = TG_STMT_USE_SCHEMA;
    if (!tg_parse_accept(parser, TG_KW_SCHEMA)) {
        (void)tg_parse_accept(parser, TG_KW_DATABASE);
    }
    return tg_parse_name(parser, "the name of a schema", &stmt->name);
}

/* ---- SHOW, DESCRIBE -------------------------------------------------------------------------- */

static tg_code parse_in_name(tg_parser *parser, tg_stmt *stmt, bool required)
{
    if (tg_parse_accept(parser, TG_KW_IN) || tg_parse_accept(parser, TG_KW_FROM)) {
        return tg_parse_name(parser, "a name", &stmt->name);
    }
    return required ? tg_parse_fail(parser, "IN or FROM") : TG_OK;
}

static tg_code parse_like_pattern(tg_parser *parser, tg_stmt *stmt)
{
    bool like = tg_parse_accept(parser, TG_KW_LIKE);
    if (like || tg_parse_kind(parser, 0) == TG_TOK_STRING) {
        return tg_parse_string(parser, "a pattern", &stmt->pattern);
    }
    return TG_OK;
}

static tg_code parse_show(tg_parser *parser, tg_stmt *stmt)
{
    bool is_views = tg_parse_word(parser, 0) == TG_KW_VIEWS;
    if (tg_parse_accept(parser, TG_KW_TABLES) || tg_parse_accept(parser, TG_KW_VIEWS)) {
        stmt->kind = is_views ? TG_STMT_SHOW_VIEWS : TG_STMT_SHOW_TABLES;
        TG_TRY(parse_in_name(parser, stmt, false));
        return parse_like_pattern(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_SCHEMAS) || tg_parse_accept(parser, TG_KW_DATABASES)) {
        stmt->kind = TG_STMT_SHOW_SCHEMAS;
        TG_TRY(parse_in_name(parser, stmt, false));
        return parse_like_pattern(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_COLUMNS)) {
        stmt->kind = TG_STMT_SHOW_COLUMNS;
        return parse_in_name(parser, stmt, true);
    }
    if (tg_parse_accept2(parser, TG_KW_CREATE, TG_KW_TABLE) ||
        tg_parse_accept2(parser, TG_KW_CREATE, TG_KW_VIEW)) {
        stmt->kind = TG_STMT_SHOW_CREATE_TABLE;
        return tg_parse_name(parser, "a table name", &stmt->name);
    }
    if (tg_parse_accept(parser, TG_KW_TBLPROPERTIES)) {
        stmt->kind = TG_STMT_SHOW_TBLPROPERTIES;
        TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
        return tg_parse_property_key(parser, stmt);
    }
    if (tg_parse_accept(parser, TG_KW_PARTITIONS)) {
        stmt->kind = TG_STMT_SHOW_PARTITIONS;
        TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
        return tg_parse_partition_spec(parser, stmt);
    }
    if (tg_parse_word(parser, 0) == TG_KW_FUNCTIONS || tg_parse_word(parser, 0) == TG_KW_CATALOGS) {
        stmt->kind = TG_STMT_OTHER;
        stmt->object_word = TG_S("SHOW");
        return tg_parse_rest(parser, &stmt->rest);
    }
    return tg_parse_fail(
        parser, "TABLES, VIEWS, SCHEMAS, COLUMNS, CREATE TABLE, TBLPROPERTIES or PARTITIONS");
}

static tg_code parse_describe(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_DESCRIBE;
    if (tg_parse_word(parser, 0) == TG_KW_FUNCTION && tg_parse_at_name(parser, 1)) {
        tg_parse_advance(parser);
        stmt->describe = TG_DESCRIBE_FUNCTION;
        return tg_parse_rest(parser, &stmt->rest);
    }
    bool query = tg_parse_word(parser, 0) == TG_KW_QUERY && tg_parse_accept(parser, TG_KW_QUERY);
    if (query || tg_parse_is_query_start(parser, 0)) {
        if (tg_parse_word(parser, 0) != TG_KW_TABLE) {
            stmt->describe = TG_DESCRIBE_QUERY;
            return tg_parse_query_text(parser, &stmt->query, &stmt->query_text);
        }
    }
    if (tg_parse_word(parser, 0) == TG_KW_TABLE && tg_parse_at_name(parser, 1)) {
        tg_parse_advance(parser);
    }
    static const struct {
        tg_keyword word;
        tg_describe_kind kind;
    } KINDS[] = {{TG_KW_EXTENDED, TG_DESCRIBE_EXTENDED},
                 {TG_KW_FORMATTED, TG_DESCRIBE_EXTENDED},
                 {TG_KW_DETAIL, TG_DESCRIBE_DETAIL},
                 {TG_KW_HISTORY, TG_DESCRIBE_HISTORY}};
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++) {
        bool is_kind = tg_parse_word(parser, 0) == KINDS[i].word &&
                       (tg_parse_at_name(parser, 1) || tg_parse_kind(parser, 1) == TG_TOK_STRING);
        if (is_kind) {
            tg_parse_advance(parser);
            stmt->describe = KINDS[i].kind;
        }
    }
    TG_TRY(tg_parse_table_or_path(parser, &stmt->name));
    if (stmt->describe == TG_DESCRIBE_HISTORY) {
        return tg_parse_history_limit(parser, stmt);
    }
    if (stmt->describe == TG_DESCRIBE_EXTENDED && tg_parse_word(parser, 0) == TG_KW_AS) {
        return tg_parse_rest(parser, &stmt->rest);
    }
    return TG_OK;
}

/* ---- DROP, REFRESH --------------------------------------------------------------------------- */

static tg_code parse_object(tg_parser *parser, tg_stmt *stmt)
{
    if (tg_parse_accept2(parser, TG_KW_STREAMING, TG_KW_TABLE)) {
        stmt->object_word = TG_S("STREAMING TABLE");
    } else if (tg_parse_accept2(parser, TG_KW_MATERIALIZED, TG_KW_VIEW)) {
        stmt->object_word = TG_S("MATERIALIZED VIEW");
    } else if (tg_parse_accept(parser, TG_KW_TABLE)) {
        stmt->object_word = TG_S("TABLE");
    } else if (tg_parse_accept(parser, TG_KW_VIEW)) {
        stmt->object_word = TG_S("VIEW");
    } else if (tg_parse_accept(parser, TG_KW_SCHEMA) || tg_parse_accept(parser, TG_KW_DATABASE)) {
        stmt->object_word = TG_S("SCHEMA");
    } else {
        return tg_parse_fail(parser, "TABLE, VIEW, STREAMING TABLE, MATERIALIZED VIEW or SCHEMA");
    }
    return TG_OK;
}

static tg_code parse_drop(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_DROP;
    TG_TRY(parse_object(parser, stmt));
    stmt->if_exists = tg_parse_accept2(parser, TG_KW_IF, TG_KW_EXISTS);
    TG_TRY(tg_parse_name(parser, "a name", &stmt->name));
    stmt->cascade = tg_parse_accept(parser, TG_KW_CASCADE);
    (void)tg_parse_accept(parser, TG_KW_RESTRICT);
    (void)tg_parse_accept(parser, TG_KW_PURGE);
    return TG_OK;
}

static tg_code parse_refresh(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_REFRESH;
    TG_TRY(parse_object(parser, stmt));
    TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
    stmt->full = tg_parse_accept(parser, TG_KW_FULL);
    TG_TRY(tg_parse_where(parser, stmt));
    stmt->async = tg_parse_accept(parser, TG_KW_ASYNC);
    if (!stmt->async) {
        (void)tg_parse_accept(parser, TG_KW_SYNC);
    }
    return TG_OK;
}

/* ---- RESTORE --------------------------------------------------------------------------------- */

static tg_code parse_restore(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_RESTORE;
    (void)tg_parse_accept(parser, TG_KW_TABLE);
    TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
    size_t offset = tg_parse_offset(parser);
    (void)tg_parse_accept(parser, TG_KW_TO);
    tg_relation when = {0};
    TG_TRY(tg_parse_time_travel(parser, &when));
    if (!when.version && !when.timestamp) {
        return tg_parse_fail(parser, "VERSION AS OF or TIMESTAMP AS OF");
    }
    stmt->restore_version = when.version;
    stmt->restore_timestamp = when.timestamp;
    tg_span span = tg_parse_span_from(parser, offset);
    stmt->rest = tg_str_sub(parser->text, span.offset, span.offset + span.len);
    return TG_OK;
}

/* ---- statements kept as text ----------------------------------------------------------------- */

static bool has_schedule(const tg_stmt *stmt)
{
    return tg_str_eq(stmt->object_word, TG_S("STREAMING TABLE")) ||
           tg_str_eq(stmt->object_word, TG_S("MATERIALIZED VIEW"));
}

/* ADD | ALTER schedule, DROP SCHEDULE; all else is text. */
static tg_code parse_alter_action(tg_parser *parser, tg_stmt *stmt)
{
    tg_keyword word = tg_parse_word(parser, 0), next = tg_parse_word(parser, 1);
    bool is_schedule = next == TG_KW_SCHEDULE || next == TG_KW_TRIGGER;
    size_t offset = tg_parse_offset(parser);
    if (has_schedule(stmt) && is_schedule && (word == TG_KW_ADD || word == TG_KW_ALTER)) {
        stmt->alter = word == TG_KW_ADD ? TG_ALTER_ADD_SCHEDULE : TG_ALTER_CHANGE_SCHEDULE;
        tg_parse_advance(parser);
        TG_TRY(tg_parse_schedule(parser, &stmt->clauses));
    } else if (has_schedule(stmt) && word == TG_KW_DROP && next == TG_KW_SCHEDULE) {
        stmt->alter = TG_ALTER_DROP_SCHEDULE;
        tg_parse_advance(parser);
        tg_parse_advance(parser);
    } else {
        return tg_str_eq(stmt->object_word, TG_S("TABLE")) ? tg_parse_alter_table(parser, stmt)
                                                           : tg_parse_rest(parser, &stmt->rest);
    }
    stmt->rest = tg_parse_text(parser, tg_parse_span_from(parser, offset));
    return TG_OK;
}

static tg_code parse_alter(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_ALTER;
    TG_TRY(parse_object(parser, stmt));
    TG_TRY(tg_parse_name(parser, "a table name", &stmt->name));
    return parse_alter_action(parser, stmt);
}

static bool is_other(tg_keyword word)
{
    static const tg_keyword WORDS[] = {
        TG_KW_GRANT,    TG_KW_REVOKE, TG_KW_CACHE,   TG_KW_UNCACHE, TG_KW_ANALYZE, TG_KW_COPY,
        TG_KW_TRUNCATE, TG_KW_MSCK,   TG_KW_REPAIR,  TG_KW_LOAD,    TG_KW_RESET,   TG_KW_CALL,
        TG_KW_DECLARE,  TG_KW_BEGIN,  TG_KW_EXECUTE, TG_KW_REORG,   TG_KW_UNDROP,  TG_KW_COMMENT};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        if (WORDS[i] == word) {
            return true;
        }
    }
    return false;
}

typedef tg_code (*command_parser)(tg_parser *parser, tg_stmt *stmt);

static command_parser command_of(tg_keyword word)
{
    switch (word) {
    case TG_KW_DELETE:
        return tg_parse_delete;
    case TG_KW_UPDATE:
        return tg_parse_update;
    case TG_KW_MERGE:
        return tg_parse_merge;
    case TG_KW_SET:
        return parse_set;
    case TG_KW_USE:
        return parse_use;
    case TG_KW_SHOW:
        return parse_show;
    case TG_KW_DESCRIBE:
    case TG_KW_DESC:
        return parse_describe;
    case TG_KW_DROP:
        return parse_drop;
    case TG_KW_REFRESH:
        return parse_refresh;
    case TG_KW_RESTORE:
        return parse_restore;
    case TG_KW_ALTER:
        return parse_alter;
    case TG_KW_OPTIMIZE:
        return tg_parse_optimize;
    case TG_KW_VACUUM:
        return tg_parse_vacuum;
    default:
        return NULL;
    }
}

tg_code tg_parse_command(tg_parser *parser, tg_stmt *stmt, bool *out_known)
{
    tg_keyword word = tg_parse_word(parser, 0);
    command_parser command = command_of(word);
    *out_known = true;
    if (command) {
        tg_parse_advance(parser);
        return command(parser, stmt);
    }
    if (tg_parse_at_comment_on(parser)) {
        return tg_parse_comment_on(parser, stmt);
    }
    if (is_other(word)) {
        tg_parse_advance(parser);
        stmt->kind = TG_STMT_OTHER;
        stmt->object_word = tg_str_from(tg_keyword_text(word));
        return tg_parse_rest(parser, &stmt->rest);
    }
    *out_known = false;
    return TG_OK;
}
