/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DuckDB's errors as ours. Three kinds of message come here:
 * - our own text, raised by printed queries and registered functions:
 *   "Invalid Input Error: [TG:DIVIDE_BY_ZERO] division by zero";
 * - failures on data that Spark has a condition for ("Conversion Error: Could not convert string 'x'
 *   to INT32");
 * - the rest: TIDEGATE_ENGINE_ERROR, with DuckDB's words in the detail, so that nobody takes them
 *   for ours.
 * The message is all there is to go by: pending queries and prepared statements give no error type.
 */
#include "engine/duckdb/duckdb_int.h"

static const tg_str mark = {"[TG:", 4};

/*
 * Behind the "Kind Error: " and before the excerpt of the printed query, which means nothing to
 * users.
 */
static tg_str message_body(tg_str message)
{
    size_t excerpt = tg_str_find(message, TG_S("\n\nLINE "), 0);
    tg_str body = excerpt == SIZE_MAX ? message : tg_str_sub(message, 0, excerpt);
    size_t kind = tg_str_find(body, TG_S("Error: "), 0);
    if (kind != SIZE_MAX && kind < 40) {
        body = tg_str_sub(body, kind + 7, body.len);
    }
    return tg_str_trim(body);
}

/* "[TG:CLASS] text". */
static bool raised_by_us(tg_str body, tg_error *err, tg_code *out_code)
{
    size_t start = tg_str_find(body, mark, 0);
    size_t end = start == SIZE_MAX ? SIZE_MAX : tg_str_find(body, TG_S("]"), start);
    if (end == SIZE_MAX) {
        return false;
    }
    tg_str name = tg_str_sub(body, start + mark.len, end);
    tg_str text = tg_str_trim(tg_str_sub(body, end + 1, body.len));
    tg_error_class cls = tg_error_class_find(name);
    if (cls != TG_E_NONE) {
        *out_code = tg_error_set(err, cls, __FILE__, __LINE__, "%.*s", TG_SARG(text));
    } else {
        tg_auto_buf tg_buf dynamic = TG_BUF_INIT;
        tg_buf_adds(&dynamic, name);
        *out_code = tg_error_set_named(err, TG_EXECUTION, tg_buf_cstr(&dynamic), "22000", "%.*s",
                                       TG_SARG(text));
    }
    return true;
}

static bool has(tg_str body, const char *words)
{
    return tg_str_find(body, tg_str_from(words), 0) != SIZE_MAX;
}

/* Spark's name of a type that DuckDB names in its messages ("INT32", "DECIMAL(4,2)"). */
static tg_str type_name(tg_str name)
{
    static const struct {
        const char *duckdb, *spark;
    } names[] = {
        {"INT8", "TINYINT"},   {"INT16", "SMALLINT"},       {"INT32", "INT"},
        {"INT64", "BIGINT"},   {"INT128", "DECIMAL(38,0)"}, {"BOOL", "BOOLEAN"},
        {"VARCHAR", "STRING"}, {"BLOB", "BINARY"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (tg_str_eq(name, tg_str_from(names[i].duckdb))) {
            return tg_str_from(names[i].spark);
        }
    }
    return name;
}

/* The word after words: letters, digits, and "(4,2)". */
static tg_str word_after(tg_str body, const char *words)
{
    size_t at = tg_str_find(body, tg_str_from(words), 0);
    if (at == SIZE_MAX) {
        return TG_S("");
    }
    size_t start = at + strlen(words), end = start;
    while (end < body.len && body.ptr[end] != ' ' && body.ptr[end] != '\n') {
        end++;
    }
    return tg_str_sub(body, start, end);
}

static tg_code value_out_of_range(tg_str value, tg_str to, tg_error *err)
{
    return TG_ERR(err, CAST_OVERFLOW, "the value %.*s cannot be cast to %.*s: it is out of range",
                  TG_SARG(value), TG_SARG(to));
}

static tg_code too_many_digits(tg_str value, tg_str to, tg_error *err)
{
    return TG_ERR(err, NUMERIC_VALUE_OUT_OF_RANGE, "the value %.*s cannot be represented as %.*s",
                  TG_SARG(value), TG_SARG(to));
}

/* "Could not convert string 'x to y' to INT32": the value may hold anything. */
static bool malformed_string(tg_str body, tg_error *err, tg_code *out_code)
{
    static const char prefix[] = "Could not convert string ";
    size_t last_to = SIZE_MAX;
    for (size_t at = tg_str_find(body, TG_S(" to "), 0); at != SIZE_MAX;
         at = tg_str_find(body, TG_S(" to "), at + 1)) {
        last_to = at;
    }
    if (!tg_str_starts(body, tg_str_from(prefix)) || last_to == SIZE_MAX) {
        return false;
    }
    tg_str value = tg_str_sub(body, sizeof prefix - 1, last_to);
    tg_str to = type_name(word_after(tg_str_sub(body, last_to, body.len), " to "));
    *out_code = TG_ERR(err, CAST_INVALID_INPUT,
                       "the value %.*s of the type STRING cannot be cast to %.*s because it is "
                       "malformed",
                       TG_SARG(value), TG_SARG(to));
    return true;
}

static tg_code conversion_error(tg_str body, tg_error *err)
{
    if (has(body, "out of range for the destination type")) {
        return value_out_of_range(word_after(body, "with value "),
                                  type_name(word_after(body, "destination type ")), err);
    }
    if (has(body, "Failed to cast decimal value ")) {
        return value_out_of_range(word_after(body, "decimal value "),
                                  type_name(word_after(body, "to type ")), err);
    }
    if (has(body, "Could not cast value ") && has(body, " to DECIMAL")) {
        return too_many_digits(word_after(body, "Could not cast value "), word_after(body, " to "),
                               err);
    }
    if (has(body, "Casting value ") && has(body, "to type DECIMAL")) {
        return too_many_digits(word_after(body, "Casting value "), word_after(body, "to type "),
                               err);
    }
    tg_code code;
    if (malformed_string(body, err, &code)) {
        return code;
    }
    if (has(body, "verflow")) {
        (void)TG_ERR(err, ARITHMETIC_OVERFLOW, "a number is too large for its type");
    } else {
        (void)TG_ERR(err, CAST_INVALID_INPUT, "a value cannot be cast to the type asked for");
    }
    return tg_error_detail(err, "%.*s", TG_SARG(body));
}

/* Spark has a class of its own for the two small types. */
static tg_code out_of_range(tg_str body, tg_error *err)
{
    if (has(body, " of INT8 ") || has(body, " of INT16 ")) {
        (void)TG_ERR(err, BINARY_ARITHMETIC_OVERFLOW,
                     "the result of a calculation does not fit its type");
    } else {
        (void)TG_ERR(err, ARITHMETIC_OVERFLOW, "the result of a calculation does not fit its type");
    }
    (void)tg_error_detail(err, "%.*s", TG_SARG(body));
    return tg_error_hint(
        err, "Cast the operands to a larger type, or use a try_ function to get NULL instead.");
}

static tg_code out_of_memory(tg_str body, tg_error *err)
{
    (void)TG_ERR(err, TIDEGATE_OUT_OF_MEMORY, "the query needs more memory than it may use");
    (void)tg_error_detail(err, "%.*s", TG_SARG(body));
    return tg_error_hint(
        err, "Raise memory_limit, or lower threads: each thread needs memory of its own.");
}

static tg_code io_error(tg_str body, tg_error *err)
{
    if (has(body, "No files found that match")) {
        size_t quote = tg_str_find(body, TG_S("\""), 0);
        tg_str path = quote == SIZE_MAX ? TG_S("") : tg_str_sub(body, quote, body.len);
        return TG_ERR(err, PATH_NOT_FOUND, "there is no file %.*s", TG_SARG(path));
    }
    (void)TG_ERR(err, TIDEGATE_IO, "a file could not be read or written");
    return tg_error_detail(err, "%.*s", TG_SARG(body));
}

/* Failures that carry the kind "Invalid Input": told apart by their words. */
static tg_code invalid_input(tg_str body, tg_error *err)
{
    if (has(body, "More than one row returned by a subquery")) {
        return TG_ERR(err, SCALAR_SUBQUERY_TOO_MANY_ROWS,
                      "a subquery that is used as a value returned more than one row");
    }
    if (has(body, "Map keys must be unique")) {
        (void)TG_ERR(err, DUPLICATED_MAP_KEY, "a map would get one key twice");
        return tg_error_hint(err, "Make the keys distinct before the map is built.");
    }
    if (has(body, "No magic bytes") || has(body, "Parquet") || has(body, "parquet")) {
        (void)TG_ERR(err, FAILED_READ_FILE, "a Parquet file could not be read");
    } else if (has(body, "CSV Error")) {
        (void)TG_ERR(err, FAILED_READ_FILE, "a CSV file could not be read");
    } else if (has(body, "JSON")) {
        (void)TG_ERR(err, FAILED_READ_FILE, "a JSON file could not be read");
    } else {
        (void)TG_ERR(err, TIDEGATE_ENGINE_ERROR, "the query failed on its data");
    }
    return tg_error_detail(err, "%.*s", TG_SARG(body));
}

tg_code tg_duckdb_error_(tg_error *err, const char *message)
{
    tg_str text = tg_str_from(message);
    tg_str body = message_body(text);
    tg_code code;
    if (raised_by_us(body, err, &code)) {
        return code;
    }
    if (tg_str_starts(text, TG_S("Conversion Error"))) {
        return conversion_error(body, err);
    }
    if (tg_str_starts(text, TG_S("Out of Range Error"))) {
        return out_of_range(body, err);
    }
    if (tg_str_starts(text, TG_S("Out of Memory Error"))) {
        return out_of_memory(body, err);
    }
    if (tg_str_starts(text, TG_S("INTERRUPT Error"))) {
        return TG_ERR(err, TIDEGATE_CANCELLED, "interrupted");
    }
    if (tg_str_starts(text, TG_S("IO Error"))) {
        return io_error(body, err);
    }
    if (tg_str_starts(text, TG_S("Invalid Input Error"))) {
        return invalid_input(body, err);
    }
    if (has(text, "Max expression depth limit")) { /* a Parser Error or a Binder Error */
        TG_ERR(err, TIDEGATE_LIMIT_EXCEEDED, "the query is nested too deeply for the engine");
        return tg_error_hint(err, "Joins, arguments of concat and nested types count as levels.");
    }
    (void)TG_ERR(err, TIDEGATE_ENGINE_ERROR, "the query engine failed");
    return tg_error_detail(err, "DuckDB says: %.*s", TG_SARG(text));
}
