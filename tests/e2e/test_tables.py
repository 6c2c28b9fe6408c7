# SPDX-License-Identifier: Apache-2.0
"""Tables by SQL alone: what statements leave on the disk, and rows that other writers may not have as we do."""
import deltalake
import pyarrow
import pyarrow.parquet
import pytest
from project import Project

NAN = float("nan")


def test_drop_does_not_follow_links(tidegate):
    outside = tidegate.folder / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "kept").write_text("x")
    tidegate("sql", "-e", "CREATE TABLE d (a INT); INSERT INTO d VALUES (1)")
    table = tidegate.folder / "warehouse/main/default/d"
    (table / "link").symlink_to(outside)
    (table / "dangling").symlink_to("nowhere")
    tidegate("sql", "-e", "DROP TABLE d")
    assert not table.exists()
    assert (outside / "deep" / "kept").exists()


@pytest.mark.parametrize(("clause", "message"), [
    ("TBLPROPERTIES ('pipelines.rest.allowed' = 'true')", "Did you mean `pipelines.reset.allowed`?"),
    ("TBLPROPERTIES ('pipelines.reset.allowed' = 'maybe')", "must be true or false"),
    ("TBLPROPERTIES ('tidegate.pipelineId' = 'x')", "is set by tidegate alone"),
    ("TBLPROPERTIES ('delta.foo' = 'x')", "`delta.foo` is not known"),
    ("DEFAULT COLLATION UTF8_LCASE", "a default collation other than UTF8_BINARY is not available"),
    ("CLUSTER BY (b)", "clustering column `b` is not a column of the table"),
    ("PARTITIONED BY (a) CLUSTER BY (a)", "has both CLUSTER BY and PARTITIONED BY"),
    ("OPTIONS ('x' = 'y')", "OPTIONS is not available in CREATE TABLE"),
    ("REFRESH POLICY FULL", "REFRESH POLICY is not available in CREATE TABLE"),
])
def test_nothing_that_a_definition_says_is_ignored(tidegate, clause, message):
    assert message in tidegate("sql", "-e", f"CREATE TABLE t (a STRING) {clause}", status=1).stderr
    assert not (tidegate.folder / "warehouse" / "main" / "default" / "t").exists()


@pytest.mark.parametrize(("statement", "message"), [
    ("CREATE TEMPORARY VIEW v (CONSTRAINT c EXPECT (a > 0)) AS SELECT 1 AS a", "a constraint is not available"),
    ("CREATE TEMPORARY VIEW v PARTITIONED BY (a) AS SELECT 1 AS a", "PARTITIONED BY is not available"),
    ("CREATE TEMPORARY VIEW v TBLPROPERTIES ('x' = 'y') AS SELECT 1 AS a", "TBLPROPERTIES is not available"),
    ("CREATE SCHEMA s LOCATION '/tmp/s'", "LOCATION is not available in CREATE SCHEMA"),
])
def test_nothing_that_a_view_or_a_schema_cannot_have_is_ignored(tidegate, statement, message):
    assert message in tidegate("sql", "-e", statement, status=1).stderr
    tidegate("sql", "-e", "CREATE TEMPORARY VIEW v COMMENT 'c' AS SELECT 1 AS a; CREATE SCHEMA s COMMENT 'c'")


@pytest.fixture
def nan(tidegate):
    """Two tables and a folder of Parquet: the maxima in their files leave NaN out."""
    table = pyarrow.table({
        "a": pyarrow.array([1, 2], pyarrow.int32()), "f": [1.0, NAN], "g": pyarrow.array([1.0, NAN], pyarrow.float32()),
        "s": [{"x": 1.0}, {"x": NAN}], "l": [[1.0], [NAN]],
    })
    deltalake.write_deltalake(str(tidegate.folder / "nan"), table)
    (tidegate.folder / "files").mkdir()
    pyarrow.parquet.write_table(table, tidegate.folder / "files" / "nan.parquet")
    deltalake.write_deltalake(str(tidegate.folder / "parts"), table, partition_by=["f"])
    return [f"delta.`{tidegate.folder}/nan`", f"delta.`{tidegate.folder}/parts`", f"parquet.`{tidegate.folder}/files`"]


@pytest.mark.parametrize("predicate", [
    "f > 5", "f >= 1.5", "f = double('NaN')", "f <> 1", "f IN (7, double('NaN'))", "NOT f <= 5", "NOT (f = 1 OR a = 7)",
    "f BETWEEN 5 AND double('NaN')", "g > 5", "g = float('NaN')", "s.x > 5", "s.x = double('NaN')", "l[0] > 5", "f <=> double('NaN')",
    "a = 7 OR (f > 5 AND g > 5)", "f > (SELECT 5)", "f IN (SELECT double('NaN'))", "f = (SELECT max(f) FROM {})",
    "EXISTS (SELECT 1 FROM VALUES (double('NaN')), (8D) AS k(k) WHERE k = f)",
])
def test_nan_is_found(tidegate, nan, predicate):
    for source in nan:
        done = tidegate("sql", "--format", "csv", "-e", f"SELECT a FROM {source} AS t WHERE {predicate.format(source)}")
        assert done.stdout.split() == ["a", "2"], source


