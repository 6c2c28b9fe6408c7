# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` gives is enough to build and run a program against the library."""

import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["TIDEGATE_BUILD"])
PROGRAM = r"""
#include <stdio.h>
#include <tidegate/tidegate.h>

int main(void)
{
    puts(tg_version());
    return 0;
}
"""

pytestmark = pytest.mark.skipif("TIDEGATE_SANITIZE" in os.environ, reason="needs a library without sanitizers")


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, **options).stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", str(BUILD), "--prefix", str(folder))
    return folder


def library_folder(prefix):
    return next(prefix.rglob("libtidegate.so")).parent


def test_a_program_builds_with_pkg_config(prefix, tmp_path):
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    libraries = library_folder(prefix)
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "tidegate", env=environment).split()
    run("cc", "-std=c11", "-Wall", "-Werror", str(source), "-o", str(tmp_path / "program"), *flags)
    printed = run(str(tmp_path / "program"), env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
    version = run("pkg-config", "--modversion", "tidegate", env=environment)
    assert printed.strip() == version.strip()


def test_the_program_runs_from_another_place(prefix, tmp_path):
    # Moved, and without the environment: libduckdb is found beside the program.
    moved = tmp_path / "elsewhere"
    shutil.copytree(prefix, moved, symlinks=True)
    binary = str(moved / "bin" / "tidegate")
    assert "tidegate" in run(binary, "--version", env={})
    assert (moved / "lib" / "tidegate" / "libduckdb.so").exists()
    printed = run(binary, "sql", "-e", "SELECT 1 + 1 AS two", "--format", "csv", cwd=tmp_path, env={})
    assert printed.split() == ["two", "2"]


def test_headers_and_licence_are_installed(prefix):
    names = {path.name for path in prefix.rglob("*")}
    assert {"tidegate.h", "tidegate.pc", "LICENSE", "libtidegate.so"} <= names
