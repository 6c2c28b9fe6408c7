/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pipeline once defined and does not define any more (inactive.h). An update that found its
 * graph to be right compares it with what is remembered: one look at a folder, and one at each
 * dataset without a definition.
 */
#include "pipeline/inactive.h"

#include <yyjson.h>

#include "pipeline/owner.h"
#include "pipeline/update_int.h"

enum { MAX_RECORD_BYTES = 64 * 1024, DIGEST_LEN = 32 };

#define RECORD_END ".json"
#define MARK_END ".inactive"

/* ---- files ----------------------------------------------------------------------------------- */

static tg_str folder_of(const tg_spec *spec, tg_arena *arena)
{
    return tg_path_join(arena, spec->storage, TG_S("datasets"));
}

/* A full name may be longer than a file's can be. */
static tg_str digest_of(tg_str full_name, tg_arena *arena)
{
    return tg_digest_text(arena, tg_digest_of(full_name));
}

static tg_str file_of(const tg_spec *spec, tg_str digest, const char *end, tg_arena *arena)
{
    return tg_path_join(arena, folder_of(spec, arena),
                        tg_str_printf(arena, "%.*s%s", TG_SARG(digest), end));
}

typedef struct tg_record {
    tg_str dataset_name, dataset_type, catalog, schema;
} tg_record;

/* False: damaged, or of another release; such a file says nothing. */
static bool read_record(const tg_fs *fs, tg_str path, tg_arena *arena, tg_record *out)
{
    tg_str text;
    struct yyjson_val *root;
    if (tg_fs_read(fs, path, MAX_RECORD_BYTES, arena, &text, NULL) != TG_OK ||
        tg_json_parse(text, 0, arena, &root, NULL) != TG_OK) {
        return false;
    }
    *out = (tg_record){.dataset_name = tg_json_get_str(root, "dataset_name", (tg_str){0}),
                       .dataset_type = tg_json_get_str(root, "dataset_type", (tg_str){0}),
                       .catalog = tg_json_get_str(root, "catalog", (tg_str){0}),
                       .schema = tg_json_get_str(root, "schema", (tg_str){0})};
    return out->dataset_name.len > 0 && out->dataset_type.len > 0;
}

static tg_code write_record(const tg_spec *spec, const tg_fs *fs, const tg_dataset *dataset,
                            tg_str path, tg_error *err)
{
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    tg_json_kstr(&out, "dataset_name", dataset->full_name);
    tg_json_kstrz(&out, "dataset_type", tg_dataset_kind_event_name(dataset->kind));
    tg_json_kstr(&out, "catalog", spec->catalog);
    tg_json_kstr(&out, "schema", spec->schema);
    tg_json_end_object(&out);
    tg_buf_addc(&text, '\n');
    tg_code code = tg_fs_write_new(fs, path, tg_buf_str(&text), err);
    if (code == TG_ALREADY_EXISTS) { /* another update of the same definitions */
        tg_error_clear(err);
        return TG_OK;
    }
    return code;
}

static tg_str read_mark(const tg_fs *fs, tg_str path, tg_arena *arena)
{
    tg_str text;
    return tg_fs_read(fs, path, MAX_RECORD_BYTES, arena, &text, NULL) == TG_OK ? tg_str_trim(text)
                                                                               : (tg_str){0};
}

tg_code tg_inactive_look(const tg_spec *spec, const tg_fs *fs, tg_str full_name, tg_arena *arena,
                         tg_remembered *out, tg_error *err)
{
    *out = (tg_remembered){0};
    tg_str digest = digest_of(full_name, arena);
    tg_str mark = file_of(spec, digest, MARK_END, arena);
    bool has_mark;
    TG_TRY(tg_fs_exists(fs, file_of(spec, digest, RECORD_END, arena), &out->is_known, err));
    TG_TRY(tg_fs_exists(fs, mark, &has_mark, err));
    if (out->is_known && has_mark) {
        out->since = read_mark(fs, mark, arena);
    }
    return TG_OK;
}

/* The record goes last: a mark without one says nothing. */
static void forget(const tg_spec *spec, const tg_fs *fs, tg_str digest, tg_arena *arena)
{
    (void)tg_fs_remove(fs, file_of(spec, digest, RECORD_END, arena), NULL);
    (void)tg_fs_remove(fs, file_of(spec, digest, MARK_END, arena), NULL);
}

void tg_inactive_forget(const tg_spec *spec, const tg_fs *fs, tg_str full_name)
{
    tg_auto_arena tg_arena *scratch = tg_arena_new();
    forget(spec, fs, digest_of(full_name, scratch), scratch);
}

/* ---- an update ------------------------------------------------------------------------------- */

/* What stands in the folder: digest -> itself. */
typedef struct found {
    tg_map records, marks;
} found;

