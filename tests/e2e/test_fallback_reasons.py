# SPDX-License-Identifier: Apache-2.0
"""Each reason why a part of a window is recomputed: the part that it applied to, and that the rest was not touched."""
import datetime as dt
import json

import deltalake
import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.date32()), ("v", pa.int64())])
DEFINITION = "CREATE STREAMING TABLE t PARTITIONED BY (d) FLOW REPLACE WHERE {} BY NAME\nSELECT d, {} AS v FROM s;"
NOW = "2024-03-10"
WINDOW = "d >= current_date() - 3"


def day(number):
    return dt.date(2024, 3, number)


class Days:
    """A table with a file for each day from 1 to 10 (March 2024); its window is the last four days, the source is unchanged."""

    def __init__(self, tidegate):
        self.project = Project(tidegate)
        self.project.write("s", SCHEMA, [(day(n), n) for n in range(1, 11)])
        self.define("d >= current_date() - 9")
        self.refresh(("d >= DATE'2024-03-01'", "RECOMPUTE", "CHANGE_SET_MISSING"))
        self.define(WINDOW)
        self.project.run(NOW)

    def define(self, predicate, value="v"):
        (self.project.folder / "transformations" / "t.sql").write_text(DEFINITION.format(predicate, value))

    def table(self):
        return deltalake.DeltaTable(self.project.path("t"))

    def files(self):
        """day: paths"""
        found = {}
        for action in pa.table(self.table().get_add_actions()).to_pylist():
            value = action["partition"]["d"]
            found.setdefault(value.day if value else None, set()).add(action["path"])
        return found

    def rows(self):
        found = self.project.polars("t")
        assert sorted(map(str, self.project.delta_rs("t"))) == sorted(map(str, found))
        return sorted((row["d"].day, row["v"]) for row in found)

    def refresh(self, *parts, arguments=(), now=NOW):
        flow = self.project.run(now, *arguments)["flows"][0]
        assert [(piece["where"], piece["treatment"], piece["reason"]) for piece in flow["pieces"]] == list(parts)
        reasons = [reason for _, _, reason in parts if reason]
        assert set(reasons) <= set(flow["fallback_reasons"])
        return flow

    def issues(self):
        """incrementalization_issues of the newest update's chosen technique, as the event log has them."""
        newest = max((self.project.folder / "pipeline-storage/events").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        for line in newest.read_text("utf-8").splitlines():
            event = json.loads(line)
            if event["event_type"] == "planning_information":
                details = event["details"]
                details = json.loads(details) if isinstance(details, str) else details
                techniques = details["planning_information"]["technique_information"]
                return next(t["incrementalization_issues"] for t in techniques if t["is_chosen"])
        raise AssertionError("the update told no plan")

    def check_rewritten(self, before, *days):
        """Exactly the files of these days are other ones."""
        now = self.files()
        assert {d for d in before.keys() | now.keys() if before.get(d) != now.get(d)} == set(days)


@pytest.fixture
def days(tidegate):
    made = Days(tidegate)
    assert made.rows() == [(n, n) for n in range(1, 11)]
    return made


def issue(kind, **more):
    return {"issue_type": kind, "prevent_incrementalization": True, **more}


LEGACY = {"legacy_issue_type": "UNSUPPORTED_REPLACE_WHERE_PREDICATE"}


def test_external_change_in_replace_window(days):
    days.table().update(predicate="d = DATE '2024-03-09'", updates={"v": "0"})
    before = days.files()
    days.refresh(("(d >= DATE'2024-03-07' AND d <= DATE'2024-03-08' OR d >= DATE'2024-03-10')", "NO_OP", None),
                 ("d = DATE'2024-03-09'", "RECOMPUTE", "EXTERNAL_CHANGE_IN_REPLACE_WINDOW"))
    days.check_rewritten(before, 9)
    assert days.issues() == [issue("EXTERNAL_CHANGE_IN_REPLACE_WINDOW")]
    assert days.rows() == [(n, n) for n in range(1, 11)]


def test_an_external_change_outside_the_window_has_no_effect(days):
    days.table().update(predicate="d = DATE '2024-03-02'", updates={"v": "0"})
    before = days.files()
    days.refresh((WINDOW.replace("current_date() - 3", "DATE'2024-03-07'"), "NO_OP", None))
    days.check_rewritten(before)
    assert days.rows() == [(n, 0 if n == 2 else n) for n in range(1, 11)]


def test_replace_where_not_deterministic(days):
    before = days.files()
    days.define("d >= DATE'2024-03-09' AND rand() >= 0.0")
    flow = days.project.run(NOW)["flows"][0]
    assert [(p["treatment"], p["reason"]) for p in flow["pieces"]] == [("RECOMPUTE", "REPLACE_WHERE_NOT_DETERMINISTIC")]
    assert flow["pieces"][0]["where"] == flow["window"]
    days.check_rewritten(before, 9, 10)
    assert days.issues() == [issue("REPLACE_WHERE_NOT_DETERMINISTIC")]
    assert days.rows() == [(n, n) for n in range(1, 11)]
    # It is never up to date.
    assert days.project.run(NOW)["flows"][0]["technique"] == "COMPLETE_REPLACE_WHERE"


def test_prior_replace_where_not_deterministic(days):
    days.define("d >= DATE'2024-03-09' AND rand() >= 0.0")
    days.project.run(NOW)
    before = days.files()
    days.define(WINDOW)
    days.refresh(("d >= DATE'2024-03-07' AND d <= DATE'2024-03-08'", "NO_OP", None),
                 ("d >= DATE'2024-03-09'", "RECOMPUTE", "PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC"))
    days.check_rewritten(before, 9, 10)
    assert days.issues() == [issue("PRIOR_REPLACE_WHERE_NOT_DETERMINISTIC")]
    assert days.rows() == [(n, n) for n in range(1, 11)]
    assert days.project.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_prior_replace_where_predicate_missing(days):
    """Another program's log cleanup took the commit that has the state."""
    days.table().update(predicate="d = DATE '2024-03-02'", updates={"v": "0"})
    table = days.table()
    table.create_checkpoint()
    for path in (days.project.folder / "warehouse/main/default/t/_delta_log").glob("*.json"):
        if path.stem.isdigit() and int(path.stem) < table.version():
            path.unlink()
    before = days.files()
    days.refresh(("d >= DATE'2024-03-07'", "RECOMPUTE", "PRIOR_REPLACE_WHERE_PREDICATE_MISSING"))
    days.check_rewritten(before, 7, 8, 9, 10)
    assert days.issues() == [issue("PRIOR_REPLACE_WHERE_PREDICATE_MISSING")]
    assert days.rows() == [(n, 0 if n == 2 else n) for n in range(1, 11)]


def test_stale_target_data_in_window(days):
    days.project.write("s", SCHEMA, [(day(n), n) for n in range(1, 13)])
    days.define("d <= DATE'2024-03-10' AND d >= DATE'2024-03-09'")
    days.refresh(("(d <= DATE'2024-03-10') AND (d >= DATE'2024-03-09')", "RECOMPUTE", "DATA_HAS_CHANGED"))
    days.define("d <= DATE'2024-03-12' AND d >= DATE'2024-03-09'")  # the upper bound moved; d > 10 was covered, over older rows
    before = days.files()
    days.refresh(("d >= DATE'2024-03-09' AND d <= DATE'2024-03-10'", "NO_OP", None),
                 ("d >= DATE'2024-03-11' AND d <= DATE'2024-03-12'", "RECOMPUTE", "DATA_HAS_CHANGED"))
    days.check_rewritten(before, 11, 12)
    # Days that no refresh has ever computed:
    days.project.write("s", SCHEMA, [(day(n), n) for n in range(1, 13)] + [(dt.date(2024, 2, 29), 29)])
    days.define("d >= DATE'2024-03-11'")
    days.project.run(NOW)
    before = days.files()
    days.define("d >= DATE'2024-03-11' OR d < DATE'2024-03-01'")
    days.refresh(("d >= DATE'2024-03-11'", "NO_OP", None),
                 ("d <= DATE'2024-02-29'", "RECOMPUTE", "STALE_TARGET_DATA_IN_WINDOW"))
    days.check_rewritten(before, 29)
    assert days.issues() == [issue("STALE_TARGET_DATA_IN_WINDOW", **LEGACY)]
    assert days.rows() == [(n, n) for n in range(1, 13)] + [(29, 29)]


def test_cannot_push_predicate(days):
    """No range says which rows of the window are up to date (the odd days): all of the window, and nothing else."""
    days.project.write("s", SCHEMA, [(day(n), 10 * n) for n in range(1, 11)])
    days.define("d >= DATE'2024-03-08' AND day(d) % 2 = 1")
    days.project.run(NOW)
    before = days.files()
    days.define("d >= DATE'2024-03-08'")
    days.refresh(("d >= DATE'2024-03-08' AND (((day(d)) % 2) = 1)", "RECOMPUTE", "CANNOT_PUSH_PREDICATE"),
                 ("d >= DATE'2024-03-08'", "RECOMPUTE", "STALE_TARGET_DATA_IN_WINDOW"))
    days.check_rewritten(before, 8, 9, 10)
    assert issue("CANNOT_PUSH_PREDICATE", **LEGACY) in days.issues()
    assert days.rows() == [(n, 10 * n if n >= 8 else n) for n in range(1, 11)]


def test_replace_where_backfill(days):
    days.table().update(predicate="d = DATE '2024-03-02' OR d = DATE '2024-03-03'", updates={"v": "0"})
    before = days.files()
    days.refresh(("d = DATE'2024-03-02'", "RECOMPUTE", "REPLACE_WHERE_BACKFILL"),
                 arguments=("--replace-where", "t=d = DATE'2024-03-02'"))
    days.check_rewritten(before, 2)
    assert days.issues() == [issue("REPLACE_WHERE_BACKFILL", **LEGACY)]
    assert days.rows() == [(n, 0 if n == 3 else n) for n in range(1, 11)]


def test_plan_not_deterministic_time_function(days):
    """A query that asks for the day is another one the next day; what left the window stays as it was."""
    days.define(WINDOW, "CASE WHEN d = current_date() THEN 100 ELSE v END")
    days.refresh(("d >= DATE'2024-03-07'", "RECOMPUTE", "QUERY_FINGERPRINT_CHANGED"))
    assert issue("PLAN_NOT_DETERMINISTIC", expression_name="current_date",
                 plan_not_deterministic_sub_type="TIME_FUNCTION") in days.issues()
    assert days.project.run(NOW)["flows"][0]["technique"] == "NO_OP"
    before = days.files()
    flow = days.refresh(("d >= DATE'2024-03-08'", "RECOMPUTE", "QUERY_FINGERPRINT_CHANGED"), now="2024-03-11")
    assert flow["fallback_reasons"] == ["QUERY_FINGERPRINT_CHANGED", "PLAN_NOT_DETERMINISTIC"]
    days.check_rewritten(before, 8, 9, 10)
    assert days.rows() == [(n, n) for n in range(1, 11)]


def test_plan_not_deterministic_random(days):
    before = days.files()
    days.define(WINDOW, "CAST(v + 0 * rand() AS BIGINT)")
    flow = days.project.run(NOW)["flows"][0]
    assert flow["fallback_reasons"] == ["QUERY_FINGERPRINT_CHANGED", "PLAN_NOT_DETERMINISTIC"]
    assert issue("PLAN_NOT_DETERMINISTIC", expression_name="rand",
                 plan_not_deterministic_sub_type="NON_DETERMINISTIC_EXPRESSION") in days.issues()
    days.check_rewritten(before, 7, 8, 9, 10)
    assert days.project.run(NOW)["flows"][0]["technique"] == "COMPLETE_REPLACE_WHERE"
