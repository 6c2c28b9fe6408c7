# SPDX-License-Identifier: Apache-2.0
"""A table belongs to one pipeline or to one statement; who else defines it is refused, or takes it over."""
import pytest

from standalone import RECENT, SALES, Warehouse

SPEC = "name: {}\nstorage: {}\nlibraries: [{{glob: {{include: {}/**}}}}]\ntidegate: {{warehouse: wh}}\n"


class Shared(Warehouse):
    def pipeline(self, name, definition):
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / "a.sql").write_text(definition)
        (self.folder / f"{name}.yml").write_text(SPEC.format(name, f"st-{name}", name))

    def update(self, name, *options, command="run", status=0):
        return self.tidegate(command, "--spec", f"{name}.yml", "--now", self.now, *options, status=status)


@pytest.fixture
def warehouse(tidegate):
    made = Shared(tidegate)
    made.run(*SALES)
    for name in ("p", "q"):
        made.pipeline(name, f"CREATE STREAMING TABLE recent {RECENT}")
    return made


def owner(warehouse):
    return warehouse.property("recent", "pipelineId")


def test_another_pipeline_is_refused_and_may_take_over(warehouse):
    warehouse.update("p")
    first = owner(warehouse)
    done = warehouse.update("q", status=3)
    assert "[TIDEGATE_TABLE_NOT_OWNED]" in done.stderr and "--adopt recent" in done.stderr and first in done.stderr
    warehouse.update("q", "--adopt", "recent", command="dry-run")
    assert owner(warehouse) == first
    warehouse.update("q", "--adopt", "main.default.recent")
    assert owner(warehouse) != first and len(warehouse.foreign("recent")) == 2
    warehouse.update("q")
    assert "belongs to another pipeline" in warehouse.update("p", status=3).stderr


def test_a_pipeline_takes_over_a_standalone_table(warehouse):
    warehouse.run(f"CREATE STREAMING TABLE recent SCHEDULE EVERY 1 DAY {RECENT}")
    assert "defined by a statement" in warehouse.update("p", status=3).stderr
    warehouse.update("p", "--adopt", "recent")
    assert warehouse.property("recent", "definition") is None and warehouse.property("recent", "schedule") is None
    warehouse.fails("REFRESH STREAMING TABLE recent", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.REFRESH_DELTA_LIVE_TABLE",
                    "tidegate run --refresh main.default.recent")
    warehouse.fails("ALTER STREAMING TABLE recent ADD SCHEDULE EVERY 1 DAY",
                    "STREAMING_TABLE_OPERATION_NOT_ALLOWED.REFRESH_DELTA_LIVE_TABLE")
    warehouse.fails("DROP STREAMING TABLE recent", "STREAMING_TABLE_OPERATION_NOT_ALLOWED.DROP_DELTA_LIVE_TABLE")


def test_a_statement_takes_over_a_table_of_a_pipeline(warehouse):
    warehouse.update("p")
    create = f"CREATE OR REFRESH STREAMING TABLE recent {RECENT}"
    warehouse.fails(create, "TIDEGATE_TABLE_NOT_OWNED", "belongs to a pipeline", "--adopt")
    warehouse.fails("CREATE OR REFRESH STREAMING TABLE recent", "TIDEGATE_TABLE_NOT_OWNED")
    warehouse.run(create, options=("--adopt", "recent"))
    assert owner(warehouse) == str(warehouse.table("recent").metadata().id)
    assert "NO_OP" in warehouse.says("REFRESH STREAMING TABLE recent")
    warehouse.update("p", status=3)


def test_an_unknown_name_is_not_adopted(warehouse):
    done = warehouse.update("p", "--adopt", "recnt", status=3)
    assert "[TIDEGATE_UNKNOWN_SELECTION]" in done.stderr and "recent" in done.stderr
    assert not warehouse.path("recent").exists()


def test_a_change_of_kind_is_refused_also_when_taken_over(warehouse):
    warehouse.update("p")
    warehouse.pipeline("q", "CREATE MATERIALIZED VIEW recent AS SELECT 1 AS a")
    assert "[TIDEGATE_DATASET_KIND_CHANGED]" in warehouse.update("q", "--adopt", "recent", status=3).stderr
