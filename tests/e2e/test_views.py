# SPDX-License-Identifier: Apache-2.0
"""Persisted views: files of the warehouse, made by statements and by pipelines, read by both."""
import concurrent.futures
import json

import pytest


@pytest.fixture
def sql(tidegate):
    """sql("SELECT ...") -> rows of the last statement; status for errors, which give the process."""
    tidegate("sql", "-e", "CREATE TABLE s AS SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'")

    def run(text, *arguments, status=0):
        done = tidegate("sql", *arguments, "--format", "rows", "-e", text, status=status)
        if status:
            return done
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        starts = [i for i, line in enumerate(lines) if isinstance(line, dict)]
        return lines[starts[-1] + 1:] if starts else []

    return run


# ---- statements

def test_a_view_outlives_its_session(tidegate, sql):
    sql("CREATE VIEW v AS SELECT a, b FROM s WHERE a > 1")
    assert sql("SELECT * FROM v") == [[2, "y"]]
    sql("INSERT INTO s VALUES (3, 'z')")
    assert sql("SELECT count(*) FROM main.default.v") == [[2]]
    assert (tidegate.folder / "warehouse/main/default/v").is_file()


def test_names_mean_what_they_meant(sql):
    sql("CREATE TABLE other.s AS SELECT 9 AS a")
    sql("CREATE VIEW v AS SELECT a FROM s; CREATE VIEW other.w AS SELECT * FROM v JOIN s USING (a)")
    assert sql("USE SCHEMA other; SELECT max(a) FROM main.default.v") == [[2]]
    assert sql("USE CATALOG nowhere; SELECT max(a) FROM main.other.w") == [[2]]
    assert sql("CREATE TEMPORARY VIEW s AS SELECT 7 AS a; SELECT max(a) FROM v") == [[2]]


def test_relative_paths_mean_what_they_meant(tidegate, sql):
    (tidegate.folder / "d.csv").write_text("a\n5\n")
    sql("CREATE VIEW v AS SELECT * FROM csv.`d.csv`")
    (tidegate.folder / "below").mkdir()
    done = tidegate("sql", "--warehouse", "warehouse", "-e", "SELECT * FROM v")
    tidegate.folder = tidegate.folder / "below"
    assert tidegate("sql", "--warehouse", "../warehouse", "-e", "SELECT * FROM v").stdout == done.stdout


def test_columns_comments_and_properties(sql):
    sql("CREATE VIEW v (one COMMENT 'it''s', `two words`) COMMENT 'c\\'x' TBLPROPERTIES ('k' = 'w') AS SELECT a, b FROM s")
    assert sql("SELECT `two words` FROM v WHERE one = 2") == [["y"]]
    assert sql("DESCRIBE v") == [["one", "int", "it's"], ["two words", "string", None]]
    extended = dict((row[0], row[1]) for row in sql("DESCRIBE EXTENDED v"))
    assert extended["Type"] == "VIEW" and extended["View Text"] == "SELECT a, b FROM s"
    assert sql("SHOW COLUMNS IN v") == [["one"], ["two words"]]
    assert sql("SHOW TBLPROPERTIES v") == [["k", "w"]]
    text = sql("SHOW CREATE TABLE v")[0][0]
    assert sql("SHOW CREATE VIEW v")[0][0] == text
    sql("DROP VIEW v; " + text)
    assert sql("SHOW CREATE TABLE v")[0][0] == text


def test_lists(tidegate, sql):
    sql("CREATE VIEW v AS SELECT 1 AS a; CREATE VIEW `ä/b` AS SELECT 1 AS a")
    (tidegate.folder / "warehouse/main/default/notes.txt").write_text("not a view")
    names = [["default", "s", "false"], ["default", "v", "false"], ["default", "ä/b", "false"]]
    assert sorted(sql("SHOW TABLES")) == names
    assert sorted(sql("SHOW VIEWS")) == names[1:]
    assert sql("SHOW VIEWS LIKE 'v*'") == [["default", "v", "false"]]
    assert sql("SHOW VIEWS IN other") == []
    assert sql("CREATE TEMPORARY VIEW t AS SELECT 1 AS a; SHOW VIEWS LIKE 't'") == [["", "t", "true"]]


