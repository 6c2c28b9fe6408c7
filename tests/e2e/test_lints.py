# SPDX-License-Identifier: Apache-2.0
"""Lints: each where it must speak, and where it must not."""
import json

import pytest

SOURCES = """
CREATE TABLE e (ts TIMESTAMP, d DATE, k INT, x DOUBLE, m DECIMAL(10,2)) PARTITIONED BY (d);
CREATE TABLE r (d DATE, k INT, back INT) PARTITIONED BY (d);
CREATE TABLE names (k INT, d DATE, name STRING);
INSERT INTO e VALUES (TIMESTAMP'2024-01-01 10:00:00', DATE'2024-01-01', 1, 1.5, 2.50)
"""
NOW = ("--now", "2024-03-01T12:00:00Z")
QUERY = " BY NAME SELECT ts, d, k FROM e"
SUMS = " BY NAME SELECT d, {} AS s FROM e GROUP BY d"


class Project:
    def __init__(self, tidegate, flow, properties=""):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}],
            "tidegate": {"warehouse": "wh"}}))
        tidegate("sql", "-e", SOURCES)
        self.define(flow, properties)

    def define(self, flow, properties=""):
        text = flow if flow.startswith("CREATE") else f"CREATE STREAMING TABLE m {properties} FLOW REPLACE WHERE {flow}"
        (self.folder / "t" / "a.sql").write_text(text)

    def lints(self, command="dry-run"):
        done = self.tidegate(command, "--json", *NOW)
        flow = json.loads(done.stdout.splitlines()[-1])["flows"][0]
        lints = flow.get("lints", [])
        assert done.stderr.count("[TIDEGATE_LINT]") == len(lints)
        for lint in lints:
            assert f"{lint['code']} ({lint['name']}): {lint['message']}" in done.stderr
            assert f"hint: {lint['fix']}" in done.stderr
            assert f"t/a.sql:{lint['line']}:{lint['column']}" in done.stderr
        return lints


@pytest.mark.parametrize(("flow", "code", "fix"), [
    ("ts <= DATE'2024-01-31'" + QUERY, "TG001", "ts < date_add(DATE'2024-01-31', 1)"),
    ("ts <= '2024-01-31'" + QUERY, "TG001", "ts < date_add(DATE'2024-01-31', 1)"),
    ("d > DATE'2024-01-01' AND '2024-01-31' >= ts" + QUERY, "TG001", "ts < date_add(DATE'2024-01-31', 1)"),
    ("ts = DATE'2024-01-31'" + QUERY, "TG001", "CAST(ts AS DATE) = DATE'2024-01-31'"),
    ("ts BETWEEN DATE'2024-01-01' AND DATE'2024-01-31'" + QUERY, "TG002", "ts >= DATE'2024-01-01' AND ts < date_add("),
    ("k = 1 AND ts BETWEEN TIMESTAMP'2024-01-01 00:00:00' AND TIMESTAMP'2024-01-01 06:00:00'" + QUERY, "TG002", "ts < "),
    ("last >= DATE'2024-01-01' BY NAME SELECT k, max(d) AS last FROM e GROUP BY k", "TG003", "last"),
    ("d >= DATE'2024-01-01' BY NAME SELECT e.d, e.k, r.back FROM e JOIN r ON e.k = r.k", "TG004",
     "AND main.default.e.d = main.default.r.d"),
    ("d >= DATE'2024-01-01' AND d <= current_date()" + QUERY, "TG005", "Leave out: d <= current_date()"),
    ("ts <= current_timestamp()" + QUERY, "TG005", "ts <= current_timestamp()"),
    ("d > DATE'2024-01-01' BY NAME SELECT d, current_timestamp() AS at FROM e", "TG006", "at"),
    ("d > DATE'2024-01-01' BY NAME SELECT d, concat('x', uuid()) AS id FROM e", "TG006", "id"),
    ("CREATE MATERIALIZED VIEW m AS SELECT d, current_date() AS today FROM e", "TG006", "today"),
    ("d > DATE'2024-01-01'" + SUMS.format("sum(x)"), "TG007", "sum(CAST(x AS DECIMAL(38, 6)))"),
    ("d > DATE'2024-01-01'" + SUMS.format("avg(x * 2)"), "TG007", "avg(CAST(x * 2 AS DECIMAL(38, 6)))"),
    ("a.d >= DATE'2024-01-01' BY NAME SELECT a.k, b.d FROM e AS a JOIN r AS b ON a.k = b.k AND a.d = b.d", "TG008", "Write `d`"),
    ("a.d >= DATE'2024-01-01' BY NAME SELECT a.k, date_add(a.d, 1) AS d FROM e AS a", "TG008", "select a.d under a name"),
    ("a.k > 1 BY NAME SELECT a.d, a.x AS k FROM e AS a", "TG008", "Write `k`"),
])
def test_it_speaks(tidegate, flow, code, fix):
    project = Project(tidegate, flow)
    (lint,) = project.lints()
    assert lint["code"] == code
    assert fix in lint["fix"]
    for command in ("plan", "run"):
        assert project.lints(command) == [lint]


