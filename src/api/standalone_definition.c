/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions of standalone tables as texts and trees. What is kept has full names only, so that it
 * means the same in every session, whatever its USE.
 */
#include "api/standalone.h"

/* ---- full names ------------------------------------------------------------------------------ */

static tg_code make_full(void *ctx, tg_name *name, tg_error *err)
{
    tg_execution *ex = ctx;
    tg_location location;
    TG_TRY(tg_catalog_locate(&ex->api->catalog, name, ex->arena, &location, err));
    const tg_name full = tg_catalog_parts(location.full_name, ex->arena);
    tg_ident *parts = tg_arena_memdup(ex->arena, full.parts, full.count * sizeof(*parts));
    for (size_t i = 0; i < full.count; i++) {
        parts[i].span = name->span;
    }
    name->parts = parts;
    name->count = full.count;
    return TG_OK;
}

static tg_code make_source_full(void *ctx, tg_name *name, tg_error *err)
{
    tg_execution *ex = ctx;
    if (name->count == 1 && tg_map_has(&ex->api->views, name->parts[0].text)) {
        (void)TG_ERR(err, INVALID_TEMP_OBJ_REFERENCE,
                     "a standalone table cannot read the temporary view `%.*s`, which ends with "
                     "the session",
                     TG_SARG(name->parts[0].text));
        (void)tg_error_at(err, name->span);
        return tg_error_hint(err, "Put the view's query into the definition, as a WITH clause.");
    }
    return make_full(ctx, name, err);
}

static tg_code qualify(tg_execution *ex, tg_stmt *stmt, tg_error *err)
{
    if (stmt->kind == TG_STMT_CREATE_FLOW) {
        TG_TRY(make_full(ex, &stmt->target, err));
    } else {
        TG_TRY(make_full(ex, &stmt->name, err));
    }
    if (!stmt->flow) {
        return TG_OK;
    }
    if (stmt->flow->query) {
        TG_TRY(tg_sql_rename_tables(stmt->flow->query, make_source_full, ex, err));
    }
    return TG_OK;
}

/* ---- from text ------------------------------------------------------------------------------- */

tg_code tg_standalone_own_statement(tg_execution *ex, tg_standalone_stmt *out, tg_error *err)
{
    /* Blanks stand for what is in front of the statement: its places are then those of the source. */
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < ex->offset; i++) {
        tg_buf_addc(&text, ex->source.ptr[i] == '\n' ? '\n' : ' ');
    }
    tg_buf_adds(&text, ex->stmt->text);
    tg_source_file *file = TG_NEW(ex->arena, tg_source_file);
    file->shown_name = ex->file ? ex->file : "the statement";
    file->text = tg_buf_take(&text, ex->arena);
    tg_stmt *stmt;
    tg_code code = tg_sql_parse_statement(file->text, ex->arena, &stmt, err);
    code = code == TG_OK ? qualify(ex, stmt, err) : code;
    if (code != TG_OK) {
        tg_error_locate(err, file->shown_name, file->text);
        return code;
    }
    *out = (tg_standalone_stmt){.stmt = stmt, .file = file};
    return TG_OK;
}

tg_code tg_standalone_kept_statement(tg_execution *ex, const tg_standalone_table *table,
                                     tg_str text, tg_standalone_stmt *out, tg_error *err)
{
    tg_source_file *file = TG_NEW(ex->arena, tg_source_file);
    file->shown_name =
        tg_arena_printf(ex->arena, "definition of %.*s", TG_SARG(table->location.full_name));
    file->text = text;
    tg_stmt *stmt;
    tg_code code = tg_sql_parse_statement(text, ex->arena, &stmt, err);
    if (code != TG_OK) {
        tg_error_locate(err, file->shown_name, text);
        return code;
    }
    *out = (tg_standalone_stmt){.stmt = stmt, .file = file};
    return TG_OK;
}

/* ---- to text --------------------------------------------------------------------------------- */

