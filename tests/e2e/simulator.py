# SPDX-License-Identifier: Apache-2.0
"""What a REPLACE WHERE table must hold, by the one rule that defines it, computed by another engine (DuckDB).

The rule: rows of the target where the predicate is not TRUE stay; rows of the query where it is TRUE are put beside them.
Nothing else is known here: no change sets, no pruning, no pushdown. Queries and predicates are given in DuckDB's SQL.
"""
import duckdb


class Target:
    """One table and its refreshes."""

    def __init__(self, query, predicate):
        self.query = query
        self.predicate = predicate
        self.rows = None

    def refresh(self, sources, now):
        """Refreshes from sources (name -> arrow table); {now} in query and predicate becomes the date literal."""
        today = f"DATE '{now}'"
        connection = duckdb.connect()
        for name, table in sources.items():
            connection.register(name, table)
        predicate = self.predicate.format(now=today)
        new = f"SELECT * FROM ({self.query.format(now=today)}) WHERE ({predicate}) IS TRUE"
        if self.rows is not None:
            connection.register("target", self.rows)
            new = f"SELECT * FROM target WHERE ({predicate}) IS NOT TRUE UNION ALL BY NAME {new}"
        self.rows = connection.sql(new).to_arrow_table()

    def multiset(self):
        return multiset(self.rows.to_pylist())


def multiset(rows):
    """Rows as a sorted list, so that duplicates count and order does not."""
    return sorted((tuple(sorted(row.items())) for row in rows), key=repr)
