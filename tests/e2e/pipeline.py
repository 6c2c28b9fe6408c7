# SPDX-License-Identifier: Apache-2.0
"""A pipeline over files that the spec maps to names, in folders as small as they can be."""
import json

import deltalake
import polars
import pyarrow


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
