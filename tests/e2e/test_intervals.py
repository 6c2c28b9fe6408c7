# SPDX-License-Identifier: Apache-2.0
"""Which ranges of a table are up to date, stale or missing; a run recomputes what is not up to date."""
import json

import deltalake
import pyarrow as pa
import pytest
from test_plan import NOW, SCHEMA, VIEW, Project, day, define, files


@pytest.fixture
def project(tidegate):
    made = Project(tidegate)
    define(made)
    made.write("s", SCHEMA, [(day(n), n) for n in range(1, 12)])
    return made


@pytest.fixture
def loaded(project):
    project.run(NOW)
    return project


def told(project, name="t", now=NOW):
    """(status, where, in_window, reason); what a run would keep and recompute in the window is the same."""
    before = files(project.folder)
    # No rows are read: the engine's library is not needed.
    done = project.tidegate("intervals", name, "--now", now, "--json", env={"TIDEGATE_DUCKDB": "/nowhere"})
    assert files(project.folder) == before
    line, = done.stdout.splitlines()
    found = json.loads(line)
    plan = json.loads(project.tidegate("plan", "--refresh", name, "--now", now, "--json", "--allow-clock-back").stdout.splitlines()[-1])
    flow, = (flow for flow in plan["flows"] if flow["technique"])
    assert (found["flow_name"], found["window"], found["now"]) == (flow["flow_name"], flow["window"], plan["now"])
    window = [each for each in found["intervals"] if each["in_window"]]
    assert (flow["technique"] == "NO_OP") == all(each["status"] == "COVERED" for each in window)
    if flow["technique"] == "COMPLETE_REPLACE_WHERE" and flow["fallback_reasons"] != ["CANNOT_PUSH_PREDICATE"]:
        assert ([(each["where"], each["reason"]) for each in window]
                == [(piece["where"], piece["reason"]) for piece in flow["pieces"]])
    assert all((each["status"] == "COVERED") == (each["reason"] is None) for each in found["intervals"])
    return [(each["status"], each["where"], each["in_window"], each["reason"]) for each in found["intervals"]]


def test_nothing_yet(project):
    assert told(project) == [("MISSING", "d >= DATE'2024-03-07'", True, "CHANGE_SET_MISSING")]
    text = project.tidegate("intervals", "t", "--now", NOW).stdout
    assert text.startswith("main.default.t, whose table does not exist yet, window [d >= DATE'2024-03-07'] (clock ")


def test_up_to_date(loaded):
    assert told(loaded) == [("COVERED", "d >= DATE'2024-03-07'", True, None)]
    text = loaded.tidegate("intervals", "main.default.t", "--now", NOW).stdout.splitlines()
    assert text == [
        "main.default.t at version 0, window [d >= DATE'2024-03-07'] (clock 2024-03-10T00:00:00.000000Z, zone UTC)",
        " COVERED  [d >= DATE'2024-03-07'] in the window",
        "          computed at clock 2024-03-10T00:00:00.000000Z from main.default.s version 0",
    ]


def test_rows_that_left_the_window(loaded):
    assert told(loaded, now="2024-03-12") == [
        ("COVERED", "d >= DATE'2024-03-09'", True, None),
        ("COVERED", "d >= DATE'2024-03-07' AND d <= DATE'2024-03-08'", False, None),
    ]
    loaded.write("s", SCHEMA, [(day(n), 2 * n) for n in range(1, 12)])
    loaded.run("2024-03-12")
    assert told(loaded, now="2024-03-12") == [
        ("COVERED", "d >= DATE'2024-03-09'", True, None),
        ("STALE", "d >= DATE'2024-03-07' AND d <= DATE'2024-03-08'", False, "DATA_HAS_CHANGED"),
    ]
    assert sorted(told(loaded)) == [
        ("COVERED", "d >= DATE'2024-03-09'", True, None),
        ("STALE", "d >= DATE'2024-03-07' AND d <= DATE'2024-03-08'", True, "DATA_HAS_CHANGED"),
    ]


