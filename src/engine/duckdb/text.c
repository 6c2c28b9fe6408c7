/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of DuckDB SQL, and reading single cells of its results. */
#include "engine/duckdb/duckdb_int.h"

void tg_duckdb_put_ident(tg_buf *out, tg_str name)
{
    tg_buf_addq(out, name, '"');
}

/*
 * A NUL would end the text of the query, so such strings are joined from pieces:
 * ('a' || chr(0) || 'b').
 */
void tg_duckdb_put_string(tg_buf *out, tg_str text)
{
    size_t nul = tg_str_find(text, (tg_str){"", 1}, 0);
    if (nul == SIZE_MAX) {
        tg_buf_addq(out, text, '\'');
        return;
    }
    tg_buf_addc(out, '(');
    for (; nul != SIZE_MAX; nul = tg_str_find(text, (tg_str){"", 1}, 0)) {
        tg_buf_addq(out, tg_str_sub(text, 0, nul), '\'');
        tg_buf_addz(out, " || chr(0) || ");
        text = tg_str_sub(text, nul + 1, text.len);
    }
    tg_buf_addq(out, text, '\'');
    tg_buf_addc(out, ')');
}

static tg_code put_type(tg_buf *out, const tg_type *type, int depth, tg_error *err);

static tg_code put_struct(tg_buf *out, const tg_type *type, int depth, tg_error *err)
{
    tg_buf_addz(out, "STRUCT(");
    for (size_t i = 0; i < type->field_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        tg_duckdb_put_ident(out, type->fields[i].name);
        tg_buf_addc(out, ' ');
        TG_TRY(put_type(out, type->fields[i].type, depth, err));
    }
    tg_buf_addc(out, ')');
    return TG_OK;
}

static const char *atomic_name(tg_type_kind kind)
{
    switch (kind) {
    case TG_TYPE_BOOLEAN:
        return "BOOLEAN";
    case TG_TYPE_TINYINT:
        return "TINYINT";
    case TG_TYPE_SMALLINT:
        return "SMALLINT";
    case TG_TYPE_INT:
    case TG_TYPE_INTERVAL_YM:
    case TG_TYPE_VOID: /* a column of NULLs must have some type */
        return "INTEGER";
    case TG_TYPE_BIGINT:
    case TG_TYPE_INTERVAL_DT:
        return "BIGINT";
    case TG_TYPE_FLOAT:
        return "FLOAT";
    case TG_TYPE_DOUBLE:
        return "DOUBLE";
    case TG_TYPE_STRING:
        return "VARCHAR";
    case TG_TYPE_BINARY:
        return "BLOB";
    case TG_TYPE_DATE:
        return "DATE";
    case TG_TYPE_TIMESTAMP:
        return "TIMESTAMP WITH TIME ZONE";
    case TG_TYPE_TIMESTAMP_NTZ:
        return "TIMESTAMP";
    default:
        return NULL;
    }
}

static tg_code put_type(tg_buf *out, const tg_type *type, int depth, tg_error *err)
{
    if (depth > TG_LIMIT_EXPRESSION_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "a type is nested more than %d levels deep",
                TG_LIMIT_EXPRESSION_DEPTH);
    }
    switch (type->kind) {
    case TG_TYPE_DECIMAL:
        tg_buf_addf(out, "DECIMAL(%d,%d)", type->precision, type->scale);
        return TG_OK;
    case TG_TYPE_ARRAY:
        TG_TRY(put_type(out, type->element, depth + 1, err));
        tg_buf_addz(out, "[]");
        return TG_OK;
    case TG_TYPE_MAP:
        tg_buf_addz(out, "MAP(");
        TG_TRY(put_type(out, type->key, depth + 1, err));
        tg_buf_addz(out, ", ");
        TG_TRY(put_type(out, type->element, depth + 1, err));
        tg_buf_addc(out, ')');
        return TG_OK;
    case TG_TYPE_STRUCT:
        return put_struct(out, type, depth + 1, err);
    default:
        if (!atomic_name(type->kind)) {
            TG_FAIL(err, UNSUPPORTED_DATATYPE, "values of type VARIANT are not available yet");
        }
        tg_buf_addz(out, atomic_name(type->kind));
        return TG_OK;
    }
}

