# SPDX-License-Identifier: Apache-2.0
"""A REPLACE WHERE table whose query gets other columns: new ones, fewer, of other types, spelt otherwise; and other properties."""
import json

import deltalake
import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.int32()), ("v", pa.string()), ("n", pa.int64())])
NOW = "2024-03-10"


def define(project, columns, predicate="d >= 10", properties="", rest=""):
    (project.folder / "transformations" / "a.sql").write_text(
        f"CREATE STREAMING TABLE t {properties} FLOW REPLACE WHERE {predicate} BY NAME SELECT {columns} FROM s;\n{rest}")


def project_of(tidegate, columns="d, v", **options):
    project = Project(tidegate)
    define(project, columns, **options)
    project.write("s", SCHEMA, [(9, "a", 1), (10, "b", 2), (11, "c", 3), (None, "x", 4)])
    return project


def with_history(tidegate, columns="d, v"):
    """Day 9 left the window; 10 and 11 are in it."""
    project = project_of(tidegate, columns, predicate="d >= 9")
    project.run(NOW)
    define(project, columns)
    project.run(NOW)
    return project


def rows(project):
    by_day = sorted(project.delta_rs("t"), key=lambda r: r["d"])
    assert sorted(project.polars("t"), key=lambda r: r["d"]) == by_day
    return by_day


def fields(project):
    return [(f.name, f.type.type) for f in deltalake.DeltaTable(project.path("t")).schema().fields]


def test_a_new_column_has_values_in_the_window_only(tidegate):
    project = with_history(tidegate)
    define(project, "d, v, n * 2 AS twice")
    flow = project.run(NOW)["flows"][0]
    assert (flow["fallback_reasons"], flow["warnings"]) == (["QUERY_FINGERPRINT_CHANGED"], [])
    assert fields(project) == [("d", "integer"), ("v", "string"), ("twice", "long")]
    assert all(f.nullable for f in deltalake.DeltaTable(project.path("t")).schema().fields)
    assert rows(project) == [{"d": 9, "v": "a", "twice": None}, {"d": 10, "v": "b", "twice": 4}, {"d": 11, "v": "c", "twice": 6}]
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"
    # The rows outside get their values when an override covers them.
    project.run(NOW, "--replace-where", "t=d = 9")
    assert rows(project)[0] == {"d": 9, "v": "a", "twice": 2}


def test_a_new_column_may_stand_anywhere_and_be_in_the_predicate(tidegate):
    project = with_history(tidegate)
    define(project, "n, v, d", predicate="d >= 10 AND n > 2")
    project.run(NOW)
    assert fields(project) == [("d", "integer"), ("v", "string"), ("n", "long")]
    # The old row of day 11 had no n: it was not in the window, and stays.
    assert sorted(map(str, project.delta_rs("t"))) == sorted(map(str, [
        {"d": 9, "v": "a", "n": None}, {"d": 10, "v": "b", "n": None}, {"d": 11, "v": "c", "n": None}, {"d": 11, "v": "c", "n": 3}]))


def test_a_dropped_column_stays_and_is_told(tidegate):
    project = with_history(tidegate, "d, v, n")
    define(project, "d, v")
    text = "Column `n` of table main.default.t is not in its query any more: new rows hold NULL there; a full refresh removes it."
    assert f"WARN: {text}" in project.tidegate("plan", "--now", NOW).stdout
    lines = project.tidegate("run", "--now", NOW, "--json").stdout.splitlines()
    flow = json.loads(lines[-1])["flows"][0]
    assert flow["warnings"] == [text]
    [event] = [e for e in map(json.loads, lines[:-1]) if e["level"] == "WARN"]
    assert (event["event_type"], event["message"]) == ("flow_warning", text)
    assert event["details"]["flow_warning"] == {"kind": "COLUMN_DROPPED"}
    assert rows(project) == [{"d": 9, "v": "a", "n": 1}, {"d": 10, "v": "b", "n": None}, {"d": 11, "v": "c", "n": None}]
    assert project.run(NOW)["flows"][0]["warnings"] == []  # nothing is written
    # It comes back with its type, or not at all.
    define(project, "d, v, CAST(n AS STRING) AS n")
    assert "[DELTA_FAILED_TO_MERGE_FIELDS]" in project.tidegate("run", "--now", NOW, status=3).stderr
    define(project, "d, v, n")
    project.run(NOW)
    assert [r["n"] for r in rows(project)] == [1, 2, 3]


def test_a_dropped_column_of_the_predicate_is_an_error(tidegate):
    project = with_history(tidegate)
    define(project, "v, n")
    said = project.tidegate("run", "--now", NOW, status=3).stderr
    assert "UNRESOLVED_COLUMN" in said and "`d`" in said


def test_a_full_refresh_removes_it(tidegate):
    project = project_of(tidegate, "d, v, n")
    project.run(NOW)
    define(project, "d, v")
    flow = project.run(NOW, "--full-refresh", "t")["flows"][0]
    assert flow["warnings"] == [] and fields(project) == [("d", "integer"), ("v", "string")]


