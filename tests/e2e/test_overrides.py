# SPDX-License-Identifier: Apache-2.0
"""Overrides: another predicate for one update only, from options, files and the library; and every way to get one wrong."""
import ctypes
import datetime as dt
import json

import pyarrow as pa
import pytest
from project import Project
from simulator import Target, multiset

SCHEMA = pa.schema([("d", pa.date32()), ("region", pa.string()), ("v", pa.int64())])
QUERY = "SELECT d, region, sum(v) AS v FROM s GROUP BY ALL"
DEFINITION = "CREATE STREAMING TABLE t FLOW REPLACE WHERE d >= current_date() - 1 BY NAME\n" + QUERY + ";\n"
VIEW = "CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM s;\n"
NOW = "2024-03-10"


def day(number):
    return dt.date(2024, 3, number)


def source(value):
    return [(day(n), region, value) for n in range(5, 11) for region in ("asia", "europe", None)] + [(None, "asia", value)]


class Both:
    """A pipeline and what must come of it."""

    def __init__(self, tidegate, definition=DEFINITION, query=QUERY):
        self.project = Project(tidegate, t=definition)
        self.query = query.replace("sum(v)", "CAST(sum(v) AS BIGINT)")
        self.target = Target(self.query, "d >= {now} - 1")
        self.project.write("s", SCHEMA, source(1))

    def refresh(self, *arguments, predicate=None):
        """Updates both and compares; predicate: of this update only, in DuckDB's words."""
        flow = self.project.run(NOW, *arguments)["flows"][0]
        declared, self.target.predicate = self.target.predicate, predicate or self.target.predicate
        self.target.refresh(self.project.sources, NOW)
        self.target.predicate = declared
        assert flow["status"] == "COMPLETED"
        assert multiset(self.project.delta_rs("t")) == self.target.multiset()
        assert multiset(self.project.polars("t")) == self.target.multiset()
        return flow


def test_an_override_holds_for_one_update(tidegate):
    both = Both(tidegate)
    both.refresh()
    both.project.write("s", SCHEMA, source(2))
    flow = both.refresh("--replace-where", "t=d = '2024-03-06' AND region = 'asia'",
                        predicate="d = '2024-03-06' AND region = 'asia'")
    assert flow["technique"] == "COMPLETE_REPLACE_WHERE"
    assert flow["fallback_reasons"] == ["REPLACE_WHERE_BACKFILL"]
    assert flow["window"] == "(d = DATE'2024-03-06') AND (region = 'asia')"
    assert flow["pieces"] == [{"where": flow["window"], "treatment": "RECOMPUTE", "reason": "REPLACE_WHERE_BACKFILL"}]
    # The declared window is still what it was before the source changed: it is brought up to date now.
    assert both.refresh()["window"] == "d >= DATE'2024-03-09'"
    assert both.refresh()["technique"] == "NO_OP"


def test_an_override_is_recomputed_even_where_nothing_changed(tidegate):
    both = Both(tidegate)
    both.refresh()
    for _ in range(2):
        flow = both.refresh("--replace-where", "main.default.t=d >= current_date()", predicate="d >= {now}")
        assert flow["fallback_reasons"] == ["REPLACE_WHERE_BACKFILL"]
    assert both.refresh()["technique"] == "NO_OP"


def test_the_piece_of_an_override_is_found_again(tidegate):
    both = Both(tidegate)
    both.refresh()
    both.refresh("--replace-where", "t=d BETWEEN '2024-03-05' AND '2024-03-08'",
                 predicate="d BETWEEN '2024-03-05' AND '2024-03-08'")
    assert both.refresh()["technique"] == "NO_OP"
    wider = DEFINITION.replace("current_date() - 1", "current_date() - 5")
    (both.project.folder / "transformations" / "t.sql").write_text(wider)
    both.target.predicate = "d >= {now} - 5"
    assert both.refresh()["technique"] == "NO_OP"


def test_a_new_table_may_begin_with_an_override(tidegate):
    both = Both(tidegate)
    both.refresh("--replace-where", "t=d < '2024-03-07'", predicate="d < '2024-03-07'")
    both.refresh()


