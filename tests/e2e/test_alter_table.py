# SPDX-License-Identifier: Apache-2.0
"""ALTER TABLE and COMMENT ON, and what a table's constraints refuse, whoever made them and whoever writes."""
import datetime as dt
import json
import os
import subprocess
import sys
import textwrap

import deltalake
import pyarrow
import pytest
from project import Project
from standalone import THOUSAND, Warehouse


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run("CREATE TABLE t (a INT, b STRING, p INT) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'x', 1), (2, NULL, 2), (3, 'z', 1)")
    return made


def schema(warehouse, name="t"):
    return [(field.name, str(field.type.type), field.nullable) for field in warehouse.table(name).schema().fields]


def version(warehouse, name="t"):
    return warehouse.table(name).version()


def properties(warehouse, name="t"):
    return warehouse.table(name).metadata().configuration


# ---- properties ------------------------------------------------------------------------------------


def test_properties(warehouse):
    assert warehouse.says("ALTER TABLE t SET TBLPROPERTIES ('owner' = 'ä', a.b = 'c')") == "altered table main.default.t"
    warehouse.run("ALTER TABLE t SET TBLPROPERTIES ('OWNER' = 'b')", "ALTER TABLE t UNSET TBLPROPERTIES (a.b)")
    assert properties(warehouse) == {"owner": "b"}
    assert warehouse.table("t").history(1)[0]["operation"] == "UNSET TBLPROPERTIES"
    before = version(warehouse)
    assert warehouse.says("ALTER TABLE t SET TBLPROPERTIES ('owner' = 'b')") == "main.default.t is like that already"
    assert warehouse.says("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('gone')") == "main.default.t is like that already"
    assert version(warehouse) == before
    warehouse.fails("ALTER TABLE t UNSET TBLPROPERTIES ('owner', 'gone')", "DELTA_UNSET_NON_EXISTENT_PROPERTY", "`gone`")
    assert properties(warehouse) == {"owner": "b"}
    assert warehouse.foreign("t") == [[1, "x", 1], [2, None, 2], [3, "z", 1]]


@pytest.mark.parametrize(("setting", "error", "words"), [
    ("'delta.apendOnly' = 'true'", "DELTA_UNKNOWN_CONFIGURATION", "Did you mean `delta.appendOnly`?"),
    ("'delta.appendOnly' = 'maybe'", "TIDEGATE_INVALID_TABLE_PROPERTY", "true or false"),
    ("'delta.checkpointInterval' = '0'", "TIDEGATE_INVALID_TABLE_PROPERTY", "a number above 0"),
    ("'delta.targetFileSize' = 'big'", "TIDEGATE_INVALID_TABLE_PROPERTY", "a size such as '128mb'"),
    ("'delta.constraints.c' = 'a > 0'", "DELTA_ADD_CONSTRAINTS", "ADD CONSTRAINT"),
    ("'tidegate.pipelineId' = 'x'", "TIDEGATE_INVALID_TABLE_PROPERTY", "set by tidegate alone"),
    ("'delta.enableRowTracking' = 'true'", "UNSUPPORTED_FEATURE", "delta.enableRowTracking"),
    ("'delta.columnMapping.mode' = 'name'", "UNSUPPORTED_FEATURE", "of a table that is there"),
    ("'delta.feature.clustering' = 'supported'", "UNSUPPORTED_FEATURE", "delta.feature.clustering"),
])
def test_properties_that_are_refused(warehouse, setting, error, words):
    told = warehouse.fails(f"ALTER TABLE t SET TBLPROPERTIES ({setting})", error, words)
    assert "^" in told
    assert version(warehouse) == 1


@pytest.mark.parametrize("key", ["delta.columnMapping.mode", "delta.constraints.c", "tidegate.pipelineId"])
def test_properties_that_stay(warehouse, key):
    warehouse.fails(f"ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('{key}')", "DELTA_OPERATION_NOT_ALLOWED", f"`{key}`")


