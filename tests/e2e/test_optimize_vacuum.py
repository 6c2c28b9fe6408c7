# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE and VACUUM: no row changes, what others need stays, and refreshes do not notice."""
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.parse

import deltalake
import polars
import pyarrow.parquet
import pytest
from standalone import THOUSAND, Warehouse
from test_coverage import NOW, SCHEMA, day
from test_coverage import project  # noqa: F401  # pylint: disable=unused-import
from test_coverage import rows as coverage_rows

UNCHECKED = "SET spark.databricks.delta.retentionDurationCheck.enabled = false"


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)",
             *(f"INSERT INTO t VALUES ({n}, 'x'), ({n + 100}, 'a/b=c d%é'), ({n + 200}, NULL)" for n in range(4)))
    return made


def live(warehouse, name="t"):
    paths = {row["path"] for row in pyarrow.table(warehouse.table(name).get_add_actions()).to_pylist()}
    return {path if (warehouse.path(name) / path).exists() else urllib.parse.unquote(path) for path in paths}


def files(warehouse, name="t"):
    folder = warehouse.path(name)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "_delta_log" not in path.parts}


def metrics(warehouse, statement):
    return warehouse.rows(statement)[0][1]


def actions(warehouse, name="t"):
    path = warehouse.path(name) / "_delta_log" / f"{warehouse.table(name).version():020}.json"
    return [json.loads(line) for line in path.read_text().splitlines()]


def age(warehouse, days, name="t"):
    then = time.time() - days * 86400
    for path in warehouse.path(name).rglob("*"):
        if "_delta_log" not in path.parts:
            os.utime(path, (then, then))


# ---- OPTIMIZE --------------------------------------------------------------------------------------


def test_small_files_become_one_per_partition(warehouse):
    before = warehouse.foreign("t")
    told = metrics(warehouse, "OPTIMIZE t")
    assert (told["numFilesAdded"], told["numFilesRemoved"], told["partitionsOptimized"], told["numBatches"]) == (3, 12, 3, 1)
    assert len(live(warehouse)) == 3
    done = actions(warehouse)
    assert done[0]["commitInfo"]["operation"] == "OPTIMIZE" and done[0]["commitInfo"]["operationMetrics"]["numRemovedFiles"] == "12"
    assert all(action[kind]["dataChange"] is False for action in done for kind in ("add", "remove") if kind in action)
    assert warehouse.foreign("t") == before
    assert sorted(polars.read_delta(str(warehouse.path("t"))).rows(), key=str) == sorted(map(tuple, before), key=str)
    assert warehouse.rows("SELECT count(*), sum(a) FROM t") == [[12, sum(range(4)) * 3 + 1200]]
    version = warehouse.table("t").version()
    assert metrics(warehouse, "OPTIMIZE t")["numFilesAdded"] == 0
    assert warehouse.table("t").version() == version


def test_of_some_partitions(warehouse):
    told = metrics(warehouse, "OPTIMIZE t WHERE p = 'a/b=c d%é' OR p IS NULL")
    assert (told["numFilesAdded"], told["numFilesRemoved"], told["partitionsOptimized"]) == (2, 8, 2)
    said = actions(warehouse)[0]["commitInfo"]["operationParameters"]["predicate"]
    assert json.loads(said) == ["p = 'a/b=c d%é' OR p IS NULL"]
    assert metrics(warehouse, "OPTIMIZE t WHERE p > 'zz'")["totalConsideredFiles"] == 0
    assert "^" in warehouse.fails("OPTIMIZE t WHERE p = 'x' AND a = 1", "DELTA_NON_PARTITION_COLUMN_SPECIFIED", "'a'")
    warehouse.fails("OPTIMIZE t ZORDER BY (a)", "UNSUPPORTED_FEATURE", "ZORDER BY", "CLUSTER BY")
    warehouse.fails("OPTIMIZE t FULL", "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED")
    warehouse.fails("OPTIMIZE t WERE p = 'x'", "PARSE_SYNTAX_ERROR")