static tg_code list(const tg_update *u, found *out, tg_error *err)
{
    const tg_fs *fs = u->context->fs;
    tg_map_init(&out->records, u->arena);
    tg_map_init(&out->marks, u->arena);
    tg_str folder = folder_of(u->graph->spec, u->arena);
    bool exists;
    TG_TRY(tg_fs_exists(fs, folder, &exists, err));
    if (!exists) {
        return TG_OK;
    }
    tg_fs_entry *entries;
    size_t count;
    TG_TRY(tg_fs_list(fs, folder, /* with_details= */ false, u->arena, &entries, &count, err));
    for (size_t i = 0; i < count; i++) {
        tg_str name = entries[i].name;
        tg_str digest = tg_str_sub(name, 0, name.len < DIGEST_LEN ? name.len : DIGEST_LEN);
        tg_str end = tg_str_sub(name, digest.len, name.len);
        if (tg_str_eq(end, TG_S(RECORD_END))) {
            (void)tg_map_put(&out->records, digest, &entries[i]);
        } else if (tg_str_eq(end, TG_S(MARK_END))) {
            (void)tg_map_put(&out->marks, digest, &entries[i]);
        }
    }
    return TG_OK;
}

/* Is it still there, and ours? What cannot be read is left alone until it can. */
static tg_code is_ours(const tg_update *u, const tg_record *record, bool *out_is_ours,
                       tg_error *err)
{
    const tg_engine *engine = u->context->engine;
    const tg_name name = tg_catalog_parts(record->dataset_name, u->arena);
    tg_location location;
    const tg_view *view;
    *out_is_ours = false;
    TG_TRY(tg_catalog_locate(&u->catalog, &name, u->arena, &location, err));
    TG_TRY(tg_view_load(&u->catalog, &location, u->arena, &view, err));
    if (view) {
        *out_is_ours = tg_str_eq(record->dataset_type, TG_S("VIEW")) &&
                       tg_str_eq(view->pipeline_id, u->result->pipeline_id);
        return TG_OK;
    }
    if (tg_str_eq(record->dataset_type, TG_S("VIEW"))) {
        return TG_OK;
    }
    tg_table_facts facts;
    TG_TRY(engine->table_facts(engine->self, location.path, u->arena, &facts, err));
    *out_is_ours = facts.exists && tg_str_eq(tg_ownership_of(&facts).owner, u->result->pipeline_id);
    return TG_OK;
}

static void tell(tg_update *u, tg_str dataset_name, const char *status, tg_str message)
{
    tg_auto_buf tg_buf details = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &details);
    tg_json_object(&out);
    tg_json_kstrz(&out, "status", status);
    tg_json_end_object(&out);
    tg_event event = {.type = TG_EVENT_DATASET_LIFE_CYCLE,
                      .level = strcmp(status, "INACTIVE") == 0 ? TG_LEVEL_WARN : TG_LEVEL_INFO,
                      .dataset_name = dataset_name,
                      .message = message,
                      .details = tg_buf_str(&details)};
    tg_eventlog_write(u->log, &event);
}

static tg_code mark(tg_update *u, const tg_record *record, tg_str path, tg_str *out_since,
                    tg_error *err)
{
    *out_since = tg_instant_text(u->arena, u->now_us);
    tg_code code = tg_fs_write_new(u->context->fs, path, *out_since, err);
    if (code == TG_ALREADY_EXISTS) { /* another update told it */
        tg_error_clear(err);
        return TG_OK;
    }
    TG_TRY(code);
    tell(u, record->dataset_name, "INACTIVE",
         tg_str_printf(u->arena,
                       "'%.*s' is inactive: the pipeline does not define it any more. It is kept "
                       "as it is, and not refreshed.",
                       TG_SARG(record->dataset_name)));
    return TG_OK;
}

/* Was it defined in the environment of this update? */
static bool is_of_environment(const tg_spec *spec, const tg_record *record)
{
    return tg_str_eq(record->catalog, spec->catalog) && tg_str_eq(record->schema, spec->schema);
}

/*
 * A dataset that is remembered and not defined. With --param nothing becomes inactive: a name may
 * hold ${key}, and another value makes another table, not this one superfluous.
 */
static tg_code judge(tg_update *u, tg_str digest, bool has_mark, tg_inactive_dataset *out,
                     bool *out_is_inactive, tg_error *err)
{
    const tg_spec *spec = u->graph->spec;
    const tg_fs *fs = u->context->fs;
    tg_record record;
    bool ours;
    *out_is_inactive = false;
    if (!read_record(fs, file_of(spec, digest, RECORD_END, u->arena), u->arena, &record) ||
        !is_of_environment(spec, &record) || (!has_mark && spec->param_count > 0) ||
        is_ours(u, &record, &ours, NULL) != TG_OK) {
        return TG_OK;
    }
    if (!ours) {
        if (!u->options->is_dry_run) {
            forget(spec, fs, digest, u->arena);
        }
        return TG_OK;
    }
    tg_str path = file_of(spec, digest, MARK_END, u->arena);
    *out = (tg_inactive_dataset){.dataset_name = record.dataset_name};
    if (has_mark) {
        out->since = read_mark(fs, path, u->arena);
    } else if (!u->options->is_dry_run) {
        TG_TRY(mark(u, &record, path, &out->since, err));
    }
    *out_is_inactive = true;
    return TG_OK;
}