def test_append_only(warehouse):
    warehouse.run("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true')", "INSERT INTO t VALUES (4, 'w', 1)")
    warehouse.fails("DELETE FROM t WHERE a = 1", "DELTA_CANNOT_MODIFY_APPEND_ONLY", "delta.appendOnly")
    warehouse.run("OPTIMIZE t")  # moves rows, and takes none away
    assert warehouse.cell("SELECT count(*) FROM t") == 4
    warehouse.run("ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'false')", "DELETE FROM t WHERE a = 1")
    assert warehouse.cell("SELECT count(*) FROM t") == 3


# ---- columns ---------------------------------------------------------------------------------------


def test_added_columns(warehouse):
    warehouse.run("ALTER TABLE t ADD COLUMNS (c DECIMAL(5,2) COMMENT 'price' AFTER a, d STRUCT<x: INT, y: ARRAY<STRING>>, e DATE FIRST)")
    assert [name for name, *_ in schema(warehouse)] == ["e", "a", "c", "b", "p", "d"]
    assert warehouse.table("t").schema().fields[2].metadata == {"comment": "price"}
    warehouse.run("INSERT INTO t VALUES (DATE'2024-01-01', 4, 1.25, 'w', 3, named_struct('x', 1, 'y', array('q')))", "ALTER TABLE t ADD COLUMN f INT")
    expected = [[None, 1, None, "x", 1, None, None], [None, 2, None, None, 2, None, None], [None, 3, None, "z", 1, None, None]]
    assert sorted((row for row in warehouse.foreign("t") if row[0] is None), key=lambda row: row[1]) == expected
    assert warehouse.rows("SELECT a, c, d.y[0] FROM t WHERE p = 3") == [[4, "1.25", "q"]]
    assert warehouse.cell("SELECT count(*) FROM t VERSION AS OF 1") == 3


@pytest.mark.parametrize(("change", "error", "words"), [
    ("ADD COLUMN B INT", "FIELD_ALREADY_EXISTS", "`B`"),
    ("ADD COLUMNS (c INT, C STRING)", "FIELD_ALREADY_EXISTS", "`C`"),
    ("ADD COLUMN c INT NOT NULL", "DELTA_OPERATION_NOT_ALLOWED", "SET NOT NULL"),
    ("ADD COLUMN c INT AFTER bb", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "Did you mean `b`?"),
    ("ADD COLUMN s.x INT", "UNSUPPORTED_FEATURE", "a field of a struct"),
    ("ADD COLUMN `a b` INT", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "`a b`"),
    ("ADD COLUMN c INTERVAL DAY", "UNSUPPORTED_DATATYPE", "`c`"),
    ("ADD COLUMN c INT DEFAULT 1", "UNSUPPORTED_FEATURE", "a column default"),
    ("ALTER COLUMN c COMMENT 'x'", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "no column `c`"),
    ("ALTER COLUMN a TYPE BIGINT", "DELTA_ALTER_TABLE_CHANGE_COL_NOT_SUPPORTED", "from INT to BIGINT"),
    ("ALTER COLUMN a SET DEFAULT 1", "UNSUPPORTED_FEATURE", "a column default"),
    ("ALTER COLUMN a AFTER a", "DELTA_OPERATION_NOT_ALLOWED", "behind itself"),
    ("ALTER COLUMN b SET NOT NULL", "DELTA_NEW_NOT_NULL_VIOLATION", "1 row in main.default.t violate the new NOT NULL constraint on b"),
    ("ALTER COLUMN a BECOME INT", "PARSE_SYNTAX_ERROR", "SET NOT NULL"),
    ("RENAME COLUMN a TO c", "DELTA_UNSUPPORTED_RENAME_COLUMN", "column mapping"),
    ("DROP COLUMN a", "DELTA_UNSUPPORTED_DROP_COLUMN", "column mapping"),
    ("DROP COLUMNS (a, b)", "DELTA_UNSUPPORTED_DROP_COLUMN", "column mapping"),
    ("RENAME TO u", "UNSUPPORTED_FEATURE", "ALTER TABLE ... RENAME TO is not available"),
    ("SET LOCATION '/x'", "UNSUPPORTED_FEATURE", "ALTER TABLE ... SET LOCATION"),
    ("DROP FEATURE deletionVectors", "UNSUPPORTED_FEATURE", "`deletionVectors`"),
    ("CLUSTER BY (a)", "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED", "partitioned"),
])
def test_changes_that_are_refused(warehouse, change, error, words):
    told = warehouse.fails(f"ALTER TABLE t {change}", error, words)
    assert "^" in told
    assert version(warehouse) == 1


