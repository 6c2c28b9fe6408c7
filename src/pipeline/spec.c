/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spark-pipeline.yml: finding it and reading its keys. Keys and error conditions are Spark's, so
 * that a file that works there works here; settings of Databricks pipelines that have no meaning on
 * one machine are accepted and named once.
 */
#include "pipeline/conf.h"
#include "pipeline/spec_int.h"

static const tg_str spark_keys[] = {
    {"name", 4},   {"storage", 7},        {"catalog", 7},   {"database", 8}, {"schema", 6},
    {"target", 6}, {"configuration", 13}, {"libraries", 9}, {"tidegate", 8}, {"parameters", 10},
};
enum { SPARK_KEY_COUNT = sizeof(spark_keys) / sizeof(*spark_keys) };

/* Databricks pipeline settings (SDK `create`) that change nothing here. */
static const char *const ignored_keys[] = {
    "allow_duplicate_names",
    "budget_policy_id",
    "channel",
    "clusters",
    "continuous",
    "deployment",
    "development",
    "dry_run",
    "edition",
    "environment",
    "event_log",
    "filters",
    "id",
    "notifications",
    "photon",
    "restart_window",
    "root_path",
    "run_as",
    "serverless",
    "tags",
    "trigger",
};
enum { IGNORED_KEY_COUNT = sizeof(ignored_keys) / sizeof(*ignored_keys) };

static const char *const file_names[] = {"spark-pipeline.yml", "spark-pipeline.yaml"};

/* ---- reporting ------------------------------------------------------------------------------- */

void tg_spec_fail_with(tg_spec_reader *r, const tg_yaml_node *node, tg_error *err)
{
    if (node) {
        tg_yaml_locate(err, r->file, r->text, node);
    }
    tg_diags_add(r->diags, err);
}

void tg_spec_fail(tg_spec_reader *r, const tg_yaml_node *node, tg_error_class cls, const char *hint,
                  const char *format, ...)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    va_list args;
    va_start(args, format);
    (void)tg_error_set(&err, cls, __FILE__, __LINE__, "%s",
                       tg_arena_vprintf(r->arena, format, args));
    va_end(args);
    if (hint) {
        (void)tg_error_hint(&err, "%s", hint);
    }
    tg_spec_fail_with(r, node, &err);
}

void tg_spec_warn(tg_spec_reader *r, const tg_yaml_node *node, tg_error_class cls,
                  const char *format, ...)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    va_list args;
    va_start(args, format);
    (void)tg_error_set(&err, cls, __FILE__, __LINE__, "%s",
                       tg_arena_vprintf(r->arena, format, args));
    va_end(args);
    if (node) {
        tg_yaml_locate(&err, r->file, r->text, node);
    }
    tg_diags_add_warning(r->diags, &err);
}

void tg_spec_unexpected(tg_spec_reader *r, const tg_yaml_node *key, const char *where,
                        const tg_str *known, size_t count)
{
    tg_str nearest = tg_str_nearest(key->text, known, count);
    const char *hint =
        nearest.len ? tg_arena_printf(r->arena, "Did you mean `%.*s`?", TG_SARG(nearest)) : NULL;
    tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD, hint,
                 "unexpected field `%.*s` %sin the pipeline spec", TG_SARG(key->text), where);
}

bool tg_spec_is_one_of(tg_str key, const tg_str *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (tg_str_eq(key, keys[i])) {
            return true;
        }
    }
    return false;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What stands where a text was wanted, for messages. */
static const char *describe(const tg_yaml_node *node)
{
    bool is_empty = node->kind == TG_YAML_SCALAR && node->text.len == 0;
    return is_empty ? "empty" : tg_yaml_describe(node);
}

bool tg_spec_string(tg_spec_reader *r, const char *field, const tg_yaml_node *node, tg_str *out)
{
    if (!tg_yaml_is_string(node) || node->text.len == 0) {
        const char *hint =
            node->kind == TG_YAML_SCALAR && node->text.len ? "Put the value in quotes." : NULL;
        tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, hint,
                     "field `%s` of the pipeline spec must be a string, not %s", field,
                     describe(node));
        return false;
    }
    *out = node->text;
    return true;
}

