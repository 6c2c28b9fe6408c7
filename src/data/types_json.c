/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta's "schemaString": Spark's JSON form of a struct type (Delta protocol, "Schema Serialization
 * Format").
 *
 * Field metadata is carried as it came (other writers keep their own keys there); only "comment" is
 * looked at. Text is written to the buffer directly: a schema may be nested deeper than tg_json_out
 * tracks.
 */
#include <yyjson.h>

#include "data/types.h"

/* JSON type names that are not tg_type_text's. */
static const struct {
    const char *name;
    tg_type_kind kind;
} json_names[] = {
    {"void", TG_TYPE_VOID},
    {"boolean", TG_TYPE_BOOLEAN},
    {"byte", TG_TYPE_TINYINT},
    {"short", TG_TYPE_SMALLINT},
    {"integer", TG_TYPE_INT},
    {"long", TG_TYPE_BIGINT},
    {"float", TG_TYPE_FLOAT},
    {"double", TG_TYPE_DOUBLE},
    {"string", TG_TYPE_STRING},
    {"binary", TG_TYPE_BINARY},
    {"date", TG_TYPE_DATE},
    {"timestamp", TG_TYPE_TIMESTAMP},
    {"timestamp_ntz", TG_TYPE_TIMESTAMP_NTZ},
    {"variant", TG_TYPE_VARIANT},
};
enum { JSON_NAME_COUNT = sizeof(json_names) / sizeof(json_names[0]) };

/* ---- writing --------------------------------------------------------------------------------- */

/* The metadata object with "comment" as the field has it now. */
static void write_metadata(tg_buf *out, const tg_field *field)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    yyjson_val *metadata = NULL;
    yyjson_val *key, *item;
    size_t index, count;
    bool first = true;

    if (field->metadata.len &&
        tg_json_parse(field->metadata, TG_JSON_RAW_NUMBERS, scratch, &metadata, NULL) != TG_OK) {
        metadata = NULL;
    }
    if (metadata && tg_str_eq(tg_json_get_str(metadata, "comment", TG_S("")), field->comment)) {
        tg_buf_adds(out, field->metadata);
        return;
    }
    tg_buf_addc(out, '{');
    /* yyjson's loop takes the address of the first member, which a missing object does not have. */
    if (metadata) {
        yyjson_obj_foreach(metadata, index, count, key, item)
        {
            if (!tg_str_eq(tg_json_text(key), TG_S("comment"))) {
                tg_buf_addz(out, first ? "" : ",");
                tg_json_quote(out, tg_json_text(key));
                tg_buf_addc(out, ':');
                tg_json_add_value(out, item);
                first = false;
            }
        }
    }
    if (field->comment.len) {
        tg_buf_addz(out, first ? "\"comment\":" : ",\"comment\":");
        tg_json_quote(out, field->comment);
    }
    tg_buf_addc(out, '}');
}

static void write_type(tg_buf *out, const tg_type *type);

static void write_struct(tg_buf *out, const tg_field *fields, size_t count)
{
    tg_buf_addz(out, "{\"type\":\"struct\",\"fields\":[");
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(out, i ? ",{\"name\":" : "{\"name\":");
        tg_json_quote(out, fields[i].name);
        tg_buf_addz(out, ",\"type\":");
        write_type(out, fields[i].type);
        tg_buf_addz(out, fields[i].nullable ? ",\"nullable\":true" : ",\"nullable\":false");
        tg_buf_addz(out, ",\"metadata\":");
        write_metadata(out, &fields[i]);
        tg_buf_addc(out, '}');
    }
    tg_buf_addz(out, "]}");
}

static void write_atomic(tg_buf *out, const tg_type *type)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();

    for (size_t i = 0; i < JSON_NAME_COUNT; i++) {
        if (json_names[i].kind == type->kind) {
            tg_buf_addf(out, "\"%s\"", json_names[i].name);
            return;
        }
    }
    tg_json_quote(out, tg_type_text(scratch, type)); /* decimal(p,s), interval ... */
}

