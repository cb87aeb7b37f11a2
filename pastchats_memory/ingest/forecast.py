"""Estimate how long a run will take, from a few of its files and texts."""

import os
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pastchats_memory.embed.packaged import cut_middle
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.model import Turn
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
MOST_SAMPLED, MOST_ROWS, LARGEST = 12_000_000, 1500, 32_000_000
"""Bytes and rows after which no further file is read for the estimate, and bytes of the largest file that is read."""
GOLDEN = (5**0.5 - 1) / 2
"""Share of the way from one sampled place to the next: any number of places is spread evenly."""
MOST_TEXTS = 64
FIXED_COST, MOST_READ = 50, 800
"""Characters that take the packaged model and the writer as long as a text of none does, and after which a text takes
no longer."""
READINGS = 3
"""How often the time to read a file goes into reading, redacting, identifying, storing and judging its turns."""
BYTES_A_TURN = 3000
"""Bytes of a turn if no file is read: those of agents' sessions, tool results included."""

Pieces = tuple[str, ...]
"""The texts of a turn or of a task that get vectors."""


def estimate(
    session: ModelSession,
    todo: Sequence[Plan],
    read: Callable[[Plan], Iterable[Pieces]],
    least_bytes: int = LEAST_BYTES,
) -> Forecast:
    """Estimate a run by what some files have to embed; one of few bytes, or without a model, is not measured."""
    new = [plan for plan in todo if plan.new_bytes]
    total = sum(plan.new_bytes for plan in new)
    if total < least_bytes:
        return Forecast(len(todo), total, 0, 0.0)
    start = time.perf_counter()
    sample = _sample(new, read)
    sampled = sum(plan.candidate.size for plan, _, _ in sample)
    reading = READINGS * total / sampled * (time.perf_counter() - start) if sampled else 0.0
    # A file counts as often as its bytes go into those that it stands for.
    counts = [(rows, share * total / plan.candidate.size) for plan, rows, share in sample]
    turns = sum(len(rows) * times for rows, times in counts)
    work = sum(measure_work(rows) * times for rows, times in counts)
    if not turns:
        turns, work = total / BYTES_A_TURN, total / BYTES_A_TURN * (FIXED_COST + MOST_READ)
    every = [text for _, rows, _ in sample for row in rows for text in row] or ["How long will it take?"]
    timed = every[:: max(1, len(every) // MOST_TEXTS)][:MOST_TEXTS]
    vectors.encode_or_defer(session, timed[:1])  # loads the model, which a run does once
    start = time.perf_counter()
    if PENDING in vectors.encode_or_defer(session, timed):
        return Forecast(len(todo), total, round(turns), 0.0)
    pace = (time.perf_counter() - start) / measure_work([tuple(timed)])
    # One thread reads while all of them embed, and takes its share of the processor from them.
    return Forecast(len(todo), total, round(turns), max(reading, work * pace + reading / (os.cpu_count() or 1)))


def _sample(new: Sequence[Plan], read: Callable[[Plan], Iterable[Pieces]]) -> list[tuple[Plan, list[Pieces], float]]:
    """Return some files, if there are few all of them, with their rows and the share of all bytes that each stands for.

    A file is chosen by the root of its size, which errs least for the bytes that are read.
    """
    small = [plan for plan in new if plan.candidate.size <= LARGEST]
    ends = list(accumulate(plan.new_bytes**0.5 for plan in small))
    rows: dict[int, list[Pieces]] = {}
    chosen: Counter[int] = Counter()
    for step in range(8 * len(small)):
        place = bisect_right(ends, ends[-1] * (step * GOLDEN % 1))
        chosen[place] += 1
        if place in rows:
            continue
        rows[place] = [*dict.fromkeys(read(small[place]))]
        read_bytes = sum(small[one].candidate.size for one in rows)
        if len(rows) == len(small) or read_bytes > MOST_SAMPLED or len(rows) + sum(map(len, rows.values())) > MOST_ROWS:
            break
    weights = {one: times * small[one].new_bytes ** 0.5 for one, times in chosen.items()}
    if len(rows) == len(small):
        weights = {one: float(plan.new_bytes) for one, plan in enumerate(small)}
    return [(small[one], rows[one], weight / sum(weights.values())) for one, weight in weights.items()]


def cut_pieces(turn: Turn, *, has_middle: bool) -> Pieces:
    """Return the texts of a turn that get vectors: itself, the middle of an answer, the opening of a long message."""
    from pastchats_memory.episodes.outcome.episode import OPENING  # a run that is not measured does without the rules

    if turn.role == "user":
        further = turn.content[:OPENING] if len(turn.content) > OPENING else ""
    else:
        further = cut_middle(turn.content) if has_middle and turn.role == "assistant" else ""
    return (turn.content, further) if further else (turn.content,)


def measure_work(rows: Iterable[Pieces]) -> int:
    """Return the time that texts take to be embedded and stored, in characters."""
    return sum(FIXED_COST + min(len(text), MOST_READ) for row in rows for text in row)


def other_runs(database: Database) -> tuple[int, ...]:
    """Return the ids of other processes that write to the database now."""
    return tuple(pid for pid in sources.running_processes(database) if pid != os.getpid() and is_alive(pid))
