# SPDX-License-Identifier: Apache-2.0
"""Tables whose files know columns by ids and physical names: read, written, renamed, evolved; delta-rs agrees."""
import json
import pathlib

import pyarrow as pa
import pytest
from pipeline import Pipeline
from raw_table import RawTable, field, mapped, struct
from standalone import Warehouse

COLUMNS = """id BIGINT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<x: DOUBLE>>, m MAP<STRING, STRUCT<y: DATE>>,
 `with space; é` STRING, p STRING"""
ROWS = """(1, named_struct('a', 1, 'b', 'x'), array(named_struct('x', 1.5D)), map('k', named_struct('y', DATE'2024-01-01')), 'sp', 'p1'),
 (2, NULL, NULL, NULL, NULL, NULL),
 (3, named_struct('a', CAST(NULL AS INT), 'b', 'zz'), array(), map(), 'q', 'a/b')"""


@pytest.fixture(name="warehouse")
def fixture_warehouse(tidegate):
    return Warehouse(tidegate)


def leaves(fields):
    """(logical name, id, physical name) of every field at every level."""
    for item in fields:
        yield item["name"], item["metadata"]["delta.columnMapping.id"], item["metadata"]["delta.columnMapping.physicalName"]
        yield from leaves_of(item["type"])


def leaves_of(type):
    if isinstance(type, dict):
        for part in ("elementType", "keyType", "valueType"):
            yield from leaves_of(type.get(part))
        yield from leaves(type.get("fields", []))


def parquet_ids(schema):
    """name -> field id, of all levels."""
    found = {}

    def walk(item):
        if b"PARQUET:field_id" in (item.metadata or {}):
            found[item.name] = int(item.metadata[b"PARQUET:field_id"])
        for i in range(item.type.num_fields):
            walk(item.type.field(i))

    for item in schema:
        walk(item)
    return found


def created(warehouse, mode="name"):
    warehouse.run(f"CREATE TABLE t ({COLUMNS}) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')",
                  f"INSERT INTO t VALUES {ROWS}")
    return RawTable(warehouse.path("t"))


@pytest.mark.parametrize("mode", ["name", "id"])
def test_files_statistics_and_partition_values_have_physical_names(warehouse, mode):
    table = created(warehouse, mode)
    known = {physical: id for _, id, physical in leaves(table.schema()["fields"])}
    assert sorted(known.values()) == list(range(1, 11))
    assert table.last_metadata()["configuration"]["delta.columnMapping.maxColumnId"] == "10"
    partition = {name: physical for name, _, physical in leaves(table.schema()["fields"])}["p"]
    for schema, add in zip(table.parquet(), table.actions("add"), strict=True):
        assert parquet_ids(schema) == {name: id for name, id in known.items() if name != partition}
        assert list(add["partitionValues"]) == [partition]
        stats = json.loads(add["stats"])
        for part in ("minValues", "maxValues", "nullCount"):
            assert set(stats[part]) <= set(known) - {partition}
        assert stats["nullCount"]
    assert table.last_metadata()["partitionColumns"] == ["p"]
    assert {row[5] for row in warehouse.rows("SELECT * FROM t")} == {"p1", "a/b", None}


@pytest.mark.parametrize("mode", ["name", "id"])
def test_statements_keep_to_the_mapping(warehouse, mode):
    table = created(warehouse, mode)
    before = table.schema()
    assert warehouse.foreign("t") == sorted(warehouse.foreign("t"), key=str)
    assert [row[0] for row in warehouse.rows("SELECT id FROM t WHERE s.b = 'zz' AND p = 'a/b'")] == [3]
    warehouse.run("INSERT INTO t VALUES (4, named_struct('a', 7, 'b', 'b'), NULL, NULL, 'sp', 'p1')",
                  "DELETE FROM t WHERE `with space; é` = 'sp' AND id = 1")
    assert [row[0] for row in warehouse.rows("SELECT id FROM t")] == [2, 3, 4]
    assert [row[0] for row in warehouse.foreign("t")] == [2, 3, 4]
    assert warehouse.foreign("t")[2][1] == {"a": 7, "b": "b"}
    assert table.schema() == before
    removed = table.actions("remove")[-1]
    assert list(removed["partitionValues"].values()) == ["p1"] and list(removed["partitionValues"])[0].startswith("col-")


def rename(table, old, new):
    def change(fields, configuration):
        for item in fields:
            item["name"] = new if item["name"] == old else item["name"]

    table.redefine(change)


