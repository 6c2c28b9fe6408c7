/* SPDX-License-Identifier: Apache-2.0 */
/* tidegate init: a pipeline folder that runs as it is. */
#include "cli/cli.h"

static const char SPEC[] = "# A pipeline: tidegate run refreshes its tables.\n"
                           "name: %s\n"
                           "catalog: main\n"
                           "schema: default\n"
                           "storage: pipeline-storage\n"
                           "libraries:\n"
                           "  - glob:\n"
                           "      include: transformations/**\n"
                           "tidegate:\n"
                           "  warehouse: warehouse\n"
                           "  timezone: UTC\n"
                           "  tables:\n"
                           "    raw_orders:\n"
                           "      path: data/orders.csv\n"
                           "      format: csv\n"
                           "      options:\n"
                           "        header: \"true\"\n"
                           "        inferSchema: \"true\"\n";

static const char VIEW_SQL[] =
    "-- A materialized view holds the answer of its query; each update brings it up to date.\n"
    "CREATE MATERIALIZED VIEW example_sql_materialized_view AS\n"
    "SELECT region, count(*) AS orders, sum(amount) AS amount\n"
    "FROM raw_orders\n"
    "GROUP BY region;\n";

static const char FLOW_SQL[] =
    "-- A REPLACE WHERE flow owns a slice of its table: each update replaces the rows of the last "
    "seven days\n"
    "-- by the query's rows of these days. Older rows stay as they were written.\n"
    "CREATE OR REFRESH STREAMING TABLE example_sql_replace_where\n"
    "FLOW REPLACE WHERE order_date >= date_add(current_date(), -7) BY NAME\n"
    "SELECT order_date, region, count(*) AS orders, sum(amount) AS amount\n"
    "FROM raw_orders\n"
    "GROUP BY ALL;\n";

/* Dates around today, so that the example's window holds some rows and excludes others. */
static tg_str orders_csv(tg_arena *arena)
{
    static const char *const REGIONS[] = {"north", "south", "east"};
    const tg_env *env = tg_env_system();
    int64_t today = env->now_us(env->self) / TG_US_PER_DAY;
    tg_auto_buf tg_buf csv = TG_BUF_INIT;
    tg_buf_addz(&csv, "order_id,order_date,region,amount\n");
    for (int i = 0; i < 30; i++) {
        tg_str date = tg_date_text(arena, today - i / 2);
        tg_buf_addf(&csv, "%d,%.*s,%s,%d\n", 1000 + i, TG_SARG(date), REGIONS[i % 3],
                    10 + i * 7 % 50);
    }
    return tg_buf_take(&csv, arena);
}

static tg_code check_name(tg_str name, tg_error *err)
{
    bool is_bad = name.len == 0 || name.len > 200 || tg_utf8_valid_len(name) != name.len ||
                  name.ptr[0] == '.' || name.ptr[0] == '-';
    for (size_t i = 0; i < name.len && !is_bad; i++) {
        is_bad = (unsigned char)name.ptr[i] < ' ' || strchr("/\\:'\"#", name.ptr[i]) != NULL;
    }
    if (is_bad) {
        TG_FAIL(err, TIDEGATE_INVALID_OPTION,
                "'%.*s' cannot be the name of a pipeline: it names a folder too", TG_SARG(name));
    }
    return TG_OK;
}

static tg_code write_file(tg_arena *arena, tg_str folder, const char *name, tg_str text,
                          tg_error *err)
{
    return tg_fs_write_new(tg_fs_local(), tg_path_join(arena, folder, tg_str_from(name)), text,
                           err);
}

static tg_code make(tg_cli *cli, tg_str name, tg_error *err)
{
    static const char *const FOLDERS[] = {"pipeline-storage", "transformations", "data"};
    const tg_fs *fs = tg_fs_local();
    tg_arena *arena = cli->arena;
    tg_str here;
    TG_TRY(tg_fs_real_path(fs, TG_S("."), arena, &here, err));
    tg_str folder = tg_path_join(arena, here, name);
    bool exists;
    TG_TRY(tg_fs_exists(fs, folder, &exists, err));
    if (exists) {
        TG_ERR(err, PATH_ALREADY_EXISTS, "%.*s exists already", TG_SARG(name));
        return tg_error_hint(err, "Choose another name, or remove the folder.");
    }
    for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(*FOLDERS); i++) {
        TG_TRY(tg_fs_make_folders(fs, tg_path_join(arena, folder, tg_str_from(FOLDERS[i])), err));
    }
    tg_auto_buf tg_buf quoted = TG_BUF_INIT;
    tg_json_quote(&quoted, name); /* a JSON string is a YAML string */
    TG_TRY(write_file(arena, folder, "spark-pipeline.yml",
                      tg_str_printf(arena, SPEC, tg_buf_cstr(&quoted)), err));
    TG_TRY(write_file(arena, folder, "transformations/example_sql_materialized_view.sql",
                      TG_S(VIEW_SQL), err));
    TG_TRY(write_file(arena, folder, "transformations/example_sql_replace_where.sql",
                      TG_S(FLOW_SQL), err));
    return write_file(arena, folder, "data/orders.csv", orders_csv(arena), err);
}

int tg_cmd_init(tg_cli *cli)
{
    tg_auto_error tg_error err = TG_ERROR_INIT;
    tg_str name = cli->value[TG_OPT_NAME];
    if (!cli->given[TG_OPT_NAME]) {
        (void)TG_ERR(&err, TIDEGATE_INVALID_OPTION,
                     "option --name is missing: the name of the pipeline");
        return tg_cli_usage(&err, cli->command);
    }
    if (check_name(name, &err) != TG_OK) {
        return tg_cli_usage(&err, cli->command);
    }
    tg_code code = make(cli, name, &err);
    if (code != TG_OK) {
        tg_cli_print_error(&err);
        return tg_api_status(code, code == TG_ALREADY_EXISTS);
    }
    printf("Pipeline project '%.*s' created successfully. To run your pipeline:\n  cd '%.*s'\n  "
           "tidegate run\n",
           TG_SARG(name), TG_SARG(name));
    return TG_STATUS_OK;
}
