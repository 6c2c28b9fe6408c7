# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any system call leaves the old version or the new one, and the next command works.

One clean run tells how many calls change what is below the project's folder; then a run in a fresh copy is killed before,
and one after, each of them. After the next command, a power loss must leave its rows, too.
"""
import collections
import concurrent.futures
import os
import pathlib

import pytest
from journal import Disk, Traced, all_names, kind, only_durable, put
from scenarios import RUN, SCENARIOS, check_log, check_unreferenced, copy, sort, tidegate

WORKERS = 2
# Sanitizer builds take long to start: there only before each call, which is after the one before it.
SIDES = (False,) if "TIDEGATE_SANITIZE" in os.environ else (False, True)


class Killer:
    def __init__(self, name, folder):
        self.scenario, self.folder = SCENARIOS[name], folder
        self.base = folder / "base"
        self.base.mkdir()
        self.scenario.make(self.base)

    def clean_run(self):
        """The calls of a run that nobody interrupts; the model of the disk must see the same names as we do."""
        traced = Traced(copy(self.base, self.folder / "clean"), self.folder / "notes-clean")
        assert self.scenario.rows_of(traced.folder) == sort(self.scenario.old)
        disk = Disk(traced.folder, traced.shadow)
        traced.run(self.scenario.command)
        assert self.scenario.rows_of(traced.folder) == sort(self.scenario.new)
        calls = traced.journal()
        for call in calls:
            disk.apply(call)
        assert disk.names() == {str(p.relative_to(traced.folder)): p.is_dir() for p in traced.folder.rglob("*")}
        return calls

    def kill(self, number, after):
        """The states before and after the next command are checked. True: the new rows were there."""
        scenario, word = self.scenario, f"{number}-{'after' if after else 'before'}"
        traced = Traced(copy(self.base, self.folder / word), self.folder / f"notes-{word}")
        disk = Disk(traced.folder, traced.shadow)
        assert traced.run(scenario.command, number, after), "the process ended before it was killed"
        check_log(traced.folder)
        check_unreferenced(traced.folder)
        found = self.scenario.rows_of(traced.folder)
        assert found in (sort(scenario.old), sort(scenario.new))
        command, rows = scenario.next(found)
        traced.run(command)
        check_log(traced.folder)
        assert self.scenario.rows_of(traced.folder) == sort(rows)
        for call in traced.journal():
            disk.apply(call)
        for variant in (only_durable, all_names):
            lost = self.folder / f"lost-{word}-{variant.__name__}"
            put(disk.survivor(variant), lost)
            check_log(lost)
            assert self.scenario.rows_of(lost) == sort(rows), f"after a power loss ({variant.__name__})"
            if command == RUN:
                tidegate(lost, RUN)  # it still knows its tables, and finds nothing to do
                assert self.scenario.rows_of(lost) == sort(rows)
        return found == sort(scenario.new)


def report(name, kinds):
    sides = "before and after" if len(SIDES) == 2 else "before"
    lines = [f"== {name}: killed {sides} each of {sum(kinds.values())} calls"]
    lines += [f"{count:5} {what}" for what, count in sorted(kinds.items())]
    with open(pathlib.Path(os.environ["TIDEGATE_BUILD"]) / "fault-points.txt", "a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n" + "\n".join(lines))


@pytest.fixture(scope="module", autouse=True)
def fault_points():
    (pathlib.Path(os.environ["TIDEGATE_BUILD"]) / "fault-points.txt").unlink(missing_ok=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_kill(tmp_path, name, capsys):
    killer = Killer(name, tmp_path)
    calls = killer.clean_run()
    failures, states = [], set()

    def attempt(point):
        try:
            states.add(killer.kill(*point))
        except BaseException as error:  # a panic of Polars too: the place must be told
            call = calls[point[0] - 1]
            failures.append(f"killed {'after' if point[1] else 'before'} call {point[0]} ({kind(call)}): {error}")

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(attempt, [(call.number, after) for call in calls for after in SIDES]))
    with capsys.disabled():
        report(name, collections.Counter(kind(call) for call in calls))
    assert not failures, "\n".join(sorted(failures))
    assert states == {False, True}  # the commit lies between the first call and the last
