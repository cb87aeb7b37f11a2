"""Define the answers of indexing, formats and sources."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pastchats_memory.fields import IF_ANY, As, At, Count, Flat, View, answer, one_of
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


class FormatPlaceView(View):
    """A default location of a format's files."""

    path: Annotated[str, At("path", lambda path: utf8(str(path)))]
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