/* A definition is remembered before its table is made: a crash in between leaves no table unknown. */
static tg_code remember(tg_update *u, const tg_dataset *dataset, tg_str digest, const found *known,
                        tg_error *err)
{
    const tg_spec *spec = u->graph->spec;
    const tg_fs *fs = u->context->fs;
    if (!tg_map_has(&known->records, digest)) {
        TG_TRY(tg_fs_make_folders(fs, folder_of(spec, u->arena), err));
        TG_TRY(write_record(spec, fs, dataset, file_of(spec, digest, RECORD_END, u->arena), err));
    }
    if (tg_map_has(&known->marks, digest)) {
        (void)tg_fs_remove(fs, file_of(spec, digest, MARK_END, u->arena), NULL);
        tell(u, dataset->full_name, "ACTIVE",
             tg_str_printf(u->arena, "'%.*s' is active again: its definition is back.",
                           TG_SARG(dataset->full_name)));
    }
    return TG_OK;
}

static bool is_published(const tg_dataset *dataset)
{
    return dataset->kind != TG_DATASET_TEMPORARY_VIEW && !dataset->found;
}

static int by_name(const void *a, const void *b)
{
    const tg_inactive_dataset *left = a, *right = b;
    return tg_str_cmp(left->dataset_name, right->dataset_name);
}

static tg_code compare(tg_update *u, tg_error *err)
{
    const tg_graph *graph = u->graph;
    found known;
    tg_map defined;
    tg_map_init(&defined, u->arena);
    TG_TRY(list(u, &known, err));
    for (size_t i = 0; i < graph->dataset_count; i++) {
        const tg_dataset *dataset = graph->datasets[i];
        if (is_published(dataset)) {
            tg_str digest = digest_of(dataset->full_name, u->arena);
            (void)tg_map_put(&defined, digest, graph->datasets[i]);
            if (!u->options->is_dry_run) {
                TG_TRY(remember(u, dataset, digest, &known, err));
            }
        }
    }
    TG_VEC(tg_inactive_dataset) all = {0};
    for (size_t i = 0; i < known.records.used_count; i++) {
        const tg_map_entry *entry = &known.records.entries[i];
        tg_inactive_dataset one;
        bool is_inactive = false;
        if (!tg_map_has(&defined, entry->key)) {
            TG_TRY(judge(u, entry->key, tg_map_has(&known.marks, entry->key), &one, &is_inactive,
                         err));
        }
        if (is_inactive) {
            TG_VEC_PUSH(u->arena, &all, one);
        }
    }
    if (all.count > 1) {
        qsort(all.items, all.count, sizeof(*all.items), by_name);
    }
    u->result->inactive = all.items;
    u->result->inactive_count = all.count;
    return TG_OK;
}

void tg_update_find_inactive(tg_update *u)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    if (u->graph->spec->standalone) {
        return;
    }
    if (compare(u, &err) != TG_OK) { /* rows are worth more than what is remembered of them */
        (void)tg_error_context(&err, "while looking for tables without a definition");
        tg_diags_add_warning(u->diags, &err);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

tg_code tg_update_refuse_inactive(tg_update *u, tg_str word, tg_error *err)
{
    const tg_spec *spec = u->graph->spec;
    tg_name name;
    tg_str full_name;
    tg_remembered known;
    tg_record record = {.dataset_type = TG_S("TABLE")};
    bool ours;
    if (spec->standalone || tg_sql_parse_name(word, u->arena, &name, NULL) != TG_OK ||
        tg_catalog_qualify(&u->catalog, &name, u->arena, &full_name, NULL) != TG_OK ||
        tg_inactive_look(spec, u->context->fs, full_name, u->arena, &known, NULL) != TG_OK ||
        !known.is_known ||
        !read_record(u->context->fs,
                     file_of(spec, digest_of(full_name, u->arena), RECORD_END, u->arena), u->arena,
                     &record) ||
        tg_spec_pipeline_id(spec, u->context->fs, u->context->env, /* create= */ false, u->arena,
                            &u->result->pipeline_id, NULL) != TG_OK ||
        is_ours(u, &record, &ours, NULL) != TG_OK || !ours) {
        return TG_OK;
    }
    if (!is_of_environment(spec, &record)) {
        (void)TG_ERR(err, TIDEGATE_UNKNOWN_SELECTION,
                     "`%.*s` is a table of another environment of the pipeline", TG_SARG(word));
        return tg_error_hint(err, "Give it: --catalog %.*s --schema %.*s", TG_SARG(record.catalog),
                             TG_SARG(record.schema));
    }
    (void)TG_ERR(err, TIDEGATE_DATASET_INACTIVE,
                 "`%.*s` is inactive: the pipeline does not define it any more", TG_SARG(word));
    if (known.since.len) {
        (void)tg_error_detail(err, "An update missed its definition first at %.*s.",
                              TG_SARG(known.since));
    }
    return tg_error_hint(err,
                         "Put its definition back to refresh it. Its rows stay until DROP %s "
                         "%.*s.",
                         tg_str_eq(record.dataset_type, TG_S("VIEW")) ? "VIEW" : "TABLE",
                         TG_SARG(full_name));
}
