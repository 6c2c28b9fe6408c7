# SPDX-License-Identifier: Apache-2.0
"""One definition, several environments: --catalog, --schema, --strict-spec."""
import json

import deltalake
import pytest

SQL = "CREATE MATERIALIZED VIEW m AS SELECT a, count(*) AS n FROM s GROUP BY a"


class Project:
    def __init__(self, tidegate, sql=SQL, **keys):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        (self.folder / "t" / "a.sql").write_text(sql)
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}],
            "tidegate": {"warehouse": "wh", "tables": keys.pop("tables", {})}, **keys}))

    def source(self, value, *environment):
        self.tidegate("sql", *environment, "-e", f"CREATE TABLE s AS SELECT {value} AS a")

    def flows(self, *environment, command="run"):
        done = self.tidegate(command, "--json", *environment)
        return {f["flow_name"]: f["technique"] for f in json.loads(done.stdout.splitlines()[-1])["flows"]}

    def rows(self, name):
        out = self.tidegate("sql", "--format", "rows", "-e", f"SELECT * FROM {name} ORDER BY 1").stdout
        return [json.loads(line) for line in out.splitlines()[1:]]


def test_each_environment_has_its_own_tables(tidegate):
    p = Project(tidegate)
    dev, prod = ("--schema", "dev"), ("--catalog", "prod", "--schema", "core")
    for value, environment in ((1, ()), (2, dev), (3, prod)):
        p.source(value, *environment)
    assert p.flows() == {"main.default.m": "COMPLETE_RECOMPUTE"}
    assert p.flows(*dev) == {"main.dev.m": "COMPLETE_RECOMPUTE"}
    assert p.flows(*prod) == {"prod.core.m": "COMPLETE_RECOMPUTE"}
    # None of them saw another's work; all belong to the one pipeline.
    for environment in ((), dev, prod):
        assert set(p.flows(*environment).values()) == {"NO_OP"}
        assert set(p.flows(*environment, command="plan").values()) == {"NO_OP"}
    assert [p.rows(name) for name in ("main.default.m", "main.dev.m", "prod.core.m")] == [[[1, 1]], [[2, 1]], [[3, 1]]]
    ids = {deltalake.DeltaTable(str(tidegate.folder / "wh" / path)).metadata().configuration["tidegate.pipelineId"]
           for path in ("main/default/m", "main/dev/m", "prod/core/m")}
    assert len(ids) == 1
    tidegate("sql", *dev, "-e", "INSERT INTO s VALUES (2)")
    assert p.flows() == {"main.default.m": "NO_OP"}
    assert p.flows(*dev) == {"main.dev.m": "COMPLETE_RECOMPUTE"}
    assert p.rows("main.dev.m") == [[2, 2]]


def test_events_say_which_environment_it_was(tidegate):
    p = Project(tidegate)
    p.source(1, "--schema", "dev")
    done = tidegate("run", "--json", "--schema", "dev")
    events = [json.loads(line) for line in done.stdout.splitlines()[:-1]]
    assert {(e["origin"]["catalog_name"], e["origin"]["schema_name"]) for e in events} == {("main", "dev")}
    config = events[0]["details"]["create_update"]["config"]
    assert (config["catalog"], config["schema"]) == ("main", "dev")


def test_intervals_refresh_and_overrides_mean_the_environment(tidegate):
    p = Project(tidegate, "CREATE STREAMING TABLE m FLOW REPLACE WHERE a > 0 BY NAME SELECT a FROM s")
    p.source(1, "--schema", "dev")
    p.flows("--schema", "dev", "--refresh", "m", "--replace-where", "main.dev.m=a > 0")
    done = tidegate("intervals", "main.dev.m", "--schema", "dev", "--json")
    assert json.loads(done.stdout)["flow_name"] == "main.dev.m"
    tidegate("intervals", "main.default.m", "--schema", "dev", status=3)


def test_use_in_a_file_keeps_its_meaning(tidegate):
    sql = f"{SQL}; USE SCHEMA fixed; CREATE MATERIALIZED VIEW f AS SELECT * FROM main.dev.m;" \
          "USE CATALOG other; CREATE MATERIALIZED VIEW g AS SELECT 1 AS a; CREATE MATERIALIZED VIEW x.h AS SELECT 1 AS a"
    p = Project(tidegate, sql)
    p.source(1, "--schema", "dev")
    done = tidegate("run", "--json", "--schema", "dev")
    names = [f["flow_name"] for f in json.loads(done.stdout.splitlines()[-1])["flows"]]
    assert sorted(names) == ["main.dev.m", "main.fixed.f", "other.dev.g", "other.x.h"]
    # Those that --schema does not move are every environment's: that is said, at their place.
    notes = [line for line in done.stderr.splitlines() if "TIDEGATE_SHARED_TABLE" in line]
    assert ["main.fixed.f" in notes[0], "other.x.h" in notes[1], len(notes)] == [True, True, 2]
    assert "t/a.sql:1:" in done.stderr


