/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change feeds in FROM: the rows that versions inserted, updated and deleted.
 *
 * A version with change data files says all in them. In others an added file is rows that came and a
 * removed one rows that went; a file that is removed with one deletion vector and added with another
 * gives the rows that only one of them names. Files of all versions are read in one scan for each
 * kind of change; the version is looked up by the file's number.
 */
#include "engine/duckdb/duckdb_int.h"

static const char NUMBER[] = "tidegate file number"; /* no column of Delta has blanks in its name */

typedef struct change_file {
    const tg_delta_add *file;
    const tg_delta_add *other; /* the rows are those that its vector deletes; NULL: all live rows */
    int64_t version, time_ms;
} change_file;

typedef TG_VEC(change_file) file_vec;

/* Files by what their rows say. */
typedef struct change_lists {
    tg_arena *arena;
    tg_delta_mapping mapping;
    file_vec written;            /* change data files, which hold _change_type */
    file_vec inserts, deletes;   /* whole files */
    file_vec restored, unlisted; /* rows that a vector names no longer, or now */
} change_lists;

/* ---- describing ------------------------------------------------------------------------------ */

tg_code tg_duckdb_describe_changes(void *self, tg_str path, const tg_change_bound *from,
                                   const tg_change_bound *to, tg_str name, tg_arena *arena,
                                   const tg_table **out_table, tg_error *err)
{
    static const struct {
        const char *name;
        tg_type_kind kind;
    } extra[] = {{"_change_type", TG_TYPE_STRING},
                 {"_commit_version", TG_TYPE_BIGINT},
                 {"_commit_timestamp", TG_TYPE_TIMESTAMP}};
    enum { EXTRA = sizeof extra / sizeof extra[0] };
    tg_duckdb_engine *engine = self;
    const tg_delta_bound first = {from->is_timestamp, from->value};
    const tg_delta_bound last = {to && to->is_timestamp, to ? to->value : 0};
    tg_delta_feed feed;
    TG_TRY(tg_delta_feed_open(&engine->delta, path, &first, to ? &last : NULL, arena, &feed, err));
    tg_schema schema = feed.head->metadata.schema;
    tg_field *fields = TG_NEW_ARRAY(arena, tg_field, schema.count + EXTRA);
    for (size_t i = 0; i < schema.count; i++) {
        fields[i] = schema.fields[i];
        fields[i].nullable = true;
    }
    for (size_t i = 0; i < EXTRA; i++) {
        tg_str column = tg_str_from(extra[i].name);
        if (tg_schema_find(schema, column) >= 0) {
            TG_FAIL(err, UNSUPPORTED_FEATURE,
                    "the changes of table %.*s cannot be read: it has a column %s itself",
                    TG_SARG(name), extra[i].name);
        }
        fields[schema.count + i] =
            (tg_field){.name = column, .type = tg_type_of(extra[i].kind), .nullable = true};
    }
    tg_table *table = TG_NEW(arena, tg_table);
    *table = (tg_table){.name = name,
                        .format = TG_FORMAT_DELTA,
                        .path = path,
                        .schema = {.fields = fields, .count = schema.count + EXTRA},
                        .partition_columns = feed.head->metadata.partition_columns,
                        .partition_count = feed.head->metadata.partition_count,
                        .version = feed.to,
                        .is_changes = true,
                        .changes_from = feed.from};
    *out_table = table;
    return TG_OK;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static const tg_delta_add *as_add(change_lists *lists, const tg_delta_remove *remove)
{
    tg_delta_add *file = TG_NEW(lists->arena, tg_delta_add);
    *file = (tg_delta_add){.path = remove->path,
                           .encoded_path = remove->encoded_path,
                           .partition_values = remove->partition_values,
                           .size_bytes = remove->size_bytes,
                           .stats = remove->stats,
                           .dv = remove->dv};
    return file;
}

static const tg_delta_remove *remove_of(const tg_delta_commit *commit, tg_str path)
{
    for (size_t i = 0; i < commit->remove_count; i++) {
        if (commit->removes[i].data_change && tg_str_eq(commit->removes[i].path, path)) {
            return &commit->removes[i];
        }
    }
    return NULL;
}

static bool adds(const tg_delta_commit *commit, tg_str path)
{
    for (size_t i = 0; i < commit->add_count; i++) {
        if (commit->adds[i].data_change && tg_str_eq(commit->adds[i].path, path)) {
            return true;
        }
    }
    return false;
}

/* A file with another vector than before: what only one of them names. */
static tg_code compare_vectors(change_lists *lists, const tg_delta_add *now,
                               const tg_delta_remove *removed, int64_t version, int64_t time_ms,
                               tg_error *err)
{
    if (!now->dv && !removed->dv) {
        TG_FAIL(err, TIDEGATE_DELTA_LOG_INVALID,
                "version %lld of the table adds and removes file `%.*s` without a deletion vector",
                (long long)version, TG_SARG(now->path));
    }
    const tg_delta_add *before = as_add(lists, removed);
    /* Partition values are those of the add: a remove may lack them. */
    tg_delta_add *old = TG_NEW(lists->arena, tg_delta_add);
    *old = *before;
    old->partition_values = now->partition_values;
    if (now->dv) {
        TG_VEC_PUSH(lists->arena, &lists->unlisted, ((change_file){old, now, version, time_ms}));
    }
    if (old->dv) {
        TG_VEC_PUSH(lists->arena, &lists->restored, ((change_file){now, old, version, time_ms}));
    }
    return TG_OK;
}

static tg_code derive(change_lists *lists, const tg_delta_commit *commit, size_t partition_count,
                      int64_t time_ms, tg_error *err)
{
    for (size_t i = 0; i < commit->add_count; i++) {
        const tg_delta_add *add = &commit->adds[i];
        if (!add->data_change) {
            continue;
        }
        const tg_delta_remove *removed = remove_of(commit, add->path);
        if (removed) {
            TG_TRY(compare_vectors(lists, add, removed, commit->version, time_ms, err));
        } else {
            TG_VEC_PUSH(lists->arena, &lists->inserts,
                        ((change_file){add, NULL, commit->version, time_ms}));
        }
    }
    for (size_t i = 0; i < commit->remove_count; i++) {
        const tg_delta_remove *remove = &commit->removes[i];
        if (!remove->data_change || adds(commit, remove->path)) {
            continue;
        }
        if (partition_count && !remove->partition_values) {
            TG_FAIL(err, DELTA_MISSING_CHANGE_DATA,
                    "version %lld removes file `%.*s` without its partition values: the rows that "
                    "it deleted cannot be told",
                    (long long)commit->version, TG_SARG(remove->path));
        }
        TG_VEC_PUSH(lists->arena, &lists->deletes,
                    ((change_file){as_add(lists, remove), NULL, commit->version, time_ms}));
    }
    return TG_OK;
}

static tg_code gather(tg_duckdb_session *session, const tg_table *table, change_lists *lists,
                      tg_error *err)
{
    const tg_delta *delta = &session->engine->delta;
    const tg_delta_snapshot *head;
    TG_TRY(tg_delta_metadata_load(delta, table->path, table->version, lists->arena, &head, err));
    const tg_str *keys = tg_delta_partition_keys(lists->arena, &head->metadata);
    lists->mapping = tg_delta_mapping_of(&head->metadata);
    size_t count = (size_t)(table->version - table->changes_from + 1);
    int64_t *times = TG_NEW_ARRAY(lists->arena, int64_t, count);
    TG_TRY(tg_delta_commit_times(delta, table->path, table->changes_from, table->version,
                                 lists->arena, times, err));
    for (size_t i = 0; i < count; i++) {
        const tg_delta_commit *commit;
        int64_t version = table->changes_from + (int64_t)i;
        TG_TRY(tg_delta_commit_read(delta, table->path, version, keys, table->partition_count,
                                    lists->arena, &commit, err));
        for (size_t j = 0; j < commit->cdc_count; j++) {
            TG_VEC_PUSH(lists->arena, &lists->written,
                        ((change_file){&commit->cdcs[j], NULL, version, times[i]}));
        }
        if (!commit->has_cdc) {
            TG_TRY(derive(lists, commit, table->partition_count, times[i], err));
        }
    }
    return TG_OK;
}

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct change_print {
    tg_duckdb_session *session;
    const tg_rel *scan;
    const tg_zone *zone;
    tg_arena *arena;
    tg_buf *out;
    tg_delta_mapping mapping;
    bool has_item;
} change_print;

/* list_extract([...], number + 1): one value of the file that a row is from. */
static void put_lookup(change_print *p, const file_vec *files, bool is_time)
{
    tg_buf_addz(p->out, is_time ? "make_timestamptz(list_extract([" : "list_extract([");
    for (size_t i = 0; i < files->count; i++) {
        const change_file *file = &files->items[i];
        long long value = is_time ? (long long)file->time_ms * 1000 : (long long)file->version;
        tg_buf_addf(p->out, "%sCAST(%lld AS BIGINT)", i ? ", " : "", value);
    }
    tg_buf_addf(p->out, "], \"%s\" + 1)%s", NUMBER, is_time ? ")" : "");
}

/* The scan's columns; type NULL: the files say what happened. */
static void put_columns(change_print *p, const file_vec *files, const char *type)
{
    const tg_table *table = p->scan->table;
    size_t stored = table->schema.count - 3;
    for (size_t i = 0; i < p->scan->column_count; i++) {
        size_t field = p->scan->scan_fields[i];
        tg_buf_addz(p->out, i ? ", " : "");
        if (field == stored && type) {
            tg_duckdb_put_string(p->out, tg_str_from(type));
        } else if (field <= stored) {
            tg_duckdb_put_ident(p->out, table->schema.fields[field].name);
        } else {
            put_lookup(p, files, field == stored + 2);
        }
        tg_buf_addz(p->out, " AS ");
        tg_duckdb_put_ident(p->out, table->schema.fields[field].name);
    }
    tg_buf_addz(p->out, p->scan->column_count ? "" : "NULL");
}

static tg_code put_list(change_print *p, const file_vec *files, const char *type, tg_error *err)
{
    if (!files->count) {
        return TG_OK;
    }
    const tg_table *table = p->scan->table;
    size_t stored = table->schema.count - 3;
    const tg_delta_add **items = TG_NEW_ARRAY(p->arena, const tg_delta_add *, files->count);
    const tg_delta_add **others = TG_NEW_ARRAY(p->arena, const tg_delta_add *, files->count);
    for (size_t i = 0; i < files->count; i++) {
        items[i] = files->items[i].file;
        others[i] = files->items[i].other;
    }
    size_t *fields = TG_NEW_ARRAY(p->arena, size_t, p->scan->column_count);
    size_t field_count = 0;
    for (size_t i = 0; i < p->scan->column_count; i++) {
        size_t field = p->scan->scan_fields[i];
        if (field < stored || (field == stored && !type)) {
            fields[field_count++] = field;
        }
    }
    tg_duckdb_files item = {
        .table_path = table->path,
        .schema = {.fields = table->schema.fields, .count = stored + !type},
        .mapping = p->mapping,
        .partition_columns = table->partition_columns,
        .partition_count = table->partition_count,
        .files = items,
        .file_count = files->count,
        .fields = fields,
        .field_count = field_count,
        .file_number = NUMBER,
        .only_deleted_by = files->items[0].other ? others : NULL,
    };
    tg_buf_addz(p->out, p->has_item ? " UNION ALL SELECT " : "SELECT ");
    p->has_item = true;
    put_columns(p, files, type);
    tg_buf_addz(p->out, " FROM ");
    return tg_duckdb_put_files(p->session, &item, p->zone, p->arena, p->out, err);
}

static tg_code put_nothing(change_print *p, tg_error *err)
{
    tg_buf_addz(p->out, "SELECT ");
    for (size_t i = 0; i < p->scan->column_count; i++) {
        const tg_field *field = &p->scan->table->schema.fields[p->scan->scan_fields[i]];
        tg_buf_addz(p->out, i ? ", CAST(NULL AS " : "CAST(NULL AS ");
        TG_TRY(tg_duckdb_put_type(p->out, field->type, err));
        tg_buf_addz(p->out, ") AS ");
        tg_duckdb_put_ident(p->out, field->name);
    }
    tg_buf_addz(p->out, p->scan->column_count ? " WHERE false" : "NULL WHERE false");
    return TG_OK;
}

tg_code tg_duckdb_put_changes(tg_duckdb_session *session, const tg_rel *scan, const tg_zone *zone,
                              tg_arena *arena, tg_buf *out, tg_error *err)
{
    change_lists lists = {.arena = arena};
    change_print p = {.session = session, .scan = scan, .zone = zone, .arena = arena, .out = out};
    TG_TRY_CTX(gather(session, scan->table, &lists, err), err,
               "while reading changes of table %.*s", TG_SARG(scan->table->name));
    p.mapping = lists.mapping;
    tg_buf_addc(out, '(');
    TG_TRY(put_list(&p, &lists.written, NULL, err));
    TG_TRY(put_list(&p, &lists.inserts, "insert", err));
    TG_TRY(put_list(&p, &lists.deletes, "delete", err));
    TG_TRY(put_list(&p, &lists.restored, "insert", err));
    TG_TRY(put_list(&p, &lists.unlisted, "delete", err));
    if (!p.has_item) {
        TG_TRY(put_nothing(&p, err));
    }
    tg_buf_addc(out, ')');
    return TG_OK;
}
