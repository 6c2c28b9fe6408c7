# SPDX-License-Identifier: Apache-2.0
"""Wrong input: the exit status, the class of the error, and that nothing was written."""
import os
import pathlib
import re
import resource
import shutil
import subprocess

import deltalake
import pyarrow as pa
import pytest
from project import SPEC, Project

GOOD = "CREATE STREAMING TABLE t FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM s;"
FLOW = "CREATE FLOW {} AS INSERT INTO t BY NAME REPLACE WHERE a > 1 SELECT a FROM s;"
PROPERTIES = "CREATE STREAMING TABLE t TBLPROPERTIES ({}) FLOW REPLACE WHERE a > 1 BY NAME SELECT a FROM s;"
VIEW = "CREATE MATERIALIZED VIEW {} AS SELECT a FROM {};"
NOT_BOOLEAN = "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN]"
NO_COLUMN = "[UNRESOLVED_COLUMN.WITH_SUGGESTION]"
SYNTAX = "[PARSE_SYNTAX_ERROR]"
CYCLE = "[CircularDependencyException]"
STREAM = "[REPLACE_WHERE_WITH_STREAMING_SOURCE]"
LIMIT = "[TIDEGATE_LIMIT_EXCEEDED]"
OPTION = "[TIDEGATE_INVALID_OPTION]"
DAMAGED = "[TIDEGATE_DELTA_LOG_INVALID]"


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def project_of(tidegate, sql, spec=SPEC):
    project = Project(tidegate)
    put(project.folder / "transformations/bad.sql", sql)
    put(project.folder / "spark-pipeline.yml", spec)
    project.write("s", pa.schema([("a", pa.int32())]), [(1,), (2,)])
    return project


def files(folder):
    return {path: path.stat().st_mtime_ns if path.is_file() else None for path in folder.rglob("*")}


def refused(project, tidegate, status, *errors, arguments=("run",), keeps=None):
    """keeps: the folder that must stay as it is, to the file; default: the warehouse. An update that began leaves its events."""
    folder = keeps or project.folder / "warehouse"
    before = files(folder)
    done = tidegate(*arguments, status=status)
    for error in errors:
        assert error in done.stderr
    assert files(folder) == before
    return done


@pytest.mark.parametrize("sql, error", [
    (GOOD.replace("FROM s", "FROM absent"), "[TABLE_OR_VIEW_NOT_FOUND]"),
    (GOOD.replace("SELECT a", "SELECT absent AS a"), NO_COLUMN),
    (GOOD.replace("a > 1", "absent > 1"), NO_COLUMN),
    (GOOD.replace("a > 1", "a + 1"), NOT_BOOLEAN),
    (GOOD.replace("a > 1", "a"), NOT_BOOLEAN),
    (GOOD.replace("a > 1", "'x'"), NOT_BOOLEAN),
    (GOOD.replace("a > 1", "sum(a) > 1"), "[INVALID_WHERE_CONDITION]"),
    (GOOD.replace("a > 1", "row_number() OVER (ORDER BY a) > 1"), "[INVALID_WHERE_CONDITION]"),
    (GOOD.replace("a > 1", "a > (SELECT max(a) FROM s)"), "[UNSUPPORTED_FEATURE]"),
    (GOOD.replace("a > 1", ""), SYNTAX),
    (GOOD.replace("a > 1", "a > 1 AND"), SYNTAX),
    ("CREATE STREAMING TABLE t;" + FLOW.format("f") + FLOW.format("g"), "[UNSUPPORTED_FEATURE.MULTI_FLOW_REPLACE_WHERE_TARGET]"),
    ("CREATE STREAMING TABLE t;" + FLOW.format("f") + FLOW.format("f"), "[PIPELINE_DUPLICATE_IDENTIFIERS.FLOW]"),
    (GOOD + GOOD, "[PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT]"),
    ("CREATE STREAMING TABLE t;", "[PIPELINE_DATASET_WITHOUT_FLOW]"),
    (GOOD.replace("FROM s", "FROM t"), CYCLE),
    (VIEW.format("v", "w") + VIEW.format("w", "v"), CYCLE),
    (VIEW.format("v", "w") + VIEW.format("w", "x") + VIEW.format("x", "v"), CYCLE),
    ("CREATE TEMPORARY VIEW v AS SELECT a FROM w;" + VIEW.format("w", "v"), CYCLE),
    (GOOD.replace("FROM s", "FROM STREAM(s)"), STREAM),
    (GOOD.replace("FROM s", "FROM STREAM s"), STREAM),
    (GOOD.replace("SELECT a FROM s", "SELECT s.a FROM s JOIN STREAM s AS z ON s.a = z.a"), STREAM),
    ("CREATE TEMPORARY VIEW v AS SELECT a FROM STREAM s;" + GOOD.replace("FROM s", "FROM v"), STREAM),
    (GOOD.replace("a > 1", "(" * 5000 + "a > 1" + ")" * 5000), LIMIT),
    ("", "[RUN_EMPTY_PIPELINE]"),
    ("-- nothing\n/* at all */ ;;", "[RUN_EMPTY_PIPELINE]"),
    ("/* open", "[UNCLOSED_BRACKETED_COMMENT]"),
    ("SELECT 'open", SYNTAX),
    (GOOD.replace("a > 1", "a > 1 AND 'x\udcff' = 'x'").encode(errors="surrogateescape"), SYNTAX),
    (b"-- \xff\n" + GOOD.encode(), SYNTAX),
    (GOOD.encode("utf-16"), SYNTAX),
])
def test_sql(tidegate, sql, error):
    project = project_of(tidegate, sql)
    refused(project, tidegate, 3, error)
    refused(project_again(project), tidegate, 3, error, arguments=["dry-run"], keeps=project.folder)