static tg_str print(tg_execution *ex, const tg_stmt *stmt)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_sql_print_stmt(stmt, /* pretty= */ true, &text);
    return tg_buf_take(&text, ex->arena);
}

tg_str tg_standalone_definition_text(tg_execution *ex, const tg_stmt *stmt)
{
    tg_stmt kept = *stmt;
    kept.clauses.schedule = (tg_str){0};
    if (kept.kind != TG_STMT_CREATE_FLOW) {
        kept.if_not_exists = false;
        kept.or_refresh = kept.kind == TG_STMT_CREATE_STREAMING_TABLE;
        kept.or_replace = !kept.or_refresh;
    }
    return print(ex, &kept);
}

/* Words in upper case, one blank between them, units in the plural; texts in quotes as they are. */
tg_str tg_standalone_schedule_text(tg_execution *ex, tg_str schedule)
{
    static const char *const units[] = {"HOUR", "DAY", "WEEK"};
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < schedule.len;) {
        size_t end = i;
        char first = schedule.ptr[i];
        if (strchr(" \t\r\n", first)) {
            i++;
            continue;
        }
        bool is_text = first == '\'' || first == '"';
        for (end++; end < schedule.len && (is_text ? schedule.ptr[end] != first
                                                   : !strchr(" \t\r\n'\"", schedule.ptr[end]));) {
            end++;
        }
        end += is_text && end < schedule.len;
        tg_str word = tg_str_sub(schedule, i, end);
        word = is_text ? word : tg_str_upper(ex->arena, word);
        i = end;
        if (tg_str_eq(word, TG_S("REFRESH"))) {
            continue;
        }
        tg_buf_addz(&out, out.len > 0 ? " " : "");
        tg_buf_adds(&out, word);
        for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
            tg_buf_addz(&out, tg_str_eq(word, tg_str_from(units[u])) ? "S" : "");
        }
    }
    if (tg_str_find(tg_buf_str(&out), TG_S("CRON"), 0) != SIZE_MAX &&
        tg_str_find(tg_buf_str(&out), TG_S(" AT TIME ZONE "), 0) == SIZE_MAX) {
        tg_buf_addz(&out, " AT TIME ZONE 'Etc/UTC'");
    }
    return tg_buf_take(&out, ex->arena);
}

tg_str tg_standalone_schedule_shown(tg_execution *ex, tg_str schedule)
{
    (void)ex;
    tg_str front = TG_S("SCHEDULE ");
    return schedule.len == 0                ? TG_S("MANUAL")
           : tg_str_starts(schedule, front) ? tg_str_sub(schedule, front.len, schedule.len)
                                            : schedule;
}

/* A flow that has the table's name is one with its table: the short form says the same. */
static void merge_flow(tg_stmt *table, const tg_stmt *flow)
{
    table->flow = flow->flow;
}

tg_code tg_standalone_create_text(tg_execution *ex, const tg_standalone_table *table,
                                  tg_str *out_text, tg_error *err)
{
    tg_standalone_stmt definition, flow = {0};
    TG_TRY(tg_standalone_kept_statement(ex, table, table->own.definition, &definition, err));
    if (table->own.flow.len) {
        TG_TRY(tg_standalone_kept_statement(ex, table, table->own.flow, &flow, err));
    }
    tg_stmt shown = *definition.stmt;
    shown.clauses.schedule = table->own.schedule;
    if (flow.stmt) {
        tg_str name = shown.name.parts[shown.name.count - 1].text;
        if (tg_str_ieq(flow.stmt->name.parts[0].text, name) &&
            flow.stmt->clauses.comment.len == 0) {
            merge_flow(&shown, flow.stmt);
            flow.stmt = NULL;
        }
    }
    *out_text = print(ex, &shown);
    if (flow.stmt) {
        *out_text = tg_str_printf(ex->arena, "%.*s;\n\n%.*s", TG_SARG(*out_text),
                                  TG_SARG(print(ex, flow.stmt)));
    }
    return TG_OK;
}