def test_wider_window(loaded):
    define(loaded, predicate="d >= current_date() - 5")
    assert told(loaded) == [
        ("COVERED", "d >= DATE'2024-03-07'", True, None),
        ("MISSING", "d >= DATE'2024-03-05' AND d <= DATE'2024-03-06'", True, "STALE_TARGET_DATA_IN_WINDOW"),
    ]


def test_outside_change(loaded):
    row = pa.table({"d": [day(9)], "v": [9]}, schema=SCHEMA)
    deltalake.write_deltalake(loaded.path("t"), row, mode="append")
    assert told(loaded)[1:] == [("STALE", "d = DATE'2024-03-09' AND v = 9L", True, "EXTERNAL_CHANGE_IN_REPLACE_WINDOW")]
    # One day of the change is in the window of two days later, the other is not.
    row = pa.table({"d": [day(8)], "v": [9]}, schema=SCHEMA)
    deltalake.write_deltalake(loaded.path("t"), row, mode="append")
    assert told(loaded, now="2024-03-12")[-2:] == [
        ("STALE", "d = DATE'2024-03-09' AND v = 9L", True, "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"),
        ("STALE", "d = DATE'2024-03-08' AND v = 9L", False, "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"),
    ]
    loaded.run(NOW)
    assert told(loaded) == [("COVERED", "d >= DATE'2024-03-07'", True, None)]


def test_edited_query(loaded):
    define(loaded, value="v + 1000")
    assert told(loaded) == [("STALE", "d >= DATE'2024-03-07'", True, "QUERY_FINGERPRINT_CHANGED")]


@pytest.mark.parametrize("predicate", ["length(cast(v AS STRING)) = 1", "d >= current_date() - 3 AND v % 2 = 1"])
def test_a_predicate_that_is_no_range(project, predicate):
    define(project, predicate=predicate)
    project.run(NOW)
    assert [each[0] for each in told(project)] == ["COVERED"]
    row = pa.table({"d": [day(9)], "v": [9]}, schema=SCHEMA)
    deltalake.write_deltalake(project.path("t"), row, mode="append")
    assert {each[0] for each in told(project) if each[2]} - {"COVERED"} == {"STALE"}
    assert {each[3] for each in told(project)} - {None} == {"EXTERNAL_CHANGE_IN_REPLACE_WINDOW"}


def test_view_below(loaded):
    (loaded.folder / "transformations" / "m.sql").write_text(VIEW.format(source="t"))
    assert told(loaded, "m") == [("MISSING", "true", True, "CHANGE_SET_MISSING")]
    loaded.run(NOW)
    assert told(loaded, "m") == [("COVERED", "true", True, None)]
    loaded.write("s", SCHEMA, [(day(9), 1)])
    assert told(loaded, "m") == [("COVERED", "true", True, None)]  # what it reads is there as it was
    loaded.run(NOW, "--refresh", "t")
    assert told(loaded, "m") == [("STALE", "true", True, "DATA_HAS_CHANGED")]


def test_another_zone(loaded):
    done = loaded.tidegate("intervals", "t", "--now", NOW, "--timezone", "Asia/Tokyo", "--json")
    found, = json.loads(done.stdout)["intervals"]
    assert (found["status"], found["reason"]) == ("MISSING", "STALE_TARGET_DATA_IN_WINDOW")


def test_errors(project):
    (project.folder / "transformations" / "m.sql").write_text(VIEW.format(source="t"))
    done = project.tidegate("intervals", "tt", status=3)
    assert "in FLOW" in done.stderr and "Did you mean `t`?" in done.stderr
    assert "FLOW is missing" in project.tidegate("intervals", status=2).stderr
    done = project.tidegate("intervals", "m", status=3)
    assert "its flow has not run" in done.stderr and "Write: tidegate run" in done.stderr
    assert "--refresh is not available for tidegate intervals" in project.tidegate(
        "intervals", "t", "--refresh", "t", status=2).stderr
