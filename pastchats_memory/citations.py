"""Whether what is cited still stands where it was read: checked when it is shown, and all of it by `verify`."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.files.archives import archive_of, open_member
from pastchats_memory.files.line_anchor import LineAnchor, digest, find_lines, find_text, unpack_anchor
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.model import CITATION_STATES, Citation, Filters, Hit, Item
from pastchats_memory.store import citations
from pastchats_memory.store.citations import Cited
from pastchats_memory.store.database import Database

HOLDS, MOVED, CHANGED, GONE, UNCHECKED = CITATION_STATES
QUICK = 16 << 20
"""Bytes of a file in which lines that are not where they were are looked for while somebody waits."""
WHOLE = 256 << 20
"""The same where all citations are checked."""
FEWEST_BYTES = 16
"""Of a line on average: what has more lines is no transcript, and looking through them takes long."""
OPENING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Found(NamedTuple):
    """A place of a row and whether it holds."""

    place: Cited
    citation: Citation


def cited_hits(database: Database, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with their citations checked, each at the place that holds best. Raises StoreFault."""
    turns = [int(hit.id) for hit in hits if hit.task is None]
    tasks = [hit.task.id for hit in hits if hit.task is not None]
    places = citations.places(database, turns, tasks)
    files = Files(QUICK)
    checked = []
    for hit in hits:
        is_task = hit.task is not None
        key = (is_task, int(hit.id) if hit.task is None else hit.task.id)
        text = hit.content if hit.task is None else hit.task.title
        found = files.best(places.get(key, ()), text)
        if found is None:
            checked.append(hit)
        else:
            line = found.citation.line or found.place.line or None
            checked.append(hit._replace(source_path=found.place.path, source_line=line, citation=found.citation))
    return checked


def cited_items(database: Database, items: Sequence[Item]) -> list[Item]:
    """The items filed under the place that holds best, that place first and with its line of now. Raises StoreFault."""
    places = citations.places(database, [item.id for item in items], ())
    files = Files(QUICK)
    checked = []
    for item in items:
        found = files.best(places.get((False, item.id), ()), item.content)
        if found is None:
            checked.append(item)
            continue
        first = [place for place in item.places if place.path == found.place.path]
        others = [place for place in item.places if place.path != found.place.path]
        if found.citation.state == MOVED and found.citation.line is not None:
            first = [place._replace(line=found.citation.line, end_line=None) for place in first]
        filed = item._replace(source_path=found.place.path, places=(*first, *others), citation=found.citation)
        checked.append(filed)
    return checked


class Failed(NamedTuple):
    """A memory whose source does not stand as it was read."""

    id: str
    state: str
    source_path: str
    source_line: int | None
    """As it was read."""
    line: int | None
    """Where it stands now; None where it does not, or where nobody knows."""
    source_project: str


class Verified(NamedTuple):
    """All citations, counted by state, and those that do not hold."""

    states: dict[str, int]
    failed: tuple[Failed, ...]

    @property
    def total(self) -> int:
        """Memories that cite a file."""
        return sum(self.states.values())


class Progress(NamedTuple):
    """How far it is."""

    done: int
    total: int
    """Files."""


def verify(
    database: Database,
    filters: Filters,
    paths: Sequence[str] = (),
    progress: Callable[[Progress], None] = lambda _: None,
) -> Verified:
    """Check every citation; of a row that was read in several files the one that holds best counts.

    Args:
        database: open.
        filters: project and hidden count.
        paths: files and folders; all where there are none.
        progress: told after each file.

    Raises:
        StoreFault: the database cannot be read.
    """
    rank = {state: place for place, state in enumerate(CITATION_STATES)}
    best: dict[tuple[bool, int], int] = {}
    failed: dict[tuple[bool, int], Failed] = {}
    sources = citations.sources(database, paths)
    for done, source in enumerate(sources, start=1):
        files = Files(WHOLE)
        for row in citations.rows_of(database, source, filters):
            key = (row.is_task, row.id)
            citation = files.check(row.place, row.text)
            if rank[citation.state] >= best.get(key, len(rank)):
                continue
            best[key] = rank[citation.state]
            failed.pop(key, None)
            if citation.state != HOLDS:
                place = row.place
                failed[key] = Failed(
                    row.shown_id, citation.state, place.path, place.line or None, citation.line, row.project
                )
        progress(Progress(done, len(sources)))
    counts = Counter(CITATION_STATES[place] for place in best.values())
    return Verified({state: counts[state] for state in CITATION_STATES}, tuple(failed.values()))


