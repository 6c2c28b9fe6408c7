# SPDX-License-Identifier: Apache-2.0
"""Only what is not up to date is recomputed: the part, its reason, and that the rest stays as it was."""
import datetime as dt

import deltalake
import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.date32()), ("v", pa.int64())])
DEFINITION = ("CREATE STREAMING TABLE t PARTITIONED BY (d) FLOW REPLACE WHERE {predicate} BY NAME\n"
              "SELECT d, {value} AS v FROM s;")
NOW = "2024-03-10"


def day(number):
    return dt.date(2024, 3, number)


def define(project, predicate="d >= current_date() - 3", value="v"):
    (project.folder / "transformations" / "t.sql").write_text(DEFINITION.format(predicate=predicate, value=value))


@pytest.fixture
def project(tidegate):
    made = Project(tidegate)
    define(made)
    made.write("s", SCHEMA, [(day(n), n) for n in range(1, 12)] + [(None, 100)])
    first = made.run(NOW)["flows"][0]
    assert first["pieces"] == [{"where": "d >= DATE'2024-03-07'", "treatment": "RECOMPUTE", "reason": "CHANGE_SET_MISSING"}]
    return made


def files(project):
    return {action["path"] for action in pa.table(deltalake.DeltaTable(project.path("t")).get_add_actions()).to_pylist()}


def rows(project):
    found = project.polars("t")
    assert sorted(map(str, project.delta_rs("t"))) == sorted(map(str, found))
    return sorted((row["d"].day, row["v"]) for row in found)


def parts(flow):
    return [(piece["where"], piece["treatment"], piece["reason"]) for piece in flow["pieces"]]


def test_an_outside_change_stales_the_day_that_it_hit(project):
    before = files(project)
    deltalake.DeltaTable(project.path("t")).update(predicate="d = DATE '2024-03-09'", updates={"v": "0"})
    flow = project.run(NOW)["flows"][0]
    assert flow["technique"] == "COMPLETE_REPLACE_WHERE"
    assert flow["fallback_reasons"] == ["EXTERNAL_CHANGE_IN_REPLACE_WINDOW"]
    assert parts(flow) == [
        ("(d >= DATE'2024-03-07' AND d <= DATE'2024-03-08' OR d >= DATE'2024-03-10')", "NO_OP", None),
        ("d = DATE'2024-03-09'", "RECOMPUTE", "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"),
    ]
    assert (flow["num_files_removed"], flow["num_files_added"], flow["num_output_rows"]) == (1, 1, None)
    assert rows(project) == [(n, n) for n in range(7, 12)]
    assert len(before & files(project)) == len(before) - 1
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_a_wider_window_computes_what_is_new(project):
    before = files(project)
    define(project, "d >= current_date() - 5")
    flow = project.run(NOW)["flows"][0]
    assert flow["fallback_reasons"] == ["STALE_TARGET_DATA_IN_WINDOW"]
    assert parts(flow) == [
        ("d >= DATE'2024-03-07'", "NO_OP", None),
        ("d >= DATE'2024-03-05' AND d <= DATE'2024-03-06'", "RECOMPUTE", "STALE_TARGET_DATA_IN_WINDOW"),
    ]
    assert rows(project) == [(n, n) for n in range(5, 12)]
    assert before < files(project)
    # Both are one piece now.
    define(project, "d >= current_date() - 4")
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_rows_that_left_the_window_stay_covered(project):
    define(project, "d = current_date()")
    assert project.run("2024-03-11")["flows"][0]["technique"] == "NO_OP"
    project.write("s", SCHEMA, [(day(n), 10 * n) for n in range(1, 12)])
    flow = project.run("2024-03-11")["flows"][0]
    assert parts(flow) == [("d = DATE'2024-03-11'", "RECOMPUTE", "DATA_HAS_CHANGED")]
    define(project)
    flow = project.run(NOW, "--allow-clock-back")["flows"][0]
    assert parts(flow) == [
        ("d = DATE'2024-03-11'", "NO_OP", None),
        ("(d >= DATE'2024-03-07' AND d <= DATE'2024-03-10' OR d >= DATE'2024-03-12')", "RECOMPUTE", "DATA_HAS_CHANGED"),
    ]
    assert rows(project) == [(n, 10 * n) for n in range(7, 12)]


def test_an_edited_query_recomputes_the_window_and_leaves_the_rest(project):
    define(project, "d >= current_date() - 1", "v + 1000")
    flow = project.run(NOW)["flows"][0]
    assert parts(flow) == [("d >= DATE'2024-03-09'", "RECOMPUTE", "QUERY_FINGERPRINT_CHANGED")]
    define(project)
    flow = project.run(NOW)["flows"][0]
    assert parts(flow) == [
        ("d >= DATE'2024-03-09'", "RECOMPUTE", "QUERY_FINGERPRINT_CHANGED"),
        ("d >= DATE'2024-03-07' AND d <= DATE'2024-03-08'", "NO_OP", None),
    ]
    assert rows(project) == [(n, n) for n in range(7, 12)]


def test_optimize_of_another_writer_stales_nothing(project):
    deltalake.DeltaTable(project.path("t")).optimize.compact()
    assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"


@pytest.mark.parametrize("query", [
    "SELECT k, d, v FROM s QUALIFY row_number() OVER (PARTITION BY k ORDER BY v > 99) = 1",
    "SELECT k, first(d) AS d, 1 AS v FROM s GROUP BY k",
    "SELECT k, d, v FROM s ORDER BY v > 99 LIMIT 5",
])
def test_answers_that_depend_on_order_are_of_one_evaluation(tidegate, query):
    """A part of one evaluation and a part of another may hold a key twice, or lose it."""
    project = Project(tidegate)
    schema = pa.schema([("k", pa.int64()), ("d", pa.date32()), ("v", pa.int64())])
    project.write("s", schema, [(n % 5, day(1 + n % 10), n % 50) for n in range(500)])
    text = "CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= DATE'2024-03-0{}' BY NAME " + query + ";"
    for first in (6, 3, 1):
        (project.folder / "transformations" / "t.sql").write_text(text.format(first))
        flow = project.run(NOW)["flows"][0]
        assert [treatment for _, treatment, _ in parts(flow)] == ["RECOMPUTE"] * len(flow["pieces"])
        assert project.run(NOW)["flows"][0]["technique"] == "NO_OP"
    assert len(project.polars("t")) == 5
    deltalake.DeltaTable(project.path("t")).delete(f"v = {project.polars('t')[0]['v']} AND k = {project.polars('t')[0]['k']}")
    flow = project.run(NOW)["flows"][0]
    assert {treatment for _, treatment, _ in parts(flow)} == {"RECOMPUTE"}
    assert {reason for _, _, reason in parts(flow)} <= {"EXTERNAL_CHANGE_IN_REPLACE_WINDOW", "PLAN_NOT_DETERMINISTIC"}
    assert len(project.polars("t")) == 5


def test_a_view_names_the_outside_change(tidegate):
    project = Project(tidegate, v="CREATE MATERIALIZED VIEW t AS SELECT d, v FROM s;")
    project.write("s", SCHEMA, [(day(n), n) for n in range(1, 12)])
    project.run(NOW)
    deltalake.DeltaTable(project.path("t")).delete("v = 3")
    flow = project.run(NOW)["flows"][0]
    assert parts(flow) == [("true", "RECOMPUTE", "EXTERNAL_CHANGE_IN_REPLACE_WINDOW")]
    assert rows(project) == [(n, n) for n in range(1, 12)]
