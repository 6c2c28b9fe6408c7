# SPDX-License-Identifier: Apache-2.0
"""A pipeline folder whose sources are written and whose targets are read by other programs than tidegate."""
import json

import deltalake
import polars
import pyarrow

SPEC = """\
name: e2e
catalog: main
schema: default
storage: pipeline-storage
libraries:
  - glob:
      include: transformations/**
tidegate:
  warehouse: warehouse
"""


class Project:
    def __init__(self, tidegate, **files):
        self.tidegate = tidegate
        self.folder = tidegate.folder
        self.sources = {}
        (self.folder / "transformations").mkdir()
        (self.folder / "spark-pipeline.yml").write_text(SPEC)
        for name, text in files.items():
            (self.folder / "transformations" / f"{name}.sql").write_text(text)

    def path(self, name):
        return str(self.folder / "warehouse" / "main" / "default" / name)

    def write(self, name, schema, rows, mode="overwrite"):
        """Writes a source: the whole table, or more rows of it (mode append). rows are tuples."""
        columns = list(zip(*rows)) or [()] * len(schema)
        table = pyarrow.table([pyarrow.array(c, f.type) for c, f in zip(columns, schema)], schema=schema)
        deltalake.write_deltalake(self.path(name), table, mode=mode)
        self.sources[name] = pyarrow.concat_tables([self.sources[name], table]) if mode == "append" else table

    def run(self, now, *arguments, status=0):
        """The summary of one update."""
        done = self.tidegate("run", "--now", now, "--json", *arguments, status=status)
        return json.loads(done.stdout.splitlines()[-1])

    def version(self, name):
        return deltalake.DeltaTable(self.path(name)).version()

    def delta_rs(self, name):
        reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(self.path(name)))
        return pyarrow.table(reader.execute("SELECT * FROM t").read_all()).to_pylist()

    def polars(self, name):
        return polars.read_delta(self.path(name)).to_dicts()
