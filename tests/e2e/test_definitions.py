# SPDX-License-Identifier: Apache-2.0
"""A changed definition is seen by the next update, however little of it changed."""
import deltalake
import pytest
from pipeline import Pipeline, csv

COUNT = "CREATE MATERIALIZED VIEW m AS SELECT count(*) n FROM c"


@pytest.mark.parametrize(("before", "after", "text", "counts"), [
    (csv(header="true"), csv(header="false"), "a,b\n1,2\n", (1, 2)),
    (csv(header="false"), csv(header="true"), "a,b\n1,2\n", (2, 1)),
    (csv(comment="#"), csv(), "#1\n2\n", (1, 2)),
    ({"path": "c.csv", "format": "json"}, csv(header="true"), '{"a":1}\n{"a":2}\n', (2, 1)),
])
def test_how_files_are_read_is_part_of_the_definition(tidegate, before, after, text, counts):
    pipeline = Pipeline(tidegate, COUNT, c=before)
    (pipeline.folder / "c.csv").write_text(text)
    assert pipeline.technique() == "COMPLETE_RECOMPUTE"
    assert pipeline.rows() == [{"n": counts[0]}]
    assert pipeline.technique() == "NO_OP"
    pipeline.tables(c=after)
    (flow,) = pipeline.run()
    assert (flow["technique"], flow["fallback_reasons"][0]) == ("COMPLETE_RECOMPUTE", "QUERY_FINGERPRINT_CHANGED")
    assert pipeline.rows() == [{"n": counts[1]}]
    assert pipeline.technique() == "NO_OP"


def test_comments_and_properties_follow_the_definition(tidegate):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m (a COMMENT 'one') COMMENT 'old' AS SELECT 1 AS a")
    pipeline.run()
    sql = "CREATE MATERIALIZED VIEW m (a COMMENT 'two') COMMENT 'new' TBLPROPERTIES ('k' = 'v') AS SELECT 1 AS a"
    pipeline.define(sql)
    (flow,) = pipeline.run()
    assert (flow["technique"], flow["committed_version"]) == ("NO_OP", 1)
    table = deltalake.DeltaTable(pipeline.path())
    assert table.metadata().description == "new"
    assert table.metadata().configuration["k"] == "v"
    assert table.schema().fields[0].metadata["comment"] == "two"
    (flow,) = pipeline.run()
    assert (flow["technique"], flow["committed_version"]) == ("NO_OP", None)
    assert pipeline.rows() == [{"a": 1}]


def test_options_count_below_a_view_too(tidegate):
    view = "CREATE TEMPORARY VIEW v AS SELECT * FROM c; CREATE MATERIALIZED VIEW m AS SELECT count(*) n FROM v"
    pipeline = Pipeline(tidegate, view, c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("a,b\n1,2\n")
    pipeline.run()
    pipeline.tables(c=csv(header="false"))
    pipeline.run()
    assert pipeline.rows() == [{"n": 2}]


def test_a_predicate_that_comes_back_finds_its_rows_covered(tidegate):
    sql = "CREATE STREAMING TABLE m FLOW REPLACE WHERE a = {} BY NAME SELECT CAST(a AS INT) AS a FROM c"
    pipeline = Pipeline(tidegate, sql.format(1), c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("a\n1\n2\n3\n")
    assert pipeline.technique() == "COMPLETE_REPLACE_WHERE"
    pipeline.define(sql.format(2))
    assert pipeline.technique() == "COMPLETE_REPLACE_WHERE"
    pipeline.define(sql.format(1))
    assert pipeline.technique() == "NO_OP"
    assert sorted(row["a"] for row in pipeline.rows()) == [1, 2]
    tidegate("sql", "-e", "DELETE FROM m WHERE a = 2")
    assert pipeline.technique() == "NO_OP"
    pipeline.define(sql.format(2))
    assert pipeline.technique() == "COMPLETE_REPLACE_WHERE"
    assert sorted(row["a"] for row in pipeline.rows()) == [1, 2]


def test_a_window_with_a_hole_leaves_the_hole_alone(tidegate):
    sql = "CREATE STREAMING TABLE m FLOW REPLACE WHERE {} BY NAME SELECT CAST(a AS INT) AS a, b FROM c"
    pipeline = Pipeline(tidegate, sql.format("a >= 0 OR a IS NULL"), c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("a,b\n1,x\n2,x\n3,x\n,x\n")
    pipeline.run()
    (pipeline.folder / "c.csv").write_text("a,b\n1,y\n2,y\n3,y\n,y\n")
    pipeline.define(sql.format("a >= 1 AND (a >= 3) IS NOT TRUE"))
    pipeline.run()
    rows = {row["a"]: row["b"] for row in pipeline.rows()}
    assert rows == {1: "y", 2: "y", 3: "x", None: "x"}
