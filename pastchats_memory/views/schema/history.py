"""Define the views of `blame`, `timeline` and `digest`."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.episodes.history import SECTIONS
from pastchats_memory.model import STATUSES
from pastchats_memory.views.schema.fields import (
    Basis,
    CitationState,
    Count,
    ItemId,
    Line,
    OutcomeWord,
    SourcePath,
    Time,
    TurnId,
    Warnings,
    one_of,
)
from pastchats_memory.views.schema.search import AttemptView, Resume


class EditView(TypedDict):
    """The turn whose calls changed the file."""

    id: TurnId
    source_path: str
    source_line: Line
    citation: CitationState


class BlamedView(TypedDict):
    """An episode that changed a file."""

    project: str
    conversation_id: str | None
    episode: AttemptView
    edit: Annotated[EditView, "Its last turn that changed the file."]
    resume: Resume


class BlameBody(TypedDict):
    """Output of `blame --json`."""

    schema: Literal["blame/1"]
    results: Annotated[list[BlamedView], "The newest first."]


class OutcomeCounts(TypedDict):
    """Number of episodes by outcome."""

    worked: Count
    failed: Count
    mixed: Count
    unknown: Count


class DayView(TypedDict):
    """A conversation on one day."""

    day: Annotated[str, {"format": "date"}, "The local day."]
    project: str
    conversation_id: str
    since: Time
    until: Annotated[Time, "Time of its last prompt on that day."]
    outcomes: OutcomeCounts
    first: Annotated[AttemptView, "Its first prompt, with the last outcome on that day that is known."]


class TimelineBody(TypedDict):
    """Output of `timeline --json`."""

    schema: Literal["timeline/1"]
    since: Time
    until: Time
    more: Annotated[Count, "Further conversations, which are older."]
    results: Annotated[list[DayView], "By day, project and time."]
    warnings: NotRequired[Warnings]


class DigestLineView(TypedDict):
    """An episode, or an open task, of a digest."""

    section: Annotated[str, one_of(*SECTIONS)]
    project: str
    status: Annotated[str | None, one_of(*STATUSES), "Status of a task; null for an episode."]
    id: ItemId
    asked: Annotated[str, "The prompt, or the title of the task."]
    answered: Annotated[str, "Summary of the last answer; empty if there is none."]
    outcome: OutcomeWord
    basis: Basis
    shown_by: Annotated[str, "The line that shows the outcome, quoted from a transcript."]
    timestamp: str | None
    source_path: SourcePath
    source_line: Line
    citation: CitationState


class SectionCounts(TypedDict):
    """Number of further lines by section of a digest."""

    worked_on: Count
    worked: Count
    open: Count
    decided: Count


class DigestBody(TypedDict):
    """Output of `digest --json`."""

    schema: Literal["digest/1"]
    since: Time
    until: Time
    outcomes: OutcomeCounts
    more: Annotated[SectionCounts, "Further lines, which are older."]
    text: Annotated[str, "The digest as Markdown."]
    results: Annotated[list[DigestLineView], "By section, project and time."]
    warnings: NotRequired[Warnings]
