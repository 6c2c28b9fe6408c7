/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to folders. Identifiers have no case here: the folder and the normal form of a name are in
 * lower case, so that Orders and orders are one table on every file system.
 */
#include "catalog/catalog.h"

#include "catalog/view.h"

enum { PART_COUNT = 3 };
static const char *const part_words[PART_COUNT] = {"catalog", "schema", "table"};

/* by tg_table_format */
static const tg_str formats[] = {
    [TG_FORMAT_DELTA] = {"delta", 5},
    [TG_FORMAT_PARQUET] = {"parquet", 7},
    [TG_FORMAT_CSV] = {"csv", 3},
    [TG_FORMAT_JSON] = {"json", 4},
};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(*formats) };

/* Spark reads these as path tables too; a schema of the same name is not what their users mean. */
static const char *const foreign_formats[] = {"avro", "binaryfile", "iceberg",
                                              "orc",  "text",       "xml"};

bool tg_catalog_format(tg_str word, tg_table_format *out)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (tg_str_ieq(word, formats[i])) {
            *out = (tg_table_format)i;
            return true;
        }
    }
    return false;
}

tg_str tg_catalog_format_word(tg_table_format format)
{
    return formats[format];
}

const tg_str *tg_catalog_format_words(size_t *out_count)
{
    *out_count = FORMAT_COUNT;
    return formats;
}

/* ---- normal form of names -------------------------------------------------------------------- */

static bool is_plain_part(tg_str part)
{
    bool has_letter = false;
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.ptr[i];
        bool is_digit = c >= '0' && c <= '9';
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        if (!is_digit && !is_letter) {
            return false;
        }
        has_letter = has_letter || is_letter;
    }
    return has_letter;
}

/*
 * Backticks only where the text could not be read back otherwise: keywords keep their bare form,
 * main.default.t reads better.
 */
static void add_part(tg_buf *out, tg_str part)
{
    if (is_plain_part(part)) {
        tg_buf_adds(out, part);
    } else {
        tg_buf_addq(out, part, '`');
    }
}

/* The name as the user wrote it, for messages. */
static tg_str shown_name(const tg_name *name, tg_arena *arena)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < name->count; i++) {
        tg_buf_addz(&out, i ? "." : "");
        add_part(&out, name->parts[i].text);
    }
    return tg_buf_take(&out, arena);
}

static tg_str join_parts(const tg_str *parts, size_t count, tg_arena *arena)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        tg_buf_addz(&out, i ? "." : "");
        add_part(&out, parts[i]);
    }
    return tg_buf_take(&out, arena);
}

/* catalog, schema and table in lower case. */
static tg_code qualified_parts(const tg_catalog *catalog, const tg_name *name, tg_arena *arena,
                               tg_str parts[PART_COUNT], tg_error *err)
{
    if (name->count == 0 || name->count > PART_COUNT) {
        (void)TG_ERR(err, IDENTIFIER_TOO_MANY_NAME_PARTS, "table name `%.*s` has %zu parts",
                     TG_SARG(shown_name(name, arena)), name->count);
        (void)tg_error_at(err, name->span);
        return tg_error_hint(err, "Name tables as catalog.schema.table, schema.table or table.");
    }
    size_t missing = PART_COUNT - name->count;
    for (size_t i = 0; i < PART_COUNT; i++) {
        tg_str part = i >= missing ? name->parts[i - missing].text
                      : i == 0     ? catalog->current_catalog
                                   : catalog->current_schema;
        if (part.len == 0) {
            (void)TG_ERR(err, INVALID_IDENTIFIER, "the %s in a table name is empty", part_words[i]);
            return tg_error_at(err, name->span);
        }
        parts[i] = tg_str_lower(arena, part);
    }
    return TG_OK;
}

/*
 * What a folder name may not hold: '/' and NUL; '%' as our escape; pattern characters, which would
 * make a path a glob; control characters. A name that begins with '.' is hidden or a parent folder,
 * and one called _delta_log would make its schema a table.
 */
