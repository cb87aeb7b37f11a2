"""What a run was asked for, how far it is, and what came of it."""

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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    bytes_done: int
    """Of the file under way as many as its turns so far have characters."""
    bytes_total: int
    turns: int
    """Read so far."""


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


def report_refused(fault: Unreadable) -> FileReport:
    """What is said of a file or folder that was not looked into; one that a person keeps out is no fault."""
    faults = () if isinstance(fault, LeftOut) else (fault,)
    return FileReport(fault.path, None, reason=fault.reason, unreadable=faults)


def report_failed(candidate: Candidate, fault: OSError) -> FileReport:
    """What is said of a file that the disk or the permissions kept from being read."""
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


def report_unchanged(plan: Plan) -> FileReport:
    """What was found out about a file that is not read again."""
    state = plan.state
    if state is None:
        return FileReport(plan.candidate.name, None, is_unchanged=True)
    reason = state.note if state.format is None else None
    problems = tuple(Unreadable(plan.candidate.name, line, why) for line, why in orjson.loads(state.problems or "[]"))
    return FileReport(plan.candidate.name, state.format, is_unchanged=True, reason=reason, unreadable=problems)


# How long a run will take, estimated before it begins from a few of its files and a few of their texts.
