/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: construction, comparison and their text forms.
 *
 * Functions that recurse do so over a type, whose depth the parsers bound
 * (TG_LIMIT_EXPRESSION_DEPTH in SQL, TG_LIMIT_JSON_DEPTH in schemas).
 */
#include "data/types.h"

static const tg_type shared_types[TG_TYPE_KIND_COUNT_] = {
    [TG_TYPE_VOID] = {.kind = TG_TYPE_VOID},
    [TG_TYPE_BOOLEAN] = {.kind = TG_TYPE_BOOLEAN},
    [TG_TYPE_TINYINT] = {.kind = TG_TYPE_TINYINT},
    [TG_TYPE_SMALLINT] = {.kind = TG_TYPE_SMALLINT},
    [TG_TYPE_INT] = {.kind = TG_TYPE_INT},
    [TG_TYPE_BIGINT] = {.kind = TG_TYPE_BIGINT},
    [TG_TYPE_FLOAT] = {.kind = TG_TYPE_FLOAT},
    [TG_TYPE_DOUBLE] = {.kind = TG_TYPE_DOUBLE},
    [TG_TYPE_STRING] = {.kind = TG_TYPE_STRING},
    [TG_TYPE_BINARY] = {.kind = TG_TYPE_BINARY},
    [TG_TYPE_DATE] = {.kind = TG_TYPE_DATE},
    [TG_TYPE_TIMESTAMP] = {.kind = TG_TYPE_TIMESTAMP},
    [TG_TYPE_TIMESTAMP_NTZ] = {.kind = TG_TYPE_TIMESTAMP_NTZ},
    [TG_TYPE_VARIANT] = {.kind = TG_TYPE_VARIANT},
};

/* Spark's names; of types with parameters only the first word. */
static const char *const type_names[TG_TYPE_KIND_COUNT_] = {
    [TG_TYPE_VOID] = "void",
    [TG_TYPE_BOOLEAN] = "boolean",
    [TG_TYPE_TINYINT] = "tinyint",
    [TG_TYPE_SMALLINT] = "smallint",
    [TG_TYPE_INT] = "int",
    [TG_TYPE_BIGINT] = "bigint",
    [TG_TYPE_FLOAT] = "float",
    [TG_TYPE_DOUBLE] = "double",
    [TG_TYPE_DECIMAL] = "decimal",
    [TG_TYPE_STRING] = "string",
    [TG_TYPE_BINARY] = "binary",
    [TG_TYPE_DATE] = "date",
    [TG_TYPE_TIMESTAMP] = "timestamp",
    [TG_TYPE_TIMESTAMP_NTZ] = "timestamp_ntz",
    [TG_TYPE_INTERVAL_YM] = "interval",
    [TG_TYPE_INTERVAL_DT] = "interval",
    [TG_TYPE_ARRAY] = "array",
    [TG_TYPE_MAP] = "map",
    [TG_TYPE_STRUCT] = "struct",
    [TG_TYPE_VARIANT] = "variant",
};

static const char *const interval_field_names[] = {
    [TG_FIELD_YEAR] = "year", [TG_FIELD_MONTH] = "month",   [TG_FIELD_DAY] = "day",
    [TG_FIELD_HOUR] = "hour", [TG_FIELD_MINUTE] = "minute", [TG_FIELD_SECOND] = "second",
};

/* ---- construction ---------------------------------------------------------------------------- */

const tg_type *tg_type_of(tg_type_kind kind)
{
    const tg_type *type = &shared_types[kind];

    tg_assert(type->kind == kind); /* kinds with parameters have their own constructors */
    return type;
}

const tg_type *tg_type_decimal(tg_arena *arena, int precision, int scale)
{
    tg_type *type = TG_NEW(arena, tg_type);

    tg_assert(precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision);
    *type = (tg_type){.kind = TG_TYPE_DECIMAL, .precision = precision, .scale = scale};
    return type;
}

const tg_type *tg_type_interval(tg_arena *arena, tg_interval_field from, tg_interval_field to)
{
    tg_type *type = TG_NEW(arena, tg_type);
    tg_type_kind kind = from <= TG_FIELD_MONTH ? TG_TYPE_INTERVAL_YM : TG_TYPE_INTERVAL_DT;

    tg_assert(from <= to && (kind == TG_TYPE_INTERVAL_DT || to <= TG_FIELD_MONTH));
    *type = (tg_type){.kind = kind, .from = from, .to = to};
    return type;
}

const tg_type *tg_type_array(tg_arena *arena, const tg_type *element, bool contains_null)
{
    tg_type *type = TG_NEW(arena, tg_type);

    *type = (tg_type){.kind = TG_TYPE_ARRAY, .element = element, .contains_null = contains_null};
    return type;
}

