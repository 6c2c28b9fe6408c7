/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read a spec: spec.c, spec_tidegate.c, libraries.c. */
#ifndef TG_PIPELINE_SPEC_INT_H
#define TG_PIPELINE_SPEC_INT_H

#include "pipeline/pipeline.h"
#include "pipeline/yaml.h"

typedef struct tg_spec_reader {
    const tg_fs *fs;
    tg_arena *arena;
    tg_diags *diags;
    const char *file; /* shown name */
    tg_str text;
    bool is_strict; /* --strict-spec */
    tg_spec *spec;
} tg_spec_reader;

/* Adds an error at a node (NULL: no place); hint may be NULL. */
void tg_spec_fail(tg_spec_reader *r, const tg_yaml_node *node, tg_error_class cls, const char *hint,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds an error that a callee has set. */
void tg_spec_fail_with(tg_spec_reader *r, const tg_yaml_node *node, tg_error *err);
void tg_spec_warn(tg_spec_reader *r, const tg_yaml_node *node, tg_error_class cls,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/*
 * PIPELINE_SPEC_UNEXPECTED_FIELD with the nearest of the known keys. where: "" or "in tidegate ".
 */
void tg_spec_unexpected(tg_spec_reader *r, const tg_yaml_node *key, const char *where,
                        const tg_str *known, size_t count);
/* A string that is not empty; anything else is an error and leaves *out alone. */
bool tg_spec_string(tg_spec_reader *r, const char *field, const tg_yaml_node *node, tg_str *out);
/* A path: a string, resolved against the spec's folder; unsupported storage is refused by name. */
bool tg_spec_path(tg_spec_reader *r, const char *field, const tg_yaml_node *node, tg_str *out);
/* A map from strings to strings, as configuration and options are. */
void tg_spec_string_map(tg_spec_reader *r, const char *field, const tg_yaml_node *node,
                        const tg_property **out, size_t *out_count);

bool tg_spec_is_one_of(tg_str key, const tg_str *keys, size_t count);
/* Does the key belong under tidegate? People put such keys at the top. */
bool tg_spec_is_tidegate_key(tg_str key);
/* The value of the key tidegate. */
void tg_spec_read_tidegate(tg_spec_reader *r, const tg_yaml_node *node);
/* The value of the key libraries: patterns are checked and expanded. */
void tg_spec_read_libraries(tg_spec_reader *r, const tg_yaml_node *node);

#endif