@pytest.mark.parametrize("flow", [
    "ts >= DATE'2024-01-01' AND ts < DATE'2024-02-01'" + QUERY,
    "ts > '2024-01-01'" + QUERY,
    "ts <= TIMESTAMP'2024-01-31 23:00:00'" + QUERY,
    "ts <= '2024-01-31 23:59:59'" + QUERY,
    "CAST(ts AS DATE) <= DATE'2024-01-31'" + QUERY,
    "d <= DATE'2024-01-31'" + QUERY,
    "d BETWEEN DATE'2024-01-01' AND DATE'2024-01-31'" + QUERY,
    "k BETWEEN 1 AND 2" + QUERY,
    "NOT ts <= DATE'2024-01-31'" + QUERY,
    "ts IS NULL OR ts <= DATE'2024-01-31'" + QUERY,
    "d >= DATE'2024-01-01' BY NAME SELECT d, max(ts) AS last FROM e GROUP BY d",
    "day >= DATE'2024-01-01' BY NAME SELECT d AS day, count(*) AS n FROM e GROUP BY ALL",
    "n >= 0 BY NAME SELECT count(*) AS n FROM e",
    "d >= DATE'2024-01-01' BY NAME SELECT e.d, r.back FROM e JOIN r ON e.k = r.k AND e.d = r.d",
    "d >= DATE'2024-01-01' BY NAME SELECT e.d, r.back FROM e JOIN r ON e.k = r.k AND r.d >= date_sub(e.d, 7)",
    "d >= DATE'2024-01-01' BY NAME SELECT e.d, q.back FROM e JOIN (SELECT * FROM r WHERE d > DATE'2023-01-01') AS q ON e.k = q.k",
    "d >= DATE'2024-01-01' BY NAME SELECT e.d, n.name FROM e JOIN names AS n ON e.k = n.k",
    "d >= date_sub(current_date(), 7) AND d < current_date()" + QUERY,
    "d <= date_sub(current_date(), 1)" + QUERY,
    "d <= DATE'2999-01-01'" + QUERY,
    "d > DATE'2024-01-01'" + SUMS.format("sum(m)"),
    "d > DATE'2024-01-01'" + SUMS.format("avg(k)"),
    "d > DATE'2024-01-01'" + SUMS.format("max(x)"),
    "d > DATE'2024-01-01'" + SUMS.format("sum(CAST(x AS DECIMAL(38, 6)))"),
    "CREATE MATERIALIZED VIEW m AS SELECT d, sum(x) AS s FROM e GROUP BY d",
    "a.d >= DATE'2024-01-01' BY NAME SELECT a.k, a.d FROM e AS a JOIN r AS b ON a.k = b.k AND a.d = b.d",
    "a.d >= DATE'2024-01-01' BY NAME SELECT k, d FROM e AS a",
    "a.d >= DATE'2024-01-01' BY NAME SELECT a.* FROM e AS a",
    "e.d >= DATE'2024-01-01' BY NAME SELECT e.d, k FROM main.default.e",
])
def test_it_is_silent(tidegate, flow):
    assert Project(tidegate, flow).lints() == []


def test_a_flow_with_nothing_to_do_is_not_looked_at(tidegate):
    project = Project(tidegate, "ts <= DATE'2024-01-31'" + QUERY)
    assert len(project.lints("run")) == 1
    for command in ("run", "dry-run", "plan"):
        assert project.lints(command) == []  # NO_OP: nothing is bound
    tidegate("sql", "-e", "INSERT INTO e VALUES (TIMESTAMP'2024-01-02 10:00:00', DATE'2024-01-02', 1, 1.5, 2.50)")
    assert len(project.lints("plan")) == 1
    assert project.lints("run") == []  # a run says it once, when the definition is new
    project.define("ts <= DATE'2024-02-28'" + QUERY)
    assert len(project.lints("run")) == 1


def test_events_tell_them(tidegate):
    Project(tidegate, "ts <= DATE'2024-01-31'" + QUERY)
    events = [json.loads(line) for line in tidegate("plan", "--json", *NOW).stdout.splitlines()[:-1]]
    (planned,) = [e for e in events if e["event_type"] == "planning_information"]
    assert planned["details"]["planning_information"]["lints"][0]["code"] == "TG001"


def test_silencing(tidegate):
    flow = "ts <= DATE'2024-01-31' AND d <= current_date()" + QUERY
    project = Project(tidegate, flow, "TBLPROPERTIES ('tidegate.lint.ignore' = ' tg001 ')")
    assert [lint["code"] for lint in project.lints()] == ["TG005"]
    project.define(flow, "TBLPROPERTIES ('TIDEGATE.LINT.IGNORE' = 'TG005, TG001')")
    assert project.lints() == []
    for value, hint in (("TG0011", "Did you mean TG001?"), ("nothing", "Codes are TG001 to TG0")):
        project.define(flow, f"TBLPROPERTIES ('tidegate.lint.ignore' = '{value}')")
        err = tidegate("dry-run", status=3).stderr
        assert "TIDEGATE_INVALID_TABLE_PROPERTY" in err and hint in err


def test_views_do_not_confuse_places(tidegate):
    project = Project(tidegate, "d > DATE'2024-01-01' BY NAME SELECT d, s FROM v")
    (tidegate.folder / "t" / "b.sql").write_text("CREATE TEMPORARY VIEW v AS SELECT d, sum(x) AS s FROM e GROUP BY d")
    assert project.lints() == []
