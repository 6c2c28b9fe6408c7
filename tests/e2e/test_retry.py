# SPDX-License-Identifier: Apache-2.0
"""Running again what an update left unfinished: which flows, with which clock and predicates, and what is refused."""
import datetime as dt
import json
import os
import signal
import subprocess
import time

import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.date32()), ("txt", pa.string())])
# t fails where a text is no number; u reads it; other never fails.
PIPELINE = """
CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 1 BY NAME SELECT d, CAST(txt AS BIGINT) AS v FROM s;
CREATE MATERIALIZED VIEW u AS SELECT d, v + 1 AS v FROM t;
CREATE MATERIALIZED VIEW other AS SELECT count(*) AS n FROM s;
"""
NOW = "2024-03-10"


def day(number):
    return dt.date(2024, 3, number)


class Retries(Project):
    def good(self, value=1):
        self.write("s", SCHEMA, [(day(n), str(n * value)) for n in range(1, 21)])

    def bad(self, number=9):
        self.write("s", SCHEMA, [(day(n), "none" if n == number else str(n)) for n in range(1, 21)])

    def retry(self, *arguments, status=0):
        done = self.tidegate("retry", *arguments, "--json", status=status)
        *self.events, summary = map(json.loads, done.stdout.splitlines())
        return summary

    def nothing(self, *arguments):
        done = self.tidegate("retry", *arguments)
        return done.stdout

    def days(self, name="t"):
        return sorted(row["d"].day for row in self.polars(name))


def statuses(summary):
    return {flow["flow_name"].split(".")[-1]: flow["status"] for flow in summary["flows"]}


@pytest.fixture
def project(tidegate):
    made = Retries(tidegate, t=PIPELINE)
    made.good()
    return made


@pytest.fixture
def failed(project):
    project.bad()
    project.failed = project.run(NOW, status=1)
    assert statuses(project.failed) == {"t": "FAILED", "u": "SKIPPED", "other": "COMPLETED"}
    return project


def test_nothing_ever_ran(project):
    assert project.nothing() == "nothing to retry: no update left a flow that was not refreshed since\n"
    done = project.tidegate("retry", "--json")
    assert done.stdout == "" and "nothing to retry" in done.stderr
    assert not (project.folder / "pipeline-storage").exists()


def test_nothing_failed(project):
    first = project.run(NOW)["update_id"]
    assert "nothing to retry" in project.nothing()
    assert project.nothing(first) == f"nothing failed in update {first} (it is COMPLETED)\n"
    assert project.nothing(first[:8].upper()).startswith("nothing failed in update")


def test_failed_and_skipped_flows_with_the_clock_of_then(failed):
    failed.good()
    other = failed.version("other")
    summary = failed.retry()
    assert statuses(summary) == {"t": "COMPLETED", "u": "COMPLETED", "other": "EXCLUDED"}
    assert (summary["now"], summary["timezone"]) == (failed.failed["now"], "UTC")
    assert failed.days() == failed.days("u") == [*range(9, 21)]
    assert failed.version("other") == other
    started, = (event["details"]["create_update"] for event in failed.events if event["event_type"] == "create_update")
    assert (started["cause"], started["retry_of"]) == ("RETRY_ON_FAILURE", failed.failed["update_id"])
    assert "nothing to retry" in failed.nothing()


def test_text(failed):
    failed.good()
    done = failed.tidegate("retry", failed.failed["update_id"][:13])
    assert f"Retrying update {failed.failed['update_id']} with its clock 2024-03-10T00:00:00.000000Z and zone UTC" in done.stderr
    assert "Selected main.default.t" in done.stderr and "Selected main.default.other" not in done.stderr
    assert "is COMPLETED (clock 2024-03-10T00:00:00.000000Z" in done.stdout


def test_a_retry_that_fails_is_retried(failed):
    again = failed.retry(status=1)
    assert statuses(again) == {"t": "FAILED", "u": "SKIPPED", "other": "EXCLUDED"}
    failed.good()
    last = failed.retry()
    assert statuses(last)["t"] == "COMPLETED" and last["now"] == failed.failed["now"]
    started, = (event["details"]["create_update"] for event in failed.events if event["event_type"] == "create_update")
    assert started["retry_of"] == again["update_id"]


def test_the_zone_of_then(project):
    project.bad(11)
    project.run("2024-03-10 23:30:00", "--timezone", "America/New_York", status=1)
    project.good()
    summary = project.retry()
    assert (summary["now"], summary["timezone"]) == ("2024-03-11T03:30:00.000000Z", "America/New_York")
    assert project.days() == [*range(9, 21)]  # the tenth in New York


