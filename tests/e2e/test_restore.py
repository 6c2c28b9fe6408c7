# SPDX-License-Identifier: Apache-2.0
"""Going back to an earlier version: the rows, the commit in the log, what is refused, and what the next run makes of it."""
import json
import os
import subprocess
import time

import deltalake
import pyarrow as pa
import pytest
from test_coverage import NOW, SCHEMA, day, define, parts
from test_coverage import project  # noqa: F401  # pylint: disable=unused-import
from test_coverage import rows


def rewrite(project, factor, now=NOW):
    project.write("s", SCHEMA, [(day(n), factor * n) for n in range(1, 12)])
    return project.run(now)


@pytest.fixture
def history(project):  # noqa: F811
    """Version 0: v = day, 1: twice that, 2: three times."""
    project.updates = [rewrite(project, factor)["update_id"] for factor in (2, 3)]
    assert project.version("t") == 2
    return project


def times(factor):
    return [(n, factor * n) for n in range(7, 12)]


def commit(project, version=None, name="t"):
    """Actions of a commit by kind."""
    version = project.version(name) if version is None else version
    found = {}
    path = f"{project.path(name)}/_delta_log/{version:020d}.json"
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            (kind, action), = json.loads(line).items()
            found.setdefault(kind, []).append(action)
    return found


@pytest.mark.parametrize("version", [0, 1])
def test_by_version(history, version):
    before = {add["path"] for add in commit(history, version)["add"]}
    done = history.tidegate("restore", "t", "--version", version)
    assert done.stdout == f"restored main.default.t to version {version}, as version 3 (5 files removed, 5 added again)\n"
    assert rows(history) == times(version + 1)
    actions = commit(history)
    assert sorted(actions) == ["add", "commitInfo", "remove"]  # no txn, and nothing about the definition
    assert all(action["dataChange"] for kind in ("add", "remove") for action in actions[kind])
    assert {add["path"] for add in actions["add"]} == before
    assert all(remove["extendedFileMetadata"] and remove["partitionValues"]["d"] for remove in actions["remove"])
    info, = actions["commitInfo"]
    assert (info["operation"], info["operationParameters"]) == ("RESTORE", {"version": str(version)})
    assert info["operationMetrics"] == {
        "tableSizeAfterRestore": str(sum(add["size"] for add in actions["add"])), "numOfFilesAfterRestore": "5",
        "numRemovedFiles": "5", "numRestoredFiles": "5",
        "removedFilesSize": str(sum(remove["size"] for remove in actions["remove"])),
        "restoredFilesSize": str(sum(add["size"] for add in actions["add"])),
    }
    assert deltalake.DeltaTable(history.path("t")).history(1)[0]["operation"] == "RESTORE"


def test_files_that_both_versions_have_stay(project):  # noqa: F811
    deltalake.DeltaTable(project.path("t")).update(predicate="d = DATE '2024-03-09'", updates={"v": "0"})
    done = project.tidegate("restore", "t", "--version", 0, "--json")
    told = json.loads(done.stdout)
    assert (told["table"], told["version"], told["committed_version"]) == ("main.default.t", 0, 2)
    assert (told["num_files_removed"], told["num_files_restored"], told["num_files"]) == (1, 1, 5)
    assert rows(project) == times(1)


def test_the_next_run_recomputes_what_was_hit(project):  # noqa: F811
    project.run("2024-03-12")
    deltalake.DeltaTable(project.path("t")).update(predicate="d IN (DATE '2024-03-08', DATE '2024-03-09')", updates={"v": "0"})
    project.tidegate("restore", "t", "--version", 0)
    flow, = project.run(NOW)["flows"]
    assert [part[1:] for part in parts(flow)] == [("NO_OP", None), ("RECOMPUTE", "EXTERNAL_CHANGE_IN_REPLACE_WINDOW")]
    assert rows(project) == times(1)
    flow, = project.run(NOW)["flows"]
    assert flow["technique"] == "NO_OP"


