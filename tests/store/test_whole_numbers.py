"""A vector is stored in whole numbers, which show its direction."""

from __future__ import annotations

import json

import numpy as np
import pytest
from vector_rows import Row, answers, insert, unit

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database


@pytest.fixture
def three(database: Database) -> Database:
    random = np.random.default_rng(4)
    insert(database, {id_: Row(unit(random)) for id_ in (1, 2, 3)})
    return database


def put(database: Database, text: str) -> None:
    with database.transaction():
        database.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = 2", (text,))


def test_the_largest_number_of_a_vector_is_127_and_its_direction_stays() -> None:
    vector = unit(np.random.default_rng(8), 384)
    numbers = json.loads(vectors.encode(vector))
    assert {type(number) for number in numbers} == {int}
    assert max(map(abs, numbers)) == 127
    assert numbers @ vector / np.linalg.norm(numbers) > 0.9999


def test_only_the_direction_of_a_vector_counts() -> None:
    vector = unit(np.random.default_rng(8), 384)
    assert vectors.encode(vector * 7) == vectors.encode(vector)


def test_a_text_that_is_asked_again_has_similarity_1(three: Database) -> None:
    query = unit(np.random.default_rng(5))
    put(three, vectors.encode(query))
    assert answers(three, query, 1, Filters()) == [(2, 1.0)]


def test_a_vector_that_another_program_writes_answers_at_once_whatever_its_blanks(three: Database) -> None:
    query = unit(np.random.default_rng(5))
    put(three, vectors.encode(query).replace(",", ", ").replace("[", "[ "))
    assert answers(three, query, 1, Filters()) == [(2, 1.0)]
    with three.transaction():
        vectors.catch_up(three)
    assert answers(three, query, 1, Filters()) == [(2, 1.0)]


@pytest.mark.parametrize(
    "text", ["[0.5, 0.5]", "[1, 128]", "[1, -128]", "[1, null]", '{"a": 1}', "[1", "", "[]", "[[1, 2]]"]
)
def test_a_text_that_is_no_vector_is_damage(three: Database, text: str) -> None:
    put(three, text)
    with pytest.raises(DatabaseCorrupt, match="a vector that is none"):
        vectors.matrix(three, [1, 2])
