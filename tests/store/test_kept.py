"""What a connection keeps of the file between questions: used where nothing was written, never trusted where something was."""

from __future__ import annotations

import hashlib
import os
import signal
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
from pastchats_memory.store import fulltext, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.vectors import blocks, reindex

ALL, GARDEN, SHED = Filters(), Filters(project="garden"), Filters(project="shed")
QUERY = unit(np.random.default_rng(9))
ROWS = 240
SPREAD = 100
"""Between two ids, so that there are blocks enough to be kept as several parts."""
PARTS = 1 + ROWS * SPREAD // (blocks.STRIDE * blocks.BLOCK)


class Kept:
    """A database that has been asked so often that it keeps what it reads, and the rows that are in it."""

    def __init__(self, path: Path) -> None:
        random = np.random.default_rng(5)
        self.path = path
        self.rows = {
            1 + SPREAD * number: Row(unit(random), ("garden", "shed")[number % 2], timestamp=moment(number))
            for number in range(ROWS)
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

    def reads_blocks(self) -> int:
        """How often two questions that are asked now read some of them."""
        statements: list[str] = []
        self.database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        self.assert_right()
        self.database.connection.trace_v2(0, None)
        return sum("scales FROM vector_blocks" in statement for statement in statements)

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


def redact_the_nearest(database: Database, kept: Kept) -> None:
    """It has another text, and so another vector."""
    nearest = kept.nearest
    kept.rows[nearest] = replace(kept.rows[nearest], vector=-QUERY)
    changed = vectors.encode(-QUERY)
    database.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = ?", (changed, nearest))
    vectors.catch_up(database)


WAYS = (forget_the_nearest, add_one, move_one_to_another_project, redact_the_nearest)


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
    monkeypatch.setattr(fulltext, "FREQUENT", ROWS // 2)
    assert frequency(kept.database) == ROWS
    assert frequency(kept.database) == ROWS
    with open_database(kept.path, vec0=False) as other, other.transaction():
        forget_the_nearest(other, kept)
    assert frequency(kept.database) == ROWS - 1


def frequency(database: Database) -> int:
    with database.snapshot():
        return fulltext.document_frequencies(database, ["turn"])["turn"]


def test_a_memory_that_is_too_large_is_read_for_each_question(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_CACHED", ROWS * DIM)  # which is less than the blocks have room for
    with kept.database.transaction():
        forget_the_nearest(kept.database, kept)
    assert [kept.reads_blocks() for _ in range(4)] == [2 * PARTS] * 4


def test_more_filters_than_are_kept_each_let_through_what_they_should(kept: Kept) -> None:
    several = [Filters(since=moment(20 * number)) for number in range(vectors.MOST_FILTERS + 2)]
    for filters in (*several, *several):
        assert answers(kept.database, QUERY, 9, filters) == by_hand(kept.rows, QUERY, 9, filters)


def test_between_two_looks_at_the_file_nothing_is_kept(kept: Kept) -> None:
    kept.database.cache.entries()["seen"] = True
    assert kept.database.cache.entries() == {}
    with kept.database.snapshot():
        assert "seen" not in kept.database.cache.entries()


def test_who_asks_once_keeps_nothing(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as another, another.snapshot():
        answers(another, QUERY, 40, ALL)
        assert blocks.cached_parts(another) is None
        answers(another, QUERY, 40, ALL)
        assert blocks.cached_parts(another) is not None


def parts_of(database: Database) -> list[weakref.ref[blocks.Codes]]:
    """What is kept of the blocks, without holding it."""
    with database.snapshot():
        return [weakref.ref(part.buffer) for part in blocks.cached_parts(database) or ()]


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
        insert(copy, dict(list(kept.rows.items())[: ROWS // 2]))
        with kept.database.connection.backup("main", copy.connection, "main") as copied:
            copied.step()
    kept.rows = dict(list(kept.rows.items())[: ROWS // 2])
    kept.assert_right()
    kept.ask_often()


def proposed(kept: Kept, k: int, query: NDArray[np.float32] = QUERY) -> vectors.Candidates | None:
    propose = vectors.prepare_scan(kept.database, k, None)
    assert propose is not None
    return propose(query)


def test_what_was_proposed_for_fewer_than_are_asked_for_is_not_all(kept: Kept) -> None:
    with kept.database.snapshot():
        found = vectors.nearest(kept.database, QUERY, 40, ALL, candidates=proposed(kept, 5))
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
        found = vectors.nearest(kept.database, QUERY, 5, ALL, candidates=proposed(kept, 5))
    assert [tuple(one) for one in found] == by_hand(kept.rows, QUERY, 5, ALL)


def test_nothing_is_proposed_for_a_vector_of_another_model(kept: Kept) -> None:
    with kept.database.snapshot():
        assert proposed(kept, 5, unit(np.random.default_rng(1), 2 * DIM)) is None


@pytest.mark.parametrize("change", WAYS)
def test_of_the_blocks_those_alone_are_read_again_that_were_written_by_another_process(
    kept: Kept, change: Change
) -> None:
    with open_database(kept.path, vec0=False) as other, other.transaction():
        change(other, kept)
    assert [kept.reads_blocks() for _ in range(2)] == [change is not move_one_to_another_project, 0]


def test_what_was_read_again_stands_where_it_stood(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as other, other.transaction():
        other.run("UPDATE vector_blocks SET scales = scales WHERE block = 0")
    kept.assert_right()
    with kept.database.snapshot():
        ids = np.concatenate([part.ids for part in blocks.cached_parts(kept.database) or ()])
    assert ids.tolist() == sorted(kept.rows)


def test_a_commit_that_writes_no_block_has_none_read_again(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as other, other.transaction():
        set_meta(other, {"touched": "yes"})
    assert not kept.reads_blocks()


def test_what_is_written_after_an_older_state_was_restored_is_not_taken_for_what_was_written_before(
    kept: Kept, tmp_path: Path
) -> None:
    before, nearest = dict(kept.rows), kept.nearest
    another = next(id_ for id_ in before if id_ != nearest and id_ // blocks.BLOCK == nearest // blocks.BLOCK)
    with open_database(kept.path, vec0=False) as other, open_database(tmp_path / "copy.db", create=True) as copy:
        copy_into(copy, other)
        with other.transaction():
            forget_the_nearest(other, kept)
        kept.assert_right()
        copy_into(other, copy)
        with other.transaction():  # the same change of the same block, but of another row
            other.run("DELETE FROM prompts WHERE id = ?", (another,))
            vectors.catch_up(other)
    kept.rows = {id_: row for id_, row in before.items() if id_ != another}
    kept.assert_right()


def copy_into(target: Database, source: Database) -> None:
    with target.connection.backup("main", source.connection, "main") as copied:
        copied.step()


@pytest.mark.parametrize("dim", [DIM, 2 * DIM])
def test_the_vectors_of_another_model_are_seen_at_once(kept: Kept, dim: int) -> None:
    query, random = unit(np.random.default_rng(11), dim), np.random.default_rng(12)
    hashes = {id_: hashlib.sha256(str(id_).encode()).digest() for id_ in kept.rows}
    kept.rows = {id_: replace(row, vector=unit(random, dim)) for id_, row in kept.rows.items()}
    with open_database(kept.path, vec0=False) as other:
        with other.transaction():
            other.run_many(
                "UPDATE prompts SET text_hash = ? WHERE id = ?", [(hash_, id_) for id_, hash_ in hashes.items()]
            )
        reindex.begin(other, "other", "1")
        made = [(hashes[id_], vectors.encode(row.vector)) for id_, row in kept.rows.items()]
        with other.transaction():
            reindex.add_vectors(other, "other", "1", made)
        reindex.prepare_blocks(other)
        with other.transaction():
            reindex.switch(other, "other", "1", dim)
    for _ in range(3):
        assert answers(kept.database, query, 40, ALL) == by_hand(kept.rows, query, 40, ALL)


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_process_that_is_killed_leaves_what_is_kept_as_right_as_it_was(kept: Kept, is_committed: bool) -> None:
    before = dict(kept.rows)
    nearest = kept.nearest
    child = os.fork()
    if child == 0:
        other = open_database(kept.path, vec0=False)
        other.run("BEGIN IMMEDIATE")
        forget_the_nearest(other, kept)
        if is_committed:
            other.run("COMMIT")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    kept.rows = {id_: row for id_, row in before.items() if not is_committed or id_ != nearest}
    assert kept.reads_blocks() == is_committed
    kept.ask_often()


def test_a_block_of_whose_writing_nothing_is_known_is_read_for_each_state_of_the_file(kept: Kept) -> None:
    with open_database(kept.path, vec0=False) as other:
        for value in "ab":
            other.run("DELETE FROM vector_block_versions WHERE block = 0")
            set_meta(other, {"touched": value})
            assert kept.reads_blocks() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vector_blocks SET scales = scales WHERE block = 1",
        "INSERT OR REPLACE INTO vector_blocks SELECT * FROM vector_blocks WHERE block = 1",
        "INSERT OR IGNORE INTO vector_blocks SELECT 9999, ids, codes, scales FROM vector_blocks WHERE block = 1",
        "UPDATE OR REPLACE vector_blocks SET block = 1 WHERE block = 2",
        "DELETE FROM vector_blocks WHERE block = 1",
    ],
)
def test_whoever_writes_a_block_gives_it_a_number_that_none_has_had(kept: Kept, statement: str) -> None:
    database = kept.database
    before = dict(database.run("SELECT block, version FROM vector_block_versions"))
    database.run(statement)
    after = dict(database.run("SELECT block, version FROM vector_block_versions"))
    changed = {block for block in before.keys() | after.keys() if before.get(block) != after.get(block)}
    assert {1, 9999} & changed
    assert after.keys() == {block for (block,) in database.run("SELECT block FROM vector_blocks")}
    assert not {after[block] for block in changed & after.keys()} & set(before.values())


def test_where_the_blocks_are_kept_the_file_is_mapped_no_more(kept: Kept) -> None:
    assert kept.database.value("PRAGMA mmap_size") == 0
    with open_database(kept.path, vec0=False) as another:
        answers(another, QUERY, 40, ALL)
        assert another.value("PRAGMA mmap_size") > 0
