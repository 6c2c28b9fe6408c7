# SPDX-License-Identifier: Apache-2.0
"""Written-down examples of REPLACE WHERE: tables before and after, refresh by refresh."""
import deltalake
import pyarrow as pa
import pytest
from project import Project

NOW = "2024-03-10"
TICKETS = pa.schema([("id", pa.string()), ("amount", pa.int64())])
LETTERS = pa.schema([("d", pa.int64()), ("v", pa.string())])


def define(project, text):
    (project.folder / "transformations" / "t.sql").write_text(text)


def rows(project):
    found = project.polars("t")
    assert sorted(map(str, project.delta_rs("t"))) == sorted(map(str, found))
    return sorted(tuple(row.values()) for row in found)


def refresh(project, *arguments):
    flow = project.run(NOW, *arguments)["flows"][0]
    assert flow["status"] == "COMPLETED"
    return flow


def test_the_window_becomes_what_the_source_has(tidegate):
    project = Project(tidegate)
    define(project, "CREATE STREAMING TABLE t FLOW REPLACE WHERE id >= 'T-201' AND id <= 'T-299' BY NAME SELECT id, amount FROM s;")
    project.write("s", TICKETS, [("T-201", 60), ("T-202", 30), ("T-203", 20)])
    refresh(project)
    assert rows(project) == [("T-201", 60), ("T-202", 30), ("T-203", 20)]
    project.write("s", TICKETS, [("T-201", 40), ("T-202", 30), ("T-203", 25), ("T-204", 12), ("T-300", 1), ("T-100", 1), (None, 1)])
    flow = refresh(project)
    assert rows(project) == [("T-201", 40), ("T-202", 30), ("T-203", 25), ("T-204", 12)]
    assert flow["technique"] == "COMPLETE_REPLACE_WHERE"


def test_a_second_flow_on_the_same_target_fails_before_anything_is_written(tidegate):
    project = Project(tidegate)
    define(project, "CREATE STREAMING TABLE t;\n"
                    "CREATE FLOW a AS INSERT INTO t REPLACE WHERE id < 'T-2' BY NAME SELECT id, amount FROM s;\n"
                    "CREATE FLOW b AS INSERT INTO t REPLACE WHERE id >= 'T-2' BY NAME SELECT id, amount FROM s;\n")
    project.write("s", TICKETS, [("T-201", 60)])
    done = tidegate("run", "--now", NOW, "--json", status=3)
    assert "t" in done.stderr
    assert not (project.folder / "warehouse/main/default/t").exists()


class Life:
    """The life cycle: P is d >= 10 at first; the source has 9:a, 10:b, 11:c."""

    def __init__(self, tidegate):
        self.project = Project(tidegate)
        self.predicate("d >= 10")
        self.source((9, "a"), (10, "b"), (11, "c"))

    def predicate(self, text):
        define(self.project, f"CREATE STREAMING TABLE t FLOW REPLACE WHERE {text} BY NAME SELECT d, v FROM s;")

    def source(self, *rows, mode="overwrite"):
        self.project.write("s", LETTERS, list(rows), mode=mode)

    def target(self):
        return deltalake.DeltaTable(self.project.path("t"))

    def refresh(self, expected, technique, reasons, *arguments):
        flow = refresh(self.project, *arguments)
        assert rows(self.project) == expected
        assert flow["technique"] in ([technique] if isinstance(technique, str) else technique)
        assert flow["technique"] == "NO_OP" or flow["technique"] in ("APPEND_ONLY", "ROW_BASED") or flow["fallback_reasons"] == reasons
        return flow


def test_life_cycle(tidegate):
    life = Life(tidegate)
    life.refresh([(10, "b"), (11, "c")], "COMPLETE_REPLACE_WHERE", ["CHANGE_SET_MISSING"])
    life.refresh([(10, "b"), (11, "c")], "NO_OP", [])
    life.source((12, "e"), mode="append")
    life.refresh([(10, "b"), (11, "c"), (12, "e")], ("APPEND_ONLY", "COMPLETE_REPLACE_WHERE"), ["DATA_HAS_CHANGED"])
    deltalake.DeltaTable(life.project.path("s")).delete("d = 10")
    life.refresh([(11, "c"), (12, "e")], ("ROW_BASED", "COMPLETE_REPLACE_WHERE"), ["DATA_HAS_CHANGED"])
    deltalake.write_deltalake(life.project.path("t"), pa.table([[5], ["x"]], schema=LETTERS), mode="append")
    life.refresh([(5, "x"), (11, "c"), (12, "e")], "NO_OP", [])
    life.predicate("d >= 12")
    life.refresh([(5, "x"), (11, "c"), (12, "e")], "NO_OP", [])
    # Nothing has happened to 10 and 11 meanwhile: what is covered needs no full window (the vendor recomputes it).
    life.predicate("d >= 10")
    life.refresh([(5, "x"), (11, "c"), (12, "e")], "NO_OP", [])
    life.refresh([(5, "x"), (9, "a"), (11, "c"), (12, "e")], "COMPLETE_REPLACE_WHERE", ["REPLACE_WHERE_BACKFILL"],
                 "--replace-where", "t=d = 9")
    life.target().update(predicate="d = 12", updates={"v": "'changed'"})
    life.refresh([(5, "x"), (9, "a"), (11, "c"), (12, "e")], "COMPLETE_REPLACE_WHERE", ["EXTERNAL_CHANGE_IN_REPLACE_WINDOW"])


def test_life_cycle_when_the_source_changed_below_a_narrow_window(tidegate):
    """P back to d >= 10: the part that was left out meanwhile is brought up to date, and only it."""
    life = Life(tidegate)
    life.refresh([(10, "b"), (11, "c")], "COMPLETE_REPLACE_WHERE", ["CHANGE_SET_MISSING"])
    life.predicate("d >= 12")
    life.source((9, "a"), (10, "B"), (11, "c"), (12, "e"))
    life.refresh([(10, "b"), (11, "c"), (12, "e")], ("APPEND_ONLY", "COMPLETE_REPLACE_WHERE"), ["DATA_HAS_CHANGED"])
    life.predicate("d >= 10")
    flow = life.refresh([(10, "B"), (11, "c"), (12, "e")], ("ROW_BASED", "COMPLETE_REPLACE_WHERE"), ["DATA_HAS_CHANGED"])
    assert [(piece["where"], piece["treatment"]) for piece in flow["pieces"]][0] == ("d >= 12L", "NO_OP")


@pytest.mark.parametrize("row", [(None, "x"), (9, "y")])
def test_rows_outside_the_window_are_nobodys_business(tidegate, row):
    life = Life(tidegate)
    life.refresh([(10, "b"), (11, "c")], "COMPLETE_REPLACE_WHERE", ["CHANGE_SET_MISSING"])
    deltalake.write_deltalake(life.project.path("t"), pa.table([[row[0]], [row[1]]], schema=LETTERS), mode="append")
    life.source((9, "a"), (10, "B"), (11, "c"))
    flow = refresh(life.project)
    assert flow["technique"] in ("ROW_BASED", "COMPLETE_REPLACE_WHERE")
    assert sorted(map(repr, life.project.polars("t"))) == sorted(
        repr({"d": d, "v": v}) for d, v in [row, (10, "B"), (11, "c")])