def test_overrides_of_then(project):
    project.run(NOW)
    project.bad(3)
    failed = project.run(NOW, "--replace-where", "main.default.t=d < '2024-03-05'", status=1)
    assert statuses(failed)["t"] == "FAILED"
    project.good()
    summary = project.retry()
    assert [flow["window"] for flow in summary["flows"] if flow["flow_name"] == "main.default.t"] == ["d < DATE'2024-03-05'"]
    assert project.days() == [1, 2, 3, 4, *range(9, 21)]


def test_an_override_of_a_flow_that_was_done(tidegate):
    """It is passed over: its flow is not run."""
    made = Retries(tidegate, t=PIPELINE, x="CREATE STREAMING TABLE x FLOW REPLACE WHERE d >= current_date() BY NAME SELECT d FROM s;")
    made.bad(3)
    failed = made.run(NOW, "--replace-where", "t=d < '2024-03-05'", "--replace-where", "x=d < '2024-03-02'", status=1)
    assert (statuses(failed)["t"], statuses(failed)["x"]) == ("FAILED", "COMPLETED")
    made.good()
    assert statuses(made.retry()) == {"t": "COMPLETED", "u": "COMPLETED", "other": "EXCLUDED", "x": "EXCLUDED"}
    assert made.days() == [1, 2, 3, 4] and made.days("x") == [1]


# ---- what later updates did ---------------------------------------------------------------------

def test_a_later_success(failed):
    """What was refreshed since is not failed any more; the older clock is used only when that is said."""
    failed.good()
    failed.run("2024-03-12")
    assert failed.days() == [*range(11, 21)]
    assert "nothing to retry" in failed.nothing()
    refused = failed.tidegate("retry", failed.failed["update_id"], status=4)
    assert "[TIDEGATE_RETRY_OVERTAKEN] flow main.default.t" in refused.stderr
    assert "2024-03-12T00:00:00.000000Z" in refused.stderr and "--allow-clock-back" in refused.stderr
    assert failed.days() == [*range(11, 21)]
    summary = failed.retry(failed.failed["update_id"], "--allow-clock-back")
    assert statuses(summary)["t"] == "COMPLETED" and summary["now"] == failed.failed["now"]
    assert failed.days() == [*range(9, 21)]


def test_some_flows_were_refreshed_since(failed):
    failed.good()
    failed.run("2024-03-12", "--refresh", "t")
    done = failed.tidegate("retry")
    assert "Flow main.default.t was refreshed by a later update: it is left alone" in done.stderr
    assert failed.days() == failed.days("u") == [*range(11, 21)]


def test_an_older_failure_that_is_left(project):
    """The newest failed update was made good; an older one was not."""
    project.bad()
    project.run(NOW, "--refresh", "t", status=1)
    text = (project.folder / "transformations" / "t.sql").read_text()
    broken = text.replace("count(*) AS n FROM s", "count(CAST(txt AS BIGINT)) AS n FROM s")
    (project.folder / "transformations" / "t.sql").write_text(broken)
    project.run("2024-03-11", "--refresh", "other", status=1)
    project.good()
    project.run("2024-03-12", "--refresh", "other")
    summary = project.retry()
    assert statuses(summary) == {"t": "COMPLETED", "u": "EXCLUDED", "other": "EXCLUDED"}
    assert summary["now"].startswith("2024-03-10")


def test_a_later_success_of_another_predicate(failed):
    """It does not make the declared window good, and the clock is older all the same: refused."""
    failed.good()
    failed.run("2024-03-12", "--refresh", "t", "--replace-where", "t=d = '2024-03-01'")
    assert "[TIDEGATE_RETRY_OVERTAKEN]" in failed.tidegate("retry", status=4).stderr
    assert statuses(failed.retry("--allow-clock-back"))["t"] == "COMPLETED"


# ---- updates that did not come to their end -----------------------------------------------------

def test_validation_failures_are_retried_as_a_whole(project):
    sql = project.folder / "transformations" / "t.sql"
    good = sql.read_text()
    sql.write_text(good.replace("v + 1", "nowhere + 1"))
    project.tidegate("run", "--now", NOW, status=3)
    sql.write_text(good)
    summary = project.retry()
    assert statuses(summary) == {"t": "COMPLETED", "u": "COMPLETED", "other": "COMPLETED"}
    assert project.days() == [*range(9, 21)]


