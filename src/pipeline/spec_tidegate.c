/* SPDX-License-Identifier: Apache-2.0 */
/* Our own keys, all under `tidegate:`, so that one key tells a Spark user what to take out. */
#include "pipeline/spec_int.h"

static const tg_str known_keys[] = {
    {"warehouse", 9},
    {"timezone", 8},
    {"engine", 6},
    {"remote", 6},
    {"memory_limit", 12},
    {"threads", 7},
    {"max_parallel_flows", 18},
    {"strict_compat", 13},
    {"tables", 6},
};
enum { KNOWN_COUNT = sizeof(known_keys) / sizeof(*known_keys) };
static const tg_str table_keys[] = {{"path", 4}, {"format", 6}, {"options", 7}};
enum { TABLE_KEY_COUNT = sizeof(table_keys) / sizeof(*table_keys) };
enum { MAX_THREADS = 4096 };

bool tg_spec_is_tidegate_key(tg_str key)
{
    return tg_spec_is_one_of(key, known_keys, KNOWN_COUNT);
}

static void read_count(tg_spec_reader *r, const char *field, const tg_yaml_node *node, int64_t *out)
{
    if (!tg_yaml_int(node, out) || *out < 0 || *out > MAX_THREADS) {
        *out = 0;
        tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, "0 stands for the default.",
                     "field `tidegate.%s` of the pipeline spec must be a number from 0 to %d",
                     field, MAX_THREADS);
    }
}

static void read_strict_compat(tg_spec_reader *r, const tg_yaml_node *node)
{
    if (!tg_yaml_bool(node, &r->spec->strict_compat)) {
        r->spec->strict_compat = false;
        tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, NULL,
                     "field `tidegate.strict_compat` of the pipeline spec must be true or false");
    }
}

static void read_engine(tg_spec_reader *r, const tg_yaml_node *node)
{
    static const tg_str engines[] = {{"duckdb", 6}, {"spark", 5}};
    tg_str name;
    if (!tg_spec_string(r, "tidegate.engine", node, &name) || tg_str_eq(name, engines[0])) {
        return;
    }
    if (tg_str_eq(name, engines[1])) {
        tg_spec_fail(r, node, TG_E_UNSUPPORTED_FEATURE, "Use `engine: duckdb`.",
                     "engine `spark` is not available yet");
        return;
    }
    tg_str nearest = tg_str_nearest(name, engines, 1);
    tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE,
                 nearest.len ? "Did you mean `duckdb`?" : "Use `engine: duckdb`.",
                 "engine `%.*s` is not known", TG_SARG(name));
}

static void read_timezone(tg_spec_reader *r, const tg_yaml_node *node)
{
    const tg_zone *zone;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_spec_string(r, "tidegate.timezone", node, &r->spec->timezone) &&
        tg_zone_load(r->spec->timezone, r->arena, &zone, &err) != TG_OK) {
        tg_spec_fail_with(r, node, &err);
    }
}

/*
 * "4GB", "512 MiB": what the engine understands; checked here so that a misspelling shows before
 * anything runs.
 */
static void read_memory_limit(tg_spec_reader *r, const tg_yaml_node *node)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
    tg_str text;
    if (!tg_spec_string(r, "tidegate.memory_limit", node, &text)) {
        return;
    }
    size_t digits = 0;
    while (digits < text.len &&
           ((text.ptr[digits] >= '0' && text.ptr[digits] <= '9') || text.ptr[digits] == '.')) {
        digits++;
    }
    double amount;
    tg_str unit = tg_str_trim(tg_str_sub(text, digits, text.len));
    bool is_valid = tg_str_to_double(tg_str_sub(text, 0, digits), &amount) && amount > 0;
    bool is_unit = false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        is_unit = is_unit || tg_str_ieq(unit, tg_str_from(units[i]));
    }
    if (!is_valid || !is_unit) {
        tg_spec_fail(
            r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, "Write it as `4GB` or `512MB`.",
            "field `tidegate.memory_limit` of the pipeline spec is not an amount of memory: `%.*s`",
            TG_SARG(text));
        return;
    }
    r->spec->memory_limit = text;
}

static bool read_format(tg_spec_reader *r, const tg_yaml_node *node, tg_table_format *out)
{
    tg_str word;
    if (!tg_spec_string(r, "format", node, &word)) {
        return false;
    }
    if (!tg_catalog_format(word, out)) {
        size_t count;
        const tg_str *words = tg_catalog_format_words(&count);
        tg_str nearest = tg_str_nearest(word, words, count);
        const char *hint = nearest.len
                               ? tg_arena_printf(r->arena, "Did you mean `%.*s`?", TG_SARG(nearest))
                               : "Formats are delta, parquet, csv and json.";
        tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, hint,
                     "table format `%.*s` is not known", TG_SARG(word));
        return false;
    }
    return true;
}

