"""A change of model: searches go on, nothing is embedded twice, and whatever happens the database is whole."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.config import Config
from pastchats_memory.embed import Vector
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.reindex import reindex_embeddings
from pastchats_memory.store import checks, generations, vectors
from pastchats_memory.store.database import Database, open_database

TURNS = 60


class Checksums:
    """A model of another kind: vectors of so many numbers, made of a text's checksum; it counts its calls."""

    name = "checksums"

    def __init__(self, dim: int = 6, version: str = "1", pause: float = 0.0) -> None:
        self.dim = dim
        self.version = f"{version}/{dim}"
        self.pause = pause
        self.embedded: list[str] = []

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        for text in texts:
            time.sleep(self.pause)
            self.embedded.append(text)
            yield self.embed_query(text)

    def embed_query(self, text: str) -> Vector:
        vector = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An indexed history, every third text of which is the same."""
    said = ((("user", "assistant")[place % 2], _said(place)) for place in range(TURNS))
    write_messages(tmp_path / "history" / "chat.jsonl", *said)
    with Memory(open_database(tmp_path / "memory.db", create=True), Checksums(8)) as memory:
        memory.index([tmp_path / "history"])
    with open_database(tmp_path / "memory.db") as database:
        yield database


def _said(place: int) -> str:
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
    assert database.value("SELECT count(*) FROM next_vectors") == 0
    question = model.embed_query("Sentence 5")
    from pastchats_memory.search import NO_FILTERS

    ids = [neighbour.id for neighbour in vectors.nearest(database, question, 5, NO_FILTERS)]
    best = [neighbour.id for neighbour in vectors.score(database, question, range(1, 1000))][:5]
    assert ids == best


def test_every_text_is_embedded_once_and_the_meta_says_so(database: Database) -> None:
    model = Checksums()
    before = dict(database.run("SELECT key, value FROM embedding_meta"))
    report = reindex_embeddings(database, model)
    distinct = {_said(place) for place in range(TURNS)}
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
    monkeypatch.setattr("pastchats_memory.reindex.BATCH", 10)

    class Interrupted(Checksums):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            if len(self.embedded) > 20:
                raise KeyboardInterrupt
            yield from super().embed(texts)

    first = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        reindex_embeddings(database, first)
    assert generations.is_under_way(database)
    assert 0 < generations.pending(database) < TURNS
    assert database.value("SELECT count(*) FROM prompt_embeddings WHERE dim = 8") == TURNS
    second = Checksums()
    reindex_embeddings(database, second)
    assert sorted(first.embedded + second.embedded) == sorted({_said(place) for place in range(TURNS)})
    whole(database, second)


def test_a_change_to_a_third_model_drops_what_was_made_for_the_second(database: Database) -> None:
    generations.begin(database, "checksums", "never ended")
    generations.add(database, "checksums", "never ended", [(b"x", "[1.0]")])
    reindex_embeddings(database, Checksums(5, "3"))
    whole(database, Checksums(5, "3"))


def test_rows_that_come_and_go_meanwhile_are_in_both(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pastchats_memory.reindex.BATCH", 20)
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

    new.embed = embed_and_look  # type: ignore[method-assign]
    assert reindex_embeddings(database, new).rows == TURNS + 1
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
            try:
                outcomes.append(reindex_embeddings(own, model).dim)
            except ModelChanged as fault:
                outcomes.append(fault)

    threads = [threading.Thread(target=change, args=(Checksums(dim, str(dim), 0.002),)) for dim in (4, 5)]
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
    monkeypatch.setattr("pastchats_memory.reindex.BATCH", 10)

    class Failing(Checksums):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            if self.embedded:
                raise ModelUnavailable("the server is gone")
            yield from super().embed(texts)

    with pytest.raises(ModelUnavailable):
        reindex_embeddings(database, Failing())
    with Memory(open_database(tmp_path / "memory.db"), Checksums(8)) as memory:
        assert memory.search("Sentence 7", mode="semantic", limit=1)[0].similarity == 1.0


SLOW = """
import time, zlib, numpy
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory import reindex
reindex.BATCH = 8

def embed(self, texts):
    for text in texts:
        time.sleep(PAUSE)
        vector = numpy.random.default_rng(zlib.crc32(text.encode())).normal(size=384).astype("float32")
        yield vector / numpy.linalg.norm(vector)

