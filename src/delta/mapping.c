/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Column mapping: what columns are called in files (Delta protocol, "Column Mapping").
 *
 * A field of a mapped table has an id and a physical name, which never change; files, statistics and
 * partition values know the column by them. So a column can be renamed, and one that was dropped
 * never comes back under the same name with somebody else's values. Fields of structs at every level
 * are mapped; elements of arrays, keys and values of maps have no names.
 */
#include <yyjson.h>

#include "delta/delta_int.h"

#define KEY_ID "delta.columnMapping.id"
#define KEY_NAME "delta.columnMapping.physicalName"
#define KEY_PREFIX "delta.columnMapping."
#define KEY_MAX "delta.columnMapping.maxColumnId"

tg_delta_mapping tg_delta_mapping_of(const tg_delta_metadata *metadata)
{
    tg_str mode = tg_delta_property(metadata, TG_S("delta.columnMapping.mode"));
    if (mode.ptr && tg_str_ieq(mode, TG_S("name"))) {
        return TG_MAPPING_NAME;
    }
    return mode.ptr && tg_str_ieq(mode, TG_S("id")) ? TG_MAPPING_ID : TG_MAPPING_NONE;
}

/* ---- one field ------------------------------------------------------------------------------- */

typedef struct column_identity {
    int64_t id;  /* -1: none */
    tg_str name; /* empty: none */
} column_identity;

static bool is_whole(const column_identity *identity)
{
    return identity->id >= 0 && identity->name.len > 0;
}

static column_identity identity_of(const tg_field *field, tg_arena *arena)
{
    column_identity found = {.id = -1, .name = TG_S("")};
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    yyjson_val *root;
    if (tg_str_find(field->metadata, TG_S(KEY_PREFIX), 0) == SIZE_MAX ||
        tg_json_parse(field->metadata, TG_JSON_RAW_NUMBERS, scratch, &root, NULL) != TG_OK) {
        return found;
    }
    found.id = tg_json_get_i64(root, KEY_ID, -1);
    found.name = tg_str_copy(arena, tg_json_get_str(root, KEY_NAME, TG_S("")));
    return found;
}

int64_t tg_delta_field_id(const tg_field *field)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    return identity_of(field, scratch).id;
}

/* The field's metadata with this id and name instead of those that it has; none: without. */
static tg_str with_identity(const tg_field *field, const column_identity *identity, tg_arena *arena)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    yyjson_val *root = NULL, *key, *item;
    size_t index, count;
    tg_buf_addc(&out, '{');
    if (field->metadata.len &&
        tg_json_parse(field->metadata, TG_JSON_RAW_NUMBERS, scratch, &root, NULL) == TG_OK &&
        yyjson_is_obj(root)) {
        yyjson_obj_foreach(root, index, count, key, item)
        {
            if (!tg_str_starts(tg_json_text(key), TG_S(KEY_PREFIX))) {
                tg_buf_addz(&out, out.len > 1 ? "," : "");
                tg_json_quote(&out, tg_json_text(key));
                tg_buf_addc(&out, ':');
                tg_json_add_value(&out, item);
            }
        }
    }
    if (identity) {
        tg_buf_addf(&out, "%s\"" KEY_ID "\":%lld,\"" KEY_NAME "\":", out.len > 1 ? "," : "",
                    (long long)identity->id);
        tg_json_quote(&out, identity->name);
    }
    tg_buf_addc(&out, '}');
    return tg_buf_take(&out, arena);
}

/* ---- physical names -------------------------------------------------------------------------- */

static const tg_field *physical_fields(tg_arena *arena, const tg_field *fields, size_t count);

/* Depth is bounded where types are made (TG_LIMIT_EXPRESSION_DEPTH, TG_LIMIT_JSON_DEPTH). */
static const tg_type *physical_type(tg_arena *arena, const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_ARRAY:
        return tg_type_array(arena, physical_type(arena, type->element), type->contains_null);
    case TG_TYPE_MAP:
        return tg_type_map(arena, physical_type(arena, type->key),
                           physical_type(arena, type->element), type->contains_null);
    case TG_TYPE_STRUCT:
        return tg_type_struct(arena, physical_fields(arena, type->fields, type->field_count),
                              type->field_count);
    default:
        return type;
    }
}

