/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as table, CSV, JSON lines, or the rows format. CSV and JSON stream; the rows format is
 * complete before its header is printed (a reader must not see rows of a statement that fails
 * later); a table takes its widths from its first rows.
 */
#include "cli/cli.h"

enum { WIDTH_ROWS = 1000, FLUSH_BYTES = 1 << 16 };

tg_code tg_cli_format(const tg_cli *cli, tg_format *out_format, tg_error *err)
{
    static const char *const NAMES[] = {"table", "csv", "json", "rows"};
    tg_str names[4];
    if (!cli->given[TG_OPT_FORMAT]) {
        *out_format = TG_FORMAT_OUT_TABLE;
        return TG_OK;
    }
    for (size_t i = 0; i < 4; i++) {
        names[i] = tg_str_from(NAMES[i]);
        if (tg_str_eq(cli->value[TG_OPT_FORMAT], names[i])) {
            *out_format = (tg_format)i;
            return TG_OK;
        }
    }
    TG_ERR(err, TIDEGATE_INVALID_OPTION, "unknown format '%.*s': table, csv, json or rows",
           TG_SARG(cli->value[TG_OPT_FORMAT]));
    tg_str near = tg_str_nearest(cli->value[TG_OPT_FORMAT], names, 4);
    return near.len ? tg_error_hint(err, "Did you mean %.*s?", TG_SARG(near)) : TG_INVALID_ARGUMENT;
}

static void flush(tg_buf *buf, FILE *to)
{
    fwrite(tg_buf_str(buf).ptr, 1, buf->len, to);
    tg_buf_clear(buf);
}

/* ---- rows and JSON --------------------------------------------------------------------------- */

/* The line before the rows of a statement; err: it failed, and there are none. */
static void rows_header(size_t statement, tg_schema schema, const tg_error *err, tg_buf *out)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_json_out json;
    tg_json_begin(&json, out);
    tg_json_object(&json);
    tg_json_ki64(&json, "statement", (int64_t)statement);
    tg_json_keyz(&json, "schema");
    tg_json_array(&json);
    for (size_t i = 0; i < schema.count; i++) {
        tg_json_object(&json);
        tg_json_kstr(&json, "name", schema.fields[i].name);
        tg_json_kstr(&json, "type", tg_type_text(scratch, schema.fields[i].type));
        tg_json_end_object(&json);
    }
    tg_json_end_array(&json);
    tg_json_keyz(&json, "error");
    if (err) {
        tg_json_object(&json);
        tg_json_kstrz(&json, "error_class", tg_error_name(err));
        tg_json_kstrz(&json, "sql_state", err->sqlstate);
        tg_json_kstrz(&json, "message", err->message);
        tg_json_end_object(&json);
    } else {
        tg_json_null(&json);
    }
    tg_json_end_object(&json);
    tg_buf_addc(out, '\n');
}

void tg_cli_print_failed_rows(const tg_error *err, size_t statement, FILE *to)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    rows_header(statement, (tg_schema){0}, err, &out);
    flush(&out, to);
    fflush(to);
}

static tg_code print_rows(tg_result *result, size_t statement, FILE *to, tg_error *err)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    rows_header(statement, result->schema, /* err= */ NULL, &out);
    for (bool has_row = true;;) {
        TG_TRY(tg_result_next(result, &has_row, err));
        if (!has_row) {
            break;
        }
        tg_result_row_json(result, &out);
        tg_buf_addc(&out, '\n');
    }
    flush(&out, to);
    fflush(to);
    return TG_OK;
}

