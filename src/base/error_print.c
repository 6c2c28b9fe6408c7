/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as text for people: message, place with the line and a caret, detail, hint, context. */
#include "base/error.h"

/*
 * What a character of the excerpt looks like on a terminal: control characters and broken bytes are
 * made visible.
 */
static uint32_t shown(uint32_t code_point)
{
    bool is_control =
        (code_point < 0x20 && code_point != '\t') || (code_point >= 0x7F && code_point < 0xA0);
    return is_control ? 0xFFFD : code_point;
}

static void print_excerpt(tg_str excerpt, tg_buf *out)
{
    for (size_t pos = 0; pos < excerpt.len;) {
        char bytes[4];
        tg_buf_add(out, bytes, tg_utf8_put(bytes, shown(tg_utf8_next(excerpt, &pos))));
    }
}

/*
 * Blanks as wide as the text before the caret; tabs stay tabs, so that they line up whatever their
 * width is.
 */
static void print_caret(const tg_place *place, tg_str excerpt, tg_buf *out)
{
    int first_column = place->excerpt_column > 0 ? place->excerpt_column : 1;
    size_t pos = 0;
    for (int column = first_column; column < place->column && pos < excerpt.len; column++) {
        uint32_t code_point = shown(tg_utf8_next(excerpt, &pos));
        if (code_point == '\t') {
            tg_buf_addc(out, '\t');
            continue;
        }
        for (int i = tg_utf8_width(code_point); i > 0; i--) {
            tg_buf_addc(out, ' ');
        }
    }
    int carets = 0;
    for (int i = 0; i < place->caret_len && pos < excerpt.len; i++) {
        for (int width = tg_utf8_width(shown(tg_utf8_next(excerpt, &pos))); width > 0; width--) {
            tg_buf_addc(out, '^');
            carets++;
        }
    }
    if (carets == 0) { /* behind the end of the line */
        tg_buf_addc(out, '^');
    }
}

static void print_place(const tg_place *place, tg_buf *out)
{
    tg_buf_addf(out, "  --> %s:%d:%d\n", place->file ? place->file : "<text>", place->line,
                place->column);
    if (!place->excerpt) {
        return;
    }
    tg_str excerpt = tg_str_from(place->excerpt);
    tg_buf_addz(out, "   | ");
    print_excerpt(excerpt, out);
    tg_buf_addz(out, "\n   | ");
    print_caret(place, excerpt, out);
    tg_buf_addc(out, '\n');
}

static void print_labelled(const char *label, const char *text, tg_buf *out)
{
    if (text && text[0]) {
        tg_buf_addf(out, "%s: %s\n", label, text);
    }
}

void tg_error_print(const tg_error *err, tg_buf *out)
{
    tg_str message = tg_str_from(err->message ? err->message : "");
    bool has_stop = message.len > 0 && strchr(".?!", message.ptr[message.len - 1]) != NULL;
    tg_buf_addf(out, "[%s] %s%s SQLSTATE: %s\n", tg_error_name(err), message.ptr,
                has_stop ? "" : ".", err->sqlstate);
    if (err->place.line > 0) {
        print_place(&err->place, out);
    }
    print_labelled("detail", err->detail, out);
    print_labelled("hint", err->hint, out);
    print_labelled("context", err->context, out);
}