static bool is_folder_byte(unsigned char c)
{
    return c >= 0x20 && c != 0x7f && c != '/' && c != '\\' && c != '%' && c != '*' && c != '?' &&
           c != ':';
}

static tg_str folder_of_part(tg_str part, tg_arena *arena)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    bool is_log = tg_str_eq(part, TG_S("_delta_log"));
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.ptr[i];
        if (!is_folder_byte(c) || (i == 0 && (c == '.' || is_log))) {
            tg_buf_addf(&out, "%%%02X", c);
        } else {
            tg_buf_addc(&out, part.ptr[i]);
        }
    }
    return tg_buf_take(&out, arena);
}

/* A part is a folder, whose name the file system limits, escapes included. */
static tg_code check_length(const tg_str parts[PART_COUNT], const tg_name *name, tg_arena *arena,
                            tg_error *err)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        size_t bytes = folder_of_part(parts[i], arena).len;
        if (bytes > TG_LIMIT_NAME_PART_BYTES) {
            (void)TG_ERR(err, INVALID_IDENTIFIER,
                         "the %s in a table name has %zu bytes; a folder's name has at most %d",
                         part_words[i], bytes, TG_LIMIT_NAME_PART_BYTES);
            (void)tg_error_at(err, name->span);
            return tg_error_hint(err,
                                 "Give it a shorter name. A character beyond ASCII takes two "
                                 "to four bytes, and one that no folder's name may hold three.");
        }
    }
    return TG_OK;
}

tg_code tg_catalog_qualify(const tg_catalog *catalog, const tg_name *name, tg_arena *arena,
                           tg_str *out_full_name, tg_error *err)
{
    tg_str parts[PART_COUNT];
    TG_TRY(qualified_parts(catalog, name, arena, parts, err));
    *out_full_name = join_parts(parts, PART_COUNT, arena);
    return TG_OK;
}

/* A part in backticks, without them: a backtick in it is doubled. */
static tg_str unquoted(tg_str part, tg_arena *arena)
{
    if (part.len < 2 || part.ptr[0] != '`') {
        return part;
    }
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    for (size_t i = 1; i + 1 < part.len; i++) {
        tg_buf_addc(&out, part.ptr[i]);
        i += part.ptr[i] == '`';
    }
    return tg_buf_take(&out, arena);
}

tg_name tg_catalog_parts(tg_str full_name, tg_arena *arena)
{
    TG_VEC(tg_ident) parts = {0};
    size_t start = 0;
    bool is_quoted = false;
    for (size_t i = 0; i <= full_name.len; i++) {
        is_quoted = is_quoted != (i < full_name.len && full_name.ptr[i] == '`');
        if (i == full_name.len || (full_name.ptr[i] == '.' && !is_quoted)) {
            tg_str part = unquoted(tg_str_sub(full_name, start, i), arena);
            TG_VEC_PUSH(arena, &parts, ((tg_ident){.text = part}));
            start = i + 1;
        }
    }
    return (tg_name){.parts = parts.items, .count = parts.count};
}

/* ---- folders --------------------------------------------------------------------------------- */

static tg_str folder_of(const tg_catalog *catalog, const tg_str *parts, size_t count,
                        tg_arena *arena)
{
    tg_str path = catalog->warehouse;
    for (size_t i = 0; i < count; i++) {
        path = tg_path_join(arena, path, folder_of_part(parts[i], arena));
    }
    return path;
}

/* ---- locating -------------------------------------------------------------------------------- */

static const tg_mapped_table *find_mapped(const tg_catalog *catalog, const tg_str parts[PART_COUNT],
                                          tg_arena *arena)
{
    for (size_t i = 0; i < catalog->mapped_count; i++) {
        tg_name name;
        tg_str mapped[PART_COUNT];
        if (tg_sql_parse_name(catalog->mapped[i].name, arena, &name, NULL) != TG_OK ||
            qualified_parts(catalog, &name, arena, mapped, NULL) != TG_OK) {
            continue;
        }
        if (tg_str_eq(mapped[0], parts[0]) && tg_str_eq(mapped[1], parts[1]) &&
            tg_str_eq(mapped[2], parts[2])) {
            return &catalog->mapped[i];
        }
    }
    return NULL;
}