static tg_code print_json(tg_result *result, FILE *to, tg_error *err)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (bool has_row = true;;) {
        TG_TRY(tg_result_next(result, &has_row, err));
        if (!has_row) {
            break;
        }
        tg_buf_addc(&out, '{');
        for (size_t i = 0; i < result->schema.count; i++) {
            tg_buf_addz(&out, i > 0 ? ", " : "");
            tg_json_quote(&out, result->schema.fields[i].name);
            tg_buf_addz(&out, ": ");
            tg_result_cell_json(result, i, &out);
        }
        tg_buf_addz(&out, "}\n");
        if (out.len > FLUSH_BYTES) {
            flush(&out, to);
        }
    }
    flush(&out, to);
    return TG_OK;
}

/* ---- CSV (RFC 4180; NULL is an empty field, an empty string is "") --------------------------- */

static void csv_field(tg_str text, tg_buf *out)
{
    bool quote = text.len == 0;
    for (size_t i = 0; i < text.len && !quote; i++) {
        quote =
            text.ptr[i] == ',' || text.ptr[i] == '"' || text.ptr[i] == '\n' || text.ptr[i] == '\r';
    }
    if (!quote) {
        tg_buf_adds(out, text);
        return;
    }
    tg_buf_addc(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        tg_buf_addz(out, text.ptr[i] == '"' ? "\"" : "");
        tg_buf_addc(out, text.ptr[i]);
    }
    tg_buf_addc(out, '"');
}

static tg_code print_csv(tg_result *result, FILE *to, tg_error *err)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    tg_auto_buf tg_buf cell = TG_BUF_INIT;
    for (size_t i = 0; i < result->schema.count; i++) {
        tg_buf_addz(&out, i > 0 ? "," : "");
        csv_field(result->schema.fields[i].name, &out);
    }
    tg_buf_addz(&out, "\n");
    for (bool has_row = true;;) {
        TG_TRY(tg_result_next(result, &has_row, err));
        if (!has_row) {
            break;
        }
        for (size_t i = 0; i < result->schema.count; i++) {
            tg_buf_addz(&out, i > 0 ? "," : "");
            tg_buf_clear(&cell);
            if (tg_result_cell_text(result, i, &cell)) {
                csv_field(tg_buf_str(&cell), &out);
            }
        }
        tg_buf_addc(&out, '\n');
        if (out.len > FLUSH_BYTES) {
            flush(&out, to);
        }
    }
    flush(&out, to);
    return TG_OK;
}

/* ---- table ----------------------------------------------------------------------------------- */

typedef struct table_print {
    tg_arena *arena;
    size_t columns;
    size_t *widths;
    FILE *to;
    tg_buf out;
} table_print;

/* Control characters would break the lines of a table. */
static tg_str one_line(tg_arena *arena, tg_str text)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '\n':
            tg_buf_addz(&out, "\\n");
            break;
        case '\r':
            tg_buf_addz(&out, "\\r");
            break;
        case '\t':
            tg_buf_addz(&out, "\\t");
            break;
        default:
            tg_buf_addc(&out, text.ptr[i]);
        }
    }
    return tg_buf_take(&out, arena);
}

static void table_line(table_print *table, const tg_str *cells)
{
    for (size_t i = 0; i < table->columns; i++) {
        tg_buf_addz(&table->out, i > 0 ? " | " : " ");
        tg_buf_adds(&table->out, cells[i]);
        for (size_t pad = tg_utf8_count(cells[i]); pad < table->widths[i]; pad++) {
            tg_buf_addc(&table->out, ' ');
        }
    }
    while (table->out.len > 0 && table->out.ptr[table->out.len - 1] == ' ') {
        table->out.len--;
    }
    tg_buf_addc(&table->out, '\n');
    if (table->out.len > FLUSH_BYTES) {
        flush(&table->out, table->to);
    }
}

static void table_rule(table_print *table)
{
    for (size_t i = 0; i < table->columns; i++) {
        tg_buf_addz(&table->out, i > 0 ? "+" : "");
        for (size_t j = 0; j < table->widths[i] + 2; j++) {
            tg_buf_addc(&table->out, '-');
        }
    }
    tg_buf_addc(&table->out, '\n');
}

