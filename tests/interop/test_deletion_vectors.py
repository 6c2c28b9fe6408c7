# SPDX-License-Identifier: Apache-2.0
"""Tables with deletion vectors, made by the letter of the protocol, as tidegate and delta-rs read and write them."""
import json
import os
import pathlib
import struct
import uuid
import zlib

import deltalake
import pyarrow as pa
import pyarrow.parquet
import pytest

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def z85(data):
    data += b"\0" * (-len(data) % 4)
    text = ""
    for i in range(0, len(data), 4):
        value, word = int.from_bytes(data[i:i + 4], "big"), ""
        for _ in range(5):
            value, digit = divmod(value, 85)
            word = Z85[digit] + word
        text += word
    return text


def bitmap(rows):
    """The portable form, positions below 65,536 and at most 4,096 of them."""
    head = struct.pack("<iqiiiHHi", 1681511377, 1, 0, 12346, 1, 0, len(rows) - 1, 16)
    return head + b"".join(struct.pack("<H", row) for row in sorted(rows))


def put_vectors(table, rows_by_file):
    """One file that holds all vectors; their descriptors."""
    name, data, vectors = uuid.uuid4(), b"\x01", []
    for rows in rows_by_file:
        part = bitmap(rows)
        vectors.append({"storageType": "u", "pathOrInlineDv": z85(name.bytes), "offset": len(data),
                        "sizeInBytes": len(part), "cardinality": len(rows)})
        data += struct.pack(">i", len(part)) + part + struct.pack(">I", zlib.crc32(part))
    (table / f"deletion_vector_{name}.bin").write_bytes(data)
    return vectors


def inline(rows):
    part = bitmap(rows)
    return {"storageType": "i", "pathOrInlineDv": z85(part), "sizeInBytes": len(part), "cardinality": len(rows)}


def commit(table, version, actions):
    lines = [json.dumps(action) for action in [{"commitInfo": {"operation": "DELETE"}}, *actions]]
    (table / "_delta_log" / f"{version:020d}.json").write_text("\n".join(lines) + "\n")


def file_of(table, name, low, high):
    path = table / name
    pyarrow.parquet.write_table(pa.table({"id": pa.array(range(low, high), pa.int64())}), path, row_group_size=40)
    stats = {"numRecords": high - low, "minValues": {"id": low}, "maxValues": {"id": high - 1}, "nullCount": {"id": 0}}
    return {"path": name, "partitionValues": {}, "size": path.stat().st_size, "modificationTime": 1, "dataChange": True,
            "stats": json.dumps(stats)}


def remove_of(add):
    kept = {key: add[key] for key in ("path", "partitionValues", "size", "deletionVector") if key in add}
    return {"remove": {**kept, "deletionTimestamp": 1, "dataChange": True, "extendedFileMetadata": True}}


@pytest.fixture(name="table")
def fixture_table(tmp_path):
    """Ids 0 to 299 in three files; of the first 5 rows are gone (in a file), of the second 2 (in the log)."""
    table = tmp_path / "dv"
    (table / "_delta_log").mkdir(parents=True)
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    adds = [file_of(table, f"f{i}.parquet", i * 100, i * 100 + 100) for i in range(3)]
    commit(table, 0, [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"],
                      "writerFeatures": ["deletionVectors"]}},
        {"metaData": {"id": str(uuid.uuid4()), "format": {"provider": "parquet", "options": {}},
                      "schemaString": json.dumps(schema), "partitionColumns": [],
                      "configuration": {"delta.enableDeletionVectors": "true"}, "createdTime": 1}},
        *({"add": add} for add in adds)])
    first = put_vectors(table, [[9], [0, 1, 50, 98, 99]])[1]
    changed = [{**adds[0], "deletionVector": first}, {**adds[1], "deletionVector": inline([3, 4])}]
    commit(table, 1, [*map(remove_of, adds[:2]), *({"add": add} for add in changed)])
    return table


GONE = {0, 1, 50, 98, 99, 103, 104}
LEFT = sorted(set(range(300)) - GONE)


def ids(tidegate, table, where=""):
    done = tidegate("sql", "--format", "rows", "-e", f"SELECT id FROM delta.`{table}` {where}")
    return sorted(json.loads(line)[0] for line in done.stdout.splitlines()[1:])


def foreign(table):
    reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(table)))
    return sorted(pa.table(reader.execute("SELECT id FROM t").read_all())["id"].to_pylist())


