/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log says about a new file, from what COPY returns with RETURN_STATS (Delta protocol,
 * "Per-file Statistics").
 *
 * Statistics stand under the names that columns have in files, in objects as deep as the structs.
 * The first 32 leaves get them, or those that the table's properties ask for, and what the caller
 * needs for its own windows. Arrays and maps have none.
 */
#include <math.h>

#include "engine/duckdb/copy_int.h"

/* ---- what COPY returns ----------------------------------------------------------------------- */

/* The range of entries of a map in one row. */
static duckdb_list_entry map_entries(duckdb_vector maps, idx_t row)
{
    if (tg_duckdb_cell_is_null(maps, row)) {
        return (duckdb_list_entry){0, 0};
    }
    const duckdb_list_entry *entries = tg_duckdb.vector_get_data(maps);
    return entries[row];
}

static duckdb_vector map_keys(duckdb_vector maps)
{
    return tg_duckdb.struct_vector_get_child(tg_duckdb.list_vector_get_child(maps), 0);
}

duckdb_vector tg_duckdb_map_values(duckdb_vector maps)
{
    return tg_duckdb.struct_vector_get_child(tg_duckdb.list_vector_get_child(maps), 1);
}

/* Position of a key's value in map_values; false when the row's map lacks it. */
bool tg_duckdb_map_find(duckdb_vector maps, idx_t row, tg_str key, idx_t *out_position)
{
    duckdb_list_entry range = map_entries(maps, row);
    duckdb_vector keys = map_keys(maps);
    for (idx_t i = range.offset; i < range.offset + range.length; i++) {
        if (tg_str_eq(tg_duckdb_cell_str(keys, i), key)) {
            *out_position = i;
            return true;
        }
    }
    return false;
}

/* A text entry of the statistics of one column; false when absent or NULL. */
static bool stat_text(duckdb_vector columns, idx_t column, const char *key, tg_str *out_text)
{
    idx_t at;
    if (!tg_duckdb_map_find(columns, column, tg_str_from(key), &at) ||
        tg_duckdb_cell_is_null(tg_duckdb_map_values(columns), at)) {
        return false;
    }
    *out_text = tg_duckdb_cell_str(tg_duckdb_map_values(columns), at);
    return true;
}

/* path: quoted identifiers, joined by points. False: the file has no statistics of the column. */
static bool find_column(duckdb_vector stats_column, idx_t row, tg_str path, idx_t *out_column)
{
    return tg_duckdb_map_find(stats_column, row, path, out_column);
}

static bool null_count(duckdb_vector columns, idx_t column, int64_t *out_nulls)
{
    tg_str text;
    return stat_text(columns, column, "null_count", &text) && tg_str_to_i64(text, out_nulls);
}

/* Instants are printed with the offset "+00" whatever the session zone is. */
static bool parse_instant(tg_str text, tg_arena *arena, int64_t *out_us)
{
    bool has_zone;
    if (!tg_str_ends(text, TG_S("+00"))) {
        return false;
    }
    return tg_timestamp_parse(tg_str_sub(text, 0, text.len - 3), arena, out_us, &has_zone) &&
           !has_zone;
}