def test_up_to_the_target_size(warehouse):
    warehouse.run("CREATE TABLE s (a BIGINT)", *(f"INSERT INTO s SELECT id + {n}000 FROM {THOUSAND}" for n in range(6)))
    size = max(row["size_bytes"] for row in pyarrow.table(warehouse.table("s").get_add_actions()).to_pylist())
    warehouse.run(f"ALTER TABLE s SET TBLPROPERTIES ('delta.targetFileSize' = '{2 * size + 10}')")
    assert metrics(warehouse, "OPTIMIZE s")["numFilesAdded"] == 3
    assert warehouse.rows("SELECT count(*), min(a), max(a) FROM s") == [[6000, 0, 5999]]
    warehouse.run("ALTER TABLE s SET TBLPROPERTIES ('delta.targetFileSize' = '1b')")
    assert metrics(warehouse, "OPTIMIZE s")["numFilesRemoved"] == 0


def first_column(warehouse, name):
    """The values of each live file, in the file's order."""
    return [pyarrow.parquet.read_table(warehouse.path(name) / path).column(0).to_pylist() for path in sorted(live(warehouse, name))]


def test_clustered_rows_are_sorted(warehouse):
    warehouse.run("CREATE TABLE c (k INT, v STRING) CLUSTER BY (k, v)", f"INSERT INTO c SELECT id * 7919 % 1000, 'v' FROM {THOUSAND}",
                  f"INSERT INTO c SELECT id * 7919 % 1000, 'w' FROM {THOUSAND}")
    assert [values == sorted(values) for values in first_column(warehouse, "c")] == [True, True]
    assert warehouse.rows("DESCRIBE DETAIL c")[0][8] == ["k", "v"]
    assert warehouse.table("c").protocol().min_writer_version == 2  # no table feature
    metrics(warehouse, "OPTIMIZE c")
    values, = first_column(warehouse, "c")
    assert values == sorted(values) and len(values) == 2000
    warehouse.run("ALTER TABLE c CLUSTER BY (v)", "OPTIMIZE c FULL")
    path, = live(warehouse, "c")
    kept = pyarrow.parquet.read_table(warehouse.path("c") / path).column("v").to_pylist()
    assert kept == sorted(kept)
    warehouse.run("ALTER TABLE c CLUSTER BY NONE")
    assert warehouse.rows("DESCRIBE DETAIL c")[0][8] == []
    warehouse.fails("ALTER TABLE c CLUSTER BY (kk)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "Did you mean `k`?")
    warehouse.fails("CREATE TABLE e (a ARRAY<INT>) CLUSTER BY (a)", "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", "array<int>")


def test_flows_sort_what_they_write(project):  # noqa: F811
    def definition(clause):
        (project.folder / "transformations" / "u.sql").write_text(
            f"CREATE STREAMING TABLE u {clause} FLOW REPLACE WHERE d >= current_date() - 3 BY NAME SELECT d, -v AS v FROM s;")
    definition("CLUSTER BY (v)")
    project.run(NOW)
    assert deltalake.DeltaTable(project.path("u")).to_pyarrow_table().column("v").to_pylist() == [-11, -10, -9, -8, -7]
    assert json.loads(deltalake.DeltaTable(project.path("u")).metadata().configuration["tidegate.clusterBy"]) == ["v"]
    definition("")
    project.run(NOW)
    assert "tidegate.clusterBy" not in deltalake.DeltaTable(project.path("u")).metadata().configuration
    definition("CLUSTER BY (w)")
    assert "clustering column `w` is not a column" in project.tidegate("run", "--now", NOW, status=None).stderr


def test_an_empty_table(warehouse):
    warehouse.run("CREATE TABLE e (a INT)")
    assert metrics(warehouse, "OPTIMIZE e")["numFilesAdded"] == 0
    assert warehouse.rows("VACUUM e DRY RUN") == []
    assert warehouse.table("e").version() == 0


def test_nested_and_evolved_rows(warehouse):
    warehouse.run("CREATE TABLE n (a INT)", "INSERT INTO n VALUES (1)", "ALTER TABLE n ADD COLUMN s STRUCT<x: INT, l: ARRAY<STRING>>",
                  "INSERT INTO n SELECT 2, named_struct('x', 1, 'l', array('q', NULL))", "OPTIMIZE n")
    assert len(live(warehouse, "n")) == 1
    assert warehouse.rows("SELECT a, s.x, s.l FROM n") == [[1, None, None], [2, 1, ["q", None]]]


WRITER = """
import subprocess, sys
for i in range(15):
    statements = ["-e", f"INSERT INTO t VALUES ({i}, 'new')", "-e", f"DELETE FROM t WHERE a = {i} AND p = 'x'"]
    done = subprocess.run([sys.argv[1], "sql", "--warehouse", "wh", *statements], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
"""


def test_beside_another_writer(warehouse):
    """Both statements run while another process appends and deletes: its rows are whole, and so is the table."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), os.environ["TIDEGATE_BIN"]], cwd=warehouse.folder) as writer:
        while writer.poll() is None:
            warehouse.run("OPTIMIZE t", "VACUUM t", "VACUUM t RETAIN 169 HOURS")
    assert writer.returncode == 0
    expected = [[n, "new"] for n in range(15)] + [[n + 100, "a/b=c d%é"] for n in range(4)] + [[n + 200, None] for n in range(4)]
    assert warehouse.foreign("t") == sorted(expected, key=str)
    metrics(warehouse, "OPTIMIZE t")
    assert warehouse.foreign("t") == sorted(expected, key=str)


# ---- flows -----------------------------------------------------------------------------------------


def test_a_refresh_does_not_notice(project):  # noqa: F811
    (project.folder / "transformations" / "u.sql").write_text(
        "CREATE STREAMING TABLE u FLOW REPLACE WHERE d >= current_date() - 3 BY NAME SELECT d, v FROM s;")
    for now in (10, 11, 12):
        project.write("s", SCHEMA, [(day(n), n) for n in range(1, now + 1)])
        project.run(f"2024-03-{now}")
    before = sorted(map(str, project.delta_rs("u")))
    assert len(deltalake.DeltaTable(project.path("u")).file_uris()) > 1
    project.tidegate("sql", "-e", "OPTIMIZE u")
    assert len(deltalake.DeltaTable(project.path("u")).file_uris()) == 1
    flow, = (flow for flow in project.run("2024-03-12")["flows"] if flow["flow_name"].endswith(".u"))
    assert flow["technique"] == "NO_OP" and sorted(map(str, project.delta_rs("u"))) == before
    flow, = (flow for flow in project.run("2024-03-13")["flows"] if flow["flow_name"].endswith(".u"))
    assert "EXTERNAL_CHANGE_IN_REPLACE_WINDOW" not in flow["fallback_reasons"]
    assert sorted(map(str, project.delta_rs("u"))) == before


def test_a_refresh_after_vacuum(project):  # noqa: F811
    project.write("s", SCHEMA, [(day(n), 2 * n) for n in range(1, 12)])
    project.run(NOW)
    folder = project.folder / "warehouse" / "main" / "default"
    for path in folder.rglob("*.parquet"):
        os.utime(path, (0, 0))
    for name in ("t", "s"):
        project.tidegate("sql", "-e", UNCHECKED, "-e", f"VACUUM {name} RETAIN 0 HOURS")
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"
    project.write("s", SCHEMA, [(day(n), 3 * n) for n in range(1, 12)])
    project.run(NOW)
    assert coverage_rows(project) == [(n, 3 * n) for n in range(7, 12)]


# ---- VACUUM ----------------------------------------------------------------------------------------


def test_only_what_nobody_needs_goes(warehouse):
    warehouse.run("OPTIMIZE t")
    needed, old = live(warehouse), files(warehouse) - live(warehouse)
    assert len(old) == 12
    assert warehouse.rows("VACUUM t DRY RUN") == []  # removed, but a reader may still be at it
    age(warehouse, 8)
    assert warehouse.rows("VACUUM t DRY RUN") == []  # old files, removed just now
    listed = warehouse.run(UNCHECKED, "VACUUM t RETAIN 0 HOURS DRY RUN", options=("--format", "csv")).stdout.splitlines()
    assert {line for line in listed if line.endswith(".parquet")} == {str(warehouse.path("t") / path) for path in old}
    assert files(warehouse) == needed | old
    before = warehouse.foreign("t")
    done = warehouse.run(UNCHECKED, "VACUUM t RETAIN 0 HOURS")
    assert "deleted 12 files" in done.stderr
    assert files(warehouse) == needed
    assert warehouse.foreign("t") == before
    assert warehouse.run("SELECT * FROM t VERSION AS OF 2", status=1).stderr


def test_retention(warehouse):
    told = warehouse.fails("VACUUM t RETAIN 167.9 HOURS", "TIDEGATE_VACUUM_RETENTION_TOO_SHORT", "168 hours", "retentionDurationCheck")
    assert "^^^^^" in told
    warehouse.run("VACUUM t RETAIN 168 HOURS")
    warehouse.run("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 2 hours')", "VACUUM t RETAIN 2 HOURS")
    warehouse.fails("VACUUM t RETAIN 1 HOUR", "TIDEGATE_VACUUM_RETENTION_TOO_SHORT", "2 hours")
    warehouse.fails("VACUUM t RETAIN soon HOURS", "PARSE_SYNTAX_ERROR")
    warehouse.fails("VACUUM t RETAIN 3 DAYS", "PARSE_SYNTAX_ERROR", "HOURS")
    warehouse.fails("VACUUM t LITE", "UNSUPPORTED_FEATURE", "LITE")
    warehouse.fails("SET spark.databricks.delta.retentionDurationCheck.enabled = maybe", "UNSUPPORTED_FEATURE", "true or false")


def test_what_is_left_alone(warehouse):
    table = warehouse.path("t")
    other = table / "sub" / "other"
    kept = ["_hidden.parquet", ".crc", "_folder/x.parquet", "p=x/_temp.parquet", "young.parquet", "sub/other/_delta_log/x.json",
            "sub/other/y.parquet"]
    gone = ["orphan.parquet", "p=x/orphan é%20.parquet", "notes.txt", "_change_data/cdc-1.parquet", "_change_data/p=x/cdc-2.parquet"]
    for name in kept + gone:
        (table / name).parent.mkdir(parents=True, exist_ok=True)
        (table / name).write_text("x")
    (table / "empty").mkdir()
    outside = warehouse.folder / "outside.parquet"
    outside.write_text("x")
    (table / "link.parquet").symlink_to(outside)
    (table / "folder-link").symlink_to(warehouse.folder)
    age(warehouse, 9)
    os.utime(table / "young.parquet")
    rows = warehouse.foreign("t")
    warehouse.run("VACUUM t")
    assert [name for name in kept if not (table / name).exists()] == []
    assert [name for name in gone if (table / name).exists()] == []
    assert not (table / "empty").exists() and other.exists() and outside.exists()
    assert (table / "link.parquet").is_symlink() and (table / "folder-link").is_symlink()
    assert warehouse.foreign("t") == rows


def test_partition_columns_with_hidden_names(warehouse):
    warehouse.run("CREATE TABLE h (a INT, _p INT) PARTITIONED BY (_p)", "INSERT INTO h VALUES (1, 1)", "DELETE FROM h")
    age(warehouse, 9, "h")
    warehouse.run(UNCHECKED, "VACUUM h RETAIN 0 HOURS")
    assert files(warehouse, "h") == set()


def test_files_of_deletion_vectors(warehouse):
    """Of a live file, and of one that was removed just now; the third is nobody's."""
    table = warehouse.path("t")
    names = ["ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin", "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
             "deletion_vector_00000000-0000-0000-0000-000000000000.bin"]
    (table / "ab").mkdir()
    for name in names:
        (table / name).write_bytes(b"x")
    first, second = sorted(live(warehouse))[:2]
    path = {file["path"]: file for log in sorted((table / "_delta_log").glob("*.json")) for line in log.read_text().splitlines()
            for kind, file in json.loads(line).items() if kind == "add"}
    vector = {"storageType": "u", "offset": 1, "sizeInBytes": 34, "cardinality": 1}
    encoded = sorted(path)[:2]
    lines = [{"remove": {**path[encoded[0]], "deletionTimestamp": 1, "extendedFileMetadata": True}},
             {"add": {**path[encoded[0]], "deletionVector": {**vector, "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^"}}},
             {"remove": {**path[encoded[1]], "deletionTimestamp": int(time.time() * 1000), "extendedFileMetadata": True,
                         "deletionVector": {**vector, "pathOrInlineDv": "^-aqEH.-t@S}K{vb[*k^"}}}]
    (table / "_delta_log" / f"{5:020}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    age(warehouse, 9)
    warehouse.run("VACUUM t")
    assert [(table / name).exists() for name in names] == [True, True, False]
    assert first and second


@pytest.mark.parametrize("more", [False, True])
def test_rows_that_deletion_vectors_took(warehouse, golden, more):
    folder = warehouse.folder / "dv"
    shutil.copytree(golden / "delta" / "table-with-dv-small" / "table", folder)
    name = f"delta.`{folder}`"
    if more:
        warehouse.run(f"INSERT INTO {name} VALUES (100)")
    before = warehouse.rows(f"SELECT * FROM {name}")
    told = metrics(warehouse, f"OPTIMIZE {name}")
    assert (told["numFilesAdded"], told["numFilesRemoved"]) == (1, 1 + more)
    assert warehouse.rows(f"SELECT * FROM {name}") == before
    assert metrics(warehouse, f"OPTIMIZE {name}")["numFilesAdded"] == 0
    reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(folder)))
    assert pyarrow.table(reader.execute("SELECT count(*) AS n FROM t").read_all()).to_pylist() == [{"n": len(before)}]
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    warehouse.run(UNCHECKED, f"VACUUM {name} RETAIN 0 HOURS")
    assert len([path for path in folder.iterdir() if path.is_file()]) == 1
    assert warehouse.rows(f"SELECT * FROM {name}") == before


def test_two_at_once(warehouse):
    warehouse.run("OPTIMIZE t")
    for n in range(300):
        (warehouse.path("t") / f"orphan-{n}.parquet").write_text("x")
    age(warehouse, 9)
    run = [os.environ["TIDEGATE_BIN"], "sql", "--warehouse", "wh", "-e", "VACUUM t"]
    both = [subprocess.Popen(run, cwd=warehouse.folder, stdout=subprocess.DEVNULL) for _ in range(2)]  # pylint: disable=consider-using-with
    assert [process.wait(60) for process in both] == [0, 0]
    assert not [name for name in files(warehouse) if name.startswith("orphan")]


def test_a_path_that_holds_blanks(warehouse):
    folder = warehouse.folder / "a b" / "t é"
    deltalake.write_deltalake(str(folder), pyarrow.table({"a": [1]}))
    deltalake.write_deltalake(str(folder), pyarrow.table({"a": [2]}), mode="append")
    warehouse.run(f"OPTIMIZE '{folder}'", f"VACUUM '{folder}'")
    assert warehouse.rows(f"SELECT * FROM delta.`{folder}`") == [[1], [2]]
    assert warehouse.rows(f"DESCRIBE DETAIL '{folder}'")[0][9] == 1