def test_create_and_drop(sql):
    sql("CREATE VIEW v AS SELECT 1 AS a")
    for text, error in (
            ("CREATE VIEW v AS SELECT 2 AS a", "TABLE_OR_VIEW_ALREADY_EXISTS"),
            ("CREATE TABLE v (a INT)", "TABLE_OR_VIEW_ALREADY_EXISTS"),
            ("CREATE VIEW s AS SELECT 2 AS a", "TABLE_OR_VIEW_ALREADY_EXISTS"),
            ("CREATE OR REPLACE VIEW s AS SELECT 2 AS a", "TABLE_OR_VIEW_ALREADY_EXISTS"),
            ("DROP TABLE v", "EXPECT_TABLE_NOT_VIEW"), ("DROP VIEW s", "EXPECT_VIEW_NOT_TABLE"),
            ("INSERT INTO v VALUES (1)", "EXPECT_TABLE_NOT_VIEW"), ("DELETE FROM v", "EXPECT_TABLE_NOT_VIEW"),
            ("DROP VIEW w", "TABLE_OR_VIEW_NOT_FOUND"), ("SELECT * FROM v VERSION AS OF 0", "a view has no versions"),
            ("CREATE VIEW w AS SELECT * FROM nothing", "TABLE_OR_VIEW_NOT_FOUND"),
            ("CREATE VIEW w AS SELECT 1 AS a, 2 AS A", "COLUMN_ALREADY_EXISTS"),
            ("CREATE VIEW w (a, b) AS SELECT 1 AS a", "column"),
            ("CREATE VIEW w PARTITIONED BY (a) AS SELECT 1 AS a", "PARTITIONED BY"),
            ("CREATE VIEW w TBLPROPERTIES ('tidegate.x' = '1') AS SELECT 1 AS a", "UNKNOWN_TABLE_PROPERTY"),
            ("CREATE VIEW csv.`x.csv` AS SELECT 1 AS a", "UNSUPPORTED_FEATURE"),
            ("CREATE TEMPORARY VIEW t AS SELECT 1 AS a; CREATE VIEW w AS SELECT * FROM t", "INVALID_TEMP_OBJ_REFERENCE"),
            ("SELECT * FROM vv", "Did you mean `v`?")):
        assert error in sql(text, status=1).stderr, text
    sql("CREATE VIEW IF NOT EXISTS v AS SELECT 2 AS a; DROP VIEW IF EXISTS w")
    assert sql("SELECT * FROM v") == [[1]]
    sql("CREATE OR REPLACE VIEW v AS SELECT 3 AS a")
    assert sql("SELECT * FROM v") == [[3]]
    sql("DROP VIEW v; CREATE TABLE v (a INT)")
    assert sql("SHOW VIEWS") == []


def test_views_of_views_and_cycles(sql):
    sql("CREATE VIEW a AS SELECT a FROM s; CREATE VIEW b AS SELECT a FROM a; CREATE VIEW c AS SELECT * FROM b JOIN a USING (a)")
    assert sql("SELECT count(*) FROM c") == [[2]]
    for text in ("SELECT * FROM c", "SELECT * FROM a", "SELECT a FROM s WHERE a IN (SELECT a FROM b)"):
        assert "RECURSIVE_VIEW" in sql(f"CREATE OR REPLACE VIEW a AS {text}", status=1).stderr
    assert sql("SELECT count(*) FROM c") == [[2]]
    # Two sessions at once can make one: reading it says so.
    sql("CREATE OR REPLACE VIEW a AS SELECT 1 AS a; CREATE VIEW z AS SELECT * FROM a")


def test_a_dropped_table_is_told_with_the_view(sql):
    sql("CREATE VIEW v AS SELECT a FROM s; CREATE VIEW w AS SELECT a FROM v; DROP TABLE s")
    err = sql("SELECT * FROM w", status=1).stderr
    assert "TABLE_OR_VIEW_NOT_FOUND" in err and "`s`" in err and "view main.default.v:1:15" in err
    sql("CREATE TABLE s AS SELECT 'new' AS a")
    assert sql("SELECT * FROM w") == [["new"]]
    sql("DROP TABLE s; CREATE TABLE s AS SELECT 1 AS c")
    assert "UNRESOLVED_COLUMN" in sql("SELECT * FROM w", status=1).stderr


