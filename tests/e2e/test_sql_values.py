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


@pytest.mark.parametrize("sql, expected", [
    ("select array(named_struct('a', 1), null, named_struct('a', 2)).a", [[[1, None, 2]]]),
    ("select x.a, typeof(x.a) from values (array(named_struct('a', 1))), (null) t(x)", [[[1], "array<int>"], [None, "array<int>"]]),
    ("select s.a.b from values (named_struct('a', array(named_struct('b', 'x')))) t(s)", [[["x"]]]),
    ("select array(array(named_struct('a', 1))).a", "INVALID_EXTRACT_BASE_FIELD_TYPE"),
    ("select array(named_struct('a', 1)).b", "FIELD_NOT_FOUND"),
])
def test_a_field_of_an_array_of_structs(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("sql, expected", [
    ("select named_struct('a', 1) s union all select named_struct('b', 2)", [[{"a": 1}], [{"a": 2}]]),
    ("select array(named_struct('a', 1)) s union all select array(named_struct('b', null))", "INCOMPATIBLE_COLUMN_TYPE"),
    ("select named_struct('a', 1, 'b', 2) s union all select named_struct('b', 3, 'a', 4)", [[{"a": 1, "b": 2}], [{"a": 3, "b": 4}]]),
    ("select named_struct('a', 1) s except select named_struct('b', 1)", []),
    ("select named_struct('a', 1) s union all select named_struct('b', 2L)", "INCOMPATIBLE_COLUMN_TYPE"),
])
def test_set_operations_take_fields_by_position(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("sql, expected", [
    ("select a, b from values (2, 1), (1, 2), (1, 1) t(a, b) order by all", [[1, 1], [1, 2], [2, 1]]),
    ("select a, b from values (2, 1), (1, 2), (1, 1) t(a, b) order by all desc", [[2, 1], [1, 2], [1, 1]]),
    ("select a, count(*) from values (2), (1), (2) t(a) group by a order by all", [[1, 1], [2, 2]]),
    ("select a from values (2) t(a) union all select 1 order by all", [[1], [2]]),
    ("select `all`, b from values (2, 1), (1, 2) t(b, `all`) order by all desc", [[2, 1], [1, 2]]),
    ("select map(1, 2) m order by all", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"),
    ("select map(1, 2) m order by 1", "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"),
])
def test_order_by_all(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("sql, expected", [
    ("select count(o.*) from values (1) o(x)", "INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT"),
    ("select count(distinct o.*) from values (1) o(x)", "INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT"),
    ("select count(s.*), count(*) from values (named_struct('a', 1, 'b', null)) t(s)", [[0, 1]]),
    ("select x y, sum(y) over () from values (1) t(x)", "UNSUPPORTED_FEATURE"),
    ("select x y, sum(x) over (order by y) from values (1) t(x)", "UNSUPPORTED_FEATURE"),
    ("select x x, sum(x) over (order by x) from values (1) t(x)", [[1, 1]]),
    ("select window.start from values (timestamp'2024-01-01') t(x) group by window(x, '1 day')", "UNSUPPORTED_FEATURE"),
])
def test_what_spark_refuses_and_we_too(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


@pytest.mark.parametrize("sql, expected", [
    ("typeof(cast(1 as int) + 1.5), typeof(1 + 1.5), typeof(1L + 1.5), typeof(1S + 1.5), typeof(1Y + 1.5)",
     ["decimal(12,1)", "decimal(3,1)", "decimal(3,1)", "decimal(3,1)", "decimal(5,1)"]),
    ("typeof(cast(1 as int) * 1.5), typeof(cast(1L as bigint) * 1.5), typeof(-1000 * 1.5), typeof((1 + 1) * 1.5)",
     ["decimal(13,1)", "decimal(23,1)", "decimal(7,1)", "decimal(13,1)"]),
    ("typeof(d * cast(5 as int)), typeof(d * 5), typeof(d * x), typeof(d / 3), typeof(d % 7L), typeof(1 / d)",
     ["decimal(21,2)", "decimal(12,2)", "decimal(21,2)", "decimal(14,6)", "decimal(3,2)", "decimal(14,11)"]),
    ("typeof(greatest(d, 1)), typeof(coalesce(d, 1L)), typeof(1.5 + 2147483648), typeof(x + d), typeof(try_multiply(2, d))",
     ["decimal(12,2)", "decimal(22,2)", "decimal(12,1)", "decimal(13,2)", "decimal(12,2)"]),
])
def test_integers_beside_decimals(tidegate, sql, expected):
    """Types that Spark 4.2.0 gave: a literal counts with its own digits, all else with those of its type."""
    assert answer(tidegate, f"select {sql} from values (cast(1 as decimal(10,2)), 1) t(d, x)") == [expected]


@pytest.mark.parametrize("call", ["collect_list(x)", "array_agg(x)", "first(x)", "last_value(x)", "string_agg(x, ',')", "collect_list(x) over ()"])
@pytest.mark.parametrize("rows", [
    "(select x from t order by x)",
    "(select * from (select x + 1 as x from t order by x) where x > 1)",
    "(select x from t union all select 1 order by x)",
    "(table t order by x)",
    "s",
])
def test_no_aggregate_follows_a_dropped_order(tidegate, call, rows):
    """Spark gives the rows in the subquery's order; the engine need not."""
    head = "with t as (select * from values (3), (1), (2) v(x)), s as (select x from t order by x)"
    assert answer(tidegate, f"{head} select {call} from {rows}") == "UNSUPPORTED_FEATURE"


@pytest.mark.parametrize("sql, expected", [
    ("select sum(x), count(x), max(x), array_sort(collect_set(x)) from (select x from t order by x)", [[6, 3, 3, [1, 2, 3]]]),
    ("select string_agg(x, ',') within group (order by x) from (select x from t order by x)", [["1,2,3"]]),
    ("select collect_list(x) from (select x from t order by x limit 2)", [[[1, 2]]]),
    ("select max(c) from (select collect_list(x) over (order by x) c from (select x from t order by x))", [[[1, 2, 3]]]),
    ("select array_sort(collect_list(x)) from t", [[[1, 2, 3]]]),
])
def test_aggregates_that_need_no_order(tidegate, sql, expected):
    assert answer(tidegate, f"with t as (select * from values (3), (1), (2) v(x)) {sql}") == expected


@pytest.mark.parametrize("sql, expected", [
    ("corr(x, y) from values (1, 2), (1, 3) t(x, y)", "DIVIDE_BY_ZERO"),
    ("corr(y, x) from values (1, 2), (1, 3) t(x, y)", "DIVIDE_BY_ZERO"),
    ("corr(x, x) over () from values (1), (1) t(x)", "DIVIDE_BY_ZERO"),
    ("corr(x, y) from values (0.1d, 1d), (0.1d, 2d), (0.1d, 5d) t(x, y)", "DIVIDE_BY_ZERO"),
    ("corr(x, y), corr(x, x) from values (1, 2) t(x, y)", [[None, None]]),
    ("corr(distinct x, y) from values (1, 2), (1, 2) t(x, y)", [[None]]),
    ("corr(x, y) from values (1, 2), (2, null) t(x, y)", [[None]]),
    ("corr(x, y) from values (1, 2) t(x, y) where x > 5", [[None]]),
    ("k, corr(x, y) from values (1, 1, 2), (2, 1, 1), (2, 2, 4) t(k, x, y) group by k order by k", [[1, None], [2, "1.0"]]),
    ("covar_pop(x, y), covar_samp(x, y), stddev(x), stddev_pop(x), variance(x), var_pop(x), var_samp(x) from values (1, 2) t(x, y)",
     [["0.0", None, None, "0.0", None, "0.0", None]]),
    ("covar_pop(x, y), covar_samp(x, y), stddev(x), stddev_pop(x), variance(x), var_pop(x) from values (1, 2) t(x, y) where x > 5",
     [[None] * 6]),
])
def test_moments_of_few_or_equal_rows(tidegate, sql, expected):
    """Answers of Spark 4.2.0."""
    assert answer(tidegate, f"select {sql}") == expected


@pytest.mark.parametrize("sql, expected", [
    ("collect_set(x), mode(x) from values (-0.0d), (0.0d), (-0.0d) t(x)", [["0.0"], "0.0"]),
    ("array_distinct(array(-0.0d, 0.0d)), array_union(array(-0.0d), array(0.0d, 1d))", [["0.0"], ["0.0", "1.0"]]),
    ("array_intersect(array(-0.0d), array(0.0d)), array_except(array(-0.0d, 1d), array(2d))", [["0.0"], ["0.0", "1.0"]]),
    ("array_sort(array(0.0d, -0.0d)), map(0.0d, 1)[-0.0d], array_position(array(1d, -0.0d), 0.0d)", [["0.0", "-0.0"], 1, 2]),
])
def test_zeros_in_sets(tidegate, sql, expected):
    """Answers of Spark 4.2.0."""
    assert answer(tidegate, f"select {sql}") == [expected]


@pytest.mark.parametrize("sql, expected", [
    ("sequence(1, 1000000000)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("sequence(1, x, 1) from values (1000000000) t(x)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("sequence(1, 2147483647)", "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER"),
    ("sequence(-9223372036854775807L, 9223372036854775807L)", "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER"),
    ("sequence(9223372036854775807L, -9223372036854775807L, -9223372036854775807L)", [[9223372036854775807, 0, -9223372036854775807]]),
    ("array_repeat(1, 2147483647)", "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER"),
    ("array_repeat(1, 1000000000)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("array_repeat(x, x) from values (30000000), (30000000), (30000000) t(x)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("repeat('a', 2000000000)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("repeat('a', x) from values (2000000000) t(x)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("space(2000000000)", "TIDEGATE_LIMIT_EXCEEDED"),
    ("lpad('a', 2000000000, 'b')", "TIDEGATE_LIMIT_EXCEEDED"),
    ("rpad('a', 200000000, '日本')", "TIDEGATE_LIMIT_EXCEEDED"),
    ("length(repeat('ab', 1000000)), length(space(1000000)), size(array_repeat('a', 100000)), size(sequence(1, 1000000))",
     [2000000, 1000000, 100000, 1000000]),
    ("lpad('a', 5, '日本'), rpad('a', 4, '日本'), lpad('abc', 2), lpad('a', 3, ''), repeat('日', 2), repeat('', 2147483647), repeat('a', -5)",
     ["日本日本a", "a日本日", "ab", "a", "日日", "", ""]),
    ("array_repeat(1, -1), array_repeat(null, 2), array_repeat(1, cast(null as int)), repeat(cast(null as string), 2)",
     [[], [None, None], None, None]),
    ("sequence(3, 1), sequence(5, 5), sequence(1, null), sequence(10, 1, -3), sequence(1, 1, 0)", [[3, 2, 1], [5], None, [10, 7, 4, 1], [1]]),
    ("sequence(date'2024-01-31', date'2024-04-01', interval 1 month), sequence(date'2024-01-02', date'2024-01-01')",
     [["2024-01-31", "2024-02-29", "2024-03-31"], ["2024-01-02", "2024-01-01"]]),
    ("sequence(date'2024-01-01', date'2024-01-01', interval 0 day), sequence(date'2024-01-01', date'2024-01-01', interval 0 month)",
     [["2024-01-01"], ["2024-01-01"]]),
    ("sequence(1, 2, 0)", "TIDEGATE_INVALID_SEQUENCE_BOUNDARIES"),
])
def test_large_values_end_in_an_error(tidegate, sql, expected):
    found = answer(tidegate, f"select {sql}")
    assert found == ([expected] if isinstance(expected, list) else expected)


def test_keys_of_a_map_are_never_null(tidegate):
    """Arrays that may hold NULLs have no order here, others have; keys and values of one type are not the same."""
    rows = "values (map('b', nullif('x', 'y'))), (map('a', null)) t(m)"
    assert answer(tidegate, f"select map_keys(m) from {rows} order by map_keys(m)") == [[["a"]], [["b"]]]
    assert answer(tidegate, f"select map_values(m) from {rows} order by map_values(m)") == "UNSUPPORTED_FEATURE"


@pytest.mark.parametrize("sql, name", [
    ("a + b * 2", "(a + (b * 2))"), ("a - 1.5", "(a - 1.5)"), ("-a", "(- a)"), ("not a > 2", "(NOT (a > 2))"), ("a <> b", "(NOT (a = b))"),
    ("a is null", "(a IS NULL)"), ("a is not null", "(a IS NOT NULL)"), ("a in (1, 2)", "(a IN (1, 2))"), ("a not in (1)", "(NOT (a IN (1)))"),
    ("a between 1 and 2", "between(a, 1, 2)"), ("c || 'x'", "concat(c, x)"), ("cast(a as string)", "a"), ("a::int", "a"),
    ("typeof(cast(a as string))", "typeof(CAST(a AS STRING))"), ("case a when 1 then 2 else 3 end", "CASE WHEN (a = 1) THEN 2 ELSE 3 END"),
    ("case when a = 1 and b = 2 or a > 3 then 'x' end", "CASE WHEN (((a = 1) AND (b = 2)) OR (a > 3)) THEN x END"),
    ("count(*)", "count(1)"), ("count(distinct a)", "count(DISTINCT a)"), ("sum(a) filter (where a > 1)", "sum(a) FILTER (WHERE (a > 1))"),
    ("'it''s'", "it's"), ("1L", "1"), ("2.0d", "2.0"), ("null", "NULL"), ("true", "true"), ("a div b", "(a div b)"), ("~a", "~a"), ("a <=> b", "(a <=> b)"),
    ("if(a > 1, 1, 2)", "(IF((a > 1), 1, 2))"), ("UPPER('a')", "upper(a)"), ("typeof(1L + 1.5)", "typeof((1 + 1.5))"),
])
def test_names_of_columns_without_alias(tidegate, sql, name):
    """Names that Spark 4.2.0 gave."""
    done = tidegate("sql", "--format", "rows", "-e", f"select {sql} from values (1, 2, 'c') t(a, b, c) group by a, b, c")
    assert f'"name":"{name}"' in done.stdout.splitlines()[0].replace('": "', '":"')


DIGITS = "(values (1),(2),(3),(4),(5),(6),(7),(8),(9),(10))"
TEN_THOUSAND = f"(select 1 as x from {DIGITS} a(i), {DIGITS} b(i), {DIGITS} c(i), {DIGITS} d(i)) t"


@pytest.mark.parametrize("condition, share", [
    ("rand() < 0.5", 0.5), ("not (rand() < 0.5)", 0.5), ("rand() between 0.25 and 0.5", 0.25),
    ("rand() < 0.5 or uuid() = 'a'", 0.5), ("rand() < 0.5 and length(uuid()) = 36", 0.5), ("rand() < 0.5 and rand() < 0.5", 0.25), ("rand() > 0.2 and rand() < 0.5", 0.4), ("uuid() >= '8' and uuid() >= '8'", 0.25),
    ("rand() < 0.5 and rand() < 0.5 and 1 / x = 1", 0.25), ("x = 1 and rand() < 0.5 and 1 / x = 1", 0.5),
    ("rand() < 1 or 1 / (x - 1) > 1", 1), ("(rand() < 0.5 and 1 / x = 1) = true", 0.5),
    ("cast(rand() * 10 as int) < 5", 0.5), ("cast(rand() as decimal(10, 5)) < 0.5", 0.5), ("floor(rand() * 10) < 5", 0.5),
    ("case when rand() < 0.5 then true else false end", 0.5), ("coalesce(rand(), 1) < 0.5", 0.5), ("greatest(rand(), 0.5) = 0.5", 0.5),
    ("substr(uuid(), 1, 1) < '8'", 0.5), ("rand() <=> 0.5 or rand() < 0.5", 0.5),
])
def test_a_random_value_is_one_value(tidegate, condition, share):
    for where in (condition, f"(case when {condition} then 1 else 0 end) = 1"):
        [[count]] = answer(tidegate, f"select count(*) from {TEN_THOUSAND} where {where}")
        assert abs(count - 10000 * share) <= 10 * (10000 * share * (1 - share)) ** 0.5, (where, count)


@pytest.mark.parametrize("expression", ["array(rand())[0]", "element_at(array(1, 2, 3), cast(rand() * 2 as int) + 1)"])
def test_a_random_value_that_would_be_asked_twice_is_refused(tidegate, expression):
    done = tidegate("sql", "-e", f"select {expression}", status=1)
    assert "[UNSUPPORTED_FEATURE] rand() is not available within this expression" in done.stderr


@pytest.mark.parametrize("sql, expected", [
    ("select user from values ('a') t(user)", [["a"]]),
    ("select USER, count(*) from values ('a'), ('b') t(user) where user = 'a' group by user order by user", [["a", 1]]),
    ("select current_date, t.current_date from values ('a') t(current_date)", [["a", "a"]]),
    ("select current_date > date'2020-01-01' from values (1) t(x)", [[True]]),
    ("select date'2000-01-01' as current_date, current_date > date'2020-01-01' as late", [["2000-01-01", True]]),
    ("select current_date() > date'2020-01-01' from values ('a') t(current_date)", [[True]]),
    ("select transform(array(1), current_date -> current_date + 1)", [[[2]]]),
    ("select (select current_date > date'2020-01-01' from values (1) i(z)) from values (5) t(current_date)", [[True]]),
])
def test_words_that_are_functions_are_columns_first(tidegate, sql, expected):
    assert answer(tidegate, sql) == expected


BIG = "values (4611686018427387904), (9223372036854775807), (0), (6) t(u)"


@pytest.mark.parametrize("sql, expected", [
    ("select cast(u as int) > 5 from {big}", "CAST_OVERFLOW"),
    ("select u from {big} where cast(u as tinyint) = 6", "CAST_OVERFLOW"),
    ("select u from {big} where cast(u as int) between 1 and 7", "CAST_OVERFLOW"),
    ("select u from {big} where cast(u as int) <=> 6", "CAST_OVERFLOW"),
    ("select try_cast(u as int) > 5 from {big}", [[None], [None], [False], [True]]),
    ("select u + 1 > 0 from {big}", "ARITHMETIC_OVERFLOW"),
    ("select u from {big} where u * 4 > 8", "ARITHMETIC_OVERFLOW"),
    ("select count(*) from {big} where 2 - (0 - u) < 0", "ARITHMETIC_OVERFLOW"),
    ("select count(*) from (select u + 1 as m from {big}) where m > 0", "ARITHMETIC_OVERFLOW"),
    ("select sum(u) > 5 from {big}", "ARITHMETIC_OVERFLOW"),
    ("select 1 from {big} having sum(u) > 5", "ARITHMETIC_OVERFLOW"),
    ("select cast(cast(u as decimal(20,0)) as decimal(10,0)) > 5 from {big}", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"),
    ("select try_cast(cast(u as decimal(20,0)) as int) = 6 from {big}", [[None], [None], [False], [True]]),
    ("select u from {big} where cast(u as double) > 5 and u < 100", [[6]]),
])
def test_an_error_is_not_lost_in_a_comparison(tidegate, sql, expected):
    assert answer(tidegate, sql.format(big=BIG)) == expected