@pytest.mark.parametrize("where", ["f > 5", "g > 5 AND f <> 1", "f = double('NaN')"])
def test_nan_is_replaced(tidegate, where):
    """On both sides: NaN rows of the target go, NaN rows of the source come, once."""
    project = Project(tidegate, t=f"CREATE STREAMING TABLE t FLOW REPLACE WHERE {where} BY NAME SELECT * FROM s;")
    schema = pyarrow.schema([("a", pyarrow.int32()), ("f", pyarrow.float64()), ("g", pyarrow.float32())])
    project.write("s", schema, [(1, 1.0, 1.0), (2, NAN, NAN)])
    project.run("2024-01-01")
    deltalake.write_deltalake(project.path("t"), pyarrow.table([[1, 3], [1.0, NAN], [1.0, NAN]], schema=schema), mode="append")
    project.run("2024-01-02", "--refresh", "t")
    assert sorted(row["a"] for row in project.delta_rs("t")) == [1, 2]


def test_floats_keep_their_bits(tidegate):
    values = [0.0, -0.0, float("inf"), -float("inf"), 5e-324, 1.7976931348623157e308]
    deltalake.write_deltalake(str(tidegate.folder / "bits"), pyarrow.table({"f": values}))
    tidegate("sql", "-e", f"CREATE TABLE t AS SELECT f FROM delta.`{tidegate.folder}/bits`")
    table = deltalake.DeltaTable(str(tidegate.folder / "warehouse/main/default/t")).to_pyarrow_table()
    assert [value.hex() for value in table["f"].to_pylist()] == [value.hex() for value in values]


EMPTY = "TIDEGATE_INVALID_PARTITION_VALUE"


def test_empty_partition_value_is_refused(tidegate):
    tidegate("sql", "-e", "CREATE TABLE t (s STRING, a INT) PARTITIONED BY (s); INSERT INTO t VALUES ('x', 1), (NULL, 2)")
    for statement in ("INSERT INTO t VALUES ('', 3)", "CREATE TABLE u PARTITIONED BY (s) AS SELECT '' AS s, 3 AS a"):
        assert EMPTY in tidegate("sql", "-e", statement, status=1).stderr
    tidegate("sql", "-e", "INSERT INTO t SELECT nullif(s, ''), a FROM VALUES ('', 4) AS v(s, a)")
    done = tidegate("sql", "--format", "csv", "-e", "SELECT a FROM t ORDER BY a")
    assert done.stdout.split() == ["a", "1", "2", "4"]


def test_empty_partition_value_is_refused_by_a_refresh(tidegate):
    """Stored as NULL it would be outside the window, and be added again by each refresh."""
    project = Project(tidegate, t="CREATE STREAMING TABLE t PARTITIONED BY (s) FLOW REPLACE WHERE s >= '' BY NAME SELECT * FROM src;")
    schema = pyarrow.schema([("s", pyarrow.string()), ("a", pyarrow.int32())])
    project.write("src", schema, [("x", 1), ("", 2)])
    assert EMPTY in tidegate("run", status=1).stderr
    project.write("src", schema, [("x", 1), (None, 2)])
    project.run("2024-01-01")
    project.write("src", schema, [("x", 3), (None, 2)])
    project.run("2024-01-02")
    assert project.delta_rs("t") == [{"s": "x", "a": 3}]


def test_null_beside_its_folder_name(tidegate):
    """NULL and that string have the same folder."""
    tidegate("sql", "-e", "CREATE TABLE t (s STRING, a INT) PARTITIONED BY (s);"
             "INSERT INTO t VALUES ('__HIVE_DEFAULT_PARTITION__', 1), (NULL, 2), ('x', 3)")
    expected = [(1, "__HIVE_DEFAULT_PARTITION__"), (2, None), (3, "x")]
    done = tidegate("sql", "--format", "csv", "-e", "SELECT a, coalesce(s, 'none') AS s FROM t ORDER BY a")
    assert done.stdout.split()[1:] == [f"{a},{s or 'none'}" for a, s in expected]
    read = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(tidegate.folder / "warehouse/main/default/t")))
    rows = pyarrow.table(read.execute("SELECT a, s FROM t ORDER BY a").read_all()).to_pylist()
    assert [(row["a"], row["s"]) for row in rows] == expected


def test_nul_in_a_partition_value(tidegate):
    rows = "SELECT concat('x', chr(0), 'y') AS s, 1 AS a UNION ALL SELECT chr(0), 2 UNION ALL SELECT 'x', 3"
    tidegate("sql", "-e", f"CREATE TABLE t PARTITIONED BY (s) AS {rows}")
    for predicate, expected in (("true", "123"), ("s = concat('x', chr(0), 'y')", "1"), ("s < 'x'", "2"), ("length(s) = 1", "23")):
        done = tidegate("sql", "--format", "csv", "-e", f"SELECT a FROM t WHERE {predicate} ORDER BY a")
        assert "".join(done.stdout.split()[1:]) == expected
    tidegate("sql", "-e", "DELETE FROM t WHERE s = chr(0) OR a = 3")
    assert tidegate("sql", "--format", "csv", "-e", "SELECT a, length(s) AS l FROM t").stdout.split() == ["a,l", "1,3"]