def test_an_override_may_be_qualified_as_the_predicate_may(tidegate):
    both = Both(tidegate, DEFINITION.replace("v) AS v FROM s", "v) AS v FROM s AS x"))
    both.refresh()
    both.refresh("--replace-where", "t=x.d = '2024-03-05'", predicate="d = '2024-03-05'")
    assert "INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION" in refusal(both.project, "--replace-where", "t=y.d = '2024-03-05'")


def test_the_file_has_the_shape_of_the_request(tidegate):
    both = Both(tidegate, DEFINITION + VIEW)
    both.refresh("--refresh", "t")
    (tidegate.folder / "o.json").write_text(json.dumps(
        [{"flow_name": "main.default.t", "predicate_override": "d = '2024-03-05'\n  OR region IS NULL"}]))
    both.refresh("--refresh", "t", "--replace-where-overrides", "o.json", predicate="d = '2024-03-05' OR region IS NULL")
    (tidegate.folder / "o.json").write_text("[]")
    assert both.refresh("--refresh", "t", "--replace-where-overrides", "o.json")["technique"] == "NO_OP"


def test_the_event_log_tells_the_override(tidegate):
    both = Both(tidegate)
    lines = tidegate("run", "--now", NOW, "--json", "--replace-where", "t=d = '2024-03-06'").stdout.splitlines()
    events = [json.loads(line) for line in lines[:-1]]
    created = next(e for e in events if e["event_type"] == "create_update")
    assert created["details"]["create_update"]["replace_where_overrides"] == [
        {"flow_name": "t", "predicate_override": "d = '2024-03-06'"}]
    planned = next(e for e in events if e["event_type"] == "planning_information")["details"]["planning_information"]
    issue = planned["technique_information"][0]["incrementalization_issues"][0]
    assert (issue["issue_type"], issue["legacy_issue_type"]) == ("REPLACE_WHERE_BACKFILL", "UNSUPPORTED_REPLACE_WHERE_PREDICATE")
    defined = next(e for e in events if e["event_type"] == "flow_definition")["details"]["flow_definition"]
    assert defined["replace_where"] == "d >= current_date() - 1"
    assert both.project.version("t") == 0


def test_a_dry_run_takes_overrides_and_writes_nothing(tidegate):
    both = Both(tidegate)
    shown = tidegate("dry-run", "--now", NOW, "--explain", "--replace-where", "t=d = '2024-03-06'").stdout
    assert "DATE'2024-03-06'" in shown
    assert not (both.project.folder / "warehouse" / "main" / "default" / "t").exists()
    wrong = tidegate("dry-run", "--replace-where", "t=e = 1", status=3)
    assert "INVALID_REPLACE_WHERE_OVERRIDE.INVALID_EXPRESSION" in wrong.stderr


def test_a_value_that_only_the_rows_show_to_be_wrong_fails_the_flow(tidegate):
    both = Both(tidegate)
    both.refresh()
    flow = both.project.run(NOW, "--replace-where", "t=CAST(region AS INT) = 1", status=1)["flows"][0]
    assert (flow["status"], flow["error"]["error_class"]) == ("FAILED", "CAST_INVALID_INPUT")
    assert (flow["error"]["file"], flow["error"]["line"], flow["error"]["column"]) == ("transformations/t.sql", 1, 24)
    assert both.refresh()["technique"] == "NO_OP"


# ---- wrong ones ----

def refusal(project, *arguments):
    """What an update says that must not begin."""
    before = sorted(map(str, project.folder.rglob("*")))
    said = project.tidegate("run", "--now", NOW, *arguments, status=3).stderr
    assert [p for p in sorted(map(str, project.folder.rglob("*"))) if "pipeline-storage" not in p] == \
        [p for p in before if "pipeline-storage" not in p]
    return said


CLASS = "INVALID_REPLACE_WHERE_OVERRIDE."


