/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delta tables in FROM: read_parquet over the files of a snapshot that may matter.
 *
 * - Files are chosen here, by the log's partition values and statistics; DuckDB prunes row groups
 *   by the printed filters.
 * - `schema = MAP {...}` gives every column its table type by name: files that lack a column read
 *   NULL, older types are cast.
 * - Partition columns come from the log, never from the files: looked up by the virtual column
 *   file_index. A list literal is fastest for few files; a join plans faster for many (3,000 files:
 *   150 against 300 ms).
 * - Rows that a deletion vector names are left out by their position in the file, which filters do
 *   not change.
 * - Floating columns are multiplied by 1: DuckDB believes the maximum in a Parquet file, from which
 *   most writers leave NaN out, though it takes NaN for the greatest value. Filters on the product
 *   are not pushed into the scan, so that no row group with NaN is pruned, and every bit of the value
 *   stays (-0.0 too).
 */
#include "engine/duckdb/duckdb_int.h"

#define IS_DELETED \
    "tg_is_deleted(%lld, CAST(r.file_index AS BIGINT), CAST(r.file_row_number AS BIGINT))"

enum { LOOKUP_FILES = 256 }; /* up to here partition values are looked up in a list */

/* The parts of one FROM item, worked out before anything is printed. */
typedef struct scan_plan {
    const tg_duckdb_files *files;
    const tg_zone *zone;
    tg_arena *arena;
    const size_t *fields;
    size_t field_count;
    tg_schema physical; /* the table's columns as they stand in the files */
    bool by_id;         /* they are found by field id */
    bool is_int96;      /* instants of these files are read as local times by DuckDB */
    tg_str *paths;
    int64_t deleted; /* list of deleted rows; 0: there are none */
    int64_t wanted;  /* list of the rows to be given; 0: all */
} scan_plan;

