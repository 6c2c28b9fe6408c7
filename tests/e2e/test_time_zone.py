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