@pytest.mark.parametrize(("override", "expected"), [
    ("tt=d = '2024-03-05'", ["FLOW_NOT_FOUND", "Did you mean `t`?"]),
    ("m=n = 1", ["FLOW_NOT_REPLACE_WHERE", "flow main.default.m"]),
    ("x.y.t=d = '2024-03-05'", ["FLOW_NOT_FOUND"]),
    ("d >= '2024-03-05'", ["FLOW_NOT_FOUND", "`d >` is not a flow"]),
    ("u=d = '2024-03-05'", ["FLOW_NOT_FOUND", "The flow that writes this table is `filler`."]),
    ("t=", ["MISSING_FLOW_OR_PREDICATE", "lacks its predicate"]),
    ("= d = '2024-03-05'", ["MISSING_FLOW_OR_PREDICATE", "lacks its flow"]),
    ("t=d = ", ["INVALID_EXPRESSION", "PARSE_SYNTAX_ERROR", "--> --replace-where:1:"]),
    ("t=d = '2024-03-05' d", ["INVALID_EXPRESSION", "--> --replace-where:1:18"]),
    ("t=region = 'asia' AND dd = '2024-03-05'", ["INVALID_EXPRESSION", "UNRESOLVED_COLUMN", "--> --replace-where:1:21", "`d`"]),
    ("t=region", ["INVALID_EXPRESSION", "FILTER_NOT_BOOLEAN", "--> --replace-where:1:1"]),
    ("t=v = (SELECT 1)", ["INVALID_EXPRESSION", "--> --replace-where:1:"]),
    ("t=sum(v) > 1", ["INVALID_EXPRESSION", "--> --replace-where:1:"]),
])
def test_a_wrong_override_is_refused_before_anything_is_touched(tidegate, override, expected):
    other = ("CREATE STREAMING TABLE u; CREATE FLOW filler AS INSERT INTO u BY NAME REPLACE WHERE d > DATE'2024-03-01' "
             "SELECT d, region FROM s;\n")
    project = Project(tidegate, t=DEFINITION + VIEW + other)
    project.write("s", SCHEMA, source(1))
    said = refusal(project, "--replace-where", override)
    assert CLASS + expected[0] in said
    assert "SQLSTATE: 42000" in said
    for text in expected[1:]:
        assert text in said


def test_a_column_that_the_query_no_longer_gives_cannot_be_named(tidegate):
    both = Both(tidegate)
    both.refresh()
    narrow = DEFINITION.replace("d, region, sum", "d, sum")
    (both.project.folder / "transformations" / "t.sql").write_text(narrow)
    assert CLASS + "INVALID_EXPRESSION" in refusal(both.project, "--replace-where", "t=region = 'asia'")


def test_all_wrong_overrides_are_told_at_once(tidegate):
    both = Both(tidegate, DEFINITION + VIEW)
    said = refusal(both.project, "--replace-where", "m=n = 1", "--replace-where", "q=n = 1", "--replace-where", "t=d =")
    assert [said.count(CLASS + name) for name in ("FLOW_NOT_REPLACE_WHERE", "FLOW_NOT_FOUND", "INVALID_EXPRESSION")] == [1, 1, 1]


def test_one_flow_has_one_override(tidegate):
    both = Both(tidegate)
    (tidegate.folder / "o.json").write_text('[{"flow_name": "main.default.t", "predicate_override": "d = \'2024-03-05\'"}]')
    said = refusal(both.project, "--replace-where", "T=d = '2024-03-06'", "--replace-where-overrides", "o.json")
    assert CLASS + "DUPLICATE_FLOW" in said
    assert "in o.json[0]" in said


def test_a_flow_that_is_not_refreshed_takes_no_override(tidegate):
    both = Both(tidegate, DEFINITION + VIEW)
    said = refusal(both.project, "--refresh", "m", "--replace-where", "t=d = '2024-03-06'")
    assert CLASS + "FLOW_NOT_SELECTED" in said


def test_a_short_name_that_two_flows_have_is_refused(tidegate):
    tidegate.folder.joinpath("wh").mkdir()
    both = Both(tidegate, DEFINITION + DEFINITION.replace("TABLE t", "TABLE other.t"))
    said = refusal(both.project, "--replace-where", "t=d = '2024-03-06'")
    assert "`t` is ambiguous" in said
    assert "`main.default.t`" in said and "`main.other.t`" in said


@pytest.mark.parametrize(("count", "predicate", "expected"), [
    (1001, "d = 1", "TOO_MANY_OVERRIDES] there are 1001 overrides; at most 1000"),
    (1, "d" * (64 * 1024), "MAX_SIZE_EXCEEDED] names and predicates of the overrides have 65537 bytes; at most 65536"),
    (1000, "d = 1", "DUPLICATE_FLOW"),
])
def test_limits(tidegate, count, predicate, expected):
    both = Both(tidegate)
    (tidegate.folder / "o.json").write_text(json.dumps([{"flow_name": "t", "predicate_override": predicate}] * count))
    assert CLASS + expected in refusal(both.project, "--replace-where-overrides", "o.json")