def test_the_next_run_makes_the_table_right_again(history):
    history.tidegate("restore", "t", "--version", 0)
    flow, = history.run(NOW)["flows"]
    assert flow["fallback_reasons"] == ["EXTERNAL_CHANGE_IN_REPLACE_WINDOW"]
    assert rows(history) == times(3)


def test_by_update(history):
    done = history.tidegate("restore", "t", "--update", history.updates[0], "--json")
    told = json.loads(done.stdout)
    assert (told["version"], told["committed_version"]) == (0, 3)
    assert rows(history) == times(1)


def test_an_update_that_wrote_nothing_here(history):
    idle = history.run(NOW)
    assert idle["flows"][0]["committed_version"] is None
    failed = history.tidegate("restore", "t", "--update", idle["update_id"], status=3)
    assert "[TIDEGATE_UNKNOWN_UPDATE]" in failed.stderr and "DESCRIBE HISTORY main.default.t" in failed.stderr
    part = history.updates[0][:20]
    assert "[TIDEGATE_UNKNOWN_UPDATE]" in history.tidegate("restore", "t", "--update", part, status=3).stderr


def test_the_update_that_made_the_table(tidegate):
    from project import Project  # pylint: disable=import-outside-toplevel
    made = Project(tidegate)
    define(made)
    made.write("s", SCHEMA, [(day(8), 1)])
    first = made.run(NOW)["update_id"]
    failed = made.tidegate("restore", "t", "--update", first, status=3)
    assert "[DELTA_VERSION_NOT_FOUND]" in failed.stderr and "no version before it" in failed.stderr


def test_by_timestamp(history):
    log = history.folder / "warehouse" / "main" / "default" / "t" / "_delta_log"
    for version, stamp in enumerate(["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z", "2024-05-03T10:00:00Z"]):
        at = time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
        os.utime(log / f"{version:020d}.json", (at, at))
    failed = history.tidegate("restore", "t", "--timestamp", "2024-05-01 09:00:00", status=3)
    assert "[DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION]" in failed.stderr
    # 11:00 in Lisbon is 10:00 UTC in summer.
    history.tidegate("restore", "t", "--timestamp", "2024-05-02 11:00:00", "--timezone", "Europe/Lisbon")
    assert rows(history) == times(2)
    assert commit(history)["commitInfo"][0]["operationParameters"] == {"version": "1", "timestamp": "2024-05-02 11:00:00"}


def test_the_version_that_is_there(history):
    done = history.tidegate("restore", "t", "--version", 2)
    assert done.stdout == "main.default.t is as it was at version 2; nothing was written\n"
    assert json.loads(history.tidegate("restore", "t", "--version", 2, "--json").stdout)["committed_version"] is None
    assert history.version("t") == 2
    history.tidegate("restore", "t", "--version", 1)
    history.tidegate("restore", "t", "--version", 1)  # once more: that state is there
    assert history.version("t") == 3


def test_missing_files(history):
    gone = commit(history, 1)["add"]
    for add in gone[:2]:
        os.unlink(f"{history.path('t')}/{add['path']}")
    failed = history.tidegate("restore", "t", "--version", 1, status=3)
    assert "[TIDEGATE_RESTORE_FILES_MISSING]" in failed.stderr
    assert "2 of the 5 data files" in failed.stderr and "tidegate run" in failed.stderr
    assert history.version("t") == 2
    assert rows(history) == times(3)


