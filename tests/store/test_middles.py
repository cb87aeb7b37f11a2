"""The middle of a long answer: it has a vector of its own, which comes and goes with its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.embed.packaged import WINDOW, PackagedEmbedder, cut_middle
from pastchats_memory.embed.tokenizer import encode
from pastchats_memory.store import deletion
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.deletion import ChosenRows
from pastchats_memory.store.vectors.reindex import reindex_embeddings

AROUND = "The report lists every bench of the garden with its number and its colour. " * 11
ANSWERS = [
    f"{AROUND}{middle * 3}{AROUND}".strip()
    for middle in (
        "The wooden fence was painted green in spring. ",
        "The pump broke because frost had burst its valve. ",
        "Grandmother's bread recipe needs two days of rest. ",
    )
]
QUESTION = "damage by ice to the water machine"


class Constant:
    """A model of another kind, for which all texts are alike."""

    name, version, dim = "constant", "1", 384

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        return map(self.embed_query, texts)

    def embed_query(self, _text: str) -> Vector:
        return np.full(self.dim, self.dim**-0.5, np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    further = ("user", f"{AROUND * 3}"), ("assistant", "Done."), ("assistant", "The report is long. " * 35)
    files = [
        write_messages(tmp_path / f"{place}.jsonl", ("assistant", answer), conversation=f"c{place}")
        for place, answer in enumerate(ANSWERS)
    ]
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([*files, write_messages(tmp_path / "further.jsonl", *further, conversation="further")])
    return tmp_path / "memory.db"


def stored(database: Database) -> dict[str, int | None]:
    """Length of the codes of each row, by the first word of its middle."""
    rows = database.run("SELECT content, length(codes) FROM middles JOIN prompts ON id = prompt_id")
    return {text.replace(AROUND, "")[:9]: length for text, length in rows}


def test_a_question_about_the_middle_finds_the_long_answer_in_other_words(path: Path) -> None:
    with Memory.open(path) as memory:
        answers = [hit.content for hit in memory.search(QUESTION) if hit.content in ANSWERS]
        assert answers[0] == ANSWERS[1]
        memory._database.run("DELETE FROM middles")  # noqa: SLF001 - the vectors of start and end are equal
        assert [hit.content for hit in memory.search(QUESTION) if hit.content in ANSWERS] == ANSWERS


def test_only_long_answers_have_a_vector_of_their_middle(path: Path) -> None:
    with open_database(path) as database:
        assert stored(database) == {"The woode": 384, "The pump ": 384, "Grandmoth": 384, "The repor": 0}


def test_the_vector_of_a_middle_goes_with_its_text(path: Path) -> None:
    with open_database(path) as database, database.transaction():
        database.run("DELETE FROM prompts WHERE content = ?", (ANSWERS[0],))
        database.run("UPDATE prompts SET content = ? WHERE content = ?", (f"{ANSWERS[1]} More.", ANSWERS[1]))
        database.run("UPDATE prompts SET content = 'Short.' WHERE content = ?", (ANSWERS[2],))
        assert stored(database) == {"The pump ": None, "The repor": 0}


def test_a_middle_that_waits_gets_its_vector_in_the_next_run(path: Path) -> None:
    with Memory.open(path) as memory:
        memory._database.run("UPDATE middles SET codes = NULL")  # noqa: SLF001 - as a killed run leaves it
        assert memory.search(QUESTION)
        memory.index([write_messages(path.with_name("more.jsonl"), ("user", "Paint the bench."))])
    with open_database(path) as database:
        assert None not in stored(database).values()


def test_middles_have_vectors_of_the_present_model_alone(path: Path) -> None:
    more = write_messages(path.with_name("more.jsonl"), ("user", "Paint the bench."))
    with open_database(path) as database:
        reindex_embeddings(database, PackagedEmbedder())
        assert None not in stored(database).values()
        reindex_embeddings(database, Constant())
    with Memory(open_database(path), Constant()) as memory:
        memory.index([more])
        assert memory.search(QUESTION)
    with open_database(path) as database:
        assert set(stored(database).values()) == {None}


@given(st.text(max_size=3000) | st.text("aé字\ud83d 🎉", min_size=200, max_size=3000))
def test_the_middle_of_any_text_is_a_part_of_it_that_fits_a_window(text: str) -> None:
    middle = cut_middle(text)
    assert middle in text
    assert len(encode(middle).ids) <= WINDOW + 2  # a word that is cut may have more pieces


def test_the_bytes_of_a_middle_are_looked_for_after_its_text_is_forgotten(path: Path) -> None:
    with open_database(path) as database:
        ((id_, codes),) = database.run("SELECT prompt_id, codes FROM middles WHERE length(codes) > 0 LIMIT 1")
        values = [value for row in deletion._list_values(database, ChosenRows([id_], [], [], [])) for value in row]  # noqa: SLF001 - no output shows them
        assert codes in values
    with Memory.open(path) as memory:
        memory.forget(str(id_))
    assert codes not in path.read_bytes()
