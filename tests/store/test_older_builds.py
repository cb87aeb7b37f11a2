"""`restore` copies the rows of an older build's database into one of the present schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from older_builds import VERSIONS, make_older
from whole import assert_whole

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseOlder, UsageFault
from pastchats_memory.store import sources, vectors
from pastchats_memory.store.backup import restore
from pastchats_memory.store.database import open_database
from pastchats_memory.store.older_builds import TABLES

Rows = dict[str, list[tuple[Any, ...]]]
NOT_COPIED = {"components", "resume", "title_json"}
"""Columns that are derived, or dropped on purpose."""


def rows_of(path: Path) -> Rows:
    """Read all tables that are copied, as far as the file has them: names of the columns, then the rows."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.create_scalar_function("whole", whole_numbers, 1)
    found: Rows = {}
    for table in TABLES:
        names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})") if name not in NOT_COPIED]
        if names and table != "embedding_meta":
            listed = [f"whole({name})" if name == "vector_json" else name for name in names]
            rows = connection.execute(f"SELECT {', '.join(listed)} FROM {table}").fetchall()
            found[table] = [tuple(names), *sorted(rows, key=repr)]
    connection.close()
    return found


def whole_numbers(text: str) -> str:
    """A vector as it is stored now; older builds stored decimals."""
    numbers = np.array(json.loads(text), np.float32)
    return vectors.encode(numbers) if numbers.any() else text


def in_columns(rows: Rows, old: Rows) -> Rows:
    """Drop the tables and columns that `old` lacks."""
    cut: Rows = {}
    for table, (names, *_) in old.items():
        places = [rows[table][0].index(name) for name in names]
        chosen = [tuple(row[place] for place in places) for row in rows[table]]
        cut[table] = [chosen[0], *sorted(chosen[1:], key=repr)]
    return cut


@pytest.mark.promise("durability", "`restore` copies everything that an older build stored into a new database.")
@pytest.mark.parametrize("vec0", [True, False], ids=["vec0", "exact"])
@pytest.mark.parametrize("version", VERSIONS)
def test_every_row_of_an_older_build_is_restored_with_its_vector(tmp_path: Path, version: int, vec0: bool) -> None:
    old, new = make_older(tmp_path / "old.db", version), tmp_path / "new.db"
    before, raw = rows_of(old), old.read_bytes()
    assert len(before["prompts"]) > 6
    counts, aside = restore(old, new, vec0=vec0)
    assert (counts.turns, aside) == (len(before["prompts"]) - 1, None)
    assert in_columns(rows_of(new), before) == before
    assert old.read_bytes() == raw
    with open_database(new, vec0=vec0) as database:
        assert vectors.pending(database)["blocks"] == 0
        assert sources.meta(database)["model_name"] == "sentence-transformers/all-MiniLM-L6-v2"
        assert set(database.run("SELECT resume FROM sources")) == {(None,)}
    with Memory.open(new) as memory:
        hits = memory.search("webhooks that fail", mode="keyword")
        assert hits[0].content == "How do we retry webhooks that fail?"
        assert "how long the queue gets" in memory.search("length of the queue at noon", mode="semantic")[0].content
    with open_database(new) as database:
        assert_whole(database)


def test_tasks_comments_attachments_judgements_and_tombstones_are_restored(tmp_path: Path) -> None:
    old, new = make_older(tmp_path / "old.db", 14), tmp_path / "new.db"
    Memory.restore(old, new)
    with Memory.open(new) as memory:
        assert memory.search("list of receivers in the wiki", type="comment")[0].id == "c:2"
        assert memory.search("step one of the build", type="attachment")[0].id == "a:1"
        judged, _ = memory.list_unjudged(project=None, judged=True)
        assert [(sheet.id, sheet.outcome.verdict) for sheet in judged.sheets] == [("3", "worked")]
        turn = ("user", "Forget the number of the safe in the cellar.", "today", "event-2", "courier")
        with pytest.raises(UsageFault, match="was forgotten"):
            memory.store_turn(*turn, "2026-05-06T10:05:03Z")
        assert memory.store_turn("user", "Water the roses").id == "9"  # the forgotten turn's id is not given again


def test_a_secret_in_the_reading_state_of_an_older_build_is_not_copied(tmp_path: Path) -> None:
    old, new = make_older(tmp_path / "old.db", 7), tmp_path / "new.db"
    secret = "AKIA" + "Q7" * 8
    connection = apsw.Connection(str(old))
    connection.execute("UPDATE sources SET resume = ?", (f'{{"state": {{"text": "{secret}"}}}}',))
    connection.close()
    assert secret.encode() in old.read_bytes()
    Memory.restore(old, new)
    assert secret.encode() not in new.read_bytes()


def test_an_older_build_is_not_replaced_by_a_restore(tmp_path: Path) -> None:
    old, there = make_older(tmp_path / "old.db", 7), make_older(tmp_path / "memory.db", 14)
    before = there.read_bytes()
    with pytest.raises(DatabaseOlder, match=r"memory\.db"):
        Memory.restore(old, there)
    assert there.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db", "old.db"]
