# SPDX-License-Identifier: Apache-2.0
"""What may raise is not evaluated where AND, OR, CASE, IF and COALESCE do not ask for it: every pair of types with extreme values."""
import json

VALUES = {
    "tinyint": ["cast(-128 as tinyint)", "cast(127 as tinyint)"],
    "smallint": ["cast(-32768 as smallint)", "cast(32767 as smallint)"],
    "int": ["cast(-2147483648 as int)", "2147483647"],
    "bigint": ["cast('-9223372036854775808' as bigint)", "9223372036854775807L"],
    "float": ["cast('NaN' as float)", "cast('Infinity' as float)", "cast(3e38 as float)"],
    "double": ["double('NaN')", "double('-Infinity')", "1e308d"],
    "decimal(3,1)": ["cast(99.9 as decimal(3,1))"],
    "decimal(2,2)": ["cast(0.99 as decimal(2,2))"],
    "decimal(10,0)": ["cast(9999999999 as decimal(10,0))"],
    "decimal(19,0)": ["cast('9999999999999999999' as decimal(19,0))"],
    "decimal(19,6)": ["cast('9999999999999.999999' as decimal(19,6))"],
    "decimal(38,0)": [f"cast('{38 * '9'}' as decimal(38,0))"],
    "decimal(38,38)": [f"cast('0.{38 * '9'}' as decimal(38,38))"],
    "boolean": ["true"],
    "string": ["'x'", "''", "'1e400'", "'99999-01-01'", "'2024-02-30'"],
    "binary": ["x'ff'", "x'00'"],
    "date": ["date_add(date'1970-01-01', 2147483000)", "date_add(date'1970-01-01', -2147483000)", "date'0001-01-01'"],
    "timestamp": ["timestamp_micros(9223372036854000000L)", "timestamp_micros(-9223372022400000000L)", "timestamp'0001-01-01'"],
    "timestamp_ntz": ["cast(timestamp_micros(9223371036854775807L) as timestamp_ntz)", "timestamp_ntz'0001-01-01'"],
    "interval year": ["interval '99999' year"],
    "interval month": ["interval '2147483647' month"],
    "interval day": ["interval '106751991' day"],
    "interval day to second": ["interval '106751991 04:00:54' day to second"],
    "interval second": ["interval '9223372036854' second"],
}
NESTED = ["array<{}>", "map<string,{}>", "struct<a:{}>"]
MAKERS = ["array({})", "map('k', {})", "named_struct('a', {})"]
FORMS = [
    "b and cast(v as {to}) is null", "not b or cast(v as {to}) is null", "case when b then cast(v as {to}) is null else false end",
    "if(b, cast(v as {to}) is null, false)", "coalesce(b, cast(v as {to}) is null)",
]


def answers(tidegate, statements, *options):
    """One entry per statement: its rows, or the class of its error."""
    (tidegate.folder / "statements.sql").write_text("".join(f"{sql}\n;\n" for sql in statements))
    done = tidegate("sql", "--format", "rows", "--keep-going", *options, "-f", "statements.sql", status=None, timeout=600)
    found = []
    for line in map(json.loads, done.stdout.splitlines()):
        if isinstance(line, dict):
            found.append(line["error"]["error_class"] if line["error"] else [])
        else:
            found[-1].append(line)
    assert len(found) == len(statements), done.stdout[-500:] + done.stderr
    return found


def check(tidegate, pairs, *options):
    statements = [
        f"select {form.format(to=to)} from values (false, {value}) t(b, v)" for to, value in pairs for form in FORMS]
    refusals = ("DATATYPE_MISMATCH", "UNSUPPORTED_FEATURE")
    odd = [(sql, found) for sql, found in zip(statements, answers(tidegate, statements, *options))
           if found not in ([[False]], [[True]]) and not (isinstance(found, str) and found.startswith(refusals))]
    assert not odd, f"{len(odd)}: {odd[:20]}"


def test_casts_are_guarded(tidegate):
    check(tidegate, [(to, value) for to in VALUES for values in VALUES.values() for value in values])


def test_casts_of_nested_values_are_guarded(tidegate):
    pairs = [(kind.format(to), maker.format(value)) for kind, maker in zip(NESTED, MAKERS)
             for to in ("tinyint", "decimal(3,1)", "timestamp", "date", "double", "string") for values in VALUES.values() for value in values]
    check(tidegate, pairs + [("string", maker.format(value)) for maker in MAKERS for values in VALUES.values() for value in values])


def test_casts_in_a_zone_are_guarded(tidegate):
    times = ("date", "timestamp", "timestamp_ntz", "string")
    check(tidegate, [(to, value) for to in times for kind in times for value in VALUES[kind]], "--timezone", "America/New_York")
    check(tidegate, [(to, value) for to in times for kind in times for value in VALUES[kind]], "--timezone", "Asia/Tokyo")


def test_constants_are_guarded(tidegate):
    """DuckDB's planner computes constants, also those of branches that no row takes."""
    raising = ["1/0 > 1", "1 div 0 = 1", "5 % 0 = 1", "cast('a' as int) = 1", "cast(300 as tinyint) = 1", "abs(cast(-2147483648 as int)) = 1",
               "cast(99999 as decimal(3,1)) > 1", "date'2024-01-01' > cast('x' as date)", "make_date(2024, 13, 1) is null",
               "assert_true(false) is null", "cast(timestamp'2024-01-01' as tinyint) = 1"]
    forms = ["select x from values (1) t(x) where x = 1 or {}", "select x from values (1) t(x) where not (x = 2 and {})",
             "select x from values (1) t(x) where case when x = 1 then true else {} end", "select x from values (1) t(x) where if(x = 1, true, {})",
             "select x from values (1) t(x) where coalesce(x = 1, {})", "select x from values (1) t(x) group by x having x = 1 or {}",
             "select a.x from values (1) a(x) join values (1) b(x) on a.x = b.x or {}",
             "select case when x = 1 or {} then 1 end from values (1) t(x)", "select if(x = 1 or (x = 2 and {}), 1, 0) from values (1) t(x)"]
    statements = [form.format(term) for form in forms for term in raising]
    odd = [(sql, found) for sql, found in zip(statements, answers(tidegate, statements)) if found != [[1]]]
    assert not odd, odd
    taken = answers(tidegate, [f"select x from values (2) t(x) where x = 1 or {term}" for term in raising])
    assert all(isinstance(found, str) for found in taken), taken


def test_constants_in_branches_keep_their_value(tidegate):
    assert answers(tidegate, [
        "select x from values (1), (2) t(x) where x = 1 or date'2024-01-02' = cast('2024-01-02' as date)",
        "select case when x = 1 then 'a' else cast(1.5 + x as string) end from values (2) t(x)",
        "select coalesce(x, cast('7' as int) * 2), if(x is null, 4 div 2, x) from values (cast(null as int)) t(x)",
        "select case when x = 2 then cast('2024-01-01 10:00:00' as timestamp) end from values (2) t(x)",
    ], "--timezone", "America/New_York") == [[[1], [2]], [["3.5"]], [[14, 2]], [["2024-01-01T15:00:00.000000Z"]]]
