# SPDX-License-Identifier: Apache-2.0
"""table_changes() over tables that delta-rs wrote, against the change feed that delta-rs reads."""
import json
import os

import deltalake
import pyarrow as pa
import pytest

ON = {"delta.enableChangeDataFeed": "true"}


def rows_of(ids, day="a"):
    return pa.table({"id": pa.array(ids, pa.int64()), "day": pa.array([day] * len(ids))})


@pytest.fixture(name="table", params=[None, ["day"]])
def fixture_table(request, tmp_path):
    """Insert, update and delete with change data files; a whole file that goes; an append of another day."""
    table = tmp_path / "feed"
    deltalake.write_deltalake(table, rows_of([1, 2, 3]), partition_by=request.param, configuration=ON)
    deltalake.DeltaTable(table).update(predicate="id = 2", updates={"id": "20"})
    deltalake.DeltaTable(table).delete("id = 3")
    deltalake.write_deltalake(table, rows_of([7, 8], "b"), mode="append")
    deltalake.DeltaTable(table).delete("day = 'b'")
    for version in range(5):
        os.utime(commit_file(table, version), (1_700_000_000 + 100 * version,) * 2)
    return table


def commit_file(table, version):
    return table / "_delta_log" / f"{version:020d}.json"


def changes(tidegate, table, arguments, columns="id, day, _change_type, _commit_version"):
    sql = f"SELECT {columns} FROM table_changes('delta.`{table}`', {arguments})"
    done = tidegate("sql", "--timezone", "UTC", "--format", "rows", "-e", sql)
    return sorted(json.loads(line) for line in done.stdout.splitlines()[1:])


def foreign(table, first, last):
    feed = deltalake.DeltaTable(table).load_cdf(starting_version=first, ending_version=last)
    names = ["id", "day", "_change_type", "_commit_version"]
    return sorted([row[name] for name in names] for row in pa.table(feed.read_all()).to_pylist())


def test_same_changes_as_delta_rs(tidegate, table):
    for first in range(5):
        for last in range(first, 5):
            assert changes(tidegate, table, f"{first}, {last}") == foreign(table, first, last), (first, last)
    assert changes(tidegate, table, "0") == foreign(table, 0, 4)
    assert changes(tidegate, table, "1, 1") == [[2, "a", "update_preimage", 1], [20, "a", "update_postimage", 1]]


def test_times(tidegate, table):
    """The start is the first version that is not older, the end the last that is not younger."""
    at = "2023-11-14T22:1{}"  # version 0 is of 22:13:20
    assert changes(tidegate, table, f"'{at.format('3:21')}', '{at.format('6:40')}'") == foreign(table, 1, 2)
    assert changes(tidegate, table, f"'{at.format('5:00')}', '{at.format('5:00')}'") == foreign(table, 1, 1)
    assert changes(tidegate, table, "'2020-01-01', 1") == foreign(table, 0, 1)
    got = changes(tidegate, table, "1, 1", "DISTINCT _commit_version, CAST(_commit_timestamp AS STRING)")
    assert got == [[1, "2023-11-14 22:15:00"]]


def test_queries_over_changes(tidegate, table):
    assert changes(tidegate, table, "0", "count(*)") == [[10]] == [[len(foreign(table, 0, 4))]]
    sql = (f"SELECT c.id FROM table_changes('delta.`{table}`', 0, 4) c LEFT ANTI JOIN delta.`{table}` t ON c.id = t.id "
           "WHERE c._change_type = 'insert' ORDER BY c.id")
    done = tidegate("sql", "--format", "rows", "-e", sql)
    assert [json.loads(line)[0] for line in done.stdout.splitlines()[1:]] == [2, 3, 7, 8]


@pytest.mark.parametrize(("arguments", "error"), [
    ("3, 2", "DELTA_INVALID_CDC_RANGE"),
    ("9", "DELTA_CDC_START_VERSION_AFTER_LATEST"),
    ("0, 9", "DELTA_VERSION_NOT_FOUND"),
    ("-1", "DELTA_VERSION_NOT_FOUND"),
    ("NULL", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
    ("0, NULL", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
    ("'2040-01-01'", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
    ("rand()", "DELTA_CDC_NON_CONSTANT_ARGUMENT"),
    ("0, 1, 2", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
])
def test_ranges_that_are_refused(tidegate, table, arguments, error):
    sql = f"SELECT * FROM table_changes('delta.`{table}`', {arguments})"
    assert f"[{error}]" in tidegate("sql", "-e", sql, status=1).stderr


def test_names_that_are_refused(tidegate, table):
    for call, error in ((f"table_changes('delta.`{table}`')", "DELTA_NO_START_FOR_CDC_READ"),
                        ("table_changes('no.such.t', 0)", "TABLE_OR_VIEW_NOT_FOUND"),
                        ("table_changes('a b', 0)", "PARSE_SYNTAX_ERROR"),
                        ("table_changes(7, 0)", "DATATYPE_MISMATCH")):
        assert f"[{error}]" in tidegate("sql", "-e", f"SELECT * FROM {call}", status=1).stderr
    assert "Did you mean table_changes?" in tidegate("sql", "-e", "SELECT * FROM table_change('t', 0)", status=1).stderr


def test_feed_that_was_off(tidegate, tmp_path):
    table = tmp_path / "late"
    deltalake.write_deltalake(table, rows_of([1]))
    deltalake.DeltaTable(table).alter.set_table_properties(ON)
    deltalake.write_deltalake(table, rows_of([2]), mode="append")
    sql = f"SELECT * FROM table_changes('delta.`{table}`', 0)"
    message = tidegate("sql", "-e", sql, status=1).stderr
    assert "[DELTA_MISSING_CHANGE_DATA]" in message and "version 0" in message
    assert changes(tidegate, table, "1") == [[2, "a", "insert", 2]]


def test_columns_that_came_and_went(tidegate, tmp_path):
    table = tmp_path / "evolved"
    deltalake.write_deltalake(table, rows_of([1]).select(["id"]), configuration=ON)
    deltalake.write_deltalake(table, rows_of([2]), mode="append", schema_mode="merge")
    assert changes(tidegate, table, "0") == [[1, None, "insert", 0], [2, "a", "insert", 1]]
    deltalake.write_deltalake(table, pa.table({"other": [1]}), mode="overwrite", schema_mode="overwrite")
    sql = f"SELECT * FROM table_changes('delta.`{table}`', 0)"
    message = tidegate("sql", "-e", sql, status=1).stderr
    assert "[DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE]" in message