bool tg_spec_path(tg_spec_reader *r, const char *field, const tg_yaml_node *node, tg_str *out)
{
    tg_str text;
    if (!tg_spec_string(r, field, node, &text)) {
        return false;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (tg_path_resolve(text, r->spec->folder, r->arena, out, &err) != TG_OK) {
        tg_spec_fail_with(r, node, &err);
        return false;
    }
    return true;
}

void tg_spec_string_map(tg_spec_reader *r, const char *field, const tg_yaml_node *node,
                        const tg_property **out, size_t *out_count)
{
    if (node->kind != TG_YAML_MAP) {
        tg_spec_fail(r, node, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT, NULL,
                     "field `%s` of the pipeline spec must be a map, not %s", field,
                     tg_yaml_describe(node));
        return;
    }
    tg_property *properties = TG_NEW_ARRAY(r->arena, tg_property, node->count);
    for (size_t i = 0; i < node->count; i++) {
        const tg_yaml_node *key = node->keys[i], *value = node->values[i];
        if (key->type != TG_YAML_STRING) {
            tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_DICT_KEY_NOT_STRING, "Put the key in quotes.",
                         "a key of field `%s` of the pipeline spec is %s, not a string", field,
                         tg_yaml_describe(key));
        }
        if (!tg_yaml_is_string(value)) {
            tg_spec_fail(
                r, value, TG_E_PIPELINE_SPEC_DICT_VALUE_NOT_STRING, "Put the value in quotes.",
                "the value of `%.*s` in field `%s` of the pipeline spec is %s, not a string",
                TG_SARG(key->text), field, tg_yaml_describe(value));
        }
        properties[i] = (tg_property){.key = key->text, .value = value->text};
    }
    *out = properties;
    *out_count = node->count;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* "file:///data/p": what Spark takes for a storage root. */
static bool has_scheme(tg_str text)
{
    size_t colon = tg_str_find(text, TG_S(":"), 0);
    return colon != SIZE_MAX && colon > 1 &&
           tg_str_starts(tg_str_sub(text, colon, text.len), TG_S(":/"));
}

static void read_storage(tg_spec_reader *r, const tg_yaml_node *node)
{
    if (!tg_yaml_is_string(node) || node->text.len == 0) {
        tg_spec_fail(r, node, TG_E_PIPELINE_STORAGE_ROOT_INVALID,
                     "Give a folder, for example `storage: pipeline-storage`.",
                     "field `storage` of the pipeline spec must be a path, not %s", describe(node));
        return;
    }
    if (r->is_strict && !has_scheme(node->text)) {
        tg_spec_fail(r, node, TG_E_PIPELINE_STORAGE_ROOT_INVALID,
                     "Write an absolute URI, for example `storage: file:///srv/p/storage`.",
                     "storage `%.*s` is not an absolute URI with a scheme, as Spark asks for",
                     TG_SARG(node->text));
        return;
    }
    if (!tg_spec_path(r, "storage", node, &r->spec->storage)) {
        return;
    }
    tg_fs_entry entry;
    if (tg_fs_stat(r->fs, r->spec->storage, &entry, NULL) == TG_OK && !entry.is_folder) {
        tg_spec_fail(r, node, TG_E_PIPELINE_STORAGE_ROOT_INVALID, NULL,
                     "storage `%.*s` is a file, not a folder", TG_SARG(r->spec->storage));
    }
}

static void read_configuration(tg_spec_reader *r, const tg_yaml_node *node)
{
    size_t errors = r->diags->error_count;
    tg_spec_string_map(r, "configuration", node, &r->spec->configuration,
                       &r->spec->configuration_count);
    if (r->diags->error_count != errors) {
        return;
    }
    for (size_t i = 0; i < r->spec->configuration_count; i++) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        bool is_warning;
        tg_conf_check(r->spec->configuration[i].key, r->spec->configuration[i].value,
                      r->spec->timezone, &is_warning, &err);
        if (is_warning) {
            tg_yaml_locate(&err, r->file, r->text, node->keys[i]);
            tg_diags_add_warning(r->diags, &err);
        } else if (tg_error_is_set(&err)) {
            tg_spec_fail_with(r, node->keys[i], &err);
        }
    }
}

