/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of tests/golden/pipeline: a spec with its source files, and expected.txt: all errors and
 * warnings as people see them, or the graph. TIDEGATE_BLESS=1 writes expected.txt anew.
 */
#include "support/test.h"

#include <stdlib.h>

#include "fs/fs.h"
#include "pipeline/pipeline.h"

static void add_diags(const tg_diags *diags, tg_buf *out)
{
    for (size_t i = 0; i < diags->count; i++) {
        tg_buf_addz(out, diags->is_warning[i] ? "warning: " : "error: ");
        tg_error_print(&diags->items[i], out);
    }
}

static void add_names(const char *title, const tg_dataset *const *datasets, size_t count,
                      tg_buf *out)
{
    if (count) {
        tg_buf_addf(out, "  %s:", title);
        for (size_t i = 0; i < count; i++) {
            tg_buf_addf(out, " %.*s", TG_SARG(datasets[i]->full_name));
        }
        tg_buf_addc(out, '\n');
    }
}

static void add_graph(const tg_graph *graph, tg_buf *out)
{
    for (size_t i = 0; i < graph->dataset_count; i++) {
        const tg_dataset *dataset = graph->datasets[i];
        tg_buf_addf(out, "%s %.*s\n", tg_dataset_kind_name(dataset->kind),
                    TG_SARG(dataset->full_name));
        for (size_t j = 0; j < dataset->property_count; j++) {
            tg_buf_addf(out, "  %.*s = %.*s\n", TG_SARG(dataset->properties[j].key),
                        TG_SARG(dataset->properties[j].value));
        }
    }
    for (size_t i = 0; i < graph->flow_count; i++) {
        const tg_flow *flow = graph->flows[i];
        tg_buf_addf(out, "flow %.*s (%s) writes %.*s\n", TG_SARG(flow->event_name),
                    tg_flow_kind_name(flow->kind), TG_SARG(flow->dataset->full_name));
        add_names("views", flow->views, flow->view_count, out);
        add_names("upstream", flow->upstream, flow->upstream_count, out);
        for (size_t j = 0; j < flow->external_count; j++) {
            tg_buf_addf(out, "  external: %.*s\n",
                        TG_SARG(graph->externals[flow->externals[j]].location.full_name));
        }
    }
}

/* The checkout's place is not part of what is expected. */
static tg_str without_folder(tg_str text, tg_str folder, tg_arena *arena)
{
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    size_t pos = 0, found;
    while ((found = tg_str_find(text, folder, pos)) != SIZE_MAX) {
        tg_buf_adds(&out, tg_str_sub(text, pos, found));
        tg_buf_addz(&out, "<folder>");
        pos = found + folder.len;
    }
    tg_buf_adds(&out, tg_str_sub(text, pos, text.len));
    return tg_buf_take(&out, arena);
}

static tg_str run_case(tg_str folder, tg_arena *arena)
{
    tg_diags diags = TG_DIAGS_INIT;
    tg_auto_buf tg_buf out = TG_BUF_INIT;
    const tg_spec *spec;
    const tg_graph *graph = NULL;
    tg_code code = tg_spec_load(tg_fs_local(), (tg_str){0}, folder, arena, &spec, &diags);
    if (code == TG_OK) {
        code = tg_graph_build(spec, tg_fs_local(), arena, &graph, &diags);
    }
    assert_int_equal(code == TG_OK, diags.error_count == 0);
    add_diags(&diags, &out);
    if (code == TG_OK) {
        add_graph(graph, &out);
    }
    tg_diags_dispose(&diags);
    return without_folder(tg_buf_str(&out), folder, arena);
}

static bool check_case(tg_str folder, tg_str name, tg_arena *arena)
{
    tg_str actual = run_case(folder, arena);
    tg_str path = tg_path_join(arena, folder, TG_S("expected.txt"));
    tg_str expected = {0};
    if (getenv("TIDEGATE_BLESS")) {
        assert_int_equal(tg_fs_write_replace(tg_fs_local(), path, actual, NULL), TG_OK);
        return true;
    }
    (void)!tg_fs_read(tg_fs_local(), path, 1 << 20, arena, &expected, NULL);
    if (!tg_str_eq(actual, expected)) {
        print_error("%.*s: expected\n%.*s\nactual\n%.*s\n", TG_SARG(name), TG_SARG(expected),
                    TG_SARG(actual));
        return false;
    }
    return true;
}

static void test_cases(void **state)
{
    (void)state;
    tg_auto_arena tg_arena *arena = tg_arena_new();
    tg_str root = TG_S(TG_TEST_SOURCE_DIR "/tests/golden/pipeline");
    tg_fs_entry *entries;
    size_t count, failures = 0, cases = 0;
    assert_int_equal(tg_fs_list(tg_fs_local(), root, false, arena, &entries, &count, NULL), TG_OK);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].is_folder) {
            cases++;
            failures +=
                !check_case(tg_path_join(arena, root, entries[i].name), entries[i].name, arena);
        }
    }
    assert_int_equal(failures, 0);
    assert_true(cases > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
