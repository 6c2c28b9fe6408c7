/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree from libyaml's events. Depth is bounded, so that the recursion is too. */
#include "pipeline/yaml_int.h"

#include <yaml.h>

typedef struct reader {
    yaml_parser_t parser;
    tg_arena *arena;
    tg_str text;
    const char *file;
    tg_diags *diags;
} reader;

/* Byte position of a code point: libyaml counts code points. */
static size_t byte_offset(tg_str text, size_t code_points)
{
    size_t pos = 0;
    while (code_points > 0 && pos < text.len) {
        (void)tg_utf8_next(text, &pos);
        code_points--;
    }
    return pos;
}

static void locate(tg_error *err, const char *file, tg_str text, size_t start, size_t end)
{
    size_t from = byte_offset(text, start);
    size_t to = byte_offset(text, end);
    size_t line_end = tg_str_find(text, TG_S("\n"), from);
    if (line_end != SIZE_MAX && to > line_end) {
        to = line_end; /* a map or list: its first line is enough */
    }
    (void)tg_error_span(err, from, to > from ? to - from : 1);
    tg_error_locate(err, file, text);
}

void tg_yaml_locate(tg_error *err, const char *file, tg_str text, const tg_yaml_node *node)
{
    locate(err, file, text, node->start, node->end);
}

static tg_code add_error(reader *r, tg_error *err, size_t start, size_t end)
{
    tg_code code = err->code;
    locate(err, r->file, r->text, start, end);
    tg_diags_add(r->diags, err);
    return code;
}

static tg_code next_event(reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event)) {
        return TG_OK;
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_INVALID_YAML, "not valid YAML: %s",
                 r->parser.problem ? r->parser.problem : "unknown problem");
    if (r->parser.context) {
        (void)tg_error_detail(&err, "It was met %s.", r->parser.context);
    }
    size_t at = r->parser.problem_mark.index;
    if (r->parser.error == YAML_READER_ERROR) {
        at = tg_utf8_count(
            tg_str_sub(r->text, 0, r->parser.problem_offset)); /* its mark is not set */
    }
    return add_error(r, &err, at, at + 1);
}

static tg_yaml_node *new_node(reader *r, tg_yaml_kind kind, const yaml_event_t *event)
{
    tg_yaml_node *node = TG_NEW(r->arena, tg_yaml_node);
    node->kind = kind;
    node->start = event->start_mark.index;
    node->end = event->end_mark.index;
    return node;
}

static tg_code refuse(reader *r, const yaml_event_t *event, const char *what)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_INVALID_YAML, "%s", what);
    return add_error(r, &err, event->start_mark.index, event->end_mark.index);
}

static const char core_tag_prefix[] = "tag:yaml.org,2002:";

/* !!str and its kin give the type by hand. */
static bool tagged_type(const char *tag, tg_yaml_type *out)
{
    static const struct {
        const char *name;
        tg_yaml_type type;
    } tags[] = {{"str", TG_YAML_STRING},  {"null", TG_YAML_NULL},
                {"bool", TG_YAML_BOOL},   {"int", TG_YAML_INT},
                {"float", TG_YAML_FLOAT}, {"timestamp", TG_YAML_TIMESTAMP}};
    if (strncmp(tag, core_tag_prefix, sizeof(core_tag_prefix) - 1) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
        if (strcmp(tag + sizeof(core_tag_prefix) - 1, tags[i].name) == 0) {
            *out = tags[i].type;
            return true;
        }
    }
    return false;
}

static tg_code read_scalar(reader *r, const yaml_event_t *event, tg_yaml_node **out)
{
    tg_yaml_node *node = new_node(r, TG_YAML_SCALAR, event);
    tg_str value = {(const char *)event->data.scalar.value, event->data.scalar.length};
    node->text = tg_str_copy(r->arena, value);
    const char *tag = (const char *)event->data.scalar.tag;
    tg_yaml_type plain = tg_yaml_plain_type(node->text);
    if (tag && strcmp(tag, "!") != 0) {
        if (!tagged_type(tag, &node->type) ||
            (node->type != TG_YAML_STRING && node->type != plain)) {
            return refuse(r, event, "this YAML tag is not supported here");
        }
    } else {
        bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !tag;
        node->type = is_plain ? plain : TG_YAML_STRING;
    }
    *out = node;
    return TG_OK;
}

static tg_code read_node(reader *r, const yaml_event_t *event, int depth, tg_yaml_node **out);

static tg_code read_next(reader *r, yaml_event_type_t end, int depth, tg_yaml_node **out,
                         size_t *out_end)
{
    yaml_event_t event;
    TG_TRY(next_event(r, &event));
    *out = NULL;
    *out_end = event.end_mark.index;
    tg_code code = event.type == end ? TG_OK : read_node(r, &event, depth, out);
    yaml_event_delete(&event);
    return code;
}

static tg_code read_list(reader *r, const yaml_event_t *event, int depth, tg_yaml_node **out)
{
    tg_yaml_node *node = new_node(r, TG_YAML_LIST, event);
    TG_VEC(tg_yaml_node *) items = {0};
    for (;;) {
        tg_yaml_node *item;
        TG_TRY(read_next(r, YAML_SEQUENCE_END_EVENT, depth, &item, &node->end));
        if (!item) {
            break;
        }
        TG_VEC_PUSH(r->arena, &items, item);
    }
    node->values = items.items;
    node->count = items.count;
    *out = node;
    return TG_OK;
}

