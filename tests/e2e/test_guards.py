# SPDX-License-Identifier: Apache-2.0
"""Guards: what a refresh must not do to a table unless somebody said so. Exit status 4, and every row is where it was."""
import datetime as dt
import json

import deltalake
import pyarrow as pa
import pytest
from project import SPEC, Project
from simulator import multiset

SCHEMA = pa.schema([("d", pa.int32()), ("v", pa.string())])
TABLE = "CREATE STREAMING TABLE t{properties} FLOW REPLACE WHERE d >= 10 BY NAME SELECT d, v FROM s;\n"
OTHER = "CREATE MATERIALIZED VIEW o AS SELECT max(v) AS v FROM s;\n"
READER = "CREATE MATERIALIZED VIEW r AS SELECT count(*) AS n FROM t;\n"
NOW = "2024-03-10"


def define(project, text=TABLE, **properties):
    listed = ", ".join(f"'{key.replace('__', '.')}' = '{value}'" for key, value in properties.items())
    text = text.replace("{properties}", f" TBLPROPERTIES ({listed})" if listed else "")
    (project.folder / "transformations" / "a.sql").write_text(text)


def project_of(tidegate, text=TABLE, **properties):
    project = Project(tidegate)
    define(project, text, **properties)
    project.write("s", SCHEMA, [(9, "a"), (10, "b"), (11, "c"), (None, "n")])
    return project


def insert(project, name, rows):
    columns = list(zip(*rows))
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA)], schema=SCHEMA)
    deltalake.write_deltalake(project.path(name), table, mode="append")


def flows(summary):
    return {f["flow_name"].rsplit(".", 1)[-1]: f for f in summary["flows"]}


def refused(project, command, *arguments, now=NOW, status=4):
    """What is said by an update that a guard stops before anything runs."""
    versions = {p: project.version(p.name) for p in (project.folder / "warehouse" / "main" / "default").iterdir()
                if not p.name.startswith("event_log_")}
    done = project.tidegate(command, "--now", now, *arguments, status=status)
    for path, version in versions.items():
        assert project.version(path.name) == version
    return done


def warnings_of(project, *arguments, now=NOW, status=0):
    lines = project.tidegate("run", "--now", now, "--json", *arguments, status=status).stdout.splitlines()
    events = [json.loads(line) for line in lines[:-1]]
    return [e for e in events if e["event_type"] == "flow_warning"], json.loads(lines[-1])


# ---- reset ----

def with_lost_rows(tidegate, text=TABLE, **properties):
    """A table that holds three rows outside its window: one before it, one put in by hand, one without a day."""
    project = project_of(tidegate, text, **properties)
    project.run(NOW)
    insert(project, "t", [(5, "x"), (None, "y"), (9, "z")])
    return project