@pytest.mark.parametrize("column, was, gives", [
    ("CAST(n AS STRING) AS n", "bigint", "string"),
    ("CAST(n AS INT) AS n", "bigint", "int"),
    ("CAST(n AS DECIMAL(20, 0)) AS n", "bigint", "decimal(20,0)"),
    ("n > 0 AS N", "bigint", "boolean"),
])
def test_another_type_is_refused(tidegate, column, was, gives):
    project = with_history(tidegate, "d, v, n")
    version = project.version("t")
    define(project, "d, v, " + column)
    for command in ("dry-run", "plan", "run"):
        said = project.tidegate(command, "--now", NOW, status=3).stderr
        name = column.rsplit(" ", 1)[-1]
        assert f"[DELTA_FAILED_TO_MERGE_FIELDS] column `{name}` of main.default.t is {was}, but the query gives {gives}" in said
        assert "Cast the column in the query" in said and "--full-refresh" in said
        assert "transformations/a.sql:1:" in said
    assert project.version("t") == version
    # The remedies.
    define(project, f"d, v, n, {column.rsplit(' ', 1)[0]} other")
    assert project.run(NOW)["flows"][0]["status"] == "COMPLETED"


def test_a_wider_type_is_refused_as_long_as_the_table_has_no_type_widening(tidegate):
    project = with_history(tidegate)
    define(project, "CAST(d AS BIGINT) AS d, v")
    said = project.tidegate("run", "--now", NOW, status=3).stderr
    assert "column `d` of main.default.t is int, but the query gives bigint" in said


def test_a_type_inside_a_struct_is_a_type(tidegate):
    project = with_history(tidegate, "d, named_struct('x', n) AS v")
    define(project, "d, named_struct('x', v) AS v")
    said = project.tidegate("run", "--now", NOW, status=3).stderr
    assert "is struct<x:bigint>, but the query gives struct<x:string>" in said
    define(project, "d, named_struct('x', n, 'y', v) AS v")
    assert "struct<x:bigint,y:string>" in project.tidegate("run", "--now", NOW, status=3).stderr


def test_case_makes_no_new_column(tidegate):
    project = with_history(tidegate)
    define(project, "D, V || '!' AS V", predicate="D >= 10")
    assert project.run(NOW)["flows"][0]["warnings"] == []
    assert fields(project) == [("d", "integer"), ("v", "string")]
    assert [r["v"] for r in rows(project)] == ["a", "b!", "c!"]


@pytest.mark.parametrize("columns", ["d, v, n AS V", "d, d AS `D`, v", "*, upper(v) AS V"])
@pytest.mark.parametrize("exists", [True, False])
def test_names_that_differ_only_by_case_are_an_error(tidegate, columns, exists):
    project = project_of(tidegate)
    if exists:
        project.run(NOW)
    define(project, columns)
    said = project.tidegate("run", "--now", NOW, status=3).stderr
    assert "[COLUMN_ALREADY_EXISTS]" in said
    assert (project.folder / "warehouse" / "main" / "default" / "t").exists() == exists


def state_of(project):
    log = project.folder / "warehouse" / "main" / "default" / "t" / "_delta_log"
    last = [json.loads(x) for x in sorted(log.glob("*.json"))[-1].read_text().splitlines()]
    return json.loads(last[0]["commitInfo"]["userMetadata"])["tidegate"], {next(iter(a)) for a in last}


def test_a_changed_property_is_a_commit_of_metadata_that_keeps_the_coverage(tidegate):
    project = with_history(tidegate)
    before, _ = state_of(project)
    define(project, "d, v", properties="COMMENT 'rows' TBLPROPERTIES ('quality' = 'gold')")
    version = project.version("t")
    flow = project.run(NOW)["flows"][0]
    assert (flow["technique"], flow["committed_version"], flow["warnings"]) == ("NO_OP", version + 1, [])
    state, actions = state_of(project)
    assert actions == {"commitInfo", "metaData", "txn"}
    assert (state["coverage"], state["advanced"]) == (before["coverage"], "false")
    assert deltalake.DeltaTable(project.path("t")).metadata().configuration["quality"] == "gold"
    assert project.run(NOW)["flows"][0]["committed_version"] is None
    # Day 9 is still known to be up to date.
    define(project, "d, v", predicate="d >= 9", properties="COMMENT 'rows' TBLPROPERTIES ('quality' = 'gold')")
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_a_new_column_reaches_a_reader_in_the_same_update(tidegate):
    reader = "CREATE MATERIALIZED VIEW r AS SELECT count(n) AS c FROM t;\n"
    project = project_of(tidegate)
    project.run(NOW)
    define(project, "d, v, n", rest=reader)
    project.run(NOW)
    assert project.delta_rs("r") == [{"c": 2}]