const tg_type *tg_type_map(tg_arena *arena, const tg_type *key, const tg_type *value,
                           bool contains_null)
{
    tg_type *type = TG_NEW(arena, tg_type);

    *type = (tg_type){
        .kind = TG_TYPE_MAP, .key = key, .element = value, .contains_null = contains_null};
    return type;
}

const tg_type *tg_type_struct(tg_arena *arena, const tg_field *fields, size_t field_count)
{
    tg_type *type = TG_NEW(arena, tg_type);

    *type = (tg_type){.kind = TG_TYPE_STRUCT, .fields = fields, .field_count = field_count};
    return type;
}

const tg_type *tg_type_nullable(tg_arena *arena, const tg_type *type)
{
    if (type->kind == TG_TYPE_ARRAY) {
        return tg_type_array(arena, tg_type_nullable(arena, type->element), true);
    }
    if (type->kind == TG_TYPE_MAP) {
        return tg_type_map(arena, tg_type_nullable(arena, type->key),
                           tg_type_nullable(arena, type->element), true);
    }
    if (type->kind != TG_TYPE_STRUCT) {
        return type;
    }
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, type->field_count);
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        fields[i].type = tg_type_nullable(arena, fields[i].type);
        fields[i].nullable = true;
    }
    return tg_type_struct(arena, fields, type->field_count);
}

static const tg_field *fields_copy(tg_arena *arena, const tg_field *fields, size_t count)
{
    tg_field *copy = TG_NEW_ARRAY(arena, tg_field, count);

    for (size_t i = 0; i < count; i++) {
        copy[i] = (tg_field){
            .name = tg_str_copy(arena, fields[i].name),
            .type = tg_type_copy(arena, fields[i].type),
            .nullable = fields[i].nullable,
            .comment = tg_str_copy(arena, fields[i].comment),
            .metadata = tg_str_copy(arena, fields[i].metadata),
        };
    }
    return copy;
}

const tg_type *tg_type_copy(tg_arena *arena, const tg_type *type)
{
    tg_type *copy;

    if (!type || type == &shared_types[type->kind]) {
        return type;
    }
    copy = TG_NEW(arena, tg_type);
    *copy = *type;
    copy->element = tg_type_copy(arena, type->element);
    copy->key = tg_type_copy(arena, type->key);
    copy->fields = type->field_count ? fields_copy(arena, type->fields, type->field_count) : NULL;
    return copy;
}

tg_schema tg_schema_copy(tg_arena *arena, tg_schema schema)
{
    return (tg_schema){fields_copy(arena, schema.fields, schema.count), schema.count};
}

/* ---- questions ------------------------------------------------------------------------------- */

bool tg_type_equal(const tg_type *a, const tg_type *b)
{
    if (a == b) {
        return true;
    }
    if (!a || !b || a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case TG_TYPE_VOID:
    case TG_TYPE_BOOLEAN:
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
    case TG_TYPE_VARIANT:
        return true;
    case TG_TYPE_DECIMAL:
        return a->precision == b->precision && a->scale == b->scale;
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
        return a->from == b->from && a->to == b->to;
    case TG_TYPE_ARRAY:
        return tg_type_equal(a->element, b->element);
    case TG_TYPE_MAP:
        return tg_type_equal(a->key, b->key) && tg_type_equal(a->element, b->element);
    case TG_TYPE_STRUCT:
        if (a->field_count != b->field_count) {
            return false;
        }
        for (size_t i = 0; i < a->field_count; i++) {
            if (!tg_str_eq(a->fields[i].name, b->fields[i].name) ||
                !tg_type_equal(a->fields[i].type, b->fields[i].type)) {
                return false;
            }
        }
        return true;
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    return false;
}

bool tg_type_is_integer(const tg_type *type)
{
    return type->kind >= TG_TYPE_TINYINT && type->kind <= TG_TYPE_BIGINT;
}

bool tg_type_is_numeric(const tg_type *type)
{
    return type->kind >= TG_TYPE_TINYINT && type->kind <= TG_TYPE_DECIMAL;
}

bool tg_type_is_floating(const tg_type *type)
{
    return type->kind == TG_TYPE_FLOAT || type->kind == TG_TYPE_DOUBLE;
}

bool tg_type_is_datetime(const tg_type *type)
{
    return type->kind == TG_TYPE_DATE || type->kind == TG_TYPE_TIMESTAMP ||
           type->kind == TG_TYPE_TIMESTAMP_NTZ;
}

bool tg_type_is_interval(const tg_type *type)
{
    return type->kind == TG_TYPE_INTERVAL_YM || type->kind == TG_TYPE_INTERVAL_DT;
}

bool tg_type_is_nested(const tg_type *type)
{
    return type->kind == TG_TYPE_ARRAY || type->kind == TG_TYPE_MAP || type->kind == TG_TYPE_STRUCT;
}

bool tg_type_is_orderable(const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_MAP:
    case TG_TYPE_VARIANT:
        return false;
    case TG_TYPE_ARRAY:
        return tg_type_is_orderable(type->element);
    case TG_TYPE_STRUCT:
        for (size_t i = 0; i < type->field_count; i++) {
            if (!tg_type_is_orderable(type->fields[i].type)) {
                return false;
            }
        }
        return true;
    case TG_TYPE_VOID:
    case TG_TYPE_BOOLEAN:
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
    case TG_TYPE_DECIMAL:
    case TG_TYPE_STRING:
    case TG_TYPE_BINARY:
    case TG_TYPE_DATE:
    case TG_TYPE_TIMESTAMP:
    case TG_TYPE_TIMESTAMP_NTZ:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_INTERVAL_DT:
    case TG_TYPE_KIND_COUNT_:
        break;
    }
    return true;
}

