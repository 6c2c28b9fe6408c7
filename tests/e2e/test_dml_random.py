# SPDX-License-Identifier: Apache-2.0
"""
Random INSERT, UPDATE, DELETE and MERGE against DuckDB, which runs the same statements on a table of its own: equal rows after
each, as tidegate, delta-rs and Polars read them. NULLs, duplicates and rows that match several times are common.
"""
import datetime
import decimal
import os
import random

import deltalake
import duckdb
import polars
import pyarrow
import pytest
from standalone import Warehouse

COLUMNS = {
    "k": "INT", "n": "BIGINT", "v": "STRING", "d": "DATE", "f": "DOUBLE", "m": "DECIMAL(10,2)", "b": "BOOLEAN",
    "ts": "TIMESTAMP", "s": "STRUCT<x: INT, y: STRING>", "l": "ARRAY<INT>", "p": "STRING",
}
DUCK = {"STRING": "VARCHAR", "TIMESTAMP": "TIMESTAMPTZ", "STRUCT<x: INT, y: STRING>": "STRUCT(x INT, y VARCHAR)",
        "ARRAY<INT>": "INT[]"}
MARKS = "é '' 日"


class Both:
    """One table as tidegate and as DuckDB have it."""

    def __init__(self, tidegate, seed, partitions):
        self.random = random.Random(seed)
        self.warehouse = Warehouse(tidegate)
        self.duck = duckdb.connect()
        self.duck.execute("SET TimeZone = 'UTC'")
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        by = f" PARTITIONED BY ({', '.join(partitions)})" if partitions else ""
        self.warehouse.run(f"CREATE TABLE t ({columns}){by}")
        self.duck.execute(f"CREATE TABLE t ({', '.join(f'{n} {DUCK.get(k, k)}' for n, k in COLUMNS.items())})")
        self.kinds = dict.fromkeys(("changed", "unchanged", "refused"), 0)

    # ---- text --------------------------------------------------------------------------------

    def value(self, name):
        """A literal in each dialect."""
        pick = self.random
        if pick.random() < 0.2:
            return "NULL", "NULL"
        number = pick.randrange(8)
        both = {
            "k": str(number), "n": str(number * 10**10), "v": f"'{pick.choice(['a', 'b', MARKS])}{number % 3}'",
            "d": f"DATE'2024-01-0{number + 1}'", "f": f"CAST({number / 4} AS DOUBLE)", "m": f"CAST({number}.25 AS DECIMAL(10,2))",
            "b": pick.choice(["true", "false"]), "p": f"'p{number % 3}'", "ts": f"TIMESTAMP'2024-01-01 0{number}:00:00.00000{number}'",
        }
        if name in both:
            duck = both[name].replace("TIMESTAMP'", "TIMESTAMPTZ'").replace("00000" + str(number) + "'", f"00000{number}+00'")
            return both[name], duck if name == "ts" else both[name]
        if name == "s":
            inner = "NULL" if number == 0 else f"'y{number}'"
            return f"named_struct('x', {number}, 'y', CAST({inner} AS STRING))", f"{{'x': {number}, 'y': CAST({inner} AS VARCHAR)}}"
        return f"array({number}, NULL)", f"[{number}, NULL]"

    def rows(self, names, most=6):
        """VALUES (...), (...) with a row of typed NULLs first, so that columns have types."""
        count = self.random.randrange(1, most)
        rows = [[self.value(name) for name in names] for _ in range(count)]
        kinds = [COLUMNS[name] for name in names]
        spark = ", ".join("(" + ", ".join(f"CAST({cell[0]} AS {kind})" for cell, kind in zip(row, kinds)) + ")" for row in rows)
        duck = ", ".join("(" + ", ".join(f"CAST({cell[1]} AS {DUCK.get(kind, kind)})" for cell, kind in zip(row, kinds)) + ")"
                         for row in rows)
        alias = f"AS x({', '.join(names)})"
        return f"SELECT * FROM VALUES {spark} {alias}", f"SELECT * FROM (VALUES {duck}) {alias}"

    def condition(self, alias="t."):
        number = self.random.randrange(8)
        return self.random.choice([
            f"{alias}k = {number}", f"{alias}k < {number} AND {alias}d IS NOT NULL", f"{alias}p = 'p{number % 3}'",
            f"{alias}p IS NULL OR {alias}k > {number}", f"{alias}v LIKE 'a%'", f"{alias}d >= DATE'2024-01-0{number + 1}'",
            f"NOT ({alias}b)", f"{alias}n IS NULL", f"{alias}k IN ({number}, {number + 1}, NULL)", f"{alias}f > {number / 4} OR {alias}b",
        ])

    def assignment(self, name, old="t.", source=None):
        """name = expression, the same in both dialects where possible."""
        value = self.value(name)
        choices = [value]
        if name in ("k", "n"):
            choices.append((f"{old}{name} + 1",) * 2)
        if name == "v":
            choices.append((f"substr(coalesce({old}v, '-') || coalesce({old}p, '+'), 1, 6)",) * 2)
        if source:
            choices += [(f"{source}{name}",) * 2] * 2
        return self.random.choice(choices)

    def some(self, least=1, of=tuple(COLUMNS)):
        return self.random.sample(of, self.random.randrange(least, len(of) + 1))

    # ---- statements ----------------------------------------------------------------------------

    def insert(self):
        names = self.some()
        spark, duck = self.rows(names)
        form = self.random.choice(["BY NAME", "LIST"])
        listed = ", ".join(names)
        into = "BY NAME" if form == "BY NAME" else f"({listed})"
        return f"INSERT INTO t {into} {spark}", [f"INSERT INTO t ({listed}) {duck}"]

    def overwrite(self):
        spark, duck = self.rows(list(COLUMNS))
        return f"INSERT OVERWRITE t {spark}", ["DELETE FROM t", f"INSERT INTO t {duck}"]

    def replace_where(self):
        names = self.some(least=len(COLUMNS))
        spark, duck = self.rows(names)
        where = self.condition("")
        listed = ", ".join(names)
        return (f"INSERT INTO t BY NAME REPLACE WHERE {where} SELECT * FROM ({spark}) WHERE {where}",
                [f"DELETE FROM t WHERE {where}", f"INSERT INTO t ({listed}) SELECT * FROM ({duck}) WHERE {where}"])

    def replace_keys(self):
        """USING takes no NULLs; ON takes them with <=>."""
        names = self.some(least=len(COLUMNS))
        keys = self.random.sample(["k", "p", "d", "v", "m"], self.random.randrange(1, 3))
        spark, duck = self.rows(names)
        listed = ", ".join(names)
        if self.random.random() < 0.5:
            equal = " AND ".join(f"t.{key} = x.{key}" for key in keys)
            text = f"INSERT INTO t BY NAME REPLACE USING ({', '.join(keys)}) {spark}"
        else:
            equal = " AND ".join(f"t.{key} IS NOT DISTINCT FROM x.{key}" for key in keys)
            safe = " AND ".join(f"o.{key} <=> x.{key}" for key in keys)
            text = f"INSERT INTO t AS o BY NAME REPLACE ON {safe} ({spark}) AS x"
        return text, [f"CREATE OR REPLACE TEMP TABLE x AS {duck}", f"DELETE FROM t WHERE EXISTS (SELECT 1 FROM x WHERE {equal})",
                      f"INSERT INTO t ({listed}) SELECT * FROM x"]

    def update(self):
        names = [name for name in self.some() if name not in ("s", "l")] or ["k"]
        pairs = [(name, *self.assignment(name, "")) for name in names]
        where = self.random.choice(["", f" WHERE {self.condition('')}", " WHERE k IN (SELECT max(k) FROM t)",
                                    " WHERE EXISTS (SELECT 1 FROM t o WHERE o.k > t.k AND o.p = t.p)"])
        return (f"UPDATE t SET {', '.join(f'{n} = {s}' for n, s, _ in pairs)}{where}",
                [f"UPDATE t SET {', '.join(f'{n} = {d}' for n, _, d in pairs)}{where}"])

    def delete(self):
        where = self.random.choice([f" WHERE {self.condition('')} AND k > 2", " WHERE n > (SELECT avg(n) FROM t)",
                                    " WHERE p IN (SELECT p FROM t WHERE k = 7)", f" WHERE {self.condition('')}"])
        return f"DELETE FROM t{where}", [f"DELETE FROM t{where}"]

    def clause(self, when, source):
        """A clause without its condition, in both dialects."""
        names = [name for name in self.some() if name not in ("s", "l")] or ["k"]
        if when == "NOT MATCHED":
            values = [self.assignment(name, "s.") if name in source else self.value(name) for name in names]
            if self.random.random() < 0.3 and len(source) == len(COLUMNS):
                return "INSERT *", f"INSERT ({', '.join(COLUMNS)}) VALUES ({', '.join('s.' + name for name in COLUMNS)})"
            return tuple(f"INSERT ({', '.join(names)}) VALUES ({', '.join(value[i] for value in values)})" for i in (0, 1))
        if self.random.random() < 0.3:
            return "DELETE", "DELETE"
        if when == "MATCHED" and self.random.random() < 0.3 and len(source) == len(COLUMNS):
            return "UPDATE SET *", "UPDATE SET " + ", ".join(f"{name} = s.{name}" for name in COLUMNS)
        pairs = [(name, *self.assignment(name, "t.", "s." if when == "MATCHED" and name in source else None)) for name in names]
        return tuple("UPDATE SET " + ", ".join(f"{pair[0]} = {pair[i]}" for pair in pairs) for i in (1, 2))

    def merge(self):
        names = self.random.choice([list(COLUMNS), ["k", "p", "d", "v", "n", "b", "f"]])
        spark, duck = self.rows(names, most=5)
        if self.random.random() < 0.5:
            one = "GROUP BY k" if len(names) == 7 else None
            if one:
                aggregates = ", ".join("k" if name == "k" else f"max({name}) AS {name}" for name in names)
                spark, duck = (f"SELECT {aggregates} FROM ({text}) {one}" for text in (spark, duck))
        equal = self.random.choice(["t.k = s.k", "t.k = s.k AND t.p = s.p", "t.k = s.k AND (t.d > s.d OR s.d IS NULL)", "t.v = s.v",
                                    "t.k = s.k AND t.p = 'p1'", "t.k > s.k + 5"])
        clauses = []
        for when in ("MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"):
            count = self.random.choice([0, 1, 1, 2])
            for i in range(count):
                alias = {"MATCHED": self.random.choice(["t.", "s."]), "NOT MATCHED": "s.", "NOT MATCHED BY SOURCE": "t."}[when]
                needs = i + 1 < count or self.random.random() < 0.4
                condition = f" AND ({self.condition(alias)})" if needs else ""
                clauses.append((f"WHEN {when}{condition} THEN ", when, *self.clause(when, names)))
        if not clauses:
            clauses = [("WHEN MATCHED THEN ", "MATCHED", "DELETE", "DELETE")]
        self.random.shuffle(clauses)
        clauses.sort(key=lambda clause: " AND (" not in clause[0])  # the last of a kind may have no condition
        texts = [f"MERGE INTO t USING ({source}) AS s ON {equal} " + " ".join(c[0] + c[i] for c in clauses)
                 for source, i in ((spark, 2), ("SELECT * FROM x", 3))]
        matched = [clause for clause in clauses if clause[1] == "MATCHED"]
        any_of = " OR ".join("(" + (c[0].split(" AND ", 1)[1][:-6] if " AND " in c[0] else "true") + ")" for c in matched)
        single_delete = len(matched) == 1 and matched[0][2] == "DELETE" and " AND " not in matched[0][0]
        self.duck.execute(f"CREATE OR REPLACE TEMP TABLE x AS {duck}")
        repeated = matched and not single_delete and self.duck.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM t JOIN x AS s ON {equal} WHERE {any_of} GROUP BY t.rowid HAVING count(*) > 1)"
        ).fetchone()[0]
        if repeated:
            return texts[0], None
        return texts[0], [texts[1]]

    # ---- comparing -----------------------------------------------------------------------------

    def step(self):
        make = self.random.choice([self.insert, self.insert, self.update, self.delete, self.merge, self.merge, self.merge,
                                   self.replace_keys, self.replace_where, self.overwrite])
        spark, duck = make()
        log = self.warehouse.path("t") / "_delta_log"
        version = len(list(log.glob("*.json")))
        if duck is None:
            self.warehouse.fails(spark, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "row_number()")
            self.kinds["refused"] += 1
        else:
            self.warehouse.run(spark)
            for text in duck:
                self.duck.execute(text)
        made = len(list(log.glob("*.json"))) - version
        assert made in (0, 1)
        self.kinds["changed" if made else "unchanged"] += 1
        self.compare(spark)

    def compare(self, statement):
        expected = normal(self.duck.execute("SELECT * REPLACE (ts AT TIME ZONE 'UTC' AS ts) FROM t").fetchall())
        table = deltalake.DeltaTable(str(self.warehouse.path("t")))
        reader = deltalake.QueryBuilder().register("t", table)
        rows = pyarrow.table(reader.execute(f"SELECT {', '.join(COLUMNS)} FROM t").read_all()).to_pylist()
        assert normal(tuple(row.values()) for row in rows) == expected, statement
        frame = polars.read_delta(str(self.warehouse.path("t"))).select(list(COLUMNS))
        assert normal(frame.rows()) == expected, statement
        count, = self.warehouse.rows("SELECT count(*), sum(k), count(s.x), max(p), min(d) FROM t")
        assert count == [str(cell) if isinstance(cell, datetime.date) else cell for cell in self.duck.execute(
            "SELECT count(*), CAST(sum(k) AS BIGINT), count(s.x), max(p), min(d) FROM t").fetchone()], statement


def cell_text(cell):
    if isinstance(cell, datetime.datetime):
        return cell.replace(tzinfo=None).isoformat()  # all of them are UTC
    if isinstance(cell, dict):
        return str({key: cell_text(inner) for key, inner in cell.items()})
    if isinstance(cell, (decimal.Decimal, float)):
        return f"{cell:.4f}"
    return str(cell)


def normal(rows):
    return sorted([cell_text(cell) for cell in row] for row in rows)


@pytest.mark.parametrize(("seed", "partitions"), [(0, ()), (1, ("p",)), (2, ("d", "p"))], ids=["plain", "partitioned", "twice"])
def test_random_statements(tidegate, seed, partitions):
    seed += 1000 * int(os.environ.get("TIDEGATE_TEST_SEED", "0"))
    both = Both(tidegate, seed, partitions)
    for _ in range(int(os.environ.get("TIDEGATE_TEST_STEPS", "14"))):
        both.step()
    assert both.kinds["changed"] > 4, both.kinds
