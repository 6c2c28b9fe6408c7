# SPDX-License-Identifier: Apache-2.0
"""What the log says about new files: enough to skip them, never too much; delta-rs and Polars skip by it and find every row."""
import json
import math

import polars
import pytest
from standalone import Warehouse
from raw_table import RawTable


@pytest.fixture(name="warehouse")
def fixture_warehouse(tidegate):
    return Warehouse(tidegate)


def stats_of(warehouse, columns, values, properties=""):
    warehouse.run(f"CREATE TABLE t ({columns}) {properties}", f"INSERT INTO t VALUES {values}")
    texts = [add["stats"] for add in RawTable(warehouse.path("t")).actions("add")]
    assert len(texts) == 1
    return json.loads(texts[0], parse_float=str)


def bounds(stats, column):
    return stats["minValues"].get(column), stats["maxValues"].get(column), stats["nullCount"].get(column)


@pytest.mark.parametrize("type, values, low, high", [
    ("TINYINT", "(-3Y), (NULL), (7Y)", -3, 7),
    ("SMALLINT", "(-3S), (NULL), (7S)", -3, 7),
    ("INT", "(-3), (NULL), (7)", -3, 7),
    ("BIGINT", "(-9223372036854775808L), (NULL), (9223372036854775807L)", -(2**63), 2**63 - 1),
    ("DECIMAL(38,10)", "(-1234567890123456789012345678.0123456789BD), (NULL), (0.1BD)",
     "-1234567890123456789012345678.0123456789", "0.1000000000"),
    ("DECIMAL(5,0)", "(-3), (NULL), (7)", -3, 7),
    ("FLOAT", "(CAST('0.1' AS FLOAT)), (NULL), (CAST('-1.5' AS FLOAT))", "-1.5", "0.1"),
    ("DOUBLE", "(1e300D), (NULL), (-0.1D)", "-0.1", "1e+300"),
    ("DOUBLE", "(0.0D), (NULL), (-0.0D)", "-0.0", "0.0"),
    ("DOUBLE", "(1.0D), (NULL), (CAST('NaN' AS DOUBLE))", "1.0", None),
    ("DOUBLE", "(CAST('-Infinity' AS DOUBLE)), (NULL), (CAST('Infinity' AS DOUBLE))", None, None),
    ("DATE", "(DATE'0001-01-01'), (NULL), (DATE'9999-12-31')", "0001-01-01", "9999-12-31"),
    ("TIMESTAMP", "(TIMESTAMP'1969-12-31T23:59:59.999999Z'), (NULL), (TIMESTAMP'2024-01-01T00:00:00.000001Z')",
     "1969-12-31T23:59:59.999Z", "2024-01-01T00:00:00.001Z"),
    ("TIMESTAMP_NTZ", "(TIMESTAMP_NTZ'1969-12-31T23:59:59.999999'), (NULL), (TIMESTAMP_NTZ'2024-01-01T00:00:00.000001')",
     "1969-12-31T23:59:59.999", "2024-01-01T00:00:00.001"),
    ("STRING", "(repeat('a', 40)), (NULL), (repeat('z', 40))", "a" * 32, "z" * 32 + "\x7f"),
    ("STRING", "('é'), (NULL), (repeat('é', 33))", "é", "é" * 32 + "\U0010ffff"),
    ("STRING", "(''), (NULL), ('b')", "", "b"),
    ("BOOLEAN", "(true), (NULL), (false)", None, None),
    ("BINARY", "(X'00'), (NULL), (X'FF')", None, None),
])
def test_bounds_of_every_type(warehouse, type, values, low, high):
    stats = stats_of(warehouse, f"c {type}", values)
    assert stats["numRecords"] == 3
    assert bounds(stats, "c") == (low, high, 1)


def test_only_nulls_have_a_count_and_no_bounds(warehouse):
    assert bounds(stats_of(warehouse, "c STRING, d DOUBLE", "(NULL, NULL), (NULL, NULL)"), "c") == (None, None, 2)


def test_fields_of_structs_have_their_own(warehouse):
    stats = stats_of(warehouse, "s STRUCT<a: INT, `b.c`: STRUCT<d: DATE, l: ARRAY<INT>>>, l ARRAY<INT>, m MAP<STRING, INT>",
                     "(named_struct('a', 5, 'b.c', named_struct('d', DATE'2024-01-01', 'l', array(1))), array(1), map('k', 1)), (NULL, NULL, NULL)")
    assert stats == {"numRecords": 2, "minValues": {"s": {"a": 5, "b.c": {"d": "2024-01-01"}}},
                     "maxValues": {"s": {"a": 5, "b.c": {"d": "2024-01-01"}}}, "nullCount": {"s": {"a": 1, "b.c": {"d": 1}}}}


WIDE = "c0 INT, s STRUCT<x: INT, y: INT>, " + ", ".join(f"c{i} INT" for i in range(1, 35))
WIDE_ROW = "(0, named_struct('x', 1, 'y', 2), " + ", ".join(str(i) for i in range(1, 35)) + ")"


@pytest.mark.parametrize("properties, expected", [
    ("", ["c0", "s", *[f"c{i}" for i in range(1, 30)]]),  # 32 leaves: x and y count
    ("TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')", ["c0", "s"]),
    ("TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')", []),
    ("TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '-1')", ["c0", "s", *[f"c{i}" for i in range(1, 35)]]),
    ("TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'c34, s.y')", ["s", "c34"]),
    ("TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`c33`,S', 'delta.dataSkippingNumIndexedCols' = '1')", ["s", "c33"]),
])
def test_which_columns_have_statistics(warehouse, properties, expected):
    stats = stats_of(warehouse, WIDE, WIDE_ROW, properties)
    assert list(stats["minValues"]) == list(stats["maxValues"]) == list(stats["nullCount"]) == expected
    if "NumIndexedCols' = '2'" in properties:
        assert stats["minValues"]["s"] == {"x": 1}
    if "s.y" in properties:
        assert stats["minValues"]["s"] == {"y": 2}


VALUES = {
    "DOUBLE": ["1.0D", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "-0.0D"],
    "STRING": ["repeat('é', 40)", "concat(repeat('a', 32), '\\U0010FFFF')", "''", "'👿'"],
    "TIMESTAMP": ["TIMESTAMP'1969-12-31T23:59:59.999999Z'", "TIMESTAMP'2024-01-01T00:00:00.000001Z'"],
    "DECIMAL(38,18)": ["12345678901234567890.123456789012345678BD", "-0.000000000000000001BD"],
}


@pytest.mark.parametrize("type", VALUES)
def test_foreign_readers_find_every_row_by_its_value(warehouse, type):
    """One file per value, so that each can be skipped."""
    warehouse.run(f"CREATE TABLE t (k INT, c {type})", *(f"INSERT INTO t VALUES ({i}, {v})" for i, v in enumerate(VALUES[type])))
    for i, value in enumerate(VALUES[type]):
        assert [i] in warehouse.rows(f"SELECT k FROM t WHERE c = {value}")
        assert [i] in warehouse.rows(f"SELECT k FROM t WHERE c >= {value}")
    frame = polars.read_delta(str(warehouse.path("t")))
    for k, value in frame.select("k", "c").iter_rows():
        if isinstance(value, float) and math.isnan(value):
            continue
        lazy = polars.scan_delta(str(warehouse.path("t")))
        assert k in lazy.filter(polars.col("c") >= value).collect()["k"].to_list()
        assert k in lazy.filter(polars.col("c") <= value).collect()["k"].to_list()
    assert len(warehouse.foreign("t")) == len(VALUES[type])