def test_time_is_read_time_and_the_zone_is_that_of_creation(sql):
    sql("CREATE VIEW now AS SELECT current_date() AS d", "--now", "2024-01-01")
    assert sql("SELECT * FROM now", "--now", "2025-02-03") == [["2025-02-03"]]
    sql("CREATE VIEW t AS SELECT TIMESTAMP'2024-01-01 12:00:00' AS t; CREATE VIEW plain AS SELECT a FROM s",
        "--timezone", "Europe/Lisbon")
    lisbon = ("--timezone", "Asia/Tokyo")
    assert "TIDEGATE_VIEW_TIME_ZONE" in sql("SELECT * FROM now", *lisbon, status=1).stderr
    err = sql("SELECT * FROM t", status=1).stderr
    assert "Europe/Lisbon" in err and "UTC" in err and "SET TIME ZONE" in err
    assert len(sql("SET TIME ZONE 'Europe/Lisbon'; SELECT * FROM t")) == 1
    assert sql("SELECT max(a) FROM plain", *lisbon) == [[2]]
    assert sql("SELECT max(a), hour(max(TIMESTAMP'2024-01-01 05:00:00')) FROM plain", *lisbon) == [[2, 5]]


@pytest.mark.parametrize(("content", "why"), [
    ("", "no JSON object"), ("[]", "no JSON object"), ("{}", "no tidegate_view"), ('{"tidegate_view": 2}', "later release"),
    ('{"tidegate_view": 1, "query": "SELEKT"}', "does not parse"), ("\x00", "no JSON object"),
])
def test_files_that_are_no_view(tidegate, sql, content, why):
    (tidegate.folder / "warehouse/main/default/v").write_text(content)
    for text in ("SELECT * FROM v", "DESCRIBE v", "DROP VIEW v", "CREATE OR REPLACE VIEW v AS SELECT 1 AS a"):
        err = sql(text, status=1).stderr
        assert "TIDEGATE_INVALID_VIEW" in err and why in err
    assert [row[1] for row in sql("SHOW TABLES")] in (["s"], ["s", "v"])


def test_one_of_many_creators_wins(tidegate, sql):
    def create(number):
        kind = "TABLE" if number % 2 else "VIEW"
        done = tidegate("sql", "-e", f"CREATE {kind} v AS SELECT {number} AS a", status=None)
        return number if done.returncode == 0 else None

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        winners = [n for n in pool.map(create, range(8)) if n is not None]
    assert len(winners) == 1
    assert sql("SELECT * FROM v") == [[winners[0]]]


def test_replacing_is_whole_or_not_at_all(tidegate, sql):
    sql("CREATE VIEW v AS SELECT 0 AS a")

    def replace(number):
        tidegate("sql", "-e", f"CREATE OR REPLACE VIEW v AS SELECT {number} AS a /* {'x' * 9999} */")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(replace, n) for n in range(8)]
        for _ in range(8):
            assert 0 <= sql("SELECT * FROM v")[0][0] < 8
        assert not [job.result() for job in jobs if job.result()]
    assert [p.name for p in (tidegate.folder / "warehouse/main/default").iterdir() if p.name.startswith(".")] == []


# ---- pipelines

class Views:
    def __init__(self, tidegate, text):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        self.define(text)
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}],
            "tidegate": {"warehouse": "warehouse"}}))

    def define(self, text):
        (self.folder / "t" / "a.sql").write_text(text)

    def run(self, *arguments, command="run"):
        summary = json.loads(self.tidegate(command, "--json", *arguments).stdout.splitlines()[-1])
        return ({f["flow_name"].split(".")[-1]: f["technique"] for f in summary["flows"]},
                {v["dataset_name"].split(".")[-1]: v["status"] for v in summary.get("views", [])})

    def file(self, name="v"):
        return self.folder / "warehouse/main/default" / name


