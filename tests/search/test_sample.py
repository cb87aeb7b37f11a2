"""What stands for the searched corpus when evidence is standardised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store.database import open_database
from pastchats_memory.store.filters import FIRST_TEXT
from pastchats_memory.store.ids import allowed_ids, spread_among, spread_ids


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
        assert spread_ids(database, 256) == everything
        passing = allowed_ids(database, None, Filters(role="note"))
        assert spread_among(passing, 256) == everything


def test_filtered_rows_are_thinned_out_to_the_sample_size() -> None:
    ids = np.concatenate([np.arange(1, 20_001, 2), FIRST_TEXT + np.arange(1, 3_001)])
    spread = spread_among(ids, 256)
    assert len(spread) == pytest.approx(256, rel=0.3)
    assert sum(id_ > FIRST_TEXT for id_ in spread) == pytest.approx(256 * 3 / 13, rel=0.4)
    assert spread == sorted(set(spread) & set(ids.tolist()))


@pytest.mark.parametrize(("mode", "times"), [("hybrid", 1), ("semantic", 1), ("keyword", 0)])
def test_a_filter_lists_its_rows_once_and_a_search_by_words_never_lists_them(
    notes: Path, mode: str, times: int
) -> None:
    with open_database(notes) as database:
        asked: list[str] = []

        def note(_: object, statement: str, __: object) -> bool:
            asked.append(statement)
            return True

        database.connection.exec_trace = note
        assert search(database, PackagedEmbedder(), Request("beans", mode=mode, filters=Filters(role="note")))
    assert (
        sum("FROM visible_prompts p WHERE" in statement and "p.id IN (" not in statement for statement in asked)
        == times
    )


def test_a_search_goes_on_when_none_of_the_sampled_rows_is_left(notes: Path, tmp_path: Path) -> None:
    with open_database(notes) as database, database.transaction():
        database.run("DELETE FROM prompts")
        database.run("UPDATE sqlite_sequence SET seq = 1000000006 WHERE name = 'prompts'")
    last = tmp_path / "last.md"
    last.write_text("# The last bed\n\nIts beans want water.\n")
    with Memory.open(notes) as memory:
        memory.index([last])
        assert [hit.id for hit in memory.search("beans")] == ["1000000007"]
