# SPDX-License-Identifier: Apache-2.0
"""Tables whose columns were given wider types: older files are read, and skipped by what they say, as what they mean."""
import json

import pyarrow as pa
import pytest
from raw_table import RawTable, field
from standalone import Warehouse

FEATURES = ["typeWidening", "timestampNtz"]


@pytest.fixture(name="warehouse")
def fixture_warehouse(tidegate):
    return Warehouse(tidegate)


def widened(name, from_type, to_type, path=None):
    change = {"fromType": from_type, "toType": to_type, **({"fieldPath": path} if path else {})}
    return field(name, to_type, **{"delta.typeChanges": [change]})


def decimal(text, precision, scale):
    import decimal as d

    return pa.array([d.Decimal(text)], pa.decimal128(precision, scale))


# from, to, a value in the old file, what its statistics say, what is read
ALLOWED = [
    ("byte", "short", pa.array([-7], pa.int8()), -7, -7),
    ("byte", "integer", pa.array([-7], pa.int8()), -7, -7),
    ("short", "long", pa.array([300], pa.int16()), 300, 300),
    ("integer", "long", pa.array([70000], pa.int32()), 70000, 70000),
    ("float", "double", pa.array([0.1], pa.float32()), 0.1, "0.10000000149011612"),
    ("integer", "double", pa.array([5], pa.int32()), 5, "5.0"),
    ("integer", "decimal(10,0)", pa.array([-12], pa.int32()), -12, "-12"),
    ("short", "decimal(12,2)", pa.array([12], pa.int16()), 12, "12.00"),
    ("long", "decimal(22,2)", pa.array([12], pa.int64()), 12, "12.00"),
    ("decimal(5,2)", "decimal(10,2)", decimal("1.25", 5, 2), 1.25, "1.25"),
    ("decimal(5,2)", "decimal(20,5)", decimal("-1.25", 5, 2), -1.25, "-1.25000"),
    ("date", "timestamp_ntz", pa.array([19000], pa.date32()), "2022-01-08", "2022-01-08T00:00:00.000000"),
]


@pytest.mark.parametrize("feature", ["typeWidening", "typeWidening-preview"])
@pytest.mark.parametrize("old, new, values, stat, read", ALLOWED)
def test_old_files_are_read_as_the_wider_type(tidegate, warehouse, feature, old, new, values, stat, read):
    table = RawTable(tidegate.folder / "raw").create(field("k", "long"), widened("c", old, new), features=[feature, "timestampNtz"])
    table.add(pa.table({"k": pa.array([1]), "c": values}),
              {"numRecords": 1, "minValues": {"c": stat}, "maxValues": {"c": stat}, "nullCount": {"c": 0}})
    assert warehouse.rows("SELECT c FROM delta.`raw`") == [[read]]
    literal = f"TIMESTAMP_NTZ'{read}'" if new == "timestamp_ntz" else f"CAST('{read}' AS {sql(new)})"
    for comparison in ("=", ">=", "<="):
        assert warehouse.cell(f"SELECT count(*) FROM delta.`raw` WHERE c {comparison} {literal}") == 1
    assert warehouse.cell(f"SELECT count(*) FROM delta.`raw` WHERE c > {literal}") == 0
    # What is written has the type of today, and the history of types stays.
    before = table.schema()
    warehouse.run("INSERT INTO delta.`raw` SELECT 2, c FROM delta.`raw`", "DELETE FROM delta.`raw` WHERE k = 1")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[2, read]]
    assert table.schema() == before
    assert table.parquet()[-1].field("c").type != values.type or old == new


def sql(name):
    return {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}.get(name, name.upper())


