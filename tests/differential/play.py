# SPDX-License-Identifier: Apache-2.0
"""Plays a history: the steps are taken, and after each refresh everything that must hold is checked."""
import collections
import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import struct
import subprocess
import threading
import time

import deltalake
import polars
import pyarrow as pa
from generate import DIMENSION, decode_rows
from library import Failed, Tidegate
from oracle import Oracle, bag, in_spark
from tables import Log, Source, append_bare, arrow_table

SPEC = """\
name: differential
storage: pipeline-storage
libraries:
  - glob:
      include: transformations/**
tidegate:
  warehouse: warehouse
  threads: 1
"""
IN_DELTA_RS = ("INT", "BIGINT", "STRING", "DATE", "BOOLEAN", "SMALLINT")


FOLDS = 10  # one history in so many folds its events into the event log, which costs as much as the refresh
F_OFD_SETLK = 37


class Mismatch(Exception):
    pass


@contextlib.contextmanager
def unfolded(folder):
    """Events stay in their files, as if another process were folding them all the time."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/.fold", "w", encoding="utf-8") as file:
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        yield


class World:
    """A folder in which histories are played one after the other; each has tables of its own."""

    def __init__(self, folder):
        self.folder = str(folder)
        os.makedirs(f"{self.folder}/transformations", exist_ok=True)
        with open(f"{self.folder}/spark-pipeline.yml", "w", encoding="utf-8") as file:
            file.write(SPEC)
        self.tidegate = Tidegate(self.folder)
        self.oracle = Oracle()
        self.stats = collections.Counter()
        self.played = 0

    def play(self, history):
        """Mismatch when something does not hold."""
        self.played += 1
        game = Game(self, history, f"_{self.played}")
        try:
            with contextlib.ExitStack() as stack:
                if self.played % FOLDS:
                    stack.enter_context(unfolded(f"{self.folder}/pipeline-storage/events"))
                game.play()
        finally:
            shutil.rmtree(f"{self.folder}/warehouse/main/default", ignore_errors=True)
            shutil.rmtree(f"{self.folder}/pipeline-storage/events", ignore_errors=True)
            self.stats["histories"] += 1

    def close(self):
        self.tidegate.close()


class Game:
    def __init__(self, world, history, suffix):
        self.world, self.history, self.stats = world, history, world.stats
        self.tidegate, self.oracle = world.tidegate, world.oracle
        self.columns = [tuple(c) for c in history["columns"]]
        self.axes = [tuple(c) for c in history["axes"]]
        self.names = {name: name + suffix for name in ("f0", "f1", "m", "t", "u")}
        self.sources = {}
        for name, encoded in history["rows"].items():
            columns = DIMENSION if name == "m" else self.columns
            self.sources[name] = Source(self.path(name), [tuple(c) for c in columns])
            self.sources[name].create(decode_rows(columns, encoded))
        self.state = {key: history[key] for key in ("shape", "query", "view", "predicate", "properties")}
        self.log = Log(self.path("t"))
        self.last = None  # what a repeated refresh must find up to date
        self.step_number = 0

    def path(self, name):
        return f"{self.world.folder}/warehouse/main/default/{self.names[name]}"

    def fail(self, what, **more):
        raise Mismatch(json.dumps({"what": what, "step": self.step_number, **more}, default=str, indent=1))

    # ---- definitions

    def define(self):
        state, text = self.state, ""
        query, names = state["query"], dict(self.names)
        if state["view"]:
            view = in_spark(state["view"]["query"], self.names)
            text += f"CREATE {state['view']['kind']} {self.names['u']} AS {view};\n"
            names["f0"] = self.names["u"]
        clauses = f" PARTITIONED BY ({self.history['partition']})" if self.history["partition"] else ""
        properties = {"pipelines.reset.allowed": "true", **state["properties"]}
        clauses += " TBLPROPERTIES (" + ", ".join(f"'{k}' = '{v}'" for k, v in properties.items()) + ")"
        text += (f"CREATE STREAMING TABLE {self.names['t']}{clauses} FLOW REPLACE WHERE "
                 f"{in_spark(state['predicate'], {})} BY NAME\n{self.qualified(in_spark(query, {}), names)};\n")
        with open(f"{self.world.folder}/transformations/t.sql", "w", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def qualified(text, names):
        """Tables after FROM, JOIN get their names and keep the short ones as aliases."""
        return re.sub(r"(FROM|JOIN) (f0|f1|m)\b", lambda m: f"{m[1]} {names[m[2]]} AS {m[2]}", text)

    # ---- the target

    def rows(self):
        self.log.advance()
        return self.log.rows() if self.log.version >= 0 else None

    def register(self):
        self.oracle.register({name: source.rows() for name, source in self.sources.items()})

    def found(self, table, names=None):
        return bag(table, names or table.column_names)

    def compare(self, what, expected_bag, table, names, **more):
        found = self.found(table, names)
        if found != expected_bag:
            self.fail(what, missing=list((expected_bag - found).elements()), extra=list((found - expected_bag).elements()),
                      columns=names, **more)

    # ---- refreshes

    def expect(self, before, predicate, now, zone):
        """(rows, names of columns) that must come of it."""
        rows = self.oracle.refreshed(before, self.state["query"], self.state["view"], predicate, now, zone)
        return bag(rows, rows.column_names), rows.column_names

    def flow(self, summary):
        return next(f for f in summary["flows"] if f["flow_name"].endswith("." + self.names["t"]))

    def step_refresh(self, step):
        now, zone, override = step["now"], step["zone"], step.get("override")
        before, version = self.rows(), self.log.version
        if version < 0 and override is not None:
            override = None
        predicate = self.state["predicate"] if override is None else override
        self.register()
        is_full = step.get("full", False) and before is not None
        expected, names = self.expect(before.slice(0, 0) if is_full else before, predicate, now, zone)
        self.define()
        forecast = None
        given = None if override is None else in_spark(override, {})
        if step.get("through") == "program":
            forecast = self.flow(self.tidegate.run("plan", now, zone, self.names["t"], given))
            summary = self.tidegate.run("run", now, zone, self.names["t"], given)
        else:
            summary = self.tidegate.session(now, zone).update(self.names["t"], given, is_full)
        flow = self.flow(summary)
        self.check_flow(flow, version, override is not None)
        after = self.rows()
        self.compare("rows differ from the simulator's", expected, after, names, flow=flow)
        if forecast:
            self.check_forecast(forecast, flow)
        signature = (json.dumps(self.state, sort_keys=True), now, zone)
        if self.last == signature and override is None and not is_full and flow["technique"] != "NO_OP":
            self.fail("the same refresh again was not NO_OP", flow=flow)
        self.last = None if override is not None else signature
        self.count(flow, override)
        self.check_readers(after, names)

    def check_flow(self, flow, version, is_override):
        self.log.advance()
        committed, made = flow["committed_version"], self.log.version - version
        if made != (0 if committed is None else 1) or (committed is not None and committed != self.log.version):
            self.fail("the version that was told is not the one that was made", flow=flow, before=version, after=self.log.version)
        if committed is None and flow["technique"] != "NO_OP":
            self.fail("nothing was committed, but the technique is not NO_OP", flow=flow)
        if committed is not None and flow["technique"] == "NO_OP" and any(self.log.commits[-1][1:]):
            self.fail("NO_OP changed files", flow=flow)
        if is_override and flow["fallback_reasons"] != ["REPLACE_WHERE_BACKFILL"]:
            if "REPLACE_WHERE_BACKFILL" not in flow["fallback_reasons"]:
                self.fail("an override has another reason", flow=flow)

    def check_forecast(self, forecast, flow):
        for key in ("technique", "fallback_reasons", "pieces", "window"):
            if forecast[key] != flow[key] and not (self.state["view"] or {}).get("kind") == "MATERIALIZED VIEW":
                self.fail("plan differs from run", plan=forecast, run=flow)

    def check_readers(self, table, names):
        """What delta-rs and Polars read is what was read here, one time in eight."""
        chance = random.Random(f"{self.history['query']} {self.step_number} {self.log.version}").random()
        if chance > 0.125:
            return
        self.stats["read by delta-rs or Polars"] += 1
        if chance < 0.06:
            reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(self.path("t")))
            other = pa.table(reader.execute("SELECT * FROM t").read_all())
        else:
            other = polars.read_delta(self.path("t")).to_arrow()
        if bag(other, names) != self.found(table, names):
            self.fail("another reader reads other rows")

    def count(self, flow, override):
        stats, shape = self.stats, self.state["shape"]
        technique = flow["technique"] + (" (state)" if flow["technique"] == "NO_OP" and flow["committed_version"] is not None else "")
        stats["refreshes"] += 1
        stats[f"technique {technique}"] += 1
        stats[f"shape {shape} x {technique}"] += 1
        for reason in flow["fallback_reasons"]:
            stats[f"reason {reason}"] += 1
            stats[f"shape {shape} x reason {reason}"] += 1
        kept = any(piece["treatment"] == "NO_OP" for piece in flow["pieces"])
        if kept and technique == "COMPLETE_REPLACE_WHERE":
            stats["refreshes that left a part alone"] += 1

    # ---- two at once, kills

    def step_pair(self, step):
        """Two updates at once, each with a session of its own: as if one had been first."""
        now, zone = step["now"], step["zone"]
        before, version = self.rows(), self.log.version
        if before is None:
            return
        self.register()
        self.define()
        sessions = [self.tidegate.session(now, zone, slot) for slot in (0, 1)]
        overrides, done = step["overrides"], [None, None]

        def run(i):
            given = None if overrides[i] is None else in_spark(overrides[i], {})
            try:
                done[i] = self.flow(sessions[i].update(self.names["t"], given))
            except Failed as error:
                done[i] = error

        threads = [threading.Thread(target=run, args=(i,)) for i in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for flow in done:
            if isinstance(flow, Exception):
                self.fail("one of two updates failed", error=str(flow))
            self.count(flow, None)
        predicates = [self.state["predicate"] if o is None else o for o in overrides]
        order = sorted((f["committed_version"], i) for i, f in enumerate(done) if f["committed_version"] is not None)
        table = before
        snapshots = self.snapshots(version)
        for committed, i in order:
            expected, names = self.expect(table, predicates[i], now, zone)
            table = snapshots[committed]
            self.compare("of two updates one did not do what the rule says", expected, table, names, version=committed, flows=done)
        self.rows()
        for i, flow in enumerate(done):
            if flow["committed_version"] is None:
                expected, names = self.expect(table, predicates[i], now, zone)
                self.compare("of two updates one found nothing to do, but there was", expected, table, names, flows=done)
        self.last = None

    def snapshots(self, version):
        """version: rows, of all versions after this one."""
        found = {}
        while True:
            name = f"{self.log.path}/_delta_log/{self.log.version + 1:020}.json"
            if not os.path.exists(name):
                return found
            with open(name, encoding="utf-8") as file:
                actions = [json.loads(line) for line in file]
            self.log.version += 1
            self.log.apply(actions)
            found[self.log.version] = self.log.rows()

    def step_kill(self, step):
        """The program dies: the table is as it was, or as it should be."""
        now, zone = step["now"], step["zone"]
        before, version = self.rows(), self.log.version
        if before is None:
            return
        self.register()
        expected, names = self.expect(before, self.state["predicate"], now, zone)
        self.define()
        command = self.tidegate.command("run", now, zone, self.names["t"], None)
        with subprocess.Popen(command, cwd=self.world.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(step["after_ms"] / 1000)
            process.kill()
        after = self.rows()
        self.stats["killed before the commit" if self.log.version == version else "killed after the commit"] += 1
        if self.log.version == version:
            names = before.column_names
            expected = self.found(before)
        self.compare("after a kill the table is neither old nor new", expected, after, names)

    # ---- sources

    def sql(self, statement):
        self.tidegate.session("2024-03-04T12:00:00Z", "UTC").execute(statement)

    def step_source_append(self, step):
        source = self.sources[step["source"]]
        rows = decode_rows(source.columns, step["rows"])
        if step["by"] == "own":
            source.append(rows)
        else:
            deltalake.write_deltalake(source.path, arrow_table(source.columns, rows), mode="append")

    def step_source_replace(self, step):
        source = self.sources[step["source"]]
        old = list(zip(*(column.to_pylist() for column in source.rows().columns)))
        keep = random.Random(step["keep"])
        source.overwrite([row for row in old if keep.random() < 0.7] + decode_rows(source.columns, step["rows"]))

    def step_source_delete(self, step):
        source = self.sources[step["source"]]
        if step["by"] == "sql":
            self.sql(f"DELETE FROM {self.names[step['source']]} WHERE {step['where']}")
        else:
            source.delta_rs().delete(step["where"])

    def step_source_update(self, step):
        source = self.sources[step["source"]]
        column, value = step["set"]
        if step["by"] == "sql" and step["source"] != "m":
            self.sql(f"DELETE FROM {self.names[step['source']]} WHERE {step['where']}")
        else:
            source.delta_rs().update(predicate=step["where"], updates={column: f"CAST({value} AS INT)"})

    def step_source_recreate(self, step):
        source = self.sources[step["source"]]
        source.create(decode_rows(source.columns, step["rows"]))

    def step_source_optimize(self, step):
        self.sources[step["source"]].delta_rs().optimize.compact()

    def step_source_restore(self, step):
        table = self.sources[step["source"]].delta_rs()
        if table.version() >= step["back"]:
            table.restore(table.version() - step["back"], ignore_missing_files=False)

    def step_source_vacuum(self, step):
        self.sources[step["source"]].delta_rs().vacuum(0, dry_run=False, enforce_retention_duration=False)

    # ---- other writers of the target

    def outside(self):
        """The target for another writer, or None while there is none."""
        return deltalake.DeltaTable(self.path("t")) if self.rows() is not None else None

    def step_target_insert(self, step):
        if self.outside() is None:
            return
        values = dict(zip((name for name, _ in self.axes), zip(*decode_rows(self.axes, step["rows"]))))
        count, schema = len(step["rows"]), self.log.rows().schema
        table = pa.table([pa.array(values.get(f.name, [None] * count), f.type) for f in schema], schema=schema)
        if step.get("by") == "own" and not self.log.partitions:
            append_bare(self.log, table)
        else:
            deltalake.write_deltalake(self.path("t"), table, mode="append")

    def condition(self, pick):
        """Of a row that is there, in delta-rs' words."""
        table = self.log.rows()
        rows = sorted(table.to_pylist(), key=repr)
        if not rows:
            return None
        row, parts = rows[int(pick * len(rows))], []
        for name, kind in self.axes:
            if kind not in IN_DELTA_RS:
                continue
            value = row[name]
            parts.append(f"{name} IS NULL" if value is None else f"{name} = CAST('{value}' AS DATE)" if kind == "DATE"
                         else f"{name} = '{value}'" if kind == "STRING" else f"{name} = {str(value).lower()}")
        return " AND ".join(parts) or None

    def step_target_delete(self, step):
        table = self.outside()
        where = self.condition(step["pick"]) if table else None
        if where:
            table.delete(where)

    def step_target_update(self, step):
        table = self.outside()
        where = self.condition(step["pick"]) if table else None
        fields = [f["name"] for f in self.log.schema if f["type"] == "long"] if where else []
        if fields:
            table.update(predicate=where, updates={fields[-1]: "CAST(99 AS BIGINT)"})

    def step_target_sql_delete(self, step):
        """Somebody deletes with tidegate: what it deletes is what the predicate says."""
        before = self.rows()
        if before is None:
            return
        session = self.tidegate.session(step["now"], step["zone"])
        session.execute(f"DELETE FROM {self.names['t']} WHERE {in_spark(step['predicate'], {})}")
        kept = self.oracle.kept(before, step["predicate"], step["now"], step["zone"])
        self.compare("DELETE left other rows", self.found(kept), self.rows(), before.column_names)

    def step_target_optimize(self, _):
        table = self.outside()
        if table:
            table.optimize.compact()
            return "keeps"

    def step_target_restore(self, step):
        table = self.outside()
        if table and table.version() >= step["back"]:
            try:
                table.restore(table.version() - step["back"])
            except (deltalake.exceptions.DeltaError, OSError):
                self.stats["restores of versions that are gone"] += 1

    def step_target_sql_restore(self, step):
        """tidegate's own RESTORE: the rows of that version."""
        if self.rows() is None or self.log.version < step["back"]:
            return
        version = self.log.version - step["back"]
        try:
            self.sql(f"RESTORE TABLE {self.names['t']} TO VERSION AS OF {version}")
        except Failed:
            self.stats["restores of versions that are gone"] += 1
            return
        table = deltalake.DeltaTable(self.path("t"), version=version)
        names = self.log.schema and [f["name"] for f in self.log.schema]
        reader = deltalake.QueryBuilder().register("t", table)
        self.compare("RESTORE gave other rows", bag(pa.table(reader.execute("SELECT * FROM t").read_all()), names), self.rows(), names)

    def step_target_clean(self, step):
        """Another program's log cleanup: a checkpoint, and the files before it go."""
        table = self.outside()
        if not table:
            return
        table.create_checkpoint()
        for version in range(table.version() - step["keep"]):  # that of the checkpoint itself stays, as everywhere
            name = f"{self.path('t')}/_delta_log/{version:020}.json"
            if os.path.exists(name):
                os.remove(name)

    def step_target_vacuum(self, _):
        table = self.outside()
        if table:
            for path in self.log.live:
                self.log.file_rows(path, self.log.live[path])
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)
            return "keeps"

    # ---- definitions

    def step_predicate(self, step):
        self.state = self.state | {"predicate": step["predicate"]}

    def step_query(self, step):
        self.state = self.state | {key: step[key] for key in ("shape", "query", "view")}

    def step_properties(self, step):
        self.state = self.state | {"properties": step["properties"]}

    # ---- all of it

    def play(self):
        for self.step_number, step in enumerate(self.history["steps"]):
            self.stats[f"step {'override' if step.get('override') else 'full' if step.get('full') else step['do']}"] += 1
            self.stats["steps"] += 1
            try:
                kept = getattr(self, "step_" + step["do"])(step)
            except Failed as error:
                self.fail("it failed", error=str(error), state=self.state)
            if step["do"] != "refresh" and kept != "keeps":
                self.last = None
