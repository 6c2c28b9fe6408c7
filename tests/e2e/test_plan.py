# SPDX-License-Identifier: Apache-2.0
"""What tidegate plan says is what the run right after it does."""
import datetime as dt
import json

import deltalake
import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.date32()), ("v", pa.int64())])
NOW = "2024-03-10"
DAILY = ("CREATE STREAMING TABLE t PARTITIONED BY (d) FLOW REPLACE WHERE {predicate} BY NAME\n"
         "SELECT d, {value} AS v FROM s WHERE v < 1000;")
VIEW = "CREATE MATERIALIZED VIEW m AS SELECT d, sum(v) AS total FROM {source} GROUP BY d;"


def day(number):
    return dt.date(2024, 3, number)


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def define(project, name="t", predicate="d >= current_date() - 3", value="v"):
    (project.folder / "transformations" / f"{name}.sql").write_text(DAILY.format(predicate=predicate, value=value))


def plan(project, now, *arguments, status=0):
    before = files(project.folder)
    done = project.tidegate("plan", "--now", now, "--json", *arguments, status=status)
    assert files(project.folder) == before
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    planned = [line["origin"]["flow_name"] for line in lines[:-1] if line["event_type"] == "planning_information"]
    assert len(planned) == sum(flow["technique"] is not None for flow in lines[-1]["flows"])
    return lines[-1]["flows"]


def plan_and_run(project, now=NOW, *arguments):
    """The planned flows, after the run has done the same."""
    planned = plan(project, now, *arguments)
    done = project.run(now, *arguments)["flows"]
    assert len(planned) == len(done)
    for wanted, flow in zip(planned, done):
        for key in ("flow_name", "dataset_name", "technique", "fallback_reasons", "pieces", "window"):
            assert wanted[key] == flow[key], key
        assert set(wanted) - set(flow) - {"lints"} == {"num_rows_to_delete", "num_rows_to_insert", "is_estimate"}
        if flow["num_output_rows"] is not None and not wanted["is_estimate"]:
            assert wanted["num_rows_to_insert"] == flow["num_output_rows"]
        if flow["num_deleted_rows"] is not None and not wanted["is_estimate"]:
            assert wanted["num_rows_to_delete"] == flow["num_deleted_rows"]
        assert wanted["committed_version"] is None
        assert wanted["status"] == ("EXCLUDED" if flow["status"] == "EXCLUDED" else "QUEUED")
    return planned


def counts(flow):
    return flow["technique"], flow["num_rows_to_delete"], flow["num_rows_to_insert"], flow["is_estimate"]


@pytest.fixture
def project(tidegate):
    made = Project(tidegate)
    define(made)
    made.write("s", SCHEMA, [(day(n), n) for n in range(1, 12)] + [(None, 100), (day(9), 2000)])
    return made


@pytest.fixture
def loaded(project):
    project.run(NOW)
    return project


def test_first_load(project):
    flow, = plan_and_run(project)
    assert counts(flow) == ("COMPLETE_REPLACE_WHERE", 0, 5, False)
    assert flow["fallback_reasons"] == ["CHANGE_SET_MISSING"]


def test_nothing_to_do_needs_no_engine(loaded):
    loaded.tidegate("plan", "--now", NOW, env={"TIDEGATE_DUCKDB": "/nowhere"})
    flow, = plan_and_run(loaded)
    assert counts(flow) == ("NO_OP", 0, 0, False)


def test_moved_window_with_changed_source(loaded):
    loaded.write("s", SCHEMA, [(day(n), 10 * n) for n in range(8, 14)])
    flow, = plan_and_run(loaded, "2024-03-12")
    assert counts(flow) == ("COMPLETE_REPLACE_WHERE", 3, 5, False)
    assert [piece["where"] for piece in flow["pieces"]] == ["d >= DATE'2024-03-09'"]


def test_wider_window_counts_its_new_part_only(loaded):
    define(loaded, predicate="d >= current_date() - 5")
    flow, = plan_and_run(loaded)
    assert counts(flow) == ("COMPLETE_REPLACE_WHERE", 0, 2, False)
    assert [piece["treatment"] for piece in flow["pieces"]] == ["NO_OP", "RECOMPUTE"]


def test_outside_change(loaded):
    row = pa.table({"d": [day(9)] * 3, "v": [7, 8, 9]}, schema=SCHEMA)
    deltalake.write_deltalake(loaded.path("t"), row, mode="append")
    flow, = plan_and_run(loaded)
    assert counts(flow) == ("COMPLETE_REPLACE_WHERE", 4, 1, False)
    assert flow["fallback_reasons"] == ["EXTERNAL_CHANGE_IN_REPLACE_WINDOW"]


def test_edited_query_and_a_new_column(loaded):
    define(loaded, predicate="d >= current_date() - 1 AND w > 9", value="v AS w, v + 1000")
    flow, = plan_and_run(loaded)
    assert counts(flow) == ("COMPLETE_REPLACE_WHERE", 0, 2, False)
    define(loaded, value="v + 1000")
    flow, = plan_and_run(loaded)
    assert flow["num_rows_to_insert"] == 5