CHAIN = "CREATE VIEW v AS SELECT a, {} AS n FROM s; CREATE MATERIALIZED VIEW m AS SELECT sum(n) AS n FROM v"


def test_a_pipeline_publishes_its_views(tidegate, sql):
    p = Views(tidegate, CHAIN.format("a"))
    assert p.run(command="dry-run")[1] == {"v": "CREATED"}
    assert p.run(command="plan")[1] == {"v": "CREATED"}
    assert not p.file().exists()
    assert p.run() == ({"m": "COMPLETE_RECOMPUTE"}, {"v": "CREATED"})
    assert sql("SELECT * FROM v ORDER BY a") == [[1, 1], [2, 2]]
    before = p.file().stat()
    assert p.run() == ({"m": "NO_OP"}, {"v": "UNCHANGED"})
    assert p.file().stat().st_ino == before.st_ino
    p.define(CHAIN.format("a * 10"))
    assert p.run(command="plan") == ({"m": "COMPLETE_RECOMPUTE"}, {"v": "REPLACED"})
    assert p.run() == ({"m": "COMPLETE_RECOMPUTE"}, {"v": "REPLACED"})
    assert sql("SELECT n FROM m") == [[30]]
    assert sql("SELECT max(n) FROM v") == [[20]]


def test_a_view_over_a_table_of_the_same_pipeline(tidegate, sql):
    p = Views(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT a FROM s; CREATE VIEW v AS SELECT max(a) AS a FROM m;"
                        "CREATE MATERIALIZED VIEW top AS SELECT a FROM v")
    assert p.run()[1] == {"v": "CREATED"}
    sql("INSERT INTO s VALUES (7, 'q')")
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE", "top": "COMPLETE_RECOMPUTE"}
    assert sql("SELECT * FROM top") == [[7]]


def test_a_view_of_somebody_else_is_read_by_a_pipeline(tidegate, sql):
    sql("CREATE VIEW inner_v AS SELECT a FROM s; CREATE VIEW v AS SELECT a + 1 AS n FROM inner_v")
    p = Views(tidegate, "USE SCHEMA elsewhere; CREATE MATERIALIZED VIEW m AS SELECT sum(n) AS n FROM main.default.v")
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE"}
    assert sql("SELECT * FROM elsewhere.m") == [[5]]
    assert p.run()[0] == {"m": "NO_OP"}
    sql("CREATE OR REPLACE VIEW inner_v AS SELECT a * 2 AS a FROM s")  # a change of the query
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE"}
    assert sql("SELECT * FROM elsewhere.m") == [[8]]
    sql("INSERT INTO s VALUES (10, 'z')")
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE"}
    sql("DROP VIEW inner_v")
    err = tidegate("run", status=3).stderr
    assert "inner_v" in err and "view main.default.v:1:" in err


