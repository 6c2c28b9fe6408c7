/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registering scalar functions with DuckDB and running them row by row.
 *
 * DuckDB hands over flat vectors of a chunk. Its string_t is read directly: the layout is part of
 * the C API's header.
 */
#include <string.h>

#include "engine/duckdb/udf_int.h"

static const tg_udf *const tables[] = {
    tg_udf_table_cast,     tg_udf_table_decimal, tg_udf_table_math,       tg_udf_table_string,
    tg_udf_table_datetime, tg_udf_table_hash,    tg_udf_table_collection, tg_udf_table_json,
    tg_udf_table_url,      tg_udf_table_deleted};

/* ---- arguments and results ------------------------------------------------------------------- */

tg_str tg_udf_str_at(const void *data, idx_t row)
{
    const duckdb_string_t *value = &((const duckdb_string_t *)data)[row];
    uint32_t len = value->value.inlined.length;
    return (tg_str){len <= sizeof(value->value.inlined.inlined) ? value->value.inlined.inlined
                                                                : value->value.pointer.ptr,
                    len};
}

tg_str tg_udf_str(const tg_udf_call *call, size_t index)
{
    return tg_udf_str_at(call->args[index].data, call->row);
}

tg_int128 tg_udf_number_at(const void *data, duckdb_type physical_type, idx_t row)
{
    switch (physical_type) {
    case DUCKDB_TYPE_TINYINT:
        return ((const int8_t *)data)[row];
    case DUCKDB_TYPE_SMALLINT:
        return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER:
        return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_BIGINT:
        return ((const int64_t *)data)[row];
    default: {
        tg_int128 value;
        memcpy(&value, (const char *)data + row * sizeof(value), sizeof(value));
        return value;
    }
    }
}

tg_int128 tg_udf_decimal(const tg_udf_call *call, size_t index, int *out_scale)
{
    const tg_udf_arg *arg = &call->args[index];
    *out_scale = arg->scale;
    return tg_udf_number_at(arg->data, arg->type, call->row);
}

void tg_udf_return_null(tg_udf_call *call)
{
    if (!call->result_validity) {
        tg_duckdb.vector_ensure_validity_writable(call->result);
        call->result_validity = tg_duckdb.vector_get_validity(call->result);
    }
    call->result_validity[call->row / 64] &= ~(UINT64_C(1) << (call->row % 64));
}

void tg_udf_return_bool(tg_udf_call *call, bool value)
{
    ((bool *)call->result_data)[call->row] = value;
}

void tg_udf_return_int(tg_udf_call *call, int64_t value)
{
    ((int32_t *)call->result_data)[call->row] = (int32_t)value;
}

void tg_udf_return_long(tg_udf_call *call, int64_t value)
{
    ((int64_t *)call->result_data)[call->row] = value;
}

void tg_udf_return_huge(tg_udf_call *call, tg_int128 value)
{
    memcpy((char *)call->result_data + call->row * sizeof(value), &value, sizeof(value));
}

void tg_udf_return_float(tg_udf_call *call, float value)
{
    ((float *)call->result_data)[call->row] = value;
}

void tg_udf_return_double(tg_udf_call *call, double value)
{
    /* One NaN, as in Java: C's functions also give negative ones. */
    ((double *)call->result_data)[call->row] = value != value ? __builtin_nan("") : value;
}

void tg_udf_return_str(tg_udf_call *call, tg_str value)
{
    call->text_bytes += value.len;
    if (call->text_bytes > TG_LIMIT_CHUNK_TEXT_BYTES) {
        tg_udf_fail(call, TG_E_TIDEGATE_LIMIT_EXCEEDED,
                    "the texts of %llu rows would need more than %lld bytes",
                    (unsigned long long)call->row + 1, (long long)TG_LIMIT_CHUNK_TEXT_BYTES);
        return;
    }
    tg_duckdb.vector_assign_string_element_len(call->result, call->row, value.len ? value.ptr : "",
                                               value.len);
}

static void set_failure(tg_udf_call *call, tg_error_class cls, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void set_failure(tg_udf_call *call, tg_error_class cls, const char *format, va_list args)
{
    if (call->failure.len) {
        return;
    }
    tg_buf_addf(&call->failure, "[TG:%s] ", tg_error_class_name(cls));
    tg_buf_vaddf(&call->failure, format, args);
}

void tg_udf_fail(tg_udf_call *call, tg_error_class cls, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_failure(call, cls, format, args);
    va_end(args);
}

void tg_udf_fail_or_null(tg_udf_call *call, bool is_try, tg_error_class cls, const char *format,
                         ...)
{
    if (is_try) {
        tg_udf_return_null(call);
        return;
    }
    va_list args;
    va_start(args, format);
    set_failure(call, cls, format, args);
    va_end(args);
}

const tg_zone *tg_udf_zone(tg_udf_call *call, tg_str name)
{
    if (call->zone && tg_str_eq(call->zone_name, name)) {
        return call->zone;
    }
    tg_str copy = tg_str_copy(call->arena, name);
    if (tg_zone_load(copy, call->arena, &call->zone, NULL) != TG_OK) {
        call->zone = NULL;
        tg_udf_fail(call, TG_E_INVALID_TIMEZONE, "the time zone '%.*s' is not known",
                    TG_SARG(name));
        return NULL;
    }
    call->zone_name = copy;
    return call->zone;
}

/* ---- running --------------------------------------------------------------------------------- */

static void open_arg(tg_udf_arg *arg, duckdb_vector vector)
{
    arg->data = tg_duckdb.vector_get_data(vector);
    arg->validity = tg_duckdb.vector_get_validity(vector);
    duckdb_logical_type type = tg_duckdb.vector_get_column_type(vector);
    arg->type = tg_duckdb.get_type_id(type);
    arg->scale = 0;
    if (arg->type == DUCKDB_TYPE_DECIMAL) {
        arg->scale = tg_duckdb.decimal_scale(type);
        arg->type = tg_duckdb.decimal_internal_type(type);
    }
    tg_duckdb.destroy_logical_type(&type);
}

static bool has_null_arg(const tg_udf_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        if (tg_udf_is_null(call, i)) {
            return true;
        }
    }
    return false;
}

