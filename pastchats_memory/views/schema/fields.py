"""Define the fields and vocabularies that several views share."""

from collections.abc import Mapping
from typing import Annotated, NotRequired, TypedDict

from pastchats_memory.model import STATUSES, TURN_KINDS
from pastchats_memory.model import TYPES as TASK_TYPES
from pastchats_memory.tasks.similarity import SCORE_LABELS
from pastchats_memory.views.json_schema import PresentIf
from pastchats_memory.views.text import CITATION_NOTES

TURN_TYPES = ("prompt", "note")
TASK_ROW_TYPES = (*TASK_TYPES, "comment", "attachment")
"""Types of results that belong to a task."""
TASK_KINDS = ("task", "comment", "attachment")
EVIDENCE_NAMES = ("words", "meaning", "together", "read")


def one_of(*values: str) -> Mapping[str, object]:
    """Return the keyword that limits a text to some values."""
    return {"enum": list(values)}


METADATA = "format, branch, kind, native_id, and the keys of a generic message that were not understood."


def limit_metadata(*kinds: str) -> Mapping[str, object]:
    """Return the keywords of metadata whose `kind` is one of some kinds.

    Further keys are open.
    """
    properties = {
        "format": {"type": "string"},
        "branch": one_of("main", "abandoned", "sidechain"),
        "kind": one_of(*kinds),
    }
    return {"properties": properties, "required": list(properties)}


Count = Annotated[int, {"minimum": 0}]
Line = Annotated[int | None, {"minimum": 1}]
TurnId = Annotated[str, {"pattern": "^[0-9]+$"}]
TaskId = Annotated[str, {"pattern": "^t:.+$"}]
ItemId = Annotated[
    str,
    {"pattern": "^([0-9]+|t:.+|c:[0-9]+|a:[0-9]+|team:[0-9a-f]+)$"},
    "Shows the kind of the item: 12 is a turn, t:KEY a task, c:5 a comment, a:7 an attachment, team:3f2a a turn of the team.",
]
Author = Annotated[str, {"minLength": 1}, "Who shared it with the team; missing for the user's own."]
Time = Annotated[
    str | None,
    {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
    "ISO 8601 in UTC with milliseconds; null if the source has no time.",
]
LooseTime = Annotated[str | None, "ISO 8601 in UTC; null if unknown."]
CitationState = Annotated[
    str | None,
    one_of(*CITATION_NOTES),
    "State of the source: it stands on `source_line` (holds), on another line now (moved), nowhere in the file "
    "(changed), the file is gone (gone), or it was not checked (unchecked): it has changed, or lies on another machine. Null if no file is cited.",
]
ItemType = Annotated[str, one_of(*TURN_TYPES, *TASK_ROW_TYPES)]
TaskType = Annotated[str, one_of(*TASK_TYPES)]
TaskStatus = Annotated[str, one_of(*STATUSES)]
Priority = Annotated[int | None, {"minimum": 0, "maximum": 4}, "From 0 (critical) to 4 (lowest)."]
OutcomeWord = Annotated[str, one_of("worked", "failed", "mixed", "unknown")]
Basis = Annotated[
    str, "How the evidence relates to the outcome, such as `said next`; empty if the evidence speaks for itself."
]
Role = Annotated[
    str,
    "user, assistant, system, tool, note, task (of tasks, comments and attachments), or another word of a generic "
    "file, in lower case.",
]
Similarity = Annotated[float | None, {"minimum": -1, "maximum": 1}, "Cosine of the query and the item."]
Score = Annotated[float, {"minimum": 0, "maximum": 1}, "1 is the same; see the guide to scores in the README."]
Label = Annotated[str, one_of(*(label for _, label in SCORE_LABELS))]
Warnings = Annotated[list[str], {"minItems": 1}, "Remarks on the answer; absent if there is none."]
AllWarnings = Annotated[list[str], "Remarks on the answer."]
SourcePath = Annotated[str, "Empty for a task that was made by hand."]
Done = Annotated[
    list[str],
    "The last commands that worked, as `$ make test` and in the order in which they ran; if none worked, those that "
    "failed, with ` (failed)` appended; then the paths of changed files.",
]
Metadata = Annotated[dict[str, object], limit_metadata(*TURN_KINDS, *TASK_KINDS), METADATA]
TurnMetadata = Annotated[dict[str, object], limit_metadata(*TURN_KINDS), METADATA]
OpenMetadata = Annotated[dict[str, object], "What the source had besides."]
OF_A_TASK = PresentIf("type", TASK_ROW_TYPES)


class Warned(TypedDict):
    """The field that bodies with warnings share."""

    warnings: NotRequired[Warnings]


class TaskFields(TypedDict):
    """Fields of every task."""

    key: str
    title: str
    status: TaskStatus
    status_raw: Annotated[str, "The tracker's own word."]
    priority: Priority
    tags: list[str]


class OptionalTaskFields(TypedDict):
    """Fields of a result that belongs to a task: the task itself, or the one of a comment or attachment."""

    key: NotRequired[Annotated[str, OF_A_TASK]]
    title: NotRequired[Annotated[str, OF_A_TASK]]
    status: NotRequired[Annotated[TaskStatus, OF_A_TASK]]
    status_raw: NotRequired[Annotated[str, "The tracker's own word.", OF_A_TASK]]
    priority: NotRequired[Annotated[Priority, OF_A_TASK]]
    tags: NotRequired[Annotated[list[str], OF_A_TASK]]
