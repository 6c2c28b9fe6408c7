# SPDX-License-Identifier: Apache-2.0
"""What stays on the disk of an update that failed: its events, once there was an update; never a table."""
import json

import pytest
from pipeline import Pipeline


def events(pipeline):
    return [json.loads(line) for file in (pipeline.folder / "st").glob("events/*.jsonl") for line in file.open()]


def test_an_update_that_analysis_stops_leaves_its_events_and_nothing_else(tidegate):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT nosuch AS a FROM (SELECT 1 AS b)")
    tidegate("run", status=3)
    last = events(pipeline)[-1]
    assert (last["event_type"], last["level"]) == ("update_progress", "ERROR")
    assert last["details"]["update_progress"]["state"] == "FAILED"
    assert "nosuch" in last["error"]["exceptions"][0]["message"]
    assert sorted(path.name for path in (pipeline.folder / "st").iterdir()) == ["events", "pipeline.json"]
    assert not (pipeline.folder / "wh").exists()


@pytest.mark.parametrize(("sql", "arguments"), [
    ("CREATE MATERIALIZED VIEW m AS SELECT FROM", ["run"]),
    ("CREATE STREAMING TABLE m", ["run"]),
    ("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a", ["run", "--refresh", "n"]),
    ("CREATE MATERIALIZED VIEW m AS SELECT 1 AS a", ["run", "--now", "soon"]),
    ("CREATE MATERIALIZED VIEW m AS SELECT nosuch AS a", ["dry-run"]),
])
def test_what_is_found_before_there_is_an_update_leaves_nothing(tidegate, sql, arguments):
    pipeline = Pipeline(tidegate, sql)
    assert tidegate(*arguments, status=None).returncode in (2, 3)
    assert sorted(path.name for path in pipeline.folder.iterdir()) == ["spark-pipeline.yml", "t"]
