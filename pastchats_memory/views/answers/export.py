"""Define the lines of an export, which `store.interchange` writes."""

from typing import Annotated, Literal

from pastchats_memory.fields import Count, OpenMetadata, View, answer


@answer("export/1")
class ExportedTurnView(View):
    """A turn as a line of an export."""

    kind: Literal["turn"]
    role: str
    content: str
    source_path: str
    source_project: str
    conversation_id: str | None
    turn_index: Count
    timestamp: str | None
    content_hash: Annotated[str, {"pattern": "^[0-9a-f]{64}$"}, "Identity of the turn."]
    echo_hash: str | None
    metadata: OpenMetadata
    places: Annotated[
        list[tuple[str, Count, int | None]], "Places where the turn was seen: path, first line, and last line or null."
    ]
    folder: Annotated[str | None, "Folder of the project."]
    is_private: Annotated[bool, "True: text of the project is recalled only inside it."]


class ExportedLinkView(View):
    """A link of an exported task."""

    kind: str
    target: str
    name: str
    by_hand: Annotated[int, {"enum": [0, 1]}]


class ExportedStateView(View):
    """A step in the history of an exported task."""

    status: str
    status_raw: str
    at: str | None


class ExportedConversationView(View):
    """A conversation that worked on an exported task."""

    conversation_id: str


class ExportedCommentView(View):
    """A comment on an exported task."""

    identity: str
    author: str
    content: str
    created_at: str | None
    by_hand: Annotated[int, {"enum": [0, 1]}]


class ExportedAttachmentView(View):
    """An attachment of an exported task."""

    name: str
    size: Count
    sha256: str
    content: str | None
    created_at: str | None


@answer("export/1")
class ExportedTaskView(View):
    """A task as a line of an export."""

    kind: Literal["task"]
    key: str
    identity: str
    tags: list[str]
    metadata: OpenMetadata
    native_id: str
    title: str
    description: str
    type: str
    status: str
    status_raw: str
    priority: Annotated[int | None, {"minimum": 0, "maximum": 4}]
    project: str
    source_path: str
    source_line: int | None
    created_at: str | None
    updated_at: str | None
    closed_at: str | None
    due_at: str | None
    links: list[ExportedLinkView]
    states: list[ExportedStateView]
    conversations: list[ExportedConversationView]
    comments: list[ExportedCommentView]
    attachments: list[ExportedAttachmentView]
    folder: str | None
    is_private: bool