static const tg_field *physical_fields(tg_arena *arena, const tg_field *fields, size_t count)
{
    tg_field *out = TG_NEW_ARRAY(arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        column_identity found = identity_of(&fields[i], arena);
        out[i] = fields[i];
        out[i].name = found.name.len ? found.name : fields[i].name;
        out[i].type = physical_type(arena, fields[i].type);
    }
    return out;
}

tg_schema tg_delta_physical_schema(tg_arena *arena, tg_schema schema)
{
    return (tg_schema){physical_fields(arena, schema.fields, schema.count), schema.count};
}

const tg_str *tg_delta_partition_keys(tg_arena *arena, const tg_delta_metadata *metadata)
{
    if (tg_delta_mapping_of(metadata) == TG_MAPPING_NONE) {
        return metadata->partition_columns;
    }
    tg_str *keys = TG_NEW_ARRAY(arena, tg_str, metadata->partition_count);
    for (size_t i = 0; i < metadata->partition_count; i++) {
        ptrdiff_t at = tg_schema_find(metadata->schema, metadata->partition_columns[i]);
        keys[i] = metadata->partition_columns[i];
        if (at >= 0) {
            column_identity found = identity_of(&metadata->schema.fields[at], arena);
            keys[i] = found.name.len ? found.name : keys[i];
        }
    }
    return keys;
}

/* ---- checks of what a log says --------------------------------------------------------------- */

/* What is under way through all levels of a schema. */
typedef struct checker {
    tg_str table_path;
    tg_arena *scratch;
    tg_map ids; /* id as text -> itself */
    tg_error *err;
} checker;

static tg_code check_type(checker *c, const tg_type *type);

static tg_code check_fields(checker *c, const tg_field *fields, size_t count)
{
    tg_error *err = c->err;
    tg_map names;
    tg_map_init_ignore_case(&names, c->scratch);
    for (size_t i = 0; i < count; i++) {
        column_identity found = identity_of(&fields[i], c->scratch);
        if (!is_whole(&found)) {
            TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                    "Delta table `%.*s` has column mapping, but its column `%.*s` has no %s",
                    TG_SARG(c->table_path), TG_SARG(fields[i].name),
                    found.id < 0 ? KEY_ID : KEY_NAME);
        }
        tg_str id = tg_str_printf(c->scratch, "%lld", (long long)found.id);
        bool is_twice = tg_map_has(&c->ids, id) || tg_map_has(&names, found.name);
        if (is_twice) {
            TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                    "Delta table `%.*s` has two columns with the id %.*s or the physical name "
                    "`%.*s`",
                    TG_SARG(c->table_path), TG_SARG(id), TG_SARG(found.name));
        }
        (void)tg_map_put(&c->ids, id, c);
        (void)tg_map_put(&names, found.name, c);
        TG_TRY(check_type(c, fields[i].type));
    }
    return TG_OK;
}

static tg_code check_type(checker *c, const tg_type *type)
{
    if (type->element) {
        TG_TRY(check_type(c, type->element));
    }
    if (type->key) {
        TG_TRY(check_type(c, type->key));
    }
    return check_fields(c, type->fields, type->field_count);
}

tg_code tg_delta_mapping_check(tg_str table_path, const tg_delta_metadata *metadata, tg_error *err)
{
    tg_str mode = tg_delta_property(metadata, TG_S("delta.columnMapping.mode"));
    if (tg_delta_mapping_of(metadata) == TG_MAPPING_NONE) {
        if (mode.ptr && !tg_str_ieq(mode, TG_S("none"))) {
            TG_FAIL(err, DELTA_UNSUPPORTED_FEATURES_FOR_READ,
                    "cannot read Delta table `%.*s`: its delta.columnMapping.mode `%.*s` is not "
                    "known",
                    TG_SARG(table_path), TG_SARG(mode));
        }
        return TG_OK;
    }
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    checker c = {.table_path = table_path, .scratch = scratch, .err = err};
    tg_map_init(&c.ids, scratch);
    return check_fields(&c, metadata->schema.fields, metadata->schema.count);
}

/* ---- new definitions ------------------------------------------------------------------------- */

typedef struct assigner {
    const tg_delta *delta;
    tg_arena *arena;
    bool is_upgrade; /* the table had no mapping: what is in its files keeps its name */
    tg_map known;    /* "id name" of the fields before -> itself; taken out when it is given away */
    int64_t highest;
} assigner;

static tg_str known_key(const column_identity *identity, tg_arena *arena)
{
    return tg_str_printf(arena, "%lld %.*s", (long long)identity->id, TG_SARG(identity->name));
}

