# SPDX-License-Identifier: Apache-2.0
"""INSERT in all its forms, UPDATE, DELETE, MERGE: rows, what the log says, and what is refused with which words."""
import json
import os
import subprocess

import deltalake
import pyarrow
import pytest
from standalone import Warehouse


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run("CREATE TABLE t (k INT, v STRING, d DATE)",
             "INSERT INTO t VALUES (1, 'a', DATE'2024-01-01'), (2, 'b', DATE'2024-01-02'), (NULL, 'n', NULL)",
             "INSERT INTO t VALUES (11, 'x', DATE'2024-02-01'), (12, 'y', NULL)")
    return made


def commit(warehouse, name="t"):
    """The actions of the newest commit by kind."""
    path = max((warehouse.path(name) / "_delta_log").glob("*.json"))
    found = {}
    for line in path.read_text().splitlines():
        (kind, action), = json.loads(line).items()
        found.setdefault(kind, []).append(action)
    return found


def metrics(warehouse, name="t"):
    return {key: int(value) for key, value in commit(warehouse, name)["commitInfo"][0]["operationMetrics"].items()}


def version(warehouse, name="t"):
    return warehouse.table(name).version()


def keys(warehouse):
    return sorted((row[0] for row in warehouse.rows("SELECT k FROM t")), key=str)


# ---- INSERT ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "row"), [
    ("INSERT INTO TABLE t VALUES (5, 'q', DEFAULT)", [5, "q", None]),
    ("INSERT INTO t (v, k) VALUES ('q', 5)", [5, "q", None]),
    ("INSERT INTO t BY NAME SELECT 'q' AS v, 5 AS K", [5, "q", None]),
    ("INSERT INTO t TABLE t VERSION AS OF 1", None),
    ("INSERT INTO t (SELECT 5, 'q', NULL)", [5, "q", None]),
    ("INSERT INTO t VALUES (5L, 7, TIMESTAMP'2024-01-05 10:00:00')", [5, "7", "2024-01-05"]),
])
def test_insert_forms(warehouse, text, row):
    if row is None:
        warehouse.fails(text, "PARSE_SYNTAX_ERROR")
        return
    warehouse.run(text)
    assert warehouse.rows("SELECT * FROM t WHERE k = 5") == [row]
    assert commit(warehouse)["commitInfo"][0]["isBlindAppend"]


