# SPDX-License-Identifier: Apache-2.0
"""Full refreshes: which tables, what is in them afterwards, in which commit, what the next update knows, and what is told."""
import ctypes
import datetime as dt
import json

import deltalake
import pyarrow as pa
import pytest
from project import Project
from simulator import Target, multiset

SCHEMA = pa.schema([("d", pa.int32()), ("v", pa.string())])
TABLE = "CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= 10 BY NAME SELECT d, v FROM s;\n"
VIEW = "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t;\n"
OTHER = "CREATE MATERIALIZED VIEW o AS SELECT max(v) AS v FROM s;\n"
NOW = "2024-03-10"


def project_of(tidegate, text=TABLE, **files):
    project = Project(tidegate, a=text, **files)
    project.write("s", SCHEMA, [(9, "a"), (10, "b"), (11, "c"), (None, "n")])
    return project


def flows(summary):
    return {f["flow_name"].rsplit(".", 1)[-1]: f for f in summary["flows"]}


def insert(project, name, rows):
    columns = list(zip(*rows))
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA)], schema=SCHEMA)
    deltalake.write_deltalake(project.path(name), table, mode="append")


def events_of(project, *arguments):
    lines = project.tidegate("run", "--now", NOW, "--json", *arguments).stdout.splitlines()
    return [json.loads(line) for line in lines[:-1]]


def test_the_life_of_a_table(tidegate):
    """The ten steps of the reference's test vector."""
    project = project_of(tidegate)
    everything = [(9, "a"), (10, "b"), (11, "c")]

    def step(technique, rows, *arguments, reason=None):
        flow = project.run(NOW, *arguments)["flows"][0]
        assert (flow["status"], flow["technique"]) == ("COMPLETED", technique)
        assert sorted((r["d"], r["v"]) for r in project.delta_rs("t")) == rows
        assert sorted((r["d"], r["v"]) for r in project.polars("t")) == rows
        if reason:
            assert flow["fallback_reasons"] == [reason]
        return flow

    project.write("s", SCHEMA, everything)
    complete = "COMPLETE_REPLACE_WHERE"
    step(complete, [(10, "b"), (11, "c")])
    step("NO_OP", [(10, "b"), (11, "c")])
    project.write("s", SCHEMA, [(12, "e")], mode="append")
    step(complete, [(10, "b"), (11, "c"), (12, "e")])
    project.write("s", SCHEMA, [(9, "a"), (11, "c"), (12, "e")])
    step(complete, [(11, "c"), (12, "e")])
    insert(project, "t", [(5, "x")])
    step("NO_OP", [(5, "x"), (11, "c"), (12, "e")])
    (project.folder / "transformations" / "a.sql").write_text(TABLE.replace("10", "12"))
    step("NO_OP", [(5, "x"), (11, "c"), (12, "e")])
    (project.folder / "transformations" / "a.sql").write_text(TABLE)
    step("NO_OP", [(5, "x"), (11, "c"), (12, "e")])  # still covered from before
    step(complete, [(5, "x"), (9, "a"), (11, "c"), (12, "e")], "--replace-where", "t=d = 9", reason="REPLACE_WHERE_BACKFILL")
    deltalake.DeltaTable(project.path("t")).update(predicate="d = 12", new_values={"v": "'other'"})
    step(complete, [(5, "x"), (9, "a"), (11, "c"), (12, "e")], reason="EXTERNAL_CHANGE_IN_REPLACE_WINDOW")
    version, table_id = project.version("t"), deltalake.DeltaTable(project.path("t")).metadata().id
    flow = step(complete, [(11, "c"), (12, "e")], "--full-refresh", "t", "--allow-reset", "t", reason="CHANGE_SET_MISSING")

    # One commit, of the same table, with its history.
    assert flow["full_refresh"] is True
    assert flow["committed_version"] == version + 1 == project.version("t")
    assert flow["pieces"] == [{"where": "d >= 10", "treatment": "RECOMPUTE", "reason": "CHANGE_SET_MISSING"}]
    assert (flow["num_output_rows"], flow["num_deleted_rows"]) == (2, 4)
    table = deltalake.DeltaTable(project.path("t"))
    assert table.metadata().id == table_id
    assert len(table.history()) == version + 2
    old = deltalake.DeltaTable(project.path("t"), version=version).to_pyarrow_table().to_pylist()
    assert len(old) == 4
    step("NO_OP", [(11, "c"), (12, "e")])


