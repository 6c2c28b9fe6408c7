# SPDX-License-Identifier: Apache-2.0
"""Every event type of event_types.def: its keys, its level, what it is about, and that it says the same once it was folded."""
import datetime as dt
import json
import os
import pathlib
import re

import deltalake
import polars
import pyarrow
import pytest
from project import SPEC, Project

TABLE = pathlib.Path(os.environ["TIDEGATE_SOURCE"]) / "src" / "eventlog" / "event_types.def"
OURS = re.findall(r'^TG_EVENT_TYPE\(\w+, "(\w+)"', TABLE.read_text(), re.M)
FOREIGN = re.findall(r'^TG_EVENT_TYPE_FOREIGN\("(\w+)"', TABLE.read_text(), re.M)
FIRST, SECOND, LAST = (f"2024-06-{day}T00:00:00.000000Z" for day in ("10", "14", "17"))
PIPELINE = """
CREATE STREAMING TABLE t COMMENT 'recent' FLOW REPLACE WHERE d >= current_date() - 2 BY NAME SELECT d, v FROM s;
CREATE STREAMING TABLE target TBLPROPERTIES ('tidegate.shrink_guard' = 'fail');
CREATE FLOW bare AS INSERT INTO target BY NAME REPLACE WHERE d > '2024-01-01' SELECT d, v FROM s;
CREATE MATERIALIZED VIEW m AS SELECT sum(v) AS v, region FROM t JOIN r USING (d) GROUP BY region;
CREATE VIEW seen AS SELECT v FROM t;
CREATE TEMPORARY VIEW r AS SELECT d, region FROM regions;
"""
ORIGIN = {"pipeline_id", "pipeline_type", "pipeline_name", "update_id", "catalog_name", "schema_name"}
FLOW = {"flow_name", "dataset_name"}
KNOWN = {"flow_id", "table_id"}  # once the table is known


SOURCE = pyarrow.schema([("d", pyarrow.date32()), ("v", pyarrow.int64())])


def tables(project):
    project.sources["s"] = SOURCE.empty_table()
    project.write("s", SOURCE, [(dt.date(2024, 6, day), day) for day in (9, 10, 14)])
    project.tidegate("sql", "-e", "CREATE TABLE regions PARTITIONED BY (region) AS SELECT d, 'eu' AS region FROM s")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """All events of a pipeline's life, by type, as lines of --json; each update's are as its file has them."""
    from conftest import Tidegate
    project = Project(Tidegate(tmp_path_factory.mktemp("types")), all=PIPELINE)
    spec = project.folder / "spark-pipeline.yml"
    spec.write_text(SPEC + "configuration: {key: value}\nparameters: {given: spec, other: spec}\n")
    (project.folder / "transformations" / "gone.sql").write_text("CREATE MATERIALIZED VIEW gone AS SELECT :given AS a, :other AS b;")
    tables(project)
    project.events, project.summaries = [], []

    def update(*arguments, status=0):
        done = project.tidegate("run", "--json", *arguments, status=status)
        *events, summary = map(json.loads, done.stdout.splitlines())
        project.events += events
        project.summaries.append(summary)
        return events

    update("--now", FIRST, "--param", "given=line")
    (project.folder / "transformations" / "gone.sql").unlink()
    spec.write_text(SPEC + "configuration: {key: value}\n")
    update("--now", SECOND, "--replace-where", "t=d = '2024-06-10'")
    update("--now", SECOND, "--full-refresh", "t", "--allow-reset", "t", "--refresh", "bare")
    update("--now", LAST, "--full-refresh-all")
    project.tidegate("sql", "-e", "DELETE FROM s")
    project.write("s", SOURCE, [(dt.date(2024, 6, 15), number) for number in range(3000)], mode="append")
    (project.folder / "transformations" / "bad.sql").write_text(
        "CREATE MATERIALIZED VIEW bad AS\n  SELECT 1 / (count(*) - count(*)) AS n FROM s;\nCREATE MATERIALIZED VIEW below AS SELECT n FROM bad;")
    update("--now", LAST, status=1)
    (project.folder / "transformations" / "bad.sql").unlink()
    project.tidegate("sql", "-e", "DELETE FROM s WHERE v > 10")
    project.tidegate("sql", "-e", "INSERT INTO s VALUES (DATE'2024-06-15', 7)")
    update("--now", LAST, status=4)
    project.tidegate("sql", "-e", "INSERT INTO s VALUES (DATE'2024-06-15', 8)")
    update("--now", LAST, "--allow-shrink")
    return project


def of(log, event_type):
    found = [(e["details"][event_type], e) for e in log.events if e["event_type"] == event_type]
    assert found, f"no {event_type} event was told"
    return found