tg_code tg_duckdb_put_type(tg_buf *out, const tg_type *type, tg_error *err)
{
    return put_type(out, type, 0, err);
}

/* Every byte as \xHH: the form in which any BLOB can be written. */
static tg_str blob_text(tg_arena *arena, tg_str bytes)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    for (size_t i = 0; i < bytes.len; i++) {
        tg_buf_addf(&text, "\\x%02X", (unsigned char)bytes.ptr[i]);
    }
    return tg_buf_take(&text, arena);
}

tg_str tg_duckdb_value_text(tg_arena *arena, tg_value value)
{
    switch (value.type->kind) {
    case TG_TYPE_BOOLEAN:
        return value.as.boolean ? TG_S("true") : TG_S("false");
    case TG_TYPE_FLOAT:
    case TG_TYPE_DOUBLE:
        return tg_double_text(arena, value.as.f64, value.type->kind == TG_TYPE_FLOAT);
    case TG_TYPE_DECIMAL:
        return tg_decimal_text(arena, value.as.decimal, value.type->scale);
    case TG_TYPE_STRING:
        return value.as.bytes;
    case TG_TYPE_BINARY:
        return blob_text(arena, value.as.bytes);
    case TG_TYPE_DATE:
        return tg_date_text(arena, value.as.i64);
    case TG_TYPE_TIMESTAMP: {
        tg_str local = tg_local_text(arena, value.as.i64);
        return tg_str_printf(arena, "%.*s+00", TG_SARG(local));
    }
    case TG_TYPE_TIMESTAMP_NTZ:
        return tg_local_text(arena, value.as.i64);
    default:
        return tg_str_printf(arena, "%lld", (long long)value.as.i64);
    }
}

void tg_duckdb_put_paths(tg_buf *out, const tg_str *paths, size_t count)
{
    tg_auto_buf tg_buf escaped = TG_BUF_INIT;
    tg_buf_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        tg_buf_clear(&escaped);
        for (size_t j = 0; j < paths[i].len; j++) {
            char c = paths[i].ptr[j];
            if (c == '*' || c == '?' || c == '[') {
                tg_buf_addf(&escaped, "[%c]", c);
            } else {
                tg_buf_addc(&escaped, c);
            }
        }
        tg_buf_addz(out, i ? ", " : "");
        tg_duckdb_put_string(out, tg_buf_str(&escaped));
    }
    tg_buf_addc(out, ']');
}

/* ---- types of results ------------------------------------------------------------------------ */

static tg_code type_from(duckdb_logical_type type, tg_str column, int depth, tg_arena *arena,
                         const tg_type **out_type, tg_error *err);

/* Frees child whatever happens. */
static tg_code child_type(duckdb_logical_type child, tg_str column, int depth, tg_arena *arena,
                          const tg_type **out_type, tg_error *err)
{
    tg_code code = type_from(child, column, depth, arena, out_type, err);
    tg_duckdb.destroy_logical_type(&child);
    return code;
}

static tg_code struct_from(duckdb_logical_type type, tg_str column, int depth, tg_arena *arena,
                           const tg_type **out_type, tg_error *err)
{
    size_t count = (size_t)tg_duckdb.struct_type_child_count(type);
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, count);
    for (size_t i = 0; i < count; i++) {
        char *name = tg_duckdb.struct_type_child_name(type, i);
        fields[i].name = tg_str_copy(arena, tg_str_from(name));
        fields[i].nullable = true;
        tg_duckdb.free(name);
        TG_TRY(child_type(tg_duckdb.struct_type_child_type(type, i), column, depth, arena,
                          &fields[i].type, err));
    }
    *out_type = tg_type_struct(arena, fields, count);
    return TG_OK;
}