def state_of(project, name):
    log = project.folder / "warehouse" / "main" / "default" / name / "_delta_log"
    last = sorted(log.glob("*.json"))[-1].read_text().splitlines()
    return json.loads(next(json.loads(x) for x in last if "commitInfo" in x)["commitInfo"]["userMetadata"])["tidegate"]


def test_the_whole_table_was_advanced_and_the_window_is_covered(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    project.run(NOW, "--replace-where", "t=d < 10")
    assert {p["where"] for p in state_of(project, "t")["coverage"]} != {"d >= 10"}
    project.run(NOW, "--full-refresh", "t", "--allow-reset", "t")
    state = state_of(project, "t")
    assert state["advanced"] == "true"
    assert [p["where"] for p in state["coverage"]] == ["d >= 10"]
    # What an override had brought is gone, and nobody believes it is still there.
    (project.folder / "transformations" / "a.sql").write_text(TABLE.replace("d >= 10", "d >= 9"))
    flow = project.run(NOW)["flows"][0]
    assert flow["technique"] == "COMPLETE_REPLACE_WHERE"
    assert sorted((r["d"], r["v"]) for r in project.delta_rs("t")) == [(9, "a"), (10, "b"), (11, "c")]


def test_an_empty_answer_still_advances_the_whole_table(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    project.write("s", SCHEMA, [])
    flow = project.run(NOW, "--full-refresh", "t")["flows"][0]
    assert (flow["num_output_rows"], flow["num_deleted_rows"]) == (0, 2)
    assert project.delta_rs("t") == [] and state_of(project, "t")["advanced"] == "true"
    version = project.version("t")
    flow = project.run(NOW, "--full-refresh", "t")["flows"][0]
    assert flow["committed_version"] == version + 1


def test_a_first_refresh_may_be_a_full_one(tidegate):
    project = project_of(tidegate, TABLE + VIEW)
    done = project.run(NOW, "--full-refresh-all")
    assert [(f["technique"], f["committed_version"]) for f in done["flows"]] == \
        [("COMPLETE_REPLACE_WHERE", 0), ("COMPLETE_RECOMPUTE", 0)]


def test_a_view_is_computed_anew_though_nothing_changed(tidegate):
    project = project_of(tidegate, OTHER)
    project.run(NOW)
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"
    flow = project.run(NOW, "--full-refresh", "o")["flows"][0]
    assert (flow["technique"], flow["fallback_reasons"], flow["committed_version"]) == \
        ("COMPLETE_RECOMPUTE", ["CHANGE_SET_MISSING"], 1)
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


@pytest.mark.parametrize("arguments, expected", [
    (["--full-refresh", "t"], {"t": ("COMPLETED", True), "m": ("EXCLUDED", False), "o": ("EXCLUDED", False)}),
    (["--full-refresh", "t", "--refresh", "o"], {"t": ("COMPLETED", True), "m": ("EXCLUDED", False), "o": ("COMPLETED", False)}),
    (["--refresh", "main.default.o,m", "--full-refresh", " `t` "],
     {"t": ("COMPLETED", True), "m": ("COMPLETED", False), "o": ("COMPLETED", False)}),
    (["--full-refresh", "t,m", "--full-refresh", "o"], {"t": ("COMPLETED", True), "m": ("COMPLETED", True), "o": ("COMPLETED", True)}),
    (["--full-refresh", "t,T,default.t"], {"t": ("COMPLETED", True), "m": ("EXCLUDED", False), "o": ("EXCLUDED", False)}),
    (["--full-refresh-all"], {"t": ("COMPLETED", True), "m": ("COMPLETED", True), "o": ("COMPLETED", True)}),
])
def test_which_tables(tidegate, arguments, expected):
    project = project_of(tidegate, TABLE + VIEW + OTHER)
    project.run(NOW)
    done = flows(project.run(NOW, *arguments))
    assert {name: (f["status"], f["full_refresh"]) for name, f in done.items()} == expected
    for name, (_, is_full) in expected.items():
        assert (done[name]["committed_version"] is not None) >= is_full


def test_readers_see_what_a_full_refresh_left(tidegate):
    project = project_of(tidegate, TABLE + VIEW)
    project.run(NOW)
    insert(project, "t", [(12, "other")])
    done = flows(project.run(NOW, "--full-refresh", "t", "--refresh", "m"))
    assert done["m"]["committed_version"] is None or project.delta_rs("m") == [{"n": 2}]
    assert project.delta_rs("m") == [{"n": 2}]


def test_a_full_refresh_takes_the_columns_of_the_query(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    (project.folder / "transformations" / "a.sql").write_text(
        "CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= '2024-01-10' BY NAME "
        "SELECT make_date(2024, 1, d) AS d, d AS n FROM s WHERE d IS NOT NULL;\n")
    assert "DELTA_FAILED_TO_MERGE_FIELDS" in project.tidegate("run", "--now", NOW, status=3).stderr
    flow = project.run(NOW, "--full-refresh", "t", "--allow-reset", "t")["flows"][0]
    assert flow["committed_version"] == 1
    assert sorted(r["n"] for r in project.polars("t")) == [10, 11]
    assert project.delta_rs("t")[0].keys() == {"d", "n"}
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_the_event_log_tells_the_full_refresh(tidegate):
    project = project_of(tidegate, TABLE + VIEW)
    created = next(e for e in events_of(project) if e["event_type"] == "create_update")["details"]["create_update"]
    assert (created["full_refresh"], created["full_refresh_selection"]) == (False, [])
    events = events_of(project, "--full-refresh", "t", "--refresh", "m")
    created = next(e for e in events if e["event_type"] == "create_update")["details"]["create_update"]
    assert (created["full_refresh"], created["full_refresh_selection"], created["refresh_selection"]) == (False, ["t"], ["m"])
    [reset] = [e for e in events if e["event_type"] == "dataset_life_cycle"]
    assert reset["details"]["dataset_life_cycle"] == {"status": "RESET", "version_before": 0}
    assert reset["origin"]["dataset_name"] == "main.default.t"
    assert "tidegate restore main.default.t --version 0" in reset["message"]
    events = events_of(project, "--full-refresh-all")
    created = next(e for e in events if e["event_type"] == "create_update")["details"]["create_update"]
    assert (created["full_refresh"], created["full_refresh_selection"]) == (True, [])
    assert len([e for e in events if e["event_type"] == "dataset_life_cycle"]) == 2


def test_people_are_told_how_to_undo_it(tidegate):
    project = project_of(tidegate)
    assert "reset" not in project.tidegate("run", "--now", NOW, "--full-refresh", "t").stdout
    shown = project.tidegate("run", "--now", NOW, "--full-refresh", "t").stdout
    assert "reset; to undo it: tidegate restore main.default.t --version 0" in shown


def test_plan_and_dry_run_say_it_and_write_nothing(tidegate):
    project = project_of(tidegate)
    project.run(NOW)
    version = project.version("t")
    shown = project.tidegate("dry-run", "--now", NOW, "--full-refresh", "t", "--explain").stdout
    assert "replace" in shown
    planned = project.tidegate("plan", "--now", NOW, "--full-refresh", "t").stdout
    assert "RECOMPUTE [d >= 10] because of CHANGE_SET_MISSING" in planned
    done = project.tidegate("plan", "--now", NOW, "--full-refresh-all", "--json").stdout.splitlines()
    flow = json.loads(done[-1])["flows"][0]
    assert (flow["full_refresh"], flow["num_rows_to_delete"], flow["num_rows_to_insert"]) == (True, 2, 2)
    assert project.version("t") == version


@pytest.mark.parametrize("arguments, option", [
    (["--full-refresh-all", "--refresh", "t"], "--refresh"),
    (["--full-refresh-all", "--full-refresh", "t"], "--full-refresh"),
    (["--full-refresh", "t", "--refresh", "nowhere", "--full-refresh-all"], "--full-refresh"),
])
@pytest.mark.parametrize("command", ["run", "dry-run", "plan"])
def test_all_tables_exclude_lists_of_tables(tidegate, command, arguments, option):
    done = tidegate(command, *arguments, status=2)  # there is no pipeline: nothing was looked for
    assert f"[CONFLICTING_PIPELINE_REFRESH_OPTIONS] --full-refresh-all option conflicts with {option}\n" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("names", [("t", "t"), ("main.default.t", "T"), ("m,t", "o,t")])
def test_a_table_in_both_lists_is_an_error(tidegate, names):
    project = project_of(tidegate, TABLE + VIEW + OTHER)
    done = project.tidegate("run", "--refresh", names[0], "--full-refresh", names[1], status=3)
    assert "[CONFLICTING_PIPELINE_REFRESH_OPTIONS] table main.default.t is selected for a refresh and for a full refresh" in done.stderr
    assert not (project.folder / "warehouse" / "main" / "default" / "t").exists()


def test_wrong_names_in_both_lists_are_told_at_once(tidegate):
    project = project_of(tidegate)
    done = project.tidegate("run", "--refresh", "x", "--full-refresh", "tt,,y", status=2)
    assert "--full-refresh has an empty name" in done.stderr
    done = project.tidegate("run", "--refresh", "x", "--full-refresh", "tt,y", status=3)
    assert done.stderr.count("[TIDEGATE_UNKNOWN_SELECTION]") == 3
    assert "Did you mean `t`?" in done.stderr and "in --full-refresh" in done.stderr


@pytest.mark.parametrize("arguments", [["--full-refresh", "t"], ["--full-refresh-all"]])
def test_an_override_and_a_full_refresh_exclude_each_other(tidegate, arguments):
    project = project_of(tidegate)
    done = project.tidegate("run", "--replace-where", "t=d = 9", *arguments, status=3)
    assert "[INVALID_REPLACE_WHERE_OVERRIDE.FULL_REFRESH] flow main.default.t has an override, but this update refreshes it fully" in done.stderr
    project.run(NOW)
    project.run(NOW, "--replace-where", "t=d = 9")
    assert len(project.delta_rs("t")) == 3


def test_it_equals_the_rule_over_days(tidegate):
    """Between refreshes of a moving window, a full refresh is a first one."""
    days = pa.schema([("d", pa.date32()), ("v", pa.int64())])
    project = Project(tidegate, a="CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 2 BY NAME SELECT d, v FROM s;")
    target = Target("SELECT d, v FROM s", "d >= {now} - 2")
    for number in range(1, 8):
        now = f"2024-03-0{number}"
        rows = [(dt.date(2024, 3, n), number * n) for n in range(1, number + 1)] + [(None, 1)]
        project.write("s", days, rows)
        is_full = number in (4, 5)
        if is_full:
            target.rows = None
        target.refresh(project.sources, now)
        project.run(now, *(["--full-refresh", "t", "--allow-reset", "t"] if is_full else []))
        assert multiset(project.delta_rs("t")) == multiset(project.polars("t")) == target.multiset()


# ---- the library ----

class Request(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dry_run", ctypes.c_int),
                ("refresh", ctypes.POINTER(ctypes.c_char_p)), ("refresh_count", ctypes.c_size_t),
                ("on_event", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("overrides", ctypes.c_void_p), ("override_count", ctypes.c_size_t),
                ("full_refresh", ctypes.POINTER(ctypes.c_char_p)), ("full_refresh_count", ctypes.c_size_t),
                ("full_refresh_all", ctypes.c_int)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("spec", ctypes.c_char_p), ("warehouse", ctypes.c_char_p),
                ("now", ctypes.c_char_p), ("timezone", ctypes.c_char_p)]


def test_the_library_takes_full_refreshes(tidegate, library_path):
    project = project_of(tidegate)
    library = ctypes.CDLL(library_path)
    options = SessionOptions(ctypes.sizeof(SessionOptions), str(project.folder / "spark-pipeline.yml").encode(), None, NOW.encode(), None)
    session = ctypes.c_void_p()
    assert library.tg_session_open(ctypes.byref(options), ctypes.byref(session), None) == 0

    def update(status=0, **fields):
        request = Request(struct_size=ctypes.sizeof(Request))
        for key, value in fields.items():
            setattr(request, key, value)
        summary = ctypes.c_char_p()
        assert library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), None) == status
        return json.loads(summary.value)["flows"][0] if status == 0 else None

    names = (ctypes.c_char_p * 1)(b"t")
    assert update()["full_refresh"] is False
    assert update(struct_size=Request.full_refresh.offset, full_refresh_all=1)["technique"] == "NO_OP"  # of an older header
    assert update(full_refresh=names, full_refresh_count=1)["committed_version"] == 1
    assert update(full_refresh_all=7)["committed_version"] == 2
    update(status=3, full_refresh=names, full_refresh_count=1, full_refresh_all=1)
    assert update()["technique"] == "NO_OP"
    library.tg_session_close(session)
