# SPDX-License-Identifier: Apache-2.0
"""Streaming tables and materialized views that statements define, outside of pipelines."""
import datetime
import json
import subprocess
import os

import pytest

from standalone import RECENT, SALES, Warehouse

JUNE_8, JUNE_9 = datetime.date(2024, 6, 8), datetime.date(2024, 6, 9)


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run(*SALES)
    return made


def test_a_statement_defines_a_table_and_fills_its_window(warehouse):
    said = warehouse.says(f"CREATE OR REFRESH STREAMING TABLE recent {RECENT}")
    assert said == "created streaming table main.default.recent: COMPLETE_REPLACE_WHERE, 2 rows written, 0 removed, version 0"
    assert warehouse.foreign("recent") == [[JUNE_8, "eu", 2], [JUNE_9, "us", 3]]
    assert len(warehouse.table("recent").history()) == 1  # definition and rows in one commit


def test_a_later_process_refreshes_what_the_table_keeps(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}")
    assert "NO_OP, nothing to commit" in warehouse.says("REFRESH STREAMING TABLE recent")
    warehouse.run("INSERT INTO sales VALUES (DATE'2024-06-10', 'us', 5)")
    warehouse.run("REFRESH STREAMING TABLE recent")
    assert len(warehouse.foreign("recent")) == 3


def test_names_mean_what_they_meant_where_it_was_defined(warehouse):
    warehouse.run("CREATE SCHEMA other", "USE SCHEMA other", "CREATE TABLE sales (day DATE, region STRING, amount INT)",
                  "INSERT INTO sales VALUES (DATE'2024-06-10', 'here', 9)",
                  f"CREATE STREAMING TABLE main.default.recent {RECENT}")
    warehouse.run("INSERT INTO main.other.sales VALUES (DATE'2024-06-10', 'there', 8)")
    warehouse.run("REFRESH STREAMING TABLE recent")
    assert [row[1] for row in warehouse.rows("SELECT * FROM recent")] == ["here", "there"]


def test_the_long_form_binds_to_the_table(warehouse):
    warehouse.run("CREATE STREAMING TABLE recent COMMENT 'c' PARTITIONED BY (region)")
    warehouse.fails("SELECT * FROM recent", "STREAMING_TABLE_NEEDS_REFRESH", "CREATE FLOW")
    warehouse.fails("INSERT INTO recent VALUES (1)", "STREAMING_TABLE_NEEDS_REFRESH")
    warehouse.fails("REFRESH STREAMING TABLE recent", "PIPELINE_DATASET_WITHOUT_FLOW")
    assert warehouse.described("recent")["Last Refresh Status"] == "NEVER REFRESHED"
    said = warehouse.says("CREATE FLOW f AS INSERT INTO recent BY NAME REPLACE WHERE day >= DATE'2024-06-09' "
                          "SELECT * FROM sales")
    assert said.startswith("created flow f and refreshed main.default.recent: COMPLETE_REPLACE_WHERE, 1 row written")
    assert warehouse.foreign("recent") == [[JUNE_9, "us", 3]]
    assert warehouse.table("recent").metadata().partition_columns == ["region"]
    assert warehouse.table("recent").metadata().description == "c"
    warehouse.fails("CREATE FLOW g AS INSERT INTO recent BY NAME REPLACE WHERE day > DATE'2024-06-09' SELECT * FROM sales",
                    "UNSUPPORTED_FEATURE.MULTI_FLOW_REPLACE_WHERE_TARGET")
    warehouse.run("INSERT INTO sales VALUES (DATE'2024-06-10', 'us', 5)", "REFRESH STREAMING TABLE recent")
    assert len(warehouse.foreign("recent")) == 2


def test_a_script_of_the_long_form_may_run_again(warehouse):
    flow = "CREATE FLOW recent AS INSERT INTO recent BY NAME REPLACE WHERE day >= DATE'2024-06-09' SELECT * FROM sales"
    script = ("CREATE OR REFRESH STREAMING TABLE recent", flow)
    warehouse.run(*script)
    done = warehouse.run(*script)
    assert "NO_OP" in done.stdout
    assert warehouse.foreign("recent") == [[JUNE_9, "us", 3]]


