# SPDX-License-Identifier: Apache-2.0
"""The library inside a program with a locale of its own, where the decimal point is a comma."""
import json
import os
import shutil
import subprocess
import sys

import pytest

HOST = """
import ctypes, json, locale, os, sys
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
lib = ctypes.CDLL(os.environ["TIDEGATE_LIB"])
lib.tg_rows_next_json.restype = lib.tg_failure_text.restype = ctypes.c_char_p
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_char_p) for name in ("spec", "warehouse", "now", "timezone")]
session, failure = ctypes.c_void_p(), ctypes.c_void_p()
options = Options(ctypes.sizeof(Options), None, sys.argv[1].encode(), None, None)
assert lib.tg_session_open(ctypes.byref(options), ctypes.byref(session), ctypes.byref(failure)) == 0
for sql in sys.argv[2:]:
    rows, status = ctypes.c_void_p(), ctypes.c_int()
    if lib.tg_session_execute(session, sql.encode(), ctypes.byref(rows), ctypes.byref(failure)) != 0:
        sys.exit(lib.tg_failure_text(failure).decode())
    while row := lib.tg_rows_next_json(rows, ctypes.byref(status), ctypes.byref(failure)):
        print(row.decode())
    lib.tg_rows_close(rows)
lib.tg_session_close(session)
"""

SELECT = """SELECT 1.5D, 2.25e-3D, float('1.5'), double('  2.5  '), CAST('3.25' AS FLOAT), round(2.345D, 2), bround(2.5D, 0),
format_number(1234.5D, 2), CAST(1.25D AS STRING), CAST(1.005D AS DECIMAL(5,3)), 1e20D"""


def test_decimal_comma(tmp_path, library_path):
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=False, capture_output=True).returncode == 0
    if not made:
        pytest.skip("the locale de_DE cannot be made here")
    statements = [
        "CREATE TABLE t (p DOUBLE, x DOUBLE) PARTITIONED BY (p)", "INSERT INTO t VALUES (1.5, 0.25), (2.5, 1.75)",
        "SELECT x FROM t WHERE p = 1.5", "SELECT p FROM t WHERE x > 1.5D", SELECT,
    ]
    done = subprocess.run([sys.executable, "-c", HOST, tmp_path / "w", *statements], check=False, capture_output=True, text=True,
                          env={**os.environ, "LOCPATH": str(tmp_path), "TIDEGATE_LIB": library_path})
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[:2] == [["0.25"], ["2.5"]]
    assert rows[2] == ["1.5", "0.00225", "1.5", "2.5", "3.25", "2.35", "2.0", "1,234.50", "1.25", "1.005", "1e+20"]
    (log,) = (tmp_path / "w").rglob("00000000000000000001.json")
    assert '"p":"1.5"' in log.read_text() and '\\"x\\":1.75' in log.read_text()
