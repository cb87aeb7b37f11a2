"""The snapshot cache: values are used again while nothing was written, and never after a write."""

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
"""Between two ids, so that there are blocks enough to be queried as several parts."""
PARTS = 1 + ROWS * SPREAD // (blocks.STRIDE * blocks.BLOCK)


class Queried:
    """A database that two queries have read, so that its blocks are cached, and its rows."""

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


Change = Callable[[Database, Queried], None]


@pytest.fixture
def queried(tmp_path: Path) -> Iterator[Queried]:
    opened = Queried(tmp_path / "memory.db")
    yield opened
    opened.database.close()


def forget_the_nearest(database: Database, queried: Queried) -> None:
    nearest = queried.nearest
    database.run("DELETE FROM prompts WHERE id = ?", (nearest,))
    vectors.catch_up(database)
    del queried.rows[nearest]


def add_one(database: Database, queried: Queried) -> None:
    added = {max(queried.rows) + 1: Row(QUERY, "shed", timestamp=moment(5))}
    write(database, added)
    queried.rows |= added


def move_one_to_another_project(database: Database, queried: Queried) -> None:
    moved = next(id_ for id_, _ in by_hand(queried.rows, QUERY, 40, GARDEN))
    database.run("UPDATE prompts SET source_project = 'shed' WHERE id = ?", (moved,))
    queried.rows[moved] = replace(queried.rows[moved], project="shed")


def redact_the_nearest(database: Database, queried: Queried) -> None:
    """It has another text, and so another vector."""
    nearest = queried.nearest
    queried.rows[nearest] = replace(queried.rows[nearest], vector=-QUERY)
    changed = vectors.encode(-QUERY)
    database.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = ?", (changed, nearest))
    vectors.catch_up(database)


WAYS = (forget_the_nearest, add_one, move_one_to_another_project, redact_the_nearest)


@pytest.mark.parametrize("change", WAYS)
def test_a_write_of_another_connection_between_two_queries_is_seen(queried: Queried, change: Change) -> None:
    for _ in range(3):
        with open_database(queried.path, vec0=False) as other, other.transaction():
            change(other, queried)
        queried.assert_right()
    queried.ask_often()


@pytest.mark.parametrize("change", WAYS)
def test_a_write_of_the_same_connection_between_two_queries_is_seen(queried: Queried, change: Change) -> None:
    for _ in range(3):
        with queried.database.transaction():
            change(queried.database, queried)
        queried.assert_right()
    queried.ask_often()


@pytest.mark.parametrize("change", WAYS)
def test_a_rolled_back_write_is_seen_until_the_rollback_only(queried: Queried, change: Change) -> None:
    before = dict(queried.rows)
    with suppress(InterruptedError), queried.database.transaction():
        change(queried.database, queried)
        for _ in range(3):
            queried.assert_right()
        raise InterruptedError
    queried.rows = before
    queried.assert_right()
    queried.ask_often()


def test_a_write_during_a_query_is_seen_by_the_next_one(queried: Queried) -> None:
    with open_database(queried.path, vec0=False) as other, queried.database.snapshot():
        queried.assert_right()
        before = dict(queried.rows)
        with other.transaction():
            forget_the_nearest(other, queried)
        after, queried.rows = queried.rows, before
        queried.assert_right()
    queried.rows = after
    queried.assert_right()


