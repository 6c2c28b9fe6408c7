# SPDX-License-Identifier: Apache-2.0
"""What is wrong on the command line is said as such: exit status 2, before anything is read."""
import pytest
from pipeline import Pipeline


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