def test_bounds_of_floats_are_not_taken_for_doubles(tidegate, warehouse):
    """0.1 as a float is a little more than 0.1, 0.7 a little less: the file's own texts would skip it."""
    table = RawTable(tidegate.folder / "raw").create(widened("c", "float", "double"), features=FEATURES)
    for value in (0.1, 0.7):
        table.add(pa.table({"c": pa.array([value], pa.float32())}),
                  {"numRecords": 1, "minValues": {"c": value}, "maxValues": {"c": value}, "nullCount": {"c": 0}})
    assert warehouse.cell("SELECT count(*) FROM delta.`raw` WHERE c > 0.1D AND c < 0.2D") == 1
    assert warehouse.cell("SELECT count(*) FROM delta.`raw` WHERE c < 0.7D AND c > 0.6D") == 1
    warehouse.run("DELETE FROM delta.`raw` WHERE c > 0.1D AND c < 0.2D")
    assert warehouse.cell("SELECT count(*) FROM delta.`raw`") == 1


def test_parts_of_nested_columns_are_widened(tidegate, warehouse):
    changes = [{"fromType": "integer", "toType": "long", "fieldPath": "element"}]
    inner = {"type": "struct", "fields": [widened("a", "byte", "integer")]}
    table = RawTable(tidegate.folder / "raw").create(
        field("l", {"type": "array", "elementType": "long", "containsNull": True}, **{"delta.typeChanges": changes}),
        field("s", inner),
        field("m", {"type": "map", "keyType": "short", "valueType": "double", "valueContainsNull": True},
              **{"delta.typeChanges": [{"fromType": "byte", "toType": "short", "fieldPath": "key"},
                                       {"fromType": "float", "toType": "double", "fieldPath": "value"}]}), features=FEATURES)
    table.add(pa.table({"l": pa.array([[1, None]], pa.list_(pa.int32())), "s": pa.array([{"a": 3}], pa.struct([("a", pa.int8())])),
                        "m": pa.array([[(4, 0.5)]], pa.map_(pa.int8(), pa.float32()))}))
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[[1, None], {"a": 3}, [[4, "0.5"]]]]


def test_partition_values_of_narrower_types(tidegate, warehouse):
    table = RawTable(tidegate.folder / "raw").create(
        field("k", "long"), widened("p", "date", "timestamp_ntz"), widened("q", "integer", "decimal(12,2)"), features=FEATURES,
        partitions=["p", "q"])
    table.add(pa.table({"k": [1]}), {"numRecords": 1}, p="2024-02-29", q="7")
    table.add(pa.table({"k": [2]}), {"numRecords": 1}, p="2024-02-29 12:00:00", q="7.50")
    assert warehouse.rows("SELECT * FROM delta.`raw`") == [[1, "2024-02-29T00:00:00.000000", "7.00"],
                                                             [2, "2024-02-29T12:00:00.000000", "7.50"]]
    assert warehouse.rows("SELECT k FROM delta.`raw` WHERE p = DATE'2024-02-29' AND q = 7") == [[1]]


@pytest.mark.parametrize("old, new", [
    ("long", "integer"), ("integer", "string"), ("double", "float"), ("long", "double"), ("integer", "decimal(9,0)"),
    ("long", "decimal(19,0)"), ("decimal(10,2)", "decimal(10,3)"), ("decimal(10,2)", "decimal(12,1)"), ("date", "timestamp"),
    ("timestamp_ntz", "date"), ("byte", "decimal(4,1)"), ("string", "binary"), ("unheard of", "long"),
])
def test_other_changes_are_refused_by_name(tidegate, warehouse, old, new):
    RawTable(tidegate.folder / "raw").create(widened("c", old, new), features=FEATURES)
    warehouse.fails("SELECT * FROM delta.`raw`", "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "`c`", f'"{old}"', f'"{new}"')


def test_several_changes_in_a_row(tidegate, warehouse):
    steps = [{"fromType": "byte", "toType": "short"}, {"fromType": "short", "toType": "integer"}, {"fromType": "integer", "toType": "double"}]
    table = RawTable(tidegate.folder / "raw").create(field("c", "double", **{"delta.typeChanges": steps}), features=FEATURES)
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.float64()):
        table.add(pa.table({"c": pa.array([3], kind)}))
    assert warehouse.rows("SELECT sum(c), count(*) FROM delta.`raw`") == [["12.0", 4]]
    assert json.loads(table.last_metadata()["schemaString"])["fields"][0]["metadata"]["delta.typeChanges"] == steps
