# SPDX-License-Identifier: Apache-2.0
"""Parameters: --param, `parameters` and `configuration` of the spec, :name and ${name} in source files."""
import ctypes
import json
import os

import deltalake
import pytest

FLOW = "CREATE STREAMING TABLE m FLOW REPLACE WHERE d >= :from BY NAME SELECT d, n, :tag AS tag FROM s WHERE n > {}"
ROWS = "CREATE TABLE s AS SELECT DATE'2024-01-01' AS d, 1 AS n UNION ALL SELECT DATE'2024-01-03', 5"


class Params:
    def __init__(self, tidegate, sql, **keys):
        self.tidegate, self.folder = tidegate, tidegate.folder
        (self.folder / "t").mkdir()
        self.define(sql)
        self.spec(**keys)
        tidegate("sql", "-e", ROWS)

    def define(self, sql):
        (self.folder / "t" / "a.sql").write_text(sql)

    def spec(self, **keys):
        (self.folder / "spark-pipeline.yml").write_text(json.dumps({
            "name": "p", "storage": "st", "libraries": [{"glob": {"include": "t/**"}}],
            "tidegate": {"warehouse": "wh"}, **keys}))

    def run(self, *params, status=0, command="run"):
        words = [word for param in params for word in ("--param", param)]
        return self.tidegate(command, "--json", *words, status=status)

    def flow(self, *params, command="run"):
        return json.loads(self.run(*params, command=command).stdout.splitlines()[-1])["flows"][0]

    def event(self, *params, command="run"):
        for line in self.run(*params, command=command).stdout.splitlines():
            event = json.loads(line)
            if event.get("event_type") == "create_update":
                return event["details"]["create_update"]
        raise AssertionError("no create_update")

    def rows(self):
        out = self.tidegate("sql", "--format", "rows", "-e", "SELECT * FROM m ORDER BY d").stdout
        return [json.loads(line) for line in out.splitlines()[1:]]


def test_values_come_from_the_command_line_then_the_spec(tidegate):
    p = Params(tidegate, FLOW.format(":least"), parameters={"from": "2024-01-02", "tag": "spec"},
               configuration={"least": "2", "tag": "configuration"})
    p.run()
    assert p.rows() == [["2024-01-03", 5, "spec"]]
    assert p.flow("tag=given", "least=0", "from=2024-01-01")["technique"] == "COMPLETE_REPLACE_WHERE"
    assert p.rows() == [["2024-01-01", 1, "given"], ["2024-01-03", 5, "given"]]


def test_another_value_is_another_query_and_the_same_is_no_op(tidegate):
    p = Params(tidegate, FLOW.format(2))
    values = ("from=2024-01-01", "tag=a")
    p.run(*values)
    flow = p.flow(*reversed(values))
    assert (flow["technique"], flow["committed_version"]) == ("NO_OP", None)
    flow = p.flow("from=2024-01-01", "tag=b")
    assert flow["fallback_reasons"] == ["QUERY_FINGERPRINT_CHANGED"]
    assert p.rows() == [["2024-01-03", 5, "b"]]
    # The predicate is no part of the query: a narrower window is covered already.
    flow = p.flow("from=2024-01-02", "tag=b")
    assert (flow["technique"], flow["window"]) == ("NO_OP", "d >= DATE'2024-01-02'")


@pytest.mark.parametrize("value", [
    "o'x", "' OR 1 = 1 --", "\\", "\\'", '"', ";", "*/", "${tag}", ":tag", "é€😀", "", "a=b=c", "NULL", "%s", "line\nline",
])
def test_a_value_is_never_text_of_the_statement(tidegate, value):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01"})
    p.run(f"tag={value}")
    assert p.rows() == [["2024-01-03", 5, value]]
    assert p.flow(f"tag={value}")["technique"] == "NO_OP"
    assert p.event(f"tag={value}")["parameters"] == {"from": "2024-01-01", "tag": value}


def test_a_value_in_a_predicate_is_no_text_either(tidegate):
    sql = "CREATE STREAMING TABLE m FLOW REPLACE WHERE tag = :tag BY NAME SELECT d, n, 'x' AS tag FROM s"
    p = Params(tidegate, sql)
    p.run("tag=x")
    p.run("tag=y' OR tag = 'x")
    assert len(p.rows()) == 2  # the second window holds no row, and takes none away