def test_the_zone_of_a_view_holds_in_a_pipeline(tidegate, sql):
    sql("CREATE VIEW v AS SELECT TIMESTAMP'2024-01-01 12:00:00' AS t", "--timezone", "Europe/Lisbon")
    p = Views(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT t FROM v")
    assert "TIDEGATE_VIEW_TIME_ZONE" in tidegate("run", status=3).stderr
    assert p.run("--timezone", "Europe/Lisbon")[0] == {"m": "COMPLETE_RECOMPUTE"}


def test_owners(tidegate, sql):
    sql("CREATE VIEW v AS SELECT 1 AS a")
    p = Views(tidegate, "CREATE VIEW v AS SELECT 2 AS a")
    assert "TIDEGATE_TABLE_NOT_OWNED" in tidegate("run", status=3).stderr
    sql("DROP VIEW v")
    assert p.run() == ({}, {"v": "CREATED"})
    for text in ("DROP VIEW v", "CREATE OR REPLACE VIEW v AS SELECT 3 AS a", "DROP VIEW IF EXISTS v"):
        assert "belongs to a pipeline" in sql(text, status=1).stderr
    (tidegate.folder / "st" / "pipeline.json").unlink()
    assert "belongs to another pipeline" in tidegate("run", status=3).stderr
    assert sql("SELECT * FROM v") == [[2]]


def test_a_table_does_not_become_a_view_nor_the_reverse(tidegate, sql):
    p = Views(tidegate, "CREATE VIEW v AS SELECT 2 AS a")
    p.run()
    p.define("CREATE MATERIALIZED VIEW v AS SELECT 2 AS a")
    assert "TIDEGATE_DATASET_KIND_CHANGED" in tidegate("run", status=3).stderr
    p.define("CREATE MATERIALIZED VIEW t AS SELECT 2 AS a")
    p.run()
    p.define("CREATE VIEW t AS SELECT 2 AS a")
    assert "TIDEGATE_DATASET_KIND_CHANGED" in tidegate("run", status=3).stderr
    p.define("CREATE VIEW s AS SELECT 2 AS a")
    assert "TIDEGATE_TABLE_NOT_OWNED" in tidegate("run", status=3).stderr


@pytest.mark.parametrize(("text", "error"), [
    ("CREATE TEMPORARY VIEW t AS SELECT 1 AS a; CREATE VIEW v AS SELECT * FROM t", "INVALID_TEMP_OBJ_REFERENCE"),
    ("CREATE VIEW v AS SELECT * FROM STREAM s", "STREAMING_RELATION_FOR_PERSISTED_VIEW"),
    ("CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v", "circular"),
    ("CREATE VIEW v AS SELECT * FROM v", "circular"),
    ("CREATE VIEW v AS SELECT nothing FROM s", "UNRESOLVED_COLUMN"),
    ("CREATE VIEW v AS SELECT * FROM nothing", "TABLE_OR_VIEW_NOT_FOUND"),
    ("CREATE VIEW v (CONSTRAINT c EXPECT (a > 0)) AS SELECT a FROM s", "CONSTRAINT"),
    ("CREATE OR REPLACE VIEW v AS SELECT 1 AS a", "Write CREATE VIEW"),
    ("CREATE VIEW v AS SELECT 1 AS a; CREATE MATERIALIZED VIEW v AS SELECT 1 AS a", "PIPELINE_DUPLICATE_IDENTIFIERS"),
    ("CREATE VIEW v AS SELECT 1 AS a; CREATE FLOW f AS INSERT INTO v BY NAME REPLACE WHERE a > 0 SELECT 1 AS a",
     "cannot write the view"),
])
def test_what_a_view_of_a_pipeline_may_not_be(tidegate, sql, text, error):
    assert sql
    p = Views(tidegate, text)
    for command in ("dry-run", "run"):
        assert error in tidegate(command, status=3).stderr
    assert not p.file().exists()


def test_nothing_is_published_when_something_is_wrong(tidegate, sql):
    assert sql
    p = Views(tidegate, "CREATE VIEW v AS SELECT 1 AS a; CREATE MATERIALIZED VIEW m AS SELECT nothing FROM s")
    tidegate("run", status=3)
    assert not p.file().exists()


def test_selection_and_parameters(tidegate, sql):
    p = Views(tidegate, "CREATE VIEW v AS SELECT :x AS a, '${x}' AS b; CREATE VIEW w AS SELECT 1 AS a;"
                        "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    assert p.run("--refresh", "m", "--param", "x=1")[1] == {}
    assert p.run("--refresh", "main.default.v", "--param", "x=o")[1] == {"v": "CREATED"}
    assert sql("SELECT * FROM v") == [["o", "o"]]
    assert p.run("--param", "x=q")[1] == {"v": "REPLACED", "w": "CREATED"}
    assert p.run("--schema", "dev", "--param", "x=q")[1] == {"v": "CREATED", "w": "CREATED"}
    assert sql("SELECT * FROM dev.v") == [["q", "q"]]


def test_column_lists_of_temporary_views_hold_too(tidegate, sql):
    assert sql
    p = Views(tidegate, "CREATE TEMPORARY VIEW v (x, y) AS SELECT a, b FROM s; CREATE MATERIALIZED VIEW m AS SELECT x FROM v")
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE"}
    p.define("CREATE TEMPORARY VIEW v (y, x) AS SELECT a, b FROM s; CREATE MATERIALIZED VIEW m AS SELECT x FROM v")
    assert p.run()[0] == {"m": "COMPLETE_RECOMPUTE"}