def keys(found, allowed, always=None):
    """Each has the keys of always, and none beyond allowed."""
    for details, _ in found:
        assert set(details) <= set(allowed) and set(always if always is not None else allowed) <= set(details), details


def create_update(log):
    found = of(log, "create_update")
    always = ["run_as", "cause", "full_refresh", "validate_only", "refresh_selection", "full_refresh_selection", "now", "timezone", "config"]
    keys(found, [*always, "replace_where_overrides", "parameters", "retry_of"], always)
    details = [d for d, _ in found]
    assert all(d["cause"] == "USER_ACTION" and d["validate_only"] is False and d["timezone"] == "UTC" for d in details)
    assert [d["now"] for d in details] == [FIRST, SECOND, SECOND, *[LAST] * 4]
    assert details[0]["parameters"] == {"given": "line", "other": "spec"} and "parameters" not in details[1]
    assert details[1]["replace_where_overrides"] == [{"flow_name": "t", "predicate_override": "d = '2024-06-10'"}]
    assert (details[2]["refresh_selection"], details[2]["full_refresh_selection"]) == (["bare"], ["t"])
    assert [d["full_refresh"] for d in details] == [False, False, False, True, False, False, False]
    assert set(details[0]["config"]) == {"name", "storage", "catalog", "schema", "configuration"}
    assert details[0]["config"]["configuration"] == {"key": "value"}
    return found, "INFO", ORIGIN, set()


def user_action(log):
    found = of(log, "user_action")
    keys(found, ["action", "user_name", "user_id"])
    assert {(d["action"], d["user_id"]) for d, _ in found} == {("START", os.getuid())}
    return found, "INFO", ORIGIN, set()


def runtime_details(log):
    found = of(log, "runtime_details")
    keys(found, ["dbr_version", "runtime_version"])
    assert all(re.fullmatch(r"tidegate-\d+\.\d+\.\d+", d["dbr_version"]) and d["runtime_version"] == {"dbr_version": d["dbr_version"]}
               for d, _ in found)
    return found, "INFO", ORIGIN, set()


def graph_created(log):
    found = of(log, "graph_created")
    keys(found, ["num_datasets", "num_flows"])
    assert found[0][0] == {"num_datasets": 6, "num_flows": 4} and found[1][0] == {"num_datasets": 5, "num_flows": 3}
    assert {e["maturity_level"] for _, e in found} == {"EVOLVING"}
    return found, "INFO", ORIGIN, set()


def dataset_definition(log):
    found = of(log, "dataset_definition")
    keys(found, ["dataset_type", "num_flows", "expectations"])
    kinds = {e["origin"]["dataset_name"]: (d["dataset_type"], d["num_flows"], d["expectations"]) for d, e in found[:6]}
    assert kinds == {"main.default.t": ("STREAMING_TABLE", 1, []), "main.default.target": ("STREAMING_TABLE", 1, []),
                     "main.default.m": ("MATERIALIZED_VIEW", 1, []), "main.default.gone": ("MATERIALIZED_VIEW", 1, []),
                     "main.default.seen": ("VIEW", 0, []), "r": ("VIEW", 1, [])}
    return found, "INFO", ORIGIN | {"dataset_name"}, set()


def dataset_life_cycle(log):
    found = of(log, "dataset_life_cycle")
    keys(found, ["status", "version_before"], ["status"])
    told = [(d["status"], e["origin"]["dataset_name"], e["level"]) for d, e in found]
    assert told == [("INACTIVE", "main.default.gone", "WARN"), ("RESET", "main.default.t", "INFO"),
                    *[("RESET", name, "INFO") for _, name, _ in told[2:]]]
    reset = [d for d, _ in found if d["status"] == "RESET"]
    assert all(isinstance(d["version_before"], int) for d in reset)
    return found, None, ORIGIN | {"dataset_name"}, {"flow_name", *KNOWN}


def flow_definition(log):
    found = of(log, "flow_definition")
    always = ["input_datasets", "output_dataset", "flow_type", "comment", "language", "once"]
    keys(found, [*always, "replace_where"], always)
    flows = {e["origin"]["flow_name"]: d for d, e in found[:4]}
    assert {name: (d["output_dataset"], d["flow_type"], d.get("replace_where")) for name, d in flows.items()} == {
        "main.default.t": ("main.default.t", "REPLACE_WHERE", "d >= current_date() - 2"),
        "bare": ("main.default.target", "REPLACE_WHERE", "d > '2024-01-01'"),
        "main.default.m": ("main.default.m", flows["main.default.m"]["flow_type"], None),
        "main.default.gone": ("main.default.gone", flows["main.default.gone"]["flow_type"], None)}
    assert flows["main.default.m"]["flow_type"] in ("COMPLETE", "MATERIALIZED_VIEW")
    assert [i["name"] for i in flows["main.default.m"]["input_datasets"]] == ["main.default.t", "r"]
    assert flows["main.default.t"]["comment"] == "recent"
    assert {(d["language"], d["once"]) for d, _ in found} == {("SQL", False)}
    return found, "INFO", ORIGIN | FLOW, set()


