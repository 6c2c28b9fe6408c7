# SPDX-License-Identifier: Apache-2.0
"""The event log as a table: what was told in files becomes rows, each event once; event_log() reads both."""
import json
import os
import shutil
import subprocess

import deltalake
import pytest
from eventlog import COMPUTES, Logged, event
from pipeline import Pipeline

COLUMNS = ["id", "sequence", "origin", "timestamp", "message", "level", "maturity_level", "error", "details", "event_type"]
ORIGIN = ["cloud", "region", "org_id", "user_id", "pipeline_id", "pipeline_type", "pipeline_name", "cluster_id", "update_id",
          "maintenance_id", "table_id", "table_name", "flow_id", "flow_name", "batch_id", "request_id", "uc_resource_id",
          "dataset_name", "sink_name", "catalog_name", "schema_name", "materialization_name", "operation_id", "flow_attempt_id",
          "source_name", "uc_table_id", "ingestion_source_type", "uc_parent_table_id"]


def ids(rows):
    return [row["id"] for row in rows]


def test_a_run_that_computes_folds_the_files_of_ended_updates(tidegate):
    log = Logged(tidegate)
    first = log.work()
    told = log.file_events(first)
    assert not log.table().exists()
    second = log.work()
    assert log.files() == [second]  # the newest update keeps its file
    rows = log.table_rows()
    assert ids(rows) == ids(told)
    for row, line in zip(rows, told):
        assert json.loads(row["details"]) == line["details"]  # a string that holds JSON
        assert row["timestamp"].isoformat(timespec="microseconds") == line["timestamp"].replace("Z", "+00:00")
        assert {key: value for key, value in row["origin"].items() if value is not None} == line["origin"]
        assert row["sequence"]["data_plane_id"] == line["sequence"]["data_plane_id"]
        assert [row[key] for key in ("message", "level", "maturity_level", "event_type")] == \
            [line[key] for key in ("message", "level", "maturity_level", "event_type")]


def test_the_columns_are_the_vendors(tidegate):
    log = Logged(tidegate)
    log.work()
    log.work()
    schema = json.loads(deltalake.DeltaTable(str(log.table())).schema().to_json())["fields"]
    assert [field["name"] for field in schema] == COLUMNS
    types = {field["name"]: field["type"] for field in schema}
    assert [field["name"] for field in types["origin"]["fields"]] == ORIGIN
    assert {field["name"] for field in types["origin"]["fields"] if field["type"] == "long"} == {"org_id", "user_id", "batch_id"}
    assert (types["timestamp"], types["details"]) == ("timestamp", "string")
    assert [field["name"] for field in types["error"]["fields"]] == ["fatal", "exceptions"]
    exception = types["error"]["fields"][1]["type"]["elementType"]["fields"]
    assert [field["name"] for field in exception] == ["class_name", "message", "stack"]
    protocol = deltalake.DeltaTable(str(log.table())).protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)


def test_nothing_to_do_folds_nothing(tidegate):
    log = Logged(tidegate)
    updates = [log.work(), *(log.update_id() for _ in range(3))]
    assert log.files() == sorted(updates)
    assert not log.table().exists()
    last = log.work()
    assert log.files() == [last]
    assert {row["origin"]["update_id"] for row in log.table_rows()} == set(updates)


def test_an_error_is_a_struct(tidegate):
    log = Logged(tidegate)
    log.work()
    log.define("CREATE MATERIALIZED VIEW m AS SELECT 1 / (count(*) - count(*)) AS n FROM s")
    tidegate("run", status=1)
    log.define(COMPUTES)
    log.work()
    failed = [row for row in log.table_rows() if row["error"] is not None]
    assert [(row["event_type"], row["level"], row["error"]["fatal"]) for row in failed] == \
        [("flow_progress", "ERROR", False), ("update_progress", "ERROR", True)]
    for row in failed:
        assert row["error"]["exceptions"][0]["class_name"] == "DIVIDE_BY_ZERO"
        assert row["error"]["exceptions"][0]["stack"] == []
    [row] = log.sql("SELECT error.exceptions[0].class_name AS c FROM event_log('p') WHERE error.fatal")
    assert row == {"c": "DIVIDE_BY_ZERO"}


