# SPDX-License-Identifier: Apache-2.0
"""DROP removes what its words name."""
import pytest


def drop(tidegate, word):
    return tidegate("sql", "--warehouse", "wh", "--keep-going", "--format", "json",
                    "-e", "CREATE TEMPORARY VIEW v AS SELECT 1 AS a", "-e", f"DROP {word} v",
                    "-e", "SELECT * FROM v", status=None)


@pytest.mark.parametrize("word", ["SCHEMA", "STREAMING TABLE", "MATERIALIZED VIEW"])
def test_a_view_stays_when_something_else_is_to_go(tidegate, word):
    done = drop(tidegate, word)
    assert ("DROP SCHEMA is not available" if word == "SCHEMA" else "[TABLE_OR_VIEW_NOT_FOUND]") in done.stderr
    assert '{"a": 1}' in done.stdout


@pytest.mark.parametrize("word", ["VIEW", "TABLE"])
def test_view_and_table_drop_a_temporary_view_as_in_spark(tidegate, word):
    done = drop(tidegate, word)
    assert "TABLE_OR_VIEW_NOT_FOUND" in done.stderr
    assert '{"a": 1}' not in done.stdout
