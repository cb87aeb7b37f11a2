"""Define the values that packages exchange: frozen, and without behaviour that needs anything else.

Annotations are evaluated here (no `from __future__ import annotations`): a named tuple would compile each text of one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, NamedTuple

from pastchats_memory import fields
from pastchats_memory.model.ids import ATTACHMENT, COMMENT, name_task

EXPORT = "export/1"
"""Value of `schema` in every line of an export."""
TURN_KINDS = ("prompt", "command", "answer", "plan", "summary", "error", "result", "note")
REFUSED = "\nRefused by the user."
"""Text below a call that the user refused. The user's reason is a turn of its own."""
OUTSIDE = "(outside the sandbox)"
"""Line below a command that the user let out of the agent's sandbox."""
STATUSES = ("pending", "in_progress", "blocked", "review", "completed", "archived", "cancelled", "deferred", "unknown")
OPEN = ("pending", "in_progress", "blocked", "review")
"""Statuses of open work; `deferred` work may never be done."""
RESOLVED = ("completed", "archived")
TYPES = ("epic", "task", "subtask")
TaskStatus = Annotated[str, fields.one_of(*STATUSES)]
TaskType = Annotated[str, fields.one_of(*TYPES)]
TURN_TYPES = ("prompt", "note")
TASK_ROW_TYPES = (*TYPES, "comment", "attachment")
"""Types of results that belong to a task."""
ItemType = Annotated[str, fields.one_of(*TURN_TYPES, *TASK_ROW_TYPES)]
OF_A_TASK = fields.PresentIf("type", TASK_ROW_TYPES)
TASK_FIELDS = ("key", "title", "status", "status_raw", "priority", "tags")
"""Fields of a task that stand in a result that belongs to it."""
Metadata = Mapping[str, object]
EMPTY: Metadata = MappingProxyType({})


def _limit_metadata(*kinds: str) -> Mapping[str, object]:
    """Return the keywords of metadata whose `kind` is one of some kinds; further keys are open."""
    properties = {
        "format": {"type": "string"},
        "branch": fields.one_of("main", "abandoned", "sidechain"),
        "kind": fields.one_of(*kinds),
    }
    return {"properties": properties, "required": list(properties)}


_METADATA = "format, branch, kind, native_id, and the keys of a generic message that were not understood."
TurnMetadata = Annotated[Metadata, _limit_metadata(*TURN_KINDS), _METADATA]
HitMetadata = Annotated[Metadata, _limit_metadata(*TURN_KINDS, "task", "comment", "attachment"), _METADATA]
NO_CONTRIBUTIONS: Mapping[str, float] = MappingProxyType({})
Contributions = Mapping[
    Annotated[str, fields.one_of("words", "meaning", "together", "read")], Annotated[float, {"exclusiveMinimum": 0}]
]


class Turn(NamedTuple):
    """One message of a conversation as a format reads it.

    Readers yield the turns of a conversation in order. Conversations of one file may be interleaved; `ingest` counts the
    place within a conversation (`turn_index`).
    """

    role: str
    """`user`, `assistant`, `system`, `tool`, `note`, or another word of a generic file, lower-cased."""
    content: str
    """Visible text, never empty, without NUL bytes and lone surrogates, line ends as `\\n`."""
    line: int
    """1-based line in the source at which the message starts."""
    end_line: int | None = None
    """1-based last line, for parts of Markdown; None where the format has one line a message."""
    conversation_id: str | None = None
    """The native id, exactly as in the file."""
    timestamp: str | None = None
    """ISO 8601 in UTC with milliseconds, such as `2026-01-31T08:15:00.000Z`."""
    cwd: str | None = None
    """The recorded working directory, a path; `ingest` derives the project from it."""
    project: str | None = None
    """A project's name, if the file has one instead of a working directory."""
    native_id: str | None = None
    """The record's own id, if copies of the record have the same (`uuid`, `message.id`): the turn's identity."""
    branch: str = "main"
    """`main`, `abandoned` or `sidechain`."""
    kind: str = "prompt"
    """One of `TURN_KINDS`."""
    metadata: Metadata = EMPTY
    """Further JSON-able keys, among them those of a generic message that were not understood."""
    origin: "Origin | None" = None
    """How a turn of an export was stored, and is to be stored again."""
    calls: "tuple[RecordedCall, ...]" = ()
    """Its tool calls with their results. They are not stored; `blame` and the page read them again."""

    @property
    def edits(self) -> "tuple[Edit, ...]":
        """Return the changes of files that its calls record."""
        return tuple(call.edit for call in self.calls if call.edit is not None)


