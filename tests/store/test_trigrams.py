"""Pieces of text are found wherever they stand, in every row and only there, also while an older database is brought up to date."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store import checks, trigrams
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.tasks.edit import Change

MANY = 1000
TEXTS = (
    "call getUserById() before the retry",
    "see pastchats_memory/ingest/turns.py:42",
    "我们怎么重试失败的请求",
    "重试策略",
    "ÜBERGRÖSSE",
    "dup key: E11000duplicate",
    "日",
    "🎉 done",
)


def put(database: Database, id_: int, text: str) -> None:
    database.run(
        "INSERT INTO prompts(id, source_path, source_project, turn_index, role, content, content_hash, text_hash) "
        "VALUES (?, 'a', 'p', 0, 'user', ?, ?, x'00')",
        (id_, text, str(id_)),
    )


def found(database: Database, piece: str) -> list[int] | None:
    ids = trigrams.containing(database, piece, MANY)
    return None if ids is None else ids.tolist()


@pytest.fixture
def indexed(database: Database) -> Database:
    with database.transaction():
        for id_, text in enumerate(TEXTS, start=1):
            put(database, id_, text)
    return database


@pytest.mark.parametrize(
    ("piece", "rows"),
    [
        ("getUserBy", [1]),
        ("serbyi", [1]),
        ("ingest/turns", [2]),
        ("turns.py:42", [2]),
        ("重试", [3, 4]),
        ("重", [3, 4]),
        ("请求", [3]),
        ("求", [3]),
        ("日", [7]),
        ("试策略", [4]),
        ("重试策略", [4]),
        ("übergröße"[:7], [5]),
        ("11000dup", [6]),
        ("🎉", [8]),
        ("e11", [6]),
        ("getUser" * 40, []),
        ('"*', []),
        ("\0", []),
    ],
)
def test_a_piece_is_found_in_the_rows_that_have_it(indexed: Database, piece: str, rows: list[int]) -> None:
    assert found(indexed, piece) == rows


def test_a_piece_in_more_rows_than_requested_is_not_distinctive(indexed: Database) -> None:
    assert trigrams.containing(indexed, "重试", 1) is None
    assert trigrams.containing(indexed, "getUser", 1) is not None


PIECES = ("ab", "abc", "c a", "bcab", "日本", "本語日", "語", "Ab", "abcabcab")
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(("update", "delete", "insert")),
        st.integers(1, 9),
        st.text("abc 日本語", max_size=12),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(changes=CHANGES)
def test_after_any_changes_just_the_rows_that_have_a_piece_are_found(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, str]]
) -> None:
    with open_database(tmp_path_factory.mktemp("fts") / "memory.db", create=True) as database, database.transaction():
        rows: dict[int, str] = {}
        for action, id_, text in changes:
            if action == "delete":
                database.run("DELETE FROM prompts WHERE id = ?", (id_,))
                rows.pop(id_, None)
            elif id_ in rows:
                database.run("UPDATE prompts SET content = ? WHERE id = ?", (text, id_))
                rows[id_] = text
            elif action == "insert":
                put(database, id_, text)
                rows[id_] = text
        assert checks.damage(database) == []
        for piece in PIECES:
            assert found(database, piece) == sorted(id_ for id_, text in rows.items() if piece.lower() in text)


def test_trigrams_that_have_parted_from_their_rows_are_damage(indexed: Database) -> None:
    indexed.run("INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', 4, '重试策略  ')")
    with pytest.raises(DatabaseCorrupt):
        indexed.run("INSERT INTO trigrams(trigrams, rank) VALUES ('integrity-check', 1)")
    assert checks.damage(indexed) != []


def test_pieces_of_tasks_and_of_their_labels_are_found(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, create=True) as memory:
        memory.tasks.add(Change(title="修复登录超时", tags=["authentication"]))
    with open_database(path) as database:
        (only,) = found(database, "登录")
        assert found(database, "henticat") == [only]