@pytest.mark.parametrize("command", ["run", "dry-run", "plan"])
def test_a_full_refresh_that_would_lose_rows_is_refused(tidegate, command):
    project = with_lost_rows(tidegate, TABLE + OTHER)
    before = multiset(project.delta_rs("t"))
    version = project.version("t")
    said = refused(project, command, "--full-refresh", "t,o").stderr
    assert "[TIDEGATE_RESET_LOSES_ROWS] a full refresh of main.default.t would lose 3 rows outside its window `d >= 10`" in said
    assert "--allow-reset main.default.t" in said and "pipelines.reset.allowed = true" in said
    assert f"tidegate restore main.default.t --version {version}" in said
    assert "transformations/a.sql:1:" in said
    assert multiset(project.delta_rs("t")) == before
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_what_is_lost_is_counted_row_by_row(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    insert(project, "t", [(9, "x")])
    assert "would lose 1 row outside" in refused(project, "run", "--full-refresh", "t").stderr
    insert(project, "t", [(9, "x"), (9, "x"), (None, None)])
    assert "would lose 4 rows outside" in refused(project, "run", "--full-refresh", "t").stderr


def test_rows_in_the_window_are_not_lost(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    insert(project, "t", [(12, "by hand")])
    assert project.run(NOW, "--full-refresh", "t")["flows"][0]["committed_version"] == 2


def test_the_window_of_today_counts(tidegate):
    days = pa.schema([("d", pa.date32())])
    project = Project(tidegate, a="CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 2 BY NAME SELECT d FROM s;")
    project.write("s", days, [(dt.date(2024, 3, n),) for n in range(1, 11)])
    project.run("2024-03-05")
    project.run("2024-03-05", "--full-refresh", "t")
    project.run("2024-03-10")
    said = refused(project, "run", "--full-refresh", "t").stderr
    assert "would lose 5 rows outside its window `d >= DATE'2024-03-08'`" in said


def test_a_predicate_over_a_new_column_holds_no_old_row(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    define(project, TABLE.replace("d >= 10", "e >= 10").replace("d, v", "d AS e, v"))
    assert "would lose 2 rows" in refused(project, "run", "--full-refresh", "t").stderr


@pytest.mark.parametrize("arguments, properties", [
    (["--allow-reset", "t"], {}),
    (["--allow-reset", " main.default.t "], {}),
    ([], {"pipelines__reset__allowed": "true"}),
    ([], {"Pipelines__RESET__allowed": "TRUE"}),
])
def test_it_is_allowed_by_an_option_or_by_the_table(tidegate, arguments, properties):
    project = with_lost_rows(tidegate, **properties)
    flow = project.run(NOW, "--full-refresh", "t", *arguments)["flows"][0]
    assert (flow["full_refresh"], flow["num_deleted_rows"], flow["warnings"]) == (True, 5, [])
    assert sorted((r["d"], r["v"]) for r in project.polars("t")) == [(10, "b"), (11, "c")]


def test_the_definition_decides_before_the_table(tidegate):
    project = with_lost_rows(tidegate, pipelines__reset__allowed="true")
    define(project)  # a property that is not defined any more stays with the table
    assert project.run(NOW, "--full-refresh", "t")["flows"][0]["full_refresh"] is True
    insert(project, "t", [(5, "x")])
    define(project, pipelines__reset__allowed="false")
    assert "[TABLE_NOT_RESETTABLE]" in refused(project, "run", "--full-refresh", "t").stderr
    define(project, pipelines__reset__allowed="true")
    assert project.run(NOW, "--full-refresh", "t")["flows"][0]["full_refresh"] is True


@pytest.mark.parametrize("command", ["run", "dry-run", "plan"])
@pytest.mark.parametrize("arguments", [[], ["--allow-reset", "t"]])
def test_a_table_that_is_not_resettable_is_never_reset(tidegate, command, arguments):
    project = project_of(tidegate, TABLE + OTHER, pipelines__reset__allowed="false")
    project.run(NOW)
    project.write("s", SCHEMA, [(10, "new")])
    said = refused(project, command, "--full-refresh", "t", "--refresh", "o", *arguments).stderr
    assert "[TABLE_NOT_RESETTABLE]" in said
    assert "Table is not resettable, so it cannot be contained in fullRefreshTables in the refresh selection" in said


def test_a_table_that_is_not_resettable_need_not_exist_to_be_refused(tidegate):
    project = project_of(tidegate, pipelines__reset__allowed="false")
    assert "[TABLE_NOT_RESETTABLE]" in project.tidegate("run", "--full-refresh", "t", status=4).stderr
    assert project.run(NOW, "--full-refresh-all")["flows"][0]["warnings"] == []


def test_views_lose_nothing(tidegate):
    project = project_of(tidegate, OTHER)
    project.run(NOW)
    assert project.run(NOW, "--full-refresh", "o")["flows"][0]["committed_version"] == 1


@pytest.mark.parametrize("properties, why", [
    ({}, "3 rows outside its window would be lost"),
    ({"pipelines__reset__allowed": "false"}, "pipelines.reset.allowed is false"),
])
def test_all_tables_but_guarded_ones(tidegate, properties, why):
    project = with_lost_rows(tidegate, TABLE + OTHER + READER, **properties)
    project.write("s", SCHEMA, [(10, "new"), (1, "out")])
    planned = project.tidegate("plan", "--now", NOW, "--full-refresh-all").stdout
    assert f"WARN: Table main.default.t is refreshed without a reset: {why}." in planned
    warned, done = warnings_of(project, "--full-refresh-all")
    [event] = warned
    assert (event["level"], event["details"]["flow_warning"]["kind"]) == ("WARN", "RESET_SKIPPED")
    assert event["origin"]["dataset_name"] == "main.default.t"
    done = flows(done)
    assert done["t"]["warnings"] == [f"Table main.default.t is refreshed without a reset: {why}."] == [event["message"]]
    assert (done["t"]["full_refresh"], done["o"]["full_refresh"], done["r"]["full_refresh"]) == (False, True, True)
    assert done["t"]["technique"] == "COMPLETE_REPLACE_WHERE" and done["t"]["fallback_reasons"] == ["DATA_HAS_CHANGED"]
    assert multiset(project.delta_rs("t")) == multiset(
        {"d": d, "v": v} for d, v in [(10, "new"), (5, "x"), (None, "y"), (9, "z")])
    assert project.delta_rs("r") == [{"n": 4}]
    shown = project.tidegate("run", "--now", NOW, "--full-refresh-all")
    assert "WARN: Table main.default.t is refreshed without a reset" in shown.stdout
    assert "WARN: Table main.default.t is refreshed without a reset" in shown.stderr


def test_all_tables_with_one_allowed(tidegate):
    project = with_lost_rows(tidegate)
    flow = project.run(NOW, "--full-refresh-all", "--allow-reset", "t")["flows"][0]
    assert (flow["full_refresh"], flow["warnings"]) == (True, [])
    assert len(project.delta_rs("t")) == 2


def test_an_allowance_for_another_table_is_an_error(tidegate):
    project = project_of(tidegate, TABLE + OTHER)
    said = project.tidegate("run", "--allow-reset", "t", status=3).stderr
    assert "table main.default.t is not refreshed fully" in said and "--full-refresh" in said
    said = project.tidegate("run", "--full-refresh", "o", "--allow-reset", "t,x", status=3).stderr
    assert "is not refreshed fully" in said and "[TIDEGATE_UNKNOWN_SELECTION]" in said
    assert "--allow-reset has an empty name" in project.tidegate("run", "--allow-reset", "", status=2).stderr


def strict(project, value="true"):
    (project.folder / "spark-pipeline.yml").write_text(SPEC + f"  strict_compat: {value}\n")


def test_strict_compat_has_the_default_of_databricks(tidegate):
    project = with_lost_rows(tidegate)
    strict(project, "false")
    refused(project, "run", "--full-refresh", "t")
    strict(project)
    assert project.run(NOW, "--full-refresh", "t")["flows"][0]["full_refresh"] is True
    assert len(project.delta_rs("t")) == 2
    define(project, pipelines__reset__allowed="false")
    assert "[TABLE_NOT_RESETTABLE]" in refused(project, "run", "--full-refresh", "t").stderr


def test_wrong_definitions_come_before_guards(tidegate):
    project = with_lost_rows(tidegate, TABLE + OTHER)
    define(project, TABLE + OTHER.replace("max(v)", "max(nothing)"))
    said = refused(project, "run", "--full-refresh", "t", "--refresh", "o", status=3).stderr
    assert "[TIDEGATE_RESET_LOSES_ROWS]" in said and "nothing" in said


def test_a_refused_update_is_in_the_event_log(tidegate):
    project = with_lost_rows(tidegate)
    lines = project.tidegate("run", "--now", NOW, "--json", "--full-refresh", "t", status=4).stdout.splitlines()
    events = [json.loads(line) for line in lines[:-1]]
    failed = [e for e in events if e["level"] == "ERROR"]
    assert "would lose 3 rows" in failed[0]["error"]["exceptions"][0]["message"]
    assert json.loads(lines[-1])["state"] == "FAILED"
    assert not [e for e in events if e["event_type"] == "dataset_life_cycle"]


# ---- clock ----

DAYS = pa.schema([("d", pa.date32()), ("v", pa.int64())])
ROLLING = "CREATE STREAMING TABLE t FLOW REPLACE WHERE {predicate} BY NAME SELECT d, v FROM s;\n"


def rolling(tidegate, predicate="d >= current_date() - 2"):
    project = Project(tidegate, a=ROLLING.format(predicate=predicate))
    project.write("s", DAYS, [(dt.date(2024, 3, n), 1) for n in range(1, 13)])
    project.run("2024-03-08")
    project.write("s", DAYS, [(dt.date(2024, 3, n), 1) for n in range(1, 13)])  # else the next one has nothing to record
    project.run("2024-03-10")
    project.write("s", DAYS, [(dt.date(2024, 3, n), 2) for n in range(1, 13)])
    return project


@pytest.mark.parametrize("command", ["run", "dry-run", "plan"])
def test_a_clock_that_goes_back_is_refused(tidegate, command):
    project = rolling(tidegate)
    said = refused(project, command, now="2024-03-09").stderr
    assert "[TIDEGATE_CLOCK_WENT_BACK]" in said
    assert "2024-03-09T00:00:00.000000Z" in said and "2024-03-10T00:00:00.000000Z" in said
    assert "`d >= DATE'2024-03-07'` instead of `d >= DATE'2024-03-08'`" in said
    assert "--allow-clock-back" in said and "--replace-where" in said


def test_it_may_be_allowed(tidegate):
    project = rolling(tidegate)
    flow = project.run("2024-03-09", "--allow-clock-back")["flows"][0]
    assert flow["window"] == "d >= DATE'2024-03-07'"
    assert {r["d"].day: r["v"] for r in project.polars("t")} == {6: 1, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2}
    project.write("s", DAYS, [])
    project.run("2024-03-09")  # what was allowed counts from now on
    refused(project, "run", now="2024-03-08T23:59:59Z")


@pytest.mark.parametrize("predicate", [
    "d <= current_date()",  # becomes narrower
    "d >= '2024-03-01'",  # has no clock
    "d >= current_date() - 2 OR d <= '2024-03-31'",  # is the same
])
def test_a_window_that_is_not_wider_may_go_back(tidegate, predicate):
    project = rolling(tidegate, predicate)
    assert project.run("2024-03-09")["flows"][0]["technique"] == "COMPLETE_REPLACE_WHERE"


@pytest.mark.parametrize("predicate", [
    "d = current_date()", "d > current_date() - INTERVAL 1 DAY AND v < 5", "d <=> NULL OR d >= current_date()",
    "dayofweek(d) = dayofweek(current_date())", "d >= date_trunc('MONTH', current_date())",  # nothing is proven of these
])
def test_a_window_that_moves_back_is_refused(tidegate, predicate):
    refused(rolling(tidegate, predicate), "run", now="2024-03-09")


def test_nothing_to_do_is_no_matter_of_clocks(tidegate):
    project = Project(tidegate, a=ROLLING.format(predicate="d >= current_date() - 2"))
    project.write("s", DAYS, [(dt.date(2024, 3, n), 1) for n in range(1, 13)])
    project.run("2024-03-08")
    project.run("2024-03-10")
    assert project.run("2024-03-09")["flows"][0]["technique"] == "NO_OP"


def test_a_changed_predicate_is_not_the_clock_s_doing(tidegate):
    project = rolling(tidegate)
    define(project, ROLLING.format(predicate="d >= current_date() - 8"))
    assert project.run("2024-03-10")["flows"][0]["window"] == "d >= DATE'2024-03-02'"
    define(project, ROLLING.format(predicate="d >= '2024-03-01'"))
    assert project.run("2024-03-09")["flows"][0]["status"] == "COMPLETED"


def test_an_override_does_not_open_the_door(tidegate):
    """Literal overrides may be replayed at any clock, and the later clock is still known afterwards."""
    project = rolling(tidegate)
    flow = project.run("2024-03-01", "--replace-where", "t=d = '2024-03-02'")["flows"][0]
    assert flow["status"] == "COMPLETED"
    said = refused(project, "run", now="2024-03-02").stderr
    assert "2024-03-10T00:00:00.000000Z" in said
    refused(project, "run", "--replace-where", "t=d >= current_date()", now="2024-03-02")
    assert project.run("2024-03-10")["flows"][0]["status"] == "COMPLETED"


def test_readers_of_a_table_that_changes_are_guarded_in_time(tidegate):
    project = Project(tidegate, a=ROLLING.format(predicate="d >= '2024-03-01'"),
                      b="CREATE STREAMING TABLE u FLOW REPLACE WHERE d >= current_date() - 2 BY NAME SELECT d, v FROM t;")
    project.write("s", DAYS, [(dt.date(2024, 3, n), 1) for n in range(1, 13)])
    project.run("2024-03-10")
    project.write("s", DAYS, [(dt.date(2024, 3, n), 2) for n in range(1, 13)])
    refused(project, "run", now="2024-03-09")


# ---- shrinking ----

MANY = "CREATE STREAMING TABLE t{properties} FLOW REPLACE WHERE d >= 10 BY NAME SELECT d, v FROM s;\n"


def rows(*counts):
    """counts: (d, how many rows)."""
    return [(d, f"{d}-{i}") for d, count in counts for i in range(count)]


def shrinking(tidegate, before, after, text=MANY, **properties):
    project = Project(tidegate)
    define(project, text, **properties)
    project.write("s", SCHEMA, before)
    project.run(NOW)
    project.write("s", SCHEMA, after)
    return project


@pytest.mark.parametrize("before, after, warns", [
    (1000, 499, True), (1000, 500, False), (1001, 500, True), (1001, 501, False), (999, 0, False), (1000, 0, True), (1000, 2000, False),
])
def test_a_window_that_loses_more_than_half_is_told(tidegate, before, after, warns):
    project = shrinking(tidegate, rows((10, before), (1, 3000)), rows((11, after)))
    warned, done = warnings_of(project)
    assert [e["details"]["flow_warning"]["kind"] for e in warned] == ["WINDOW_SHRANK"] * warns
    text = f"Window `d >= 10` of table main.default.t has {after} rows left of {before}."
    assert done["flows"][0]["warnings"] == [text] * warns
    assert len(project.delta_rs("t")) == after


@pytest.mark.parametrize("setting", ["fail", "FAIL"])
def test_the_table_may_refuse_it(tidegate, setting):
    project = shrinking(tidegate, rows((10, 1000)), rows((10, 499)), MANY + OTHER + READER, tidegate__shrink_guard=setting)
    version = project.version("t")
    files = sorted(p.name for p in (project.folder / "warehouse" / "main" / "default" / "t").glob("*.parquet"))
    done = project.tidegate("run", "--now", NOW, "--json", status=4)
    result = flows(json.loads(done.stdout.splitlines()[-1]))
    assert (result["t"]["status"], result["r"]["status"], result["o"]["status"]) == ("FAILED", "SKIPPED", "COMPLETED")
    assert result["t"]["error"]["error_class"] == "TIDEGATE_WINDOW_SHRINKS"
    assert result["t"]["error"]["message"] == \
        "a refresh of main.default.t would leave 499 of the 1000 rows of its window `d >= 10`"
    assert "--allow-shrink" in result["t"]["error"]["hint"]
    assert project.version("t") == version and len(project.delta_rs("t")) == 1000
    assert sorted(p.name for p in (project.folder / "warehouse" / "main" / "default" / "t").glob("*.parquet")) == files
    assert "[TIDEGATE_WINDOW_SHRINKS]" in project.tidegate("plan", "--now", NOW, status=4).stderr
    assert project.version("t") == version
    warned, done = warnings_of(project, "--allow-shrink")
    assert len(warned) == 1 and len(project.delta_rs("t")) == 499
    assert flows(done)["r"]["status"] == "COMPLETED"


def test_plan_warns_as_a_run_does(tidegate):
    project = shrinking(tidegate, rows((10, 1000)), rows((10, 1)))
    shown = project.tidegate("plan", "--now", NOW).stdout
    assert "WARN: Window `d >= 10` of table main.default.t has 1 rows left of 1000." in shown


@pytest.mark.parametrize("lost, status", [(2501, 4), (2500, 0)])
def test_the_threshold_is_of_the_whole_window(tidegate, lost, status):
    """Only a part is recomputed: what counts is the share of the window that goes."""
    project = Project(tidegate)
    define(project, MANY, tidegate__shrink_guard="fail")
    project.write("s", SCHEMA, rows((10, 1500), (20, 1000)))
    project.run(NOW)
    insert(project, "t", rows((30, lost)))  # from outside: the source does not have them
    flow = project.run(NOW, status=status)["flows"][0]
    assert {p["treatment"] for p in flow["pieces"]} == {"NO_OP", "RECOMPUTE"} and flow["num_output_rows"] is None
    assert (flow["error"] is None) == (status == 0)
    assert status == 0 or "would leave 2500 of the 5001 rows" in flow["error"]["message"]
    assert len(project.delta_rs("t")) == 2500 + (lost if status else 0)


def test_a_full_refresh_is_guarded_too(tidegate):
    project = shrinking(tidegate, rows((10, 1000)), rows((10, 400)), tidegate__shrink_guard="fail")
    insert(project, "t", rows((1, 5000)))
    project.tidegate("run", "--now", NOW, "--full-refresh", "t", "--allow-reset", "t", status=4)
    project.write("s", SCHEMA, rows((10, 500)))
    project.run(NOW, "--full-refresh", "t", "--allow-reset", "t")
    assert len(project.delta_rs("t")) == 500


def test_an_override_is_guarded_in_its_own_window(tidegate):
    project = shrinking(tidegate, rows((10, 1000), (20, 5000)), rows((20, 5000)), tidegate__shrink_guard="fail")
    flow = json.loads(project.tidegate("run", "--now", NOW, "--json", "--replace-where", "t=d = 10", status=4).stdout.splitlines()[-1])
    assert "0 of the 1000 rows of its window `d = 10`" in flow["flows"][0]["error"]["message"]
    assert project.run(NOW)["flows"][0]["status"] == "COMPLETED"  # a sixth of the declared one


def test_views_are_guarded_where_their_table_asks(tidegate):
    view = "CREATE MATERIALIZED VIEW t{properties} AS SELECT d, v FROM s;\n"
    project = shrinking(tidegate, rows((10, 1000)), rows((10, 1)), view)
    assert warnings_of(project)[0] == []
    define(project, view, tidegate__shrink_guard="fail")
    project.write("s", SCHEMA, rows((10, 1000)))
    project.run(NOW)
    project.write("s", SCHEMA, [])
    project.tidegate("run", "--now", NOW, status=4)
    assert len(project.delta_rs("t")) == 1000


def test_a_failure_beside_a_refusal_is_a_failure(tidegate):
    broken = "CREATE MATERIALIZED VIEW x AS SELECT CAST(v AS INT) AS n FROM s;\n"
    project = Project(tidegate)
    define(project, MANY, tidegate__shrink_guard="fail")
    project.write("s", SCHEMA, rows((10, 1000)))
    project.run(NOW)
    define(project, MANY + broken, tidegate__shrink_guard="fail")
    project.write("s", SCHEMA, rows((10, 1)))
    project.tidegate("run", "--now", NOW, status=1)


@pytest.mark.parametrize("value, hint", [("faill", "Did you mean `fail`?"), ("", None), ("true", None)])
def test_another_setting_is_an_error(tidegate, value, hint):
    project = project_of(tidegate, tidegate__shrink_guard=value)
    said = project.tidegate("dry-run", status=3).stderr
    assert f"table property `tidegate.shrink_guard` must be warn or fail, not `{value}`" in said
    assert hint is None or hint in said


def test_the_setting_may_be_changed_at_any_time(tidegate):
    project = shrinking(tidegate, rows((10, 1000)), rows((10, 1)), tidegate__shrink_guard="warn")
    define(project, MANY, tidegate__shrink_guard="fail")
    project.tidegate("run", "--now", NOW, status=4)
    define(project, MANY)  # never stored: the table still says warn
    assert project.run(NOW)["flows"][0]["status"] == "COMPLETED"