def test_a_mapped_table(warehouse):
    """Columns that are added get a name of their own in files; constraints, OPTIMIZE and the rest know columns by their names."""
    warehouse.run("CREATE TABLE m (a INT, `b c` STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "INSERT INTO m VALUES (1, 'x')",
                  "ALTER TABLE m ADD COLUMN d INT FIRST", "ALTER TABLE m ADD CONSTRAINT c CHECK (a < 5 AND `b c` <> 'y')",
                  "INSERT INTO m VALUES (7, 2, 'z')")
    told = warehouse.fails("INSERT INTO m VALUES (7, 3, 'y')", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "")
    assert " - a : 3\n - b c : y" in told
    warehouse.run("OPTIMIZE m", "ALTER TABLE m ALTER COLUMN a SET NOT NULL")
    assert warehouse.rows("SELECT * FROM m") == warehouse.foreign("m") == [[7, 2, "z"], [None, 1, "x"]]
    assert warehouse.rows("DESCRIBE DETAIL m")[0][9] == 1
    warehouse.fails("ALTER TABLE m DROP COLUMN d", "UNSUPPORTED_FEATURE", "DROP COLUMN")
    warehouse.fails("ALTER TABLE m RENAME COLUMN d TO e", "UNSUPPORTED_FEATURE", "RENAME COLUMN")


def test_not_null(warehouse):
    warehouse.run("ALTER TABLE t ALTER COLUMN a SET NOT NULL, p SET NOT NULL")
    assert schema(warehouse) == [("a", "integer", False), ("b", "string", True), ("p", "integer", False)]
    warehouse.fails("INSERT INTO t VALUES (NULL, 'x', 1)", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "column: a")
    warehouse.fails("INSERT INTO t VALUES (1, 'x', NULL)", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "column: p")
    warehouse.run("ALTER TABLE t ALTER COLUMN a DROP NOT NULL", "INSERT INTO t VALUES (NULL, 'x', 1)")
    assert warehouse.cell("SELECT count(*) FROM t WHERE a IS NULL") == 1
    warehouse.run("CREATE TABLE n (a INT NOT NULL COMMENT 'x', s STRUCT<x: INT NOT NULL, l: ARRAY<INT>>)", "INSERT INTO n VALUES (1, NULL)")
    warehouse.fails("INSERT INTO n (s) VALUES (NULL)", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "column: a")
    warehouse.fails("INSERT INTO n SELECT 1, named_struct('x', CAST(NULL AS INT), 'l', array(1))", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "column: s")


def test_comments_and_places(warehouse):
    warehouse.run("COMMENT ON TABLE t IS 'it''s'", "COMMENT ON COLUMN main.default.t.b IS 'β'", "ALTER TABLE t ALTER COLUMN p FIRST",
                  "ALTER TABLE t CHANGE COLUMN a AFTER b")
    assert warehouse.table("t").metadata().description == "it's"
    assert [(field.name, field.metadata) for field in warehouse.table("t").schema().fields] == [("p", {}), ("b", {"comment": "β"}), ("a", {})]
    assert warehouse.foreign("t") == [[1, "x", 1], [1, "z", 3], [2, None, 2]]
    warehouse.run("COMMENT ON TABLE t IS NULL")
    assert warehouse.table("t").metadata().description in (None, "")
    warehouse.fails("COMMENT ON COLUMN b IS 'x'", "PARSE_SYNTAX_ERROR", "needs its table")
    warehouse.fails("COMMENT ON TABLE t AS 'x'", "PARSE_SYNTAX_ERROR")