/* Which of the two was meant is anybody's guess; reading goes on, so that all of them are told. */
static void fail_duplicate(reader *r, const tg_yaml_node *first, const tg_yaml_node *key)
{
    if (r->diags->error_count > TG_LIMIT_DIAGNOSTICS) {
        return; /* enough: a place costs a walk through the text */
    }
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_yaml_locate(&err, r->file, r->text, first);
    int line = err.place.line;
    tg_error_clear(&err);
    (void)TG_ERR(&err, TIDEGATE_INVALID_YAML, "key `%.*s` is given twice, first in line %d",
                 TG_SARG(key->text), line);
    (void)tg_error_hint(&err, "Remove one of them.");
    tg_yaml_locate(&err, r->file, r->text, key);
    tg_diags_add(r->diags, &err);
}

static tg_code read_map(reader *r, const yaml_event_t *event, int depth, tg_yaml_node **out)
{
    tg_yaml_node *node = new_node(r, TG_YAML_MAP, event);
    TG_VEC(tg_yaml_node *) keys = {0};
    TG_VEC(tg_yaml_node *) values = {0};
    tg_map seen; /* key -> its index */
    tg_map_init(&seen, r->arena);
    for (;;) {
        tg_yaml_node *key, *value;
        size_t ignored;
        TG_TRY(read_next(r, YAML_MAPPING_END_EVENT, depth, &key, &node->end));
        if (!key) {
            break;
        }
        TG_TRY(read_next(r, YAML_NO_EVENT, depth, &value, &ignored));
        if (key->kind != TG_YAML_SCALAR) {
            tg_auto_error tg_error err = TG_ERROR_INIT;
            (void)TG_ERR(&err, TIDEGATE_INVALID_YAML, "a key of a map is %s",
                         tg_yaml_describe(key));
            return add_error(r, &err, key->start, key->end);
        }
        size_t *index = tg_map_get(&seen, key->text);
        if (index) {
            tg_assert(*index < keys.count);
            fail_duplicate(r, keys.items[*index], key);
            continue;
        }
        index = TG_NEW(r->arena, size_t);
        *index = keys.count;
        (void)tg_map_put(&seen, key->text, index);
        TG_VEC_PUSH(r->arena, &keys, key);
        TG_VEC_PUSH(r->arena, &values, value);
    }
    node->keys = keys.items;
    node->values = values.items;
    node->count = keys.count;
    *out = node;
    return TG_OK;
}

static tg_code read_node(reader *r, const yaml_event_t *event, int depth, tg_yaml_node **out)
{
    if (depth >= TG_LIMIT_YAML_DEPTH) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_LIMIT_EXCEEDED, "YAML is nested deeper than %d levels",
                     TG_LIMIT_YAML_DEPTH);
        return add_error(r, &err, event->start_mark.index, event->end_mark.index);
    }
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(r, event, out);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(r, event, depth + 1, out);
    case YAML_MAPPING_START_EVENT:
        return read_map(r, event, depth + 1, out);
    case YAML_ALIAS_EVENT:
        return refuse(r, event, "YAML aliases (*name) are not accepted; write the value out");
    default:
        return refuse(r, event, "unexpected YAML structure");
    }
}

static tg_code read_document(reader *r, tg_yaml_node **out)
{
    yaml_event_t event;
    *out = NULL;
    for (;;) {
        TG_TRY(next_event(r, &event));
        yaml_event_type_t type = event.type;
        tg_code code = TG_OK;
        if (type == YAML_DOCUMENT_START_EVENT && *out) {
            code = refuse(r, &event, "the file has a second YAML document");
        } else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
                   type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT) {
            code = read_node(r, &event, 0, out);
        }
        yaml_event_delete(&event);
        TG_TRY(code);
        if (type == YAML_STREAM_END_EVENT) {
            return TG_OK;
        }
    }
}

static tg_code check_text(reader *r)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (r->text.len > TG_LIMIT_YAML_BYTES) {
        (void)TG_ERR(&err, TIDEGATE_LIMIT_EXCEEDED, "%s is larger than %d bytes", r->file,
                     TG_LIMIT_YAML_BYTES);
    } else if (tg_utf8_valid_len(r->text) < r->text.len) {
        (void)TG_ERR(&err, TIDEGATE_INVALID_YAML, "%s is not valid UTF-8 (byte %zu)", r->file,
                     tg_utf8_valid_len(r->text) + 1);
    } else {
        return TG_OK;
    }
    tg_code code = err.code;
    tg_diags_add(r->diags, &err);
    return code;
}

tg_code tg_yaml_parse(tg_str text, const char *file, tg_arena *arena, tg_yaml_node **out_root,
                      tg_diags *diags)
{
    if (tg_str_starts(text, TG_S("\xEF\xBB\xBF"))) {
        text = tg_str_sub(text, 3, text.len);
    }
    reader r = {.arena = arena, .text = text, .file = file, .diags = diags};
    TG_TRY(check_text(&r));
    tg_assert(yaml_parser_initialize(&r.parser));
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.ptr, text.len);
    size_t errors = diags->error_count;
    tg_code code = read_document(&r, out_root);
    yaml_parser_delete(&r.parser);
    return diags->error_count > errors && code == TG_OK ? TG_INVALID_ARGUMENT : code;
}

const tg_yaml_node *tg_yaml_get(const tg_yaml_node *map, const char *key)
{
    for (size_t i = 0; map && map->kind == TG_YAML_MAP && i < map->count; i++) {
        if (tg_str_eq(map->keys[i]->text, tg_str_from(key))) {
            return map->values[i];
        }
    }
    return NULL;
}