def project_again(project):
    """As if it had never run."""
    shutil.rmtree(project.folder / "pipeline-storage", ignore_errors=True)
    return project


def test_misspelt_view(tidegate):
    refused(project_of(tidegate, VIEW.format("v", "s").replace("VIEW", "VEIW")), tidegate, 3, SYNTAX, "Did you mean VIEW?")


def test_nul_in_sql_gives_no_advice_about_something_else(tidegate):
    done = refused(project_of(tidegate, GOOD.replace("a > 1", "a > 1\0")), tidegate, 3, SYNTAX, "NUL")
    assert "BY NAME is required" not in done.stderr


@pytest.mark.parametrize("wrong, right", [
    ("STREAMIN TABLE", "STREAMING"), ("STREAMING TABL", "TABLE"), ("REPLAC WHERE", "REPLACE"), ("REPLACE WHER", "WHERE"),
])
def test_misspelt_words_are_named(tidegate, wrong, right):
    sql = re.sub(wrong.split()[0] + "[A-Z]* " + wrong.split()[1] + "[A-Z]*", wrong, GOOD)
    assert sql != GOOD
    refused(project_of(tidegate, sql), tidegate, 3, SYNTAX, f"Did you mean {right}?")


@pytest.mark.parametrize("properties, error, hint", [
    ("'delta.apendOnly' = 'true'", "[DELTA_UNKNOWN_CONFIGURATION]", "`delta.appendOnly`"),
    ("'delta.checkpointIntervall' = '3'", "[DELTA_UNKNOWN_CONFIGURATION]", "`delta.checkpointInterval`"),
    ("'pipelines.reset.alowed' = 'true'", "[TIDEGATE_UNKNOWN_TABLE_PROPERTY]", "`pipelines.reset.allowed`"),
    ("'pipelines.reset.allowed' = 'maybe'", "[TIDEGATE_INVALID_TABLE_PROPERTY]", "`maybe`"),
    ("'tidegate.nothing' = '1'", "[TIDEGATE_UNKNOWN_TABLE_PROPERTY]", "`tidegate.nothing`"),
])
def test_properties(tidegate, properties, error, hint):
    project = project_of(tidegate, PROPERTIES.format(properties))
    refused(project, tidegate, 3, error, hint, keeps=project.folder)


