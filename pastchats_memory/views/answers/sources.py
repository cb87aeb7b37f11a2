"""Define the answers of indexing, formats and sources, and the lines of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pastchats_memory.episodes.resumption import Resumption
from pastchats_memory.fields import IF_ANY, As, At, Count, Flat, OpenMetadata, View, answer, one_of
from pastchats_memory.formats.registry import FormatReport
from pastchats_memory.ingest.dry_run import DryRunFile
from pastchats_memory.ingest.overview import SourceReport
from pastchats_memory.ingest.report import FileReport
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.answers.listing import Listing


class MessageKeys(View):
    """Keys that are read for the fields of a message."""

    role: Annotated[str, IF_ANY]
    text: Annotated[str, IF_ANY]
    time: Annotated[str, IF_ANY]
    conversation: Annotated[str, IF_ANY]


class PreviewedFile(NamedTuple):
    """What a run would do with one file."""

    report: Annotated[FileReport, Flat()]
    turns: Annotated[Count, "Turns that would be read."]
    project: Annotated[str | None, "The project of its turns, if they belong to one."]
    keys: Annotated[
        Mapping[str, str],
        As(MessageKeys),
        At("keys", dict),
        "Keys of messages of an unknown shape; empty for a known format.",
    ]
    map: Annotated[str | None, "Of JSON of unknown shape: the value of --map that it is read by, or that fits it."]


@answer("index/1")
class IndexPreviewBody(NamedTuple):
    """Output of `index --dry-run --json`."""

    results: Sequence[PreviewedFile]


def build_index_preview(files: Sequence[DryRunFile]) -> IndexPreviewBody:
    """Build `index/1` of a dry run."""
    return IndexPreviewBody(
        [PreviewedFile(report, turns, project, report.keys, report.map) for report, turns, project in files]
    )


SOURCES = Listing("sources/1", "Output of `sources --json`.", SourceReport)


def _write_path(path: Path) -> str:
    return utf8(str(path))


class FormatPlaceView(View):
    """A default location of a format's files."""

    path: Annotated[str, At("path", _write_path)]
    exists: bool


class FormatView(View):
    """A format."""

    name: Annotated[str, {"minLength": 1}, "The value of `metadata.format` and of `index --format`.", At("format.name")]
    version: Annotated[
        int, {"minimum": 1}, "A higher version than before reads the same files again.", At("format.version")
    ]
    origin: Annotated[str, {"minLength": 1}, "`built in`, or the package that adds the format, with its version."]
    program: Annotated[str, "The program that writes the files; empty if there are several.", At("format.program")]
    kinds: Annotated[list[Annotated[str, one_of("conversation", "notes", "tasks")]], At("format.kinds", sorted)]
    files: Annotated[list[FormatPlaceView], "The usual files and folders; empty if the format has none."]


FORMATS = Listing("formats/1", "Output of `formats --json`.", FormatReport, view=FormatView)


class Opened(NamedTuple):
    """A source, and the editor's command that opens it."""

    path: str
    line: Annotated[int, {"minimum": 1}]
    command: Annotated[Sequence[str], "Program and arguments; empty if no editor is set."]


OPEN = Listing("open/1", "Output of `open --json`.", Opened)
RESUME = Listing("resume/1", "Output of `resume --json`.", Resumption)


# --- lines of an export, which `store.interchange` writes -------------------------------------------------------------


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
        list[tuple[str, Count, int | None]],
        "Places where the turn was seen: path, first line, and last line or null.",
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
