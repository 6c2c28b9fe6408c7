/* SPDX-License-Identifier: Apache-2.0 */
/* Where names point, what is there, and what is suggested. */
#include "support/test.h"

#include "catalog/catalog.h"

typedef struct fixture {
    tg_arena *arena;
    tg_catalog catalog;
    tg_error err;
} fixture;

static const tg_property csv_options[] = {{.key = {"header", 6}, .value = {"true", 4}}};
static const tg_mapped_table mapped[] = {
    {.name = {"events", 6},
     .path = {"/lake/events", 12},
     .format = TG_FORMAT_CSV,
     .options = csv_options,
     .option_count = 1},
    {.name = {"raw.orders", 10}, .path = {"/lake/orders", 12}, .format = TG_FORMAT_DELTA},
};

static int set_up(void **state)
{
    tg_arena *arena = tg_arena_new();
    fixture *f = TG_NEW(arena, fixture);
    f->arena = arena;
    f->catalog = (tg_catalog){.fs = tg_fs_local(),
                              .warehouse = TG_S("/w"),
                              .base_folder = TG_S("/base"),
                              .current_catalog = TG_S("main"),
                              .current_schema = TG_S("default"),
                              .mapped = mapped,
                              .mapped_count = TG_COUNT(mapped)};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    tg_error_dispose(&f->err);
    tg_arena_free(f->arena);
    return 0;
}

static tg_name parse(fixture *f, const char *text)
{
    tg_name name;
    assert_ok(tg_sql_parse_name(tg_str_from(text), f->arena, &name, &f->err), &f->err);
    return name;
}

static void check(fixture *f, const char *text, const char *full_name, const char *path,
                  bool is_managed)
{
    tg_name name = parse(f, text);
    tg_location location;
    assert_ok(tg_catalog_locate(&f->catalog, &name, f->arena, &location, &f->err), &f->err);
    assert_str(location.full_name, full_name);
    assert_str(location.path, path);
    assert_int_equal(location.is_managed, is_managed);
}

static void test_locate(void **state)
{
    fixture *f = *state;
    check(f, "orders", "main.default.orders", "/w/main/default/orders", true);
    check(f, "Sales.Orders", "main.sales.orders", "/w/main/sales/orders", true);
    check(f, "c.s.t", "c.s.t", "/w/c/s/t", true);
    check(f, "`a b`.`c.d`", "main.`a b`.`c.d`", "/w/main/a b/c.d", true);
    check(f, "`a/b`.`..`", "main.`a/b`.`..`", "/w/main/a%2Fb/%2E.", true);
    check(f, "`_delta_log`", "main.default._delta_log", "/w/main/default/%5Fdelta_log", true);
    check(f, "`50%*?`", "main.default.`50%*?`", "/w/main/default/50%25%2A%3F", true);
    check(f, "`12`", "main.default.`12`", "/w/main/default/12", true);
    check(f, "`a``b`", "main.default.`a``b`", "/w/main/default/a`b", true);
    check(f, "delta.`lake/t`", "delta.`/base/lake/t`", "/base/lake/t", false);
    check(f, "PARQUET.`/x/*.parquet`", "parquet.`/x/*.parquet`", "/x/*.parquet", false);
    check(f, "json.`file:///x/y`", "json.`/x/y`", "/x/y", false);
    check(f, "orc.t", "main.orc.t", "/w/main/orc/t", true);
}

static void test_mapped(void **state)
{
    fixture *f = *state;
    check(f, "events", "main.default.events", "/lake/events", false);
    check(f, "main.default.EVENTS", "main.default.events", "/lake/events", false);
    check(f, "raw.orders", "main.raw.orders", "/lake/orders", false);
    check(f, "other.events", "main.other.events", "/w/main/other/events", true);
    tg_name name = parse(f, "events");
    tg_location location;
    assert_ok(tg_catalog_locate(&f->catalog, &name, f->arena, &location, &f->err), &f->err);
    assert_int_equal(location.format, TG_FORMAT_CSV);
    assert_int_equal(location.option_count, 1);
}