static ptrdiff_t partition_index(const tg_duckdb_files *files, tg_str column)
{
    for (size_t i = 0; i < files->partition_count; i++) {
        if (tg_str_ieq(files->partition_columns[i], column)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

static const tg_field *field_at(const scan_plan *plan, size_t i)
{
    return &plan->files->schema.fields[plan->fields[i]];
}

static const tg_field *stored_at(const scan_plan *plan, size_t i)
{
    return &plan->physical.fields[plan->fields[i]];
}

static tg_code put_cast_text(tg_buf *out, tg_str text, const tg_type *type, tg_error *err)
{
    tg_buf_addz(out, "CAST(");
    tg_duckdb_put_string(out, text);
    tg_buf_addz(out, " AS ");
    TG_TRY(tg_duckdb_put_type(out, type, err));
    tg_buf_addc(out, ')');
    return TG_OK;
}

static tg_code put_null(tg_buf *out, const tg_type *type, tg_error *err)
{
    tg_buf_addz(out, "CAST(NULL AS ");
    TG_TRY(tg_duckdb_put_type(out, type, err));
    tg_buf_addc(out, ')');
    return TG_OK;
}

/* No file: the columns, and no row. */
static tg_code put_empty(const scan_plan *plan, tg_buf *out, tg_error *err)
{
    tg_buf_addz(out, "(SELECT ");
    for (size_t i = 0; i < plan->field_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        TG_TRY(put_null(out, field_at(plan, i)->type, err));
        tg_buf_addz(out, " AS ");
        tg_duckdb_put_ident(out, field_at(plan, i)->name);
    }
    bool is_first = !plan->field_count;
    const char *numbers[] = {plan->files->file_number, plan->files->row_number};
    for (size_t i = 0; i < 2; i++) {
        if (numbers[i]) {
            tg_buf_addf(out, "%sCAST(NULL AS BIGINT) AS \"%s\"", is_first ? "" : ", ", numbers[i]);
            is_first = false;
        }
    }
    tg_buf_addz(out, is_first ? "NULL WHERE false)" : " WHERE false)");
    return TG_OK;
}

/* One entry of read_parquet's schema. The type is text inside a string. */
static tg_code put_schema_entry(const scan_plan *plan, tg_buf *out, const tg_field *field,
                                tg_str shown_name, tg_error *err)
{
    bool is_local = plan->is_int96 && field->type->kind == TG_TYPE_TIMESTAMP;
    tg_auto_buf tg_buf type_text = TG_BUF_INIT;
    if (is_local) {
        tg_buf_addz(&type_text, "TIMESTAMP");
    } else {
        TG_TRY(tg_duckdb_put_type(&type_text, field->type, err));
    }
    if (plan->by_id) {
        tg_buf_addf(out, "%lld", (long long)tg_delta_field_id(field));
    } else {
        tg_duckdb_put_string(out, field->name);
    }
    tg_buf_addz(out, ": {name: ");
    tg_duckdb_put_string(out, shown_name);
    tg_buf_addz(out, ", type: ");
    tg_duckdb_put_string(out, tg_buf_str(&type_text));
    tg_buf_addz(out, ", default_value: NULL}");
    return TG_OK;
}

/*
 * The first column that lies in the files: something must be named, though nothing of it is read.
 */
static const tg_field *any_stored_field(const scan_plan *plan)
{
    tg_schema schema = plan->files->schema;
    for (size_t i = 0; i < schema.count; i++) {
        if (partition_index(plan->files, schema.fields[i].name) < 0) {
            return &plan->physical.fields[i];
        }
    }
    return NULL;
}

static tg_code put_read_parquet(const scan_plan *plan, bool numbered_names, tg_buf *out,
                                tg_error *err)
{
    tg_buf_addz(out, "read_parquet(");
    tg_duckdb_put_paths(out, plan->paths, plan->files->file_count);
    tg_buf_addz(out, ", schema = MAP {");
    bool is_first = true;
    for (size_t i = 0; i < plan->field_count; i++) {
        const tg_field *field = field_at(plan, i);
        if (partition_index(plan->files, field->name) >= 0) {
            continue;
        }
        tg_buf_addz(out, is_first ? "" : ", ");
        is_first = false;
        tg_str shown = numbered_names ? tg_str_printf(plan->arena, "f%zu", i) : field->name;
        TG_TRY(put_schema_entry(plan, out, stored_at(plan, i), shown, err));
    }
    if (is_first) {
        const tg_field *field = any_stored_field(plan);
        if (!field) {
            TG_FAIL(err, UNSUPPORTED_FEATURE,
                    "table \"%.*s\" has no column that is stored in its files",
                    TG_SARG(plan->files->table_path));
        }
        TG_TRY(put_schema_entry(plan, out, field, TG_S("f"), err));
    }
    tg_buf_addz(out, "}, hive_partitioning = false)");
    return TG_OK;
}

static tg_code partition_text(const scan_plan *plan, size_t partition, const tg_type *type,
                              size_t file, tg_str *out_text, bool *out_is_null, tg_error *err)
{
    const tg_delta_partition_value *value = &plan->files->files[file]->partition_values[partition];
    tg_value typed;
    TG_TRY_CTX(tg_value_from_partition(value->text, value->is_null, type, plan->zone, plan->arena,
                                       &typed, err),
               err, "while reading a partition value of file \"%.*s\"",
               TG_SARG(plan->files->files[file]->path));
    *out_is_null = typed.is_null;
    *out_text = typed.is_null ? TG_S("") : tg_duckdb_value_text(plan->arena, typed);
    return TG_OK;
}

/* ['2024-01-01', NULL, ...]; is_same tells whether one value is enough. */
static tg_code partition_list(const scan_plan *plan, size_t partition, const tg_type *type,
                              tg_buf *out, bool *out_is_same, tg_str *out_first,
                              bool *out_first_null, tg_error *err)
{
    *out_is_same = true;
    tg_buf_addc(out, '[');
    for (size_t i = 0; i < plan->files->file_count; i++) {
        tg_str text;
        bool is_null;
        TG_TRY(partition_text(plan, partition, type, i, &text, &is_null, err));
        if (i == 0) {
            *out_first = text;
            *out_first_null = is_null;
        } else if (is_null != *out_first_null || !tg_str_eq(text, *out_first)) {
            *out_is_same = false;
        }
        tg_buf_addz(out, i ? ", " : "");
        if (is_null) {
            tg_buf_addz(out, "NULL");
        } else {
            tg_duckdb_put_string(out, text);
        }
    }
    tg_buf_addc(out, ']');
    return TG_OK;
}

/*
 * The value of a partition column; where it needs a join, the joined lists go to lists
 * ("unnest([...]) AS l0") and the value is taken from there.
 */
static tg_code put_partition_value(const scan_plan *plan, size_t partition, const tg_type *type,
                                   tg_buf *out, tg_buf *lists, tg_error *err)
{
    tg_auto_buf tg_buf list = TG_BUF_INIT;
    bool is_same = false, first_null = false;
    tg_str first = TG_S("");
    TG_TRY(partition_list(plan, partition, type, &list, &is_same, &first, &first_null, err));
    if (is_same) {
        return first_null ? put_null(out, type, err) : put_cast_text(out, first, type, err);
    }
    if (plan->files->file_count <= LOOKUP_FILES) {
        tg_buf_addz(out, "list_extract(CAST(");
        tg_buf_adds(out, tg_buf_str(&list));
        tg_buf_addz(out, " AS ");
        TG_TRY(tg_duckdb_put_type(out, type, err));
        tg_buf_addz(out, "[]), CAST(r.file_index AS BIGINT) + 1)");
        return TG_OK;
    }
    tg_buf_addf(out, "CAST(v.l%zu AS ", partition);
    TG_TRY(tg_duckdb_put_type(out, type, err));
    tg_buf_addc(out, ')');
    tg_buf_addf(lists, ", unnest(CAST(%.*s AS VARCHAR[])) AS l%zu", TG_SARG(tg_buf_str(&list)),
                partition);
    return TG_OK;
}

static tg_code put_column(const scan_plan *plan, size_t i, tg_buf *out, tg_buf *lists,
                          tg_error *err)
{
    const tg_field *field = field_at(plan, i);
    ptrdiff_t partition = partition_index(plan->files, field->name);
    if (partition >= 0) {
        TG_TRY(put_partition_value(plan, (size_t)partition, field->type, out, lists, err));
    } else if (plan->is_int96 && field->type->kind == TG_TYPE_TIMESTAMP) {
        tg_buf_addf(out, "timezone('UTC', r.f%zu)", i);
    } else if (tg_type_is_floating(field->type)) {
        tg_buf_addf(out, "(r.f%zu * CAST(1 AS ", i);
        TG_TRY(tg_duckdb_put_type(out, field->type, err));
        tg_buf_addz(out, "))");
    } else {
        tg_str value = tg_str_printf(plan->arena, "r.f%zu", i);
        TG_TRY(tg_duckdb_put_renamed(out, value, stored_at(plan, i)->type, field->type, err));
    }
    tg_buf_addz(out, " AS ");
    tg_duckdb_put_ident(out, field->name);
    return TG_OK;
}

/* The file's number: its position, or what file_ids says of it (as partition values are found). */
static void put_file_number(const scan_plan *plan, tg_buf *out, tg_buf *lists)
{
    const tg_duckdb_files *files = plan->files;
    if (!files->file_ids) {
        tg_buf_addz(out, "CAST(r.file_index AS BIGINT)");
        return;
    }
    bool is_joined = files->file_count > LOOKUP_FILES;
    tg_buf *list = is_joined ? lists : out;
    tg_buf_addz(list, is_joined ? ", unnest(CAST([" : "list_extract(CAST([");
    for (size_t i = 0; i < files->file_count; i++) {
        tg_buf_addf(list, i ? ", %zu" : "%zu", files->file_ids[i]);
    }
    tg_buf_addz(list, "] AS BIGINT[])");
    if (is_joined) {
        tg_buf_addz(list, ") AS file_id");
        tg_buf_addz(out, "v.file_id");
    } else {
        tg_buf_addz(out, ", CAST(r.file_index AS BIGINT) + 1)");
    }
}

static void put_numbers(const scan_plan *plan, bool is_first, tg_buf *out, tg_buf *lists)
{
    if (plan->files->file_number) {
        tg_buf_addz(out, is_first ? "" : ", ");
        put_file_number(plan, out, lists);
        tg_buf_addf(out, " AS \"%s\"", plan->files->file_number);
        is_first = false;
    }
    if (plan->files->row_number) {
        tg_buf_addf(out, "%sCAST(r.file_row_number AS BIGINT) AS \"%s\"", is_first ? "" : ", ",
                    plan->files->row_number);
        is_first = false;
    }
    tg_buf_addz(out, is_first ? "NULL" : "");
}

/* (SELECT r.f0 AS "a", list_extract(...) AS "p" FROM read_parquet(...) r) */
static tg_code put_wrapped(const scan_plan *plan, tg_buf *out, tg_error *err)
{
    tg_auto_buf tg_buf lists = TG_BUF_INIT;
    tg_buf_addz(out, "(SELECT ");
    for (size_t i = 0; i < plan->field_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        TG_TRY(put_column(plan, i, out, &lists, err));
    }
    put_numbers(plan, !plan->field_count, out, &lists);
    tg_buf_addz(out, " FROM ");
    TG_TRY(put_read_parquet(plan, true, out, err));
    tg_buf_addz(out, " AS r");
    if (lists.len) {
        tg_buf_addf(out, " JOIN (SELECT unnest(range(%zu)) AS i%.*s) AS v ON r.file_index = v.i",
                    plan->files->file_count, TG_SARG(tg_buf_str(&lists)));
    }
    const char *word = " WHERE ";
    if (plan->deleted) {
        tg_buf_addf(out, "%sNOT " IS_DELETED, word, (long long)plan->deleted);
        word = " AND ";
    }
    if (plan->wanted) {
        tg_buf_addf(out, "%s" IS_DELETED, word, (long long)plan->wanted);
    }
    tg_buf_addc(out, ')');
    return TG_OK;
}

/* Does the plain read_parquet give the columns as they should be? */
static bool is_plain(const scan_plan *plan)
{
    if (plan->files->file_number || plan->files->row_number || !plan->field_count ||
        plan->is_int96 || plan->deleted) {
        return false;
    }
    for (size_t i = 0; i < plan->field_count; i++) {
        if (!tg_type_equal(field_at(plan, i)->type, stored_at(plan, i)->type)) {
            return false;
        }
        if (tg_type_is_floating(field_at(plan, i)->type) ||
            partition_index(plan->files, field_at(plan, i)->name) >= 0) {
            return false;
        }
    }
    return true;
}

/* Instants of these files that DuckDB would take for local times. */
static tg_code find_instants(tg_duckdb_session *session, scan_plan *plan, tg_error *err)
{
    tg_str *stored = TG_NEW_ARRAY(plan->arena, tg_str, plan->field_count);
    size_t count = 0;
    for (size_t i = 0; i < plan->field_count; i++) {
        if (partition_index(plan->files, field_at(plan, i)->name) < 0) {
            stored[count++] = stored_at(plan, i)->name;
        }
    }
    return tg_duckdb_find_local_instants(session, plan->zone, plan->files->table_path, plan->paths,
                                         plan->files->file_count, plan->physical, stored, count,
                                         &plan->is_int96, err);
}

tg_code tg_duckdb_put_files(tg_duckdb_session *session, const tg_duckdb_files *files,
                            const tg_zone *zone, tg_arena *arena, tg_buf *out, tg_error *err)
{
    scan_plan plan = {.files = files,
                      .zone = zone,
                      .arena = arena,
                      .fields = files->fields,
                      .field_count = files->field_count};
    if (!files->fields) {
        size_t *all = TG_NEW_ARRAY(arena, size_t, files->schema.count);
        for (size_t i = 0; i < files->schema.count; i++) {
            all[i] = i;
        }
        plan.fields = all;
        plan.field_count = files->schema.count;
    }
    if (!files->file_count) {
        return put_empty(&plan, out, err);
    }
    plan.physical = tg_delta_physical_schema(arena, files->schema);
    plan.paths = TG_NEW_ARRAY(arena, tg_str, files->file_count);
    for (size_t i = 0; i < files->file_count; i++) {
        plan.paths[i] = tg_path_join(arena, files->table_path, files->files[i]->path);
    }
    TG_TRY(tg_duckdb_deleted_keep(session, files->table_path, files->files, files->file_count,
                                  &plan.deleted, err));
    if (files->only_deleted_by) {
        TG_TRY(tg_duckdb_deleted_keep(session, files->table_path, files->only_deleted_by,
                                      files->file_count, &plan.wanted, err));
    }
    TG_TRY(find_instants(session, &plan, err));
    if (files->mapping == TG_MAPPING_ID) {
        TG_TRY(tg_duckdb_check_field_ids(session, files->table_path, plan.paths, files->file_count,
                                         plan.physical, &plan.by_id, err));
    }
    return is_plain(&plan) ? put_read_parquet(&plan, false, out, err)
                           : put_wrapped(&plan, out, err);
}

/* ---- scans of a query ------------------------------------------------------------------------ */

/* What tg_sql_print_rel asks while it prints; one per printed query. */
typedef struct query_scans {
    tg_duckdb_session *session;
    const tg_zone *zone;
    tg_arena *arena;
    tg_region *regions; /* one per scan: rows outside cannot matter */
    size_t region_count;
    int64_t rows_total; /* rows of the files that were listed; -1 when unknown */
    const tg_delta_snapshot *loaded[16];
    size_t loaded_count;
} query_scans;

static tg_code load_snapshot(query_scans *scans, const tg_table *table,
                             const tg_delta_snapshot **out, tg_error *err)
{
    const tg_delta_snapshot *target = scans->session->target;
    if (target && target->version == table->version && tg_str_eq(target->table_path, table->path)) {
        *out = target;
        return TG_OK;
    }
    /* The same table twice in a query is common (self joins, views): its log is read once. */
    for (size_t i = 0; i < scans->loaded_count; i++) {
        if (tg_str_eq(scans->loaded[i]->table_path, table->path) &&
            (table->version < 0 || scans->loaded[i]->version == table->version)) {
            *out = scans->loaded[i];
            return TG_OK;
        }
    }
    TG_TRY_CTX(tg_delta_snapshot_load(&scans->session->engine->delta, table->path, table->version,
                                      scans->arena, out, err),
               err, "while reading table %.*s", TG_SARG(table->name));
    if (scans->loaded_count < sizeof scans->loaded / sizeof scans->loaded[0]) {
        scans->loaded[scans->loaded_count++] = *out;
    }
    return TG_OK;
}

static void count_rows(query_scans *scans, const tg_delta_add *file)
{
    int64_t records = tg_delta_live_records(file);
    scans->rows_total = records < 0 || scans->rows_total < 0 ? -1 : scans->rows_total + records;
}

static tg_code put_delta(query_scans *scans, const tg_rel *scan, size_t index, tg_buf *out,
                         tg_error *err)
{
    const tg_delta_snapshot *snapshot;
    TG_TRY(load_snapshot(scans, scan->table, &snapshot, err));
    tg_region region = index < scans->region_count ? scans->regions[index] : tg_region_all();
    const tg_delta_add **files =
        TG_NEW_ARRAY(scans->arena, const tg_delta_add *, snapshot->file_count);
    size_t *ids = TG_NEW_ARRAY(scans->arena, size_t, snapshot->file_count);
    size_t count = 0;
    for (size_t i = 0; i < snapshot->file_count; i++) {
        const tg_delta_add *file = &snapshot->files[i];
        if (tg_region_is_all(region) ||
            tg_region_meets(region,
                            tg_delta_file_region(snapshot, file, scans->zone, scans->arena))) {
            ids[count] = i;
            files[count++] = file;
            count_rows(scans, file);
        }
    }
    tg_duckdb_files item = {
        .table_path = snapshot->table_path,
        .schema = scan->table->schema,
        .mapping = tg_delta_mapping_of(&snapshot->metadata),
        .partition_columns = snapshot->metadata.partition_columns,
        .partition_count = snapshot->metadata.partition_count,
        .files = files,
        .file_count = count,
        .fields = scan->scan_fields,
        .field_count = scan->column_count,
    };
    if (scan->table->has_row_ids) { /* all columns, and the ids last: tg_sql_scan made it */
        item.field_count -= 2;
        item.file_number = scan->columns[item.field_count].name.ptr;
        item.row_number = scan->columns[item.field_count + 1].name.ptr;
        item.file_ids = count < snapshot->file_count ? ids : NULL;
    }
    return tg_duckdb_put_files(scans->session, &item, scans->zone, scans->arena, out, err);
}

void tg_duckdb_put_let(tg_buf *out, tg_str let)
{
    tg_auto_buf tg_buf name = TG_BUF_INIT;
    tg_buf_addf(&name, "tidegate let %.*s", TG_SARG(let));
    tg_duckdb_put_ident(out, tg_buf_str(&name));
}

/* The rows of a LET step stand in a temporary table, whose columns are c0, c1, ... */
static void put_let(const tg_rel *scan, tg_buf *out)
{
    tg_buf_addz(out, "(SELECT ");
    for (size_t i = 0; i < scan->column_count; i++) {
        tg_buf_addz(out, i ? ", " : "");
        if (scan->table->has_row_ids && scan->scan_fields[i] + 1 == scan->table->schema.count) {
            tg_buf_addz(out, "rowid");
        } else {
            tg_buf_addf(out, "c%zu", scan->scan_fields[i]);
        }
        tg_buf_addz(out, " AS ");
        tg_duckdb_put_ident(out, scan->columns[i].name);
    }
    tg_buf_addz(out, " FROM ");
    tg_duckdb_put_let(out, scan->table->let);
    tg_buf_addc(out, ')');
}

static tg_code put_scan(void *self, const tg_rel *scan, size_t index, tg_buf *out, tg_error *err)
{
    query_scans *scans = self;
    if (scan->table->let.len) {
        put_let(scan, out);
        return TG_OK;
    }
    if (scan->table->is_changes) {
        scans->rows_total = -1;
        return tg_duckdb_put_changes(scans->session, scan, scans->zone, scans->arena, out, err);
    }
    if (scan->table->format == TG_FORMAT_DELTA) {
        return put_delta(scans, scan, index, out, err);
    }
    scans->rows_total = -1;
    return tg_duckdb_put_source(scans->session, scan->table, scan->scan_fields, scan->column_count,
                                scans->zone, scans->arena, out, err);
}

tg_code tg_duckdb_print_query(tg_duckdb_session *session, const tg_zone *zone, const tg_rel *rel,
                              bool numbered_output, tg_arena *arena, tg_buf *out,
                              int64_t *out_source_rows, tg_error *err)
{
    const tg_zone *used_zone = zone ? zone : tg_zone_utc();
    query_scans scans = {.session = session, .zone = used_zone, .arena = arena};
    tg_sql_scan_regions(rel, used_zone, arena, &scans.regions, &scans.region_count);
    tg_print_options options = {
        .dialect = TG_DIALECT_DUCKDB,
        .scan = put_scan,
        .self = &scans,
        .zone = tg_zone_name(used_zone),
    };
    TG_TRY(tg_sql_print_rel(rel, &options, numbered_output, out, err));
    if (out_source_rows) {
        *out_source_rows = scans.rows_total;
    }
    return TG_OK;
}
