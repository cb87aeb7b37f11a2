"""Estimate how long a run will take, from a few of its files and texts."""

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

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
STEPS = 12
"""Steps through the bytes of all files. The file at each one is read, so that a file counts by its size."""
LARGEST = 4_000_000
"""Bytes of the largest file that is read for the estimate."""
MOST_TEXTS = 32
FIXED_COST, MOST_READ = 40, 800
"""Characters that take the packaged model as long as a text of none does, and after which a text takes it no longer."""
BYTES_A_TURN = 3000
"""Bytes of a turn if no file is read: those of agents' sessions, tool results included."""


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
    ends = list(accumulate(plan.new_bytes for plan in small))
    steps = [small[bisect_right(ends, ends[-1] * (step + 0.5) / STEPS)] for step in range(STEPS)] if small else []
    read = {name: [*dict.fromkeys(texts_of(plan))] for name, plan in {one.candidate.name: one for one in steps}.items()}
    # Each step stands for as many bytes: what its file has of texts and of their characters, by its bytes.
    shares = [(read[plan.candidate.name], 1 / plan.candidate.size / STEPS) for plan in steps]
    density = sum(len(texts) * share for texts, share in shares) or 1 / BYTES_A_TURN
    turns = total * density
    work = sum(_measure_work(texts) * share for texts, share in shares) / density or MOST_READ
    every = [text for texts in read.values() for text in texts] or ["How long will it take?"]
    timed = every[:: max(1, len(every) // MOST_TEXTS)][:MOST_TEXTS]
    vectors.encode_or_defer(session, timed[:1])  # loads the model, which a run does once
    start = time.perf_counter()
    if PENDING in vectors.encode_or_defer(session, timed):
        return Forecast(len(todo), total, round(turns), 0.0)
    pace = (time.perf_counter() - start) / _measure_work(timed)
    return Forecast(len(todo), total, round(turns), turns * work * pace)


def _measure_work(texts: Iterable[str]) -> int:
    """Return the time that a model takes for texts, in characters."""
    return sum(FIXED_COST + min(len(text), MOST_READ) for text in texts)


def other_runs(database: Database) -> tuple[int, ...]:
    """Return the ids of other processes that write to the database now."""
    return tuple(pid for pid in sources.running_processes(database) if pid != os.getpid() and is_alive(pid))
