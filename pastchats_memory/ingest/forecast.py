"""Describe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pastchats_memory.embed import Embedder
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.store import sources
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.database import Database


@dataclass(frozen=True, slots=True)
class Forecast:
    """What lies before a run, estimated from a few of its files."""

    files: int
    turns: int
    """To be embedded."""
    seconds: float
    beside: tuple[int, ...] = ()
    """Process ids of other runs that are under way on the same database."""


LEAST_BYTES = 2_000_000
"""Bytes under which a run is over before an estimate would be."""
MOST_FILES = 10
LARGEST = 1_000_000
"""Bytes of a file that is read for the estimate."""
MOST_TEXTS = 24
BYTES_A_TURN = 3000
"""Where no file is small enough to be read: what sessions of agents have, results of their tools included."""


def estimate(embedder: Embedder, todo: Sequence[Plan], texts_of: Callable[[Plan], Iterable[str]]) -> Forecast:
    """What lies before a run; nothing is measured before a short one. Raises ModelUnavailable.

    Args:
        embedder: whose speed is measured.
        todo: the files that are to be read.
        texts_of: the texts of a file's turns.
    """
    new = [plan for plan in todo if plan.state is None or plan.state.size < plan.candidate.size]
    total = sum(plan.candidate.size - (plan.state.size if plan.state else 0) for plan in new)
    if total < LEAST_BYTES:
        return Forecast(len(todo), 0, 0.0)
    small = [plan for plan in new if plan.candidate.size <= LARGEST]
    sample = small[:: max(1, len(small) // MOST_FILES)][:MOST_FILES]
    texts = [text for plan in sample for text in texts_of(plan)]
    turns = total / BYTES_A_TURN
    if texts:
        turns = total * len(texts) / sum(plan.candidate.size for plan in sample)
    timed = texts[:: max(1, len(texts) // MOST_TEXTS)][:MOST_TEXTS] or ["How long will it take?"]
    start = time.perf_counter()
    for _ in embedder.embed(timed):
        pass
    return Forecast(len(todo), round(turns), turns * (time.perf_counter() - start) / len(timed))


def other_runs(database: Database) -> tuple[int, ...]:
    """Processes of other runs that write to the database at this moment. Raises StoreFault."""
    return tuple(pid for pid in sources.runs_under_way(database) if pid != os.getpid() and is_alive(pid))