static void read_cells(tg_result *result, tg_arena *arena, tg_str *cells)
{
    tg_auto_buf tg_buf cell = TG_BUF_INIT;
    for (size_t i = 0; i < result->schema.count; i++) {
        tg_buf_clear(&cell);
        bool has_value = tg_result_cell_text(result, i, &cell);
        cells[i] = has_value ? one_line(arena, tg_buf_str(&cell)) : TG_S("NULL");
    }
}

static void print_kept(table_print *table, const tg_result *result, tg_str *const *rows,
                       size_t count)
{
    tg_str *names = TG_NEW_ARRAY(table->arena, tg_str, table->columns);
    for (size_t i = 0; i < table->columns; i++) {
        names[i] = one_line(table->arena, result->schema.fields[i].name);
        table->widths[i] = tg_utf8_count(names[i]);
        for (size_t j = 0; j < count; j++) {
            size_t width = tg_utf8_count(rows[j][i]);
            table->widths[i] = width > table->widths[i] ? width : table->widths[i];
        }
    }
    table_line(table, names);
    table_rule(table);
    for (size_t j = 0; j < count; j++) {
        table_line(table, rows[j]);
    }
}

static tg_code print_table(tg_result *result, FILE *to, tg_error *err)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    size_t columns = result->schema.count;
    table_print table = {.arena = arena,
                         .columns = columns,
                         .widths = TG_NEW_ARRAY(arena, size_t, columns),
                         .to = to};
    tg_str **rows = TG_NEW_ARRAY(arena, tg_str *, WIDTH_ROWS);
    size_t kept = 0, count = 0;
    tg_code code = TG_OK;
    for (bool has_row = true;; count++) {
        code = tg_result_next(result, &has_row, err);
        if (code != TG_OK || !has_row) {
            break;
        }
        if (count < WIDTH_ROWS) {
            rows[kept] = TG_NEW_ARRAY(arena, tg_str, columns);
            read_cells(result, arena, rows[kept++]);
            continue;
        }
        if (count == WIDTH_ROWS) {
            print_kept(&table, result, rows, kept);
        }
        tg_str *cells = TG_NEW_ARRAY(scratch, tg_str, columns);
        read_cells(result, scratch, cells);
        table_line(&table, cells);
        tg_arena_reset(scratch);
    }
    if (code == TG_OK && count <= WIDTH_ROWS) {
        print_kept(&table, result, rows, kept);
    }
    if (code == TG_OK) {
        tg_buf_addf(&table.out, "(%zu row%s)\n", count, count == 1 ? "" : "s");
    }
    flush(&table.out, to);
    tg_buf_dispose(&table.out);
    return code;
}

tg_code tg_cli_print_result(tg_result *result, tg_format format, size_t statement, FILE *to,
                            tg_error *err)
{
    if (format == TG_FORMAT_OUT_ROWS) {
        return print_rows(result, statement, to, err);
    }
    if (result->schema.count == 0) {
        if (format == TG_FORMAT_OUT_TABLE && result->message) {
            fprintf(to, "%s\n", result->message);
        }
        return TG_OK;
    }
    switch (format) {
    case TG_FORMAT_OUT_CSV:
        return print_csv(result, to, err);
    case TG_FORMAT_OUT_JSON:
        return print_json(result, to, err);
    default:
        return print_table(result, to, err);
    }
}

/* ---- console lines --------------------------------------------------------------------------- */

void tg_cli_say(const char *format, ...)
{
    tg_auto_arena tg_arena *arena = tg_arena_new();
    const tg_env *env = tg_env_system();
    tg_str now = tg_local_text(arena, env->now_us(env->self) / TG_US_PER_SECOND * TG_US_PER_SECOND);
    va_list args;
    va_start(args, format);
    const char *text = tg_arena_vprintf(arena, format, args);
    va_end(args);
    fprintf(stderr, "%.*s: %s\n", TG_SARG(now), text);
}