/* At most what Databricks takes; a value is a text there too. */
static void read_parameters(tg_spec_reader *r, const tg_yaml_node *node)
{
    size_t errors = r->diags->error_count;
    tg_spec_string_map(r, "parameters", node, &r->spec->parameters, &r->spec->parameter_count);
    if (r->diags->error_count != errors) {
        r->spec->parameter_count = 0;
        return;
    }
    r->spec->parameters_node = node;
    size_t size = 0;
    for (size_t i = 0; i < r->spec->parameter_count; i++) {
        size += r->spec->parameters[i].key.len + r->spec->parameters[i].value.len;
        if (r->spec->parameters[i].key.len == 0) {
            tg_spec_fail(r, node->keys[i], TG_E_TIDEGATE_INVALID_SPEC_VALUE, NULL,
                         "a parameter of the pipeline spec has no name");
        }
    }
    if (size > TG_LIMIT_PARAMETER_BYTES) {
        tg_spec_fail(r, node, TG_E_TIDEGATE_LIMIT_EXCEEDED, NULL,
                     "the parameters have %zu bytes; at most %d are accepted", size,
                     TG_LIMIT_PARAMETER_BYTES);
    }
}

static bool is_ignored(tg_str key)
{
    for (size_t i = 0; i < IGNORED_KEY_COUNT; i++) {
        if (tg_str_eq(key, tg_str_from(ignored_keys[i]))) {
            return true;
        }
    }
    return false;
}

/*
 * --strict-spec: Spark knows these keys only, and stops at any other. True: refused here; what is
 * misspelt is told as always.
 */
static bool refuse_foreign_key(tg_spec_reader *r, const tg_yaml_node *key)
{
    bool is_ours = tg_str_eq(key->text, TG_S("tidegate"));
    bool is_databricks = is_ignored(key->text) || tg_str_eq(key->text, TG_S("target")) ||
                         tg_str_eq(key->text, TG_S("parameters"));
    if (!is_ours && !is_databricks) {
        return false;
    }
    tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD,
                 is_ours ? "Take the key out for Spark, or leave --strict-spec out."
                         : "Only Databricks knows it. Take it out, or leave --strict-spec out.",
                 "`%.*s` is not a field that Spark accepts in a pipeline spec", TG_SARG(key->text));
    return true;
}

static void check_keys(tg_spec_reader *r, const tg_yaml_node *root)
{
    const tg_yaml_node *first_ignored = NULL;
    tg_auto_buf tg_buf ignored = TG_BUF_INIT;
    for (size_t i = 0; i < root->count; i++) {
        const tg_yaml_node *key = root->keys[i];
        if (r->is_strict && refuse_foreign_key(r, key)) {
            continue;
        }
        if (tg_spec_is_one_of(key->text, spark_keys, SPARK_KEY_COUNT)) {
            continue;
        }
        if (is_ignored(key->text)) {
            first_ignored = first_ignored ? first_ignored : key;
            tg_buf_addf(&ignored, "%s`%.*s`", ignored.len ? ", " : "", TG_SARG(key->text));
        } else if (tg_spec_is_tidegate_key(key->text)) {
            tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD, "Write it under `tidegate:`.",
                         "unexpected field `%.*s` in the pipeline spec", TG_SARG(key->text));
        } else {
            tg_spec_unexpected(r, key, "", spark_keys, SPARK_KEY_COUNT);
        }
    }
    if (first_ignored) {
        tg_spec_warn(r, first_ignored, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD,
                     "these settings have no meaning for tidegate and are ignored: %.*s",
                     TG_SARG(tg_buf_str(&ignored)));
    }
}