class Edit(NamedTuple):
    """A change of files that a tool call records."""

    paths: tuple[str, ...]
    """As the call names them."""
    arguments: object
    """The input of the call: JSON, or the text of a patch."""


@dataclass(slots=True)
class RecordedCall:
    """A tool call as a transcript has it, and its result."""

    label: str
    command: str
    """The shell command; empty for another tool."""
    edit: Edit | None
    """The change of files that it made."""
    arguments: object
    """Its input: JSON, or a text."""
    began: str | None
    ended: str | None = None
    output: str = ""
    exit_code: int | None = None
    has_failed: bool = False


class Origin(NamedTuple):
    """Fields of a turn that only an export has.

    Text of a private project is recalled only inside it.
    """

    source_path: str
    turn_index: int
    hashes: tuple[str, str | None]
    """The values of `Prompt.content_hash` and `Prompt.echo_hash`."""
    places: "tuple[Place, ...]"
    is_private: bool


class Place(NamedTuple):
    """A place where a turn was seen."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    end_line: fields.Line


CITATION_STATES = ("holds", "moved", "changed", "gone", "unchecked")
"""States of a source, the best first. The text stands on its line, on another line, or nowhere in the file; the file is gone; the
file was changed and was not read again."""


class Citation(NamedTuple):
    """Whether the text of a memory still stands in its source."""

    state: str
    """One of `CITATION_STATES`."""
    line: int | None = None
    """Present line of the text; None if it is gone or unknown."""


CitationState = Annotated[
    str | None,
    fields.one_of(*CITATION_STATES),
    "State of the source: it stands on `source_line` (holds), on another line now (moved), nowhere in the file "
    "(changed), the file is gone (gone), or it was not checked (unchecked): it has changed, or lies on another machine. "
    "Null if no file is cited.",
]
Cited = Annotated[Citation | None, fields.At("citation.state"), fields.As(CitationState)]
"""A citation that JSON shows by its state; None if there is no file, or if it was not checked."""


class Unreadable(NamedTuple):
    """A line that could not be read."""

    path: Annotated[str, fields.HIDDEN]
    line: Annotated[fields.Count, "0 for the whole file."]
    reason: Annotated[str, {"minLength": 1}]


class LeftOut(Unreadable):
    """A file or folder that was not read, because the user excludes it."""

    __slots__ = ()


class Filters(NamedTuple):
    """Conditions on hits; None is no condition.

    Rows without a time fail either bound of time.
    """

    project: str | None = None
    role: str | None = None
    since: str | None = None
    """Earliest timestamp, inclusive, in the form that `prompts.timestamp` has."""
    until: str | None = None
    """Latest timestamp, inclusive."""
    notes: bool | None = None
    """True for notes only, False for other turns only; either excludes tasks, as a role does."""
    kinds: tuple[str, ...] = ()
    """Kinds of tasks' texts: `epic`, `task`, `subtask`, `comment`, `attachment`; empty for all. Any excludes turns, as do the next two."""
    statuses: tuple[str, ...] = ()
    """Statuses of the task, as `wanted_statuses` returns them."""
    priorities: tuple[int, ...] = ()
    """Priorities of the task, 0 to 4."""
    outcomes: tuple[str, ...] = ()
    """Outcomes of the turn's episode, as recall shows them; a resolved task has worked. Empty for all."""
    format: str | None = None
    """Format of the file that a row is filed under, such as `claude-code`."""

    @property
    def of_tasks(self) -> bool:
        """Return whether only texts of tasks can pass."""
        return bool(self.kinds or self.statuses or self.priorities)

    @property
    def of_turns(self) -> bool:
        """Return whether only turns can pass."""
        return self.role is not None or self.notes is not None


