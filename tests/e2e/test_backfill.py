# SPDX-License-Identifier: Apache-2.0
"""Backfills: ranges in chunks, what is journaled and gone on with, and every way to get one wrong."""
import datetime as dt
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import time

import deltalake
import pyarrow as pa
import pytest
from project import Project
from simulator import Target, multiset

SCHEMA = pa.schema([("d", pa.date32()), ("region", pa.string()), ("v", pa.int64())])
QUERY = "SELECT d, region, sum(v) AS v FROM s GROUP BY ALL"
DEFINITION = "CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 1 BY NAME\n" + QUERY + ";\n"
NOW = "2024-03-20"
RANGE = ("--from", "2024-03-01", "--to", "2024-03-11", "--every", "3", "DAYS")


def day(number):
    return dt.date(2024, 3, number)


def source(value):
    return [(day(n), region, value) for n in range(1, 21) for region in ("asia", None)] + [(None, "asia", value)]


class Backfills(Project):
    def backfill(self, *arguments, status=0, now=NOW, flow="t", **options):
        """The summary; the lines before it are kept in events."""
        clock = ("--now", now) if now else ()
        done = self.tidegate("backfill", flow, *arguments, *clock, "--json", status=status, **options)
        *self.events, summary = map(json.loads, done.stdout.splitlines())
        self.errors = done.stderr
        return summary

    def statuses(self, summary):
        return [chunk["status"] for chunk in summary["chunks"]]

    def journal(self):
        folder = self.folder / "pipeline-storage" / "backfill"
        return folder / "main.default.t.open.jsonl"

    def days(self):
        return sorted({row["d"].day for row in self.polars("t") if row["d"]})


@pytest.fixture
def project(tidegate):
    made = Backfills(tidegate, t=DEFINITION)
    made.write("s", SCHEMA, source(1))
    return made


@pytest.fixture
def loaded(project):
    project.run(NOW)
    assert project.days() == [19, 20]
    return project


def test_a_range_in_chunks(loaded):
    summary = loaded.backfill(*RANGE)
    assert summary["state"] == "COMPLETED"
    assert [chunk["predicate"] for chunk in summary["chunks"]] == [
        "d >= DATE'2024-03-01' AND d < DATE'2024-03-04'", "d >= DATE'2024-03-04' AND d < DATE'2024-03-07'",
        "d >= DATE'2024-03-07' AND d < DATE'2024-03-10'", "d >= DATE'2024-03-10' AND d < DATE'2024-03-11'",
    ]
    assert [chunk["committed_version"] for chunk in summary["chunks"]] == [1, 2, 3, 4]
    assert [chunk["num_rows_physically_written"] for chunk in summary["chunks"]] == [6, 6, 6, 2]
    assert summary["sources"] == [{"name": "main.default.s", "version": 0}]
    assert (summary["column"], summary["every"], summary["timezone"]) == ("d", "3 DAYS", "UTC")
    assert loaded.days() == [*range(1, 11), 19, 20]
    # Each chunk is an update with events of its own, and its override among them.
    started = [event["details"]["create_update"] for event in loaded.events if event["event_type"] == "create_update"]
    assert [each["replace_where_overrides"] for each in started] == [
        [{"flow_name": "t", "predicate_override": chunk["predicate"]}] for chunk in summary["chunks"]]
    for chunk in summary["chunks"]:
        assert (loaded.folder / "pipeline-storage" / "events" / f"{chunk['update_id']}.jsonl").is_file()
    # What was done is kept, and open no more.
    assert not loaded.journal().exists()
    assert (loaded.journal().parent / f"main.default.t.{summary['backfill_id']}.jsonl").is_file()
    assert loaded.tidegate("backfill").stdout == "no backfill is open\n"
    # The window is as up to date as it was, and so is the range.
    assert loaded.run(NOW)["flows"][0]["technique"] == "NO_OP"


def test_text(loaded):
    done = loaded.tidegate("backfill", "t", *RANGE)
    assert done.stdout == ("backfill of main.default.t is COMPLETED: 4 of 4 chunks computed, 0 up to date, 0 failed, 0 left\n")
    first, second, *_ = done.stderr.splitlines()
    assert first.endswith("Backfilling main.default.t by `d`, [2024-03-01, 2024-03-11) every 3 DAYS in zone UTC, "
                          "from main.default.s version 0")
    assert "chunk 1 of 4 [2024-03-01, 2024-03-04) is version 1, 6 rows written" in second and second.endswith("(3 left)")


