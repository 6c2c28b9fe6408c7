# SPDX-License-Identifier: Apache-2.0
"""Tables by SQL alone: what statements leave on the disk, and rows that other writers may not have as we do."""

def test_drop_does_not_follow_links(tidegate):
    outside = tidegate.folder / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "kept").write_text("x")
    tidegate("sql", "-e", "CREATE TABLE d (a INT); INSERT INTO d VALUES (1)")
    table = tidegate.folder / "warehouse/main/default/d"
    (table / "link").symlink_to(outside)
    (table / "dangling").symlink_to("nowhere")
    tidegate("sql", "-e", "DROP TABLE d")
    assert not table.exists()
    assert (outside / "deep" / "kept").exists()