static void read_schema(tg_spec_reader *r, const tg_yaml_node *root)
{
    /*
     * database and schema are one key in Spark (database wins there); target is the old name in
     * Databricks.
     */
    static const char *const names[] = {"database", "schema", "target"};
    const char *used = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const tg_yaml_node *node = tg_yaml_get(root, names[i]);
        tg_str value;
        if (!node || !tg_spec_string(r, names[i], node, &value)) {
            continue;
        }
        if (used && !tg_str_ieq(value, r->spec->schema)) {
            tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE, "Keep one of the two.",
                         "fields `%s` and `%s` of the pipeline spec name different schemas", used,
                         names[i]);
        }
        r->spec->schema = value;
        used = names[i];
    }
}

static void read_root(tg_spec_reader *r, const tg_yaml_node *root)
{
    static const char *const required[] = {"name", "storage"};
    check_keys(r, root);
    for (size_t i = 0; i < sizeof(required) / sizeof(*required); i++) {
        if (!tg_yaml_get(root, required[i])) {
            tg_spec_fail(r, NULL, TG_E_PIPELINE_SPEC_MISSING_REQUIRED_FIELD, NULL,
                         "the pipeline spec %s lacks the field `%s`", r->file, required[i]);
        }
    }
    const tg_yaml_node *node;
    if ((node = tg_yaml_get(root, "name"))) {
        (void)tg_spec_string(r, "name", node, &r->spec->name);
    }
    if ((node = tg_yaml_get(root, "storage"))) {
        read_storage(r, node);
    }
    if ((node = tg_yaml_get(root, "catalog"))) {
        (void)tg_spec_string(r, "catalog", node, &r->spec->catalog);
    }
    read_schema(r, root);
    if ((node = tg_yaml_get(root, "tidegate"))) {
        tg_spec_read_tidegate(r, node);
    }
    if ((node = tg_yaml_get(root, "configuration"))) {
        read_configuration(r, node);
    }
    if ((node = tg_yaml_get(root, "parameters"))) {
        read_parameters(r, node);
    }
    if ((node = tg_yaml_get(root, "libraries"))) {
        tg_spec_read_libraries(r, node);
    }
}

/* ---- finding --------------------------------------------------------------------------------- */

static tg_code find_upwards(const tg_fs *fs, tg_str folder, tg_arena *arena, tg_str *out_path,
                            tg_error *err)
{
    tg_str at = folder;
    for (;;) {
        tg_str found = {0};
        for (size_t i = 0; i < sizeof(file_names) / sizeof(*file_names); i++) {
            tg_str path = tg_path_join(arena, at, tg_str_from(file_names[i]));
            bool exists;
            TG_TRY(tg_fs_exists(fs, path, &exists, err));
            if (exists && found.len) {
                (void)TG_ERR(err, MULTIPLE_PIPELINE_SPEC_FILES_FOUND, "%.*s holds both %s and %s",
                             TG_SARG(at), file_names[0], file_names[1]);
                return tg_error_hint(err, "Name one of them with --spec.");
            }
            found = exists ? path : found;
        }
        if (found.len) {
            *out_path = found;
            return TG_OK;
        }
        tg_str parent = tg_path_dirname(at);
        if (parent.len >= at.len) {
            (void)TG_ERR(err, PIPELINE_SPEC_FILE_NOT_FOUND, "no %s in %.*s or a folder above it",
                         file_names[0], TG_SARG(folder));
            return tg_error_hint(
                err,
                "Name the file with --spec, or make a pipeline with `tidegate init --name NAME`.");
        }
        at = parent;
    }
}

static tg_code find_spec(const tg_fs *fs, tg_str path, tg_str folder, tg_arena *arena,
                         tg_str *out_path, tg_error *err)
{
    if (path.len == 0) {
        return find_upwards(fs, folder, arena, out_path, err);
    }
    tg_str full = tg_path_normalize(arena, tg_path_join(arena, folder, path));
    tg_fs_entry entry;
    tg_code code = tg_fs_stat(fs, full, &entry, err);
    if (code == TG_NOT_FOUND || (code == TG_OK && entry.is_folder)) {
        tg_error_clear(err);
        bool is_folder = code == TG_OK;
        code = TG_ERR(err, PIPELINE_SPEC_FILE_DOES_NOT_EXIST, "the pipeline spec `%.*s` %s",
                      TG_SARG(path), is_folder ? "is a folder" : "does not exist");
        return is_folder ? tg_error_hint(err, "Name the file in it.") : code;
    }
    TG_TRY(code);
    *out_path = full;
    return TG_OK;
}