def running_update(folder, flow):
    """The id of the update that refreshes the flow at this moment."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for file in (folder / "pipeline-storage" / "events").glob("*.jsonl"):
            for line in file.read_text().splitlines():
                if flow in line and '"status":"RUNNING"' in line:
                    return file.stem
        time.sleep(0.01)
    return pytest.fail("the flow does not run")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_update_that_was_killed(tidegate, number):
    made = Retries(tidegate, t=PIPELINE)
    made.good()
    made.run("2024-03-09")
    slow = made.folder / "transformations" / "slow.sql"
    tables = ", ".join(f"t AS x{i}" for i in range(9))
    slow.write_text("CREATE MATERIALIZED VIEW zz AS SELECT sum(" + " + ".join(f"x{i}.v" for i in range(9)) + f") AS n FROM {tables};\n")
    with subprocess.Popen([os.environ["TIDEGATE_BIN"], "run", "--now", NOW], cwd=made.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            update_id = running_update(made.folder, "main.default.zz")
            assert "[TIDEGATE_UPDATE_RUNNING]" in made.tidegate("retry", update_id, status=3).stderr
            assert "nothing to retry" in made.nothing()
        except BaseException:
            process.kill()
            raise
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
    assert number == signal.SIGKILL or f"Go on with: tidegate retry {update_id}" in told
    slow.write_text("CREATE MATERIALIZED VIEW zz AS SELECT count(*) AS n FROM t;\n")
    summary = made.retry()
    assert statuses(summary)["zz"] == "COMPLETED"
    assert summary["now"].startswith("2024-03-10")


@pytest.mark.parametrize("arguments, status, text", [
    (("nowhere",), 3, "[TIDEGATE_UNKNOWN_UPDATE]"),
    ((" ",), 2, "UPDATE_ID is empty"),
    (("a", "b"), 2, "unexpected argument 'b'"),
    (("--now", NOW), 2, "--now"),
    (("--refresh", "t"), 2, "--refresh"),
    (("--allow-clock-bak",), 2, "Did you mean --allow-clock-back?"),
])
def test_bad_input(failed, arguments, status, text):
    refused = failed.tidegate("retry", *arguments, status=status)
    assert text in refused.stderr and refused.stdout == ""


def test_a_flow_that_is_defined_no_more(failed):
    (failed.folder / "transformations" / "t.sql").write_text("CREATE MATERIALIZED VIEW other AS SELECT count(*) AS n FROM s;\n")
    refused = failed.tidegate("retry", status=3)
    assert "`main.default.t` is not a table or flow of this pipeline" in refused.stderr
    assert "in the update that is retried" in refused.stderr


def test_time_passes_between(failed):
    """The newest update is the one that started last, whatever its clock."""
    time.sleep(0.01)
    failed.run("2020-01-01", "--refresh", "t", status=1)
    failed.good()
    assert failed.retry()["now"].startswith("2020-01-01")


def test_an_update_that_was_refused_for_its_options_is_passed_over(failed):
    """It would be refused again; the failure before it is what is left to do."""
    failed.tidegate("run", "--now", "2024-03-12", "--replace-where", "t=nowhere = 1", status=3)
    refused = failed.tidegate("history", "--json", "-n", "1").stdout
    refused = json.loads(refused)["update_id"]
    failed.good()
    done = failed.tidegate("retry", "--json")
    assert f"note: update {refused} is passed over" in done.stderr and "[INVALID_REPLACE_WHERE_OVERRIDE" in done.stderr
    assert statuses(json.loads(done.stdout.splitlines()[-1]))["t"] == "COMPLETED"
    done = failed.tidegate("retry")
    assert f"update {refused} is passed over" in done.stderr and "nothing to retry" in done.stdout
    # named, it is tried, and refused as it was
    assert "[INVALID_REPLACE_WHERE_OVERRIDE" in failed.tidegate("retry", refused, "--allow-clock-back", status=3).stderr


def test_a_reset_that_was_refused_is_passed_over(project):
    project.run(NOW)
    project.run("2024-03-14")  # rows of the days before are outside the window now
    refused = project.tidegate("run", "--now", "2024-03-14", "--full-refresh", "t", status=4)
    assert "[TIDEGATE_RESET_LOSES_ROWS]" in refused.stderr
    done = project.tidegate("retry")
    assert "is passed over" in done.stderr and "[TIDEGATE_RESET_LOSES_ROWS]" in done.stderr and "nothing to retry" in done.stdout


def test_names_that_need_quotes(tidegate):
    project = Retries(tidegate, t="CREATE MATERIALIZED VIEW `a.b c` AS SELECT CAST(txt AS BIGINT) AS v FROM s;\n"
                                  "CREATE MATERIALIZED VIEW `select` AS SELECT CAST(txt AS BIGINT) AS v FROM s;\n")
    project.bad()
    project.run(NOW, status=1)
    project.good()
    assert {flow["status"] for flow in project.retry()["flows"]} == {"COMPLETED"}
