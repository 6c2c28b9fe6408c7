# SPDX-License-Identifier: Apache-2.0
"""REFRESH STREAMING TABLE and REFRESH MATERIALIZED VIEW."""
import ctypes
import datetime
import json
import os
import subprocess
import time

import pytest

from standalone import RECENT, SALES, Warehouse

JUNE_1, JUNE_8, JUNE_9 = (datetime.date(2024, 6, day) for day in (1, 8, 9))


@pytest.fixture
def warehouse(tidegate):
    made = Warehouse(tidegate)
    made.run(*SALES, f"CREATE STREAMING TABLE recent {RECENT}",
             "CREATE MATERIALIZED VIEW totals AS SELECT region, sum(amount) AS total FROM sales GROUP BY region")
    return made


def ended(warehouse, name, update_id):
    """The events of an update that has ended; waits for it."""
    file = warehouse.storage(name) / "events" / f"{update_id}.jsonl"
    for _ in range(600):
        events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        states = [e["details"]["update_progress"]["state"] for e in events if e["event_type"] == "update_progress"]
        if states and states[-1] in ("COMPLETED", "FAILED", "CANCELED"):
            return states[-1], events
        time.sleep(0.1)
    raise AssertionError(f"{file} does not tell an end")


def test_where_is_for_one_refresh_only(warehouse):
    said = warehouse.says("REFRESH STREAMING TABLE recent WHERE day BETWEEN '2024-06-01' AND '2024-06-05'")
    assert said.startswith("refreshed main.default.recent: COMPLETE_REPLACE_WHERE, 1 row written")
    assert warehouse.foreign("recent") == [[JUNE_1, "eu", 1], [JUNE_8, "eu", 2], [JUNE_9, "us", 3]]
    warehouse.run("DELETE FROM sales WHERE day = DATE'2024-06-01'", "INSERT INTO sales VALUES (DATE'2024-06-10', 'us', 5)")
    warehouse.run("REFRESH STREAMING TABLE recent SYNC")
    assert sorted(row[0].day for row in warehouse.foreign("recent")) == [1, 8, 9, 10]
    planned = [e for e in warehouse.events("recent") if e["event_type"] == "planning_information"]
    assert "REPLACE_WHERE_BACKFILL" in json.dumps(planned)


def test_full_is_refused_by_the_guard_unless_it_may_lose_rows(warehouse):
    """A row that left the window is lost by a full refresh; what it keeps is the window alone."""
    warehouse.run("REFRESH STREAMING TABLE recent WHERE day = '2024-06-01'")
    assert len(warehouse.foreign("recent")) == 3
    for words in ("FULL", "FULL ASYNC"):
        for options in ((), ("--allow-reset", "totals")):
            warehouse.fails(f"REFRESH STREAMING TABLE recent {words}", "TIDEGATE_RESET_LOSES_ROWS", "1 row", status=4, options=options)
    assert len(warehouse.foreign("recent")) == 3
    allowed = ("--allow-reset", "recent")
    assert "COMPLETE_REPLACE_WHERE" in warehouse.says("REFRESH STREAMING TABLE recent FULL", options=allowed)
    assert warehouse.foreign("recent") == [[JUNE_8, "eu", 2], [JUNE_9, "us", 3]]
    warehouse.run("REFRESH STREAMING TABLE recent FULL")  # loses nothing

    warehouse.run("REFRESH STREAMING TABLE recent WHERE day = '2024-06-01'")
    (update_id,), = warehouse.rows("REFRESH STREAMING TABLE recent FULL ASYNC", options=allowed)
    assert ended(warehouse, "recent", update_id)[0] == "COMPLETED"
    assert warehouse.foreign("recent") == [[JUNE_8, "eu", 2], [JUNE_9, "us", 3]]


def test_full_of_a_view(warehouse):
    assert "COMPLETE_RECOMPUTE" in warehouse.says("REFRESH MATERIALIZED VIEW totals FULL")