ptrdiff_t tg_schema_find(tg_schema schema, tg_str name)
{
    for (size_t i = 0; i < schema.count; i++) {
        if (tg_str_ieq(schema.fields[i].name, name)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The two styles: simpleString "struct<a:int>", DDL "STRUCT<a: INT NOT NULL COMMENT 'x'>". */
typedef enum text_style { STYLE_SIMPLE, STYLE_DDL } text_style;

static void add_word(tg_buf *out, text_style style, const char *word)
{
    for (; *word; word++) {
        bool raise = style == STYLE_DDL && *word >= 'a' && *word <= 'z';
        tg_buf_addc(out, raise ? (char)(*word - 'a' + 'A') : *word);
    }
}

/* Spark quotes what its lexer would not read as one identifier. */
static void add_identifier(tg_buf *out, tg_str name)
{
    bool plain = name.len > 0;
    bool has_letter = false;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        has_letter |= letter;
        plain &= letter || (c >= '0' && c <= '9');
    }
    if (plain && has_letter && !(name.ptr[0] >= '0' && name.ptr[0] <= '9')) {
        tg_buf_adds(out, name);
        return;
    }
    tg_buf_addq(out, name, '`');
}

static void add_comment(tg_buf *out, tg_str comment)
{
    tg_buf_addz(out, " COMMENT '");
    for (size_t i = 0; i < comment.len; i++) {
        if (comment.ptr[i] == '\'' || comment.ptr[i] == '\\') {
            tg_buf_addc(out, '\\');
        }
        tg_buf_addc(out, comment.ptr[i]);
    }
    tg_buf_addc(out, '\'');
}

static void add_type(tg_buf *out, text_style style, const tg_type *type);

static void add_field(tg_buf *out, text_style style, const tg_field *field)
{
    if (style == STYLE_SIMPLE) {
        tg_buf_adds(out, field->name);
        tg_buf_addc(out, ':');
        add_type(out, style, field->type);
        return;
    }
    add_identifier(out, field->name);
    tg_buf_addz(out, ": ");
    add_type(out, style, field->type);
    if (!field->nullable) {
        tg_buf_addz(out, " NOT NULL");
    }
    if (field->comment.len) {
        add_comment(out, field->comment);
    }
}

static void add_type(tg_buf *out, text_style style, const tg_type *type)
{
    const char *comma = style == STYLE_DDL ? ", " : ",";

    add_word(out, style, type_names[type->kind]);
    if (type->kind == TG_TYPE_DECIMAL) {
        tg_buf_addf(out, "(%d,%d)", type->precision, type->scale);
    } else if (tg_type_is_interval(type)) {
        tg_buf_addc(out, ' ');
        add_word(out, style, interval_field_names[type->from]);
        if (type->from != type->to) {
            add_word(out, style, " to ");
            add_word(out, style, interval_field_names[type->to]);
        }
    } else if (type->kind == TG_TYPE_ARRAY) {
        tg_buf_addc(out, '<');
        add_type(out, style, type->element);
        tg_buf_addc(out, '>');
    } else if (type->kind == TG_TYPE_MAP) {
        tg_buf_addc(out, '<');
        add_type(out, style, type->key);
        tg_buf_addz(out, comma);
        add_type(out, style, type->element);
        tg_buf_addc(out, '>');
    } else if (type->kind == TG_TYPE_STRUCT) {
        tg_buf_addc(out, '<');
        for (size_t i = 0; i < type->field_count; i++) {
            tg_buf_addz(out, i ? comma : "");
            add_field(out, style, &type->fields[i]);
        }
        tg_buf_addc(out, '>');
    }
}

static tg_str type_text(tg_arena *arena, text_style style, const tg_type *type)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;

    add_type(&out, style, type);
    return tg_buf_take(&out, arena);
}

tg_str tg_type_text(tg_arena *arena, const tg_type *type)
{
    return type_text(arena, STYLE_SIMPLE, type);
}

tg_str tg_type_ddl(tg_arena *arena, const tg_type *type)
{
    return type_text(arena, STYLE_DDL, type);
}