NO_FILTERS = Filters()
"""Lets every row through."""


class Neighbour(NamedTuple):
    """A prompt near a query vector."""

    id: int
    similarity: float
    """Cosine, rounded to six decimals."""


class Prompt(NamedTuple):
    """The row of a turn, before it is stored."""

    source_path: str
    project: str
    turn_index: int
    turn: Turn
    content_hash: str
    """Hex SHA-256 of the turn's identity (`ingest.identity`)."""
    text_hash: bytes
    """SHA-256 of the content alone."""
    metadata: Metadata
    echo_hash: str | None = None
    """Hex SHA-256 of role, text and time, which copies under other ids have in common; None without a fine time."""


class Item(NamedTuple):
    """A stored turn or note."""

    id: Annotated[int, fields.At("shown_id"), fields.As(fields.ItemId)]
    source_path: str
    project: Annotated[str, fields.Shown("source_project")]
    conversation_id: str | None
    turn_index: Annotated[int, {"minimum": 0}, "0-based place in the conversation."]
    role: Annotated[
        str,
        "user, assistant, system, tool, note, or another word of a generic file, in lower case.",
        fields.Shown(after="content"),
    ]
    content: Annotated[str, "The whole text.", fields.Shown(after="type")]
    timestamp: fields.Time
    metadata: TurnMetadata
    places: Annotated[tuple[Place, ...], "Every place where the turn was seen."]
    """The one that is cited comes first."""
    citation: Annotated[Cited, fields.Shown(after="source_line")] = None
    """Citation of the first place."""
    team_id: Annotated[str, fields.HIDDEN] = ""
    """Id of a turn of the team's memory; empty for the user's own."""
    author: fields.Author = ""

    @property
    def shown_id(self) -> str:
        """Return the id as people see it."""
        return self.team_id or str(self.id)

    @property
    def type(self) -> Annotated[str, fields.one_of(*TURN_TYPES), fields.Shown(after="id")]:
        """Return `note` for a note, and `prompt` for any other turn."""
        return "note" if self.role == "note" else "prompt"

    @property
    def source_line(self) -> Annotated[fields.Line, fields.Shown(after="source_path")]:
        """Return the line of the first place."""
        return self.places[0].line if self.places else None


class Hit(NamedTuple):
    """A result of a search."""

    rank: Annotated[int, {"minimum": 1}, "Counted from 1 over all pages."]
    relevance: Annotated[
        float | None,
        "How well the item fits the query, 0 to 1, comparable between searches; null without a query vector.",
    ]
    score: Annotated[float, {"exclusiveMinimum": 0}, "The sum of the contributions."]
    lexical_rank: Annotated[int | None, {"minimum": 1}, "Place in the list by words."]
    semantic_rank: Annotated[int | None, {"minimum": 1}, "Place in the list by meaning."]
    similarity: Annotated[float | None, {"minimum": -1, "maximum": 1}, "Cosine of the query and the item."]
    """None without a query vector."""
    id: fields.ItemId
    type: ItemType
    content: Annotated[str, "The whole text."]
    snippet: Annotated[str, "One line of it around the match."]
    role: Annotated[
        str,
        "user, assistant, system, tool, note, task (of tasks, comments and attachments), or another word of a generic "
        "file, in lower case.",
    ]
    source_path: fields.SourcePath
    source_line: fields.Line
    source_project: str
    conversation_id: str | None
    turn_index: Annotated[int, {"minimum": 0}, "0-based place in the conversation; 0 for the parts of a task."]
    timestamp: fields.Time
    metadata: HitMetadata
    contributions: Annotated[
        Contributions,
        "With --explain: what each list added to the score; `read` is the cross-encoder's, with --rerank.",
        fields.IF_ANY,
        fields.Shown(after="resume"),
    ] = NO_CONTRIBUTIONS
    citation: Annotated[Cited, fields.Shown(after="source_line")] = None
    task: Annotated["StoredTask | None", fields.Flat(TASK_FIELDS), OF_A_TASK, fields.Shown(after="heading")] = None
    """The task itself, or the task of a comment or an attachment; None for turns and notes."""
    named: Annotated[float, fields.HIDDEN] = 0.0
    """Worth of the query's names in the row, by their rarity; 0 unless the request asked for it."""
    author: Annotated[fields.Author, fields.Shown(after="metadata")] = ""
    resume: Annotated[fields.Resume, fields.Shown(after="tags")] = None
    """Set where it is shown."""
    replaced_by: Annotated[str, "Id of a later request that replaced what was decided here.", fields.IF_ANY] = ""

    @property
    def heading(
        self,
    ) -> Annotated[
        str | None,
        "Headings of a note, outermost first, joined by ' > '.",
        fields.PresentIf("type", ("note",)),
        fields.Shown(after="author"),
    ]:
        """Return the headings of a note."""
        return self.metadata.get("heading")  # type: ignore[return-value] # metadata of a note has a text