class Files:
    """Cited files, looked into at most once each for lines that are not where they were."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._contents: dict[str, bytes | None] = {}

    def best(self, places: Sequence[Cited], text: str) -> Found | None:
        """The first place that holds, else the one that comes nearest to it; None for a row without any."""
        found: Found | None = None
        for place in places:
            one = Found(place, self.check(place, text))
            if found is None or _rank(one) < _rank(found):
                found = one
            if one.citation.state == HOLDS:
                break
        return found

    def check(self, place: Cited, text: str) -> Citation:
        """Whether a text still stands where it was read."""
        path = resolve_path(place.path)
        archive = archive_of(path)
        file = archive or path
        try:
            if archive is None and (passage := unpack_anchor(place.passage)) is not None:
                if _stands(path, passage, text):
                    return Citation(HOLDS, place.line)
            elif _is_as_it_was(file, place, is_packed=archive is not None):
                return Citation(HOLDS, place.line or None)
            content = self._content(path, archive)
        except (FileNotFoundError, NotADirectoryError):
            return Citation(GONE)
        except OSError:  # it may not be read, or cannot be unpacked
            return Citation(UNCHECKED)
        return _sought(content, place, text)

    def _content(self, path: Path, archive: Path | None) -> bytes | None:
        """All of a file, or None where that is too much. Raises OSError."""
        name = str(path)
        if name not in self._contents:
            self._contents[name] = _read(path, archive, self._most)
        return self._contents[name]


def _rank(found: Found) -> int:
    return CITATION_STATES.index(found.citation.state)


def _sought(content: bytes | None, place: Cited, text: str) -> Citation:
    """What becomes of a citation whose lines are not where they were."""
    passage = unpack_anchor(place.passage)
    if content is None:
        return Citation(CHANGED if passage else UNCHECKED)
    lines = [_line(content, start) for start in find_lines(content, passage, text)] if passage else []
    if not lines and (start := find_text(content, text)) is not None:
        lines = [_line(content, start)]
    if not lines:
        return Citation(CHANGED if passage else UNCHECKED)
    line = min(lines, key=lambda line: abs(line - place.line))
    return Citation(HOLDS if line == place.line else MOVED, line)


def _line(content: bytes, start: int) -> int:
    return content.count(b"\n", 0, start) + 1


def _is_as_it_was(file: Path, place: Cited, *, is_packed: bool) -> bool:
    """Whether nobody has written to a file since it was read. Raises OSError."""
    from pastchats_memory.formats.companions import state_of  # few citations need it

    size, mtime_ns = state_of(file)
    return mtime_ns == place.mtime_ns and (is_packed or size == place.size)


def _stands(path: Path, passage: LineAnchor, text: str) -> bool:
    """Whether lines are where they were, by reading nothing else. Raises OSError."""
    with _opened(path) as file:
        before = min(1, passage.offset)
        os.lseek(file, passage.offset - before, os.SEEK_SET)
        read = _up_to(file, before + passage.length + 1)
    lines, after = read[before : before + passage.length], read[before + passage.length :]
    is_whole = len(lines) == passage.length and read[:before] in (b"", b"\n") and after in (b"", b"\n")
    return is_whole and digest(lines, text) == passage.digest


def _read(path: Path, archive: Path | None, most: int) -> bytes | None:
    if archive is None:
        with _opened(path) as file:
            content = None if os.fstat(file).st_size > most else _up_to(file, most)
    else:
        with open_member(archive, os.path.relpath(path, archive))() as stream:
            content = stream.read(most + 1)
    if content is None or len(content) > most or content.count(b"\n") > most // FEWEST_BYTES:
        return None
    return content


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A regular file, whatever was put in its place since it was looked at. Raises OSError."""
    file = os.open(path, OPENING)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise FileNotFoundError(path)
        yield file
    finally:
        os.close(file)


def _up_to(file: int, count: int) -> bytes:
    pieces = []
    while count > 0 and (piece := os.read(file, min(count, 1 << 20))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