def test_deleted_rows_are_not_read(tidegate, table):
    assert foreign(table) == LEFT
    assert ids(tidegate, table) == LEFT
    assert ids(tidegate, table, "VERSION AS OF 0") == list(range(300))
    # Positions are of the file, whatever row groups a filter leaves out.
    assert ids(tidegate, table, "WHERE id >= 95 AND id < 105") == [95, 96, 97, 100, 101, 102]
    done = tidegate("sql", "--format", "rows", "-e", f"SELECT count(*) FROM delta.`{table}`")
    assert done.stdout.splitlines()[1] == f"[{len(LEFT)}]"
    joined = f"SELECT count(*) FROM delta.`{table}` a JOIN delta.`{table}` VERSION AS OF 0 b ON a.id = b.id"
    assert tidegate("sql", "--format", "rows", "-e", joined).stdout.splitlines()[1] == f"[{len(LEFT)}]"


def test_changes_are_what_vectors_differ_in(tidegate, table):
    head = table / "_delta_log" / f"{0:020d}.json"
    switch = '"delta.enableDeletionVectors"'
    head.write_text(head.read_text().replace(switch, '"delta.enableChangeDataFeed": "true", ' + switch))
    adds = [json.loads(line)["add"] for line in (table / "_delta_log" / f"{1:020d}.json").read_text().splitlines()
            if "add" in json.loads(line)]
    less = {**adds[0], "deletionVector": inline([1, 50])}
    commit(table, 2, [*map(remove_of, adds), {"add": less}])  # three rows are back, the second file is gone
    sql = f"SELECT id, _change_type FROM table_changes('delta.`{table}`', {{}}, {{}})"

    def changes(version):
        done = tidegate("sql", "--format", "rows", "-e", sql.format(version, version))
        return sorted(json.loads(line) for line in done.stdout.splitlines()[1:])

    assert changes(0) == [[i, "insert"] for i in range(300)]
    assert changes(1) == [[i, "delete"] for i in sorted(GONE)]
    gone = [[i, "delete"] for i in range(100, 200) if i not in GONE]
    assert changes(2) == [[0, "insert"], [98, "insert"], [99, "insert"], *gone]


def test_delete_keeps_live_rows_only(tidegate, table):
    tidegate("sql", "-e", f"DELETE FROM delta.`{table}` WHERE id = 10 OR id >= 200")
    left = [i for i in LEFT if i != 10 and i < 200]
    assert ids(tidegate, table) == left
    assert foreign(table) == left
    lines = [json.loads(line) for line in (table / "_delta_log" / f"{2:020d}.json").read_text().splitlines()]
    removed = {line["remove"]["path"]: line["remove"].get("deletionVector") for line in lines if "remove" in line}
    assert removed["f0.parquet"]["cardinality"] == 5 and removed["f2.parquet"] is None
    assert "f1.parquet" not in removed
    metrics = next(line["commitInfo"]["operationMetrics"] for line in lines if "commitInfo" in line)
    assert metrics["numDeletedRows"] == "101" and metrics["numCopiedRows"] == "94"