@pytest.mark.parametrize("sql", [
    "SELECT n FROM s WHERE n IN (:v, 7)",
    "SELECT n FROM s WHERE n BETWEEN :v AND :v",
    "SELECT n FROM (SELECT n FROM s WHERE n = :v) AS q",
    "WITH q AS (SELECT n FROM s WHERE n = :v) SELECT n FROM q",
    "SELECT n FROM s WHERE EXISTS (SELECT 1 FROM s AS i WHERE i.n = s.n AND i.n = :v)",
    "SELECT s.n FROM s JOIN s AS o ON s.n = o.n AND o.n = :v",
    "SELECT n FROM s GROUP BY n HAVING n = :v",
    "SELECT n FROM s WHERE CASE WHEN n = :v THEN true ELSE false END",
    "SELECT n FROM s WHERE n = :v UNION ALL SELECT n FROM s WHERE n = -1 * :v::int",
    "SELECT n FROM s WHERE concat(n, '') LIKE :v",
    "SELECT n FROM s WHERE array_contains(array(CAST(:v AS INT)), n)",
    "SELECT n FROM s, (SELECT CAST(:`v` AS INT) AS x) AS v2 WHERE n = v2.x",
    "SELECT n FROM s ORDER BY n DESC LIMIT CAST(:one AS INT)",
])
def test_markers_may_stand_wherever_a_value_may(tidegate, sql):
    p = Params(tidegate, f"CREATE MATERIALIZED VIEW m AS {sql}", parameters={"one": "1"})
    p.run(*(["v=5"] if "one" not in sql else []))
    out = tidegate("sql", "--format", "rows", "-e", "SELECT count(*), max(n) FROM m").stdout.splitlines()[1]
    assert json.loads(out) == [1, 5]


def test_markers_in_views(tidegate):
    p = Params(tidegate, "CREATE TEMPORARY VIEW v AS SELECT n FROM s WHERE n = :v;\n"
                         "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM v")
    p.run("v=5")
    assert p.flow("v=5")["technique"] == "NO_OP"
    assert p.flow("v=6")["technique"] == "COMPLETE_RECOMPUTE"


def test_what_has_no_value_is_told_at_its_place(tidegate):
    p = Params(tidegate, FLOW.format(":least"), parameters={"form": "2024-01-01"})
    err = p.run("tag=x", status=3).stderr
    assert err.count("UNBOUND_SQL_PARAMETER") == 2
    assert "t/a.sql:1:50" in err and "Did you mean :form?" in err
    assert "--param least=VALUE" in err
    assert not (tidegate.folder / "st").exists()


