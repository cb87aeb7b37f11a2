"""Where a reader goes on in a file that has grown, and how far it has come in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pastchats_memory.model import Unreadable

if TYPE_CHECKING:
    from pastchats_memory.readers.source import Record, Source


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a reader goes on when its file has grown: yielded once by readers that can, behind the last whole line.

    Turns that are yielded after it are those that more lines may still change; going on, the reader yields them again.
    """

    offset: int
    """Bytes of the file before the place."""
    line: int
    """1-based line at the place."""
    state: dict[str, object]
    """What the reader must know of the lines before it, as JSON, and small: it is kept for every file."""


class CannotResume(ValueError):
    """What was added changes what was told before: raised before the first turn, and the file is read as a whole."""


class Records:
    """The records of a JSONL file one after the other, and how far they were read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        start = source.resumed
        self.offset = 0 if start is None else start.offset
        """Bytes up to the last line that was whole."""
        self.line = 1 if start is None else start.line
        """1-based line that begins there."""
        self.is_exact = True
        """False once a line was cut, whose bytes nobody counted."""

    def __iter__(self) -> Iterator[Record | Unreadable]:
        return self._source.records_from(self)

    def checkpoint(self, state: dict[str, object]) -> Iterator[Checkpoint]:
        """Where to go on, for a reader that has just read all of them; none for an encoding whose bytes are not those read."""
        if self.is_exact and self._source.encoding == "utf-8" and self._source.unpacked is None:
            yield Checkpoint(self.offset, self.line, state)
