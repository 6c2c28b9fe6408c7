#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays random histories of REPLACE WHERE against the simulator, for hours if need be.

    fuzz.py [--seed N] [--histories N] [--hours H] [--keep FOLDER] [--stop]   prints statistics; exit status 1: a mismatch was found
    fuzz.py --replay FILE...                                         plays kept histories again

A history that fails is shrunk and written to FOLDER (default: build/differential). SIGTERM and Ctrl-C end it behind the history
that is being played, with the statistics.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("TIDEGATE_BIN", str(ROOT / "build/release/tidegate"))
os.environ.setdefault("TIDEGATE_LIB", str(ROOT / "build/release/libtidegate.so"))

from generate import Generator  # noqa: E402
from play import Mismatch, World  # noqa: E402


def folder():
    """In memory when possible: what is tested here is not the disk."""
    return tempfile.mkdtemp(prefix="tidegate-differential-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def error_of(world, history):
    try:
        world.play(history)
    except Mismatch as error:
        return str(error)
    except Exception as error:  # of another writer, or of this harness: it must not be swallowed
        return f"{type(error).__name__}: {error}"
    return None


def kind_of(error):
    return error.split('"what": ', 1)[-1].splitlines()[0] if error else None


def shrink(world, history):
    """Steps are left out, then rows, while it fails in the same way."""
    kind = kind_of(error_of(world, history))

    def fails(candidate):
        return kind_of(error_of(world, candidate)) == kind

    size = max(1, len(history["steps"]) // 2)
    while size:
        i = 0
        while i < len(history["steps"]):
            candidate = history | {"steps": history["steps"][:i] + history["steps"][i + size:]}
            if candidate["steps"] and fails(candidate):
                history = candidate
            else:
                i += size
        size //= 2
    for name, rows in history["rows"].items():
        i = 0
        while i < len(history["rows"][name]):
            rows = history["rows"][name]
            candidate = history | {"rows": history["rows"] | {name: rows[:i] + rows[i + 1:]}}
            if fails(candidate):
                history = candidate
            else:
                i += 1
    return history


stopped = []  # signals


def hunt(world, seed, histories, until, keep, quiet=False, first=0, stop=False):
    """Number of histories that failed. history i of a seed is always the same. stop: at the first, which is not shrunk."""
    failed = 0
    for i in range(first, first + histories):
        if time.monotonic() > until or stopped:
            break
        history = Generator(random.Random(f"{seed}/{i}")).history()
        error = error_of(world, history)
        if error:
            failed += 1
            if stop:
                print(f"FAILED: history {i}\n{error}")
                break
            report(world, seed, i, history, error, keep)
        if not quiet and (i + 1) % 100 == 0:
            print(f"{i + 1} histories of TIDEGATE_SEED={seed}, {world.stats['steps']} steps, {failed} failed", flush=True)
    return failed


def report(world, seed, number, history, error, keep):
    os.makedirs(keep, exist_ok=True)
    path = pathlib.Path(keep) / f"{seed}-{number}.json"
    path.write_text(json.dumps(history, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"FAILED: TIDEGATE_SEED={seed} history {number}\n{error}", flush=True)
    small = shrink(world, history)
    error = error_of(world, small)
    path.write_text(json.dumps(small, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"shrunk: {path}\n{json.dumps(small, ensure_ascii=False)}\n{error}", flush=True)


def replay(world, files):
    failed = 0
    for file in files:
        error = error_of(world, json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
        print(f"{'FAILED' if error else 'ok    '} {file}" + (f"\n{error}" if error else ""))
        failed += error is not None
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TIDEGATE_SEED", random.randrange(2**32))))
    parser.add_argument("--histories", type=int, default=int(os.environ.get("TIDEGATE_HISTORIES", 0)))
    parser.add_argument("--first", type=int, default=0, help="number of the first history")
    parser.add_argument("--hours", type=float)
    parser.add_argument("--keep", default=str(ROOT / "build/differential"))
    parser.add_argument("--stop", action="store_true", help="at the first that fails")
    parser.add_argument("--replay", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: stopped.append(received))
    place = folder()
    world = World(place)
    try:
        if arguments.replay:
            return 1 if replay(world, arguments.replay) else 0
        until = time.monotonic() + 3600 * arguments.hours if arguments.hours else float("inf")
        histories = arguments.histories or (sys.maxsize if arguments.hours else 1000)
        print(f"TIDEGATE_SEED={arguments.seed}", flush=True)
        failed = hunt(world, arguments.seed, histories, until, arguments.keep, first=arguments.first,
                      stop=arguments.stop)
        for name, count in sorted(world.stats.items()):
            print(f"{count:8}  {name}")
        print(f"{world.stats['histories']} histories, {world.stats['steps']} steps, {failed} failed")
        return 1 if failed else 0
    finally:
        world.close()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
