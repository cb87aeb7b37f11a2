"""What stands for the searched corpus when evidence is standardised."""

from __future__ import annotations

from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store.database import open_database
from pastchats_memory.store.filters import spread_ids


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        (folder / f"n{number}.md").write_text(f"# Bed {number}\n\nThe beans of bed {number} want water.\n")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([folder])
    return tmp_path / "memory.db"


def test_a_small_corpus_stands_for_itself(notes: Path) -> None:
    with open_database(notes) as database:
        everything = [id_ for (id_,) in database.run("SELECT id FROM prompts ORDER BY id")]
        assert spread_ids(database, Filters(), 256) == everything
        assert spread_ids(database, Filters(role="note"), 256) == everything


def test_a_search_goes_on_when_none_of_the_sampled_rows_is_left(notes: Path, tmp_path: Path) -> None:
    with open_database(notes) as database, database.transaction():
        database.run("DELETE FROM prompts")
        database.run("UPDATE sqlite_sequence SET seq = 1000000006 WHERE name = 'prompts'")
    last = tmp_path / "last.md"
    last.write_text("# The last bed\n\nIts beans want water.\n")
    with Memory.open(notes) as memory:
        memory.index([last])
        assert [hit.id for hit in memory.search("beans")] == ["1000000007"]