@pytest.mark.parametrize("line, error, hint", [
    ("warehous: x", "[PIPELINE_SPEC_UNEXPECTED_FIELD]", "`warehouse`"),
    ("timezon: UTC", "[PIPELINE_SPEC_UNEXPECTED_FIELD]", "`timezone`"),
    ("thread: 1", "[PIPELINE_SPEC_UNEXPECTED_FIELD]", "`threads`"),
    ("tables: {a: {paht: x}}", "[PIPELINE_SPEC_UNEXPECTED_FIELD]", "`path`"),
    ("tables: {a: {path: x, format: deltta}}", "[TIDEGATE_INVALID_SPEC_VALUE]", "`delta`"),
    ("engine: duckbd", "[TIDEGATE_INVALID_SPEC_VALUE]", "`duckdb`"),
    ("threads: many", "[TIDEGATE_INVALID_SPEC_VALUE]", "0 to 4096"),
    ("memory_limit: lots", "[TIDEGATE_INVALID_SPEC_VALUE]", "`lots`"),
    ("timezone: Mars/Base", "[INVALID_TIMEZONE]", "Mars/Base"),
])
def test_own_keys_of_the_spec(tidegate, line, error, hint):
    project = project_of(tidegate, GOOD, SPEC + f"  {line}\n")
    refused(project, tidegate, 3, error, hint, keeps=project.folder)


@pytest.mark.parametrize("spec, error", [
    (SPEC + "libaries: []\n", "[PIPELINE_SPEC_UNEXPECTED_FIELD]"),
    (SPEC.encode() + b"# \xff\n", "[TIDEGATE_INVALID_YAML]"),
    (SPEC.encode().replace(b"e2e", b"e\xffe"), "[TIDEGATE_INVALID_YAML]"),
    (SPEC.encode().replace(b"e2e", b"e\0e"), "[TIDEGATE_INVALID_YAML]"),
    (SPEC.replace("  warehouse", "\twarehouse"), "[TIDEGATE_INVALID_YAML]"),
    ("", "[PIPELINE_SPEC_FIELD_NOT_DICT]"),
    (SPEC.replace("transformations/**", "transformations/*.sql"), "[PIPELINE_SPEC_INVALID_GLOB_PATTERN]"),
    (SPEC.replace("transformations/**", "nowhere/**"), "[RUN_EMPTY_PIPELINE]"),
])
def test_spec(tidegate, spec, error):
    project = project_of(tidegate, GOOD, spec)
    refused(project, tidegate, 3, error, keeps=project.folder)


def test_misspelt_key_of_the_spec(tidegate):
    refused(project_of(tidegate, GOOD, SPEC + "libaries: []\n"), tidegate, 3, "libaries")


def test_pattern_that_matches_no_file(tidegate):
    project = project_of(tidegate, GOOD)
    (project.folder / "transformations/bad.sql").unlink()
    refused(project, tidegate, 3, "warning: [PATH_NOT_FOUND]", "[RUN_EMPTY_PIPELINE]", keeps=project.folder)


@pytest.mark.parametrize("arguments, error", [
    (["--refesh", "t"], "Did you mean --refresh?"), (["--now", "yesterdayish"], "yesterdayish"),
    (["--timezone", "Mars/Base"], "Mars/Base"), (["--now", "2024-02-30"], OPTION), (["--now", "2024-13-01"], OPTION),
    (["--now", "2024-01-01T25:00:00"], OPTION), (["--now", "2024-01-01T00:00:00+99:00"], OPTION), (["--now", "1"], OPTION),
    (["--now", "0000-00-00"], OPTION), (["--now", "2024-01-01 12:00:00 Mars/Base"], OPTION), (["--now", ""], "empty value"),
    (["--now"], "needs a value"), (["--timezone", "+25:00"], "[INVALID_TIMEZONE]"), (["--timezone", "utc+5"], "[INVALID_TIMEZONE]"),
    (["--timezone", "../../etc/passwd"], "[INVALID_TIMEZONE]"), (["--timezone", "/etc/passwd"], "[INVALID_TIMEZONE]"),
    (["--timezone", "Europe/lisbon"], "Did you mean 'Europe/Lisbon'?"), (["--timezone", ""], "empty value"), (["t"], "unexpected argument"),
])
def test_options(tidegate, arguments, error):
    project = project_of(tidegate, GOOD)
    refused(project, tidegate, 2, error, arguments=["run", *arguments], keeps=project.folder)


@pytest.mark.parametrize("arguments, error", [
    (["rum"], "Did you mean run?"), (["dryrun"], "Did you mean dry-run?"), (["sq"], "Did you mean sql?"),
    (["--verson"], "Did you mean --version?"), (["--hlep"], "Did you mean --help?"), (["show"], "TABLE is missing"),
    (["sql", "--format", "jsn", "-e", "SELECT 1"], "Did you mean json?"), (["sql", "--keep-goin", "-e", "SELECT 1"], "Did you mean --keep-going?"),
])
def test_commands(tidegate, arguments, error):
    project = project_of(tidegate, GOOD)
    refused(project, tidegate, 2, error, arguments=arguments, keeps=project.folder)


