# SPDX-License-Identifier: Apache-2.0
"""One run tells all that is wrong: syntax errors of all files, and what else is wrong with the rest."""
import re

import pyarrow as pa
import pytest
from project import Project

TABLE = "CREATE STREAMING TABLE {} FLOW REPLACE WHERE a > 1 BY NAME SELECT {} FROM {};\n"


def found(tidegate, **files):
    """(class, file, line) of each error, in the order of the output."""
    project = Project(tidegate, **files)
    project.write("s", pa.schema([("a", pa.int32())]), [(1,), (2,)])
    outputs = []
    for command in ("run", "dry-run"):
        done = tidegate(command, status=3)
        places = re.findall(r"\[([A-Za-z_.]+)\][^\n]*\n  --> transformations/(\w+)\.sql:(\d+)", done.stderr + done.stdout)
        outputs.append([(name, file, int(line)) for name, file, line in places])
    assert outputs[0] == outputs[1]
    assert not (project.folder / "warehouse" / "main" / "default" / "good").exists()
    assert not (project.folder / "pipeline-storage").exists()
    return outputs[0]


def test_syntax_errors_do_not_hide_others(tidegate):
    one = (TABLE.format("t1", "absent AS a", "s")              # 1: unknown column
           + "CREATE STREAMING TABLE t2 FLOW REPLACE WHERE BY NAME SELECT a FROM s;\n"  # 2: no predicate
           + TABLE.format("t3", "a", "t2")                     # 3: reads what is broken: nothing
           + TABLE.format("t4", "a +", "s")                    # 4: syntax
           + TABLE.format("good", "a", "s"))
    two = ("CREATE TEMPORARY VIEW v AS SELECT (a FROM s;\n"     # 1: syntax
           + TABLE.format("t5", "a", "v")                      # 2: nothing
           + TABLE.format("t6", "a", "nowhere")                # 3: unknown table
           + TABLE.format("t7", "a", "t4")                     # 4: nothing
           + "CREATE FLOW f AS INSERT INTO t2 BY NAME REPLACE WHERE a > 1 SELECT a FROM s;\n"  # 5: nothing
           + TABLE.format("t8", "a", "t8"))                    # 6: reads itself
    assert found(tidegate, b_two=two, a_one=one) == [
        ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "a_one", 1),
        ("PARSE_SYNTAX_ERROR", "a_one", 2),
        ("PARSE_SYNTAX_ERROR", "a_one", 4),
        ("PARSE_SYNTAX_ERROR", "b_two", 1),
        ("TABLE_OR_VIEW_NOT_FOUND", "b_two", 3),
        ("CircularDependencyException", "b_two", 6),
    ]


@pytest.mark.parametrize("broken", [
    "CREATE STREAMIG TABLE x AS SELECT 1;\n", "SELCT 1;\n",
    "CREATE MATERIALIZED VIEW 1;\n", "USE SCHEMA 1;\n",
    "SELECT 'open;\n",
])
def test_a_broken_statement_may_define_any_name(tidegate, broken):
    """So a missing table is not reported; a wrong column is."""
    assert found(tidegate, a=TABLE.format("t1", "a", "nowhere") + TABLE.format("t2", "absent AS a", "s"),
                 b=broken) == [
                     ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "a", 2), ("PARSE_SYNTAX_ERROR", "b", 1)]


def test_an_unknown_variable_hides_its_file_only(tidegate):
    assert found(tidegate, a="SELECT ${absent};\n", b=TABLE.format("t2", "absent AS a", "s"))[-1] == (
        "UNRESOLVED_COLUMN.WITH_SUGGESTION", "b", 1)


def test_refused_definitions_do_not_hide_wrong_columns(tidegate):
    assert found(tidegate, a="CREATE STREAMING TABLE x FLOW INSERT BY NAME SELECT a FROM s;\n"
                 + TABLE.format("t2", "a", "x") + TABLE.format("t3", "absent AS a", "s")) == [
                     ("INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE", "a", 1),
                     ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "a", 3)]