/* Text of a value as DuckDB prints it. False: not usable (infinite, a year out of range). */
bool tg_duckdb_parse_value(tg_str text, const tg_type *type, tg_arena *arena, tg_value *out)
{
    int64_t number = 0;
    double real;
    bool has_zone;
    tg_int128 unscaled;
    switch (type->kind) {
    case TG_TYPE_BOOLEAN:
        *out = tg_value_bool(tg_str_eq(text, TG_S("true")));
        return true;
    case TG_TYPE_TINYINT:
    case TG_TYPE_SMALLINT:
    case TG_TYPE_INT:
    case TG_TYPE_BIGINT:
        *out = tg_value_int(type, 0);
        return tg_str_to_i64(text, &out->as.i64);
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        if (!tg_str_to_double(text, &real) || !isfinite(real)) {
            return false;
        }
        *out = tg_value_double(type, type->kind == TG_TYPE_FLOAT ? (double)(float)real : real);
        return true;
    case TG_TYPE_DECIMAL:
        if (!tg_decimal_parse(text, type->scale, &unscaled)) {
            return false;
        }
        *out = tg_value_decimal(type, unscaled);
        return true;
    case TG_TYPE_STRING:
        *out = tg_value_bytes(type, text);
        return true;
    case TG_TYPE_DATE:
        *out = tg_value_int(type, 0);
        return tg_date_parse(text, &out->as.i64);
    case TG_TYPE_TIMESTAMP:
        if (!parse_instant(text, arena, &number)) {
            return false;
        }
        *out = tg_value_int(type, number);
        return true;
    case TG_TYPE_TIMESTAMP_NTZ:
        if (!tg_timestamp_parse(text, arena, &number, &has_zone) || has_zone) {
            return false;
        }
        *out = tg_value_int(type, number);
        return true;
    default:
        return false;
    }
}

/* ---- which columns get statistics ------------------------------------------------------------ */

enum { INDEXED_COLUMNS = 32 }; /* Delta's default of delta.dataSkippingNumIndexedCols */

static bool is_partition_column(const tg_duckdb_copy *copy, tg_str column)
{
    for (size_t i = 0; i < copy->partition_count; i++) {
        if (tg_str_ieq(copy->partition_columns[i], column)) {
            return true;
        }
    }
    return false;
}

/* A field at some level of a schema. */
typedef struct leaf_path {
    tg_str logical;  /* a.b with the table's names, quoted */
    tg_str physical; /* the same with those of files */
} leaf_path;

static leaf_path path_of(const leaf_path *parent, const tg_field *field, const tg_field *in_file,
                         tg_arena *arena)
{
    tg_auto_buf tg_buf logical = TG_BUF_INIT, physical = TG_BUF_INIT;
    if (parent) {
        tg_buf_addf(&logical, "%.*s.", TG_SARG(parent->logical));
        tg_buf_addf(&physical, "%.*s.", TG_SARG(parent->physical));
    }
    tg_duckdb_put_ident(&logical, field->name);
    tg_duckdb_put_ident(&physical, in_file->name);
    return (leaf_path){tg_buf_take(&logical, arena), tg_buf_take(&physical, arena)};
}

/* While the leaves are counted, in the order of the schema. */
typedef struct leaf_counter {
    const tg_duckdb_copy *copy;
    int64_t left;         /* columns that still get statistics by their position; < 0: all */
    const tg_str *chosen; /* quoted paths that get them, whatever their position */
    size_t chosen_count;
    bool by_name; /* delta.dataSkippingStatsColumns: positions do not count */
    tg_arena *arena;
} leaf_counter;

static bool is_chosen(const leaf_counter *counter, tg_str path)
{
    for (size_t i = 0; i < counter->chosen_count; i++) {
        tg_str chosen = counter->chosen[i];
        if (tg_str_istarts(path, chosen) &&
            (path.len == chosen.len || path.ptr[chosen.len] == '.')) {
            return true;
        }
    }
    return false;
}

static bool take_leaf(leaf_counter *counter, tg_str path)
{
    bool by_position = !counter->by_name && counter->left != 0;
    if (counter->left > 0) {
        counter->left--;
    }
    return by_position || is_chosen(counter, path);
}

static void mark_fields(leaf_counter *counter, const leaf_path *parent, const tg_field *fields,
                        const tg_field *in_file, size_t count, tg_duckdb_leaf *out)
{
    for (size_t i = 0; i < count; i++) {
        leaf_path path = path_of(parent, &fields[i], &in_file[i], counter->arena);
        const tg_type *type = fields[i].type;
        out[i] =
            (tg_duckdb_leaf){.field = &fields[i], .name = in_file[i].name, .path = path.physical};
        if (!parent && is_partition_column(counter->copy, fields[i].name)) {
            out[i].is_partition = true;
        } else if (type->kind == TG_TYPE_STRUCT) {
            out[i].inner = TG_NEW_ARRAY(counter->arena, tg_duckdb_leaf, type->field_count);
            mark_fields(counter, &path, type->fields, in_file[i].type->fields, type->field_count,
                        out[i].inner);
        } else {
            out[i].is_indexed = take_leaf(counter, path.logical);
        }
    }
}

