# SPDX-License-Identifier: Apache-2.0
"""What a table must hold, by the rules of REPLACE WHERE (W1-W20), computed by DuckDB. It knows nothing of coverage.

W1: rows of the target where the predicate is not TRUE stay; rows of the query where it is TRUE come beside them. A column
that one of the two lacks is NULL there.
"""
import collections
import datetime as dt
import re
import zoneinfo

import duckdb
import pyarrow as pa

SPARK = {"nse": "<=>", "ts": "TIMESTAMP", "semi": "LEFT SEMI", "anti": "LEFT ANTI", "today": "current_date()",
         "now": "current_timestamp()", "now-12h": "current_timestamp() - INTERVAL 12 HOURS",
         "now-20h": "current_timestamp() - INTERVAL 20 HOURS"}


def in_spark(template, names):
    """names: of tables, as they stand in templates -> as they are called."""
    return substitute(template, SPARK, names)


def in_duckdb(template, now, zone):
    clock = dt.datetime.fromisoformat(now.replace("Z", "+00:00"))
    words = {"nse": "IS NOT DISTINCT FROM", "ts": "TIMESTAMPTZ", "semi": "SEMI", "anti": "ANTI",
             "today": f"DATE '{clock.astimezone(zoneinfo.ZoneInfo(zone)).date()}'", "now": instant(clock),
             "now-12h": instant(clock - dt.timedelta(hours=12)), "now-20h": instant(clock - dt.timedelta(hours=20))}
    return substitute(template, words, {})


def instant(clock):
    return f"TIMESTAMPTZ '{clock:%Y-%m-%d %H:%M:%S}+00'"


def substitute(template, words, names):
    for key, word in words.items():
        template = template.replace("{" + key + "}", word)
    for name, called in names.items():
        template = replace_word(template, name, called)
    return template


def replace_word(text, name, called):
    return re.sub(rf"(?<![\w']){name}(?![\w'])", called, text)


def has_word(text, name):
    return re.search(rf"(?<![\w']){name}(?![\w'])", text) is not None


class Oracle:
    def __init__(self):
        self.connection = duckdb.connect(config={"threads": 1})
        # A dozen rows need no plan, and what is under test has DuckDB's optimizer: here is another way to the rows.
        self.connection.execute("PRAGMA disable_optimizer")
        self.tables, self.loaded, self.zone = {}, {}, None

    def register(self, tables):
        self.tables.update(tables)

    def load(self, text):
        """Those tables that the text names, unless they are there: one is asked several times, mostly."""
        for name, table in self.tables.items():
            if self.loaded.get(name) is not table and has_word(text, name):
                self.connection.register("arrow", table)
                self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM arrow")
                self.loaded[name] = table

    def set_zone(self, zone):
        if zone != self.zone:
            self.connection.execute(f"SET TimeZone = '{zone}'")
            self.zone = zone

    def selected(self, query, view, predicate, now, zone):
        text = in_duckdb(query, now, zone)
        if view:
            text = f"WITH u AS ({in_duckdb(view['query'], now, zone)}) SELECT * FROM ({replace_word(text, 'f0', 'u')})"
        self.load(text)
        return f"SELECT * FROM ({text}) WHERE ({in_duckdb(predicate, now, zone)}) IS TRUE"

    def refreshed(self, before, query, view, predicate, now, zone):
        """All rows after a refresh over what is registered, as an arrow table. before: those of the target, None: there is no target."""
        self.set_zone(zone)
        text = self.selected(query, view, predicate, now, zone)
        if before is not None:
            self.connection.register("target", before)
            text = f"SELECT * FROM target WHERE ({in_duckdb(predicate, now, zone)}) IS NOT TRUE UNION ALL BY NAME ({text})"
        return self.connection.execute(text).to_arrow_table()

    def kept(self, table, predicate, now, zone):
        """Rows for which the predicate is not TRUE."""
        if not table.num_rows:
            return table
        self.set_zone(zone)
        self.connection.register("target", table)
        return self.connection.execute(f"SELECT * FROM target WHERE ({in_duckdb(predicate, now, zone)}) IS NOT TRUE").to_arrow_table()


def cell(value):
    return "NaN" if isinstance(value, float) and value != value else value


def bag(table, names):
    """Rows as a multiset of tuples in the order of names; a column that is not there is NULL."""
    if not table.num_rows:
        return collections.Counter()
    have = set(table.column_names)
    columns = [table.column(name).to_pylist() if name in have else [None] * table.num_rows for name in names]
    floating = [name in have and pa.types.is_floating(table.schema.field(name).type) for name in names]
    columns = [[cell(v) for v in column] if f else column for column, f in zip(columns, floating)]
    return collections.Counter(zip(*columns))
