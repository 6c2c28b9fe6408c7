# SPDX-License-Identifier: Apache-2.0
"""tidegate logs and tidegate history, over files and over the event-log table."""
import json
import os
import signal
import subprocess
import time

import pytest
from eventlog import COMPUTES, Logged, Writer, event

UPDATE = [
    event("aaaa-1", 1, "create_update", {"cause": "API_CALL", "now": "2024-03-01T10:59:59.000000Z", "timezone": "Europe/Lisbon",
                                         "refresh_selection": ["f"], "full_refresh": False, "validate_only": False}),
    event("aaaa-1", 2, "update_progress", {"state": "RUNNING"}),
    event("aaaa-1", 3, "flow_progress", {"status": "COMPLETED", "metrics": {"committed_version": 4}},
          origin={"flow_name": "f", "dataset_name": "main.default.f"}),
    event("aaaa-1", 4, "flow_progress", {"status": "FAILED"}, level="ERROR", origin={"flow_name": "g"},
          error={"fatal": False, "exceptions": [{"class_name": "DIVIDE_BY_ZERO", "message": "division by zero", "hint": "Use try_divide.",
                                                 "place": {"file": "a.sql", "line": 3, "column": 7}}]}),
    event("aaaa-1", 5, "flow_progress", {"status": "SKIPPED"}, level="WARN", origin={"flow_name": "h"}),
    event("aaaa-1", 6, "update_progress", {"state": "FAILED"}),
]


def messages(done):
    return [line.split("event ")[1] for line in done.stdout.splitlines() if "event " in line]


@pytest.fixture
def log(tidegate):
    log = Logged(tidegate)
    log.put_update("aaaa-1", UPDATE)
    return log


# ---- logs -----------------------------------------------------------------------------------------------------------