/*
 * delta.dataSkippingStatsColumns: names parted by commas, with points for fields of structs and
 * backticks around what has points or commas of its own. As quoted paths.
 */
static const tg_str *parse_columns(tg_str text, tg_arena *arena, size_t *out_count)
{
    TG_VEC(tg_str) paths = {0};
    tg_auto_buf tg_buf path = TG_BUF_INIT, name = TG_BUF_INIT;
    bool in_ticks = false;
    for (size_t i = 0; i <= text.len; i++) {
        char c = i < text.len ? text.ptr[i] : ',';
        if (c == '`' && in_ticks && i + 1 < text.len && text.ptr[i + 1] == '`') {
            tg_buf_addc(&name, c);
            i++;
        } else if (c == '`') {
            in_ticks = !in_ticks;
        } else if ((c == ',' || c == '.') && (!in_ticks || i == text.len)) {
            tg_buf_addz(&path, path.len ? "." : "");
            tg_duckdb_put_ident(&path, tg_str_trim(tg_buf_str(&name)));
            tg_buf_clear(&name);
            if (c == ',') {
                TG_VEC_PUSH(arena, &paths, tg_str_copy(arena, tg_buf_str(&path)));
                tg_buf_clear(&path);
            }
        } else {
            tg_buf_addc(&name, c);
        }
    }
    *out_count = paths.count;
    return paths.items;
}

static const tg_property *find_property(const tg_duckdb_copy *copy, const char *key)
{
    for (size_t i = 0; i < copy->property_count; i++) {
        if (tg_str_ieq(copy->properties[i].key, tg_str_from(key))) {
            return &copy->properties[i];
        }
    }
    return NULL;
}

/* The columns that the caller wants bounds of come on top of what the table asks for. */
static void choose_leaves(const tg_duckdb_copy *copy, leaf_counter *counter)
{
    const tg_property *by_name = find_property(copy, "delta.dataSkippingStatsColumns");
    const tg_property *by_count = find_property(copy, "delta.dataSkippingNumIndexedCols");
    int64_t number;
    const tg_str *named = NULL;
    size_t named_count = 0;
    if (by_name && by_name->value.len) {
        counter->by_name = true;
        named = parse_columns(by_name->value, counter->arena, &named_count);
    } else if (by_count && tg_str_to_i64(by_count->value, &number) && number >= -1) {
        counter->left = number;
    }
    tg_str *all = TG_NEW_ARRAY(counter->arena, tg_str, named_count + copy->indexed_count);
    for (size_t i = 0; i < named_count; i++) {
        all[i] = named[i];
    }
    for (size_t i = 0; i < copy->indexed_count; i++) {
        tg_auto_buf tg_buf path = TG_BUF_INIT;
        tg_duckdb_put_ident(&path, copy->indexed[i]);
        all[named_count + i] = tg_buf_take(&path, counter->arena);
    }
    counter->chosen = all;
    counter->chosen_count = named_count + copy->indexed_count;
}

/* ---- what files hold ------------------------------------------------------------------------- */

static tg_code check_stored_type(tg_str column, const tg_type *type, tg_error *err)
{
    bool is_empty = type->kind == TG_TYPE_STRUCT && !type->field_count;
    if (type->kind == TG_TYPE_VOID || is_empty) {
        TG_FAIL(err, UNSUPPORTED_DATATYPE,
                "column `%.*s` cannot be written: in it is a part without a type", TG_SARG(column));
    }
    if (type->element) {
        TG_TRY(check_stored_type(column, type->element, err));
    }
    if (type->key) {
        TG_TRY(check_stored_type(column, type->key, err));
    }
    for (size_t i = 0; i < type->field_count; i++) {
        TG_TRY(check_stored_type(column, type->fields[i].type, err));
    }
    return TG_OK;
}

