# SPDX-License-Identifier: Apache-2.0
"""Random histories: schemas, data, queries, predicates, steps.

A history is plain JSON, with everything that happens written out, so that it can be shrunk, kept and played again however
this generator changes. Texts are templates for two dialects (oracle.py, render).
"""
AXES = [("d", "DATE")] * 5 + [("ts", "TIMESTAMP"), ("ts", "TIMESTAMP"), ("s", "STRING"), ("s", "STRING"), ("k", "INT"),
                              ("q", "DECIMAL(10,2)"), ("b", "BOOLEAN"), ("x", "DOUBLE"), ("i", "SMALLINT"), ("v", "BIGINT")]
PAYLOADS = [("d", "DATE"), ("ts", "TIMESTAMP"), ("s", "STRING"), ("q", "DECIMAL(10,2)"), ("b", "BOOLEAN"), ("x", "DOUBLE"),
            ("y", "FLOAT"), ("i", "SMALLINT"), ("j", "TINYINT"), ("z", "BINARY")]
DIMENSION = [("k", "INT"), ("w", "STRING"), ("z2", "BIGINT")]
FACTS, DIMENSIONS = ("f0", "f1"), ("m",)
ZONES = ["UTC"] * 7 + ["America/New_York", "Asia/Kolkata", "Europe/Berlin"]
STRINGS = ["a", "b", "A", "é", "日本", "a b", "%41", "~"]
DOMAINS = {
    "DATE": [f"2024-03-{n:02}" for n in range(1, 9)],
    "TIMESTAMP": [f"2024-03-{n:02}T{h}:00Z" for n in range(1, 7) for h in ("00:00", "05:30", "17:59", "23:00")],
    "STRING": STRINGS, "INT": list(range(-2, 6)), "BIGINT": [-5, 0, 1, 2, 3, 2**40], "SMALLINT": [-3, 0, 1, 2, 3],
    "TINYINT": [-1, 0, 1], "DOUBLE": ["-1.5", "0.0", "0.25", "1.5", "1e300", "NaN", "Infinity"],
    "FLOAT": ["-1.5", "0.0", "0.25", "NaN"], "BOOLEAN": [True, False],
    "BINARY": ["", "00ff", "6162"], "DECIMAL(10,2)": ["-1.25", "0.00", "0.10", "1.50", "2.50", "99999999.99"],
}
PROPERTIES = [{}, {}, {"note": "1"}, {"note": "2"}, {"delta.dataSkippingNumIndexedCols": "1"}]


def value(rng, kind, nulls=0.15):
    return None if rng.random() < nulls else rng.choice(DOMAINS[kind])


def rows(rng, columns, count):
    made = []
    for _ in range(count):
        row = [value(rng, kind) for _, kind in columns]
        made += [row] * rng.choice((1, 1, 1, 2))
    return made