def test_logs_of_the_newest_update(tidegate):
    log = Logged(tidegate)
    done = tidegate("logs")
    assert (done.stdout, done.stderr) == ("", "pipeline p has no updates yet\n")
    log.work()
    newest = log.work()
    lines = tidegate("logs", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == log.file_events(newest)
    text = tidegate("logs").stdout.splitlines()
    assert len(text) == len(lines)
    assert text[-1].split("  ")[0] == log.file_events(newest)[-1]["timestamp"]
    assert text[-1].endswith(f"Update {newest[:6]} is COMPLETED.")


@pytest.mark.parametrize(("arguments", "expected"), [
    ([], "123456"),
    (["--level", "error"], "4"),
    (["--level", "WARN,ERROR"], "45"),
    (["--level", "WARN", "--level", "ERROR"], "45"),
    (["--event-type", "update_progress"], "26"),
    (["--event-type", "update_progress,create_update", "--level", "INFO"], "126"),
    (["-n", "2"], "56"),
    (["--number=100"], "123456"),
    (["-n", "1", "--event-type", "flow_progress"], "5"),
    (["--start-time", "2024-03-01T11:00:03Z"], "3456"),
    (["--end-time", "2024-03-01T11:00:03Z"], "123"),
    (["--start-time", "2024-03-01 12:00:03", "--end-time", "2024-03-01T11:00:04Z", "--timezone", "Europe/Madrid"], "34"),
    (["--level", "METRICS"], ""),
    (["--update-id", "AAAA"], "123456"),
    (["--follow"], "123456"),
    (["--follow", "-n", "2"], "56"),
])
def test_logs_chooses(log, arguments, expected):
    assert "".join(messages(log.tidegate("logs", *arguments))) == expected


def test_logs_shows_errors_with_their_place(log):
    text = log.tidegate("logs", "--level", "ERROR").stdout
    assert "[DIVIDE_BY_ZERO] division by zero" in text
    assert "at a.sql:3:7" in text
    assert "hint: Use try_divide." in text


@pytest.mark.parametrize(("arguments", "message"), [
    (["--level", "WRAN"], "Did you mean WARN?"),
    (["--level", "FATAL"], "unknown level 'FATAL': INFO, WARN, ERROR or METRICS"),
    (["--level", ""], "--level has an empty name"),
    (["--event-type", "flow_progres"], "Did you mean flow_progress?"),
    (["--event-type", "xyz"], "docs/event-log.md lists the event types"),
    (["-n", "0"], "a whole number from 1"),
    (["-n", "many"], "a whole number from 1"),
    (["--start-time", "soon"], "--start-time 'soon' is not a date or timestamp"),
    (["--start-time", "2024-03-02", "--end-time", "2024-03-01"], "--start-time is later than --end-time"),
    (["--updateid", "aaaa"], "Did you mean --update-id?"),
    (["aaaa"], "unexpected argument 'aaaa'"),
])
def test_logs_refuses(log, arguments, message):
    done = log.tidegate("logs", *arguments, status=2)
    assert message in done.stderr
    assert done.stdout == ""


def test_logs_of_an_unknown_update(log):
    log.put_update("aaaa-2", [{**item, "origin": {"update_id": "aaaa-2"}} for item in UPDATE])
    for wanted, message in (("aaaa", "more than one update"), ("bbbb", "no update has the id 'bbbb'"), ("x' OR true --", "no update has the id")):
        done = log.tidegate("logs", "--update-id", wanted, status=3)
        assert "[TIDEGATE_UNKNOWN_UPDATE]" in done.stderr
        assert message in done.stderr


def test_logs_of_a_type_that_only_databricks_writes(log):
    done = log.tidegate("logs", "--event-type", "cluster_resources")
    assert (done.stdout, done.stderr) == ("", "note: tidegate writes no cluster_resources events: there is no cluster\n")


def test_logs_of_an_update_that_was_folded(tidegate):
    log = Logged(tidegate)
    first = log.work()
    before = tidegate("logs", "--json").stdout
    log.work()
    assert first not in log.files()
    lines = [json.loads(line) for line in tidegate("logs", "--update-id", first[:8], "--json").stdout.splitlines()]
    assert lines == [json.loads(line) for line in before.splitlines()]


def test_logs_of_the_newest_update_when_all_are_in_the_table(tidegate):
    log = Logged(tidegate)
    log.work()
    second = log.work()
    third = log.work()
    (log.events / f"{third}.jsonl").unlink()
    assert json.loads(tidegate("logs", "--json", "-n", "1").stdout)["origin"]["update_id"] == second


def test_logs_warns_of_damaged_and_foreign_files(log):
    path = log.events / "aaaa-1.jsonl"
    path.write_text(path.read_text().replace("\n", "\nnoise\n", 1) + '{"id": "torn')
    (log.events / "notes.txt").write_text("hello")
    done = log.tidegate("logs")
    assert "".join(messages(done)) == "123456"
    assert "1 line of the event file" in done.stderr
    assert "notes.txt is not read as an event file" in done.stderr


# ---- following ------------------------------------------------------------------------------------------------------


def follow(log, *arguments):
    return subprocess.Popen([os.environ["TIDEGATE_BIN"], "logs", "--follow", *arguments], cwd=log.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines_of(events):
    return [json.dumps(item) + "\n" for item in events]


def test_follow_ends_with_the_update(tidegate):
    log = Logged(tidegate)
    path = log.put_update("aaaa-1", UPDATE[:2])
    with Writer(path) as writer:
        assert "update aaaa-1 goes on; --follow" in tidegate("logs").stderr
        process = follow(log)
        seen = [process.stdout.readline() for _ in range(2)]
        for line in lines_of(UPDATE[2:5]):
            writer.write(line[:30])  # a line is given when it is whole
            writer.write(line[30:])
            seen.append(process.stdout.readline())
            while not seen[-1].startswith("20"):
                seen[-1] = process.stdout.readline()
        writer.write(lines_of(UPDATE[5:])[0])
        rest, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "event 6" in rest
    assert error == ""


def test_follow_ends_when_the_writer_dies(tidegate):
    log = Logged(tidegate)
    path = log.put_update("aaaa-1", UPDATE[:2])
    with Writer(path) as writer:
        process = follow(log)
        assert "event 1" in process.stdout.readline()
        writer.write(lines_of(UPDATE[2:3])[0] + '{"id": "torn by kill -9')
    rest, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "event 3" in rest
    assert "the writer of update aaaa-1 died after 2024-03-01T11:00:03.000000Z" in error
    assert "Go on with: tidegate run" in error


def test_follow_ends_with_ctrl_c(tidegate):
    log = Logged(tidegate)
    path = log.put_update("aaaa-1", UPDATE[:2])
    with Writer(path):
        process = follow(log)
        assert "event 1" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_killed_run_is_told(tidegate):
    log = Logged(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM s a, s b, s c, s d WHERE concat(a.a, b.a) < concat(c.a, d.a)")
    log.csv.write_text("a\n" + "1\n" * 3000)
    process = subprocess.Popen([os.environ["TIDEGATE_BIN"], "run"], cwd=log.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(log.events.glob("*.jsonl")) or "RUNNING" not in tidegate("logs", "--event-type", "flow_progress").stdout:
        assert process.poll() is None
        time.sleep(0.05)
    assert "goes on" in tidegate("logs").stderr
    assert json.loads(tidegate("history", "--json").stdout)["is_running"] is True
    process.kill()
    process.wait()
    assert "died after" in tidegate("logs", "--follow").stderr
    assert " DIED " in tidegate("history").stdout
    update = json.loads(tidegate("history", "--json").stdout)
    assert (update["state"], update["is_running"], update["is_ended"]) == ("RUNNING", False, False)


# ---- history --------------------------------------------------------------------------------------------------------


def test_history_of_nothing(tidegate):
    Logged(tidegate)
    done = tidegate("history")
    assert (done.stdout, done.stderr) == ("", "pipeline p has no updates yet\n")
    assert tidegate("history", "--json").stdout == ""


def test_history_tells_the_request_and_the_flows(log):
    update = json.loads(log.tidegate("history", "--json").stdout)
    assert update["update_id"] == "aaaa-1"
    assert (update["state"], update["cause"], update["is_ended"], update["is_running"]) == ("FAILED", "API_CALL", True, False)
    assert (update["now"], update["timezone"], update["refresh_selection"]) == ("2024-03-01T10:59:59.000000Z", "Europe/Lisbon", ["f"])
    assert (update["start_time"], update["duration_ms"]) == ("2024-03-01T11:00:01.000000Z", 5000)
    assert update["creation_time"] == 1709290801000
    assert [update[f"num_flows_{end}"] for end in ("completed", "failed", "skipped", "excluded")] == [1, 1, 1, 0]
    assert update["flows"][0] == {"flow_name": "f", "dataset_name": "main.default.f", "status": "COMPLETED", "technique": None,
                                  "committed_version": 4}
    assert update["error"] == {"error_class": "DIVIDE_BY_ZERO", "message": "division by zero"}
    text = log.tidegate("history").stdout
    assert "1/1/1" in text
    assert "[DIVIDE_BY_ZERO] division by zero" in text


def test_history_is_over_files_and_table(tidegate):
    log = Logged(tidegate)
    updates = [log.work(), log.work(), log.work(), log.update_id(), log.update_id()]
    assert len(log.files()) == 3

    def history(*arguments):
        return [json.loads(line)["update_id"] for line in tidegate("history", "--json", *arguments).stdout.splitlines()]

    assert history() == updates[::-1]
    for count in range(1, 7):
        assert history("-n", str(count)) == updates[::-1][:count]
    starts = {json.loads(line)["update_id"]: json.loads(line)["start_time"] for line in tidegate("history", "--json").stdout.splitlines()}
    assert history("--start-time", starts[updates[1]], "--end-time", starts[updates[3]]) == updates[3:0:-1]
    assert history("--start-time", "2999-01-01") == []
    assert "between these times" in tidegate("history", "--start-time", "2999-01-01").stderr
    first = json.loads(tidegate("history", "--json").stdout.splitlines()[-1])
    assert (first["state"], first["num_flows_completed"], first["flows"][0]["technique"]) == ("COMPLETED", 1, "COMPLETE_RECOMPUTE")


def test_history_of_a_failed_run(tidegate):
    log = Logged(tidegate, "CREATE MATERIALIZED VIEW a AS SELECT 1 / (count(*) - count(*)) AS n FROM s; "
                           "CREATE MATERIALIZED VIEW b AS SELECT * FROM a; CREATE MATERIALIZED VIEW c AS SELECT 1 AS x")
    tidegate("run", status=1)
    text = tidegate("history").stdout
    assert "1/1/1" in text and "[DIVIDE_BY_ZERO]" in text and " FAILED " in text
    log.define(COMPUTES)
    tidegate("run")
    assert "1/1/1" in tidegate("history").stdout  # from the table now
