/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: the class table, setting and adding, places. Printing is in error_print.c, lists of
 * errors in diags.c.
 */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base_int.h"

typedef struct error_class_row {
    const char *name, *sqlstate, *doc;
    tg_code code;
} error_class_row;

static const error_class_row classes[TG_E_COUNT_] = {
    [TG_E_NONE] = {"NONE", "00000", "No error.", TG_OK},
#define TG_ERROR_CLASS(id, name, sqlstate, code, doc) [TG_E_##id] = {name, sqlstate, doc, code},
#include "base/errors.def"
#undef TG_ERROR_CLASS
};

static const error_class_row *row_of(tg_error_class cls)
{
    tg_assert(cls >= TG_E_NONE && cls < TG_E_COUNT_);
    return &classes[cls];
}

const char *tg_error_class_name(tg_error_class cls)
{
    return row_of(cls)->name;
}

const char *tg_error_class_sqlstate(tg_error_class cls)
{
    return row_of(cls)->sqlstate;
}

const char *tg_error_class_doc(tg_error_class cls)
{
    return row_of(cls)->doc;
}

tg_code tg_error_class_code(tg_error_class cls)
{
    return row_of(cls)->code;
}

tg_error_class tg_error_class_find(tg_str name)
{
    for (int cls = TG_E_NONE + 1; cls < TG_E_COUNT_; cls++) {
        if (tg_str_eq(tg_str_from(classes[cls].name), name)) {
            return (tg_error_class)cls;
        }
    }
    return TG_E_NONE;
}

/*
 * What was last set without a tg_error to hold it: the additions that follow in the same statement
 * return it.
 */
static _Thread_local tg_code code_without_error = TG_INTERNAL;

/* The texts of a place are const for readers but owned by the error. */
static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

void tg_error_dispose(tg_error *err)
{
    free(err->name);
    free(err->message);
    free(err->detail);
    free(err->hint);
    free(err->context);
    free_text(err->place.file);
    free_text(err->place.excerpt);
    *err = (tg_error)TG_ERROR_INIT;
}

void tg_error_clear(tg_error *err)
{
    tg_error_dispose(err);
}

void tg_error_move(tg_error *to, tg_error *from)
{
    if (to == from) {
        return;
    }
    tg_error_dispose(to);
    *to = *from;
    *from = (tg_error)TG_ERROR_INIT;
}

void tg_error_copy(tg_error *to, const tg_error *from)
{
    if (to == from) {
        return;
    }
    tg_error_dispose(to);
    *to = *from;
    to->name = tg_heap_strdup(from->name);
    to->message = tg_heap_strdup(from->message);
    to->detail = tg_heap_strdup(from->detail);
    to->hint = tg_heap_strdup(from->hint);
    to->context = tg_heap_strdup(from->context);
    to->place.file = tg_heap_strdup(from->place.file);
    to->place.excerpt = tg_heap_strdup(from->place.excerpt);
}

static void set_sqlstate(tg_error *err, const char *sqlstate)
{
    (void)snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate);
}

tg_code tg_error_set(tg_error *err, tg_error_class cls, const char *c_file, int c_line,
                     const char *format, ...)
{
    const error_class_row *row = row_of(cls);
    if (!err) {
        code_without_error = row->code;
        return row->code;
    }
    va_list args;
    va_start(args, format);
    char *message =
        tg_heap_vprintf(format, args); /* before the old content goes: it may be an argument */
    va_end(args);
    tg_error_dispose(err);
    err->code = row->code;
    err->cls = cls;
    err->message = message;
    err->c_file = c_file;
    err->c_line = c_line;
    set_sqlstate(err, row->sqlstate);
    return row->code;
}

tg_code tg_error_set_named_(tg_error *err, tg_code code, const char *name, const char *sqlstate,
                            const char *format, ...)
{
    tg_assert(code != TG_OK);
    if (!err) {
        code_without_error = code;
        return code;
    }
    va_list args;
    va_start(args, format);
    char *message = tg_heap_vprintf(format, args);
    va_end(args);
    char *own_name = tg_heap_strdup(name);
    char own_sqlstate[sizeof(err->sqlstate)];
    (void)snprintf(own_sqlstate, sizeof(own_sqlstate), "%s", sqlstate);
    tg_error_dispose(err);
    err->code = code;
    err->cls = tg_error_class_find(tg_str_from(own_name));
    err->name = own_name;
    err->message = message;
    set_sqlstate(err, own_sqlstate);
    return code;
}

