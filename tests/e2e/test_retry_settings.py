# SPDX-License-Identifier: Apache-2.0
"""pipelines.maxFlowRetryAttempts and pipelines.numUpdateRetryAttempts: values, and where they may stand. How often is tried: unit tests."""
import json

import pytest
from project import SPEC, Project

VIEW = "CREATE MATERIALIZED VIEW m AS SELECT {} AS a"
KEYS = ("pipelines.maxFlowRetryAttempts", "pipelines.numUpdateRetryAttempts", "PIPELINES.MAXFLOWRETRYATTEMPTS")


def project_of(tidegate, sql=VIEW.format(1), **configuration):
    project = Project(tidegate, m=sql)
    (project.folder / "spark-pipeline.yml").write_text(SPEC + "configuration: " + json.dumps(configuration) + "\n")
    return project


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["0", "1000", " 3 "])
def test_a_count_is_taken_without_a_word(tidegate, key, value):
    project_of(tidegate, **{key: value})
    assert tidegate("dry-run").stderr.count("no effect") == 0


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["-1", "1001", "many", "", "1.5", "99999999999999999999"])
def test_what_is_no_count_is_refused(tidegate, key, value):
    project_of(tidegate, **{key: value})
    refused = tidegate("run", status=3).stderr
    assert "[TIDEGATE_INVALID_SETTING]" in refused and "a whole number from 0 to 1000" in refused and "spark-pipeline.yml:" in refused
    assert not (tidegate.folder / "warehouse").exists()


def test_it_holds_for_the_whole_pipeline(tidegate):
    project_of(tidegate, "SET pipelines.maxFlowRetryAttempts = 3;\n" + VIEW.format(1))
    told = tidegate("run").stderr
    assert "has no effect in a source file" in told and "under `configuration` in the pipeline spec" in told


def test_what_is_wrong_is_not_tried_again(tidegate):
    project_of(tidegate, VIEW.format("1 / (count(*) - count(*))"), **{KEYS[0]: "1000", KEYS[1]: "1000"})
    done = tidegate("run", "--json", status=1)
    assert "RETRIED" not in done.stdout and done.stdout.count('"status":"STARTING"') == 1