static tg_code refuse_foreign_format(const tg_name *name, tg_error *err)
{
    tg_str word = name->parts[0].text;
    for (size_t i = 0; i < sizeof(foreign_formats) / sizeof(*foreign_formats); i++) {
        if (tg_str_ieq(word, tg_str_from(foreign_formats[i])) &&
            tg_str_find(name->parts[1].text, TG_S("/"), 0) != SIZE_MAX) {
            (void)TG_ERR(err, UNSUPPORTED_FEATURE, "files of format %s cannot be read",
                         foreign_formats[i]);
            (void)tg_error_at(err, name->span);
            return tg_error_hint(err, "Path tables may be of format delta, parquet, csv or json.");
        }
    }
    return TG_OK;
}

static tg_code locate_path(const tg_catalog *catalog, const tg_name *name, tg_table_format format,
                           tg_arena *arena, tg_location *out, tg_error *err)
{
    tg_str text = name->parts[1].text;
    if (text.len == 0) {
        (void)TG_ERR(err, INVALID_IDENTIFIER, "the path of a %.*s table is empty",
                     TG_SARG(tg_catalog_format_word(format)));
        return tg_error_at(err, name->span);
    }
    tg_str path;
    tg_code code = tg_path_resolve(text, catalog->base_folder, arena, &path, err);
    if (code != TG_OK) {
        (void)tg_error_at(err, name->span);
        return code;
    }
    tg_auto_buf tg_buf full = TG_BUF_INIT;
    tg_buf_adds(&full, tg_catalog_format_word(format));
    tg_buf_addc(&full, '.');
    add_part(&full, path);
    *out = (tg_location){.full_name = tg_buf_take(&full, arena), .format = format, .path = path};
    return TG_OK;
}

tg_code tg_catalog_locate(const tg_catalog *catalog, const tg_name *name, tg_arena *arena,
                          tg_location *out, tg_error *err)
{
    tg_table_format format;
    if (name->count == 2) {
        if (tg_catalog_format(name->parts[0].text, &format)) {
            return locate_path(catalog, name, format, arena, out, err);
        }
        TG_TRY(refuse_foreign_format(name, err));
    }
    tg_str parts[PART_COUNT];
    TG_TRY(qualified_parts(catalog, name, arena, parts, err));
    tg_str full_name = join_parts(parts, PART_COUNT, arena);
    const tg_mapped_table *mapped =
        catalog->mapped_count ? find_mapped(catalog, parts, arena) : NULL;
    if (mapped) {
        *out = (tg_location){.full_name = full_name,
                             .format = mapped->format,
                             .path = mapped->path,
                             .options = mapped->options,
                             .option_count = mapped->option_count};
        return TG_OK;
    }
    TG_TRY(check_length(parts, name, arena, err));
    *out = (tg_location){.full_name = full_name,
                         .format = TG_FORMAT_DELTA,
                         .path = folder_of(catalog, parts, PART_COUNT, arena),
                         .is_managed = true};
    return TG_OK;
}

/* ---- listing --------------------------------------------------------------------------------- */

/* Folders that stand for names; the hidden ones are ours (.tidegate) or somebody else's. */
static tg_code list_names(const tg_catalog *catalog, tg_str folder, bool only_tables,
                          tg_arena *arena, tg_str **out_names, size_t *out_count, tg_error *err)
{
    TG_VEC(tg_str) names = {0};
    bool exists;
    TG_TRY(tg_fs_exists(catalog->fs, folder, &exists, err));
    if (exists) {
        tg_fs_entry *entries;
        size_t count;
        TG_TRY(tg_fs_list(catalog->fs, folder, /* with_details: */ false, arena, &entries, &count,
                          err));
        for (size_t i = 0; i < count; i++) {
            tg_str name;
            if (!entries[i].is_folder || entries[i].name.ptr[0] == '.' ||
                !tg_uri_decode(arena, entries[i].name, &name)) {
                continue;
            }
            bool is_table = false;
            if (only_tables) {
                tg_str log = tg_path_join(arena, tg_path_join(arena, folder, entries[i].name),
                                          TG_S("_delta_log"));
                TG_TRY(tg_fs_exists(catalog->fs, log, &is_table, err));
            }
            if (!only_tables || is_table) {
                TG_VEC_PUSH(arena, &names, name);
            }
        }
    }
    *out_names = names.items;
    *out_count = names.count;
    return TG_OK;
}

