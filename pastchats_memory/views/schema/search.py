"""Define the views of search, recall, lessons and shown items."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.views.json_schema import Narrowed, PresentIf
from pastchats_memory.views.schema.fields import (
    EVIDENCE_NAMES,
    TURN_TYPES,
    Author,
    Basis,
    CitationState,
    Count,
    Done,
    ItemId,
    ItemType,
    Line,
    Metadata,
    OptionalTaskFields,
    OutcomeWord,
    Role,
    Similarity,
    SourcePath,
    Time,
    TurnId,
    TurnMetadata,
    Warnings,
    one_of,
)

# --- hits -------------------------------------------------------------------------------------------------------------


class PlacedHit(OptionalTaskFields):
    """Fields of every result of a search: rank, kind and source."""

    rank: Annotated[int, {"minimum": 1}, "Counted from 1 over all pages."]
    score: Annotated[float, {"exclusiveMinimum": 0}, "The sum of the contributions."]
    similarity: Similarity
    id: ItemId
    type: ItemType
    role: Role
    source_path: SourcePath
    source_line: Line
    citation: CitationState
    source_project: str
    conversation_id: str | None
    turn_index: Annotated[int, {"minimum": 0}, "0-based place in the conversation; 0 for the parts of a task."]
    timestamp: Time
    author: NotRequired[Author]


class HitFields(PlacedHit):
    """Fields of a result with its text."""

    relevance: Annotated[
        float | None,
        "How well the item fits the query, 0 to 1, comparable between searches; null without a query vector.",
    ]
    lexical_rank: Annotated[int | None, {"minimum": 1}, "Place in the list by words."]
    semantic_rank: Annotated[int | None, {"minimum": 1}, "Place in the list by meaning."]
    content: Annotated[str, "The whole text."]
    snippet: Annotated[str, "One line of it around the match."]
    metadata: Metadata
    heading: NotRequired[
        Annotated[str | None, "Headings of a note, outermost first, joined by ' > '.", PresentIf("type", ("note",))]
    ]


Resume = Annotated[str | None, "Line for a shell that resumes the session with its own agent; null if there is none."]


class HitView(HitFields):
    """A result of a search."""

    resume: Resume
    contributions: NotRequired[
        Annotated[
            dict[Annotated[str, one_of(*EVIDENCE_NAMES)], Annotated[float, {"exclusiveMinimum": 0}]],
            "With --explain: what each list added to the score; `read` is the cross-encoder's, with --rerank.",
        ]
    ]


Citation = Annotated[
    str,
    {"minLength": 1},
    "path:line (turn N) of a turn or note; path:line of a task, or the remark that it was made by hand.",
]
CheckedCitation = Annotated[Citation, Narrowed("type", TURN_TYPES, {"pattern": r"^.+ \(turn [0-9]+(; .+)?\)$"})]


class TimeReadView(TypedDict):
    """A time that a query names."""

    words: Annotated[str, "The phrase that names it, in lower case."]
    since: Annotated[str | None, {"format": "date-time"}]
    until: Annotated[str | None, {"format": "date-time"}]
    is_filter: Annotated[
        bool, "True: nothing else was searched. False: turns of that time, or soon after, rank higher."
    ]


class SearchBody(TypedDict):
    """Output of `search --json`."""

    schema: Literal["search/1"]
    time: NotRequired[Annotated[TimeReadView, "With --explain: the time that the query names; absent if none."]]
    results: list[HitView]
    warnings: NotRequired[Warnings]


class ExcerptView(PlacedHit):
    """A hit with an excerpt instead of its text."""

    excerpt: Annotated[str, "One line of the content around the match; `/items/ID` has all of it."]
    source: Citation


class SemanticBody(TypedDict):
    """Answer of `GET /api/v1/search/semantic`; the `sources` of a chat have the same results."""

    schema: Literal["semantic/1"]
    results: list[ExcerptView]
    warnings: NotRequired[Warnings]


# --- episodes ---------------------------------------------------------------------------------------------------------


class EvidenceView(TypedDict):
    """A line of a transcript, with its source."""

    quotation: Annotated[str, {"maxLength": 200}]
    source_path: str
    source_line: Line
    citation: CitationState


class RunView(TypedDict):
    """The place where a command ran."""

    quotation: Annotated[str, "The command."]
    source_path: str
    source_line: Line
    citation: CitationState


class AttemptView(TypedDict):
    """Another episode about the same problem."""

    id: TurnId
    asked: str
    answered: Annotated[str, "Summary of the last answer; empty if there is none."]
    outcome: OutcomeWord
    basis: Basis
    shown_by: Annotated[str, "The line that shows the outcome, quoted from a transcript."]
    timestamp: str | None
    source_path: str
    source_line: Line
    citation: CitationState


Evidences = Annotated[
    list[EvidenceView],
    {"maxItems": 2},
    "Lines that show the outcome, the decisive one last; for an unknown outcome the user's next words, if any.",
]


class QuestionView(TypedDict):
    """The turn that asks, with its source."""

    id: TurnId
    timestamp: str | None
    source_path: str
    source_line: Line
    citation: CitationState


class RecallView(HitFields):
    """An entry of a recall block: an episode with the hit that matched."""

    asked: str | None
    answered: str | None
    outcome: OutcomeWord
    basis: Basis
    evidence: Evidences
    done: Done
    failed_before: Annotated[list[AttemptView], "Attempts at the same that failed, the earliest first."]
    worked_later: Annotated[AttemptView | None, "The later attempt that worked, if this one did not."]
    superseded_by: Annotated[AttemptView | None, "The later episode that replaced what was decided here."]
    commit: Annotated[
        str | None, "Short hash of the commit with its edits, read from the repository of the working directory."
    ]
    reverted_by: Annotated[str | None, "Short hash of the commit that reverted that one."]
    current_project: bool
    question: Annotated[
        QuestionView | None,
        "The prompt, if another turn of the episode matched: the entry in the text has its time and source. "
        "Null if the match itself is shown first.",
    ]
    source: CheckedCitation
    resume: Resume


class RecallBody(TypedDict):
    """Output of `recall --json`."""

    schema: Literal["recall/1"]
    budget: Annotated[int, {"minimum": 1}, "Most tokens of the text."]
    tokens: Annotated[Count, "Upper bound of the tokens of the text."]
    text: Annotated[str, "The block as Markdown."]
    results: list[RecallView]
    warnings: NotRequired[Warnings]


class ContextView(HitFields):
    """An item of a context."""

    excerpt: Annotated[str, "As much of the content as fits; `show ID` has all of it."]
    source: CheckedCitation


class ContextBody(TypedDict):
    """Output of `context --json`."""

    schema: Literal["context/1"]
    budget: Annotated[int, {"minimum": 1}, "Most tokens of the text."]
    tokens: Annotated[Count, "Upper bound of the tokens of the text."]
    text: Annotated[str, "The context as Markdown; empty if not even the message that nothing was found fits."]
    results: list[ContextView]
    warnings: NotRequired[Warnings]


class LessonView(TypedDict):
    """A repeated failure, and what ended it."""

    project: str
    times: Annotated[int, {"minimum": 2}, "Number of failures."]
    attempts: Annotated[
        list[AttemptView], {"minItems": 1, "maxItems": 5}, "The last attempts that failed, the earliest first."
    ]
    ended_by: Annotated[AttemptView, "The attempt after them that worked."]


class LessonsBody(TypedDict):
    """Output of `lessons --json`."""

    schema: Literal["lessons/1"]
    results: list[LessonView]
    warnings: NotRequired[Warnings]


class CommandView(TypedDict):
    """A command that worked before."""

    project: str
    command: Annotated[str, "On one line, quoted from a transcript."]
    times: Annotated[int, {"minimum": 1}, "Number of fitting episodes in which it ran and that worked."]
    run: RunView
    episode: Annotated[
        AttemptView,
        "The episode with most of the listed commands, else the best fitting one; the commands of an episode come "
        "together, in the order in which they worked.",
    ]


class HowBody(TypedDict):
    """Output of `how --json`."""

    schema: Literal["how/1"]
    results: list[CommandView]
    warnings: NotRequired[Warnings]


class SheetView(TypedDict):
    """An episode laid out for a reader who judges its outcome; of long texts beginning and end."""

    id: Annotated[TurnId, "Id of the prompt."]
    project: str
    timestamp: str | None
    asked: Annotated[str, {"maxLength": 1003}]
    answered: Annotated[str, {"maxLength": 1003}, "All answers; empty if there is none."]
    done: Annotated[
        list[Annotated[str, {"maxLength": 120}]], "Commands that worked as `$ make test`, then changed files."
    ]
    results: Annotated[
        list[Annotated[str, {"maxLength": 303}]], {"maxItems": 3}, "The last results of commands, in order."
    ]
    said_next: Annotated[str, {"maxLength": 1003}, "The user's words up to the next answer; empty if there are none."]
    outcome: OutcomeWord
    basis: Basis
    evidence: Evidences
    source_path: str
    source_line: Line
    citation: CitationState
    was: NotRequired[Annotated[OutcomeWord, "The outcome before it was judged just now."]]


class JudgeBody(TypedDict):
    """Output of `judge --json`."""

    schema: Literal["judge/1"]
    left: NotRequired[Annotated[Count, "Number of further episodes, if episodes are listed."]]
    results: list[SheetView]
    warnings: NotRequired[Warnings]


# --- items ------------------------------------------------------------------------------------------------------------


class PlaceView(TypedDict):
    """A place where a turn was seen."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    end_line: Line


class ItemView(TypedDict):
    """A stored turn or note, whole."""

    id: ItemId
    type: Annotated[str, one_of(*TURN_TYPES)]
    is_asked: Annotated[bool, "True for the one item whose id was given."]
    author: NotRequired[Author]
    content: Annotated[str, "The whole text."]
    role: Annotated[str, "user, assistant, system, tool, note, or another word of a generic file, in lower case."]
    source_path: str
    source_line: Line
    citation: CitationState
    source_project: str
    conversation_id: str | None
    turn_index: Annotated[int, {"minimum": 0}, "0-based place in the conversation."]
    timestamp: Time
    outcome: OutcomeWord
    basis: Basis
    evidence: Evidences
    metadata: TurnMetadata
    places: Annotated[list[PlaceView], "Every place where the turn was seen."]


class ShowBody(TypedDict):
    """Output of `show --json`: the item with its neighbours, in order."""

    schema: Literal["show/1"]
    results: list[ItemView]
