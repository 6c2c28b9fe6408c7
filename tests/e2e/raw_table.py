# SPDX-License-Identifier: Apache-2.0
"""Delta tables made by hand: log lines and Parquet files as other writers leave them."""
import json

import pyarrow.parquet as pq


def field(name, type, nullable=True, **metadata):
    return {"name": name, "type": type, "nullable": nullable, "metadata": metadata}


def mapped(name, type, id, physical, **metadata):
    return field(name, type, **{"delta.columnMapping.id": id, "delta.columnMapping.physicalName": physical, **metadata})


def struct(*fields):
    return {"type": "struct", "fields": list(fields)}


class RawTable:
    """Commits are added as lists of actions; `protocol` holds its features."""

    def __init__(self, folder):
        self.folder, self.log = folder, folder / "_delta_log"
        self.log.mkdir(parents=True, exist_ok=True)

    def commits(self):
        return sorted(self.log.glob("*.json"))

    def actions(self, kind):
        """All actions of a kind, in order."""
        lines = [json.loads(line) for path in self.commits() for line in path.read_text().splitlines()]
        return [line[kind] for line in lines if kind in line]

    def commit(self, *actions):
        path = self.log / f"{len(self.commits()):020d}.json"
        path.write_text("".join(json.dumps(action) + "\n" for action in actions))

    def create(self, *fields, features=(), partitions=(), **configuration):
        named = {"readerFeatures": list(features), "writerFeatures": list(features)} if features else {}
        versions = (3, 7) if features else (1, 2)
        self.commit({"protocol": {"minReaderVersion": versions[0], "minWriterVersion": versions[1], **named}},
                    self.metadata(fields, partitions, configuration))
        return self

    @staticmethod
    def metadata(fields, partitions=(), configuration=()):
        return {"metaData": {"id": "0b7d2c9e-5a0e-4c53-9b6c-0d4a1b2c3d4e", "format": {"provider": "parquet", "options": {}},
                             "schemaString": json.dumps(struct(*fields)), "partitionColumns": list(partitions),
                             "configuration": dict(configuration), "createdTime": 0}}

    def last_metadata(self):
        return self.actions("metaData")[-1]

    def schema(self):
        return json.loads(self.last_metadata()["schemaString"])

    def redefine(self, change):
        """A commit with another schema: change gets the fields of the last one, and its configuration."""
        metadata = self.last_metadata()
        schema = json.loads(metadata["schemaString"])
        change(schema["fields"], metadata["configuration"])
        self.commit({"metaData": {**metadata, "schemaString": json.dumps(schema)}})

    def add(self, table, stats=None, name=None, **partition_values):
        """A file of a pyarrow table. Without stats the log tells nothing of it."""
        name = name or f"part-{len(self.commits())}.parquet"
        pq.write_table(table, self.folder / name)
        self.commit({"add": {"path": name, "partitionValues": partition_values, "size": (self.folder / name).stat().st_size,
                             "modificationTime": 0, "dataChange": True, **({"stats": json.dumps(stats)} if stats else {})}})
        return name

    def parquet(self):
        """Schemas of all live and dead files that the log names, in order."""
        return [pq.read_schema(self.folder / add["path"].replace("%25", "%")) for add in self.actions("add")]