def test_bare_refresh_table(warehouse):
    assert "NO_OP" in warehouse.says("REFRESH TABLE recent")
    warehouse.fails("REFRESH TABLE sales", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE")


@pytest.mark.parametrize(("statement", "error_class", "words"), [
    ("REFRESH STREAMING TABLE recent FULL WHERE day > DATE'2024-01-01'", "INVALID_REPLACE_WHERE_OVERRIDE.FULL_REFRESH",
     "FULL and WHERE exclude each other"),
    ("REFRESH STREAMING TABLE nowhere", "TABLE_OR_VIEW_NOT_FOUND", "nowhere"),
    ("REFRESH STREAMING TABLE recnt", "TABLE_OR_VIEW_NOT_FOUND", "recent"),
    ("REFRESH STREAMING TABLE sales", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE", "is a table"),
    ("REFRESH STREAMING TABLE totals", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.NON_STREAMING_TABLE", "MATERIALIZED VIEW"),
    ("REFRESH MATERIALIZED VIEW recent", "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED.NON_MATERIALIZED_VIEW", "STREAMING TABLE"),
    ("REFRESH MATERIALIZED VIEW totals WHERE total > 1", "INVALID_REPLACE_WHERE_OVERRIDE.FLOW_NOT_REPLACE_WHERE", "totals"),
    ("REFRESH STREAMING TABLE recent WHERE nothing > 1", "INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION", "nothing"),
    ("REFRESH STREAMING TABLE recent WHERE rand() > 1 ASYNC WITH LOVE", "PARSE_SYNTAX_ERROR", "LOVE"),
    ("REFRESH VIEW totals", "PARSE_SYNTAX_ERROR", "REFRESH MATERIALIZED VIEW"),
    ("REFRESH STREAMING TABLE delta.`x`", "UNSUPPORTED_FEATURE", "not a table of this warehouse"),
])
def test_what_cannot_be_refreshed(warehouse, statement, error_class, words):
    before = warehouse.foreign("recent")
    warehouse.fails(statement, error_class, words)
    if "rand" not in statement:
        warehouse.fails(statement + " ASYNC", error_class, words)  # found before anything is started
    assert warehouse.foreign("recent") == before


def test_async_gives_an_update_id_whose_events_can_be_followed(warehouse):
    warehouse.run("INSERT INTO sales VALUES (DATE'2024-06-10', 'us', 5)")
    (update_id,), = warehouse.rows("REFRESH STREAMING TABLE recent ASYNC")
    state, events = ended(warehouse, "recent", update_id)
    assert state == "COMPLETED" and {e["origin"]["update_id"] for e in events} == {update_id}
    assert len(warehouse.foreign("recent")) == 3
    assert warehouse.described("recent")["Latest Update Id"] == update_id
    (update_id,), = warehouse.rows("REFRESH STREAMING TABLE recent WHERE day = '2024-06-01' ASYNC")
    assert ended(warehouse, "recent", update_id)[0] == "COMPLETED"
    assert [JUNE_1, "eu", 1] in warehouse.foreign("recent")
    (update_id,), = warehouse.rows("REFRESH MATERIALIZED VIEW totals ASYNC")
    assert ended(warehouse, "totals", update_id)[0] == "COMPLETED"
    assert warehouse.foreign("totals") == [["eu", 7], ["us", 8]]


def test_async_does_not_hold_its_starter(warehouse):
    """The shell's pipes are closed as soon as the statement has its answer, and a hang-up reaches nobody."""
    done = subprocess.run(["setsid", os.environ["TIDEGATE_BIN"], "sql", "--warehouse", "wh", "--now", "2024-06-10", "--format",
                           "csv", "-e", "REFRESH STREAMING TABLE recent WHERE day > DATE'2020-01-01' ASYNC"],
                          cwd=warehouse.folder, capture_output=True, text=True, check=True, timeout=60)
    update_id = done.stdout.splitlines()[-1]
    assert ended(warehouse, "recent", update_id)[0] == "COMPLETED"


def test_async_tells_of_a_failure_in_the_events(warehouse):
    warehouse.run("CREATE TABLE texts (day DATE, t STRING)",
                  "CREATE STREAMING TABLE n FLOW REPLACE WHERE day > DATE'2024-01-01' BY NAME "
                  "SELECT day, CAST(t AS INT) AS i FROM texts",
                  "INSERT INTO texts VALUES (DATE'2024-06-01', 'x')")
    (update_id,), = warehouse.rows("REFRESH STREAMING TABLE n ASYNC")
    state, events = ended(warehouse, "n", update_id)
    assert state == "FAILED" and "CAST_INVALID_INPUT" in json.dumps(events)
    described = warehouse.described("n")
    assert (described["Last Refresh Status"], described["Latest Update Id"]) == ("FAILED", update_id)


def test_async_needs_the_program(warehouse, library_path):
    library = ctypes.CDLL(library_path)
    library.tg_session_open.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.tg_session_execute.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p),
                                           ctypes.POINTER(ctypes.c_void_p)]
    library.tg_failure_message.restype = library.tg_failure_text.restype = ctypes.c_char_p
    library.tg_failure_message.argtypes = library.tg_failure_text.argtypes = [ctypes.c_void_p]
    library.tg_rows_close.argtypes = library.tg_session_close.argtypes = [ctypes.c_void_p]

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("spec", ctypes.c_char_p), ("warehouse", ctypes.c_char_p),
                    ("now", ctypes.c_char_p), ("timezone", ctypes.c_char_p)]

    options = Options(ctypes.sizeof(Options), None, str(warehouse.folder / "wh").encode(), b"2024-06-10", None)
    session, rows, failure = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert library.tg_session_open(ctypes.byref(options), session, failure) == 0
    assert library.tg_session_execute(session, b"REFRESH STREAMING TABLE recent", rows, failure) == 0
    library.tg_rows_close(rows)
    assert library.tg_session_execute(session, b"REFRESH STREAMING TABLE recent ASYNC", rows, failure) != 0
    assert b"needs the tidegate program" in library.tg_failure_message(failure)
    assert b"Leave ASYNC out" in library.tg_failure_text(failure)
    library.tg_session_close(session)


