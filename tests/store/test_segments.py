"""The full-text indexes are gathered where they lie about, and left alone where little does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from vector_rows import Row, insert, unit

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store import checks, fulltext
from pastchats_memory.store.database import Database, open_database


def in_turn(database: Database, ids: range) -> None:
    """Rows, each in a transaction of its own."""
    random = np.random.default_rng(ids.start)
    for id_ in ids:
        insert(database, {id_: Row(unit(random))})


def segments_of(database: Database, index: str) -> list[int]:
    return [segment for (segment,) in database.run(f"SELECT DISTINCT segid FROM {index}_idx")]


def found(database: Database, word: str) -> list[int]:
    return fulltext.postings(database, [word], Filters())[word].ids.tolist()


def test_an_index_run_gathers_what_earlier_transactions_left_and_the_same_rows_are_found(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Memory.open(tmp_path / "memory.db") as memory, open_database(tmp_path / "memory.db") as database:
        in_turn(database, range(1, 15))
        database.run("DELETE FROM prompts WHERE id = 3")
        before = found(database, "turn")
        assert all(len(segments_of(database, index)) > 1 for index in ("prompts_fts", "trigrams"))
        memory.index([tmp_path / "empty"])
        assert all(len(segments_of(database, index)) == 1 for index in ("prompts_fts", "trigrams"))
        assert found(database, "turn") == before == [1, 2, *range(4, 15)]
        assert checks.damage(database) == []


def test_a_few_further_rows_are_not_worth_writing_a_large_index_anew(database: Database) -> None:
    database.run(
        "CREATE TEMP TABLE numbers AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT i FROM n"
    )
    with database.transaction():
        database.run(
            "INSERT INTO prompts(source_path, source_project, turn_index, role, content, content_hash, text_hash) "
            "SELECT 'a', 'p', i, 'user', printf('word%d and word%d', i, i * i), i, zeroblob(32) FROM numbers"
        )
    fulltext.merge_scattered(database)
    large = segments_of(database, "prompts_fts")
    in_turn(database, range(5001, 5004))
    fulltext.merge_scattered(database)
    assert set(large) < set(segments_of(database, "prompts_fts"))
    assert found(database, "turn") == [5001, 5002, 5003]


def test_two_segments_are_gathered_too_which_are_fewer_than_fts5_merges_by_itself(database: Database) -> None:
    in_turn(database, range(1, 3))
    assert len(segments_of(database, "prompts_fts")) == 2
    fulltext.merge_scattered(database)
    assert len(segments_of(database, "prompts_fts")) == 1
    assert found(database, "turn") == [1, 2]
