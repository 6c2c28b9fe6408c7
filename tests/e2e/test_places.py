# SPDX-License-Identifier: Apache-2.0
"""An error that only the rows bring out says where to look: at the definition of the flow."""
import pytest
from pipeline import Pipeline, csv


@pytest.mark.parametrize(("sql", "text", "place"), [
    ("CREATE MATERIALIZED VIEW m AS\nSELECT CAST(a AS INT) AS a FROM c", "a\nx\n", "t/a.sql:1:26"),
    ("CREATE MATERIALIZED VIEW m AS\nSELECT 1 / CAST(a AS INT) AS a FROM c", "a\n0\n", "t/a.sql:1:26"),
    ("CREATE MATERIALIZED VIEW m PARTITIONED BY (a) AS\nSELECT CASE WHEN a = 'x' THEN '' ELSE a END AS a, 1 AS b FROM c",
     "a\nx\n", "t/a.sql:1:26"),
    ("\nCREATE STREAMING TABLE m FLOW REPLACE WHERE a > 0 BY NAME\nSELECT CAST(a AS INT) AS a FROM c", "a\nx\n", "t/a.sql:2:24"),
])
def test_errors_of_rows_have_a_place(tidegate, sql, text, place):
    pipeline = Pipeline(tidegate, sql, c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text(text)
    assert f"--> {place}\n" in tidegate("run", status=1).stderr


def test_an_error_in_a_view_of_another_file_stands_at_the_flow_too(tidegate):
    pipeline = Pipeline(tidegate, "\nCREATE MATERIALIZED VIEW m AS SELECT * FROM v", c=csv(header="true"))
    (pipeline.folder / "t" / "v.sql").write_text("CREATE TEMPORARY VIEW v AS SELECT CAST(a AS INT) AS a FROM c")
    (pipeline.folder / "c.csv").write_text("a\nx\n")
    assert "--> t/a.sql:2:26\n" in tidegate("run", status=1).stderr
