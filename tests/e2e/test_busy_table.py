# SPDX-License-Identifier: Apache-2.0
"""Tables that other writers commit to all the time: memory of a refresh stays small, whatever was committed since the last one."""
import json
import os
import resource
import subprocess

import deltalake
import pyarrow as pa
from project import Project

SCHEMA = pa.schema([("k", pa.int32()), ("round", pa.int32()), ("n", pa.int64())])
DEFINITION = "CREATE STREAMING TABLE t FLOW REPLACE WHERE {window} BY NAME SELECT k, round, n FROM s;\n"
NOW = "2024-03-01"
KEYS = 1_000
COMMITS = 200
ADDRESS_SPACE = 1 << 30  # bytes; sanitizers need more
BATCH = 10


def project_of(tidegate, window):
    project = Project(tidegate, t=DEFINITION.format(window=window))
    with open(tidegate.folder / "spark-pipeline.yml", "a", encoding="utf-8") as spec:
        spec.write("  threads: 1\n")
    project.write("s", SCHEMA, [(k, 0, k) for k in range(KEYS)])
    return project


def bounded(project, *arguments):
    """The summary of a process that may not have more memory."""
    def limit():
        if not os.environ.get("TIDEGATE_SANITIZE"):
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    done = subprocess.run([os.environ["TIDEGATE_BIN"], *arguments, "--now", NOW, "--json"], cwd=project.folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit, timeout=600, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])["flows"][0]


def append(project, keys):
    rows = [(k, -1, -k) for k in keys]
    table = pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows), SCHEMA)], schema=SCHEMA)
    deltalake.write_deltalake(project.path("t"), table, mode="append")


def rows(project):
    return sorted((row["k"], row["round"], row["n"]) for row in project.polars("t"))


def test_hundreds_of_commits_since_the_state(tidegate):
    """Each takes a row out of the piece that is recorded, and many boxes and intervals stay of it."""
    project = project_of(tidegate, "k >= 0")
    project.run(NOW)
    for number in range(COMMITS):
        append(project, [3 * number])
        if number % 100 == 50:
            deltalake.DeltaTable(project.path("t")).optimize.compact()
    flow = bounded(project, "run", "--replace-where", "t=k >= 0 AND k < 30")
    assert flow["technique"] == "COMPLETE_REPLACE_WHERE"
    foreign = [(3 * number, -1, -3 * number) for number in range(10, COMMITS)]
    expected = [(k, 0, k) for k in range(KEYS)] + foreign
    assert rows(project) == sorted(expected)
    # What the commits touched is not taken for up to date, and it is recomputed.
    assert bounded(project, "run")["technique"] == "COMPLETE_REPLACE_WHERE"
    assert rows(project) == [(k, 0, k) for k in range(KEYS)]
    assert bounded(project, "run")["technique"] == "NO_OP"


def test_a_long_list_as_a_window(tidegate):
    listed = range(0, 2 * 2_000, 2)
    project = project_of(tidegate, "k IN ({})".format(", ".join(map(str, listed))))
    assert bounded(project, "run")["technique"] == "COMPLETE_REPLACE_WHERE"
    for number in range(BATCH):
        append(project, [2 * number])
    assert bounded(project, "run")["technique"] == "COMPLETE_REPLACE_WHERE"
    assert rows(project) == [(k, 0, k) for k in range(0, KEYS, 2)]
    assert bounded(project, "run")["technique"] == "NO_OP"