static void run_chunk(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector result)
{
    const tg_udf *udf = tg_duckdb.scalar_function_get_extra_info(info);
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_udf_call call = {.chunk = chunk, .result = result, .arena = arena};
    call.result_data = tg_duckdb.vector_get_data(result);
    size_t columns = tg_duckdb.data_chunk_get_column_count(chunk);
    /* Functions of any number of arguments read the chunk themselves. */
    call.arg_count = columns <= TG_UDF_ARGS_MAX ? columns : 0;
    for (size_t i = 0; i < call.arg_count; i++) {
        open_arg(&call.args[i], tg_duckdb.data_chunk_get_vector(chunk, i));
    }
    idx_t count = tg_duckdb.data_chunk_get_size(chunk);
    for (call.row = 0; call.row < count && call.failure.len == 0; call.row++) {
        tg_buf_clear(&call.text);
        if (!udf->sees_nulls && has_null_arg(&call)) {
            tg_udf_return_null(&call);
        } else {
            udf->row(&call);
        }
    }
    if (call.failure.len) {
        tg_duckdb.scalar_function_set_error(info, tg_buf_cstr(&call.failure));
    }
    tg_buf_dispose(&call.text);
    tg_buf_dispose(&call.failure);
}

/* ---- registering ----------------------------------------------------------------------------- */

static duckdb_type type_of_letter(char letter)
{
    switch (letter) {
    case 'b':
        return DUCKDB_TYPE_BOOLEAN;
    case 'i':
        return DUCKDB_TYPE_INTEGER;
    case 'l':
        return DUCKDB_TYPE_BIGINT;
    case 'h':
        return DUCKDB_TYPE_HUGEINT;
    case 'f':
        return DUCKDB_TYPE_FLOAT;
    case 'd':
        return DUCKDB_TYPE_DOUBLE;
    case 's':
        return DUCKDB_TYPE_VARCHAR;
    case 'x':
        return DUCKDB_TYPE_BLOB;
    case 'D':
        return DUCKDB_TYPE_DATE;
    case 'T':
        return DUCKDB_TYPE_TIMESTAMP;
    case 'Z':
        return DUCKDB_TYPE_TIMESTAMP_TZ;
    default:
        return DUCKDB_TYPE_ANY;
    }
}

static duckdb_scalar_function make_function(const tg_udf *udf)
{
    duckdb_scalar_function function = tg_duckdb.create_scalar_function();
    const char *letter = udf->signature;
    tg_duckdb.scalar_function_set_name(function, udf->name);
    for (; *letter != '>'; letter++) {
        duckdb_logical_type type = tg_duckdb.create_logical_type(type_of_letter(*letter));
        if (*letter == '*') {
            tg_duckdb.scalar_function_set_varargs(function, type);
        } else {
            tg_duckdb.scalar_function_add_parameter(function, type);
        }
        tg_duckdb.destroy_logical_type(&type);
    }
    duckdb_logical_type result = tg_duckdb.create_logical_type(type_of_letter(letter[1]));
    tg_duckdb.scalar_function_set_return_type(function, result);
    tg_duckdb.destroy_logical_type(&result);
    if (udf->sees_nulls) {
        tg_duckdb.scalar_function_set_special_handling(function);
    }
    /* The table is constant data: DuckDB keeps the pointer and gives it back. */
    void *extra;
    memcpy(&extra, &udf, sizeof(extra));
    tg_duckdb.scalar_function_set_extra_info(function, extra, NULL);
    tg_duckdb.scalar_function_set_function(function, run_chunk);
    return function;
}

/* Registers the entries of one name, which stand together; returns the first entry behind them. */
static const tg_udf *register_name(duckdb_connection connection, const tg_udf *first,
                                   bool *out_is_ok)
{
    duckdb_scalar_function_set set = tg_duckdb.create_scalar_function_set(first->name);
    const tg_udf *udf = first;
    *out_is_ok = true;
    for (; udf->name && strcmp(udf->name, first->name) == 0; udf++) {
        duckdb_scalar_function function = make_function(udf);
        *out_is_ok =
            *out_is_ok && tg_duckdb.add_scalar_function_to_set(set, function) == DuckDBSuccess;
        tg_duckdb.destroy_scalar_function(&function);
    }
    *out_is_ok =
        *out_is_ok && tg_duckdb.register_scalar_function_set(connection, set) == DuckDBSuccess;
    tg_duckdb.destroy_scalar_function_set(&set);
    return udf;
}

tg_code tg_duckdb_udf_register(duckdb_connection connection, tg_error *err)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const tg_udf *udf = tables[i]; udf->name;) {
            bool is_ok;
            const tg_udf *next = register_name(connection, udf, &is_ok);
            if (!is_ok) {
                TG_FAIL(err, INTERNAL_ERROR, "could not register the function %s with DuckDB",
                        udf->name);
            }
            udf = next;
        }
    }
    return TG_OK;
}
