# SPDX-License-Identifier: Apache-2.0
"""An update with nothing to do is cheap: DuckDB, which costs most of the start, is not even loaded."""
import datetime as dt
import json

import pyarrow as pa
from project import Project

FLOWS = 100
SCHEMA = pa.schema([("day", pa.date32()), ("v", pa.int64())])
FLOW = ("CREATE OR REFRESH STREAMING TABLE t{n:03d}\n"
        "FLOW REPLACE WHERE day >= date_add(current_date(), -7) BY NAME\nSELECT * FROM s{n:03d};\n")


def opened(done):
    """The dynamic linker's own report of what it looked for and opened."""
    assert "find library=" in done.stderr or "calling init" in done.stderr
    return "libduckdb" in done.stderr


def test_no_op_of_many_flows_does_not_load_duckdb(tidegate):
    project = Project(tidegate, **{f"t{n:03d}": FLOW.format(n=n) for n in range(FLOWS)})
    for n in range(FLOWS):
        project.write(f"s{n:03d}", SCHEMA, [(dt.date(2024, 3, 10), n)])
    debug = {"LD_DEBUG": "files,libs"}
    run = ("run", "--now", "2024-03-10", "--json")
    assert opened(tidegate(*run, env=debug)), "the first update needs the engine: the test can see it"
    versions = [project.version(f"t{n:03d}") for n in range(FLOWS)]
    again = tidegate(*run, env=debug)
    flows = json.loads(again.stdout.splitlines()[-1])["flows"]
    assert [f["technique"] for f in flows] == ["NO_OP"] * FLOWS
    assert not opened(again)
    assert [project.version(f"t{n:03d}") for n in range(FLOWS)] == versions


def test_version_and_parse_errors_do_not_load_duckdb(tidegate):
    debug = {"LD_DEBUG": "files,libs"}
    assert not opened(tidegate("--version", env=debug))
    assert not opened(tidegate("sql", "-e", "SELECT FROM WHERE", status=None, env=debug))
