# SPDX-License-Identifier: Apache-2.0
"""DESCRIBE DETAIL, DESCRIBE HISTORY, SHOW PARTITIONS, SHOW TBLPROPERTIES: what they tell is what delta-rs reads in the log."""
import datetime as dt
import json
import os

import deltalake
import pyarrow
import pytest
from standalone import Warehouse


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) COMMENT 'häuser' TBLPROPERTIES ('team' = 'a\"b')",
             "INSERT INTO t VALUES (1, 'x'), (2, 'a/b=c d%é'), (3, NULL)", "DELETE FROM t WHERE a = 1")
    return made


def objects(warehouse, query):
    lines = warehouse.run(query, options=("--format", "rows")).stdout.splitlines()
    names = [column["name"] for column in json.loads(lines[0])["schema"]]
    return [dict(zip(names, json.loads(line))) for line in lines[1:]]


def test_detail(warehouse):
    found, = objects(warehouse, "DESCRIBE DETAIL t")
    table = warehouse.table("t")
    sizes = [row["size_bytes"] for row in pyarrow.table(table.get_add_actions()).to_pylist()]
    assert list(found) == [
        "format", "id", "name", "description", "location", "createdAt", "lastModified", "partitionColumns", "clusteringColumns", "numFiles",
        "sizeInBytes", "properties", "minReaderVersion", "minWriterVersion", "tableFeatures"]
    created, modified = (dt.datetime.fromisoformat(found.pop(key)) for key in ("createdAt", "lastModified"))
    assert created <= modified
    assert modified.timestamp() == pytest.approx(os.stat(warehouse.path("t") / "_delta_log" / f"{2:020}.json").st_mtime, abs=0.01)
    assert found == {
        "format": "delta", "id": str(table.metadata().id), "name": "main.default.t", "description": "häuser",
        "location": str(warehouse.path("t")), "partitionColumns": ["p"], "clusteringColumns": [], "numFiles": len(sizes),
        "sizeInBytes": sum(sizes), "properties": [["team", 'a"b']], "minReaderVersion": 1, "minWriterVersion": 2, "tableFeatures": []}


def test_history_newest_first(warehouse):
    deltalake.write_deltalake(str(warehouse.path("t")), pyarrow.table({"a": pyarrow.array([7], pyarrow.int32()), "p": ["y"]}), mode="append")
    found = objects(warehouse, "DESCRIBE HISTORY t")
    theirs = warehouse.table("t").history()
    assert [row["version"] for row in found] == [3, 2, 1, 0]
    assert [row["operation"] for row in found] == [entry["operation"] for entry in theirs]
    assert dict(found[1]["operationParameters"]) == {"predicate": "a = 1"}
    assert dict(found[1]["operationMetrics"])["numDeletedRows"] == "1"
    assert (found[1]["readVersion"], found[1]["isolationLevel"], found[1]["isBlindAppend"]) == (1, "Serializable", False)
    assert found[0]["engineInfo"].startswith("delta-rs") and found[0]["userMetadata"] is None
    assert found == objects(warehouse, f"DESCRIBE HISTORY '{warehouse.path('t')}'")
    assert objects(warehouse, "DESCRIBE HISTORY t LIMIT 2") == found[:2]
    assert objects(warehouse, "DESCRIBE HISTORY t LIMIT 0") == []
    told = warehouse.fails("DESCRIBE HISTORY t LIMIT soon", "PARSE_SYNTAX_ERROR", "a whole number")
    assert "^^^^" in told
    # the time is the one that TIMESTAMP AS OF looks up
    assert warehouse.cell(f"SELECT count(*) FROM t TIMESTAMP AS OF '{found[2]['timestamp']}'") == 3


def test_history_goes_as_far_back_as_the_log(warehouse):
    warehouse.table("t").create_checkpoint()
    (warehouse.path("t") / "_delta_log" / f"{0:020}.json").unlink()
    assert [row["version"] for row in objects(warehouse, "DESCRIBE HISTORY t")] == [2, 1]


def test_partitions(warehouse):
    assert warehouse.rows("SHOW PARTITIONS t") == [["p=__HIVE_DEFAULT_PARTITION__"], ["p=a%2Fb%3Dc d%25é"]]
    assert warehouse.rows("SHOW PARTITIONS t PARTITION (p = 'a/b=c d%é')") == [["p=a%2Fb%3Dc d%25é"]]
    assert warehouse.rows("SHOW PARTITIONS t PARTITION (P = NULL)") == [["p=__HIVE_DEFAULT_PARTITION__"]]
    assert warehouse.rows("SHOW PARTITIONS t PARTITION (p = 'gone')") == []
    told = warehouse.fails("SHOW PARTITIONS t PARTITION (q = 'x')", "DELTA_NON_PARTITION_COLUMN_SPECIFIED")
    assert "(q = 'x')\n" in told and told.splitlines()[-1].strip(" |") == "^"
    warehouse.run("CREATE TABLE flat (a INT)")
    warehouse.fails("SHOW PARTITIONS flat", "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "main.default.flat is not partitioned")


def test_partitions_of_dates_and_numbers(warehouse):
    warehouse.run("CREATE TABLE n (a INT, d DATE, k INT) PARTITIONED BY (d, k)",
                  "INSERT INTO n VALUES (1, DATE'2024-01-02', 10), (2, DATE'2024-01-02', 9), (3, DATE'2023-12-31', 9)")
    assert warehouse.rows("SHOW PARTITIONS n") == [["d=2023-12-31/k=9"], ["d=2024-01-02/k=10"], ["d=2024-01-02/k=9"]]
    assert warehouse.rows("SHOW PARTITIONS n PARTITION (k = 9, d = DATE'2024-01-02')") == [["d=2024-01-02/k=9"]]
    assert warehouse.rows("SHOW PARTITIONS n PARTITION (d = '2023-12-31')") == [["d=2023-12-31/k=9"]]


def test_one_property(warehouse):
    assert warehouse.rows("SHOW TBLPROPERTIES t ('team')") == [["team", 'a"b']]
    assert warehouse.rows("SHOW TBLPROPERTIES t (a.b)") == [["a.b", "Table main.default.t does not have property: a.b"]]


@pytest.mark.parametrize("statement", ["DESCRIBE DETAIL", "DESCRIBE HISTORY", "SHOW PARTITIONS", "OPTIMIZE", "VACUUM"])
def test_there_must_be_a_table(warehouse, statement):
    warehouse.run("CREATE VIEW v AS SELECT 1 AS a")
    warehouse.fails(f"{statement} v", "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
    warehouse.fails(f"{statement} tt", "TABLE_OR_VIEW_NOT_FOUND", "Did you mean `t`?")
    warehouse.fails(f"{statement} csv.`x.csv`", "UNSUPPORTED_FEATURE")