def test_restore_brings_deleted_rows_back(tidegate, table):
    tidegate("sql", "-e", f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 0")
    assert ids(tidegate, table) == list(range(300)) == foreign(table)
    tidegate("sql", "-e", f"RESTORE TABLE delta.`{table}` TO VERSION AS OF 1")
    assert ids(tidegate, table) == LEFT == foreign(table)


def test_checkpoint_keeps_vectors(tidegate, table):
    for i in range(9):
        tidegate("sql", "-e", f"INSERT INTO delta.`{table}` VALUES ({1000 + i})")
    assert (table / "_delta_log" / f"{10:020d}.checkpoint.parquet").exists()
    for version in range(10):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    expected = [*LEFT, *range(1000, 1009)]
    assert ids(tidegate, table) == expected
    assert foreign(table) == expected


def test_v2_checkpoint_where_the_table_asks_for_it(tidegate, table):
    head = table / "_delta_log" / f"{0:020d}.json"
    features = '["deletionVectors", "v2Checkpoint"]'
    text = head.read_text().replace('["deletionVectors"]', features)
    switch = '"delta.enableDeletionVectors"'
    head.write_text(text.replace(switch, '"delta.checkpointPolicy": "v2", ' + switch))
    for i in range(9):
        tidegate("sql", "-e", f"INSERT INTO delta.`{table}` VALUES ({1000 + i})")
    checkpoint = next((table / "_delta_log").glob(f"{10:020d}.checkpoint.*-*-*.parquet"))
    metadata = pyarrow.parquet.read_table(checkpoint)["checkpointMetadata"].to_pylist()
    assert [row for row in metadata if row] == [{"version": 10}]
    for version in range(10):
        (table / "_delta_log" / f"{version:020d}.json").unlink()
    expected = [*LEFT, *range(1000, 1009)]
    assert ids(tidegate, table) == expected
    assert foreign(table) == expected
    tidegate("sql", "-e", f"DELETE FROM delta.`{table}` WHERE id < 300")
    assert ids(tidegate, table) == list(range(1000, 1009)) == foreign(table)


def test_classic_checkpoint_has_no_column_of_v2(tidegate, table):
    for i in range(9):
        tidegate("sql", "-e", f"INSERT INTO delta.`{table}` VALUES ({1000 + i})")
    names = pyarrow.parquet.read_schema(table / "_delta_log" / f"{10:020d}.checkpoint.parquet").names
    assert "checkpointMetadata" not in names and "add" in names


@pytest.mark.parametrize(("damage", "error"), [
    (lambda data: data[:-1], "DELTA_DELETION_VECTOR_SIZE_MISMATCH"),
    (lambda data: data[:-6] + b"\x07" + data[-5:], "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH"),
    (lambda data: b"\x02" + data[1:], "TIDEGATE_DELTA_LOG_INVALID"),
    (None, "PATH_NOT_FOUND"),
])
def test_a_damaged_vector_is_refused(tidegate, table, damage, error):
    path = next(pathlib.Path(table).glob("deletion_vector_*"))
    if damage:
        path.write_bytes(damage(path.read_bytes()))
    else:
        path.unlink()
    for statement in (f"SELECT * FROM delta.`{table}`", f"DELETE FROM delta.`{table}` WHERE id = 20"):
        message = tidegate("sql", "-e", statement, status=1).stderr
        assert f"[{error}]" in message and "f0.parquet" in message
    assert ids(tidegate, table, "WHERE id >= 200") == list(range(200, 300))  # other files are read all the same


def test_statements_do_not_see_deleted_rows(tidegate, table):
    """A row that is gone matches nothing, and does not come back with its file."""
    expected = set(LEFT)

    def after(statement):
        tidegate("sql", "-e", statement.format(t=f"delta.`{table}`"))
        assert ids(tidegate, table) == sorted(expected) == foreign(table), statement

    versions = len(list((table / "_delta_log").glob("*.json")))
    after("UPDATE {t} SET id = -1 WHERE id IN (0, 1, 50)")
    after("DELETE FROM {t} WHERE id BETWEEN 98 AND 99")
    assert len(list((table / "_delta_log").glob("*.json"))) == versions  # they hit nothing
    expected = expected - {2} | {1002}
    after("UPDATE {t} SET id = id + 1000 WHERE id IN (0, 1, 2)")
    tidegate("sql", "-e", f"MERGE INTO delta.`{table}` AS t USING (SELECT * FROM VALUES (0, 5000), (7, 7000), (104, 9000) AS v(k, n)) AS v"
                          " ON t.id = v.k WHEN MATCHED THEN UPDATE SET id = v.n WHEN NOT MATCHED THEN INSERT (id) VALUES (v.k)")
    expected = expected - {7} | {7000, 0, 104}  # 0 and 104 are gone: not matched
    assert ids(tidegate, table) == sorted(expected) == foreign(table)
    tidegate("sql", "-e", f"INSERT INTO delta.`{table}` REPLACE WHERE id < 60 SELECT * FROM VALUES (1), (2) AS v(id)")
    expected = {i for i in expected if i >= 60} | {1, 2}
    assert ids(tidegate, table) == sorted(expected) == foreign(table)


def test_optimize_and_vacuum(tidegate, table):
    """Files with vectors become files without; a vector goes when no version within the retention needs it."""
    tidegate("sql", "-e", f"INSERT INTO delta.`{table}` VALUES (1000)", "-e", f"VACUUM delta.`{table}`")
    vectors = list(table.glob("deletion_vector_*"))
    for path in table.glob("*"):
        os.utime(path, (1, 1))
    keep_all = "SET spark.databricks.delta.retentionDurationCheck.enabled = false"
    tidegate("sql", "-e", keep_all, "-e", f"VACUUM delta.`{table}` RETAIN 0 HOURS")
    assert ids(tidegate, table) == [*LEFT, 1000] == foreign(table)
    tidegate("sql", "-e", f"OPTIMIZE delta.`{table}`")
    assert ids(tidegate, table) == [*LEFT, 1000] == foreign(table)
    lines = [json.loads(line) for line in (table / "_delta_log" / f"{3:020d}.json").read_text().splitlines()]
    assert sum("deletionVector" in line.get("remove", ()) for line in lines) == 2
    assert not any("deletionVector" in line.get("add", ()) for line in lines)
    assert len([line for line in lines if "add" in line]) == 1
    tidegate("sql", "-e", f"VACUUM delta.`{table}` RETAIN 168 HOURS")
    assert list(table.glob("deletion_vector_*")) == vectors
    tidegate("sql", "-e", keep_all, "-e", f"VACUUM delta.`{table}` RETAIN 0 HOURS")
    assert not list(table.glob("deletion_vector_*")) and len(list(table.glob("*.parquet"))) == 1
    assert ids(tidegate, table) == [*LEFT, 1000] == foreign(table)
