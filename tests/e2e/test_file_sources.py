# SPDX-License-Identifier: Apache-2.0
"""Sources that are files are recognised as changed by what they are, not by their times alone."""
import os
import shutil

import pytest
from pipeline import Pipeline, csv

SUM = "CREATE MATERIALIZED VIEW m AS SELECT sum(CAST(a AS INT)) n FROM c"


def move(new, old):
    os.utime(new, ns=(old.stat().st_atime_ns, old.stat().st_mtime_ns))
    new.rename(old)


def copy_with_times(new, old):
    os.utime(new, ns=(old.stat().st_atime_ns, old.stat().st_mtime_ns))
    shutil.copy2(new, old)  # into the same inode


@pytest.mark.parametrize("bring", [move, copy_with_times])
def test_another_file_of_the_same_size_and_time_is_a_change(tidegate, bring):
    pipeline = Pipeline(tidegate, SUM, c=csv(header="true"))
    source, other = pipeline.folder / "c.csv", pipeline.folder / "other"
    other.write_text("a\n2\n")
    source.write_text("a\n1\n")
    pipeline.run()
    assert pipeline.technique() == "NO_OP"
    before = source.stat()
    bring(other, source)
    assert (source.stat().st_size, source.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert pipeline.technique() == "COMPLETE_RECOMPUTE"
    assert pipeline.rows() == [{"n": 2}]
    assert pipeline.technique() == "NO_OP"


def test_a_copied_folder_is_recomputed_and_right(tidegate):
    pipeline = Pipeline(tidegate, SUM, c=csv(header="true"))
    (pipeline.folder / "c.csv").write_text("a\n1\n")
    pipeline.run()
    copy = pipeline.folder.parent / "copy"
    shutil.copytree(pipeline.folder, copy)
    tidegate.folder = pipeline.folder = copy
    assert pipeline.technique() == "COMPLETE_RECOMPUTE"
    assert pipeline.rows() == [{"n": 1}]
    assert pipeline.technique() == "NO_OP"


def test_a_folder_is_its_files_without_its_folders(tidegate):
    pipeline = Pipeline(tidegate, SUM, c={**csv(header="true"), "path": "c"})
    for name, text in (("a.csv", "a\n1\n"), ("old/b.csv", "a\n10\n"), ("old/deep/c.csv", "a\n100\n"), ("_x/k=1/d.csv", "a\n7\n")):
        (pipeline.folder / "c" / name).parent.mkdir(parents=True, exist_ok=True)
        (pipeline.folder / "c" / name).write_text(text)
    pipeline.run()
    assert pipeline.rows() == [{"n": 1}]
    assert pipeline.technique() == "NO_OP"
    pipeline.tables(c={**csv(header="true"), "path": "c/**"})
    pipeline.run()
    assert pipeline.rows() == [{"n": 111}]


@pytest.mark.parametrize("folder", ["k=1", "_k=1", "deep/er/k=1"])
def test_partition_folders_of_files_are_refused(tidegate, folder):
    pipeline = Pipeline(tidegate, SUM, c={**csv(header="true"), "path": "c"})
    (pipeline.folder / "c" / folder).mkdir(parents=True)
    (pipeline.folder / "c" / "a.csv").write_text("a\n1\n")
    assert "partition folders of files are not available" in tidegate("dry-run", status=3).stderr


def test_a_folder_of_folders_alone_says_how_to_name_its_files(tidegate):
    pipeline = Pipeline(tidegate, SUM, c={**csv(header="true"), "path": "c"})
    (pipeline.folder / "c" / "d").mkdir(parents=True)
    (pipeline.folder / "c" / "d" / "a.csv").write_text("a\n1\n")
    done = tidegate("dry-run", status=3)
    assert "there is no" in done.stderr
    assert "/c/**" in done.stderr