def test_processes_that_refresh_the_same_table(warehouse):
    windows = [f"day = '2024-06-0{day}'" for day in (1, 8, 9)] + ["day >= '2024-06-08'"]
    command = [os.environ["TIDEGATE_BIN"], "sql", "--warehouse", "wh", "--now", "2024-06-10", "-e"]
    running = [subprocess.Popen([*command, f"REFRESH STREAMING TABLE recent WHERE {window}"], cwd=warehouse.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for window in windows]
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, output + errors
    assert warehouse.foreign("recent") == [[JUNE_1, "eu", 1], [JUNE_8, "eu", 2], [JUNE_9, "us", 3]]


def test_a_refresh_beside_a_new_definition_runs_one_of_them(warehouse):
    """Whoever is last, the rows are those of the definition that the table keeps."""
    command = [os.environ["TIDEGATE_BIN"], "sql", "--warehouse", "wh", "--now", "2024-06-10", "-e"]
    for factor in range(2, 6):
        warehouse.run(f"INSERT INTO sales VALUES (DATE'2024-06-10', 'n{factor}', {factor})")
        statements = ["REFRESH STREAMING TABLE recent",
                      "CREATE OR REFRESH STREAMING TABLE recent FLOW REPLACE WHERE day >= DATE'2024-06-01' BY NAME "
                      f"SELECT day, region, amount * {factor} AS amount FROM sales"]
        running = [subprocess.Popen([*command, text], cwd=warehouse.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True) for text in statements]
        for process in running:
            output, errors = process.communicate()
            assert process.returncode == 0, output + errors
        wanted = warehouse.rows(f"SELECT region, amount * {factor} FROM sales WHERE day IS NOT NULL")
        assert sorted(([region, amount] for _, region, amount in warehouse.foreign("recent")), key=str) == wanted


def test_describe_extended_tells_the_last_refresh(warehouse):
    described = warehouse.described("recent")
    assert described["Type"] == "STREAMING_TABLE"
    assert described["Last Refresh Status"] == "COMPLETED"
    assert described["Last Refresh Type"] == "COMPLETE_REPLACE_WHERE"
    assert described["Last Refresh Window"] == "day >= DATE'2024-06-03'"
    assert "FLOW REPLACE WHERE" in described["View Text"]
    warehouse.run("REFRESH STREAMING TABLE recent")
    again = warehouse.described("recent")
    assert again["Last Refresh Type"] == "NO_OP" and again["Latest Update Id"] != described["Latest Update Id"]
    assert again["Last Refreshed"] > described["Last Refreshed"]
    assert "Type" not in warehouse.described("sales")


def test_the_session_has_its_time_zone(warehouse):
    warehouse.run("CREATE TABLE moments (at TIMESTAMP)", "INSERT INTO moments VALUES (TIMESTAMP'2024-06-09 23:30:00Z')",
                  "SET TIME ZONE 'Europe/Lisbon'",
                  "CREATE STREAMING TABLE days FLOW REPLACE WHERE day >= DATE'2024-01-01' BY NAME "
                  "SELECT CAST(at AS DATE) AS day FROM moments")
    assert warehouse.foreign("days") == [[datetime.date(2024, 6, 10)]]


def test_hints_name_what_a_statement_can_say(warehouse):
    """`tidegate sql` has no --full-refresh, no --replace-where and no --refresh."""
    warehouse.run("REFRESH STREAMING TABLE recent WHERE day = '2024-06-01'")
    version = warehouse.table("recent").version()
    said = [warehouse.fails("REFRESH STREAMING TABLE recent FULL", "TIDEGATE_RESET_LOSES_ROWS", "tidegate sql --allow-reset main.default.recent",
                            f"RESTORE TABLE main.default.recent TO VERSION AS OF {version}", "without FULL", status=4)]
    warehouse.now = "2024-06-01"
    said.append(warehouse.fails("REFRESH STREAMING TABLE recent", "TIDEGATE_CLOCK_WENT_BACK", "REFRESH STREAMING TABLE ... WHERE", status=4))
    warehouse.now = "2024-06-10"
    warehouse.run("CREATE TABLE typed AS SELECT DATE'2024-06-09' AS day, 1 AS v",
                  "CREATE STREAMING TABLE kinds FLOW REPLACE WHERE day > '2024-01-01' BY NAME SELECT * FROM typed",
                  "CREATE MATERIALIZED VIEW never TBLPROPERTIES ('pipelines.reset.allowed' = 'false') AS SELECT * FROM typed",
                  "DROP TABLE typed", "CREATE TABLE typed AS SELECT DATE'2024-06-09' AS day, 'one' AS v")
    said.append(warehouse.fails("REFRESH STREAMING TABLE kinds", "DELTA_FAILED_TO_MERGE_FIELDS", "REFRESH STREAMING TABLE main.default.kinds FULL"))
    said.append(warehouse.fails("REFRESH MATERIALIZED VIEW never FULL", "TABLE_NOT_RESETTABLE", "refresh it without FULL", status=4))
    for text in said:
        assert "--full-refresh" not in text and "--replace-where" not in text
