"""Define the views of task memory."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.views.schema.fields import (
    Count,
    Label,
    Line,
    LooseTime,
    OpenMetadata,
    Score,
    SourcePath,
    TaskFields,
    TaskId,
    TaskStatus,
    TaskType,
    Warnings,
    one_of,
)
from pastchats_memory.views.schema.search import AttemptView, HitView
from pastchats_memory.views.task_text import VERDICTS


class LinkView(TypedDict):
    """A link from a task to another one."""

    kind: str
    target: str


class StateView(TypedDict):
    """A step of a task's history."""

    status: TaskStatus
    status_raw: str
    at: LooseTime


class CommentView(TypedDict):
    """A comment on a task."""

    id: Annotated[str, {"pattern": "^c:[0-9]+$"}]
    author: str
    content: str
    created_at: LooseTime


class AttachmentView(TypedDict):
    """A file attached to a task."""

    id: Annotated[str, {"pattern": "^a:[0-9]+$"}]
    name: str
    size: Annotated[Count, "Bytes."]
    sha256: str
    created_at: LooseTime
    content: NotRequired[Annotated[str | None, "Text of the attachment that was asked for; null for a binary file."]]


class PlainTaskView(TaskFields):
    """A task without its parts."""

    id: TaskId
    type: TaskType
    description: str
    source_project: str
    parent: Annotated[str | None, "Key of the task that it is part of."]
    links: Annotated[list[LinkView], "Other links, with keys of stored tasks."]
    source_path: SourcePath
    source_line: Line
    created_at: LooseTime
    updated_at: LooseTime
    closed_at: LooseTime
    due_at: LooseTime
    conversations: Annotated[list[str], "Ids of the conversations that worked on it."]
    history: Annotated[list[StateView], "States, oldest first."]
    comments: list[CommentView]
    attachments: list[AttachmentView]
    metadata: OpenMetadata


class PartView(TypedDict):
    """A task as a part of another one."""

    key: str
    title: str
    status: TaskStatus


class TaskView(PlainTaskView):
    """A task with all that belongs to it; of attachments' texts only the one that was asked for."""

    parts: NotRequired[Annotated[list[PartView], "Tasks of which it is the parent, if one task is shown and has any."]]


class TaskBody(TypedDict):
    """Output of `task … --json`: tasks that were made, changed, listed or shown (`task recall` prints search/1)."""

    schema: Literal["task/1"]
    deleted: NotRequired[str]
    added: NotRequired[Count]
    updated: NotRequired[Count]
    unchanged: NotRequired[Count]
    forgotten: NotRequired[Annotated[Count, "Tasks of an import that were left out because they are forgotten."]]
    circles: NotRequired[Annotated[Count, "Links of an import that were left out because they would make a circle."]]
    results: list[TaskView]


class NearView(PlainTaskView):
    """A task with its similarity to a text or another task."""

    score: Score
    label: Label
    similarity: Annotated[
        float | None, {"minimum": -1, "maximum": 1}, "Cosine of the texts; null if they were compared by words alone."
    ]


class SimilarBody(TypedDict):
    """Output of `similar --json`: the nearest tasks, the most similar first."""

    schema: Literal["similar/1"]
    results: list[NearView]


class FindDuplicatesBody(TypedDict):
    """Output of `find-duplicates --json`: the nearest tasks, the most similar first."""

    schema: Literal["find-duplicates/1"]
    results: list[NearView]


class ClusterTaskView(TaskFields):
    """A task of a cluster of duplicates."""

    id: TaskId


class PairView(TypedDict):
    """Two similar tasks."""

    first: str
    second: str
    score: Score
    label: Label


class ClusterView(TypedDict):
    """Tasks that are similar to each other."""

    tasks: list[ClusterTaskView]
    pairs: list[PairView]


class DuplicatesBody(TypedDict):
    """Output of `duplicates --scan --json`: clusters, the most similar first."""

    schema: Literal["duplicates/1"]
    results: list[ClusterView]


class CaptureBody(TypedDict):
    """Output of `capture --json`."""

    schema: Literal["capture/1"]
    outcome: Annotated[
        str, one_of("created", "commented", "found"), "found: there is a similar task, and nothing was written."
    ]
    similar: NearView | None
    results: Annotated[list[PlainTaskView], {"maxItems": 1}, "The task that was created or got the comment."]


class PriorAttemptView(AttemptView):
    """A conversation that the verdict rests on, before the tasks; if it was superseded, also the one that replaced it."""

    type: Literal["prompt"]


class PriorWorkBody(TypedDict):
    """Output of `check-prior-work --json`: a verdict and at most three conversations and tasks."""

    schema: Literal["check-prior-work/2"]
    verdict: Annotated[
        str, one_of(*VERDICTS), "The exit code of `new` is 1, even if similar tasks are among the results."
    ]
    reason: Annotated[str, "One sentence."]
    results: Annotated[list[PriorAttemptView | NearView], {"maxItems": 3}]
    warnings: NotRequired[Warnings]


class ResolutionSourceView(TypedDict):
    """The turn that has a resolution."""

    id: str
    source_path: str
    source_line: int | None
    conversation_id: str | None


class ResolvedView(PlainTaskView):
    """A solved task with its resolution."""

    score: float
    similarity: float | None
    resolution: Annotated[str | None, "The last words of the conversation that worked on it, else of its comments."]
    resolution_source: ResolutionSourceView | None


class ConsultBody(TypedDict):
    """Output of `consult-episodic-memory --json`: solved tasks, the best first."""

    schema: Literal["consult-episodic-memory/1"]
    results: list[ResolvedView]
    warnings: NotRequired[Warnings]


class SpanView(TypedDict):
    """Days, both inclusive; null for no bound."""

    field: Annotated[str, one_of("closed", "created", "updated", "due")]
    since: str | None
    until: str | None


class ReadingView(TypedDict):
    """How a question was understood."""

    statuses: list[str]
    types: list[str]
    priorities: list[int]
    tags: list[str]
    project: str | None
    span: SpanView | None
    missing: list[str]
    present: list[str]
    relation: Annotated[str | None, one_of("depends_on", "dependencies_of", "part_of", "parent_of", "named")]
    of: str | None
    order: Annotated[str | None, one_of("newest", "oldest", "latest", "most_urgent")]
    limit: int | None
    is_count: bool
    concept: str | None
    described: str


class AskBody(TypedDict):
    """Output of `ask --json`: how the question was understood, and what answers it: tasks, or parts of conversations."""

    schema: Literal["ask/1"]
    reading: ReadingView
    total: Annotated[Count, "Number of fitting tasks, even if fewer are listed."]
    results: list[PlainTaskView | HitView]
    warnings: NotRequired[Warnings]
