# SPDX-License-Identifier: Apache-2.0
"""The documented examples of REPLACE WHERE flows, over several updates, against the simulator."""
import datetime as dt

import pyarrow as pa
import pytest
from project import Project
from simulator import Target, multiset


def day(number, month=3):
    return dt.date(2024, month, number)


def check(project, name, target, now, technique=None, arguments=()):
    """Updates both, compares every row by two readers, and sees that a second update does nothing."""
    flow = project.run(now, *arguments)["flows"][0]
    target.refresh(project.sources, now)
    assert flow["status"] == "COMPLETED"
    if technique:
        assert flow["technique"] == technique
    assert multiset(project.delta_rs(name)) == target.multiset()
    assert multiset(project.polars(name)) == target.multiset()
    version = project.version(name)
    again = project.run(now)["flows"][0]
    assert (again["technique"], again["committed_version"]) == ("NO_OP", None)
    assert project.version(name) == version


# ---- aggregates kept longer than their source ----

EVENTS = pa.schema([("date", pa.date32()), ("key", pa.string()), ("val", pa.int64())])
EVENTS_QUERY = "SELECT date, key, CAST(sum(val) AS BIGINT) AS agg FROM events_raw GROUP BY ALL"
EVENTS_PREDICATE = "date >= {now} - 3"
EVENTS_SELECT = "SELECT date, key, SUM(val) AS agg FROM events_raw GROUP BY ALL;"
EVENTS_FORMS = {
    "inline": "CREATE OR REFRESH STREAMING TABLE events_agg\n"
              "FLOW REPLACE WHERE date >= date_add(current_date(), -3) BY NAME\n" + EVENTS_SELECT,
    "pipeline_inline": "CREATE STREAMING TABLE events_agg\n"
                       "FLOW REPLACE WHERE date >= date_add(current_date(), -3) BY NAME\n" + EVENTS_SELECT,
    "create_flow": "CREATE STREAMING TABLE events_agg;\nCREATE FLOW events_agg AS\nINSERT INTO events_agg BY NAME\n"
                   "REPLACE WHERE date >= date_add(current_date(), -3)\n" + EVENTS_SELECT,
    "create_flow_other_name": "CREATE STREAMING TABLE events_agg;\nCREATE FLOW recent AS\nINSERT INTO events_agg BY NAME\n"
                              "REPLACE WHERE date >= date_add(current_date(), -3)\n" + EVENTS_SELECT,
}


@pytest.mark.parametrize("form", EVENTS_FORMS)
def test_aggregates_outlive_their_source(tidegate, form):
    project = Project(tidegate, events=EVENTS_FORMS[form])
    target = Target(EVENTS_QUERY, EVENTS_PREDICATE)
    # Both sides of the lower bound (March 7 on March 10), a day to come, no day, no key, no value, the same row twice.
    project.write("events_raw", EVENTS, [
        (day(6), "a", 1), (day(7), "a", 2), (day(7), "a", 2), (day(7), None, 3), (day(10), "b", None), (day(10), "b", 4),
        (day(11), "c", 5), (None, "a", 100), (None, None, 100), (day(1), "a", 6),
    ])
    check(project, "events_agg", target, "2024-03-10", "COMPLETE_REPLACE_WHERE")
    assert len(target.rows) == 4

    # Late rows at the bound, below it, and without a day.
    project.write("events_raw", EVENTS, [(day(7), "late", 7), (day(6), "late", 7), (None, "late", 7)], mode="append")
    check(project, "events_agg", target, "2024-03-10")

    # The clock moves; nothing is lost at the day that leaves the window.
    check(project, "events_agg", target, "2024-03-11")

    # The source forgets all but three days: the days before stay in the target.
    kept = [(day(8), "a", 20), (day(9), "a", 21), (day(10), "b", 9), (day(10), "b", 9), (None, "x", 1)]
    project.write("events_raw", EVENTS, kept)
    check(project, "events_agg", target, "2024-03-11")
    assert (day(7), "a", 4) in [(r["date"], r["key"], r["agg"]) for r in project.polars("events_agg")]

    # A month later the window is empty; an empty source then changes nothing either.
    check(project, "events_agg", target, "2024-04-11")
    project.write("events_raw", EVENTS, [])
    check(project, "events_agg", target, "2024-04-11")
    assert len(target.rows) > 4


# ---- history that does not follow its dimension ----

FACTS = pa.schema([("date", pa.date32()), ("user_id", pa.int32()), ("revenue", pa.float64())])
USERS = pa.schema([("user_id", pa.int32()), ("region", pa.string())])
FACT_QUERY = ("SELECT f.date, f.user_id, d.region, f.revenue FROM fact_table f "
              "JOIN dim_users d ON f.user_id = d.user_id")
FACT_SELECT = FACT_QUERY + ";"
FACT_FORMS = {
    "standalone": "CREATE OR REFRESH STREAMING TABLE fact_dim_join\n"
                  "FLOW REPLACE WHERE date >= date_add(current_date(), -1) BY NAME\n" + FACT_SELECT,
    "qualified_by_an_alias": "CREATE STREAMING TABLE fact_dim_join\n"
                             "FLOW REPLACE WHERE f.date >= date_add(current_date(), -1) BY NAME\n" + FACT_SELECT,
    "create_flow": "CREATE STREAMING TABLE fact_dim_join;\nCREATE FLOW fact_dim_join AS\n"
                   "INSERT INTO fact_dim_join BY NAME\nREPLACE WHERE date >= date_add(current_date(), -1)\n" + FACT_SELECT,
}


