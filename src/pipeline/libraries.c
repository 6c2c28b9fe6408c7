/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key libraries: which source files a pipeline has. Spark's rules: a plain path or folder/ **,
 * .sql and .py files only.
 */
#include "pipeline/spec_int.h"

typedef struct expansion {
    tg_spec_reader *r;
    tg_map seen; /* absolute path: a file that two patterns match is read once */
    size_t file_count;
} expansion;

/* Editors and systems leave these everywhere. */
static bool is_skipped(tg_str relative)
{
    size_t start = 0;
    for (size_t i = 0; i <= relative.len; i++) {
        if (i < relative.len && relative.ptr[i] != '/') {
            continue;
        }
        tg_str part = tg_str_sub(relative, start, i);
        if ((part.len && part.ptr[0] == '.' && !tg_str_eq(part, TG_S(".")) &&
             !tg_str_eq(part, TG_S(".."))) ||
            tg_str_eq(part, TG_S("__pycache__"))) {
            return true;
        }
        start = i + 1;
    }
    return false;
}

static bool accept_file(expansion *e, const tg_yaml_node *node, tg_str path)
{
    tg_str extension = tg_path_extension(path);
    if (tg_str_eq(extension, TG_S(".sql"))) {
        return true;
    }
    tg_str shown;
    if (!tg_path_relative(e->r->spec->folder, path, &shown)) {
        shown = path;
    }
    if (tg_str_eq(extension, TG_S(".py"))) {
        tg_spec_fail(e->r, node, TG_E_UNSUPPORTED_FEATURE,
                     "Write the definitions in SQL, or narrow the pattern to the .sql files.",
                     "Python source files are not available yet: %.*s", TG_SARG(shown));
    } else {
        tg_spec_fail(e->r, node, TG_E_PIPELINE_UNSUPPORTED_DEFINITIONS_FILE_EXTENSION,
                     "Source files end in .sql or .py.", "%.*s is not a source file of a pipeline",
                     TG_SARG(shown));
    }
    return false;
}

static void expand(expansion *e, const tg_yaml_node *node, tg_library *library)
{
    tg_spec_reader *r = e->r;
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str pattern, base, *paths;
    size_t count;
    if (tg_path_resolve(node->text, r->spec->folder, r->arena, &pattern, &err) != TG_OK ||
        tg_fs_glob(r->fs, pattern, TG_GLOB_PLAIN, r->arena, &paths, &count, &err) != TG_OK) {
        tg_spec_fail_with(r, node, &err);
        return;
    }
    bool is_plain = !tg_glob_is_pattern(node->text);
    base = is_plain ? tg_path_dirname(pattern) : tg_str_sub(pattern, 0, pattern.len - 2);
    TG_VEC(tg_str) files = {0};
    for (size_t i = 0; i < count; i++) {
        tg_str below = tg_str_sub(paths[i], base.len, paths[i].len);
        if ((!is_plain && is_skipped(below)) || tg_map_has(&e->seen, paths[i]) ||
            !accept_file(e, node, paths[i])) {
            continue;
        }
        (void)tg_map_put(&e->seen, paths[i], library);
        TG_VEC_PUSH(r->arena, &files, paths[i]);
    }
    library->files = files.items;
    library->file_count = files.count;
    e->file_count += files.count;
    if (count == 0 && is_plain) {
        tg_spec_fail(r, node, TG_E_PATH_NOT_FOUND, NULL, "source file `%.*s` does not exist",
                     TG_SARG(node->text));
    } else if (count == 0) {
        tg_spec_warn(r, node, TG_E_PATH_NOT_FOUND, "pattern `%.*s` matches no file",
                     TG_SARG(node->text));
    }
}

/* An `exclude` that is not obeyed would read what should not be read. */
static bool has_only(tg_spec_reader *r, const tg_yaml_node *map, const char *inner)
{
    bool is_only = true;
    for (size_t i = 0; map->kind == TG_YAML_MAP && i < map->count; i++) {
        const tg_yaml_node *key = map->keys[i];
        if (!tg_str_eq(key->text, tg_str_from(inner))) {
            tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD,
                         tg_arena_printf(r->arena, "`%s` is the only key here.", inner),
                         "unexpected field `%.*s` under `libraries` in the pipeline spec",
                         TG_SARG(key->text));
            is_only = false;
        }
    }
    return is_only;
}

