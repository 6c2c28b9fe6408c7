# SPDX-License-Identifier: Apache-2.0
"""Wrong input: the exit status, the class of the error, and that nothing was written."""
import pyarrow as pa
import pytest
from project import SPEC, Project

GOOD = "CREATE STREAMING TABLE t FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM s;"
FLOW = "CREATE FLOW {} AS INSERT INTO t BY NAME REPLACE WHERE a > 1 SELECT a FROM s;"


def project_of(tidegate, sql, spec=SPEC):
    project = Project(tidegate, bad=sql)
    (project.folder / "spark-pipeline.yml").write_text(spec)
    project.write("s", pa.schema([("a", pa.int32())]), [(1,), (2,)])
    return project


def refused(project, tidegate, status, error, arguments=()):
    before = sorted((project.folder / "warehouse").rglob("*"))
    done = tidegate("run", *arguments, status=status)
    assert error in done.stderr
    assert sorted((project.folder / "warehouse").rglob("*")) == before


@pytest.mark.parametrize("sql, error", [
    (GOOD.replace("FROM s", "FROM absent"), "TABLE_OR_VIEW_NOT_FOUND"),
    (GOOD.replace("SELECT a", "SELECT absent AS a"), "UNRESOLVED_COLUMN"),
    (GOOD.replace("a > 1", "absent > 1"), "UNRESOLVED_COLUMN"),
    (GOOD.replace("a > 1", "a + 1"), "["),
    (GOOD.replace("a > 1", ""), "PARSE_SYNTAX_ERROR"),
    ("CREATE STREAMING TABLE t;" + FLOW.format("f") + FLOW.format("g"), "["),
    (GOOD.replace("FROM s", "FROM t"), "["),
    (GOOD.replace("a > 1", "(" * 5000 + "a > 1" + ")" * 5000), "["),
])
def test_sql(tidegate, sql, error):
    refused(project_of(tidegate, sql), tidegate, 3, error)


@pytest.mark.parametrize("arguments, error", [
    (["--refesh", "t"], "--refesh"), (["--now", "yesterdayish"], "yesterdayish"), (["--timezone", "Mars/Base"], "Mars/Base"),
])
def test_options(tidegate, arguments, error):
    refused(project_of(tidegate, GOOD), tidegate, 2, error, arguments)


def test_misspelt_key_of_the_spec(tidegate):
    refused(project_of(tidegate, GOOD, SPEC + "libaries: []\n"), tidegate, 3, "libaries")
