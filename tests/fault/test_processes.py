# SPDX-License-Identifier: Apache-2.0
"""Several processes write one table at once: no row that was reported as inserted is lost."""
import collections
import concurrent.futures
import datetime as dt
import json
import os
import random

import deltalake
import polars

SPEC = """\
name: processes
storage: pipeline-storage
libraries:
  - glob:
      include: transformations/**
tidegate:
  warehouse: warehouse
  threads: 1
"""
FLOW = "CREATE STREAMING TABLE t {} FLOW REPLACE WHERE d = current_date() BY NAME SELECT d, writer, number FROM s;"
OUTSIDE = dt.date(2000, 1, 1)  # no window holds it: rows of INSERT
ROUNDS, STEPS = 4, 4
WRITERS, DIRECT = (1, 2, 3, 4), (3, 4)  # those of DIRECT change t itself, the others its source


def test_inserts_at_once(tidegate):
    tidegate("sql", "-e", "CREATE TABLE t (writer INT, number INT)")

    def insert(writer):
        for number in range(4):
            tidegate("sql", "-e", f"INSERT INTO t VALUES ({writer}, {number})")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(insert, range(4)))
    rows = polars.read_delta(str(tidegate.folder / "warehouse/main/default/t")).rows()
    assert sorted(rows) == [(writer, number) for writer in range(4) for number in range(4)]


class Shared:
    """One table, which two processes append to and delete from, while two run its pipeline, each for a day of its own.

    Every row belongs to one process, so that what is expected does not depend on who was faster.
    """

    def __init__(self, tidegate, clauses, seed):
        self.tidegate, self.random = tidegate, random.Random(seed)
        (tidegate.folder / "transformations").mkdir()
        (tidegate.folder / "spark-pipeline.yml").write_text(SPEC)
        (tidegate.folder / "transformations/t.sql").write_text(FLOW.format(clauses))
        tidegate("sql", "-e", "CREATE TABLE s (d DATE, writer INT, number INT)")
        tidegate("run", "--now", "1999-01-01")
        self.path = tidegate.folder / "warehouse/main/default/t"
        self.rows = {writer: collections.Counter() for writer in WRITERS}
        self.commits = dict.fromkeys(WRITERS, 0)
        self.versions = []

    def change(self, table, day, writer, number, is_delete):
        """An INSERT of two equal rows, or a DELETE of all that this writer has there. True: it had something to do."""
        rows = self.rows[writer]
        if is_delete:
            had_rows = bool(rows)
            self.tidegate("sql", "-e", f"DELETE FROM {table} WHERE d = DATE '{day}' AND writer = {writer}")
            rows.clear()
            return had_rows
        self.tidegate("sql", "-e", f"INSERT INTO {table} VALUES " + ", ".join([f"(DATE '{day}', {writer}, {number})"] * 2))
        rows[(day, writer, number)] = 2
        return True

    def play(self, writer, plan):
        for number, is_delete in plan:
            if writer in DIRECT:
                self.commits[writer] += self.change("t", OUTSIDE, writer, number, is_delete)
                continue
            day = dt.date(2024, 1, writer)
            self.change("s", day, writer, number, is_delete)
            done = self.tidegate("run", "--now", str(day), "--allow-clock-back", "--json")
            version = json.loads(done.stdout.splitlines()[-1])["flows"][0]["committed_version"]
            if version is not None:
                self.commits[writer] += 1
                self.versions.append(version)

    def run_round(self, round_number):
        plans = [[(round_number * STEPS + step, self.random.random() < 0.3) for step in range(STEPS)] for _ in WRITERS]
        with concurrent.futures.ThreadPoolExecutor(len(WRITERS)) as pool:
            list(pool.map(self.play, WRITERS, plans))

    def check(self):
        expected = sum(self.rows.values(), collections.Counter())
        assert collections.Counter(polars.read_delta(str(self.path)).select("d", "writer", "number").rows()) == expected
        names = sorted(path.name for path in (self.path / "_delta_log").glob("*.json"))
        assert names == [f"{version:020}.json" for version in range(len(names))]
        assert deltalake.DeltaTable(str(self.path)).version() == len(names) - 1
        assert len(names) == 1 + sum(self.commits.values())  # each is one version, and the first made the table
        assert len(set(self.versions)) == len(self.versions)


def check_shared(tidegate, clauses):
    seed = int(os.environ.get("TIDEGATE_SEED", random.randrange(2**32)))
    print(f"TIDEGATE_SEED={seed}")  # shown when it fails
    shared = Shared(tidegate, clauses, seed)
    for round_number in range(ROUNDS):
        shared.run_round(round_number)
        shared.check()


def test_windows_and_inserts_at_once(tidegate):
    check_shared(tidegate, "")


def test_windows_and_inserts_at_once_in_partitions(tidegate):
    check_shared(tidegate, "PARTITIONED BY (d)")
