# SPDX-License-Identifier: Apache-2.0
"""Values of single statements where an engine's habit differs from Spark's meaning."""
import pytest

from test_sql_answers import answer


@pytest.mark.parametrize("first, second", [("0.0d", "-0.0d"), ("-0.0d", "0.0d"), ("-0.0d", "-0.0d")])
@pytest.mark.parametrize("value, expected", [
    ("{}", "0.0"), ("cast({} as float)", "0.0"), ("array({})", ["0.0"]), ("named_struct('a', array({}))", {"a": ["0.0"]})])
def test_zeros_are_one_group(tidegate, first, second, value, expected):
    a, b = value.format(first), value.format(second)
    for sql in (
        "select distinct x from values ({a}), ({b}) t(x)",
        "select x from values ({a}), ({b}) t(x) group by x",
        "select x from values ({a}) t(x) union select {b}",
        "select x from values ({a}) t(x) intersect select {b}",
        "select x from values ({a}) t(x) intersect all select {b}",
        "select x from values ({a}), ({b}) t(x) except select {nothing}",
    ):
        sql = sql.format(a=a, b=b, nothing=value.format("1d"))
        assert answer(tidegate, sql) == [[expected]], sql
    both = f"values ({a}), ({b}) t(x)"
    assert answer(tidegate, f"select x from {both} except all select {value.format('1d')}") == [[expected]] * 2
    assert answer(tidegate, f"select count(distinct x), collect_list(distinct x) from {both}") == [[1, [expected]]]


def test_zeros_keep_their_sign_beside_windows_and_joins(tidegate):
    two = "values (-0.0d, 1), (0.0d, 2) t(x, k)"
    assert answer(tidegate, f"select x, row_number() over (partition by x order by k) from {two}") == [["-0.0", 1], ["0.0", 2]]
    for value in ("{}", "array({})"):
        a, b = value.format("-0.0d"), value.format("0.0d")
        found = answer(tidegate, f"select cast(a.x as string), cast(b.x as string) from values ({a}) a(x) join values ({b}) b(x) on a.x = b.x")
        assert found == [["-0.0", "0.0"] if value == "{}" else ["[-0.0]", "[0.0]"]]
