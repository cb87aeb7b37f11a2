"""Report the progress and the result of an index run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import orjson

from pastchats_memory.ingest.changes import Plan
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.model import LeftOut, Unreadable


@dataclass(frozen=True, slots=True)
class FileReport:
    """The result for one file."""

    path: str
    format: str | None
    """None for a file that was not indexed; see `reason`."""
    added: int = 0
    updated: int = 0
    skipped: int = 0
    """Turns that were stored before."""
    forgotten: int = 0
    """Turns and tasks that were left out because they were forgotten."""
    is_unchanged: bool = False
    """Whether it was not read; the report then repeats the last reading."""
    reason: str | None = None
    """Why the file, or a part of it, was not indexed."""
    unreadable: tuple[Unreadable, ...] = ()
    keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """In a dry run, the keys that were read as role, text, time and conversation."""
    map: str | None = None
    """In a dry run, the value of `--map` that reads the file, or would read a file without a format."""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of a run."""

    bytes_done: int
    """For the current file, the characters of its turns so far."""
    bytes_total: int
    turns: int
    """Turns read so far."""


@dataclass(slots=True)
class IndexReport:
    """The result of a run: what it found, added, skipped and could not read."""

    model: str
    files_scanned: int = 0
    files_unchanged: int = 0
    known: int = 0
    """Unchanged files that have a format."""
    left_for_later: int = 0
    """Files that this run did not read, since only the newest were wanted."""
    moved: int = 0
    """Files that were known under another path, which is gone."""
    files: list[FileReport] = field(default_factory=list)
    """Files that were read, and problems of unchanged files."""
    added: int = 0
    skipped: int = 0
    """Turns that were stored before, of unfinished files too."""
    embedded: int = 0
    """Texts that the model embedded."""
    cached: int = 0
    """Rows whose text already had a vector."""
    pending_vectors: int = 0
    """Texts in the database whose vectors await a model."""
    tasks: int = 0
    """Added tasks."""
    forgotten: int = 0
    """Turns and tasks that were left out because they were forgotten."""
    superseded: int = 0
    """Rows of notes that are no longer in their file."""
    duration_s: float = 0.0
    outcome: str = "done"
    """`done`, `interrupted` or `failed`."""

    @property
    def files_read(self) -> list[FileReport]:
        """The files that were read and have a format."""
        return [report for report in self.files if report.format is not None and not report.is_unchanged]

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines and whole files that are unreadable."""
        return [line for report in self.files for line in report.unreadable]

    def counts(self) -> dict[str, int]:
        """Return the record of the run, as the table `runs` has it."""
        return {
            "files_scanned": self.files_scanned,
            "turns_added": self.added,
            "turns_skipped": self.skipped,
            "unreadable": sum(len(report.unreadable) for report in self.files if not report.is_unchanged),
        }


def report_refused(fault: Unreadable) -> FileReport:
    """Report a file or folder that was not looked into; an excluded one is no fault."""
    faults = () if isinstance(fault, LeftOut) else (fault,)
    return FileReport(fault.path, None, reason=fault.reason, unreadable=faults)


def report_failed(candidate: Candidate, fault: OSError) -> FileReport:
    """Report a file that the disk or its permissions kept from being read."""
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


def report_unchanged(plan: Plan) -> FileReport:
    """Report a file that is not read again, as its last reading found it."""
    state = plan.state
    if state is None:
        return FileReport(plan.candidate.name, None, is_unchanged=True)
    reason = state.note if state.format is None else None
    problems = tuple(Unreadable(plan.candidate.name, line, why) for line, why in orjson.loads(state.problems or "[]"))
    return FileReport(plan.candidate.name, state.format, is_unchanged=True, reason=reason, unreadable=problems)