static void replace_text(char **text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void replace_text(char **text, const char *format, va_list args)
{
    char *fresh = tg_heap_vprintf(format, args);
    free(*text);
    *text = fresh;
}

tg_code tg_error_detail_(tg_error *err, const char *format, ...)
{
    if (!err) {
        return code_without_error;
    }
    va_list args;
    va_start(args, format);
    replace_text(&err->detail, format, args);
    va_end(args);
    return err->code;
}

tg_code tg_error_hint_(tg_error *err, const char *format, ...)
{
    if (!err) {
        return code_without_error;
    }
    va_list args;
    va_start(args, format);
    replace_text(&err->hint, format, args);
    va_end(args);
    return err->code;
}

tg_code tg_error_context_(tg_error *err, const char *format, ...)
{
    if (!err) {
        return code_without_error;
    }
    va_list args;
    va_start(args, format);
    char *fresh = tg_heap_vprintf(format, args);
    va_end(args);
    if (err->context) {
        tg_buf joined = TG_BUF_INIT;
        tg_buf_addf(&joined, "%s; %s", fresh, err->context);
        free(fresh);
        fresh = tg_heap_strdup(tg_buf_cstr(&joined));
        tg_buf_dispose(&joined);
    }
    free(err->context);
    err->context = fresh;
    return err->code;
}

tg_code tg_error_span_(tg_error *err, size_t offset, size_t len)
{
    if (!err) {
        return code_without_error;
    }
    err->span_offset = offset;
    err->span_len = len;
    err->has_span = true;
    return err->code;
}

tg_code tg_error_pass_(tg_error *local, tg_error *err)
{
    tg_code code = local->code;
    if (err) {
        tg_error_move(err, local);
    }
    return code;
}

/* A line longer than this is cut around the place. */
enum { EXCERPT_BYTES_MAX = 240, EXCERPT_BYTES_BEFORE = 120 };

/* Moves pos to the start of a character, backwards. */
static size_t character_start(tg_str text, size_t pos)
{
    while (pos > 0 && pos < text.len && ((unsigned char)text.ptr[pos] & 0xC0) == 0x80) {
        pos--;
    }
    return pos;
}

void tg_error_locate(tg_error *err, const char *file, tg_str text)
{
    if (!err->has_span || err->place.line > 0) {
        return;
    }
    size_t at = character_start(text, err->span_offset < text.len ? err->span_offset : text.len);
    size_t line_from = 0;
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        if (text.ptr[i] == '\n') {
            line++;
            line_from = i + 1;
        }
    }
    size_t line_to = tg_str_find(text, TG_S("\n"), at);
    line_to = line_to == SIZE_MAX ? text.len : line_to;
    if (line_to > at && text.ptr[line_to - 1] == '\r') {
        line_to--;
    }
    size_t span_to = err->span_len < line_to - at ? at + err->span_len : line_to;
    size_t caret_len = tg_utf8_count(tg_str_sub(text, at, span_to));

    size_t from = line_from;
    size_t to = line_to;
    if (to - from > EXCERPT_BYTES_MAX) {
        from = at - from > EXCERPT_BYTES_BEFORE ? character_start(text, at - EXCERPT_BYTES_BEFORE)
                                                : from;
        to = to - from > EXCERPT_BYTES_MAX ? character_start(text, from + EXCERPT_BYTES_MAX) : to;
    }
    size_t before = tg_utf8_count(tg_str_sub(text, line_from, from));
    size_t column = before + tg_utf8_count(tg_str_sub(text, from, at)) + 1;
    err->place = (tg_place){
        .file = tg_heap_strdup(file),
        .line = line,
        .column = (int)column,
        .excerpt = tg_heap_strndup(text.ptr + from, to - from),
        .excerpt_column = (int)before + 1,
        .caret_len = caret_len ? (int)caret_len : 1,
    };
}

const char *tg_error_name(const tg_error *err)
{
    return err->name ? err->name : tg_error_class_name(err->cls);
}

void tg_assert_fail(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr,
                  "tidegate: %s:%d: assertion failed: %s\nThis is a bug; please report it.\n", file,
                  line, condition);
    abort();
}