PackagedEmbedder.embed = embed
PackagedEmbedder.version = "int8-next"
"""


def test_killed_at_any_moment_the_old_vectors_answer_and_the_next_run_ends_the_change(program: Program) -> None:
    said = [(("user", "assistant")[place % 2], f"Sentence {place}") for place in range(300)]
    history = write_messages(program.home / "history" / "chat.jsonl", *said).parent
    assert program("index", history).status == 0
    with closing(sqlite3.connect(program.database)) as connection:
        old = connection.execute("SELECT prompt_id, vector_json FROM prompt_embeddings").fetchall()
    slow = program.altered(SLOW.replace("PAUSE", ".003"))
    kept = [0]
    for more in (1, 150):
        process = slow.started("reindex", "--embeddings")
        _wait_for(program.database, more)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with closing(sqlite3.connect(program.database)) as connection:
            assert connection.execute("SELECT prompt_id, vector_json FROM prompt_embeddings").fetchall() == old
            kept.append(connection.execute("SELECT count(*) FROM next_vectors").fetchone()[0])
        assert program("search", "Sentence 7", "--mode", "semantic", "--limit", "1").stderr == ""
    assert kept == sorted(kept)
    assert 0 < kept[1] < kept[-1] < 300
    status = program("status", "--json").results[0]
    assert (status["next_model"], status["pending"]) == ("sentence-transformers/all-MiniLM-L6-v2", 300 - kept[-1])
    assert "pending for" in program("status").stdout
    done = slow("reindex", "--embeddings", "--json")
    assert (done.status, done.results[0]["embedded"], done.results[0]["rows"]) == (0, 300 - kept[-1], 300)
    with open_database(program.database) as database:
        assert checks.damage(database) == []
        assert checks.without_embedding(database) == 0
        assert vectors.pending(database) == {"blocks": 0, "vec0": 0}


def _wait_for(path: Path, more: int) -> None:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            if connection.execute("SELECT count(*) FROM next_vectors").fetchone()[0] >= more:
                return
        time.sleep(0.01)


def test_interrupted_from_the_keyboard_it_says_what_answers_and_how_to_go_on(program: Program) -> None:
    said = [(("user", "assistant")[place % 2], f"Sentence {place}") for place in range(120)]
    history = write_messages(program.home / "history" / "chat.jsonl", *said).parent
    assert program("index", history).status == 0
    process = program.altered(SLOW.replace("PAUSE", ".02")).started("reindex", "--embeddings")
    _wait_for(program.database, 1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert "Stopped. The old vectors answer;" in stderr
    assert "Traceback" not in stderr


def test_the_command_changes_the_model_and_back_and_its_json_fits_the_schema(program: Program, tmp_path: Path) -> None:
    sys.path.insert(0, str(REPOSITORY / "tests" / "embed"))
    from tiny_bert import graph, tiny_model

    from pastchats_memory.embed.profiles import Profile

    folder = tiny_model(Profile("", "model.onnx"), graph()).write(tmp_path / "mine")
    history = write_messages(
        program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green, on Monday.")
    ).parent
    assert program("index", history).status == 0
    changed = program("reindex", "--embeddings", "--model", folder, "--json")
    assert (changed.status, changed.stderr) == (0, "")
    _fits(changed.json, "reindex")
    assert changed.results[0] | {"duration_s": 0} == {
        "model": str(folder),
        "dim": 768,
        "previous_model": "sentence-transformers/all-MiniLM-L6-v2",
        "rows": 2,
        "embedded": 2,
        "cached": 0,
        "duration_s": 0,
    }
    found = program("search", "fence", "--mode", "semantic", "--json")
    assert (found.status, found.stderr, len(found.results)) == (0, "", 2)
    ignored = program("search", "fence", "--model", "packaged")
    assert f"has vectors of {folder}, so that model is used and packaged is not" in ignored.stderr
    status = program("status", "--json").results[0]
    assert (status["model"], status["dim"], status["indexed"], status["pending"]) == (str(folder), 768, 2, 0)
    back = program("reindex", "--embeddings", "--model", "packaged")
    assert back.stdout.startswith(
        "2 rows have vectors of sentence-transformers/all-MiniLM-L6-v2 (384 dimensions, until now"
    )
    same = program("reindex", "--embeddings", "--json")
    assert (same.results[0]["embedded"], same.results[0]["cached"]) == (0, 2)


def _fits(body: Any, name: str) -> None:
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(body)


def test_reindex_alone_says_what_to_say(program: Program) -> None:
    done = program("reindex")
    assert done.status == 2
    assert "--embeddings" in done.stderr


def test_a_model_that_cannot_be_had_changes_nothing(program: Program) -> None:
    history = write_messages(program.home / "history" / "chat.jsonl", ("user", "Is the fence painted?")).parent
    assert program("index", history).status == 0
    kept = program.database.read_bytes()
    missing = program.with_variables(HF_HUB_OFFLINE="1")
    done = missing("reindex", "--embeddings", "--model", "BAAI/bge-small-en-v1.5")
    assert done.status == 2
    assert "is not on this machine" in done.stderr
    assert program.database.read_bytes() == kept


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


def test_indexing_and_reindexing_let_other_programs_go_first(program: Program) -> None:
    said = [("user", f"Sentence {place}") for place in range(400)]
    history = write_messages(program.home / "history" / "chat.jsonl", *said).parent
    process = program.started("index", history)
    nice = 0
    while process.poll() is None and nice != max(10, os.nice(0)):
        nice = os.getpriority(os.PRIO_PROCESS, process.pid)
    process.communicate()
    assert nice == max(10, os.nice(0))