static bool has_ids(tg_schema schema)
{
    for (size_t i = 0; i < schema.count; i++) {
        if (tg_delta_field_id(&schema.fields[i]) >= 0) {
            return true;
        }
    }
    return false;
}

tg_code tg_duckdb_stored_of(const tg_duckdb_copy *copy, tg_arena *arena, tg_duckdb_stored *out,
                            tg_error *err)
{
    tg_duckdb_stored stored = {.schema = copy->schema,
                               .physical = tg_delta_physical_schema(arena, copy->schema),
                               .has_ids = has_ids(copy->schema)};
    for (size_t i = 0; i < copy->schema.count; i++) {
        if (copy->schema.fields[i].type->kind != TG_TYPE_VOID) {
            TG_TRY(
                check_stored_type(copy->schema.fields[i].name, copy->schema.fields[i].type, err));
        }
    }
    tg_str *keys = TG_NEW_ARRAY(arena, tg_str, copy->partition_count);
    for (size_t i = 0; i < copy->partition_count; i++) {
        ptrdiff_t at = tg_schema_find(copy->schema, copy->partition_columns[i]);
        keys[i] = at < 0 ? copy->partition_columns[i] : stored.physical.fields[at].name;
    }
    stored.partition_keys = keys;
    leaf_counter counter = {.copy = copy, .left = INDEXED_COLUMNS, .arena = arena};
    choose_leaves(copy, &counter);
    stored.leaves = TG_NEW_ARRAY(arena, tg_duckdb_leaf, copy->schema.count);
    mark_fields(&counter, NULL, stored.schema.fields, stored.physical.fields, stored.schema.count,
                stored.leaves);
    *out = stored;
    return TG_OK;
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void put_member_name(tg_buf *out, tg_str name)
{
    tg_buf_addz(out, out->len && out->ptr[out->len - 1] != '{' ? "," : "");
    tg_json_quote(out, name);
    tg_buf_addc(out, ':');
}

/* The three objects of a stats text while they are being built. */
typedef struct stats_text {
    tg_buf minimums, maximums, nulls;
} stats_text;

static void put_bound(tg_buf *out, tg_str name, tg_value value, bool is_max)
{
    tg_auto_buf tg_buf bound = TG_BUF_INIT;
    if (tg_value_to_stat(value, is_max, &bound)) {
        put_member_name(out, name);
        tg_buf_adds(out, tg_buf_str(&bound));
    }
}

static bool has_bounds(const tg_type *type)
{
    return type->kind != TG_TYPE_BOOLEAN && type->kind != TG_TYPE_BINARY &&
           type->kind != TG_TYPE_VOID && !tg_type_is_nested(type);
}

static void add_leaf_stats(stats_text *stats, const tg_duckdb_leaf *leaf, duckdb_vector columns,
                           idx_t column, tg_arena *arena)
{
    const tg_type *type = leaf->field->type;
    tg_str text;
    int64_t nulls;
    if (null_count(columns, column, &nulls)) {
        put_member_name(&stats->nulls, leaf->name);
        tg_buf_addf(&stats->nulls, "%lld", (long long)nulls);
    }
    if (!has_bounds(type)) {
        return;
    }
    tg_value value;
    if (stat_text(columns, column, "min", &text) &&
        tg_duckdb_parse_value(text, type, arena, &value)) {
        put_bound(&stats->minimums, leaf->name, value, false);
    }
    /* DuckDB leaves NaN out of its maximum, but NaN is the greatest value. */
    bool has_nan = stat_text(columns, column, "has_nan", &text) && tg_str_eq(text, TG_S("true"));
    if (!has_nan && stat_text(columns, column, "max", &text) &&
        tg_duckdb_parse_value(text, type, arena, &value)) {
        put_bound(&stats->maximums, leaf->name, value, true);
    }
}

/* Begins an object as a member; end_struct takes it back when nothing came into it. */
static size_t begin_struct(tg_buf *out, tg_str name)
{
    size_t before = out->len;
    put_member_name(out, name);
    tg_buf_addc(out, '{');
    return before;
}

static void end_struct(tg_buf *out, size_t before)
{
    if (out->ptr[out->len - 1] == '{') {
        out->len = before;
    } else {
        tg_buf_addc(out, '}');
    }
}

static void add_stats(stats_text *stats, const tg_duckdb_leaf *leaves, size_t count,
                      duckdb_vector stats_column, idx_t row, tg_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const tg_duckdb_leaf *leaf = &leaves[i];
        const tg_type *type = leaf->field->type;
        idx_t at;
        if (leaf->inner) {
            size_t minimums = begin_struct(&stats->minimums, leaf->name);
            size_t maximums = begin_struct(&stats->maximums, leaf->name);
            size_t nulls = begin_struct(&stats->nulls, leaf->name);
            add_stats(stats, leaf->inner, type->field_count, stats_column, row, arena);
            end_struct(&stats->minimums, minimums);
            end_struct(&stats->maximums, maximums);
            end_struct(&stats->nulls, nulls);
        } else if (leaf->is_indexed && !tg_type_is_nested(type) &&
                   find_column(stats_column, row, leaf->path, &at)) {
            add_leaf_stats(stats, leaf, tg_duckdb_map_values(stats_column), at, arena);
        }
    }
}

