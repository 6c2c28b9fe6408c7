# SPDX-License-Identifier: Apache-2.0
"""What Python tests share. ctest sets the environment; run by hand, the release build is used."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("TIDEGATE_SOURCE", str(SOURCE))
os.environ.setdefault("TIDEGATE_BUILD", str(SOURCE / "build" / "release"))
os.environ.setdefault("TIDEGATE_BIN", os.environ["TIDEGATE_BUILD"] + "/tidegate")
os.environ.setdefault("TIDEGATE_LIB", os.environ["TIDEGATE_BUILD"] + "/libtidegate.so")
os.environ.setdefault("TIDEGATE_GOLDEN", str(SOURCE.parent / "shared" / "golden"))


class Tidegate:
    """Runs the program in one folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __call__(self, *arguments, status=0, stdin="", env=None, timeout=120):
        """The finished process; fails when the exit status is another one (None: any)."""
        done = subprocess.run(
            [os.environ["TIDEGATE_BIN"], *map(str, arguments)],
            cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=timeout,
            env={**os.environ, **(env or {})}, check=False,
        )
        if status is not None and done.returncode != status:
            pytest.fail(
                f"tidegate {' '.join(map(str, arguments))}: exit status {done.returncode}, expected {status}\n"
                f"{done.stdout}{done.stderr}", pytrace=False,
            )
        return done


@pytest.fixture
def tidegate(tmp_path):
    """tidegate("run", "--json") in a fresh folder (tidegate.folder)."""
    return Tidegate(tmp_path)


@pytest.fixture(scope="session")
def library_path():
    """The library, for tests that load it into Python."""
    if os.environ.get("TIDEGATE_SANITIZE"):
        pytest.skip("Python does not load a library with AddressSanitizer")
    return os.environ["TIDEGATE_LIB"]


@pytest.fixture(scope="session")
def golden():
    """The folder of public tables and answers; tests that need it are skipped without it."""
    folder = pathlib.Path(os.environ["TIDEGATE_GOLDEN"])
    if not folder.is_dir():
        pytest.skip(f"GOLDEN FILES ARE MISSING: {folder}")
    return folder
