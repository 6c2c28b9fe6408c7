# SPDX-License-Identifier: Apache-2.0
"""Single statements: the rows, or the class of the error, that Spark gives."""
import json

import pytest

NINES = "cast('99999999999999999999999999999999999999' as decimal(38,0))"
WIDE = "cast('{}' as decimal(38,0))"


def answer(tidegate, sql, timeout=120):
    """The rows of the last statement, or the class of its error."""
    (tidegate.folder / "statement.sql").write_text(sql + "\n;\n")
    done = tidegate("sql", "--format", "rows", "--keep-going", "-f", "statement.sql", status=None, timeout=timeout)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = max(i for i, line in enumerate(lines) if isinstance(line, dict))
    return lines[last]["error"]["error_class"] if lines[last]["error"] else lines[last + 1:]


@pytest.mark.parametrize("aggregate, expected", [
    ("sum(x)", "ARITHMETIC_OVERFLOW"),
    ("sum(distinct x)", "ARITHMETIC_OVERFLOW"),
    ("avg(x)", "ARITHMETIC_OVERFLOW"),
    ("sum(x) over ()", "ARITHMETIC_OVERFLOW"),
    ("try_sum(x)", [[None]]),
    ("try_avg(x)", [[None]]),
])
@pytest.mark.parametrize("values", [
    f"({NINES}), (1)",
    f"({NINES}), ({NINES}), (5)",
    # More than 2^128, where a wrapped sum is a plausible one.
    ", ".join("(" + WIDE.format(f"9{i}e36") + ")" for i in range(4)),
    ", ".join("(" + WIDE.format(f"-9{i}e36") + ")" for i in range(4)),
])
def test_sums_of_decimals_do_not_wrap(tidegate, aggregate, expected, values):
    found = answer(tidegate, f"select {aggregate} from values {values} t(x) limit 1")
    assert found == expected


def test_sums_of_wide_decimals_are_exact(tidegate):
    """On the way the sum may leave 38 digits; DISTINCT looks at whole values, FILTER and NULL count."""
    nine = WIDE.format("9e37")
    assert answer(tidegate, f"select sum(x) from values ({nine}), ({nine}), (-{nine}), (-1) t(x)") == [["8" + 37 * "9"]]
    assert answer(tidegate, """select sum(x), sum(distinct x), avg(x), sum(x) filter (where x > 0), sum(x) filter (where x > 9)
        from values (1.5bd), (cast(-99999999999999999999.25 as decimal(35,4))), (1.5bd), (null) t(x)""") == [
            ["-99999999999999999996.2500", "-99999999999999999997.7500", "-33333333333333333332.08333333", "3.0000", None]]
    assert answer(tidegate, """select x, sum(x) over (order by x rows between 1 preceding and current row)
        from values (1.5bd), (cast(99999999999999999999.25 as decimal(35,4))), (-2) t(x)""") == [
            ["-2.0000", "-2.0000"], ["1.5000", "-0.5000"], ["99999999999999999999.2500", "100000000000000000000.7500"]]