def test_declared_columns_hold(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent (day DATE COMMENT 'when', region STRING, amount INT) {RECENT}")
    assert warehouse.table("recent").schema().fields[0].metadata == {"comment": "when"}
    warehouse.fails(f"CREATE STREAMING TABLE wrong (day INT, region STRING, amount INT) {RECENT}",
                    "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE")
    assert not warehouse.path("wrong").exists()


def test_a_never_refreshed_table_with_columns_can_be_described(warehouse):
    warehouse.run("CREATE STREAMING TABLE t (day DATE, region STRING) PARTITIONED BY (region)")
    described = warehouse.described("t")
    assert described["day"] == "date"
    assert warehouse.table("t").metadata().partition_columns == ["region"]
    warehouse.fails("SELECT * FROM t", "STREAMING_TABLE_NEEDS_REFRESH")


def test_existing_tables(warehouse):
    create = f"STREAMING TABLE recent {RECENT}"
    warehouse.run(f"CREATE {create}")
    warehouse.fails(f"CREATE {create}", "TABLE_OR_VIEW_ALREADY_EXISTS", "CREATE OR REFRESH STREAMING TABLE")
    assert "exists already" in warehouse.says("CREATE STREAMING TABLE IF NOT EXISTS recent FLOW REPLACE WHERE day > "
                                              "DATE'2020-01-01' BY NAME SELECT * FROM sales")
    assert "NO_OP" in warehouse.says(f"CREATE OR REFRESH {create}")
    warehouse.fails(f"CREATE OR REFRESH STREAMING TABLE IF NOT EXISTS recent {RECENT}", "PARSE_SYNTAX_ERROR")
    warehouse.fails("CREATE OR REPLACE STREAMING TABLE recent", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.CREATE_OR_REPLACE")
    warehouse.fails("CREATE MATERIALIZED VIEW recent AS SELECT 1 AS a", "TABLE_OR_VIEW_ALREADY_EXISTS")
    warehouse.fails("CREATE OR REPLACE MATERIALIZED VIEW recent AS SELECT 1 AS a", "TIDEGATE_DATASET_KIND_CHANGED", "Drop")
    assert warehouse.foreign("recent") == [[JUNE_8, "eu", 2], [JUNE_9, "us", 3]]


def test_another_query_recomputes_the_window_and_leaves_the_rest(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}", "INSERT INTO recent VALUES (DATE'2020-01-01', 'old', 7)")
    warehouse.run("CREATE OR REFRESH STREAMING TABLE recent FLOW REPLACE WHERE day >= DATE'2024-06-09' BY NAME "
                  "SELECT day, region, amount, amount * 10 AS tenfold FROM sales")
    assert warehouse.foreign("recent") == [
        [datetime.date(2020, 1, 1), "old", 7, None], [JUNE_8, "eu", 2, None], [JUNE_9, "us", 3, 30]]
    assert "tenfold" in warehouse.cell("SHOW CREATE TABLE recent")


def test_rows_that_a_user_writes_follow_the_window(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}")
    warehouse.run("INSERT INTO recent VALUES (DATE'2020-01-01', 'outside', 1), (DATE'2024-06-08', 'inside', 1)",
                  "DELETE FROM recent WHERE region = 'us'")
    said = warehouse.says("REFRESH STREAMING TABLE recent")
    assert "COMPLETE_REPLACE_WHERE" in said
    assert warehouse.foreign("recent") == [[datetime.date(2020, 1, 1), "outside", 1], [JUNE_8, "eu", 2], [JUNE_9, "us", 3]]


def test_materialized_views(warehouse):
    view = "MATERIALIZED VIEW totals COMMENT 'by region' AS SELECT region, sum(amount) AS total FROM sales GROUP BY region"
    assert "COMPLETE_RECOMPUTE" in warehouse.says(f"CREATE {view}")
    assert warehouse.foreign("totals") == [["eu", 7], ["us", 3]]
    warehouse.fails(f"CREATE {view}", "TABLE_OR_VIEW_ALREADY_EXISTS", "CREATE OR REPLACE MATERIALIZED VIEW")
    warehouse.fails(f"CREATE OR REFRESH {view}", "PARSE_SYNTAX_ERROR", "CREATE OR REPLACE MATERIALIZED VIEW")
    warehouse.run("CREATE OR REPLACE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM sales")
    assert warehouse.foreign("totals") == [[4]]
    warehouse.run("INSERT INTO sales VALUES (NULL, NULL, NULL)", "REFRESH MATERIALIZED VIEW totals")
    assert warehouse.foreign("totals") == [[5]]


def test_nothing_is_left_of_a_table_that_could_not_be_made(warehouse):
    warehouse.fails("CREATE STREAMING TABLE bad FLOW REPLACE WHERE day > DATE'2020-01-01' BY NAME "
                    "SELECT day, CAST(region AS INT) AS n FROM sales", "CAST_INVALID_INPUT")
    assert not warehouse.path("bad").exists() or not (warehouse.path("bad") / "_delta_log").exists()
    states = warehouse.folder / "wh" / ".tidegate"
    assert not states.exists() or not list(states.iterdir())


def test_errors_stand_where_they_were_written(warehouse):
    text = "SELECT 1;\n-- ü\nCREATE STREAMING TABLE bad FLOW REPLACE WHERE day > DATE'2020-01-01' BY NAME\nSELECT nme FROM sales;\n"
    (warehouse.folder / "s.sql").write_text(text)
    done = warehouse.tidegate("sql", "--warehouse", "wh", "-f", "s.sql", status=1)
    assert "s.sql:4:8" in done.stderr and "SELECT nme FROM sales" in done.stderr
    warehouse.fails("CREATE STREAMING TABLE bad FLOW REPLACE WHERE day > DATE'2020-01-01' BY NAME SELECT * FROM nowhere",
                    "TABLE_OR_VIEW_NOT_FOUND", "nowhere")


@pytest.mark.parametrize(("statement", "error_class"), [
    ("CREATE STREAMING TABLE t AS SELECT * FROM STREAM sales", "UNSUPPORTED_FEATURE"),
    ("CREATE STREAMING TABLE t AS SELECT * FROM sales", "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE"),
    ("CREATE STREAMING TABLE t FLOW REPLACE WHERE amount > 1 BY NAME SELECT * FROM STREAM sales",
     "REPLACE_WHERE_WITH_STREAMING_SOURCE"),
    ("CREATE STREAMING TABLE t WITH ROW FILTER f ON (day) " + RECENT, "UNSUPPORTED_FEATURE"),
    ("CREATE STREAMING TABLE t TBLPROPERTIES (pipelines.reset.alowed = 'false') " + RECENT,
     "TIDEGATE_UNKNOWN_TABLE_PROPERTY"),
    ("CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (amount > 0)) " + RECENT,
     "UNSUPPORTED_FEATURE.REPLACE_WHERE_FLOW_WITH_EXPECTATIONS"),
    ("CREATE STREAMING TABLE t SCHEDULE EVERY 73 HOURS " + RECENT, "TIDEGATE_INVALID_SCHEDULE"),
    ("CREATE FLOW f AS INSERT INTO sales BY NAME REPLACE WHERE amount > 1 SELECT * FROM sales",
     "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE"),
    ("CREATE FLOW f AS INSERT INTO nowhere BY NAME REPLACE WHERE amount > 1 SELECT * FROM sales", "TABLE_OR_VIEW_NOT_FOUND"),
    ("CREATE STREAMING TABLE delta.`/tmp/x` " + RECENT, "UNSUPPORTED_FEATURE"),
    ("CREATE STREAMING TABLE t FLOW REPLACE WHERE day > DATE'2020-01-01' BY NAME SELECT * FROM t", "CIRCULAR"),
])
def test_what_is_refused_is_refused_by_name_and_leaves_nothing(warehouse, statement, error_class):
    done = warehouse.run(statement, status=1)
    assert f"[{error_class}" in done.stderr or error_class in done.stderr.upper()
    assert not warehouse.path("t").exists()


def test_a_temporary_view_cannot_be_kept(warehouse):
    done = warehouse.run("CREATE TEMPORARY VIEW v AS SELECT * FROM sales",
                         "CREATE STREAMING TABLE t FLOW REPLACE WHERE amount > 1 BY NAME SELECT * FROM v", status=1)
    assert "[INVALID_TEMP_OBJ_REFERENCE]" in done.stderr


def test_the_folder_of_events_tells_of_every_refresh(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}", "REFRESH STREAMING TABLE recent")
    techniques = {e["message"] for e in warehouse.events("recent") if e["event_type"] == "planning_information"}
    assert len(techniques) == 2
    origin = warehouse.events("recent")[0]["origin"]
    assert origin["pipeline_id"] == str(warehouse.table("recent").metadata().id)
    assert origin["pipeline_name"] == "main.default.recent"


def test_odd_names(warehouse):
    warehouse.run("CREATE TABLE `a b` (`x-y` INT, `ü` STRING)", "INSERT INTO `a b` VALUES (1, 'ö'), (2, NULL)",
                  "CREATE STREAMING TABLE `c.d` COMMENT 'it''s' FLOW REPLACE WHERE `x-y` > 0 BY NAME "
                  "WITH q AS (SELECT * FROM `a b`) SELECT q.* FROM q WHERE EXISTS (TABLE `a b`)")
    assert warehouse.rows("SELECT * FROM `c.d`") == [[1, "ö"], [2, None]]
    assert "NO_OP" in warehouse.says("REFRESH STREAMING TABLE `c.d`")


@pytest.mark.parametrize("create", [
    f"CREATE STREAMING TABLE t SCHEDULE CRON '0 0 12 * * ?' AT TIME ZONE 'Europe/Lisbon' COMMENT 'it''s' {RECENT}",
    f"CREATE STREAMING TABLE t (day DATE COMMENT 'd', region STRING, amount INT) PARTITIONED BY (region) "
    f"TBLPROPERTIES (pipelines.reset.allowed = 'false', 'my key' = 'v') {RECENT}",
    "CREATE MATERIALIZED VIEW t SCHEDULE EVERY 1 WEEK AS SELECT region, max(day) AS `last.day` FROM sales GROUP BY ALL",
    "CREATE STREAMING TABLE t COMMENT 'c'; CREATE FLOW other COMMENT 'flow' AS INSERT INTO t BY NAME "
    "REPLACE WHERE amount > 1 SELECT * FROM sales",
    "CREATE STREAMING TABLE t (day DATE) SCHEDULE EVERY 2 HOUR",
])
def test_show_create_table_makes_the_same_table_again(warehouse, create):
    warehouse.run(create)
    shown = warehouse.cell("SHOW CREATE TABLE t")
    before = warehouse.table("t")
    rows, fields = (warehouse.foreign("t") if "(day DATE) " not in create else None), before.schema()
    configuration, partitions = before.metadata().configuration, before.metadata().partition_columns
    comment = before.metadata().description
    warehouse.run("DROP TABLE t")
    warehouse.tidegate("sql", "--warehouse", "wh", "--now", "2024-06-10", stdin="USE CATALOG elsewhere;\n" + shown)
    after = warehouse.table("t")
    assert warehouse.cell("SHOW CREATE TABLE t") == shown
    configuration["tidegate.pipelineId"] = after.metadata().configuration["tidegate.pipelineId"]
    assert after.metadata().configuration == configuration
    assert (after.metadata().partition_columns, after.metadata().description) == (partitions, comment)
    assert after.schema() == fields
    assert rows is None or warehouse.foreign("t") == rows


def test_schedules_are_kept_shown_and_noted_once(warehouse):
    done = warehouse.run(f"CREATE STREAMING TABLE a SCHEDULE REFRESH EVERY 1 hour {RECENT}",
                         f"CREATE STREAMING TABLE b TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 MINUTES {RECENT}")
    assert done.stderr.count("note:") == 1 and "cron" in done.stderr
    assert warehouse.described("a")["Refresh Schedule"] == "EVERY 1 HOURS"
    assert warehouse.described("b")["Refresh Schedule"] == "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 MINUTES"
    warehouse.run(f"CREATE STREAMING TABLE c {RECENT}")
    assert warehouse.described("c")["Refresh Schedule"] == "MANUAL"
    warehouse.run("CREATE OR REFRESH STREAMING TABLE a " + RECENT)
    assert warehouse.described("a")["Refresh Schedule"] == "MANUAL"  # the statement is the definition


def test_altering_schedules(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE t {RECENT}", "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a")
    warehouse.fails("ALTER STREAMING TABLE t DROP SCHEDULE", "TIDEGATE_INVALID_SCHEDULE", "has no schedule")
    warehouse.fails("ALTER STREAMING TABLE t ALTER SCHEDULE EVERY 1 DAY", "TIDEGATE_INVALID_SCHEDULE", "ADD SCHEDULE")
    warehouse.run("ALTER STREAMING TABLE t ADD SCHEDULE EVERY 1 DAY")
    assert "SCHEDULE EVERY 1 DAYS" in warehouse.cell("SHOW CREATE TABLE t")
    warehouse.fails("ALTER STREAMING TABLE t ADD TRIGGER ON UPDATE", "TIDEGATE_INVALID_SCHEDULE", "ALTER SCHEDULE")
    warehouse.fails("ALTER STREAMING TABLE t ALTER SCHEDULE EVERY 99 DAYS", "TIDEGATE_INVALID_SCHEDULE", "1 to 31")
    warehouse.run("ALTER STREAMING TABLE t ALTER SCHEDULE CRON '0 0 1 * * ?'")
    assert warehouse.described("t")["Refresh Schedule"] == "CRON '0 0 1 * * ?' AT TIME ZONE 'Etc/UTC'"
    assert "NO_OP" in warehouse.says("REFRESH STREAMING TABLE t")  # an altered schedule is no outside change
    warehouse.run("ALTER STREAMING TABLE t DROP SCHEDULE", "ALTER MATERIALIZED VIEW v ADD SCHEDULE EVERY 8 WEEKS")
    assert warehouse.property("t", "schedule") is None
    assert warehouse.described("v")["Refresh Schedule"] == "EVERY 8 WEEKS"


@pytest.mark.parametrize(("statement", "error_class"), [
    ("ALTER STREAMING TABLE t ALTER COLUMN day COMMENT 'x'", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.INVALID_ALTER"),
    ("ALTER STREAMING TABLE t SET ROW FILTER f ON (day)", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.INVALID_ALTER"),
    ("ALTER STREAMING TABLE t SET TAGS ('a' = 'b')", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.INVALID_ALTER"),
    ("ALTER MATERIALIZED VIEW t SET TAGS ('a' = 'b')", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.INVALID_ALTER"),
    ("ALTER MATERIALIZED VIEW t DROP SCHEDULE", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW"),
    ("ALTER STREAMING TABLE sales DROP SCHEDULE", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE"),
    ("ALTER STREAMING TABLE nowhere DROP SCHEDULE", "TABLE_OR_VIEW_NOT_FOUND"),
    ("ALTER STREAMING TABLE t ADD SCHEDULE EVERY 1 MINUTE", "PARSE_SYNTAX_ERROR"),
    ("ALTER STREAMING TABLE t ADD SCHEDULE EVERY 1 DAY EVERY 2 DAYS", "PARSE_SYNTAX_ERROR"),
    ("ALTER STREAMING TABLE t FROBNICATE", "PARSE_SYNTAX_ERROR"),
])
def test_what_alter_cannot_do(warehouse, statement, error_class):
    warehouse.run(f"CREATE STREAMING TABLE t {RECENT}")
    warehouse.fails(statement, error_class)


def test_drop_takes_the_events_too(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE t {RECENT}", "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a")
    storage = warehouse.storage("t")
    assert storage.is_dir()
    warehouse.fails("DROP MATERIALIZED VIEW t", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW",
                    "DROP STREAMING TABLE")
    warehouse.fails("DROP STREAMING TABLE v", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE")
    warehouse.fails("DROP STREAMING TABLE sales", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE", "DROP TABLE")
    warehouse.fails("DROP STREAMING TABLE nowhere", "TABLE_OR_VIEW_NOT_FOUND")
    warehouse.run("DROP STREAMING TABLE IF EXISTS nowhere", "DROP STREAMING TABLE t", "DROP MATERIALIZED VIEW IF EXISTS v")
    assert not storage.exists() and not warehouse.path("t").exists() and not warehouse.path("v").exists()
    assert not list((warehouse.folder / "wh" / ".tidegate").iterdir())


def test_the_warehouse_may_move(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}")
    (warehouse.folder / "wh").rename(warehouse.folder / "moved")
    (warehouse.folder / "wh").symlink_to("moved")
    warehouse.run("INSERT INTO sales VALUES (DATE'2024-06-10', 'us', 5)", "REFRESH STREAMING TABLE recent")
    assert len(warehouse.foreign("recent")) == 3


def test_two_processes_that_create_the_same_table(warehouse):
    command = [os.environ["TIDEGATE_BIN"], "sql", "--warehouse", "wh", "--now", "2024-06-10", "-e",
               f"CREATE OR REFRESH STREAMING TABLE recent {RECENT}"]
    running = [subprocess.Popen(command, cwd=warehouse.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(4)]
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, output + errors
    assert warehouse.foreign("recent") == [[JUNE_8, "eu", 2], [JUNE_9, "us", 3]]
    assert [f.name for f in (warehouse.folder / "wh" / ".tidegate").iterdir()] == [warehouse.storage("recent").name]


def test_show_tblproperties_tells_the_definition(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent {RECENT}")
    properties = dict(warehouse.rows("SHOW TBLPROPERTIES recent"))
    assert properties["tidegate.datasetKind"] == "STREAMING_TABLE"
    assert "main.default.sales" in properties["tidegate.definition"]
    warehouse.fails(f"CREATE STREAMING TABLE x TBLPROPERTIES ('tidegate.definition' = 'y') {RECENT}",
                    "TIDEGATE_INVALID_TABLE_PROPERTY")


def test_other_statements_go_on_after_one_that_failed(warehouse):
    done = warehouse.run("CREATE STREAMING TABLE a AS SELECT * FROM sales", f"CREATE STREAMING TABLE b {RECENT}",
                         options=("--keep-going", "--format", "rows"), status=1)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["error"] is None for line in lines] == [False, True]
    assert len(warehouse.foreign("b")) == 2


def test_restore_brings_back_rows_not_the_definition(warehouse):
    """What shall be in the table is no part of what was in it: neither an older query, nor an older schedule, nor one of a time before."""
    warehouse.run(f"CREATE STREAMING TABLE recent SCHEDULE EVERY 1 DAY {RECENT}")
    first, rows = warehouse.property("recent", "definition"), warehouse.foreign("recent")
    warehouse.run(f"CREATE OR REFRESH STREAMING TABLE recent SCHEDULE EVERY 2 DAYS {RECENT} WHERE region = 'us'")
    now = warehouse.property("recent", "definition")
    assert now != first and warehouse.foreign("recent") != rows
    less = warehouse.foreign("recent")
    warehouse.run("RESTORE TABLE recent TO VERSION AS OF 0")
    assert warehouse.foreign("recent") == rows
    assert warehouse.property("recent", "definition") == now and "2 DAY" in warehouse.property("recent", "schedule")
    warehouse.run("REFRESH STREAMING TABLE recent")
    assert warehouse.foreign("recent") == less

    # a flow that was given later stays; a table that was never refreshed is so again
    warehouse.run("CREATE STREAMING TABLE later PARTITIONED BY (region)",
                  f"CREATE FLOW f AS INSERT INTO later BY NAME {RECENT.removeprefix('FLOW ').replace(' BY NAME', '')}")
    flow, rows = warehouse.property("later", "flow"), warehouse.foreign("later")
    warehouse.run("RESTORE TABLE later TO VERSION AS OF 0")
    assert ["tidegate.flow", flow] in warehouse.rows("SHOW TBLPROPERTIES later")
    warehouse.fails("SELECT * FROM later", "STREAMING_TABLE_NEEDS_REFRESH")
    warehouse.run("REFRESH STREAMING TABLE later")
    assert warehouse.foreign("later") == rows and warehouse.table("later").metadata().partition_columns == ["region"]