def planning_information(log):
    found = of(log, "planning_information")
    always = ["technique_information", "source_table_information", "target_table_information", "pieces"]
    keys(found, [*always, "window", "lints"], always)
    chosen = []
    for details, event in found:
        techniques = details["technique_information"]
        assert [t["is_chosen"] for t in techniques] == [True, *[False] * (len(techniques) - 1)]
        assert all(t["is_applicable"] and t["maintenance_type"].startswith("MAINTENANCE_TYPE_") for t in techniques)
        assert "incrementalization_issues" in techniques[0]
        technique = techniques[0]["maintenance_type"].removeprefix("MAINTENANCE_TYPE_")
        assert event["message"] == f"Flow '{event['origin']['flow_name']}' has been planned to be executed as {technique}."
        chosen.append(technique)
        for issue in techniques[0]["incrementalization_issues"]:
            assert issue["prevent_incrementalization"] is True and re.fullmatch("[A-Z_]+", issue["issue_type"])
        for source in details["source_table_information"]:
            assert {"table_name", "version"} <= set(source)
        assert details["target_table_information"]["table_name"] == event["origin"]["dataset_name"]
        assert details["target_table_information"]["is_row_id_enabled"] is False
        assert all(set(piece) == {"where", "treatment", "reason"} for piece in details["pieces"])
    assert {"COMPLETE_REPLACE_WHERE", "COMPLETE_RECOMPUTE", "NO_OP"} <= set(chosen)
    issues = [i for d, _ in found for i in d["technique_information"][0]["incrementalization_issues"]]
    backfill = [i for i in issues if i["issue_type"] == "REPLACE_WHERE_BACKFILL"]
    assert backfill and backfill[0]["legacy_issue_type"] == "UNSUPPORTED_REPLACE_WHERE_PREDICATE"
    assert any(d.get("window") == "d = DATE'2024-06-10'" for d, _ in found)
    return found, "INFO", ORIGIN | FLOW | KNOWN, set()


METRICS = {"num_output_rows", "num_deleted_rows", "num_output_bytes", "num_rows_physically_written", "num_rows_physically_deleted",
           "num_files_added", "num_files_removed", "num_source_rows_read", "execution_duration_ms", "committed_version"}


def flow_progress(log):
    found = of(log, "flow_progress")
    keys(found, ["status", "metrics"], ["status"])
    assert {d["status"] for d, _ in found} >= {"QUEUED", "PLANNING", "RUNNING", "COMPLETED", "FAILED", "SKIPPED", "EXCLUDED"}
    for details, event in found:
        assert ("metrics" in details) == (details["status"] == "COMPLETED")
        assert set(details.get("metrics", ())) <= METRICS
        assert event["level"] == {"FAILED": "ERROR", "SKIPPED": "WARN"}.get(details["status"], "INFO")
        assert (event["error"] is not None) == (details["status"] == "FAILED")
    assert {key for d, _ in found for key in d.get("metrics", ())} == METRICS
    first = next(d["metrics"] for d, e in found if d["status"] == "COMPLETED" and e["origin"]["flow_name"] == "main.default.t")
    assert (first["num_output_rows"], first["num_deleted_rows"], first["committed_version"], first["num_files_added"]) == (3, 0, 0, 1)
    return found, None, ORIGIN | FLOW, KNOWN


def flow_warning(log):
    found = of(log, "flow_warning")
    keys(found, ["kind"])
    assert {(d["kind"], e["origin"]["flow_name"]) for d, e in found} >= {
        ("RESET_SKIPPED", "main.default.t"), ("WINDOW_SHRANK", "main.default.t")}
    return found, "WARN", ORIGIN | FLOW, KNOWN


def update_progress(log):
    found = of(log, "update_progress")
    keys(found, ["state", "cancellation_cause"], ["state"])
    states = [d["state"] for d, _ in found]
    assert states[:4] == ["INITIALIZING", "SETTING_UP_TABLES", "RUNNING", "COMPLETED"]
    assert states.count("FAILED") == 2
    for details, event in found:
        assert event["level"] == ("ERROR" if details["state"] == "FAILED" else "INFO")
        short = event["origin"]["update_id"][:6]
        assert event["message"].startswith(f"Update {short} is {details['state']}")
    return found, None, ORIGIN, set()


CHECKS = {check.__name__: check for check in (
    create_update, user_action, runtime_details, graph_created, dataset_definition, dataset_life_cycle, flow_definition,
    planning_information, flow_progress, flow_warning, update_progress)}