def test_a_renamed_column_keeps_its_values_and_its_statistics(warehouse):
    table = created(warehouse)
    rename(table, "id", "number")
    warehouse.run("INSERT INTO t BY NAME SELECT 9 AS number, 'new' AS p")
    assert [row[0] for row in warehouse.rows("SELECT number FROM t")] == [1, 2, 3, 9]
    assert [row[0] for row in warehouse.foreign("t")] == [1, 2, 3, 9]
    assert warehouse.rows("SELECT number FROM t WHERE number > 2") == [[3], [9]]
    # The statistics are found under the physical name: files that cannot be hit need not be there.
    for add in table.actions("add"):
        if json.loads(add["stats"])["maxValues"][[p for n, _, p in leaves(table.schema()["fields"]) if n == "number"][0]] < 9:
            (table.folder / add["path"].replace("%25", "%")).unlink()
    assert warehouse.rows("SELECT number FROM t WHERE number > 8") == [[9]]
    warehouse.fails("SELECT id FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION")


def test_a_dropped_column_does_not_come_back_with_its_values(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(
        mapped("k", "long", 1, "k"), mapped("c", "string", 2, "c"), features=["columnMapping"],
        **{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"})
    table.add(pa.table({"k": [1], "c": ["old"]}), {"numRecords": 1, "minValues": {"c": "old"}, "maxValues": {"c": "old"},
                                                     "nullCount": {"k": 0, "c": 0}})
    table.redefine(lambda fields, configuration: fields.pop())
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1]]
    table.redefine(lambda fields, configuration: fields.append(mapped("c", "string", 3, "col-3")))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, None]]
    assert warehouse.rows("SELECT k FROM delta.`raw` WHERE c IS NULL") == [[1]]
    warehouse.run("INSERT INTO delta.`raw` VALUES (2, 'new')", "DELETE FROM delta.`raw` WHERE c = 'old'")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, None], [2, "new"]]
    assert warehouse.rows("SELECT * FROM delta.`raw` VERSION AS OF 1") == [[1, "old"]]


def test_fields_inside_are_renamed_added_and_dropped(tidegate, warehouse):
    inner = struct(mapped("a", "integer", 3, "pa"), mapped("gone", "string", 4, "pg"))
    table = RawTable(tidegate.folder / "raw").create(
        mapped("s", inner, 1, "ps"), mapped("l", {"type": "array", "elementType": struct(mapped("x", "long", 5, "px")), "containsNull": True}, 2, "pl"),
        features=["columnMapping"], **{"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "5"})
    table.add(pa.table({"ps": [{"pa": 1, "pg": "g"}, None], "pl": [[{"px": 5}, None], None]}))

    def change(fields, configuration):
        fields[0]["type"]["fields"] = [mapped("added", "date", 6, "pn"), mapped("renamed", "integer", 3, "pa")]
        fields[1]["type"]["elementType"]["fields"][0]["name"] = "y"

    table.redefine(change)
    assert warehouse.rows("SELECT s, l FROM delta.`raw`") == [[None, None], [{"added": None, "renamed": 1}, [{"y": 5}, None]]]
    assert warehouse.rows("SELECT l[0].y FROM delta.`raw` WHERE s.renamed = 1") == [[5]]


def id_table(folder, parquet, *fields):
    table = RawTable(folder).create(*fields, features=["columnMapping"],
                                    **{"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": "9"})
    table.add(parquet)
    return table


def with_ids(data, **ids):
    fields = [pa.field(item.name, item.type, metadata={"PARQUET:field_id": str(ids[item.name])} if item.name in ids else None)
              for item in data.schema]
    return pa.table([data[name] for name in data.column_names], schema=pa.schema(fields))


def test_by_id_files_may_have_other_names(tidegate, warehouse):
    id_table(tidegate.folder / "raw", with_ids(pa.table({"x": [1], "a": ["one"]}), x=1, a=2),
             mapped("a", "long", 1, "p-1"), mapped("b", "string", 2, "p-2"), mapped("c", "string", 3, "p-3"))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, "one", None]]
    assert warehouse.rows("SELECT b FROM delta.`raw` WHERE a = 1") == [["one"]]
    warehouse.run("UPDATE delta.`raw` SET c = 'set' WHERE a = 1")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, "one", "set"]]


def test_by_id_a_name_of_another_column_is_not_taken(tidegate, warehouse):
    id_table(tidegate.folder / "raw", with_ids(pa.table({"p-1": [1], "p-2": [2]}), **{"p-1": 2, "p-2": 1}),
             mapped("a", "long", 1, "p-1"), mapped("b", "long", 2, "p-2"))
    assert warehouse.rows("SELECT a, b FROM delta.`raw`") == [[2, 1]]


def test_by_id_files_without_ids_are_read_by_physical_name(tidegate, warehouse):
    table = id_table(tidegate.folder / "raw", pa.table({"p-1": [1]}), mapped("a", "long", 1, "p-1"))
    assert warehouse.rows("SELECT a FROM delta.`raw`") == [[1]]
    table.add(with_ids(pa.table({"other": [2]}), other=1))
    warehouse.fails("SELECT a FROM delta.`raw`", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "columnMapping", "have no id")


