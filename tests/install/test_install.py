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


HOST = r"""
#include <stdio.h>
#include <string.h>
#include <tidegate/tidegate.h>

int main(void)
{
    tg_session_options options = {.struct_size = sizeof options};
    tg_session *session;
    tg_rows *rows;
    tg_status status;
    tg_failure *failure = NULL;
    if (tg_session_open(&options, &session, &failure) ||
        tg_session_execute(session, "SELECT 1 + 1", &rows, &failure)) {
        puts(tg_failure_text(failure));
        return 1;
    }
    puts(tg_rows_next_json(rows, &status, &failure));
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        if (strstr(line, "libduckdb")) {
            fputs(strchr(line, '/'), stdout);
            break;
        }
    }
    tg_rows_close(rows);
    tg_session_close(session);
    return 0;
}
"""


@pytest.mark.parametrize("libdir", ["lib", "lib64", "lib/x86_64-linux-gnu"])
def test_a_host_program_finds_duckdb_beside_the_library(prefix, tmp_path, libdir):
    # The host stands elsewhere; the environment says nothing.
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    wanted = moved / libdir
    for path in list(library_folder(moved).glob("libtidegate.so*")):
        wanted.mkdir(parents=True, exist_ok=True)
        if path.parent != wanted:
            path.rename(wanted / path.name)
    (tmp_path / "host.c").write_text(HOST)
    run("cc", "-std=gnu11", "host.c", "-o", "host", f"-I{moved}/include", f"-L{wanted}", "-ltidegate", f"-Wl,-rpath,{wanted}",
        cwd=tmp_path)
    row, library = run(str(tmp_path / "host"), cwd=tmp_path, env={}).splitlines()
    assert row == "[2]"
    assert library == str(moved / "lib" / "tidegate" / "libduckdb.so")


def test_headers_and_licence_are_installed(prefix):
    names = {path.name for path in prefix.rglob("*")}
    assert {"tidegate.h", "tidegate.pc", "LICENSE", "libtidegate.so"} <= names