@pytest.mark.parametrize("jobs", [1, 3])
def test_before_the_table_exists(project, jobs):
    assert project.backfill(*RANGE, "--jobs", jobs)["state"] == "COMPLETED"
    assert project.days() == [*range(1, 11)]


class Partitioned(Backfills):
    """The source has a file for each day, which can be taken away."""

    def write_days(self, value):
        rows = [(day(n), "asia", value) for n in range(1, 21)]
        table = pa.table(list(map(list, zip(*rows))), schema=SCHEMA)
        deltalake.write_deltalake(self.path("s"), table, mode="overwrite", partition_by=["d"])

    def file_of(self, number):
        adds = pa.table(deltalake.DeltaTable(self.path("s")).get_add_actions(flatten=True)).to_pylist()
        name, = (add["path"] for add in adds if add["partition.d"] == day(number))
        return pathlib.Path(self.path("s")) / name

    def failed_at(self, number, *arguments):
        """Runs with the file of a day away; the function that comes back puts it there again."""
        file = self.file_of(number)
        away = file.with_suffix(".away")
        file.rename(away)
        summary = self.backfill(*RANGE, *arguments, status=1)
        return summary, lambda: away.rename(file)


@pytest.fixture
def days(tidegate):
    made = Partitioned(tidegate, t=DEFINITION)
    made.write_days(1)
    made.run(NOW)
    return made


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failed_chunk(days, jobs):
    """The others go on; running it again does the failed one, over the versions that the others had."""
    summary, heal = days.failed_at(5, "--jobs", jobs)
    assert summary["state"] == "FAILED"
    assert days.statuses(summary) == ["COMPLETED", "FAILED", "COMPLETED", "COMPLETED"]
    failed = summary["chunks"][1]
    assert failed["error"].startswith("[") and failed["committed_version"] is None and failed["update_id"]
    assert days.errors.count("day of chunk") == 0 and "-->" not in days.errors.splitlines()[0]
    listed, = days.tidegate("backfill").stdout.splitlines()
    assert listed == ("main.default.t by `d` from 2024-03-01 to 2024-03-11 every 3 DAYS: 3 of 4 chunks done, 1 failed. "
                      "Go on with: tidegate backfill main.default.t")
    assert json.loads(days.tidegate("backfill", "--json").stdout)["num_failed"] == 1
    heal()
    days.write_days(2)
    again = days.backfill(now=None)
    assert again["is_resumed"] and again["backfill_id"] == summary["backfill_id"]
    assert (again["now"], again["sources"]) == (summary["now"], summary["sources"])
    assert days.statuses(again) == ["COMPLETED"] * 4
    assert [chunk["is_of_this_run"] for chunk in again["chunks"]] == [False, True, False, False]
    assert days.days() == [*range(1, 11), 19, 20]
    assert {row["v"] for row in days.polars("t")} == {1}
    # The next one reads what is there then.
    days.backfill(*RANGE)
    assert {row["v"] for row in days.polars("t") if row["d"].day <= 10} == {2}


def test_text_of_a_failure(days):
    file = days.file_of(5)
    file.rename(file.with_suffix(".away"))
    done = days.tidegate("backfill", "t", *RANGE, status=1)
    assert "is FAILED: 3 of 4 chunks computed, 0 up to date, 1 failed, 0 left" in done.stdout
    assert "chunk 2 of 4 [2024-03-04, 2024-03-07) failed" in done.stderr
    assert done.stderr.endswith("run again what is not done, over the same sources: tidegate backfill t\n")


def test_the_same_command_goes_on(days):
    summary, heal = days.failed_at(8)
    heal()
    again = days.backfill(*RANGE[:-2], "72 hours".replace("72 hours", "3 day"), "--column", "D", status=0)
    assert again["backfill_id"] == summary["backfill_id"]


