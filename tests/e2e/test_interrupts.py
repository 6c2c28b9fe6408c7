# SPDX-License-Identifier: Apache-2.0
"""An interrupt when the work is done already: what is told is told whole."""
import datetime as dt
import json
import os
import signal
import subprocess
import time

import pyarrow as pa
import pytest
from project import Project

SCHEMA = pa.schema([("d", pa.date32()), ("v", pa.int64())])
FLOWS = 150  # their summary is longer than a pipe holds


@pytest.fixture
def project(tidegate):
    text = "".join(f"CREATE STREAMING TABLE {'t' * 100}{n} FLOW REPLACE WHERE d >= '2024-01-01' BY NAME SELECT d, v + {n} AS v FROM s;\n"
                   for n in range(FLOWS))
    made = Project(tidegate, t=text)
    made.write("s", SCHEMA, [(dt.date(2024, 1, 1), 1)])
    return made


def waits_for_its_reader(process):
    with open(f"/proc/{process.pid}/syscall") as file:
        return file.read().startswith("1 0x1 ")  # write to standard output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_output_that_waits_for_its_reader(project, number):
    command = [os.environ["TIDEGATE_BIN"], "run", "--json", "--now", "2024-03-10"]
    with subprocess.Popen(command, cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            until = time.monotonic() + 120
            while not waits_for_its_reader(process):
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.01)
            process.send_signal(number)
            time.sleep(0.05)
            out, _ = process.communicate(timeout=120)
        except BaseException:
            process.kill()
            raise
    *events, summary = map(json.loads, out.splitlines())
    assert len(summary["flows"]) == FLOWS and events
    assert process.returncode == (0 if summary["state"] == "COMPLETED" else 130)
