# SPDX-License-Identifier: Apache-2.0
"""Retries and environments: what an update left is run where it was left; whose turn it is when several are open."""
import json

import pytest

SQL = "CREATE MATERIALIZED VIEW t AS SELECT CAST(txt AS BIGINT) + CAST(:lo AS BIGINT) AS v FROM s; CREATE MATERIALIZED VIEW ok AS SELECT 1 AS a"
DEV, PROD = ("--schema", "dev"), ("--catalog", "prod", "--schema", "core")


class Environments:
    def __init__(self, tidegate, sql=SQL, **keys):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        (self.folder / "t" / "a.sql").write_text(sql)
        self.spec(**keys)

    def spec(self, **keys):
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}], "tidegate": {"warehouse": "wh"}, **keys}))

    def source(self, text, *environment):
        self.tidegate("sql", *environment, "-e", f"CREATE TABLE IF NOT EXISTS s AS SELECT '' AS txt; INSERT OVERWRITE s VALUES ('{text}')")

    def fail(self, *environment, lo="12", mend=True):
        """An update that fails, whose source is good afterwards; its id."""
        self.source("none", *environment)
        done = self.tidegate("run", "--json", "--param", f"lo={lo}", *environment, status=1)
        if mend:
            self.source("5", *environment)
        return json.loads(done.stdout.splitlines()[-1])["update_id"]

    def retry(self, *arguments):
        done = self.tidegate("retry", "--json", *arguments)
        self.errors = done.stderr
        *events, summary = map(json.loads, done.stdout.splitlines())
        self.request = next(e["details"]["create_update"] for e in events if e["event_type"] == "create_update")
        return {flow["flow_name"]: flow["status"] for flow in summary["flows"] if flow["status"] != "EXCLUDED"}

    def rows(self, name):
        out = self.tidegate("sql", "--format", "rows", "-e", f"SELECT * FROM {name}").stdout
        return [json.loads(line) for line in out.splitlines()[1:]]


@pytest.fixture
def project(tidegate):
    return Environments(tidegate)


@pytest.mark.parametrize("arguments", [[], ["--schema", "dev"], ["--schema", "DEV", "--catalog", "main"]])
@pytest.mark.parametrize("names_it", [False, True])
def test_a_retry_runs_in_the_environment_of_the_update(project, arguments, names_it):
    failed = project.fail(*DEV)
    assert project.retry(*([failed[:8]] if names_it else []), *arguments) == {"main.dev.t": "COMPLETED"}
    assert project.request["retry_of"] == failed
    assert (project.request["config"]["catalog"], project.request["config"]["schema"]) == ("main", "dev")
    assert project.rows("main.dev.t") == [[17]]
    assert not (project.folder / "wh" / "main" / "default" / "t").exists()
    assert project.tidegate("retry").stdout.startswith("nothing to retry")


def test_a_catalog_too(project):
    project.fail(*PROD)
    assert project.retry() == {"prod.core.t": "COMPLETED"}
    assert project.rows("prod.core.t") == [[17]]


def test_the_environment_of_then_whatever_the_spec_says_now(project):
    project.spec(schema="dev")
    project.fail("--schema", "dev")
    project.spec(schema="elsewhere")
    assert project.retry() == {"main.dev.t": "COMPLETED"}


def test_a_retry_of_a_retry_stays_there(project):
    project.fail(*DEV, mend=False)
    project.tidegate("retry", status=1)
    project.source("5", *DEV)
    assert project.retry() == {"main.dev.t": "COMPLETED"}
    assert project.rows("main.dev.t") == [[17]]


def test_overrides_keep_their_short_names(tidegate):
    p = Environments(tidegate, "CREATE STREAMING TABLE t FLOW REPLACE WHERE v > 100 BY NAME SELECT CAST(txt AS BIGINT) AS v FROM s")
    p.source("none", *DEV)
    p.tidegate("run", *DEV, "--replace-where", "t=v > 1", status=1)
    p.source("5", *DEV)
    assert p.retry() == {"main.dev.t": "COMPLETED"}
    assert p.rows("main.dev.t") == [[5]]


def test_text_names_the_environment(project):
    failed = project.fail(*DEV)
    first, *_ = project.tidegate("retry").stderr.splitlines()
    assert f"Retrying update {failed} with its clock" in first and first.endswith("in environment main.dev")


def test_the_newest_first_and_the_others_are_named(project):
    first, second, third = project.fail(), project.fail(*PROD), project.fail(*DEV)
    assert project.retry() == {"main.dev.t": "COMPLETED"}
    assert project.request["retry_of"] == third
    notes = [line for line in project.errors.splitlines() if line.startswith("note:")]
    assert notes == [f"note: update {second} of environment prod.core is left unfinished too",
                     f"note: update {first} of environment main.default is left unfinished too"]
    assert f"tidegate retry {first}" in project.errors
    assert project.retry() == {"prod.core.t": "COMPLETED"}
    assert project.errors.count("note:") == 1
    assert project.retry() == {"main.default.t": "COMPLETED"}
    assert "note:" not in project.errors
    for name in ("main.default.t", "main.dev.t", "prod.core.t"):
        assert project.rows(name) == [[17]]


def test_what_was_done_since_is_no_other(project):
    project.fail()
    project.tidegate("run", "--param", "lo=1")
    project.fail(*DEV)
    assert project.retry() == {"main.dev.t": "COMPLETED"}
    assert "note:" not in project.errors


def test_the_choice_is_narrowed(project):
    first = project.fail()
    dev = project.fail(*DEV)
    assert project.retry("--schema", "default") == {"main.default.t": "COMPLETED"}
    assert project.request["retry_of"] == first
    assert "nothing to retry" in project.tidegate("retry", "--catalog", "prod").stdout
    refused = project.tidegate("retry", dev, "--schema", "default", status=3).stderr
    assert "[TIDEGATE_UNKNOWN_UPDATE]" in refused and "is of the environment main.dev" in refused
    assert project.retry("--catalog", "main") == {"main.dev.t": "COMPLETED"}


def test_all_environments_have_one_event_log(project):
    ids = [project.fail(*environment) for environment in ((), PROD, DEV)]
    for environment in ((), DEV):
        listed = project.tidegate("sql", *environment, "--format", "rows", "-e", "SELECT DISTINCT origin.update_id FROM event_log('p')").stdout
        assert {json.loads(line)[0] for line in listed.splitlines()[1:]} == set(ids)
    assert [json.loads(line)["update_id"] for line in project.tidegate("history", "--json").stdout.splitlines()] == ids[::-1]
    for failed in ids:
        assert failed in project.tidegate("logs", "--json", "--update-id", failed).stdout
    assert [path.parent.name for path in project.folder.glob("wh/*/*/event_log_*")] == ["default"]


def test_a_later_success_of_another_environment_is_none(project):
    """Windows go back only where the same table was refreshed since."""
    failed = project.fail(*DEV)
    project.source("1")
    project.tidegate("run", "--param", "lo=1")
    assert project.retry(failed) == {"main.dev.t": "COMPLETED"}
    assert project.rows("main.default.t") == [[2]]