def test_what_is_not_known_is_told_with_the_nearest_name(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01", "tag": "x"})
    for command in ("run", "dry-run", "plan"):
        err = p.run("form=2024-01-02", status=3, command=command).stderr
        assert "[TIDEGATE_UNKNOWN_PARAMETER] parameter `form` of --param is not known" in err
        assert "Did you mean `from`?" in err
    err = p.run("completely=1", status=3).stderr
    assert ":completely or ${completely}" in err
    done = tidegate("intervals", "m", "--param", "form=1", status=3)
    assert "TIDEGATE_UNKNOWN_PARAMETER" in done.stderr


def test_where_files_do_not_parse_nothing_is_called_unknown(tidegate):
    p = Params(tidegate, FLOW.format(2).replace("SELECT", "SELEKT"), parameters={"from": "2024-01-01", "tag": "x"})
    err = p.run("other=1", status=3).stderr
    assert "PARSE_SYNTAX_ERROR" in err and "PARAMETER]" not in err


def test_what_nobody_uses_is_a_note(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01", "tag": "x", "old": "1"})
    done = p.run()
    assert "warning: [TIDEGATE_UNUSED_PARAMETER] no source file uses the parameter `old`" in done.stderr
    assert "spark-pipeline.yml:1:" in done.stderr
    done = p.run("old=2")
    assert done.stderr.count("UNUSED_PARAMETER") == 1


def test_text_variables_take_values_too(tidegate):
    sql = "CREATE MATERIALIZED VIEW m AS SELECT n AS d FROM ${table} WHERE n > ${least}"
    p = Params(tidegate, sql, configuration={"table": "nothing"})
    p.run("table=s", "least=2")
    assert p.rows() == [[5]]
    assert p.event("table=s", "least=2")["config"]["configuration"] == {"table": "s"}
    err = p.run("table=s", status=3).stderr
    assert "no value for ${least}" in err and "--param least=VALUE" in err
    p.spec(configuration={"table": "s"}, parameters={"least": "2"})
    assert "write :least" in p.run(status=3).stderr  # a parameter is a value, never text


def test_a_setting_of_spark_is_obeyed_or_refused(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01", "tag": "x"})
    assert "spark.sql.ansi.enabled" in p.run("spark.sql.ansi.enabled=false", status=3).stderr
    p.run("spark.sql.ansi.enabled=true")


@pytest.mark.parametrize(("params", "text"), [
    (["tag"], "is not NAME=VALUE"), (["=x"], "is not NAME=VALUE"), ([" =x"], "is not NAME=VALUE"),
    (["tag=a", "tag=b"], "parameter `tag` is given twice"), (["tag=a", "tag=a"], "given twice"),
])
def test_wrong_options_are_usage_errors(tidegate, params, text):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01"})
    assert text in p.run(*params, status=2).stderr


def test_limits(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01"})
    assert "LIMIT_EXCEEDED" in p.run("tag=" + "x" * 10001, status=3).stderr
    p.spec(parameters={"tag": "x" * 10001})
    assert "LIMIT_EXCEEDED" in p.run(status=3).stderr
    p.spec(parameters={"tag": 1})
    assert "PIPELINE_SPEC_DICT_VALUE_NOT_STRING" in p.run(status=3).stderr
    p.spec(parameters=["tag"])
    assert "PIPELINE_SPEC_FIELD_NOT_DICT" in p.run(status=3).stderr


def test_bytes_that_are_no_text_are_refused(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01"})
    assert "not valid UTF-8" in p.run(b"tag=\xff".decode("utf-8", "surrogateescape"), status=2).stderr


@pytest.mark.parametrize("value", ["someday", "2024-13-01", "", "2024-01-01x"])
def test_a_predicate_of_a_value_that_is_no_date_is_refused(tidegate, value):
    p = Params(tidegate, FLOW.format(2), parameters={"tag": "x"})
    err = p.run(f"from={value}", status=3).stderr
    assert f"[CAST_INVALID_INPUT] the value '{value}' of the type STRING cannot be cast to DATE" in err
    assert "t/a.sql:1:50" in err
    assert not (tidegate.folder / "wh" / "main" / "default" / "m").exists()


def test_other_forms_are_refused_by_name(tidegate):
    p = Params(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT * FROM IDENTIFIER(:t)")
    err = p.run("t=s", status=3).stderr
    assert "IDENTIFIER of a parameter" in err and "${key}" in err
    p.define("CREATE MATERIALIZED VIEW m AS SELECT ? AS a")
    assert "Write :name" in p.run(status=3).stderr
    assert "source files of a pipeline" in tidegate("sql", "-e", "SELECT :a", status=1).stderr


def test_intervals_and_plan_take_them(tidegate):
    p = Params(tidegate, FLOW.format(2), parameters={"tag": "x"})
    p.run("from=2024-01-01")
    done = tidegate("intervals", "m", "--json", "--param", "from=2024-01-01")
    assert [i["status"] for i in json.loads(done.stdout)["intervals"]] == ["COVERED"]
    assert p.flow("from=2024-01-01", command="plan")["technique"] == "NO_OP"
    assert p.flow("from=2024-01-01", "tag=y", command="plan")["technique"] == "COMPLETE_REPLACE_WHERE"
    assert deltalake.DeltaTable(str(tidegate.folder / "wh/main/default/m")).version() == 0


class Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Request(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dry_run", ctypes.c_int), ("refresh", ctypes.c_void_p),
                ("refresh_count", ctypes.c_size_t), ("on_event", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("overrides", ctypes.c_void_p), ("override_count", ctypes.c_size_t),
                ("full_refresh", ctypes.c_void_p), ("full_refresh_count", ctypes.c_size_t), ("full_refresh_all", ctypes.c_int),
                ("allow_reset", ctypes.c_void_p), ("allow_reset_count", ctypes.c_size_t),
                ("allow_shrink", ctypes.c_int), ("allow_clock_back", ctypes.c_int),
                ("parameters", ctypes.POINTER(Parameter)), ("parameter_count", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("spec", "warehouse", "now", "timezone", "catalog", "schema")]
    _fields_.insert(0, ("struct_size", ctypes.c_size_t))


def test_the_library_takes_them(tidegate, library_path):
    p = Params(tidegate, FLOW.format(2), parameters={"from": "2024-01-01"})
    library = ctypes.CDLL(library_path)
    session, failure, summary = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    for options_size in (ctypes.sizeof(Options), Options.catalog.offset):
        options = Options(struct_size=options_size, spec=os.fsencode(tidegate.folder / "spark-pipeline.yml"))
        assert library.tg_session_open(ctypes.byref(options), ctypes.byref(session), ctypes.byref(failure)) == 0
        parameters = (Parameter * 1)(Parameter(b"tag", b"o'x"))
        request = Request(struct_size=ctypes.sizeof(Request), parameters=parameters, parameter_count=1)
        status = library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), ctypes.byref(failure))
        library.tg_failure_text.restype = ctypes.c_char_p
        assert status == 0, failure.value and library.tg_failure_text(failure)
        assert p.rows() == [["2024-01-03", 5, "o'x"]]
        request.struct_size = Request.parameters.offset  # an older program: :tag has no value
        status = library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), ctypes.byref(failure))
        assert status == 3
        library.tg_session_close(session)


def test_the_library_takes_an_environment(tidegate, library_path):
    Params(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    library = ctypes.CDLL(library_path)
    session, failure, summary = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    options = Options(struct_size=ctypes.sizeof(Options), schema=b"dev",
                      spec=os.fsencode(tidegate.folder / "spark-pipeline.yml"))
    assert library.tg_session_open(ctypes.byref(options), ctypes.byref(session), ctypes.byref(failure)) == 0
    request = Request(struct_size=ctypes.sizeof(Request))
    status = library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), ctypes.byref(failure))
    assert status == 0
    assert (tidegate.folder / "wh/main/dev/m/_delta_log").is_dir()
    library.tg_session_close(session)
