# SPDX-License-Identifier: Apache-2.0
"""Random histories against the simulator, within the budget of a test run; fuzz.py plays them for hours.

    TIDEGATE_SEED=7 TIDEGATE_HISTORIES=1000 pytest tests/differential
"""
import collections
import json
import os
import pathlib
import random

import fuzz
import pytest
from oracle import Oracle, bag
from play import World
from tables import arrow_table

KEPT = sorted((pathlib.Path(__file__).parent / "regressions").glob("*.json"))
HISTORIES = int(os.environ.get("TIDEGATE_HISTORIES", "120"))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    if os.environ.get("TIDEGATE_SANITIZE"):
        pytest.skip("Python does not load a library with AddressSanitizer")
    made = World(tmp_path_factory.mktemp("world"))
    yield made
    made.close()


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_kept_histories(world, file):
    error = fuzz.error_of(world, json.loads(file.read_text(encoding="utf-8")))
    assert error is None, error


@pytest.mark.parametrize("seed", [1, None], ids=["fixed", "random"])
def test_random_histories(world, tmp_path, seed):
    seed = int(os.environ.get("TIDEGATE_SEED", random.randrange(2**32))) if seed is None else seed
    print(f"TIDEGATE_SEED={seed}")  # shown when it fails
    world.stats = collections.Counter()
    assert fuzz.hunt(world, seed, HISTORIES // 2, float("inf"), tmp_path, quiet=True) == 0
    stats = world.stats
    assert stats["histories"] == HISTORIES // 2
    for technique in ("COMPLETE_REPLACE_WHERE", "NO_OP"):
        assert stats[f"technique {technique}"] > 0
    if HISTORIES >= 100:
        assert stats["refreshes that left a part alone"] > 0
        assert len([name for name in stats if name.startswith("reason ")]) >= 5


# ---- the simulator itself, by hand

COLUMNS = [("k", "INT"), ("v", "BIGINT")]


def refreshed(before, predicate, rows):
    oracle = Oracle()
    oracle.register({"f0": arrow_table(COLUMNS, rows)})
    table = oracle.refreshed(arrow_table(COLUMNS, before), "SELECT k, v FROM f0", None, predicate, "2024-03-04T12:00:00Z", "UTC")
    return sorted(bag(table, ["k", "v"]).elements(), key=repr)


def test_simulator_keeps_what_the_predicate_does_not_hit():
    assert refreshed([(1, 1), (2, 2), (None, 3)], "k >= 2", [(2, 20), (2, 20), (0, 9), (None, 8)]) == [
        (1, 1), (2, 20), (2, 20), (None, 3)]


def test_simulator_knows_null_in_not():
    assert refreshed([(None, 3)], "NOT (k >= 2)", [(None, 8), (1, 1)]) == [(1, 1), (None, 3)]
