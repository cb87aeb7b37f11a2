"""A vector is stored twice, as JSON and as whole numbers, and is the same either way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
from vector_rows import Row, answers, insert, unit

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, open_database


@pytest.fixture
def three(database: Database) -> Database:
    random = np.random.default_rng(4)
    insert(database, {id_: Row(unit(random)) for id_ in (1, 2, 3)})
    return database


def components(database: Database) -> list[bytes | None]:
    return [stored for (stored,) in database.run("SELECT components FROM prompt_embeddings ORDER BY prompt_id")]


def test_every_number_of_four_decimals_is_the_same_double_from_json_and_from_its_whole_number() -> None:
    text = "[" + ",".join(f"{number / 10_000:.4f}" for number in range(-10_000, 10_001)) + "]"
    packed = np.frombuffer(vectors.pack(text), "<i2")
    assert packed.tolist() == list(range(-10_000, 10_001))
    assert (packed / 10_000).tolist() == orjson.loads(text)


def test_a_stored_vector_has_its_components_and_is_read_as_its_json_says(three: Database) -> None:
    texts = [text for (text,) in three.run("SELECT vector_json FROM prompt_embeddings ORDER BY prompt_id")]
    assert components(three) == [vectors.pack(text) for text in texts]
    found, rows = vectors.matrix(three, [1, 2, 3])
    assert found == [1, 2, 3]
    assert rows.tobytes() == vectors.decode(texts).tobytes()


@pytest.mark.parametrize("missing", [(1,), (2,), (1, 2, 3)])
def test_vectors_without_components_are_read_from_json_to_the_last_bit(
    three: Database, missing: tuple[int, ...]
) -> None:
    _, before = vectors.matrix(three, [1, 2, 3])
    with three.transaction():
        three.run_many(
            "UPDATE prompt_embeddings SET components = NULL WHERE prompt_id = ?", [(id_,) for id_ in missing]
        )
    assert vectors.matrix(three, [1, 2, 3])[1].tobytes() == before.tobytes()


def test_a_vector_that_is_changed_by_hand_is_never_answered_by_its_old_components(three: Database) -> None:
    query = unit(np.random.default_rng(5))
    with three.transaction():
        three.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = 2", (vectors.encode(query),))
    assert components(three)[1] is None
    assert answers(three, query, 1, Filters())[0][0] == 2
    with three.transaction():
        vectors.catch_up(three)
    assert components(three)[1] == vectors.pack(vectors.encode(query))


def test_a_vector_of_more_decimals_stays_what_its_json_says(three: Database) -> None:
    finer = [0.123456] * 16
    with three.transaction():
        three.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = 2", (orjson.dumps(finer).decode(),))
        vectors.catch_up(three)
    assert components(three)[1] == b""
    assert vectors.matrix(three, [2])[1].tobytes() == vectors.decode([orjson.dumps(finer).decode()]).tobytes()


def test_an_older_database_gets_its_components_while_it_is_written_to(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    with open_database(tmp_path / "memory.db", create=True) as database:
        insert(database, {id_: Row(unit(random)) for id_ in range(1, 31)})
        with database.transaction():
            database.run("UPDATE prompt_embeddings SET components = NULL")
        insert(database, {31: Row(unit(random))})
        assert None not in components(database)


def test_an_index_run_gives_an_older_database_all_components_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(6)
    monkeypatch.setattr(vectors, "PACKED_A_STEP", 4)
    with Memory.open(tmp_path / "memory.db") as memory, open_database(tmp_path / "memory.db") as database:
        insert(database, {id_: Row(unit(random)) for id_ in range(1, 31)})
        with database.transaction():
            database.run("UPDATE prompt_embeddings SET components = NULL")
        assert memory.status().unpacked == 30
        (tmp_path / "empty").mkdir()
        memory.index([tmp_path / "empty"])
        assert memory.status().unpacked == 0
        assert components(database) == [
            vectors.pack(text)
            for (text,) in database.run("SELECT vector_json FROM prompt_embeddings ORDER BY prompt_id")
        ]


def test_components_stand_in_what_the_json_leaves_empty_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(6)
    with open_database(tmp_path / "memory.db", create=True) as database:
        with monkeypatch.context() as as_before:
            as_before.setattr(vectors, "PACKED_A_STEP", 0)
            insert(database, {id_: Row(unit(random, 384)) for id_ in range(1, 601)})
        pages = database.value("PRAGMA page_count")
        assert set(components(database)) == {None}
        vectors.pack_all(database)
        assert None not in components(database)
        assert database.value("PRAGMA page_count") == pages
