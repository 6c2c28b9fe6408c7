# SPDX-License-Identifier: Apache-2.0
"""A changed definition is seen by the next update, however little of it changed."""
import json

import deltalake
import polars
import pyarrow
import pytest


def spec(**tables):
    """tables: name -> what stands under tidegate.tables."""
    return json.dumps({  # JSON is YAML
        "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}],
        "tidegate": {"warehouse": "wh", "tables": tables},
    })


class Pipeline:
    def __init__(self, tidegate, sql, **tables):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        self.define(sql)
        self.tables(**tables)

    def define(self, sql):
        (self.folder / "t" / "a.sql").write_text(sql)

    def tables(self, **tables):
        (self.folder / "spark-pipeline.yml").write_text(spec(**tables))

    def run(self, *arguments):
        """The flows of the summary."""
        done = self.tidegate("run", "--json", *arguments)
        return json.loads(done.stdout.splitlines()[-1])["flows"]

    def technique(self, *arguments):
        return self.run(*arguments)[0]["technique"]

    def path(self, name="m"):
        return str(self.folder / "wh" / "main" / "default" / name)

    def rows(self, name="m"):
        """What delta-rs reads; Polars must agree."""
        reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(self.path(name)))
        rows = pyarrow.table(reader.execute("SELECT * FROM t").read_all()).to_pylist()
        assert polars.read_delta(self.path(name)).to_dicts() == rows
        return rows


def csv(**options):
    return {"path": "c.csv", "format": "csv", "options": options}


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


def test_options_count_below_a_view_too(tidegate):
    view = "CREATE TEMPORARY VIEW v AS SELECT * FROM c; CREATE MATERIALIZED VIEW m AS SELECT count(*) n FROM v"
    pipeline = Pipeline(tidegate, view, c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("a,b\n1,2\n")
    pipeline.run()
    pipeline.tables(c=csv(header="false"))
    pipeline.run()
    assert pipeline.rows() == [{"n": 2}]
