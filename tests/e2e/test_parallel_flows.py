# SPDX-License-Identifier: Apache-2.0
"""Flows of one update at the same time: as one after the other, whoever else writes, fails or interrupts.

Every table has the columns d, k, v, with one row per (d, k) as long as nobody else writes to it: a flow adds up what its inputs
hold, so that an oracle is a dictionary.
"""
import concurrent.futures
import datetime as dt
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import deltalake
import pyarrow as pa
import pytest
from project import SPEC, Project

SCHEMA = pa.schema([("d", pa.date32()), ("k", pa.int32()), ("v", pa.int64())])
NOW = dt.date(2024, 3, 10)
DAYS = [NOW - dt.timedelta(days=n) for n in range(6)]
SOURCES = ("s0", "s1", "s2")
LONG = " + ".join(f"x{i}.v" for i in range(11))
TEN = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))"
ENDLESS = f"SELECT sum({LONG}) AS v FROM " + ", ".join(f"{TEN} AS x{i}(v)" for i in range(11))


class Flow:
    """Over the sources and the flows before it."""

    def __init__(self, number, choice):
        self.name, self.number = f"t{number:02d}", number
        earlier = [f"t{n:02d}" for n in range(number)]
        pool = earlier + list(SOURCES) if choice.random() < 0.7 else list(SOURCES)
        self.inputs = choice.sample(pool, min(len(pool), choice.choice((1, 1, 2, 3))))
        self.window = choice.choice((None, None, 1, 3))  # days; None: a materialized view
        self.is_view = self.window is None

    def sql(self, broken=False):
        first, *others = self.inputs
        value = " + ".join(f"{name}.v" for name in self.inputs) + f" + {self.number}"
        value = "CAST(raise_error('broken') AS BIGINT)" if broken else value
        joins = "".join(f" JOIN {o} ON {o}.d = {first}.d AND {o}.k = {first}.k" for o in others)
        query = f"SELECT {first}.d, {first}.k, {value} AS v FROM {first}{joins}"
        if self.is_view:
            query = query.replace(f"{value} AS v", f"sum({value}) AS v") + " GROUP BY ALL"
            return f"CREATE MATERIALIZED VIEW {self.name} AS {query};\n"
        where = f"d >= date_sub(current_date(), {self.window})"
        return f"CREATE STREAMING TABLE {self.name} FLOW REPLACE WHERE {where} BY NAME {query};\n"

    def refresh(self, tables, now):
        """What the flow makes of tables (name -> {(d, k): v}), its own old rows among them."""
        first, *others = self.inputs
        rows = {key: value + self.number + sum(tables[o][key] for o in others)
                for key, value in tables[first].items() if all(key in tables[o] for o in others)}
        if self.is_view:
            return rows
        low = now - dt.timedelta(days=self.window)
        kept = {key: value for key, value in tables.get(self.name, {}).items() if key[0] < low}
        return kept | {key: value for key, value in rows.items() if key[0] >= low}


class Graph(Project):
    def __init__(self, tidegate, folder, flows, parallel):
        folder.mkdir()
        tidegate = type(tidegate)(folder)
        super().__init__(tidegate, **{flow.name: flow.sql() for flow in flows})
        self.flows = flows
        (folder / "spark-pipeline.yml").write_text(SPEC + f"  max_parallel_flows: {parallel}\n")

    def rows(self, name, version=None):
        if not deltalake.DeltaTable.is_deltatable(self.path(name)):
            return None
        table = deltalake.DeltaTable(self.path(name), version=version)
        return pa.table(deltalake.QueryBuilder().register("t", table).execute("SELECT d, k, v FROM t").read_all()).to_pylist()

    def values(self, name, version=None):
        rows = self.rows(name, version)
        found = {(row["d"], row["k"]): row["v"] for row in rows}
        assert len(found) == len(rows)
        return found

    def recorded(self, name, version):
        """The newest versions of the sources that the flow's commit of this version tells: older ones are those of pieces that
        it left alone."""
        log = pathlib.Path(self.path(name)) / "_delta_log" / f"{version:020d}.json"
        state = json.loads(json.loads(log.read_text().splitlines()[0])["commitInfo"]["userMetadata"])["tidegate"]
        return {s["name"].split(".")[-1]: s["version"] for s in sorted(state["sources"], key=lambda s: s["version"])}

    def check_pins(self, summary):
        """A reader of a table that this update wrote saw that commit."""
        committed = {f["dataset_name"].split(".")[-1]: f["committed_version"] for f in summary["flows"]}
        for flow in self.flows:
            if committed[flow.name] is not None:
                recorded = self.recorded(flow.name, committed[flow.name])
                for name in flow.inputs:
                    if committed.get(name) is not None and name in recorded:
                        assert recorded[name] == committed[name], (flow.name, name)


def plain(summary):
    """What must not depend on how many flows run at once."""
    flows = [{key: value for key, value in flow.items() if key != "duration_ms"} for flow in summary["flows"]]
    return summary["state"], flows


