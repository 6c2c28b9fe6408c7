# SPDX-License-Identifier: Apache-2.0
"""SET TIME ZONE is obeyed in a session and refused in a pipeline, whose spec says its one zone."""
import pytest
from pipeline import Pipeline


@pytest.mark.parametrize("setting", [
    "SET TIME ZONE 'Asia/Tokyo'", "SET TIME ZONE LOCAL", "SET timezone = Asia/Tokyo",
    "SET spark.sql.session.timeZone = Asia/Tokyo",
])
def test_a_pipeline_has_the_zone_of_its_spec(tidegate, setting):
    pipeline = Pipeline(tidegate, f"{setting};\nCREATE MATERIALIZED VIEW m AS SELECT current_timezone() AS z")
    done = tidegate("dry-run", status=3)
    assert "differs from the time zone of the pipeline, UTC" in done.stderr
    assert "a.sql:1:1" in done.stderr
    pipeline.define("SET TIME ZONE 'UTC'; CREATE MATERIALIZED VIEW m AS SELECT current_timezone() AS z")
    pipeline.run()
    assert pipeline.rows() == [{"z": "UTC"}]


@pytest.mark.parametrize("zone", ["UTC+02:30", "+05:30", "GMT-13"])
def test_an_offset_that_the_engine_lacks_stops_the_update_before_it_starts(tidegate, zone):
    pipeline = Pipeline(tidegate, "CREATE MATERIALIZED VIEW m AS SELECT 1 AS a")
    for command in ("dry-run", "run"):
        assert "only whole hours" in tidegate(command, "--timezone", zone, status=3).stderr
    spec = pipeline.folder / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace('"wh"', f'"wh", "timezone": "{zone}"'))
    assert "in `timezone` of the pipeline spec" in tidegate("run", status=3).stderr
    assert not (pipeline.folder / "st").exists()
    assert not (pipeline.folder / "wh").exists()


@pytest.mark.parametrize(("variable", "zone"), [
    ("Europe/Lisbon", "Europe/Lisbon"), (":Asia/Tokyo", "Asia/Tokyo"), ("", "UTC"), ("GMT+2", "GMT+02:00"),
])
def test_local_is_the_zone_of_the_environment(tidegate, variable, zone):
    done = tidegate("sql", "--warehouse", "wh", "--timezone", "America/New_York", "--format", "csv",
                    "-e", "SET TIME ZONE LOCAL", "-e", "SELECT current_timezone() AS z", env={"TZ": variable})
    assert done.stdout.splitlines()[-2:] == ["z", zone]


def test_local_of_an_unknown_zone_is_an_error(tidegate):
    done = tidegate("sql", "--warehouse", "wh", "-e", "SET TIME ZONE LOCAL", env={"TZ": "Nowhere"}, status=None)
    assert done.returncode != 0
    assert "INVALID_TIMEZONE" in done.stderr
