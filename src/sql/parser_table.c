/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements about one table: ALTER TABLE, COMMENT ON, OPTIMIZE, VACUUM, and the ends of DESCRIBE
 * HISTORY and SHOW PARTITIONS. Each is taken apart into a tg_table_command, and kept as text too: the
 * text is what is printed and compared.
 */
#include "sql/parser_int.h"

static void keep_text(tg_parser *parser, size_t offset, const tg_table_command *command,
                      tg_stmt *stmt)
{
    tg_table_command *copy = TG_NEW(parser->arena, tg_table_command);
    *copy = *command;
    stmt->command = copy;
    stmt->rest = tg_parse_text(parser, tg_parse_span_from(parser, offset));
}

tg_code tg_parse_table_or_path(tg_parser *parser, tg_name *out_name)
{
    if (tg_parse_kind(parser, 0) != TG_TOK_STRING) {
        return tg_parse_name(parser, "a table name", out_name);
    }
    size_t offset = tg_parse_offset(parser);
    tg_ident *parts = TG_NEW_ARRAY(parser->arena, tg_ident, 2);
    parts[0].text = TG_S("delta");
    TG_TRY(tg_parse_string(parser, "a path", &parts[1].text));
    parts[0].span = parts[1].span = tg_parse_span_from(parser, offset);
    parts[1].quoted = true;
    *out_name = (tg_name){parts, 2, parts[0].span};
    return TG_OK;
}

static bool accept_word(tg_parser *parser, tg_keyword singular, tg_keyword plural)
{
    return tg_parse_accept(parser, singular) || tg_parse_accept(parser, plural);
}

static tg_code parse_whole_number(tg_parser *parser, int64_t *out)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    if (token->kind != TG_TOK_INTEGER || !tg_str_to_i64(tg_parse_token_text(parser, token), out)) {
        return tg_parse_fail(parser, "a whole number");
    }
    tg_parse_advance(parser);
    return TG_OK;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* 'a.b' or a.b.c, as Spark writes the keys of properties */
static tg_code parse_key(tg_parser *parser, tg_property *out)
{
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_kind(parser, 0) == TG_TOK_STRING) {
        TG_TRY(tg_parse_string(parser, "a key", &out->key));
    } else {
        tg_name name;
        TG_TRY(tg_parse_name(parser, "the key of a property", &name));
        out->key = name.parts[0].text;
        for (size_t i = 1; i < name.count; i++) {
            out->key = tg_str_printf(parser->arena, "%.*s.%.*s", TG_SARG(out->key),
                                     TG_SARG(name.parts[i].text));
        }
    }
    out->span = tg_parse_span_from(parser, offset);
    return TG_OK;
}