tg_str tg_duckdb_file_stats(const tg_duckdb_stored *stored, int64_t records,
                            duckdb_vector stats_column, idx_t row, tg_arena *arena)
{
    stats_text stats = {TG_BUF_INIT, TG_BUF_INIT, TG_BUF_INIT};
    add_stats(&stats, stored->leaves, stored->schema.count, stats_column, row, arena);
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_buf_addf(&text, "{\"numRecords\":%lld,\"minValues\":{", (long long)records);
    tg_buf_adds(&text, tg_buf_str(&stats.minimums));
    tg_buf_addz(&text, "},\"maxValues\":{");
    tg_buf_adds(&text, tg_buf_str(&stats.maximums));
    tg_buf_addz(&text, "},\"nullCount\":{");
    tg_buf_adds(&text, tg_buf_str(&stats.nulls));
    tg_buf_addz(&text, "}}");
    tg_buf_dispose(&stats.minimums);
    tg_buf_dispose(&stats.maximums);
    tg_buf_dispose(&stats.nulls);
    return tg_buf_take(&text, arena);
}

/* ---- NOT NULL -------------------------------------------------------------------------------- */

static tg_code null_violation(tg_str column, tg_error *err)
{
    return TG_ERR(err, DELTA_NOT_NULL_CONSTRAINT_VIOLATED,
                  "NOT NULL constraint violated for column: %.*s", TG_SARG(column));
}

/*
 * Stored atomic columns by their statistics, others by what partition values say; nested ones are
 * checked by the query.
 */
tg_code tg_duckdb_check_not_null(const tg_duckdb_copy *copy, const tg_duckdb_stored *stored,
                                 const tg_delta_add *add, duckdb_vector stats_column, idx_t row,
                                 tg_error *err)
{
    for (size_t i = 0; i < copy->partition_count; i++) {
        ptrdiff_t at = tg_schema_find(copy->schema, copy->partition_columns[i]);
        if (at >= 0 && !copy->schema.fields[at].nullable && add->partition_values[i].is_null) {
            return null_violation(copy->partition_columns[i], err);
        }
    }
    for (size_t i = 0; i < copy->schema.count; i++) {
        const tg_field *field = &copy->schema.fields[i];
        if (field->nullable || is_partition_column(copy, field->name) ||
            tg_type_is_nested(field->type)) {
            continue;
        }
        idx_t at;
        int64_t nulls;
        if (!find_column(stats_column, row, stored->leaves[i].path, &at) ||
            !null_count(tg_duckdb_map_values(stats_column), at, &nulls)) {
            TG_FAIL(err, TIDEGATE_ENGINE_ERROR,
                    "DuckDB did not tell how many NULLs it wrote to column %.*s",
                    TG_SARG(field->name));
        }
        if (nulls > 0) {
            return null_violation(field->name, err);
        }
    }
    return TG_OK;
}
