"""While one batch is embedded, the next one is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from program import write_messages
from waiting import HANG_S

from pastchats_memory.arrays import Vector
from pastchats_memory.embed.session import Fault, ModelSession
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.report import IndexProgress
from pastchats_memory.ingest.run import index
from pastchats_memory.ingest.run_lock import LOCK_END
from pastchats_memory.ingest.writer import BATCH_TURNS, Writer, _Batch
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, open_database

TURNS = 3 * BATCH_TURNS


class WaitingEmbedder:
    """Embed each batch after the first turn of the next one was read."""

    name, version, dim = "waiting", "1", 4

    def __init__(self) -> None:
        self.may_go_on = Event()
        self.has_waited_in_vain = False

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same vector for each text."""
        self.has_waited_in_vain |= not self.may_go_on.wait(HANG_S)
        for text in texts:
            yield self.embed_query(text)

    def embed_query(self, text: str) -> Vector:
        """Return the same vector for any text."""
        del text
        vector: Vector = np.eye(1, self.dim, dtype=np.float32)[0]
        return vector


class LockingEmbedder(WaitingEmbedder):
    """Let nobody write from the end of the first batch until the second one is begun."""

    def __init__(self, database: Path) -> None:
        super().__init__()
        self._path = database
        self._database: Database | None = None

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same vector for each text."""
        listed = list(texts)
        if self._database is not None:
            self._database.close()
        yield from map(self.embed_query, listed)
        if self._database is None and len(listed) == BATCH_TURNS:  # fewer are those of an estimate
            self._database = open_database(self._path)
            self._database.run("BEGIN IMMEDIATE")


def write_history(folder: Path, beds: int = TURNS) -> Path:
    messages = [("user" if turn % 2 else "assistant", f"Bed {turn % beds} holds a plant.") for turn in range(TURNS)]
    write_messages(folder / "history.jsonl", *messages, conversation="beds")
    return folder / "history.jsonl"


def test_the_next_batch_is_read_while_one_is_embedded(tmp_path: Path) -> None:
    embedder = WaitingEmbedder()

    def look(progress: IndexProgress) -> None:
        if progress.turns > BATCH_TURNS:
            embedder.may_go_on.set()

    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, embedder, [write_history(tmp_path)], IndexOptions(), look)
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, TURNS, TURNS)
    assert not embedder.has_waited_in_vain


def test_a_batch_is_stored_while_the_next_one_is_embedded(tmp_path: Path) -> None:
    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, LockingEmbedder(database.path), [write_history(tmp_path)], IndexOptions())
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, TURNS, TURNS)


def test_a_batch_has_no_vectors_of_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, sizes, store = WaitingEmbedder(), [], Writer._try_store  # noqa: SLF001 - the test looks below the public face
    embedder.may_go_on.set()

    def look(writer: Writer, batch: _Batch) -> bool:
        sizes.append(len(batch.encoded))
        return store(writer, batch)

    monkeypatch.setattr(Writer, "_try_store", look)
    with open_database(tmp_path / "memory.db", create=True) as database:
        index(database, embedder, [write_history(tmp_path)], IndexOptions())
    assert sizes == [BATCH_TURNS] * 3 + [0]


def test_a_text_of_the_batch_before_is_not_embedded_again(tmp_path: Path) -> None:
    embedder, beds = WaitingEmbedder(), BATCH_TURNS + BATCH_TURNS // 2
    embedder.may_go_on.set()
    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, embedder, [write_history(tmp_path, beds)], IndexOptions())
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, beds, TURNS)
        assert report.cached == TURNS - beds


def test_a_run_that_is_interrupted_while_it_embeds_leaves_the_batch_to_the_next_one(tmp_path: Path) -> None:
    path, embedder = write_history(tmp_path), WaitingEmbedder()

    def interrupt(progress: IndexProgress) -> None:
        if progress.turns > BATCH_TURNS:
            embedder.may_go_on.set()
            raise KeyboardInterrupt

    with open_database(tmp_path / "memory.db", create=True) as database:
        with pytest.raises(KeyboardInterrupt):
            index(database, embedder, [path], IndexOptions(), interrupt)
        assert vectors.count(database) == 0
        assert not list(tmp_path.glob(f"*{LOCK_END}"))
        assert index(database, embedder, [path], IndexOptions()).added == TURNS


class NoticedSession(ModelSession):
    """A session that lets its embedder go on as soon as it refuses the model."""

    def __init__(self, embedder: WaitingEmbedder) -> None:
        super().__init__(embedder)
        self._may_go_on = embedder.may_go_on

    def refuse(self, fault: Fault) -> None:
        """Refuse the model, then let the embedder take the next text."""
        super().refuse(fault)
        self._may_go_on.set()


def test_an_interrupted_run_embeds_nothing_more(tmp_path: Path) -> None:
    embedder = WaitingEmbedder()
    session = NoticedSession(embedder)

    def interrupt(progress: IndexProgress) -> None:
        if progress.turns > BATCH_TURNS:
            raise KeyboardInterrupt

    with open_database(tmp_path / "memory.db", create=True) as database, pytest.raises(KeyboardInterrupt):
        index(database, session, [write_history(tmp_path)], IndexOptions(), interrupt)
    assert not embedder.has_waited_in_vain
    assert session.embedded == 0
