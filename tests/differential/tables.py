# SPDX-License-Identifier: Apache-2.0
"""Delta tables as the harness reads and writes them: the log replayed here, because that costs a tenth of opening a reader.

Other writers are delta-rs; what is read here is compared with what delta-rs and Polars read now and then (history.py).
"""
import json
import os
import shutil
import time
import urllib.parse
import uuid

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

SPARK = {"DATE": "date", "TIMESTAMP": "timestamp", "STRING": "string", "INT": "integer", "BIGINT": "long",
         "SMALLINT": "short", "TINYINT": "byte", "DOUBLE": "double", "FLOAT": "float", "BOOLEAN": "boolean",
         "BINARY": "binary", "DECIMAL(10,2)": "decimal(10,2)"}
ARROW = {"DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", "UTC"), "STRING": pa.string(), "INT": pa.int32(),
         "BIGINT": pa.int64(), "SMALLINT": pa.int16(), "TINYINT": pa.int8(), "DOUBLE": pa.float64(),
         "FLOAT": pa.float32(), "BOOLEAN": pa.bool_(), "BINARY": pa.binary(), "DECIMAL(10,2)": pa.decimal128(10, 2)}
ARROW_OF = {SPARK[kind]: arrow for kind, arrow in ARROW.items()}


def arrow_schema(columns):
    return pa.schema([(name, ARROW[kind]) for name, kind in columns])


def arrow_table(columns, rows):
    values = list(zip(*rows)) or [()] * len(columns)
    schema = arrow_schema(columns)
    return pa.table([pa.array(v, f.type) for v, f in zip(values, schema)], schema=schema)


class Log:
    """The log of one table, version after version. live: path of each file -> its partition values."""

    def __init__(self, path):
        self.path, self.version = path, -1
        self.live, self.schema, self.partitions = {}, None, []
        self.cache = {}  # file: rows, the schema that they are in
        self.commits = []  # (commitInfo, removed, added)

    def advance(self):
        """Reads what is new; False: the log starts behind it."""
        while True:
            name = f"{self.path}/_delta_log/{self.version + 1:020}.json"
            try:
                with open(name, encoding="utf-8") as file:
                    actions = [json.loads(line) for line in file]
            except FileNotFoundError:
                return True
            self.version += 1
            self.apply(actions)

    def apply(self, actions):
        info, removed, added = {}, [], []
        for action in actions:
            if "metaData" in action:
                self.schema = json.loads(action["metaData"]["schemaString"])["fields"]
                self.partitions = action["metaData"]["partitionColumns"]
            elif "commitInfo" in action:
                info = action["commitInfo"]
            elif "remove" in action:
                removed.append(action["remove"]["path"])
                del self.live[action["remove"]["path"]]
            elif "add" in action:
                added.append(action["add"]["path"])
                self.live[action["add"]["path"]] = action["add"]["partitionValues"]
        self.commits.append((info, removed, added))

    def file_rows(self, name, values):
        table, made_for = self.cache.get(name, (None, None))
        if table is None:
            with open(f"{self.path}/{urllib.parse.unquote(name)}", "rb") as file:  # by name costs a look at file systems
                table = pq.ParquetFile(pa.BufferReader(file.read())).read(use_threads=False)
        if made_for is not self.schema:
            table = self.complete(table, values)
            self.cache[name] = table, self.schema
        return table

    def complete(self, table, values):
        """Partition columns come from the log, later columns are NULL."""
        columns = []
        for field in self.schema:
            name, kind = field["name"], ARROW_OF[field["type"]]
            if name in self.partitions:
                columns.append(partition_column(values.get(name), kind, table.num_rows))
            elif name in table.column_names:
                column = table.column(name)
                columns.append(column if column.type == kind else column.cast(kind))
            else:
                columns.append(pa.nulls(table.num_rows, kind))
        return pa.table(columns, names=[field["name"] for field in self.schema])

    def rows(self):
        """All rows as they are now, as an arrow table."""
        tables = [self.file_rows(name, values) for name, values in self.live.items()]
        return pa.concat_tables(tables) if tables else self.complete(pa.table({}), {})