def literal(rng, kind):
    text = rng.choice(DOMAINS[kind])
    if kind == "DATE":
        return f"DATE'{text}'"
    if kind == "TIMESTAMP":
        return "{ts}'" + text.replace("T", " ").replace("Z", "") + "'"
    if kind == "STRING":
        return f"'{text}'"
    if kind == "DOUBLE":
        return rng.choice(["-1.5", "0.25", "0.0", "2.0"])
    return str(text).lower()


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.axes = []
        while len(self.axes) < 2:
            axis = rng.choice(AXES)
            if axis not in self.axes:
                self.axes.append(axis)
        payloads = [p for p in rng.sample(PAYLOADS, rng.randrange(4)) if p not in self.axes]
        self.columns = list(dict.fromkeys(self.axes + [("k", "INT"), ("v", "BIGINT")] + payloads))
        self.now, self.zone = "2024-03-04T12:00:00Z", "UTC"
        self.tables = {name: self.columns for name in FACTS} | {name: DIMENSION for name in DIMENSIONS}

    # ---- predicates

    def moving(self, name, kind):
        rng = self.rng
        if kind == "DATE":
            low, high = rng.randrange(4), rng.randrange(3)
            return rng.choice([f"{name} >= {{today}} - {low}", f"{name} >= {{today}} - {low}", f"{name} > {{today}} - {low}",
                               f"{name} BETWEEN {{today}} - {low} AND {{today}} + {high}", f"{name} = {{today}} - {high}",
                               f"{name} <= {{today}}"])
        return rng.choice([f"{name} >= {{now-12h}}", f"{name} > {{now-20h}} AND {name} <= {{now}}",
                           f"CAST({name} AS DATE) >= {{today}} - {rng.randrange(3)}", f"{name} < {{now}}"])

    def atom(self):
        rng = self.rng
        name, kind = rng.choice((self.axes[0], *self.axes))
        if kind in ("DATE", "TIMESTAMP") and rng.random() < 0.5:
            return self.moving(name, kind)
        if kind == "BOOLEAN" and rng.random() < 0.5:
            return rng.choice([name, f"NOT {name}", f"{name} IS TRUE", f"{name} IS NOT FALSE"])
        if rng.random() < 0.15:
            opaque = {"DATE": f"day({name}) > 3", "TIMESTAMP": f"CAST({name} AS DATE) = DATE'2024-03-03'",
                      "STRING": rng.choice([f"{name} LIKE 'a%'", f"length({name}) = 1", f"upper({name}) = 'A'"]),
                      "BOOLEAN": f"coalesce({name}, true)", "DECIMAL(10,2)": f"{name} * 2 > 1", "DOUBLE": f"{name} + 1 > 1"}
            return opaque.get(kind, rng.choice([f"{name} % 2 = 1", f"abs({name}) > 1", f"coalesce({name}, 0) = 0"]))
        a, b = literal(rng, kind), literal(rng, kind)
        return rng.choice([f"{name} >= {a}", f"{name} <= {a}", f"{name} < {a}", f"{name} > {a}", f"{name} = {a}", f"{name} = {a}",
                           f"{name} <> {a}", f"{name} BETWEEN {a} AND {b}", f"{name} >= {a} AND {name} < {b}",
                           f"{name} IN ({a}, {b})", f"{name} IN ({a}, NULL)", f"{name} NOT IN ({a}, {b})", f"{name} IS NULL",
                           f"{name} IS NOT NULL", f"{name} {{nse}} {a}", f"{name} {{nse}} NULL"])

    def predicate(self, depth=2):
        rng, how = self.rng, self.rng.random()
        if depth == 0 or how < 0.5:
            return self.atom() if rng.random() < 0.985 else rng.choice(["true", "false"])
        if how < 0.72:
            return f"({self.predicate(depth - 1)}) AND ({self.predicate(depth - 1)})"
        if how < 0.9:
            return f"({self.predicate(depth - 1)}) OR ({self.predicate(depth - 1)})"
        return f"NOT ({self.predicate(depth - 1)})"

    # ---- queries: every output has the axes; a name stands for one type

    def names(self, *more):
        return list(dict.fromkeys([name for name, _ in self.axes] + list(more)))

    def every(self):
        return [name for name, _ in self.columns]

    def order(self, names):
        return ", ".join(f"{name} NULLS FIRST" for name in names)

    def where(self, table=""):
        prefix = table + "." if table else ""
        return self.rng.choice(["", "", f" WHERE {prefix}v <> 2", f" WHERE {prefix}k >= 0", f" WHERE {prefix}k IS NOT NULL",
                                f" WHERE {prefix}v IN (0, 1, 3) OR {prefix}k = 1"])

    def query_projection(self):
        extra = self.rng.choice(["", "", ", v + 1 AS v1", ", CASE WHEN k > 2 THEN 'big' ELSE 'small' END AS size",
                                 ", '<' || CAST(k AS STRING) || '>' AS tag", ", k * 2 AS k2, v IS NULL AS nov"])
        names = self.every() if self.rng.random() < 0.7 else self.names("k")
        return f"SELECT {', '.join(names)}{extra} FROM f0{self.where()}"

    def query_time(self):
        name, kind = next(((n, k) for n, k in self.columns if k in ("DATE", "TIMESTAMP")), (None, None))
        test = {"DATE": f"{name} >= {{today}}", "TIMESTAMP": f"{name} >= {{now}}"}.get(kind, "DATE'2024-03-04' >= {today}")
        return f"SELECT {', '.join(self.names('k', 'v'))}, CASE WHEN {test} THEN 1 ELSE 0 END AS fresh FROM f0"

    def query_join(self):
        kind = self.rng.choice(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "RIGHT JOIN", "FULL JOIN"])
        condition = self.rng.choice(["f0.k = m.k", "f0.k = m.k", "f0.k {nse} m.k", "f0.k = m.k AND m.z2 > 0", "f0.k = m.k AND f0.v < m.z2"])
        if kind == "FULL JOIN":
            condition = "f0.k = m.k"
        columns = ", ".join(f"f0.{name}" for name in self.names("k", "v"))
        return f"SELECT {columns}, m.w, m.z2 FROM f0 {kind} m ON {condition}" + (self.where("f0") if kind != "FULL JOIN" else "")

    def query_semi(self):
        columns = ", ".join(f"f0.{name}" for name in self.names("k", "v"))
        return self.rng.choice([
            f"SELECT {columns} FROM f0 WHERE f0.k IN (SELECT k FROM m)",
            f"SELECT {columns} FROM f0 WHERE EXISTS (SELECT 1 FROM m WHERE m.k = f0.k)",
            f"SELECT {columns} FROM f0 WHERE NOT EXISTS (SELECT 1 FROM m WHERE m.k = f0.k)",
            f"SELECT {columns} FROM f0 {{semi}} JOIN m ON f0.k = m.k",
            f"SELECT {columns} FROM f0 {{anti}} JOIN m ON f0.k = m.k",
            f"SELECT {columns} FROM f0 WHERE f0.v >= (SELECT min(z2) FROM m)"])

    def query_aggregate(self):
        group = ", ".join(self.names(*self.rng.choice([(), (), ("k",)])))
        values = self.rng.sample(["count(*) AS n", "CAST(sum(v) AS BIGINT) AS sv", "max(v) AS xv", "min(k) AS mk",
                                  "count(DISTINCT k) AS dk", "count(v) AS nv", "max(k) AS xk"], self.rng.randint(1, 3))
        having = self.rng.choice(["", "", "", " HAVING count(*) > 1"])
        return f"SELECT {group}, {', '.join(values)} FROM f0{self.where()} GROUP BY {group}{having}"

    def query_join_aggregate(self):
        group = ", ".join(f"f0.{name}" for name in self.names())
        kind = self.rng.choice(["JOIN", "LEFT JOIN"])
        return (f"SELECT {group}, count(*) AS n, CAST(sum(m.z2) AS BIGINT) AS sz FROM f0 {kind} m ON f0.k = m.k "
                f"GROUP BY {group}")

    def query_over_aggregate(self):
        """The window's columns are aggregates: legal, and never below the grouping (W5)."""
        by = "g"
        columns = ", ".join(f"max({name}) AS {name}" for name in self.names())
        return f"SELECT coalesce(k, -9) AS {by}, {columns}, count(*) AS n FROM f0 GROUP BY coalesce(k, -9)"

    def query_distinct(self):
        return f"SELECT DISTINCT {', '.join(self.names(*self.rng.choice([(), ('k',)])))} FROM f0{self.where()}"

    def query_set(self):
        names = ", ".join(self.names("k", "v"))
        word = self.rng.choice(["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
        return f"SELECT {names} FROM f0{self.where()} {word} SELECT {names} FROM f1"

    def query_window(self):
        names, by = self.every(), self.rng.choice(["k", self.axes[0][0]])
        order = self.order(n for n in names)
        selected = ", ".join(self.names("k", "v"))
        over = f"OVER (PARTITION BY {by} ORDER BY {order})"
        return self.rng.choice([
            f"SELECT {selected}, row_number() {over} AS rn FROM f0",
            f"SELECT {selected}, CAST(sum(v) OVER (PARTITION BY {by}) AS BIGINT) AS sw FROM f0",
            f"SELECT {selected}, max(v) OVER (PARTITION BY {by}) AS xw, count(*) OVER (PARTITION BY {by}) AS nw FROM f0",
            f"SELECT {selected}, lag(v) {over} AS pv FROM f0",
            f"SELECT {', '.join(names)} FROM f0 QUALIFY row_number() {over} = 1"])

    def query_nested(self):
        selected = ", ".join(self.names("k"))
        return self.rng.choice([
            f"WITH c AS (SELECT * FROM f0 WHERE v IS NOT NULL) SELECT {selected}, c.v FROM c WHERE c.k <> 1"
            if ("v", "BIGINT") not in self.axes else f"WITH c AS (SELECT * FROM f0) SELECT {selected} FROM c",
            f"SELECT {selected}, n FROM (SELECT {selected}, count(*) AS n FROM f0 GROUP BY {selected}) WHERE n < 3",
            f"SELECT {selected}, (SELECT max(z2) FROM m) AS mz FROM f0"])

    def query(self):
        """(shape, text, view or None): a view stands between the query and f0."""
        shapes = ["projection"] * 4 + ["join"] * 4 + ["aggregate"] * 4 + ["set", "set", "window", "window", "semi", "semi",
                                                                        "distinct", "time", "join_aggregate", "over_aggregate", "nested"]
        shape = self.rng.choice(shapes)
        text = getattr(self, "query_" + shape)()
        view = None
        if self.rng.random() < 0.15:
            view = {"kind": self.rng.choice(["TEMPORARY VIEW", "MATERIALIZED VIEW"]),
                    "query": f"SELECT * FROM f0 WHERE {self.rng.choice(['v <> 3', 'k IS NOT NULL', 'true'])}"}
        return shape, text, view

    # ---- steps

    def refresh(self, **more):
        return {"do": "refresh", "now": self.now, "zone": self.zone, **more}

    def changed_source(self):
        rng = self.rng
        name = rng.choice(["f0", "f0", "f0", "f1", "m", "m"])
        return name, self.tables[name]

    def step_source_append(self):
        name, columns = self.changed_source()
        return {"source": name, "rows": rows(self.rng, columns, self.rng.randint(1, 4)), "by": self.rng.choice(["own", "own", "delta-rs"])}

    def step_source_replace(self):
        """Some rows stay, some go, some come."""
        name, columns = self.changed_source()
        return {"source": name, "keep": self.rng.random(), "rows": rows(self.rng, columns, self.rng.randint(0, 3))}

    def step_source_delete(self):
        return {"source": self.changed_source()[0], "where": self.rng.choice(["k = 1", "k IS NULL", "k > 2", "k < 0"]),
                "by": self.rng.choice(["delta-rs", "sql"])}

    def step_source_update(self):
        name, _ = self.changed_source()
        return {"source": name, "where": self.rng.choice(["k = 0", "k >= 3", "k IS NULL"]), "set": ["k", str(self.rng.randint(-2, 5))],
                "by": self.rng.choice(["delta-rs", "sql"])}

    def step_source_recreate(self):
        name, columns = self.changed_source()
        return {"source": name, "rows": rows(self.rng, columns, self.rng.randint(0, 8))}

    def step_source_optimize(self):
        return {"source": self.changed_source()[0]}

    def step_source_restore(self):
        return {"source": self.changed_source()[0], "back": self.rng.randint(1, 3)}

    def step_source_vacuum(self):
        return {"source": self.changed_source()[0]}

    def step_target_insert(self):
        return {"rows": rows(self.rng, self.axes, self.rng.randint(1, 3)), "by": self.rng.choice(["own", "delta-rs"])}

    def step_target_delete(self):
        return {"pick": self.rng.random()}

    def step_target_update(self):
        return {"pick": self.rng.random()}

    def step_target_sql_delete(self):
        return {"predicate": self.predicate(1), "now": self.now, "zone": self.zone}

    def step_target_optimize(self):
        return {}

    def step_target_restore(self):
        return {"back": self.rng.randint(1, 4)}

    def step_target_clean(self):
        return {"keep": self.rng.randint(0, 3)}

    def step_target_vacuum(self):
        return {}

    def step_clock(self):
        day = int(self.now[8:10])
        day = min(8, max(1, day + self.rng.choice([1, 1, 1, 1, 2, -1])))
        self.now = f"2024-03-{day:02}T{self.rng.choice(['12:00:00', '12:00:00', '22:30:00'])}Z"
        return None

    def step_zone(self):
        self.zone = self.rng.choice(ZONES)
        return None

    def step_predicate(self):
        return {"predicate": self.predicate()}

    def step_query(self):
        shape, text, view = self.query()
        return {"shape": shape, "query": text, "view": view}

    def step_properties(self):
        return {"properties": self.rng.choice(PROPERTIES)}

    def step_override(self):
        return self.refresh(override=self.predicate(1))

    def step_full(self):
        return self.refresh(full=True)

    def step_target_sql_restore(self):
        return {"back": self.rng.randint(1, 4)}

    def step_again(self):
        return self.refresh()

    def step_pair(self):
        """Half of them disjoint: two commits that both stay, over files that both would rewrite."""
        rng = self.rng
        overrides = [rng.choice([None, self.predicate(1)]), self.predicate(1)]
        if rng.random() < 0.5:
            name, kind = rng.choice(self.axes)
            a = literal(rng, kind)
            overrides = rng.choice([[f"{name} < {a}", f"{name} >= {a}"], [f"{name} = {a}", f"{name} <> {a}"],
                                    [f"{name} <= {a}", f"{name} > {a} OR {name} IS NULL"]])
        return {"now": self.now, "zone": self.zone, "overrides": rng.sample(overrides, 2)}

    def step_kill(self):
        return {"now": self.now, "zone": self.zone, "after_ms": self.rng.randint(5, 120)}

    def step_program(self):
        """Through the program: plan, then run."""
        return self.refresh(through="program", override=self.rng.choice([None, None, self.predicate(1)]))

    WEIGHTS = {"source_append": 14, "source_replace": 8, "source_delete": 4, "source_update": 4, "source_recreate": 1,
               "source_optimize": 1, "source_restore": 1.5, "source_vacuum": 1, "target_insert": 4, "target_delete": 4,
               "target_update": 3, "target_sql_delete": 3, "target_optimize": 2, "target_restore": 2.5, "target_clean": 2,
               "target_vacuum": 1, "clock": 12, "zone": 3, "predicate": 7, "query": 6, "properties": 1, "override": 8,
               "again": 6, "full": 2, "target_sql_restore": 1.5, "pair": 4, "kill": 0.4, "program": 0.6}

    def history(self):
        rng = self.rng
        shape, text, view = self.query()
        tables = {name: rows(rng, columns, rng.randint(0, 10) if name != "f0" else rng.randint(2, 14))
                  for name, columns in self.tables.items()}
        partition = self.axes[0] if rng.random() < 0.25 and self.axes[0][1] not in ("DOUBLE", "TIMESTAMP", "DECIMAL(10,2)") else None
        made = {"axes": self.axes, "columns": self.columns, "partition": partition[0] if partition else None, "rows": tables,
                "shape": shape, "query": text, "view": view, "predicate": self.predicate(), "properties": rng.choice(PROPERTIES),
                "steps": [self.refresh()]}
        names, weights = list(self.WEIGHTS), list(self.WEIGHTS.values())
        for _ in range(rng.randint(6, 10)):
            kind = rng.choices(names, weights)[0]
            step = getattr(self, "step_" + kind)()
            if step is not None:
                made["steps"].append({"do": kind, **step} if "do" not in step else step)
            if "do" not in (step or {}) and rng.random() < 0.8:
                made["steps"].append(self.refresh())
        return made


def decode(kind, text):
    """A value of a history's JSON as Python has it."""
    import datetime as dt
    import decimal
    if text is None or kind in ("STRING", "INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN"):
        return text
    if kind == "DATE":
        return dt.date.fromisoformat(text)
    if kind == "TIMESTAMP":
        return dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if kind in ("DOUBLE", "FLOAT"):
        return float(text)
    return bytes.fromhex(text) if kind == "BINARY" else decimal.Decimal(text)


def decode_rows(columns, encoded):
    return [tuple(decode(kind, text) for (_, kind), text in zip(columns, row)) for row in encoded]
