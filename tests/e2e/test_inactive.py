# SPDX-License-Identifier: Apache-2.0
"""A definition that leaves the pipeline leaves its table: inactive, told, not touched, until it is back or dropped."""
import ctypes
import json

import deltalake
import pyarrow
import pytest

from project import Project
from test_full_refresh import SessionOptions

NOW, LATER = "2024-06-10T00:00:00.000000Z", "2024-06-11T00:00:00.000000Z"
SOURCE = pyarrow.schema([("day", pyarrow.date32()), ("v", pyarrow.int64())])
KEPT = "CREATE STREAMING TABLE kept FLOW REPLACE WHERE v > 0 BY NAME SELECT * FROM src"
GONE = "CREATE STREAMING TABLE gone FLOW REPLACE WHERE v > 0 BY NAME SELECT * FROM src"


class Changing(Project):
    def without(self, name):
        (self.folder / "transformations" / f"{name}.sql").unlink()

    def define(self, name, text):
        (self.folder / "transformations" / f"{name}.sql").write_text(text)

    def update(self, *options, command="run", now=NOW, status=0):
        done = self.tidegate(command, "--now", now, "--json", *options, status=status)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return lines[-1], [e for e in lines[:-1] if e["event_type"] == "dataset_life_cycle"]

    def inactive(self, *options, **how):
        return [(d["dataset_name"], d["since"]) for d in self.update(*options, **how)[0].get("inactive_datasets", [])]

    def described(self, name):
        done = self.tidegate("sql", "--format", "rows", "-e", f"DESCRIBE EXTENDED {name}")
        return {row[0]: row[1] for row in (json.loads(line) for line in done.stdout.splitlines()[1:])}

    def owner(self, name):
        return deltalake.DeltaTable(self.path(name)).metadata().configuration["tidegate.pipelineId"]

    def add_row(self, value):
        self.write("src", SOURCE, [(None, value)], mode="append")


@pytest.fixture
def project(tidegate):
    made = Changing(tidegate, kept=KEPT, gone=GONE)
    made.write("src", SOURCE, [(None, 1), (None, 2)])
    made.update()
    return made


GONE_NOW = [("main.default.gone", NOW)]


def test_a_table_without_definition_is_kept_and_told(project):
    owner, version = project.owner("gone"), project.version("gone")
    assert project.inactive() == [] and "Status" not in project.described("gone")
    project.without("gone")
    project.add_row(3)
    summary, events = project.update()
    assert [f["flow_name"] for f in summary["flows"]] == ["main.default.kept"]
    assert summary["inactive_datasets"] == [{"dataset_name": "main.default.gone", "since": NOW}]
    assert [(e["details"]["dataset_life_cycle"], e["origin"]["dataset_name"], e["level"]) for e in events] == \
        [({"status": "INACTIVE"}, "main.default.gone", "WARN")]
    # told by each run, with the time of the first; the event comes once
    summary, events = project.update(now=LATER)
    assert summary["inactive_datasets"] == [{"dataset_name": "main.default.gone", "since": NOW}] and events == []
    # it has its rows, its owner and its version still, and can be read
    assert project.owner("gone") == owner and project.version("gone") == version
    assert sorted(r["v"] for r in project.delta_rs("gone")) == [1, 2]
    assert sorted(r["v"] for r in project.delta_rs("kept")) == [1, 2, 3]
    assert project.described("gone")["Status"] == "INACTIVE" and project.described("gone")["Inactive Since"] == NOW
    assert "Status" not in project.described("kept")
    shown = project.tidegate("show", "gone")
    assert f"inactive since {NOW}" in shown.stderr
    assert project.tidegate("show", "kept").stderr == ""
    assert "main.default.gone is inactive" in project.tidegate("run", "--now", LATER).stdout


def test_a_plan_tells_it_and_marks_nothing(project):
    project.without("gone")
    for command in ("plan", "dry-run"):
        assert project.inactive(command=command) == [("main.default.gone", None)]
        assert "main.default.gone will be inactive" in project.tidegate(command).stdout
    assert "Status" not in project.described("gone")
    project.update()
    assert project.inactive(command="plan", now=LATER) == GONE_NOW
    assert "main.default.gone is inactive" in project.tidegate("plan").stdout