@pytest.mark.parametrize("change", [
    ("--from", "2024-03-02"), ("--to", "2024-03-12"), ("--every", "4 DAYS"), ("--every", "3 WEEKS"), ("--timezone", "Europe/Lisbon"),
])
def test_another_command_does_not(days, change):
    summary, heal = days.failed_at(5)
    heal()
    refused = days.tidegate("backfill", "t", *RANGE[:-2], "3 DAYS", "--now", NOW, *change, status=3)
    assert "[TIDEGATE_BACKFILL_OPEN]" in refused.stderr and "--restart" in refused.stderr
    assert "Go on with it: tidegate backfill t." in refused.stderr
    other = days.backfill(*RANGE[:-2], "3 DAYS", *change, "--restart")
    assert other["backfill_id"] != summary["backfill_id"] and not other["is_resumed"]


def test_a_source_that_was_cleaned(days):
    summary, _ = days.failed_at(5)
    refused = days.tidegate("backfill", "t", status=3)
    assert "[TIDEGATE_PINNED_SOURCE_GONE]" in refused.stderr
    assert "1 data file of version 0 of source main.default.s" in refused.stderr
    assert "--restart (with --missing: only what is not up to date then)" in refused.stderr
    days.write_days(2)
    again = days.backfill(*RANGE, "--restart", "--missing")
    assert again["backfill_id"] != summary["backfill_id"]
    assert days.statuses(again) == ["COMPLETED"] * 4  # over the new version nothing is up to date
    assert days.days() == [*range(1, 11), 19, 20]


@pytest.mark.parametrize("how", ["version", "table"])
def test_a_source_version_that_is_gone(days, how):
    _, heal = days.failed_at(5)
    heal()
    days.write_days(2)
    if how == "table":
        import shutil  # pylint: disable=import-outside-toplevel
        shutil.rmtree(days.path("s"))
        days.write_days(3)
    else:
        deltalake.DeltaTable(days.path("s")).create_checkpoint()
        os.unlink(pathlib.Path(days.path("s")) / "_delta_log" / f"{0:020d}.json")
    refused = days.tidegate("backfill", "t", status=3)
    assert "--restart" in refused.stderr
    assert "[TIDEGATE_PINNED_SOURCE_GONE] version 0 of source main.default.s" in refused.stderr


def test_a_changed_query(days):
    _, heal = days.failed_at(5)
    heal()
    (days.folder / "transformations" / "t.sql").write_text(DEFINITION.replace("sum(v)", "sum(v) + 10"))
    refused = days.tidegate("backfill", "t", status=3)
    assert "[TIDEGATE_BACKFILL_OPEN]" in refused.stderr and "query of flow main.default.t was changed" in refused.stderr
    assert '--from 2024-03-01 --to 2024-03-11 --every "3 DAYS" --restart' in refused.stderr
    again = days.backfill(*RANGE, "--restart", "--missing")
    assert days.statuses(again) == ["COMPLETED"] * 4
    assert {row["v"] for row in days.polars("t") if row["d"].day <= 10} == {11}


# ---- interrupted --------------------------------------------------------------------------------

