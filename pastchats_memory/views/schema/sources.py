"""Define the views of indexing, formats, sources and exported lines."""

from typing import Annotated, Literal, NotRequired, TypedDict

from pastchats_memory.views.json_schema import Narrowed
from pastchats_memory.views.schema.fields import Count, OpenMetadata, one_of


class UnreadableView(TypedDict):
    """A line that could not be read."""

    line: Annotated[Count, "0 for the whole file."]
    reason: Annotated[str, {"minLength": 1}]


class IndexedFileView(TypedDict):
    """What a run did with one file."""

    source_path: str
    format: Annotated[str | None, "Null: the file was not taken; `reason` says why."]
    added: Count
    updated: Count
    skipped: Annotated[Count, "Turns that were stored already."]
    forgotten: Annotated[Count, "Turns and tasks that were left out because they are forgotten."]
    unchanged: Annotated[bool, "True: the file was not read again; the other fields are from its last reading."]
    reason: Annotated[str | None, Narrowed("format", (None,), {"type": "string", "minLength": 1})]
    unreadable: list[UnreadableView]


class IndexBody(TypedDict):
    """Output of `index --json` for a run."""

    schema: Literal["index/1"]
    outcome: Annotated[str, one_of("done", "interrupted")]
    model: str
    duration_s: Annotated[float, {"minimum": 0}]
    files_unchanged: Count
    moved: Annotated[Count, "Files known under another path that is gone."]
    embedded: Annotated[Count, "Texts that went through the model."]
    cached: Annotated[Count, "New rows whose text had a vector already."]
    pending_vectors: Annotated[Count, "Rows of the database whose vector awaits a model that can be used."]
    superseded: Annotated[Count, "Rows of notes that are no longer in their file."]
    files_scanned: Count
    turns_added: Count
    turns_skipped: Count
    unreadable: Count
    tasks_added: Annotated[Count, "Tasks of task files and of the lists that agents keep."]
    forgotten: Annotated[Count, "Turns and tasks that were left out because they are forgotten."]
    results: list[IndexedFileView]


class MessageKeys(TypedDict):
    """Keys that are read for the fields of a message."""

    role: NotRequired[str]
    text: NotRequired[str]
    time: NotRequired[str]
    conversation: NotRequired[str]


class PreviewedFileView(IndexedFileView):
    """What a run would do with one file."""

    turns: Annotated[Count, "Turns that would be read."]
    project: Annotated[str | None, "The project of its turns, if they belong to one."]
    keys: Annotated[MessageKeys, "Keys of messages of an unknown shape; empty for a known format."]
    map: Annotated[str | None, "Of JSON of unknown shape: the value of --map that it is read by, or that fits it."]


class IndexPreviewBody(TypedDict):
    """Output of `index --dry-run --json`."""

    schema: Literal["index/1"]
    results: list[PreviewedFileView]


class SourceView(TypedDict):
    """The history of one program, or another place from which files were indexed."""

    program: Annotated[str, {"minLength": 1}, "`several` for a place with files of several programs."]
    path: Annotated[str, "A file or folder."]
    files: Annotated[Count, "Files that could be transcripts."]
    bytes: Count
    indexed: Annotated[Count, "Files that were understood and are in the memory."]
    excluded: Annotated[Count, "Files and folders that are excluded."]
    gone: Annotated[list[str], "Files in the memory that are no longer on the disk."]


class FormatPlaceView(TypedDict):
    """A default location of a format's files."""

    path: str
    exists: bool


class FormatView(TypedDict):
    """A format."""

    name: Annotated[str, {"minLength": 1}, "The value of `metadata.format` and of `index --format`."]
    version: Annotated[int, {"minimum": 1}, "A higher version than before reads the same files again."]
    origin: Annotated[str, {"minLength": 1}, "`built in`, or the package that adds the format, with its version."]
    program: Annotated[str, "The program that writes the files; empty if there are several."]
    kinds: list[Annotated[str, one_of("conversation", "notes", "tasks")]]
    files: Annotated[list[FormatPlaceView], "The usual files and folders; empty if the format has none."]


class FormatsBody(TypedDict):
    """Output of `formats --json`."""

    schema: Literal["formats/1"]
    results: list[FormatView]


class OpenedView(TypedDict):
    """A source, and the editor's command that opens it."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    command: Annotated[list[str], "Program and arguments; empty if no editor is set."]


class OpenBody(TypedDict):
    """Output of `open --json`."""

    schema: Literal["open/1"]
    results: list[OpenedView]


class ResumptionView(TypedDict):
    """The agent's own command that resumes a session."""

    program: Annotated[str, "The agent; empty if the turn came from none."]
    command: Annotated[list[str], "Program and arguments; empty if the session cannot be resumed."]
    folder: Annotated[str | None, "The folder in which the command has to run."]
    line: Annotated[str | None, "Folder and command as a line for a shell."]
    reason: Annotated[str | None, "Why the session cannot be resumed."]


class ResumeBody(TypedDict):
    """Output of `resume --json`."""

    schema: Literal["resume/1"]
    results: list[ResumptionView]


class SourcesBody(TypedDict):
    """Output of `sources --json`."""

    schema: Literal["sources/1"]
    results: list[SourceView]


class ExportedTurnView(TypedDict):
    """A turn as a line of an export."""

    schema: Literal["export/1"]
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
        list[tuple[str, Count, int | None]],
        "Places where the turn was seen: path, first line, and last line or null.",
    ]
    folder: Annotated[str | None, "Folder of the project."]
    is_private: Annotated[bool, "True: text of the project is recalled only inside it."]


class ExportedLinkView(TypedDict):
    """A link of an exported task."""

    kind: str
    target: str
    name: str
    by_hand: Annotated[int, {"enum": [0, 1]}]


class ExportedStateView(TypedDict):
    """A step in the history of an exported task."""

    status: str
    status_raw: str
    at: str | None


class ExportedConversationView(TypedDict):
    """A conversation that worked on an exported task."""

    conversation_id: str


class ExportedCommentView(TypedDict):
    """A comment on an exported task."""

    identity: str
    author: str
    content: str
    created_at: str | None
    by_hand: Annotated[int, {"enum": [0, 1]}]


class ExportedAttachmentView(TypedDict):
    """An attachment of an exported task."""

    name: str
    size: Count
    sha256: str
    content: str | None
    created_at: str | None


class ExportedTaskView(TypedDict):
    """A task as a line of an export."""

    schema: Literal["export/1"]
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
