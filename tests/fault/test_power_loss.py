# SPDX-License-Identifier: Apache-2.0
"""A power loss at any moment leaves the old version or the new one; once the new one was reported, it stays.

One run with the shim's journal is played back on a disk that keeps nothing but what was fsynced (journal.py). After each
call three survivors of a power loss are looked at: only what is durable; all names, with files empty that were not
fsynced; and each name by chance as it was or as it is.
"""
import concurrent.futures
import os
import pathlib
import random

import pytest
from journal import Disk, Traced, all_names, kind, only_durable, put, some_names
from scenarios import SCENARIOS, check_log, copy, sort, tidegate

WORKERS = 2
pytestmark = pytest.mark.skipif("TIDEGATE_SANITIZE" in os.environ, reason="THE ORDER OF FSYNCS IS TESTED IN RELEASE BUILDS ONLY: it is the same")


def first_report(folder, calls):
    """The number of the call that says "completed" in the event log; else nothing is reported before the process ends."""
    written = {path: path.read_bytes() for path in (folder / "pipeline-storage/events").glob("*.jsonl")}
    offsets = dict.fromkeys(written, 0)
    for call in calls:
        path = folder / call.path
        if call.name == "write" and path in written:
            end = offsets[path] + int(call.detail)
            if any(b'"flow_progress"' in line and b'"COMPLETED"' in line for line in written[path][offsets[path]:end].splitlines()):
                return call.number
            offsets[path] = end
    return len(calls) + 1


class Player:
    def __init__(self, name, folder):
        self.scenario, self.folder = SCENARIOS[name], folder
        base = folder / "base"
        base.mkdir()
        self.scenario.make(base)
        self.seed = int(os.environ.get("TIDEGATE_SEED", random.randrange(2**32)))
        self.random = random.Random(self.seed)
        self.traced = Traced(copy(base, folder / "run"), folder / "notes")
        self.disk = Disk(self.traced.folder, self.traced.shadow)
        self.traced.run(self.scenario.command)

    def survivors(self):
        """All different ones, each with the place where the power goes and whether the new rows were reported by then."""
        calls = self.traced.journal()
        # The events of other updates than this one are old files; this one's grow from nothing.
        reported_at = first_report(self.traced.folder, calls) if any(c.path.endswith(".jsonl") for c in calls) else len(calls) + 1
        seen = set()
        for call in calls:
            self.disk.apply(call)
            is_reported = call.number >= min(reported_at, len(calls))
            for variant in (only_durable, all_names, some_names(self.random)):
                tree = self.disk.survivor(variant)
                key = (is_reported, frozenset(tree.items()))
                if key not in seen:
                    seen.add(key)
                    yield f"after call {call.number} ({kind(call)}), {variant.__qualname__.split('.')[0]}", is_reported, tree

    def check(self, number, is_reported, tree):
        folder = self.folder / f"lost-{number}"
        folder.mkdir()
        put(tree, folder)
        check_log(folder)
        found = self.scenario.rows_of(folder)
        if is_reported:
            assert found == sort(self.scenario.new), "what was reported is lost"
        else:
            assert found in (sort(self.scenario.old), sort(self.scenario.new))
        command, rows = self.scenario.next(found)
        tidegate(folder, command)
        assert self.scenario.rows_of(folder) == sort(rows)


@pytest.mark.parametrize("name", SCENARIOS)
def test_power_loss(tmp_path, name, capsys):
    player = Player(name, tmp_path)
    failures = []

    def attempt(numbered):
        number, (place, is_reported, tree) = numbered
        try:
            player.check(number, is_reported, tree)
        except BaseException as error:  # a panic of Polars too: the place must be told
            failures.append(f"{place}: {error!r}")

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        survivors = list(enumerate(player.survivors()))
        list(pool.map(attempt, survivors))
    with capsys.disabled():
        print(f"\n{name}: {len(survivors)} survivors of {len(player.traced.journal())} calls (TIDEGATE_SEED={player.seed})")
    assert not failures, f"TIDEGATE_SEED={player.seed}\n" + "\n".join(failures)
