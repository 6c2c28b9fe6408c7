# SPDX-License-Identifier: Apache-2.0
"""What is interrupted: each scenario is a folder, a command, the rows before and after it, and what a user does next."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess

import deltalake
import polars
import pyarrow.parquet

SPEC = """\
name: fault
storage: pipeline-storage
libraries:
  - glob:
      include: transformations/**
tidegate:
  warehouse: warehouse
  threads: 1
"""
FLOW = "CREATE STREAMING TABLE t {} FLOW REPLACE WHERE d >= 3 BY NAME SELECT d, p, v FROM s;"
RUN = ["run", "--now", "2024-01-01"]
FIRST = [(1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "b", 4), (5, None, 5)]


def sql(*statements):
    return ["sql", *(word for statement in statements for word in ("-e", statement))]


def tidegate(folder, arguments):
    subprocess.run([os.environ["TIDEGATE_BIN"], *arguments], cwd=folder, check=True, capture_output=True, timeout=120)


def values(rows):
    return "VALUES " + ", ".join("({}, {}, {})".format(d, f"'{p}'" if p else "NULL", v) for d, p, v in rows)


def project(folder, clauses=""):
    (folder / "transformations").mkdir()
    (folder / "spark-pipeline.yml").write_text(SPEC)
    (folder / "transformations/t.sql").write_text(FLOW.format(clauses))
    tidegate(folder, sql("CREATE TABLE s (d INT, p STRING, v INT)", "INSERT INTO s " + values(FIRST)))


def make_first_load(folder):
    project(folder, "PARTITIONED BY (p)")


def make_replace(folder):
    """Two files, and the window of what comes next cuts one of them."""
    project(folder)
    flow = folder / "transformations/t.sql"
    flow.write_text(FLOW.format("").replace("d >= 3", "d <= 3"))
    tidegate(folder, RUN)
    flow.write_text(FLOW.format("").replace("d >= 3", "d > 3"))
    tidegate(folder, RUN)
    flow.write_text(FLOW.format(""))
    tidegate(folder, sql("DELETE FROM s", "INSERT INTO s " + values([(1, "x", 10), (3, "a", 30), (6, "c", 60)])))


def make_checkpoint(folder):
    """Version 9 of the table: the next one writes a checkpoint."""
    project(folder)
    for number in range(10):
        tidegate(folder, [*sql(f"INSERT INTO s VALUES (7, 'n', {number})")])
        tidegate(folder, RUN)
    tidegate(folder, sql("DELETE FROM s WHERE d = 4"))


def make_table(folder):
    (folder / "spark-pipeline.yml").write_text(SPEC)
    (folder / "transformations").mkdir()
    tidegate(folder, sql("CREATE TABLE t (d INT, p STRING, v INT) PARTITIONED BY (p)", "INSERT INTO t " + values(FIRST)))


VIEW = "CREATE VIEW seen AS SELECT d, p, v FROM s WHERE d {};"


def make_first_view(folder):
    project(folder)
    (folder / "transformations/t.sql").write_text(VIEW.format("> 2"))


def make_view(folder):
    """A view with another definition than the published one."""
    make_first_view(folder)
    tidegate(folder, RUN)
    (folder / "transformations/t.sql").write_text(VIEW.format("< 4"))


def rows_of_view(folder):
    """The rows behind the published definition; None: there is none."""
    if not (folder / "warehouse/main/default/seen").exists():
        return None
    done = subprocess.run([os.environ["TIDEGATE_BIN"], *sql("SELECT d, p, v FROM seen"), "--format", "rows"], cwd=folder, check=True,
                          capture_output=True, timeout=120)
    return sorted((tuple(json.loads(line)) for line in done.stdout.splitlines()[1:]), key=repr)


def rows_of_table(folder):
    """The rows that Polars reads; None: there is no table."""
    path = folder / "warehouse/main/default/t"
    if not deltalake.DeltaTable.is_deltatable(str(path)):
        return None
    return sorted(polars.read_delta(str(path)).select("d", "p", "v").rows(), key=repr)


@dataclasses.dataclass
class Scenario:
    make: callable
    command: list
    old: list
    new: list
    after_old: tuple = None  # the next command where the old rows are found, and what it leaves; default: the same, new
    after_new: tuple = None
    rows_of: callable = rows_of_table

    def next(self, found):
        return (self.after_old if found == sort(self.old) else self.after_new) or (self.command, self.new)


def sort(rows):
    return None if rows is None else sorted(rows, key=repr)


INSERT = sql("INSERT INTO t VALUES (8, 'a', 80), (9, 'new', 90)")
INSERTED = FIRST + [(8, "a", 80), (9, "new", 90)]
MANY = [(7, "n", number) for number in range(10)]
CREATE = (sql("DROP TABLE IF EXISTS t", "CREATE TABLE t (d INT, p STRING, v INT)", "INSERT INTO t VALUES (1, 'z', 1)"), [(1, "z", 1)])
SCENARIOS = {
    "first load": Scenario(make_first_load, RUN, None, FIRST[2:]),
    "replace where": Scenario(make_replace, RUN, FIRST, [(1, "a", 1), (2, "b", 2), (3, "a", 30), (6, "c", 60)]),
    "checkpoint": Scenario(make_checkpoint, RUN, FIRST[2:] + MANY, [FIRST[2], FIRST[4], *MANY]),
    "insert": Scenario(make_table, INSERT, FIRST, INSERTED, None, (INSERT, INSERTED + INSERTED[-2:])),
    "first view": Scenario(make_first_view, RUN, None, FIRST[2:], rows_of=rows_of_view),
    "view": Scenario(make_view, RUN, FIRST[2:], FIRST[:3], rows_of=rows_of_view),
    "drop": Scenario(make_table, sql("DROP TABLE t"), FIRST, None, CREATE, CREATE),
}


def copy(base, folder):
    shutil.copytree(base, folder)
    return folder


def check_log(folder):
    """Every file of the log that has a final name is whole, and what the table refers to is there."""
    table = folder / "warehouse/main/default/t"
    for path in (table / "_delta_log").glob("*"):
        if re.fullmatch(r"\d{20}\.json|_last_checkpoint", path.name):
            for line in path.read_text().splitlines():
                json.loads(line)
            assert path.stat().st_size > 0, path
        elif path.name.endswith(".checkpoint.parquet"):
            assert pyarrow.parquet.read_table(path).num_rows > 0
        else:
            assert path.name.startswith(".tmp-"), path
    if deltalake.DeltaTable.is_deltatable(str(table)):
        for uri in deltalake.DeltaTable(str(table)).file_uris():
            assert pathlib.Path(uri.removeprefix("file://")).is_file(), uri


def check_unreferenced(folder):
    """What nobody refers to is only what a write leaves: data files and hidden files."""
    table = folder / "warehouse/main/default/t"
    for path in table.rglob("*"):
        if path.is_file() and "_delta_log" not in path.parts and ".dropped-" not in str(path):
            assert re.fullmatch(r"part-.*\.parquet", path.name), path