def test_every_event_type_has_a_check():
    assert sorted(CHECKS) == sorted(OURS), "a row of event_types.def is not tested here"
    assert not set(OURS) & set(FOREIGN) and len(FOREIGN) > 5


@pytest.mark.parametrize("event_type", OURS)
def test_event_type(log, event_type):
    found, level, always, sometimes = CHECKS[event_type](log)
    for details, event in found:
        assert list(event) == ["id", "sequence", "origin", "timestamp", "message", "level", "maturity_level", "error", "details", "event_type"]
        assert list(event["details"]) == [event_type] and isinstance(details, dict)
        assert level is None or event["level"] == level
        assert always <= set(event["origin"]) <= always | sometimes, event["origin"]
        assert all(event["origin"].values())
        assert event["message"] and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event["timestamp"])
        assert set(event["sequence"]) == {"data_plane_id"} and set(event["sequence"]["data_plane_id"]) == {"instance", "seq_no"}
        assert event["maturity_level"] in ("STABLE", "EVOLVING")


def test_what_only_databricks_writes_is_never_told(log):
    assert {event["event_type"] for event in log.events} == set(OURS)


def test_ids_and_sequences(log):
    assert len({event["id"] for event in log.events}) == len(log.events)
    for summary in log.summaries:
        numbers = [e["sequence"]["data_plane_id"]["seq_no"] for e in log.events if e["origin"]["update_id"] == summary["update_id"]]
        assert numbers == sorted(set(numbers))


PLACE = {"file": "transformations/bad.sql", "line": 1, "column": 26}


def test_an_error_says_everything(log):
    failed = [e for e in log.events if e["error"]]
    assert [(e["event_type"], e["error"]["fatal"]) for e in failed] == [("flow_progress", False), ("update_progress", True)] * 2
    for event in failed[:2]:
        [exception] = event["error"]["exceptions"]
        assert (exception["class_name"], exception["error_class"], exception["sql_state"]) == ("DIVIDE_BY_ZERO", "DIVIDE_BY_ZERO", "22012")
        assert exception["place"] == PLACE and exception["stack"] == []
    for event in failed[2:]:
        [exception] = event["error"]["exceptions"]
        assert (exception["class_name"], exception["sql_state"]) == ("TIDEGATE_WINDOW_SHRINKS", "55000")
        assert exception["detail"] == "The table has tidegate.shrink_guard = fail." and "--allow-shrink" in exception["hint"]


def test_the_folded_events_say_the_same(log):
    """Whatever stood in a file is told by `logs` from the table too, errors with place and hint included."""
    folder = log.folder / "pipeline-storage"
    left = {path.stem for path in (folder / "events").glob("[!.]*.jsonl")}
    folded = [s["update_id"] for s in log.summaries if s["update_id"] not in left]
    assert len(folded) >= 4
    failed = [s["update_id"] for s in log.summaries if s["state"] == "FAILED"]
    assert set(failed) <= set(folded)
    for update_id in folded:
        done = log.tidegate("logs", "--json", "--update-id", update_id)
        told = [e for e in log.events if e["origin"]["update_id"] == update_id]
        for line, event in zip(done.stdout.splitlines(), told, strict=True):
            assert json.loads(line) == event
    text = log.tidegate("logs", "--update-id", failed[0], "--level", "ERROR").stdout
    assert "at transformations/bad.sql:1:26" in text
    assert "hint: Look whether the sources are complete." in log.tidegate("logs", "--update-id", failed[1], "--level", "ERROR").stdout


def test_the_table_keeps_what_its_columns_cannot_hold(log):
    """In the vendor's columns an exception has no place and no hint: they stand in details, table and files alike."""
    query = ("SELECT event_type, details, error.exceptions[0].class_name AS c FROM event_log('e2e') WHERE error IS NOT NULL ORDER BY timestamp")
    rows = [json.loads(line) for line in log.tidegate("sql", "--format", "json", "-e", query).stdout.splitlines()]
    assert [row["event_type"] for row in rows] == ["flow_progress", "update_progress"] * 2
    kept = [json.loads(row["details"])[row["event_type"]]["error"] for row in rows]
    assert [set(error) for error in kept] == [{"error_class", "sql_state", "place"}] * 2 + \
        [{"error_class", "sql_state", "detail", "hint", "place"}] * 2
    assert [error["place"] for error in kept[:2]] == [PLACE] * 2
    pipeline_id = log.events[0]["origin"]["pipeline_id"]
    table = log.path(f"event_log_{pipeline_id.replace('-', '_')}")
    assert deltalake.DeltaTable(table).version() >= 0
    details = polars.read_delta(table).filter(polars.col("error").is_null())["details"].to_list()
    assert details and all('"error"' not in text for text in details)