static void check_fails(fixture *f, const char *text, const char *class_name)
{
    tg_name name = parse(f, text);
    tg_location location;
    assert_int_not_equal(tg_catalog_locate(&f->catalog, &name, f->arena, &location, &f->err),
                         TG_OK);
    assert_error_class(&f->err, class_name);
    assert_true(f->err.has_span);
    tg_error_clear(&f->err);
}

static void test_errors(void **state)
{
    fixture *f = *state;
    check_fails(f, "a.b.c.d", "IDENTIFIER_TOO_MANY_NAME_PARTS");
    check_fails(f, "delta.`s3://b/x`", "TIDEGATE_UNSUPPORTED_STORAGE");
    check_fails(f, "csv.`/Volumes/a/b`", "TIDEGATE_UNSUPPORTED_STORAGE");
    check_fails(f, "orc.`/x/y`", "UNSUPPORTED_FEATURE");
}

static void make_table(fixture *f, const char *relative)
{
    tg_str path = tg_path_join(f->arena, f->catalog.warehouse, tg_str_from(relative));
    assert_ok(tg_fs_make_folders(tg_fs_local(), path, &f->err), &f->err);
}

static void test_listing(void **state)
{
    fixture *f = *state;
    f->catalog.warehouse = tg_str_from(tg_test_folder(f->arena));
    tg_str *names;
    size_t count;
    assert_ok(tg_catalog_tables(&f->catalog, TG_S("main"), TG_S("default"), f->arena, &names,
                                &count, &f->err),
              &f->err);
    assert_int_equal(count, 0);
    make_table(f, "main/default/orders/_delta_log");
    make_table(f, "main/default/a%2Fb/_delta_log");
    make_table(f, "main/default/not_a_table");
    make_table(f, "main/.tidegate");
    make_table(f, "main/mart");
    assert_ok(tg_catalog_tables(&f->catalog, TG_S("MAIN"), TG_S("Default"), f->arena, &names,
                                &count, &f->err),
              &f->err);
    assert_int_equal(count, 2);
    assert_str(names[0], "a/b");
    assert_str(names[1], "orders");
    assert_ok(tg_catalog_schemas(&f->catalog, TG_S("main"), f->arena, &names, &count, &f->err),
              &f->err);
    assert_int_equal(count, 2);
    assert_str(names[0], "default");
    assert_str(names[1], "mart");
}

static void check_hint(fixture *f, const char *text, const char *hint)
{
    static const tg_str extra[] = {{"customers", 9}};
    tg_name name = parse(f, text);
    assert_int_equal(tg_catalog_not_found(&f->catalog, &name, extra, TG_COUNT(extra), &f->err),
                     TG_NOT_FOUND);
    assert_error_class(&f->err, "TABLE_OR_VIEW_NOT_FOUND");
    assert_string_equal(f->err.hint, hint);
    tg_error_clear(&f->err);
}

static void test_not_found(void **state)
{
    fixture *f = *state;
    f->catalog.warehouse = tg_str_from(tg_test_folder(f->arena));
    make_table(f, "main/default/orders/_delta_log");
    check_hint(f, "ordres", "Did you mean `orders`?");
    check_hint(f, "default.evnts", "Did you mean `events`?");
    check_hint(f, "custmers", "Did you mean `customers`?");
    check_hint(f, "delta.`x`",
               "There is no such file or folder; relative paths are looked up in /base.");
    check_hint(f, "zzz",
               tg_arena_printf(f->arena, "Tables of this warehouse are the folders below %.*s.",
                               TG_SARG(f->catalog.warehouse)));
}

#define CATALOG_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CATALOG_TEST(test_locate),  CATALOG_TEST(test_mapped),    CATALOG_TEST(test_errors),
        CATALOG_TEST(test_listing), CATALOG_TEST(test_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