/* Collects ids of all levels. */
static void note_fields(assigner *a, const tg_field *fields, size_t count, bool is_before)
{
    for (size_t i = 0; i < count; i++) {
        column_identity found = identity_of(&fields[i], a->arena);
        a->highest = found.id > a->highest ? found.id : a->highest;
        if (is_before && is_whole(&found)) {
            (void)tg_map_put(&a->known, known_key(&found, a->arena), a);
        }
        for (const tg_type *type = fields[i].type; type; type = type->element) {
            if (type->key) {
                note_fields(a, type->key->fields, type->key->field_count, is_before);
            }
            note_fields(a, type->fields, type->field_count, is_before);
        }
    }
}

static const tg_field *assign_fields(assigner *a, const tg_field *before, size_t before_count,
                                     const tg_field *fields, size_t count);

/* before NULL: of another kind, or not there. */
static const tg_type *assign_type(assigner *a, const tg_type *before, const tg_type *type)
{
    before = before && before->kind == type->kind ? before : NULL;
    switch (type->kind) {
    case TG_TYPE_ARRAY:
        return tg_type_array(a->arena,
                             assign_type(a, before ? before->element : NULL, type->element),
                             type->contains_null);
    case TG_TYPE_MAP:
        return tg_type_map(a->arena, assign_type(a, before ? before->key : NULL, type->key),
                           assign_type(a, before ? before->element : NULL, type->element),
                           type->contains_null);
    case TG_TYPE_STRUCT:
        return tg_type_struct(a->arena,
                              assign_fields(a, before ? before->fields : NULL,
                                            before ? before->field_count : 0, type->fields,
                                            type->field_count),
                              type->field_count);
    default:
        return type;
    }
}

/* A field's own identity, if the table gave it. It is given away once. */
static bool take_known(assigner *a, const column_identity *identity)
{
    return is_whole(identity) && tg_map_remove(&a->known, known_key(identity, a->arena)) != NULL;
}

static column_identity new_identity(assigner *a, const tg_field *field, bool was_there)
{
    column_identity made = {.id = ++a->highest, .name = field->name};
    if (!a->is_upgrade || !was_there) {
        char uuid[37];
        a->delta->env->uuid(a->delta->env->self, uuid);
        made.name = tg_str_printf(a->arena, "col-%s", uuid);
    }
    return made;
}

static const tg_field *assign_fields(assigner *a, const tg_field *before, size_t before_count,
                                     const tg_field *fields, size_t count)
{
    tg_schema old = {before, before_count};
    tg_field *out = TG_NEW_ARRAY(a->arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t at = tg_schema_find(old, fields[i].name);
        const tg_field *same = at < 0 ? NULL : &before[at];
        column_identity own = identity_of(&fields[i], a->arena);
        column_identity found = same ? identity_of(same, a->arena) : (column_identity){.id = -1};
        bool keeps_own = take_known(a, &own);
        /* A column of another kind is another column: the old one's files are not to be read. */
        bool keeps_old =
            !keeps_own && same && same->type->kind == fields[i].type->kind && take_known(a, &found);
        column_identity chosen = keeps_own   ? own
                                 : keeps_old ? found
                                             : new_identity(a, &fields[i], same != NULL);
        out[i] = fields[i];
        out[i].metadata = with_identity(&fields[i], &chosen, a->arena);
        out[i].type = assign_type(a, same ? same->type : NULL, fields[i].type);
    }
    return out;
}

static void set_property(tg_delta_metadata *metadata, tg_str key, tg_str value, tg_arena *arena)
{
    tg_str *keys = TG_NEW_ARRAY(arena, tg_str, metadata->config_count + 1);
    tg_str *values = TG_NEW_ARRAY(arena, tg_str, metadata->config_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < metadata->config_count; i++) {
        if (!tg_str_ieq(metadata->config_keys[i], key)) {
            keys[count] = metadata->config_keys[i];
            values[count++] = metadata->config_values[i];
        }
    }
    keys[count] = key;
    values[count++] = value;
    metadata->config_keys = keys;
    metadata->config_values = values;
    metadata->config_count = count;
}

static int64_t highest_id(const tg_delta_metadata *metadata)
{
    int64_t number;
    tg_str text = metadata ? tg_delta_property(metadata, TG_S(KEY_MAX)) : TG_S("");
    return text.ptr && tg_str_to_i64(text, &number) && number > 0 ? number : 0;
}