static tg_code parse_unset(tg_parser *parser, tg_table_command *command)
{
    TG_VEC(tg_property) keys = {0};
    command->action = TG_TABLE_UNSET_PROPERTIES;
    command->if_exists = tg_parse_accept2(parser, TG_KW_IF, TG_KW_EXISTS);
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    do {
        tg_property key = {0};
        TG_TRY(parse_key(parser, &key));
        TG_VEC_PUSH(parser->arena, &keys, key);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    command->properties = keys.items;
    command->property_count = keys.count;
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'");
}

static tg_code parse_set(tg_parser *parser, tg_table_command *command)
{
    tg_property *properties;
    command->action = TG_TABLE_SET_PROPERTIES;
    TG_TRY(tg_parse_properties(parser, &properties, &command->property_count));
    command->properties = properties;
    return TG_OK;
}

tg_code tg_parse_property_key(tg_parser *parser, tg_stmt *stmt)
{
    if (!tg_parse_accept_token(parser, TG_TOK_LEFT_PAREN)) {
        return TG_OK;
    }
    tg_property key = {0};
    size_t offset = tg_parse_offset(parser);
    TG_TRY(parse_key(parser, &key));
    stmt->key = key.key;
    stmt->rest = tg_str_printf(parser->arena, "(%.*s)",
                               TG_SARG(tg_parse_text(parser, tg_parse_span_from(parser, offset))));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}

/* ---- columns --------------------------------------------------------------------------------- */

typedef TG_VEC(tg_column_change) change_list;

static tg_code parse_position(tg_parser *parser, tg_column_change *change, bool *out_found)
{
    *out_found = true;
    if (tg_parse_accept(parser, TG_KW_FIRST)) {
        change->is_first = true;
        return TG_OK;
    }
    if (tg_parse_accept(parser, TG_KW_AFTER)) {
        return tg_parse_ident(parser, "a column name", &change->after);
    }
    *out_found = false;
    return TG_OK;
}

/* name type [NOT NULL] [DEFAULT e] [COMMENT '..'] [FIRST | AFTER column] */
static tg_code parse_added_column(tg_parser *parser, change_list *list)
{
    size_t offset = tg_parse_offset(parser);
    tg_column_change change = {.kind = TG_COLUMN_ADD};
    TG_TRY(tg_parse_name(parser, "a column name", &change.column));
    TG_TRY(tg_parse_type(parser, &change.type));
    for (bool found = true; found;) {
        size_t here = tg_parse_offset(parser);
        if (tg_parse_accept2(parser, TG_KW_NOT, TG_KW_NULL)) {
            change.not_null = true;
        } else if (tg_parse_accept(parser, TG_KW_COMMENT)) {
            TG_TRY(tg_parse_string(parser, "a comment", &change.comment));
        } else if (tg_parse_accept(parser, TG_KW_DEFAULT)) {
            tg_expr *value;
            TG_TRY(tg_parse_expr(parser, &value));
            return tg_parse_unsupported(parser, here, "a column default");
        } else {
            TG_TRY(parse_position(parser, &change, &found));
        }
    }
    change.span = tg_parse_span_from(parser, offset);
    TG_VEC_PUSH(parser->arena, list, change);
    return TG_OK;
}

static tg_code parse_add_columns(tg_parser *parser, tg_table_command *command)
{
    change_list list = {0};
    bool has_paren = tg_parse_accept_token(parser, TG_TOK_LEFT_PAREN);
    command->action = TG_TABLE_ADD_COLUMNS;
    do {
        TG_TRY(parse_added_column(parser, &list));
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    if (has_paren) {
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    }
    command->columns = list.items;
    command->column_count = list.count;
    return TG_OK;
}

/* What ALTER COLUMN name says of it. */
static tg_code parse_change(tg_parser *parser, tg_column_change *change)
{
    tg_expr *value;
    bool found;
    if (tg_parse_accept(parser, TG_KW_COMMENT)) {
        change->kind = TG_COLUMN_COMMENT;
        return tg_parse_string(parser, "a comment", &change->comment);
    }
    if (tg_parse_accept(parser, TG_KW_TYPE)) {
        change->kind = TG_COLUMN_TYPE;
        return tg_parse_type(parser, &change->type);
    }
    bool is_set = tg_parse_accept(parser, TG_KW_SET);
    if (is_set || tg_parse_accept(parser, TG_KW_DROP)) {
        if (tg_parse_accept2(parser, TG_KW_NOT, TG_KW_NULL)) {
            change->kind = is_set ? TG_COLUMN_SET_NOT_NULL : TG_COLUMN_DROP_NOT_NULL;
            return TG_OK;
        }
        if (tg_parse_accept(parser, TG_KW_DEFAULT)) {
            change->kind = TG_COLUMN_DEFAULT;
            return is_set ? tg_parse_expr(parser, &value) : TG_OK;
        }
        return tg_parse_fail(parser, "NOT NULL or DEFAULT");
    }
    change->kind = TG_COLUMN_MOVE;
    TG_TRY(parse_position(parser, change, &found));
    return found ? TG_OK
                 : tg_parse_fail(parser, "TYPE, COMMENT, SET NOT NULL, DROP NOT NULL, FIRST or "
                                         "AFTER");
}

static tg_code parse_change_column(tg_parser *parser, tg_table_command *command)
{
    change_list list = {0};
    command->action = TG_TABLE_CHANGE_COLUMN;
    do {
        size_t offset = tg_parse_offset(parser);
        tg_column_change change = {0};
        TG_TRY(tg_parse_name(parser, "a column name", &change.column));
        TG_TRY(parse_change(parser, &change));
        change.span = tg_parse_span_from(parser, offset);
        TG_VEC_PUSH(parser->arena, &list, change);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    command->columns = list.items;
    command->column_count = list.count;
    return TG_OK;
}

static tg_code parse_rename_column(tg_parser *parser, tg_table_command *command)
{
    size_t offset = tg_parse_offset(parser);
    tg_column_change *change = TG_NEW(parser->arena, tg_column_change);
    *change = (tg_column_change){.kind = TG_COLUMN_RENAME};
    TG_TRY(tg_parse_name(parser, "a column name", &change->column));
    TG_TRY(tg_parse_expect(parser, TG_KW_TO));
    TG_TRY(tg_parse_ident(parser, "a column name", &change->to));
    change->span = tg_parse_span_from(parser, offset);
    command->action = TG_TABLE_RENAME_COLUMN;
    command->columns = change;
    command->column_count = 1;
    return TG_OK;
}

static tg_code parse_drop_columns(tg_parser *parser, tg_table_command *command)
{
    change_list list = {0};
    command->action = TG_TABLE_DROP_COLUMNS;
    command->if_exists = tg_parse_accept2(parser, TG_KW_IF, TG_KW_EXISTS);
    bool has_paren = tg_parse_accept_token(parser, TG_TOK_LEFT_PAREN);
    do {
        tg_column_change change = {.kind = TG_COLUMN_DROP};
        TG_TRY(tg_parse_name(parser, "a column name", &change.column));
        change.span = change.column.span;
        TG_VEC_PUSH(parser->arena, &list, change);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    if (has_paren) {
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    }
    command->columns = list.items;
    command->column_count = list.count;
    return TG_OK;
}

/* ---- constraints, features, clustering ------------------------------------------------------- */

static tg_code parse_add_constraint(tg_parser *parser, tg_table_command *command)
{
    command->action = TG_TABLE_ADD_CONSTRAINT;
    TG_TRY(tg_parse_ident(parser, "the name of a constraint", &command->constraint));
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_accept2(parser, TG_KW_PRIMARY, TG_KW_KEY) ||
        tg_parse_accept2(parser, TG_KW_FOREIGN, TG_KW_KEY)) {
        return tg_parse_unsupported(parser, offset, "a key, which Delta tables do not enforce,");
    }
    TG_TRY(tg_parse_expect(parser, TG_KW_CHECK));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    TG_TRY(tg_parse_predicate(parser, "CHECK", &command->check, &command->check_text));
    return tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "')'");
}

static tg_code parse_drop_constraint(tg_parser *parser, tg_table_command *command)
{
    command->action = TG_TABLE_DROP_CONSTRAINT;
    command->if_exists = tg_parse_accept2(parser, TG_KW_IF, TG_KW_EXISTS);
    return tg_parse_ident(parser, "the name of a constraint", &command->constraint);
}

static tg_code parse_drop_feature(tg_parser *parser, tg_table_command *command)
{
    command->action = TG_TABLE_DROP_FEATURE;
    TG_TRY(tg_parse_ident(parser, "the name of a table feature", &command->constraint));
    (void)tg_parse_accept2(parser, TG_KW_TRUNCATE, TG_KW_HISTORY);
    return TG_OK;
}

static tg_code parse_cluster_by(tg_parser *parser, tg_table_command *command)
{
    command->action = TG_TABLE_CLUSTER_BY;
    size_t offset = tg_parse_offset(parser);
    if (tg_parse_accept(parser, TG_KW_AUTO)) {
        return tg_parse_unsupported(parser, offset, "CLUSTER BY AUTO");
    }
    if (tg_parse_kind(parser, 0) != TG_TOK_LEFT_PAREN) {
        const tg_token *token = tg_parse_peek(parser, 0);
        if (!tg_str_ieq(tg_parse_token_text(parser, token), TG_S("NONE"))) {
            return tg_parse_fail(parser, "'(' or NONE");
        }
        tg_parse_advance(parser);
        return TG_OK;
    }
    return tg_parse_ident_list(parser, "a column name", &command->names, &command->name_count);
}

/* ---- ALTER TABLE ----------------------------------------------------------------------------- */

typedef tg_code (*action_parser)(tg_parser *parser, tg_table_command *command);

static action_parser action_here(const tg_parser *parser, size_t *out_words)
{
    static const struct {
        tg_keyword first, second;
        action_parser parse;
    } ACTIONS[] = {
        {TG_KW_SET, TG_KW_TBLPROPERTIES, parse_set},
        {TG_KW_UNSET, TG_KW_TBLPROPERTIES, parse_unset},
        {TG_KW_ADD, TG_KW_COLUMN, parse_add_columns},
        {TG_KW_ADD, TG_KW_COLUMNS, parse_add_columns},
        {TG_KW_ALTER, TG_KW_COLUMN, parse_change_column},
        {TG_KW_CHANGE, TG_KW_COLUMN, parse_change_column},
        {TG_KW_RENAME, TG_KW_COLUMN, parse_rename_column},
        {TG_KW_DROP, TG_KW_COLUMN, parse_drop_columns},
        {TG_KW_DROP, TG_KW_COLUMNS, parse_drop_columns},
        {TG_KW_ADD, TG_KW_CONSTRAINT, parse_add_constraint},
        {TG_KW_DROP, TG_KW_CONSTRAINT, parse_drop_constraint},
        {TG_KW_DROP, TG_KW_FEATURE, parse_drop_feature},
        {TG_KW_CLUSTER, TG_KW_BY, parse_cluster_by},
    };
    tg_keyword first = tg_parse_word(parser, 0), second = tg_parse_word(parser, 1);
    for (size_t i = 0; i < sizeof(ACTIONS) / sizeof(*ACTIONS); i++) {
        if (ACTIONS[i].first == first && ACTIONS[i].second == second) {
            *out_words = 2;
            return ACTIONS[i].parse;
        }
    }
    *out_words = 1;
    /* ALTER t ALTER name TYPE ...: COLUMN may be left out there */
    return first == TG_KW_ALTER && tg_parse_at_name(parser, 1) ? parse_change_column : NULL;
}

tg_code tg_parse_alter_table(tg_parser *parser, tg_stmt *stmt)
{
    size_t offset = tg_parse_offset(parser), words;
    tg_table_command command = {.limit = -1};
    action_parser parse = action_here(parser, &words);
    if (!parse) {
        return tg_parse_rest(parser, &stmt->rest);
    }
    for (size_t i = 0; i < words; i++) {
        tg_parse_advance(parser);
    }
    TG_TRY(parse(parser, &command));
    keep_text(parser, offset, &command, stmt);
    return TG_OK;
}

/* ---- COMMENT ON ------------------------------------------------------------------------------ */

bool tg_parse_at_comment_on(const tg_parser *parser)
{
    tg_keyword what = tg_parse_word(parser, 2);
    return tg_parse_word(parser, 0) == TG_KW_COMMENT && tg_parse_word(parser, 1) == TG_KW_ON &&
           (what == TG_KW_TABLE || what == TG_KW_COLUMN);
}

/* COMMENT ON TABLE t | COLUMN t.c IS '..' | NULL */
tg_code tg_parse_comment_on(tg_parser *parser, tg_stmt *stmt)
{
    bool is_column = tg_parse_word(parser, 2) == TG_KW_COLUMN;
    for (int i = 0; i < 3; i++) {
        tg_parse_advance(parser);
    }
    stmt->kind = TG_STMT_COMMENT_ON;
    stmt->object_word = is_column ? TG_S("COLUMN") : TG_S("TABLE");
    TG_TRY(tg_parse_name(parser, is_column ? "the name of a column" : "a table name", &stmt->name));
    size_t offset = tg_parse_offset(parser);
    tg_table_command command = {.action = TG_TABLE_COMMENT, .limit = -1};
    TG_TRY(tg_parse_expect(parser, TG_KW_IS));
    if (!tg_parse_accept(parser, TG_KW_NULL)) {
        TG_TRY(tg_parse_string(parser, "a comment or NULL", &command.comment));
    }
    keep_text(parser, offset, &command, stmt);
    return TG_OK;
}

/* ---- OPTIMIZE, VACUUM ------------------------------------------------------------------------ */

tg_code tg_parse_optimize(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_OPTIMIZE;
    TG_TRY(tg_parse_table_or_path(parser, &stmt->name));
    size_t offset = tg_parse_offset(parser);
    tg_table_command command = {.limit = -1};
    stmt->full = tg_parse_accept(parser, TG_KW_FULL);
    if (tg_parse_accept(parser, TG_KW_WHERE)) {
        TG_TRY(tg_parse_predicate(parser, "WHERE", &stmt->where, &stmt->where_text));
    }
    if (tg_parse_accept2(parser, TG_KW_ZORDER, TG_KW_BY)) {
        if (tg_parse_kind(parser, 0) == TG_TOK_LEFT_PAREN) {
            TG_TRY(
                tg_parse_ident_list(parser, "a column name", &command.names, &command.name_count));
        } else {
            tg_ident *name = TG_NEW(parser->arena, tg_ident);
            TG_TRY(tg_parse_ident(parser, "a column name", name));
            command.names = name;
            command.name_count = 1;
        }
    }
    keep_text(parser, offset, &command, stmt);
    return TG_OK;
}

static tg_code parse_hours(tg_parser *parser, tg_table_command *command)
{
    const tg_token *token = tg_parse_peek(parser, 0);
    if (!tg_parse_is_number(token->kind) ||
        !tg_str_to_double(tg_parse_token_text(parser, token), &command->retain_hours)) {
        return tg_parse_fail(parser, "a number of hours");
    }
    command->has_retain = true;
    command->retain_span = (tg_span){token->offset, token->len};
    tg_parse_advance(parser);
    return TG_OK;
}

/* [FULL | LITE] [RETAIN n HOURS] [DRY RUN], the last two in any order */
tg_code tg_parse_vacuum(tg_parser *parser, tg_stmt *stmt)
{
    stmt->kind = TG_STMT_VACUUM;
    TG_TRY(tg_parse_table_or_path(parser, &stmt->name));
    size_t offset = tg_parse_offset(parser);
    tg_table_command command = {.limit = -1};
    if (!tg_parse_accept(parser, TG_KW_FULL)) {
        size_t here = tg_parse_offset(parser);
        if (tg_parse_accept(parser, TG_KW_LITE)) {
            return tg_parse_unsupported(parser, here, "VACUUM ... LITE");
        }
        if (tg_parse_accept(parser, TG_KW_USING)) {
            return tg_parse_unsupported(parser, here, "VACUUM ... USING INVENTORY");
        }
    }
    for (bool found = true; found;) {
        found = false;
        if (!command.has_retain && tg_parse_accept(parser, TG_KW_RETAIN)) {
            TG_TRY(parse_hours(parser, &command));
            if (!accept_word(parser, TG_KW_HOURS, TG_KW_HOUR)) {
                return tg_parse_fail(parser, "HOURS");
            }
            found = true;
        }
        if (!command.dry_run && tg_parse_accept2(parser, TG_KW_DRY, TG_KW_RUN)) {
            command.dry_run = found = true;
        }
    }
    keep_text(parser, offset, &command, stmt);
    return TG_OK;
}

/* ---- ends of DESCRIBE and SHOW --------------------------------------------------------------- */

tg_code tg_parse_history_limit(tg_parser *parser, tg_stmt *stmt)
{
    size_t offset = tg_parse_offset(parser);
    tg_table_command command = {.limit = -1};
    if (tg_parse_accept(parser, TG_KW_LIMIT)) {
        TG_TRY(parse_whole_number(parser, &command.limit));
        keep_text(parser, offset, &command, stmt);
    }
    return TG_OK;
}

tg_code tg_parse_partition_spec(tg_parser *parser, tg_stmt *stmt)
{
    size_t offset = tg_parse_offset(parser);
    tg_table_command command = {.limit = -1};
    if (!tg_parse_accept(parser, TG_KW_PARTITION)) {
        return TG_OK;
    }
    TG_VEC(tg_assignment) items = {0};
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_LEFT_PAREN, "'('"));
    do {
        tg_assignment item = {0};
        TG_TRY(tg_parse_name(parser, "a partition column", &item.column));
        TG_TRY(tg_parse_expect_token(parser, TG_TOK_EQ, "'='"));
        TG_TRY(tg_parse_expr(parser, &item.value));
        TG_VEC_PUSH(parser->arena, &items, item);
    } while (tg_parse_accept_token(parser, TG_TOK_COMMA));
    TG_TRY(tg_parse_expect_token(parser, TG_TOK_RIGHT_PAREN, "',' or ')'"));
    command.partition = items.items;
    command.partition_count = items.count;
    keep_text(parser, offset, &command, stmt);
    return TG_OK;
}
