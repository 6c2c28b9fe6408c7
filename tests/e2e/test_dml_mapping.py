# SPDX-License-Identifier: Apache-2.0
"""Statements that change rows do the same to a table with column mapping, or widened columns, as to a plain one."""
import pyarrow as pa
import pytest
from raw_table import RawTable, field
from standalone import Warehouse

COLUMNS = "id BIGINT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<x: DOUBLE>>, `é-name` STRING, p STRING"
ROWS = """(1, named_struct('a', 1, 'b', 'x'), array(named_struct('x', 1.5D)), 'sp', 'p1'), (2, NULL, NULL, NULL, NULL),
 (3, named_struct('a', CAST(NULL AS INT), 'b', 'zz'), array(), 'q', 'a/b'), (4, named_struct('a', 4, 'b', 'w'), NULL, 'r', 'p1')"""
STATEMENTS = [
    "INSERT INTO {t} (id, `é-name`) VALUES (5, 'five')",
    "INSERT INTO {t} BY NAME SELECT 'p9' AS p, 6 AS id, named_struct('a', 6, 'b', 'six') AS s",
    "UPDATE {t} SET `é-name` = concat(`é-name`, p), s = named_struct('a', 9, 'b', 'nine') WHERE id IN (1, 3)",
    "UPDATE {t} SET p = 'moved' WHERE p = 'p1' AND s.a = 4",
    "MERGE INTO {t} AS t USING (SELECT * FROM VALUES (2, 'two'), (7, 'seven') AS v(id, name)) AS v ON t.id = v.id"
    " WHEN MATCHED THEN UPDATE SET `é-name` = v.name WHEN NOT MATCHED THEN INSERT (id, `é-name`, p) VALUES (v.id, v.name, 'new')"
    " WHEN NOT MATCHED BY SOURCE AND t.id = 1 THEN DELETE",
    "DELETE FROM {t} WHERE s.b = 'nine'",
    "INSERT INTO {t} REPLACE WHERE p = 'moved' SELECT id + 10, s, l, `é-name`, p FROM {t} WHERE p = 'moved'",
    "INSERT OVERWRITE {t} SELECT id, s, l, upper(`é-name`), p FROM {t}",
]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_as_a_plain_table(tidegate, mode):
    warehouse = Warehouse(tidegate)
    warehouse.run(f"CREATE TABLE plain ({COLUMNS}) PARTITIONED BY (p)",
                  f"CREATE TABLE mapped ({COLUMNS}) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')",
                  *(f"INSERT INTO {name} VALUES {ROWS}" for name in ("plain", "mapped")))
    schema = RawTable(warehouse.path("mapped")).schema()
    for statement in STATEMENTS:
        warehouse.run(*(statement.format(t=name) for name in ("plain", "mapped")))
        rows = [warehouse.rows(f"SELECT * FROM {name} ORDER BY id") for name in ("plain", "mapped")]
        assert rows[0] == rows[1], statement
    assert len(rows[1]) >= 5
    assert RawTable(warehouse.path("mapped")).schema() == schema
    names = {column for file in RawTable(warehouse.path("mapped")).parquet() for column in file.names}
    assert all(name.startswith("col-") for name in names)


def test_files_from_before_a_widening(tidegate):
    warehouse = Warehouse(tidegate)
    warehouse.run("CREATE TABLE other (id INT)")
    table = RawTable(warehouse.path("other").parent / "wide").create(
        field("id", "integer"), field("n", "short"), features=["typeWidening"], **{"delta.enableTypeWidening": "true"})
    table.add(pa.table({"id": pa.array([1, 2, 3], pa.int32()), "n": pa.array([10, 20, None], pa.int16())}),
              stats={"numRecords": 3, "minValues": {"id": 1, "n": 10}, "maxValues": {"id": 3, "n": 20}, "nullCount": {"id": 0, "n": 1}})

    def widen(fields, _):
        fields[1]["type"] = "long"
        fields[1]["metadata"]["delta.typeChanges"] = [{"fromType": "short", "toType": "long"}]

    table.redefine(widen)
    warehouse.run("UPDATE wide SET n = n + 5000000000 WHERE id = 2", "INSERT INTO wide VALUES (4, 7000000000)",
                  "MERGE INTO wide USING (SELECT 3 AS k) ON id = k WHEN MATCHED THEN UPDATE SET n = 9000000000")
    assert warehouse.rows("SELECT id, n FROM wide ORDER BY id") == [[1, 10], [2, 5000000020], [3, 9000000000], [4, 7000000000]]