/* Unsigned types get the next larger signed one, as Spark reads them from Parquet. */
static tg_type_kind atomic_kind(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
        return TG_TYPE_BOOLEAN;
    case DUCKDB_TYPE_TINYINT:
        return TG_TYPE_TINYINT;
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_UTINYINT:
        return TG_TYPE_SMALLINT;
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_USMALLINT:
        return TG_TYPE_INT;
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UINTEGER:
        return TG_TYPE_BIGINT;
    case DUCKDB_TYPE_FLOAT:
        return TG_TYPE_FLOAT;
    case DUCKDB_TYPE_DOUBLE:
        return TG_TYPE_DOUBLE;
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM:
    case DUCKDB_TYPE_UUID:
        return TG_TYPE_STRING;
    case DUCKDB_TYPE_BLOB:
        return TG_TYPE_BINARY;
    case DUCKDB_TYPE_DATE:
        return TG_TYPE_DATE;
    case DUCKDB_TYPE_TIMESTAMP_TZ:
        return TG_TYPE_TIMESTAMP;
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
        return TG_TYPE_TIMESTAMP_NTZ;
    case DUCKDB_TYPE_SQLNULL:
        return TG_TYPE_VOID;
    default:
        return TG_TYPE_KIND_COUNT_;
    }
}

static tg_code type_from(duckdb_logical_type type, tg_str column, int depth, tg_arena *arena,
                         const tg_type **out_type, tg_error *err)
{
    if (depth > TG_LIMIT_EXPRESSION_DEPTH) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED,
                "the type of column `%.*s` is nested more than %d levels deep", TG_SARG(column),
                TG_LIMIT_EXPRESSION_DEPTH);
    }
    duckdb_type id = tg_duckdb.get_type_id(type);
    const tg_type *key = NULL, *element = NULL;
    switch (id) {
    case DUCKDB_TYPE_DECIMAL:
        *out_type =
            tg_type_decimal(arena, tg_duckdb.decimal_width(type), tg_duckdb.decimal_scale(type));
        return TG_OK;
    case DUCKDB_TYPE_UBIGINT:
        *out_type = tg_type_decimal(arena, 20, 0);
        return TG_OK;
    case DUCKDB_TYPE_LIST:
        TG_TRY(child_type(tg_duckdb.list_type_child_type(type), column, depth + 1, arena, &element,
                          err));
        *out_type = tg_type_array(arena, element, true);
        return TG_OK;
    case DUCKDB_TYPE_MAP:
        TG_TRY(child_type(tg_duckdb.map_type_key_type(type), column, depth + 1, arena, &key, err));
        TG_TRY(child_type(tg_duckdb.map_type_value_type(type), column, depth + 1, arena, &element,
                          err));
        *out_type = tg_type_map(arena, key, element, true);
        return TG_OK;
    case DUCKDB_TYPE_STRUCT:
        return struct_from(type, column, depth + 1, arena, out_type, err);
    default:
        if (atomic_kind(id) == TG_TYPE_KIND_COUNT_) {
            TG_FAIL(err, UNSUPPORTED_DATATYPE,
                    "column `%.*s` has a type that Spark SQL does not have (DuckDB type number %d)",
                    TG_SARG(column), (int)id);
        }
        *out_type = tg_type_of(atomic_kind(id));
        return TG_OK;
    }
}

tg_code tg_duckdb_type_from(duckdb_logical_type type, tg_str column, tg_arena *arena,
                            const tg_type **out_type, tg_error *err)
{
    return type_from(type, column, 0, arena, out_type, err);
}

/* ---- cells ----------------------------------------------------------------------------------- */

bool tg_duckdb_cell_is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = tg_duckdb.vector_get_validity(vector);
    return validity && !(validity[row / 64] >> (row % 64) & 1);
}

tg_str tg_duckdb_cell_str(duckdb_vector vector, idx_t row)
{
    duckdb_string_t *strings = tg_duckdb.vector_get_data(vector);
    return (tg_str){tg_duckdb.string_t_data(&strings[row]),
                    tg_duckdb.string_t_length(strings[row])};
}

int64_t tg_duckdb_cell_i64(duckdb_vector vector, idx_t row)
{
    const int64_t *numbers = tg_duckdb.vector_get_data(vector);
    return numbers[row];
}
