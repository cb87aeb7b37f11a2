"""Report the progress and the result of an index run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import orjson

from pastchats_memory.fields import FIRST, HIDDEN, Count, Narrowed, Shown, answer, one_of, shown_as
from pastchats_memory.model import LeftOut, Unreadable

if TYPE_CHECKING:
    from pastchats_memory.ingest.changes import Plan
    from pastchats_memory.ingest.discover import Candidate


@shown_as("IndexedFileView")
@dataclass(frozen=True, slots=True)
class FileReport:
    """What a run did with one file."""

    path: Annotated[str, Shown("source_path")]
    format: Annotated[str | None, "Null: the file was not taken; `reason` says why."]
    added: Count = 0
    updated: Count = 0
    skipped: Annotated[Count, "Turns that were stored already."] = 0
    forgotten: Annotated[Count, "Turns and tasks that were left out because they are forgotten."] = 0
    is_unchanged: Annotated[
        bool, "True: the file was not read again; the other fields are from its last reading.", Shown("unchanged")
    ] = False
    reason: Annotated[str | None, Narrowed("format", (None,), {"type": "string", "minLength": 1})] = None
    """Why the file, or a part of it, was not indexed."""
    unreadable: tuple[Unreadable, ...] = ()
    keys: Annotated[Mapping[str, str], HIDDEN] = field(default_factory=lambda: MappingProxyType({}))
    """In a dry run, the keys that were read as role, text, time and conversation."""
    map: Annotated[str | None, HIDDEN] = None
    """In a dry run, the value of `--map` that reads the file, or would read a file without a format."""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """The progress of a run."""

    bytes_done: int
    """For the current file, the characters of its turns so far."""
    bytes_total: int
    turns: int
    """Turns read so far."""


@answer("index/1", name="IndexBody", title="Output of `index --json` for a run.")
@dataclass(slots=True)
class IndexReport:
    """The result of a run: what it found, added, skipped and could not read."""

    model: str
    duration_s: Annotated[float, {"minimum": 0}] = 0.0
    files_unchanged: Count = 0
    known: Annotated[int, HIDDEN] = 0
    """Unchanged files that have a format."""
    left_for_later: Annotated[int, HIDDEN] = 0
    """Files that this run did not read, since only the newest were wanted."""
    moved: Annotated[Count, "Files known under another path that is gone."] = 0
    embedded: Annotated[Count, "Texts that went through the model."] = 0
    cached: Annotated[Count, "New rows whose text had a vector already."] = 0
    pending_vectors: Annotated[Count, "Rows of the database whose vector awaits a model that can be used."] = 0
    superseded: Annotated[Count, "Rows of notes that are no longer in their file."] = 0
    files_scanned: Count = 0
    added: Annotated[Count, Shown("turns_added")] = 0
    skipped: Annotated[Count, Shown("turns_skipped")] = 0
    """Turns that were stored before, of unfinished files too."""
    tasks: Annotated[
        Count, "Tasks of task files and of the lists that agents keep.", Shown("tasks_added", after="unreadable")
    ] = 0
    forgotten: Annotated[
        Count, "Turns and tasks that were left out because they are forgotten.", Shown(after="tasks_added")
    ] = 0
    files: Annotated[list[FileReport], Shown("results", after="forgotten")] = field(default_factory=list)
    """Files that were read, and problems of unchanged files."""
    outcome: Annotated[str, one_of("done", "interrupted"), Shown(after=FIRST)] = "done"
    """`failed` is stored, but no answer."""

    @property
    def files_read(self) -> list[FileReport]:
        """The files that were read and have a format."""
        return [report for report in self.files if report.format is not None and not report.is_unchanged]

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines and whole files that are unreadable."""
        return [line for report in self.files for line in report.unreadable]

    @property
    def unreadable_now(self) -> Annotated[Count, Shown("unreadable", after="turns_skipped")]:
        """Return the number of unreadable lines and files that this run read."""
        return sum(len(report.unreadable) for report in self.files if not report.is_unchanged)

    def counts(self) -> dict[str, int]:
        """Return the record of the run, as the table `runs` has it."""
        return {
            "files_scanned": self.files_scanned,
            "turns_added": self.added,
            "turns_skipped": self.skipped,
            "unreadable": self.unreadable_now,
        }


def report_refused(fault: Unreadable) -> FileReport:
    """Report a file or folder that was not looked into; an excluded one is no fault."""
    faults = () if isinstance(fault, LeftOut) else (fault,)
    return FileReport(fault.path, None, reason=fault.reason, unreadable=faults)


def report_failed(candidate: "Candidate", fault: OSError) -> FileReport:
    """Report a file that the disk or its permissions kept from being read."""
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


def report_unchanged(plan: "Plan") -> FileReport:
    """Report a file that is not read again, as its last reading found it."""
    state = plan.state
    if state is None:
        return FileReport(plan.candidate.name, None, is_unchanged=True)
    reason = state.note if state.format is None else None
    problems = tuple(Unreadable(plan.candidate.name, line, why) for line, why in orjson.loads(state.problems or "[]"))
    return FileReport(plan.candidate.name, state.format, is_unchanged=True, reason=reason, unreadable=problems)
