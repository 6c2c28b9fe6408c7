# SPDX-License-Identifier: Apache-2.0
"""A materialized view has its query's columns, whatever it had before; a window's table keeps its own."""
import datetime as dt
import json

import deltalake
import pytest
from pipeline import Pipeline, csv

VIEW = "CREATE MATERIALIZED VIEW m {} AS {}"


def columns(pipeline):
    schema = deltalake.DeltaTable(pipeline.path()).schema()
    return [(field.name, field.type.type) for field in schema.fields]


def own_rows(tidegate, query):
    done = tidegate("sql", "--warehouse", "wh", "--format", "json", "-e", query)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("before", "after", "rows", "types"), [
    ("SELECT 1 AS a", "SELECT 2 AS b", [{"b": 2}], ["integer"]),
    ("SELECT 1 AS a", "SELECT 'x' AS a", [{"a": "x"}], ["string"]),
    ("SELECT 1 AS a, 2 AS b", "SELECT 3 AS b, 4 AS a", [{"b": 3, "a": 4}], ["integer", "integer"]),
    ("SELECT 1 AS a, 2 AS b", "SELECT 3 AS b", [{"b": 3}], ["integer"]),
    ("SELECT 1 AS a", "SELECT 1 AS a, 2.50 AS b WHERE false", [], ["integer", "decimal(3,2)"]),
    ("SELECT named_struct('x', 1) AS s", "SELECT named_struct('y', 2) AS s", [{"s": {"y": 2}}], None),
    ("SELECT 1 AS a", "SELECT TIMESTAMP_NTZ'2024-01-02 03:04:05' AS a", [{"a": dt.datetime(2024, 1, 2, 3, 4, 5)}],
     ["timestamp_ntz"]),
])
def test_columns_follow_the_query(tidegate, before, after, rows, types):
    pipeline = Pipeline(tidegate, VIEW.format("", before))
    pipeline.run()
    old = own_rows(tidegate, "SELECT * FROM m")
    pipeline.define(VIEW.format("", after))
    assert pipeline.technique() == "COMPLETE_RECOMPUTE"
    assert pipeline.rows() == rows
    assert len(own_rows(tidegate, "SELECT * FROM m")) == len(rows)
    if types:
        assert columns(pipeline) == list(zip(rows[0] if rows else ["a", "b"], types))
    assert own_rows(tidegate, "SELECT * FROM m VERSION AS OF 0") == old  # history keeps its own columns
    assert pipeline.technique() == "NO_OP"


def test_a_partition_column_may_change_its_type(tidegate):
    view = "PARTITIONED BY (p)"
    pipeline = Pipeline(tidegate, VIEW.format(view, "SELECT 1 AS a, 7 AS p"))
    pipeline.run()
    pipeline.define(VIEW.format(view, "SELECT 'x' AS p, 2 AS b"))
    pipeline.run()
    assert pipeline.rows() == [{"p": "x", "b": 2}]
    assert deltalake.DeltaTable(pipeline.path()).metadata().partition_columns == ["p"]


def test_a_declared_type_is_followed_too(tidegate):
    pipeline = Pipeline(tidegate, VIEW.format("(a BIGINT)", "SELECT 1 AS a"))
    pipeline.run()
    pipeline.define(VIEW.format("(a STRING)", "SELECT 1 AS a"))
    assert pipeline.technique() == "COMPLETE_RECOMPUTE"  # files as they are hold numbers
    assert (pipeline.rows(), columns(pipeline)) == ([{"a": "1"}], [("a", "string")])


def test_readers_of_the_view_in_the_same_update_see_its_new_columns(tidegate):
    reader = ";CREATE MATERIALIZED VIEW r AS SELECT * FROM m"
    pipeline = Pipeline(tidegate, VIEW.format("", "SELECT 1 AS a") + reader)
    pipeline.run()
    pipeline.define(VIEW.format("", "SELECT 'x' AS b") + reader)
    pipeline.run()
    assert pipeline.rows("r") == [{"b": "x"}]


def test_a_window_keeps_the_columns_of_rows_outside(tidegate):
    flow = "CREATE STREAMING TABLE m FLOW REPLACE WHERE day >= '2024-01-02' BY NAME SELECT {} FROM c"
    pipeline = Pipeline(tidegate, flow.format("day, 1 AS a"), c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("day\n2024-01-02\n")
    pipeline.run()
    pipeline.define(flow.format("day, 2 AS b"))
    pipeline.run()
    assert pipeline.rows() == [{"day": "2024-01-02", "a": None, "b": 2}]
