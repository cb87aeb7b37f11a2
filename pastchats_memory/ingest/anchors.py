"""Write the anchor of each text, so that citations are cheap to check.

An anchor is the place of a text's lines in its file.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO

from pastchats_memory.files.archives import archive_of, open_member
from pastchats_memory.files.line_anchor import LONGEST, REDACTED, digest, make_anchor, unpack_anchor
from pastchats_memory.files.regular_file import open_regular
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.formats.base.source import SQLITE
from pastchats_memory.formats.companions import companions_of, state_of
from pastchats_memory.store import citations
from pastchats_memory.store.citations import CitedRow, Source
from pastchats_memory.store.database import Database
from pastchats_memory.text.groups import group_by_key

LOOKAHEAD = 1 << 18
"""Bytes after a cited line in which the end of its text is looked for."""
NO_ANCHOR = b""
"""Stored for a row without an anchor: a row of a database, or of a line that holds a whole document."""


def write_anchors(database: Database) -> None:
    """Write the anchors of all rows of unchanged files that lack one, a transaction for each file."""
    for source in citations.sources_without_passage(database):
        rows = citations.rows_without_passage(database, source)
        try:
            found = list(_find_in_file(database, source, rows))
        except OSError:  # it went away, or cannot be unpacked: the next run tries again
            continue
        if found:
            with database.transaction():
                citations.store_passages(database, source, found)


def _find_in_file(database: Database, source: Source, rows: Sequence[CitedRow]) -> Iterator[tuple[CitedRow, bytes]]:
    path = resolve_path(source.path)
    archive = archive_of(path)
    if state_of(archive or path)[archive is not None :] != (source.size, source.mtime_ns)[archive is not None :]:
        return
    if archive is not None:
        with open_member(archive, os.path.relpath(path, archive))() as stream:
            yield from find_anchors(stream, rows)
        return
    with open_regular(path) as stream:
        if stream.read(len(SQLITE)) == SQLITE or any(companions_of(path)):
            yield from ((row, NO_ANCHOR) for row in rows)
            return
        offset, line = _find_start(database, source, rows[0].place.line, stream) if rows else (0, 1)
        stream.seek(offset)
        yield from find_anchors(stream, rows, offset, line)


def _find_start(database: Database, source: Source, line: int, stream: BinaryIO) -> tuple[int, int]:
    """Return the offset and number of an unchanged line at or above the wanted one."""
    before = citations.passage_before(database, source, line)
    anchor = unpack_anchor(before.place.passage) if before else None
    if before is None or anchor is None:
        return 0, 1
    stream.seek(anchor.offset)
    stands = digest(stream.read(anchor.length), before.text) == anchor.digest
    return (anchor.offset, before.place.line) if stands else (0, 1)


@dataclass(slots=True, eq=False)
class _OpenAnchors:
    """The texts that one line cites, and the lines from there on."""

    rows: list[CitedRow]
    offset: int
    following: float
    """The line at which the next text begins."""
    lines: bytearray = field(default_factory=bytearray)

    @property
    def until(self) -> float:
        """The line before which all texts end."""
        return max(self.following if (end := row.place.end_line) is None else end + 1 for row in self.rows)

    def is_full(self) -> bool:
        """Check whether further lines cannot matter."""
        if len(self.lines) > (LOOKAHEAD if len(self.rows) > 1 else LONGEST):
            return True
        if not self.lines.endswith(b"\n") or any(row.place.end_line is not None for row in self.rows):
            return False
        return len(self.lines) > LOOKAHEAD

    def anchors(self, *, is_bounded: bool) -> Iterator[tuple[CitedRow, bytes]]:
        """Yield each row with its packed anchor, without a digest of lines in which another row has a secret."""
        has_secret = any(REDACTED in row.text for row in self.rows)
        for row in self.rows:
            place = row.place
            count = None if place.end_line is None else place.end_line - place.line + 1
            found = make_anchor(bytes(self.lines), self.offset, row.text, count, is_bounded=is_bounded)
            shared = len(self.rows) > 1 and found is not None and found.length > LOOKAHEAD
            is_guessable = has_secret and REDACTED not in row.text
            yield row, NO_ANCHOR if found is None or shared or is_guessable else found.packed()


def find_anchors(
    stream: BinaryIO, rows: Sequence[CitedRow], offset: int = 0, number: int = 1
) -> Iterator[tuple[CitedRow, bytes]]:
    """Yield each row with its packed anchor; NO_ANCHOR for a row without one. Raises OSError.

    Args:
        stream: the file's bytes, at the start of a line.
        rows: ordered by line.
        offset: bytes before that line.
        number: number of that line.
    """
    wanted = group_by_key((row.place.line, row) for row in rows)
    until = dict(pairwise([*sorted(wanted), math.inf]))
    pending: list[_OpenAnchors] = []
    while line := stream.readline(LONGEST + 1):
        for one in [one for one in pending if one.until <= number]:
            pending.remove(one)
            yield from one.anchors(is_bounded=True)
        if number in wanted:
            pending.append(_OpenAnchors(wanted.pop(number), offset, until[number]))
        for one in list(pending):
            one.lines += line
            if one.is_full():
                pending.remove(one)
                yield from one.anchors(is_bounded=False)
        if not wanted and not pending:
            return
        offset += len(line)
        number += line.endswith(b"\n")
    for one in pending:
        yield from one.anchors(is_bounded=False)
    yield from ((row, NO_ANCHOR) for some in wanted.values() for row in some)