def test_by_id_other_names_inside_are_refused(tidegate, warehouse):
    inner = pa.struct([pa.field("z", pa.int64(), metadata={"PARQUET:field_id": "2"})])
    data = pa.table([pa.array([{"z": 1}], inner)], schema=pa.schema([pa.field("p-1", inner, metadata={"PARQUET:field_id": "1"})]))
    id_table(tidegate.folder / "raw", data, mapped("s", struct(mapped("a", "long", 2, "p-2")), 1, "p-1"))
    warehouse.fails("SELECT * FROM delta.`raw`", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "fields of structs have other names")


@pytest.mark.parametrize("fields, mode, error, words", [
    ([mapped("a", "long", 1, "p")], "uuid", "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "`uuid` is not known"),
    ([{"name": "a", "type": "long", "nullable": True, "metadata": {}}], "name", "TIDEGATE_DELTA_LOG_INVALID", "delta.columnMapping.id"),
    ([{"name": "a", "type": "long", "nullable": True, "metadata": {"delta.columnMapping.id": 1}}], "id",
     "TIDEGATE_DELTA_LOG_INVALID", "delta.columnMapping.physicalName"),
    ([mapped("a", "long", 1, "p"), mapped("b", "long", 1, "q")], "name", "TIDEGATE_DELTA_LOG_INVALID", "two columns"),
    ([mapped("a", "long", 1, "p"), mapped("b", "long", 2, "P")], "name", "TIDEGATE_DELTA_LOG_INVALID", "two columns"),
])
def test_a_log_that_maps_badly_is_refused(tidegate, warehouse, fields, mode, error, words):
    RawTable(tidegate.folder / "raw").create(*fields, features=["columnMapping"], **{"delta.columnMapping.mode": mode})
    warehouse.fails("SELECT * FROM delta.`raw`", error, words)


def test_names_that_are_left_over_mean_nothing_without_a_mode(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(mapped("a", "long", 1, "p"), features=["columnMapping"],
                                                     **{"delta.columnMapping.mode": "none"})
    table.add(pa.table({"a": [1]}))
    warehouse.run("INSERT INTO delta.`raw` VALUES (2)")
    assert warehouse.rows("SELECT a FROM delta.`raw`") == [[1], [2]]
    assert table.parquet()[-1].names == ["a"]


def test_new_columns_of_a_flow_get_ids_and_names(tidegate):
    properties = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"

    def define(columns):
        pipeline.define(f"CREATE STREAMING TABLE t {properties} FLOW REPLACE WHERE k >= 2 BY NAME SELECT {columns} FROM s;\n"
                        "CREATE MATERIALIZED VIEW v AS SELECT k, st FROM t;")

    pipeline = Pipeline(tidegate, "-- later", s={"path": "s", "format": "delta"})
    source = RawTable(pipeline.folder / "s").create(field("k", "long"), field("w", "string"))
    source.add(pa.table({"k": [1, 2, 3], "w": ["a", "b", "c"]}))
    define("k, named_struct('f', k + 1) AS st")
    pipeline.run()
    table = RawTable(pathlib.Path(pipeline.path("t")))
    first = list(leaves(table.schema()["fields"]))
    assert [name for name, _, _ in first] == ["k", "st", "f"]
    define("k, named_struct('f', k + 1) AS st, w AS `new column`")
    pipeline.run()
    after = list(leaves(table.schema()["fields"]))
    assert after[:3] == first
    assert after[3][:2] == ("new column", 4)
    assert table.last_metadata()["configuration"]["delta.columnMapping.maxColumnId"] == "4"
    view = RawTable(pathlib.Path(pipeline.path("v")))
    assert "columnMapping" not in json.dumps(view.last_metadata())
    assert view.parquet()[-1].names == ["k", "st"]


def test_modes_change_in_one_direction_only(warehouse):
    warehouse.run("CREATE OR REFRESH STREAMING TABLE t TBLPROPERTIES ('delta.columnMapping.mode' = 'name') "
                  "FLOW REPLACE WHERE k >= 2 BY NAME SELECT 2L AS k")
    warehouse.fails("CREATE OR REFRESH STREAMING TABLE t TBLPROPERTIES ('delta.columnMapping.mode' = 'id') "
                    "FLOW REPLACE WHERE k >= 2 BY NAME SELECT 2L AS k", "UNSUPPORTED_FEATURE", "from name to id")
    warehouse.fails("CREATE TABLE u (a INT) TBLPROPERTIES ('delta.columnMapping.mode' = 'nmae')", "TIDEGATE_INVALID_TABLE_PROPERTY",
                    "none, name or id", "Did you mean `name`?")