def test_misspelt_table_to_refresh(tidegate):
    project = project_of(tidegate, GOOD)
    refused(project, tidegate, 3, "[TIDEGATE_UNKNOWN_SELECTION]", "`t`", arguments=["run", "--refresh", "tt"], keeps=project.folder)


# ---- damaged tables ----


def source_files(project, pattern):
    return list((project.folder / "warehouse/main/default/s").glob(pattern))


def test_missing_data_file(tidegate):
    project = project_of(tidegate, GOOD)
    (data,) = source_files(project, "*.parquet")
    data.unlink()
    refused(project, tidegate, 1, "[PATH_NOT_FOUND]", data.name)
    refused(project, tidegate, 1, "[PATH_NOT_FOUND]", data.name, arguments=["sql", "-e", "SELECT * FROM s"])


@pytest.mark.parametrize("change", [lambda b: b[:-9], lambda b: b"", lambda b: b"x" * len(b)], ids=["cut", "empty", "other"])
def test_damaged_data_file(tidegate, change):
    project = project_of(tidegate, GOOD)
    (data,) = source_files(project, "*.parquet")
    put(data, change(data.read_bytes()))
    refused(project, tidegate, 1, "[FAILED_READ_FILE.NO_HINT]", data.name)


LOG_DAMAGE = {
    "cut": lambda b: b[:-40], "nul": lambda b: b.replace(b'"add"', b'"a\0d"'), "nul behind": lambda b: b + b"\0\0\0\0",
    "utf-8": lambda b: b.replace(b"part-", b"p\xffrt-"), "empty": lambda b: b"", "zeros": lambda b: b"\0" * len(b),
    "words": lambda b: b"hello\n", "array": lambda b: b"[]\n", "negative": lambda b: b.replace(b'"size":', b'"size":-'),
    "joined": lambda b: b + b,
}


@pytest.mark.parametrize("kind", LOG_DAMAGE)
def test_damaged_commit(tidegate, kind):
    project = project_of(tidegate, GOOD)
    (commit,) = source_files(project, "_delta_log/*.json")
    put(commit, LOG_DAMAGE[kind](commit.read_bytes()))
    refused(project, tidegate, None, DAMAGED, commit.name)
    refused(project, tidegate, 1, DAMAGED, commit.name, arguments=["sql", "-e", "SELECT * FROM s"])
    refused(project, tidegate, 1, DAMAGED, commit.name, arguments=["sql", "-e", "INSERT INTO s VALUES (3)"])


def test_damaged_commit_of_the_target(tidegate):
    project = project_of(tidegate, GOOD)
    tidegate("run", "--now", "2024-01-01")
    log = pathlib.Path(project.path("t")) / "_delta_log"
    project.write("s", pa.schema([("a", pa.int32())]), [(5,)])
    (commit,) = log.glob("*.json")
    put(commit, commit.read_bytes()[:-40])
    done = refused(project, tidegate, None, DAMAGED, commit.name)
    assert done.returncode in (1, 3)


# ---- folders that cannot be written ----


def as_nobody(project, arguments):
    """Root may write everywhere: the program runs as somebody who may not."""
    return subprocess.run([os.environ["TIDEGATE_BIN"], *arguments], cwd=project.folder, capture_output=True, text=True,
                          timeout=120, check=False, **({"user": 65534, "group": 65534} if os.geteuid() == 0 else {}))


def test_read_only_warehouse(tidegate):
    project = project_of(tidegate, GOOD)
    for folder in [project.folder, *project.folder.parents]:  # pytest's folders are closed to others
        if folder.owner() == project.folder.owner() and folder != pathlib.Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    storage = project.folder / "pipeline-storage"
    storage.mkdir()
    storage.chmod(0o777)
    folders = [project.folder / "warehouse" / part for part in ("main/default/s/_delta_log", "main/default/s", "main/default", "main", "")]
    before = files(project.folder / "warehouse")
    for folder in folders:
        folder.chmod(0o555)
    try:
        for arguments, status in [(["run"], 1), (["sql", "-e", "INSERT INTO s VALUES (3)"], 1), (["sql", "-e", "CREATE TABLE u (a INT)"], 1),
                                  (["sql", "-e", "DROP TABLE s"], 1)]:
            done = as_nobody(project, arguments)
            assert done.returncode == status, done.stderr
            assert "[TIDEGATE_IO]" in done.stderr
            assert "Permission denied" in done.stderr
        assert as_nobody(project, ["sql", "--format", "csv", "-e", "SELECT sum(a) AS x FROM s"]).stdout == "x\n3\n"
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert files(project.folder / "warehouse") == before
    assert deltalake.DeltaTable(project.path("s")).version() == 0