def test_it_is_active_again_when_its_definition_returns(project):
    project.without("gone")
    project.update()
    project.add_row(3)
    project.define("gone", GONE)
    assert project.inactive(command="plan") == []
    summary, events = project.update(now=LATER)
    assert "inactive_datasets" not in summary
    assert [(e["details"]["dataset_life_cycle"]["status"], e["level"]) for e in events] == [("ACTIVE", "INFO")]
    assert sorted(r["v"] for r in project.delta_rs("gone")) == [1, 2, 3]
    assert "Status" not in project.described("gone")
    assert project.update(now=LATER)[1] == []


@pytest.mark.parametrize("option", ["--refresh", "--full-refresh"])
@pytest.mark.parametrize("is_marked", [True, False])
def test_it_cannot_be_refreshed(project, option, is_marked):
    project.without("gone")
    if is_marked:
        project.update()
    for name in ("gone", "main.default.gone", "`gone`"):
        done = project.tidegate("run", option, name, status=3)
        assert "[TIDEGATE_DATASET_INACTIVE]" in done.stderr and "DROP TABLE main.default.gone" in done.stderr
        assert (NOW in done.stderr) == is_marked
    assert "[TIDEGATE_UNKNOWN_SELECTION]" in project.tidegate("run", option, "gome", status=3).stderr
    # all tables: those that are defined
    project.update("--full-refresh-all")
    assert project.version("gone") == 0 and project.version("kept") == 1


def test_flows_may_read_it(project):
    project.without("gone")
    project.define("kept", "CREATE MATERIALIZED VIEW reader AS SELECT count(*) AS n FROM gone")
    assert project.inactive() == [("main.default.gone", NOW), ("main.default.kept", NOW)]
    assert project.delta_rs("reader") == [{"n": 2}]


def test_only_an_inactive_table_can_be_dropped(project):
    refused = project.tidegate("sql", "-e", "DROP TABLE gone", status=1).stderr
    assert "DROP_DELTA_LIVE_TABLE" in refused and "run it" in refused
    project.without("gone")
    project.update()
    project.tidegate("sql", "-e", "DROP TABLE kept", status=1)
    project.tidegate("sql", "-e", "DROP STREAMING TABLE gone")
    assert project.inactive() == []
    assert "[TIDEGATE_UNKNOWN_SELECTION]" in project.tidegate("run", "--refresh", "gone", status=3).stderr


def test_a_table_that_is_gone_or_anothers_is_not_told(project):
    project.define("third", GONE.replace("gone", "third"))
    project.update()
    for name in ("gone", "third"):
        project.without(name)
    assert len(project.inactive()) == 2
    import shutil
    shutil.rmtree(project.path("gone"))
    deltalake.DeltaTable(project.path("third")).alter.set_table_properties({"tidegate.pipelineId": "another"}, False)
    assert project.inactive(command="plan") == [] and project.inactive() == []
    assert list((project.folder / "pipeline-storage" / "datasets").glob("*.inactive")) == []


def test_a_persisted_view_too(project):
    project.define("view", "CREATE VIEW seen AS SELECT v FROM src")
    project.update()
    project.without("view")
    assert project.inactive() == [("main.default.seen", NOW)]
    assert project.described("seen")["Status"] == "INACTIVE"
    assert json.loads(project.tidegate("sql", "--format", "rows", "-e", "SELECT count(*) FROM seen").stdout.splitlines()[1]) == [2]
    assert "DROP VIEW" in project.tidegate("run", "--refresh", "seen", status=3).stderr
    project.tidegate("sql", "-e", "DROP VIEW seen")
    assert project.inactive() == []


def test_a_table_of_another_environment_is_not_called_inactive(project):
    """Whoever names it is told where it lives, and not to drop it."""
    project.tidegate("sql", "--schema", "dev", "-e", "CREATE TABLE src AS SELECT DATE'2024-06-01' AS day, 7L AS v")
    project.tidegate("run", "--schema", "dev", "--now", NOW)
    for option in ("--refresh", "--full-refresh"):
        refused = project.tidegate("run", option, "main.dev.gone", status=3).stderr
        assert "[TIDEGATE_UNKNOWN_SELECTION] `main.dev.gone` is a table of another environment" in refused
        assert "--catalog main --schema dev" in refused and "DROP" not in refused
    project.tidegate("run", "--schema", "dev", "--refresh", "main.dev.gone", "--now", NOW)