@pytest.mark.parametrize(("text", "expected"), [
    ('[{"flow_name": "t"}]', CLASS + "MISSING_FLOW_OR_PREDICATE"),
    ('[{"flow_name": null, "predicate_override": "d = 1"}]', CLASS + "MISSING_FLOW_OR_PREDICATE"),
    ('[{"flow_name": "t", "predicate_overide": "d = 1"}]', 'Did you mean "predicate_override"?'),
    ('[{"flow_name": "t", "predicate_override": 1}]', 'o.json[0]: "predicate_override" is not a string'),
    ('[{"flow_name": "t", "flow_name": "t"}]', 'o.json[0] has the key "flow_name" twice'),
    ('[1]', "o.json[0] is not an object"),
    ('{"flow_name": "t"}', "o.json is not an array of overrides"),
    ('[', "--> o.json:1:"),
    ('', "TIDEGATE_INVALID_JSON"),
    ('[{"flow_name": "t", "predicate_override": "region = \'\\u0000\' AND"}]', CLASS + "INVALID_EXPRESSION"),
    (" " * (1024 * 1024 + 1), "TIDEGATE_LIMIT_EXCEEDED"),
])
def test_a_wrong_file_is_refused(tidegate, text, expected):
    both = Both(tidegate)
    (tidegate.folder / "o.json").write_text(text)
    assert expected in refusal(both.project, "--replace-where-overrides", "o.json")


def test_a_missing_file_is_named(tidegate):
    both = Both(tidegate)
    assert "none.json" in refusal(both.project, "--replace-where-overrides", "none.json")


def test_without_an_equals_sign_it_is_a_usage_error(tidegate):
    done = tidegate("run", "--replace-where", "t", status=2)
    assert "--replace-where takes FLOW=PREDICATE, not 't'" in done.stderr


# ---- the library ----

class Override(ctypes.Structure):
    _fields_ = [("flow_name", ctypes.c_char_p), ("predicate_override", ctypes.c_char_p)]


class Request(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dry_run", ctypes.c_int), ("refresh", ctypes.c_void_p),
                ("refresh_count", ctypes.c_size_t), ("on_event", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("overrides", ctypes.POINTER(Override)), ("override_count", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("spec", ctypes.c_char_p), ("warehouse", ctypes.c_char_p),
                ("now", ctypes.c_char_p), ("timezone", ctypes.c_char_p)]


def test_the_library_takes_overrides_and_older_requests(tidegate, library_path):
    both = Both(tidegate)
    library = ctypes.CDLL(library_path)
    library.tg_failure_class.restype = ctypes.c_char_p
    session, failure, summary = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()
    options = Options(ctypes.sizeof(Options), str(both.project.folder / "spark-pipeline.yml").encode(), None, NOW.encode(), None)
    assert library.tg_session_open(ctypes.byref(options), ctypes.byref(session), ctypes.byref(failure)) == 0

    def update(flow, predicate, size=ctypes.sizeof(Request)):
        overrides = (Override * 1)(Override(flow, predicate))
        request = Request(struct_size=size, overrides=overrides, override_count=1)
        return library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), ctypes.byref(failure))

    assert update(b"t", b"d = DATE'2024-03-06'") == 0
    assert json.loads(summary.value)["flows"][0]["window"] == "d = DATE'2024-03-06'"
    assert update(b"t", b"d = DATE'2024-03-06'", size=Request.overrides.offset) == 0  # of an older header: no overrides
    assert json.loads(summary.value)["flows"][0]["window"] == "d >= DATE'2024-03-09'"
    assert update(b"t", None) == 3
    assert library.tg_failure_class(failure) == (CLASS + "MISSING_FLOW_OR_PREDICATE").encode()
    library.tg_failure_free(failure)
    assert update(b"t", b"d = 1", size=Request.overrides.offset - 1) == 2
    library.tg_failure_free(failure)
    library.tg_session_close(session)
