# SPDX-License-Identifier: Apache-2.0
"""What is wrong on the command line is said as such: exit status 2, before anything is read."""
import os
import subprocess

import pytest
from pipeline import Pipeline, csv


@pytest.mark.parametrize("names", [",,", "", "m,,n", "m,", " "])
def test_an_empty_name_in_a_list_is_a_usage_error(tidegate, names):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    done = tidegate("run", "--refresh", names, status=2)
    assert "--refresh has an empty name" in done.stderr
    assert done.stdout == ""
    assert not (pipeline.folder / "wh").exists()


def test_names_of_a_list_may_have_blanks_around_them(tidegate):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    pipeline.run("--refresh", " m , main.default.m")
    assert pipeline.rows() == [{"a": 1}]


@pytest.mark.parametrize(("arguments", "message"), [
    (["lhp"], "command 'lhp' is not available in this release"),
    (["serve"], "command 'serve' is not available in this release"),
    (["rnu"], "Did you mean run?"),
    (["--verison"], "Did you mean --version?"),
    (["--spec", "x", "run"], "option --spec stands before the command\nWrite: tidegate COMMAND --spec"),
    (["init", "--catalog", "x"], "option --catalog is not available for tidegate init"),
    (["run", "--remote"], "option --remote is not available in this release"),
    (["run", "--allow-shrnk"], "Did you mean --allow-shrink?"),
    (["run", "--now", ""], "option --now has an empty value"),
    (["sql", "--warehouse="], "option --warehouse has an empty value"),
    (["run", "--spec"], "option --spec needs a value: PATH"),
    (["run", "--json=1"], "option --json takes no value"),
    (["init", "shop"], "Did you mean --name shop?"),
    (["show"], "TABLE is missing"),
    (["show", "t", "-n", "x"], "--limit takes a number of rows, not 'x'"),
    (["help", "rnu"], "Did you mean run?"),
])
def test_a_wrong_word_is_named_with_the_way_out(tidegate, arguments, message):
    done = tidegate(*arguments, status=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert list(tidegate.folder.iterdir()) == []


@pytest.mark.parametrize("command", ["init", "run", "dry-run", "plan", "intervals", "sql", "show"])
def test_help(tidegate, command):
    text = tidegate(command, "--help").stdout
    assert text.startswith(f"usage: tidegate {command} [options]")
    assert max(map(len, text.split("\n\n", 2)[1].splitlines())) <= 80
    assert tidegate("help", command).stdout == text
    assert tidegate("-h").stdout == tidegate("help").stdout == tidegate("--help").stdout


def test_a_long_option_has_its_meaning_on_the_next_line(tidegate):
    lines = tidegate("run", "--help").stdout.splitlines()
    at = lines.index("  --replace-where FLOW=PREDICATE")
    assert lines[at + 1].startswith(" " * 26 + "another predicate")
    assert "  --refresh A,B           refresh these tables only; may be repeated" in lines


def test_a_dry_run_explains(tidegate):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    assert "-- refresh program of main.default.m\n" in tidegate("dry-run", "--explain").stdout
    assert not (pipeline.folder / "wh").exists()


def test_the_man_page_can_be_copied_from(tidegate):
    text = tidegate("--man").stdout
    labels = [line for line in text.splitlines() if line.startswith(".B ")]
    assert ".B \\-\\-refresh A,B" in labels
    assert not any("-" in label.replace("\\-", "") for label in labels)
    assert text == "".join(line.rstrip() + "\n" for line in text.splitlines())


@pytest.mark.parametrize("arguments", [
    ["sql", "-e", "SELECT 1", "--format", "csv"], ["sql", "-e", "SELECT 1", "--format", "json"], ["sql", "-e", "SELECT 1"],
    ["sql", "-e", "SELECT * FROM (VALUES (1), (2)) a CROSS JOIN (VALUES (1), (2)) b", "--format", "rows"], ["--version"], ["--man"],
    ["--help"],
])
def test_lost_output_is_a_failure(tidegate, arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([os.environ["TIDEGATE_BIN"], *arguments], cwd=tidegate.folder, stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert (done.returncode, "could not write to standard output" in done.stderr) == (1, True)


def test_what_an_option_was_read_for_is_told(tidegate):
    """The context of an error stands in usage errors too."""
    Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    done = tidegate("history", "--start-time", "soon", status=2)
    assert "soon" in done.stderr
    done = tidegate("run", "--replace-where", "m", status=2)
    assert "--replace-where" in done.stderr and "Try: tidegate run --help" in done.stderr


def test_each_event_line_reaches_a_pipe_at_once(tidegate):
    """Who reads --json through a pipe follows the update: the first events are there while its first flow still runs."""
    tables = ", ".join(f"c AS x{i}" for i in range(9))
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT sum(" + " + ".join(f"CAST(x{i}.v AS INT)" for i in range(9)) +
                        f") AS a FROM {tables}", c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("v\n" + "".join(f"{n}\n" for n in range(40)))
    process = subprocess.Popen([os.environ["TIDEGATE_BIN"], "run", "--json"], cwd=pipeline.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        lines = iter(process.stdout.readline, "")
        assert any('"status":"RUNNING"' in line for line in lines)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", ["n" * 300, "`" + "ü" * 128 + "`", "a" * 256, "`" + "%" * 86 + "`"])
def test_a_name_that_no_folder_can_have_is_refused_as_such(tidegate, name):
    for statement in ("CREATE TABLE {} (a INT)", "SELECT * FROM {}", "CREATE VIEW {} AS SELECT 1 AS a", "DROP TABLE IF EXISTS {}"):
        done = tidegate("sql", "--warehouse", "w", "-e", statement.format(name), status=1)
        assert "[INVALID_IDENTIFIER] the table in a table name has" in done.stderr and "Give it a shorter name" in done.stderr
    assert "the schema in a table name" in tidegate("sql", "--warehouse", "w", "-e", f"SELECT * FROM {name}.t", status=1).stderr
    Pipeline(tidegate, f"CREATE MATERIALIZED VIEW {name} AS SELECT 1 AS a")
    assert "[INVALID_IDENTIFIER]" in tidegate("run", status=3).stderr


@pytest.mark.parametrize("name", ["a" * 255, "`" + "ü" * 127 + "`", "`" + "%" * 85 + "`"])
def test_the_longest_name_works(tidegate, name):
    tidegate("sql", "--warehouse", "w", "-e", f"CREATE TABLE {name} AS SELECT 1 AS a", "-e", f"INSERT INTO {name} SELECT 2",
             "-e", f"DROP TABLE {name}", "-e", f"CREATE STREAMING TABLE {name} FLOW REPLACE WHERE a > 0 BY NAME SELECT 1 AS a",
             "-e", f"REFRESH STREAMING TABLE {name}", "-e", f"DROP STREAMING TABLE {name}", "-e", f"CREATE VIEW {name} AS SELECT 1 AS a", "-e", f"SELECT * FROM {name}")