static void write_type(tg_buf *out, const tg_type *type)
{
    if (type->kind == TG_TYPE_STRUCT) {
        write_struct(out, type->fields, type->field_count);
    } else if (type->kind == TG_TYPE_ARRAY) {
        tg_buf_addz(out, "{\"type\":\"array\",\"elementType\":");
        write_type(out, type->element);
        tg_buf_addf(out, ",\"containsNull\":%s}", type->contains_null ? "true" : "false");
    } else if (type->kind == TG_TYPE_MAP) {
        tg_buf_addz(out, "{\"type\":\"map\",\"keyType\":");
        write_type(out, type->key);
        tg_buf_addz(out, ",\"valueType\":");
        write_type(out, type->element);
        tg_buf_addf(out, ",\"valueContainsNull\":%s}", type->contains_null ? "true" : "false");
    } else {
        write_atomic(out, type);
    }
}

tg_str tg_schema_to_json(tg_arena *arena, tg_schema schema)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;

    write_struct(&out, schema.fields, schema.count);
    return tg_buf_take(&out, arena);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where in a schema we are, for messages: "a.b.element". */
typedef struct reader {
    tg_arena *arena;
    tg_error *err;
    tg_str path;
} reader;

static tg_str path_append(reader *in, tg_str path, tg_str name)
{
    return path.len ? tg_str_printf(in->arena, "%.*s.%.*s", TG_SARG(path), TG_SARG(name)) : name;
}

static tg_code bad_schema(reader *in, const char *what)
{
    tg_error *err = in->err;

    if (in->path.len) {
        TG_FAIL(err, INVALID_JSON_DATA_TYPE, "schema text is not valid at column `%.*s`: %s",
                TG_SARG(in->path), what);
    }
    TG_FAIL(err, INVALID_JSON_DATA_TYPE, "schema text is not valid: %s", what);
}

/* "decimal", "decimal(p)", "decimal(p,s)". */
static bool read_decimal(tg_str name, tg_arena *arena, const tg_type **out_type)
{
    int64_t precision = 10;
    int64_t scale = 0;

    if (!tg_str_starts(name, TG_S("decimal"))) {
        return false;
    }
    if (name.len > strlen("decimal")) {
        tg_str args = tg_str_sub(name, strlen("decimal"), name.len);
        size_t comma;
        if (!tg_str_starts(args, TG_S("(")) || !tg_str_ends(args, TG_S(")"))) {
            return false;
        }
        args = tg_str_sub(args, 1, args.len - 1);
        comma = tg_str_find(args, TG_S(","), 0);
        if (comma != SIZE_MAX) {
            if (!tg_str_to_i64(tg_str_trim(tg_str_sub(args, comma + 1, args.len)), &scale)) {
                return false;
            }
            args = tg_str_sub(args, 0, comma);
        }
        if (!tg_str_to_i64(tg_str_trim(args), &precision)) {
            return false;
        }
    }
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
        return false;
    }
    *out_type = tg_type_decimal(arena, (int)precision, (int)scale);
    return true;
}

static tg_code read_atomic(reader *in, tg_str name, const tg_type **out_type)
{
    tg_error *err = in->err;

    for (size_t i = 0; i < JSON_NAME_COUNT; i++) {
        if (tg_str_eq(name, tg_str_from(json_names[i].name))) {
            *out_type = tg_type_of(json_names[i].kind);
            return TG_OK;
        }
    }
    if (tg_str_starts(name, TG_S("char(")) || tg_str_starts(name, TG_S("varchar("))) {
        *out_type = tg_type_of(TG_TYPE_STRING);
        return TG_OK;
    }
    if (read_decimal(name, in->arena, out_type)) {
        return TG_OK;
    }
    TG_FAIL(err, UNSUPPORTED_DATATYPE, "data type \"%.*s\" of column `%.*s` is not supported",
            TG_SARG(name), TG_SARG(in->path));
}

static tg_code read_type(reader *in, yyjson_val *json, int depth, const tg_type **out_type);

/* A part of a nested type: an object's member, under a name for messages. */
static tg_code read_part(reader *in, yyjson_val *json, const char *key, const char *shown,
                         int depth, const tg_type **out_type)
{
    tg_str path = in->path;
    yyjson_val *part = tg_json_get(json, key);

    if (!part) {
        return bad_schema(in, tg_arena_printf(in->arena, "\"%s\" is missing", key));
    }
    in->path = path_append(in, path, tg_str_from(shown));
    TG_TRY(read_type(in, part, depth, out_type));
    in->path = path;
    return TG_OK;
}

