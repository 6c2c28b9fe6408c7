# SPDX-License-Identifier: Apache-2.0
"""Expressions and queries whose answers Apache Spark gave: how many agree must not fall."""
import os
import re
import subprocess
import sys

import pytest


@pytest.mark.parametrize("kind, file, least_agree", [("expressions", "expressions.tsv", 0.88), ("queries", "queries.jsonl", 0.80)])
def test_agrees_with_spark(golden, tmp_path, kind, file, least_agree):
    folder = golden / "sql"
    done = subprocess.run(
        [sys.executable, folder / "check_sql.py", "--bin", os.environ["TIDEGATE_BIN"], f"--{kind}", folder / file,
         "--database", folder / "database", "--quiet"],
        cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    last = (done.stdout.splitlines() or [""])[-1]
    counts = re.fullmatch(r"(\d+) of (\d+) agree, (\d+) refused, (\d+) wrong", last)
    assert counts, done.stdout + done.stderr
    agree, cases, _, wrong = map(int, counts.groups())
    assert cases > 0, last
    assert agree >= least_agree * cases, last
    assert wrong == 0, done.stdout
    assert ", 0 crashed or timed out" in done.stdout, done.stdout
