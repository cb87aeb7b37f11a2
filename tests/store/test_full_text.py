"""The full-text index is kept by triggers: what is in `prompts` is in it, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vector_rows import Row, insert, unit

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.model import Filters
from pastchats_memory.store import checks, fulltext
from pastchats_memory.store.database import Database, open_database

WORDS = ("rose", "bean", "shed", "rain", "spade", "日本語", "naïve", "C++")
CHECK = "INSERT INTO prompts_fts(prompts_fts, rank) VALUES ('integrity-check', 1)"


def found(database: Database, word: str) -> list[int]:
    return fulltext.postings(database, [word], Filters())[word].ids.tolist()


@pytest.fixture
def garden(database: Database) -> Database:
    random = np.random.default_rng(1)
    insert(database, {id_: Row(unit(random)) for id_ in range(1, 6)})
    return database


def test_an_updated_row_is_found_by_its_new_words_and_not_by_its_old_ones(garden: Database) -> None:
    assert found(garden, "turn") == [1, 2, 3, 4, 5]
    garden.run("UPDATE prompts SET content = 'a hedge of roses' WHERE id = 2")
    assert (found(garden, "rose"), found(garden, "turn")) == ([2], [1, 3, 4, 5])
    garden.run("UPDATE prompts SET source_project = 'orchard' WHERE id = 3")
    assert found(garden, "orchard") == [3]
    garden.run(CHECK)


def test_a_deleted_row_leaves_neither_a_match_nor_a_word_in_the_index(garden: Database) -> None:
    garden.run("UPDATE prompts SET content = 'the xylophone' WHERE id = 2")
    assert fulltext.document_frequencies(garden, ["xylophon"]) == {"xylophon": 1}
    garden.run("DELETE FROM prompts WHERE id = 2")
    assert found(garden, "xylophone") == []
    assert fulltext.document_frequencies(garden, ["xylophon"]) == {"xylophon": 0}
    garden.run(CHECK)


def test_the_check_notices_an_index_that_has_parted_from_its_rows(garden: Database) -> None:
    garden.run("INSERT INTO prompts_fts(prompts_fts, rowid, content) VALUES ('delete', 2, 'turn 2')")
    with pytest.raises(DatabaseCorrupt):
        garden.run(CHECK)
    assert checks.damage(garden) != []


CHANGES = st.lists(
    st.tuples(st.sampled_from(("update", "delete", "insert")), st.integers(1, 9), st.lists(st.sampled_from(WORDS))),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(changes=CHANGES)
def test_after_any_changes_the_index_finds_just_the_rows_that_have_the_word(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, list[str]]]
) -> None:
    with open_database(tmp_path_factory.mktemp("fts") / "memory.db", create=True) as database, database.transaction():
        rows: dict[int, str] = {}
        for action, id_, words in changes:
            text = " ".join(words)
            if action == "delete":
                database.run("DELETE FROM prompts WHERE id = ?", (id_,))
                rows.pop(id_, None)
            elif id_ in rows:
                database.run("UPDATE prompts SET content = ? WHERE id = ?", (text, id_))
                rows[id_] = text
            elif action == "insert":
                database.run(
                    "INSERT INTO prompts(id, source_path, source_project, turn_index, role, content, content_hash, text_hash) "
                    "VALUES (?, 'a', 'p', 0, 'user', ?, ?, x'00')",
                    (id_, text, str(id_)),
                )
                rows[id_] = text
        database.run(CHECK)
        for word in WORDS:
            assert found(database, word) == sorted(id_ for id_, text in rows.items() if word in text.split())


def test_a_write_of_another_connection_is_no_damage(garden: Database) -> None:
    random = np.random.default_rng(2)
    with open_database(garden.path) as other:
        for first in range(6, 36, 5):  # some of these merge segments of the index, which are then gone
            insert(other, {id_: Row(unit(random)) for id_ in range(first, first + 5)})
            assert checks.damage(garden) == []


def test_words_of_tasks_that_have_parted_from_their_rows_are_damage(database: Database) -> None:
    with database.transaction():
        database.run("INSERT INTO task_texts_fts(rowid, content, labels) VALUES (1, 'a hedge of nobody', '')")
    assert checks.damage(database) != []