def test_a_change_of_environment_makes_nothing_inactive(project):
    other = ("--schema", "dev")
    project.tidegate("sql", *other, "-e", "CREATE TABLE src AS SELECT DATE'2024-06-01' AS day, 7L AS v")
    assert project.inactive(*other) == [] and project.inactive() == []
    project.without("gone")
    assert project.inactive(*other) == [("main.dev.gone", NOW)]
    assert project.inactive() == GONE_NOW


def test_values_of_parameters_make_nothing_inactive(project):
    spec = project.folder / "spark-pipeline.yml"
    spec.write_text(spec.read_text() + "configuration: {which: gone}\n")
    project.define("gone", GONE.replace("gone", "${which}"))
    assert project.inactive("--param", "which=other") == []
    assert project.inactive() == [("main.default.other", NOW)]
    assert project.inactive("--param", "which=other") == []


def test_a_damaged_memory_stops_nothing(project):
    for file in (project.folder / "pipeline-storage" / "datasets").iterdir():
        file.write_bytes(b"\0not json")
    project.without("gone")
    assert project.inactive() == []
    assert sorted(r["v"] for r in project.delta_rs("kept")) == [1, 2]
    (project.folder / "pipeline-storage" / "datasets" / "notes.txt").write_text("mine")
    (project.folder / "pipeline-storage" / "datasets" / ".inactive").write_text("mine")
    project.update()


def test_a_wrong_pipeline_makes_nothing_inactive(project):
    project.define("gone", "CREATE STREAMING TABLE")
    project.tidegate("run", status=3)
    assert "Status" not in project.described("gone")


# ---- the library ------------------------------------------------------------------------------------------------------


class Request(ctypes.Structure):
    names = ctypes.POINTER(ctypes.c_char_p)
    _fields_ = [("struct_size", ctypes.c_size_t), ("dry_run", ctypes.c_int), ("refresh", names), ("refresh_count", ctypes.c_size_t),
                ("on_event", ctypes.c_void_p), ("context", ctypes.c_void_p), ("overrides", ctypes.c_void_p),
                ("override_count", ctypes.c_size_t), ("full_refresh", names), ("full_refresh_count", ctypes.c_size_t),
                ("full_refresh_all", ctypes.c_int), ("allow_reset", names), ("allow_reset_count", ctypes.c_size_t),
                ("allow_shrink", ctypes.c_int), ("allow_clock_back", ctypes.c_int), ("parameters", ctypes.c_void_p),
                ("parameter_count", ctypes.c_size_t), ("adopt", names), ("adopt_count", ctypes.c_size_t)]


def test_the_library_takes_tables_over(project, library_path):
    library = ctypes.CDLL(library_path)
    other = project.folder / "other.yml"
    other.write_text((project.folder / "spark-pipeline.yml").read_text().replace("pipeline-storage", "other-storage"))
    options = SessionOptions(ctypes.sizeof(SessionOptions), str(other).encode(), None, NOW.encode(), None)
    session = ctypes.c_void_p()
    assert library.tg_session_open(ctypes.byref(options), ctypes.byref(session), None) == 0
    first = project.owner("gone")

    def update(*adopted, size=ctypes.sizeof(Request)):
        names = (ctypes.c_char_p * max(len(adopted), 1))(*adopted)
        request = Request(struct_size=size, adopt=names, adopt_count=len(adopted))
        summary = ctypes.c_char_p()
        return library.tg_session_update(session, ctypes.byref(request), ctypes.byref(summary), None)

    assert update() == 3 and project.owner("gone") == first
    assert update(b"gone") == 3 and project.owner("gone") == first  # kept is not named
    assert update(b"gone", b"kept", size=Request.adopt.offset) == 3  # of an older header: it has no such field
    assert update(b"gone", b"main.default.kept") == 0
    assert project.owner("gone") == project.owner("kept") != first
    library.tg_session_close(session)