def test_a_folder_that_dies_behind_its_commit_doubles_nothing(tidegate, tmp_path):
    log = Logged(tidegate)
    first = log.work()
    kept = tmp_path / "kept"
    shutil.copy(log.events / f"{first}.jsonl", kept)
    second = log.work()
    shutil.copy(kept, log.events / f"{first}.jsonl")  # as if the file had not been removed
    (log.events / ".folding.jsonl").write_text("what it left")
    [counts] = log.sql("SELECT count(*) AS n, count(DISTINCT id) AS d FROM event_log('p')")
    assert counts["n"] == counts["d"]
    third = log.work()
    assert log.files() == [third]
    rows = log.table_rows()
    assert len(set(ids(rows))) == len(rows)
    assert {row["origin"]["update_id"] for row in rows} == {first, second}
    assert sorted(os.listdir(log.events)) == [".fold", f"{third}.jsonl"]


def test_without_the_last_folds_state_the_table_tells_what_is_in_it(tidegate, tmp_path):
    log = Logged(tidegate)
    log.work()
    second = log.work()
    kept = tmp_path / "kept"
    shutil.copy(log.events / f"{second}.jsonl", kept)
    log.work()
    table = deltalake.DeltaTable(str(log.table()))
    assert table.version() == 1
    table.optimize.compact()
    table.create_checkpoint()
    for version in (0, 1):  # foreign log cleanup
        (log.table() / "_delta_log" / f"{version:020}.json").unlink()
    shutil.copy(kept, log.events / f"{second}.jsonl")
    last = log.work()
    assert log.files() == [last]
    rows = log.table_rows()
    assert len(set(ids(rows))) == len(rows)


@pytest.mark.parametrize("text", ["hello\n", "{}\n", '{"id": "x', "\0" * 100, '{"id":"a","origin":{"update_id":"other"}}\n'])
def test_a_broken_event_file_stops_nothing(tidegate, text):
    log = Logged(tidegate)
    first = log.work()
    (log.events / "0broken.jsonl").write_text(text)
    (log.events / "notes.txt").write_text("hello")
    second = log.work()
    assert log.files() == sorted(["0broken", second])
    assert {row["origin"]["update_id"] for row in log.table_rows()} == {first}
    assert {row["u"] for row in log.sql("SELECT DISTINCT origin.update_id AS u FROM event_log('p')")} == {first, second}


def test_damaged_lines_are_left_out(tidegate):
    log = Logged(tidegate)
    first = log.work()
    path = log.events / f"{first}.jsonl"
    whole = ids(log.file_events(first))
    path.write_text("noise\n" + path.read_text() + '[1]\n{"id": "torn')
    # the first line decides whether it is an event file: damage in front of it costs no more than the line
    log.work()
    assert ids(log.table_rows()) == whole


def test_an_update_whose_writer_died_is_folded(tidegate):
    log = Logged(tidegate)
    log.work()
    log.put_update("dead", [event("dead", 1, "create_update", {}), event("dead", 2, "update_progress", {"state": "RUNNING"})])
    log.work()
    assert "dead" not in log.files()
    assert "dead-2" in ids(log.table_rows())


def test_a_table_that_cannot_be_written_is_a_warning(tidegate):
    log = Logged(tidegate)
    first = log.work()
    log.table().write_text("a file where the table should be")
    with log.csv.open("a") as file:
        file.write("3\n")
    done = tidegate("run")
    assert "warning: " in done.stderr
    assert "while folding event files into the event log" in done.stderr
    assert first in log.files()
    log.table().unlink()
    log.work()
    assert first not in log.files()


