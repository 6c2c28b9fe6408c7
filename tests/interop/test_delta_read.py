# SPDX-License-Identifier: Apache-2.0
"""Tables that delta-rs writes and tidegate reads, and the other way round; both go on writing to the other's table."""

import datetime
import json
import pathlib

import deltalake
import pyarrow as pa
import pytest

PARTITIONS = ["a b", "x/y", "50%", "q?=", "#h", "é", "::", "a%2Fb"]


@pytest.fixture(name="tidegate")
def fixture_tidegate(tidegate):
    """Runs SQL text; gives the rows of the last query as objects."""

    def run(sql, status=0):
        done = tidegate("sql", "--warehouse", "warehouse", "--format", "json", "-e", sql, status=status)
        if status:
            return done.stderr
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    return run


def commit_file(table: pathlib.Path, version: int) -> pathlib.Path:
    return table / "_delta_log" / f"{version:020d}.json"


def forget_commits(table: pathlib.Path, below: int) -> None:
    """What log cleanup does: the checkpoint must then stand alone."""
    for version in range(below):
        commit_file(table, version).unlink()


def write_foreign(table: pathlib.Path, rounds: int) -> None:
    for i in range(rounds * len(PARTITIONS)):
        rows = pa.table({"k": pa.array([PARTITIONS[i % len(PARTITIONS)]]), "n": pa.array([i], pa.int64())})
        deltalake.write_deltalake(table, rows, mode="append", partition_by=["k"])


def test_foreign_partitions(tmp_path, tidegate):
    table = tmp_path / "foreign"
    write_foreign(table, rounds=2)
    query = f"SELECT k, count(*) AS c, sum(n) AS s FROM delta.`{table}` GROUP BY k"
    expected = {name: (2, i + i + len(PARTITIONS)) for i, name in enumerate(PARTITIONS)}
    assert {row["k"]: (row["c"], row["s"]) for row in tidegate(query)} == expected
    deltalake.DeltaTable(table).create_checkpoint()
    forget_commits(table, below=10)
    assert {row["k"]: (row["c"], row["s"]) for row in tidegate(query)} == expected


def test_foreign_delete(tmp_path, tidegate):
    table = tmp_path / "foreign"
    write_foreign(table, rounds=1)
    deltalake.DeltaTable(table).delete("n < 3")
    assert tidegate(f"SELECT count(*) AS c, sum(n) AS s FROM delta.`{table}`") == [{"c": 5, "s": 25}]
    assert tidegate(f"SELECT count(*) AS c FROM delta.`{table}` VERSION AS OF 7") == [{"c": 8}]


def create_ours(tidegate, tmp_path, inserts: int) -> pathlib.Path:
    statements = ["CREATE TABLE main.default.t (id BIGINT, day DATE, name STRING) PARTITIONED BY (day)"]
    statements += [f"INSERT INTO main.default.t VALUES ({i}, DATE'2024-01-0{i % 3 + 1}', 'n {i}')" for i in range(inserts)]
    tidegate(";\n".join(statements))
    return tmp_path / "warehouse/main/default/t"


def test_our_checkpoint(tmp_path, tidegate):
    table = create_ours(tidegate, tmp_path, inserts=12)
    before = deltalake.DeltaTable(table).to_pyarrow_table().sort_by("id")
    assert before["id"].to_pylist() == list(range(12))
    assert before["day"].to_pylist()[0] == datetime.date(2024, 1, 1)
    assert (table / "_delta_log/_last_checkpoint").exists()
    forget_commits(table, below=10)
    assert deltalake.DeltaTable(table).to_pyarrow_table().sort_by("id").equals(before)
    assert tidegate("SELECT count(*) AS c, sum(id) AS s FROM main.default.t") == [{"c": 12, "s": 66}]


def test_both_write(tmp_path, tidegate):
    table = create_ours(tidegate, tmp_path, inserts=2)
    rows = pa.table({"id": pa.array([100], pa.int64()), "day": pa.array([datetime.date(2024, 5, 1)]), "name": ["x%/ é"]})
    deltalake.write_deltalake(table, rows, mode="append")
    tidegate("INSERT INTO main.default.t VALUES (101, NULL, 'null day')")
    got = deltalake.DeltaTable(table).to_pyarrow_table().sort_by("id")
    assert got["id"].to_pylist() == [0, 1, 100, 101]
    assert got["day"].to_pylist()[3] is None
    assert [row["name"] for row in tidegate("SELECT name FROM main.default.t ORDER BY id")] == ["n 0", "n 1", "x%/ é", "null day"]


def test_damage_is_named(tmp_path, tidegate):
    table = tmp_path / "foreign"
    write_foreign(table, rounds=1)
    with commit_file(table, 3).open("a", encoding="utf-8") as file:
        file.write('\n{"add":{"path":7}}\n')
    message = tidegate(f"SELECT * FROM delta.`{table}`", status=1)
    assert "TIDEGATE_DELTA_LOG_INVALID" in message
    assert "00000000000000000003.json` is damaged at line" in message and "add: path is not a string" in message


def test_a_created_table_takes_nulls(tmp_path, tidegate):
    """The rows of CREATE TABLE AS hold no NULL; those that follow may."""
    tidegate("""CREATE TABLE t AS SELECT 1 AS n, 'a' AS s, array(1) AS a, map('k', 1) AS m,
                named_struct('x', 1, 'y', array(named_struct('z', 2))) AS o""")
    table = next((tmp_path / "warehouse").rglob("_delta_log")).parent
    text = deltalake.DeltaTable(table).schema().to_json()
    assert '"nullable":true' in text.replace(" ", "")
    for word in ("nullable", "containsNull", "valueContainsNull"):
        assert f'"{word}":false' not in text.replace(" ", "")
    tidegate("INSERT INTO t VALUES (NULL, NULL, array(NULL), map('k', NULL), named_struct('x', NULL, 'y', array(named_struct('z', NULL))))")
    tidegate("INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL)")
    rows = sorted(deltalake.DeltaTable(table).to_pyarrow_table().to_pylist(), key=str)
    assert [row["n"] for row in rows].count(None) == 2
    assert {"n": None, "s": None, "a": [None], "m": [("k", None)], "o": {"x": None, "y": [{"z": None}]}} in rows
    assert {"n": None, "s": None, "a": None, "m": None, "o": None} in rows
