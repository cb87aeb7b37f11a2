"""A change of model: searches go on, nothing is embedded twice, and whatever happens the database is whole."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.arrays import Vector
from pastchats_memory.config import Config
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.store import checks, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.vectors import reindex
from pastchats_memory.store.vectors.reindex import reindex_embeddings

TURNS = 60


class Checksums:
    """A model of another kind: vectors of so many numbers, made of a text's checksum; it counts its calls."""

    name = "checksums"

    def __init__(self, dim: int = 6, version: str = "1") -> None:
        self.dim = dim
        self.version = f"{version}/{dim}"
        self.embedded: list[str] = []

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        for text in texts:
            self.embedded.append(text)
            yield self.embed_query(text)

    def embed_query(self, text: str) -> Vector:
        vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An indexed history, every third text of which is the same."""
    messages = ((("user", "assistant")[place % 2], _sentence(place)) for place in range(TURNS))
    write_messages(tmp_path / "history" / "chat.jsonl", *messages)
    with Memory(open_database(tmp_path / "memory.db", create=True), Checksums(8)) as memory:
        memory.index([tmp_path / "history"])
    with open_database(tmp_path / "memory.db") as database:
        yield database


def _sentence(place: int) -> str:
    return "Thank you." if place % 3 == 0 else f"Sentence {place}"


def whole(database: Database, model: Checksums) -> None:
    """Every row has the one vector that the model gives its text, and both engines have just these."""
    rows = database.run(
        "SELECT p.content, e.model, e.dim, e.vector_json FROM prompts p LEFT JOIN prompt_embeddings e ON e.prompt_id = p.id"
    )
    assert rows
    for content, name, dim, text in rows:
        assert (name, dim) == (model.name, model.dim)
        assert text == vectors.encode(model.embed_query(content))
    assert vectors.pending(database) == {"blocks": 0, "vec0": 0}
    with open_database(database.path) as fresh:
        assert checks.damage(fresh) == []
        assert vectors.find_mismatches(fresh) == []
    assert database.value("SELECT count(*) FROM next_vectors") == 0
    question = model.embed_query("Sentence 5")
    from pastchats_memory.model import NO_FILTERS

    ids = [neighbour.id for neighbour in vectors.nearest(database, question, 5, NO_FILTERS)]
    best = [neighbour.id for neighbour in vectors.score(database, question, range(1, 1000))][:5]
    assert ids == best


def test_every_text_is_embedded_once_and_the_meta_says_so(database: Database) -> None:
    model = Checksums()
    before = dict(database.run("SELECT key, value FROM embedding_meta"))
    report = reindex_embeddings(database, model)
    distinct = {_sentence(place) for place in range(TURNS)}
    assert sorted(model.embedded) == sorted(distinct)
    assert (report.rows, report.embedded, report.cached) == (TURNS, len(distinct), TURNS - len(distinct))
    assert (report.previous_model, report.model, report.dim) == ("checksums", "checksums", 6)
    meta = dict(database.run("SELECT key, value FROM embedding_meta"))
    assert (meta["model_name"], meta["model_version"], meta["embedding_dim"]) == ("checksums", "1/6", "6")
    assert meta["last_reindex_at"] >= before["last_reindex_at"]
    assert "next_model_name" not in meta
    whole(database, model)


def test_the_same_model_again_embeds_nothing_and_makes_the_engines_anew(database: Database) -> None:
    database.run("DELETE FROM vector_blocks")
    again = Checksums(8)
    report = reindex_embeddings(database, again)
    assert (report.embedded, report.cached, again.embedded) == (0, TURNS, [])
    whole(database, again)


@pytest.mark.parametrize("fails", [False, True])
def test_later_changes_of_a_row_are_followed(database: Database, fails: bool) -> None:
    with suppress(InterruptedError), database.transaction(), database.without_triggers():
        if fails:
            raise InterruptedError
    reindex_embeddings(database, Checksums())
    database.run("DELETE FROM prompts WHERE id = 1")
    assert database.value("SELECT count(*) FROM prompt_embeddings WHERE prompt_id = 1") == 0
    assert vectors.pending(database) == {"blocks": 1, "vec0": 1}
    assert checks.damage(database) == []


def test_a_lost_embedding_row_is_made_again(database: Database) -> None:
    database.run("DELETE FROM prompt_embeddings WHERE prompt_id IN (2, 4)")
    assert checks.without_embedding(database) == 2
    assert reindex_embeddings(database, Checksums(8)).embedded == 1  # the other is a "Thank you."
    assert checks.without_embedding(database) == 0


def test_searches_go_on_with_the_old_model_until_the_change(database: Database, tmp_path: Path) -> None:
    old = Checksums(8)

    def answer(_: object) -> None:
        with Memory(open_database(tmp_path / "memory.db"), old) as memory:
            hits = memory.search("Sentence 7", mode="semantic", limit=1)
            assert (hits[0].content, hits[0].similarity, hits.warnings) == ("Sentence 7", 1.0, ())
            asked.append(memory.status().next_model)

    asked: list[str | None] = []
    reindex_embeddings(database, Checksums(), answer)
    assert asked
    assert set(asked) == {"checksums"}
    with Memory(open_database(tmp_path / "memory.db"), old) as memory:
        assert "by words alone" in memory.search("Sentence 7", mode="semantic").warnings[0]


def test_an_interrupted_change_goes_on_where_it_was(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pastchats_memory.store.vectors.reindex.BATCH", 10)

    class Interrupted(Checksums):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            if len(self.embedded) > 20:
                raise KeyboardInterrupt
            yield from super().embed(texts)

    first = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        reindex_embeddings(database, first)
    assert reindex.is_in_progress(database)
    assert 0 < reindex.pending(database) < TURNS
    assert database.value("SELECT count(*) FROM prompt_embeddings WHERE dim = 8") == TURNS
    second = Checksums()
    reindex_embeddings(database, second)
    assert sorted(first.embedded + second.embedded) == sorted({_sentence(place) for place in range(TURNS)})
    whole(database, second)


def test_a_change_back_takes_the_vectors_of_the_model_before_and_embeds_new_text_only(
    database: Database, tmp_path: Path
) -> None:
    first, second, again = Checksums(), Checksums(8, "8"), Checksums()
    reindex_embeddings(database, first)
    reindex_embeddings(database, second)
    write_messages(tmp_path / "more.jsonl", ("user", "Something new"), conversation="new")
    with Memory(open_database(database.path), second) as memory:
        memory.index([tmp_path / "more.jsonl"])
    report = reindex_embeddings(database, again)
    assert again.embedded == ["Something new"]
    assert (report.rows, report.cached) == (TURNS + 1, TURNS)
    whole(database, again)


def test_forgetting_deletes_vectors_of_the_previous_model(database: Database) -> None:
    reindex_embeddings(database, Checksums())
    reindex_embeddings(database, Checksums(8, "8"))
    stored = "SELECT count(*) FROM previous_vectors WHERE text_hash = (SELECT text_hash FROM prompts WHERE id = ?)"
    (id_, hash_) = database.run("SELECT id, text_hash FROM prompts ORDER BY id LIMIT 1")[0]
    assert database.value(stored, (id_,)) == 1
    with database.transaction():
        database.run("DELETE FROM prompts WHERE id = ?", (id_,))
    assert database.value("SELECT count(*) FROM previous_vectors WHERE text_hash = ?", (hash_,)) == 0


def test_a_change_to_a_third_model_drops_what_was_made_for_the_second(database: Database) -> None:
    reindex.begin(database, "checksums", "never ended")
    reindex.add_vectors(database, "checksums", "never ended", [(b"x", "[1.0]")])
    reindex_embeddings(database, Checksums(5, "3"))
    whole(database, Checksums(5, "3"))


def test_rows_that_come_and_go_meanwhile_are_in_both(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pastchats_memory.store.vectors.reindex.BATCH", 20)
    old = Checksums(8)
    new = Checksums()
    steps: list[int] = []

    def meanwhile(_: object) -> None:
        steps.append(len(steps))
        if steps[-1] == 1:
            write_messages(tmp_path / "history" / "more.jsonl", ("user", "A late question"), conversation="c2")
            with Memory(open_database(tmp_path / "memory.db"), old) as memory:
                memory.index([tmp_path / "history"])
                assert memory.search("A late question", mode="semantic", limit=1)[0].similarity == 1.0
        if steps[-1] == 2:
            with open_database(tmp_path / "memory.db") as other:
                other.run("DELETE FROM prompts WHERE content = 'Sentence 1'")
                gone = other.value(
                    "SELECT count(*) FROM next_vectors WHERE vector_json = ?", (_vector(new, "Sentence 1"),)
                )
                assert gone == 0, "a deleted text leaves no vector behind"

    report = reindex_embeddings(database, new, meanwhile)
    assert len(steps) > 2
    assert report.rows == TURNS
    assert "A late question" in new.embedded
    whole(database, new)


def _vector(model: Checksums, text: str) -> str:
    return vectors.encode(model.embed_query(text))


def test_a_row_that_comes_at_the_last_moment_is_in_both(database: Database, tmp_path: Path) -> None:
    old, new = Checksums(8), Checksums()
    embed = new.embed

    def embed_and_look(texts: Iterable[str]) -> Iterator[Vector]:
        yield from embed(texts)
        if "late" not in new.version:
            write_messages(tmp_path / "history" / "more.jsonl", ("user", "Too late?"), conversation="c2")
            with Memory(open_database(tmp_path / "memory.db"), old) as memory:
                memory.index([tmp_path / "history"])

    new.embed = embed_and_look  # type: ignore[method-assign] # rows arrive while it embeds
    assert reindex_embeddings(database, new).rows == TURNS + 1
    whole(database, new)


def test_rows_that_come_change_and_go_after_the_new_vectors_were_coded_are_in_the_engines_as_they_are_now(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_ahead = reindex.prepare_blocks

    def code_and_go_on(database: Database) -> None:
        code_ahead(database)
        write_messages(tmp_path / "history" / "more.jsonl", ("user", "After all?"), conversation="c2")
        with Memory(open_database(tmp_path / "memory.db"), Checksums(8)) as memory:
            memory.index([tmp_path / "history"])
        with open_database(tmp_path / "memory.db") as other, other.transaction():
            other.run("DELETE FROM prompts WHERE content = 'Sentence 1'")
            other.run(
                "UPDATE prompts SET (content, text_hash) = (SELECT content, text_hash FROM prompts WHERE content = 'Sentence 4') "
                "WHERE content = 'Sentence 2'"
            )

    monkeypatch.setattr(reindex, "prepare_blocks", code_and_go_on)
    new = Checksums()
    assert reindex_embeddings(database, new).rows == TURNS
    assert "After all?" in new.embedded
    whole(database, new)


def test_an_index_run_that_began_before_the_change_stores_no_vector_of_the_old_model(
    database: Database, tmp_path: Path
) -> None:
    class ChangedMeanwhile(Checksums):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            with open_database(tmp_path / "memory.db") as other:
                reindex_embeddings(other, Checksums())
            yield from super().embed(texts)

    write_messages(tmp_path / "history" / "more.jsonl", ("user", "Is it the old one?"), conversation="c2")
    with Memory(open_database(tmp_path / "memory.db"), ChangedMeanwhile(8)) as memory, pytest.raises(ModelChanged):
        memory.index([tmp_path / "history"])
    whole(database, Checksums())
    with Memory(open_database(tmp_path / "memory.db"), Checksums()) as memory:
        assert memory.index([tmp_path / "history"]).counts()["turns_added"] == 1
    whole(database, Checksums())


def test_two_changes_at_once_end_in_one_of_them(database: Database, tmp_path: Path) -> None:
    outcomes: list[object] = []

    def change(model: Checksums) -> None:
        with open_database(tmp_path / "memory.db") as own:
            started.wait()
            try:
                outcomes.append(reindex_embeddings(own, model).dim)
            except ModelChanged as fault:
                outcomes.append(fault)

    started = threading.Barrier(2)
    threads = [threading.Thread(target=change, args=(Checksums(dim, str(dim)),)) for dim in (4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    changed = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert changed
    assert len(outcomes) == 2
    whole(database, Checksums(int(database.value("SELECT value FROM embedding_meta WHERE key = 'embedding_dim'"))))


def test_without_sqlite_vec_its_tables_are_made_anew_by_who_has_it(database: Database, tmp_path: Path) -> None:
    if not database.vec0_loaded:
        pytest.skip("sqlite-vec does not load here")
    new = Checksums()
    with open_database(tmp_path / "memory.db", vec0=False) as without:
        reindex_embeddings(without, new)
        assert vectors.engine_of(without) == "blocks"
    with open_database(tmp_path / "memory.db") as loaded:
        assert vectors.engine_of(loaded) == "blocks", "the tables there are another model's"
        vectors.catch_up_at_opening(loaded)
        assert vectors.engine_of(loaded) == "vec0"
        whole(loaded, new)


def test_a_model_that_fails_half_way_leaves_the_old_one_answering(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pastchats_memory.store.vectors.reindex.BATCH", 10)

    class Failing(Checksums):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            if self.embedded:
                raise ModelUnavailable("the server is gone")
            yield from super().embed(texts)

    with pytest.raises(ModelUnavailable):
        reindex_embeddings(database, Failing())
    with Memory(open_database(tmp_path / "memory.db"), Checksums(8)) as memory:
        assert memory.search("Sentence 7", mode="semantic", limit=1)[0].similarity == 1.0


def test_a_long_lived_memory_answers_with_the_new_model_after_the_change(tmp_path: Path) -> None:
    write_messages(tmp_path / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
    database = tmp_path / "memory.db"
    with Memory.open(database, config=Config(database)) as memory:
        memory.index([tmp_path / "chat.jsonl"])
        with open_database(database) as other, other.transaction():
            other.run("UPDATE embedding_meta SET value = 'int8-other' WHERE key = 'model_version'")
        assert memory.search("fence", mode="semantic").warnings
        with Memory.open(database, config=Config(database)) as other_memory:
            other_memory.reindex_embeddings()
        hits = memory.search("Is the fence painted?", mode="semantic")
        assert (hits[0].similarity, hits.warnings) == (1.0, ())
