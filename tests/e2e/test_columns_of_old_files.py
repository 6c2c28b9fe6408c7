# SPDX-License-Identifier: Apache-2.0
"""Columns that files lack, spell otherwise or never hold: read as NULL or by name, and written as the table is now."""
import pyarrow as pa
import pytest
from raw_table import RawTable, field, struct
from standalone import Warehouse


@pytest.fixture(name="warehouse")
def fixture_warehouse(tidegate):
    return Warehouse(tidegate)


def test_columns_and_fields_that_older_files_lack_are_null(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("s", struct(field("a", "integer"))))
    table.add(pa.table({"k": [1, 2], "s": pa.array([{"a": 5}, None], pa.struct([("a", pa.int32())]))}))

    def change(fields, configuration):
        fields[1]["type"]["fields"].insert(0, field("b", "string"))
        fields.append(field("new", "decimal(10,2)"))

    table.redefine(change)
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, {"b": None, "a": 5}, None], [2, None, None]]
    assert warehouse.rows("SELECT k FROM delta.`raw` WHERE new IS NULL AND s.b IS NULL AND s.a = 5") == [[1]]
    warehouse.run("INSERT INTO delta.`raw` VALUES (3, named_struct('b', 'x', 'a', 6), 1.25)", "DELETE FROM delta.`raw` WHERE k = 2")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, {"b": None, "a": 5}, None], [3, {"b": "x", "a": 6}, "1.25"]]


def test_files_may_spell_columns_otherwise(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(field("Key", "long"), field("S", struct(field("Inner", "integer"))))
    table.add(pa.table({"KEY": [1], "s": pa.array([{"inner": 5}], pa.struct([("inner", pa.int32())]))}))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, {"Inner": 5}]]
    assert warehouse.rows("SELECT s.INNER FROM delta.`raw` WHERE kEy = 1") == [[5]]


def test_columns_without_a_type_are_never_in_files(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("v", "void"), field("w", "string"))
    table.add(pa.table({"k": [1], "w": ["a"]}))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, None, "a"]]
    warehouse.run("INSERT INTO delta.`raw` VALUES (2, NULL, 'b'), (3, NULL, 'c')", "DELETE FROM delta.`raw` WHERE k = 3 OR v IS NOT NULL")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, None, "a"], [2, None, "b"]]
    assert {tuple(schema.names) for schema in table.parquet()} == {("k", "w")}


def test_parts_without_a_type_are_read_and_not_written(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), field("s", struct(field("a", "integer"), field("v", "void"))))
    table.add(pa.table({"k": [1], "s": pa.array([{"a": 5}], pa.struct([("a", pa.int32())]))}))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, {"a": 5, "v": None}]]
    warehouse.fails("INSERT INTO delta.`raw` SELECT * FROM delta.`raw`", "UNSUPPORTED_DATATYPE", "`s`", "without a type")
    assert warehouse.rows("SELECT k FROM delta.`raw`") == [[1]]
