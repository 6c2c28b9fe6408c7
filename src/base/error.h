/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: who failed, why, where, and the way out.
 *
 * A fallible function returns tg_code and takes the caller's tg_error last (may be NULL). Code
 * branches on tg_code or on err->cls, never on text. Every error class is a line of errors.def:
 * name (Spark's condition), SQLSTATE, code, meaning.
 * Messages: lower case, no full stop, name the kind of object and why ("could not" may work later,
 * "cannot" never will); detail and hint are sentences. Spark conditions keep Spark's wording where
 * users search for it.
 * Ownership: a tg_error owns its texts; TG_ERROR_INIT before use, tg_error_dispose at the end.
 * Setting it again replaces it.
 */
#ifndef TG_BASE_ERROR_H
#define TG_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/str.h"

typedef enum tg_code {
    TG_OK = 0,
    TG_INVALID_ARGUMENT, /* wrong options, statements, definitions: exit 2 or 3 */
    TG_NOT_FOUND,
    TG_ALREADY_EXISTS,
    TG_CONFLICT,     /* lost a race that a new attempt may win */
    TG_UNSUPPORTED,  /* known, and not built or not allowed here */
    TG_INVALID_DATA, /* a file or table is damaged */
    TG_EXECUTION,    /* a query failed on its data: cast, overflow, division by zero */
    TG_IO,
    TG_CANCELLED,
    TG_LIMIT,
    TG_GUARD, /* refused by a guard: exit 4 */
    TG_INTERNAL
} tg_code;

typedef enum tg_error_class {
    TG_E_NONE = 0,
#define TG_ERROR_CLASS(id, name, sqlstate, code, doc) TG_E_##id,
#include "base/errors.def"
#undef TG_ERROR_CLASS
    TG_E_COUNT_
} tg_error_class;

const char *tg_error_class_name(tg_error_class cls);     /* "TABLE_OR_VIEW_NOT_FOUND" */
const char *tg_error_class_sqlstate(tg_error_class cls); /* "42P01" */
const char *tg_error_class_doc(tg_error_class cls);
tg_code tg_error_class_code(tg_error_class cls);
/* TG_E_NONE when no class has this name. */
tg_error_class tg_error_class_find(tg_str name);

/*
 * A place in a text that a user wrote. Lines and columns count from 1, columns in code points; line
 * 0: no place.
 */
typedef struct tg_place {
    const char *file; /* shown name: a path, "-e", "<stdin>"; may be NULL */
    int line, column;
    const char *excerpt; /* the line's text, may be NULL */
    /* column of the excerpt's first character, when a long line was cut; 0 means 1 */
    int excerpt_column;
    int caret_len; /* code points to underline, at least 1 */
} tg_place;

typedef struct tg_error {
    tg_code code;
    tg_error_class cls;
    char *name; /* dynamic class name (an engine's condition we do not list), else NULL */
    char sqlstate[6];
    char *message;
    char *detail;
    char *hint;
    char *context;  /* "while planning flow 'sales'": newest first, joined by "; " */
    tg_place place; /* texts owned by this error */
    /*
     * Byte range in the text being parsed or bound, for those who can turn it into a place; length
     * 0: none.
     */
    size_t span_offset, span_len;
    bool has_span;
    const char *c_file;
    int c_line;
} tg_error;

#define TG_ERROR_INIT \
    {                 \
        0             \
    }
void tg_error_dispose(tg_error *err);
void tg_error_clear(tg_error *err);
/* Moves the content; from is empty afterwards. */
void tg_error_move(tg_error *to, tg_error *from);
void tg_error_copy(tg_error *to, const tg_error *from);
static inline bool tg_error_is_set(const tg_error *err)
{
    return err->code != TG_OK;
}

/* Sets err (may be NULL) and returns the class's code. */
tg_code tg_error_set(tg_error *err, tg_error_class cls, const char *c_file, int c_line,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* For a condition that is not in errors.def (an engine's or Spark's own); code is the caller's. */
tg_code tg_error_set_named_(tg_error *err, tg_code code, const char *name, const char *sqlstate,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Additions return the error's code, so that they can end a function. All take a NULL err. */
tg_code tg_error_detail_(tg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tg_code tg_error_hint_(tg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tg_code tg_error_context_(tg_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
tg_code tg_error_span_(tg_error *err, size_t offset, size_t len);
/* Hands a local error on to the caller's (may be NULL) and returns its code. */
tg_code tg_error_pass_(tg_error *local, tg_error *err);
/*
 * A function that reports an error never returns TG_OK, whatever was set before: who ends with it has
 * failed. Each such function of a header is named with _ at the end and called through a macro that
 * says so at the call, where compilers and analyzers see it: they do not look into other files, nor
 * deep into inline functions. (a ?: b is a, or b where a is 0.)
 */
#define tg_error_failure_(code) ((code) ?: TG_INTERNAL)
#define tg_error_set_named(...) tg_error_failure_(tg_error_set_named_(__VA_ARGS__))
#define tg_error_detail(...) tg_error_failure_(tg_error_detail_(__VA_ARGS__))
#define tg_error_hint(...) tg_error_failure_(tg_error_hint_(__VA_ARGS__))
#define tg_error_context(...) tg_error_failure_(tg_error_context_(__VA_ARGS__))
#define tg_error_span(...) tg_error_failure_(tg_error_span_(__VA_ARGS__))
#define tg_error_pass(...) tg_error_failure_(tg_error_pass_(__VA_ARGS__))
/*
 * Turns the span into a place in text, which starts at line first_line (1) of file. Does nothing
 * without a span or with a place.
 */
void tg_error_locate(tg_error *err, const char *file, tg_str text);
/* The error's name: dynamic name or class name. */
const char *tg_error_name(const tg_error *err);
/*
 * The whole error for people, several lines, no colour:
 *   [TABLE_OR_VIEW_NOT_FOUND] table or view `x` cannot be found. SQLSTATE: 42P01
 *     --> file.sql:3:15
 *      | SELECT * FROM x
 *      |               ^
 *   detail / hint / context lines
 */
void tg_error_print(const tg_error *err, tg_buf *out);

#define TG_ERR(err, cls, ...) \
    tg_error_failure_(tg_error_set((err), TG_E_##cls, __FILE__, __LINE__, __VA_ARGS__))
/* The only macros that hide a return. */
#define TG_FAIL(err, cls, ...) return TG_ERR(err, cls, __VA_ARGS__)
#define TG_TRY(expr)               \
    do {                           \
        tg_code tg_code_ = (expr); \
        if (tg_code_ != TG_OK) {   \
            return tg_code_;       \
        }                          \
    } while (0)
#define TG_TRY_CTX(expr, err, ...)                      \
    do {                                                \
        tg_code tg_code_ = (expr);                      \
        if (tg_code_ != TG_OK) {                        \
            (void)tg_error_context((err), __VA_ARGS__); \
            return tg_code_;                            \
        }                                               \
    } while (0)
#define TG_CHECKED __attribute__((warn_unused_result))

#define tg_auto_error __attribute__((cleanup(tg_error_dispose)))

/*
 * Several errors and warnings of one input. Owned by the caller; items live on the heap until
 * dispose.
 */
typedef struct tg_diags {
    tg_error *items;
    bool *is_warning;
    size_t count, capacity;
    size_t error_count;
} tg_diags;
#define TG_DIAGS_INIT \
    {                 \
        0             \
    }
void tg_diags_dispose(tg_diags *diags);
/*
 * Moves the error in. count is what is kept: beyond TG_LIMIT_DIAGNOSTICS further ones are dropped,
 * error_count goes on.
 */
void tg_diags_add(tg_diags *diags, tg_error *err);
void tg_diags_add_warning(tg_diags *diags, tg_error *err);
/* By file, line and column; what has no place stands first. Otherwise the order stays. */
void tg_diags_sort(tg_diags *diags);
/* Copies the first error to err and returns its code; TG_OK when there is none. */
tg_code tg_diags_first(const tg_diags *diags, tg_error *err);

/* Our own invariants only, never for user input or file content. Kept in release builds. */
#define tg_assert(cond) ((cond) ? (void)0 : tg_assert_fail(#cond, __FILE__, __LINE__))
_Noreturn void tg_assert_fail(const char *condition, const char *file, int line);

#endif