static tg_code parse_spec(tg_spec_reader *r)
{
    tg_yaml_node *root;
    TG_TRY(tg_yaml_parse(r->text, r->file, r->arena, &root, r->diags));
    if (!root || root->kind != TG_YAML_MAP) {
        tg_spec_fail(r, root, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT, NULL,
                     "the pipeline spec %s must be a map, not %s", r->file, tg_yaml_describe(root));
    } else {
        read_root(r, root);
    }
    return tg_diags_first(r->diags, NULL);
}

/* The environment: names that files leave open mean something else, nothing more. */
static tg_str instead_of(tg_str declared, tg_str option, tg_arena *arena)
{
    return option.len ? tg_str_copy(arena, option) : declared;
}

tg_code tg_spec_load(const tg_fs *fs, tg_str path, tg_str folder, tg_arena *arena,
                     const tg_spec **out_spec, tg_diags *diags)
{
    const tg_spec_options options = {0};
    return tg_spec_load_as(fs, path, folder, &options, arena, out_spec, diags);
}

tg_code tg_spec_load_as(const tg_fs *fs, tg_str path, tg_str folder, const tg_spec_options *options,
                        tg_arena *arena, const tg_spec **out_spec, tg_diags *diags)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str full, text;
    tg_code code = find_spec(fs, path, folder, arena, &full, &err);
    if (code == TG_OK) {
        code = tg_fs_read(fs, full, TG_LIMIT_YAML_BYTES, arena, &text, &err);
    }
    if (code != TG_OK) {
        tg_diags_add(diags, &err);
        return code;
    }
    if (tg_str_starts(text, TG_S("\xEF\xBB\xBF"))) {
        text = tg_str_sub(text, 3, text.len);
    }
    tg_spec *spec = TG_NEW(arena, tg_spec);
    tg_str relative;
    spec->path = path.len                                                    ? path
                 : tg_path_relative(folder, full, &relative) && relative.len ? relative
                                                                             : full;
    spec->folder = tg_str_copy(arena, tg_path_dirname(full));
    spec->catalog = TG_S("main");
    spec->schema = TG_S("default");
    spec->timezone = TG_S("UTC");
    spec->warehouse = tg_path_join(arena, spec->folder, TG_S("warehouse"));
    tg_spec_reader reader = {.fs = fs,
                             .arena = arena,
                             .diags = diags,
                             .file = tg_str_cstr(arena, spec->path),
                             .text = text,
                             .is_strict = options->is_strict,
                             .spec = spec};
    spec->text = text;
    TG_TRY(parse_spec(&reader));
    spec->declared_catalog = spec->catalog;
    spec->declared_schema = spec->schema;
    spec->catalog = instead_of(spec->catalog, options->catalog, arena);
    spec->schema = instead_of(spec->schema, options->schema, arena);
    *out_spec = spec;
    return TG_OK;
}

const tg_spec *tg_spec_in(const tg_spec *spec, tg_str catalog, tg_str schema, tg_arena *arena)
{
    if (!catalog.len && !schema.len) {
        return spec;
    }
    tg_spec *copy = tg_arena_memdup(arena, spec, sizeof(*spec));
    copy->catalog = instead_of(spec->catalog, catalog, arena);
    copy->schema = instead_of(spec->schema, schema, arena);
    return copy;
}

tg_catalog tg_spec_catalog(const tg_spec *spec, const tg_fs *fs)
{
    return (tg_catalog){.fs = fs,
                        .warehouse = spec->warehouse,
                        .base_folder = spec->folder,
                        .current_catalog = spec->catalog,
                        .current_schema = spec->schema,
                        .mapped = spec->tables,
                        .mapped_count = spec->table_count};
}