/* {glob: {include: PATTERN}}, or Databricks' {file: {path: PATH}}. NULL: an error was reported. */
static const tg_yaml_node *find_pattern(tg_spec_reader *r, const tg_yaml_node *entry)
{
    static const char *const shape = "Write `- glob: {include: transformations/**}`.";
    static const tg_str known[] = {{"glob", 4}, {"file", 4}};
    if (entry->kind != TG_YAML_MAP || entry->count != 1) {
        tg_spec_fail(r, entry, TG_E_PIPELINE_SPEC_FIELD_NOT_DICT, shape,
                     "an entry of `libraries` must be a map with the key `glob`");
        return NULL;
    }
    const tg_yaml_node *key = entry->keys[0];
    bool is_glob = tg_str_eq(key->text, known[0]);
    if (r->is_strict && tg_str_eq(key->text, known[1])) {
        tg_spec_fail(r, key, TG_E_PIPELINE_SPEC_UNEXPECTED_FIELD,
                     "Write `glob: {include: PATH}`, or leave --strict-spec out.",
                     "`file` under `libraries` is not a field that Spark accepts");
        return NULL;
    }
    if (!is_glob && !tg_str_eq(key->text, known[1])) {
        bool is_notebook = tg_str_eq(key->text, TG_S("notebook"));
        if (is_notebook) {
            tg_spec_fail(r, key, TG_E_UNSUPPORTED_FEATURE, "Export it as a .sql file.",
                         "notebooks as libraries are not supported");
        } else {
            tg_spec_unexpected(r, key, "under `libraries` ", known, sizeof(known) / sizeof(*known));
        }
        return NULL;
    }
    const char *inner = is_glob ? "include" : "path";
    const tg_yaml_node *map = entry->values[0];
    const tg_yaml_node *pattern = tg_yaml_get(map, inner);
    if (!pattern) {
        tg_spec_fail(r, map, TG_E_PIPELINE_SPEC_MISSING_REQUIRED_FIELD, shape,
                     "`%.*s` under `libraries` lacks the field `%s`", TG_SARG(key->text), inner);
        return NULL;
    }
    tg_str text;
    if (!has_only(r, map, inner) || !tg_spec_string(r, inner, pattern, &text)) {
        return NULL;
    }
    if (is_glob ? !tg_glob_is_library(text) : tg_glob_is_pattern(text)) {
        tg_spec_fail(r, pattern, TG_E_PIPELINE_SPEC_INVALID_GLOB_PATTERN,
                     "Name a file, or a folder followed by /** for all files below it.",
                     "`%.*s` is not a valid library pattern", TG_SARG(text));
        return NULL;
    }
    return pattern;
}

void tg_spec_read_libraries(tg_spec_reader *r, const tg_yaml_node *node)
{
    if (node->kind != TG_YAML_LIST) {
        tg_spec_fail(r, node, TG_E_TIDEGATE_INVALID_SPEC_VALUE,
                     "Write `- glob: {include: transformations/**}`.",
                     "field `libraries` of the pipeline spec must be a list, not %s",
                     tg_yaml_describe(node));
        return;
    }
    tg_library *libraries = TG_NEW_ARRAY(r->arena, tg_library, node->count);
    expansion e = {.r = r};
    tg_map_init(&e.seen, r->arena);
    for (size_t i = 0; i < node->count; i++) {
        const tg_yaml_node *pattern = find_pattern(r, node->values[i]);
        if (pattern) {
            libraries[i].include = pattern->text;
            expand(&e, pattern, &libraries[i]);
        }
    }
    if (e.file_count > TG_LIMIT_SOURCE_FILES) {
        tg_spec_fail(r, node, TG_E_TIDEGATE_LIMIT_EXCEEDED, NULL,
                     "the pipeline has %zu source files; at most %d are accepted", e.file_count,
                     TG_LIMIT_SOURCE_FILES);
    }
    r->spec->libraries = libraries;
    r->spec->library_count = node->count;
}