tg_code tg_catalog_tables(const tg_catalog *catalog, tg_str catalog_name, tg_str schema_name,
                          tg_arena *arena, tg_str **out_names, size_t *out_count, tg_error *err)
{
    tg_str parts[] = {tg_str_lower(arena, catalog_name), tg_str_lower(arena, schema_name)};
    return list_names(catalog, folder_of(catalog, parts, 2, arena), true, arena, out_names,
                      out_count, err);
}

tg_code tg_catalog_schemas(const tg_catalog *catalog, tg_str catalog_name, tg_arena *arena,
                           tg_str **out_names, size_t *out_count, tg_error *err)
{
    tg_str parts[] = {tg_str_lower(arena, catalog_name)};
    return list_names(catalog, folder_of(catalog, parts, 1, arena), false, arena, out_names,
                      out_count, err);
}

/* ---- not found ------------------------------------------------------------------------------- */

tg_code tg_catalog_not_found_(const tg_catalog *catalog, const tg_name *name, const tg_str *extra,
                              size_t extra_count, tg_error *err)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    tg_code code = TG_ERR(err, TABLE_OR_VIEW_NOT_FOUND, "table or view `%.*s` cannot be found",
                          TG_SARG(shown_name(name, scratch)));
    (void)tg_error_at(err, name->span);

    TG_VEC(tg_str) candidates = {0};
    for (size_t i = 0; i < extra_count; i++) {
        TG_VEC_PUSH(scratch, &candidates, extra[i]);
    }
    for (size_t i = 0; i < catalog->mapped_count; i++) {
        TG_VEC_PUSH(scratch, &candidates, catalog->mapped[i].name);
    }
    tg_str parts[PART_COUNT];
    bool is_path = false;
    if (name->count >= 1 && qualified_parts(catalog, name, scratch, parts, NULL) == TG_OK) {
        tg_table_format format;
        is_path = name->count == 2 && tg_catalog_format(name->parts[0].text, &format);
        tg_str *tables;
        size_t count;
        if (!is_path && tg_catalog_tables(catalog, parts[0], parts[1], scratch, &tables, &count,
                                          NULL) == TG_OK) {
            for (size_t i = 0; i < count; i++) {
                TG_VEC_PUSH(scratch, &candidates, tables[i]);
            }
        }
        if (!is_path && tg_catalog_views(catalog, parts[0], parts[1], scratch, &tables, &count,
                                         NULL) == TG_OK) {
            for (size_t i = 0; i < count; i++) {
                TG_VEC_PUSH(scratch, &candidates, tables[i]);
            }
        }
    }
    /* Compared by the last part: that is what people mistype. */
    tg_str word = name->count ? name->parts[name->count - 1].text : TG_S("");
    tg_str nearest =
        is_path ? (tg_str){0} : tg_str_nearest(word, candidates.items, candidates.count);
    if (nearest.len) {
        (void)tg_error_hint(err, "Did you mean `%.*s`?", TG_SARG(nearest));
    } else if (is_path) {
        (void)tg_error_hint(
            err, "There is no such file or folder; relative paths are looked up in %.*s.",
            TG_SARG(catalog->base_folder));
    } else {
        (void)tg_error_hint(err, "Tables of this warehouse are the folders below %.*s.",
                            TG_SARG(catalog->warehouse));
    }
    return code;
}