static tg_code read_field(reader *in, yyjson_val *json, int depth, tg_field *out_field)
{
    tg_str path = in->path;
    yyjson_val *name = tg_json_get(json, "name");
    yyjson_val *type = tg_json_get(json, "type");
    yyjson_val *metadata = tg_json_get(json, "metadata");
    const tg_type *field_type;

    if (!yyjson_is_str(name)) {
        return bad_schema(in, "a field without a name");
    }
    in->path = path_append(in, path, tg_json_text(name));
    if (!type) {
        return bad_schema(in, "\"type\" is missing");
    }
    TG_TRY(read_type(in, type, depth, &field_type));
    *out_field = (tg_field){
        .name = tg_str_copy(in->arena, tg_json_text(name)),
        .type = field_type,
        .nullable = tg_json_get_bool(json, "nullable", true),
    };
    if (yyjson_is_obj(metadata) && yyjson_obj_size(metadata)) {
        tg_auto_buf tg_buf text = TG_BUF_INIT;
        tg_json_add_value(&text, metadata);
        out_field->metadata = tg_buf_take(&text, in->arena);
        out_field->comment = tg_str_copy(in->arena, tg_json_get_str(metadata, "comment", TG_S("")));
    }
    in->path = path;
    return TG_OK;
}

static tg_code read_fields(reader *in, yyjson_val *json, int depth, const tg_field **out_fields,
                           size_t *out_count)
{
    yyjson_val *list = tg_json_get(json, "fields");
    yyjson_val *item;
    size_t index, count;
    tg_field *fields;

    if (!yyjson_is_arr(list)) {
        return bad_schema(in, "\"fields\" is missing or not an array");
    }
    fields = TG_NEW_ARRAY(in->arena, tg_field, yyjson_arr_size(list));
    yyjson_arr_foreach(list, index, count, item)
    {
        TG_TRY(read_field(in, item, depth, &fields[index]));
    }
    *out_fields = fields;
    *out_count = yyjson_arr_size(list);
    return TG_OK;
}

static tg_code read_type(reader *in, yyjson_val *json, int depth, const tg_type **out_type)
{
    tg_str name;
    const tg_type *key, *element;
    const tg_field *fields;
    size_t count;

    if (depth > TG_LIMIT_JSON_DEPTH) {
        return bad_schema(in, "nested too deep");
    }
    if (yyjson_is_str(json)) {
        return read_atomic(in, tg_json_text(json), out_type);
    }
    if (!yyjson_is_obj(json)) {
        return bad_schema(in, "a type is neither a name nor an object");
    }
    name = tg_json_get_str(json, "type", TG_S(""));
    if (tg_str_eq(name, TG_S("struct"))) {
        TG_TRY(read_fields(in, json, depth + 1, &fields, &count));
        *out_type = tg_type_struct(in->arena, fields, count);
    } else if (tg_str_eq(name, TG_S("array"))) {
        TG_TRY(read_part(in, json, "elementType", "element", depth + 1, &element));
        *out_type = tg_type_array(in->arena, element, tg_json_get_bool(json, "containsNull", true));
    } else if (tg_str_eq(name, TG_S("map"))) {
        TG_TRY(read_part(in, json, "keyType", "key", depth + 1, &key));
        TG_TRY(read_part(in, json, "valueType", "value", depth + 1, &element));
        *out_type =
            tg_type_map(in->arena, key, element, tg_json_get_bool(json, "valueContainsNull", true));
    } else {
        return read_atomic(in, name, out_type); /* refuses it by name */
    }
    return TG_OK;
}

tg_code tg_schema_from_json(tg_str json, tg_arena *arena, tg_schema *out_schema, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    reader in = {arena, err, {"", 0}};
    yyjson_val *root;
    tg_schema schema;

    TG_TRY_CTX(tg_json_parse(json, TG_JSON_RAW_NUMBERS, scratch, &root, err), err,
               "while reading the schema of a table");
    if (!tg_str_eq(tg_json_get_str(root, "type", TG_S("")), TG_S("struct"))) {
        return bad_schema(&in, "it is not a struct");
    }
    TG_TRY(read_fields(&in, root, 1, &schema.fields, &schema.count));
    *out_schema = schema;
    return TG_OK;
}