def test_nothing_is_called_shared_without_another_environment(tidegate):
    p = Project(tidegate, "USE SCHEMA fixed; CREATE MATERIALIZED VIEW a.b.f AS SELECT 1 AS a", schema="dev")
    for arguments in ((), ("--schema", "dev"), ("--schema", "DEV", "--catalog", "main")):
        assert "SHARED" not in tidegate("dry-run", *arguments).stderr
    assert "SHARED" in tidegate("dry-run", "--schema", "prod").stderr
    assert p


def test_a_shared_table_is_right_in_whichever_environment_ran_last(tidegate):
    p = Project(tidegate, "CREATE MATERIALIZED VIEW main.all.f AS SELECT a FROM s")
    p.source(1)
    p.source(2, "--schema", "dev")
    for environment, value in (((), 1), (("--schema", "dev"), 2), ((), 1)):
        assert p.flows(*environment) == {"main.all.f": "COMPLETE_RECOMPUTE"}
        assert p.rows("main.all.f") == [[value]]
        assert p.flows(*environment) == {"main.all.f": "NO_OP"}


def test_mapped_tables_are_the_same_in_every_environment(tidegate):
    p = Project(tidegate, tables={"s": {"path": "s.csv", "format": "csv", "options": {"header": "true"}}})
    (tidegate.folder / "s.csv").write_text("a\n7\n")
    assert p.flows("--schema", "dev") == {"main.dev.m": "COMPLETE_RECOMPUTE"}
    assert p.rows("main.dev.m") == [["7", 1]]


@pytest.mark.parametrize(("arguments", "text"), [
    (["--schema", "main.dev"], "`main.dev` is not the name of a schema"),
    (["--catalog", "`x`"], "is not the name of a catalog"),
    (["--schema", ""], "has an empty value"),
    (["--schemas", "x"], "Did you mean --schema?"),
])
def test_wrong_names(tidegate, arguments, text):
    Project(tidegate)
    for command in (["run"], ["dry-run"], ["plan"], ["intervals", "m"]):
        assert text in tidegate(*command, *arguments, status=2).stderr


def test_odd_names_are_safe_folders(tidegate):
    p = Project(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    p.flows("--schema", "/é x%")
    assert p.rows("main.`/é x%`.m") == [[1]]
    assert sorted(path.name for path in tidegate.folder.iterdir()) == ["spark-pipeline.yml", "st", "t", "wh"]


def test_a_missing_source_names_the_environment(tidegate):
    p = Project(tidegate)
    p.source(1)
    err = tidegate("run", "--schema", "dev", status=3).stderr
    assert "TABLE_OR_VIEW_NOT_FOUND" in err and "t/a.sql:1:" in err
    assert not (tidegate.folder / "wh" / "main" / "dev").exists()


# ---- --strict-spec

STRICT = """\
name: p
storage: file://{folder}/st
catalog: main
database: default
configuration: {{k: v}}
libraries:
  - glob:
      include: t/**
"""


def strict(tidegate, text):
    Project(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT '${k}' AS a")
    (tidegate.folder / "spark-pipeline.yml").write_text(text.format(folder=tidegate.folder))


def test_what_spark_takes_passes(tidegate):
    strict(tidegate, STRICT)
    tidegate("run", "--strict-spec")
    assert (tidegate.folder / "warehouse/main/default/m/_delta_log").is_dir()


@pytest.mark.parametrize(("add", "error", "place"), [
    ("tidegate:\n  warehouse: wh\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "`tidegate`"),
    ("tidegate:\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "`tidegate`"),
    ("parameters: {{k: v}}\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "`parameters`"),
    ("target: default\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "`target`"),
    ("channel: CURRENT\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "`channel`"),
    ("tidegat: x\n", "PIPELINE_SPEC_UNEXPECTED_FIELD", "Did you mean `tidegate`?"),
])
def test_other_keys_are_refused(tidegate, add, error, place):
    strict(tidegate, STRICT + add)
    for command in (["run"], ["dry-run"], ["plan"], ["intervals", "m"]):
        err = tidegate(*command, "--strict-spec", status=3).stderr
        assert error in err and place in err and "spark-pipeline.yml:9:1" in err
    assert not (tidegate.folder / "st").exists()


@pytest.mark.parametrize("storage", ["st", "./st", "/st", "C:st", "st:1"])
def test_a_storage_that_is_no_uri_is_refused(tidegate, storage):
    strict(tidegate, STRICT.replace("file://{folder}/st", storage))
    err = tidegate("dry-run", "--strict-spec", status=3).stderr
    assert "PIPELINE_STORAGE_ROOT_INVALID" in err and "spark-pipeline.yml:2:10" in err and "file:///" in err


def test_libraries_of_databricks_are_refused(tidegate):
    strict(tidegate, STRICT.replace("- glob:\n      include: t/**", "- file:\n      path: t/a.sql"))
    tidegate("dry-run")
    assert "`file` under `libraries`" in tidegate("dry-run", "--strict-spec", status=3).stderr
