"""While one batch is embedded, the next one is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from program import write_messages
from waiting import HANG_S, wait_until

from pastchats_memory.embed import Vector
from pastchats_memory.embed.session import Fault, ModelSession
from pastchats_memory.ingest import IndexOptions, Progress, index
from pastchats_memory.ingest.run_lock import LOCK_END
from pastchats_memory.ingest.writer import BATCH_TURNS
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database

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


class PatientEmbedder(WaitingEmbedder):
    """Embed each batch but the first after another connection sees the turns of the batch before."""

    def __init__(self, database: Path) -> None:
        super().__init__()
        self._database = database
        self._batches = 0

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same vector for each text."""
        listed = list(texts)
        if len(listed) == BATCH_TURNS:  # fewer are those of an estimate
            with open_database(self._database) as other:
                wait_until(lambda: other.value("SELECT count(*) FROM prompts") >= self._batches * BATCH_TURNS)
            self._batches += 1
        yield from map(self.embed_query, listed)


def write_history(folder: Path, beds: int = TURNS) -> Path:
    said = [("user" if turn % 2 else "assistant", f"Bed {turn % beds} holds a plant.") for turn in range(TURNS)]
    write_messages(folder / "history.jsonl", *said, conversation="beds")
    return folder / "history.jsonl"


def test_the_next_batch_is_read_while_one_is_embedded(tmp_path: Path) -> None:
    embedder = WaitingEmbedder()

    def look(progress: Progress) -> None:
        if progress.turns > BATCH_TURNS:
            embedder.may_go_on.set()

    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, embedder, [write_history(tmp_path)], IndexOptions(), look)
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, TURNS, TURNS)
    assert not embedder.has_waited_in_vain


def test_a_batch_is_stored_while_the_next_one_is_embedded(tmp_path: Path) -> None:
    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, PatientEmbedder(database.path), [write_history(tmp_path)], IndexOptions())
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, TURNS, TURNS)


def test_a_text_of_the_batch_before_is_not_embedded_again(tmp_path: Path) -> None:
    embedder, beds = WaitingEmbedder(), BATCH_TURNS + BATCH_TURNS // 2
    embedder.may_go_on.set()
    with open_database(tmp_path / "memory.db", create=True) as database:
        report = index(database, embedder, [write_history(tmp_path, beds)], IndexOptions())
        assert (report.added, report.embedded, vectors.count(database)) == (TURNS, beds, TURNS)
        assert report.cached == TURNS - beds


def test_a_run_that_is_interrupted_while_it_embeds_leaves_the_batch_to_the_next_one(tmp_path: Path) -> None:
    path, embedder = write_history(tmp_path), WaitingEmbedder()

    def interrupt(progress: Progress) -> None:
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

    def interrupt(progress: Progress) -> None:
        if progress.turns > BATCH_TURNS:
            raise KeyboardInterrupt

    with open_database(tmp_path / "memory.db", create=True) as database, pytest.raises(KeyboardInterrupt):
        index(database, session, [write_history(tmp_path)], IndexOptions(), interrupt)
    assert not embedder.has_waited_in_vain
    assert session.embedded == 0
