# SPDX-License-Identifier: Apache-2.0
"""Sixteen processes refresh one unpartitioned table at once, round after round, each a window of its own (`--replace-where`).

Rows are read by delta-rs and Polars. Each version of the table is checked against the one before it by the rule that
defines the flow, so that what was lost or doubled for a moment only is seen too.

    TIDEGATE_RACE_ROUNDS=200 TIDEGATE_SEED=7 pytest tests/e2e/test_processes_race.py
"""
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import threading
import urllib.parse

import deltalake
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from project import Project

WRITERS, WIDTH = 16, 10
# Of the writer beside. One that commits faster than a refresh can plan and write starves it, by the rules.
PAUSE = 0.2
SLOW = pytest.mark.skipif("TIDEGATE_SANITIZE" in os.environ, reason="with sanitizers a refresh is slower than the writer's commits")
ROUNDS = int(os.environ.get("TIDEGATE_RACE_ROUNDS", "10"))
SCHEMA = pa.schema([("k", pa.int32()), ("round", pa.int32()), ("n", pa.int64())])
SPEC = "  threads: 1\n"
DEFINITION = "CREATE STREAMING TABLE t FLOW REPLACE WHERE k < 0 BY NAME SELECT k, round, n FROM s;\n"
OUTSIDE = 100_000
NOW = "2024-03-01"


def seeded():
    seed = int(os.environ.get("TIDEGATE_SEED", random.randrange(2**32)))
    print(f"TIDEGATE_SEED={seed}")  # shown when it fails
    return random.Random(seed)


def between(low, high):
    return f"k >= {low} AND k < {high}"


DISJOINT = [(writer * WIDTH, (writer + 1) * WIDTH) for writer in range(WRITERS)]
OVERLAPPING = [(writer * WIDTH // 2, writer * WIDTH // 2 + 2 * WIDTH) for writer in range(WRITERS)]


class Race:
    def __init__(self, tidegate):
        self.project = Project(tidegate, t=DEFINITION)
        with open(tidegate.folder / "spark-pipeline.yml", "a", encoding="utf-8") as spec:
            spec.write(SPEC)
        self.random = seeded()
        self.path = pathlib.Path(self.project.path("t"))
        self.sources = {}  # version: rows
        self.new_rows(0)
        self.project.run(NOW)  # makes the table
        self.outcomes = collections.Counter()

    def new_rows(self, number):
        """Every key may have no row, one, or equal ones."""
        rows = [(k, number, n) for k in range(WRITERS * WIDTH + 2 * WIDTH) for n in range(self.random.randrange(4))
                for _ in range(self.random.choice((1, 1, 2)))]
        self.project.write("s", SCHEMA, rows)
        self.sources[self.project.version("s")] = collections.Counter(rows)
        return collections.Counter(rows)

    def refresh_all(self, windows):
        """All at once; every one must succeed."""
        command = [os.environ["TIDEGATE_BIN"], "run", "--now", NOW, "--json", "--replace-where"]
        running = [subprocess.Popen([*command, f"t={between(*window)}"], cwd=self.project.folder, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for window in windows]
        versions = []
        for process in running:
            out, errors = process.communicate(timeout=600)
            assert process.returncode == 0, f"{out}\n{errors}"
            flow = json.loads(out.splitlines()[-1])["flows"][0]
            assert flow["status"] == "COMPLETED"
            self.outcomes[flow["technique"]] += 1
            if flow["committed_version"] is not None:
                versions.append(flow["committed_version"])
        assert len(set(versions)) == len(versions)
        return versions

    def rows(self, version=None):
        version = self.project.version("t") if version is None else version
        found = collections.Counter(polars.read_delta(str(self.path), version=version).select("k", "round", "n").rows())
        other = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(self.path), version=version))
        table = pa.table(other.execute("SELECT k, round, n FROM t").read_all())
        assert collections.Counter(zip(*(column.to_pylist() for column in table.columns))) == found
        return found


class Replay:
    """The log, version after version: what each commit of the flow did is what the rule says of its window and source."""

    def __init__(self, race):
        self.race, self.next = race, 0
        self.files = {}
        self.own = 0

    def read(self, name):
        table = pyarrow.parquet.read_table(self.race.path / urllib.parse.unquote(name), columns=["k", "round", "n"])
        return collections.Counter(zip(*(column.to_pylist() for column in table.columns)))

    def advance(self):
        log = self.race.path / "_delta_log"
        while (log / f"{self.next:020}.json").exists():
            actions = [json.loads(line) for line in (log / f"{self.next:020}.json").read_text("utf-8").splitlines()]
            before = sum(self.files.values(), collections.Counter())
            for action in actions:
                if "remove" in action:
                    del self.files[action["remove"]["path"]]  # KeyError: removed twice
                if "add" in action:
                    self.files[action["add"]["path"]] = self.read(action["add"]["path"])
            after = sum(self.files.values(), collections.Counter())
            self.check(next(a["commitInfo"] for a in actions if "commitInfo" in a), before, after)
            self.next += 1
        return sum(self.files.values(), collections.Counter())

    def check(self, info, before, after):
        if info["operation"] == "OPTIMIZE":
            assert before == after, self.next
        if "userMetadata" not in info or self.next == 0:
            return
        state = json.loads(info["userMetadata"])["tidegate"]
        low, high = map(int, re.search(r"k >= (\d+)\D+(\d+)", state["window"]).groups())
        source = self.race.sources[state["sources"][0]["version"]]
        expected = collections.Counter({r: n for r, n in before.items() if not low <= r[0] < high})
        expected.update({r: n for r, n in source.items() if low <= r[0] < high})
        assert after == expected, (self.next, low, high)
        self.own += 1


class Outsider(threading.Thread):
    """Appends with delta-rs, and compacts, until it is stopped. Its rows have negative numbers."""

    def __init__(self, race, keys):
        super().__init__()
        self.race, self.keys = race, keys
        self.appended = collections.Counter()
        self.stopped = threading.Event()
        self.compacted = self.conflicts = 0
        self.error = None

    def append(self, number):
        rows = [(self.keys(number), -1, -number)] * 2
        table = pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows), SCHEMA)], schema=SCHEMA)
        deltalake.write_deltalake(str(self.race.path), table, mode="append")
        self.appended.update(rows)

    def compact(self):
        self.compacted += deltalake.DeltaTable(str(self.race.path)).optimize.compact()["numFilesRemoved"] > 0

    def attempt(self, action, *arguments):
        """delta-rs gives up when a file went meanwhile, also when it only appends; then it has changed nothing."""
        try:
            action(*arguments)
        except deltalake.exceptions.CommitFailedError:
            self.conflicts += 1

    def run(self):
        try:
            number = 0
            while not self.stopped.wait(PAUSE):
                number += 1
                self.attempt(self.append, number)
                self.attempt(self.compact)
        except Exception as error:  # shown by the test
            self.error = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()
        assert self.error is None, self.error


