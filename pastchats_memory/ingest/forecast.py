"""Estimate how long a run will take, from a few of its files and texts."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.store import sources, vectors
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.database import Database
from pastchats_memory.store.vector_columns import PENDING


@dataclass(frozen=True, slots=True)
class Forecast:
    """An estimate of a run."""

    files: int
    """Files that are new or changed."""
    bytes: int
    """Bytes in them that were never read."""
    turns: int
    """Turns to embed."""
    seconds: float
    other_runs: tuple[int, ...] = ()
    """Process ids of other runs on the same database."""


LEAST_BYTES = 2_000_000
"""Bytes below which a run ends before an estimate would."""
MOST_FILES = 10
LARGEST = 1_000_000
"""Bytes of the largest file that is read for the estimate."""
MOST_TEXTS = 24
BYTES_A_TURN = 3000
"""Bytes of a turn if no small file has any: those of agents' sessions, tool results included."""
BYTES_OF_LARGE = 10_000
"""The least bytes of a turn in a larger file, where results of tools or facts about each message take most of it."""


def estimate(
    session: ModelSession,
    todo: Sequence[Plan],
    texts_of: Callable[[Plan], Iterable[str]],
    least_bytes: int = LEAST_BYTES,
) -> Forecast:
    """Estimate a run; a short one is not measured, and neither is one without a model.

    Args:
        texts_of: returns the texts of a file's turns.
        least_bytes: bytes below which nothing is measured.
    """
    new = [plan for plan in todo if plan.new_bytes]
    total = sum(plan.new_bytes for plan in new)
    if total < least_bytes:
        return Forecast(len(todo), total, 0, 0.0)
    small = [plan for plan in new if plan.candidate.size <= LARGEST]
    sample = small[:: max(1, len(small) // MOST_FILES)][:MOST_FILES]
    texts = [text for plan in sample for text in texts_of(plan)]
    each = sum(plan.candidate.size for plan in sample) / len(texts) if texts else BYTES_A_TURN
    large = sum(plan.new_bytes for plan in new if plan.candidate.size > LARGEST)
    turns = (total - large) / each + large / max(each, BYTES_OF_LARGE)
    timed = texts[:: max(1, len(texts) // MOST_TEXTS)][:MOST_TEXTS] or ["How long will it take?"]
    start = time.perf_counter()
    if PENDING in vectors.encode_or_defer(session, timed):
        return Forecast(len(todo), total, round(turns), 0.0)
    return Forecast(len(todo), total, round(turns), turns * (time.perf_counter() - start) / len(timed))


def other_runs(database: Database) -> tuple[int, ...]:
    """Return the ids of other processes that write to the database now."""
    return tuple(pid for pid in sources.running_processes(database) if pid != os.getpid() and is_alive(pid))