@pytest.mark.parametrize("place, status, problem, words", [
    ("warehouse/main/default/t", 3, "[TIDEGATE_INVALID_VIEW]", "is not the definition of a view"),  # which a file there would be
    ("warehouse/main/default/t/_delta_log", 1, "[TIDEGATE_IO]", "_delta_log: a file is in its place")])
def test_file_in_place_of_a_folder(tidegate, place, status, problem, words):
    """An error at once: it was taken for a race against another writer, which is run again."""
    project = project_of(tidegate, GOOD)
    (project.folder / place).parent.mkdir(exist_ok=True)
    put(project.folder / place, "not a folder")
    refused(project, tidegate, status, problem, words)
    refused(project, tidegate, 1, problem, arguments=["sql", "-e", "CREATE TABLE t AS SELECT 1 AS a"])


def test_file_in_place_of_the_storage(tidegate):
    project = project_of(tidegate, GOOD)
    put(project.folder / "pipeline-storage", "not a folder")
    refused(project, tidegate, 3, "[PIPELINE_STORAGE_ROOT_INVALID]", keeps=project.folder)


# ---- large and deep ----


def select(tidegate, text, status, error=None, memory=None, timeout=300):
    put(tidegate.folder / "q.sql", text)
    done = tidegate("sql", "--warehouse", "wh", "--format", "csv", "-f", "q.sql", status=status, timeout=timeout)
    if error:
        assert error in done.stderr
        assert len(done.stderr) < 20000
    assert not (tidegate.folder / "wh").exists()
    return done.stdout


def nested(before, middle, after=""):
    return lambda n: "SELECT " + before * n + middle + after * n


