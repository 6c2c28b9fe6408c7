# SPDX-License-Identifier: Apache-2.0
"""PARTITIONED BY is judged by analysis: before anything is written, at its place, whatever there is to refresh."""
import deltalake
import pytest
from pipeline import Pipeline

VIEW = "CREATE MATERIALIZED VIEW m\n  PARTITIONED BY ({}) AS {}"
TWO = "SELECT 1 AS a, 2 AS b"


def refused(pipeline, error, place, command="dry-run"):
    done = pipeline.tidegate(command, status=3)
    assert error in done.stderr
    assert place in done.stderr
    return done.stderr


@pytest.mark.parametrize(("columns", "query", "error", "place", "caret"), [
    ("a, c", TWO, "DELTA_PARTITION_COLUMN_NOT_FOUND", "a.sql:2:22", "^"),
    ("b, a", TWO, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION", "a.sql:2:22", "^"),
    ("b, B", TWO, "DELTA_DUPLICATE_COLUMNS_FOUND", "a.sql:2:22", "^"),
    ("list", "SELECT 1 AS a, array(1) AS list", "DELTA_INVALID_PARTITION_COLUMN_TYPE", "a.sql:2:19", "^~~~"),
])
@pytest.mark.parametrize("command", ["dry-run", "run"])
def test_what_cannot_be_written_is_found_in_analysis(tidegate, columns, query, error, place, caret, command):
    pipeline = Pipeline(tidegate, VIEW.format(columns, query))
    text = refused(pipeline, error, place, command)
    assert any(line.strip(" |") in (caret, caret.replace("~", "^")) for line in text.splitlines())
    assert not (pipeline.folder / "wh").exists()


def test_the_definition_may_stand_in_another_file_than_its_flow(tidegate):
    pipeline = Pipeline(tidegate, "CREATE STREAMING TABLE m\nPARTITIONED BY (c);")
    (pipeline.folder / "t" / "b.sql").write_text(
        "CREATE FLOW f AS INSERT INTO m BY NAME REPLACE WHERE a > 0 SELECT 1 AS a, 2 AS b")
    refused(pipeline, "DELTA_PARTITION_COLUMN_NOT_FOUND", "a.sql:2:17")


def test_other_names_that_delta_cannot_hold_are_found_in_analysis_too(tidegate):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS `a b`")
    refused(pipeline, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "a.sql:1:26")
    assert not (pipeline.folder / "wh").exists()


@pytest.mark.parametrize(("before", "after", "place"), [
    ("", "PARTITIONED BY (a)", "a.sql:2:17"),
    ("PARTITIONED BY (a)", "PARTITIONED BY (b)", "a.sql:2:17"),
    ("PARTITIONED BY (a)", "", "a.sql:1:26"),
])
def test_a_changed_clause_is_seen_where_nothing_is_to_refresh(tidegate, before, after, place):
    view = "CREATE MATERIALIZED VIEW m\n{} AS " + TWO
    pipeline = Pipeline(tidegate, view.format(before))
    pipeline.run()
    assert pipeline.technique() == "NO_OP"
    pipeline.define(view.format(after))
    refused(pipeline, "CANNOT_UPDATE_PARTITION_COLUMNS", place)
    refused(pipeline, "CANNOT_UPDATE_PARTITION_COLUMNS", place, "run")


def test_a_view_that_loses_its_partition_column_is_refused(tidegate):
    pipeline = Pipeline(tidegate, VIEW.format("b", TWO))
    pipeline.run()
    pipeline.define(VIEW.format("b", "SELECT 1 AS a, 3 AS d"))
    refused(pipeline, "DELTA_PARTITION_COLUMN_NOT_FOUND", "a.sql:2:19")
    assert pipeline.rows() == [{"a": 1, "b": 2}]


def test_the_table_spells_its_columns(tidegate):
    pipeline = Pipeline(tidegate, VIEW.format("B", TWO))
    pipeline.run()
    assert deltalake.DeltaTable(pipeline.path()).metadata().partition_columns == ["b"]
    assert pipeline.rows() == [{"a": 1, "b": 2}]
    assert pipeline.technique() == "NO_OP"