@pytest.mark.parametrize("arguments, status, text", [
    ((), 2, "one of --version, --timestamp and --update"),
    (("--version", "1", "--update", "x"), 2, "only one of --version, --timestamp and --update"),
    (("--version", "one"), 2, "--version takes the number of a version, not 'one'"),
    (("--version", "-1"), 2, "--version takes the number of a version"),
    (("--timestamp", "yesterday"), 2, "`yesterday` is not a date or timestamp"),
    (("--update", " "), 2, "--update takes the id of an update"),
    (("--version", "3"), 3, "[DELTA_VERSION_NOT_FOUND]"),
    (("--version", "99999999999999"), 3, "[DELTA_VERSION_NOT_FOUND]"),
    (("--version", "1", "--spec", "s.yml", "--warehouse", "w"), 2, "exclude each other"),
])
def test_bad_input(history, arguments, status, text):
    failed = history.tidegate("restore", "t", *arguments, status=status)
    assert text in failed.stderr and failed.stdout == ""
    assert history.version("t") == 2


@pytest.mark.parametrize("table, status, text", [
    ("tt", 3, "Did you mean `t`?"), ("a b", 2, "TABLE"), ("csv.`x.csv`", 3, "only Delta tables can"),
])
def test_other_tables(history, table, status, text):
    assert text in history.tidegate("restore", table, "--version", 0, status=status).stderr


def test_statement(history):
    done = history.tidegate("sql", "-e", "RESTORE TABLE t TO VERSION AS OF 1", "--format", "json")
    row = json.loads(done.stdout)
    assert list(row) == ["table_size_after_restore", "num_of_files_after_restore", "num_removed_files", "num_restored_files",
                         "removed_files_size", "restored_files_size"]
    assert (row["num_of_files_after_restore"], row["num_removed_files"]) == (5, 5)
    assert rows(history) == times(2)
    history.tidegate("sql", "-e", "RESTORE main.default.t VERSION AS OF '0'")
    assert rows(history) == times(1)
    path = history.path("t")
    history.tidegate("sql", "-e", f"RESTORE TABLE delta.`{path}` TO TIMESTAMP AS OF '2999-01-01'")
    assert history.version("t") == 4  # the newest: nothing to do


@pytest.mark.parametrize("statement, text", [
    ("RESTORE TABLE t", "Expected VERSION AS OF or TIMESTAMP AS OF"),
    ("RESTORE TABLE t TO VERSION AS OF", "PARSE_SYNTAX_ERROR"),
    ("RESTORE TABLE t TO VERSION AS OF 1 WHERE true", "PARSE_SYNTAX_ERROR"),
    ("RESTORE TABLE t TO VERSION AS OF 'one'", "AS OF needs a constant"),
    ("RESTORE TABLE t TO VERSION AS OF -1", "DELTA_VERSION_NOT_FOUND"),
    ("RESTORE TABLE t TO VERSION AS OF NULL", "AS OF needs a constant"),
    ("RESTORE TABLE nowhere TO VERSION AS OF 1", "TABLE_OR_VIEW_NOT_FOUND"),
])
def test_bad_statements(history, statement, text):
    failed = history.tidegate("sql", "-e", statement, status=None)
    assert failed.returncode in (1, 3) and text in failed.stderr
    assert history.version("t") == 2


def test_schema_and_properties_go_back_and_the_owner_stays(project):  # noqa: F811
    define(project, value="CAST(v AS STRING) || 'x' AS w, v")
    text = (project.folder / "transformations" / "t.sql").read_text()
    (project.folder / "transformations" / "t.sql").write_text(text.replace(" PARTITIONED", " TBLPROPERTIES ('a' = '1') PARTITIONED"))
    project.run(NOW)
    assert {"d", "w", "v"} == {field.name for field in deltalake.DeltaTable(project.path("t")).schema().fields}
    project.tidegate("restore", "t", "--version", 0)
    table = deltalake.DeltaTable(project.path("t"))
    assert [field.name for field in table.schema().fields] == ["d", "v"]
    assert "a" not in table.metadata().configuration
    assert table.metadata().configuration["tidegate.pipelineId"]
    assert commit(project)["metaData"][0]["id"] == commit(project, 0)["metaData"][0]["id"]
    assert rows(project) == times(1)
    project.run(NOW)
    assert {"d", "w", "v"} == {field.name for field in deltalake.DeltaTable(project.path("t")).schema().fields}