DEEP = {
    "parentheses": nested("(", "1", ")"), "not": nested("NOT ", "true"), "minus": nested("- ", "1"), "tilde": nested("~", "1"),
    "case": nested("CASE WHEN true THEN ", "1", " END"), "else": nested("CASE WHEN false THEN 0 ELSE ", "1", " END"),
    "from": lambda n: "SELECT * FROM " + "(SELECT * FROM " * n + "(SELECT 1 AS a)" + ")" * n,
    "scalar": nested("(SELECT ", "1", ")"), "exists": nested("EXISTS (SELECT ", "1", ")"), "in": nested("1 IN (", "1", ")"),
    "array": nested("array(", "1", ")"), "call": nested("abs(", "1", ")"), "cast": nested("CAST(", "1", " AS INT)"),
    "colons": nested("", "1" + "::INT" * 50000), "array type": lambda n: "SELECT CAST(NULL AS " + "ARRAY<" * n + "INT" + ">" * n + ")",
    "struct type": lambda n: "SELECT CAST(NULL AS " + "STRUCT<a:" * n + "INT" + ">" * n + ")",
    "index": lambda n: "SELECT a" + "[0]" * n + " FROM (SELECT array(1) AS a)", "plus": lambda n: "SELECT 1" + "+1" * n,
    "concat": lambda n: "SELECT 'a'" + "||'a'" * n, "with": lambda n: "WITH c AS (" * n + "SELECT 1" + ") SELECT 1" * n,
    "union": lambda n: "SELECT 1" + " UNION ALL SELECT 1" * n, "lambda": nested("transform(array(1), x -> ", "1", ")"),
    "tables": lambda n: "SELECT 1 FROM " + "(" * n + "VALUES (1)" + ")" * n, "if": nested("if(true,", "1", ",2)"),
    "joins": lambda n: "SELECT 1 FROM (VALUES (1)) t" + "".join(f" CROSS JOIN (VALUES (1)) t{i}" for i in range(n)),
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting(tidegate, kind):
    """Far too deep is refused before it is a danger to the stack."""
    select(tidegate, DEEP[kind](50000), 1, LIMIT)


@pytest.mark.parametrize("sql", [
    DEEP["scalar"](30), DEEP["exists"](30), DEEP["lambda"](30), "SELECT sum(a) AS a FROM (" * 30 + "SELECT 1 AS a" + ")" * 30,
    "SELECT CAST(" + "array(" * 20 + "1" + ")" * 20 + " AS STRING)", DEEP["struct type"](390), DEEP["joins"](390),
    "SELECT concat(" + ", ".join(["'a'"] * 5000) + ")",
], ids=["scalar", "exists", "lambda", "aggregate", "text of arrays", "struct type", "joins", "arguments"])
def test_nesting_that_the_engine_cannot_bear(tidegate, sql):
    """DuckDB takes twice the time for each level of the first ones, and has a limit of its own for the others."""
    select(tidegate, sql, 1, LIMIT, timeout=60)


def test_depth_that_is_fine(tidegate):
    for kind in ("parentheses", "not", "minus", "case", "else", "array", "cast", "if", "plus", "from"):
        assert select(tidegate, DEEP[kind](100), 0)
    for sql in (DEEP["scalar"](12), DEEP["exists"](12), DEEP["lambda"](12), "SELECT sum(a) AS a FROM (" * 12 + "SELECT 1 AS a" + ")" * 12):
        assert select(tidegate, sql, 0)


MEGABYTE = 1024 * 1024


@pytest.mark.parametrize("text, error", [
    ("SELECT 1" + " " * 17 * MEGABYTE, LIMIT), ("SELECT 1 AS " + "x" * 10 * MEGABYTE, LIMIT),
    ("SELECT " + "9" * 10 * MEGABYTE, "[DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION]"),
    ("SELECT " + "(" * 10 * MEGABYTE, LIMIT), ("/*" * 5 * MEGABYTE, "[UNCLOSED_BRACKETED_COMMENT]"),
], ids=["17 MB", "name", "digits", "parentheses", "comments"])
def test_large_texts_that_are_refused(tidegate, text, error):
    select(tidegate, text, None, error)


def test_large_texts_that_work(tidegate):
    assert select(tidegate, "SELECT 1 AS a" + " " * 10 * MEGABYTE, 0) == "a\n1\n"
    assert select(tidegate, "SELECT length('" + "x" * 10 * MEGABYTE + "') AS a", 0) == f"a\n{10 * MEGABYTE}\n"


@pytest.mark.skipif("TIDEGATE_SANITIZE" in os.environ, reason="takes minutes with sanitizers")
def test_list_of_ten_megabytes(tidegate):
    """In less than 4 GB, engine and its results included."""
    numbers = ",".join(map(str, range(1_450_000)))
    assert len(numbers) > 9.5 * MEGABYTE
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert select(tidegate, f"SELECT count(*) AS n FROM (SELECT 5 AS a) WHERE a IN ({numbers})", 0) == "n\n1\n"
    assert max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) < 4 * 1024 * 1024


@pytest.mark.parametrize("source, problem", [
    ("STREAM(s)", STREAM), ("s VERSION AS OF 0", "[UNSUPPORTED_FEATURE]"), ("a.b.c.d", "[IDENTIFIER_TOO_MANY_NAME_PARTS]")])
def test_a_source_that_is_refused_is_told_once(tidegate, source, problem):
    project = project_of(tidegate, GOOD.replace("FROM s", f"FROM {source}"))
    done = tidegate("dry-run", status=3)
    assert [line.split()[0] for line in done.stderr.splitlines() if line.startswith("[")] == [problem]
    assert not pathlib.Path(project.path("t")).exists()


def test_a_source_whose_newest_commit_file_is_gone(tidegate):
    """Only a checkpoint tells of its newest version: there is a table, but nothing to know it by later."""
    project = project_of(tidegate, GOOD)
    deltalake.DeltaTable(project.path("s")).create_checkpoint()
    (pathlib.Path(project.path("s")) / "_delta_log" / "00000000000000000000.json").unlink()
    done = tidegate("run", status=3)
    assert "[DELTA_LOG_FILE_NOT_FOUND]" in done.stderr and "TABLE_OR_VIEW_NOT_FOUND" not in done.stderr
    assert "transformations/bad.sql:1:" in done.stderr
    assert tidegate("sql", "-e", "SELECT count(*) FROM s", "--format", "rows").stdout.splitlines()[-1] == "[2]"