def partition_column(text, kind, count):
    if text is None or text == "":
        return pa.nulls(count, kind)
    if pa.types.is_timestamp(kind):
        value = pa.scalar(text.replace("Z", "").replace("T", " ")).cast(pa.timestamp("us")).cast(kind)
    elif pa.types.is_boolean(kind):
        value = pa.scalar(text == "true")
    else:
        value = pa.scalar(text).cast(kind)
    return pa.array([value.as_py()] * count, kind)


def statistics(columns, rows):
    """As other writers give them: some without NULL counts, NaN left out, nothing of types that need care."""
    found = {"numRecords": len(rows), "minValues": {}, "maxValues": {}}
    if len(rows) % 3:
        found["nullCount"] = {name: sum(row[i] is None for row in rows) for i, (name, _) in enumerate(columns)}
    for i, (name, kind) in enumerate(columns):
        values = [row[i] for row in rows if row[i] is not None and row[i] == row[i]]
        if values and kind in ("INT", "BIGINT", "SMALLINT", "DATE", "STRING", "DOUBLE") and float("inf") not in values:
            low, high = (str(v) if kind == "DATE" else v for v in (min(values), max(values)))
            found["minValues"][name], found["maxValues"][name] = low, high
    return json.dumps(found)


def append_bare(log, table):
    """As a writer does that gathers no statistics."""
    name = f"part-{uuid.uuid4()}.parquet"
    pq.write_table(table, f"{log.path}/{name}", compression="snappy")
    log.advance()
    now = int(time.time() * 1000)
    actions = [{"commitInfo": {"timestamp": now, "operation": "WRITE"}},
               {"add": {"path": name, "partitionValues": {}, "size": os.path.getsize(f"{log.path}/{name}"), "modificationTime": now,
                        "dataChange": True}}]
    with open(f"{log.path}/_delta_log/{log.version + 1:020}.json", "x", encoding="utf-8") as file:
        file.write("".join(json.dumps(action) + "\n" for action in actions))


class Source:
    """A source: written here, every other file without statistics, and by delta-rs."""

    def __init__(self, path, columns):
        self.path, self.columns, self.log = path, columns, Log(path)
        self.known = None, None

    def create(self, rows):
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(f"{self.path}/_delta_log")
        self.log = Log(self.path)
        fields = [{"name": n, "type": SPARK[k], "nullable": True, "metadata": {}} for n, k in self.columns]
        self.commit([{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
                     {"metaData": {"id": str(uuid.uuid4()), "format": {"provider": "parquet", "options": {}},
                                   "schemaString": json.dumps({"type": "struct", "fields": fields}),
                                   "partitionColumns": [], "configuration": {}, "createdTime": 0}}], rows)

    def commit(self, actions, rows):
        if rows:
            name = f"part-{uuid.uuid4()}.parquet"
            pq.write_table(arrow_table(self.columns, rows), f"{self.path}/{name}", compression="snappy")
            actions.append({"add": {"path": name, "partitionValues": {}, "size": os.path.getsize(f"{self.path}/{name}"),
                                    "modificationTime": int(time.time() * 1000), "dataChange": True}})
            if self.log.version % 2:
                actions[-1]["add"]["stats"] = statistics(self.columns, rows)
        self.log.advance()
        actions.insert(0, {"commitInfo": {"timestamp": int(time.time() * 1000), "operation": "WRITE"}})
        with open(f"{self.path}/_delta_log/{self.log.version + 1:020}.json", "x", encoding="utf-8") as file:
            file.write("".join(json.dumps(action) + "\n" for action in actions))
        self.log.advance()

    def append(self, rows):
        self.commit([], rows)

    def overwrite(self, rows):
        self.log.advance()
        self.commit([{"remove": {"path": path, "deletionTimestamp": int(time.time() * 1000), "dataChange": True}}
                     for path in self.log.live], rows)

    def rows(self):
        """The same object while nothing has changed."""
        self.log.advance()
        key = self.log, self.log.version
        if self.known[0] != key:
            self.known = key, self.log.rows()
        return self.known[1]

    def delta_rs(self):
        return deltalake.DeltaTable(self.path)