class TimeRead(NamedTuple):
    """A time that a query names."""

    words: Annotated[str, "The phrase that names it, in lower case."]
    since: Annotated[str | None, {"format": "date-time"}]
    until: Annotated[str | None, {"format": "date-time"}]
    """The first and the last moment, in the form of `timestamp`; None for no bound."""
    is_filter: Annotated[
        bool, "True: nothing else was searched. False: turns of that time, or soon after, rank higher."
    ]


class Hits(list[Hit]):
    """The results of a search, best first, with warnings about them."""

    def __init__(
        self, hits: Iterable[Hit] = (), warnings: tuple[str, ...] = (), time_read: TimeRead | None = None
    ) -> None:
        super().__init__(hits)
        self.warnings = warnings
        self.time_read = time_read


class Comment(NamedTuple):
    """A comment on a task."""

    content: Annotated[str, fields.Shown(after="author")]
    author: str = ""
    created_at: fields.LooseTime = None
    """ISO 8601 in UTC with milliseconds, as every time here."""
    id: Annotated[int | None, fields.HIDDEN] = None
    """The 5 of `c:5`; None before it is stored."""

    @property
    def shown_id(self) -> Annotated[str, {"pattern": "^c:[0-9]+$"}, fields.Shown("id", fields.FIRST)]:
        """Return the id as people see it."""
        return f"{COMMENT}{self.id}"


class Attachment(NamedTuple):
    """A file attached to a task."""

    name: str
    size: Annotated[fields.Count, "Bytes."]
    sha256: str
    """Hex, of the bytes."""
    content: Annotated[
        str | None,
        "Text of the attachment that was asked for; null for a binary file.",
        fields.ON_REQUEST,
        fields.Shown(after="created_at"),
    ] = None
    """Its text; None for a picture and the like, which is found by its name."""
    created_at: fields.LooseTime = None
    id: Annotated[int | None, fields.HIDDEN] = None
    """The 7 of `a:7`; None before it is stored."""

    @property
    def shown_id(self) -> Annotated[str, {"pattern": "^a:[0-9]+$"}, fields.Shown("id", fields.FIRST)]:
        """Return the id as people see it."""
        return f"{ATTACHMENT}{self.id}"


@fields.shown_as("StateView")
class TaskState(NamedTuple):
    """A step of a task's history."""

    status: TaskStatus
    raw: Annotated[str, fields.Shown("status_raw")]
    """The source's own word."""
    at: fields.LooseTime = None


@fields.shown_as("LinkView")
class TaskLink(NamedTuple):
    """A link from a task to another one."""

    kind: str
    """`parent`, `depends`, `related`, `duplicates` or a tracker's own word."""
    target: str
    """The other task's native id in the same scope, or its key if the task is of no tracker."""


