"""Read archives of agents' sessions: each line holds a record as the agent wrote it, beside the archive's own keys.

Such as `{"source": "droid", "line": 7, "record": {…}}`. The records are read by the agent's own format.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.session import Row
from pastchats_memory.formats.base.source import Record, Records, SourceFile
from pastchats_memory.formats.base.values import mapping_of
from pastchats_memory.model import Unreadable

KEYS = ("raw", "record", "entry", "event", "payload", "original")
"""Keys of the agent's record."""
FOUND = CERTAIN - 5
"""Confidence, below that of a format that knows the lines as they are."""


@dataclass(frozen=True)
class Unwrapped(SourceFile):
    """A file whose records are those within its records."""

    key: str = ""
    """Under which each record lies."""

    def records_from(self, place: Records) -> Iterator[Record | Unreadable]:
        """Stream the records within; a line without one is skipped."""
        for item in super().records_from(place):
            if isinstance(item, Unreadable):
                yield item
            elif isinstance(inner := mapping_of(item.value).get(self.key), dict):
                yield replace(item, value=inner)


def _unwrap(source: SourceFile) -> tuple[SourceFile, Format] | None:
    """Return the records within, and the agent's format; None if no format is certain of them."""
    from pastchats_memory.formats.registry import all_formats  # which knows this module, too

    held = [key for key in KEYS if source.sample and all(isinstance(item.get(key), dict) for item in source.sample)]
    if len(held) != 1:
        return None
    inner = Unwrapped(**{field.name: getattr(source, field.name) for field in fields(source)}, key=held[0])
    found = (format_ for format_ in all_formats() if format_.is_specific and format_ is not ENVELOPED)
    return next(((inner, format_) for format_ in found if format_.detect(inner) >= CERTAIN), None)


def detect(source: SourceFile) -> int:
    """Return 85 if each of the first lines holds a record that an agent's format is certain of, else 0."""
    return FOUND if not isinstance(source, Unwrapped) and source.once(_unwrap) else 0


def read(source: SourceFile) -> Iterator[Row]:
    """Yield what the agent's format reads, without checkpoints: appended lines alone may not tell the format."""
    found = source.once(_unwrap)
    if found is not None:
        inner, format_ = found
        yield from (row for row in format_.read(inner) if not isinstance(row, Checkpoint))


ENVELOPED = Format(name="enveloped", version=1, detect=detect, read=read)
