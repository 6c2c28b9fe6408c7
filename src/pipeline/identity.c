/* SPDX-License-Identifier: Apache-2.0 */
/* Who a pipeline is (storage/pipeline.json) and what time it is for it. */
#include "pipeline/pipeline.h"

#include <yyjson.h>

enum { UUID_LEN = 36, MAX_FILE_BYTES = 64 * 1024 };

static tg_code read_id(const tg_fs *fs, tg_str path, tg_arena *arena, tg_str *out_id, tg_error *err)
{
    tg_str text;
    TG_TRY(tg_fs_read(fs, path, MAX_FILE_BYTES, arena, &text, err));
    struct yyjson_val *root;
    tg_str id = {0};
    tg_code code = tg_json_parse(text, 0, arena, &root, err);
    if (code == TG_OK) {
        id = tg_json_get_str(root, "pipeline_id", (tg_str){0});
    }
    if (id.len != UUID_LEN) {
        tg_error_clear(err);
        (void)TG_ERR(err, TIDEGATE_INVALID_JSON, "%.*s is damaged: it does not hold a pipeline_id",
                     TG_SARG(path));
        return tg_error_hint(err, "Restore it: tables know their pipeline by this id (table "
                                  "property tidegate.pipelineId).");
    }
    *out_id = id;
    return TG_OK;
}

static tg_code create_id(const tg_spec *spec, const tg_fs *fs, const tg_env *env, tg_str path,
                         tg_arena *arena, tg_str *out_id, tg_error *err)
{
    char id[UUID_LEN + 1];
    env->uuid(env->self, id);
    tg_auto_buf tg_buf text = TG_BUF_INIT;
    tg_json_out out;
    tg_json_begin(&out, &text);
    tg_json_object(&out);
    tg_json_kstrz(&out, "pipeline_id", id);
    tg_json_kstr(&out, "name", spec->name);
    tg_json_kstr(&out, "created", tg_instant_text(arena, env->now_us(env->self)));
    tg_json_end_object(&out);
    tg_buf_addc(&text, '\n');
    TG_TRY(tg_fs_make_folders(fs, spec->storage, err));
    tg_code code = tg_fs_write_new(fs, path, tg_buf_str(&text), err);
    if (code == TG_ALREADY_EXISTS) { /* another process was first: its id counts */
        tg_error_clear(err);
        return read_id(fs, path, arena, out_id, err);
    }
    TG_TRY(code);
    *out_id = tg_str_copy(arena, tg_str_from(id));
    return TG_OK;
}

tg_code tg_spec_pipeline_id(const tg_spec *spec, const tg_fs *fs, const tg_env *env, bool create,
                            tg_arena *arena, tg_str *out_id, tg_error *err)
{
    if (spec->standalone) {
        *out_id = spec->standalone->table_id;
        return TG_OK;
    }
    tg_str path = tg_path_join(arena, spec->storage, TG_S("pipeline.json"));
    bool exists;
    TG_TRY_CTX(tg_fs_exists(fs, path, &exists, err), err, "while reading the pipeline's identity");
    if (exists) {
        return read_id(fs, path, arena, out_id, err);
    }
    if (!create) {
        *out_id = (tg_str){0};
        return TG_OK;
    }
    TG_TRY_CTX(create_id(spec, fs, env, path, arena, out_id, err), err,
               "while creating the storage of the pipeline");
    return TG_OK;
}

tg_code tg_clock_parse(tg_str text, const tg_zone *zone, tg_arena *arena, int64_t *out_us,
                       tg_error *err)
{
    int64_t us;
    bool has_zone;
    if (!tg_timestamp_parse(text, arena, &us, &has_zone)) {
        (void)TG_ERR(err, TIDEGATE_INVALID_OPTION, "`%.*s` is not a date or timestamp",
                     TG_SARG(text));
        return tg_error_hint(err,
                             "Write 2024-03-01, '2024-03-01 12:30:00' or 2024-03-01T12:30:00Z.");
    }
    *out_us = has_zone ? us : tg_zone_to_us(zone, us);
    return TG_OK;
}
