"""Read the sessions of scribe: one JSON object a line, with `who`, `text` and `at`."""

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.timestamps import iso_utc

ROLES = {"me": "user", "bot": "assistant"}


def detect(source: SourceFile) -> int:
    """Return 90 if the first records have the marker `scribe`, else 0."""
    return 90 if any("scribe" in record for record in source.sample) else 0


def read(source: SourceFile) -> Iterator[Turn | Unreadable]:
    """Yield a turn for each record, and the lines that cannot be read."""
    for record in source.records():
        match record:
            case Unreadable():
                yield record
            case Record(line, {"who": "me" | "bot" as who, "text": str(text), "at": time}):
                session = source.path.stem
                yield Turn(ROLES[who], text, line, conversation_id=session, timestamp=iso_utc(time))
            case Record(line):
                yield Unreadable(str(source.path), line, "no record of scribe")


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folder in which scribe keeps its sessions."""
    yield environment.home / ".scribe" / "sessions"


SCRIBE = Format(name="scribe", version=1, detect=detect, read=read, locations=locations, program="Scribe")
