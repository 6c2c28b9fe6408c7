# SPDX-License-Identifier: Apache-2.0
"""Several processes write one table at once: no row that was reported as inserted is lost."""
import concurrent.futures

import polars


def test_inserts_at_once(tidegate):
    tidegate("sql", "-e", "CREATE TABLE t (writer INT, number INT)")

    def insert(writer):
        for number in range(4):
            tidegate("sql", "-e", f"INSERT INTO t VALUES ({writer}, {number})")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(insert, range(4)))
    rows = polars.read_delta(str(tidegate.folder / "warehouse/main/default/t")).rows()
    assert sorted(rows) == [(writer, number) for writer in range(4) for number in range(4)]
