# SPDX-License-Identifier: Apache-2.0
"""Backfills of flows with parameters and in environments: both are kept in the journal, and hold until it is done."""
import json

import pytest

SQL = "CREATE STREAMING TABLE t FLOW REPLACE WHERE d > 100 BY NAME SELECT d, CAST(txt AS BIGINT) + CAST(:lo AS BIGINT) AS v FROM s"
RANGE = ("--from", "0", "--to", "4", "--every", "2")


class Backfills:
    def __init__(self, tidegate, **keys):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        (self.folder / "t" / "a.sql").write_text(SQL)
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}], "tidegate": {"warehouse": "wh"}, **keys}))

    def source(self, text, *environment):
        self.tidegate("sql", *environment, "-e", f"CREATE TABLE s AS SELECT 1 AS d, '5' AS txt UNION ALL SELECT 3, '{text}'")

    def rows(self, name):
        out = self.tidegate("sql", "--format", "rows", "-e", f"SELECT * FROM {name} ORDER BY 1").stdout
        return [json.loads(line) for line in out.splitlines()[1:]]


@pytest.fixture
def project(tidegate):
    return Backfills(tidegate)


def half_done(project, *environment):
    """The second chunk fails, and does so again: the source stays at the version that the backfill was begun with."""
    project.source("none", *environment)
    return project.tidegate("backfill", "t", *RANGE, "--param", "lo=12", *environment, status=1)


def test_parameters(project):
    project.source("6")
    missing = project.tidegate("backfill", "t", *RANGE, status=3).stderr
    assert "--param lo=VALUE" in missing
    project.tidegate("backfill", "t", *RANGE, "--param", "lo=12")
    assert project.rows("t") == [[1, 17], [3, 18]]


def test_an_environment(project):
    project.source("6", "--schema", "dev")
    project.tidegate("backfill", "t", *RANGE, "--param", "lo=12", "--schema", "dev")
    assert project.rows("main.dev.t") == [[1, 17], [3, 18]]
    assert not (project.folder / "wh" / "main" / "default" / "t").exists()


@pytest.mark.parametrize("again", [["main.dev.t"], ["t", "--schema", "dev"], ["t", "--schema", "dev", "--param", "lo=12"]])
def test_going_on_has_the_same_values(project, again):
    told = half_done(project, "--schema", "dev")
    assert "tidegate backfill t --schema dev" in told.stderr
    done = project.tidegate("backfill", *again, "--json", status=1)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["is_resumed"] and summary["flow_name"] == "main.dev.t"
    assert [chunk["status"] for chunk in summary["chunks"]] == ["COMPLETED", "FAILED"]
    started = next(json.loads(line) for line in done.stdout.splitlines() if '"create_update"' in line)["details"]["create_update"]
    assert started["parameters"] == {"lo": "12"} and started["config"]["schema"] == "dev"


@pytest.mark.parametrize("other", [["t", "--schema", "dev", "--param", "lo=13"], ["t", "--schema", "dev", "--param", "lo=12", "--param", "x=1"]])
def test_other_values_are_refused(project, other):
    half_done(project, "--schema", "dev")
    assert "[TIDEGATE_BACKFILL_OPEN]" in project.tidegate("backfill", *other, status=3).stderr


def test_another_environment_is_refused(project):
    half_done(project, "--schema", "dev")
    assert "`main.dev.t` is" in project.tidegate("backfill", "main.dev.t", "--schema", "core", status=3).stderr


def test_a_value_of_the_spec_that_changed_does_not_count(tidegate):
    project = Backfills(tidegate, parameters={"lo": "1"})
    project.source("none")
    project.tidegate("backfill", "t", *RANGE, status=1)
    spec = project.folder / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace('"lo": "1"', '"lo": "2"'))
    done = project.tidegate("backfill", "t", "--json", status=1)
    assert '"parameters":{"lo":"1"}' in done.stdout
    assert project.rows("t") == [[1, 6]]