def test_datasets_are_changed_by_their_definitions(warehouse):
    warehouse.run("CREATE MATERIALIZED VIEW mv AS SELECT a FROM t", "CREATE STREAMING TABLE st FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM t")
    warehouse.fails("ALTER TABLE mv ADD COLUMN x INT", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.INVALID_ALTER", "CREATE OR REPLACE MATERIALIZED VIEW")
    warehouse.fails("COMMENT ON TABLE st IS 'x'", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.INVALID_ALTER", "CREATE OR REFRESH STREAMING TABLE")


def test_clone_is_refused_by_name(warehouse):
    for words in ("SHALLOW CLONE", "DEEP CLONE", "CLONE"):
        warehouse.fails(f"CREATE TABLE u {words} t", "UNSUPPORTED_FEATURE", "CLONE", "CREATE TABLE ... AS SELECT")


# ---- constraints -----------------------------------------------------------------------------------


def test_a_constraint_holds_for_all_writers(warehouse):
    warehouse.run("ALTER TABLE t ADD CONSTRAINT Small CHECK (a < 10 AND p IS NOT NULL)")
    assert properties(warehouse) == {"delta.constraints.small": "a < 10 AND p IS NOT NULL"}
    protocol = warehouse.table("t").protocol()
    assert (protocol.min_reader_version, protocol.min_writer_version, protocol.writer_features) == (1, 7, ["checkConstraints"])
    told = warehouse.fails("INSERT INTO t VALUES (9, 'x', 1), (10, 'y', 7)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
                           "CHECK constraint small (a < 10 AND p IS NOT NULL) violated by row with values:")
    assert " - a : 10\n - p : 7" in told
    warehouse.fails("INSERT INTO t VALUES (1, 'x', NULL)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", " - p : null")
    assert version(warehouse) == 2
    warehouse.run("INSERT INTO t VALUES (9, 'x', 1)", "DELETE FROM t WHERE a = 3")
    with pytest.raises(deltalake.exceptions.DeltaError):  # delta-rs obeys it too
        deltalake.write_deltalake(warehouse.table("t"), table(11), mode="append")
    deltalake.write_deltalake(warehouse.table("t"), table(4), mode="append")
    assert warehouse.rows("SELECT a FROM t") == [[1], [2], [4], [9]] and [row[0] for row in warehouse.foreign("t")] == [1, 2, 4, 9]


def table(a):
    return pyarrow.table({"a": pyarrow.array([a], pyarrow.int32()), "b": ["d"], "p": pyarrow.array([1], pyarrow.int32())})


@pytest.mark.parametrize(("constraint", "error", "words"), [
    ("big CHECK (a > 1)", "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "1 row in main.default.t violate the new CHECK constraint (a > 1)"),
    ("known CHECK (b = 'x')", "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "2 rows"),  # NULL is not TRUE
    ("n CHECK (a + 1)", "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", "(a + 1)"),
    ("n CHECK (c > 1)", "UNRESOLVED_COLUMN", "c"),
    ("n CHECK (rand() < 2)", "UNSUPPORTED_FEATURE", "rand()"),
    ("n CHECK (p < year(current_date()))", "UNSUPPORTED_FEATURE", "the clock"),
    ("n CHECK (a IN (SELECT 1))", "UNSUPPORTED", ""),
    ("n CHECK a > 1", "PARSE_SYNTAX_ERROR", "'('"),
    ("n PRIMARY KEY (a)", "UNSUPPORTED_FEATURE", "a key"),
])
def test_constraints_that_are_refused(warehouse, constraint, error, words):
    done = warehouse.run(f"ALTER TABLE t ADD CONSTRAINT {constraint}", status=1)
    assert error in done.stderr and words in done.stderr and "^" in done.stderr
    assert version(warehouse) == 1


def test_dropping_a_constraint(warehouse):
    warehouse.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a < 10)")
    warehouse.fails("ALTER TABLE t ADD CONSTRAINT C CHECK (a < 11)", "DELTA_CONSTRAINT_ALREADY_EXISTS", "CHECK (a < 10)")
    warehouse.fails("ALTER TABLE t DROP CONSTRAINT cc", "DELTA_CONSTRAINT_DOES_NOT_EXIST", "Did you mean `c`?")
    assert warehouse.says("ALTER TABLE t DROP CONSTRAINT IF EXISTS cc") == "main.default.t is like that already"
    warehouse.run("ALTER TABLE t DROP CONSTRAINT C", "INSERT INTO t VALUES (99, 'x', 1)")
    assert properties(warehouse) == {}


def test_rows_that_a_query_leaves_out_are_not_judged(warehouse):
    warehouse.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a < 10)", "CREATE TABLE s (a INT, b STRING, p INT)",
                  f"INSERT INTO s SELECT id, 'r', 1 FROM {THOUSAND}")
    warehouse.run("INSERT INTO t SELECT * FROM s WHERE a < 10 AND b LIKE '%r'")
    assert warehouse.cell("SELECT count(*) FROM t") == 13
    warehouse.run("DELETE FROM t WHERE a % 2 = 0")
    assert warehouse.cell("SELECT count(*) FROM t") == 7


def test_a_flow_obeys_the_constraints_of_its_table(tidegate):
    project = Project(tidegate, t="CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 3 BY NAME SELECT * FROM s;")
    fields = pyarrow.schema([("d", pyarrow.date32()), ("v", pyarrow.int64())])
    days = [(dt.date(2024, 3, n), n) for n in range(1, 11)]
    project.write("s", fields, days)
    project.run("2024-03-10")
    deltalake.DeltaTable(project.path("t")).alter.add_constraint({"positive": "v > 0"})
    project.write("s", fields, [*days[:-1], (days[-1][0], -5)])
    failed = project.run("2024-03-10", status=1)["flows"][0]
    assert "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES" in json.dumps(failed["error"]) and "v : -5" in json.dumps(failed["error"])
    assert sorted(row["v"] for row in project.delta_rs("t")) == [7, 8, 9, 10]
    project.write("s", fields, [*days[:-1], (days[-1][0], 50)])
    project.run("2024-03-10")
    assert sorted(row["v"] for row in project.delta_rs("t")) == sorted(row["v"] for row in project.polars("t")) == [7, 8, 9, 50]


def rewrite_metadata(warehouse, change, name="t"):
    """A commit of another program that changes fields of the schema."""
    log = warehouse.path(name) / "_delta_log"
    lines = [json.loads(line) for path in sorted(log.glob("*.json")) for line in path.read_text().splitlines()]
    metadata = [line["metaData"] for line in lines if "metaData" in line][-1]
    fields = json.loads(metadata["schemaString"])
    change(fields["fields"])
    metadata["schemaString"] = json.dumps(fields)
    number = version(warehouse, name) + 1
    (log / f"{number:020}.json").write_text(json.dumps({"metaData": metadata}) + "\n")


def invariant(text):
    return {"delta.invariants": json.dumps({"expression": {"expression": text}})}


def test_column_invariants(warehouse):
    rewrite_metadata(warehouse, lambda fields: fields[0].update(metadata=invariant("a < 10")))
    told = warehouse.fails("INSERT INTO t VALUES (10, 'x', 1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "EXPRESSION(a < 10)")
    assert " - a : 10" in told
    warehouse.fails("INSERT INTO t VALUES (NULL, 'x', 1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", " - a : null")
    warehouse.run("INSERT INTO t VALUES (9, 'x', 1)")
    assert warehouse.cell("SELECT max(a) FROM t") == 9


@pytest.mark.parametrize(("change", "error", "words"), [
    (lambda fields: fields[0].update(metadata={"delta.invariants": "{}"}), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "cannot be understood"),
    (lambda fields: fields[0].update(metadata={"delta.generationExpression": "1"}), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "generatedColumns"),
    (lambda fields: fields[0].update(metadata={"CURRENT_DEFAULT": "1"}), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "allowColumnDefaults"),
    (lambda fields: fields[0].update(metadata={"delta.identity.start": 1}), "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "identityColumns"),
    (lambda fields: fields.append({"name": "s", "nullable": True, "metadata": {}, "type": {"type": "struct", "fields": [
        {"name": "x", "type": "integer", "nullable": True, "metadata": invariant("x > 0")}]}}),
     "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "`s` has a field with an invariant"),
])
def test_what_cannot_be_kept_is_not_written(warehouse, change, error, words):
    rewrite_metadata(warehouse, change)
    warehouse.fails("INSERT INTO t (b, p) VALUES ('x', 1)", error, words)
    assert version(warehouse) == 2


def test_a_constraint_that_cannot_be_read_stops_writers(warehouse):
    warehouse.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a < 10)")
    log = warehouse.path("t") / "_delta_log" / f"{2:020}.json"
    log.write_text(log.read_text().replace("a < 10", "no_such_function(a)"))
    warehouse.fails("INSERT INTO t VALUES (1, 'x', 1)", "UNRESOLVED_ROUTINE", "while reading CHECK constraint c")


RACE = """
import subprocess, sys
for i in range(12):
    subprocess.run([sys.argv[1], "sql", "--warehouse", "wh", "-e", f"INSERT INTO r VALUES ({i})"], capture_output=True, check=False)
"""


def test_a_constraint_and_writers_at_once(warehouse):
    """Whoever is first: a table with the constraint has no row that breaks it."""
    for attempt in range(3):
        warehouse.run("DROP TABLE IF EXISTS r", "CREATE TABLE r (a INT)")
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(RACE), os.environ["TIDEGATE_BIN"]], cwd=warehouse.folder) as writer:
            limit = 2 + 3 * attempt
            warehouse.run(f"ALTER TABLE r ADD CONSTRAINT c CHECK (a < {limit})", status=None)
            writer.wait(60)
        found = [row[0] for row in warehouse.foreign("r")]
        if properties(warehouse, "r"):
            assert max(found, default=0) < limit
        else:
            assert found == list(range(12))


def test_constraints_of_changed_rows(warehouse):
    """UPDATE, MERGE, INSERT OVERWRITE and REPLACE WHERE write rows too."""
    warehouse.run("ALTER TABLE t ADD CONSTRAINT c CHECK (a < 10)")
    before = warehouse.foreign("t")
    for statement in ("UPDATE t SET a = a + 7 WHERE b = 'z'", "INSERT OVERWRITE t VALUES (10, 'x', 1)",
                      "INSERT INTO t REPLACE WHERE p = 1 VALUES (10, 'x', 1)",
                      "MERGE INTO t USING (SELECT 1 AS k) s ON t.a = s.k WHEN MATCHED THEN UPDATE SET a = 11",
                      "MERGE INTO t USING (SELECT 12 AS k) s ON t.a = s.k WHEN NOT MATCHED THEN INSERT (a, b, p) VALUES (s.k, 'n', 1)"):
        warehouse.fails(statement, "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "CHECK constraint c (a < 10)")
    assert warehouse.foreign("t") == before
    warehouse.run("UPDATE t SET a = a + 6 WHERE b = 'z'")
    assert warehouse.rows("SELECT max(a) FROM t") == [[9]]