static bool read_table(tg_spec_reader *r, const tg_yaml_node *name, const tg_yaml_node *node,
                       tg_mapped_table *out)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_name parsed;
    if (tg_sql_parse_name(name->text, r->arena, &parsed, &err) != TG_OK || parsed.count > 3) {
        tg_spec_fail(r, name, TG_E_TIDEGATE_INVALID_SPEC_VALUE,
                     "Names have one to three parts; others need backticks.",
                     "`%.*s` in field `tidegate.tables` is not a table name", TG_SARG(name->text));
        return false;
    }
    if (node->kind != TG_YAML_MAP) {
        tg_spec_fail(r, node, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT,
                     "Write `{ path: FOLDER, format: delta }`.",
                     "table `%.*s` in field `tidegate.tables` must be a map, not %s",
                     TG_SARG(name->text), tg_yaml_describe(node));
        return false;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (!tg_spec_is_one_of(node->keys[i]->text, table_keys, TABLE_KEY_COUNT)) {
            tg_spec_unexpected(r, node->keys[i], "of a table ", table_keys, TABLE_KEY_COUNT);
        }
    }
    *out = (tg_mapped_table){.name = name->text, .format = TG_FORMAT_DELTA};
    const tg_yaml_node *path = tg_yaml_get(node, "path");
    if (!path) {
        tg_spec_fail(r, name, TG_E_PIPELINE_SPEC_MISSING_REQUIRED_FIELD, NULL,
                     "table `%.*s` in field `tidegate.tables` lacks `path`", TG_SARG(name->text));
        return false;
    }
    const tg_yaml_node *format = tg_yaml_get(node, "format");
    const tg_yaml_node *options = tg_yaml_get(node, "options");
    bool is_valid = tg_spec_path(r, "path", path, &out->path);
    is_valid = (!format || read_format(r, format, &out->format)) && is_valid;
    if (options && out->format == TG_FORMAT_DELTA) {
        tg_spec_fail(r, options, TG_E_UNSUPPORTED_FEATURE,
                     "Leave them out: the update pins the newest version.",
                     "options of a Delta table are not available in this release");
        is_valid = false;
    } else if (options) {
        tg_spec_string_map(r, "options", options, &out->options, &out->option_count);
    }
    return is_valid;
}

static void read_tables(tg_spec_reader *r, const tg_yaml_node *node)
{
    if (node->kind != TG_YAML_MAP) {
        tg_spec_fail(r, node, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT, NULL,
                     "field `tidegate.tables` must be a map, not %s", tg_yaml_describe(node));
        return;
    }
    tg_mapped_table *tables = TG_NEW_ARRAY(r->arena, tg_mapped_table, node->count);
    size_t count = 0;
    for (size_t i = 0; i < node->count; i++) {
        count += read_table(r, node->keys[i], node->values[i], &tables[count]);
    }
    r->spec->tables = tables;
    r->spec->table_count = count;
}

static void read_key(tg_spec_reader *r, const tg_yaml_node *key, const tg_yaml_node *value)
{
    tg_spec *spec = r->spec;
    if (tg_str_eq(key->text, TG_S("warehouse"))) {
        (void)tg_spec_path(r, "tidegate.warehouse", value, &spec->warehouse);
    } else if (tg_str_eq(key->text, TG_S("timezone"))) {
        read_timezone(r, value);
    } else if (tg_str_eq(key->text, TG_S("engine"))) {
        read_engine(r, value);
    } else if (tg_str_eq(key->text, TG_S("remote"))) {
        tg_spec_fail(r, key, TG_E_UNSUPPORTED_FEATURE, "Leave it out: it belongs to engine spark.",
                     "`tidegate.remote` is not available yet");
    } else if (tg_str_eq(key->text, TG_S("memory_limit"))) {
        read_memory_limit(r, value);
    } else if (tg_str_eq(key->text, TG_S("threads"))) {
        read_count(r, "threads", value, &spec->threads);
    } else if (tg_str_eq(key->text, TG_S("max_parallel_flows"))) {
        read_count(r, "max_parallel_flows", value, &spec->max_parallel_flows);
    } else if (tg_str_eq(key->text, TG_S("strict_compat"))) {
        read_strict_compat(r, value);
    } else if (tg_str_eq(key->text, TG_S("tables"))) {
        read_tables(r, value);
    } else {
        tg_spec_unexpected(r, key, "under `tidegate` ", known_keys, KNOWN_COUNT);
    }
}

void tg_spec_read_tidegate(tg_spec_reader *r, const tg_yaml_node *node)
{
    if (node->kind == TG_YAML_SCALAR && node->type == TG_YAML_NULL) {
        return; /* the key alone: all defaults */
    }
    if (node->kind != TG_YAML_MAP) {
        tg_spec_fail(r, node, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT, NULL,
                     "field `tidegate` of the pipeline spec must be a map, not %s",
                     tg_yaml_describe(node));
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        read_key(r, node->keys[i], node->values[i]);
    }
}
