"""Every text embedded anew, under another model or the same: beside what is there, which answers until the last is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from pastchats_memory.embed import Embedder
from pastchats_memory.store import generations, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import meta

BATCH = 512
"""Rows whose texts are looked at together; what was embedded is kept after each."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a change of model did."""

    model: str
    dim: int
    previous_model: str | None
    rows: int
    """That have a new vector: turns, notes, and texts of tasks."""
    embedded: int
    """Texts that went through the model."""
    cached: int
    """Rows whose text had a vector of the model already, from an earlier run or from another row."""
    duration_s: float


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How far a change of model is."""

    done: int
    total: int
    """Rows."""


def reindex_embeddings(
    database: Database, embedder: Embedder, progress: Callable[[ReindexProgress], None] = lambda _: None
) -> ReindexReport:
    """Give every row a vector of the embedder's model, and change to them when the last is there.

    What is embedded is kept batch by batch, so that an interrupted run goes on where it was. Rows that other processes
    store meanwhile get a vector of the old model at once, and of the new one before the change.

    Raises:
        ModelUnavailable: the model cannot be had, or not any longer; the old vectors answer on.
        ModelChanged: another process is changing the model, too.
        StoreFault: the database cannot be written; the old vectors answer on.
    """
    start = time.monotonic()
    embedder.load()
    name, version = embedder.name, embedder.version
    previous = meta(database).get("model_name")
    generations.begin(database, name, version)
    total = generations.pending(database)
    embedded = 0

    def fill(*, alone: bool) -> None:
        nonlocal embedded
        for texts in generations.lacking(database, BATCH):
            made = zip(texts, map(vectors.encode, embedder.embed(texts.values())), strict=True)
            encoded = list(made)
            if alone:
                generations.add(database, name, version, encoded)
            else:
                with database.transaction():
                    generations.add(database, name, version, encoded)
            embedded += len(encoded)
            progress(ReindexProgress(total - generations.pending(database), total))

    fill(alone=False)
    generations.code_ahead(database)
    with database.transaction():
        generations.add(database, name, version, ())
        fill(alone=True)  # what has come since; nobody else writes now
        rows = generations.switch(database, name, version, embedder.dim)
    generations.clear(database)
    vectors.catch_up_in_steps(database)
    vectors.pack_all(database)
    taken = time.monotonic() - start
    return ReindexReport(name, embedder.dim, previous, rows, embedded, rows - embedded, taken)