def test_an_older_owner_does_not_come_back(project):  # noqa: F811
    """The table was another's when that version was written: it stays this pipeline's."""
    first = deltalake.DeltaTable(project.path("t")).metadata().configuration["tidegate.pipelineId"]
    table = deltalake.DeltaTable(project.path("t"))
    table.alter.set_table_properties({"tidegate.pipelineId": "another"}, raise_if_not_exists=False)
    table.alter.set_table_properties({"tidegate.pipelineId": first}, raise_if_not_exists=False)
    deltalake.DeltaTable(project.path("t")).update(predicate="d = DATE '2024-03-09'", updates={"v": "0"})
    project.tidegate("restore", "t", "--version", 1)
    assert deltalake.DeltaTable(project.path("t")).metadata().configuration["tidegate.pipelineId"] == first
    assert rows(project) == times(1)


def test_a_table_that_only_allows_appends(tidegate):
    from project import Project  # pylint: disable=import-outside-toplevel
    made = Project(tidegate)
    table = pa.table({"d": [day(1)], "v": [1]}, schema=SCHEMA)
    for _ in range(2):
        deltalake.write_deltalake(made.path("s"), table, mode="append", configuration={"delta.appendOnly": "true"})
    failed = made.tidegate("restore", "s", "--version", 0, status=3)
    assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in failed.stderr
    assert made.version("s") == 1


def test_another_writers_table(tidegate):
    """Partitioned by odd texts, without statistics for some files, behind a checkpoint, no spec anywhere."""
    path = str(tidegate.folder / "w" / "c" / "s" / "t")
    schema = pa.schema([("k", pa.string()), ("v", pa.int64())])
    kinds = ["a b", "a=b/c%d", "ä", None]
    for number in range(12):
        table = pa.table({"k": [kinds[number % 4]], "v": [number]}, schema=schema)
        deltalake.write_deltalake(path, table, mode="append", partition_by=["k"],
                                  configuration={"delta.dataSkippingNumIndexedCols": "0"})
    deltalake.DeltaTable(path).create_checkpoint()
    deltalake.DeltaTable(path).delete("v >= 2")
    tidegate("restore", "c.s.t", "--version", 11, "--warehouse", "w")
    found = deltalake.DeltaTable(path).to_pyarrow_table().to_pylist()
    assert sorted((row["v"], row["k"]) for row in found) == sorted((n, kinds[n % 4]) for n in range(12))
    answer = tidegate("sql", "--warehouse", "w", "-e", "SELECT k, v FROM c.s.t ORDER BY v", "--format", "json").stdout
    assert [json.loads(line) for line in answer.splitlines()] == [{"k": kinds[n % 4], "v": n} for n in range(12)]


def test_while_others_write(history):
    """Whoever came first: the table is version 0, or version 0 and one row appended behind it."""
    binary = os.environ["TIDEGATE_BIN"]
    for _ in range(5):
        work = [subprocess.Popen([binary, *arguments], cwd=history.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for arguments in (("restore", "t", "--version", "0"),
                                  ("sql", "-e", "INSERT INTO t VALUES (DATE'2024-03-20', 20)"),
                                  ("restore", "t", "--version", "0"))]
        for process in work:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
        assert rows(history) in (times(1), times(1) + [(20, 20)])
        history.tidegate("restore", "t", "--version", 2)
        assert rows(history) == times(3)


def test_a_refresh_at_the_same_time(history):
    """The refresh and the restore in some order, and the next refresh makes it right in any case."""
    binary = os.environ["TIDEGATE_BIN"]
    for factor in range(4, 8):
        history.write("s", SCHEMA, [(day(n), factor * n) for n in range(1, 12)])
        work = [subprocess.Popen([binary, *arguments], cwd=history.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for arguments in (("restore", "t", "--version", "0"), ("run", "--now", NOW))]
        for process in work:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
        assert rows(history) in (times(1), times(factor))
        history.run(NOW)
        assert rows(history) == times(factor)