def restricted(rows, windows):
    return collections.Counter({r: n for r, n in rows.items() if any(low <= r[0] < high for low, high in windows)})


def play(race, windows, rounds):
    """Every round: new rows in the source, all windows at once."""
    replay = Replay(race)
    for number in range(1, rounds + 1):
        expected = restricted(race.new_rows(number), windows)
        race.refresh_all(windows)
        assert replay.advance() == race.rows(replay.next - 1)
        yield expected
    assert replay.own > 0


def test_disjoint_windows(tidegate):
    race = Race(tidegate)
    for expected in play(race, DISJOINT, ROUNDS):
        assert race.rows() == expected
    assert race.outcomes == {"COMPLETE_REPLACE_WHERE": WRITERS * ROUNDS}
    assert race.project.version("t") == WRITERS * ROUNDS  # each made one version


def test_overlapping_windows_serialise(tidegate):
    race = Race(tidegate)
    for expected in play(race, OVERLAPPING, max(2, ROUNDS // 4)):
        assert race.rows() == expected
    assert race.outcomes == {"COMPLETE_REPLACE_WHERE": WRITERS * max(2, ROUNDS // 4)}


@SLOW
def test_beside_a_writer_that_appends_outside_and_compacts(tidegate):
    race = Race(tidegate)
    with Outsider(race, lambda number: OUTSIDE + number) as outsider:
        for expected in play(race, DISJOINT, ROUNDS):
            assert restricted(race.rows(), DISJOINT) == expected
    assert outsider.appended == collections.Counter({r: n for r, n in race.rows().items() if r[0] >= OUTSIDE})
    assert outsider.appended
    print(f"{len(outsider.appended)} appends, {outsider.compacted} compactions, {outsider.conflicts} lost")


@SLOW
def test_beside_a_writer_that_appends_inside_and_compacts(tidegate):
    """A row that is appended inside a window stays until the window's next commit, and no longer: Replay checks it."""
    race = Race(tidegate)
    with Outsider(race, lambda number: number % (WRITERS * WIDTH)):
        for _ in play(race, DISJOINT, ROUNDS):
            pass
    replay = Replay(race)
    assert replay.advance() == race.rows()
    race.refresh_all(DISJOINT)
    latest = race.sources[max(race.sources)]
    assert race.rows() == restricted(latest, DISJOINT)
