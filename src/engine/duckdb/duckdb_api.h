/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libduckdb that we use, found with dlopen.
 *
 * Why not linked: loading the library costs milliseconds and memory that most commands never need
 * (help, errors in SQL, refreshes with nothing to do). Why one table per process: callbacks of
 * scalar functions get nothing that we own, and a library is loaded once anyway. Call as
 * tg_duckdb.query(...); the table is filled by tg_duckdb_api_load and never changes after.
 *
 * Adding a function: one line in TG_DUCKDB_FUNCTIONS, without its prefix `duckdb_`. Only what
 * DuckDB 1.4 has.
 */
#ifndef TG_ENGINE_DUCKDB_DUCKDB_API_H
#define TG_ENGINE_DUCKDB_DUCKDB_API_H

#include <duckdb.h>

#include "base/base.h"
#include "engine/arrow.h"

/* clang-format's result is not stable on this list. */
/* clang-format off */
#define TG_DUCKDB_FUNCTIONS(X)                                                                     \
    /* instances, connections, errors */                                                           \
    X(open_ext) X(close) X(connect) X(disconnect) X(interrupt) X(create_config) X(set_config)      \
    X(destroy_config) X(destroy_error_data) X(error_data_message) X(error_data_has_error)          \
    X(free)                                                                                        \
    /* queries */                                                                                  \
    X(query) X(destroy_result) X(result_error) X(column_count) X(column_logical_type)              \
    X(fetch_chunk) X(result_get_arrow_options) X(destroy_arrow_options) X(prepare)                 \
    X(prepare_error) X(destroy_prepare) X(prepared_statement_column_count)                         \
    X(prepared_statement_column_name) X(prepared_statement_column_logical_type)                    \
    X(execute_prepared) X(execute_prepared_streaming) X(to_arrow_schema) X(data_chunk_to_arrow)    \
    /* logical types */                                                                            \
    X(create_logical_type) X(get_type_id) X(decimal_width) X(decimal_scale)                        \
    X(decimal_internal_type) X(list_type_child_type) X(map_type_key_type) X(map_type_value_type)   \
    X(struct_type_child_count) X(struct_type_child_name) X(struct_type_child_type)                 \
    X(destroy_logical_type)                                                                        \
    /* data chunks and vectors */                                                                  \
    X(destroy_data_chunk) X(data_chunk_get_column_count) X(data_chunk_get_vector)                  \
    X(data_chunk_get_size) X(vector_get_column_type) X(vector_get_data) X(vector_get_validity)     \
    X(vector_ensure_validity_writable) X(vector_assign_string_element_len)                         \
    X(list_vector_get_child) X(struct_vector_get_child) X(validity_row_is_valid)                   \
    X(string_t_length) X(string_t_data)                                                            \
    /* scalar functions */                                                                         \
    X(create_scalar_function) X(destroy_scalar_function) X(scalar_function_set_name)               \
    X(scalar_function_set_varargs) X(scalar_function_set_special_handling)                         \
    X(scalar_function_add_parameter) X(scalar_function_set_return_type)                            \
    X(scalar_function_set_extra_info) X(scalar_function_set_function)                              \
    X(scalar_function_get_extra_info) X(scalar_function_set_error) X(create_scalar_function_set)   \
    X(destroy_scalar_function_set) X(add_scalar_function_to_set) X(register_scalar_function_set)
/* clang-format on */

typedef struct tg_duckdb_api {
#define TG_DUCKDB_MEMBER(name) __typeof__(duckdb_##name) *name;
    TG_DUCKDB_FUNCTIONS(TG_DUCKDB_MEMBER)
#undef TG_DUCKDB_MEMBER
} tg_duckdb_api;

extern tg_duckdb_api tg_duckdb;

/*
 * Loads the library once; later calls return at once. Looked for, first hit wins: $TIDEGATE_DUCKDB,
 * beside the program, <prefix>/lib/tidegate, the path known when tidegate was built, the loader's
 * search path. TIDEGATE_ENGINE_NOT_FOUND tells what to install; a library older than 1.4 is
 * refused.
 */
TG_CHECKED tg_code tg_duckdb_api_load(const tg_env *env, tg_error *err);
bool tg_duckdb_api_is_loaded(void);

#endif
