"""After files were read: where in them each text stands, so that a citation can be checked without reading them again."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO

from pastchats_memory.files.archives import archive_of, unpacking
from pastchats_memory.files.line_anchor import LONGEST, digest, located, passage_of, unpacked
from pastchats_memory.formats.base.source import SQLITE
from pastchats_memory.formats.companions import companions_of, state_of
from pastchats_memory.store import citations
from pastchats_memory.store.citations import Row, Source
from pastchats_memory.store.database import Database

LOOKAHEAD = 1 << 18
"""Bytes behind a cited line in which the end of its text is looked for."""
NONE = b""
"""What is noted of a row that has no passage: a database's, or one of a line that holds a whole document."""


def note_passages(database: Database) -> None:
    """Note the passages of all rows that have none yet, a transaction a file; files that are not as they were read are left.

    Raises:
        StoreFault: it cannot be written.
    """
    for source in citations.sources_without_passage(database):
        rows = citations.rows_without_passage(database, source)
        try:
            found = list(_passages(database, source, rows))
        except OSError:  # it went away, or cannot be unpacked: the next run tries again
            continue
        if found:
            with database.transaction():
                citations.store_passages(database, source, found)


def _passages(database: Database, source: Source, rows: Sequence[Row]) -> Iterator[tuple[Row, bytes]]:
    path = located(source.path)
    archive = archive_of(path)
    if state_of(archive or path)[archive is not None :] != (source.size, source.mtime_ns)[archive is not None :]:
        return
    if archive is not None:
        with unpacking(archive, os.path.relpath(path, archive))() as stream:
            yield from passages_in(stream, rows)
        return
    with path.open("rb") as stream:
        if stream.read(len(SQLITE)) == SQLITE or any(companions_of(path)):
            yield from ((row, NONE) for row in rows)
            return
        offset, line = _start(database, source, rows[0].place.line, stream) if rows else (0, 1)
        stream.seek(offset)
        yield from passages_in(stream, rows, offset, line)


def _start(database: Database, source: Source, line: int, stream: BinaryIO) -> tuple[int, int]:
    """Bytes and number of a line at or above the one that is wanted, which is where it was."""
    before = citations.passage_before(database, source, line)
    passage = unpacked(before.place.passage) if before else None
    if before is None or passage is None:
        return 0, 1
    stream.seek(passage.offset)
    stands = digest(stream.read(passage.length), before.text) == passage.digest
    return (passage.offset, before.place.line) if stands else (0, 1)


@dataclass(slots=True, eq=False)
class _Met:
    """The texts that are cited by a line which was met, and the lines from there on."""

    rows: list[Row]
    offset: int
    following: float
    """The line at which the next text begins."""
    lines: bytearray = field(default_factory=bytearray)

    @property
    def until(self) -> float:
        """The line before which all of them end."""
        return max(self.following if (end := row.place.end_line) is None else end + 1 for row in self.rows)

    def is_full(self) -> bool:
        """Whether no further line can matter."""
        if len(self.lines) > (LOOKAHEAD if len(self.rows) > 1 else LONGEST):
            return True
        if not self.lines.endswith(b"\n") or any(row.place.end_line is not None for row in self.rows):
            return False
        return len(self.lines) > LOOKAHEAD

    def passages(self, *, is_bounded: bool) -> Iterator[tuple[Row, bytes]]:
        """Each row with what is noted of it."""
        for row in self.rows:
            place = row.place
            count = None if place.end_line is None else place.end_line - place.line + 1
            found = passage_of(bytes(self.lines), self.offset, row.text, count, is_bounded=is_bounded)
            shared = len(self.rows) > 1 and found is not None and found.length > LOOKAHEAD
            yield row, NONE if found is None or shared else found.packed()


def passages_in(stream: BinaryIO, rows: Sequence[Row], offset: int = 0, number: int = 1) -> Iterator[tuple[Row, bytes]]:
    """Each row with its passage, packed; NONE for one that has none.

    Args:
        stream: of the file's bytes, at the beginning of a line.
        rows: by line.
        offset: bytes before that line.
        number: of it.

    Raises:
        OSError: the file cannot be read.
    """
    wanted: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        wanted[row.place.line].append(row)
    until = dict(pairwise([*sorted(wanted), math.inf]))
    met: list[_Met] = []
    while piece := stream.readline(LONGEST + 1):
        for one in [one for one in met if one.until <= number]:
            met.remove(one)
            yield from one.passages(is_bounded=True)
        if number in wanted:
            met.append(_Met(wanted.pop(number), offset, until[number]))
        for one in list(met):
            one.lines += piece
            if one.is_full():
                met.remove(one)
                yield from one.passages(is_bounded=False)
        if not wanted and not met:
            return
        offset += len(piece)
        number += piece.endswith(b"\n")
    for one in met:
        yield from one.passages(is_bounded=False)
    yield from ((row, NONE) for some in wanted.values() for row in some)