void tg_delta_mapping_keep_highest(const tg_delta_metadata *before, tg_delta_metadata *metadata,
                                   tg_arena *arena)
{
    int64_t highest = highest_id(before);
    if (highest > highest_id(metadata)) {
        set_property(metadata, TG_S(KEY_MAX), tg_str_printf(arena, "%lld", (long long)highest),
                     arena);
    }
}

/* A struct that was read from a mapped table brings the names of that table's files along. */
static const tg_field *without_identities(tg_arena *arena, const tg_field *fields, size_t count);

static const tg_type *type_without(tg_arena *arena, const tg_type *type)
{
    switch (type->kind) {
    case TG_TYPE_ARRAY:
        return tg_type_array(arena, type_without(arena, type->element), type->contains_null);
    case TG_TYPE_MAP:
        return tg_type_map(arena, type_without(arena, type->key),
                           type_without(arena, type->element), type->contains_null);
    case TG_TYPE_STRUCT:
        return tg_type_struct(arena, without_identities(arena, type->fields, type->field_count),
                              type->field_count);
    default:
        return type;
    }
}

static const tg_field *without_identities(tg_arena *arena, const tg_field *fields, size_t count)
{
    tg_field *out = TG_NEW_ARRAY(arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = fields[i];
        if (tg_str_find(fields[i].metadata, TG_S(KEY_PREFIX), 0) != SIZE_MAX) {
            out[i].metadata = with_identity(&fields[i], NULL, arena);
        }
        out[i].type = type_without(arena, fields[i].type);
    }
    return out;
}

void tg_delta_mapping_set_physical(tg_delta_metadata *metadata, tg_arena *arena)
{
    tg_schema schema = metadata->schema;
    if (tg_delta_mapping_of(metadata) == TG_MAPPING_NONE) {
        metadata->schema.fields = without_identities(arena, schema.fields, schema.count);
    }
    metadata->physical = tg_delta_physical_schema(arena, metadata->schema);
}

static void set_schema(tg_delta_metadata *metadata, const tg_field *fields, tg_arena *arena)
{
    metadata->schema.fields = fields;
    metadata->schema_string = tg_schema_to_json(arena, metadata->schema);
    metadata->physical = tg_delta_physical_schema(arena, metadata->schema);
}

tg_code tg_delta_mapping_assign(const tg_delta *delta, const tg_delta_metadata *before,
                                tg_delta_metadata *metadata, tg_arena *arena, tg_error *err)
{
    tg_delta_mapping mapping = tg_delta_mapping_of(metadata);
    tg_delta_mapping had = before ? tg_delta_mapping_of(before) : TG_MAPPING_NONE;
    tg_schema schema = metadata->schema;
    if (before && mapping != had && !(had == TG_MAPPING_NONE && mapping == TG_MAPPING_NAME)) {
        TG_FAIL(err, UNSUPPORTED_FEATURE,
                "delta.columnMapping.mode of a table cannot be changed from %s to %s",
                had == TG_MAPPING_NONE   ? "none"
                : had == TG_MAPPING_NAME ? "name"
                                         : "id",
                mapping == TG_MAPPING_NONE   ? "none"
                : mapping == TG_MAPPING_NAME ? "name"
                                             : "id");
    }
    if (mapping == TG_MAPPING_NONE) {
        set_schema(metadata, without_identities(arena, schema.fields, schema.count), arena);
        return TG_OK;
    }
    assigner a = {.delta = delta,
                  .arena = arena,
                  .is_upgrade = before && had == TG_MAPPING_NONE,
                  .highest = highest_id(before)};
    tg_map_init(&a.known, arena);
    a.highest = highest_id(metadata) > a.highest ? highest_id(metadata) : a.highest;
    tg_schema old = before ? before->schema : (tg_schema){0};
    note_fields(&a, old.fields, old.count, had != TG_MAPPING_NONE);
    set_schema(metadata, assign_fields(&a, old.fields, old.count, schema.fields, schema.count),
               arena);
    set_property(metadata, TG_S(KEY_MAX), tg_str_printf(arena, "%lld", (long long)a.highest),
                 arena);
    /* In small letters: not every reader takes others. */
    set_property(metadata, TG_S("delta.columnMapping.mode"),
                 mapping == TG_MAPPING_NAME ? TG_S("name") : TG_S("id"), arena);
    return TG_OK;
}
