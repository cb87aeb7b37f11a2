"""What a connection keeps of the file between questions: used where nothing was written, never trusted where something was."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray
from vector_rows import DIM, Row, answers, by_hand, insert, moment, unit, write

from pastchats_memory.model import Filters
from pastchats_memory.store import blocks, lexical, vectors
from pastchats_memory.store.database import Database, open_database

ALL, GARDEN, SHED = Filters(), Filters(project="garden"), Filters(project="shed")
QUERY = unit(np.random.default_rng(9))


class Kept:
    """A database that has been asked so often that it keeps what it reads, and the rows that are in it."""

    def __init__(self, path: Path) -> None:
        random = np.random.default_rng(5)
        self.path = path
        self.rows = {
            id_: Row(unit(random), ("garden", "shed")[id_ % 2], timestamp=moment(id_)) for id_ in range(1, 601)
        }
        with open_database(path, create=True, vec0=False) as database:
            insert(database, self.rows)
        self.database = open_database(path, vec0=False)
        self.ask_often()

    def ask_often(self) -> None:
        for _ in range(3):
            self.assert_right()
        assert not self.reads_blocks()

    def assert_right(self) -> None:
        for filters in (SHED, ALL):
            assert answers(self.database, QUERY, 40, filters) == by_hand(self.rows, QUERY, 40, filters)

    def reads_blocks(self) -> bool:
        """Whether a question that is asked now reads them."""
        statements: list[str] = []
        self.database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        self.assert_right()
        self.database.connection.trace_v2(0, None)
        return any("scales FROM vector_blocks" in statement for statement in statements)

    @property
    def nearest(self) -> int:
        return by_hand(self.rows, QUERY, 1, ALL)[0][0]


Change = Callable[[Database, Kept], None]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    opened = Kept(tmp_path / "memory.db")
    yield opened
    opened.database.close()


def forget_the_nearest(database: Database, kept: Kept) -> None:
    nearest = kept.nearest
    database.run("DELETE FROM prompts WHERE id = ?", (nearest,))
    vectors.catch_up(database)
    del kept.rows[nearest]


def add_one(database: Database, kept: Kept) -> None:
    added = {max(kept.rows) + 1: Row(QUERY, "shed", timestamp=moment(5))}
    write(database, added)
    kept.rows |= added


def move_one_to_another_project(database: Database, kept: Kept) -> None:
    moved = next(id_ for id_, _ in by_hand(kept.rows, QUERY, 40, GARDEN))
    database.run("UPDATE prompts SET source_project = 'shed' WHERE id = ?", (moved,))
    kept.rows[moved] = replace(kept.rows[moved], project="shed")


WAYS = (forget_the_nearest, add_one, move_one_to_another_project)


@pytest.mark.parametrize("change", WAYS)
def test_what_another_connection_writes_between_two_questions_is_seen(kept: Kept, change: Change) -> None:
    for _ in range(3):
        with open_database(kept.path, vec0=False) as other, other.transaction():
            change(other, kept)
        kept.assert_right()
    kept.ask_often()


@pytest.mark.parametrize("change", WAYS)
def test_what_the_connection_itself_writes_between_two_questions_is_seen(kept: Kept, change: Change) -> None:
    for _ in range(3):
        with kept.database.transaction():
            change(kept.database, kept)
        kept.assert_right()
    kept.ask_often()


@pytest.mark.parametrize("change", WAYS)
def test_what_is_taken_back_is_seen_until_then_and_never_again(kept: Kept, change: Change) -> None:
    before = dict(kept.rows)
    with suppress(InterruptedError), kept.database.transaction():
        change(kept.database, kept)
        for _ in range(3):
            kept.assert_right()
        raise InterruptedError
    kept.rows = before
    kept.assert_right()
    kept.ask_often()


def test_what_is_written_during_a_question_is_seen_by_the_next(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as other, kept.database.snapshot():
        kept.assert_right()
        before = dict(kept.rows)
        with other.transaction():
            forget_the_nearest(other, kept)
        after, kept.rows = kept.rows, before
        kept.assert_right()
    kept.rows = after
    kept.assert_right()


def test_how_many_rows_have_a_word_is_counted_again_after_a_change(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "FREQUENT", 500)
    assert frequency(kept.database) == 600
    assert frequency(kept.database) == 600
    with open_database(kept.path, vec0=False) as other, other.transaction():
        forget_the_nearest(other, kept)
    assert frequency(kept.database) == 599


def frequency(database: Database) -> int:
    with database.snapshot():
        return lexical.document_frequencies(database, ["turn"])["turn"]


def test_a_memory_that_is_too_large_is_read_for_each_question(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_KEPT", 600 * DIM)  # which is less than the blocks have room for
    with kept.database.transaction():
        forget_the_nearest(kept.database, kept)
    assert [kept.reads_blocks() for _ in range(4)] == [True] * 4


def test_more_filters_than_are_kept_each_let_through_what_they_should(kept: Kept) -> None:
    several = [Filters(since=moment(100 * number)) for number in range(vectors.MOST_FILTERS + 2)]
    for filters in (*several, *several):
        assert answers(kept.database, QUERY, 9, filters) == by_hand(kept.rows, QUERY, 9, filters)


def test_between_two_looks_at_the_file_nothing_is_kept(kept: Kept) -> None:
    kept.database.kept.values()["seen"] = True
    assert kept.database.kept.values() == {}
    with kept.database.snapshot():
        assert "seen" not in kept.database.kept.values()


def test_who_asks_once_keeps_nothing(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as another, another.snapshot():
        answers(another, QUERY, 40, ALL)
        assert blocks.kept(another) is None
        answers(another, QUERY, 40, ALL)
        assert blocks.kept(another) is not None


def parts_of(database: Database) -> list[weakref.ref[blocks.Codes]]:
    """What is kept of the blocks, without holding it."""
    with database.snapshot():
        return [weakref.ref(part.buffer) for part in blocks.kept(database) or ()]


def test_who_closes_the_file_gives_the_memory_back_at_once(kept: Kept) -> None:
    parts = parts_of(kept.database)
    assert parts
    assert all(part() is not None for part in parts)
    kept.database.close()
    assert all(part() is None for part in parts)


def test_a_database_that_nobody_has_any_more_is_gone_at_once(kept: Kept) -> None:
    database = open_database(kept.path, vec0=False)
    seen = weakref.ref(database)
    del database
    assert seen() is None


def test_what_is_copied_into_the_file_from_another_is_seen(kept: Kept, tmp_path: Path) -> None:
    with open_database(tmp_path / "copy.db", create=True, vec0=False) as copy:
        insert(copy, dict(list(kept.rows.items())[:300]))
        with kept.database.connection.backup("main", copy.connection, "main") as copied:
            copied.step()
    kept.rows = dict(list(kept.rows.items())[:300])
    kept.assert_right()
    kept.ask_often()


def proposed(kept: Kept, k: int, query: NDArray[np.float32] = QUERY) -> vectors.Proposed | None:
    propose = vectors.proposing(kept.database, k, None)
    assert propose is not None
    return propose(query)


def test_what_was_proposed_for_fewer_than_are_asked_for_is_not_all(kept: Kept) -> None:
    with kept.database.snapshot():
        found = vectors.nearest(kept.database, QUERY, 40, ALL, proposed=proposed(kept, 5))
    assert [tuple(one) for one in found] == by_hand(kept.rows, QUERY, 40, ALL)


def test_rows_that_the_blocks_have_as_they_were_take_no_place_among_those_proposed(kept: Kept) -> None:
    changed = {id_: Row(-kept.rows[id_].vector) for id_, _ in by_hand(kept.rows, QUERY, 40, ALL)}
    with kept.database.transaction():
        kept.database.run_many(
            "UPDATE prompt_embeddings SET vector_json = ?, components = NULL WHERE prompt_id = ?",
            [(vectors.encode(row.vector), id_) for id_, row in changed.items()],
        )
    kept.rows |= changed
    with kept.database.snapshot():
        for _ in range(3):
            vectors.nearest(kept.database, QUERY, 5, ALL)
        found = vectors.nearest(kept.database, QUERY, 5, ALL, proposed=proposed(kept, 5))
    assert [tuple(one) for one in found] == by_hand(kept.rows, QUERY, 5, ALL)


def test_nothing_is_proposed_for_a_vector_of_another_model(kept: Kept) -> None:
    with kept.database.snapshot():
        assert proposed(kept, 5, unit(np.random.default_rng(1), 2 * DIM)) is None
