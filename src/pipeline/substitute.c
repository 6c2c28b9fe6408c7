/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Substitution is textual and comes before parsing, as in Spark: a value may be a name, a literal
 * or a piece of an expression. A value is not looked through again. The scanner knows comments and
 * quotes only as far as needed to leave comments alone.
 */
#include "pipeline/substitute.h"

typedef struct substitution {
    tg_str text;
    const char *file;
    const tg_spec *spec;
    tg_arena *arena;
    tg_diags *diags;
    tg_map values; /* key -> tg_str */
    tg_map *asked; /* keys that stand in the text */
    tg_buf out;
    size_t error_count;
} substitution;

static void put_value(substitution *s, tg_str key, tg_str value)
{
    tg_str *copy = TG_NEW(s->arena, tg_str);
    *copy = value;
    (void)tg_map_put(&s->values, key, copy);
}

static void fail(substitution *s, size_t offset, size_t len, tg_error *err)
{
    (void)tg_error_span(err, offset, len);
    tg_error_locate(err, s->file, s->text);
    tg_diags_add(s->diags, err);
    s->error_count++;
}

static void fail_unknown(substitution *s, size_t offset, size_t len, tg_str key)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    (void)TG_ERR(&err, TIDEGATE_UNRESOLVED_VARIABLE, "no value for ${%.*s}", TG_SARG(key));
    TG_VEC(tg_str) keys = {0};
    for (size_t i = 0; i < s->values.used_count; i++) {
        TG_VEC_PUSH(s->arena, &keys, s->values.entries[i].key);
    }
    tg_str nearest = tg_str_nearest(key, keys.items, keys.count);
    bool is_parameter = false;
    for (size_t i = 0; i < s->spec->parameter_count; i++) {
        is_parameter = is_parameter || tg_str_eq(s->spec->parameters[i].key, key);
    }
    if (is_parameter) {
        (void)tg_error_hint(&err, "It is a parameter, which is a value and no text: write :%.*s.",
                            TG_SARG(key));
    } else if (nearest.len) {
        (void)tg_error_hint(&err, "Did you mean ${%.*s}?", TG_SARG(nearest));
    } else {
        (void)tg_error_hint(&err,
                            "Give it a value under `configuration` in the pipeline spec, or with "
                            "--param %.*s=VALUE.",
                            TG_SARG(key));
    }
    fail(s, offset, len, &err);
}

/* At "${": the position behind the variable. */
static size_t replace_variable(substitution *s, size_t pos, size_t end)
{
    size_t close = tg_str_find(s->text, TG_S("}"), pos);
    size_t line = tg_str_find(s->text, TG_S("\n"), pos);
    if (close == SIZE_MAX || close >= end || close > line) {
        tg_auto_error tg_error err = TG_ERROR_INIT;
        (void)TG_ERR(&err, TIDEGATE_UNRESOLVED_VARIABLE, "`${` has no closing `}`");
        fail(s, pos, 2, &err);
        return pos + 2;
    }
    tg_str key = tg_str_trim(tg_str_sub(s->text, pos + 2, close));
    const tg_str *value = tg_map_get(&s->values, key);
    (void)tg_map_put(s->asked, key, s->asked);
    if (value) {
        tg_buf_adds(&s->out, *value);
    } else {
        fail_unknown(s, pos, close + 1 - pos, key);
    }
    return close + 1;
}

/* The end of the comment that begins at pos, or pos when none does. */
static size_t skip_comment(tg_str text, size_t pos, size_t end)
{
    tg_str rest = tg_str_sub(text, pos, end);
    size_t found = SIZE_MAX;
    if (tg_str_starts(rest, TG_S("--"))) {
        found = tg_str_find(text, TG_S("\n"), pos);
    } else if (tg_str_starts(rest, TG_S("/*"))) {
        found = tg_str_find(text, TG_S("*/"), pos + 2);
        found = found == SIZE_MAX ? found : found + 2;
    } else {
        return pos;
    }
    return found < end ? found : end;
}

static void substitute_range(substitution *s, size_t pos, size_t end)
{
    char quote = 0;
    while (pos < end) {
        char c = s->text.ptr[pos];
        size_t behind_comment = quote ? pos : skip_comment(s->text, pos, end);
        if (behind_comment > pos) {
            tg_buf_adds(&s->out, tg_str_sub(s->text, pos, behind_comment));
            pos = behind_comment;
        } else if (c == '$' && pos + 1 < end && s->text.ptr[pos + 1] == '{') {
            pos = replace_variable(s, pos, end);
        } else if (quote && quote != '`' && c == '\\' && pos + 1 < end) {
            tg_buf_adds(&s->out, tg_str_sub(s->text, pos, pos + 2));
            pos += 2;
        } else {
            if (quote ? c == quote : c == '\'' || c == '"' || c == '`') {
                quote = quote ? 0 : c;
            }
            tg_buf_addc(&s->out, c);
            pos++;
        }
    }
}

/* A SET statement's value holds for what stands below it. */
static void learn_set(substitution *s, tg_str statement)
{
    size_t start = 0, behind;
    while ((behind = skip_comment(statement, start, statement.len)) > start ||
           (start < statement.len && strchr(" \t\r\n", statement.ptr[start]) &&
            (behind = start + 1))) {
        start = behind;
    }
    tg_str trimmed = tg_str_sub(statement, start, statement.len);
    tg_stmt *stmt;
    if (tg_str_istarts(trimmed, TG_S("set")) &&
        tg_sql_parse_statement(trimmed, s->arena, &stmt, NULL) == TG_OK &&
        stmt->kind == TG_STMT_SET && stmt->key.len) {
        put_value(s, stmt->key, stmt->value);
    }
}

static tg_str substitute_all(substitution *s)
{
    tg_span *spans;
    size_t count, pos = 0;
    tg_sql_split(s->text, s->arena, &spans, &count);
    for (size_t i = 0; i < count; i++) {
        substitute_range(s, pos, spans[i].offset);
        size_t start = s->out.len;
        pos = (size_t)spans[i].offset + spans[i].len;
        substitute_range(s, spans[i].offset, pos);
        learn_set(s, tg_str_copy(s->arena, tg_str_sub(tg_buf_str(&s->out), start, s->out.len)));
    }
    substitute_range(s, pos, s->text.len);
    return tg_buf_take(&s->out, s->arena);
}

tg_code tg_substitute(tg_str text, const char *file, const tg_spec *spec, tg_map *asked,
                      tg_arena *arena, tg_str *out_text, tg_diags *diags)
{
    if (tg_str_find(text, TG_S("${"), 0) == SIZE_MAX) {
        *out_text = text;
        return TG_OK;
    }
    substitution s = {
        .text = text, .file = file, .spec = spec, .arena = arena, .diags = diags, .asked = asked};
    tg_map_init(&s.values, arena);
    for (size_t i = 0; i < spec->configuration_count; i++) {
        put_value(&s, spec->configuration[i].key, spec->configuration[i].value);
    }
    for (size_t i = 0; i < spec->param_count; i++) {
        put_value(&s, spec->params[i].name, spec->params[i].value);
    }
    tg_str result = substitute_all(&s);
    tg_buf_dispose(&s.out);
    if (s.error_count) {
        return TG_NOT_FOUND;
    }
    *out_text = result;
    return TG_OK;
}