@pytest.mark.parametrize("sql, expected", [
    ("select sum(x -> 1) over () from values (1) v(k)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select rank(x -> 1) over (order by k) from values (1) v(k)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select sum(x -> 1) from values (1) v(k)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select transform(x -> 1, *) from values (array(1)) v(k)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select aggregate(*, 0, (x, y) -> x + y) from values (array(1, 2), 0) v(a, s)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select transform(* except (a), x -> 1) from values (array(1)) v(a)", "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH"),
    ("select aggregate(*, (x, y) -> x + y, z -> z * 2) from values (array(1, 2), 0) v(a, s)", [[6]]),
    ("select transform(*, x -> x + 1) from values (array(1, 2)) v(a)", [[[2, 3]]]),
])
def test_lambdas_and_stars_among_arguments(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("sql, expected", [
    ("select k, rank() over (order by k) r from values (1), (2) v(k) group by all", "UNSUPPORTED_FEATURE"),
    ("select k, rank() over (order by k) r from values (1), (2) v(k) group by k, r", "UNSUPPORTED_FEATURE"),
    ("select rank() over (order by k) r, sum(1) over (order by r) s from values (1), (2) v(k)", "UNSUPPORTED_FEATURE"),
    ("select rank() over (order by k) r from values (1), (2) v(k) qualify sum(r) over () > 1", "UNSUPPORTED_FEATURE"),
    ("select rank() over (order by k) r from values (1), (2) v(k) order by sum(r) over ()", "UNSUPPORTED_FEATURE"),
    ("select k, sum(k) over () s, sum(s) from values (1), (2) v(k) group by k", "UNSUPPORTED_FEATURE"),
    ("select k, sum(k) over () s, count(*) filter (where s > 1) from values (1), (2) v(k) group by k", "UNSUPPORTED_FEATURE"),
    ("select k, sum(k) over () s from values (1), (2) v(k) group by k having s > 1", "UNSUPPORTED_FEATURE"),
    ("select k, sum(k) s, sum(s) from values (1), (2) v(k) group by k", "NESTED_AGGREGATE_FUNCTION"),
    ("select sum(k) s from values (1), (2) v(k) having sum(s) > 1", "NESTED_AGGREGATE_FUNCTION"),
    ("select k, sum(k) s, sum(s) over (order by k) t from values (1), (2) v(k) group by k order by k", "UNSUPPORTED_FEATURE"),
    ("select k, sum(1) over (order by k) s, s + 1 t from values (1), (2) v(k) group by all order by k", "UNSUPPORTED_FEATURE"),
])
def test_aliases_of_windows_and_aggregates_in_each_other(tidegate, sql, expected):
    """Spark refuses most of these; what it would compute for the others is not known, so they are refused."""
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("odd, rest, joined", [
    (None, "true", {"and": None, "or": True}),
    ("false", "true", {"and": False, "or": True}),
    ("true", "false", {"and": False, "or": True}),
    (None, "false", {"and": False, "or": None}),
])
@pytest.mark.parametrize("word", ["and", "or"])
@pytest.mark.parametrize("count", [63, 64, 65, 129, 1000])
def test_long_chains_mean_what_short_ones_do(tidegate, odd, rest, joined, word, count):
    """They are printed in halves: no term may be lost, wherever it stands."""
    for at in (0, count // 2 - 1, count // 2, count - 1):
        terms = [f"b = {rest}"] * count
        terms[at] = "n" if odd is None else f"b = {odd}"
        sql = f"select {f' {word} '.join(terms)} from values (true, cast(null as boolean)) t(b, n)"
        assert answer(tidegate, sql) == [[joined[word]]]


@pytest.mark.parametrize("expression", [
    "map('a', 1, 'a', 2)", "map_from_arrays(array(1, 1), array(2, 3))", "map_from_entries(array(struct('a', 1), struct('a', 2)))",
])
def test_a_key_twice_in_a_map(tidegate, expression):
    assert answer(tidegate, f"SELECT {expression}") == "DUPLICATED_MAP_KEY"


@pytest.mark.parametrize("sql, expected", [
    ("select position('b' in 'abc'), position(lower('C') in 'ab' || 'c'), position('b', 'abc'), position('c', 'abc', 1)", [[2, 3, 2, 3]]),
    ("select * from ((select 1) a join (select 2) b) tablesample (0 rows)", "UNSUPPORTED_FEATURE"),
    ("select * from ((select 1) a join (select 2) b) tablesample (0 rows) x", "UNSUPPORTED_FEATURE"),
    ("select * from values 1 t(a), (lateral (select 2) x)", "UNSUPPORTED_FEATURE"),
    ("select * from values 1 t(a), lateral (select 2) x", "UNSUPPORTED_FEATURE"),
    ("select * from lateral ((select 1) a join (select 2) b)", "PARSE_SYNTAX_ERROR"),
    ("select * from values 1 t(a) pivot (sum(a) for a in (1)", "PARSE_SYNTAX_ERROR"),
    ("select 1 from values 1 t(a) where false having true", [[1]]),
    ("select * from values (1 as a, 2 as b), struct(3, 4), (struct(5, 6 as x))", [[1, 2], [3, 4], [5, 6]]),
    ("select * from values struct(1), (struct(2))", [[1], [2]]),
    ("select col1.a from values named_struct('a', 1)", [[1]]),
])
def test_forms_that_were_read_past(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected
