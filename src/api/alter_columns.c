/* SPDX-License-Identifier: Apache-2.0 */
/* What ALTER TABLE does to columns. */
#include "api/alter_table.h"

/* ---- counting rows --------------------------------------------------------------------------- */

static tg_code first_number(tg_engine *engine, struct ArrowArrayStream *stream, int64_t *out,
                            tg_error *err)
{
    struct ArrowArray batch;
    for (;;) {
        memset(&batch, 0, sizeof batch);
        if (stream->get_next(stream, &batch) != 0) {
            return engine->fetch_error(engine->self, stream, err);
        }
        if (!batch.release) {
            TG_FAIL(err, INTERNAL_ERROR, "a count gave no row");
        }
        if (batch.length > 0) {
            const int64_t *numbers = batch.children[0]->buffers[1];
            *out = numbers[batch.children[0]->offset + batch.offset];
            batch.release(&batch);
            return TG_OK;
        }
        batch.release(&batch);
    }
}

tg_code tg_alteration_count(tg_alteration *a, tg_str condition, int64_t *out_rows, tg_error *err)
{
    tg_execution *ex = a->ex;
    tg_engine *engine = ex->api->engine;
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_query *query;
    tg_resolver resolver;
    tg_bound_query bound;
    const tg_bind_options options = tg_execution_bind_options(ex, &resolver);
    const tg_engine_context context = {.zone = ex->api->zone, .now_us = ex->now_us};
    tg_buf_addz(&text, "SELECT count(*) FROM delta.");
    tg_sql_print_ident(a->location.path, &text);
    tg_buf_addf(&text, " VERSION AS OF %lld WHERE %.*s", (long long)a->facts.version,
                TG_SARG(condition));
    TG_TRY(tg_sql_parse_query(tg_buf_str(&text), ex->arena, &query, err));
    TG_TRY(tg_sql_bind_query(query, &options, ex->arena, &bound, err));
    struct ArrowArrayStream stream = {0};
    TG_TRY(engine->query(engine->self, &context, bound.rel, &stream, err));
    tg_code code = first_number(engine, &stream, out_rows, err);
    stream.release(&stream);
    return code;
}

/* ---- columns --------------------------------------------------------------------------------- */

static tg_code not_found(tg_alteration *a, tg_str name, tg_span span, tg_error *err)
{
    tg_str *names = TG_NEW_ARRAY(a->ex->arena, tg_str, a->schema.count);
    for (size_t i = 0; i < a->schema.count; i++) {
        names[i] = a->schema.fields[i].name;
    }
    (void)TG_ERR(err, UNRESOLVED_COLUMN, "table %.*s has no column `%.*s`",
                 TG_SARG(a->location.full_name), TG_SARG(name));
    tg_str near = tg_str_nearest(name, names, a->schema.count);
    if (near.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(near));
    }
    return tg_error_at(err, span);
}

static tg_code refuse_nested(const tg_column_change *change, tg_error *err)
{
    TG_ERR(err, UNSUPPORTED_FEATURE, "a field of a struct cannot be altered in this release");
    return tg_error_at(err, change->column.span);
}

/* A copy of the fields that may be changed, with room for one more. */
static tg_field *own_fields(tg_alteration *a)
{
    tg_field *fields = TG_NEW_ARRAY(a->ex->arena, tg_field, a->schema.count + 1);
    memcpy(fields, a->schema.fields, a->schema.count * sizeof(*fields));
    a->schema.fields = fields;
    return fields;
}

/* Moves the column at a position to where FIRST or AFTER says. */
static tg_code move(tg_alteration *a, const tg_column_change *change, size_t from, tg_error *err)
{
    tg_field *fields = own_fields(a);
    const tg_field moved = fields[from];
    size_t to = 0;
    if (!change->is_first) {
        ptrdiff_t after = tg_schema_find(a->schema, change->after.text);
        if (after < 0) {
            return not_found(a, change->after.text, change->after.span, err);
        }
        to = (size_t)after + ((size_t)after < from);
        if ((size_t)after == from) {
            TG_ERR(err, DELTA_OPERATION_NOT_ALLOWED, "column `%.*s` cannot stand behind itself",
                   TG_SARG(moved.name));
            return tg_error_at(err, change->after.span);
        }
    }
    for (size_t i = from; i > to; i--) {
        fields[i] = fields[i - 1];
    }
    for (size_t i = from; i < to; i++) {
        fields[i] = fields[i + 1];
    }
    fields[to] = moved;
    return TG_OK;
}

static tg_code add_column(tg_alteration *a, const tg_column_change *change, tg_error *err)
{
    tg_str name = change->column.parts[0].text;
    if (tg_schema_find(a->schema, name) >= 0) {
        (void)TG_ERR(err, FIELD_ALREADY_EXISTS, "cannot add column `%.*s`: table %.*s has it",
                     TG_SARG(name), TG_SARG(a->location.full_name));
        return tg_error_at(err, change->column.span);
    }
    if (change->not_null) {
        TG_ERR(err, DELTA_OPERATION_NOT_ALLOWED,
               "NOT NULL in ALTER TABLE ADD COLUMNS is not supported: the rows that are there have "
               "NULL in column `%.*s`",
               TG_SARG(name));
        (void)tg_error_hint(err, "Add it without, fill it, then ALTER COLUMN ... SET NOT NULL.");
        return tg_error_at(err, change->span);
    }
    tg_field *fields = own_fields(a);
    fields[a->schema.count] = (tg_field){
        .name = name, .type = change->type, .nullable = true, .comment = change->comment};
    const tg_program_target one = {.schema = {.fields = &fields[a->schema.count], .count = 1}};
    tg_engine *engine = a->ex->api->engine;
    if (engine->check_target(engine->self, &one, err) != TG_OK) {
        return tg_error_at(err, change->span);
    }
    a->schema.count++;
    return change->is_first || change->after.text.len ? move(a, change, a->schema.count - 1, err)
                                                      : TG_OK;
}

static tg_code set_not_null(tg_alteration *a, const tg_column_change *change, size_t at,
                            tg_error *err)
{
    tg_str name = a->schema.fields[at].name;
    tg_auto_buf tg_buf condition = TG_BUF_INIT;
    if (!a->schema.fields[at].nullable) {
        return TG_OK;
    }
    int64_t nulls = 0;
    tg_sql_print_ident(name, &condition);
    tg_buf_addz(&condition, " IS NULL");
    TG_TRY(tg_alteration_count(a, tg_buf_str(&condition), &nulls, err));
    if (nulls > 0) {
        (void)TG_ERR(err, DELTA_NEW_NOT_NULL_VIOLATION,
                     "%lld row%s in %.*s violate the new NOT NULL constraint on %.*s",
                     (long long)nulls, nulls == 1 ? "" : "s", TG_SARG(a->location.full_name),
                     TG_SARG(name));
        return tg_error_at(err, change->span);
    }
    a->judges_rows = true;
    own_fields(a)[at].nullable = false;
    return TG_OK;
}

static tg_code refuse_type(tg_alteration *a, const tg_column_change *change, size_t at,
                           tg_error *err)
{
    const tg_field *field = &a->schema.fields[at];
    if (tg_type_equal(field->type, change->type)) {
        return TG_OK;
    }
    (void)TG_ERR(err, DELTA_ALTER_TABLE_CHANGE_COL_NOT_SUPPORTED,
                 "ALTER TABLE CHANGE COLUMN is not supported for changing column `%.*s` from %.*s "
                 "to %.*s",
                 TG_SARG(field->name), TG_SARG(tg_type_ddl(a->ex->arena, field->type)),
                 TG_SARG(tg_type_ddl(a->ex->arena, change->type)));
    (void)tg_error_hint(err, "Make the table anew: CREATE TABLE ... AS SELECT CAST(...).");
    return tg_error_at(err, change->span);
}

static bool is_mapped(const tg_alteration *a)
{
    for (size_t i = 0; i < a->properties.count; i++) {
        if (tg_str_ieq(a->properties.items[i].key, TG_S("delta.columnMapping.mode"))) {
            return !tg_str_ieq(a->properties.items[i].value, TG_S("none"));
        }
    }
    return false;
}

static tg_code refuse_mapping(const tg_alteration *a, const tg_column_change *change, tg_error *err)
{
    if (is_mapped(a)) {
        TG_ERR(err, UNSUPPORTED_FEATURE,
               "ALTER TABLE ... %s COLUMN is not available in this release",
               change->kind == TG_COLUMN_RENAME ? "RENAME" : "DROP");
    } else if (change->kind == TG_COLUMN_RENAME) {
        TG_ERR(err, DELTA_UNSUPPORTED_RENAME_COLUMN,
               "column rename is not supported for your Delta table: it has no column mapping");
    } else {
        TG_ERR(err, DELTA_UNSUPPORTED_DROP_COLUMN,
               "column drop is not supported for your Delta table: it has no column mapping");
    }
    (void)tg_error_at(err, change->span);
    return tg_error_hint(err, "Make the table anew: CREATE TABLE ... AS SELECT ...");
}

tg_code tg_alteration_change_column(tg_alteration *a, const tg_column_change *change, tg_error *err)
{
    tg_str name = change->column.parts[0].text;
    if (change->column.count > 1) {
        return refuse_nested(change, err);
    }
    if (change->kind == TG_COLUMN_ADD) {
        return add_column(a, change, err);
    }
    ptrdiff_t found = tg_schema_find(a->schema, name);
    if (found < 0) {
        bool may_lack = change->kind == TG_COLUMN_DROP && a->ex->stmt->command->if_exists;
        return may_lack ? TG_OK : not_found(a, name, change->column.span, err);
    }
    size_t at = (size_t)found;
    switch (change->kind) {
    case TG_COLUMN_ADD:
        break;
    case TG_COLUMN_COMMENT:
        own_fields(a)[at].comment = change->comment;
        return TG_OK;
    case TG_COLUMN_SET_NOT_NULL:
        return set_not_null(a, change, at, err);
    case TG_COLUMN_DROP_NOT_NULL:
        own_fields(a)[at].nullable = true;
        return TG_OK;
    case TG_COLUMN_TYPE:
        return refuse_type(a, change, at, err);
    case TG_COLUMN_DEFAULT:
        TG_ERR(err, UNSUPPORTED_FEATURE, "a column default is not available in this release");
        return tg_error_at(err, change->span);
    case TG_COLUMN_MOVE:
        return move(a, change, at, err);
    case TG_COLUMN_RENAME:
    case TG_COLUMN_DROP:
        return refuse_mapping(a, change, err);
    }
    return TG_OK;
}