def source_rows(choice):
    return [(d, k, choice.randrange(100)) for d in DAYS for k in range(4) if choice.random() < 0.8]


def change(choice):
    """(source, rows, mode) of the next commits."""
    name = choice.choice(SOURCES)
    if choice.random() < 0.5:
        return name, source_rows(choice), "overwrite"
    day = NOW + dt.timedelta(days=choice.randrange(1, 90))
    return name, [(day, choice.randrange(100, 10 ** 6), 1)], "append"


@pytest.mark.parametrize("seed", range(5))
def test_as_one_after_the_other(tidegate, seed):
    choice = random.Random(seed)
    flows = [Flow(number, choice) for number in range(choice.randrange(2, 13))]
    twins = [Graph(tidegate, tidegate.folder / f"p{n}", flows, n) for n in (1, 4)]
    for name in SOURCES:
        rows = source_rows(choice)
        for twin in twins:
            twin.write(name, SCHEMA, rows)
    tables, now = {}, NOW
    for step in range(4):
        broken = choice.choice(flows) if step == 2 else None
        for twin in twins:
            if broken:
                (twin.folder / "transformations" / f"{broken.name}.sql").write_text(broken.sql(broken=True))
        a, b = (twin.run(str(now), status=1 if broken else 0) for twin in twins)
        assert json.loads(json.dumps(plain(a)).replace("/p1/", "/p4/")) == json.loads(json.dumps(plain(b)))
        status = {f["dataset_name"].split(".")[-1]: f["status"] for f in b["flows"]}
        assert ("FAILED" in status.values()) == bool(broken)
        tables.update({name: twins[0].values(name) for name in SOURCES})
        for flow in flows:
            if status[flow.name] == "COMPLETED":
                tables[flow.name] = flow.refresh(tables, now)
            for twin in twins:
                if flow.name in tables:
                    assert twin.values(flow.name) == tables[flow.name], flow.name
        assert twins[0].version(flows[0].name) == twins[1].version(flows[0].name)
        for twin in twins:
            twin.check_pins(b if twin is twins[1] else a)
            if broken:
                (twin.folder / "transformations" / f"{broken.name}.sql").write_text(broken.sql())
        for _ in range(choice.randrange(3)):
            name, rows, mode = change(choice)
            for twin in twins:
                twin.write(name, SCHEMA, rows, mode)
        now += dt.timedelta(days=choice.randrange(2))


class Outsider:
    """Commits to sources and to targets until it is told to stop. Its rows in targets have keys below zero."""

    def __init__(self, graph, seed):
        self.graph, self.choice, self.stop, self.commits = graph, random.Random(seed), threading.Event(), 0

    def work(self):
        while not self.stop.is_set():
            if self.choice.random() < 0.5:
                name, day = self.choice.choice(SOURCES), NOW
                key = self.choice.randrange(100, 10 ** 9)
            else:
                name, day = self.choice.choice(self.graph.flows).name, self.choice.choice(DAYS)
                key = -self.choice.randrange(1, 10 ** 9)
            row = pa.table([[day], [key], [1]], schema=SCHEMA)
            if deltalake.DeltaTable.is_deltatable(self.graph.path(name)):
                try:
                    deltalake.write_deltalake(self.graph.path(name), row, mode="append")
                    self.commits += 1
                except deltalake.exceptions.DeltaError:
                    pass  # it lost a race: tidegate's commit stands
            time.sleep(0.05)


@pytest.mark.parametrize("seed", range(2))
def test_while_others_write(tidegate, seed):
    choice = random.Random(100 + seed)
    flows = [Flow(number, choice) for number in range(6)]
    graph = Graph(tidegate, tidegate.folder / "p", flows, 4)
    for name in SOURCES:
        graph.write(name, SCHEMA, source_rows(choice))
    graph.run(str(NOW))
    outsider = Outsider(graph, seed)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        done = pool.submit(outsider.work)
        for _ in range(4):
            summary = graph.run(str(NOW))
            assert summary["state"] == "COMPLETED"
            graph.check_pins(summary)
        outsider.stop.set()
        done.result()
    assert outsider.commits > 0
    graph.run(str(NOW))
    for flow in flows:  # within the window only what the flow makes is left
        low = dt.date.min if flow.is_view else NOW - dt.timedelta(days=flow.window)
        inputs = {name: graph.rows(name) for name in flow.inputs}
        if any(len({(r["d"], r["k"]) for r in rows}) != len(rows) for rows in inputs.values()):
            continue  # an outsider drew one key twice
        tables = {name: {(r["d"], r["k"]): r["v"] for r in rows} for name, rows in inputs.items()}
        expected = {key: value for key, value in flow.refresh(tables, NOW).items() if key[0] >= low}
        assert {key: v for key, v in graph.values(flow.name).items() if key[0] >= low} == expected, flow.name