def test_document_frequencies_are_counted_again_after_a_change(
    queried: Queried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "FREQUENT", ROWS // 2)
    assert frequency(queried.database) == ROWS
    assert frequency(queried.database) == ROWS
    with open_database(queried.path, vec0=False) as other, other.transaction():
        forget_the_nearest(other, queried)
    assert frequency(queried.database) == ROWS - 1


def frequency(database: Database) -> int:
    with database.snapshot():
        return fulltext.document_frequencies(database, ["turn"])["turn"]


def test_blocks_that_are_too_large_for_the_cache_are_read_for_each_query(
    queried: Queried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_CACHED", ROWS * DIM)  # which is less than the blocks have room for
    with open_database(queried.path, vec0=False) as queried.database:
        assert [queried.reads_blocks() for _ in range(4)] == [2 * PARTS] * 4


def test_blocks_that_fit_into_the_cache_are_not_read_again_beside_others_that_do_not(
    queried: Queried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_CACHED", 2 * blocks.STRIDE * blocks.BLOCK * DIM)
    with open_database(queried.path, vec0=False) as queried.database:
        queried.assert_right()
        assert [queried.reads_blocks() for _ in range(3)] == [2 * (PARTS - 2)] * 3
        with open_database(queried.path, vec0=False) as other, other.transaction():
            forget_the_nearest(other, queried)
            add_one(other, queried)
        assert 2 * (PARTS - 2) <= queried.reads_blocks() <= 2 * (PARTS - 2) + 1
        queried.assert_right()


def test_more_filters_than_the_cache_holds_give_the_same_rows(queried: Queried) -> None:
    several = [Filters(since=moment(20 * number)) for number in range(vectors.MOST_FILTERS + 2)]
    for filters in (*several, *several):
        assert answers(queried.database, QUERY, 9, filters) == by_hand(queried.rows, QUERY, 9, filters)


def test_nothing_is_cached_outside_of_a_snapshot(queried: Queried) -> None:
    queried.database.cache.entries()["seen"] = True
    assert queried.database.cache.entries() == {}
    with queried.database.snapshot():
        assert "seen" not in queried.database.cache.entries()


def test_a_process_with_one_query_caches_no_blocks(queried: Queried) -> None:
    with open_database(queried.path, vec0=False) as another, another.snapshot():
        answers(another, QUERY, 40, ALL)
        assert not blocks.cached_parts(another)
        answers(another, QUERY, 40, ALL)
        assert len(blocks.cached_parts(another)) == PARTS


def parts_of(database: Database) -> list[weakref.ref[blocks.Codes]]:
    """What is queried of the blocks, without holding it."""
    with database.snapshot():
        return [weakref.ref(one.part.codes) for one in blocks.cached_parts(database).values()]


def test_closing_the_database_frees_the_cached_blocks_at_once(queried: Queried) -> None:
    parts = parts_of(queried.database)
    assert parts
    assert all(part() is not None for part in parts)
    queried.database.close()
    assert all(part() is None for part in parts)


def test_an_unreferenced_database_is_freed_at_once(queried: Queried) -> None:
    database = open_database(queried.path, vec0=False)
    seen = weakref.ref(database)
    del database
    assert seen() is None


def test_a_copy_of_another_file_over_the_database_is_seen(queried: Queried, tmp_path: Path) -> None:
    with open_database(tmp_path / "copy.db", create=True, vec0=False) as copy:
        insert(copy, dict(list(queried.rows.items())[: ROWS // 2]))
        with queried.database.connection.backup("main", copy.connection, "main") as copied:
            copied.step()
    queried.rows = dict(list(queried.rows.items())[: ROWS // 2])
    queried.assert_right()
    queried.ask_often()


def proposed(queried: Queried, k: int, query: NDArray[np.float32] = QUERY) -> vectors.Candidates | None:
    propose = vectors.prepare_scan(queried.database, k, None)
    assert propose is not None
    return propose(query)


def test_candidates_for_a_smaller_k_are_not_used(queried: Queried) -> None:
    with queried.database.snapshot():
        found = vectors.nearest(queried.database, QUERY, 40, ALL, candidates=proposed(queried, 5))
    assert [tuple(one) for one in found] == by_hand(queried.rows, QUERY, 40, ALL)


@pytest.mark.parametrize("fitting", [1, 2, PARTS])
def test_candidates_of_the_cached_blocks_are_joined_by_those_of_the_others(
    queried: Queried, monkeypatch: pytest.MonkeyPatch, fitting: int
) -> None:
    monkeypatch.setattr(blocks, "MAX_CACHED", fitting * blocks.STRIDE * blocks.BLOCK * DIM)
    with open_database(queried.path, vec0=False) as queried.database, queried.database.snapshot():
        for _ in range(2):
            queried.assert_right()
        candidates = proposed(queried, 40)
        assert candidates is not None
        assert len(candidates.strides) == fitting
        for _ in range(2):
            found = vectors.nearest(queried.database, QUERY, 40, ALL, candidates=candidates)
            assert [tuple(one) for one in found] == by_hand(queried.rows, QUERY, 40, ALL)


def test_changed_rows_are_no_candidates_of_the_blocks(queried: Queried) -> None:
    changed = {id_: Row(-queried.rows[id_].vector) for id_, _ in by_hand(queried.rows, QUERY, 40, ALL)}
    with queried.database.transaction():
        queried.database.run_many(
            "UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = ?",
            [(vectors.encode(row.vector), id_) for id_, row in changed.items()],
        )
    queried.rows |= changed
    with queried.database.snapshot():
        for _ in range(3):
            vectors.nearest(queried.database, QUERY, 5, ALL)
        found = vectors.nearest(queried.database, QUERY, 5, ALL, candidates=proposed(queried, 5))
    assert [tuple(one) for one in found] == by_hand(queried.rows, QUERY, 5, ALL)


def test_a_vector_of_another_model_has_no_candidates(queried: Queried) -> None:
    with queried.database.snapshot():
        assert proposed(queried, 5, unit(np.random.default_rng(1), 2 * DIM)) is None


@pytest.mark.parametrize("change", WAYS)
def test_only_blocks_written_by_another_process_are_read_again(queried: Queried, change: Change) -> None:
    with open_database(queried.path, vec0=False) as other, other.transaction():
        change(other, queried)
    assert [queried.reads_blocks() for _ in range(2)] == [change is not move_one_to_another_project, 0]


def test_blocks_that_are_read_again_keep_their_place(queried: Queried) -> None:
    with open_database(queried.path, vec0=False) as other, other.transaction():
        other.run("UPDATE vector_blocks SET scales = scales WHERE block = 0")
    queried.assert_right()
    with queried.database.snapshot():
        ids = np.concatenate([one.part.ids for _, one in sorted(blocks.cached_parts(queried.database).items())])
    assert ids.tolist() == sorted(queried.rows)


def test_no_block_is_read_again_after_a_commit_that_writes_none(queried: Queried) -> None:
    with open_database(queried.path, vec0=False) as other, other.transaction():
        set_meta(other, {"touched": "yes"})
    assert not queried.reads_blocks()


def test_a_block_written_after_a_restore_differs_from_the_one_written_before(queried: Queried, tmp_path: Path) -> None:
    before, nearest = dict(queried.rows), queried.nearest
    another = next(id_ for id_ in before if id_ != nearest and id_ // blocks.BLOCK == nearest // blocks.BLOCK)
    with open_database(queried.path, vec0=False) as other, open_database(tmp_path / "copy.db", create=True) as copy:
        copy_into(copy, other)
        with other.transaction():
            forget_the_nearest(other, queried)
        queried.assert_right()
        copy_into(other, copy)
        with other.transaction():  # the same change of the same block, but of another row
            other.run("DELETE FROM prompts WHERE id = ?", (another,))
            vectors.catch_up(other)
    queried.rows = {id_: row for id_, row in before.items() if id_ != another}
    queried.assert_right()


def copy_into(target: Database, source: Database) -> None:
    with target.connection.backup("main", source.connection, "main") as copied:
        copied.step()


@pytest.mark.parametrize("dim", [DIM, 2 * DIM])
def test_vectors_of_another_model_are_seen_at_once(queried: Queried, dim: int) -> None:
    query, random = unit(np.random.default_rng(11), dim), np.random.default_rng(12)
    hashes = {id_: hashlib.sha256(str(id_).encode()).digest() for id_ in queried.rows}
    queried.rows = {id_: replace(row, vector=unit(random, dim)) for id_, row in queried.rows.items()}
    with open_database(queried.path, vec0=False) as other:
        with other.transaction():
            other.run_many(
                "UPDATE prompts SET text_hash = ? WHERE id = ?", [(hash_, id_) for id_, hash_ in hashes.items()]
            )
        reindex.begin(other, "other", "1")
        made = [(hashes[id_], vectors.encode(row.vector)) for id_, row in queried.rows.items()]
        with other.transaction():
            reindex.add_vectors(other, "other", "1", made)
        reindex.prepare_blocks(other)
        with other.transaction():
            reindex.switch(other, "other", "1", dim)
    for _ in range(3):
        assert answers(queried.database, query, 40, ALL) == by_hand(queried.rows, query, 40, ALL)


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_killed_process_leaves_the_cache_of_others_correct(queried: Queried, is_committed: bool) -> None:
    before = dict(queried.rows)
    nearest = queried.nearest
    child = os.fork()
    if child == 0:
        other = open_database(queried.path, vec0=False)
        other.run("BEGIN IMMEDIATE")
        forget_the_nearest(other, queried)
        if is_committed:
            other.run("COMMIT")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    queried.rows = {id_: row for id_, row in before.items() if not is_committed or id_ != nearest}
    assert queried.reads_blocks() == is_committed
    queried.ask_often()


def test_a_block_without_a_version_is_read_for_each_state_of_the_file(queried: Queried) -> None:
    with open_database(queried.path, vec0=False) as other:
        for value in "ab":
            other.run("DELETE FROM vector_block_versions WHERE block = 0")
            set_meta(other, {"touched": value})
            assert queried.reads_blocks() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vector_blocks SET scales = scales WHERE block = 1",
        "INSERT OR REPLACE INTO vector_blocks SELECT * FROM vector_blocks WHERE block = 1",
        "INSERT OR IGNORE INTO vector_blocks SELECT 9999, ids, scales, codes FROM vector_blocks WHERE block = 1",
        "UPDATE OR REPLACE vector_blocks SET block = 1 WHERE block = 2",
        "DELETE FROM vector_blocks WHERE block = 1",
    ],
)
def test_every_write_of_a_block_gives_it_a_new_version(queried: Queried, statement: str) -> None:
    database = queried.database
    before = dict(database.run("SELECT block, version FROM vector_block_versions"))
    database.run(statement)
    after = dict(database.run("SELECT block, version FROM vector_block_versions"))
    changed = {block for block in before.keys() | after.keys() if before.get(block) != after.get(block)}
    assert {1, 9999} & changed
    assert after.keys() == {block for (block,) in database.run("SELECT block FROM vector_blocks")}
    assert not {after[block] for block in changed & after.keys()} & set(before.values())