def start(project, *arguments, jobs=2):
    return subprocess.Popen([os.environ["TIDEGATE_BIN"], "backfill", "t", *arguments, "--now", NOW, "--jobs", str(jobs)],
                            cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_lines(path, count):
    """Until so many chunks stand in the journal."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if path.exists() and path.read_text().count("\n") > count:
            return
        time.sleep(0.005)
    pytest.fail("nothing stands in the journal")


LONG = ("--from", "2024-01-01", "--to", "2024-03-11", "--every", "1", "day")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_interrupted(loaded, number):
    process = start(loaded, *LONG)
    wait_for_lines(loaded.journal(), 5)
    process.send_signal(number)
    out, errors = process.communicate(timeout=60)
    kept = loaded.journal().read_text()
    done = sum('"status":"COMPLETED"' in line for line in kept.splitlines())
    assert 5 <= done < 70
    if number != signal.SIGKILL:
        assert process.returncode == 130, errors
        assert "backfill of main.default.t is CANCELED" in out
        assert errors.endswith("interrupted; finished chunks are committed. Go on with: tidegate backfill t\n")
    loaded.write("s", SCHEMA, source(2))
    again = loaded.backfill(now=None)
    assert sum(not chunk["is_of_this_run"] for chunk in again["chunks"]) == done
    assert loaded.statuses(again) == ["COMPLETED"] * 70
    assert loaded.days() == [*range(1, 11), 19, 20]
    assert {row["v"] for row in loaded.polars("t")} == {1}


def test_a_line_that_was_cut_short(loaded):
    process = start(loaded, *LONG)
    wait_for_lines(loaded.journal(), 5)
    process.kill()
    process.communicate(timeout=60)
    with open(loaded.journal(), "a", encoding="utf-8") as journal:
        journal.write('{"chunk":60,"status":"COMPL')
    again = loaded.backfill(now=None)
    assert loaded.statuses(again) == ["COMPLETED"] * 70 and again["chunks"][60]["is_of_this_run"]


@pytest.mark.parametrize("text", ["", "{}\n", "nothing\n", '{"backfill":{"format":2}}\n'])
def test_a_damaged_journal(loaded, text):
    loaded.journal().parent.mkdir(parents=True)
    loaded.journal().write_text(text)
    refused = loaded.tidegate("backfill", "t", *RANGE, status=3)
    assert "is damaged" in refused.stderr and "--restart" in refused.stderr
    assert "is damaged" in loaded.tidegate("backfill", status=3).stderr
    assert loaded.backfill(*RANGE, "--restart")["state"] == "COMPLETED"


def test_another_process_runs_it(loaded):
    import fcntl  # pylint: disable=import-outside-toplevel
    lock = loaded.journal().with_name("main.default.t.lock")
    lock.parent.mkdir(parents=True)
    with open(lock, "w", encoding="utf-8") as held:
        whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        fcntl.fcntl(held, 37, whole)  # F_OFD_SETLK
        refused = loaded.tidegate("backfill", "t", *RANGE, status=3)
        assert "[TIDEGATE_BACKFILL_OPEN] another process is backfilling flow main.default.t" in refused.stderr
    assert loaded.backfill(*RANGE)["state"] == "COMPLETED"


# ---- what is up to date -------------------------------------------------------------------------

def test_missing(loaded):
    loaded.backfill(*RANGE)
    every_day = ("--from", "2024-03-01", "--to", "2024-03-22", "--every", "day", "--missing")
    summary = loaded.backfill(*every_day)
    assert loaded.statuses(summary) == ["COVERED"] * 10 + ["COMPLETED"] * 8 + ["COVERED"] * 3
    assert loaded.days() == [*range(1, 21)]
    version = loaded.version("t")
    assert loaded.statuses(loaded.backfill(*every_day)) == ["COVERED"] * 21
    assert loaded.version("t") == version
    # What somebody else wrote is missing again, and so is what the sources changed.
    row = pa.table({"d": [day(5)], "region": ["asia"], "v": [9]}, schema=SCHEMA)
    deltalake.write_deltalake(loaded.path("t"), row, mode="append")
    assert [n for n, status in enumerate(loaded.statuses(loaded.backfill(*every_day)), 1) if status == "COMPLETED"] == [5]
    loaded.write("s", SCHEMA, source(2))
    assert loaded.statuses(loaded.backfill(*every_day)) == ["COMPLETED"] * 21
    assert multiset(loaded.polars("t")) == multiset(dict(zip(SCHEMA.names, row)) for row in source(2) if row[0])


# ---- columns and steps --------------------------------------------------------------------------

def chunks_of(tidegate, kind, arguments, *, column="c", predicate="c >= {low}", low=None, zone="UTC", values=()):
    types = {"DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", "UTC"), "TIMESTAMP_NTZ": pa.timestamp("us"),
             "INT": pa.int32(), "BIGINT": pa.int64(), "TINYINT": pa.int8()}
    low = low or {"TINYINT": "1Y", "INT": "1", "BIGINT": "1L"}.get(kind, "current_date()")
    made = Backfills(tidegate, t=f"CREATE STREAMING TABLE t FLOW REPLACE WHERE {predicate.format(low=low)} BY NAME "
                                 f"SELECT {column}, n FROM s;")
    made.write("s", pa.schema([(column.strip("`"), types[kind]), ("n", pa.int64())]), list(values))
    summary = made.backfill(*arguments, "--timezone", zone, now="2050-01-01")
    return [(chunk["from"], chunk["to"], chunk["predicate"]) for chunk in summary["chunks"]], made


def instants(chunks):
    return [predicate.split("'")[1] for _, _, predicate in chunks] + [chunks[-1][2].split("'")[3]]


def test_days_of_a_zone(tidegate):
    """Days of 23, 24 and 25 hours; each row in its local day."""
    hours = [dt.datetime(2024, 3, 29, tzinfo=dt.timezone.utc) + dt.timedelta(hours=n) for n in range(96)]
    chunks, made = chunks_of(tidegate, "TIMESTAMP", ("--from", "2024-03-30", "--to", "2024-04-02", "--every", "1", "DAY"),
                             zone="Europe/Lisbon", values=[(hour, 1) for hour in hours])
    assert [(low, high) for low, high, _ in chunks] == [
        ("2024-03-30 00:00:00", "2024-03-31 00:00:00"), ("2024-03-31 00:00:00", "2024-04-01 00:00:00"),
        ("2024-04-01 00:00:00", "2024-04-02 00:00:00")]
    assert [text.replace(".000000", "") for text in instants(chunks)] == [
        "2024-03-30T00:00:00Z", "2024-03-31T00:00:00Z", "2024-03-31T23:00:00Z", "2024-04-01T23:00:00Z"]
    assert len(made.polars("t")) == 71


def test_hours_are_lengths_of_time(tidegate):
    chunks, _ = chunks_of(tidegate, "TIMESTAMP", ("--from", "2024-10-27", "--to", "2024-10-28", "--every", "6", "HOURS"),
                          zone="Europe/Lisbon")
    assert [low for low, _, _ in chunks] == ["2024-10-27 00:00:00", "2024-10-27 05:00:00", "2024-10-27 11:00:00",
                                             "2024-10-27 17:00:00", "2024-10-27 23:00:00"]


def test_a_day_that_the_zone_skipped(tidegate):
    chunks, _ = chunks_of(tidegate, "TIMESTAMP", ("--from", "2011-12-29", "--to", "2012-01-01", "--every", "1", "DAY"),
                          zone="Pacific/Apia")
    assert [low for low, _, _ in chunks] == ["2011-12-29 00:00:00", "2011-12-31 00:00:00"]


@pytest.mark.parametrize("kind, arguments, lows", [
    ("DATE", ("--from", "2024-01-31", "--to", "2024-05-01", "--every", "month"),
     ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
    ("DATE", ("--from", "2023-06-01", "--to", "2025-01-01", "--every", "1", "year"), ["2023-06-01", "2024-06-01"]),
    ("DATE", ("--from", "2024-01-01", "--to", "2024-12-31", "--every", "2 quarters"), ["2024-01-01", "2024-07-01"]),
    ("DATE", ("--from", "0001-01-01", "--to", "9999-12-31", "--every", "5000", "years"), ["0001-01-01", "5001-01-01"]),
    ("DATE", ("--from", "2024-01-01", "--to", "2024-01-20", "--every=2 Weeks"), ["2024-01-01", "2024-01-15"]),
    ("TIMESTAMP_NTZ", ("--from", "2024-01-01 12:30:00", "--to", "2024-01-01 13:00", "--every", "20", "minutes"),
     ["2024-01-01 12:30:00", "2024-01-01 12:50:00"]),
    ("TIMESTAMP", ("--from", "2024-01-01T00:00:00+02:00", "--to", "2024-01-01", "--every", "3600 seconds"),
     ["2023-12-31 22:00:00", "2023-12-31 23:00:00"]),
    ("INT", ("--from", "-10", "--to", "15", "--every", "10"), ["-10", "0", "10"]),
    ("TINYINT", ("--from", "-128", "--to", "127", "--every", "200"), ["-128", "72"]),
    ("BIGINT", ("--from", "-9223372036854775808", "--to", "9223372036854775807", "--every", "1000000000"), None),
])
def test_steps(tidegate, kind, arguments, lows):
    if lows is None:
        with pytest.raises(pytest.fail.Exception, match="TIDEGATE_LIMIT_EXCEEDED"):
            chunks_of(tidegate, kind, arguments)
        return
    chunks, _ = chunks_of(tidegate, kind, arguments)
    assert [low for low, _, _ in chunks] == lows
    assert [low for low, _, _ in chunks[1:]] == [high for _, high, _ in chunks[:-1]]


def test_literals(tidegate):
    chunks, _ = chunks_of(tidegate, "TINYINT", ("--from", "1", "--to", "3", "--every", "2"), column="`x-y`", predicate="`x-y` > {low}", low="1Y")
    assert chunks == [("1", "3", "`x-y` >= 1Y AND `x-y` < 3Y")]


def test_a_column_that_is_named(loaded):
    text = DEFINITION.replace("d >= current_date() - 1", "d >= current_date() - 1 AND v > 0")
    (loaded.folder / "transformations" / "t.sql").write_text(text)
    refused = loaded.tidegate("backfill", "t", *RANGE, status=2)
    assert "bounds more than one column" in refused.stderr and "--column: d, v." in refused.stderr
    assert loaded.backfill(*RANGE, "--column", "d")["column"] == "d"
    assert loaded.backfill("--from", "0", "--to", "10", "--every", "5", "--column", "`V`")["column"] == "v"


BAD = [
    ((), "no backfill of flow main.default.t is open to go on with; --from is missing", 2),
    (("--from", "2024-03-01"), "to backfill flow main.default.t, --to is missing", 2),
    (("--from", "2024-03-01", "--to", "2024-03-02"), "--every is missing", 2),
    ((*RANGE[:-2], "3", "dayz"), "Did you mean DAY?", 2),
    ((*RANGE[:-2], "3", "fortnights"), "unknown unit 'fortnights'", 2),
    ((*RANGE[:-2], "0", "days"), "--every takes a number from 1", 2),
    ((*RANGE[:-2], "-1"), "--every", 2),
    ((*RANGE[:-2], "3"), "--every needs a unit, for column `d` is DATE", 2),
    ((*RANGE[:-2], "3", "hours"), "--every takes days or longer", 2),
    ((*RANGE[:-2], "99999999999 days"), "--every takes a number from 1", 2),
    (("--from", "2024-03-11", "--to", "2024-03-11", "--every", "day"), "--from 2024-03-11 is not before --to 2024-03-11", 2),
    (("--from", "2024-03-12", "--to", "2024-03-11", "--every", "day"), "is not before", 2),
    (("--from", "soon", "--to", "2024-03-11", "--every", "day"), "--from takes a date or timestamp", 2),
    (("--from", "2024-02-30", "--to", "2024-03-11", "--every", "day"), "not '2024-02-30'", 2),
    (("--from", "2024-03-01 12:00:00", "--to", "2024-03-11", "--every", "day"), "--from takes a date,", 2),
    (("--from", "2024-03-01", "--to", "2024-03-02T00:00:00Z", "--every", "day"), "--to takes a local time without a zone", 2),
    (("--from", "0001-01-01", "--to", "9999-12-31", "--every", "day"), "more than 100000 chunks", 3),
    ((*RANGE, "--column", "dd"), "Did you mean `d`?", 2),
    ((*RANGE, "--column", "region"), "column `region` is STRING: it cannot be cut", 2),
    ((*RANGE, "--jobs", "0"), "--jobs takes a number from 1 to 64", 2),
    ((*RANGE, "--jobs", "many"), "--jobs takes a number", 2),
    ((*RANGE, "--timezone", "Mars/Base"), "Mars/Base", 2),
    ((*RANGE, "--misssing"), "Did you mean --missing?", 2),
]


@pytest.mark.parametrize("arguments, text, status", BAD)
def test_bad_input(loaded, arguments, text, status):
    refused = loaded.tidegate("backfill", "t", *arguments, status=status)
    assert text in refused.stderr and refused.stdout == ""
    assert loaded.version("t") == 0
    assert not loaded.journal().parent.exists()


@pytest.mark.parametrize("flow, text", [
    ("u", "not a table or flow"), ("m", "is no REPLACE WHERE flow"), ("main.default.tt", "main.default.t"), ("a b", "a b"),
])
def test_other_flows(loaded, flow, text):
    (loaded.folder / "transformations" / "m.sql").write_text("CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM s;\n")
    refused = loaded.tidegate("backfill", flow, *RANGE, status=3)
    assert text in refused.stderr


def test_without_a_flow(loaded):
    assert "FLOW is missing" in loaded.tidegate("backfill", *RANGE, status=2).stderr
    assert loaded.tidegate("backfill", "--json").stdout == ""


def test_a_predicate_without_bounds(loaded):
    (loaded.folder / "transformations" / "t.sql").write_text(DEFINITION.replace("d >= current_date() - 1", "region = 'asia'"))
    refused = loaded.tidegate("backfill", "t", *RANGE, status=2)
    assert "bounds no column" in refused.stderr and "--column: d, v." in refused.stderr


def test_tables_of_the_pipeline_are_pinned_too(loaded):
    """The flow reads a view's table, which advances while the backfill is open."""
    (loaded.folder / "transformations" / "m.sql").write_text("CREATE MATERIALIZED VIEW m AS SELECT d, region, v FROM s;\n")
    (loaded.folder / "transformations" / "t.sql").write_text(DEFINITION.replace("FROM s", "FROM m"))
    loaded.run(NOW)
    process = start(loaded, *LONG)
    wait_for_lines(loaded.journal(), 5)
    process.kill()
    process.communicate(timeout=60)
    loaded.write("s", SCHEMA, source(2))
    loaded.run(NOW, "--refresh", "m")
    summary = loaded.backfill(now=None)
    assert summary["sources"] == [{"name": "main.default.m", "version": 0}]
    assert loaded.days() == [*range(1, 11), 19, 20]
    assert {row["v"] for row in loaded.polars("t")} == {1}


# ---- equal to one big override ------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(6))
def test_equal_to_one_override(tidegate, seed):
    """Sources change between backfills, windows overlap with them, chunks have odd lengths; the rows are those of one override."""
    rng = random.Random(seed)
    project = Backfills(tidegate, t=DEFINITION)
    target = Target("SELECT d, region, CAST(sum(v) AS BIGINT) AS v FROM s GROUP BY ALL", "d >= {now} - 1")

    def rows():
        return [(rng.choice([None, *map(day, range(1, 25))]), rng.choice(["asia", "europe", None]), rng.randrange(9))
                for _ in range(rng.randrange(60))]

    project.write("s", SCHEMA, rows())
    for _ in range(4):
        step = rng.random()
        if step < .3:
            project.write("s", SCHEMA, rows(), mode=rng.choice(["append", "overwrite"]))
        if step < .5:
            now = rng.choice(["2024-03-10", "2024-03-15"])
            project.run(now, "--allow-clock-back")  # chunks were run with a later one
            target.refresh(project.sources, now)
        else:
            low, high = sorted(rng.sample(range(1, 26), 2))
            summary = project.backfill("--from", day(low), "--to", day(high), "--every", rng.randrange(1, 9), "days",
                                       "--jobs", rng.randrange(1, 4), *rng.choice([(), ("--missing",)]))
            assert summary["state"] == "COMPLETED"
            declared, target.predicate = target.predicate, f"d >= DATE '{day(low)}' AND d < DATE '{day(high)}'"
            target.refresh(project.sources, NOW)
            target.predicate = declared
        if target.rows is not None:
            assert multiset(project.delta_rs("t")) == target.multiset()
            assert multiset(project.polars("t")) == target.multiset()


@pytest.mark.parametrize("column, example", [("d", "--from 2024-01-01 --to 2024-02-01 --every 7 DAYS"), ("v", "--from 0 --to 10000 --every 1000")])
def test_the_example_is_of_the_columns_type(tidegate, column, example):
    project = Backfills(tidegate, t=f"CREATE STREAMING TABLE t FLOW REPLACE WHERE {column} >= {'0' if column == 'v' else 'current_date()'} BY NAME {QUERY}")
    project.write("s", SCHEMA, source(1))
    for arguments in ((), ("--from", "1")):
        done = project.tidegate("backfill", "t", *arguments, "--now", NOW, status=2)
        assert f"For example: tidegate backfill t {example}" in done.stderr
    done = project.tidegate("backfill", "t", "--column", "v", "--now", NOW, status=2)
    assert "--every 1000" in done.stderr