@pytest.mark.parametrize(("text", "error_class", "word"), [
    ("INSERT INTO t VALUES (1)", "INSERT_COLUMN_ARITY_MISMATCH", "takes 3 columns and the query gives 1"),
    ("INSERT INTO t (k) VALUES (1, 2)", "INSERT_COLUMN_ARITY_MISMATCH", "takes 1 columns"),
    ("INSERT INTO t (k, K) VALUES (1, 2)", "COLUMN_ALREADY_EXISTS", "`K`"),
    ("INSERT INTO t (k, w) VALUES (1, 2)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", " |                   ^\n"),
    ("INSERT INTO t BY NAME SELECT 1 AS kk", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "Did you mean `k`?"),
    ("INSERT INTO t VALUES ('x', 'y', NULL)", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "cannot store string in column `k`"),
    ("INSERT INTO t VALUES (true, 'y', NULL)", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "cannot store boolean"),
    ("INSERT INTO t VALUES (5000000000, 'y', NULL)", "CAST_OVERFLOW", "5000000000"),
    ("INSERT INTO t PARTITION (k = 1) VALUES ('y', NULL)", "NON_PARTITION_COLUMN", "not partitioned by `k`"),
    ("INSERT INTO t (k) BY NAME SELECT 1 AS k", "UNSUPPORTED_FEATURE", "BY NAME together with a column list"),
    ("INSERT OVERWRITE t REPLACE WHERE k = 1 SELECT 1, 'a', NULL", "UNSUPPORTED_FEATURE", "OVERWRITE together with REPLACE"),
    ("INSERT INTO t AS x SELECT 1, 'a', NULL", "PARSE_SYNTAX_ERROR", "REPLACE ON"),
    ("INSERT INTO nowhere VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND", "nowhere"),
    ("INSERT INTO t REPLACE WHERE k > 10 VALUES (11, 'q', NULL), (3, 'r', NULL)", "DELTA_REPLACE_WHERE_MISMATCH", "outside"),
    ("INSERT INTO t REPLACE WHERE k > 10 VALUES (NULL, 'q', NULL)", "DELTA_REPLACE_WHERE_MISMATCH", ""),
    ("INSERT INTO t REPLACE WHERE rand() > 0.5 VALUES (1, 'q', NULL)", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", ""),
    ("INSERT INTO t REPLACE USING (w) VALUES (1, 'q', NULL)", "UNRESOLVED_INSERT_REPLACE_USING_COLUMN", "of the table"),
    ("INSERT INTO t BY NAME REPLACE USING (d) SELECT 1 AS k", "UNRESOLVED_INSERT_REPLACE_USING_COLUMN", "of the query"),
    ("INSERT INTO t REPLACE USING (k) SELECT 1 AS v, 'x' AS k, NULL", "INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", "BY NAME"),
    ("INSERT INTO t REPLACE ON k = 1 SELECT 1 AS k, 'x' AS v, NULL AS d", "AMBIGUOUS_REFERENCE", "`k`"),
])
def test_insert_refused(warehouse, text, error_class, word):
    before = warehouse.foreign("t")
    warehouse.fails(text, error_class, word if error_class != "DELTA_REPLACE_WHERE_MISMATCH" else "REPLACE WHERE")
    assert (version(warehouse), warehouse.foreign("t")) == (2, before)
    assert len(list(warehouse.path("t").glob("*.parquet"))) == 2  # nothing is left behind


def test_insert_overwrite(warehouse):
    assert warehouse.says("INSERT OVERWRITE t VALUES (7, 'z', NULL)") == "inserted 1 row in place of 5"
    assert keys(warehouse) == [7]
    assert len(commit(warehouse)["remove"]) == 2
    warehouse.run("INSERT OVERWRITE TABLE t SELECT k + 1, v, d FROM t")  # reads what it replaces
    assert keys(warehouse) == [8]
    warehouse.run("INSERT OVERWRITE t SELECT * FROM t WHERE false")
    assert keys(warehouse) == []


def test_partitions(tidegate):
    warehouse = Warehouse(tidegate)
    warehouse.run("CREATE TABLE t (k INT, p STRING, q INT) PARTITIONED BY (p, q)",
                  "INSERT INTO t PARTITION (p = 'a', q = 1) SELECT 1",
                  "INSERT INTO t PARTITION (p = 'a', q) VALUES (2, 2)",
                  "INSERT INTO t PARTITION (q = '1', p = NULL) (k) VALUES (3)")
    everything = [[1, "a", 1], [2, "a", 2], [3, None, 1]]
    assert warehouse.rows("SELECT * FROM t") == everything
    assert warehouse.says("INSERT OVERWRITE t PARTITION (p = NULL, q = 1) VALUES (4)") == "inserted 1 row in place of 1"
    assert warehouse.says("INSERT OVERWRITE t PARTITION (p = 'a') VALUES (5, 9)") == "inserted 1 row in place of 2"
    assert warehouse.rows("SELECT * FROM t") == [[4, None, 1], [5, "a", 9]]
    assert warehouse.foreign("t") == [[4, None, 1], [5, "a", 9]]
    warehouse.fails("INSERT INTO t PARTITION (p = 'a') (k, p, q) VALUES (1, 'a', 1)", "STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST")
    warehouse.fails("INSERT INTO t PARTITION (p = 'a', P = 'b') VALUES (1, 1)", "COLUMN_ALREADY_EXISTS", "twice")
    warehouse.fails("INSERT INTO t PARTITION (p = k) SELECT 1, 2", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    warehouse.fails("INSERT INTO t PARTITION (p = 'a') IF NOT EXISTS VALUES (1, 1)", "UNSUPPORTED_FEATURE", "IF NOT EXISTS")
    warehouse.fails("INSERT INTO t PARTITION (q = 'x') VALUES (1, 'a')", "CAST_INVALID_INPUT")


def test_replace_where(warehouse):
    assert warehouse.says("INSERT INTO t REPLACE WHERE k < 10 VALUES (3, 'c', NULL)") == "inserted 1 row in place of 2"
    assert warehouse.rows("SELECT k, v FROM t") == [[11, "x"], [12, "y"], [3, "c"], [None, "n"]]  # NULL < 10 is not TRUE
    info, = commit(warehouse)["commitInfo"]
    assert (info["operation"], info["operationParameters"]["predicate"]) == ("WRITE", "k < 10")


def test_replace_using_and_on_differ_in_nulls(warehouse):
    new = "SELECT CAST(NULL AS INT) AS k, 'new' AS v UNION ALL SELECT 1, 'one' UNION ALL SELECT 1, 'uno'"
    assert warehouse.says(f"INSERT INTO t BY NAME REPLACE USING (k) {new}") == "inserted 3 rows in place of 1"
    assert warehouse.rows("SELECT v FROM t") == [["b"], ["n"], ["new"], ["one"], ["uno"], ["x"], ["y"]]
    warehouse.run(f"INSERT INTO t AS old BY NAME REPLACE ON old.k <=> new.k ({new}) AS new")
    assert warehouse.rows("SELECT v FROM t") == [["b"], ["new"], ["one"], ["uno"], ["x"], ["y"]]
    removed = commit(warehouse)["remove"]
    warehouse.run("INSERT INTO t x REPLACE ON x.k = y.k AND y.v = 'x' (SELECT 11 AS k, 'x' AS v, NULL AS d) y")
    assert len(removed) >= 1 and len(commit(warehouse)["remove"]) == 1  # the other files hold no such row


def test_the_source_of_a_replace_is_computed_once(warehouse):
    warehouse.run("INSERT INTO t BY NAME REPLACE USING (k) SELECT CAST(rand() * 5 AS INT) + 100 AS k, 'r' AS v FROM t")
    assert len(warehouse.rows("SELECT 1 FROM t")) == 10


def test_schema_evolution(warehouse):
    warehouse.run("INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 5 AS k, 1.5D AS w",
                  "INSERT WITH SCHEMA EVOLUTION INTO t SELECT 6, 'six', NULL, 2.5D, true AS flag",
                  "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME REPLACE USING (k) SELECT 6 AS k, 'x' AS more")
    assert warehouse.rows("SELECT k, w, flag, more FROM t WHERE k IN (1, 5, 6)") == [
        [1, None, None, None], [5, "1.5", None, None], [6, None, None, "x"]]
    assert len(warehouse.foreign("t")) == 7
    for refused in ("SELECT 5 AS k, NULL AS nothing", "SELECT 5 AS k, 1 AS `a;b`"):
        warehouse.run(f"INSERT WITH SCHEMA EVOLUTION INTO t BY NAME {refused}", status=1)
    assert version(warehouse) == 5


# ---- UPDATE ------------------------------------------------------------------------------------

def test_update(warehouse):
    assert warehouse.says("UPDATE t AS x SET x.v = concat(v, k), k = k + 1 WHERE x.k < 10") == "updated 2 rows"
    assert warehouse.rows("SELECT k, v FROM t") == [[11, "x"], [12, "y"], [2, "a1"], [3, "b2"], [None, "n"]]
    assert {**metrics(warehouse), "numAddedBytes": 0, "numRemovedBytes": 0} == {
        "numUpdatedRows": 2, "numCopiedRows": 1, "numAddedFiles": 2, "numRemovedFiles": 1, "numAddedBytes": 0, "numRemovedBytes": 0}
    assert commit(warehouse)["commitInfo"][0]["operation"] == "UPDATE"
    assert warehouse.says("UPDATE t SET v = DEFAULT WHERE k = 99") == "updated 0 rows"
    assert version(warehouse) == 3  # nothing to do: no version
    assert warehouse.says("UPDATE t SET v = DEFAULT, d = '2024-03-01'::DATE") == "updated 5 rows"
    assert warehouse.rows("SELECT DISTINCT v, d FROM t") == [[None, "2024-03-01"]]


def test_update_with_subqueries(warehouse):
    warehouse.run("UPDATE t SET v = (SELECT max(v) FROM t) WHERE k IN (SELECT k FROM t WHERE d IS NULL OR k = 1)",
                  "UPDATE t SET v = 'none' WHERE NOT EXISTS (SELECT 1 FROM t o WHERE o.k = t.k)")
    assert warehouse.rows("SELECT k, v FROM t") == [[1, "y"], [11, "x"], [12, "y"], [2, "b"], [None, "none"]]


def test_update_of_nested_fields(tidegate):
    warehouse = Warehouse(tidegate)
    warehouse.run("CREATE TABLE n (s STRUCT<a: INT, b: STRUCT<c: STRING, d: INT>>, l ARRAY<INT>)",
                  "INSERT INTO n VALUES (named_struct('a', 1, 'b', named_struct('c', 'x', 'd', 2)), array(1)), (NULL, NULL)",
                  "UPDATE n SET s.b.c = concat(s.b.c, '!'), n.s.a = 5, l = array(s.a)")
    assert warehouse.rows("SELECT s.a, s.b.c, s.b.d, l[0] FROM n") == [[5, "x!", 2, 1], [5, None, None, None]]
    warehouse.fails("UPDATE n SET s.a = 1, s = NULL", "DELTA_CONFLICT_SET_COLUMN")
    warehouse.fails("UPDATE n SET s.a = 1, s.A = 2", "DELTA_CONFLICT_SET_COLUMN", "`s`.`A`")
    warehouse.fails("UPDATE n SET s.zz = 1", "FIELD_NOT_FOUND")
    warehouse.fails("UPDATE n SET l.a = 1", "UNSUPPORTED_FEATURE", "only fields of structs")
    warehouse.fails("UPDATE n SET s = named_struct('b', NULL, 'a', 1)", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST")


def test_update_moves_rows_between_partitions(tidegate):
    warehouse = Warehouse(tidegate)
    warehouse.run("CREATE TABLE t (k INT, p STRING) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL)",
                  "UPDATE t SET p = 'a' WHERE p IS NULL OR p = 'b'")
    assert warehouse.foreign("t") == [[1, "a"], [2, "a"], [3, "a"]]
    assert len(commit(warehouse)["remove"]) == 2
    warehouse.fails("UPDATE t SET p = ''", "TIDEGATE_INVALID_PARTITION_VALUE")


@pytest.mark.parametrize(("text", "error_class", "words"), [
    ("UPDATE t SET w = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION", ["             ^"]),
    ("UPDATE t SET k = 1, t.K = 2", "DELTA_CONFLICT_SET_COLUMN", ["                    ^^^"]),
    ("UPDATE t SET k = 'x'", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", ["                 ^^^"]),
    ("UPDATE t SET k = 5000000000", "CAST_OVERFLOW", []),
    ("UPDATE t SET k = 1 WHERE v", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", ["WHERE must be a boolean"]),
    ("UPDATE t SET v = uuid()", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", ["uuid"]),
    ("UPDATE t SET k = 1 WHERE rand() < 2", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", ["rand"]),
    ("UPDATE t x (a, b) SET k = 1", "COLUMN_ALIASES_NOT_ALLOWED", ["UPDATE"]),
    ("UPDATE t", "PARSE_SYNTAX_ERROR", []),
    ("UPDATE nowhere SET k = 1", "TABLE_OR_VIEW_NOT_FOUND", []),
    ("UPDATE json.`x` SET k = 1", "UNSUPPORTED_FEATURE", ["only Delta tables"]),
])
def test_update_refused(warehouse, text, error_class, words):
    said = warehouse.run(text, status=1).stderr
    assert all(word in said for word in [f"[{error_class}", *words] if word != "[")
    assert version(warehouse) == 2


def test_not_null(tidegate):
    warehouse = Warehouse(tidegate)
    schema = pyarrow.schema([pyarrow.field("k", pyarrow.int32(), nullable=False), pyarrow.field("v", pyarrow.int32())])
    deltalake.write_deltalake(str(warehouse.path("t")), pyarrow.table({"k": [1], "v": [1]}, schema=schema))
    for text in ("UPDATE t SET k = NULL", "INSERT INTO t (v) VALUES (1)", "INSERT OVERWRITE t VALUES (NULL, 1)",
                 "MERGE INTO t USING (SELECT 2 AS v) s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)"):
        warehouse.fails(text, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "k")
    assert (version(warehouse), warehouse.foreign("t")) == (0, [[1, 1]])


# ---- DELETE ------------------------------------------------------------------------------------

def test_delete(warehouse):
    assert warehouse.says("DELETE FROM t WHERE k > 10") == "deleted 2 rows"  # a whole file, by its statistics
    assert sorted(commit(warehouse)) == ["commitInfo", "remove"]
    assert metrics(warehouse)["numDeletedRows"] == 2
    assert warehouse.says("DELETE FROM t WHERE k > 10") == "deleted 0 rows"
    assert version(warehouse) == 3
    assert warehouse.says("DELETE FROM t WHERE k IN (SELECT min(k) FROM t)") == "deleted 1 row"
    assert metrics(warehouse)["numCopiedRows"] == 2
    assert warehouse.says("DELETE FROM t x WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.k = x.k)") == "deleted 1 row"
    assert warehouse.foreign("t")[0][:2] == [2, "b"]
    warehouse.fails("DELETE FROM t WHERE rand() < 2", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED")
    warehouse.fails("DELETE FROM t WHERE k IN (SELECT z FROM t)", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    assert warehouse.says("DELETE FROM t") == "deleted 1 row"


# ---- MERGE -------------------------------------------------------------------------------------

SOURCE = "(SELECT * FROM VALUES (1, 'one'), (3, 'three'), (NULL, 'null') AS x(k, v)) s"


def test_merge(warehouse):
    said = warehouse.says(f"""MERGE INTO t USING {SOURCE} ON t.k = s.k
        WHEN MATCHED AND s.v = 'nothing' THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = concat(t.v, '+', s.v)
        WHEN NOT MATCHED BY TARGET AND s.k IS NULL THEN INSERT (v) VALUES ('from null')
        WHEN NOT MATCHED THEN INSERT (k, v, d) VALUES (s.k, s.v, DATE'2024-05-01')
        WHEN NOT MATCHED BY SOURCE AND t.k > 11 THEN DELETE
        WHEN NOT MATCHED BY SOURCE AND t.k > 10 THEN UPDATE SET d = DEFAULT, v = 'gone'""")
    assert said == "merged: 2 updated, 1 deleted, 2 inserted"
    expected = [[1, "a+one", "2024-01-01"], [11, "gone", None], [2, "b", "2024-01-02"], [3, "three", "2024-05-01"],
                [None, "from null", None], [None, "n", None]]  # a NULL key matches none
    assert warehouse.rows("SELECT * FROM t") == expected
    assert [[k, v, str(d) if d else None] for k, v, d in warehouse.foreign("t")] == expected
    found = metrics(warehouse)
    assert {key: found[key] for key in found if "Bytes" not in key} == {
        "numTargetRowsInserted": 2, "numTargetRowsUpdated": 2, "numTargetRowsDeleted": 1, "numTargetRowsMatchedUpdated": 1,
        "numTargetRowsMatchedDeleted": 0, "numTargetRowsNotMatchedBySourceUpdated": 1, "numTargetRowsNotMatchedBySourceDeleted": 1,
        "numTargetRowsCopied": 2, "numOutputRows": 6, "numTargetFilesAdded": 2, "numTargetFilesRemoved": 2}
    info, = commit(warehouse)["commitInfo"]
    assert info["operation"] == "MERGE"
    assert [entry["actionType"] for entry in json.loads(info["operationParameters"]["matchedPredicates"])] == ["delete", "update"]


def test_merge_star(warehouse):
    source = "(SELECT 1 AS k, DATE'2024-09-09' AS d, 'one' AS v, 5 AS ignored UNION ALL SELECT 4, NULL, 'four', 6) s"
    star = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    warehouse.run(f"MERGE INTO t USING {source} ON t.k = s.k {star}")
    assert warehouse.rows("SELECT * FROM t WHERE k IN (1, 4)") == [[1, "one", "2024-09-09"], [4, "four", None]]
    warehouse.fails(f"MERGE INTO t USING {SOURCE} ON t.k = s.k {star}", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`d`", "SCHEMA EVOLUTION")
    evolving = "(SELECT 1 AS k, 7 AS w UNION ALL SELECT 5, 8) s"
    warehouse.run(f"MERGE WITH SCHEMA EVOLUTION INTO t USING {evolving} ON t.k = s.k {star}")
    assert warehouse.rows("SELECT * FROM t WHERE k IN (1, 4, 5)") == [
        [1, "one", "2024-09-09", 7], [4, "four", None, None], [5, None, None, 8]]
    named = "(SELECT 5 AS k, 'z' AS z) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET t.z = s.z"
    warehouse.fails(f"MERGE INTO t USING {named}", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    warehouse.run(f"MERGE WITH SCHEMA EVOLUTION INTO t USING {named}")
    assert warehouse.rows("SELECT z FROM t WHERE k = 5") == [["z"]]
    assert len(warehouse.foreign("t")) == 7


def test_merge_of_repeated_rows(warehouse):
    source = "(SELECT * FROM VALUES (1, 'p'), (1, 'q'), (9, 'r'), (9, 's') AS x(k, v)) s ON t.k = s.k"
    error_class = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
    warehouse.fails(f"MERGE INTO t USING {source} WHEN MATCHED THEN UPDATE SET v = s.v", error_class)
    warehouse.fails(f"MERGE INTO t USING {source} WHEN MATCHED AND s.v > 'a' THEN DELETE", error_class)
    warehouse.fails(f"MERGE INTO t USING {source} WHEN MATCHED AND s.v = 'p' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v", error_class)
    assert version(warehouse) == 2
    # one row is left over by the condition: nothing is ambiguous; rows that are new come as often as they stand there
    said = warehouse.says(f"MERGE INTO t USING {source} WHEN MATCHED AND s.v = 'q' THEN UPDATE SET v = s.v "
                          "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)")
    assert said == "merged: 1 updated, 0 deleted, 2 inserted"
    assert warehouse.says(f"MERGE INTO t USING {source} WHEN MATCHED THEN DELETE "
                          "WHEN NOT MATCHED BY SOURCE AND t.k = 11 THEN DELETE") == "merged: 0 updated, 4 deleted, 0 inserted"
    assert warehouse.rows("SELECT k FROM t") == [[12], [2], [None]]


def test_merge_touches_only_files_with_changed_rows(warehouse):
    before = {add["path"] for add in commit(warehouse)["add"]}
    warehouse.run(f"MERGE INTO t USING {SOURCE} ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v")
    assert before.isdisjoint(remove["path"] for remove in commit(warehouse)["remove"])
    now = version(warehouse)
    assert warehouse.says(f"MERGE INTO t USING {SOURCE} ON t.k = s.k AND s.v = '' WHEN MATCHED THEN DELETE") == (
        "merged: 0 updated, 0 deleted, 0 inserted")
    assert version(warehouse) == now


def test_merge_sources(warehouse):
    """A table by name, itself, a view, a common table expression; random values are the same for every clause."""
    warehouse.run("MERGE INTO t USING t AS s ON t.k = s.k AND t.k = 1 WHEN MATCHED THEN UPDATE SET v = 'self'",
                  "CREATE TEMPORARY VIEW w AS SELECT 2 AS k, 'view' AS v; "
                  "MERGE INTO t USING w ON t.k = w.k WHEN MATCHED THEN UPDATE SET v = w.v",
                  "MERGE INTO t USING (WITH c AS (SELECT 11 AS k) SELECT k, rand() AS r FROM c) s ON t.k = s.k "
                  "WHEN MATCHED AND s.r < 2 THEN UPDATE SET v = 'random'",
                  "MERGE INTO main.default.t USING (SELECT NULL AS k, NULL AS v) s ON t.k <=> s.k "
                  "WHEN MATCHED THEN UPDATE SET d = s.v")
    assert warehouse.rows("SELECT k, v FROM t") == [[1, "self"], [11, "random"], [12, "y"], [2, "view"], [None, "n"]]


@pytest.mark.parametrize(("rest", "error_class", "word"), [
    ("ON k = 1 WHEN MATCHED THEN DELETE", "AMBIGUOUS_REFERENCE", "`k`"),
    ("ON t.k = s.k AND rand() < 2 WHEN MATCHED THEN DELETE", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", "rand"),
    ("ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = uuid()", "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", "uuid"),
    ("ON t.k = s.k WHEN MATCHED THEN DELETE WHEN MATCHED AND s.k = 1 THEN DELETE", "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION", "MATCHED"),
    ("ON t.k = s.k WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED THEN INSERT *",
     "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION", "NOT MATCHED"),
    ("ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE",
     "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION", "BY SOURCE"),
    ("ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, v) VALUES (1)", "INSERT_COLUMN_ARITY_MISMATCH", "2 columns and gives 1"),
    ("ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k, K) VALUES (1, 2)", "DELTA_CONFLICT_SET_COLUMN", "`K`"),
    ("ON t.k = s.k WHEN NOT MATCHED THEN INSERT (k) VALUES (t.k)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`t`.`k`"),
    ("ON t.k = s.k WHEN NOT MATCHED THEN DELETE", "PARSE_SYNTAX_ERROR", "INSERT"),
    ("ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *", "PARSE_SYNTAX_ERROR", "'*'"),
    ("ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.v", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`s`.`v`"),
    ("ON t.k = s.k WHEN MATCHED THEN UPDATE SET s.v = 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "`s`.`v`"),
    ("ON t.k = s.k AND t.k IN (SELECT 1) WHEN MATCHED THEN DELETE", "UNSUPPORTED_FEATURE", "subquery"),
    ("ON t.k = s.k", "PARSE_SYNTAX_ERROR", "WHEN"),
    ("WHEN MATCHED THEN DELETE", "PARSE_SYNTAX_ERROR", "ON"),
    ("ON s.v WHEN MATCHED THEN DELETE", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "MERGE"),
])
def test_merge_refused(warehouse, rest, error_class, word):
    said = warehouse.fails(f"MERGE INTO t USING {SOURCE} {rest}", error_class, word)
    assert "^" in said
    assert version(warehouse) == 2


# ---- others at the same time, damaged tables ---------------------------------------------------

def test_two_writers(warehouse):
    """Every statement of two processes counts once, whoever wins a race."""
    texts = {
        "a": ";".join(["UPDATE t SET k = k + 1 WHERE v = 'a'", "INSERT INTO t VALUES (100, 'new', NULL)",
                       "MERGE INTO t USING (SELECT 'b' AS v) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET k = t.k + 1"] * 4),
        "b": ";".join(["UPDATE t SET k = k + 10 WHERE v = 'a'", "DELETE FROM t WHERE v = 'none'",
                       "MERGE INTO t USING (SELECT 'b' AS v) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET k = t.k + 10 "
                       "WHEN NOT MATCHED BY SOURCE AND t.v = 'x' THEN UPDATE SET k = t.k + 1"] * 4),
    }
    running = [subprocess.Popen([os.environ["TIDEGATE_BIN"], "sql", "--warehouse", warehouse.tidegate.folder / "wh", "-e", text], stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True) for text in texts.values()]
    for process in running:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert warehouse.rows("SELECT k FROM t WHERE v IN ('a', 'b', 'x')") == [[15], [45], [46]]
    assert warehouse.rows("SELECT count(*) FROM t WHERE v = 'new'") == [[4]]


def test_a_lost_data_file_changes_nothing(warehouse):
    for file in warehouse.path("t").glob("*.parquet"):
        file.unlink()
    for text in ("UPDATE t SET k = 1 WHERE v = 'a'", "DELETE FROM t WHERE v = 'a'",
                 f"MERGE INTO t USING {SOURCE} ON t.k = s.k WHEN MATCHED THEN DELETE"):
        warehouse.run(text, status=1)
    assert version(warehouse) == 2
    warehouse.run("INSERT OVERWRITE t VALUES (1, 'a', NULL)")  # reads nothing: it may
    assert warehouse.foreign("t") == [[1, "a", None]]


def test_append_only(tidegate):
    warehouse = Warehouse(tidegate)
    deltalake.write_deltalake(str(warehouse.path("t")), pyarrow.table({"k": [1]}), configuration={"delta.appendOnly": "true"})
    for text in ("UPDATE t SET k = 2", "DELETE FROM t", "INSERT OVERWRITE t VALUES (2)",
                 "MERGE INTO t USING (SELECT 1 AS k) s ON t.k = s.k WHEN MATCHED THEN DELETE"):
        warehouse.fails(text, "DELTA_CANNOT_MODIFY_APPEND_ONLY")
    warehouse.run("MERGE INTO t USING (SELECT 5 AS k) s ON t.k = s.k WHEN NOT MATCHED THEN INSERT *")
    assert warehouse.foreign("t") == [[1], [5]]


@pytest.mark.parametrize("value", ["named_struct('b', 20, 'a', 10)", "named_struct('a', 10, 'c', 20)", "named_struct('a', NULL, 'B', 1, 'c', 2)"])
@pytest.mark.parametrize("how", ["BY NAME", "BY NAME REPLACE WHERE k = 1", "BY NAME REPLACE USING (k)"])
def test_by_name_holds_inside_structs(tidegate, value, how):
    warehouse = Warehouse(tidegate)
    warehouse.run("CREATE TABLE t (k INT, s STRUCT<a: INT, b: INT>)", "INSERT INTO t BY NAME SELECT 1 AS k, named_struct('A', 1, 'B', 2) AS s")
    warehouse.fails(f"INSERT INTO t {how} SELECT {value} AS s, 1 AS k", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "`s`")
    assert warehouse.rows("SELECT k, s.a, s.b FROM t") == [[1, 1, 2]]
