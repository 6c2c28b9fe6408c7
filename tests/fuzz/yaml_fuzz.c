/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a pipeline spec: YAML and all keys, over a file system that holds nothing but this file.
 * Every error must print.
 */
#include "base/base.h"
#include "fs/fs.h"
#include "pipeline/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static tg_code read_spec(void *self, tg_str path, size_t max_bytes, tg_arena *arena,
                         tg_str *out_bytes, tg_error *err)
{
    const tg_str *spec = self;
    if (!tg_str_ends(path, TG_S("/spark-pipeline.yml"))) {
        TG_FAIL(err, PATH_NOT_FOUND, "no file %.*s", TG_SARG(path));
    }
    if (spec->len > max_bytes) {
        TG_FAIL(err, TIDEGATE_LIMIT_EXCEEDED, "too large");
    }
    *out_bytes = tg_str_copy(arena, *spec);
    return TG_OK;
}

static tg_code list_nothing(void *self, tg_str folder, bool with_details, tg_arena *arena,
                            tg_fs_entry **out_entries, size_t *out_count, tg_error *err)
{
    (void)self;
    (void)folder;
    (void)with_details;
    (void)arena;
    (void)err;
    *out_entries = NULL;
    *out_count = 0;
    return TG_OK;
}

static tg_code stat_nothing(void *self, tg_str path, tg_fs_entry *out_entry, tg_error *err)
{
    (void)self;
    (void)out_entry;
    TG_FAIL(err, PATH_NOT_FOUND, "no file %.*s", TG_SARG(path));
}

static tg_code stat_spec(void *self, tg_str path, tg_fs_entry *out_entry, tg_error *err)
{
    if (!tg_str_eq(path, TG_S("/p/spark-pipeline.yml"))) {
        return stat_nothing(self, path, out_entry, err);
    }
    *out_entry = (tg_fs_entry){.name = path, .size_bytes = -1, .mtime_ms = -1};
    return TG_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tg_str spec_text = {(const char *)bytes, size};
    const tg_fs fs = {.struct_size = sizeof(fs),
                      .self = &spec_text,
                      .read = read_spec,
                      .list = list_nothing,
                      .stat = stat_spec};
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_diags diags = TG_DIAGS_INIT;
    const tg_spec *spec = NULL;
    tg_code code =
        tg_spec_load(&fs, TG_S("/p/spark-pipeline.yml"), TG_S("/p"), arena, &spec, &diags);
    tg_assert((code == TG_OK) == (diags.error_count == 0));
    tg_assert((code == TG_OK) == (spec != NULL));
    for (size_t i = 0; i < diags.count; i++) {
        tg_auto_buf tg_buf printed = TG_BUF_INIT;
        tg_error_print(&diags.items[i], &printed);
        tg_assert(tg_utf8_valid_len(tg_buf_str(&printed)) == printed.len);
    }
    tg_diags_dispose(&diags);
    return 0;
}