def test_changed_property(loaded):
    text = DAILY.format(predicate="d >= current_date() - 3", value="v").replace("FLOW", "COMMENT 'c' FLOW")
    (loaded.folder / "transformations" / "t.sql").write_text(text)
    flow, = plan_and_run(loaded)
    assert counts(flow) == ("NO_OP", 0, 0, False)


def test_view_with_time_and_chance(project):
    sql = "CREATE MATERIALIZED VIEW m AS SELECT d, current_date() AS today, {} AS r FROM s;"
    (project.folder / "transformations" / "m.sql").write_text(sql.format("1"))
    assert counts(plan_and_run(project)[0]) == ("COMPLETE_RECOMPUTE", 0, 13, False)
    flow = plan_and_run(project, "2024-03-11")[0]
    assert counts(flow) == ("COMPLETE_RECOMPUTE", 13, 13, False)
    assert "PLAN_NOT_DETERMINISTIC" in flow["fallback_reasons"]
    (project.folder / "transformations" / "m.sql").write_text(sql.format("rand()"))
    assert counts(plan_and_run(project)[0]) == ("COMPLETE_RECOMPUTE", 13, 13, False)
    text = project.tidegate("plan", "--now", NOW).stdout
    assert "not incremental because of PLAN_NOT_DETERMINISTIC: NON_DETERMINISTIC_EXPRESSION" in text


def test_below_a_changing_flow(project):
    (project.folder / "transformations" / "m.sql").write_text(VIEW.format(source="t"))
    (project.folder / "transformations" / "n.sql").write_text(
        VIEW.format(source="m").replace("VIEW m", "VIEW n").replace("sum(v)", "sum(total)"))
    flows = plan_and_run(project)
    assert [counts(flow) for flow in flows] == [
        ("COMPLETE_REPLACE_WHERE", 0, 5, False), ("COMPLETE_RECOMPUTE", 0, None, True), ("COMPLETE_RECOMPUTE", 0, None, True)]
    assert [counts(flow)[0] for flow in plan_and_run(project)] == ["NO_OP"] * 3
    project.write("s", SCHEMA, [(day(n), 1) for n in range(8, 20)])
    flows = plan_and_run(project)
    assert flows[1]["fallback_reasons"] == flows[2]["fallback_reasons"] == ["DATA_HAS_CHANGED"]
    assert [counts(flow) for flow in flows] == [
        ("COMPLETE_REPLACE_WHERE", 5, 12, False), ("COMPLETE_RECOMPUTE", 5, 5, True), ("COMPLETE_RECOMPUTE", 5, 5, True)]
    project.write("s", SCHEMA, [(day(n), 2) for n in range(8, 20)])
    # What is not selected does not change: its readers are no estimates.
    flows = plan_and_run(project, NOW, "--refresh", "m,n")
    assert [counts(flow) for flow in flows] == [(None, None, None, False)] + [("NO_OP", 0, 0, False)] * 2


def test_below_a_new_column(loaded):
    (loaded.folder / "transformations" / "m.sql").write_text("CREATE MATERIALIZED VIEW m AS SELECT * FROM t;")
    loaded.run(NOW)
    define(loaded, value="v AS w, v")
    flows = plan_and_run(loaded)
    assert flows[1]["technique"] == "COMPLETE_RECOMPUTE"
    assert flows[1]["is_estimate"]


def test_text(project):
    (project.folder / "transformations" / "m.sql").write_text(VIEW.format(source="t"))
    done = project.tidegate("plan", "--now", NOW)
    assert done.stdout.splitlines() == [
        " flow            technique                   to delete     to insert",
        " main.default.t  COMPLETE_REPLACE_WHERE              0             5",
        "   RECOMPUTE [d >= DATE'2024-03-07'] because of CHANGE_SET_MISSING",
        " main.default.m  COMPLETE_RECOMPUTE                 ~0             -",
        "   RECOMPUTE [true] because of CHANGE_SET_MISSING",
        "~ estimate: the flow reads a table that the run will change",
        "nothing was written (clock 2024-03-10T00:00:00.000000Z, zone UTC)",
    ]
    assert "-- refresh program of main.default.t\n" in project.tidegate("plan", "--explain").stdout


def test_errors_end_it_as_a_dry_run(project):
    define(project, value="missing")
    errors = [project.tidegate(command, status=3) for command in ("plan", "dry-run")]
    assert errors[0].stdout == errors[1].stdout == ""
    assert "missing" in errors[0].stderr
    assert errors[0].stderr.split("UNRESOLVED", 1)[1] == errors[1].stderr.split("UNRESOLVED", 1)[1]
    define(project)
    assert "Did you mean `t`?" in project.tidegate("plan", "--refresh", "tt", status=3).stderr


def test_rows_that_cannot_be_read_fail_the_plan_as_they_fail_the_run(project):
    sql = "CREATE MATERIALIZED VIEW m AS SELECT d FROM s WHERE 1 div (v - 5) = 7;"
    (project.folder / "transformations" / "m.sql").write_text(sql)
    flow = plan(project, NOW, status=1)[0]
    assert (flow["status"], flow["error"]["error_class"]) == ("FAILED", "DIVIDE_BY_ZERO")
    failed = project.run(NOW, status=1)["flows"][0]
    assert failed["error"]["error_class"] == "DIVIDE_BY_ZERO"
