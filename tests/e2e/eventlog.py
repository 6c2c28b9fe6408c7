# SPDX-License-Identifier: Apache-2.0
"""A pipeline with one view over a CSV file, and its event log as files and as a table."""
import fcntl
import json
import struct

import deltalake
import polars
import pyarrow
from pipeline import Pipeline, csv

COMPUTES = "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM s"


class Logged(Pipeline):
    def __init__(self, tidegate, sql=COMPUTES):
        super().__init__(tidegate, sql, s=csv(header="true"))
        self.csv = self.folder / "c.csv"
        self.csv.write_text("a\n1\n")
        self.events = self.folder / "st" / "events"

    def work(self, *arguments):
        """A run that has something to do, and so loads the engine; its update id."""
        with self.csv.open("a") as file:
            file.write("2\n")
        return self.update_id(*arguments)

    def update_id(self, *arguments):
        return json.loads(self.tidegate("run", "--json", *arguments).stdout.splitlines()[-1])["update_id"]

    def files(self):
        """Update ids that have a file."""
        return sorted(path.stem for path in self.events.glob("[!.]*.jsonl"))

    def file_events(self, update_id):
        return [json.loads(line) for line in (self.events / f"{update_id}.jsonl").read_text().splitlines()]

    def table(self):
        """Path of the event-log table."""
        pipeline_id = json.loads((self.folder / "st" / "pipeline.json").read_text())["pipeline_id"]
        return self.folder / "wh" / "main" / "default" / f"event_log_{pipeline_id.replace('-', '_')}"

    def table_rows(self):
        reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(self.table())))
        rows = pyarrow.table(reader.execute("SELECT * FROM t").read_all()).to_pylist()
        assert polars.read_delta(str(self.table())).height == len(rows)
        return rows

    def sql(self, text, **more):
        done = self.tidegate("sql", "--format", "json", "-e", text, **more)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def put_update(self, update_id, events):
        """An event file as a writer leaves it."""
        self.events.mkdir(parents=True, exist_ok=True)
        path = self.events / f"{update_id}.jsonl"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        return path


def event(update_id, second, event_type, details, **more):
    return {
        "id": f"{update_id}-{second}", "sequence": {"data_plane_id": {"instance": "i", "seq_no": second}},
        "origin": {"pipeline_id": "p-1", "pipeline_name": "p", "update_id": update_id, **more.pop("origin", {})},
        "timestamp": f"2024-03-01T11:00:{second:02}.000000Z", "message": f"event {second}", "level": "INFO",
        "maturity_level": "STABLE", "error": None, "details": {event_type: details}, "event_type": event_type, **more,
    }


class Writer:
    """Holds the lock of an event file as the writer of an update does."""

    def __init__(self, path):
        self.file = path.open("a+")
        fcntl.fcntl(self.file, 37, struct.pack("hhqqixxxx", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK

    def write(self, text):
        self.file.write(text)
        self.file.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