class Task(NamedTuple):
    """A task as a format reads it, or as a user wrote it.

    The same native id in the same scope of the same project is the same task, in whichever file: the later one
    updates it. A field that is None or empty leaves the stored value.
    """

    native_id: str
    """The tracker's id; a hash of the text for an entry of a list without ids."""
    title: str
    line: int = 0
    """1-based line in the source; 0 for none."""
    scope: str = ""
    """Scope in which, with the project, the native id is unique: the tracker, or the conversation or file of a list."""
    description: str = ""
    type: str = "task"
    """One of TYPES."""
    status_raw: str = ""
    """The tracker's own word; `status_of` translates it."""
    priority: int | None = None
    """0 (critical) to 4 (lowest)."""
    tags: tuple[str, ...] = ()
    project: str | None = None
    cwd: str | None = None
    """A folder of the project, if the source has no name; `ingest` derives the project from it."""
    links: tuple[TaskLink, ...] = ()
    created_at: str | None = None
    updated_at: str | None = None
    closed_at: str | None = None
    due_at: str | None = None
    conversation_id: str | None = None
    """The conversation that worked on it."""
    states: tuple[TaskState, ...] = ()
    """Its history as far as the source has it, oldest first, the current state last."""
    comments: tuple[Comment, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    metadata: Metadata = EMPTY
    exported: Metadata | None = None
    """All fields of a task of an export, as `store.interchange` writes them."""


@fields.shown_as("PartView")
class TaskPart(NamedTuple):
    """A task as a part of another one."""

    key: str
    title: str
    status: TaskStatus


@fields.shown_as("TaskView")
class StoredTask(NamedTuple):
    """A task with all that belongs to it; of attachments' texts only the one that was asked for."""

    id: Annotated[int, fields.At("shown_id"), fields.As(fields.TaskId)]
    key: str
    """The KEY of `t:KEY`."""
    title: str
    description: Annotated[str, fields.Shown(after="tags")]
    type: Annotated[TaskType, fields.Shown(after="id")]
    status: TaskStatus
    status_raw: Annotated[str, "The tracker's own word."]
    priority: fields.Priority
    tags: tuple[str, ...]
    project: Annotated[str, fields.Shown("source_project")]
    parent: Annotated[str | None, "Key of the task that it is part of."]
    links: Annotated[tuple[TaskLink, ...], "Other links, with keys of stored tasks."]
    source_path: fields.SourcePath
    source_line: fields.Line
    created_at: fields.LooseTime
    updated_at: fields.LooseTime
    closed_at: fields.LooseTime
    due_at: fields.LooseTime
    conversations: Annotated[tuple[str, ...], "Ids of the conversations that worked on it."]
    states: Annotated[tuple[TaskState, ...], "States, oldest first.", fields.Shown("history")]
    comments: tuple[Comment, ...]
    attachments: tuple[Attachment, ...]
    metadata: fields.OpenMetadata
    parts: Annotated[
        tuple[TaskPart, ...], "Tasks of which it is the parent, if one task is shown and has any.", fields.IF_ANY
    ] = ()

    @property
    def shown_id(self) -> str:
        """Return the id as people see it."""
        return name_task(self.key)

    @property
    def last_comments(self) -> tuple[str, ...]:
        """Return the texts of the last three comments."""
        return tuple(comment.content for comment in self.comments[-3:])

    @property
    def timestamp(self) -> str | None:
        """Return the time of the last known change."""
        return max(filter(None, (self.updated_at, self.closed_at, self.created_at)), default=None)


class TaskText(NamedTuple):
    """A part of a task that is searched as one row: the task itself, a comment, or a chunk of an attachment."""

    id: int
    task: StoredTask
    kind: str
    """`task`, `comment` or `attachment`."""
    shown_id: str
    """`t:KEY`, `c:5` or `a:7`."""
    content: str
    timestamp: str | None


class Progress(NamedTuple):
    """How far a run is, in the rows, files or conversations that it counts."""

    done: int
    total: int