@pytest.mark.parametrize("form", FACT_FORMS)
def test_history_keeps_the_dimension_of_its_day(tidegate, form):
    project = Project(tidegate, facts=FACT_FORMS[form])
    target = Target(FACT_QUERY, "date >= {now} - 1")
    project.write("fact_table", FACTS, [
        (day(1), 1, 1.5), (day(29, 2), 1, 2.5), (day(29, 2), 1, 2.5), (day(28, 2), 1, 3.5), (None, 1, 4.5),
        (day(1), None, 5.5), (day(1), 2, None), (day(1), 3, 6.5), (day(1), 9, 7.5),
    ])
    # User 3 twice, user 9 not at all, a user without an id.
    project.write("dim_users", USERS, [(1, "north"), (2, None), (3, "east"), (3, "east"), (None, "nowhere")])
    check(project, "fact_dim_join", target, "2024-03-01", "COMPLETE_REPLACE_WHERE")
    assert len(target.rows) == 6

    # February 29 has left the window on March 2: it keeps "north".
    project.write("dim_users", USERS, [(1, "south"), (2, "west"), (3, "east")])
    check(project, "fact_dim_join", target, "2024-03-02")
    regions = {(r["date"], r["user_id"]): r["region"] for r in project.polars("fact_dim_join")}
    assert regions[(day(29, 2), 1)] == "north"
    assert regions[(day(1), 1)] == "south"

    project.write("fact_table", FACTS, [(day(2), 2, 8.5), (day(2), 2, 8.5), (day(29, 2), 2, 9.5)], mode="append")
    check(project, "fact_dim_join", target, "2024-03-02")

    # The clock goes back: the wider window is what the sources say now.
    check(project, "fact_dim_join", target, "2024-03-01", arguments=["--allow-clock-back"])

    # Nobody is left: the window is cleared, the rest stays.
    project.write("dim_users", USERS, [])
    check(project, "fact_dim_join", target, "2024-03-02")
    assert {r["date"] for r in project.polars("fact_dim_join")} == {day(29, 2)}


# ---- a window that ends, and one that is no range ----

@pytest.mark.parametrize("spark, duck", [
    ("date BETWEEN date_add(current_date(), -2) AND current_date()", "date BETWEEN {now} - 2 AND {now}"),
    ("date > current_date() - INTERVAL 2 DAYS AND date < current_date()", "date > {now} - 2 AND date < {now}"),
    ("date <=> NULL OR key IN ('a', 'c')", "date IS NULL OR key IN ('a', 'c')"),
    ("NOT (key = 'a')", "NOT (key = 'a')"),
    ("key LIKE 'a%' AND date IS NOT NULL", "key LIKE 'a%' AND date IS NOT NULL"),
])
def test_other_predicates(tidegate, spark, duck):
    project = Project(tidegate, events=f"CREATE STREAMING TABLE t FLOW REPLACE WHERE {spark} BY NAME "
                                       "SELECT date, key, val FROM events_raw;")
    target = Target("SELECT date, key, val FROM events_raw", duck)
    rows = [(d, k, 1) for d in (day(7), day(8), day(9), day(10), day(11), None) for k in ("a", "ab", "c", None)]
    project.write("events_raw", EVENTS, rows + rows[:3])
    check(project, "t", target, "2024-03-10")
    project.write("events_raw", EVENTS, [(d, k, 2) for d, k, _ in rows[2:]])
    check(project, "t", target, "2024-03-10")
    check(project, "t", target, "2024-03-11")


# ---- a predicate that is random ----

DRAWS = pa.schema([("day", pa.date32()), ("id", pa.int64()), ("made", pa.int64())])


def test_a_random_predicate_is_asked_once_per_row(tidegate):
    """Each row of the table and each row of the query draws once: nothing is lost between counting and keeping."""
    definition = "CREATE STREAMING TABLE draws FLOW REPLACE WHERE {} BY NAME\nSELECT day, id, made FROM source;"
    fixed = "day >= DATE'2024-03-02'"
    project = Project(tidegate, draws=definition.format(fixed))
    count, days = 4000, (1, 2, 3)

    def source(made):
        project.write("source", DRAWS, [(day(d), n, made) for d in days for n in range(count // 2)])

    source(1)
    project.run("2024-03-10")
    source(2)
    file = project.folder / "transformations" / "draws.sql"
    file.write_text(definition.format(fixed + " AND (rand() < 0.5 OR length(uuid()) < 36)"))
    flow = project.run("2024-03-10")["flows"][0]
    assert (flow["technique"], flow["fallback_reasons"]) == ("COMPLETE_REPLACE_WHERE",
                                                             ["REPLACE_WHERE_NOT_DETERMINISTIC"])
    rows = project.polars("draws")
    assert multiset(rows) == multiset(project.delta_rs("draws"))
    old = [r for r in rows if r["made"] == 1 and r["day"] > day(1)]
    new = [r for r in rows if r["made"] == 2]
    assert len(rows) == len(old) + len(new) and all(r["day"] > day(1) for r in rows)
    assert len({(r["day"], r["id"]) for r in new}) == len(new) == flow["num_output_rows"]
    assert len({(r["day"], r["id"]) for r in old}) == len(old) == count - flow["num_deleted_rows"]
    assert 0.4 * count < len(old) < 0.6 * count  # fourteen standard deviations
    assert 0.4 * count < len(new) < 0.6 * count

    # Nothing of it counts as covered: the next refresh makes the whole window right again.
    file.write_text(definition.format(fixed))
    flow = project.run("2024-03-10")["flows"][0]
    assert "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC" in flow["fallback_reasons"]
    expected = [{"day": day(d), "id": n, "made": 2} for d in (2, 3) for n in range(count // 2)]
    assert multiset(project.polars("draws")) == multiset(expected)
