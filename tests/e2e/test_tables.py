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
