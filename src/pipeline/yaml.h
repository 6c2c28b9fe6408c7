/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as a tree with positions, read by libyaml's event parser. Scalars are typed as PyYAML's safe
 * loader types them (YAML 1.1), because that is who reads the same file elsewhere: `on` is a
 * boolean, 012 an integer.
 *
 * Refused: aliases (their expansion has no bound), several documents, tags of one's own, more than
 * TG_LIMIT_YAML_DEPTH levels.
 */
#ifndef TG_PIPELINE_YAML_H
#define TG_PIPELINE_YAML_H

#include "base/base.h"

typedef enum tg_yaml_kind { TG_YAML_SCALAR, TG_YAML_MAP, TG_YAML_LIST } tg_yaml_kind;
typedef enum tg_yaml_type {
    TG_YAML_STRING,
    TG_YAML_NULL,
    TG_YAML_BOOL,
    TG_YAML_INT,
    TG_YAML_FLOAT,
    TG_YAML_TIMESTAMP
} tg_yaml_type;

typedef struct tg_yaml_node tg_yaml_node;
struct tg_yaml_node {
    tg_yaml_kind kind;
    size_t start, end;     /* code points in the text */
    tg_str text;           /* SCALAR */
    tg_yaml_type type;     /* SCALAR */
    tg_yaml_node **keys;   /* MAP: scalars, each once: a repeated key is an error */
    tg_yaml_node **values; /* MAP and LIST */
    size_t count;
};

/*
 * file is the shown name for places. out_root is NULL for an empty file. Errors and warnings go to
 * diags, located.
 */
TG_CHECKED tg_code tg_yaml_parse(tg_str text, const char *file, tg_arena *arena,
                                 tg_yaml_node **out_root, tg_diags *diags);
/* Puts the place of a node into an error. */
void tg_yaml_locate(tg_error *err, const char *file, tg_str text, const tg_yaml_node *node);
/* Value of a key, or NULL. */
const tg_yaml_node *tg_yaml_get(const tg_yaml_node *map, const char *key);
/* "a string", "a number", "a map", ... for messages */
const char *tg_yaml_describe(const tg_yaml_node *node);
bool tg_yaml_is_string(const tg_yaml_node *node);
/* False when it is no such scalar (or no decimal number within 64 bits). */
bool tg_yaml_bool(const tg_yaml_node *node, bool *out);
bool tg_yaml_int(const tg_yaml_node *node, int64_t *out);

#endif
