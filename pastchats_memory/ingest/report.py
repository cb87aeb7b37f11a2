"""What a run was asked for, how far it is, and what came of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import orjson

from pastchats_memory.embed import Embedder
from pastchats_memory.ingest.changes import Plan
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.model import LeftOut, Unreadable
from pastchats_memory.store import sources
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.database import Database


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file that was not simply unchanged."""

    path: str
    format: str | None
    """None: not taken, see `reason`."""
    added: int = 0
    updated: int = 0
    skipped: int = 0
    """Turns that were stored already."""
    forgotten: int = 0
    """Turns and tasks that were left out, because they were forgotten."""
    is_unchanged: bool = False
    """It was not read: what is said of it was found out when it was."""
    reason: str | None = None
    """Why it was not taken, or not all of it."""
    unreadable: tuple[Unreadable, ...] = ()
    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """In a dry run, the keys that were taken for role, text, time and conversation."""
    map: str | None = None
    """In a dry run the value of `--map` that the file is read by, or that fits a file that is not read."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    bytes_done: int
    """Of the file under way as many as its turns so far have characters."""
    bytes_total: int
    turns: int
    """Read so far."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What lies before a run, estimated from a few of its files."""

    files: int
    turns: int
    """To be embedded."""
    seconds: float
    beside: tuple[int, ...] = ()
    """Process ids of other runs that are under way on the same database."""


@dataclass(slots=True)
class IndexReport:
    """What a run found, added, skipped and could not read."""

    model: str
    files_scanned: int = 0
    files_unchanged: int = 0
    known: int = 0
    """Of the unchanged files those that were understood when they were read."""
    moved: int = 0
    """Files known under another path that is gone."""
    files: list[FileReport] = field(default_factory=list)
    """What was read, and what was passed over or not understood in it, now or when it was read."""
    added: int = 0
    skipped: int = 0
    """Turns so far, of files that are not whole too."""
    embedded: int = 0
    """Texts that went through the model."""
    cached: int = 0
    """Rows, new or stored before and read again, whose text already had a vector."""
    tasks: int = 0
    """Tasks that were added."""
    forgotten: int = 0
    """Turns and tasks that were left out, because they were forgotten."""
    superseded: int = 0
    """Rows of notes that are no longer in their file."""
    duration_s: float = 0.0
    outcome: str = "done"
    """`done`, `interrupted` or `failed`."""

    @property
    def taken(self) -> list[FileReport]:
        """The files that were read and understood."""
        return [report for report in self.files if report.format is not None and not report.is_unchanged]

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines and whole files that were not understood."""
        return [line for report in self.files for line in report.unreadable]

    def counts(self) -> dict[str, int]:
        """The record of the run, as `runs` has it."""
        return {
            "files_scanned": self.files_scanned,
            "turns_added": self.added,
            "turns_skipped": self.skipped,
            "unreadable": sum(len(report.unreadable) for report in self.files if not report.is_unchanged),
        }


def refused(fault: Unreadable) -> FileReport:
    """What is said of a file or folder that was not looked into; one that a person keeps out is no fault."""
    faults = () if isinstance(fault, LeftOut) else (fault,)
    return FileReport(fault.path, None, reason=fault.reason, unreadable=faults)


def failed(candidate: Candidate, fault: OSError) -> FileReport:
    """What is said of a file that the disk or the permissions kept from being read."""
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


def standing(plan: Plan) -> FileReport:
    """What was found out about a file that is not read again."""
    state = plan.state
    if state is None:
        return FileReport(plan.candidate.name, None, is_unchanged=True)
    reason = state.note if state.format is None else None
    problems = tuple(Unreadable(plan.candidate.name, line, why) for line, why in orjson.loads(state.problems or "[]"))
    return FileReport(plan.candidate.name, state.format, is_unchanged=True, reason=reason, unreadable=problems)


# How long a run will take, estimated before it begins from a few of its files and a few of their texts.

SHORTEST = 2_000_000
"""Bytes under which a run is over before an estimate would be."""
FILES = 10
LARGEST = 1_000_000
"""Bytes of a file that is read for the estimate."""
TEXTS = 24
BYTES_A_TURN = 3000
"""Where no file is small enough to be read: what sessions of agents have, results of their tools included."""


def forecast(embedder: Embedder, todo: Sequence[Plan], texts_of: Callable[[Plan], Iterable[str]]) -> Forecast:
    """What lies before a run; nothing is measured before a short one. Raises ModelUnavailable.

    Args:
        embedder: whose speed is measured.
        todo: the files that are to be read.
        texts_of: the texts of a file's turns.
    """
    new = [plan for plan in todo if plan.state is None or plan.state.size < plan.candidate.size]
    total = sum(plan.candidate.size - (plan.state.size if plan.state else 0) for plan in new)
    if total < SHORTEST:
        return Forecast(len(todo), 0, 0.0)
    small = [plan for plan in new if plan.candidate.size <= LARGEST]
    sample = small[:: max(1, len(small) // FILES)][:FILES]
    texts = [text for plan in sample for text in texts_of(plan)]
    turns = total / BYTES_A_TURN
    if texts:
        turns = total * len(texts) / sum(plan.candidate.size for plan in sample)
    timed = texts[:: max(1, len(texts) // TEXTS)][:TEXTS] or ["How long will it take?"]
    start = time.perf_counter()
    for _ in embedder.embed(timed):
        pass
    return Forecast(len(todo), round(turns), turns * (time.perf_counter() - start) / len(timed))


def runs_under_way(database: Database) -> tuple[int, ...]:
    """Processes of other runs that write to the database at this moment. Raises StoreFault."""
    return tuple(pid for pid in sources.running_processes(database) if pid != os.getpid() and is_alive(pid))