def start(graph, running=1):
    """A run of which so many flows have begun: what is about to be run stands in the file of events."""
    process = subprocess.Popen([os.environ["TIDEGATE_BIN"], "run", "--now", str(NOW), "--json"], cwd=graph.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events, word = graph.folder / "pipeline-storage" / "events", '"status":"RUNNING"'
    while sum(path.read_text().count(word) for path in events.glob("*.jsonl")) < running:
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    return process


def threads_of(process):
    return len(os.listdir(f"/proc/{process.pid}/task"))


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
def test_interrupted(tidegate, delay):
    """At any moment: exit 130 (or 0, when it was done), whole tables, and the next run completes."""
    choice = random.Random(7)
    flows = [Flow(number, choice) for number in range(8)]
    graph = Graph(tidegate, tidegate.folder / "p", flows, 4)
    for name in SOURCES:
        graph.write(name, SCHEMA, source_rows(choice))
    process = start(graph)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    summary = json.loads(out.splitlines()[-1])
    assert process.returncode == (0 if summary["state"] == "COMPLETED" else 130)
    status = {f["dataset_name"].split(".")[-1]: f["status"] for f in summary["flows"]}
    tables = {name: graph.values(name) for name in SOURCES}
    for flow in flows:
        assert status[flow.name] in ("COMPLETED", "STOPPED")
        if status[flow.name] == "COMPLETED":
            tables[flow.name] = flow.refresh(tables, NOW)
            assert graph.values(flow.name) == tables[flow.name]
        else:
            assert graph.rows(flow.name) is None
    graph.run(str(NOW))
    for flow in flows:
        tables[flow.name] = flow.refresh({**tables, flow.name: {}}, NOW)
        assert graph.values(flow.name) == tables[flow.name]


def test_interrupted_inside_queries(tidegate):
    """All queries that run end soon, whichever worker they belong to."""
    graph = Graph(tidegate, tidegate.folder / "p", [], 3)
    for name in ("a", "b", "c"):
        (graph.folder / "transformations" / f"{name}.sql").write_text(f"CREATE MATERIALIZED VIEW {name} AS {ENDLESS};\n")
    (graph.folder / "transformations" / "d.sql").write_text(
        "CREATE MATERIALIZED VIEW d AS SELECT a.v FROM a JOIN b ON a.v = b.v;\n")
    process = start(graph, running=3)  # at the same time: none of them ends by itself
    time.sleep(0.3)
    assert threads_of(process) >= 4
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    summary = json.loads(out.splitlines()[-1])
    assert summary["state"] == "CANCELED"
    assert [f["status"] for f in summary["flows"]] == ["STOPPED"] * 4


@pytest.mark.parametrize("delay", [0.05, 0.15, 0.3])
def test_killed(tidegate, delay):
    """kill -9: every table is there as its flow commits it, or not at all, and the next run completes."""
    choice = random.Random(9)
    flows = [Flow(number, choice) for number in range(8)]
    graph = Graph(tidegate, tidegate.folder / "p", flows, 4)
    for name in SOURCES:
        graph.write(name, SCHEMA, source_rows(choice))
    process = start(graph)
    time.sleep(delay)
    process.kill()
    process.communicate(timeout=60)
    tables = {name: graph.values(name) for name in SOURCES}
    for flow in flows:
        made = flow.refresh(tables, NOW)
        assert graph.rows(flow.name) is None or graph.values(flow.name) == made
        tables[flow.name] = made
    for path in (graph.folder / "pipeline-storage" / "events").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            json.loads(line)
    graph.run(str(NOW))
    for flow in flows:
        assert graph.values(flow.name) == tables[flow.name]


def test_lines_are_whole_and_in_the_order_of_each_flow(tidegate):
    graph = Graph(tidegate, tidegate.folder / "p", [], 4)
    graph.write("s0", SCHEMA, source_rows(random.Random(1)))
    for number in range(8):
        (graph.folder / "transformations" / f"t{number}.sql").write_text(
            f"CREATE MATERIALIZED VIEW t{number} AS SELECT d, k, sum(v) AS v FROM s0 GROUP BY d, k;\n")
    done = graph.tidegate("run", "--now", str(NOW), "--json")
    *events, summary = [json.loads(line) for line in done.stdout.splitlines()]
    assert [f["flow_name"] for f in summary["flows"]] == [f"main.default.t{n}" for n in range(8)]
    assert [e["sequence"]["data_plane_id"]["seq_no"] for e in events] == list(range(1, len(events) + 1))
    for number in range(8):
        name = f"main.default.t{number}"
        own = [e["details"]["flow_progress"]["status"] for e in events
               if e["event_type"] == "flow_progress" and e["origin"]["flow_name"] == name]
        assert own == ["QUEUED", "PLANNING", "STARTING", "RUNNING", "COMPLETED"]
    [path] = (graph.folder / "pipeline-storage" / "events").glob("*.jsonl")
    assert [json.loads(line) for line in path.read_text().splitlines()] == events