def test_many_processes_fold_each_event_once(tidegate):
    log = Logged(tidegate)
    log.work()
    told = 0
    for round_number in range(3):
        log.csv.write_text("a\n" + "1\n" * (round_number + 5))
        running = [subprocess.Popen([os.environ["TIDEGATE_BIN"], "run"], cwd=log.folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for process in running:
            error = process.communicate()[1]
            assert process.returncode == 0, error
            assert "warning" not in error
        told += 4
    log.work()
    [counts] = log.sql("SELECT count(*) AS n, count(DISTINCT id) AS d, count(DISTINCT origin.update_id) AS u FROM event_log('p')")
    assert counts["n"] == counts["d"]
    assert counts["u"] == told + 2
    rows = log.table_rows()
    assert len(set(ids(rows))) == len(rows)


# ---- event_log() ----------------------------------------------------------------------------------------------------


def test_event_log_reads_table_and_files(tidegate):
    log = Logged(tidegate)
    assert log.sql("SELECT id, origin.flow_name, error.exceptions FROM event_log('p')") == []
    updates = [log.work(), log.work(), log.work(), log.update_id()]
    rows = log.sql("SELECT origin.update_id AS u, timestamp, event_type FROM event_log('p') ORDER BY timestamp")
    assert list(dict.fromkeys(row["u"] for row in rows)) == updates
    assert set(log.files()) == set(updates[2:])
    pipeline_id = json.loads((log.folder / "st" / "pipeline.json").read_text())["pipeline_id"]
    for source in (f"'{pipeline_id}'", f"'{pipeline_id.upper()}'", "TABLE(m)", "TABLE(main.default.m)"):
        assert len(log.sql(f"SELECT id FROM event_log({source})")) == len(rows)
    [row] = log.sql("SELECT get_json_object(details, '$.flow_progress.status') AS s FROM EVENT_LOG('p') AS e "
                    f"WHERE e.event_type = 'flow_progress' AND e.origin.update_id = '{updates[0]}' ORDER BY timestamp DESC LIMIT 1")
    assert row == {"s": "COMPLETED"}


def test_event_log_twice_in_a_statement_and_in_views(tidegate):
    log = Logged(tidegate)
    log.work()
    log.work()
    [row] = log.sql("CREATE TEMPORARY VIEW v AS SELECT id FROM event_log('p'); "
                    "SELECT count(*) AS n FROM v JOIN event_log(TABLE(m)) AS e ON v.id = e.id")
    assert row["n"] == len(log.sql("SELECT id FROM event_log('p')"))
    tidegate("sql", "-e", "CREATE TABLE kept AS SELECT * FROM event_log('p')")
    assert len(log.sql("SELECT id FROM kept")) == row["n"]


def test_event_log_leaves_no_temporary_file(tidegate, tmp_path):
    log = Logged(tidegate)
    log.work()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    log.sql("SELECT id FROM event_log('p')", env={"TMPDIR": str(temporary)})
    assert not list(temporary.iterdir())


def test_event_log_tables_are_hidden(tidegate):
    log = Logged(tidegate)
    log.work()
    log.work()
    assert log.table().exists()
    assert [row["tableName"] for row in log.sql("SHOW TABLES")] == ["m"]
    assert log.sql(f"SELECT count(*) AS n FROM {log.table().name}")[0]["n"] > 0


@pytest.mark.parametrize(("query", "error", "hint"), [
    ("event_log('q')", "TIDEGATE_UNKNOWN_PIPELINE", "Its name is 'p', its id '"),
    ("event_log(TABLE(mm))", "TABLE_OR_VIEW_NOT_FOUND", "Did you mean `m`?"),
    ("event_log(TABLE(other))", "TIDEGATE_UNKNOWN_PIPELINE", "no pipeline writes table main.default.other"),
    ("event_log()", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "takes 1 argument"),
    ("event_log('p', 'q')", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "not 2"),
    ("event_log(m)", "DATATYPE_MISMATCH", "event_log(TABLE(my_table))"),
    ("event_log(NULL)", "DATATYPE_MISMATCH", "string literal"),
    ("evnt_log('p')", "UNSUPPORTED_FEATURE", "Did you mean event_log?"),
    ("range(3)", "UNSUPPORTED_FEATURE", "table functions are not available"),
    ("STREAM event_log('p')", "UNSUPPORTED_FEATURE", "as a stream"),
])
def test_event_log_refuses(tidegate, query, error, hint):
    log = Logged(tidegate)
    log.work()
    tidegate("sql", "-e", "CREATE TABLE other (a INT)")
    done = tidegate("sql", "-e", f"SELECT * FROM {query}", status=None)
    assert done.returncode != 0
    assert f"[{error}]" in done.stderr
    assert hint in done.stderr
    assert "-e:1:" in done.stderr


def test_event_log_of_another_pipelines_table(tidegate, tmp_path):
    log = Logged(tidegate)
    log.work()
    spec = log.folder / "spark-pipeline.yml"
    text = spec.read_text()
    spec.write_text(text.replace('"st"', '"st2"').replace('"p"', '"q"'))
    done = tidegate("sql", "-e", "SELECT * FROM event_log(TABLE(m))", status=None)
    assert "[TIDEGATE_UNKNOWN_PIPELINE]" in done.stderr
    assert "belongs to pipeline" in done.stderr
    done = tidegate("sql", "-e", "SELECT * FROM event_log('p')", status=None)
    assert "it has no id before its first run" in done.stderr


def test_event_log_needs_the_spec(tidegate):
    log = Logged(tidegate)
    log.work()
    done = tidegate("sql", "--warehouse", "wh", "-e", "SELECT * FROM event_log(TABLE(m))", status=None)
    assert done.returncode != 0
    assert "event_log needs the pipeline's spec" in done.stderr


def test_event_log_in_a_pipeline_is_refused(tidegate):
    Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM event_log('p')")
    done = tidegate("run", status=3)
    assert "event_log cannot be read in a pipeline's own flows" in done.stderr
