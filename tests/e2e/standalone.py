# SPDX-License-Identifier: Apache-2.0
"""A warehouse that is worked on by statements only; what they wrote is read by delta-rs too."""
import json

import deltalake
import pyarrow

DIGITS = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
# id: 0 to 999
THOUSAND = f"(SELECT x.v + 10 * y.v + 100 * z.v AS id FROM {DIGITS} AS x(v) CROSS JOIN {DIGITS} AS y(v) CROSS JOIN {DIGITS} AS z(v))"


class Warehouse:
    def __init__(self, tidegate, now="2024-06-10"):
        self.tidegate, self.folder, self.now = tidegate, tidegate.folder, now

    def run(self, *statements, status=0, options=(), **how):
        """The finished process of one `tidegate sql`."""
        arguments = [part for text in statements for part in ("-e", text)]
        now = ("--now", self.now) if self.now else ()
        return self.tidegate("sql", "--warehouse", "wh", *now, *options, *arguments, status=status, **how)

    def fails(self, statement, error_class, *words, status=1, options=()):
        """The words of a statement that is refused."""
        done = self.run(statement, status=status, options=options)
        assert f"[{error_class}]" in done.stderr
        for word in words:
            assert word in done.stderr
        return done.stderr

    def says(self, statement, options=()):
        return self.run(statement, options=options).stdout.strip()

    def rows(self, query, options=()):
        """Lists of cells, in order."""
        lines = self.run(query, options=("--format", "rows", *options)).stdout.splitlines()
        return sorted((json.loads(line) for line in lines[1:]), key=str)

    def cell(self, query):
        return self.rows(query)[0][0]

    def described(self, name):
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE EXTENDED {name}")}

    def path(self, name):
        return self.folder / "wh" / "main" / "default" / name

    def table(self, name):
        return deltalake.DeltaTable(str(self.path(name)))

    def property(self, name, key):
        return self.table(name).metadata().configuration.get(f"tidegate.{key}")

    def foreign(self, name):
        """All rows as delta-rs reads them: lists of cells."""
        reader = deltalake.QueryBuilder().register("t", self.table(name))
        table = pyarrow.table(reader.execute("SELECT * FROM t").read_all())
        return sorted([list(row.values()) for row in table.to_pylist()], key=str)

    def storage(self, name):
        return self.folder / "wh" / ".tidegate" / str(self.table(name).metadata().id)

    def events(self, name):
        """Of all refreshes of the table."""
        files = (self.storage(name) / "events").glob("*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


SALES = (
    "CREATE TABLE sales (day DATE, region STRING, amount INT)",
    "INSERT INTO sales VALUES (DATE'2024-06-01', 'eu', 1), (DATE'2024-06-08', 'eu', 2), (DATE'2024-06-09', 'us', 3), "
    "(NULL, 'eu', 4)",
)
RECENT = "FLOW REPLACE WHERE day >= date_add(current_date(), -7) BY NAME SELECT day, region, amount FROM sales"
